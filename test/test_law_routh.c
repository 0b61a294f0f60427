// test_law_routh.c - Routh's law against its definition: friction at every moment, the three endings, other
// methods of integration, closed forms, and the situations in which papers disagree.
#include "law_case.h"
#include "resolve/kinds.h"
#include "resolve/routh.h"
#include "test.h"

static const char* const ending_names[] = {"poisson", "newton", "energetic"};

static crHit routh(const crContact* c, crEnding ending) {
    crLawParams params = cr_law_params();
    params.ending = ending;
    crLaw law = cr__law(&cr__law_routh, &params);
    crHit hit = {0};
    CHECK_STATUS(cr_law_apply_contact(&law, c, &hit, NULL), CR_OK);
    return hit;
}

static crContact planar(double nn, double nt, double tt, double Vn, double Vt, double mu, double e) {
    return (crContact){.W = {nn, nt, 0, tt, 0, 1}, .V = {Vn, Vt, 0}, .mu = mu, .e = e};
}

// a rod of mass and length 1 standing at 45 degrees
static crContact rod(double mu, double e) { return planar(2.5, -1.5, 2.5, -1, 0.6, mu, e); }

// named situations

TEST(grazing_jam_rebounds) {
    crContact c = planar(1, -0.8, 1, 0, -1, 1.6, 0.5);
    for (int i = 0; i < 2; i++) {
        c.V.x = i == 0 ? 0.0 : -1e-13;
        crHit hit = routh(&c, CR_ENDING_POISSON);
        CHECK_VEC(hit.P, cr_vec3(10.0 / 3.0, 11.0 / 3.0, 0), 1e-11);
        CHECK_VEC(hit.V_plus, cr_vec3(0.4, 0, 0), 1e-11);
        CHECK(hit.regime == CR_REGIME_JAM && hit.permissible);
        // newton's ending has nothing to rebound with
        CHECK_NEAR(routh(&c, CR_ENDING_NEWTON).V_plus.x, 0.0, 1e-12);
        // half the work of compression's square: Vn+ = e times the speed that the sticking part takes up
        double lambda = 1.25, slope = 0.36, Vn = -0.28 * lambda;
        double work = 0.5 * Vn * lambda + 0.5 * Vn * (-Vn / slope);
        double Vn_plus = sqrt(2.0 * slope * 0.25 * -work);
        CHECK_NEAR(routh(&c, CR_ENDING_ENERGETIC).V_plus.x, Vn_plus, 1e-11);
    }
}

TEST(grazing_without_jam_is_nothing) {
    crContact c = planar(1, -0.8, 1, 0, -1, 1.2, 0.5);
    for (int ending = 0; ending < 3; ending++) {
        crHit hit = routh(&c, (crEnding)ending);
        CHECK_VEC(hit.P, cr_vec3(0, 0, 0), 0.0);
        CHECK(hit.regime != CR_REGIME_JAM);
    }
}

TEST(newton_ending_creates_energy) {
    crContact c = rod(0.6, 1.0);
    crHit hit = routh(&c, CR_ENDING_NEWTON);
    crSym3 m;
    CHECK(cr_sym3_invert(c.W, &m));
    CHECK_NEAR(cr_sym3_quad(m, hit.V_plus) / cr_sym3_quad(m, c.V), 1.5625, 1e-13);
    CHECK(hit.creates_energy && !hit.permissible);
    CHECK(routh(&c, CR_ENDING_POISSON).permissible && routh(&c, CR_ENDING_ENERGETIC).permissible);
}

