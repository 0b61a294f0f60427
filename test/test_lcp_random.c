// test_lcp_random.c - pivoting solvers on families of random problems, judged by the conditions themselves.
//
// Violations are measured against what rounding does to one row of u = q + W p: a solution in double
// precision leaves a few 1e-16 of the largest sum of |W_ij p_j| (lcp_rounding_scale), called roundings below.
// Singular W leave more: rows within 1e-13 |q| of their condition count as meeting it (900 roundings at most;
// some 20 are seen).
#include "test.h"

#include <stdlib.h>

#include "lcp_check.h"
#include "resolve/kinds.h"
#include "sample.h"

typedef struct Case {
    int n;
    double* W;        // (n*n)
    double* q;        // (n)
    double* p;        // (n)
    double* known;    // a solution the problem was made from, where there is one (n)
    crBlock* blocks;  // (n)
    double (*vertices)[2];
    crProblem problem;
    crArena arena;
} Case;

static Case make_case(int n) {
    size_t size = (size_t)n;
    Case c = {.n = n};
    c.W = calloc(size * size, sizeof(double));
    c.q = calloc(size, sizeof(double));
    c.p = calloc(size, sizeof(double));
    c.known = calloc(size, sizeof(double));
    c.blocks = calloc(size, sizeof *c.blocks);
    c.vertices = calloc(16 * size, sizeof *c.vertices);
    c.blocks[0] = cr_block(CR_BLOCK_UNILATERAL, 0, n);
    c.problem = (crProblem){.rows = n,
                            .block_count = 1,
                            .blocks = c.blocks,
                            .vertices = (const double(*)[2])c.vertices,
                            .u_free = c.q,
                            .W = {n, n, NULL, NULL, c.W},
                            .raw = true};
    cr_arena_create(&c.arena, NULL, 0);
    return c;
}

static void free_case(Case* c) {
    free(c->W);
    free(c->q);
    free(c->p);
    free(c->known);
    free(c->blocks);
    free(c->vertices);
    cr_arena_destroy(&c->arena);
}

static crReport solve(Case* c, crSolver solver) {
    crReport report = {0};
    memset(c->p, 0, (size_t)c->n * sizeof(double));
    CHECK_STATUS(cr_solver_run(&solver, &c->problem, 1e-9, &c->arena, c->p, &report, NULL), CR_OK);
    return report;
}

// W = G G^T with G n x rank
static void gram(crRandom* random, Case* c, int rank, bool whole) {
    size_t n = (size_t)c->n, m = (size_t)rank;
    double* G = malloc(n * m * sizeof(double) + 8);
    for (size_t i = 0; i < n * m; i++) {
        double x = sample_uniform(random, -1.0, 1.0);
        G[i] = whole ? floor(1.5 * x + 0.5) : x;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < m; k++) {
                sum += G[i * m + k] * G[j * m + k];
            }
            c->W[i * n + j] = c->W[j * n + i] = sum;
        }
    }
    free(G);
}

// q such that a random z, with some z_i = w_i = 0, is a solution
static void from_solution(crRandom* random, Case* c, bool whole, double degenerate) {
    size_t n = (size_t)c->n;
    for (size_t i = 0; i < n; i++) {
        double z = sample_uniform(random, 0.0, 1.0) < 0.5 ? sample_uniform(random, 0.1, 2.0) : 0.0;
        if (whole) z = floor(2.0 * z);
        if (sample_uniform(random, 0.0, 1.0) < degenerate) z = 0.0;
        c->known[i] = z;
    }
    for (size_t i = 0; i < n; i++) {
        double w = c->known[i] > 0.0 ? 0.0 : sample_uniform(random, 0.1, 2.0);
        if (whole) w = floor(2.0 * w);
        if (sample_uniform(random, 0.0, 1.0) < degenerate) w = 0.0;
        double sum = 0.0;
        for (size_t j = 0; j < n; j++) {
            sum += c->W[i * n + j] * c->known[j];
        }
        c->q[i] = w - sum;
    }
}

