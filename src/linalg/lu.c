// lu.c - Gaussian elimination with partial pivoting, P A = L U, and complete pivoting, P A Q = L U (Golub and
// Van Loan, 3.4). Complete pivoting also tells the rank, and solves consistent equations of a singular
// matrix. Fails: a column without a pivot above rounding noise makes the partial one return false.
#include "lu.h"

#include <math.h>
#include <stddef.h>

static double largest_entry(const double* A, size_t count) {
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(A[i]));
    }
    return largest;
}

static void swap_rows(double* a, double* b, size_t n) {
    for (size_t j = 0; j < n; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

static inline void subtract_lu(double share, const double* restrict row, size_t count,
                               double* restrict from) {
    for (size_t j = 0; j < count; j++) {
        from[j] -= share * row[j];
    }
}

bool cr__lu(double* A, int size, double tol, int* order) {
    size_t n = (size_t)size;
    double floor_pivot = tol > 0.0 ? tol * largest_entry(A, n * n) : 0.0;
    for (int i = 0; i < size; i++) {
        order[i] = i;
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < n; i++) {
            if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
        }
        double pivot = A[best * n + k];
        if (!(fabs(pivot) > floor_pivot) || !isfinite(pivot)) return false;
        if (best != k) {
            swap_rows(A + best * n, A + k * n, n);
            int t = order[best];
            order[best] = order[k];
            order[k] = t;
        }
        const double* row = A + k * n;
        for (size_t i = k + 1; i < n; i++) {
            double* target = A + i * n;
            double f = target[k] / pivot;
            target[k] = f;
            if (f == 0.0) continue;
            subtract_lu(f, row + k + 1, n - k - 1, target + k + 1);
        }
    }
    return true;
}

void cr__lu_solve(const double* LU, int size, const int* order, const double* b, double* x) {
    size_t n = (size_t)size;
    for (size_t i = 0; i < n; i++) {
        double sum = b[order[i]];
        for (size_t k = 0; k < i; k++) {
            sum -= LU[i * n + k] * x[k];
        }
        x[i] = sum;
    }
    for (size_t i = n; i-- > 0;) {
        double sum = x[i];
        for (size_t k = i + 1; k < n; k++) {
            sum -= LU[i * n + k] * x[k];
        }
        x[i] = sum / LU[i * n + i];
    }
}

static void swap_columns(double* A, size_t n, size_t a, size_t b) {
    for (size_t i = 0; i < n; i++) {
        double t = A[i * n + a];
        A[i * n + a] = A[i * n + b];
        A[i * n + b] = t;
    }
}

static void swap_ints(int* a, int* b) {
    int t = *a;
    *a = *b;
    *b = t;
}

int cr__lu_complete(double* A, int size, double tol, int* rows, int* cols) {
    size_t n = (size_t)size;
    double first = 0.0;
    for (int i = 0; i < size; i++) {
        rows[i] = cols[i] = i;
    }
    for (size_t k = 0; k < n; k++) {
        size_t r = k, c = k;
        for (size_t i = k; i < n; i++) {
            for (size_t j = k; j < n; j++) {
                if (!(fabs(A[i * n + j]) > fabs(A[r * n + c]))) continue;
                r = i;
                c = j;
            }
        }
        double pivot = A[r * n + c];
        if (k == 0) first = fabs(pivot);
        if (!(fabs(pivot) > tol * first) || !isfinite(pivot)) return (int)k;
        swap_rows(A + r * n, A + k * n, n);
        swap_columns(A, n, c, k);
        swap_ints(&rows[r], &rows[k]);
        swap_ints(&cols[c], &cols[k]);
        for (size_t i = k + 1; i < n; i++) {
            double f = A[i * n + k] / pivot;
            A[i * n + k] = f;
            if (f == 0.0) continue;
            for (size_t j = k + 1; j < n; j++) {
                A[i * n + j] -= f * A[k * n + j];
            }
        }
    }
    return size;
}

void cr__lu_complete_solve(const double* LU, int size, int rank, const int* rows, const int* cols,
                           const double* b, double* work, double* x) {
    size_t n = (size_t)size;
    for (size_t i = 0; i < (size_t)rank; i++) {
        work[i] = b[rows[i]];
        for (size_t k = 0; k < i; k++) {
            work[i] -= LU[i * n + k] * work[k];
        }
    }
    for (size_t i = (size_t)rank; i-- > 0;) {
        for (size_t k = i + 1; k < (size_t)rank; k++) {
            work[i] -= LU[i * n + k] * work[k];
        }
        work[i] /= LU[i * n + i];
    }
    for (int i = 0; i < size; i++) {
        x[cols[i]] = i < rank ? work[i] : 0.0;
    }
}
