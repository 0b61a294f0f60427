// index.c - a table of hashes with open addressing: the first free slot after the one that the hash names.
//
// A slot keeps the whole hash, so keys are compared only where hashes agree and the table grows without them.
// Nothing is ever removed. Fails: reserve, when memory is out.
#include "model/index.h"

#include <string.h>

#define FIRST_ROOM 16

// the slot of an equal key, or the free one where it belongs
static int seek(const crIndex* index, uint64_t hash, crIndexSame same, const void* model, const void* key) {
    uint64_t mask = (uint64_t)index->room - 1u;
    for (uint64_t at = hash & mask;; at = (at + 1u) & mask) {
        const crIndexSlot* slot = &index->slots[at];
        if (slot->item == 0 || (slot->hash == hash && same(model, slot->item - 1, key))) return (int)at;
    }
}

int cr__index_find(const crIndex* index, uint64_t hash, crIndexSame same, const void* model,
                   const void* key) {
    if (index->room == 0) return -1;
    return index->slots[seek(index, hash, same, model, key)].item - 1;
}

bool cr__index_reserve(crIndex* index, const crAllocator* allocator) {
    if (2 * (index->count + 1) < index->room) return true;
    if (index->room > INT32_MAX / 4) return false;
    int room = index->room > 0 ? 2 * index->room : FIRST_ROOM;
    crIndexSlot* slots = allocator->alloc(allocator->ctx, (size_t)room * sizeof *slots);
    if (slots == NULL) return false;
    memset(slots, 0, (size_t)room * sizeof *slots);
    for (int i = 0; i < index->room; i++) {
        if (index->slots[i].item == 0) continue;
        uint64_t at = index->slots[i].hash & ((uint64_t)room - 1u);
        while (slots[at].item != 0) {
            at = (at + 1u) & ((uint64_t)room - 1u);
        }
        slots[at] = index->slots[i];
    }
    int count = index->count;
    cr__index_free(index, allocator);
    *index = (crIndex){slots, room, count};
    return true;
}

void cr__index_add(crIndex* index, uint64_t hash, crIndexSame same, const void* model, const void* key,
                   int item) {
    crIndexSlot* slot = &index->slots[seek(index, hash, same, model, key)];
    if (slot->item == 0) index->count++;
    *slot = (crIndexSlot){hash, item + 1};
}

void cr__index_free(crIndex* index, const crAllocator* allocator) {
    if (index->slots != NULL)
        allocator->free(allocator->ctx, index->slots, (size_t)index->room * sizeof *index->slots);
    *index = (crIndex){0};
}
