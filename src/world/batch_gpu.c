// batch_gpu.c - a batch on a GPU: records on the device, its program loaded by the driver, what it has no room for made by the
// host.
//
// The driver (libcuda) is opened at run time; the few functions of it that are needed are declared here. A call of
// cr_batch_step: records that the host wrote go over, every thread of the device steps worlds (gpu/kernel.c), and the
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

#include <dlfcn.h>
#include <string.h>

#include "base/argument.h"
#include "resolve/kinds.h"
#include "world/batch_image.h"

#define BLOCK     64           // threads of a block
#define STACK     (192 << 10)  // bytes of a thread's stack: deep overlaps of convex shapes need half of it
#define REGISTERS 128          // of a thread: two threads in the place of one that takes all
#define SHARE     16           // a slab is so many times what a world's arrays of the model's size take
#define ROUNDS    6            // in which worlds come back from the host
#define FEW       64           // worlds that are not worth another round

typedef unsigned long long Address;  // of the device

// Functions of the driver, by the names they have there; 0 is success.
typedef struct Driver {
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int*, int);
    int (*cuDeviceGetCount)(int*);
    int (*cuDeviceGetAttribute)(int*, int, int);
    int (*cuDevicePrimaryCtxRetain)(void**, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuCtxSetCurrent)(void*);
    int (*cuCtxSetLimit)(int, size_t);
    int (*cuCtxSynchronize)(void);
    int (*cuLinkCreate_v2)(unsigned, int*, void**, void**);
    int (*cuLinkAddData_v2)(void*, int, void*, size_t, const char*, unsigned, int*, void**);
    int (*cuLinkComplete)(void*, void**, size_t*);
    int (*cuLinkDestroy)(void*);
    int (*cuModuleLoadData)(void**, const void*);
    int (*cuModuleUnload)(void*);
    int (*cuModuleGetFunction)(void**, void*, const char*);
    int (*cuMemAlloc_v2)(Address*, size_t);
    int (*cuMemFree_v2)(Address);
    int (*cuMemcpyHtoD_v2)(Address, const void*, size_t);
    int (*cuMemcpyDtoH_v2)(void*, Address, size_t);
    int (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int*, void*, int, size_t);
    int (*cuLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                          void**, void**);
    int (*cuGetErrorName)(int, const char**);
} Driver;

enum { MULTIPROCESSORS = 16 };  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
enum { STACK_SIZE = 0 };        // CU_LIMIT_STACK_SIZE
enum { PTX_TEXT = 1 };          // CU_JIT_INPUT_PTX
enum { MAX_REGISTERS = 0 };     // CU_JIT_MAX_REGISTERS

struct crGpu {
    Driver driver;
    void* library;
    int device;
    void *context, *module, *kernel;
    bool local;       // slabs are in the threads' own memory
    size_t room;      // bytes of a slab
    unsigned blocks;  // at most
    Address model;    // image
    Address words, values, varied, results, made, list, job, slabs;
    Address images, models;              // of each world, and where they begin
    Address logs, hits;                  // cr_batch_hits
    Address path_h, path_steps, path_q;  // crBatchPath
    size_t path_room;                    // samples of all worlds that these have room for
    size_t word_bytes;                   // of the device's records
    int columns;                         // of varied numbers there
    bool newer;                          // the device's records are newer than the host's
    bool written;                        // the host's are newer than the device's
    bool results_newer;
};

static crStatus device_failed(const struct crGpu* gpu, int code, const char* what, crError* error) {
    const char* name = NULL;
    if (gpu->driver.cuGetErrorName != NULL) gpu->driver.cuGetErrorName(code, &name);
    crStatus status = code == 2 ? CR_ERR_MEMORY : CR_ERR_FILE;
    return cr_error_set(error, status, "backend", "backend: gpu: %s failed: %s", what,
                        name != NULL ? name : "unknown");
}

#define TRY(gpu, call, what, error)                                    \
    do {                                                               \
        int code_ = (gpu)->driver.call;                                \
        if (code_ != 0) return device_failed(gpu, code_, what, error); \
    } while (0)

