// Spread against closed forms: linear outcomes have known moments, a tie between two balls splits evenly into
// two known outcomes that the order explains, balls on a line agree with a small event loop of this file.
#include "fit/clusters.h"
#include "fit/random.h"
#include "fit/spread.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

// A scene from text, spread.
typedef struct Case {
    crJsonDoc doc;
    crScene scene;
    const char* text;
    crSpreadOptions options;
    crSpread spread;
    crSpreadSummary summary;
} Case;

static void open_case(Case* c, const char* text, int samples) {
    *c = (Case){.text = text, .options = {.samples = samples, .seed = 7, .threads = 2, .quality = -1}};
    crError error = {0};
    CHECK_STATUS(cr_json_parse(text, strlen(text), 1, &c->doc, &error), CR_OK);
    crStatus status = cr_scene_read(c->doc.root, &c->scene, &error);
    test_check(status == CR_OK, __FILE__, __LINE__, "%s", error.message);
}

static void jitter(Case* c, const char* text) {
    crError error = {0};
    crStatus status = cr_jitter_parse(text, &c->options.jitters[c->options.jitter_count++], &error);
    test_check(status == CR_OK, __FILE__, __LINE__, "%s", error.message);
}

static bool run_case(Case* c, crSpreadOf of) {
    crError error = {0};
    crStatus status = cr_spread_run(c->doc.root, c->text, &c->scene, &c->options, &c->spread, &error);
    if (status == CR_OK) status = cr_spread_summarize(&c->spread, of, 0, &c->summary, &error);
    return test_check(status == CR_OK, __FILE__, __LINE__, "%s", error.message);
}

static crStatus refused(Case* c, const char* text, crError* error) {
    c->options.jitter_count = 1;
    crStatus status = cr_jitter_parse(text, &c->options.jitters[0], error);
    if (status == CR_OK)
        status = cr_spread_run(c->doc.root, c->text, &c->scene, &c->options, &c->spread, error);
    cr_spread_destroy(&c->spread);
    return status;
}

static void close_case(Case* c) {
    cr_spread_summary_destroy(&c->summary);
    cr_spread_destroy(&c->spread);
    cr_scene_free(&c->scene);
    cr_json_free(&c->doc);
}

static const double* body(const Case* c, int sample, const char* name) {
    return &cr_spread_sample(&c->spread, sample).bodies[6 * cr_model_find_body(c->scene.model, name)];
}

static const crSpreadColumn* column(const Case* c, int of, int axis) {
    for (int i = 0; i < c->summary.column_count; i++) {
        if (c->summary.columns[i].body == of && c->summary.columns[i].axis == axis)
            return &c->summary.columns[i];
    }
    return NULL;
}

// random numbers

TEST(normal_numbers_are_those_of_libm_and_have_their_moments) {
    uint64_t state = cr__random_stream(3, 5), again = state;
    int count = test_samples(3000000);
    double sum[5] = {0};
    for (int i = 0; i < count; i++) {
        double z = cr__random_normal(&state);
        double u = 1.0 - cr__random_uniform(&again), v = cr__random_uniform(&again);
        // the angle is rounded once: half an ulp of 2 pi times the radius
        CHECK_NEAR(z, sqrt(-2.0 * log(u)) * cos(2.0 * CR_PI * v), 1e-14);
        for (int k = 1; k < 5; k++) {
            sum[k] += pow(z, k) / count;
        }
    }
    // five standard errors: variances of z, z^2, z^3, z^4 are 1, 2, 15, 96
    double root = 5.0 / sqrt(count);
    CHECK_NEAR(sum[1], 0.0, root);
    CHECK_NEAR(sum[2], 1.0, root * sqrt(2.0));
    CHECK_NEAR(sum[3], 0.0, root * sqrt(15.0));
    CHECK_NEAR(sum[4], 3.0, root * sqrt(96.0));
}

// clusters

static void blob(double* points, int count, int dim, double x, double size, uint64_t* random) {
    for (int i = 0; i < count * dim; i++) {
        points[i] = (i % dim == 0 ? x : 0.0) + size * cr__random_normal(random);
    }
}

