// apart.c - lower bounds of the distance of two convex pieces.
//
// The separation along any unit direction is a lower bound of the distance. Normals of the pair's earlier
// contacts are good directions. A direction costs two support points, or only their extents along it.
#include "pairs/apart.h"

#include "collide/manifold.h"

#define UNIT 1e-15  // rounding of the square of a unit quaternion

// Extent of a convex shape along a unit vector l in its own axes, from its origin, m; INFINITY: other shapes.
static double reach_of(const crShape* shape, crVec3 l) {
    crVec3 s = shape->size;
    double most;
    switch (shape->kind) {
    case CR_SHAPE_SPHERE:
        return s.x;
    case CR_SHAPE_CAPSULE:
        return s.x + fabs(l.z) * s.z;
    case CR_SHAPE_BOX:
        return cr__box_reach(s, l);
    case CR_SHAPE_CYLINDER:
        return sqrt(l.x * l.x + l.y * l.y) * s.x + fabs(l.z) * s.z;
    case CR_SHAPE_CONE:
        return fmax(l.z * s.z, sqrt(l.x * l.x + l.y * l.y) * s.x - l.z * s.z);
    case CR_SHAPE_ELLIPSOID:
        return cr_norm(cr_vec3(s.x * l.x, s.y * l.y, s.z * l.z));
    case CR_SHAPE_HULL:
        most = cr_dot(shape->data.hull->vertices[0], l);
        for (int i = 1; i < shape->data.hull->vertex_count; i++) {
            double at = cr_dot(shape->data.hull->vertices[i], l);
            most = at > most ? at : most;
        }
        return most;
    default:
        return INFINITY;
    }
}

// upper bound of the extent of a shape in any direction
static double size_of(const crShape* shape) {
    return shape->kind == CR_SHAPE_HULL ? shape->data.hull->extent : cr__pairs_sum(shape->size);
}

static bool is_turned(const crShape* s) {
    return s->pose.q.w != 1.0 || s->pose.q.x != 0.0 || s->pose.q.y != 0.0 || s->pose.q.z != 0.0;
}

// Extent of a shape along a unit vector l in the axes of its body, from the body's origin, m. INFINITY: other
// shapes, and those whose rotation is a unit quaternion up to more than rounding.
static double body_reach(const crShape* shape, crVec3 l) {
    crQuat q = shape->pose.q;
    if (cr__shape_plain(shape)) return reach_of(shape, l);
    double off = cr_dot(shape->pose.p, l);
    if (!is_turned(shape)) return off + reach_of(shape, l);
    bool unit = fabs(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z - 1.0) <= UNIT;
    return unit ? off + reach_of(shape, cr_quat_rotate(cr_quat_conj(q), l)) : INFINITY;
}

double cr__pairs_between_any(const crShape* a, const crShape* b, const crPairsLine* line) {
    double sizes = cr__pairs_sum(line->d) + size_of(a) + size_of(b) + cr__pairs_sum(a->pose.p) +
                   cr__pairs_sum(b->pose.p);
    return cr_dot(line->n, line->d) - body_reach(a, line->l) - body_reach(b, line->m) -
           CR_PAIRS_ROUNDED * sizes;
}

double cr__pairs_along(const crShape* a, const crPose* at_a, const crShape* b, const crPose* at_b, crVec3 l) {
    crVec3 n = cr_quat_rotate(at_a->q, l), m = cr_quat_rotate(cr_quat_conj(at_b->q), cr_neg(n));
    return cr__pairs_between(a, b, &(crPairsLine){n, l, m, cr_sub(at_b->p, at_a->p)});
}

double cr__pairs_above(const crShape* plane, const crPose* at_plane, const crShape* b, const crPose* at_b) {
    crVec3 n = cr__plane_normal(plane, cr_quat_mul(at_plane->q, plane->pose.q));
    crVec3 m = cr_quat_rotate(cr_quat_conj(at_b->q), cr_neg(n)), d = cr_sub(at_b->p, at_plane->p);
    crVec3 off = cr_quat_rotate(at_plane->q, plane->pose.p);
    double sizes =
        cr__pairs_sum(d) + cr__pairs_sum(off) + fabs(plane->offset) + size_of(b) + cr__pairs_sum(b->pose.p);
    return cr_dot(n, cr_sub(d, off)) - plane->offset - body_reach(b, m) - CR_PAIRS_ROUNDED * sizes;
}

static bool is_piece(crShapeKind kind) {
    return kind == CR_SHAPE_BOX || kind == CR_SHAPE_HULL || kind == CR_SHAPE_CYLINDER ||
           kind == CR_SHAPE_CAPSULE || kind == CR_SHAPE_CONE || kind == CR_SHAPE_ELLIPSOID;
}

bool cr__pairs_pieces(const crPlan* plan, int shape_a, int shape_b, const crPose* pose, crPieces* pieces) {
    const crBodyShape *a = &plan->model->shapes[shape_a], *b = &plan->model->shapes[shape_b];
    if (!is_piece(a->shape.kind) || !is_piece(b->shape.kind)) return false;
    crPose at_a = cr__shape_pose(&a->shape, &pose[a->body]), at_b = cr__shape_pose(&b->shape, &pose[b->body]);
    cr__convex_set(&pieces->a, &a->shape, &at_a, at_b.p);
    cr__convex_set(&pieces->b, &b->shape, &at_b, at_b.p);
    return true;
}

double cr__pairs_apart(const crPieces* pieces, crVec3 n) {
    return cr__separation(&pieces->a, &pieces->b, n) - pieces->a.radius - pieces->b.radius;
}
