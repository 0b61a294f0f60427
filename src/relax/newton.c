// newton.c - augmented Lagrangian on Coulomb's law: the outer loop.
//
// A solved inner problem (inner.h) gives new multipliers; the penalty R = k / weight grows while that is easy and falls
// where it is not. Source: Alart and Curnier 1991, Rockafellar 1976. Fails: where no penalty helps; the best point
// counts.
#include "inner.h"

#include <string.h>

#define START_PENALTY  30.0
#define CHEAP_PENALTY  300.0  // of islands that are cheap to factor: what fails costs little
#define LEAST_PENALTY  1.0
#define MOST_PENALTY   1e9
#define INNER_STEPS    12
#define INNER_ACCURACY 0.1
#define MOST_PARTS     4
#define LITTLE         1e3   // error over the target from which on it counts as little
#define CHEAP_TIMES    4     // what islands that are cheap to factor get of the budget
#define IDLE           5     // outer steps without effect that end the stage
#define STEADY_ROW     4     // inner problems after which the bound of a steady penalty rises
#define PROBE          24    // factorizations, and
#define PROBE_PART     0.25  // part of a budget of work, after which an island must have come closer:
#define PROBE_SHARE    0.25  // to this share of its first residual

// Whether the budget allows another inner problem. It grows while each part of it makes the error a tenth, or half of it
// where little is left to do.
static bool may_go_on(const crIsland* island, int used, int budget, int* parts, double* level) {
    if (used < *parts * budget) return true;
    double share = island->error <= LITTLE * island->target ? 0.5 : 0.1;
    if (*parts == MOST_PARTS || island->error > share * *level) return false;
    *level = island->error;
    (*parts)++;
    return true;
}

// By how much the penalty changes after an inner problem of so many steps; failed: one failed before. A penalty that is
// too large costs factorizations: it grows fast only where these are cheap.
static double growth(int steps, bool failed, bool cheap) {
    if (steps <= 1 && !failed && cheap) return 30.0;
    if (steps <= 3) return failed ? 2.5 : 5.0;
    return steps <= 6 ? 2.0 : steps > 9 ? 0.5 : 1.0;
}

// By how much the bound of the penalty rises after an inner problem of so many steps. A penalty that failed is not tried
// again at once, but soon where the inner problems are easy.
static double relief(int steps) { return steps <= 1 ? 4.0 : steps <= 2 ? 2.5 : steps <= 4 ? 1.5 : 1.0; }

// The same where penalties are steady, after so many in a row.
static double steady_relief(int row) { return row % STEADY_ROW == 0 ? 2.0 : 1.0; }

// Factorizations that the stage may make before it is asked whether they pay.
static int first_budget(const crIsland* island) {
    const crSpace* s = &island->space;
    double cost = s->sparse.flops + CR_RELAX_UNIT * s->units;
    int budget = island->params.newton * (island->cheap ? CHEAP_TIMES : 1);
    return cost <= CR_RELAX_FAIR ? (int)fmax(budget, island->params.work / cost) : budget;
}

// Outer loop from the multipliers in in->x0, whose residual is r and whose H^T x0 is z.
static void outer(crInner* in, double r, double* z) {
    crIsland* island = in->island;
    crSpace* s = &island->space;
    int begin = s->factorizations, parts = 1, idle = 0, row = 0;
    int budget = first_budget(island);
    bool probes = budget > island->params.newton && island->params.work > 0.0;
    double probe = fmax(PROBE, PROBE_PART * budget);
    double first = r, rounding = 1e-15 * sqrt(cr__square(z, s->nz)), level = island->error,
           cap = MOST_PENALTY;
    double k = island->cheap ? CHEAP_PENALTY : START_PENALTY;
    while (!cr__island_solved(island) &&
           may_go_on(island, s->factorizations - begin, budget, &parts, &level)) {
        if (probes && s->factorizations - begin >= probe && r > PROBE_SHARE * first) break;
        double tol = fmax(INNER_ACCURACY * r * s->scale / sqrt(s->mean), rounding), reached;
        memcpy(in->z, z, (size_t)s->nz * sizeof *z);
        cr__inner_penalty(in, k);
        int steps = cr__inner_solve(in, tol, INNER_STEPS, &reached);
        double after = cr__island_offer(island, in->best, CR_RELAX_NEWTON);
        if (reached <= tol && after <= 2.0 * r) {
            memcpy(in->x0, in->best, (size_t)s->rows * sizeof *in->x0);
            memcpy(z, in->best_z, (size_t)s->nz * sizeof *z);
            r = after;
            cap = fmin(cap * (island->params.steady ? steady_relief(++row) : relief(steps)), MOST_PENALTY);
            k = fmin(k * growth(steps, cap < MOST_PENALTY, island->cheap), cap);
            // multipliers that stand still gain nothing
            if (steps == 0 && ++idle > IDLE) break;
        } else {
            cap = fmax(0.5 * k, LEAST_PENALTY);
            if (k <= LEAST_PENALTY && ++idle > IDLE) break;
            row = 0;
            k = fmax(k / (island->params.steady ? 6.0 : 4.0), LEAST_PENALTY);
        }
    }
}

crStatus cr__island_newton(crIsland* island, const double* start) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    crInner in;
    crStatus status = cr__inner_create(&in, island);
    double* z0 = cr_arena_alloc(island->arena, (size_t)s->nz * sizeof(double));
    if (status == CR_OK && z0 == NULL) status = CR_ERR_MEMORY;
    if (status == CR_OK) {
        memcpy(in.x0, start, (size_t)s->rows * sizeof *start);
        double r = cr__island_offer(island, start, island->stage);
        memcpy(z0, island->z, (size_t)s->nz * sizeof *z0);
        outer(&in, r, z0);
    }
    cr_arena_release(island->arena, mark);
    return status;
}
