// forest.h - disjoint sets joined by pairs: union-find with path halving.
//
// parent[i] == i if i is the leader of its set. The leader is the smallest index of the set, so it does not
// depend on the order of pairs.
// Source: Tarjan 1975.
#ifndef CAROM_BASE_FOREST_H
#define CAROM_BASE_FOREST_H

#include "base/tasks.h"

// Sets parent to n sets of one entry each.
static inline void cr__forest_begin(int* parent, int n) {
    for (int i = 0; i < n; i++) {
        parent[i] = i;
    }
}

// Returns the leader of the set of i, and shortens the path to it.
static inline int cr__forest_find(int* parent, int i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

// Joins the sets of a and b. Returns true if they were two sets.
static inline bool cr__forest_join(int* parent, int a, int b) {
    // in a heap most members stand right below the leader
    if (parent[a] == parent[b]) return false;
    int x = cr__forest_find(parent, a), y = cr__forest_find(parent, b);
    parent[x > y ? x : y] = x > y ? y : x;
    return x != y;
}

// Sets a and b to the ends of pair i, or returns false if the pair joins nothing. Called by several threads
// at once.
typedef bool (*crForestEnds)(const void* ctx, int i, int* a, int* b);
// Joins the ends of all pairs by several threads. Sets and leaders are the same for any number of threads.
// `parent` has `size` entries and may hold joined sets. Fails: CR_ERR_MEMORY.
crStatus cr__forest_join_all(crTasks* tasks, crArena* scratch, int pairs, crForestEnds ends, const void* ctx,
                             int size, int* parent);

#endif
