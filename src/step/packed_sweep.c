// packed_sweep.c - one sweep of block Gauss-Seidel over packed contacts, each solved exactly.
//
// In the frame n, T = (t1, t2) a contact's D is w (1, c) (1, c)^T + S on the tangents. With the others held
// it would have no velocity at y_stick = y + S^-1 (c u_n - u_t), x_n = free - c.y, free = x + c.y - u_n/w at
// the start. It opens (P = 0) where free <= 0; sticks where that lies in the cone; else slips against its
// velocity: with the normal eliminated, (S + lambda) y = S y_stick has to meet |y| = mu x_n(y) for one
// lambda > 0 (Alart and Curnier 1991; the one-parameter form is that of a trust region step). Newton's method
// on mu x_n/|y| inside a bracket, lane by lane until its own equation holds, so that neighbours do not
// matter; then the point is put on the cone with u_n = 0.
// Of balls c = 0 and S = w_t 1: P_n = max(0, x - u_n/w), and y_stick put back on the disc mu P_n.
// Impulses move along the direction of the sweeps before (see packed.c) when they are visited; z has already.
// Fails: a lane whose Newton steps run out keeps its last direction; the sweep's change says so.
#include <string.h>

#include "model/spatial.h"
#include "step/lanes.h"
#include "step/units.h"

#define NEWTON_STEPS 30
#define CHUNK        3072  // numbers of a colour's groups that one thread takes at a time
#define GROUPS       128   // groups likewise, for the results

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

// impulse of a slipping contact from the tangential part y of a sticking one, along n, t1, t2
CR_LANE crLane3 slip_impulse(const Slip* s, crMask slips, crLane y1, crLane y2) {
    crLane zero = lane_all(0.0), one = lane_all(1.0);
    slip_direction(s, slips, &y1, &y2);
    crLane size = lane_sqrt(y1 * y1 + y2 * y2);
    crMask moves = lane_less(zero, size);
    crLane scale = s->mu / lane_select(moves, size, one);
    y1 = lane_select(moves, y1 * scale, zero);
    y2 = lane_select(moves, y2 * scale, zero);
    // u_n = 0 along that direction; where friction lifts more than it presses, the last point's normal part
    crLane gain = one + s->c1 * y1 + s->c2 * y2;
    crMask lifts = lane_at_most(gain, zero);
    crLane pn = lane_select(lifts, size / lane_select(lane_less(zero, s->mu), s->mu, one), s->free / gain);
    return lane3(pn, pn * y1, pn * y2);
}

// exact solution with the other contacts held; u is the velocity under p, all along n, t1, t2
CR_LANE crLane3 solve_contact(const double* slot, crLane3 u, crLane3 p) {
    Slip s = {.s11 = lane_load(slot + CR_AT_S * CR_LANES),
              .s12 = lane_load(slot + (CR_AT_S + 1) * CR_LANES),
              .s22 = lane_load(slot + (CR_AT_S + 2) * CR_LANES),
              .c1 = lane_load(slot + CR_AT_C * CR_LANES),
              .c2 = lane_load(slot + (CR_AT_C + 1) * CR_LANES),
              .mu = lane_load(slot + CR_AT_MU * CR_LANES)};
    crLane zero = lane_all(0.0), one = lane_all(1.0) / (s.s11 * s.s22 - s.s12 * s.s12);
    crLane fall = u.x / lane_load(slot + CR_AT_W * CR_LANES);
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
        next = lane3_select(slips, slip_impulse(&s, slips, stick.y, stick.z), next);
    }
    return next;
}

