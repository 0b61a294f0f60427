// polish.c - from a normal found by GJK or EPA to full precision: Newton's method on Glocker's conditions.
//
// The gap is the maximum over unit n of s(n) = n.(b - a), a and b the support points along n and -n. On
// smooth strictly convex surfaces the Gauss map turns the contact parameters of both points into functions of
// n, and Glocker's (2001) eq. 2.10, t.(b - a) = 0 for both tangents, is the stationarity of s on the sphere.
// Edges, caps, sides and slopes add kinks: circles n.e = k (k = 0 for an edge or the side of a cylinder) and
// single normals (caps, faces). Near the start every nearby kink, pair of kinks and the smooth case is
// solved, most conditions first, and the n with the largest s is kept; the first that is proved ends it. Any
// n is a lower bound of the gap, so this never makes an answer worse.
#include "collide/support.h"

#define NEAR  1e-3  // kinks this close to the start are tried
#define KINKS 8

typedef struct Circle {
    crVec3 e;  // unit
    double k;
} Circle;

typedef struct Kinks {
    int circles, normals;
    Circle circle[KINKS];
    crVec3 normal[4];
} Kinks;

static void add_circle(Kinks* s, crVec3 e, double k, double sign, double at, double tol) {
    if (fabs(at - k) <= tol && s->circles < KINKS) s->circle[s->circles++] = (Circle){e, sign * k};
}

static void add_normal(Kinks* s, crVec3 d, crVec3 along, double sign, double tol) {
    if (cr_norm(cr_sub(d, along)) <= tol && s->normals < 4) s->normal[s->normals++] = cr_scale(sign, along);
}

static void hull_kinks(const crConvex* c, crVec3 d, double sign, double tol, Kinks* s) {
    const crHull* h = c->hull;
    crVec3 l = cr_mat3_mul_t(c->R, d);
    double top = -(double)INFINITY;
    for (int v = 0; v < h->vertex_count; v++)
        top = fmax(top, cr_dot(l, h->vertices[v]));
    for (int e = 0; e < h->edge_count; e++) {
        crVec3 a = h->vertices[h->edges[e].a], u = cr_sub(h->vertices[h->edges[e].b], a);
        double length = cr_norm(u);
        if (cr_dot(l, a) < top - NEAR * h->extent) continue;
        u = cr_scale(1.0 / length, u);
        add_circle(s, cr_mat3_mul(c->R, u), 0.0, sign, cr_dot(u, l), tol);
    }
    for (int f = 0; f < h->face_count; f++)
        add_normal(s, d, cr_mat3_mul(c->R, h->normals[f]), sign, tol);
}

// kinks of the core's support function near outward direction d = sign n
static void find_kinks(const crConvex* c, crVec3 d, double sign, double tol, Kinks* s) {
    crVec3 axis = cr_mat3_column(c->R, 2);
    switch (c->core) {
    case CR__SEGMENT:
    case CR__BOX:
    case CR__TRIANGLE:
        for (int i = 0; i < cr__edge_count(c); i++) {
            crVec3 e = cr__edge_direction(c, i);
            add_circle(s, e, 0.0, sign, cr_dot(e, d), tol);
        }
        for (int i = 0; i < cr__face_count(c); i++)
            add_normal(s, d, cr__face_normal(c, i), sign, tol);
        break;
    case CR__HULL:
        hull_kinks(c, d, sign, tol, s);
        break;
    case CR__CYLINDER:
        add_circle(s, axis, 0.0, sign, cr_dot(axis, d), tol);
        add_normal(s, d, axis, sign, tol);
        add_normal(s, d, cr_neg(axis), sign, tol);
        break;
    case CR__CONE: {
        double r = c->size.x, h = c->size.z;
        add_circle(s, axis, r / sqrt(r * r + 4.0 * h * h), sign, cr_dot(axis, d), tol);
        add_normal(s, d, cr_neg(axis), sign, tol);
        break;
    }
    default:
        break;
    }
}

