// test_step_event.c - event-driven stepping against closed forms: bouncing balls, cradles, walls, slopes.
#include "sample.h"
#include "step_scene.h"

#define GRAVITY 9.81

static crStepSettings event_settings(crToi toi, double dt) {
    crStepSettings settings = cr_step_settings();
    settings.method = CR_METHOD_EVENT;
    settings.toi = toi;
    settings.dt = dt;
    return settings;
}

static double total(Scene* scene) {
    crEnergy energy = scene_energy(scene);
    return energy.kinetic + energy.potential;
}

static Scene ball_scene(double height, double radius, double e, const crStepSettings* settings) {
    Scene scene = {.model = cr_model_create(NULL)};
    int material = scene_material(scene.model, 0.3, e);
    scene_ground(scene.model, cr_vec3(0, 0, 1), material);
    scene_free(scene.model, cr_shape_sphere(radius), cr_vec3(0, 0, height + radius), 1.0, material);
    scene_open(&scene, settings);
    return scene;
}

// dropped from 1 m: impacts at t1 (1 + 2 (e + e^2 + ...)), speeds v1 e^k, until the threshold
static void bounce(crToi toi, double dt) {
    crStepSettings settings = event_settings(toi, dt);
    Scene scene = ball_scene(1.0, 0.1, 0.8, &settings);
    double speed = sqrt(2.0 * GRAVITY), expected = speed / GRAVITY;
    double worst_time = 0.0, worst_speed = 0.0;
    int impacts = 0;
    while (scene.step.state.time < 4.5 && scene_step(&scene, scene.step.settings.dt)) {
        for (int i = 0; i < scene.step.events.count; i++) {
            const crEvent* event = &scene.step.events.list[i];
            if (event->impact < 0) continue;
            worst_time = fmax(worst_time, fabs(event->time - expected));
            worst_speed = fmax(worst_speed, fabs(event->approach - speed));
            CHECK_NEAR(event->impulse.z, 1.8 * speed, 1e-9);
            CHECK_NEAR(event->energy_change, -0.5 * (1.0 - 0.64) * speed * speed, 1e-9);
            speed *= 0.8;
            expected += 2.0 * speed / GRAVITY;
            impacts++;
        }
    }
    printf("bounce, dt %g, %s: %d impacts, times to %.1e s, speeds to %.1e m/s, rest at %.3e\n", dt,
           toi == CR_TOI_BISECT ? "bisect" : "advance", impacts, worst_time, worst_speed,
           scene.step.state.q[2] - 0.1);
    CHECK(worst_time < 1e-10);
    CHECK(worst_speed < 1e-9);
    // v1 .8^k > .01
    CHECK(impacts == 28);
    CHECK(fabs(scene.step.state.v[2]) < 1e-9);
    CHECK_NEAR(scene.step.state.q[2], 0.1, 2e-8);
    scene_close(&scene);
}

TEST(bouncing_ball_is_the_geometric_series) {
    bounce(CR_TOI_BISECT, 0.01);
    bounce(CR_TOI_ADVANCE, 0.01);
    bounce(CR_TOI_BISECT, 1.0 / 240.0);
    bounce(CR_TOI_ADVANCE, 0.5);
}

TEST(elastic_ball_keeps_its_energy) {
    for (int toi = 0; toi < 2; toi++) {
        crStepSettings settings = event_settings((crToi)toi, 0.01);
        Scene scene = ball_scene(1.0, 0.1, 1.0, &settings);
        double start = total(&scene), worst = 0.0;
        int impacts = 0;
        for (int i = 0; i < 2000 && scene_step(&scene, scene.step.settings.dt); i++) {
            worst = fmax(worst, fabs(total(&scene) - start) / start);
            impacts += scene.step.certificate.impacts;
        }
        // falls of .4515 s, the first one half
        printf("elastic, %s: %d impacts in 20 s, energy to %.1e\n", toi == 0 ? "bisect" : "advance", impacts,
               worst);
        CHECK(impacts == 22);
        CHECK(worst < 1e-9);
        scene_close(&scene);
    }
}