// a pendulum whose end meets the floor: its point moves along one line only, W = g g^T
TEST(blocked_direction) {
    crVec3 g = {0.6, 0.8, 0};
    crContact c = {.W = {g.x * g.x, g.x * g.y, 0, g.y * g.y, 0, 0}, .V = {-0.6, -0.8, 0}, .mu = 2.0};
    for (int i = 0; i < 2; i++) {
        c.e = 0.5 * i;
        crHit hit = routh(&c, CR_ENDING_POISSON);
        CHECK_VEC(hit.V_plus, cr_vec3(0, 0, 0), 1e-14);
        // slip until g.V = 0, then e times as much again, which changes no velocity
        double Pn_c = 1.0 / (0.6 + 2.0 * 0.8);
        CHECK_NEAR(hit.P.x, (1.0 + c.e) * Pn_c, 1e-14);
    }
    // there is nothing to rebound with
    CHECK(routh(&c, CR_ENDING_NEWTON).regime == CR_REGIME_NO_SOLUTION);
    CHECK(routh(&c, CR_ENDING_ENERGETIC).regime == CR_REGIME_NO_SOLUTION);
    // little friction: it slides and rebounds
    c.mu = 0.1;
    c.V.y = 0.8;
    c.W.xy = -0.48;
    CHECK(routh(&c, CR_ENDING_POISSON).V_plus.x > 0.0);
    // a velocity that the mechanism does not have and friction stops the rest: never ends
    c = (crContact){.W = {0.36, 0.48, 0, 0.64, 0, 0}, .V = {-2, -0.1, 0}, .mu = 2.0, .e = 0.5};
    CHECK(routh(&c, CR_ENDING_POISSON).regime == CR_REGIME_NO_SOLUTION);
    c = (crContact){.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 0.3, 0.2}, .mu = 0.3, .e = 0.5};
    for (int ending = 0; ending < 3; ending++) {
        crHit hit = routh(&c, (crEnding)ending);
        CHECK(hit.regime == CR_REGIME_NO_SOLUTION && hit.solutions == 0);
    }
    // a blocked tangent: friction acts, the slip stays
    c = (crContact){.W = {2, 0, 0, 0, 0, 0}, .V = {-1, 0.6, 0.8}, .mu = 0.3, .e = 0.5};
    crHit hit = routh(&c, CR_ENDING_POISSON);
    CHECK_VEC(hit.P, cr_vec3(0.75, -0.18 * 0.75, -0.24 * 0.75), 1e-15);
    c.V = cr_vec3(-1, 0, 0);
    CHECK_VEC(routh(&c, CR_ENDING_POISSON).P, cr_vec3(0.75, 0, 0), 1e-15);
}

TEST(refusals) {
    crLawParams params = cr_law_params();
    params.ending = (crEnding)7;
    crLaw law = cr__law(&cr__law_routh, &params);
    crContact c = rod(0.6, 1.0);
    crHit hit;
    crError error;
    CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "ending");
    crVec3 P[4];
    CHECK(cr_routh_path(&c, &params, 4, P) == CR_ERR_RANGE);
    CHECK(cr_routh_path(NULL, NULL, 4, P) == CR_ERR_ARGUMENT);
    CHECK(cr_routh_path(&c, NULL, 1, P) == CR_ERR_ARGUMENT);
    law = cr__law(&cr__law_routh, NULL);
    CHECK_STATUS(cr_law_apply_contact(&law, &c, &hit, &error), CR_OK);
    CHECK_VEC(hit.P, routh(&c, CR_ENDING_POISSON).P, 0.0);
}

// properties over random collisions

// smallest eigenvalue over the largest
static double condition(const crSym3* W) {
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(*W, values, &axes);
    return values[0] / values[2];
}

TEST(permissible) {
    int count = test_samples(100000);
    for (int ending = 0; ending < 3; ending++) {
        int jams = 0, none = 0, created = 0;
        double energy = 0.0, penetration = 0.0, cone = 0.0;
        for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
            crRandom random = sample_seed(100 + (uint64_t)kind);
            for (int i = 0; i < count; i++) {
                crContact c = law_case_contact(&random, (crSampleKind)kind);
                crHit hit = routh(&c, (crEnding)ending);
                jams += hit.regime == CR_REGIME_JAM;
                if (hit.regime == CR_REGIME_NO_SOLUTION) {
                    // only where W blocks a direction to rounding: P would be 1e13 times V
                    none++;
                    CHECK(condition(&c.W) < 1e-13);
                    continue;
                }
                created += hit.creates_energy;
                double size = fabs(cr_dot(hit.P, c.V)) + 0.5 * cr_sym3_quad(c.W, hit.P);
                if (ending != CR_ENDING_NEWTON) {
                    CHECK(hit.permissible);
                    energy = fmin(energy, hit.margins.energy / size);
                }
                penetration = fmin(penetration, hit.margins.penetration / cr_norm(c.V));
                cone = fmin(cone, hit.margins.cone / cr_norm(hit.P));
                CHECK(hit.margins.tension >= 0.0);
                CHECK(hit.margins.penetration >= -1e-9 * (cr_norm(c.V) + cr_norm(hit.V_plus)));
                CHECK(hit.margins.cone >= -1e-9 * cr_norm(hit.P));
            }
        }
        printf("%s: of %d: %d jam, %d no solution, %d create energy\n", ending_names[ending],
               count * SAMPLE_KINDS, jams, none, created);
        printf("  worst margins: energy %.1e, penetration %.1e, cone %.1e\n", energy, penetration, cone);
    }
}

