// trajectory.h - what a world does over time, written to a file while it runs: CSV or HDF5 by the file's
// extension.
//
// CSV: a header and one line per record, columns by joint:
//     free     x y z qw qx qy qz vx vy vz wx wy wz      planar   x y theta vx vy omega
//     ball     qw qx qy qz wx wy wz                     hinge, slider   q v
// each as NAME.column after t; then ctrl.NAME of each actuator, sensor.NAME of each sensor, sensor.NAME.0 and so on of
// one with several numbers. HDF5: the layout is in docs/run.md; chunks are flushed as they fill, each as a
// whole, so a killed run loses the last chunk at most. The file is there from the first record on.
#ifndef CAROM_IO_TRAJECTORY_H
#define CAROM_IO_TRAJECTORY_H

#include "carom/carom.h"

#ifdef __cplusplus
extern "C" {
#endif

// One record beyond the state itself.
typedef struct crRecord {
    crEnergy energy;
    double residual;     // worst since the last record
    double penetration;  // deepest overlap since the last record, m
    int contacts;        // most since the last record
} crRecord;

typedef struct crTrajectory crTrajectory;

// Records of the world as it is at each call; the world must outlive the trajectory. scene is a hash of all
// that its motion depends on, kept in HDF5 files: such a file is resumed only with the same number. 0 will do for a
// file that is never resumed. Fails: unknown-name (extension, or HDF5 in a carom built without), file, memory.
CR_API crStatus cr_trajectory_create(const char* path, crWorld* world, uint64_t scene,
                                     crTrajectory** trajectory, crError* error);

// Opens a recorded trajectory, puts the world where it ends and cuts off what was not finished, so that
// writing goes on from there. *exact: to the same bits as a run that never stopped (HDF5, by its last whole
// snapshot); CSV has no warm start and goes on from its last whole row. Fails: as create; wrong-size,
// unknown-name or out-of-range where the file is of another scene, syntax where it is damaged,
// missing-field, wrong-type, not-finite. The world may then be at a state of the file.
CR_API crStatus cr_trajectory_resume(const char* path, crWorld* world, uint64_t scene,
                                     crTrajectory** trajectory, bool* exact, crError* error);

// One record of the world's present state. Fails: file, memory.
CR_API crStatus cr_trajectory_write(crTrajectory* trajectory, const crRecord* record, crError* error);
// One event. CSV: left out. Fails: file, memory.
CR_API crStatus cr_trajectory_event(crTrajectory* trajectory, const crEvent* event, crError* error);
// The text of the scene, once; what draws the file needs its shapes. CSV: left out.
CR_API crStatus cr_trajectory_scene(crTrajectory* trajectory, const char* text, crError* error);
// Writes what is left and frees the trajectory, failed or not; accepts NULL. Fails: file.
CR_API crStatus cr_trajectory_close(crTrajectory* trajectory, crError* error);

// The columns of a body after its name, NULL after the last; which number of q (or v) each is.
typedef struct crColumn {
    const char* name;
    bool velocity;
    int index;
} crColumn;
CR_API const crColumn* cr_trajectory_columns(crJoint joint);

#ifdef __cplusplus
}
#endif

#endif
