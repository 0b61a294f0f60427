// test_region_params.c - spherical, projected and Brach's parameters of the region, and their laws.
#include "region_check.h"
#include "resolve/kinds.h"

typedef struct Worst {
    double spherical, brach, project, boundary;
} Worst;

// P -> parameters -> P
static void check_round_trips(const crContact* c, crVec3 P, crVec3 P0, Worst* worst) {
    double size = fmax(cr_norm(P), cr_norm(P0));
    double psi1, psi2, rho, e, mu2, mu3;
    crVec3 Q;
    CHECK_STATUS(cr_region_to_spherical(c, P, &psi1, &psi2, &rho, NULL), CR_OK);
    CHECK(psi1 >= 0.0 && psi1 <= CR_PI && psi2 >= 0.0 && psi2 <= 2.0 * CR_PI && rho >= 0.0 && rho <= 1.0);
    CHECK_STATUS(cr_region_from_spherical(c, psi1, psi2, rho, &Q, NULL), CR_OK);
    double error = cr_norm(cr_sub(P, Q)) / size;
    CHECK(error <= 1e-9);
    worst->spherical = fmax(worst->spherical, error);

    CHECK_STATUS(cr_region_project(c, P, &Q, NULL), CR_OK);
    error = cr_norm(cr_sub(P, Q)) / size;
    CHECK(error <= 1e-15);
    worst->project = fmax(worst->project, error);

    if (!(c->V.x < 0.0)) return;
    CHECK_STATUS(cr_region_to_brach(c, P, &e, &mu2, &mu3, NULL), CR_OK);
    CHECK(e >= 0.0 && e <= cr_region_brach_e_max(c, mu2, mu3) * (1.0 + 1e-9) + 1e-9);
    CHECK_STATUS(cr_region_from_brach(c, e, mu2, mu3, &Q, NULL), CR_OK);
    error = cr_norm(cr_sub(P, Q)) / size;
    // n.V+ = -e Vn loses digits where large terms cancel in it
    crVec3 d = cr_vec3(1.0, mu2, mu3);
    double normal = cr_sym3_mul(c->W, d).x;
    double condition = (c->W.xx + fabs(c->W.xy * mu2) + fabs(c->W.xz * mu3)) / normal;
    CHECK(error <= 1e-15 * (10.0 + condition));
    worst->brach = fmax(worst->brach, error);
}

TEST(round_trips) {
    crRandom random = sample_seed(301);
    Worst worst = {0};
    int count = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % VARIANTS));
        crVec3 P, P0;
        if (!(c.mu > 0.0) || !region_point(&random, &c, &P) || !CHECK(cr_region_centroid(&c, &P0))) continue;
        check_round_trips(&c, P, P0, &worst);
        count++;
    }
    printf("  round trips of %d impulses: spherical %.2g, project %.2g, brach %.2g of the size\n", count,
           worst.spherical, worst.project, worst.brach);
}

TEST(every_spherical_parameter_is_permissible) {
    crRandom random = sample_seed(302);
    double worst = 0.0, off = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % VARIANTS));
        double psi1 = sample_uniform(&random, 0.0, CR_PI), psi2 = sample_uniform(&random, 0.0, 2.0 * CR_PI);
        crVec3 P0, P, Q;
        if (!cr_region_centroid(&c, &P0)) continue;
        CHECK_STATUS(cr_region_from_spherical(&c, psi1, psi2, 1.0, &P, NULL), CR_OK);
        CHECK(cr_impulse_verdict(&c, P, 1e-9).verdict != CR_TRUTH_NO);
        // rho is the share of the way, in the direction of the angles
        double rho = sample_uniform(&random, 0.0, 1.0);
        CHECK_STATUS(cr_region_from_spherical(&c, psi1, psi2, rho, &Q, NULL), CR_OK);
        double error = cr_norm(cr_sub(Q, cr_add(P0, cr_scale(rho, cr_sub(P, P0))))) / cr_norm(P0);
        crVec3 d = cr_vec3(cos(psi1), sin(psi1) * cos(psi2), sin(psi1) * sin(psi2));
        double angle = cr_norm(cr_cross(d, cr_sub(P, P0))) / cr_norm(P0);
        CHECK(error <= 1e-14 && angle <= 1e-14);
        worst = fmax(worst, fmax(error, angle));
        if (!(c.mu > 0.0) || region_is_cut(&c)) continue;
        off = fmax(off, region_margin(&c, P));
        // P is itself rounded, and that is all of the margin where W is nearly singular
        CHECK(region_margin(&c, cr_madd(P, 1e-6, cr_sub(P, P0))) < 1e-16);
    }
    printf("  spherical: off the line by %.2g, rho = 1 off the boundary by %.2g\n", worst, off);
}

