// audit_single.h - energy and way of one free body in a step, by its q and v before and after.
#ifndef CAROM_STEP_AUDIT_SINGLE_H
#define CAROM_STEP_AUDIT_SINGLE_H

#include "model/single.h"

#define CR_AUDIT_SINGLE_EPS 0x1p-52  // rounding unit of a double
#define CR_AUDIT_FAST \
    0.5  // way in a step up to which a body is not followed for crossings, share of its half-thickness

// kinetic energy of rotation, in the axes of the body; q need not be normalized
static inline double cr__audit_single_turning(const crBody* body, const double* q, const double* v) {
    crVec3 omega = cr__load_vec(v + 3);
    if (cr__single_round(body)) return 0.5 * body->principal[0] * cr_dot(omega, omega);
    crQuat turn = cr__load_quat(q + 3);
    crVec3 axis = cr_vec3(-turn.x, -turn.y, -turn.z);
    double twice = 2.0 / (turn.w * turn.w + cr_dot(axis, axis));
    crVec3 across = cr_cross(axis, omega);
    omega = cr_madd(omega, twice, cr_add(cr_scale(turn.w, across), cr_cross(axis, across)));
    return 0.5 * cr_sym3_quad(body->inertia, omega);
}

// Change of T + U from q0, v0 to q1, v1, and its rounding floor.
static inline void cr__audit_single_energy(const crBody* body, crVec3 gravity, const double* q0,
                                           const double* v0, const double* q1, const double* v1, double* gain,
                                           double* floor) {
    crVec3 u0 = cr__load_vec(v0), u1 = cr__load_vec(v1), x0 = cr__load_vec(q0), x1 = cr__load_vec(q1);
    if (!cr__centred(body)) {
        x0 = cr_pose_point((crPose){x0, cr_quat_normalize(cr__load_quat(q0 + 3))}, body->com);
        x1 = cr_pose_point((crPose){x1, cr_quat_normalize(cr__load_quat(q1 + 3))}, body->com);
    }
    crVec3 weight = cr_scale(body->mass * body->gravity_scale, gravity);
    double turn0 = cr__audit_single_turning(body, q0, v0), turn1 = cr__audit_single_turning(body, q1, v1);
    double T = 0.5 * body->mass * cr_dot(cr_sub(u1, u0), cr_add(u1, u0)) + (turn1 - turn0);
    double size = 0.5 * body->mass * (cr_dot(u0, u0) + cr_dot(u1, u1)) + turn0 + turn1;
    *gain = T - cr_dot(weight, cr_sub(x1, x0));
    // the absolute terms of the products bound the heights without roots
    double heights = fabs(weight.x) * (fabs(x0.x) + fabs(x1.x)) + fabs(weight.y) * (fabs(x0.y) + fabs(x1.y)) +
                     fabs(weight.z) * (fabs(x0.z) + fabs(x1.z));
    *floor = 16.0 * CR_AUDIT_SINGLE_EPS * (size + heights);
}

// True if a point of the body may have moved farther than `far` between q0 and q1: its way must be followed.
static inline bool cr__audit_single_fast(const crBody* body, double size, double far, const double* q0,
                                         const double* q1) {
    crVec3 move = cr_sub(cr__load_vec(q1), cr__load_vec(q0));
    double dot = fabs(q0[3] * q1[3] + q0[4] * q1[4] + q0[5] * q1[5] + q0[6] * q1[6]);
    // sin^2 of half the angle; the chord is at most the arc, which is at most pi/2 times the chord
    double half2 = fmax(0.0, 1.0 - dot * dot);
    // nearly always both parts are less than far/2, which needs no roots
    double most = 3.2 * (size + fabs(body->com.x) + fabs(body->com.y) + fabs(body->com.z));
    if (4.0 * cr_dot(move, move) <= far * far && 4.0 * most * most * half2 <= far * far) return false;
    double reach = size + cr_norm(body->com);
    return cr_norm(move) + 3.2 * reach * sqrt(half2) > far;
}

#endif
