// vec.h - vectors, quaternions and 3x3 matrices by value. Plain double, no SIMD, fixed order of operations.
#ifndef CAROM_VEC_H
#define CAROM_VEC_H

#include <math.h>

#include "carom/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct crVec3 {
    double x, y, z;
} crVec3;

// Rotation; w first. Unit length unless a function says otherwise.
typedef struct crQuat {
    double w, x, y, z;
} crQuat;

// Row-major: m[row][column].
typedef struct crMat3 {
    double m[3][3];
} crMat3;

// Symmetric 3x3 by its upper triangle.
typedef struct crSym3 {
    double xx, xy, xz, yy, yz, zz;
} crSym3;

static inline crVec3 cr_vec3(double x, double y, double z) {
    crVec3 r = {x, y, z};
    return r;
}
static inline crVec3 cr_add(crVec3 a, crVec3 b) { return cr_vec3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline crVec3 cr_sub(crVec3 a, crVec3 b) { return cr_vec3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline crVec3 cr_scale(double s, crVec3 a) { return cr_vec3(s * a.x, s * a.y, s * a.z); }
static inline crVec3 cr_neg(crVec3 a) { return cr_vec3(-a.x, -a.y, -a.z); }
// a + s b
static inline crVec3 cr_madd(crVec3 a, double s, crVec3 b) {
    return cr_vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double cr_dot(crVec3 a, crVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline crVec3 cr_cross(crVec3 a, crVec3 b) {
    return cr_vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double cr_norm(crVec3 a) { return sqrt(cr_dot(a, a)); }
static inline bool cr_vec3_finite(crVec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static inline crVec3 cr_mat3_column(crMat3 a, int j) { return cr_vec3(a.m[0][j], a.m[1][j], a.m[2][j]); }
static inline crMat3 cr_mat3_columns(crVec3 a, crVec3 b, crVec3 c) {
    crMat3 r = {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
    return r;
}
// A v
static inline crVec3 cr_mat3_mul(crMat3 a, crVec3 v) {
    return cr_vec3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                   a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                   a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
// transpose(A) v
static inline crVec3 cr_mat3_mul_t(crMat3 a, crVec3 v) {
    return cr_vec3(a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                   a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                   a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z);
}

// S v
static inline crVec3 cr_sym3_mul(crSym3 s, crVec3 v) {
    return cr_vec3(s.xx * v.x + s.xy * v.y + s.xz * v.z, s.xy * v.x + s.yy * v.y + s.yz * v.z,
                   s.xz * v.x + s.yz * v.y + s.zz * v.z);
}
// v.S v
static inline double cr_sym3_quad(crSym3 s, crVec3 v) { return cr_dot(v, cr_sym3_mul(s, v)); }
static inline crSym3 cr_sym3_add(crSym3 a, crSym3 b) {
    crSym3 r = {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
    return r;
}
static inline double cr_sym3_trace(crSym3 s) { return s.xx + s.yy + s.zz; }
static inline crMat3 cr_sym3_full(crSym3 s) {
    crMat3 r = {{{s.xx, s.xy, s.xz}, {s.xy, s.yy, s.yz}, {s.xz, s.yz, s.zz}}};
    return r;
}
// (A + A^T) / 2
static inline crSym3 cr_mat3_symmetric(crMat3 a) {
    crSym3 r = {a.m[0][0], 0.5 * (a.m[0][1] + a.m[1][0]), 0.5 * (a.m[0][2] + a.m[2][0]),
                a.m[1][1], 0.5 * (a.m[1][2] + a.m[2][1]), a.m[2][2]};
    return r;
}
// transpose(F) S F: S seen in the frame whose axes are the columns of F
static inline crSym3 cr_sym3_in_frame(crSym3 s, crMat3 f) {
    crVec3 a = cr_mat3_column(f, 0), b = cr_mat3_column(f, 1), c = cr_mat3_column(f, 2);
    crVec3 sa = cr_sym3_mul(s, a), sb = cr_sym3_mul(s, b), sc = cr_sym3_mul(s, c);
    crSym3 r = {cr_dot(a, sa), cr_dot(a, sb), cr_dot(a, sc), cr_dot(b, sb), cr_dot(b, sc), cr_dot(c, sc)};
    return r;
}

// Eigenvalues ascending, unit eigenvectors as the columns of axes (right-handed). Jacobi; any symmetric
// input.
CR_API void cr_sym3_eigen(crSym3 s, double values[3], crMat3* axes);

// x with S x = b for positive semidefinite S: least norm where S is singular and b is in its range.
// false: b is not in the range (no solution), x is the least-squares one.
CR_API bool cr_sym3_solve(crSym3 s, crVec3 b, crVec3* x);

// Inverse of a positive definite S; false where it is singular to working precision.
CR_API bool cr_sym3_invert(crSym3 s, crSym3* inverse);

// true where S is positive semidefinite up to rounding.
CR_API bool cr_sym3_is_psd(crSym3 s);

static inline crQuat cr_quat_identity(void) {
    crQuat q = {1.0, 0.0, 0.0, 0.0};
    return q;
}
static inline crQuat cr_quat_mul(crQuat a, crQuat b) {
    crQuat r = {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
    return r;
}
static inline crQuat cr_quat_conj(crQuat q) {
    crQuat r = {q.w, -q.x, -q.y, -q.z};
    return r;
}
// Zero or non-finite gives the identity.
static inline crQuat cr_quat_normalize(crQuat q) {
    double r = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (r == 1.0) return q;
    if (!(r > 0.0) || !isfinite(r)) return cr_quat_identity();
    crQuat unit = {q.w / r, q.x / r, q.y / r, q.z / r};
    return unit;
}
CR_API crQuat cr_quat_axis_angle(crVec3 axis,
                                 double angle);  // axis need not be unit; zero axis gives identity
// v + 2 u x (u x v + w v), u the vector part
static inline crVec3 cr_quat_rotate(crQuat q, crVec3 v) {
    crVec3 u = cr_vec3(q.x, q.y, q.z);
    crVec3 inner = cr_madd(cr_cross(u, v), q.w, v);
    return cr_madd(v, 2.0, cr_cross(u, inner));
}
static inline crMat3 cr_quat_matrix(crQuat q) {
    return cr_mat3_columns(cr_quat_rotate(q, cr_vec3(1, 0, 0)), cr_quat_rotate(q, cr_vec3(0, 1, 0)),
                           cr_quat_rotate(q, cr_vec3(0, 0, 1)));
}

// Where a body or a shape is: its own coordinates x are q x + p in those of its parent.
typedef struct crPose {
    crVec3 p;  // origin, m
    crQuat q;  // rotation, unit
} crPose;

static inline crPose cr_pose_identity(void) {
    crPose r = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    return r;
}
static inline crVec3 cr_pose_point(crPose a, crVec3 x) { return cr_add(a.p, cr_quat_rotate(a.q, x)); }
static inline crVec3 cr_pose_point_inverse(crPose a, crVec3 x) {
    return cr_quat_rotate(cr_quat_conj(a.q), cr_sub(x, a.p));
}
// the pose whose parent is b's own frame, seen from b's parent
static inline crPose cr_pose_mul(crPose b, crPose a) {
    crPose r = {cr_pose_point(b, a.p), cr_quat_mul(b.q, a.q)};
    return r;
}
static inline crPose cr_pose_inverse(crPose a) {
    crPose r = {cr_quat_rotate(cr_quat_conj(a.q), cr_neg(a.p)), cr_quat_conj(a.q)};
    return r;
}

// Right-handed contact frame with columns n, t1, t2: t1 = z x n normalized, or +x where n is along z; t2 = n
// x t1.
CR_API crMat3 cr_frame(crVec3 n);

#ifdef __cplusplus
}
#endif

#endif
