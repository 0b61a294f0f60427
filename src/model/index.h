// index.h - finding what a model holds by its key, in constant time: names, pairs of materials, loops,
// exclusions.
#ifndef CAROM_MODEL_INDEX_H
#define CAROM_MODEL_INDEX_H

#include "carom/base.h"

typedef struct crIndexSlot {
    uint64_t hash;
    int item;  // and one; 0 where the slot is free
} crIndexSlot;

// Zeroed: empty.
typedef struct crIndex {
    crIndexSlot* slots;  // (room)
    int room;            // a power of two, more than twice the items
    int count;
} crIndex;

// true if the item has the key that is looked for
typedef bool (*crIndexSame)(const void* model, int item, const void* key);

// The item last added under an equal key, or -1.
int cr__index_find(const crIndex* index, uint64_t hash, crIndexSame same, const void* model, const void* key);
// Room for one more; false when memory is out, the index as it was. cr__index_add cannot fail after it.
bool cr__index_reserve(crIndex* index, const crAllocator* allocator);
// Adds an item, or replaces the one with an equal key.
void cr__index_add(crIndex* index, uint64_t hash, crIndexSame same, const void* model, const void* key,
                   int item);
void cr__index_free(crIndex* index, const crAllocator* allocator);

#endif
