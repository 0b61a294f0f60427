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

// With sanitizers half of the measurements and a few resamples: the same code runs, in a fifth of the time.
TEST(known_parameters_come_out) {
    bool few = getenv("CAROM_FEW") != NULL;
    static const char* const fast[] = {"newton",       "chatterjee-ruina", "routh",
                                       "routh-newton", "routh-energetic",  "whittaker",
                                       "smith",        "anitescu-potra",   "pfeiffer-glocker",
                                       "brach"};
    for (size_t i = 0; i < sizeof fast / sizeof fast[0]; i++) {
        check_recovered(fast[i], few ? 60 : 120, few ? 10 : 30);
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

// bodies in space, struck from below: n = +z
static void spatial_row(FILE* file, crRandom* random, const crFitTheta* theta) {
    crRigid ground = cr_rigid(), b = cr_rigid();
    crCollision collision = cr_collision();
    crContact c;
    crMat3 frame;
    ground.fixed = true;
    b.mass = sample_uniform(random, 0.5, 2.0);
    crVec3 r = cr_vec3(sample_uniform(random, -0.05, 0.05), sample_uniform(random, -0.05, 0.05), -0.1);
    do {
        double unit = 0.005 * b.mass;
        b.inertia = (crSym3){.xx = unit * sample_uniform(random, 0.8, 1.2),
                             .yy = unit * sample_uniform(random, 0.8, 1.2),
                             .zz = unit * sample_uniform(random, 0.8, 1.2),
                             .xy = unit * sample_uniform(random, -0.2, 0.2)};
        b.velocity = cr_vec3(sample_uniform(random, -1, 1), sample_uniform(random, -1, 1), -2.0);
        b.omega = cr_scale(5.0, sample_direction(random));
        collision.n = cr_vec3(0.0, 0.0, 1.0);
        CHECK_STATUS(cr_collision_bodies(&collision, &ground, &b, r, NULL), CR_OK);
        CHECK_STATUS(cr_collision_contact(&collision, &c, &frame, NULL), CR_OK);
    } while (c.V.x > -0.5);
    crHit hit;
    bool answered = false;
    cr_fit_answer(cr_fit_law_find("chatterjee-ruina"), theta, &c, &hit, &answered, NULL);
    crRigid after = cr_rigid_after(&b, r, cr_mat3_mul(frame, hit.P));
    const double cells[] = {
        b.mass,        b.inertia.xx, b.inertia.yy,     b.inertia.zz,     b.inertia.xy,     r.x,
        r.y,           r.z,          b.velocity.x,     b.velocity.y,     b.velocity.z,     b.omega.x,
        b.omega.y,     b.omega.z,    after.velocity.x, after.velocity.y, after.velocity.z, after.omega.x,
        after.omega.y, after.omega.z};
    for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
        fprintf(file, "%s%.17g", i > 0 ? "," : "", cells[i]);
    }
    fputs("\n", file);
}

TEST(bodies_in_space) {
    FitFile file = fit_sample_open();
    crRandom random = sample_seed(31);
    crFitTheta theta = truth();
    fputs("m,Ixx,Iyy,Izz,Ixy,rx,ry,rz,vx,vy,vz,wx,wy,wz,vx_after,vy_after,vz_after,wx_after,wy_after,wz_"
          "after\n",
          file.file);
    for (int i = 0; i < 60; i++) {
        spatial_row(file.file, &random, &theta);
    }
    fclose(file.file);
    crImpacts impacts;
    crFit fit;
    crError error = {0};
    CHECK_STATUS(fit_sample_read(&file, NULL, &impacts, &error), CR_OK);
    CHECK(!impacts.planar && impacts.form == CR_FORM_SPATIAL);
    crFitOptions options = cr_fit_options();
    options.bootstrap = 0;
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("chatterjee-ruina"), &options, &fit, &error), CR_OK);
    CHECK(fit.count == 3 && fit.loss < 1e-4);
    CHECK_NEAR(fit.theta.value[CR_FIT_MU], 0.23, 1e-4);
    CHECK_NEAR(fit.theta.value[CR_FIT_E], 0.62, 1e-4);
    CHECK_NEAR(fit.theta.value[CR_FIT_ET], 0.35, 1e-4);
    cr_fit_destroy(&fit);
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("pfeiffer-glocker"), &options, &fit, &error), CR_OK);
    CHECK_STATUS(fit.status, CR_ERR_PLANAR);
    // brach has a third parameter here
    CHECK_STATUS(cr_fit_run(&impacts, cr_fit_law_find("brach"), &options, &fit, &error), CR_OK);
    CHECK(fit.status == CR_OK && fit.count == 3);
    cr_fit_destroy(&fit);
    cr_impacts_destroy(&impacts);
}
