// batch_gpu.c - a batch on a GPU: records on the device, its program loaded by the driver, what it has no room for made by the
// host.
//
// Columns of records that the host wrote go over before a call; records and results come back where the host asks for them.
// Fails: CR_ERR_NAME without driver or device, CR_ERR_RANGE for what the device program leaves out, CR_ERR_MEMORY,
// CR_ERR_FILE where the device or its program fails.
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
void cr__gpu_written_words(crBatch* batch, int from, int width) {
    (void)batch;
    (void)from;
    (void)width;
}
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
#include "world/batch_gpu.h"
#include "world/batch_image.h"

#define CALLS     (176 << 10)  // bytes of a thread's stack beside its slab: deep overlaps need most
#define REGISTERS 64           // of a thread of small worlds: many of them hide each other's waiting
#define LONE      255          // of lone bodies
#define ALL       255          // of others
#define SHARED    0.15         // of large worlds, that the host steps in the first call
#define SHARE     16           // a slab is so many times what a world's arrays of the model's size take

enum { MULTIPROCESSORS = 16 };  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
enum { STACK_SIZE = 0 };        // CU_LIMIT_STACK_SIZE
enum { PTX_TEXT = 1 };          // CU_JIT_INPUT_PTX
enum { MAX_REGISTERS = 0 };     // CU_JIT_MAX_REGISTERS

static crStatus check_batch(const crBatch* batch, crError* error) {
    const crStepSettings* s = &batch->job.settings;
    const char* why = cr__image_refuses(batch->job.model);
    if (why != NULL)
        return cr_error_set(error, CR_ERR_RANGE, "model", "model: %s; use the back end threads", why);
    if (s->method != CR_METHOD_CONE)
        return cr_error_set(error, CR_ERR_RANGE, "method",
                            "method: gpu knows cone alone; use the back end threads");
    bool alike = s->rule.resolve == cr__rule_poisson.resolve || s->rule.resolve == cr__rule_newton.resolve;
    if (alike && s->rule.params != NULL)
        return cr_error_set(
            error, CR_ERR_RANGE, "rule",
            "rule: gpu knows poisson and newton with their defaults; use the back end threads");
    if (s->solver.solve != cr__solver_auto.solve || s->solver.params != NULL)
        return cr_error_set(error, CR_ERR_RANGE, "solver",
                            "solver: gpu knows auto with its defaults alone; use the back end threads");
    return CR_OK;
}

// Through the linker the driver compiles function by function, which takes a fraction of the time of a whole program.
static crStatus link_program(struct crGpu* gpu, const char* text, uintptr_t registers, void** module,
                             crError* error) {
    void *linker = NULL, *code = NULL;
    size_t size = 0;
    int option = MAX_REGISTERS;
    void* value = (void*)registers;
    CR_DEVICE_TRY(&gpu->device, cuLinkCreate_v2(1, &option, &value, &linker), "compiling the program", error);
    int failed = gpu->device.driver.cuLinkAddData_v2(linker, PTX_TEXT, (void*)(uintptr_t)text,
                                                     strlen(text) + 1, "carom.ptx", 0, NULL, NULL);
    if (failed == 0) failed = gpu->device.driver.cuLinkComplete(linker, &code, &size);
    // the code lives as long as the linker
    if (failed == 0) failed = gpu->device.driver.cuModuleLoadData(module, code);
    gpu->device.driver.cuLinkDestroy(linker);
    return failed == 0 ? CR_OK : cr__device_failed(&gpu->device, failed, "compiling the program", error);
}

