// test_linalg.c - the sparse block factorization against plain elimination, on random patterns.
#include "test.h"

#include "linalg/block_lu.h"
#include "linalg/dense.h"
#include "linalg/semidefinite.h"
#include "sample.h"

#include <stdlib.h>

#define MOST_BLOCKS 60
#define MOST_ROWS   (MOST_BLOCKS * 6)

typedef struct Case {
    int count, rows;
    int size[MOST_BLOCKS], row[MOST_BLOCKS];
    int start[MOST_BLOCKS + 1], col[MOST_BLOCKS * MOST_BLOCKS];
    double A[MOST_ROWS * MOST_ROWS];
    double b[MOST_ROWS];
} Case;

// diagonally dominant, symmetric pattern given once per pair, values not symmetric
static void case_make(Case* c, crRandom* random) {
    memset(c, 0, sizeof *c);
    c->count = 1 + (int)(sample_bits(random) % MOST_BLOCKS);
    double density = sample_uniform(random, 0.0, 0.3);
    for (int i = 0; i < c->count; i++) {
        c->size[i] = 1 + (int)(sample_bits(random) % 6);
        c->row[i] = c->rows;
        c->rows += c->size[i];
    }
    int at = 0;
    for (int i = 0; i < c->count; i++) {
        c->start[i] = at;
        for (int j = 0; j <= i; j++) {
            if (j != i && sample_uniform(random, 0, 1) > density) continue;
            c->col[at++] = j;
            for (int a = 0; a < c->size[i] * c->size[j]; a++) {
                int r = c->row[i] + a / c->size[j], k = c->row[j] + a % c->size[j];
                c->A[r * c->rows + k] = sample_uniform(random, -1, 1);
                c->A[k * c->rows + r] = sample_uniform(random, -1, 1);
            }
        }
    }
    c->start[c->count] = at;
    for (int r = 0; r < c->rows; r++) {
        double sum = 0.0;
        for (int k = 0; k < c->rows; k++) {
            sum += fabs(c->A[r * c->rows + k]);
        }
        c->A[r * c->rows + r] = 1.1 * sum + 0.1;
        c->b[r] = sample_uniform(random, -1, 1);
    }
}

