// Trees that turn fast: their energy and momentum in flight whatever h omega is, the order of the step
// against the double pendulum's own equations, and what loops and contacts do with trees that are carried.
#include "model_sample.h"
#include "step_scene.h"

#define STEPS 1000

static const double turns[] = {0.01, 0.03, 0.1, 0.3, 1.0, 3.0};  // h omega
#define TURNS ((int)(sizeof turns / sizeof *turns))

static crEnergy energy_of(const crModel* model, crStep* step) {
    cr_model_kinematics(model, &step->state, &step->dynamics);
    cr_model_velocity(model, step->state.v, &step->dynamics);
    return cr_model_energy(model, &step->state, &step->dynamics);
}

static double make_step(crStep* step, double h) {
    crError error = {0};
    crStatus status = cr_step_run(step, h, &error);
    test_check(status == CR_OK, __FILE__, __LINE__, "step at %g: %s", step->state.time, error.message);
    return status == CR_OK ? energy_of(step->model, step).kinetic : NAN;
}

// one tree of four bodies by hinges and balls, on a free root or on the world; what slides would fly off
static Bench sample_tree(crRandom* random, bool floats) {
    Bench bench = {.model = cr_model_create(NULL)};
    for (int k = 0; k < 4; k++) {
        crBodyDef def = cr_body_def();
        def.joint = sample_bits(random) % 2 == 0 ? CR_JOINT_HINGE : CR_JOINT_BALL;
        if (k == 0) def.joint = floats ? CR_JOINT_FREE : CR_JOINT_BALL;
        def.parent = k == 0 ? CR_WORLD : 1 + (int)(sample_bits(random) % (uint64_t)k);
        def.pose = sample_place(random, 0.5);
        def.axis = sample_direction(random);
        sample_mass(random, &def);
        cr_model_add_body(bench.model, &def);
    }
    bench_open(&bench);
    return bench;
}

// in a random state that turns by `turn` in a step
static crStep open_at(Bench* bench, crRandom* random, double turn, double h) {
    sample_state(random, bench);
    crStepSettings settings = cr_step_settings();
    settings.bound = 1e12;
    crStep step;
    CHECK_STATUS(cr_step_create(bench->model, &settings, NULL, &step, NULL), CR_OK);
    memcpy(step.state.q, bench->state.q, (size_t)bench->model->nq * sizeof(double));
    for (int i = 0; i < bench->model->nv; i++) {
        step.state.v[i] = 0.5 * bench->state.v[i] * turn / h;
    }
    return step;
}

TEST(nothing_is_gained_in_flight) {
    crRandom random = sample_seed(901);
    double gained = 0.0, lost = 0.0;
    int models = test_samples(600) / 20;
    for (int n = 0; n < models; n++) {
        Bench bench = sample_tree(&random, n % 2 == 0);
        bench.model->gravity = cr_vec3(0, 0, 0);
        crStep step = open_at(&bench, &random, turns[n / 2 % TURNS], 1.0 / 240.0);
        double start = energy_of(bench.model, &step).kinetic;
        for (int i = 0; i < STEPS; i++) {
            double T = make_step(&step, 1.0 / 240.0);
            gained = fmax(gained, T / start - 1.0);
            lost = fmax(lost, 1.0 - T / start);
        }
        cr_step_destroy(&step);
        bench_close(&bench);
    }
    printf("  %d trees, %d steps each: energy up by %.1e of it at most, down by %.1e\n", models, STEPS,
           gained, lost);
    CHECK(gained <= 1e-11);
    CHECK(lost <= 1e-11);
}

