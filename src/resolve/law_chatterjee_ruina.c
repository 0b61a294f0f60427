// law_chatterjee_ruina.c - Chatterjee and Ruina's algebraic law with two restitution coefficients.
//
//     P^ = (1+e) P_I + (1+et) (P_II - P_I);  outside the friction cone, slide back along P_II - P_I:
//     kappa = mu (1+e) n.P_I / (|t(P_II)| - mu n.(P_II - P_I)),   P = (1+e) P_I + kappa (P_II - P_I)
//
// Source: Chatterjee and Ruina 1998, section 5, eqs. 10 to 14. At mu = infinity, where eq. 13 is inf/inf,
// kappa is what brings n.P to zero if n.P^ < 0, and 1 + et otherwise. Holds: in the permissible region for 0
// <= e <= 1, -1 <= et <= 1; equals the bilinear law for diagonal W. Where W is singular P_II is that of least
// norm. Fails: V approaches along a blocked normal, or P_II does not exist because V is not in the range of
// W: no-solution.
#include "impulse/rank.h"
#include "law.h"
#include "pair.h"
#include "resolve/kinds.h"

// P_I and D = P_II - P_I, the latter through the Schur complement S = Wtt - wtn wtn^T / Wnn:
// S D_t = wtn Vn/Wnn - V_t, Wnn D_n = -wtn.D_t. false where an eigenvalue of W is rounding (impulse/rank.h).
static bool two_impulses(const crContact* c, double* P_I, crVec3* D) {
    const crSym3* W = &c->W;
    double r = 1.0 / W->xx;
    double syy = W->yy - W->xy * W->xy * r;
    double syz = W->yz - W->xy * W->xz * r;
    double szz = W->zz - W->xz * W->xz * r;
    double det = syy * szz - syz * syz;
    double rounding = CR__ROUNDING * (W->xx + W->yy + W->zz);
    double reach = 1.0 + (fabs(W->xy) + fabs(W->xz)) * r;
    bool regular =
        (W->xx > rounding) & (syy > 0.0) & (szz > 0.0) & (det > rounding * (reach * reach) * (syy + szz));
    if (!regular) return false;
    double by = W->xy * (c->V.x * r) - c->V.y;
    double bz = W->xz * (c->V.x * r) - c->V.z;
    double q = 1.0 / det;
    D->y = (szz * by - syz * bz) * q;
    D->z = (syy * bz - syz * by) * q;
    D->x = -(W->xy * D->y + W->xz * D->z) * r;
    *P_I = -c->V.x * r;
    return isfinite(*P_I + D->y + D->z);
}

// The same where W is singular to rounding, by the least-norm P_II. Without friction D is not needed.
static bool two_impulses_singular(const crContact* c, double* P_I, crVec3* D) {
    crVec3 I, II;
    if (!cr_impulse_P_I(c, &I)) return false;
    *P_I = I.x;
    bool sticks = cr_impulse_P_II(c, &II);
    *D = sticks ? cr_sub(II, I) : cr_vec3(0, 0, 0);
    if (cr__normal_blocked(c)) D->x = 0.0;
    return sticks || c->mu == 0.0;
}

crStatus cr__chatterjee_ruina(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)error;
    double P_I;
    crVec3 D;
    if (!two_impulses(c, &P_I, &D) && !two_impulses_singular(c, &P_I, &D)) return cr__no_solution(hit);
    // candidate, then the friction check
    double Pn = (1.0 + c->e) * P_I;
    double kappa = 1.0 + c->et;
    double tangential = sqrt(D.y * D.y + D.z * D.z);
    double normal = Pn + kappa * D.x;
    if (isinf(c->mu)) {
        if (normal < 0.0) kappa = Pn / -D.x;
    } else {
        // computed always: which way the check goes is anyone's guess, and a wrong guess costs more
        double clipped = c->mu * Pn / (tangential - c->mu * D.x);
        kappa = kappa * tangential > c->mu * normal ? clipped : kappa;
    }
    hit->P = cr_vec3(Pn + kappa * D.x, kappa * D.y, kappa * D.z);
    return CR_OK;
}

const cr__LawKind cr__law_chatterjee_ruina = {
    .order = 3,
    .apply = cr__chatterjee_ruina,
    .info = {.name = "chatterjee-ruina",
             .title = "Chatterjee and Ruina's algebraic law",
             .parameters = "e >= 0, et in [-1, 1], mu >= 0",
             .guarantee = "permissible for e <= 1; one solution; bilinear where W is diagonal",
             .source = "Chatterjee and Ruina 1998, section 5",
             .dimension = 2,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .grazing_tangential = true,
             .reads = CR_READS_MU_E | CR_READS(CR_BY_ET)},
};
