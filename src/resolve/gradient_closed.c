// gradient_closed.c - derivatives of the laws that are a formula: newton, bilinear, chatterjee-ruina, brach.
//
// Each law is written once more in numbers that carry their derivatives (gradient_dual.h), in the piece asked for:
//     newton, brach      one piece
//     bilinear           0: P_t = -(1+et) V_t/Wtt,  1: |P_t| = mu Pn
//     chatterjee-ruina   0: kappa = 1 + et,         1: kappa as the cone (or, for mu infinite, n.P = 0) gives it
// Fails: false where the formula divides by zero.
#include "gradient.h"

void cr__piece_impulse(cr__Piece* out, const cr__Dual P[3], const cr__Unknowns* X) {
    out->P = cr_vec3(P[0].v, P[1].v, P[2].v);
    for (int k = 0; k < CR__CLOSED_INPUTS; k++) {
        double by[3];
        for (int i = 0; i < 3; i++) {
            by[i] = P[i].d[k];
            for (int j = 0; X != NULL && j < CR__UNKNOWNS; j++) {
                by[i] += P[i].d[CR__CLOSED_INPUTS + j] * X->by[j][k];
            }
        }
        out->by[k] = cr_vec3(by[0], by[1], by[2]);
    }
}

void cr__piece_gauge(cr__Piece* out, crSwitch which, int other, const cr__Dual* g, const cr__Unknowns* X) {
    cr__Gauge* gauge = &out->gauge[out->gauges++];
    *gauge = (cr__Gauge){.which = which, .other = other, .value = g->v};
    for (int k = 0; k < CR__CLOSED_INPUTS; k++) {
        gauge->by[k] = g->d[k];
        for (int j = 0; X != NULL && j < CR__UNKNOWNS; j++) {
            gauge->by[k] += g->d[CR__CLOSED_INPUTS + j] * X->by[j][k];
        }
    }
}

static bool finish(cr__Piece* out, const cr__Dual P[3]) {
    cr__piece_impulse(out, P, NULL);
    return true;
}

// -(1+e) Vn
static cr__Dual rebound(const cr__DualContact* d) {
    return cr__scaled(-1.0, cr__times(cr__plus(cr__dual(1.0), d->e), d->V[0]));
}

bool cr__piece_newton(const cr__DualContact* d, int piece, cr__Piece* out) {
    (void)piece;
    cr__Dual P[3] = {cr__over(rebound(d), d->xx), cr__dual(0.0), cr__dual(0.0)};
    return finish(out, P);
}

bool cr__piece_frictionless(const cr__DualContact* d, int piece, cr__Piece* out) {
    out->differenced[CR_BY_MU] = true;
    return cr__piece_newton(d, piece, out);
}

bool cr__piece_brach(const cr__DualContact* d, int piece, cr__Piece* out) {
    (void)piece;
    cr__Dual row = cr__plus(d->xx, cr__plus(cr__times(d->mu2, d->xy), cr__times(d->mu3, d->xz)));
    cr__Dual Pn = cr__over(rebound(d), row);
    cr__Dual P[3] = {Pn, cr__times(Pn, d->mu2), cr__times(Pn, d->mu3)};
    return finish(out, P);
}

bool cr__piece_bilinear(const cr__DualContact* d, int piece, cr__Piece* out) {
    cr__Dual Pn = cr__over(rebound(d), d->xx);
    cr__Dual speed = cr__length(d->V[1], d->V[2]);
    // W is diagonal along V_t, so that the mass there does not change to first order when V_t turns
    double y = speed.v > 0.0 ? d->V[1].v / speed.v : 1.0;
    double z = speed.v > 0.0 ? d->V[2].v / speed.v : 0.0;
    cr__Dual along = cr__plus(cr__blend(d->yy, y * y, d->zz, z * z), cr__scaled(2.0 * y * z, d->yz));
    cr__Dual grip = cr__over(cr__plus(cr__dual(1.0), d->et), along);
    bool free = isinf(d->c.mu);
    cr__Dual limit = free ? cr__dual(0.0) : cr__times(d->mu, Pn);
    cr__Dual margin = cr__minus(limit, cr__times(grip, speed));
    if (piece == CR__OWN_PIECE) piece = free || margin.v >= 0.0 ? 0 : 1;
    if (piece == 1) {
        if (!(speed.v > 0.0)) return false;
        grip = cr__over(limit, speed);
        margin = cr__scaled(-1.0, margin);
    }
    if (!free) cr__piece_gauge(out, CR_SWITCH_CONE, 1 - piece, &margin, NULL);
    cr__Dual P[3] = {Pn, cr__scaled(-1.0, cr__times(grip, d->V[1])),
                     cr__scaled(-1.0, cr__times(grip, d->V[2]))};
    return finish(out, P);
}

void cr__stopping_slip(const cr__DualContact* d, cr__Dual Un, cr__Dual D[3]) {
    cr__Dual wy = cr__over(d->xy, d->xx);
    cr__Dual wz = cr__over(d->xz, d->xx);
    cr__Dual syy = cr__minus(d->yy, cr__times(d->xy, wy));
    cr__Dual syz = cr__minus(d->yz, cr__times(d->xy, wz));
    cr__Dual szz = cr__minus(d->zz, cr__times(d->xz, wz));
    cr__Dual det = cr__minus(cr__times(syy, szz), cr__times(syz, syz));
    cr__Dual by = cr__minus(cr__times(wy, Un), d->V[1]);
    cr__Dual bz = cr__minus(cr__times(wz, Un), d->V[2]);
    D[1] = cr__over(cr__minus(cr__times(szz, by), cr__times(syz, bz)), det);
    D[2] = cr__over(cr__minus(cr__times(syy, bz), cr__times(syz, by)), det);
    D[0] = cr__scaled(-1.0, cr__plus(cr__times(wy, D[1]), cr__times(wz, D[2])));
}

bool cr__piece_chatterjee_ruina(const cr__DualContact* d, int piece, cr__Piece* out) {
    cr__Dual D[3];
    cr__stopping_slip(d, d->V[0], D);
    cr__Dual Pn = cr__over(rebound(d), d->xx);
    cr__Dual kappa = cr__plus(cr__dual(1.0), d->et);
    cr__Dual tangential = cr__length(D[1], D[2]);
    cr__Dual normal = cr__plus(Pn, cr__times(kappa, D[0]));
    // infinite friction bounds n.P alone
    bool free = isinf(d->c.mu);
    cr__Dual margin = free ? normal : cr__minus(cr__times(d->mu, normal), cr__times(kappa, tangential));
    if (piece == CR__OWN_PIECE) piece = margin.v >= 0.0 ? 0 : 1;
    if (piece == 1) {
        cr__Dual room = cr__minus(tangential, cr__times(d->mu, D[0]));
        kappa = free ? cr__over(Pn, cr__scaled(-1.0, D[0])) : cr__over(cr__times(d->mu, Pn), room);
        margin = cr__scaled(-1.0, margin);
    }
    cr__piece_gauge(out, CR_SWITCH_CONE, 1 - piece, &margin, NULL);
    cr__Dual P[3] = {cr__plus(Pn, cr__times(kappa, D[0])), cr__times(kappa, D[1]), cr__times(kappa, D[2])};
    return isfinite(kappa.v) && finish(out, P);
}
