// collide.c - contact points of two shapes of a model, by outlines if both bodies move in parallel planes.
//
// Shapes that lie flush on each other across the plane, as a turntable on its base, touch along a direction
// in which neither moves: they pass by each other and have no contact.
#include "collide/manifold.h"
#include "pairs/pairs.h"

#define FLUSH 0.01  // overlap across the plane up to which shapes are flush, share of the thinner shape

bool cr__pairs_pass_by(const crPlan* plan, const crBodyShape* a, const crBodyShape* b, crPose pose_a,
                       crPose pose_b) {
    crVec3 axis = cr__plan_common_plane(plan, a->body, b->body);
    if (!(cr_dot(axis, axis) > 0.0)) return false;
    // boxes in axes whose x is the normal of the plane
    crPose turn = {cr_vec3(0, 0, 0), cr_quat_conj(cr__rotation_of(cr_frame(axis)))};
    crBounds of_a = cr_shape_bounds(&a->shape, cr__pose_mul(turn, pose_a));
    crBounds of_b = cr_shape_bounds(&b->shape, cr__pose_mul(turn, pose_b));
    double across = fmin(of_a.hi.x - of_b.lo.x, of_b.hi.x - of_a.lo.x);
    return across < FLUSH * fmin(of_a.hi.x - of_a.lo.x, of_b.hi.x - of_b.lo.x);
}

int cr__pairs_collide(const crPlan* plan, int sa, int sb, crPose pose_a, crPose pose_b, double margin,
                      crContactPoint* points, int capacity, int* needed, double* until) {
    const crBodyShape* a = &plan->model->shapes[sa];
    const crBodyShape* b = &plan->model->shapes[sb];
    crVec3 axis = cr__plan_common_plane(plan, a->body, b->body);
    double nobody_asks;
    if (until == NULL) until = &nobody_asks;
    *until = -INFINITY;
    if (cr_dot(axis, axis) > 0.0 && capacity >= 2) {
        // the plane goes through the body that moves
        bool swap = !cr__moves(plan->model, a->body);
        crStatus status =
            swap
                ? cr_collide_planar(&b->shape, pose_b, &a->shape, pose_a, axis, margin, points, needed, NULL)
                : cr_collide_planar(&a->shape, pose_a, &b->shape, pose_b, axis, margin, points, needed, NULL);
        for (int i = 0; status == CR_OK && swap && i < *needed; i++) {
            crContactPoint p = points[i];
            points[i] = (crContactPoint){p.gap,     cr_neg(p.normal), p.point,     p.on_b,     p.on_a,
                                         p.child_b, p.child_a,        p.feature_b, p.feature_a};
        }
        if (swap) cr__sort_two(points, *needed);
        if (status == CR_OK) return *needed;
    }
    return cr__collide(&a->shape, &pose_a, &b->shape, &pose_b, margin, points, capacity, needed, until);
}
