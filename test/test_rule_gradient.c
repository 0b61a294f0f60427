// test_rule_gradient.c - derivatives of rules against extrapolated differences of their answers and closed forms.
#include "carom/modes.h"
#include "sample.h"
#include "test.h"

// cones: sliding, and with moments also one with spin, one with spin and rolling
enum { CONES = 3, ROWS = 3 + 4 + 6, LEVELS = 8 };

typedef struct Case {
    crBlock block[CONES];
    double W[ROWS * ROWS], u[ROWS];
    int rows;
    crProblem problem;
} Case;

typedef struct Change {
    double u[ROWS], W[ROWS * ROWS], mu[CONES], e[CONES], et[CONES], mu_spin[CONES], mu_roll[CONES];
} Change;

static void pose(Case* c) {
    c->problem = (crProblem){.rows = c->rows, .block_count = CONES, .blocks = c->block, .u_free = c->u};
    c->problem.W = (crMatrix){.rows = c->rows, .cols = c->rows, .value = c->W};
}

static void sample_spd(crRandom* random, int rows, double diagonal, double* W) {
    double G[ROWS][ROWS];
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++)
            G[i][j] = sample_uniform(random, -1.0, 1.0);
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) {
            double sum = i == j ? diagonal : 0.0;
            for (int k = 0; k < rows; k++)
                sum += 0.1 * G[i][k] * G[j][k];
            W[i * rows + j] = sum;
        }
    }
}

static void sample_case(crRandom* random, bool moments, Case* c, Change* d) {
    c->rows = moments ? ROWS : 3 * CONES;
    sample_spd(random, c->rows, 1.0, c->W);
    sample_spd(random, c->rows, 0.1, d->W);
    for (int i = 0; i < c->rows; i++) {
        c->u[i] = sample_uniform(random, -1.0, 1.0);
        d->u[i] = sample_uniform(random, -1.0, 1.0);
    }
    for (int i = 0, row = 0; i < CONES; row += c->block[i++].count) {
        bool spin = moments && i >= 1, roll = moments && i == 2;
        c->block[i] = cr_block(CR_BLOCK_CONE, row, 3 + (spin ? 1 : 0) + (roll ? 2 : 0));
        c->block[i].spin = spin;
        c->block[i].roll = roll;
        if (spin) c->block[i].mu_spin = sample_uniform(random, 0.1, 0.9);
        if (roll) c->block[i].mu_roll = sample_uniform(random, 0.1, 0.9);
        d->mu_spin[i] = spin ? sample_uniform(random, -0.2, 0.2) : 0.0;
        d->mu_roll[i] = roll ? sample_uniform(random, -0.2, 0.2) : 0.0;
        c->block[i].mu = c->block[i].mu2 = sample_uniform(random, 0.1, 0.9);
        c->block[i].e = sample_uniform(random, 0.1, 0.9);
        c->block[i].et = sample_uniform(random, 0.1, 0.5);
        c->u[row] = sample_uniform(random, -1.5, 0.2);
        d->mu[i] = sample_uniform(random, -0.2, 0.2);
        d->e[i] = sample_uniform(random, -0.2, 0.2);
        d->et[i] = sample_uniform(random, -0.2, 0.2);
    }
    pose(c);
}

static bool run(const crRule* rule, const Case* c, crArena* arena, double* p) {
    crRuleReport report;
    size_t mark = cr_arena_mark(arena);
    memset(p, 0, (size_t)c->rows * sizeof *p);
    bool good = cr_rule_run(rule, &c->problem, arena, p, &report, NULL) == CR_OK &&
                report.outcome == CR_OUTCOME_SOLVED;
    cr_arena_release(arena, mark);
    return good;
}

static bool run_at(const crRule* rule, const Case* c, const Change* d, double t, crArena* arena, double* p) {
    Case at = *c;
    for (int i = 0; i < c->rows * c->rows; i++)
        at.W[i] += t * d->W[i];
    for (int i = 0; i < c->rows; i++)
        at.u[i] += t * d->u[i];
    for (int i = 0; i < CONES; i++) {
        at.block[i].mu += t * d->mu[i];
        at.block[i].mu2 = at.block[i].mu;
        at.block[i].mu_spin += t * d->mu_spin[i];
        at.block[i].mu_roll += t * d->mu_roll[i];
        at.block[i].e += t * d->e[i];
        at.block[i].et += t * d->et[i];
    }
    pose(&at);
    return run(rule, &at, arena, p);
}

