// Anitescu and Potra's law: the conditions of both stages, a second method for both, the polygon, energy, and
// the limits (grazing, infinite friction, blocked directions).
#include "algebraic.h"
#include "resolve/kinds.h"
#include "resolve/two_stage.h"

// How far a stage is from Coulomb's law against the slip u at its end, on the scale of speeds; P_t within
// mu Pn. k = 0: the circle, else the polygon.
static double coulomb_defect(const crContact* c, crVec3 P, crVec3 u, int k, double scale) {
    double limit = c->mu * P.x;
    if (!(limit > 0.0)) return cr_norm(P) > 0.0 && P.x < 0.0 ? 1.0 : 0.0;
    // friction power against the most that the cone's section could take: both per unit limit
    double power = (P.y * u.y + P.z * u.z) / limit;
    double most = k == 0 ? -length2(u.y, u.z) : INFINITY;
    double outside = length2(P.y, P.z) / limit - 1.0;
    for (int j = 0; j < k; j++) {
        double a = 2.0 * CR_PI * j / k;
        double b = 2.0 * CR_PI * (j + 0.5) / k;
        most = fmin(most, cos(a) * u.y + sin(a) * u.z);
        if (j == 0) outside = -INFINITY;
        outside = fmax(outside, (cos(b) * P.y + sin(b) * P.z) / (limit * cos(CR_PI / k)) - 1.0);
    }
    return fmax(fabs(power - most) / scale, fmax(outside, 0.0));
}

// The worst of all conditions of both stages, given where the first ended.
static double stages_defect(const crContact* c, crVec3 P1, crVec3 P, int k) {
    double scale = speed_scale(c, P) + speed_scale(c, P1);
    crVec3 P2 = cr_sub(P, P1);
    crVec3 middle = cr_impulse_V_plus(c, P1);
    crVec3 after = cr_impulse_V_plus(c, P);
    double extra = P2.x - c->e * P1.x;
    double worst = fmax(fabs(middle.x) / scale, fmax(0.0, -after.x) / scale);
    worst = fmax(worst, fmax(0.0, -extra) / cr_norm(P));
    worst = fmax(worst, fmin(after.x / scale, extra / cr_norm(P)));
    worst = fmax(worst, coulomb_defect(c, P1, middle, k, scale));
    // P2 is a difference: its share of the cone is known to rounding of P only
    if (P2.x > 1e-6 * P.x) worst = fmax(worst, coulomb_defect(c, P2, after, k, scale));
    return worst;
}

static void check_law(const char* what, int k, double* worst_defect) {
    crLawParams params = {.directions = k};
    crLaw law = cr__law(&cr__law_anitescu_potra, &params);
    crRandom random = sample_seed(1);
    Worst worst = worst_none();
    *worst_defect = 0.0;
    int several = 0;
    int most = 0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        for (int i = 0; i < test_samples(100000); i++) {
            crContact c = sample_contact(&random, (crSampleKind)kind);
            crHit hit = hit_of(&law, &c);
            if (!solved(&c, &hit)) continue;
            worst_add(&worst, &c, &hit);
            cr__Solution first[CR__MAX_SOLUTIONS];
            int count = cr__compress(&c, k, first);
            *worst_defect = fmax(*worst_defect, stages_defect(&c, cr__choose(first, count)->P, hit.P, k));
            several += hit.solutions > 1;
            most = hit.solutions > most ? hit.solutions : most;
        }
    }
    printf("  %s: worst defect of a condition %.1e; several solutions %d times, at most %d\n", what,
           *worst_defect, several, most);
    worst_check(what, worst, true);
    CHECK(several > 0);
}

TEST(conditions_of_both_stages) {
    double defect;
    check_law("circle", 0, &defect);
    CHECK(defect <= 1e-9);
}

TEST(conditions_of_both_stages_polygon) {
    double defect;
    check_law("octagon", 8, &defect);
    CHECK(defect <= 1e-9);
    check_law("triangle", 3, &defect);
    CHECK(defect <= 1e-9);
}

TEST(symmetries) {
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    check_symmetries(&law, (crSampleKind)0, (crSampleKind)(SAMPLE_KINDS - 1), false);
}

// Friction for a given Pn from slip (y, z): r sticks or |r| = mu Pn, (Wtt + lambda) r = -q by halving lambda.
static crVec3 pressed(const crContact* c, double Pn, double y, double z) {
    double qy = y + c->W.xy * Pn;
    double qz = z + c->W.xz * Pn;
    double low = 0.0;
    double high = length2(qy, qz) / (c->mu * Pn) + 1.0;
    double ry = 0.0;
    double rz = 0.0;
    for (int i = 0; i < 200; i++) {
        double lambda = i == 0 ? 0.0 : 0.5 * (low + high);
        double a = c->W.yy + lambda;
        double b = c->W.zz + lambda;
        double det = a * b - c->W.yz * c->W.yz;
        ry = (c->W.yz * qz - b * qy) / det;
        rz = (c->W.yz * qy - a * qz) / det;
        bool inside = length2(ry, rz) <= c->mu * Pn;
        if (i == 0 && inside) break;
        if (inside)
            high = lambda;
        else
            low = lambda;
    }
    return cr_vec3(Pn, ry, rz);
}