// largest |A x - b| over the size of its terms
static double defect(const Case* c, const double* x) {
    double worst = 0.0;
    for (int r = 0; r < c->rows; r++) {
        double sum = -c->b[r], size = fabs(c->b[r]);
        for (int k = 0; k < c->rows; k++) {
            sum += c->A[r * c->rows + k] * x[k];
            size += fabs(c->A[r * c->rows + k] * x[k]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

static bool solve_case(const Case* c, int full_rows, crArena* arena, double* x, size_t* numbers) {
    crBlockLu lu;
    CHECK_STATUS(cr__block_lu_analyze(&lu, c->count, c->size, c->row, c->start, c->col, full_rows, arena),
                 CR_OK);
    cr__block_lu_clear(&lu);
    for (int i = 0; i < c->count; i++) {
        for (int j = 0; j < c->count; j++) {
            int stride = 0;
            double* block = cr__block_lu_at(&lu, i, j, &stride);
            for (int a = 0; a < c->size[i]; a++) {
                for (int b = 0; b < c->size[j]; b++) {
                    double value = c->A[(c->row[i] + a) * c->rows + c->row[j] + b];
                    CHECK(block != NULL || value == 0.0);
                    if (block != NULL) block[a * stride + b] += value;
                }
            }
        }
    }
    memcpy(x, c->b, (size_t)c->rows * sizeof *x);
    if (!cr__block_lu_factor(&lu)) return false;
    cr__block_lu_solve(&lu, x);
    *numbers = lu.value_count;
    return true;
}

TEST(block_lu_solves) {
    crRandom random = sample_seed(21);
    Case* c = malloc(sizeof *c);
    double* x = malloc(MOST_ROWS * sizeof *x);
    double worst = 0.0;
    for (int i = 0; i < test_samples(10000); i++) {
        crArena arena;
        size_t numbers;
        case_make(c, &random);
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        for (int full = 0; full < 2; full++) {
            CHECK(solve_case(c, full ? MOST_ROWS : 0, &arena, x, &numbers));
            worst = fmax(worst, defect(c, x));
        }
        cr_arena_destroy(&arena);
    }
    printf("  block LU: worst relative defect %.1e\n", worst);
    CHECK(worst < 1e-14);
    free(x);
    free(c);
}

// every block that is eliminated has the least degree of those left, the lowest number of these; and the
// pattern has room for what the elimination fills in
TEST(block_lu_order_is_minimum_degree) {
    crRandom random = sample_seed(23);
    Case* c = malloc(sizeof *c);
    for (int n = 0; n < test_samples(10000); n++) {
        crArena arena;
        crBlockLu lu;
        case_make(c, &random);
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        CHECK_STATUS(cr__block_lu_analyze(&lu, c->count, c->size, c->row, c->start, c->col, 0, &arena),
                     CR_OK);
        bool meets[MOST_BLOCKS][MOST_BLOCKS] = {{false}}, gone[MOST_BLOCKS] = {false};
        for (int i = 0; i < c->count; i++) {
            for (int e = c->start[i]; e < c->start[i + 1]; e++) {
                meets[i][c->col[e]] = meets[c->col[e]][i] = c->col[e] != i;
            }
        }
        for (int k = 0; k < c->count; k++) {
            int best = -1, least = 0;
            for (int i = 0; i < c->count; i++) {
                int degree = 0;
                for (int j = 0; j < c->count; j++) {
                    degree += meets[i][j] && !gone[j];
                }
                if (gone[i] || (best >= 0 && degree >= least)) continue;
                best = i;
                least = degree;
            }
            if (!CHECK(lu.order[k] == best && lu.place[best] == k)) break;
            gone[best] = true;
            CHECK(lu.start[k + 1] - lu.pivot[k] == least + 1);
            for (int i = 0; i < c->count * c->count; i++) {
                int a = i / c->count, b = i % c->count;
                if (a != b && !gone[a] && !gone[b] && meets[best][a] && meets[best][b]) meets[a][b] = true;
            }
        }
        cr_arena_destroy(&arena);
    }
    free(c);
}

// an arrow and a chain have orders without fill: the factors must be no larger than the matrix
TEST(block_lu_order_keeps_arrow_and_chain_sparse) {
    Case* c = calloc(1, sizeof *c);
    double x[MOST_ROWS];
    for (int arrow = 0; arrow < 2; arrow++) {
        memset(c, 0, sizeof *c);
        c->count = 40;
        c->rows = 120;
        int at = 0;
        size_t expected = 0;
        for (int i = 0; i < 40; i++) {
            c->size[i] = 3;
            c->row[i] = 3 * i;
            c->start[i] = at;
            if (i > 0) c->col[at++] = arrow ? 0 : i - 1;
            expected += i > 0 ? 27 : 9;
            for (int a = 0; a < 3; a++) {
                c->A[(3 * i + a) * 121] = 10.0;
                if (i > 0) c->A[(3 * i + a) * 120 + 3 * c->col[at - 1] + a] = 1.0;
                c->b[3 * i + a] = i;
            }
        }
        c->start[40] = at;
        crArena arena;
        size_t numbers = 0;
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        CHECK(solve_case(c, 0, &arena, x, &numbers));
        CHECK(numbers == expected);
        CHECK(defect(c, x) < 1e-15);
        cr_arena_destroy(&arena);
    }
    free(c);
}

TEST(block_lu_reports_singular) {
    Case* c = calloc(1, sizeof *c);
    c->count = 1;
    c->rows = c->size[0] = 2;
    c->start[1] = 0;
    c->A[0] = c->A[1] = c->A[2] = c->A[3] = 1.0;
    crArena arena;
    double x[2];
    size_t numbers;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK(!solve_case(c, 0, &arena, x, &numbers));
    CHECK(!solve_case(c, 10, &arena, x, &numbers));
    cr_arena_destroy(&arena);
    free(c);
}

// A = B B^T of any rank: b in its range has one solution of least norm, the pseudo-inverse's; b outside has none
TEST(least_norm_is_that_of_the_pseudo_inverse) {
    enum { N = 24 };
    crRandom random = sample_seed(31);
    for (int round = 0; round < 100; round++) {
        double B[N * N], A[N * N], inverse[N * N], b[N], x[N], given[N], work[2 * N * N], worst = 0.0,
                                                                                          size = 0.0;
        int rank = 1 + round % N;
        for (int i = 0; i < N * N; i++) {
            B[i] = i % N < rank ? sample_uniform(&random, -1, 1) : 0.0;
        }
        for (int i = 0; i < N * N; i++) {
            A[i] = 0.0;
            for (int k = 0; k < N; k++) {
                A[i] += B[i / N * N + k] * B[i % N * N + k];
            }
        }
        for (int i = 0; i < N; i++) {
            given[i] = sample_uniform(&random, -1, 1);
        }
        for (int i = 0; i < N; i++) {
            b[i] = 0.0;
            for (int k = 0; k < N; k++) {
                b[i] += A[i * N + k] * given[k];
            }
        }
        memcpy(inverse, A, sizeof A);
        cr__pseudo_inverse(inverse, N, work);
        bool found = cr__least_norm(A, N, b, 1e-12, x, work);
        // nearly full rank makes few small eigenvalues, and gradients may not get there
        CHECK(found || rank > N / 2);
        for (int i = 0; i < N && found; i++) {
            double want = 0.0;
            for (int k = 0; k < N; k++) {
                want += inverse[i * N + k] * b[k];
            }
            worst = fmax(worst, fabs(x[i] - want));
            size = fmax(size, fabs(want));
        }
        CHECK(worst <= 1e-6 * size);
        if (rank > N / 2) continue;
        for (int i = 0; i < N; i++) {
            b[i] = sample_uniform(&random, -1, 1);
        }
        CHECK(!cr__least_norm(A, N, b, 1e-12, x, work));
    }
}

TEST(small_inverse) {
    crRandom random = sample_seed(22);
    double worst = 0.0;
    for (int i = 0; i < test_samples(10000); i++) {
        int n = 1 + (int)(sample_bits(&random) % 8);
        double A[64], B[64];
        for (int k = 0; k < n * n; k++) {
            A[k] = sample_uniform(&random, -1, 1) + (k % (n + 1) == 0 ? 3.0 * n : 0.0);
        }
        // rows turned so that pivots must be looked for
        for (int k = 0; k < n * n; k++) {
            B[((k / n + 1) % n) * n + k % n] = A[k];
        }
        memcpy(A, B, sizeof A);
        CHECK(cr__invert_small(B, n));
        for (int r = 0; r < n; r++) {
            for (int c = 0; c < n; c++) {
                double sum = r == c ? -1.0 : 0.0;
                for (int k = 0; k < n; k++) {
                    sum += A[r * n + k] * B[k * n + c];
                }
                worst = fmax(worst, fabs(sum));
            }
        }
    }
    printf("  small inverse: worst |A B - I| %.1e\n", worst);
    CHECK(worst < 1e-14);
    double zero[4] = {0};
    CHECK(!cr__invert_small(zero, 2));
}
