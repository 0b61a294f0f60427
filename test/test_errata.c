// The numbers by which the papers on one contact were found wrong, silent or ambiguous; each is a test here or,
// where a whole distribution is meant, in the law's own test file.
#include "resolve/kinds.h"
#include "sample.h"
#include "test.h"

static crCollision planar(double nn, double nt, double tt, double Vn, double Vt) {
    crCollision c = cr_collision();
    c.W = (crMat3){{{nn, nt, 0}, {nt, tt, 0}, {0, 0, 0}}};
    c.V = cr_vec3(Vn, Vt, 0);
    return c;
}

// a slender rod, m = L = 1, one end hitting, at this angle to the surface; rows (n, t)
static crCollision rod(double angle, double Vn, double Vt) {
    double s = cr_sin(angle), c = cr_cos(angle);
    return planar(1 + 3 * c * c, -3 * s * c, 1 + 3 * s * s, Vn, Vt);
}

// E+/E with E = V.W^-1 V/2
static double energy_ratio(const crCollision* c, const crHit* hit) {
    double det = c->W.m[0][0] * c->W.m[1][1] - c->W.m[0][1] * c->W.m[0][1];
    double before = (c->W.m[1][1] * c->V.x * c->V.x - 2 * c->W.m[0][1] * c->V.x * c->V.y +
                     c->W.m[0][0] * c->V.y * c->V.y) /
                    (2 * det);
    return 1.0 + hit->energy_change / before;
}

static crHit hit_by(crLaw law, const crCollision* c) {
    crHit hit = {0};
    CHECK_STATUS(cr_law_apply(&law, c, &hit, NULL), CR_OK);
    return hit;
}

// semi-axes of the energy ellipsoid grow with the eigenvalues of m
TEST(ellipsoid_axes_are_proportional_to_root_m) {
    crContact c = {.W = {4.0, 0, 0, 1.0, 0, 0.25}, .V = {-1, 0, 0}};
    crEllipsoid ellipsoid;
    CHECK(cr_impulse_ellipsoid(&c, 2.0, &ellipsoid));
    CHECK_NEAR(ellipsoid.radius[0], sqrt(2.0 * 2.0 * 4.0), 1e-14);
    CHECK_NEAR(ellipsoid.radius[1], sqrt(2.0 * 2.0 * 1.0), 1e-14);
    CHECK_NEAR(ellipsoid.radius[2], sqrt(2.0 * 2.0 * 0.25), 1e-14);
}

TEST(whittaker_leaves_with_minus_e_times_the_approach) {
    crCollision c = rod(0.8, -1.0, 0.6);
    c.mu = 0.5;
    c.e = 0.9;
    CHECK_NEAR(hit_by(cr__law(&cr__law_whittaker, NULL), &c).V_plus.x, 0.9, 1e-14);
}

// "all laws equal at mu = 0" needs 1/W11: the printed m11 differs for a matrix that is not diagonal
TEST(frictionless_normal_impulse_needs_w11) {
    crCollision c = planar(2.0, 0.8, 1.0, -1.0, 0.3);
    double det = 2.0 * 1.0 - 0.8 * 0.8;
    double printed = 1.0 / det * 1.0;  // m11 = W22/det
    crHit hit = hit_by(cr__law(&cr__law_newton, NULL), &c);
    CHECK_NEAR(hit.P.x, 0.5, 1e-15);
    CHECK(fabs(printed - hit.P.x) > 0.2);
}

TEST(two_stage_law_rebounds_at_grazing_like_routh) {
    double approach[] = {0.0, -0.0, -1e-13};
    for (int i = 0; i < 3; i++) {
        crCollision c = planar(1.0, -0.8, 1.0, approach[i], -1.0);
        c.mu = 1.6;
        c.e = 0.5;
        crLaw laws[] = {cr__law(&cr__law_anitescu_potra, NULL), cr__law(&cr__law_routh, NULL)};
        for (int k = 0; k < 2; k++) {
            crHit hit = hit_by(laws[k], &c);
            CHECK_VEC(hit.P, cr_vec3(10.0 / 3.0, 11.0 / 3.0, 0), 1e-11);
            CHECK_VEC(hit.V_plus, cr_vec3(0.4, 0, 0), 1e-11);
        }
    }
}

