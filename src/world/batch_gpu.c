// batch_gpu.c - a batch on a GPU: records on the device, its program loaded by the driver, what it has no room for made by the
// host.
//
// A call of cr_batch_step: records that the host wrote go over, every thread of the device steps worlds (gpu/kernel.c), and the
// worlds it hands back make one step on the host and go on there in the next round; after ROUNDS the host ends them.
// Fails: CR_ERR_NAME without driver or device, CR_ERR_RANGE for what the device program leaves out, CR_ERR_MEMORY,
// CR_ERR_FILE where the device or its program fails. The host's records are then those before the call.
#include "world/batch.h"

#if defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__)

crStatus cr__gpu_create(crBatch* batch, const crBatchDef* def, crError* error) {
    (void)batch;
    (void)def;
    return cr_error_set(error, CR_ERR_NAME, "backend",
                        "backend: \"gpu\" is not in this build; use serial or threads");
}
void cr__gpu_destroy(crBatch* batch) { (void)batch; }
crStatus cr__gpu_run(crBatch* batch, crError* error) {
    (void)batch;
    (void)error;
    return CR_OK;
}
crStatus cr__gpu_pull(crBatch* batch, crError* error) {
    (void)batch;
    (void)error;
    return CR_OK;
}
void cr__gpu_written(crBatch* batch) { (void)batch; }
crStatus cr__gpu_words(crBatch* batch, uint64_t** words, crError* error) {
    (void)batch;
    (void)words;
    (void)error;
    return CR_OK;
}
crStatus cr__gpu_models(crBatch* batch, const crModel* const* models, crError* error) {
    (void)batch;
    (void)models;
    (void)error;
    return CR_OK;
}

#else

#include <string.h>

#include "base/argument.h"
#include "resolve/kinds.h"
#include "world/batch_device.h"
#include "world/batch_image.h"

#define BLOCK        64           // threads of a block
#define STACK        (192 << 10)  // bytes of a thread's stack: deep overlaps of convex shapes need half of it
#define REGISTERS    64           // of a thread of small worlds: many of them hide each other's waiting
#define ALL          255          // of others
#define SHARE        16           // a slab is so many times what a world's arrays of the model's size take
#define WHOLE        8   // steps by the stages in a launch: then worlds that go on are put side by side again
#define ROUNDS       6   // in which worlds come back from the host
#define LIGHT_ROUNDS 30  // likewise where they come one by one
#define FEW          64  // worlds that are not worth another round

enum { MULTIPROCESSORS = 16 };  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
enum { STACK_SIZE = 0 };        // CU_LIMIT_STACK_SIZE
enum { PTX_TEXT = 1 };          // CU_JIT_INPUT_PTX
enum { MAX_REGISTERS = 0 };     // CU_JIT_MAX_REGISTERS

struct crGpu {
    crDevice device;
    void *module, *kernel;
    void *lone, *exchange;  // kernels for worlds of one body; NULL: the model has more
    unsigned lone_blocks;   // at most
    bool local;             // slabs are in the threads' own memory
    size_t room;            // bytes of a slab
    unsigned blocks;        // at most
    crAddress model;        // image
    crAddress words, values, varied, results, made, turn, list, job, slabs;
    crAddress images, models;  // of each world, and where they begin
    crAddress buffer;          // for worlds that go to the host and back
    size_t buffer_bytes;
    crAddress logs, hits;                  // cr_batch_hits
    crAddress path_h, path_steps, path_q;  // crBatchPath
    size_t path_room;                      // samples of all worlds that these have room for
    size_t word_bytes;                     // of the device's records
    int columns;                           // of varied numbers there
    bool newer;                            // the device's records are newer than the host's
    bool written;                          // the host's are newer than the device's
    bool results_newer;
    bool results_written;  // the host's results and steps made are newer
};

static crStatus check_batch(const crBatch* batch, crError* error) {
    const crStepSettings* s = &batch->job.settings;
    const char* why = cr__image_refuses(batch->job.model);
    if (why != NULL)
        return cr_error_set(error, CR_ERR_RANGE, "model", "model: %s; use the back end threads", why);
    if (s->method != CR_METHOD_CONE)
        return cr_error_set(error, CR_ERR_RANGE, "method",
                            "method: gpu knows cone alone; use the back end threads");
    if (s->rule.resolve != cr__rule_poisson.resolve || s->rule.params != NULL)
        return cr_error_set(error, CR_ERR_RANGE, "rule",
                            "rule: gpu knows poisson with its defaults alone; use the back end threads");
    if (s->solver.solve != cr__solver_auto.solve || s->solver.params != NULL)
        return cr_error_set(error, CR_ERR_RANGE, "solver",
                            "solver: gpu knows auto with its defaults alone; use the back end threads");
    return CR_OK;
}

