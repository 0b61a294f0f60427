// direct.c - assembling, factoring and refining the linear systems of the direct solvers.
//
// Units with B = 0 are solved at once and drop out; the rest is a sparse matrix of blocks, factored by fronts
// (linalg/sparse.h), or a full one where it is small. The solution is refined against the rows themselves; where that
// shows that factoring without pivoting between fronts was not good enough (heavy against light), the system is factored in
// full from then on.
// Fails: out of memory; a singular system is reported, not solved.
#include "direct.h"
#include "linalg/lu.h"

#include <string.h>

#define FULL_ROWS      96    // systems up to this size are always factored in full
#define FULL_ROWS_MOST 1200  // and up to this size once a sparse factorization was found wanting

crStatus cr__direct_create(crDirect* d, const crSystem* system, crArena* arena) {
    *d = (crDirect){.system = system, .full_rows = FULL_ROWS, .arena = arena};
    size_t units = (size_t)system->units;
    d->at = cr_arena_alloc(arena, units * sizeof *d->at);
    if (d->at == NULL) return CR_ERR_MEMORY;
    size_t entries = 0;
    for (size_t i = 0; i < units; i++) {
        d->at[i] = entries;
        entries += (size_t)system->unit[i].count * (size_t)system->unit[i].count;
    }
    d->A = cr_arena_alloc(arena, entries * sizeof(double));
    d->B = cr_arena_alloc(arena, entries * sizeof(double));
    d->active = cr_arena_alloc(arena, units * sizeof(int));
    d->last = cr_arena_alloc(arena, units * sizeof(int));
    d->size = cr_arena_alloc(arena, units * sizeof(int));
    d->row = cr_arena_alloc(arena, units * sizeof(int));
    d->place = cr_arena_alloc(arena, (size_t)system->n * sizeof(int));
    d->rhs = cr_arena_alloc(arena, (size_t)system->n * sizeof(double));
    d->mark = cr_arena_mark(arena);
    bool got = d->A != NULL && d->B != NULL && d->active != NULL && d->last != NULL && d->size != NULL &&
               d->row != NULL && d->place != NULL && d->rhs != NULL;
    return got ? CR_OK : CR_ERR_MEMORY;
}

static crStatus keep_full(crDirect* d) {
    size_t n = (size_t)d->rows;
    d->order = cr_arena_alloc(d->arena, n * sizeof *d->order);
    d->work = cr_arena_alloc(d->arena, n * sizeof *d->work);
    d->matrix = cr_arena_alloc(d->arena, n * n * sizeof *d->matrix);
    return d->order != NULL && d->work != NULL && d->matrix != NULL ? CR_OK : CR_ERR_MEMORY;
}

// numbers the units that stay; true where they are those of the last analysis
static bool choose_active(crDirect* d) {
    bool same = d->analyzed;
    int row = 0;
    d->count = 0;
    for (int i = 0; i < d->system->units; i++) {
        int c = d->system->unit[i].count;
        const double* B = d->B + d->at[i];
        bool stays = false;
        for (int k = 0; k < c * c; k++) {
            stays = stays || B[k] != 0.0;
        }
        d->active[i] = stays ? d->count : -1;
        same = same && d->active[i] == d->last[i];
        d->last[i] = d->active[i];
        for (int a = 0; a < c; a++) {
            d->place[d->system->unit[i].row + a] = stays ? row + a : -1;
        }
        if (!stays) continue;
        d->size[d->count] = c;
        d->row[d->count++] = row;
        row += c;
    }
    d->rows = row;
    return same;
}

