// test_sparse.c - minimum degree orders and sparse block factorizations.
//
// Solutions are compared with Gaussian elimination written here on the full matrix, and judged by their
// backward error |A x - b| / (|A| |x| + |b|), row by row.
#include "test.h"

#include "linalg/order.h"
#include "linalg/sparse.h"
#include "linalg/tile.h"
#include "sample.h"

#include <stdlib.h>

typedef struct Matrix {
    int count, rows;
    int* size;
    int* from;         // first row of each block (count + 1)
    int *start, *col;  // neighbours, each pair once
    double* A;         // full (rows*rows)
} Matrix;

static void matrix_free(Matrix* m) {
    free(m->size);
    free(m->from);
    free(m->start);
    free(m->col);
    free(m->A);
}

// random blocks of 1 to `most` rows, each with about `degree` neighbours among the last `band` blocks
static Matrix matrix_random(crRandom* random, int count, int most, int degree, int band) {
    Matrix m = {.count = count};
    m.size = calloc((size_t)count + 1, sizeof(int));
    m.from = calloc((size_t)count + 2, sizeof(int));
    m.start = calloc((size_t)count + 2, sizeof(int));
    m.col = calloc((size_t)count * (size_t)degree + 1, sizeof(int));
    for (int i = 0; i < count; i++) {
        m.size[i] = 1 + (int)(sample_bits(random) % (uint64_t)most);
        m.from[i + 1] = m.from[i] + m.size[i];
        m.start[i + 1] = m.start[i];
        for (int k = 0; k < degree && i > 0; k++) {
            int reach = i < band ? i : band;
            m.col[m.start[i + 1]++] = i - 1 - (int)(sample_bits(random) % (uint64_t)reach);
        }
    }
    m.rows = m.from[count];
    m.A = calloc((size_t)m.rows * (size_t)m.rows + 1, sizeof(double));
    return m;
}

// adds random numbers to a block of the full matrix; the mirror block is equal or random too
static void fill_pair(Matrix* m, crRandom* random, int i, int j, bool symmetric, double size) {
    size_t n = (size_t)m->rows;
    for (int a = m->from[i]; a < m->from[i + 1]; a++) {
        for (int b = m->from[j]; b < m->from[j + 1]; b++) {
            double x = size * sample_uniform(random, -1, 1);
            m->A[(size_t)a * n + (size_t)b] += x;
            m->A[(size_t)b * n + (size_t)a] += symmetric ? x : size * sample_uniform(random, -1, 1);
        }
    }
}

// A = sum of G^T G over neighbours (definite), or random with a diagonal that is not small (general)
static void matrix_fill(Matrix* m, crRandom* random, bool symmetric) {
    size_t n = (size_t)m->rows;
    for (int i = 0; i < m->count; i++) {
        for (int k = m->start[i]; k < m->start[i + 1]; k++) {
            fill_pair(m, random, i, m->col[k], symmetric, 1.0);
        }
        fill_pair(m, random, i, i, symmetric, 1.0);
    }
    for (size_t a = 0; a < n; a++) {
        double sum = 0.0;
        for (size_t b = 0; b < n; b++) {
            sum += fabs(m->A[a * n + b]);
        }
        if (symmetric) m->A[a * n + a] = sum + 0.1;
    }
}

static void matrix_copy(const Matrix* m, crSparse* s) {
    size_t n = (size_t)m->rows;
    cr__sparse_clear(s);
    for (int i = 0; i < m->count; i++) {
        for (int j = 0; j < m->count; j++) {
            double* block = cr__sparse_block(s, i, j);
            if (block == NULL) continue;
            // definite matrices share one place for both blocks of a pair: that on and below the diagonal
            if (s->Lt == NULL && s->place[i] < s->place[j]) continue;
            for (int a = 0; a < m->size[i]; a++) {
                for (int b = 0; b < m->size[j]; b++) {
                    *block++ = m->A[(size_t)(m->from[i] + a) * n + (size_t)(m->from[j] + b)];
                }
            }
        }
    }
}

