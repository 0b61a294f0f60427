// packed_substeps.c - eight short steps over one packing, of a press and a full sweep, then position presses.
//
//     hs = h/8;  D = 0
//     8 times   z += dz/8 + J^T P                        forces, and the impulses of the previous short step
//               press: P_n so that u_n + gap/hs >= 0     friction held; a twentieth of the gap if it overlaps
//               D += hs z;  gap = gap0 + J_n D
//               full sweep: P_n so that u_n + max(gap, 0)/hs >= 0, then P_t against u_t within mu P_n
//     bounce    4 full sweeps for additional impulses: u_n + e u_n- >= 0 if the contact pressed
//     12 times  press on D: gap0 + J_n D >= target
//
// Normals, arms and masses stay those of the start, so J^T P of a short step is the change of z beyond dz/8,
// and no contact is visited to add it. A press visits normals only. A contact sticks if the impulse that
// stops both tangents is in the cone; else its friction makes a projected gradient step, of a length that
// never gains energy. Impulses of each short step lie in their cones, and so do their sums. Sweeps do not
// converge here: the caller has to limit the energy of the step. Short steps compute in single precision.
// Fails: CR_ERR_MEMORY.
#include "relax/packed_substeps.h"

#include <string.h>

#include "relax/short_group.h"
#include "relax/units.h"
#include "relax/wide.h"

#define PRESSES       12     // position presses per step
#define BOUNCE_SWEEPS 4      // sweeps of the bounce
#define SOFT          0.05f  // share of an overlap that one press of velocities removes
#define BODIES        256    // least bodies per task
#define GROUPS        24     // least groups per task

// factors s and velocities (or displacements) of the bodies of a unit in each lane
typedef struct ShortPair {
    crWide sb, sa;
    crWide3 vb, wb, va, wa;
} ShortPair;

CR_LANE void gather_pair(const crGroup* g, bool two, const float* z, int l, ShortPair* pair) {
    wide_gather(z, g->b + l, &pair->vb, &pair->wb);
    if (two) wide_gather(z, g->a + l, &pair->va, &pair->wa);
}

CR_LANE void scatter_pair(const crGroup* g, bool two, float* z, int l, const ShortPair* pair) {
    wide_scatter(z, g->b + l, g->lanes - l, pair->vb, pair->wb);
    if (two) wide_scatter(z, g->a + l, g->lanes - l, pair->va, pair->wa);
}

// Returns the relative velocity of the centres: s_b v_b + s_a v_a, where s_a is negative.
CR_LANE crWide3 meeting(const ShortPair* pair, bool two) {
    crWide3 g = wide3_scale(pair->sb, pair->vb);
    return two ? wide3_madd(g, pair->sa, pair->va) : g;
}

CR_LANE void move_pair(ShortPair* pair, bool two, crWide3 dP) {
    pair->vb = wide3_madd(pair->vb, pair->sb, dP);
    if (two) pair->va = wide3_madd(pair->va, pair->sa, dP);
}

// turning_part returns k.w of both bodies for axis i; turn_pair adds d k to w.
CR_LANE crWide turning_part(const ShortPair* pair, bool two, const float* slot, int i) {
    const float* k = slot + (CR_SHORT_K + 3 * i) * CR_WIDE;
    crWide u = wide3_dot(wide3_load(k), pair->wb);
    if (two) u = u + wide3_dot(wide3_load(k + 9 * CR_WIDE), pair->wa);
    return u;
}

CR_LANE void turn_pair(ShortPair* pair, bool two, const float* slot, int i, crWide d) {
    const float* k = slot + (CR_SHORT_K + 3 * i) * CR_WIDE;
    pair->wb = wide3_madd(pair->wb, d, wide3_load(k));
    if (two) pair->wa = wide3_madd(pair->wa, d, wide3_load(k + 9 * CR_WIDE));
}

