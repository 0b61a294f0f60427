// batch_gpu_share.c - large worlds of a call, shared by host and device: the first ones go to the device, the threads of the
// host step the last ones at the same time.
//
// How many the host takes follows from the times of the call before, so that both end together. Every world has the same bits on
// either side. Afterwards the host has all records; what the device handed back is among its own worlds.
// Fails: CR_ERR_MEMORY; CR_ERR_FILE where the device fails.
#include "world/batch_gpu.h"

#if !(defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__))

#include <string.h>
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
    return batch->gpu->room > CR_ROOM_SMALL && batch->count >= LEAST && batch->lane_count > 1 &&
           batch->job.logs == NULL && batch->job.path.samples == 0;
}

// the last `count` worlds, on the host
static crStatus step_here(crBatch* batch, int count, crError* error) {
    for (int k = 0; k < count; k++) {
        int i = batch->count - count + k;
        batch->list[k] = i;
        batch->job.results[i] = (crBatchResult){0};
        batch->job.made[i] = 0;
    }
    return cr__batch_host(batch, batch->list, count, error);
}

// the first `count` worlds, from the device; the host may have made records larger
static crStatus fetch_first(crBatch* batch, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    crBatchJob* job = &batch->job;
    size_t stride = job->stride, first = (size_t)count;
    uint64_t* words = cr__batch_zeros(&batch->allocator, gpu->word_bytes, 1);
    if (words == NULL) return cr__batch_memory(error);
    crStatus status = cr__device_fetch(&gpu->device, words, gpu->words, gpu->word_bytes, error);
    for (size_t k = 0; status == CR_OK && k < gpu->word_bytes / sizeof *words / stride; k++) {
        memcpy(job->words + k * stride, words + k * stride, first * sizeof *words);
    }
    cr__batch_give(&batch->allocator, words, gpu->word_bytes);
    if (status == CR_OK)
        status =
            cr__device_fetch(&gpu->device, job->results, gpu->results, first * sizeof *job->results, error);
    if (status == CR_OK)
        status = cr__device_fetch(&gpu->device, job->made, gpu->made, first * sizeof(int), error);
    if (status == CR_OK)
        status = cr__device_fetch(&gpu->device, batch->turn, gpu->turn, first * sizeof(int), error);
    return status;
}

crStatus cr__gpu_share(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t all = (size_t)batch->count * sizeof(int);
    int here = (int)(gpu->share * batch->count), there = batch->count - here;
    crStatus status = cr__gpu_pull(batch, error);
    double begun = cr__gpu_now(), made = begun;
    if (status == CR_OK) status = cr__gpu_begin(batch, there, error);
    if (status == CR_OK) {
        crStatus own = step_here(batch, here, error);
        made = cr__gpu_now();
        CR_DEVICE_TRY(&gpu->device, cuCtxSynchronize(), "running the program", error);
        status = own;
    }
    double ended = cr__gpu_now();
    if (status == CR_OK) status = fetch_first(batch, there, error);
    if (status != CR_OK) return status;
    memset(batch->turn + there, 0, (size_t)here * sizeof(int));
    gpu->newer = gpu->results_newer = false;
    gpu->written = gpu->results_written = true;
    gpu->share = cr__gpu_next_share(gpu->share, made - begun, ended - begun);
    return cr__device_send(&gpu->device, gpu->turn, batch->turn, all, error);
}

#endif
