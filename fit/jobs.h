// jobs.h - independent jobs, each with a few numbers as its result, over threads, ranks and interruptions.
//
// Results lie in the order of jobs and do not depend on how many threads and ranks there were or how often
// the work was interrupted: whatever is computed from them afterwards has the same bits, on every rank.
#ifndef CAROM_FIT_JOBS_H
#define CAROM_FIT_JOBS_H

#include "carom/base.h"

#define CR_JOBS_THREADS 256

typedef struct crJobs {
    int count;
    int size;  // doubles per result, >= 1
    // Computes one job into result (size), which is zero before. Called by any thread, jobs at the same time.
    crStatus (*run)(void* ctx, int job, double* result, crError* error);
    // In its place: computes several jobs (count) at a time, each into its row of results (size each, zero before), which
    // begin with that of job 0. Returns the first failure in the order of jobs and which job it was.
    crStatus (*run_many)(void* ctx, const int* jobs, int count, double* results, int* failed, crError* error);
    int together;  // at most so many of them, >= 1
    void* ctx;
    int threads;  // 1 to CR_JOBS_THREADS; 0 is 1
    // Called after each job, one thread at a time, until one fails; false stops. NULL: nobody watches.
    bool (*watch)(void* ctx, int done, int count);
    const char* checkpoint;  // file of finished jobs; NULL for none
    uint64_t key;            // hash of all that the results depend on, but the number of jobs
    uint64_t stage;          // which of several runs under one key and in one file
    struct crRanks* ranks;  // that share the jobs, each calling cr_jobs_run with the same; NULL: this process
} crJobs;

// Runs jobs 0 to count - 1, but those that the checkpoint already holds, into results (count*size).
// Fails: with the first error in the order of jobs; limit (the watcher stopped it); out-of-range (threads);
// file (the checkpoint cannot be read or written); argument (it is of other work, of another program, or in
// use), or a rank has other jobs; memory. Finished jobs stay in the checkpoint in every case, and every rank
// fails with the same error. Only rank 0 watches and keeps the checkpoint.
crStatus cr_jobs_run(const crJobs* jobs, double* results, crError* error);

#endif
