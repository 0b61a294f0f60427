// smooth.c - the stages without contacts: forces before, motion after, and how far anything can get.
//
// v_free = v + h M^-1 k. Motion is q+ = q + h v+ on the rotation group; bodies in the air move by v+ - h a /
// 2 with a their constant acceleration by gravity, which is the exact parabola whatever h is.
// Fails: CR_ERR_DEFINITE from the factor of M; what the user's force returns; CR_ERR_MEMORY.
#include <string.h>

#include "model/spatial.h"
#include "step/step.h"

crStatus cr_step_forces(crStep* step, double h, crError* error) {
    const crModel* model = step->model;
    crDynamics* d = &step->dynamics;
    step->h = h;
    cr_model_kinematics(model, &step->state, d);
    crStatus status = cr_model_mass_factor(model, h, d);
    if (status != CR_OK) {
        return cr_error_set(error, status, "mass", "mass: a joint has nothing to move in this position");
    }
    cr_model_forces(model, &step->state, d, step->k);
    if (step->force != NULL) {
        status = step->force(step->force_ctx, model, &step->state, d, step->k);
        if (status != CR_OK) return cr_error_set(error, status, "force", "force: %s", cr_status_text(status));
    }
    for (int i = 0; i < model->nv; i++) {
        if (!isfinite(step->k[i])) {
            return cr_error_set(error, CR_ERR_FINITE, "force", "force: the one along velocity %d is %g", i,
                                step->k[i]);
        }
    }
    cr_model_smooth_velocity(model, &step->state, step->k, h, d, step->v_free);
    return CR_OK;
}

// fastest point of any body whose velocities are v
static double top_speed(const crStep* step, const double* v, double fastest) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    for (int i = 1; i < model->nb; i++) {
        crTwist twist = d->given[i];
        for (int j = model->bodies[i].last; j >= 0; j = model->dof_parent[j]) {
            twist = cr__twist_madd(twist, v[j], d->axis[j]);
        }
        crVec3 u = cr__twist_at(twist, cr_sub(d->com[i], d->origin[i]));
        fastest = fmax(fastest, cr_norm(u) + cr_norm(twist.omega) * step->size[i]);
    }
    return fastest;
}

double cr_step_reach(const crStep* step, double h) {
    double speed = top_speed(step, step->v_free, top_speed(step, step->state.v, 0.0));
    double delta = 0.0;
    for (int i = 1; i < step->model->nb; i++) {
        delta = fmax(delta, step->settings.deadband * step->size[i]);
    }
    return 2.0 * h * speed + delta + step->settings.cluster;
}

crStatus cr_step_integrate(crStep* step, double h, crError* error) {
    const crModel* model = step->model;
    double* v = step->state.v;
    size_t mark = cr_arena_mark(&step->scratch);
    double* after = cr_arena_alloc(&step->scratch, (size_t)model->nv * sizeof(double));
    if (after == NULL) return cr__step_memory(error);
    memcpy(after, v, (size_t)model->nv * sizeof(double));
    for (int j = 0; j < model->nv; j++) {
        if (step->airborne[model->dof_body[j]]) v[j] -= 0.5 * h * step->fall[j];
    }
    cr_model_integrate(model, h, &step->state);
    for (int j = 0; j < model->nv; j++) {
        if (step->fall[j] != 0.0) v[j] = after[j];
    }
    cr_arena_release(&step->scratch, mark);
    return CR_OK;
}
