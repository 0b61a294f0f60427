// batch.h - what is inside a crBatch: records of worlds, lanes that step them, and the job that both share.
#ifndef CAROM_WORLD_BATCH_H
#define CAROM_WORLD_BATCH_H

#include "base/tasks.h"
#include "carom/batch.h"
#include "world/lone.h"
#include "world/world.h"

// Where the parts of a world's record begin, in words of 8 bytes; see batch_record.c.
typedef struct crRecordLayout {
    int at[CR_BATCH_ARRAYS];     // arrays
    int width[CR_BATCH_ARRAYS];  // and their sizes
    int ties, tie_count;
    int sleep, sleep_count;  // bodies, 0 where none may sleep
    int warm, warm_room;     // how many forces of contacts there are, then the forces; room for so many
    int words;
} crRecordLayout;

// A world's record: word k is at[k*stride].
typedef struct crRecord {
    uint64_t* at;
    size_t stride;
} crRecord;

crRecordLayout cr__record_layout(const crWorld* world);
void cr__record_room(crRecordLayout* layout, int contacts);  // room for forces of so many contacts
// The record of a world that begins with this state.
void cr__record_begin(const crRecordLayout* layout, crRecord record, crState* state);
// The world becomes what its record says. CR_ERR_MEMORY.
crStatus cr__record_load(const crRecordLayout* layout, crRecord record, crWorld* world);
// And the other way round. CR_ERR_LIMIT, nothing written: more forces of contacts than there is room for.
crStatus cr__record_store(const crRecordLayout* layout, crRecord record, const crWorld* world);
// The record of a world with one free body, from it (false: it does not fit) and to it; v, q, time and forces of contacts.
bool cr__record_take(const crRecordLayout* layout, crRecord record, crLoneState* s);
void cr__record_give(const crRecordLayout* layout, crRecord record, const crLoneState* s);
// cr_world_hash of the world that the record is of.
uint64_t cr__record_hash(const crRecordLayout* layout, crRecord record);

// A number of the model that differs from world to world.
typedef struct crVaried {
    crVary what;
    int index;
} crVaried;

// Hits of a world so far, before crBatchHit of it.
typedef struct crHitLog {
    int count, all;
    int begun;    // where the present impact begins
    double time;  // of the last hit
} crHitLog;

// What comes next in a world that a device has run.
typedef enum crTurn {
    CR_TURN_OVER,    // it has made its steps, or failed
    CR_TURN_DEVICE,  // it goes on there
    CR_TURN_HOST     // the host makes its next step
} crTurn;

// The rule of impacts as a device knows it: impacts by Newton's and by others are made by the host.
typedef enum crDeviceRule { CR_DEVICE_POISSON, CR_DEVICE_NEWTON, CR_DEVICE_OTHER } crDeviceRule;

// What lanes are asked for: plain data, the same on the host and on a device.
typedef struct crBatchJob {
    const crModel* model;
    const crModel* const* models;  // of each world (worlds); NULL: `model`
    crStepSettings settings;
    crDeviceRule rule;
    crRecordLayout layout;
    double h;          // s
    int steps;         // that every world is to make in this call
    crBatchPath path;  // samples > 0: in place of h and steps
    int hit_room;
    crHitLog* logs;    // (worlds), NULL: none
    crBatchHit* hits;  // (worlds*hit_room)
    int most;          // at most so many in this run; 0: all
    int whole;         // at most so many of these that take the stages; 0: any number
    crLone lone;       // of the model
    bool apart;        // lanes leave what cr__lane_lone does to it
    bool fresh;        // results and steps made are those of a call that begins
    size_t stride;     // of records and values
    uint64_t* words;   // records
    int varied_count;
    const crVaried* varied;  // (varied_count)
    const double* values;    // of varied[k] in world i: values[k*stride + i]
    crBatchResult* results;  // (worlds)
    int* made;               // steps that each world made in this call (worlds)
    int* turn;               // of a device: what comes next in each world, a crTurn (worlds)
    int count;               // of worlds to step
    const int* list;         // which (count); NULL: the first ones
} crBatchJob;

// One working world; a model of its own where numbers vary.
typedef struct crBatchLane {
    crAllocator allocator;
    crArena* scratch;  // for crWorldDef.scratch
    crWorld* world;    // NULL: not yet made
    crModel model;     // shares with the job's model all but these
    crBody* bodies;    // NULL: nothing varies
    crMaterial* materials;
    crBodyShape* shapes;
    crLone lone;
} crBatchLane;

