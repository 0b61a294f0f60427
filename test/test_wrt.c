// test_wrt.c - derivatives of steps and runs against closed forms; the error of a run's step length.
#include <stdlib.h>

#include "carom/wrt.h"
#include "world_scene.h"

static crWrt* wrt_of(const crModel* model, double dt, crWorldDef* def) {
    *def = cr_world_def();
    def->model = model;
    def->step.dt = dt;
    crWrt* wrt = NULL;
    crError error = {0};
    CHECK_STATUS(cr_wrt_create(def, &wrt, &error), CR_OK);
    return wrt;
}

typedef struct Start {
    crArena arena;
    crState state;
} Start;

static Start start_of(const crModel* model) {
    Start s = {0};
    CHECK_STATUS(cr_arena_create(&s.arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(model, &s.arena, &s.state), CR_OK);
    return s;
}

// A ball that hits the floor within the step: the time of impact is in the derivative (saltation).
TEST(ball_on_floor_with_the_time_of_impact) {
    const double r = 0.1, z = 0.3, v = -3.0, e = 0.6, g = 9.81, h = 0.1;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.3, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, z), 1.0, material);
    crWorldDef def;
    crWrt* wrt = wrt_of(model, h, &def);
    Start s = start_of(model);
    s.state.v[2] = v;
    double d[18] = {0}, dy[12];
    crWrtVerdict verdict;
    // z - r + v t - g t^2/2 = 0
    double t = (v + sqrt(v * v + 2.0 * g * (z - r))) / g;
    double before = v - g * t, after = -e * before, left = h - t;
    for (int k = 0; k < 2; k++) {
        memset(d, 0, sizeof d);
        d[k == 0 ? 2 : 8] = 1.0;
        CHECK_STATUS(cr_wrt_apply(wrt, &s.state, d, NULL, dy, &verdict, NULL), CR_OK);
        CHECK(verdict.verdict == CR_SMOOTH);
        double dt = -(k == 0 ? 1.0 : t) / before;
        double d_before = (k == 0 ? 0.0 : 1.0) - g * dt;
        double d_after = -e * d_before;
        double dz = d_after * left - after * dt + g * left * dt, dv = d_after + g * dt;
        // the ball touches within the deadband, 1e-7 of its size above the floor
        CHECK_NEAR(dy[2], dz, 5e-7 * fabs(dz));
        CHECK_NEAR(dy[8], dv, 5e-7 * fabs(dv));
    }
    cr_arena_destroy(&s.arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}

