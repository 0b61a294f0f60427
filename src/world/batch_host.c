// batch_host.c - the lanes of the host: they share the worlds that are to be stepped.
//
// Threads take worlds in chunks from a counter; each has a lane of its own. Worlds do not know of each other, so the result
// does not depend on who steps which. A record that has no room for the forces of its world's contacts makes all
// records larger, and that world goes again from where it was.
// Fails: CR_ERR_MEMORY.
#include "world/batch.h"

#include <stdatomic.h>
#include <string.h>

#define CHUNK  CR_LONE_WORLDS  // worlds that a thread takes at a time, at most
#define CHUNKS 8               // for each thread, where worlds differ in what they take

crStatus cr__batch_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "batch", "batch: out of memory");
}

void* cr__batch_zeros(const crAllocator* a, size_t count, size_t size) {
    if (count > SIZE_MAX / 2 / size) return NULL;
    void* memory = a->alloc(a->ctx, count * size);
    if (memory != NULL) memset(memory, 0, count * size);
    return memory;
}

void cr__batch_give(const crAllocator* a, void* memory, size_t bytes) {
    if (memory != NULL) a->free(a->ctx, memory, bytes);
}

size_t cr__batch_bytes(const crBatch* batch) {
    return (size_t)batch->job.layout.words * batch->job.stride * sizeof(uint64_t);
}

// worlds of the list, shared out to lanes
typedef struct Share {
    crBatch* batch;
    const int* list;
    int count, chunk;
    atomic_int next;
    crBatchJob one;  // the job, but for one step by the stages
} Share;

// whether worlds go side by side: those of one box on a plane, as long as their steps are plain
static bool goes_alike(const crBatchJob* job) {
    return job->lone.touches && !job->lone.ball && job->varied_count == 0 && job->models == NULL &&
           job->logs == NULL && job->most == 0;
}

// Worlds side by side as far as they go, then a step by the stages for each that waits for one; and so on.
static void run_alike(Share* share, crBatchLane* lane, int* worlds, int count) {
    crBatch* batch = share->batch;
    const crBatchJob* job = &batch->job;
    while (count > 0) {
        int left = 0;
        cr__lane_lones(job, worlds, count);
        for (int k = 0; k < count; k++) {
            int i = worlds[k];
            batch->unfinished[i] = cr__lane_run(lane, &share->one, i);
            bool goes_on = batch->unfinished[i] == CR_OK && job->results[i].status == CR_OK;
            if (goes_on && job->made[i] < cr__batch_goal(job, i)) worlds[left++] = i;
        }
        count = left;
    }
}

static void run_worlds(Share* share, crBatchLane* lane, int begin, int end) {
    crBatch* batch = share->batch;
    int worlds[CHUNK];
    for (int k = begin; k < end; k++) {
        worlds[k - begin] = share->list != NULL ? share->list[k] : k;
    }
    if (goes_alike(&batch->job)) {
        run_alike(share, lane, worlds, end - begin);
        return;
    }
    for (int k = 0; k < end - begin; k++) {
        batch->unfinished[worlds[k]] = cr__lane_run(lane, &batch->job, worlds[k]);
    }
}

static int chunk_of(const crBatch* batch, int count) {
    int chunk = count / (CHUNKS * batch->lane_count);
    if (goes_alike(&batch->job) || chunk > CHUNK) return CHUNK;
    return chunk > 0 ? chunk : 1;
}

static void along(void* ctx, int begin, int end) {
    Share* share = ctx;
    for (int l = begin; l < end; l++) {
        int from = atomic_fetch_add(&share->next, share->chunk);
        while (from < share->count) {
            int to = share->count - from < share->chunk ? share->count : from + share->chunk;
            run_worlds(share, &share->batch->lanes[l], from, to);
            from = atomic_fetch_add(&share->next, share->chunk);
        }
    }
}

crStatus cr__batch_grow(crBatch* batch, crError* error) {
    crBatchJob* job = &batch->job;
    crRecordLayout larger = job->layout;
    cr__record_room(&larger, 2 * larger.warm_room + 8);
    uint64_t* words = cr__batch_zeros(&batch->allocator, (size_t)larger.words * job->stride, sizeof *words);
    if (words == NULL) return cr__batch_memory(error);
    // forces of contacts are the last part
    memcpy(words, job->words, cr__batch_bytes(batch));
    cr__batch_give(&batch->allocator, job->words, cr__batch_bytes(batch));
    job->words = words;
    job->layout = larger;
    return CR_OK;
}

// worlds that go again with larger records; a world that found no memory says so
static int list_again(crBatch* batch, const int* list, int count) {
    int again = 0;
    for (int k = 0; k < count; k++) {
        int i = list != NULL ? list[k] : k;
        if (batch->unfinished[i] == CR_ERR_LIMIT) {
            batch->list[again++] = i;
        } else if (batch->unfinished[i] != CR_OK) {
            batch->job.results[i].status = batch->unfinished[i];
        }
    }
    return again;
}

crStatus cr__batch_host(crBatch* batch, const int* list, int count, crError* error) {
    crStatus status = CR_OK;
    while (count > 0 && status == CR_OK) {
        Share share = {batch, list, count, chunk_of(batch, count), 0, batch->job};
        share.one.apart = true;
        share.one.whole = 1;
        cr__tasks_for(batch->tasks, batch->lane_count, 1, along, &share);
        count = list_again(batch, list, count);
        list = batch->list;
        if (count > 0) status = cr__batch_grow(batch, error);
    }
    return status;
}
