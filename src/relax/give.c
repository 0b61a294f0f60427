// give.c - exact friction with gaps that give: the normal velocity of a contact may be off by a length over the step.
//
// In a heap that crawls the rows of sticking contacts contradict each other, and where a few of them flip between sticking
// and slipping Coulomb's equations have no solution nearby. Both end once a contact's gap has a little room: of three rows
// that held it two are left, which a heap has velocities enough for. The normal impulse is soft within the room,
//
//     x_n = max(0, x0_n - S clamp(u_n, -room, room) - R (u_n - clamp(u_n, -room, room))),   S = 30 / weight,
//
// with x0_n kept, which also makes it unique; R grows, and the multipliers of what is at the end of its room and of friction
// are renewed, as in newton.c. The answer is exact, friction included, for the bias b - g, g = clamp(u_n) where the contact
// presses: g is given to the caller. Fails: rooms that are too narrow, budgets; the island is then as it was.
#include "inner.h"

#include <string.h>

#define SOFT           30.0  // S times weight
#define START_PENALTY  30.0
#define LEAST_PENALTY  1.0
#define MOST_PENALTY   1e9
#define INNER_STEPS    12
#define INNER_ACCURACY 0.1
#define DEAR_STEPS     30   // factorizations at most where they are dear
#define WORSE          2.0  // error over the last one up to which an inner problem's multipliers are taken
#define IDLE           5    // outer steps without effect that end the stage

// What each unit's normal velocity is given at x, whose velocities are u.
static void find_given(const crSpace* s, double room, const double* x, const double* u, double* given) {
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        double most = x[unit->row] > 0.0 ? room : 0.0;
        given[i] = unit->kind == CR_BLOCK_CONE ? fmax(-room, fmin(most, u[unit->row])) : 0.0;
    }
}

// Adds `times` what is given to velocities or their constant part.
static void add_given(const crSpace* s, double times, const double* given, double* u) {
    for (int i = 0; i < s->units; i++) {
        u[s->unit[i].row] += times * given[i];
    }
}

// The backward error of in->best for the bias with what is given at it.
static double judge_given(crInner* in, double room, double* given) {
    crIsland* island = in->island;
    crSpace* s = &island->space;
    cr__space_velocity(s, in->best_z, island->u);
    find_given(s, room, in->best, island->u, given);
    add_given(s, -1.0, given, island->u);
    add_given(s, -1.0, given, s->c);
    double error = cr__space_error(s, in->best, island->u, island->work, NULL);
    add_given(s, 1.0, given, s->c);
    return error;
}

// New multipliers: friction as it came out, normal impulses by what their velocities lack of the room.
static void renew(crInner* in, double* z) {
    const crSpace* s = &in->island->space;
    cr__space_velocity(s, in->best_z, in->u);
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        int r = unit->row;
        double over = cr__inner_over(in, unit, in->u[r]), kept = in->x0[r];
        memcpy(in->x0 + r, in->best + r, (size_t)unit->count * sizeof *in->x0);
        if (unit->kind == CR_BLOCK_CONE) in->x0[r] = fmax(0.0, kept - in->R[r] * over);
    }
    memcpy(z, in->best_z, (size_t)s->nz * sizeof *z);
}

// The island is solved with what was given at in->best, and its space is that of the gaps chosen.
static void take_given(crInner* in, double error, const double* given) {
    crIsland* island = in->island;
    add_given(&island->space, -1.0, given, island->space.c);
    memcpy(island->best, in->best, (size_t)island->space.rows * sizeof *in->best);
    memcpy(island->given, given, (size_t)island->space.units * sizeof *given);
    island->error = error;
    island->stage = CR_RELAX_GIVE;
}

static void outer_give(crInner* in, double* z, double* given) {
    crIsland* island = in->island;
    crSpace* s = &island->space;
    double room = island->params.give, error = island->error, k = START_PENALTY, cap = MOST_PENALTY;
    double rounding = 1e-15 * sqrt(cr__square(z, s->nz));
    int begin = s->factorizations, idle = 0;
    in->room = room;
    // what is solved takes few steps, or they are cheap
    int budget = s->sparse.flops > CR_RELAX_DEAR ? DEAR_STEPS : INT32_MAX;
    if (budget > island->params.give_steps) budget = island->params.give_steps;
    while (s->factorizations - begin < budget && idle <= IDLE) {
        double tol = fmax(INNER_ACCURACY * error / sqrt(s->mean), rounding), reached;
        memcpy(in->z, z, (size_t)s->nz * sizeof *z);
        cr__inner_penalty(in, k);
        in->soft = fmin(k, SOFT);
        int steps = cr__inner_solve(in, tol, INNER_STEPS, &reached);
        double after = judge_given(in, room, given);
        if (after <= island->target) {
            take_given(in, after, given);
            return;
        }
        cr__island_judge(island, in->best, CR_RELAX_GIVE, NULL);
        if (reached <= tol && after <= WORSE * error) {
            renew(in, z);
            error = after;
            cap = fmin(cap * (steps <= 1 ? 4.0 : steps <= 2 ? 2.5 : steps <= 4 ? 1.5 : 1.0), MOST_PENALTY);
            k = fmin(k * (steps <= 3 ? 5.0 : steps <= 6 ? 2.0 : steps > 9 ? 0.5 : 1.0), cap);
            idle = steps == 0 ? idle + 1 : 0;
        } else {
            cap = fmax(0.5 * k, LEAST_PENALTY);
            idle = k <= LEAST_PENALTY ? idle + 1 : idle;
            k = fmax(k / 4.0, LEAST_PENALTY);
        }
    }
}

crStatus cr__island_give(crIsland* island, const double* start) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    crInner in;
    crStatus status = cr__inner_create(&in, island);
    double* z = cr_arena_alloc(island->arena, (size_t)s->nz * sizeof(double));
    double* given = cr_arena_alloc(island->arena, (size_t)s->units * sizeof(double));
    if (status == CR_OK && (z == NULL || given == NULL)) status = CR_ERR_MEMORY;
    if (status == CR_OK) {
        memcpy(in.x0, start, (size_t)s->rows * sizeof *start);
        cr__space_gather(s, start, z);
        outer_give(&in, z, given);
    }
    cr_arena_release(island->arena, mark);
    return status;
}
