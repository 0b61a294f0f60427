// directions.c - solves an island under Coulomb's law by alternating directions, with one factorization.
//
//     x = law(q), y = (x - q) / R, z = inverse(A(R)) H^T (x + R (y - c)), u = H z + c,
//     q = x - R (1.6 u - .6 y)       with R = 3 / weight
//
// The fixed points are the solutions. Source: Boyd et al. 2011 with over-relaxation; the law replaces the
// projection. Fails: CR_ERR_MEMORY. The last digits converge slowly or not at all; the island keeps the best
// point.
#include "stage.h"

#include <string.h>

#define PENALTY 3.0  // penalty R, times 1 / weight
#define RELAXED 1.6  // factor of over-relaxation
#define LOOK    25   // iterations between checks of the backward error
#define CLOSE   0.1  // error at which the stage leaves the rest to Newton's method, share of its reach

// Computes x = law(q) and y = (x - q) / R of all units; R = PENALTY / weight.
static void apply_law(const crSpace* s, const double* q, double* x, double* y) {
    for (int i = 0; i < s->units; i++) {
        cr__relax_law(&s->unit[i], q + s->unit[i].row, x + s->unit[i].row, NULL);
    }
    for (int i = 0; i < s->rows; i++) {
        y[i] = (x[i] - q[i]) * s->weight[i] / PENALTY;
    }
}

// G = R
static void fill_penalty(crSpace* s) {
    memset(s->G, 0, s->squares * sizeof *s->G);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            s->G[unit->square + (size_t)(a * (unit->count + 1))] = PENALTY / s->weight[unit->row + a];
        }
    }
}

crStatus cr__island_directions(crIsland* island) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    double *x, *q, *y, *f, *z;
    if (!CR_ROOMS(island->arena, CR_ROOM(x, s->rows), CR_ROOM(q, s->rows), CR_ROOM(y, s->rows),
                  CR_ROOM(f, s->rows), CR_ROOM(z, s->nz)))
        return CR_ERR_MEMORY;
    memcpy(x, island->best, (size_t)s->rows * sizeof *x);
    // error from which Newton's method needs few steps
    double reach = island->params.reach, enough = isfinite(reach) ? CLOSE * reach * s->demand : 0.0;
    fill_penalty(s);
    bool factored = cr__space_factor(s, CR_SPARSE_DEFINITE);
    cr__space_gather(s, x, z);
    cr__space_velocity(s, z, f);
    for (int i = 0; i < s->rows; i++) {
        q[i] = x[i] - PENALTY / s->weight[i] * f[i];
    }
    for (int k = 0; factored && k < island->params.directions; k++) {
        apply_law(s, q, x, y);
        if (k % LOOK == LOOK - 1) {
            cr__island_judge(island, x, CR_RELAX_DIRECTIONS, NULL);
            if (cr__island_solved(island) || island->error <= enough) break;
        }
        for (int i = 0; i < s->rows; i++) {
            f[i] = x[i] + PENALTY / s->weight[i] * (y[i] - s->c[i]);
        }
        cr__space_gather(s, f, z);
        cr__sparse_solve(&s->sparse, z);
        cr__space_velocity(s, z, f);
        for (int i = 0; i < s->rows; i++) {
            q[i] = x[i] - PENALTY / s->weight[i] * (RELAXED * f[i] + (1.0 - RELAXED) * y[i]);
        }
    }
    cr_arena_release(island->arena, mark);
    return CR_OK;
}
