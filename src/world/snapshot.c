// snapshot.c - everything the future depends on, as bytes: time, q, v, applied forces, motor speeds, warm
// start, forces of loops and joints, sleep.
//
// Layout, every number least significant byte first: "crWs", version (u32), hash of the model (u64), hash of
// the settings (u64), nq, nv, contact forces, tie forces, sleepers (i32 each), hash of all that follows (u64);
// then time, q, v, force, motor_speed, ctrl, act (double), contact forces (6 i32, 3 double each), tie forces (double),
// sleepers (3 of 8 bytes, 2 i32 each). The hash of a world is that of the same bytes.
// Version 1, in the order of the machine and bound to no model, is not read.
// Fails: CR_ERR_SYNTAX where the bytes are no snapshot or damaged, CR_ERR_SIZE where the counts do not fit the
// model, CR_ERR_RANGE for another version, model or settings, what snapshot_check.c says, CR_ERR_MEMORY; the
// world is then unchanged.
#include "world/snapshot.h"
#include "base/room.h"

#include <string.h>

#include "base/bytes.h"

enum { VERSION = 2, HEADER = 52, WARM = 48, SLEEP = 32 };  // bytes
static const unsigned char magic[4] = {'c', 'r', 'W', 's'};

typedef struct Header {
    uint32_t version;
    uint64_t model, settings;
    int nq, nv, warm, ties, sleep;
    uint64_t hash;
} Header;

// bodies whose sleep is saved
static int sleepers(const crWorld* world) {
    return world->step.settings.sleep_time > 0.0 ? world->step.model->nb : 0;
}

static size_t save_size(const crWorld* world, int warm) {
    const crStep* step = &world->step;
    size_t numbers = 1 + (size_t)step->model->nq + 3 * (size_t)step->model->nv + (size_t)step->model->nu +
                     (size_t)step->model->na + (size_t)step->ties.count;
    return HEADER + 8 * numbers + WARM * (size_t)warm + SLEEP * (size_t)sleepers(world);
}

size_t cr_world_save_size(const crWorld* world) {
    return world != NULL ? save_size(world, world->step.warm.count) : 0;
}

static void put_warm(crBytes* out, const crWarm* w) {
    cr__put_int(out, w->shape_a);
    cr__put_int(out, w->shape_b);
    cr__put_int(out, w->child_a);
    cr__put_int(out, w->child_b);
    cr__put_u32(out, w->feature_a);
    cr__put_u32(out, w->feature_b);
    cr__put_doubles(out, (double[]){w->force.x, w->force.y, w->force.z}, 3);
}

static void put_sleep(crBytes* out, const crSleep* s) {
    cr__put_double(out, s->slow);
    cr__put_double(out, s->overlap);
    cr__put_u64(out, s->seal);
    cr__put_int(out, s->island);
    cr__put_int(out, s->carrier);
}

// all that follows the header
static void put_world(crBytes* out, const crWorld* world) {
    const crStep* step = &world->step;
    const crState* state = &step->state;
    cr__put_double(out, state->time);
    cr__put_doubles(out, state->q, step->model->nq);
    cr__put_doubles(out, state->v, step->model->nv);
    cr__put_doubles(out, state->force, step->model->nv);
    cr__put_doubles(out, state->motor_speed, step->model->nv);
    cr__put_doubles(out, state->ctrl, step->model->nu);
    cr__put_doubles(out, state->act, step->model->na);
    for (int i = 0; i < step->warm.count; i++) {
        put_warm(out, &step->warm.force[i]);
    }
    cr__put_doubles(out, step->ties.force, step->ties.count);
    for (int b = 0; b < sleepers(world); b++) {
        put_sleep(out, &step->rest.sleep[b]);
    }
}

uint64_t cr_world_hash(const crWorld* world) {
    if (world == NULL) return 0;
    crBytes out = {NULL, CR_HASH_SEED};
    put_world(&out, world);
    return out.hash;
}

static void put_header(crBytes* out, const crWorld* world, uint64_t hash) {
    memcpy(out->at, magic, sizeof magic);
    out->at += sizeof magic;
    cr__put_u32(out, VERSION);
    cr__put_u64(out, world->model_hash);
    cr__put_u64(out, world->settings_hash);
    cr__put_int(out, world->step.model->nq);
    cr__put_int(out, world->step.model->nv);
    cr__put_int(out, world->step.warm.count);
    cr__put_int(out, world->step.ties.count);
    cr__put_int(out, sleepers(world));
    cr__put_u64(out, hash);
}

