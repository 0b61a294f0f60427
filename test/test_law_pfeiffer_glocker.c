// Pfeiffer and Glocker's law in the plane: the conditions of both stages, energy, reversal of spin, the cases
// in which it is the plain two-stage law, and what it refuses.
#include "algebraic.h"
#include "resolve/kinds.h"
#include "resolve/two_stage.h"

// A tangent along a very small V_t is turned by rounding, and may leave the plane: such draws are made again.
static crContact planar_sample(crRandom* random, crSampleKind kind) {
    crContact c = sample_contact(random, kind);
    while (!cr_contact_is_planar(&c)) {
        c = sample_contact(random, kind);
    }
    c.et = fabs(c.et);
    return c;
}

// The worst of all conditions, from P and where compression ended.
static double stages_defect(const crContact* c, crVec3 P1, crVec3 P, double theta) {
    double scale = speed_scale(c, P) + speed_scale(c, P1);
    double size = cr_norm(P) + cr_norm(P1);
    crVec3 middle = cr_impulse_V_plus(c, P1);
    crVec3 after = cr_impulse_V_plus(c, P);
    crVec3 P2 = cr_sub(P, P1);
    double extra = P2.x - c->e * P1.x;
    double limit = c->mu * (P2.x - theta * P1.x);
    double y = P2.y - theta * P1.y;
    double worst = fmax(fabs(middle.x), fmax(0.0, -after.x)) / scale;
    worst = fmax(worst, fmax(0.0, -extra) / size);
    worst = fmax(worst, fmin(after.x / scale, extra / size));
    worst = fmax(worst, (fabs(P1.y) - c->mu * P1.x) / ((1 + c->mu) * size));
    worst = fmax(worst, (fabs(y) - limit) / ((1 + c->mu) * size));
    // friction is at its limit against the slip, or there is no slip: the smaller of the two defects
    double against1 = fabs(P1.y + copysign(c->mu * P1.x, middle.y)) / ((1 + c->mu) * size);
    double against2 = fabs(y + copysign(limit, after.y)) / ((1 + c->mu) * size);
    worst = fmax(worst, fmin(against1, fabs(middle.y) / scale));
    return fmax(worst, fmin(against2, fabs(after.y) / scale));
}

TEST(conditions_of_both_stages) {
    crRandom random = sample_seed(1);
    Worst worst = worst_none();
    double defect = 0.0;
    int again = 0;
    int reversed = 0;
    for (int i = 0; i < 2 * test_samples(100000); i++) {
        crContact c = planar_sample(&random, i % 2 ? SAMPLE_PLANAR : SAMPLE_SPHERES);
        crLawParams params = {.nu = sample_uniform(&random, 0, 1)};
        crLaw law = cr__law(&cr__law_pfeiffer_glocker, &params);
        crHit hit = hit_of(&law, &c);
        if (!solved(&c, &hit)) continue;
        worst_add(&worst, &c, &hit);
        cr__Solution first[CR__MAX_SOLUTIONS];
        int count = cr__compress(&c, 0, first);
        crVec3 P1 = cr__choose(first, count)->P;
        defect = fmax(defect, stages_defect(&c, P1, hit.P, params.nu * c.et * c.e));
        again += hit.P.x - P1.x > c.e * P1.x * (1 + 1e-9);
        reversed += hit.regime == CR_REGIME_REVERSAL;
    }
    printf("  worst defect of a condition %.1e; Pn2 > e Pn1 %d times, V_t reversed %d times\n", defect, again,
           reversed);
    CHECK(defect <= 1e-12);
    CHECK(reversed > 0);
    worst_check("pfeiffer-glocker", worst, true);
}

TEST(symmetries) {
    crLaw law = cr__law(&cr__law_pfeiffer_glocker, NULL);
    check_symmetries(&law, SAMPLE_PLANAR, SAMPLE_SPHERES, true);
}

// nu et = 0: the plain law, to the last bit; nearly so: near it.
TEST(without_tangential_restitution_it_is_anitescu_potra) {
    crLaw plain = cr__law(&cr__law_anitescu_potra, NULL);
    crLawParams none = {.nu = 0.0};
    crLawParams some = {.nu = 1e-12};
    crLawParams all = {.nu = 1.0};
    crRandom random = sample_seed(2);
    double near = 0.0;
    for (int i = 0; i < 2 * test_samples(100000); i++) {
        crContact c = planar_sample(&random, i % 2 ? SAMPLE_PLANAR : SAMPLE_SPHERES);
        crVec3 P = hit_of(&plain, &c).P;
        crLaw law = cr__law(&cr__law_pfeiffer_glocker, &none);
        crVec3 Q = hit_of(&law, &c).P;
        CHECK(P.x == Q.x && P.y == Q.y && P.z == Q.z);
        law = cr__law(&cr__law_pfeiffer_glocker, &some);
        near = fmax(near, outcome_gap(&c, P, hit_of(&law, &c).P));
        law = cr__law(&cr__law_pfeiffer_glocker, &all);
        c.et = 0.0;
        P = hit_of(&plain, &c).P;
        Q = hit_of(&law, &c).P;
        CHECK(P.x == Q.x && P.y == Q.y && P.z == Q.z);
    }
    printf("  nu = 1e-12: gap to nu = 0 %.1e\n", near);
    CHECK(near <= 1e-11);
}

