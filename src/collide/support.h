// support.h - support points of the convex cores, within the functions that ask for many of them.
//
// A call costs as much as a point: vectors go through memory both ways. Ties (a whole face is farthest) give one of its points,
// always the same. Cylinders and cones give the centre of a cap that faces d exactly. No failure: d = 0 is not allowed.
#ifndef CAROM_COLLIDE_SUPPORT_H
#define CAROM_COLLIDE_SUPPORT_H

#include "collide/narrow.h"

#if defined(__GNUC__)
#define CR_HERE static inline __attribute__((always_inline))
#else
#define CR_HERE static inline
#endif

CR_HERE crVec3 cr__farthest(const crVec3* points, int count, crVec3 d) {
    int best = 0;
    double most = cr_dot(points[0], d);
    for (int i = 1; i < count; i++) {
        double value = cr_dot(points[i], d);
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return points[best];
}

// a point of the circle of radius r at height z, farthest along d
CR_HERE crVec3 cr__rim_point(double r, double z, crVec3 d) {
    double t = sqrt(d.x * d.x + d.y * d.y);
    if (!(t > 0.0)) return cr_vec3(0, 0, z);
    return t > 1e-140 ? cr_vec3(r / t * d.x, r / t * d.y, z) : cr_vec3(r * (d.x / t), r * (d.y / t), z);
}

CR_HERE crVec3 cr__local_support(const crConvex* c, crVec3 d) {
    crVec3 s = c->size;
    switch (c->core) {
    case CR__SEGMENT:
        return cr_vec3(0, 0, copysign(s.z, d.z));
    case CR__BOX:
        return cr_vec3(copysign(s.x, d.x), copysign(s.y, d.y), copysign(s.z, d.z));
    case CR__HULL:
        return cr__farthest(c->hull->vertices, c->hull->vertex_count, d);
    case CR__CYLINDER:
        return cr__rim_point(s.x, copysign(s.z, d.z), d);
    case CR__CONE: {
        double t = sqrt(d.x * d.x + d.y * d.y);
        return 2.0 * s.z * d.z > s.x * t ? cr_vec3(0, 0, s.z) : cr__rim_point(s.x, -s.z, d);
    }
    case CR__ELLIPSOID: {
        crVec3 e = cr_vec3(s.x * d.x, s.y * d.y, s.z * d.z);
        e = cr__unit(e, cr_vec3(0, 0, 1));
        return cr_vec3(s.x * e.x, s.y * e.y, s.z * e.z);
    }
    case CR__SUPPORT:
        return c->support(s, d);
    default:
        return cr_vec3(0, 0, 0);
    }
}

CR_HERE crVec3 cr__support_here(const crConvex* c, crVec3 d) {
    if (c->core == CR__POINT) return c->p;
    if (c->core == CR__TRIANGLE) return cr_add(c->p, cr__farthest(c->triangle, 3, d));
    return cr_add(c->p, cr_mat3_mul(c->R, cr__local_support(c, cr_mat3_mul_t(c->R, d))));
}

// cr__separation
CR_HERE double cr__separation_here(const crConvex* a, const crConvex* b, crVec3 n) {
    return cr_dot(n, cr_sub(cr__support_here(b, cr_neg(n)), cr__support_here(a, n)));
}

#endif
