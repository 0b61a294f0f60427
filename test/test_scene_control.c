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
