// margins.c - how far bodies may get in a step: contacts are looked for so far ahead.
//
// A body's margin is what its points can travel in h, by the larger of its speeds at v and v_free, plus the
// deadband, the cluster tolerance and a fiftieth of its size.
// Fails: CR_ERR_FINITE where a body would move farther in h than settings.bound.
#include "step/step.h"

#define PUSH 0.02  // of a body's size, for what slow neighbours may add

static double speed_by(const crStep* step, crTwist twist, int i) {
    const crDynamics* d = &step->dynamics;
    crVec3 u = cr__twist_at(twist, cr_sub(d->com[i], d->origin[i]));
    return cr_norm(u) + cr_norm(twist.omega) * step->plan->size[i];
}

static double single_speed(const crStep* step, const double* v, int i) {
    return cr_norm(cr__load_vec(v)) + cr_norm(cr__load_vec(v + 3)) * step->plan->size[i];
}

double cr__step_speed(const crStep* step, const double* v, int i) {
    const crBody* body = &step->model->bodies[i];
    if (body->single) return single_speed(step, v + body->v, i);
    return speed_by(step, cr__step_twist(step, v, i), i);
}

// speed by v of a body whose carrier, where it has one, came before it; fields of trees are kept in `of`
static double next_speed(const crStep* step, const double* v, int i, crTwist* of) {
    const crBody* body = &step->model->bodies[i];
    if (body->single) return single_speed(step, v + body->v, i);
    const crDynamics* d = &step->dynamics;
    crTwist twist = cr__moves(step->model, body->parent) ? of[body->parent] : d->given[i];
    for (int j = body->v; j < body->v + body->nv; j++) {
        twist = cr__twist_madd(twist, v[j], d->axis[j]);
    }
    of[i] = twist;
    return speed_by(step, twist, i);
}

// margin beyond what a body travels
static double room_of(const crStep* step, int b) {
    return (step->settings.deadband + PUSH) * step->plan->size[b] + step->settings.cluster;
}

double cr__step_travel(const crStep* step, int body) {
    return body == CR_WORLD ? 0.0 : fmax(0.0, step->pairs->margin[body] - room_of(step, body));
}

crStatus cr__step_margins(crStep* step, double h, crError* error) {
    crDynamics* d = &step->dynamics;
    double* margin = step->pairs->margin;
    step->pairs->flat = -1.0;
    margin[CR_WORLD] = 0.0;
    for (int k = 0; k < step->part.count; k++) {
        int b = step->part.bodies[k];
        double speed = next_speed(step, step->state.v, b, d->twist);
        double free = cr__moves(step->model, b) ? next_speed(step, step->free.v, b, d->rate) : 0.0;
        if (free > speed) speed = free;
        if (!(h * speed <= step->settings.bound)) return cr__step_lost(step, b, "speed", speed, error);
        margin[b] = h * speed + room_of(step, b);
    }
    for (int b = 1; b < step->model->nb && step->certificate.asleep > 0; b++) {
        if (step->sleep[b].island != 0) margin[b] = room_of(step, b);
    }
    return CR_OK;
}
