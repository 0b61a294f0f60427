// Actuators, sites, sensors and keyframes of scenes: what their fields mean, and what is refused with the nearest name.
#include "scene_text.h"

#define ARM(rest)                                                                                          \
    "{\"carom\": 1, \"bodies\": [{\"name\": \"arm\", \"joint\": \"hinge\", \"joint_name\": \"shoulder\", " \
    "\"anchor\": [0, 0, 1], \"mass\": 1, \"inertia\": 1}, {\"name\": \"hand\", \"joint\": \"ball\", "      \
    "\"parent\": \"arm\", \"mass\": 1, \"inertia\": 1}]" rest "}"
#define ACT(fields) ARM(", \"actuators\": [{\"name\": \"a\"" fields "}]")

static void refused(const char* text, crStatus status, const char* word, int line) {
    crScene scene;
    crError error;
    crStatus got = read_text(text, &scene, &error);
    test_check(got == status && strstr(error.message, word) != NULL, __FILE__, line, "%s: %s",
               cr_status_name(got), error.message);
    if (got == CR_OK) cr_scene_free(&scene);
}
#define REFUSED(text, status, word) refused(text, status, word, __LINE__)

TEST(transmissions) {
    crScene scene;
    if (!good(
            ARM(", \"sites\": [{\"name\": \"s\", \"body\": \"arm\"}, {\"name\": \"o\"}, {\"name\": \"h\", "
                "\"body\": \"hand\"}], \"tendons\": [{\"name\": \"path\", \"sites\": [\"o\", \"s\", \"h\"], "
                "\"coef\": [1, 0.5], \"stiffness\": 3, \"rest_range\": [1, 2]}, {\"name\": \"sum\", "
                "\"joints\": "
                "[{\"joint\": \"shoulder\", \"coef\": -2}], \"damping\": 4, \"rest\": 5}], \"actuators\": "
                "[{\"name\": \"a\", \"tendon\": \"sum\", \"gear\": 2}, {\"name\": \"b\", \"site\": \"h\", "
                "\"reference\": \"s\", \"wrench\": [1, 2, 3, 4, 5, 6]}, {\"name\": \"c\", \"site\": \"h\", "
                "\"wrench\": [1, 0, 0, 0, 0, 0]}, {\"name\": \"d\", \"site\": \"h\", \"slider\": \"o\", "
                "\"rod\": "
                "7, \"gear\": 8}], \"sensors\": [{\"name\": \"l\", \"type\": \"tendon_position\", "
                "\"tendon\": "
                "\"sum\"}]"),
            &scene))
        return;
    const crModel* m = scene.model;
    const crTendon* t = m->tendons;
    const crActuator* a = m->actuators;
    if (CHECK(m->tendon_count == 2 && m->nu == 4 && m->sensors[0].object == 1)) {
        CHECK(!t[0].joints && t[0].count == 3 && t[0].item[2] == 2 && t[0].coef[1] == 0.5);
        CHECK(t[0].stiffness == 3.0 && t[0].rest_lower == 1.0 && t[0].rest_upper == 2.0);
        CHECK(t[1].joints && t[1].count == 1 && t[1].coef[0] == -2.0 && t[1].damping == 4.0);
        CHECK(t[1].rest_lower == 5.0 && t[1].rest_upper == 5.0);
        CHECK(a[0].transmission == CR_ALONG_TENDON && a[0].tendon == 1 && a[0].gear[0] == 2.0);
        CHECK(a[1].transmission == CR_ALONG_SITE && a[1].site == 2 && a[1].reference == 0 &&
              a[1].wrench[5] == 6.0);
        CHECK(a[2].transmission == CR_ALONG_SITE && a[2].reference == -1);
        CHECK(a[3].transmission == CR_ALONG_CRANK && a[3].reference == 1 && a[3].rod == 7.0 &&
              a[3].gear[0] == 8.0);
    }
    cr_scene_free(&scene);
}