TEST(project_ends_on_the_boundary) {
    crRandom random = sample_seed(303);
    double worst = 0.0, deepest = -INFINITY;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % VARIANTS));
        crVec3 P0, P;
        if (!(c.mu > 0.0) || region_is_cut(&c) || !cr_region_centroid(&c, &P0)) continue;
        double far = cr_norm(P0) * sample_log(&random, 1e-3, 1e3);
        crVec3 wish = cr_madd(P0, far, sample_direction(&random));
        CHECK_STATUS(cr_region_project(&c, wish, &P, NULL), CR_OK);
        CHECK(cr_impulse_verdict(&c, P, 1e-9).verdict != CR_TRUTH_NO);
        if (region_margin(&c, wish) >= 0.0) {
            CHECK_VEC(P, wish, 1e-15 * (cr_norm(wish) + cr_norm(P0)));
            continue;
        }
        // on the segment, and nothing further on it is permissible
        crVec3 whole = cr_sub(wish, P0), part = cr_sub(P, P0);
        double share = cr_dot(whole, part) / cr_dot(whole, whole);
        double error = cr_norm(cr_madd(part, -share, whole)) / (cr_norm(P0) + cr_norm(part));
        CHECK(share >= 0.0 && share <= 1.0 && error <= 1e-14);
        worst = fmax(worst, error);
        double beyond = region_margin(&c, cr_madd(P, 1e-6, part));
        // P is itself rounded, and that is all of the margin where W is nearly singular
        CHECK(beyond < 1e-16);
        deepest = fmax(deepest, beyond);
    }
    printf("  project: off the segment by %.2g, least breach just beyond %.2g\n", worst, deepest);
}

TEST(brach_bound_is_where_energy_is_kept) {
    crRandom random = sample_seed(304);
    double worst = 0.0;
    int none = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c =
            region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % (VARIANTS - 1)));
        double limit = isinf(c.mu) ? 5.0 : c.mu;
        double angle = sample_uniform(&random, 0.0, 2.0 * CR_PI);
        double r = limit * sqrt(sample_uniform(&random, 0.0, 0.999));
        double mu2 = r * cos(angle), mu3 = r * sin(angle);
        double most = cr_region_brach_e_max(&c, mu2, mu3);
        double s0, s1;
        bool exists = region_ray(&c, cr_vec3(1.0, mu2, mu3), &s0, &s1);
        CHECK(exists == (most > 0.0));
        if (!exists) {
            crError error;
            crVec3 P;
            CHECK_STATUS(cr_region_from_brach(&c, 0.0, mu2, mu3, &P, &error), CR_ERR_REGION);
            CHECK_TEXT(error.field, "ratios");
            none++;
            continue;
        }
        CHECK_NEAR((1.0 + most) * s0 / s1, 1.0, 1e-12);
        crVec3 P;
        crError error;
        CHECK_STATUS(cr_region_from_brach(&c, most, mu2, mu3, &P, NULL), CR_OK);
        CHECK(cr_impulse_verdict(&c, P, 1e-9).verdict != CR_TRUTH_NO);
        worst = fmax(worst, fabs(region_margin(&c, P)));
        CHECK_STATUS(cr_region_from_brach(&c, most * 1.001 + 1e-6, mu2, mu3, &P, &error), CR_ERR_REGION);
        CHECK_TEXT(error.field, "e");
    }
    printf("  brach: at e_max off the boundary by %.2g; %d directions without impulses\n", worst, none);
}

TEST(brach_bounds_by_hand) {
    // without friction e = 1 keeps energy
    crContact c = {.W = {2, 0.4, 0, 3, 0, 3}, .V = {-1, -0.7, 0.2}, .mu = 0.5};
    CHECK_NEAR(cr_region_brach_e_max(&c, 0, 0), 1.0, 1e-15);
    CHECK(cr_region_brach_e_max(&c, 0.5, 0.1) == -1.0);
    // friction along the slip feeds it: 1 + e = 2 (d.V/Vn) (n.Wd/d.Wd) with d = (1, -0.3, 0)
    double expected = 2.0 * (1.0 - 0.3 * 0.7) * (2.0 - 0.12) / (2.0 - 0.24 + 0.27) - 1.0;
    CHECK_NEAR(cr_region_brach_e_max(&c, -0.3, 0), expected, 1e-15);
    // at grazing every e gives nothing
    c.V.x = 0.0;
    crVec3 P;
    CHECK(isinf(cr_region_brach_e_max(&c, 0.1, 0.1)));
    CHECK_STATUS(cr_region_from_brach(&c, 3.0, 0.1, 0.1, &P, NULL), CR_OK);
    CHECK(cr_norm(P) == 0.0);
}

