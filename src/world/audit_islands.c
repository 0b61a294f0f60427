// audit_islands.c - what happened between two records: islands of bodies that may have touched, their energy and
// momentum.
//
// With velocities the interval is from one record to the next. Without them the mean velocity over an interval stands
// for its middle, and the middles of two intervals are compared: exact for the momentum of whatever nothing fixed
// touches, since that changes by M g t whatever happens inside, and for the energy of bodies in flight. A mean over
// a bounce says nothing of the energy, so that energy without velocities is known only in intervals in which every
// body flew or stood still. A gain is then what such an interval has beyond the least one before it.
// Planar bodies are judged in their plane: their joint carries the rest.
// Fails: CR_ERR_MEMORY.
#include "model/pull.h"
#include "model/single.h"
#include "step/audit.h"
#include "step/forest.h"
#include "world/audit_motion.h"

#define EPS   0x1p-52
#define ROOT3 1.7320508075688772

static double largest_moment(const crBody* body) { return body->principal[2]; }

// uncertainty of velocities by their digits, norms: m/s and rad/s
static void velocity_floor(const crMotionWork* w, const crMoving* at, double h, double* u, double* omega) {
    const crMotionDigits* digits = &w->data->digits;
    if (w->velocities) {
        *u = ROOT3 * digits->velocity + 4.0 * EPS * cr_norm(at->u);
        *omega = ROOT3 * digits->omega + 4.0 * EPS * cr_norm(at->omega);
        return;
    }
    *u = 2.0 * (ROOT3 * digits->position + cr_norm(at->u) * digits->time + 2.0 * EPS * cr_norm(at->com)) / h;
    *omega = 2.0 * (4.0 * digits->rotation + cr_norm(at->omega) * digits->time + 8.0 * EPS) / h;
}

static crVec3 weight_of(const crMotionWork* w, const crBody* body) {
    return cr_scale(body->mass * body->gravity_scale, w->model->gravity);
}

double cr__motion_energy(const crMotionWork* w, int i, const crMoving* at, double* floor, double* kinetic) {
    const crBody* body = &w->model->bodies[i];
    const crMotionDigits* digits = &w->data->digits;
    crVec3 weight = weight_of(w, body), L = cr_sym3_mul(at->inertia, at->omega);
    double turning = 0.5 * cr_dot(at->omega, L), moving = 0.5 * body->mass * cr_dot(at->u, at->u);
    double du, domega, pull = cr_norm(weight);
    velocity_floor(w, at, w->h, &du, &domega);
    *floor += body->mass * du * (cr_norm(at->u) + 0.5 * du) +
              domega * (cr_norm(L) + 0.5 * largest_moment(body) * domega);
    *floor += pull * ROOT3 * digits->position;
    *floor += 16.0 * EPS * (turning + moving + pull * cr_norm(at->com) + fabs(at->extra));
    if (!cr__single_round(body)) {
        *floor += 8.0 * digits->rotation * turning;
        // the mean of omega over an interval in which it turns with the body
        double angle = w->velocities ? 0.0 : w->h * cr_norm(at->omega);
        *floor += angle * angle * turning;
    }
    *kinetic += turning + moving;
    return turning + moving - cr_dot(weight, at->com) + at->extra;
}

// islands

static crStatus join_near(void* ctx, int shape_a, int shape_b) {
    crMotionWork* w = ctx;
    const crModel* model = w->model;
    int a = model->shapes[shape_a].body, b = model->shapes[shape_b].body;
    cr__forest_join_trees(model, w->here.root, a, b);
    w->here.touched[a] = w->here.touched[b] = true;
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? a : b, other = side == 0 ? b : a;
        if (cr__moves(model, other)) continue;
        w->here.grounded[body] = true;
        if (model->bodies[other].joint == CR_JOINT_DRIVEN) w->here.powered[body] = true;
    }
    return CR_OK;
}

static void hold(crMotionWork* w, int body, int by) {
    w->here.touched[body] = w->here.grounded[body] = true;
    if (w->model->bodies[by].joint == CR_JOINT_DRIVEN) w->here.powered[body] = true;
}

