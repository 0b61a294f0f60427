// forest.h - sets of bodies that are joined one pair after another.
#ifndef CAROM_STEP_FOREST_H
#define CAROM_STEP_FOREST_H

#include "base/forest.h"
#include "model/spatial.h"

// The trees of two bodies, where v moves both.
static inline void cr__forest_join_trees(const crModel* model, int* parent, int a, int b) {
    if (!cr__moves(model, a) || !cr__moves(model, b)) return;
    cr__forest_join(parent, model->bodies[a].root, model->bodies[b].root);
}

#endif