// W of rank 1 to 3 from small whole numbers or any, velocities in its range or not, friction without bounds
TEST(singular) {
    int count = test_samples(100000);
    int none = 0;
    crRandom random = sample_seed(150);
    for (int i = 0; i < count; i++) {
        int rank = 1 + (int)(sample_bits(&random) % 3);
        bool whole = sample_bits(&random) % 2 == 0;
        double a[3][3] = {{0}}, W[3][3] = {{0}};
        for (int j = 0; j < 9; j++) {
            double number = sample_uniform(&random, -2.5, 2.5);
            if (j % 3 < rank) a[j / 3][j % 3] = whole ? floor(number + 0.5) : number;
        }
        for (int j = 0; j < 27; j++)
            W[j / 9][j / 3 % 3] += a[j / 9][j % 3] * a[j / 3 % 3][j % 3];
        crContact c = {.W = {W[0][0], W[0][1], W[0][2], W[1][1], W[1][2], W[2][2]}};
        c.V = cr_scale(2.0, sample_direction(&random));
        if (i % 4 == 0) c.V = cr_sym3_mul(c.W, c.V);
        if (whole) c.V = cr_vec3(floor(c.V.x), floor(c.V.y), floor(c.V.z));
        if (c.V.x > 0.0) c.V = cr_neg(c.V);
        static const double frictions[] = {0.0, 1e-12, 0.7, 1.8, 1e6, INFINITY};
        c.mu = frictions[i % 6];
        c.e = i % 5 == 0 ? 0.0 : sample_uniform(&random, 0.0, 1.0);
        crHit hit = routh(&c, (crEnding)(i % 3));
        none += hit.regime == CR_REGIME_NO_SOLUTION;
        if (i % 3 != CR_ENDING_NEWTON)
            CHECK(hit.verdict != CR_TRUTH_NO || hit.regime == CR_REGIME_NO_SOLUTION);
        CHECK(hit.margins.penetration >= -1e-9 * cr_norm(c.V) || hit.regime == CR_REGIME_NO_SOLUTION);
    }
    printf("singular W: %d of %d without a solution\n", none, count);
}

TEST(tighter_run) {
    int count = test_samples(100000);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(200 + (uint64_t)kind);
        double worst = 0.0;
        int most = 0;
        for (int i = 0; i < count; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            crRouth a, b;
            cr__routh_start(&a, &c, (crEnding)(i % 3));
            b = a;
            b.tol = 0.1 * a.tol;
            cr__routh_follow(&a);
            cr__routh_follow(&b);
            worst = fmax(worst, law_case_relative(a.P, b.P));
            if (a.steps > most) most = a.steps;
        }
        CHECK(worst < 1e-9);
        printf("kind %d: largest relative change of P by a tolerance ten times tighter %.1e, steps <= %d\n",
               kind, worst, most);
    }
}

// the closed form by pieces against the integrator on the same input
TEST(planar_two_ways) {
    int count = test_samples(100000);
    int compared = 0;
    double worst = 0.0;
    crRandom random = sample_seed(300);
    for (int i = 0; i < count; i++) {
        crContact c = law_case_contact(&random, i % 4 == 0 ? SAMPLE_SPHERES : SAMPLE_PLANAR);
        // next to no V_t gives a frame of rounding noise
        if (!cr_contact_is_planar(&c)) continue;
        compared++;
        crRouth a, b;
        cr__routh_start(&a, &c, (crEnding)(i % 3));
        b = a;
        b.curved = true;
        cr__routh_follow(&a);
        cr__routh_follow(&b);
        CHECK(a.steps == 0 && a.ended && b.ended && a.jam == b.jam);
        worst = fmax(worst, law_case_relative(b.P, a.P));
    }
    CHECK(compared > count - count / 100);
    CHECK(worst < 1e-9);
    printf("planar closed form and integrator differ by %.1e\n", worst);
}