crStatus cr_world_save(const crWorld* world, void* bytes, size_t size) {
    if (world == NULL || bytes == NULL) return CR_ERR_ARGUMENT;
    if (size < cr_world_save_size(world)) return CR_ERR_SIZE;
    crBytes body = {(unsigned char*)bytes + HEADER, CR_HASH_SEED};
    put_world(&body, world);
    crBytes header = {bytes, CR_HASH_SEED};
    put_header(&header, world, body.hash);
    return CR_OK;
}

// version 1 began with these four bytes, or the same backwards
static bool is_first_version(const unsigned char* bytes) {
    return memcmp(bytes, "3Wrc", 4) == 0 || memcmp(bytes, "crW3", 4) == 0;
}

static crStatus read_header(const unsigned char* bytes, size_t size, Header* header, crError* error) {
    bool old = size >= sizeof magic && is_first_version(bytes);
    bool known = size >= HEADER && memcmp(bytes, magic, sizeof magic) == 0;
    if (!known && !old) {
        return cr_error_set(error, CR_ERR_SYNTAX, "bytes", "bytes: %zu bytes that are no snapshot", size);
    }
    const unsigned char* at = bytes + sizeof magic;
    header->version = old ? 1 : cr__get_u32(&at);
    if (header->version != VERSION) {
        return cr_error_set(error, CR_ERR_RANGE, "version",
                            "version: the snapshot has version %u, this carom reads version %d",
                            (unsigned)header->version, VERSION);
    }
    header->model = cr__get_u64(&at);
    header->settings = cr__get_u64(&at);
    header->nq = cr__get_int(&at);
    header->nv = cr__get_int(&at);
    header->warm = cr__get_int(&at);
    header->ties = cr__get_int(&at);
    header->sleep = cr__get_int(&at);
    header->hash = cr__get_u64(&at);
    return CR_OK;
}

static crStatus check_header(const crWorld* world, const Header* h, size_t size, crError* error) {
    const crModel* model = world->step.model;
    if (h->nq != model->nq || h->nv != model->nv || h->ties != world->step.ties.count) {
        return cr_error_set(
            error, CR_ERR_SIZE, "model",
            "model: the snapshot was saved from another model: %d coordinates and %d velocities, "
            "here %d and %d",
            h->nq, h->nv, model->nq, model->nv);
    }
    if (h->model != world->model_hash) {
        return cr_error_set(
            error, CR_ERR_RANGE, "model",
            "model: the snapshot was saved from another model of the same size; bodies, joints, "
            "shapes, materials, loops and gravity must be as they were");
    }
    if (h->sleep != sleepers(world)) {
        return cr_error_set(error, CR_ERR_SIZE, "settings",
                            "settings: the snapshot was saved %s sleep, sleep_time is %g here",
                            h->sleep > 0 ? "with" : "without", world->step.settings.sleep_time);
    }
    if (h->settings != world->settings_hash) {
        return cr_error_set(
            error, CR_ERR_RANGE, "settings",
            "settings: the snapshot was saved with other settings of the step; all but threads "
            "must be as they were");
    }
    if (h->warm < 0 || (size_t)h->warm > size / WARM || size < save_size(world, h->warm)) {
        return cr_error_set(error, CR_ERR_SIZE, "bytes", "bytes: cut short, %zu are too few for %d contacts",
                            size, h->warm);
    }
    return CR_OK;
}

// the parts of a snapshot in one block of memory; NULL where there is none. Every part has a size that is a
// multiple of 8
static size_t place_parts(const crWorld* world, unsigned char* memory, crSnapshot* s) {
    size_t nq = (size_t)world->step.model->nq, nv = (size_t)world->step.model->nv, doubles = sizeof(double);
    size_t at[10] = {0};
    const size_t sizes[9] = {nq * doubles,
                             nv * doubles,
                             nv * doubles,
                             nv * doubles,
                             (size_t)world->step.model->nu * doubles,
                             (size_t)world->step.model->na * doubles,
                             (size_t)world->step.ties.count * doubles,
                             (size_t)s->warm_count * sizeof(crWarm),
                             (size_t)sleepers(world) * sizeof(crSleep)};
    for (int i = 0; i < 9; i++) {
        at[i + 1] = at[i] + sizes[i];
    }
    if (memory == NULL) return at[9] + 1;
    s->state = (crState){0.0,
                         (double*)(void*)(memory + at[0]),
                         (double*)(void*)(memory + at[1]),
                         (double*)(void*)(memory + at[2]),
                         (double*)(void*)(memory + at[3]),
                         (double*)(void*)(memory + at[4]),
                         (double*)(void*)(memory + at[5])};
    s->tie_force = (double*)(void*)(memory + at[6]);
    s->warm = (crWarm*)(void*)(memory + at[7]);
    s->sleep = sleepers(world) > 0 ? (crSleep*)(void*)(memory + at[8]) : NULL;
    return at[9] + 1;
}

