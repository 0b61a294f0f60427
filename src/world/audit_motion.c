// audit_motion.c - the audit of a motion that came from anywhere: records one after another, overlap, crossings,
// verdicts. What happens between two records is in audit_islands.c.
//
// Poses come from q by kinematics, or are given; then bodies without freedom of their own follow their parents, and
// driven ones their drives. Fails: see audit.h.
#include <string.h>

#include "base/argument.h"
#include "model/spatial.h"
#include "step/audit.h"
#include "step/step.h"
#include "world/audit_motion.h"

#define UNIT_TOL 1e-6  // how far from 1 a quaternion's norm may be, beside its digits
#define SMALL    1e-3  // of the smallest body: overlap that is allowed unless one is given

crMotionLimits cr_motion_limits(void) {
    return (crMotionLimits){.overlap = 0.0, .energy = 1e-6, .speed = 0.01, .touch = 1e-3, .bound = 1e6};
}

// records

static const char* name_of(const crMotionWork* w, int body) {
    const char* name = w->model->bodies[body].name;
    return name != NULL ? name : "";
}

static crStatus refuse(const crMotionWork* w, crStatus status, int body, const char* what, double value,
                       crError* error) {
    return cr_error_set(error, status, what, "%s: record %d%s%s: is %g, must be finite", what,
                        (int)w->record + 1, body > 0 ? ", body " : "", body > 0 ? name_of(w, body) : "",
                        value);
}

static crStatus check_quat(const crMotionWork* w, int body, crQuat* q, crError* error) {
    double norm = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (!(fabs(norm - 1.0) <= UNIT_TOL + 4.0 * w->data->digits.rotation))
        return cr_error_set(error, CR_ERR_UNIT, "quaternion",
                            "quaternion: record %d, body %s: has norm %g, must be 1", (int)w->record + 1,
                            name_of(w, body), norm);
    *q = cr_quat_normalize(*q);
    return CR_OK;
}

static crStatus check_numbers(const crMotionWork* w, int body, const double* x, int count, const char* what,
                              crError* error) {
    for (int i = 0; i < count; i++) {
        if (!isfinite(x[i])) return refuse(w, CR_ERR_FINITE, body, what, x[i], error);
    }
    return CR_OK;
}

// q and v of the record into the state, checked
static crStatus take_coordinates(crMotionWork* w, crError* error) {
    const crModel* model = w->model;
    crState* state = &w->step.state;
    const double* q = w->data->q + w->record * (size_t)model->nq;
    crStatus status = CR_OK;
    for (int i = 1; i < model->nb && status == CR_OK; i++) {
        const crBody* body = &model->bodies[i];
        status = check_numbers(w, i, q + body->q, body->nq, "position", error);
        if (status == CR_OK && w->velocities) {
            const double* v = w->data->v + w->record * (size_t)model->nv + body->v;
            status = check_numbers(w, i, v, body->nv, "velocity", error);
            memcpy(state->v + body->v, v, (size_t)body->nv * sizeof *v);
        }
        if (status != CR_OK) return status;
        memcpy(state->q + body->q, q + body->q, (size_t)body->nq * sizeof *q);
        if (body->joint != CR_JOINT_FREE && body->joint != CR_JOINT_BALL) continue;
        double* at = state->q + body->q + (body->joint == CR_JOINT_FREE ? 3 : 0);
        crQuat turn = cr__load_quat(at);
        status = check_quat(w, i, &turn, error);
        cr__store_quat(turn, at);
    }
    return status;
}

// energy of springs and rotors of a body's joint
static double extra_energy(const crMotionWork* w, int i, bool coordinates) {
    const crModel* model = w->model;
    const crBody* body = &model->bodies[i];
    const crDynamics* d = &w->step.dynamics;
    bool springs = false, rotors = false;
    double sum = 0.0;
    for (int j = body->v; j < body->v + body->nv; j++) {
        springs = springs || cr_model_dof(model, j)->stiffness > 0.0;
        rotors = rotors || cr_model_dof(model, j)->armature > 0.0;
        sum += 0.5 * cr_model_dof(model, j)->armature * w->step.state.v[j] * w->step.state.v[j];
    }
    if (!springs && !rotors) return 0.0;
    if (!coordinates || !w->velocities) return (double)NAN;
    crEnergy parts = cr__body_energy(model, i, &w->step.state, d, NULL);
    return sum + parts.potential + body->mass * body->gravity_scale * cr_dot(model->gravity, d->com[i]);
}

