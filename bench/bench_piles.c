// bench_piles.c - time per step of settled piles next to other engines, and what that time buys.
//
// For each scene and seed every engine first settles its own copy; then all take turns of a few steps
// through one simulated second, so that whatever else the machine does falls on all alike. Reported is the
// median over the steps, and over the seeds. One thread is timed by the processor time of the process, more by wall time.
// An engine whose settling takes longer than the limit is measured where it is then, and the table says so.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "piles.h"

#define TURN     12
#define SAMPLES  10
#define RUNS     16
#define SEEDS    32
#define THREADS  4
#define ENGINES  6
#define LIST     32
#define MEASURED 1.0  // s

typedef struct Options {
    const char* scenes[LIST];
    int scene_count;
    const char* engines;  // NULL: as the scene says
    int seeds;
    int threads[THREADS];
    int thread_count;
    double settle;       // NAN: as the scene says, s
    double limit;        // wall time for settling one engine in one seed, s
    const char* record;  // folder for trajectories instead of times, NULL: none
    bool json;
} Options;

// One engine with one number of threads in one scene and seed.
typedef struct Run {
    const PilesEngine* engine;
    int threads;
    PilesScene scene;  // with the shapes the engine has
    char replaced[64];
    void** worlds;  // one, or one per body where they are alone (world_count)
    int world_count;
    PilesMotion* motion;  // (body_count)
    double* cpu;          // of each measured step, ms (steps)
    double* wall;         // (steps)
    double* audit;        // share of it that its audit took, full geometry aside (steps)
    PilesAudit audited;   // over all measured steps
    int steps, within;    // measured; of them with a residual of at most 1e-8
    double settled, residual, mean, max;
    double energy[SAMPLES + 1], energy95[SAMPLES + 1];
    int samples;
    PilesMeasure last;
    long heap_calls;
    size_t bytes;
    int contacts, escapes;
    bool cut;  // the limit came before the end of settling
    bool gave_up;
} Run;

static const PilesEngine* const engines[ENGINES] = {
#ifdef CAROM_BENCH_BULLET
    &piles_bullet,
#endif
#ifdef CAROM_BENCH_ODE
    &piles_ode,
#endif
#ifdef CAROM_BENCH_MUJOCO
    &piles_mujoco,
#endif
    &piles_carom_fast, &piles_carom_accurate, &piles_carom_certified,
};

static double clock_ms(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* x, int n) {
    if (n == 0) return NAN;
    qsort(x, (size_t)n, sizeof *x, by_size);
    return n % 2 ? x[n / 2] : 0.5 * (x[n / 2 - 1] + x[n / 2]);
}

// one run

static void run_destroy(Run* run) {
    for (int i = 0; run->worlds != NULL && i < run->world_count; i++) {
        if (run->worlds[i] != NULL) run->engine->destroy(run->worlds[i]);
    }
    free(run->worlds);
    free(run->motion);
    free(run->cpu);
    free(run->wall);
    free(run->audit);
    piles_scene_destroy(&run->scene);
}

static bool run_create(Run* run, const PilesEngine* engine, int threads, const PilesScene* scene) {
    *run = (Run){.engine = engine, .threads = threads};
    if (!piles_scene_replace(scene, engine->has, &run->scene, run->replaced, sizeof run->replaced))
        return false;
    int n = scene->body_count, steps = (int)ceil(MEASURED / scene->dt) + TURN;
    run->world_count = scene->alone ? n : 1;
    run->worlds = calloc((size_t)run->world_count, sizeof *run->worlds);
    run->motion = calloc((size_t)n, sizeof *run->motion);
    run->cpu = calloc((size_t)steps, sizeof *run->cpu);
    run->wall = calloc((size_t)steps, sizeof *run->wall);
    run->audit = calloc((size_t)steps, sizeof *run->audit);
    if (run->worlds == NULL || run->motion == NULL || run->cpu == NULL || run->wall == NULL ||
        run->audit == NULL) {
        return false;
    }
    for (int i = 0; i < run->world_count; i++) {
        PilesScene one = run->scene;
        if (scene->alone) {
            one.bodies += i;
            one.body_count = 1;
        }
        run->worlds[i] = engine->create(engine, &one, threads);
        run->gave_up |= run->worlds[i] == NULL;
    }
    return true;
}

