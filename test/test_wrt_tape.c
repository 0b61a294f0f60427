// test_wrt_tape.c - derivatives of steps along their tapes: closed forms, differences of steps, transposes, verdicts.
#include "carom/forms.h"
#include "carom/stages.h"
#include "io/scene.h"
#include "wrt_case.h"

TEST(ball_on_floor_with_time_of_impact_restitution_and_mass) {
    const double r = 0.1, z = 0.3, v = -3.0, e = 0.6, g = 9.81, h = 0.1;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.3, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    int ball = scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, z), 1.0, material);
    const crWrtParam params[3] = {
        {CR_WRT_E, material, material}, {CR_WRT_MASS, ball, 0}, {CR_WRT_MU, material, material}};
    Case c = begin(model, h, "poisson", 3, params);
    c.state.v[2] = v;
    static double J[12 * 21];
    crWrtVerdict verdict;
    jacobian(&c, J, &verdict);
    // z - r + v t - g t^2/2 = 0; up with -e times the speed of arrival
    double t = (v + sqrt(v * v + 2.0 * g * (z - r))) / g, before = v - g * t, after = -e * before,
           left = h - t;
    for (int k = 0; k < 2; k++) {
        double dt = -(k == 0 ? 1.0 : t) / before, d_after = -e * ((k == 0 ? 0.0 : 1.0) - g * dt);
        double dz = d_after * left - after * dt + g * left * dt, dv = d_after + g * dt;
        CHECK_NEAR(J[2 * 21 + (k == 0 ? 2 : 8)], dz, 1e-7 * fabs(dz));
        CHECK_NEAR(J[8 * 21 + (k == 0 ? 2 : 8)], dv, 1e-7 * fabs(dv));
    }
    CHECK_NEAR(J[8 * 21 + 18], -before, 1e-7 * fabs(before));
    CHECK_NEAR(J[2 * 21 + 18], -before * left, 1e-7);
    CHECK_NEAR(J[8 * 21 + 19], 0.0, 1e-9);
    CHECK_NEAR(J[8 * 21 + 20], 0.0, 1e-9);
    // tangential: no slip at the touch, so a shift of x is kept, and so is the sum of what friction does to vx and omega
    CHECK_NEAR(J[0 * 21 + 0], 1.0, 1e-9);
    // friction: the ball leaves rolling. 2/7 of omega r goes into vx, 5/7 of vx stays
    CHECK_NEAR(J[6 * 21 + 6], 5.0 / 7.0, 1e-7);
    CHECK_NEAR(J[6 * 21 + 10], 2.0 / 7.0 * r, 1e-8);
    CHECK(verdict.distance > 0.0 && verdict.distance < 10.0);
    end(&c);
}

TEST(two_elastic_balls_exchange) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, 0.0, 1.0);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0), 1.0, material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.25, 0, 0), 1.0, material);
    Case c = begin(model, 0.1, "poisson", 0, NULL);
    c.state.v[0] = 1.0;
    static double J[24 * 36];
    crWrtVerdict verdict;
    jacobian(&c, J, &verdict);
    const double exact[4][4] = {{0, 1, 0, 0.1}, {1, 0, 0.1, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}};
    const int at[4] = {0, 6, 12, 18};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            CHECK_NEAR(J[at[i] * 36 + at[j]], exact[i][j], 1e-9);
    }
    // across the line of centres: the hit turns by dy / (2 r), and takes v along the new normal
    CHECK_NEAR(J[(12 + 1) * 36 + 1], 1.0 / 0.2, 1e-6);
    end(&c);
}

// Beads in a row with gaps: velocities are handed on, whatever the number of blows in the step.
TEST(cradle_with_gaps_hands_on) {
    enum { N = 4 };
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, 0.0, 1.0);
    for (int i = 0; i < N; i++)
        scene_bead(model, 0.1, 0.21 * i, material);
    Case c = begin(model, 0.1, "poisson", 0, NULL);
    c.state.v[0] = 1.0;
    static double J[2 * N * 3 * N];
    crWrtVerdict verdict;
    jacobian(&c, J, &verdict);
    // beads pass through each other and exchange names: v+ of the last is v of the first, of another that of the next
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            double handed = (i == N - 1 && j == 0) || (i < N - 1 && j == i + 1) ? 1.0 : 0.0;
            CHECK_NEAR(J[(N + i) * 3 * N + N + j], handed, 1e-9);
            CHECK_NEAR(J[i * 3 * N + j], handed, 1e-7);
            CHECK_NEAR(J[i * 3 * N + N + j], 0.1 * handed, 1e-7);
        }
    }
    end(&c);
}

