// worlds.h - scenes of one structure through one batch: on threads, or on a GPU.
#ifndef CAROM_FIT_WORLDS_H
#define CAROM_FIT_WORLDS_H

#include "carom/batch.h"
#include "io/scene.h"

// Where worlds are stepped.
typedef struct crWorldsDevice {
    crBackend backend;    // serial and threads are the same here
    const char* program;  // gpu: text of the device program
    int number;           // gpu: which one
} crWorldsDevice;

typedef struct crWorlds {
    const crScene* nominal;  // structure and settings of the scenes; must outlive this
    crWorldsDevice device;
    int threads;     // 1 to 256; 0 is 1
    int room;        // scenes at a time
    int hits;        // as in crBatchDef
    crBatch* batch;  // NULL: not yet made
} crWorlds;

// Scenes at a time that keep a device busy, of so many.
int cr__worlds_room(const crWorldsDevice* device, int threads, int scenes);
// True if a path of a scene file is of settings of the step: scenes that differ there do not share a batch.
bool cr__worlds_setting(const char* path);
void cr__worlds_destroy(crWorlds* worlds);  // accepts a zeroed struct

// A scene that was run.
typedef struct crWorldsEnd {
    crBatch* batch;
    int world;            // its number there
    double time;          // s
    const double *q, *v;  // (nq), (nv)
    crBatchResult result;
    crError why;  // what its last step failed with, where it did
} crWorldsEnd;

// What is to be run: each scene from its time, q and v along its path.
typedef struct crWorldsRun {
    const crScene* scenes;  // (count)
    const int*
        group;  // 0: settings of the nominal scene; others: settings of their own, equal in a group (count)
    int count;  // at most room
    crBatchPath path;                                                                // (count)
    crStatus (*take)(void* ctx, int index, const crWorldsEnd* end, crError* error);  // every scene in order
    void* ctx;
} crWorldsRun;

// Fails: as batches do; out-of-range where a GPU is asked for and a scene has settings or a structure of its own; as take.
// failed: the scene that it failed at.
crStatus cr__worlds_run(crWorlds* worlds, const crWorldsRun* run, int* failed, crError* error);

#endif
