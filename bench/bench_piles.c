// bench_piles.c - the command of `./dev bench piles`: many bodies from drop to rest, next to other engines.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "piles.h"

#define SEEDS   32
#define THREADS 4
#define LIST    48
#define ENTRIES 32

typedef struct Options {
    const char* scenes[LIST];
    int scene_count;
    const PilesEngine* engines[LIST];
    int engine_count;
    int seeds;
    int threads[THREADS];
    int thread_count;
    double seconds;      // NAN: as the scene says, s
    double limit;        // processor time of one engine in one seed, s
    const char* csv;     // NULL: none
    const char* record;  // folder for trajectories instead of times, NULL: none
    bool json;
} Options;

static const PilesEngine* const engines[] = {
#ifdef CAROM_BENCH_BOX3D
    &piles_box3d,
#endif
#ifdef CAROM_BENCH_JOLT
    &piles_jolt,
#endif
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
#define ENGINES ((int)(sizeof engines / sizeof *engines))

// progress, and the time that is left by the bodies and steps that are

typedef struct Work {
    double done, all;  // bodies times steps
    double now;        // of the call in progress
    double start, shown;
    const char* scene;
    int seed;
} Work;

static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(void* ctx, double share) {
    Work* work = ctx;
    double at = wall(), done = (work->done + share * work->now) / work->all;
    bool terminal = isatty(2) != 0;
    if (at - work->shown < (terminal ? 0.2 : 30.0) || !(done > 0.0)) return;
    work->shown = at;
    double left = (at - work->start) * (1.0 - done) / done;
    fprintf(stderr, "%s%s, seed %d: %.0f %% of all, %.0f min %02.0f s left%s", terminal ? "\r\033[K" : "",
            work->scene, work->seed, 100.0 * done, floor(left / 60.0), fmod(left, 60.0),
            terminal ? "" : "\n");
}

// what to run

static double seconds_of(const Options* options, const PilesScene* scene) {
    return isnan(options->seconds) ? scene->seconds : options->seconds;
}

static int list_entries(const Options* options, PilesEntry* entries) {
    int count = 0;
    for (int t = 0; t < options->thread_count; t++) {
        for (int i = 0; i < options->engine_count && count < ENTRIES; i++) {
            if (options->threads[t] > options->engines[i]->threads_max) continue;
            entries[count++] = (PilesEntry){options->engines[i], options->threads[t]};
        }
    }
    return count;
}

static double all_work(const Options* options) {
    double sum = 0.0;
    for (int s = 0; s < options->scene_count; s++) {
        PilesScene scene;
        if (!piles_scene_create(options->scenes[s], 1, &scene)) continue;
        sum += options->seeds * scene.body_count * seconds_of(options, &scene);
        piles_scene_destroy(&scene);
    }
    return sum;
}

static bool run_seed(const Options* options, const char* name, int seed, const PilesEntry* entries, int count,
                     Work* work, PilesResult* results) {
    PilesScene scene;
    if (!piles_scene_create(name, (uint64_t)seed, &scene)) return false;
    double seconds = seconds_of(options, &scene);
    work->scene = name;
    work->seed = seed;
    work->now = scene.body_count * seconds;
    bool fine = piles_run(&scene, seed, seconds, options->limit, entries, count, show, work, results);
    work->done += work->now;
    piles_scene_destroy(&scene);
    return fine;
}

// returns the number of results, negative where it failed
static int run_scene(const Options* options, const char* name, Work* work, PilesResult* results) {
    PilesEntry entries[ENTRIES];
    int count = list_entries(options, entries);
    for (int s = 0; s < options->seeds; s++) {
        if (!run_seed(options, name, s + 1, entries, count, work, results + s * count)) {
            fprintf(stderr, "bench piles: %s could not be built: memory is out\n", name);
            return -1;
        }
    }
    if (isatty(2)) fprintf(stderr, "\r\033[K");
    if (!options->json) piles_print_table(results, options->seeds, count);
    if (options->csv != NULL && !piles_append_csv(options->csv, results, options->seeds * count)) {
        fprintf(stderr, "bench piles: %s cannot be written\n", options->csv);
        return -1;
    }
    return options->seeds * count;
}

static int run_all(const Options* options) {
    Work work = {.all = all_work(options), .start = wall(), .shown = wall()};
    size_t most = (size_t)options->scene_count * (size_t)options->seeds * ENTRIES;
    PilesResult* results = calloc(most, sizeof *results);
    int count = 0, added = 0;
    for (int s = 0; results != NULL && s < options->scene_count && added >= 0; s++) {
        added = run_scene(options, options->scenes[s], &work, results + count);
        if (added > 0) count += added;
    }
    if (options->json) piles_print_json(results, count);
    bool fine = results != NULL && added >= 0;
    free(results);
    return fine ? 0 : 1;
}

// trajectories of the first seed, from the start
static int record_all(const Options* options) {
    bool good = true;
    for (int s = 0; s < options->scene_count && good; s++) {
        PilesScene scene;
        good = piles_scene_create(options->scenes[s], 1, &scene);
        if (!good) break;
        good = piles_record(options->record, &scene, options->engines, options->engine_count,
                            seconds_of(options, &scene));
        piles_scene_destroy(&scene);
    }
    return good ? 0 : 1;
}

// the command line

static void usage(FILE* out) {
    fprintf(
        out,
        "usage: ./dev bench piles [--scene NAMES] [--engine NAMES] [--seconds S] [--seeds N] [--threads T]\n"
        "                         [--limit S] [--csv FILE] [--json] [--record DIR]\n\n"
        "Many bodies from drop to rest in carom and other engines: time a step, overlap and energy, all by "
        "one\n"
        "code. Names and numbers are lists with commas.\n\n"
        "  --scene NAMES   by default all but the optional ones\n"
        "  --engine NAMES  by default all but \"carom accurate\" and \"carom certified\"\n"
        "  --seconds S     simulated, from the start (by scene: 5 or 2)\n"
        "  --seeds N       1 to %d (3): medians and spread over seeds 1 to N\n"
        "  --threads T     numbers of threads (1)\n"
        "  --limit S       processor seconds of one engine in one seed; it is cut off after that (60)\n"
        "  --csv FILE      add a row for every scene, engine and seed\n"
        "  --json          results for programs instead of tables\n"
        "  --record DIR    no times: scene and trajectories of seed 1, for carom audit\n\nscenes:\n",
        SEEDS);
    for (int i = 0; piles_scene_name(i) != NULL; i++) {
        fprintf(out, "  %-15s %s%s\n", piles_scene_name(i), piles_scene_about(i),
                piles_scene_optional(i) ? " (optional)" : "");
    }
    fprintf(out, "\nengines:\n");
    for (int i = 0; i < ENGINES; i++) {
        fprintf(out, "  %-15s %s\n", engines[i]->name, engines[i]->about);
    }
    fprintf(out,
            "\nMore engines: CAROM_BOX3D=DIR, CAROM_JOLT=DIR, CAROM_MUJOCO=DIR name checkouts of theirs.\n\n"
            "examples:\n"
            "  ./dev bench piles --scene spheres-1000,boxes-1000 --seeds 5\n"
            "  ./dev bench piles --scene spheres-10000 --engine \"carom fast\" --threads 1,2\n"
            "  ./dev bench piles --scene boxes-1000 --engine \"box3d,carom fast\" --seconds 2 --json\n"
            "  CAROM_BOX3D=$HOME/box3d ./dev bench piles --csv docs/performance.csv\n");
}

static bool number(const char* option, const char* text, double lo, double hi, double* out) {
    char* end = NULL;
    *out = text != NULL ? strtod(text, &end) : NAN;
    if (text != NULL && *text != '\0' && *end == '\0' && *out >= lo && *out <= hi) return true;
    fprintf(stderr, "bench piles: %s is %s; allowed: %g to %g\n", option, text != NULL ? text : "missing", lo,
            hi);
    return false;
}

static bool whole(const char* option, const char* text, int lo, int hi, int* out) {
    double x = 0.0;
    if (!number(option, text, lo, hi, &x)) return false;
    *out = (int)x;
    if (*out == x) return true;
    fprintf(stderr, "bench piles: %s is %s; a whole number is needed\n", option, text);
    return false;
}

static bool add_scene(Options* options, const char* name) {
    for (int i = 0; piles_scene_name(i) != NULL; i++) {
        if (strcmp(piles_scene_name(i), name) != 0) continue;
        if (options->scene_count < LIST) options->scenes[options->scene_count++] = piles_scene_name(i);
        return true;
    }
    fprintf(stderr, "bench piles: no scene '%s'; --help lists them\n", name);
    return false;
}

static bool add_engine(Options* options, const char* name) {
    for (int i = 0; i < ENGINES; i++) {
        if (strcmp(engines[i]->name, name) != 0) continue;
        if (options->engine_count < LIST) options->engines[options->engine_count++] = engines[i];
        return true;
    }
    fprintf(stderr, "bench piles: no engine '%s' in this build; --help lists them\n", name);
    return false;
}

static bool add_threads(Options* options, const char* text) {
    int count = 0;
    if (!whole("--threads", text, 1, 64, &count)) return false;
    if (options->thread_count < THREADS) options->threads[options->thread_count++] = count;
    return true;
}

static bool each(const char* text, bool (*add)(Options*, const char*), Options* options) {
    for (const char* at = text; at != NULL;) {
        char one[64] = "";
        size_t length = strcspn(at, ",");
        if (length < sizeof one) memcpy(one, at, length);
        if (!add(options, one)) return false;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return true;
}

static bool parse_option(const char* name, const char* value, Options* options) {
    if (value == NULL) {
        fprintf(stderr, "bench piles: '%s' is no option, or its value is missing; --help lists them\n", name);
        return false;
    }
    if (strcmp(name, "--scene") == 0) return each(value, add_scene, options);
    if (strcmp(name, "--engine") == 0) return each(value, add_engine, options);
    if (strcmp(name, "--threads") == 0) return each(value, add_threads, options);
    if (strcmp(name, "--seeds") == 0) return whole(name, value, 1, SEEDS, &options->seeds);
    if (strcmp(name, "--seconds") == 0) return number(name, value, 0.01, 1e4, &options->seconds);
    if (strcmp(name, "--limit") == 0) return number(name, value, 1e-3, 1e6, &options->limit);
    if (strcmp(name, "--csv") == 0) return (options->csv = value) != NULL;
    if (strcmp(name, "--record") == 0) return (options->record = value) != NULL;
    fprintf(stderr, "bench piles: '%s' is no option; --help lists them\n", name);
    return false;
}

static void fill_defaults(Options* options) {
    bool no_scene = options->scene_count == 0, no_engine = options->engine_count == 0;
    for (int i = 0; no_scene && piles_scene_name(i) != NULL; i++) {
        if (!piles_scene_optional(i)) options->scenes[options->scene_count++] = piles_scene_name(i);
    }
    for (int i = 0; no_engine && i < ENGINES; i++) {
        if (engines[i] == &piles_carom_accurate || engines[i] == &piles_carom_certified) continue;
        options->engines[options->engine_count++] = engines[i];
    }
    if (options->thread_count == 0) options->threads[options->thread_count++] = 1;
}

int main(int argc, char** argv) {
    Options options = {.seeds = 3, .seconds = NAN, .limit = 60.0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            usage(stdout);
            return 0;
        }
        if (strcmp(argv[i], "--json") == 0) {
            options.json = true;
            continue;
        }
        if (!parse_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, &options)) return 2;
        i++;
    }
    fill_defaults(&options);
    return options.record != NULL ? record_all(&options) : run_all(&options);
}