// eigenvalues from 1 down to 1/condition in random directions
static void ill_conditioned(crRandom* random, Case* c, double condition) {
    size_t n = (size_t)c->n;
    for (size_t i = 0; i < n; i++) {
        c->W[i * n + i] = exp(-log(condition) * (n > 1 ? (double)i / (double)(n - 1) : 0.0));
    }
    double* v = malloc(n * sizeof(double));
    double* Wv = malloc(n * sizeof(double));
    for (int reflections = 0; reflections < 2; reflections++) {
        double square = 0.0, vWv = 0.0;
        for (size_t i = 0; i < n; i++) {
            v[i] = sample_uniform(random, -1.0, 1.0);
            square += v[i] * v[i];
        }
        for (size_t i = 0; i < n; i++) {
            Wv[i] = 0.0;
            for (size_t j = 0; j < n; j++) {
                Wv[i] += c->W[i * n + j] * v[j];
            }
            vWv += v[i] * Wv[i];
        }
        double a = 2.0 / square;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j <= i; j++) {
                double value =
                    c->W[i * n + j] - a * (v[i] * Wv[j] + Wv[i] * v[j]) + a * a * vWv * v[i] * v[j];
                c->W[i * n + j] = c->W[j * n + i] = value;
            }
        }
    }
    free(v);
    free(Wv);
}

static int random_size(crRandom* random, int most) {
    double x = sample_uniform(random, 0.0, 1.0);
    return 1 + (int)(x * x * x * (double)most);
}

// violation over the rounding of one row, checked against `allowed`
static double judge(Case* c, const crReport* report, const char* family, double allowed) {
    double scale = lcp_rounding_scale(&c->problem, c->p);
    double violation = lcp_violation(&c->problem, c->p);
    double units = scale > 0.0 ? violation / (0x1p-53 * scale) : violation;
    // the audit's own figure is relative to q, where rounding is relative to all terms
    bool solved = report->audit.residual * fmax(1.0, lcp_size(&c->problem)) <= 1e-12 * fmax(1.0, scale);
    test_check(solved && units <= allowed, __FILE__, __LINE__,
               "%s, n = %d, by %s: %s after %d, violation %g = %g roundings", family, c->n, report->method,
               cr_outcome_name(report->outcome), report->iterations, violation, units);
    return units;
}

typedef enum Family { DEFINITE, SEMIDEFINITE, ILL, TIES, P_MATRIX, TRIANGULAR, FAMILIES } Family;
static const char* const family_names[] = {"definite", "semidefinite", "ill-conditioned", "ties",
                                           "P",        "triangular"};

static void fill(crRandom* random, Case* c, Family family) {
    size_t n = (size_t)c->n;
    for (size_t i = 0; i < n; i++) {
        c->q[i] = sample_uniform(random, -1.0, 1.0);
    }
    switch (family) {
    case DEFINITE:
        gram(random, c, c->n + 2, false);
        break;
    case SEMIDEFINITE:
        gram(random, c, 1 + c->n / 2, false);
        from_solution(random, c, false, 0.0);
        break;
    case ILL:
        ill_conditioned(random, c, 1e8);
        from_solution(random, c, false, 0.0);
        break;
    case TIES:
        gram(random, c, 1 + c->n * 3 / 4, true);
        from_solution(random, c, true, 0.4);
        break;
    case P_MATRIX:
        gram(random, c, c->n + 2, false);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < i; j++) {
                double skew = sample_uniform(random, -2.0, 2.0);
                c->W[i * n + j] += skew;
                c->W[j * n + i] -= skew;
            }
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            for (size_t j = i; j < n; j++) {
                c->W[i * n + j] =
                    i == j ? sample_uniform(random, 0.5, 2.0) : sample_uniform(random, -0.5, 0.5);
            }
        }
        break;
    }
}

