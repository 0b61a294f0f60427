// test_fit.c - fits of collisions: what the data cannot tell must be said, threads must not matter, files are
// checked, and MCube's ellipse.
#include "data.h"
#include "fit_sample.h"

#define NOISE 0.02  // m/s, uniform, on every velocity

// data without noise of a law with these mu and et, fitted by chatterjee-ruina
static crFit fit_plain(double mu, double et, crImpacts* impacts) {
    crFitTheta theta = truth();
    theta.value[CR_FIT_MU] = mu;
    theta.value[CR_FIT_ET] = et;
    FitFile file = fit_sample_law("chatterjee-ruina", &theta, 80, 0.001, 3);
    crFit fit;
    CHECK_STATUS(fit_sample_read(&file, NULL, impacts, NULL), CR_OK);
    crFitOptions options = cr_fit_options();
    options.bootstrap = 20;
    CHECK_STATUS(cr_fit_run(impacts, cr_fit_law_find("chatterjee-ruina"), &options, &fit, NULL), CR_OK);
    CHECK_STATUS(fit.status, CR_OK);
    return fit;
}

static const crFitted* fitted(const crFit* fit, crFitParam param) {
    for (int i = 0; i < fit->count; i++) {
        if (fit->fitted[i].param == param) return &fit->fitted[i];
    }
    return NULL;
}

TEST(what_data_cannot_tell) {
    // everything slides: et has no say unless it is near -1
    crImpacts impacts;
    crFit fit = fit_plain(0.001, 0.5, &impacts);
    CHECK(fitted(&fit, CR_FIT_ET)->determined != CR_DETERMINED);
    CHECK(fitted(&fit, CR_FIT_E)->determined == CR_DETERMINED);
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&impacts);
    // everything sticks: mu is only known to be large
    fit = fit_plain(4.0, 0.0, &impacts);
    CHECK(fitted(&fit, CR_FIT_MU)->determined == CR_BOUNDED_BELOW);
    CHECK(fitted(&fit, CR_FIT_MU)->flat_lo < 4.0 && fitted(&fit, CR_FIT_MU)->flat_hi > 3.999);
    CHECK(fitted(&fit, CR_FIT_ET)->determined == CR_DETERMINED);
    CHECK_NEAR(fit.theta.value[CR_FIT_ET], 0.0, 0.005);
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&impacts);
}

TEST(held_parameters_stay) {
    crFitTheta theta = truth();
    FitFile file = fit_sample_law("routh", &theta, 60, 0.0, 9);
    crImpacts impacts;
    crFit fit;
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    crFitOptions options = cr_fit_options();
    options.params = 1u << CR_FIT_E;
    options.fixed.value[CR_FIT_MU] = 0.23;
    options.bootstrap = 0;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("routh"), &options, &fit, NULL), CR_OK);
    CHECK(fit.count == 1 && fit.theta.value[CR_FIT_MU] == 0.23);
    // no noise: the search ends at 1e-7 of the range
    CHECK_NEAR(fit.theta.value[CR_FIT_E], 0.62, 1e-6);
    CHECK(fit.loss < 1e-5 && isnan(fit.fitted[0].lo));
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&impacts);
}

static bool same_fit(const crFit* a, const crFit* b, int rows) {
    return memcmp(&a->theta, &b->theta, sizeof a->theta) == 0 && a->cv == b->cv && a->cv_se == b->cv_se &&
           memcmp(a->errors, b->errors, (size_t)rows * sizeof *a->errors) == 0 &&
           a->fitted[0].lo == b->fitted[0].lo && a->fitted[1].hi == b->fitted[1].hi &&
           a->evaluations == b->evaluations;
}

TEST(threads_do_not_matter_and_seeds_do) {
    crFitTheta theta = truth();
    FitFile file = fit_sample_law("smith", &theta, 60, NOISE, 2);
    crImpacts impacts;
    crFit fits[3];
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    for (int i = 0; i < 3; i++) {
        crFitOptions options = cr_fit_options();
        options.bootstrap = 30;
        options.threads = i == 1 ? 5 : 1;
        options.seed = i == 2 ? 7 : 1;
        CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("smith"), &options, &fits[i], NULL), CR_OK);
    }
    CHECK(same_fit(&fits[0], &fits[1], impacts.count));
    CHECK(!same_fit(&fits[0], &fits[2], impacts.count));
    double difference, se;
    cr_fit_compare(&fits[0], &fits[1], impacts.count, &difference, &se);
    CHECK(difference == 0.0 && se == 0.0);
    for (int i = 0; i < 3; i++) {
        cr_fit_destroy(&fits[i]);
    }
    cr_impacts_destroy(&impacts);
}