TEST(fields) {
    crScene scene;
    if (!good(ARM(", \"actuators\": [{\"name\": \"m\", \"joint\": \"shoulder\", \"gear\": 3, \"ctrl\": 0.25, "
                  "\"ctrl_range\": [-1, 2], \"force_range\": [-4, 5]}, {\"name\": \"p\", \"type\": "
                  "\"position\", \"kp\": 7, "
                  "\"kv\": 2, \"joint\": \"shoulder\"}, {\"name\": \"v\", \"type\": \"velocity\", \"kv\": 6, "
                  "\"joints\": "
                  "[{\"joint\": \"shoulder\", \"gear\": 2}, {\"joint\": \"hand\", \"axis\": 2, \"gear\": "
                  "-1}]}, {\"name\": "
                  "\"g\", \"type\": \"general\", \"gain\": [1, 2], \"bias\": [3, 4, 5], \"joint\": "
                  "\"shoulder\"}], "
                  "\"sites\": [{\"name\": \"s\", \"body\": \"arm\", \"pos\": [0, 0, 3], \"type\": \"box\", "
                  "\"half\": [1, 2, "
                  "3]}], \"sensors\": [{\"name\": \"q\", \"type\": \"joint_position\", \"joint\": \"hand\"}, "
                  "{\"name\": "
                  "\"t\", \"type\": \"touch\", \"site\": \"s\", \"noise\": 0.5, \"seed\": 9}, {\"name\": "
                  "\"e\", \"type\": "
                  "\"energy\"}], \"keyframes\": [{\"name\": \"k\", \"time\": 2, \"q\": [0.5, 1, 0, 0, 0], "
                  "\"ctrl\": [1, 2, "
                  "3, 4]}]"),
              &scene))
        return;
    const crModel* m = scene.model;
    CHECK(m->nu == 4 && m->site_count == 1 && m->sensor_count == 3 && m->nsensor == 4 + 1 + 2);
    const crActuator* a = m->actuators;
    CHECK(a[0].gear[0] == 3.0 && a[0].gain[0] == 1.0 && a[0].ctrl == 0.25 && a[0].ctrl_upper == 2.0 &&
          a[0].force_lower == -4.0 && a[0].force_upper == 5.0);
    CHECK(a[1].gain[0] == 7.0 && a[1].bias[1] == -7.0 && a[1].bias[2] == -2.0 && isinf(a[1].ctrl_upper));
    CHECK(a[2].dof_count == 2 && a[2].dof[1] == 3 && a[2].gear[1] == -1.0 && a[2].bias[2] == -6.0);
    CHECK(a[3].gain[1] == 2.0 && a[3].gain[2] == 0.0 && a[3].bias[2] == 5.0);
    // the body's own frame is at its joint's anchor
    CHECK(m->sites[0].volume.pose.p.z == 2.0 && m->sites[0].volume.size.y == 2.0);
    CHECK(m->sensors[1].noise == 0.5 && m->sensors[1].seed == 9 && m->sensors[2].first == 5);
    crWorld* world = NULL;
    crError error;
    CHECK_STATUS(cr_scene_world(&scene, &world, &error), CR_OK);
    CHECK_STATUS(cr_scene_reset(&scene, world, "k", &error), CR_OK);
    CHECK(cr_world_state(world)->time == 2.0 && cr_world_state(world)->q[0] == 0.5 &&
          cr_world_state(world)->ctrl[3] == 4.0);
    CHECK_STATUS(cr_scene_reset(&scene, world, "kk", &error), CR_ERR_NAME);
    CHECK(strstr(error.message, "did you mean \"k\"?") != NULL && cr_world_state(world)->time == 2.0);
    CHECK_STATUS(cr_scene_reset(&scene, world, NULL, &error), CR_OK);
    CHECK(cr_world_state(world)->time == 0.0 && cr_world_state(world)->q[0] == 0.0 &&
          cr_world_state(world)->ctrl[0] == 0.25);
    cr_world_destroy(world);
    CHECK_STATUS(cr_scene_start(&scene, "x", &error), CR_ERR_NAME);
    CHECK_STATUS(cr_scene_start(&scene, "k", &error), CR_OK);
    CHECK_STATUS(cr_scene_world(&scene, &world, &error), CR_OK);
    CHECK(cr_world_state(world)->q[0] == 0.5 && cr_world_state(world)->ctrl[2] == 3.0);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

TEST(refusals) {
    REFUSED(ACT(", \"joint\": \"sholder\""), CR_ERR_NAME, "did you mean \"shoulder\"?");
    REFUSED(ACT(", \"joint\": \"arm\""), CR_ERR_NAME, "no joint is called \"arm\"");
    REFUSED(ACT(""), CR_ERR_MISSING, "joint");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"kp\": 1"), CR_ERR_FIELD, "kp");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"type\": \"position\""), CR_ERR_MISSING, "kp");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"type\": \"positon\""), CR_ERR_NAME, "position");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"axis\": 1"), CR_ERR_RANGE, "axis");
    REFUSED(ACT(", \"joint\": \"hand\", \"type\": \"position\", \"kp\": 1"), CR_ERR_ARGUMENT, "no length");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"ctrl_range\": [1, 0]"), CR_ERR_RANGE, "lower one");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"ctrl_range\": [1, 2]"), CR_ERR_RANGE, "1 to 2");
#define TENDON(fields, rest)                                                                                \
    ARM(", \"sites\": [{\"name\": \"s\", \"body\": \"arm\"}, {\"name\": \"o\"}], \"tendons\": [{\"name\": " \
        "\"t\", " fields "}]" rest)
