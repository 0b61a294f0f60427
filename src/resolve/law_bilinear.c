// law_bilinear.c - the bilinear law of spheres and disks.
//
//     Pn = -(1+e) Vn/Wnn,   P_t = -V_t/|V_t| min(mu Pn, (1+et) |V_t|/Wtt)
//
// Source: Walton 1992, Brach 1991; Chatterjee and Ruina 1998, eq. 9 (where m11 must be 1/W11).
// Holds: in the permissible region; equals Chatterjee and Ruina's law. Defined only where W is diagonal in
// the frame (n, V_t, n x V_t). Fails: any other W is refused; no-solution where the normal direction, or that
// of V_t, is blocked.
#include "law.h"
#include "resolve/kinds.h"

#define DIAGONAL_TOL 1e-9

static crStatus apply_bilinear(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    crVec3 P_I;
    if (!cr_impulse_P_I(c, &P_I)) return cr__no_solution(hit);
    double speed = sqrt(c->V.y * c->V.y + c->V.z * c->V.z);
    // unit tangent along V_t and the one across it
    double sy = speed > 0.0 ? c->V.y / speed : 1.0;
    double sz = speed > 0.0 ? c->V.z / speed : 0.0;
    const crSym3* W = &c->W;
    double along = sy * sy * W->yy + 2.0 * sy * sz * W->yz + sz * sz * W->zz;
    double mixed = sy * sz * (W->zz - W->yy) + (sy * sy - sz * sz) * W->yz;
    double across = sz * sz * W->yy - 2.0 * sy * sz * W->yz + sy * sy * W->zz;
    double off = fmax(fmax(fabs(W->xy), fabs(W->xz)), speed > 0.0 ? fabs(mixed) : 0.0);
    double largest = fmax(W->xx, fmax(along, across));
    if (off > DIAGONAL_TOL * largest) {
        return cr_error_set(
            error, CR_ERR_DIAGONAL, "W",
            "W: \"bilinear\" needs W diagonal in (n, V_t, n x V_t); largest entry off the diagonal "
            "is %.6g (allowed: %.6g)",
            off, DIAGONAL_TOL * largest);
    }
    double Pn = (1.0 + c->e) * P_I.x;
    bool blocked = !(along > cr__W_rounding(W));
    if (blocked && c->mu > 0.0 && speed > CR__RANGE_TOL * cr_norm(c->V)) return cr__no_solution(hit);
    double wished = speed > 0.0 && !blocked ? (1.0 + c->et) * speed / along : 0.0;
    double limit = isinf(c->mu) ? (double)INFINITY : c->mu * Pn;
    double tangential = fmin(limit, wished);
    hit->P = cr_vec3(Pn, -sy * tangential, -sz * tangential);
    return CR_OK;
}

const cr__LawKind cr__law_bilinear = {
    .order = 2,
    .apply = apply_bilinear,
    .info = {.name = "bilinear",
             .title = "Bilinear law of spheres and disks",
             .parameters = "e >= 0, et in [-1, 1], mu >= 0",
             .guarantee = "permissible for e <= 1; refuses a W that is not diagonal",
             .source = "Walton 1992; Brach 1991",
             .dimension = 2,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .reads = CR_READS_MU_E | CR_READS(CR_BY_ET)},
};