// Two equal elastic balls that meet within the step exchange their velocities: (0, 1; 1, 0).
TEST(two_elastic_balls) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, 0.0, 1.0);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 1.0, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.25, 0, 0), 1.0, material);
    crWorldDef def;
    crWrt* wrt = wrt_of(model, 0.1, &def);
    Start s = start_of(model);
    s.state.v[0] = 1.0;
    const int nv = model->nv;
    double J[24 * 36];
    crWrtVerdict verdict;
    CHECK_STATUS(cr_wrt_jacobian(wrt, &s.state, J, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH);
    int first = nv, second = nv + 6;
    CHECK_NEAR(J[first * 3 * nv + first], 0.0, 1e-8);
    CHECK_NEAR(J[first * 3 * nv + second], 1.0, 1e-8);
    CHECK_NEAR(J[second * 3 * nv + first], 1.0, 1e-8);
    CHECK_NEAR(J[second * 3 * nv + second], 0.0, 1e-8);
    // positions: the first ball goes on as the second would have: x1+ = x2 - 2 r + v2 h, x2+ = x1 + 2 r + v1 h
    CHECK_NEAR(J[0 * 3 * nv + 6], 1.0, 1e-7);
    CHECK_NEAR(J[0 * 3 * nv + 0], 0.0, 1e-7);
    CHECK_NEAR(J[6 * 3 * nv + 0], 1.0, 1e-7);
    CHECK_NEAR(J[0 * 3 * nv + second], 0.1, 1e-7);
    cr_arena_destroy(&s.arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}

// A box that friction just holds: pulled harder it slides, pulled less it stays.
TEST(box_at_the_edge_of_slip_has_two_derivatives) {
    const double mu = 0.5, g = 9.81, h = 0.01;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, mu, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.5, 0.5, 0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    crWorldDef def;
    crWrt* wrt = wrt_of(model, h, &def);
    Start s = start_of(model);
    s.state.force[0] = mu * g;
    double d[18] = {0}, minus[12], plus[12];
    crWrtVerdict verdict;
    d[12] = 1.0;
    CHECK_STATUS(cr_wrt_apply(wrt, &s.state, d, minus, plus, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_ONE_SIDED && verdict.nearest == CR_SWITCH_STICK);
    CHECK_NEAR(minus[6], 0.0, 3e-5 * h);
    CHECK_NEAR(plus[6], h, 3e-5 * h);
    // well within: smooth on either side
    s.state.force[0] = 0.5 * mu * g;
    CHECK_STATUS(cr_wrt_apply(wrt, &s.state, d, minus, plus, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH);
    CHECK_NEAR(plus[6], 0.0, 1e-6 * h);
    s.state.force[0] = 2.0 * mu * g;
    CHECK_STATUS(cr_wrt_apply(wrt, &s.state, d, minus, plus, &verdict, NULL), CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH);
    CHECK_NEAR(plus[6], h, 3e-5 * h);
    cr_arena_destroy(&s.arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}

// The height of a bouncing ball after two bounces by its first velocity: adjoint against the closed form.
TEST(adjoint_of_a_run_with_bounces) {
    const double r = 0.1, z = 0.2, e = 0.75, g = 9.81, h = 0.02;
    const int steps = 39;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.0, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, z), 1.0, material);
    crWorldDef def;
    crWrt* wrt = wrt_of(model, h, &def);
    Start s = start_of(model);
    double by_end[12] = {0}, by_start[12], by_force[50 * 6];
    crWrtVerdict verdict;
    by_end[2] = 1.0;
    CHECK_STATUS(cr_wrt_adjoint(wrt, &s.state, steps, NULL, by_end, by_start, by_force, NULL, &verdict, NULL),
                 CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH);
    // the same figure of the exact motion, by differences in extended precision
    long double D[2], at[2][2];
    for (int k = 0; k < 2; k++) {
        const long double step = 1e-6L;
        for (int side = 0; side < 2; side++) {
            long double t = 0.0L, x = (long double)z - (long double)r, v = 0.0L, end = (long double)h * steps;
            (k == 0 ? (x += side ? step : -step) : (v += side ? step : -step));
            for (;;) {
                long double hit = (v + sqrtl(v * v + 2.0L * 9.81L * x)) / 9.81L;
                if (t + hit > end) break;
                v = -(long double)e * (v - 9.81L * hit);
                x = 0.0L;
                t += hit;
            }
            long double left = end - t;
            at[k][side] = x + v * left - 0.5L * 9.81L * left * left;
        }
        D[k] = (at[k][1] - at[k][0]) / (2.0L * step);
    }
    (void)g;
    CHECK_NEAR(by_start[2], (double)D[0], 3e-6 * fabs((double)D[0]));
    CHECK_NEAR(by_start[8], (double)D[1], 1e-5 * fabs((double)D[1]));
    // the ball is where it was before
    // touching begins within the deadband, 1e-7 of the size
    CHECK_NEAR(s.state.q[2] - r, (double)(0.5L * (at[0][0] + at[0][1])), 1e-7);
    cr_arena_destroy(&s.arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}

// Turning bodies, trees and contacts: v^T (J d) is (J^T v)^T d over some steps.
TEST(adjoint_is_the_transpose_of_steps) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.3);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.2, 0.1, 0.05), cr_vec3(0, 0, 0.5), 1.0, material);
    crBodyDef hinge = cr_body_def();
    hinge.joint = CR_JOINT_HINGE;
    hinge.axis = cr_vec3(0, 1, 0);
    hinge.pose.p = cr_vec3(3, 0, 2);
    hinge.mass = 1.0;
    hinge.com = cr_vec3(0.4, 0, 0);
    hinge.inertia = (crSym3){.xx = 0.01, .yy = 0.02, .zz = 0.02};
    cr_model_add_body(model, &hinge);
    crWorldDef def;
    crWrt* wrt = wrt_of(model, 0.01, &def);
    Start s = start_of(model), t = start_of(model);
    for (int i = 0; i < 6; i++)
        s.state.v[i] = 0.3 * (i + 1);
    memcpy(t.state.v, s.state.v, 7 * sizeof(double));
    double d[21], dy[14], y[14], by_start[14];
    for (int i = 0; i < 14; i++) {
        d[i] = 0.5 - 0.07 * i;
        y[i] = 0.2 + 0.05 * i * (i % 2 ? -1 : 1);
    }
    for (int i = 14; i < 21; i++)
        d[i] = 0.0;
    crWrtVerdict verdict;
    CHECK_STATUS(cr_wrt_adjoint(wrt, &s.state, 4, NULL, y, by_start, NULL, NULL, &verdict, NULL), CR_OK);
    double back = 0.0, forward = 0.0;
    for (int i = 0; i < 14; i++)
        back += by_start[i] * d[i];
    for (int k = 0; k < 4; k++) {
        CHECK_STATUS(cr_wrt_apply(wrt, &t.state, d, NULL, dy, &verdict, NULL), CR_OK);
        CHECK_STATUS(cr_wrt_step(wrt, &t.state, &t.state, NULL), CR_OK);
        memcpy(d, dy, sizeof dy);
    }
    for (int i = 0; i < 14; i++)
        forward += y[i] * d[i];
    CHECK_NEAR(forward, back, 1e-7 * fabs(forward));
    cr_arena_destroy(&s.arena);
    cr_arena_destroy(&t.arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}

