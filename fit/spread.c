// spread.c - samples of a scene: drawn, run to the end, and written down as numbers.
//
// Sample k comes from stream k of the seed and nothing else; job 0 is the scene as it stands. Samples run together as
// worlds of a batch (worlds.c). What fails in a sample is part of its result, so that the others go on; its words are made
// again afterwards. The order of impacts is the sequence of pairs of bodies that hit, as cr_batch_hits has it.
// Fails: see spread.h.
#include "fit/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/dynamics.h"
#include "fit/random.h"

enum { STATUS, IMPACTS, UNSOLVED, OVERLAP, CREATED, PAIRS, ORDER };
#define BODIES (ORDER + CR_SPREAD_ORDER)

typedef struct Copies {
    const crJson* root;
    const char* text;
    const crScene* scene;
    const crSpreadOptions* options;
    crScene nominal;  // the scene as samples are run: with its quality
    crWorlds worlds;
    double* results;     // of all samples
    const int* jobs;     // the samples that are being run
    crScene* scenes;     // likewise
    crError* explained;  // not NULL: why a sample failed is asked for
} Copies;

static int size_of(const crScene* scene) { return BODIES + 6 * scene->model->nb; }

static double pair_code(int nb, crBatchHit hit) {
    return 2.0 * ((double)hit.a * nb + hit.b) + (hit.together ? 1.0 : 0.0);
}

static crStatus note_hits(const crWorldsEnd* end, int nb, double* result, crError* error) {
    crBatchHit hits[CR_SPREAD_ORDER];
    int count = 0, all = 0;
    crStatus status = cr_batch_hits(end->batch, end->world, hits, &count, &all, error);
    for (int i = 0; i < count; i++) {
        result[ORDER + i] = pair_code(nb, hits[i]);
    }
    result[IMPACTS] = all;
    result[PAIRS] = count;
    return status;
}

static crStatus note_end(const crWorldsEnd* end, const crModel* model, double* bodies, crError* error) {
    crArena arena;
    crDynamics d;
    crState state;
    cr_arena_create(&arena, NULL, 0);
    crStatus status = cr_state_create(model, &arena, &state);
    if (status == CR_OK) status = cr_dynamics_create(model, &arena, &d);
    if (status == CR_OK) {
        state.time = end->time;
        memcpy(state.q, end->q, (size_t)model->nq * sizeof *state.q);
        memcpy(state.v, end->v, (size_t)model->nv * sizeof *state.v);
        cr_model_kinematics(model, &state, &d);
        cr_model_velocity(model, state.v, &d);
    } else {
        cr_error_set(error, status, "spread", "spread: out of memory");
    }
    for (int i = 1; i < model->nb && status == CR_OK; i++) {
        crVec3 v = cr_model_point_velocity(&d, i, d.com[i]);
        memcpy(&bodies[6 * i], &(double[6]){d.com[i].x, d.com[i].y, d.com[i].z, v.x, v.y, v.z},
               6 * sizeof *bodies);
    }
    cr_arena_destroy(&arena);
    return status;
}

// a sample that was run; one that failed is told so, but for the scene itself
static crStatus take_sample(void* ctx, int index, const crWorldsEnd* end, crError* error) {
    const Copies* c = ctx;
    const crBatchResult* r = &end->result;
    double* result = &c->results[(size_t)c->jobs[index] * (size_t)size_of(c->scene)];
    if (r->status == CR_ERR_MEMORY || (r->status != CR_OK && c->jobs[index] == 0)) {
        if (error != NULL) *error = end->why;
        return r->status;
    }
    if (c->explained != NULL && r->status != CR_OK) *c->explained = end->why;
    result[STATUS] = r->status;
    result[UNSOLVED] = r->tally.near + r->tally.unsure + r->tally.failed;
    result[CREATED] = r->created;
    crStatus status = note_hits(end, c->scene->model->nb, result, error);
    if (status == CR_OK && r->status == CR_OK)
        status = note_end(end, c->scenes[index].model, &result[BODIES], error);
    return status;
}

// sample `index` as a scene of its own, ready to run
static crStatus draw_sample(const Copies* copies, int index, crScene* scene, double* result, crError* error) {
    const crSpreadOptions* o = copies->options;
    for (int i = 0; i < CR_SPREAD_ORDER; i++) {
        result[ORDER + i] = -1.0;
    }
    uint64_t random = cr__random_stream(o->seed, (uint64_t)index);
    int jitters = index == 0 ? 0 : o->jitter_count;
    crStatus status = cr_jitter_scene(o->jitters, jitters, copies->root, copies->text, &random, scene, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < scene->overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        result[OVERLAP] = fmax(result[OVERLAP], scene->overlaps[i].depth);
    }
    if (o->quality >= 0) scene->step.quality = (crQuality)o->quality;
    return CR_OK;
}

