// stage.h - the data of an island and its stages.
//
// Fails: CR_ERR_MEMORY, in every function that returns a crStatus.
#ifndef CAROM_RELAX_STAGE_H
#define CAROM_RELAX_STAGE_H

#include "base/room.h"
#include "relax.h"

typedef struct crIsland {
    crSpace space;
    crRelaxParams params;
    crArena* arena;
    double target;       // backward error to reach, m/s
    bool cheap;          // true if a factorization is cheap
    double* best;        // impulses with the smallest backward error (rows)
    double error;        // their backward error, m/s
    crRelaxStage stage;  // stage that found them
    double* z;           // work: H^T x of the point evaluated last (nz)
    double* u;           // work: H z + c of the point evaluated last (rows)
    double* work;        // work (2 rows + nz)
} crIsland;

// Fills the space and the target and sets the best point to zero with infinite error; params and arena are
// set before. Fails: CR_ERR_MEMORY.
crStatus cr__island_create(crIsland* island, const crBodies* bodies, int index);
// Returns the backward error of x, m/s; x becomes the best point if its error is smaller. island->z and u are
// set to those of x; each (units), unless NULL, receives the units' errors.
double cr__island_judge(crIsland* island, const double* x, crRelaxStage stage, double* each);
static inline bool cr__island_solved(const crIsland* island) { return island->error <= island->target; }

// Changes x by `count` Gauss-Seidel sweeps.
void cr__island_sweep(crIsland* island, int count, double* x);
// The other stages start from the best point and offer their points to cr__island_judge.
crStatus cr__island_level(crIsland* island);
crStatus cr__island_directions(crIsland* island);
crStatus cr__island_newton(crIsland* island);
crStatus cr__island_room(crIsland* island);

static inline double cr__square(const double* a, int n) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += a[i + k] * a[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += a[i] * a[i];
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

#endif
