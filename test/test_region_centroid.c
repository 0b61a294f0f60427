// test_region_centroid.c - the centroid against Monte Carlo, an adaptive integration and closed forms.
#include "region_check.h"

// Volume and first moments, or area and first moments, as one vector.
typedef struct Moments {
    double m[4];
} Moments;

typedef struct Integrand {
    Moments (*at)(const struct Integrand* self, double x);
    const crContact* c;
    double angle;  // of the inner integral
    double scale;  // of the result, for the tolerance
} Integrand;

static Moments simpson(double width, Moments a, Moments b, Moments c) {
    Moments r;
    for (int i = 0; i < 4; i++) {
        r.m[i] = width / 6.0 * (a.m[i] + 4.0 * b.m[i] + c.m[i]);
    }
    return r;
}

// adaptive Simpson with Richardson's correction
static Moments refine(const Integrand* f, double x, double width, Moments a, Moments b, Moments c, double tol,
                      int depth) {
    Moments left = f->at(f, x + 0.25 * width), right = f->at(f, x + 0.75 * width);
    Moments whole = simpson(width, a, b, c);
    Moments first = simpson(0.5 * width, a, left, b), second = simpson(0.5 * width, b, right, c);
    double error = 0.0;
    for (int i = 0; i < 4; i++) {
        error = fmax(error, fabs(first.m[i] + second.m[i] - whole.m[i]));
    }
    if (depth <= 0 || error <= 15.0 * tol) {
        for (int i = 0; i < 4; i++) {
            double both = first.m[i] + second.m[i];
            whole.m[i] = both + (both - whole.m[i]) / 15.0;
        }
        return whole;
    }
    first = refine(f, x, 0.5 * width, a, left, b, 0.7 * tol, depth - 1);
    second = refine(f, x + 0.5 * width, 0.5 * width, b, right, c, 0.7 * tol, depth - 1);
    for (int i = 0; i < 4; i++) {
        first.m[i] += second.m[i];
    }
    return first;
}

static Moments integrate(const Integrand* f, double from, double to, int pieces, double tol, int depth) {
    Moments sum = {{0}};
    double width = (to - from) / pieces;
    for (int k = 0; k < pieces; k++) {
        double x = from + width * k;
        Moments part = refine(f, x, width, f->at(f, x), f->at(f, x + 0.5 * width), f->at(f, x + width),
                              tol / pieces, depth);
        for (int i = 0; i < 4; i++) {
            sum.m[i] += part.m[i];
        }
    }
    return sum;
}

// ray (1, r cos, r sin): s^2 ds r dr dangle in space, s ds dr in the plane z = 0
static Moments ray_moments(const crContact* c, double r, double angle, bool planar) {
    Moments q = {{0}};
    crVec3 d = cr_vec3(1.0, r * cos(angle), planar ? 0.0 : r * sin(angle));
    double s0, s1;
    if (!region_ray(c, d, &s0, &s1)) return q;
    double k = planar ? 2.0 : 3.0;
    double low = planar ? s0 * s0 : s0 * s0 * s0, high = planar ? s1 * s1 : s1 * s1 * s1;
    double share = planar ? 1.0 : r;
    double first = share * (high * s1 - low * s0) / (k + 1.0);
    q.m[0] = share * (high - low) / k;
    q.m[1] = first;
    q.m[2] = first * d.y;
    q.m[3] = first * d.z;
    return q;
}

static Moments along_ray(const Integrand* f, double r) { return ray_moments(f->c, r, f->angle, false); }
static Moments in_plane(const Integrand* f, double m) { return ray_moments(f->c, m, 0.0, true); }

static double last_ratio(const crContact* c, double angle) {
    double s0, s1, in = 0.0, out = c->mu;
    for (int i = 0; i < 60; i++) {
        double r = i == 0 ? out : 0.5 * (in + out);
        bool inside = region_ray(c, cr_vec3(1.0, r * cos(angle), r * sin(angle)), &s0, &s1);
        if (inside && i == 0) return out;
        if (inside) {
            in = r;
        } else {
            out = r;
        }
    }
    return in;
}

static Moments around(const Integrand* f, double angle) {
    Integrand inner = {along_ray, f->c, angle, f->scale};
    return integrate(&inner, 0.0, last_ratio(f->c, angle), 4, 1e-11 * f->scale, 10);
}

