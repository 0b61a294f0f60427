// manifold.c - contacts of two convex pieces: support faces clipped against each other along the normal.
//
// With the closest pair and its normal n known, the support faces of A along n and of B along -n are
// intersected in projection along n (Sutherland and Hodgman); each corner of the intersection is a contact
// whose gap is measured along n between the two faces. The closest pair itself is added where no corner is as
// deep. All corners of two boxes are kept: a choice among them would follow the last digits of their gaps and
// change with every step of a heap at rest. Of more than eight the flattest go. No failure: where faces do
// not overlap the closest pair is the only contact.
#include "collide/manifold.h"

#define CLIP_MAX (2 * CR__FACE_MAX + 2)
#define TOUCH    1e-9   // corners this near to a side are on it, relative to the smaller piece
#define SAME     1e-7   // corners this near to each other are one, likewise
#define DEEPER   1e-12  // gaps that differ by more are different, likewise
#define PARALLEL 0.02   // tangent between edges that may meet in two points
#define BESIDE   1e-3   // how far they run beside each other there, relative to the smaller piece

typedef struct Candidate {
    crVec3 a, b;
    double gap;
} Candidate;

// plane of a polygon by Newell's sum
static crVec3 polygon_normal(const crVec3* p, int count) {
    crVec3 sum = {0, 0, 0};
    for (int i = 1; i + 1 < count; i++)
        sum = cr_add(sum, cr_cross(cr_sub(p[i], p[0]), cr_sub(p[i + 1], p[0])));
    return sum;
}

// keep the part of a polygon, segment or point with side.x >= offset
static int clip_manifold(crVec3* p, int count, crVec3 side, double offset, double tol) {
    crVec3 out[CLIP_MAX];
    double over[CLIP_MAX + 1], least = (double)INFINITY;
    for (int i = 0; i < count; i++) {
        over[i] = cr_dot(side, p[i]) - offset;
        if (over[i] < least) least = over[i];
    }
    if (least >= -tol) return count;
    over[count] = over[0];
    int kept = 0;
    for (int i = 0; i < count; i++) {
        crVec3 at = p[i], next = p[i + 1 < count ? i + 1 : 0];
        double here = over[i], there = over[i + 1];
        if (here >= -tol && kept < CLIP_MAX) out[kept++] = at;
        // a segment is a polygon of two corners: its only edge is walked once
        bool edge = count > 2 || (count == 2 && i == 0);
        bool crosses = (here < -tol && there > tol) || (here > tol && there < -tol);
        if (edge && crosses && kept < CLIP_MAX)
            out[kept++] = cr_madd(at, here / (here - there), cr_sub(next, at));
    }
    for (int i = 0; i < kept; i++)
        p[i] = out[i];
    return kept;
}

// clip the other face against the sides of a polygon that runs counterclockwise about `up`
static int clip_all(const crVec3* face, int sides, crVec3 up, crVec3* p, int count, double tol) {
    for (int i = 0; i < sides && count > 0; i++) {
        crVec3 e = cr_sub(face[i + 1 < sides ? i + 1 : 0], face[i]);
        crVec3 inward = cr_cross(up, e);
        double length = cr_norm(inward);
        if (!(length > 0.0)) continue;
        inward = cr_scale(1.0 / length, inward);
        count = clip_manifold(p, count, inward, cr_dot(inward, face[i]), tol);
    }
    return count;
}

// faces of A and B where one at least is a polygon
static int polygons(const crVec3* fa, int na, const crVec3* fb, int nb, crVec3 n, double tol,
                    Candidate* out) {
    bool a_is_base = na >= 3 && (nb < 3 || na >= nb);
    const crVec3* base = a_is_base ? fa : fb;
    int sides = a_is_base ? na : nb, count = a_is_base ? nb : na;
    crVec3 p[CLIP_MAX], up = a_is_base ? n : cr_neg(n), m = polygon_normal(base, sides);
    for (int i = 0; i < count; i++)
        p[i] = a_is_base ? fb[i] : fa[i];
    count = clip_all(base, sides, up, p, count, tol);
    double facing = cr_dot(m, up);
    if (!(facing > 0.0)) return 0;
    for (int i = 0; i < count; i++) {
        double over = cr_dot(m, cr_sub(p[i], base[0])) / facing;
        crVec3 foot = cr_madd(p[i], -over, up);
        out[i] = a_is_base ? (Candidate){foot, p[i], over} : (Candidate){p[i], foot, over};
    }
    return count;
}

