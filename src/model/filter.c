// filter.c - which shapes may touch: groups and masks, excluded bodies, joints and loops.
//
// Shapes meet where group_a & mask_b or group_b & mask_a has a bit. Excluded pairs of bodies and those that
// loops tie are found by their hash. A body does not meet its parent, unless that is the world, nor a body
// whose points a loop ties to its own; joints that follow each other do not keep their bodies apart. Fails:
// an index that is none is refused by name; the refusal sticks to the model.
#include "model/spatial.h"
#include "model/store.h"

static bool is_exclusion(const void* ctx, int item, const void* key) {
    const crExclusion* own = &((const crModel*)ctx)->exclusions[item];
    const crCouple* couple = key;
    return own->a == couple->a && own->b == couple->b;
}

static bool excluded(const crModel* model, int a, int b) {
    if (model->exclusion_count == 0) return false;
    crCouple couple = cr__couple(a, b);
    return cr__index_find(&model->memory->exclusions, cr__couple_hash(&couple), is_exclusion, model,
                          &couple) >= 0;
}

crStatus cr_model_set_filter(crModel* model, int shape, uint64_t group, uint64_t mask) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    if (shape < 0 || shape >= model->shape_count) {
        return cr_error_set(&model->error, CR_ERR_RANGE, "shape", "shape: must be 0 to %d, got %d",
                            model->shape_count - 1, shape);
    }
    model->shapes[shape].group = group;
    model->shapes[shape].mask = mask;
    return CR_OK;
}

crStatus cr_model_exclude(crModel* model, int body_a, int body_b) {
    if (model == NULL) return CR_ERR_MEMORY;
    if (model->error.status != CR_OK) return model->error.status;
    int a = body_a < body_b ? body_a : body_b, b = body_a < body_b ? body_b : body_a;
    if (a < 0 || b >= model->nb) {
        return cr_error_set(&model->error, CR_ERR_RANGE, "body", "body: must be 0 to %d, got %d",
                            model->nb - 1, a < 0 ? a : b);
    }
    if (excluded(model, a, b)) return CR_OK;
    int count = model->exclusion_count;
    crExclusion* all =
        cr__store_reserve(model, STORE_EXCLUSIONS, model->exclusions, count + 1, sizeof(crExclusion));
    if (all == NULL) return cr__store_full(model);
    model->exclusions = all;
    if (!cr__index_reserve(&model->memory->exclusions, &model->allocator)) return cr__store_full(model);
    crCouple couple = {a, b};
    all[count] = (crExclusion){a, b};
    cr__index_add(&model->memory->exclusions, cr__couple_hash(&couple), is_exclusion, model, &couple, count);
    model->exclusion_count++;
    return CR_OK;
}

static bool is_tied(const void* ctx, int item, const void* key) {
    const crLoop* own = &((const crModel*)ctx)->loops[item];
    const crCouple* couple = key;
    return (own->a == couple->a && own->b == couple->b) || (own->a == couple->b && own->b == couple->a);
}

bool cr__reserve_tied(crModel* model) { return cr__index_reserve(&model->memory->tied, &model->allocator); }

void cr__add_tied(crModel* model, int item) {
    const crLoop* loop = &model->loops[item];
    if (loop->kind == CR_LOOP_JOINT || cr_loop_ranges(loop)) return;
    crCouple couple = cr__couple(loop->a, loop->b);
    cr__index_add(&model->memory->tied, cr__couple_hash(&couple), is_tied, model, &couple, item);
}

static bool tied(const crModel* model, int a, int b) {
    if (model->loop_count == 0) return false;
    crCouple couple = cr__couple(a, b);
    return cr__index_find(&model->memory->tied, cr__couple_hash(&couple), is_tied, model, &couple) >= 0;
}

bool cr__meet_but_for_loops(const crModel* model, int shape_a, int shape_b) {
    const crBodyShape* x = &model->shapes[shape_a];
    const crBodyShape* y = &model->shapes[shape_b];
    int a = x->body, b = y->body;
    if (a == b || ((x->group & y->mask) == 0 && (y->group & x->mask) == 0)) return false;
    const crBody* bodies = model->bodies;
    if (a != CR_WORLD && b != CR_WORLD && (bodies[a].parent == b || bodies[b].parent == a)) return false;
    return !excluded(model, a, b);
}

bool cr_model_meet(const crModel* model, int shape_a, int shape_b) {
    if (model == NULL || !cr__shape_exists(model, shape_a) || !cr__shape_exists(model, shape_b)) return false;
    return cr__meet_but_for_loops(model, shape_a, shape_b) &&
           !tied(model, model->shapes[shape_a].body, model->shapes[shape_b].body);
}