#define ON_SITE(fields) \
    TENDON("\"sites\": [\"o\", \"s\"]", ", \"actuators\": [{\"name\": \"a\", " fields "}]")
    REFUSED(TENDON("\"coef\": [1]", ""), CR_ERR_MISSING, "sites");
    REFUSED(TENDON("\"sites\": [\"o\"]", ""), CR_ERR_RANGE, "2 to 16");
    REFUSED(TENDON("\"sites\": [\"o\", \"S\"]", ""), CR_ERR_NAME, "did you mean \"s\"?");
    REFUSED(TENDON("\"sites\": [\"o\", 3]", ""), CR_ERR_TYPE, "names of sites");
    REFUSED(TENDON("\"sites\": [\"o\", \"s\"], \"coef\": [1, 1]", ""), CR_ERR_SIZE, "coef");
    REFUSED(TENDON("\"sites\": [\"o\", \"s\"], \"stiffness\": 2", ""), CR_ERR_MISSING, "rest");
    REFUSED(TENDON("\"sites\": [\"o\", \"s\"], \"joints\": [{\"joint\": \"shoulder\"}]", ""), CR_ERR_FIELD,
            "only one");
    REFUSED(TENDON("\"joints\": [{\"joint\": \"hand\"}]", ""), CR_ERR_RANGE, "coordinate");
    REFUSED(ON_SITE("\"tendon\": \"tt\""), CR_ERR_NAME, "did you mean \"t\"?");
    REFUSED(ON_SITE("\"tendon\": \"t\", \"joint\": \"shoulder\""), CR_ERR_FIELD, "only one");
    REFUSED(ON_SITE("\"tendon\": \"t\", \"rod\": 1"), CR_ERR_FIELD, "goes with site");
    REFUSED(ON_SITE("\"site\": \"s\""), CR_ERR_MISSING, "wrench");
    REFUSED(ON_SITE("\"site\": \"s\", \"wrench\": [1, 2]"), CR_ERR_SIZE, "wrench");
    REFUSED(ON_SITE("\"site\": \"s\", \"slider\": \"o\""), CR_ERR_MISSING, "rod");
    REFUSED(ON_SITE("\"site\": \"s\", \"slider\": \"oo\", \"rod\": 1"), CR_ERR_NAME,
            "no site is called \"oo\"");
    REFUSED(ON_SITE("\"site\": \"s\", \"slider\": \"o\", \"rod\": -1"), CR_ERR_RANGE, "rod");
    REFUSED(ARM(", \"actuators\": [{\"joint\": \"shoulder\"}]"), CR_ERR_MISSING, "name");
    REFUSED(ARM(", \"actuators\": [{\"name\": \"a b\", \"joint\": \"shoulder\"}]"), CR_ERR_NAME, "name");
    REFUSED(ARM(", \"actuators\": [{\"name\": \"a\", \"joint\": \"shoulder\"}, {\"name\": \"a\", \"joint\": "
                "\"shoulder\"}]"),
            CR_ERR_NAME, "another actuator");
    REFUSED(ARM(", \"sites\": [{\"name\": \"s\", \"body\": \"amr\"}]"), CR_ERR_NAME, "did you mean \"arm\"?");
    REFUSED(ARM(", \"sites\": [{\"name\": \"s\", \"type\": \"cone\"}]"), CR_ERR_NAME, "cone");
    REFUSED(ARM(", \"sensors\": [{\"name\": \"s\", \"type\": \"gyro\", \"site\": \"x\"}]"), CR_ERR_NAME,
            "\"x\"");
    REFUSED(ARM(", \"sensors\": [{\"name\": \"s\", \"type\": \"gyro\"}]"), CR_ERR_MISSING, "site");
    REFUSED(ARM(", \"sensors\": [{\"name\": \"s\", \"type\": \"energy\", \"noise\": -1}]"), CR_ERR_RANGE,
            "noise");
    REFUSED(ARM(", \"keyframes\": [{\"name\": \"k\", \"q\": [1, 2]}]"), CR_ERR_SIZE, "q");
    REFUSED("{\"carom\": 1, \"bodies\": [{\"joint\": \"hinge\", \"joint_name\": \"x\", \"mass\": 1, "
            "\"inertia\": 1}, {\"joint\": "
            "\"hinge\", \"joint_name\": \"x\", \"mass\": 1, \"inertia\": 1}]}",
            CR_ERR_NAME, "another joint");
}

