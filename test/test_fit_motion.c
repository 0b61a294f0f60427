// test_fit_motion.c - scenes fitted to tosses: the loss by its definition, known parameters recovered, what
// data cannot tell said, the same bits for any threads and after an interruption, refusals.
#include "data.h"
#include "toss_sample.h"

static const char* const mu_e[] = {"mu", "e", NULL};
static const TossKind throws = {.tosses = 12, .samples = 11, .interval = 0.05, .noise = 2e-4, .fall = 1.0};

static crMotionOptions quick(void) {
    crMotionOptions options = cr_motion_options();
    options.points = 10;
    options.bootstrap = 60;
    return options;
}

TEST(parameters_as_text) {
    crMotionParam p;
    crError error = {0};
    CHECK_STATUS(cr_motion_param("mu", &p, NULL), CR_OK);
    CHECK(p.path[0] == '\0' && p.ratio);
    for (int i = 0; i <= 8; i++) {
        double x = cr_motion_param_value(&p, i / 8.0);
        // places run along x/(1+x)
        CHECK_NEAR(x / (1.0 + x), p.hi / (1.0 + p.hi) * i / 8.0, 1e-15);
    }
    CHECK_STATUS(cr_motion_param("e:0.1:0.5", &p, NULL), CR_OK);
    CHECK_NEAR(cr_motion_param_value(&p, 0.25), 0.2, 1e-15);
    CHECK_STATUS(cr_motion_param("h=static[0].offset:-0.005:0.005", &p, NULL), CR_OK);
    CHECK_TEXT(p.path, "static[0].offset");
    CHECK_TEXT(p.name, "h");
    CHECK_STATUS(cr_motion_param("nu", &p, &error), CR_ERR_NAME);
    CHECK(strstr(error.message, "'mu'") != NULL);
    CHECK_STATUS(cr_motion_param("viscosity", &p, NULL), CR_ERR_NAME);
    CHECK_STATUS(cr_motion_param("e:0.5:0.1", &p, NULL), CR_ERR_RANGE);
    CHECK_STATUS(cr_motion_param("e:0:x", &p, NULL), CR_ERR_RANGE);
    CHECK_STATUS(cr_motion_param("e:0", &p, NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_motion_param("h=", &p, NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_motion_param("h=a.b", &p, NULL), CR_ERR_SYNTAX);
    CHECK_STATUS(cr_motion_param("", &p, NULL), CR_ERR_SYNTAX);
    char text[300];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_STATUS(cr_motion_param(text, &p, NULL), CR_ERR_LIMIT);
}

// loss and misfit from the poses that were simulated, by their definitions
TEST(loss_by_its_definition) {
    TossCase c;
    toss_open(&c, TOSS_SPATIAL, &throws, 3, mu_e);
    // half the side of the cube around the ball's radius
    CHECK_NEAR(c.model.length, 0.05 / sqrt(3.0), 1e-12);
    const double values[] = {0.2, 0.5};
    for (int i = 0; i < c.tosses.count; i++) {
        const crToss* t = &c.tosses.tosses[i];
        crPose poses[64];
        crMotionRun run;
        CHECK_STATUS(cr_motion_simulate(&c.model, values, i, &run, poses, NULL), CR_OK);
        double position = 0.0, rotation = 0.0, misfit = 0.0;
        for (int k = 0; k < t->count; k++) {
            const crPose* m = &c.tosses.samples[t->first + k].pose;
            double d = cr_norm(cr_sub(poses[k].p, m->p));
            // trace R = 1 + 2 cos(angle)
            crMat3 a = cr_quat_matrix(m->q), b = cr_quat_matrix(poses[k].q);
            double trace = 0.0;
            for (int j = 0; j < 3; j++) {
                trace += cr_dot(cr_mat3_column(a, j), cr_mat3_column(b, j));
            }
            double angle = acos(fmax(-1.0, fmin(1.0, 0.5 * (trace - 1.0))));
            double r2 = (d * d / (c.model.length * c.model.length) + angle * angle) / 0.04;
            position += d * d / c.model.length / t->count;
            rotation += angle * angle / t->count;
            misfit += r2 / (1.0 + r2) / t->count;
        }
        CHECK_NEAR(run.position, position, 1e-12);
        // acos loses half the digits near 1
        CHECK_NEAR(run.rotation, rotation, 1e-7);
        CHECK_NEAR(run.misfit, misfit, 1e-6);
        // nothing is lost at the first sample, and the certificate holds
        CHECK_NEAR(cr_norm(cr_sub(poses[0].p, c.tosses.samples[t->first].pose.p)), 0.0, 1e-15);
        CHECK(run.penetration < 1e-7 && run.energy_created <= 1e-12 && run.energy_gain < 1e-12);
        CHECK(run.impermissible == 0 && run.unsolved == 0 && !run.broken);
    }
    toss_close(&c);
}

TEST(known_parameters_are_recovered) {
    TossCase c;
    toss_open(&c, TOSS_SPATIAL, &throws, 3, mu_e);
    crMotionOptions options = quick();
    crMotionFit fit;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &fit, NULL), CR_OK);
    const double truth[] = {0.08, 0.4};
    for (int i = 0; i < 2; i++) {
        const crMotionFitted* p = &fit.fitted[i];
        CHECK(p->determined == CR_DETERMINED);
        // a 95 % interval of 12 tosses misses now and then: twice as wide is four standard deviations
        double slack = 0.5 * (p->hi - p->lo);
        CHECK(p->lo - slack <= truth[i] && truth[i] <= p->hi + slack);
        CHECK(p->hi - p->lo < 0.03 && p->lo <= p->value && p->value <= p->hi);
    }
    // every toss was predicted by a fit without it, nearly as well as by the fit to all
    CHECK(fit.misfit <= fit.cv && fit.cv < 0.05 && fit.cv_loss < 1e-3);
    double mean = 0.0;
    for (int i = 0; i < c.tosses.count; i++) {
        crMotionRun run;
        CHECK(fit.fold[i] == 0 || fit.fold[i] == 1);
        CHECK_STATUS(cr_motion_simulate(&c.model, &fit.fold_values[2 * fit.fold[i]], i, &run, NULL, NULL),
                     CR_OK);
        CHECK(fit.losses[i] == run.position + run.rotation && fit.misfits[i] == run.misfit);
        mean += fit.losses[i] / c.tosses.count;
    }
    CHECK_NEAR(mean, fit.cv_loss, 1e-15);
    double difference, se;
    cr_motion_compare(&fit, &fit, c.tosses.count, &difference, &se);
    CHECK(difference == 0.0 && se == 0.0);
    cr_motion_fit_destroy(&fit);
    toss_close(&c);
}

