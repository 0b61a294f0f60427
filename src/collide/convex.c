// convex.c - support points, faces and edge directions of the convex cores.
//
// The support function h(d) = max d.x over a core is all that GJK and EPA know of it; the separating-axis
// test also asks for faces and edge directions. Support points are those of support.h.
#include "collide/convex.h"
#include "collide/kinds.h"
#include "collide/support.h"

static void set_size(crConvex* c, const crShape* shape) {
    crVec3 s = shape->size;
    c->size = s;
    switch (shape->kind) {
    case CR_SHAPE_SPHERE:
        c->core = CR__POINT;
        c->radius = s.x;
        break;
    case CR_SHAPE_CAPSULE:
        c->core = CR__SEGMENT;
        c->radius = s.x;
        c->extent = s.z;
        break;
    case CR_SHAPE_CYLINDER:
    case CR_SHAPE_CONE:
        c->core = shape->kind == CR_SHAPE_CONE ? CR__CONE : CR__CYLINDER;
        c->extent = sqrt(s.x * s.x + s.z * s.z);
        break;
    case CR_SHAPE_ELLIPSOID:
        c->core = CR__ELLIPSOID;
        c->extent = fmax(s.x, fmax(s.y, s.z));
        break;
    case CR_SHAPE_HULL:
        c->core = CR__HULL;
        c->hull = shape->data.hull;
        c->extent = c->hull->extent;
        break;
    case CR_SHAPE_HALFSPACE:
        c->core = CR__HALFSPACE;
        break;
    default:
        c->core = CR__SUPPORT;
        c->support = cr__shapes[shape->kind].support;
        c->extent = cr__shapes[shape->kind].extent(s);
        break;
    }
}

crMat3 cr__rotation(crQuat q) {
    double x = q.x + q.x, y = q.y + q.y, z = q.z + q.z;
    double wx = q.w * x, wy = q.w * y, wz = q.w * z, xx = q.x * x, xy = q.x * y, xz = q.x * z;
    double yy = q.y * y, yz = q.y * z, zz = q.z * z;
    return (crMat3){{{1.0 - (yy + zz), xy - wz, xz + wy},
                     {xy + wz, 1.0 - (xx + zz), yz - wx},
                     {xz - wy, yz + wx, 1.0 - (xx + yy)}}};
}

crPose cr__shape_pose(const crShape* shape, const crPose* body) {
    const crPose* s = &shape->pose;
    bool turned = s->q.x != 0.0 || s->q.y != 0.0 || s->q.z != 0.0 || s->q.w != 1.0;
    bool shifted = s->p.x != 0.0 || s->p.y != 0.0 || s->p.z != 0.0;
    if (turned) return cr_pose_mul(*body, *s);
    return shifted ? (crPose){cr_pose_point(*body, s->p), body->q} : *body;
}

double cr__shape_extent(const crShape* shape) {
    if (shape->kind == CR_SHAPE_HULL) return shape->data.hull->extent;
    const cr__ShapeKind* kind = &cr__shapes[shape->kind];
    return kind->extent != NULL ? kind->extent(shape->size) : 0.0;
}

crVec3 cr__plane_normal(const crShape* plane, crQuat q) {
    bool turned = q.x != 0.0 || q.y != 0.0 || q.z != 0.0;
    crVec3 n = turned ? cr_mat3_mul(cr__rotation(q), plane->size) : plane->size;
    double nn = cr_dot(n, n);
    return fabs(nn - 1.0) > 0x1p-52 ? cr__unit(n, cr_vec3(0, 0, 1)) : n;
}

void cr__convex_set(crConvex* c, const crShape* shape, const crPose* pose, crVec3 origin) {
    // fields of triangles are not set: pairs come in thousands
    c->child = 0;
    c->radius = c->extent = c->offset = 0.0;
    c->deep = false;
    c->hull = NULL;
    c->support = NULL;
    c->q = pose->q;
    c->p = cr_sub(pose->p, origin);
    if (shape->kind == CR_SHAPE_BOX) {
        c->core = CR__BOX;
        c->size = shape->size;
        c->extent = cr_norm(shape->size);
        c->R = cr__rotation(pose->q);
        return;
    }
    set_size(c, shape);
    // a point has no use for axes but one, and that hardly ever
    if (c->core != CR__POINT) c->R = cr__rotation(pose->q);
    if (c->core == CR__HALFSPACE) {
        c->size = cr__plane_normal(shape, pose->q);
        c->offset = shape->offset + cr_dot(c->size, c->p);
    }
}