// likewise of a ball in world axes: g without what turning adds across n, which is h
CR_LANE crLane3 solve_ball(const double* slot, crLane3 n, crLane gn, crLane3 g, crLane3 h, crLane3 P) {
    crLane zero = lane_all(0.0), one = lane_all(1.0), mu = lane_load(slot + CR_AT_MU * CR_LANES);
    crLane gt = lane_load(slot + CR_AT_GT * CR_LANES), un = lane3_dot(n, g), at = lane3_dot(n, P);
    crLane pn = at - gn * (un + lane_load(slot + CR_AT_BIAS * CR_LANES));
    pn = lane_select(lane_at_most(pn, zero), zero, pn);
    crLane3 y = lane3_sub(P, lane3_scale(gt, lane3_add(g, h)));
    y = lane3_sub(y, lane3_scale(at - gt * un, n));
    crLane size2 = lane3_dot(y, y), limit = mu * pn;
    crMask outside = lane_less(limit * limit, size2);
    // most stick: the branch saves waiting for the root
    if (mask_any(outside)) y = lane3_scale(lane_select(outside, limit / lane_sqrt(size2), one), y);
    return lane3_madd(y, pn, n);
}

// bodies of a unit in each lane
typedef struct Pair {
    crLane sb, sa;
    crLane3 vb, wb, va, wa;
} Pair;

// how far a sweep is in each lane, and what it tells
typedef struct Lanes {
    crMask live;
    crLane beta;  // 0 where it is not live
    crLane change, along;
} Lanes;

// s_b v_b + s_a v_a
CR_LANE crLane3 passing(const Pair* pair, bool two) {
    crLane3 g = lane3_scale(pair->sb, pair->vb);
    return two ? lane3_madd(g, pair->sa, pair->va) : g;
}

CR_LANE void push(Pair* pair, bool two, crLane3 dP) {
    pair->vb = lane3_madd(pair->vb, pair->sb, dP);
    if (two) pair->va = lane3_madd(pair->va, pair->sa, dP);
}

// impulse that a visit starts from
CR_LANE crLane3 impulse_at(const Lanes* at, const double* slot) {
    return lane3_madd(lane3_load(slot + CR_AT_P * CR_LANES), at->beta,
                      lane3_load(slot + CR_AT_STEP * CR_LANES));
}

// takes the impulse from P to next; what it moved by
CR_LANE crLane3 take(Lanes* at, crLane w, crLane3 P, crLane3 next, double* slot) {
    crLane3 d = lane3_load(slot + CR_AT_STEP * CR_LANES);
    // what has ended keeps its bits, the sign of a zero too
    if (mask_any(~at->live)) next = lane3_select(at->live, next, lane3_load(slot + CR_AT_P * CR_LANES));
    crLane3 dP = lane3_sub(next, P);
    lane3_store(slot + CR_AT_P * CR_LANES, next);
    lane3_store(slot + CR_AT_STEP * CR_LANES, lane3_madd(dP, at->beta, d));
    at->along = at->along + w * lane3_dot(dP, d);
    at->change = lane_max(at->change, w * w * lane3_dot(dP, dP));
    return dP;
}

CR_LANE void visit_ball(Pair* pair, bool two, crLane w, Lanes* at, double* slot) {
    const double* rho = slot + CR_AT_RHO * CR_LANES;
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES), g = passing(pair, two);
    crLane3 turn = lane3_scale(lane_load(rho), pair->wb);
    if (two) turn = lane3_madd(turn, lane_load(rho + CR_LANES), pair->wa);
    crLane3 P = impulse_at(at, slot);
    crLane3 next = solve_ball(slot, n, lane_all(1.0) / w, g, lane3_cross(turn, n), P);
    crLane3 dP = take(at, w, P, next, slot), dL = lane3_cross(n, dP);
    push(pair, two, dP);
    pair->wb = lane3_madd(pair->wb, lane_load(rho), dL);
    if (two) pair->wa = lane3_madd(pair->wa, lane_load(rho + CR_LANES), dL);
}

// K z and K^T P
CR_LANE crLane3 turned(bool round, const double* K, crLane3 z) {
    return round ? lane3_cross(z, lane3_load(K)) : lane3_mul(K, z);
}

CR_LANE crLane3 turned_back(bool round, const double* K, crLane3 P) {
    return round ? lane3_cross(lane3_load(K), P) : lane3_mul_t(K, P);
}

