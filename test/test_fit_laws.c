// test_fit_laws.c - every law fitted to collisions that it made itself with known parameters: they must come
// out within their intervals.
#include "fit_sample.h"

#define NOISE 0.02  // m/s, uniform, on every velocity

// every determined parameter within its interval, stretched to four standard deviations: with 33 parameters
// one false alarm in 500 seeds
static void check_recovered(const char* name, int rows, int resamples) {
    crFitTheta theta = truth();
    FitFile file = fit_sample_law(name, &theta, rows, NOISE, 17);
    crImpacts impacts;
    crFit fit;
    crError error = {0};
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, &error), CR_OK);
    crFitOptions options = cr_fit_options();
    options.bootstrap = resamples;
    options.folds = 2;
    options.threads = 2;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find(name), &options, &fit, &error), CR_OK);
    CHECK_STATUS(fit.status, CR_OK);
    for (int i = 0; i < fit.count; i++) {
        const crFitted* p = &fit.fitted[i];
        double value = fit.theta.value[p->param], wanted = theta.value[p->param];
        double sd = fmax((p->hi - p->lo) / 3.92, 1e-4);
        test_check(p->determined != CR_DETERMINED || fabs(value - wanted) <= 4.0 * sd, __FILE__, __LINE__,
                   "%s: %s is %g +- %g, made with %g", name, cr_fit_param_name(p->param), value, sd, wanted);
        bool says = p->determined != CR_DETERMINED || sd < 0.25;
        test_check(says, __FILE__, __LINE__, "%s: %s is said to be determined to %g", name,
                   cr_fit_param_name(p->param), sd);
    }
    // the noise and nothing else is left: its mean norm is below sqrt(3) NOISE
    CHECK(fit.loss < 1.8 * NOISE && fit.cv < 2.0 * NOISE && fit.cv >= 0.98 * fit.loss);
    CHECK(fit.unanswered == 0);
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&impacts);
}

TEST(known_parameters_come_out) {
    static const char* const fast[] = {"newton",       "chatterjee-ruina", "routh",
                                       "routh-newton", "routh-energetic",  "whittaker",
                                       "smith",        "anitescu-potra",   "pfeiffer-glocker",
                                       "brach"};
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++) {
        check_recovered(fast[i], 120, 30);
    }
    check_recovered("spherical", 30, 8);
    check_recovered("compliant", 15, 4);
}

// disks: W is diagonal, so the bilinear law applies
TEST(bilinear_on_disks) {
    FitFile file = fit_sample_open();
    crRandom random = sample_seed(5);
    crFitTheta theta = truth();
    fputs(FIT_SAMPLE_HEADER, file.file);
    for (int i = 0; i < 120; i++) {
        FitBody b = fit_sample_body(&random);
        b.r.x = 0.0;
        crMat3 frame;
        crContact c = fit_sample_contact(&b, &frame);
        crHit hit;
        bool answered = false;
        CHECK_STATUS(cr_fit_answer(cr_fit_law_find("bilinear"), &theta, &c, &hit, &answered, NULL), CR_OK);
        CHECK(answered);
        fit_sample_row(file.file, &random, &b, frame, hit.P, NOISE);
    }
    fclose(file.file);
    crImpacts impacts;
    crFit fit;
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, NULL), CR_OK);
    crFitOptions options = cr_fit_options();
    options.bootstrap = 40;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("bilinear"), &options, &fit, NULL), CR_OK);
    CHECK_STATUS(fit.status, CR_OK);
    CHECK_NEAR(fit.theta.value[CR_FIT_MU], 0.23, 0.02);
    CHECK_NEAR(fit.theta.value[CR_FIT_E], 0.62, 0.01);
    CHECK_NEAR(fit.theta.value[CR_FIT_ET], 0.35, 0.05);
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&impacts);
}
