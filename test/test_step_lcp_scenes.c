// test_step_lcp_scenes.c - Stewart and Trinkle's stepping: rebounds, blocks, momentum and energy. Their four
// balls are in converge_command.py.
#include <stdlib.h>

#include "sample.h"
#include "step_scene.h"

#define GRAVITY 9.81

static Scene body_scene(crShape shape, crVec3 p, double mu, double e, crVec3 gravity,
                        const crStepSettings* settings) {
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = gravity;
    int material = scene_material(scene.model, mu, e);
    crShape table = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(scene.model, CR_WORLD, &table, material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = p;
    int body = cr_model_add_body(scene.model, &def);
    cr_model_add_shape(scene.model, body, &shape, material);
    scene_open(&scene, settings);
    return scene;
}

// velocity level: rebounds by Newton's and by Poisson's e, both the same for a ball that does not turn
TEST(ball_rebounds_at_velocity_level) {
    for (int poisson = 0; poisson < 2; poisson++) {
        crStepSettings settings = scene_settings(CR_METHOD_LCP);
        settings.level = CR_LEVEL_VELOCITY;
        settings.restitution = poisson ? CR_LCP_POISSON : CR_LCP_NEWTON;
        Scene scene = body_scene(cr_shape_sphere(0.1), cr_vec3(0, 0, 1.1), 0.3, 0.8, cr_vec3(0, 0, -GRAVITY),
                                 &settings);
        double expected = 0.8 * sqrt(2.0 * GRAVITY), before = 0.0, worst = 0.0;
        int bounces = 0;
        for (int i = 0; i < 6000 && scene_step(&scene, 1e-3); i++) {
            double v = scene.step.state.v[2];
            CHECK(scene.step.certificate.penetration < 1e-6);
            if (v > 0.0 && before < -0.1 && bounces < 5) {
                worst = fmax(worst, fabs(v / expected - 1.0));
                expected *= 0.8;
                bounces++;
            }
            before = v;
        }
        printf("%s at velocity level: %d rebounds to %.2f %%, at rest at gap %.1e with v %.1e\n",
               poisson ? "Poisson" : "Newton", bounces, 100.0 * worst, scene.step.state.q[2] - 0.1,
               scene.step.state.v[2]);
        CHECK(bounces == 5);
        CHECK(worst < 0.02);
        CHECK(fabs(scene.step.state.v[2]) < 1e-9);
        scene_close(&scene);
    }
}

// Poisson's second LCP with friction against the law of two stages, one contact
TEST(poisson_is_the_two_stage_law) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    settings.level = CR_LEVEL_VELOCITY;
    settings.restitution = CR_LCP_POISSON;
    double worst = 0.0;
    for (int i = 0; i < 200; i++) {
        double slide = 0.02 * i, spin = 0.3 * (i % 17) - 2.0;
        // without gravity the step is the impact alone
        Scene scene =
            body_scene(cr_shape_sphere(0.1), cr_vec3(0, 0, 0.1005), 0.25, 0.7, cr_vec3(0, 0, 0), &settings);
        double* v = scene.step.state.v;
        v[0] = slide;
        v[2] = -1.0;
        v[4] = spin;
        double m = scene.model->bodies[1].mass;
        if (!scene_step(&scene, 1e-3)) return;
        // slip u = vx - r w; sliding friction changes it by 7/2 of P/m; compression -1 -> 0, expansion 0 ->
        // .7
        double u = slide - 0.1 * spin, x = slide, left = u;
        double stage[2] = {1.0, 0.7};
        for (int k = 0; k < 2; k++) {
            double most = 0.25 * stage[k], needed = fabs(left) / 3.5;
            double P = copysign(fmin(most, needed), -left);
            x += P;
            left += 3.5 * P;
        }
        worst = fmax(worst, fmax(fabs(v[0] - x), fabs(v[2] - 0.7)));
        worst = fmax(worst, fabs((v[0] - 0.1 * v[4]) - left));
        CHECK_NEAR(m * 1.7, scene.step.posed.p[0], 1e-11 * m);
        scene_close(&scene);
    }
    printf("two stages: %.1e m/s apart\n", worst);
    CHECK(worst < 1e-12);
}