// Returns the relative velocity, or displacement, along n.
CR_LANE crWide short_normal(const ShortPair* pair, bool two, bool ball, crWide3 n, const float* slot) {
    crWide u = wide3_dot(n, meeting(pair, two));
    if (!ball) u = u + turning_part(pair, two, slot, 0);
    return u;
}

CR_LANE void short_push(ShortPair* pair, bool two, bool ball, crWide3 n, const float* slot, crWide d) {
    move_pair(pair, two, wide3_scale(d, n));
    if (!ball) turn_pair(pair, two, slot, 0, d);
}

CR_LANE void short_press(const crSubsteps* run, ShortPair* pair, bool two, bool ball, float* slot) {
    crWide3 n = wide3_load(slot + CR_SHORT_N * CR_WIDE);
    crWide gap = wide_load(slot + CR_SHORT_GAP * CR_WIDE), open_rate = wide_all((float)run->rate);
    crWide rate = wide_select(wide_less(gap, wide_all(0.0f)), wide_all(SOFT) * open_rate, open_rate);
    crWide u = short_normal(pair, two, ball, n, slot) + wide_load(slot + CR_SHORT_E * CR_WIDE) + rate * gap;
    crWide fall = u * wide_load(slot + CR_SHORT_G * CR_WIDE);
    if (ball) {
        crWide3 P = wide3_load(slot + CR_SHORT_P * CR_WIDE);
        crWide pn = wide3_dot(n, P), d = wide_positive(pn - fall) - pn;
        wide3_store(slot + CR_SHORT_P * CR_WIDE, wide3_madd(P, d, n));
        short_push(pair, two, true, n, slot, d);
    } else {
        crWide pn = wide_load(slot + CR_SHORT_P * CR_WIDE), next = wide_positive(pn - fall);
        wide_store(slot + CR_SHORT_P * CR_WIDE, next);
        short_push(pair, two, false, n, slot, next - pn);
    }
}

// Presses on displacements: gap0 + J_n D >= target.
CR_LANE void short_place(ShortPair* pair, bool two, bool ball, float* slot) {
    crWide3 n = wide3_load(slot + CR_SHORT_N * CR_WIDE);
    crWide gap = short_normal(pair, two, ball, n, slot) + wide_load(slot + CR_SHORT_TARGET * CR_WIDE);
    crWide Q = wide_load(slot + CR_SHORT_Q * CR_WIDE);
    crWide next = wide_positive(Q - gap * wide_load(slot + CR_SHORT_G * CR_WIDE));
    wide_store(slot + CR_SHORT_Q * CR_WIDE, next);
    short_push(pair, two, ball, n, slot, next - Q);
}

CR_LANE void short_press_group(const crSubsteps* run, const crGroup* g, bool ball, bool two, bool places,
                               int slots, int l) {
    float *hot = run->hot + g->hot + l, *z = places ? run->way : run->z;
    int stride = CR_WIDE * g->places;
    ShortPair pair = {.sb = wide_load(hot), .sa = wide_load(hot + CR_WIDE)};
    gather_pair(g, two, z, l, &pair);
    float* slot = hot + 2 * CR_WIDE;
    for (int k = 0; k < slots; k++, slot += stride) {
        if (places) {
            short_place(&pair, two, ball, slot);
        } else {
            short_press(run, &pair, two, ball, slot);
        }
    }
    scatter_pair(g, two, z, l, &pair);
}