// A block on a ramp: sliding it accelerates by g (sin - mu cos), at rest not at all; at the edge there are two derivatives.
TEST(block_on_a_ramp_slides_rests_and_is_at_the_edge) {
    const double mu = 0.5, g = 9.81, h = 0.01;
    for (int k = 0; k < 3; k++) {
        double slope = k == 0   ? 0.7
                       : k == 1 ? 0.3
                                : mu,
               cosine = 1.0 / sqrt(1.0 + slope * slope), sine = slope * cosine;
        crModel* model = cr_model_create(NULL);
        model->gravity = cr_vec3(g * sine, 0, -g * cosine);
        int material = scene_material(model, mu, 0.0);
        scene_ground(model, cr_vec3(0, 0, 1), material);
        int box = scene_free(model, cr_shape_box(0.5, 0.5, 0.1), cr_vec3(0, 0, 0.1), 2.0, material);
        const crWrtParam params[2] = {{CR_WRT_MU, material, material}, {CR_WRT_MASS, box, 0}};
        Case c = begin(model, h, "poisson", 2, params);
        if (k == 0) c.state.v[0] = 1.0;
        double d[20] = {0}, minus[12], plus[12];
        crWrtVerdict verdict;
        d[18] = 1.0;
        CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, minus, plus, &verdict, NULL), CR_OK);
        if (k == 0) {
            CHECK(verdict.verdict == CR_SMOOTH && !verdict.differenced);
            CHECK_NEAR(plus[6], -h * g * cosine, 1e-9);
            memset(d, 0, sizeof d);
            d[12] = 1.0;  // a force along the ramp
            CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, minus, plus, &verdict, NULL), CR_OK);
            CHECK_NEAR(plus[6], h / 2.0, 1e-9);
            memset(d, 0, sizeof d);
            d[14] = -1.0;  // pressed down: more friction
            CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, minus, plus, &verdict, NULL), CR_OK);
            CHECK_NEAR(plus[6], -mu * h / 2.0, 1e-9);
            memset(d, 0, sizeof d);
            d[19] = 1.0;  // heavier: the same
            CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, minus, plus, &verdict, NULL), CR_OK);
            CHECK_NEAR(plus[6], 0.0, 1e-8);
        } else if (k == 1) {
            CHECK(verdict.verdict == CR_SMOOTH);
            CHECK_NEAR(plus[6], 0.0, 1e-9);
        } else {
            CHECK(verdict.verdict == CR_ONE_SIDED && verdict.nearest == CR_SWITCH_STICK &&
                  verdict.differenced);
            CHECK_NEAR(minus[6], -h * g * cosine, 1e-5);
            CHECK_NEAR(plus[6], 0.0, 1e-5);
        }
        end(&c);
    }
}

TEST(tossed_cube_against_differences) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.3, 0.5);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.05, 0.05, 0.05), cr_vec3(0, 0, 0.3), 0.4, material);
    Case c = begin(model, 0.01, "poisson", 0, NULL);
    const double v[6] = {0.7, 0.2, 0.5, 3.0, -2.0, 1.0};
    memcpy(c.state.v, v, sizeof v);
    compare_run(&c, 60, false, 5, 30);
    end(&c);
}

TEST(bodies_that_meet_against_differences) {
    static const char* const rules[] = {"poisson", "newton", "sequence"};
    for (int k = 0; k < 3; k++) {
        crModel* model = cr_model_create(NULL);
        int material = scene_material(model, 0.4, 0.6);
        scene_ground(model, cr_vec3(0, 0, 1), material);
        scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.4), 1.0, material);
        // bodies whose moments are equal: others wobble a little between where impacts are foreseen and where they are
        scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0.5, 0.02, 0.4), 2.0, material);
        scene_free(model, cr_shape_sphere(0.08), cr_vec3(1.0, 0.0, 0.45), 1.5, material);
        Case c = begin(model, 0.01, rules[k], 0, NULL);
        const double v[18] = {2, 0.1, 0.4, 1, 2, 3, 0, 0, 1, 1, -1, 2, -2, 0, 0.5, 0.5, 1, 0};
        memcpy(c.state.v, v, sizeof v);
        compare_run(&c, 60, false, 6 + (uint64_t)k, 20);
        end(&c);
    }
}

