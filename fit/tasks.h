// tasks.h - independent tasks over a few threads. Each writes only what is its own, so that results do not
// depend on how many threads there are.
#ifndef CAROM_FIT_TASKS_H
#define CAROM_FIT_TASKS_H

#include <stdbool.h>

#define CR_TASKS_THREADS 256

typedef struct crTasks {
    int threads;  // at least 1; the calling thread is one of them
    // Called by the calling thread now and then; false stops. NULL: nobody watches.
    bool (*watch)(void* ctx, int done, int count);
    void* ctx;
} crTasks;

// Runs run(ctx, 0) to run(ctx, count - 1), each once, in any order; false where the watcher stopped it. Where
// threads cannot be had the rest is done by those there are.
bool cr__tasks_run(const crTasks* tasks, int count, void (*run)(void* ctx, int index), void* ctx);

#endif
