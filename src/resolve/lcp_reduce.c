// lcp_reduce.c - scaling a mixed LCP and solving its free variables out.
//
// Variables and rows are scaled alike by powers of two that bring the diagonal of M near one (zero diagonals:
// the largest entry coupling them to scaled variables), which changes no digit. Free variables are then
// pivoted into the dictionary of w = M z + q against the equality rows, largest pivot first; their rows give
// them back at the end. Where the equality block is singular the free variables left over are written as x+ -
// x- with their rows taken twice with both signs, which is an LCP with the same solutions; leftover pairs of
// rows and columns that are zero to rounding are dropped. Fails: a zero row with a constant left cannot be
// met: inconsistent.
#include "lcp.h"
#include "linalg/lu.h"

#include <string.h>

// entries of leftover rows and columns below this are what is left of cancelled numbers
#define NOISE 1e-12
// those below this are rounding and nothing else
#define ROUNDING 1e-14
// and so are, times the largest entry met, entries of the other rows
#define CANCELLED 1e-14

double cr__power_of_two(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent - 1);
}

// scale (n): about 1/sqrt(M_ii), then for zero diagonals 1/(largest scaled coupling)
static void choose_scale(const crLcp* lcp, double* scale) {
    size_t n = (size_t)lcp->n;
    for (size_t i = 0; i < n; i++) {
        double diagonal = fabs(lcp->M[i * n + i]);
        scale[i] = diagonal > 0.0 ? cr__power_of_two(1.0 / sqrt(diagonal)) : 0.0;
    }
    for (size_t i = 0; i < n; i++) {
        if (lcp->M[i * n + i] != 0.0) continue;
        double coupling = 0.0;
        for (size_t j = 0; j < n; j++) {
            if (lcp->M[j * n + j] == 0.0) continue;
            double largest = fmax(fabs(lcp->M[i * n + j]), fabs(lcp->M[j * n + i]));
            coupling = fmax(coupling, largest * scale[j]);
        }
        scale[i] = coupling > 0.0 && isfinite(1.0 / coupling) ? cr__power_of_two(1.0 / coupling) : 1.0;
    }
}

// row r (an equality or free variable) and column c change places in T (n*(n+1))
static void exchange_reduce(double* T, size_t n, size_t r, size_t c) {
    size_t width = n + 1;
    double* pivot_row = T + r * width;
    double inverse = 1.0 / pivot_row[c];
    for (size_t k = 0; k < width; k++) {
        pivot_row[k] *= -inverse;
    }
    // the equality's w is zero for good: its column is not kept
    pivot_row[c] = 0.0;
    for (size_t i = 0; i < n; i++) {
        double* row = T + i * width;
        double f = row[c];
        if (i == r || f == 0.0) continue;
        row[c] = 0.0;
        for (size_t k = 0; k < width; k++) {
            row[k] += f * pivot_row[k];
        }
    }
}

// pivots free variables in while pivots above noise are left; done marks rows and pivot_row columns used up
static void eliminate(const crLcp* lcp, crLcpReduced* reduced, bool* row_done) {
    size_t n = (size_t)lcp->n;
    size_t free_count = (size_t)lcp->free_count;
    for (size_t k = 0; k < free_count; k++) {
        size_t r = n, c = n;
        double largest = NOISE;
        for (size_t i = 0; i < free_count; i++) {
            for (size_t j = 0; j < free_count && !row_done[i]; j++) {
                double size = fabs(reduced->T[i * (n + 1) + j]);
                if (reduced->pivot_row[j] >= 0 || !(size > largest)) continue;
                largest = size;
                r = i;
                c = j;
            }
        }
        if (r == n) return;
        exchange_reduce(reduced->T, n, r, c);
        row_done[r] = true;
        reduced->pivot_row[c] = (int)r;
    }
}

// rows and columns of free variables that found no partner, cleaned of noise
typedef struct Leftover {
    int count;
    int* row;  // equality rows (count)
    int* col;  // free variables (count)
} Leftover;

static void find_leftover(const crLcp* lcp, crLcpReduced* reduced, const bool* row_done, Leftover* left) {
    size_t width = (size_t)lcp->n + 1;
    int rows = 0;
    left->count = 0;
    for (int i = 0; i < lcp->free_count; i++) {
        if (!row_done[i]) left->row[rows++] = i;
        if (reduced->pivot_row[i] < 0) left->col[left->count++] = i;
    }
    for (int k = 0; k < rows; k++) {
        double* row = reduced->T + (size_t)left->row[k] * width;
        for (int j = 0; j < lcp->n; j++) {
            reduced->doubtful = reduced->doubtful || (fabs(row[j]) <= NOISE && fabs(row[j]) > ROUNDING);
            if (j < lcp->free_count || fabs(row[j]) <= NOISE) row[j] = 0.0;
        }
        for (int i = lcp->free_count; i < lcp->n; i++) {
            double* entry = reduced->T + (size_t)i * width + left->col[k];
            if (fabs(*entry) <= NOISE) *entry = 0.0;
        }
    }
}

