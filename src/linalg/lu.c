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

// four rows at once, one below the other; each entry is subtracted from as subtract_lu does
static inline void subtract_lu_four(const double share[4], const double* restrict row, size_t count,
                                    double* restrict a, double* restrict b, double* restrict c,
                                    double* restrict d) {
    double s0 = share[0], s1 = share[1], s2 = share[2], s3 = share[3];
    for (size_t j = 0; j < count; j++) {
        double x = row[j];
        a[j] -= s0 * x;
        b[j] -= s1 * x;
        c[j] -= s2 * x;
        d[j] -= s3 * x;
    }
}

// rows below k lose their entries in column k and keep the factors there
static void eliminate_lu(double* A, size_t n, size_t k) {
    const double* row = A + k * n;
    size_t i = k + 1, count = n - k - 1;
    for (; i + 4 <= n; i += 4) {
        double share[4];
        double* target = A + i * n + k;
        bool all = true;
        for (size_t r = 0; r < 4; r++) {
            target[r * n] = share[r] = target[r * n] / row[k];
            all = all && share[r] != 0.0;
        }
        if (all) {
            subtract_lu_four(share, row + k + 1, count, target + 1, target + n + 1, target + 2 * n + 1,
                             target + 3 * n + 1);
            continue;
        }
        for (size_t r = 0; r < 4; r++) {
            if (share[r] != 0.0) subtract_lu(share[r], row + k + 1, count, target + r * n + 1);
        }
    }
    for (; i < n; i++) {
        double* target = A + i * n + k;
        *target /= row[k];
        if (*target != 0.0) subtract_lu(*target, row + k + 1, count, target + 1);
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
        double largest = fabs(A[k * n + k]);
        for (size_t i = k + 1; i < n; i++) {
            double entry = fabs(A[i * n + k]);
            bool more = entry > largest;
            best = more ? i : best;
            largest = more ? entry : largest;
        }
        double pivot = A[best * n + k];
        if (!(fabs(pivot) > floor_pivot) || !isfinite(pivot)) return false;
        if (best != k) {
            swap_rows(A + best * n, A + k * n, n);
            int t = order[best];
            order[best] = order[k];
            order[k] = t;
        }
        eliminate_lu(A, n, k);
    }
    return true;
}

void cr__lu_solve(const double* LU, int size, const int* order, const double* b, double* x) {
    size_t n = (size_t)size;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        // four sums at once, so that none waits for another; each takes its terms in order
        const double* row = LU + i * n;
        double s0 = b[order[i]], s1 = b[order[i + 1]], s2 = b[order[i + 2]], s3 = b[order[i + 3]];
        for (size_t k = 0; k < i; k++) {
            s0 -= row[k] * x[k];
            s1 -= row[n + k] * x[k];
            s2 -= row[2 * n + k] * x[k];
            s3 -= row[3 * n + k] * x[k];
        }
        s1 -= row[n + i] * s0;
        s2 = s2 - row[2 * n + i] * s0 - row[2 * n + i + 1] * s1;
        s3 = s3 - row[3 * n + i] * s0 - row[3 * n + i + 1] * s1 - row[3 * n + i + 2] * s2;
        x[i] = s0;
        x[i + 1] = s1;
        x[i + 2] = s2;
        x[i + 3] = s3;
    }
    for (; i < n; i++) {
        double sum = b[order[i]];
        for (size_t k = 0; k < i; k++) {
            sum -= LU[i * n + k] * x[k];
        }
        x[i] = sum;
    }
    for (i = n; i-- > 0;) {
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
