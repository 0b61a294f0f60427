// test_law_compliant.c - the compliant law against closed forms of its springs, a second integrator, Routh's
// law (its limit for stiff tangential springs), and the inequalities it promises.
#include "law_case.h"
#include "resolve/compliant.h"
#include "resolve/kinds.h"
#include "test.h"

static crHit compliant(const crContact* c, double eta2) {
    crLawParams params = cr_law_params();
    params.eta2 = eta2;
    crLaw law = cr__law(&cr__law_compliant, &params);
    crHit hit = {0};
    CHECK_STATUS(cr_law_apply_contact(&law, c, &hit, NULL), CR_OK);
    return hit;
}

// a solid sphere of mass 1: 1/kg along n, 7/2 across
static crContact sphere(double Vn, double Vt, double mu, double e) {
    return (crContact){.W = {1, 0, 0, 3.5, 0, 3.5}, .V = {Vn, Vt, 0}, .mu = mu, .e = e};
}

// smallest eigenvalue over the largest
static double condition(const crSym3* W) {
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(*W, values, &axes);
    return values[0] / values[2];
}

// closed forms

// Two oscillators that do not know of each other: the normal one is a quarter period in compression and e
// times that in restitution, and the tangential one has that time.
TEST(stick_is_two_oscillators) {
    double worst = 0.0;
    for (int i = 0; i < 400; i++) {
        crRandom random = sample_seed(10 + (uint64_t)i);
        crContact c = sphere(-sample_log(&random, 0.01, 10.0), sample_uniform(&random, -3.0, 3.0), INFINITY,
                             sample_uniform(&random, 0.0, 1.0));
        double eta2 = sample_log(&random, 1e-4, 1e6);
        crHit hit = compliant(&c, eta2);
        double time = 0.5 * CR_PI * (1.0 + c.e);
        double Vt = c.V.y * cos(sqrt(3.5 / eta2) * time);
        crVec3 expected = cr_vec3(-(1.0 + c.e) * c.V.x, (Vt - c.V.y) / 3.5, 0);
        worst = fmax(worst, law_case_relative(hit.P, expected));
        CHECK(hit.permissible);
    }
    CHECK(worst < 1e-11);
    printf("sticking sphere: largest error %.1e\n", worst);
}

// where both springs have the same period the tangential velocity is turned round whole
TEST(superball) {
    crContact c = sphere(-1, 2, INFINITY, 1);
    crHit hit = compliant(&c, 3.5);
    CHECK_VEC(hit.V_plus, cr_vec3(1, -2, 0), 1e-11);
    CHECK(hit.regime == CR_REGIME_REVERSAL && hit.permissible);
    // with finite friction and the elastic ball's stiffness it still reverses in a range of angles
    int reversals = 0;
    for (int i = 1; i <= 60; i++) {
        c = sphere(-1, 0.1 * i, 0.5, 1);
        hit = compliant(&c, 1.21);
        reversals += hit.regime == CR_REGIME_REVERSAL;
        CHECK(hit.permissible);
        CHECK_NEAR(hit.V_plus.x, 1.0, 1e-12);
    }
    CHECK(reversals > 5 && reversals < 55);
    printf("superball: %d of 60 angles reverse\n", reversals);
}

TEST(gross_slip) {
    crContact c = {.W = {1, 0, 0, 3.5, 0, 3.5}, .V = {-1, -1.2, 1.6}, .mu = 0.05, .e = 0.7};
    crHit hit = compliant(&c, 1.21);
    CHECK_VEC(hit.P, cr_vec3(1.7, 1.7 * 0.05 * 0.6, -1.7 * 0.05 * 0.8), 1e-12);
    CHECK(hit.regime == CR_REGIME_SLIP);
}

TEST(no_friction_is_newton) {
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(20);
        for (int i = 0; i < 100; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            c.mu = 0.0;
            crVec3 newton = cr_vec3(-(1.0 + c.e) * c.V.x / c.W.xx, 0, 0);
            CHECK(law_case_relative(compliant(&c, 1.21).P, newton) < 1e-14);
            // and the limit is reached, although the direction of slip is as stiff as it gets
            c.mu = 1e-9;
            CHECK(law_case_relative(compliant(&c, 1.21).P, newton) < 1e-6);
        }
    }
}

