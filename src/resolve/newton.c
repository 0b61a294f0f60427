// newton.c - semismooth Newton steps on the map of all units, damped by a line search.
//
//     (A + B (W + eps R)) dx = -F,   dF = A dx + B W dx,   R = diag(1 / rho)
//
// with the rows of map.c. Units whose rows are all x / rho (open contacts) are put in place at once and drop out; the
// rest is factored as a sparse matrix of blocks. eps is a proximal shift: it makes singular systems (redundant
// contacts, parts without friction) solvable, shrinks after good steps and grows after bad ones. The line search
// may let |F| rise above its last value but not above the largest of the last few.
// Source: Alart and Curnier 1991; Acary, Bremond and Huber 2018 on line searches.
// Fails: cycles between regimes are cut by sweeps, another rho, and in the end by the limit; x is the best point seen.
#include "newton.h"
#include "sweep.h"

#include <string.h>

#define MEMORY 4  // last values of |F|^2 that the line search compares with

typedef struct crNewton {
    const crSystem* system;
    double s;       // scale of rho
    double eps;     // proximal shift
    double* w;      // (n)
    double* F;      // (n)
    double* A;      // count*count per unit
    double* B;      // count*count per unit
    size_t* at;     // where each unit's A and B begin (units)
    int* active;    // number in the reduced system, -1 for those put in place (units)
    int* last;      // active as it was at the last analysis (units)
    int* size;      // of the active units (units)
    int* row;       // first row of the active units in the reduced system (units)
    double* rhs;    // (n)
    double* dx;     // (n)
    double* trial;  // (n)
    double* best;   // (n)
    int count;      // active units
    crBlockLu lu;
    size_t lu_mark;  // of the arena before the analysis
    bool analyzed;
    crArena* arena;
} crNewton;

static bool newton_create(crNewton* z, const crSystem* system, crArena* arena) {
    *z = (crNewton){.system = system, .s = 1.0, .eps = 1e-10, .arena = arena};
    size_t n = (size_t)system->n * sizeof(double);
    size_t units = (size_t)system->units;
    z->at = cr_arena_alloc(arena, units * sizeof *z->at);
    if (z->at == NULL) return false;
    size_t blocks = 0;
    for (size_t i = 0; i < units; i++) {
        z->at[i] = blocks;
        blocks += (size_t)system->unit[i].count * (size_t)system->unit[i].count;
    }
    z->w = cr_arena_alloc(arena, n);
    z->F = cr_arena_alloc(arena, n);
    z->A = cr_arena_alloc(arena, blocks * sizeof(double));
    z->B = cr_arena_alloc(arena, blocks * sizeof(double));
    z->active = cr_arena_alloc(arena, units * sizeof(int));
    z->last = cr_arena_alloc(arena, units * sizeof(int));
    z->size = cr_arena_alloc(arena, units * sizeof(int));
    z->row = cr_arena_alloc(arena, units * sizeof(int));
    z->rhs = cr_arena_alloc(arena, n);
    z->dx = cr_arena_alloc(arena, n);
    z->trial = cr_arena_alloc(arena, n);
    z->best = cr_arena_alloc(arena, n);
    z->lu_mark = cr_arena_mark(arena);
    return z->w != NULL && z->F != NULL && z->A != NULL && z->B != NULL && z->active != NULL &&
           z->last != NULL && z->size != NULL && z->row != NULL && z->rhs != NULL && z->dx != NULL &&
           z->trial != NULL && z->best != NULL;
}

// F and its derivative at x; |F|^2
static double evaluate(crNewton* z, const double* x) {
    double sum = 0.0;
    cr__system_velocity(z->system, x, z->w);
    for (int i = 0; i < z->system->units; i++) {
        const crUnit* unit = &z->system->unit[i];
        int row = unit->row;
        cr__unit_map(unit, z->s, x + row, z->w + row, z->F + row, z->A + z->at[i], z->B + z->at[i]);
        for (int a = 0; a < unit->count; a++) {
            sum += z->F[row + a] * z->F[row + a];
        }
    }
    return isfinite(sum) ? sum : (double)INFINITY;
}

