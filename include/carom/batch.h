// batch.h - experimental: many worlds of one model, stepped together.
//
//     crBatchDef def = cr_batch_def();
//     def.model = model;
//     def.count = 10000;
//     def.backend = CR_BACKEND_THREADS;
//     def.threads = 4;
//     crBatch* batch = NULL;
//     status = cr_batch_create(&def, &batch, &error);
//     status = cr_batch_write(batch, CR_BATCH_V, v, NULL, &error);    // count rows of nv numbers
//     status = cr_batch_step(batch, 1.0 / 240.0, 480, &error);
//     status = cr_batch_read(batch, CR_BATCH_Q, q, &error);
//
// Every world has the bits that a crWorld of the same model, settings and state would have, whatever the back end
// and the number of threads. These functions work and are tested; their form may change with any version.
// Units: SI, rad.
#ifndef CAROM_BATCH_H
#define CAROM_BATCH_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum crBackend { CR_BACKEND_SERIAL, CR_BACKEND_THREADS, CR_BACKEND_GPU } crBackend;
CR_API const char* cr_backend_name(crBackend backend);  // "serial", "threads", "gpu"; NULL for no such
CR_API crStatus cr_backend_find(const char* name, crBackend* backend, crError* error);  // CR_ERR_NAME

// Start from cr_batch_def(); a struct that did not is refused.
typedef struct crBatchDef {
    uint32_t cookie;
    const crModel* model;          // must be given; must outlive the batch and not change
    crStepSettings step;           // cr_step_settings(); its threads must be 1
    int count;                     // worlds, >= 1; 1
    crBackend backend;             // serial
    int threads;                   // of the back end threads, and of what a GPU hands back, 1 to 256; 1
    const crAllocator* allocator;  // NULL: libc
    const char* program;  // gpu: text of the device program (carom.ptx, made by ./dev gpu); it is not kept
    size_t room;          // gpu: bytes of working memory of a device thread, at least 32 kB; 0: by the model
    int device;           // gpu: its number, modulo how many there are; 0
    int hits;             // pairs of bodies that are kept of each world, see cr_batch_hits; 0
} crBatchDef;

typedef struct crBatch crBatch;

CR_API crBatchDef cr_batch_def(void);
// Every world at the reference position, at rest. Fails: CR_ERR_NAME for `gpu` where there is no device or driver,
// CR_ERR_RANGE for a model that the back end cannot hold, with the reason and the back end that can.
CR_API crStatus cr_batch_create(const crBatchDef* def, crBatch** batch, crError* error);
CR_API void cr_batch_destroy(crBatch* batch);  // accepts NULL

// `steps` steps of length h (s) of every world. A world whose step fails stays where it was before it and makes no more in
// this call; its status tells why, and the call is CR_OK. Others: CR_ERR_RANGE, CR_ERR_MEMORY, CR_ERR_FILE where a
// device is lost, which leaves the worlds as they were before the call.
CR_API crStatus cr_batch_step(crBatch* batch, double h, int steps, crError* error);

// Steps of each world's own. Sample k of world i comes after steps[i*samples + k] steps of length h[i*samples + k];
// where that is 0 nothing is made or written.
typedef struct crBatchPath {
    int samples;       // >= 1
    const double* h;   // s (count*samples)
    const int* steps;  // >= 0 (count*samples)
    bool as_dt;        // thresholds that scale with settings.dt take h in its place
    double* q;         // q at each sample (count*samples*nq); NULL: not wanted
} crBatchPath;
// As cr_batch_step, along a path. A world that fails has no samples after that.
CR_API crStatus cr_batch_follow(crBatch* batch, const crBatchPath* path, crError* error);

// The numbers of all worlds, one row for each.
typedef enum crBatchArray {
    CR_BATCH_TIME,         // 1, s
    CR_BATCH_Q,            // nq
    CR_BATCH_V,            // nv
    CR_BATCH_FORCE,        // nv
    CR_BATCH_MOTOR_SPEED,  // nv
    CR_BATCH_CTRL,         // nu
    CR_BATCH_ARRAYS
} crBatchArray;
CR_API int cr_batch_count(const crBatch* batch);
CR_API int cr_batch_width(const crBatch* batch, crBatchArray array);  // numbers of a row
// Row by row, count rows. What is written is checked by the next step of its world, as a world's state is.
CR_API crStatus cr_batch_read(crBatch* batch, crBatchArray array, double* out, crError* error);
// takes: worlds that are written (count), NULL: all; rows of others are not read.
CR_API crStatus cr_batch_write(crBatch* batch, crBatchArray array, const double* rows, const bool* takes,
                               crError* error);

