// packed_substeps.c - eight short steps over one packing: a press and a full sweep each, then position presses.
//
//     hs = h/8;  D = 0
//     8 times   z += dz/8 + J^T P                            forces, and the impulses of the short step before
//               press: P_n so that u_n + gap/hs >= 0         friction held; a twentieth of the gap where it overlaps
//               D += hs z;  gap = gap0 + J_n D
//               full sweep: Coulomb with u_n + max(gap, 0)/hs >= 0
//     bounce    full sweeps for additional impulses with u_n + e u_n- >= 0 where a contact pressed
//     16 times  press on D: gap0 + J_n D >= target
//
// Normals, arms and masses stay those of the start, so J^T P of a short step is what z changed by beyond dz/8, and
// no contact is visited for it. A press visits normals alone: n and k = K^T n of each body.
// Impulses of each short step lie in their cones, and so do their sums. Sweeps do not converge here: the step's
// energy is for the caller to look at.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "relax/packed_substeps.h"

#include "relax/packed_visit.h"

#define PRESSES       16  // of positions
#define BOUNCE_SWEEPS 4
#define SOFT          0.05  // share of an overlap that one press of velocities takes out
#define NEWTON_STEPS  2     // for the direction of slip
#define BODIES        256   // that one thread takes at a time

// numbers of a slot beside those of packed.h
enum {
    AT_GAP0 = 0,    // at the start
    AT_GAP = 1,     // at the end of the short step before
    AT_TARGET = 2,  // what the position press starts from: gap0 less the gap it asks for
    AT_Q = 3,       // impulse of the position presses
    AT_BOUNCE = 4,
    AT_G = 5,   // 1/w, w = n^T D n
    AT_KN = 6,  // K_b^T n, then K_a^T n where both bodies move; none of balls
};

static int beside_places(const crGroup* g) { return AT_KN + (g->kind == CR_KIND_BALL ? 0 : g->two ? 6 : 3); }

// s_b n.v_b + k_b.w_b, and of a
CR_LANE crLane normal_part(const Pair* pair, bool two, bool ball, crLane3 n, const double* kn) {
    crLane u = lane3_dot(n, passing(pair, two));
    if (!ball) u = u + lane3_dot(lane3_load(kn), pair->wb);
    if (!ball && two) u = u + lane3_dot(lane3_load(kn + 3 * CR_LANES), pair->wa);
    return u;
}

CR_LANE void push_normal(Pair* pair, bool two, bool ball, crLane3 n, const double* kn, crLane d) {
    push(pair, two, lane3_scale(d, n));
    if (!ball) pair->wb = lane3_madd(pair->wb, d, lane3_load(kn));
    if (!ball && two) pair->wa = lane3_madd(pair->wa, d, lane3_load(kn + 3 * CR_LANES));
}

CR_LANE crLane given_normal(bool ball, const double* slot) {
    return lane_load(slot + (ball ? CR_AT_BIAS : CR_AT_E) * CR_LANES);
}

CR_LANE crLane positive(crLane x) { return lane_select(lane_less(lane_all(0.0), x), x, lane_all(0.0)); }

CR_LANE void press_slot(const crSubsteps* run, Pair* pair, bool two, bool ball, double* slot,
                        double* beside) {
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES);
    const double* kn = beside + AT_KN * CR_LANES;
    crLane gap = lane_load(beside + AT_GAP * CR_LANES), zero = lane_all(0.0);
    crLane rate = lane_select(lane_less(gap, zero), lane_all(SOFT * run->rate), lane_all(run->rate));
    crLane u = normal_part(pair, two, ball, n, kn) + given_normal(ball, slot) + rate * gap;
    crLane fall = u * lane_load(beside + AT_G * CR_LANES);
    if (ball) {
        crLane3 P = lane3_load(slot + CR_AT_P * CR_LANES);
        crLane pn = lane3_dot(n, P), d = positive(pn - fall) - pn;
        lane3_store(slot + CR_AT_P * CR_LANES, lane3_madd(P, d, n));
        push_normal(pair, two, true, n, kn, d);
    } else {
        crLane pn = lane_load(slot + CR_AT_P * CR_LANES), next = positive(pn - fall);
        lane_store(slot + CR_AT_P * CR_LANES, next);
        push_normal(pair, two, false, n, kn, next - pn);
    }
}

