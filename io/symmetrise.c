// symmetrise.c - the symmetric part of a matrix that others' files hold with rounding.
//
// (a_ij + a_ji) / 2 is formed of halves, so entries that agree keep their bits. Fails: unsymmetric beyond what
// printing explains, by entry; memory.
#include "io/entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1e-2  // of the largest entry (W) or of sqrt(m_ii m_jj) (M)

static size_t stored_entries(const crMatrix* A) {
    return A->start != NULL ? (size_t)A->start[A->rows] : (size_t)A->rows * (size_t)A->cols;
}

// entry k of row i
static crEntry entry_of(const crMatrix* A, int i, size_t k) {
    size_t cols = (size_t)A->cols;
    return (crEntry){i, A->start != NULL ? A->col[k] : (int)(k % cols), A->value[k], NULL};
}

static size_t row_begin(const crMatrix* A, int i) {
    return A->start != NULL ? (size_t)A->start[i] : (size_t)i * (size_t)A->cols;
}

static crStatus halve_dense(crMatrix* A, crArena* arena) {
    size_t n = (size_t)A->rows;
    double* value = cr_arena_alloc(arena, n * n * sizeof *value);
    if (value == NULL) return CR_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            double at = A->value[i * n + j], across = A->value[j * n + i];
            value[i * n + j] = i == j ? at : 0.5 * at + 0.5 * across;
        }
    }
    A->value = value;
    return CR_OK;
}

// half of each entry and of its mirror image, summed where they meet
static crStatus halve_sparse(crMatrix* A, crArena* arena) {
    size_t count = 0;
    crEntry* entry = malloc((2 * stored_entries(A) + 1) * sizeof *entry);
    if (entry == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < A->rows; i++) {
        for (size_t k = row_begin(A, i); k < row_begin(A, i + 1); k++) {
            crEntry e = entry_of(A, i, k);
            if (e.col == i || e.value == 0.0) {
                entry[count++] = e;
                continue;
            }
            e.value *= 0.5;
            entry[count++] = e;
            entry[count++] = (crEntry){e.col, i, e.value, NULL};
        }
    }
    crMatrix symmetric;
    crStatus status = cr__entries_compress(entry, count, A->rows, A->cols, arena, &symmetric, NULL);
    free(entry);
    if (status == CR_OK) *A = symmetric;
    return status;
}

void cr__mirrored(crProblemFile* file, const char* name, const char* triangle) {
    snprintf(file->mended.matrix, sizeof file->mended.matrix, "%s", name);
    file->mended.triangle = triangle;
    file->mended.skew = (crSkew){.row = -1, .col = -1};
}

crStatus cr__symmetrise(crProblemFile* file, const char* name, crError* error) {
    bool mass = strcmp(name, "M") == 0;
    crMatrix* A = mass ? &file->problem.M : &file->problem.W;
    crSkew skew = cr_matrix_skew(A, mass);
    if (skew.row < 0) return CR_OK;
    if (skew.relative > MOST) {
        return cr_error_set(error, CR_ERR_SYMMETRY, name,
                            "%s: must be symmetric; entry (%d, %d) is %.17g, (%d, %d) is %.17g", name,
                            skew.row, skew.col, skew.at, skew.col, skew.row, skew.across);
    }
    crStatus status = A->start == NULL ? halve_dense(A, &file->arena) : halve_sparse(A, &file->arena);
    if (status != CR_OK) return cr_error_set(error, status, name, "%s: out of memory", name);
    cr__mirrored(file, name, NULL);
    file->mended.skew = skew;
    return CR_OK;
}
