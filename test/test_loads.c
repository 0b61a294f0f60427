// Forces in scenes: expressions against a second evaluation, motions against closed forms, work against the change of
// energy, momentum against reactions; snapshots, sleep, refusals.
#include <stdlib.h>

#include "carom/dynamics.h"
#include "io/expression.h"
#include "sample.h"
#include "scene_text.h"

// expressions

static const char* const names[] = {"t", "x", NULL};

static double value_of(const char* text, double t, double x) {
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    crExpression expression;
    crError error = {0};
    crStatus status = cr__expression_read(text, names, &arena, &expression, &error);
    double value = status == CR_OK ? cr__expression_value(&expression, (double[]){t, x}) : (double)NAN;
    test_check(status == CR_OK, __FILE__, __LINE__, "%s: %s", text, error.message);
    cr_arena_destroy(&arena);
    return value;
}

TEST(precedence) {
    CHECK(value_of("1+2*3", 0, 0) == 7.0);
    CHECK(value_of(" ( 1 + 2 ) * 3 ", 0, 0) == 9.0);
    CHECK(value_of("2-3-4", 0, 0) == -5.0);
    CHECK(value_of("8/4/2", 0, 0) == 1.0);
    CHECK(value_of("-2^2", 0, 0) == -4.0);
    CHECK(value_of("--t", 3, 0) == 3.0);
    CHECK(value_of("step(t-1)", 0.5, 0) == 0.0 && value_of("step(t-1)", 1, 0) == 1.0);
    CHECK(value_of("min(t,x)*10+max(t,x)", 2, 3) == 23.0);
    CHECK(value_of("sqrt(abs(-16))", 0, 0) == 4.0);
    CHECK_NEAR(value_of("sin(pi/6)", 0, 0), 0.5, 1e-15);
    CHECK_NEAR(value_of("cos(pi/3)", 0, 0), 0.5, 1e-15);
    CHECK(isnan(value_of("sqrt(-1)", 0, 0)) && isinf(value_of("1/0", 0, 0)));
}

// A random expression as text, every part in parentheses or not as precedence allows; returns its value.
static double write_random(crRandom* random, int depth, char** at, double t, double x) {
    int kind = (int)(sample_bits(random) % (depth > 0 ? 9 : 3));
    double a, b;
    switch (kind) {
    case 0:
        *at += sprintf(*at, "t");
        return t;
    case 1:
        *at += sprintf(*at, "x");
        return x;
    case 2:
        a = (double)(sample_bits(random) % 1000) / 8.0;
        *at += sprintf(*at, "%.17g", a);
        return a;
    case 3:
        *at += sprintf(*at, "-(");
        a = write_random(random, depth - 1, at, t, x);
        *at += sprintf(*at, ")");
        return -a;
    case 4:
        *at += sprintf(*at, "abs(");
        a = write_random(random, depth - 1, at, t, x);
        *at += sprintf(*at, ")^2");
        return fabs(a) * fabs(a);
    default:
        *at += sprintf(*at, "(");
        a = write_random(random, depth - 1, at, t, x);
        *at += sprintf(*at, kind == 5 ? ")+(" : kind == 6 ? ")-(" : kind == 7 ? ")*(" : ")/(");
        b = write_random(random, depth - 1, at, t, x);
        *at += sprintf(*at, ")");
        return kind == 5 ? a + b : kind == 6 ? a - b : kind == 7 ? a * b : a / b;
    }
}

TEST(random_expressions) {
    crRandom random = sample_seed(7);
    int samples = test_samples(30000);
    for (int i = 0; i < samples; i++) {
        char text[4000], *at = text;
        double t = sample_uniform(&random, -3, 3), x = sample_uniform(&random, -3, 3);
        double expected = write_random(&random, 5, &at, t, x);
        if (at - text > CR_EXPRESSION_TEXT) continue;
        double got = value_of(text, t, x);
        // the same operations in the same order: the same bits
        if (!CHECK(got == expected || (isnan(got) && isnan(expected)))) printf("%s\n", text);
    }
}

