// test_step_drag.c - viscous and Stribeck forces of contacts, by every method: closed forms of sliding blocks
// and balls, and no gain of energy however strong the drag is.
#include <stdlib.h>

#include "sample.h"
#include "step_scene.h"

#define GRAVITY 9.81

static Scene drag_scene(crMethod method, crShape shape, double height, double viscous, double mu_stribeck,
                        double speed_stribeck) {
    crStepSettings settings = scene_settings(method);
    Scene scene = {.model = cr_model_create(NULL)};
    crMaterial material = cr_material();
    material.surface.mu = material.surface.mu2 = 0.0;
    material.surface.viscous = viscous;
    material.surface.mu_stribeck = mu_stribeck;
    material.surface.speed_stribeck = speed_stribeck;
    int index = cr_model_add_material(scene.model, &material);
    scene_ground(scene.model, cr_vec3(0, 0, 1), index);
    scene_free(scene.model, shape, cr_vec3(0, 0, height), 2.0, index);
    scene_open(&scene, &settings);
    return scene;
}

// v = v0 exp(-c t / m), for a box on four points as for one on one
TEST(viscous_block_decays_exponentially) {
    for (int method = 0; method < 4; method++) {
        double error[3];
        for (int k = 0; k < 3; k++) {
            double h = 4e-3 / (1 << k);
            Scene scene = drag_scene((crMethod)method, cr_shape_box(0.2, 0.1, 0.1), 0.1, 3.0, 0.0, 1.0);
            scene.step.state.v[0] = 1.0;
            int count = (int)floor(1.0 / h + 0.5);
            for (int i = 0; i < count && scene_step(&scene, h); i++) {}
            error[k] = fabs(scene.step.state.v[0] - exp(-1.5));
            CHECK(fabs(scene.step.state.q[2] - 0.1) < 1e-6);
            scene_close(&scene);
        }
        printf("block by %s: errors %.2e %.2e %.2e\n", cr_method_name((crMethod)method), error[0], error[1],
               error[2]);
        // each of four points has w = 1/m + .01/Iyy + .01/Izz = 1.1 along the slip: log v is off by
        // (c w c/m - (c/m)^2 / 2) h = 3.8 h, or .85e-3 at the end
        CHECK(error[2] < 1e-3);
        // first order
        CHECK(error[0] / error[1] > 1.8 && error[0] / error[1] < 2.2);
        CHECK(error[1] / error[2] > 1.8 && error[1] / error[2] < 2.2);
    }
}

// u = u0 exp(-c (1/m + r^2/I) t), and the angular momentum about the point of contact stays
TEST(viscous_ball_comes_to_roll) {
    Scene scene = drag_scene(CR_METHOD_CONE, cr_shape_sphere(0.1), 0.1, 3.0, 0.0, 1.0);
    scene.step.state.v[0] = 1.0;
    double h = 1e-4;
    for (int i = 0; i < 5000 && scene_step(&scene, h); i++) {}
    const double* v = scene.step.state.v;
    // I = .4 m r^2
    CHECK_NEAR(v[0] - 0.1 * v[4], exp(-1.5 * 3.5 * 0.5), 2e-4);
    CHECK_NEAR(v[0] + 0.04 * v[4], 1.0, 1e-9);
    scene_close(&scene);
}

// s' = -(2 mu g / v_s) s / (1 + s^2) with s = v / v_s: ln s + s^2 / 2 falls by 2 mu g t / v_s
TEST(stribeck_block_follows_its_integral) {
    for (int method = 0; method < 4; method++) {
        double error[2], mu = 0.2, speed = 0.25;
        for (int k = 0; k < 2; k++) {
            double h = 2e-3 / (1 << k), s0 = 1.0 / speed;
            Scene scene = drag_scene((crMethod)method, cr_shape_box(0.2, 0.2, 0.02), 0.02, 0.0, mu, speed);
            scene.step.state.v[0] = 1.0;
            int count = (int)floor(0.5 / h + 0.5);
            for (int i = 0; i < count && scene_step(&scene, h); i++) {}
            double s = scene.step.state.v[0] / speed;
            double fallen = log(s0) + 0.5 * s0 * s0 - log(s) - 0.5 * s * s;
            error[k] = fabs(fallen / (2.0 * mu * GRAVITY * 0.5 / speed) - 1.0);
            scene_close(&scene);
        }
        printf("stribeck by %s: relative errors %.2e %.2e\n", cr_method_name((crMethod)method), error[0],
               error[1]);
        // Lemke's solutions press on two or three of the four points, which makes the divisor larger
        CHECK(error[1] < (method == CR_METHOD_LCP ? 1.5e-2 : 1e-2));
        CHECK(error[1] < 0.6 * error[0]);
    }
}

