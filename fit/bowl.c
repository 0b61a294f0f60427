// bowl.c - least-squares quadratics for losses that jump.
//
//     f(x) ~ c_0 + sum c_i y_i + sum_{i<=j} c_ij y_i y_j,      A^T A c = A^T f by Cholesky
//
// A toss that ends on another face changes its loss by steps, so that a mean over tosses has no derivative
// and many small minima; the quadratic through many points of a box averages the steps. Fails: a direction
// without curvature ends at a face of the box.
#include "fit/bowl.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

int cr__bowl_terms(int dim) { return (dim + 1) * (dim + 2) / 2; }

static void scaled(const crBowl* b, const double* x, double* y) {
    for (int i = 0; i < b->dim; i++) {
        double half = 0.5 * (b->hi[i] - b->lo[i]);
        y[i] = half > 0.0 ? (x[i] - b->lo[i]) / half - 1.0 : 0.0;
    }
}

static void terms_of(const crBowl* b, const double* x, double* t) {
    double y[CR_SEARCH_DIM];
    scaled(b, x, y);
    int n = 0;
    t[n++] = 1.0;
    for (int i = 0; i < b->dim; i++) {
        t[n++] = y[i];
    }
    for (int i = 0; i < b->dim; i++) {
        for (int j = i; j < b->dim; j++) {
            t[n++] = y[i] * y[j];
        }
    }
}

// x of A x = b in place of b, A (n*n, lower part) by Cholesky
static void solve(double* A, int n, double* b) {
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++) {
                sum -= A[i * n + k] * A[j * n + k];
            }
            A[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / A[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            b[i] -= A[i * n + k] * b[k];
        }
        b[i] /= A[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; k++) {
            b[i] -= A[k * n + i] * b[k];
        }
        b[i] /= A[i * n + i];
    }
}

void cr__bowl_fit(const double* x, const double* f, int count, crBowl* bowl) {
    double A[CR_BOWL_TERMS * CR_BOWL_TERMS] = {0};
    double t[CR_BOWL_TERMS];
    int n = cr__bowl_terms(bowl->dim);
    memset(bowl->c, 0, sizeof bowl->c);
    for (int p = 0; p < count; p++) {
        terms_of(bowl, &x[p * bowl->dim], t);
        for (int i = 0; i < n; i++) {
            bowl->c[i] += t[i] * f[p];
            for (int j = 0; j <= i; j++) {
                A[i * n + j] += t[i] * t[j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        A[i * n + i] += 1e-9 * (count + 1);
    }
    solve(A, n, bowl->c);
}

// slope and curvature along coordinate k at y with y_k = 0
static void along(const crBowl* b, const double* y, int k, double* slope, double* curve) {
    int n = 1 + b->dim;
    *slope = b->c[1 + k];
    for (int i = 0; i < b->dim; i++) {
        for (int j = i; j < b->dim; j++, n++) {
            if (i == k && j == k) *curve = b->c[n];
            if (i == k && j != k) *slope += b->c[n] * y[j];
            if (j == k && i != k) *slope += b->c[n] * y[i];
        }
    }
}

void cr__bowl_least(const crBowl* b, double* x) {
    double y[CR_SEARCH_DIM];
    scaled(b, x, y);
    bool moved = true;
    for (int sweep = 0; sweep < 200 && moved; sweep++) {
        moved = false;
        for (int k = 0; k < b->dim; k++) {
            double slope = 0.0, curve = 0.0;
            along(b, y, k, &slope, &curve);
            double at = curve > 0.0 ? fmin(1.0, fmax(-1.0, -0.5 * slope / curve)) : slope > 0.0 ? -1.0 : 1.0;
            moved |= fabs(at - y[k]) > 1e-9;
            y[k] = at;
        }
    }
    for (int i = 0; i < b->dim; i++) {
        x[i] = b->lo[i] + 0.5 * (b->hi[i] - b->lo[i]) * (1.0 + y[i]);
    }
}