TEST(refused_expressions) {
    static const struct {
        const char* text;
        crStatus status;
        const char* says;
    } cases[] = {{"", CR_ERR_SYNTAX, "a number, a name or ("},
                 {"1+", CR_ERR_SYNTAX, "character 3"},
                 {"(1", CR_ERR_SYNTAX, ") is expected"},
                 {"1 2", CR_ERR_SYNTAX, "an operator"},
                 {"sin 1", CR_ERR_SYNTAX, "needs ("},
                 {"min(1)", CR_ERR_SYNTAX, "another argument"},
                 {".5", CR_ERR_SYNTAX, "not a number"},
                 {"1e999", CR_ERR_SYNTAX, "not a number"},
                 {"t^-1", CR_ERR_SYNTAX, "after ^"},
                 {"t^65", CR_ERR_LIMIT, "exponent"},
                 {"t^1.5", CR_ERR_LIMIT, "exponent"},
                 {"y", CR_ERR_NAME, "there are t x pi sin"},
                 {"sqr(t)", CR_ERR_NAME, "did you mean \"sqrt\""},
                 {"t; x", CR_ERR_SYNTAX, "an operator"}};
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crError error = {0};
        crExpression e;
        CHECK_STATUS(cr__expression_read(cases[i].text, names, &arena, &e, &error), cases[i].status);
        test_check(strstr(error.message, cases[i].says) != NULL, __FILE__, __LINE__, "%s: %s", cases[i].text,
                   error.message);
    }
    char deep[200] = "", wide[1200] = "", right[400] = "";
    memset(deep, '(', 100);
    memset(wide, '1', 1100);
    for (int i = 0; i < 60; i++) {
        strcat(right, "t+(");
    }
    crExpression e;
    CHECK_STATUS(cr__expression_read(deep, names, &arena, &e, NULL), CR_ERR_LIMIT);
    CHECK_STATUS(cr__expression_read(wide, names, &arena, &e, NULL), CR_ERR_LIMIT);
    CHECK_STATUS(cr__expression_read(right, names, &arena, &e, NULL), CR_ERR_LIMIT);
    cr_arena_destroy(&arena);
}

// motion

typedef struct Ran {
    crScene scene;
    crWorld* world;
    double work, gain, worst_gain;
} Ran;

// the scene with its world at the end of `time`; work and gains summed over steps
static bool run(const char* text, double time, Ran* ran) {
    *ran = (Ran){0};
    if (!good(text, &ran->scene)) return false;
    crError error = {0};
    crStatus status = cr_scene_world(&ran->scene, &ran->world, &error);
    while (status == CR_OK && cr_world_state(ran->world)->time < time - 1e-9) {
        status = cr_world_step(ran->world, &error);
        const crCertificate* c = cr_world_certificate(ran->world);
        ran->work += c->energy.work;
        ran->gain += c->energy.change;
        ran->worst_gain = fmax(ran->worst_gain, c->energy.gain);
    }
    return test_check(status == CR_OK, __FILE__, __LINE__, "%s: %s", text, error.message);
}

static void done(Ran* ran) {
    cr_world_destroy(ran->world);
    cr_scene_free(&ran->scene);
}

#define SPACE "\"carom\":1,\"gravity\":[0,0,0]"
#define BALL  "{\"name\":\"b\",\"mass\":2,\"inertia\":0.5}"

