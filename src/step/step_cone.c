// step_cone.c - the default method: exact circular cones, impacts located inside the step.
//
// While the step lasts: impacts at this instant by the rule; else find the next one; move there (or to the
// end) with every other contact solved as one problem. Contacts that will be impacts take no part in that
// solve. The position pass ends the step.
// Fails: as its stages do. More impacts than impact_limit: the rest of the step is plastic and the
// certificate says so.
#include <string.h>

#include "model/spatial.h"
#include "step/step.h"

#define RETRIES 6   // of a substep that went past an impact
#define REPEATS 50  // impacts at one instant

static crStatus substep(crStep* step, double h, bool plastic, crError* error) {
    crStatus status = cr_step_forces(step, h, error);
    if (status == CR_OK) status = cr_step_collide(step, cr_step_reach(step, h), error);
    if (status == CR_OK) status = cr__step_contact_solve(step, h, plastic, error);
    if (status == CR_OK) status = cr_step_integrate(step, h, error);
    return status;
}

// deepest overlap beyond the deadband of a contact that closes fast, and its speed
static double overshoot(crStep* step, double* speed) {
    double worst = 0.0;
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        double depth = -c->point.gap - c->delta;
        if (c->speed >= -c->fast || depth <= worst) continue;
        worst = depth;
        *speed = -c->speed;
    }
    return worst;
}

// a substep to an impact at h; shortened where carried bodies moved otherwise than foreseen and it went too
// far
static crStatus substep_to(crStep* step, double* h, crError* error) {
    const crModel* model = step->model;
    size_t mark = cr_arena_mark(&step->scratch);
    double* q = cr_arena_alloc(&step->scratch, (size_t)model->nq * sizeof(double));
    double* v = cr_arena_alloc(&step->scratch, (size_t)model->nv * sizeof(double));
    if (q == NULL || v == NULL) return cr__step_memory(error);
    memcpy(q, step->state.q, (size_t)model->nq * sizeof(double));
    memcpy(v, step->state.v, (size_t)model->nv * sizeof(double));
    double time = step->state.time;
    int events = step->event_count;
    crStatus status = CR_OK;
    for (int i = 0; i <= RETRIES; i++) {
        status = substep(step, *h, false, error);
        if (status != CR_OK) break;
        cr_model_kinematics(model, &step->state, &step->dynamics);
        status = cr_step_collide(step, 0.0, error);
        double speed = 1.0;
        double depth = status == CR_OK ? overshoot(step, &speed) : 0.0;
        double shorter = *h - depth / speed;
        if (depth <= 0.0 || shorter <= 0.0 || i == RETRIES) break;
        memcpy(step->state.q, q, (size_t)model->nq * sizeof(double));
        memcpy(step->state.v, v, (size_t)model->nv * sizeof(double));
        step->state.time = time;
        step->event_count = events;
        *h = shorter;
    }
    step->contact_count = 0;
    cr_arena_release(&step->scratch, mark);
    return status;
}

// impacts at this instant, one after another while contacts still approach
static crStatus impacts_now(crStep* step, double left, bool* plastic, crError* error) {
    crStatus status = CR_OK;
    int resolved = 1;
    for (int i = 0; resolved > 0 && status == CR_OK; i++) {
        status = cr_step_forces(step, left, error);
        if (status == CR_OK) status = cr_step_collide(step, cr_step_reach(step, left), error);
        *plastic = i >= REPEATS || step->certificate.impacts >= step->settings.impact_limit;
        if (*plastic || status != CR_OK) break;
        status = cr_step_impacts(step, &resolved, error);
    }
    if (*plastic) step->certificate.truncated = true;
    return status;
}

crStatus cr_step_cone(crStep* step, double h, crError* error) {
    double end = step->state.time + h, left = h;
    crStatus status = cr_step_begin(step, error);
    size_t mark = cr_arena_mark(&step->scratch);
    for (int i = 0; left > 0.0 && status == CR_OK; i++) {
        bool plastic = false;
        double t = left;
        cr_arena_release(&step->scratch, mark);
        status = impacts_now(step, left, &plastic, error);
        plastic = plastic || i >= 2 * step->settings.impact_limit;
        bool hit = status == CR_OK && !plastic && cr_step_next_impact(step, left, &t);
        if (status == CR_OK) status = hit ? substep_to(step, &t, error) : substep(step, left, plastic, error);
        left = hit ? left - t : 0.0;
    }
    if (status == CR_OK) status = cr_step_finite(step, error);
    if (status == CR_OK) status = cr__step_position_pass(step, true, error);
    step->state.time = end;
    return status;
}