static double backward_error(const Matrix* m, const double* x, const double* b) {
    size_t n = (size_t)m->rows;
    double worst = 0.0;
    for (size_t i = 0; i < n; i++) {
        double r = -b[i], size = fabs(b[i]);
        for (size_t j = 0; j < n; j++) {
            r += m->A[i * n + j] * x[j];
            size += fabs(m->A[i * n + j] * x[j]);
        }
        double error = size > 0.0 ? fabs(r) / size : 0.0;
        if (!(error <= worst)) worst = error;
    }
    return worst;
}

// Gaussian elimination with row exchanges on a copy; x receives the solution
static bool eliminate(const Matrix* m, const double* b, double* x) {
    size_t n = (size_t)m->rows;
    double* A = malloc(n * n * sizeof *A);
    memcpy(A, m->A, n * n * sizeof *A);
    memcpy(x, b, n * sizeof *x);
    bool ok = true;
    for (size_t c = 0; c < n && ok; c++) {
        size_t best = c;
        for (size_t r = c + 1; r < n; r++) {
            if (fabs(A[r * n + c]) > fabs(A[best * n + c])) best = r;
        }
        ok = A[best * n + c] != 0.0;
        for (size_t j = 0; j < n && best != c; j++) {
            double t = A[c * n + j];
            A[c * n + j] = A[best * n + j];
            A[best * n + j] = t;
        }
        double t = x[c];
        x[c] = x[best];
        x[best] = t;
        for (size_t r = c + 1; r < n && ok; r++) {
            double f = A[r * n + c] / A[c * n + c];
            for (size_t j = c; j < n; j++) {
                A[r * n + j] -= f * A[c * n + j];
            }
            x[r] -= f * x[c];
        }
    }
    for (size_t c = n; ok && c-- > 0;) {
        for (size_t j = c + 1; j < n; j++) {
            x[c] -= A[c * n + j] * x[j];
        }
        x[c] /= A[c * n + c];
    }
    free(A);
    return ok;
}

static void check_solution(const Matrix* m, crSparse* s, crRandom* random, double tol, double agree) {
    size_t n = (size_t)m->rows;
    double* b = calloc(n + 1, sizeof *b);
    double* x = calloc(n + 1, sizeof *x);
    double* y = calloc(n + 1, sizeof *y);
    for (size_t i = 0; i < n; i++) {
        x[i] = b[i] = sample_uniform(random, -1, 1);
    }
    cr__sparse_solve(s, x);
    double error = backward_error(m, x, b);
    test_check(error <= tol, __FILE__, __LINE__, "backward error %g of %d rows", error, m->rows);
    double difference = 0.0, size = 0.0;
    if (eliminate(m, b, y)) {
        for (size_t i = 0; i < n; i++) {
            difference = fmax(difference, fabs(x[i] - y[i]));
            size = fmax(size, fabs(y[i]));
        }
    }
    test_check(difference <= agree * size, __FILE__, __LINE__, "differs by %g of %g", difference, size);
    free(b);
    free(x);
    free(y);
}

static void check_random(uint64_t seed, bool general, int count, int most, int degree, int band) {
    crRandom random = sample_seed(seed);
    Matrix m = matrix_random(&random, count, most, degree, band);
    matrix_fill(&m, &random, !general);
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    crSparse s;
    CHECK_STATUS(cr__sparse_analyze(&s, count, m.size, m.start, m.col, general, &arena), CR_OK);
    matrix_copy(&m, &s);
    CHECK(cr__sparse_factor(&s, general ? CR_SPARSE_GENERAL : CR_SPARSE_DEFINITE) == -1);
    // a general matrix of random numbers is solved without exchanges across fronts: growth costs digits
    check_solution(&m, &s, &random, general ? 1e-9 : 1e-14, general ? 1e-6 : 1e-12);
    // factors of a definite matrix by the general method
    if (!general) {
        cr_arena_release(&arena, 0);
        CHECK_STATUS(cr__sparse_analyze(&s, count, m.size, m.start, m.col, true, &arena), CR_OK);
        matrix_copy(&m, &s);
        CHECK(cr__sparse_factor(&s, CR_SPARSE_GENERAL) == -1);
        check_solution(&m, &s, &random, 1e-14, 1e-12);
        CHECK(cr__sparse_factor(&s, CR_SPARSE_DEFINITE) == -1);
        check_solution(&m, &s, &random, 1e-14, 1e-12);
    }
    cr_arena_destroy(&arena);
    matrix_free(&m);
}

