// moved_deep.c - pairs that short steps leave too deep are pushed out.
//
// Short steps see the contacts that a step begins with. A light body between heavy ones may turn by a quarter of a radian
// meanwhile, and its corners then stand in its neighbours. Bodies of pairs that are deeper than CR_MOVED_DEEP of the smaller
// one's size, and those within HOPS contacts of them, go through the position pass; all others stand. Bodies that it lifts by
// more energy than they have lost go back (lift.c). What overlap is left stands in the certificate.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/moving.h"
#include "step/position.h"

#define HOPS   2
#define COARSE 0.5  // of CR_MOVED_DEEP: what may be left

// true if the pass may move a body: short steps moved it, and no other body or loop holds it
static bool is_free(const crStep* step, const crMoved* moved, int b) {
    const crPlan* plan = step->plan;
    return moved->body[b] && step->model->bodies[b].single && plan->first_tie[b + 1] == plan->first_tie[b];
}

// Leaves the deep bodies that may be moved, and adds those within HOPS contacts of them. A contact counts if its gap is small.
static void hop_on(const crStep* step, const crMoved* moved, bool* deep, bool* before) {
    for (int b = 0; b < step->model->nb; b++) {
        deep[b] = deep[b] && is_free(step, moved, b);
    }
    for (int hop = 0; hop < HOPS; hop++) {
        memcpy(before, deep, (size_t)step->model->nb);
        for (int i = 0; i < moved->near_count; i++) {
            const crStepContact* c = &moved->near[i];
            double size = cr__plan_pair_size(step->plan, c->body_a, c->body_b);
            if (before[c->body_a] == before[c->body_b] || c->point.gap > CR_MOVED_DEEP * size) continue;
            deep[c->body_a] = is_free(step, moved, c->body_a);
            deep[c->body_b] = is_free(step, moved, c->body_b);
        }
    }
}

// Deep bodies are pushed out from the contacts of the beginning; no more of it stays than energy allows.
static crStatus push_out(crStep* step, double h, const crMoved* moved, const crPositionList* start,
                         const bool* stands, crError* error) {
    crPositionList list = *start;
    list.contacts = moved->near;
    list.count = moved->near_count;
    size_t bytes = (size_t)step->model->nq * sizeof(double);
    double* q = cr_arena_alloc(&step->scratch, bytes + sizeof *q);
    if (q == NULL) return cr__step_memory(error);
    memcpy(q, step->state.q, bytes);
    crStatus status = cr__step_position_pass(step, &list, NULL, stands, COARSE * CR_MOVED_DEEP, error);
    if (status != CR_OK) return status;
    return cr__step_limit_lift(step, h, q, true) == CR_OK ? CR_OK : cr__step_memory(error);
}

crStatus cr__step_end_moved(crStep* step, double h, const crMoved* moved, const crPositionList* start,
                            crError* error) {
    if (moved->body == NULL) return CR_OK;
    int nb = step->model->nb;
    double overlap = step->certificate.penetration;
    bool any = false, *deep = cr_arena_alloc(&step->scratch, (size_t)nb);
    bool* stands = cr_arena_alloc(&step->scratch, (size_t)nb);
    if (deep == NULL || stands == NULL) return cr__step_memory(error);
    double depth = cr__audit_moved_overlap(step, moved, deep);
    if (depth < 0.0) return cr__step_memory(error);
    hop_on(step, moved, deep, stands);
    for (int b = 0; b < nb; b++) {
        stands[b] = !deep[b];
        any = any || !stands[b];
    }
    crStatus status = any ? push_out(step, h, moved, start, stands, error) : CR_OK;
    if (any && status == CR_OK) depth = cr__audit_moved_overlap(step, moved, NULL);
    step->certificate.penetration = fmax(overlap, depth);
    return status;
}