// W diagonal: normal and tangential parts do not know of each other
TEST(spheres) {
    int count = test_samples(100000);
    double worst = 0.0;
    crRandom random = sample_seed(301);
    for (int i = 0; i < count; i++) {
        crContact c = law_case_contact(&random, SAMPLE_SPHERES);
        double Pn = -(1.0 + c.e) * c.V.x / c.W.xx;
        double speed = sqrt(c.V.y * c.V.y + c.V.z * c.V.z);
        double Pt = fmin(c.mu * Pn, speed / c.W.yy) / speed;
        crVec3 expected = cr_vec3(Pn, -Pt * c.V.y, -Pt * c.V.z);
        for (int ending = 0; ending < 3; ending++) {
            crHit hit = routh(&c, (crEnding)ending);
            worst = fmax(worst, law_case_relative(hit.P, expected));
        }
    }
    CHECK(worst < 1e-12);
    printf("spheres: largest error %.1e\n", worst);
}

TEST(no_friction_is_newton) {
    int count = test_samples(100000);
    double worst = 0.0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(302);
        for (int i = 0; i < count; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            c.mu = 0.0;
            crHit hit = routh(&c, (crEnding)(i % 3));
            worst = fmax(worst, law_case_relative(hit.P, cr_vec3(-(1.0 + c.e) * c.V.x / c.W.xx, 0, 0)));
        }
    }
    CHECK(worst < 1e-14);
}

TEST(homogeneous) {
    int count = test_samples(100000);
    double worst = 0.0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        crRandom random = sample_seed(303);
        for (int i = 0; i < count / 10; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            crHit hit = routh(&c, (crEnding)(i % 3));
            // powers of two change no bit, other factors only roundings
            crContact twice = c;
            twice.V = cr_scale(2.0, c.V);
            crHit doubled = routh(&twice, (crEnding)(i % 3));
            CHECK_VEC(doubled.P, cr_scale(2.0, hit.P), 0.0);
            twice.V = cr_scale(3.0, c.V);
            if (kind == SAMPLE_NEEDLE || kind == SAMPLE_MATRIX) continue;
            worst = fmax(worst, law_case_relative(routh(&twice, (crEnding)(i % 3)).P, cr_scale(3.0, hit.P)));
        }
    }
    CHECK(worst < 1e-9);
    printf("threefold velocity: P differs from three times P by %.1e\n", worst);
}

TEST(rotation) {
    int count = test_samples(100000);
    double worst = 0.0;
    crLaw law = cr__law(&cr__law_routh, NULL);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        if (kind == SAMPLE_NEEDLE || kind == SAMPLE_MATRIX) continue;
        crRandom random = sample_seed(304);
        for (int i = 0; i < count / 10; i++) {
            crCollision c = sample_collision(&random, (crSampleKind)kind);
            crMat3 R = cr_quat_matrix(sample_rotation(&random));
            crCollision turned = c;
            for (int j = 0; j < 3; j++) {
                // column j of R W R^T
                crVec3 row = cr_vec3(R.m[j][0], R.m[j][1], R.m[j][2]);
                crVec3 column = cr_mat3_mul(R, cr_mat3_mul(c.W, row));
                turned.W.m[0][j] = column.x;
                turned.W.m[1][j] = column.y;
                turned.W.m[2][j] = column.z;
            }
            turned.V = cr_mat3_mul(R, c.V);
            turned.n = cr_mat3_mul(R, c.n);
            crHit a, b;
            CHECK_STATUS(cr_law_apply(&law, &c, &a, NULL), CR_OK);
            CHECK_STATUS(cr_law_apply(&law, &turned, &b, NULL), CR_OK);
            worst = fmax(worst, law_case_relative(b.P, cr_mat3_mul(R, a.P)));
        }
    }
    CHECK(worst < 1e-9);
    printf("rotated: P differs from rotated P by %.1e\n", worst);
}