#if defined(__GNUC__) && !defined(CAROM_NO_VECTOR)
// tiles of eight and sixteen columns give the bits of two and four tiles of four
TEST(wide_tiles_change_no_bit) {
    crRandom random = sample_seed(77);
    for (int k = 0; k < 200; k++) {
        int depth = k % 13;
        double A[13 * 5], B[13 * 17], C[3][4 * 19];
        for (int i = 0; i < 13 * 17; i++) {
            B[i] = sample_uniform(&random, -1, 1);
            if (i < 13 * 5) A[i] = sample_uniform(&random, -1, 1);
            if (i < 4 * 19) C[0][i] = C[1][i] = C[2][i] = sample_uniform(&random, -1, 1);
        }
        tile_update_widest(C[0], 19, A, 5, B, 17, depth);
        for (int j = 0; j < 16; j += 4) {
            tile_update(C[1] + j, 19, A, 5, B + j, 17, depth);
            if (j % 8 == 0) tile_update_wide(C[2] + j, 19, A, 5, B + j, 17, depth);
        }
        CHECK(memcmp(C[0], C[1], sizeof C[0]) == 0);
        CHECK(memcmp(C[0], C[2], sizeof C[0]) == 0);
    }
}
#endif

TEST(definite_matrices_of_random_patterns) {
    crRandom random = sample_seed(1);
    for (int k = 0; k < 150; k++) {
        int count = (int)(sample_bits(&random) % 40), most = 1 + (int)(sample_bits(&random) % 9);
        check_random(100 + (uint64_t)k, false, count, most, 1 + k % 4, 1 + (int)(sample_bits(&random) % 40));
    }
    check_random(3, false, 90, 6, 3, 90);
}

TEST(general_matrices_of_random_patterns) {
    crRandom random = sample_seed(2);
    for (int k = 0; k < 150; k++) {
        int count = 1 + (int)(sample_bits(&random) % 30), most = 4 + (int)(sample_bits(&random) % 6);
        check_random(900 + (uint64_t)k, true, count, most, 1 + k % 3, 1 + (int)(sample_bits(&random) % 30));
    }
}

// rows and columns scaled by powers of two from 1e-90 to 1e90: every number of the factors scales with them
TEST(scaling_changes_no_digit) {
    crRandom random = sample_seed(5);
    Matrix m = matrix_random(&random, 30, 6, 3, 12);
    matrix_fill(&m, &random, true);
    size_t n = (size_t)m.rows;
    double* scale = malloc(n * sizeof *scale);
    double* x = malloc(2 * n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        scale[i] = ldexp(1.0, (int)(sample_bits(&random) % 600) - 300);
        x[i] = x[n + i] = sample_uniform(&random, -1, 1);
    }
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    crSparse s;
    CHECK_STATUS(cr__sparse_analyze(&s, m.count, m.size, m.start, m.col, false, &arena), CR_OK);
    matrix_copy(&m, &s);
    CHECK(cr__sparse_factor(&s, CR_SPARSE_DEFINITE) == -1);
    cr__sparse_solve(&s, x);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            m.A[i * n + j] *= scale[i] * scale[j];
        }
        x[n + i] *= scale[i];
    }
    matrix_copy(&m, &s);
    CHECK(cr__sparse_factor(&s, CR_SPARSE_DEFINITE) == -1);
    cr__sparse_solve(&s, x + n);
    for (size_t i = 0; i < n; i++) {
        CHECK(x[n + i] * scale[i] == x[i]);
    }
    cr_arena_destroy(&arena);
    free(scale);
    free(x);
    matrix_free(&m);
}