// Returns the bias of u_n in a full sweep. In a short step it also updates the gap from the displacements.
CR_LANE crWide short_bias(const crSubsteps* run, const ShortPair* way, bool two, bool ball, float* slot) {
    crWide rate = wide_all((float)run->rate);
    if (run->visit == VISIT_SHORT) {
        crWide3 n = wide3_load(slot + CR_SHORT_N * CR_WIDE);
        crWide gap = wide_load(slot + CR_SHORT_GAP0 * CR_WIDE) + short_normal(way, two, ball, n, slot) +
                     wide_all((float)run->time) * wide_load(slot + CR_SHORT_E * CR_WIDE);
        wide_store(slot + CR_SHORT_GAP * CR_WIDE, gap);
        return rate * wide_positive(gap);
    }
    crWide open_gap = rate * wide_positive(wide_load(slot + CR_SHORT_GAP * CR_WIDE));
    crWide bounce = wide_load(slot + CR_SHORT_BOUNCE * CR_WIDE);
    crWide3 sum = wide3_load(slot + CR_SHORT_SUM * CR_WIDE);
    crWide pressed = sum.x;
    if (ball) pressed = wide3_dot(wide3_load(slot + CR_SHORT_N * CR_WIDE), sum);
    // a contact that did not press does not bounce
    return wide_select(wide_less(wide_all(0.0f), pressed), bounce, open_gap);
}

CR_LANE void short_put(const crSubsteps* run, crWide3 P, float* slot) {
    if (run->visit != VISIT_BOUNCE) {
        crWide3 sum = wide3_load(slot + CR_SHORT_SUM * CR_WIDE);
        wide3_store(slot + CR_SHORT_SUM * CR_WIDE, wide3_add(sum, P));
    }
    wide3_store(slot + CR_SHORT_P * CR_WIDE, P);
}

CR_LANE void full_ball(const crSubsteps* run, ShortPair* pair, bool two, crWide bias, float* slot) {
    const float* rho = slot + CR_SHORT_RHO * CR_WIDE;
    crWide3 n = wide3_load(slot + CR_SHORT_N * CR_WIDE), P = wide3_load(slot + CR_SHORT_P * CR_WIDE);
    crWide3 g = meeting(pair, two), turn = wide3_scale(wide_load(rho), pair->wb);
    if (two) turn = wide3_madd(turn, wide_load(rho + CR_WIDE), pair->wa);
    crWide gt = wide_load(slot + CR_SHORT_GT * CR_WIDE), un = wide3_dot(n, g), at = wide3_dot(n, P);
    bias = bias + wide_load(slot + CR_SHORT_E * CR_WIDE);
    crWide pn = wide_positive(at - wide_load(slot + CR_SHORT_G * CR_WIDE) * (un + bias));
    crWide3 y = wide3_sub(P, wide3_scale(gt, wide3_add(g, wide3_cross(turn, n))));
    y = wide3_sub(y, wide3_scale(at - gt * un, n));
    crWide size2 = wide3_dot(y, y), limit = wide_load(slot + CR_SHORT_MU * CR_WIDE) * pn;
    crWideMask slips = wide_less(limit * limit, size2);
    // most contacts stick: the branch avoids the latency of the square root
    if (wide_any(slips)) y = wide3_scale(wide_select(slips, limit / wide_sqrt(size2), wide_all(1.0f)), y);
    crWide3 next = wide3_madd(y, pn, n), dP = wide3_sub(next, P), dL = wide3_cross(n, dP);
    short_put(run, next, slot);
    move_pair(pair, two, dP);
    pair->wb = wide3_madd(pair->wb, wide_load(rho), dL);
    if (two) pair->wa = wide3_madd(pair->wa, wide_load(rho + CR_WIDE), dL);
}

// Updates the friction impulse p1, p2, with the normal impulse held; u1, u2 are the tangential velocities
// under it, `limit` is mu P_n.
CR_LANE void rub(const float* slot, crWide limit, crWide u1, crWide u2, crWide* p1, crWide* p2) {
    crWide3 S = wide3_load(slot + CR_SHORT_S * CR_WIDE);
    crWide y1 = *p1 - (S.x * u1 + S.y * u2), y2 = *p2 - (S.y * u1 + S.z * u2);
    crWide most = limit * limit;
    crWideMask slips = wide_less(most, y1 * y1 + y2 * y2);
    if (wide_any(slips)) {
        crWide step = wide_load(slot + CR_SHORT_STEP * CR_WIDE);
        crWide x1 = *p1 - step * u1, x2 = *p2 - step * u2, size2 = x1 * x1 + x2 * x2;
        crWideMask outside = wide_less(most, size2);
        crWide shrink = wide_select(outside, limit / wide_sqrt(size2), wide_all(1.0f));
        y1 = wide_select(slips, shrink * x1, y1);
        y2 = wide_select(slips, shrink * x2, y2);
    }
    *p1 = y1;
    *p2 = y2;
}

