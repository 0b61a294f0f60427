// jobs_work.h - jobs under way: what threads and ranks take from and bring back to.
#ifndef CAROM_FIT_JOBS_WORK_H
#define CAROM_FIT_JOBS_WORK_H

#include <pthread.h>
#include <stdatomic.h>

#include "fit/jobs_file.h"
#include "src/base/tasks.h"

typedef struct crJobsWork {
    const crJobs* jobs;
    double* results;
    bool* have;  // those of the checkpoint (count)
    int* list;   // room for the jobs of each thread (threads*together)
    crJobsFile file;
    atomic_int next;
    atomic_bool over;      // no more are handed out
    pthread_mutex_t lock;  // of all below, of the file and of the watcher
    int done;
    int failed;  // first job that failed, count where none did
    crStatus status;
    crError error;
} crJobsWork;

static inline double* cr__jobs_result(const crJobsWork* work, int job) {
    return &work->results[(size_t)job * (size_t)work->jobs->size];
}

int cr__jobs_take(crJobsWork* work);        // the next job, -1 where there is none
int cr__jobs_together(const crJobs* jobs);  // jobs that are run at a time, >= 1
// Runs jobs (count), which is 1 where they are not run together. failed: which of them did.
crStatus cr__jobs_run_some(crJobsWork* work, const int* jobs, int count, int* failed, crError* error);
// A job's result is in its place, or the job failed.
void cr__jobs_bring(crJobsWork* work, int job, crStatus status, crError* error);
// Trouble that is not of a job counts after every job's own.
void cr__jobs_fail(crJobsWork* work, crStatus status, const crError* error);

// `along` on every thread; fails where threads cannot be had.
crStatus cr__jobs_threads(crJobsWork* work, crTaskFn along, crError* error);
void cr__jobs_along(void* work, int begin, int end);  // takes, runs and brings until nothing is left

// jobs_ranks.c: the whole run over ranks. status is that of opening the checkpoint, which all are told.
crStatus cr__jobs_run_ranks(crJobsWork* work, crStatus status, crError* error);

#endif