// The text is that of two modules, the second for worlds of one body and for visitors of the host.
static crStatus link_parts(crBatch* batch, const char* text, crError* error) {
    struct crGpu* gpu = batch->gpu;
    uintptr_t registers = gpu->program.room <= CR_ROOM_SMALL ? REGISTERS : ALL;
    const char* second = *text != '\0' ? strstr(text + 1, "\n.version") : NULL;
    if (second == NULL) return link_program(gpu, text, registers, &gpu->program.module, error);
    size_t bytes = (size_t)(second - text) + 1;
    char* first = cr__batch_zeros(&batch->allocator, bytes, 1);
    if (first == NULL) return cr__batch_memory(error);
    memcpy(first, text, bytes - 1);
    crStatus status = link_program(gpu, first, registers, &gpu->program.module, error);
    cr__batch_give(&batch->allocator, first, bytes);
    return status == CR_OK ? link_program(gpu, second + 1, LONE, &gpu->program.lone_module, error) : status;
}

// how many blocks of a kernel run at a time
static crStatus count_blocks(struct crGpu* gpu, void* kernel, unsigned* blocks, crError* error) {
    int units = 0, each = 0;
    CR_DEVICE_TRY(&gpu->device, cuDeviceGetAttribute(&units, MULTIPROCESSORS, gpu->device.number),
                  "asking the device", error);
    CR_DEVICE_TRY(&gpu->device, cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, CR_GPU_WARP, 0),
                  "asking the device", error);
    *blocks = (unsigned)(units * (each > 0 ? each : 1));
    return CR_OK;
}

// A thread's stack holds what calls need and its slab. Where the device has no memory for such stacks, slabs are in its own
// memory. Other batches of the process may have asked for larger ones.
static crStatus set_stack(struct crGpu* gpu, crError* error) {
    size_t has = 0;
    gpu->program.local = gpu->program.room <= CR_ROOM_MEDIUM;
    CR_DEVICE_TRY(&gpu->device, cuCtxGetLimit(&has, STACK_SIZE), "asking the device", error);
    size_t slab = gpu->program.room <= CR_ROOM_SMALL ? CR_ROOM_SMALL
                  : gpu->program.local               ? CR_ROOM_MEDIUM
                                                     : 0;
    if (has >= CALLS + slab || gpu->device.driver.cuCtxSetLimit(STACK_SIZE, CALLS + slab) == 0) return CR_OK;
    gpu->program.local = false;
    if (has >= CALLS) return CR_OK;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetLimit(STACK_SIZE, CALLS), "setting the stack", error);
    return CR_OK;
}

// text is compiled, anything else is code of the device already
static crStatus load_program(crBatch* batch, const crBatchDef* def, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (def->program == NULL)
        return cr_error_set(
            error, CR_ERR_ARGUMENT, "program",
            "program: must be given for the back end gpu: the text of carom.ptx, which ./dev gpu makes");
    crStatus status = set_stack(gpu, error);
    if (status != CR_OK) return status;
    if (strncmp(def->program, "\177ELF", 4) == 0) {
        CR_DEVICE_TRY(&gpu->device, cuModuleLoadData(&gpu->program.module, def->program),
                      "loading the program", error);
    } else {
        status = link_parts(batch, def->program, error);
        if (status != CR_OK) return status;
    }
    const char* name = !gpu->program.local                  ? "cr_batch_large"
                       : gpu->program.room <= CR_ROOM_SMALL ? "cr_batch_small"
                                                            : "cr_batch_medium";
    CR_DEVICE_TRY(&gpu->device, cuModuleGetFunction(&gpu->program.kernel, gpu->program.module, name),
                  "finding the program's entry", error);
    return count_blocks(gpu, gpu->program.kernel, &gpu->program.blocks, error);
}

// kernels for visitors of the host and, where the model has one body, for these worlds
static crStatus find_lone(struct crGpu* gpu, bool flies, crError* error) {
    void* module = gpu->program.lone_module != NULL ? gpu->program.lone_module : gpu->program.module;
    CR_DEVICE_TRY(&gpu->device, cuModuleGetFunction(&gpu->program.exchange, module, "cr_batch_exchange"),
                  "finding the program's entry", error);
    if (!flies) return CR_OK;
    CR_DEVICE_TRY(&gpu->device, cuModuleGetFunction(&gpu->program.lone, module, "cr_batch_lone"),
                  "finding the program's entry", error);
    return count_blocks(gpu, gpu->program.lone, &gpu->program.lone_blocks, error);
}

