// rotation.c - exponential and logarithm of the rotation group, by quaternions.
//
// exp(phi) = (cos |phi|/2, sin(|phi|/2) phi/|phi|), and back by the arc tangent of its two parts, which is
// accurate for small and for large angles alike. Fails: nothing; the angle of a half turn keeps the sign of
// the quaternion.
#include "model/spatial.h"

crQuat cr__rotation_exp(crVec3 phi) {
    double angle = cr_norm(phi);
    double s, c;
    cr_sincos(0.5 * angle, &s, &c);
    double share = angle > 0.0 ? s / angle : 0.5;
    return (crQuat){c, share * phi.x, share * phi.y, share * phi.z};
}

crVec3 cr__rotation_log(crQuat q) {
    // q and -q are the same rotation: take the shorter way
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    crVec3 u = cr_vec3(sign * q.x, sign * q.y, sign * q.z);
    double s = cr_norm(u);
    if (!(s > 0.0)) return cr_scale(2.0, u);
    return cr_scale(2.0 * cr_atan2(s, sign * q.w) / s, u);
}

// by the largest component, so that nothing cancels (Shepperd 1978)
crQuat cr__rotation_of(crMat3 R) {
    const double(*m)[3] = (const double(*)[3])R.m;
    double trace = m[0][0] + m[1][1] + m[2][2];
    int i = 0;
    if (m[1][1] > m[i][i]) i = 1;
    if (m[2][2] > m[i][i]) i = 2;
    if (trace > m[i][i]) {
        return cr_quat_normalize(
            (crQuat){1.0 + trace, m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]});
    }
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double u[3];
    u[i] = 1.0 + m[i][i] - m[j][j] - m[k][k];
    u[j] = m[j][i] + m[i][j];
    u[k] = m[k][i] + m[i][k];
    return cr_quat_normalize((crQuat){m[k][j] - m[j][k], u[0], u[1], u[2]});
}
