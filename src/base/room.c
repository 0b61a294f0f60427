// room.c - arrays that are zero at first, or grow with what they hold; integers sorted in place, items sorted by keys.
#include "base/room.h"

#include <string.h>

#define FEW 32  // integers that are sorted by insertion

bool cr__rooms(crArena* arena, const crRoom* rooms, size_t count) {
    for (size_t i = 0; i < count; i++) {
        void* memory = cr_arena_alloc(arena, rooms[i].bytes);
        // pointers to whatever type have one representation
        memcpy(rooms[i].to, &memory, sizeof memory);
        if (memory == NULL) return false;
        if (rooms[i].zero) memset(memory, 0, rooms[i].bytes);
    }
    return true;
}

void* cr__zeros(crArena* arena, int count, size_t size) {
    size_t bytes = (size_t)(count > 0 ? count : 1) * size;
    void* memory = cr_arena_alloc(arena, bytes);
    if (memory != NULL) memset(memory, 0, bytes);
    return memory;
}

// Gives the array another capacity. CR_ERR_MEMORY: it is unchanged.
static crStatus replace(const crAllocator* a, void* array, int* capacity, int used, int other, size_t size) {
    void* memory = a->alloc(a->ctx, (size_t)other * size);
    if (memory == NULL) return CR_ERR_MEMORY;
    void* before;
    memcpy(&before, array, sizeof before);
    if (used > 0) memcpy(memory, before, (size_t)used * size);
    cr__drop(a, before, *capacity, size);
    memcpy(array, &memory, sizeof memory);
    *capacity = other;
    return CR_OK;
}

// a sixteenth more each time: arrays of millions are not much larger than they must be
static int with_room(int needed) { return needed + needed / 16 + 2; }

crStatus cr__grow(const crAllocator* a, void* array, int* capacity, int used, int needed, size_t size) {
    if (needed <= *capacity) return CR_OK;
    return replace(a, array, capacity, used, with_room(needed), size);
}

void cr__fit(const crAllocator* a, void* array, int* capacity, int used, size_t size) {
    if (*capacity / 2 > with_room(used)) replace(a, array, capacity, used, with_room(used), size);
}

void cr__drop(const crAllocator* a, void* array, int capacity, size_t size) {
    if (array != NULL) a->free(a->ctx, array, (size_t)capacity * size);
}

void cr__sort(int* items, int count) {
    // few, most of them in order already
    for (int i = 1; i < count && count <= FEW; i++) {
        int value = items[i], k = i;
        for (; k > 0 && items[k - 1] > value; k--) {
            items[k] = items[k - 1];
        }
        items[k] = value;
    }
    if (count <= FEW) return;
    // heap sort: no memory, and no bad case
    for (int end = count, start = count / 2; end > 1;) {
        int root, value;
        if (start > 0) {
            root = --start;
            value = items[root];
        } else {
            value = items[--end];
            items[end] = items[0];
            root = 0;
        }
        for (int child = 2 * root + 1; child < end; child = 2 * root + 1) {
            if (child + 1 < end && items[child + 1] > items[child]) child++;
            if (items[child] <= value) break;
            items[root] = items[child];
            root = child;
        }
        items[root] = value;
    }
}

// Merges the sorted runs from..middle and middle..end into `out`.
static void merge_keyed(const crKeyed* list, int from, int middle, int end, crKeyed* out) {
    for (int i = from, j = middle, k = from; k < end; k++) {
        bool second = i == middle || (j < end && list[j].key < list[i].key);
        out[k] = second ? list[j++] : list[i++];
    }
}

crKeyed* cr__sort_keyed(crKeyed* list, crKeyed* work, int count) {
    for (int run = 1; run < count; run *= 2) {
        for (int i = 0; i < count; i += 2 * run) {
            int middle = i + run < count ? i + run : count;
            merge_keyed(list, i, middle, i + 2 * run < count ? i + 2 * run : count, work);
        }
        crKeyed* sorted = work;
        work = list;
        list = sorted;
    }
    return list;
}