CR_LANE void visit(Pair* pair, bool round, bool two, Lanes* at, double* slot) {
    const double *Kb = slot + CR_AT_K * CR_LANES, *Ka = Kb + (round ? CR_K_ROUND : CR_K) * CR_LANES;
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES);
    crLane3 t1 = lane3(lane_load(slot + CR_AT_T * CR_LANES), lane_load(slot + (CR_AT_T + 1) * CR_LANES),
                       lane_all(0.0));
    crLane3 t2 = lane3(-n.z * t1.y, n.z * t1.x, n.x * t1.y - n.y * t1.x);
    crLane3 g = lane3_add(passing(pair, two), turned(round, Kb, pair->wb));
    if (two) g = lane3_add(g, turned(round, Ka, pair->wa));
    crLane3 u = lane3_add(lane3_load(slot + CR_AT_E * CR_LANES),
                          lane3(lane3_dot(n, g), t1.x * g.x + t1.y * g.y, lane3_dot(t2, g)));
    crLane3 p = impulse_at(at, slot);
    crLane3 dp = take(at, lane_load(slot + CR_AT_W * CR_LANES), p, solve_contact(slot, u, p), slot);
    crLane3 dP = lane3_madd(lane3_scale(dp.x, n), dp.z, t2);
    dP.x = dP.x + dp.y * t1.x;
    dP.y = dP.y + dp.y * t1.y;
    push(pair, two, dP);
    pair->wb = lane3_add(pair->wb, turned_back(round, Kb, dP));
    if (two) pair->wa = lane3_add(pair->wa, turned_back(round, Ka, dP));
}

CR_LANE void sweep_group(const crPacked* p, const crGroup* g, crKind kind, bool two, int slots, int l) {
    double* hot = p->hot + g->hot + l;
    size_t index = (size_t)(g - p->group) * CR_LANES + (size_t)l;
    int lanes = g->lanes - l, stride = CR_LANES * g->places;
    crLane zero = lane_all(0.0);
    Pair pair = {.sb = lane_load(hot), .sa = lane_load(hot + CR_LANES)};
    row_gather(p->z, g->b + l, &pair.vb, &pair.wb);
    if (two) row_gather(p->z, g->a + l, &pair.va, &pair.wa);
    Lanes at = {.live = mask_load(p->live + index), .change = zero, .along = zero};
    at.beta = lane_select(at.live, lane_gather(p->beta, g->island + l), zero);
    crLane w = pair.sb * pair.sb + pair.sa * pair.sa;
    double* slot = hot + 2 * CR_LANES;
    for (int k = 0; k < slots; k++) {
        if (kind == CR_KIND_BALL) {
            visit_ball(&pair, two, w, &at, slot);
        } else {
            visit(&pair, kind == CR_KIND_ROUND, two, &at, slot);
        }
        slot += stride;
    }
    row_scatter(p->z, g->b + l, lanes, pair.vb, pair.wb);
    if (two) row_scatter(p->z, g->a + l, lanes, pair.va, pair.wa);
    lane_store(p->change + index, at.change);
    lane_store(p->along + index, at.along);
}

