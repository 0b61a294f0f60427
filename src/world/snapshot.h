// snapshot.h - the numbers of a snapshot before they become a world's.
#ifndef CAROM_WORLD_SNAPSHOT_H
#define CAROM_WORLD_SNAPSHOT_H

#include "world/world.h"

typedef struct crSnapshot {
    crState state;
    double* tie_force;  // (step.ties.count)
    int warm_count;
    crWarm* warm;    // (warm_count)
    crSleep* sleep;  // (nb), NULL where bodies do not sleep
} crSnapshot;

// Checks every number of a snapshot against the world's model: finite, unit, in range, in order. The error
// names the field and its index. Fails: CR_ERR_FINITE, CR_ERR_UNIT, CR_ERR_RANGE.
crStatus cr__snapshot_check(const crWorld* world, const crSnapshot* snapshot, crError* error);

#endif
