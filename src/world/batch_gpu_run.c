// batch_gpu_run.c - the steps of a batch on a GPU: launches, and worlds that the host steps.
//
// A call of cr_batch_step: records that the host wrote go over, every thread of the device steps worlds (gpu/kernel.c), and the
// worlds it hands back make one step on the host and go on there in the next round; after some rounds the host ends them.
// Worlds of one body go as far as they can without the stages (cr__lane_lone), then make one step by them.
// Fails: CR_ERR_MEMORY; CR_ERR_FILE where the device fails. The host's records are then those before the call.
#include "world/batch_gpu.h"

#if !(defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__))

#include <string.h>

#define WHOLE        8   // steps by the stages in a launch: then worlds that go on are put side by side again
#define ROUNDS       6   // in which worlds come back from the host
#define LIGHT_ROUNDS 30  // likewise where they come one by one
#define FEW \
    64  // worlds for each thread of the host that are not worth another round: a launch takes long however few

// whether all worlds have the lone body of the batch's model
static bool goes_alone(const crBatch* batch) {
    return batch->gpu->lone != NULL && batch->job.varied_count == 0 && batch->job.models == NULL;
}

static crStatus wait_for(const struct crGpu* gpu, crError* error) {
    CR_DEVICE_TRY(&gpu->device, cuCtxSynchronize(), "running the program", error);
    return CR_OK;
}

static crStatus start(const struct crGpu* gpu, void* kernel, unsigned most, int count, void** arguments,
                      crError* error) {
    crStatus status = cr__gpu_launch(gpu, kernel, most, count, arguments, error);
    return status == CR_OK ? wait_for(gpu, error) : status;
}

// worlds of the list, or all; lone: by steps of lone bodies alone. Afterwards the host knows their turns
static crStatus launch(crBatch* batch, bool lone, bool listed, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t bytes = (size_t)batch->count * sizeof(int);
    crBatchJob job = cr__gpu_job(batch, listed, count);
    job.apart = goes_alone(batch);
    crStatus status = cr__device_send(&gpu->device, gpu->job, &job, sizeof job, error);
    if (status == CR_OK) status = cr__gpu_push_results(batch, error);
    if (status == CR_OK && listed)
        status = cr__device_send(&gpu->device, gpu->list, batch->list, (size_t)count * sizeof(int), error);
    if (status != CR_OK) return status;
    void* arguments[] = {&gpu->job, &gpu->slabs, &gpu->room};
    status = start(gpu, lone ? gpu->lone : gpu->kernel, lone ? gpu->lone_blocks : gpu->blocks, count,
                   arguments, error);
    if (status != CR_OK) return status;
    gpu->newer = gpu->results_newer = true;
    return cr__device_fetch(&gpu->device, batch->turn, gpu->turn, bytes, error);
}

static int list_turn(crBatch* batch, crTurn turn) {
    int count = 0;
    for (int i = 0; i < batch->count; i++) {
        if (batch->turn[i] == (int)turn) batch->list[count++] = i;
    }
    return count;
}

// worlds of the list that have steps to make
static int list_unfinished(crBatch* batch, int count) {
    int left = 0;
    for (int k = 0; k < count; k++) {
        int i = batch->list[k];
        if (batch->job.results[i].status == CR_OK && batch->job.made[i] < cr__batch_goal(&batch->job, i))
            batch->list[left++] = i;
    }
    return left;
}

// worlds of the list make a step on the host, or all that they have to make where there are few, or that is the last round
static crStatus step_handed(crBatch* batch, int count, bool last, crError* error) {
    for (int k = 0; k < count; k++) {
        crBatchResult* r = &batch->job.results[batch->list[k]];
        // less than 0 where the device tried
        r->handed = r->handed < 0 ? -r->handed : r->handed + 1;
    }
    batch->job.most = last || count <= FEW * batch->lane_count ? 0 : 1;
    batch->job.whole = 0;
    crStatus status = cr__batch_host(batch, batch->list, count, error);
    batch->job.most = 0;
    return status;
}

// worlds of the list, which the device has, from the buffer of the device or to it
static crStatus exchange(crBatch* batch, uint64_t* buffer, int count, bool back, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t words = (size_t)cr__batch_exchange_words(&batch->job) * (size_t)count, way = back;
    crStatus status = CR_OK;
    if (words * sizeof *buffer > gpu->buffer_bytes) {
        cr__device_let_go(&gpu->device, &gpu->buffer);
        gpu->buffer_bytes = 0;
        status = cr__device_take(&gpu->device, &gpu->buffer, words * sizeof *buffer, error);
        if (status == CR_OK) gpu->buffer_bytes = words * sizeof *buffer;
    }
    for (int k = 0; k < count && back; k++) {
        cr__batch_exchange(&batch->job, batch->list[k], buffer + k, (size_t)count, false);
    }
    if (status == CR_OK && back)
        status = cr__device_send(&gpu->device, gpu->buffer, buffer, words * sizeof *buffer, error);
    void* arguments[] = {&gpu->job, &gpu->buffer, &way};
    if (status == CR_OK) status = start(gpu, gpu->exchange, gpu->lone_blocks, count, arguments, error);
    if (status == CR_OK && !back)
        status = cr__device_fetch(&gpu->device, buffer, gpu->buffer, words * sizeof *buffer, error);
    for (int k = 0; status == CR_OK && k < count && !back; k++) {
        cr__batch_exchange(&batch->job, batch->list[k], buffer + k, (size_t)count, true);
    }
    return status;
}