// A pendulum of two links that hits a wall, and a bead on a slider: trees.
TEST(trees_against_differences) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.2, 0.7);
    crShape wall = cr_shape_halfspace(cr_vec3(-1, 0, 0), -0.9);
    cr_model_add_shape(model, CR_WORLD, &wall, material);
    crBodyDef link = cr_body_def();
    link.joint = CR_JOINT_HINGE;
    link.axis = cr_vec3(0, 1, 0);
    link.mass = 1.0;
    link.com = cr_vec3(0, 0, -0.25);
    link.inertia = (crSym3){.xx = 0.02, .yy = 0.02, .zz = 0.005};
    int first = cr_model_add_body(model, &link);
    link.parent = first;
    link.pose.p = cr_vec3(0, 0, -0.5);
    int second = cr_model_add_body(model, &link);
    crShape ball = cr_shape_sphere(0.1);
    ball.pose.p = cr_vec3(0, 0, -0.5);
    cr_model_add_shape(model, second, &ball, material);
    Case c = begin(model, 0.01, "poisson", 0, NULL);
    c.state.q[0] = 0.3;
    c.state.v[0] = -6.0;
    c.state.v[1] = -2.0;
    compare_run(&c, 100, false, 9, 60);
    end(&c);
}

// A position servo on a hinge: by its control, and by the state.
TEST(control_of_an_actuator) {
    crModel* model = cr_model_create(NULL);
    crBodyDef arm = cr_body_def();
    arm.joint = CR_JOINT_HINGE;
    arm.axis = cr_vec3(0, 1, 0);
    arm.mass = 1.0;
    arm.com = cr_vec3(0, 0, -0.5);
    arm.inertia = (crSym3){.xx = 0.1, .yy = 0.1, .zz = 0.01};
    int body = cr_model_add_body(model, &arm);
    crActuator motor = cr_actuator_motor(model->bodies[body].v);
    motor.gain[0] = 3.0;
    int actuator = cr_model_add_actuator(model, &motor);
    CHECK(actuator == 0);
    const crWrtParam params[1] = {{CR_WRT_CTRL, 0, 0}};
    Case c = begin(model, 0.01, "poisson", 1, params);
    c.state.q[0] = 0.2;
    static double J[2 * 4];
    crWrtVerdict verdict;
    jacobian(&c, J, &verdict);
    // torque 3 per control about an inertia of .1 + .25; half kicks to second order
    double a = 3.0 / 0.35, h = 0.01, w2 = 9.81 * 0.5 / 0.35 * cos(0.2);
    CHECK_NEAR(J[4 + 3], h * a, 1e-3 * h * a);
    CHECK_NEAR(J[0 + 3], 0.5 * h * h * a, 1e-3 * h * h * a);
    CHECK_NEAR(J[4 + 0], -h * w2, 1e-2 * h * w2);
    end(&c);
}

// No force at all for contacts that press: nothing is solved.
static crStatus lazy(const void* params, const crProblem* problem, crArena* arena, double* p,
                     crReport* report, crError* error) {
    (void)params;
    (void)arena;
    (void)error;
    memset(p, 0, (size_t)problem->rows * sizeof *p);
    report->outcome = CR_OUTCOME_LIMIT;
    return CR_OK;
}

TEST(unsolved_step_is_refused_with_its_residual) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.5, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step.solver = (crSolver){"lazy", lazy, NULL};
    crWrt* wrt = NULL;
    crError error = {0};
    CHECK_STATUS(cr_wrt_create(&def, &wrt, &error), CR_OK);
    crArena arena;
    crState state;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(model, &arena, &state), CR_OK);
    double d[18] = {1.0}, out[12];
    CHECK_STATUS(cr_wrt_apply(wrt, &state, d, NULL, out, NULL, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "residual");
    const crWrtParam bad[3] = {{CR_WRT_MASS, 7, 0}, {CR_WRT_MU, 0, 9}, {CR_WRT_CTRL, 0, 0}};
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(cr_wrt_params(wrt, 1, &bad[i], &error), CR_ERR_RANGE);
        CHECK_TEXT(error.field, "params");
    }
    cr_arena_destroy(&arena);
    cr_wrt_destroy(wrt);
    cr_model_destroy(model);
}

