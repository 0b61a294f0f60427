// lone.c - steps of a world with one free body: in the air, or on a plane.
//
// v+ = v + h M^-1 k, contacts where a plane is near, q by v+ (in the air by v+ - h a/2, a the acceleration by gravity), overlap
// pushed out, and the certificate: smooth.c, contact_solve.c, position.c, rest.c and the audits, on numbers in place of
// arrays. Whatever is not plain is left to the stages: numbers that are not finite, a body that moves far or escaped,
// sweeps that do not end, forces kept from other contacts.
#include "world/lone_walk.h"

#include "base/room.h"
#include "resolve/kinds.h"
#include "step/audit_single.h"
#include "step/rest.h"
#include "world/lone_audit.h"
#include "world/lone_push.h"

#define EPS   CR_AUDIT_SINGLE_EPS
#define PUSH  0.02  // as in margins.c
#define MOST  1e40  // as in finite.c
#define UNIT  1e-6  // as in state.c
#define CLEAR 2.0   // margins that must be free for a flight: twice what stages look at

// one plane below one ball or box, whose contacts neither bounce nor drag
static bool has_plain_contacts(const crWorld* world) {
    const crStep* step = &world->step;
    const crModel* model = step->model;
    const crStepSettings* s = &step->settings;
    bool reads_et;
    if (s->quality != CR_QUALITY_FAST || s->tol > 0.0 || model->shape_count != 2 || step->plan->planes ||
        s->solver.solve != cr__solver(&cr__solver_auto, NULL).solve || !cr__step_solves_alike(s, &reads_et))
        return false;
    const crBodyShape *a = &model->shapes[0], *b = &model->shapes[1];
    crContactSurface surface;
    if (a->body != CR_WORLD || a->shape.kind != CR_SHAPE_HALFSPACE ||
        !(b->shape.kind == CR_SHAPE_SPHERE || b->shape.kind == CR_SHAPE_BOX))
        return false;
    if (!cr_model_meet(model, 0, 1) ||
        cr_model_surface(model, a->material, b->material, 0.0, &surface) != CR_OK)
        return false;
    const crSurface* of = &surface.surface;
    bool by_impact = model->pair_count > 0;
    for (int i = 0; i < model->material_count; i++) {
        const crSurface* m = &model->materials[i].surface;
        by_impact = by_impact || m->e_of_speed != NULL || m->by_impact != NULL;
    }
    return !by_impact && of->e == 0.0 && !(reads_et && of->et != 0.0) && of->vertex_count == 0 &&
           isfinite(of->mu) && (isnan(of->mu2) || of->mu2 == of->mu) && of->mu_spin == 0.0 &&
           of->mu_roll == 0.0 && !(of->viscous > 0.0) && !(of->mu_stribeck > 0.0);
}

static void prepare_contacts(const crWorld* world, crLone* lone) {
    const crModel* model = world->step.model;
    crContactSurface surface;
    if (!has_plain_contacts(world)) return;
    cr_model_surface(model, model->shapes[0].material, model->shapes[1].material, 0.0, &surface);
    lone->touches = true;
    lone->ball = model->shapes[1].shape.kind == CR_SHAPE_SPHERE;
    lone->shape_b = 1;
    lone->mu = surface.surface.mu;
    lone->delta = lone->deadband * cr__plan_pair_size(world->step.plan, CR_WORLD, 1);
}