// pattern of the active units, from the rows of W
static crStatus analyze(crDirect* d) {
    const crSystem* system = d->system;
    const crMatrix* W = &system->W;
    cr_arena_release(d->arena, d->mark);
    d->full = d->rows <= d->full_rows;
    d->analyzed = true;
    if (d->full) return keep_full(d);
    int* start = cr_arena_alloc(d->arena, ((size_t)d->count + 1) * sizeof(int));
    int* col = cr_arena_alloc(d->arena, (size_t)W->start[system->n] * sizeof(int));
    if (start == NULL || col == NULL) return CR_ERR_MEMORY;
    int at = 0;
    start[0] = 0;
    for (int i = 0; i < system->units; i++) {
        if (d->active[i] < 0) continue;
        const crUnit* unit = &system->unit[i];
        int last = -1;
        for (int k = W->start[unit->row]; k < W->start[unit->row + unit->count]; k++) {
            int j = d->active[system->unit_of[W->col[k]]];
            if (j < 0 || j == last) continue;
            col[at++] = last = j;
        }
        start[d->active[i] + 1] = at;
    }
    return cr__sparse_analyze(&d->sparse, d->count, d->size, start, col, true, d->arena);
}

static void add_row(double weight, const double* restrict row, size_t count, double* restrict to) {
    for (size_t j = 0; j < count; j++) {
        to[j] += weight * row[j];
    }
}

// rows of unit i where the matrix is full
static void assemble_full(crDirect* d, int i) {
    const crSystem* system = d->system;
    const crMatrix* W = &system->W;
    const crUnit* unit = &system->unit[i];
    int c = unit->count;
    const double* A = d->A + d->at[i];
    const double* B = d->B + d->at[i];
    size_t width = (size_t)d->rows;
    size_t first = (size_t)d->row[d->active[i]];
    for (int r = 0; r < c; r++) {
        double* target = d->matrix + (first + (size_t)r) * width;
        for (int b = 0; b < c; b++) {
            target[first + (size_t)b] += A[r * c + b] + B[r * c + b] * (d->shift / unit->rho);
        }
        for (int a = 0; a < c; a++) {
            double weight = B[r * c + a];
            if (weight == 0.0) continue;
            int begin = W->start[unit->row + a], end = W->start[unit->row + a + 1];
            if (d->rows == system->n && end - begin == system->n) {
                add_row(weight, system->scaled + begin, width, target);
                continue;
            }
            for (int k = begin; k < end; k++) {
                int at = d->place[W->col[k]];
                if (at >= 0) target[at] += weight * system->scaled[k];
            }
        }
    }
}

// row of blocks of unit i: A_i + B_i (W_i + shift R)
static void assemble(crDirect* d, int i) {
    const crSystem* system = d->system;
    const crMatrix* W = &system->W;
    const crUnit* unit = &system->unit[i];
    int c = unit->count;
    const double* A = d->A + d->at[i];
    const double* B = d->B + d->at[i];
    double* block = cr__sparse_block(&d->sparse, d->active[i], d->active[i]);
    for (int k = 0; k < c * c; k++) {
        block[k] += A[k] + B[k] * (d->shift / unit->rho);
    }
    int last = -1, width = 0;
    for (int a = 0; a < c; a++) {
        // most rows of B hold one entry
        int row[CR_UNIT_ROWS], rows = 0;
        for (int r = 0; r < c; r++) {
            if (B[r * c + a] != 0.0) row[rows++] = r;
        }
        if (rows == 0) continue;
        for (int k = W->start[unit->row + a]; k < W->start[unit->row + a + 1]; k++) {
            int j = system->unit_of[W->col[k]];
            if (d->active[j] < 0) continue;
            if (j != last) block = cr__sparse_block(&d->sparse, d->active[i], d->active[j]);
            last = j;
            width = system->unit[j].count;
            int b = W->col[k] - system->unit[j].row;
            for (int r = 0; r < rows; r++) {
                block[row[r] * width + b] += B[row[r] * c + a] * system->scaled[k];
            }
        }
    }
}