// Parameters of a run: the height of a ball after two bounces by e, against the closed motion.
TEST(adjoint_of_a_run_by_restitution) {
    const double r = 0.1, z = 0.2, e = 0.75, h = 0.02;
    const int steps = 39;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.0, e);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, z), 1.0, material);
    const crWrtParam params[1] = {{CR_WRT_E, material, material}};
    Case c = begin(model, h, "poisson", 1, params);
    double by_end[12] = {0}, by_start[12], by_e[1];
    crWrtVerdict verdict;
    by_end[2] = 1.0;
    CHECK_STATUS(cr_wrt_adjoint(c.wrt, &c.state, steps, NULL, by_end, by_start, NULL, by_e, &verdict, NULL),
                 CR_OK);
    CHECK(verdict.verdict == CR_SMOOTH && !verdict.differenced);
    long double at[2];
    for (int side = 0; side < 2; side++) {
        const long double g = 9.81L, step = 1e-6L, own = (long double)e + (side ? step : -step);
        long double t = 0.0L, x = (long double)z - (long double)r, v = 0.0L, last = (long double)h * steps;
        for (;;) {
            long double hit = (v + sqrtl(v * v + 2.0L * g * x)) / g;
            if (t + hit > last) break;
            v = -own * (v - g * hit);
            x = 0.0L;
            t += hit;
        }
        at[side] = x + v * (last - t) - 0.5L * g * (last - t) * (last - t);
    }
    double exact = (double)((at[1] - at[0]) / 2e-6L);
    CHECK_NEAR(by_e[0], exact, 2e-6 * fabs(exact));
    end(&c);
}

