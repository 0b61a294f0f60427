// test_modes.c - derivatives of the answers of contact problems against differences of solves, and their adjoint.
#include "carom/modes.h"
#include "sample.h"
#include "test.h"

// cones: sliding; with spin; with rolling; with both
enum { CONES = 4, SINGLE = 3 + 4 + 5 + 6, ROWS = SINGLE + 3, BLOCKS = CONES + 3 };

typedef struct Case {
    crBlock block[BLOCKS];
    double W[ROWS * ROWS], u[ROWS], b[ROWS];
    crProblem problem;
} Case;

static void set_problem(Case* c) {
    c->problem =
        (crProblem){.rows = ROWS, .block_count = BLOCKS, .blocks = c->block, .u_free = c->u, .b = c->b};
    c->problem.W = (crMatrix){.rows = ROWS, .cols = ROWS, .value = c->W};
}

static void sample_case(crRandom* random, Case* c) {
    double G[ROWS][ROWS];
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++)
            G[i][j] = sample_uniform(random, -1.0, 1.0);
        c->u[i] = sample_uniform(random, -1.0, 1.0);
        c->b[i] = 0.0;
    }
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < ROWS; k++)
                sum += 0.2 * G[i][k] * G[j][k];
            c->W[i * ROWS + j] = sum;
        }
    }
    for (int i = 0, row = 0; i < CONES; row += c->block[i++].count) {
        bool spin = i % 2 == 1, roll = i >= 2;
        c->block[i] = cr_block(CR_BLOCK_CONE, row, 3 + (spin ? 1 : 0) + (roll ? 2 : 0));
        c->block[i].mu = c->block[i].mu2 = sample_uniform(random, 0.1, 0.9);
        c->block[i].spin = spin;
        c->block[i].roll = roll;
        if (spin) c->block[i].mu_spin = sample_uniform(random, 0.1, 0.9);
        if (roll) c->block[i].mu_roll = sample_uniform(random, 0.1, 0.9);
        c->u[row] = sample_uniform(random, -1.5, 0.5);
    }
    c->block[CONES] = cr_block(CR_BLOCK_EQUALITY, SINGLE, 1);
    c->block[CONES + 1] = cr_block(CR_BLOCK_UNILATERAL, SINGLE + 1, 1);
    c->block[CONES + 2] = cr_block(CR_BLOCK_BOX, SINGLE + 2, 1);
    c->block[CONES + 2].lo = -0.3;
    c->block[CONES + 2].hi = 0.3;
    set_problem(c);
}

static bool solve(const Case* c, crArena* arena, double* p) {
    crSolverParams params = cr_solver_params();
    params.tol = 1e-14;
    crSolver solver;
    if (cr_solver_find("newton", &params, &solver, NULL) != CR_OK) return false;
    crReport report;
    memset(p, 0, ROWS * sizeof *p);
    return cr_solver_run(&solver, &c->problem, 1e-12, arena, p, &report, NULL) == CR_OK &&
           report.outcome == CR_OUTCOME_SOLVED;
}

typedef struct Change {
    double u[ROWS], b[ROWS], W[ROWS * ROWS], mu[BLOCKS], mu_spin[BLOCKS], mu_roll[BLOCKS];
} Change;

static void sample_change(crRandom* random, Change* d) {
    for (int i = 0; i < ROWS; i++) {
        d->u[i] = sample_uniform(random, -1.0, 1.0);
        d->b[i] = sample_uniform(random, -1.0, 1.0);
        for (int j = 0; j <= i; j++)
            d->W[i * ROWS + j] = d->W[j * ROWS + i] = sample_uniform(random, -0.3, 0.3);
    }
    for (int i = 0; i < BLOCKS; i++) {
        d->mu[i] = sample_uniform(random, -0.3, 0.3);
        d->mu_spin[i] = sample_uniform(random, -0.3, 0.3);
        d->mu_roll[i] = sample_uniform(random, -0.3, 0.3);
    }
}

// p and u of the problem moved along d by t
static bool moved(const Case* c, const Change* d, double t, crArena* arena, double out[2 * ROWS]) {
    Case there = *c;
    set_problem(&there);
    for (int i = 0; i < ROWS; i++) {
        there.u[i] += t * d->u[i];
        there.b[i] += t * d->b[i];
    }
    for (int i = 0; i < ROWS * ROWS; i++)
        there.W[i] += t * d->W[i];
    for (int i = 0; i < CONES; i++) {
        there.block[i].mu += t * d->mu[i];
        there.block[i].mu2 = there.block[i].mu;
        if (there.block[i].spin) there.block[i].mu_spin += t * d->mu_spin[i];
        if (there.block[i].roll) there.block[i].mu_roll += t * d->mu_roll[i];
    }
    if (!solve(&there, arena, out)) return false;
    for (int i = 0; i < ROWS; i++) {
        out[ROWS + i] = there.u[i];
        for (int j = 0; j < ROWS; j++)
            out[ROWS + i] += there.W[i * ROWS + j] * out[j];
    }
    return true;
}