// The smallest Pn >= e Pn1 with Vn+ >= 0, searched outwards in small steps.
static crVec3 expansion(const crContact* c, crVec3 P1) {
    crVec3 V = cr_impulse_V_plus(c, P1);
    double low = c->e * P1.x;
    crVec3 P2 = pressed(c, low, V.y, V.z);
    double scale = speed_scale(c, P1);
    if (cr_sym3_mul(c->W, P2).x >= -1e-12 * scale) return P2;
    double high = low;
    while (cr_sym3_mul(c->W, P2).x < 0.0 && high < 1e6 * P1.x) {
        low = high;
        high = high * 1.01 + 1e-3 * P1.x;
        P2 = pressed(c, high, V.y, V.z);
    }
    for (int i = 0; i < 100; i++) {
        P2 = pressed(c, 0.5 * (low + high), V.y, V.z);
        if (cr_sym3_mul(c->W, P2).x < 0.0)
            low = P2.x;
        else
            high = P2.x;
    }
    return P2;
}

// Both stages by a second method: directions scanned, then Pn searched outwards.
TEST(against_brute_force) {
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    crRandom random = sample_seed(2);
    double worst = 0.0;
    int several = 0;
    int again = 0;
    for (int i = 0; i < test_samples(60000); i++) {
        crContact c = sample_contact(&random, i % 2 ? SAMPLE_BODIES : SAMPLE_NEEDLE);
        if (c.mu == 0.0) continue;
        crHit hit = hit_of(&law, &c);
        Brute all = brute_stage(&c, c.V, 500);
        if (!CHECK(all.count > 0)) continue;
        crVec3 P1 = brute_choice(&all);
        crVec3 P2 = expansion(&c, P1);
        again += P2.x > c.e * P1.x * (1 + 1e-9);
        worst = fmax(worst, outcome_gap(&c, cr_add(P1, P2), hit.P));
        several += hit.solutions > 1;
    }
    printf("  against brute force: worst gap %.1e; several solutions %d, Pn2 > e Pn1 %d times\n", worst,
           several, again);
    CHECK(worst <= 1e-7);
}

// Rarely expansion has to go beyond e Pn1, because friction would drive the bodies together again.
TEST(expansion_beyond_poisson) {
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    crContact c = {.W = {0.1601, 0.182441, 0.372599, 0.767784, 0.00462073, 1.18226},
                   .V = {-0.68485, -2.80936, 0}};
    c.mu = 0.388865;
    c.e = 0.990249;
    crHit hit = hit_of(&law, &c);
    Brute all = brute_stage(&c, c.V, 2000);
    crVec3 P1 = brute_choice(&all);
    crVec3 P2 = expansion(&c, P1);
    CHECK(P2.x > 1.1 * c.e * P1.x);
    printf("  gap %.1e, Pn2 / (e Pn1) %.3f\n", outcome_gap(&c, cr_add(P1, P2), hit.P), P2.x / (c.e * P1.x));
    CHECK(outcome_gap(&c, cr_add(P1, P2), hit.P) <= 1e-9);
    CHECK_NEAR(hit.V_plus.x, 0.0, 1e-12);
    CHECK(hit.permissible);
}

// Erratum: it rebounds at grazing, with numbers.
TEST(grazing_rebound) {
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    static const double Vn[] = {0.0, -0.0, -1e-300, -1e-14};
    for (int i = 0; i < 4; i++) {
        crContact c = {.W = {1, -0.8, 0, 1, 0, 1}, .V = {Vn[i], -1, 0}, .mu = 1.6, .e = 0.5};
        crHit hit = hit_of(&law, &c);
        CHECK_VEC(hit.P, cr_vec3(10.0 / 3, 11.0 / 3, 0), 1e-12);
        CHECK_VEC(hit.V_plus, cr_vec3(0.4, 0, 0), 1e-12);
        CHECK(hit.solutions >= 1 && hit.permissible);
    }
    // below the friction it takes nothing happens
    crContact c = {.W = {1, -0.8, 0, 1, 0, 1}, .V = {0, -1, 0}, .mu = 1.2, .e = 0.5};
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(0, 0, 0), 0.0);
    // the same by polygon: the corner d_0 is t1, along which friction acts here
    crLawParams params = {.directions = 8};
    law = cr__law(&cr__law_anitescu_potra, &params);
    c.mu = 1.6;
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(10.0 / 3, 11.0 / 3, 0), 1e-12);
}