TEST(infinite_friction) {
    int count = test_samples(100000);
    double worst = 0.0;
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        if (kind == SAMPLE_NEEDLE || kind == SAMPLE_MATRIX) continue;
        crRandom random = sample_seed(305);
        for (int i = 0; i < count / 10; i++) {
            crContact c = law_case_contact(&random, (crSampleKind)kind);
            c.mu = INFINITY;
            crHit hit = routh(&c, (crEnding)(i % 3));
            CHECK(i % 3 == CR_ENDING_NEWTON || hit.permissible);
            c.mu = 1e8;
            worst = fmax(worst, law_case_relative(hit.P, routh(&c, (crEnding)(i % 3)).P));
        }
    }
    CHECK(worst < 1e-4);
    printf("mu = infinity and mu = 1e8 differ by %.1e\n", worst);
}

// slip from rest goes where friction opposes it and only as fast as W lets it
TEST(leaving_rest) {
    int count = test_samples(100000);
    int left = 0;
    double worst = 0.0;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(400 + (uint64_t)i);
        crContact c = law_case_contact(&random, i % 2 == 0 ? SAMPLE_MATRIX : SAMPLE_BODIES);
        c.V.y = c.V.z = 0.0;
        crHit hit = routh(&c, (crEnding)(i % 3));
        crVec3 s = cr_vec3(0, hit.V_plus.y, hit.V_plus.z);
        double speed = cr_norm(s);
        // the direction of V_t+ is known no better than V_t+ itself, a difference of larger velocities
        double known = fmax(1.0, cr_sym3_trace(c.W) * cr_norm(hit.P) / speed);
        if (hit.regime == CR_REGIME_STICK || known > 1e12) continue;
        left++;
        crVec3 against = cr_vec3(hit.P.x, -c.mu * hit.P.x * s.y / speed, -c.mu * hit.P.x * s.z / speed);
        worst = fmax(worst, law_case_relative(hit.P, against) / known);
    }
    CHECK(left > count / 100);
    CHECK(worst < 1e-12);
    printf("slip left rest in %d of %d, friction off its direction by %.1e\n", left, count, worst);
}

// other methods

// p with |p| <= limit that minimizes p.A p/2 + p.b: friction at the end of a small step, by bisection.
static void implicit_friction(const crSym3* W, double by, double bz, double limit, double* py, double* pz) {
    double lo = 0.0, hi = sqrt(by * by + bz * bz) / limit;
    for (int i = 0; i < 200; i++) {
        double shift = i == 0 ? 0.0 : 0.5 * (lo + hi);
        double yy = W->yy + shift, zz = W->zz + shift;
        double det = yy * zz - W->yz * W->yz;
        *py = -(zz * by - W->yz * bz) / det;
        *pz = -(yy * bz - W->yz * by) / det;
        double square = *py * *py + *pz * *pz;
        if (i == 0 && square <= limit * limit) return;
        if (square > limit * limit) {
            lo = shift;
        } else {
            hi = shift;
        }
        if (i > 0 && hi - lo <= 1e-15 * hi) return;
    }
}

typedef struct Brute {
    crVec3 P;
    double Vn_c;         // normal velocity where Pn = Pn_end / (1+e)
    double compression;  // work of the normal impulse up to the last upward zero of Vn
    double restitution;  // and after it
    int steps_c;         // steps of compression
} Brute;

// Implicit Euler in Pn up to a given Pn: knows slip, stick and leaving from one inequality.
static Brute brute_force(const crContact* c, double Pn_end, int steps) {
    Brute b = {0};
    double dP = Pn_end / steps;
    crVec3 V = c->V;
    double work = 0.0;
    for (int i = 0; i < steps; i++) {
        double py, pz;
        implicit_friction(&c->W, V.y + c->W.xy * dP, V.z + c->W.xz * dP, c->mu * dP, &py, &pz);
        b.P = cr_add(b.P, cr_vec3(dP, py, pz));
        double before = V.x;
        V = cr_impulse_V_plus(c, b.P);
        work += 0.5 * (before + V.x) * dP;
        if (before < 0.0 && V.x >= 0.0) {
            b.compression = work;
            b.steps_c = i + 1;
        }
        if ((i + 1) * (1.0 + c->e) <= steps) b.Vn_c = V.x;
    }
    b.restitution = work - b.compression;
    return b;
}