// a general matrix whose diagonal is zero within blocks: exchanges within a front find pivots
TEST(zero_diagonals_within_a_block_are_no_obstacle) {
    int size = 4, start[2] = {0, 0};
    double A[16] = {0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 5, 1};
    Matrix m = {.count = 1, .rows = 4, .size = &size, .from = (int[2]){0, 4}, .A = A};
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    crSparse s;
    crRandom random = sample_seed(8);
    CHECK_STATUS(cr__sparse_analyze(&s, 1, &size, start, start, true, &arena), CR_OK);
    matrix_copy(&m, &s);
    CHECK(cr__sparse_factor(&s, CR_SPARSE_GENERAL) == -1);
    check_solution(&m, &s, &random, 1e-15, 1e-14);
    cr_arena_destroy(&arena);
}

TEST(singular_blocks_are_named) {
    crRandom random = sample_seed(9);
    for (int k = 0; k < 40; k++) {
        Matrix m = matrix_random(&random, 12, 6, 2, 6);
        matrix_fill(&m, &random, true);
        size_t n = (size_t)m.rows;
        int bad = (int)(sample_bits(&random) % 12);
        // a block with no neighbours whose first two rows are equal, or whose row is zero
        for (int a = m.from[bad]; a < m.from[bad + 1]; a++) {
            for (size_t j = 0; j < n; j++) {
                m.A[(size_t)a * n + j] = m.A[j * n + (size_t)a] = 0.0;
            }
        }
        for (int a = m.from[bad]; a < m.from[bad + 1] && k % 2 == 0; a++) {
            for (int b = m.from[bad]; b < m.from[bad + 1]; b++) {
                bool twins = a < m.from[bad] + 2 && b < m.from[bad] + 2;
                m.A[(size_t)a * n + (size_t)b] = twins || a == b ? 1.0 : 0.0;
            }
        }
        bool singular = k % 2 == 1 || m.size[bad] > 1;
        crArena arena;
        cr_arena_create(&arena, NULL, 0);
        crSparse s;
        CHECK_STATUS(cr__sparse_analyze(&s, m.count, m.size, m.start, m.col, true, &arena), CR_OK);
        matrix_copy(&m, &s);
        CHECK(cr__sparse_factor(&s, CR_SPARSE_DEFINITE) == (singular ? bad : -1));
        CHECK(cr__sparse_factor(&s, CR_SPARSE_GENERAL) == (singular ? bad : -1));
        // not a number is never taken for a pivot
        m.A[(size_t)m.from[bad] * n + (size_t)m.from[bad]] = (double)NAN;
        matrix_copy(&m, &s);
        CHECK(cr__sparse_factor(&s, CR_SPARSE_GENERAL) >= 0);
        CHECK(cr__sparse_factor(&s, CR_SPARSE_DEFINITE) >= 0);
        cr_arena_destroy(&arena);
        matrix_free(&m);
    }
}

// entries of the factor by playing the elimination game on a full boolean matrix
static long play(int n, const int* start, const int* col, const int* order) {
    bool* A = calloc((size_t)n * (size_t)n, sizeof *A);
    bool* gone = calloc((size_t)n, sizeof *gone);
    long entries = 0;
    for (int i = 0; i < n; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) {
            A[i * n + col[k]] = A[col[k] * n + i] = true;
        }
    }
    for (int k = 0; k < n; k++) {
        int p = order[k];
        CHECK(!gone[p]);
        gone[p] = true;
        for (int i = 0; i < n; i++) {
            if (gone[i] || !A[p * n + i]) continue;
            entries++;
            for (int j = 0; j < n; j++) {
                if (j != i && !gone[j] && A[p * n + j]) A[i * n + j] = true;
            }
        }
    }
    free(A);
    free(gone);
    return entries;
}

