// room.h - arrays: zeroed ones in an arena, ones that grow, and their order.
#ifndef CAROM_BASE_ROOM_H
#define CAROM_BASE_ROOM_H

#include "carom/base.h"

// count entries (at least one) that are zero; NULL: no memory.
void* cr__zeros(crArena* arena, int count, size_t size);
// Room for `needed` entries of an array that outlives the step; `used` of them are kept. CR_ERR_MEMORY.
crStatus cr__grow(const crAllocator* a, void** array, int* capacity, int used, int needed, size_t size);
// Frees such an array, where there is one.
void cr__drop(const crAllocator* a, void* array, int capacity, size_t size);
void cr__sort(int* items, int count);  // ascending

#endif
