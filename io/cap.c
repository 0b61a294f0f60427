// cap.c - libc memory up to a total: what has been given out is counted, and freed by the size that comes
// back.
//
// Fails: NULL beyond the total, which callers report as out of memory.
#include "io/cap.h"

#include <stdlib.h>

static void* take(void* ctx, size_t size) {
    crCap* cap = ctx;
    if (size > cap->most - cap->used) return NULL;
    void* memory = malloc(size);
    if (memory != NULL) cap->used += size;
    return memory;
}

static void give_back(void* ctx, void* memory, size_t size) {
    crCap* cap = ctx;
    if (memory == NULL) return;
    free(memory);
    cap->used -= size;
}

crAllocator cr_cap_allocator(crCap* cap) {
    if (cap->most == 0) cap->most = CR_CAP_DEFAULT;
    return (crAllocator){take, give_back, cap};
}
