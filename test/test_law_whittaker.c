// Whittaker's law: its two conditions from P alone, all solutions against a scan of slip directions, the
// printed examples, and the limits (grazing, infinite friction, blocked directions).
#include "algebraic.h"
#include "resolve/kinds.h"

// Distance from "stick inside the cone, or on the cone against the slip", as an impulse over its size.
static double friction_defect(const crContact* c, const crHit* hit) {
    double scale = speed_scale(c, hit->P);
    double slip = length2(hit->V_plus.y, hit->V_plus.z);
    double size = (1.0 + c->mu) * cr_norm(hit->P);
    if (!(size > 0.0) || slip <= 1e-13 * scale) return 0.0;
    // P_t |u| + mu Pn u = 0, on the scale of the speeds, so that a direction made of rounding does not count
    double y = hit->P.y * slip + c->mu * hit->P.x * hit->V_plus.y;
    double z = hit->P.z * slip + c->mu * hit->P.x * hit->V_plus.z;
    return length2(y, z) / (size * scale);
}

TEST(conditions_hold_from_P_alone) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crRandom random = sample_seed(1);
    Worst worst = worst_none();
    double restitution = 0.0;
    double friction = 0.0;
    int created = 0;
    int total = 0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        for (int i = 0; i < test_samples(100000); i++) {
            crContact c = sample_contact(&random, (crSampleKind)kind);
            crHit hit = hit_of(&law, &c);
            if (!solved(&c, &hit)) continue;
            CHECK(hit.solutions <= 3);
            double defect = fabs(hit.V_plus.x + c.e * c.V.x) / speed_scale(&c, hit.P);
            restitution = fmax(restitution, defect);
            friction = fmax(friction, friction_defect(&c, &hit));
            worst_add(&worst, &c, &hit);
            created += hit.creates_energy;
            total++;
        }
    }
    printf("  defect of Vn+ = -e Vn %.1e, of friction %.1e; creates energy in %.1f %%\n", restitution,
           friction, 100.0 * created / total);
    CHECK(restitution <= 1e-14);
    CHECK(friction <= 1e-12);
    CHECK(created > 0);
    worst_check("whittaker", worst, false);
}

TEST(symmetries) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    check_symmetries(&law, (crSampleKind)0, (crSampleKind)(SAMPLE_KINDS - 1), false);
}

// Kane's paradox on a slender rod of mass and length 1 at .8 rad.
TEST(slender_rod_creates_energy) {
    double s = sin(0.8);
    double k = cos(0.8);
    crContact c = {.W = {1 + 3 * k * k, -3 * s * k, 0, 1 + 3 * s * s, 0, 1}, .V = {-1, 0.6, 0}, .mu = 0.5};
    double det = c.W.xx * c.W.yy - c.W.xy * c.W.xy;
    double before = 0.5 * (c.W.yy - 2 * 0.6 * -c.W.xy + 0.36 * c.W.xx) / det;
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    c.e = 0.9;
    CHECK_NEAR(1 + hit_of(&law, &c).energy_change / before, 1.2650, 5e-5);
    CHECK(hit_of(&law, &c).creates_energy);
    c.e = 1.0;
    CHECK_NEAR(1 + hit_of(&law, &c).energy_change / before, 1.5618, 5e-5);
}

// In the plane: the line Vn+ = -e Vn meets the line of sticking, or a friction line on the same side.
TEST(plane_by_geometry) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crRandom random = sample_seed(2);
    double worst = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        double a = sample_log(&random, 0.1, 10);
        double b = sample_log(&random, 0.1, 10);
        double m = sample_uniform(&random, -0.99, 0.99) * sqrt(a * b);
        crContact c = {.W = {a, m, 0, b, 0, 1}};
        c.V.x = -sample_uniform(&random, 0.01, 2);
        c.V.y = sample_uniform(&random, -2, 2);
        c.mu = sample_uniform(&random, 0.01, 2);
        c.e = sample_uniform(&random, 0, 1);
        double change = -(1 + c.e) * c.V.x;
        double det = a * b - m * m;
        crVec3 P = cr_vec3((b * change + m * c.V.y) / det, (-m * change - a * c.V.y) / det, 0);
        if (fabs(P.y) > c.mu * P.x) {
            // friction of the sign of the sticking one, as far as the line of restitution
            double side = P.y > 0 ? 1.0 : -1.0;
            P = cr_scale(change / (a + side * c.mu * m), cr_vec3(1, side * c.mu, 0));
        }
        worst = fmax(worst, outcome_gap(&c, P, hit_of(&law, &c).P));
        CHECK(hit_of(&law, &c).solutions == 1);
    }
    printf("  plane: worst gap %.1e\n", worst);
    CHECK(worst <= 1e-13);
}

