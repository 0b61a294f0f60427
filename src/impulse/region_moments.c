// region_moments.c - volume, centroid and second moments of the permissible region.
//
// In the rays of region.h, with x = (cos a cos b, sin a cos b, sin b), the moments are integrals over the
// angles of (s1^k - s0^k)/k, k = 3, 4, 5, which are smooth, over a domain that is the intersection of two
// convex conics (cone and energy). For each a the range of b is known in closed form; the range of a is split
// where the bounding conic changes. Each piece takes a 20-point Gauss rule after the substitution
// sin(pi/2 x), which removes the square roots at the ends. Planar contacts need the integral over a alone.
// Error of the centroid, as a share of its length, measured on random contacts: for ordinary bodies 1e-7 in
// 99 of 100 and 2e-6 at worst, 2e-5 near grazing; 1e-4 for needles and nearly singular W; at mu = infinity
// 5e-6 in 99 of 100 and 1e-2 at worst.
// Fails: no interior (mu = 0), nothing to integrate (Vn > 0, Wnn = 0): false.
#include "impulse/region.h"

#define NODES  20
#define CELLS  64  // of the search for breaks
#define BREAKS 8

// Gauss-Legendre on (-1, 1) after the substitution sin(pi/2 x): half of the nodes and their weights
static const double gauss[NODES / 2][2] = {
    {0.99994174997632679, 0.00029863091950083949}, {0.99839905686709807, 0.0036073664814087053},
    {0.99051209830604958, 0.013528861945508973},   {0.96823728234431905, 0.032707033439244769},
    {0.92165925291091388, 0.062123291332679562},   {0.84099020745769304, 0.10045115552372572},
    {0.71907338364732309, 0.14375131849091219},    {0.55387914871847443, 0.18583903621000886},
    {0.35021925974299645, 0.21948034189864843},    {0.11991829023606816, 0.23821296375836196},
};

static double node(int i) { return i < NODES / 2 ? -gauss[i][0] : gauss[NODES - 1 - i][0]; }
static double weight(int i) { return gauss[i < NODES / 2 ? i : NODES - 1 - i][1]; }

// (k1 sin a)^2 + (k2 b)^2 <= (L - Omega2 b)^2 and L - Omega2 b >= 0, L = cos a - Omega1 sin a
static crInterval cone_interval(const crRays* r, double sine, double L) {
    double k = r->k[2];
    double Omega = r->Omega[2];
    double A = (k - Omega) * (k + Omega);
    double B = Omega * L;
    double C = (r->k[1] * sine - L) * (r->k[1] * sine + L);
    const crInterval nothing = {1.0, -1.0};
    if (A >= 0.0 && L < 0.0) return nothing;
    double disc = k * L * (k * L) - r->k[1] * sine * (r->k[1] * sine) * A;
    if (disc < 0.0) return nothing;
    double root = sqrt(disc);
    crInterval b = {-(double)INFINITY, (double)INFINITY};
    if (k + Omega > 0.0) b.hi = B > 0.0 ? -C / (B + root) : (root - B) / A;
    if (k - Omega > 0.0) b.lo = B < 0.0 ? C / (root - B) : (-B - root) / A;
    return b;
}

// What bounds b at the angle a: the interval, and which conic gives each end.
typedef struct Strip {
    crInterval b;
    int pattern;  // bit 0: the cone is above, bit 1: the cone is below
} Strip;

static Strip strip_along(const crRays* r, double sine, double cosine) {
    crInterval cone = cone_interval(r, sine, cosine - r->Omega[1] * sine);
    double C = r->nu * (sine - cosine) * (sine + cosine) + 2.0 * r->gamma[1] * cosine * sine;
    crInterval energy = cr__energy_interval(r->nu, r->gamma[2] * cosine, C);
    Strip strip = {{fmax(cone.lo, energy.lo), fmin(cone.hi, energy.hi)}, 0};
    strip.pattern = (cone.hi < energy.hi ? 1 : 0) | (cone.lo > energy.lo ? 2 : 0);
    return strip;
}

static Strip strip_at(const crRays* r, double a) {
    double sine, cosine;
    cr_sincos(a, &sine, &cosine);
    return strip_along(r, sine, cosine);
}

static bool is_empty(const Strip* strip) { return !(strip->b.lo <= strip->b.hi); }

// Last angle with something in its strip on the way from 0 (which has) to end.
static double last_angle(const crRays* r, double end) {
    double in = 0.0;
    double out = end;
    for (int i = 0; i < 64; i++) {
        double middle = 0.5 * (in + out);
        Strip strip = strip_at(r, middle);
        if (is_empty(&strip)) {
            out = middle;
        } else {
            in = middle;
        }
    }
    return in;
}

