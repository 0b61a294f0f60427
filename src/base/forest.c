// forest.c - joins many pairs by several threads at once: union-find without locks.
//
// A leader receives a parent by compare-and-swap, always a smaller member of its new set, so the smallest
// member leads the set for any order of pairs. Path halving may restore an older parent; that parent is still
// a smaller member of the set, so sets and leaders do not depend on the timing of threads.
// Source: Anderson and Woll 1991, without ranks.
// Fails: CR_ERR_MEMORY.
#include "base/forest.h"

static void join_here(int pairs, crForestEnds ends, const void* ctx, int* parent) {
    int a, b;
    for (int i = 0; i < pairs; i++) {
        if (ends(ctx, i, &a, &b)) cr__forest_join(parent, a, b);
    }
}

#if defined(CAROM_NO_THREADS)

crStatus cr__forest_join_all(crTasks* tasks, crArena* scratch, int pairs, crForestEnds ends, const void* ctx,
                             int size, int* parent) {
    (void)tasks;
    (void)scratch;
    (void)size;
    join_here(pairs, ends, ctx, parent);
    return CR_OK;
}

#else

#include <stdatomic.h>

#define PAIRS   512   // pairs per task
#define ENTRIES 2048  // entries of `parent` per task

// Data of one call of cr__forest_join_all, shared by its threads.
typedef struct Joining {
    _Atomic(int)* above;  // parents (size)
    crForestEnds ends;
    const void* ctx;
    int* parent;
} Joining;

static int above(const Joining* j, int i) { return atomic_load_explicit(&j->above[i], memory_order_relaxed); }

static int find(const Joining* j, int i) {
    for (int up = above(j, i); up != i; up = above(j, i)) {
        int top = above(j, up);
        if (top != up) atomic_store_explicit(&j->above[i], top, memory_order_relaxed);
        i = top;
    }
    return i;
}

static void join(const Joining* j, int a, int b) {
    bool joined = false;
    while (!joined) {
        int x = find(j, a), y = find(j, b), high = x > y ? x : y, low = x > y ? y : x;
        // the exchange fails if another thread has given `high` a parent since
        int leader = high;
        joined = x == y || atomic_compare_exchange_strong_explicit(
                               &j->above[high], &leader, low, memory_order_relaxed, memory_order_relaxed);
    }
}

static void read_range(void* ctx, int begin, int end) {
    const Joining* j = ctx;
    for (int i = begin; i < end; i++) {
        atomic_init(&j->above[i], j->parent[i]);
    }
}

static void join_range(void* ctx, int begin, int end) {
    const Joining* j = ctx;
    int a, b;
    for (int i = begin; i < end; i++) {
        if (j->ends(j->ctx, i, &a, &b)) join(j, a, b);
    }
}

static void write_range(void* ctx, int begin, int end) {
    const Joining* j = ctx;
    for (int i = begin; i < end; i++) {
        j->parent[i] = find(j, i);
    }
}

crStatus cr__forest_join_all(crTasks* tasks, crArena* scratch, int pairs, crForestEnds ends, const void* ctx,
                             int size, int* parent) {
    if (tasks == NULL || pairs <= PAIRS) {
        join_here(pairs, ends, ctx, parent);
        return CR_OK;
    }
    size_t mark = cr_arena_mark(scratch);
    Joining j = {cr_arena_alloc(scratch, (size_t)size * sizeof *j.above), ends, ctx, parent};
    if (j.above == NULL) return CR_ERR_MEMORY;
    cr__tasks_for(tasks, size, ENTRIES, read_range, &j);
    cr__tasks_for(tasks, pairs, PAIRS, join_range, &j);
    cr__tasks_for(tasks, size, ENTRIES, write_range, &j);
    cr_arena_release(scratch, mark);
    return CR_OK;
}

#endif
