// lie.h - islands that a step left as they were, to the bit, and that steps do not compute; see lie.c.
#ifndef CAROM_STEP_LIE_H
#define CAROM_STEP_LIE_H

#include "step/step.h"

// All that lies gets up; or the islands of the bodies marked in step->work.mark, which is zero afterwards.
void cr__lie_end(crStep* step);
void cr__lie_end_marked(crStep* step);
// Before contacts are looked for: what something awake is about to reach gets up.
void cr__lie_look(crStep* step);
// Margins of what lies, as a step that computed it would have them; and its boxes, where they may be others.
crStatus cr__lie_keep_near(crStep* step, crError* error);
// After contacts were looked for: what is among them gets up, and all where something may bounce; whether any did.
bool cr__lie_touched(crStep* step);
// Islands marked at their first body (nb) lie down, with their contacts. CR_ERR_MEMORY.
crStatus cr__lie_down(crStep* step, const int* islands, const bool* lies);
// Where the step has no contacts of its own, those that lie stand in their place.
void cr__lie_show(crStep* step);
// The certificate of the step is of what lies too. CR_ERR_MEMORY.
crStatus cr__lie_certify(crStep* step, double h);

#endif
