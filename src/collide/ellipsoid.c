// ellipsoid.c - two ellipsoids to full precision: Glocker's contact parameters (2001, eq. 2.10) by Newton's method.
//
// On strictly convex smooth surfaces the contact parameters of both points are functions of the common normal n
// (the Gauss map): a = c_A + M_A n / h_A, b = c_B - M_B n / h_B, h = sqrt(n.M n), M = R diag(size^2) R^T. Eq.
// (2.10), t.(b - a) = 0 for both tangents, then says that s(n) = n.(b - a) is stationary on the unit sphere; its
// maximum is the gap. Newton's method on the sphere with the analytic second derivative, halved until s grows.
// Needs a start near the maximum (from GJK or EPA); a start at the best of several minima of depth stays there.
#include "collide/narrow.h"

typedef struct Side {
    crVec3 Mn;  // M n
    double h;   // sqrt(n.M n)
    crMat3 M;
} Side;

static crMat3 shape_matrix(const crConvex* c) {
    crMat3 M;
    double s[3] = {c->size.x * c->size.x, c->size.y * c->size.y, c->size.z * c->size.z};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            M.m[i][j] = s[0] * c->R.m[i][0] * c->R.m[j][0] + s[1] * c->R.m[i][1] * c->R.m[j][1] +
                        s[2] * c->R.m[i][2] * c->R.m[j][2];
    return M;
}

// t.(second derivative of h).u
static double bend(const Side* side, crVec3 t, crVec3 u) {
    double tMu = cr_dot(t, cr_mat3_mul(side->M, u));
    return (tMu - cr_dot(t, side->Mn) * cr_dot(u, side->Mn) / (side->h * side->h)) / side->h;
}

static double set(const crConvex* a, const crConvex* b, crVec3 n, Side sides[2], crClosest* at) {
    const crConvex* c[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        // h by the local support point, which keeps its digits for needles and plates
        crVec3 l = cr_mat3_mul_t(c[k]->R, n), s = c[k]->size;
        crVec3 e = cr_vec3(s.x * l.x, s.y * l.y, s.z * l.z);
        sides[k].h = cr_norm(e);
        sides[k].Mn = cr_mat3_mul(c[k]->R, cr_vec3(s.x * e.x, s.y * e.y, s.z * e.z));
    }
    at->n = n;
    at->a = cr_madd(a->p, 1.0 / sides[0].h, sides[0].Mn);
    at->b = cr_madd(b->p, -1.0 / sides[1].h, sides[1].Mn);
    at->gap = cr_dot(n, cr_sub(b->p, a->p)) - sides[0].h - sides[1].h;
    return at->gap;
}

void cr__ellipsoids(const crConvex* a, const crConvex* b, crClosest* out) {
    Side sides[2] = {{.M = shape_matrix(a)}, {.M = shape_matrix(b)}};
    crClosest at = *out;
    set(a, b, out->n, sides, &at);
    for (int i = 0; i < 50; i++) {
        at.iterations++;
        crMat3 frame = cr_frame(at.n);
        crVec3 t = cr_mat3_column(frame, 1), u = cr_mat3_column(frame, 2), r = cr_sub(at.b, at.a);
        double gt = cr_dot(t, r), gu = cr_dot(u, r);
        double tt = at.gap, tu = 0.0, uu = at.gap;
        for (int k = 0; k < 2; k++) {
            tt += bend(&sides[k], t, t);
            tu += bend(&sides[k], t, u);
            uu += bend(&sides[k], u, u);
        }
        double det = tt * uu - tu * tu;
        // minus the second derivative is positive at a maximum; elsewhere climb along the gradient
        bool convex = tt > 0.0 && det > 0.0;
        double size = fabs(tt) + fabs(uu) + fabs(tu);
        double x = convex ? (uu * gt - tu * gu) / det : gt / size,
               y = convex ? (tt * gu - tu * gt) / det : gu / size;
        double step = sqrt(x * x + y * y), limit = step > 0.5 ? 0.5 / step : 1.0;
        bool better = false;
        crClosest next = at;
        for (int halves = 0; halves < 30 && !better; halves++, limit *= 0.5) {
            crVec3 n = cr_madd(cr_madd(at.n, limit * x, t), limit * y, u);
            better = set(a, b, cr__unit(n, at.n), sides, &next) > at.gap;
        }
        if (!better) break;
        at = next;
        if (step < 1e-9) break;
    }
    set(a, b, at.n, sides, &at);
    crVec3 r = cr_sub(at.b, at.a);
    // what is left: the part of b - a across n, to second order
    crVec3 across = cr_madd(r, -at.gap, at.n);
    double curvature = fmin(sides[0].h, sides[1].h);
    at.error = fmin(out->error + fabs(at.gap - out->gap), cr_dot(across, across) / curvature);
    *out = at;
}