static bool agrees(const crContact* c, const crHit* hit, const Brute* all) {
    return all->count == hit->solutions && outcome_gap(c, brute_choice(all), hit->P) <= 1e-7;
}

// Erratum: up to three solutions in 3D; stick if admissible, otherwise the smallest Pn.
TEST(solutions_against_a_scan_of_directions) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crRandom random = sample_seed(3);
    static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_FIXED, SAMPLE_NEEDLE};
    int seen[4] = {0};
    int stuck = 0;
    int finer = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = sample_contact(&random, kinds[i % 3]);
        if (c.mu == 0.0) continue;
        crHit hit = hit_of(&law, &c);
        crVec3 U = cr_vec3((1 + c.e) * c.V.x, c.V.y, c.V.z);
        // the scan may miss two roots close together: look again more closely
        int steps = 500;
        Brute all = brute_stage(&c, U, steps);
        while (!agrees(&c, &hit, &all) && steps < 1000000) {
            steps *= 20;
            all = brute_stage(&c, U, steps);
            finer++;
        }
        CHECK(agrees(&c, &hit, &all));
        seen[hit.solutions]++;
        if (hit.solutions == 3) stuck += hit.regime == CR_REGIME_STICK;
    }
    printf("  one solution %d, three %d (of which sticking %d); finer scans %d\n", seen[1], seen[3], stuck,
           finer);
    CHECK(seen[3] > 0 && seen[2] == 0);
}

// The example of the documentation: three solutions, one of which sticks, exactly.
TEST(three_solutions) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crContact c = {.W = {0.6, 0.7, -0.4, 1.4, 0, 0.8}, .V = {-1, 1.7, 3.8}, .mu = 0.7, .e = 0.5};
    crHit hit = hit_of(&law, &c);
    CHECK(hit.solutions == 3);
    CHECK_VEC(hit.P, cr_vec3(9, -40.0 / 7, -0.25), 1e-12);
    // a little less friction than sticking needs: the smallest Pn, far from it
    c.mu = 0.6;
    hit = hit_of(&law, &c);
    Brute all = brute_stage(&c, cr_vec3((1 + c.e) * c.V.x, c.V.y, c.V.z), 5000);
    CHECK(hit.solutions == all.count && hit.regime != CR_REGIME_STICK);
    CHECK_VEC(hit.P, brute_choice(&all), 1e-9);
}

// Vn -> 0-: in the plane P_II if it is in the cone, otherwise nothing; in space not always.
TEST(grazing) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crRandom random = sample_seed(4);
    int neither[2] = {0};
    int count = test_samples(100000);
    for (int i = 0; i < 2 * count; i++) {
        bool planar = i % 2 == 0;
        crContact c = sample_contact(&random, planar ? SAMPLE_PLANAR : SAMPLE_MATRIX);
        c.V.x = 0.0;
        crHit hit = hit_of(&law, &c);
        crVec3 P_II;
        if (!cr_impulse_P_II(&c, &P_II)) continue;
        bool inside = P_II.x >= 0 && length2(P_II.y, P_II.z) <= c.mu * P_II.x;
        bool as_said = outcome_gap(&c, hit.P, inside ? P_II : cr_vec3(0, 0, 0)) <= 1e-9;
        if (!as_said) neither[planar ? 0 : 1]++;
        CHECK(as_said || (!inside && !planar));
        // the limit itself
        crContact near = c;
        near.V.x = -1e-13 * cr_norm(c.V);
        CHECK(outcome_gap(&c, hit.P, hit_of(&law, &near).P) <= 1e-6);
    }
    printf("  grazing: neither P_II nor zero in %d of %d planar, %.1f %% of 3D\n", neither[0], count,
           100.0 * neither[1] / count);
    CHECK(neither[0] == 0 && neither[1] > 0);
}

