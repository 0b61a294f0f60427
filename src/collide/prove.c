// prove.c - that a normal is the best one, from a few points of D = B - A around the one it separates by.
//
// Any points of D bound the separation along any direction m from above: it is at most the least m.w. Along n
// the gap is g; with m at the angle beta to n, and points w_i of D that lie around the normal line at no less
// than rho from it and at heights of at most g + drop,
//
//     s(m) <= (g + drop) cos(beta) - rho sin(beta),        beta <= 90 degrees.
//
// Apart, the corner of the w_i that the line goes through is drop above g at most: the gap is known within
// that. Overlapping, s(m) <= g + drop while |g| tan(beta / 2) <= rho, and s(m) <= g where drop <= (rho - |g|
// tan(beta / 2)) tan(beta): a narrow ring covers small angles, a wide one the rest up to 90 degrees, and the
// difference of the centres what is behind. Points come from support points along directions near n, which
// run around the line in order.
//
// Overlapping, a ball often shows it at once: a point of one core that is as deep inside the other as the gap says has as far to
// go in every direction. Fails: error = INFINITY where neither shows it.
#include "collide/support.h"

#define SIDES   4
#define CORNERS 12
#define FINE    0x1p-23  // sines between n and the directions of a ring: flat to rounding,
#define NARROW  0x1p-17  // to what is asked of overlaps,
#define WIDE    0x1p-2   // and the widest
#define SLACK   0x1p-48  // part of the pair's size by which a ball may stand out

typedef struct Ring {
    int count;
    crVec3 a[CORNERS], b[CORNERS];
    double x[CORNERS], y[CORNERS], high[CORNERS];  // of b - a across n and along it
    double rho, drop;
} Ring;

typedef struct Around {
    const crConvex *a, *b;
    crVec3 n, t, u;
    double gap;
} Around;

// corner i: what supports A along n + x t + y u, and B the other way
static void set_corner(const Around* c, double x, double y, int i, Ring* r) {
    crVec3 d = cr_madd(cr_madd(c->n, x, c->t), y, c->u);
    r->a[i] = cr__support_here(c->a, d);
    r->b[i] = cr__support_here(c->b, cr_neg(d));
    crVec3 w = cr_sub(r->b[i], r->a[i]);
    r->x[i] = cr_dot(c->t, w);
    r->y[i] = cr_dot(c->u, w);
    r->high[i] = cr_dot(c->n, w);
}

// rho and drop; the side that the line is farthest outside of, or least inside
static int measure(double gap, Ring* r) {
    int nearest = 0;
    r->rho = (double)INFINITY;
    r->drop = 0.0;
    for (int i = 0; i < r->count; i++) {
        int next = i + 1 < r->count ? i + 1 : 0;
        double ex = r->x[next] - r->x[i], ey = r->y[next] - r->y[i], length = sqrt(ex * ex + ey * ey);
        double in = length > 0.0 ? (r->x[i] * ey - r->y[i] * ex) / length : (double)INFINITY;
        double drop = r->high[i] - gap;
        if (in < r->rho) {
            nearest = i;
            r->rho = in;
        }
        if (drop > r->drop) r->drop = drop;
    }
    // all the same point
    if (!(r->rho < (double)INFINITY)) r->rho = 0.0;
    return nearest;
}

static void look_around(const Around* c, double sine, Ring* r) {
    const double p = 0.92387953251128676, q = 0.38268343236508977;  // cosine and sine of pi / 8
    const double along[SIDES] = {p, -q, -p, q}, across[SIDES] = {q, p, -q, -p};
    r->count = SIDES;
    for (int i = 0; i < SIDES; i++)
        set_corner(c, sine * along[i], sine * across[i], i, r);
    // a line outside of them: sharp corners lie between the directions, and arcs beyond their chords
    for (int i = measure(c->gap, r); r->rho < 0.0 && r->count < CORNERS; i = measure(c->gap, r)) {
        int next = i + 1 < r->count ? i + 1 : 0;
        double ex = r->x[next] - r->x[i], ey = r->y[next] - r->y[i], by = sine / sqrt(ex * ex + ey * ey);
        for (int k = r->count++; k > i + 1; k--) {
            r->a[k] = r->a[k - 1];
            r->b[k] = r->b[k - 1];
            r->x[k] = r->x[k - 1];
            r->y[k] = r->y[k - 1];
            r->high[k] = r->high[k - 1];
        }
        set_corner(c, -by * ey, by * ex, i + 1, r);
    }
}