static bool find_all(void* library, Driver* d) {
    struct {
        const char* name;
        void* place;
    } const wanted[] = {
        {"cuInit", &d->cuInit},
        {"cuDeviceGet", &d->cuDeviceGet},
        {"cuDeviceGetCount", &d->cuDeviceGetCount},
        {"cuDeviceGetAttribute", &d->cuDeviceGetAttribute},
        {"cuDevicePrimaryCtxRetain", &d->cuDevicePrimaryCtxRetain},
        {"cuDevicePrimaryCtxRelease_v2", &d->cuDevicePrimaryCtxRelease_v2},
        {"cuCtxSetCurrent", &d->cuCtxSetCurrent},
        {"cuCtxSetLimit", &d->cuCtxSetLimit},
        {"cuCtxSynchronize", &d->cuCtxSynchronize},
        {"cuLinkCreate_v2", &d->cuLinkCreate_v2},
        {"cuLinkAddData_v2", &d->cuLinkAddData_v2},
        {"cuLinkComplete", &d->cuLinkComplete},
        {"cuLinkDestroy", &d->cuLinkDestroy},
        {"cuModuleLoadData", &d->cuModuleLoadData},
        {"cuModuleUnload", &d->cuModuleUnload},
        {"cuModuleGetFunction", &d->cuModuleGetFunction},
        {"cuMemAlloc_v2", &d->cuMemAlloc_v2},
        {"cuMemFree_v2", &d->cuMemFree_v2},
        {"cuMemcpyHtoD_v2", &d->cuMemcpyHtoD_v2},
        {"cuMemcpyDtoH_v2", &d->cuMemcpyDtoH_v2},
        {"cuOccupancyMaxActiveBlocksPerMultiprocessor", &d->cuOccupancyMaxActiveBlocksPerMultiprocessor},
        {"cuLaunchKernel", &d->cuLaunchKernel},
        {"cuGetErrorName", &d->cuGetErrorName},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void* found = dlsym(library, wanted[i].name);
        if (found == NULL) return false;
        memcpy(wanted[i].place, &found, sizeof found);
    }
    return true;
}

static crStatus open_driver(struct crGpu* gpu, int number, crError* error) {
    gpu->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (gpu->library == NULL || !find_all(gpu->library, &gpu->driver)) {
        return cr_error_set(
            error, CR_ERR_NAME, "backend",
            "backend: \"gpu\" needs NVIDIA's driver (libcuda.so.1), which is not here; use serial or "
            "threads");
    }
    int devices = 0;
    bool found = gpu->driver.cuInit(0) == 0 && gpu->driver.cuDeviceGetCount(&devices) == 0 && devices > 0 &&
                 gpu->driver.cuDeviceGet(&gpu->device, number % devices) == 0;
    if (!found) {
        return cr_error_set(error, CR_ERR_NAME, "backend",
                            "backend: \"gpu\" finds a driver but no device; use serial or threads");
    }
    TRY(gpu, cuDevicePrimaryCtxRetain(&gpu->context, gpu->device), "opening the device", error);
    TRY(gpu, cuCtxSetCurrent(gpu->context), "opening the device", error);
    return CR_OK;
}

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
    void* value = (void*)(uintptr_t)REGISTERS;
    TRY(gpu, cuLinkCreate_v2(1, &option, &value, &linker), "compiling the program", error);
    int failed = gpu->driver.cuLinkAddData_v2(linker, PTX_TEXT, (void*)(uintptr_t)text, strlen(text) + 1,
                                              "carom.ptx", 0, NULL, NULL);
    if (failed == 0) failed = gpu->driver.cuLinkComplete(linker, &code, &size);
    // the code lives as long as the linker
    if (failed == 0) failed = gpu->driver.cuModuleLoadData(&gpu->module, code);
    gpu->driver.cuLinkDestroy(linker);
    return failed == 0 ? CR_OK : device_failed(gpu, failed, "compiling the program", error);
}