// Where the cone opens along b its edge is a hyperbola, in a flat cone one with a sharp vertex: break there.
static int add_vertex(const crRays* r, double A, int count, double breaks[BREAKS + 3]) {
    double k = r->k[2] * r->k[2];
    double across = k * r->Omega[1] * r->Omega[1] - r->k[1] * r->k[1] * A;
    double vertex = cr_atan2(k * r->Omega[1], across);
    if (!(vertex > breaks[0] && vertex < breaks[count])) return count;
    int i = ++count;
    for (; breaks[i - 1] > vertex; i--) {
        breaks[i] = breaks[i - 1];
    }
    breaks[i] = vertex;
    return count;
}

// Angles a where the pieces of the domain begin and end, ascending; returns the number of pieces.
static int find_breaks(const crRays* r, double breaks[BREAKS + 3]) {
    // where the cone itself ends, if it does
    double A = (r->k[2] - r->Omega[2]) * (r->k[2] + r->Omega[2]);
    double slope = A > 0.0 ? r->k[1] * sqrt(A) / r->k[2] : 0.0;
    double below = A > 0.0 ? fmax(0.0, slope - r->Omega[1]) : 0.0;
    double above = A > 0.0 ? fmax(0.0, slope + r->Omega[1]) : 0.0;
    double lo = last_angle(r, -cr_atan2(1.0, below));
    double hi = last_angle(r, cr_atan2(1.0, above));
    int count = 0;
    breaks[0] = lo;
    // the strips at the very ends are points, which have no pattern
    double half = (0.5 - 1e-10) * (hi - lo);
    double left = 0.5 * (lo + hi) - half;
    int pattern = strip_at(r, left).pattern;
    for (int i = 1; i <= CELLS && count < BREAKS; i++) {
        double right = 0.5 * (lo + hi) - half * cr_cos(CR_PI * i / CELLS);
        int target = strip_at(r, right).pattern;
        while (pattern != target && count < BREAKS) {
            double before = left;
            double after = right;
            for (int j = 0; j < 48; j++) {
                double middle = 0.5 * (before + after);
                if (strip_at(r, middle).pattern == pattern) {
                    before = middle;
                } else {
                    after = middle;
                }
            }
            breaks[++count] = after;
            left = after;
            pattern = strip_at(r, after).pattern;
        }
        left = right;
    }
    breaks[++count] = hi;
    return A < 0.0 ? add_vertex(r, A, count, breaks) : count;
}

typedef struct Sums {
    double volume;
    double first[3];
    double second[3][3];
} Sums;

// Adds a ray from the origin to s1 that stands for `share` of solid angle (power 3) or of angle (power 2).
// What lies below s0 is a pyramid, and is subtracted as a whole.
static void add_ray(const crRays* r, const double x[3], int power, double share, Sums* sums) {
    double s1 = 2.0 * (r->nu * x[0] - r->gamma[1] * x[1] - r->gamma[2] * x[2]);
    if (!(s1 > 0.0)) return;
    double p = (double)power;
    double volume = share * s1 * s1 * (power == 3 ? s1 : 1.0);
    double first = volume * s1 / (p + 1.0);
    double second = volume * s1 * s1 / (p + 2.0);
    sums->volume += volume / p;
    for (int i = 0; i < 3; i++) {
        sums->first[i] += first * x[i];
        for (int j = 0; j <= i; j++) {
            sums->second[i][j] += second * x[i] * x[j];
        }
    }
}

static void add_strip(const crRays* r, double a, double share, Sums* sums) {
    double sine, cosine;
    cr_sincos(a, &sine, &cosine);
    crInterval b = strip_along(r, sine, cosine).b;
    if (!(b.lo < b.hi)) return;
    // sin b is the variable: equal areas of the sphere
    double lo = isinf(b.lo) ? -1.0 : b.lo / sqrt(1.0 + b.lo * b.lo);
    double hi = isinf(b.hi) ? 1.0 : b.hi / sqrt(1.0 + b.hi * b.hi);
    double half = 0.5 * (hi - lo);
    for (int i = 0; i < NODES; i++) {
        double u = 0.5 * (lo + hi) + half * node(i);
        double rho = sqrt((1.0 - u) * (1.0 + u));
        double x[3] = {rho * cosine, rho * sine, u};
        add_ray(r, x, 3, share * half * weight(i), sums);
    }
}

// Subtracts the pyramid between the origin and the plane of maximum compression, x = (1, a, b) nu/s, over a
// strip b.lo to b.hi of width `share` in a.
static void subtract_base(const crRays* r, double a, crInterval b, double share, Sums* sums) {
    double volume = r->nu * r->nu * r->nu * share * (b.hi - b.lo) / 3.0;
    double mean = 0.5 * (b.lo + b.hi);
    double square = (b.lo * b.lo + b.lo * b.hi + b.hi * b.hi) / 3.0;
    double first = 0.75 * r->nu * volume;
    double second = 0.6 * r->nu * r->nu * volume;
    sums->volume -= volume;
    sums->first[0] -= first;
    sums->first[1] -= first * a;
    sums->first[2] -= first * mean;
    sums->second[0][0] -= second;
    sums->second[1][0] -= second * a;
    sums->second[1][1] -= second * a * a;
    sums->second[2][0] -= second * mean;
    sums->second[2][1] -= second * a * mean;
    sums->second[2][2] -= second * square;
}

