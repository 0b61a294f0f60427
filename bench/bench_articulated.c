// bench_articulated.c - steps per second of articulated MJCF files next to libmujoco, and what a step buys.
//
// Both read the same file and take the same dt. Each engine goes its own way to the start of a window of time
// (standing, falling, lying); the window is then repeated from there in turns, so that whatever else the
// machine does falls on all alike, and the median over the repeats is reported, by processor time. One more
// pass, not timed, measures the contacts: overlap by cr_collide on every pair that may meet and energy by
// cr_model_energy, both on the states of either engine, so one code judges all. MuJoCo's settings are those
// of the file. Fails where a file is not there or one of the two refuses it, with its words.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "carom/dynamics.h"
#include "mujoco_pair.h"

#define REPEATS 64
#define ENGINES 4
#define RESULTS 128
#define AIM     1.25  // steps/s over MuJoCo's
#define OVERLAP 1e-8  // m

typedef struct Window {
    const char* file;
    const char* state;
    double from, to;  // s
} Window;

static const Window windows[] = {
    {"humanoid", "landing", 0.0, 0.25},
    {"humanoid", "falling", 0.5, 1.0},
    {"humanoid", "lying", 4.0, 5.0},
    {"car", "standing", 1.0, 2.0},
    {"core_constraint__surfacevel_turntable", "boxes at rest", 1.0, 2.0},
    {"core_constraint__jdotv_connect_2d", "loop of points", 0.0, 1.0},
    {"core_constraint__soft_weld", "welded", 0.0, 1.0},
    {"island__abacus", "beads", 0.5, 1.5},
    {"slider_crank", "no contact", 0.0, 1.0},
};
#define WINDOWS ((int)(sizeof windows / sizeof *windows))

typedef struct Result {
    const Window* window;
    const char* engine;
    double steps_per_s;
    double ratio;  // to MuJoCo's
    double contacts;
    double residual;     // worst of the window; NAN: not told
    double penetration;  // deepest of the window, m
    double energy;       // at its end minus at its start, J
    double loop_error;   // m or rad
    int unsolved;        // steps; -1: not told
} Result;

// One engine on one file: carom by its quality, MuJoCo where `world` is NULL.
typedef struct Run {
    const char* name;
    crWorld* world;
    mjData* data;
    mjData* start;
    void* saved;
    size_t saved_size;
    double seconds[REPEATS];
} Run;

typedef struct Bench {
    MujocoPair pair;
    Run runs[ENGINES];
    int run_count;
    crArena arena;
    crState state;  // of whom is being measured
    crDynamics dynamics;
} Bench;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void quiet(const char* message) { (void)message; }

