// dense.c - Cholesky of a full symmetric matrix, A = L L^T, row by row (Golub and Van Loan, 4.2).
// Fails: a pivot that is only rounding noise makes the factorization return false.
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
