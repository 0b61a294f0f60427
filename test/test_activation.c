// test_activation.c - actuators with a state of their own, and limits of what all actuators of a joint give.
#include <stdlib.h>
#include <unistd.h>

#include "carom/dynamics.h"
#include "carom/robot.h"
#include "io/import.h"
#include "io/recording.h"
#include "io/trajectory.h"
#include "sample.h"
#include "scene_text.h"
#include "test.h"

#define STEP 0.01

static const char text[] =
    "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01, \"duration\": 1},"
    " \"bodies\": [{\"name\": \"a\", \"joint\": \"hinge\", \"mass\": 1, \"inertia\": [1, 1, 2]},"
    " {\"name\": \"b\", \"joint\": \"hinge\", \"mass\": 1, \"inertia\": [1, 1, 2]}],"
    " \"actuators\": [{\"name\": \"sum\", \"joint\": \"a\", \"activation\": \"integrator\", \"act_range\": "
    "[-1, 0.5], \"ctrl\": 2},"
    " {\"name\": \"plain\", \"joint\": \"b\", \"ctrl\": 0.25},"
    " {\"name\": \"slow\", \"joint\": \"b\", \"activation\": \"filter\", \"time_constant\": 0.2, \"act\": "
    "0.1, \"ctrl\": 1},"
    " {\"name\": \"exact\", \"joint\": \"b\", \"activation\": \"filter_exact\", \"time_constant\": 0.2, "
    "\"act\": -1, \"ctrl\": 1}]}";