// The largest difference of u = W (a - b), the part of a solution that is unique for symmetric semidefinite
// W, over what violations v of both allow: d.W d <= (|a| + |b|) v with d = a - b (sum the conditions), |W
// d|^2 <= trace(W) d.W d.
static double apart(const Case* c, const double* a, const double* b) {
    double worst = 0.0, trace = 0.0, sizes = 0.0;
    for (int i = 0; i < c->n; i++) {
        double sum = 0.0;
        for (int j = 0; j < c->n; j++) {
            sum += c->W[i * c->n + j] * (a[j] - b[j]);
        }
        worst = fmax(worst, fabs(sum));
        trace += c->W[i * c->n + i];
        sizes += fabs(a[i]) + fabs(b[i]);
    }
    double rounding = 0x1p-53 * fmax(lcp_rounding_scale(&c->problem, a), lcp_rounding_scale(&c->problem, b));
    double violation = lcp_violation(&c->problem, a) + lcp_violation(&c->problem, b) + rounding;
    double allowed = sqrt(trace * sizes * violation) + c->n * rounding;
    return worst > 0.0 ? worst / allowed : 0.0;
}

TEST(families_are_solved_by_lemke_and_pivot) {
    bool soak = getenv("CAROM_SOAK") != NULL;
    for (Family family = 0; family < FAMILIES; family++) {
        crRandom random = sample_seed(100 + family);
        double worst[2] = {0, 0};
        double differ = 0.0;
        double allowed = family == SEMIDEFINITE ? 64.0 : 16.0;
        int handed = 0, count = test_samples(6000);
        for (int k = 0; k < count; k++) {
            Case c = make_case(random_size(&random, soak ? 200 : 60));
            fill(&random, &c, family);
            double* first = malloc((size_t)c.n * sizeof(double));
            crReport lemke = solve(&c, cr__solver(&cr__solver_lemke, NULL));
            worst[0] = fmax(worst[0], judge(&c, &lemke, family_names[family], allowed));
            memcpy(first, c.p, (size_t)c.n * sizeof(double));
            crReport pivot = solve(&c, cr__solver(&cr__solver_pivot, NULL));
            worst[1] = fmax(worst[1], judge(&c, &pivot, family_names[family], allowed));
            handed += strcmp(pivot.method, "pivot") != 0;
            if (family < P_MATRIX) differ = fmax(differ, apart(&c, first, c.p));
            free(first);
            free_case(&c);
        }
        printf("  %-16s %d problems: worst %.1f (lemke) and %.1f (pivot) roundings, u differ by %.0e of the "
               "bound, %d "
               "handed over\n",
               family_names[family], count, worst[0], worst[1], differ, handed);
        // unsymmetric ones are always handed over, symmetric definite ones never
        if (family == DEFINITE) CHECK(handed == 0);
        CHECK(differ <= 1e-3);
    }
}

TEST(enumeration_agrees) {
    crRandom random = sample_seed(7);
    int count = test_samples(6000);
    double worst = 0.0;
    for (int k = 0; k < count; k++) {
        Case c = make_case(1 + (int)(sample_bits(&random) % 8));
        Family family = (Family)(sample_bits(&random) % FAMILIES);
        fill(&random, &c, family);
        crReport enumerate = solve(&c, cr__solver(&cr__solver_enumerate, NULL));
        worst = fmax(worst, judge(&c, &enumerate, family_names[family], 16.0));
        double first[8];
        memcpy(first, c.p, (size_t)c.n * sizeof(double));
        solve(&c, cr__solver(&cr__solver_lemke, NULL));
        if (family < P_MATRIX) CHECK(apart(&c, first, c.p) <= 1e-3);
        // one solution only
        bool unique = family == DEFINITE || family == P_MATRIX || family == TRIANGULAR;
        for (int i = 0; unique && i < c.n; i++) {
            CHECK_NEAR(first[i], c.p[i], 1e-11 * (1.0 + fabs(c.p[i])));
        }
        free_case(&c);
    }
    printf("  %d problems: worst %.1f roundings\n", count, worst);
}

