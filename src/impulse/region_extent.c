// region_extent.c - how far a ray stays in the permissible region, in closed form.
//
// On P0 + s d each of the four conditions is a polynomial in s: energy and cone are quadratic, penetration
// and tension linear. The region is convex, so the ray leaves it once, at the smallest of their roots.
// Source: Chatterjee and Ruina 1998, section 3.2. Where W is singular the energy surface is a cylinder or a
// pair of planes and the region may have no end; it is then cut off by a sphere about 1.5 P_I.
// Fails: for a P0 outside the region the answer means nothing (it is 0 for most directions).
#include "impulse/region.h"

// Cut-off where W is singular: this many times the largest length the contact offers.
#define REACH_FACTOR 100.0

double cr_region_reach(const crContact* c) {
    crSym3 inverse;
    if (cr_sym3_invert(c->W, &inverse)) return (double)INFINITY;
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(c->W, values, &axes);
    if (!(values[2] > 0.0)) return 0.0;
    // longest semi-axis of the energy surface among the directions that are not blocked
    double twice_Ec = 0.0;
    double smallest = values[2];
    for (int k = 2; k >= 0 && values[k] > 1e-14 * values[2]; k--) {
        double v = cr_dot(cr_mat3_column(axes, k), c->V);
        twice_Ec += v * v / values[k];
        smallest = values[k];
    }
    double length = fmax(2.0 * sqrt(twice_Ec / smallest), cr_norm(c->V) / values[2]);
    // and 2 P_I, which is permissible wherever it exists
    crVec3 P_I;
    if (cr_impulse_P_I(c, &P_I)) length = fmax(length, 2.0 * fabs(P_I.x));
    return REACH_FACTOR * length;
}

// first s > 0 where a s^2 + 2 b s + c, not positive at 0, becomes positive
static double first_root(double a, double b, double c) {
    c = fmin(c, 0.0);
    double disc = b * b - a * c;
    if (disc < 0.0) return (double)INFINITY;
    double root = sqrt(disc);
    if (b > 0.0) return -c / (b + root);
    return a > 0.0 ? (root - b) / a : (double)INFINITY;
}

// first s > 0 where a s + c, not negative at 0, becomes negative
static double first_zero(double a, double c) { return a < 0.0 ? fmax(c, 0.0) / -a : (double)INFINITY; }

static double cone_extent(double mu, crVec3 P0, crVec3 d) {
    if (isinf(mu)) return (double)INFINITY;
    double tangential = sqrt(P0.y * P0.y + P0.z * P0.z);
    double a = d.y * d.y + d.z * d.z - mu * d.x * (mu * d.x);
    double b = P0.y * d.y + P0.z * d.z - mu * P0.x * (mu * d.x);
    double c = (tangential - mu * P0.x) * (tangential + mu * P0.x);
    return first_root(a, b, c);
}

// Near the origin the rounding of what was computed at P0 shows: one Newton step from values at P itself.
static double polish(const crContact* c, crVec3 P0, crVec3 d, double s) {
    if (!isfinite(s)) return s;
    crVec3 P = cr_madd(P0, s, d);
    double slope = cr_dot(d, cr_impulse_V_plus(c, P));
    return slope > 0.0 ? fmax(0.0, s - cr_impulse_energy_change(c, P) / slope) : s;
}

double cr_region_extent(const crContact* c, crVec3 P0, crVec3 d) {
    double reach = cr_region_reach(c);
    crVec3 Wd = cr_sym3_mul(c->W, d);
    crVec3 V_plus = cr_impulse_V_plus(c, P0);
    double s = first_root(0.5 * cr_dot(d, Wd), 0.5 * cr_dot(d, V_plus), cr_impulse_energy_change(c, P0));
    s = fmin(polish(c, P0, d, s), first_zero(Wd.x, V_plus.x));
    s = fmin(s, first_zero(d.x, P0.x));
    s = fmin(s, cone_extent(c->mu, P0, d));
    if (isfinite(reach)) {
        crVec3 center;
        cr_impulse_P_I(c, &center);
        crVec3 r = cr_madd(P0, -1.5, center);
        s = fmin(s, first_root(cr_dot(d, d), cr_dot(r, d), cr_dot(r, r) - reach * reach));
    }
    return s;
}