// two edges that run nearly in parallel: the ends of what they share, seen along n, and only as far as they
// run beside each other within `beside`, so that the middle lies on both within half of that
static int edges(const crVec3* fa, const crVec3* fb, crVec3 n, double beside, Candidate* out) {
    crVec3 u = cr_sub(fa[1], fa[0]), v = cr_sub(fb[1], fb[0]), from = cr_sub(fb[0], fa[0]);
    crVec3 side = cr_cross(n, u), along = cr_cross(side, n);
    double uu = cr_dot(along, u), uv = cr_dot(along, v), vside = cr_dot(side, v);
    if (!(uu > 0.0) || !(fabs(vside) < PARALLEL * fabs(uv))) return 0;
    // b(s) = b0 + t v opposite a(s) = a0 + s u has t = (s - s0) uu / uv; off(s) = off0 + s slant to the side
    double s0 = cr_dot(from, along) / uu, s1 = s0 + uv / uu, wide = beside * sqrt(uu);
    double lo = fmax(0.0, fmin(s0, s1)), hi = fmin(1.0, fmax(s0, s1));
    double slant = vside * (uu / uv), off0 = cr_dot(from, side) - s0 * slant;
    if (slant != 0.0) {
        double x = (-wide - off0) / slant, y = (wide - off0) / slant;
        lo = fmax(lo, fmin(x, y));
        hi = fmin(hi, fmax(x, y));
    } else if (!(fabs(off0) <= wide)) {
        return 0;
    }
    if (!(hi > lo)) return 0;
    for (int i = 0; i < 2; i++) {
        double s = i == 0 ? lo : hi, t = fmin(fmax((s - s0) * (uu / uv), 0.0), 1.0);
        crVec3 a = cr_madd(fa[0], s, u), b = cr_madd(fb[0], t, v);
        out[i] = (Candidate){a, b, cr_dot(n, cr_sub(b, a))};
    }
    return 2;
}

// square of twice the area of the triangle of corner i and its neighbours
static double flatness(const Candidate* c, int count, int i) {
    crVec3 before = c[i > 0 ? i - 1 : count - 1].a, after = c[i + 1 < count ? i + 1 : 0].a;
    crVec3 area = cr_cross(cr_sub(c[i].a, before), cr_sub(after, before));
    return cr_dot(area, area);
}

// corners that are too many: the flattest go one by one, never the deepest, whose place is returned
static int thin_out(Candidate* c, int* count, int deepest) {
    double size[CLIP_MAX + 1];
    int left = *count;
    for (int i = 0; i < left; i++)
        size[i] = flatness(c, left, i);
    while (left > CR_MANIFOLD_MAX) {
        int out = deepest > 0 ? 0 : 1;
        for (int i = out + 1; i < left; i++)
            if (i != deepest && size[i] < size[out] * (1.0 - 1e-9)) out = i;
        left--;
        for (int i = out; i < left; i++) {
            c[i] = c[i + 1];
            size[i] = size[i + 1];
        }
        if (out < deepest) deepest--;
        int before = out > 0 ? out - 1 : left - 1, after = out < left ? out : 0;
        size[before] = flatness(c, left, before);
        size[after] = flatness(c, left, after);
    }
    *count = left;
    return deepest;
}

// the deepest first
static int reduce_manifold(Candidate* c, int count) {
    int deepest = 0;
    for (int i = 1; i < count; i++)
        if (c[i].gap < c[deepest].gap) deepest = i;
    if (count > CR_MANIFOLD_MAX) deepest = thin_out(c, &count, deepest);
    Candidate t = c[0];
    c[0] = c[deepest];
    c[deepest] = t;
    return count;
}

static double square(crVec3 x, crVec3 y) { return cr_dot(cr_sub(x, y), cr_sub(x, y)); }

// corners closer than tol are one, the deepest of them
static int merge_manifold(Candidate* c, int count, double margin, double tol, double deeper) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool keep = c[i].gap <= margin;
        for (int k = 0; k < kept && keep; k++) {
            keep = square(c[k].a, c[i].a) > tol * tol || square(c[k].b, c[i].b) > tol * tol;
            if (!keep && c[i].gap < c[k].gap - deeper) c[k] = c[i];
        }
        if (keep) c[kept++] = c[i];
    }
    return kept;
}

// sine between a support face or edge and the plane across n
static double slope(const crVec3* p, int count, crVec3 n) {
    if (count < 2) return 0.0;
    crVec3 along = count == 2 ? cr_sub(p[1], p[0]) : polygon_normal(p, count);
    crVec3 across = cr_cross(along, n);
    double sine = count == 2 ? fabs(cr_dot(along, n)) : cr_norm(across);
    return sine / cr_norm(along);
}

double cr__faces_slope(const crConvex* a, const crConvex* b, crVec3 n) {
    crVec3 face[CR__FACE_MAX];
    double most = 0.0;
    if (a->core == CR__POINT || b->core == CR__POINT) return 0.0;
    if (a->core != CR__HALFSPACE) most = slope(face, cr__support_face(a, n, face), n);
    if (b->core != CR__HALFSPACE) most = fmax(most, slope(face, cr__support_face(b, cr_neg(n), face), n));
    return most;
}

