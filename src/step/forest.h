// forest.h - sets of bodies that are joined one pair after another.
#ifndef CAROM_STEP_FOREST_H
#define CAROM_STEP_FOREST_H

#include "base/forest.h"
#include "model/spatial.h"

// The trees of two bodies, where v moves both.
static inline void cr__forest_join_trees(const crModel* model, int* parent, int a, int b) {
    int top_a = model->top[a], top_b = model->top[b];
    if (top_a >= 0 && top_b >= 0) cr__forest_join(parent, top_a, top_b);
}

#endif
