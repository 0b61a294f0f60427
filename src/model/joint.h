// joint.h - the rows of the table of joints: all that is particular to a kind of joint.
#ifndef CAROM_MODEL_JOINT_H
#define CAROM_MODEL_JOINT_H

#include "model/spatial.h"

typedef struct cr__JointKind {
    crJointInfo info;
    bool rooted;  // the parent is always the world
    int own;      // how many of the last axes turn with the body itself; the others turn with the parent
    // The joint's motion in its own frame; NULL where the body's pose is not found from its parent's.
    crPose (*pose)(const crBody* body, const double* q);
    // Velocity field of each v = 1 about the point o; `parent` is the parent's orientation.
    void (*axes)(const crBody* body, const crPose* pose, crQuat parent, crVec3 o, crTwist* axis);
    // q over h with constant v, and the rate of q; NULL where q and v are the same kind of numbers.
    void (*integrate)(const crBody* body, double h, const double* v, double* q);
    void (*rate)(const crBody* body, const double* q, const double* v, double* rate);
    // Displacement along each velocity from the reference position, which springs and limits act on; NULL: q itself.
    crVec3 (*log)(const double* q);
} cr__JointKind;

extern const cr__JointKind cr__joints[CR_JOINT_KINDS];

static inline const cr__JointKind* cr__joint(const crBody* body) { return &cr__joints[body->joint]; }

// The turn of an orientation over h with constant omega (world axes, 3).
crQuat cr__joint_turn(double h, const double* omega, crQuat q);
// q of a free body over h: its centre of mass goes straight, `after` is the new orientation.
void cr__joint_fly(const crBody* body, double h, const double* v, crQuat after, double* q);

#endif