// Ridders' tableau of central differences, and its error; false: the rule has no answer beside
static bool differences(const crRule* rule, const Case* c, const Change* d, double t, crArena* arena,
                        double* best, double* error) {
    double table[LEVELS][LEVELS][ROWS];
    *error = INFINITY;
    for (int i = 0; i < LEVELS; i++, t *= 0.5) {
        double minus[ROWS], plus[ROWS];
        if (!run_at(rule, c, d, -t, arena, minus) || !run_at(rule, c, d, t, arena, plus)) return false;
        for (int k = 0; k < c->rows; k++)
            table[i][0][k] = (plus[k] - minus[k]) / (2.0 * t);
        double power = 4.0;
        for (int j = 1; j <= i; j++, power *= 4.0) {
            double off = 0.0;
            for (int k = 0; k < c->rows; k++) {
                table[i][j][k] =
                    table[i][j - 1][k] + (table[i][j - 1][k] - table[i - 1][j - 1][k]) / (power - 1.0);
                off = fmax(off, fabs(table[i][j][k] - table[i][j - 1][k]));
                off = fmax(off, fabs(table[i][j][k] - table[i - 1][j - 1][k]));
            }
            if (off < *error) {
                *error = off;
                memcpy(best, table[i][j], (size_t)c->rows * sizeof *best);
            }
        }
    }
    return true;
}

static void compare(const char* name, const crRuleParams* params, bool formula, bool moments, uint64_t seed) {
    crRandom random = sample_seed(seed);
    crRule rule;
    crArena arena;
    CHECK_STATUS(cr_rule_find(name, params, &rule, NULL), CR_OK);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    int count = test_samples(10000), smooth = 0, formulas = 0;
    double worst = 0.0;
    for (int i = 0; i < count; i++) {
        Case c;
        Change d;
        sample_case(&random, moments, &c, &d);
        double p[ROWS], dp[ROWS], other[ROWS] = {0}, error;
        size_t mark = cr_arena_mark(&arena);
        crRuleModes modes;
        crRuleChange change = {d.u, d.W, d.mu, d.e, d.et, d.mu_spin, d.mu_roll};
        bool good = run(&rule, &c, &arena, p);
        if (good) {
            CHECK_STATUS(cr_rule_modes_find(&rule, &c.problem, &arena, p, 1e-9, &modes, NULL), CR_OK);
            good =
                cr_rule_modes_apply(&modes, &change, NULL, dp, NULL) == CR_OK && modes.verdict == CR_SMOOTH;
        }
        // a switch is at least this far away, so that differences stay on one piece
        double far = modes.differenced ? 1e-3 : modes.distance;
        if (good && far > 1e-4 && differences(&rule, &c, &d, fmin(1e-2, 0.05 * far), &arena, other, &error)) {
            double size = 0.0, off = 0.0;
            for (int k = 0; k < c.rows; k++) {
                size = fmax(size, fabs(other[k]));
                off = fmax(off, fabs(other[k] - dp[k]));
            }
            if (error <= 1e-8 * size) {
                smooth++;
                formulas += !modes.differenced;
                worst = fmax(worst, off / size);
                CHECK(off <= 1e-7 * size);
            }
        }
        cr_arena_release(&arena, mark);
    }
    printf("  %s%s: %d of %d compared, %d by formula, worst %.1e\n", name,
           moments ? " with spin and rolling" : "", smooth, count, formulas, worst);
    CHECK(smooth > count / 2);
    if (formula) CHECK(formulas > count / 2);
    cr_arena_destroy(&arena);
}

TEST(newton_against_differences) {
    compare("newton", NULL, true, false, 11);
    compare("newton", NULL, true, true, 31);
}
TEST(poisson_against_differences) {
    compare("poisson", NULL, true, false, 12);
    compare("poisson", NULL, true, true, 32);
}
TEST(coupled_against_differences) {
    const double eps[CONES * CONES] = {0.5, 0.1, 0.0, 0.2, 0.6, 0.1, 0.0, -0.1, 0.4};
    crRuleParams params = cr_rule_params();
    params.eps = eps;
    compare("coupled", &params, true, false, 13);
    compare("coupled", &params, true, true, 33);
}
TEST(sequence_against_differences) {
    static const char* const laws[] = {"chatterjee-ruina", "whittaker", "anitescu-potra"};
    for (int i = 0; i < 3; i++) {
        crRuleParams params = cr_rule_params();
        CHECK_STATUS(cr_law_find(laws[i], NULL, &params.law, NULL), CR_OK);
        compare("sequence", &params, true, false, 14 + (uint64_t)i);
    }
}
TEST(weighted_against_differences) { compare("weighted", NULL, false, false, 20); }

// A rule of the user's has no formula: it is differenced, and says so.
static crStatus half_newton(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crRuleReport* report, crError* error) {
    crRule newton;
    crStatus status = cr_rule_find("newton", params, &newton, error);
    if (status == CR_OK) status = newton.resolve(params, problem, arena, p, report, error);
    for (int i = 0; i < problem->rows; i++)
        p[i] *= 1.0 + 0.1 * p[0] * p[0];
    return status;
}

