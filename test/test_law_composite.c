// test_law_composite.c - the weighted sum of laws: its extremes, its place in the region, what it refuses.
#include "law_case.h"
#include "resolve/kinds.h"
#include "test.h"

static crHit hit_of(const crLaw* law, const crContact* c) {
    crHit hit = {0};
    CHECK_STATUS(cr_law_apply_contact(law, c, &hit, NULL), CR_OK);
    return hit;
}

static crLawParams composite_of(int count, const crLaw* laws, const double* weights) {
    crLawParams params = cr_law_params();
    params.law_count = count;
    params.laws = laws;
    params.weights = weights;
    return params;
}

TEST(extremes_are_the_laws) {
    int count = test_samples(100000);
    const crLaw laws[] = {cr__law(&cr__law_newton, NULL), cr__law(&cr__law_chatterjee_ruina, NULL),
                          cr__law(&cr__law_routh, NULL)};
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(1 + (uint64_t)kind);
        for (int i = 0; i < count / 10; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            for (int k = 0; k < 3; k++) {
                double weights[3] = {k == 0, k == 1, k == 2};
                crLawParams params = composite_of(3, laws, weights);
                crLaw law = cr__law(&cr__law_composite, &params);
                crHit mixed = hit_of(&law, &c);
                if (mixed.regime == CR_REGIME_NO_SOLUTION) continue;
                CHECK_VEC(mixed.P, hit_of(&laws[k], &c).P, 0.0);
            }
        }
    }
}

TEST(in_the_region_if_all_are) {
    int count = test_samples(100000);
    const crLaw laws[] = {cr__law(&cr__law_newton, NULL), cr__law(&cr__law_chatterjee_ruina, NULL),
                          cr__law(&cr__law_routh, NULL)};
    double worst = 0.0;
    int none = 0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(20 + (uint64_t)kind);
        for (int i = 0; i < count; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            double a = sample_uniform(&random, 0.0, 1.0);
            double b = sample_uniform(&random, 0.0, 1.0 - a);
            double weights[3] = {a, b, 1.0 - a - b};
            crLawParams params = composite_of(3, laws, weights);
            crLaw law = cr__law(&cr__law_composite, &params);
            crHit mixed = hit_of(&law, &c);
            bool all = true, solved = true;
            crVec3 P = {0, 0, 0};
            double size = 0.0;
            for (int k = 0; k < 3; k++) {
                crHit part = hit_of(&laws[k], &c);
                all = all && part.permissible;
                solved = solved && part.regime != CR_REGIME_NO_SOLUTION;
                P = cr_add(P, cr_scale(weights[k], part.P));
                size = fmax(size, cr_norm(part.P));
            }
            none += !solved;
            CHECK(solved == (mixed.regime != CR_REGIME_NO_SOLUTION));
            if (!solved) continue;
            worst = fmax(worst, cr_norm(cr_sub(mixed.P, P)) / size);
            if (all) CHECK(mixed.permissible);
        }
    }
    CHECK(worst < 1e-15);
    printf("%d without a solution; sum to rounding: %.1e\n", none, worst);
}

// Chatterjee and Ruina's reason for it: a rebound at grazing that is less than Routh's
TEST(grazing_rebound) {
    crContact c = {.W = {1, -0.8, 0, 1, 0, 1}, .V = {0, -1, 0}, .mu = 1.6, .e = 0.5};
    crLaw laws[] = {cr__law(&cr__law_routh, NULL), cr__law(&cr__law_chatterjee_ruina, NULL)};
    double weights[] = {0.25, 0.75};
    crLawParams params = composite_of(2, laws, weights);
    crLaw law = cr__law(&cr__law_composite, &params);
    crHit mixed = hit_of(&law, &c);
    CHECK_NEAR(mixed.V_plus.x, 0.25 * 0.4, 1e-14);
    CHECK(mixed.permissible);
}

static crStatus refuse_all(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)c;
    (void)hit;
    return cr_error_set(error, CR_ERR_REGION, "mine", "mine: refused");
}

TEST(components_that_fail) {
    crContact blocked = {.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 0.5, 0}, .mu = 0.5, .e = 0.5};
    crContact good = {.W = {1, 0, 0, 1, 0, 1}, .V = {-1, 0.5, 0}, .mu = 0.5, .e = 0.5};
    crLaw laws[] = {cr__law(&cr__law_newton, NULL), {"mine", refuse_all, NULL}};
    double weights[] = {1.0, 0.0};
    crLawParams params = composite_of(1, laws, weights);
    crLaw law = cr__law(&cr__law_composite, &params);
    crHit hit = hit_of(&law, &blocked);
    CHECK(hit.regime == CR_REGIME_NO_SOLUTION && hit.solutions == 0);
    CHECK_VEC(hit.P, cr_vec3(0, 0, 0), 0.0);
    params.law_count = 2;
    crError error;
    CHECK_STATUS(cr_law_apply_contact(&law, &good, &hit, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "mine");
}

static void expect(const crLawParams* params, crStatus status, const char* field) {
    crContact c = {.W = {1, 0, 0, 1, 0, 1}, .V = {-1, 0.5, 0}, .mu = 0.5, .e = 0.5};
    crLaw law = cr__law(&cr__law_composite, params);
    crHit hit;
    crError error = {0};
    CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, &error), status);
    CHECK_TEXT(error.field, field);
}

TEST(refusals) {
    crLaw laws[17];
    double weights[17] = {0.5, 0.5};
    for (int i = 0; i < 17; i++)
        laws[i] = cr__law(&cr__law_newton, NULL);
    crLawParams params = composite_of(2, laws, weights);
    expect(&params, CR_OK, "");
    expect(NULL, CR_ERR_MISSING, "laws");
    params.laws = NULL;
    expect(&params, CR_ERR_MISSING, "laws");
    params = composite_of(0, laws, weights);
    expect(&params, CR_ERR_SIZE, "laws");
    params.law_count = 17;
    expect(&params, CR_ERR_SIZE, "laws");
    params = composite_of(2, laws, NULL);
    expect(&params, CR_ERR_MISSING, "sigma");
    params.weights = weights;
    weights[1] = 0.6;
    expect(&params, CR_ERR_RANGE, "sigma");
    weights[0] = 1.5;
    weights[1] = -0.5;
    expect(&params, CR_ERR_RANGE, "sigma");
    weights[1] = NAN;
    expect(&params, CR_ERR_FINITE, "sigma");
    weights[0] = 0.5;
    weights[1] = 0.5 + 1e-10;
    expect(&params, CR_OK, "");
    laws[1].apply = NULL;
    expect(&params, CR_ERR_ARGUMENT, "laws");
}

TEST(depth) {
    // each one holds the one before
    crLaw laws[6];
    crLawParams params[6];
    double weight = 1.0;
    laws[0] = cr__law(&cr__law_newton, NULL);
    for (int i = 0; i < 5; i++) {
        params[i] = composite_of(1, &laws[i], &weight);
        laws[i + 1] = cr__law(&cr__law_composite, &params[i]);
        if (i < 4) {
            expect(&params[i], CR_OK, "");
        } else {
            expect(&params[i], CR_ERR_LIMIT, "laws");
        }
    }
    // one that holds itself
    crLawParams self = composite_of(1, &laws[1], &weight);
    laws[1] = cr__law(&cr__law_composite, &self);
    expect(&self, CR_ERR_LIMIT, "laws");
}
