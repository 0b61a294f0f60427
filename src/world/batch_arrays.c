// batch_arrays.c - what goes into the worlds of a batch and comes out of them: arrays, varied numbers, worlds, results.
//
// Sums over worlds are made in the order of worlds. Fails: arguments by name, CR_ERR_MEMORY; nothing is changed then.
#include <string.h>

#include "base/argument.h"
#include "carom/forms.h"
#include "world/batch.h"

#define FIRST 4  // columns of varied numbers at first

static crStatus check_array(const crBatch* batch, crBatchArray array, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if ((unsigned)array < CR_BATCH_ARRAYS) return CR_OK;
    return cr_error_set(error, CR_ERR_NAME, "array", "array: there is none with number %d", (int)array);
}

static crStatus check_index(const crBatch* batch, int index, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if (index >= 0 && index < batch->count) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "index", "index: is %d, must be in [0, %d]", index,
                        batch->count - 1);
}

int cr_batch_count(const crBatch* batch) { return batch != NULL ? batch->count : 0; }

int cr_batch_width(const crBatch* batch, crBatchArray array) {
    return check_array(batch, array, NULL) == CR_OK ? batch->job.layout.width[array] : 0;
}

static uint64_t* first_word(const crBatch* batch, crBatchArray array, int k) {
    return batch->job.words + (size_t)(batch->job.layout.at[array] + k) * batch->job.stride;
}

crStatus cr_batch_read(crBatch* batch, crBatchArray array, double* out, crError* error) {
    crStatus status = check_array(batch, array, error);
    if (status != CR_OK) return status;
    if (out == NULL) return cr__missing(error, "out");
    status = cr__gpu_pull(batch, error);
    int width = batch->job.layout.width[array];
    for (int k = 0; k < width && status == CR_OK; k++) {
        const uint64_t* words = first_word(batch, array, k);
        for (int i = 0; i < batch->count; i++) {
            memcpy(&out[(size_t)i * (size_t)width + (size_t)k], &words[i], sizeof *out);
        }
    }
    return status;
}

crStatus cr_batch_write(crBatch* batch, crBatchArray array, const double* rows, const bool* takes,
                        crError* error) {
    crStatus status = check_array(batch, array, error);
    if (status != CR_OK) return status;
    if (rows == NULL) return cr__missing(error, "rows");
    status = cr__gpu_pull(batch, error);
    if (status != CR_OK) return status;
    int width = batch->job.layout.width[array];
    for (int k = 0; k < width; k++) {
        uint64_t* words = first_word(batch, array, k);
        for (int i = 0; i < batch->count; i++) {
            if (takes != NULL && !takes[i]) continue;
            memcpy(&words[i], &rows[(size_t)i * (size_t)width + (size_t)k], sizeof *words);
        }
    }
    cr__gpu_written_words(batch, batch->job.layout.at[array], width);
    return CR_OK;
}

crBatchView cr_batch_view(crBatch* batch, crBatchArray array) {
    if (check_array(batch, array, NULL) != CR_OK) return (crBatchView){0};
    uint64_t* words = batch->job.words;
    if (cr__gpu_words(batch, &words, NULL) != CR_OK) return (crBatchView){0};
    const crRecordLayout* layout = &batch->job.layout;
    words += (size_t)layout->at[array] * batch->job.stride;
    return (crBatchView){.data = (double*)(void*)words,
                         .rows = batch->count,
                         .width = layout->width[array],
                         .next_world = sizeof *words,
                         .next_number = batch->job.stride * sizeof *words,
                         .device = batch->gpu != NULL};
}

// numbers of the model

const char* cr_vary_name(crVary what) {
    switch (what) {
    case CR_VARY_MASS:
        return "mass";
    case CR_VARY_MU:
        return "mu";
    case CR_VARY_E:
        return "e";
    case CR_VARY_SIZE:
        return "size";
    default:
        return NULL;
    }
}

static crStatus refuse_vary(crVary what, int index, const char* why, crError* error) {
    return cr_error_set(error, CR_ERR_RANGE, "index", "index: %s of %d cannot vary: %s", cr_vary_name(what),
                        index, why);
}

