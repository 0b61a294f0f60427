// moving.h - moving islands: how they are chosen, and their step in short steps.
#ifndef CAROM_STEP_MOVING_H
#define CAROM_STEP_MOVING_H

#include "step/step.h"

#define CR_MOVED_DEEP \
    0.01  // overlap of a pair that is pushed out, share of its narrower body's width (cr__plan_width)

// Bodies and contacts of moving islands, in scratch.
typedef struct crMoved {
    bool* body;  // true for bodies that short steps moved (nb); NULL: none
    // contacts of the whole world at the beginning, those of a pair side by side (near_count)
    crStepContact* near;
    int near_count;
    crStepContact* contacts;  // of moved bodies, with impulses, in order: the first `count` of near
    int count;
    crPose* pose;          // of bodies at the beginning of the step (nb); NULL if no tree was moved
    const double* margin;  // of bodies when `near` was listed (nb)
} crMoved;

// Advances q and v of the moving islands over h, and keeps their contact forces. The step's part and contacts
// are those of the rest of the world afterwards, until cr__step_list_awake. Needs contacts and forces of the
// whole world. reach: islands of cr__step_reachable for the contacts listed (nb); reach[CR_WORLD] is -1 if
// they are not known.
crStatus cr__step_move_islands(crStep* step, double h, const int* reach, crMoved* moved, crError* error);
// Makes the short steps of the bodies in `moving`, over the step's contacts; root: first body of each island
// (nb). Clears `moving` for bodies that are released to the calm solve (moving_run.c).
crStatus cr__moving_run(crStep* step, double h, const int* root, bool* moving, crError* error);
// Audits cones and momentum of the moved bodies (audit_moved.c); called before other bodies move.
// CR_ERR_MEMORY.
crStatus cr__audit_moved(crStep* step, const crMoved* moved);
// Sets *depth to a bound of the deepest overlap at the present poses, m. Lists the pairs of bodies that moved
// farther than their margins. Fails as cr__pairs_list; CR_ERR_MEMORY. deep: set to true for bodies of pairs deeper than CR_MOVED_DEEP of their narrower body's width (nb); NULL: not wanted.
crStatus cr__audit_moved_overlap(crStep* step, const crMoved* moved, bool* deep, double* depth,
                                 crError* error);
// At the end of the step: pushes out pairs that are too deep, and writes the overlap left to the certificate.
// start: poses of the beginning; back: bodies that the limit of the lift moved back (nb) (moved_deep.c).
crStatus cr__step_end_moved(crStep* step, double h, const crMoved* moved, const crPositionList* start,
                            const bool* back, crError* error);
// Moves pairs of active bodies apart that are deeper than CR_MOVED_DEEP; `active` is set for bodies that are
// moved (nb) (moved_apart.c). CR_ERR_MEMORY.
crStatus cr__moved_apart(crStep* step, double h, const crMoved* moved, bool* active, crError* error);
// At the end of the step: shows the contacts of moved bodies, and then those of all others, in `near`.
void cr__step_show_moved(const crMoved* moved, crStepContacts* contacts);

#endif
