// test_region.c - the permissible region: extent, section, azimuth and mesh against the four inequalities.
#include "region_check.h"

// P0 + s d is inside just before the extent and outside just after
static void check_extent(const crContact* c, crVec3 P0, crVec3 d, double* worst_in, double* worst_out) {
    double s = cr_region_extent(c, P0, d);
    double in = region_margin(c, cr_madd(P0, s * (1.0 - 1e-7), d));
    double out = region_margin(c, cr_madd(P0, s * (1.0 + 1e-6), d));
    CHECK(isfinite(s) && s > 0.0);
    CHECK(in >= -1e-15);
    CHECK(out < 0.0);
    CHECK(cr_impulse_permissible(c, cr_madd(P0, s, d), 1e-9));
    *worst_in = fmin(*worst_in, in);
    *worst_out = fmax(*worst_out, out);
}

TEST(extent_is_where_the_region_ends) {
    crRandom random = sample_seed(101);
    double worst_in = INFINITY, worst_out = -INFINITY;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % VARIANTS));
        crVec3 P0;
        if (!(c.mu > 0.0) || region_is_cut(&c) || !region_point(&random, &c, &P0)) continue;
        for (int k = 0; k < 4; k++) {
            check_extent(&c, P0, cr_scale(cr_norm(P0), sample_direction(&random)), &worst_in, &worst_out);
        }
    }
    printf("  extent: least margin just inside %.2g, largest just outside %.2g\n", worst_in, worst_out);
}

TEST(extent_of_axis_rays) {
    // a sphere of unit mass on a wall: W = diag(1, 3.5, 3.5)
    crContact c = {.W = {1, 0, 0, 3.5, 0, 3.5}, .V = {-1, 0, 0}, .mu = 0.5};
    crVec3 P0 = cr_vec3(1.5, 0, 0);
    CHECK_NEAR(cr_region_extent(&c, P0, cr_vec3(1, 0, 0)), 0.5, 1e-15);
    CHECK_NEAR(cr_region_extent(&c, P0, cr_vec3(-1, 0, 0)), 0.5, 1e-15);
    // across: energy -1.5 + 1.125 + 1.75 y^2 = 0 comes before the cone at 0.75
    CHECK_NEAR(cr_region_extent(&c, P0, cr_vec3(0, 1, 0)), sqrt(0.375 / 1.75), 1e-15);
    c.mu = 0.1;
    CHECK_NEAR(cr_region_extent(&c, P0, cr_vec3(0, 0, -2)), 0.075, 1e-15);
    CHECK(isinf(cr_region_extent(&c, P0, cr_vec3(0, 0, 0))));
    // the sphere through the origin with centre P_II = (1, 0, 0)
    CHECK_NEAR(cr_region_reach(&c), 2.002, 1e-15);
}

TEST(region_is_convex) {
    crRandom random = sample_seed(102);
    double worst = INFINITY;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % VARIANTS));
        crVec3 P0;
        if (!(c.mu > 0.0) || !region_point(&random, &c, &P0)) continue;
        crVec3 end[2];
        for (int k = 0; k < 2; k++) {
            crVec3 d = sample_direction(&random);
            end[k] = cr_madd(P0, cr_region_extent(&c, P0, d), d);
        }
        double margin = region_margin(&c, cr_scale(0.5, cr_add(end[0], end[1])));
        CHECK(margin >= -1e-14);
        worst = fmin(worst, margin);
    }
    printf("  convexity: least margin of a midpoint %.2g\n", worst);
}

// A corner of the section and how much rounding of W is magnified in it.
typedef struct Corner {
    crVec3 P;
    double condition;
} Corner;

// corners from the definitions: where two of the four boundary lines meet
static int section_corners(const crContact* c, double azimuth, Corner* corners) {
    crVec3 u = cr_vec3(0, cos(azimuth), sin(azimuth));
    crVec3 Wu = cr_sym3_mul(c->W, u);
    double nn = c->W.xx, nu = Wu.x, uu = cr_dot(u, Wu), Vu = cr_dot(c->V, u);
    // what u.W u is the sum of
    double terms = u.y * u.y * c->W.yy + 2.0 * fabs(u.y * u.z * c->W.yz) + u.z * u.z * c->W.zz;
    int count = 0;
    double found[8][3];
    for (int side = -1; side <= 1 && !isinf(c->mu); side += 2) {
        double m = side * c->mu;
        double normal = nn + nu * m, mass = nn + 2.0 * nu * m + uu * m * m;
        double low = -c->V.x / normal, high = -2.0 * (c->V.x + Vu * m) / mass;
        memcpy(found[count++], (double[3]){low, low * m, (nn + fabs(nu * m)) / fabs(normal)},
               sizeof found[0]);
        memcpy(found[count++], (double[3]){high, high * m, 2.0 * (nn + terms * m * m) / mass},
               sizeof found[0]);
    }
    // n.V+ = 0 on the ellipse: x = -(Vn + nu y)/nn, a quadratic in y
    double S = uu - nu * nu / nn, g = Vu - nu * c->V.x / nn, E = c->V.x * c->V.x / nn;
    for (int side = -1; side <= 1; side += 2) {
        double root = fabs(g) + sqrt(g * g + S * E);
        double y = side * g > 0.0 ? side * E / root : side * root / S;
        memcpy(found[count++], (double[3]){-(c->V.x + nu * y) / nn, y, terms / S}, sizeof found[0]);
    }
    int kept = 0;
    for (int i = 0; i < count; i++) {
        crVec3 P = cr_madd(cr_vec3(found[i][0], 0, 0), found[i][1], u);
        if (cr_vec3_finite(P) && region_margin(c, P) >= -1e-12) corners[kept++] = (Corner){P, found[i][2]};
    }
    return kept;
}