// a small fast ball and a thin plate: 20 m in a step, 1 mm of plate
TEST(nothing_is_passed_through) {
    for (int toi = 0; toi < 2; toi++) {
        crStepSettings settings = event_settings((crToi)toi, 0.1);
        Scene scene = {.model = cr_model_create(NULL)};
        scene.model->gravity = cr_vec3(0, 0, 0);
        int material = scene_material(scene.model, 0.0, 0.5);
        crShape plate = cr_shape_box(0.0005, 1.0, 1.0);
        cr_model_add_shape(scene.model, CR_WORLD, &plate, material);
        scene_free(scene.model, cr_shape_sphere(0.001), cr_vec3(-7.3, 0, 0), 1.0, material);
        scene_open(&scene, &settings);
        scene.step.state.v[0] = 200.0;
        scene_step(&scene, scene.step.settings.dt);
        CHECK(scene.step.events.count == 1);
        double t = (7.3 - 0.0015) / 200.0;
        if (scene.step.events.count == 1) CHECK_NEAR(scene.step.events.list[0].time, t, 1e-13);
        CHECK_NEAR(scene.step.state.v[0], -100.0, 1e-10);
        CHECK_NEAR(scene.step.state.q[0], -0.0015 - 100.0 * (0.1 - t), 1e-10);
        scene_close(&scene);
    }
}

// three beads with gaps: the impacts follow each other in time, and each is the law's
TEST(beads_collide_in_the_order_of_time) {
    for (int toi = 0; toi < 2; toi++) {
        crStepSettings settings = event_settings((crToi)toi, 1.0);
        Scene scene = {.model = cr_model_create(NULL)};
        scene.model->gravity = cr_vec3(0, 0, 0);
        int material = scene_material(scene.model, 0.0, 1.0);
        for (int i = 0; i < 5; i++) {
            scene_bead(scene.model, 0.1, 0.21 * i, material);
        }
        scene_open(&scene, &settings);
        scene.step.state.v[0] = 1.0;
        scene_step(&scene, scene.step.settings.dt);
        CHECK(scene.step.events.count == 4);
        for (int i = 0; i < scene.step.events.count; i++) {
            CHECK_NEAR(scene.step.events.list[i].time, 0.01 * (i + 1), 1e-12);
            CHECK_NEAR(scene.step.events.list[i].approach, 1.0, 1e-12);
        }
        for (int i = 0; i < 5; i++) {
            CHECK_NEAR(scene.step.state.v[i], i == 4 ? 1.0 : 0.0, 1e-12);
        }
        CHECK_NEAR(scene.step.state.q[4], 0.96, 1e-12);
        scene_close(&scene);
    }
}

// a frictionless ball on a fixed one leaves it where cos = 2/3 of the cosine it started at
TEST(a_ball_leaves_the_dome_it_slides_on) {
    const double steps[] = {4e-3, 1e-3, 2.5e-4};
    double error[3];
    for (int k = 0; k < 3; k++) {
        crStepSettings settings = event_settings(CR_TOI_BISECT, steps[k]);
        Scene scene = {.model = cr_model_create(NULL)};
        int material = scene_material(scene.model, 0.0, 0.0);
        crShape dome = cr_shape_sphere(1.0);
        double angle = 0.3, left = -1.0;
        cr_model_add_shape(scene.model, CR_WORLD, &dome, material);
        scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(1.1 * sin(angle), 0, 1.1 * cos(angle)), 1.0,
                   material);
        scene_open(&scene, &settings);
        for (double gap = 0.0;
             gap < 1e-3 && scene.step.state.time < 2.0 && scene_step(&scene, scene.step.settings.dt);) {
            const double* q = scene.step.state.q;
            double r = sqrt(q[0] * q[0] + q[2] * q[2]);
            gap = r - 1.1;
            // last seen pressed
            if (scene.step.warm.count > 0) left = q[2] / r;
        }
        error[k] = fabs(left - cos(angle) * 2.0 / 3.0);
        printf("dome, dt %g: leaves at cos %.6f, error %.1e\n", steps[k], left, error[k]);
        scene_close(&scene);
    }
    CHECK(error[2] < 1.5e-3);
    CHECK(error[2] < error[0]);
}