// Through the linker the driver compiles function by function, which takes a fraction of the time of a whole program.
static crStatus link_program(struct crGpu* gpu, const char* text, crError* error) {
    void *linker = NULL, *code = NULL;
    size_t size = 0;
    int option = MAX_REGISTERS;
    void* value = (void*)(uintptr_t)(gpu->room <= CR_ROOM_SMALL ? REGISTERS : ALL);
    CR_DEVICE_TRY(&gpu->device, cuLinkCreate_v2(1, &option, &value, &linker), "compiling the program", error);
    int failed = gpu->device.driver.cuLinkAddData_v2(linker, PTX_TEXT, (void*)(uintptr_t)text,
                                                     strlen(text) + 1, "carom.ptx", 0, NULL, NULL);
    if (failed == 0) failed = gpu->device.driver.cuLinkComplete(linker, &code, &size);
    // the code lives as long as the linker
    if (failed == 0) failed = gpu->device.driver.cuModuleLoadData(&gpu->module, code);
    gpu->device.driver.cuLinkDestroy(linker);
    return failed == 0 ? CR_OK : cr__device_failed(&gpu->device, failed, "compiling the program", error);
}

// how many blocks of a kernel run at a time
static crStatus count_blocks(struct crGpu* gpu, void* kernel, unsigned* blocks, crError* error) {
    int units = 0, each = 0;
    CR_DEVICE_TRY(&gpu->device, cuDeviceGetAttribute(&units, MULTIPROCESSORS, gpu->device.number),
                  "asking the device", error);
    CR_DEVICE_TRY(&gpu->device, cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, BLOCK, 0),
                  "asking the device", error);
    *blocks = (unsigned)(units * (each > 0 ? each : 1));
    return CR_OK;
}

// text is compiled, anything else is code of the device already
static crStatus load_program(struct crGpu* gpu, const crBatchDef* def, crError* error) {
    if (def->program == NULL)
        return cr_error_set(
            error, CR_ERR_ARGUMENT, "program",
            "program: must be given for the back end gpu: the text of carom.ptx, which ./dev gpu makes");
    CR_DEVICE_TRY(&gpu->device, cuCtxSetLimit(STACK_SIZE, STACK), "setting the stack", error);
    if (strncmp(def->program, "\177ELF", 4) == 0) {
        CR_DEVICE_TRY(&gpu->device, cuModuleLoadData(&gpu->module, def->program), "loading the program",
                      error);
    } else {
        crStatus status = link_program(gpu, def->program, error);
        if (status != CR_OK) return status;
    }
    gpu->local = gpu->room <= CR_ROOM_MEDIUM;
    const char* name = gpu->room <= CR_ROOM_SMALL ? "cr_batch_small"
                       : gpu->local               ? "cr_batch_medium"
                                                  : "cr_batch_large";
    CR_DEVICE_TRY(&gpu->device, cuModuleGetFunction(&gpu->kernel, gpu->module, name),
                  "finding the program's entry", error);
    return count_blocks(gpu, gpu->kernel, &gpu->blocks, error);
}

// kernels of worlds with one body
static crStatus find_lone(struct crGpu* gpu, crError* error) {
    CR_DEVICE_TRY(&gpu->device, cuModuleGetFunction(&gpu->lone, gpu->module, "cr_batch_lone"),
                  "finding the program's entry", error);
    CR_DEVICE_TRY(&gpu->device, cuModuleGetFunction(&gpu->exchange, gpu->module, "cr_batch_exchange"),
                  "finding the program's entry", error);
    return count_blocks(gpu, gpu->lone, &gpu->lone_blocks, error);
}

static crStatus send_model(const crBatch* batch, struct crGpu* gpu, crError* error) {
    const crAllocator* a = &batch->allocator;
    size_t bytes = cr__image_model(batch->job.model, NULL, 0);
    crStatus status = cr__device_take(&gpu->device, &gpu->model, bytes, error);
    if (status != CR_OK) return status;
    unsigned char* image = a->alloc(a->ctx, bytes);
    if (image == NULL) return cr__batch_memory(error);
    cr__image_model(batch->job.model, image, gpu->model);
    status = cr__device_send(&gpu->device, gpu->model, image, bytes, error);
    a->free(a->ctx, image, bytes);
    return status;
}

