// sweep.c - block Gauss-Seidel sweeps and two ways to speed them up.
//
// A sweep solves each unit exactly with the others held, in order, using the newest values. Conjugate
// gradients: the sweep's displacement serves as gradient, Fletcher and Reeves' ratio as memory, restarted
// where it would grow (Silcowitz, Niebe and Erleben 2010). Anderson: the combination of the last points whose
// sweep displacements cancel best; kept only where the residual falls, otherwise the plain sweep is taken.
// Fails: stalls where the problem couples units much more strongly than each is stiff by itself (large mass
// ratios); the run says so.
#include "sweep.h"
#include "linalg/dense.h"
#include "relax/local.h"

#include <string.h>

#define ANDERSON_DEPTH 6
#define CHECK_EVERY    5
#define WINDOW         20  // sweeps between choices of the relaxation factor
#define FACTORS        3

void cr__sweep(const crSystem* system, double omega, double* x) {
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        int c = unit->count;
        double* xi = x + unit->row;
        double q[CR_UNIT_ROWS], old[CR_UNIT_ROWS];
        cr__system_unit_velocity(system, unit, x, q);
        for (int a = 0; a < c; a++) {
            old[a] = xi[a];
            for (int b = 0; b < c; b++) {
                q[a] -= unit->D[a * c + b] * xi[b];
            }
        }
        cr__local_solve(unit, q, xi);
        if (omega == 1.0) continue;
        for (int a = 0; a < c; a++) {
            xi[a] = old[a] + omega * (xi[a] - old[a]);
        }
        cr__unit_clamp(unit, xi);
    }
}

// best point so far and how long ago it was half as good
typedef struct crWatch {
    const crSystem* system;
    crSweepRun* run;
    double* best;  // (n)
    double level;  // residual when patience was last renewed
    int renewed;   // sweep of that
    double tol;
    int patience;
} crWatch;

// true where the run is over
static bool watch_sweep(crWatch* watch, const double* x, double residual) {
    crSweepRun* run = watch->run;
    if (residual < run->residual) {
        run->residual = residual;
        memcpy(watch->best, x, (size_t)watch->system->n * sizeof *x);
    }
    if (run->residual <= watch->tol) return true;
    if (run->residual <= 0.5 * watch->level) {
        watch->level = run->residual;
        watch->renewed = run->sweeps;
    }
    run->stalled = watch->patience > 0 && run->sweeps - watch->renewed >= watch->patience;
    return run->stalled;
}

// Over-relaxation by trial: the factor whose last window of sweeps reduced the residual most, each tried
// again now and then.
typedef struct crTrial {
    double reduction[FACTORS];  // of the last window with each factor, 0 before the first
    int current;
    int windows;
} crTrial;

static const double factors[FACTORS] = {1.0, 1.3, 1.6};

static void trial_next(crTrial* trial, double reduction) {
    trial->reduction[trial->current] = reduction;
    trial->windows++;
    // every tenth window goes to another factor, in turn
    if (trial->windows % 10 == 0) {
        trial->current = (trial->windows / 10) % FACTORS;
        return;
    }
    for (int k = 0; k < FACTORS; k++) {
        if (trial->reduction[k] < trial->reduction[trial->current]) trial->current = k;
    }
}

static void run_plain(crWatch* w, int max_sweeps, double* x) {
    crTrial trial = {0};
    double level = w->run->residual;
    int window = 0;
    while (w->run->sweeps < max_sweeps) {
        int chunk = w->run->sweeps < 3 ? 1 : CHECK_EVERY;
        for (int k = 0; k < chunk; k++) {
            cr__sweep(w->system, factors[trial.current], x);
        }
        w->run->sweeps += chunk;
        window += chunk;
        double residual = cr__system_residual(w->system, x);
        if (watch_sweep(w, x, residual)) return;
        if (window < WINDOW) continue;
        trial_next(&trial, level > 0.0 ? residual / level : 1.0);
        level = residual;
        window = 0;
    }
}

static double square(const double* a, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * a[i];
    }
    return sum;
}

static void run_gradient(crWatch* w, int max_sweeps, double* before, double* direction, double* x) {
    int n = w->system->n;
    double last = 0.0;
    memset(direction, 0, (size_t)n * sizeof *direction);
    while (w->run->sweeps < max_sweeps) {
        memcpy(before, x, (size_t)n * sizeof *x);
        cr__sweep(w->system, 1.0, x);
        w->run->sweeps++;
        if (w->run->sweeps % CHECK_EVERY == 0 && watch_sweep(w, x, cr__system_residual(w->system, x))) return;
        // the sweep moved by -gradient
        for (int i = 0; i < n; i++) {
            before[i] = x[i] - before[i];
        }
        double size = square(before, n);
        double beta = last > 0.0 ? size / last : 0.0;
        last = size;
        if (beta > 1.0) {
            memset(direction, 0, (size_t)n * sizeof *direction);
            continue;
        }
        for (int i = 0; i < n; i++) {
            x[i] += beta * direction[i];
            direction[i] = beta * direction[i] + before[i];
        }
    }
}

