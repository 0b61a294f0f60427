// batch_device.c - the driver of a GPU (libcuda), opened at run time.
//
// Fails: CR_ERR_NAME without driver or device, CR_ERR_MEMORY, CR_ERR_FILE where a function of the driver fails.
#include "world/batch_device.h"

#if !(defined(CAROM_NO_GPU) || defined(_WIN32) || defined(__wasm__))

#include <dlfcn.h>
#include <string.h>

crStatus cr__device_failed(const crDevice* device, int code, const char* what, crError* error) {
    const char* name = NULL;
    if (device->driver.cuGetErrorName != NULL) device->driver.cuGetErrorName(code, &name);
    crStatus status = code == 2 ? CR_ERR_MEMORY : CR_ERR_FILE;
    return cr_error_set(error, status, "backend", "backend: gpu: %s failed: %s", what,
                        name != NULL ? name : "unknown");
}

static bool find_all(void* library, crDriver* d) {
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
        {"cuCtxGetLimit", &d->cuCtxGetLimit},
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
        {"cuMemcpyDtoD_v2", &d->cuMemcpyDtoD_v2},
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

crStatus cr__device_open(crDevice* device, int number, crError* error) {
    device->library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (device->library == NULL || !find_all(device->library, &device->driver)) {
        return cr_error_set(
            error, CR_ERR_NAME, "backend",
            "backend: \"gpu\" needs NVIDIA's driver (libcuda.so.1), which is not here; use serial or "
            "threads");
    }
    int devices = 0;
    bool found = device->driver.cuInit(0) == 0 && device->driver.cuDeviceGetCount(&devices) == 0 &&
                 devices > 0 && device->driver.cuDeviceGet(&device->number, number % devices) == 0;
    if (!found) {
        return cr_error_set(error, CR_ERR_NAME, "backend",
                            "backend: \"gpu\" finds a driver but no device; use serial or threads");
    }
    CR_DEVICE_TRY(device, cuDevicePrimaryCtxRetain(&device->context, device->number), "opening the device",
                  error);
    CR_DEVICE_TRY(device, cuCtxSetCurrent(device->context), "opening the device", error);
    return CR_OK;
}

void cr__device_close(crDevice* device) {
    if (device->context != NULL) device->driver.cuDevicePrimaryCtxRelease_v2(device->number);
    if (device->library != NULL) dlclose(device->library);
    *device = (crDevice){0};
}

crStatus cr__device_take(const crDevice* device, crAddress* at, size_t bytes, crError* error) {
    CR_DEVICE_TRY(device, cuMemAlloc_v2(at, bytes > 0 ? bytes : 1), "taking memory", error);
    return CR_OK;
}

void cr__device_let_go(const crDevice* device, crAddress* at) {
    if (*at != 0) device->driver.cuMemFree_v2(*at);
    *at = 0;
}

crStatus cr__device_send(const crDevice* device, crAddress to, const void* from, size_t bytes,
                         crError* error) {
    if (bytes > 0) CR_DEVICE_TRY(device, cuMemcpyHtoD_v2(to, from, bytes), "writing to the device", error);
    return CR_OK;
}

crStatus cr__device_fetch(const crDevice* device, void* to, crAddress from, size_t bytes, crError* error) {
    if (bytes > 0) CR_DEVICE_TRY(device, cuMemcpyDtoH_v2(to, from, bytes), "reading from the device", error);
    return CR_OK;
}

#endif
