// gradient.c - derivatives of one impact by everything that its law reads, with a verdict.
//
// A law is a set of smooth pieces with switching surfaces between them. Closed laws (gradient_closed.c,
// gradient_stage.c) give dP in the contact frame for the piece they are in, and for each surface g = 0 the value and
// the gradient of g; |g| / sum |scale dg| is the distance. A surface within the tolerance is looked beyond: the
// neighbour's derivative, and the law itself a small step away, which shows a jump
// (gradient_sides.c), other laws are differenced (gradient_difference.c), a composite is the sum of its laws.
// Fails: refusals of the law are passed on. W singular to rounding, no solution, or equations of the law that are
// singular: the verdict is none and the derivatives are NaN.
#include <string.h>

#include "base/argument.h"
#include "carom/forms.h"
#include "gradient.h"
#include "impulse/rank.h"

const char* cr_law_input_name(crLawInput input) {
    static const char* const names[] = {
        "Wxx",     "Wxy",     "Wxz",     "Wyy",     "Wyz",    "Wzz",    "Vx",     "Vy",     "Vz",
        "nx",      "ny",      "nz",      "mu",      "e",      "et",     "nu",     "mu2",    "mu3",
        "psi1",    "psi2",    "rho",     "wish_x",  "wish_y", "wish_z", "eta2",   "sigma0", "sigma1",
        "sigma2",  "sigma3",  "sigma4",  "sigma5",  "sigma6", "sigma7", "sigma8", "sigma9", "sigma10",
        "sigma11", "sigma12", "sigma13", "sigma14", "sigma15"};
    return (unsigned)input < CR_LAW_INPUTS ? names[input] : "unknown";
}

const char* cr_switch_name(crSwitch which) {
    static const char* const names[] = {"none", "open/close", "stick/slip", "cone",   "close again",
                                        "jam",  "table",      "frame",      "unknown"};
    return (unsigned)which < sizeof names / sizeof names[0] ? names[which] : "unknown";
}

const char* cr_smoothness_name(crSmoothness smoothness) {
    static const char* const names[] = {"smooth", "one-sided", "none"};
    return (unsigned)smoothness < sizeof names / sizeof names[0] ? names[smoothness] : "unknown";
}

// Laws whose derivatives are formulas; those of the others are differences.
static const struct {
    const cr__LawKind* law;
    cr__PieceFn piece;
} closed[] = {
    {&cr__law_newton, cr__piece_newton},
    {&cr__law_bilinear, cr__piece_bilinear},
    {&cr__law_chatterjee_ruina, cr__piece_chatterjee_ruina},
    {&cr__law_whittaker, cr__piece_whittaker},
    {&cr__law_smith, cr__piece_smith},
    {&cr__law_anitescu_potra, cr__piece_anitescu_potra},
    {&cr__law_pfeiffer_glocker, cr__piece_pfeiffer_glocker},
    {&cr__law_brach, cr__piece_brach},
    {&cr__law_routh, cr__piece_routh},
    {&cr__law_compliant, cr__piece_compliant},
};

// NULL: differenced; follows: along a path, differenced where its derivatives cannot be followed
static cr__PieceFn piece_of(const crLaw* law, bool* follows) {
    const crLawParams* params = law->params;
    *follows = false;
    for (int i = 0; i < (int)(sizeof closed / sizeof closed[0]); i++) {
        if (closed[i].law->apply != law->apply) continue;
        bool polygon = closed[i].law == &cr__law_anitescu_potra && params != NULL && params->directions != 0;
        *follows = polygon || closed[i].law == &cr__law_routh || closed[i].law == &cr__law_compliant;
        return polygon ? cr__piece_polygon : closed[i].piece;
    }
    return NULL;
}

// Inputs beside W, V and n, as CR_READS; a law that is not in the catalogue is tried with mu, e and et.
static uint64_t reads_of(const crLaw* law) {
    const cr__LawKind* kind = cr__law_kind(law);
    return kind != NULL ? kind->info.reads : CR_READS_MU_E | CR_READS(CR_BY_ET);
}

// true where W blocks a direction that counts, to rounding. Without friction that is n alone.
static bool is_singular(const cr__Point* p) {
    double values[3];
    crMat3 axes;
    crSym3 W = p->contact.W;
    if (cr__normal_blocked(&p->contact)) return true;
    if (p->law->apply == cr__law_newton.apply) return false;
    if (p->flat) {
        W.xz = W.yz = 0.0;
        W.zz = W.xx + W.yy;
    }
    cr_sym3_eigen(W, values, &axes);
    return !(values[0] > cr__W_rounding(&W));
}

static crStatus gradient_of(const crLaw* law, const crCollision* collision, double tol, crGradient* out,
                            crError* error);

