// matrix.c - products with dense or row-compressed matrices, and the inverse of a small mass matrix.
#include "carom/problem.h"
#include "linalg/dense.h"

#include <string.h>

double cr_matrix_at(const crMatrix* A, int row, int col) {
    if (A->start == NULL) return A->value[(size_t)row * (size_t)A->cols + (size_t)col];
    int lo = A->start[row];
    int hi = A->start[row + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (A->col[mid] < col) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < A->start[row + 1] && A->col[lo] == col ? A->value[lo] : 0.0;
}

void cr_matrix_mul(const crMatrix* A, const double* x, double* y) {
    for (int i = 0; i < A->rows; i++) {
        double sum = 0.0;
        if (A->start == NULL) {
            const double* row = A->value + (size_t)i * (size_t)A->cols;
            for (int j = 0; j < A->cols; j++) {
                sum += row[j] * x[j];
            }
        } else {
            for (int k = A->start[i]; k < A->start[i + 1]; k++) {
                sum += A->value[k] * x[A->col[k]];
            }
        }
        y[i] = sum;
    }
}

void cr_matrix_mul_t(const crMatrix* A, const double* x, double* y) {
    memset(y, 0, (size_t)A->cols * sizeof *y);
    for (int i = 0; i < A->rows; i++) {
        if (A->start == NULL) {
            const double* row = A->value + (size_t)i * (size_t)A->cols;
            for (int j = 0; j < A->cols; j++) {
                y[j] += row[j] * x[i];
            }
        } else {
            for (int k = A->start[i]; k < A->start[i + 1]; k++) {
                y[A->col[k]] += A->value[k] * x[i];
            }
        }
    }
}

crStatus cr_matrix_inverse(const crMatrix* M, crArena* arena, crMatrix* Minv, crError* error) {
    size_t n = (size_t)M->rows;
    double* inverse = cr_arena_alloc(arena, n * n * sizeof(double));
    double* L = cr_arena_alloc(arena, n * n * sizeof(double));
    if (inverse == NULL || L == NULL) return cr_error_set(error, CR_ERR_MEMORY, "M", "M: out of memory");
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            L[i * n + j] = cr_matrix_at(M, (int)i, (int)j);
            inverse[i * n + j] = i == j ? 1.0 : 0.0;
        }
    }
    if (!cr__cholesky(L, (int)n)) {
        return cr_error_set(error, CR_ERR_DEFINITE, "M", "M: must be symmetric positive definite");
    }
    // the inverse is symmetric, so solved columns serve as rows
    for (size_t j = 0; j < n; j++) {
        cr__cholesky_solve(L, (int)n, inverse + j * n);
    }
    *Minv = (crMatrix){M->rows, M->rows, NULL, NULL, inverse};
    return CR_OK;
}
