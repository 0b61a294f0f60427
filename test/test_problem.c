// test_problem.c - the problem's checks, its three forms of W, the audit and the projections behind it.
//
// The audit is compared with figures worked out by hand; products with plain triple loops; projections with
// what makes a point the nearest one of a convex set.
#include "test.h"

#include "linalg/project.h"
#include "pile.h"
#include "sample.h"

#include <stdlib.h>

// a good problem that each check spoils in one place
typedef struct Good {
    crProblem problem;
    crBlock blocks[4];
    double vertices[4][2];
    double u_free[8], b[8], v[2];
    double W[64], J[16], M[4], Minv[4];
} Good;

static void good_make(Good* g) {
    *g = (Good){0};
    g->blocks[0] = cr_block(CR_BLOCK_EQUALITY, 0, 1);
    g->blocks[1] = cr_block(CR_BLOCK_UNILATERAL, 1, 1);
    g->blocks[2] = cr_block(CR_BLOCK_BOX, 2, 1);
    g->blocks[3] = cr_block(CR_BLOCK_CONE, 3, 3);
    g->blocks[3].mu = g->blocks[3].mu2 = 0.5;
    double square[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    memcpy(g->vertices, square, sizeof square);
    for (int i = 0; i < 6; i++) {
        g->W[i * 6 + i] = 1.0;
        g->u_free[i] = -1.0;
        g->J[i * 2 + i % 2] = 1.0;
    }
    g->M[0] = g->M[3] = g->Minv[0] = g->Minv[3] = 1.0;
    g->problem = (crProblem){.rows = 6,
                             .block_count = 4,
                             .blocks = g->blocks,
                             .vertices = (const double(*)[2])g->vertices,
                             .u_free = g->u_free,
                             .b = g->b,
                             .W = {6, 6, NULL, NULL, g->W},
                             .nv = 2,
                             .v = g->v};
}

// the same with W as an operator
static void good_operator(Good* g) {
    good_make(g);
    g->problem.W = (crMatrix){0};
    g->problem.J = (crMatrix){6, 2, NULL, NULL, g->J};
    g->problem.M = (crMatrix){2, 2, NULL, NULL, g->M};
    g->problem.Minv = (crMatrix){2, 2, NULL, NULL, g->Minv};
}

static void expect_refusal(const Good* g, crStatus status, const char* field, int line) {
    crError error = {0};
    crStatus got = cr_problem_check(&g->problem, &error);
    test_check(got == status && strcmp(error.field, field) == 0, __FILE__, line,
               "is \"%s\" of \"%s\", expected \"%s\" of \"%s\"", cr_status_name(got), error.field,
               cr_status_name(status), field);
}

#define REFUSED(make, change, status, field)             \
    do {                                                 \
        Good g;                                          \
        make(&g);                                        \
        change;                                          \
        expect_refusal(&g, (status), (field), __LINE__); \
    } while (0)

TEST(check_refuses_by_name) {
    Good good;
    good_make(&good);
    CHECK_STATUS(cr_problem_check(&good.problem, NULL), CR_OK);
    good_operator(&good);
    CHECK_STATUS(cr_problem_check(&good.problem, NULL), CR_OK);
    crProblem empty = {0};
    CHECK_STATUS(cr_problem_check(&empty, NULL), CR_OK);
    REFUSED(good_make, g.problem.rows = -1, CR_ERR_ARGUMENT, "rows");
    REFUSED(good_make, g.problem.nv = -1, CR_ERR_ARGUMENT, "rows");
    REFUSED(good_make, g.problem.blocks = NULL, CR_ERR_ARGUMENT, "rows");
    REFUSED(good_make, g.problem.u_free = NULL, CR_ERR_ARGUMENT, "rows");
    REFUSED(good_make, g.blocks[1].row = 2, CR_ERR_SIZE, "blocks");
    REFUSED(good_make, g.blocks[1].count = 0, CR_ERR_SIZE, "blocks");
    REFUSED(good_make, g.problem.block_count = 3, CR_ERR_SIZE, "blocks");
    REFUSED(good_make, g.blocks[3].count = 2000000000, CR_ERR_SIZE, "blocks");
    REFUSED(good_make, g.blocks[2].lo = 2; g.blocks[2].hi = 1, CR_ERR_RANGE, "lo");
    REFUSED(good_make, g.blocks[2].lo = NAN, CR_ERR_RANGE, "lo");
    REFUSED(good_make, g.blocks[2].lo = (double)INFINITY, CR_ERR_RANGE, "lo");
    REFUSED(good_make, g.blocks[0].e = -1, CR_ERR_RANGE, "e");
    REFUSED(good_make, g.blocks[0].et = 2, CR_ERR_RANGE, "e");
    REFUSED(good_make, g.blocks[3].mu = -0.1, CR_ERR_RANGE, "mu");
    REFUSED(good_make, g.blocks[3].mu2 = NAN, CR_ERR_RANGE, "mu");
    REFUSED(good_make, g.blocks[3].mu_spin = -1, CR_ERR_RANGE, "mu");
    REFUSED(good_make, g.blocks[3].spin = g.blocks[3].roll = true, CR_ERR_SIZE, "count");
    REFUSED(good_make, g.blocks[3].vertex_count = 2, CR_ERR_SIZE, "vertices");
    REFUSED(good_make, g.blocks[3].vertex_count = 4; g.problem.vertices = NULL, CR_ERR_SIZE, "vertices");
    REFUSED(good_make, g.blocks[3].vertex_count = 4; g.blocks[3].vertex = -1, CR_ERR_SIZE, "vertices");
    REFUSED(good_make, g.blocks[3].vertex_count = 4; g.vertices[1][0] = NAN, CR_ERR_FINITE, "vertices");
    REFUSED(good_make, g.blocks[3].vertex_count = 4; g.vertices[1][1] = -3, CR_ERR_RANGE, "vertices");
    REFUSED(good_make, g.u_free[2] = NAN, CR_ERR_FINITE, "u_free");
    REFUSED(good_make, g.b[2] = (double)INFINITY, CR_ERR_FINITE, "b");
    REFUSED(good_make, g.v[1] = NAN, CR_ERR_FINITE, "v");
    REFUSED(good_make, g.W[3] = NAN, CR_ERR_FINITE, "W");
    REFUSED(good_make, g.W[1] = 0.5, CR_ERR_SYMMETRY, "W");
    REFUSED(good_make, g.problem.W.cols = 5, CR_ERR_SIZE, "W");
    REFUSED(good_operator, g.problem.J.rows = 5, CR_ERR_SIZE, "J");
    REFUSED(good_operator, g.J[0] = NAN, CR_ERR_FINITE, "J");
    REFUSED(good_operator, g.problem.Minv.value = NULL, CR_ERR_SIZE, "Minv");
    REFUSED(good_operator, g.Minv[1] = 0.5, CR_ERR_SYMMETRY, "Minv");
    REFUSED(good_operator, g.problem.M.rows = 1, CR_ERR_SIZE, "M");
    Good raw;
    good_make(&raw);
    raw.W[1] = 0.5;
    raw.problem.raw = true;
    CHECK_STATUS(cr_problem_check(&raw.problem, NULL), CR_OK);
}

TEST(check_compressed_rows) {
    int start[3] = {0, 2, 3}, col[3] = {0, 1, 1};
    double value[3] = {2, 0, 3}, u[2] = {0};
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, 2);
    crProblem p = {
        .rows = 2, .block_count = 1, .blocks = &block, .u_free = u, .W = {2, 2, start, col, value}};
    crError error;
    CHECK_STATUS(cr_problem_check(&p, NULL), CR_OK);
    CHECK(cr_matrix_at(&p.W, 0, 0) == 2 && cr_matrix_at(&p.W, 1, 1) == 3 && cr_matrix_at(&p.W, 1, 0) == 0);
    col[1] = 0;
    CHECK_STATUS(cr_problem_check(&p, &error), CR_ERR_SIZE);
    CHECK_TEXT(error.field, "W");
    col[1] = 2;
    CHECK_STATUS(cr_problem_check(&p, NULL), CR_ERR_SIZE);
    col[1] = 1;
    start[0] = 1;
    CHECK_STATUS(cr_problem_check(&p, NULL), CR_ERR_SIZE);
}