static void add_part(double weight, const crGradient* part, crGradient* out) {
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        out->P_minus[k] = cr_madd(out->P_minus[k], weight, part->P_minus[k]);
        out->P_plus[k] = cr_madd(out->P_plus[k], weight, part->P_plus[k]);
        out->error[k] += weight * part->error[k];
        out->reads[k] = out->reads[k] || part->reads[k];
    }
    out->differenced = out->differenced || part->differenced;
    out->switches += part->switches;
    if (part->verdict > out->verdict) out->verdict = part->verdict;
    if (part->distance < out->distance) {
        out->distance = part->distance;
        out->nearest = part->nearest;
        out->beyond = part->beyond;
        memcpy(out->normal, part->normal, sizeof out->normal);
    }
    out->jump = cr_madd(out->jump, weight, part->jump);
}

// P = sum of weight_i P_i; a parameter counts for all laws that read it together.
static crStatus sum_of_laws(const crLawParams* params, const crCollision* collision, double tol,
                            crGradient* out, crError* error) {
    out->distance = INFINITY;
    for (int i = 0; i < params->law_count; i++) {
        crGradient part;
        int k = CR_BY_WEIGHT + i;
        crStatus status = gradient_of(&params->laws[i], collision, tol, &part, error);
        if (status != CR_OK) return status;
        add_part(params->weights[i], &part, out);
        out->reads[k] = true;
        out->P_minus[k] = out->P_plus[k] = part.hit.P;
    }
    return CR_OK;
}

// dV+ = dV + dW P + W dP
static void add_velocities(const cr__Point* p, crGradient* out) {
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        crVec3 fixed = cr_vec3(0, 0, 0);
        if (k < CR_BY_MU) {
            fixed = cr_add(cr__point_dvector(p, k, CR_BY_VX), cr_mat3_mul(cr__point_dW(p, k), out->hit.P));
        }
        out->V_minus[k] = cr_add(fixed, cr_mat3_mul(p->collision->W, out->P_minus[k]));
        out->V_plus[k] = cr_add(fixed, cr_mat3_mul(p->collision->W, out->P_plus[k]));
    }
}

static void set_reads(const cr__Point* p, uint64_t bits, crGradient* out) {
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        out->reads[k] = k < CR_BY_MU || (bits & CR_READS(k)) != 0;
    }
    const crByImpact* by = p->collision->by_impact;
    if (p->collision->e_of_speed != NULL || (by != NULL && by->e != NULL)) out->reads[CR_BY_E] = false;
    if (by != NULL && by->et != NULL) out->reads[CR_BY_ET] = false;
    if (by != NULL && by->mu != NULL) out->reads[CR_BY_MU] = false;
}

static crStatus gradient_of(const crLaw* law, const crCollision* collision, double tol, crGradient* out,
                            crError* error) {
    *out = (crGradient){0};
    cr__Point p = {.law = law, .collision = collision, .tol = tol};
    crStatus status = cr_collision_contact(collision, &p.contact, &p.frame, error);
    if (status == CR_OK) status = cr_law_apply(law, collision, &out->hit, error);
    if (status != CR_OK) return status;
    const crContact* c = &p.contact;
    p.flat = cr_contact_is_planar(c) && !(c->W.zz > cr__W_rounding(&c->W));
    bool follows;
    cr__PieceFn piece = piece_of(law, &follows);
    // the law is differenced together with the curves of its coefficients
    if (collision->by_impact != NULL) piece = NULL;
    // a polygon has corners out of the plane
    if (p.flat && piece == cr__piece_polygon) piece = NULL;
    set_reads(&p, reads_of(law), out);
    // differences look as far as their smallest step
    double open = c->V.x / fmax(cr_norm(c->V), 1e-300);
    double near = piece == NULL ? fmax(tol, 1e-5) : tol;
    if (open > near) {
        out->nearest = CR_SWITCH_OPEN;
        out->distance = open;
        out->beyond = CR_REGIME_SLIP;
    } else if (out->hit.regime == CR_REGIME_NO_SOLUTION || is_singular(&p)) {
        cr__gradient_none(out);
    } else if (law->apply == cr__law_composite.apply) {
        memset(out->reads, 0, sizeof out->reads);
        status = sum_of_laws(law->params, collision, tol, out, error);
    } else if (piece != NULL && c->mu == 0.0 && out->reads[CR_BY_MU]) {
        if (!cr__gradient_closed(&p, cr__piece_frictionless, out)) cr__gradient_none(out);
    } else if (piece == NULL || !cr__gradient_closed(&p, piece, out)) {
        // a path that cannot be followed in derivatives can still be differenced
        if (piece == NULL || follows) {
            cr__gradient_difference(&p, out);
        } else {
            cr__gradient_none(out);
        }
    }
    add_velocities(&p, out);
    return status;
}

crStatus cr_law_gradient(const crLaw* law, const crCollision* collision, double tolerance,
                         crGradient* gradient, crError* error) {
    if (law == NULL || law->apply == NULL) return cr__missing(error, "law");
    if (collision == NULL) return cr__missing(error, "collision");
    if (gradient == NULL) return cr__missing(error, "gradient");
    if (!(tolerance >= 0.0 && tolerance < 1.0)) {
        return cr_error_set(error, CR_ERR_RANGE, "tolerance", "tolerance: is %g, must be from 0 to below 1",
                            tolerance);
    }
    return gradient_of(law, collision, tolerance, gradient, error);
}
