// Rules where W is singular: joints that leave one freedom, contacts at one place, and mass ratios of 1e12.
// No rule may answer with impulses out of all proportion to the problem.
#include "impact_case.h"
#include "resolve/kinds.h"

// A contact with friction on a body that joints hold to one freedom: u = k a, where a is its speed. Both ends of
// a rod of mass 1 and length 1 at an angle: a joint at one, the floor at the other.
static Case* pendulum(double angle, double mu, double e) {
    double masses[3] = {1.0, 1.0, 1.0 / 12.0};
    double x = 0.5 * cos(angle), y = 0.5 * sin(angle);
    Case* c = case_make(3, masses);
    // rows of velocity at (x, -y) and at (-x, y) from the centre: v + w (-ry, rx)
    double contact[6] = {0, 1, x, 1, 0, y};
    double joint[6] = {1, 0, -y, 0, 1, -x};
    case_cone(c, 2, contact, mu, e, 0.0);
    case_block(c, CR_BLOCK_EQUALITY, 2, joint);
    double v[3] = {-y, -x, -1.0};
    case_velocity(c, v);
    return c;
}

// With k = (kn, kt) and u = -k before, Newton's rule asks for u_n+ = e kn, so that the slip after is e kt and friction
// pulls back: (kn - mu |kt|) p_n > 0 is needed for e > 0. Where it is not, there is no solution.
TEST(newton_pendulum_has_a_solution_or_says_that_it_has_none) {
    crRule rule = cr__rule(&cr__rule_newton, NULL);
    int none = 0, solved = 0;
    for (int i = 0; i < 70; i++) {
        double angle = 0.05 + 0.02 * i;
        double mu = 0.1 + 0.1 * (i % 12);
        Case* c = pendulum(angle, mu, 1.0);
        // the contact moves with kn = 2x = cos, kt = 2y = sin for a unit speed
        double kn = cos(angle), kt = sin(angle);
        bool exists = kn > mu * kt;
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        bool said = c->report.outcome == CR_OUTCOME_SOLVED;
        CHECK(said == exists);
        if (said) {
            CHECK_NEAR(c->u_plus[0], kn, 1e-9);
            CHECK_NEAR(c->p[0], 2.0 * (1.0 / 3.0) / (kn - mu * kt), 1e-6 * c->p[0]);
            solved++;
        } else {
            none++;
        }
        for (int k = 0; k < c->rows; k++)
            CHECK(fabs(c->p[k]) < 1e6);
        case_free(c);
    }
    printf("  %d solved, %d without a solution\n", solved, none);
    CHECK(none > 5 && solved > 5);
}

// Random systems with fewer freedoms than rows, a joint, friction, equal contacts twice and masses from 1e-6 to 1e6.
static Case* crowded(crRandom* random) {
    int nv = 2 + (int)sample_uniform(random, 0, 4);
    double masses[8], rows[24], v[8];
    double ratio = sample_uniform(random, 0, 1) < 0.3 ? 1e6 : 3.0;
    for (int i = 0; i < nv; i++) {
        masses[i] = sample_log(random, 1.0 / ratio, ratio);
        v[i] = sample_uniform(random, -1, 1);
    }
    Case* c = case_make(nv, masses);
    int contacts = 1 + (int)sample_uniform(random, 0, 5);
    double mu = sample_uniform(random, 0, 1.5), e = sample_uniform(random, 0, 1);
    for (int k = 0; k < contacts; k++) {
        bool again = k > 0 && sample_uniform(random, 0, 1) < 0.2;
        for (int i = 0; i < 3 * nv && !again; i++)
            rows[i] = sample_uniform(random, -1, 1);
        double u = 0.0;
        for (int i = 0; i < nv; i++)
            u += rows[i] * v[i];
        for (int i = 0; i < nv && u > 0.0; i++)
            rows[i] = -rows[i];
        case_cone(c, 2 + k % 2, rows, mu, e, 0.0);
    }
    if (nv > 2 && sample_uniform(random, 0, 1) < 0.6) {
        for (int i = 0; i < 2 * nv; i++)
            rows[i] = sample_uniform(random, -1, 1);
        case_block(c, CR_BLOCK_EQUALITY, nv > 3 ? 2 : 1, rows);
    }
    case_velocity(c, v);
    return c;
}

// the largest impulse over the momentum of the system
static double disproportion(const Case* c) {
    double momentum = 0.0, largest = 0.0;
    for (int i = 0; i < c->nv; i++)
        momentum = fmax(momentum, c->M[i * c->nv + i] * fabs(c->v[i]));
    for (int k = 0; k < c->rows; k++)
        largest = fmax(largest, fabs(c->p[k]));
    return largest / momentum;
}

TEST(no_rule_answers_with_an_absurd_impulse) {
    crRandom random = sample_seed(77);
    crRule rules[] = {cr__rule(&cr__rule_newton, NULL),  cr__rule(&cr__rule_poisson, NULL),
                      cr__rule(&cr__rule_coupled, NULL), cr__rule(&cr__rule_weighted, NULL),
                      cr__rule(&cr__rule_reflect, NULL), cr__rule(&cr__rule_chain, NULL),
                      cr__rule(&cr__rule_feasible, NULL)};
    for (int r = 0; r < 7; r++) {
        double worst = 0.0;
        int unsolved = 0, count = test_samples(r == 5 ? 600 : 6000);
        for (int i = 0; i < count; i++) {
            Case* c = crowded(&random);
            CHECK_STATUS(case_run(c, &rules[r]), CR_OK);
            worst = fmax(worst, disproportion(c));
            if (c->report.outcome != CR_OUTCOME_SOLVED) unsolved++;
            case_free(c);
        }
        printf("  %-9s %d of %d not solved, largest impulse %.1e of the momentum\n", rules[r].name, unsolved,
               count, worst);
        CHECK(worst < 1e6);
    }
}
