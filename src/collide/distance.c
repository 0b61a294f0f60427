// distance.c - signed distance of two convex pieces: which method for which pair, and radii added.
//
// | pair                                        | method                                             |
// | half-space, anything                        | support point, closed form                         |
// | sphere, {sphere, capsule, box, cylinder, cone} | closed form (point.c)                           |
// | sphere, ellipsoid                           | Newton's method on one unknown (point.c)           |
// | capsule, capsule                            | closed form (segment.c)                            |
// | {sphere, capsule, box, hull, triangle} pairs | GJK apart, separating axes overlapping (sat.c)    |
// | all others                                  | rough direction, Newton's method and proof; else   |
// |                                             | GJK apart, EPA overlapping, Newton's method then   |
// A ball of radius r added to a core lowers every gap by r, so only cores are compared. Always succeeds.
#include "collide/narrow.h"

static void halfspace(const crConvex* a, const crConvex* b, crClosest* out) {
    out->n = a->size;
    out->b = cr__support(b, cr_neg(out->n));
    out->gap = cr_dot(out->n, out->b) - a->offset;
    out->a = cr_madd(out->b, -out->gap, out->n);
}

// A's nearest surface point to B's centre
static bool point(const crConvex* a, const crConvex* b, crClosest* out) {
    if (!cr__point(a, b->p, &out->gap, &out->n, &out->choice)) return false;
    out->b = b->p;
    out->a = cr_madd(b->p, -out->gap, out->n);
    return true;
}

static void points(const crConvex* a, const crConvex* b, crClosest* out) {
    crVec3 r = cr_sub(b->p, a->p);
    out->gap = cr_norm(r);
    out->choice = !(out->gap > 0.0);
    out->n = out->choice ? cr_quat_rotate(a->q, cr_vec3(0, 0, 1)) : cr__over(r, out->gap);
    out->a = a->p;
    out->b = b->p;
}

static void segment_point(const crConvex* a, const crConvex* b, crClosest* out) {
    crVec3 u = cr_mat3_column(a->R, 2), d = cr_sub(b->p, a->p);
    double s = fmin(fmax(cr_dot(u, d), -a->size.z), a->size.z);
    crVec3 r = cr_madd(d, -s, u);
    out->gap = cr_norm(r);
    out->choice = !(out->gap > 0x1p-50 * a->size.z);
    out->n = out->choice ? cr_mat3_column(a->R, 0) : cr_scale(1.0 / out->gap, r);
    if (out->choice) out->gap = 0.0;
    out->a = cr_madd(a->p, s, u);
    out->b = b->p;
}

// A ball of the least radius of curvature rolls inside an ellipsoid (Blaschke). With balls (x, r) and (y, s)
// inside the two, no direction separates them by more than |y - x| - r - s: for those that touch the surfaces
// at the support points along n that is the gap itself, so n is the best of all directions.
static double ball_bound(const crConvex* a, const crConvex* b, crVec3 n) {
    crVec3 s = a->size, t = b->size, least = cr_vec3(fmin(s.x, fmin(s.y, s.z)), fmin(t.x, fmin(t.y, t.z)), 0);
    double r = least.x * least.x / fmax(s.x, fmax(s.y, s.z)),
           q = least.y * least.y / fmax(t.x, fmax(t.y, t.z));
    crVec3 x = cr_madd(cr__support(a, n), -r, n), y = cr_madd(cr__support(b, cr_neg(n)), q, n);
    return cr_norm(cr_sub(y, x)) - r - q;
}

// smooth on both sides: a rough start, Newton's method, and bounds that show whether it has arrived
static bool ellipsoids(const crConvex* a, const crConvex* b, double scale, crClosest* out) {
    crGjk task = {.tol = CR__ROUGH, .beyond = (double)INFINITY};
    bool apart = cr__gjk(a, b, &task, out) && out->gap > CR__CLEAR * scale;
    if (!apart) cr__epa(a, b, CR__ROUGH, out);
    cr__polish(a, b, out);
    if (apart) return out->error <= CR__APART * scale;
    out->error = fmin(out->error, fmax(0.0, ball_bound(a, b, out->n) - out->gap));
    return out->error <= CR__DEPTH * scale;
}