static crStatus check_target(const crModel* model, crVary what, int index, crError* error) {
    int most = (what == CR_VARY_MASS   ? model->nb
                : what == CR_VARY_SIZE ? model->shape_count
                                       : model->material_count) -
               1;
    if (index < 0 || index > most)
        return cr_error_set(error, CR_ERR_RANGE, "index", "index: is %d, must be in [0, %d]", index, most);
    if (what == CR_VARY_MASS && !(model->bodies[index].mass > 0.0 && model->bodies[index].last >= 0))
        return refuse_vary(what, index, "the body has no mass that moves", error);
    if (what == CR_VARY_SIZE && cr_shape_info(model->shapes[index].shape.kind)->sizes == 0)
        return refuse_vary(what, index, "the shape is not given by sizes", error);
    const crSurface* s = what == CR_VARY_MU || what == CR_VARY_E ? &model->materials[index].surface : NULL;
    if (what == CR_VARY_MU && (s->vertex_count > 0 || s->mu != s->mu2))
        return refuse_vary(what, index, "its friction is not round", error);
    if (what == CR_VARY_E && (s->e_of_speed != NULL || (s->by_impact != NULL && s->by_impact->e != NULL)))
        return refuse_vary(what, index, "it depends on the impact", error);
    if (what == CR_VARY_MU && s->by_impact != NULL && s->by_impact->mu != NULL)
        return refuse_vary(what, index, "it depends on the impact", error);
    return CR_OK;
}

static crStatus check_values(const crBatch* batch, crVary what, const double* values, crError* error) {
    bool positive = what == CR_VARY_MASS || what == CR_VARY_SIZE;
    for (int i = 0; i < batch->count; i++) {
        if (isfinite(values[i]) && (values[i] > 0.0 || (values[i] == 0.0 && !positive))) continue;
        return cr_error_set(error, isfinite(values[i]) ? CR_ERR_RANGE : CR_ERR_FINITE, "values",
                            "values: %s of world %d is %g, must be finite and %s 0", cr_vary_name(what), i,
                            values[i], positive ? ">" : ">=");
    }
    return CR_OK;
}

// the column of a number, a new one where there is none
static int find_column(crBatch* batch, crVary what, int index) {
    crBatchJob* job = &batch->job;
    for (int k = 0; k < job->varied_count; k++) {
        if (job->varied[k].what == what && job->varied[k].index == index) return k;
    }
    if (job->varied_count == batch->varied_capacity) {
        const crAllocator* a = &batch->allocator;
        int larger = batch->varied_capacity > 0 ? 2 * batch->varied_capacity : FIRST;
        size_t column = job->stride * sizeof *job->values, was = (size_t)batch->varied_capacity;
        crVaried* varied = a->alloc(a->ctx, (size_t)larger * sizeof *varied);
        double* values = a->alloc(a->ctx, (size_t)larger * column);
        if (varied == NULL || values == NULL) {
            if (varied != NULL) a->free(a->ctx, varied, (size_t)larger * sizeof *varied);
            if (values != NULL) a->free(a->ctx, values, (size_t)larger * column);
            return CR_ERR_MEMORY;
        }
        if (was > 0) {
            memcpy(varied, job->varied, was * sizeof *varied);
            memcpy(values, job->values, was * column);
            a->free(a->ctx, (void*)job->varied, was * sizeof *varied);
            a->free(a->ctx, (void*)job->values, was * column);
        }
        job->varied = varied;
        job->values = values;
        batch->varied_capacity = larger;
    }
    ((crVaried*)job->varied)[job->varied_count] = (crVaried){what, index};
    return job->varied_count++;
}

crStatus cr_batch_vary(crBatch* batch, crVary what, int index, const double* values, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if (cr_vary_name(what) == NULL)
        return cr_error_set(error, CR_ERR_NAME, "what", "what: there is none with number %d", (int)what);
    if (values == NULL) return cr__missing(error, "values");
    crStatus status = check_target(batch->job.model, what, index, error);
    if (status == CR_OK) status = check_values(batch, what, values, error);
    // what the host sends takes the place of all records of a device
    if (status == CR_OK) status = cr__gpu_pull(batch, error);
    if (status != CR_OK) return status;
    int column = find_column(batch, what, index);
    if (column < 0) return cr__batch_memory(error);
    memcpy((double*)batch->job.values + (size_t)column * batch->job.stride, values,
           (size_t)batch->count * sizeof *values);
    cr__gpu_written(batch);
    return CR_OK;
}