// a stack of boxes, pressed by one step under gravity, then at random velocities without it: the stage alone
// never gains energy, whatever the coefficients and h are
TEST(drag_never_gains_energy) {
    crRandom random = sample_seed(77);
    double gained = -1.0, lost = 0.0;
    int contacts = 0;
    for (int n = 0; n < test_samples(3000); n++) {
        double viscous = n % 5 == 0 ? 0.0 : pow(10.0, sample_uniform(&random, -2.0, 7.0));
        double mu = n % 3 == 0 ? 0.0 : sample_uniform(&random, 0.0, 50.0);
        Scene scene = {.model = cr_model_create(NULL)};
        crMaterial material = cr_material();
        material.surface.mu = material.surface.mu2 = 0.5;
        material.surface.viscous = viscous;
        material.surface.mu_stribeck = mu;
        material.surface.speed_stribeck = sample_uniform(&random, 0.01, 1.0);
        int index = cr_model_add_material(scene.model, &material);
        scene_ground(scene.model, cr_vec3(0, 0, 1), index);
        for (int i = 0; i < 3; i++) {
            double mass = pow(10.0, sample_uniform(&random, -1.0, 1.0));
            scene_free(scene.model, cr_shape_box(0.2, 0.1, 0.05), cr_vec3(0, 0, 0.05 + 0.1 * i), mass, index);
        }
        crStepSettings settings = scene_settings((crMethod)(n % 4));
        scene_open(&scene, &settings);
        scene_step(&scene, 1e-3);
        scene.model->gravity = cr_vec3(0, 0, 0);
        crStep* step = &scene.step;
        double* v = step->state.v;
        for (int i = 0; i < scene.model->nv; i++) {
            v[i] = sample_uniform(&random, -1.0, 1.0);
        }
        double before = scene_energy(&scene).kinetic, h = pow(10.0, sample_uniform(&random, -5.0, 0.0));
        CHECK_STATUS(cr_step_begin(step, NULL), CR_OK);
        CHECK_STATUS(cr_step_forces(step, h, NULL), CR_OK);
        CHECK_STATUS(cr_step_collide(step, 1e-9, NULL), CR_OK);
        CHECK_STATUS(cr_step_drag(step, h, NULL), CR_OK);
        contacts += step->contacts.count;
        memcpy(v, step->free.v, (size_t)scene.model->nv * sizeof(double));
        double change = scene_energy(&scene).kinetic / before - 1.0;
        gained = fmax(gained, change);
        lost = fmax(lost, -change);
        scene_close(&scene);
    }
    printf("drag: energy changes by %.1e at most and %.3f at least, %d contacts\n", gained, -lost, contacts);
    CHECK(gained < 1e-13);
    CHECK(lost > 0.3);
    CHECK(contacts > 4 * test_samples(3000));
}

// a conveyor takes along what lies on it: speeds approach the belt's
static void belt(void* ctx, double t, crDriven* out) {
    (void)ctx;
    out->pose.p.x = 0.5 * t;
    out->velocity.x = 0.5;
}

TEST(belt_takes_a_block_along) {
    crStepSettings settings = scene_settings(CR_METHOD_CONE);
    Scene scene = {.model = cr_model_create(NULL)};
    crMaterial material = cr_material();
    material.surface.mu = material.surface.mu2 = 0.0;
    material.surface.viscous = 4.0;
    int index = cr_model_add_material(scene.model, &material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_DRIVEN;
    def.drive = belt;
    crShape plate = cr_shape_box(5.0, 1.0, 0.5);
    plate.pose.p.z = -0.5;
    cr_model_add_shape(scene.model, cr_model_add_body(scene.model, &def), &plate, index);
    scene_free(scene.model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 2.0, index);
    scene_open(&scene, &settings);
    for (int i = 0; i < 1000 && scene_step(&scene, 1e-3); i++) {}
    CHECK_NEAR(scene.step.state.v[0], 0.5 * (1.0 - exp(-2.0)), 2e-3);
    scene_close(&scene);
}

// every allocation of a few steps fails once
TEST(memory_runs_out_anywhere) {
    Scene scene = drag_scene(CR_METHOD_MOREAU, cr_shape_box(0.2, 0.1, 0.1), 0.1, 3.0, 0.1, 1.0);
    int failures = 0;
    bool finished = false;
    for (int n = 0; n < 2000 && !finished; n++) {
        Budget budget = {n, 0};
        crAllocator allocator = scene_budget(&budget);
        crStep step;
        crStatus status = cr_step_create(scene.model, &scene.step.settings, &allocator, &step, NULL);
        if (status == CR_OK) step.state.v[0] = 1.0;
        if (status == CR_OK) step.state.q[2] = 0.1;
        for (int i = 0; i < 3 && status == CR_OK; i++) {
            status = cr_step_run(&step, 0.01, NULL);
        }
        finished = status == CR_OK;
        failures += !finished;
        if (!finished) CHECK_STATUS(status, CR_ERR_MEMORY);
        cr_step_destroy(&step);
        CHECK(budget.held == 0);
    }
    printf("memory: %d failures, all reported\n", failures);
    CHECK(finished);
    CHECK(failures > 3);
    scene_close(&scene);
}
