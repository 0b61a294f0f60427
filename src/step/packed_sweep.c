// packed_sweep.c - one sweep of block Gauss-Seidel over packed contacts, each solved exactly.
//
// With the others held, a contact's velocity is u + D (P+ - P). It opens (P+ = 0) where q_n = u_n - (D P)_n
// >= 0; sticks where P+ = P - G u lies in the cone; else slips against its velocity: with the normal
// eliminated, (S + lambda) y = S y_stick has to meet |y| = mu x_n(y), x_n = -q_n/w - c.y, for one lambda > 0
// (Alart and Curnier 1991; the one-parameter form is that of a trust region step). Newton's method on
// mu x_n/|y| inside a bracket, lane by lane until its own equation holds, so that neighbours do not matter;
// then the point is put on the cone with u_n = 0.
// Impulses move along the direction of the sweeps before (see packed.c) when they are visited; z has already.
// Fails: a lane whose Newton steps run out keeps its last direction; the sweep's change says so.
#include <string.h>

#include "step/lanes.h"
#include "step/units.h"

#define NEWTON_STEPS 30
#define CHUNK        16  // groups of a colour that one thread takes at a time

// what a contact's slip needs: S, c in the basis t1, t2
typedef struct Slip {
    crLane s11, s12, s22, c1, c2;
    crLane r1, r2;  // S y_stick
    crLane free;    // -q_n / w
    crLane mu;
} Slip;

// y at lambda, its size, and mu x_n
CR_LANE crLane slip_at(const Slip* s, crLane lambda, crLane* y1, crLane* y2, crLane* limit) {
    crLane a11 = s->s11 + lambda, a22 = s->s22 + lambda;
    crLane one = lane_all(1.0) / (a11 * a22 - s->s12 * s->s12);
    *y1 = one * (a22 * s->r1 - s->s12 * s->r2);
    *y2 = one * (a11 * s->r2 - s->s12 * s->r1);
    *limit = s->mu * (s->free - s->c1 * *y1 - s->c2 * *y2);
    return lane_sqrt(*y1 * *y1 + *y2 * *y2);
}

// Newton's step from lambda for limit / size = 1
CR_LANE crLane slip_next(const Slip* s, crLane lambda, crLane y1, crLane y2, crLane size, crLane limit) {
    crLane a11 = s->s11 + lambda, a22 = s->s22 + lambda;
    crLane one = lane_all(1.0) / (a11 * a22 - s->s12 * s->s12);
    // -dy/dlambda
    crLane d1 = one * (a22 * y1 - s->s12 * y2), d2 = one * (a11 * y2 - s->s12 * y1);
    crLane radial = (y1 * d1 + y2 * d2) / size;
    crLane rise = s->mu * (s->c1 * d1 + s->c2 * d2);
    return lambda - (limit - size) * size / (rise * size + limit * radial);
}

// directions of the lanes that slip, from y at lambda = 0, which is outside
CR_LANE void slip_direction(const Slip* s, crMask slips, crLane* y1, crLane* y2) {
    crLane lo = lane_all(0.0), hi = lane_all((double)INFINITY), at = lo, limit;
    crLane reach = s->s11 + s->s22;
    crMask open = slips & lane_less(lane_all(0.0), s->mu);
    for (int i = 0; i < NEWTON_STEPS && mask_any(open); i++) {
        crLane t1, t2;
        crLane size = slip_at(s, at, &t1, &t2, &limit);
        *y1 = lane_select(open, t1, *y1);
        *y2 = lane_select(open, t2, *y2);
        crLane f = size - limit;
        crMask outside = lane_less(lane_all(0.0), f);
        lo = lane_select(open & outside, at, lo);
        hi = lane_select(open & ~outside, at, hi);
        crMask held = lane_at_most(f * f, lane_all(1e-31) * (size * size));
        crLane next = slip_next(s, at, t1, t2, size, limit);
        crMask inside = lane_less(lo, next) & lane_less(next, hi);
        crMask far = lane_less(lane_all(1e300), hi);
        crLane other = lane_select(far, lane_all(4.0) * lo + reach, lane_all(0.5) * (lo + hi));
        next = lane_select(inside, next, other);
        crMask stuck = lane_at_most(next, at) & lane_at_most(at, next);
        open = open & ~held & ~stuck;
        at = lane_select(open, next, at);
    }
}