TEST(clusters_that_stand_apart_are_found_and_others_are_not_made_up) {
    static double points[6000];
    static int label[3000];
    int clusters = 0;
    for (int round = 0; round < 5; round++) {
        uint64_t random = cr__random_stream(11, (uint64_t)round);
        blob(points, 400, 2, 0.0, 0.3, &random);
        CHECK_STATUS(cr_clusters(points, 400, 2, label, &clusters, NULL), CR_OK);
        CHECK(clusters == 1);
        blob(points, 200, 2, 0.0, 0.3, &random);
        blob(points + 400, 100, 2, 9.0, 0.5, &random);
        blob(points + 600, 50, 2, -7.0, 0.1, &random);
        CHECK_STATUS(cr_clusters(points, 350, 2, label, &clusters, NULL), CR_OK);
        CHECK(clusters == 3);
        for (int i = 0; i < 350; i++) {
            CHECK(label[i] == (i < 200 ? 0 : i < 300 ? 1 : 2));
        }
        for (int i = 0; i < 800; i++) {
            points[i] = cr__random_uniform(&random);
        }
        CHECK_STATUS(cr_clusters(points, 400, 2, label, &clusters, NULL), CR_OK);
        CHECK(clusters == 1);
        if (round > 0) continue;
        // more than are looked at closely
        for (int i = 0; i < 3000; i++) {
            points[i] = (i * 7 % 10 < 3 ? 5.0 : 0.0) + 0.1 * cr__random_normal(&random);
        }
        CHECK_STATUS(cr_clusters(points, 3000, 1, label, &clusters, NULL), CR_OK);
        CHECK(clusters == 2);
        for (int i = 0; i < 3000; i++) {
            CHECK(label[i] == (i * 7 % 10 < 3));
        }
    }
}

TEST(few_values_are_as_many_clusters) {
    double points[60];
    int label[60], clusters = 0;
    for (int values = 1; values <= 4; values++) {
        for (int i = 0; i < 60; i++) {
            points[i] = i % values;
        }
        CHECK_STATUS(cr_clusters(points, 60, 1, label, &clusters, NULL), CR_OK);
        CHECK(clusters == values);
        for (int i = values; i < 60; i++) {
            CHECK(label[i] == label[i - values]);
        }
    }
    CHECK_STATUS(cr_clusters(points, 0, 1, label, &clusters, NULL), CR_OK);
    CHECK(clusters == 0);
}

// a ball in flight: x = x0 + v T, and moments that follow from it

static const char flight[] =
    "{\"carom\": 1, \"gravity\": [0, 0, -10], \"step\": {\"dt\": 0.01, \"duration\": 0.5},"
    " \"bodies\": [{\"name\": \"ball\", \"pos\": [1, 0, 3], \"vel\": [2, 0, 0], \"mass\": 1,"
    " \"shapes\": [{\"type\": \"sphere\", \"r\": 0.1}]}]}";

TEST(an_outcome_that_is_linear_in_the_jitter_has_known_moments) {
    Case c;
    int count = test_samples(20000);
    open_case(&c, flight, count);
    jitter(&c, "velocity=0.2");
    if (run_case(&c, CR_SPREAD_POSITION)) {
        CHECK(c.summary.column_count == 3 && c.summary.cluster_count == 1 && c.summary.prefix_count == 0);
        for (int axis = 0; axis < 3; axis++) {
            const crSpreadColumn* x = column(&c, 1, axis);
            double itself = axis == 0 ? 2.0 : axis == 2 ? 3.0 - 0.5 * 10.0 * 0.25 : 0.0;
            double sd = 0.2 * 0.5;
            CHECK_NEAR(x->nominal, itself, 1e-12);
            CHECK_NEAR(x->mean, itself, 5.0 * sd / sqrt(count));
            CHECK_NEAR(x->sd, sd, 5.0 * sd / sqrt(2.0 * count));
            CHECK_NEAR(x->q50, itself, 5.0 * 1.2533 * sd / sqrt(count));
            // a quantile's standard error is sqrt(p (1 - p) / n) / density
            CHECK_NEAR(x->q95, itself + 1.64485 * sd, 5.0 * sqrt(0.0475 / count) / 0.10314 * sd);
            CHECK_NEAR(x->q05, itself - 1.64485 * sd, 5.0 * sqrt(0.0475 / count) / 0.10314 * sd);
        }
        for (int i = 1; i <= count; i++) {
            const double* ball = body(&c, i, "ball");
            CHECK_NEAR(ball[0], 1.0 + 0.5 * ball[3], 1e-12);
            CHECK_NEAR(ball[2], 3.0 + 0.5 * (ball[5] + 0.5 * 10.0 * 0.5), 1e-12);
        }
    }
    close_case(&c);
}

