// worlds.c - scenes of one structure through one batch.
//
// The batch is made once, of the nominal scene; models of the scenes that are run are lent to it for a run. Scenes with
// settings or a structure of their own have a batch for themselves.
// Fails: see worlds.h.
#include "fit/worlds.h"

#include <stdlib.h>
#include <string.h>

#define CPU_EACH 4      // scenes at a time, for each thread
#define GPU_ROOM 16384  // and on a device

static bool on_gpu(const crWorldsDevice* device) { return device->backend == CR_BACKEND_GPU; }

int cr__worlds_room(const crWorldsDevice* device, int threads, int scenes) {
    int room = on_gpu(device) ? GPU_ROOM : CPU_EACH * (threads > 1 ? threads : 1);
    return scenes < room ? scenes : room;
}

bool cr__worlds_setting(const char* path) {
    return strncmp(path, "step", 4) == 0 || strncmp(path, "impact", 6) == 0 ||
           strncmp(path, "solver", 6) == 0;
}

void cr__worlds_destroy(crWorlds* worlds) {
    cr_batch_destroy(worlds->batch);
    worlds->batch = NULL;
}

static crStatus make_batch(const crWorlds* w, const crScene* scene, int count, crBatch** batch,
                           crError* error) {
    crBatchDef def = cr_batch_def();
    def.model = scene->model;
    def.step = scene->step;
    def.step.threads = 1;
    def.count = count;
    def.backend = on_gpu(&w->device) ? CR_BACKEND_GPU : CR_BACKEND_THREADS;
    def.threads = w->threads != 0 ? w->threads : 1;
    def.program = w->device.program;
    def.device = w->device.number;
    def.hits = w->hits;
    return cr_batch_create(&def, batch, error);
}

// Arrays of a batch for the scenes of a run from `from` on; worlds beyond them make no step.
typedef struct Rows {
    const crModel** models;  // (room)
    double *q, *v, *time;    // (room*nq), (room*nv), (room)
    double* h;               // (room*samples)
    int* steps;              // likewise
    double* path_q;          // (room*samples*nq)
} Rows;

static void free_rows(Rows* r) {
    free((void*)r->models);
    free(r->q);
    free(r->v);
    free(r->time);
    free(r->h);
    free(r->steps);
    free(r->path_q);
}

static bool make_rows(Rows* r, const crModel* model, int count, int samples, bool keeps_q) {
    size_t n = (size_t)count, all = n * (size_t)samples;
    r->models = malloc(n * sizeof *r->models);
    r->q = calloc(n * (size_t)model->nq + 1, sizeof *r->q);
    r->v = calloc(n * (size_t)model->nv + 1, sizeof *r->v);
    r->time = calloc(n, sizeof *r->time);
    r->h = calloc(all, sizeof *r->h);
    r->steps = calloc(all, sizeof *r->steps);
    if (keeps_q) r->path_q = calloc(all * (size_t)model->nq + 1, sizeof *r->path_q);
    return (r->path_q != NULL || !keeps_q) && r->models != NULL && r->q != NULL && r->v != NULL &&
           r->time != NULL && r->h != NULL && r->steps != NULL;
}

static void fill_rows(Rows* r, const crModel* model, const crWorldsRun* run, int from, int count,
                      int worlds) {
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv, samples = (size_t)run->path.samples;
    for (int i = 0; i < worlds; i++) {
        const crScene* s = i < count ? &run->scenes[from + i] : NULL;
        r->models[i] = s != NULL ? s->model : model;
        memcpy(r->q + (size_t)i * nq, s != NULL ? s->q : model->q0, nq * sizeof(double));
        if (s == NULL) continue;
        memcpy(r->v + (size_t)i * nv, s->v, nv * sizeof(double));
        r->time[i] = s->time;
    }
    memcpy(r->h, run->path.h + (size_t)from * samples, (size_t)count * samples * sizeof *r->h);
    memcpy(r->steps, run->path.steps + (size_t)from * samples, (size_t)count * samples * sizeof *r->steps);
}

// the step that a world failed at, made again for its words
static void explain(crBatch* batch, int i, const crScene* scene, const crBatchPath* path, crError* why) {
    crWorldDef def = cr_world_def();
    def.model = scene->model;
    def.step = scene->step;
    def.step.threads = 1;
    crWorld* world = NULL;
    crBatchResult result;
    if (cr_batch_result(batch, i, &result, why) != CR_OK) return;
    int k = 0, made = result.tally.steps;
    for (size_t at = (size_t)i * (size_t)path->samples; made >= path->steps[at + (size_t)k];) {
        made -= path->steps[at + (size_t)k++];
    }
    double h = path->h[(size_t)i * (size_t)path->samples + (size_t)k];
    if (path->as_dt) def.step.dt = h;
    if (cr_world_create(&def, &world, why) == CR_OK && cr_batch_take(batch, i, world, why) == CR_OK)
        cr_world_run(world, cr_world_state(world)->time + h, why);
    cr_world_destroy(world);
}