// The error of a driven double pendulum's steps against a run with steps a hundred times as short.
static crModel* two_arms(void) {
    crModel* model = cr_model_create(NULL);
    crBodyDef arm = cr_body_def();
    arm.joint = CR_JOINT_HINGE;
    arm.axis = cr_vec3(0, 1, 0);
    arm.mass = 1.0;
    arm.com = cr_vec3(0.5, 0, 0);
    arm.inertia = (crSym3){.xx = 0.01, .yy = 0.1, .zz = 0.1};
    int first = cr_model_add_body(model, &arm);
    arm.parent = first;
    arm.pose.p = cr_vec3(1, 0, 0);
    cr_model_add_body(model, &arm);
    return model;
}

TEST(time_error_is_within_a_factor_of_two) {
    crModel* model = two_arms();
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.dt = 0.01;
    const double times[2] = {0.3, 0.6};
    crTimeError errors[2 * 3];
    CHECK_STATUS(cr_time_error(&def, NULL, 2, times, errors, NULL), CR_OK);
    crWorld* coarse = NULL;
    crWorld* fine = NULL;
    CHECK_STATUS(cr_world_create(&def, &coarse, NULL), CR_OK);
    def.step.dt = 1e-4;
    CHECK_STATUS(cr_world_create(&def, &fine, NULL), CR_OK);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(cr_world_run(coarse, times[i], NULL), CR_OK);
        CHECK_STATUS(cr_world_run(fine, times[i], NULL), CR_OK);
        for (int b = 1; b < 3; b++) {
            crVec3 com = model->bodies[b].com;
            double true_error = cr_norm(cr_sub(cr_pose_point(cr_world_pose(coarse, b), com),
                                               cr_pose_point(cr_world_pose(fine, b), com)));
            double own = errors[i * 3 + b].position;
            test_check(own < 2.0 * true_error && own > 0.5 * true_error, __FILE__, __LINE__,
                       "body %d at %g s: error %g, estimate %g (order %g)", b, times[i], true_error, own,
                       errors[i * 3 + b].order);
        }
        CHECK(errors[i * 3].position == 0.0);
    }
    cr_world_destroy(coarse);
    cr_world_destroy(fine);
    cr_model_destroy(model);
}

// Cubes that tumble: after some hits halved steps lead elsewhere, and the differences grow. The estimate is never below what the finest
// run shows; |x(dt) - x(dt/2)| times 2 would be.
TEST(time_error_of_chaos_is_not_below_what_is_seen) {
    enum { TIMES = 24 };
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.3, 0.8), more = 0;
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.05, 0.05, 0.05), cr_vec3(0, 0, 0.5), 0.4, material);
    crArena arena;
    crState start;
    double times[TIMES];
    for (int i = 0; i < TIMES; i++)
        times[i] = 0.08 * (i + 1);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(model, &arena, &start), CR_OK);
    for (int n = 0; n < 12; n++) {
        const double v[6] = {0.7, 0.2, 0.5, 3.0 - 0.5 * n, -2.0, n};
        crWorldDef def = cr_world_def();
        crWorld* worlds[3];
        crTimeError errors[TIMES * 2];
        def.model = model;
        def.step.dt = 0.02;
        memcpy(start.v, v, sizeof v);
        CHECK_STATUS(cr_time_error(&def, &start, TIMES, times, errors, NULL), CR_OK);
        for (int k = 0; k < 3; k++) {
            CHECK_STATUS(cr_world_create(&def, &worlds[k], NULL), CR_OK);
            memcpy(cr_world_state(worlds[k])->q, start.q, 7 * sizeof(double));
            memcpy(cr_world_state(worlds[k])->v, v, sizeof v);
            def.step.dt *= 0.5;
        }
        for (int i = 0; i < TIMES; i++) {
            crVec3 at[3];
            for (int k = 0; k < 3; k++) {
                CHECK_STATUS(cr_world_run(worlds[k], times[i], NULL), CR_OK);
                at[k] = cr_world_pose(worlds[k], 1).p;
            }
            double apart = cr_norm(cr_sub(at[0], at[2]));
            CHECK(errors[2 * i + 1].position >= apart * (1.0 - 1e-9));
            more += apart > 2.0 * cr_norm(cr_sub(at[0], at[1]));
        }
        for (int k = 0; k < 3; k++)
            cr_world_destroy(worlds[k]);
    }
    CHECK(more > 0);
    cr_arena_destroy(&arena);
    cr_model_destroy(model);
}

TEST(flight_has_no_time_error_and_bad_times_are_refused) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.5, 0.5);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 1.0, material);
    crWorldDef def = cr_world_def();
    def.model = model;
    double times[2] = {0.5, 1.0};
    crTimeError errors[4];
    crError error = {0};
    CHECK_STATUS(cr_time_error(&def, NULL, 2, times, errors, NULL), CR_OK);
    CHECK(errors[3].position < 1e-12 && errors[3].velocity < 1e-12);
    times[1] = 0.1;
    CHECK_STATUS(cr_time_error(&def, NULL, 2, times, errors, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "times");
    cr_model_destroy(model);
}
