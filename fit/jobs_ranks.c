// jobs_ranks.c - jobs over ranks: rank 0 hands them out and works too, every rank ends with all results.
//
// A rank says HELLO, gets WORK, says DONE with the result and gets more, one job ahead per thread while many
// are left so that it never waits for the next, and none ahead near the end, so that none is kept waiting.
// When all is done, or has failed, rank 0 says END to all, and the results go from it to all. On rank 0 a
// thread of its own answers the others: they need not wait until a job of rank 0 is done.
// Fails: see jobs.h; a rank that ended, or has other jobs, is an error that names it.
#include <stdlib.h>
#include <string.h>

#include "fit/jobs_work.h"
#include "fit/ranks.h"

#define PATIENCE 8  // looks for further jobs that are to run together
#define MANY     8  // jobs left per thread of any rank, above which a rank gets jobs ahead

typedef struct Rank {
    bool ready;
    int threads;
    int out;  // jobs it has
} Rank;

typedef struct Lead {
    crJobsWork* work;
    crRanks* ranks;
    Rank* rank;   // (count)
    int threads;  // of all ranks that are ready
    int room;     // bytes of a result or an error
    void* bytes;  // (room)
} Lead;

// what all ranks must agree on
static uint64_t check_of(const crJobs* jobs) {
    uint64_t check = cr_hash(jobs->key, &jobs->stage, sizeof jobs->stage);
    check = cr_hash(check, &jobs->count, sizeof jobs->count);
    return cr_hash(check, &jobs->size, sizeof jobs->size);
}

static int room_of(const crJobs* jobs) {
    size_t result = (size_t)jobs->size * sizeof(double);
    return (int)(result > sizeof(crError) ? result : sizeof(crError));
}

static void give(Lead* lead, int to) {
    const crJobs* jobs = lead->work->jobs;
    Rank* rank = &lead->rank[to];
    int left = jobs->count - atomic_load(&lead->work->next);
    int most = rank->threads * (left > MANY * lead->threads ? 2 : 1);
    while (rank->ready && rank->out < most) {
        int job = cr__jobs_take(lead->work);
        if (job < 0) return;
        crRankMessage work = {.note = CR_RANK_WORK, .run = lead->ranks->run, .job = job};
        cr__ranks_send(lead->ranks, to, &work, NULL, 0);
        rank->out++;
    }
}

static void greet(Lead* lead, int from, const crRankMessage* head) {
    crError error = {0};
    lead->rank[from] = (Rank){.ready = true, .threads = head->job};
    lead->threads += head->job;
    if (head->key == check_of(lead->work->jobs)) return;
    cr_error_set(&error, CR_ERR_ARGUMENT, "ranks",
                 "rank %d has other jobs than rank 0: do all see the same files, options and carom?", from);
    cr__jobs_fail(lead->work, CR_ERR_ARGUMENT, &error);
}

static void take_in(Lead* lead, int from, const crRankMessage* head) {
    const crJobs* jobs = lead->work->jobs;
    crError error = {0};
    lead->rank[from].out--;
    if (head->status == CR_OK) {
        memcpy(cr__jobs_result(lead->work, head->job), lead->bytes, (size_t)jobs->size * sizeof(double));
    } else {
        memcpy(&error, lead->bytes, sizeof error);
    }
    cr__jobs_bring(lead->work, head->job, (crStatus)head->status, &error);
}

// its jobs are lost
static void part(Lead* lead, int from, int code) {
    crError error = {0};
    cr_error_set(&error, CR_ERR_FILE, "ranks",
                 "rank %d ended with exit status %d before the work was done: do all see the same files?",
                 from, code);
    cr__jobs_fail(lead->work, CR_ERR_FILE, &error);
    lead->rank[from] = (Rank){.ready = true};
}

static bool is_done(Lead* lead) {
    bool none = atomic_load(&lead->work->over) || atomic_load(&lead->work->next) >= lead->work->jobs->count;
    for (int i = 1; i < lead->ranks->count && none; i++) {
        none = lead->rank[i].ready && lead->rank[i].out == 0;
    }
    return none;
}

static void* serve(void* ctx) {
    Lead* lead = ctx;
    int idle = 0;
    while (!is_done(lead)) {
        crRankMessage head;
        int from;
        if (!cr__ranks_receive(lead->ranks, &from, &head, lead->bytes, lead->room)) {
            cr__ranks_pause(&idle);
            continue;
        }
        idle = 0;
        if (head.note == CR_RANK_LEAVE) part(lead, from, head.job);
        if (head.note == CR_RANK_LEAVE || head.run != lead->ranks->run) continue;
        if (head.note == CR_RANK_HELLO) greet(lead, from, &head);
        if (head.note == CR_RANK_DONE) take_in(lead, from, &head);
        give(lead, from);
    }
    return NULL;
}

