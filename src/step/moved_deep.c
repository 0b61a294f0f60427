// moved_deep.c - pairs that a step with short steps leaves too deep are pushed out.
//
// Short steps use the contacts of the beginning of the step. A light body between heavy ones may turn by a
// quarter of a radian in a step, and its corners are then inside its neighbours. Bodies of pairs deeper than
// CR_MOVED_DEEP of the narrower body's width, and bodies within HOPS contacts of them, go through the position
// pass; all others are fixed. Bodies that the pass lifts by more energy than they lost are moved back
// (lift.c). Pairs that are still too deep, and those of bodies that were moved back, go to moved_apart.c. The
// certificate states the overlap that is left.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "step/audit.h"
#include "step/moving.h"
#include "step/position.h"

#define HOPS   2    // contacts between a deep pair and a body that the pass moves, at most
#define COARSE 0.5  // overlap that the pass may leave, share of CR_MOVED_DEEP

// true if the pass may move a body: short steps moved it, it is single, and no loop holds it
static bool is_free(const crStep* step, const crMoved* moved, int b) {
    const crPlan* plan = step->plan;
    return moved->body[b] && step->model->bodies[b].single && plan->tie.first[b + 1] == plan->tie.first[b];
}

// Removes bodies that the pass may not move from `deep`, and adds bodies within HOPS contacts of the rest. A
// contact counts if its gap at the beginning was at most CR_MOVED_DEEP of the smaller body's size.
static void widen_deep(const crStep* step, const crMoved* moved, bool* deep, bool* before) {
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

// Runs the position pass from the contacts of the beginning, bodies of `stands` fixed, and limits its lift.
static crStatus push_deep(crStep* step, double h, const crMoved* moved, const crPositionList* start,
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
    bool* back = cr_arena_alloc(&step->scratch, (size_t)step->model->nb);
    if (back == NULL) return cr__step_memory(error);
    return cr__step_limit_lift(step, h, q, true, NULL, back) == CR_OK ? CR_OK : cr__step_memory(error);
}

// true if the set holds a body
static bool is_any(const crStep* step, const bool* set) {
    return memchr(set, true, (size_t)step->model->nb * sizeof *set) != NULL;
}

// Runs the position pass around the bodies of deep pairs in `deep`, and marks bodies of pairs that are still too
// deep there. Sets *depth to a bound of the overlap that is left.
static crStatus push_around(crStep* step, double h, const crMoved* moved, const crPositionList* start,
                            bool* deep, double* depth, crError* error) {
    size_t nb = (size_t)step->model->nb;
    double overlap = step->certificate.penetration;
    bool* around = cr_arena_alloc(&step->scratch, nb);
    bool* stands = cr_arena_alloc(&step->scratch, nb);
    if (around == NULL || stands == NULL) return cr__step_memory(error);
    memcpy(around, deep, nb);
    widen_deep(step, moved, around, stands);
    if (!is_any(step, around)) return CR_OK;
    for (size_t b = 0; b < nb; b++) {
        stands[b] = !around[b];
    }
    crStatus status = push_deep(step, h, moved, start, stands, error);
    step->certificate.penetration = overlap;
    return status == CR_OK ? cr__audit_moved_overlap(step, moved, deep, depth, error) : status;
}

crStatus cr__step_end_moved(crStep* step, double h, const crMoved* moved, const crPositionList* start,
                            const bool* back, crError* error) {
    if (moved->body == NULL) return CR_OK;
    double* overlap = &step->certificate.penetration;
    bool* deep = cr_arena_alloc(&step->scratch, (size_t)step->model->nb);
    if (deep == NULL) return cr__step_memory(error);
    double depth;
    crStatus status = cr__audit_moved_overlap(step, moved, deep, &depth, error);
    if (status == CR_OK && is_any(step, deep))
        status = push_around(step, h, moved, start, deep, &depth, error);
    // true if the bound is that of pairs that are about to be moved apart
    bool left = is_any(step, deep);
    for (int b = 0; b < step->model->nb; b++) {
        deep[b] = deep[b] || back[b];
    }
    if (status == CR_OK && is_any(step, deep)) {
        status = cr__moved_apart(step, h, moved, deep, error);
        *overlap = fmax(*overlap, cr__audit_overlap_of(step, deep));
        if (status == CR_OK && left) status = cr__audit_moved_overlap(step, moved, NULL, &depth, error);
    }
    if (status == CR_OK) *overlap = fmax(*overlap, depth);
    return status;
}