// the triangle of a ring's points that the line goes through, and what A and B have there
static bool through(const Ring* r, crClosest* out) {
    for (int i = 1; i + 1 < r->count; i++) {
        int k = i + 1;
        double w0 = r->x[i] * r->y[k] - r->y[i] * r->x[k], wi = r->x[k] * r->y[0] - r->y[k] * r->x[0],
               wk = r->x[0] * r->y[i] - r->y[0] * r->x[i], all = w0 + wi + wk;
        if (!(w0 >= 0.0 && wi >= 0.0 && wk >= 0.0 && all > 0.0)) continue;
        w0 /= all;
        wi /= all;
        wk /= all;
        out->a = cr_madd(cr_madd(cr_scale(w0, r->a[0]), wi, r->a[i]), wk, r->a[k]);
        out->b = cr_madd(cr_madd(cr_scale(w0, r->b[0]), wi, r->b[i]), wk, r->b[k]);
        return true;
    }
    return false;
}

// directions behind, by the difference of the centres, where a ring does not show them
static bool behind(const Around* c, double rho) {
    crVec3 w = cr_sub(cr__centre(c->b), cr__centre(c->a));
    double y = -c->gap / rho, high = cr_dot(c->n, w), wide = cr_norm(cr_madd(w, -high, c->n));
    return high * (1.0 - y * y) - 2.0 * y * wide >= -c->gap * (1.0 + y * y);
}

// wider and wider rings, each from the angle up to which the last one showed it
static bool overlapping(const Around* c, double sine, const Ring* ring) {
    double depth = -c->gap, rho = ring->rho, from = rho / depth;
    if (!(rho > 0.0)) return false;
    while (!(from >= 1.0 && behind(c, rho))) {
        Ring wider;
        sine *= 0x1p5;
        if (sine > WIDE) return false;
        look_around(c, sine, &wider);
        // drop <= 2 x (rho - depth x) for x from `from` to the larger root
        double square = wider.rho * wider.rho - 2.0 * depth * wider.drop;
        bool shows = square >= 0.0 && wider.drop <= 2.0 * from * (wider.rho - depth * from);
        if (!(wider.rho > 0.0) || !(from >= 1.0 || shows)) continue;
        rho = wider.rho;
        if (from < 1.0) from = (rho + sqrt(square)) / (2.0 * depth);
    }
    return true;
}

// all around n the same point but for what a curved surface moves by
static bool one_point(const crVec3* x, int count, crVec3 at, double most) {
    for (int i = 0; i < count; i++)
        if (!(cr_norm(cr_sub(x[i], at)) <= most)) return false;
    return true;
}

// true if a ball lies inside a core, whose outward normal nearest to it is n; up to `slack`
static bool holds_ball(const crConvex* c, crVec3 n, crVec3 centre, double radius, double slack) {
    crVec3 s = c->size, x = cr_mat3_mul_t(c->R, cr_sub(centre, c->p));
    double in = radius - slack, across, least, most;
    switch (c->core) {
    case CR__BOX:
        return fabs(x.x) + in <= s.x && fabs(x.y) + in <= s.y && fabs(x.z) + in <= s.z;
    case CR__CYLINDER:
        return fabs(x.z) + in <= s.z && in <= s.x && x.x * x.x + x.y * x.y <= (s.x - in) * (s.x - in);
    case CR__CONE:
        across = sqrt(x.x * x.x + x.y * x.y);
        return in - x.z <= s.z &&
               2.0 * s.z * across + s.x * (x.z - s.z) <= -in * sqrt(s.x * s.x + 4.0 * s.z * s.z);
    case CR__HULL:
        for (int i = 0; i < c->hull->face_count; i++)
            if (!(cr_dot(c->hull->normals[i], x) + in <= c->hull->offsets[i])) return false;
        return true;
    case CR__ELLIPSOID:
        // a ball of the least radius of curvature rolls inside (Blaschke)
        least = fmin(s.x, fmin(s.y, s.z));
        most = fmax(s.x, fmax(s.y, s.z));
        return radius * most <= least * least &&
               cr_norm(cr_sub(cr_madd(centre, radius, n), cr__support_here(c, n))) <= slack;
    default:
        return false;
    }
}

