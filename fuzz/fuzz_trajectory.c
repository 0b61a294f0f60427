// fuzz_trajectory.c - any bytes as a CSV trajectory to go on with: refused by name, or a state that can be
// stepped and recorded, and gone on with again.
//
// With an odd first byte the right header is put before the rest, so that rows are reached.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/json.h"
#include "io/scene.h"
#include "io/trajectory.h"

static const char scene_text[] =
    "{\"carom\":1,\"bodies\":[{\"name\":\"a\",\"pos\":[0,0,1],\"shapes\":[{\"type\":\"sphere\",\"r\":0.1}]},"
    "{\"name\":\"h\",\"joint\":\"hinge\",\"mass\":1,\"inertia\":1}],\"static\":[{\"type\":\"halfspace\"}]}";
static const char header[] = "t,a.x,a.y,a.z,a.qw,a.qx,a.qy,a.qz,a.vx,a.vy,a.vz,a.wx,a.wy,a.wz,h.q,h.v\n";

static void demand(bool condition) {
    if (!condition) abort();
}

static crWorld* make_world(crScene* scene) {
    crJsonDoc doc;
    demand(cr_json_parse(scene_text, strlen(scene_text), 1, &doc, NULL) == CR_OK);
    demand(cr_scene_read(doc.root, scene, NULL) == CR_OK);
    cr_json_free(&doc);
    crWorldDef def = cr_world_def();
    def.model = scene->model;
    crWorld* world = NULL;
    demand(cr_world_create(&def, &world, NULL) == CR_OK);
    return world;
}

static void write_file(const char* path, const uint8_t* data, size_t size) {
    FILE* file = fopen(path, "wb");
    demand(file != NULL);
    if (size > 0 && data[0] % 2 == 1) fputs(header, file);
    if (size > 1) fwrite(data + 1, 1, size - 1, file);
    fclose(file);
}

static void check_world(crWorld* world, crTrajectory* trajectory) {
    const crModel* model = cr_world_model(world);
    const crState* state = cr_world_state(world);
    demand(isfinite(state->time));
    for (int i = 0; i < model->nq; i++) {
        demand(isfinite(state->q[i]));
    }
    for (int i = 0; i < model->nv; i++) {
        demand(isfinite(state->v[i]));
    }
    // absurd numbers may be refused by the step, never more
    (void)cr_world_step(world, NULL);
    crRecord record = {0};
    demand(cr_trajectory_write(trajectory, &record, NULL) == CR_OK);
    demand(cr_trajectory_close(trajectory, NULL) == CR_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/carom-fuzz-%ld.csv", (long)getpid());
    write_file(path, data, size);
    crScene scene;
    crWorld* world = make_world(&scene);
    crTrajectory* trajectory = NULL;
    crError error = {0};
    bool exact = true;
    if (cr_trajectory_resume(path, world, 0, &trajectory, &exact, &error) == CR_OK) {
        demand(!exact);
        check_world(world, trajectory);
        demand(cr_trajectory_resume(path, world, 0, &trajectory, &exact, NULL) == CR_OK);
        demand(cr_trajectory_close(trajectory, NULL) == CR_OK);
    } else {
        demand(error.status != CR_OK && error.message[0] != '\0');
    }
    cr_world_destroy(world);
    cr_scene_free(&scene);
    unlink(path);
    return 0;
}
