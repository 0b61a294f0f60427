// batch_device.h - the driver of a GPU: the functions of it that are needed, memory of the device, errors.
#ifndef CAROM_WORLD_BATCH_DEVICE_H
#define CAROM_WORLD_BATCH_DEVICE_H

#include "carom/base.h"

typedef unsigned long long crAddress;  // of the device

// Functions of the driver, by the names they have there; 0 is success.
typedef struct crDriver {
    int (*cuInit)(unsigned);
    int (*cuDeviceGet)(int*, int);
    int (*cuDeviceGetCount)(int*);
    int (*cuDeviceGetAttribute)(int*, int, int);
    int (*cuDevicePrimaryCtxRetain)(void**, int);
    int (*cuDevicePrimaryCtxRelease_v2)(int);
    int (*cuCtxSetCurrent)(void*);
    int (*cuCtxGetLimit)(size_t*, int);
    int (*cuCtxSetLimit)(int, size_t);
    int (*cuCtxSynchronize)(void);
    int (*cuLinkCreate_v2)(unsigned, int*, void**, void**);
    int (*cuLinkAddData_v2)(void*, int, void*, size_t, const char*, unsigned, int*, void**);
    int (*cuLinkComplete)(void*, void**, size_t*);
    int (*cuLinkDestroy)(void*);
    int (*cuModuleLoadData)(void**, const void*);
    int (*cuModuleUnload)(void*);
    int (*cuModuleGetFunction)(void**, void*, const char*);
    int (*cuMemAlloc_v2)(crAddress*, size_t);
    int (*cuMemFree_v2)(crAddress);
    int (*cuMemcpyHtoD_v2)(crAddress, const void*, size_t);
    int (*cuMemcpyDtoH_v2)(void*, crAddress, size_t);
    int (*cuMemcpyDtoD_v2)(crAddress, crAddress, size_t);
    int (*cuOccupancyMaxActiveBlocksPerMultiprocessor)(int*, void*, int, size_t);
    int (*cuLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                          void**, void**);
    int (*cuGetErrorName)(int, const char**);
} crDriver;

typedef struct crDevice {
    crDriver driver;
    void* library;
    int number;
    void* context;
} crDevice;

// Opens the driver and a device, its number modulo how many there are. Fails: CR_ERR_NAME where there is none.
crStatus cr__device_open(crDevice* device, int number, crError* error);
void cr__device_close(crDevice* device);  // accepts a zeroed struct

// What a function of the driver failed with: CR_ERR_MEMORY or CR_ERR_FILE.
crStatus cr__device_failed(const crDevice* device, int code, const char* what, crError* error);
#define CR_DEVICE_TRY(device, call, what, error)                              \
    do {                                                                      \
        int code_ = (device)->driver.call;                                    \
        if (code_ != 0) return cr__device_failed(device, code_, what, error); \
    } while (0)

crStatus cr__device_take(const crDevice* device, crAddress* at, size_t bytes, crError* error);
void cr__device_let_go(const crDevice* device, crAddress* at);
crStatus cr__device_send(const crDevice* device, crAddress to, const void* from, size_t bytes,
                         crError* error);
crStatus cr__device_fetch(const crDevice* device, void* to, crAddress from, size_t bytes, crError* error);

#endif