static crStatus take_all(crBatch* batch, const crWorldsRun* run, const crBatchPath* path, Rows* rows,
                         int from, int count, int* failed, crError* error) {
    size_t nq = (size_t)cr_batch_width(batch, CR_BATCH_Q), nv = (size_t)cr_batch_width(batch, CR_BATCH_V);
    crStatus status = cr_batch_read(batch, CR_BATCH_Q, rows->q, error);
    if (status == CR_OK) status = cr_batch_read(batch, CR_BATCH_V, rows->v, error);
    if (status == CR_OK) status = cr_batch_read(batch, CR_BATCH_TIME, rows->time, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        crWorldsEnd end = {.batch = batch,
                           .world = i,
                           .time = rows->time[i],
                           .q = rows->q + (size_t)i * nq,
                           .v = rows->v + (size_t)i * nv};
        *failed = from + i;
        status = cr_batch_result(batch, i, &end.result, error);
        if (status != CR_OK) return status;
        if (end.result.status != CR_OK) explain(batch, i, &run->scenes[from + i], path, &end.why);
        end.why.status = end.result.status;
        status = run->take(run->ctx, from + i, &end, error);
    }
    return status;
}

// scenes from..from+count through a batch of `worlds` worlds
static crStatus run_slice(crBatch* batch, const crWorldsRun* run, int from, int count, int* failed,
                          crError* error) {
    int worlds = cr_batch_count(batch);
    const crModel* model = run->scenes[from].model;
    Rows rows = {0};
    *failed = from;
    crStatus status = make_rows(&rows, model, worlds, run->path.samples, run->path.q != NULL)
                          ? CR_OK
                          : cr_error_set(error, CR_ERR_MEMORY, "worlds", "worlds: out of memory");
    if (status == CR_OK) {
        fill_rows(&rows, model, run, from, count, worlds);
        status = cr_batch_models(batch, rows.models, error);
    }
    if (status == CR_OK) status = cr_batch_write(batch, CR_BATCH_Q, rows.q, NULL, error);
    if (status == CR_OK) status = cr_batch_write(batch, CR_BATCH_V, rows.v, NULL, error);
    if (status == CR_OK) status = cr_batch_write(batch, CR_BATCH_TIME, rows.time, NULL, error);
    crBatchPath path = run->path;
    path.h = rows.h;
    path.steps = rows.steps;
    path.q = rows.path_q;
    if (status == CR_OK) status = cr_batch_follow(batch, &path, error);
    if (status == CR_OK && path.q != NULL) {
        size_t row = (size_t)path.samples * (size_t)model->nq;
        memcpy(run->path.q + (size_t)from * row, path.q, (size_t)count * row * sizeof *path.q);
    }
    if (status == CR_OK) status = take_all(batch, run, &path, &rows, from, count, failed, error);
    // models of the scenes may go
    cr_batch_models(batch, NULL, NULL);
    free_rows(&rows);
    return status;
}

static crStatus run_alone(const crWorlds* w, const crWorldsRun* run, int from, int count, int* failed,
                          crError* error) {
    crBatch* batch = NULL;
    *failed = from;
    if (on_gpu(&w->device))
        return cr_error_set(
            error, CR_ERR_RANGE, "device",
            "device: gpu runs scenes that differ in numbers of the model and in the start, not in "
            "settings of the step; use threads");
    crStatus status = make_batch(w, &run->scenes[from], count, &batch, error);
    if (status == CR_OK) status = run_slice(batch, run, from, count, failed, error);
    cr_batch_destroy(batch);
    return status;
}

static bool fits(const crWorlds* w, const crWorldsRun* run, int i) {
    const crModel *x = run->scenes[i].model, *y = w->nominal->model;
    return run->group[i] == 0 && x->nb == y->nb && x->nq == y->nq && x->nv == y->nv && x->nu == y->nu &&
           x->shape_count == y->shape_count && x->material_count == y->material_count &&
           x->loop_count == y->loop_count;
}

crStatus cr__worlds_run(crWorlds* w, const crWorldsRun* run, int* failed, crError* error) {
    crStatus status = CR_OK;
    *failed = 0;
    if (w->batch == NULL && run->count > 0) status = make_batch(w, w->nominal, w->room, &w->batch, error);
    for (int from = 0, to = 0; status == CR_OK && from < run->count; from = to) {
        bool own = !fits(w, run, from);
        // one of a structure of its own is alone
        bool alone = own && run->group[from] == 0;
        to = from + 1;
        while (!alone && to < run->count && run->group[to] == run->group[from] && fits(w, run, to) != own) {
            to++;
        }
        status = own ? run_alone(w, run, from, to - from, failed, error)
                     : run_slice(w->batch, run, from, to - from, failed, error);
    }
    return status;
}