static crStatus place_by_coordinates(crMotionWork* w, crError* error) {
    crDynamics* d = &w->step.dynamics;
    crStatus status = take_coordinates(w, error);
    if (status != CR_OK) return status;
    cr_model_kinematics(w->model, &w->step.state, d);
    cr_model_velocity(w->model, w->step.state.v, d);
    for (int i = 0; i < w->model->nb; i++) {
        w->here.pose[i] = d->pose[i];
        w->here.at[i] = (crMoving){.com = d->com[i], .inertia = d->inertia[i], .omega = d->twist[i].omega};
        w->here.at[i].u = cr_model_point_velocity(d, i, d->com[i]);
        w->here.at[i].extra = extra_energy(w, i, true);
    }
    return CR_OK;
}

static crStatus place_body(crMotionWork* w, int i, crError* error) {
    const crBody* body = &w->model->bodies[i];
    size_t at = w->record * (size_t)w->model->nb + (size_t)i;
    if (body->joint == CR_JOINT_FIXED) {
        w->here.pose[i] = cr_pose_mul(w->here.pose[body->parent], body->pose);
    } else if (body->joint != CR_JOINT_DRIVEN) {
        w->here.pose[i] = w->data->pose[at];
        const crPose* p = &w->here.pose[i];
        const double x[] = {p->p.x, p->p.y, p->p.z, p->q.w, p->q.x, p->q.y, p->q.z};
        crStatus status = check_numbers(w, i, x, 7, "position", error);
        if (status == CR_OK) status = check_quat(w, i, &w->here.pose[i].q, error);
        if (status != CR_OK) return status;
    }
    w->here.at[i] = (crMoving){.com = cr_pose_point(w->here.pose[i], body->com),
                               .inertia = cr__sym3_rotate(w->here.pose[i].q, body->inertia)};
    w->here.at[i].extra = extra_energy(w, i, false);
    if (!w->velocities || body->joint == CR_JOINT_DRIVEN) return CR_OK;
    if (body->joint == CR_JOINT_FIXED) {
        const crMoving* parent = &w->here.at[body->parent];
        w->here.at[i].omega = parent->omega;
        w->here.at[i].u = cr_add(parent->u, cr_cross(parent->omega, cr_sub(w->here.at[i].com, parent->com)));
        return CR_OK;
    }
    w->here.at[i].u = w->data->velocity[at];
    w->here.at[i].omega = w->data->omega[at];
    const double v[] = {w->here.at[i].u.x,     w->here.at[i].u.y,     w->here.at[i].u.z,
                        w->here.at[i].omega.x, w->here.at[i].omega.y, w->here.at[i].omega.z};
    return check_numbers(w, i, v, 6, "velocity", error);
}

static crStatus place_by_poses(crMotionWork* w, crError* error) {
    cr_model_kinematics(w->model, &w->step.state, &w->step.dynamics);
    memcpy(w->here.pose, w->step.dynamics.pose, (size_t)w->model->nb * sizeof *w->here.pose);
    w->here.at[CR_WORLD] = (crMoving){0};
    crStatus status = CR_OK;
    for (int i = 1; i < w->model->nb && status == CR_OK; i++) {
        status = place_body(w, i, error);
    }
    return status;
}

static crStatus take_time(crMotionWork* w, crError* error) {
    double time = w->data->time[w->record];
    if (!isfinite(time)) return refuse(w, CR_ERR_FINITE, 0, "time", time, error);
    if (w->record > 0 && !(time > w->data->time[w->record - 1]))
        return cr_error_set(error, CR_ERR_RANGE, "time",
                            "time: record %d is at %g s, must be later than the one before, %g s",
                            (int)w->record + 1, time, w->data->time[w->record - 1]);
    w->step.state.time = time;
    w->h_before = w->h;
    w->h = w->record > 0 ? time - w->data->time[w->record - 1] : 0.0;
    return CR_OK;
}

// figures of one record

static void find_energy(crMotionWork* w) {
    double sum = 0.0, kinetic = 0.0, floor = 0.0;
    w->now->energy = (double)NAN;
    if (!w->velocities) return;
    for (int i = 1; i < w->model->nb; i++) {
        if (cr__moves(w->model, i)) sum += cr__motion_energy(w, i, &w->here.at[i], &floor, &kinetic);
    }
    if (isnan(sum)) return;
    w->now->energy = sum;
    w->energy_least = fmin(w->energy_least, sum);
    w->energy_most = fmax(w->energy_most, sum);
    w->kinetic_most = fmax(w->kinetic_most, kinetic);
    if (isnan(w->report->energy_start)) w->report->energy_start = sum;
    w->report->energy_end = sum;
}