// impulse of a slipping contact from that of a sticking one
CR_LANE crLane3 slip_impulse(const double* cold, crMask slips, crLane mu, crLane qn, crLane w, crLane3 n,
                             crLane3 stick) {
    crLane3 t1 = lane3_load(cold + CR_COLD_T * CR_LANES), t2 = lane3_cross(n, t1);
    Slip s = {.s11 = lane_load(cold + CR_COLD_S * CR_LANES),
              .s12 = lane_load(cold + (CR_COLD_S + 1) * CR_LANES),
              .s22 = lane_load(cold + (CR_COLD_S + 2) * CR_LANES),
              .c1 = lane_load(cold + CR_COLD_C * CR_LANES),
              .c2 = lane_load(cold + (CR_COLD_C + 1) * CR_LANES),
              .free = -qn / w,
              .mu = mu};
    crLane y1 = lane3_dot(t1, stick), y2 = lane3_dot(t2, stick), zero = lane_all(0.0), one = lane_all(1.0);
    s.r1 = s.s11 * y1 + s.s12 * y2;
    s.r2 = s.s12 * y1 + s.s22 * y2;
    slip_direction(&s, slips, &y1, &y2);
    crLane size = lane_sqrt(y1 * y1 + y2 * y2);
    crMask moves = lane_less(zero, size);
    crLane scale = mu / lane_select(moves, size, one);
    y1 = lane_select(moves, y1 * scale, zero);
    y2 = lane_select(moves, y2 * scale, zero);
    // u_n = 0 along that direction; where friction lifts more than it presses, the last point's normal part
    crLane gain = one + s.c1 * y1 + s.c2 * y2;
    crMask lifts = lane_at_most(gain, zero);
    crLane pn = lane_select(lifts, size / lane_select(lane_less(zero, mu), mu, one), s.free / gain);
    return lane3_scale(pn, lane3_madd(lane3_madd(n, y1, t1), y2, t2));
}

// exact solution with the other contacts held; u is the velocity under P
CR_LANE crLane3 solve_contact(const double* slot, const double* cold, crLane3 u, crLane3 P) {
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES), Dn = lane3_load(slot + CR_AT_DN * CR_LANES);
    crLane mu = lane_load(slot + CR_AT_MU * CR_LANES), zero = lane_all(0.0);
    crLane qn = lane3_dot(n, u) - lane3_dot(Dn, P);
    crLane3 stick = lane3_sub(P, lane3_sym_mul(slot + CR_AT_G * CR_LANES, u));
    crLane pn = lane3_dot(n, stick);
    crLane3 pt = lane3_madd(stick, -pn, n);
    crMask opens = lane_at_most(zero, qn);
    crMask sticks = lane_less(zero, pn) & lane_at_most(lane3_dot(pt, pt), mu * mu * pn * pn);
    crMask slips = ~opens & ~sticks;
    crLane3 next = lane3_select(opens, lane3(zero, zero, zero), stick);
    if (mask_any(slips)) {
        crLane3 slip = slip_impulse(cold, slips, mu, qn, lane3_dot(n, Dn), n, stick);
        next = lane3_select(slips, slip, next);
    }
    return next;
}

// K z and K^T P
CR_LANE crLane3 turned(bool round, const double* K, crLane3 z) {
    return round ? lane3_cross(z, lane3_load(K)) : lane3_mul(K, z);
}

CR_LANE crLane3 turned_back(bool round, const double* K, crLane3 P) {
    return round ? lane3_cross(lane3_load(K), P) : lane3_mul_t(K, P);
}

CR_LANE void sweep_group(const crPacked* p, const crGroup* g, bool round, int l) {
    const int *at_b = g->b + l, *at_a = g->a + l;
    const double* hot = p->hot + g->hot + l;
    const double* cold = p->cold + g->cold + l;
    double* direction = p->direction + g->step + l;
    size_t index = (size_t)(g - p->group) * CR_LANES + (size_t)l;
    int lanes = g->lanes - l, stride = CR_LANES * g->places;
    crLane sb = lane_load(hot), sa = lane_load(hot + CR_LANES);
    crLane zero = lane_all(0.0), change = zero, along = zero;
    crLane3 none = lane3(zero, zero, zero), va = none, wa = none;
    crLane3 vb, wb;
    row_gather(p->z, at_b, &vb, &wb);
    crMask live = mask_load(p->live + index);
    crLane beta = lane_gather(p->beta, g->island + l);
    crMask goes_on = lane_less(zero, beta);
    if (g->two) row_gather(p->z, at_a, &va, &wa);
    double* slot = p->hot + g->hot + 2 * CR_LANES + l;
    for (int k = 0; k < g->slots; k++) {
        const double *Kb = slot + CR_AT_K * CR_LANES, *Ka = Kb + (round ? CR_K_ROUND : CR_K) * CR_LANES;
        crLane3 u = lane3_madd(lane3_load(slot + CR_AT_E * CR_LANES), sb, vb);
        u = lane3_add(u, turned(round, Kb, wb));
        if (g->two) {
            u = lane3_madd(u, sa, va);
            u = lane3_add(u, turned(round, Ka, wa));
        }
        crLane3 P = lane3_load(slot + CR_AT_P * CR_LANES), n = lane3_load(slot + CR_AT_N * CR_LANES);
        crLane3 d = none;
        if (p->moving) {
            d = lane3_load(direction);
            P = lane3_select(live, lane3_madd(P, beta, d), P);
        }
        crLane3 next = solve_contact(slot, cold, u, P);
        next = lane3_select(live, next, P);
        crLane3 dP = lane3_sub(next, P);
        lane3_store(slot + CR_AT_P * CR_LANES, next);
        lane3_store(direction, lane3_add(lane3_select(goes_on, lane3_scale(beta, d), none), dP));
        vb = lane3_madd(vb, sb, dP);
        wb = lane3_add(wb, turned_back(round, Kb, dP));
        if (g->two) {
            va = lane3_madd(va, sa, dP);
            wa = lane3_add(wa, turned_back(round, Ka, dP));
        }
        crLane w = lane3_dot(n, lane3_load(slot + CR_AT_DN * CR_LANES));
        along = along + w * w * lane3_dot(dP, d);
        change = lane_max(change, w * w * lane3_dot(dP, dP));
        slot += stride;
        cold += CR_LANES * CR_COLD;
        direction += CR_LANES * 3;
    }
    row_scatter(p->z, at_b, lanes, vb, wb);
    if (g->two) row_scatter(p->z, at_a, lanes, va, wa);
    lane_store(p->change + index, change);
    lane_store(p->along + index, along);
}