static int by_size(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// one engine

static bool advance(const Bench* bench, Run* run, int steps) {
    for (int i = 0; i < steps; i++) {
        if (run->world == NULL) {
            mj_step(bench->pair.m, run->data);
        } else if (cr_world_step(run->world, NULL) != CR_OK) {
            return false;
        }
    }
    return true;
}

static bool save(const Bench* bench, Run* run) {
    if (run->world == NULL) {
        run->start = mj_copyData(NULL, bench->pair.m, run->data);
        return run->start != NULL;
    }
    run->saved_size = cr_world_save_size(run->world);
    run->saved = malloc(run->saved_size);
    return run->saved != NULL && cr_world_save(run->world, run->saved, run->saved_size) == CR_OK;
}

static bool restore(const Bench* bench, Run* run) {
    if (run->world == NULL) return mj_copyData(run->data, bench->pair.m, run->start) != NULL;
    return cr_world_load(run->world, run->saved, run->saved_size, NULL) == CR_OK;
}

static bool add_carom(Bench* bench, crQuality quality) {
    static const char* const names[] = {"carom fast", "carom accurate", "carom certified"};
    Run* run = &bench->runs[bench->run_count++];
    run->name = names[quality];
    crWorldDef def = cr_world_def();
    def.model = bench->pair.scene.model;
    def.step = bench->pair.scene.step;
    def.step.quality = quality;
    if (cr_world_create(&def, &run->world, NULL) != CR_OK) return false;
    crState* state = cr_world_state(run->world);
    memcpy(state->q, bench->pair.scene.q, (size_t)def.model->nq * sizeof(double));
    memcpy(state->v, bench->pair.scene.v, (size_t)def.model->nv * sizeof(double));
    return true;
}

static bool create(const char* path, Bench* bench) {
    char why[600] = "";
    *bench = (Bench){0};
    if (!mujoco_pair_load(path, (MujocoKeep){.equalities = true}, &bench->pair, why, sizeof why)) {
        fprintf(stderr, "bench articulated: %s: %s\n", path, why);
        return false;
    }
    cr_arena_create(&bench->arena, NULL, 0);
    const crModel* model = bench->pair.scene.model;
    if (cr_state_create(model, &bench->arena, &bench->state) != CR_OK ||
        cr_dynamics_create(model, &bench->arena, &bench->dynamics) != CR_OK) {
        return false;
    }
    Run* theirs = &bench->runs[bench->run_count++];
    theirs->name = "mujoco";
    theirs->data = mj_makeData(bench->pair.m);
    return theirs->data != NULL && add_carom(bench, CR_QUALITY_FAST) &&
           add_carom(bench, CR_QUALITY_ACCURATE) && add_carom(bench, CR_QUALITY_CERTIFIED);
}

static void destroy(Bench* bench) {
    for (int i = 0; i < bench->run_count; i++) {
        Run* run = &bench->runs[i];
        cr_world_destroy(run->world);
        free(run->saved);
        if (run->data != NULL) mj_deleteData(run->data);
        if (run->start != NULL) mj_deleteData(run->start);
    }
    cr_arena_destroy(&bench->arena);
    mujoco_pair_free(&bench->pair);
}

// what came of it

static double deepest(const crModel* model, const crDynamics* d) {
    double worst = 0.0;
    for (int a = 0; a < model->shape_count; a++) {
        for (int b = a + 1; b < model->shape_count; b++) {
            const crBodyShape* sa = &model->shapes[a];
            const crBodyShape* sb = &model->shapes[b];
            if (!cr_model_meet(model, a, b)) continue;
            if (model->bodies[sa->body].last < 0 && model->bodies[sb->body].last < 0) continue;
            crContactPoint points[CR_MANIFOLD_MAX];
            int count = cr_collide(&sa->shape, d->pose[sa->body], &sb->shape, d->pose[sb->body], 0.0, points,
                                   CR_MANIFOLD_MAX, NULL);
            for (int i = 0; i < count; i++) {
                worst = fmax(worst, -points[i].gap);
            }
        }
    }
    return worst;
}

static double loop_error(Bench* bench) {
    const crModel* model = bench->pair.scene.model;
    int count = 0, entries = 0;
    crRows rows;
    crArena arena;
    double worst = 0.0;
    cr_model_loop_sizes(model, &count, &entries);
    cr_arena_create(&arena, NULL, 0);
    if (count > 0 && cr_rows_create(&arena, count, entries, &rows) == CR_OK) {
        for (int i = 0; i < model->loop_count; i++) {
            int first = cr_rows_add_loop(model, &bench->dynamics, i, &rows);
            // of a range only what is passed
            for (int r = first; r < rows.count; r++) {
                worst = fmax(worst, cr_loop_ranges(&model->loops[i]) ? -rows.gap[r] : fabs(rows.gap[r]));
            }
        }
    }
    cr_arena_destroy(&arena);
    return worst;
}

// the present state of a run; returns its energy
static double look(Bench* bench, const Run* run, Result* result) {
    const crModel* model = bench->pair.scene.model;
    crState* state = &bench->state;
    if (run->world == NULL) {
        mujoco_pair_state(&bench->pair, run->data, state);
        result->contacts += run->data->ncon;
    } else {
        const crCertificate* certificate = cr_world_certificate(run->world);
        const crState* own = cr_world_state(run->world);
        memcpy(state->q, own->q, (size_t)model->nq * sizeof(double));
        memcpy(state->v, own->v, (size_t)model->nv * sizeof(double));
        result->contacts += certificate->contacts;
        result->residual = fmax(result->residual, certificate->residual);
        result->unsolved += certificate->outcome != CR_OUTCOME_SOLVED;
    }
    cr_model_kinematics(model, state, &bench->dynamics);
    cr_model_velocity(model, state->v, &bench->dynamics);
    result->penetration = fmax(result->penetration, deepest(model, &bench->dynamics));
    result->loop_error = fmax(result->loop_error, loop_error(bench));
    crEnergy energy = cr_model_energy(model, state, &bench->dynamics);
    return energy.kinetic + energy.potential;
}

static bool judge(Bench* bench, Run* run, int steps, Result* result) {
    Result unused = {0};
    bool fine = restore(bench, run);
    double start = fine ? look(bench, run, &unused) : NAN, end = start;
    for (int i = 0; i < steps && fine; i++) {
        fine = advance(bench, run, 1);
        if (fine) end = look(bench, run, result);
    }
    result->energy = end - start;
    result->contacts /= steps;
    return fine;
}

// all engines through one window

static bool timed(Bench* bench, int steps, int repeats) {
    for (int k = 0; k < repeats; k++) {
        for (int r = 0; r < bench->run_count; r++) {
            Run* run = &bench->runs[r];
            if (!restore(bench, run)) return false;
            double start = now();
            if (!advance(bench, run, steps)) return false;
            run->seconds[k] = now() - start;
        }
    }
    for (int r = 0; r < bench->run_count; r++) {
        qsort(bench->runs[r].seconds, (size_t)repeats, sizeof(double), by_size);
    }
    return true;
}

static int run_window(const Window* window, const char* path, int repeats, Result* results) {
    Bench bench;
    bool fine = create(path, &bench);
    double dt = fine ? bench.pair.scene.step.dt : 1.0;
    int before = (int)lround(window->from / dt), steps = (int)lround((window->to - window->from) / dt);
    for (int r = 0; r < bench.run_count && fine; r++) {
        fine = advance(&bench, &bench.runs[r], before) && save(&bench, &bench.runs[r]);
    }
    fine = fine && timed(&bench, steps, repeats);
    int count = fine ? bench.run_count : 0;
    for (int r = 0; r < count; r++) {
        Run* run = &bench.runs[r];
        bool told = run->world != NULL;
        results[r] = (Result){.window = window, .engine = run->name};
        fine = fine && judge(&bench, run, steps, &results[r]);
        if (!told) {
            results[r].residual = NAN;
            results[r].unsolved = -1;
        }
        results[r].steps_per_s = steps / run->seconds[repeats / 2];
        results[r].ratio = results[r].steps_per_s / results[0].steps_per_s;
    }
    destroy(&bench);
    return fine ? count : -1;
}

// output

static void print_table(const Result* results, int count) {
    const Window* w = results[0].window;
    printf("\n%s, %s: %g s to %g s\n", w->file, w->state, w->from, w->to);
    printf("  %-16s %10s %7s %9s %10s %9s %11s %11s %9s\n", "engine", "steps/s", "ratio", "contacts",
           "residual", "unsolved", "overlap m", "energy J", "loops");
    for (int i = 0; i < count; i++) {
        const Result* r = &results[i];
        char residual[16] = "-", unsolved[16] = "-";
        if (!isnan(r->residual)) snprintf(residual, sizeof residual, "%.1e", r->residual);
        if (r->unsolved >= 0) snprintf(unsolved, sizeof unsolved, "%d", r->unsolved);
        printf("  %-16s %10.0f %7.2f %9.1f %10s %9s %11.1e %+11.3g %9.1e\n", r->engine, r->steps_per_s,
               r->ratio, r->contacts, residual, unsolved, r->penetration, r->energy, r->loop_error);
    }
}

static void print_json(const Result* results, int count) {
    printf("[");
    for (int i = 0; i < count; i++) {
        const Result* r = &results[i];
        printf("%s\n  {\"file\": \"%s\", \"state\": \"%s\", \"from\": %g, \"to\": %g, \"engine\": \"%s\"",
               i > 0 ? "," : "", r->window->file, r->window->state, r->window->from, r->window->to,
               r->engine);
        printf(", \"steps_per_s\": %.6g, \"ratio\": %.4g, \"contacts\": %.4g, \"penetration\": %.4g",
               r->steps_per_s, r->ratio, r->contacts, r->penetration);
        printf(", \"energy_change\": %.6g, \"loop_error\": %.4g", r->energy, r->loop_error);
        if (r->unsolved >= 0) printf(", \"residual\": %.4g, \"unsolved\": %d", r->residual, r->unsolved);
        printf("}");
    }
    printf("\n]\n");
}

static void print_aims(const Result* results, int count) {
    printf("\naims:\n");
    for (int i = 0; i < count; i++) {
        const Result* r = &results[i];
        if (strcmp(r->window->file, "humanoid") != 0 || strcmp(r->engine, "carom accurate") != 0) continue;
        bool met = r->ratio >= AIM && r->penetration <= OVERLAP;
        printf(
            "  %-6s  humanoid %-9s steps/s over MuJoCo's %.2f, at least %g, with overlap of at most %g m\n",
            met ? "met" : "MISSED", r->window->state, r->ratio, AIM, OVERLAP);
    }
}

// the command line

typedef struct Options {
    const char* only;  // part of a file's name, NULL: all
    const char* data;
    int repeats;
    bool json;
} Options;

static void usage(FILE* out) {
    fprintf(out, "usage: ./dev bench articulated [FILE] [--repeats N] [--data DIR] [--json]\n\n"
                 "  FILE          only windows of files with this in their names:\n");
    for (int i = 0; i < WINDOWS; i++) {
        fprintf(out, "                  %s, %s\n", windows[i].file, windows[i].state);
    }
    fprintf(out,
            "  --repeats N   times each window is timed, 1 to %d (9)\n"
            "  --data DIR    where the files are (../shared/data/mjcf)\n"
            "  --json        results for programs instead of tables\n",
            REPEATS);
}

static bool parse(int argc, char** argv, Options* options) {
    for (int i = 1; i < argc; i++) {
        const char* value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
        } else if (strcmp(argv[i], "--data") == 0 && value != NULL) {
            options->data = argv[++i];
        } else if (strcmp(argv[i], "--repeats") == 0 && value != NULL) {
            char* end = NULL;
            long n = strtol(argv[++i], &end, 10);
            if (*end != '\0' || n < 1 || n > REPEATS) {
                fprintf(stderr, "bench articulated: --repeats is %s; allowed: 1 to %d\n", value, REPEATS);
                return false;
            }
            options->repeats = (int)n;
        } else if (argv[i][0] != '-' && options->only == NULL) {
            options->only = argv[i];
        } else {
            fprintf(stderr, "bench articulated: unknown or incomplete option '%s'\n", argv[i]);
            return false;
        }
    }
    return true;
}

int main(int argc, char** argv) {
    Options options = {.data = "../shared/data/mjcf", .repeats = 9};
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        usage(stdout);
        return 0;
    }
    if (!parse(argc, argv, &options)) {
        usage(stderr);
        return 2;
    }
    mju_user_warning = quiet;
    static Result results[RESULTS];
    int count = 0;
    for (int i = 0; i < WINDOWS; i++) {
        if (options.only != NULL && strstr(windows[i].file, options.only) == NULL) continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s.xml", options.data, windows[i].file);
        int added = run_window(&windows[i], path, options.repeats, results + count);
        if (added < 0) {
            fprintf(stderr, "bench articulated: %s, %s did not run\n", windows[i].file, windows[i].state);
            return 1;
        }
        if (!options.json) print_table(results + count, added);
        count += added;
    }
    if (options.json) print_json(results, count);
    if (!options.json) print_aims(results, count);
    return count > 0 ? 0 : 2;
}