static crStatus find_overlap(crMotionWork* w) {
    crAuditPair pair;
    crStatus status = cr__audit_overlap_at(w->step.plan, NULL, &w->step.scratch, w->here.pose, &pair);
    if (status != CR_OK) return status;
    const crModel* model = w->model;
    int a = pair.shape_a >= 0 ? model->shapes[pair.shape_a].body : -1;
    int b = pair.shape_b >= 0 ? model->shapes[pair.shape_b].body : -1;
    const crMotionDigits* digits = &w->data->digits;
    double reach = 0.0;
    for (int k = 0; k < 2; k++) {
        int body = k == 0 ? a : b;
        if (body > 0) reach += 1.8 * digits->position + 4.0 * w->step.plan->size[body] * digits->rotation;
    }
    w->now->overlap = pair.depth;
    w->now->overlap_a = a;
    w->now->overlap_b = b;
    w->report->overlaps += pair.depth > w->limits.overlap;
    cr__motion_worst(&w->report->overlap, pair.depth, reach, w->now->time, a, b);
    return CR_OK;
}

static crStatus find_crossings(crMotionWork* w) {
    crAuditCrossings found;
    crStatus status = cr__audit_crossings_between(w->step.plan, &w->step.scratch, w->before.pose,
                                                  w->here.pose, NULL, &found);
    if (status != CR_OK) return status;
    crMotionReport* r = w->report;
    if (found.crossed > 0 && r->crossings == 0) {
        r->crossing = (crMotionWorst){found.crossed, 0.0, w->now->time, w->model->shapes[found.shape_a].body,
                                      w->model->shapes[found.shape_b].body};
    }
    r->crossings += (size_t)found.crossed;
    r->crossings_unsure += (size_t)found.unsure;
    w->now->crossings = found.crossed;
    w->now->crossings_unsure = found.unsure;
    return CR_OK;
}

static void find_escaped(crMotionWork* w) {
    for (int i = 1; i < w->model->nb; i++) {
        double far = cr_norm(w->here.pose[i].p);
        if (far > w->limits.bound) cr__motion_worst(&w->report->escaped, far, 0.0, w->now->time, i, -1);
    }
}

static void next_record(crMotionWork* w) {
    crMotionRecord swap = w->here;
    w->here = w->before;
    w->before = swap;
}

static crStatus audit_record(crMotionWork* w, crError* error) {
    crStatus status = take_time(w, error);
    if (status == CR_OK)
        status = w->data->q != NULL ? place_by_coordinates(w, error) : place_by_poses(w, error);
    if (status != CR_OK) return status;
    *w->now = (crMotionStep){
        .time = w->step.state.time, .gain = (double)NAN, .momentum = (double)NAN, .spin = (double)NAN};
    find_energy(w);
    find_escaped(w);
    status = find_overlap(w);
    if (status == CR_OK && w->record > 0) status = find_crossings(w);
    if (status == CR_OK && w->record > 0) status = cr__motion_interval(w);
    if (status != CR_OK) return cr_error_set(error, status, "", "motion: %s", cr_status_text(status));
    next_record(w);
    return CR_OK;
}

// the whole motion

static void* zeros(crMotionWork* w, size_t size, bool* ok) {
    size_t bytes = (size_t)w->model->nb * size;
    void* memory = cr_arena_alloc(&w->step.own.store, bytes);
    if (memory != NULL) memset(memory, 0, bytes);
    *ok = *ok && memory != NULL;
    return memory;
}

static crStatus make_arrays(crMotionWork* w) {
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        crMotionRecord* r = k == 0 ? &w->here : &w->before;
        r->pose = zeros(w, sizeof *r->pose, &ok);
        r->at = zeros(w, sizeof *r->at, &ok);
        r->mean = zeros(w, sizeof *r->mean, &ok);
        r->root = zeros(w, sizeof *r->root, &ok);
        r->touched = zeros(w, sizeof(bool), &ok);
        r->grounded = zeros(w, sizeof(bool), &ok);
        r->powered = zeros(w, sizeof(bool), &ok);
    }
    w->near = zeros(w, sizeof *w->near, &ok);
    w->islands = zeros(w, sizeof *w->islands, &ok);
    return ok ? CR_OK : CR_ERR_MEMORY;
}

static void set_limit(crMotionWork* w) {
    double least = (double)INFINITY;
    for (int i = 1; i < w->model->nb; i++) {
        if (cr__moves(w->model, i) && w->step.plan->size[i] > 0.0) least = fmin(least, w->step.plan->size[i]);
    }
    if (w->limits.overlap == 0.0 && isfinite(least)) w->limits.overlap = SMALL * least;
}

static crMotionReport begin_report(const crMotionWork* w) {
    const crMotionWorst unknown = {(double)NAN, 0.0, 0.0, -1, -1}, none = {0.0, 0.0, 0.0, -1, -1};
    return (crMotionReport){.records = w->data->count,
                            .start = w->data->time[0],
                            .end = w->data->time[w->data->count - 1],
                            .velocities = w->velocities,
                            .limits = w->limits,
                            .overlap = none,
                            .crossing = none,
                            .gained = none,
                            .escaped = none,
                            .momentum = unknown,
                            .spin = unknown,
                            .path = unknown,
                            .energy_start = (double)NAN,
                            .energy_end = (double)NAN};
}