// text is compiled, anything else is code of the device already
static crStatus load_program(struct crGpu* gpu, const crBatchDef* def, crError* error) {
    if (def->program == NULL)
        return cr_error_set(
            error, CR_ERR_ARGUMENT, "program",
            "program: must be given for the back end gpu: the text of carom.ptx, which ./dev gpu makes");
    TRY(gpu, cuCtxSetLimit(STACK_SIZE, STACK), "setting the stack", error);
    if (strncmp(def->program, "\177ELF", 4) == 0) {
        TRY(gpu, cuModuleLoadData(&gpu->module, def->program), "loading the program", error);
    } else {
        crStatus status = link_program(gpu, def->program, error);
        if (status != CR_OK) return status;
    }
    gpu->local = gpu->room <= CR_ROOM_MEDIUM;
    const char* name = gpu->room <= CR_ROOM_SMALL ? "cr_batch_small"
                       : gpu->local               ? "cr_batch_medium"
                                                  : "cr_batch_large";
    TRY(gpu, cuModuleGetFunction(&gpu->kernel, gpu->module, name), "finding the program's entry", error);
    int units = 0, each = 0;
    TRY(gpu, cuDeviceGetAttribute(&units, MULTIPROCESSORS, gpu->device), "asking the device", error);
    TRY(gpu, cuOccupancyMaxActiveBlocksPerMultiprocessor(&each, gpu->kernel, BLOCK, 0), "asking the device",
        error);
    gpu->blocks = (unsigned)(units * (each > 0 ? each : 1));
    return CR_OK;
}

static crStatus take(const struct crGpu* gpu, Address* at, size_t bytes, crError* error) {
    TRY(gpu, cuMemAlloc_v2(at, bytes > 0 ? bytes : 1), "taking memory", error);
    return CR_OK;
}

static void let_go(const struct crGpu* gpu, Address* at) {
    if (*at != 0) gpu->driver.cuMemFree_v2(*at);
    *at = 0;
}

static crStatus send(const struct crGpu* gpu, Address to, const void* from, size_t bytes, crError* error) {
    if (bytes > 0) TRY(gpu, cuMemcpyHtoD_v2(to, from, bytes), "writing to the device", error);
    return CR_OK;
}

static crStatus fetch(const struct crGpu* gpu, void* to, Address from, size_t bytes, crError* error) {
    if (bytes > 0) TRY(gpu, cuMemcpyDtoH_v2(to, from, bytes), "reading from the device", error);
    return CR_OK;
}

static crStatus send_model(const crBatch* batch, struct crGpu* gpu, crError* error) {
    const crAllocator* a = &batch->allocator;
    size_t bytes = cr__image_model(batch->job.model, NULL, 0);
    crStatus status = take(gpu, &gpu->model, bytes, error);
    if (status != CR_OK) return status;
    unsigned char* image = a->alloc(a->ctx, bytes);
    if (image == NULL) return cr__batch_memory(error);
    cr__image_model(batch->job.model, image, gpu->model);
    status = send(gpu, gpu->model, image, bytes, error);
    a->free(a->ctx, image, bytes);
    return status;
}

static unsigned blocks_for(const struct crGpu* gpu, int worlds) {
    unsigned needed = ((unsigned)worlds + BLOCK - 1) / BLOCK;
    return needed < gpu->blocks ? needed : gpu->blocks;
}

static crStatus take_arrays(const crBatch* batch, struct crGpu* gpu, crError* error) {
    size_t count = (size_t)batch->count;
    crStatus status = take(gpu, &gpu->results, count * sizeof(crBatchResult), error);
    if (status == CR_OK) status = take(gpu, &gpu->made, count * sizeof(int), error);
    if (status == CR_OK) status = take(gpu, &gpu->list, count * sizeof(int), error);
    if (status == CR_OK) status = take(gpu, &gpu->job, sizeof(crBatchJob), error);
    if (status == CR_OK && batch->job.logs != NULL) {
        status = take(gpu, &gpu->logs, count * sizeof(crHitLog), error);
        if (status == CR_OK)
            status = take(gpu, &gpu->hits, count * (size_t)batch->job.hit_room * sizeof(crBatchHit), error);
    }
    size_t lanes = (size_t)blocks_for(gpu, batch->count) * BLOCK;
    if (status == CR_OK && !gpu->local) status = take(gpu, &gpu->slabs, lanes * gpu->room, error);
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
    status = open_driver(gpu, def->device, error);
    if (status == CR_OK) status = load_program(gpu, def, error);
    if (status == CR_OK) status = send_model(batch, gpu, error);
    if (status == CR_OK) status = take_arrays(batch, gpu, error);
    return status;
}