// a control over time is what its table or expression gives at the middle of each step
TEST(controls_over_time) {
    crScene scene;
    if (!good(
            ARM(", \"step\": {\"dt\": 0.125}, \"actuators\": [{\"name\": \"line\", \"joint\": \"shoulder\", "
                "\"ctrl\": {\"table\": [[0.5, 1], [1.5, 3], [2.0625, -7]]}}, {\"name\": \"wave\", "
                "\"joint\": \"shoulder\", \"ctrl\": \"t^2 - 1\"}, {\"name\": \"free\", \"joint\": "
                "\"shoulder\", \"ctrl\": 0.5}]"),
            &scene))
        return;
    crWorld* world = NULL;
    crError error;
    CHECK_STATUS(cr_scene_world(&scene, &world, &error), CR_OK);
    const crState* state = cr_world_state(world);
    CHECK(state->ctrl[0] == 1.0 && state->ctrl[1] == -1.0 && state->ctrl[2] == 0.5);
    for (int i = 0; i < 20; i++) {
        double t = state->time + 0.0625;
        CHECK_STATUS(cr_world_step(world, &error), CR_OK);
        double line = t <= 0.5     ? 1.0
                      : t <= 1.5   ? 1.0 + 2.0 * (t - 0.5)
                      : t < 2.0625 ? 3.0 - 10.0 * (t - 1.5) / 0.5625
                                   : -7.0;
        CHECK_NEAR(state->ctrl[0], line, 1e-14);
        CHECK(state->ctrl[1] == t * t - 1.0 && state->ctrl[2] == 0.5);
        // a row whose time is the middle of a step is taken as it stands
        if (t == 2.0625) CHECK(state->ctrl[0] == -7.0);
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
    // the force is the control's: along a hinge of inertia 2 about its axis, omega' = t
    if (!good(
            "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01}, \"bodies\": [{\"name\": \"a\", "
            "\"joint\": \"hinge\", \"mass\": 1, \"inertia\": 2}], \"actuators\": [{\"name\": \"m\", "
            "\"joint\": "
            "\"a\", \"ctrl\": \"2*t\"}]}",
            &scene))
        return;
    CHECK_STATUS(cr_scene_world(&scene, &world, &error), CR_OK);
    CHECK_STATUS(cr_world_run(world, 1.0, &error), CR_OK);
    CHECK_NEAR(cr_world_state(world)->v[0], 0.5, 1e-12);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// a schedule that leaves the range ends the run by name, and the world stays at its last good state
TEST(controls_out_of_range) {
    crScene scene;
    if (!good(ACT(", \"joint\": \"shoulder\", \"ctrl\": \"10*t\", \"ctrl_range\": [-1, 1]"), &scene)) return;
    crWorld* world = NULL;
    crError error = {0};
    CHECK_STATUS(cr_scene_world(&scene, &world, &error), CR_OK);
    crStatus status = CR_OK;
    while (status == CR_OK && cr_world_state(world)->time < 1.0) {
        uint64_t hash = cr_world_hash(world);
        status = cr_world_step(world, &error);
        if (status != CR_OK) CHECK(cr_world_hash(world) == hash);
    }
    CHECK_STATUS(status, CR_ERR_RANGE);
    CHECK(strstr(error.message, "ctrl") != NULL);
    CHECK_NEAR(cr_world_state(world)->time, 0.1, scene.step.dt);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// a scene that starts at a keyframe goes on as the world whose state the keyframe is
TEST(starts) {
    crScene scene;
    if (!good(ARM(", \"keyframes\": [{\"name\": \"now\", \"time\": 0.75, \"q\": [0.5, 1, 0, 0, 0], \"v\": "
                  "[1, 2, 3, "
                  "4]}], \"start\": \"now\""),
              &scene))
        return;
    crWorld* world = NULL;
    crError error;
    CHECK(scene.time == 0.75);
    CHECK_STATUS(cr_scene_world(&scene, &world, &error), CR_OK);
    const crState* state = cr_world_state(world);
    CHECK(state->time == 0.75 && state->q[0] == 0.5 && state->v[3] == 4.0);
    CHECK_STATUS(cr_world_step(world, &error), CR_OK);
    CHECK_STATUS(cr_scene_reset(&scene, world, NULL, &error), CR_OK);
    CHECK(state->time == 0.75 && state->q[0] == 0.5 && state->v[3] == 4.0);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    REFUSED(ARM(", \"start\": \"nwo\", \"keyframes\": [{\"name\": \"now\"}]"), CR_ERR_NAME,
            "did you mean \"now\"?");
    REFUSED(ARM(", \"start\": 3"), CR_ERR_TYPE, "start");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"ctrl\": \"2*q\""), CR_ERR_NAME, "t pi sin");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"ctrl\": {\"table\": []}"), CR_ERR_SIZE, "row");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"ctrl\": {\"table\": [[0, 1], [0, 2]]}"), CR_ERR_RANGE, "after");
    REFUSED(ACT(", \"joint\": \"shoulder\", \"ctrl\": [1]"), CR_ERR_TYPE, "ctrl");
}
