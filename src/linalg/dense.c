// dense.c - factorizations of full matrices, row by row (Golub and Van Loan, chapters 3 and 4).
//
// Cholesky A = U^T U of a symmetric matrix, and the inverse of any small one by Gauss and Jordan.
// Fails: a pivot that is only rounding noise (Cholesky), zero or not finite (inverse) makes them return
// false.
#include "dense.h"

#include <math.h>

static inline void subtract(double share, const double* restrict row, int count, double* restrict from) {
    for (int j = 0; j < count; j++) {
        from[j] -= share * row[j];
    }
}

// row k of the factor, from its diagonal on; below it the first column keeps what the diagonal was
static bool scale_row(double* U, int n, int k) {
    double pivot = U[k], diagonal = U[0];
    if (!(pivot > 1e-14 * diagonal) || !isfinite(pivot)) return false;
    U[k] = sqrt(pivot);
    for (int j = k + 1; j < n; j++) {
        U[j] /= U[k];
    }
    return true;
}

// three rows of the factor at once from row i, in their order
static inline void subtract3(const double* restrict U, int n, int i, double* restrict from) {
    const double *V = U + n, *W = V + n;
    double u = U[i], v = V[i], w = W[i];
    for (int j = i; j < n; j++) {
        double x = from[j] - u * U[j];
        x -= v * V[j];
        from[j] = x - w * W[j];
    }
}

bool cr__cholesky(double* A, int n) {
    for (int i = 1; i < n; i++) {
        A[(long)i * n] = A[(long)i * n + i];
    }
    for (int k = 0; k < n;) {
        int rows = n - k > 3 ? 3 : 1;
        double* U = A + (long)k * n;
        for (int r = 0; r < rows; r++) {
            if (!scale_row(U + r * n, n, k + r)) return false;
            for (int i = k + r + 1; i < k + rows; i++) {
                subtract(U[r * n + i], U + r * n + i, n - i, A + (long)i * n + i);
            }
        }
        for (int i = k + rows; i < n; i++) {
            double* from = A + (long)i * n;
            if (rows == 3) {
                subtract3(U, n, i, from);
            } else {
                subtract(U[i], U + i, n - i, from + i);
            }
        }
        k += rows;
    }
    return true;
}

void cr__cholesky_solve(const double* U, int n, double* x) {
    for (int i = 0; i < n; i++) {
        x[i] /= U[(long)i * n + i];
        subtract(x[i], U + (long)i * n + i + 1, n - i - 1, x + i + 1);
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= U[(long)i * n + k] * x[k];
        }
        x[i] /= U[(long)i * n + i];
    }
}

bool cr__invert_small(double* A, int n) {
    int order[8];
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        }
        order[k] = best;
        for (int j = 0; j < n; j++) {
            double swap = A[k * n + j];
            A[k * n + j] = A[best * n + j];
            A[best * n + j] = swap;
        }
        double pivot = A[k * n + k];
        if (!(fabs(pivot) > 0.0) || !isfinite(pivot)) return false;
        A[k * n + k] = 1.0;
        for (int j = 0; j < n; j++) {
            A[k * n + j] /= pivot;
        }
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            double factor = A[i * n + k];
            A[i * n + k] = 0.0;
            for (int j = 0; j < n; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
        }
    }
    // rows were exchanged on the way in, so columns are on the way out
    for (int k = n - 1; k >= 0; k--) {
        for (int i = 0; i < n && order[k] != k; i++) {
            double swap = A[i * n + k];
            A[i * n + k] = A[i * n + order[k]];
            A[i * n + order[k]] = swap;
        }
    }
    return true;
}
