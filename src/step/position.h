// position.h - the position pass of packed contacts, of general islands, and its energy limit.
#ifndef CAROM_STEP_POSITION_H
#define CAROM_STEP_POSITION_H

#include "step/step.h"

// A contact of an earlier round: two body-fixed points that must not pass each other along a normal.
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
// Gap of such a contact at the present poses, m; *point: its place.
static inline double cr__apart_gap(const crPose* pose, const crApart* k, crVec3* point) {
    crVec3 a = cr_pose_point(pose[k->body_a], k->on_a), b = cr_pose_point(pose[k->body_b], k->on_b);
    *point = cr_scale(0.5, cr_add(a, b));
    return cr_dot(k->normal, cr_sub(b, a));
}

// The position pass with trees, loops and limits of `part`, as a problem for each island, collided again in
// each round. Bodies in `apart` (nb, NULL: none) are left out.
crStatus cr__step_position_general(crStep* step, crPart part, const bool* apart, double near, crError* error);
// Sets *holds to true if loops, and limits of `part`, hold at the present poses.
crStatus cr__step_position_others(crStep* step, crPart part, bool* holds, crError* error);

// After the position pass from `before` (nq): free bodies that it turned keep their angular momentum.
// limited: bodies are moved back if the pass took more energy than the step dissipated; of: only those of sets
// that have no other bodies (nb); NULL: all. back: set to true for bodies moved back (nb). CR_ERR_MEMORY.
crStatus cr__step_limit_lift(crStep* step, double h, const double* before, bool limited, const bool* of,
                             bool* back);
// Joins the trees of bodies that pushed each other in the step: a root for every body (nb).
void cr__lift_sets(const crStep* step, int* root);
// Potential energy that a free body gains on its way between two states (nq), J.
double cr__lift_weight(const crModel* model, int b, const double* before, const double* after);

#endif
