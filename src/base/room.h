// room.h - arrays: zeroed ones in an arena, ones that grow, and their order.
#ifndef CAROM_BASE_ROOM_H
#define CAROM_BASE_ROOM_H

#include "carom/base.h"

// One array of CR_ROOMS.
typedef struct crRoom {
    void* to;      // address of the pointer to it
    size_t bytes;  // its size
    bool zero;     // true if its entries are to be zero
} crRoom;
// Takes memory for all arrays from the arena, in their order. Returns false if there is not enough.
bool cr__rooms(crArena* arena, const crRoom* rooms, size_t count);
// Memory for several arrays at once: CR_ROOMS(arena, CR_ROOM(a, n), CR_ZERO(b, m)) points a at n entries and b at m
// zeros, and returns false if there is not enough.
#define CR_ROOM(array, count) {&(array), (size_t)(count) * sizeof *(array), false}
#define CR_ZERO(array, count) {&(array), (size_t)(count) * sizeof *(array), true}
#define CR_ROOMS(arena, ...) \
    cr__rooms(arena, (const crRoom[]){__VA_ARGS__}, sizeof((const crRoom[]){__VA_ARGS__}) / sizeof(crRoom))

// count entries (at least one) that are zero; NULL: no memory.
void* cr__zeros(crArena* arena, int count, size_t size);
// Room for `needed` entries of `size` bytes in an array that outlives the step; `used` of them are kept. array is the
// address of the pointer to it. Fails: CR_ERR_MEMORY; the array is then as it was.
crStatus cr__grow(const crAllocator* a, void* array, int* capacity, int used, int needed, size_t size);
#define CR_GROW(allocator, array, capacity, used, needed) \
    cr__grow(allocator, &(array), &(capacity), used, needed, sizeof *(array))
// Frees such an array, where there is one.
void cr__drop(const crAllocator* a, void* array, int capacity, size_t size);
void cr__sort(int* items, int count);  // ascending

#endif
