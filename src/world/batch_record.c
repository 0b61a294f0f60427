// batch_record.c - a world as a column of words: time, q, v, applied forces, motor speeds, controls, forces of ties, sleep,
// forces of contacts.
//
// The numbers are those of a snapshot (snapshot.c), one word of 8 bytes each, integers of 4 bytes two to a word. Word k
// of world i of a batch is words[k*stride + i]: neighbouring threads of a GPU read neighbouring words. Words behind the
// last force of a contact mean nothing.
// Fails: CR_ERR_LIMIT where a world has more forces of contacts than its record has room for; CR_ERR_MEMORY.
#include <string.h>

#include "base/bytes.h"
#include "base/room.h"
#include "world/batch.h"

enum { SLEEP = 4, WARM = 6 };  // words

static int bodies_that_sleep(const crWorld* world) {
    return world->step.settings.sleep_time > 0.0 ? world->step.model->nb : 0;
}

crRecordLayout cr__record_layout(const crWorld* world) {
    const crModel* model = world->step.model;
    crRecordLayout layout = {.width = {1, model->nq, model->nv, model->nv, model->nv, model->nu}};
    int at = 0;
    for (int k = 0; k < CR_BATCH_ARRAYS; k++) {
        layout.at[k] = at;
        at += layout.width[k];
    }
    layout.ties = at;
    layout.tie_count = world->step.ties.count;
    layout.sleep = layout.ties + layout.tie_count;
    layout.sleep_count = bodies_that_sleep(world);
    layout.warm = layout.sleep + SLEEP * layout.sleep_count;
    cr__record_room(&layout, 0);
    return layout;
}

void cr__record_room(crRecordLayout* layout, int contacts) {
    layout->warm_room = contacts;
    layout->words = layout->warm + 1 + WARM * contacts;
}