// whole models

static bool same_structure(const crModel* x, const crModel* y) {
    bool same = x->nb == y->nb && x->nq == y->nq && x->nv == y->nv && x->nu == y->nu &&
                x->shape_count == y->shape_count && x->material_count == y->material_count &&
                x->loop_count == y->loop_count;
    for (int i = 0; same && i < x->nb; i++) {
        const crBody *a = &x->bodies[i], *b = &y->bodies[i];
        same = a->joint == b->joint && a->parent == b->parent && a->nv == b->nv;
    }
    for (int i = 0; same && i < x->shape_count; i++) {
        same = x->shapes[i].body == y->shapes[i].body && x->shapes[i].shape.kind == y->shapes[i].shape.kind;
    }
    return same;
}

static crStatus check_models(const crBatch* batch, const crModel* const* models, crError* error) {
    for (int i = 0; models != NULL && i < batch->count; i++) {
        if (models[i] == NULL)
            return cr_error_set(error, CR_ERR_ARGUMENT, "models", "models: that of world %d is missing", i);
        if (models[i] != batch->job.model && !same_structure(models[i], batch->job.model))
            return cr_error_set(
                error, CR_ERR_RANGE, "models",
                "models: that of world %d has other bodies, joints, shapes or materials than the "
                "batch's",
                i);
    }
    return CR_OK;
}

crStatus cr_batch_models(crBatch* batch, const crModel* const* models, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    crStatus status = check_models(batch, models, error);
    if (status == CR_OK) status = cr__gpu_pull(batch, error);
    if (status == CR_OK) status = cr__gpu_models(batch, models, error);
    if (status != CR_OK) return status;
    crBatchJob* job = &batch->job;
    // the working worlds are of models that may go
    for (int i = 0; i < batch->lane_count; i++) {
        cr__lane_destroy(&batch->lanes[i]);
    }
    job->models = models;
    crArena arena;
    cr_arena_create(&arena, &batch->allocator, 0);
    for (int i = 0; i < batch->count && status == CR_OK; i++) {
        crState state;
        size_t mark = cr_arena_mark(&arena);
        status = cr_state_create(models != NULL ? models[i] : job->model, &arena, &state);
        if (status == CR_OK) cr__record_begin(&job->layout, cr__batch_record(batch, i), &state);
        cr_arena_release(&arena, mark);
    }
    cr_arena_destroy(&arena);
    cr__gpu_written(batch);
    return status == CR_OK ? CR_OK : cr__batch_memory(error);
}

// whole worlds

// numbers of the model may vary, its sizes not
static crStatus check_world(const crBatch* batch, const crWorld* world, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    crRecordLayout theirs = cr__record_layout(world), ours = batch->job.layout;
    bool varies = batch->job.varied_count > 0 || batch->job.models != NULL;
    bool same = memcmp(theirs.width, ours.width, sizeof ours.width) == 0 &&
                theirs.tie_count == ours.tie_count && theirs.sleep_count == ours.sleep_count &&
                (varies || world->model_hash == batch->model_hash);
    if (!same) return cr_error_set(error, CR_ERR_RANGE, "world", "world: is of another model than the batch");
    if (world->settings_hash != batch->settings_hash)
        return cr_error_set(error, CR_ERR_RANGE, "world",
                            "world: has other settings of the step than the batch");
    return CR_OK;
}

crStatus cr_batch_put(crBatch* batch, int index, const crWorld* world, crError* error) {
    crStatus status = check_index(batch, index, error);
    if (status == CR_OK) status = check_world(batch, world, error);
    if (status == CR_OK) status = cr__gpu_pull(batch, error);
    while (status == CR_OK) {
        crStatus stored = cr__record_store(&batch->job.layout, cr__batch_record(batch, index), world);
        if (stored == CR_OK) break;
        status = cr__batch_grow(batch, error);
    }
    if (status == CR_OK) cr__gpu_written(batch);
    return status;
}

crStatus cr_batch_take(crBatch* batch, int index, crWorld* world, crError* error) {
    crStatus status = check_index(batch, index, error);
    if (status == CR_OK) status = check_world(batch, world, error);
    if (status == CR_OK) status = cr__gpu_pull(batch, error);
    if (status != CR_OK) return status;
    status = cr__record_load(&batch->job.layout, cr__batch_record(batch, index), world);
    if (status != CR_OK) return cr__batch_memory(error);
    cr_model_kinematics(world->step.model, &world->step.state, &world->step.dynamics);
    world->step.contacts.count = 0;
    return CR_OK;
}

