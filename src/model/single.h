// single.h - a free body that carries no other: what the tree's recursions come to for it.
//
// Its reference point is its centre of mass, its axes are those of the world and it is carried by nothing, so
// that twist, load and M are its own numbers: omega = v_3..5, k = (m g - c v, -c_r omega), M = (m, A I A^T).
// With three equal moments A I A^T = I and R = I^-1/2, whichever way it is turned. Poses stand while q does.
// Fails: CR_ERR_DEFINITE where there is no mass.
#ifndef CAROM_MODEL_SINGLE_H
#define CAROM_MODEL_SINGLE_H

#include <string.h>

#include "model/spatial.h"

static inline bool cr__single_round(const crBody* body) { return body->principal[0] == body->principal[2]; }

static inline void cr__single_kinematics(const crBody* body, int i, const double* q, crDynamics* d) {
    double* known = d->q + body->q;
    if (memcmp(known, q, 7 * sizeof *q) == 0) return;
    memcpy(known, q, 7 * sizeof *q);
    crPose pose = {cr__load_vec(q), cr_quat_normalize(cr__load_quat(q + 3))};
    d->pose[i] = pose;
    d->com[i] = d->origin[i] = cr__centred(body) ? pose.p : cr_pose_point(pose, body->com);
    const double I = body->principal[0];
    d->inertia[i] =
        cr__single_round(body) ? (crSym3){I, 0.0, 0.0, I, 0.0, I} : cr__sym3_rotate(pose.q, body->inertia);
}

static inline crTwist cr__single_twist(const double* v) {
    return cr__twist(cr__load_vec(v + 3), cr__load_vec(v));
}

// gravity and drag along its velocities
static inline void cr__single_forces(const crBody* body, crVec3 gravity, const double* v, double* k) {
    crVec3 force = cr_scale(body->mass * body->gravity_scale, gravity);
    cr__store_vec(cr_madd(force, -body->linear_drag, cr__load_vec(v)), k);
    cr__store_vec(cr_scale(-body->angular_drag, cr__load_vec(v + 3)), k + 3);
}

// R with R^T R = I^-1, and that
static inline crStatus cr__single_factor(const crBody* body, crQuat q, crMat3* R, crSym3* inverse) {
    const double* I = body->principal;
    if (!(body->mass > 0.0 && I[0] > 0.0)) return CR_ERR_DEFINITE;
    if (cr__single_round(body)) {
        double root = 1.0 / sqrt(I[0]), one = root * root;
        *R = (crMat3){{{root, 0.0, 0.0}, {0.0, root, 0.0}, {0.0, 0.0, root}}};
        *inverse = (crSym3){one, 0.0, 0.0, one, 0.0, one};
        return CR_OK;
    }
    // principal axes in the world, divided by the roots of their moments
    crMat3 A = cr_quat_matrix(cr_quat_mul(q, body->axes));
    for (int k = 0; k < 3; k++) {
        double root = 1.0 / sqrt(I[k]);
        for (int j = 0; j < 3; j++) {
            R->m[k][j] = root * A.m[j][k];
        }
    }
    crVec3 x = cr_mat3_column(*R, 0), y = cr_mat3_column(*R, 1), z = cr_mat3_column(*R, 2);
    *inverse = (crSym3){cr_dot(x, x), cr_dot(x, y), cr_dot(x, z), cr_dot(y, y), cr_dot(y, z), cr_dot(z, z)};
    return CR_OK;
}

static inline void cr__single_solve(const crBody* body, const crSym3* inverse, double* x) {
    for (int j = 0; j < 3; j++) {
        x[j] /= body->mass;
    }
    cr__store_vec(cr_sym3_mul(*inverse, cr__load_vec(x + 3)), x + 3);
}

// omega at a new orientation q, with the angular momentum that it had with the inertia (world axes) of the old one.
static inline crVec3 cr__single_omega(const crBody* body, crSym3 inertia, crQuat q, crVec3 omega) {
    crMat3 R;
    crSym3 inverse;
    if (cr__single_round(body) || cr__single_factor(body, q, &R, &inverse) != CR_OK) return omega;
    return cr_sym3_mul(inverse, cr_sym3_mul(inertia, omega));
}

#endif
