// batch_visit.c - some worlds of a batch, one behind the other in a buffer, as a batch of their own: the visitors of the host.
//
// Records have the stride `count`; results, hits, samples of paths and steps made stand behind them. The same code runs on the
// host and on a device.
#include <string.h>

#include "world/batch.h"

// numbers of all samples of a world's path
static size_t path_size(const crBatchJob* job) { return (size_t)job->path.samples * (size_t)job->model->nq; }

size_t cr__visit_bytes(const crBatchJob* job, int count) {
    size_t each = sizeof *job->results + sizeof *job->made;
    if (job->logs != NULL) each += sizeof *job->logs + (size_t)job->hit_room * sizeof *job->hits;
    if (job->path.q != NULL) each += path_size(job) * sizeof *job->path.q;
    return each * (size_t)count;
}

static void* part(unsigned char** at, size_t bytes) {
    void* begin = *at;
    *at += bytes;
    return begin;
}

crBatchJob cr__visit_job(const crBatchJob* job, int count, uint64_t* words, void* rest) {
    crBatchJob visit = *job;
    unsigned char* at = rest;
    size_t n = (size_t)count;
    visit.words = words;
    visit.stride = n;
    visit.results = part(&at, n * sizeof *job->results);
    if (job->logs != NULL) visit.logs = part(&at, n * sizeof *job->logs);
    if (job->path.q != NULL) visit.path.q = part(&at, n * path_size(job) * sizeof *job->path.q);
    if (job->logs != NULL) visit.hits = part(&at, n * (size_t)job->hit_room * sizeof *job->hits);
    visit.made = part(&at, n * sizeof *job->made);
    visit.turn = NULL;
    visit.list = NULL;
    visit.count = count;
    visit.fresh = false;
    return visit;
}

void cr__visit_copy(const crBatchJob* from, int i, const crBatchJob* to, int k) {
    for (int j = 0; j < from->layout.words; j++) {
        to->words[(size_t)j * to->stride + (size_t)k] = from->words[(size_t)j * from->stride + (size_t)i];
    }
    to->results[k] = from->results[i];
    to->made[k] = from->made[i];
    if (from->path.q != NULL) {
        size_t size = path_size(from);
        memcpy(to->path.q + (size_t)k * size, from->path.q + (size_t)i * size, size * sizeof *to->path.q);
    }
    if (from->logs == NULL) return;
    to->logs[k] = from->logs[i];
    size_t room = (size_t)from->hit_room;
    memcpy(to->hits + (size_t)k * room, from->hits + (size_t)i * room, room * sizeof *to->hits);
}
