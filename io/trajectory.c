// trajectory.c - trajectories: the choice of the format by the file's extension, and the columns of bodies.
//
// Fails: unknown-name for an extension that is no format's, memory, and what the format says.
#include "io/trajectory.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/argument.h"
#include "io/trajectory_parts.h"

struct crTrajectory {
    const crTrajectoryFormat* format;
    void* self;
};

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
    case CR_JOINT_PLANAR:
        return planar;
    case CR_JOINT_BALL:
        return ball;
    case CR_JOINT_FREE:
        return free;
    default:
        return cr_joint_info(joint) != NULL && cr_joint_info(joint)->nv == 1 ? one : none;
    }
}

static bool ends_with_trajectory(const char* path, const char* extension) {
    size_t length = strlen(path);
    size_t tail = strlen(extension);
    return length > tail && strcasecmp(path + length - tail, extension) == 0;
}

static crStatus begin_trajectory(const char* path, crWorld* world, uint64_t scene, bool resume,
                                 crTrajectory** trajectory, crError* error) {
    if (trajectory != NULL) *trajectory = NULL;
    if (path == NULL) return cr__io_missing(error, "path");
    if (world == NULL) return cr__io_missing(error, "world");
    if (trajectory == NULL) return cr__io_missing(error, "trajectory");
    bool csv = ends_with_trajectory(path, ".csv");
    const char* field = resume ? "resume" : "out";
    if (!csv && !ends_with_trajectory(path, ".h5") && !ends_with_trajectory(path, ".hdf5")) {
        return cr_error_set(error, CR_ERR_NAME, field, "%s: \"%.100s\" must end in .csv, .h5 or .hdf5", field,
                            path);
    }
    crTrajectory* made = malloc(sizeof *made);
    if (made == NULL) return cr_error_set(error, CR_ERR_MEMORY, field, "%s: out of memory", field);
    *made = (crTrajectory){.format = csv ? &cr__trajectory_csv : &cr__trajectory_hdf5};
    crStatus status =
        (resume ? made->format->resume : made->format->create)(path, world, scene, &made->self, error);
    if (status != CR_OK) {
        free(made);
        return status;
    }
    *trajectory = made;
    return CR_OK;
}

crStatus cr_trajectory_create(const char* path, crWorld* world, uint64_t scene, crTrajectory** trajectory,
                              crError* error) {
    return begin_trajectory(path, world, scene, false, trajectory, error);
}

crStatus cr_trajectory_resume(const char* path, crWorld* world, uint64_t scene, crTrajectory** trajectory,
                              bool* exact, crError* error) {
    if (trajectory != NULL) *trajectory = NULL;
    if (exact == NULL) return cr__io_missing(error, "exact");
    crStatus status = begin_trajectory(path, world, scene, true, trajectory, error);
    *exact = status == CR_OK && (*trajectory)->format->exact;
    return status;
}

crStatus cr_trajectory_write(crTrajectory* t, const crRecord* record, crError* error) {
    if (t == NULL) return cr__io_missing(error, "trajectory");
    if (record == NULL) return cr__io_missing(error, "record");
    return t->format->write(t->self, record, error);
}

crStatus cr_trajectory_event(crTrajectory* t, const crEvent* event, crError* error) {
    if (t == NULL) return cr__io_missing(error, "trajectory");
    if (event == NULL) return cr__io_missing(error, "event");
    return t->format->event(t->self, event, error);
}

crStatus cr_trajectory_scene(crTrajectory* t, const char* text, crError* error) {
    if (t == NULL) return cr__io_missing(error, "trajectory");
    if (text == NULL) return cr__io_missing(error, "text");
    return t->format->scene != NULL ? t->format->scene(t->self, text, error) : CR_OK;
}

crStatus cr_trajectory_close(crTrajectory* t, crError* error) {
    if (t == NULL) return CR_OK;
    crStatus status = t->format->close(t->self, error);
    free(t);
    return status;
}
