// semidefinite.c - eigenvalues of a small symmetric matrix and the pseudo-inverse they give.
//
// Cyclic Jacobi: each rotation zeroes one pair of entries off the diagonal; sweeps go on until all of them
// are lost in rounding against their diagonals. Source: Golub and Van Loan, Matrix Computations, section 8.5.
// Fails: never; 60 sweeps are many times what any matrix needs.
#include "linalg/semidefinite.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define RANK_TOL 1e-13

// the rotation of columns and rows p, q that zeroes A[p][q]
static void rotate(double* A, int n, double* vectors, int p, int q) {
    double apq = A[p * n + q];
    double theta = (A[q * n + q] - A[p * n + p]) / (2.0 * apq);
    double t = copysign(1.0, theta) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0);
    double s = t * c;
    for (int k = 0; k < n; k++) {
        double a = A[k * n + p];
        double b = A[k * n + q];
        A[k * n + p] = c * a - s * b;
        A[k * n + q] = s * a + c * b;
    }
    for (int k = 0; k < n; k++) {
        double a = A[p * n + k];
        double b = A[q * n + k];
        A[p * n + k] = c * a - s * b;
        A[q * n + k] = s * a + c * b;
        a = vectors[k * n + p];
        b = vectors[k * n + q];
        vectors[k * n + p] = c * a - s * b;
        vectors[k * n + q] = s * a + c * b;
    }
    A[p * n + q] = 0.0;
    A[q * n + p] = 0.0;
}

void cr__sym_eigen(double* A, int n, double* vectors) {
    memset(vectors, 0, (size_t)n * (size_t)n * sizeof *vectors);
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        vectors[i * n + i] = 1.0;
        for (int j = 0; j < n; j++) {
            largest = fmax(largest, fabs(A[i * n + j]));
        }
    }
    bool busy = true;
    for (int sweep = 0; busy && sweep < 60; sweep++) {
        busy = false;
        for (int p = 0; p < n - 1; p++) {
            for (int q = p + 1; q < n; q++) {
                // small against the geometric mean of the diagonal, or against all there is
                double size = sqrt(fabs(A[p * n + p] * A[q * n + q]));
                if (fabs(A[p * n + q]) <= fmax(1e-16 * size, 1e-18 * largest)) continue;
                rotate(A, n, vectors, p, q);
                busy = true;
            }
        }
    }
}

void cr__pseudo_inverse(double* A, int n, double* work) {
    double* values = work;
    double* vectors = work + (size_t)n * (size_t)n;
    memcpy(values, A, (size_t)n * (size_t)n * sizeof *values);
    cr__sym_eigen(values, n, vectors);
    double largest = 0.0;
    for (int k = 0; k < n; k++) {
        largest = fmax(largest, values[k * n + k]);
    }
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int k = 0; k < n; k++) {
        double value = values[k * n + k];
        if (!(value > RANK_TOL * largest)) continue;
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                A[i * n + j] += vectors[i * n + k] * vectors[j * n + k] / value;
            }
        }
    }
}

static double product(const double* a, const double* b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// From zero all iterates lie in the range of A, so that their limit has the least norm (Hestenes and Stiefel 1952).
bool cr__least_norm(const double* A, int n, const double* b, double tol, double* x, double* work) {
    double *r = work, *d = work + n, *Ad = work + 2 * n, size = product(b, b, n), left = size;
    for (int i = 0; i < n; i++) {
        x[i] = 0.0;
        r[i] = d[i] = b[i];
    }
    for (int made = 0; left > tol * tol * size && made < 4 * n; made++) {
        for (int i = 0; i < n; i++) {
            Ad[i] = product(A + (size_t)i * (size_t)n, d, n);
        }
        double curve = product(d, Ad, n);
        if (!(curve > 0.0)) return false;
        double step = left / curve, before = left;
        for (int i = 0; i < n; i++) {
            x[i] += step * d[i];
            r[i] -= step * Ad[i];
        }
        left = product(r, r, n);
        for (int i = 0; i < n; i++) {
            d[i] = r[i] + left / before * d[i];
        }
    }
    return left <= tol * tol * size;
}
