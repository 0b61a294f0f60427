// test_model_integrate.c - motion of free bodies over many steps: momentum, unit quaternions, order, closed
// forms.
#include "model_sample.h"

static Bench free_body(crSym3 inertia, crVec3 com) {
    Bench bench = {.model = cr_model_create(NULL)};
    bench.model->gravity = cr_vec3(0, 0, 0);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = 1.5;
    def.com = com;
    def.inertia = inertia;
    cr_model_add_body(bench.model, &def);
    bench_open(&bench);
    return bench;
}

static void momentum(Bench* bench, crVec3* p, crVec3* L, double* E) {
    cr_model_kinematics(bench->model, &bench->state, &bench->d);
    cr_model_velocity(bench->model, bench->state.v, &bench->d);
    cr_model_momentum(bench->model, &bench->d, cr_vec3(0, 0, 0), p, L);
    *E = cr_model_energy(bench->model, &bench->state, &bench->d).kinetic;
}

TEST(tumbling_keeps_momentum_over_1e5_steps) {
    crRandom random = sample_seed(21);
    double worst = 0.0, worst_E = 0.0, worst_unit = 0.0;
    for (int n = 0; n < 8; n++) {
        crMat3 frame = cr_quat_matrix(sample_rotation(&random));
        crSym3 I = cr_sym3_in_frame((crSym3){.xx = 0.1, .yy = 0.2 + 0.01 * n, .zz = 0.25}, frame);
        Bench bench = free_body(I, sample_vec(&random, 0.1));
        sample_state(&random, &bench);
        bench.state.v[0] = bench.state.v[1] = bench.state.v[2] = 0.0;
        crVec3 p0, L0, p, L;
        double E0, E;
        momentum(&bench, &p0, &L0, &E0);
        for (int s = 0; s < 100000; s++) {
            cr_model_integrate(bench.model, 0.01, &bench.state);
            if (s % 1000 != 0) continue;
            momentum(&bench, &p, &L, &E);
            const double* q = bench.state.q + 3;
            worst_unit = fmax(worst_unit, fabs(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1.0));
            worst_E = fmax(worst_E, fabs(E / E0 - 1.0));
        }
        momentum(&bench, &p, &L, &E);
        worst = fmax(worst, cr_norm(cr_sub(L, L0)) / cr_norm(L0));
        bench_close(&bench);
    }
    printf("  1e5 steps: angular momentum %.2g, |q|^2 - 1 %.2g, energy within %.2g throughout\n", worst,
           worst_unit, worst_E);
    CHECK(worst < 1e-12);
    CHECK(worst_unit < 1e-15);
    // a turn at the end of each step gives the body the energy it had; the splitting alone is off by 1e-3
    CHECK(worst_E < 1e-11);
}

static double tumble_error(crSym3 I, int steps, const double* start, const double* end) {
    Bench bench = free_body(I, cr_vec3(0.1, -0.2, 0.05));
    memcpy(bench.state.q, start, 7 * sizeof(double));
    memcpy(bench.state.v, start + 7, 6 * sizeof(double));
    for (int s = 0; s < steps; s++) {
        cr_model_integrate(bench.model, 1.0 / steps, &bench.state);
    }
    double error = 0.0;
    double sign = 0.0;
    for (int i = 3; i < 7; i++) {
        sign += bench.state.q[i] * end[i];
    }
    for (int i = 0; i < 7; i++) {
        double q = i < 3 || sign > 0.0 ? bench.state.q[i] : -bench.state.q[i];
        error = fmax(error, fabs(q - end[i]));
    }
    for (int i = 0; i < 6; i++) {
        error = fmax(error, fabs(bench.state.v[i] - end[7 + i]));
    }
    bench_close(&bench);
    return error;
}

// Euler's equations by the high-order integrator, one second of tumbling.
static void tumble_reference(crSym3 I, double* x) {
    Bench bench = free_body(I, cr_vec3(0.1, -0.2, 0.05));
    for (int s = 0; s < 100; s++) {
        gbs_step(bench_rate, &bench, 13, 0.0, 0.01, x);
    }
    bench_close(&bench);
}

TEST(tumbling_is_of_second_order) {
    crSym3 I = {.xx = 0.11, .yy = 0.2, .zz = 0.29, .xy = 0.02, .xz = -0.01, .yz = 0.015};
    double start[13] = {0.3, 0.1, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, -0.2, 1.0, 2.0, 3.0, -1.0};
    double end[13];
    memcpy(end, start, sizeof end);
    tumble_reference(I, end);
    double coarse = tumble_error(I, 100, start, end), fine = tumble_error(I, 200, start, end);
    printf("  h = 1/100: %.3g, 1/200: %.3g, ratio %.3f\n", coarse, fine, coarse / fine);
    CHECK(coarse / fine > 3.9 && coarse / fine < 4.1);
}