// Parameters that are set: the run is that of a model built with them.
TEST(parameters_are_set) {
    const double e = 0.65, mu = 0.21, mass = 1.7;
    crState end_states[2];
    Case cases[2];
    for (int k = 0; k < 2; k++) {
        crModel* model = cr_model_create(NULL);
        int floor = scene_material(model, k == 0 ? 0.5 : mu, k == 0 ? 0.0 : e);
        int skin = scene_material(model, k == 0 ? 0.5 : mu, k == 0 ? 0.0 : e);
        scene_ground(model, cr_vec3(0, 0, 1), floor);
        int box =
            scene_free(model, cr_shape_box(0.1, 0.2, 0.1), cr_vec3(0, 0, 0.4), k == 0 ? 1.0 : mass, skin);
        const crWrtParam params[3] = {
            {CR_WRT_E, skin, floor}, {CR_WRT_MU, floor, skin}, {CR_WRT_MASS, box, 0}};
        cases[k] = begin(model, 0.01, "poisson", 3, params);
        Case* c = &cases[k];
        const double values[3] = {e, mu, mass};
        if (k == 0) CHECK_STATUS(cr_wrt_set(c->wrt, values, NULL), CR_OK);
        const double v[6] = {1, 0.5, 0, 2, 1, 3};
        memcpy(c->state.v, v, sizeof v);
        c->state.force[0] = 2.0;
        for (int i = 0; i < 60; i++)
            CHECK_STATUS(cr_wrt_step(c->wrt, &c->state, &c->state, NULL), CR_OK);
        end_states[k] = c->state;
    }
    for (int i = 0; i < 7; i++)
        CHECK_NEAR(end_states[0].q[i], end_states[1].q[i], 1e-9);
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(end_states[0].v[i], end_states[1].v[i], 1e-8);
    const double bad[3] = {0.5, -1.0, 1.0};
    crError error = {0};
    CHECK_STATUS(cr_wrt_set(cases[0].wrt, bad, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "values");
    end(&cases[0]);
    end(&cases[1]);
}

// The woodpecker: a sleeve that jams on its pole, a spring, a bird. Contacts act in most steps. By velocities and forces, which keep gaps as
// they are, against differences of steps; a gap that leaves the deadband is a switch that is near.
TEST(woodpecker) {
    crScene scene;
    crWorld* world = NULL;
    CHECK_STATUS(cr_scene_open("woodpecker", NULL, &scene, &world, NULL), CR_OK);
    crWorldDef def = cr_world_def();
    def.model = scene.model;
    def.step = scene.step;
    Case c = {.model = scene.model, .nv = scene.model->nv, .n = 3 * scene.model->nv};
    CHECK_STATUS(cr_wrt_create(&def, &c.wrt, NULL), CR_OK);
    CHECK_STATUS(cr_arena_create(&c.arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_state_create(c.model, &c.arena, &c.state), CR_OK);
    memcpy(c.state.q, scene.q, (size_t)c.model->nq * sizeof(double));
    memcpy(c.state.v, scene.v, (size_t)c.nv * sizeof(double));
    int compared = 0, near = 0;
    for (int i = 0; i < 60; i++) {
        double d[3 * MOST] = {0}, a[2 * MOST], y[2][MOST];
        crWrtVerdict verdict;
        for (int k = c.nv; k < 3 * c.nv; k++)
            d[k] = 0.3 - 0.1 * (k % 5);
        CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, NULL, a, &verdict, NULL), CR_OK);
        crState x, after;
        size_t mark = cr_arena_mark(&c.arena);
        CHECK_STATUS(cr_state_create(c.model, &c.arena, &x), CR_OK);
        CHECK_STATUS(cr_state_create(c.model, &c.arena, &after), CR_OK);
        for (int side = 0; side < 2; side++) {
            double t = side == 0 ? -1e-6 : 1e-6;
            memcpy(x.q, c.state.q, (size_t)c.model->nq * sizeof(double));
            for (int k = 0; k < c.nv; k++) {
                x.v[k] = c.state.v[k] + t * d[c.nv + k];
                x.force[k] = t * d[2 * c.nv + k];
            }
            CHECK_STATUS(cr_wrt_step(c.wrt, &x, &after, NULL), CR_OK);
            memcpy(y[side], after.v, (size_t)c.nv * sizeof(double));
        }
        if (verdict.verdict == CR_SMOOTH && !verdict.differenced && verdict.distance > 1e-7) {
            double size = 0.0, off = 0.0;
            for (int k = 0; k < c.nv; k++) {
                double slope = (y[1][k] - y[0][k]) / 2e-6;
                size = fmax(size, fabs(slope));
                off = fmax(off, fabs(slope - a[c.nv + k]));
            }
            CHECK(off <= 1e-5 * size);
            compared++;
            near += verdict.distance < 1e-3;
        }
        cr_arena_release(&c.arena, mark);
        CHECK_STATUS(cr_wrt_step(c.wrt, &c.state, &c.state, NULL), CR_OK);
    }
    printf("  %d of 60 steps compared, %d of them within .001 m/s of a switch\n", compared, near);
    CHECK(compared >= 40 && near > 10);
    cr_arena_destroy(&c.arena);
    cr_wrt_destroy(c.wrt);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// Restitution that falls with the approach speed s, e = .9 - s/20: the ball leaves at .9 s - s^2/20.
TEST(restitution_by_speed) {
    const double r = 0.1, z = 0.3, v = -3.0, g = 9.81, h = 0.1;
    static const double speeds[2] = {0.0, 10.0}, values[2] = {0.9, 0.4};
    const crRestitution table = {.count = 2, .speed = speeds, .e = values};
    crModel* model = cr_model_create(NULL);
    crMaterial rubber = cr_material();
    rubber.surface.mu = 0.0;
    rubber.surface.e_of_speed = &table;
    int material = cr_model_add_material(model, &rubber);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(r), cr_vec3(0, 0, z), 1.0, material);
    Case c = begin(model, h, "poisson", 0, NULL);
    c.state.v[2] = v;
    static double J[12 * 18];
    crWrtVerdict verdict;
    jacobian(&c, J, &verdict);
    double t = (v + sqrt(v * v + 2.0 * g * (z - r))) / g, s = -(v - g * t);
    for (int k = 0; k < 2; k++) {
        double dt = (k == 0 ? 1.0 : t) / s, ds = -((k == 0 ? 0.0 : 1.0) - g * dt),
               dv = (0.9 - 0.1 * s) * ds + g * dt;
        CHECK_NEAR(J[8 * 18 + (k == 0 ? 2 : 8)], dv, 1e-6 * fabs(dv));
    }
    end(&c);
}

