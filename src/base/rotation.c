// rotation.c - quaternions (w first) and the default contact frame.
#include "carom/vec.h"

crQuat cr_quat_axis_angle(crVec3 axis, double angle) {
    double r = cr_norm(axis);
    if (!(r > 0.0) || !isfinite(r)) return cr_quat_identity();
    double s, c;
    cr_sincos(0.5 * angle, &s, &c);
    s /= r;
    return (crQuat){c, s * axis.x, s * axis.y, s * axis.z};
}

crMat3 cr_frame(crVec3 n) {
    double r = sqrt(n.x * n.x + n.y * n.y);
    crVec3 t1 = r > 1e-9 ? cr_vec3(-n.y / r, n.x / r, 0.0) : cr_vec3(1.0, 0.0, 0.0);
    return cr_mat3_columns(n, t1, cr_cross(n, t1));
}
