// rotation.c - quaternions (w first) and the default contact frame.
#include "carom/vec.h"

crQuat cr_quat_normalize(crQuat q) {
    double r = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (r == 1.0) return q;
    if (!(r > 0.0) || !isfinite(r)) return cr_quat_identity();
    return (crQuat){q.w / r, q.x / r, q.y / r, q.z / r};
}

crQuat cr_quat_axis_angle(crVec3 axis, double angle) {
    double r = cr_norm(axis);
    if (!(r > 0.0) || !isfinite(r)) return cr_quat_identity();
    double s, c;
    cr_sincos(0.5 * angle, &s, &c);
    s /= r;
    return (crQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

static inline crVec3 rotate(crQuat q, crVec3 v) {
    // v + 2 u x (u x v + w v), u the vector part
    crVec3 u = cr_vec3(q.x, q.y, q.z);
    crVec3 inner = cr_madd(cr_cross(u, v), q.w, v);
    return cr_madd(v, 2.0, cr_cross(u, inner));
}

crVec3 cr_quat_rotate(crQuat q, crVec3 v) { return rotate(q, v); }

crMat3 cr_quat_matrix(crQuat q) {
    return cr_mat3_columns(rotate(q, cr_vec3(1, 0, 0)), rotate(q, cr_vec3(0, 1, 0)),
                           rotate(q, cr_vec3(0, 0, 1)));
}

crMat3 cr_frame(crVec3 n) {
    double r = sqrt(n.x * n.x + n.y * n.y);
    crVec3 t1 = r > 1e-9 ? cr_vec3(-n.y / r, n.x / r, 0.0) : cr_vec3(1.0, 0.0, 0.0);
    return cr_mat3_columns(n, t1, cr_cross(n, t1));
}