static uint64_t word_of(double x) {
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static double number_of(uint64_t word) {
    double x;
    memcpy(&x, &word, sizeof x);
    return x;
}

static uint64_t two(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }
static uint32_t low_of(uint64_t word) { return (uint32_t)(word & UINT32_MAX); }
static uint32_t high_of(uint64_t word) { return (uint32_t)(word >> 32); }

static void get(crRecord r, int from, int count, double* x) {
    for (int i = 0; i < count; i++) {
        x[i] = number_of(r.at[(size_t)(from + i) * r.stride]);
    }
}

static void put(crRecord r, int to, int count, const double* x) {
    for (int i = 0; i < count; i++) {
        r.at[(size_t)(to + i) * r.stride] = word_of(x[i]);
    }
}

// part k of the arrays in a state
static double* part_of(crState* state, int k) {
    switch (k) {
    case CR_BATCH_TIME:
        return &state->time;
    case CR_BATCH_Q:
        return state->q;
    case CR_BATCH_V:
        return state->v;
    case CR_BATCH_FORCE:
        return state->force;
    case CR_BATCH_MOTOR_SPEED:
        return state->motor_speed;
    default:
        return state->ctrl;
    }
}

static crWarm load_warm(crRecord r, int at) {
    uint64_t w[WARM];
    for (int i = 0; i < WARM; i++) {
        w[i] = r.at[(size_t)(at + i) * r.stride];
    }
    return (crWarm){(int)low_of(w[0]),
                    (int)high_of(w[0]),
                    (int)low_of(w[1]),
                    (int)high_of(w[1]),
                    low_of(w[2]),
                    high_of(w[2]),
                    {number_of(w[3]), number_of(w[4]), number_of(w[5])}};
}

static void store_warm(crRecord r, int at, const crWarm* warm) {
    const uint64_t w[WARM] = {two((uint32_t)warm->shape_a, (uint32_t)warm->shape_b),
                              two((uint32_t)warm->child_a, (uint32_t)warm->child_b),
                              two(warm->feature_a, warm->feature_b),
                              word_of(warm->force.x),
                              word_of(warm->force.y),
                              word_of(warm->force.z)};
    for (int i = 0; i < WARM; i++) {
        r.at[(size_t)(at + i) * r.stride] = w[i];
    }
}

static crSleep load_sleep(crRecord r, int at) {
    uint64_t last = r.at[(size_t)(at + 3) * r.stride];
    return (crSleep){number_of(r.at[(size_t)at * r.stride]), number_of(r.at[(size_t)(at + 1) * r.stride]),
                     r.at[(size_t)(at + 2) * r.stride], (int)low_of(last), (int)high_of(last)};
}

static void store_sleep(crRecord r, int at, const crSleep* s) {
    r.at[(size_t)at * r.stride] = word_of(s->slow);
    r.at[(size_t)(at + 1) * r.stride] = word_of(s->overlap);
    r.at[(size_t)(at + 2) * r.stride] = s->seal;
    r.at[(size_t)(at + 3) * r.stride] = two((uint32_t)s->island, (uint32_t)s->carrier);
}

static int warm_count(const crRecordLayout* layout, crRecord r) {
    return (int)r.at[(size_t)layout->warm * r.stride];
}

crStatus cr__record_load(const crRecordLayout* layout, crRecord r, crWorld* world) {
    crStep* step = &world->step;
    int count = warm_count(layout, r);
    crStatus status = CR_GROW(&step->own.allocator, step->warm.force, step->warm.capacity, 0, count);
    if (status != CR_OK) return status;
    for (int k = 0; k < CR_BATCH_ARRAYS; k++) {
        get(r, layout->at[k], layout->width[k], part_of(&step->state, k));
    }
    get(r, layout->ties, layout->tie_count, step->ties.force);
    for (int b = 0; b < layout->sleep_count; b++) {
        step->rest.sleep[b] = load_sleep(r, layout->sleep + SLEEP * b);
    }
    for (int i = 0; i < count; i++) {
        step->warm.force[i] = load_warm(r, layout->warm + 1 + WARM * i);
    }
    step->warm.count = count;
    step->events.count = 0;
    world->last_h = 0.0;
    // bodies that sleep are not posed again by a step
    if (layout->sleep_count > 0) cr_model_kinematics(step->model, &step->state, &step->dynamics);
    return CR_OK;
}

void cr__record_begin(const crRecordLayout* layout, crRecord r, crState* state) {
    for (int k = 0; k < CR_BATCH_ARRAYS; k++) {
        put(r, layout->at[k], layout->width[k], part_of(state, k));
    }
    for (int k = layout->ties; k <= layout->warm; k++) {
        r.at[(size_t)k * r.stride] = 0;
    }
}

crStatus cr__record_store(const crRecordLayout* layout, crRecord r, const crWorld* world) {
    const crStep* step = &world->step;
    if (step->warm.count > layout->warm_room) return CR_ERR_LIMIT;
    crState state = step->state;
    for (int k = 0; k < CR_BATCH_ARRAYS; k++) {
        put(r, layout->at[k], layout->width[k], part_of(&state, k));
    }
    put(r, layout->ties, layout->tie_count, step->ties.force);
    for (int b = 0; b < layout->sleep_count; b++) {
        store_sleep(r, layout->sleep + SLEEP * b, &step->rest.sleep[b]);
    }
    r.at[(size_t)layout->warm * r.stride] = (uint64_t)step->warm.count;
    for (int i = 0; i < step->warm.count; i++) {
        store_warm(r, layout->warm + 1 + WARM * i, &step->warm.force[i]);
    }
    return CR_OK;
}

bool cr__record_take(const crRecordLayout* layout, crRecord r, crLoneState* s) {
    double motor[6];
    s->warm_count = warm_count(layout, r);
    if (s->warm_count > CR_LONE_CONTACTS) return false;
    get(r, layout->at[CR_BATCH_TIME], 1, &s->time);
    get(r, layout->at[CR_BATCH_Q], 7, s->q);
    get(r, layout->at[CR_BATCH_V], 6, s->v);
    get(r, layout->at[CR_BATCH_FORCE], 6, s->force);
    get(r, layout->at[CR_BATCH_MOTOR_SPEED], 6, motor);
    for (int i = 0; i < s->warm_count; i++) {
        s->warm[i] = load_warm(r, layout->warm + 1 + WARM * i);
    }
    bool finite = true;
    for (int i = 0; i < 6; i++) {
        finite = finite && isfinite(motor[i]);
    }
    s->still = false;
    return finite;
}

void cr__record_give(const crRecordLayout* layout, crRecord r, const crLoneState* s) {
    put(r, layout->at[CR_BATCH_TIME], 1, &s->time);
    put(r, layout->at[CR_BATCH_Q], 7, s->q);
    put(r, layout->at[CR_BATCH_V], 6, s->v);
    r.at[(size_t)layout->warm * r.stride] = (uint64_t)s->warm_count;
    for (int i = 0; i < s->warm_count; i++) {
        store_warm(r, layout->warm + 1 + WARM * i, &s->warm[i]);
    }
}

static void hash_words(crRecord r, int from, int count, crBytes* out) {
    for (int i = 0; i < count; i++) {
        cr__put_u64(out, r.at[(size_t)(from + i) * r.stride]);
    }
}

// a word of two integers has the bytes of the one and then those of the other
uint64_t cr__record_hash(const crRecordLayout* layout, crRecord r) {
    crBytes out = {NULL, CR_HASH_SEED};
    hash_words(r, 0, layout->ties, &out);
    hash_words(r, layout->warm + 1, WARM * warm_count(layout, r), &out);
    hash_words(r, layout->ties, layout->tie_count, &out);
    hash_words(r, layout->sleep, SLEEP * layout->sleep_count, &out);
    return out.hash;
}
