// test_ranges.c - loops with a range: ropes and rods with play, and two joints that keep within bounds of
// each other. Rows are the rates of their gaps; what is slack moves as if there were nothing, what is taut
// holds.
#include "io/json.h"
#include "io/scene.h"
#include "model_sample.h"
#include "world_scene.h"

// a ball of 1 kg on a rope of length 1 from the origin
static crModel* on_rope(crVec3 at, double lower) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.pose.p = at;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 0.004, .yy = 0.004, .zz = 0.004};
    int ball = cr_model_add_body(model, &def);
    crLoop rope = cr_loop(CR_LOOP_DISTANCE, CR_WORLD, ball);
    rope.lower = lower;
    rope.upper = 1.0;
    CHECK(cr_model_add_loop(model, &rope) == 0);
    return model;
}

// a chain of two hinges; q_1 + q_2 / 2 keeps within [-0.3, 0.4]
static crModel* coupled(void) {
    crModel* model = cr_model_create(NULL);
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_HINGE;
        def.axis = cr_vec3(0, 1, 0);
        def.parent = i;
        if (i == 1) def.pose.p = cr_vec3(0, 0, -1);
        def.mass = 1.0;
        def.com = cr_vec3(0, 0, -0.5);
        def.inertia = (crSym3){.xx = 0.05, .yy = 0.05, .zz = 0.01};
        cr_model_add_body(model, &def);
    }
    crLoop loop = cr_loop(CR_LOOP_JOINT, 1, 2);
    loop.coef[1] = -0.5;
    loop.lower = -0.3;
    loop.upper = 0.4;
    CHECK(cr_model_add_loop(model, &loop) == 0);
    return model;
}

// the distance to the nearer end, from positions alone
static double gap_by_hand(const Bench* bench, bool rope) {
    const double* q = bench->state.q;
    double x = rope ? sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) : q[0] + 0.5 * q[1];
    const crLoop* loop = &bench->model->loops[0];
    return fmin(x - loop->lower, loop->upper - x);
}

TEST(rows_are_rates_of_gaps) {
    crRandom seed = sample_seed(5);
    for (int i = 0; i < test_samples(300); i++) {
        bool rope = i % 2 == 0;
        Bench bench = {.model = rope ? on_rope(cr_vec3(0, 0, 0), 0.4) : coupled()};
        bench_open(&bench);
        for (int k = 0; k < (rope ? 3 : 2); k++) {
            bench.state.q[k] = sample_uniform(&seed, -0.6, 0.6);
        }
        for (int k = 0; k < bench.model->nv; k++) {
            bench.state.v[k] = sample_uniform(&seed, -1.0, 1.0);
        }
        double u, gap = gap_by_hand(&bench, rope), h = 1e-6;
        crRows rows;
        CHECK_STATUS(cr_rows_create(&bench.arena, 1, 12, &rows), CR_OK);
        cr_model_kinematics(bench.model, &bench.state, &bench.d);
        CHECK(cr_rows_add_loop(bench.model, &bench.d, 0, &rows) == 0 && rows.count == 1);
        cr_rows_velocity(&rows, bench.state.v, &u);
        CHECK_NEAR(rows.gap[0], gap, 1e-14);
        cr_model_integrate(bench.model, h, &bench.state);
        // at the middle of the range the nearer end changes
        if (fabs(gap - 0.5 * (bench.model->loops[0].upper - bench.model->loops[0].lower)) > 1e-5)
            CHECK_NEAR((gap_by_hand(&bench, rope) - gap) / h, u, 2e-5);
        bench_close(&bench);
    }
}