TEST(uniform_jitter_of_one_field_stays_within_its_width) {
    Case c;
    int count = test_samples(20000);
    open_case(&c, flight, count);
    jitter(&c, "bodies.ball.vel[0]=uniform:0.3");
    if (run_case(&c, CR_SPREAD_VELOCITY)) {
        const crSpreadColumn* v = column(&c, 1, 0);
        CHECK(c.summary.column_count == 1 && v != NULL);
        double sd = 0.3 / sqrt(3.0);
        CHECK_NEAR(v->mean, 2.0, 5.0 * sd / sqrt(count));
        // variance of the squared deviation of a uniform number is 4/45 H^4
        CHECK_NEAR(v->sd * v->sd, sd * sd, 5.0 * sqrt(4.0 / 45.0 / count) * 0.09);
        CHECK_NEAR(v->q05, 2.0 - 0.27, 5.0 * sqrt(0.0475 / count) * 0.6);
        for (int i = 1; i <= count; i++) {
            CHECK(fabs(body(&c, i, "ball")[3] - 2.0) <= 0.3);
            CHECK(body(&c, i, "ball")[4] == 0.0);
        }
    }
    close_case(&c);
    open_case(&c, flight, 400);
    jitter(&c, "bodies.ball.vel=normal:10%");
    if (run_case(&c, CR_SPREAD_VELOCITY)) {
        // ten percent of 2, 0 and 0
        CHECK(c.summary.column_count == 1);
        CHECK_NEAR(column(&c, 1, 0)->sd, 0.2, 5.0 * 0.2 / sqrt(800.0));
    }
    close_case(&c);
}

// A cue ball between two that touch: e = 1, no friction, equal masses. Whoever is hit first takes 3/4 of the
// velocity along x; the cue ball keeps (-1/8, -+ sqrt(3)/8), as two impacts one after the other give.
static const char tie[] =
    "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01, \"duration\": 1, \"deadband\": 1e-12},"
    " \"impact\": {\"cluster\": 1e-12}, \"materials\": {\"m\": {\"mu\": 0, \"e\": 1}}, \"bodies\": ["
    "{\"name\": \"cue\", \"joint\": \"planar\", \"pos\": [-0.5, 0], \"vel\": [1, 0], \"mass\": 1,"
    " \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]},"
    "{\"name\": \"up\", \"joint\": \"planar\", \"pos\": [0, 0.05], \"mass\": 1,"
    " \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]},"
    "{\"name\": \"down\", \"joint\": \"planar\", \"pos\": [0, -0.05], \"mass\": 1,"
    " \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]}]}";

// the definition of the explained share, over all columns
static double explained(const Case* c, const int* group, int groups) {
    const crSpreadSummary* s = &c->summary;
    double within = 0.0, all = 0.0;
    for (int k = 0; k < s->column_count; k++) {
        double total = 0.0;
        for (int i = 0; i < s->used; i++) {
            total += s->values[i * s->column_count + k] / s->used;
        }
        for (int g = 0; g < groups; g++) {
            double sum = 0.0;
            int count = 0;
            for (int i = 0; i < s->used; i++) {
                if (group[i] == g) sum += s->values[i * s->column_count + k];
                count += group[i] == g;
            }
            for (int i = 0; i < s->used; i++) {
                double x = s->values[i * s->column_count + k];
                if (group[i] == g) within += (x - sum / count) * (x - sum / count);
                if (g == 0) all += (x - total) * (x - total);
            }
        }
    }
    return 1.0 - within / (s->used - groups) / (all / (s->used - 1));
}

