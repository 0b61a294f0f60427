// batch_gpu.h - what a batch has on a GPU, shared by batch_gpu.c (program, memory, records that come and go),
// batch_gpu_run.c (steps) and batch_gpu_share.c (worlds that both step at a time).
#ifndef CAROM_WORLD_BATCH_GPU_H
#define CAROM_WORLD_BATCH_GPU_H

#include "world/batch.h"
#include "world/batch_device.h"

#define CR_GPU_WARP 32  // threads of a block at most: those that the device runs in step

// What was loaded and how it is launched.
typedef struct crGpuProgram {
    void *module, *kernel;
    void* lone_module;     // NULL: the same
    void* lone;            // kernel for worlds of one body; NULL: the model has more
    void* exchange;        // kernel for visitors of the host
    unsigned lone_blocks;  // at most
    bool local;            // slabs are in the threads' own memory
    size_t room;           // bytes of a slab
    unsigned blocks;       // at most
} crGpuProgram;

// Arrays of the device.
typedef struct crGpuMemory {
    crAddress model;  // image
    crAddress words, values, varied, results, made, turn, list, job, slabs;
    crAddress images, models;  // of each world, and where they begin
    crAddress buffer;          // for visitors
    size_t buffer_bytes;
    crAddress logs, hits;                  // cr_batch_hits
    crAddress path_h, path_steps, path_q;  // crBatchPath
    size_t path_room;                      // samples of all worlds that these have room for
    size_t word_bytes;                     // of the records
    int columns;                           // of varied numbers
} crGpuMemory;

struct crGpu {
    crDevice device;
    crGpuProgram program;
    crGpuMemory memory;
    bool newer, results_newer;  // the device's records and results are newer than the host's
    int from, to;               // words of each record that the host wrote
    bool values_written;        // and varied numbers
    double share;               // of large worlds, that the host steps
    int* order;                 // of these, fewest contacts first (worlds); NULL: not yet made
};

// Threads of a block for so many worlds on at most `most` blocks. Where all of these find room at a time with fewer threads in
// each, fewer wait for each other.
#define CR_GPU_LEAST 4
static inline unsigned cr__gpu_width(unsigned most, int worlds) {
    unsigned width = CR_GPU_WARP;
    while (width > CR_GPU_LEAST && (unsigned)worlds <= most * (width / 2)) {
        width /= 2;
    }
    return width;
}

// Records and varied numbers that the host wrote go over; so does the path of a call.
crStatus cr__gpu_push(crBatch* batch, crError* error);
crStatus cr__gpu_push_path(crBatch* batch, crError* error);
// Results come, where those of the device are newer.
crStatus cr__gpu_pull_results(crBatch* batch, crError* error);
// The records of the device get the room that those of the host have.
crStatus cr__gpu_enlarge(crBatch* batch, crError* error);
// After a failure: the last state that the host has is that of the batch.
void cr__gpu_forget(crBatch* batch);

// The job with pointers of the device, for worlds of the list there, or for the first ones.
crBatchJob cr__gpu_job(const crBatch* batch, bool listed, int count);
// A kernel begins, for `count` worlds on at most `most` blocks.
crStatus cr__gpu_launch(const struct crGpu* gpu, void* kernel, unsigned most, int count, void** arguments,
                        crError* error);

// batch_gpu_visit.c: worlds that the host steps. They come from the device into arrays of their own; the host's records stay as
// they were, whatever happens.
typedef struct crVisitors {
    int count;
    int* list;       // which worlds (count)
    crBatchJob job;  // of them, world k is list[k]
    unsigned char* rest;
    double* values;          // job.values; NULL: none vary
    const crModel** models;  // job.models; NULL: one for all
    double* path_h;          // job.path.h and steps; NULL: none
    int* path_steps;
} crVisitors;
// They come; make all their steps, or at most `most` (> 0); and go back. The last takes what a zeroed visit has, too.
crStatus cr__gpu_come(crBatch* batch, const int* list, int count, crVisitors* visit, crError* error);
crStatus cr__gpu_stay(crBatch* batch, crVisitors* visit, int most, crError* error);
crStatus cr__gpu_go(crBatch* batch, crVisitors* visit, crError* error);
void cr__gpu_end_visit(const crBatch* batch, crVisitors* visit);

// batch_gpu_share.c: whether host and device share the worlds of a call; and the call, but for what the device hands back.
bool cr__gpu_shares(const crBatch* batch);
crStatus cr__gpu_share(crBatch* batch, crError* error);
// The next share of the host, which was done with its worlds after `own` of `spent` seconds.
double cr__gpu_next_share(double share, double own, double spent);
double cr__gpu_now(void);  // s

#endif
