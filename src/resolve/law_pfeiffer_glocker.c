// law_pfeiffer_glocker.c - the planar two-stage law with tangential restitution.
//
//     compression   0 <= Vn' _|_ Pn1 >= 0,          |Pt1| <= mu Pn1 against Vt'
//     expansion     0 <= Vn+ _|_ Pn2 - e Pn1 >= 0,  Pt2 = theta Pt1 + y,  |y| <= mu (Pn2 - theta Pn1)
//                   against Vt+,   theta = nu et e;   P = P1 + P2
//
// A share theta of the compression impulse comes back as it went in; what is left of the normal impulse
// carries ordinary friction. It is the plain expansion from V' + theta W P1 with (e - theta) Pn1 as the least
// normal impulse. Source: after Pfeiffer and Glocker 1996 (their text does not fix the form; docs/laws says
// how this one was chosen). Holds: in the permissible region for e <= 1; anitescu-potra where nu et = 0.
// Fails: contacts that are not planar, nu outside [0, 1] and et < 0 are refused; no-solution where W blocks.
#include "two_stage.h"

#define REST_TOL 1e-12  // of the terms of Vn+: below this it is zero
#define NOISE    1e-14  // of Wnn Wtt: a determinant below this is rounding

static crStatus check(const crContact* c, double nu, crError* error) {
    if (!(nu >= 0.0 && nu <= 1.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "nu", "nu: is %g, must be between 0 and 1", nu);
    }
    if (!(c->et >= 0.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "et",
                            "et: is %g, \"pfeiffer-glocker\" needs et between 0 and 1", c->et);
    }
    if (!cr_contact_is_planar(c)) {
        return cr_error_set(error, CR_ERR_PLANAR, "W",
                            "W: \"pfeiffer-glocker\" is planar; W couples t2 to n or t1, or V has a part "
                            "along t2");
    }
    return CR_OK;
}

// Expansion from velocity (Un >= 0, Ut) with Pn >= least and |Pt| <= mu Pn against the final slip.
static bool expand(const crContact* c, double Un, double Ut, double least, crVec3* P) {
    double Wnn = c->W.xx;
    double Wnt = c->W.xy;
    double Wtt = c->W.yy;
    double mu = fmin(c->mu, CR__MU_INFINITE);
    // no further approach
    double free_slip = Ut + Wnt * least;
    double wished = Wtt > 0.0 ? -free_slip / Wtt : copysign(mu * least, -free_slip);
    double Pt = copysign(fmin(fabs(wished), mu * least), wished);
    *P = cr_vec3(least, Pt, 0);
    if (Un + Wnn * least + Wnt * Pt >= -REST_TOL * (Un + Wnn * least + fabs(Wnt * Pt))) return true;
    // otherwise Vn+ = 0 by a larger Pn: slip would only drive the bodies together, so it sticks
    double det = Wnn * Wtt - Wnt * Wnt;
    if (!(det > NOISE * Wnn * Wtt)) return false;
    *P = cr_vec3((Wnt * Ut - Wtt * Un) / det, (Wnt * Un - Wnn * Ut) / det, 0);
    return true;
}

static bool expansion(const crContact* c, const cr__Solution* first, double theta, crVec3* P2) {
    if (!(theta > 0.0)) return cr__expand(c, 0, first, P2) > 0;
    // the share that comes back, then the plain expansion
    crVec3 back = cr_scale(theta, first->P);
    double Un = fmax(0.0, -theta * c->V.x);
    double Ut = first->uy + theta * (first->uy - c->V.y);
    crVec3 rest;
    if (!expand(c, Un, Ut, (c->e - theta) * first->P.x, &rest)) return false;
    *P2 = cr_add(back, rest);
    return true;
}

static crStatus apply(const void* params, const crContact* c, crHit* hit, crError* error) {
    double nu = params == NULL ? 1.0 : ((const crLawParams*)params)->nu;
    crStatus status = check(c, nu, error);
    if (status != CR_OK) return status;
    if (!(c->W.xx > 0.0)) return c->V.x < 0.0 ? cr__no_solution(hit) : CR_OK;
    cr__Solution first[CR__MAX_SOLUTIONS];
    crVec3 P2;
    int count = cr__compress(c, 0, first);
    if (count == 0) return cr__no_solution(hit);
    const cr__Solution* chosen = cr__choose(first, count);
    if (!expansion(c, chosen, nu * c->et * c->e, &P2)) return cr__no_solution(hit);
    hit->P = cr_add(chosen->P, P2);
    hit->solutions = count;
    return CR_OK;
}

crLaw cr_law_pfeiffer_glocker(const crLawParams* params) {
    return (crLaw){"pfeiffer-glocker", apply, params};
}