static void end_report(const crMotionWork* w) {
    crMotionReport* r = w->report;
    r->energy_scale = w->kinetic_most + fmax(0.0, w->energy_most - w->energy_least);
    for (int i = 1; i < w->model->nb; i++) {
        const crBody* body = &w->model->bodies[i];
        if (!cr__moves(w->model, i)) continue;
        r->energy_scale +=
            body->mass * fabs(body->gravity_scale) * cr_norm(w->model->gravity) * w->step.plan->size[i];
    }
    if (r->energy_known == 0) r->gain = r->gain_least = r->gain_most = (double)NAN;
}

static crStatus check_arguments(const crModel* model, const crMotionData* data, const crMotionLimits* limits,
                                const crAllocator* allocator, const crMotionReport* report, crError* error) {
    if (model == NULL) return cr__missing(error, "model");
    if (data == NULL) return cr__missing(error, "data");
    if (limits == NULL) return cr__missing(error, "limits");
    if (report == NULL) return cr__missing(error, "report");
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    if (data->count == 0) return cr_error_set(error, CR_ERR_SIZE, "count", "count: a motion needs a record");
    if (data->time == NULL) return cr__missing(error, "time");
    if (data->q == NULL && data->pose == NULL && model->nq > 0) return cr__missing(error, "q");
    const double all[] = {limits->overlap, limits->energy, limits->speed, limits->touch, limits->bound};
    static const char* const names[] = {"overlap", "energy", "speed", "touch", "bound"};
    for (int i = 0; i < 5; i++) {
        if (!(all[i] >= 0.0))
            return cr_error_set(error, CR_ERR_RANGE, names[i], "%s: is %g, must be at least 0", names[i],
                                all[i]);
    }
    return CR_OK;
}

crStatus cr_audit_motion(const crModel* model, const crMotionData* data, const crMotionLimits* limits,
                         const crAllocator* allocator, crMotionStep* steps, crMotionReport* report,
                         crError* error) {
    crStatus status = check_arguments(model, data, limits, allocator, report, error);
    if (status != CR_OK) return status;
    crStepSettings settings = cr_step_settings();
    crMotionStep one;
    crMotionWork w = {.model = model, .data = data, .limits = *limits, .report = report};
    w.velocities =
        data->q != NULL ? data->v != NULL || model->nv == 0 : data->velocity != NULL && data->omega != NULL;
    w.least = (double)NAN;
    w.energy_least = (double)INFINITY;
    w.energy_most = -(double)INFINITY;
    status = cr_step_create(model, &settings, allocator, &w.step, error);
    if (status != CR_OK) return status;
    status = make_arrays(&w);
    if (status != CR_OK) cr_error_set(error, status, "", "motion: out of memory");
    set_limit(&w);
    *report = begin_report(&w);
    for (w.record = 0; w.record < data->count && status == CR_OK; w.record++) {
        w.now = steps != NULL ? &steps[w.record] : &one;
        status = audit_record(&w, error);
    }
    end_report(&w);
    cr_step_destroy(&w.step);
    return status;
}

// verdicts

crTruth cr_motion_no_overlap(const crMotionReport* r) {
    if (r == NULL) return CR_TRUTH_NO;
    return cr_truth_at_most(r->overlap.value, r->overlap.floor, r->limits.overlap);
}

crTruth cr_motion_no_crossing(const crMotionReport* r) {
    if (r == NULL || r->crossings > 0) return CR_TRUTH_NO;
    return r->crossings_unsure > 0 ? CR_TRUTH_UNSURE : CR_TRUTH_YES;
}

crTruth cr_motion_no_gain(const crMotionReport* r) {
    if (r == NULL) return CR_TRUTH_NO;
    double limit = r->limits.energy * r->energy_scale;
    if (r->gain_least > limit) return CR_TRUTH_NO;
    bool known = r->energy_unknown == 0 && r->gain_most <= limit;
    return known || r->records < 2 ? CR_TRUTH_YES : CR_TRUTH_UNSURE;
}

crTruth cr_motion_flies(const crMotionReport* r) {
    if (r == NULL) return CR_TRUTH_NO;
    if (isnan(r->momentum.value)) return r->flights_unknown > 0 ? CR_TRUTH_UNSURE : CR_TRUTH_YES;
    if (r->jumps > 0) return CR_TRUTH_NO;
    return cr_truth_at_most(r->momentum.value, r->momentum.floor, r->limits.speed);
}

crTruth cr_motion_holds(const crMotionReport* r) {
    if (r == NULL || r->escaped.value > 0.0) return CR_TRUTH_NO;
    crTruth geometry = cr_truth_and(cr_motion_no_overlap(r), cr_motion_no_crossing(r));
    return cr_truth_and(geometry, cr_truth_and(cr_motion_no_gain(r), cr_motion_flies(r)));
}