void cr__lone_prepare(const crWorld* world, crLone* lone) {
    const crStep* step = &world->step;
    const crModel* model = step->model;
    const crStepSettings* s = &step->settings;
    *lone = (crLone){.flies = false};
    bool plain = s->method == CR_METHOD_CONE && s->sleep_time <= 0.0 && s->quality != CR_QUALITY_CERTIFIED &&
                 step->calls.force == NULL && step->calls.posed == NULL && model->load_count == 0 &&
                 model->tendon_count == 0;
    bool one = model->nb == 2 && model->bodies[1].single && model->bodies[1].last >= 0 &&
               model->loop_count == 0 && model->nu == 0 && step->plan->moderate &&
               step->plan->given_count == 0;
    if (!plain || !one) return;
    for (int i = 0; i < model->shape_count; i++) {
        const crShape* shape = &model->shapes[i].shape;
        if (model->shapes[i].body != CR_WORLD) continue;
        if (lone->count == CR_LONE_SHAPES) return;
        bool plane = shape->kind == CR_SHAPE_HALFSPACE;
        crVec3 n = plane ? cr_quat_rotate(shape->pose.q, shape->size) : cr_vec3(0, 0, 0);
        lone->still[lone->count].n = n;
        lone->still[lone->count].offset = shape->offset + cr_dot(n, shape->pose.p);
        lone->still[lone->count++].box = cr_shape_bounds(shape, cr_pose_identity());
    }
    lone->flies = true;
    lone->lies = step->rest.lying.may;
    lone->size = step->plan->size[1];
    lone->thin = step->plan->thin[1];
    memcpy(lone->fall, step->plan->fall, sizeof lone->fall);
    lone->deadband = s->deadband;
    lone->cluster = s->cluster;
    lone->bound = s->bound;
    lone->threshold = s->threshold;
    lone->position_tol = s->position_tol;
    lone->shift = s->shift;
    lone->tol = cr_step_tol(s);
    lone->measure = s->measure;
    prepare_contacts(world, lone);
}

// as audit_step.c has it
CR_FEW bool is_measured(double measure, double dt, double time, double end) {
    if (measure <= 0) return false;
    double period = measure * dt, from = time / period, to = end / period;
    return floor(to + 1e-9) > floor(from + 1e-9);
}

CR_FEW bool finite(const double* x, int count) {
    bool all = true;
    for (int i = 0; i < count; i++) {
        all = all & (fabs(x[i]) <= MOST);
    }
    return all;
}

// how far a point is outside an interval
CR_FEW double outside(double x, double lo, double hi) { return fmax(0.0, fmax(lo - x, x - hi)); }

// true if nothing that stands is within `reach` of a point
CR_FEW bool is_clear(const crLone* lone, crVec3 x, double reach) {
    bool clear = true;
    for (int i = 0; i < lone->count && clear; i++) {
        crVec3 n = lone->still[i].n;
        const crBounds* b = &lone->still[i].box;
        crVec3 off = cr_vec3(outside(x.x, b->lo.x, b->hi.x), outside(x.y, b->lo.y, b->hi.y),
                             outside(x.z, b->lo.z, b->hi.z));
        bool plane = cr_dot(n, n) > 0.0;
        clear = (plane ? cr_dot(n, x) - lone->still[i].offset : cr_norm(off)) > reach;
    }
    return clear;
}

CR_FEW double speed_of(const double* v, double size) {
    return cr_norm(cr__load_vec(v)) + cr_norm(cr__load_vec(v + 3)) * size;
}

// v without impulses; false where a number is not plain
CR_FEW bool free_velocity(crLoneStep* x) {
    const crBody* body = &x->model->bodies[1];
    crFewBody* at = &x->start.body;
    double k[6];
    if (cr__single_factor(body, x->start.pose.q, &at->root, &at->inverse) != CR_OK) return false;
    cr__single_forces(body, x->model->gravity, x->v0, k);
    for (int j = 0; j < 6; j++) {
        k[j] += x->s->force[j];
    }
    if (!finite(k, 6)) return false;
    for (int j = 0; j < 6; j++) {
        k[j] = x->h * k[j];
    }
    cr__single_solve(body, &at->inverse, k);
    for (int j = 0; j < 6; j++) {
        x->v_free[j] = x->v0[j] + k[j];
    }
    return true;
}

// q over h; in the air by the velocities of the flight. omega goes on with its angular momentum
CR_FEW void advance(crLoneStep* x) {
    const double* fall = x->lone->fall;
    double kept[6];
    memcpy(kept, x->v, sizeof kept);
    for (int j = 0; j < 6 && x->airborne; j++) {
        x->v[j] -= 0.5 * x->h * fall[j];
    }
    // arrays of their own: a device keeps the others in registers
    double q[7], v[6];
    memcpy(q, x->q, sizeof q);
    memcpy(v, x->v, sizeof v);
    cr__single_integrate(&x->model->bodies[1], x->h, q, v);
    memcpy(x->q, q, sizeof q);
    for (int j = 0; j < 6; j++) {
        x->v[j] = fall[j] != 0.0 ? kept[j] : v[j];
    }
}

