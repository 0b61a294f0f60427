// test_motion_gauss.c - scenes fitted to tosses by derivatives of the motion: known parameters, standard errors, refusals.
#include "fit/motion_gauss.h"

#include "fit/motion_search.h"
#include "toss_sample.h"

static const char* const mu_e[] = {"mu", "e", NULL};
static const TossKind throws = {.tosses = 10, .samples = 11, .interval = 0.05, .noise = 2e-4, .fall = 1.0};

static double mean_misfit(const TossCase* c, const double* x) {
    double values[CR_MOTION_PARAMS], sum = 0.0;
    for (int i = 0; i < c->model.param_count; i++)
        values[i] = cr_motion_param_value(&c->model.params[i], x[i]);
    for (int i = 0; i < c->tosses.count; i++) {
        crMotionRun run;
        CHECK_STATUS(cr_motion_simulate(&c->model, values, i, &run, NULL, NULL), CR_OK);
        sum += run.misfit / c->tosses.count;
    }
    return sum;
}

// From starts across the ranges: nine of ten end at the parameters, by few passes.
TEST(known_parameters_by_derivatives) {
    TossCase c;
    toss_open(&c, TOSS_SPATIAL, &throws, 3, mu_e);
    CHECK(cr_motion_gauss_can(&c.model));
    int best = 0, passes = 0, starts = test_samples(200) / 20;
    double least = INFINITY, misfit[10] = {0};
    starts = starts > 10 ? 10 : starts;
    for (int s = 0; s < starts; s++) {
        crMotionGauss g = {.model = &c.model, .count = c.tosses.count, .in = c.in};
        cr__search_point(s + 1, 2, g.x);
        CHECK_STATUS(cr_motion_gauss_wide(&g, NULL), CR_OK);
        CHECK_STATUS(cr_motion_gauss_narrow(&g, NULL), CR_OK);
        double mu = cr_motion_param_value(&c.model.params[0], g.x[0]),
               e = cr_motion_param_value(&c.model.params[1], g.x[1]);
        passes += g.passes;
        misfit[s] = g.misfit;
        least = fmin(least, g.misfit);
        if (!(fabs(mu - 0.08) < 2e-3 && fabs(e - 0.4) < 5e-3)) continue;
        // the misfit is that of the simulation by itself, whose contacts have a wider deadband; and not better beside
        CHECK_NEAR(g.misfit, mean_misfit(&c, g.x), 1e-5);
        double beside[2] = {g.x[0] + 0.003, g.x[1]};
        CHECK(mean_misfit(&c, beside) > g.misfit);
        CHECK(g.se[0] > 0.0 && g.se[0] < 2e-3 && fabs(mu - 0.08) < 5.0 * g.se[0]);
        CHECK(g.se[1] > 0.0 && g.se[1] < 5e-3 && fabs(e - 0.4) < 5.0 * g.se[1]);
    }
    for (int s = 0; s < starts; s++)
        best += misfit[s] <= least * (1.0 + 1e-4);
    printf("  %d of %d searches end at the least misfit, %d passes in all\n", best, starts, passes);
    CHECK(10 * best >= 9 * starts);
    toss_close(&c);
}

// Cubes that tumble: most samples come after chaos. Derivatives see that, and the whole range is narrowed by quadratics before
// they go on; the fit is no worse than the parameters that the tosses were made with.
#define TUMBLING                                                                                      \
    "{\"carom\": 1, \"step\": {\"dt\": 0.01},\n"                                                      \
    " \"materials\": {\"wood\": {\"mu\": 0.2, \"e\": 0.3}},\n"                                        \
    " \"bodies\": [{\"name\": \"cube\", \"mass\": 0.5,\n"                                             \
    "   \"shapes\": [{\"type\": \"box\", \"half\": [0.05, 0.05, 0.05], \"material\": \"wood\"}]}],\n" \
    " \"static\": [{\"type\": \"halfspace\", \"n\": [0, 0, 1], \"offset\": 0, \"material\": \"wood\"}]}\n"

TEST(tumbling_cubes) {
    static const TossKind tumbles = {
        .tosses = 12, .samples = 21, .interval = 0.02, .noise = 1e-3, .fall = 1.5};
    TossCase c;
    crMotionFit fit = {0};
    crMotionOptions options = cr_motion_options();
    toss_open(&c, TUMBLING, &tumbles, 5, mu_e);
    options.points = 12;
    options.bootstrap = 20;
    options.gauss = true;
    CHECK_STATUS(cr_motion_fit(&c.model, &options, &fit, NULL), CR_OK);
    CHECK_STATUS(fit.status, CR_OK);
    double truth[2];
    const double values[2] = {0.2, 0.3};
    for (int i = 0; i < 2; i++) {
        // the place of a value, by halving
        double lo = 0.0, hi = 1.0;
        for (int k = 0; k < 60; k++) {
            truth[i] = 0.5 * (lo + hi);
            if (cr_motion_param_value(&c.model.params[i], truth[i]) < values[i])
                lo = truth[i];
            else
                hi = truth[i];
        }
    }
    double least = mean_misfit(&c, truth);
    printf("  %d runs of %d tosses, misfit %.4f (%.4f of the truth), mu %.3f, e %.3f\n", fit.simulated,
           c.tosses.count, fit.misfit, least, fit.fitted[0].value, fit.fitted[1].value);
    CHECK(fit.misfit <= 1.2 * least);
    CHECK_NEAR(fit.fitted[0].value, 0.2, 0.02);
    CHECK_NEAR(fit.fitted[1].value, 0.3, 0.05);
    cr_motion_fit_destroy(&fit);
    toss_close(&c);
}

TEST(what_it_cannot_do) {
    TossCase c;
    static const char* const other[] = {"mu", "threshold", NULL};
    toss_open(&c, TOSS_SPATIAL, &throws, 3, other);
    CHECK(!cr_motion_gauss_can(&c.model));
    toss_close(&c);
    toss_open(&c, TOSS_PLANAR, &throws, 3, mu_e);
    CHECK(!cr_motion_gauss_can(&c.model));
    toss_close(&c);
}
