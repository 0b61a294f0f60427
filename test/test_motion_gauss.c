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

// From six starts across the ranges: by the wider scales first, as the search without derivatives does.
TEST(known_parameters_by_derivatives) {
    TossCase c;
    toss_open(&c, TOSS_SPATIAL, &throws, 3, mu_e);
    CHECK(cr_motion_gauss_can(&c.model));
    int best = 0, passes = 0;
    for (int s = 0; s < 6; s++) {
        crMotionGauss g = {.model = &c.model, .count = c.tosses.count, .in = c.in};
        cr__search_point(s + 1, 2, g.x);
        for (int level = 0; level < 3; level++) {
            g.wide = level == 0 ? 25.0 : level == 1 ? 5.0 : 1.0;
            g.budget = level < 2 ? 6 : 12;
            CHECK_STATUS(cr_motion_gauss(&g, NULL), CR_OK);
        }
        double mu = cr_motion_param_value(&c.model.params[0], g.x[0]),
               e = cr_motion_param_value(&c.model.params[1], g.x[1]);
        passes += g.passes;
        bool found = fabs(mu - 0.08) < 2e-3 && fabs(e - 0.4) < 5e-3;
        best += found;
        if (!found) continue;
        // the misfit is that of the simulation by itself, whose contacts have a wider deadband; and not better beside
        CHECK_NEAR(g.misfit, mean_misfit(&c, g.x), 1e-5);
        double beside[2] = {g.x[0] + 0.003, g.x[1]};
        CHECK(mean_misfit(&c, beside) > g.misfit);
        CHECK(g.se[0] > 0.0 && g.se[0] < 2e-3 && fabs(mu - 0.08) < 5.0 * g.se[0]);
        CHECK(g.se[1] > 0.0 && g.se[1] < 5e-3 && fabs(e - 0.4) < 5.0 * g.se[1]);
    }
    printf("  %d of 6 searches end at the parameters, %d passes in all\n", best, passes);
    CHECK(best >= 5);
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
