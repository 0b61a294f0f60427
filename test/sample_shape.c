#include "sample_shape.h"

#include <stdlib.h>

const crShapeKind convex_kinds[CONVEX_KINDS] = {CR_SHAPE_SPHERE,   CR_SHAPE_CAPSULE, CR_SHAPE_BOX,
                                                CR_SHAPE_CYLINDER, CR_SHAPE_CONE,    CR_SHAPE_ELLIPSOID,
                                                CR_SHAPE_HULL};

// every triple of points with all others on one side is a face; points in general position
static crHull* brute_hull(const crVec3* p, int count) {
    int sizes[256], loops[768], faces = 0;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            for (int k = j + 1; k < count; k++) {
                crVec3 n = cr_cross(cr_sub(p[j], p[i]), cr_sub(p[k], p[i]));
                int above = 0, below = 0;
                for (int m = 0; m < count; m++) {
                    if (m == i || m == j || m == k) continue;
                    if (cr_dot(n, cr_sub(p[m], p[i])) > 0)
                        above++;
                    else
                        below++;
                }
                if (above > 0 && below > 0) continue;
                sizes[faces] = 3;
                loops[3 * faces] = i;
                loops[3 * faces + 1] = above == 0 ? j : k;
                loops[3 * faces + 2] = above == 0 ? k : j;
                faces++;
            }
    crHullDef def = {count, p, faces, sizes, loops};
    crHull* hull = NULL;
    crError error;
    if (cr_hull_create(&def, NULL, &hull, &error) != CR_OK) abort();
    return hull;
}

// points on an ellipsoid are all corners of their hull
crHullPool sample_hulls(crRandom* random) {
    crHullPool pool = {.count = 24};
    for (int h = 0; h < pool.count; h++) {
        crVec3 p[32];
        int count = 4 + (int)(sample_bits(random) % 20);
        double sx = h % 3 == 0 ? 0.05 : 1.0, sy = h % 3 != 1 ? 1.0 : 0.3;
        if (h >= 18) {
            // a prism: faces of more than three corners
            for (int i = 0; i < count; i++) {
                double angle = 2 * CR_PI * (i + 0.3) / count;
                p[i] = cr_vec3(sx * cr_cos(angle), sy * cr_sin(angle), 0);
            }
            if (cr_hull_create_prism(p, count, 0.7, NULL, &pool.hulls[h], NULL) != CR_OK) abort();
            continue;
        }
        for (int i = 0; i < count; i++) {
            crVec3 d = sample_direction(random);
            p[i] = cr_vec3(sx * d.x, sy * d.y, d.z);
        }
        pool.hulls[h] = brute_hull(p, count);
    }
    return pool;
}

void sample_hulls_destroy(crHullPool* pool) {
    for (int h = 0; h < pool->count; h++)
        cr_hull_destroy(pool->hulls[h]);
}

crShape sample_shape(crRandom* random, crShapeKind kind, crSampleForm form, const crHullPool* pool) {
    double lo = 0.5, hi = 2.0, s[3];
    if (form == FORM_THIN) lo = 2e-3;
    if (form == FORM_TINY) lo = 0.5e-4, hi = 2e-4;
    if (form == FORM_HUGE) lo = 0.5e4, hi = 2e4;
    for (int k = 0; k < 3; k++)
        s[k] = sample_log(random, lo, hi);
    switch (kind) {
    case CR_SHAPE_SPHERE:
        return cr_shape_sphere(s[0]);
    case CR_SHAPE_CAPSULE:
        return cr_shape_capsule(s[0], s[1]);
    case CR_SHAPE_BOX:
        return cr_shape_box(s[0], s[1], s[2]);
    case CR_SHAPE_CYLINDER:
        return cr_shape_cylinder(s[0], s[1]);
    case CR_SHAPE_CONE:
        return cr_shape_cone(s[0], s[1]);
    case CR_SHAPE_ELLIPSOID:
        return cr_shape_ellipsoid(s[0], s[1], s[2]);
    default:
        return cr_shape_hull(pool->hulls[sample_bits(random) % (uint64_t)pool->count]);
    }
}

crPose sample_pose(crRandom* random, crSampleForm form) {
    crPose pose = cr_pose_identity();
    pose.q = sample_rotation(random);
    if (form == FORM_SQUARE) {
        // one of the 24 turns of a cube, exact in its bits up to a half turn
        static const crQuat turns[4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0.5, 0.5, 0.5, 0.5}};
        pose.q = turns[sample_bits(random) % 4];
    }
    return pose;
}

static crVec3 farthest(const crVec3* p, int count, crVec3 d) {
    crVec3 best = p[0];
    for (int i = 1; i < count; i++)
        if (cr_dot(p[i], d) > cr_dot(best, d)) best = p[i];
    return best;
}