void cr__convex_triangle(crConvex* c, const crVec3 corners[3], int child) {
    *c = (crConvex){.core = CR__TRIANGLE, .child = child};
    crVec3 sum = cr_add(corners[0], cr_add(corners[1], corners[2]));
    c->p = cr_scale(1.0 / 3.0, sum);
    for (int i = 0; i < 3; i++) {
        c->triangle[i] = cr_sub(corners[i], c->p);
        c->extent = fmax(c->extent, cr_norm(c->triangle[i]));
    }
    crVec3 cross = cr_cross(cr_sub(corners[1], corners[0]), cr_sub(corners[2], corners[0]));
    c->normal = cr__unit(cross, cr_vec3(0, 0, 1));
}

crVec3 cr__support(const crConvex* c, crVec3 d) { return cr__support_here(c, d); }

void cr__points_range(const crVec3* points, int count, crVec3 d, double* lo, double* hi) {
    *lo = *hi = cr_dot(points[0], d);
    for (int i = 1; i < count; i++) {
        double value = cr_dot(points[i], d);
        if (value < *lo) *lo = value;
        if (value > *hi) *hi = value;
    }
}

void cr__range(const crConvex* c, crVec3 d, double* lo, double* hi) {
    double middle = cr_dot(c->p, d);
    if (c->core == CR__TRIANGLE) {
        cr__points_range(c->triangle, 3, d, lo, hi);
    } else if (c->core == CR__HULL) {
        cr__points_range(c->hull->vertices, c->hull->vertex_count, cr_mat3_mul_t(c->R, d), lo, hi);
    } else if (c->core == CR__BOX) {
        crVec3 l = cr_mat3_mul_t(c->R, d);
        *hi = fabs(l.x) * c->size.x + fabs(l.y) * c->size.y + fabs(l.z) * c->size.z;
        *lo = -*hi;
    } else if (c->core == CR__POINT) {
        *lo = *hi = 0.0;
    } else {
        *hi = cr_dot(cr_sub(cr__support(c, d), c->p), d);
        *lo = cr_dot(cr_sub(cr__support(c, cr_neg(d)), c->p), d);
    }
    *lo += middle;
    *hi += middle;
}

crVec3 cr__centre(const crConvex* c) {
    if (c->core == CR__HULL) return cr_add(c->p, cr_mat3_mul(c->R, c->hull->centre));
    return c->p;
}

int cr__face_count(const crConvex* c) {
    switch (c->core) {
    case CR__TRIANGLE:
        return 2;
    case CR__BOX:
        return 6;
    case CR__HULL:
        return c->hull->face_count;
    default:
        return 0;
    }
}

crVec3 cr__face_normal(const crConvex* c, int i) {
    if (c->core == CR__TRIANGLE) return i == 0 ? c->normal : cr_neg(c->normal);
    if (c->core == CR__HULL) return cr_mat3_mul(c->R, c->hull->normals[i]);
    crVec3 n = cr_mat3_column(c->R, i >> 1);
    return (i & 1) ? cr_neg(n) : n;
}

double cr__face_offset(const crConvex* c, int i) {
    crVec3 n = cr__face_normal(c, i);
    double middle = cr_dot(n, c->p);
    if (c->core == CR__TRIANGLE) {
        double lo, hi;
        cr__points_range(c->triangle, 3, n, &lo, &hi);
        return middle + hi;
    }
    if (c->core == CR__HULL) return middle + c->hull->offsets[i];
    return middle + cr__axis(c->size, i >> 1);
}

int cr__edge_count(const crConvex* c) {
    switch (c->core) {
    case CR__SEGMENT:
        return 1;
    case CR__TRIANGLE:
    case CR__BOX:
        return 3;
    case CR__HULL:
        return c->hull->direction_count;
    default:
        return 0;
    }
}

crVec3 cr__edge_direction(const crConvex* c, int i) {
    if (c->core == CR__TRIANGLE) {
        crVec3 e = cr_sub(c->triangle[(i + 1) % 3], c->triangle[i]);
        return cr__unit(e, cr_vec3(0, 0, 1));
    }
    if (c->core == CR__HULL) return cr_mat3_mul(c->R, c->hull->directions[i]);
    return cr_mat3_column(c->R, c->core == CR__SEGMENT ? 2 : i);
}
