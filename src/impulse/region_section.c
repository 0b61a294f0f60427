// region_section.c - the permissible region in a plane through n, as a closed polyline with its corners.
//
// In the plane of n and a tangential u the region is bounded by the line of maximum compression (s = s0), the
// two friction lines (first and last ray) and an arc of the energy ellipse (s = s1); see region.h. Corners
// are where these meet. Straight edges have only their ends in the polyline; all other points are on the arc,
// equally spaced on the circle that the ellipse is in the metric of W.
// Source: Chatterjee and Ruina 1998, section 3.3. Fails: an empty section, or fewer than 4 points: false.
#include "impulse/region.h"

#define MIN_POINTS 4

double cr_region_azimuth(const crContact* c) {
    if (c == NULL) return (double)NAN;
    crVec3 P;
    if (!cr_impulse_P_II(c, &P)) return 0.0;
    double tangential = sqrt(P.y * P.y + P.z * P.z);
    return tangential > 1e-14 * cr_norm(P) ? cr_atan2(P.z, P.y) : 0.0;
}

// the contact as a planar one in the plane of n and u
static crContact in_plane(const crContact* c, double uy, double uz) {
    crContact flat = *c;
    const crSym3* W = &c->W;
    double along = uy * uy * W->yy + 2.0 * uy * uz * W->yz + uz * uz * W->zz;
    flat.W = (crSym3){W->xx, uy * W->xy + uz * W->xz, 0.0, along, 0.0, W->xx};
    flat.V = cr_vec3(c->V.x, uy * c->V.y + uz * c->V.z, 0.0);
    return flat;
}

// A ray of the section: s0 d to s1 d.
typedef struct Ray {
    crVec3 d;
    double s0, s1;
} Ray;

// ends from W itself, so that the surfaces are met to rounding however flat the basis is
static Ray ray_along(const crContact* flat, crVec3 d) {
    Ray ray = {d, 0.0, 0.0};
    crVec3 Wd = cr_sym3_mul(flat->W, d);
    if (flat->V.x < 0.0) ray.s0 = -flat->V.x / Wd.x;
    ray.s1 = fmax(0.0, -2.0 * cr_dot(d, flat->V) / cr_dot(d, Wd));
    return ray;
}

static Ray ray_at(const crContact* flat, const crRays* r, double cosine, double sine) {
    return ray_along(flat, cr_madd(cr_scale(cosine, r->b[0]), sine, r->b[1]));
}

// The first (side = -1) or last (side = 1) ray, at x1/x0 = a; on the friction line where that ends the range.
static Ray end_ray(const crContact* flat, const crRays* r, double a, double side) {
    double length = sqrt(1.0 + a * a);
    double cosine = 1.0 / length;
    double sine = isfinite(a) ? a / length : side;
    double open = r->k[1] + side * r->Omega[1];
    bool on_cone = open > 0.0 && side * a >= 1.0 / open;
    if (!on_cone) {
        Ray ray = ray_at(flat, r, cosine, sine);
        // energy ends the range where both ends of the ray meet
        bool meets = isfinite(a) && flat->V.x < 0.0;
        if (meets) ray.s0 = ray.s1 = r->nu * length;
        return ray;
    }
    crVec3 d = isinf(flat->mu) ? cr_vec3(0.0, side, 0.0) : cr_vec3(1.0, side * flat->mu, 0.0);
    Ray ray = ray_along(flat, d);
    ray.s1 = fmax(ray.s1, ray.s0);
    return ray;
}

bool cr_region_section(const crContact* c, double azimuth, int count, crVec3* points) {
    if (c == NULL || points == NULL) return false;
    double uy, uz;
    cr_sincos(azimuth, &uz, &uy);
    crContact bounded = cr__region_contact(c);
    crContact flat = in_plane(&bounded, uy, uz);
    crRays rays;
    if (count < MIN_POINTS || !isfinite(azimuth) || !cr__rays(&flat, true, &rays)) return false;
    crInterval a = cr__planar_range(&rays);
    if (!(a.lo <= a.hi)) return false;
    Ray first = end_ray(&flat, &rays, a.lo, -1.0);
    Ray last = end_ray(&flat, &rays, a.hi, 1.0);
    // corners, counter-clockwise with n to the right and u up
    int filled = 0;
    points[filled++] = cr_scale(last.s0, last.d);
    if (first.s0 > 0.0) points[filled++] = cr_scale(first.s0, first.d);
    if (first.s1 > first.s0) points[filled++] = cr_scale(first.s1, first.d);
    int closing = last.s1 > last.s0 ? 1 : 0;
    int arc = count - filled - closing;
    double from = cr_atan2(a.lo, 1.0);
    double to = cr_atan2(a.hi, 1.0);
    for (int i = 1; i <= arc; i++) {
        double angle = from + (to - from) * (double)i / (double)(arc + 1);
        double sine, cosine;
        cr_sincos(angle, &sine, &cosine);
        Ray ray = ray_at(&flat, &rays, cosine, sine);
        points[filled++] = cr_scale(ray.s1, ray.d);
    }
    if (closing) points[filled++] = cr_scale(last.s1, last.d);
    for (int i = 0; i < count; i++) {
        points[i] = cr_vec3(points[i].x, points[i].y * uy, points[i].y * uz);
    }
    return true;
}
