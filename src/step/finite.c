// finite.c - test that time, positions, velocities and energy are finite after a step.
//
// No energy overflows if q, v, driven poses and velocities, masses, springs and lengths are all below 1e40:
// the velocity of a body's centre is a sum of products v r, so its energy m v^2 / 2 is below 1e200. Energies
// are computed body by body only beyond that bound.
// Fails: CR_ERR_FINITE with the body's name.
#include "step/step.h"

#define MODERATE 1e40
#define SURE     (1.0 - 1e-12)  // factor on a square, for rounding

// True only if all numbers are below the bound: the sum of their squares is below its square. Sums side by side do
// not wait for each other.
static bool moderate(const double* x, int count) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[i + k] * x[i + k];
        }
    }
    for (; i < count; i++) {
        sum[0] += x[i] * x[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) <= MODERATE * MODERATE;
}

static bool moderate_vec(crVec3 x) { return moderate((double[]){x.x, x.y, x.z}, 3); }

static bool moderate_drives(const crPlan* plan, const crDynamics* d) {
    bool all = true;
    for (int k = 0; k < plan->given_count; k++) {
        const crTwist* given = &d->given[plan->given[k]];
        all = all && moderate_vec(given->v) && moderate_vec(given->omega) &&
              moderate_vec(d->pose[plan->given[k]].p);
    }
    return all;
}

// Reports the first body with a position or velocity that is not finite.
static crStatus find_lost(const crStep* step, crError* error) {
    const crModel* model = step->model;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        for (int j = body->q; j < body->q + body->nq; j++) {
            if (!isfinite(step->state.q[j]))
                return cr__step_lost(step->model, i, "position", step->state.q[j], error);
        }
        for (int j = body->v; j < body->v + body->nv; j++) {
            if (!isfinite(step->state.v[j]))
                return cr__step_lost(step->model, i, "velocity", step->state.v[j], error);
        }
    }
    return CR_OK;
}

// Reports the body at which the sum of energies stops being finite.
static crStatus find_energy(const crModel* model, const crState* state, crDynamics* d, crError* error) {
    double sum = 0.0;
    cr_model_kinematics(model, state, d);
    cr_model_velocity(model, state->v, d);
    for (int i = 1; i < model->nb; i++) {
        if (!cr__moves(model, i)) continue;
        crEnergy energy = cr__body_energy(model, i, state, d, NULL);
        sum += fabs(energy.kinetic) + fabs(energy.potential);
        if (!isfinite(sum)) return cr__step_lost(model, i, "energy", sum, error);
    }
    return CR_OK;
}

static void count_escaped(const crModel* model, const double* q, double bound, crCertificate* c) {
    c->escaped = c->escapee = 0;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->joint != CR_JOINT_FREE) continue;
        const double* p = q + body->q;
        // squares tell it for nearly all bodies, without a root
        if (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < SURE * bound * bound) continue;
        if (!(cr_norm(cr__load_vec(p)) > bound)) continue;
        if (c->escaped++ == 0) c->escapee = i;
    }
}

crStatus cr_step_finite(crStep* step, crError* error) {
    if (!cr__step_ready(step)) return cr__missing(error, "step");
    const crModel* model = step->model;
    if (!isfinite(step->state.time)) {
        return cr_error_set(error, CR_ERR_FINITE, "time", "time: became %g", step->state.time);
    }
    bool sure = step->plan->moderate && moderate(step->state.q, model->nq) &&
                moderate(step->state.v, model->nv) && moderate_drives(step->plan, &step->dynamics);
    crStatus status = sure ? CR_OK : find_lost(step, error);
    if (status == CR_OK && !sure) status = find_energy(model, &step->state, &step->dynamics, error);
    if (status == CR_OK) count_escaped(step->model, step->state.q, step->settings.bound, &step->certificate);
    return status;
}