static bool difference(const Case* c, const Change* d, double h, crArena* arena, double D[2 * ROWS]) {
    double at[4][2 * ROWS];
    const double steps[4] = {-h, h, -2.0 * h, 2.0 * h};
    for (int i = 0; i < 4; i++) {
        if (!moved(c, d, steps[i], arena, at[i])) return false;
    }
    for (int i = 0; i < 2 * ROWS; i++)
        D[i] = (8.0 * (at[1][i] - at[0][i]) - (at[3][i] - at[2][i])) / (12.0 * h);
    return true;
}

static double size_of(const double* x, int count) {
    return count == 2 ? sqrt(x[0] * x[0] + x[1] * x[1]) : fabs(x[0]);
}

// Sliding, spin and rolling of a cone that presses, by what they do: at their limit or below it. seen[kind][slips] counts.
static void count_groups(const Case* c, const double* p, int seen[3][2]) {
    for (int i = 0; i < CONES; i++) {
        const crBlock* b = &c->block[i];
        const double* own = p + b->row;
        if (!(own[0] > 1e-6)) continue;
        seen[0][size_of(own + 1, 2) > b->mu * own[0] - 1e-9]++;
        if (b->spin) seen[1][size_of(own + 3, 1) > b->mu_spin * own[0] - 1e-9]++;
        if (b->roll) seen[2][size_of(own + (b->spin ? 4 : 3), 2) > b->mu_roll * own[0] - 1e-9]++;
    }
}

TEST(modes_against_differences_of_solves) {
    crRandom random = sample_seed(3);
    int seen[5] = {0}, groups[3][2] = {0}, cases = 0;
    double worst = 0.0;
    for (int i = 0; i < test_samples(10000); i++) {
        crArena arena = {0};
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        Case c;
        Change d;
        double p[ROWS], dp[ROWS], du[ROWS], D[2 * ROWS];
        crModes m;
        sample_case(&random, &c);
        sample_change(&random, &d);
        crProblemChange change = {d.u, d.b, d.W, d.mu, d.mu_spin, d.mu_roll};
        bool good = solve(&c, &arena, p);
        if (good) {
            CHECK_STATUS(cr_modes_find(&c.problem, &arena, p, 1e-10, 1e-9, &m, NULL), CR_OK);
            CHECK_STATUS(cr_modes_apply(&m, &change, dp, du), CR_OK);
            good = m.verdict == CR_SMOOTH && m.distance > 0.02 && difference(&c, &d, 2e-4, &arena, D);
        }
        double size = 0.0, off = 0.0;
        for (int k = 0; good && k < ROWS; k++) {
            size = fmax(size, fmax(fabs(D[k]), fabs(D[ROWS + k])));
            off = fmax(off, fmax(fabs(D[k] - dp[k]), fabs(D[ROWS + k] - du[k])));
        }
        if (good) {
            cases++;
            worst = fmax(worst, off / size);
            test_check(off <= 1e-7 * size, __FILE__, __LINE__, "case %d is off by %g of %g (distance %g)", i,
                       off, size, m.distance);
            for (int k = 0; k < BLOCKS; k++)
                seen[m.mode[k]]++;
            count_groups(&c, p, groups);
        }
        cr_arena_destroy(&arena);
    }
    CHECK(cases > test_samples(10000) / 2);
    for (int i = 0; i < 5; i++)
        CHECK(seen[i] > 0);
    for (int i = 0; i < 6; i++)
        CHECK(groups[i / 2][i % 2] > 5);
    printf("  %d problems; sliding, spin and rolling that stick and slip: %d %d, %d %d, %d %d; worst %.1e\n",
           cases, groups[0][0], groups[0][1], groups[1][0], groups[1][1], groups[2][0], groups[2][1], worst);
}

TEST(adjoint_is_the_transpose) {
    crRandom random = sample_seed(4);
    for (int i = 0; i < test_samples(3000); i++) {
        crArena arena = {0};
        CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
        Case c;
        Change d;
        double p[ROWS], dp[ROWS], du[ROWS], y[2 * ROWS], by_g[ROWS], by_mu[3][BLOCKS];
        crModes m;
        sample_case(&random, &c);
        sample_change(&random, &d);
        for (int k = 0; k < 2 * ROWS; k++)
            y[k] = sample_uniform(&random, -1.0, 1.0);
        if (solve(&c, &arena, p)) {
            crProblemChange change = {d.u, NULL, d.W, d.mu, d.mu_spin, d.mu_roll};
            CHECK_STATUS(cr_modes_find(&c.problem, &arena, p, 1e-10, 0.0, &m, NULL), CR_OK);
            CHECK_STATUS(cr_modes_apply(&m, &change, dp, du), CR_OK);
            CHECK_STATUS(cr_modes_adjoint(&m, y, y + ROWS, by_g, by_mu[0], by_mu[1], by_mu[2]), CR_OK);
            double forward = 0.0, back = 0.0, size = 0.0;
            for (int k = 0; k < ROWS; k++) {
                forward += y[k] * dp[k] + y[ROWS + k] * du[k];
                size += fabs(y[k] * dp[k]) + fabs(y[ROWS + k] * du[k]);
                back += by_g[k] * d.u[k];
                for (int l = 0; l < ROWS; l++)
                    back += by_g[k] * d.W[k * ROWS + l] * p[l];
            }
            for (int k = 0; k < BLOCKS; k++)
                back += by_mu[0][k] * d.mu[k] + by_mu[1][k] * d.mu_spin[k] + by_mu[2][k] * d.mu_roll[k];
            CHECK(fabs(forward - back) <= 1e-11 * size);
        }
        cr_arena_destroy(&arena);
    }
}