static void run_step(Run* run) {
    for (int i = 0; i < run->world_count && !run->gave_up; i++) {
        if (!run->engine->step(run->worlds[i])) run->gave_up = true;
    }
}

static void settle(Run* run, double time, double limit) {
    double start = clock_ms(CLOCK_MONOTONIC);
    while (run->settled < time - 1e-9 && !run->gave_up) {
        run_step(run);
        run->settled += run->scene.dt;
        run->cut = clock_ms(CLOCK_MONOTONIC) - start > 1e3 * limit;
        if (run->cut) return;
    }
}

static void report(Run* run, PilesReport* sum) {
    *sum = (PilesReport){0};
    for (int i = 0; run->engine->report != NULL && i < run->world_count; i++) {
        PilesReport one;
        run->engine->report(run->worlds[i], &one);
        sum->residual = fmax(sum->residual, one.residual);
        sum->contacts += one.contacts;
        sum->heap_calls += one.heap_calls;
        sum->bytes += one.bytes;
    }
}

// the audit's part of the step that was timed last; before: its cost up to then
static void timed_audit(Run* run, PilesAudit before) {
    PilesAudit after = piles_audit();
    double geometry = after.geometry_ms - before.geometry_ms, cpu = run->cpu[run->steps - 1] - geometry;
    run->audit[run->steps - 1] = run->threads == 1 && cpu > 0.0 ? (after.ms - before.ms) / cpu : NAN;
    run->audited.geometry_ms += geometry;
    run->audited.geometries += after.geometries - before.geometries;
}

static void timed_step(Run* run) {
    PilesReport before, after;
    PilesAudit audit = piles_audit();
    report(run, &before);
    double cpu = clock_ms(CLOCK_PROCESS_CPUTIME_ID), wall = clock_ms(CLOCK_MONOTONIC);
    run_step(run);
    run->wall[run->steps] = clock_ms(CLOCK_MONOTONIC) - wall;
    run->cpu[run->steps++] = clock_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    timed_audit(run, audit);
    report(run, &after);
    run->residual = fmax(run->residual, after.residual);
    run->within += after.residual <= 1e-8;
    run->heap_calls += after.heap_calls - before.heap_calls;
    run->bytes = after.bytes;
    run->contacts = after.contacts;
}

static void sample(Run* run) {
    if (run->steps == 0) return;
    int n = run->scene.body_count;
    for (int i = 0; i < run->world_count; i++) {
        run->engine->read(run->worlds[i], run->motion + i * (n / run->world_count));
    }
    if (run->samples > SAMPLES || !piles_measure(&run->scene, run->motion, &run->last)) return;
    run->mean += run->last.mean;
    run->max = fmax(run->max, run->last.max);
    run->energy[run->samples] = run->last.energy;
    run->energy95[run->samples++] = run->last.energy95;
    run->escapes = run->last.escapes > run->escapes ? run->last.escapes : run->escapes;
}

// turns of a few steps each through the measured second; slow engines stop at the limit
static void measure(Run* runs, int count, double limit) {
    int steps = (int)ceil(MEASURED / runs[0].scene.dt), turns = (steps + TURN - 1) / TURN;
    double spent[RUNS] = {0};
    for (int t = 0; t < turns; t++) {
        for (int r = 0; r < count; r++) {
            Run* run = &runs[r];
            if (spent[r] > 1e3 * limit) continue;
            for (int k = 0; k < TURN && !run->gave_up; k++) {
                timed_step(run);
                spent[r] += run->wall[run->steps - 1];
            }
            if (t % (turns / SAMPLES) == turns / SAMPLES - 1 || spent[r] > 1e3 * limit) sample(run);
        }
    }
}

