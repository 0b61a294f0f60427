// lcp_polish.c - the last digits of an LCP solution, and proofs that there is none.
//
// With the active set A (free variables and those with z > w) known, M_AA z_A = -q_A is solved by LU and refined
// with residuals summed in doubled precision; a singular M_AA gets a small multiple of the identity, which
// refinement takes out again where the equations are consistent. Infeasibility has Farkas' proof: y >= 0 with
// M^T y <= 0 and q.y < 0 makes y.(M z + q) negative for every z >= 0. Such y comes from Lemke's rays: for
// semidefinite M directly, else from the LCP of the linear program "z >= 0, M z + q >= 0".
// Fails: where the active set is wrong the refined z is worse, and the old one is kept.
#include "lcp.h"
#include "linalg/compensated.h"
#include "linalg/lu.h"

#include <string.h>

double cr__lcp_residual(const double* M, const double* q, int n, int free_count, const double* z) {
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        const double* row = M + (size_t)i * (size_t)n;
        double w = q[i];
        for (int j = 0; j < n; j++) {
            w += row[j] * z[j];
        }
        double r = fabs(i < free_count ? w : fmin(z[i], w));
        worst = r > worst || !(r == r) ? r : worst;
        if (!(r == r)) return (double)INFINITY;
    }
    return worst;
}

// variables that are not at zero: free, or z above w
static int active_set(const double* M, const double* q, int n, int free_count, const double* z, int* active) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        const double* row = M + (size_t)i * (size_t)n;
        double w = q[i];
        for (int j = 0; j < n; j++) {
            w += row[j] * z[j];
        }
        if (i < free_count || (z[i] > 0.0 && z[i] > w)) active[count++] = i;
    }
    return count;
}

static double largest_of(const double* x, size_t n) {
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

// LU of M over the active set, with `shift` added to its diagonal
static bool factor(const double* M, int n, const int* active, int count, double shift, double* LU,
                   int* order) {
    for (int a = 0; a < count; a++) {
        const double* row = M + (size_t)active[a] * (size_t)n;
        for (int b = 0; b < count; b++) {
            LU[a * count + b] = row[active[b]] + (a == b ? shift : 0.0);
        }
    }
    return cr__lu(LU, count, 1e-15, order);
}

double cr__lcp_polish(const double* M, const double* q, int n, int free_count, double* work, int* iwork,
                      double* z) {
    double best = cr__lcp_residual(M, q, n, free_count, z);
    int* active = iwork;
    int* order = active + n;
    double* LU = work;
    double* r = LU + (size_t)n * (size_t)n;
    double* dz = r + n;
    double* trial = dz + n;
    int count = active_set(M, q, n, free_count, z, active);
    double shift = 1e-10 * largest_of(M, (size_t)n * (size_t)n);
    if (!factor(M, n, active, count, 0.0, LU, order) && !factor(M, n, active, count, shift, LU, order)) {
        return best;
    }
    memset(trial, 0, (size_t)n * sizeof(double));
    for (int a = 0; a < count; a++) {
        trial[active[a]] = z[active[a]];
    }
    for (int round = 0; round < 8; round++) {
        for (int a = 0; a < count; a++) {
            int i = active[a];
            r[a] = -cr__dot_compensated(q[i], M + (size_t)i * (size_t)n, trial, n);
        }
        cr__lu_solve(LU, count, order, r, dz);
        for (int a = 0; a < count; a++) {
            trial[active[a]] += dz[a];
            if (active[a] >= free_count) trial[active[a]] = fmax(0.0, trial[active[a]]);
        }
        double residual = cr__lcp_residual(M, q, n, free_count, trial);
        if (residual < best) {
            best = residual;
            memcpy(z, trial, (size_t)n * sizeof(double));
        } else if (round > 1) {
            break;
        }
    }
    return best;
}

bool cr__lcp_certificate(const double* M, const double* q, int size, double* y) {
    size_t n = (size_t)size;
    double scale = 0.0;
    for (size_t i = 0; i < n; i++) {
        y[i] = fmax(0.0, y[i]);
        scale += y[i];
    }
    if (!(scale > 0.0) || !isfinite(scale)) return false;
    double constant = 0.0;
    double noise = 0.0;
    for (size_t i = 0; i < n; i++) {
        y[i] /= scale;
        constant += q[i] * y[i];
        noise += fabs(q[i]) * y[i];
    }
    if (!(constant < -1e-9 * noise)) return false;
    for (size_t j = 0; j < n; j++) {
        double sum = 0.0;
        double total = 0.0;
        for (size_t i = 0; i < n; i++) {
            sum += M[i * n + j] * y[i];
            total += fabs(M[i * n + j]) * y[i];
        }
        if (!(sum <= 1e-12 * total)) return false;
    }
    return true;
}

crStatus cr__lcp_infeasible(const double* M, const double* q, int n, crArena* arena, bool* found) {
    *found = false;
    size_t m = 2 * (size_t)n;
    size_t half = (size_t)n;
    double* K = cr_arena_alloc(arena, m * m * sizeof(double));
    double* work = cr_arena_alloc(arena, cr__lemke_work((int)m) * sizeof(double));
    int* iwork = cr_arena_alloc(arena, cr__lemke_iwork((int)m) * sizeof(int));
    double* c = cr_arena_alloc(arena, m * sizeof(double));
    double* x = cr_arena_alloc(arena, m * sizeof(double));
    double* ray = cr_arena_alloc(arena, m * sizeof(double));
    if (K == NULL || work == NULL || iwork == NULL || c == NULL || x == NULL || ray == NULL) {
        return CR_ERR_MEMORY;
    }
    // w = (-M^T y, M z + q) over (z, y)
    memset(K, 0, m * m * sizeof(double));
    for (size_t i = 0; i < half; i++) {
        c[i] = 0.0;
        c[half + i] = q[i];
        for (size_t j = 0; j < half; j++) {
            K[(half + i) * m + j] = M[i * half + j];
            K[j * m + half + i] = -M[i * half + j];
        }
    }
    int pivots;
    crOutcome outcome = cr__lemke(K, c, (int)m, 1000 + 10 * (int)m, work, iwork, x, ray, &pivots);
    *found = outcome == CR_OUTCOME_RAY && cr__lcp_certificate(M, q, n, ray + half);
    return CR_OK;
}