// Where shapes just touch EPA may end early: GJK's distance still bounds the gap from above, and the
// separation along its normal from below.
static void better_start(const crConvex* a, const crConvex* b, const crClosest* first, crClosest* out) {
    double upper = fmin(out->gap + out->error, first->gap), gap = cr__separation(a, b, first->n);
    if (gap > out->gap) {
        out->gap = gap;
        out->n = first->n;
    }
    out->error = fmax(0.0, upper - out->gap);
}

// pairs that are apart or overlap a little: a rough direction from shrunk cores, Newton's method, and a proof
static bool nearly(const crConvex* a, const crConvex* b, double beyond, crClosest* out) {
    crGjk task = {.shrink = CR__SHRINK, .part = 0x1p-7, .beyond = beyond};
    if (!cr__gjk(a, b, &task, out)) return false;
    if (out->no_witness) return true;
    return cr__improve(a, b, 0x1p-4, out);
}

static void curved(const crConvex* a, const crConvex* b, double beyond, crClosest* out) {
    double scale = cr__pair_scale(a, b);
    if (cr__flat(a, b, beyond, CR__DEPTH, out) || nearly(a, b, beyond, out)) return;
    if (a->core == CR__ELLIPSOID && b->core == CR__ELLIPSOID && ellipsoids(a, b, scale, out)) return;
    crGjk task = {.tol = CR__APART, .beyond = (double)INFINITY};
    bool apart = cr__gjk(a, b, &task, out);
    // near contact rounding may stop GJK on the wrong side: a bound from below that is not positive says so
    if (!apart || out->gap < 0x1p-36 * scale || out->error >= out->gap) {
        crClosest first = *out;
        cr__epa(a, b, CR__DEPTH, out);
        better_start(a, b, &first, out);
    }
    cr__polish(a, b, out);
}

// a's core does not sort before b's
static void cores(const crConvex* a, const crConvex* b, double beyond, crClosest* out) {
    if (a->core == CR__HALFSPACE) {
        halfspace(a, b, out);
    } else if (b->core == CR__POINT && a->core == CR__POINT) {
        points(a, b, out);
    } else if (b->core == CR__POINT && a->core == CR__SEGMENT) {
        segment_point(a, b, out);
    } else if (b->core == CR__POINT && point(a, b, out)) {
        return;
    } else if (a->core == CR__SEGMENT) {
        cr__segments(a, b, out);
    } else if (cr__is_poly(a->core)) {
        cr__poly(a, b, beyond, out);
    } else {
        curved(a, b, beyond, out);
    }
}

// of two pieces of one kind the first is always the same one, so that swapping them changes no bit
static bool follows(const crConvex* a, const crConvex* b) {
    if (a->size.x != b->size.x) return a->size.x > b->size.x;
    if (a->size.y != b->size.y) return a->size.y > b->size.y;
    if (a->size.z != b->size.z) return a->size.z > b->size.z;
    return cr__point_follows(a->p, b->p);
}

void cr__closest(const crConvex* a, const crConvex* b, double reach, crClosest* out) {
    bool swap = a->core != b->core ? a->core < b->core : follows(a, b);
    double beyond = reach + a->radius + b->radius;
    *out = (crClosest){.gap = 0.0};
    if (swap)
        cores(b, a, beyond, out);
    else
        cores(a, b, beyond, out);
    if (swap) {
        crVec3 t = out->a;
        out->a = out->b;
        out->b = t;
        out->n = cr_neg(out->n);
    }
    // the mean of what the witnesses say keeps b - a = gap n exact to rounding
    crVec3 middle =
        cr_scale(0.5, cr_add(cr_madd(out->a, a->radius, out->n), cr_madd(out->b, -b->radius, out->n)));
    out->gap -= a->radius + b->radius;
    out->a = cr_madd(middle, -0.5 * out->gap, out->n);
    out->b = cr_madd(middle, 0.5 * out->gap, out->n);
}