CR_LANE void sweep_range(const crPackedSweep* sweep, int begin, int end) {
    const crPacked* p = sweep->packed;
    for (int i = sweep->first + begin; i < sweep->first + end; i++) {
        const crGroup* g = &p->group[i];
        if (!g->live) continue;
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            if (g->round) {
                sweep_group(p, g, true, l);
            } else {
                sweep_group(p, g, false, l);
            }
        }
    }
}

static void sweep_plain(void* ctx, int begin, int end) { sweep_range(ctx, begin, end); }

#if defined(__x86_64__) && CR_WIDTH > 1
__attribute__((target("avx2"))) static void sweep_wide(void* ctx, int begin, int end) {
    sweep_range(ctx, begin, end);
}
static crTaskFn sweep_function(void) { return __builtin_cpu_supports("avx2") ? sweep_wide : sweep_plain; }
#else
static crTaskFn sweep_function(void) { return sweep_plain; }
#endif

// colour after colour, so that every body meets its units in one order, whoever takes them
static void by_colours(crPacked* p, crTaskFn fn) {
    for (int colour = 0; colour < p->colours; colour++) {
        int first = p->colour_start[colour], count = p->colour_start[colour + 1] - first;
        crPackedSweep sweep = {p, first};
        // what shares bodies goes one after another
        cr__tasks_for(colour < CR_COLOURS ? p->tasks : NULL, count, CHUNK, fn, &sweep);
    }
}

void cr__packed_sweep(crPacked* p) {
    by_colours(p, sweep_function());
    cr__units_sweep(p->units, p->z, p->tasks);
}

// K of one lane by rows
static void read_K(const crGroup* g, const double* at, double K[9]) {
    const double kx = at[0], ky = at[CR_LANES], kz = at[2 * CR_LANES];
    const double round[9] = {0.0, kz, -ky, -kz, 0.0, kx, ky, -kx, 0.0};
    for (int i = 0; i < 9; i++) {
        K[i] = g->round ? round[i] : at[i * CR_LANES];
    }
}

static void apply_group(const crPacked* p, const crGroup* g, int l) {
    const double* slot = p->hot + g->hot + 2 * CR_LANES + l;
    for (int k = 0; k < g->slots; k++) {
        const double* at = slot + CR_AT_P * CR_LANES;
        for (int side = 0; side < (g->two ? 2 : 1); side++) {
            double* z = p->z + (side == 0 ? g->b[l] : g->a[l]);
            double share = p->hot[g->hot + (size_t)(side * CR_LANES + l)], K[9];
            read_K(g, slot + (CR_AT_K + side * (g->round ? CR_K_ROUND : CR_K)) * CR_LANES, K);
            for (int j = 0; j < 3; j++) {
                z[j] += share * at[j * CR_LANES];
                for (int i = 0; i < 3; i++) {
                    z[3 + j] += K[3 * i + j] * at[i * CR_LANES];
                }
            }
        }
        slot += CR_LANES * g->places;
    }
}

static void apply_range(void* ctx, int begin, int end) {
    const crPackedSweep* sweep = ctx;
    const crPacked* p = sweep->packed;
    for (int i = sweep->first + begin; i < sweep->first + end; i++) {
        for (int l = 0; l < p->group[i].lanes; l++) {
            apply_group(p, &p->group[i], l);
        }
    }
}

void cr__packed_apply(crPacked* p) {
    memcpy(p->z, p->z_free, CR_BODY_STRIDE * (size_t)(p->bodies + 1) * sizeof(double));
    by_colours(p, apply_range);
    cr__units_apply(p->units, p->z);
}