void cr__gpu_destroy(crBatch* batch) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return;
    if (gpu->context != NULL) {
        gpu->driver.cuCtxSetCurrent(gpu->context);
        Address* const all[] = {&gpu->model,   &gpu->words,  &gpu->values,     &gpu->varied,
                                &gpu->results, &gpu->made,   &gpu->list,       &gpu->job,
                                &gpu->slabs,   &gpu->images, &gpu->models,     &gpu->logs,
                                &gpu->hits,    &gpu->path_h, &gpu->path_steps, &gpu->path_q};
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            let_go(gpu, all[i]);
        }
        if (gpu->module != NULL) gpu->driver.cuModuleUnload(gpu->module);
        gpu->driver.cuDevicePrimaryCtxRelease_v2(gpu->device);
    }
    if (gpu->library != NULL) dlclose(gpu->library);
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
    crStatus status = send(gpu, gpu->images, image, bytes, error);
    return status == CR_OK ? send(gpu, gpu->models, address, (size_t)batch->count * sizeof *address, error)
                           : status;
}

crStatus cr__gpu_models(crBatch* batch, const crModel* const* models, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL) return CR_OK;
    TRY(gpu, cuCtxSetCurrent(gpu->context), "opening the device", error);
    let_go(gpu, &gpu->images);
    let_go(gpu, &gpu->models);
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
    crStatus status =
        image != NULL && address != NULL ? take(gpu, &gpu->images, bytes, error) : cr__batch_memory(error);
    if (status == CR_OK) status = take(gpu, &gpu->models, count * sizeof *address, error);
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
        let_go(gpu, &gpu->path_h);
        let_go(gpu, &gpu->path_steps);
        let_go(gpu, &gpu->path_q);
        gpu->path_room = 0;
        status = take(gpu, &gpu->path_h, samples * sizeof(double), error);
        if (status == CR_OK) status = take(gpu, &gpu->path_steps, samples * sizeof(int), error);
        if (status == CR_OK) status = take(gpu, &gpu->path_q, samples * nq * sizeof(double), error);
        if (status == CR_OK) gpu->path_room = samples;
    }
    if (status == CR_OK) status = send(gpu, gpu->path_h, path->h, samples * sizeof(double), error);
    return status == CR_OK ? send(gpu, gpu->path_steps, path->steps, samples * sizeof(int), error) : status;
}

// results of worlds and what goes with them, from or to the device
static crStatus move_results(crBatch* batch,
                             crStatus (*move)(const struct crGpu*, void*, Address, size_t, crError*),
                             crError* error) {
    struct crGpu* gpu = batch->gpu;
    crBatchJob* job = &batch->job;
    size_t count = (size_t)batch->count;
    crStatus status = move(gpu, job->results, gpu->results, count * sizeof *job->results, error);
    if (status == CR_OK && job->logs != NULL)
        status = move(gpu, job->logs, gpu->logs, count * sizeof *job->logs, error);
    if (status == CR_OK && job->logs != NULL)
        status = move(gpu, job->hits, gpu->hits, count * (size_t)job->hit_room * sizeof *job->hits, error);
    if (status == CR_OK && job->path.q != NULL)
        status = move(gpu, job->path.q, gpu->path_q,
                      count * (size_t)job->path.samples * (size_t)job->model->nq * sizeof(double), error);
    return status;
}

static crStatus bring(const struct crGpu* gpu, void* host, Address device, size_t bytes, crError* error) {
    return fetch(gpu, host, device, bytes, error);
}
static crStatus take_over(const struct crGpu* gpu, void* host, Address device, size_t bytes, crError* error) {
    return send(gpu, device, host, bytes, error);
}

// records and varied numbers that the host wrote
static crStatus push(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    const crBatchJob* job = &batch->job;
    TRY(gpu, cuCtxSetCurrent(gpu->context), "opening the device", error);
    if (!gpu->written) return CR_OK;
    crStatus status = CR_OK;
    if (gpu->word_bytes != cr__batch_bytes(batch)) {
        let_go(gpu, &gpu->words);
        status = take(gpu, &gpu->words, cr__batch_bytes(batch), error);
        gpu->word_bytes = status == CR_OK ? cr__batch_bytes(batch) : 0;
    }
    size_t column = job->stride * sizeof *job->values;
    if (status == CR_OK && gpu->columns != job->varied_count) {
        let_go(gpu, &gpu->values);
        let_go(gpu, &gpu->varied);
        status = take(gpu, &gpu->values, (size_t)job->varied_count * column, error);
        if (status == CR_OK)
            status = take(gpu, &gpu->varied, (size_t)job->varied_count * sizeof *job->varied, error);
        gpu->columns = status == CR_OK ? job->varied_count : 0;
    }
    if (status == CR_OK) status = send(gpu, gpu->words, job->words, cr__batch_bytes(batch), error);
    if (status == CR_OK && job->varied_count > 0) {
        status = send(gpu, gpu->values, job->values, (size_t)job->varied_count * column, error);
        if (status == CR_OK)
            status =
                send(gpu, gpu->varied, job->varied, (size_t)job->varied_count * sizeof *job->varied, error);
    }
    gpu->written = status != CR_OK;
    return status;
}

