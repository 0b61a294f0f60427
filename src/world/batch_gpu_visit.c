// batch_gpu_visit.c - worlds of a device that visit the host: they come in a buffer, make steps as a batch of their own, and go
// back.
//
// The host's records are not touched, so they are those of the last state that it knew if the device is lost. Where
// visitors need larger records, all get them.
// Fails: CR_ERR_MEMORY; CR_ERR_FILE where the device fails.
#include "world/batch_gpu.h"

#if !(defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__))

#include <string.h>

static size_t record_bytes(const crBatchJob* job, int count) {
    return (size_t)job->layout.words * (size_t)count * sizeof(uint64_t);
}

static crStatus take_buffer(struct crGpu* gpu, size_t bytes, crError* error) {
    if (bytes <= gpu->memory.buffer_bytes) return CR_OK;
    cr__device_let_go(&gpu->device, &gpu->memory.buffer);
    gpu->memory.buffer_bytes = 0;
    crStatus status = cr__device_take(&gpu->device, &gpu->memory.buffer, bytes, error);
    if (status == CR_OK) gpu->memory.buffer_bytes = bytes;
    return status;
}

// between records and buffer, on the device
static crStatus exchange(crBatch* batch, const crVisitors* visit, bool back, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t way = back;
    crBatchJob job = cr__gpu_job(batch, true, visit->count);
    crStatus status = cr__device_send(&gpu->device, gpu->memory.job, &job, sizeof job, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->memory.list, visit->list,
                                 (size_t)visit->count * sizeof(int), error);
    void* arguments[] = {&gpu->memory.job, &gpu->memory.buffer, &way};
    if (status == CR_OK)
        status =
            cr__gpu_launch(gpu, gpu->program.exchange, gpu->program.blocks, visit->count, arguments, error);
    if (status != CR_OK) return status;
    CR_DEVICE_TRY(&gpu->device, cuCtxSynchronize(), "running the program", error);
    return CR_OK;
}

// what only the host has of them
static crStatus gather(const crBatch* batch, crVisitors* visit, crError* error) {
    const crAllocator* a = &batch->allocator;
    const crBatchJob* job = &batch->job;
    size_t count = (size_t)visit->count, varied = (size_t)job->varied_count,
           samples = (size_t)job->path.samples;
    if (varied > 0) visit->values = cr__batch_zeros(a, count * varied, sizeof *visit->values);
    if (job->models != NULL) visit->models = cr__batch_zeros(a, count, sizeof *visit->models);
    if (samples > 0) visit->path_h = cr__batch_zeros(a, count * samples, sizeof *visit->path_h);
    if (samples > 0) visit->path_steps = cr__batch_zeros(a, count * samples, sizeof *visit->path_steps);
    if ((varied > 0 && visit->values == NULL) || (job->models != NULL && visit->models == NULL) ||
        (samples > 0 && (visit->path_h == NULL || visit->path_steps == NULL)))
        return cr__batch_memory(error);
    for (size_t k = 0; k < count; k++) {
        size_t i = (size_t)visit->list[k];
        for (size_t j = 0; j < varied; j++) {
            visit->values[j * count + k] = job->values[j * job->stride + i];
        }
        if (visit->models != NULL) visit->models[k] = job->models[i];
        if (samples == 0) continue;
        memcpy(visit->path_h + k * samples, job->path.h + i * samples, samples * sizeof *visit->path_h);
        memcpy(visit->path_steps + k * samples, job->path.steps + i * samples,
               samples * sizeof *visit->path_steps);
    }
    return CR_OK;
}

crStatus cr__gpu_come(crBatch* batch, const int* list, int count, crVisitors* visit, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crAllocator* a = &batch->allocator;
    size_t words = record_bytes(&batch->job, count), rest = cr__visit_bytes(&batch->job, count);
    *visit = (crVisitors){.count = count};
    if (count == 0) return CR_OK;
    visit->list = a->alloc(a->ctx, (size_t)count * sizeof *visit->list);
    visit->rest = a->alloc(a->ctx, rest);
    visit->job = cr__visit_job(&batch->job, count, a->alloc(a->ctx, words), visit->rest);
    if (visit->list == NULL || visit->rest == NULL || visit->job.words == NULL)
        return cr__batch_memory(error);
    memcpy(visit->list, list, (size_t)count * sizeof *list);
    crStatus status = gather(batch, visit, error);
    visit->job.values = visit->values;
    visit->job.models = visit->models;
    visit->job.path.h = visit->path_h;
    visit->job.path.steps = visit->path_steps;
    if (status == CR_OK) status = take_buffer(gpu, words + rest, error);
    if (status == CR_OK) status = exchange(batch, visit, false, error);
    if (status == CR_OK)
        status = cr__device_fetch(&gpu->device, visit->job.words, gpu->memory.buffer, words, error);
    return status == CR_OK
               ? cr__device_fetch(&gpu->device, visit->rest, gpu->memory.buffer + words, rest, error)
               : status;
}

crStatus cr__gpu_stay(crBatch* batch, crVisitors* visit, int most, crError* error) {
    if (visit->count == 0) return CR_OK;
    crBatchJob own = batch->job;
    batch->job = visit->job;
    batch->job.most = most;
    batch->job.whole = 0;
    batch->job.apart = false;
    crStatus status = cr__batch_host(batch, NULL, visit->count, error);
    visit->job = batch->job;
    batch->job = own;
    return status;
}

crStatus cr__gpu_go(crBatch* batch, crVisitors* visit, crError* error) {
    struct crGpu* gpu = batch->gpu;
    crStatus status = CR_OK;
    if (visit->count == 0) return CR_OK;
    while (status == CR_OK && batch->job.layout.words < visit->job.layout.words) {
        status = cr__batch_grow(batch, error);
    }
    if (status == CR_OK && gpu->memory.word_bytes < cr__batch_bytes(batch))
        status = cr__gpu_enlarge(batch, error);
    size_t words = record_bytes(&visit->job, visit->count), rest = cr__visit_bytes(&batch->job, visit->count);
    if (status == CR_OK) status = take_buffer(gpu, words + rest, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->memory.buffer, visit->job.words, words, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->memory.buffer + words, visit->rest, rest, error);
    return status == CR_OK ? exchange(batch, visit, true, error) : status;
}

void cr__gpu_end_visit(const crBatch* batch, crVisitors* visit) {
    const crAllocator* a = &batch->allocator;
    const crBatchJob* job = &batch->job;
    size_t count = (size_t)visit->count, samples = (size_t)job->path.samples;
    cr__batch_give(a, visit->list, count * sizeof *visit->list);
    cr__batch_give(a, visit->job.words, record_bytes(&visit->job, visit->count));
    cr__batch_give(a, visit->rest, cr__visit_bytes(job, visit->count));
    cr__batch_give(a, visit->values, count * (size_t)job->varied_count * sizeof *visit->values);
    cr__batch_give(a, (void*)visit->models, count * sizeof *visit->models);
    cr__batch_give(a, visit->path_h, count * samples * sizeof *visit->path_h);
    cr__batch_give(a, visit->path_steps, count * samples * sizeof *visit->path_steps);
    *visit = (crVisitors){0};
}

#endif