// -(F + (A + B (W + shift R)) dx) on the rows of active units into rhs; its largest entry over that of F
static double residual(crDirect* d, const double* F, const double* dx) {
    const crSystem* system = d->system;
    double worst = 0.0;
    double scale = 0.0;
    for (int i = 0; i < system->units; i++) {
        if (d->active[i] < 0) continue;
        const crUnit* unit = &system->unit[i];
        int c = unit->count;
        double dw[CR_UNIT_ROWS];
        for (int a = 0; a < c; a++) {
            int row = unit->row + a;
            dw[a] = d->shift / unit->rho * dx[row];
        }
        cr__system_add_product(system, unit, dx, dw);
        for (int r = 0; r < c; r++) {
            double sum = F[unit->row + r];
            for (int a = 0; a < c; a++) {
                sum += d->A[d->at[i] + (size_t)(r * c + a)] * dx[unit->row + a];
                sum += d->B[d->at[i] + (size_t)(r * c + a)] * dw[a];
            }
            d->rhs[d->row[d->active[i]] + r] = -sum;
            if (fabs(sum) > worst) worst = fabs(sum);
            if (fabs(F[unit->row + r]) > scale) scale = fabs(F[unit->row + r]);
        }
    }
    if (!isfinite(worst)) return (double)INFINITY;
    return scale > 0.0 ? worst / scale : 0.0;
}

// adds the reduced system's solution of rhs to dx
static void correct(crDirect* d, double* dx) {
    if (d->full) {
        memcpy(d->work, d->rhs, (size_t)d->rows * sizeof *d->work);
        cr__lu_solve(d->matrix, d->rows, d->order, d->work, d->rhs);
    } else {
        cr__sparse_solve(&d->sparse, d->rhs);
    }
    for (int i = 0; i < d->system->units; i++) {
        const crUnit* unit = &d->system->unit[i];
        for (int a = 0; a < unit->count && d->active[i] >= 0; a++) {
            dx[unit->row + a] += d->rhs[d->row[d->active[i]] + a];
        }
    }
}

// dx by the factors at hand, refined; what is left of the right side
static double solve_refined(crDirect* d, const double* F, double* dx) {
    bool zero = true;
    for (int i = 0; i < d->system->units; i++) {
        const crUnit* unit = &d->system->unit[i];
        for (int a = 0; a < unit->count; a++) {
            bool known = d->active[i] < 0;
            double pivot = d->A[d->at[i] + (size_t)(a * (unit->count + 1))];
            dx[unit->row + a] = known ? -F[unit->row + a] / pivot : 0.0;
            zero = zero && dx[unit->row + a] == 0.0;
            if (!known) d->rhs[d->row[d->active[i]] + a] = -F[unit->row + a];
        }
    }
    if (d->count == 0) return 0.0;
    if (!zero) residual(d, F, dx);
    double error = 0.0;
    for (int k = 0; k < 3; k++) {
        correct(d, dx);
        error = residual(d, F, dx);
        if (!(error > 1e-10 && error < 0.1)) break;
    }
    return error;
}

// factors of the system with the A and B of now; false where it is singular to working precision
static bool factor_direct(crDirect* d) {
    if (d->full) {
        memset(d->matrix, 0, (size_t)d->rows * (size_t)d->rows * sizeof *d->matrix);
    } else {
        cr__sparse_clear(&d->sparse);
    }
    for (int i = 0; i < d->system->units; i++) {
        if (d->active[i] < 0) continue;
        if (d->full) {
            assemble_full(d, i);
        } else {
            assemble(d, i);
        }
    }
    if (d->full) return cr__lu(d->matrix, d->rows, 0.0, d->order);
    return cr__sparse_factor(&d->sparse, CR_SPARSE_GENERAL) < 0;
}

crStatus cr__direct_solve(crDirect* d, const double* F, double* dx, bool* solved) {
    crStatus status = choose_active(d) || d->count == 0 ? CR_OK : analyze(d);
    if (status != CR_OK) return status;
    for (;;) {
        double error = (double)INFINITY;
        *solved = d->count == 0 || factor_direct(d);
        if (*solved) error = solve_refined(d, F, dx);
        if (error < 1e-2 || d->full || d->rows > FULL_ROWS_MOST) break;
        d->full_rows = FULL_ROWS_MOST;
        status = analyze(d);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

void cr__direct_again(crDirect* d, const double* F, double* dx) { solve_refined(d, F, dx); }