// a box on a slope: stays below the friction angle, slides with g (sin - mu cos) above it
TEST(box_on_a_slope) {
    for (int slides = 0; slides < 2; slides++) {
        crStepSettings settings = event_settings(CR_TOI_BISECT, 0.005);
        Scene scene = {.model = cr_model_create(NULL)};
        double tangent = slides ? 0.6 : 0.49, c = 1.0 / sqrt(1.0 + tangent * tangent), s = tangent * c;
        scene.model->gravity = cr_vec3(GRAVITY * s, 0, -GRAVITY * c);
        int material = scene_material(scene.model, 0.5, 0.3);
        scene_ground(scene.model, cr_vec3(0, 0, 1), material);
        scene_free(scene.model, cr_shape_box(0.1, 0.1, 0.05), cr_vec3(0, 0, 0.05), 1.0, material);
        scene_open(&scene, &settings);
        double x = scene.step.state.q[0];
        for (int i = 0; i < 400 && scene_step(&scene, scene.step.settings.dt); i++) {}
        double v = scene.step.state.v[0];
        printf("slope %g: slip %.2e m, speed %.6f m/s\n", tangent, scene.step.state.q[0] - x, v);
        if (slides) {
            CHECK_NEAR(v / 2.0, GRAVITY * (s - 0.5 * c), 1e-6);
        } else {
            CHECK(fabs(scene.step.state.q[0] - x) < 1e-9);
        }
        CHECK(scene.step.certificate.penetration < 2e-8);
        scene_close(&scene);
    }
}

// every rule resolves the same fall, momentum along the floor is kept without friction, no energy is made
TEST(every_rule_serves) {
    for (int r = 0; r < cr_rule_count(); r++) {
        crStepSettings settings = event_settings((crToi)(r % 2), 0.01);
        crError error = {0};
        CHECK_STATUS(cr_rule_find(cr_rule_info(r)->name, NULL, &settings.rule, &error), CR_OK);
        Scene scene = {.model = cr_model_create(NULL)};
        int material = scene_material(scene.model, 0.0, 0.6);
        scene_ground(scene.model, cr_vec3(0, 0, 1), material);
        scene_free(scene.model, cr_shape_box(0.1, 0.07, 0.05), cr_vec3(0, 0, 0.4), 1.0, material);
        scene_free(scene.model, cr_shape_sphere(0.1), cr_vec3(0.02, 0.01, 0.8), 1.0, material);
        scene_open(&scene, &settings);
        scene.step.state.v[0] = 0.5;
        double start = total(&scene), most = start;
        int events = 0;
        for (int i = 0; i < 100 && scene_step(&scene, scene.step.settings.dt); i++) {
            most = fmax(most, total(&scene));
            events += scene.step.events.count;
            CHECK(scene.step.certificate.penetration < 1e-7);
            if (test_samples(3000) < 3000 && i >= 60) break;
        }
        double momentum = scene.step.state.v[0] + scene.step.state.v[6];
        printf("%s: %d events, energy %+.1e at most, momentum to %.1e\n", cr_rule_info(r)->name, events,
               (most - start) / start, fabs(momentum - 0.5));
        CHECK(events > 0);
        CHECK_NEAR(momentum, 0.5, 1e-12);
        if (!cr_rule_info(r)->may_create_energy) CHECK(most - start < 1e-9 * start);
        scene_close(&scene);
    }
}

