// dense.c - factorizations of full matrices, row by row (Golub and Van Loan, chapters 3 and 4).
//
// Cholesky A = L L^T of a symmetric matrix, and the inverse of any small one by Gauss and Jordan.
// Fails: a pivot that is only rounding noise (Cholesky), zero or not finite (inverse) makes them return
// false.
#include "dense.h"

#include <math.h>

bool cr__cholesky(double* A, int n) {
    for (int i = 0; i < n; i++) {
        double* Li = A + (long)i * n;
        double diagonal = Li[i];
        for (int j = 0; j < i; j++) {
            const double* Lj = A + (long)j * n;
            double sum = Li[j];
            for (int k = 0; k < j; k++) {
                sum -= Li[k] * Lj[k];
            }
            Li[j] = sum / Lj[j];
        }
        double pivot = diagonal;
        for (int k = 0; k < i; k++) {
            pivot -= Li[k] * Li[k];
        }
        if (!(pivot > 1e-14 * diagonal) || !isfinite(pivot)) return false;
        Li[i] = sqrt(pivot);
    }
    return true;
}

void cr__cholesky_solve(const double* L, int n, double* x) {
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] -= L[(long)i * n + k] * x[k];
        }
        x[i] /= L[(long)i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) {
            x[i] -= L[(long)k * n + i] * x[k];
        }
        x[i] /= L[(long)i * n + i];
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