// the state after the step against that before it
CR_FEW void certify(const crLoneStep* x, crCertificate* c) {
    double gain, floor, work = 0.0, q0[7], v0[6], q[7], v[6];
    memcpy(q0, x->q0, sizeof q0);
    memcpy(v0, x->v0, sizeof v0);
    memcpy(q, x->q, sizeof q);
    memcpy(v, x->v, sizeof v);
    cr__audit_single_energy(&x->model->bodies[1], x->model->gravity, q0, v0, q, v, &gain, &floor);
    for (int j = 0; j < 6; j++) {
        double force = x->s->force[j];
        if (force != 0.0) work += force * (0.5 * x->h * (x->v0[j] + x->v[j]));
    }
    c->overlap = (double)NAN;
    c->energy.change = 0.0 + gain;
    c->energy.size = floor / (16.0 * EPS);
    c->energy.work = 0.0 + work;
    gain -= work + 0.0;
    floor += 16.0 * EPS * fabs(work);
    if (gain > floor) c->energy.gain = gain;
}

CR_FEW bool is_apart(const crBounds* a, const crBounds* b) {
    return a->hi.x < b->lo.x || b->hi.x < a->lo.x || a->hi.y < b->lo.y || b->hi.y < a->lo.y ||
           a->hi.z < b->lo.z || b->hi.z < a->lo.z;
}

// the overlap of plane and body at the end, as audit_geometry.c has it for one pair
CR_FEW void measure(crLoneStep* x, bool ball, crCertificate* c) {
    const crShape *plane = &x->model->shapes[x->lone->shape_a].shape,
                  *shape = &x->model->shapes[x->lone->shape_b].shape;
    double q[7], deepest = 0.0;
    crLonePose end;
    crContactPoint one, *points = ball ? &one : x->work.points;
    memcpy(q, x->q, sizeof q);
    cr__lone_pose(&x->model->bodies[1], q, &end);
    crBounds under = cr_shape_bounds(plane, cr_pose_identity()), own = cr_shape_bounds(shape, end.pose);
    int count = is_apart(&under, &own) ? 0 : cr__lone_collide(x, ball, &end.pose, 0.0, points);
    CR_LONE_EACH(i, count, ball) {
        if (-points[i].gap > deepest) deepest = -points[i].gap;
    }
    c->overlap = deepest;
    c->penetration = fmax(c->penetration, deepest);
}

// omega of a body that the position pass turned, with the angular momentum that it had
CR_FEW void keep_momentum(crLoneStep* x, const double* before) {
    const crBody* body = &x->model->bodies[1];
    if (cr__single_round(body) || cr__lone_equal(before + 3, x->q + 3, 4)) return;
    crSym3 inertia = cr__sym3_rotate(cr_quat_normalize(cr__load_quat(before + 3)), body->inertia);
    crQuat q = cr_quat_normalize(cr__load_quat(x->q + 3));
    cr__store_vec(cr__single_omega(body, inertia, q, cr__load_vec(x->v + 3)), x->v + 3);
}

// forces for the next step; began: a contact that pressed before in no point does now
CR_FEW int keep_forces(const crLoneStep* x, bool ball, crWarm* out, bool* began) {
    int count = 0;
    double rate = 1.0 / x->h;
    *began = false;
    CR_LONE_EACH(i, x->count, ball) {
        const crLoneSpot* c = &x->spot[i];
        if (!(cr_dot(c->P, c->at.normal) > 0.0)) continue;
        *began = *began || (c->speed < 0.0 && x->s->warm_count == 0);
        out[ball ? 0 : count] =
            (crWarm){x->lone->shape_a, x->lone->shape_b, c->at.child_a,       c->at.child_b,
                     c->at.feature_a,  c->at.feature_b,  cr_scale(rate, c->P)};
        count++;
    }
    return count;
}

