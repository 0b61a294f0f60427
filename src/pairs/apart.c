// apart.c - lower bounds of the distance of two convex pieces.
//
// The separation along any unit direction is a lower bound of the distance. Normals of the pair's earlier
// contacts are good directions. A direction costs two support points, or only their extents along it.
#include "collide/manifold.h"
#include "pairs/pairs.h"

#define ROUNDED 1e-14  // bound of the rounding of a separation, share of the lengths it is made of

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
        return fabs(l.x) * s.x + fabs(l.y) * s.y + fabs(l.z) * s.z;
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

static double sum_of(crVec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

// upper bound of the extent of a shape in any direction
static double size_of(const crShape* shape) {
    return shape->kind == CR_SHAPE_HULL ? shape->data.hull->extent : sum_of(shape->size);
}

static bool is_placed(const crShape* s) {
    return s->pose.p.x == 0.0 && s->pose.p.y == 0.0 && s->pose.p.z == 0.0 && s->pose.q.w == 1.0 &&
           s->pose.q.x == 0.0 && s->pose.q.y == 0.0 && s->pose.q.z == 0.0;
}

double cr__pairs_along(const crShape* a, const crPose* at_a, const crShape* b, const crPose* at_b, crVec3 l) {
    if (!is_placed(a) || !is_placed(b)) return -INFINITY;
    crVec3 n = cr_quat_rotate(at_a->q, l), m = cr_quat_rotate(cr_quat_conj(at_b->q), cr_neg(n));
    crVec3 d = cr_sub(at_b->p, at_a->p);
    double sizes = sum_of(d) + size_of(a) + size_of(b);
    return cr_dot(n, d) - reach_of(a, l) - reach_of(b, m) - ROUNDED * sizes;
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