static void check_section(const crContact* c, double azimuth, int count, double* worst_point,
                          double* worst_corner) {
    crVec3 points[256];
    Corner corners[8];
    if (!CHECK(cr_region_section(c, azimuth, count, points))) return;
    double size = 0.0;
    crVec3 across = cr_vec3(0, -sin(azimuth), cos(azimuth));
    for (int i = 0; i < count; i++) {
        size = fmax(size, cr_norm(points[i]));
    }
    for (int i = 0; i < count; i++) {
        CHECK(cr_impulse_verdict(c, points[i], 1e-9).verdict != CR_TRUTH_NO);
        CHECK_NEAR(cr_dot(across, points[i]), 0.0, 1e-15 * size);
        double margin = region_margin(c, points[i]);
        CHECK(fabs(margin) <= 1e-14);
        *worst_point = fmax(*worst_point, fabs(margin));
        // convex, and always turning the same way
        crVec3 a = cr_sub(points[(i + 1) % count], points[i]);
        crVec3 b = cr_sub(points[(i + 2) % count], points[(i + 1) % count]);
        double turn = cr_dot(cr_cross(a, b), across);
        CHECK(turn >= -1e-9 * size * size);
    }
    int found = section_corners(c, azimuth, corners);
    for (int i = 0; i < found; i++) {
        double nearest = INFINITY;
        for (int j = 0; j < count; j++) {
            nearest = fmin(nearest, cr_norm(cr_sub(points[j], corners[i].P)));
        }
        double error = nearest / size / corners[i].condition;
        CHECK(error <= 1e-14);
        *worst_corner = fmax(*worst_corner, error);
    }
}

TEST(section_is_the_boundary_with_its_corners) {
    crRandom random = sample_seed(103);
    double worst_point = 0.0, worst_corner = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        crContact c =
            region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), (Variant)(i / 7 % (VARIANTS - 1)));
        double azimuth = i % 2 == 0 ? cr_region_azimuth(&c) : sample_uniform(&random, -4.0, 7.0);
        if (region_is_cut(&c)) continue;
        check_section(&c, azimuth, 48, &worst_point, &worst_corner);
    }
    printf("  section: points off the boundary by %.2g, corners missed by %.2g of size and condition\n",
           worst_point, worst_corner);
}

static bool ratio_ray(const crContact* c, double azimuth, double m, double* s0, double* s1) {
    return region_ray(c, cr_vec3(1.0, m * cos(azimuth), m * sin(azimuth)), s0, s1);
}

// largest ratio, up to mu, whose ray is in the region, on one side of n
static double last_ratio(const crContact* c, double azimuth, double side) {
    double s0, s1, in = 0.0, out = side * c->mu;
    if (ratio_ray(c, azimuth, out, &s0, &s1)) return out;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (in + out);
        if (ratio_ray(c, azimuth, middle, &s0, &s1)) {
            in = middle;
        } else {
            out = middle;
        }
    }
    return in;
}

// Area between the ends of rays (1, m): the integral over m of (s1^2 - s0^2)/2, by the midpoint rule.
static double area_by_rays(const crContact* c, double azimuth, int steps) {
    double from = last_ratio(c, azimuth, -1.0), to = last_ratio(c, azimuth, 1.0);
    double area = 0.0;
    for (int i = 0; i < steps; i++) {
        double s0, s1;
        if (ratio_ray(c, azimuth, from + (to - from) * ((double)i + 0.5) / (double)steps, &s0, &s1)) {
            area += 0.5 * (s1 * s1 - s0 * s0) * (to - from) / (double)steps;
        }
    }
    return area;
}

