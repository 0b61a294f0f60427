// test_cube_tosses.c - what docs/real-collisions.md says of ContactNets' 55 cube tosses, simulated again with the
// parameters given there: each half of the tosses with what was fitted to the other, and the certificates.
#include <string.h>

#include "data.h"
#include "fit/motion_predict.h"
#include "io/input.h"
#include "test.h"

typedef struct Cube {
    crTable table;
    crTosses tosses;
    crJsonDoc scene;
} Cube;

static bool open_cube(Cube* c) {
    char buffer[400];
    const char* path = test_data("contactnets-cube-A/tosses.csv", buffer, sizeof buffer);
    *c = (Cube){0};
    if (path == NULL) {
        test_skip("no contactnets-cube-A");
        return false;
    }
    crImpactOptions columns = {0};
    CHECK_STATUS(cr_impact_source(&columns, "t=k/148", NULL), CR_OK);
    CHECK_STATUS(cr_table_read(path, &c->table, NULL), CR_OK);
    CHECK_STATUS(cr_tosses_create(&c->table, &columns, &c->tosses, NULL), CR_OK);
    // the scene of examples/fit/cube-toss.json
    static const char text[] =
        "{\"carom\": 1, \"step\": {\"dt\": 0.001}, \"materials\": {\"cube\": {\"mu\": 0.18, \"e\": 0.2}},"
        " \"bodies\": [{\"name\": \"cube\", \"pos\": [0, 0, 0.2], \"mass\": 0.37, \"inertia\": 0.00081,"
        " \"shapes\": [{\"type\": \"box\", \"half\": [0.0524, 0.0524, 0.0524], \"material\": \"cube\"}]}],"
        " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"cube\"}]}";
    CHECK_STATUS(cr_json_parse(text, sizeof text - 1, 1, &c->scene, NULL), CR_OK);
    return true;
}

static void close_cube(Cube* c) {
    cr_json_free(&c->scene);
    cr_tosses_destroy(&c->tosses);
    cr_table_free(&c->table);
}

TEST(what_was_measured) {
    Cube c;
    if (!open_cube(&c)) return;
    CHECK(c.tosses.count == 55 && c.tosses.sample_count == 5801 && c.tosses.skipped == 0);
    CHECK_NEAR(c.tosses.interval, 1.0 / 148.0, 1e-12);
    // velocities are differences of the poses, angular ones in the body's axes
    CHECK_NEAR(c.tosses.speed_ratio, 1.0, 0.001);
    CHECK(c.tosses.spin_error < 0.2 && c.tosses.other_frame > 3.0);
    close_cube(&c);
}

// Folds are those of seed 1; values[fold] was fitted without that fold.
static void check_halves(const Cube* c, const crMotionLaw* law, const double values[2][2], double loss0,
                         double loss1) {
    static const char fold[] = "1000101111011100101011100110010100001010101000110001101";
    crMotionParam params[2];
    crMotionModel model;
    CHECK_STATUS(cr_motion_param("mu", &params[0], NULL), CR_OK);
    CHECK_STATUS(cr_motion_param("e", &params[1], NULL), CR_OK);
    const crMotionDef def = {
        .scene = c->scene.root, .tosses = &c->tosses, .substeps = 2, .params = params, .param_count = 2};
    CHECK_STATUS(cr_motion_model_create(&def, law, &model, NULL), CR_OK);
    CHECK_NEAR(model.length, 0.0524, 1e-12);
    double loss[2] = {0.0, 0.0};
    int count[2] = {0, 0};
    for (int i = 0; i < c->tosses.count; i++) {
        int f = fold[i] - '0';
        crMotionRun run;
        CHECK_STATUS(cr_motion_simulate(&model, values[f], i, &run, NULL, NULL), CR_OK);
        loss[f] += run.position + run.rotation;
        count[f]++;
        // a micrometre of overlap would be ten times the deadband of 1e-7 of the size
        CHECK(run.penetration < 1e-7 && run.energy_created == 0.0 && run.energy_gain < 1e-12);
        CHECK(run.impermissible == 0 && run.unsolved == 0 && !run.broken);
    }
    CHECK(count[0] == 28 && count[1] == 27);
    // tosses are chaotic: new bits of the core may bring one to another face, which changes a half by .09
    CHECK_NEAR(loss[0] / count[0], loss0, 0.09);
    CHECK_NEAR(loss[1] / count[1], loss1, 0.09);
    CHECK_NEAR((loss[0] + loss[1]) / 55.0, 0.2771, 0.045);
    cr_motion_model_destroy(&model);
}