// slabs that slide flat: friction is seen, restitution is not
TEST(what_data_cannot_tell) {
    const TossKind slides = {.tosses = 12, .samples = 6, .interval = 0.04, .noise = 0.0, .slide = true};
    TossCase c;
    toss_open(&c, TOSS_PLANAR, &slides, 4, mu_e);
    crMotionOptions options = quick();
    crMotionFit fit;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &fit, NULL), CR_OK);
    CHECK(fit.fitted[0].determined == CR_DETERMINED);
    CHECK(fit.fitted[1].determined == CR_UNDETERMINED);
    CHECK(fit.fitted[1].lo == 0.0 && fit.fitted[1].hi == 1.0);
    // .001 of mu moves a slab of 1 m/s that slides for .2 s by .2 mm; the search ends at a box of .02
    CHECK_NEAR(fit.fitted[0].value, 0.3, 0.001);
    cr_motion_fit_destroy(&fit);
    toss_close(&c);
}

static bool same_fit(const crMotionFit* a, const crMotionFit* b, int tosses) {
    return memcmp(a->fitted, b->fitted, sizeof a->fitted) == 0 && a->cv == b->cv &&
           a->cv_loss == b->cv_loss &&
           memcmp(a->losses, b->losses, (size_t)tosses * sizeof *a->losses) == 0 &&
           a->simulated == b->simulated;
}

