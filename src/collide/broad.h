// broad.h - the broad phase inside the library.
#ifndef CAROM_COLLIDE_BROAD_H
#define CAROM_COLLIDE_BROAD_H

#include "base/tasks.h"
#include "carom/near.h"

// cr_broad_pairs by several threads.
crStatus cr__broad_pairs(crBroad* broad, crTasks* tasks, const crPair** pairs, int* count);

#endif