// W = J Minv J^T by plain loops
static double* plain_W(const crProblem* p) {
    size_t n = (size_t)p->rows, nv = (size_t)p->nv;
    double* W = calloc(n * n, sizeof *W);
    double* JM = calloc(n * nv, sizeof *JM);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < nv; k++) {
            double j = cr_matrix_at(&p->J, (int)i, (int)k);
            for (size_t l = 0; j != 0.0 && l < nv; l++) {
                JM[i * nv + l] += j * cr_matrix_at(&p->Minv, (int)k, (int)l);
            }
        }
        for (size_t j = 0; j < n; j++) {
            for (size_t k = 0; k < nv; k++) {
                W[i * n + j] += JM[i * nv + k] * cr_matrix_at(&p->J, (int)j, (int)k);
            }
        }
    }
    free(JM);
    return W;
}

// by rows: an entry without its partner is refused whichever side of the diagonal it is on; partners that
// balance in number but not in place do not hide it, and zeros written out are no entries
TEST(check_symmetry_by_rows) {
    static const struct {
        double W[9];
        crStatus status;
    } cases[] = {
        {{2, 1, 0, 1, 2, 0, 0, 0, 2}, CR_OK},
        {{2, 1, 0, 1.0001, 2, 0, 0, 0, 2}, CR_OK},
        {{2, 1, 0, 0, 2, 0, 0, 0, 2}, CR_ERR_SYMMETRY},
        {{2, 0, 0, 1, 2, 0, 0, 0, 2}, CR_ERR_SYMMETRY},
        {{2, 1, 0, 0, 2, 0, 1, 0, 2}, CR_ERR_SYMMETRY},
        {{2, 1, 1, 1, 2, 0, 0, 0, 2}, CR_ERR_SYMMETRY},
        {{2, 1, 0, -1, 2, 0, 0, 0, 2}, CR_ERR_SYMMETRY},
    };
    double u_free[3] = {-1, -1, -1};
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, 3);
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof cases[0]); i++) {
        // first without zeros, then with all of them written out
        int start[4] = {0}, col[9];
        double value[9];
        for (int k = 0; k < 9; k++) {
            double entry = cases[i / 2].W[k];
            if (entry != 0.0 || i % 2 == 1) {
                col[start[k / 3 + 1]] = k % 3;
                value[start[k / 3 + 1]++] = entry;
            }
            if (k % 3 == 2 && k < 8) start[k / 3 + 2] = start[k / 3 + 1];
        }
        crProblem p = {.rows = 3, .block_count = 1, .blocks = &block, .u_free = u_free};
        p.W = (crMatrix){3, 3, start, col, value};
        CHECK_STATUS(cr_problem_check(&p, NULL), cases[i / 2].status);
    }
}

