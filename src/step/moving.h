// moving.h - islands that move: which they are, and their step by short steps.
#ifndef CAROM_STEP_MOVING_H
#define CAROM_STEP_MOVING_H

#include "step/step.h"

#define CR_MOVED_DEEP 0.01  // of the smaller body's size: overlap beyond which short steps are corrected

// What short steps moved, in scratch.
typedef struct crMoved {
    bool* body;  // these bodies (nb); NULL: none
    // contacts of the whole world at the beginning, those of a pair side by side; impulses may be in them (near_count)
    crStepContact* near;
    int near_count;
    crStepContact*
        contacts;  // of these bodies, with their impulses, in the order of contacts: the first of near (count)
    int count;
    crPose* pose;  // of bodies at the beginning of the step (nb); NULL where no tree was moved
} crMoved;

// From the contacts and forces of the whole world: q and v over h of the islands that move, forces kept. What is left of
// the world, its part and contacts are those of the others, until cr__step_list_awake.
crStatus cr__step_move_islands(crStep* step, double h, crMoved* moved, crError* error);
// Short steps over the step's contacts, those of bodies that are marked; root: first body of each island (nb). Bodies
// that are left to another solve are no longer marked (moving_run.c).
crStatus cr__moving_run(crStep* step, double h, const int* root, bool* moving, crError* error);
// What is guaranteed of it, into the certificate (audit_moved.c): cones and momentum, before other bodies move; CR_ERR_MEMORY.
crStatus cr__audit_moved(crStep* step, const crMoved* moved);
// Deepest overlap at the present poses, m, negative where there is no memory. deep: bodies of pairs that are deeper than
// CR_MOVED_DEEP of their smaller body's size are marked (nb); NULL: nobody asks.
double cr__audit_moved_overlap(crStep* step, const crMoved* moved, bool* deep);
// At the end of the step, when poses are those of the end: what is too deep is pushed out, and the rest enters the certificate.
// start: where bodies were at the beginning (moved_deep.c).
crStatus cr__step_end_moved(crStep* step, double h, const crMoved* moved, const crPositionList* start,
                            crError* error);
// At the end of the step: their contacts among those of the others, where `near` was.
void cr__step_show_moved(crStep* step, const crMoved* moved);

#endif
