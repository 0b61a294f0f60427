// carom.h - all of carom that is stable.
//
// Experimental parts have headers of their own: near.h (kept contacts, broad phase, time of impact), region.h (the
// permissible region as a body), dynamics.h (M, forces and rows of J at one instant), stages.h (the stages of a step).
// They work and are tested; their form may change with any version.
#ifndef CAROM_H
#define CAROM_H

#include "carom/audit.h"
#include "carom/base.h"
#include "carom/collide.h"
#include "carom/control.h"
#include "carom/impulse.h"
#include "carom/model.h"
#include "carom/problem.h"
#include "carom/resolve.h"
#include "carom/step.h"
#include "carom/vec.h"
#include "carom/world.h"

#endif