TEST(grazing) {
    // pressed together by friction: finite, and the same from Vn = 0 as from Vn -> 0-
    crContact c = {.W = {1, -0.8, 0, 1, 0, 1}, .V = {0, -1, 0}, .mu = 1.6, .e = 0.5};
    crHit hit = compliant(&c, 1.21);
    c.V.x = -1e-10;
    CHECK(hit.P.x > 0.1 && hit.V_plus.x > 0.0 && hit.permissible);
    CHECK(law_case_relative(compliant(&c, 1.21).P, hit.P) < 1e-8);
    c.mu = 1.2;
    c.V.x = 0.0;
    CHECK_VEC(compliant(&c, 1.21).P, cr_vec3(0, 0, 0), 0.0);
    c.V.y = 0.0;
    CHECK_VEC(compliant(&c, 1.21).P, cr_vec3(0, 0, 0), 0.0);
}

// With e = 0 the contact is over when compression is. That is also the limit e -> 0, unless the bodies stick
// then and the tangential spring pulls them together (w.g < 0), which can hold the contact for longer.
TEST(plastic_ends_at_compression) {
    int pulled = 0;
    for (int i = 0; i < 300; i++) {
        crRandom random = sample_seed(30 + (uint64_t)i);
        crContact c = law_case_contact(&random, SAMPLE_BODIES);
        c.mu = fmax(c.mu, 0.01);
        c.e = 0.0;
        crHit hit = compliant(&c, 1.21);
        CHECK_NEAR(hit.V_plus.x, 0.0, 1e-11 * (cr_norm(c.V) + cr_norm(hit.V_plus)));
        CHECK(hit.permissible);
        crCompliant s;
        cr__compliant_start(&s, &c, 1.21);
        cr__compliant_follow(&s);
        bool pulls = !s.slips && c.W.xy * s.now.gy + c.W.xz * s.now.gz < 0.0;
        c.e = pulls ? 1e-3 : 1e-6;
        double change = law_case_relative(compliant(&c, 1.21).P, hit.P);
        CHECK(pulls || change < 1e-5);
        pulled += change > 1e-2;
    }
    CHECK(pulled < 15);
    printf("e -> 0 holds the contact beyond compression in %d of 300\n", pulled);
}

TEST(refusals) {
    crContact c = {.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 0.3, 0}, .mu = 0.5, .e = 0.5};
    crHit hit = compliant(&c, 1.21);
    CHECK(hit.regime == CR_REGIME_NO_SOLUTION && hit.solutions == 0);
    crLawParams params = cr_law_params();
    crLaw law = cr__law(&cr__law_compliant, &params);
    crError error;
    const double bad[] = {0.0, -1.0, NAN, INFINITY};
    for (int i = 0; i < 4; i++) {
        params.eta2 = bad[i];
        CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, &error), i < 2 ? CR_ERR_RANGE : CR_ERR_FINITE);
        CHECK_TEXT(error.field, "eta2");
    }
    c = sphere(-1, 0.5, 0.5, 0.5);
    law = cr__law(&cr__law_compliant, NULL);
    CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, &error), CR_OK);
    CHECK_VEC(hit.P, compliant(&c, 1.21).P, 0.0);
}

// properties over random collisions

TEST(permissible) {
    int count = test_samples(20000);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(100 + (uint64_t)kind);
        double energy = 1.0, penetration = 0.0, cone = 0.0;
        int given_up = 0, reversals = 0;
        for (int i = 0; i < (kind == SAMPLE_MATRIX ? count / 4 : count); i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            crHit hit = compliant(&c, sample_log(&random, 0.2, 5.0));
            if (hit.regime == CR_REGIME_NO_SOLUTION) {
                // only where the springs have motions some thousand times slower than others
                CHECK(c.e * c.e * condition(&c.W) < 1e-7);
                given_up++;
                continue;
            }
            reversals += hit.regime == CR_REGIME_REVERSAL;
            CHECK(hit.permissible && !hit.creates_energy);
            double size = fabs(cr_dot(hit.P, c.V)) + 0.5 * cr_sym3_quad(c.W, hit.P);
            energy = fmin(energy, hit.margins.energy / size);
            penetration = fmin(penetration, hit.margins.penetration / cr_norm(c.V));
            cone = fmin(cone, hit.margins.cone / cr_norm(hit.P));
        }
        printf(
            "kind %d: %d reversals, %d given up, worst margins: energy %.1e, penetration %.1e, cone %.1e\n",
            kind, reversals, given_up, energy, penetration, cone);
    }
}

