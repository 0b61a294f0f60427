// geometry.c - how the point and normal of a contact change with the poses of its two shapes.
//
// Both move rigidly with the pair, so only motions of b against a count: shifts and turns at the contact's point, each to
// either side, STEP of the pair's size. The same point is found by its children and features. The gap needs no
// difference: it changes by the motion of b's point against a's along the normal.
// Fails: false where the features of the point are not found again on either side of a motion.
#include <string.h>

#include "step/step.h"
#include "wrt/tape.h"

#define STEP 2e-6
#define MOST 64  // points of a pair

typedef struct Points {
    int count;
    crContactPoint at[MOST];
} Points;

static bool find_point(const Points* points, const crStepContact* c, double near, crVec3* point,
                       crVec3* normal) {
    int best = -1;
    for (int i = 0; i < points->count; i++) {
        const crContactPoint* p = &points->at[i];
        bool same = p->child_a == c->point.child_a && p->child_b == c->point.child_b &&
                    p->feature_a == c->point.feature_a && p->feature_b == c->point.feature_b;
        double away = cr_norm(cr_sub(p->point, c->point.point));
        // a feature that has another number there is the one that did not move
        if (same) near = -1.0;
        if (same || away < near) best = i;
        if (!same && away < near) near = away;
    }
    if (best < 0) return false;
    *point = points->at[best].point;
    *normal = points->at[best].normal;
    return true;
}

static crPose moved(crPose pose, crVec3 about, crVec3 shift, crVec3 turn) {
    crQuat q = cr__rotation_exp(turn);
    crVec3 arm = cr_quat_rotate(q, cr_sub(pose.p, about));
    return (crPose){cr_add(cr_add(about, shift), arm), cr_quat_normalize(cr_quat_mul(q, pose.q))};
}

static double component(crVec3 v, int k) { return k == 0 ? v.x : k == 1 ? v.y : v.z; }

// change of a contact by one motion of b: a turn is about the pair's own point, and a shift makes it one about the contact's
static bool by_motion(const Points side[2], crTapeContact* contact, double by, double size, bool turns,
                      crVec3 axis) {
    const crStepContact* c = &contact->at;
    bool found[2];
    crVec3 x[2], n[2];
    for (int i = 0; i < 2; i++) {
        found[i] = find_point(&side[i], c, 1e-4 * size, &x[i], &n[i]);
        if (!found[i]) x[i] = c->point.point, n[i] = c->point.normal;
    }
    double over = found[0] && found[1] ? 0.5 / by : 1.0 / by;
    for (int k = 0; k < 3; k++) {
        int at = k + (turns ? 3 : 0);
        contact->point[at] = cr_madd(contact->point[at], over * component(axis, k), cr_sub(x[1], x[0]));
        contact->normal[at] = cr_madd(contact->normal[at], over * component(axis, k), cr_sub(n[1], n[0]));
    }
    return found[0] || found[1];
}

// turns were about `about`: about the contact's point they are less by the shift omega x (point - about)
static void turn_about(crTapeContact* contact, crVec3 about) {
    crVec3 arm = cr_sub(contact->at.point.point, about);
    crVec3 point[3], normal[3];
    for (int k = 0; k < 3; k++) {
        crVec3 e = cr_vec3(k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0),
               shift = cr_cross(e, arm);
        point[k] = contact->point[3 + k];
        normal[k] = contact->normal[3 + k];
        for (int i = 0; i < 3; i++) {
            point[k] = cr_madd(point[k], -component(shift, i), contact->point[i]);
            normal[k] = cr_madd(normal[k], -component(shift, i), contact->normal[i]);
        }
    }
    memcpy(contact->point + 3, point, sizeof point);
    memcpy(contact->normal + 3, normal, sizeof normal);
}

// all contacts of one pair of shapes
static bool pair_geometry(const crStep* eval, crTapeContact* contacts, int count) {
    const crStepContact* c = &contacts[0].at;
    crVec3 about = c->point.point;
    // of bodies that keep to a plane only motions in it count
    crVec3 plane = c->planar ? cr__plan_common_plane(eval->plan, c->body_a, c->body_b) : cr_vec3(1, 0, 0);
    crMat3 B = c->planar ? cr_frame(cr_scale(1.0 / cr_norm(plane), plane))
                         : (crMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double size = cr__plan_pair_size(eval->plan, c->body_a, c->body_b), gap = 0.0;
    for (int i = 0; i < count; i++) {
        gap = fmax(gap, contacts[i].at.point.gap);
        memset(contacts[i].point, 0, sizeof contacts[i].point);
        memset(contacts[i].normal, 0, sizeof contacts[i].normal);
    }
    for (int m = 0; m < 6; m++) {
        bool turns = m >= 3, across = turns ? m > 3 : m == 0;
        if (c->planar && across) continue;
        crVec3 axis = cr_mat3_column(B, m % 3), none = cr_vec3(0, 0, 0);
        double by = turns ? STEP : STEP * size;
        Points side[2];
        for (int i = 0; i < 2; i++) {
            crVec3 move = cr_scale(i == 0 ? -by : by, axis);
            int needed = 0;
            crPose b = moved(eval->dynamics.pose[c->body_b], about, turns ? none : move, turns ? move : none);
            side[i].count =
                cr__pairs_collide(eval->plan, c->shape_a, c->shape_b, eval->dynamics.pose[c->body_a], b,
                                  gap + 8.0 * STEP * size, side[i].at, MOST, &needed, NULL);
        }
        for (int i = 0; i < count; i++) {
            if (!by_motion(side, &contacts[i], by, size, turns, axis)) return false;
        }
    }
    for (int i = 0; i < count; i++) {
        turn_about(&contacts[i], about);
    }
    return true;
}

bool cr__tape_geometry(const crStep* eval, crTapeContact* contacts, int count) {
    bool good = true;
    for (int i = 0, end; i < count && good; i = end) {
        for (end = i + 1; end < count; end++) {
            if (contacts[end].at.shape_a != contacts[i].at.shape_a) break;
            if (contacts[end].at.shape_b != contacts[i].at.shape_b) break;
        }
        good = pair_geometry(eval, contacts + i, end - i);
    }
    return good;
}