crBends cr__ellipsoid_bends(crVec3 s, crVec3 l, crVec3 p, crVec3 q) {
    crVec3 m = cr_vec3(s.x * l.x, s.y * l.y, s.z * l.z);
    crVec3 a = cr_vec3(s.x * p.x, s.y * p.y, s.z * p.z), b = cr_vec3(s.x * q.x, s.y * q.y, s.z * q.z);
    double h = cr_norm(m);
    m = cr_scale(1.0 / h, m);
    // the part of a and b across m, before multiplying: plates lose no digits
    a = cr_madd(a, -cr_dot(m, a), m);
    b = cr_madd(b, -cr_dot(m, b), m);
    return (crBends){cr_dot(a, a) / h, cr_dot(a, b) / h, cr_dot(b, b) / h};
}

// second derivatives of the support function of c at d along tangents t and u, on the piece that supports d
static void add_bends(const crConvex* c, crVec3 d, crVec3 t, crVec3 u, crBends* sum) {
    bool curved = c->core == CR__ELLIPSOID || c->core == CR__CYLINDER || c->core == CR__CONE;
    if (!curved) return;
    crVec3 l = cr_mat3_mul_t(c->R, d), p = cr_mat3_mul_t(c->R, t), q = cr_mat3_mul_t(c->R, u), s = c->size;
    if (c->core == CR__ELLIPSOID) {
        crBends own = cr__ellipsoid_bends(s, l, p, q);
        sum->tt += own.tt;
        sum->tu += own.tu;
        sum->uu += own.uu;
        return;
    }
    double across = sqrt(l.x * l.x + l.y * l.y);
    bool apex = c->core == CR__CONE && 2.0 * s.z * l.z > s.x * across;
    if (apex || !(across > 0.0)) return;
    // a rim: only turning about the axis moves the support point
    double pt = (l.x * p.y - l.y * p.x) / across, qt = (l.x * q.y - l.y * q.x) / across, r = s.x / across;
    sum->tt += r * pt * pt;
    sum->tu += r * pt * qt;
    sum->uu += r * qt * qt;
}

// the same of a pair's separation, less what the gap itself adds
static crBends bends(const crConvex* a, const crConvex* b, crVec3 n, crVec3 t, crVec3 u) {
    crBends sum = {0.0, 0.0, 0.0};
    add_bends(a, n, t, u, &sum);
    add_bends(b, cr_neg(n), t, u, &sum);
    return sum;
}

static crVec3 gradient(const crConvex* a, const crConvex* b, crVec3 n) {
    return cr_sub(cr__support_here(b, cr_neg(n)), cr__support_here(a, n));
}

typedef struct Best {
    double gap;
    crVec3 n;
} Best;

// tie: how far below the best a candidate may be and still replace it
static bool offer(const crConvex* a, const crConvex* b, crVec3 n, double tie, Best* best) {
    double gap = cr__separation_here(a, b, n);
    if (!(gap > best->gap - tie)) return false;
    *best = (Best){gap, n};
    return true;
}

// Newton's step for both tangents at n: towards the maximum, or along the gradient where s is not concave
static bool tangent_step(const crConvex* a, const crConvex* b, crVec3 n, crVec3 g, crVec3* step,
                         double* slope) {
    crMat3 frame = cr_frame(n);
    crVec3 t = cr_mat3_column(frame, 1), u = cr_mat3_column(frame, 2);
    crBends h = bends(a, b, n, t, u);
    double gap = cr_dot(n, g), gt = cr_dot(t, g), gu = cr_dot(u, g), tt = gap + h.tt, uu = gap + h.uu;
    double det = tt * uu - h.tu * h.tu, size = fabs(tt) + fabs(uu) + fabs(h.tu);
    bool concave = tt > 0.0 && det > 0.0;
    double x = concave ? (uu * gt - h.tu * gu) / det : gt / size,
           y = concave ? (tt * gu - h.tu * gt) / det : gu / size;
    *step = cr_add(cr_scale(x, t), cr_scale(y, u));
    *slope = sqrt(gt * gt + gu * gu);
    double length = cr_norm(*step);
    if (length > 0.5) *step = cr_scale(0.5 / length, *step);
    return concave;
}

