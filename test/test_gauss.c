// test_gauss.c - laws fitted by their derivatives: the loss against the search without them, passes, standard errors.
#include "fit/gauss.h"
#include "fit_sample.h"

static crGauss gauss_of(const crImpacts* impacts, const char* name) {
    crGauss g = {.impacts = impacts, .law = cr_fit_law_find(name), .theta = cr_fit_theta()};
    unsigned params = impacts->planar ? g.law.params : g.law.spatial;
    for (int i = 0; i < CR_FIT_PARAMS; i++) {
        if (params & (1u << i)) g.param[g.dim++] = (crFitParam)i;
    }
    return g;
}

TEST(gauss_ends_where_the_search_does_with_fewer_passes) {
    const char* const laws[] = {"chatterjee-ruina", "whittaker", "anitescu-potra", "smith"};
    int best = 0, all = 0, passes = 0, evaluations = 0;
    for (int k = 0; k < 4; k++) {
        for (int seed = 1; seed <= 3; seed++) {
            crFitTheta theta = truth();
            FitFile file = fit_sample_law(laws[k], &theta, 60, 0.02, (uint64_t)seed);
            crImpacts impacts;
            CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
            crFitOptions options = cr_fit_options();
            options.bootstrap = 0;
            options.folds = 2;
            crFit fit;
            CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find(laws[k]), &options, &fit, NULL), CR_OK);
            crGauss g = gauss_of(&impacts, laws[k]);
            cr_gauss_fit(&g, 4);
            all++;
            best += g.loss <= fit.loss * (1.0 + 1e-5);
            passes += g.passes;
            evaluations += fit.evaluations;
            // the best of all is within reach of either
            test_check(g.loss < 1.05 * fit.loss, __FILE__, __LINE__, "%s: %g, the search has %g", laws[k],
                       g.loss, fit.loss);
            cr_fit_destroy(&fit);
            cr_impacts_destroy(&impacts);
        }
    }
    printf("  best loss in %d of %d, %d passes (with folds and profiles the search takes %d)\n", best, all,
           passes, evaluations);
    CHECK(10 * best >= 9 * all);
    CHECK(5 * passes < evaluations);
}

// Over many data sets the estimates spread as the standard errors say.
TEST(standard_errors_are_those_of_repeated_experiments) {
    enum { SETS = 40 };
    double values[SETS], mean = 0.0, spread = 0.0, se = 0.0;
    for (int i = 0; i < SETS; i++) {
        crFitTheta theta = truth();
        FitFile file = fit_sample_law("chatterjee-ruina", &theta, 80, 0.02, (uint64_t)(100 + i));
        crImpacts impacts;
        CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
        crGauss g = gauss_of(&impacts, "chatterjee-ruina");
        g.theta = theta;
        cr_gauss_refine(&g);
        int e = 0;
        while (g.param[e] != CR_FIT_E)
            e++;
        values[i] = g.theta.value[CR_FIT_E];
        mean += values[i] / (double)SETS;
        se += g.se[e] / (double)SETS;
        cr_impacts_destroy(&impacts);
    }
    for (int i = 0; i < SETS; i++)
        spread += (values[i] - mean) * (values[i] - mean) / (SETS - 1);
    spread = sqrt(spread);
    printf("  e: spread %.2e, standard error %.2e\n", spread, se);
    CHECK(se > 0.5 * spread && se < 2.0 * spread);
    CHECK_NEAR(mean, truth().value[CR_FIT_E], 4.0 * spread / sqrt((double)SETS) + 1e-3);
}

// What slides says nothing of et: no standard error, not a wrong one.
TEST(what_data_do_not_tell_has_no_standard_error) {
    crFitTheta theta = truth();
    theta.value[CR_FIT_MU] = 0.001;
    theta.value[CR_FIT_ET] = 0.5;
    FitFile file = fit_sample_law("chatterjee-ruina", &theta, 80, 0.001, 3);
    crImpacts impacts;
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    crGauss g = gauss_of(&impacts, "chatterjee-ruina");
    g.theta = theta;
    cr_gauss_refine(&g);
    for (int i = 0; i < g.dim; i++) {
        if (g.param[i] == CR_FIT_ET) CHECK(isnan(g.se[i]));
        if (g.param[i] == CR_FIT_E) CHECK(g.se[i] > 0.0 && g.se[i] < 0.01);
    }
    cr_impacts_destroy(&impacts);
}