TEST(energy_is_conserved_at_e_one_et_minus_one) {
    crLaw law = cr__law(&cr__law_chatterjee_ruina, NULL);
    crRandom random = sample_seed(41);
    for (int k = 0; k < test_samples(30000); k++) {
        crCollision c = sample_collision(&random, (crSampleKind)(k % SAMPLE_KINDS));
        c.e = 1.0;
        c.et = -1.0;
        crHit hit = hit_by(law, &c);
        CHECK(fabs(hit.energy_change) <= 1e-12 * cr_norm(hit.P) * cr_norm(c.V));
    }
}

TEST(routh_with_the_kinematic_ending_creates_energy) {
    crCollision c = rod(CR_PI / 4, -1.0, 0.6);
    c.mu = 0.6;
    c.e = 1.0;
    crLawParams params = cr_law_params();
    params.ending = CR_ENDING_NEWTON;
    crHit hit = hit_by(cr__law(&cr__law_routh, &params), &c);
    CHECK_NEAR(energy_ratio(&c, &hit), 1.5625, 1e-12);
    CHECK(hit.creates_energy && !hit.permissible);
}

// a pendulum on a floor: the rod blocks one direction, W has rank one
TEST(unbounded_mass_dies_at_high_friction) {
    double s = cr_sin(0.5), k = cr_cos(0.5);
    crCollision c = planar(s * s, s * k, k * k, -0.7 * s, -0.7 * k);
    c.mu = 5.0;
    crLaw laws[] = {cr__law(&cr__law_routh, NULL), cr__law(&cr__law_anitescu_potra, NULL),
                    cr__law(&cr__law_chatterjee_ruina, NULL)};
    for (int i = 0; i < 3; i++) {
        crVec3 P_II;
        crContact contact;
        crMat3 frame;
        c.e = 0.0;
        crHit hit = hit_by(laws[i], &c);
        CHECK_STATUS(cr_collision_contact(&c, &contact, &frame, NULL), CR_OK);
        CHECK(cr_impulse_P_II(&contact, &P_II));
        CHECK_NEAR(cr_norm(hit.V_plus), 0.0, 1e-12);
    }
}

TEST(chatterjee_ruina_at_infinite_friction_is_finite) {
    crRandom random = sample_seed(42);
    for (int k = 0; k < test_samples(30000); k++) {
        crCollision c = sample_collision(&random, (crSampleKind)(k % SAMPLE_KINDS));
        c.mu = INFINITY;
        crHit hit = hit_by(cr__law(&cr__law_chatterjee_ruina, NULL), &c);
        CHECK(hit.permissible);
        // the limit of large friction
        c.mu = 1e13;
        crHit large = hit_by(cr__law(&cr__law_chatterjee_ruina, NULL), &c);
        CHECK(cr_norm(cr_sub(hit.P, large.P)) <= 1e-9 * (cr_norm(hit.P) + cr_norm(large.P)));
    }
}

TEST(kanes_paradox) {
    crCollision c = rod(0.8, -1.0, 0.6);
    c.mu = 0.5;
    c.e = 0.9;
    crHit hit = hit_by(cr__law(&cr__law_whittaker, NULL), &c);
    CHECK_NEAR(energy_ratio(&c, &hit), 1.2650, 5e-5);
    CHECK(hit.creates_energy);
    c.e = 1.0;
    hit = hit_by(cr__law(&cr__law_whittaker, NULL), &c);
    CHECK_NEAR(energy_ratio(&c, &hit), 1.5618, 5e-5);
}

TEST(plain_two_stage_law_is_the_one_with_tangential_restitution_at_nu_zero) {
    crLawParams params = cr_law_params();
    params.nu = 0.0;
    crRandom random = sample_seed(43);
    for (int k = 0; k < test_samples(30000); k++) {
        crCollision c = sample_collision(&random, SAMPLE_PLANAR);
        c.et = fabs(c.et);
        crHit a = hit_by(cr__law(&cr__law_pfeiffer_glocker, &params), &c);
        crHit b = hit_by(cr__law(&cr__law_anitescu_potra, NULL), &c);
        CHECK(cr_norm(cr_sub(a.P, b.P)) <= 1e-12 * cr_norm(b.P));
    }
}
