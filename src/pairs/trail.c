// trail.c - lengths of the trails of bodies: two shapes approach by no more than both trails grow.
//
// A rotation by phi moves a point at distance r by 2 r sin(phi / 2), which is less than 2 r |q+ - q|.
#include "pairs/pairs.h"

#define BODIES 256  // bodies per task

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
        // a body that v does not move counts as infinitely large: any rotation makes its trail infinite
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