static crWarm get_warm(const unsigned char** at) {
    crWarm w;
    w.shape_a = cr__get_int(at);
    w.shape_b = cr__get_int(at);
    w.child_a = cr__get_int(at);
    w.child_b = cr__get_int(at);
    w.feature_a = cr__get_u32(at);
    w.feature_b = cr__get_u32(at);
    w.force.x = cr__get_double(at);
    w.force.y = cr__get_double(at);
    w.force.z = cr__get_double(at);
    return w;
}

static crSleep get_sleep(const unsigned char** at) {
    crSleep s;
    s.slow = cr__get_double(at);
    s.overlap = cr__get_double(at);
    s.seal = cr__get_u64(at);
    s.island = cr__get_int(at);
    s.carrier = cr__get_int(at);
    return s;
}

static void get_parts(const crWorld* world, const unsigned char* at, crSnapshot* s) {
    const crModel* model = world->step.model;
    s->state.time = cr__get_double(&at);
    cr__get_doubles(&at, s->state.q, model->nq);
    cr__get_doubles(&at, s->state.v, model->nv);
    cr__get_doubles(&at, s->state.force, model->nv);
    cr__get_doubles(&at, s->state.motor_speed, model->nv);
    cr__get_doubles(&at, s->state.ctrl, model->nu);
    cr__get_doubles(&at, s->state.act, model->na);
    for (int i = 0; i < s->warm_count; i++) {
        s->warm[i] = get_warm(&at);
    }
    cr__get_doubles(&at, s->tie_force, world->step.ties.count);
    for (int b = 0; b < sleepers(world); b++) {
        s->sleep[b] = get_sleep(&at);
    }
}

static void copy(void* to, const void* from, int count, size_t size) {
    if (count > 0) memcpy(to, from, (size_t)count * size);
}

// the world becomes what the snapshot says; room for its contact forces is there
static void take(crWorld* world, const crSnapshot* s) {
    crStep* step = &world->step;
    const crModel* model = step->model;
    step->state.time = s->state.time;
    copy(step->state.q, s->state.q, model->nq, sizeof(double));
    copy(step->state.v, s->state.v, model->nv, sizeof(double));
    copy(step->state.force, s->state.force, model->nv, sizeof(double));
    copy(step->state.motor_speed, s->state.motor_speed, model->nv, sizeof(double));
    copy(step->state.ctrl, s->state.ctrl, model->nu, sizeof(double));
    copy(step->state.act, s->state.act, model->na, sizeof(double));
    copy(step->ties.force, s->tie_force, step->ties.count, sizeof(double));
    copy(step->warm.force, s->warm, s->warm_count, sizeof(crWarm));
    copy(step->rest.sleep, s->sleep, sleepers(world), sizeof(crSleep));
    step->warm.count = s->warm_count;
    world->last_h = 0.0;
    step->events.count = 0;
    // bodies that sleep are not posed again by a step
    cr_model_kinematics(model, &step->state, &step->dynamics);
}

static crStatus restore(crWorld* world, const unsigned char* at, crSnapshot* s, crError* error) {
    crStep* step = &world->step;
    get_parts(world, at, s);
    crStatus status = cr__snapshot_check(world, s, error);
    if (status != CR_OK) return status;
    status =
        CR_GROW(&step->own.allocator, step->warm.force, step->warm.capacity, step->warm.count, s->warm_count);
    if (status != CR_OK) return cr__step_memory(error);
    take(world, s);
    return CR_OK;
}

crStatus cr_world_load(crWorld* world, const void* bytes, size_t size, crError* error) {
    if (world == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "world", "world: must be given");
    if (bytes == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "bytes", "bytes: must be given");
    Header header = {0};
    crStatus status = read_header(bytes, size, &header, error);
    if (status == CR_OK) status = check_header(world, &header, size, error);
    if (status != CR_OK) return status;
    const unsigned char* at = (const unsigned char*)bytes + HEADER;
    if (cr_hash(CR_HASH_SEED, at, save_size(world, header.warm) - HEADER) != header.hash) {
        return cr_error_set(error, CR_ERR_SYNTAX, "bytes", "bytes: the snapshot is damaged");
    }
    crSnapshot snapshot = {.warm_count = header.warm};
    const crAllocator* a = &world->allocator;
    size_t room = place_parts(world, NULL, &snapshot);
    unsigned char* memory = a->alloc(a->ctx, room);
    if (memory == NULL) return cr__step_memory(error);
    place_parts(world, memory, &snapshot);
    status = restore(world, at, &snapshot, error);
    a->free(a->ctx, memory, room);
    return status;
}