// a matrix by rows and the same in full: the worst pair and its difference agree, whatever is missing or zero
TEST(skew_by_rows_is_that_of_the_full_matrix) {
    enum { MOST = 40 };
    crRandom random = sample_seed(12);
    int symmetric = 0;
    for (int i = 0; i < 400; i++) {
        int n = 2 + (int)sample_uniform(&random, 0.0, (double)MOST - 2.0), start[MOST + 1], col[MOST * MOST],
            at = 0;
        double W[MOST * MOST] = {0}, value[MOST * MOST];
        for (int r = 0; r < n; r++) {
            W[r * n + r] = sample_uniform(&random, 1.0, 2.0);
            for (int c = 0; c < r; c++) {
                if (sample_uniform(&random, 0.0, 1.0) > 0.3) continue;
                W[r * n + c] = W[c * n + r] = sample_uniform(&random, -1.0, 1.0);
            }
        }
        // one entry differs, or has no partner, or none does
        int r = (int)sample_uniform(&random, 0.0, n - 1e-9), c = (int)sample_uniform(&random, 0.0, n - 1e-9);
        if (i % 3 == 1) W[r * n + c] *= 1.0 + 0x1p-40;
        if (i % 3 == 2) W[r * n + c] = 0.0;
        for (int k = 0; k < n * n; k++) {
            if (k % n == 0) start[k / n] = at;
            if (W[k] == 0.0 && sample_uniform(&random, 0.0, 1.0) > 0.01) continue;
            col[at] = k % n;
            value[at++] = W[k];
        }
        start[n] = at;
        crMatrix full = {n, n, NULL, NULL, W}, rows = {n, n, start, col, value};
        for (int by = 0; by < 2; by++) {
            crSkew a = cr_matrix_skew(&full, by == 1), b = cr_matrix_skew(&rows, by == 1);
            CHECK(a.row == b.row && a.col == b.col && a.at == b.at && a.across == b.across);
            CHECK(a.relative == b.relative);
            symmetric += a.row < 0 ? 1 : 0;
        }
    }
    CHECK(symmetric > 200 && symmetric < 800);
}

