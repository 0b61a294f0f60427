// touch.c - the normal of an impact where features meet that have many normals: vertex on vertex, vertex on edge,
// parallel edges.
//
// Let N_A and N_B be the cones of outward normals of the two features at the point of touch. Just before the
// touch b is apart from a by -u t, u the velocity of b's point against a's, and the direction of least separation
// is
//
//     n = the projection of -u on K = N_A with -N_B, made unit
//
// Where K is a ray (vertex or anything on a face, crossing edges) that is its direction, which the contact already has. Elsewhere
// the shapes at touch leave the normal open, and the least overlap picks a face by its last digits. Here b is
// moved back along -u and the shapes are asked again: by BACK, to see whether the normal is another one, and from
// there, features brought together, by CLEAR, for a normal to full precision. After a plastic impact without friction
// along n nothing in K closes.
// Fails: nothing; a contact whose shapes overlap when moved back keeps its normal.
#include "step/step.h"

#define BACK  1e-8  // of the pair's size: features nearer than this to each other meet
#define CLEAR 1e-3  // likewise: where rounding does not turn the normal
#define OTHER 1e-4  // distance of unit normals that are different; curved shapes turn theirs by BACK / radius
#define SAME  1e-2  // and of those that BACK and CLEAR may give for one pair of features
#define FOUND 16    // contacts of a pair in the plane

// gap and normal of the contact's pieces with body b shifted; false if others are nearer, or all are beyond reach.
// Contacts in space are good to 1e-9 of the size only, so there the distance is asked for.
static bool shifted(const crPlan* plan, const crPose* pose, const crStepContact* c, crVec3 shift,
                    double reach, double* gap, crVec3* normal) {
    const crBodyShape* shapes = plan->model->shapes;
    crPose a = pose[c->body_a], b = pose[c->body_b];
    crContactPoint points[FOUND];
    crDistance distance;
    int needed = 0;
    bool found;
    b.p = cr_add(b.p, shift);
    if (c->planar) {
        found =
            cr__pairs_collide(plan, c->shape_a, c->shape_b, a, b, reach, points, FOUND, &needed, NULL) > 0;
    } else {
        found = cr_distance(&shapes[c->shape_a].shape, a, &shapes[c->shape_b].shape, b, reach, &distance);
        points[0] = distance.contact;
    }
    *gap = points[0].gap;
    *normal = points[0].normal;
    return found && points[0].child_a == c->point.child_a && points[0].child_b == c->point.child_b;
}

static uint32_t chosen(uint32_t feature) {
    return (feature & 0x0fffffff) | (uint32_t)CR_FEATURE_CENTRE << 28;
}

bool cr__step_touch_normal(const crStep* step, crStepContact* c) {
    const crDynamics* d = &step->dynamics;
    crVec3 u = cr_sub(cr_model_point_velocity(d, c->body_b, c->point.point),
                      cr_model_point_velocity(d, c->body_a, c->point.point));
    double speed = cr_norm(u), size = cr__plan_pair_size(step->plan, c->body_a, c->body_b), gap;
    if (!(c->speed < 0.0)) return false;
    // the way back to the touch, from which on the overlap grew, and a little more
    double way = 2.0 * fmax(0.0, -c->point.gap) * (speed / -c->speed) + BACK * size;
    crVec3 back = cr_scale(-1.0 / speed, u), near, n, shift = cr_scale(way, back);
    if (!shifted(step->plan, step->dynamics.pose, c, shift, 2.0 * way, &gap, &near) || !(gap > 0.0))
        return false;
    if (cr_norm(cr_sub(near, c->point.normal)) <= OTHER) return false;
    // the features coincide, then apart again
    shift = cr_madd(cr_madd(shift, -gap, near), CLEAR * size, back);
    if (!shifted(step->plan, step->dynamics.pose, c, shift, 2.0 * CLEAR * size, &gap, &n) || !(gap > 0.0))
        n = near;
    if (cr_norm(cr_sub(n, near)) > SAME) n = near;
    c->point.normal = n;
    c->point.feature_a = chosen(c->point.feature_a);
    c->point.feature_b = chosen(c->point.feature_b);
    c->speed = cr_dot(n, u);
    return cr__step_surface_at(step, c, u) == CR_OK;
}
