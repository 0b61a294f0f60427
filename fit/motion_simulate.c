// motion_simulate.c - measured tosses through a scene: the scene with its parameters set, begun at the first sample.
//
// Between two samples go n equal steps, n the least number that makes them no longer than the scene's dt. Tosses are worlds
// of a batch (worlds.c), along paths that end at the samples. Fails: see motion.h; where a step ends in numbers that are not
// finite the body stays where it was, so that a loss exists and the search can go on.
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "fit/motion_parts.h"
#include "fit/worlds.h"

// angle of a rotation about a unit axis, in (-pi, pi]
static double angle_about(crQuat q, crVec3 axis) {
    double s = q.x * axis.x + q.y * axis.y + q.z * axis.z;
    return 2.0 * cr_atan2(q.w < 0.0 ? -s : s, fabs(q.w));
}

// q and v of a jointed body that put it at the measured pose as far as its joint can, the rest of the scene as it starts
static crStatus start_joint(const crModel* model, int index, const crTossSample* s, crState* state) {
    const crBody* body = &model->bodies[index];
    crArena arena;
    crDynamics d;
    cr_arena_create(&arena, NULL, 0);
    crState whole;
    crStatus status = cr_state_create(model, &arena, &whole);
    if (status == CR_OK) status = cr_dynamics_create(model, &arena, &d);
    if (status == CR_OK) {
        whole.q = state->q;
        whole.v = state->v;
        cr_model_kinematics(model, &whole, &d);
        cr_model_velocity(model, state->v, &d);
        // the joint's frame at q = 0, and the velocity of its parent
        crPose zero = cr_pose_mul(d.pose[body->parent], body->pose);
        crVec3 w = cr_sub(s->w, d.twist[body->parent].omega), axis = cr_quat_rotate(zero.q, body->axis);
        crQuat turn = cr_quat_mul(cr_quat_conj(zero.q), s->pose.q);
        double *q = &state->q[body->q], *v = &state->v[body->v];
        if (body->joint == CR_JOINT_HINGE) {
            q[0] = angle_about(turn, body->axis);
            v[0] = cr_dot(w, axis);
            const crDof* dof = cr_model_dof(model, body->v);
            if (q[0] < dof->lower && q[0] + 2.0 * CR_PI <= dof->upper) q[0] += 2.0 * CR_PI;
            if (q[0] > dof->upper && q[0] - 2.0 * CR_PI >= dof->lower) q[0] -= 2.0 * CR_PI;
        } else if (body->joint == CR_JOINT_SLIDER) {
            q[0] = cr_dot(cr_sub(s->pose.p, zero.p), axis);
            v[0] = cr_dot(cr_sub(s->v, cr_model_point_velocity(&d, body->parent, zero.p)), axis);
        } else {
            turn = cr_quat_normalize(turn);
            crVec3 own = cr_quat_rotate(cr_quat_conj(zero.q), w);
            memcpy(q, (const double[]){turn.w, turn.x, turn.y, turn.z}, 4 * sizeof *q);
            memcpy(v, (const double[]){own.x, own.y, own.z}, 3 * sizeof *v);
        }
    }
    cr_arena_destroy(&arena);
    return status;
}

crStatus cr__motion_start(const crModel* model, const crMotionModel* m, const crTossSample* s,
                          crState* state) {
    const crBody* body = &model->bodies[m->body];
    double *q = &state->q[body->q], *v = &state->v[body->v];
    if (body->joint == CR_JOINT_PLANAR) {
        const double at[3] = {s->pose.p.x, s->pose.p.y, s->angle}, rate[3] = {s->v.x, s->v.y, s->w.z};
        memcpy(q, at, sizeof at);
        memcpy(v, rate, sizeof rate);
        return CR_OK;
    }
    if (body->joint != CR_JOINT_FREE) return start_joint(model, m->body, s, state);
    const double at[7] = {s->pose.p.x, s->pose.p.y, s->pose.p.z, s->pose.q.w,
                          s->pose.q.x, s->pose.q.y, s->pose.q.z};
    const double rate[6] = {s->v.x, s->v.y, s->v.z, s->w.x, s->w.y, s->w.z};
    memcpy(q, at, sizeof at);
    memcpy(v, rate, sizeof rate);
    return CR_OK;
}

// Tosses that are simulated together.
typedef struct Block {
    const crMotionModel* m;
    const crMotionJob* jobs;
    int count, points, samples;
    crScene* points_at;      // a scene for every set of values (points)
    crScene* scenes;         // of each toss: the scene of its values, q and v its own (count)
    int *group, *steps;      // (count), (count*samples)
    double *h, *q, *starts;  // (count*samples), (count*samples*nq), (count*(nq + nv))
} Block;