static bool stop_at_once(void* ctx, const char* law, int done, int count) {
    (void)ctx;
    (void)law;
    return done < 0 && count > 0;
}

TEST(refusals_of_fits) {
    crFitTheta theta = truth();
    FitFile file = fit_sample_law("routh", &theta, 12, NOISE, 4);
    crImpacts impacts;
    crFit fit;
    crError error = {0};
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    crFitOptions options = cr_fit_options();
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("chatterjee-ruina"), &options, &fit, &error),
                 CR_ERR_SIZE);
    CHECK(strstr(error.message, "12 are too few for 3 parameters") != NULL);
    options.watch = stop_at_once;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("routh"), &options, &fit, &error), CR_ERR_LIMIT);
    options.watch = NULL;
    // r is not below the centre, so W is not diagonal
    options.bootstrap = 0;
    options.params = 1u << CR_FIT_E;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("bilinear"), &options, &fit, &error), CR_OK);
    CHECK_STATUS(fit.status, CR_ERR_DIAGONAL);
    CHECK(fit.error.line == 2 && fit.errors == NULL);
    cr_impacts_destroy(&impacts);
    CHECK(cr_fit_law_find("composite").law == NULL && cr_fit_law_omitted("composite") != NULL);
    CHECK(cr_fit_law_omitted("routh") == NULL && cr_fit_law(-1).law == NULL && cr_fit_law(99).law == NULL);
    CHECK(cr_fit_param_name(CR_FIT_PARAMS) == NULL && cr_fit_param_default(CR_FIT_ETA2) == 1.21);
}

TEST(places_and_values_are_inverse) {
    for (int i = 0; i < CR_FIT_PARAMS; i++) {
        double lo, hi;
        cr_fit_param_range((crFitParam)i, &lo, &hi);
        for (int k = 0; k <= 10; k++) {
            double value = cr_fit_param_value((crFitParam)i, k / 10.0);
            CHECK(value >= lo - 1e-12 && value <= hi * (1.0 + 1e-12));
            CHECK_NEAR(cr_fit_param_place((crFitParam)i, value), k / 10.0, 1e-12);
        }
    }
}

TEST(written_and_read_back) {
    crFitTheta theta = truth();
    FitFile file = fit_sample_law("routh", &theta, 40, NOISE, 6);
    FitFile out;
    fit_sample_text(&out, "");
    crImpacts impacts;
    crFit fits[2];
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    crFitOptions options = cr_fit_options();
    options.bootstrap = 5;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("routh"), &options, &fits[0], NULL), CR_OK);
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("newton"), &options, &fits[1], NULL), CR_OK);
    const crFit* both[] = {&fits[0], &fits[1]};
    CHECK_STATUS(cr_fit_write(out.path, both, 2, &impacts, NULL), CR_OK);
    crFitChoice choice;
    CHECK_STATUS(cr_fit_read(out.path, NULL, &choice, NULL), CR_OK);
    CHECK_TEXT(choice.law.name, fits[0].law.name);
    CHECK(choice.cv == fits[0].cv && choice.cv_se == fits[0].cv_se);
    CHECK(choice.theta.value[CR_FIT_MU] == fits[0].theta.value[CR_FIT_MU]);
    CHECK_STATUS(cr_fit_read(out.path, "newton", &choice, NULL), CR_OK);
    CHECK(choice.theta.value[CR_FIT_E] == fits[1].theta.value[CR_FIT_E]);
    CHECK_STATUS(cr_fit_read(out.path, "smith", &choice, NULL), CR_ERR_NAME);
    CHECK_STATUS(cr_fit_write("/nowhere/at/all.json", both, 2, &impacts, NULL), CR_ERR_FILE);
    CHECK_STATUS(cr_fit_read("/nowhere/at/all.json", NULL, &choice, NULL), CR_ERR_FILE);
    remove(out.path);
    for (int i = 0; i < 2; i++) {
        cr_fit_destroy(&fits[i]);
    }
    cr_impacts_destroy(&impacts);
}

