// jobs.c - a counter from which threads take the next job; what they bring back goes through one lock.
//
// Jobs are handed out in ascending order, so when one fails all before it are out already: these are awaited
// and the first error in the order of jobs is the answer, whatever the number of threads and ranks.
// Fails: see jobs.h.
#include "fit/jobs.h"

#include <stdlib.h>

#include "fit/jobs_work.h"
#include "fit/ranks.h"

int cr__jobs_take(crJobsWork* work) {
    while (!atomic_load(&work->over)) {
        int job = atomic_fetch_add(&work->next, 1);
        if (job >= work->jobs->count) break;
        if (!work->have[job]) return job;
    }
    return -1;
}

static void note_failure(crJobsWork* work, int job, crStatus status, const crError* error) {
    atomic_store(&work->over, true);
    if (job >= work->failed && work->status != CR_OK) return;
    work->failed = job;
    work->status = status;
    work->error = *error;
    work->error.status = status;
}

void cr__jobs_fail(crJobsWork* work, crStatus status, const crError* error) {
    pthread_mutex_lock(&work->lock);
    note_failure(work, work->jobs->count, status, error);
    pthread_mutex_unlock(&work->lock);
}

static void bring(crJobsWork* work, int job, crStatus status, crError* error) {
    const crJobs* jobs = work->jobs;
    if (status != CR_OK) {
        note_failure(work, job, status, error);
        return;
    }
    if (jobs->checkpoint != NULL)
        status = cr__jobs_file_append(&work->file, job, cr__jobs_result(work, job), error);
    if (status != CR_OK) note_failure(work, jobs->count, status, error);
    work->done++;
    if (work->status != CR_OK || jobs->watch == NULL) return;
    if (jobs->watch(jobs->ctx, work->done, jobs->count)) return;
    cr_error_set(error, CR_ERR_LIMIT, "jobs", "stopped after %d of %d", work->done, jobs->count);
    note_failure(work, jobs->count, CR_ERR_LIMIT, error);
}

void cr__jobs_bring(crJobsWork* work, int job, crStatus status, crError* error) {
    pthread_mutex_lock(&work->lock);
    bring(work, job, status, error);
    pthread_mutex_unlock(&work->lock);
}

int cr__jobs_together(const crJobs* jobs) { return jobs->run_many != NULL ? jobs->together : 1; }

crStatus cr__jobs_run_some(crJobsWork* work, const int* list, int count, int* failed, crError* error) {
    const crJobs* jobs = work->jobs;
    *failed = list[0];
    if (jobs->run_many != NULL) return jobs->run_many(jobs->ctx, list, count, work->results, failed, error);
    return jobs->run(jobs->ctx, list[0], cr__jobs_result(work, list[0]), error);
}

// the next jobs: a fair share of those left where other ranks work too
static int take_some(crJobsWork* work, int* list) {
    const crJobs* jobs = work->jobs;
    int ranks = jobs->ranks != NULL ? jobs->ranks->count : 1, count = 0;
    int share = (jobs->count - atomic_load(&work->next) + ranks - 1) / ranks;
    int most = share < cr__jobs_together(jobs) ? share : cr__jobs_together(jobs);
    do {
        list[count] = cr__jobs_take(work);
    } while (list[count] >= 0 && ++count < most);
    return count;
}

void cr__jobs_along(void* ctx, int begin, int end) {
    crJobsWork* work = ctx;
    (void)end;
    int* list = work->list + (size_t)begin * (size_t)cr__jobs_together(work->jobs);
    for (int count = take_some(work, list); count > 0; count = take_some(work, list)) {
        crError error = {0};
        int failed = -1;
        crStatus status = cr__jobs_run_some(work, list, count, &failed, &error);
        for (int k = 0; k < count && (status == CR_OK || list[k] <= failed); k++) {
            cr__jobs_bring(work, list[k], list[k] == failed ? status : CR_OK, &error);
        }
    }
}

crStatus cr__jobs_threads(crJobsWork* work, crTaskFn along, crError* error) {
    int threads = work->jobs->threads < work->jobs->count ? work->jobs->threads : work->jobs->count;
    crAllocator libc = cr_allocator_libc();
    crTasks* tasks = NULL;
    crStatus status = cr__tasks_create(&libc, threads, &tasks);
    if (status != CR_OK)
        return cr_error_set(error, status, "threads", "threads: %d cannot be started", threads);
    cr__tasks_for(tasks, threads < 1 ? 1 : threads, 1, along, work);
    cr__tasks_destroy(tasks);
    if (work->status != CR_OK && error != NULL) *error = work->error;
    return work->status;
}

// rank 0, or a process of its own, holds the checkpoint
static crStatus open_file(crJobsWork* work, bool leads, crError* error) {
    const crJobs* jobs = work->jobs;
    if (jobs->checkpoint == NULL || !leads) return CR_OK;
    crStatus status = cr__jobs_file_open(&work->file, jobs, work->results, work->have, error);
    for (int i = 0; i < jobs->count; i++) {
        work->done += work->have[i];
    }
    return status;
}

crStatus cr_jobs_run(const crJobs* jobs, double* results, crError* error) {
    if (jobs->count < 0 || jobs->size < 1 || (jobs->run == NULL && jobs->run_many == NULL) ||
        cr__jobs_together(jobs) < 1)
        return cr_error_set(error, CR_ERR_ARGUMENT, "jobs",
                            "jobs: count >= 0, size >= 1 and run must be given");
    if (jobs->threads < 0 || jobs->threads > CR_JOBS_THREADS)
        return cr_error_set(error, CR_ERR_RANGE, "threads", "threads is %d, must be from 1 to %d",
                            jobs->threads, CR_JOBS_THREADS);
    crJobsWork work = {.jobs = jobs, .results = results, .failed = jobs->count, .file.fd = -1};
    work.have = calloc((size_t)jobs->count + 1, sizeof *work.have);
    size_t threads = jobs->threads > 0 ? (size_t)jobs->threads : 1;
    work.list = malloc(threads * (size_t)cr__jobs_together(jobs) * sizeof *work.list);
    if (work.have == NULL || work.list == NULL) {
        free(work.have);
        free(work.list);
        return cr_error_set(error, CR_ERR_MEMORY, "jobs", "jobs: out of memory");
    }
    for (size_t i = 0; i < (size_t)jobs->count * (size_t)jobs->size; i++) {
        results[i] = 0.0;
    }
    bool shared = jobs->ranks != NULL && jobs->ranks->count > 1;
    crError opening = {0};
    pthread_mutex_init(&work.lock, NULL);
    crStatus status = open_file(&work, !shared || jobs->ranks->rank == 0, &opening);
    if (status != CR_OK && error != NULL) *error = opening;
    if (shared) {
        status = cr__jobs_run_ranks(&work, status, &opening);
        if (status != CR_OK && error != NULL) *error = opening;
    } else if (status == CR_OK) {
        status = cr__jobs_threads(&work, cr__jobs_along, error);
    }
    pthread_mutex_destroy(&work.lock);
    cr__jobs_file_close(&work.file);
    free(work.have);
    free(work.list);
    return status;
}