// kinds as constants, so that each has code of its own
CR_LANE void sweep_range(const crPackedSweep* sweep, int begin, int end) {
    const crPacked* p = sweep->packed;
    for (int i = sweep->first + begin; i < sweep->first + end; i++) {
        const crGroup* g = &p->group[i];
        if (!g->live) continue;
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            if (g->kind == CR_KIND_BALL && g->two && g->slots == 1) {
                sweep_group(p, g, CR_KIND_BALL, true, 1, l);
            } else if (g->kind == CR_KIND_BALL) {
                sweep_group(p, g, CR_KIND_BALL, g->two, g->slots, l);
            } else if (g->kind == CR_KIND_ROUND) {
                sweep_group(p, g, CR_KIND_ROUND, g->two, g->slots, l);
            } else {
                sweep_group(p, g, CR_KIND_ANY, g->two, g->slots, l);
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
        size_t size = p->group[first + count].hot - p->group[first].hot;
        int chunk = 1 + (int)(CHUNK * (size_t)count / (size + 1));
        // what shares bodies goes one after another
        cr__tasks_for(colour < CR_COLOURS ? p->tasks : NULL, count, chunk, fn, &sweep);
    }
}

void cr__packed_sweep(crPacked* p) {
    by_colours(p, sweep_function());
    cr__units_sweep(p->units, p->z, p->tasks);
}

static crVec3 read3(const double* at) { return cr_vec3(at[0], at[CR_LANES], at[2 * CR_LANES]); }

// impulse of one lane's contact in world axes
static crVec3 read_P(const crGroup* g, const double* slot) {
    crVec3 P = read3(slot + CR_AT_P * CR_LANES), n = read3(slot + CR_AT_N * CR_LANES);
    if (g->kind == CR_KIND_BALL) return P;
    crVec3 t1 = cr_vec3(slot[CR_AT_T * CR_LANES], slot[(CR_AT_T + 1) * CR_LANES], 0.0);
    return cr_madd(cr_madd(cr_scale(P.x, n), P.y, t1), P.z, cr_cross(n, t1));
}

// K^T P of b (side 0) or a
static crVec3 read_turn(const crGroup* g, const double* slot, int side, crVec3 P) {
    if (g->kind == CR_KIND_BALL) {
        double rho = slot[(CR_AT_RHO + side) * CR_LANES];
        return cr_scale(rho, cr_cross(read3(slot + CR_AT_N * CR_LANES), P));
    }
    const double* K = slot + (CR_AT_K + side * (g->kind == CR_KIND_ROUND ? CR_K_ROUND : CR_K)) * CR_LANES;
    if (g->kind == CR_KIND_ROUND) return cr_cross(read3(K), P);
    crVec3 x = cr_scale(P.x, read3(K)), y = cr_madd(x, P.y, read3(K + 3 * CR_LANES));
    return cr_madd(y, P.z, read3(K + 6 * CR_LANES));
}

static void apply_group(const crPacked* p, const crGroup* g, int l) {
    const double* slot = p->hot + g->hot + 2 * CR_LANES + l;
    for (int k = 0; k < g->slots; k++) {
        crVec3 P = read_P(g, slot);
        for (int side = 0; side < (g->two ? 2 : 1); side++) {
            double* z = p->z + (side == 0 ? g->b[l] : g->a[l]);
            double share = p->hot[g->hot + (size_t)(side * CR_LANES + l)];
            cr__store_vec(cr_madd(cr__load_vec(z), share, P), z);
            cr__store_vec(cr_add(cr__load_vec(z + 3), read_turn(g, slot, side, P)), z + 3);
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

double cr__packed_work(const crPacked* p, const crGroup* g, int l) {
    double sum = 0.0;
    const double* slot = p->hot + g->hot + 2 * CR_LANES + l;
    for (int k = 0; k < g->slots; k++) {
        crVec3 P = read3(slot + CR_AT_P * CR_LANES);
        sum += g->kind == CR_KIND_BALL
                   ? slot[CR_AT_BIAS * CR_LANES] * cr_dot(read3(slot + CR_AT_N * CR_LANES), P)
                   : cr_dot(read3(slot + CR_AT_E * CR_LANES), P);
        slot += CR_LANES * g->places;
    }
    return sum;
}

typedef struct Results {
    const crPacked* packed;
    const crPackedIsland* island;
} Results;

static void read_range(void* ctx, int begin, int end) {
    const crPacked* p = ((const Results*)ctx)->packed;
    const crPackedIsland* island = ((const Results*)ctx)->island;
    for (int i = begin; i < end; i++) {
        const crGroup* g = &p->group[i];
        const double* hot = p->hot + g->hot;
        for (int l = 0; l < g->lanes; l++) {
            double sb = hot[l], sa = hot[CR_LANES + l];
            for (int k = 0; k < g->slots; k++) {
                const double* slot = hot + CR_LANES * (2 + k * g->places) + l;
                crPackedContact* c = &p->contact[g->contact[l] + k];
                // turned out of its frame it may be outside by rounding
                if (island[g->island[l]].sweeps > 0) c->P = cr__in_cone(c, read_P(g, slot));
                c->w = g->kind == CR_KIND_BALL ? sb * sb + sa * sa : slot[CR_AT_W * CR_LANES];
            }
        }
    }
}

void cr__packed_results(crPacked* p, const crPackedIsland* island) {
    cr__tasks_for(p->tasks, p->group_count, GROUPS, read_range, &(Results){p, island});
}
