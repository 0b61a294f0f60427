// sense.c - sensors of a world: those of the model, and means over the last step where contacts take part.
//
// With h the length of the step: acceleration is the change of the site's velocity over h, less gravity; the force of a
// parent on a body is the change of momentum of all it carries over h, less gravity, drag, contacts and loops, each
// moment about the site as it is now. Contacts count by their impulses, those of impacts included.
// Fails: CR_ERR_MEMORY, CR_ERR_DEFINITE from the factor of M.
#include <string.h>

#include "base/argument.h"
#include "carom/robot.h"
#include "model/sense.h"
#include "step/step.h"
#include "world/world.h"

enum { LOOP_FORCES = 6 };  // places of a loop in tie_force, see step/ties.c

// Momentum of what a body carries, about the world's origin; drag is its force at this end of the step.
typedef struct Momentum {
    crVec3 P, L, drag, drag_moment, weight_arm;
    double weight;
} Momentum;

static Momentum momentum_of(const crModel* model, const crDynamics* d, int top) {
    Momentum m = {0};
    for (int i = top; i < model->nb; i++) {
        if (!cr__carried_by(model, i, top)) continue;
        const crBody* body = &model->bodies[i];
        crVec3 u = cr_model_point_velocity(d, i, d->com[i]), mv = cr_scale(body->mass, u);
        crVec3 drag = cr_scale(-body->linear_drag, u);
        double weight = body->mass * body->gravity_scale;
        m.P = cr_add(m.P, mv);
        m.L = cr_add(m.L, cr_add(cr_sym3_mul(d->inertia[i], d->twist[i].omega), cr_cross(d->com[i], mv)));
        m.drag = cr_add(m.drag, drag);
        m.drag_moment = cr_add(m.drag_moment, cr_cross(d->com[i], drag));
        m.drag_moment = cr_madd(m.drag_moment, -body->angular_drag, d->twist[i].omega);
        m.weight += weight;
        m.weight_arm = cr_madd(m.weight_arm, weight, d->com[i]);
    }
    return m;
}

// impulse and its moment about the world's origin
typedef struct Impulse {
    crVec3 P, L;
} Impulse;

static void add_impulse(const crModel* model, int top, int a, int b, crVec3 at, crVec3 P, Impulse* sum) {
    double side = (double)cr__carried_by(model, b, top) - (double)cr__carried_by(model, a, top);
    if (side == 0.0) return;
    sum->P = cr_madd(sum->P, side, P);
    sum->L = cr_madd(sum->L, side, cr_cross(at, P));
}

static bool impact(const crEvent* e) { return e->shape_a >= 0 && e->impact >= 0; }

static void add_contacts(const crStep* step, int top, Impulse* sum) {
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        add_impulse(step->model, top, c->body_a, c->body_b, c->point.point, c->impulse, sum);
    }
    for (int i = 0; i < step->events.count; i++) {
        const crEvent* e = &step->events.list[i];
        if (impact(e)) add_impulse(step->model, top, e->body_a, e->body_b, e->point, e->impulse, sum);
    }
}

// loops of points, by their forces in the last solve
static void add_loops(const crStep* step, int top, double h, Impulse* sum) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    for (int i = 0; i < model->loop_count; i++) {
        const crLoop* loop = &model->loops[i];
        const double* f = step->ties.force + (size_t)LOOP_FORCES * (size_t)i;
        double side =
            (double)cr__carried_by(model, loop->b, top) - (double)cr__carried_by(model, loop->a, top);
        if (loop->kind == CR_LOOP_JOINT || side == 0.0) continue;
        crVec3 xa = cr_pose_point(d->pose[loop->a], loop->pose_a.p);
        crVec3 xb = cr_pose_point(d->pose[loop->b], loop->pose_b.p);
        crVec3 P = cr_scale(h, cr__load_vec(f));
        if (loop->kind == CR_LOOP_DISTANCE) {
            crVec3 apart = cr_sub(xb, xa);
            double length = cr_norm(apart);
            bool pulls = cr_loop_ranges(loop) && loop->upper - length <= length - loop->lower;
            P = length > 0.0 ? cr_scale((pulls ? -h : h) * f[0] / length, apart) : cr_vec3(0, 0, 0);
        }
        sum->P = cr_madd(sum->P, side, P);
        sum->L = cr_madd(sum->L, side, cr_cross(side > 0.0 ? xb : xa, P));
        if (loop->kind == CR_LOOP_WELD) sum->L = cr_madd(sum->L, side * h, cr__load_vec(f + 3));
    }
}

static void mean_wrench(const crStep* step, const crSensor* s, const Momentum* from, double h, double* out) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    int top = model->sites[s->object].body;
    crPose site = cr__site_pose(model, d, s->object);
    Momentum to = momentum_of(model, d, top);
    Impulse other = {0};
    add_contacts(step, top, &other);
    add_loops(step, top, h, &other);
    crVec3 arm = cr_scale(0.5, cr_add(from->weight_arm, to.weight_arm));
    other.P = cr_add(other.P, cr_scale(h * to.weight, model->gravity));
    other.L = cr_add(other.L, cr_scale(h, cr_cross(arm, model->gravity)));
    other.P = cr_madd(other.P, 0.5 * h, cr_add(from->drag, to.drag));
    other.L = cr_madd(other.L, 0.5 * h, cr_add(from->drag_moment, to.drag_moment));
    crVec3 force = cr_scale(1.0 / h, cr_sub(cr_sub(to.P, from->P), other.P));
    crVec3 moment = cr_scale(1.0 / h, cr_sub(cr_sub(to.L, from->L), other.L));
    cr__sense_wrench(s, site, force, cr_sub(moment, cr_cross(site.p, force)), out);
}

