// test_step_joints.c - limits, motors, dry friction, loops and driven bodies as rows of the step's problem.
#include "world_scene.h"

static crBodyDef arm_def(void) {
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_HINGE;
    def.axis = cr_vec3(0, 1, 0);
    def.mass = 1.0;
    def.com = cr_vec3(0, 0, -0.5);
    def.inertia = (crSym3){.xx = 0.05, .yy = 0.05, .zz = 0.01};
    return def;
}

TEST(limit_stops_a_pendulum) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = arm_def();
    def.dof[0].lower = -0.2;
    cr_model_add_body(model, &def);
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    state->q[0] = 0.5;
    state->v[0] = -1.0;
    double least = 1.0;
    for (int i = 0; i < 960; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        least = fmin(least, state->q[0]);
    }
    printf("  lower limit -0.2: reached %.12f\n", least);
    CHECK(least > -0.2 - 1e-9);
    CHECK(least < -0.2 + 1e-9);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a motor against gravity: the torque is min(limit, what is needed)
TEST(motor_and_dry_friction_are_bounded) {
    double I = 0.05 + 0.25;
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    crBodyDef def = arm_def();
    def.dof[0].motor_force = 0.6;
    def.dof[0].motor_speed = 3.0;
    cr_model_add_body(model, &def);
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 0.6 / I, 1e-11);
    CHECK_STATUS(cr_world_run(world, 2.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 3.0, 1e-11);
    cr_world_destroy(world);
    cr_model_destroy(model);

    model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    def = arm_def();
    def.dof[0].friction = 0.3;
    cr_model_add_body(model, &def);
    world = scene_world(model, NULL);
    state = cr_world_state(world);
    state->v[0] = 2.0;
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 2.0 - 0.3 / I, 1e-11);
    // it stops, and a smaller torque does not move it
    state->force[0] = 0.29;
    CHECK_STATUS(cr_world_run(world, 80.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 0.0, 1e-12);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a double pendulum whose end is tied to the world: a four-bar linkage
TEST(loops_stay_shut) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = arm_def();
    int a = cr_model_add_body(model, &def);
    def.parent = a;
    def.pose.p = cr_vec3(0, 0, -1.0);
    int b = cr_model_add_body(model, &def);
    crLoop loop = cr_loop(CR_LOOP_DISTANCE, b, CR_WORLD);
    loop.pose_a.p = cr_vec3(0, 0, -1.0);
    loop.pose_b.p = cr_vec3(1.0, 0, -1.0);
    loop.length = 1.2;
    CHECK(cr_model_add_loop(model, &loop) >= 0);
    double worst = 0.0, drift[2] = {0.0, 0.0};
    for (int s = 0; s < 2; s++) {
        crStepSettings settings = cr_step_settings();
        settings.dt = s == 0 ? 1e-3 : 2.5e-4;
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        state->q[0] = -0.6;
        state->q[1] = 0.3;
        double energy = 0.0;
        while (state->time < 2.0) {
            bool first = state->time == 0.0;
            if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
            worst = fmax(worst, cr_world_certificate(world)->loop_error);
            // the first step shuts the loop
            if (first) energy = scene_total(world);
            drift[s] = fmax(drift[s], fabs(scene_total(world) - energy));
        }
        cr_world_destroy(world);
    }
    printf("  four-bar for 2 s: loop to %.1e m, energy to %.1e J (h = 1e-3) and %.1e J (2.5e-4)\n", worst,
           drift[0], drift[1]);
    CHECK(worst <= 1e-10);
    // gravity alone acts: energy is kept to the accuracy of the loop
    CHECK(drift[0] < 1e-8 && drift[1] < 1e-8);
    cr_model_destroy(model);
}

static void conveyor(void* ctx, double time, crDriven* out) {
    (void)ctx;
    (void)time;
    out->velocity = cr_vec3(1.5, 0, 0);
}