// Two equal contacts in one place.
typedef struct Twins {
    double W[4], u_free[2];
    crBlock block[2];
    crProblem problem;
} Twins;

// modes at p, and what a change of both velocities by .3 does
static void apply_to_twins(Twins* t, crArena* arena, const double* p, crModes* m, double* dp, double* du) {
    const double du_free[2] = {0.3, 0.3};
    crProblemChange change = {.u_free = du_free};
    *t = (Twins){.W = {1, 1, 1, 1}, .u_free = {-1, -1}};
    for (int i = 0; i < 2; i++) {
        t->block[i] = cr_block(CR_BLOCK_UNILATERAL, i, 1);
    }
    t->problem = (crProblem){.rows = 2, .block_count = 2, .blocks = t->block, .u_free = t->u_free};
    t->problem.W = (crMatrix){.rows = 2, .cols = 2, .value = t->W};
    CHECK_STATUS(cr_modes_find(&t->problem, arena, p, 1e-10, 1e-9, m, NULL), CR_OK);
    CHECK_STATUS(cr_modes_apply(m, &change, dp, du), CR_OK);
}

// Two equal contacts in one place: the impulses are not unique, the velocity is.
TEST(redundant_contacts_have_one_velocity) {
    crArena arena = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    const double p[2] = {0.5, 0.5};
    Twins twins;
    crModes m;
    double dp[2], du[2];
    apply_to_twins(&twins, &arena, p, &m, dp, du);
    CHECK_NEAR(dp[0] + dp[1], -0.3, 1e-15);
    CHECK_NEAR(du[0], 0.0, 1e-15);
    CHECK_NEAR(du[1], 0.0, 1e-15);
    cr_arena_destroy(&arena);
}

// Of two equal contacts one carries all: the other touches without a force, and is no switch. Alone it would be.
TEST(a_contact_that_others_hold_is_no_switch) {
    crArena arena = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    const double p[2] = {1.0, 0.0};
    Twins twins;
    crModes m;
    double dp[2], du[2];
    apply_to_twins(&twins, &arena, p, &m, dp, du);
    CHECK(m.verdict == CR_SMOOTH && m.one && m.distance == 1.0 && m.block == 0);
    CHECK_NEAR(dp[0], -0.3, 1e-15);
    CHECK_NEAR(du[1], 0.0, 1e-15);
    // two bodies: nothing holds the second
    const double apart[4] = {1, 0, 0, 1}, free[2] = {-1, 0};
    twins.problem.W.value = apart;
    twins.problem.u_free = free;
    CHECK_STATUS(cr_modes_find(&twins.problem, &arena, p, 1e-10, 1e-9, &m, NULL), CR_OK);
    CHECK(m.verdict == CR_ONE_SIDED && m.block == 1 && m.distance == 0.0);
    cr_arena_destroy(&arena);
}

// A block on a ramp at the edge of slip is one-sided; an impulse that is no answer is refused with its residual.
TEST(switches_and_refusals) {
    crArena arena = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    const double W[4] = {1, 0, 0, 1}, u[2] = {-1.0, 0.5}, edge[2] = {1.0, -0.5}, wrong[2] = {0.4, 0.0};
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 2);
    block.mu = block.mu2 = 0.5;
    crProblem problem = {.rows = 2, .block_count = 1, .blocks = &block, .u_free = u};
    problem.W = (crMatrix){.rows = 2, .cols = 2, .value = W};
    crModes m;
    crError error = {0};
    CHECK_STATUS(cr_modes_find(&problem, &arena, edge, 1e-10, 1e-9, &m, NULL), CR_OK);
    CHECK(m.verdict == CR_ONE_SIDED && m.nearest == CR_SWITCH_STICK && m.block == 0 && m.distance == 0.0);
    CHECK_STATUS(cr_modes_find(&problem, &arena, wrong, 1e-10, 1e-9, &m, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "p");
    block.mu2 = 0.6;
    block.count = 2;
    const double W3[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, u3[3] = {-1, 0, 0}, p3[3] = {1, 0, 0};
    block = cr_block(CR_BLOCK_CONE, 0, 3);
    block.mu = 0.5;
    block.mu2 = 0.6;
    problem = (crProblem){.rows = 3, .block_count = 1, .blocks = &block, .u_free = u3};
    problem.W = (crMatrix){.rows = 3, .cols = 3, .value = W3};
    CHECK_STATUS(cr_modes_find(&problem, &arena, p3, 1e-10, 1e-9, &m, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "blocks");
    cr_arena_destroy(&arena);
}
