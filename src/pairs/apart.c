// apart.c - how far two convex pieces are apart at least: along directions.
//
// Along any unit direction two convex pieces are no farther apart than in truth. The normals of their contacts a little
// earlier are good directions, and cost two support points each.
#include "collide/manifold.h"
#include "pairs/pairs.h"

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