static crStatus lead_on(Lead* lead, crError* error) {
    pthread_t server;
    lead->room = room_of(lead->work->jobs);
    lead->rank = calloc((size_t)lead->ranks->count, sizeof *lead->rank);
    lead->bytes = malloc((size_t)lead->room);
    lead->threads = lead->work->jobs->threads;
    bool started = lead->rank != NULL && lead->bytes != NULL;
    for (int i = 1; i < lead->ranks->count && started; i++) {
        if (lead->ranks->left[i]) part(lead, i, lead->ranks->code[i]);
    }
    started = started && pthread_create(&server, NULL, serve, lead) == 0;
    crStatus status = CR_OK;
    if (started) {
        status = cr__jobs_threads(lead->work, cr__jobs_along, error);
        if (status != CR_OK) cr__jobs_fail(lead->work, status, error);
        pthread_join(server, NULL);
        status = lead->work->status;
        *error = lead->work->error;
    } else {
        status = cr_error_set(error, CR_ERR_MEMORY, "ranks", "ranks: no memory or thread to serve them");
    }
    free(lead->rank);
    free(lead->bytes);
    return status;
}

static crStatus run_first(crJobsWork* work, crRanks* ranks, crStatus status, crError* error) {
    Lead lead = {.work = work, .ranks = ranks};
    if (status == CR_OK) status = lead_on(&lead, error);
    crRankMessage end = {.note = CR_RANK_END, .run = ranks->run, .status = status};
    for (int i = 1; i < ranks->count; i++) {
        if (!ranks->left[i]) cr__ranks_send(ranks, i, &end, error, sizeof *error);
    }
    return status;
}

// one message of rank 0: a job, or -1 where there is none; END and its leaving end the work
static int next_order(crJobsWork* work) {
    crRanks* ranks = work->jobs->ranks;
    crRankMessage head;
    crError error = {0};
    int from, job = -1;
    pthread_mutex_lock(&work->lock);
    if (!atomic_load(&work->over) && cr__ranks_receive(ranks, &from, &head, &error, sizeof error)) {
        if (head.note == CR_RANK_WORK) job = head.job;
        if (head.note == CR_RANK_LEAVE) {
            head.status =
                cr_error_set(&error, CR_ERR_FILE, "ranks", "rank 0 ended with exit status %d", head.job);
        }
        if (head.note == CR_RANK_END || head.note == CR_RANK_LEAVE) {
            work->status = (crStatus)head.status;
            work->error = error;
            atomic_store(&work->over, true);
        }
    }
    pthread_mutex_unlock(&work->lock);
    return job;
}

// jobs that rank 0 has sent, as many as run together; those on their way are waited for a little
static int gather(crJobsWork* work, int* list) {
    int count = 0, most = cr__jobs_together(work->jobs);
    for (int idle = 0, quiet = 0; count < most && quiet < PATIENCE && !atomic_load(&work->over);) {
        int job = next_order(work);
        if (job >= 0) list[count++] = job;
        idle = job >= 0 ? 0 : idle;
        quiet = job >= 0 || count == 0 || most == 1 ? 0 : quiet + 1;
        if (job < 0) cr__ranks_pause(&idle);
    }
    return count;
}

static void answer(crJobsWork* work, int job, crStatus status, const crError* error) {
    crRanks* ranks = work->jobs->ranks;
    const double* result = cr__jobs_result(work, job);
    crRankMessage done = {.note = CR_RANK_DONE, .run = ranks->run, .job = job, .status = status};
    if (status == CR_OK) {
        cr__ranks_send(ranks, 0, &done, result, (int)((size_t)work->jobs->size * sizeof *result));
    } else {
        cr__ranks_send(ranks, 0, &done, error, sizeof *error);
    }
}

static void follow_along(void* ctx, int begin, int end) {
    crJobsWork* work = ctx;
    (void)end;
    int* list = work->list + (size_t)begin * (size_t)cr__jobs_together(work->jobs);
    while (!atomic_load(&work->over)) {
        int count = gather(work, list), failed = -1;
        if (count == 0) continue;
        crError error = {0};
        crStatus status = cr__jobs_run_some(work, list, count, &failed, &error);
        // every job is answered: rank 0 counts those that are out
        for (int k = 0; k < count; k++) {
            answer(work, list[k], status != CR_OK && list[k] >= failed ? status : CR_OK, &error);
        }
    }
}

static crStatus run_other(crJobsWork* work, crRanks* ranks, crError* error) {
    const crJobs* jobs = work->jobs;
    crRankMessage hello = {.note = CR_RANK_HELLO, .run = ranks->run, .key = check_of(jobs)};
    hello.job = (jobs->threads > 0 ? jobs->threads : 1) * cr__jobs_together(jobs);
    cr__ranks_send(ranks, 0, &hello, NULL, 0);
    return cr__jobs_threads(work, follow_along, error);
}

crStatus cr__jobs_run_ranks(crJobsWork* work, crStatus status, crError* error) {
    const crJobs* jobs = work->jobs;
    crRanks* ranks = jobs->ranks;
    ranks->run++;
    status = ranks->rank == 0 ? run_first(work, ranks, status, error) : run_other(work, ranks, error);
    if (status != CR_OK) return status;
    ranks->link->broadcast(work->results, (size_t)jobs->count * (size_t)jobs->size * sizeof(double));
    return CR_OK;
}
