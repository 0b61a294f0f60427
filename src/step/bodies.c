// bodies.c - a stage over the bodies of the part by several threads; velocities and sizes of bodies.
//
// A stage computes trees first, in one call, since parents come before their children. The result for a
// single body depends on no other body, so chunks of single bodies run in any order. Each chunk has its own
// crDynamics, which shares the arrays; a chunk writes only entries of its own bodies.
// Fails: as the stage does, with the error of the first chunk that failed; CR_ERR_MEMORY.
#include "base/tasks.h"
#include "model/single.h"
#include "step/step.h"

#define CHUNK 256  // bodies per task
#define FEW   32   // bodies per call of a stage with one thread

typedef struct Share {
    const crModel* model;
    const crDynamics* d;
    crPartFn stage;
    void* ctx;
    const int* bodies;
    crStatus* status;  // status of each chunk
} Share;

static void run_chunk(void* ctx, int begin, int end) {
    const Share* share = ctx;
    crDynamics own = *share->d;
    crPart part = {share->bodies + begin, end - begin};
    share->status[begin / CHUNK] = share->stage(share->model, part, &own, share->ctx);
}

crStatus cr__step_by_bodies(crStep* step, crPart part, crPartFn stage, void* ctx) {
    const crModel* model = step->model;
    crDynamics* d = &step->dynamics;
    int trees = 0;
    while (trees < part.count && part.bodies[trees] < step->plan->first_single) {
        trees++;
    }
    int count = part.count - trees, chunks = (count + CHUNK - 1) / CHUNK;
    crStatus status = stage(model, (crPart){part.bodies, trees}, d, ctx);
    // One thread takes fewer bodies per call: data that a stage reads several times stays in the cache.
    for (int i = trees; step->own.tasks == NULL && i < part.count && status == CR_OK; i += FEW) {
        int some = part.count - i < FEW ? part.count - i : FEW;
        status = stage(model, (crPart){part.bodies + i, some}, d, ctx);
    }
    if (step->own.tasks == NULL) return status;
    size_t mark = cr_arena_mark(&step->scratch);
    Share share = {.model = model, .d = d, .stage = stage, .ctx = ctx, .bodies = part.bodies + trees};
    if (!CR_ROOMS(&step->scratch, CR_ROOM(share.status, chunks))) return CR_ERR_MEMORY;
    cr__tasks_for(step->own.tasks, count, CHUNK, run_chunk, &share);
    for (int i = 0; i < chunks && status == CR_OK; i++) {
        status = share.status[i];
    }
    cr_arena_release(&step->scratch, mark);
    return status;
}

static crStatus set_velocity(const crModel* model, crPart part, crDynamics* d, void* v) {
    cr__part_velocity(model, part, v, d);
    return CR_OK;
}

crStatus cr__step_velocity(crStep* step, double* v) {
    return cr__step_by_bodies(step, cr__step_part(step), set_velocity, v);
}

crTwist cr__step_twist(const crStep* step, const double* v, int body) {
    const crModel* model = step->model;
    const crDynamics* d = &step->dynamics;
    if (model->bodies[body].single) return cr__single_twist(v + model->bodies[body].v);
    crTwist twist = d->given[body];
    for (int j = model->bodies[body].last; j >= 0; j = model->velocity.parent[j]) {
        twist = cr__twist_madd(twist, v[j], cr__dof_axis(d, j));
    }
    return twist;
}

crVec3 cr__step_point_velocity(const crStep* step, const double* v, int body, crVec3 point) {
    return cr__twist_at(cr__step_twist(step, v, body), cr_sub(point, step->dynamics.origin[body]));
}

crVec3 cr__step_fall(const crStep* step, int body) {
    const crBody* b = &step->model->bodies[body];
    crVec3 a = cr_vec3(0, 0, 0);
    if (!step->airborne[body]) return a;
    if (body >= step->plan->first_single && !step->plan->loaded && step->plan->falls_alike)
        return cr_add(a, step->plan->falls);
    if (b->single && !step->plan->loaded) return cr_add(a, cr__load_vec(step->plan->fall + b->v));
    for (int j = b->v; j < b->v + b->nv; j++) {
        a = cr_madd(a, cr__plan_fall(step->plan, step->state.force, j), cr__dof_axis(&step->dynamics, j).v);
    }
    return a;
}

double cr_step_size(const crStep* step, int body) {
    bool known = cr__step_ready(step) && body >= 0 && body < step->model->nb;
    return known ? step->plan->size[body] : (double)NAN;
}