TEST(floating_trees_keep_their_momentum) {
    crRandom random = sample_seed(902);
    const double h = 1.0 / 240.0;
    double worst = 0.0, worst_turn = 0.0, off = 0.0;
    for (int n = 0; n < test_samples(600) / 20; n++) {
        Bench bench = sample_tree(&random, true);
        const crModel* model = bench.model;
        crStep step = open_at(&bench, &random, turns[n % 4], h);
        crVec3 P, L, P0, L0, zero = cr_vec3(0, 0, 0), com = zero, com0 = zero;
        double mass = 0.0;
        energy_of(model, &step);
        cr_model_momentum(model, &step.dynamics, zero, &P0, &L0);
        for (int b = 1; b < model->nb; b++) {
            mass += model->bodies[b].mass;
            com0 = cr_madd(com0, model->bodies[b].mass, step.dynamics.com[b]);
        }
        for (int i = 0; i < STEPS; i++) {
            make_step(&step, h);
        }
        double t = STEPS * h;
        cr_model_momentum(model, &step.dynamics, zero, &P, &L);
        for (int b = 1; b < model->nb; b++) {
            com = cr_madd(com, model->bodies[b].mass, step.dynamics.com[b]);
        }
        // by gravity alone: P + m g t, a parabola, and the moment of it about the origin
        crVec3 expected = cr_madd(cr_madd(com0, t, P0), 0.5 * t * t * mass, model->gravity);
        crVec3 turned = cr_add(L0, cr_cross(cr_madd(cr_scale(t, com0), 0.5 * t * t, P0), model->gravity));
        double size = cr_norm(P0) + mass * 9.81 * t;
        worst = fmax(worst, cr_norm(cr_sub(P, cr_madd(P0, t * mass, model->gravity))) / size);
        worst_turn = fmax(worst_turn, cr_norm(cr_sub(L, turned)) / (cr_norm(L0) + cr_norm(turned) + size));
        off = fmax(off, cr_norm(cr_sub(com, expected)) / (mass * (1.0 + t * size / mass)));
        cr_step_destroy(&step);
        bench_close(&bench);
    }
    printf("  momentum to %.1e, angular to %.1e, centre of mass off its parabola by %.1e\n", worst,
           worst_turn, off);
    CHECK(worst <= 1e-11);
    CHECK(worst_turn <= 1e-9);
    CHECK(off <= 1e-11);
}

// two rods on hinges: masses, distances of centres from hinges, moments about centres, length of the first
#define M1 1.3
#define M2 0.7
#define C1 0.25
#define C2 0.2
#define I1 0.02
#define I2 0.015
#define L1 0.45

// Lagrange's equations in the absolute angles x[0], x[1] and their rates
static void double_pendulum(const double x[4], double rate[4]) {
    double A = I1 + M1 * C1 * C1 + M2 * L1 * L1, B = M2 * L1 * C2, C = I2 + M2 * C2 * C2, g = 9.81;
    double c = B * cos(x[0] - x[1]), s = B * sin(x[0] - x[1]), det = A * C - c * c;
    double f = -s * x[3] * x[3] - (M1 * C1 + M2 * L1) * g * sin(x[0]);
    double e = s * x[2] * x[2] - M2 * C2 * g * sin(x[1]);
    rate[0] = x[2];
    rate[1] = x[3];
    rate[2] = (C * f - c * e) / det;
    rate[3] = (A * e - c * f) / det;
}

static void runge_kutta(double x[4], double time, int steps) {
    double h = time / steps;
    for (int n = 0; n < steps; n++) {
        double k[4][4], y[4];
        double_pendulum(x, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int i = 0; i < 4; i++) {
                y[i] = x[i] + (stage == 3 ? h : 0.5 * h) * k[stage - 1][i];
            }
            double_pendulum(y, k[stage]);
        }
        for (int i = 0; i < 4; i++) {
            x[i] += h / 6.0 * (k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i]);
        }
    }
}

static double pendulum_error(crMethod method, int steps) {
    Scene scene = {.model = cr_model_create(NULL)};
    for (int k = 0; k < 2; k++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.parent = k;
        def.axis = cr_vec3(0, 1, 0);
        def.pose.p.z = k == 0 ? 0.0 : -L1;
        def.mass = k == 0 ? M1 : M2;
        def.com = cr_vec3(0, 0, k == 0 ? -C1 : -C2);
        double I = k == 0 ? I1 : I2;
        def.inertia = (crSym3){.xx = I, .yy = I, .zz = I};
        cr_model_add_body(scene.model, &def);
    }
    crStepSettings settings = scene_settings(method);
    scene_open(&scene, &settings);
    double x[4] = {1.0, -0.5, 3.0, -5.0};
    crState* state = &scene.step.state;
    state->q[0] = x[0];
    state->q[1] = x[1] - x[0];
    state->v[0] = x[2];
    state->v[1] = x[3] - x[2];
    for (int i = 0; i < steps; i++) {
        scene_step(&scene, 1.0 / steps);
    }
    runge_kutta(x, 1.0, 20000);
    double error = fabs(state->q[0] - x[0]) + fabs(state->q[0] + state->q[1] - x[1]);
    error += fabs(state->v[0] - x[2]) + fabs(state->v[0] + state->v[1] - x[3]);
    scene_close(&scene);
    return error;
}