// weights with sum one that make the combined displacement least
static bool anderson_weights(const double* step, int n, int depth, double* weight) {
    double G[ANDERSON_DEPTH * ANDERSON_DEPTH];
    double trace = 0.0;
    for (int a = 0; a < depth; a++) {
        for (int b = 0; b <= a; b++) {
            double sum = 0.0;
            for (int i = 0; i < n; i++) {
                sum += step[(size_t)a * (size_t)n + (size_t)i] * step[(size_t)b * (size_t)n + (size_t)i];
            }
            G[a * depth + b] = G[b * depth + a] = sum;
        }
        trace += G[a * depth + a];
    }
    for (int a = 0; a < depth; a++) {
        G[a * depth + a] += 1e-13 * trace;
        weight[a] = 1.0;
    }
    if (!(trace > 0.0) || !cr__cholesky(G, depth)) return false;
    cr__cholesky_solve(G, depth, weight);
    double sum = 0.0;
    for (int a = 0; a < depth; a++) {
        sum += weight[a];
    }
    for (int a = 0; a < depth; a++) {
        weight[a] /= sum;
    }
    return isfinite(sum) && sum != 0.0;
}

// points: sweeps' results, steps: their displacements (ANDERSON_DEPTH each)
static void run_anderson(crWatch* w, int max_sweeps, double* points, double* steps, double* trial,
                         double* x) {
    size_t n = (size_t)w->system->n;
    int held = 0;
    int next = 0;
    double level = cr__system_residual(w->system, x);
    while (w->run->sweeps < max_sweeps) {
        double* point = points + (size_t)next * n;
        double* step = steps + (size_t)next * n;
        memcpy(point, x, n * sizeof *x);
        cr__sweep(w->system, 1.0, point);
        w->run->sweeps++;
        for (size_t i = 0; i < n; i++) {
            step[i] = point[i] - x[i];
        }
        if (held < ANDERSON_DEPTH) held++;
        double weight[ANDERSON_DEPTH];
        double after = (double)INFINITY;
        if (held > 1 && anderson_weights(steps, (int)n, held, weight)) {
            memset(trial, 0, n * sizeof *trial);
            for (int a = 0; a < held; a++) {
                for (size_t i = 0; i < n; i++) {
                    trial[i] += weight[a] * points[(size_t)a * n + i];
                }
            }
            for (int i = 0; i < w->system->units; i++) {
                cr__unit_clamp(&w->system->unit[i], trial + w->system->unit[i].row);
            }
            after = cr__system_residual(w->system, trial);
        }
        if (after <= level * 1.5) {
            memcpy(x, trial, n * sizeof *x);
        } else {
            // the plain sweep, and a fresh memory: what it held misled
            memcpy(x, point, n * sizeof *x);
            after = cr__system_residual(w->system, x);
            if (held > 1) {
                held = 0;
                next = -1;
            }
        }
        level = fmin(after, level * 1.5);
        next = (next + 1) % ANDERSON_DEPTH;
        if (watch_sweep(w, x, after)) return;
    }
}

crStatus cr__sweep_run(const crSystem* system, crSweepKind kind, double tol, int max_sweeps, int patience,
                       crArena* arena, double* x, crSweepRun* run) {
    size_t bytes = (size_t)system->n * sizeof *x;
    size_t mark = cr_arena_mark(arena);
    int vectors = kind == CR_SWEEP_ANDERSON ? 2 * ANDERSON_DEPTH + 1 : 2;
    double* best = cr_arena_alloc(arena, bytes);
    double* work = cr_arena_alloc(arena, bytes * (size_t)vectors);
    if (best == NULL || work == NULL) {
        cr_arena_release(arena, mark);
        return CR_ERR_MEMORY;
    }
    *run = (crSweepRun){.residual = cr__system_residual(system, x)};
    memcpy(best, x, bytes);
    crWatch w = {system, run, best, run->residual, 0, tol, patience};
    if (!(run->residual <= tol)) {
        if (kind == CR_SWEEP_GRADIENT) {
            run_gradient(&w, max_sweeps, work, work + system->n, x);
        } else if (kind == CR_SWEEP_ANDERSON) {
            run_anderson(&w, max_sweeps, work, work + (size_t)system->n * ANDERSON_DEPTH,
                         work + (size_t)system->n * (2 * ANDERSON_DEPTH), x);
        } else {
            run_plain(&w, max_sweeps, x);
        }
    }
    memcpy(x, best, bytes);
    cr_arena_release(arena, mark);
    return CR_OK;
}