static const crToss* toss_of(const Block* b, int i) { return &b->m->tosses->tosses[b->jobs[i].toss]; }

static const crTossSample* samples_of(const Block* b, int i) {
    return &b->m->tosses->samples[toss_of(b, i)->first];
}

static crStatus no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "scene", "scene: out of memory");
}

static bool sets_settings(const crMotionModel* m) {
    for (int i = 0; i < m->param_count; i++) {
        if (cr__worlds_setting(m->params[i].path)) return true;
    }
    return false;
}

// equal steps between samples
static void lay_path(Block* b, int i, double dt) {
    const crTossSample* s = samples_of(b, i);
    for (int k = 1; k < toss_of(b, i)->count; k++) {
        double span = s[k].time - s[k - 1].time;
        double steps = b->m->substeps > 0 ? b->m->substeps : floor(span / dt + (1.0 - 1e-6));
        steps = fmax(steps, 1.0);
        size_t at = (size_t)i * (size_t)b->samples + (size_t)k - 1;
        b->h[at] = span / steps;
        b->steps[at] = (int)steps;
    }
}

// the start of toss i in its scene
static crStatus begin_toss(Block* b, int i, const crScene* point, crError* error) {
    const crModel* model = point->model;
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    crScene* scene = &b->scenes[i];
    *scene = *point;
    scene->q = b->starts + (size_t)i * (nq + nv);
    scene->v = scene->q + nq;
    memcpy(scene->q, point->q, nq * sizeof(double));
    memcpy(scene->v, point->v, nv * sizeof(double));
    crState state = {.q = scene->q, .v = scene->v};
    crStatus status = cr__motion_start(model, b->m, samples_of(b, i), &state);
    if (status != CR_OK) return cr_error_set(error, status, "scene", "scene: %s", cr_status_text(status));
    scene->time = 0.0;
    lay_path(b, i, scene->step.dt);
    return CR_OK;
}

static bool same_values(const Block* b, int i) { return i > 0 && b->jobs[i].values == b->jobs[i - 1].values; }

static crStatus fill_block(Block* b, const crModel* model, int* failed, crError* error) {
    size_t n = (size_t)b->count, all = n * (size_t)b->samples, width = (size_t)(model->nq + model->nv);
    b->points_at = calloc(n, sizeof *b->points_at);
    b->scenes = calloc(n, sizeof *b->scenes);
    b->group = calloc(n, sizeof *b->group);
    b->steps = calloc(all, sizeof *b->steps);
    b->h = calloc(all, sizeof *b->h);
    b->q = calloc(all * (size_t)model->nq + 1, sizeof *b->q);
    b->starts = calloc(n * width + 1, sizeof *b->starts);
    if (b->points_at == NULL || b->scenes == NULL || b->group == NULL || b->steps == NULL || b->h == NULL ||
        b->q == NULL || b->starts == NULL)
        return no_memory(error);
    bool own = sets_settings(b->m);
    crStatus status = CR_OK;
    for (int i = 0; i < b->count && status == CR_OK; i++) {
        *failed = i;
        if (!same_values(b, i)) {
            status = cr__motion_scene(b->m, b->jobs[i].values, &b->points_at[b->points], error);
            b->points++;
        }
        if (status == CR_OK) status = begin_toss(b, i, &b->points_at[b->points - 1], error);
        b->group[i] = own ? b->points : 0;
    }
    return status;
}

static void free_block(Block* b) {
    for (int i = 0; i < b->points; i++) {
        cr_scene_free(&b->points_at[i]);
    }
    free(b->points_at);
    free(b->scenes);
    free(b->group);
    free(b->steps);
    free(b->h);
    free(b->q);
    free(b->starts);
}

static void compare(const crMotionModel* m, const crToss* t, const crTossSample* s, crPose pose,
                    crMotionRun* run) {
    crVec3 d = cr_sub(pose.p, s->pose.p);
    if (m->tosses->planar) d.z = 0.0;
    double angle = cr_rotation_between(pose.q, s->pose.q);
    run->position += cr_dot(d, d) / (m->length * t->count);
    run->rotation += angle * angle / t->count;
    double far = (cr_dot(d, d) / (m->length * m->length) + angle * angle) / (m->scale * m->scale);
    run->misfit += far / (1.0 + far) / t->count;
    run->coarse[0] += far / (625.0 + far) / t->count;
    run->coarse[1] += far / (25.0 + far) / t->count;
}