TEST(own_rule_is_differenced) {
    // one frictionless contact: p = -(1+e) u / w, times 1 + p^2/10
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, 1);
    block.e = 0.5;
    double W = 2.0, u = -1.0, p = 0.0, dp, du = 1.0;
    crProblem problem = {.rows = 1, .block_count = 1, .blocks = &block, .u_free = &u};
    problem.W = (crMatrix){.rows = 1, .cols = 1, .value = &W};
    crRule rule = {"half", half_newton, NULL};
    crArena arena;
    crRuleReport report;
    crRuleModes modes;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, &p, &report, NULL), CR_OK);
    CHECK_STATUS(cr_rule_modes_find(&rule, &problem, &arena, &p, 1e-9, &modes, NULL), CR_OK);
    CHECK(modes.differenced);
    crRuleChange change = {.u_free = &du};
    CHECK_STATUS(cr_rule_modes_apply(&modes, &change, NULL, &dp, NULL), CR_OK);
    double newton = -1.5 * u / W, slope = -1.5 / W;
    CHECK_NEAR(dp, slope * (1.0 + 0.3 * newton * newton), 1e-8);
    CHECK(modes.verdict == CR_SMOOTH);
    cr_arena_destroy(&arena);
}

// Newton's cradle: three equal balls that touch, hit by a fourth. What comes in at one end goes out at the other.
static void cradle(const char* name, bool differenced) {
    enum { N = 3 };
    crBlock block[N];
    double W[N * N] = {2, -1, 0, -1, 2, -1, 0, -1, 2}, u[N] = {-1, 0, 0}, p[N] = {0}, minus[N], dp[N];
    for (int i = 0; i < N; i++) {
        block[i] = cr_block(CR_BLOCK_UNILATERAL, i, 1);
        block[i].e = 1.0;
    }
    crProblem problem = {.rows = N, .block_count = N, .blocks = block, .u_free = u};
    problem.W = (crMatrix){.rows = N, .cols = N, .value = W};
    crRule rule;
    crArena arena;
    crRuleReport report;
    crRuleModes modes;
    CHECK_STATUS(cr_rule_find(name, NULL, &rule, NULL), CR_OK);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, p, &report, NULL), CR_OK);
    CHECK_STATUS(cr_rule_modes_find(&rule, &problem, &arena, p, 1e-9, &modes, NULL), CR_OK);
    double du[N] = {-1, 0, 0};  // the first ball by v1
    crRuleChange change = {.u_free = du};
    CHECK_STATUS(cr_rule_modes_apply(&modes, &change, minus, dp, NULL), CR_OK);
    // v1+ = v1 - p1, v2+ = p1 - p2, v3+ = p2 - p3, v4+ = p3
    const double dv[4] = {1.0 - dp[0], dp[0] - dp[1], dp[1] - dp[2], dp[2]};
    CHECK_NEAR(dv[0], 0.0, 1e-9);
    CHECK_NEAR(dv[1], 0.0, 1e-9);
    CHECK_NEAR(dv[2], 0.0, 1e-9);
    CHECK_NEAR(dv[3], 1.0, 1e-9);
    CHECK(modes.differenced == differenced);
    cr_arena_destroy(&arena);
}
TEST(cradle_by_sequence) { cradle("sequence", true); }

// Two contacts that are hit equally fast: the order decides, and the answer jumps with it.
TEST(order_of_a_sequence_is_a_switch) {
    // a rod (m = L = 1) falls flat on supports at both ends, e = .5: rows y' +- omega/2
    crBlock block[2];
    double W[4] = {4, -2, -2, 4}, u[2] = {-1, -1}, p[2] = {0}, minus[2], plus[2], du[2] = {-1, 0};
    for (int i = 0; i < 2; i++) {
        block[i] = cr_block(CR_BLOCK_UNILATERAL, i, 1);
        block[i].e = 0.5;
    }
    crProblem problem = {.rows = 2, .block_count = 2, .blocks = block, .u_free = u};
    problem.W = (crMatrix){.rows = 2, .cols = 2, .value = W};
    crRule rule;
    crArena arena;
    crRuleReport report;
    crRuleModes modes;
    crRuleChange change = {.u_free = du};
    CHECK_STATUS(cr_rule_find("sequence", NULL, &rule, NULL), CR_OK);
    CHECK_STATUS(cr_arena_create(&arena, NULL, 0), CR_OK);
    CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, p, &report, NULL), CR_OK);
    CHECK_STATUS(cr_rule_modes_find(&rule, &problem, &arena, p, 1e-9, &modes, NULL), CR_OK);
    CHECK(modes.differenced);
    CHECK_STATUS(cr_rule_modes_apply(&modes, &change, minus, plus, NULL), CR_OK);
    CHECK(modes.verdict == CR_NO_DERIVATIVE);
    // the two orders leave spins of -+.140625 (times 12/(2 * 6) of the impulses' difference)
    double other[2];
    memset(other, 0, sizeof other);
    u[0] = -1.0 - 1e-7;
    CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, other, &report, NULL), CR_OK);
    double one = other[0] - other[1];
    u[0] = -1.0 + 1e-7;
    memset(other, 0, sizeof other);
    CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, other, &report, NULL), CR_OK);
    double two = other[0] - other[1];
    CHECK_NEAR(fabs(one), 0.140625 / 6.0, 1e-6);
    CHECK_NEAR(two, -one, 1e-6);
    CHECK_NEAR(modes.jump, fabs(one), 1e-5);
    cr_arena_destroy(&arena);
}
