// forest.h - sets of bodies, joined pair by pair.
#ifndef CAROM_STEP_FOREST_H
#define CAROM_STEP_FOREST_H

#include "base/forest.h"
#include "model/spatial.h"

// Joins the trees of two bodies if v moves both.
static inline void cr__forest_join_trees(const crModel* model, int* parent, int a, int b) {
    int top_a = model->top[a], top_b = model->top[b];
    if (top_a >= 0 && top_b >= 0) cr__forest_join(parent, top_a, top_b);
}

// Set of the trees of two bodies that push each other, of which v moves at least one: a root.
static inline int cr__forest_of_trees(const crModel* model, int* parent, int a, int b) {
    return cr__forest_find(parent, model->top[a] >= 0 ? model->top[a] : model->top[b]);
}

#endif
