// world.h - what is inside a crWorld.
#ifndef CAROM_WORLD_WORLD_H
#define CAROM_WORLD_WORLD_H

#include "carom/world.h"
#include "step/step.h"

struct crWorld {
    crStep step;
    crAllocator allocator;
    crLog log;
    crArena* scratch;  // lent, NULL: none
    // the state before the step that is being made; v and forces of contacts the step itself keeps
    double time;
    double* q;          // before it was checked (nq)
    crSleep* sleep;     // (nb)
    double* tie_force;  // (step.tie_count)
};

#endif