// A body with moments It, It and Ia about its axis a turns as exp(t L/It) R0 exp(t (1/Ia - 1/It) La a), L
// fixed.
static void symmetric_top(double Ia, double It, crVec3 a, crVec3 com, const double* start, double t,
                          double* end) {
    crQuat R0 = {start[3], start[4], start[5], start[6]};
    crVec3 omega = cr_vec3(start[10], start[11], start[12]);
    crVec3 w = cr_quat_rotate(cr_quat_conj(R0), omega);
    crVec3 pi = cr_madd(cr_scale(It, w), (Ia - It) * cr_dot(a, w), a);
    crVec3 L = cr_quat_rotate(R0, pi);
    crQuat own = cr_quat_axis_angle(a, t * (1.0 / Ia - 1.0 / It) * cr_dot(a, pi));
    crQuat R = cr_quat_mul(cr_quat_axis_angle(L, t * cr_norm(L) / It), cr_quat_mul(R0, own));
    crVec3 pi_after = cr_quat_rotate(cr_quat_conj(R), L);
    crVec3 w_after = cr_madd(cr_scale(1.0 / It, pi_after), (1.0 / Ia - 1.0 / It) * cr_dot(a, pi_after), a);
    omega = cr_quat_rotate(R, w_after);
    crVec3 centre = cr_add(cr_vec3(start[0], start[1], start[2]), cr_quat_rotate(R0, com));
    crVec3 v = cr_vec3(start[7], start[8], start[9]);
    crVec3 p = cr_sub(cr_madd(centre, t, v), cr_quat_rotate(R, com));
    double x[13] = {p.x, p.y, p.z, R.w, R.x, R.y, R.z, v.x, v.y, v.z, omega.x, omega.y, omega.z};
    memcpy(end, x, sizeof x);
}

// Two equal moments, and three: exact whatever the step.
TEST(symmetric_bodies_turn_exactly) {
    double start[13] = {0.3, 0.1, 0.0, 0.6, 0.0, 0.8, 0.0, 0.5, -0.2, 1.0, 2.0, 3.0, -1.0};
    const double moments[3][2] = {{0.3, 0.2}, {0.1, 0.3}, {0.2, 0.2}};
    crVec3 com = cr_vec3(0.1, -0.2, 0.05);
    for (int i = 0; i < 3; i++) {
        double Ia = moments[i][0], It = moments[i][1], end[13];
        crSym3 I = {.xx = i == 1 ? Ia : It, .yy = It, .zz = i == 1 ? It : Ia};
        symmetric_top(Ia, It, i == 1 ? cr_vec3(1, 0, 0) : cr_vec3(0, 0, 1), com, start, 1.0, end);
        double one = tumble_error(I, 1, start, end), many = tumble_error(I, 64, start, end);
        printf("  moments %g, %g, %g over 1 s: one step %.2g, 64 steps %.2g\n", It, It, Ia, one, many);
        CHECK(one < 1e-14);
        CHECK(many < 1e-13);
    }
}

// A spinning wheel on a long axle: precession of a ball-jointed top against the high-order solution at first
// order.
TEST(a_ball_joint_converges) {
    Bench bench = {.model = cr_model_create(NULL)};
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_BALL;
    def.mass = 1.0;
    def.com = cr_vec3(0.3, 0, 0);
    def.inertia = (crSym3){.xx = 0.02, .yy = 0.012, .zz = 0.012};
    def.pose.q = cr_quat_axis_angle(cr_vec3(1, 2, 3), 0.7);
    cr_model_add_body(bench.model, &def);
    bench_open(&bench);
    double x[7] = {1, 0, 0, 0, 20.0, 0.5, -0.3};
    double start[7];
    memcpy(start, x, sizeof x);
    for (int s = 0; s < 50; s++) {
        gbs_step(bench_rate, &bench, 7, 0.0, 0.01, x);
    }
    double error[2];
    for (int k = 0; k < 2; k++) {
        int steps = k == 0 ? 4000 : 8000;
        memcpy(bench.state.q, start, 4 * sizeof(double));
        memcpy(bench.state.v, start + 4, 3 * sizeof(double));
        bench_steps(&bench, 0.5 / steps, steps);
        error[k] = 0.0;
        double sign = 0.0;
        for (int i = 0; i < 4; i++) {
            sign += bench.state.q[i] * x[i];
        }
        for (int i = 0; i < 4; i++) {
            error[k] = fmax(error[k], fabs(bench.state.q[i] * copysign(1.0, sign) - x[i]));
        }
    }
    printf("  top at h = 1.25e-4: %.2g, half of it: %.2g, ratio %.3f\n", error[0], error[1],
           error[0] / error[1]);
    CHECK(error[0] / error[1] > 1.9 && error[0] / error[1] < 2.1);
    bench_close(&bench);
}