// Whether worlds go to the host and back one by one: they never need larger records, and nothing else goes along.
static bool goes_lightly(const crBatch* batch) {
    return goes_alone(batch) && batch->job.lone.touches && batch->job.logs == NULL &&
           batch->job.path.samples == 0 && batch->job.layout.warm_room >= CR_LONE_CONTACTS;
}

static crStatus name_list(crBatch* batch, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    crBatchJob job = cr__gpu_job(batch, true, count);
    return cr__device_send(&gpu->device, gpu->job, &job, sizeof job, error);
}

// As run_handed, for those worlds.
static crStatus run_lightly(crBatch* batch, bool last, int* left, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t bytes = (size_t)batch->count * sizeof(int);
    int count = list_turn(batch, CR_TURN_HOST), next = 0;
    size_t words = (size_t)cr__batch_exchange_words(&batch->job) * (size_t)count;
    uint64_t* buffer = cr__batch_zeros(&batch->allocator, words, sizeof *buffer);
    if (buffer == NULL) return cr__batch_memory(error);
    crStatus status = name_list(batch, count, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->list, batch->list, (size_t)count * sizeof(int), error);
    if (status == CR_OK) status = exchange(batch, buffer, count, false, error);
    if (status == CR_OK) status = step_handed(batch, count, last, error);
    if (status == CR_OK) status = exchange(batch, buffer, count, true, error);
    cr__batch_give(&batch->allocator, buffer, words * sizeof *buffer);
    for (int k = 0; k < count; k++) {
        int i = batch->list[k];
        bool goes_on =
            batch->job.results[i].status == CR_OK && batch->job.made[i] < cr__batch_goal(&batch->job, i);
        batch->turn[i] = goes_on ? CR_TURN_DEVICE : CR_TURN_OVER;
        if (goes_on) batch->list[next++] = i;
    }
    *left = next;
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->turn, batch->turn, bytes, error) : status;
}

// The worlds that the device handed back make a step here, or all of them where that is the last round; how many are left.
static crStatus run_handed(crBatch* batch, bool last, int* left, crError* error) {
    struct crGpu* gpu = batch->gpu;
    bool newer = gpu->results_newer;
    crStatus status = cr__gpu_pull(batch, error);
    size_t bytes = (size_t)batch->count * sizeof(int);
    if (status == CR_OK && newer)
        status = cr__device_fetch(&gpu->device, batch->job.made, gpu->made, bytes, error);
    if (status != CR_OK) return status;
    int count = list_turn(batch, CR_TURN_HOST);
    status = step_handed(batch, count, last, error);
    gpu->written = gpu->results_written = true;
    // the list was used for worlds that went again with larger records
    count = list_turn(batch, CR_TURN_HOST);
    *left = list_unfinished(batch, count);
    memset(batch->turn, 0, bytes);
    if (status == CR_OK) status = cr__device_send(&gpu->device, gpu->turn, batch->turn, bytes, error);
    return status == CR_OK ? cr__gpu_push(batch, error) : status;
}

// Where there are more worlds than threads, small ones: large worlds take more time to be made anew than is gained.
static int whole_steps(const struct crGpu* gpu, int count) {
    return gpu->room <= CR_ROOM_SMALL && (unsigned)count > gpu->blocks * CR_GPU_WARP / 2 ? WHOLE : 0;
}

static crStatus run_whole(crBatch* batch, bool listed, int count, crError* error) {
    if (!listed && cr__gpu_shares(batch)) return cr__gpu_share(batch, error);
    batch->job.whole = whole_steps(batch->gpu, count);
    return launch(batch, false, listed, count, error);
}

// Lone bodies as far as they go; then a step by the stages for those that go on, on the device, or on the host where that costs
// little: there are few of these, and a launch takes as long as its slowest thread.
static crStatus run_alone(crBatch* batch, bool listed, int count, crError* error) {
    crStatus status = launch(batch, true, listed, count, error);
    batch->job.whole = 1;
    count = list_turn(batch, CR_TURN_DEVICE);
    if (status != CR_OK || count == 0) return status;
    if (!goes_lightly(batch)) return launch(batch, false, true, count, error);
    for (int k = 0; k < count; k++) {
        batch->turn[batch->list[k]] = CR_TURN_HOST;
    }
    return CR_OK;
}

crStatus cr__gpu_run(crBatch* batch, crError* error) {
    int count = batch->count;
    bool listed = false;
    crStatus status = cr__gpu_push(batch, error);
    if (status == CR_OK && batch->job.path.samples > 0) status = cr__gpu_push_path(batch, error);
    batch->gpu->results_written = false;
    for (int round = 0; status == CR_OK; listed = true) {
        if (count > 0)
            status = goes_alone(batch) ? run_alone(batch, listed, count, error)
                                       : run_whole(batch, listed, count, error);
        if (status != CR_OK) break;
        count = list_turn(batch, CR_TURN_DEVICE);
        if (count > 0) continue;
        // what the host has to do waits until nothing else goes on
        if (list_turn(batch, CR_TURN_HOST) == 0) break;
        round++;
        status = goes_lightly(batch) ? run_lightly(batch, round > LIGHT_ROUNDS, &count, error)
                                     : run_handed(batch, round > ROUNDS, &count, error);
    }
    batch->job.whole = 0;
    return status;
}

#endif
