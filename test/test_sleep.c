// test_sleep.c - bodies fall asleep together, cost nothing, and wake when they should.
#include <stdlib.h>

#include "world_scene.h"

static double drive_speed;  // of the shelf, m/s, from 2 s on

static void shelf(void* ctx, double time, crDriven* out) {
    (void)ctx;
    double t = time > 2.0 ? time - 2.0 : 0.0;
    out->pose.p.z = 0.5 + drive_speed * t;
    out->velocity.z = time > 2.0 ? drive_speed : 0.0;
}

typedef struct Scene {
    crModel* model;
    crWorld* world;
    int low, high;  // a box on the ground and one on it
    int ball;       // on its own
    int rider;      // on the shelf
    int hanging;    // a motor that does not turn
} Scene;

static Scene build(double sleep_time) {
    Scene s = {.model = cr_model_create(NULL)};
    int material = scene_material(s.model, 0.5, 0.0);
    scene_ground(s.model, cr_vec3(0, 0, 1), material);
    s.low = scene_free(s.model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.1), 1.0, material);
    s.high = scene_free(s.model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(0, 0, 0.3), 1.0, material);
    s.ball = scene_free(s.model, cr_shape_sphere(0.1), cr_vec3(0, 5, 0.1), 1.0, material);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_DRIVEN;
    def.drive = shelf;
    def.pose.p = cr_vec3(5, 0, 0.5);
    int driven = cr_model_add_body(s.model, &def);
    crShape plate = cr_shape_box(0.5, 0.5, 0.05);
    cr_model_add_shape(s.model, driven, &plate, material);
    s.rider = scene_free(s.model, cr_shape_box(0.1, 0.1, 0.1), cr_vec3(5, 0, 0.65), 1.0, material);
    crBodyDef arm = cr_body_def();
    arm.joint = CR_JOINT_HINGE;
    arm.axis = cr_vec3(0, 1, 0);
    arm.pose.p = cr_vec3(-5, 0, 2);
    arm.dof[0].lower = -INFINITY;
    arm.dof[0].upper = INFINITY;
    arm.dof[0].motor_force = 100.0;
    s.hanging = cr_model_add_body(s.model, &arm);
    crShape bar = cr_shape_capsule(0.05, 0.3);
    bar.pose.p.z = -0.4;
    cr_model_add_shape(s.model, s.hanging, &bar, material);
    crStepSettings settings = cr_step_settings();
    settings.sleep_time = sleep_time;
    s.world = scene_world(s.model, &settings);
    return s;
}

static void destroy(Scene* s) {
    cr_world_destroy(s->world);
    cr_model_destroy(s->model);
}

static int count_kind(const crWorld* world, int kind) {
    crEvents events = cr_world_events(world);
    int count = 0;
    for (int i = 0; i < events.count; i++) {
        count += events.events[i].impact == kind;
    }
    return count;
}

// to t; how many islands fell asleep and woke
static void run(Scene* s, double t, int* slept, int* woke) {
    *slept = *woke = 0;
    while (cr_world_state(s->world)->time < t - 1e-9) {
        if (!CHECK_STATUS(cr_world_step(s->world, NULL), CR_OK)) return;
        *slept += count_kind(s->world, CR_EVENT_SLEEP);
        *woke += count_kind(s->world, CR_EVENT_WAKE);
    }
}

TEST(bodies_at_rest_fall_asleep_and_stay) {
    drive_speed = 0.0;
    Scene s = build(0.5);
    int slept, woke;
    run(&s, 0.4, &slept, &woke);
    CHECK(slept == 0 && cr_world_certificate(s.world)->asleep == 0);
    run(&s, 1.0, &slept, &woke);
    // the stack, the ball, the rider, the arm
    CHECK(slept == 4 && woke == 0);
    CHECK(cr_world_certificate(s.world)->asleep == 5);
    CHECK(cr_world_asleep(s.world, s.low) && cr_world_asleep(s.world, s.high));
    uint64_t before = cr_world_hash(s.world);
    double q[64];
    memcpy(q, cr_world_state(s.world)->q, (size_t)s.model->nq * sizeof(double));
    run(&s, 3.0, &slept, &woke);
    CHECK(slept == 0 && woke == 0);
    CHECK(cr_world_hash(s.world) != before);  // time went on
    CHECK(memcmp(q, cr_world_state(s.world)->q, (size_t)s.model->nq * sizeof(double)) == 0);
    CHECK(cr_world_certificate(s.world)->contacts == 0);
    destroy(&s);
    // off unless asked for
    Scene never = build(0.0);
    run(&never, 1.0, &slept, &woke);
    CHECK(slept == 0 && cr_world_certificate(never.world)->asleep == 0);
    destroy(&never);
}

