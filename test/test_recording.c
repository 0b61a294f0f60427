// Trajectories read back: what was written comes back bit for bit, and what is no trajectory is refused by
// name. What drawing asks of shapes is what they were made of.
#include "carom/dynamics.h"
#include "carom/robot.h"
#include "io/recording.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/trajectory.h"
#include "sample.h"
#include "test.h"

#define ROWS 600

static char folder[64];

static const char* in_folder(const char* name) {
    static char path[160];
    if (folder[0] == '\0') {
        snprintf(folder, sizeof folder, "/tmp/carom-recording-XXXXXX");
        CHECK(mkdtemp(folder) != NULL);
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static crModel* sample_model(void) {
    static const crJoint joints[] = {CR_JOINT_FREE, CR_JOINT_PLANAR, CR_JOINT_HINGE, CR_JOINT_BALL,
                                     CR_JOINT_FIXED};
    static const char* const names[] = {"free", "planar", "hinge", "ball", "fixed"};
    crModel* model = cr_model_create(NULL);
    for (int i = 0; i < 5; i++) {
        crBodyDef def = cr_body_def();
        def.name = names[i];
        def.joint = joints[i];
        def.mass = 1.0;
        def.inertia = (crSym3){1.0, 0.0, 0.0, 1.0, 0.0, 1.0};
        cr_model_add_body(model, &def);
    }
    CHECK_STATUS(cr_model_check(model, NULL), CR_OK);
    return model;
}

// random numbers in every column; returns them in q and v
static crStatus write_sample(const char* path, const crModel* model, double* q, double* v) {
    crRandom random = sample_seed(7);
    crTrajectory* trajectory = NULL;
    crError error = {0};
    crWorld* world = NULL;
    crWorldDef def = cr_world_def();
    def.model = model;
    CHECK_STATUS(cr_world_create(&def, &world, &error), CR_OK);
    crStatus status = cr_trajectory_create(path, world, 0, &trajectory, &error);
    if (status != CR_OK) {
        cr_world_destroy(world);
        return status;
    }
    CHECK_STATUS(cr_trajectory_scene(trajectory, "{\"carom\": 1}", &error), CR_OK);
    for (int k = 0; k < ROWS; k++) {
        crState* state = cr_world_state(world);
        state->time = 0.1 * k;
        for (int i = 0; i < model->nq; i++) {
            state->q[i] = q[k * model->nq + i] = sample_uniform(&random, -1.0, 1.0);
        }
        for (int i = 0; i < model->nv; i++) {
            state->v[i] = v[k * model->nv + i] = sample_log(&random, 1e-12, 1e12);
        }
        crRecord record = {{1.0 * k, 2.0 * k}, 1e-9 * k, 1e-8 * k, k};
        CHECK_STATUS(cr_trajectory_write(trajectory, &record, &error), CR_OK);
    }
    crEvent event = {.time = 1.5,
                     .shape_a = 0,
                     .shape_b = 1,
                     .body_a = 1,
                     .body_b = 2,
                     .point = {1, 2, 3},
                     .normal = {0, 0, 1},
                     .approach = 4.0,
                     .impulse = {5, 6, 7},
                     .energy_change = -8.0};
    CHECK_STATUS(cr_trajectory_event(trajectory, &event, &error), CR_OK);
    status = cr_trajectory_close(trajectory, &error);
    cr_world_destroy(world);
    return status;
}

static void check_round_trip(const char* name, bool hdf5) {
    crModel* model = sample_model();
    double* q = calloc(ROWS * (size_t)model->nq, sizeof *q);
    double* v = calloc(ROWS * (size_t)model->nv, sizeof *v);
    crStatus status = write_sample(in_folder(name), model, q, v);
    if (hdf5 && status == CR_ERR_NAME) {
        test_skip("built without HDF5");
    } else {
        CHECK_STATUS(status, CR_OK);
        crRecording r;
        crError error = {0};
        CHECK_STATUS(cr_recording_read(in_folder(name), &r, &error), CR_OK);
        CHECK(r.count == ROWS && r.nq == model->nq && r.nv == model->nv);
        CHECK(memcmp(r.q, q, ROWS * (size_t)model->nq * sizeof *q) == 0);
        CHECK(memcmp(r.v, v, ROWS * (size_t)model->nv * sizeof *v) == 0);
        CHECK_TEXT(r.bodies[1].name, "planar");
        CHECK(r.bodies[1].joint == CR_JOINT_PLANAR && r.bodies[1].q == 7 && r.bodies[1].v == 6);
        CHECK(r.has_events == hdf5 && (r.energy != NULL) == hdf5 && (r.certificate != NULL) == hdf5);
        if (hdf5 && r.energy != NULL && r.event_count == 1) {
            CHECK_TEXT(r.scene, "{\"carom\": 1}");
            CHECK(r.energy[2 * 9 + 1] == 18.0 && r.certificate[3 * 9 + 2] == 9.0);
            CHECK(r.events[0].time == 1.5 && r.events[0].body_b == 2 && r.events[0].impulse.z == 7.0);
        }
        CHECK((size_t)r.event_count == (hdf5 ? 1 : 0));
        cr_recording_free(&r);
        CHECK(r.q == NULL && r.count == 0);
    }
    free(q);
    free(v);
    cr_model_destroy(model);
}

TEST(csv_comes_back) { check_round_trip("t.csv", false); }
TEST(hdf5_comes_back) { check_round_trip("t.h5", true); }

static void check_text(const char* text, crStatus expected, const char* field, int line, int column) {
    const char* path = in_folder("bad.csv");
    FILE* file = fopen(path, "w");
    CHECK(file != NULL);
    if (file == NULL) return;
    fputs(text, file);
    fclose(file);
    crRecording r;
    crError error = {0};
    CHECK_STATUS(cr_recording_read(path, &r, &error), expected);
    CHECK_TEXT(error.field, field);
    test_check(error.line == line && error.column == column, __FILE__, __LINE__, "%s: %d:%d, expected %d:%d",
               text, error.line, error.column, line, column);
    CHECK(r.q == NULL && r.bodies == NULL && r.count == 0);
    // without an error to fill
    CHECK_STATUS(cr_recording_read(path, &r, NULL), expected);
}

TEST(refused_tables) {
    check_text("", CR_ERR_SYNTAX, "header", 1, 1);
    check_text("t,a.q,a.v", CR_ERR_SYNTAX, "header", 1, 1);  // the header was cut off
    check_text("x,a.q,a.v\n", CR_ERR_SYNTAX, "header", 1, 1);
    check_text("t;a.q\n", CR_ERR_SYNTAX, "header", 1, 1);
    check_text("t,a.q\n", CR_ERR_NAME, "header", 1, 2);
    check_text("t,.q,.v\n", CR_ERR_SYNTAX, "header", 1, 2);
    check_text("t,a.q,a.v\n", CR_ERR_MISSING, "time", 0, 0);
    check_text("t,a.q,a.v\n0,1\n", CR_ERR_SIZE, "row", 2, 4);
    check_text("t,a.q,a.v\n0,1,2,3\n", CR_ERR_SIZE, "row", 2, 6);
    check_text("t,a.q,a.v\n0,1,nan\n", CR_ERR_SYNTAX, "cell", 2, 5);
    check_text("t,a.q,a.v\n0,,2\n", CR_ERR_SYNTAX, "cell", 2, 3);
    check_text("t,a.q,a.v\n0,1e999,2\n", CR_ERR_FINITE, "cell", 2, 3);
    check_text("t,a.q,a.v\n1,1,2\n1,1,2\n", CR_ERR_RANGE, "t", 3, 2);
}

TEST(refused_files) {
    crRecording r;
    crError error = {0};
    CHECK_STATUS(cr_recording_read("x.txt", &r, &error), CR_ERR_NAME);
    CHECK_STATUS(cr_recording_read(in_folder("none.csv"), &r, &error), CR_ERR_FILE);
    // a hole in a file makes it long without taking room
    const char* path = in_folder("long.csv");
    FILE* file = fopen(path, "w");
    CHECK(file != NULL && ftruncate(fileno(file), (off_t)CR_RECORDING_MAX_SIZE + 1) == 0);
    if (file != NULL) fclose(file);
    CHECK_STATUS(cr_recording_read(path, &r, &error), CR_ERR_LIMIT);
    unlink(path);
}

TEST(line_ends_and_cut_lines) {
    const char* path = in_folder("dos.csv");
    FILE* file = fopen(path, "w");
    CHECK(file != NULL);
    if (file == NULL) return;
    fputs("t,a.q,a.v\r\n0,1,2\r\n1,3,4\r\n2,5", file);
    fclose(file);
    crRecording r;
    crError error = {0};
    CHECK_STATUS(cr_recording_read(path, &r, &error), CR_OK);
    CHECK(r.count == 2 && r.q[1] == 3.0 && r.v[1] == 4.0);
    cr_recording_free(&r);
}

// What drawing asks of shapes is what they were made of.
TEST(geometry_comes_back) {
    static const crVec3 corners[] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int sizes[] = {3, 3, 3, 3};
    static const int loops[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    crHullDef hull_def = {4, corners, 4, sizes, loops};
    crHull* hull = NULL;
    CHECK_STATUS(cr_hull_create(&hull_def, NULL, &hull, NULL), CR_OK);
    int count = 0;
    for (int i = 0; i < 4; i++) {
        const int* loop = cr_hull_face(hull, i, &count);
        CHECK(count == 3 && loop != NULL && memcmp(loop, loops + 3 * i, sizeof(int[3])) == 0);
    }
    CHECK(cr_hull_face(hull, 4, &count) == NULL && count == 0);
    CHECK(cr_hull_face(hull, -1, &count) == NULL);

    crMeshDef mesh_def = {4, corners, 4, (const int(*)[3])loops};
    crMesh* mesh = NULL;
    CHECK_STATUS(cr_mesh_create(&mesh_def, NULL, &mesh, NULL), CR_OK);
    crMeshDef mesh_back = cr_mesh_def(mesh);
    CHECK(mesh_back.vertex_count == 4 && mesh_back.triangle_count == 4);
    CHECK(memcmp(mesh_back.vertices, corners, sizeof corners) == 0);
    CHECK(memcmp(mesh_back.triangles, loops, sizeof loops) == 0);

    static const double z[] = {0, 1, 2, 3, 4, 5};
    crHeightFieldDef field_def = {3, 2, 0.5, 0.25, z};
    crHeightField* field = NULL;
    CHECK_STATUS(cr_heightfield_create(&field_def, NULL, &field, NULL), CR_OK);
    crHeightFieldDef field_back = cr_heightfield_def(field);
    CHECK(field_back.nx == 3 && field_back.ny == 2 && field_back.dx == 0.5 && field_back.dy == 0.25);
    CHECK(memcmp(field_back.z, z, sizeof z) == 0);

    crShape children[2] = {cr_shape_sphere(1.0), cr_shape_box(1.0, 2.0, 3.0)};
    crCompound* compound = NULL;
    CHECK_STATUS(cr_compound_create(children, 2, NULL, &compound, NULL), CR_OK);
    const crShape* back = cr_compound_children(compound, &count);
    CHECK(count == 2 && back[1].kind == CR_SHAPE_BOX && back[1].size.y == 2.0);

    cr_compound_destroy(compound);
    cr_heightfield_destroy(field);
    cr_mesh_destroy(mesh);
    cr_hull_destroy(hull);
}

// controls and sensors come back by name, from both formats, and writing them changes nothing
TEST(controls_and_sensors) {
    crModel* model = cr_model_create(NULL);
    crBodyDef arm = cr_body_def();
    arm.name = "ctrl";
    arm.joint = CR_JOINT_HINGE;
    arm.axis = cr_vec3(0, 1, 0);
    arm.mass = 1.0;
    arm.com = cr_vec3(0, 0, -0.5);
    cr_model_add_body(model, &arm);
    crActuator servo = cr_actuator_position(0, 50.0, 3.0);
    servo.name = "servo";
    cr_model_add_actuator(model, &servo);
    crSite tip = {.name = "tip", .body = 1, .volume = cr_shape_sphere(0.1)};
    tip.volume.pose.p = cr_vec3(0, 0, -1);
    cr_model_add_site(model, &tip);
    crSensor sensors[] = {
        {.name = "angle", .kind = CR_SENSOR_JOINT_POSITION, .object = 1},
        {.name = "imu", .kind = CR_SENSOR_ACCELEROMETER, .object = 0, .noise = 0.1, .seed = 4}};
    cr_model_add_sensor(model, &sensors[0]);
    cr_model_add_sensor(model, &sensors[1]);
    static const char* const names[] = {"ctrl.servo", "sensor.angle", "sensor.imu.0", "sensor.imu.1",
                                        "sensor.imu.2"};
    static const char* const files[] = {"control.csv", "control.h5"};
    uint64_t hash[3] = {0};
    for (int f = 0; f < 3; f++) {
        crWorld* world = NULL;
        crTrajectory* file = NULL;
        crWorldDef def = cr_world_def();
        def.model = model;
        CHECK_STATUS(cr_world_create(&def, &world, NULL), CR_OK);
        crStatus status = f < 2 ? cr_trajectory_create(in_folder(files[f]), world, 0, &file, NULL) : CR_OK;
        if (status == CR_ERR_NAME) {
            printf("  %s skipped, built without HDF5\n", files[f]);
            cr_world_destroy(world);
            continue;
        }
        CHECK_STATUS(status, CR_OK);
        double expected[20][5];
        for (int k = 0; k < 20; k++) {
            cr_world_state(world)->ctrl[0] = 0.1 * k;
            CHECK_STATUS(cr_world_step(world, NULL), CR_OK);
            expected[k][0] = cr_world_state(world)->ctrl[0];
            if (f == 2) continue;
            CHECK_STATUS(cr_world_sense(world, expected[k] + 1, NULL), CR_OK);
            CHECK_STATUS(cr_trajectory_write(file, &(crRecord){0}, NULL), CR_OK);
        }
        hash[f] = cr_world_hash(world);
        CHECK_STATUS(cr_trajectory_close(file, NULL), CR_OK);
        cr_world_destroy(world);
        if (f == 2) continue;
        crRecording r;
        CHECK_STATUS(cr_recording_read(in_folder(files[f]), &r, NULL), CR_OK);
        CHECK(r.count == 20 && r.channel_count == 5 && r.nq == 1 && r.body_count == 1);
        for (int c = 0; c < 5 && r.channel_count == 5; c++) {
            CHECK_TEXT(r.channels[c].name, names[c]);
            for (int k = 0; k < 20; k++) {
                CHECK(r.channel[5 * k + c] == expected[k][c]);
            }
        }
        cr_recording_free(&r);
        CHECK(remove(in_folder(files[f])) == 0);
    }
    CHECK(hash[0] == hash[2] && (hash[1] == hash[2] || hash[1] == 0));
    cr_model_destroy(model);
}