typedef struct Stop {
    int calls, most;
} Stop;

static bool stop_after(void* ctx, int done, int count) {
    Stop* stop = ctx;
    CHECK(done <= count);
    return ++stop->calls < stop->most;
}

TEST(threads_and_interruptions_do_not_matter) {
    const char* const e_only[] = {"e:0.2:0.6", NULL};
    const TossKind few = {.tosses = 6, .samples = 6, .interval = 0.06, .noise = 2e-4, .fall = 1.0};
    TossCase c;
    toss_open(&c, TOSS_SPATIAL, &few, 8, e_only);
    crMotionOptions options = quick();
    crMotionFit one, three, resumed;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &one, NULL), CR_OK);
    options.threads = 3;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &three, NULL), CR_OK);
    CHECK(same_fit(&one, &three, few.tosses));
    cr_motion_fit_destroy(&three);
    // stopped twice, then to the end
    char path[] = "/tmp/carom-test-motion-XXXXXX";
    int descriptor = mkstemp(path);
    CHECK(descriptor >= 0);
    close(descriptor);
    remove(path);
    Stop stop = {.most = 100};
    options.checkpoint = path;
    options.key = cr_motion_key(&c.model, &options);
    options.watch = stop_after;
    options.ctx = &stop;
    crError error = {0};
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &resumed, &error), CR_ERR_LIMIT);
    stop.calls = 0;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &resumed, NULL), CR_ERR_LIMIT);
    options.watch = NULL;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &resumed, NULL), CR_OK);
    CHECK(same_fit(&one, &resumed, few.tosses));
    cr_motion_fit_destroy(&resumed);
    // other work under the same name
    options.key++;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &resumed, &error), CR_ERR_ARGUMENT);
    options.seed++;
    CHECK(cr_motion_key(&c.model, &options) != options.key - 1);
    remove(path);
    cr_motion_fit_destroy(&one);
    toss_close(&c);
}

TEST(nothing_to_fit_is_a_prediction) {
    TossCase c;
    const char* const none[] = {NULL};
    toss_open(&c, TOSS_SPATIAL, &throws, 3, none);
    crMotionOptions options = quick();
    crMotionFit fit;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &fit, NULL), CR_OK);
    CHECK(fit.count == 0 && fit.simulated == 2 * c.tosses.count && fit.cv < 0.05);
    CHECK_NEAR(fit.cv, fit.misfit, 1e-15);
    cr_motion_fit_destroy(&fit);
    toss_close(&c);
}

TEST(files_of_what_was_fitted) {
    TossCase c;
    const char* const params[] = {"mu", "h=static[0].offset:-0.01:0.01", NULL};
    toss_open(&c, TOSS_SPATIAL, &throws, 3, params);
    crMotionFit fit = {.count = 2, .cv = 0.5};
    fit.fitted[0].value = 0.25;
    fit.fitted[1].value = -0.002;
    fit.fitted[1].determined = CR_UNDETERMINED;
    crMotionLaw law = {.name = "routh", .set_count = 1, .path = {"impact.law"}, .value = {"routh"}};
    const crMotionLaw* laws[] = {&law};
    const crMotionFit* fits[] = {&fit};
    FitFile file;
    fit_sample_text(&file, "");
    CHECK_STATUS(cr_motion_write(file.path, &c.model, laws, fits, 1, NULL), CR_OK);
    char text[2000] = "";
    FILE* in = fopen(file.path, "r");
    CHECK(in != NULL && fread(text, 1, sizeof text - 1, in) > 0);
    fclose(in);
    CHECK(strstr(text, "\"set\": {\"impact.law\": \"routh\", \"materials.wood.mu\": 0.25, "
                       "\"static[0].offset\": -0.002}") != NULL);
    CHECK(strstr(text, "\"undetermined\": [\"h\"]") != NULL);
    CHECK_STATUS(cr_motion_write_scene(file.path, &c.model, &fit, NULL), CR_OK);
    memset(text, 0, sizeof text);
    in = fopen(file.path, "r");
    CHECK(in != NULL && fread(text, 1, sizeof text - 1, in) > 0);
    fclose(in);
    crJsonDoc doc;
    crScene scene;
    CHECK_STATUS(cr_json_parse(text, strlen(text), 1, &doc, NULL), CR_OK);
    CHECK_STATUS(cr_scene_read(doc.root, &scene, NULL), CR_OK);
    CHECK(scene.model->materials[scene.model->material_count - 1].surface.mu == 0.25);
    cr_scene_free(&scene);
    cr_json_free(&doc);
    remove(file.path);
    crError error = {0};
    CHECK_STATUS(cr_motion_write("/nowhere/at/all", &c.model, laws, fits, 1, &error), CR_ERR_FILE);
    CHECK_STATUS(cr_motion_write_scene("/nowhere/at/all", &c.model, &fit, &error), CR_ERR_FILE);
    toss_close(&c);
}

