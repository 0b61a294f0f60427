// island.c - computes an island's target error and keeps the best point of its stages.
//
// Fails: CR_ERR_MEMORY.
#include "stage.h"

#include <string.h>

#define ROUNDING 1e-15  // rounding error of a velocity, relative to the largest one

double cr__island_judge(crIsland* island, const double* x, crRelaxStage stage, double* each) {
    const crSpace* s = &island->space;
    cr__space_gather(s, x, island->z);
    cr__space_velocity(s, island->z, island->u);
    double error = cr__space_error(s, x, island->u, island->work, each);
    if (error < island->error) {
        island->error = error;
        island->stage = stage;
        memcpy(island->best, x, (size_t)s->rows * sizeof *x);
    }
    return error;
}

crStatus cr__island_create(crIsland* island, const crBodies* bodies, int index) {
    crSpace* s = &island->space;
    crStatus status = cr__space_create(s, bodies, index, island->arena);
    if (status != CR_OK) return status;
    if (!CR_ROOMS(island->arena, CR_ZERO(island->best, s->rows), CR_ROOM(island->z, s->nz),
                  CR_ROOM(island->u, s->rows), CR_ROOM(island->work, 2 * s->rows + s->nz)))
        return CR_ERR_MEMORY;
    island->error = (double)INFINITY;
    double largest = 0.0;
    for (int i = 0; i < s->rows; i++) {
        largest = fmax(largest, fabs(s->c[i]));
    }
    island->target = fmax(island->params.tol * fmax(s->demand, island->params.floor), ROUNDING * largest);
    island->target = fmax(island->target, island->params.enough);
    island->cheap = s->sparse.flops + CR_RELAX_UNIT * s->units < CR_RELAX_CHEAP;
    return CR_OK;
}