static unsigned blocks_for(unsigned most, int worlds) {
    unsigned needed = ((unsigned)worlds + BLOCK - 1) / BLOCK;
    return needed < most ? needed : most;
}

static crStatus take_arrays(const crBatch* batch, struct crGpu* gpu, crError* error) {
    size_t count = (size_t)batch->count;
    crStatus status = cr__device_take(&gpu->device, &gpu->results, count * sizeof(crBatchResult), error);
    if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->made, count * sizeof(int), error);
    if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->turn, count * sizeof(int), error);
    if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->list, count * sizeof(int), error);
    if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->job, sizeof(crBatchJob), error);
    if (status == CR_OK && batch->job.logs != NULL) {
        status = cr__device_take(&gpu->device, &gpu->logs, count * sizeof(crHitLog), error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->hits,
                                     count * (size_t)batch->job.hit_room * sizeof(crBatchHit), error);
    }
    size_t lanes = (size_t)blocks_for(gpu->blocks, batch->count) * BLOCK;
    if (status == CR_OK && !gpu->local)
        status = cr__device_take(&gpu->device, &gpu->slabs, lanes * gpu->room, error);
    return status;
}

// by the memory that a world of the model keeps in its arrays
static size_t room_for(const crBatch* batch) {
    size_t kept = batch->lanes[0].world->step.store.used;
    if (kept <= CR_ROOM_SMALL / 4) return CR_ROOM_SMALL;
    return kept <= CR_ROOM_MEDIUM / 4 ? CR_ROOM_MEDIUM : SHARE * kept;
}

crStatus cr__gpu_create(crBatch* batch, const crBatchDef* def, crError* error) {
    crStatus status = check_batch(batch, error);
    if (status != CR_OK) return status;
    const crAllocator* a = &batch->allocator;
    struct crGpu* gpu = a->alloc(a->ctx, sizeof *gpu);
    if (gpu == NULL) return cr__batch_memory(error);
    *gpu = (struct crGpu){.written = true,
                          .room = def->room > 0 ? (def->room + 63) & ~(size_t)63 : room_for(batch)};
    batch->gpu = gpu;
    status = cr__device_open(&gpu->device, def->device, error);
    if (status == CR_OK) status = load_program(gpu, def, error);
    if (status == CR_OK && batch->job.lone.flies) status = find_lone(gpu, error);
    if (status == CR_OK) status = send_model(batch, gpu, error);
    if (status == CR_OK) status = take_arrays(batch, gpu, error);
    return status;
}

void cr__gpu_destroy(crBatch* batch) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return;
    if (gpu->device.context != NULL) {
        gpu->device.driver.cuCtxSetCurrent(gpu->device.context);
        crAddress* const all[] = {&gpu->model,      &gpu->words,  &gpu->values, &gpu->varied, &gpu->results,
                                  &gpu->made,       &gpu->turn,   &gpu->list,   &gpu->job,    &gpu->slabs,
                                  &gpu->images,     &gpu->models, &gpu->logs,   &gpu->hits,   &gpu->path_h,
                                  &gpu->path_steps, &gpu->path_q, &gpu->buffer};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            cr__device_let_go(&gpu->device, all[i]);
        }
        if (gpu->module != NULL) gpu->device.driver.cuModuleUnload(gpu->module);
    }
    cr__device_close(&gpu->device);
    batch->allocator.free(batch->allocator.ctx, gpu, sizeof *gpu);
    batch->gpu = NULL;
}

// images of the models, one after another
static crStatus send_images(const crBatch* batch, struct crGpu* gpu, const crModel* const* models,
                            unsigned char* image, uint64_t* address, size_t bytes, crError* error) {
    size_t used = 0;
    for (int i = 0; i < batch->count; i++) {
        address[i] = gpu->images + used;
        used += (cr__image_model(models[i], image + used, gpu->images + used) + 63) & ~(size_t)63;
    }
    crStatus status = cr__device_send(&gpu->device, gpu->images, image, bytes, error);
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->models, address,
                                             (size_t)batch->count * sizeof *address, error)
                           : status;
}

