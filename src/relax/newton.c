// newton.c - solves an island under Coulomb's law by an augmented Lagrangian, with gaps as posed or with a room.
// This is the outer loop.
//
// A room (crSoft) ends contradictions of contacts that stick, and folds of the equations: friction is exact,
// and an answer counts as exact for gaps that differ by the room. A solved inner problem (inner.h) gives new multipliers. The penalty R = k / weight grows after inner
// problems of few steps and falls after many steps or a failure. Source: Alart and Curnier 1991, Rockafellar
// 1976.
// Fails: CR_ERR_MEMORY. If no penalty reduces the residual, the island keeps the best point. Friction may
// contradict itself within any room.
#include "inner.h"

#include <string.h>

#define START_PENALTY  30.0   // first k
#define CHEAP_PENALTY  300.0  // first k of islands that are cheap to factor
#define LEAST_PENALTY  1.0    // least k
#define MOST_PENALTY   1e9    // largest k
#define INNER_STEPS    12     // most Newton steps of an inner problem
#define INNER_ACCURACY 0.1    // tolerance of an inner problem, share of the outer residual
#define MOST_PARTS     4      // most budgets of a stage
#define LITTLE         1e3    // error that counts as small, times the target
#define CHEAP_TIMES    4      // factor on the budget of islands that are cheap to factor
#define IDLE           5      // outer steps without effect that are allowed in the stage
#define STEADY_ROW     4      // solved inner problems in a row per rise of a steady penalty's bound
#define PROBE          24     // least factorizations before progress is required, if `work` raised the budget
#define PROBE_PART     0.25   // the same as a share of the budget; the larger number counts
#define PROBE_SHARE    0.25   // residual required then, share of the first
#define ROOM           0.67   // room of the gaps, share of the error that the stage may leave

// Purpose of a run of the outer loop.
typedef struct Course {
    crRelaxStage stage;
    double goal;  // backward error to reach, m/s
    int budget;   // factorizations
    bool probes;  // true if a part of the budget must show progress
} Course;

// Returns true if the budget allows another inner problem. A spent budget is granted again, up to MOST_PARTS
// in all, if it reduced the error to a tenth, or to half if the error is small.
static bool may_go_on(const crIsland* island, int used, int budget, int* parts, double* level) {
    if (used < *parts * budget) return true;
    double share = island->error <= LITTLE * island->target ? 0.5 : 0.1;
    if (*parts == MOST_PARTS || island->error > share * *level) return false;
    *level = island->error;
    (*parts)++;
    return true;
}

// Returns the factor on the penalty after a solved inner problem of so many steps. `failed` is true if a
// failed penalty bounds it. A penalty that is too large costs factorizations, so it grows fast only if these
// are cheap.
static double growth(int steps, bool failed, bool cheap) {
    if (steps <= 1 && !failed && cheap) return 30.0;
    if (steps <= 3) return failed ? 2.5 : 5.0;
    return steps <= 6 ? 2.0 : steps > 9 ? 0.5 : 1.0;
}

// Returns the factor on the bound of the penalty after a solved inner problem of so many steps. A failed
// penalty is tried again sooner if the inner problems take few steps.
static double relief(int steps) { return steps <= 1 ? 4.0 : steps <= 2 ? 2.5 : steps <= 4 ? 1.5 : 1.0; }

// Returns that factor for steady penalties, after `row` solved inner problems in a row.
static double steady_relief(int row) { return row % STEADY_ROW == 0 ? 2.0 : 1.0; }

// Returns the first budget, in factorizations.
static int first_budget(const crIsland* island) {
    const crSpace* s = &island->space;
    double cost = s->sparse.flops + CR_RELAX_UNIT * s->units;
    int budget = island->params.newton * (island->cheap ? CHEAP_TIMES : 1);
    return cost <= CR_RELAX_FAIR ? (int)fmax(budget, island->params.work / cost) : budget;
}

// Runs the outer loop from the multipliers in->x0; r is their residual, z = H^T x0.
static void outer(crInner* in, const Course* course, double r, double* z) {
    crIsland* island = in->island;
    crSpace* s = &island->space;
    int begin = s->factorizations, parts = 1, idle = 0, row = 0;
    double probe = fmax(PROBE, PROBE_PART * course->budget);
    double first = r, rounding = 1e-15 * sqrt(cr__square(z, s->nz)), level = island->error,
           cap = MOST_PENALTY;
    double k = island->cheap ? CHEAP_PENALTY : START_PENALTY;
    while (island->error > course->goal &&
           may_go_on(island, s->factorizations - begin, course->budget, &parts, &level)) {
        if (course->probes && s->factorizations - begin >= probe && r > PROBE_SHARE * first) break;
        double tol = fmax(INNER_ACCURACY * r * s->scale / sqrt(s->mean), rounding), reached;
        memcpy(in->z, z, (size_t)s->nz * sizeof *z);
        cr__inner_penalty(in, k);
        int steps = cr__inner_solve(in, tol, INNER_STEPS, &reached);
        cr__island_judge(island, in->best, course->stage, NULL);
        double after = cr__space_residual(s, &in->soft, in->best, island->u);
        if (reached <= tol && after <= 2.0 * r) {
            memcpy(in->x0, in->best, (size_t)s->rows * sizeof *in->x0);
            memcpy(z, in->best_z, (size_t)s->nz * sizeof *z);
            r = after;
            cap = fmin(cap * (island->params.steady ? steady_relief(++row) : relief(steps)), MOST_PENALTY);
            k = fmin(k * growth(steps, cap < MOST_PENALTY, island->cheap), cap);
            // an inner problem solved in no step leaves the multipliers as they are
            if (steps == 0 && ++idle > IDLE) break;
        } else {
            cap = fmax(0.5 * k, LEAST_PENALTY);
            if (k <= LEAST_PENALTY && ++idle > IDLE) break;
            row = 0;
            k = fmax(k / (island->params.steady ? 6.0 : 4.0), LEAST_PENALTY);
        }
    }
}

// Runs the outer loop from the best point, with a room of the gaps if `room` is above 0, m/s.
static crStatus run(crIsland* island, const Course* course, double room) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    crInner in;
    double *z0, *anchor;
    if (cr__inner_create(&in, island) != CR_OK ||
        !CR_ROOMS(island->arena, CR_ROOM(z0, s->nz), CR_ROOM(anchor, s->rows)))
        return CR_ERR_MEMORY;
    memcpy(anchor, in.x0, (size_t)s->rows * sizeof *anchor);
    in.soft = (crSoft){room, anchor};
    cr__island_judge(island, in.x0, island->stage, NULL);
    double r = cr__space_residual(s, &in.soft, in.x0, island->u);
    memcpy(z0, island->z, (size_t)s->nz * sizeof *z0);
    outer(&in, course, r, z0);
    cr_arena_release(island->arena, mark);
    return CR_OK;
}

crStatus cr__island_newton(crIsland* island) {
    Course course = {CR_RELAX_NEWTON, island->target, first_budget(island), false};
    course.probes = course.budget > island->params.newton && island->params.work > 0.0;
    return run(island, &course, 0.0);
}

crStatus cr__island_room(crIsland* island) {
    const crRelaxParams* params = &island->params;
    return run(island, &(Course){CR_RELAX_ROOM, params->shift, params->room, false}, ROOM * params->shift);
}
