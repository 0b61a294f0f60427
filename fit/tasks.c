// tasks.c - a counter from which threads take their next task.
//
// Fails: not at all; fewer threads than asked for only take longer.
#include "fit/tasks.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

typedef struct Work {
    atomic_int next, done;
    atomic_bool stopped;
    int count;
    void (*run)(void* ctx, int index);
    void* ctx;
} Work;

static bool take(Work* work) {
    int index = atomic_fetch_add(&work->next, 1);
    if (index >= work->count || atomic_load(&work->stopped)) return false;
    work->run(work->ctx, index);
    atomic_fetch_add(&work->done, 1);
    return true;
}

static void* worker(void* ctx) {
    while (take(ctx)) {}
    return NULL;
}

bool cr__tasks_run(const crTasks* tasks, int count, void (*run)(void* ctx, int index), void* ctx) {
    Work work = {.count = count, .run = run, .ctx = ctx};
    pthread_t threads[CR_TASKS_THREADS];
    int started = 0;
    int wanted = tasks->threads < CR_TASKS_THREADS ? tasks->threads : CR_TASKS_THREADS;
    while (started < wanted - 1 && started < count - 1 &&
           pthread_create(&threads[started], NULL, worker, &work) == 0) {
        started++;
    }
    while (take(&work)) {
        if (tasks->watch != NULL && !tasks->watch(tasks->ctx, atomic_load(&work.done), count))
            atomic_store(&work.stopped, true);
    }
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
    }
    return !atomic_load(&work.stopped);
}