// one value for every item of a list
TEST(a_parameter_of_all_items) {
    TossCase c;
    const char* const params[] = {"size=bodies[0].shapes[0].half[*]:0.01:0.1", NULL};
    const TossKind slides = {.tosses = 3, .samples = 3, .interval = 0.04, .noise = 0.0, .slide = true};
    toss_open(&c, TOSS_PLANAR, &slides, 4, params);
    crMotionFit fit = {.count = 1};
    fit.fitted[0].value = 0.03125;
    FitFile file;
    fit_sample_text(&file, "");
    CHECK_STATUS(cr_motion_write_scene(file.path, &c.model, &fit, NULL), CR_OK);
    char text[2000] = "";
    FILE* in = fopen(file.path, "r");
    CHECK(in != NULL && fread(text, 1, sizeof text - 1, in) > 0);
    fclose(in);
    remove(file.path);
    CHECK(strstr(text, "\"half\":[0.03125,0.03125,0.03125]") != NULL);
    toss_close(&c);
}

static crStatus model_of(const char* scene, const char* body, double length, const crTosses* tosses,
                         const char* param, const crMotionLaw* law, crError* error) {
    crJsonDoc doc;
    crMotionParam p;
    crMotionModel model;
    CHECK_STATUS(cr_json_parse(scene, strlen(scene), 1, &doc, NULL), CR_OK);
    CHECK_STATUS(cr_motion_param(param, &p, NULL), CR_OK);
    *error = (crError){0};
    const crMotionDef def = {
        .scene = doc.root, .tosses = tosses, .body = body, .length = length, .params = &p, .param_count = 1};
    crStatus status = cr_motion_model_create(&def, law, &model, error);
    if (status == CR_OK) cr_motion_model_destroy(&model);
    cr_json_free(&doc);
    return status;
}