// all seeds of one scene

typedef struct Seeds {
    double ms[SEEDS], wall[SEEDS], ratio[SEEDS], mean[SEEDS], max[SEEDS], energy[SEEDS], energy95[SEEDS];
    double displacement[SEEDS], residual[SEEDS], share[SEEDS], heap[SEEDS], bytes[SEEDS], contacts[SEEDS];
    double settled[SEEDS], audit[SEEDS], geometry[SEEDS];
    int count;
} Seeds;

static void add_seed(Run* run, double bullet_ms, PilesResult* result, Seeds* seeds) {
    int i = seeds->count;
    result->gave_up |= run->gave_up;
    result->cut |= run->cut;
    result->escapes += run->escapes;
    snprintf(result->replaced, sizeof result->replaced, "%s", run->replaced);
    if (run->steps == 0) return;
    double cpu = median(run->cpu, run->steps), wall = median(run->wall, run->steps);
    bool told = run->engine->report != NULL;
    seeds->ms[i] = run->threads > 1 ? wall : cpu;
    seeds->wall[i] = wall;
    seeds->ratio[i] = seeds->ms[i] / bullet_ms;
    seeds->mean[i] = run->mean / (run->samples > 0 ? run->samples : 1);
    seeds->max[i] = run->max;
    seeds->energy[i] = median(run->energy, run->samples);
    seeds->energy95[i] = median(run->energy95, run->samples);
    seeds->displacement[i] = run->scene.stands ? run->last.displacement : NAN;
    seeds->residual[i] = told ? run->residual : NAN;
    seeds->share[i] = told ? (double)run->within / run->steps : NAN;
    seeds->heap[i] = told ? (double)run->heap_calls / run->steps : NAN;
    seeds->bytes[i] = told ? (double)run->bytes / run->scene.body_count : NAN;
    seeds->contacts[i] = told ? (double)run->contacts : NAN;
    seeds->settled[i] = run->settled;
    seeds->audit[i] = told ? median(run->audit, run->steps) : NAN;
    seeds->geometry[i] =
        told && run->audited.geometries > 0 ? run->audited.geometry_ms / run->audited.geometries / cpu : NAN;
    seeds->count++;
}

static void finish(PilesResult* r, Seeds* s) {
    int n = s->count;
    r->seeds = n;
    r->ms = median(s->ms, n);
    r->wall_ms = median(s->wall, n);
    r->ratio = median(s->ratio, n);
    r->mean = median(s->mean, n);
    r->max = median(s->max, n);
    r->energy = median(s->energy, n);
    r->energy95 = median(s->energy95, n);
    r->displacement = median(s->displacement, n);
    r->residual = median(s->residual, n);
    r->share_1e8 = median(s->share, n);
    r->heap_calls = median(s->heap, n);
    r->bytes_per_body = median(s->bytes, n);
    r->contacts = r->engine->report != NULL && n > 0 ? (int)median(s->contacts, n) : 0;
    r->settled = median(s->settled, n);
    r->audit = median(s->audit, n);
    r->geometry = median(s->geometry, n);
}

static bool wanted(const Options* options, const PilesEngine* engine, const PilesScene* scene) {
    if (options->engines != NULL) return strstr(options->engines, engine->name) != NULL;
    return !scene->large || engine == &piles_carom_fast || strcmp(engine->name, "bullet") == 0;
}

static int list_runs(const Options* options, const PilesScene* scene, const PilesEngine** who, int* threads) {
    int count = 0;
    for (int t = 0; t < options->thread_count; t++) {
        for (int i = 0; i < ENGINES; i++) {
            if (engines[i] == NULL || !wanted(options, engines[i], scene)) continue;
            if (options->threads[t] > engines[i]->threads_max || count == RUNS) continue;
            who[count] = engines[i];
            threads[count++] = options->threads[t];
        }
    }
    return count;
}

