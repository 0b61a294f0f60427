// feature.c - which face, edge or vertex of a piece a surface point lies on, as an id that lasts.
//
// Ids come from where the point is on the shape, not from how it was found, so that they are the same
// whichever shape is called A. Boxes: which of the six faces it lies on (one: face, two: edge, three:
// vertex). Hulls: the vertex, edge or face it is nearest to. Curved shapes: the part (cap, side, apex) and
// the eighth of the circle.
#include "collide/manifold.h"

static uint32_t id(crFeatureKind kind, int index) { return (uint32_t)kind << 28 | (uint32_t)index; }

uint32_t cr__box_feature(crVec3 s, crVec3 x, double extent) {
    int i = cr__box_side(cr__box_rim(s.x, extent), x.x), j = cr__box_side(cr__box_rim(s.y, extent), x.y),
        k = cr__box_side(cr__box_rim(s.z, extent), x.z);
    return cr__box_id(9 * i + 3 * j + k, (i != 0) + (j != 0) + (k != 0));
}

static double edge_distance(crVec3 a, crVec3 b, crVec3 x) {
    crVec3 e = cr_sub(b, a), r = cr_sub(x, a);
    double k = fmin(fmax(cr_dot(r, e) / cr_dot(e, e), 0.0), 1.0);
    return cr_norm(cr_madd(r, -k, e));
}

static bool on_face(const crHull* h, int face, crVec3 x, double tol) {
    return fabs(cr_dot(h->normals[face], x) - h->offsets[face]) <= 2.0 * tol;
}

static uint32_t hull_feature(const crHull* h, crVec3 x, crVec3 d, double tol) {
    int best = 0, edge = -1;
    for (int e = 0; e < h->edge_count; e++) {
        // what is on an edge is on both of its faces, and vertices are on edges
        const crHullEdge* at = &h->edges[e];
        if (!on_face(h, at->left, x, tol) || !on_face(h, at->right, x, tol)) continue;
        crVec3 a = h->vertices[at->a], b = h->vertices[at->b];
        if (cr_norm(cr_sub(x, a)) <= tol) return id(CR_FEATURE_VERTEX, at->a);
        if (cr_norm(cr_sub(x, b)) <= tol) return id(CR_FEATURE_VERTEX, at->b);
        if (edge < 0 && edge_distance(a, b, x) <= tol) edge = e;
    }
    if (edge >= 0) return id(CR_FEATURE_EDGE, edge);
    for (int f = 1; f < h->face_count; f++)
        if (cr_dot(h->normals[f], d) > cr_dot(h->normals[best], d)) best = f;
    return id(CR_FEATURE_FACE, best);
}

static uint32_t triangle_feature(const crConvex* c, crVec3 x, double tol) {
    for (int v = 0; v < 3; v++)
        if (cr_norm(cr_sub(x, c->triangle[v])) <= tol) return id(CR_FEATURE_VERTEX, v);
    for (int e = 0; e < 3; e++)
        if (edge_distance(c->triangle[e], c->triangle[(e + 1) % 3], x) <= tol) return id(CR_FEATURE_EDGE, e);
    return id(CR_FEATURE_FACE, 0);
}

// eighth of the circle around z, the first one centred on +x
static int eighth(crVec3 x) {
    const double narrow = 0.41421356237309504880;  // tangent of pi / 8
    double p = fabs(x.x), q = fabs(x.y);
    int turn = q <= narrow * p ? 0 : p < narrow * q ? 2 : 1;
    if (x.x < 0.0) turn = 4 - turn;
    return x.y < 0.0 ? (8 - turn) & 7 : turn;
}

// parts by height: below -h + tol, above h - tol, between
static uint32_t turned_feature(const crConvex* c, crVec3 x, double tol) {
    double rho = sqrt(x.x * x.x + x.y * x.y), h = c->size.z, r = c->size.x;
    bool low = x.z <= -h + tol, high = x.z >= h - tol;
    if (c->core == CR__CONE && high) return id(CR_FEATURE_VERTEX, 0);
    bool rim = rho >= r - tol && (low || high);
    int part = (low ? 1 : 0) + (high ? 2 : 0);
    if (rim) return id(CR_FEATURE_SMOOTH, 16 + 8 * part + eighth(x));
    return part != 0 ? id(CR_FEATURE_FACE, part) : id(CR_FEATURE_SMOOTH, eighth(x));
}

static uint32_t segment_feature(double h, crVec3 x) {
    return x.z > h * (1.0 - CR__ON)    ? id(CR_FEATURE_VERTEX, 2)
           : x.z < -h * (1.0 - CR__ON) ? id(CR_FEATURE_VERTEX, 1)
                                       : id(CR_FEATURE_EDGE, 0);
}

uint32_t cr__feature(const crConvex* c, crVec3 x, crVec3 d, bool choice) {
    if (choice) return id(CR_FEATURE_CENTRE, 0);
    if (c->core == CR__POINT || c->core == CR__ELLIPSOID || c->core == CR__SUPPORT)
        return id(CR_FEATURE_SMOOTH, 0);
    if (c->core == CR__HALFSPACE) return id(CR_FEATURE_FACE, 0);
    double tol = CR__ON * c->extent;
    crVec3 from = cr_sub(x, c->p);
    if (c->core == CR__TRIANGLE) return triangle_feature(c, from, tol);
    crVec3 local = cr_mat3_mul_t(c->R, from);
    switch (c->core) {
    case CR__BOX:
        return cr__box_feature(c->size, local, c->extent);
    case CR__HULL:
        return hull_feature(c->hull, local, cr_mat3_mul_t(c->R, d), tol);
    case CR__CYLINDER:
    case CR__CONE:
        return turned_feature(c, local, tol);
    default:
        return segment_feature(c->size.z, cr_madd(local, -c->radius, cr_mat3_mul_t(c->R, d)));
    }
}