TEST(refusals) {
    TossCase c;
    toss_open(&c, TOSS_SPATIAL, &throws, 3, mu_e);
    crError error;
    const crTosses* t = &c.tosses;
    CHECK_STATUS(model_of(TOSS_SPATIAL, "ball", 0.1, t, "e", NULL, &error), CR_OK);
    CHECK_STATUS(model_of(TOSS_SPATIAL, "cube", 0.0, t, "e", NULL, &error), CR_ERR_NAME);
    CHECK(strstr(error.message, "'cube'") != NULL);
    CHECK_STATUS(model_of(TOSS_PLANAR, "slab", 0.0, t, "e", NULL, &error), CR_ERR_TYPE);
    CHECK_STATUS(model_of(TOSS_PLANAR, NULL, 0.0, t, "e", NULL, &error), CR_ERR_NAME);
    CHECK(strstr(error.message, "0 bodies") != NULL);
    CHECK_STATUS(
        model_of("{\"carom\": 1, \"bodies\": [{\"name\": \"b\", \"mass\": 1, \"shapes\": [{\"type\": "
                 "\"sphere\", \"r\": 0.05}]}]}",
                 NULL, 0.0, t, "e", NULL, &error),
        CR_ERR_MISSING);
    CHECK_STATUS(
        model_of("{\"carom\": 1, \"materials\": {\"m\": {}}, \"bodies\": [{\"name\": \"b\", \"mass\": 1, "
                 "\"inertia\": 0.001}]}",
                 NULL, 0.0, t, "e", NULL, &error),
        CR_ERR_RANGE);
    CHECK_TEXT(error.field, "length");
    CHECK_STATUS(model_of(TOSS_SPATIAL, NULL, 0.0, t, "h=static[7].offset:0:1", NULL, &error),
                 CR_ERR_MISSING);
    CHECK_STATUS(model_of(TOSS_SPATIAL, NULL, 0.0, t, "m=bodies[0].mass[*]:0:1", NULL, &error), CR_ERR_TYPE);
    CHECK_STATUS(model_of(TOSS_SPATIAL, NULL, 0.0, t, "m=bodies[4].pos[*]:0:1", NULL, &error),
                 CR_ERR_MISSING);
    CHECK_STATUS(model_of("{\"carom\": 2}", NULL, 0.0, t, "e", NULL, &error), CR_ERR_RANGE);
    crMotionLaw law = {.set_count = 1, .path = {"impact.rule"}, .value = {"nowhere"}};
    CHECK_STATUS(model_of(TOSS_SPATIAL, NULL, 0.0, t, "e", &law, &error), CR_ERR_NAME);
    // gravity ten times too weak: the measured ball gains energy as it falls
    CHECK_STATUS(
        model_of(
            "{\"carom\": 1, \"gravity\": [0, 0, 0], \"materials\": {\"m\": {}}, \"bodies\": [{\"name\": "
            "\"b\", \"mass\": 1, \"shapes\": [{\"type\": \"sphere\", \"r\": 0.05, \"material\": \"m\"}]}]}",
            NULL, 0.0, t, "e", NULL, &error),
        CR_ERR_RANGE);
    CHECK(strstr(error.message, "energy") != NULL && error.line > 0);
    crMotionOptions options = quick();
    crMotionFit fit;
    options.folds = 13;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &fit, &error), CR_ERR_SIZE);
    CHECK(strstr(error.message, "too few") != NULL);
    options.folds = 2;
    c.tosses.count = 11;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &fit, &error), CR_ERR_SIZE);
    c.tosses.count = throws.tosses;
    cr_motion_fit_destroy(&fit);
    toss_close(&c);
}

#define PENDULUM                                                                                             \
    "{\"carom\": 1, \"step\": {\"dt\": 0.001}, \"materials\": {\"m\": {}}, \"bodies\": [{\"name\": "         \
    "\"stand\", "                                                                                            \
    "\"joint\": \"fixed\", \"pos\": [0, 0, 2], \"quat\": [1, 0, 0, 1], \"mass\": 0, \"inertia\": 0}, "       \
    "{\"name\": "                                                                                            \
    "\"arm\", \"joint\": \"hinge\", \"parent\": \"stand\", \"pos\": [0.1, 0, 0], \"axis\": [1, 0, 0], "      \
    "\"mass\": 2, "                                                                                          \
    "\"com\": [0, 0, -0.5], \"inertia\": [0.1, 0.1, 0.01], \"shapes\": [{\"type\": \"sphere\", \"r\": 0.1, " \
    "\"material\": \"m\"}]}]}"