// its support face is an octagon for a disc
static bool is_round(const crConvex* c) { return c->core == CR__CYLINDER || c->core == CR__CONE; }

static int candidates(const crConvex* a, const crConvex* b, crVec3 n, double scale, Candidate* out,
                      crLeftOut* left_out) {
    crVec3 fa[CR__FACE_MAX], fb[CR__FACE_MAX];
    fa[0] = fb[0] = cr_vec3(0, 0, 0);
    int na = 0, nb = 0, count = 0;
    if (a->core != CR__HALFSPACE) na = cr__support_face(a, n, fa);
    if (b->core != CR__HALFSPACE) nb = cr__support_face(b, cr_neg(n), fb);
    left_out->corners = (is_round(a) && na > 2) || (is_round(b) && nb > 2);
    if (na == 0 || nb == 0) {
        // a half-space meets every corner of the other's face
        const crConvex* plane = na == 0 ? a : b;
        const crVec3* face = na == 0 ? fb : fa;
        for (count = 0; count < na + nb; count++) {
            double gap = cr_dot(plane->size, face[count]) - plane->offset;
            crVec3 foot = cr_madd(face[count], -gap, plane->size);
            out[count] = na == 0 ? (Candidate){foot, face[count], gap} : (Candidate){face[count], foot, gap};
        }
        return count;
    }
    if (na >= 3 || nb >= 3) return polygons(fa, na, fb, nb, n, TOUCH * scale, out);
    if (na == 2 && nb == 2) return edges(fa, fb, n, BESIDE * scale, out);
    return 0;
}

static int write_contacts(const crConvex* a, const crConvex* b, const crClosest* closest, const Candidate* c,
                          int count, crContactPoint* contacts) {
    crVec3 n = closest->n;
    for (int i = 0; i < count; i++) {
        crVec3 middle = cr_scale(0.5, cr_add(c[i].a, c[i].b));
        contacts[i] = (crContactPoint){
            .gap = c[i].gap,
            .normal = n,
            .point = middle,
            .on_a = cr_madd(middle, -0.5 * c[i].gap, n),
            .on_b = cr_madd(middle, 0.5 * c[i].gap, n),
            .child_a = a->child,
            .child_b = b->child,
            .feature_a = cr__feature(a, c[i].a, n, closest->choice),
            .feature_b = cr__feature(b, c[i].b, cr_neg(n), closest->choice),
        };
    }
    return cr__tell_apart(contacts, count);
}

int cr__tell_apart(crContactPoint* contacts, int count) {
    for (int i = 1; i < count; i++)
        for (int k = 0; k < i; k++)
            if (contacts[k].feature_a == contacts[i].feature_a &&
                contacts[k].feature_b == contacts[i].feature_b) {
                contacts[i].feature_a += UINT32_C(1) << 24;
                k = -1;
            }
    return count;
}

int cr__manifold(const crConvex* a, const crConvex* b, const crClosest* closest, double margin,
                 crContactPoint contacts[CR_MANIFOLD_MAX], crLeftOut* left_out) {
    if (closest->gap > margin) return 0;
    Candidate c[CLIP_MAX + 1];
    *left_out = (crLeftOut){.far = false};
    if (a->core == CR__POINT || b->core == CR__POINT) {
        c[0] = (Candidate){closest->a, closest->b, closest->gap};
        return write_contacts(a, b, closest, c, 1, contacts);
    }
    double scale = fmin(a->core == CR__HALFSPACE ? (double)INFINITY : a->extent + a->radius,
                        b->core == CR__HALFSPACE ? (double)INFINITY : b->extent + b->radius);
    double tol = TOUCH * scale;
    crVec3 n = closest->n;
    int count = candidates(a, b, n, scale, c, left_out);
    double deepest = (double)INFINITY, farthest = -(double)INFINITY;
    for (int i = 0; i < count; i++) {
        if (c[i].gap < deepest) deepest = c[i].gap;
        if (c[i].gap > farthest) farthest = c[i].gap;
    }
    if (!(deepest <= closest->gap + tol)) {
        if (closest->no_witness) return -1;
        // first, so that it stays where a corner coincides with it
        for (int i = count++; i > 0; i--)
            c[i] = c[i - 1];
        c[0] = (Candidate){closest->a, closest->b, closest->gap};
    }
    int corners = merge_manifold(c, count, margin, SAME * scale, DEEPER * scale);
    count = reduce_manifold(c, corners);
    left_out->corners |= corners > count;
    left_out->far = farthest > margin;
    return write_contacts(a, b, closest, c, count, contacts);
}
