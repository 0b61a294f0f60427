// cap.h - an allocator that refuses beyond a total, so that a small file cannot ask for gigabytes.
#ifndef CAROM_IO_CAP_H
#define CAROM_IO_CAP_H

#include "carom/base.h"

#define CR_CAP_DEFAULT ((size_t)2 << 30)  // bytes

typedef struct crCap {
    size_t most;  // bytes in use at one time
    size_t used;
} crCap;

// Memory from libc, NULL where more than cap->most bytes would be in use. cap must outlive what was
// allocated.
crAllocator cr_cap_allocator(crCap* cap);

#endif
