// test_solvers_apart.c - contacts that do not act on each other are solved one by one.
//
// Random contacts of all kinds of friction, some of which close. The answer of `auto` must be, to the bit, the first sweep of
// `gauss-seidel`, and it must not depend on how W is stored. Couplings are then added: to contacts that stay open, to
// contacts that an impulse makes close, and among those that close; the audit must call every answer solved.
#include "test.h"

#include "sample.h"

#include <string.h>

#define CONTACTS 12
#define ROWS     (6 * CONTACTS)

typedef struct Apart {
    crProblem problem;
    crBlock blocks[CONTACTS];
    double u_free[ROWS], b[ROWS], W[ROWS * ROWS], value[ROWS * ROWS], p[ROWS];
    int start[ROWS + 1], col[ROWS * ROWS];
} Apart;

static const double square[4][2] = {{0.5, 0.0}, {0.0, 0.5}, {-0.5, 0.0}, {0.0, -0.5}};

static crBlock draw_block(crRandom* random, int row) {
    int kind = (int)(sample_bits(random) % 5);
    crBlock block = cr_block(CR_BLOCK_CONE, row, kind == 0 ? 2 : 3);
    block.mu = block.mu2 = sample_uniform(random, 0.0, 1.0) < 0.2 ? 0.0 : sample_uniform(random, 0.1, 1.5);
    if (kind == 2) block.mu2 = 0.5 * block.mu;
    if (kind == 3) block.vertex_count = 4;
    if (kind == 4) {
        block.spin = block.roll = true;
        block.count = 6;
        block.mu_spin = 0.02;
        block.mu_roll = 0.01;
    }
    return block;
}

// own rows of a block: a Gram matrix of random vectors, definite
static void fill_own(crRandom* random, double* W, int n, const crBlock* block) {
    double G[6][8];
    for (int i = 0; i < block->count; i++) {
        for (int k = 0; k < 8; k++) {
            G[i][k] = sample_uniform(random, -1.0, 1.0) + (i == k ? 2.0 : 0.0);
        }
    }
    for (int i = 0; i < block->count; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int k = 0; k < 8; k++) {
                sum += G[i][k] * G[j][k];
            }
            W[(block->row + i) * n + block->row + j] = W[(block->row + j) * n + block->row + i] = sum;
        }
    }
}

static void draw(crRandom* random, Apart* a) {
    int rows = 0;
    memset(a->W, 0, sizeof a->W);
    for (int i = 0; i < CONTACTS; i++) {
        a->blocks[i] = draw_block(random, rows);
        rows += a->blocks[i].count;
    }
    for (int i = 0; i < CONTACTS; i++) {
        fill_own(random, a->W, rows, &a->blocks[i]);
    }
    for (int r = 0; r < rows; r++) {
        a->u_free[r] = sample_uniform(random, -1.0, 1.0);
        a->b[r] = sample_uniform(random, -0.1, 0.1);
    }
    a->u_free[0] = -1.0;  // one closes at least
    a->problem = (crProblem){.rows = rows,
                             .block_count = CONTACTS,
                             .blocks = a->blocks,
                             .vertices = square,
                             .u_free = a->u_free,
                             .b = a->b,
                             .W = {rows, rows, NULL, NULL, a->W}};
}

static void compress(Apart* a) {
    int n = a->problem.rows, at = 0;
    for (int i = 0; i < n; i++) {
        a->start[i] = at;
        for (int j = 0; j < n; j++) {
            // a zero that is stored now and then
            if (a->W[i * n + j] == 0.0 && (i + j) % 5 != 0) continue;
            a->col[at] = j;
            a->value[at++] = a->W[i * n + j];
        }
    }
    a->start[n] = at;
    a->problem.W = (crMatrix){n, n, a->start, a->col, a->value};
}

static crReport solve(const char* name, const crProblem* problem, int most, double* p) {
    crArena arena;
    crSolver solver;
    crReport report = {0};
    crSolverParams params = {.tol = 1e-8, .max_iterations = most};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_solver_find(name, &params, &solver, NULL), CR_OK);
    memset(p, 0, (size_t)problem->rows * sizeof *p);
    CHECK_STATUS(cr_solver_run(&solver, problem, 1e-8, &arena, p, &report, NULL), CR_OK);
    cr_arena_destroy(&arena);
    return report;
}

static double bias(const Apart* a, int i) {
    int r = a->blocks[i].row;
    return a->u_free[r] + a->b[r];
}

// Couples the normals of contacts i and j by `by`; W stays definite.
static void couple(Apart* a, int i, int j, double by) {
    int n = a->problem.rows, r = a->blocks[i].row, s = a->blocks[j].row;
    a->W[r * n + s] += by;
    a->W[s * n + r] += by;
}

TEST(contacts_apart_are_solved_as_by_one_sweep) {
    static Apart a;
    static double swept[ROWS], again[ROWS];
    crRandom random = sample_seed(71);
    int direct = 0, samples = test_samples(300);
    for (int k = 0; k < samples; k++) {
        draw(&random, &a);
        // impulses do not reach contacts that close; those that open are pushed further
        for (int i = 1; i < CONTACTS; i++) {
            if (bias(&a, i) > 0.0) couple(&a, 0, i, 0.1);
        }
        size_t bytes = (size_t)a.problem.rows * sizeof(double);
        crReport report = solve("auto", &a.problem, 0, a.p);
        CHECK(report.outcome == CR_OUTCOME_SOLVED);
        solve("gauss-seidel", &a.problem, 1, swept);
        if (report.iterations == 1) CHECK(memcmp(a.p, swept, bytes) == 0);
        direct += report.iterations == 1 ? 1 : 0;
        CHECK(report.residual <= 1e-8);
        compress(&a);
        solve("auto", &a.problem, 0, again);
        CHECK(memcmp(a.p, again, bytes) == 0);
    }
    printf("  %d of %d by one sweep\n", direct, samples);
    CHECK(direct > samples / 2);
}

TEST(contacts_that_an_impulse_makes_close_are_solved) {
    static Apart a;
    crRandom random = sample_seed(72);
    int closed = 0, samples = test_samples(300);
    for (int k = 0; k < samples; k++) {
        draw(&random, &a);
        // half of the couplings are among contacts that close
        for (int c = 0; c < 4; c++) {
            int i = (int)(sample_bits(&random) % CONTACTS), j = (int)(sample_bits(&random) % CONTACTS);
            if (i != j) couple(&a, i, j, sample_uniform(&random, -0.4, 0.4));
        }
        int last = CONTACTS - 1, r = a.blocks[last].row;
        if (bias(&a, last) > 0.0) {
            a.u_free[r] = 1e-6;
            a.b[r] = 0.0;
            couple(&a, 0, last, -0.4);
        }
        crReport report = solve("auto", &a.problem, 0, a.p);
        CHECK(report.outcome == CR_OUTCOME_SOLVED);
        closed += bias(&a, last) > 0.0 && a.p[r] > 0.0 ? 1 : 0;
    }
    printf("  %d of %d with a contact that an impulse made close\n", closed, samples);
    CHECK(closed > samples / 10);
}