// what joints, loops and motors do, whatever the motion is
static void join_ties(crMotionWork* w) {
    const crModel* model = w->model;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        if (!cr__moves(model, i)) continue;
        bool flies = body->joint == CR_JOINT_FREE || body->joint == CR_JOINT_PLANAR;
        if (body->root == i && !flies) hold(w, i, body->base);
        if (body->root == i && body->joint == CR_JOINT_PLANAR && body->parent != CR_WORLD)
            hold(w, i, body->base);
        if (body->root != i) w->here.touched[i] = w->here.touched[body->root] = true;
        for (int j = body->v; j < body->v + body->nv; j++) {
            if (cr_model_dof(model, j)->motor_force > 0.0) w->here.powered[i] = true;
        }
    }
    // what a load does is not known from a motion
    for (int i = 0; i < model->load_count; i++) {
        int body = model->loads[i].body;
        w->here.touched[body] = w->here.grounded[body] = w->here.powered[body] = true;
    }
    // nor what pulls at a site
    for (int i = 0; i < model->site_count && cr__model_pulls(model); i++) {
        int body = model->sites[i].body;
        w->here.touched[body] = w->here.grounded[body] = w->here.powered[body] = true;
    }
    for (int i = 0; i < model->loop_count; i++) {
        int a = model->loops[i].a, b = model->loops[i].b;
        cr__forest_join_trees(model, w->here.root, a, b);
        w->here.touched[a] = w->here.touched[b] = true;
        if (!cr__moves(model, a) && cr__moves(model, b)) hold(w, b, a);
        if (!cr__moves(model, b) && cr__moves(model, a)) hold(w, a, b);
    }
}

// mean velocities over the interval
static void find_means(crMotionWork* w) {
    for (int i = 1; i < w->model->nb; i++) {
        crVec3 turn = cr__rotation_log(cr_quat_mul(w->here.pose[i].q, cr_quat_conj(w->before.pose[i].q)));
        w->here.mean[i].u = cr_scale(1.0 / w->h, cr_sub(w->here.at[i].com, w->before.at[i].com));
        w->here.mean[i].omega = cr_scale(1.0 / w->h, turn);
    }
}

// How far a point of a body may be from the straight way between the records, m. A body that goes at u0 to a point of
// the interval and at u1 from there, with mean m, is at most h |u0 - u1| / 4 = h (|u0 - m| + |u1 - m|) / 4 off; its
// rotation likewise, times its size. Of unknown velocities the mean over the interval before stands for u0, and
// h |u0 - m| is the bound.
static double stray(const crMotionWork* w, int i) {
    const crMoving *a = &w->before.at[i], *b = &w->here.at[i], *before = &w->before.mean[i];
    double fall = 0.125 * w->h * w->h * fabs(w->model->bodies[i].gravity_scale) * cr_norm(w->model->gravity);
    crVec3 u = w->here.mean[i].u, omega = w->here.mean[i].omega;
    if (w->velocities) {
        double shift = cr_norm(cr_sub(a->u, u)) + cr_norm(cr_sub(b->u, u));
        double turn = cr_norm(cr_sub(a->omega, omega)) + cr_norm(cr_sub(b->omega, omega));
        return fall + 0.3 * w->h * (shift + w->step.plan->size[i] * turn);
    }
    if (w->record < 2) return fall + w->h * (cr_norm(u) + w->step.plan->size[i] * cr_norm(omega));
    return fall + w->h * (cr_norm(cr_sub(before->u, u)) +
                          w->step.plan->size[i] * cr_norm(cr_sub(before->omega, omega)));
}

static crStatus find_islands(crMotionWork* w) {
    const crModel* model = w->model;
    for (int i = 0; i < model->nb; i++) {
        w->here.root[i] = i;
        w->here.touched[i] = w->here.grounded[i] = w->here.powered[i] = false;
        w->near[i] = 0.0;
        if (!cr__moves(model, i)) continue;
        w->near[i] = w->limits.touch * w->step.plan->size[i] + stray(w, i) + ROOT3 * w->data->digits.position;
    }
    join_ties(w);
    return cr__audit_near(w->step.plan, &w->step.scratch, w->before.pose, w->here.pose, w->near, join_near,
                          w);
}

// where bodies are in the middle of the interval, by their means; exact for what flies
static void find_middles(crMotionWork* w) {
    const crModel* model = w->model;
    for (int i = 1; i < model->nb; i++) {
        crMoving* m = &w->here.mean[i];
        m->com = cr_scale(0.5, cr_add(w->before.at[i].com, w->here.at[i].com));
        double g = w->here.touched[i] ? 0.0 : model->bodies[i].gravity_scale;
        m->com = cr_madd(m->com, -0.125 * w->h * w->h * g, model->gravity);
        crQuat half = cr_quat_mul(cr__rotation_exp(cr_scale(0.5 * w->h, m->omega)), w->before.pose[i].q);
        m->inertia = cr__sym3_rotate(half, model->bodies[i].inertia);
        m->extra = w->here.at[i].extra;
    }
}

// the islands of both intervals, without velocities
static void join_before(crMotionWork* w) {
    for (int i = 1; i < w->model->nb; i++) {
        if (cr__moves(w->model, i)) cr__forest_join(w->here.root, i, w->before.root[i]);
    }
}

