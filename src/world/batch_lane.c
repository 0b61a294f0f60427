// batch_lane.c - one working world that steps the worlds of a batch one after another, from their records.
//
// Nothing that a world keeps beside its record changes a bit of its future, so a lane may step one world after
// another. Where numbers of the model vary, the lane has its own bodies, materials and shapes and makes its world anew for each.
// The same code runs on the host and on a device.
// Fails: CR_ERR_MEMORY, CR_ERR_LIMIT where there is no room; the world's record is then that of the steps made.
#include <string.h>

#include "model/spatial.h"
#include "world/batch.h"

void cr__lane_destroy(crBatchLane* lane) {
    crAllocator* a = &lane->allocator;
    cr_world_destroy(lane->world);
    if (lane->bodies != NULL) a->free(a->ctx, lane->bodies, (size_t)lane->model.nb * sizeof *lane->bodies);
    if (lane->materials != NULL)
        a->free(a->ctx, lane->materials, (size_t)lane->model.material_count * sizeof *lane->materials);
    if (lane->shapes != NULL)
        a->free(a->ctx, lane->shapes, (size_t)(lane->model.shape_count + 1) * sizeof *lane->shapes);
    lane->world = NULL;
    lane->bodies = NULL;
    lane->materials = NULL;
    lane->shapes = NULL;
}

static crStatus own_model(crBatchLane* lane, const crModel* model) {
    if (lane->bodies != NULL) return CR_OK;
    crAllocator* a = &lane->allocator;
    lane->model = *model;
    lane->bodies = a->alloc(a->ctx, (size_t)model->nb * sizeof *lane->bodies);
    lane->materials = a->alloc(a->ctx, (size_t)model->material_count * sizeof *lane->materials);
    lane->shapes = a->alloc(a->ctx, (size_t)(model->shape_count + 1) * sizeof *lane->shapes);
    if (lane->bodies == NULL || lane->materials == NULL || lane->shapes == NULL) return CR_ERR_MEMORY;
    lane->model.bodies = lane->bodies;
    lane->model.materials = lane->materials;
    lane->model.shapes = lane->shapes;
    return CR_OK;
}

static void set_mass(crBody* body, double mass) {
    double s = mass / body->mass;
    crSym3 I = body->inertia;
    crMass scaled = {mass, body->com, {s * I.xx, s * I.xy, s * I.xz, s * I.yy, s * I.yz, s * I.zz}};
    cr__body_set_mass(body, &scaled);
}

void cr__lane_vary(crBatchLane* lane, const crBatchJob* job, int i) {
    const crModel* model = job->model;
    memcpy(lane->bodies, model->bodies, (size_t)model->nb * sizeof *lane->bodies);
    memcpy(lane->materials, model->materials, (size_t)model->material_count * sizeof *lane->materials);
    if (model->shape_count > 0)
        memcpy(lane->shapes, model->shapes, (size_t)model->shape_count * sizeof *lane->shapes);
    for (int k = 0; k < job->varied_count; k++) {
        int at = job->varied[k].index;
        double x = job->values[(size_t)k * job->stride + (size_t)i];
        switch (job->varied[k].what) {
        case CR_VARY_MASS:
            set_mass(&lane->bodies[at], x);
            break;
        case CR_VARY_MU:
            lane->materials[at].surface.mu = lane->materials[at].surface.mu2 = x;
            break;
        case CR_VARY_E:
            lane->materials[at].surface.e = x;
            break;
        case CR_VARY_SIZE:
            lane->shapes[at].shape.size = cr_scale(x, lane->shapes[at].shape.size);
            break;
        }
    }
}

static crStatus make_world(crBatchLane* lane, const crBatchJob* job, const crModel* model) {
    crWorldDef def = cr_world_def();
    def.model = model;
    def.step = job->settings;
    def.allocator = &lane->allocator;
    def.scratch = lane->scratch;
    return cr_world_create(&def, &lane->world, NULL);
}

static crStatus prepare(crBatchLane* lane, const crBatchJob* job, int i) {
    if (job->varied_count == 0) return lane->world != NULL ? CR_OK : make_world(lane, job, job->model);
    crStatus status = own_model(lane, job->model);
    if (status != CR_OK) return status;
    cr_world_destroy(lane->world);
    lane->world = NULL;
    cr__lane_vary(lane, job, i);
    return make_world(lane, job, &lane->model);
}

crStatus cr__lane_run(crBatchLane* lane, const crBatchJob* job, int i) {
    crRecord record = {job->words + i, job->stride};
    crBatchResult* result = &job->results[i];
    if (job->fresh) *result = (crBatchResult){0};
    if (job->fresh) job->made[i] = 0;
    int made = job->made[i];
    int until = job->most > 0 && job->steps - made > job->most ? made + job->most : job->steps;
    crTally tally = result->tally;
    crStatus status = prepare(lane, job, i);
    if (status == CR_OK) status = cr__record_load(&job->layout, record, lane->world);
    if (status != CR_OK) return status;
    while (status == CR_OK && made < until) {
        status = cr__world_step_by(lane->world, job->h, NULL);
        if (status != CR_OK) break;
        cr_tally_add(&tally, cr_world_certificate(lane->world));
        made++;
    }
    // a record that is too small keeps the world as it was when the lane took it
    crStatus stored = cr__record_store(&job->layout, record, lane->world);
    if (stored != CR_OK) return stored;
    job->made[i] = made;
    result->tally = tally;
    if (status == CR_ERR_MEMORY) return status;
    result->status = status;
    return CR_OK;
}