// a block on a slope, position level: stays, or slides with g (sin - mu cos) along a direction of the polygon
TEST(block_sticks_and_slides) {
    for (int k = 0; k < 4; k++) {
        bool slides = k % 2;
        crStepSettings settings = scene_settings(CR_METHOD_LCP);
        settings.level = k < 2 ? CR_LEVEL_POSITION : CR_LEVEL_VELOCITY;
        double tangent = slides ? 0.6 : 0.49, c = 1.0 / sqrt(1.0 + tangent * tangent), s = tangent * c;
        Scene scene = body_scene(cr_shape_box(0.1, 0.1, 0.05), cr_vec3(0, 0, 0.05), 0.5, 0.0,
                                 cr_vec3(GRAVITY * s, 0, -GRAVITY * c), &settings);
        int steps = 200;
        for (int i = 0; i < steps && scene_step(&scene, 0.005); i++) {}
        const crState* state = &scene.step.state;
        printf("block %g, %s: moved %.3e, speed %.9f, gap %.1e\n", tangent, k < 2 ? "position" : "velocity",
               state->q[0], state->v[0], state->q[2] - 0.05);
        if (slides) {
            double a = GRAVITY * (s - 0.5 * c);
            CHECK_NEAR(state->v[0], a, 1e-9);
            // v+ is used for the whole step: a t^2/2 (1 + 1/n)
            CHECK_NEAR(state->q[0], 0.5 * a * (1.0 + 1.0 / steps), 1e-9);
        } else {
            CHECK(fabs(state->q[0]) < 1e-12);
        }
        CHECK(fabs(state->q[2] - 0.05) < 1e-9);
        scene_close(&scene);
    }
}

// what moves by itself, ties, and what is refused

static crVec3 linear_momentum(Scene* scene) {
    crVec3 linear, angular;
    scene_energy(scene);
    cr_model_momentum(scene->model, &scene->step.dynamics, cr_vec3(0, 0, 0), &linear, &angular);
    return linear;
}

// a handful of balls and cubes that fly into each other, nothing else there; they turn freely at constant
// omega
static Scene cloud(crRandom* random, double e, const crStepSettings* settings) {
    Scene scene = {.model = cr_model_create(NULL)};
    scene.model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(scene.model, sample_uniform(random, 0.0, 1.0), e);
    int bodies = 3 + (int)(sample_bits(random) % 4);
    for (int i = 0; i < bodies; i++) {
        crShape ball = cr_shape_sphere(0.1), box = cr_shape_box(0.08, 0.08, 0.08);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.35 * (i % 3), 0.35 * (i / 3), sample_uniform(random, -0.1, 0.1));
        def.pose.q = sample_rotation(random);
        cr_model_add_shape(scene.model, cr_model_add_body(scene.model, &def), i % 2 ? &box : &ball, material);
    }
    scene_open(&scene, settings);
    for (int i = 0; i < bodies; i++) {
        const double* q = scene.step.state.q + 7 * i;
        double* v = scene.step.state.v + 6 * i;
        for (int k = 0; k < 3; k++) {
            double centre = k < 2 ? 0.3 : 0.0;
            v[k] = 2.0 * (centre - q[k]) + sample_uniform(random, -1.0, 1.0);
            v[3 + k] = sample_uniform(random, -5.0, 5.0);
        }
    }
    return scene;
}