static crStatus send_model(const crBatch* batch, struct crGpu* gpu, crError* error) {
    const crAllocator* a = &batch->allocator;
    size_t bytes = cr__image_model(batch->job.model, NULL, 0);
    crStatus status = cr__device_take(&gpu->device, &gpu->memory.model, bytes, error);
    if (status != CR_OK) return status;
    unsigned char* image = a->alloc(a->ctx, bytes);
    if (image == NULL) return cr__batch_memory(error);
    cr__image_model(batch->job.model, image, gpu->memory.model);
    status = cr__device_send(&gpu->device, gpu->memory.model, image, bytes, error);
    a->free(a->ctx, image, bytes);
    return status;
}

static crStatus take_arrays(const crBatch* batch, struct crGpu* gpu, crError* error) {
    size_t count = (size_t)batch->count;
    crStatus status =
        cr__device_take(&gpu->device, &gpu->memory.results, count * sizeof(crBatchResult), error);
    if (status == CR_OK)
        status = cr__device_take(&gpu->device, &gpu->memory.made, count * sizeof(int), error);
    if (status == CR_OK)
        status = cr__device_take(&gpu->device, &gpu->memory.turn, count * sizeof(int), error);
    if (status == CR_OK)
        status = cr__device_take(&gpu->device, &gpu->memory.list, count * sizeof(int), error);
    if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->memory.job, sizeof(crBatchJob), error);
    if (status == CR_OK && batch->job.logs != NULL) {
        status = cr__device_take(&gpu->device, &gpu->memory.logs, count * sizeof(crHitLog), error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->memory.hits,
                                     count * (size_t)batch->job.hit_room * sizeof(crBatchHit), error);
    }
    size_t lanes = (size_t)gpu->program.blocks * CR_GPU_WARP;
    if (lanes > count + CR_GPU_WARP) lanes = count + CR_GPU_WARP;
    if (status == CR_OK && !gpu->program.local)
        status = cr__device_take(&gpu->device, &gpu->memory.slabs, lanes * gpu->program.room, error);
    return status;
}

// by the memory that a world of the model keeps in its arrays
static size_t room_for(const crBatch* batch) {
    size_t kept = batch->lanes[0].world->step.own.store.used;
    // few steps of these take the stages, and those are the hard ones
    if (batch->job.lone.touches) return CR_ROOM_MEDIUM;
    if (kept <= CR_ROOM_SMALL / 4) return CR_ROOM_SMALL;
    return kept <= CR_ROOM_MEDIUM / 4 ? CR_ROOM_MEDIUM : SHARE * kept;
}

static crDeviceRule rule_of(const crRule* rule) {
    if (rule->resolve == cr__rule_poisson.resolve) return CR_DEVICE_POISSON;
    return rule->resolve == cr__rule_newton.resolve ? CR_DEVICE_NEWTON : CR_DEVICE_OTHER;
}

crStatus cr__gpu_create(crBatch* batch, const crBatchDef* def, crError* error) {
    crStatus status = check_batch(batch, error);
    if (status != CR_OK) return status;
    const crAllocator* a = &batch->allocator;
    struct crGpu* gpu = a->alloc(a->ctx, sizeof *gpu);
    if (gpu == NULL) return cr__batch_memory(error);
    *gpu = (struct crGpu){.share = SHARED,
                          .program.room = def->room > 0 ? (def->room + 63) & ~(size_t)63 : room_for(batch)};
    batch->gpu = gpu;
    cr__gpu_written(batch);
    batch->job.rule = rule_of(&batch->job.settings.rule);
    status = cr__device_open(&gpu->device, def->device, error);
    if (status == CR_OK) status = load_program(batch, def, error);
    if (status == CR_OK) status = find_lone(gpu, batch->job.lone.flies, error);
    if (status == CR_OK) status = send_model(batch, gpu, error);
    if (status == CR_OK) status = take_arrays(batch, gpu, error);
    return status == CR_OK ? cr__gpu_push(batch, error) : status;
}

