// level.c - the largest backward error made smaller where no exact answer is near.
//
// In a heap that creeps the rows of sticking contacts contradict each other over the range of impulses that a few steps
// cover: sweeps and Newton's steps pile up impulses at a steady rate, and velocities stay as they are. These velocities
// are a least squares answer of the contradiction, weighted by the penalties. Raising the penalty where the error is
// large brings the largest one down (Lawson 1961); multipliers stay, so impulses cannot run away. One factorization per
// step. Fails: contradictions of two contacts alone; ends where steps no longer help, and the best point counts.
#include "inner.h"

#include <string.h>

#define PENALTY 3.0   // times weight, at first
#define MOST    1e4   // at last
#define GOOD    0.5   // share of what is near, above which penalties rise
#define RAISE   10.0  // by at most this at a time
#define WORSE   1.5   // error over the best one from which on steps do not help
#define IDLE    2     // of these in a row end it

// Raises the penalties of units whose errors are above a level.
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

crStatus cr__island_level(crIsland* island, const double* start) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    crInner in;
    crStatus status = cr__inner_create(&in, island);
    double* each = cr_arena_alloc(island->arena, (size_t)s->units * sizeof(double));
    if (status == CR_OK && each == NULL) status = CR_ERR_MEMORY;
    if (status == CR_OK) {
        double goal = fmax(island->target, island->params.near), reached;
        int idle = 0;
        memcpy(in.x0, start, (size_t)s->rows * sizeof *start);
        cr__space_gather(s, start, in.z);
        cr__inner_penalty(&in, PENALTY);
        for (int made = 0; made < island->params.level && island->error > goal && idle < IDLE; made++) {
            double best = island->error;
            if (cr__inner_solve(&in, 0.0, 1, &reached) == 0) break;
            double error = cr__island_judge(island, in.x, CR_RELAX_LEVEL, each);
            idle = error > WORSE * best ? idle + 1 : 0;
            raise_penalties(&in, each, GOOD * goal);
        }
    }
    cr_arena_release(island->arena, mark);
    return status;
}