// Without restitution it is one stage, the same as Whittaker's; on spheres it is the bilinear law.
TEST(special_cases) {
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    crLaw whittaker = cr__law(&cr__law_whittaker, NULL);
    crLaw bilinear = cr__law(&cr__law_bilinear, NULL);
    crRandom random = sample_seed(3);
    double plastic = 0.0;
    double spheres = 0.0;
    for (int i = 0; i < test_samples(60000); i++) {
        crContact c = sample_contact(&random, (crSampleKind)(i % SAMPLE_KINDS));
        c.e = 0.0;
        plastic = fmax(plastic, outcome_gap(&c, hit_of(&law, &c).P, hit_of(&whittaker, &c).P));
        c = sample_contact(&random, SAMPLE_SPHERES);
        c.et = 0.0;
        spheres = fmax(spheres, outcome_gap(&c, hit_of(&law, &c).P, hit_of(&bilinear, &c).P));
    }
    printf("  e = 0: gap to whittaker %.1e; spheres: gap to bilinear %.1e\n", plastic, spheres);
    CHECK(plastic == 0.0);
    CHECK(spheres <= 1e-13);
}

// The polygon tends to the circle with the angle between its corners.
TEST(polygon_converges) {
    crLaw exact = cr__law(&cr__law_anitescu_potra, NULL);
    static const int corners[] = {8, 32, 128, 512};
    double mean[4] = {0};
    int used = 0;
    crRandom random = sample_seed(4);
    for (int i = 0; i < test_samples(6000); i++) {
        crContact c = sample_contact(&random, i % 2 ? SAMPLE_BODIES : SAMPLE_FIXED);
        crHit hit = hit_of(&exact, &c);
        // where there is a choice a polygon may choose differently
        if (hit.solutions != 1) continue;
        // turn the tangents, so that the corners lie anyhow
        double s = sin(0.3 + i);
        double k = cos(0.3 + i);
        crMat3 turn = {{{1, 0, 0}, {0, k, -s}, {0, s, k}}};
        c.W = cr_sym3_in_frame(c.W, turn);
        c.V = cr_mat3_mul_t(turn, c.V);
        hit = hit_of(&exact, &c);
        for (int j = 0; j < 4; j++) {
            crLawParams params = {.directions = corners[j]};
            crLaw law = cr__law(&cr__law_anitescu_potra, &params);
            mean[j] += outcome_gap(&c, hit_of(&law, &c).P, hit.P);
        }
        used++;
    }
    printf("  polygon of 8, 32, 128, 512: mean gap %.1e %.1e %.1e %.1e\n", mean[0] / used, mean[1] / used,
           mean[2] / used, mean[3] / used);
    for (int j = 1; j < 4; j++) {
        CHECK(mean[j] <= mean[j - 1] / 3.0);
    }
    CHECK(mean[3] / used <= 1e-3);
}

TEST(directions_are_checked) {
    static const int wrong[] = {1, 2, -1, -8};
    for (int i = 0; i < 4; i++) {
        crLawParams params = {.directions = wrong[i]};
        crLaw law = cr__law(&cr__law_anitescu_potra, &params);
        crContact c = {.W = {1, 0, 0, 1, 0, 1}, .V = {-1, 1, 0}, .mu = 0.5};
        crHit hit;
        crError error;
        CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, &error), CR_ERR_RANGE);
        CHECK_TEXT(error.field, "cone");
    }
}

TEST(infinite_friction_is_the_limit) {
    crRandom random = sample_seed(5);
    for (int k = 0; k <= 6; k += 6) {
        crLawParams params = {.directions = k};
        crLaw law = cr__law(&cr__law_anitescu_potra, &params);
        double worst = 0.0;
        for (int i = 0; i < test_samples(20000); i++) {
            crContact c = sample_contact(&random, SAMPLE_BODIES);
            c.mu = INFINITY;
            crHit hit = hit_of(&law, &c);
            CHECK(hit.P.x > 0.0 && hit.margins.cone > 0.0 && hit.permissible);
            c.mu = 1e10;
            worst = fmax(worst, outcome_gap(&c, hit.P, hit_of(&law, &c).P));
        }
        printf("  infinite friction, %d directions: gap to mu = 1e10 %.1e\n", k, worst);
        CHECK(worst <= 1e-6);
    }
}

TEST(blocked_directions) {
    crLaw law = cr__law(&cr__law_anitescu_potra, NULL);
    crContact c = {.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 1, 0}, .mu = 0.5};
    CHECK(hit_of(&law, &c).regime == CR_REGIME_NO_SOLUTION);
    // a pendulum's end on a floor, W of rank one: it stops dead however elastic, for it cannot leave
    c = (crContact){.W = {1, 1, 0, 1, 0, 0}, .V = {-1, -1, 0}, .mu = 2, .e = 0.5};
    crHit hit = hit_of(&law, &c);
    CHECK_VEC(hit.V_plus, cr_vec3(0, 0, 0), 1e-12);
    CHECK(hit.permissible);
    // with little friction it rebounds along its only direction
    c.mu = 0.1;
    hit = hit_of(&law, &c);
    CHECK(hit.permissible && hit.V_plus.x > 0.1);
    CHECK_NEAR(hit.V_plus.x, hit.V_plus.y, 1e-12);
}
