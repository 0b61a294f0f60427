// motion_parts.h - parameters in the tree of a scene; what fits and predictions share.
#ifndef CAROM_FIT_MOTION_PARTS_H
#define CAROM_FIT_MOTION_PARTS_H

#include "fit/motion.h"

// Calls visit with every path that a parameter stands for in the tree, until it fails. Fails: missing-field
// where a constant of materials has none to be of.
typedef crStatus (*crMotionVisit)(void* ctx, const char* path, crError* error);
crStatus cr__motion_paths(const crJson* root, const crMotionParam* param, crMotionVisit visit, void* ctx,
                          crError* error);

// The tree of the model's scene with values set (param_count), to free.
crStatus cr__motion_tree(const crMotionModel* model, const double* values, crJsonDoc* doc, crError* error);

char* cr__motion_text(const crJson* root);  // of a tree, to free; NULL where memory is out

void cr__motion_mean(const double* values, int count, double* mean, double* se);

#endif