CR_LANE void full_slot(const crSubsteps* run, ShortPair* pair, bool two, crWide bias, float* slot) {
    crWide3 n = wide3_load(slot + CR_SHORT_N * CR_WIDE), p = wide3_load(slot + CR_SHORT_P * CR_WIDE),
            from = p;
    crWide3 E = wide3_load(slot + CR_SHORT_E * CR_WIDE);
    crWide t1x = wide_load(slot + CR_SHORT_T * CR_WIDE), t1y = wide_load(slot + (CR_SHORT_T + 1) * CR_WIDE);
    crWide3 t2 = wide3(-(n.z * t1y), n.z * t1x, n.x * t1y - n.y * t1x);
    crWide un = short_normal(pair, two, false, n, slot) + E.x + bias;
    p.x = wide_positive(p.x - un * wide_load(slot + CR_SHORT_G * CR_WIDE));
    short_push(pair, two, false, n, slot, p.x - from.x);
    crWide3 g = meeting(pair, two);
    crWide u1 = t1x * g.x + t1y * g.y + turning_part(pair, two, slot, 1) + E.y;
    crWide u2 = wide3_dot(t2, g) + turning_part(pair, two, slot, 2) + E.z;
    rub(slot, wide_load(slot + CR_SHORT_MU * CR_WIDE) * p.x, u1, u2, &p.y, &p.z);
    crWide d1 = p.y - from.y, d2 = p.z - from.z;
    crWide3 dP = wide3_scale(d2, t2);
    dP.x += d1 * t1x;
    dP.y += d1 * t1y;
    move_pair(pair, two, dP);
    turn_pair(pair, two, slot, 1, d1);
    turn_pair(pair, two, slot, 2, d2);
    short_put(run, p, slot);
}

CR_LANE void short_full_group(const crSubsteps* run, const crGroup* g, bool ball, bool two, int slots,
                              int l) {
    float* hot = run->hot + g->hot + l;
    int stride = CR_WIDE * g->places;
    ShortPair pair = {.sb = wide_load(hot), .sa = wide_load(hot + CR_WIDE)}, way = pair;
    gather_pair(g, two, run->z, l, &pair);
    gather_pair(g, two, run->way, l, &way);
    float* slot = hot + 2 * CR_WIDE;
    for (int k = 0; k < slots; k++, slot += stride) {
        crWide bias = short_bias(run, &way, two, ball, slot);
        if (ball) {
            full_ball(run, &pair, two, bias, slot);
        } else {
            full_slot(run, &pair, two, bias, slot);
        }
    }
    scatter_pair(g, two, run->z, l, &pair);
}

// Kinds are passed as constants, so that the compiler specializes the code of each.
CR_LANE void short_full_range(const crSubsteps* run, int begin, int end) {
    for (int i = run->first_group + begin; i < run->first_group + end; i++) {
        const crGroup* g = &run->packed->group[i];
        for (int l = 0; l < g->lanes; l += CR_WIDE_STEP) {
            if (g->kind == CR_KIND_BALL && g->two && g->slots == 1) {
                short_full_group(run, g, true, true, 1, l);
            } else if (g->kind == CR_KIND_BALL) {
                short_full_group(run, g, true, g->two, g->slots, l);
            } else if (g->two) {
                short_full_group(run, g, false, true, g->slots, l);
            } else {
                short_full_group(run, g, false, false, g->slots, l);
            }
        }
    }
}