// v(t) of constant and linear forces is exact by the middle of steps, by every method
TEST(constants_and_tables) {
    static const char* const methods[] = {"cone", "event", "moreau", "lcp"};
    for (int m = 0; m < 4; m++) {
        char text[800];
        Ran ran;
        snprintf(text, sizeof text,
                 "{" SPACE ",\"step\":{\"method\":\"%s\",\"dt\":0.01},\"bodies\":[" BALL "],\"forces\":["
                 "{\"body\":\"b\",\"force\":[3,0,-1],\"torque\":[0,0.25,0]},"
                 "{\"body\":\"b\",\"force\":{\"table\":[[0.2,0,0,0],[0.6,0,8,0]]}}]}",
                 methods[m]);
        if (!run(text, 1.0, &ran)) continue;
        const double* v = cr_world_state(ran.world)->v;
        CHECK_NEAR(v[0], 3.0 / 2.0, 1e-13);
        CHECK_NEAR(v[2], -1.0 / 2.0, 1e-13);
        // 8 N reached over .4 s, held for .4 s
        CHECK_NEAR(v[1], (0.5 * 0.4 * 8.0 + 0.4 * 8.0) / 2.0, 1e-13);
        CHECK_NEAR(v[4], 0.25 / 0.5, 1e-13);
        double T = 0.5 * 2.0 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.5 * 0.5 * v[4] * v[4];
        CHECK_NEAR(ran.work, T, 1e-12);
        CHECK_NEAR(ran.gain, T, 1e-12);
        CHECK(ran.worst_gain <= 1e-14);
        done(&ran);
    }
}

// m x'' = sin(w t): error of second order
TEST(expressions_over_time) {
    double error[2];
    for (int i = 0; i < 2; i++) {
        char text[400];
        Ran ran;
        snprintf(text, sizeof text,
                 "{" SPACE ",\"step\":{\"dt\":%g},\"bodies\":[" BALL "],\"forces\":["
                 "{\"body\":\"b\",\"force\":[\"sin(5*t)\",0,0]}]}",
                 i == 0 ? 0.02 : 0.01);
        if (!run(text, 1.0, &ran)) return;
        error[i] = cr_world_state(ran.world)->v[0] - (1.0 - cos(5.0)) / 5.0 / 2.0;
        CHECK_NEAR(ran.work, ran.gain, 1e-13);
        done(&ran);
    }
    CHECK(fabs(error[0]) < 2e-4 && fabs(error[0]) > 1e-7);
    CHECK_NEAR(error[0] / error[1], 4.0, 0.05);
}

// a force at a point, in the body's axes: momentum and moment by hand after one step
TEST(points_and_frames) {
    crRandom random = sample_seed(3);
    for (int i = 0; i < 50; i++) {
        crQuat q = sample_rotation(&random);
        crVec3 F = sample_direction(&random), M = sample_direction(&random), x = sample_direction(&random);
        crVec3 com = sample_direction(&random);
        bool turns = i % 2 == 0;
        char text[1200];
        Ran ran;
        snprintf(
            text, sizeof text,
            "{" SPACE
            ",\"step\":{\"dt\":0.001},\"bodies\":[{\"name\":\"b\",\"pos\":[1,2,3],\"mass\":2,\"inertia\":"
            "0.5,\"com\":[%.17g,%.17g,%.17g],\"quat\":[%.17g,%.17g,%.17g,%.17g]}],\"forces\":[{\"body\":"
            "\"b\","
            "\"force\":[%.17g,%.17g,%.17g],\"torque\":[%.17g,%.17g,%.17g],\"point\":[%.17g,%.17g,%.17g],"
            "\"frame\":\"%s\"}]}",
            com.x, com.y, com.z, q.w, q.x, q.y, q.z, F.x, F.y, F.z, M.x, M.y, M.z, x.x, x.y, x.z,
            turns ? "body" : "world");
        if (!run(text, 0.001, &ran)) return;
        crVec3 arm = cr_quat_rotate(q, cr_sub(x, com));
        crVec3 f = turns ? cr_quat_rotate(q, F) : F, moment = turns ? cr_quat_rotate(q, M) : M;
        moment = cr_add(moment, cr_cross(arm, f));
        const double* v = cr_world_state(ran.world)->v;
        CHECK_VEC(cr_vec3(v[0], v[1], v[2]), cr_scale(0.001 / 2.0, f), 1e-15);
        CHECK_VEC(cr_vec3(v[3], v[4], v[5]), cr_scale(0.001 / 0.5, moment), 1e-15);
        CHECK_NEAR(ran.work, ran.gain, 1e-15);
        done(&ran);
    }
}