// angle and rate of (I + m l^2) a'' = -m g l sin a, by classical Runge-Kutta in small steps
static void swing(double time, double* a, double* w) {
    double h = 1e-4, k = 2.0 * 9.81 * 0.5 / (0.1 + 2.0 * 0.25);
    for (int i = 0; i < (int)(time / h + 0.5); i++) {
        double a1 = *w, w1 = -k * sin(*a), a2 = *w + 0.5 * h * w1, w2 = -k * sin(*a + 0.5 * h * a1);
        double a3 = *w + 0.5 * h * w2, w3 = -k * sin(*a + 0.5 * h * a2), a4 = *w + h * w3,
               w4 = -k * sin(*a + h * a3);
        *a += h / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4);
        *w += h / 6.0 * (w1 + 2 * w2 + 2 * w3 + w4);
    }
}

// a pendulum on a turned stand begins at the measured angle and rate, and follows the measured motion; of two tosses
// the one whose energy grows is left out by skip
TEST(hinges_begin_where_they_were_measured) {
    enum { N = 11 };
    crTossSample samples[2 * N];
    crToss tosses[2] = {{.id = 7, .line = 2, .first = 0, .count = N},
                        {.id = 8, .line = 13, .first = N, .count = N}};
    crQuat stand = cr_quat_normalize((crQuat){1, 0, 0, 1});
    crVec3 axis = cr_quat_rotate(stand, cr_vec3(1, 0, 0));
    for (int toss = 0; toss < 2; toss++) {
        double a = 0.8 - 0.3 * toss, w = 1.5;
        for (int k = 0; k < N; k++) {
            crQuat q = cr_quat_mul(stand, cr_quat_axis_angle(cr_vec3(1, 0, 0), a));
            crPose pose = {cr_add(cr_vec3(0, 0, 2), cr_quat_rotate(stand, cr_vec3(0.1, 0, 0))), q};
            crVec3 omega = cr_scale(w, axis);
            // the second one is said to spin up
            if (toss == 1) omega = cr_scale(1.0 + k, omega);
            crVec3 v = cr_cross(omega, cr_quat_rotate(q, cr_vec3(0, 0, -0.5)));
            samples[toss * N + k] = (crTossSample){.time = 0.1 * k, .pose = pose, .v = v, .w = omega};
            swing(0.1, &a, &w);
        }
    }
    crTosses t = {.count = 2, .tosses = tosses, .sample_count = 2 * N, .samples = samples};
    crError error;
    CHECK_STATUS(model_of(PENDULUM, NULL, 0.2, &t, "e", NULL, &error), CR_ERR_RANGE);
    CHECK(strstr(error.message, "toss 8") != NULL);
    crJsonDoc doc;
    CHECK_STATUS(cr_json_parse(PENDULUM, strlen(PENDULUM), 1, &doc, NULL), CR_OK);
    CHECK_STATUS(cr_motion_skip(doc.root, NULL, &t, &error), CR_OK);
    CHECK(t.count == 1 && t.skipped == 1 && t.tosses[0].id == 7.0 &&
          strstr(t.skip_first.message, "toss 8") != NULL);
    crMotionParam p;
    crMotionModel model;
    CHECK_STATUS(cr_motion_param("e", &p, NULL), CR_OK);
    const crMotionDef def = {.scene = doc.root, .tosses = &t, .length = 0.2, .params = &p, .param_count = 1};
    CHECK_STATUS(cr_motion_model_create(&def, NULL, &model, &error), CR_OK);
    crMotionRun run;
    crPose poses[N];
    double value = 0.5;
    CHECK_STATUS(cr_motion_simulate(&model, &value, 0, &run, poses, &error), CR_OK);
    for (int k = 0; k < N; k++) {
        CHECK_NEAR(cr_rotation_between(poses[k].q, samples[k].pose.q), 0.0, k == 0 ? 1e-7 : 1e-4);
        CHECK_VEC(poses[k].p, samples[k].pose.p, 1e-12);
    }
    cr_motion_model_destroy(&model);
    // where none is left that is an error, with its place
    t.tosses[0] = (crToss){.id = 8, .line = 13, .first = N, .count = N};
    CHECK_STATUS(cr_motion_skip(doc.root, NULL, &t, &error), CR_ERR_RANGE);
    CHECK(error.line == 13);
    cr_json_free(&doc);
}
