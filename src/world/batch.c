// batch.c - many worlds of one model: made, written, read, stepped by lanes.
//
// Fails: arguments by name; CR_ERR_MEMORY, the worlds unchanged.
#include "world/batch.h"

#include <string.h>

#include "base/argument.h"

#define COOKIE UINT32_C(0x63726261)
#define LINE   8    // words of a line of cache
#define MOST   256  // threads

static const char* const backends[] = {"serial", "threads", "gpu"};

const char* cr_backend_name(crBackend backend) {
    return (unsigned)backend <= CR_BACKEND_GPU ? backends[backend] : NULL;
}

crStatus cr_backend_find(const char* name, crBackend* backend, crError* error) {
    if (name == NULL) return cr__missing(error, "name");
    if (backend == NULL) return cr__missing(error, "backend");
    for (int i = 0; i <= CR_BACKEND_GPU; i++) {
        if (strcmp(name, backends[i]) != 0) continue;
        *backend = (crBackend)i;
        return CR_OK;
    }
    return cr_error_set(error, CR_ERR_NAME, "backend",
                        "backend: no \"%.32s\"; there are serial, threads and gpu", name);
}

crBatchDef cr_batch_def(void) {
    return (crBatchDef){.cookie = COOKIE, .step = cr_step_settings(), .count = 1, .threads = 1};
}

static crStatus check_def(const crBatchDef* def, crError* error) {
    if (def->cookie != COOKIE)
        return cr_error_set(error, CR_ERR_ARGUMENT, "def", "def: must come from cr_batch_def()");
    if (def->model == NULL) return cr__missing(error, "model");
    if (def->count < 1)
        return cr_error_set(error, CR_ERR_RANGE, "count", "count: is %d, must be >= 1", def->count);
    if (cr_backend_name(def->backend) == NULL)
        return cr_error_set(error, CR_ERR_NAME, "backend", "backend: there is none with number %d",
                            (int)def->backend);
    if (def->threads < 1 || def->threads > MOST)
        return cr_error_set(error, CR_ERR_RANGE, "threads", "threads: is %d, must be in [1, %d]",
                            def->threads, MOST);
    if (def->hits < 0)
        return cr_error_set(error, CR_ERR_RANGE, "hits", "hits: is %d, must be >= 0", def->hits);
    if (def->device < 0)
        return cr_error_set(error, CR_ERR_RANGE, "device", "device: is %d, must be >= 0", def->device);
    if (def->step.threads > 1)
        return cr_error_set(error, CR_ERR_RANGE, "step.threads",
                            "step.threads: is %d, must be 1: threads of a batch share out its worlds",
                            def->step.threads);
    if (def->step.error != 0.0)
        return cr_error_set(error, CR_ERR_RANGE, "step.error",
                            "step.error: is %g, must be 0: steps of a batch are dt long", def->step.error);
    if (def->model->na > 0)
        return cr_error_set(error, CR_ERR_ARGUMENT, "model",
                            "model: %d actuators have an activation; a batch keeps none", def->model->na);
    return cr__check_allocator(def->allocator, error);
}

// an odd number of lines: words of one world do not fall into one set of a cache
static size_t stride_for(int count) {
    size_t lines = ((size_t)count + LINE - 1) / LINE;
    return LINE * (lines | 1);
}

// room for contacts of a small world; records grow where it is not enough
static int first_room(const crModel* model) {
    int bodies = model->nb < 16 ? model->nb : 16;
    return 4 * bodies;
}

static crStatus make_records(crBatch* batch, crError* error) {
    crBatchJob* job = &batch->job;
    crBatchLane* lane = &batch->lanes[0];
    crWorldDef def = cr_world_def();
    def.model = job->model;
    def.step = job->settings;
    def.allocator = &batch->allocator;
    crStatus status = cr_world_create(&def, &lane->world, error);
    if (status != CR_OK) return status;
    cr__lone_prepare(lane->world, &lane->lone);
    job->lone = lane->lone;
    batch->model_hash = lane->world->model_hash;
    batch->settings_hash = lane->world->settings_hash;
    job->stride = stride_for(batch->count);
    job->layout = cr__record_layout(lane->world);
    cr__record_room(&job->layout, first_room(job->model));
    job->words =
        cr__batch_zeros(&batch->allocator, (size_t)job->layout.words * job->stride, sizeof(uint64_t));
    if (job->words == NULL) return cr__batch_memory(error);
    for (int i = 0; i < batch->count; i++) {
        cr__record_store(&job->layout, cr__batch_record(batch, i), lane->world);
    }
    return CR_OK;
}

static crStatus make_batch_arrays(crBatch* batch) {
    const crAllocator* a = &batch->allocator;
    size_t count = (size_t)batch->count;
    batch->job.results = cr__batch_zeros(a, count, sizeof *batch->job.results);
    batch->job.made = cr__batch_zeros(a, count, sizeof *batch->job.made);
    batch->list = cr__batch_zeros(a, count, sizeof *batch->list);
    batch->turn = cr__batch_zeros(a, count, sizeof *batch->turn);
    batch->unfinished = cr__batch_zeros(a, count, sizeof *batch->unfinished);
    batch->lanes = cr__batch_zeros(a, (size_t)batch->lane_count, sizeof *batch->lanes);
    bool ok = batch->job.results != NULL && batch->job.made != NULL && batch->list != NULL &&
              batch->turn != NULL && batch->unfinished != NULL && batch->lanes != NULL;
    if (ok && batch->job.hit_room > 0) {
        batch->job.logs = cr__batch_zeros(a, count, sizeof *batch->job.logs);
        batch->job.hits = cr__batch_zeros(a, count * (size_t)batch->job.hit_room, sizeof *batch->job.hits);
        ok = batch->job.logs != NULL && batch->job.hits != NULL;
    }
    for (int i = 0; ok && i < batch->lane_count; i++) {
        batch->lanes[i].allocator = *a;
    }
    return ok ? cr__tasks_create(a, batch->lane_count, &batch->tasks) : CR_ERR_MEMORY;
}

