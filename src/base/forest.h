// forest.h - sets that are joined one pair after another (union-find with path halving, Tarjan 1975).
//
// parent[i] == i where i leads its set. The smaller index leads, so leaders do not depend on the order of pairs.
#ifndef CAROM_BASE_FOREST_H
#define CAROM_BASE_FOREST_H

#include "base/tasks.h"

// n sets of one each
static inline void cr__forest_begin(int* parent, int n) {
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
}

static inline int cr__forest_find(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// true where a and b were in two sets
static inline bool cr__forest_join(int* parent, int a, int b) {
    int x = cr__forest_find(parent, a), y = cr__forest_find(parent, b);
    parent[x > y ? x : y] = x > y ? y : x;
    return x != y;
}

// The two ends of pair i, or false where it joins nothing; called by several threads.
typedef bool (*crForestEnds)(const void* ctx, int i, int* a, int* b);
// Joins the ends of all pairs, by several threads: the sets and their leaders are the same for any number of them. parent has
// `size` entries and may be joined already. CR_ERR_MEMORY.
crStatus cr__forest_join_all(crTasks* tasks, crArena* scratch, int pairs, crForestEnds ends, const void* ctx,
                             int size, int* parent);

#endif