TEST(tighter_run) {
    int count = test_samples(6000);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(200 + (uint64_t)kind);
        double worst = 0.0;
        int most = 0;
        for (int i = 0; i < (kind == SAMPLE_MATRIX ? count / 4 : count); i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            if (c.mu == 0.0) continue;
            crCompliant a, b;
            cr__compliant_start(&a, &c, 1.21);
            b = a;
            b.roughness = 0.1 * a.roughness;
            cr__compliant_follow(&a);
            cr__compliant_follow(&b);
            if (!a.ended || !b.ended) continue;
            worst = fmax(worst, law_case_relative(a.now.P, b.now.P));
            if (a.steps > most) most = a.steps;
        }
        CHECK(worst < 1e-9);
        printf("kind %d: largest relative change of P by a tolerance ten times tighter %.1e, steps <= %d\n",
               kind, worst, most);
    }
}

TEST(homogeneous_and_turned) {
    int count = test_samples(6000);
    double scaled = 0.0, turned = 0.0;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(300 + (uint64_t)i);
        static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_FIXED, SAMPLE_PLANAR, SAMPLE_SPHERES};
        crContact c = law_case_contact(&random, kinds[i % 4]);
        crHit hit = compliant(&c, 1.21);
        crContact other = c;
        other.V = cr_scale(3.0, c.V);
        scaled = fmax(scaled, law_case_relative(compliant(&other, 1.21).P, cr_scale(3.0, hit.P)));
        // another choice of tangents
        double sine, cosine;
        cr_sincos(sample_uniform(&random, 0.0, 6.0), &sine, &cosine);
        crMat3 R = {{{1, 0, 0}, {0, cosine, -sine}, {0, sine, cosine}}};
        other = c;
        other.W = cr_sym3_in_frame(c.W, R);
        other.V = cr_mat3_mul_t(R, c.V);
        turned = fmax(turned, law_case_relative(compliant(&other, 1.21).P, cr_mat3_mul_t(R, hit.P)));
    }
    CHECK(scaled < 1e-9 && turned < 1e-9);
    printf("threefold velocity %.1e, turned frame %.1e\n", scaled, turned);
}

// other methods

// Small steps of fixed size: forces by explicit midpoint, friction by scaling a too large spring force back.
static crVec3 small_steps(const crContact* c, double eta2, double dt) {
    crVec3 P = {0}, V = c->V;
    double f = 0.0, gy = 0.0, gz = 0.0, f_max = 0.0;
    bool opened = false;
    for (int i = 0; i < 50000000; i++) {
        // half a step of velocity, the forces, the other half
        V = cr_impulse_V_plus(c, cr_madd(P, 0.5 * dt, cr_vec3(f, gy, gz)));
        double before = f;
        double soft = f - V.x * dt, hard = f - V.x * dt / (c->e * c->e);
        f = soft < f_max ? fmin(hard, f_max) : fmax(soft, f_max);
        if (f < f_max && V.x > 0.0) f = hard;
        f_max = fmax(f_max, f);
        opened = opened || V.x > 0.0;
        if (f <= 0.0) {
            // the part of the step in which there was still a force
            double part = before / (before - f);
            P = cr_madd(P, 0.5 * dt * part, cr_vec3(before, gy, gz));
            return P;
        }
        double hy = gy - V.y * dt / eta2, hz = gz - V.z * dt / eta2;
        double size = sqrt(hy * hy + hz * hz);
        double scale = size > c->mu * f ? c->mu * f / size : 1.0;
        P = cr_madd(P, 0.5 * dt, cr_vec3(before + f, gy + scale * hy, gz + scale * hz));
        gy = scale * hy;
        gz = scale * hz;
    }
    return P;
}

TEST(brute_force_small_steps) {
    int count = test_samples(6000);
    double worst = 0.0, sum = 0.0;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(400 + (uint64_t)i);
        static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_FIXED, SAMPLE_PLANAR, SAMPLE_SPHERES};
        crContact c = law_case_contact(&random, kinds[i % 4]);
        c.e = fmax(c.e, 0.2);
        c.mu = sample_log(&random, 1e-3, 3.0);
        if (condition(&c.W) < 1e-3 || fabs(c.V.x) < 0.05 * cr_norm(c.V)) continue;
        crHit hit = compliant(&c, 1.21);
        double dt = 2e-4 / sqrt(cr_sym3_trace(c.W));
        double error = law_case_relative(small_steps(&c, 1.21, dt), hit.P);
        worst = fmax(worst, error);
        sum += error;
    }
    CHECK(worst < 1e-4);
    printf("small steps: largest difference %.1e, mean %.1e\n", worst, sum / count);
}

