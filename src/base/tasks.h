// tasks.h - a small pool of threads that share a loop over an index range.
#ifndef CAROM_BASE_TASKS_H
#define CAROM_BASE_TASKS_H

#include "carom/base.h"

typedef struct crTasks crTasks;

// Indices begin to end - 1 of the loop. Chunks run in any order and on any thread: they must not depend on
// each other.
typedef void (*crTaskFn)(void* ctx, int begin, int end);

// A pool of `threads`, the caller's own among them; *tasks is NULL where one is enough or threads are not
// compiled in. CR_ERR_MEMORY where memory or threads are out.
crStatus cr__tasks_create(const crAllocator* allocator, int threads, crTasks** tasks);
void cr__tasks_destroy(crTasks* tasks);  // accepts NULL

// Threads of a pool; 1 of a NULL one.
int cr__tasks_threads(const crTasks* tasks);

// Length of the chunks of a loop in which it does not matter how many there are: two for each thread, of at least `least`
// indices, but one where there would be no two of that length.
static inline int cr__tasks_share(const crTasks* tasks, int count, int least) {
    int share = (count - 1) / (2 * cr__tasks_threads(tasks)) + 1;
    if (count < 2 * least) return count > 0 ? count : 1;
    return share > least ? share : least;
}

// fn over [0, count) in chunks of `chunk` indices, the same chunks for any number of threads; returns when
// all are done. One caller at a time. A NULL pool runs them here, one after another.
void cr__tasks_for(crTasks* tasks, int count, int chunk, crTaskFn fn, void* ctx);

// memcpy of `count` numbers by several threads.
void cr__tasks_copy(crTasks* tasks, double* to, const double* from, size_t count);

#endif
