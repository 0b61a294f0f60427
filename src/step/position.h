// position.h - the two ways of the position pass.
#ifndef CAROM_STEP_POSITION_H
#define CAROM_STEP_POSITION_H

#include "step/step.h"

// An overlap of an earlier round: two points that must not pass each other along a normal, on the bodies.
typedef struct crApart {
    int body_a, body_b;
    crVec3 on_a, on_b;  // in the bodies' own axes
    crVec3 normal;
    double delta;
} crApart;
static inline crApart cr__apart_at(const crPose* pose, int body_a, int body_b, crVec3 point, crVec3 normal,
                                   double gap, double delta) {
    crVec3 a = cr_pose_point_inverse(pose[body_a], cr_madd(point, -0.5 * gap, normal));
    crVec3 b = cr_pose_point_inverse(pose[body_b], cr_madd(point, 0.5 * gap, normal));
    return (crApart){body_a, body_b, a, b, normal, delta};
}
// Its gap at the present poses, m; and in *point where.
static inline double cr__apart_gap(const crPose* pose, const crApart* k, crVec3* point) {
    crVec3 a = cr_pose_point(pose[k->body_a], k->on_a), b = cr_pose_point(pose[k->body_b], k->on_b);
    *point = cr_scale(0.5, cr_add(a, b));
    return cr_dot(k->normal, cr_sub(b, a));
}

// Everything as one problem, collided anew each round: trees, loops and limits of `part` too; but for bodies apart (nb,
// NULL: none).
crStatus cr__step_position_general(crStep* step, crPart part, const bool* apart, double near, crError* error);
// Whether loops, and limits of `part`, hold at the present poses.
crStatus cr__step_position_others(crStep* step, crPart part, bool* holds, crError* error);

// After the position pass from `before` (nq): free bodies that it turned keep their angular momentum. limited: bodies go
// back where it took more energy than the step dissipated. CR_ERR_MEMORY.
crStatus cr__step_limit_lift(crStep* step, double h, const double* before, bool limited);

#endif