// along a joint between two bodies that float: it has its reaction, so nothing moves as a whole
TEST(reactions) {
    Ran ran;
    if (!run("{" SPACE ",\"step\":{\"dt\":0.001},\"bodies\":[{\"name\":\"a\",\"mass\":1,\"inertia\":0.2},"
             "{\"name\":\"h\",\"parent\":\"a\",\"joint\":\"hinge\",\"pos\":[0.5,0,0],\"mass\":3,\"com\":[0.2,"
             "0.1,0],"
             "\"inertia\":0.1}],\"forces\":[{\"body\":\"h\",\"along\":\"2*cos(3*t) - 0.1*v - q\"}]}",
             0.5, &ran))
        return;
    crVec3 linear, angular;
    cr_world_momentum(ran.world, cr_vec3(0, 0, 0), &linear, &angular);
    CHECK_VEC(linear, cr_vec3(0, 0, 0), 1e-12);
    CHECK_VEC(angular, cr_vec3(0, 0, 0), 1e-5);
    CHECK(fabs(cr_world_state(ran.world)->v[6]) > 0.5);
    done(&ran);
    // a hinge on the world: I q'' = tau
    if (!run("{" SPACE
             ",\"step\":{\"dt\":0.001},\"bodies\":[{\"name\":\"h\",\"joint\":\"hinge\",\"anchor\":[1,0,0],"
             "\"mass\":3,\"com\":[0,0,0],\"inertia\":0.1}],\"forces\":[{\"body\":\"h\",\"along\":{\"table\":["
             "[0,2]]}}]}",
             0.5, &ran))
        return;
    CHECK_NEAR(cr_world_state(ran.world)->v[0], 2.0 * 0.5 / (0.1 + 3.0), 1e-12);
    CHECK_NEAR(ran.work, 0.5 * 3.1 * cr_world_state(ran.world)->v[0] * cr_world_state(ran.world)->v[0],
               1e-12);
    done(&ran);
}

// variables of the point: a spring and a damper written by hand, against m x'' = -k x - c x'
TEST(variables) {
    Ran ran;
    if (!run("{" SPACE ",\"step\":{\"dt\":0.0001},\"bodies\":[{\"name\":\"b\",\"pos\":[1,0,0],\"mass\":2,"
             "\"inertia\":1}],"
             "\"forces\":[{\"body\":\"b\",\"force\":[\"-18*x-2*vx\",\"y+vy\",\"z*vz\"]}]}",
             1.0, &ran))
        return;
    double w = sqrt(9.0 - 0.25);  // x = e^{-t/2} (cos wt + sin wt / (2w))
    double x = exp(-0.5) * (cos(w) + 0.5 * sin(w) / w);
    CHECK_NEAR(cr_world_state(ran.world)->q[0], x, 2e-4);
    CHECK(cr_world_state(ran.world)->q[1] == 0.0 && cr_world_state(ran.world)->q[2] == 0.0);
    done(&ran);
}

