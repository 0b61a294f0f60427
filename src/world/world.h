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
    // what its snapshots are bound to
    uint64_t model_hash, settings_hash;
    // the state before the step that is being made; v and forces of contacts the step itself keeps
    double time;
    double last_h;       // length of the last step, s; 0: the state was written as a whole since
    double* q;           // before it was checked (nq)
    crSleep* sleep;      // (nb)
    double* start_ctrl;  // controls of the actuators at the start (nu)
    double* start_act;   // activations at the start (na)
    double* ctrl;        // controls before the step (nu)
    double* tie_force;   // (step.ties.count)
    crEvent* events;     // of all parts of the last step, where settings.error is given
    int event_count, event_capacity;
    double* force;  // the user's, while loads are added to it (nv); NULL where the model has none
};

// Whether the last step left everything as it was, nothing was written since and no force is applied: one of length h does the same.
bool cr__world_still(const crWorld* world, double h);
// One step of length h, whatever its error is.
crStatus cr__world_step_by(crWorld* world, double h, crError* error);

// Hash of every number of the model that its motion depends on, and of the settings of steps; model_hash.c
// says what they leave out.
uint64_t cr__model_hash(const crModel* model);
uint64_t cr__settings_hash(const crStepSettings* settings);

#endif
