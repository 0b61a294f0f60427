// jobs.c - a counter from which threads take the next job; what they bring back goes through one lock.
//
// Jobs are handed out in ascending order, so when one fails all before it are out already: these are awaited
// and the first error in the order of jobs is the answer, whatever the number of threads.
// Fails: see jobs.h.
#include "fit/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fit/jobs_file.h"
#include "src/base/tasks.h"

typedef struct Work {
    const crJobs* jobs;
    double* results;
    bool* have;  // those of the checkpoint (count)
    crJobsFile file;
    atomic_int next;
    atomic_bool over;      // no more are handed out
    pthread_mutex_t lock;  // of all below, of the file and of the watcher
    int done;
    int failed;  // first job that failed, count where none did
    crStatus status;
    crError error;
} Work;

static int take(Work* work) {
    while (!atomic_load(&work->over)) {
        int job = atomic_fetch_add(&work->next, 1);
        if (job >= work->jobs->count) return -1;
        if (!work->have[job]) return job;
    }
    return -1;
}

// trouble that is not of a job counts after every job's own
static void fail(Work* work, int job, crStatus status, const crError* error) {
    atomic_store(&work->over, true);
    if (job >= work->failed && work->status != CR_OK) return;
    work->failed = job;
    work->status = status;
    work->error = *error;
    work->error.status = status;
}

static void bring(Work* work, int job, crStatus status, crError* error) {
    const crJobs* jobs = work->jobs;
    if (status != CR_OK) {
        fail(work, job, status, error);
        return;
    }
    const double* result = &work->results[(size_t)job * (size_t)jobs->size];
    if (jobs->checkpoint != NULL) status = cr__jobs_file_append(&work->file, job, result, error);
    if (status != CR_OK) fail(work, jobs->count, status, error);
    work->done++;
    if (jobs->watch == NULL || jobs->watch(jobs->ctx, work->done, jobs->count)) return;
    cr_error_set(error, CR_ERR_LIMIT, "jobs", "stopped after %d of %d", work->done, jobs->count);
    fail(work, jobs->count, CR_ERR_LIMIT, error);
}

static void work_along(void* ctx, int begin, int end) {
    Work* work = ctx;
    (void)begin;
    (void)end;
    for (int job = take(work); job >= 0; job = take(work)) {
        crError error = {0};
        double* result = &work->results[(size_t)job * (size_t)work->jobs->size];
        crStatus status = work->jobs->run(work->jobs->ctx, job, result, &error);
        pthread_mutex_lock(&work->lock);
        bring(work, job, status, &error);
        pthread_mutex_unlock(&work->lock);
    }
}

static crStatus share(Work* work, crError* error) {
    const crJobs* jobs = work->jobs;
    for (int i = 0; i < jobs->count; i++) {
        work->done += work->have[i];
    }
    int threads = jobs->threads < jobs->count ? jobs->threads : jobs->count;
    crAllocator libc = cr_allocator_libc();
    crTasks* tasks = NULL;
    crStatus status = cr__tasks_create(&libc, threads, &tasks);
    if (status != CR_OK)
        return cr_error_set(error, status, "threads", "threads: %d cannot be started", threads);
    pthread_mutex_init(&work->lock, NULL);
    cr__tasks_for(tasks, threads < 1 ? 1 : threads, 1, work_along, work);
    pthread_mutex_destroy(&work->lock);
    cr__tasks_destroy(tasks);
    if (work->status != CR_OK && error != NULL) *error = work->error;
    return work->status;
}

crStatus cr_jobs_run(const crJobs* jobs, double* results, crError* error) {
    if (jobs->count < 0 || jobs->size < 1 || jobs->run == NULL)
        return cr_error_set(error, CR_ERR_ARGUMENT, "jobs",
                            "jobs: count >= 0, size >= 1 and run must be given");
    if (jobs->threads < 0 || jobs->threads > CR_JOBS_THREADS)
        return cr_error_set(error, CR_ERR_RANGE, "threads", "threads is %d, must be from 1 to %d",
                            jobs->threads, CR_JOBS_THREADS);
    Work work = {.jobs = jobs, .results = results, .failed = jobs->count, .file.fd = -1};
    work.have = calloc((size_t)jobs->count + 1, sizeof *work.have);
    if (work.have == NULL) return cr_error_set(error, CR_ERR_MEMORY, "jobs", "jobs: out of memory");
    for (size_t i = 0; i < (size_t)jobs->count * (size_t)jobs->size; i++) {
        results[i] = 0.0;
    }
    crStatus status = CR_OK;
    if (jobs->checkpoint != NULL) status = cr__jobs_file_open(&work.file, jobs, results, work.have, error);
    if (status == CR_OK) status = share(&work, error);
    cr__jobs_file_close(&work.file);
    free(work.have);
    return status;
}