// which units stay in the system; the others' steps are known
static bool choose_active(crNewton* z) {
    bool same = z->analyzed;
    int row = 0;
    z->count = 0;
    for (int i = 0; i < z->system->units; i++) {
        const crUnit* unit = &z->system->unit[i];
        int c = unit->count;
        const double* B = z->B + z->at[i];
        bool moves = false;
        for (int k = 0; k < c * c; k++) {
            moves = moves || B[k] != 0.0;
        }
        z->active[i] = moves ? z->count : -1;
        same = same && z->active[i] == z->last[i];
        z->last[i] = z->active[i];
        if (!moves) {
            for (int a = 0; a < c; a++) {
                z->dx[unit->row + a] = -z->F[unit->row + a] / z->A[z->at[i] + (size_t)(a * (c + 1))];
            }
            continue;
        }
        z->size[z->count] = c;
        z->row[z->count++] = row;
        row += c;
    }
    return same;
}

// neighbours of each active unit from the rows of W
static crStatus analyze(crNewton* z) {
    const crSystem* system = z->system;
    const crMatrix* W = &system->W;
    cr_arena_release(z->arena, z->lu_mark);
    z->analyzed = false;
    size_t most = (size_t)W->start[system->n];
    int* start = cr_arena_alloc(z->arena, ((size_t)z->count + 1) * sizeof(int));
    int* col = cr_arena_alloc(z->arena, most * sizeof(int));
    if (start == NULL || col == NULL) return CR_ERR_MEMORY;
    int at = 0;
    start[0] = 0;
    for (int i = 0; i < system->units; i++) {
        if (z->active[i] < 0) continue;
        int last = -1;
        for (int row = system->unit[i].row; row < system->unit[i].row + system->unit[i].count; row++) {
            for (int k = W->start[row]; k < W->start[row + 1]; k++) {
                int j = z->active[system->unit_of[W->col[k]]];
                if (j < 0 || j == last) continue;
                col[at++] = last = j;
            }
        }
        start[z->active[i] + 1] = at;
    }
    crStatus status = cr__block_lu_analyze(&z->lu, z->count, z->size, z->row, start, col, z->arena);
    z->analyzed = status == CR_OK;
    return status;
}

// row block of unit i: A_i + B_i (W_i + eps R), and its right side
static void assemble_unit(crNewton* z, int i) {
    const crSystem* system = z->system;
    const crMatrix* W = &system->W;
    const crUnit* unit = &system->unit[i];
    int c = unit->count;
    const double* A = z->A + z->at[i];
    const double* B = z->B + z->at[i];
    double* rhs = z->rhs + z->row[z->active[i]];
    double* block = cr__block_lu_at(&z->lu, z->active[i], z->active[i]);
    for (int r = 0; r < c; r++) {
        rhs[r] = -z->F[unit->row + r];
        for (int b = 0; b < c; b++) {
            block[r * c + b] += A[r * c + b] + B[r * c + b] * (z->eps / unit->rho);
        }
    }
    int last = -1;
    for (int a = 0; a < c; a++) {
        for (int k = W->start[unit->row + a]; k < W->start[unit->row + a + 1]; k++) {
            int j = system->unit_of[W->col[k]];
            double value = system->scaled[k];
            if (z->active[j] < 0) {
                for (int r = 0; r < c; r++) {
                    rhs[r] -= B[r * c + a] * value * z->dx[W->col[k]];
                }
                continue;
            }
            if (j != last) block = cr__block_lu_at(&z->lu, z->active[i], z->active[j]);
            last = j;
            int width = system->unit[j].count;
            int b = W->col[k] - system->unit[j].row;
            for (int r = 0; r < c; r++) {
                block[r * width + b] += B[r * c + a] * value;
            }
        }
    }
}