// A tangential spring without give is Routh's law with the energetic ending, found here without springs.
TEST(stiff_tangent_is_routh) {
    crLawParams params = cr_law_params();
    params.ending = CR_ENDING_ENERGETIC;
    crLaw law = cr__law(&cr__law_routh, &params);
    double worst[2] = {0.0, 0.0};
    for (int i = 0; i < 60; i++) {
        crRandom random = sample_seed(500 + (uint64_t)i);
        static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_PLANAR, SAMPLE_SPHERES};
        crContact c = law_case_contact(&random, kinds[i % 3]);
        if (fabs(c.V.x) < 0.1 * cr_norm(c.V) || condition(&c.W) < 1e-2) continue;
        crHit hit;
        CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, NULL), CR_OK);
        worst[0] = fmax(worst[0], law_case_relative(compliant(&c, 1e-2).P, hit.P));
        worst[1] = fmax(worst[1], law_case_relative(compliant(&c, 1e-6).P, hit.P));
    }
    CHECK(worst[1] < 5e-3 && worst[1] < 0.1 * worst[0]);
    printf("eta2 = 1e-2 and 1e-6 differ from Routh by %.1e and %.1e\n", worst[0], worst[1]);
}

// Infinite friction and a diagonal W: two oscillators. The normal one loads for a quarter of its period and
// unloads for e times that; meanwhile V_t goes as a cosine of frequency sqrt(Wtt/eta2).
TEST(infinite_friction_in_closed_form) {
    crRandom random = sample_seed(35);
    for (int i = 0; i < test_samples(6000); i++) {
        crContact c = {.mu = i % 2 == 0 ? (double)INFINITY : 1e12, .e = sample_uniform(&random, 0.05, 1.0)};
        c.W = (crSym3){sample_log(&random, 0.1, 10.0), 0, 0, sample_log(&random, 0.1, 10.0), 0, 1.0};
        c.W.zz = c.W.yy;
        c.V = cr_vec3(-sample_log(&random, 0.1, 10.0), sample_uniform(&random, -2, 2),
                      sample_uniform(&random, -2, 2));
        crLawParams params = cr_law_params();
        params.eta2 = sample_log(&random, 0.1, 10.0);
        crLaw law = cr__law(&cr__law_compliant, &params);
        crHit hit;
        CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, NULL), CR_OK);
        double T = 0.5 * CR_PI * (1.0 + c.e) / sqrt(c.W.xx);
        double turned = cos(sqrt(c.W.yy / params.eta2) * T);
        crVec3 V = cr_vec3(-c.e * c.V.x, turned * c.V.y, turned * c.V.z);
        CHECK_VEC(hit.V_plus, V, 1e-10 * cr_norm(c.V));
    }
}

// Friction that no force reaches is infinite friction: any mu beyond that gives the same impulse.
TEST(large_friction_is_infinite_friction) {
    crRandom random = sample_seed(36);
    crLaw law = cr__law(&cr__law_compliant, NULL);
    int none = 0;
    double worst = 0.0;
    for (int i = 0; i < test_samples(12000); i++) {
        crContact c = law_case_contact(&random, SAMPLE_BODIES);
        c.e = sample_uniform(&random, 0.05, 1.0);
        c.mu = (double)INFINITY;
        crHit limit, hit;
        CHECK_STATUS(cr_law_apply_contact(&law, &c, &limit, NULL), CR_OK);
        if (limit.regime == CR_REGIME_NO_SOLUTION) none++;
        const double mu[] = {1e9, 1e7, 1e5};
        for (int k = 0; k < 3; k++) {
            c.mu = mu[k];
            CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, NULL), CR_OK);
            if (hit.regime == CR_REGIME_NO_SOLUTION) none++;
            // the slip at the end lasts g/(mu f') and takes part of the impulse g over that time
            if (k == 0) worst = fmax(worst, law_case_relative(hit.P, limit.P));
        }
    }
    printf("mu = 1e9 differs from infinity by %.1e, no solution in %d\n", worst, none);
    CHECK(none == 0 && worst <= 1e-6);
}