static bool is_one_vertex(const crVec3* points, int count, crVec3 l, double near) {
    double most = cr_dot(points[0], l), next = -(double)INFINITY;
    for (int i = 1; i < count; i++) {
        double value = cr_dot(points[i], l);
        next = value > most ? most : value > next ? value : next;
        most = value > most ? value : most;
    }
    return most - next > near;
}

// true if one point of a core, and none near to it, supports all directions around d
static bool is_corner(const crConvex* c, crVec3 d) {
    const double near = 0x1p-14;
    crVec3 l = cr_mat3_mul_t(c->R, d), s = c->size;
    double across = l.x * l.x + l.y * l.y;
    switch (c->core) {
    case CR__BOX:
        return fabs(l.x) > near && fabs(l.y) > near && fabs(l.z) > near;
    case CR__CYLINDER:
        return fabs(l.z) > near && across > near * near;
    case CR__CONE:
        across = sqrt(across);
        return across > near && fabs(2.0 * s.z * l.z - s.x * across) > near * (s.x + s.z);
    case CR__HULL:
        return is_one_vertex(c->hull->vertices, c->hull->vertex_count, l, near * c->extent);
    case CR__ELLIPSOID:
        return true;
    default:
        return false;
    }
}

// True if x of A or y of B, both farthest along the normal, is as far from the other core, or as deep inside it, as the gap says.
// Sets the witness points.
static bool is_deep_point(const crConvex* a, const crConvex* b, crVec3 x, crVec3 y, bool point, double slack,
                          crClosest* out) {
    crVec3 n = out->n, back = cr_neg(n);
    // the foot of the point where the cores are apart, else the point
    double off = out->gap > 0.0 ? out->gap : 0.0, depth = off - out->gap;
    if (holds_ball(b, back, cr_madd(x, off, n), depth, slack) && is_corner(a, n)) {
        out->b = point ? y : cr_madd(x, out->gap, n);
    } else if (holds_ball(a, n, cr_madd(y, -off, n), depth, slack) && is_corner(b, back)) {
        out->a = point ? x : cr_madd(y, -out->gap, n);
    } else {
        return false;
    }
    out->error = slack;
    return true;
}

void cr__prove(const crConvex* a, const crConvex* b, crClosest* out) {
    crMat3 frame = cr_frame(out->n);
    Around c = {a, b, out->n, cr_mat3_column(frame, 1), cr_mat3_column(frame, 2), out->gap};
    crVec3 x = cr__support_here(a, out->n), y = cr__support_here(b, cr_neg(out->n)), w = cr_sub(y, x);
    double scale = cr__pair_scale(a, b);
    bool apart = out->gap > 0.0, point = cr_norm(cr_madd(w, -out->gap, out->n)) <= 0x1p-46 * scale;
    double sine = apart ? FINE : NARROW;
    Ring ring;
    out->a = x;
    out->b = y;
    if (!(apart && point) && is_deep_point(a, b, x, y, point, SLACK * scale, out)) return;
    if (!apart || !point) look_around(&c, sine, &ring);
    // a corner that is hardly one: nearer
    if (!apart && ring.drop > CR__DEPTH * scale) look_around(&c, sine = FINE, &ring);
    out->error = (double)INFINITY;
    if (!point && !through(&ring, out)) return;
    if (apart)
        out->error = fmax(0.0, cr_norm(cr_sub(out->b, out->a)) - out->gap);
    else if (overlapping(&c, sine, &ring))
        out->error = ring.drop;
    if (point) return;
    if (one_point(ring.a, ring.count, x, 8.0 * sine * a->extent)) {
        out->a = x;
        out->b = cr_madd(x, out->gap, out->n);
    } else if (one_point(ring.b, ring.count, y, 8.0 * sine * b->extent)) {
        out->b = y;
        out->a = cr_madd(y, -out->gap, out->n);
    }
}