// true if settings of the step are drawn too: every sample has its own
static bool draws_settings(const crSpreadOptions* o) {
    for (int i = 0; i < o->jitter_count; i++) {
        if (o->jitters[i].kind == CR_JITTER_FIELD && cr__worlds_setting(o->jitters[i].name)) return true;
    }
    return false;
}

// whole steps to the end of the scene, and what is left
static void lay_path(const crScene* scene, double duration, double* h, int* steps) {
    double dt = scene->step.dt, whole = floor(duration / dt + 1e-9), time = scene->time;
    for (double n = 0.0; n < whole; n += 1.0) {
        time += dt;
    }
    h[0] = dt;
    steps[0] = (int)whole;
    h[1] = duration - time;
    steps[1] = duration - whole * dt > 1e-9 * dt && h[1] > 0.0 ? 1 : 0;
}

// Scenes of the samples that can be read, with their groups and paths.
typedef struct Block {
    crScene* scenes;
    int *jobs, *group, *steps;
    double* h;
    int count;
} Block;

static bool make_block(Block* b, int room) {
    size_t n = (size_t)room;
    b->scenes = calloc(n, sizeof *b->scenes);
    b->jobs = malloc(n * sizeof *b->jobs);
    b->group = malloc(n * sizeof *b->group);
    b->steps = malloc(2 * n * sizeof *b->steps);
    b->h = malloc(2 * n * sizeof *b->h);
    return b->scenes != NULL && b->jobs != NULL && b->group != NULL && b->steps != NULL && b->h != NULL;
}

static void free_block(Block* b) {
    for (int i = 0; i < b->count; i++) {
        cr_scene_free(&b->scenes[i]);
    }
    free(b->scenes);
    free(b->jobs);
    free(b->group);
    free(b->steps);
    free(b->h);
}

static crStatus fill_block(const Copies* c, Block* b, const int* jobs, int count, int* failed,
                           crError* error) {
    bool own = draws_settings(c->options);
    for (int i = 0; i < count; i++) {
        double* result = &c->results[(size_t)jobs[i] * (size_t)size_of(c->scene)];
        crScene* scene = &b->scenes[b->count];
        crError why = {0};
        crStatus status = draw_sample(c, jobs[i], scene, result, &why);
        *failed = jobs[i];
        if (status == CR_ERR_MEMORY || (status != CR_OK && jobs[i] == 0)) {
            if (error != NULL) *error = why;
            return status;
        }
        if (c->explained != NULL && status != CR_OK) *c->explained = why;
        result[STATUS] = status;
        if (status != CR_OK) continue;
        lay_path(scene, c->scene->duration, &b->h[2 * b->count], &b->steps[2 * b->count]);
        b->group[b->count] = own ? 1 + jobs[i] : 0;
        b->jobs[b->count++] = jobs[i];
    }
    return CR_OK;
}

static crStatus run_samples(void* ctx, const int* jobs, int count, double* results, int* failed,
                            crError* error) {
    Copies* c = ctx;
    Block b = {0};
    *failed = jobs[0];
    c->results = results;
    crStatus status = make_block(&b, count)
                          ? fill_block(c, &b, jobs, count, failed, error)
                          : cr_error_set(error, CR_ERR_MEMORY, "spread", "spread: out of memory");
    if (status == CR_OK && b.count > 0) {
        c->jobs = b.jobs;
        c->scenes = b.scenes;
        crWorldsRun run = {.scenes = b.scenes,
                           .group = b.group,
                           .count = b.count,
                           .path = {.samples = 2, .h = b.h, .steps = b.steps},
                           .take = take_sample,
                           .ctx = c};
        int at = 0;
        status = cr__worlds_run(&c->worlds, &run, &at, error);
        if (status != CR_OK) *failed = b.jobs[at];
    }
    free_block(&b);
    return status;
}

static bool watch(void* ctx, int done, int count) {
    const Copies* copies = ctx;
    const crSpreadOptions* o = copies->options;
    return o->watch == NULL || o->watch(o->ctx, done, count);
}

