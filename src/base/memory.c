// memory.c - the libc allocator and the scratch arena.
//
// The arena is a stack: alloc moves `used` up, release moves it back. What does not fit goes to spill blocks,
// each remembering where it starts, so a release frees exactly the spills above the mark. reset, called
// between steps, grows the main block to the peak and a thirty-second: after the first steps nothing spills and
// nothing calls the heap. What a heap that falls once needed is given back at the 170th reset, the 340th, the
// 680th and so on, by what the last hundred used: a steady state is left alone for ever longer. What was
// given back is not taken again for a few exceptions, which spill. Fails: alloc returns NULL and reset
// CR_ERR_MEMORY when the allocator has no more; nothing is lost then.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/room.h"

#define ALIGN 64u
#define LOOK  170    // resets after which a block that is too large is made smaller, then twice as many
#define LAST  100    // resets before, whose peak counts
#define SPARE 8      // resets after which it was too small, before it is made larger again
#define LEAST 32768  // bytes that are not worth it

static void* libc_alloc(void* ctx, size_t size) {
    (void)ctx;
    return malloc(size);
}

static void libc_free(void* ctx, void* memory, size_t size) {
    (void)ctx;
    (void)size;
    free(memory);
}

crAllocator cr_allocator_libc(void) { return (crAllocator){libc_alloc, libc_free, NULL}; }

typedef struct crArenaSpill {
    struct crArenaSpill* next;
    size_t start;  // value of arena->used before this block
    size_t size;   // bytes of the whole block
} crArenaSpill;

static size_t round_up(size_t size) { return (size + ALIGN - 1u) & ~(size_t)(ALIGN - 1u); }

static unsigned char* align_pointer(unsigned char* p) { return p + (ALIGN - (uintptr_t)p % ALIGN) % ALIGN; }

crStatus cr_arena_create(crArena* arena, const crAllocator* allocator, size_t capacity) {
    if (arena == NULL || cr__check_allocator(allocator, NULL) != CR_OK) return CR_ERR_ARGUMENT;
    *arena = (crArena){.allocator = allocator != NULL ? *allocator : cr_allocator_libc()};
    if (capacity == 0) return CR_OK;
    if (capacity > SIZE_MAX / 2) return CR_ERR_MEMORY;
    capacity = round_up(capacity);
    arena->block = arena->allocator.alloc(arena->allocator.ctx, capacity + ALIGN);
    if (arena->block == NULL) return CR_ERR_MEMORY;
    arena->capacity = capacity;
    return CR_OK;
}

static void free_block(crArena* arena) {
    if (arena->block != NULL)
        arena->allocator.free(arena->allocator.ctx, arena->block, arena->capacity + ALIGN);
    arena->block = NULL;
    arena->capacity = 0;
}

void cr_arena_destroy(crArena* arena) {
    if (arena == NULL || arena->allocator.free == NULL) return;
    cr_arena_release(arena, 0);
    free_block(arena);
}

void* cr_arena_alloc(crArena* arena, size_t size) {
    if (arena == NULL || size > SIZE_MAX / 4) return NULL;
    size = round_up(size == 0 ? 1 : size);
    unsigned char* memory = NULL;
    if (arena->spill == NULL && arena->used + size <= arena->capacity) {
        memory = align_pointer(arena->block) + arena->used;
    } else {
        if (arena->allocator.alloc == NULL) return NULL;
        size_t total = sizeof(crArenaSpill) + ALIGN + size;
        crArenaSpill* spill = arena->allocator.alloc(arena->allocator.ctx, total);
        if (spill == NULL) return NULL;
        *spill = (crArenaSpill){arena->spill, arena->used, total};
        arena->spill = spill;
        arena->over = true;
        memory = align_pointer((unsigned char*)(spill + 1));
    }
    arena->used += size;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return memory;
}

void* cr__resize(crArena* arena, crTail* tail, void* array, size_t used, size_t bytes) {
    bool last = array != NULL && arena->used == tail->end;
    crArenaSpill* old = arena->spill;
    bool spilled = last && old != NULL && old->start == tail->begin;
    size_t begin = last ? tail->begin : arena->used;
    arena->used = begin;
    // an array in a spill block is not freed before its bytes are copied
    void* to = cr_arena_alloc(arena, bytes);
    if (to == NULL && last) arena->used = tail->end;
    if (to == NULL) return NULL;
    if (to != array && used > 0) memcpy(to, array, used);
    if (spilled) {
        arena->spill->next = old->next;
        arena->allocator.free(arena->allocator.ctx, old, old->size);
    }
    *tail = (crTail){begin, arena->used};
    return to;
}

crStatus cr__sink(crArena* arena, size_t mark, crSunk* arrays, int count) {
    // spill blocks are freed: their arrays wait elsewhere
    size_t all = 0;
    for (int i = 0; i < count && arena->spill != NULL; i++) {
        all += arrays[i].used;
    }
    unsigned char* copy = all > 0 ? arena->allocator.alloc(arena->allocator.ctx, all) : NULL;
    if (all > 0 && copy == NULL) return CR_ERR_MEMORY;
    for (size_t i = 0, at = 0; at < all; at += arrays[i++].used) {
        memcpy(copy + at, arrays[i].array, arrays[i].used);
        arrays[i].array = copy + at;
    }
    cr_arena_release(arena, mark);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        void* to = cr_arena_alloc(arena, arrays[i].bytes);
        ok = to != NULL;
        if (ok && arrays[i].used > 0) memmove(to, arrays[i].array, arrays[i].used);
        arrays[i].array = to;
    }
    if (copy != NULL) arena->allocator.free(arena->allocator.ctx, copy, all);
    return ok ? CR_OK : CR_ERR_MEMORY;
}

size_t cr_arena_mark(const crArena* arena) {
    if (arena == NULL) return 0;
    return arena->used;
}

void cr_arena_release(crArena* arena, size_t mark) {
    if (arena == NULL || mark > arena->used) return;
    while (arena->spill != NULL && arena->spill->start >= mark) {
        crArenaSpill* spill = arena->spill;
        arena->spill = spill->next;
        arena->allocator.free(arena->allocator.ctx, spill, spill->size);
    }
    arena->used = mark;
}

// a block for the peak, with some room: one that creeps up does not ask the heap each time
static crStatus replace_block(crArena* arena, size_t room) {
    size_t capacity = round_up(arena->peak + room);
    unsigned char* block = arena->allocator.alloc(arena->allocator.ctx, capacity + ALIGN);
    if (block == NULL) return CR_ERR_MEMORY;
    free_block(arena);
    arena->block = block;
    arena->capacity = capacity;
    return CR_OK;
}

// whether to look at the block: LOOK times a power of two
static bool looks_at(int resets) {
    while (resets > LOOK && resets % 2 == 0) {
        resets /= 2;
    }
    return resets == LOOK;
}

crStatus cr_arena_reset(crArena* arena) {
    if (arena == NULL) return CR_ERR_ARGUMENT;
    cr_arena_release(arena, 0);
    if (arena->resets < INT_MAX - LAST) arena->resets++;
    bool grows = arena->over && arena->spare == 0;
    bool shrinks = looks_at(arena->resets) && arena->capacity > arena->peak + arena->peak / 4 + LEAST;
    if (arena->over && !grows) arena->spare--;
    arena->over = false;
    crStatus status = CR_OK;
    if (grows || shrinks) status = replace_block(arena, arena->peak / (grows ? 32 : 16));
    if (shrinks && status == CR_OK) arena->spare = SPARE;
    if (looks_at(arena->resets + LAST)) arena->peak = 0;
    return grows ? status : CR_OK;
}
