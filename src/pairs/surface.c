// surface.c - surfaces of pairs of materials, made when shapes of both first make a pair.
//
// A contact whose coefficients depend on the impact gets a surface of its own if they differ from those
// at rest.
// Fails: CR_ERR_MEMORY, CR_ERR_LIMIT (CR_SURFACES), errors of cr_model_surface.
#include "base/room.h"
#include "pairs/pairs.h"

static bool depends(const crSurface* s) { return s->e_of_speed != NULL || s->by_impact != NULL; }

static bool depends_on_impact(const crModel* model, int a, int b) {
    bool by_speed = depends(&model->materials[a].surface) || depends(&model->materials[b].surface);
    for (int i = 0; i < model->pair_count; i++) {
        const crMaterialPair* p = &model->pairs[i];
        bool this = (p->a == a && p->b == b) || (p->a == b && p->b == a);
        if (this) by_speed = depends(&p->surface);
    }
    return by_speed;
}

int cr__pairs_surface(crPairs* pairs, int a, int b) {
    const crModel* model = pairs->plan->model;
    int* index = &pairs->materials.surface[a * model->material_count + b];
    if (*index >= 0) return *index;
    if (pairs->materials.count == (int)CR_SURFACES) return CR_ERR_LIMIT;
    crStatus status = CR_GROW(&pairs->allocator, pairs->surfaces, pairs->materials.capacity,
                              pairs->materials.count, pairs->materials.count + 1);
    if (status != CR_OK) return status;
    crNearSurface made = {.material_a = a, .material_b = b, .by_speed = depends_on_impact(model, a, b)};
    status = cr_model_surface(model, a, b, 0.0, &made.at_rest);
    if (status != CR_OK) return status;
    crNearSurface* kept = pairs->allocator.alloc(pairs->allocator.ctx, sizeof *kept);
    if (kept == NULL) return CR_ERR_MEMORY;
    const crSurface* s = &made.at_rest.surface;
    made.bounces = made.by_speed || s->e != 0.0 || (pairs->materials.reads_et && s->et != 0.0);
    pairs->bouncing = pairs->bouncing || made.bounces;
    pairs->by_impact = pairs->by_impact || made.by_speed;
    *kept = made;
    pairs->surfaces[pairs->materials.count] = kept;
    *index = pairs->materials.count++;
    return *index;
}

static bool same_friction(const crSurface* a, const crSurface* b) {
    return a->mu == b->mu && a->mu2 == b->mu2 && a->et == b->et;
}

crStatus cr__pairs_surface_at(crPairs* pairs, int surface, const crApproach* approach,
                              const crContactSurface** out) {
    const crNearSurface* known = pairs->surfaces[surface];
    crContactSurface now;
    *out = &known->at_rest;
    if (!known->by_speed) return CR_OK;
    crStatus status =
        cr_model_surface_at(pairs->plan->model, known->material_a, known->material_b, approach, &now);
    if (status != CR_OK) return status;
    if (same_friction(&now.surface, &known->at_rest.surface) && now.surface.e == known->at_rest.surface.e)
        return CR_OK;
    crContactSurface* own = cr_arena_alloc(&pairs->materials.at_impact, sizeof *own);
    if (own == NULL) return CR_ERR_MEMORY;
    *own = now;
    *out = own;
    return CR_OK;
}

crStatus cr__pairs_forget(crPairs* pairs) { return cr_arena_reset(&pairs->materials.at_impact); }
