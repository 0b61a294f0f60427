// test_gauss.c - laws fitted by their derivatives: the loss against the search without them, passes, standard errors.
#include "data.h"
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

// Where everything sticks no row depends on mu: the search looks across its range.
TEST(gauss_leaves_the_plateau_where_everything_sticks) {
    crFitTheta theta = truth();
    FitFile file = fit_sample_law("whittaker", &theta, 60, 0.01, 9);
    crImpacts impacts;
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    crGauss good = gauss_of(&impacts, "whittaker"), stuck = good;
    good.theta = theta;
    cr_gauss_refine(&good);
    stuck.theta = theta;
    stuck.theta.value[CR_FIT_MU] = 50.0;
    cr_gauss_refine(&stuck);
    CHECK(stuck.loss <= good.loss * (1.0 + 1e-4));
    CHECK_NEAR(stuck.theta.value[CR_FIT_MU], good.theta.value[CR_FIT_MU], 1e-3);
    cr_impacts_destroy(&impacts);
}

typedef struct Simplex {
    const crGauss* g;
    int used;
} Simplex;

static double simplex_loss(void* ctx, const double* x) {
    Simplex* s = ctx;
    crFitTheta theta = s->g->theta;
    double sum = 0.0;
    for (int i = 0; i < s->g->dim; i++)
        theta.value[s->g->param[i]] = cr_fit_param_value(s->g->param[i], x[i]);
    for (int i = 0; i < s->g->impacts->count; i++) {
        const crImpactRow* row = &s->g->impacts->rows[i];
        crHit hit;
        bool answered = true;
        cr_fit_answer(s->g->law, &theta, &row->contact, &hit, &answered, NULL);
        sum += cr_impact_error(row, hit.P);
    }
    s->used++;
    return sum / s->g->impacts->count;
}

// Measured impacts of an ellipse: searches from twelve starts, with derivatives and without.
TEST(measured_ellipse_by_derivatives_and_without) {
    char path[512];
    if (test_data("planar-impacts-A/ellipse_2000.csv", path, sizeof path) == NULL) {
        test_skip("planar-impacts-A is not there");
        return;
    }
    static const char* const sources[] = {"m=0.0364",      "I=1.3468e-5",   "vx=vx_i", "vy=vy_i",
                                          "vx_after=vx_f", "vy_after=vy_f", "ry=-d3",  "w=-w_i",
                                          "w_after=-w_f",  "rx=-n3"};
    crImpactOptions options = {0};
    for (int i = 0; i < 10; i++)
        CHECK_STATUS(cr_impact_source(&options, sources[i], NULL), CR_OK);
    for (int i = 1; i <= 6; i++) {
        char text[16];
        snprintf(text, sizeof text, "flag%d=0", i);
        CHECK_STATUS(cr_impact_where(&options, text, NULL), CR_OK);
    }
    crTable table;
    crImpacts impacts;
    CHECK_STATUS(cr_table_read(path, &table, NULL), CR_OK);
    CHECK_STATUS(cr_impacts_create(&table, &options, &impacts, NULL), CR_OK);
    cr_table_free(&table);
    int kept = 0;
    for (int i = 0; i < impacts.count; i += 4)
        impacts.rows[kept++] = impacts.rows[i];
    impacts.count = kept;
    static const char* const laws[] = {"chatterjee-ruina", "whittaker"};
    enum { STARTS = 12 };
    int best = 0, simplex_best = 0, passes = 0, used = 0;
    for (int k = 0; k < 2; k++) {
        crGauss g = gauss_of(&impacts, laws[k]);
        double loss[STARTS], other[STARTS], least = INFINITY;
        for (int s = 0; s < STARTS; s++) {
            double x[CR_SEARCH_DIM];
            crGauss from = g;
            cr__search_point(s + 1, g.dim, x);
            for (int i = 0; i < g.dim; i++)
                from.theta.value[g.param[i]] = cr_fit_param_value(g.param[i], x[i]);
            cr_gauss_refine(&from);
            passes += from.passes;
            Simplex ctx = {&g, 0};
            crSearch search = {simplex_loss, &ctx, g.dim, 0.06, 1e-4, 150 * g.dim, 0};
            other[s] = cr__search(&search, x);
            used += ctx.used;
            loss[s] = from.loss;
            least = fmin(least, fmin(loss[s], other[s]));
        }
        for (int s = 0; s < STARTS; s++) {
            best += loss[s] <= least * (1.0 + 1e-4);
            simplex_best += other[s] <= least * (1.0 + 1e-4);
        }
    }
    printf("  best loss in %d of %d searches by %d passes; simplex %d by %d\n", best, 2 * STARTS, passes,
           simplex_best, used);
    CHECK(10 * best >= 9 * 2 * STARTS);
    CHECK(5 * passes <= used);
    cr_impacts_destroy(&impacts);
}
