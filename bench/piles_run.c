// piles_run.c - one scene from its start to its end in all engines, in turns of a few steps.
//
// Whatever else the machine does falls on all alike. Each step is timed: processor time of the thread where the
// engine has one thread, wall time where it has more. Poses and velocities are measured after every turn, outside of
// the times.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "piles.h"

#define TURN    12    // steps
#define SETTLED 0.8   // share of the run before the part that counts as settled
#define AT_REST 1e-6  // KE95, J

typedef struct Overlaps {
    double sum, max;
    long count;
} Overlaps;

typedef struct Run {
    const PilesEngine* engine;
    int threads;
    PilesScene scene;  // with the shapes the engine has
    void** worlds;     // one, or one per body where they are alone (world_count)
    int world_count;
    PilesMotion* motion;  // (body_count)
    double* ms;           // of each step (steps)
    int steps;
    double spent;  // ms
    Overlaps all, settled;
    double audit_ms, geometry_ms;  // of settled steps
    PilesMeasure last;
    PilesReport first_settled, report;
    PilesResult* result;
} Run;

static double clock_ms(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

int piles_outcome_count(void) {
    int count = 0;
    while (count < PILES_OUTCOMES && strcmp(cr_outcome_name((crOutcome)count), "unknown") != 0) {
        count++;
    }
    return count;
}

static void run_destroy(Run* run) {
    for (int i = 0; run->worlds != NULL && i < run->world_count; i++) {
        if (run->worlds[i] != NULL) run->engine->destroy(run->worlds[i]);
    }
    free(run->worlds);
    free(run->motion);
    free(run->ms);
    piles_scene_destroy(&run->scene);
}

static bool run_create(Run* run, PilesEntry entry, const PilesScene* scene, int steps) {
    int n = scene->body_count;
    PilesResult* result = run->result;
    run->engine = entry.engine;
    run->threads = entry.threads;
    if (!piles_scene_replace(scene, entry.engine->has, &run->scene, result->replaced,
                             sizeof result->replaced)) {
        return false;
    }
    run->world_count = scene->alone ? n : 1;
    run->worlds = calloc((size_t)run->world_count, sizeof *run->worlds);
    run->motion = calloc((size_t)n, sizeof *run->motion);
    run->ms = calloc((size_t)steps, sizeof *run->ms);
    if (run->worlds == NULL || run->motion == NULL || run->ms == NULL) return false;
    // what stands would not with other shapes
    result->gave_up = scene->stands && strstr(result->replaced, "sphere") != NULL;
    for (int i = 0; i < run->world_count && !result->gave_up; i++) {
        PilesScene one = run->scene;
        if (scene->alone) {
            one.bodies += i;
            one.body_count = 1;
        }
        run->worlds[i] = entry.engine->create(entry.engine, &one, entry.threads);
        result->gave_up = run->worlds[i] == NULL;
    }
    return true;
}

static void report(const Run* run, PilesReport* sum) {
    *sum = (PilesReport){0};
    for (int i = 0; i < run->world_count; i++) {
        PilesReport one;
        run->engine->report(run->worlds[i], &one);
        if (one.outcome != CR_OUTCOME_SOLVED) sum->outcome = one.outcome;
        sum->residual = fmax(sum->residual, one.residual);
        sum->contacts += one.contacts;
        sum->heap_calls += one.heap_calls;
        sum->bytes += one.bytes;
    }
}

static void step(Run* run, int settled_from) {
    PilesResult* result = run->result;
    clockid_t id = run->threads > 1 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    PilesAudit before = piles_audit();
    double start = clock_ms(id);
    for (int i = 0; i < run->world_count && !result->gave_up; i++) {
        result->gave_up = !run->engine->step(run->worlds[i]);
    }
    double ms = clock_ms(id) - start;
    if (result->gave_up) return;
    run->ms[run->steps] = ms;
    run->spent += ms;
    PilesAudit after = piles_audit();
    if (run->steps >= settled_from) run->audit_ms += after.ms - before.ms;
    if (run->steps >= settled_from) run->geometry_ms += after.geometry_ms - before.geometry_ms;
    if (run->engine->report != NULL) {
        report(run, &run->report);
        if (run->steps == settled_from) run->first_settled = run->report;
        result->residual = fmax(result->residual, run->report.residual);
        if ((int)run->report.outcome < PILES_OUTCOMES) result->outcomes[run->report.outcome]++;
    }
    run->steps++;
}

static void add_overlaps(const PilesMeasure* m, Overlaps* sum) {
    sum->sum += m->sum;
    sum->count += m->overlaps;
    sum->max = fmax(sum->max, m->max);
}

static bool sample(Run* run, int settled_from) {
    int n = run->scene.body_count;
    for (int i = 0; i < run->world_count; i++) {
        run->engine->read(run->worlds[i], run->motion + i * (n / run->world_count));
    }
    if (!piles_measure(&run->scene, run->motion, &run->last)) return false;
    add_overlaps(&run->last, &run->all);
    if (run->steps > settled_from) add_overlaps(&run->last, &run->settled);
    PilesResult* r = run->result;
    r->escapes = run->last.escapes > r->escapes ? run->last.escapes : r->escapes;
    if (!(run->last.energy95 <= AT_REST)) {
        r->rest = NAN;
    } else if (isnan(r->rest)) {
        r->rest = run->steps * run->scene.dt;
    }
    return true;
}

static double mean_of(const double* x, int from, int to) {
    double sum = 0.0;
    for (int i = from; i < to; i++) {
        sum += x[i];
    }
    return to > from ? sum / (to - from) : NAN;
}

// nothing is known of an engine that did not make a step
static void forget(PilesResult* r) {
    r->ms = r->ms_settled = r->ms_worst = r->displacement = r->residual = r->heap_calls = r->audit =
        r->audit_geometry = NAN;
    r->overlap = r->overlap_max = r->overlap_settled = r->overlap_max_settled = NAN;
    r->energy = r->energy95 = r->potential = r->bytes_per_body = r->contacts = NAN;
}

static void finish(const Run* run, int settled_from) {
    PilesResult* r = run->result;
    if (run->steps == 0) {
        forget(r);
        return;
    }
    bool told = run->engine->report != NULL, settled = run->steps > settled_from;
    r->seconds = run->steps * run->scene.dt;
    r->ms = mean_of(run->ms, 0, run->steps);
    r->ms_settled = mean_of(run->ms, settled_from, run->steps);
    for (int i = 0; i < run->steps; i++) {
        r->ms_worst = fmax(r->ms_worst, run->ms[i]);
    }
    r->overlap = run->all.count > 0 ? run->all.sum / (double)run->all.count : 0.0;
    r->overlap_max = run->all.max;
    r->overlap_settled = run->settled.count > 0 ? run->settled.sum / (double)run->settled.count : 0.0;
    r->overlap_max_settled = run->settled.max;
    if (!settled) r->overlap_settled = r->overlap_max_settled = NAN;
    r->energy = run->last.energy;
    r->energy95 = run->last.energy95;
    r->potential = run->last.potential;
    r->displacement = run->scene.stands ? run->last.displacement : NAN;
    r->told = told;
    r->heap_calls = r->audit = r->audit_geometry = NAN;
    double late = r->ms_settled * (run->steps - settled_from);
    if (told && settled && run->threads == 1) {
        r->audit = run->audit_ms / (late - run->geometry_ms);
        r->audit_geometry = (run->audit_ms + run->geometry_ms) / late;
    }
    if (told && run->steps > settled_from + 1) {
        r->heap_calls = (double)(run->report.heap_calls - run->first_settled.heap_calls) /
                        (run->steps - settled_from - 1);
    }
    if (!told) r->residual = NAN;
    r->bytes_per_body = told ? (double)run->report.bytes / run->scene.body_count : NAN;
    r->contacts = told ? (double)run->report.contacts : (double)NAN;
}

// the time of a over that of b, as far as both came; NAN where they did not both reach `from`
static double ratio(const Run* a, const Run* b, int from) {
    int to = a->steps < b->steps ? a->steps : b->steps;
    return mean_of(a->ms, from, to) / mean_of(b->ms, from, to);
}

static void compare(Run* runs, int count, int settled_from) {
    for (int i = 0; i < count; i++) {
        PilesResult* r = runs[i].result;
        r->to_box3d = r->to_best = r->settled_to_box3d = r->settled_to_best = NAN;
        for (int k = 0; k < count; k++) {
            // carom is the one that reports
            if (runs[k].engine->report != NULL || runs[k].threads > 1) continue;
            double all = ratio(&runs[i], &runs[k], 0), late = ratio(&runs[i], &runs[k], settled_from);
            r->to_best = fmax(r->to_best, all);
            r->settled_to_best = fmax(r->settled_to_best, late);
            if (strcmp(runs[k].engine->name, "box3d") != 0) continue;
            r->to_box3d = all;
            r->settled_to_box3d = late;
        }
    }
}

static bool turns(Run* runs, int count, int steps, double limit, PilesProgress progress, void* ctx) {
    int settled_from = (int)(SETTLED * steps);
    for (int done = 0; done < steps; done += TURN) {
        for (int r = 0; r < count; r++) {
            Run* run = &runs[r];
            PilesResult* result = run->result;
            if (result->cut || result->gave_up) continue;
            for (int k = done; k < done + TURN && k < steps && !result->gave_up; k++) {
                step(run, settled_from);
            }
            if (!result->gave_up && !sample(run, settled_from)) return false;
            result->cut = run->spent > 1e3 * limit && done + TURN < steps;
        }
        if (progress != NULL) progress(ctx, (double)(done + TURN < steps ? done + TURN : steps) / steps);
    }
    return true;
}

bool piles_run(const PilesScene* scene, int seed, double seconds, double limit, const PilesEntry* entries,
               int count, PilesProgress progress, void* ctx, PilesResult* results) {
    int steps = (int)ceil(seconds / scene->dt - 1e-9);
    Run* runs = calloc((size_t)count, sizeof *runs);
    bool fine = runs != NULL;
    for (int i = 0; i < count && fine; i++) {
        results[i] = (PilesResult){.engine = entries[i].engine, .bodies = scene->body_count, .rest = NAN};
        results[i].threads = entries[i].threads;
        results[i].seed = seed;
        strncpy(results[i].scene, scene->name, sizeof results[i].scene - 1);
        runs[i].result = &results[i];
    }
    for (int i = 0; i < count && fine; i++) {
        fine = run_create(&runs[i], entries[i], scene, steps);
    }
    fine = fine && turns(runs, count, steps, limit, progress, ctx);
    for (int i = 0; i < count && fine; i++) {
        finish(&runs[i], (int)(SETTLED * steps));
    }
    if (fine) compare(runs, count, (int)(SETTLED * steps));
    for (int i = 0; i < count && runs != NULL; i++) {
        if (runs[i].engine != NULL) run_destroy(&runs[i]);
    }
    free(runs);
    return fine;
}