// Both tangents free. Values of s stop telling directions apart at the root of rounding; from there on the
// slope has to fall.
static int smooth(const crConvex* a, const crConvex* b, Best start, double tie, Best* best) {
    Best at = start;
    double tiny = 0x1p-50 * cr__pair_scale(a, b), slope;
    crVec3 g = gradient(a, b, at.n), step;
    bool concave = tangent_step(a, b, at.n, g, &step, &slope);
    int rounds = 0;
    for (double part = 1.0; rounds < 40 && part > 1e-6 && slope > 0x1p-4 * tiny; rounds++) {
        crVec3 n = cr__unit(cr_madd(at.n, part, step), at.n), next_step;
        double next_slope;
        g = gradient(a, b, n);
        double gap = cr_dot(n, g);
        // a step that promises less than rounding is the last digits' business
        bool last = part * cr_norm(step) * slope <= 0x1p-4 * tiny;
        if (!(last ? gap >= at.gap - tiny : gap > at.gap)) {
            if (last) break;
            part *= 0.5;
            continue;
        }
        bool next_concave = tangent_step(a, b, n, g, &next_step, &next_slope);
        if (last && !(concave && next_concave && next_slope < slope)) break;
        at = (Best){gap, n};
        step = next_step;
        slope = next_slope;
        concave = next_concave;
        part = 1.0;
    }
    if (at.gap > best->gap + tie) *best = at;
    return rounds;
}

// along the circle n.e = k, from its point nearest to the start
static int along(const crConvex* a, const crConvex* b, Circle c, Best start, double tie, Best* best) {
    double r = sqrt(fmax(0.0, 1.0 - c.k * c.k));
    crVec3 u = cr__unit(cr_madd(start.n, -cr_dot(start.n, c.e), c.e), cr_vec3(0, 0, 0));
    if (!(cr_dot(u, u) > 0.0)) return 0;
    Best at = {-(double)INFINITY, start.n};
    int rounds = 0;
    double step = 0.0, tiny = 0x1p-50 * cr__pair_scale(a, b), least = (double)INFINITY;
    for (; rounds < 20; rounds++) {
        // turn u about e by the step
        u = cr__unit(cr_madd(u, step, cr_cross(c.e, u)), u);
        crVec3 v = cr_cross(c.e, u), n = cr_madd(cr_scale(r, u), c.k, c.e);
        crVec3 g = gradient(a, b, n), t = cr_scale(r, v);
        double first = cr_dot(g, t), second = r * cr_dot(g, u) + bends(a, b, n, t, t).tt, gap = cr_dot(n, g);
        // near the top the slope tells more than the value
        if (!(gap > at.gap + tiny || (gap > at.gap - tiny && fabs(first) < least))) break;
        at = (Best){gap, n};
        least = fabs(first);
        step = second > 0.0 ? first / second : 0.0;
        if (!(fabs(step) < 0.5)) break;
    }
    if (at.gap > best->gap + tie) *best = at;
    return rounds;
}

// where two circles cross, the crossing nearer to the start
static bool crossing_polish(const crConvex* a, const crConvex* b, Circle c, Circle d, Best start,
                            Best* best) {
    crVec3 m = cr_cross(c.e, d.e);
    double mm = cr_dot(m, m), cosine = cr_dot(c.e, d.e);
    if (!(mm > 1e-12)) return false;
    double x = (c.k - d.k * cosine) / mm, y = (d.k - c.k * cosine) / mm;
    crVec3 foot = cr_add(cr_scale(x, c.e), cr_scale(y, d.e));
    double left = 1.0 - cr_dot(foot, foot);
    if (!(left > 0.0)) return false;
    double z = sqrt(left / mm);
    crVec3 n = cr_madd(foot, cr_dot(m, start.n) < 0.0 ? -z : z, m);
    return offer(a, b, cr__unit(n, start.n), 0x1p-51 * cr__pair_scale(a, b), best);
}

static bool settled(const crConvex* a, const crConvex* b, const Best* best, crClosest* out) {
    out->n = best->n;
    out->gap = best->gap;
    cr__prove(a, b, out);
    return out->error <= (best->gap > 0.0 ? CR__APART : CR__DEPTH) * cr__pair_scale(a, b);
}

