// geometry.c - how the point and normal of a contact change with the poses of its two shapes.
//
// Both move rigidly with the pair, so only motions of b against a count: shifts and turns at the contact's point, each to
// either side, STEP of the pair's size. The same point is found by its children and features. The gap needs no
// difference: it changes by the motion of b's point against a's along the normal.
// Fails: false where the features of the point are not found again on either side of a motion.
#include "step/step.h"
#include "wrt/tape.h"

#define STEP 2e-6
#define MOST 64  // points of a pair

static bool find_point(const crStep* eval, const crStepContact* c, crPose b, double margin, double near,
                       crVec3* point, crVec3* normal) {
    crContactPoint points[MOST];
    int needed = 0, best = -1;
    int count = cr__pairs_collide(eval->plan, c->shape_a, c->shape_b, eval->dynamics.pose[c->body_a], b,
                                  margin, points, MOST, &needed, NULL);
    for (int i = 0; i < count; i++) {
        const crContactPoint* p = &points[i];
        bool same = p->child_a == c->point.child_a && p->child_b == c->point.child_b &&
                    p->feature_a == c->point.feature_a && p->feature_b == c->point.feature_b;
        double away = cr_norm(cr_sub(p->point, c->point.point));
        // a feature that has another number there is the one that did not move
        if (same) near = -1.0;
        if (same || away < near) best = i;
        if (!same && away < near) near = away;
    }
    if (best < 0) return false;
    *point = points[best].point;
    *normal = points[best].normal;
    return true;
}

static crPose moved(crPose pose, crVec3 about, crVec3 shift, crVec3 turn) {
    crQuat q = cr__rotation_exp(turn);
    crVec3 arm = cr_quat_rotate(q, cr_sub(pose.p, about));
    return (crPose){cr_add(cr_add(about, shift), arm), cr_quat_normalize(cr_quat_mul(q, pose.q))};
}

// change of point and normal by one motion of b
static bool by_motion(const crStep* eval, const crStepContact* c, bool turns, crVec3 axis, crVec3* point,
                      crVec3* normal) {
    double size = cr__plan_pair_size(eval->plan, c->body_a, c->body_b);
    double by = turns ? STEP : STEP * size, margin = fmax(0.0, c->point.gap) + 8.0 * STEP * size;
    bool found[2];
    crVec3 x[2], n[2];
    for (int i = 0; i < 2; i++) {
        crVec3 move = cr_scale(i == 0 ? -by : by, axis), none = cr_vec3(0, 0, 0);
        crPose b =
            moved(eval->dynamics.pose[c->body_b], c->point.point, turns ? none : move, turns ? move : none);
        found[i] = find_point(eval, c, b, margin, 1e-4 * size, &x[i], &n[i]);
        if (!found[i]) x[i] = c->point.point, n[i] = c->point.normal;
    }
    double over = found[0] && found[1] ? 0.5 / by : 1.0 / by;
    *point = cr_scale(over, cr_sub(x[1], x[0]));
    *normal = cr_scale(over, cr_sub(n[1], n[0]));
    return found[0] || found[1];
}

static double component(crVec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

bool cr__tape_geometry(const crStep* eval, crTapeContact* contact) {
    const crStepContact* c = &contact->at;
    // of bodies that keep to a plane only motions in it count
    crVec3 plane = c->planar ? cr__plan_common_plane(eval->plan, c->body_a, c->body_b) : cr_vec3(1, 0, 0);
    crMat3 B = c->planar ? cr_frame(cr_scale(1.0 / cr_norm(plane), plane))
                         : (crMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    for (int k = 0; k < 6; k++) {
        contact->point[k] = contact->normal[k] = cr_vec3(0, 0, 0);
    }
    for (int m = 0; m < 6; m++) {
        bool turns = m >= 3, across = turns ? m > 3 : m == 0;
        if (c->planar && across) continue;
        crVec3 axis = cr_mat3_column(B, m % 3), point, normal;
        if (!by_motion(eval, c, turns, axis, &point, &normal)) return false;
        for (int k = 0; k < 3; k++) {
            int at = k + (turns ? 3 : 0);
            contact->point[at] = cr_madd(contact->point[at], component(axis, k), point);
            contact->normal[at] = cr_madd(contact->normal[at], component(axis, k), normal);
        }
    }
    return true;
}