TEST(brute_force_implicit_euler) {
    int count = test_samples(6000);
    int steps = 2000;
    double path = 0.0, poisson = 0.0, energetic = 0.0;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(500 + (uint64_t)i);
        static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_FIXED, SAMPLE_PLANAR, SAMPLE_MATRIX};
        crContact c = law_case_contact(&random, kinds[i % 4]);
        c.mu = fmax(c.mu, 0.01);
        // where P is much larger than V / W, equal steps of it are too coarse at the beginning
        if (condition(&c.W) < 1e-3) continue;
        crEnding ending = (crEnding)(i / 4 % 3);
        crHit hit = routh(&c, ending);
        Brute b = brute_force(&c, hit.P.x, steps);
        path = fmax(path, law_case_relative(b.P, hit.P));
        double speed = cr_norm(c.V) + cr_norm(hit.V_plus);
        if (ending == CR_ENDING_POISSON) poisson = fmax(poisson, fabs(b.Vn_c) / speed);
        if (ending == CR_ENDING_NEWTON) CHECK_NEAR(hit.V_plus.x, -c.e * c.V.x, 1e-10 * speed);
        if (ending == CR_ENDING_ENERGETIC) {
            double error = b.restitution + c.e * c.e * b.compression;
            // a short compression is resolved by its own few steps only
            energetic = fmax(energetic, fabs(error / b.compression) * b.steps_c / steps);
        }
    }
    // first order: a few times 1 / steps
    CHECK(path < 10.0 / steps);
    CHECK(poisson < 10.0 / steps);
    CHECK(energetic < 20.0 / steps);
    printf("implicit Euler, %d steps: path %.1e, poisson %.1e, energetic %.1e\n", steps, path, poisson,
           energetic);
}

static void slip_rate_of(const crContact* c, const double P[2], double Pn, double rate[2], double* speed) {
    crVec3 V = cr_impulse_V_plus(c, cr_vec3(Pn, P[0], P[1]));
    *speed = sqrt(V.y * V.y + V.z * V.z);
    rate[0] = -c->mu * V.y / *speed;
    rate[1] = -c->mu * V.z / *speed;
}

// The classical fourth-order method in Pn itself, for draws that slip all the way.
TEST(brute_force_runge_kutta) {
    int count = test_samples(20000);
    int compared = 0;
    double worst = 0.0;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(600 + (uint64_t)i);
        crContact c = law_case_contact(&random, i % 2 == 0 ? SAMPLE_BODIES : SAMPLE_MATRIX);
        crHit hit = routh(&c, (crEnding)(i % 3));
        int steps = 3000;
        double h = hit.P.x / steps, least = INFINITY;
        // a step may not change the slip by much
        double fastest = fabs(c.W.xy) + fabs(c.W.xz) + c.mu * (c.W.yy + c.W.zz);
        if (h * fastest > 0.01 * sqrt(c.V.y * c.V.y + c.V.z * c.V.z)) continue;
        double P[2] = {0, 0};
        for (int k = 0; k < steps && least > 0.0; k++) {
            double a[2], b[2], d[2], f[2], at[2], speed;
            slip_rate_of(&c, P, k * h, a, &speed);
            least = fmin(least, speed);
            if (least < 0.1 * sqrt(c.V.y * c.V.y + c.V.z * c.V.z)) least = 0.0;
            for (int j = 0; j < 2; j++)
                at[j] = P[j] + 0.5 * h * a[j];
            slip_rate_of(&c, at, (k + 0.5) * h, b, &speed);
            for (int j = 0; j < 2; j++)
                at[j] = P[j] + 0.5 * h * b[j];
            slip_rate_of(&c, at, (k + 0.5) * h, d, &speed);
            for (int j = 0; j < 2; j++)
                at[j] = P[j] + h * d[j];
            slip_rate_of(&c, at, (k + 1) * h, f, &speed);
            for (int j = 0; j < 2; j++)
                P[j] += h / 6.0 * (a[j] + 2.0 * (b[j] + d[j]) + f[j]);
        }
        if (least == 0.0) continue;
        compared++;
        worst = fmax(worst, law_case_relative(cr_vec3(hit.P.x, P[0], P[1]), hit.P));
    }
    CHECK(compared > count / 10);
    CHECK(worst < 1e-9);
    printf("Runge-Kutta: %d draws differ by at most %.1e\n", compared, worst);
}