void cr__gpu_destroy(crBatch* batch) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return;
    if (gpu->device.context != NULL) {
        gpu->device.driver.cuCtxSetCurrent(gpu->device.context);
        crAddress* const all[] = {&gpu->memory.model,      &gpu->memory.words,   &gpu->memory.values,
                                  &gpu->memory.varied,     &gpu->memory.results, &gpu->memory.made,
                                  &gpu->memory.turn,       &gpu->memory.list,    &gpu->memory.job,
                                  &gpu->memory.slabs,      &gpu->memory.images,  &gpu->memory.models,
                                  &gpu->memory.logs,       &gpu->memory.hits,    &gpu->memory.path_h,
                                  &gpu->memory.path_steps, &gpu->memory.path_q,  &gpu->memory.buffer};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            cr__device_let_go(&gpu->device, all[i]);
        }
        if (gpu->program.module != NULL) gpu->device.driver.cuModuleUnload(gpu->program.module);
        if (gpu->program.lone_module != NULL) gpu->device.driver.cuModuleUnload(gpu->program.lone_module);
    }
    cr__device_close(&gpu->device);
    cr__batch_give(&batch->allocator, gpu->order, (size_t)batch->count * sizeof *gpu->order);
    batch->allocator.free(batch->allocator.ctx, gpu, sizeof *gpu);
    batch->gpu = NULL;
}

// images of the models, one after another
static crStatus send_images(const crBatch* batch, struct crGpu* gpu, const crModel* const* models,
                            unsigned char* image, uint64_t* address, size_t bytes, crError* error) {
    size_t used = 0;
    for (int i = 0; i < batch->count; i++) {
        address[i] = gpu->memory.images + used;
        used += (cr__image_model(models[i], image + used, gpu->memory.images + used) + 63) & ~(size_t)63;
    }
    crStatus status = cr__device_send(&gpu->device, gpu->memory.images, image, bytes, error);
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->memory.models, address,
                                             (size_t)batch->count * sizeof *address, error)
                           : status;
}

crStatus cr__gpu_models(crBatch* batch, const crModel* const* models, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return CR_OK;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetCurrent(gpu->device.context), "opening the device", error);
    cr__device_let_go(&gpu->device, &gpu->memory.images);
    cr__device_let_go(&gpu->device, &gpu->memory.models);
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
                          ? cr__device_take(&gpu->device, &gpu->memory.images, bytes, error)
                          : cr__batch_memory(error);
    if (status == CR_OK)
        status = cr__device_take(&gpu->device, &gpu->memory.models, count * sizeof *address, error);
    if (status == CR_OK) status = send_images(batch, gpu, models, image, address, bytes, error);
    cr__batch_give(a, image, bytes);
    cr__batch_give(a, address, count * sizeof *address);
    return status;
}

// what a call is to do beside its steps
crStatus cr__gpu_push_path(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchPath* path = &batch->job.path;
    size_t samples = (size_t)path->samples * (size_t)batch->count, nq = (size_t)batch->job.model->nq;
    crStatus status = CR_OK;
    if (samples > gpu->memory.path_room) {
        cr__device_let_go(&gpu->device, &gpu->memory.path_h);
        cr__device_let_go(&gpu->device, &gpu->memory.path_steps);
        cr__device_let_go(&gpu->device, &gpu->memory.path_q);
        gpu->memory.path_room = 0;
        status = cr__device_take(&gpu->device, &gpu->memory.path_h, samples * sizeof(double), error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->memory.path_steps, samples * sizeof(int), error);
        if (status == CR_OK)
            status = cr__device_take(&gpu->device, &gpu->memory.path_q, samples * nq * sizeof(double), error);
        if (status == CR_OK) gpu->memory.path_room = samples;
    }
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->memory.path_h, path->h, samples * sizeof(double), error);
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->memory.path_steps, path->steps,
                                             samples * sizeof(int), error)
                           : status;
}

