// point.c - signed distance from a point to box, cylinder, cone and ellipsoid, in closed form but for the
// last.
//
// Cylinder and cone are plane figures in (rho, z), rho the distance from the axis. Ellipsoid: the nearest
// surface point is x_i = a_i^2 y_i / (a_i^2 + t) with t the largest root of sum (a_i y_i / (a_i^2 + t))^2 = 1
// (Eberly); that function falls and is convex right of -min a_i^2, so Newton's method from its left side
// climbs to the root without overshooting. Points on an axis of symmetry have several nearest points: one is
// chosen, and said so.
#include "collide/narrow.h"

double cr__box_point(crVec3 h, crVec3 y, crVec3* n, bool* choice) {
    crVec3 d = cr_vec3(fabs(y.x) - h.x, fabs(y.y) - h.y, fabs(y.z) - h.z);
    crVec3 out = cr_vec3(fmax(d.x, 0.0), fmax(d.y, 0.0), fmax(d.z, 0.0));
    double distance = cr_norm(out);
    if (distance > 0.0) {
        crVec3 u = cr__over(out, distance);
        *n = cr_vec3(copysign(u.x, y.x), copysign(u.y, y.y), copysign(u.z, y.z));
        return distance;
    }
    int k = d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
    *n = cr_vec3(k == 0 ? copysign(1.0, y.x) : 0.0, k == 1 ? copysign(1.0, y.y) : 0.0,
                 k == 2 ? copysign(1.0, y.z) : 0.0);
    *choice = cr__axis(y, k) == 0.0;
    return cr__axis(d, k);
}

// turn a normal of the (rho, z) plane back into space
static crVec3 swing(crVec3 y, double rho, double n_rho, double n_z, bool* choice) {
    if (rho > 0.0) return cr_vec3(n_rho * (y.x / rho), n_rho * (y.y / rho), n_z);
    *choice = n_rho != 0.0;
    return cr_vec3(n_rho, 0.0, n_z);
}

static double cylinder(double r, double h, crVec3 y, crVec3* n, bool* choice) {
    double rho = sqrt(y.x * y.x + y.y * y.y), side = rho - r, cap = fabs(y.z) - h, up = copysign(1.0, y.z);
    if (side > 0.0 && cap > 0.0) {
        double distance = sqrt(side * side + cap * cap);
        *n = swing(y, rho, side / distance, up * cap / distance, choice);
        return distance;
    }
    *n = side > cap ? swing(y, rho, 1.0, 0.0, choice) : cr_vec3(0, 0, up);
    if (side <= cap && y.z == 0.0) *choice = true;
    return fmax(side, cap);
}

// the figure is a right triangle: base from (0, -h) to (r, -h), slope from there to (0, h)
static double cone(double r, double h, crVec3 y, crVec3* n, bool* choice) {
    double rho = sqrt(y.x * y.x + y.y * y.y), length = sqrt(r * r + 4.0 * h * h);
    double t_rho = -r / length, t_z = 2.0 * h / length;
    double slope = t_z * (rho - r) - t_rho * (y.z + h), base = -h - y.z;
    if (slope <= 0.0 && base <= 0.0) {
        *n = slope > base ? swing(y, rho, t_z, -t_rho, choice) : cr_vec3(0, 0, -1);
        return fmax(slope, base);
    }
    // nearest points on the slope and on the base
    double along = fmin(fmax(t_rho * (rho - r) + t_z * (y.z + h), 0.0), length);
    double s_rho = rho - (r + along * t_rho), s_z = y.z - (-h + along * t_z);
    double b_rho = fmax(rho - r, 0.0), b_z = y.z + h;
    double to_slope = sqrt(s_rho * s_rho + s_z * s_z), to_base = sqrt(b_rho * b_rho + b_z * b_z);
    bool on_slope = to_slope <= to_base;
    double distance = on_slope ? to_slope : to_base;
    // on the face itself the face's normal is the accurate one
    if (on_slope && along > 0.0 && along < length)
        *n = swing(y, rho, t_z, -t_rho, choice);
    else if (!on_slope && b_rho == 0.0)
        *n = cr_vec3(0, 0, -1);
    else if (on_slope)
        *n = swing(y, rho, s_rho / distance, s_z / distance, choice);
    else
        *n = swing(y, rho, b_rho / distance, b_z / distance, choice);
    return distance;
}