// a thrust that balances the weight holds a body where it is, and one above it is work
TEST(hovers) {
    for (int m = 0; m < 2; m++) {
        static const char* const methods[] = {"cone", "event"};
        char text[400];
        Ran ran;
        snprintf(
            text, sizeof text,
            "{\"carom\":1,\"step\":{\"method\":\"%s\",\"dt\":0.01},\"bodies\":[{\"name\":\"b\",\"mass\":2,"
            "\"inertia\":1,\"com\":[0,0,0]}],\"forces\":[{\"body\":\"b\",\"force\":[0,0,\"19.62 + 4*step(t - "
            "0.5)\"]}]}",
            methods[m]);
        if (!run(text, 1.0, &ran)) continue;
        const crState* s = cr_world_state(ran.world);
        CHECK_NEAR(s->v[2], 1.0, 1e-12);
        // half a second at rest, half a second at 2 m/s^2
        CHECK_NEAR(s->q[2], 0.25, 1e-12);
        CHECK(ran.worst_gain <= 1e-13);
        done(&ran);
    }
}

#define CRATE                                                                                               \
    "\"bodies\":[{\"name\":\"b\",\"pos\":[0,0,0.1],\"mass\":2,\"shapes\":[{\"type\":\"box\",\"half\":[0.1," \
    "0.1,0.1]}]}],"                                                                                         \
    "\"static\":[{\"type\":\"halfspace\",\"n\":[0,0,1],\"offset\":0}]"

// Coulomb: a crate under a growing push stays until it reaches mu m g, then slides by the difference
TEST(friction) {
    Ran ran;
    if (!run("{\"carom\":1,\"step\":{\"dt\":0.001}," CRATE
             ",\"forces\":[{\"body\":\"b\",\"force\":{\"table\":[[0,0,0,0],[2,40,0,0]]}}]}",
             1.0, &ran))
        return;
    // 20 N a second, mu m g = 9.81 N from .4905 s on
    double slid = 1.0 - 0.4905;
    CHECK_NEAR(cr_world_state(ran.world)->v[0], 20.0 * slid * slid / 2.0 / 2.0, 1e-4);
    double T = cr_world_energy(ran.world).kinetic;
    CHECK(ran.work > T && ran.worst_gain < 1e-10);
    // all of the work, less what friction took along the way
    // (positions move by the velocity at the end of steps, work is by the mean)
    double way = cr_world_state(ran.world)->q[0] - 0.5 * 0.001 * cr_world_state(ran.world)->v[0];
    CHECK_NEAR(ran.work - 9.81 * way, T, 1e-9);
    done(&ran);
}

