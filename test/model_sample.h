// model_sample.h - random models and states, and a high-order integrator, for the tests of model/.
#ifndef CAROM_MODEL_SAMPLE_H
#define CAROM_MODEL_SAMPLE_H

#include <stdlib.h>

#include "sample.h"
#include "test.h"

// A model with its state and dynamics, all in one arena.
typedef struct Bench {
    crModel* model;
    crArena arena;
    crState state;
    crDynamics d;
} Bench;

static inline void bench_open(Bench* bench) {
    CHECK_STATUS(cr_model_check(bench->model, NULL), CR_OK);
    CHECK_STATUS(cr_arena_create(&bench->arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_state_create(bench->model, &bench->arena, &bench->state), CR_OK);
    CHECK_STATUS(cr_dynamics_create(bench->model, &bench->arena, &bench->d), CR_OK);
}

static inline void bench_close(Bench* bench) {
    cr_arena_destroy(&bench->arena);
    cr_model_destroy(bench->model);
}

static inline double* bench_array(Bench* bench, int count) {
    double* x = cr_arena_alloc(&bench->arena, (size_t)count * sizeof(double));
    for (int i = 0; i < count; i++) {
        x[i] = 0.0;
    }
    return x;
}

static inline crVec3 sample_vec(crRandom* random, double size) {
    return cr_vec3(sample_uniform(random, -size, size), sample_uniform(random, -size, size),
                   sample_uniform(random, -size, size));
}

// a body of random mass, centre and inertia that a body can have
static inline void sample_mass(crRandom* random, crBodyDef* def) {
    crVec3 x =
        cr_vec3(sample_log(random, 0.01, 0.3), sample_log(random, 0.01, 0.3), sample_log(random, 0.01, 0.3));
    double m = sample_log(random, 0.1, 10.0);
    crSym3 I = {.xx = m * (x.y + x.z), .yy = m * (x.x + x.z), .zz = m * (x.x + x.y)};
    def->mass = m;
    def->com = sample_vec(random, 0.3);
    def->inertia = cr_sym3_in_frame(I, cr_quat_matrix(sample_rotation(random)));
}

static inline crPose sample_place(crRandom* random, double size) {
    return (crPose){sample_vec(random, size), sample_rotation(random)};
}

// a drive with closed-form velocity and acceleration: a circle, and a turn about z at a changing rate
static inline void sample_drive(void* ctx, double t, crDriven* out) {
    (void)ctx;
    double s, c;
    cr_sincos(1.3 * t + 0.4, &s, &c);
    out->pose.p = cr_vec3(0.5 * c, 0.5 * s, 0.2 * t * t);
    out->velocity = cr_vec3(-0.65 * s, 0.65 * c, 0.4 * t);
    out->acceleration = cr_vec3(-0.845 * c, -0.845 * s, 0.4);
    out->pose.q = cr_quat_axis_angle(cr_vec3(0, 0, 1), 0.7 * t + 0.3 * t * t);
    out->omega = cr_vec3(0, 0, 0.7 + 0.6 * t);
    out->alpha = cr_vec3(0, 0, 0.6);
}

// Trees of every joint, interleaved: each body takes a random joint and, unless free or driven, a random
// parent. With driven = false the joints are scleronomic, with grounded = false every tree has a free root.
static inline Bench sample_model(crRandom* random, int bodies, bool driven, bool grounded) {
    Bench bench = {.model = cr_model_create(NULL)};
    for (int i = 1; i <= bodies; i++) {
        crBodyDef def = cr_body_def();
        int last = driven ? 7 : 6;
        def.joint = (crJoint)(sample_bits(random) % (uint64_t)last);
        if (!grounded && i == 1) def.joint = CR_JOINT_FREE;
        def.drive = sample_drive;
        def.parent = (int)(sample_bits(random) % (uint64_t)i);
        if (!grounded && def.parent == 0 && def.joint != CR_JOINT_FREE) def.parent = 1;
        if (def.joint == CR_JOINT_FREE || def.joint == CR_JOINT_DRIVEN) def.parent = 0;
        def.pose = sample_place(random, 0.5);
        def.axis = sample_vec(random, 2.0);
        def.gravity_scale = sample_uniform(random, 0.0, 2.0);
        sample_mass(random, &def);
        cr_model_add_body(bench.model, &def);
    }
    bench_open(&bench);
    return bench;
}

static inline void sample_state(crRandom* random, Bench* bench) {
    const crModel* model = bench->model;
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        double* q = bench->state.q + body->q;
        for (int i = 0; i < body->nq; i++) {
            q[i] = sample_uniform(random, -1.5, 1.5);
        }
        if (body->nq == 4 || body->nq == 7) {
            crQuat r = sample_rotation(random);
            double* at = q + body->nq - 4;
            at[0] = r.w;
            at[1] = r.x;
            at[2] = r.y;
            at[3] = r.z;
        }
    }
    for (int i = 0; i < model->nv; i++) {
        bench->state.v[i] = sample_uniform(random, -2.0, 2.0);
    }
    bench->state.time = sample_uniform(random, 0.0, 1.0);
}