// sum (a y / (d + s))^2 - 1, d = a^2 - min a^2 and s = t + min a^2: no digits are lost where s is small
static double excess(const double a[3], const double d[3], const double y[3], double s, double* slope) {
    double sum = -1.0;
    *slope = 0.0;
    for (int k = 0; k < 3; k++) {
        if (y[k] == 0.0) continue;
        double q = a[k] * y[k] / (d[k] + s);
        sum += q * q;
        *slope -= 2.0 * q * q / (d[k] + s);
    }
    return sum;
}

// nearest surface point; lengths scaled so that the largest semi-axis is 1
static void ellipsoid_nearest(const double a[3], const double y[3], double x[3], bool* choice) {
    int low = a[0] <= a[1] && a[0] <= a[2] ? 0 : a[1] <= a[2] ? 1 : 2;
    double d[3], s = 0.0, slope;
    for (int k = 0; k < 3; k++) {
        d[k] = (a[k] - a[low]) * (a[k] + a[low]);
        s = fmax(s, a[k] * y[k] - d[k]);
    }
    double g = excess(a, d, y, s, &slope);
    if (s == 0.0 && !(g > 0.0)) {
        // inside, on the plane across the shortest axis: that axis takes what the equation leaves
        double left = 1.0;
        for (int k = 0; k < 3; k++) {
            x[k] = k == low || y[k] == 0.0 ? 0.0 : a[k] * a[k] * y[k] / d[k];
            left -= (x[k] / a[k]) * (x[k] / a[k]);
        }
        x[low] = a[low] * sqrt(fmax(left, 0.0));
        *choice = true;
        return;
    }
    for (int i = 0; i < 200 && g > 0.0; i++) {
        double next = s - g / slope;
        if (!(next > s)) break;
        s = next;
        g = excess(a, d, y, s, &slope);
    }
    for (int k = 0; k < 3; k++)
        x[k] = y[k] == 0.0 ? 0.0 : a[k] * a[k] * y[k] / (d[k] + s);
}

static double ellipsoid(crVec3 size, crVec3 at, crVec3* n, bool* choice) {
    double scale = fmax(size.x, fmax(size.y, size.z));
    double a[3] = {size.x / scale, size.y / scale, size.z / scale};
    double y[3] = {fabs(at.x) / scale, fabs(at.y) / scale, fabs(at.z) / scale}, x[3];
    ellipsoid_nearest(a, y, x, choice);
    // the gradient of the surface is the normal; on it, distances follow without cancellation
    crVec3 m =
        cr__unit(cr_vec3(x[0] / (a[0] * a[0]), x[1] / (a[1] * a[1]), x[2] / (a[2] * a[2])), cr_vec3(0, 0, 1));
    double distance = m.x * (y[0] - x[0]) + m.y * (y[1] - x[1]) + m.z * (y[2] - x[2]);
    *n = cr_vec3(copysign(m.x, at.x), copysign(m.y, at.y), copysign(m.z, at.z));
    return scale * distance;
}

bool cr__point(const crConvex* c, crVec3 x, double* distance, crVec3* n, bool* choice) {
    crVec3 y = cr_mat3_mul_t(c->R, cr_sub(x, c->p)), local;
    *choice = false;
    switch (c->core) {
    case CR__BOX:
        *distance = cr__box_point(c->size, y, &local, choice);
        break;
    case CR__CYLINDER:
        *distance = cylinder(c->size.x, c->size.z, y, &local, choice);
        break;
    case CR__CONE:
        *distance = cone(c->size.x, c->size.z, y, &local, choice);
        break;
    case CR__ELLIPSOID:
        *distance = ellipsoid(c->size, y, &local, choice);
        break;
    default:
        return false;
    }
    *n = cr_mat3_mul(c->R, local);
    return true;
}
