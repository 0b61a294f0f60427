// cache.c - memory of what collide and the cone method keep, and what of it the model alone determines.
//
// Fails: CR_ERR_MEMORY; cr__step_cache_destroy frees whatever there is.
#include "step/cache.h"
#include "step/audit.h"

#include <string.h>

static void* zeros(crArena* arena, int count, size_t size) {
    void* memory = cr_arena_alloc(arena, (size_t)(count > 0 ? count : 1) * size);
    if (memory != NULL) memset(memory, 0, (size_t)(count > 0 ? count : 1) * size);
    return memory;
}

static bool make_arrays(crStep* step, crStepCache* cache) {
    const crModel* model = step->model;
    crArena* store = &step->store;
    int nb = model->nb, shapes = model->shape_count, loops = model->loop_count;
    int materials = model->material_count * model->material_count;
    bool ok = (cache->box = zeros(store, shapes, sizeof(crBounds))) != NULL;
    ok = (cache->now = zeros(store, shapes, sizeof(crBounds))) != NULL && ok;
    ok = (cache->trail = zeros(store, nb, sizeof(crTrail))) != NULL && ok;
    ok = (cache->left = zeros(store, nb, sizeof(bool))) != NULL && ok;
    ok = (cache->margin = zeros(store, nb, sizeof(double))) != NULL && ok;
    ok = (cache->first_shape = zeros(store, nb + 1, sizeof(int))) != NULL && ok;
    ok = (cache->body_shapes = zeros(store, shapes, sizeof(int))) != NULL && ok;
    ok = (cache->first_tie = zeros(store, nb + 1, sizeof(int))) != NULL && ok;
    ok = (cache->ties = zeros(store, 2 * loops, sizeof(int))) != NULL && ok;
    ok = (cache->whole = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->whole_loops = zeros(store, loops, sizeof(int))) != NULL && ok;
    ok = (cache->given = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->first_pair = zeros(store, nb + 1, sizeof(int))) != NULL && ok;
    ok = (cache->surface_of = zeros(store, materials, sizeof(int))) != NULL && ok;
    ok = (cache->clock = zeros(store, nb, sizeof(double))) != NULL && ok;
    ok = (cache->blunt = zeros(store, nb, sizeof(bool))) != NULL && ok;
    ok = (cache->hit = zeros(store, nb, sizeof(bool))) != NULL && ok;
    ok = (cache->fresh = zeros(store, nb, sizeof(bool))) != NULL && ok;
    ok = (cache->plain = zeros(store, nb, sizeof(bool))) != NULL && ok;
    ok = (cache->group = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->members = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->next = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->mark = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->list = zeros(store, nb, sizeof(int))) != NULL && ok;
    ok = (cache->column = zeros(store, model->nv, sizeof(int))) != NULL && ok;
    ok = (cache->loops = zeros(store, loops, sizeof(int))) != NULL && ok;
    ok = (cache->drive = zeros(store, nb, sizeof(double))) != NULL && ok;
    ok = (cache->thin = zeros(store, nb, sizeof(double))) != NULL && ok;
    for (int i = 0; ok && i < nb; i++) {
        cache->thin[i] = (double)INFINITY;
    }
    for (int s = 0; ok && s < shapes; s++) {
        cr__audit_thin(&model->shapes[s].shape, &cache->thin[model->shapes[s].body]);
    }
    for (int i = 0; ok && i < materials; i++) {
        cache->surface_of[i] = -1;
    }
    return ok;
}

static void index_shapes(const crModel* model, crStepCache* cache) {
    int* first = cache->first_shape;
    for (int s = 0; s < model->shape_count; s++) {
        first[model->shapes[s].body]++;
    }
    for (int b = 0, sum = 0; b <= model->nb; b++) {
        sum += b < model->nb ? first[b] : 0;
        first[b] = sum;
    }
    for (int s = model->shape_count - 1; s >= 0; s--) {
        cache->body_shapes[--first[model->shapes[s].body]] = s;
    }
}

static void index_ties(const crModel* model, crStepCache* cache) {
    int* first = cache->first_tie;
    for (int i = 0; i < model->loop_count; i++) {
        first[model->loops[i].a]++;
        first[model->loops[i].b]++;
    }
    for (int b = 0, sum = 0; b <= model->nb; b++) {
        sum += b < model->nb ? first[b] : 0;
        first[b] = sum;
    }
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        cache->ties[--first[loop->a]] = i;
        cache->ties[--first[loop->b]] = i;
    }
}

crStatus cr__step_cache_create(crStep* step) {
    const crModel* model = step->model;
    crStepCache* cache = zeros(&step->store, 1, sizeof *cache);
    if (cache == NULL || !make_arrays(step, cache)) return CR_ERR_MEMORY;
    index_shapes(model, cache);
    index_ties(model, cache);
    int rows, entries;
    cr_model_loop_sizes(model, &cache->tie_rows, &cache->tie_entries);
    cr_model_joint_sizes(model, &rows, &entries);
    cache->tie_rows += rows;
    cache->tie_entries += entries;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        // on a driven body, or one itself
        if (!cr__moves(model, b) && body->base != CR_WORLD) cache->given[cache->given_count++] = b;
        if (!body->single) cache->first_single = b + 1;
    }
    step->cache = cache;
    if (cr__step_ties_create(step) != CR_OK) return CR_ERR_MEMORY;
    step->sleep = zeros(&step->store, model->nb, sizeof(crSleep));
    if (step->sleep == NULL) return CR_ERR_MEMORY;
    cr__step_list_awake(step);
    return CR_OK;
}

void cr__step_cache_destroy(crStep* step) {
    crStepCache* cache = step->cache;
    if (cache == NULL) return;
    const crAllocator* a = &step->allocator;
    if (cache->pairs != NULL)
        a->free(a->ctx, cache->pairs, (size_t)cache->pair_capacity * sizeof *cache->pairs);
    if (cache->pair_of != NULL)
        a->free(a->ctx, cache->pair_of, (size_t)cache->pair_of_capacity * sizeof *cache->pair_of);
    if (cache->surfaces != NULL)
        a->free(a->ctx, cache->surfaces, (size_t)cache->surface_capacity * sizeof *cache->surfaces);
    if (cache->record != NULL)
        a->free(a->ctx, cache->record, (size_t)cache->record_capacity * sizeof *cache->record);
    if (cache->due != NULL) a->free(a->ctx, cache->due, (size_t)cache->due_capacity * sizeof *cache->due);
    if (cache->when != NULL) a->free(a->ctx, cache->when, (size_t)cache->when_capacity * sizeof *cache->when);
}