static Scene asleep(void) {
    Scene s = build(0.2);
    int slept, woke;
    run(&s, 1.0, &slept, &woke);
    CHECK(slept == 4);
    return s;
}

static double* v_of(Scene* s, int body) { return cr_world_state(s->world)->v + s->model->bodies[body].v; }
static double* q_of(Scene* s, int body) { return cr_world_state(s->world)->q + s->model->bodies[body].q; }

static void step(Scene* s, int expected) {
    CHECK_STATUS(cr_world_step(s->world, NULL), CR_OK);
    CHECK(count_kind(s->world, CR_EVENT_WAKE) == expected);
}

// a heap presses itself into the deadband and falls asleep: what it overlaps stays in the certificate
TEST(sleepers_keep_their_overlap_in_the_certificate) {
    crModel* model = cr_model_create(NULL);
    int rough = scene_material(model, 0.6, 0.0);
    scene_ground(model, cr_vec3(0, 0, 1), rough);
    for (int i = 0; i < 6; i++) {
        scene_free(model, cr_shape_box(0.1, 0.1, 0.05), cr_vec3(0.03 * (i % 2), 0, 0.05 + 0.101 * i), 1.0,
                   rough);
    }
    crStepSettings settings = cr_step_settings();
    settings.quality = CR_QUALITY_FAST;
    settings.sleep_time = 0.1;
    settings.sleep_speed = 0.05;
    crWorld* world = scene_world(model, &settings);
    double deepest = 0.0;
    for (int i = 0; i < 480; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        double overlap = 0.0;
        for (int a = 0; a < model->shape_count; a++) {
            for (int b = a + 1; b < model->shape_count; b++) {
                const crBodyShape *x = &model->shapes[a], *y = &model->shapes[b];
                crContactPoint points[16];
                int count = cr_collide(&x->shape, cr_world_pose(world, x->body), &y->shape,
                                       cr_world_pose(world, y->body), 0.0, points, 16, NULL);
                for (int k = 0; k < count; k++) {
                    overlap = fmax(overlap, -points[k].gap);
                }
            }
        }
        CHECK(overlap <= cr_world_certificate(world)->penetration + 1e-14);
        deepest = overlap;
    }
    CHECK(cr_world_certificate(world)->asleep == 6 && deepest > 0.0);
    CHECK_NEAR(cr_world_certificate(world)->penetration, deepest, 1e-14);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(a_velocity_a_force_or_a_position_wakes) {
    drive_speed = 0.0;
    Scene s = asleep();
    v_of(&s, s.high)[0] = 0.5;
    step(&s, 1);
    CHECK(!cr_world_asleep(s.world, s.low) && !cr_world_asleep(s.world, s.high));
    CHECK(cr_world_asleep(s.world, s.ball) && cr_world_asleep(s.world, s.rider));
    destroy(&s);
    s = asleep();
    cr_world_state(s.world)->force[s.model->bodies[s.ball].v] = 1.0;
    step(&s, 1);
    CHECK(!cr_world_asleep(s.world, s.ball) && cr_world_asleep(s.world, s.low));
    CHECK(v_of(&s, s.ball)[0] > 0.0);
    destroy(&s);
    s = asleep();
    // the support is taken away: what stood on it falls
    q_of(&s, s.low)[0] += 3.0;
    step(&s, 1);
    CHECK(!cr_world_asleep(s.world, s.high));
    CHECK_NEAR(v_of(&s, s.high)[2], -9.81 / 240.0, 1e-9);
    destroy(&s);
}

TEST(a_motor_a_moving_body_or_a_driven_one_wakes) {
    drive_speed = 0.0;
    Scene s = asleep();
    cr_world_state(s.world)->motor_speed[s.model->bodies[s.hanging].v] = 1.0;
    step(&s, 1);
    CHECK(!cr_world_asleep(s.world, s.hanging));
    destroy(&s);
    s = asleep();
    // the ball is thrown at the stack, which stays asleep until it comes
    double* q = q_of(&s, s.ball);
    q[0] = -1.0;
    q[1] = 0.0;
    v_of(&s, s.ball)[0] = 5.0;
    int steps = 0;
    step(&s, 1);
    while (cr_world_asleep(s.world, s.low) && steps++ < 240) {
        CHECK_STATUS(cr_world_step(s.world, NULL), CR_OK);
    }
    double way = 1.0 - 0.1 - 0.1;
    CHECK_NEAR(steps / 240.0, way / 5.0, 3.0 / 240.0);
    for (int i = 0; i < 10; i++) {
        CHECK_STATUS(cr_world_step(s.world, NULL), CR_OK);
    }
    CHECK(v_of(&s, s.low)[0] > 0.1);
    destroy(&s);
    // the shelf begins to sink at 2 s
    drive_speed = -0.5;
    s = asleep();
    CHECK(cr_world_asleep(s.world, s.rider));
    int slept, woke;
    run(&s, 2.3, &slept, &woke);
    CHECK(woke == 1 && !cr_world_asleep(s.world, s.rider));
    CHECK_NEAR(v_of(&s, s.rider)[2], -0.5, 1e-6);
    destroy(&s);
}

// what is awake moves to the same bits whether others may sleep or not
TEST(sleepers_do_not_change_what_is_awake) {
    drive_speed = 0.0;
    Scene a = build(0.1), b = build(0.0);
    for (int k = 0; k < 2; k++) {
        Scene* s = k == 0 ? &a : &b;
        q_of(s, s->ball)[2] = 4.0;
        v_of(s, s->ball)[1] = 1.0;
    }
    for (int i = 0; i < 200; i++) {
        CHECK_STATUS(cr_world_step(a.world, NULL), CR_OK);
        CHECK_STATUS(cr_world_step(b.world, NULL), CR_OK);
        CHECK(memcmp(q_of(&a, a.ball), q_of(&b, b.ball), 7 * sizeof(double)) == 0);
    }
    CHECK(cr_world_certificate(a.world)->asleep == 4);
    destroy(&a);
    destroy(&b);
}

TEST(snapshots_carry_sleep) {
    drive_speed = 0.0;
    Scene s = asleep(), other = build(0.2);
    size_t size = cr_world_save_size(s.world);
    void* bytes = malloc(size);
    CHECK_STATUS(cr_world_save(s.world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(other.world, bytes, size, NULL), CR_OK);
    CHECK(cr_world_asleep(other.world, other.low));
    for (int k = 0; k < 2; k++) {
        Scene* w = k == 0 ? &s : &other;
        double* q = q_of(w, w->ball);
        q[0] = q[1] = 0.0;
        q[2] = 0.8;
        v_of(w, w->ball)[2] = -2.0;
    }
    for (int i = 0; i < 60; i++) {
        CHECK_STATUS(cr_world_step(s.world, NULL), CR_OK);
        CHECK_STATUS(cr_world_step(other.world, NULL), CR_OK);
        if (!CHECK(cr_world_hash(s.world) == cr_world_hash(other.world))) break;
    }
    CHECK(!cr_world_asleep(s.world, s.low));
    free(bytes);
    destroy(&s);
    destroy(&other);
}

TEST(sleep_settings_are_checked) {
    crError error;
    crStepSettings settings = cr_step_settings();
    settings.sleep_time = -1.0;
    CHECK_STATUS(cr_step_settings_check(&settings, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "sleep_time");
    settings = cr_step_settings();
    settings.sleep_speed = NAN;
    CHECK_STATUS(cr_step_settings_check(&settings, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "sleep_speed");
}
