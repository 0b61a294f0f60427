// broad.h - the broad phase for those who keep the list of pairs themselves.
//
// Boxes are then held as they are given, for the caller to enlarge; cr_broad_set and cr_broad_pairs are not called.
#ifndef CAROM_COLLIDE_BROAD_H
#define CAROM_COLLIDE_BROAD_H

#include "base/tasks.h"
#include "carom/near.h"

#define CR_BROAD_WIDE 1e100  // infinite boxes are cut here

// Holds a box, lo <= hi and within CR_BROAD_WIDE, under a key; groups as in cr_broad_set. CR_ERR_MEMORY.
crStatus cr__broad_hold(crBroad* broad, int key, crBounds box, int group);
// The box held under each key; valid until the next key is added.
const crBounds* cr__broad_held(const crBroad* broad);
// Whether a caller wants a pair; called by several threads.
typedef struct crBroadWant {
    bool (*wants)(const void* ctx, crPair pair);
    const void* ctx;
} crBroadWant;
// Pairs of keys whose boxes meet, of which one was given since cr__broad_listed and that are wanted: each once, in no order,
// in scratch. CR_ERR_MEMORY, CR_ERR_LIMIT.
crStatus cr__broad_fresh(crBroad* broad, crTasks* tasks, crArena* scratch, const crBroadWant* want,
                         const crPair** pairs, int* count);
// The caller has the pairs of all boxes.
void cr__broad_listed(crBroad* broad);
// All boxes count as given since then.
void cr__broad_touch(crBroad* broad);

#endif
