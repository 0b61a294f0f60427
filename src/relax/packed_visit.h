// packed_visit.h - exact solution of Coulomb's law for one contact per lane, with the other contacts held.
//
// In the frame n, T = (t1, t2) a contact's D is w (1, c) (1, c)^T + S on the tangents. x is the normal
// impulse, y the tangential one, x_n(y) = free - c.y the normal impulse for which u_n = 0, with
// free = x + c.y - u_n/w at the start. The velocity is zero at y_stick = y + S^-1 (c u_n - u_t). The contact
// opens (P = 0) if free <= 0, sticks if y_stick and x_n(y_stick) lie in the cone, and else slips against its
// velocity: (S + lambda) y = S y_stick and |y| = mu x_n(y) for one lambda > 0 (Alart and Curnier 1991; the
// one-parameter form is that of a trust region step). Newton's method on mu x_n/|y| runs inside a bracket
// until the equation of each lane holds, so a lane does not depend on its neighbours; then the point is put
// on the cone with u_n = 0. It starts from the lambda of the impulse at the start, which is the
// answer where the contact slips as it did.
// Balls have c = 0 and S = w_t 1: P_n = max(0, x - u_n/w), and y_stick is clipped to the disc mu P_n.
// Fails: a lane whose Newton steps run out keeps its last direction of slip.
#ifndef CAROM_RELAX_PACKED_VISIT_H
#define CAROM_RELAX_PACKED_VISIT_H

#include "relax/lanes.h"

#define SLIP_NEAR \
    1e-4  // relative error of |y| = mu x_n from which the last Newton step is taken to first order

// data of a slipping contact: S, c in the basis t1, t2
typedef struct Slip {
    crLane s11, s12, s22, c1, c2;
    crLane r1, r2;  // S y_stick
    crLane free;    // -q_n / w, q: velocity without the contact's impulse
    crLane mu;
} Slip;

// A point of the path y(lambda) with |y|, mu x_n, and the change of lambda by a Newton step on mu x_n / |y| = 1.
typedef struct SlipPoint {
    crLane y1, y2, d1, d2;  // y and -dy/dlambda
    crLane size, limit, step;
} SlipPoint;

CR_LANE SlipPoint slip_at(const Slip* s, crLane lambda) {
    SlipPoint at;
    crLane a11 = s->s11 + lambda, a22 = s->s22 + lambda;
    crLane one = lane_all(1.0) / (a11 * a22 - s->s12 * s->s12);
    at.y1 = one * (a22 * s->r1 - s->s12 * s->r2);
    at.y2 = one * (a11 * s->r2 - s->s12 * s->r1);
    at.limit = s->mu * (s->free - s->c1 * at.y1 - s->c2 * at.y2);
    crLane size2 = at.y1 * at.y1 + at.y2 * at.y2;
    at.size = lane_sqrt(size2);
    at.d1 = one * (a22 * at.y1 - s->s12 * at.y2);
    at.d2 = one * (a11 * at.y2 - s->s12 * at.y1);
    crLane rise = s->mu * (s->c1 * at.d1 + s->c2 * at.d2);
    at.step = (at.size - at.limit) * size2 / (rise * size2 + at.limit * (at.y1 * at.d1 + at.y2 * at.d2));
    return at;
}

// Finds the direction of y in the lanes that slip, by at most `newton` steps from `lambda`. At lambda = 0 y is
// outside the cone. The last step is taken to first order, which leaves an error of SLIP_NEAR squared.
CR_LANE void slip_direction(const Slip* s, int newton, crMask slips, crLane lambda, crLane* y1, crLane* y2) {
    crLane lo = lane_all(0.0), hi = lane_all((double)INFINITY), at = lambda;
    crLane reach = s->s11 + s->s22;
    crMask open = slips & lane_less(lane_all(0.0), s->mu);
    for (int i = 0; i < newton && mask_any(open); i++) {
        SlipPoint now = slip_at(s, at);
        crLane f = now.size - now.limit, next = at + now.step, share = lane_all(SLIP_NEAR) * now.size;
        crMask outside = lane_less(lane_all(0.0), f);
        lo = lane_select(open & outside, at, lo);
        hi = lane_select(open & ~outside, at, hi);
        crMask held = lane_at_most(f * f, share * share);
        crMask inside = lane_less(lo, next) & lane_less(next, hi);
        crLane last = lane_select(held & inside, now.step, lane_all(0.0));
        *y1 = lane_select(open, now.y1 - last * now.d1, *y1);
        *y2 = lane_select(open, now.y2 - last * now.d2, *y2);
        crMask far = lane_less(lane_all(1e300), hi);
        crLane other = lane_select(far, lane_all(4.0) * lo + reach, lane_all(0.5) * (lo + hi));
        next = lane_select(inside, next, other);
        crMask stuck = lane_at_most(next, at) & lane_at_most(at, next);
        open = open & ~held & ~stuck;
        at = lane_select(open, next, at);
    }
}