CR_LANE void short_press_range(const crSubsteps* run, bool places, int begin, int end) {
    for (int i = run->first_group + begin; i < run->first_group + end; i++) {
        const crGroup* g = &run->packed->group[i];
        for (int l = 0; l < g->lanes; l += CR_WIDE_STEP) {
            if (g->kind == CR_KIND_BALL && g->two && g->slots == 1) {
                short_press_group(run, g, true, true, places, 1, l);
            } else if (g->kind == CR_KIND_BALL) {
                short_press_group(run, g, true, g->two, places, g->slots, l);
            } else if (g->two) {
                short_press_group(run, g, false, true, places, g->slots, l);
            } else {
                short_press_group(run, g, false, false, places, g->slots, l);
            }
        }
    }
}

CR_TASKS(short_full, crSubsteps, short_full_range(work, begin, end))
CR_TASKS(short_press, crSubsteps, short_press_range(work, false, begin, end))
CR_TASKS(short_place, crSubsteps, short_press_range(work, true, begin, end))

// Colours go one after another, so that each body meets its units in one order for any number of threads.
static void by_colours(crSubsteps* run, crTaskFn fn) {
    const crPacked* s = run->packed;
    for (int colour = 0; colour < s->colours; colour++) {
        run->first_group = s->colour_start[colour];
        int count = s->colour_start[colour + 1] - run->first_group;
        // groups of the last colour may share bodies: one thread
        crTasks* tasks = colour < CR_COLOURS ? s->tasks : NULL;
        cr__tasks_for(tasks, count, cr__tasks_share(tasks, count, GROUPS), fn, run);
    }
}

// Sets z for the next short step: z after the last one, plus forces and the impulses of the last one. The
// change of z after the press is a correction of positions, which is added to `correct`.
static void begin_short(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    float* restrict z = run->z, * restrict from = run->z_begin;
    const float hs = (float)(1.0 / run->rate);
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        float now = z[i], impulses = now - from[i];
        run->correct[i] += hs * (run->z_press[i] - now);
        from[i] = now + run->force[i];
        z[i] = from[i] + impulses;
    }
}

// Sets z for the first short step from the velocities and warm start impulses.
static void begin_first(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        float was = (float)(run->packed->z_free[i] / run->scale);
        run->force[i] = (float)(run->dz[i] / (CR_SUBSTEPS * run->scale));
        run->z_begin[i] = was + run->force[i];
        run->z[i] = run->z_begin[i] + (float)((run->packed->z[i] - run->packed->z_free[i]) / run->scale);
        run->way[i] = run->correct[i] = 0.0f;
    }
}

static void advance_ways(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    const float hs = (float)(1.0 / run->rate);
    float* restrict way = run->way, * restrict press = run->z_press;
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        press[i] = run->z[i];
        way[i] += hs * press[i];
    }
}

// Before the position presses: completes `correct` and saves the displacement in D.
static void end_ways(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    const float hs = (float)(1.0 / run->rate);
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        run->correct[i] += hs * (run->z_press[i] - run->z[i]);
        run->D[i] = run->way[i];
    }
}

// After the position presses: writes the displacement D and its correcting part C in the units of z.
static void give_ways(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    for (int i = CR_BODY_STRIDE * (begin + 1); i < CR_BODY_STRIDE * (end + 1); i++) {
        double before = run->D[i], after = run->way[i];
        run->C[i] = run->scale * (run->correct[i] + (after - before));
        run->D[i] = run->scale * after;
    }
}

static void over_bodies(crSubsteps* run, crTaskFn fn) {
    int count = run->packed->bodies;
    cr__tasks_for(run->packed->tasks, count, cr__tasks_share(run->packed->tasks, count, BODIES), fn, run);
}

