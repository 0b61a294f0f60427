// trajectory_parts.h - what a format of trajectories provides.
#ifndef CAROM_IO_TRAJECTORY_PARTS_H
#define CAROM_IO_TRAJECTORY_PARTS_H

#include "io/trajectory.h"

// Each format allocates itself; close frees it.
typedef struct crTrajectoryFormat {
    crStatus (*create)(const char* path, crWorld* world, uint64_t scene, void** self, crError* error);
    crStatus (*resume)(const char* path, crWorld* world, uint64_t scene, void** self, crError* error);
    crStatus (*write)(void* self, const crRecord* record, crError* error);
    crStatus (*event)(void* self, const crEvent* event, crError* error);
    crStatus (*scene)(void* self, const char* text, crError* error);  // NULL: left out
    crStatus (*close)(void* self, crError* error);
    bool exact;  // resuming continues to the same bits
} crTrajectoryFormat;

extern const crTrajectoryFormat cr__trajectory_csv;
extern const crTrajectoryFormat cr__trajectory_hdf5;

#endif