// the rod of Stewart and Trinkle, e = 0: impact and contact by events end where their method converges to
TEST(rod_ends_where_time_stepping_converges) {
    const double reference[3] = {-0.160898, 0.142076, 2.764408};
    const double steps[] = {2e-3, 5e-4};
    for (int k = 0; k < 2; k++) {
        crStepSettings settings = event_settings((crToi)k, steps[k]);
        Scene scene = {.model = cr_model_create(NULL)};
        scene.model->gravity = cr_vec3(0, -GRAVITY, 0);
        int material = scene_material(scene.model, 0.6, 0.0);
        scene_ground(scene.model, cr_vec3(0, 1, 0), material);
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_PLANAR;
        def.mass = 1.0;
        def.inertia = (crSym3){.xx = 0.001, .yy = 0.002, .zz = 0.002};
        crShape rod = cr_shape_capsule(0.05, 0.25);
        rod.pose.q = cr_quat_axis_angle(cr_vec3(0, 1, 0), 0.5 * CR_PI);
        cr_model_add_shape(scene.model, cr_model_add_body(scene.model, &def), &rod, material);
        scene_open(&scene, &settings);
        scene.step.state.q[1] = 0.9907;
        scene.step.state.q[2] = CR_PI / 6.0;
        scene.step.state.v[2] = 4.0;
        double hit = 0.0, error = 0.0;
        int count = (int)floor(0.5 / steps[k] + 0.5);
        for (int i = 0; i < count && scene_step(&scene, scene.step.settings.dt); i++) {
            if (hit == 0.0 && scene.step.events.count > 0) hit = scene.step.events.list[0].time;
        }
        for (int i = 0; i < 3; i++) {
            error = fmax(error, fabs(scene.step.state.q[i] - reference[i]));
        }
        printf("rod, dt %g: contact at %.6f, %.6f %.6f %.6f, error %.1e\n", steps[k], hit,
               scene.step.state.q[0], scene.step.state.q[1], scene.step.state.q[2], error);
        // y + l/2 sin(theta) or y - l/2 sin(theta) is down at r: free flight in closed form
        CHECK_NEAR(0.9907 - 0.5 * GRAVITY * hit * hit - 0.25 * fabs(sin(CR_PI / 6.0 + 4.0 * hit)), 0.05,
                   1e-11);
        // contact between events is of first order
        CHECK(error < 2.0 * steps[k]);
        scene_close(&scene);
    }
}

// boxes dropped askew rattle to rest: impacts accumulate and end, no energy is made, nothing overlaps
TEST(boxes_rattle_to_rest) {
    crRandom random = sample_seed(52);
    double gained = 0.0, excess = 0.0, deepest = 0.0, slowest = 0.0;
    int impacts = 0, at_rest = 0, count = test_samples(3000) / 100;
    for (int n = 0; n < count; n++) {
        crStepSettings settings = event_settings((crToi)(n % 2), 0.01);
        Scene scene = {.model = cr_model_create(NULL)};
        int material = scene_material(scene.model, 0.4, 0.5);
        scene_ground(scene.model, cr_vec3(0, 0, 1), material);
        int body = scene_free(scene.model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.4), 1.0, material);
        scene_open(&scene, &settings);
        crQuat turn = sample_rotation(&random);
        double* q = scene.step.state.q + scene.model->bodies[body].q;
        memcpy(q + 3, (double[]){turn.w, turn.x, turn.y, turn.z}, 4 * sizeof(double));
        double energy = total(&scene), speed = 0.0;
        for (int i = 0; i < 250 && scene_step(&scene, scene.step.settings.dt); i++) {
            double now = total(&scene), turned = 0.0;
            for (int k = 3; k < 6; k++) {
                turned += scene.step.settings.dt * scene.step.settings.dt * scene.step.state.v[k] *
                          scene.step.state.v[k];
            }
            // a body that turns about a corner is lifted by r (omega h)^2 / 2 in a step
            gained = fmax(gained, now - energy);
            excess = fmax(excess, now - energy - GRAVITY * 0.1 * sqrt(3.0) * turned);
            energy = now;
            impacts += scene.step.certificate.impacts;
            deepest = fmax(deepest, scene.step.certificate.penetration);
            CHECK(!scene.step.certificate.truncated);
            CHECK(scene.step.certificate.energy.created == 0.0);
        }
        for (int k = 0; k < 6; k++) {
            speed = fmax(speed, fabs(scene.step.state.v[k]));
        }
        slowest = fmax(slowest, speed);
        at_rest += speed < 1e-6;
        scene_close(&scene);
    }
    printf("boxes: %d of %d at rest after 2.5 s, %d impacts, energy gained %.1e J (beyond lifting %.1e), "
           "overlap %.1e, fastest %.1e\n",
           at_rest, count, impacts, gained, excess, deepest, slowest);
    CHECK(at_rest == count);
    CHECK(excess < 1e-9);
    CHECK(deepest < 3e-8);
}
