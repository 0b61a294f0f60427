// lcp_polish.c - the last digits of an LCP solution, and proofs that there is none.
//
// With the active set A (free variables and basic ones, else those with z > w) known, M_AA z_A = -q_A is
// solved by LU and refined with residuals summed in doubled precision; where M_AA is singular, by complete
// pivoting on its independent rows, which settles the others too if they are consistent. Infeasibility has
// Farkas' proof: y >= 0 with M^T y <= 0 and q.y < 0 makes y.(M z + q) negative for every z >= 0. Such y comes
// from Lemke's rays: for semidefinite M directly, else from the LCP of the linear program "z >= 0, M z + q >=
// 0". Fails: where the active set is wrong the refined z is worse, and the old one is kept.
#include "lcp.h"
#include "linalg/compensated.h"
#include "linalg/lu.h"

#include <string.h>

// variables that are not at zero: free, or z above w
static int active_set(const double* M, const double* q, int n, int free_count, const unsigned char* basic,
                      const double* z, int* active) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (basic != NULL) {
            if (i < free_count || basic[i]) active[count++] = i;
            continue;
        }
        const double* row = M + (size_t)i * (size_t)n;
        double w = q[i];
        for (int j = 0; j < n; j++) {
            w += row[j] * z[j];
        }
        if (i < free_count || (z[i] > 0.0 && z[i] > w)) active[count++] = i;
    }
    return count;
}

// M over the active set, factored: by partial pivoting, or by complete pivoting up to its rank
typedef struct Factor {
    int count;
    int rank;
    bool complete;
    double* LU;    // (count*count)
    double* work;  // (count)
    int* active;   // (count)
    int* rows;     // (count)
    int* cols;     // (count)
} Factor;

static bool factor_polish(const double* M, int n, Factor* f) {
    for (int a = 0; a < f->count; a++) {
        const double* row = M + (size_t)f->active[a] * (size_t)n;
        for (int b = 0; b < f->count; b++) {
            f->LU[a * f->count + b] = row[f->active[b]];
        }
    }
    if (!f->complete) return cr__lu(f->LU, f->count, 1e-15, f->rows);
    f->rank = cr__lu_complete(f->LU, f->count, 1e-12, f->rows, f->cols);
    return f->rank > 0;
}

static void solve_polish(const Factor* f, const double* b, double* x) {
    if (f->complete) {
        cr__lu_complete_solve(f->LU, f->count, f->rank, f->rows, f->cols, b, f->work, x);
    } else {
        cr__lu_solve(f->LU, f->count, f->rows, b, x);
    }
}

// refinement of z from `best` on, as long as it helps; the residual reached
static double refine(const double* M, const double* q, int n, int free_count, const Factor* f, double best,
                     double* r, double* dz, double* trial, double* z) {
    memset(trial, 0, (size_t)n * sizeof(double));
    for (int a = 0; a < f->count; a++) {
        trial[f->active[a]] = z[f->active[a]];
    }
    for (int round = 0; round < 8 && best > 0.0; round++) {
        for (int a = 0; a < f->count; a++) {
            int i = f->active[a];
            r[a] = -cr__dot_compensated(q[i], M + (size_t)i * (size_t)n, trial, n);
        }
        solve_polish(f, r, dz);
        for (int a = 0; a < f->count; a++) {
            int i = f->active[a];
            trial[i] = i < free_count ? trial[i] + dz[a] : fmax(0.0, trial[i] + dz[a]);
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

double cr__lcp_magnitude(const double* M, const double* q, int n, const double* z) {
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        double sum = fabs(q[i]);
        for (int j = 0; j < n; j++) {
            sum += fabs(M[(size_t)i * (size_t)n + (size_t)j] * z[j]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

double cr__lcp_polish(const double* M, const double* q, int n, int free_count, const unsigned char* basic,
                      double* work, int* iwork, double* z) {
    double best = cr__lcp_residual(M, q, n, free_count, z);
    double* r = work + (size_t)n * (size_t)n;
    Factor f = {.LU = work, .work = r + n, .active = iwork, .rows = iwork + n, .cols = iwork + 2 * n};
    f.count = active_set(M, q, n, free_count, basic, z, f.active);
    if (f.count == 0) return best;
    if (factor_polish(M, n, &f)) best = refine(M, q, n, free_count, &f, best, r, r + 2 * n, r + 3 * n, z);
    if (best <= 2e-16 * cr__lcp_magnitude(M, q, n, z)) return best;
    // dependent equations: solve as many as there are
    f.complete = true;
    if (factor_polish(M, n, &f)) best = refine(M, q, n, free_count, &f, best, r, r + 2 * n, r + 3 * n, z);
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
    double needed = 0.0;  // largest velocity that z = 0 leaves wrong
    for (size_t i = 0; i < n; i++) {
        y[i] /= scale;
        constant += q[i] * y[i];
        needed = fmax(needed, -q[i]);
    }
    if (!(constant < -CR_LCP_CLEAR * needed)) return false;
    // what rounding leaves of M^T y, times the largest z_j that any row suggests, must be far from making up for it
    for (size_t j = 0; j < n; j++) {
        double sum = 0.0, total = 0.0, far = 0.0;
        for (size_t i = 0; i < n; i++) {
            double entry = M[i * n + j];
            sum += entry * y[i];
            total += fabs(entry) * y[i];
            if (entry != 0.0) far = fmax(far, fabs(q[i] / entry));
        }
        double rounding = 16.0 * 0x1p-52 * (double)(n + 4) * total;
        if (!(sum <= rounding) || !(1e3 * (double)n * (rounding + fmax(0.0, sum)) * far <= -constant))
            return false;
    }
    return true;
}

void cr__lcp_refine_ray(const double* M, int n, double* work, int* iwork, double* y) {
    double* LU = work;
    double* r = LU + (size_t)n * (size_t)n;
    double* dy = r + n;
    int* support = iwork;
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (y[i] > 0.0) support[count++] = i;
    }
    for (int a = 0; a < count; a++) {
        for (int b = 0; b < count; b++) {
            LU[a * count + b] = M[(size_t)support[b] * (size_t)n + (size_t)support[a]];
        }
    }
    int rank = cr__lu_complete(LU, count, 1e-9, iwork + n, iwork + 2 * n);
    for (int round = 0; round < 3; round++) {
        for (int a = 0; a < count; a++) {
            r[a] = 0.0;
            for (int b = 0; b < count; b++) {
                r[a] -= M[(size_t)support[b] * (size_t)n + (size_t)support[a]] * y[support[b]];
            }
        }
        cr__lu_complete_solve(LU, count, rank, iwork + n, iwork + 2 * n, r, dy + n, dy);
        for (int a = 0; a < count; a++) {
            y[support[a]] += dy[a];
        }
    }
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
    crOutcome outcome = cr__lemke(K, c, (int)m, 1000 + 10 * (int)m, work, iwork, x, NULL, ray, &pivots);
    *found = outcome == CR_OUTCOME_RAY && cr__lcp_certificate(M, q, n, ray + half);
    return CR_OK;
}
