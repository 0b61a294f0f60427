// filter.c - which shapes may touch: groups and masks, excluded bodies, joints and loops.
//
// Shapes meet where group_a & mask_b or group_b & mask_a has a bit. Excluded pairs of bodies are kept sorted
// and found by bisection. A body does not meet its parent, unless that is the world, nor a body whose points a
// loop ties to its own; joints that follow each other do not keep their bodies apart. Fails: an index that is
// none is refused by name; the refusal sticks to the model.
#include <string.h>

#include "model/spatial.h"
#include "model/store.h"

// first exclusion that is not before (a, b)
static int position(const crModel* model, int a, int b) {
    int low = 0, high = model->exclusion_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const crExclusion* x = &model->exclusions[middle];
        if (x->a < a || (x->a == a && x->b < b)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool excluded(const crModel* model, int a, int b) {
    int lower = a < b ? a : b, upper = a < b ? b : a;
    int at = position(model, lower, upper);
    if (at == model->exclusion_count) return false;
    return model->exclusions[at].a == lower && model->exclusions[at].b == upper;
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
    int at = position(model, a, b);
    memmove(all + at + 1, all + at, (size_t)(count - at) * sizeof *all);
    all[at] = (crExclusion){a, b};
    model->exclusion_count++;
    return CR_OK;
}

static bool tied(const crModel* model, int a, int b) {
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        if (loop->kind == CR_LOOP_JOINT || cr_loop_ranges(loop)) continue;
        if ((loop->a == a && loop->b == b) || (loop->a == b && loop->b == a)) return true;
    }
    return false;
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
