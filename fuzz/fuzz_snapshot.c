// fuzz_snapshot.c - any bytes as a snapshot: refused with the world unchanged, or a world that steps.
//
// The input is a list of changes to a real snapshot: two bytes where, one byte how many of the bytes that
// follow are written there (none: the snapshot is cut there). The hash is then made to fit, so that the checks
// behind it are reached; an input that begins with an odd byte leaves it as it was. What is accepted is what
// the bytes say, and two steps are taken from it unless bodies are far from where they were: loops torn open by
// metres take seconds to solve, and test_snapshot.c steps such worlds.
#include <math.h>
#include <string.h>

#include "test/snapshot_scene.h"

static void demand(bool condition) {
    if (!condition) abort();
}

static size_t change(unsigned char* bytes, size_t size, const uint8_t* data, size_t count) {
    size_t end = size;
    for (size_t i = 0; i + 3 <= count;) {
        size_t at = ((size_t)data[i] | (size_t)data[i + 1] << 8) % size;
        size_t length = data[i + 2] % 17;
        i += 3;
        if (length == 0) end = at;
        if (length > count - i) length = count - i;
        if (length > size - at) length = size - at;
        memcpy(bytes + at, data + i, length);
        i += length;
    }
    return end;
}

static bool is_near(const crState* state, const crModel* model, const double* q) {
    bool near = true;
    for (int i = 0; i < model->nq; i++) {
        near = near && fabs(state->q[i] - q[i]) < 0.1;
    }
    for (int i = 0; i < model->nv; i++) {
        near = near && fabs(state->v[i]) < 100.0;
    }
    return near;
}

static void load(crWorld* world, const double* q, const unsigned char* bytes, size_t size) {
    crError error = {0};
    uint64_t before = cr_world_hash(world);
    if (cr_world_load(world, bytes, size, &error) != CR_OK) {
        demand(error.status != CR_OK && error.field[0] != '\0' && error.message[0] != '\0');
        demand(cr_world_hash(world) == before);
        return;
    }
    if (!is_near(cr_world_state(world), cr_world_model(world), q)) return;
    for (int i = 0; i < 2 && cr_world_step(world, NULL) == CR_OK; i++) {
        crEnergy energy = cr_world_energy(world);
        demand(isfinite(energy.kinetic) && isfinite(energy.potential));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static SnapshotScene scene;
    static crWorld* world;
    static size_t length;
    static unsigned char *saved, *forged;
    static double* q;
    if (world == NULL) {
        scene = snapshot_scene();
        world = snapshot_world(&scene, CR_METHOD_CONE, CR_QUALITY_FAST);
        demand(world != NULL);
        length = cr_world_save_size(world);
        saved = malloc(length);
        forged = malloc(length);
        size_t bytes = (size_t)scene.model->nq * sizeof *q;
        q = malloc(bytes);
        demand(saved != NULL && forged != NULL && q != NULL && cr_world_save(world, saved, length) == CR_OK);
        memcpy(q, cr_world_state(world)->q, bytes);
    }
    if (size == 0) return 0;
    memcpy(forged, saved, length);
    size_t end = change(forged, length, data + 1, size - 1);
    if (data[0] % 2 == 0) snapshot_seal(forged, length);
    load(world, q, forged, end);
    demand(cr_world_load(world, saved, length, NULL) == CR_OK);
    return 0;
}