TEST(forms_of_W_agree) {
    crRandom random = sample_seed(11);
    double worst = 0.0;
    for (int i = 0; i < 40; i++) {
        crArena arena;
        CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
        crPileDef def = {
            (crPileKind)(i % PILE_KINDS), (crPileFriction)(i % PILE_FRICTIONS), 4, 100.0, 0.5, i % 2};
        crProblem p = pile_build(&def, &random, &arena);
        size_t n = (size_t)p.rows;
        double* W = plain_W(&p);
        double* dense = NULL;
        crMatrix sparse;
        CHECK_STATUS(cr_problem_check(&p, NULL), CR_OK);
        CHECK_STATUS(cr_problem_dense(&p, &arena, &dense), CR_OK);
        CHECK_STATUS(cr_problem_sparse(&p, &arena, &sparse), CR_OK);
        double* x = cr_arena_alloc(&arena, n * sizeof *x);
        double* u = cr_arena_alloc(&arena, 4 * n * sizeof *u);
        for (size_t k = 0; k < n; k++) {
            x[k] = sample_uniform(&random, -1, 1);
        }
        crProblem forms[3] = {p, p, p};
        forms[1].W = (crMatrix){p.rows, p.rows, NULL, NULL, dense};
        forms[2].W = sparse;
        for (int f = 0; f < 3; f++) {
            CHECK_STATUS(cr_problem_velocity(&forms[f], &arena, x, u + (size_t)f * n), CR_OK);
        }
        for (size_t r = 0; r < n; r++) {
            double sum = p.u_free[r], size = fabs(p.u_free[r]);
            for (size_t c = 0; c < n; c++) {
                sum += W[r * n + c] * x[c];
                size += fabs(W[r * n + c] * x[c]);
                worst = fmax(worst, fabs(dense[r * n + c] - W[r * n + c]) / (1.0 + fabs(W[r * n + c])));
                worst = fmax(worst, fabs(cr_matrix_at(&sparse, (int)r, (int)c) - W[r * n + c]) /
                                        (1.0 + fabs(W[r * n + c])));
            }
            for (int f = 0; f < 3; f++) {
                worst = fmax(worst, fabs(u[(size_t)f * n + r] - sum) / size);
            }
            for (int k = sparse.start[r]; k < sparse.start[r + 1]; k++) {
                CHECK(sparse.value[k] != 0.0);
            }
        }
        free(W);
        cr_arena_destroy(&arena);
    }
    printf("  forms of W differ by at most %.1e of their terms\n", worst);
    CHECK(worst < 1e-14);
}

