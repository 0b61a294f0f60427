// touch.c - normal of an impact between features that have many normals: vertex on vertex, vertex on edge,
// parallel edges.
//
// Let N_A and N_B be the cones of outward normals of the two features at the time of impact. Just before it,
// b is separated from a by -u t, where u is the velocity of b's point relative to a's; the direction of least
// separation is
//
//     n = the unit vector along the projection of -u on K, the intersection of N_A and -N_B
//
// If K is a ray (vertex or anything on a face, crossing edges), n is its direction, which the contact already
// has. Otherwise touching shapes leave the normal open, and the least overlap selects a face by its last
// digits. The distance is therefore measured again with b moved back along -u: by BACK, to test whether the
// normal differs, and from the point where the features coincide by CLEAR, for a normal to full precision.
// After a plastic impact without friction along n, nothing in K closes.
// Fails: cannot fail; a contact whose shapes overlap when moved back keeps its normal.
#include "step/step.h"

#define BACK  1e-8  // distance within which features coincide, share of the pair's size
#define CLEAR 1e-3  // distance at which rounding does not turn the normal, share of the pair's size
#define OTHER 1e-4  // distance between unit normals that differ; curved shapes turn theirs by BACK / radius
#define SAME  1e-2  // distance between the normals at BACK and CLEAR of one pair of features
#define FOUND 16    // most contacts of a planar pair

// Finds the gap and normal of the contact's pieces with body b shifted. Returns false if other pieces are
// nearer, or if all are beyond reach. Manifolds in space are accurate only to 1e-9 of the size, so contacts
// that are not planar use the distance.
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
    crVec3 u = cr__step_relative_velocity(d, c);
    double speed = cr_norm(u), size = cr__plan_pair_size(step->plan, c->body_a, c->body_b), gap;
    if (!(c->speed < 0.0)) return false;
    // displacement back to the touch, where the overlap began, and a little more
    double way = 2.0 * fmax(0.0, -c->point.gap) * (speed / -c->speed) + BACK * size;
    crVec3 back = cr_scale(-1.0 / speed, u), near, n, shift = cr_scale(way, back);
    if (!shifted(step->plan, step->dynamics.pose, c, shift, 2.0 * way, &gap, &near) || !(gap > 0.0))
        return false;
    if (cr_norm(cr_sub(near, c->point.normal)) <= OTHER) return false;
    // move b until the features coincide, then apart again
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
