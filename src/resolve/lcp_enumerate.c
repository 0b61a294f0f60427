// lcp_enumerate.c - every solution of a small LCP, by trying all 2^n supports.
//
// A support F says which z may differ from zero: M_FF z_F = -q_F, and z_F >= 0, w >= 0 decide. A singular
// M_FF with consistent equations has a plane of candidates: the least norm one, z = A^T (A A^T)^-1 b over the
// independent rows, is tried first, then any point by Lemke's method on the linear program's LCP. Solutions
// are not isolated if one can be moved along a null vector of M_FF, or if two of them are complementary to
// each other, since then all points between them are solutions. No support with a solution: there is none, by
// exhaustion, unless one was missed by little (close). Source: Murty 1988, 1.4; Cottle, Pang and Stone 3.1.
// Fails: comparisons are to 1e-9 of the numbers at hand.
#include "lcp.h"
#include "linalg/lu.h"

#include <string.h>

#define MOST      CR_LCP_ENUMERATE_MAX
#define TOL       1e-9
#define RANK_TOL  1e-11
#define ROUNDING  1e-14  // pivots below are rounding
#define DOUBTFUL  1e-8   // pivots above are data
#define LP_MOST   (3 * MOST)
#define LP_PIVOTS 2000

typedef struct Search {
    int n;
    const double* M;
    const double* q;
    double size;    // largest |q|
    int pairs;      // the last 2*pairs variables are halves of free ones
    double* lp;     // matrix, constant, point and work of the linear programs
    int* lp_order;  //
    int capacity;
    double* solutions;  // (capacity*n)
    crLcpSolutions* out;
} Search;

// the equations of one support
typedef struct Support {
    int count;        // of F
    int index[MOST];  // F
    int rank;         // of M_FF
    double A[MOST *
             MOST];  // M_FF reduced to [I B; 0 0] over permuted rows and columns, B in columns from rank on
    double b[MOST];  // and its right side
    int row[MOST];   // permutation of the rows: the first `rank` are independent
    int col[MOST];   // of the columns
} Support;

static double norm(const double* z, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += z[i] * z[i];
    }
    return sqrt(sum);
}

static double largest(const double* z, int n) {
    double m = 0.0;
    for (int i = 0; i < n; i++) {
        m = fmax(m, fabs(z[i]));
    }
    return m;
}

static void multiply(const Search* s, const double* z, const double* constant, double* w) {
    for (int i = 0; i < s->n; i++) {
        w[i] = constant != NULL ? constant[i] : 0.0;
        for (int j = 0; j < s->n; j++) {
            w[i] += s->M[i * s->n + j] * z[j];
        }
    }
}

// z >= 0 and w >= 0 up to the tolerance; small negative z are set to zero
static bool accept(const Search* s, double* z) {
    double w[MOST], worst = 0.0;
    double z_size = largest(z, s->n);
    multiply(s, z, s->q, w);
    for (int i = 0; i < s->n; i++) {
        if (z[i] < 0.0) worst = fmax(worst, -z[i] / z_size);
        if (w[i] < 0.0) worst = fmax(worst, -w[i] / s->size);
        if (!isfinite(w[i])) worst = (double)INFINITY;
    }
    if (!(worst <= TOL)) {
        if (worst <= CR_LCP_CLEAR) s->out->close = true;
        return false;
    }
    for (int i = 0; i < s->n; i++) {
        z[i] = fmax(0.0, z[i]);
    }
    return true;
}

static void swap_int(int* a, int* b) {
    int t = *a;
    *a = *b;
    *b = t;
}