TEST(a_tie_splits_evenly_and_the_order_explains_it) {
    Case c;
    int count = test_samples(30000);
    open_case(&c, tie, count);
    jitter(&c, "gap=1e-6");
    if (run_case(&c, CR_SPREAD_VELOCITY)) {
        const crSpreadSummary* s = &c.summary;
        CHECK(s->cluster_count == 2);
        // five standard deviations of a fair coin
        CHECK_NEAR(s->clusters[0].count / (double)count, 0.5, 2.5 / sqrt(count));
        CHECK(s->clusters[0].count + s->clusters[1].count == count);
        CHECK(s->prefix[1].orders == 2 && s->prefix[1].explained > 0.999 && s->clusters_explained > 0.999);
        CHECK_NEAR(s->clusters_explained, explained(&c, s->cluster, 2), 1e-12);
        for (int i = 1; i <= count; i++) {
            crSpreadPair first = cr_spread_pair(&c.spread, cr_spread_sample(&c.spread, i).order[0]);
            CHECK(first.a == 1 && !first.together);
            double side = first.b == cr_model_find_body(c.scene.model, "up") ? 1.0 : -1.0;
            // the angle of the second impact is off by about the root of gap / r
            const double tol = 1e-3;
            CHECK_NEAR(body(&c, i, "cue")[3], -0.125, tol);
            CHECK_NEAR(body(&c, i, "cue")[4], -side * sqrt(3.0) / 8.0, tol);
            CHECK_NEAR(body(&c, i, side > 0.0 ? "up" : "down")[3], 0.75, tol);
            CHECK_NEAR(body(&c, i, side > 0.0 ? "down" : "up")[3], 0.375, tol);
        }
    }
    close_case(&c);
}

// Balls on a line: an event loop of its own. Bodies x, v, mass 1, diameter d, restitution e.
static void line_up(double* x, double* v, int n, double d, double e, double until) {
    double t = 0.0;
    while (true) {
        double first = until - t;
        int hit = -1;
        for (int i = 0; i + 1 < n; i++) {
            double closing = v[i] - v[i + 1], gap = x[i + 1] - x[i] - d;
            if (closing > 1e-14 && gap / closing < first) {
                first = gap / closing;
                hit = i;
            }
        }
        for (int i = 0; i < n; i++) {
            x[i] += first * v[i];
        }
        t += first;
        if (hit < 0) return;
        double mean = 0.5 * (v[hit] + v[hit + 1]), half = 0.5 * e * (v[hit] - v[hit + 1]);
        v[hit] = mean - half;
        v[hit + 1] = mean + half;
    }
}

static const char line[] =
    "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"method\": \"event\", \"dt\": 0.01, \"duration\": "
    "0.25},"
    " \"impact\": {\"cluster\": 1e-12, \"threshold\": 1e-6},"
    " \"materials\": {\"m\": {\"mu\": 0, \"e\": 0.5}}, \"bodies\": ["
    "{\"name\": \"a\", \"joint\": \"slider\", \"axis\": [1, 0, 0], \"pos\": [-0.2, 0, 0], \"vel\": 1,"
    " \"mass\": 1, \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]},"
    "{\"name\": \"b\", \"joint\": \"slider\", \"axis\": [1, 0, 0], \"pos\": [0, 0, 0], \"mass\": 1,"
    " \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]},"
    "{\"name\": \"c\", \"joint\": \"slider\", \"axis\": [1, 0, 0], \"pos\": [0.2, 0, 0], \"vel\": -1,"
    " \"mass\": 1, \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]}]}";

TEST(three_balls_on_a_line_agree_with_an_event_loop) {
    Case c;
    int count = test_samples(6000), first_ab = 0;
    open_case(&c, line, count);
    jitter(&c, "bodies.a.pos[0]=1e-3");
    jitter(&c, "bodies.c.pos[0]=1e-3");
    if (run_case(&c, CR_SPREAD_VELOCITY)) {
        // the same draws, in the same order
        for (int i = 1; i <= count; i++) {
            uint64_t random = cr__random_stream(7, (uint64_t)i);
            double x[3] = {-0.2 + 1e-3 * cr__random_normal(&random), 0.0, 0.2};
            x[2] += 1e-3 * cr__random_normal(&random);
            double v[3] = {1.0, 0.0, -1.0};
            bool ab = -x[0] < x[2];
            line_up(x, v, 3, 0.1, 0.5, 0.25);
            for (int k = 0; k < 3; k++) {
                const double* at = body(&c, i, k == 0 ? "a" : k == 1 ? "b" : "c");
                CHECK_NEAR(at[0], x[k], 1e-9);
                CHECK_NEAR(at[3], v[k], 1e-9);
            }
            crSpreadPair pair = cr_spread_pair(&c.spread, cr_spread_sample(&c.spread, i).order[0]);
            CHECK(pair.a == (ab ? 1 : 2) && pair.b == (ab ? 2 : 3));
            first_ab += ab;
        }
        CHECK_NEAR(first_ab / (double)count, 0.5, 2.5 / sqrt(count));
        CHECK(c.summary.prefix[1].orders == 2);
        CHECK(c.summary.orders[0].count == (2 * first_ab >= count ? first_ab : count - first_ab));
    }
    close_case(&c);
}