// columns of varied numbers
static crStatus push_values(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchJob* job = &batch->job;
    size_t bytes = (size_t)job->varied_count * job->stride * sizeof *job->values,
           names = (size_t)job->varied_count * sizeof *job->varied;
    crStatus status = CR_OK;
    if (gpu->memory.columns != job->varied_count) {
        cr__device_let_go(&gpu->device, &gpu->memory.values);
        cr__device_let_go(&gpu->device, &gpu->memory.varied);
        status = cr__device_take(&gpu->device, &gpu->memory.values, bytes, error);
        if (status == CR_OK) status = cr__device_take(&gpu->device, &gpu->memory.varied, names, error);
        gpu->memory.columns = status == CR_OK ? job->varied_count : 0;
    }
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->memory.values, job->values, bytes, error);
    return status == CR_OK ? cr__device_send(&gpu->device, gpu->memory.varied, job->varied, names, error)
                           : status;
}

crStatus cr__gpu_push(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchJob* job = &batch->job;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetCurrent(gpu->device.context), "opening the device", error);
    if (gpu->from == gpu->to) return CR_OK;
    crStatus status = CR_OK;
    if (gpu->memory.word_bytes != cr__batch_bytes(batch)) {
        cr__gpu_written(batch);
        cr__device_let_go(&gpu->device, &gpu->memory.words);
        gpu->memory.word_bytes = 0;
        status = cr__device_take(&gpu->device, &gpu->memory.words, cr__batch_bytes(batch), error);
        if (status == CR_OK) gpu->memory.word_bytes = cr__batch_bytes(batch);
    }
    size_t column = job->stride * sizeof *job->words, from = (size_t)gpu->from, to = (size_t)gpu->to;
    if (status == CR_OK && gpu->values_written) status = push_values(batch, error);
    if (status == CR_OK)
        status = cr__device_send(&gpu->device, gpu->memory.words + from * column,
                                 job->words + from * job->stride, (to - from) * column, error);
    if (status != CR_OK) return status;
    gpu->from = gpu->to = 0;
    gpu->values_written = false;
    return CR_OK;
}

crStatus cr__gpu_enlarge(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    crAddress larger = 0;
    crStatus status = cr__device_take(&gpu->device, &larger, cr__batch_bytes(batch), error);
    if (status != CR_OK) return status;
    int failed = gpu->device.driver.cuMemcpyDtoD_v2(larger, gpu->memory.words, gpu->memory.word_bytes);
    cr__device_let_go(&gpu->device, &gpu->memory.words);
    gpu->memory.words = larger;
    gpu->memory.word_bytes = cr__batch_bytes(batch);
    return failed == 0 ? CR_OK : cr__device_failed(&gpu->device, failed, "copying on the device", error);
}

// results of worlds and what goes with them
crStatus cr__gpu_pull_results(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crDevice* d = &gpu->device;
    crBatchJob* job = &batch->job;
    size_t count = (size_t)batch->count;
    if (!gpu->results_newer) return CR_OK;
    crStatus status =
        cr__device_fetch(d, job->results, gpu->memory.results, count * sizeof *job->results, error);
    if (status == CR_OK && job->logs != NULL)
        status = cr__device_fetch(d, job->logs, gpu->memory.logs, count * sizeof *job->logs, error);
    if (status == CR_OK && job->logs != NULL)
        status = cr__device_fetch(d, job->hits, gpu->memory.hits,
                                  count * (size_t)job->hit_room * sizeof *job->hits, error);
    if (status == CR_OK && job->path.q != NULL)
        status = cr__device_fetch(d, job->path.q, gpu->memory.path_q,
                                  count * (size_t)job->path.samples * (size_t)job->model->nq * sizeof(double),
                                  error);
    gpu->results_newer = status != CR_OK;
    return status;
}

