// product.c - W = J Minv J^T by rows, without ever forming the full matrix.
//
// Row i of W is gathered over the generalized velocities that row i of J reaches through Minv, and from there
// over the rows of J that meet them (Gustavson 1978). Columns come out ascending; exact zeros are dropped.
// Fails: out of memory only.
#include "product.h"

#include <string.h>

#define FEW 64  // rows of a W that has room for all entries at once: nothing is counted first

// A^T by rows
static bool transpose(const crMatrix* A, crArena* arena, crMatrix* T) {
    size_t entries = (size_t)A->start[A->rows];
    int* start = cr_arena_alloc(arena, ((size_t)A->cols + 2) * sizeof *start);
    int* col = cr_arena_alloc(arena, entries * sizeof *col);
    double* value = cr_arena_alloc(arena, entries * sizeof *value);
    if (start == NULL || col == NULL || value == NULL) return false;
    memset(start, 0, ((size_t)A->cols + 2) * sizeof *start);
    for (size_t k = 0; k < entries; k++) {
        start[A->col[k] + 2]++;
    }
    for (int j = 0; j < A->cols; j++) {
        start[j + 2] += start[j + 1];
    }
    for (int i = 0; i < A->rows; i++) {
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            int at = start[A->col[k] + 1]++;
            col[at] = i;
            value[at] = A->value[k];
        }
    }
    *T = (crMatrix){A->cols, A->rows, start, col, value};
    return true;
}

// sparse accumulator
typedef struct crGather {
    double* value;
    int* stamp;  // last row that touched each place
    int* list;   // places touched by the current row
    int count;
} crGather;

static bool gather_create(crGather* g, int size, crArena* arena) {
    g->value = cr_arena_alloc(arena, (size_t)size * sizeof *g->value);
    g->stamp = cr_arena_alloc(arena, (size_t)size * sizeof *g->stamp);
    g->list = cr_arena_alloc(arena, (size_t)size * sizeof *g->list);
    if (g->value == NULL || g->stamp == NULL || g->list == NULL) return false;
    memset(g->stamp, -1, (size_t)size * sizeof *g->stamp);
    g->count = 0;
    return true;
}

static void gather_add(crGather* g, int row, int place, double value) {
    if (g->stamp[place] != row) {
        g->stamp[place] = row;
        g->value[place] = 0.0;
        g->list[g->count++] = place;
    }
    g->value[place] += value;
}

// adds factor times row k of A
static void gather_row(crGather* g, int row, const crMatrix* A, int k, double factor) {
    if (A->start == NULL) {
        for (int j = 0; j < A->cols; j++) {
            double entry = A->value[(size_t)k * (size_t)A->cols + (size_t)j];
            if (entry != 0.0) gather_add(g, row, j, factor * entry);
        }
        return;
    }
    for (int e = A->start[k]; e < A->start[k + 1]; e++) {
        gather_add(g, row, A->col[e], factor * A->value[e]);
    }
}

static void sort_ascending(int* list, int count) {
    // shell sort: lists are short, and the order of work is fixed
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int i = gap; i < count; i++) {
            int x = list[i];
            int j = i;
            for (; j >= gap && list[j - gap] > x; j -= gap) {
                list[j] = list[j - gap];
            }
            list[j] = x;
        }
    }
}

// one row of W into its gather
static void product_row(const crProblem* problem, const crMatrix* Jt, int i, crGather* dv, crGather* row) {
    const crMatrix* J = &problem->J;
    dv->count = 0;
    row->count = 0;
    for (int e = J->start[i]; e < J->start[i + 1]; e++) {
        gather_row(dv, i, &problem->Minv, J->col[e], J->value[e]);
    }
    sort_ascending(dv->list, dv->count);
    for (int k = 0; k < dv->count; k++) {
        gather_row(row, i, Jt, dv->list[k], dv->value[dv->list[k]]);
    }
    sort_ascending(row->list, row->count);
}

crStatus cr__problem_product(const crProblem* problem, crArena* arena, crMatrix* W) {
    int n = problem->rows;
    crMatrix Jt;
    crGather dv, row;
    int* start = cr_arena_alloc(arena, ((size_t)n + 1) * sizeof *start);
    int* col = NULL;
    double* value = NULL;
    if (start == NULL || !transpose(&problem->J, arena, &Jt) || !gather_create(&dv, problem->nv, arena) ||
        !gather_create(&row, n, arena)) {
        return CR_ERR_MEMORY;
    }
    bool few = n <= FEW;
    if (few) {
        col = cr_arena_alloc(arena, (size_t)(n * n) * sizeof *col);
        value = cr_arena_alloc(arena, (size_t)(n * n) * sizeof *value);
        if (col == NULL || value == NULL) return CR_ERR_MEMORY;
    }
    // the first pass counts, the second writes
    for (int pass = few ? 1 : 0; pass < 2; pass++) {
        size_t at = 0;
        memset(dv.stamp, -1, (size_t)problem->nv * sizeof *dv.stamp);
        memset(row.stamp, -1, (size_t)n * sizeof *row.stamp);
        for (int i = 0; i < n; i++) {
            start[i] = (int)at;
            product_row(problem, &Jt, i, &dv, &row);
            for (int k = 0; k < row.count; k++) {
                int j = row.list[k];
                if (row.value[j] == 0.0) continue;
                if (pass == 1) {
                    col[at] = j;
                    value[at] = row.value[j];
                }
                at++;
            }
        }
        start[n] = (int)at;
        if (pass == 1) break;
        if (at > INT32_MAX) return CR_ERR_MEMORY;
        col = cr_arena_alloc(arena, at * sizeof *col);
        value = cr_arena_alloc(arena, at * sizeof *value);
        if (col == NULL || value == NULL) return CR_ERR_MEMORY;
    }
    *W = (crMatrix){n, n, start, col, value};
    return CR_OK;
}