// the same on displacements
CR_LANE void place_slot(Pair* pair, bool two, bool ball, const double* slot, double* beside) {
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES);
    const double* kn = beside + AT_KN * CR_LANES;
    crLane gap = normal_part(pair, two, ball, n, kn) + lane_load(beside + AT_TARGET * CR_LANES);
    crLane Q = lane_load(beside + AT_Q * CR_LANES);
    crLane next = positive(Q - gap * lane_load(beside + AT_G * CR_LANES));
    lane_store(beside + AT_Q * CR_LANES, next);
    push_normal(pair, two, ball, n, kn, next - Q);
}

CR_LANE void press_group(const crSubsteps* run, const crGroup* g, bool ball, bool two, bool places, int slots,
                         int l) {
    const crPacked* p = run->packed;
    double *hot = p->hot + g->hot + l, *z = places ? run->D : p->z;
    double* beside = run->beside + run->first[g - p->group] + l;
    int lanes = g->lanes - l, stride = CR_LANES * g->places, more = CR_LANES * beside_places(g);
    Pair pair = {.sb = lane_load(hot), .sa = lane_load(hot + CR_LANES)};
    row_gather(z, g->b + l, &pair.vb, &pair.wb);
    if (two) row_gather(z, g->a + l, &pair.va, &pair.wa);
    double* slot = hot + 2 * CR_LANES;
    for (int k = 0; k < slots; k++) {
        if (places) {
            place_slot(&pair, two, ball, slot, beside);
        } else {
            press_slot(run, &pair, two, ball, slot, beside);
        }
        slot += stride;
        beside += more;
    }
    row_scatter(z, g->b + l, lanes, pair.vb, pair.wb);
    if (two) row_scatter(z, g->a + l, lanes, pair.va, pair.wa);
}

// gap where the displacements of the pair have taken it, and the bias it asks for
CR_LANE crLane bias_of(const crSubsteps* run, const Pair* way, bool two, bool ball, const double* slot,
                       double* beside) {
    crLane zero = lane_all(0.0);
    if (run->visit == VISIT_SHORT) {
        crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES);
        crLane gap = lane_load(beside + AT_GAP0 * CR_LANES) +
                     normal_part(way, two, ball, n, beside + AT_KN * CR_LANES) +
                     lane_all(run->time) * given_normal(ball, slot);
        lane_store(beside + AT_GAP * CR_LANES, gap);
        return lane_all(run->rate) * positive(gap);
    }
    crLane open_gap = lane_all(run->rate) * positive(lane_load(beside + AT_GAP * CR_LANES));
    // a contact that did not press does not bounce
    crLane bounce = lane_load(beside + AT_BOUNCE * CR_LANES);
    crLane3 sum = lane3_load(slot + CR_AT_STEP * CR_LANES);
    crLane pressed = sum.x;
    if (ball) pressed = lane3_dot(lane3_load(slot + CR_AT_N * CR_LANES), sum);
    crMask open = lane_at_most(pressed, zero);
    return lane_select(open, open_gap, bounce);
}

CR_LANE void put_impulse(const crSubsteps* run, crLane3 P, double* slot) {
    if (run->visit != VISIT_BOUNCE) {
        crLane3 sum = lane3_load(slot + CR_AT_STEP * CR_LANES);
        lane3_store(slot + CR_AT_STEP * CR_LANES, lane3_add(sum, P));
    }
    lane3_store(slot + CR_AT_P * CR_LANES, P);
}