// what a rope does to a ball that falls 0.5 m: nothing, until it stops it
TEST(a_rope_stops_a_fall) {
    static const crMethod methods[] = {CR_METHOD_CONE, CR_METHOD_LCP, CR_METHOD_MOREAU, CR_METHOD_EVENT};
    for (int m = 0; m < 4; m++) {
        crModel* model = on_rope(cr_vec3(0, 0, -0.5), 0.0);
        crStepSettings settings = cr_step_settings();
        settings.method = methods[m];
        settings.dt = 1e-3;
        crWorld* world = scene_world(model, &settings);
        crState* state = cr_world_state(world);
        CHECK_STATUS(cr_world_run(world, 0.3, NULL), CR_OK);
        // first-order methods lag by g t h / 2
        CHECK_NEAR(state->q[2], -0.5 - 0.5 * 9.81 * 0.09, 9.81 * 0.3 * 1e-3);
        CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
        CHECK_NEAR(state->v[2], 0.0, 1e-9);
        // moreau keeps velocities only: it may pass by a step's way
        CHECK_NEAR(state->q[2], -1.0, methods[m] == CR_METHOD_MOREAU ? 3.2e-3 : 1e-8);
        CHECK(cr_world_certificate(world)->outcome == CR_OUTCOME_SOLVED);
        cr_world_destroy(world);
        cr_model_destroy(model);
    }
}