static double bullet_ms(const Run* runs, int count) {
    for (int r = 0; r < count; r++) {
        if (strcmp(runs[r].engine->name, "bullet") == 0 && runs[r].threads == 1 && runs[r].steps > 0) {
            return median(runs[r].cpu, runs[r].steps);
        }
    }
    return NAN;
}

static bool run_seed(const Options* options, const PilesScene* scene, uint64_t seed, int count,
                     const PilesEngine* const* who, const int* threads, PilesResult* results, Seeds* seeds) {
    Run runs[RUNS];
    bool fine = true;
    double time = isnan(options->settle) ? scene->settle : options->settle;
    int made = 0;
    for (; made < count && fine; made++) {
        Run* run = &runs[made];
        fine = run_create(run, who[made], threads[made], scene);
        fprintf(stderr, "%s, seed %d: %s, %d thread%s, settling\n", scene->name, (int)seed, who[made]->name,
                threads[made], threads[made] > 1 ? "s" : "");
        if (fine) settle(run, time, options->limit);
    }
    if (fine) measure(runs, count, options->limit);
    double bullet = bullet_ms(runs, made);
    for (int r = 0; r < made; r++) {
        if (fine) add_seed(&runs[r], bullet, &results[r], &seeds[r]);
        run_destroy(&runs[r]);
    }
    return fine;
}

static int run_scene(const Options* options, const char* name, PilesResult* results) {
    const PilesEngine* who[RUNS];
    int threads[RUNS], count = 0;
    Seeds* seeds = calloc(RUNS, sizeof *seeds);
    if (seeds == NULL) return -1;
    for (int s = 1; s <= options->seeds; s++) {
        PilesScene scene;
        if (!piles_scene_create(name, (uint64_t)s, &scene)) {
            free(seeds);
            return -1;
        }
        count = list_runs(options, &scene, who, threads);
        for (int r = 0; r < count && s == 1; r++) {
            results[r] = (PilesResult){.engine = who[r], .scene = scene.name, .threads = threads[r]};
            results[r].bodies = scene.body_count;
        }
        bool fine = run_seed(options, &scene, (uint64_t)s, count, who, threads, results, seeds);
        piles_scene_destroy(&scene);
        if (!fine) {
            free(seeds);
            return -1;
        }
    }
    for (int r = 0; r < count; r++) {
        finish(&results[r], &seeds[r]);
    }
    free(seeds);
    return count;
}

// trajectories of the first seed, from the start

static bool record_scene(const Options* options, const char* name) {
    PilesScene scene;
    const PilesEngine* who[RUNS];
    int threads[RUNS];
    if (!piles_scene_create(name, 1, &scene)) return false;
    int count = list_runs(options, &scene, who, threads);
    double seconds = isnan(options->settle) ? scene.settle : options->settle;
    bool good = piles_record(options->record, &scene, who, count, seconds);
    piles_scene_destroy(&scene);
    return good;
}

static int record_all(const Options* options) {
    for (int s = 0; s < options->scene_count; s++) {
        if (!record_scene(options, options->scenes[s])) return 1;
    }
    return 0;
}

// the command line

static void usage(FILE* out) {
    fprintf(out,
            "usage: ./dev bench piles [SCENE...] [--seeds N] [--threads 1,2] [--engines LIST] [--settle S]\n"
            "                         [--limit S] [--json] [--record DIR]\n\n"
            "scenes (all by default):");
    for (int i = 0; piles_scene_name(i) != NULL; i++) {
        fprintf(out, " %s", piles_scene_name(i));
    }
    fprintf(out, "\nengines:");
    for (int i = 0; i < ENGINES && engines[i] != NULL; i++) {
        fprintf(out, "%s %s", i > 0 ? "," : "", engines[i]->name);
    }
    fprintf(out,
            "\n  --seeds N     1 to %d (3)\n  --threads T   numbers of threads, with commas (1)\n"
            "  --settle S    simulated seconds before the measured one (by scene: 2 or 4)\n"
            "  --limit S     wall seconds for settling one engine, and for measuring it (60)\n"
            "  --json        results for programs instead of tables\n"
            "  --record DIR  no times: scene and trajectories over --settle seconds, for carom audit\n",
            SEEDS);
}

