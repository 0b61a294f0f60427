// fake_cuda.c - a driver without a GPU, for tests: memory of the device is that of the process, and the kernels are the device
// program as a loop of the host. Built as libcuda.so.1.
#include <stdlib.h>
#include <string.h>

#include "gpu/kernel.h"

#define API __attribute__((visibility("default")))

enum { OUT_OF_MEMORY = 2 };

// The call that fails: the `left`-th of memory that is taken where the code is OUT_OF_MEMORY, else of any that works on the device,
// which is lost from there on.
static int left, with, lost;

API void fake_fail(int after, int code);
API void fake_fail(int after, int code) {
    left = after;
    with = code;
    lost = 0;
}

static int work(int takes) {
    if (left == 0 || takes != (with == OUT_OF_MEMORY)) return lost;
    if (--left > 0) return 0;
    lost = with == OUT_OF_MEMORY ? 0 : with;
    return with;
}

typedef unsigned long long Address;
enum { SMALL = 1, MEDIUM, LARGE, LONE, EXCHANGE };

// threads that run at a time, of a device that has few
enum { UNITS = 2, BLOCKS = 1 };

// As gpu/device.c has it: the host has checked the model, and its image has no allocator. Linked by --wrap.
crStatus __wrap_cr_model_check(const crModel* model, crError* error);
crStatus __wrap_cr_model_check(const crModel* model, crError* error) {
    (void)model;
    (void)error;
    return CR_OK;
}

API int cuInit(unsigned flags) { return (int)flags; }
API int cuDeviceGetCount(int* count) {
    *count = 2;
    return 0;
}
API int cuDeviceGet(int* device, int number) {
    *device = number;
    return number < 2 ? 0 : 101;
}
API int cuDeviceGetAttribute(int* value, int attribute, int device) {
    (void)attribute;
    (void)device;
    *value = UNITS;
    return 0;
}
static char contexts[2];
static int current;
API int cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = &contexts[device];
    return 0;
}
API int cuDevicePrimaryCtxRelease_v2(int device) { return device < 2 ? 0 : 101; }
API int cuCtxSetCurrent(void* context) {
    current = context == &contexts[1];
    return context != NULL ? 0 : 201;
}
static size_t stacks[2];
API int cuCtxGetLimit(size_t* value, int limit) {
    *value = stacks[current];
    return limit == 0 ? 0 : 1;
}
// the second device has little memory
API int cuCtxSetLimit(int limit, size_t value) {
    if (limit != 0 || value > 512 << 10) return 1;
    if (current == 1 && value > 200 << 10) return OUT_OF_MEMORY;
    stacks[current] = value;
    return 0;
}
API int cuCtxSynchronize(void) { return work(0); }
API int cuLinkCreate_v2(unsigned count, int* options, void** values, void** linker) {
    (void)count;
    (void)options;
    (void)values;
    static char link;
    *linker = &link;
    return 0;
}
API int cuLinkAddData_v2(void* linker, int type, void* data, size_t size, const char* name, unsigned count,
                         int* options, void** values) {
    (void)linker;
    (void)type;
    (void)size;
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    return strncmp(data, ".version", 8) == 0 ? 0 : 218;  // CUDA_ERROR_INVALID_PTX
}
API int cuLinkComplete(void* linker, void** code, size_t* size) {
    *code = linker;
    *size = 1;
    return 0;
}
API int cuLinkDestroy(void* linker) { return linker != NULL ? 0 : 1; }
API int cuModuleLoadData(void** module, const void* code) {
    (void)code;
    static char loaded;
    *module = &loaded;
    return 0;
}
API int cuModuleUnload(void* module) { return module != NULL ? 0 : 1; }
API int cuModuleGetFunction(void** function, void* module, const char* name) {
    (void)module;
    static const char* const names[] = {[SMALL] = "cr_batch_small",
                                        [MEDIUM] = "cr_batch_medium",
                                        [LARGE] = "cr_batch_large",
                                        [LONE] = "cr_batch_lone",
                                        [EXCHANGE] = "cr_batch_exchange"};
    uintptr_t kind = SMALL;
    while (kind <= EXCHANGE && strcmp(name, names[kind]) != 0) {
        kind++;
    }
    if (kind > EXCHANGE) return 500;  // CUDA_ERROR_NOT_FOUND
    *function = (void*)kind;
    return 0;
}
API int cuMemAlloc_v2(Address* at, size_t bytes) {
    int failed = work(1);
    if (failed != 0) return failed;
    void* memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (memory != NULL) memset(memory, 0xa5, bytes);
    *at = (Address)(uintptr_t)memory;
    return memory != NULL ? 0 : 2;
}
API int cuMemFree_v2(Address at) {
    free((void*)(uintptr_t)at);
    return 0;
}
API int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
    int failed = work(0);
    if (failed != 0) return failed;
    memcpy((void*)(uintptr_t)to, from, bytes);
    return 0;
}
API int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
    int failed = work(0);
    if (failed != 0) return failed;
    memcpy(to, (const void*)(uintptr_t)from, bytes);
    return 0;
}
API int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
    int failed = work(0);
    if (failed != 0) return failed;
    memcpy((void*)(uintptr_t)to, (const void*)(uintptr_t)from, bytes);
    return 0;
}
API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void* function, int threads, size_t shared) {
    (void)function;
    (void)threads;
    (void)shared;
    *blocks = BLOCKS;
    return 0;
}
API int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by,
                       unsigned bz, unsigned shared, void* stream, void** arguments, void** extra) {
    (void)shared;
    (void)stream;
    (void)extra;
    if (y * z * by * bz != 1) return 1;
    int failed = work(0);
    if (failed != 0) return failed;
    const crBatchJob* job = (const crBatchJob*)(uintptr_t)*(Address*)arguments[0];
    uintptr_t kind = (uintptr_t)function;
    for (int t = 0; kind >= LONE && t < (int)(x * bx); t++) {
        if (kind == LONE) cr__kernel_lone(job, t, (int)(x * bx));
        if (kind == EXCHANGE)
            cr__kernel_exchange(job, (uint64_t*)(uintptr_t)*(Address*)arguments[1],
                                *(size_t*)arguments[2] != 0, t, (int)(x * bx));
    }
    if (kind >= LONE) return 0;
    size_t room = kind == SMALL ? CR_ROOM_SMALL : kind == MEDIUM ? CR_ROOM_MEDIUM : *(size_t*)arguments[2];
    unsigned char* own = aligned_alloc(64, room);
    int threads = (int)(x * bx);
    for (int t = 0; t < threads && own != NULL; t++) {
        unsigned char* slab = own;
        if (kind == LARGE) slab = (unsigned char*)(uintptr_t)*(Address*)arguments[1] + (size_t)t * room;
        memset(slab, 0x5a, room);
        cr__kernel_host(job, slab, room, t, threads);
    }
    free(own);
    return own != NULL ? 0 : 2;
}
API int cuGetErrorName(int code, const char** name) {
    *name = code == OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return 0;
}
