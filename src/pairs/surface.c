// surface.c - surfaces of pairs of materials, made when shapes of both first come near.
//
// Fails: CR_ERR_MEMORY; what the materials say.
#include "base/room.h"
#include "pairs/pairs.h"

static bool depends_on_speed(const crModel* model, int a, int b) {
    bool by_speed =
        model->materials[a].surface.e_of_speed != NULL || model->materials[b].surface.e_of_speed != NULL;
    for (int i = 0; i < model->pair_count; i++) {
        const crMaterialPair* p = &model->pairs[i];
        bool this = (p->a == a && p->b == b) || (p->a == b && p->b == a);
        if (this) by_speed = p->surface.e_of_speed != NULL;
    }
    return by_speed;
}

int cr__pairs_surface(crPairs* pairs, int a, int b) {
    const crModel* model = pairs->plan->model;
    int* index = &pairs->surface_of[a * model->material_count + b];
    if (*index >= 0) return *index;
    void* surfaces = pairs->surfaces;
    crStatus status = cr__grow(&pairs->allocator, &surfaces, &pairs->surface_capacity, pairs->surface_count,
                               pairs->surface_count + 1, sizeof *pairs->surfaces);
    pairs->surfaces = surfaces;
    if (status != CR_OK) return status;
    crNearSurface made = {.material_a = a, .material_b = b, .by_speed = depends_on_speed(model, a, b)};
    status = cr_model_surface(model, a, b, 0.0, &made.at_rest);
    if (status != CR_OK) return status;
    crNearSurface* kept = pairs->allocator.alloc(pairs->allocator.ctx, sizeof *kept);
    if (kept == NULL) return CR_ERR_MEMORY;
    const crSurface* s = &made.at_rest.surface;
    made.bounces = made.by_speed || s->e != 0.0 || (pairs->reads_et && s->et != 0.0);
    pairs->bouncing = pairs->bouncing || made.bounces;
    *kept = made;
    pairs->surfaces[pairs->surface_count] = kept;
    *index = pairs->surface_count++;
    return *index;
}