TEST(double_pendulum_is_of_second_order) {
    const crMethod methods[] = {CR_METHOD_CONE, CR_METHOD_EVENT};
    for (int m = 0; m < 2; m++) {
        double a = pendulum_error(methods[m], 200), b = pendulum_error(methods[m], 400),
               c = pendulum_error(methods[m], 800);
        printf("  %s: errors after 1 s at h = 1/200, 1/400, 1/800: %.1e, %.1e, %.1e; ratios %.2f, %.2f\n",
               cr_method_name(methods[m]), a, b, c, a / b, b / c);
        CHECK_NEAR(a / b, 4.0, 0.4);
        CHECK_NEAR(b / c, 4.0, 0.2);
    }
}

// four bars: three hinged links whose end is tied to the world
TEST(linkages_gain_nothing) {
    const double length[3] = {0.2, 0.5, 0.4}, h = 1.0 / 240.0;
    double gained = 0.0, open = 0.0;
    for (int t = 0; t < TURNS - 1; t++) {
        Scene scene = {.model = cr_model_create(NULL)};
        scene.model->gravity = cr_vec3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            crBodyDef def = cr_body_def();
            def.joint = CR_JOINT_HINGE;
            def.parent = k;
            if (k > 0) def.pose.p.x = length[k - 1];
            def.mass = 1.0 + 0.3 * k;
            def.com = cr_vec3(0.5 * length[k], 0, 0);
            def.inertia = (crSym3){.xx = 0.001, .yy = 0.01, .zz = 0.01};
            cr_model_add_body(scene.model, &def);
        }
        crLoop loop = cr_loop(CR_LOOP_CONNECT, CR_WORLD, 3);
        loop.pose_a = loop.pose_b = cr_pose_identity();
        loop.pose_a.p.x = 0.45;
        loop.pose_b.p.x = length[2];
        cr_model_add_loop(scene.model, &loop);
        crStepSettings settings = scene_settings(CR_METHOD_CONE);
        scene_open(&scene, &settings);
        crStep* step = &scene.step;
        const double at[3] = {0.7, 0.5, -2.2};
        memcpy(step->state.q, at, sizeof at);
        step->state.v[0] = turns[t] / h;
        cr_model_kinematics(scene.model, &step->state, &step->dynamics);
        CHECK_STATUS(
            cr_model_close_loops(scene.model, 1e-12, &step->scratch, &step->dynamics, &step->state, NULL),
            CR_OK);
        double start = scene_energy(&scene).kinetic;
        for (int i = 0; i < 240 && scene_step(&scene, h); i++) {
            gained = fmax(gained, scene_energy(&scene).kinetic / start - 1.0);
            open = fmax(open, step->certificate.loop_error);
        }
        scene_close(&scene);
    }
    printf("  four bars: energy up by %.1e of it at most, loop open by %.1e m\n", gained, open);
    CHECK(gained <= 1e-6);
    CHECK(open <= 1e-8);
}

// chains that whirl come down on a floor: nothing is passed, and energy only goes
TEST(chains_come_down) {
    crRandom random = sample_seed(903);
    const double h = 1.0 / 240.0;
    for (int t = 0; t < 4; t++) {
        Scene scene = {.model = cr_model_create(NULL)};
        crShape floor = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0), rod = cr_shape_capsule(0.05, 0.1);
        cr_model_add_shape(scene.model, CR_WORLD, &floor, 0);
        for (int k = 0; k < 4; k++) {
            crBodyDef def = cr_body_def();
            def.joint = k == 0 ? CR_JOINT_FREE : CR_JOINT_BALL;
            def.parent = k;
            def.pose.p.z = k == 0 ? 2.0 : -0.35;
            int body = cr_model_add_body(scene.model, &def);
            cr_model_add_shape(scene.model, body, &rod, 0);
        }
        crStepSettings settings = scene_settings(CR_METHOD_CONE);
        scene_open(&scene, &settings);
        double* v = scene.step.state.v;
        for (int i = 0; i < scene.model->nv; i++) {
            v[i] = (i < 3 ? 0.2 : 1.0) * sample_uniform(&random, -1, 1) * turns[t] / h;
        }
        crEnergy was = scene_energy(&scene);
        double start = was.kinetic + was.potential, most = start, deepest = 0.0;
        for (int i = 0; i < 2000 && scene_step(&scene, h); i++) {
            crEnergy now = scene_energy(&scene);
            most = fmax(most, now.kinetic + now.potential);
            deepest = fmax(deepest, scene.step.certificate.penetration);
        }
        double left = scene_energy(&scene).kinetic;
        printf("  chain at %.2f rad a step: energy up by %.1e of it, overlap %.1e m, %.1e J left\n", turns[t],
               most / start - 1.0, deepest, left);
        CHECK(most <= (1.0 + 1e-6) * start);
        CHECK(deepest <= 1e-7);
        scene_close(&scene);
    }
}