static void clear_range(void* ctx, int begin, int end) {
    const crSubsteps* run = ctx;
    for (int i = begin; i < end; i++) {
        const crGroup* g = &run->packed->group[i];
        for (int k = 0; k < g->slots; k++) {
            float* slot = run->hot + g->hot + (size_t)(CR_WIDE * (2 + k * g->places));
            memset(slot + CR_SHORT_P * CR_WIDE, 0, 3 * CR_WIDE * sizeof *slot);
        }
    }
}

// Sets the impulses of the last short step, or of the bounce, to zero; their sums stay.
static void clear_impulses(crSubsteps* run) {
    cr__tasks_for(run->packed->tasks, run->packed->group_count, GROUPS, clear_range, run);
    cr__short_rows_clear(run);
}

// *mark: mark of the arena above what the caller reads.
static crStatus create(const crInertias* of, crSubsteps* run, size_t* mark) {
    size_t numbers = CR_BODY_STRIDE * (size_t)(run->packed->bodies + 1);
    // D reuses the memory of z_begin and force, which only the short steps read; C that of z and z_press
    float** pairs[3][2] = {
        {&run->z_begin, &run->force}, {&run->z, &run->z_press}, {&run->way, &run->correct}};
    size_t bytes = 2 * numbers * sizeof(float);
    for (int i = 0; i < 3; i++) {
        bool spare = i == 2 && run->packed->spare_bytes >= bytes;
        float* both = spare ? run->packed->spare : cr_arena_alloc(of->arena, bytes);
        if (both == NULL) return CR_ERR_MEMORY;
        for (int k = 0; k < 2; k++) {
            *pairs[i][k] = both + (size_t)k * numbers;
            // place 0 is that of no body
            memset(*pairs[i][k], 0, CR_BODY_STRIDE * sizeof *both);
        }
    }
    run->D = (double*)(void*)run->z_begin;
    run->C = (double*)(void*)run->z;
    *mark = cr_arena_mark(of->arena);
    crStatus status = cr__shorts_create(of, run);
    return status == CR_OK ? cr__short_rows_create(run, of->arena) : status;
}

crStatus cr__substeps_run(const crInertias* of, crSubsteps* run) {
    crPacked* p = run->packed;
    run->rate = CR_SUBSTEPS / run->h;
    run->time = 0.0;
    run->visit = VISIT_SHORT;
    size_t mark;
    if (create(of, run, &mark) != CR_OK) return CR_ERR_MEMORY;
    cr__shorts_apply(of, p, NULL);
    cr__units_apply(p->units, p->z);
    over_bodies(run, begin_first);
    for (int i = 0; i < CR_SUBSTEPS; i++) {
        if (i > 0) over_bodies(run, begin_short);
        run->time = run->h * (i + 1) / CR_SUBSTEPS;
        by_colours(run, CR_BEST(short_press));
        cr__short_rows_visit(run, SHORT_PRESS);
        over_bodies(run, advance_ways);
        by_colours(run, CR_BEST(short_full));
        cr__short_rows_visit(run, SHORT_FULL);
    }
    over_bodies(run, end_ways);
    clear_impulses(run);
    for (int i = 0; run->bounce != NULL && i < BOUNCE_SWEEPS; i++) {
        run->visit = i + 1 < BOUNCE_SWEEPS ? VISIT_BOUNCE : VISIT_LAST_BOUNCE;
        by_colours(run, CR_BEST(short_full));
        cr__short_rows_visit(run, SHORT_FULL);
    }
    if (run->bounce != NULL) clear_impulses(run);
    for (int i = 0; i < PRESSES; i++) {
        by_colours(run, CR_BEST(short_place));
        cr__short_rows_visit(run, SHORT_PLACE);
    }
    over_bodies(run, give_ways);
    cr__shorts_read(of, run);
    cr__shorts_apply(of, p, run->dz);
    cr__short_rows_apply(run, p->z);
    // sums of rows are read later
    if (p->units == NULL) cr_arena_release(of->arena, mark);
    return CR_OK;
}