// Leftover equalities may be combined freely. With C their coefficients and D the columns of the leftover
// free variables, S = -D^T C^T (C C^T)^-1 brings S C nearest to -D^T: the skew form in which a semidefinite
// problem stays semidefinite, without which Lemke's method may end on a ray. Left as they are where S does
// not exist.
static void make_skew(const crLcp* lcp, crLcpReduced* reduced, const Leftover* left, double* work,
                      int* order) {
    size_t n = (size_t)lcp->n, k = (size_t)left->count, first = (size_t)lcp->free_count;
    double* G = work;
    double* S = G + k * k;
    double* rhs = S + k * k;
    double* rows = rhs + k;
    for (size_t a = 0; a < k; a++) {
        memcpy(rows + a * (n + 1), reduced->T + (size_t)left->row[a] * (n + 1), (n + 1) * sizeof(double));
    }
    for (size_t a = 0; a < k; a++) {
        for (size_t b = 0; b < k; b++) {
            G[a * k + b] = 0.0;
            for (size_t j = first; j < n; j++) {
                G[a * k + b] += rows[a * (n + 1) + j] * rows[b * (n + 1) + j];
            }
        }
    }
    if (!cr__lu(G, left->count, NOISE, order)) return;
    for (size_t f = 0; f < k; f++) {
        for (size_t a = 0; a < k; a++) {
            rhs[a] = 0.0;
            for (size_t j = first; j < n; j++) {
                rhs[a] -= rows[a * (n + 1) + j] * reduced->T[j * (n + 1) + (size_t)left->col[f]];
            }
        }
        cr__lu_solve(G, left->count, order, rhs, S + f * k);
    }
    memcpy(G, S, k * k * sizeof(double));
    if (!cr__lu(G, left->count, NOISE, order)) return;
    for (size_t f = 0; f < k; f++) {
        double* row = reduced->T + (size_t)left->row[f] * (n + 1);
        memset(row, 0, (n + 1) * sizeof(double));
        for (size_t a = 0; a < k; a++) {
            for (size_t j = first; j <= n; j++) {
                row[j] += S[f * k + a] * rows[a * (n + 1) + j];
            }
        }
    }
}

// Elimination leaves rounding where numbers cancel; in a semidefinite problem of low rank it would be all
// that is left of whole rows, and pivoting would take it for data.
static void clean_rows(const crLcp* lcp, crLcpReduced* reduced, double constants) {
    size_t width = (size_t)lcp->n + 1;
    double largest = 1.0;
    for (size_t i = 0; i < (size_t)lcp->n * width; i++) {
        if (i % width != width - 1) largest = fmax(largest, fabs(reduced->T[i]));
    }
    for (int i = lcp->free_count; i < lcp->n; i++) {
        double* row = reduced->T + (size_t)i * width;
        for (size_t j = 0; j < width; j++) {
            double noise = CANCELLED * largest * (j < width - 1 ? 1.0 : constants);
            // a constant that elimination left of much larger ones has few digits
            bool constant = j == width - 1 && row[j] != 0.0;
            if (constant && fabs(row[j]) < CR_LCP_CLEAR * constants) reduced->doubtful = true;
            if (fabs(row[j]) <= noise) row[j] = 0.0;
        }
    }
}

static bool pair_is_zero(const crLcp* lcp, const crLcpReduced* reduced, int r, int c) {
    size_t width = (size_t)lcp->n + 1;
    for (int j = lcp->free_count; j < lcp->n; j++) {
        if (reduced->T[(size_t)r * width + (size_t)j] != 0.0) return false;
        if (reduced->T[(size_t)j * width + (size_t)c] != 0.0) return false;
    }
    return true;
}

// lists the variables of the standard form and the row of T each one's w comes from
static void list_variables(const crLcp* lcp, crLcpReduced* reduced, const Leftover* left, double size,
                           int* source) {
    int count = 0;
    for (int i = lcp->free_count; i < lcp->n; i++) {
        reduced->variable[count] = i;
        reduced->sign[count] = 1.0;
        source[count++] = i;
    }
    for (int k = 0; k < left->count; k++) {
        double* constant = &reduced->T[(size_t)left->row[k] * ((size_t)lcp->n + 1) + (size_t)lcp->n];
        if (fabs(*constant) <= NOISE * size) *constant = 0.0;
        if (pair_is_zero(lcp, reduced, left->row[k], left->col[k])) {
            if (*constant != 0.0) reduced->inconsistent = true;
            if (*constant != 0.0 && fabs(*constant) < CR_LCP_CLEAR * size) reduced->doubtful = true;
            continue;
        }
        reduced->pairs++;
        for (int part = 0; part < 2; part++) {
            reduced->variable[count] = left->col[k];
            reduced->sign[count] = part == 0 ? 1.0 : -1.0;
            source[count++] = left->row[k];
        }
    }
    reduced->n = count;
}

