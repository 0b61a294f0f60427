// store.c - memory of a model: arrays that grow by an eighth, and a list of blocks for names, tables and polygons.
//
// Arrays are allocated through the model's allocator and copied when they grow, so pointers into them last
// until the next call that adds. Fails: NULL when memory is out; what was there stays.
#include "model/store.h"

#include <string.h>

typedef struct crStoreBlock {
    struct crStoreBlock* next;
    size_t size;  // of the whole block
} crStoreBlock;

// the header keeps what follows it aligned for doubles and pointers
#define HEADER ((sizeof(crStoreBlock) + 15u) & ~(size_t)15u)

void* cr__store_reserve(crModel* model, crStoreArray which, void* array, int count, size_t size) {
    size_t* bytes = &model->memory->bytes[which];
    size_t need = (size_t)count * size;
    if (array != NULL && need <= *bytes) return array;
    size_t room = *bytes > 0 ? *bytes : 8 * size;
    while (room < need) {
        room += room / 8 + 8 * size;
    }
    void* grown = model->allocator.alloc(model->allocator.ctx, room);
    if (grown == NULL) return NULL;
    if (array != NULL) {
        memcpy(grown, array, *bytes);
        model->allocator.free(model->allocator.ctx, array, *bytes);
    }
    *bytes = room;
    return grown;
}

void* cr__store_copy(crModel* model, const void* bytes, size_t size) {
    crStoreBlock* block = model->allocator.alloc(model->allocator.ctx, HEADER + size);
    if (block == NULL) return NULL;
    *block = (crStoreBlock){model->memory->blocks, HEADER + size};
    model->memory->blocks = block;
    void* copy = (unsigned char*)block + HEADER;
    memcpy(copy, bytes, size);
    return copy;
}

void cr__store_free(crModel* model) {
    crAllocator* a = &model->allocator;
    void* arrays[STORE_ARRAYS] = {model->bodies,          model->velocity.dofs,
                                  model->velocity.dof,    model->velocity.body,
                                  model->velocity.parent, model->velocity.depth,
                                  model->velocity.row,    model->q0,
                                  model->materials,       model->pairs,
                                  model->shapes,          model->loops,
                                  model->exclusions,      model->velocity.actuator,
                                  model->actuators,       model->sites,
                                  model->sensors,         model->loads,
                                  model->tendons,         model->top};
    for (int i = 0; i < STORE_ARRAYS; i++) {
        if (arrays[i] != NULL) a->free(a->ctx, arrays[i], model->memory->bytes[i]);
    }
    crIndex* indices[] = {&model->memory->body_names, &model->memory->material_names,
                          &model->memory->pairs,      &model->memory->loops,
                          &model->memory->tied,       &model->memory->exclusions};
    for (size_t i = 0; i < sizeof indices / sizeof indices[0]; i++) {
        cr__index_free(indices[i], a);
    }
    for (int i = 0; i < CR_NAMES; i++) {
        cr__index_free(&model->memory->names[i], a);
    }
    for (crStoreBlock* block = model->memory->blocks; block != NULL;) {
        crStoreBlock* next = block->next;
        a->free(a->ctx, block, block->size);
        block = next;
    }
}

crCouple cr__couple(int a, int b) { return a < b ? (crCouple){a, b} : (crCouple){b, a}; }

uint64_t cr__couple_hash(const crCouple* couple) {
    return cr_hash(cr_hash(CR_HASH_SEED, &couple->a, sizeof couple->a), &couple->b, sizeof couple->b);
}

crStatus cr__store_full(crModel* model) {
    return cr_error_set(&model->error, CR_ERR_MEMORY, "", "out of memory while building a model");
}