// any matrix at all: whoever says solved is right, and enumeration decides whether there is a solution
TEST(arbitrary_matrices_are_never_wrongly_solved) {
    crRandom random = sample_seed(8);
    int count = test_samples(20000);
    int solved = 0, rays = 0, infeasible = 0, missed = 0;
    for (int k = 0; k < count; k++) {
        Case c = make_case(1 + (int)(sample_bits(&random) % 6));
        bool whole = sample_bits(&random) % 2 == 0;
        for (int i = 0; i < c.n * c.n; i++) {
            c.W[i] = sample_uniform(&random, -1.0, 1.0);
            if (whole) c.W[i] = floor(2.0 * c.W[i] + 0.5);
        }
        for (int i = 0; i < c.n; i++) {
            c.q[i] = sample_uniform(&random, -1.0, 1.0);
            if (whole) c.q[i] = floor(2.0 * c.q[i] + 0.5);
        }
        crReport all = solve(&c, cr__solver(&cr__solver_enumerate, NULL));
        bool exists = all.outcome == CR_OUTCOME_SOLVED;
        if (exists) judge(&c, &all, "arbitrary", 64.0);
        crReport lemke = solve(&c, cr__solver(&cr__solver_lemke, NULL));
        CHECK(all.outcome == CR_OUTCOME_SOLVED || all.outcome == CR_OUTCOME_INFEASIBLE);
        if (lemke.outcome == CR_OUTCOME_SOLVED) {
            solved++;
            CHECK(exists);
            judge(&c, &lemke, "arbitrary", 64.0);
        } else {
            rays += lemke.outcome == CR_OUTCOME_RAY;
            missed += exists;
            infeasible += lemke.outcome == CR_OUTCOME_INFEASIBLE;
            if (lemke.outcome == CR_OUTCOME_INFEASIBLE) CHECK(!exists);
            CHECK(lemke.outcome == CR_OUTCOME_RAY || lemke.outcome == CR_OUTCOME_INFEASIBLE);
        }
        free_case(&c);
    }
    printf("  %d: lemke solved %d, ended on %d rays (a solution exists for %d), proved %d infeasible\n",
           count, solved, rays, missed, infeasible);
}

// W d = 0 for a d >= 0 with q.d < 0: w = W z + q has w.d = q.d < 0 for all z
TEST(infeasible_problems_are_proved_infeasible) {
    crRandom random = sample_seed(9);
    int count = test_samples(3000);
    for (int k = 0; k < count; k++) {
        Case c = make_case(2 + random_size(&random, 40));
        size_t n = (size_t)c.n;
        double* d = malloc(n * sizeof(double));
        double square = 0.0, qd = 0.0;
        for (size_t i = 0; i < n; i++) {
            d[i] = i > 1 && sample_bits(&random) % 3 == 0 ? 0.0 : sample_uniform(&random, 0.2, 1.0);
            square += d[i] * d[i];
        }
        // rows of G made orthogonal to d
        for (size_t r = 0; r < n - 1; r++) {
            double g[64], dot = 0.0;
            for (size_t i = 0; i < n; i++) {
                g[i] = sample_uniform(&random, -1.0, 1.0);
                dot += g[i] * d[i];
            }
            for (size_t i = 0; i < n; i++) {
                g[i] -= dot / square * d[i];
            }
            for (size_t i = 0; i < n * n; i++) {
                c.W[i] += g[i / n] * g[i % n];
            }
        }
        for (size_t i = 0; i < n; i++) {
            c.q[i] = sample_uniform(&random, -1.0, 1.0);
            qd += c.q[i] * d[i];
        }
        for (size_t i = 0; i < n; i++) {
            c.q[i] -= (qd + 0.1 * sqrt(square)) / square * d[i];
        }
        crReport lemke = solve(&c, cr__solver(&cr__solver_lemke, NULL));
        crReport pivot = solve(&c, cr__solver(&cr__solver_pivot, NULL));
        test_check(lemke.outcome == CR_OUTCOME_INFEASIBLE, __FILE__, __LINE__, "n = %d lemke: %s", c.n,
                   cr_outcome_name(lemke.outcome));
        test_check(pivot.outcome == CR_OUTCOME_INFEASIBLE, __FILE__, __LINE__, "n = %d pivot: %s", c.n,
                   cr_outcome_name(pivot.outcome));
        free(d);
        free_case(&c);
    }
}