// gn: 1/w
CR_LANE void full_ball(const crSubsteps* run, Pair* pair, bool two, crLane bias, crLane gn, double* slot) {
    const double* rho = slot + CR_AT_RHO * CR_LANES;
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES), g = passing(pair, two);
    crLane3 turn = lane3_scale(lane_load(rho), pair->wb);
    if (two) turn = lane3_madd(turn, lane_load(rho + CR_LANES), pair->wa);
    crLane3 P = lane3_load(slot + CR_AT_P * CR_LANES);
    bias = bias + lane_load(slot + CR_AT_BIAS * CR_LANES);
    crLane3 next = solve_ball(slot, n, gn, bias, g, lane3_cross(turn, n), P);
    crLane3 dP = lane3_sub(next, P), dL = lane3_cross(n, dP);
    put_impulse(run, next, slot);
    push(pair, two, dP);
    pair->wb = lane3_madd(pair->wb, lane_load(rho), dL);
    if (two) pair->wa = lane3_madd(pair->wa, lane_load(rho + CR_LANES), dL);
}

CR_LANE void full_slot(const crSubsteps* run, Pair* pair, bool round, bool two, crLane bias, double* slot) {
    Place place = place_of(round, slot);
    crLane3 along = velocity_at(&place, round, two, pair);
    along.x = along.x + bias;
    crLane3 u = lane3_add(lane3_load(slot + CR_AT_E * CR_LANES), along);
    crLane3 p = lane3_load(slot + CR_AT_P * CR_LANES), next = solve_contact(slot, NEWTON_STEPS, u, p);
    put_impulse(run, next, slot);
    push_at(&place, round, two, lane3_sub(next, p), pair);
}

CR_LANE void full_group(const crSubsteps* run, const crGroup* g, crKind kind, bool two, int slots, int l) {
    const crPacked* p = run->packed;
    bool ball = kind == CR_KIND_BALL;
    double *hot = p->hot + g->hot + l, *beside = run->beside + run->first[g - p->group] + l;
    int lanes = g->lanes - l, stride = CR_LANES * g->places, more = CR_LANES * beside_places(g);
    Pair pair = {.sb = lane_load(hot), .sa = lane_load(hot + CR_LANES)}, way = pair;
    row_gather(p->z, g->b + l, &pair.vb, &pair.wb);
    row_gather(run->D, g->b + l, &way.vb, &way.wb);
    if (two) row_gather(p->z, g->a + l, &pair.va, &pair.wa);
    if (two) row_gather(run->D, g->a + l, &way.va, &way.wa);
    double* slot = hot + 2 * CR_LANES;
    for (int k = 0; k < slots; k++) {
        crLane bias = bias_of(run, &way, two, ball, slot, beside);
        if (ball) {
            full_ball(run, &pair, two, bias, lane_load(beside + AT_G * CR_LANES), slot);
        } else {
            full_slot(run, &pair, kind == CR_KIND_ROUND, two, bias, slot);
        }
        slot += stride;
        beside += more;
    }
    row_scatter(p->z, g->b + l, lanes, pair.vb, pair.wb);
    if (two) row_scatter(p->z, g->a + l, lanes, pair.va, pair.wa);
}

// kinds as constants, so that each has code of its own
CR_LANE void full_range(const crSubsteps* run, int begin, int end) {
    for (int i = run->first_group + begin; i < run->first_group + end; i++) {
        const crGroup* g = &run->packed->group[i];
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            if (g->kind == CR_KIND_BALL && g->two && g->slots == 1) {
                full_group(run, g, CR_KIND_BALL, true, 1, l);
            } else if (g->kind == CR_KIND_BALL) {
                full_group(run, g, CR_KIND_BALL, g->two, g->slots, l);
            } else if (g->kind == CR_KIND_ROUND) {
                full_group(run, g, CR_KIND_ROUND, g->two, g->slots, l);
            } else if (g->two) {
                full_group(run, g, CR_KIND_ANY, true, g->slots, l);
            } else {
                full_group(run, g, CR_KIND_ANY, false, g->slots, l);
            }
        }
    }
}