TEST(samples_are_the_same_for_any_threads_and_after_a_checkpoint) {
    char path[100];
    snprintf(path, sizeof path, "/tmp/carom_spread_%ld", (long)getpid());
    Case one, many;
    open_case(&one, tie, 60);
    open_case(&many, tie, 40);
    one.options.threads = 1;
    many.options.threads = 5;
    many.options.checkpoint = path;
    jitter(&one, "gap=1e-5");
    jitter(&many, "gap=1e-5");
    remove(path);
    if (run_case(&one, CR_SPREAD_POSITION) && run_case(&many, CR_SPREAD_POSITION)) {
        size_t row = (size_t)one.spread.size * sizeof(double);
        CHECK(memcmp(one.spread.results, many.spread.results, 41 * row) == 0);
        cr_spread_destroy(&many.spread);
        cr_spread_summary_destroy(&many.summary);
        many.options.samples = 60;
        CHECK(run_case(&many, CR_SPREAD_POSITION));
        CHECK(memcmp(one.spread.results, many.spread.results, 61 * row) == 0);
        // another seed is other work
        crError error = {0};
        cr_spread_destroy(&many.spread);
        many.options.seed = 8;
        CHECK_STATUS(cr_spread_run(many.doc.root, tie, &many.scene, &many.options, &many.spread, &error),
                     CR_ERR_ARGUMENT);
        CHECK(strstr(error.message, "other work") != NULL);
    }
    remove(path);
    close_case(&one);
    close_case(&many);
}

TEST(what_cannot_be_jittered_is_named) {
    static const struct {
        const char* text;
        crStatus status;
        const char* words;
    } cases[] = {
        {"position", CR_ERR_SYNTAX, "must be NAME=SIZE"},
        {"=1", CR_ERR_SYNTAX, "must be NAME=SIZE"},
        {"position=x", CR_ERR_SYNTAX, "'x' must be a number"},
        {"position=uniform:", CR_ERR_SYNTAX, "uniform:NUMBER"},
        {"position=nan", CR_ERR_FINITE, "must be a finite number"},
        {"position=inf", CR_ERR_FINITE, "must be a finite number"},
        {"position=-1", CR_ERR_RANGE, "position is '-1', must be >= 0"},
        {"position=1%", CR_ERR_RANGE, "percent of what?"},
        {"positoin=1", CR_ERR_FIELD, "did you mean position?"},
        {"bodies.cua.vel=1", CR_ERR_FIELD, "there is cue, up, down"},
        {"bodies.cue.vx=1", CR_ERR_FIELD, "there is name, joint, pos, vel, mass, shapes"},
        {"bodies[7].vel=1", CR_ERR_MISSING, "bodies[7].vel"},
        {"bodies.cue.name=1", CR_ERR_TYPE, "is a string"},
        {"bodies.cue.mass.x=1", CR_ERR_TYPE, "leads into a number"},
        {"bodies..cue=1", CR_ERR_SYNTAX, "is no path"},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz=1", CR_ERR_LIMIT,
         "too long"},
    };
    Case c;
    open_case(&c, tie, 10);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        crError error = {0};
        crStatus status = refused(&c, cases[i].text, &error);
        test_check(status == cases[i].status && strstr(error.message, cases[i].words) != NULL, __FILE__,
                   __LINE__, "%s: %s (%s)", cases[i].text, error.message, cr_status_name(status));
    }
    crError error = {0};
    c.options.samples = 1;
    CHECK_STATUS(refused(&c, "gap=1e-5", &error), CR_ERR_RANGE);
    CHECK_TEXT(error.message, "samples is 1, must be from 2 to 1000000");
    c.options.samples = 10;
    c.options.jitter_count = 0;
    CHECK_STATUS(cr_spread_run(c.doc.root, tie, &c.scene, &c.options, &c.spread, &error), CR_ERR_MISSING);
    close_case(&c);
}