static crVec3 reference(const crContact* c, bool planar) {
    Integrand f = {planar ? in_plane : around, c, 0.0, 1.0};
    double lo = planar ? -last_ratio(c, CR_PI) : 0.0, hi = planar ? last_ratio(c, 0.0) : 2.0 * CR_PI;
    // a rough pass for the scale of the moments
    f.scale = 1e300;
    Moments rough = integrate(&f, lo, hi, 64, INFINITY, 0);
    f.scale = fmax(rough.m[0], rough.m[1]);
    Moments q = planar ? integrate(&f, lo, hi, 64, 1e-12 * f.scale, 24)
                       : integrate(&f, lo, hi, 64, 1e-9 * f.scale, 10);
    return cr_scale(1.0 / q.m[0], cr_vec3(q.m[1], q.m[2], q.m[3]));
}

TEST(centroid_against_adaptive_integration) {
    static const crSampleKind kinds[] = {SAMPLE_BODIES, SAMPLE_FIXED, SAMPLE_HEAVY, SAMPLE_PLANAR,
                                         SAMPLE_SPHERES};
    static const char* const names[] = {"bodies", "fixed", "heavy", "planar", "spheres"};
    crRandom random = sample_seed(201);
    for (int k = 0; k < 5; k++) {
        double worst = 0.0;
        int count = 0;
        for (int i = 0; i < test_samples(1000) / 8; i++) {
            crContact c = region_sample(&random, kinds[k], PLAIN);
            crVec3 P0;
            // at closer to grazing the integrand peaks and this integration is the less accurate one
            if (c.mu < 0.01 || c.V.x > -0.2 * cr_norm(c.V)) continue;
            if (!CHECK(cr_region_centroid(&c, &P0))) continue;
            crVec3 P = reference(&c, cr_contact_is_planar(&c));
            worst = fmax(worst, cr_norm(cr_sub(P, P0)) / cr_norm(P));
            count++;
        }
        printf("  centroid, %-7s: differs by at most %.2g of its length in %d\n", names[k], worst, count);
        CHECK(worst <= 1e-6);
    }
}

// Volume and first moments of a closed mesh, by tetrahedra from the point `from`.
static Moments mesh_moments(const crContact* c, int level, crVec3 from) {
    enum { VERTICES = 10 * 1024 + 2, TRIANGLES = 20 * 1024 };
    static crVec3 v[VERTICES];
    static int t[TRIANGLES][3];
    Moments q = {{0}};
    CHECK(cr_region_mesh(c, level, v, t));
    for (int i = 0; i < cr_region_mesh_triangles(level); i++) {
        crVec3 x = cr_sub(v[t[i][0]], from), y = cr_sub(v[t[i][1]], from), z = cr_sub(v[t[i][2]], from);
        double volume = cr_dot(x, cr_cross(y, z)) / 6.0;
        crVec3 sum = cr_add(cr_add(x, y), z);
        q.m[0] += volume;
        q.m[1] += 0.25 * volume * sum.x;
        q.m[2] += 0.25 * volume * sum.y;
        q.m[3] += 0.25 * volume * sum.z;
    }
    return q;
}

TEST(centroid_against_the_mesh) {
    static const char* const names[] = {"plain", "infinite friction", "near grazing", "grazing"};
    crRandom random = sample_seed(206);
    for (int variant = 0; variant < VARIANTS; variant++) {
        double worst = 0.0;
        for (int i = 0; i < test_samples(700) / 4; i++) {
            crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)variant);
            crVec3 P0;
            if (c.mu < 1e-3 || cr_contact_is_planar(&c)) continue;
            if (!CHECK(cr_region_centroid(&c, &P0))) continue;
            // the error of an inscribed mesh falls by four with each level
            Moments coarse = mesh_moments(&c, 4, P0), fine = mesh_moments(&c, 5, P0);
            for (int k = 0; k < 4; k++) {
                fine.m[k] += (fine.m[k] - coarse.m[k]) / 3.0;
            }
            double error = cr_norm(cr_vec3(fine.m[1], fine.m[2], fine.m[3])) / fine.m[0] / cr_norm(P0);
            CHECK(error <= 1e-3);
            worst = fmax(worst, error);
        }
        printf("  centroid, %-17s: differs from the mesh's by at most %.2g of its length\n", names[variant],
               worst);
    }
}

