// forest.h - sets of bodies that are joined one pair after another (union-find with path halving, Tarjan 1975).
//
// parent[i] == i where i leads its set. The smaller index leads, so leaders do not depend on the order of pairs.
#ifndef CAROM_STEP_FOREST_H
#define CAROM_STEP_FOREST_H

#include "model/spatial.h"

static inline int cr__forest_find(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static inline void cr__forest_join(int* parent, int a, int b) {
    int x = cr__forest_find(parent, a), y = cr__forest_find(parent, b);
    parent[x > y ? x : y] = x > y ? y : x;
}

// The trees of two bodies, where v moves both.
static inline void cr__forest_join_trees(const crModel* model, int* parent, int a, int b) {
    if (!cr__moves(model, a) || !cr__moves(model, b)) return;
    cr__forest_join(parent, model->bodies[a].root, model->bodies[b].root);
}

#endif