// results

crStatus cr_batch_result(crBatch* batch, int index, crBatchResult* result, crError* error) {
    crStatus status = check_index(batch, index, error);
    if (status != CR_OK) return status;
    if (result == NULL) return cr__missing(error, "result");
    status = cr__gpu_pull(batch, error);
    if (status == CR_OK) *result = batch->job.results[index];
    return status;
}

crStatus cr_batch_hits(crBatch* batch, int index, crBatchHit* hits, int* count, int* all, crError* error) {
    crStatus status = check_index(batch, index, error);
    if (status != CR_OK) return status;
    if (hits == NULL) return cr__missing(error, "hits");
    if (count == NULL) return cr__missing(error, "count");
    if (all == NULL) return cr__missing(error, "all");
    const crBatchJob* job = &batch->job;
    if (job->logs == NULL)
        return cr_error_set(error, CR_ERR_RANGE, "hits", "hits: the batch was made to keep none");
    status = cr__gpu_pull(batch, error);
    if (status != CR_OK) return status;
    *count = job->logs[index].count;
    *all = job->logs[index].all;
    if (*count > 0)
        memcpy(hits, job->hits + (size_t)index * (size_t)job->hit_room, (size_t)*count * sizeof *hits);
    return CR_OK;
}

// worst figures and sums as of one certificate more, counts of steps by themselves
static void join(crTally* all, const crTally* one) {
    if (one->steps == 0) return;
    crTally was = *all;
    int solved = was.steps - was.idle, more = one->steps - one->idle;
    cr_tally_add(all, &one->worst);
    all->steps = was.steps + one->steps;
    all->solved = was.solved + one->solved;
    all->near = was.near + one->near;
    all->bounded = was.bounded + one->bounded;
    all->unsure = was.unsure + one->unsure;
    all->failed = was.failed + one->failed;
    all->idle = was.idle + one->idle;
    all->measured = was.measured + one->measured;
    all->unknown = was.unknown + one->unknown;
    all->mean_residual = was.mean_residual;
    if (more > 0)
        all->mean_residual +=
            (one->mean_residual - was.mean_residual) * ((double)more / (double)(solved + more));
}

crStatus cr_batch_summary(crBatch* batch, crBatchSummary* summary, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if (summary == NULL) return cr__missing(error, "summary");
    crStatus status = cr__gpu_pull(batch, error);
    if (status != CR_OK) return status;
    *summary = (crBatchSummary){.worlds = batch->count, .first = -1};
    for (int i = 0; i < batch->count; i++) {
        const crBatchResult* r = &batch->job.results[i];
        if (r->status != CR_OK && summary->failed++ == 0) summary->first = i;
        summary->unsound += r->tally.unsure + r->tally.failed > 0;
        summary->handed += r->handed;
        join(&summary->tally, &r->tally);
    }
    return CR_OK;
}

crStatus cr_batch_hash(crBatch* batch, int index, uint64_t* hash, crError* error) {
    crStatus status = check_index(batch, index, error);
    if (status != CR_OK) return status;
    if (hash == NULL) return cr__missing(error, "hash");
    status = cr__gpu_pull(batch, error);
    if (status == CR_OK) *hash = cr__record_hash(&batch->job.layout, cr__batch_record(batch, index));
    return status;
}

crStatus cr_batch_hash_all(crBatch* batch, uint64_t* hash, crError* error) {
    if (batch == NULL) return cr__missing(error, "batch");
    if (hash == NULL) return cr__missing(error, "hash");
    crStatus status = cr__gpu_pull(batch, error);
    uint64_t all = CR_HASH_SEED;
    for (int i = 0; i < batch->count && status == CR_OK; i++) {
        uint64_t one = cr__record_hash(&batch->job.layout, cr__batch_record(batch, i));
        for (int k = 0; k < 8; k++) {
            unsigned char byte = (unsigned char)(one >> 8 * k & 0xff);
            all = cr_hash(all, &byte, 1);
        }
    }
    if (status == CR_OK) *hash = all;
    return status;
}
