// lie.h - islands at rest, which steps do not compute; see lie.c.
#ifndef CAROM_STEP_LIE_H
#define CAROM_STEP_LIE_H

#include "step/step.h"

#define CR_LIE_ROWS 3  // of a contact that takes part

// Whether anything may lie, and the memory for it. CR_ERR_MEMORY.
crStatus cr__lie_create(crStep* step);
// All that lies gets up; or the islands of the bodies marked in step->work.mark, which is zero afterwards.
void cr__lie_end(crStep* step);
void cr__lie_end_marked(crStep* step);
// Before contacts are looked for: what something awake is about to reach gets up.
void cr__lie_look(crStep* step);
// Poses and margins of what lies, as a step that computed it would have them; and its boxes, where they may be others.
crStatus cr__lie_keep_near(crStep* step, crError* error);
// After contacts were looked for: what is among them gets up; whether anything did.
bool cr__lie_touched(crStep* step);
// Where the step has no contacts of its own, those that lie stand in their place.
void cr__lie_show(crStep* step);
// The certificate of what lies enters that of the step. CR_ERR_MEMORY.
crStatus cr__lie_certify(crStep* step, double h);

// lie_down.c

// Figures of a solve, by contact. Contacts that lie down are removed from these arrays too.
typedef struct crLieSolve {
    bool* takes;         // it has a part in the solve (contact_count)
    crVec3 *u_free, *u;  // velocities of b against a without impulses, and with them (contact_count)
} crLieSolve;

// After a solve, before its audit: islands at rest lie down, with their contacts, and leave the part. roots: of all bodies
// joined by contacts within the margins (nb). CR_ERR_MEMORY.
crStatus cr__lie_down(crStep* step, const int* roots, const crLieSolve* solve);

#endif
