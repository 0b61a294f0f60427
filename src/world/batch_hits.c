// batch_hits.c - which bodies hit each other in a world of a batch, in the order of time.
//
// Pairs of one impact, which a rule resolved together, stand in the order of bodies, each once, and all but the first are
// marked. No impact goes on over the end of a step. Methods without impacts are told apart by the contacts that begin.
#include <string.h>

#include "base/argument.h"
#include "world/batch.h"

static bool before(crBatchHit x, crBatchHit y) { return x.a < y.a || (x.a == y.a && x.b < y.b); }

// a pair of the present impact, once, in its place
static void insert(crBatchHit* hits, int room, crHitLog* log, crBatchHit hit) {
    int k = log->count;
    for (int i = log->begun; i < log->count; i++) {
        if (hits[i].a == hit.a && hits[i].b == hit.b) return;
    }
    if (k == room) return;
    for (; k > log->begun && before(hit, hits[k - 1]); k--) {
        hits[k] = hits[k - 1];
    }
    hits[k] = hit;
    log->count++;
}

static void end_impact(crBatchHit* hits, crHitLog* log) {
    for (int i = log->begun + 1; i < log->count; i++) {
        hits[i].together = true;
    }
    log->begun = log->count;
}

void cr__hits_add(const crBatchJob* job, int i, const crWorld* world) {
    crMethod method = job->settings.method;
    bool impacts = method == CR_METHOD_CONE || method == CR_METHOD_EVENT;
    crHitLog* log = &job->logs[i];
    crBatchHit* hits = job->hits + (size_t)i * (size_t)job->hit_room;
    crEvents events = cr_world_events(world);
    for (int k = 0, impact = -1; k < events.count; k++) {
        const crEvent* e = &events.events[k];
        if (impacts ? e->impact < 0 : e->impact < CR_EVENT_CONTACT) continue;
        log->all++;
        if (e->time != log->time || (impacts && e->impact != impact)) end_impact(hits, log);
        log->time = e->time;
        impact = e->impact;
        bool swap = e->body_b < e->body_a;
        insert(hits, job->hit_room, log,
               (crBatchHit){swap ? e->body_b : e->body_a, swap ? e->body_a : e->body_b, false});
    }
    end_impact(hits, log);
}