// a snapshot in the middle continues to the same bits; the user's own force is added and kept
TEST(snapshots) {
    static const char text[] = "{\"carom\":1,\"step\":{\"dt\":0.001}," CRATE
                               ",\"forces\":[{\"body\":\"b\",\"force\":[\"12*sin(9*t)\",0,0]}]}";
    Ran ran;
    if (!run(text, 0.2, &ran)) return;
    crState* state = cr_world_state(ran.world);
    CHECK(state->force[0] == 0.0);
    state->force[0] = 3.0;
    size_t size = cr_world_save_size(ran.world);
    void* bytes = malloc(size);
    CHECK_STATUS(cr_world_save(ran.world, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_run(ran.world, 0.4, NULL), CR_OK);
    CHECK(state->force[0] == 3.0);
    uint64_t hash = cr_world_hash(ran.world);
    CHECK_STATUS(cr_world_load(ran.world, bytes, size, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(ran.world, 0.4, NULL), CR_OK);
    CHECK(cr_world_hash(ran.world) == hash);
    free(bytes);
    done(&ran);
}

// a crate sleeps under a push that friction holds, and wakes when the push changes
TEST(sleepers) {
    Ran ran;
    if (!run("{\"carom\":1,\"step\":{\"dt\":0.005,\"sleep_time\":0.1}," CRATE
             ",\"forces\":[{\"body\":\"b\",\"force\":{\"table\":[[0,5,0,0],[1,5,0,0],[1.1,30,0,0]]}}]}",
             0.9, &ran))
        return;
    CHECK(cr_world_asleep(ran.world, 1));
    CHECK_STATUS(cr_world_run(ran.world, 1.2, NULL), CR_OK);
    CHECK(!cr_world_asleep(ran.world, 1) && cr_world_state(ran.world)->v[0] > 0.1);
    done(&ran);
}

// a force that is not a number names its body and leaves the world as it was
TEST(not_a_number) {
    Ran ran = {0};
    if (!good("{\"carom\":1," CRATE ",\"forces\":[{\"body\":\"b\",\"force\":[\"sqrt(0.1-t)\",0,0]}]}",
              &ran.scene))
        return;
    CHECK_STATUS(cr_scene_world(&ran.scene, &ran.world, NULL), CR_OK);
    crError error = {0};
    crStatus status = CR_OK;
    uint64_t before = 0;
    while (status == CR_OK) {
        before = cr_world_hash(ran.world);
        status = cr_world_step(ran.world, &error);
    }
    CHECK(status == CR_ERR_FINITE && strstr(error.message, "body 1 b") != NULL);
    CHECK(cr_world_hash(ran.world) == before && cr_world_state(ran.world)->force[0] == 0.0);
    CHECK_NEAR(cr_world_state(ran.world)->time, 0.1, 0.5 / 240.0);
    done(&ran);
}

TEST(refused_forces) {
    static const struct {
        const char* force;
        crStatus status;
        const char* field;
    } cases[] = {{"{\"force\":[1,0,0]}", CR_ERR_MISSING, "forces[0].body"},
                 {"{\"body\":\"c\",\"force\":[1,0,0]}", CR_ERR_NAME, "forces[0].body"},
                 {"{\"body\":\"world\",\"force\":[1,0,0]}", CR_ERR_NAME, "forces[0].body"},
                 {"{\"body\":\"b\"}", CR_ERR_MISSING, "forces[0].force"},
                 {"{\"body\":\"b\",\"force\":[1,0]}", CR_ERR_SIZE, "forces[0].force"},
                 {"{\"body\":\"b\",\"force\":1}", CR_ERR_SIZE, "forces[0].force"},
                 {"{\"body\":\"b\",\"force\":[1,0,true]}", CR_ERR_TYPE, "forces[0].force"},
                 {"{\"body\":\"b\",\"force\":[\"q\",0,0]}", CR_ERR_NAME, "forces[0].force"},
                 {"{\"body\":\"b\",\"force\":[\"1+\",0,0]}", CR_ERR_SYNTAX, "forces[0].force"},
                 {"{\"body\":\"b\",\"along\":1}", CR_ERR_FIELD, "forces[0].along"},
                 {"{\"body\":\"b\",\"force\":{\"table\":[]}}", CR_ERR_SIZE, "forces[0].force.table"},
                 {"{\"body\":\"b\",\"force\":{}}", CR_ERR_MISSING, "forces[0].force.table"},
                 {"{\"body\":\"b\",\"force\":{\"table\":[[0,1,2]]}}", CR_ERR_SIZE, "forces[0].force.table"},
                 {"{\"body\":\"b\",\"force\":{\"table\":[[0,1,2,3],[0,1,2,3]]}}", CR_ERR_RANGE,
                  "forces[0].force.table"},
                 {"{\"body\":\"b\",\"force\":[0,0,1],\"frame\":\"moon\"}", CR_ERR_NAME, "forces[0].frame"},
                 {"{\"body\":\"b\",\"fource\":[0,0,1]}", CR_ERR_FIELD, "forces[0].fource"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[600];
        crScene scene;
        crError error;
        snprintf(text, sizeof text, "{\"carom\":1," CRATE ",\"forces\":[%s]}", cases[i].force);
        CHECK_STATUS(read_text(text, &scene, &error), cases[i].status);
        CHECK_TEXT(error.field, cases[i].field);
        test_check(error.line > 0, __FILE__, __LINE__, "%s: %s", cases[i].force, error.message);
    }
}

static void push(void* ctx, const crLoadAt* at, crLoadValue* out) {
    (void)at;
    out->along = *(double*)ctx;
}

// from C: what is refused, and a force along a joint that has none
TEST(from_c) {
    crModel* model = cr_model_create(NULL);
    crBodyDef def = cr_body_def();
    def.joint = CR_JOINT_FREE;
    def.mass = 1.0;
    def.inertia = (crSym3){.xx = 1, .yy = 1, .zz = 1};
    int body = cr_model_add_body(model, &def);
    double along = 0.0;
    crLoad load = cr_load(body);
    load.function = push;
    load.ctx = &along;
    CHECK(cr_model_add_load(model, &load) == 0);
    crWorldDef world_def = cr_world_def();
    world_def.model = model;
    crWorld* world = NULL;
    crError error = {0};
    CHECK_STATUS(cr_world_create(&world_def, &world, &error), CR_OK);
    CHECK_STATUS(cr_world_step(world, &error), CR_OK);
    along = 1.0;
    CHECK_STATUS(cr_world_step(world, &error), CR_ERR_ARGUMENT);
    CHECK(strstr(error.message, "hinge or slider") != NULL);
    cr_world_destroy(world);
    crLoad wrong[] = {cr_load(0), cr_load(2), cr_load(body), load};
    const crStatus status[] = {CR_ERR_ARGUMENT, CR_ERR_ARGUMENT, CR_ERR_MISSING, CR_ERR_FINITE};
    wrong[0].function = wrong[1].function = push;
    wrong[3].point.y = (double)NAN;
    for (int i = 0; i < 4; i++) {
        CHECK(cr_model_add_load(model, &wrong[i]) == (int)status[i]);
        model->error = (crError){0};
    }
    cr_model_destroy(model);
}

// A walker that is pulled about while its foot drags along gains no more than the force gives, but for what steps of second
// order leave: a third power of their length in each.
TEST(pulled_walker_gains_what_the_force_gives) {
    static const char frame[] =
        "{\"carom\":1,\"step\":{\"dt\":%g},\"bodies\":[{\"name\":\"body\",\"pos\":[0,0,0.6],\"shapes\":[{"
        "\"type\":"
        "\"sphere\",\"r\":0.2}]},{\"name\":\"thigh\",\"joint\":\"hinge\",\"axis\":[0,1,0],\"parent\":"
        "\"body\",\"pos\":[0.2,0,0],"
        "\"shapes\":[{\"type\":\"capsule\",\"r\":0.05,\"half\":0.15,\"pos\":[0.15,0,-0.1],\"axis\":\"x\"}]},"
        "{\"name\":\"shin\",\"joint\":\"hinge\",\"axis\":[0,1,0],\"parent\":\"thigh\",\"pos\":[0.3,0,-0.1],"
        "\"shapes\":[{\"type\":"
        "\"capsule\",\"r\":0.05,\"half\":0.2,\"pos\":[0.1,0,-0.2]}]}],\"exclude\":[[\"body\",\"thigh\"],["
        "\"thigh\",\"shin\"],"
        "[\"body\",\"shin\"]],\"static\":[{\"type\":\"halfspace\",\"n\":[0,0,1],\"offset\":0}],"
        "\"forces\":[{\"body\":\"body\",\"point\":[0.1,0,0.1],\"force\":[\"200*sin(7*t)\",\"100*cos(5*t)\","
        "\"300+250*sin(9*t)\"]}]}";
    double worst[2];
    for (int i = 0; i < 2; i++) {
        char text[1600];
        Ran ran;
        snprintf(text, sizeof text, frame, i == 0 ? 0.004 : 0.002);
        if (!run(text, 1.9, &ran)) return;
        worst[i] = ran.worst_gain;
        CHECK(fabs(ran.work) > 10.0);
        done(&ran);
    }
    test_check(worst[0] < 1e-3 && worst[1] < worst[0] / 6.0, __FILE__, __LINE__,
               "gained %.3g J and %.3g J in a step", worst[0], worst[1]);
}
