// lie.h - islands at rest, which steps leave out; see lie.c.
#ifndef CAROM_STEP_LIE_H
#define CAROM_STEP_LIE_H

#include "step/step.h"

#define CR_LIE_ROWS 3  // rows of a lying contact that was in the solve

// Decides if islands of this model may lie, and allocates the memory for it. CR_ERR_MEMORY.
crStatus cr__lie_create(const crStep* step, crArena* store, crStepLying* lying);
// All lying islands get up.
void cr__lie_end(crStepLying* lying, int nb);
// Islands marked at their root in step->work.mark get up. Clears step->work.mark.
void cr__lie_end_marked(const crStep* step, crStepLying* lying);
// Before collision: islands whose boxes overlap that of an awake body get up.
void cr__lie_look(const crStep* step, crStepLying* lying);
// Sets poses and margins of lying bodies to the values of a step that computes them, and updates their boxes
// in the broad phase if islands have lain down since the last call. CR_ERR_MEMORY.
crStatus cr__lie_keep_near(crStep* step, crError* error);
// After collision: lying islands in contact with an awake body get up. Returns true if there are any.
bool cr__lie_touched(const crStep* step, crStepLying* lying);
// Shows the lying contacts as those of the step if the step has none.
void cr__lie_show(const crStepLying* lying, crStepContacts* contacts);
// Adds the certificate of the lying islands to that of the step. CR_ERR_MEMORY.
crStatus cr__lie_certify(crStep* step, double h);

// lie_down.c

// Results of a solve by contact. cr__lie_down removes the contacts of lying islands from these arrays.
typedef struct crLieSolve {
    bool* takes;         // true if the contact is in the solve (contact_count)
    crVec3 *u_free, *u;  // velocity of b relative to a without and with impulses (contact_count)
} crLieSolve;

// After a solve, before its audit: islands at rest lie down and leave the part with their contacts. roots:
// root of the island of each body, joined by all contacts within the margins (nb). CR_ERR_MEMORY.
crStatus cr__lie_down(crStep* step, const int* roots, const crLieSolve* solve);

#endif
