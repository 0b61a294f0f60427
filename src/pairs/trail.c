// trail.c - how far bodies have come: shapes that were far apart cannot have come nearer than their ways.
//
// Turned by phi, points of a body go 2 sin(phi / 2) of their distance at most, which is less than 2 |q+ - q|.
#include "pairs/pairs.h"

#define BODIES 256  // that one thread takes at a time

typedef struct Follow {
    crPairs* pairs;
    const crDynamics* d;
} Follow;

static void follow_range(void* ctx, int begin, int end) {
    const Follow* follow = ctx;
    const crPlan* plan = follow->pairs->plan;
    const crDynamics* d = follow->d;
    for (int b = begin > 0 ? begin : 1; b < end; b++) {
        crTrail* trail = &follow->pairs->trails.at[b];
        double* way = &follow->pairs->trails.way[b];
        crQuat q = d->pose[b].q, was = trail->q;
        double turn = sqrt((q.w - was.w) * (q.w - was.w) + (q.x - was.x) * (q.x - was.x) +
                           (q.y - was.y) * (q.y - was.y) + (q.z - was.z) * (q.z - was.z));
        // what v does not move has no size here
        double size = cr__moves(plan->model, b) ? plan->size[b] : INFINITY;
        if (turn > 0.0) *way += 2.0 * turn * size;
        *way += cr_norm(cr_sub(d->com[b], trail->com));
        trail->com = d->com[b];
        trail->q = q;
    }
}

void cr__pairs_follow(crPairs* pairs, crTasks* tasks, const crDynamics* d) {
    Follow follow = {pairs, d};
    cr__tasks_for(tasks, pairs->plan->model->nb, BODIES, follow_range, &follow);
}
