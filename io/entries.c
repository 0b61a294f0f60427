// entries.c - sorting entries (row, col, value) into compressed rows, and inverse(M).
//
// Fails: memory; limit and not-positive for the inverse.
#include "io/entries.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void* a, const void* b) {
    const crEntry* x = a;
    const crEntry* y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->col > y->col) - (x->col < y->col);
}

crStatus cr__entries_compress(crEntry* entries, size_t count, int rows, int cols, crArena* arena,
                              crMatrix* matrix, const crEntry** twice) {
    if (count > 0) qsort(entries, count, sizeof *entries, by_place);
    int* start = cr_arena_alloc(arena, ((size_t)rows + 1) * sizeof(int));
    int* col = cr_arena_alloc(arena, count * sizeof(int));
    double* value = cr_arena_alloc(arena, count * sizeof(double));
    if (start == NULL || col == NULL || value == NULL) return CR_ERR_MEMORY;
    if (twice != NULL) *twice = NULL;
    size_t k = 0;
    int used = 0;
    for (int i = 0; i < rows; i++) {
        start[i] = used;
        for (; k < count && entries[k].row == i; k++) {
            if (used > start[i] && col[used - 1] == entries[k].col) {
                value[used - 1] += entries[k].value;
                if (twice != NULL) *twice = &entries[k];
                continue;
            }
            col[used] = entries[k].col;
            value[used++] = entries[k].value;
        }
    }
    start[rows] = used;
    *matrix = (crMatrix){rows, cols, start, col, value};
    return CR_OK;
}

static bool is_diagonal(const crMatrix* M) {
    if (M->start == NULL) return false;
    for (int i = 0; i < M->rows; i++) {
        if (M->start[i + 1] - M->start[i] != 1 || M->col[M->start[i]] != i) return false;
    }
    return true;
}

crStatus cr__entries_invert(crProblemFile* file, crError* error) {
    crProblem* problem = &file->problem;
    // full wherever it can be, so that it does not depend on how M was stored
    if (problem->nv <= CR_ENTRIES_MAX_NV) {
        return cr_matrix_inverse(&problem->M, &file->arena, &problem->Minv, error);
    }
    if (!is_diagonal(&problem->M)) {
        return cr_error_set(error, CR_ERR_LIMIT, "M", "M: has %d rows, its inverse is formed up to %d",
                            problem->nv, CR_ENTRIES_MAX_NV);
    }
    double* value = cr_arena_alloc(&file->arena, (size_t)problem->nv * sizeof(double));
    if (value == NULL) return cr_error_set(error, CR_ERR_MEMORY, "M", "M: out of memory");
    problem->Minv = problem->M;
    problem->Minv.value = value;
    for (int i = 0; i < problem->nv; i++) {
        value[i] = 1.0 / problem->M.value[i];
        if (problem->M.value[i] > 0.0 && isfinite(value[i])) continue;
        return cr_error_set(error, CR_ERR_DEFINITE, "M", "M: must be symmetric positive definite");
    }
    return CR_OK;
}
