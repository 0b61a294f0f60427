// batch_gpu_run.c - the steps of a batch on a GPU: launches, and worlds that the host steps.
//
// A call of cr_batch_step: records that the host wrote go over, every thread of the device steps worlds (gpu/kernel.c), and the
// worlds it hands back make one step on the host and go on there in the next round; after some rounds the host ends them.
// Worlds of one body go as far as they can without the stages (cr__lane_lone), then make one step by them.
// Fails: CR_ERR_MEMORY; CR_ERR_FILE where the device fails. The batch then has the last state that the host knew.
#include "world/batch_gpu.h"

#if !(defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__))

#define WHOLE       8   // steps by the stages in a launch: then worlds that go on are put side by side again
#define ROUNDS      6   // in which worlds come back from the host
#define LONE_ROUNDS 30  // likewise where they have one body
#define FEW \
    64  // worlds for each thread of the host that are not worth another round: a launch takes long however few

// whether all worlds have the lone body of the batch's model
static bool goes_alone(const crBatch* batch) {
    return batch->gpu->program.lone != NULL && batch->job.varied_count == 0 && batch->job.models == NULL;
}

static crStatus wait_for(const struct crGpu* gpu, crError* error) {
    CR_DEVICE_TRY(&gpu->device, cuCtxSynchronize(), "running the program", error);
    return CR_OK;
}

// worlds of the list, or all; lone: by steps of lone bodies alone. Afterwards the host knows their turns
static crStatus launch(crBatch* batch, bool lone, bool listed, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t bytes = (size_t)batch->count * sizeof(int);
    crBatchJob job = cr__gpu_job(batch, listed, count);
    job.apart = goes_alone(batch);
    crStatus status = cr__device_send(&gpu->device, gpu->memory.job, &job, sizeof job, error);
    if (status == CR_OK && listed)
        status =
            cr__device_send(&gpu->device, gpu->memory.list, batch->list, (size_t)count * sizeof(int), error);
    if (status != CR_OK) return status;
    void* arguments[] = {&gpu->memory.job, &gpu->memory.slabs, &gpu->program.room};
    status = cr__gpu_launch(gpu, lone ? gpu->program.lone : gpu->program.kernel,
                            lone ? gpu->program.lone_blocks : gpu->program.blocks, count, arguments, error);
    if (status == CR_OK) status = wait_for(gpu, error);
    if (status != CR_OK) return status;
    gpu->newer = gpu->results_newer = true;
    return cr__device_fetch(&gpu->device, batch->turn, gpu->memory.turn, bytes, error);
}

static int list_turn(crBatch* batch, crTurn turn) {
    int count = 0;
    for (int i = 0; i < batch->count; i++) {
        if (batch->turn[i] == (int)turn) batch->list[count++] = i;
    }
    return count;
}

// Worlds that the device handed back make a step here, or all that they have to make where there are few, or that is the last
// round; the list has those that go on.
static crStatus visit_host(crBatch* batch, crVisitors* visit, bool last, crError* error) {
    int count = list_turn(batch, CR_TURN_HOST);
    crStatus status = cr__gpu_come(batch, batch->list, count, visit, error);
    if (status != CR_OK) return status;
    for (int k = 0; k < count; k++) {
        crBatchResult* r = &visit->job.results[k];
        // less than 0 where the device tried
        r->handed = r->handed < 0 ? -r->handed : r->handed + 1;
    }
    status = cr__gpu_stay(batch, visit, last || count <= FEW * batch->lane_count ? 0 : 1, error);
    return status == CR_OK ? cr__gpu_go(batch, visit, error) : status;
}

static crStatus run_handed(crBatch* batch, bool last, int* left, crError* error) {
    struct crGpu* gpu = batch->gpu;
    crVisitors visit = {0};
    crStatus status = visit_host(batch, &visit, last, error);
    *left = 0;
    for (int k = 0; status == CR_OK && k < visit.count; k++) {
        int i = visit.list[k];
        bool goes_on =
            visit.job.results[k].status == CR_OK && visit.job.made[k] < cr__batch_goal(&visit.job, k);
        batch->turn[i] = goes_on ? CR_TURN_DEVICE : CR_TURN_OVER;
        if (goes_on) batch->list[(*left)++] = i;
    }
    cr__gpu_end_visit(batch, &visit);
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->memory.turn, batch->turn,
                                             (size_t)batch->count * sizeof(int), error)
                           : status;
}

// Where there are more worlds than threads, small ones: large worlds take more time to be made anew than is gained.
static int whole_steps(const struct crGpu* gpu, int count) {
    return gpu->program.room <= CR_ROOM_SMALL && (unsigned)count > gpu->program.blocks * CR_GPU_WARP / 2
               ? WHOLE
               : 0;
}

static crStatus run_whole(crBatch* batch, bool listed, int count, crError* error) {
    if (!listed && cr__gpu_shares(batch)) return cr__gpu_share(batch, error);
    batch->job.whole = whole_steps(batch->gpu, count);
    return launch(batch, false, listed, count, error);
}

// Lone bodies as far as they go; then a step by the stages for those that go on: of bodies that touch by steps of lone ones on
// the host, for there are few of these and a launch takes as long as its slowest thread, else on the device.
static crStatus run_alone(crBatch* batch, bool listed, int count, crError* error) {
    crStatus status = launch(batch, true, listed, count, error);
    batch->job.whole = 1;
    count = list_turn(batch, CR_TURN_DEVICE);
    if (status != CR_OK || count == 0) return status;
    if (!batch->job.lone.touches) return launch(batch, false, true, count, error);
    for (int k = 0; k < count; k++) {
        batch->turn[batch->list[k]] = CR_TURN_HOST;
    }
    return CR_OK;
}

static crStatus run_rounds(crBatch* batch, crError* error) {
    int count = batch->count, most = goes_alone(batch) ? LONE_ROUNDS : ROUNDS;
    bool listed = false;
    crStatus status = cr__gpu_push(batch, error);
    if (status == CR_OK && batch->job.path.samples > 0) status = cr__gpu_push_path(batch, error);
    for (int round = 0; status == CR_OK; listed = true) {
        if (count > 0)
            status = goes_alone(batch) ? run_alone(batch, listed, count, error)
                                       : run_whole(batch, listed, count, error);
        if (status != CR_OK) break;
        count = list_turn(batch, CR_TURN_DEVICE);
        if (count > 0) continue;
        // what the host has to do waits until nothing else goes on
        if (list_turn(batch, CR_TURN_HOST) == 0) break;
        status = run_handed(batch, ++round > most, &count, error);
    }
    return status;
}

crStatus cr__gpu_run(crBatch* batch, crError* error) {
    crStatus status = run_rounds(batch, error);
    batch->job.whole = 0;
    if (status != CR_OK) cr__gpu_forget(batch);
    return status;
}

#endif
