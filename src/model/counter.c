// counter.c - impulses that take back given velocities of rows: p = -W^+ u with W = J M^-1 J^T.
//
// Up to FULL_ROWS rows W^+ is the pseudo-inverse from eigenvalues, so that redundant rows do no harm. Beyond,
// with W = H H^T, the sparse system
//     [ I  -H^T  ] [x]   [ 0 ]
//     [ H  eps I ] [p] = [ r ]
// gives (W + eps I) p = r. Its elimination order follows the pattern: rows that repeat each other are
// eliminated before what they share, chains from their ends, so that redundant rows cost no more than others.
// Repeating it on the residual removes both eps and rounding; along directions that no row moves p is
// arbitrary, and J^T p is not. Fails: CR_ERR_MEMORY, CR_ERR_LIMIT from the rows.
#include <string.h>

#include "linalg/block_lu.h"
#include "linalg/semidefinite.h"
#include "model/rows.h"
#include "model/spatial.h"

#define FULL_ROWS 300
#define SHIFT     1e-10  // eps over the largest entry of W
#define REPEATS   20
#define ENOUGH    1e-14  // of u

static crStatus full_counter(const crRows* H, crArena* arena, const double* u, double* p) {
    int n = H->count;
    size_t entries = (size_t)n * (size_t)n;
    double* W = cr_arena_alloc(arena, entries * sizeof(double));
    double* work = cr_arena_alloc(arena, 2 * entries * sizeof(double));
    if (W == NULL || work == NULL) return CR_ERR_MEMORY;
    cr_rows_W(H, W);
    cr__pseudo_inverse(W, n, work);
    for (int i = 0; i < n; i++) {
        p[i] = 0.0;
        for (int j = 0; j < n; j++) {
            p[i] -= W[i * n + j] * u[j];
        }
    }
    return CR_OK;
}

typedef struct Sparse {
    const crRows* H;
    int columns;  // of H that have entries
    int* place;   // of each entry's column among them (entries)
    double shift;
    crBlockLu lu;
    double* x;  // unknowns: columns, then rows
    double* r;  // residual of the rows (n)
} Sparse;

// columns numbered in the order in which rows use them
static crStatus number_columns(Sparse* s, int nv, crArena* arena) {
    int* number = cr_arena_alloc(arena, (size_t)nv * sizeof(int));
    s->place = cr_arena_alloc(arena, (size_t)s->H->entries * sizeof(int));
    if (number == NULL || s->place == NULL) return CR_ERR_MEMORY;
    for (int j = 0; j < nv; j++) {
        number[j] = -1;
    }
    for (int i = 0; i < s->H->entries; i++) {
        int* at = &number[s->H->col[i]];
        if (*at < 0) *at = s->columns++;
        s->place[i] = *at;
    }
    return CR_OK;
}

static crStatus analyze(Sparse* s, crArena* arena) {
    int n = s->H->count, count = s->columns + n;
    int* ones = cr_arena_alloc(arena, (size_t)count * sizeof(int));
    int* row = cr_arena_alloc(arena, (size_t)count * sizeof(int));
    int* start = cr_arena_alloc(arena, ((size_t)count + 1) * sizeof(int));
    s->x = cr_arena_alloc(arena, (size_t)count * sizeof(double));
    s->r = cr_arena_alloc(arena, (size_t)n * sizeof(double));
    if (ones == NULL || row == NULL || start == NULL || s->x == NULL || s->r == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < count; i++) {
        ones[i] = 1;
        row[i] = i;
        start[i] = i < s->columns ? 0 : s->H->start[i - s->columns];
    }
    start[count] = s->H->entries;
    return cr__block_lu_analyze(&s->lu, count, ones, row, start, s->place, 0, arena);
}

static bool factor(Sparse* s) {
    const crRows* H = s->H;
    int stride;
    double largest = 0.0;
    for (int r = 0; r < H->count; r++) {
        double sum = 0.0;
        for (int i = H->start[r]; i < H->start[r + 1]; i++) {
            sum += H->value[i] * H->value[i];
        }
        largest = fmax(largest, sum);
    }
    cr__block_lu_clear(&s->lu);
    for (int j = 0; j < s->columns; j++) {
        *cr__block_lu_at(&s->lu, j, j, &stride) = 1.0;
    }
    for (int r = 0; r < H->count; r++) {
        int at = s->columns + r;
        *cr__block_lu_at(&s->lu, at, at, &stride) = largest > 0.0 ? SHIFT * largest : 1.0;
        for (int i = H->start[r]; i < H->start[r + 1]; i++) {
            *cr__block_lu_at(&s->lu, at, s->place[i], &stride) = H->value[i];
            *cr__block_lu_at(&s->lu, s->place[i], at, &stride) = -H->value[i];
        }
    }
    return cr__block_lu_factor(&s->lu);
}

// r = -u - H H^T p; its largest entry
static double residual(Sparse* s, const double* u, const double* p) {
    const crRows* H = s->H;
    memset(s->x, 0, (size_t)s->columns * sizeof *s->x);
    for (int r = 0; r < H->count; r++) {
        for (int i = H->start[r]; i < H->start[r + 1]; i++) {
            s->x[s->place[i]] += H->value[i] * p[r];
        }
    }
    double worst = 0.0;
    for (int r = 0; r < H->count; r++) {
        double sum = -u[r];
        for (int i = H->start[r]; i < H->start[r + 1]; i++) {
            sum -= H->value[i] * s->x[s->place[i]];
        }
        s->r[r] = sum;
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

static crStatus sparse_counter(const crRows* H, int nv, crArena* arena, const double* u, double* p) {
    Sparse s = {.H = H};
    crStatus status = number_columns(&s, nv, arena);
    if (status == CR_OK) status = analyze(&s, arena);
    if (status != CR_OK) return status;
    memset(p, 0, (size_t)H->count * sizeof *p);
    if (!factor(&s)) return CR_ERR_DEFINITE;
    double size = residual(&s, u, p), enough = ENOUGH * size;
    for (int k = 0; k < REPEATS && size > enough; k++) {
        memset(s.x, 0, (size_t)s.columns * sizeof *s.x);
        memcpy(s.x + s.columns, s.r, (size_t)H->count * sizeof *s.x);
        cr__block_lu_solve(&s.lu, s.x);
        for (int r = 0; r < H->count; r++) {
            p[r] += s.x[s.columns + r];
        }
        double before = size;
        size = residual(&s, u, p);
        // what is left contradicts other rows, or is rounding
        if (!(size < 0.5 * before)) break;
    }
    return CR_OK;
}

crStatus cr__rows_counter(const crModel* model, const crDynamics* d, const crRows* rows, crArena* arena,
                          const double* u, double* p) {
    size_t mark = cr_arena_mark(arena);
    crRows H;
    crStatus status = cr_rows_half(model, d, rows, arena, &H);
    if (status == CR_OK && rows->count <= FULL_ROWS) status = full_counter(&H, arena, u, p);
    if (status == CR_OK && rows->count > FULL_ROWS) status = sparse_counter(&H, model->nv, arena, u, p);
    cr_arena_release(arena, mark);
    return status;
}