crVec3 shape_support(const crShape* shape, crPose pose, crVec3 world) {
    crVec3 d = cr_quat_rotate(cr_quat_conj(pose.q), world), s = shape->size, x = {0, 0, 0};
    double length = cr_norm(d), t = sqrt(d.x * d.x + d.y * d.y);
    crVec3 out = t > 0 ? cr_vec3(d.x / t, d.y / t, 0) : cr_vec3(0, 0, 0);
    int count;
    switch (shape->kind) {
    case CR_SHAPE_SPHERE:
        x = cr_scale(s.x / length, d);
        break;
    case CR_SHAPE_CAPSULE:
        x = cr_add(cr_vec3(0, 0, d.z > 0 ? s.z : -s.z), cr_scale(s.x / length, d));
        break;
    case CR_SHAPE_BOX:
        x = cr_vec3(d.x > 0 ? s.x : -s.x, d.y > 0 ? s.y : -s.y, d.z > 0 ? s.z : -s.z);
        break;
    case CR_SHAPE_CYLINDER:
        x = cr_madd(cr_vec3(0, 0, d.z > 0 ? s.z : -s.z), s.x, out);
        break;
    case CR_SHAPE_CONE: {
        crVec3 apex = cr_vec3(0, 0, s.z), base = cr_madd(cr_vec3(0, 0, -s.z), s.x, out);
        x = cr_dot(apex, d) > cr_dot(base, d) ? apex : base;
        break;
    }
    case CR_SHAPE_ELLIPSOID: {
        crVec3 e = cr_vec3(s.x * d.x, s.y * d.y, s.z * d.z);
        double h = cr_norm(e);
        x = cr_vec3(s.x * e.x / h, s.y * e.y / h, s.z * e.z / h);
        break;
    }
    default: {
        const crVec3* p = cr_hull_vertices(shape->data.hull, &count);
        x = farthest(p, count, d);
    }
    }
    return cr_pose_point(pose, x);
}

double shape_size(const crShape* shape) {
    crVec3 s = shape->size;
    if (shape->kind != CR_SHAPE_HULL) return shape->kind == CR_SHAPE_SPHERE ? s.x : cr_norm(s);
    int count;
    const crVec3* p = cr_hull_vertices(shape->data.hull, &count);
    double most = 0;
    for (int i = 0; i < count; i++)
        most = fmax(most, cr_norm(p[i]));
    return most;
}

double shape_outside(const crShape* shape, crPose pose, crVec3 x) {
    crVec3 y = cr_pose_point_inverse(pose, x), s = shape->size;
    double rho = sqrt(y.x * y.x + y.y * y.y);
    switch (shape->kind) {
    case CR_SHAPE_SPHERE:
        return cr_norm(y) - s.x;
    case CR_SHAPE_CAPSULE:
        return cr_norm(cr_vec3(y.x, y.y, y.z - fmin(fmax(y.z, -s.z), s.z))) - s.x;
    case CR_SHAPE_BOX:
        return fmax(fabs(y.x) - s.x, fmax(fabs(y.y) - s.y, fabs(y.z) - s.z));
    case CR_SHAPE_CYLINDER:
        return fmax(rho - s.x, fabs(y.z) - s.z);
    case CR_SHAPE_CONE: {
        double length = sqrt(s.x * s.x + 4 * s.z * s.z);
        return fmax((2 * s.z * rho + s.x * (y.z - s.z)) / length, -s.z - y.z);
    }
    case CR_SHAPE_ELLIPSOID: {
        double least = fmin(s.x, fmin(s.y, s.z));
        return least * (cr_norm(cr_vec3(y.x / s.x, y.y / s.y, y.z / s.z)) - 1);
    }
    default: {
        // far along a direction than any corner: hill climbing over the difference of support and point
        double worst = -INFINITY;
        int count;
        const crVec3* p = cr_hull_vertices(shape->data.hull, &count);
        for (int i = 0; i < count; i++)
            for (int j = i + 1; j < count; j++)
                for (int k = j + 1; k < count; k++) {
                    crVec3 n = cr_cross(cr_sub(p[j], p[i]), cr_sub(p[k], p[i]));
                    double area = cr_norm(n);
                    if (area < 1e-9) continue;
                    double lo = INFINITY, hi = -INFINITY, at = cr_dot(n, y);
                    for (int m = 0; m < count; m++) {
                        lo = fmin(lo, cr_dot(n, p[m]));
                        hi = fmax(hi, cr_dot(n, p[m]));
                    }
                    worst = fmax(worst, fmax(at - hi, lo - at) / area);
                }
        return worst;
    }
    }
}

double shape_separation(const crShape* a, crPose pa, const crShape* b, crPose pb, crVec3 n) {
    return cr_dot(n, cr_sub(shape_support(b, pb, cr_neg(n)), shape_support(a, pa, n)));
}