TEST(parameter_files_are_checked) {
    static const struct {
        const char* text;
        crStatus status;
    } cases[] = {
        {"", CR_ERR_SYNTAX},
        {"{", CR_ERR_SYNTAX},
        {"[]", CR_ERR_MISSING},
        {"{\"laws\": []}", CR_ERR_MISSING},
        {"{\"laws\": [3]}", CR_ERR_MISSING},
        {"{\"laws\": [{\"law\": 3}]}", CR_ERR_TYPE},
        {"{\"laws\": [{\"law\": \"composite\"}]}", CR_ERR_NAME},
        {"{\"laws\": [{\"law\": \"routh\"}]}", CR_ERR_MISSING},
        {"{\"laws\": [{\"law\": \"routh\", \"parameters\": {\"mass\": 1}}]}", CR_ERR_FIELD},
        {"{\"laws\": [{\"law\": \"routh\", \"parameters\": {\"e\": \"one\"}}]}", CR_ERR_TYPE},
        {"{\"laws\": [{\"law\": \"routh\", \"parameters\": {\"e\": 1.5}}]}", CR_ERR_RANGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        FitFile file;
        crFitChoice choice;
        crError error = {0};
        fit_sample_text(&file, cases[i].text);
        CHECK_STATUS(cr_fit_read(file.path, NULL, &choice, &error), cases[i].status);
        CHECK(error.message[0] != '\0' && error.status == cases[i].status);
        remove(file.path);
    }
}

// MCube's ellipse (planar-impacts-A, 1718 rows without a flag). Its d3 has the sign of a counter-clockwise w,
// its w is clockwise: with w turned round a point impulse leaves .07 m/s, otherwise .75.
static crStatus ellipse(bool turned, crImpacts* impacts) {
    char path[512];
    if (test_data("planar-impacts-A/ellipse_2000.csv", path, sizeof path) == NULL) return CR_ERR_FILE;
    static const char* const common[] = {"m=0.0364",      "I=1.3468e-5",   "vx=vx_i", "vy=vy_i",
                                         "vx_after=vx_f", "vy_after=vy_f", "ry=-d3"};
    static const char* const way[2][3] = {{"w=w_i", "w_after=w_f", "rx=n3"},
                                          {"w=-w_i", "w_after=-w_f", "rx=-n3"}};
    crImpactOptions options = {0};
    for (int i = 0; i < 7; i++) {
        CHECK_STATUS(cr_impact_source(&options, common[i], NULL), CR_OK);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(cr_impact_source(&options, way[turned][i], NULL), CR_OK);
    }
    for (int i = 1; i <= 6; i++) {
        char text[16];
        snprintf(text, sizeof text, "flag%d=0", i);
        CHECK_STATUS(cr_impact_where(&options, text, NULL), CR_OK);
    }
    crTable table;
    CHECK_STATUS(cr_table_read(path, &table, NULL), CR_OK);
    CHECK_STATUS(cr_impacts_create(&table, &options, impacts, NULL), CR_OK);
    cr_table_free(&table);
    return CR_OK;
}

TEST(the_measured_ellipse) {
    crImpacts given, turned;
    if (ellipse(false, &given) != CR_OK) {
        test_skip("planar-impacts-A is not there");
        return;
    }
    CHECK_STATUS(ellipse(true, &turned), CR_OK);
    CHECK(given.count == 1718 && given.left_out == 282 && turned.count == 1718);
    crImpactsSummary a, b;
    CHECK_STATUS(cr_impacts_summary(&given, &a, NULL), CR_OK);
    CHECK_STATUS(cr_impacts_summary(&turned, &b, NULL), CR_OK);
    CHECK_NEAR(a.floor, 0.7498, 1e-4);
    CHECK_NEAR(a.permissible_floor, 0.7499, 1e-4);
    CHECK_NEAR(b.floor, 0.0698, 1e-4);
    CHECK_NEAR(given.mirror, b.floor, 1e-9);
    CHECK(b.impossible == 1);
    crFitOptions options = cr_fit_options();
    options.bootstrap = 0;
    options.folds = 2;
    crFit fit;
    CHECK_STATUS(cr_fit_run(&turned, cr_fit_law_find("routh"), &options, &fit, NULL), CR_OK);
    CHECK_NEAR(fit.cv, 0.2396, 1e-3);
    cr_fit_destroy(&fit);
    CHECK_STATUS(cr_fit_run(&given, cr_fit_law_find("chatterjee-ruina"), &options, &fit, NULL), CR_OK);
    CHECK(fit.cv < 0.876);
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&given);
    cr_impacts_destroy(&turned);
}
