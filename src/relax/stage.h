// stage.h - what the stages of one island share.
#ifndef CAROM_RELAX_STAGE_H
#define CAROM_RELAX_STAGE_H

#include "relax.h"

typedef struct crIsland {
    crSpace space;
    crRelaxParams params;
    crArena* arena;
    double target;       // backward error to reach, m/s
    bool cheap;          // true if a factorization is cheap
    double* best;        // impulses with the smallest backward error (rows)
    double error;        // their backward error, m/s
    crRelaxStage stage;  // that found them
    double shift;        // largest |s - mu |u_t|| of the convex answer, m/s
    double* z;           // work of cr__island_offer: H^T x (nz)
    double* u;           // H z + c (rows)
    double* work;        // (2 rows + nz)
} crIsland;

// Space, target and an empty best point; params and arena are set.
crStatus cr__island_create(crIsland* island, const crBodies* bodies, int index);
// Judges x, which becomes the best if its backward error is smaller. island->z and u belong to x afterwards.
// Returns its residual (cr__space_residual).
double cr__island_offer(crIsland* island, const double* x, crRelaxStage stage);
// The same but for the residual: returns the backward error; each (units) receives that of every unit, in m/s.
double cr__island_judge(crIsland* island, const double* x, crRelaxStage stage, double* each);
static inline bool cr__island_solved(const crIsland* island) { return island->error <= island->target; }

// x is changed in place by at most `count` sweeps.
void cr__island_sweep(crIsland* island, int count, double* x);
crStatus cr__island_level(crIsland* island, const double* start);
// x: start, and the last iterate on return.
crStatus cr__island_directions(crIsland* island, double* x);
crStatus cr__island_newton(crIsland* island, const double* start);
crStatus cr__island_convex(crIsland* island, const double* start);

// The convex problem's polish: x from a start near the answer, for shifts s of the normal velocities (rows;
// zero elsewhere). Sets island->shift.
crStatus cr__island_polish(crIsland* island, const double* s, double* x);
// |w (x - nearest(x - (u + s) / w))| over all rows, relative to |c|; u belongs to x
double cr__island_convex_residual(const crSpace* space, const double* x, const double* u, const double* s);

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
