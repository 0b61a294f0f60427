// world.h - a model that moves: state, steps, events, certificates, snapshots.
//
//     crWorldDef def = cr_world_def();
//     def.model = model;
//     crWorld* world = NULL;
//     status = cr_world_create(&def, &world, &error);
//     cr_world_state(world)->v[0] = 1.0;              // write q, v, force, motor_speed, ctrl between steps
//     while (status == CR_OK && cr_world_state(world)->time < 2.0) status = cr_world_step(world, &error);
//
// A step that fails leaves the world as it was before it: CR_ERR_FINITE where numbers became NaN or infinite,
// CR_ERR_MEMORY, or what the user's force, law or rule returned. A solve that did not converge is no failure;
// the certificate of the step says so.
#ifndef CAROM_WORLD_H
#define CAROM_WORLD_H

#include "carom/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// Start from cr_world_def(); a struct that did not is refused.
typedef struct crWorldDef {
    uint32_t cookie;
    const crModel* model;          // must be given; must outlive the world and not change
    crStepSettings step;           // cr_step_settings()
    const crAllocator* allocator;  // NULL: libc
    crForceFn force;               // NULL: none
    void* force_ctx;
    crLog log;  // solves that do not converge are warnings
    // Lent to many small worlds that one thread steps one after another, so that their scratch memory stays in
    // its cache; must outlive them. Contacts and problem of cr_world_stages then live until any of them makes
    // a step. NULL: memory of its own.
    crArena* scratch;
} crWorldDef;

typedef struct crWorld crWorld;

CR_API crWorldDef cr_world_def(void);
CR_API crStatus cr_world_create(const crWorldDef* def, crWorld** world, crError* error);
CR_API void cr_world_destroy(crWorld* world);  // accepts NULL

// The state itself: write between steps. A step checks it first and refuses what is not finite or not unit.
CR_API crState* cr_world_state(crWorld* world);
CR_API const crModel* cr_world_model(const crWorld* world);

CR_API crStatus cr_world_step(crWorld* world, crError* error);  // one step of settings.dt
// Steps of dt until `time`; the last one is shorter where needed.
CR_API crStatus cr_world_run(crWorld* world, double time, crError* error);

// Whether a body sleeps (settings.sleep_time). Writing its state, or anything that comes near it, wakes it.
CR_API bool cr_world_asleep(const crWorld* world, int body);

// Events of the last step in the order of time. The array lives until the next step.
typedef struct crEvents {
    int count;
    const crEvent* events;
} crEvents;
CR_API crEvents cr_world_events(const crWorld* world);
CR_API const crCertificate* cr_world_certificate(const crWorld* world);  // of the last step

// A contact of the last step.
typedef struct crContactForce {
    int body_a, body_b;
    int shape_a, shape_b;
    double gap;     // at the beginning of its solve, m
    crVec3 point;   // world
    crVec3 normal;  // from a to b
    crVec3 force;   // on b: impulse over the length of the step, N
} crContactForce;

// Deepest overlap of all shapes in the present state, by full geometry, m.
CR_API crStatus cr_world_overlap(crWorld* world, double* deepest, crError* error);
CR_API crEnergy cr_world_energy(crWorld* world);  // of the present state, J
CR_API void cr_world_momentum(crWorld* world, crVec3 about, crVec3* linear, crVec3* angular);
// Where a body is now.
CR_API crPose cr_world_pose(crWorld* world, int body);

// Snapshots: everything the future depends on, in one block of bytes, the same bytes on every machine. Restoring
// continues to the same bits.
CR_API size_t cr_world_save_size(const crWorld* world);
CR_API crStatus cr_world_save(const crWorld* world, void* bytes, size_t size);
// A snapshot is bound to its model (bodies, joints, shapes, materials, loops, gravity) and to the settings of the
// step but threads; rule, law and solver are known by their names, forces, drives and other functions of the
// user's not at all. CR_ERR_SYNTAX: no snapshot, or damaged; CR_ERR_SIZE, CR_ERR_RANGE with the field "version",
// "model" or "settings": of another one. Every number is checked, and the error names the first that cannot be:
// "q", "warm[3].shape_a", "sleep[5].island". A refused snapshot leaves the world unchanged.
CR_API crStatus cr_world_load(crWorld* world, const void* bytes, size_t size, crError* error);
// Over the bytes of a snapshot behind its header: the state, contact forces, sleep.
CR_API uint64_t cr_world_hash(const crWorld* world);

#ifdef __cplusplus
}
#endif

#endif
