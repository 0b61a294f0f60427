// forest.c - many pairs joined by several threads at once (Anderson and Woll 1991, without ranks).
//
// A leader gets a parent by compare-and-swap, and only a smaller one: whatever the order of pairs, parents are smaller members of
// the same set, and the least member leads it. An entry that has a parent keeps one; path halving may put back an older
// parent, which still is above it in its set. So nothing depends on the order in which entries are seen.
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

#define PAIRS   512   // that one thread takes at a time
#define ENTRIES 2048  // likewise

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
        // another thread may have found a parent for it meanwhile
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