TEST(belt_drags_a_box_to_its_speed) {
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.5, 0.0);
    crBodyDef belt = cr_body_def();
    belt.joint = CR_JOINT_DRIVEN;
    belt.drive = conveyor;
    int body = cr_model_add_body(model, &belt);
    crShape plane = cr_shape_halfspace(cr_vec3(0, 0, 1), 0.0);
    cr_model_add_shape(model, body, &plane, material);
    scene_free(model, cr_shape_box(0.2, 0.2, 0.1), cr_vec3(0, 0, 0.1), 3.0, material);
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    CHECK_STATUS(cr_world_run(world, 0.2, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 0.5 * 9.81 * 0.2, 1e-9);
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 1.5, 1e-10);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// rolls without slipping where tan(theta) < 7/2 mu, at 5/7 g sin(theta)
TEST(ball_rolls_down_a_slope) {
    double slope = 0.5, c = 1.0 / sqrt(1.0 + slope * slope), s = slope * c;
    crModel* model = cr_model_create(NULL);
    int material = scene_material(model, 0.4, 0.0);
    scene_ground(model, cr_vec3(s, 0, c), material);
    scene_free(model, cr_shape_sphere(0.1), cr_vec3(0.1 * s, 0, 0.1 * c), 1.0, material);
    crWorld* world = scene_world(model, NULL);
    const crState* state = cr_world_state(world);
    CHECK_STATUS(cr_world_run(world, 2.0, NULL), CR_OK);
    crVec3 v = cr_vec3(state->v[0], state->v[1], state->v[2]);
    double speed = cr_dot(v, cr_vec3(c, 0, -s));
    printf("  rolling for 2 s: speed %.12f, exact %.12f\n", speed, 5.0 / 7.0 * 9.81 * s * 2.0);
    CHECK_NEAR(speed, 5.0 / 7.0 * 9.81 * s * 2.0, 1e-8);
    CHECK_NEAR(state->v[4] * 0.1, speed, 1e-9);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a ball hits the tip of a hanging rod: one impact on a mechanism, angular momentum about the hinge kept
TEST(ball_strikes_a_hinged_rod) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    int material = scene_material(model, 0.0, 0.6);
    crBodyDef def = arm_def();
    int rod = cr_model_add_body(model, &def);
    crShape bar = cr_shape_capsule(0.02, 0.5);
    bar.pose.p.z = -0.5;
    cr_model_add_shape(model, rod, &bar, material);
    scene_free(model, cr_shape_sphere(0.05), cr_vec3(-0.5, 0, -0.9), 0.2, material);
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    state->v[1] = 4.0;
    CHECK_STATUS(cr_world_run(world, 0.2, NULL), CR_OK);
    // P = (1+e) u / (1/m + r^2/I) at r = .9 below the hinge
    double I = 0.05 + 0.25, P = 1.6 * 4.0 / (1.0 / 0.2 + 0.81 / I);
    CHECK_NEAR(state->v[1], 4.0 - P / 0.2, 1e-7);
    CHECK_NEAR(state->v[0], -0.9 * P / I, 1e-7);
    CHECK(cr_world_certificate(world)->truncated == false);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// a turntable on its base: it turns in the plane that they share, across which they only touch, or overlap a little
TEST(flush_turntable_turns_freely) {
    const double sunk[] = {0.0, 1e-9, 1e-6, 1e-4};
    for (int i = 0; i < 4; i++) {
        crModel* model = cr_model_create(NULL);
        int material = scene_material(model, 0.6, 0.0);
        crShape base = cr_shape_cylinder(0.12, 0.05);
        base.pose.p = cr_vec3(0, 0, 0.05);
        cr_model_add_shape(model, CR_WORLD, &base, material);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.axis = cr_vec3(0, 0, 1);
        def.pose.p = cr_vec3(0, 0, 0.1 - sunk[i]);
        def.mass = 1.0;
        def.com = cr_vec3(0, 0, 0.05);
        def.inertia = (crSym3){.xx = 0.002, .yy = 0.002, .zz = 0.002};
        int body = cr_model_add_body(model, &def);
        crShape table = cr_shape_box(0.05, 0.03, 0.05);
        table.pose.p = cr_vec3(0, 0, 0.05);
        cr_model_add_shape(model, body, &table, material);
        crWorld* world = scene_world(model, NULL);
        cr_world_state(world)->v[0] = 2.0;
        double overlap = -1.0;
        CHECK_STATUS(cr_world_run(world, 0.5, NULL), CR_OK);
        CHECK_STATUS(cr_world_overlap(world, &overlap, NULL), CR_OK);
        CHECK(cr_world_certificate(world)->contacts == 0);
        CHECK_NEAR(cr_world_state(world)->v[0], 2.0, 1e-12);
        CHECK_NEAR(cr_world_state(world)->q[0], 1.0, 1e-12);
        CHECK_NEAR(overlap, sunk[i], 1e-12);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// a rod on a planar joint falls on its ends (Stewart and Trinkle): contacts have one tangent, it ends flat
TEST(planar_rod_falls_and_lies) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, -9.81, 0);
    int material = scene_material(model, 0.6, 0.0);
    scene_ground(model, cr_vec3(0, 1, 0), material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_PLANAR;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.002, .yy = 0.002, .zz = 0.002};
    int body = cr_model_add_body(model, &def);
    crShape rod = cr_shape_capsule(0.05, 0.25);
    rod.pose.q = cr_quat_axis_angle(cr_vec3(0, 1, 0), CR_PI / 2.0);
    cr_model_add_shape(model, body, &rod, material);
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    state->q[1] = 1.0;
    state->q[2] = CR_PI / 6.0;
    state->v[2] = 4.0;
    double energy = scene_total(world), worst = 0.0;
    for (int i = 0; i < 480; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        const crStep* step = cr_world_stages(world);
        for (int k = 0; k < step->contacts.count; k++) {
            CHECK(step->contacts.list[k].planar);
        }
        worst = fmax(worst, scene_total(world) - energy);
        energy = scene_total(world);
    }
    printf("  rod ends at y = %.9f, theta/pi = %.9f; energy rose by %.1e J at most\n", state->q[1],
           state->q[2] / CR_PI, worst);
    CHECK(worst < 1e-3);
    CHECK_NEAR(state->q[1], 0.05, 1e-6);
    CHECK_NEAR(cr_sin(state->q[2]), 0.0, 1e-6);
    CHECK(fabs(state->v[0]) < 1e-9 && fabs(state->v[1]) < 1e-9 && fabs(state->v[2]) < 1e-9);
    cr_world_destroy(world);
    cr_model_destroy(model);
}
