// batch_gpu_share.c - large worlds of a call, shared by host and device: those with few contacts go to the device, the threads of
// the host step the others at the same time.
//
// How many the host takes follows from the times of the call before, so that both end together. Every world has the same bits on
// either side. The device has all records afterwards.
// Fails: CR_ERR_MEMORY; CR_ERR_FILE where the device fails.
#include "world/batch_gpu.h"

#if !(defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__))

#include <time.h>

#define LEAST 256   // worlds that are shared
#define LATE  0.05  // of the time of a call: one side waits for the other
#define LESS  0.8   // then the host gets so much of its share

double cr__gpu_now(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cr__gpu_next_share(double share, double own, double spent) {
    if (!(spent - own > LATE * spent)) return LESS * share;
    double here = share / (own + 1e-9), there = (1.0 - share) / spent;
    return here / (here + there);
}

bool cr__gpu_shares(const crBatch* batch) {
    return batch->gpu->program.room > CR_ROOM_SMALL && batch->count >= LEAST && batch->lane_count > 1 &&
           batch->job.logs == NULL && batch->job.path.samples == 0;
}

// worlds in the order of their contacts in the call before, fewest first: neighbours of a device take as long then
static crStatus put_in_order(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchResult* results = batch->job.results;
    size_t count = (size_t)batch->count;
    int most = 0;
    if (gpu->order == NULL) gpu->order = cr__batch_zeros(&batch->allocator, count, sizeof *gpu->order);
    for (size_t i = 0; i < count; i++) {
        int contacts = results[i].tally.worst.contacts;
        if (contacts > most) most = contacts;
    }
    int* first = cr__batch_zeros(&batch->allocator, (size_t)most + 2, sizeof *first);
    if (gpu->order == NULL || first == NULL) {
        cr__batch_give(&batch->allocator, first, ((size_t)most + 2) * sizeof *first);
        return cr__batch_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        first[results[i].tally.worst.contacts + 1]++;
    }
    for (int c = 0; c <= most; c++) {
        first[c + 1] += first[c];
    }
    for (size_t i = 0; i < count; i++) {
        gpu->order[first[results[i].tally.worst.contacts]++] = (int)i;
    }
    cr__batch_give(&batch->allocator, first, ((size_t)most + 2) * sizeof *first);
    return CR_OK;
}

// visitors begin a call
static void begin_here(crVisitors* visit) {
    for (int k = 0; k < visit->count; k++) {
        visit->job.results[k] = (crBatchResult){0};
        visit->job.made[k] = 0;
    }
}

// a call begins on the device, for the first `count` worlds of the order
static crStatus begin_there(crBatch* batch, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    batch->job.whole = 0;
    crBatchJob job = cr__gpu_job(batch, true, count);
    job.fresh = true;
    crStatus status = cr__device_send(&gpu->device, gpu->memory.job, &job, sizeof job, error);
    if (status == CR_OK)
        status =
            cr__device_send(&gpu->device, gpu->memory.list, gpu->order, (size_t)count * sizeof(int), error);
    if (status != CR_OK) return status;
    void* arguments[] = {&gpu->memory.job, &gpu->memory.slabs, &gpu->program.room};
    return cr__gpu_launch(gpu, gpu->program.kernel, gpu->program.blocks, count, arguments, error);
}

// both sides; when the host was done, when the device was
static crStatus step_both(crBatch* batch, int there, crVisitors* visit, double* made, double* ended,
                          crError* error) {
    const crDevice* device = &batch->gpu->device;
    crStatus status = cr__gpu_come(batch, batch->gpu->order + there, batch->count - there, visit, error);
    if (status != CR_OK) return status;
    double begun = cr__gpu_now();
    begin_here(visit);
    status = begin_there(batch, there, error);
    if (status != CR_OK) return status;
    status = cr__gpu_stay(batch, visit, 0, error);
    *made = cr__gpu_now() - begun;
    CR_DEVICE_TRY(device, cuCtxSynchronize(), "running the program", error);
    *ended = cr__gpu_now() - begun;
    return status == CR_OK ? cr__gpu_go(batch, visit, error) : status;
}

crStatus cr__gpu_share(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t all = (size_t)batch->count * sizeof(int);
    int here = (int)(gpu->share * batch->count), there = batch->count - here;
    crVisitors visit = {0};
    double made = 0.0, ended = 0.0;
    crStatus status = cr__gpu_pull_results(batch, error);
    if (status == CR_OK) status = put_in_order(batch, error);
    if (status == CR_OK) status = step_both(batch, there, &visit, &made, &ended, error);
    cr__gpu_end_visit(batch, &visit);
    if (status == CR_OK) status = cr__device_fetch(&gpu->device, batch->turn, gpu->memory.turn, all, error);
    if (status != CR_OK) return status;
    for (int k = there; k < batch->count; k++) {
        batch->turn[gpu->order[k]] = CR_TURN_OVER;
    }
    gpu->newer = gpu->results_newer = true;
    gpu->share = cr__gpu_next_share(gpu->share, made, ended);
    return cr__device_send(&gpu->device, gpu->memory.turn, batch->turn, all, error);
}

#endif