// most conditions first: of equals the first one stands, so that n lies on a kink exactly where it nearly
// does
static bool improve(const crConvex* a, const crConvex* b, double near, Best* best, crClosest* out) {
    Kinks s = {.circles = 0};
    Best start = *best;
    find_kinks(a, start.n, 1.0, near, &s);
    find_kinks(b, cr_neg(start.n), -1.0, near, &s);
    double tie = 0x1p-51 * cr__pair_scale(a, b);
    bool found = false;
    for (int i = 0; i < s.normals; i++)
        found |= offer(a, b, s.normal[i], found ? -tie : tie, best);
    if (found && settled(a, b, best, out)) return true;
    found = false;
    for (int i = 0; i < s.circles; i++)
        for (int k = i + 1; k < s.circles; k++)
            found |= crossing_polish(a, b, s.circle[i], s.circle[k], start, best);
    if (found && settled(a, b, best, out)) return true;
    double before = best->gap;
    for (int i = 0; i < s.circles; i++)
        out->iterations += along(a, b, s.circle[i], start, tie, best);
    if (best->gap > before && settled(a, b, best, out)) return true;
    out->iterations += smooth(a, b, start, tie, best);
    return settled(a, b, best, out);
}

// the support point along d is the only one
static bool unique(const crConvex* c, crVec3 d) {
    Kinks s = {.circles = 0};
    find_kinks(c, d, 1.0, 1e-9, &s);
    return s.circles == 0 && s.normals == 0;
}

// B's witness on its edge or face, A's moved along: across an ellipsoid's flat side that costs no distance,
// while an error of n there moves the support point far
static void onto(const crConvex* b, crClosest* out) {
    crConvex probe = {.core = CR__POINT, .p = out->b};
    crClosest near;
    crGjk task = {.tol = 0x1p-50, .beyond = (double)INFINITY};
    if (!cr__gjk(&probe, b, &task, &near)) return;
    out->b = near.b;
    out->a = cr_madd(near.b, -out->gap, out->n);
}

// witness points; where faces or lines meet on both sides, the nearest points once B is pushed clear along n
static void witness_polish(const crConvex* a, const crConvex* b, crClosest* out, double* upper) {
    crVec3 n = out->n;
    if (unique(a, n)) {
        out->a = cr__support_here(a, n);
        out->b = cr_madd(out->a, out->gap, n);
        if (a->core == CR__ELLIPSOID && !unique(b, cr_neg(n))) onto(b, out);
    } else if (unique(b, cr_neg(n))) {
        out->b = cr__support_here(b, cr_neg(n));
        out->a = cr_madd(out->b, -out->gap, n);
    } else {
        // GJK's points are off sideways by the root of distance times tolerance: not farther than needed
        double push = 0x1p-4 * cr__pair_scale(a, b) - out->gap;
        crClosest clear;
        crGjk task = {.shift = cr_scale(push, n), .tol = 0x1p-50, .beyond = (double)INFINITY};
        cr__gjk(a, b, &task, &clear);
        out->a = clear.a;
        out->b = cr_madd(clear.b, -push, n);
        // these are points of the shapes, so their distance is a bound from above
        *upper = fmin(*upper, cr_norm(cr_sub(out->b, out->a)));
    }
}

bool cr__improve(const crConvex* a, const crConvex* b, double near, crClosest* out) {
    Best best = {cr__separation_here(a, b, out->n), out->n};
    for (int round = 0; round < 3; round++) {
        Best before = best;
        if (improve(a, b, near, &best, out)) return true;
        // again where it went so far that other kinks may be near
        if (!(best.gap > before.gap) || cr_norm(cr_sub(best.n, before.n)) < 0.5 * near) break;
    }
    return false;
}

void cr__polish(const crConvex* a, const crConvex* b, crClosest* out) {
    double upper = out->gap + out->error;
    if (cr__improve(a, b, NEAR, out)) return;
    double bound = cr_norm(gradient(a, b, out->n));
    witness_polish(a, b, out, &bound);
    out->error = fmax(0.0, (out->gap > 0.0 ? fmin(upper, bound) : upper) - out->gap);
}
