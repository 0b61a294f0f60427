// motion_parts.h - parameters in the tree of a scene; what fits and predictions share.
#ifndef CAROM_FIT_MOTION_PARTS_H
#define CAROM_FIT_MOTION_PARTS_H

#include "fit/motion.h"
#include "fit/worlds.h"

// Calls visit with every path that a parameter stands for in the tree, until it fails. Fails: missing-field
// where a constant of materials has none to be of.
typedef crStatus (*crMotionVisit)(void* ctx, const char* path, crError* error);
crStatus cr__motion_paths(const crJson* root, const crMotionParam* param, crMotionVisit visit, void* ctx,
                          crError* error);

// The tree of the model's scene with values set (param_count), to free.
crStatus cr__motion_tree(const crMotionModel* model, const double* values, crJsonDoc* doc, crError* error);

// The scene of it; the middle of every range where values are NULL. To free.
crStatus cr__motion_scene(const crMotionModel* model, const double* values, crScene* scene, crError* error);

// q and v of the measured body as a sample has them. CR_ERR_MEMORY.
crStatus cr__motion_start(const crModel* scene_model, const crMotionModel* model, const crTossSample* sample,
                          crState* state);

// The batch that tosses of a model go through.
typedef struct crMotionWorlds {
    crScene nominal;
    crWorlds worlds;
} crMotionWorlds;
// tosses: as many as are simulated at a time.
crStatus cr__motion_worlds(crMotionWorlds* worlds, const crMotionModel* model, const crWorldsDevice* device,
                           int threads, int tosses, crError* error);
void cr__motion_worlds_destroy(crMotionWorlds* worlds);

// One toss with one set of values; tosses that share values have the same pointer and stand side by side.
typedef struct crMotionJob {
    const double* values;
    int toss;
    crMotionRun* run;  // to fill
    crPose* poses;     // as in cr_motion_simulate
} crMotionJob;
// Jobs (count), at most the room of worlds. failed: the first that did.
crStatus cr__motion_simulate(const crMotionModel* model, crWorlds* worlds, const crMotionJob* jobs, int count,
                             int* failed, crError* error);

char* cr__motion_text(const crJson* root);  // of a tree, to free; NULL where memory is out

void cr__motion_mean(const double* values, int count, double* mean, double* se);

#endif
