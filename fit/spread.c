// spread.c - samples of a scene: drawn, run to the end, and written down as numbers.
//
// Sample k comes from stream k of the seed and nothing else; job 0 is the scene as it stands. What fails in a
// sample is part of its result, so that the others go on; its words are made again afterwards. The order of
// impacts is the sequence of pairs of bodies that hit, in the order of time; pairs of one impact, which a
// rule resolved together, stand in the order of bodies and are marked. Methods without impacts (lcp, moreau)
// are told apart by the contacts that begin.
// Fails: see spread.h.
#include "fit/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "carom/stages.h"
#include "fit/random.h"

enum { STATUS, IMPACTS, UNSOLVED, OVERLAP, CREATED, PAIRS, ORDER };
#define BODIES (ORDER + CR_SPREAD_ORDER)

typedef struct Copies {
    const crJson* root;
    const char* text;
    const crScene* scene;
    const crSpreadOptions* options;
} Copies;

// The order of impacts so far.
typedef struct Order {
    double* code;  // (CR_SPREAD_ORDER)
    int count;
    int begun;  // where the present impact begins
    double time;
    int impact;
} Order;

static double pair_code(int nb, int a, int b) { return 2.0 * ((double)a * nb + b); }

// a pair of the present impact, once, in its place; the first of the impact carries no mark
static void insert(Order* order, double code) {
    int k = order->count;
    for (int i = order->begun; i < order->count; i++) {
        if (2.0 * floor(order->code[i] / 2.0) == code) return;
    }
    if (k == CR_SPREAD_ORDER) return;
    for (; k > order->begun && order->code[k - 1] > code; k--) {
        order->code[k] = order->code[k - 1];
    }
    order->code[k] = code;
    order->count++;
}

static void mark(Order* order) {
    for (int i = order->begun + 1; i < order->count; i++) {
        order->code[i] += 1.0;
    }
    order->begun = order->count;
}

static void note_events(const crWorld* world, bool impacts, int nb, Order* order, double* count) {
    crEvents events = cr_world_events(world);
    order->impact = -1;
    for (int i = 0; i < events.count; i++) {
        const crEvent* e = &events.events[i];
        if (impacts ? e->impact < 0 : e->impact < CR_EVENT_CONTACT) continue;
        *count += 1.0;
        bool same = e->time == order->time && (impacts ? e->impact == order->impact : true);
        if (!same) mark(order);
        order->time = e->time;
        order->impact = e->impact;
        int a = e->body_a < e->body_b ? e->body_a : e->body_b;
        int b = e->body_a < e->body_b ? e->body_b : e->body_a;
        insert(order, pair_code(nb, a, b));
    }
}

static void note_end(crWorld* world, const crModel* model, double* bodies) {
    crState* state = cr_world_state(world);
    crDynamics* d = &cr_world_stages(world)->dynamics;
    cr_model_kinematics(model, state, d);
    cr_model_velocity(model, state->v, d);
    for (int i = 1; i < model->nb; i++) {
        crVec3 v = cr_model_point_velocity(d, i, d->com[i]);
        memcpy(&bodies[6 * i], &(double[6]){d->com[i].x, d->com[i].y, d->com[i].z, v.x, v.y, v.z},
               6 * sizeof *bodies);
    }
}