static crVec3 in_plane(crVec3 n, crVec3 x) { return cr_madd(x, -cr_dot(n, x), n); }

static bool has_plane(crVec3 n) { return n.x != 0.0 || n.y != 0.0 || n.z != 0.0; }

static int leader(crMotionWork* w, int i) { return cr__forest_find(w->here.root, w->model->bodies[i].root); }

// masses, centres and changes, then angular momenta about the centres
static void sum_islands(crMotionWork* w, const crMoving* from, const crMoving* to, double h) {
    const crModel* model = w->model;
    const crMotionDigits* digits = &w->data->digits;
    double ignored = 0.0;
    for (int i = 0; i < model->nb; i++) {
        w->islands[i] = (crMotionIsland){0};
    }
    for (int i = 1; i < model->nb; i++) {
        if (!cr__moves(model, i)) continue;
        const crBody* body = &model->bodies[i];
        crMotionIsland* s = &w->islands[leader(w, i)];
        double m = body->mass, du, domega;
        crVec3 weight = weight_of(w, body), n = cr__plan_plane(w->step.plan, i);
        crVec3 push = cr_madd(cr_scale(m, cr_sub(to[i].u, from[i].u)), -h, weight);
        s->bodies++;
        s->mass += m;
        s->com0 = cr_madd(s->com0, m, from[i].com);
        s->com1 = cr_madd(s->com1, m, to[i].com);
        s->push = cr_add(s->push, has_plane(n) ? in_plane(n, push) : push);
        velocity_floor(w, &from[i], w->h, &du, &domega);
        s->push_floor += m * du;
        velocity_floor(w, &to[i], w->h, &du, &domega);
        s->push_floor += m * du + cr_norm(weight) * (2.0 * digits->time + 4.0 * EPS * fabs(w->now->time));
        s->gain += cr__motion_energy(w, i, &to[i], &s->gain_floor, &ignored);
        s->gain -= cr__motion_energy(w, i, &from[i], &s->gain_floor, &ignored);
        bool both = !w->velocities;
        s->grounded = s->grounded || w->here.grounded[i] || (both && w->before.grounded[i]);
        s->powered = s->powered || w->here.powered[i] || (both && w->before.powered[i]);
        s->dragged = s->dragged || body->linear_drag > 0.0 || body->angular_drag > 0.0;
    }
    for (int i = 1; i < model->nb; i++) {
        if (!cr__moves(model, i)) continue;
        const crBody* body = &model->bodies[i];
        crMotionIsland* s = &w->islands[leader(w, i)];
        double m = body->mass, du, domega, I = largest_moment(body);
        crVec3 n = cr__plan_plane(w->step.plan, i);
        crVec3 r0 = cr_madd(from[i].com, -1.0 / s->mass, s->com0),
               r1 = cr_madd(to[i].com, -1.0 / s->mass, s->com1);
        crVec3 L0 = cr_add(cr_sym3_mul(from[i].inertia, from[i].omega), cr_cross(r0, cr_scale(m, from[i].u)));
        crVec3 L1 = cr_add(cr_sym3_mul(to[i].inertia, to[i].omega), cr_cross(r1, cr_scale(m, to[i].u)));
        if (has_plane(n)) {
            L0 = cr_scale(cr_dot(n, L0), n);
            L1 = cr_scale(cr_dot(n, L1), n);
        }
        s->L0 = cr_add(s->L0, L0);
        s->L1 = cr_add(s->L1, L1);
        double r = cr_norm(r0);
        s->inertia += I + m * r * r;
        velocity_floor(w, &to[i], w->h, &du, &domega);
        double far = s->bodies > 1 ? fmax(r, cr_norm(r1)) : 0.0;
        double speed = s->bodies > 1 ? fmax(cr_norm(from[i].u), cr_norm(to[i].u)) : 0.0;
        s->L_floor += 2.0 * (I * domega + m * far * du +
                             m * speed * (ROOT3 * digits->position + 4.0 * EPS * cr_norm(to[i].com)));
        double turn = fmax(cr_norm(from[i].omega), cr_norm(to[i].omega));
        s->L_floor +=
            turn * I * (cr__single_round(body) ? 0.0 : 8.0 * digits->rotation) + 32.0 * EPS * turn * I;
    }
}

// the body of a leader that is in the island alone with its constant moment of inertia
static bool turns_evenly(const crMotionWork* w, int i) {
    return w->islands[i].bodies == 1 && cr__single_round(&w->model->bodies[i]);
}

