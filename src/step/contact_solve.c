// contact_solve.c - every contact that may press over h, as one problem: build, solve, apply.
//
// Contacts that will be impacts take no part; open gaps take part once the solution would overlap them.
// Fails: as its stages do. A solution that still overlaps something after ROUNDS is left to the position pass.
#include <string.h>

#include "step/cache.h"

#define ROUNDS 10  // of adding contacts that a solution overlaps

// whether a contact that is open, or leaving, will touch at more than the threshold: an impact, not of this
// solve
bool cr__step_meets_fast(const crStep* step, const crStepContact* c) {
    crVec3 fall = cr_sub(cr__step_fall(step, c->body_b), cr__step_fall(step, c->body_a));
    double gap = fmax(0.0, c->point.gap);
    return c->speed * c->speed - 2.0 * gap * cr_dot(fall, c->point.normal) > c->fast * c->fast;
}

// contacts that may press: touching and not leaving, or closed by the end of h at velocities v
static void choose(crStep* step, double h, const double* v, bool plastic, bool* takes) {
    crDynamics* d = &step->dynamics;
    cr__part_velocity(step->model, cr__step_part(step), v, d);
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        crVec3 u = cr_sub(cr_model_point_velocity(d, c->body_b, c->point.point),
                          cr_model_point_velocity(d, c->body_a, c->point.point));
        bool closes = c->point.gap - c->delta + h * cr_dot(u, c->point.normal) <= 0.0;
        bool touching = c->point.gap <= c->delta && c->speed < c->fast;
        if (touching || (closes && (plastic || !cr__step_meets_fast(step, c)))) takes[i] = true;
    }
}

// bodies that the solve may carry do not fly: what lands softly ends at rest on the surface, not half a fall
// below
static void support(crStep* step, const bool* takes) {
    for (int i = 0; i < step->contact_count; i++) {
        if (!takes[i]) continue;
        step->airborne[step->contacts[i].body_a] = false;
        step->airborne[step->contacts[i].body_b] = false;
    }
}

static int count_set(const bool* takes, int count) {
    int set = 0;
    for (int i = 0; i < count; i++) {
        set += takes[i];
    }
    return set;
}

// build, solve and apply, with contacts added until the solution overlaps none
crStatus cr__step_contact_solve(crStep* step, double h, bool plastic, crError* error) {
    bool* takes = cr_arena_alloc(&step->scratch, (size_t)(step->contact_count + 1) * sizeof *takes);
    if (takes == NULL) return cr__step_memory(error);
    memset(takes, 0, (size_t)(step->contact_count + 1) * sizeof *takes);
    choose(step, h, step->v_free, plastic, takes);
    crStatus status = CR_OK;
    for (int round = 0; round < ROUNDS && status == CR_OK; round++) {
        int before = count_set(takes, step->contact_count);
        support(step, takes);
        status = cr_step_problem_build(step, h, takes, error);
        if (status == CR_OK) status = cr_step_solve(step, error);
        if (status == CR_OK) status = cr_step_apply(step, error);
        if (status != CR_OK) return status;
        choose(step, h, step->state.v, plastic, takes);
        if (count_set(takes, step->contact_count) == before) break;
    }
    return status;
}
