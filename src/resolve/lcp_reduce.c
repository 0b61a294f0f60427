// lcp_reduce.c - scaling a mixed LCP and solving its free variables out.
//
// Variables and rows are scaled alike by powers of two that bring the diagonal of M near one (zero diagonals: the
// largest entry coupling them to scaled variables), which changes no digit. Free variables are then pivoted into
// the dictionary of w = M z + q against the equality rows, largest pivot first; their rows give them back at the
// end. Where the equality block is singular the free variables left over are written as x+ - x- with their
// rows taken twice with both signs, which is an LCP with the same solutions; leftover pairs of rows and columns
// that are zero to rounding are dropped. Fails: a zero row with a constant left cannot be met: inconsistent.
#include "lcp.h"

#include <string.h>

// entries of the scaled dictionary below this are what is left of cancelled numbers
#define NOISE 1e-12

static double power_of_two_near(double x) {
    int exponent;
    frexp(x, &exponent);
    return ldexp(1.0, exponent - 1);
}

// scale (n): about 1/sqrt(M_ii), then for zero diagonals 1/(largest scaled coupling)
static void choose_scale(const crLcp* lcp, double* scale) {
    size_t n = (size_t)lcp->n;
    for (size_t i = 0; i < n; i++) {
        double diagonal = fabs(lcp->M[i * n + i]);
        scale[i] = diagonal > 0.0 ? power_of_two_near(1.0 / sqrt(diagonal)) : 0.0;
    }
    for (size_t i = 0; i < n; i++) {
        if (lcp->M[i * n + i] != 0.0) continue;
        double coupling = 0.0;
        for (size_t j = 0; j < n; j++) {
            if (lcp->M[j * n + j] == 0.0) continue;
            double largest = fmax(fabs(lcp->M[i * n + j]), fabs(lcp->M[j * n + i]));
            coupling = fmax(coupling, largest * scale[j]);
        }
        scale[i] = coupling > 0.0 && isfinite(1.0 / coupling) ? power_of_two_near(1.0 / coupling) : 1.0;
    }
}

// row r (an equality or free variable) and column c change places in T (n*(n+1))
static void exchange(double* T, size_t n, size_t r, size_t c) {
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
        exchange(reduced->T, n, r, c);
        row_done[r] = true;
        reduced->pivot_row[c] = (int)r;
    }
}

// sets noise of a leftover equality row to zero; true where something is left of its coefficients
static bool clean_row(double* row, size_t n, size_t free_count) {
    bool any = false;
    for (size_t j = 0; j < n; j++) {
        if (j < free_count || fabs(row[j]) <= NOISE) row[j] = 0.0;
        any = any || row[j] != 0.0;
    }
    return any;
}

static bool clean_column(double* T, size_t n, size_t free_count, size_t j) {
    bool any = false;
    for (size_t i = free_count; i < n; i++) {
        double* entry = T + i * (n + 1) + j;
        if (fabs(*entry) <= NOISE) *entry = 0.0;
        any = any || *entry != 0.0;
    }
    return any;
}

// lists the variables of the standard form and the row of T each one's w comes from
static void list_variables(const crLcp* lcp, crLcpReduced* reduced, const bool* row_done,
                           double constant_noise, int* source) {
    size_t n = (size_t)lcp->n;
    size_t free_count = (size_t)lcp->free_count;
    int count = 0;
    for (size_t i = free_count; i < n; i++) {
        reduced->variable[count] = (int)i;
        reduced->sign[count] = 1.0;
        source[count++] = (int)i;
    }
    size_t r = 0;
    for (size_t j = 0; j < free_count; j++) {
        if (reduced->pivot_row[j] >= 0) continue;
        while (row_done[r]) {
            r++;
        }
        double* row = reduced->T + r * (n + 1);
        bool any = clean_row(row, n, free_count);
        if (fabs(row[n]) <= constant_noise) row[n] = 0.0;
        if (!any && row[n] != 0.0) reduced->inconsistent = true;
        if (clean_column(reduced->T, n, free_count, j) || any) {
            for (int k = 0; k < 2; k++) {
                reduced->variable[count] = (int)j;
                reduced->sign[count] = k == 0 ? 1.0 : -1.0;
                source[count++] = (int)r;
            }
        }
        r++;
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

static bool allocate(const crLcp* lcp, crArena* arena, crLcpReduced* reduced, bool** row_done, int** source) {
    size_t n = (size_t)lcp->n;
    size_t most = n + (size_t)lcp->free_count;
    reduced->T = cr_arena_alloc(arena, n * (n + 1) * sizeof(double));
    reduced->M = cr_arena_alloc(arena, most * most * sizeof(double));
    reduced->q = cr_arena_alloc(arena, most * sizeof(double));
    reduced->sign = cr_arena_alloc(arena, most * sizeof(double));
    reduced->scale = cr_arena_alloc(arena, n * sizeof(double));
    reduced->pivot_row = cr_arena_alloc(arena, n * sizeof(int));
    reduced->variable = cr_arena_alloc(arena, most * sizeof(int));
    *row_done = cr_arena_alloc(arena, n * sizeof(bool));
    *source = cr_arena_alloc(arena, most * sizeof(int));
    return reduced->T != NULL && reduced->M != NULL && reduced->q != NULL && reduced->sign != NULL &&
           reduced->scale != NULL && reduced->pivot_row != NULL && reduced->variable != NULL &&
           *row_done != NULL && *source != NULL;
}

crStatus cr__lcp_reduce(const crLcp* lcp, crArena* arena, crLcpReduced* reduced) {
    *reduced = (crLcpReduced){0};
    bool* row_done = NULL;
    int* source = NULL;
    if (!allocate(lcp, arena, reduced, &row_done, &source)) return CR_ERR_MEMORY;
    size_t n = (size_t)lcp->n;
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
    eliminate(lcp, reduced, row_done);
    list_variables(lcp, reduced, row_done, NOISE * size, source);
    gather(lcp, reduced, source);
    return CR_OK;
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
