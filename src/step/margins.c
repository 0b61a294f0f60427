// margins.c - how far bodies may get in a step: contacts are found up to this distance.
//
// The margin of a body is the way of its fastest point in h, by the larger of its speeds at v and v_free,
// plus the deadband, the cluster tolerance and a fiftieth of its size.
// Fails: CR_ERR_FINITE if a body would move farther in h than settings.bound.
#include "step/step.h"

#define PUSH 0.02  // way by which slow neighbours may push a body, share of its size

static double speed_by(const crPlan* plan, const crDynamics* d, crTwist twist, int i) {
    crVec3 u = cr__twist_at(twist, cr_sub(d->com[i], d->origin[i]));
    return cr_norm(u) + cr_norm(twist.omega) * plan->size[i];
}

static double single_speed(const crPlan* plan, const double* v, int i) {
    return cr_norm(cr__load_vec(v)) + cr_norm(cr__load_vec(v + 3)) * plan->size[i];
}

double cr__step_speed(const crStep* step, const double* v, int i) {
    const crBody* body = &step->model->bodies[i];
    if (body->single) return single_speed(step->plan, v + body->v, i);
    return speed_by(step->plan, &step->dynamics, cr__step_twist(step, v, i), i);
}

// Speed of a body by v. A parent comes before its children: twists of trees are kept in `of`.
static double next_speed(const crPlan* plan, const crDynamics* d, const double* v, int i, crTwist* of) {
    const crBody* body = &plan->model->bodies[i];
    if (body->single) return single_speed(plan, v + body->v, i);
    crTwist twist = cr__moves(plan->model, body->parent) ? of[body->parent] : d->given[i];
    for (int j = body->v; j < body->v + body->nv; j++) {
        twist = cr__twist_madd(twist, v[j], d->axis[j]);
    }
    of[i] = twist;
    return speed_by(plan, d, twist, i);
}

// margin of a body beyond its travel, m
static double room_of(const crStepSettings* settings, const crPlan* plan, int b) {
    return (settings->deadband + PUSH) * plan->size[b] + settings->cluster;
}

double cr__step_margin(const crStep* step, double h, int b) {
    return h * cr__step_speed(step, step->free.v, b) + room_of(&step->settings, step->plan, b);
}

double cr__step_travel(const crStep* step, int body) {
    if (body == CR_WORLD) return 0.0;
    double travel = step->pairs->margin[body] - room_of(&step->settings, step->plan, body);
    return travel > 0.0 ? travel : 0.0;
}

// larger of a body's speeds by v and by v_free
static double larger_speed(const crStep* step, const crDynamics* d, int b) {
    double speed = next_speed(step->plan, d, step->state.v, b, d->twist);
    double free =
        cr__moves(step->model, b) ? next_speed(step->plan, d, step->free.v, b, d->scratch.rate) : 0.0;
    return free > speed ? free : speed;
}

// margins of bodies for their motion over h
typedef struct Margins {
    const crStep* step;
    double h;
    double* margin;  // (nb)
} Margins;

static crStatus find_margins(const crModel* model, crPart part, crDynamics* d, void* ctx) {
    const Margins* to = ctx;
    const crStepSettings* settings = &to->step->settings;
    crStatus status = CR_OK;
    (void)model;
    for (int k = 0; k < part.count; k++) {
        int b = part.bodies[k];
        double way = to->h * larger_speed(to->step, d, b);
        if (!(way <= settings->bound)) status = CR_ERR_FINITE;
        to->margin[b] = way + room_of(settings, to->step->plan, b);
    }
    return status;
}

crStatus cr__step_margins(crStep* step, double h, crError* error) {
    double* margin = step->pairs->margin;
    step->pairs->flat = -1.0;
    margin[CR_WORLD] = 0.0;
    crStatus status =
        cr__step_by_bodies(step, cr__step_part(step), find_margins, &(Margins){step, h, margin});
    for (int k = 0; status == CR_ERR_FINITE && k < step->part.count; k++) {
        int b = step->part.bodies[k];
        double speed = larger_speed(step, &step->dynamics, b);
        if (!(h * speed <= step->settings.bound)) return cr__step_lost(step->model, b, "speed", speed, error);
    }
    if (status != CR_OK) return cr__step_memory(error);
    for (int b = 1; b < step->model->nb && step->certificate.asleep > 0; b++) {
        if (step->rest.sleep[b].island != 0) margin[b] = room_of(&step->settings, step->plan, b);
    }
    return CR_OK;
}
