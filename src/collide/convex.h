// convex.h - one convex piece as the algorithms see it: a core placed in the working frame, and a ball added.
//
// Sphere and capsule are a point and a segment with a radius; every other core has radius 0. The working
// frame has the world's axes and its origin near the pair, so that far from the world's origin no digits are
// lost.
#ifndef CAROM_COLLIDE_CONVEX_H
#define CAROM_COLLIDE_CONVEX_H

#include "carom/near.h"

typedef enum crCore {
    CR__POINT,
    CR__SEGMENT,
    CR__TRIANGLE,
    CR__BOX,
    CR__HULL,
    CR__CYLINDER,
    CR__CONE,
    CR__ELLIPSOID,
    CR__SUPPORT,  // a support function is all that is known
    CR__HALFSPACE,
} crCore;

typedef struct crConvex {
    crCore core;
    int child;           // index of the piece in its shape
    double radius;       // of the ball added, m
    double extent;       // largest distance of the core from p, m
    crQuat q;            // local to working axes
    crMat3 R;            // the same, not set for a point
    crVec3 p;            // centre in the working frame
    crVec3 size;         // as in crShape; half-space: its normal in working axes
    double offset;       // half-space: normal.x = offset, working frame
    crVec3 triangle[3];  // relative to p, working axes
    crVec3 normal;       // triangle: unit, outward
    bool deep;           // triangle of a height field: all below it is solid
    const crHull* hull;
    crVec3 (*support)(crVec3 size, crVec3 d);  // of CR__SUPPORT
} crConvex;

// A hull edge between vertices a and b; its faces see it as a-b (left) and b-a (right).
typedef struct crHullEdge {
    int a, b, left, right;
} crHullEdge;

struct crHull {
    crAllocator allocator;
    size_t bytes;
    int vertex_count, face_count, edge_count, direction_count;
    crVec3* vertices;    // (vertex_count)
    int* face_first;     // into face_loop (face_count + 1)
    int* face_loop;      // vertex indices
    crVec3* normals;     // unit outward (face_count)
    double* offsets;     // normal.x = offset on the face (face_count)
    crHullEdge* edges;   // (edge_count)
    crVec3* directions;  // unit, no two parallel (direction_count)
    crVec3 centre;       // mean of the vertices
    double extent;       // largest |vertex|
};

// Whether there is a shape with all its kind needs: it passed cr_shape_check, or is at least no pointer to nothing.
static inline bool cr__shape_given(const crShape* s) {
    return s != NULL && (unsigned)s->kind < CR_SHAPE_KINDS &&
           (s->kind < CR_SHAPE_HULL || s->data.hull != NULL);
}

static inline bool cr__is_poly(crCore core) { return core <= CR__HULL; }

// The convex shape at pose (of the shape itself) less origin. Not for meshes, height fields and compounds.
void cr__convex_set(crConvex* c, const crShape* shape, const crPose* pose, crVec3 origin);
// Radius about the origin of a convex shape's own pose that holds it; not for half-spaces.
double cr__shape_extent(const crShape* shape);
// Unit normal of a half-space turned by q.
crVec3 cr__plane_normal(const crShape* plane, crQuat q);
// Its pose in the world; its rotation as a matrix.
crPose cr__shape_pose(const crShape* shape, const crPose* body);
// The same by its address: the body's pose where the shape sits at the body's origin, else `room`.
static inline const crPose* cr__shape_at(const crShape* shape, const crPose* body, crPose* room) {
    const crPose* s = &shape->pose;
    bool turned = s->q.x != 0.0 || s->q.y != 0.0 || s->q.z != 0.0 || s->q.w != 1.0;
    if (!turned && s->p.x == 0.0 && s->p.y == 0.0 && s->p.z == 0.0) return body;
    *room = cr__shape_pose(shape, body);
    return room;
}
crMat3 cr__rotation(crQuat q);
void cr__convex_triangle(crConvex* c, const crVec3 corners[3], int child);

// Farthest point of the core along d (need not be unit, must not be zero).
crVec3 cr__support(const crConvex* c, crVec3 d);
// Least and largest d.x over the core.
void cr__range(const crConvex* c, crVec3 d, double* lo, double* hi);
// The same over some points.
void cr__points_range(const crVec3* points, int count, crVec3 d, double* lo, double* hi);
// A point inside the core.
crVec3 cr__centre(const crConvex* c);

// Flat faces of point, segment, triangle, box and hull.
int cr__face_count(const crConvex* c);
crVec3 cr__face_normal(const crConvex* c, int i);
double cr__face_offset(const crConvex* c, int i);
// Directions of their edges, one per class of parallel edges.
int cr__edge_count(const crConvex* c);
crVec3 cr__edge_direction(const crConvex* c, int i);

static inline crVec3 cr__unit(crVec3 v, crVec3 otherwise) {
    double vv = cr_dot(v, v);
    if (vv > 1e-200 && vv < 1e200) return cr_scale(1.0 / sqrt(vv), v);
    // scaled first: squares of very short or long vectors leave the range of doubles
    double m = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    if (!(m > 0.0) || !isfinite(m)) return otherwise;
    crVec3 s = cr_scale(1.0 / m, v);
    return cr_scale(1.0 / cr_norm(s), s);
}
// v / |v| with |v| = length known and not 0
static inline crVec3 cr__over(crVec3 v, double length) {
    return length > 1e-140 && length < 1e140 ? cr_scale(1.0 / length, v) : cr__unit(v, v);
}
// lexicographic order
static inline bool cr__point_follows(crVec3 a, crVec3 b) {
    if (a.x != b.x) return a.x > b.x;
    return a.y != b.y ? a.y > b.y : a.z > b.z;
}
static inline double cr__axis(crVec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

// polish.c

// A symmetric matrix of 2 by 2 across a direction, along two tangents t and u.
typedef struct crBends {
    double tt, tu, uu;
} crBends;
// How far the support point of an ellipsoid moves when the direction turns, m/rad. s: half axes; l, p, q: the direction and both
// tangents in its own axes.
crBends cr__ellipsoid_bends(crVec3 s, crVec3 l, crVec3 p, crVec3 q);

#endif