// Where those numbers lie, for readers and writers between steps; it moves only with cr_batch_put and cr_batch_step.
typedef struct crBatchView {
    double* data;        // number 0 of world 0; of the device where device is set
    int rows, width;     // worlds, numbers of each
    size_t next_world;   // from a number to that of the next world, bytes
    size_t next_number;  // to the next number of the same world, bytes
    bool device;
} crBatchView;
CR_API crBatchView cr_batch_view(crBatch* batch, crBatchArray array);

// Numbers of the model that differ from world to world.
typedef enum crVary {
    CR_VARY_MASS,  // of a body, > 0, kg; its inertia changes in proportion
    CR_VARY_MU,    // of a material with round friction, >= 0
    CR_VARY_E,     // of a material whose e does not depend on speed, >= 0
    CR_VARY_SIZE   // factor of the sizes of a shape that is given by sizes, > 0; mass and inertia stay
} crVary;
CR_API const char* cr_vary_name(crVary what);  // "mass", "mu", "e", "size"; NULL for no such
// One value for each world (count). Written-down pairs of materials keep their surfaces. A world whose body or material
// changes keeps its state.
CR_API crStatus cr_batch_vary(crBatch* batch, crVary what, int index, const double* values, crError* error);

// World i becomes one of models[i] (count), at its reference position, at rest. Models have the structure of the batch's:
// bodies, joints, shapes, materials, loops and actuators; every number of them may differ. They must not change before the
// next call of this function; NULL: all worlds are of the batch's model again. Fails: CR_ERR_RANGE for a model of another
// structure, or one that the back end cannot hold.
CR_API crStatus cr_batch_models(crBatch* batch, const crModel* const* models, crError* error);

// World i becomes what `world` is: state, contact forces, sleep; and the other way round. Both must be of the batch's
// model and settings. A world that was restored from a snapshot resets a world of a batch so.
CR_API crStatus cr_batch_put(crBatch* batch, int index, const crWorld* world, crError* error);
CR_API crStatus cr_batch_take(crBatch* batch, int index, crWorld* world, crError* error);

// Result of the last cr_batch_step in one world.
typedef struct crBatchResult {
    crStatus status;  // of its last step; CR_OK: all were made
    int handed;       // steps that the device handed to the host for want of room
    crTally tally;    // of the certificates of its steps
    double created;   // most energy that impacts of one step created, J
    double rise;      // most that kinetic and potential energy rose above its value before the call, J
} crBatchResult;
CR_API crStatus cr_batch_result(crBatch* batch, int index, crBatchResult* result, crError* error);

// Bodies that hit each other, a < b. Pairs of one impact stand in the order of bodies; all but the first are `together`.
typedef struct crBatchHit {
    int a, b;
    bool together;
} crBatchHit;
// The first pairs that hit each other in the last cr_batch_step or cr_batch_follow in the order of time, at most
// crBatchDef.hits of them; how many are there; and how many hits there were, with repetition. Methods without impacts (lcp, moreau) have
// the contacts that began.
CR_API crStatus cr_batch_hits(crBatch* batch, int index, crBatchHit* hits, int* count, int* all,
                              crError* error);

// And in all of them.
typedef struct crBatchSummary {
    int worlds;     // count
    int failed;     // worlds whose status is not CR_OK
    int first;      // of those, -1: none
    int unsound;    // with a step that is neither solved, near nor bounded
    int handed;     // steps that the device handed to the host
    crTally tally;  // steps and sums of all worlds, the worst of each figure
} crBatchSummary;
CR_API crStatus cr_batch_summary(crBatch* batch, crBatchSummary* summary, crError* error);

// cr_world_hash of one world; of all of them, in order.
CR_API crStatus cr_batch_hash(crBatch* batch, int index, uint64_t* hash, crError* error);
CR_API crStatus cr_batch_hash_all(crBatch* batch, uint64_t* hash, crError* error);

#ifdef __cplusplus
}
#endif

#endif
