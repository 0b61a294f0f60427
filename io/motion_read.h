// motion_read.h - the motion of a model's bodies, read from a file of anyone: CSV by the names of its columns, or HDF5 as
// carom writes it.
//
// CSV: a header, then one line per record. Time is the column t or time. A body NAME has either the columns of its
// joint as in trajectory.h, or its pose and velocity: NAME.x y z qw qx qy qz, and vx vy vz (centre of mass) wx wy wz
// (world axes). Columns may stand in any order, and others beside them are left alone.
#ifndef CAROM_IO_MOTION_READ_H
#define CAROM_IO_MOTION_READ_H

#include "io/recording.h"

typedef struct crMotionFile {
    crMotionData data;  // its arrays are below
    char missing[96];   // the first column of velocities that is missing, where they are not used; else ""
    double *time, *q, *v;
    crPose* pose;
    crVec3 *velocity, *omega;
} crMotionFile;

// exact: numbers are what they say, not rounded to the digits that stand there. Fails: file, syntax, unknown-name
// (a column of no body, with the nearest name), missing-field, wrong-size, not-finite, out-of-range (time), limit,
// memory; with line and column where there are. On failure nothing needs to be freed.
crStatus cr_motion_read(const char* path, const crModel* model, bool exact, crMotionFile* out,
                        crError* error);
// The same from a recording; every body must be in it with its joint.
crStatus cr_motion_of_recording(const crRecording* recording, const crModel* model, crMotionFile* out,
                                crError* error);
void cr_motion_file_free(crMotionFile* file);  // accepts a zeroed struct

#endif
