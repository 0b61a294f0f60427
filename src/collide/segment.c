// segment.c - two segments: the nearest points in closed form.
//
// With d = c_B - c_A, axes u, v and half lengths, minimise |d + t v - s u|^2 over the box of s and t: the
// free optimum if inside, else the best of the four sides, each a clamped projection. Segments that cross
// have the normal u x v turned from A's centre to B's; parallel ones on one line take the line between
// centres, else a perpendicular; such normals are marked as a choice. Always succeeds.
#include "collide/narrow.h"

static double clamp(double x, double h) { return fmin(fmax(x, -h), h); }

static void try_pair(crVec3 d, crVec3 u, crVec3 v, double s, double t, double* best, double* s_best,
                     double* t_best) {
    crVec3 r = cr_sub(cr_madd(d, t, v), cr_scale(s, u));
    double square = cr_dot(r, r);
    if (square < *best) {
        *best = square;
        *s_best = s;
        *t_best = t;
    }
}

void cr__segments(const crConvex* a, const crConvex* b, crClosest* out) {
    crVec3 u = cr_mat3_column(a->R, 2), v = cr_mat3_column(b->R, 2), d = cr_sub(b->p, a->p);
    double ha = a->size.z, hb = b->size.z, best = (double)INFINITY, s = 0.0, t = 0.0;
    double uv = cr_dot(u, v), du = cr_dot(d, u), dv = cr_dot(d, v);
    crVec3 cross = cr_cross(u, v);
    double sine2 = cr_dot(cross, cross);
    if (sine2 > 1e-20) {
        double s0 = (du - uv * dv) / sine2, t0 = (uv * du - dv) / sine2;
        if (fabs(s0) <= ha && fabs(t0) <= hb) try_pair(d, u, v, s0, t0, &best, &s, &t);
    }
    for (int side = -1; side <= 1; side += 2) {
        double sa = side * ha, tb = side * hb;
        try_pair(d, u, v, sa, clamp(sa * uv - dv, hb), &best, &s, &t);
        try_pair(d, u, v, clamp(du + tb * uv, ha), tb, &best, &s, &t);
    }
    out->a = cr_madd(a->p, s, u);
    out->b = cr_madd(b->p, t, v);
    crVec3 r = cr_sub(out->b, out->a);
    out->gap = cr_norm(r);
    out->n = cr_scale(1.0 / out->gap, r);
    // both points inside their segments: the cross product keeps its digits however near they are
    if (out->gap > 0.0 && fabs(s) < ha && fabs(t) < hb && sine2 > 1e-8) {
        out->n = cr_scale((cr_dot(cross, r) < 0.0 ? -1.0 : 1.0) / sqrt(sine2), cross);
        out->gap = cr_dot(out->n, r);
    }
    out->error = 0.0;
    out->iterations = 0;
    out->choice = !(out->gap > 0x1p-48 * cr__pair_scale(a, b));
    if (!out->choice) return;
    crVec3 n = sine2 > 1e-20 ? cross : cr_cross(u, cr_cross(d, u));
    if (!(cr_norm(n) > 1e-12 * (cr_norm(d) + sqrt(sine2)))) n = cr_mat3_column(a->R, 0);
    n = cr__unit(n, cr_mat3_column(a->R, 0));
    out->n = cr_dot(n, d) < 0.0 ? cr_neg(n) : n;
    out->gap = cr_dot(out->n, r);
}