crStatus cr__gpu_pull(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL || !(gpu->newer || gpu->results_newer)) return CR_OK;
    CR_DEVICE_TRY(&gpu->device, cuCtxSetCurrent(gpu->device.context), "opening the device", error);
    crStatus status = CR_OK;
    if (gpu->newer)
        status = cr__device_fetch(&gpu->device, batch->job.words, gpu->memory.words, cr__batch_bytes(batch),
                                  error);
    if (status == CR_OK) status = cr__gpu_pull_results(batch, error);
    gpu->newer = gpu->newer && status != CR_OK;
    return status;
}

void cr__gpu_written_words(crBatch* batch, int from, int width) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL || width == 0) return;
    bool none = gpu->from == gpu->to;
    if (none || from < gpu->from) gpu->from = from;
    if (none || from + width > gpu->to) gpu->to = from + width;
}

void cr__gpu_written(crBatch* batch) {
    if (batch->gpu != NULL) batch->gpu->values_written = batch->job.varied_count > 0;
    cr__gpu_written_words(batch, 0, batch->job.layout.words);
}

void cr__gpu_forget(crBatch* batch) {
    batch->gpu->newer = batch->gpu->results_newer = false;
    cr__gpu_written(batch);
}

crStatus cr__gpu_words(crBatch* batch, uint64_t** words, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return CR_OK;
    crStatus status = cr__gpu_push(batch, error);
    if (status != CR_OK) return status;
    gpu->newer = true;
    *words = (uint64_t*)(uintptr_t)gpu->memory.words;
    return CR_OK;
}

crBatchJob cr__gpu_job(const crBatch* batch, bool listed, int count) {
    const struct crGpu* gpu = batch->gpu;
    crBatchJob job = batch->job;
    job.model = (const crModel*)(uintptr_t)gpu->memory.model;
    job.words = (uint64_t*)(uintptr_t)gpu->memory.words;
    job.varied = (const crVaried*)(uintptr_t)gpu->memory.varied;
    job.values = (const double*)(uintptr_t)gpu->memory.values;
    job.results = (crBatchResult*)(uintptr_t)gpu->memory.results;
    job.made = (int*)(uintptr_t)gpu->memory.made;
    job.turn = (int*)(uintptr_t)gpu->memory.turn;
    job.models = batch->job.models != NULL ? (const crModel* const*)(uintptr_t)gpu->memory.models : NULL;
    job.logs = (crHitLog*)(uintptr_t)gpu->memory.logs;
    job.hits = (crBatchHit*)(uintptr_t)gpu->memory.hits;
    job.path.h = (const double*)(uintptr_t)gpu->memory.path_h;
    job.path.steps = (const int*)(uintptr_t)gpu->memory.path_steps;
    job.path.q = batch->job.path.q != NULL ? (double*)(uintptr_t)gpu->memory.path_q : NULL;
    job.list = listed ? (const int*)(uintptr_t)gpu->memory.list : NULL;
    job.count = count;
    job.fresh = !listed;
    return job;
}

crStatus cr__gpu_launch(const struct crGpu* gpu, void* kernel, unsigned most, int count, void** arguments,
                        crError* error) {
    unsigned width = cr__gpu_width(most, count), blocks = ((unsigned)count + width - 1) / width;
    if (blocks > most) blocks = most;
    CR_DEVICE_TRY(&gpu->device, cuLaunchKernel(kernel, blocks, 1, 1, width, 1, 1, 0, NULL, arguments, NULL),
                  "starting the program", error);
    return CR_OK;
}

#endif
