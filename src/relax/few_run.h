// few_run.h - state of a solve of a few contacts of one body between two sweeps.
//
// few.h starts, sweeps and ends a solve; few_lanes.c sweeps several side by side, with the same bits.
#ifndef CAROM_RELAX_FEW_RUN_H
#define CAROM_RELAX_FEW_RUN_H

#include <string.h>

#include "relax/packed_solve.h"

#define CR_FEW_STRIDE (CR_AT_K + CR_K)  // numbers per slot

// body at its pose, as in crDynamics
typedef struct crFewBody {
    double mass;
    bool round;     // true if its three moments of inertia are equal
    crVec3 origin;  // centre of mass
    crMat3 root;
    crSym3 inertia, inverse;
} crFewBody;

typedef struct crFew {
    const crFewBody* body;
    crKind kind;
    int count;
    crPackedContact* contact;  // (count)
    double* slot;              // (count*CR_FEW_STRIDE)
    double z[6], z_free[6], z_before[6];
    double share, beta;
    double tol;  // this and the next fields as in crPackedIsland
    int early;
    double late;
    double aim;
    double change, least, momentum;
    int sweeps, limit;
    bool ended;  // true if the last change was small enough
} crFew;

static inline bool cr__few_is_open(const crFew* few) { return !few->ended && few->sweeps < few->limit; }

// Returns crPackedIsland.scale for the next sweep.
static inline double cr__few_scale(const crFew* few) {
    return cr__packed_scale(few->share * few->share, few->change, few->tol);
}

// Ends a sweep, whose largest squared velocity change was `change`: sets momentum and z for the next one.
static inline void cr__few_turn(crFew* few, double change, int64_t along) {
    few->change = change;
    few->sweeps++;
    double end = few->aim > 0.0 ? few->aim : few->tol;
    few->ended = change <= end * end;
    if (!cr__few_is_open(few)) return;
    if (few->late > 0.0 && few->sweeps == few->early) few->tol = few->late;
    few->beta = cr__packed_share(change, along, 1.0, &few->least, &few->momentum);
    for (int k = 0; k < 6; k++) {
        double d = few->z[k] - few->z_before[k];
        few->z_before[k] = few->z[k];
        few->z[k] += few->beta * d;
    }
}

#endif
