// kept.h - forces of the last solve by body, see kept.c.
#ifndef CAROM_STEP_KEPT_H
#define CAROM_STEP_KEPT_H

#include "step/step.h"

typedef struct crKeptForce {
    crWarm force;
    int next[2];  // next force in the chain of the body at each end, -1: none
    bool gone;    // true if another solve has replaced the force
} crKeptForce;

typedef struct crKept {
    bool open;    // true if the forces are here instead of in step->warm
    bool inside;  // true if the forces of the part are in step->warm
    int count, capacity;
    crKeptForce* force;
    int sorted;        // number of forces taken from step->warm, in its order; later ones follow
    int* first;        // first force of each body's chain, -1: none (nb)
    crStepWarm whole;  // copy of step->warm while `inside`
    crStepWarm part;   // memory for the forces of a part
} crKept;

// Open moves the forces from step->warm into chains; close moves them back in order. The forces of the step's
// beginning stay in step->warm.start. CR_ERR_MEMORY.
crStatus cr__step_kept_open(const crModel* model, const crAllocator* allocator, const crStepWarm* warm,
                            crKept* kept);
crStatus cr__step_kept_close(const crAllocator* allocator, crStepWarm* warm, crKept* kept);
// Enter gives `warm` the forces of the part alone: those whose moving bodies all belong to it. Leave must
// follow; the forces that are in `warm` then replace them. CR_ERR_MEMORY.
crStatus cr__step_kept_enter(const crStep* step, crStepWarm* warm, crKept* kept);
crStatus cr__step_kept_leave(const crModel* model, const crAllocator* allocator, crStepWarm* warm,
                             crKept* kept);
// Force of a contact, NULL if it carried none.
const crWarm* cr__step_kept_find(const crStep* step, const crStepContact* contact);
void cr__step_kept_destroy(const crAllocator* allocator, crKept* kept);

#endif