// poses at the samples, by the q that were kept; the last state stands for those that were not reached
static crStatus compare_all(const Block* b, int i, const crWorldsEnd* end, crMotionRun* run, crError* error) {
    const crModel* model = b->scenes[i].model;
    const crToss* t = toss_of(b, i);
    const crTossSample* s = samples_of(b, i);
    crPose* poses = b->jobs[i].poses;
    crArena arena;
    crDynamics d;
    crState state;
    cr_arena_create(&arena, NULL, 0);
    crStatus status = cr_state_create(model, &arena, &state);
    if (status == CR_OK) status = cr_dynamics_create(model, &arena, &d);
    if (status != CR_OK) no_memory(error);
    int made = end->result.tally.steps;
    for (int k = 0; k < t->count && status == CR_OK; k++) {
        size_t at = (size_t)i * (size_t)b->samples + (size_t)(k > 0 ? k - 1 : 0);
        if (k > 0) made -= b->steps[at];
        const double* q = k == 0 ? b->scenes[i].q : made >= 0 ? b->q + at * (size_t)model->nq : end->q;
        memcpy(state.q, q, (size_t)model->nq * sizeof *q);
        state.time = s[k].time - s[0].time;
        cr_model_kinematics(model, &state, &d);
        compare(b->m, t, &s[k], d.pose[b->m->body], run);
        if (poses != NULL) poses[k] = d.pose[b->m->body];
    }
    cr_arena_destroy(&arena);
    return status;
}

static crStatus take_toss(void* ctx, int i, const crWorldsEnd* end, crError* error) {
    const Block* b = ctx;
    const crBatchResult* r = &end->result;
    crMotionRun* run = b->jobs[i].run;
    if (r->status != CR_OK && r->status != CR_ERR_FINITE) {
        if (error != NULL) *error = end->why;
        return r->status;
    }
    *run = (crMotionRun){.penetration = fmax(0.0, r->tally.worst.penetration),
                         .energy_created = r->created,
                         .energy_gain = r->rise,
                         .steps = r->tally.steps,
                         .unsolved = r->tally.near + r->tally.unsure + r->tally.failed,
                         .impermissible = r->tally.worst.impermissible,
                         .broken = r->status == CR_ERR_FINITE};
    return compare_all(b, i, end, run, error);
}

crStatus cr__motion_simulate(const crMotionModel* m, crWorlds* worlds, const crMotionJob* jobs, int count,
                             int* failed, crError* error) {
    Block b = {.m = m, .jobs = jobs, .count = count, .samples = 1};
    for (int i = 0; i < count; i++) {
        int samples = toss_of(&b, i)->count - 1;
        if (samples > b.samples) b.samples = samples;
    }
    *failed = 0;
    crStatus status = fill_block(&b, worlds->nominal->model, failed, error);
    if (status == CR_OK) {
        crWorldsRun run = {
            .scenes = b.scenes,
            .group = b.group,
            .count = count,
            .path = {.samples = b.samples, .h = b.h, .steps = b.steps, .as_dt = true, .q = b.q},
            .take = take_toss,
            .ctx = &b};
        status = cr__worlds_run(worlds, &run, failed, error);
    }
    free_block(&b);
    return status;
}

crStatus cr_motion_simulate(const crMotionModel* m, const double* values, int toss, crMotionRun* run,
                            crPose* poses, crError* error) {
    crMotionWorlds worlds;
    *run = (crMotionRun){0};
    crStatus status = cr__motion_worlds(&worlds, m, &(crWorldsDevice){0}, 1, 1, error);
    int failed = 0;
    if (status == CR_OK)
        status = cr__motion_simulate(m, &worlds.worlds, &(crMotionJob){values, toss, run, poses}, 1, &failed,
                                     error);
    cr__motion_worlds_destroy(&worlds);
    return status;
}

crStatus cr__motion_worlds(crMotionWorlds* w, const crMotionModel* m, const crWorldsDevice* device,
                           int threads, int tosses, crError* error) {
    *w = (crMotionWorlds){0};
    crStatus status = cr__motion_scene(m, NULL, &w->nominal, error);
    w->worlds = (crWorlds){.nominal = &w->nominal,
                           .device = *device,
                           .threads = threads,
                           .room = cr__worlds_room(device, threads, tosses)};
    return status;
}

void cr__motion_worlds_destroy(crMotionWorlds* w) {
    cr__worlds_destroy(&w->worlds);
    cr_scene_free(&w->nominal);
}
