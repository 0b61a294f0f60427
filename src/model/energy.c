// energy.c - energy and momentum of all bodies that v moves, from their velocity fields.
//
// T = sum of m |v_com|^2 / 2 + omega . I omega / 2, and armature v^2 / 2 of the joints' rotors; V = sum of -m g . com, and of the springs of joints and tendons.
// Moments about a point x are I omega + (com - x) x m v_com. Fails: nothing; the fields must be those of
// cr_model_velocity.
#include "model/joint.h"
#include "model/pull.h"

static double spring_energy(const crModel* model, const crBody* body, const double* q) {
    double sum = 0.0;
    double x[3] = {0.0, 0.0, 0.0};
    bool any = false;
    for (int j = body->v; j < body->v + body->nv; j++) {
        any = any || cr_model_dof(model, j)->stiffness > 0.0;
    }
    if (!any) return 0.0;
    if (cr__joint(body)->log != NULL) cr__store_vec(cr__joint(body)->log(q), x);
    for (int j = 0; j < body->nv && j < 3; j++) {
        const crDof* dof = cr_model_dof(model, body->v + j);
        double stretch = body->nq == body->nv ? q[j] - dof->rest : x[j];
        sum += 0.5 * dof->stiffness * stretch * stretch;
    }
    return sum;
}

// of a body and of its joint's rotors
static double kinetic_energy(const crModel* model, int i, const double* v, const crDynamics* d) {
    const crBody* body = &model->bodies[i];
    double sum = 0.0;
    // joints of one body but the last carry a body without mass
    if (body->mass > 0.0) {
        crVec3 u = cr__point_velocity(d, i, d->com[i]);
        sum = 0.5 * (body->mass * cr_dot(u, u) + cr_sym3_quad(d->inertia[i], d->twist[i].omega));
    }
    for (int j = body->v; j < body->v + body->nv; j++) {
        sum += 0.5 * cr_model_dof(model, j)->armature * v[j] * v[j];
    }
    return sum;
}

double cr__part_kinetic(const crModel* model, crPart part, const double* v, crDynamics* d) {
    cr__part_velocity(model, part, v, d);
    double sum = 0.0;
    for (int k = 0; k < part.count; k++) {
        sum += kinetic_energy(model, cr__part_body(part, k), v, d);
    }
    return sum;
}

crEnergy cr__body_energy(const crModel* model, int i, const crState* state, const crDynamics* d,
                         double* size) {
    const crBody* body = &model->bodies[i];
    double kinetic = kinetic_energy(model, i, state->v, d);
    double spring = spring_energy(model, body, state->q + body->q), weight = 0.0, height = 0.0;
    if (body->mass > 0.0) {
        weight = -body->mass * body->gravity_scale * cr_dot(model->gravity, d->com[i]);
        if (size != NULL)
            height = body->mass * fabs(body->gravity_scale) * cr_norm(model->gravity) * cr_norm(d->com[i]);
    }
    if (size != NULL) *size = kinetic + height + spring;
    return (crEnergy){kinetic, weight + spring};
}

crEnergy cr__part_energy(const crModel* model, crPart part, const crState* state, crDynamics* d) {
    crEnergy sum = {0.0, 0.0};
    cr__part_velocity(model, part, state->v, d);
    for (int k = 0; k < part.count; k++) {
        crEnergy one = cr__body_energy(model, cr__part_body(part, k), state, d, NULL);
        sum.kinetic += one.kinetic;
        sum.potential += one.potential;
    }
    return sum;
}

crEnergy cr_model_energy(const crModel* model, const crState* state, const crDynamics* d) {
    if (!cr__dynamics_fits(model, d) || !cr__state_fits(model, state)) return (crEnergy){0};
    crEnergy energy = {0.0, cr__tendon_energy(model, d)};
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->last < 0) continue;
        energy.kinetic += kinetic_energy(model, i, state->v, d);
        energy.potential -= body->mass * body->gravity_scale * cr_dot(model->gravity, d->com[i]);
        energy.potential += spring_energy(model, body, state->q + body->q);
    }
    return energy;
}

void cr_model_momentum(const crModel* model, const crDynamics* d, crVec3 about, crVec3* linear,
                       crVec3* angular) {
    if (!cr__dynamics_fits(model, d) || linear == NULL || angular == NULL) return;
    crVec3 p = cr_vec3(0, 0, 0), L = cr_vec3(0, 0, 0);
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (body->last < 0) continue;
        crVec3 mv = cr_scale(body->mass, cr__point_velocity(d, i, d->com[i]));
        p = cr_add(p, mv);
        L = cr_add(L, cr_sym3_mul(d->inertia[i], d->twist[i].omega));
        L = cr_add(L, cr_cross(cr_sub(d->com[i], about), mv));
    }
    *linear = p;
    *angular = L;
}