// A sphere that sticks in compression gets back theta Pt1 less what friction, mu (e - theta) Pn1, can hold.
TEST(sphere_reverses) {
    crRandom random = sample_seed(3);
    for (int i = 0; i < test_samples(30000); i++) {
        crContact c = {.W = {1, 0, 0, 3.5, 0, 3.5}, .mu = sample_uniform(&random, 0.1, 1)};
        c.e = sample_uniform(&random, 0, 1);
        c.et = sample_uniform(&random, 0, 1);
        double share = sample_uniform(&random, -1, 1);
        c.V = cr_vec3(-1, share * 3.5 * c.mu, 0);
        crLawParams params = {.nu = sample_uniform(&random, 0, 1)};
        crLaw law = cr__law(&cr__law_pfeiffer_glocker, &params);
        double theta = params.nu * c.et * c.e;
        double back = fmax(0.0, theta * fabs(share) * c.mu - c.mu * (c.e - theta));
        CHECK_VEC(hit_of(&law, &c).V_plus, cr_vec3(c.e, -copysign(3.5 * back, share), 0), 1e-14 * 10);
    }
    // the superball: everything comes back
    crContact c = {.W = {1, 0, 0, 3.5, 0, 3.5}, .V = {-1, 1, 0}, .mu = 0.5, .e = 1, .et = 1};
    crLaw law = cr__law(&cr__law_pfeiffer_glocker, NULL);
    crHit hit = hit_of(&law, &c);
    CHECK_VEC(hit.V_plus, cr_vec3(1, -1, 0), 1e-15);
    CHECK_NEAR(hit.energy_change, 0.0, 1e-15);
    CHECK(hit.regime == CR_REGIME_REVERSAL);
}

TEST(grazing_rebound) {
    crLaw law = cr__law(&cr__law_pfeiffer_glocker, NULL);
    crContact c = {.W = {1, -0.8, 0, 1, 0, 1}, .V = {0, -1, 0}, .mu = 1.6, .e = 0.5};
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(10.0 / 3, 11.0 / 3, 0), 1e-12);
    // P1 = (20/9, 25/9) comes back as a whole: V+ = -e V
    c.et = 1.0;
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(10.0 / 3, 25.0 / 6, 0), 1e-12);
    CHECK_VEC(hit_of(&law, &c).V_plus, cr_vec3(0, 0.5, 0), 1e-12);
}

TEST(infinite_friction_and_blocked_directions) {
    crLaw law = cr__law(&cr__law_pfeiffer_glocker, NULL);
    crContact c = {.W = {1, -0.8, 0, 1, 0, 1}, .V = {-1, 0.2, 0}, .mu = INFINITY, .e = 0.5, .et = 0.5};
    crHit hit = hit_of(&law, &c);
    CHECK(hit.permissible && hit.P.x > 0.0);
    c.mu = 1e10;
    CHECK(outcome_gap(&c, hit.P, hit_of(&law, &c).P) <= 1e-6);
    c = (crContact){.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 1, 0}, .mu = 0.5};
    CHECK(hit_of(&law, &c).regime == CR_REGIME_NO_SOLUTION);
}

static void refused(const crLaw* law, const crContact* c, crStatus status, const char* field) {
    crHit hit;
    crError error;
    CHECK_STATUS(cr_law_apply_contact(law, c, &hit, &error), status);
    CHECK_TEXT(error.field, field);
}

TEST(what_it_refuses) {
    crLaw law = cr__law(&cr__law_pfeiffer_glocker, NULL);
    crContact c = {.W = {1, 0, 0, 1, 0, 1}, .V = {-1, 1, 0}, .mu = 0.5, .e = 0.5, .et = -0.1};
    refused(&law, &c, CR_ERR_RANGE, "et");
    c.et = 0.5;
    c.V.z = 1e-3;
    refused(&law, &c, CR_ERR_PLANAR, "W");
    c.V.z = 0.0;
    c.W.xz = 0.1;
    refused(&law, &c, CR_ERR_PLANAR, "W");
    c.W.xz = 0.0;
    static const double wrong[] = {-0.1, 1.1, NAN};
    for (int i = 0; i < 3; i++) {
        crLawParams params = {.nu = wrong[i]};
        law = cr__law(&cr__law_pfeiffer_glocker, &params);
        refused(&law, &c, CR_ERR_RANGE, "nu");
    }
}
