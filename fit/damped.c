// damped.c - one step of Gauss-Newton within the unit cube, damped after Levenberg and Marquardt.
//
// (A + lambda D) dx = -g, D the diagonal of A. A parameter at the end of its range whose gradient leads out is held. Elimination
// with exchange of rows. Fails: a singular A gives no step.
#include "fit/damped.h"

#include <math.h>
#include <string.h>

bool cr_damped_solve(int n, double A[CR_SEARCH_DIM][CR_SEARCH_DIM], const double* b, double* x) {
    double M[CR_SEARCH_DIM][CR_SEARCH_DIM + 1];
    for (int i = 0; i < n; i++) {
        memcpy(M[i], A[i], (size_t)n * sizeof(double));
        M[i][n] = b[i];
    }
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p + 1; i < n; i++) {
            if (fabs(M[i][p]) > fabs(M[best][p])) best = i;
        }
        if (!(fabs(M[best][p]) > 0.0)) return false;
        for (int j = 0; j <= n; j++) {
            double swap = M[p][j];
            M[p][j] = M[best][j];
            M[best][j] = swap;
        }
        for (int i = 0; i < n; i++) {
            double factor = M[i][p] / M[p][p];
            for (int j = p; j <= n && i != p; j++) {
                M[i][j] -= factor * M[p][j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        x[i] = M[i][n] / M[i][i];
    }
    return true;
}

double cr_damped_step(int n, double A[CR_SEARCH_DIM][CR_SEARCH_DIM], const double* g, double lambda,
                      const double* x, double* to) {
    double M[CR_SEARCH_DIM][CR_SEARCH_DIM], b[CR_SEARCH_DIM] = {0}, dx[CR_SEARCH_DIM] = {0};
    double most = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        most = fmax(most, A[i][i]);
    }
    for (int i = 0; i < n; i++) {
        bool held = (x[i] <= 0.0 && g[i] > 0.0) || (x[i] >= 1.0 && g[i] < 0.0);
        for (int j = 0; j < n; j++) {
            M[i][j] = held ? 0.0 : A[i][j];
        }
        M[i][i] = held ? 1.0 : A[i][i] + lambda * (A[i][i] + 1e-9 * most) + 1e-300;
        b[i] = held ? 0.0 : -g[i];
    }
    if (!cr_damped_solve(n, M, b, dx)) return 0.0;
    for (int i = 0; i < n; i++) {
        to[i] = fmin(1.0, fmax(0.0, x[i] + dx[i]));
        size = fmax(size, fabs(to[i] - x[i]));
    }
    return size;
}