TEST(apply_and_momentum) {
    crRandom random = sample_seed(12);
    for (int i = 0; i < 20; i++) {
        crArena arena;
        CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
        crPileDef def = {(crPileKind)(i % PILE_KINDS), PILE_DISC, 3, 1000.0, 1.0, false};
        crProblem p = pile_build(&def, &random, &arena);
        double* x = cr_arena_alloc(&arena, (size_t)p.rows * sizeof *x);
        double* v_plus = cr_arena_alloc(&arena, (size_t)p.nv * sizeof *v_plus);
        double* u = cr_arena_alloc(&arena, (size_t)p.rows * sizeof *u);
        double* u_plus = cr_arena_alloc(&arena, (size_t)p.rows * sizeof *u_plus);
        for (int k = 0; k < p.rows; k++) {
            x[k] = sample_uniform(&random, -1, 1);
        }
        CHECK_STATUS(cr_problem_apply(&p, &arena, x, v_plus), CR_OK);
        CHECK_STATUS(cr_problem_velocity(&p, &arena, x, u), CR_OK);
        cr_matrix_mul(&p.J, v_plus, u_plus);
        for (int k = 0; k < p.rows; k++) {
            CHECK_NEAR(u[k], u_plus[k], 1e-12 * (1.0 + fabs(u[k])));
        }
        // kinetic energy after minus before
        double energy = 0.0;
        for (int r = 0; r < p.nv; r++) {
            for (int c = 0; c < p.nv; c++) {
                double m = cr_matrix_at(&p.M, r, c);
                energy += 0.5 * m * (v_plus[r] * v_plus[c] - p.v[r] * p.v[c]);
            }
        }
        crAudit audit;
        CHECK_STATUS(cr_problem_audit(&p, &arena, x, &audit), CR_OK);
        CHECK_NEAR(audit.energy_change, energy, 1e-10 * (1.0 + fabs(energy)));
        CHECK(audit.momentum < 1e-14);
        cr_arena_destroy(&arena);
    }
}

static crAudit audit_of(const crProblem* p, const double* x) {
    crArena arena;
    crAudit audit = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_problem_audit(p, &arena, x, &audit), CR_OK);
    cr_arena_destroy(&arena);
    return audit;
}

TEST(audit_by_hand) {
    // one contact, W = I, approaching at 2, sliding at 3: p = (2, -1, 0) with mu = .5 solves it
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-2, 3, 0};
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 3);
    block.mu = block.mu2 = 0.5;
    crProblem p = {.rows = 3, .block_count = 1, .blocks = &block, .u_free = q, .W = {3, 3, NULL, NULL, W}};
    double good[3] = {2, -1, 0};
    crAudit a = audit_of(&p, good);
    CHECK_NEAR(a.residual, 0.0, 1e-16);
    CHECK(a.laws.approach == 0.0 && a.laws.cone == 0.0 && a.laws.complementarity == 0.0 &&
          a.laws.dissipation < 1e-15);
    // 2 (-2) + -1 (3) + (4 + 1) / 2
    CHECK_NEAR(a.energy_change, -4.5, 1e-15);
    // no impulse: u = q; q' = (-2 - 1.5 .. ) projects to the cone's surface
    double none[3] = {0, 0, 0};
    a = audit_of(&p, none);
    // -u - mu |u_t| n = (.5, -3, 0): n = (.5 + .5 * 3) / 1.25 = 1.6, t = -.8
    CHECK_NEAR(a.natural, sqrt(1.6 * 1.6 + 0.8 * 0.8) / sqrt(13.0), 1e-15);
    CHECK_NEAR(a.laws.approach, 2.0, 0.0);
    // the witness is open; b must change by 2, which is all that had to change
    CHECK(a.eta == 2.0 && a.residual == 1.0 && a.scale == 2.0 && a.permits == 2.0 && a.distance == 0.0);
    CHECK(cr_audit_solved(&a, 0.99) == CR_TRUTH_NO && cr_audit_solved(&a, 1.0) == CR_TRUTH_YES);
    p.h = 0.01;
    CHECK_NEAR(audit_of(&p, none).distance, 0.02, 1e-17);
    p.h = 0.0;
    // friction with the slip, outside the cone by 2 - 1
    double wrong[3] = {2, 2, 0};
    a = audit_of(&p, wrong);
    CHECK_NEAR(a.laws.cone, 1.0, 1e-15);
    // w p_t - P(w p_t - u_t): 2 - (-1) with the limit 1
    CHECK_NEAR(a.laws.dissipation, 3.0, 1e-15);
    // pulling
    double pull[3] = {-1, 0, 0};
    a = audit_of(&p, pull);
    CHECK_NEAR(a.laws.cone, 1.0, 0.0);
    CHECK_NEAR(a.laws.complementarity, 3.0, 1e-15);
}