// equality, box and unilateral blocks over a random semidefinite W
static void mix_blocks(crRandom* random, Case* c) {
    int row = 0, count = 0;
    while (row < c->n) {
        int size = 1 + (int)(sample_bits(random) % 3);
        if (size > c->n - row) size = c->n - row;
        crBlock* block = &c->blocks[count++];
        *block = cr_block(sample_bits(random) % 3 == 0 ? CR_BLOCK_UNILATERAL : CR_BLOCK_BOX, row, size);
        if (sample_bits(random) % 4 == 0) block->kind = CR_BLOCK_EQUALITY;
        if (block->kind == CR_BLOCK_BOX) {
            block->lo = sample_uniform(random, -2.0, 0.5);
            block->hi = block->lo + sample_uniform(random, 0.0, 2.0);
            unsigned shape = (unsigned)(sample_bits(random) % 6);
            if (shape == 0) block->lo = -(double)INFINITY;
            if (shape == 1) block->hi = (double)INFINITY;
            if (shape == 2) block->hi = block->lo;
        }
        row += size;
    }
    c->problem.block_count = count;
}

TEST(mixes_of_equality_box_and_unilateral_rows) {
    crRandom random = sample_seed(10);
    int count = test_samples(12000);
    double worst[2] = {0, 0}, differ = 0.0;
    int handed = 0;
    for (int k = 0; k < count; k++) {
        Case c = make_case(random_size(&random, 40));
        bool singular = k % 3 == 0;
        gram(&random, &c, singular ? 1 + c.n * 2 / 3 : c.n + 2, false);
        mix_blocks(&random, &c);
        // in the range of W, so that a solution exists: boxes and half-lines keep the energy bounded below
        for (int j = 0; j < c.n; j++) {
            double x = sample_uniform(&random, -2.0, 2.0);
            for (int i = 0; i < c.n; i++) {
                c.q[i] += c.W[i * c.n + j] * x;
            }
        }
        double b[64] = {0};
        c.problem.b = b;
        for (int i = 0; i < c.n; i++) {
            b[i] = singular ? 0.0 : sample_uniform(&random, -1.0, 1.0);
        }
        double first[64];
        crReport lemke = solve(&c, cr__solver(&cr__solver_lemke, NULL));
        worst[0] = fmax(worst[0], judge(&c, &lemke, singular ? "singular mix" : "mix", 32.0));
        memcpy(first, c.p, (size_t)c.n * sizeof(double));
        crReport pivot = solve(&c, cr__solver(&cr__solver_pivot, NULL));
        worst[1] = fmax(worst[1], judge(&c, &pivot, singular ? "singular mix" : "mix", 32.0));
        handed += strcmp(pivot.method, "pivot") != 0;
        differ = fmax(differ, apart(&c, first, c.p));
        free_case(&c);
    }
    printf("  %d problems: worst %.1f (lemke) and %.1f (pivot) roundings, u differ by %.0e of the bound, %d "
           "handed over\n",
           count, worst[0], worst[1], differ, handed);
    CHECK(differ <= 1e-3);
}

// Each friction direction enters M = G^T W G rounded, and p_t = G beta is rounded again: a few roundings for
// each of up to nine directions of a block.
#define CONE_ROUNDINGS 64.0

static void add_polygon(crRandom* random, Case* c, crBlock* block, int* vertices) {
    block->vertex = *vertices;
    block->vertex_count = 3 + (int)(sample_bits(random) % 6);
    double turn = sample_uniform(random, 0.0, 6.28);
    double mu = sample_uniform(random, 0.05, 1.5);
    for (int k = 0; k < block->vertex_count; k++) {
        double angle = turn + 2.0 * CR_PI * k / block->vertex_count;
        c->vertices[*vertices][0] = mu * cr_cos(angle);
        c->vertices[(*vertices)++][1] = 0.7 * mu * cr_sin(angle);
    }
}

