// position.h - the two ways of the position pass.
#ifndef CAROM_STEP_POSITION_H
#define CAROM_STEP_POSITION_H

#include "step/step.h"

// Everything as one problem, collided anew each round: trees, loops and limits of `part` too; but for bodies apart (nb,
// NULL: none).
crStatus cr__step_position_general(crStep* step, crPart part, const bool* apart, double near, crError* error);
// Whether loops, and limits of `part`, hold at the present poses.
crStatus cr__step_position_others(crStep* step, crPart part, bool* holds, crError* error);

// After the position pass from `before` (nq): free bodies that it turned keep their angular momentum. limited: bodies go
// back where it took more energy than the step dissipated. CR_ERR_MEMORY.
crStatus cr__step_limit_lift(crStep* step, double h, const double* before, bool limited);

#endif
