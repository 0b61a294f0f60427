// level.c - reduces the largest backward error of an island that has no exact answer nearby.
//
// In a creeping heap the rows of sticking contacts contradict each other for all impulses within reach of a
// few steps: sweeps and Newton's method raise impulses at a steady rate while velocities do not change. These
// velocities are the least squares answer of the contradiction, weighted by the penalties. A higher penalty
// on units with large errors reduces the largest error (Lawson 1961). Multipliers are fixed, so impulses stay
// bounded. A step costs one factorization.
// Fails: a contradiction between only two contacts cannot be reduced. The method ends after IDLE steps that
// do not help; the best point is kept. CR_ERR_MEMORY.
#include "inner.h"

#include <string.h>

#define PENALTY 3.0   // first penalty, in units of 1 / weight
#define MOST    1e4   // largest penalty, in units of 1 / weight
#define GOOD    0.5   // share of the goal above which the error of a unit raises its penalty
#define RAISE   10.0  // largest factor on a penalty per step
#define WORSE   1.5   // a step does not help if its error exceeds the best one by this factor
#define IDLE    2     // steps in a row without help that end the method

// Raises the penalties of units whose error is above `level`, m/s.
static void raise_penalties(const crInner* in, const double* error, double level) {
    const crSpace* s = &in->island->space;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        if (!(error[i] > level)) continue;
        double times = fmin(error[i] / level, RAISE);
        for (int r = unit->row; r < unit->row + unit->count; r++) {
            in->R[r] = fmin(in->R[r] * times, MOST / s->weight[r]);
        }
    }
}

crStatus cr__island_level(crIsland* island) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    crInner in;
    double *each, goal = fmax(island->target, island->params.near), reached;
    if (cr__inner_create(&in, island) != CR_OK || !CR_ROOMS(island->arena, CR_ROOM(each, s->units)))
        return CR_ERR_MEMORY;
    cr__space_gather(s, in.x0, in.z);
    cr__inner_penalty(&in, PENALTY);
    for (int made = 0, idle = 0; made < island->params.level && island->error > goal && idle < IDLE; made++) {
        double best = island->error;
        if (cr__inner_solve(&in, 0.0, 1, &reached) == 0) break;
        double error = cr__island_judge(island, in.x, CR_RELAX_LEVEL, each);
        idle = error > WORSE * best ? idle + 1 : 0;
        raise_penalties(&in, each, GOOD * goal);
    }
    cr_arena_release(island->arena, mark);
    return CR_OK;
}