TEST(centroid_against_monte_carlo) {
    crRandom random = sample_seed(202);
    double worst = 0.0;
    for (int i = 0; i < test_samples(600) / 4; i++) {
        crContact c = region_sample(&random, i % 2 ? SAMPLE_BODIES : SAMPLE_FIXED, PLAIN);
        if (c.mu < 0.01) continue;
        crVec3 P0;
        CHECK(cr_region_centroid(&c, &P0));
        enum { N = 20000 };
        double sum[4] = {0}, spread[3] = {0};
        static double values[N][4];
        for (int k = 0; k < N; k++) {
            double r = c.mu * sqrt(sample_uniform(&random, 0.0, 1.0));
            Moments q = ray_moments(&c, r, sample_uniform(&random, 0.0, 2.0 * CR_PI), false);
            for (int j = 0; j < 4; j++) {
                values[k][j] = r > 0.0 ? q.m[j] / r : 0.0;
                sum[j] += values[k][j];
            }
        }
        double P[3] = {P0.x, P0.y, P0.z};
        for (int j = 0; j < 3; j++) {
            double mean = sum[j + 1] / sum[0];
            for (int k = 0; k < N; k++) {
                double residual = values[k][j + 1] - mean * values[k][0];
                spread[j] += residual * residual;
            }
            double sigma = sqrt(spread[j]) / sum[0];
            CHECK(fabs(mean - P[j]) <= 5.0 * sigma);
            worst = fmax(worst, fabs(mean - P[j]) / sigma);
        }
    }
    printf("  centroid: Monte Carlo within %.2g standard errors\n", worst);
}

TEST(centroid_is_inside) {
    crRandom random = sample_seed(203);
    double worst = INFINITY;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % VARIANTS));
        crVec3 P0;
        bool exists = cr_region_centroid(&c, &P0);
        bool expected = c.V.x < 0.0 || (c.mu > 0.0 && (c.V.y != 0.0 || c.V.z != 0.0));
        CHECK(exists == expected);
        if (!exists) continue;
        double margin = region_margin(&c, P0);
        CHECK(c.mu > 0.0 ? margin > 0.0 : margin >= 0.0);
        if (c.mu > 0.0) worst = fmin(worst, margin);
    }
    printf("  centroid: least margin %.2g\n", worst);
}

TEST(centroid_does_not_depend_on_the_tangents) {
    crRandom random = sample_seed(204);
    double worst = 0.0;
    for (int i = 0; i < test_samples(10000); i++) {
        crContact c =
            region_sample(&random, i % 2 ? SAMPLE_BODIES : SAMPLE_HEAVY, (Variant)(i / 2 % VARIANTS));
        if (!(c.mu > 0.0)) continue;
        double angle = sample_uniform(&random, -3.0, 3.0);
        crMat3 turn = cr_quat_matrix(cr_quat_axis_angle(cr_vec3(1, 0, 0), angle));
        crContact turned = c;
        turned.W = cr_sym3_in_frame(c.W, turn);
        turned.V = cr_mat3_mul_t(turn, c.V);
        turned.V.x = c.V.x;
        crVec3 P, Q;
        if (!CHECK(cr_region_centroid(&c, &P) && cr_region_centroid(&turned, &Q))) continue;
        double error = cr_norm(cr_sub(P, cr_mat3_mul(turn, Q))) / cr_norm(P);
        worst = fmax(worst, error);
    }
    CHECK(worst <= 1e-9);
    printf("  centroid: turning the tangents changes it by %.2g\n", worst);
}

// closed forms

TEST(centroid_without_friction) {
    crContact c = {.W = {2, 0.3, 0.1, 3, 0, 3}, .V = {-1, 5, 2}, .mu = 0.0};
    crVec3 P0;
    CHECK(cr_region_centroid(&c, &P0));
    CHECK_VEC(P0, cr_vec3(0.75, 0, 0), 1e-15);
}