// W diagonal in (n, V_t, .): friction against V_t, as far as it takes. Diagonal in other axes: not along V_t.
TEST(diagonal_frames) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crRandom random = sample_seed(5);
    double oblique = 0.0;
    for (int i = 0; i < test_samples(20000); i++) {
        crContact c = {.W = {1, 0, 0, sample_log(&random, 0.2, 5), 0, 1}};
        c.W.zz = sample_log(&random, 0.2, 5);
        c.V = cr_vec3(-1, sample_uniform(&random, -3, 3), 0);
        c.mu = sample_uniform(&random, 0.05, 1);
        c.e = sample_uniform(&random, 0, 1);
        double Pn = 1 + c.e;
        double Pt = fmin(c.mu * Pn, fabs(c.V.y) / c.W.yy);
        CHECK_VEC(hit_of(&law, &c).P, cr_vec3(Pn, -copysign(Pt, c.V.y), 0), 1e-13);
        c.V.z = sample_uniform(&random, -3, 3);
        crHit hit = hit_of(&law, &c);
        double before = length2(c.V.y, c.V.z) * length2(hit.P.y, hit.P.z);
        oblique = fmax(oblique, fabs(c.V.y * hit.P.z - c.V.z * hit.P.y) / before);
    }
    printf("  diagonal, V_t oblique: largest sine between P_t and V_t %.2f\n", oblique);
    CHECK(oblique > 0.1);
}

TEST(infinite_friction_is_the_limit) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    crRandom random = sample_seed(6);
    int pulled = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        crContact c = sample_contact(&random, SAMPLE_BODIES);
        c.mu = INFINITY;
        crHit hit = hit_of(&law, &c);
        crContact rough = c;
        rough.mu = 1e10;
        CHECK(outcome_gap(&c, hit.P, hit_of(&law, &rough).P) <= 1e-6);
        CHECK(fabs(hit.V_plus.x + c.e * c.V.x) <= 1e-13 * speed_scale(&c, hit.P));
        CHECK(hit.P.x > 0.0 && hit.margins.cone > 0.0);
        pulled += hit.regime != CR_REGIME_STICK;
    }
    printf("  infinite friction: %d draws cannot stick\n", pulled);
    CHECK(pulled > 0);
}

TEST(blocked_directions) {
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    // nothing can move along n
    crContact c = {.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 1, 0}, .mu = 0.5};
    CHECK(hit_of(&law, &c).regime == CR_REGIME_NO_SOLUTION);
    CHECK(hit_of(&law, &c).solutions == 0);
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(0, 0, 0), 0.0);
    // a point that moves along (1,-1,0) only: sticking wherever V is along it
    c = (crContact){.W = {1, -1, 0, 1, 0, 0}, .V = {-1, 1, 0}, .mu = 0.5, .e = 0};
    CHECK_VEC(hit_of(&law, &c).V_plus, cr_vec3(0, 0, 0), 1e-12);
    // and slips for ever across it: no impulse can change V_t = (.., 1)
    c.V.z = 1.0;
    crHit hit = hit_of(&law, &c);
    CHECK(hit.regime == CR_REGIME_SLIP);
    CHECK_NEAR(hit.V_plus.z, 1.0, 1e-12);
    CHECK_NEAR(hit.V_plus.x, 0.0, 1e-12);
    // a pendulum's end whose friction pulls it down harder than any normal impulse lifts it
    c = (crContact){.W = {1, 2, 0, 4, 0, 1}, .V = {-1, 1, 0}, .mu = 3, .e = 0.5};
    CHECK(hit_of(&law, &c).regime == CR_REGIME_NO_SOLUTION);
    // nothing moves, nothing happens
    c = (crContact){.W = {1, 0, 0, 1, 0, 1}, .mu = 0.5, .e = 0.5};
    CHECK_VEC(hit_of(&law, &c).P, cr_vec3(0, 0, 0), 0.0);
}
