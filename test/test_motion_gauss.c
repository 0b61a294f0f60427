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