TEST(audit_of_rows_by_hand) {
    // equality, unilateral, box in one; W = 2 I
    double W[9] = {2, 0, 0, 0, 2, 0, 0, 0, 2}, q[3] = {1, -2, 5}, b[3] = {1, 0, 0};
    crBlock blocks[3] = {cr_block(CR_BLOCK_EQUALITY, 0, 1), cr_block(CR_BLOCK_UNILATERAL, 1, 1),
                         cr_block(CR_BLOCK_BOX, 2, 1)};
    blocks[2].lo = -1;
    blocks[2].hi = 1;
    crProblem p = {
        .rows = 3, .block_count = 3, .blocks = blocks, .u_free = q, .b = b, .W = {3, 3, NULL, NULL, W}};
    double good[3] = {-1, 1, -1};
    crAudit a = audit_of(&p, good);
    CHECK(a.residual == 0.0 && a.laws.approach == 0.0 && a.laws.cone == 0.0);
    double bad[3] = {0, 0, 2};
    a = audit_of(&p, bad);
    // u + b = (2, -2, 9): maps 2, min(0, -2) = -2, 2 - clamp(2 - 9) = 3
    CHECK_NEAR(a.natural, sqrt(4 + 4 + 9.0) / sqrt(4 + 4 + 25.0), 1e-15);
    // no row acts on another: three islands. The equality misses 2 of 2, the unilateral row 2 of 2; the box is
    // at z = 2 - 9/2 < lo, so p^ = -1 and w = 5 - 2 > 0 is allowed
    CHECK(a.residual == 1.0 && a.eta == 2.0 && a.worst_block == 0);
    CHECK_NEAR(a.laws.approach, 2.0, 0.0);
    CHECK_NEAR(a.laws.cone, 1.0, 0.0);
    p.raw = true;
    a = audit_of(&p, bad);
    CHECK_NEAR(a.natural, 3.0 / 5.0, 1e-15);
    // entry by entry: rows 0 and 1 miss all of |q|; the box is clamped to 1, where w = 7 > 0 of 7 should be <= 0
    CHECK_NEAR(a.residual, 1.0, 1e-15);
}

