// The chain rule against closed forms of balls and springs.
#include "impact_case.h"
#include "resolve/kinds.h"

// one contact: energetic restitution is Newton's, whatever the stiffness and the force law
TEST(chain_of_one) {
    for (int hertz = 0; hertz < 2; hertz++) {
        for (int i = 0; i <= 10; i++) {
            const double v[2] = {2, -1}, masses[2] = {1, 3};
            Case* c = case_balls(2, masses, i / 10.0, false, v);
            crRuleParams params = cr_rule_params();
            params.hertz = hertz == 1;
            crRule rule = cr__rule(&cr__rule_chain, &params);
            CHECK_STATUS(case_run(c, &rule), CR_OK);
            CHECK_NEAR(c->u_plus[0], 3 * c->block[0].e, 1e-11);
            CHECK(c->report.outcome == CR_OUTCOME_SOLVED && c->report.permissible);
            case_free(c);
        }
    }
}

// Three equal balls with equal linear springs, the first comes in at 1. With x1, x2 the compressions and time
// in units of sqrt(m/K): x1 + x2 = sin t, x1 - x2 = sin(sqrt(3) t)/sqrt(3) until contact 1 opens at t1; then
// contact 2 is a single spring between two balls: x2'' = -2 x2.
static void three_balls(double* v) {
    double r = sqrt(3.0), lo = 2.0, hi = 3.0;
    for (int i = 0; i < 100; i++) {
        double t = 0.5 * (lo + hi);
        if (sin(t) + sin(r * t) / r > 0.0) {
            lo = t;
        } else {
            hi = t;
        }
    }
    double t = lo;
    double x2 = 0.5 * (sin(t) - sin(r * t) / r), s = cos(t), d = cos(r * t);
    double rate1 = 0.5 * (s + d), rate2 = 0.5 * (s - d);  // v1 - v2 and v2 - v3
    double v3 = (1.0 - rate1 - 2.0 * rate2) / 3.0;
    double v2 = v3 + rate2;
    v[0] = v2 + rate1;
    // energy of the pair: (v2 - v3)^2/4 + x2^2/2 all goes into separation
    double separation = sqrt(rate2 * rate2 + 2.0 * x2 * x2), mean = 0.5 * (v2 + v3);
    v[1] = mean - 0.5 * separation;
    v[2] = mean + 0.5 * separation;
}

TEST(chain_of_three_equal_springs) {
    const double v[3] = {1, 0, 0};
    double expected[3];
    three_balls(expected);
    Case* c = case_balls(3, NULL, 1.0, false, v);
    crRule rule = cr__rule(&cr__rule_chain, NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_V(c, 1e-11, expected[0], expected[1], expected[2]);
    CHECK_NEAR(c->report.energy_change, 0.0, 1e-11);
    printf("three balls, equal springs: %.9f %.9f %.9f in %d steps\n", c->v_plus[0], c->v_plus[1],
           c->v_plus[2], c->report.steps);
    case_free(c);
}

// stiffness ratios alone matter; a much stiffer first contact ends before the second begins: the sequence
TEST(chain_ratios) {
    const double v[3] = {1, 0, 0};
    Case* c = case_balls(3, NULL, 1.0, false, v);
    crRuleParams params = cr_rule_params();
    const double a[2] = {1, 7}, b[2] = {1e-6, 7e-6};
    params.stiffness = a;
    crRule rule = cr__rule(&cr__rule_chain, &params);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    double first[3];
    memcpy(first, c->v_plus, sizeof first);
    params.stiffness = b;
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_V(c, 1e-12, first[0], first[1], first[2]);
    double last = 1.0;
    for (double ratio = 1e2; ratio < 1e7; ratio *= 100) {
        const double k[2] = {ratio, 1};
        params.stiffness = k;
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        double off = fabs(c->v_plus[2] - 1.0) + fabs(c->v_plus[1]) + fabs(c->v_plus[0]);
        CHECK(off < last);
        last = off;
    }
    CHECK(last < 1e-2);
    printf("stiff first contact, 1e6: off the sequence by %.1e\n", last);
    case_free(c);
}

// e = 0 in one contact and 1 in the other; and symmetric input stays symmetric
TEST(chain_mixed_and_symmetric) {
    const double v[3] = {1, 0, -1};
    Case* c = case_balls(3, NULL, 0.7, false, v);
    crRule rule = cr__rule(&cr__rule_chain, NULL);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK_V(c, 1e-11, -0.7, 0, 0.7);
    c->block[0].e = 0.0;
    c->block[1].e = 1.0;
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(c->report.permissible && c->report.energy_change < -0.01);
    CHECK_NEAR(c->report.energy_change, case_energy(c, c->v_plus) - case_energy(c, c->v), 1e-12);
    case_free(c);
}

TEST(chains_never_create_energy) {
    crRandom random = sample_seed(6);
    double created = 0.0, kept = 0.0, approach = 0.0;
    int limits = 0, steps = 0;
    for (int i = 0; i < test_samples(6000); i++) {
        int n = 3 + (int)sample_uniform(&random, 0, 3);
        double v[6], masses[6], stiffness[6];
        bool elastic = i % 3 == 0;
        for (int k = 0; k < n; k++) {
            v[k] = sample_uniform(&random, -1, 1);
            masses[k] = sample_log(&random, 0.2, 5);
            stiffness[k] = sample_log(&random, 0.1, 10);
        }
        Case* c = case_balls(n, masses, 1.0, i % 2 == 0, v);
        for (int k = 0; k < c->blocks && !elastic; k++) {
            c->block[k].e = sample_uniform(&random, 0.05, 1);
        }
        crRuleParams params = cr_rule_params();
        params.stiffness = stiffness;
        params.hertz = i % 5 == 0;
        crRule rule = cr__rule(&cr__rule_chain, &params);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        double change = (case_energy(c, c->v_plus) - case_energy(c, c->v)) / case_energy(c, c->v);
        limits += c->report.outcome != CR_OUTCOME_SOLVED;
        created = fmax(created, change);
        if (elastic) kept = fmax(kept, fabs(change));
        approach = fmax(approach, -c->report.margins.penetration);
        CHECK(c->report.permissible);
        steps = c->report.steps > steps ? c->report.steps : steps;
        case_free(c);
    }
    CHECK(created < 1e-10 && kept < 1e-10 && limits == 0);
    printf("chains: most energy created %.1e, elastic off by %.1e, approach left %.1e, at most %d steps\n",
           created, kept, approach, steps);
}