static void judge_flight(crMotionWork* w, int i) {
    const crMotionIsland* s = &w->islands[i];
    crMotionReport* r = w->report;
    if (s->grounded || !(s->mass > 0.0)) return;
    if (s->dragged) {
        r->flights_unknown++;
        return;
    }
    r->flights++;
    double speed = cr_norm(s->push) / s->mass, floor = s->push_floor / s->mass;
    r->jumps += speed - floor > w->limits.speed;
    cr__motion_worst(&r->momentum, speed, floor, w->now->time, i, -1);
    w->now->momentum = isnan(w->now->momentum) ? speed : fmax(w->now->momentum, speed);
    if (!w->velocities && !turns_evenly(w, i)) return;
    double spin = cr_norm(cr_sub(s->L1, s->L0)) / s->inertia;
    cr__motion_worst(&r->spin, spin, s->L_floor / s->inertia, w->now->time, i, -1);
    w->now->spin = isnan(w->now->spin) ? spin : fmax(w->now->spin, spin);
    if (!w->velocities || s->bodies > 1) return;
    const crMoving *a = &w->before.at[i], *b = &w->here.at[i];
    crVec3 off = cr_madd(cr_sub(b->com, a->com), -0.5 * w->h, cr_add(a->u, b->u));
    if (has_plane(cr__plan_plane(w->step.plan, i))) off = in_plane(cr__plan_plane(w->step.plan, i), off);
    double du, domega;
    velocity_floor(w, b, w->h, &du, &domega);
    cr__motion_worst(&r->path, cr_norm(off), w->h * du + 2.0 * ROOT3 * w->data->digits.position, w->now->time,
                     i, -1);
}

static void add_gain(crMotionWork* w, double gain, double floor, int body) {
    crMotionReport* r = w->report;
    if (gain > floor) {
        r->gain += gain;
        w->now->gain += gain;
        cr__motion_worst(&r->gained, gain, floor, w->now->time, body, -1);
    }
    r->gain_least += fmax(0.0, gain - floor);
    r->gain_most += fmax(0.0, gain + floor);
}

// islands whose work is known, with velocities
static void judge_energy(crMotionWork* w) {
    crMotionReport* r = w->report;
    bool unknown = false;
    w->now->gain = 0.0;
    for (int i = 1; i < w->model->nb; i++) {
        const crMotionIsland* s = &w->islands[i];
        if (s->bodies == 0) continue;
        if (s->powered || isnan(s->gain)) {
            unknown = true;
        } else {
            add_gain(w, s->gain, s->gain_floor, i);
        }
    }
    r->energy_unknown += unknown;
    r->energy_known += !unknown;
}

static bool stood_still(const crMotionWork* w, int i) {
    double du, domega;
    velocity_floor(w, &w->here.mean[i], w->h, &du, &domega);
    return cr_norm(w->here.mean[i].u) <= du && cr_norm(w->here.mean[i].omega) <= domega;
}

// the whole world, where every body flew or stood still
static void judge_middle(crMotionWork* w) {
    crMotionReport* r = w->report;
    double sum = 0.0, floor = 0.0, kinetic = 0.0;
    for (int i = 1; i < w->model->nb; i++) {
        if (!cr__moves(w->model, i)) continue;
        if ((w->here.touched[i] && !stood_still(w, i)) || w->here.powered[i]) sum = (double)NAN;
        sum += cr__motion_energy(w, i, &w->here.mean[i], &floor, &kinetic);
    }
    if (isnan(sum)) {
        r->energy_unknown++;
        return;
    }
    w->now->energy = sum;
    if (isnan(r->energy_start)) r->energy_start = sum;
    r->energy_end = sum;
    w->energy_least = fmin(w->energy_least, sum);
    w->energy_most = fmax(w->energy_most, sum);
    w->kinetic_most = fmax(w->kinetic_most, kinetic);
    if (!isnan(w->least)) {
        r->energy_known++;
        w->now->gain = 0.0;
        add_gain(w, sum - w->least, floor + w->least_floor, -1);
    }
    // a gain is counted once: what comes after it starts from there
    if (isnan(w->least) || sum < w->least || sum - w->least > floor + w->least_floor) {
        w->least = sum;
        w->least_floor = floor;
    }
}

crStatus cr__motion_interval(crMotionWork* w) {
    find_means(w);
    crStatus status = find_islands(w);
    if (status != CR_OK) return status;
    const crMoving *from = w->before.at, *to = w->here.at;
    double h = w->h;
    if (!w->velocities) {
        find_middles(w);
        judge_middle(w);
        if (w->record < 2) return CR_OK;
        join_before(w);
        from = w->before.mean;
        to = w->here.mean;
        h = 0.5 * (w->h_before + w->h);
    }
    sum_islands(w, from, to, h);
    if (w->velocities) judge_energy(w);
    for (int i = 1; i < w->model->nb; i++) {
        if (w->islands[i].bodies > 0) judge_flight(w, i);
    }
    return CR_OK;
}