static bool number(const char* option, const char* text, double lo, double hi, double* out) {
    char* end = NULL;
    *out = text != NULL ? strtod(text, &end) : NAN;
    if (text != NULL && *text != '\0' && *end == '\0' && *out >= lo && *out <= hi) return true;
    fprintf(stderr, "bench piles: %s is %s; allowed: %g to %g\n", option, text != NULL ? text : "missing", lo,
            hi);
    return false;
}

static bool parse_threads(const char* text, Options* options) {
    options->thread_count = 0;
    for (const char* at = text; at != NULL && options->thread_count < THREADS;) {
        char one[8] = "";
        size_t length = strcspn(at, ",");
        if (length < sizeof one) memcpy(one, at, length);
        double value = 0.0;
        if (!number("--threads", one, 1, 64, &value)) return false;
        options->threads[options->thread_count++] = (int)value;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return true;
}

static bool parse_option(int argc, char** argv, int* i, Options* options) {
    const char* name = argv[*i];
    if (strcmp(name, "--json") == 0) return options->json = true;
    const char* value = ++*i < argc ? argv[*i] : NULL;
    double x = 0.0;
    if (strcmp(name, "--seeds") == 0) {
        if (!number(name, value, 1, SEEDS, &x)) return false;
        options->seeds = (int)x;
        return true;
    }
    if (strcmp(name, "--threads") == 0 && value != NULL) return parse_threads(value, options);
    if (strcmp(name, "--settle") == 0) return number(name, value, 0, 1e3, &options->settle);
    if (strcmp(name, "--limit") == 0) return number(name, value, 1e-3, 1e5, &options->limit);
    if ((strcmp(name, "--engines") == 0 || strcmp(name, "--record") == 0) && value != NULL) {
        *(name[2] == 'e' ? &options->engines : &options->record) = value;
        return true;
    }
    fprintf(stderr, "bench piles: unknown or incomplete option '%s'\n", name);
    return false;
}

static bool known_scene(const char* name) {
    for (int i = 0; piles_scene_name(i) != NULL; i++) {
        if (strcmp(piles_scene_name(i), name) == 0) return true;
    }
    fprintf(stderr, "bench piles: no scene '%s'\n", name);
    return false;
}

static bool parse(int argc, char** argv, Options* options) {
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (!parse_option(argc, argv, &i, options)) return false;
        } else {
            if (!known_scene(argv[i]) || options->scene_count == LIST) return false;
            options->scenes[options->scene_count++] = argv[i];
        }
    }
    if (options->scene_count > 0) return true;
    for (int i = 0; piles_scene_name(i) != NULL; i++) {
        options->scenes[options->scene_count++] = piles_scene_name(i);
    }
    return true;
}

int main(int argc, char** argv) {
    Options options = {.seeds = 3, .threads = {1}, .thread_count = 1, .settle = NAN, .limit = 60.0};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        usage(stdout);
        return 0;
    }
    if (!parse(argc, argv, &options)) {
        usage(stderr);
        return 2;
    }
    if (options.record != NULL) return record_all(&options);
    PilesResult* results = calloc((size_t)options.scene_count * RUNS, sizeof *results);
    int count = 0;
    for (int s = 0; results != NULL && s < options.scene_count; s++) {
        int added = run_scene(&options, options.scenes[s], results + count);
        if (added < 0) {
            fprintf(stderr, "bench piles: %s could not be built: memory, or an engine refused\n",
                    options.scenes[s]);
            free(results);
            return 1;
        }
        if (!options.json) piles_print_table(results + count, added);
        count += added;
    }
    if (options.json) piles_print_json(results, count);
    if (!options.json) piles_print_aims(results, count);
    free(results);
    return 0;
}