// A body that moved by rounding alone stays: q, forces, v = 0. True: the next step does the same.
CR_FEW bool rest(crLoneStep* x, bool ball, crWarm* warm, int count) {
    const crBody* body = &x->model->bodies[1];
    crLoneState* s = x->s;
    double fall = x->h * cr_norm(x->model->gravity);
    bool zero = true;
    for (int j = 0; j < 6; j++) {
        zero = zero && x->v0[j] == 0.0;
    }
    if (!cr__rest_nears(x->v0, 6, fall) || !cr__rest_slow(body, fall, speed_of(x->v, x->lone->size)) ||
        !cr__rest_there(x->q, x->q0, 7) || !cr__rest_same(warm, count, s->warm, s->warm_count))
        return false;
    memcpy(x->q, x->q0, sizeof x->q);
    memset(x->v, 0, sizeof x->v);
    CR_LONE_EACH(i, count, ball) { warm[i] = s->warm[i]; }
    return zero;
}

CR_FEW bool is_unforced(const crLoneState* s) {
    bool none = true;
    for (int j = 0; j < 6; j++) {
        none = none && s->force[j] == 0.0;
    }
    return none;
}

// As lie_down.c has it: the body began at rest, and the solve left it so with the forces that it had.
CR_FEW bool lies(const crLoneStep* x, bool ball, const crWarm* warm, int count) {
    const crLone* lone = x->lone;
    const crLoneState* s = x->s;
    double fall = x->h * cr_norm(x->model->gravity), slack = 1.0 + lone->position_tol;
    bool still = lone->lies && is_unforced(s);
    for (int j = 0; j < 6; j++) {
        still = still && x->v0[j] == 0.0;
    }
    CR_LONE_EACH(i, x->count, ball) { still = still && -x->spot[i].at.gap - slack * lone->delta <= 0.0; }
    return still && cr__rest_slow(&x->model->bodies[1], fall, speed_of(x->v, lone->size)) &&
           cr__rest_same(warm, count, s->warm, s->warm_count);
}

CR_FEW bool is_plain_end(const crLoneStep* x) {
    return finite(x->q, 7) && finite(x->v, 6) && cr_norm(cr__load_vec(x->q)) <= x->lone->bound;
}

CR_FEW bool is_fast(const crLoneStep* x) {
    return cr__audit_single_fast(&x->model->bodies[1], x->lone->size, CR_AUDIT_FAST * x->lone->thin, x->q0,
                                 x->q);
}

// a step in the air, far from everything
CR_FEW bool fly(crLoneStep* x, crCertificate* c) {
    memcpy(x->v, x->v_free, sizeof x->v);
    x->airborne = true;
    advance(x);
    if (!is_plain_end(x) || is_fast(x)) return false;
    *c = (crCertificate){.outcome = CR_OUTCOME_SOLVED, .solves = 1};
    certify(x, c);
    if (x->measured) c->overlap = 0.0;
    x->s->still = false;
    return true;
}

// The end of a step of a body that lies: it is audited with v = 0, and its contacts stay as they are.
CR_FEW bool lie(crLoneStep* x, bool ball, crCertificate* c) {
    memset(x->v, 0, sizeof x->v);
    CR_LONE_EACH(i, x->count, ball) {
        x->spot[i].u = cr__lone_velocity(x, x->v, x->spot[i].at.point);
        c->penetration = fmax(c->penetration, -x->spot[i].at.gap);
    }
    if (!cr__lone_audit(x, ball, c) || !is_plain_end(x)) return false;
    certify(x, c);
    x->s->overlap = c->penetration;
    if (x->measured) measure(x, ball, c);
    memcpy(x->q, x->s->q, sizeof x->q);
    x->s->still = true;
    return true;
}

// a step near the plane, as far as the sweeps of its first round; false: left to the stages
CR_FEW bool approach(crLoneStep* x, bool ball, crLoneSolve* solve) {
    if (!cr__lone_find(x, ball)) return false;
    cr__lone_choose(x, ball, true);
    solve->round = 0;
    return cr__lone_round(x, ball, solve);
}