TEST(polygon_and_planar_cones_with_spin) {
    crRandom random = sample_seed(11);
    int count = test_samples(12000);
    double worst = 0.0;
    for (int k = 0; k < count; k++) {
        Case c = make_case(4 + random_size(&random, 32));
        gram(&random, &c, k % 3 == 0 ? 6 : c.n + 2, false);
        int row = 0, blocks = 0, vertices = 0;
        while (row < c.n) {
            int left = c.n - row;
            crBlock* block = &c.blocks[blocks++];
            bool planar = left < 3 || sample_bits(&random) % 3 == 0;
            bool spin = left >= 4 && sample_bits(&random) % 3 == 0;
            *block = cr_block(left < 2 ? CR_BLOCK_UNILATERAL : CR_BLOCK_CONE, row,
                              left < 2 ? 1
                              : planar ? 2
                                       : 3);
            if (left >= 2) {
                block->mu = block->mu2 =
                    sample_bits(&random) % 5 == 0 ? 0.0 : sample_uniform(&random, 0.0, 1.5);
                if (!planar) add_polygon(&random, &c, block, &vertices);
                block->spin = spin;
                block->count += spin ? 1 : 0;
                block->mu_spin = sample_uniform(&random, 0.0, 0.3);
            }
            row += block->count;
        }
        c.problem.block_count = blocks;
        // velocities before an impact: in the range of W
        for (int j = 0; j < c.n; j++) {
            double x = sample_uniform(&random, -1.0, 1.0);
            for (int i = 0; i < c.n; i++) {
                c.q[i] += c.W[i * c.n + j] * x;
            }
        }
        crReport lemke = solve(&c, cr__solver(&cr__solver_lemke, NULL));
        worst = fmax(worst, judge(&c, &lemke, "cones", CONE_ROUNDINGS));
        free_case(&c);
    }
    printf("  %d problems: worst %.1f roundings\n", count, worst);
}

// one contact of every kind of pair of bodies, friction polygon of eight sides
TEST(single_contacts_of_sampled_bodies) {
    for (crSampleKind kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(20 + kind);
        int count = test_samples(100000);
        double worst = 0.0;
        int unsolved = 0;
        for (int k = 0; k < count; k++) {
            crCollision collision = sample_collision(&random, kind);
            Case c = make_case(3);
            crMat3 frame = cr_frame(collision.n);
            for (int i = 0; i < 3; i++) {
                c.q[i] = cr_dot(cr_mat3_column(frame, i), collision.V);
                for (int j = 0; j <= i; j++) {
                    crVec3 Wj = cr_mat3_mul(collision.W, cr_mat3_column(frame, j));
                    c.W[3 * i + j] = c.W[3 * j + i] = cr_dot(cr_mat3_column(frame, i), Wj);
                }
            }
            c.blocks[0] = cr_block(CR_BLOCK_CONE, 0, 3);
            c.blocks[0].vertex_count = 8;
            for (int v = 0; v < 8; v++) {
                c.vertices[v][0] = collision.mu * cr_cos(CR_PI * v / 4.0);
                c.vertices[v][1] = collision.mu * cr_sin(CR_PI * v / 4.0);
            }
            crReport report = solve(&c, cr__solver(&cr__solver_lemke, NULL));
            // singular to rounding, V outside the range: impulses of 1e14 and more, no answer in double
            // precision
            double values[3];
            crMat3 axes;
            cr_sym3_eigen((crSym3){c.W[0], c.W[1], c.W[2], c.W[4], c.W[5], c.W[8]}, values, &axes);
            bool hopeless = values[0] < 1e-13 * values[2];
            if (hopeless && report.outcome != CR_OUTCOME_SOLVED) {
                unsolved++;
            } else {
                worst = fmax(worst, judge(&c, &report, "contact", CONE_ROUNDINGS));
            }
            free_case(&c);
        }
        printf("  kind %d, %d contacts: worst %.1f roundings, %d beyond double precision\n", (int)kind, count,
               worst, unsolved);
        CHECK(unsolved * 1000 <= count);
    }
}