// Returns the impulse of a slipping contact along n, t1, t2; y is the tangential part of y_stick, lambda the first guess.
CR_LANE crLane3 slip_impulse(const Slip* s, int newton, crMask slips, crLane lambda, crLane y1, crLane y2) {
    crLane zero = lane_all(0.0), one = lane_all(1.0);
    slip_direction(s, newton, slips, lambda, &y1, &y2);
    crLane size = lane_sqrt(y1 * y1 + y2 * y2);
    crMask moves = lane_less(zero, size);
    crLane scale = s->mu / lane_select(moves, size, one);
    y1 = lane_select(moves, y1 * scale, zero);
    y2 = lane_select(moves, y2 * scale, zero);
    // u_n = 0 along that direction; if friction would jam the contact (gain <= 0), x_n is |y| / mu
    crLane gain = one + s->c1 * y1 + s->c2 * y2;
    crMask lifts = lane_at_most(gain, zero);
    crLane pn = lane_select(lifts, size / lane_select(lane_less(zero, s->mu), s->mu, one), s->free / gain);
    return lane3(pn, pn * y1, pn * y2);
}

// Returns the impulse that solves the contact; u is its velocity under the impulse p, all along n, t1, t2. In
// s, r1, r2 and free need not be set; w = n^T D n.
CR_LANE crLane3 solve_slip(Slip s, crLane w, int newton, crLane3 u, crLane3 p) {
    crLane zero = lane_all(0.0), one = lane_all(1.0) / (s.s11 * s.s22 - s.s12 * s.s12);
    crLane fall = u.x / w;
    crLane r1 = s.c1 * u.x - u.y, r2 = s.c2 * u.x - u.z;
    crLane d1 = one * (s.s22 * r1 - s.s12 * r2), d2 = one * (s.s11 * r2 - s.s12 * r1);
    crLane3 stick = lane3(p.x - (fall + s.c1 * d1 + s.c2 * d2), p.y + d1, p.z + d2);
    s.free = p.x + s.c1 * p.y + s.c2 * p.z - fall;
    crMask opens = lane_at_most(s.free, zero);
    crLane limit = s.mu * stick.x;
    crMask sticks =
        lane_less(zero, stick.x) & lane_at_most(stick.y * stick.y + stick.z * stick.z, limit * limit);
    crMask slips = ~opens & ~sticks;
    crLane3 next = lane3_select(opens, lane3(zero, zero, zero), stick);
    if (mask_any(slips)) {
        s.r1 = s.s11 * p.y + s.s12 * p.z + r1;
        s.r2 = s.s12 * p.y + s.s22 * p.z + r2;
        // the lambda for which p comes closest to the slip: exact where the contact slipped as it does now
        crLane lambda = (r1 * p.y + r2 * p.z) / (p.y * p.y + p.z * p.z);
        crMask given = lane_less(zero, lambda) & lane_less(lambda, lane_all(1e300));
        lambda = lane_select(given, lambda, zero);
        next = lane3_select(slips, slip_impulse(&s, newton, slips, lambda, stick.y, stick.z), next);
    }
    return next;
}

// Returns the solution for a slot of packed contacts that are no balls.
CR_LANE crLane3 solve_contact(const double* slot, int newton, crLane3 u, crLane3 p) {
    Slip s = {.s11 = lane_load(slot + CR_AT_S * CR_LANES),
              .s12 = lane_load(slot + (CR_AT_S + 1) * CR_LANES),
              .s22 = lane_load(slot + (CR_AT_S + 2) * CR_LANES),
              .c1 = lane_load(slot + CR_AT_C * CR_LANES),
              .c2 = lane_load(slot + (CR_AT_C + 1) * CR_LANES),
              .mu = lane_load(slot + CR_AT_MU * CR_LANES)};
    return solve_slip(s, lane_load(slot + CR_AT_W * CR_LANES), newton, u, p);
}