TEST(centroid_head_on_half_ball) {
    // W = 1, V = -n, mu = infinity: the ball |P - n| <= 1 above the plane n.P = 1, centroid 3/8 up
    crContact c = {.W = {1, 0, 0, 1, 1e-3, 1}, .V = {-1, 0, 0}, .mu = (double)INFINITY};
    crVec3 P0;
    c.W.yz = 0.0;
    // planar: half a disk, 4/(3 pi) up
    CHECK(cr_region_centroid(&c, &P0));
    CHECK_VEC(P0, cr_vec3(1.0 + 4.0 / (3.0 * CR_PI), 0, 0), 1e-14);
    // not planar: V has a component along t2 too small to matter
    c.V.z = 1e-11;
    CHECK(cr_region_centroid(&c, &P0));
    CHECK_VEC(P0, cr_vec3(1.375, 0, 0), 1e-10);
}

TEST(centroid_of_a_thin_cone) {
    // mu -> 0: rays from P_I to 2 P_I, so the centroid is (2^4 - 1)/4 over (2^3 - 1)/3 times P_I
    crContact c = {.W = {1, 0.2, 0, 2, 0.1, 3}, .V = {-1, -0.5, 0.1}, .mu = 1e-9};
    crVec3 P0;
    CHECK(cr_region_centroid(&c, &P0));
    CHECK_NEAR(P0.x, 45.0 / 28.0, 1e-8);
}

TEST(centroid_of_empty_regions) {
    crContact c = {.W = {1, 0, 0, 2, 0, 3}, .V = {1, 1, 0}, .mu = 0.5};
    crVec3 P0;
    CHECK(!cr_region_centroid(&c, &P0));
    CHECK(cr_norm(P0) == 0.0);
    c.V = cr_vec3(0, 0, 0);
    CHECK(!cr_region_centroid(&c, &P0));
    c.V = cr_vec3(0, 1, 0);
    c.mu = 0.0;
    CHECK(!cr_region_centroid(&c, &P0));
    c = (crContact){.W = {0, 0, 0, 2, 0, 3}, .V = {-1, 1, 0}, .mu = 0.5};
    CHECK(!cr_region_centroid(&c, &P0));
}

// a pendulum on the floor: W has rank one, and the region has no end along its rod if friction is high enough
TEST(region_of_a_blocked_mechanism) {
    crRandom random = sample_seed(205);
    double worst = INFINITY, furthest = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        // one free direction a, or two
        crVec3 a = sample_direction(&random), b = sample_direction(&random);
        double second = i % 2 ? sample_log(&random, 1e-2, 1.0) : 0.0;
        crContact c = {.mu = sample_uniform(&random, 0.05, 3.0)};
        c.W = (crSym3){a.x * a.x, a.x * a.y, a.x * a.z, a.y * a.y, a.y * a.z, a.z * a.z};
        c.W = cr_sym3_add(c.W, (crSym3){second * b.x * b.x, second * b.x * b.y, second * b.x * b.z,
                                        second * b.y * b.y, second * b.y * b.z, second * b.z * b.z});
        c.V = cr_sym3_mul(c.W, sample_direction(&random));
        if (c.V.x > 0.0) c.V = cr_neg(c.V);
        double reach = cr_region_reach(&c);
        crVec3 P0;
        CHECK(isfinite(reach) && reach > 0.0);
        if (!CHECK(cr_region_centroid(&c, &P0))) continue;
        double margin = region_margin(&c, P0);
        CHECK(margin > 0.0);
        worst = fmin(worst, margin);
        CHECK(cr_norm(P0) <= reach);
        for (int k = 0; k < 3; k++) {
            crVec3 d = sample_direction(&random);
            crVec3 end = cr_madd(P0, cr_region_extent(&c, P0, d), d);
            CHECK(cr_impulse_permissible(&c, end, 1e-9));
            CHECK(cr_norm(end) <= reach);
        }
        crVec3 points[32];
        CHECK(cr_region_section(&c, cr_region_azimuth(&c), 32, points));
        for (int k = 0; k < 32; k++) {
            CHECK(cr_impulse_permissible(&c, points[k], 1e-9));
            CHECK(cr_norm(points[k]) <= reach);
            furthest = fmax(furthest, cr_norm(points[k]) / reach);
        }
    }
    printf("  blocked mechanisms: least margin of the centroid %.2g, furthest point at %.3g of reach\n",
           worst, furthest);
}
