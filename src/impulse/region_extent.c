// region_extent.c - how far a ray stays in the permissible region, in closed form.
//
// On P0 + s d each of the four conditions is a polynomial in s: energy and cone are quadratic, penetration
// and tension linear. The region is convex, so the ray leaves it once, at the smallest of their roots.
// Source: Chatterjee and Ruina 1998, section 3.2. Where W is singular the energy surface is a cylinder or a
// pair of planes and the region may have no end; see cr__region_contact for where it is cut off.
// Fails: for a P0 outside the region the answer means nothing (it is 0 for most directions).
#include "impulse/region.h"

double cr_region_reach(const crContact* c) {
    if (c == NULL) return (double)NAN;
    crContact bounded = cr__region_contact(c);
    crVec3 P_II;
    double values[3];
    crMat3 axes;
    if (!(c->W.xx > 0.0) || !cr_impulse_P_II(&bounded, &P_II)) return 0.0;
    cr_sym3_eigen(bounded.W, values, &axes);
    double twice_Ec = fabs(cr_dot(P_II, bounded.V));
    // with room for what rounding does to the smallest eigenvalue
    return 1.001 * (cr_norm(P_II) + sqrt(twice_Ec / values[0]));
}

// first s > 0 where a s^2 + 2 b s + c, not positive at 0, becomes positive; disc = b^2 - a c
static double first_root(double a, double b, double c, double disc) {
    double root = sqrt(fmax(disc, 0.0));
    if (b > 0.0) return fmax(-c, 0.0) / (b + root);
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
    // b^2 - a c in the form that stays accurate for rays that pass by the apex, P0 x d -> 0
    crVec3 cross = cr_cross(P0, d);
    double across = mu * sqrt(cross.y * cross.y + cross.z * cross.z);
    return first_root(a, b, c, (across - cross.x) * (across + cross.x));
}

// What was computed at P0 carries rounding of its size, which shows where P is much smaller (nearly singular
// W): Newton steps from values at P itself. The energy is convex on the ray, so they cannot go astray.
static double polish_energy(const crContact* c, crVec3 P0, crVec3 d, double s) {
    for (int i = 0; i < 4; i++) {
        crVec3 P = cr_madd(P0, s, d);
        double slope = cr_dot(d, cr_impulse_V_plus(c, P));
        if (!(slope > 0.0)) break;
        double step = cr_impulse_energy_change(c, P) / slope;
        s = fmax(0.0, s - step);
        if (fabs(step) <= 1e-16 * s) break;
    }
    return s;
}

static double polish_plane(const crContact* c, crVec3 P0, crVec3 d, double Wd, double s) {
    double step = cr_impulse_V_plus(c, cr_madd(P0, s, d)).x / Wd;
    // rays along the plane meet it far away or nowhere
    return fabs(step) <= 1e-6 * s ? s - step : s;
}

double cr_region_extent(const crContact* contact, crVec3 P0, crVec3 d) {
    if (contact == NULL) return (double)NAN;
    crContact bounded = cr__region_contact(contact);
    const crContact* c = &bounded;
    crVec3 Wd = cr_sym3_mul(c->W, d);
    crVec3 V_plus = cr_impulse_V_plus(c, P0);
    double quad = 0.5 * cr_dot(d, Wd);
    double slope = 0.5 * cr_dot(d, V_plus);
    double energy = fmin(0.0, cr_impulse_energy_change(c, P0));
    double by_energy = first_root(quad, slope, energy, slope * slope - quad * energy);
    double by_plane = first_zero(Wd.x, V_plus.x);
    if (isfinite(by_energy)) by_energy = polish_energy(c, P0, d, by_energy);
    if (isfinite(by_plane)) by_plane = polish_plane(c, P0, d, Wd.x, by_plane);
    double s = fmin(fmin(by_energy, by_plane), first_zero(d.x, P0.x));
    return fmin(s, cone_extent(c->mu, P0, d));
}

crVec3 cr__region_settle(const crContact* contact, crVec3 P, crVec3 d) {
    crContact bounded = cr__region_contact(contact);
    const crContact* c = &bounded;
    for (int i = 0; i < 2 && cr_impulse_verdict(c, P, 1e-15).verdict == CR_TRUTH_NO; i++) {
        crVec3 V_plus = cr_impulse_V_plus(c, P);
        double energy = cr_impulse_energy_change(c, P);
        double slope = cr_dot(d, V_plus);
        double step = energy > 0.0 && slope > 0.0 ? energy / slope : 0.0;
        double Wd = cr_sym3_mul(c->W, d).x;
        if (V_plus.x < 0.0 && Wd < 0.0) step = fmax(step, V_plus.x / Wd);
        double tangential = sqrt(P.y * P.y + P.z * P.z);
        double outside = isinf(c->mu) ? -P.x : tangential - c->mu * P.x;
        double outward = -d.x;
        if (!isinf(c->mu)) {
            outward = (tangential > 0.0 ? (P.y * d.y + P.z * d.z) / tangential : 0.0) - c->mu * d.x;
        }
        if (outside > 0.0 && outward > 0.0) step = fmax(step, outside / outward);
        P = cr_madd(P, -step, d);
    }
    return P;
}