// thrown up it flies; swinging it keeps its energy but for what the rope takes where it goes taut
TEST(slack_and_taut) {
    crModel* model = on_rope(cr_vec3(0.6, 0, 0), 0.0);
    crStepSettings settings = cr_step_settings();
    settings.dt = 5e-4;
    crWorld* world = scene_world(model, &settings);
    crState* state = cr_world_state(world);
    double farthest = 0.0, before = 1e9;
    bool flew = false;
    for (int i = 0; i < 4000; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        double r = sqrt(state->q[0] * state->q[0] + state->q[2] * state->q[2]);
        farthest = fmax(farthest, r);
        flew |= r < 0.99 && state->time < 0.2;
        crEnergy e = cr_world_energy(world);
        // never more than it had, but for the order of the method
        CHECK(e.kinetic + e.potential <= before + 1e-3);
        before = fmin(before, e.kinetic + e.potential);
    }
    CHECK(flew && farthest > 1.0 - 1e-9 && farthest < 1.0 + 1e-8);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(two_joints_within_bounds_of_each_other) {
    crModel* model = coupled();
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    state->v[0] = 4.0;
    state->v[1] = -2.0;
    double least = 1.0, most = -1.0;
    for (int i = 0; i < 1200; i++) {
        if (!CHECK_STATUS(cr_world_step(world, NULL), CR_OK)) break;
        least = fmin(least, state->q[0] + 0.5 * state->q[1]);
        most = fmax(most, state->q[0] + 0.5 * state->q[1]);
        CHECK(cr_world_certificate(world)->outcome == CR_OUTCOME_SOLVED);
    }
    // both ends are reached and neither is passed
    CHECK_NEAR(least, -0.3, 1e-8);
    CHECK_NEAR(most, 0.4, 1e-8);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

// two balls on one rope meet; an elastic collision while it is slack exchanges their velocities
TEST(bodies_on_a_rope_touch) {
    crModel* model = cr_model_create(NULL);
    model->gravity = cr_vec3(0, 0, 0);
    model->materials[0].surface.e = 1.0;
    for (int i = 0; i < 2; i++) {
        crBodyDef def = cr_body_def();
        def.joint = CR_JOINT_FREE;
        def.pose.p = cr_vec3(0.5 * i, 0, 0);
        crShape ball = cr_shape_sphere(0.1);
        cr_model_add_shape(model, cr_model_add_body(model, &def), &ball, 0);
    }
    crLoop rope = cr_loop(CR_LOOP_DISTANCE, 1, 2);
    rope.upper = 0.8;
    cr_model_add_loop(model, &rope);
    CHECK(cr_model_meet(model, 0, 1));
    crWorld* world = scene_world(model, NULL);
    crState* state = cr_world_state(world);
    state->v[0] = 1.0;
    CHECK_STATUS(cr_world_run(world, 0.6, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 0.0, 1e-9);
    CHECK_NEAR(state->v[6], 1.0, 1e-9);
    // then the rope goes taut: both move on together, momentum kept
    CHECK_STATUS(cr_world_run(world, 2.0, NULL), CR_OK);
    CHECK_NEAR(state->v[0], 0.5, 1e-9);
    CHECK_NEAR(state->v[6], 0.5, 1e-9);
    CHECK_NEAR(state->q[7] - state->q[0], 0.8, 1e-8);
    cr_world_destroy(world);
    cr_model_destroy(model);
}

TEST(closing_takes_only_what_is_passed) {
    Bench bench = {.model = on_rope(cr_vec3(0, 0, 0), 0.4)};
    bench_open(&bench);
    const double at[3] = {0.7, 2.0, 0.1}, then[3] = {0.7, 1.0, 0.4};
    for (int i = 0; i < 3; i++) {
        bench.state.q[0] = at[i];
        CHECK_STATUS(cr_model_close_loops(bench.model, 1e-12, &bench.arena, &bench.d, &bench.state, NULL),
                     CR_OK);
        CHECK_NEAR(bench.state.q[0], then[i], 1e-11);
    }
    bench_close(&bench);
}

TEST(refusals) {
    static const double ends[][2] = {{1, 0.5}, {-1, 1}, {-INFINITY, INFINITY}, {NAN, 1}, {1, 1}};
    crModel* model = on_rope(cr_vec3(0, 0, 0), 0.0);
    for (int i = 0; i < 5; i++) {
        crLoop rope = cr_loop(CR_LOOP_DISTANCE, 0, 1);
        rope.lower = ends[i][0];
        rope.upper = ends[i][1];
        CHECK(cr_model_add_loop(model, &rope) == CR_ERR_RANGE);
        CHECK_TEXT(model->error.field, "lower");
        model->error = (crError){0};
    }
    crLoop weld = cr_loop(CR_LOOP_WELD, 0, 1);
    weld.upper = 1.0;
    CHECK(cr_model_add_loop(model, &weld) == CR_ERR_ARGUMENT);
    cr_model_destroy(model);
}

#define SCENE(tie)                                                                                        \
    "{\"carom\":1,\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":1},{\"name\":\"b\",\"pos\":[0,0,2]," \
    "\"mass\":1,\"inertia\":1}],\"constraints\":[{\"bodies\":[\"a\",\"b\"]," tie "}]}"

static crStatus read_scene(const char* text, crError* error) {
    crJsonDoc doc = {0};
    crScene scene = {0};
    crStatus status = cr_json_parse(text, strlen(text), 1, &doc, error);
    if (status == CR_OK) status = cr_scene_read(doc.root, &scene, error);
    if (status == CR_OK) {
        CHECK(cr_loop_ranges(&scene.model->loops[0]) && scene.model->loops[0].upper == 2.5);
        cr_scene_free(&scene);
    }
    cr_json_free(&doc);
    return status;
}

TEST(in_scenes) {
    crError error = {0};
    CHECK_STATUS(read_scene(SCENE("\"type\":\"distance\",\"range\":[0.5,2.5]"), &error), CR_OK);
    CHECK_STATUS(read_scene(SCENE("\"type\":\"distance\",\"range\":[2,1]"), &error), CR_ERR_RANGE);
    CHECK(strstr(error.message, "[2, 1]") != NULL && error.line == 1 && error.column > 100);
    CHECK_STATUS(read_scene(SCENE("\"type\":\"distance\",\"range\":[-1,1]"), &error), CR_ERR_RANGE);
    CHECK_STATUS(read_scene(SCENE("\"type\":\"distance\",\"range\":[0,1],\"length\":1"), &error),
                 CR_ERR_FIELD);
    CHECK_STATUS(read_scene(SCENE("\"type\":\"weld\",\"range\":[0,1]"), &error), CR_ERR_FIELD);
    CHECK_STATUS(read_scene(SCENE("\"type\":\"distance\",\"range\":[0]"), &error), CR_ERR_SIZE);
    CHECK_STATUS(read_scene(SCENE("\"type\":\"distance\""), &error), CR_ERR_MISSING);
}