// dx from the current F, A, B; false where the system is singular even with the shift
static crStatus newton_step(crNewton* z, bool* solved) {
    *solved = true;
    crStatus status = choose_active(z) ? CR_OK : analyze(z);
    if (status != CR_OK || z->count == 0) return status;
    cr__block_lu_clear(&z->lu);
    for (int i = 0; i < z->system->units; i++) {
        if (z->active[i] >= 0) assemble_unit(z, i);
    }
    *solved = cr__block_lu_factor(&z->lu);
    if (!*solved) return CR_OK;
    cr__block_lu_solve(&z->lu, z->rhs);
    for (int i = 0; i < z->system->units; i++) {
        const crUnit* unit = &z->system->unit[i];
        if (z->active[i] < 0) continue;
        memcpy(z->dx + unit->row, z->rhs + z->row[z->active[i]], (size_t)unit->count * sizeof(double));
    }
    return CR_OK;
}

// moves x along dx as far as |F|^2 stays below bound; false where it does nowhere
static bool line_search(crNewton* z, double bound, double* x) {
    int n = z->system->n;
    for (double t = 1.0; t > 1e-3; t *= 0.5) {
        for (int i = 0; i < n; i++) {
            z->trial[i] = x[i] + t * z->dx[i];
        }
        if (evaluate(z, z->trial) < (1.0 - 1e-3 * t) * bound) {
            memcpy(x, z->trial, (size_t)n * sizeof *x);
            return true;
        }
    }
    return false;
}

static void keep_best(crNewton* z, const double* x, crNewtonRun* run) {
    double residual = cr__system_residual(z->system, x);
    if (!(residual < run->residual)) return;
    run->residual = residual;
    memcpy(z->best, x, (size_t)z->system->n * sizeof *x);
}

// after a failed step: a larger shift, then another rho and a few sweeps
static void recover(crNewton* z, int failures, bool sweeps, double* x) {
    static const double scales[] = {0.1, 10.0, 0.01, 100.0, 1.0};
    z->eps = fmin(1e-2, z->eps * 100.0);
    if (failures % 2 == 1) return;
    z->s = scales[(failures / 2 - 1) % 5];
    for (int k = 0; sweeps && k < 10; k++) {
        cr__sweep(z->system, 1.0, x);
    }
}

static crStatus newton_loop(crNewton* z, double tol, int max_steps, bool sweeps, double* x,
                            crNewtonRun* run) {
    double merit[MEMORY];
    int failures = 0;
    int since = 0;  // steps since the last improvement of the residual
    for (int k = 0; k < MEMORY; k++) {
        merit[k] = 0.0;
    }
    while (run->steps < max_steps && run->residual > tol) {
        double now = evaluate(z, x);
        merit[run->steps % MEMORY] = now;
        double bound = now;
        for (int k = 0; k < MEMORY; k++) {
            bound = fmax(bound, merit[k]);
        }
        bool solved = false;
        crStatus status = newton_step(z, &solved);
        if (status != CR_OK) return status;
        run->steps++;
        run->factorings++;
        double before = run->residual;
        if (solved && line_search(z, bound, x)) {
            z->eps = fmax(1e-12, z->eps * 0.1);
        } else {
            recover(z, ++failures, sweeps, x);
            for (int k = 0; k < MEMORY; k++) {
                merit[k] = 0.0;
            }
        }
        keep_best(z, x, run);
        since = run->residual < 0.9 * before ? 0 : since + 1;
        run->stalled = failures > 20 || since > 40;
        if (run->stalled) break;
    }
    return CR_OK;
}

crStatus cr__newton_run(const crSystem* system, double tol, int max_steps, bool sweeps, crArena* arena,
                        double* x, crNewtonRun* run) {
    size_t mark = cr_arena_mark(arena);
    crNewton z;
    *run = (crNewtonRun){.residual = cr__system_residual(system, x)};
    crStatus status = newton_create(&z, system, arena) ? CR_OK : CR_ERR_MEMORY;
    if (status == CR_OK) {
        memcpy(z.best, x, (size_t)system->n * sizeof *x);
        status = newton_loop(&z, tol, max_steps, sweeps, x, run);
        memcpy(x, z.best, (size_t)system->n * sizeof *x);
    }
    cr_arena_release(arena, mark);
    return status;
}