TEST(a_scene_that_has_nothing_of_a_class_is_refused) {
    static const char hinged[] =
        "{\"carom\": 1, \"bodies\": [{\"name\": \"rod\", \"joint\": \"hinge\", \"mass\": 1,"
        " \"inertia\": 1}], \"materials\": {\"t\": {\"e\": [[0, 1], [1, 0.5]]}}}";
    Case c;
    crError error = {0};
    open_case(&c, hinged, 10);
    CHECK_STATUS(refused(&c, "position=1", &error), CR_ERR_MISSING);
    CHECK_STATUS(refused(&c, "gap=1", &error), CR_ERR_MISSING);
    CHECK_STATUS(refused(&c, "e=1", &error), CR_ERR_ARGUMENT);
    CHECK(strstr(error.message, "material 't' depends on the impact") != NULL);
    CHECK_STATUS(refused(&c, "spin=1", &error), CR_OK);
    close_case(&c);
}

TEST(samples_that_fail_are_counted_and_the_first_is_told) {
    Case c;
    open_case(&c, tie, 40);
    // some draws are below 0, which the reader of scenes refuses
    jitter(&c, "materials.m.e=3");
    crError error = {0};
    CHECK_STATUS(cr_spread_run(c.doc.root, tie, &c.scene, &c.options, &c.spread, &error), CR_OK);
    CHECK(c.spread.failed > 0 && c.spread.failed < 40);
    CHECK(c.spread.first_failed >= 1 && strstr(c.spread.error.message, "materials.m.e") != NULL);
    CHECK(cr_spread_sample(&c.spread, c.spread.first_failed).status == c.spread.error.status);
    CHECK_STATUS(cr_spread_summarize(&c.spread, CR_SPREAD_VELOCITY, 0, &c.summary, &error), CR_OK);
    CHECK(c.summary.used == 40 - c.spread.failed);
    close_case(&c);
    // radii smaller than the gap: nearly all fail, and nothing can be summarized
    open_case(&c, tie, 3);
    jitter(&c, "gap=1e6");
    CHECK_STATUS(cr_spread_run(c.doc.root, tie, &c.scene, &c.options, &c.spread, &error), CR_OK);
    CHECK(c.spread.failed == 3 && c.spread.first_failed == 1);
    CHECK_STATUS(cr_spread_summarize(&c.spread, CR_SPREAD_VELOCITY, 0, &c.summary, &error), CR_ERR_ARGUMENT);
    CHECK(strstr(error.message, "3 of 3 samples failed; sample 1: gap:") != NULL);
    close_case(&c);
}

// mu and e are drawn again where they leave their range; their effect is that of the value drawn
TEST(restitution_and_friction_stay_within_their_range) {
    Case c;
    int count = test_samples(6000);
    static const char drop[] =
        "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.1, \"duration\": 1},"
        " \"materials\": {\"m\": {\"mu\": 0, \"e\": 0.9}}, \"bodies\": [{\"name\": \"ball\", \"pos\": [0, 0, "
        "0.5],"
        " \"vel\": [0, 0, -1], \"mass\": 1, \"shapes\": [{\"type\": \"sphere\", \"r\": 0.1, \"material\": "
        "\"m\"}]}],"
        " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"m\"}]}";
    open_case(&c, drop, count);
    jitter(&c, "e=0.2");
    jitter(&c, "mu=0.5");
    if (run_case(&c, CR_SPREAD_VELOCITY)) {
        double mean = 0.0;
        for (int i = 1; i <= count; i++) {
            double e = body(&c, i, "ball")[5];
            CHECK(e >= 0.0 && e <= 1.0 + 1e-12);
            mean += e / count;
        }
        // a normal number cut at 1: mean - sd phi(b) / Phi(b) with b = 0.5 (the cut at 0 is 4.5 sd away)
        double phi = 0.35206532676429952, Phi = 0.69146246127401310;
        CHECK_NEAR(mean, 0.9 - 0.2 * phi / Phi, 5.0 * 0.2 / sqrt(count));
    }
    close_case(&c);
}
