// sat.c - polyhedral cores (point, segment, triangle, box, hull): distance by GJK, depth by separating axes.
//
// gap = max over n of min n.b - max n.a; for overlapping polyhedra the maximum is at a face normal of either
// or at a cross product of edges, so all of them are tried (Gottschalk's theorem; for a hull with a
// hull or box only edge pairs whose arcs cross on the Gauss map are). Apart, GJK gives the distance, and an
// axis that agrees with it gives the normal to full precision. Faces win ties. Witness points of an overlap:
// push B out along n until it is clear, ask GJK, and pull back; the nearest points stay the same. Always
// succeeds.
#include "collide/narrow.h"

typedef struct Best {
    double gap;
    crVec3 n;
} Best;

static void try_face(const crConvex* a, const crConvex* b, double sign, Best* best) {
    int count = cr__face_count(a);
    crVec3 centre = cr__centre(b);
    for (int i = 0; i < count; i++) {
        crVec3 n = cr__face_normal(a, i);
        double offset = cr__face_offset(a, i);
        // B's lowest point is no higher than its centre
        if (cr_dot(n, centre) - offset < best->gap) continue;
        double gap = cr_dot(n, cr__support(b, cr_neg(n))) - offset;
        if (gap > best->gap) *best = (Best){gap, cr_scale(sign, n)};
    }
}

static void try_axis(const crConvex* a, const crConvex* b, crVec3 axis, double bias, Best* best) {
    double a_lo, a_hi, b_lo, b_hi;
    cr__range(a, axis, &a_lo, &a_hi);
    cr__range(b, axis, &b_lo, &b_hi);
    if (b_lo - a_hi > best->gap + bias) *best = (Best){b_lo - a_hi, axis};
    if (a_lo - b_hi > best->gap + bias) *best = (Best){a_lo - b_hi, cr_neg(axis)};
}

static void try_edges_sat(const crConvex* a, const crConvex* b, double bias, Best* best) {
    int na = cr__edge_count(a), nb = cr__edge_count(b);
    for (int i = 0; i < na; i++) {
        crVec3 u = cr__edge_direction(a, i);
        for (int j = 0; j < nb; j++) {
            crVec3 axis = cr_cross(u, cr__edge_direction(b, j));
            double length = cr_norm(axis);
            if (length > 1e-10) try_axis(a, b, cr_scale(1.0 / length, axis), bias, best);
        }
    }
}

// flat cores in one plane also separate within it
static void try_in_plane(const crConvex* a, const crConvex* b, double bias, Best* best) {
    const crConvex* flat = a->core == CR__TRIANGLE ? a : b;
    if (flat->core != CR__TRIANGLE) return;
    for (int i = 0; i < 3; i++)
        try_axis(a, b, cr_cross(cr__edge_direction(flat, i), flat->normal), bias, best);
}

// arcs of two edges on the Gauss map cross: p, q the face normals of one edge, r, s those of the other
static bool arcs_cross(crVec3 p, crVec3 q, crVec3 u, crVec3 r, crVec3 s, crVec3 v) {
    // u is along p x q and v along r x s
    double ru = cr_dot(r, u), su = cr_dot(s, u), pv = cr_dot(p, v), qv = cr_dot(q, v);
    return ru * su <= 0.0 && pv * qv <= 0.0 && ru * qv >= 0.0;
}

// an edge with its direction and the normals of its faces, in the working frame or the piece's own
typedef struct Arc {
    crVec3 at, u, p, q;
} Arc;

static int arc_count(const crConvex* c) { return c->core == CR__HULL ? c->hull->edge_count : 12; }

