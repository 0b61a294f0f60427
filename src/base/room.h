// room.h - arrays: several at once or zeroed in an arena, growing ones from an allocator, and sorting.
#ifndef CAROM_BASE_ROOM_H
#define CAROM_BASE_ROOM_H

#include "carom/base.h"

// One array of CR_ROOMS.
typedef struct crRoom {
    void* to;      // address of the array's pointer
    size_t bytes;  // size of the array
    bool zero;     // true if the entries are set to zero
} crRoom;
// Allocates all arrays from the arena, in their order. Returns false if memory is short.
bool cr__rooms(crArena* arena, const crRoom* rooms, size_t count);
// CR_ROOMS(arena, CR_ROOM(a, n), CR_ZERO(b, m)) points a at n entries and b at m zeroed entries. Returns
// false if memory is short.
#define CR_ROOM(array, count) {&(array), (size_t)(count) * sizeof *(array), false}
#define CR_ZERO(array, count) {&(array), (size_t)(count) * sizeof *(array), true}
#define CR_ROOMS(arena, ...) \
    cr__rooms(arena, (const crRoom[]){__VA_ARGS__}, sizeof((const crRoom[]){__VA_ARGS__}) / sizeof(crRoom))

// Returns `count` zeroed entries, at least one, or NULL if memory is short.
void* cr__zeros(crArena* arena, int count, size_t size);
// An array at the end of an arena, which can grow and shrink there.
typedef struct crTail {
    size_t begin, end;  // marks of the arena before and after it
} crTail;
// Gives the array of a tail another size, and keeps its first `used` bytes. It takes no more memory than the new array
// if nothing was allocated after it. Returns its address, which is the old one if it fits into the arena's block. NULL:
// memory is short, and the array is unchanged. A zeroed tail with `array` NULL begins a new array (memory.c).
void* cr__resize(crArena* arena, crTail* tail, void* array, size_t used, size_t bytes);
// An array that stays when memory after a mark is freed.
typedef struct crSunk {
    void* array;
    size_t used, bytes;  // bytes that are kept, and bytes of its new room
} crSunk;
// Frees what was allocated since the mark but for a few arrays, in the order of their places: they move down to it.
// CR_ERR_MEMORY: the arrays may be lost (memory.c).
crStatus cr__sink(crArena* arena, size_t mark, crSunk* arrays, int count);
// Grows an array of entries of `size` bytes to at least `needed` entries and keeps the first `used`. `array`
// is the address of the array's pointer. Fails: CR_ERR_MEMORY; the array is then unchanged.
crStatus cr__grow(const crAllocator* a, void* array, int* capacity, int used, int needed, size_t size);
#define CR_GROW(allocator, array, capacity, used, needed) \
    cr__grow(allocator, &(array), &(capacity), used, needed, sizeof *(array))
// Gives back the room of an array that is more than twice too large. A failure leaves it as it is.
void cr__fit(const crAllocator* a, void* array, int* capacity, int used, size_t size);
#define CR_FIT(allocator, array, capacity, used) \
    cr__fit(allocator, &(array), &(capacity), used, sizeof *(array))
// Frees an array of cr__grow; NULL is allowed.
void cr__drop(const crAllocator* a, void* array, int capacity, size_t size);
void cr__sort(int* items, int count);  // sorts ascending

// Place of an item by its key.
typedef struct crKeyed {
    double key;
    int at;
} crKeyed;
// Sorts by key, ascending; items with equal keys keep their order. Returns `list` or `work`, whichever holds
// the result (count).
crKeyed* cr__sort_keyed(crKeyed* list, crKeyed* work, int count);

#endif
