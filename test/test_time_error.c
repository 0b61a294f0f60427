// test_time_error.c - the error of time against closed forms, and steps that are divided until theirs is met.
#include "carom/stages.h"
#include "carom/wrt.h"
#include "scene_text.h"
#include "test.h"

// A motion whose exact height of body 1 is known.
typedef struct Motion {
    const char* name;
    const char* text;  // %s: fields of the step
    double (*exact)(double time);
    double end;
} Motion;

#define G 9.81

// Jacobi's amplitude by the arithmetic-geometric mean.
static double amplitude(double u, double m) {
    double a[20], c[20], b = sqrt(1.0 - m);
    int n = 0;
    a[0] = 1.0;
    c[0] = sqrt(m);
    for (; n < 18 && fabs(c[n]) > 1e-17; n++) {
        a[n + 1] = 0.5 * (a[n] + b);
        c[n + 1] = 0.5 * (a[n] - b);
        b = sqrt(a[n] * b);
    }
    double phi = ldexp(a[n] * u, n);
    for (; n > 0; n--) {
        phi = 0.5 * (phi + asin(c[n] / a[n] * sin(phi)));
    }
    return phi;
}

// Pendulum of length 1 from rest at angle 2: sin(angle/2) = k cd(w t), cd(u) = sn(u + K).
static double pendulum(double time) {
    double k = sin(1.0), a = 1.0, b = sqrt(1.0 - k * k);
    for (int i = 0; i < 12; i++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    double K = acos(-1.0) / (2.0 * a);
    double angle = 2.0 * asin(k * sin(amplitude(sqrt(G) * time + K, k * k)));
    return -cos(angle);
}

// A ball that falls with drag k v per mass and bounces with e: between bounces z and v are exponentials.
static double bouncing(double time) {
    const double k = 0.8, e = 0.7, floor = 0.1;
    double z = 1.0, v = 0.0, t = 0.0;
    for (int n = 0; n < 100; n++) {
        double s = time - t;
        // time of the next touch by bisection: from the top on the height falls
        double lo = v > 0.0 ? log(1.0 + k * v / G) / k : 0.0, hi = 10.0;
        for (int i = 0; i < 200; i++) {
            double middle = 0.5 * (lo + hi);
            double height = z - G * middle / k + (v + G / k) * (1.0 - exp(-k * middle)) / k;
            if (height > floor) {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        if (s <= lo) return z - G * s / k + (v + G / k) * (1.0 - exp(-k * s)) / k;
        v = -e * ((v + G / k) * exp(-k * lo) - G / k);
        z = floor;
        t += lo;
    }
    return NAN;
}

// A rod of length 1 that falls on ice from 0.3 rad off the vertical: its centre falls straight down,
// (1/12 + sin^2/4) w' = (g/2 - cos w^2/4) sin, by Runge and Kutta with steps far below the test's.
static double rate(double angle, double w) {
    return (0.5 * G - 0.25 * cos(angle) * w * w) * sin(angle) / (1.0 / 12.0 + 0.25 * sin(angle) * sin(angle));
}

static double rod(double time) {
    double x = 0.3, w = 0.0, h = time / 20000.0;
    for (int i = 0; i < 20000; i++) {
        double a = rate(x, w), b = rate(x + 0.5 * h * w, w + 0.5 * h * a);
        double c = rate(x + 0.5 * h * w + 0.25 * h * h * a, w + 0.5 * h * b);
        double d = rate(x + h * w + 0.5 * h * h * b, w + h * c);
        x += h * w + h * h / 6.0 * (a + b + c);
        w += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    return 0.02 + 0.5 * cos(x);
}

static const Motion motions[] = {
    {"pendulum",
     "{\"carom\": 1, \"step\": {%s}, \"bodies\": [{\"name\": \"bob\", \"joint\": \"hinge\", \"axis\": [0, 1, "
     "0],"
     " \"mass\": 1, \"com\": [0.90929742682568171, 0, 0.41614683654714241], \"inertia\": [0, 0, 0]}]}",
     pendulum, 1.0},
    {"bouncing ball",
     "{\"carom\": 1, \"step\": {%s}, \"materials\": {\"m\": {\"e\": 0.7, \"mu\": 0}}, \"bodies\": "
     "[{\"name\": \"b\","
     " \"pos\": [0, 0, 1], \"mass\": 1, \"linear_drag\": 0.8, \"shapes\": [{\"type\": \"sphere\", \"r\": 0.1,"
     " \"material\": \"m\"}]}], \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0,"
     " \"material\": \"m\"}]}",
     bouncing, 1.0},
    {"rod",
     "{\"carom\": 1, \"step\": {%s}, \"materials\": {\"ice\": {\"mu\": 0}}, \"bodies\": [{\"name\": \"rod\","
     " \"pos\": [0, 0, 0.49766824456280301], \"quat\": [0.98877107793604224, 0, 0.14943813247359922, 0],"
     " \"mass\": 1, \"inertia\": [0.083333333333333333, 0.083333333333333333, 1e-3], \"shapes\": [{\"type\":"
     " \"capsule\", \"r\": 0.02, \"half\": 0.5, \"material\": \"ice\"}]}], \"static\": [{\"type\": "
     "\"halfspace\","
     " \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"ice\"}]}",
     rod, 0.4},
};

static bool read_motion(const Motion* m, const char* step, crScene* scene) {
    char text[1200];
    snprintf(text, sizeof text, m->text, step);
    return good(text, scene);
}

static double height_of(crWorld* world) {
    return cr_pose_point(cr_world_pose(world, 1), cr_world_model(world)->bodies[1].com).z;
}

TEST(estimate_is_within_a_factor_of_two_of_closed_forms) {
    for (int i = 0; i < 3; i++) {
        const Motion* m = &motions[i];
        crScene scene;
        crWorld* world = NULL;
        if (!read_motion(m, "\"dt\": 0.005", &scene)) return;
        CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
        crWorldDef def = cr_world_def();
        def.model = scene.model;
        def.step = scene.step;
        crTimeError estimate[2];
        CHECK_STATUS(cr_time_error(&def, cr_world_state(world), 1, &m->end, estimate, NULL), CR_OK);
        CHECK_STATUS(cr_world_run(world, m->end, NULL), CR_OK);
        double off = fabs(height_of(world) - m->exact(m->end)), own = estimate[1].position;
        test_check(own > 0.5 * off && own < 2.0 * off && off > 1e-8, __FILE__, __LINE__,
                   "%s: error %.3g, estimate %.3g, order %.2f", m->name, off, own, estimate[1].order);
        cr_world_destroy(world);
        cr_scene_free(&scene);
    }
}

typedef struct Result {
    double off, sum;
    int solves;
    uint64_t hash;
} Result;

static Result run_to(const Motion* m, double tolerance, double dt) {
    Result r = {0};
    char step[80];
    crScene scene;
    crWorld* world = NULL;
    snprintf(step, sizeof step, "\"dt\": %.17g, \"error\": %.17g", dt, tolerance);
    if (!read_motion(m, step, &scene)) return r;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    crTally tally = {0};
    while (cr_world_state(world)->time < m->end - 1e-9) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        cr_tally_add(&tally, cr_world_certificate(world));
    }
    r.off = fabs(height_of(world) - m->exact(m->end));
    r.sum = tally.worst.time_error;
    r.solves = tally.worst.solves;
    r.hash = cr_world_hash(world);
    CHECK(tally.failed == 0);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return r;
}

// The tolerance decides the error, not dt; the sum that the certificate gives bounds it.
TEST(divided_steps_meet_their_tolerance) {
    for (int i = 0; i < 3; i++) {
        const Motion* m = &motions[i];
        Result coarse = run_to(m, 0.0, 0.02), loose = run_to(m, 1e-5, 0.02), tight = run_to(m, 1e-7, 0.02);
        test_check(coarse.sum == 0.0 && loose.off < coarse.off && tight.sum < 0.1 * loose.sum + 1e-9,
                   __FILE__, __LINE__, "%s: errors %.3g, %.3g, %.3g", m->name, coarse.off, loose.off,
                   tight.off);
        // errors of steps grow with the motion, here by less than three times
        test_check(loose.off <= 3.0 * loose.sum && tight.off <= 3.0 * tight.sum, __FILE__, __LINE__,
                   "%s: %.3g in a sum of %.3g, %.3g in %.3g", m->name, loose.off, loose.sum, tight.off,
                   tight.sum);
        CHECK(run_to(m, 1e-5, 0.02).hash == loose.hash);
    }
}

// Events of all parts, in order, each impact with a number of its own; a snapshot in the middle changes nothing.
TEST(events_and_snapshots_of_divided_steps) {
    const char* step = "\"dt\": 0.5, \"error\": 1e-4";
    crScene scene;
    crWorld *one = NULL, *other = NULL;
    if (!read_motion(&motions[1], step, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &one, NULL), CR_OK);
    CHECK_STATUS(cr_scene_world(&scene, &other, NULL), CR_OK);
    CHECK_STATUS(cr_world_step(one, NULL), CR_OK);
    crEvents events = cr_world_events(one);
    int bounces = 0, last = -1;
    double time = 0.0;
    for (int i = 0; i < events.count; i++) {
        CHECK(events.events[i].time >= time && events.events[i].time <= 0.5);
        time = events.events[i].time;
        if (events.events[i].impact < 0) continue;
        CHECK(events.events[i].impact > last);
        last = events.events[i].impact;
        bounces++;
    }
    CHECK(bounces == 1 && cr_world_certificate(one)->impacts == 1 && cr_world_state(one)->time == 0.5);
    unsigned char bytes[4096];
    size_t size = cr_world_save_size(one);
    CHECK(size <= sizeof bytes);
    CHECK_STATUS(cr_world_save(one, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(other, bytes, size, NULL), CR_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(cr_world_step(one, NULL), CR_OK);
        CHECK_STATUS(cr_world_step(other, NULL), CR_OK);
    }
    CHECK(cr_world_hash(one) == cr_world_hash(other));
    cr_world_destroy(one);
    cr_world_destroy(other);
    cr_scene_free(&scene);
}

static crStatus fails_late(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                           double* k) {
    (void)ctx, (void)model, (void)d, (void)k;
    return state->time > 0.3 ? CR_ERR_ARGUMENT : CR_OK;
}

TEST(failed_parts_leave_the_world_where_the_step_began) {
    crScene scene;
    if (!read_motion(&motions[1], "\"dt\": 0.25, \"error\": 1e-4", &scene)) return;
    crWorldDef def = cr_world_def();
    def.model = scene.model;
    def.step = scene.step;
    def.force = fails_late;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    memcpy(cr_world_state(world)->q, scene.q, (size_t)scene.model->nq * sizeof(double));
    CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
    uint64_t before = cr_world_hash(world);
    CHECK(cr_world_step(world, NULL) != CR_OK);
    CHECK(cr_world_hash(world) == before && cr_world_state(world)->time == 0.25);
    CHECK(cr_world_events(world).count == 0);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

TEST(bad_tolerances_are_refused) {
    crStepSettings s = cr_step_settings();
    crError error = {0};
    const double bad[] = {-1.0, NAN, INFINITY, 1e-20};
    for (int i = 0; i < 4; i++) {
        s.error = bad[i];
        CHECK(cr_step_settings_check(&s, &error) != CR_OK);
        CHECK_TEXT(error.field, "error");
    }
    crScene scene;
    CHECK_STATUS(read_text("{\"carom\": 1, \"step\": {\"error\": -1}}", &scene, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "step.error");
    CHECK_STATUS(read_text("{\"carom\": 1, \"step\": {\"error\": \"small\"}}", &scene, &error), CR_ERR_TYPE);
}