crStatus cr__gpu_models(crBatch* batch, const crModel* const* models, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return CR_OK;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetCurrent(gpu->device.context), "opening the device", error);
    cr__device_let_go(&gpu->device, &gpu->images);
    cr__device_let_go(&gpu->device, &gpu->models);
    size_t bytes = 0, count = (size_t)batch->count;
    for (int i = 0; models != NULL && i < batch->count; i++) {
        const char* why = cr__image_refuses(models[i]);
        if (why != NULL)
            return cr_error_set(error, CR_ERR_RANGE, "models",
                                "models: that of world %d: %s; use the back end threads", i, why);
        bytes += (cr__image_model(models[i], NULL, 0) + 63) & ~(size_t)63;
    }
    if (models == NULL) return CR_OK;
    const crAllocator* a = &batch->allocator;
    unsigned char* image = cr__batch_zeros(a, bytes, 1);
    uint64_t* address = cr__batch_zeros(a, count, sizeof *address);
    crStatus status = image != NULL && address != NULL
                          ? cr__device_take(&gpu->device, &gpu->images, bytes, error)
                          : cr__batch_memory(error);
    if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->models, count * sizeof *address, error);
    if (status == CR_OK) status = send_images(batch, gpu, models, image, address, bytes, error);
    cr__batch_give(a, image, bytes);
    cr__batch_give(a, address, count * sizeof *address);
    return status;
}

// what a call is to do beside its steps
static crStatus push_path(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchPath* path = &batch->job.path;
    size_t samples = (size_t)path->samples * (size_t)batch->count, nq = (size_t)batch->job.model->nq;
    crStatus status = CR_OK;
    if (samples > gpu->path_room) {
        cr__device_let_go(&gpu->device, &gpu->path_h);
        cr__device_let_go(&gpu->device, &gpu->path_steps);
        cr__device_let_go(&gpu->device, &gpu->path_q);
        gpu->path_room = 0;
        status = cr__device_take(&gpu->device, &gpu->path_h, samples * sizeof(double), error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->path_steps, samples * sizeof(int), error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->path_q, samples * nq * sizeof(double), error);
        if (status == CR_OK) gpu->path_room = samples;
    }
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->path_h, path->h, samples * sizeof(double), error);
    return status == CR_OK
               ? cr__device_send(&gpu->device, gpu->path_steps, path->steps, samples * sizeof(int), error)
               : status;
}

// results of worlds and what goes with them, from or to the device
static crStatus move_results(crBatch* batch,
                             crStatus (*move)(const crDevice*, void*, crAddress, size_t, crError*),
                             crError* error) {
    struct crGpu* gpu = batch->gpu;
    crBatchJob* job = &batch->job;
    size_t count = (size_t)batch->count;
    crStatus status = move(&gpu->device, job->results, gpu->results, count * sizeof *job->results, error);
    if (status == CR_OK && job->logs != NULL)
        status = move(&gpu->device, job->logs, gpu->logs, count * sizeof *job->logs, error);
    if (status == CR_OK && job->logs != NULL)
        status = move(&gpu->device, job->hits, gpu->hits, count * (size_t)job->hit_room * sizeof *job->hits,
                      error);
    if (status == CR_OK && job->path.q != NULL)
        status = move(&gpu->device, job->path.q, gpu->path_q,
                      count * (size_t)job->path.samples * (size_t)job->model->nq * sizeof(double), error);
    return status;
}

static crStatus send_back(const crDevice* device, void* host, crAddress at, size_t bytes, crError* error) {
    return cr__device_send(device, at, host, bytes, error);
}

// records and varied numbers that the host wrote
static crStatus push(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchJob* job = &batch->job;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetCurrent(gpu->device.context), "opening the device", error);
    if (!gpu->written) return CR_OK;
    crStatus status = CR_OK;
    if (gpu->word_bytes != cr__batch_bytes(batch)) {
        cr__device_let_go(&gpu->device, &gpu->words);
        status = cr__device_take(&gpu->device, &gpu->words, cr__batch_bytes(batch), error);
        gpu->word_bytes = status == CR_OK ? cr__batch_bytes(batch) : 0;
    }
    size_t column = job->stride * sizeof *job->values;
    if (status == CR_OK && gpu->columns != job->varied_count) {
        cr__device_let_go(&gpu->device, &gpu->values);
        cr__device_let_go(&gpu->device, &gpu->varied);
        status = cr__device_take(&gpu->device, &gpu->values, (size_t)job->varied_count * column, error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->varied,
                                     (size_t)job->varied_count * sizeof *job->varied, error);
        gpu->columns = status == CR_OK ? job->varied_count : 0;
    }
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->words, job->words, cr__batch_bytes(batch), error);
    if (status == CR_OK && job->varied_count > 0) {
        status = cr__device_send(&gpu->device, gpu->values, job->values, (size_t)job->varied_count * column,
                                 error);
        if (status == CR_OK)
            status = cr__device_send(&gpu->device, gpu->varied, job->varied,
                                     (size_t)job->varied_count * sizeof *job->varied, error);
    }
    gpu->written = status != CR_OK;
    return status;
}

