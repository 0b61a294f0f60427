// trajectory_parts.h - what a format of trajectories provides.
#ifndef CAROM_IO_TRAJECTORY_PARTS_H
#define CAROM_IO_TRAJECTORY_PARTS_H

#include "io/trajectory.h"

// Each format allocates itself; close frees it.
typedef struct crTrajectoryFormat {
    crStatus (*write)(void* self, const crState* state, const crRecord* record, crError* error);
    crStatus (*event)(void* self, const crEvent* event, crError* error);
    crStatus (*scene)(void* self, const char* text, crError* error);  // NULL: left out
    crStatus (*close)(void* self, crError* error);
} crTrajectoryFormat;

crStatus cr__trajectory_hdf5(const char* path, const crModel* model, void** self, crTrajectoryFormat* format,
                             crError* error);

#endif
