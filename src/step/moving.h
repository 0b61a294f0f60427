// moving.h - islands that move: which they are, and their step by short steps.
#ifndef CAROM_STEP_MOVING_H
#define CAROM_STEP_MOVING_H

#include "step/step.h"

// Islands of the contacts that may act in the step: a root for every body (nb), and which bodies are of those that
// move (nb); whether any is. rows is work (nb).
bool cr__step_find_moving(const crStep* step, int* root, int* rows, bool* moving);
// Contacts of the islands that moved, in scratch.
typedef struct crMoved {
    int count;
    int* index;  // in step->contacts (count)
    crVec3* P;   // impulse on b over the whole step (count)
} crMoved;
// q and v of those bodies over h, and the impulses of their contacts. Bodies that are left to another solve are no longer
// among them.
crStatus cr__step_move_islands(crStep* step, double h, const int* islands, bool* moving, crMoved* moved,
                               crError* error);

#endif