crStatus cr__gpu_pull(crBatch* batch, crError* error) {
    struct crGpu* gpu = batch->gpu;
    if (gpu == NULL || !(gpu->newer || gpu->results_newer)) return CR_OK;
    TRY(gpu, cuCtxSetCurrent(gpu->context), "opening the device", error);
    crStatus status = CR_OK;
    if (gpu->newer) status = fetch(gpu, batch->job.words, gpu->words, cr__batch_bytes(batch), error);
    if (status == CR_OK && gpu->results_newer) status = move_results(batch, bring, error);
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

static crStatus launch(crBatch* batch, bool listed, int count, crError* error) {
    struct crGpu* gpu = batch->gpu;
    size_t worlds = (size_t)batch->count;
    crBatchJob job = device_job(batch, listed, count);
    crStatus status = send(gpu, gpu->job, &job, sizeof job, error);
    // in the first round the device clears them
    if (status == CR_OK && listed) status = move_results(batch, take_over, error);
    if (status == CR_OK && listed)
        status = send(gpu, gpu->made, batch->job.made, worlds * sizeof(int), error);
    if (status == CR_OK && listed)
        status = send(gpu, gpu->list, batch->list, (size_t)count * sizeof(int), error);
    if (status != CR_OK) return status;
    void* arguments[] = {&gpu->job, &gpu->slabs, &gpu->room};
    TRY(gpu, cuLaunchKernel(gpu->kernel, blocks_for(gpu, count), 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL),
        "starting the program", error);
    TRY(gpu, cuCtxSynchronize(), "running the program", error);
    gpu->newer = gpu->results_newer = true;
    return fetch(gpu, batch->job.made, gpu->made, worlds * sizeof(int), error);
}

// worlds that the device handed back, whose results say so by a negative number
static int list_handed(crBatch* batch) {
    int count = 0;
    for (int i = 0; i < batch->count; i++) {
        crBatchResult* r = &batch->job.results[i];
        if (r->handed >= 0) continue;
        r->handed = -r->handed;
        batch->list[count++] = i;
    }
    return count;
}

static int list_unfinished(crBatch* batch) {
    int count = 0;
    for (int i = 0; i < batch->count; i++) {
        if (batch->job.results[i].status == CR_OK && batch->job.made[i] < cr__batch_goal(&batch->job, i))
            batch->list[count++] = i;
    }
    return count;
}

static bool all_made(const crBatch* batch) {
    bool all = true;
    for (int i = 0; all && i < batch->count; i++) {
        all = batch->job.made[i] == cr__batch_goal(&batch->job, i);
    }
    return all;
}

crStatus cr__gpu_run(crBatch* batch, crError* error) {
    int count = batch->count;
    crStatus status = push(batch, error);
    if (status == CR_OK && batch->job.path.samples > 0) status = push_path(batch, error);
    for (int round = 0; status == CR_OK && count > 0; round++) {
        status = launch(batch, round > 0, count, error);
        // results stay on the device unless some world has not made its steps
        if (status != CR_OK || all_made(batch)) break;
        status = cr__gpu_pull(batch, error);
        if (status != CR_OK) break;
        count = list_handed(batch);
        if (count == 0) break;
        batch->job.most = round < ROUNDS && count > FEW ? 1 : 0;
        status = cr__batch_host(batch, batch->list, count, error);
        batch->job.most = 0;
        batch->gpu->written = true;
        if (status == CR_OK) status = push(batch, error);
        count = list_unfinished(batch);
    }
    return status;
}

#endif