// Vn falls below zero again after compression seemed over
TEST(compression_again) {
    int count = test_samples(300000);
    int again = 0;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(700 + (uint64_t)i);
        crContact c = law_case_contact(&random, i % 2 == 0 ? SAMPLE_NEEDLE : SAMPLE_MATRIX);
        c.V.x *= 0.1;
        crVec3 P[400];
        crLawParams params = cr_law_params();
        params.ending = i % 4 < 2 ? CR_ENDING_POISSON : CR_ENDING_ENERGETIC;
        crHit hit = routh(&c, params.ending);
        if (hit.regime != CR_REGIME_JAM) continue;
        int points = cr_routh_path(&c, &params, 400, P);
        int ups = 0;
        double before = c.V.x;
        for (int k = 1; k < points; k++) {
            double Vn = cr_impulse_V_plus(&c, P[k]).x;
            double noise = 1e-9 * cr_norm(c.V);
            if (before < -noise && Vn > noise) ups++;
            if (fabs(Vn) > noise) before = Vn;
        }
        if (ups < 2) continue;
        again++;
        CHECK(hit.permissible);
    }
    printf("compression came again in %d of %d\n", again, count);
    CHECK(again > 0);
}

// the path: starts at O, ends at P, and each chord is friction's: in the cone and against the slip
TEST(path_is_friction) {
    int count = test_samples(30000);
    double worst = 0.0;
    int fewest = 1000;
    for (int i = 0; i < count; i++) {
        crRandom random = sample_seed(800 + (uint64_t)i);
        crContact c = law_case_contact(&random, i % 2 == 0 ? SAMPLE_BODIES : SAMPLE_MATRIX);
        c.mu = fmax(c.mu, 0.05);
        crVec3 P[300];
        int capacity = i % 5 == 0 ? 2 + i / 5 % 40 : 300;
        int points = cr_routh_path(&c, NULL, capacity, P);
        crHit hit = routh(&c, CR_ENDING_POISSON);
        if (hit.regime == CR_REGIME_NO_SOLUTION) {
            CHECK(points == 0);
            continue;
        }
        if (!CHECK(points >= 2 && points <= capacity)) continue;
        CHECK_VEC(P[0], cr_vec3(0, 0, 0), 0.0);
        CHECK_VEC(P[points - 1], hit.P, 0.0);
        if (capacity < 300) continue;
        if (points < fewest) fewest = points;
        for (int k = 1; k < points; k++) {
            crVec3 d = cr_sub(P[k], P[k - 1]);
            crVec3 a = cr_impulse_V_plus(&c, P[k - 1]), b = cr_impulse_V_plus(&c, P[k]);
            double friction = sqrt(d.y * d.y + d.z * d.z);
            CHECK(d.x >= 0.0 && friction <= c.mu * d.x + 1e-12 * hit.P.x);
            // power lost: all of mu |V_t| dPn, up to the turning of V_t over the chord
            double ra = sqrt(a.y * a.y + a.z * a.z), rb = sqrt(b.y * b.y + b.z * b.z);
            double power = 0.5 * (d.y * (a.y + b.y) + d.z * (a.z + b.z));
            double full = -0.5 * c.mu * d.x * (ra + rb);
            worst = fmax(worst, fabs(power - full) / (c.mu * hit.P.x * (cr_norm(c.V) + cr_norm(hit.V_plus))));
        }
    }
    CHECK(worst < 1e-2);
    printf("path: at least %d points, friction power off by %.1e of the whole over a chord\n", fewest, worst);
}

TEST(path_of_nothing) {
    crContact c = rod(0.6, 1.0);
    crVec3 P[8];
    c.V.x = 1.0;
    CHECK(cr_routh_path(&c, NULL, 8, P) == 1);
    c = (crContact){.W = {0, 0, 0, 1, 0, 1}, .V = {-1, 0.3, 0.2}, .mu = 0.3};
    CHECK(cr_routh_path(&c, NULL, 8, P) == 0);
}