static crStatus check_options(const Copies* copies, crError* error) {
    const crSpreadOptions* o = copies->options;
    if (o->samples < 2 || o->samples > CR_SPREAD_MOST)
        return cr_error_set(error, CR_ERR_RANGE, "samples", "samples is %d, must be from 2 to %d", o->samples,
                            CR_SPREAD_MOST);
    if (o->jitter_count < 1)
        return cr_error_set(error, CR_ERR_MISSING, "jitter",
                            "jitter: nothing is jittered; position=1e-4 would be");
    crStatus status = CR_OK;
    for (int i = 0; i < o->jitter_count && status == CR_OK; i++) {
        status = cr_jitter_check(&o->jitters[i], copies->root, copies->scene, error);
    }
    return status;
}

// everything that samples depend on, but their number
static uint64_t key_of(const Copies* copies) {
    const crSpreadOptions* o = copies->options;
    const int revision = CR_NUMERICS_REVISION;
    uint64_t key = cr_hash(o->key, &revision, sizeof revision);
    key = cr_hash(key, &o->seed, sizeof o->seed);
    key = cr_hash(key, &o->quality, sizeof o->quality);
    key = cr_hash(key, &copies->scene->duration, sizeof copies->scene->duration);
    for (int i = 0; i < o->jitter_count; i++) {
        const crJitter* j = &o->jitters[i];
        int how = 2 * j->uniform + j->relative;
        key = cr_hash(key, j->name, strlen(j->name) + 1);
        key = cr_hash(key, &j->size, sizeof j->size);
        key = cr_hash(key, &how, sizeof how);
    }
    return key;
}

// how many failed, and why the first did: it is run again
static void count_failed(Copies* c, crSpread* spread) {
    for (int i = 1; i <= spread->samples; i++) {
        if (cr_spread_sample(spread, i).status == CR_OK) continue;
        if (spread->failed++ == 0) spread->first_failed = i;
    }
    if (spread->failed == 0) return;
    int failed = 0;
    c->explained = &spread->error;
    run_samples(c, &spread->first_failed, 1, spread->results, &failed, NULL);
}

crStatus cr_spread_run(const crJson* root, const char* text, const crScene* scene,
                       const crSpreadOptions* options, crSpread* spread, crError* error) {
    Copies copies = {.root = root, .text = text, .scene = scene, .options = options, .nominal = *scene};
    *spread = (crSpread){.samples = options->samples, .nb = scene->model->nb, .size = size_of(scene)};
    crStatus status = check_options(&copies, error);
    if (status != CR_OK) return status;
    if (options->quality >= 0) copies.nominal.step.quality = (crQuality)options->quality;
    copies.worlds =
        (crWorlds){.nominal = &copies.nominal,
                   .device = options->device,
                   .threads = options->threads,
                   .room = cr__worlds_room(&options->device, options->threads, options->samples + 1),
                   .hits = CR_SPREAD_ORDER};
    size_t all = (size_t)options->samples + 1;
    spread->results = malloc(all * (size_t)spread->size * sizeof *spread->results);
    if (spread->results == NULL) return cr_error_set(error, CR_ERR_MEMORY, "spread", "spread: out of memory");
    crJobs jobs = {.count = options->samples + 1,
                   .size = spread->size,
                   .run_many = run_samples,
                   .together = copies.worlds.room,
                   .ctx = &copies,
                   .watch = watch,
                   .checkpoint = options->checkpoint,
                   .key = key_of(&copies),
                   .ranks = options->ranks};
    status = cr_jobs_run(&jobs, spread->results, error);
    if (status == CR_OK) {
        count_failed(&copies, spread);
    } else {
        cr_spread_destroy(spread);
    }
    cr__worlds_destroy(&copies.worlds);
    return status;
}

void cr_spread_destroy(crSpread* spread) {
    free(spread->results);
    spread->results = NULL;
}

crSample cr_spread_sample(const crSpread* spread, int index) {
    const double* r = &spread->results[(size_t)index * (size_t)spread->size];
    return (crSample){.status = (crStatus)(int)r[STATUS],
                      .impacts = (int)r[IMPACTS],
                      .unsolved = (int)r[UNSOLVED],
                      .overlap = r[OVERLAP],
                      .created = r[CREATED],
                      .pair_count = (int)r[PAIRS],
                      .order = &r[ORDER],
                      .bodies = &r[BODIES]};
}

crSpreadPair cr_spread_pair(const crSpread* spread, double code) {
    double pair = floor(code / 2.0);
    int a = (int)floor(pair / spread->nb);
    return (crSpreadPair){a, (int)(pair - (double)a * spread->nb), code - 2.0 * pair > 0.5};
}
