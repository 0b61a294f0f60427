// test_belt.c - surfaces that move while their bodies stand: belts and turntables, in scenes and out of MJCF.
#include "io/import.h"
#include "scene_text.h"
#include "test.h"

static const char belt[] =
    "{\"carom\": 1, \"step\": {\"dt\": 0.002, \"duration\": 1}, \"materials\": {\"m\": {\"mu\": 0.25}},"
    " \"bodies\": [{\"name\": \"belt\", \"joint\": \"fixed\", \"shapes\": [{\"type\": \"box\", \"half\": [5, "
    "1, 0.1], \"material\": "
    "\"m\"}]}, {\"name\": \"crate\", \"pos\": [0, 0, 0.2], \"shapes\": [{\"type\": \"box\", \"half\": [0.1, "
    "0.1, 0.1], "
    "\"material\": \"m\"}]}], \"drive\": [{\"body\": \"belt\", \"velocity\": [0.8, 0, 0], \"surface\": "
    "true}]}";

// mu g until it goes with the belt; the belt itself stays
TEST(belt_carries_a_crate) {
    crScene scene;
    crWorld* world = NULL;
    if (!good(belt, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    const double* v = cr_world_state(world)->v;
    double a = 0.25 * 9.81, meets = 0.8 / a;
    crTally tally = {0};
    for (int n = 1; n <= 500; n++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        cr_tally_add(&tally, cr_world_certificate(world));
        double t = 0.002 * n;
        if (t < meets - 0.002) CHECK_NEAR(v[0], a * t, 1e-6);
        if (t > meets + 0.002) CHECK_NEAR(v[0], 0.8, 1e-6);
    }
    CHECK(cr_norm(cr_world_pose(world, 1).p) == 0.0);
    // work of the belt: friction times its way, half of which is lost to slip
    double m = scene.model->bodies[2].mass;
    CHECK_NEAR(tally.worst.energy.work, m * 0.8 * 0.8, 1e-3 * m);
    CHECK(tally.failed == 0 && tally.worst.energy.gain < 1e-9 * m && tally.worst.crossings == 0);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

static const char wedge[] =
    "{\"carom\": 1, \"step\": {\"dt\": 1e-4, \"duration\": 1}, \"materials\": {\"m\": {\"mu\": %.17g}},"
    " \"bodies\": [{\"name\": \"belt\", \"joint\": \"fixed\", \"shapes\": [{\"type\": \"box\", \"half\": [5, "
    "1, 0.1], \"material\": \"m\"}]}, {\"name\": \"wall\", \"joint\": \"fixed\", \"pos\": [1, 0, 0.5], "
    "\"shapes\": [{\"type\": \"box\", \"half\": [0.1, 1, 0.39], \"material\": \"m\"}]}, {\"name\": \"ball\", "
    "\"pos\": [0.8, 0, 0.2], \"shapes\": [{\"type\": \"sphere\", \"r\": 0.1, \"material\": \"m\"}]}], "
    "\"drive\": [{\"body\": \"belt\", \"velocity\": [0.8, 0, 0], \"surface\": true}]}";

// A belt drags a ball against a wall: the wall's friction presses the ball on the belt. With slip at both,
// N_belt = m g + mu N_wall and N_wall = mu N_belt: N_belt = m g/(1 - mu^2), which has no bound as mu goes to 1; the belt
// works mu N_belt v. Forces and work follow that, however large they are.
TEST(wedged_ball) {
    static const double mus[] = {0.5, 0.9, 0.99, 0.999, 0.99999};
    for (int i = 0; i < 5; i++) {
        char text[1200];
        crScene scene;
        crWorld* world = NULL;
        snprintf(text, sizeof text, wedge, mus[i]);
        if (!good(text, &scene)) return;
        CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        const crCertificate* c = cr_world_certificate(world);
        double mass = scene.model->bodies[3].mass, h = 1e-4, mu = mus[i];
        double press = mass * 9.81 * h / (1.0 - mu * mu);
        CHECK(c->outcome == CR_OUTCOME_SOLVED);
        CHECK_NEAR(c->energy.work, mu * press * 0.8, 1e-6 * press);
        // the ball turns, faster and faster, by what is left of the two moments, and stays where it is
        CHECK_NEAR(cr_world_state(world)->v[4], -press * mu * (1.0 - mu) * 0.1 / (0.4 * mass * 0.01), 1e-6);
        CHECK_NEAR(cr_norm(cr_vec3(cr_world_state(world)->v[0], cr_world_state(world)->v[1],
                                   cr_world_state(world)->v[2])),
                   0.0, 1e-9);
        cr_world_destroy(world);
        cr_scene_free(&scene);
    }
}

static const char* const mjcf = "<mujoco><option timestep='.002'/><worldbody><geom name='plate' "
                                "type='cylinder' size='1 .05' pos='0 0 .05' "
                                "surfacevel='0 0 0  0 0 1' friction='1'/><body name='coin' pos='.5 0 "
                                ".12'><freejoint/><geom type='cylinder' size='.05 .02' "
                                "friction='1'/></body><body name='car' pos='9 9 9'><freejoint/><geom "
                                "name='loose' size='.1' surfacevel='1 0 0'/></body>"
                                "</worldbody></mujoco>";

// a coin on a turntable of 1 rad/s goes round with it
TEST(turntable_of_mjcf) {
    crImport import;
    crError error = {0};
    crScene scene;
    crWorld* world = NULL;
    CHECK_STATUS(cr_import_text(mjcf, strlen(mjcf), "table.xml", NULL, &import, &error), CR_OK);
    int warnings = 0;
    for (int i = 0; i < import.note_count; i++) {
        warnings += import.notes[i].level == CR_NOTE_UNSUPPORTED;
    }
    CHECK(warnings == 1);  // of the ball that moves
    CHECK_STATUS(cr_scene_read(import.scene.root, &scene, &error), CR_OK);
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(world, 1.0, NULL), CR_OK);
    int coin = cr_model_find_body(scene.model, "coin");
    const double* v = cr_world_state(world)->v + scene.model->bodies[coin].v;
    crPose pose = cr_world_pose(world, coin);
    double r = sqrt(pose.p.x * pose.p.x + pose.p.y * pose.p.y);
    CHECK_NEAR(r, 0.5, 5e-3);
    CHECK_NEAR(v[5], 1.0, 1e-3);
    CHECK_NEAR(sqrt(v[0] * v[0] + v[1] * v[1]), r, 2e-3);
    CHECK_NEAR(v[0] * pose.p.x + v[1] * pose.p.y, 0.0, 2e-3);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    cr_import_free(&import);
}

TEST(bad_belts_are_refused) {
    char text[900];
    crScene scene;
    crError error;
    const char* at = strstr(belt, "\"surface\"");
    snprintf(text, sizeof text, "%.*s\"amplitude\": [1, 0, 0], %s", (int)(at - belt), belt, at);
    CHECK_STATUS(read_text(text, &scene, &error), CR_ERR_FIELD);
    CHECK_TEXT(error.field, "drive[0].amplitude");
    snprintf(text, sizeof text, "%.*s\"surface\": 1}]}", (int)(at - belt), belt);
    CHECK_STATUS(read_text(text, &scene, &error), CR_ERR_TYPE);
}