// Gauss-Jordan with complete pivoting; false where the equations contradict each other
static bool reduce_enumerate(const Search* s, Support* f) {
    int n = f->count;
    double size = 0.0, least = 0.0;
    for (int i = 0; i < n; i++) {
        f->row[i] = f->col[i] = i;
        f->b[i] = -s->q[f->index[i]];
        for (int j = 0; j < n; j++) {
            f->A[i * n + j] = s->M[f->index[i] * s->n + f->index[j]];
            size = fmax(size, fabs(f->A[i * n + j]));
        }
    }
    for (f->rank = 0; f->rank < n; f->rank++) {
        int k = f->rank, r = k, c = k;
        for (int i = k; i < n; i++) {
            for (int j = k; j < n; j++) {
                if (fabs(f->A[i * n + j]) > fabs(f->A[r * n + c])) {
                    r = i;
                    c = j;
                }
            }
        }
        least = fabs(f->A[r * n + c]);
        if (!(least > RANK_TOL * size)) break;
        for (int j = 0; j < n; j++) {
            double t = f->A[r * n + j];
            f->A[r * n + j] = f->A[k * n + j];
            f->A[k * n + j] = t;
        }
        double t = f->b[r];
        f->b[r] = f->b[k];
        f->b[k] = t;
        for (int i = 0; i < n; i++) {
            t = f->A[i * n + c];
            f->A[i * n + c] = f->A[i * n + k];
            f->A[i * n + k] = t;
        }
        swap_int(&f->row[r], &f->row[k]);
        swap_int(&f->col[c], &f->col[k]);
        double inverse = 1.0 / f->A[k * n + k];
        for (int j = k; j < n; j++) {
            f->A[k * n + j] *= inverse;
        }
        f->b[k] *= inverse;
        for (int i = 0; i < n; i++) {
            double factor = f->A[i * n + k];
            if (i == k || factor == 0.0) continue;
            for (int j = k; j < n; j++) {
                f->A[i * n + j] -= factor * f->A[k * n + j];
            }
            f->b[i] -= factor * f->b[k];
        }
    }
    double broken = 0.0;
    for (int i = f->rank; i < n; i++) {
        broken = fmax(broken, fabs(f->b[i]));
    }
    // pivots between rounding and the tolerance leave the rank, and with it the verdict, open
    if (n > 0 && least > ROUNDING * size && least < DOUBTFUL * size) s->out->close = true;
    if (broken <= TOL * s->size) return true;
    if (broken <= CR_LCP_CLEAR * s->size) s->out->close = true;
    return false;
}

// the shortest z_F that meets the equations; false where rounding leaves none
static bool least_norm(const Search* s, const Support* f, double* z) {
    double G[MOST * MOST], rhs[MOST], y[MOST];
    int order[MOST];
    memset(z, 0, (size_t)s->n * sizeof(double));
    if (f->rank == f->count) {
        for (int i = 0; i < f->count; i++) {
            z[f->index[f->col[i]]] = f->b[i];
        }
        return true;
    }
    for (int a = 0; a < f->rank; a++) {
        const double* row_a = s->M + f->index[f->row[a]] * s->n;
        rhs[a] = -s->q[f->index[f->row[a]]];
        for (int b = 0; b < f->rank; b++) {
            const double* row_b = s->M + f->index[f->row[b]] * s->n;
            G[a * f->rank + b] = 0.0;
            for (int j = 0; j < f->count; j++) {
                G[a * f->rank + b] += row_a[f->index[j]] * row_b[f->index[j]];
            }
        }
    }
    if (!cr__lu(G, f->rank, 0.0, order)) return false;
    cr__lu_solve(G, f->rank, order, rhs, y);
    for (int j = 0; j < f->count; j++) {
        for (int a = 0; a < f->rank; a++) {
            z[f->index[j]] += s->M[f->index[f->row[a]] * s->n + f->index[j]] * y[a];
        }
    }
    return true;
}

// any z_F >= 0 with M_FF z_F = -q_F and w >= 0: the LCP (0, -C^T; C, 0) of C x >= -c, where equations are the
// rows that are in F, taken with both signs
static bool any_point(const Search* s, const Support* f, double* z) {
    int rows = 0;
    int m = f->count + s->n + f->count;
    double* K = s->lp;
    double* c = K + LP_MOST * LP_MOST;
    double* x = c + LP_MOST;
    double* work = x + LP_MOST;
    bool inside[MOST] = {false};
    memset(K, 0, (size_t)(m * m) * sizeof(double));
    memset(c, 0, (size_t)m * sizeof(double));
    for (int k = 0; k < f->count; k++) {
        inside[f->index[k]] = true;
    }
    for (int i = 0; i < s->n; i++) {
        for (int sign = 1; sign >= (inside[i] ? -1 : 1); sign -= 2) {
            int r = f->count + rows++;
            c[r] = sign * s->q[i];
            for (int k = 0; k < f->count; k++) {
                double entry = sign * s->M[i * s->n + f->index[k]];
                K[r * m + k] = entry;
                K[k * m + r] = -entry;
            }
        }
    }
    int pivots;
    if (cr__lemke(K, c, m, LP_PIVOTS, work, s->lp_order, x, NULL, NULL, &pivots) != CR_OUTCOME_SOLVED)
        return false;
    memset(z, 0, (size_t)s->n * sizeof(double));
    for (int k = 0; k < f->count; k++) {
        z[f->index[k]] = x[k];
    }
    return true;
}