TEST(section_area) {
    crRandom random = sample_seed(104);
    double worst = 0.0;
    for (int i = 0; i < test_samples(3000); i++) {
        crContact c = region_sample(&random, i % 2 ? SAMPLE_BODIES : SAMPLE_PLANAR, PLAIN);
        if (c.mu < 0.05) continue;
        double azimuth = cr_region_azimuth(&c);
        crVec3 points[256];
        CHECK(cr_region_section(&c, azimuth, 256, points));
        double area = 0.0;
        for (int j = 0; j < 256; j++) {
            crVec3 a = points[j], b = points[(j + 1) % 256];
            area += 0.5 * (a.x * (b.y * cos(azimuth) + b.z * sin(azimuth)) -
                           b.x * (a.y * cos(azimuth) + a.z * sin(azimuth)));
        }
        double expected = area_by_rays(&c, azimuth, 10000);
        // an inscribed polygon of 250 chords loses up to about (pi/250)^2 of an arc's segment
        CHECK(area <= expected * (1.0 + 1e-6));
        CHECK(area >= expected * (1.0 - 3e-4));
        worst = fmax(worst, fabs(area / expected - 1.0));
    }
    printf("  section area: worst relative error %.2g with 256 points\n", worst);
}

TEST(azimuth_holds_P_II) {
    crRandom random = sample_seed(105);
    for (int i = 0; i < test_samples(10000); i++) {
        crContact c = region_sample(&random, (crSampleKind)(i % SAMPLE_KINDS), PLAIN);
        crVec3 P;
        if (!cr_impulse_P_II(&c, &P)) continue;
        double azimuth = cr_region_azimuth(&c);
        CHECK_NEAR(-sin(azimuth) * P.y + cos(azimuth) * P.z, 0.0, 1e-13 * cr_norm(P));
        CHECK(cos(azimuth) * P.y + sin(azimuth) * P.z >= 0.0);
    }
    crContact head_on = {.W = {1, 0, 0, 2, 0, 2}, .V = {-1, 0, 0}, .mu = 1.0};
    CHECK(cr_region_azimuth(&head_on) == 0.0);
}

TEST(section_of_special_contacts) {
    crVec3 points[8];
    crContact c = {.W = {2, 0, 0, 3, 0, 3}, .V = {-1, -1, 0}, .mu = 0.0};
    // no friction: the segment from P_I to 2 P_I
    CHECK(cr_region_section(&c, 0.3, 8, points));
    for (int i = 0; i < 8; i++) {
        CHECK(points[i].y == 0.0 && points[i].z == 0.0 && points[i].x >= 0.5 && points[i].x <= 1.0);
    }
    CHECK(points[0].x == 0.5 && points[7].x == 1.0);
    CHECK(!cr_region_section(&c, 0.3, 3, points));
    CHECK(!cr_region_section(&c, (double)NAN, 8, points));
    // separating, and blocked
    c.V.x = 1.0;
    CHECK(!cr_region_section(&c, 0.0, 8, points));
    c.V.x = -1.0;
    c.W.xx = 0.0;
    CHECK(!cr_region_section(&c, 0.0, 8, points));
    // grazing: begins at the origin, and has an inside because friction brakes
    c = (crContact){.W = {2, 0, 0, 3, 0, 3}, .V = {0, -1, 0}, .mu = 0.5};
    CHECK(cr_region_section(&c, 0.0, 8, points));
    CHECK(cr_norm(points[0]) == 0.0);
    CHECK(points[7].x > 0.0 && fabs(points[7].y - 0.5 * points[7].x) <= 1e-16);
}

// mesh

enum { LEVEL = 4, VERTICES = 10 * 256 + 2, TRIANGLES = 20 * 256 };

static void check_closed(int level, int (*triangles)[3], int vertices, int count) {
    // an edge seen once in each direction: count directed edges from a to b per lower vertex
    static int seen[VERTICES][16][2];
    static int used[VERTICES];
    memset(used, 0, sizeof used);
    int edges = 0;
    for (int t = 0; t < count; t++) {
        for (int k = 0; k < 3; k++) {
            int a = triangles[t][k], b = triangles[t][(k + 1) % 3];
            CHECK(a >= 0 && a < vertices && a != b);
            int low = a < b ? a : b, high = a < b ? b : a, sign = a < b ? 1 : -1;
            int i = 0;
            while (i < used[low] && seen[low][i][0] != high)
                i++;
            if (i == used[low]) {
                if (!CHECK(i < 16)) return;
                seen[low][i][0] = high;
                seen[low][i][1] = 0;
                used[low]++;
                edges++;
            }
            CHECK(seen[low][i][1] != sign);
            seen[low][i][1] += sign;
        }
    }
    for (int v = 0; v < vertices; v++) {
        for (int i = 0; i < used[v]; i++) {
            CHECK(seen[v][i][1] == 0);
        }
    }
    CHECK(vertices - edges + count == 2);
    CHECK(vertices == 10 * (1 << (2 * level)) + 2 && count == 20 * (1 << (2 * level)));
}