TEST(refusals) {
    crContact c = {.W = {2, 0.4, 0, 3, 0, 3}, .V = {-1, -0.7, 0.2}, .mu = 0.5};
    double nan = (double)NAN, inf = (double)INFINITY;
    crVec3 P;
    double a, b, d;
    crError error;
    struct {
        double psi1, psi2, rho;
        crStatus status;
        const char* field;
    } spherical[] = {
        {-0.1, 0, 0, CR_ERR_RANGE, "psi1"}, {3.2, 0, 0, CR_ERR_RANGE, "psi1"},
        {nan, 0, 0, CR_ERR_FINITE, "psi1"}, {0, -1, 0, CR_ERR_RANGE, "psi2"},
        {0, 6.3, 0, CR_ERR_RANGE, "psi2"},  {0, nan, 0, CR_ERR_FINITE, "psi2"},
        {0, 0, -1e-9, CR_ERR_RANGE, "rho"}, {0, 0, 1.01, CR_ERR_RANGE, "rho"},
        {0, 0, nan, CR_ERR_FINITE, "rho"},  {inf, 0, 0, CR_ERR_RANGE, "psi1"},
        {0, 0, inf, CR_ERR_RANGE, "rho"},
    };
    for (size_t i = 0; i < sizeof spherical / sizeof spherical[0]; i++) {
        CHECK_STATUS(
            cr_region_from_spherical(&c, spherical[i].psi1, spherical[i].psi2, spherical[i].rho, &P, &error),
            spherical[i].status);
        CHECK_TEXT(error.field, spherical[i].field);
        CHECK(strstr(error.message, spherical[i].field) != NULL);
    }
    struct {
        double e, mu2, mu3;
        crStatus status;
        const char* field;
        const char* bound;
    } brach[] = {
        {-0.1, 0, 0, CR_ERR_RANGE, "e", ">= 0"},          {nan, 0, 0, CR_ERR_FINITE, "e", ">= 0"},
        {inf, 0, 0, CR_ERR_FINITE, "e", ">= 0"},          {0.5, nan, 0, CR_ERR_FINITE, "ratios", "finite"},
        {0.5, 0, inf, CR_ERR_FINITE, "ratios", "finite"}, {0.5, 0.4, 0.4, CR_ERR_REGION, "ratios", "0.5"},
        {1.25, 0, 0, CR_ERR_REGION, "e", "at most 1 "},
    };
    for (size_t i = 0; i < sizeof brach / sizeof brach[0]; i++) {
        CHECK_STATUS(cr_region_from_brach(&c, brach[i].e, brach[i].mu2, brach[i].mu3, &P, &error),
                     brach[i].status);
        CHECK_TEXT(error.field, brach[i].field);
        CHECK(strstr(error.message, brach[i].field) != NULL);
        CHECK(strstr(error.message, brach[i].bound) != NULL);
    }
    CHECK_STATUS(cr_region_project(&c, cr_vec3(0, inf, 0), &P, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "wish");
    // an impulse outside, and one that is not finite
    crVec3 outside = cr_vec3(1, 5, 0), broken = cr_vec3(1, nan, 0);
    CHECK_STATUS(cr_region_to_spherical(&c, outside, &a, &b, &d, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "P");
    CHECK_STATUS(cr_region_to_brach(&c, outside, &a, &b, &d, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "P");
    CHECK_STATUS(cr_region_to_spherical(&c, broken, &a, &b, &d, &error), CR_ERR_FINITE);
    CHECK_STATUS(cr_region_to_brach(&c, broken, &a, &b, &d, &error), CR_ERR_FINITE);
}

TEST(regions_that_are_a_point_or_nothing) {
    crVec3 P;
    double a, b, d;
    crError error;
    // separating: only the origin
    crContact c = {.W = {2, 0.4, 0, 3, 0, 3}, .V = {1, -0.7, 0.2}, .mu = 0.5};
    CHECK_STATUS(cr_region_from_spherical(&c, 1, 1, 1, &P, NULL), CR_OK);
    CHECK(cr_norm(P) == 0.0);
    CHECK_STATUS(cr_region_project(&c, cr_vec3(1, 0, 0), &P, NULL), CR_OK);
    CHECK(cr_norm(P) == 0.0);
    CHECK_STATUS(cr_region_from_brach(&c, 1, 0, 0, &P, NULL), CR_OK);
    CHECK(cr_norm(P) == 0.0);
    CHECK_STATUS(cr_region_to_spherical(&c, cr_vec3(0, 0, 0), &a, &b, &d, NULL), CR_OK);
    CHECK_STATUS(cr_region_to_brach(&c, cr_vec3(0, 0, 0), &a, &b, &d, NULL), CR_OK);
    CHECK(a == 0.0 && b == 0.0 && d == 0.0);
    // a brake that the inequalities would allow, but a contact that separates gets none
    crVec3 brake = cr_vec3(0.01, 0.004, 0);
    c.V = cr_vec3(0.01, -3, 0);
    CHECK(region_margin(&c, brake) > 0.0);
    CHECK_STATUS(cr_region_to_spherical(&c, brake, &a, &b, &d, &error), CR_ERR_REGION);
    CHECK_STATUS(cr_region_to_brach(&c, brake, &a, &b, &d, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "V");
    // blocked: nothing
    c = (crContact){.W = {0, 0, 0, 3, 0, 3}, .V = {-1, -0.7, 0.2}, .mu = 0.5};
    CHECK_STATUS(cr_region_from_spherical(&c, 0, 0, 0, &P, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "W");
    CHECK_STATUS(cr_region_project(&c, cr_vec3(1, 0, 0), &P, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "W");
    CHECK_STATUS(cr_region_from_brach(&c, 1, 0, 0, &P, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "W");
    // no friction: the segment; other directions have no room
    c = (crContact){.W = {2, 0.4, 0, 3, 0, 3}, .V = {-1, -0.7, 0.2}, .mu = 0.0};
    CHECK_STATUS(cr_region_from_spherical(&c, 0, 0, 1, &P, NULL), CR_OK);
    CHECK_VEC(P, cr_vec3(1, 0, 0), 1e-15);
    CHECK_STATUS(cr_region_from_spherical(&c, CR_PI, 3, 1, &P, NULL), CR_OK);
    CHECK_VEC(P, cr_vec3(0.5, 0, 0), 1e-15);
    CHECK_STATUS(cr_region_from_spherical(&c, 1, 3, 1, &P, NULL), CR_OK);
    CHECK_VEC(P, cr_vec3(0.75, 0, 0), 1e-15);
    CHECK_STATUS(cr_region_to_spherical(&c, cr_vec3(0.6, 0, 0), &a, &b, &d, NULL), CR_OK);
    CHECK_NEAR(a, CR_PI, 1e-15);
    CHECK_NEAR(d, 0.6, 1e-14);
}

// the laws

static crCollision user_collision(void) {
    crCollision c = cr_collision();
    c.W = (crMat3){{{1, -0.3, 0}, {-0.3, 2, 0}, {0, 0, 1.5}}};
    c.V = cr_vec3(-1, 0.5, 0);
    c.mu = 0.5;
    c.e = 0.6;
    return c;
}

TEST(laws_stay_in_the_region) {
    crRandom random = sample_seed(305);
    for (int i = 0; i < test_samples(100000); i++) {
        crCollision c = sample_collision(&random, (crSampleKind)(i % SAMPLE_KINDS));
        crLawParams p = cr_law_params();
        p.psi1 = sample_uniform(&random, 0.0, CR_PI);
        p.psi2 = sample_uniform(&random, 0.0, 2.0 * CR_PI);
        p.rho = sample_uniform(&random, 0.0, 1.0);
        p.wish = cr_scale(sample_log(&random, 1e-3, 1e3), sample_direction(&random));
        double angle = sample_uniform(&random, 0.0, 2.0 * CR_PI);
        p.mu2 = c.mu * p.rho * cos(angle);
        p.mu3 = c.mu * p.rho * sin(angle);
        crLaw laws[] = {cr__law(&cr__law_spherical, &p), cr__law(&cr__law_projected, &p),
                        cr__law(&cr__law_brach, &p)};
        for (int k = 0; k < 3; k++) {
            crHit hit;
            crStatus status = cr_law_apply(&laws[k], &c, &hit, NULL);
            CHECK(status == CR_OK || (k == 2 && status == CR_ERR_REGION));
            if (status == CR_OK) CHECK(hit.verdict != CR_TRUTH_NO && hit.solutions == 1);
            // Newton's restitution
            if (status == CR_OK && k == 2) {
                double Vn = cr_dot(c.n, c.V), after = cr_dot(c.n, hit.V_plus);
                CHECK_NEAR(after, -c.e * Vn, 1e-9 * (fabs(Vn) + cr_norm(hit.V_plus)));
            }
        }
    }
}

TEST(laws_with_default_parameters) {
    crCollision c = user_collision();
    crLawParams defaults = cr_law_params();
    CHECK(defaults.ending == CR_ENDING_POISSON && defaults.directions == 0 && defaults.nu == 1.0);
    CHECK(defaults.eta2 == 1.21 && defaults.law_count == 0 && defaults.laws == NULL &&
          defaults.weights == NULL);
    CHECK(defaults.mu2 == 0.0 && defaults.mu3 == 0.0 && defaults.rho == 0.0 && cr_norm(defaults.wish) == 0.0);
    crLaw with[] = {cr__law(&cr__law_spherical, &defaults), cr__law(&cr__law_projected, &defaults),
                    cr__law(&cr__law_brach, &defaults)};
    crLaw without[] = {cr__law(&cr__law_spherical, NULL), cr__law(&cr__law_projected, NULL),
                       cr__law(&cr__law_brach, NULL)};
    static const char* const names[] = {"spherical", "projected", "brach"};
    for (int k = 0; k < 3; k++) {
        crHit a, b;
        CHECK_TEXT(with[k].name, names[k]);
        CHECK_STATUS(cr_law_apply(&with[k], &c, &a, NULL), CR_OK);
        CHECK_STATUS(cr_law_apply(&without[k], &c, &b, NULL), CR_OK);
        CHECK_VEC(a.P, b.P, 0.0);
    }
    // brach without ratios is the frictionless law
    crHit hit;
    CHECK_STATUS(cr_law_apply(&without[2], &c, &hit, NULL), CR_OK);
    CHECK_VEC(hit.P, cr_vec3(1.6, 0, 0), 1e-15);
}

TEST(laws_refuse_by_name) {
    crCollision c = user_collision();
    crLawParams p = cr_law_params();
    crLaw spherical = cr__law(&cr__law_spherical, &p), projected = cr__law(&cr__law_projected, &p),
          brach = cr__law(&cr__law_brach, &p);
    crHit hit;
    crError error;
    p.psi1 = 4.0;
    CHECK_STATUS(cr_law_apply(&spherical, &c, &hit, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "psi1");
    p.psi1 = 0.0;
    p.rho = -1.0;
    CHECK_STATUS(cr_law_apply(&spherical, &c, &hit, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "rho");
    p.wish.y = (double)NAN;
    CHECK_STATUS(cr_law_apply(&projected, &c, &hit, &error), CR_ERR_FINITE);
    CHECK_TEXT(error.field, "wish");
    CHECK_STATUS(cr_law_apply(&projected, &c, &hit, NULL), CR_ERR_FINITE);
    p.mu2 = 0.6;
    CHECK_STATUS(cr_law_apply(&brach, &c, &hit, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "ratios");
    p.mu2 = 0.0;
    c.e = 1.5;
    CHECK_STATUS(cr_law_apply(&brach, &c, &hit, &error), CR_ERR_REGION);
    CHECK_TEXT(error.field, "e");
    CHECK(strstr(error.message, "at most 1 ") != NULL);
}

TEST(laws_without_solution) {
    crCollision c = user_collision();
    c.W.m[0][0] = c.W.m[0][1] = c.W.m[1][0] = 0.0;
    crLaw laws[] = {cr__law(&cr__law_spherical, NULL), cr__law(&cr__law_projected, NULL),
                    cr__law(&cr__law_brach, NULL)};
    for (int k = 0; k < 3; k++) {
        crHit hit;
        CHECK_STATUS(cr_law_apply(&laws[k], &c, &hit, NULL), CR_OK);
        CHECK(hit.regime == CR_REGIME_NO_SOLUTION && hit.solutions == 0 && cr_norm(hit.P) == 0.0);
    }
}