crStatus cr__gpu_pull(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL || !(gpu->newer || gpu->results_newer)) return CR_OK;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetCurrent(gpu->device.context), "opening the device", error);
    crStatus status = CR_OK;
    if (gpu->newer)
        status = cr__device_fetch(&gpu->device, batch->job.words, gpu->words, cr__batch_bytes(batch), error);
    if (status == CR_OK && gpu->results_newer) status = move_results(batch, cr__device_fetch, error);
    gpu->newer = gpu->newer && status != CR_OK;
    gpu->results_newer = gpu->results_newer && status != CR_OK;
    return status;
}

void cr__gpu_written(crBatch* batch) {
    if (batch->gpu != NULL) batch->gpu->written = true;
}

crStatus cr__gpu_words(crBatch* batch, uint64_t** words, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return CR_OK;
    crStatus status = push(batch, error);
    if (status != CR_OK) return status;
    gpu->newer = true;
    *words = (uint64_t*)(uintptr_t)gpu->words;
    return CR_OK;
}

// whether all worlds have the lone body of the batch's model
static bool goes_alone(const crBatch* batch) {
    return batch->gpu->lone != NULL && batch->job.varied_count == 0 && batch->job.models == NULL;
}

// pointers of the device
static crBatchJob device_job(const crBatch* batch, bool listed, int count) {
    const struct crGpu* gpu = batch->gpu;
    crBatchJob job = batch->job;
    job.model = (const crModel*)(uintptr_t)gpu->model;
    job.words = (uint64_t*)(uintptr_t)gpu->words;
    job.varied = (const crVaried*)(uintptr_t)gpu->varied;
    job.values = (const double*)(uintptr_t)gpu->values;
    job.results = (crBatchResult*)(uintptr_t)gpu->results;
    job.made = (int*)(uintptr_t)gpu->made;
    job.turn = (int*)(uintptr_t)gpu->turn;
    job.models = batch->job.models != NULL ? (const crModel* const*)(uintptr_t)gpu->models : NULL;
    job.logs = (crHitLog*)(uintptr_t)gpu->logs;
    job.hits = (crBatchHit*)(uintptr_t)gpu->hits;
    job.path.h = (const double*)(uintptr_t)gpu->path_h;
    job.path.steps = (const int*)(uintptr_t)gpu->path_steps;
    job.path.q = batch->job.path.q != NULL ? (double*)(uintptr_t)gpu->path_q : NULL;
    job.list = listed ? (const int*)(uintptr_t)gpu->list : NULL;
    job.count = count;
    job.fresh = !listed;
    return job;
}

static crStatus start(const struct crGpu* gpu, void* kernel, unsigned blocks, void** arguments,
                      crError* error) {
    CR_DEVICE_TRY(&gpu->device, cuLaunchKernel(kernel, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL),
                  "starting the program", error);
    CR_DEVICE_TRY(&gpu->device, cuCtxSynchronize(), "running the program", error);
    return CR_OK;
}

// worlds of the list, or all; lone: by steps of lone bodies alone. Afterwards the host knows their turns
static crStatus launch(crBatch* batch, bool lone, bool listed, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t bytes = (size_t)batch->count * sizeof(int);
    crBatchJob job = device_job(batch, listed, count);
    job.apart = goes_alone(batch);
    crStatus status = cr__device_send(&gpu->device, gpu->job, &job, sizeof job, error);
    if (status == CR_OK && gpu->results_written) {
        status = move_results(batch, send_back, error);
        if (status == CR_OK) status = cr__device_send(&gpu->device, gpu->made, batch->job.made, bytes, error);
        gpu->results_written = status != CR_OK;
    }
    if (status == CR_OK && listed)
        status = cr__device_send(&gpu->device, gpu->list, batch->list, (size_t)count * sizeof(int), error);
    if (status != CR_OK) return status;
    void* arguments[] = {&gpu->job, &gpu->slabs, &gpu->room};
    status = start(gpu, lone ? gpu->lone : gpu->kernel,
                   blocks_for(lone ? gpu->lone_blocks : gpu->blocks, count), arguments, error);
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
        r->handed = -r->handed;
    }
    batch->job.most = last || count <= FEW ? 0 : 1;
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
    if (status == CR_OK) status = start(gpu, gpu->exchange, blocks_for(gpu->blocks, count), arguments, error);
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

