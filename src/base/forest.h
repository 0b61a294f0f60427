// forest.h - sets that are joined one pair after another (union-find with path halving, Tarjan 1975).
//
// parent[i] == i where i leads its set. The smaller index leads, so leaders do not depend on the order of pairs.
#ifndef CAROM_BASE_FOREST_H
#define CAROM_BASE_FOREST_H

#include <stdbool.h>

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

#endif
