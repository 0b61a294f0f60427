// trajectory.c - trajectories as CSV, and the choice of the format.
//
// Every number is written with the fewest digits that read back as the same double, in any locale. Fails:
// unknown-name for an extension that is neither, file where it cannot be written.
#include "io/trajectory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/json.h"
#include "io/trajectory_parts.h"

struct crTrajectory {
    crTrajectoryFormat format;
    void* self;
};

typedef struct Csv {
    FILE* file;
    const crModel* model;
} Csv;

const crColumn* cr_trajectory_columns(crJoint joint) {
    static const crColumn none[] = {{NULL, false, 0}};
    static const crColumn one[] = {{"q", false, 0}, {"v", true, 0}, {NULL, false, 0}};
    static const crColumn planar[] = {{"x", false, 0}, {"y", false, 1}, {"theta", false, 2},
                                      {"vx", true, 0}, {"vy", true, 1}, {"omega", true, 2},
                                      {NULL, false, 0}};
    static const crColumn ball[] = {{"qw", false, 0}, {"qx", false, 1}, {"qy", false, 2}, {"qz", false, 3},
                                    {"wx", true, 0},  {"wy", true, 1},  {"wz", true, 2},  {NULL, false, 0}};
    static const crColumn free[] = {{"x", false, 0},  {"y", false, 1},  {"z", false, 2},  {"qw", false, 3},
                                    {"qx", false, 4}, {"qy", false, 5}, {"qz", false, 6}, {"vx", true, 0},
                                    {"vy", true, 1},  {"vz", true, 2},  {"wx", true, 3},  {"wy", true, 4},
                                    {"wz", true, 5},  {NULL, false, 0}};
    switch (joint) {
    case CR_JOINT_HINGE:
    case CR_JOINT_SLIDER:
        return one;
    case CR_JOINT_PLANAR:
        return planar;
    case CR_JOINT_BALL:
        return ball;
    case CR_JOINT_FREE:
        return free;
    default:
        return none;
    }
}

static crStatus check_file(const Csv* csv, crError* error) {
    if (!ferror(csv->file)) return CR_OK;
    return cr_error_set(error, CR_ERR_FILE, "out", "out: cannot be written: %s", strerror(errno));
}

static crStatus csv_write(void* self, const crState* state, const crRecord* record, crError* error) {
    (void)record;
    Csv* csv = self;
    cr_json_write_number(csv->file, state->time);
    for (int i = 1; i < csv->model->nb; i++) {
        const crBody* body = &csv->model->bodies[i];
        for (const crColumn* c = cr_trajectory_columns(body->joint); c->name != NULL; c++) {
            putc(',', csv->file);
            cr_json_write_number(csv->file,
                                 c->velocity ? state->v[body->v + c->index] : state->q[body->q + c->index]);
        }
    }
    putc('\n', csv->file);
    return check_file(csv, error);
}

static crStatus csv_event(void* self, const crEvent* event, crError* error) {
    (void)self;
    (void)event;
    (void)error;
    return CR_OK;
}

static crStatus csv_close(void* self, crError* error) {
    Csv* csv = self;
    bool bad = ferror(csv->file) != 0;
    bad = fclose(csv->file) != 0 || bad;
    free(csv);
    return bad ? cr_error_set(error, CR_ERR_FILE, "out", "out: cannot be written: %s", strerror(errno))
               : CR_OK;
}

static crStatus csv_create(const char* path, const crModel* model, void** self, crError* error) {
    Csv* csv = malloc(sizeof *csv);
    if (csv == NULL) return cr_error_set(error, CR_ERR_MEMORY, "out", "out: out of memory");
    *csv = (Csv){fopen(path, "w"), model};
    if (csv->file == NULL) {
        free(csv);
        return cr_error_set(error, CR_ERR_FILE, "out", "out: %.120s: %s", path, strerror(errno));
    }
    putc('t', csv->file);
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        for (const crColumn* c = cr_trajectory_columns(body->joint); c->name != NULL; c++) {
            fprintf(csv->file, ",%s.%s", body->name, c->name);
        }
    }
    putc('\n', csv->file);
    *self = csv;
    return check_file(csv, error);
}

static bool ends_with(const char* path, const char* extension) {
    size_t length = strlen(path);
    size_t tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

crStatus cr_trajectory_create(const char* path, const crModel* model, crTrajectory** trajectory,
                              crError* error) {
    *trajectory = NULL;
    bool csv = ends_with(path, ".csv");
    if (!csv && !ends_with(path, ".h5") && !ends_with(path, ".hdf5")) {
        return cr_error_set(error, CR_ERR_NAME, "out", "out: \"%.100s\" must end in .csv, .h5 or .hdf5",
                            path);
    }
    crTrajectory* made = malloc(sizeof *made);
    if (made == NULL) return cr_error_set(error, CR_ERR_MEMORY, "out", "out: out of memory");
    *made = (crTrajectory){.format = {csv_write, csv_event, NULL, csv_close}};
    crStatus status = csv ? csv_create(path, model, &made->self, error)
                          : cr__trajectory_hdf5(path, model, &made->self, &made->format, error);
    if (status != CR_OK) {
        free(made);
        return status;
    }
    *trajectory = made;
    return CR_OK;
}

crStatus cr_trajectory_write(crTrajectory* t, const crState* state, const crRecord* record, crError* error) {
    return t->format.write(t->self, state, record, error);
}

crStatus cr_trajectory_event(crTrajectory* t, const crEvent* event, crError* error) {
    return t->format.event(t->self, event, error);
}

crStatus cr_trajectory_scene(crTrajectory* t, const char* text, crError* error) {
    return t->format.scene != NULL ? t->format.scene(t->self, text, error) : CR_OK;
}

crStatus cr_trajectory_close(crTrajectory* t, crError* error) {
    if (t == NULL) return CR_OK;
    crStatus status = t->format.close(t->self, error);
    free(t);
    return status;
}
