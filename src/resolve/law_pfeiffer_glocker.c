// law_pfeiffer_glocker.c - the planar two-stage law with tangential restitution.
//
//     compression   0 <= Vn' _|_ Pn1 >= 0,          |Pt1| <= mu Pn1 against Vt'
//     expansion     0 <= Vn+ _|_ Pn2 - e Pn1 >= 0,  Pt2 = theta Pt1 + y,  |y| <= mu (Pn2 - theta Pn1)
//                   against Vt+,   theta = nu et e;   P = P1 + P2
//
// A share theta of the compression impulse comes back as it went in; what is left of the normal impulse
// carries ordinary friction: a pressed stage from V' + theta W P1. In the plane Pn2 = e Pn1 always fits:
// Vn+ < 0 would need slip V_t' > 0 at the end of compression together with Pt1 > -mu Pn1, or their mirror.
// Source: after Pfeiffer and Glocker 1996 (docs/laws says how this form was chosen). Holds: in the
// permissible region for e <= 1; anitescu-potra where nu et = 0. Fails: contacts that are not planar, nu
// outside [0, 1] and et < 0 are refused; no-solution where W blocks.
#include "resolve/kinds.h"
#include "two_stage.h"

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

// A share theta comes back, then friction under the rest of e Pn1.
static bool expand_pfeiffer_glocker(const crContact* c, const cr__Solution* first, double theta, crVec3* P2) {
    double uy = first->uy + theta * (first->uy - c->V.y);
    double uz = first->uz + theta * (first->uz - c->V.z);
    double Pn = (c->e - theta) * first->P.x;
    cr__Stage stage = cr__stage_pressed(c, Pn, uy, uz);
    cr__Solution all[CR__MAX_SOLUTIONS];
    int count = cr__coulomb_circle(&stage, all);
    if (count == 0) return false;
    crVec3 friction = cr__choose(all, count)->P;
    *P2 = cr_madd(cr_vec3(Pn, friction.y, friction.z), theta, first->P);
    return true;
}

static crStatus apply_pfeiffer_glocker(const void* params, const crContact* c, crHit* hit, crError* error) {
    double nu = params == NULL ? 1.0 : ((const crLawParams*)params)->nu;
    crStatus status = check(c, nu, error);
    if (status != CR_OK) return status;
    if (cr__normal_blocked(c)) return cr__blocked_normal(c, hit);
    cr__Solution first[CR__MAX_SOLUTIONS];
    crVec3 P2;
    int count = cr__compress(c, 0, first);
    if (count == 0) return cr__no_solution(hit);
    const cr__Solution* chosen = cr__choose(first, count);
    if (!expand_pfeiffer_glocker(c, chosen, nu * c->et * c->e, &P2)) return cr__no_solution(hit);
    hit->P = cr_add(chosen->P, P2);
    hit->solutions = count;
    return CR_OK;
}

const cr__LawKind cr__law_pfeiffer_glocker = {
    .order = 8,
    .apply = apply_pfeiffer_glocker,
    .info = {.name = "pfeiffer-glocker",
             .title = "Two stages with tangential restitution, planar",
             .parameters = "e in [0, 1], et in [0, 1], nu in [0, 1], mu >= 0",
             .guarantee = "inside the cone, n.V+ >= 0; anitescu-potra at nu = 0",
             .source = "Pfeiffer and Glocker 1996",
             .dimension = 2,
             .planar = true,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .grazing_tangential = true,
             .reads = CR_READS_MU_E | CR_READS(CR_BY_ET) | CR_READS(CR_BY_NU)},
};