static void mean_acceleration(const crModel* model, const crDynamics* d, const crSensor* s, crVec3 before,
                              double h, double* out) {
    crPose site = cr__site_pose(model, d, s->object);
    crVec3 change = cr_sub(cr_model_point_velocity(d, model->sites[s->object].body, site.p), before);
    crVec3 a = cr_sub(cr_scale(1.0 / h, change), model->gravity);
    cr__store_vec(cr_quat_rotate(cr_quat_conj(site.q), a), out);
}

static double normal_force(const crModel* model, const crDynamics* d, int site, int a, int b, crVec3 at,
                           crVec3 n, crVec3 P) {
    const crSite* s = &model->sites[site];
    double distance = 0.0;
    if (a != s->body && b != s->body) return 0.0;
    if (!cr_point_distance(&s->volume, d->pose[s->body], at, &distance, NULL, NULL) || distance > 0.0)
        return 0.0;
    return cr_dot(P, n);
}

static double touch(const crStep* step, int site, double h) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    double sum = 0.0;
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        sum +=
            normal_force(model, d, site, c->body_a, c->body_b, c->point.point, c->point.normal, c->impulse);
    }
    for (int i = 0; i < step->events.count; i++) {
        const crEvent* e = &step->events.list[i];
        if (impact(e))
            sum += normal_force(model, d, site, e->body_a, e->body_b, e->point, e->normal, e->impulse);
    }
    return sum / h;
}

// What the means need of the beginning of the step.
typedef struct Begun {
    crVec3 velocity;  // of the site
    Momentum momentum;
} Begun;

static void look_again(crStep* step) {
    cr_model_kinematics(step->model, &step->state, &step->dynamics);
    cr_model_velocity(step->model, step->state.v, &step->dynamics);
}

static bool is_mean(const crSensor* s) {
    return s->kind == CR_SENSOR_ACCELEROMETER || s->kind == CR_SENSOR_FORCE || s->kind == CR_SENSOR_TORQUE;
}

// the state at the beginning of the step, then the present one again
static void look_back(crStep* step, Begun* begun) {
    const crModel* model = step->model;
    crState now = step->state;
    step->state.q = step->start.q;
    step->state.v = step->start.v;
    step->state.time = step->start.time;
    look_again(step);
    for (int i = 0; i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        if (!is_mean(s)) continue;
        int body = model->sites[s->object].body;
        begun[i].velocity = cr_model_point_velocity(&step->dynamics, body,
                                                    cr__site_pose(model, &step->dynamics, s->object).p);
        if (s->kind != CR_SENSOR_ACCELEROMETER) begun[i].momentum = momentum_of(model, &step->dynamics, body);
    }
    step->state = now;
    look_again(step);
}

static crStatus sense(crWorld* world, double* out) {
    crStep* step = &world->step;
    const crModel* model = step->model;
    double h = world->last_h;
    double* a = cr_arena_alloc(&step->scratch, (size_t)(model->nv + 1) * sizeof *a);
    Begun* begun = cr_arena_alloc(&step->scratch, (size_t)(model->sensor_count + 1) * sizeof *begun);
    if (a == NULL || begun == NULL) return CR_ERR_MEMORY;
    memset(a, 0, (size_t)(model->nv + 1) * sizeof *a);
    // means take the place of what these accelerations give
    crStatus status = h > 0.0 ? CR_OK : cr_model_acceleration(model, &step->state, &step->dynamics, a);
    if (status != CR_OK) return status;
    cr_model_actuate(model, &step->state, &step->dynamics);
    look_again(step);
    cr__sense(model, &step->state, &step->dynamics, a, out);
    if (h > 0.0) look_back(step, begun);
    for (int i = 0; i < model->sensor_count && h > 0.0; i++) {
        const crSensor* s = &model->sensors[i];
        double* to = out + s->first;
        bool wrench = is_mean(s) && s->kind != CR_SENSOR_ACCELEROMETER;
        if (s->kind == CR_SENSOR_TOUCH) *to = touch(step, s->object, h);
        if (s->kind == CR_SENSOR_ACCELEROMETER)
            mean_acceleration(model, &step->dynamics, s, begun[i].velocity, h, to);
        if (wrench && model->sites[s->object].body > 0) mean_wrench(step, s, &begun[i].momentum, h, to);
    }
    cr__sense_noise(model, step->state.time, out);
    return CR_OK;
}

crStatus cr_world_sense(crWorld* world, double* out, crError* error) {
    if (world == NULL) return cr__missing(error, "world");
    if (out == NULL && world->step.model->nsensor > 0) return cr__missing(error, "out");
    size_t mark = cr_arena_mark(&world->step.scratch);
    crStatus status = sense(world, out);
    cr_arena_release(&world->step.scratch, mark);
    if (status == CR_ERR_MEMORY) return cr__step_memory(error);
    if (status == CR_ERR_DEFINITE)
        return cr_error_set(error, status, "mass", "mass: a joint has nothing to move in this position");
    return status;
}

int cr_world_contacts(const crWorld* world, crContactForce* out, int capacity) {
    if (world == NULL || capacity < 0 || (out == NULL && capacity > 0)) return CR_ERR_ARGUMENT;
    const crStep* step = &world->step;
    int count = world->last_h > 0.0 ? step->contacts.count : 0;
    for (int i = 0; i < count && i < capacity; i++) {
        const crStepContact* c = &step->contacts.list[i];
        out[i] = (crContactForce){.body_a = c->body_a,
                                  .body_b = c->body_b,
                                  .shape_a = c->shape_a,
                                  .shape_b = c->shape_b,
                                  .gap = c->point.gap,
                                  .point = c->point.point,
                                  .normal = c->point.normal,
                                  .force = cr_scale(1.0 / world->last_h, c->impulse)};
    }
    return count;
}