// closed forms: a ramp that ends at its limit, a geometric series, an exponential; joints turn by their sums
TEST(activations_follow_their_controls) {
    crScene scene;
    crWorld* world = NULL;
    if (!good(text, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    const crState* s = cr_world_state(world);
    CHECK(scene.model->na == 3 && s->act[1] == 0.1 && s->act[2] == -1.0);
    double speed[2] = {0.0, 0.0};
    for (int n = 1; n <= 60; n++) {
        // what acts in a step is the activation at its beginning
        speed[0] += STEP * s->act[0] / 2.0;
        speed[1] += STEP * (0.25 + s->act[1] + s->act[2]) / 2.0;
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        CHECK_NEAR(s->act[0], fmin(0.5, 2.0 * STEP * n), 1e-14);
        CHECK_NEAR(s->act[1], 1.0 - 0.9 * pow(1.0 - STEP / 0.2, n), 1e-14);
        CHECK_NEAR(s->act[2], 1.0 - 2.0 * exp(-STEP * n / 0.2), 1e-13);
        CHECK_NEAR(s->v[0], speed[0], 1e-13);
        CHECK_NEAR(s->v[1], speed[1], 1e-13);
        // the work of actuators is what the energy gains
        const crCertificate* c = cr_world_certificate(world);
        CHECK_NEAR(c->energy.work, c->energy.change, 1e-12);
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

static crStatus failing(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                        double* force) {
    (void)model;
    (void)state;
    (void)d;
    (void)force;
    return *(const bool*)ctx ? CR_ERR_ARGUMENT : CR_OK;
}

// an early activation moves by the same law and acts a step sooner; a step that fails leaves it where it was
TEST(early_activations_act_in_the_step_that_moves_them) {
    crScene scene;
    static const char own[] =
        "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01, \"duration\": 1},"
        " \"bodies\": [{\"name\": \"a\", \"joint\": \"hinge\", \"mass\": 1, \"inertia\": [1, 1, 2]}],"
        " \"actuators\": [{\"name\": \"sum\", \"joint\": \"a\", \"activation\": \"integrator\", \"early\": "
        "true, \"ctrl\": 2}]}";
    if (!good(own, &scene)) return;
    bool fails = false;
    crWorldDef def = cr_world_def();
    def.model = scene.model;
    def.step = scene.step;
    def.force = failing;
    def.force_ctx = &fails;
    crWorld* world = NULL;
    CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
    const crState* s = cr_world_state(world);
    for (int n = 1; n <= 40; n++) {
        double act = s->act[0], v = s->v[0];
        fails = n % 10 == 0;
        if (fails) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_ERR_ARGUMENT);
            CHECK(s->act[0] == act && s->v[0] == v);
            fails = false;
        }
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        CHECK_NEAR(s->act[0], 2.0 * STEP * n, 1e-14);
        // v = h/I (w_1 + ... + w_n), w_k = 2 k h
        CHECK_NEAR(s->v[0], STEP / 2.0 * STEP * n * (n + 1), 1e-13);
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

// a snapshot in the middle, and a reset
TEST(activations_are_part_of_the_state) {
    crScene scene;
    crWorld *one = NULL, *other = NULL;
    unsigned char bytes[1024];
    if (!good(text, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &one, NULL), CR_OK);
    CHECK_STATUS(cr_scene_world(&scene, &other, NULL), CR_OK);
    uint64_t start = cr_world_hash(one);
    CHECK_STATUS(cr_world_run(one, 0.3, NULL), CR_OK);
    size_t size = cr_world_save_size(one);
    CHECK_STATUS(cr_world_save(one, bytes, size), CR_OK);
    CHECK_STATUS(cr_world_load(other, bytes, size, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(one, 0.6, NULL), CR_OK);
    CHECK_STATUS(cr_world_run(other, 0.6, NULL), CR_OK);
    CHECK(cr_world_hash(one) == cr_world_hash(other) && cr_world_hash(one) != start);
    CHECK_STATUS(cr_scene_reset(&scene, one, NULL, NULL), CR_OK);
    CHECK(cr_world_hash(one) == start);
    cr_world_state(one)->act[0] = NAN;
    crError error = {0};
    CHECK_STATUS(cr_world_step(one, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "act");
    cr_world_destroy(one);
    cr_world_destroy(other);
    cr_scene_free(&scene);
}

// columns of trajectories: written and read back
static void record(const char* path) {
    crScene scene;
    crWorld* world = NULL;
    crTrajectory* trajectory = NULL;
    crError error = {0};
    crRecording r = {0};
    if (!good(text, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    crStatus status = cr_trajectory_create(path, world, 1, &trajectory, &error);
    if (status == CR_OK) {
        for (int n = 0; n < 5; n++) {
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            CHECK_STATUS(cr_trajectory_write(trajectory, &(crRecord){0}, NULL), CR_OK);
        }
        CHECK_STATUS(cr_trajectory_close(trajectory, NULL), CR_OK);
        CHECK_STATUS(cr_recording_read(path, &r, &error), CR_OK);
        int found = 0;
        for (int c = 0; c < r.channel_count; c++) {
            if (strcmp(r.channels[c].name, "act.slow") != 0) continue;
            found++;
            CHECK_NEAR(r.channel[4 * r.channel_count + c], 1.0 - 0.9 * pow(0.95, 5), 1e-14);
        }
        CHECK(found == 1 && r.channel_count == 4 + 3);
        cr_recording_free(&r);
    }
    remove(path);
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

TEST(activations_are_recorded) {
    const char* folder = getenv("TMPDIR");
    char path[300];
    snprintf(path, sizeof path, "%.200s/carom-activation.csv", folder != NULL ? folder : "/tmp");
    record(path);
    snprintf(path, sizeof path, "%.200s/carom-activation.h5", folder != NULL ? folder : "/tmp");
    record(path);
}

// Two motors and a stiff servo along two joints, of which one may take 3 N m: alpha = limit/I there, all elsewhere.
TEST(joints_limit_what_their_actuators_give) {
    static const char limited[] =
        "{\"carom\": 1, \"gravity\": [0, 0, 0], \"step\": {\"dt\": 0.01, \"duration\": 1},"
        " \"bodies\": [{\"name\": \"a\", \"joint\": \"hinge\", \"mass\": 1, \"inertia\": [1, 1, 2], "
        "\"actuator_range\": [-3, 5]},"
        " {\"name\": \"b\", \"joint\": \"hinge\", \"parent\": \"a\", \"pos\": [0, 0, 1], \"mass\": 1, "
        "\"inertia\": [1, 1, 2]}],"
        " \"actuators\": [{\"name\": \"m\", \"joint\": \"a\", \"ctrl\": -4}, {\"name\": \"two\", \"joints\": "
        "[{\"joint\": \"a\"},"
        " {\"joint\": \"b\", \"gear\": 0.5}], \"ctrl\": -2}, {\"name\": \"servo\", \"type\": \"position\", "
        "\"kp\": 1e6, \"joint\": "
        "\"a\", \"ctrl\": -1}]}";
    crScene scene;
    crWorld* world = NULL;
    if (!good(limited, &scene)) return;
    CHECK_STATUS(cr_scene_world(&scene, &world, NULL), CR_OK);
    const crState* s = cr_world_state(world);
    for (int n = 1; n <= 10; n++) {
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        // about one axis: 4 v0' + 2 v1' = -3, 2 v0' + 2 v1' = -1
        CHECK_NEAR(s->v[0], -1.0 * STEP * n, 1e-12);
        CHECK_NEAR(s->v[1], 0.5 * STEP * n, 1e-12);
        const crCertificate* c = cr_world_certificate(world);
        CHECK_NEAR(c->energy.work, c->energy.change, 1e-12);
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
}

static void refused(const char* field_text, const char* where, crStatus status, const char* field) {
    char all[700];
    crScene scene;
    crError error;
    bool joint = strcmp(where, "joint") == 0;
    snprintf(all, sizeof all,
             "{\"carom\": 1, \"bodies\": [{\"name\": \"a\", \"joint\": \"hinge\", \"mass\": 1, \"inertia\": "
             "[1, 1, 1]%s%s}],"
             " \"actuators\": [{\"name\": \"m\", \"joint\": \"a\"%s%s}]}",
             joint ? ", " : "", joint ? field_text : "", joint ? "" : ", ", joint ? "" : field_text);
    crStatus got = read_text(all, &scene, &error);
    test_check(got == status && strcmp(error.field, field) == 0, __FILE__, __LINE__, "%s: %d, %s: %s",
               field_text, (int)got, error.field, error.message);
    if (got == CR_OK) cr_scene_free(&scene);
}

TEST(bad_activations_are_refused) {
    refused("\"activation\": \"muscle\"", "actuator", CR_ERR_NAME, "actuators[0].activation");
    refused("\"activation\": \"filter\"", "actuator", CR_ERR_MISSING, "actuators[0].time_constant");
    refused("\"activation\": \"filter\", \"time_constant\": 0", "actuator", CR_ERR_RANGE,
            "actuators[0].time_constant");
    refused("\"act\": 1", "actuator", CR_ERR_FIELD, "actuators[0].act");
    refused("\"early\": true", "actuator", CR_ERR_FIELD, "actuators[0].early");
    refused("\"activation\": \"integrator\", \"early\": 1", "actuator", CR_ERR_TYPE, "actuators[0].early");
    refused("\"activation\": \"integrator\", \"act\": 2, \"act_range\": [0, 1]", "actuator", CR_ERR_RANGE,
            "actuators[0].act");
    refused("\"actuator_range\": [1, 2]", "joint", CR_ERR_RANGE, "bodies[0].actuator_range");
    refused("\"actuator_range\": [1]", "joint", CR_ERR_SIZE, "bodies[0].actuator_range");
}

TEST(mjcf_activations) {
    crImport import;
    crError error = {0};
    crScene scene;
    static const char own[] =
        "<mujoco><worldbody><body><joint name='j' actuatorfrcrange='-2 2'/><geom "
        "size='.1'/></body></worldbody><actuator>"
        "<intvelocity name='i' joint='j' kp='5' actrange='-1 1'/><position name='p' joint='j' kp='2' "
        "timeconst='.1'/>"
        "<general name='g' joint='j' dyntype='filterexact' dynprm='.3' actearly='true'/></actuator></mujoco>";
    CHECK_STATUS(cr_import_text(own, strlen(own), "own.xml", NULL, &import, &error), CR_OK);
    CHECK(import.note_count == 0);
    CHECK_STATUS(cr_scene_read(import.scene.root, &scene, &error), CR_OK);
    const crActuator* a = scene.model->actuators;
    CHECK(scene.model->na == 3 && a[0].activation == CR_ACTIVATION_INTEGRATOR && a[0].act_upper == 1.0);
    CHECK(a[1].activation == CR_ACTIVATION_FILTER_EXACT && a[1].time_constant == 0.1);
    CHECK(a[2].activation == CR_ACTIVATION_FILTER_EXACT && a[2].time_constant == 0.3);
    CHECK(a[2].early && !a[1].early && !a[0].early);
    CHECK(cr_model_dof(scene.model, 0)->force_lower == -2.0 &&
          cr_model_dof(scene.model, 0)->force_upper == 2.0);
    cr_scene_free(&scene);
    cr_import_free(&import);
}

#ifdef CAROM_TEST_MUJOCO
#include "mujoco_pair.h"

static const char* const mjcf =
    "<mujoco><compiler autolimits='true'/><option timestep='.01'><flag "
    "contact='disable'/></option><worldbody><body>"
    "<joint name='hip' axis='0 1 0' ref='20'/><geom size='.1' pos='.2 0 .1'/><body pos='.4 0 0'><joint "
    "name='knee' "
    "axis='0 1 0'/><geom size='.1' pos='.3 0 0'/></body></body></worldbody><actuator>"
    "<motor name='plain' joint='hip'/><cylinder name='oil' joint='hip' timeconst='.3' area='2' bias='.1 -.2 "
    "-.3'/>"
    "<general name='sum' joint='knee' dyntype='integrator' gainprm='3' actrange='-.2 .3' actlimited='true'/>"
    "<general name='slow' joint='knee' gear='2' dyntype='filter' dynprm='.05' gainprm='4' biastype='affine' "
    "biasprm='.5 -4 -.1'/></actuator><sensor><actuatorfrc name='f0' actuator='plain'/><actuatorfrc name='f1' "
    "actuator='oil'/><actuatorfrc name='f2' actuator='sum'/><actuatorfrc name='f3' "
    "actuator='slow'/></sensor></mujoco>";

// activations step by step, and forces at random states, against libmujoco
TEST(activations_as_libmujoco_has_them) {
    char path[] = "/tmp/carom-activation-XXXXXX", why[300] = "";
    int file = mkstemp(path);
    FILE* out = file >= 0 ? fdopen(file, "w") : NULL;
    if (!CHECK(out != NULL)) return;
    fputs(mjcf, out);
    fclose(out);
    MujocoPair t;
    bool loaded = mujoco_pair_load(path, (MujocoKeep){.sensors = true}, &t, why, sizeof why);
    remove(path);
    if (!test_check(loaded, __FILE__, __LINE__, "%s", why)) return;
    crWorld* world = NULL;
    CHECK_STATUS(cr_scene_world(&t.scene, &world, NULL), CR_OK);
    crState* s = cr_world_state(world);
    crRandom random = sample_seed(1);
    double ours[4];
    for (int n = 0; n < 200; n++) {
        for (int i = 0; i < 4; i++) {
            t.d->ctrl[i] = sample_uniform(&random, -1.0, 1.0);
        }
        mujoco_pair_state(&t, t.d, s);
        mj_forward(t.m, t.d);
        CHECK_STATUS(cr_world_sense(world, ours, NULL), CR_OK);
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(ours[i], t.d->sensordata[i], 1e-9);
        }
        mj_step(t.m, t.d);
        CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
        for (int i = 1; i < 4; i++) {
            CHECK_NEAR(s->act[t.scene.model->actuators[t.actuator[i]].act_place], t.d->act[i - 1], 1e-12);
        }
    }
    cr_world_destroy(world);
    mujoco_pair_free(&t);
}
#endif