// true where z + t d stays a solution for some t > 0
static bool can_move(const Search* s, const double* z, const double* d) {
    double w[MOST], dw[MOST];
    multiply(s, z, s->q, w);
    multiply(s, d, NULL, dw);
    double z_tol = TOL * largest(z, s->n), w_tol = TOL * s->size, d_tol = TOL * largest(d, s->n);
    for (int i = 0; i < s->n; i++) {
        if (z[i] <= z_tol && d[i] < -d_tol) return false;
        if (w[i] <= w_tol && dw[i] < -d_tol) return false;
    }
    return true;
}

// along the null vectors of M_FF, both ways
static bool in_a_face(const Search* s, const Support* f, const double* z) {
    for (int free = f->rank; free < f->count; free++) {
        for (double sign = 1.0; sign >= -1.0; sign -= 2.0) {
            double d[MOST] = {0};
            d[f->index[f->col[free]]] = sign;
            for (int i = 0; i < f->rank; i++) {
                d[f->index[f->col[i]]] = -sign * f->A[i * f->count + free];
            }
            if (can_move(s, z, d)) return true;
        }
    }
    return false;
}

static bool same(const double* a, const double* b, int n) {
    double tol = 10.0 * TOL * fmax(largest(a, n), largest(b, n));
    for (int i = 0; i < n; i++) {
        if (fabs(a[i] - b[i]) > tol) return false;
    }
    return true;
}

// z1.w2 = z2.w1 = 0: all points between are solutions
static bool cross_complementary(const Search* s, const double* a, const double* b) {
    double wa[MOST], wb[MOST];
    multiply(s, a, s->q, wa);
    multiply(s, b, s->q, wb);
    double tol = TOL * s->size * fmax(largest(a, s->n), largest(b, s->n));
    for (int i = 0; i < s->n; i++) {
        if (a[i] * wb[i] > tol || b[i] * wa[i] > tol) return false;
    }
    return true;
}

// counts z unless it is known; the list stays sorted by norm
static void keep(Search* s, const double* z) {
    size_t n = (size_t)s->n;
    for (int k = 0; k < s->out->stored; k++) {
        const double* other = s->solutions + (size_t)k * n;
        if (same(z, other, s->n)) return;
        if (cross_complementary(s, z, other)) s->out->face = true;
    }
    s->out->count++;
    int at = s->out->stored < s->capacity ? s->out->stored++ : s->capacity;
    while (at > 0 && norm(z, s->n) < norm(s->solutions + (size_t)(at - 1) * n, s->n)) {
        if (at < s->capacity) {
            memcpy(s->solutions + (size_t)at * n, s->solutions + (size_t)(at - 1) * n, n * sizeof(double));
        }
        at--;
    }
    if (at < s->capacity) memcpy(s->solutions + (size_t)at * n, z, n * sizeof(double));
}

static void try_support(Search* s, unsigned mask) {
    Support f = {0};
    double z[MOST];
    for (int i = 0; i < s->n; i++) {
        if ((mask >> i & 1u) == 0) continue;
        int half = i - (s->n - 2 * s->pairs);
        if (half >= 0 && half % 2 == 0 && (mask >> (i + 1) & 1u) != 0) return;
        f.index[f.count++] = i;
    }
    if (!reduce_enumerate(s, &f)) return;
    bool found = least_norm(s, &f, z) && accept(s, z);
    if (!found && f.rank < f.count) found = any_point(s, &f, z) && accept(s, z);
    if (!found) return;
    if (f.rank < f.count && in_a_face(s, &f, z)) s->out->face = true;
    keep(s, z);
}

crStatus cr__lcp_enumerate(const double* M, const double* q, int n, int pairs, crArena* arena, int capacity,
                           double* z, crLcpSolutions* solutions) {
    *solutions = (crLcpSolutions){0};
    if (n < 0 || n > MOST || capacity < 1) return CR_ERR_LIMIT;
    Search s = {
        .n = n, .pairs = pairs, .M = M, .q = q, .capacity = capacity, .solutions = z, .out = solutions};
    size_t doubles = LP_MOST * LP_MOST + 2 * LP_MOST + cr__lemke_work(LP_MOST);
    s.lp = cr_arena_alloc(arena, doubles * sizeof(double));
    s.lp_order = cr_arena_alloc(arena, cr__lemke_iwork(LP_MOST) * sizeof(int));
    if (s.lp == NULL || s.lp_order == NULL) return CR_ERR_MEMORY;
    s.size = largest(q, n);
    for (unsigned mask = 0; mask < 1u << n; mask++) {
        try_support(&s, mask);
    }
    return CR_OK;
}