TEST(clouds_keep_momentum_and_make_no_energy) {
    crRandom random = sample_seed(51);
    double momentum[3] = {0}, gained[3] = {0}, residual = 0.0;
    int contacts = 0, unsolved = 0;
    // position level; velocity level, e = 0 and Newton; velocity level, e = .5 and Poisson
    for (int n = 0; n < test_samples(3000) / 5; n++) {
        int kind = n % 3;
        crStepSettings settings = scene_settings(CR_METHOD_LCP);
        settings.level = kind == 0 ? CR_LEVEL_POSITION : CR_LEVEL_VELOCITY;
        settings.restitution = kind == 2 ? CR_LCP_POISSON : CR_LCP_NEWTON;
        Scene scene = cloud(&random, kind == 2 ? 0.5 : 0.0, &settings);
        crVec3 before = linear_momentum(&scene);
        double size = 0.0;
        for (int b = 1; b < scene.model->nb; b++) {
            size += 3.0 * scene.model->bodies[b].mass;
        }
        for (int i = 0; i < 100; i++) {
            double T = scene_energy(&scene).kinetic;
            if (!scene_step(&scene, 2e-3)) break;
            gained[kind] = fmax(gained[kind], (scene_energy(&scene).kinetic - T) / T);
            residual = fmax(residual, scene.step.certificate.residual);
            unsolved += scene.step.certificate.outcome != CR_OUTCOME_SOLVED;
            contacts += scene.step.warm.count;
        }
        crVec3 after = linear_momentum(&scene);
        momentum[kind] = fmax(momentum[kind], cr_norm(cr_sub(after, before)) / size);
        scene_close(&scene);
    }
    printf(
        "clouds: %d contacts, residual %.1e, %d unsolved; momentum %.1e %.1e %.1e; energy gained %.1e %.1e "
        "%.1e\n",
        contacts, residual, unsolved, momentum[0], momentum[1], momentum[2], gained[0], gained[1], gained[2]);
    CHECK(contacts > 100);
    CHECK(unsolved == 0);
    for (int kind = 0; kind < 3; kind++) {
        CHECK(momentum[kind] < 1e-12);
    }
    CHECK(gained[1] < 1e-13);
}

static void rising(void* ctx, double t, crDriven* out) {
    (void)ctx;
    double s, c;
    cr_sincos(3.0 * t, &s, &c);
    out->pose.p.z = 0.1 * s;
    out->velocity.z = 0.3 * c;
    out->velocity.x = 0.7;
    out->pose.p.x = 0.7 * t;
}

// a driven table goes up and down and along: the block on it stays on it, and is taken along
TEST(block_on_a_driven_table) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    Scene scene = {.model = cr_model_create(NULL)};
    int material = scene_material(scene.model, 0.5, 0.0);
    crBodyDef table = cr_body_def(), def = cr_body_def();
    table.joint = CR_JOINT_DRIVEN;
    table.drive = rising;
    crShape plate = cr_shape_box(5.0, 5.0, 0.5), block = cr_shape_box(0.1, 0.1, 0.1);
    plate.pose.p.z = -0.5;
    cr_model_add_shape(scene.model, cr_model_add_body(scene.model, &table), &plate, material);
    def.joint = CR_JOINT_FREE;
    def.pose.p.z = 0.1;
    cr_model_add_shape(scene.model, cr_model_add_body(scene.model, &def), &block, material);
    scene_open(&scene, &settings);
    double worst = 0.0;
    for (int i = 0; i < 500 && scene_step(&scene, 2e-3); i++) {
        const crState* s = &scene.step.state;
        worst = fmax(worst, fabs(s->q[2] - 0.1 - 0.1 * sin(3.0 * s->time)));
    }
    printf("driven table: gap %.1e, speed %.12f\n", worst, scene.step.state.v[0]);
    CHECK(worst < 1e-12);
    CHECK_NEAR(scene.step.state.v[0], 0.7, 1e-9);
    scene_close(&scene);
}