CR_LANE void press_range(const crSubsteps* run, bool places, int begin, int end) {
    for (int i = run->first_group + begin; i < run->first_group + end; i++) {
        const crGroup* g = &run->packed->group[i];
        for (int l = 0; l < g->lanes; l += CR_WIDTH) {
            if (g->kind == CR_KIND_BALL && g->two && g->slots == 1) {
                press_group(run, g, true, true, places, 1, l);
            } else if (g->kind == CR_KIND_BALL) {
                press_group(run, g, true, g->two, places, g->slots, l);
            } else if (g->two) {
                press_group(run, g, false, true, places, g->slots, l);
            } else {
                press_group(run, g, false, false, places, g->slots, l);
            }
        }
    }
}

// K^T n of each body, and gaps
CR_LANE void prepare_slot(bool round, bool two, const double* slot, double* beside) {
    const double *Kb = slot + CR_AT_K * CR_LANES, *Ka = Kb + (round ? CR_K_ROUND : CR_K) * CR_LANES;
    crLane3 n = lane3_load(slot + CR_AT_N * CR_LANES);
    lane3_store(beside + AT_KN * CR_LANES, turned_back(round, Kb, n));
    if (two) lane3_store(beside + (AT_KN + 3) * CR_LANES, turned_back(round, Ka, n));
}

// n^T D n of one lane; hot: s_b, s_a
CR_LANE double normal_weight(const double* hot, bool ball, const double* slot) {
    return ball ? hot[0] * hot[0] + hot[CR_LANES] * hot[CR_LANES] : slot[CR_AT_W * CR_LANES];
}

CR_LANE void prepare_range(const crSubsteps* run, int begin, int end) {
    const crPacked* p = run->packed;
    for (int i = run->first_group + begin; i < run->first_group + end; i++) {
        const crGroup* g = &p->group[i];
        bool ball = g->kind == CR_KIND_BALL;
        for (int k = 0; k < g->slots; k++) {
            double* slot = p->hot + g->hot + (size_t)(CR_LANES * (2 + k * g->places));
            double* beside = run->beside + run->first[i] + (size_t)(k * CR_LANES * beside_places(g));
            for (int l = 0; l < CR_LANES; l++) {
                int c = g->contact[l] + k;
                double given = slot[(ball ? CR_AT_BIAS : CR_AT_E) * CR_LANES + l];
                beside[AT_GAP0 * CR_LANES + l] = beside[AT_GAP * CR_LANES + l] = run->gap[c];
                beside[AT_TARGET * CR_LANES + l] = run->gap[c] - run->target[c] + given * run->h;
                beside[AT_Q * CR_LANES + l] = 0.0;
                beside[AT_BOUNCE * CR_LANES + l] = run->bounce != NULL ? run->bounce[c] : 0.0;
                beside[AT_G * CR_LANES + l] = 1.0 / normal_weight(p->hot + g->hot + l, ball, slot + l);
            }
            for (int l = 0; l < CR_LANES && !ball; l += CR_WIDTH) {
                prepare_slot(g->kind == CR_KIND_ROUND, g->two, slot + l, beside + l);
            }
        }
    }
}

CR_TASKS(full, crSubsteps, full_range(work, begin, end))
CR_TASKS(press, crSubsteps, press_range(work, false, begin, end))
CR_TASKS(place, crSubsteps, press_range(work, true, begin, end))
CR_TASKS(prepare, crSubsteps, prepare_range(work, begin, end))

static void by_colours(crSubsteps* run, crTaskFn fn) {
    cr__packed_by_colours(run->packed, fn, run, &run->first_group);
}

// z of the next short step: its forces, and the impulses of the one before
static void begin_short(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    double *z = run->packed->z, *from = run->z_begin, *way = run->v_way;
    const crLane hs = lane_all(1.0 / run->rate), share = lane_all(1.0 / CR_SUBSTEPS);
    bool first = !(run->time > 0.0);
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i += CR_WIDTH) {
        crLane now = lane_load(z + i), was = lane_load(from + i), impulses = now - was;
        if (!first) lane_store(way + i, lane_load(way + i) + hs * now);
        crLane next = (first ? was : now) + share * lane_load(run->dz + i);
        lane_store(from + i, next);
        lane_store(z + i, next + impulses);
    }
}