TEST(mesh_is_closed_at_every_level) {
    static crVec3 vertices[VERTICES];
    static int triangles[TRIANGLES][3];
    crContact c = {.W = {1, 0.3, 0, 2, 0.2, 3}, .V = {-1, -0.5, 0.1}, .mu = 0.6};
    for (int level = 0; level <= LEVEL; level++) {
        CHECK(cr_region_mesh(&c, level, vertices, triangles));
        check_closed(level, triangles, cr_region_mesh_vertices(level), cr_region_mesh_triangles(level));
    }
    CHECK(cr_region_mesh_vertices(CR_REGION_MAX_LEVEL) == 40962);
    CHECK(cr_region_mesh_triangles(CR_REGION_MAX_LEVEL) == 81920);
    CHECK(cr_region_mesh_vertices(-1) == 0 && cr_region_mesh_triangles(CR_REGION_MAX_LEVEL + 1) == 0);
    CHECK(!cr_region_mesh(&c, -1, vertices, triangles));
    CHECK(!cr_region_mesh(&c, CR_REGION_MAX_LEVEL + 1, vertices, triangles));
    c.mu = 0.0;
    CHECK(!cr_region_mesh(&c, 1, vertices, triangles));
}

static double mesh_volume(const crVec3* v, int (*t)[3], int count, crVec3 from) {
    double six = 0.0;
    for (int i = 0; i < count; i++) {
        crVec3 a = cr_sub(v[t[i][0]], from), b = cr_sub(v[t[i][1]], from), c = cr_sub(v[t[i][2]], from);
        six += cr_dot(a, cr_cross(b, c));
    }
    return six / 6.0;
}

// Monte Carlo over ratios m in the disk |m| <= mu: volume = mean of (s1^3 - s0^3)/3 times pi mu^2.
static double monte_carlo_volume(crRandom* random, const crContact* c, int count, double* sigma) {
    double sum = 0.0, squares = 0.0, disk = CR_PI * c->mu * c->mu;
    for (int i = 0; i < count; i++) {
        double r = c->mu * sqrt(sample_uniform(random, 0.0, 1.0));
        double angle = sample_uniform(random, 0.0, 2.0 * CR_PI);
        double s0, s1, value = 0.0;
        if (region_ray(c, cr_vec3(1.0, r * cos(angle), r * sin(angle)), &s0, &s1)) {
            value = disk * (s1 * s1 * s1 - s0 * s0 * s0) / 3.0;
        }
        sum += value;
        squares += value * value;
    }
    double mean = sum / count;
    *sigma = sqrt(fmax(0.0, squares / count - mean * mean) / count);
    return mean;
}

TEST(mesh_vertices_and_volume) {
    static crVec3 vertices[VERTICES];
    static int triangles[TRIANGLES][3];
    crRandom random = sample_seed(106);
    double worst = 0.0, worst_vertex = INFINITY, worst_sigma = 0.0;
    for (int i = 0; i < test_samples(1400); i++) {
        // a needle's volume sits in few rays: plain Monte Carlo does not see it
        crSampleKind kind = (crSampleKind)(i % SAMPLE_KINDS);
        if (kind == SAMPLE_NEEDLE || kind == SAMPLE_MATRIX) kind = SAMPLE_BODIES;
        crContact c = region_sample(&random, kind, PLAIN);
        if (c.mu < 1e-3) continue;
        double volume[2];
        crVec3 P0;
        CHECK(cr_region_centroid(&c, &P0));
        for (int k = 0; k < 2; k++) {
            CHECK(cr_region_mesh(&c, LEVEL - 1 + k, vertices, triangles));
            volume[k] = mesh_volume(vertices, triangles, cr_region_mesh_triangles(LEVEL - 1 + k), P0);
        }
        for (int v = 0; v < VERTICES; v++) {
            CHECK(cr_impulse_permissible(&c, vertices[v], 1e-9));
            double margin = region_margin(&c, vertices[v]);
            CHECK(fabs(margin) <= 1e-9);
            worst_vertex = fmin(worst_vertex, margin);
        }
        // inscribed: what is missing falls by four with each level, and is at most as large as the last step
        double sigma;
        double expected = monte_carlo_volume(&random, &c, 20000, &sigma);
        double missing = volume[1] - volume[0];
        CHECK(missing > 0.0 && volume[0] > 0.0);
        CHECK(volume[1] <= expected + 5.0 * sigma);
        CHECK(volume[1] + missing >= expected - 5.0 * sigma);
        worst = fmax(worst, missing / volume[1]);
        worst_sigma = fmax(worst_sigma, fabs(volume[1] + missing / 3.0 - expected) / (sigma + missing));
    }
    printf("  mesh: least vertex margin %.2g, last level adds at most %.2g of the volume, Monte Carlo within "
           "%.2g\n",
           worst_vertex, worst, worst_sigma);
}