static Arc arc_of(const crConvex* c, int i) {
    Arc x;
    if (c->core == CR__HULL) {
        crHullEdge e = c->hull->edges[i];
        x = (Arc){c->hull->vertices[e.a], cr_sub(c->hull->vertices[e.b], c->hull->vertices[e.a]),
                  c->hull->normals[e.left], c->hull->normals[e.right]};
    } else {
        // four edges along each axis; the faces beside them in the order that makes u point along p x q
        int k = i >> 2, l = (k + 1) % 3, m = (k + 2) % 3;
        double s[3] = {c->size.x, c->size.y, c->size.z}, at[3], u[3] = {0, 0, 0}, p[3] = {0, 0, 0},
               q[3] = {0, 0, 0};
        p[l] = i & 1 ? -1.0 : 1.0;
        q[m] = i & 2 ? -1.0 : 1.0;
        u[k] = p[l] * q[m] * s[k];
        at[k] = -u[k];
        at[l] = p[l] * s[l];
        at[m] = q[m] * s[m];
        x = (Arc){cr_vec3(at[0], at[1], at[2]), cr_vec3(2.0 * u[0], 2.0 * u[1], 2.0 * u[2]),
                  cr_vec3(p[0], p[1], p[2]), cr_vec3(q[0], q[1], q[2])};
    }
    x.at = cr_add(c->p, cr_mat3_mul(c->R, x.at));
    x.u = cr_mat3_mul(c->R, x.u);
    x.p = cr_mat3_mul(c->R, x.p);
    x.q = cr_mat3_mul(c->R, x.q);
    return x;
}

#define SIDES 256  // faces of a hull whose sides of an edge are looked up

// Which faces of c look at the other's centre by more than `least` < 0. An axis of an edge lies between the
// normals p and q of its faces and separates by no more than max(p.r, q.r), r from the edge to that centre:
// edges whose faces both look away cannot do better than `least`.
static void find_looking(const crConvex* c, crVec3 centre, double least, bool looking[SIDES]) {
    crVec3 x = cr_mat3_mul_t(c->R, cr_sub(centre, c->p));
    for (int f = 0; f < c->hull->face_count && f < SIDES; f++)
        looking[f] = least >= 0.0 || cr_dot(c->hull->normals[f], x) - c->hull->offsets[f] > least;
}

// edge x of A against the hull B's edges that look at A and whose arcs cross it
static void try_arc(const crConvex* a, const crConvex* b, const Arc* x, const bool looking[SIDES],
                    double bias, Best* best) {
    const crHull* k = b->hull;
    crVec3 lp = cr_mat3_mul_t(b->R, x->p), lq = cr_mat3_mul_t(b->R, x->q), lu = cr_mat3_mul_t(b->R, x->u);
    double side[SIDES];
    bool table = k->face_count <= SIDES;
    for (int f = 0; f < k->face_count && table; f++)
        side[f] = cr_dot(k->normals[f], lu);
    for (int j = 0; j < k->edge_count; j++) {
        crHullEdge f = k->edges[j];
        if (table && (side[f.left] * side[f.right] > 0.0 || !(looking[f.left] || looking[f.right]))) continue;
        crVec3 v = cr_sub(k->vertices[f.b], k->vertices[f.a]);
        crVec3 r = cr_neg(k->normals[f.left]), s = cr_neg(k->normals[f.right]);
        if (!arcs_cross(lp, lq, lu, r, s, v)) continue;
        crVec3 axis = cr_cross(x->u, cr_mat3_mul(b->R, v));
        double length = cr_norm(axis);
        if (!(length > 1e-10 * cr_norm(x->u) * cr_norm(v))) continue;
        axis = cr_scale(1.0 / length, axis);
        // out of A: towards both of its face normals
        if (cr_dot(axis, cr_add(x->p, x->q)) < 0.0) axis = cr_neg(axis);
        crVec3 on_b = cr_add(b->p, cr_mat3_mul(b->R, k->vertices[f.a]));
        double gap = cr_dot(axis, cr_sub(on_b, x->at));
        // a pair accepted by rounding alone would overstate the gap: ask the whole shapes
        if (gap > best->gap + bias) try_axis(a, b, axis, bias, best);
    }
}

// B is a hull, A a box or a hull; sign -1: they are called the other way round by the caller
static void try_arcs(const crConvex* a, const crConvex* b, double sign, double bias, Best* best) {
    best->n = cr_scale(sign, best->n);
    crVec3 centre = cr__centre(b);
    bool looking[SIDES];
    double least = best->gap;
    find_looking(b, cr__centre(a), least, looking);
    for (int i = 0; i < arc_count(a); i++) {
        Arc x = arc_of(a, i);
        crVec3 r = cr_sub(centre, x.at);
        if (least < 0.0 && cr_dot(x.p, r) <= least && cr_dot(x.q, r) <= least) continue;
        try_arc(a, b, &x, looking, bias, best);
    }
    best->n = cr_scale(sign, best->n);
}