static void advance_ways(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    const double hs = 1.0 / run->rate;
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        run->D[i] += hs * run->packed->z[i];
    }
}

static void end_ways(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    const double hs = 1.0 / run->rate;
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        run->C[i] = run->D[i] - (run->v_way[i] + hs * run->packed->z[i]);
    }
}

// sums become the impulses; those of the short steps, or of the bounce, go
static void clear_impulses(const crSubsteps* run) {
    const crPacked* p = run->packed;
    for (int i = 0; i < p->group_count; i++) {
        const crGroup* g = &p->group[i];
        for (int k = 0; k < g->slots; k++) {
            double* slot = p->hot + g->hot + (size_t)(CR_LANES * (2 + k * g->places));
            memset(slot + CR_AT_P * CR_LANES, 0, 3 * CR_LANES * sizeof *slot);
        }
    }
    cr__short_rows_clear(run);
}

static crStatus create(crSubsteps* run, crArena* arena) {
    const crPacked* p = run->packed;
    size_t numbers = CR_BODY_STRIDE * (size_t)(p->bodies + 1), beside = 0;
    run->first = cr_arena_alloc(arena, (size_t)(p->group_count + 1) * sizeof *run->first);
    run->z_begin = cr_arena_alloc(arena, numbers * sizeof(double));
    run->v_way = cr_arena_alloc(arena, numbers * sizeof(double));
    if (run->first == NULL || run->z_begin == NULL || run->v_way == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < p->group_count; i++) {
        run->first[i] = beside;
        beside += (size_t)(CR_LANES * p->group[i].slots * beside_places(&p->group[i]));
    }
    run->beside = cr_arena_alloc(arena, (beside + 1) * sizeof(double));
    if (run->beside == NULL) return CR_ERR_MEMORY;
    memcpy(run->z_begin, p->z_free, numbers * sizeof(double));
    memset(run->v_way, 0, numbers * sizeof(double));
    memset(run->D, 0, numbers * sizeof(double));
    memset(run->C, 0, numbers * sizeof(double));
    return cr__short_rows_create(run, arena);
}

crStatus cr__substeps_run(crSubsteps* run, crArena* arena) {
    crPacked* p = run->packed;
    run->rate = CR_SUBSTEPS / run->h;
    run->time = 0.0;
    run->visit = VISIT_SHORT;
    if (create(run, arena) != CR_OK) return CR_ERR_MEMORY;
    by_colours(run, CR_BEST(prepare));
    for (int i = 0; i < CR_SUBSTEPS; i++) {
        cr__tasks_for(p->tasks, p->bodies, BODIES, begin_short, run);
        run->time = run->h * (i + 1) / CR_SUBSTEPS;
        by_colours(run, CR_BEST(press));
        cr__short_rows_visit(run, SHORT_PRESS);
        cr__tasks_for(p->tasks, p->bodies, BODIES, advance_ways, run);
        by_colours(run, CR_BEST(full));
        cr__short_rows_visit(run, SHORT_FULL);
    }
    cr__tasks_for(p->tasks, p->bodies, BODIES, end_ways, run);
    clear_impulses(run);
    for (int i = 0; run->bounce != NULL && i < BOUNCE_SWEEPS; i++) {
        run->visit = i + 1 < BOUNCE_SWEEPS ? VISIT_BOUNCE : VISIT_LAST_BOUNCE;
        by_colours(run, CR_BEST(full));
        cr__short_rows_visit(run, SHORT_FULL);
    }
    if (run->bounce != NULL) clear_impulses(run);
    memcpy(run->z_begin, run->D, CR_BODY_STRIDE * (size_t)(p->bodies + 1) * sizeof(double));
    for (int i = 0; i < PRESSES; i++) {
        by_colours(run, CR_BEST(place));
        cr__short_rows_visit(run, SHORT_PLACE);
    }
    for (int i = 0; i < CR_BODY_STRIDE * (p->bodies + 1); i++) {
        run->C[i] += run->D[i] - run->z_begin[i];
    }
    cr__packed_sums(p);
    return CR_OK;
}