static crStatus run_world(crWorld* world, const crScene* scene, double* result, crError* error) {
    int nb = scene->model->nb;
    Order order = {.code = &result[ORDER], .time = -1.0, .impact = -1};
    crMethod method = scene->step.method;
    bool impacts = method == CR_METHOD_CONE || method == CR_METHOD_EVENT;
    double dt = scene->step.dt;
    double steps = floor(scene->duration / dt + 1e-9);
    crStatus status = CR_OK;
    for (double n = 0.0; status == CR_OK && n <= steps; n += 1.0) {
        if (n == steps && scene->duration - steps * dt <= 1e-9 * dt) break;
        status = n < steps ? cr_world_step(world, error) : cr_world_run(world, scene->duration, error);
        if (status != CR_OK) break;
        const crCertificate* c = cr_world_certificate(world);
        bool good = c->outcome == CR_OUTCOME_SOLVED || c->outcome == CR_OUTCOME_BOUNDED;
        result[UNSOLVED] += !good || c->truncated;
        result[CREATED] = fmax(result[CREATED], c->energy_created);
        note_events(world, impacts, nb, &order, &result[IMPACTS]);
    }
    mark(&order);
    result[PAIRS] = order.count;
    if (status == CR_OK) note_end(world, scene->model, &result[BODIES]);
    return status;
}

static crStatus run_sample(const Copies* copies, int index, double* result, crError* error) {
    const crSpreadOptions* o = copies->options;
    for (int i = 0; i < CR_SPREAD_ORDER; i++) {
        result[ORDER + i] = -1.0;
    }
    uint64_t random = cr__random_stream(o->seed, (uint64_t)index);
    int jitters = index == 0 ? 0 : o->jitter_count;
    crScene scene = {0};
    crStatus status =
        cr_jitter_scene(o->jitters, jitters, copies->root, copies->text, &random, &scene, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < scene.overlap_count && i < CR_SCENE_OVERLAPS; i++) {
        result[OVERLAP] = fmax(result[OVERLAP], scene.overlaps[i].depth);
    }
    scene.duration = copies->scene->duration;
    if (o->quality >= 0) scene.step.quality = (crQuality)o->quality;
    scene.step.threads = 1;
    crWorld* world = NULL;
    status = cr_scene_world(&scene, &world, error);
    if (status == CR_OK) status = run_world(world, &scene, result, error);
    cr_world_destroy(world);
    cr_scene_free(&scene);
    return status;
}

static crStatus run_job(void* ctx, int job, double* result, crError* error) {
    crStatus status = run_sample(ctx, job, result, error);
    if (status == CR_ERR_MEMORY) return status;
    if (status != CR_OK && job == 0) return status;
    result[STATUS] = status;
    return CR_OK;
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

// how many failed, and why the first did
static void count_failed(const Copies* copies, crSpread* spread, double* room) {
    for (int i = 1; i <= spread->samples; i++) {
        if (cr_spread_sample(spread, i).status == CR_OK) continue;
        if (spread->failed++ == 0) spread->first_failed = i;
    }
    if (spread->failed == 0) return;
    memset(room, 0, (size_t)spread->size * sizeof *room);
    run_sample(copies, spread->first_failed, room, &spread->error);
}

crStatus cr_spread_run(const crJson* root, const char* text, const crScene* scene,
                       const crSpreadOptions* options, crSpread* spread, crError* error) {
    Copies copies = {root, text, scene, options};
    *spread = (crSpread){.samples = options->samples, .nb = scene->model->nb};
    crStatus status = check_options(&copies, error);
    if (status != CR_OK) return status;
    spread->size = BODIES + 6 * spread->nb;
    size_t all = (size_t)options->samples + 2;
    spread->results = malloc(all * (size_t)spread->size * sizeof *spread->results);
    if (spread->results == NULL) return cr_error_set(error, CR_ERR_MEMORY, "spread", "spread: out of memory");
    crJobs jobs = {.count = options->samples + 1, .size = spread->size, .run = run_job, .ctx = &copies};
    jobs.threads = options->threads;
    jobs.watch = watch;
    jobs.checkpoint = options->checkpoint;
    jobs.key = key_of(&copies);
    jobs.ranks = options->ranks;
    status = cr_jobs_run(&jobs, spread->results, error);
    if (status != CR_OK) {
        cr_spread_destroy(spread);
        return status;
    }
    count_failed(&copies, spread, &spread->results[(all - 1) * (size_t)spread->size]);
    return CR_OK;
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