void cr__lane_destroy(crBatchLane* lane);
// The steps that world i has still to make. CR_ERR_MEMORY, CR_ERR_LIMIT: the lane or the record has no room; `made` and the
// record are of the steps before. Other failures are the world's own and go into its result.
crStatus cr__lane_run(crBatchLane* lane, const crBatchJob* job, int i);
// The same as far as steps of a lone body go, without a lane: for worlds of job->model alone. What comes next.
crTurn cr__lane_lone(const crBatchJob* job, int i);
// The same for up to CR_LONE_WORLDS worlds side by side, on the host.
#define CR_LONE_WORLDS 32
void cr__lane_lones(const crBatchJob* job, const int* list, int count);
// The model of world i, see cr_batch_vary.
void cr__lane_vary(crBatchLane* lane, const crBatchJob* job, int i);

// batch_visit.c: bytes that stand behind the records of `count` visitors; their job, but for arrays that the host alone has
// (values, models, lengths of paths); and world i of one job becomes world k of another.
size_t cr__visit_bytes(const crBatchJob* job, int count);
crBatchJob cr__visit_job(const crBatchJob* job, int count, uint64_t* words, void* rest);
void cr__visit_copy(const crBatchJob* from, int i, const crBatchJob* to, int k);

// Steps that world i is to make in this call.
int cr__batch_goal(const crBatchJob* job, int i);
// Events of the last step of a world enter its log.
void cr__hits_add(const crBatchJob* job, int i, const crWorld* world);

// Bytes of a device lane's memory: of the two kernels that have it in the thread's own memory, larger ones in the device's.
#define CR_ROOM_SMALL  40960
#define CR_ROOM_MEDIUM 131072

struct crGpu;

struct crBatch {
    crAllocator allocator;
    crBackend backend;
    int count, threads;
    crBatchJob job;       // its arrays are the batch's own
    int varied_capacity;  // columns of values
    size_t value_stride;
    int lane_count;
    crBatchLane* lanes;  // (lane_count)
    crTasks* tasks;
    int* list;                           // work (count)
    int* turn;                           // of a device, what comes next in each world (count)
    crStatus* unfinished;                // what a lane had no room for (count)
    struct crGpu* gpu;                   // batch_gpu.c, NULL: none
    uint64_t model_hash, settings_hash;  // of its worlds, but for what varies
};

static inline crRecord cr__batch_record(const crBatch* batch, int i) {
    return (crRecord){batch->job.words + i, batch->job.stride};
}
crStatus cr__batch_memory(crError* error);                               // CR_ERR_MEMORY with its text
void* cr__batch_zeros(const crAllocator* a, size_t count, size_t size);  // NULL where memory is out
void cr__batch_give(const crAllocator* a, void* memory, size_t bytes);   // accepts NULL
size_t cr__batch_bytes(const crBatch* batch);                            // of all records
// Records with room for more contacts.
crStatus cr__batch_grow(crBatch* batch, crError* error);

// batch_gpu.c: the device has records of its own; the newer ones are those of `device`, or the host's.

crStatus cr__gpu_create(crBatch* batch, const crBatchDef* def, crError* error);
void cr__gpu_destroy(crBatch* batch);
// The steps of the job on the device; what had no room there is left to the host, see cr__batch_finish.
crStatus cr__gpu_run(crBatch* batch, crError* error);
// Records and results of the host become those of the device, where these are newer.
crStatus cr__gpu_pull(crBatch* batch, crError* error);
// Models of each world go over, as images; NULL: none.
crStatus cr__gpu_models(crBatch* batch, const crModel* const* models, crError* error);
// The host has written records, or will; or `width` words of each, from word `from` on.
void cr__gpu_written(crBatch* batch);
void cr__gpu_written_words(crBatch* batch, int from, int width);
// Records of the device, up to date, which the caller may write.
crStatus cr__gpu_words(crBatch* batch, uint64_t** words, crError* error);

// The steps that the listed worlds (NULL: the first ones) have still to make, on the host.
crStatus cr__batch_host(crBatch* batch, const int* list, int count, crError* error);

#endif
