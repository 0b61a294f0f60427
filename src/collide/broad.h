// broad.h - the broad phase for those who keep the list of pairs themselves.
//
// Boxes are then held as they are given, for the caller to enlarge; cr_broad_set and cr_broad_pairs are not called.
#ifndef CAROM_COLLIDE_BROAD_H
#define CAROM_COLLIDE_BROAD_H

#include "carom/near.h"

#define CR_BROAD_WIDE 1e100  // infinite boxes are cut here

// Holds a box, lo <= hi and within CR_BROAD_WIDE, under a key; groups as in cr_broad_set. CR_ERR_MEMORY.
crStatus cr__broad_hold(crBroad* broad, int key, crBounds box, int group);
// The box held under each key; valid until the next key is added.
const crBounds* cr__broad_held(const crBroad* broad);
// Pairs of keys whose boxes meet and of which one was given since cr__broad_listed: each once, in no order, until the next call.
// CR_ERR_MEMORY, CR_ERR_LIMIT.
crStatus cr__broad_fresh(crBroad* broad, const crPair** pairs, int* count);
// The caller has the pairs of all boxes.
void cr__broad_listed(crBroad* broad);
// All boxes count as given since then.
void cr__broad_touch(crBroad* broad);

#endif
