// batch_gpu_share.c - large worlds of a call, shared by host and device: those with few contacts go to the device, the threads of
// the host step the others at the same time.
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

// the last `count` worlds of the order, on the host
static crStatus step_here(crBatch* batch, int count, crError* error) {
    const int* order = batch->gpu->order + (batch->count - count);
    for (int k = 0; k < count; k++) {
        batch->job.results[order[k]] = (crBatchResult){0};
        batch->job.made[order[k]] = 0;
    }
    return cr__batch_host(batch, order, count, error);
}

// arrays of the device, and the words of its records
typedef struct Fetched {
    uint64_t* words;
    crBatchResult* results;
    int *made, *turn;
} Fetched;

static crStatus fetch_all(const crBatch* batch, const Fetched* f, crError* error) {
    const struct crGpu* gpu = batch->gpu;
    const crDevice* device = &gpu->device;
    size_t count = (size_t)batch->count;
    if (f->words == NULL || f->results == NULL || f->made == NULL || f->turn == NULL)
        return cr__batch_memory(error);
    crStatus status = cr__device_fetch(device, f->words, gpu->words, gpu->word_bytes, error);
    if (status == CR_OK)
        status = cr__device_fetch(device, f->results, gpu->results, count * sizeof *f->results, error);
    if (status == CR_OK) status = cr__device_fetch(device, f->made, gpu->made, count * sizeof(int), error);
    return status == CR_OK ? cr__device_fetch(device, f->turn, gpu->turn, count * sizeof(int), error)
                           : status;
}

// the first `count` worlds of the order, from the device; the host may have made records larger
static crStatus fetch_first(crBatch* batch, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crAllocator* a = &batch->allocator;
    crBatchJob* job = &batch->job;
    size_t stride = job->stride, all = (size_t)batch->count, words = gpu->word_bytes / sizeof(uint64_t);
    Fetched f = {cr__batch_zeros(a, words, sizeof *f.words), cr__batch_zeros(a, all, sizeof *f.results),
                 cr__batch_zeros(a, all, sizeof *f.made), cr__batch_zeros(a, all, sizeof *f.turn)};
    crStatus status = fetch_all(batch, &f, error);
    for (size_t at = 0; status == CR_OK && at < words; at += stride) {
        for (int k = 0; k < count; k++) {
            job->words[at + (size_t)gpu->order[k]] = f.words[at + (size_t)gpu->order[k]];
        }
    }
    for (int k = 0; status == CR_OK && k < count; k++) {
        int i = gpu->order[k];
        job->results[i] = f.results[i];
        job->made[i] = f.made[i];
        batch->turn[i] = f.turn[i];
    }
    cr__batch_give(a, f.words, words * sizeof *f.words);
    cr__batch_give(a, f.results, all * sizeof *f.results);
    cr__batch_give(a, f.made, all * sizeof *f.made);
    cr__batch_give(a, f.turn, all * sizeof *f.turn);
    return status;
}

// a call begins on the device, for the first `count` worlds of the order
static crStatus begin_there(crBatch* batch, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    batch->job.whole = 0;
    crBatchJob job = cr__gpu_job(batch, true, count);
    job.fresh = true;
    crStatus status = cr__device_send(&gpu->device, gpu->job, &job, sizeof job, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->list, gpu->order, (size_t)count * sizeof(int), error);
    if (status != CR_OK) return status;
    void* arguments[] = {&gpu->job, &gpu->slabs, &gpu->room};
    return cr__gpu_launch(gpu, gpu->kernel, gpu->blocks, count, arguments, error);
}

crStatus cr__gpu_share(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t all = (size_t)batch->count * sizeof(int);
    int here = (int)(gpu->share * batch->count), there = batch->count - here;
    crStatus status = cr__gpu_pull(batch, error);
    if (status == CR_OK) status = put_in_order(batch, error);
    double begun = cr__gpu_now(), made = begun;
    if (status == CR_OK) status = begin_there(batch, there, error);
    if (status == CR_OK) {
        crStatus own = step_here(batch, here, error);
        made = cr__gpu_now();
        CR_DEVICE_TRY(&gpu->device, cuCtxSynchronize(), "running the program", error);
        status = own;
    }
    double ended = cr__gpu_now();
    if (status == CR_OK) status = fetch_first(batch, there, error);
    if (status != CR_OK) return status;
    for (int k = there; k < batch->count; k++) {
        batch->turn[gpu->order[k]] = CR_TURN_OVER;
    }
    gpu->newer = gpu->results_newer = false;
    gpu->written = gpu->results_written = true;
    gpu->share = cr__gpu_next_share(gpu->share, made - begun, ended - begun);
    return cr__device_send(&gpu->device, gpu->turn, batch->turn, all, error);
}

#endif