// the tosses that end on another face than measured are most of the loss
TEST(other_faces_decide_the_loss) {
    Cube c;
    if (!open_cube(&c)) return;
    crMotionParam params[2];
    crMotionModel model;
    CHECK_STATUS(cr_motion_param("mu", &params[0], NULL), CR_OK);
    CHECK_STATUS(cr_motion_param("e", &params[1], NULL), CR_OK);
    const crMotionDef def = {
        .scene = c.scene.root, .tosses = &c.tosses, .substeps = 2, .params = params, .param_count = 2};
    CHECK_STATUS(cr_motion_model_create(&def, NULL, &model, NULL), CR_OK);
    double loss = 0.0, position = 0.0, flipped_loss = 0.0, others = 0.0;
    int flipped = 0;
    for (int i = 0; i < c.tosses.count; i++) {
        const crToss* t = &c.tosses.tosses[i];
        crPose poses[200];
        crMotionRun run;
        CHECK_STATUS(cr_motion_simulate(&model, (const double[2]){0.186, 0.13}, i, &run, poses, NULL), CR_OK);
        double angle =
            cr_rotation_between(poses[t->count - 1].q, c.tosses.samples[t->first + t->count - 1].pose.q);
        double one = run.position + run.rotation;
        loss += one / c.tosses.count;
        position += run.position / c.tosses.count;
        if (angle > CR_PI / 4.0) {
            flipped++;
            flipped_loss += one / c.tosses.count;
        } else {
            others += one;
        }
    }
    // 9, .2752, .0074, .2379 and .0446 are documented; new bits of the core may bring one toss to another face
    CHECK(flipped >= 8 && flipped <= 10);
    CHECK_NEAR(loss, 0.2752, 0.045);
    CHECK_NEAR(position, 0.0074, 0.001);
    CHECK_NEAR(flipped_loss, 0.2379, 0.045);
    CHECK_NEAR(others / (c.tosses.count - flipped), 0.0446, 0.01);
    cr_motion_model_destroy(&model);
    close_cube(&c);
}

// on a plane a rounded box is the balls at its corners: half the side .0512 m, rounded by 4 mm
TEST(rounded_corners) {
    Cube c;
    if (!open_cube(&c)) return;
    char text[4000], *at = text;
    at += sprintf(at, "{\"carom\": 1, \"step\": {\"dt\": 0.001}, \"impact\": {\"rule\": \"sequence\", "
                      "\"law\": \"routh\"}, \"materials\": {\"cube\": {\"mu\": 0.18, \"e\": 0.3}}, "
                      "\"bodies\": [{\"name\": \"cube\", \"pos\": [0, 0, 0.2], \"mass\": 0.37, "
                      "\"inertia\": 0.00081, \"shapes\": [");
    for (int i = 0; i < 8; i++) {
        const double corner = 0.0512 - 0.004;
        at += sprintf(
            at, "%s{\"type\": \"sphere\", \"r\": 0.004, \"material\": \"cube\", \"pos\": [%g, %g, %g]}",
            i > 0 ? ", " : "", i & 1 ? corner : -corner, i & 2 ? corner : -corner, i & 4 ? corner : -corner);
    }
    sprintf(at, "]}], \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": "
                "\"cube\"}]}");
    crJsonDoc doc;
    crMotionModel model;
    crMotionPrediction p;
    crMotionOptions options = {.threads = 1};
    CHECK_STATUS(cr_json_parse(text, strlen(text), 1, &doc, NULL), CR_OK);
    const crMotionDef def = {.scene = doc.root, .tosses = &c.tosses, .length = 0.0524, .substeps = 2};
    CHECK_STATUS(cr_motion_model_create(&def, NULL, &model, NULL), CR_OK);
    CHECK_STATUS(cr_motion_predict(&model, NULL, &options, &p, NULL), CR_OK);
    // .177 is documented, with one toss more or less on another face
    CHECK_NEAR(p.loss, 0.177, 0.045);
    CHECK(p.worst.penetration < 1e-7 && p.worst.energy_created == 0.0 && p.worst.unsolved == 0);
    cr_motion_prediction_destroy(&p);
    cr_motion_model_destroy(&model);
    cr_json_free(&doc);
    close_cube(&c);
}

TEST(halves_predict_each_other) {
    Cube c;
    if (!open_cube(&c)) return;
    crMotionLaw poisson = {.name = "poisson", .set_count = 1, .path = {"impact.rule"}, .value = {"poisson"}};
    const double values[2][2] = {{0.18624178352719653, 0.16617645320532898},
                                 {0.18786153988925666, 0.28072878086419756}};
    check_halves(&c, &poisson, values, 0.2134, 0.3431);
    close_cube(&c);
}