TEST(large_problems) {
    bool soak = getenv("CAROM_SOAK") != NULL;
    int sizes[3] = {soak ? 1000 : 150, soak ? 700 : 120, soak ? 400 : 100};
    for (int k = 0; k < 3; k++) {
        crRandom random = sample_seed(12);
        Case c = make_case(sizes[k]);
        fill(&random, &c, (Family)k);
        crReport pivot = solve(&c, cr__solver(&cr__solver_pivot, NULL));
        double a = judge(&c, &pivot, family_names[k], 16.0);
        crReport lemke = solve(&c, cr__solver(&cr__solver_lemke, NULL));
        double b = judge(&c, &lemke, family_names[k], 16.0);
        printf("  %s, n = %d: %.1f roundings (pivot, %d), %.1f (lemke, %d)\n", family_names[k], c.n, a,
               pivot.iterations, b, lemke.iterations);
        free_case(&c);
    }
}

TEST(the_answer_is_a_good_start) {
    crRandom random = sample_seed(13);
    Case c = make_case(80);
    fill(&random, &c, DEFINITE);
    crReport cold = solve(&c, cr__solver(&cr__solver_pivot, NULL));
    double before[80];
    memcpy(before, c.p, sizeof before);
    crReport warm;
    crSolver solver = cr__solver(&cr__solver_pivot, NULL);
    CHECK_STATUS(cr_solver_run(&solver, &c.problem, 1e-9, &c.arena, c.p, &warm, NULL), CR_OK);
    CHECK(cold.iterations > 1 && warm.iterations == 1);
    for (int i = 0; i < 80; i++) {
        CHECK_NEAR(c.p[i], before[i], 1e-14);
    }
    free_case(&c);
}

// W off by a thousandth from symmetric: the answer is that of W as given
TEST(slightly_unsymmetric_matrices) {
    crRandom random = sample_seed(14);
    int count = test_samples(1500);
    double worst = 0.0;
    int handed = 0;
    for (int k = 0; k < count; k++) {
        Case c = make_case(random_size(&random, 40));
        fill(&random, &c, DEFINITE);
        c.problem.raw = false;
        for (int i = 0; i < c.n * c.n; i++) {
            c.W[i] *= 1.0 + sample_uniform(&random, -1e-3, 1e-3);
        }
        crReport report = solve(&c, cr__solver(&cr__solver_pivot, NULL));
        handed += strcmp(report.method, "pivot") != 0;
        worst = fmax(worst, judge(&c, &report, "unsymmetric", 64.0));
        free_case(&c);
    }
    printf("  %d problems: worst %.1f roundings, %d handed over\n", count, worst, handed);
}

// inputs made of + - * / only, so that the answers are the same bits on every compiler
TEST(answers_have_the_same_bits_everywhere) {
    uint64_t hash = CR_HASH_SEED;
    Family families[] = {DEFINITE, SEMIDEFINITE, TIES, P_MATRIX};
    for (int f = 0; f < 4; f++) {
        crRandom random = sample_seed(15);
        for (int k = 0; k < 40; k++) {
            Case c = make_case(random_size(&random, 60));
            fill(&random, &c, families[f]);
            solve(&c, cr__solver(&cr__solver_lemke, NULL));
            hash = cr_hash(hash, c.p, (size_t)c.n * sizeof(double));
            solve(&c, cr__solver(&cr__solver_pivot, NULL));
            hash = cr_hash(hash, c.p, (size_t)c.n * sizeof(double));
            free_case(&c);
        }
    }
    printf("  hash %016llx\n", (unsigned long long)hash);
    CHECK(hash == UINT64_C(0x00b9c6a6caa3197a));
}