static void gather(const crLcp* lcp, crLcpReduced* reduced, const int* source) {
    size_t width = (size_t)lcp->n + 1;
    size_t m = (size_t)reduced->n;
    for (size_t i = 0; i < m; i++) {
        const double* row = reduced->T + (size_t)source[i] * width;
        for (size_t j = 0; j < m; j++) {
            reduced->M[i * m + j] = reduced->sign[i] * reduced->sign[j] * row[reduced->variable[j]];
        }
        reduced->q[i] = reduced->sign[i] * row[lcp->n];
    }
}

static bool allocate(const crLcp* lcp, crArena* arena, crLcpReduced* reduced) {
    size_t n = (size_t)lcp->n;
    size_t most = n + (size_t)lcp->free_count;
    reduced->T = cr_arena_alloc(arena, n * (n + 1) * sizeof(double));
    reduced->M = cr_arena_alloc(arena, most * most * sizeof(double));
    reduced->q = cr_arena_alloc(arena, most * sizeof(double));
    reduced->sign = cr_arena_alloc(arena, most * sizeof(double));
    reduced->scale = cr_arena_alloc(arena, n * sizeof(double));
    reduced->pivot_row = cr_arena_alloc(arena, n * sizeof(int));
    reduced->variable = cr_arena_alloc(arena, most * sizeof(int));
    return reduced->T != NULL && reduced->M != NULL && reduced->q != NULL && reduced->sign != NULL &&
           reduced->scale != NULL && reduced->pivot_row != NULL && reduced->variable != NULL;
}

// everything that follows the elimination
static crStatus make_standard(const crLcp* lcp, crArena* arena, crLcpReduced* reduced, const bool* row_done,
                              double size) {
    size_t n = (size_t)lcp->n, f = (size_t)lcp->free_count;
    Leftover left = {.row = cr_arena_alloc(arena, f * sizeof(int)),
                     .col = cr_arena_alloc(arena, f * sizeof(int))};
    int* source = cr_arena_alloc(arena, (n + f) * sizeof(int));
    if (left.row == NULL || left.col == NULL || source == NULL) return CR_ERR_MEMORY;
    if (f > 0) clean_rows(lcp, reduced, size);
    find_leftover(lcp, reduced, row_done, &left);
    if (left.count > 0) {
        size_t k = (size_t)left.count;
        double* work = cr_arena_alloc(arena, (2 * k * k + k + k * (n + 1)) * sizeof(double));
        int* order = cr_arena_alloc(arena, k * sizeof(int));
        if (work == NULL || order == NULL) return CR_ERR_MEMORY;
        make_skew(lcp, reduced, &left, work, order);
    }
    list_variables(lcp, reduced, &left, size, source);
    gather(lcp, reduced, source);
    return CR_OK;
}

// true where entries of the matrix (n of n + 1 columns) differ by more than nine decades: sums lose the small ones
static bool spans_decades(const double* T, size_t n) {
    double least = (double)INFINITY, most = 0.0;
    for (size_t i = 0; i < n * (n + 1); i++) {
        if (i % (n + 1) == n || T[i] == 0.0) continue;
        least = fmin(least, fabs(T[i]));
        most = fmax(most, fabs(T[i]));
    }
    return most > 1e9 * least;
}

crStatus cr__lcp_reduce(const crLcp* lcp, crArena* arena, crLcpReduced* reduced) {
    *reduced = (crLcpReduced){0};
    size_t n = (size_t)lcp->n;
    bool* row_done = cr_arena_alloc(arena, n * sizeof(bool));
    if (!allocate(lcp, arena, reduced) || row_done == NULL) return CR_ERR_MEMORY;
    choose_scale(lcp, reduced->scale);
    double size = 0.0;
    for (size_t i = 0; i < n; i++) {
        double* row = reduced->T + i * (n + 1);
        for (size_t j = 0; j < n; j++) {
            row[j] = reduced->scale[i] * lcp->M[i * n + j] * reduced->scale[j];
        }
        row[n] = reduced->scale[i] * lcp->q[i];
        size = fmax(size, fabs(row[n]));
        row_done[i] = false;
        reduced->pivot_row[i] = -1;
    }
    reduced->doubtful = spans_decades(reduced->T, n);
    eliminate(lcp, reduced, row_done);
    return make_standard(lcp, arena, reduced, row_done, size);
}

void cr__lcp_expand(const crLcp* lcp, const crLcpReduced* reduced, const double* x, double* z) {
    size_t n = (size_t)lcp->n;
    memset(z, 0, n * sizeof(double));
    for (int k = 0; k < reduced->n; k++) {
        z[reduced->variable[k]] += reduced->sign[k] * x[k];
    }
    // rows of T hold eliminated variables over the others, whose columns are all that is not zero
    for (int j = 0; j < lcp->free_count; j++) {
        if (reduced->pivot_row[j] < 0) continue;
        const double* row = reduced->T + (size_t)reduced->pivot_row[j] * (n + 1);
        double sum = row[n];
        for (size_t k = 0; k < n; k++) {
            bool other = k >= (size_t)lcp->free_count || reduced->pivot_row[k] < 0;
            if (other) sum += row[k] * z[k];
        }
        z[j] = sum;
    }
    for (size_t j = 0; j < n; j++) {
        z[j] *= reduced->scale[j];
    }
}