// and after its last round
CR_FEW bool leave(crLoneStep* x, bool ball, crCertificate* c) {
    crLoneState* s = x->s;
    crWarm warm[CR_LONE_CONTACTS];
    double before[7];
    bool began;
    *c = (crCertificate){.outcome = CR_OUTCOME_SOLVED, .contacts = x->count, .rows = 3 * x->taken};
    int count = keep_forces(x, ball, warm, &began);
    if (lies(x, ball, warm, count)) return lie(x, ball, c);
    if (!cr__lone_audit(x, ball, c)) return false;
    advance(x);
    if (!is_plain_end(x)) return false;
    memcpy(before, x->q, sizeof before);
    if (!cr__lone_push(x, ball)) return false;
    c->penetration = x->overlap;
    keep_momentum(x, before);
    bool still = !began && rest(x, ball, warm, count);
    if (is_fast(x)) return false;
    certify(x, c);
    s->overlap = c->penetration;
    if (x->measured) measure(x, ball, c);
    if (still) {
        memcpy(x->q, s->q, sizeof x->q);
        s->still = is_unforced(s);
        return true;
    }
    s->still = false;
    s->warm_count = count;
    CR_LONE_EACH(i, count, ball) { s->warm[i] = warm[i]; }
    return true;
}

// from the state to a step under way; false where a number is not plain
CR_FEW bool begin(crLoneStep* x) {
    const crLoneState* s = x->s;
    const crLone* lone = x->lone;
    double end = s->time + x->h;
    if (!(finite(s->q, 7) && finite(s->v, 6) && finite(s->force, 6) && finite(&end, 1))) return false;
    memcpy(x->q0, s->q, sizeof x->q0);
    memcpy(x->v0, s->v, sizeof x->v0);
    // as the check of a state leaves it
    crQuat turn = cr__load_quat(s->q + 3);
    double length = sqrt(turn.w * turn.w + turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
    if (!(fabs(length - 1.0) <= UNIT)) return false;
    cr__store_quat(cr_quat_normalize(turn), x->q0 + 3);
    memcpy(x->q, x->q0, sizeof x->q);
    cr__lone_pose(&x->model->bodies[1], x->q0, &x->start);
    if (!free_velocity(x)) return false;
    double speed = speed_of(x->v0, lone->size), free = speed_of(x->v_free, lone->size);
    x->about = speed <= CR_REST_ABOUT * (x->h * cr_norm(x->model->gravity));
    if (free > speed) speed = free;
    x->margin = x->h * speed + ((lone->deadband + PUSH) * lone->size + lone->cluster);
    return x->h * speed <= lone->bound;
}

CR_FEW crLonePhase made(crLoneStep* x, bool good) {
    if (!good) return CR_LONE_LEFT;
    memcpy(x->s->q, x->q, sizeof x->q);
    memcpy(x->s->v, x->v, sizeof x->v);
    x->s->time = x->s->time + x->h;
    x->s->still_h = x->h;
    return CR_LONE_MADE;
}

// what follows a round of sweeps
CR_FEW crLonePhase finish(crLoneStep* x, bool ball, crLoneSolve* solve, crCertificate* c) {
    int added = cr__lone_look(x, ball, solve);
    if (added == 0) return made(x, leave(x, ball, c));
    return added > 0 && cr__lone_round(x, ball, solve) ? CR_LONE_WAITS : CR_LONE_LEFT;
}

CR_FEW crLonePhase start(crLoneStep* x, bool ball, crLoneSolve* solve, crCertificate* c) {
    const crLone* lone = x->lone;
    if (!begin(x)) return CR_LONE_LEFT;
    if (x->s->warm_count == 0 && is_clear(lone, x->start.body.origin, lone->size + CLEAR * x->margin))
        return made(x, fly(x, c));
    return lone->touches && approach(x, ball, solve) ? CR_LONE_WAITS : CR_LONE_LEFT;
}

CR_FEW void put(crLoneStep* x, const crLone* lone, const crModel* model, double h, crLoneState* s) {
    x->lone = lone;
    x->model = model;
    x->h = h;
    x->s = s;
    x->measured = is_measured(lone->measure, s->dt, s->time, s->time + h);
}

// the whole step of a ball, whose numbers stay in registers
CR_FEW_APART crLonePhase step_ball(const crLone* lone, const crModel* model, double h, crLoneState* s,
                                   crCertificate* c) {
    crLoneStep x;
    crLoneSolve solve;
    put(&x, lone, model, h, s);
    // known on every way to its end, else a device keeps all of the step in memory
    solve.few = (crFew){.body = &x.start.body, .contact = x.contact, .slot = x.work.slot};
    crLonePhase phase = start(&x, true, &solve, c);
    if (phase != CR_LONE_WAITS) return phase;
    cr__few_go_on(&solve.few, CR_LONE_SWEEPS);
    phase = finish(&x, true, &solve, c);
    // a ball has one round
    return phase == CR_LONE_MADE ? phase : CR_LONE_LEFT;
}

// a step that leaves all as it was, as the one before did
CR_FEW bool stays(const crLone* lone, double h, crLoneState* s, crCertificate* c) {
    double end = s->time + h;
    if (!(s->still && s->still_h == h) || is_measured(lone->measure, s->dt, s->time, end)) return false;
    s->time = end;
    c->overlap = (double)NAN;
    c->penetration = s->overlap;
    return true;
}

crLonePhase cr__lone_start(const crLone* lone, const crModel* model, double h, crLoneState* s,
                           crLoneWalk* walk, crCertificate* c) {
    if (!lone->flies) return CR_LONE_LEFT;
    if (stays(lone, h, s, c)) return CR_LONE_MADE;
    put(&walk->x, lone, model, h, s);
    return start(&walk->x, false, &walk->solve, c);
}

bool cr__lone_sweep(crLoneWalk* walk, int most) {
    cr__few_go_on_apart(&walk->solve.few, most);
    return !cr__few_is_open(&walk->solve.few);
}

crLonePhase cr__lone_finish(crLoneWalk* walk, crCertificate* c) {
    return finish(&walk->x, false, &walk->solve, c);
}

static bool step_box(const crLone* lone, const crModel* model, double h, crLoneState* s, crCertificate* c) {
    crLoneWalk walk;
    crLonePhase phase = cr__lone_start(lone, model, h, s, &walk, c);
    while (phase == CR_LONE_WAITS) {
        cr__lone_sweep(&walk, CR_LONE_SWEEPS);
        phase = cr__lone_finish(&walk, c);
    }
    return phase == CR_LONE_MADE;
}

bool cr__lone_step(const crLone* lone, const crModel* model, double h, crLoneState* s, crCertificate* c) {
    if (!lone->ball) return step_box(lone, model, h, s, c);
    return lone->flies && (stays(lone, h, s, c) || step_ball(lone, model, h, s, c) == CR_LONE_MADE);
}

bool cr__lone_fits(const crLone* lone, const crWorld* world) {
    return lone->flies && world->step.warm.count <= CR_LONE_CONTACTS &&
           finite(world->step.state.motor_speed, 6);
}

void cr__lone_take(const crWorld* world, crLoneState* s) {
    const crState* from = &world->step.state;
    s->time = from->time;
    s->dt = world->step.settings.dt;
    memcpy(s->q, from->q, sizeof s->q);
    memcpy(s->v, from->v, sizeof s->v);
    memcpy(s->force, from->force, sizeof s->force);
    s->warm_count = world->step.warm.count;
    for (int i = 0; i < s->warm_count; i++) {
        s->warm[i] = world->step.warm.force[i];
    }
    s->still = false;
}

crStatus cr__lone_give(const crLoneState* s, crWorld* world) {
    crStep* step = &world->step;
    crStatus status = CR_GROW(&step->own.allocator, step->warm.force, step->warm.capacity, 0, s->warm_count);
    if (status != CR_OK) return status;
    step->state.time = s->time;
    memcpy(step->state.q, s->q, sizeof s->q);
    memcpy(step->state.v, s->v, sizeof s->v);
    for (int i = 0; i < s->warm_count; i++) {
        step->warm.force[i] = s->warm[i];
    }
    step->warm.count = s->warm_count;
    step->events.count = 0;
    world->last_h = 0.0;
    return CR_OK;
}
