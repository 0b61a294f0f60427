// step_moreau.c - the theta method of Moreau and Jean: contacts at velocity level with Newton's restitution.
//
//     q+ = q + h (theta v+ + (1 - theta) v),    contact active if gap(q + a h v) <= 0, a = 1/2 by default,
//     0 <= u_n+ + e u_n- _|_ p_n >= 0, friction against u_t+
//
// Contacts, their frames and the M of impulses are those at q + a h v; v_free = v + h M^-1 k is that at q.
// Slip is that of the two witness points, so that a body's arm does not depend on the overlap. Overlap is not
// removed, but measured by the audit. A single body turns with its angular momentum kept (see model.h).
// Fails: as its stages do.
#include <string.h>

#include "model/spatial.h"
#include "step/lcp_problem.h"
#include "step/posed.h"

// Finds dynamics and contacts at q + a h v, and restores q.
static crStatus collide_ahead(crStep* step, double h, double* q, crError* error) {
    const crModel* model = step->model;
    double time = step->state.time, ahead = step->settings.activation * h;
    memcpy(q, step->state.q, (size_t)model->nq * sizeof(double));
    cr__advance(model, ahead, step->state.v, step->state.q);
    step->state.time = time + ahead;
    cr_model_kinematics(model, &step->state, &step->dynamics);
    crStatus status = cr_model_mass_factor(model, h, &step->dynamics);
    if (status == CR_OK) status = cr_step_collide(step, 0.0, error);
    memcpy(step->state.q, q, (size_t)model->nq * sizeof(double));
    step->state.time = time;
    return status;
}

// Sets b = e u_n- of contacts, without their gaps.
static void newton_bias(const crStepPosed* posed, const crStepContact* contacts) {
    for (int i = 0; i < posed->problem.block_count; i++) {
        const crBlock* block = &posed->problem.blocks[i];
        if (block->source < 0) continue;
        const crStepContact* c = &contacts[block->source];
        posed->b[block->row] = c->e * c->speed;
    }
}

static void integrate_theta(const crModel* model, double theta, double h, const double* before,
                            crState* state, double* after) {
    double* v = state->v;
    memcpy(after, v, (size_t)model->nv * sizeof(double));
    for (int j = 0; j < model->nv; j++) {
        const crBody* body = &model->bodies[model->velocity.body[j]];
        if (body->single && j >= body->v + 3) continue;
        v[j] = theta * after[j] + (1.0 - theta) * before[j];
    }
    cr_model_integrate(model, h, state);
    for (int j = 0; j < model->nv; j++) {
        const crBody* body = &model->bodies[model->velocity.body[j]];
        if (!body->single || j < body->v + 3) v[j] = after[j];
    }
}

crStatus cr_step_moreau(crStep* step, double h, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    crStatus status = cr_step_begin(step, error);
    if (status != CR_OK) return status;
    double *q, *after;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(q, step->model->nq), CR_ROOM(after, step->model->nv)))
        return cr__step_memory(error);
    status = cr_step_forces(step, h, error);
    if (status == CR_OK) status = collide_ahead(step, h, q, error);
    if (status == CR_OK) status = cr_step_drag(step, h, error);
    if (status == CR_OK) status = cr_step_problem_build(step, h, NULL, error);
    const crProblem* posed = &step->posed.problem;
    if (status == CR_OK &&
        cr__step_pose_arms(step, &step->scratch, posed->blocks, posed->vertices, &step->posed) != CR_OK)
        status = cr__step_memory(error);
    if (status == CR_OK) newton_bias(&step->posed, step->contacts.list);
    if (status == CR_OK) status = cr_step_solve(step, error);
    if (status == CR_OK) status = cr__step_show_problem(step, h, false, error);
    if (status == CR_OK) status = cr_step_apply(step, error);
    if (status == CR_OK)
        status = cr__step_log_struck(step, step->state.v, &step->scratch, &step->events, error);
    if (status == CR_OK)
        integrate_theta(step->model, step->settings.theta, h, step->start.v, &step->state, after);
    return status == CR_OK ? cr_step_finite(step, error) : status;
}