// State moved by t with each joint's v kept: the free bodies' own turning is not wanted here, so they get the
// exponential of their omega.
static inline void bench_move(const Bench* from, double t, Bench* to) {
    const crModel* model = from->model;
    memcpy(to->state.q, from->state.q, (size_t)model->nq * sizeof(double));
    memcpy(to->state.v, from->state.v, (size_t)model->nv * sizeof(double));
    to->state.time = from->state.time;
    cr_model_integrate(model, t, &to->state);
    memcpy(to->state.v, from->state.v, (size_t)model->nv * sizeof(double));
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (body->joint != CR_JOINT_FREE) continue;
        const double* q = from->state.q + body->q;
        const double* v = from->state.v + body->v;
        double* out = to->state.q + body->q;
        crVec3 omega = cr_vec3(v[3], v[4], v[5]);
        crQuat before = {q[3], q[4], q[5], q[6]};
        crQuat after = cr_quat_mul(cr_quat_axis_angle(omega, t * cr_norm(omega)), before);
        crVec3 com = cr_add(cr_vec3(q[0], q[1], q[2]), cr_quat_rotate(before, body->com));
        crVec3 p = cr_sub(cr_madd(com, t, cr_vec3(v[0], v[1], v[2])), cr_quat_rotate(after, body->com));
        double values[7] = {p.x, p.y, p.z, after.w, after.x, after.y, after.z};
        memcpy(out, values, sizeof values);
    }
}

// derivative at 0 of samples at -3e .. 3e (sixth order); sample 3 is not used
static inline double derivative6(const double s[7], double e) {
    return (45.0 * (s[4] - s[2]) - 9.0 * (s[5] - s[1]) + (s[6] - s[0])) / (60.0 * e);
}

// One step of x' = f(t, x) by extrapolating the modified midpoint rule over 2, 4, ... 12 substeps: order 12
// (Gragg, Bulirsch and Stoer). n <= 64.
typedef void (*Rate)(void* ctx, double t, const double* x, double* rate);
static inline void gbs_step(Rate f, void* ctx, int n, double t, double h, double* x) {
    double table[6][64], a[64], b[64], r[64];
    for (int k = 0; k < 6; k++) {
        int count = 2 * (k + 1);
        double s = h / count;
        f(ctx, t, x, r);
        for (int i = 0; i < n; i++) {
            a[i] = x[i];
            b[i] = x[i] + s * r[i];
        }
        for (int m = 1; m < count; m++) {
            f(ctx, t + m * s, b, r);
            for (int i = 0; i < n; i++) {
                double next = a[i] + 2.0 * s * r[i];
                a[i] = b[i];
                b[i] = next;
            }
        }
        f(ctx, t + h, b, r);
        for (int i = 0; i < n; i++) {
            table[k][i] = 0.5 * (a[i] + b[i] + s * r[i]);
        }
        for (int j = k - 1; j >= 0; j--) {
            double ratio = (double)(k + 1) / (double)(j + 1);
            for (int i = 0; i < n; i++) {
                table[j][i] = table[j + 1][i] + (table[j + 1][i] - table[j][i]) / (ratio * ratio - 1.0);
            }
        }
    }
    memcpy(x, table[0], (size_t)n * sizeof(double));
}

// the stages of a step without contacts, as they are
static inline void bench_steps(Bench* bench, double h, int steps) {
    double force[64], v_free[64];
    for (int s = 0; s < steps; s++) {
        cr_model_kinematics(bench->model, &bench->state, &bench->d);
        CHECK_STATUS(cr_model_mass_factor(bench->model, 0.0, &bench->d), CR_OK);
        cr_model_forces(bench->model, &bench->state, &bench->d, force);
        cr_model_smooth_velocity(bench->model, &bench->state, force, h, &bench->d, v_free);
        memcpy(bench->state.v, v_free, (size_t)bench->model->nv * sizeof *v_free);
        cr_model_integrate(bench->model, h, &bench->state);
    }
}

// q' and v' of a whole model, the gyroscopic moment of single free bodies added: x holds q, then v
static inline void bench_rate(void* ctx, double t, const double* x, double* rate) {
    Bench* bench = ctx;
    const crModel* model = bench->model;
    memcpy(bench->state.q, x, (size_t)model->nq * sizeof(double));
    memcpy(bench->state.v, x + model->nq, (size_t)model->nv * sizeof(double));
    bench->state.time = t;
    double* k = rate + model->nq;
    cr_state_rate(model, bench->state.q, bench->state.v, rate);
    cr_model_kinematics(model, &bench->state, &bench->d);
    CHECK_STATUS(cr_model_mass_factor(model, 0.0, &bench->d), CR_OK);
    cr_model_forces(model, &bench->state, &bench->d, k);
    for (int b = 1; b < model->nb; b++) {
        const crBody* body = &model->bodies[b];
        if (!body->single) continue;
        const double* v = bench->state.v + body->v;
        crVec3 omega = cr_vec3(v[3], v[4], v[5]);
        crVec3 moment = cr_cross(cr_sym3_mul(bench->d.inertia[b], omega), omega);
        k[body->v + 3] += moment.x;
        k[body->v + 4] += moment.y;
        k[body->v + 5] += moment.z;
    }
    cr_model_mass_solve(model, &bench->d, k);
}

#endif