crStatus cr_batch_create(const crBatchDef* def, crBatch** batch, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    *batch = NULL;
    if (def == NULL) return cr__missing(error, "def");
    crStatus status = check_def(def, error);
    if (status != CR_OK) return status;
    crAllocator a = def->allocator != NULL ? *def->allocator : cr_allocator_libc();
    crBatch* made = a.alloc(a.ctx, sizeof *made);
    if (made == NULL) return cr__batch_memory(error);
    *made = (crBatch){.allocator = a, .backend = def->backend, .count = def->count};
    made->job.model = def->model;
    made->job.settings = def->step;
    made->job.hit_room = def->hits;
    made->lane_count = def->backend == CR_BACKEND_SERIAL ? 1 : def->threads;
    status = make_batch_arrays(made) == CR_OK ? CR_OK : cr__batch_memory(error);
    if (status == CR_OK) status = make_records(made, error);
    if (status == CR_OK && def->backend == CR_BACKEND_GPU) status = cr__gpu_create(made, def, error);
    if (status != CR_OK) {
        cr_batch_destroy(made);
        return status;
    }
    *batch = made;
    return CR_OK;
}

void cr_batch_destroy(crBatch* batch) {
    if (batch == NULL) return;
    crAllocator a = batch->allocator;
    crBatchJob* job = &batch->job;
    size_t count = (size_t)batch->count;
    cr__gpu_destroy(batch);
    cr__tasks_destroy(batch->tasks);
    for (int i = 0; batch->lanes != NULL && i < batch->lane_count; i++) {
        cr__lane_destroy(&batch->lanes[i]);
    }
    cr__batch_give(&a, batch->lanes, (size_t)batch->lane_count * sizeof *batch->lanes);
    cr__batch_give(&a, batch->list, count * sizeof *batch->list);
    cr__batch_give(&a, batch->turn, count * sizeof *batch->turn);
    cr__batch_give(&a, batch->unfinished, count * sizeof *batch->unfinished);
    cr__batch_give(&a, job->results, count * sizeof *job->results);
    cr__batch_give(&a, job->made, count * sizeof *job->made);
    cr__batch_give(&a, job->logs, count * sizeof *job->logs);
    cr__batch_give(&a, job->hits, count * (size_t)job->hit_room * sizeof *job->hits);
    cr__batch_give(&a, (void*)job->varied, (size_t)batch->varied_capacity * sizeof *job->varied);
    cr__batch_give(&a, (void*)job->values,
                   (size_t)batch->varied_capacity * job->stride * sizeof *job->values);
    cr__batch_give(&a, job->words, cr__batch_bytes(batch));
    a.free(a.ctx, batch, sizeof *batch);
}

// the call that the job says
static crStatus run_job(crBatch* batch, crError* error) {
    crBatchJob* job = &batch->job;
    if (batch->gpu != NULL) return cr__gpu_run(batch, error);
    for (int i = 0; i < batch->count; i++) {
        job->results[i] = (crBatchResult){0};
        job->made[i] = 0;
        if (job->logs != NULL) job->logs[i] = (crHitLog){.time = -1.0};
    }
    return cr__batch_host(batch, NULL, batch->count, error);
}

crStatus cr_batch_step(crBatch* batch, double h, int steps, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if (!(h > 0.0) || !isfinite(h))
        return cr_error_set(error, CR_ERR_RANGE, "h", "h: is %g, must be finite and > 0", h);
    if (steps < 0) return cr_error_set(error, CR_ERR_RANGE, "steps", "steps: is %d, must be >= 0", steps);
    crBatchJob* job = &batch->job;
    job->h = h;
    job->steps = steps;
    return run_job(batch, error);
}

static crStatus check_path(const crBatch* batch, const crBatchPath* path, crError* error) {
    if (path->samples < 1)
        return cr_error_set(error, CR_ERR_RANGE, "samples", "samples: is %d, must be >= 1", path->samples);
    if (path->h == NULL) return cr__missing(error, "h");
    if (path->steps == NULL) return cr__missing(error, "steps");
    for (int i = 0; i < batch->count; i++) {
        int64_t all = 0;
        for (int k = 0; k < path->samples; k++) {
            size_t at = (size_t)i * (size_t)path->samples + (size_t)k;
            all += path->steps[at];
            if (path->steps[at] < 0 || all > INT32_MAX)
                return cr_error_set(
                    error, CR_ERR_RANGE, "steps",
                    "steps: is %d before sample %d of world %d, must be >= 0 and below 2^31 in all",
                    path->steps[at], k, i);
            if (path->steps[at] > 0 && !(path->h[at] > 0.0 && isfinite(path->h[at])))
                return cr_error_set(error, CR_ERR_RANGE, "h",
                                    "h: is %g before sample %d of world %d, must be finite and > 0",
                                    path->h[at], k, i);
        }
    }
    return CR_OK;
}

crStatus cr_batch_follow(crBatch* batch, const crBatchPath* path, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if (path == NULL) return cr__missing(error, "path");
    crStatus status = check_path(batch, path, error);
    if (status != CR_OK) return status;
    batch->job.path = *path;
    status = run_job(batch, error);
    // the caller's array is his own from here on
    if (status == CR_OK && path->q != NULL) status = cr__gpu_pull(batch, error);
    batch->job.path = (crBatchPath){0};
    return status;
}