// Restitution by speed and angle, friction by slip, tangential restitution by angle: a ball with spin on the floor, by a law.
TEST(coefficients_by_the_impact) {
    const double speeds[2] = {0.5, 6.0}, angles[2] = {0.0, 1.5}, table[4] = {0.85, 0.8, 0.6, 0.5};
    const double slips[2] = {0.0, 4.0}, rub[2] = {0.5, 0.2}, grip[2] = {0.4, 0.1};
    const crCurve e = {{CR_FIGURE_SPEED, CR_FIGURE_ANGLE}, 2, 2, speeds, angles, table, NULL, NULL};
    const crCurve mu = {{CR_FIGURE_SLIP, CR_FIGURE_SLIP}, 2, 1, slips, NULL, rub, NULL, NULL};
    const crCurve et = {{CR_FIGURE_ANGLE, CR_FIGURE_ANGLE}, 2, 1, angles, NULL, grip, NULL, NULL};
    const crByImpact by = {.e = &e, .et = &et, .mu = &mu};
    crModel* model = cr_model_create(NULL);
    crMaterial felt = cr_material();
    felt.surface.by_impact = &by;
    int material = cr_model_add_material(model, &felt);
    scene_ground(model, cr_vec3(0, 0, 1), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.25), 1.0, material);
    Case c = begin(model, 0.01, "sequence", 0, NULL);
    const double v[6] = {1.5, 0.4, -2.0, 3.0, -8.0, 5.0};
    memcpy(c.state.v, v, sizeof v);
    compare_run(&c, 40, false, 21, 30);
    end(&c);
}

// A law of the user's, for balls: Newton's restitution, and friction that stops the slip or is mu times the normal impulse.
static crStatus own_law(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params, (void)error;
    double normal = -(1.0 + c->e) * c->V.x / c->W.xx, slip = sqrt(c->V.y * c->V.y + c->V.z * c->V.z);
    double share = slip > 0.0 ? fmin(1.0 / c->W.yy, c->mu * normal / slip) : 0.0;
    hit->P = cr_vec3(normal, -share * c->V.y, -share * c->V.z);
    return CR_OK;
}

// Balls hit the floor at 1 m/s by a law without a formula. A ball's slip of mu (1 + e) 7/2 just stops: 5/7 of a change of vx is
// left where the ball sticks, all of it where it slips. Beside that the derivative is one of these, and the verdict says that it is differenced.
TEST(law_of_the_user_is_differenced_and_says_so) {
    const double mu = 0.2, e = 0.5, edge = mu * (1.0 + e) * 3.5;
    const double slips[3] = {0.5 * edge, 1.5 * edge, edge}, left[3] = {5.0 / 7.0, 1.0, 0.0};
    const crLaw law = {"own", own_law, NULL};
    for (int i = 0; i < 3; i++) {
        crModel* model = cr_model_create(NULL);
        model->gravity = cr_vec3(0, 0, 0);
        int material = scene_material(model, mu, e);
        scene_ground(model, cr_vec3(0, 0, 1), material);
        scene_free(model, cr_shape_sphere(0.1), cr_vec3(0, 0, 0.105), 1.0, material);
        Case c = begin_by(model, 0.01, "sequence", &law, 0, NULL);
        c.state.v[0] = slips[i];
        c.state.v[2] = -1.0;
        double d[18] = {0.0}, y[12] = {0.0}, minus[12], plus[12], back[18];
        crWrtVerdict verdict;
        d[6] = y[6] = 1.0;
        CHECK_STATUS(cr_wrt_apply(c.wrt, &c.state, d, minus, plus, &verdict, NULL), CR_OK);
        CHECK(verdict.differenced && verdict.why != NULL);
        CHECK(verdict.verdict == (i < 2 ? CR_SMOOTH : CR_ONE_SIDED));
        CHECK_NEAR(minus[6], i < 2 ? left[i] : 5.0 / 7.0, 1e-6);
        CHECK_NEAR(plus[6], i < 2 ? left[i] : 1.0, 1e-6);
        CHECK_STATUS(cr_wrt_back(c.wrt, &c.state, y, back, &verdict, NULL), CR_OK);
        CHECK(verdict.differenced && verdict.verdict == (i < 2 ? CR_SMOOTH : CR_ONE_SIDED));
        if (i < 2) CHECK_NEAR(back[6], left[i], 1e-6);
        end(&c);
    }
}