// Spinning at a rate that turns several times per step is still a turn with the same momentum.
TEST(very_fast_spin_is_safe) {
    Bench bench = free_body((crSym3){.xx = 0.1, .yy = 0.2, .zz = 0.25}, cr_vec3(0, 0, 0));
    double spin[3] = {3e4, -2e4, 1e4};
    memcpy(bench.state.v + 3, spin, sizeof spin);
    crVec3 p, L0, L;
    double E0, E, most = 0.0;
    momentum(&bench, &p, &L0, &E0);
    for (int s = 0; s < 1000; s++) {
        cr_model_integrate(bench.model, 0.01, &bench.state);
        momentum(&bench, &p, &L, &E);
        most = fmax(most, E);
    }
    CHECK(cr_norm(cr_sub(L, L0)) < 1e-12 * cr_norm(L0));
    // energy lies between those of turning about the largest and the smallest axis
    double L2 = cr_dot(L0, L0);
    CHECK(most <= 0.5 * L2 / 0.1 * (1 + 1e-12) && E >= 0.5 * L2 / 0.25 * (1 - 1e-12));
    bench_close(&bench);
}

// One of everything, 300 steps: the same bits on every compiler.
TEST(golden_bits) {
    Bench bench = {.model = cr_model_create(NULL)};
    const crJoint joints[] = {CR_JOINT_FREE,   CR_JOINT_FREE,   CR_JOINT_HINGE, CR_JOINT_BALL,
                              CR_JOINT_PLANAR, CR_JOINT_SLIDER, CR_JOINT_FIXED, CR_JOINT_HINGE};
    const int parents[] = {0, 0, 2, 3, 4, 0, 6, 7};
    for (int i = 0; i < 8; i++) {
        crBodyDef def = cr_body_def();
        def.joint = joints[i];
        def.parent = parents[i];
        def.pose.p = cr_vec3(0.3 - 0.1 * i, 0.2, 0.05 * i);
        def.pose.q = cr_quat_axis_angle(cr_vec3(1, 2, i), 0.3 * i);
        def.axis = cr_vec3(1, i, 2);
        def.mass = 1.0 + 0.25 * i;
        def.com = cr_vec3(0.01 * i, 0.02, -0.03);
        def.inertia = (crSym3){.xx = 0.1, .yy = 0.12, .zz = 0.15 + 0.005 * i, .xy = 0.01};
        if (joints[i] != CR_JOINT_FREE) def.dof[0].stiffness = 2.0;
        if (joints[i] != CR_JOINT_FREE) def.dof[0].damping = 0.3;
        cr_model_add_body(bench.model, &def);
    }
    crLoop loop = cr_loop(CR_LOOP_DISTANCE, 5, 8);
    loop.length = 0.7;
    cr_model_add_loop(bench.model, &loop);
    bench_open(&bench);
    const crModel* model = bench.model;
    double h = 1.0 / 512.0, k[32], v_free[32];
    for (int i = 0; i < model->nv; i++) {
        bench.state.v[i] = 0.125 * (i % 7) - 0.25;
    }
    CHECK_STATUS(cr_model_close_loops(model, 1e-9, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
    for (int s = 0; s < 300; s++) {
        cr_model_kinematics(model, &bench.state, &bench.d);
        CHECK_STATUS(cr_model_mass_factor(model, h, &bench.d), CR_OK);
        cr_model_forces(model, &bench.state, &bench.d, k);
        cr_model_smooth_velocity(model, &bench.state, k, h, &bench.d, v_free);
        memcpy(bench.state.v, v_free, (size_t)model->nv * sizeof(double));
        cr_model_integrate(model, h, &bench.state);
        CHECK_STATUS(cr_model_close_loops(model, 1e-9, &bench.arena, &bench.d, &bench.state, NULL), CR_OK);
    }
    uint64_t hash = cr_hash(CR_HASH_SEED, bench.state.q, (size_t)model->nq * sizeof(double));
    hash = cr_hash(hash, bench.state.v, (size_t)model->nv * sizeof(double));
    printf("  hash %016llx\n", (unsigned long long)hash);
    CHECK(hash == UINT64_C(0x9f0c53fac736a25b));
    bench_close(&bench);
}
