// rank.h - which directions of W are blocked, given that W was formed in floating point.
//
// Every entry of W is a sum of products and carries rounding of order eps s_i s_j, s_i = sqrt(W_ii). The turn
// into the contact frame mixes the entries, so one level holds for all: eps (s_x + s_y + s_z)^2, at most
// 3 eps trace W. An eigenvalue of W at or below that level is zero, and its direction is blocked.
#ifndef CAROM_IMPULSE_RANK_H
#define CAROM_IMPULSE_RANK_H

#include "carom/region.h"

#define CR__ROUNDING  0x1p-48  // of trace W: eigenvalues up to this are rounding
#define CR__RANGE_TOL 1e-9     // of |V|: a part along a blocked direction up to this counts as none

static inline double cr__W_rounding(const crSym3* W) { return CR__ROUNDING * (W->xx + W->yy + W->zz); }

// true where no impulse changes the normal velocity
static inline bool cr__normal_blocked(const crContact* c) { return !(c->W.xx > cr__W_rounding(&c->W)); }

// true where V approaches along a blocked normal: no impulse can prevent penetration
static inline bool cr__approach_blocked(const crContact* c) {
    return cr__normal_blocked(c) && -c->V.x > CR__RANGE_TOL * cr_norm(c->V);
}

// W with its normal row eliminated: S = Wtt - w w^T/Wnn, omega = w/Wnn, w = Wtn. Needs Wnn > 0.
typedef struct cr__Schur {
    double omega_y, omega_z;
    double yy, yz, zz;
    double rounding;  // eigenvalues of S up to this are rounding
} cr__Schur;

static inline cr__Schur cr__schur(const crSym3* W) {
    cr__Schur s;
    s.omega_y = W->xy / W->xx;
    s.omega_z = W->xz / W->xx;
    s.yy = W->yy - W->xy * s.omega_y;
    s.yz = W->yz - W->xy * s.omega_z;
    s.zz = W->zz - W->xz * s.omega_z;
    // an error d of W becomes (1, -omega) d (1, -omega)^T
    double reach = 1.0 + fabs(s.omega_y) + fabs(s.omega_z);
    s.rounding = cr__W_rounding(W) * (reach * reach);
    return s;
}

#endif