TEST(audit_of_open_contacts) {
    // an open contact may slide freely, whatever its friction
    double W[36] = {0}, q[6] = {1, 5, -3, 2, 1, 1};
    for (int i = 0; i < 6; i++) {
        W[i * 7] = 1.0;
    }
    double v[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    double none[6] = {0};
    for (int kind = 0; kind < 5; kind++) {
        crBlock block = cr_block(CR_BLOCK_CONE, 0, kind == 3 ? 6 : kind == 4 ? 2 : 3);
        block.mu = kind == 2 ? (double)INFINITY : 0.5;
        block.mu2 = kind == 1 ? 0.2 : block.mu;
        block.vertex_count = kind == 0 ? 4 : 0;
        block.spin = block.roll = kind == 3;
        block.mu_spin = block.mu_roll = 0.1;
        crProblem p = {.rows = block.count, .block_count = 1, .blocks = &block, .u_free = q};
        p.vertices = (const double(*)[2])v;
        p.W = (crMatrix){block.count, block.count, NULL, NULL, W};
        double small[36] = {0};
        for (int i = 0; i < block.count; i++) {
            small[i * (block.count + 1)] = 1.0;
        }
        p.W.value = small;
        crAudit a = audit_of(&p, none);
        CHECK(a.residual == 0.0 && a.laws.dissipation == 0.0);
    }
}

// a contact without friction that opens straight is solved without impulse, by the measures of others too
TEST(audit_of_a_contact_that_opens_without_slip) {
    crArena arena;
    crAudit audit;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    for (int tangents = 1; tangents <= 2; tangents++) {
        crBlock block = cr_block(CR_BLOCK_CONE, 0, 1 + tangents);
        double W[9] = {0}, u[3] = {2.0, 0.0, 0.0}, p[3] = {0.0, 0.0, 0.0};
        int n = 1 + tangents;
        for (int i = 0; i < n; i++) {
            W[i * (n + 1)] = 1.0;
        }
        crProblem problem = {
            .rows = n, .block_count = 1, .blocks = &block, .u_free = u, .W = {n, n, NULL, NULL, W}};
        CHECK_STATUS(cr_problem_audit(&problem, &arena, p, &audit), CR_OK);
        CHECK(audit.residual == 0.0 && audit.natural == 0.0);
        // an impulse of 1 N s where none belongs: min(p, u) = 1, over |u| = 2
        p[0] = 1.0;
        CHECK_STATUS(cr_problem_audit(&problem, &arena, p, &audit), CR_OK);
        CHECK(audit.natural == 0.5);
    }
    cr_arena_destroy(&arena);
}

// At speeds whose squares underflow an error of the size of the demand is never within the tolerance.
TEST(audit_where_squares_underflow) {
    static const crBlockKind kinds[] = {CR_BLOCK_EQUALITY, CR_BLOCK_UNILATERAL, CR_BLOCK_BOX, CR_BLOCK_CONE};
    for (double size = 1.0; size > 1e-300; size *= 0x1p-20) {
        for (int k = 0; k < 4; k++) {
            crBlock block = cr_block(kinds[k], 0, kinds[k] == CR_BLOCK_CONE ? 3 : 1);
            block.mu = block.mu2 = 0.5;
            block.lo = -2.0;
            block.hi = 2.0;
            double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u_free[3] = {-size, 0.75 * size, size};
            crProblem p = {.rows = block.count, .block_count = 1, .blocks = &block, .u_free = u_free};
            p.W = (crMatrix){block.count, block.count, NULL, NULL, W};
            double none[3] = {0.0, 0.0, 0.0};
            crAudit a = audit_of(&p, none);
            CHECK(cr_audit_solved(&a, 1e-3) != CR_TRUTH_YES);
            // friction of this impulse is at its limit and opposes slip
            double good[3] = {size, -0.3 * size, -0.4 * size};
            a = audit_of(&p, good);
            CHECK(cr_audit_solved(&a, 1e-3) != CR_TRUTH_NO);
        }
    }
}

TEST(audit_rejects_what_is_not_finite) {
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-2, 3, 0};
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 3);
    block.mu = block.mu2 = 0.5;
    crProblem p = {.rows = 3, .block_count = 1, .blocks = &block, .u_free = q, .W = {3, 3, NULL, NULL, W}};
    double bad[4] = {NAN, (double)INFINITY, -(double)INFINITY, 1e308};
    for (int k = 0; k < 12; k++) {
        double x[3] = {2, -1, 0};
        x[k % 3] = bad[k / 3];
        crAudit a = audit_of(&p, x);
        if (k / 3 == 3 && isfinite(a.residual)) continue;
        CHECK(isinf(a.residual) && isinf(a.laws.approach) && isinf(a.laws.cone) && isinf(a.laws.dissipation));
        CHECK(isinf(a.laws.complementarity) && isinf(a.momentum) && isinf(a.energy_change));
    }
    crProblem none = {0};
    CHECK(audit_of(&none, NULL).residual == 0.0 && audit_of(&none, NULL).worst_block == -1);
}

// P is nearest to t in a convex set if it is in the set and (t - P).(s - P) <= 0 for all s in the set
static void check_nearest(const double* t, const double* P, const double* s, int n, double* worst) {
    double dot = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        dot += (t[i] - P[i]) * (s[i] - P[i]);
        size += t[i] * t[i] + s[i] * s[i];
    }
    *worst = fmax(*worst, dot / size);
}

