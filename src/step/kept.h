// kept.h - forces of the last solve by body, see kept.c.
#ifndef CAROM_STEP_KEPT_H
#define CAROM_STEP_KEPT_H

#include "step/step.h"

typedef struct crKeptForce {
    crWarm force;
    int next[2];  // in the chain of the body of each end, -1: the last
    bool gone;    // another solve has replaced it
} crKeptForce;

typedef struct crKept {
    bool open;    // forces are here
    bool inside;  // those of the part are in step->warm
    int count, capacity;
    crKeptForce* force;
    int sorted;        // how many came from step->warm, in its order; the others came later
    int* first;        // of each body's chain, -1: it has none (nb)
    crStepWarm whole;  // step->warm meanwhile
    crStepWarm part;   // room for those of a part
} crKept;

// From step->warm into chains, and back, in order; forces that the step began with stay in step->warm.start. CR_ERR_MEMORY.
crStatus cr__step_kept_open(crStep* step);
crStatus cr__step_kept_close(crStep* step);
// step->warm has the forces of the part alone: those whose bodies, as far as v moves them, are all in it. After leave, which
// must follow, those that are then in step->warm have taken their place. CR_ERR_MEMORY.
crStatus cr__step_kept_enter(crStep* step);
crStatus cr__step_kept_leave(crStep* step);
// The force of a contact, NULL where it did not press.
const crWarm* cr__step_kept_find(const crStep* step, const crStepContact* contact);
void cr__step_kept_destroy(crStep* step);

#endif
