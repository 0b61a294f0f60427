// matrix.c - products with dense or row-compressed matrices.
#include "base/argument.h"
#include "carom/problem.h"
#include "problem/product.h"

#include <string.h>

double cr_matrix_at(const crMatrix* A, int row, int col) {
    bool there = A != NULL && A->value != NULL && row >= 0 && row < A->rows && col >= 0 && col < A->cols;
    if (!there) return (double)NAN;
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

// four rows at once: each is summed in order, none waits for another
static void mul_dense(const crMatrix* A, const double* x, double* y) {
    size_t cols = (size_t)A->cols;
    int i = 0;
    for (; i + 4 <= A->rows; i += 4) {
        const double* row = A->value + (size_t)i * cols;
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
        for (size_t j = 0; j < cols; j++) {
            s0 += row[j] * x[j];
            s1 += row[cols + j] * x[j];
            s2 += row[2 * cols + j] * x[j];
            s3 += row[3 * cols + j] * x[j];
        }
        y[i] = s0;
        y[i + 1] = s1;
        y[i + 2] = s2;
        y[i + 3] = s3;
    }
    for (; i < A->rows; i++) {
        const double* row = A->value + (size_t)i * cols;
        double sum = 0.0;
        for (size_t j = 0; j < cols; j++) {
            sum += row[j] * x[j];
        }
        y[i] = sum;
    }
}

void cr_matrix_mul(const crMatrix* A, const double* x, double* y) {
    if (A == NULL || x == NULL || y == NULL) return;
    if (A->start == NULL) {
        mul_dense(A, x, y);
        return;
    }
    for (int i = 0; i < A->rows; i++) {
        double sum = 0.0;
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            sum += A->value[k] * x[A->col[k]];
        }
        y[i] = sum;
    }
}

void cr__matrix_mul_t(const crMatrix* A, const double* x, double* y) {
    if (A == NULL || x == NULL || y == NULL) return;
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
