// ranks.h - the processes that mpirun started as one command: who this one is, and how they end together.
//
// Every rank runs the same program on the same input and calls cr_jobs_run with the same jobs; jobs are
// shared among the ranks and every rank gets all results. Only rank 0 prints and writes files.
#ifndef CAROM_FIT_RANKS_H
#define CAROM_FIT_RANKS_H

#include <pthread.h>

#include "carom/base.h"
#include "fit/ranks_link.h"

typedef struct crRanks {
    int rank, count;          // 0 and 1 in a process of its own
    const crRanksLink* link;  // NULL in a process of its own
    void* module;
    bool* left;            // ranks that have ended, or are about to (count)
    int* code;             // and their exit status (count)
    int run;               // number of calls of cr_jobs_run, the same on all ranks
    pthread_mutex_t lock;  // of link
} crRanks;

// A process of its own unless the environment says that mpirun started it. Fails: missing-field (more than
// one rank, and the module that knows MPI is not installed), argument (it does not start).
crStatus cr_ranks_start(crRanks* ranks, crError* error);
// Waits for the others and ends MPI; every rank calls it with its exit status. The exit status to end with:
// its own, or another's where its own is 0.
int cr_ranks_finish(crRanks* ranks, int code);

// true where the module that knows MPI is installed and can be loaded.
bool cr_ranks_available(void);

// messages, for jobs_ranks.c

typedef enum crRankNote {
    CR_RANK_HELLO,  // ready for jobs: run, check in `key`, threads in `job`
    CR_RANK_WORK,   // do job
    CR_RANK_DONE,   // job was done: result, or error
    CR_RANK_END,    // no more: status and error
    CR_RANK_LEAVE   // the process ends with exit status `job`
} crRankNote;

typedef struct crRankMessage {
    int note;
    int run;
    int job;
    int status;
    uint64_t key;
} crRankMessage;

// A head and `size` bytes. receive: at most `room` of them; false where nothing is there. LEAVE is noted.
void cr__ranks_send(crRanks* ranks, int to, const crRankMessage* head, const void* bytes, int size);
bool cr__ranks_receive(crRanks* ranks, int* from, crRankMessage* head, void* bytes, int room);
void cr__ranks_pause(int* idle);  // longer each time, up to a millisecond; set *idle to 0 when there was work

#endif