// As run_handed, for those worlds.
static crStatus run_lightly(crBatch* batch, bool last, int* left, crError* error) {
    struct crGpu* gpu = batch->gpu;
    int count = list_turn(batch, CR_TURN_HOST);
    size_t words = (size_t)cr__batch_exchange_words(&batch->job) * (size_t)count;
    uint64_t* buffer = cr__batch_zeros(&batch->allocator, words, sizeof *buffer);
    if (buffer == NULL) return cr__batch_memory(error);
    crBatchJob job = device_job(batch, true, count);
    crStatus status = cr__device_send(&gpu->device, gpu->job, &job, sizeof job, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->list, batch->list, (size_t)count * sizeof(int), error);
    if (status == CR_OK) status = exchange(batch, buffer, count, false, error);
    if (status == CR_OK) status = step_handed(batch, count, last, error);
    if (status == CR_OK) status = exchange(batch, buffer, count, true, error);
    cr__batch_give(&batch->allocator, buffer, words * sizeof *buffer);
    for (int k = 0; k < count; k++) {
        batch->turn[batch->list[k]] = CR_TURN_OVER;
    }
    *left = list_unfinished(batch, count);
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->turn, batch->turn,
                                             (size_t)batch->count * sizeof(int), error)
                           : status;
}

// The worlds that the device handed back make a step here, or all of them where that is the last round; how many are left.
static crStatus run_handed(crBatch* batch, bool last, int* left, crError* error) {
    struct crGpu* gpu = batch->gpu;
    crStatus status = cr__gpu_pull(batch, error);
    size_t bytes = (size_t)batch->count * sizeof(int);
    if (status == CR_OK) status = cr__device_fetch(&gpu->device, batch->job.made, gpu->made, bytes, error);
    if (status != CR_OK) return status;
    int count = list_turn(batch, CR_TURN_HOST);
    status = step_handed(batch, count, last, error);
    gpu->written = gpu->results_written = true;
    // the list was used for worlds that went again with larger records
    count = list_turn(batch, CR_TURN_HOST);
    *left = list_unfinished(batch, count);
    memset(batch->turn, 0, bytes);
    if (status == CR_OK) status = cr__device_send(&gpu->device, gpu->turn, batch->turn, bytes, error);
    return status == CR_OK ? push(batch, error) : status;
}

// Where there are more worlds than threads, small ones: large worlds take more time to be made anew than is gained.
static int whole_steps(const struct crGpu* gpu, int count) {
    return gpu->room <= CR_ROOM_SMALL && (unsigned)count > gpu->blocks * BLOCK / 2 ? WHOLE : 0;
}

static crStatus run_whole(crBatch* batch, bool listed, int count, crError* error) {
    batch->job.whole = whole_steps(batch->gpu, count);
    return launch(batch, false, listed, count, error);
}

// lone bodies as far as they go, then a step by the stages for those that go on
static crStatus run_alone(crBatch* batch, bool listed, int count, crError* error) {
    crStatus status = launch(batch, true, listed, count, error);
    batch->job.whole = 1;
    count = list_turn(batch, CR_TURN_DEVICE);
    return status == CR_OK && count > 0 ? launch(batch, false, true, count, error) : status;
}

crStatus cr__gpu_run(crBatch* batch, crError* error) {
    int count = batch->count;
    bool listed = false;
    crStatus status = push(batch, error);
    if (status == CR_OK && batch->job.path.samples > 0) status = push_path(batch, error);
    batch->gpu->results_written = false;
    for (int round = 0; status == CR_OK && count > 0; listed = true) {
        status = goes_alone(batch) ? run_alone(batch, listed, count, error)
                                   : run_whole(batch, listed, count, error);
        if (status != CR_OK) break;
        count = list_turn(batch, CR_TURN_DEVICE);
        if (count > 0) continue;
        // what the host has to do waits until nothing else goes on
        if (list_turn(batch, CR_TURN_HOST) == 0) break;
        ++round;
        status = goes_lightly(batch) ? run_lightly(batch, round > LIGHT_ROUNDS, &count, error)
                                     : run_handed(batch, round > ROUNDS, &count, error);
    }
    batch->job.whole = 0;
    return status;
}

#endif