static void subtract_piece(const crRays* r, double from, double to, Sums* sums) {
    double lo = cr_sin(from) / cr_cos(from);
    double hi = cr_sin(to) / cr_cos(to);
    double half = 0.5 * (hi - lo);
    for (int i = 0; i < NODES; i++) {
        double a = 0.5 * (lo + hi) + half * node(i);
        double length = sqrt(1.0 + a * a);
        crInterval b = strip_along(r, a / length, 1.0 / length).b;
        b.lo *= length;
        b.hi *= length;
        if (b.lo < b.hi) subtract_base(r, a, b, half * weight(i), sums);
    }
}

static void integrate_space(const crRays* r, Sums* sums) {
    double breaks[BREAKS + 3];
    int count = find_breaks(r, breaks);
    for (int i = 0; i < count; i++) {
        double half = 0.5 * (breaks[i + 1] - breaks[i]);
        double middle = 0.5 * (breaks[i + 1] + breaks[i]);
        for (int j = 0; j < NODES; j++) {
            add_strip(r, middle + half * node(j), half * weight(j), sums);
        }
        if (r->nu > 0.0) subtract_piece(r, breaks[i], breaks[i + 1], sums);
    }
}

// the same in the plane z = 0, where the domain is one interval of a
static void integrate_plane(const crRays* r, Sums* sums) {
    crInterval a = cr__planar_range(r);
    double from = cr_atan2(a.lo, 1.0);
    double half = 0.5 * (cr_atan2(a.hi, 1.0) - from);
    for (int i = 0; i < NODES; i++) {
        double sine, cosine;
        cr_sincos(from + half + half * node(i), &sine, &cosine);
        double x[3] = {cosine, sine, 0.0};
        add_ray(r, x, 2, half * weight(i), sums);
    }
    if (!(r->nu > 0.0)) return;
    double area = 0.5 * r->nu * r->nu * (a.hi - a.lo);
    sums->volume -= area;
    sums->first[0] -= r->nu * area / 1.5;
    sums->first[1] -= r->nu * area / 3.0 * (a.lo + a.hi);
}

// B times the Cholesky factor of the covariance
static crMat3 spread_of(const crRays* r, const Sums* sums) {
    double l[3][3] = {{0}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double moment = sums->second[i][j] / sums->volume;
            double v = moment - (sums->first[i] / sums->volume) * (sums->first[j] / sums->volume);
            for (int m = 0; m < j; m++) {
                v -= l[i][m] * l[j][m];
            }
            if (i == j) {
                // a flat region is rounding noise across: keep the matrix regular
                double floor_ = 1e-14 * sums->second[i][i] / sums->volume;
                l[i][i] = sqrt(fmax(v, floor_));
            } else {
                l[i][j] = l[j][j] > 0.0 ? v / l[j][j] : 0.0;
            }
        }
    }
    crVec3 column[3];
    for (int j = 0; j < 3; j++) {
        column[j] = cr_vec3(0, 0, 0);
        for (int i = j; i < 3; i++) {
            column[j] = cr_madd(column[j], l[i][j], r->b[i]);
        }
    }
    return cr_mat3_columns(column[0], column[1], column[2]);
}

bool cr__region_moments(const crContact* c, bool planar, crMoments* moments) {
    crContact bounded = cr__region_contact(c);
    crRays rays;
    if (!(c->mu > 0.0) || !cr__rays(&bounded, planar, &rays)) return false;
    Sums sums = {0};
    if (planar) {
        integrate_plane(&rays, &sums);
    } else {
        integrate_space(&rays, &sums);
    }
    if (!(sums.volume > 0.0)) return false;
    crVec3 P = cr_vec3(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        P = cr_madd(P, sums.first[i] / sums.volume, rays.b[i]);
    }
    if (planar) P.z = 0.0;
    crMat3 basis = cr_mat3_columns(rays.b[0], rays.b[1], rays.b[2]);
    double area = cr_norm(cr_cross(rays.b[0], rays.b[1]));
    double det = cr_dot(cr_cross(rays.b[0], rays.b[1]), cr_mat3_column(basis, 2));
    moments->volume = sums.volume * (planar ? area : fabs(det));
    moments->centroid = P;
    moments->spread = spread_of(&rays, &sums);
    return cr_vec3_finite(P);
}

bool cr_region_centroid(const crContact* c, crVec3* P0) {
    if (c == NULL || P0 == NULL) return false;
    crMoments moments;
    *P0 = cr_vec3(0, 0, 0);
    if (cr__region_moments(c, cr_contact_is_planar(c), &moments)) {
        *P0 = moments.centroid;
        return true;
    }
    // without friction the region is the segment from P_I to 2 P_I
    crVec3 P_I;
    if (!(c->V.x < 0.0) || !cr_impulse_P_I(c, &P_I)) return false;
    *P0 = cr_scale(1.5, P_I);
    return true;
}