TEST(projections_are_nearest_points) {
    crRandom random = sample_seed(13);
    double worst[4] = {0}, outside[4] = {0};
    for (int i = 0; i < test_samples(100000); i++) {
        double scale = sample_log(&random, 1e-6, 1e6);
        double mu = sample_uniform(&random, 0, 1) < 0.1 ? 0.0 : sample_log(&random, 1e-3, 1e3);
        double a = scale * sample_log(&random, 1e-2, 1e2), b = scale * sample_log(&random, 1e-2, 1e2);
        double t[3], P[3], v[7][2];
        for (int k = 0; k < 3; k++) {
            t[k] = scale * sample_uniform(&random, -3, 3);
        }
        int count = 3 + (int)(sample_bits(&random) % 5);
        double offset = sample_uniform(&random, 0, 6);
        for (int k = 0; k < count; k++) {
            cr_sincos(offset + 2 * CR_PI * (k + sample_uniform(&random, -0.2, 0.2)) / count, &v[k][1],
                      &v[k][0]);
        }
        // cone
        memcpy(P, t, sizeof t);
        cr__project_cone(mu, P);
        outside[0] = fmax(outside[0],
                          (hypot(P[1], P[2]) - mu * P[0]) / (hypot(P[1], P[2]) + mu * fabs(P[0]) + 1e-300));
        for (int k = 0; k < 8; k++) {
            double angle = sample_uniform(&random, 0, 2 * CR_PI), n = scale * sample_uniform(&random, 0, 4);
            double r = mu * n * (k % 2 ? 1.0 : sample_uniform(&random, 0, 1)), s[3] = {n, 0, 0};
            cr_sincos(angle, &s[1], &s[2]);
            s[1] *= r;
            s[2] *= r;
            check_nearest(t, P, s, 3, &worst[0]);
        }
        // disc and ellipse
        double Pd[2] = {t[1], t[2]}, Pe[2] = {t[1], t[2]}, Pp[2] = {t[1], t[2]};
        cr__project_disc(a, 2, Pd);
        cr__project_ellipse(a, b, Pe);
        cr__project_polygon((const double(*)[2])v, count, a, Pp);
        outside[1] = fmax(outside[1], hypot(Pd[0], Pd[1]) / a - 1.0);
        outside[2] = fmax(outside[2], hypot(Pe[0] / a, Pe[1] / b) - 1.0);
        for (int k = 0; k < count; k++) {
            const double *p0 = v[k], *p1 = v[(k + 1) % count];
            double cross = (p1[0] - p0[0]) * (Pp[1] - a * p0[1]) - (p1[1] - p0[1]) * (Pp[0] - a * p0[0]);
            outside[3] = fmax(outside[3], -cross / a);
            double corner[2] = {a * p0[0], a * p0[1]};
            check_nearest(t + 1, Pp, corner, 2, &worst[3]);
        }
        for (int k = 0; k < 8; k++) {
            double angle = sample_uniform(&random, 0, 2 * CR_PI), s[2];
            cr_sincos(angle, &s[1], &s[0]);
            double disc[2] = {a * s[0], a * s[1]}, ellipse[2] = {a * s[0], b * s[1]};
            check_nearest(t + 1, Pd, disc, 2, &worst[1]);
            check_nearest(t + 1, Pe, ellipse, 2, &worst[2]);
        }
    }
    static const char* const names[] = {"cone", "disc", "ellipse", "polygon"};
    for (int k = 0; k < 4; k++) {
        printf("  %s: outside by %.1e, not nearest by %.1e\n", names[k], outside[k], worst[k]);
        CHECK(outside[k] < 1e-14);
        CHECK(worst[k] < 1e-14);
    }
}

TEST(projections_of_flat_sets) {
    double P[3] = {-1, 0, 0};
    cr__project_cone(0.0, P);
    CHECK(P[0] == 0.0 && P[1] == 0.0 && P[2] == 0.0);
    double t[2] = {3, -4};
    cr__project_ellipse(0.0, 2.0, t);
    CHECK(t[0] == 0.0 && t[1] == -2.0);
    double s[2] = {3, -4};
    cr__project_ellipse((double)INFINITY, 1.0, s);
    CHECK(s[0] == 3.0 && s[1] == -1.0);
    double v[3][2] = {{1, 0}, {0, 1}, {-1, -1}}, r[2] = {3, -4};
    cr__project_polygon((const double(*)[2])v, 3, 0.0, r);
    CHECK(r[0] == 0.0 && r[1] == 0.0);
}

TEST(matrix_inverse) {
    double M[4] = {4, 1, 1, 3};
    crMatrix A = {2, 2, NULL, NULL, M}, inverse;
    crArena arena;
    crError error;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_matrix_inverse(&A, &arena, &inverse, NULL), CR_OK);
    CHECK_NEAR(inverse.value[0], 3.0 / 11, 1e-16);
    CHECK_NEAR(inverse.value[1], -1.0 / 11, 1e-16);
    M[3] = 0.25;
    CHECK_STATUS(cr_matrix_inverse(&A, &arena, &inverse, &error), CR_ERR_DEFINITE);
    CHECK_TEXT(error.field, "M");
    cr_arena_destroy(&arena);
}