TEST(loop_stays_shut_at_position_level) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    settings.fixed_point = true;
    Scene scene = {.model = cr_model_create(NULL)};
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p.x = 1.0;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.01, .yy = 0.01, .zz = 0.01};
    crLoop loop = cr_loop(CR_LOOP_DISTANCE, CR_WORLD, cr_model_add_body(scene.model, &def));
    loop.length = 1.0;
    cr_model_add_loop(scene.model, &loop);
    scene_open(&scene, &settings);
    double worst = 0.0;
    for (int i = 0; i < 500 && scene_step(&scene, 2e-3); i++) {
        const double* q = scene.step.state.q;
        double error = fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - 1.0);
        worst = fmax(worst, error);
        CHECK_NEAR(scene.step.certificate.loop_error, error, 1e-12);
    }
    printf("pendulum: length to %.1e\n", worst);
    CHECK(worst < 1e-11);
    scene_close(&scene);
}

TEST(friction_that_is_no_lcp_is_refused) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    Scene scene =
        body_scene(cr_shape_sphere(0.1), cr_vec3(0, 0, 0.1), INFINITY, 0.0, cr_vec3(0, 0, -9.81), &settings);
    crError error = {0};
    CHECK_STATUS(cr_step_lcp(&scene.step, 1e-3, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "mu");
    scene_close(&scene);
}

// a ball between walls that are too near each other: gaps contradict, the step goes on at velocity level and
// says so
TEST(wedged_ball_is_reported) {
    crStepSettings settings = scene_settings(CR_METHOD_LCP);
    Scene scene =
        body_scene(cr_shape_sphere(0.1), cr_vec3(0, 0, 0.3), 0.2, 0.0, cr_vec3(0, 0, -GRAVITY), &settings);
    cr_step_destroy(&scene.step);
    crShape left = cr_shape_halfspace(cr_vec3(1, 0, 0), -0.099),
            right = cr_shape_halfspace(cr_vec3(-1, 0, 0), -0.099);
    cr_model_add_shape(scene.model, CR_WORLD, &left, 1);
    cr_model_add_shape(scene.model, CR_WORLD, &right, 1);
    scene_open(&scene, &settings);
    for (int i = 0; i < 50 && scene_step(&scene, 2e-3); i++) {
        CHECK(scene.step.certificate.outcome != CR_OUTCOME_SOLVED);
        CHECK_NEAR(scene.step.certificate.penetration, 1e-3, 1e-12);
        CHECK(fabs(scene.step.state.v[0]) < 1e-9);
    }
    // no normal force, so no friction: it falls freely
    CHECK_NEAR(scene.step.state.v[2], -GRAVITY * 0.1, 1e-9);
    scene_close(&scene);
}

// every allocation of a few steps fails once, in every variant and by events: an error each time, nothing
// leaks

TEST(memory_runs_out_anywhere) {
    int failures = 0;
    for (int kind = 0; kind < 4; kind++) {
        crStepSettings settings = scene_settings(CR_METHOD_LCP);
        settings.fixed_point = kind == 1;
        settings.level = kind == 2 ? CR_LEVEL_VELOCITY : CR_LEVEL_POSITION;
        settings.restitution = CR_LCP_POISSON;
        settings.method = kind == 3 ? CR_METHOD_EVENT : CR_METHOD_LCP;
        Scene scene = body_scene(cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 0.5, 0.5,
                                 cr_vec3(0, 0, -GRAVITY), &settings);
        bool finished = false;
        for (int n = 0; n < 2000 && !finished; n++) {
            Budget budget = {n, 0};
            crAllocator allocator = scene_budget(&budget);
            crStep step;
            crStatus status = cr_step_create(scene.model, &settings, &allocator, &step, NULL);
            if (status == CR_OK) step.state.v[2] = -1.0;
            for (int i = 0; i < 3 && status == CR_OK; i++) {
                status = cr_step_run(&step, 0.01, NULL);
            }
            finished = status == CR_OK;
            failures += !finished;
            if (!finished) CHECK_STATUS(status, CR_ERR_MEMORY);
            cr_step_destroy(&step);
            CHECK(budget.held == 0);
        }
        CHECK(finished);
        scene_close(&scene);
    }
    printf("memory: %d failures, all reported\n", failures);
}