static long entries_of(int n, const int* start, const int* col) {
    int* weight = malloc((size_t)n * sizeof *weight);
    int* order = malloc((size_t)n * sizeof *order);
    for (int i = 0; i < n; i++) {
        weight[i] = 1;
    }
    crArena arena;
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr__minimum_degree(n, weight, start, col, &arena, order), CR_OK);
    long entries = play(n, start, col, order);
    cr_arena_destroy(&arena);
    free(weight);
    free(order);
    return entries;
}

TEST(trees_have_no_fill) {
    crRandom random = sample_seed(11);
    for (int k = 0; k < 60; k++) {
        int n = 1 + (int)(sample_bits(&random) % 120);
        int* start = calloc((size_t)n + 1, sizeof *start);
        int* col = calloc((size_t)n, sizeof *col);
        for (int i = 1; i < n; i++) {
            // k = 0: a star, otherwise a random tree
            col[start[i]] = k == 0 ? 0 : (int)(sample_bits(&random) % (uint64_t)i);
            start[i + 1] = start[i] + 1;
        }
        CHECK(entries_of(n, start, col) == n - 1);
        free(start);
        free(col);
    }
}

TEST(grids_fill_little) {
    // 24 x 24 points with their four neighbours: the natural order fills to a band of 24
    int side = 24, n = side * side, at = 0;
    int* start = calloc((size_t)n + 1, sizeof *start);
    int* col = calloc(2 * (size_t)n, sizeof *col);
    int* natural = calloc((size_t)n, sizeof *natural);
    for (int i = 0; i < n; i++) {
        if (i % side > 0) col[at++] = i - 1;
        if (i >= side) col[at++] = i - side;
        start[i + 1] = at;
        natural[i] = i;
    }
    long entries = entries_of(n, start, col), band = play(n, start, col, natural);
    test_check(entries < band / 2, __FILE__, __LINE__, "%ld of %ld entries", entries, band);
    free(start);
    free(col);
    free(natural);
}

// a plate that carries everything is eliminated last, and a pair may be listed twice
TEST(hubs_and_repeated_pairs) {
    int n = 2000, at = 0;
    int* start = calloc((size_t)n + 1, sizeof *start);
    int* col = calloc(4 * (size_t)n, sizeof *col);
    for (int i = 0; i < n; i++) {
        for (int k = 0; i > 0 && k < 2; k++) {
            col[at++] = 0;
            col[at++] = i > 1 ? i - 1 : 0;
        }
        start[i + 1] = at;
    }
    CHECK(entries_of(n, start, col) == 2 * (n - 2) + 1);
    free(start);
    free(col);
}

static void* fail_alloc(void* ctx, size_t size) {
    int* left = ctx;
    return (*left)-- > 0 ? malloc(size) : NULL;
}

static void fail_free(void* ctx, void* memory, size_t size) {
    (void)ctx;
    (void)size;
    free(memory);
}

// every allocation in turn
TEST(no_memory_is_reported) {
    crRandom random = sample_seed(4);
    Matrix m = matrix_random(&random, 20, 6, 2, 10);
    int fails = 0;
    for (crStatus status = CR_ERR_MEMORY; status != CR_OK && fails < 200;) {
        int left = fails;
        crAllocator allocator = {fail_alloc, fail_free, &left};
        crArena arena;
        crSparse s;
        cr_arena_create(&arena, &allocator, 0);
        status = cr__sparse_analyze(&s, m.count, m.size, m.start, m.col, true, &arena);
        CHECK(status == CR_OK || status == CR_ERR_MEMORY);
        fails += status != CR_OK ? 1 : 0;
        cr_arena_destroy(&arena);
    }
    CHECK(fails > 20 && fails < 200);
    matrix_free(&m);
}