// Returns the solution for a ball in world axes. g is the velocity of the centres, h the part that rotation
// adds across n, bias is E along n, gn = 1/w.
CR_LANE crLane3 solve_ball(const double* slot, crLane3 n, crLane gn, crLane bias, crLane3 g, crLane3 h,
                           crLane3 P) {
    crLane zero = lane_all(0.0), one = lane_all(1.0), mu = lane_load(slot + CR_AT_MU * CR_LANES);
    crLane gt = lane_load(slot + CR_AT_GT * CR_LANES), un = lane3_dot(n, g), at = lane3_dot(n, P);
    crLane pn = at - gn * (un + bias);
    pn = lane_select(lane_at_most(pn, zero), zero, pn);
    crLane3 y = lane3_sub(P, lane3_scale(gt, lane3_add(g, h)));
    y = lane3_sub(y, lane3_scale(at - gt * un, n));
    crLane size2 = lane3_dot(y, y), limit = mu * pn;
    crMask outside = lane_less(limit * limit, size2);
    // most contacts stick: the branch avoids the latency of the square root
    if (mask_any(outside)) y = lane3_scale(lane_select(outside, limit / lane_sqrt(size2), one), y);
    return lane3_madd(y, pn, n);
}

// factors s and velocities z of the bodies of a unit in each lane
typedef struct Pair {
    crLane sb, sa;
    crLane3 vb, wb, va, wa;
} Pair;

// Returns the relative velocity of the centres: s_b v_b + s_a v_a, where s_a is negative.
CR_LANE crLane3 passing(const Pair* pair, bool two) {
    crLane3 g = lane3_scale(pair->sb, pair->vb);
    return two ? lane3_madd(g, pair->sa, pair->va) : g;
}

CR_LANE void push(Pair* pair, bool two, crLane3 dP) {
    pair->vb = lane3_madd(pair->vb, pair->sb, dP);
    if (two) pair->va = lane3_madd(pair->va, pair->sa, dP);
}

// turned returns K z, turned_back returns K^T P.
CR_LANE crLane3 turned(bool round, const double* K, crLane3 z) {
    return round ? lane3_cross(z, lane3_load(K)) : lane3_mul(K, z);
}

CR_LANE crLane3 turned_back(bool round, const double* K, crLane3 P) {
    return round ? lane3_cross(lane3_load(K), P) : lane3_mul_t(K, P);
}

// axes of a contact and K of both bodies
typedef struct Place {
    crLane3 n, t1, t2;
    const double *Kb, *Ka;
} Place;

CR_LANE Place place_of(bool round, const double* slot) {
    const double* Kb = slot + CR_AT_K * CR_LANES;
    Place at = {.n = lane3_load(slot + CR_AT_N * CR_LANES),
                .Kb = Kb,
                .Ka = Kb + (round ? CR_K_ROUND : CR_K) * CR_LANES};
    at.t1 = lane3(lane_load(slot + CR_AT_T * CR_LANES), lane_load(slot + (CR_AT_T + 1) * CR_LANES),
                  lane_all(0.0));
    at.t2 = lane3(-at.n.z * at.t1.y, at.n.z * at.t1.x, at.n.x * at.t1.y - at.n.y * at.t1.x);
    return at;
}

// Returns the velocity of b's contact point relative to a's, along the axes.
CR_LANE crLane3 velocity_at(const Place* at, bool round, bool two, const Pair* pair) {
    crLane3 g = lane3_add(passing(pair, two), turned(round, at->Kb, pair->wb));
    if (two) g = lane3_add(g, turned(round, at->Ka, pair->wa));
    return lane3(lane3_dot(at->n, g), at->t1.x * g.x + at->t1.y * g.y, lane3_dot(at->t2, g));
}

// Adds the effect of an impulse dp along the axes to the velocities of both bodies.
CR_LANE void push_at(const Place* at, bool round, bool two, crLane3 dp, Pair* pair) {
    crLane3 dP = lane3_madd(lane3_scale(dp.x, at->n), dp.z, at->t2);
    dP.x = dP.x + dp.y * at->t1.x;
    dP.y = dP.y + dp.y * at->t1.y;
    push(pair, two, dP);
    pair->wb = lane3_add(pair->wb, turned_back(round, at->Kb, dP));
    if (two) pair->wa = lane3_add(pair->wa, turned_back(round, at->Ka, dP));
}

#endif