// the best of the axes within tol of n: face normals, and products of edges that run across n
static Best near_axes(const crConvex* a, const crConvex* b, crVec3 n, double tol) {
    Best best = {-(double)INFINITY, {0, 0, 0}};
    for (int side = 0; side < 2; side++) {
        const crConvex* c = side == 0 ? a : b;
        for (int i = 0; i < cr__face_count(c); i++) {
            crVec3 m = cr_scale(side == 0 ? 1.0 : -1.0, cr__face_normal(c, i));
            if (cr_norm(cr_sub(m, n)) <= tol) try_axis(a, b, m, 0.0, &best);
        }
    }
    for (int i = 0; i < cr__edge_count(a); i++) {
        crVec3 u = cr__edge_direction(a, i);
        if (fabs(cr_dot(u, n)) > 2.0 * tol) continue;
        for (int j = 0; j < cr__edge_count(b); j++) {
            crVec3 v = cr__edge_direction(b, j);
            if (fabs(cr_dot(v, n)) > 2.0 * tol) continue;
            crVec3 axis = cr_cross(u, v);
            double length = cr_norm(axis);
            if (length > 1e-10) try_axis(a, b, cr_scale(1.0 / length, axis), 0.0, &best);
        }
    }
    try_in_plane(a, b, 0.0, &best);
    return best;
}

// the best of all axes; the separation of B from A along it
static Best all_axes(const crConvex* a, const crConvex* b, double bias) {
    Best best = {-(double)INFINITY, {0, 0, 1}};
    if (a->core == CR__BOX && b->core == CR__BOX) {
        crBoxAxis axis = cr__box_axis(a, b, bias);
        return (Best){axis.gap, axis.n};
    }
    try_face(a, b, 1.0, &best);
    try_face(b, a, -1.0, &best);
    if (a->core == CR__HULL && b->core == CR__HULL)
        try_arcs(a, b, 1.0, bias, &best);
    else if (a->core == CR__HULL && b->core == CR__BOX)
        try_arcs(b, a, -1.0, bias, &best);
    else
        try_edges_sat(a, b, bias, &best);
    try_in_plane(a, b, bias, &best);
    return best;
}

static void overlap(const crConvex* a, const crConvex* b, double scale, crClosest* out) {
    Best best = all_axes(a, b, CR__EQUAL * scale);
    out->n = best.n;
    out->gap = best.gap;
    out->error = 0.0;
    // witness points with B pushed clear of A
    double push = scale - best.gap;
    crClosest clear;
    crGjk task = {.shift = cr_scale(push, best.n), .tol = CR__EXACT, .beyond = (double)INFINITY};
    cr__gjk(a, b, &task, &clear);
    out->a = clear.a;
    out->b = cr_madd(clear.b, -push, best.n);
}

void cr__poly(const crConvex* a, const crConvex* b, double beyond, crClosest* out) {
    double scale = cr__pair_scale(a, b), tiny = 0x1p-43 * scale;
    *out = (crClosest){.gap = 0.0};
    if (cr__flat(a, b, beyond, 0x1p-46, out)) return;
    *out = (crClosest){.gap = 0.0};
    crGjk task = {.tol = CR__EXACT, .beyond = beyond};
    bool apart = cr__gjk(a, b, &task, out);
    if (out->no_witness) return;
    if (!apart || out->gap < tiny) {
        overlap(a, b, scale, out);
        return;
    }
    // GJK's normal has an error of rounding / gap: an axis within that of it is the normal itself
    if (out->gap > 0.1 * scale) return;
    double tol = 0x1p-48 * scale / out->gap;
    Best axis = near_axes(a, b, out->n, tol);
    if (cr_norm(cr_sub(axis.n, out->n)) <= tol) {
        out->error = fmax(0.0, out->gap - axis.gap);
        out->gap = axis.gap;
        out->n = axis.n;
    }
}
