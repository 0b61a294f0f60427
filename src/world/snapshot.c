// snapshot.c - everything the future depends on, as bytes: time, q, v, applied forces, motor speeds, warm
// start, sleep.
//
// Layout, all in the machine's own order: crHeader, time, q, v, force, motor_speed as double, then crWarm
// entries, forces of loops and joints as double, then crSleep entries where the world lets bodies sleep; the header holds the FNV-1a hash of what follows it. The hash of a world is that of the same
// bytes.
// Fails: CR_ERR_SIZE where the room or the counts do not fit the model, CR_ERR_SYNTAX where the bytes are no
// snapshot or damaged, CR_ERR_MEMORY; the world is then unchanged.
#include <string.h>

#include "world/world.h"

#define MAGIC UINT32_C(0x63725733)

typedef struct Header {
    uint32_t magic;
    int32_t nq, nv, warm, sleep;
    uint32_t unused;
    uint64_t hash;
} Header;

_Static_assert(sizeof(crWarm) == 48, "a warm start entry has no padding: its bytes are hashed and saved");

_Static_assert(sizeof(crSleep) == 32, "nor has what is known of sleep");

// bodies whose sleep is saved
static int sleepers(const crWorld* world) {
    return world->step.settings.sleep_time > 0.0 ? world->step.model->nb : 0;
}

static size_t save_size(const crWorld* world, int warm) {
    const crModel* model = world->step.model;
    return sizeof(Header) + (size_t)(1 + model->nq + 3 * model->nv + world->step.tie_count) * sizeof(double) +
           (size_t)warm * sizeof(crWarm) + (size_t)sleepers(world) * sizeof(crSleep);
}

size_t cr_world_save_size(const crWorld* world) { return save_size(world, world->step.warm_count); }

typedef struct Part {
    void* data;
    size_t size;
} Part;

#define PARTS 8

static void list_parts(const crWorld* world, Part parts[PARTS]) {
    const crStep* step = &world->step;
    size_t nq = (size_t)step->model->nq * sizeof(double), nv = (size_t)step->model->nv * sizeof(double);
    parts[0] = (Part){(void*)&step->state.time, sizeof(double)};
    parts[1] = (Part){step->state.q, nq};
    parts[2] = (Part){step->state.v, nv};
    parts[3] = (Part){step->state.force, nv};
    parts[4] = (Part){step->state.motor_speed, nv};
    parts[5] = (Part){step->warm, (size_t)step->warm_count * sizeof(crWarm)};
    parts[6] = (Part){step->tie_force, (size_t)step->tie_count * sizeof(double)};
    parts[7] = (Part){step->sleep, (size_t)sleepers(world) * sizeof(crSleep)};
}

uint64_t cr_world_hash(const crWorld* world) {
    Part parts[PARTS];
    list_parts(world, parts);
    uint64_t hash = CR_HASH_SEED;
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].size > 0) hash = cr_hash(hash, parts[i].data, parts[i].size);
    }
    return hash;
}

crStatus cr_world_save(const crWorld* world, void* bytes, size_t size) {
    if (world == NULL || bytes == NULL) return CR_ERR_ARGUMENT;
    if (size < cr_world_save_size(world)) return CR_ERR_SIZE;
    const crModel* model = world->step.model;
    Header header = {MAGIC,           model->nq, model->nv,           world->step.warm_count,
                     sleepers(world), 0,         cr_world_hash(world)};
    unsigned char* at = bytes;
    memcpy(at, &header, sizeof header);
    at += sizeof header;
    Part parts[PARTS];
    list_parts(world, parts);
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].size > 0) memcpy(at, parts[i].data, parts[i].size);
        at += parts[i].size;
    }
    return CR_OK;
}

crStatus cr_world_load(crWorld* world, const void* bytes, size_t size, crError* error) {
    if (world == NULL || bytes == NULL) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "bytes", "world and bytes: must be given");
    }
    const crModel* model = world->step.model;
    Header header = {0};
    if (size >= sizeof header) memcpy(&header, bytes, sizeof header);
    if (header.magic != MAGIC) return cr_error_set(error, CR_ERR_SYNTAX, "bytes", "bytes: not a snapshot");
    if (header.nq != model->nq || header.nv != model->nv || header.warm < 0 ||
        header.sleep != sleepers(world) || size < save_size(world, header.warm)) {
        return cr_error_set(error, CR_ERR_SIZE, "bytes",
                            "bytes: cut short, or of a model with %d and %d dofs and %s sleep", header.nq,
                            header.nv, header.sleep > 0 ? "with" : "without");
    }
    const unsigned char* at = (const unsigned char*)bytes + sizeof header;
    size_t length = save_size(world, header.warm) - sizeof header;
    if (cr_hash(CR_HASH_SEED, at, length) != header.hash) {
        return cr_error_set(error, CR_ERR_SYNTAX, "bytes", "bytes: the snapshot is damaged");
    }
    crStep* step = &world->step;
    void* warm = step->warm;
    crStatus status = cr__step_grow(&step->allocator, &warm, &step->warm_capacity, step->warm_count,
                                    header.warm, sizeof(crWarm));
    step->warm = warm;
    if (status != CR_OK) return cr__step_memory(error);
    step->warm_count = header.warm;
    step->event_count = 0;
    Part parts[PARTS];
    list_parts(world, parts);
    for (int i = 0; i < PARTS; i++) {
        if (parts[i].size > 0) memcpy(parts[i].data, at, parts[i].size);
        at += parts[i].size;
    }
    // what sleeps is not posed again by a step
    cr_model_kinematics(model, &step->state, &step->dynamics);
    return CR_OK;
}
