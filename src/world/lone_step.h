// lone_step.h - a lone body's step under way: what lone.c and the files of its stages share.
//
//   lone_solve.h   contacts, and velocities under them
//   lone_audit.h   the certificate of these
//   lone_push.h    the position pass
#ifndef CAROM_WORLD_LONE_STEP_H
#define CAROM_WORLD_LONE_STEP_H

#include "relax/few.h"

#include "collide/manifold.h"
#include "world/lone.h"

// A loop over contacts, of which a ball has one: known to the compiler, they are in registers.
#define CR_LONE_EACH(i, count, ball) for (int i = 0; i < (count) && i < ((ball) ? 1 : CR_LONE_CONTACTS); i++)

#define CR_LONE_LISTED 6  // contacts of the position pass, of all rounds; more are left to the stages

// The body at a pose.
typedef struct crLonePose {
    crPose pose;
    crFewBody body;
} crLonePose;

// What is used of a crContactPoint.
typedef struct crLonePoint {
    double gap;
    crVec3 normal, point;
    int child_a, child_b;
    uint32_t feature_a, feature_b;
} crLonePoint;

// One contact.
typedef struct crLoneSpot {
    crLonePoint at;
    double speed;      // as in crStepContact
    crVec3 u_free, u;  // velocity without impulses, and with them
    crVec3 P;
    bool takes, fresh;
} crLoneSpot;

// A step under way.
typedef struct crLoneStep {
    const crLone* lone;
    const crModel* model;
    double h;
    crLoneState* s;
    double q0[7], v0[6], q[7], v[6], v_free[6];
    crLonePose start;
    double margin;
    bool airborne;
    bool about;  // to rest, by the v it began with
    int count, taken;
    crLoneSpot spot[CR_LONE_CONTACTS];
    double overlap;  // that the position pass left, m
    bool measured;   // the overlap of shapes is due
    // work memory that no two parts of a step need at a time
    union {
        crContactPoint points[CR_LONE_CONTACTS];
        double slot[CR_LONE_LISTED * CR_FEW_STRIDE];
    } work;
    crPackedContact contact[CR_LONE_LISTED];
} crLoneStep;

CR_FEW void cr__lone_pose(const crBody* body, const double* q, crLonePose* out) {
    crPose pose = {cr__load_vec(q), cr_quat_normalize(cr__load_quat(q + 3))};
    double I = body->principal[0];
    out->pose = pose;
    out->body.mass = body->mass;
    out->body.round = cr__single_round(body);
    out->body.origin = cr__centred(body) ? pose.p : cr_pose_point(pose, body->com);
    out->body.inertia =
        out->body.round ? (crSym3){I, 0.0, 0.0, I, 0.0, I} : cr__sym3_rotate(pose.q, body->inertia);
}

// likewise of memory: the sign of a zero counts
CR_FEW bool cr__lone_equal(const double* a, const double* b, int count) {
    bool equal = true;
    for (int i = 0; i < count; i++) {
        union {
            double x;
            uint64_t bits;
        } u = {a[i]}, w = {b[i]};
        equal = equal && u.bits == w.bits;
    }
    return equal;
}

// contacts of the plane with the body at a pose; negative: not this way
CR_FEW int cr__lone_collide(const crLoneStep* x, bool ball, const crPose* pose, double margin,
                            crContactPoint* points) {
    const crShape *a = &x->model->shapes[x->lone->shape_a].shape,
                  *b = &x->model->shapes[x->lone->shape_b].shape;
    // copies: a device keeps what no pointer leads to in registers
    crPose ground = cr_pose_identity(), at = *pose;
    return ball ? cr__ball_contact(a, &ground, b, &at, margin, points)
                : cr__box_on_plane(a, &ground, b, &at, margin, points);
}

#endif
