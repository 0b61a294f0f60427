// shape.c - the shapes: constructors, what is refused, bounding boxes and reach.
//
// Bounds are tight for single convex shapes (how far each reaches along the axes, in closed form) and for meshes and height
// fields by their vertices; a compound's is the union of its children's. Fails: cr_shape_check names the
// field that is zero, negative, not finite or not unit, and what a moving body cannot carry.
#include "collide/kinds.h"
#include "collide/pieces.h"

static double ball_extent(crVec3 s) { return s.x; }
static double capsule_extent(crVec3 s) { return s.x + s.z; }
static double round_extent(crVec3 s) { return sqrt(s.x * s.x + s.z * s.z); }
static double box_extent(crVec3 s) { return cr_norm(s); }
static double ellipsoid_extent(crVec3 s) { return fmax(s.x, fmax(s.y, s.z)); }

#define ROUND(half_name) {"radius", "radius", half_name}
#define HALF_HEIGHT      "half its height, m"

const cr__ShapeKind cr__shapes[CR_SHAPE_KINDS] = {
    [CR_SHAPE_SPHERE] = {.info = {"sphere", 1, {"r"}, {"the radius, m"}, false},
                         .names = ROUND("radius"),
                         .extent = ball_extent},
    [CR_SHAPE_CAPSULE] = {.info = {"capsule",
                                   2,
                                   {"r", "half"},
                                   {"the radius, m", "half the length of its axis without the caps, m"},
                                   true},
                          .names = ROUND("half_length"),
                          .extent = capsule_extent},
    [CR_SHAPE_BOX] = {.info = {"box", 3, {"half"}, {"half its edges, m"}, false},
                      .names = {"half_x", "half_y", "half_z"},
                      .extent = box_extent},
    [CR_SHAPE_CYLINDER] = {.info = {"cylinder", 2, {"r", "half"}, {"the radius, m", HALF_HEIGHT}, true},
                           .names = ROUND("half_height"),
                           .extent = round_extent},
    [CR_SHAPE_CONE] = {.info = {"cone", 2, {"r", "half"}, {"the radius, m", HALF_HEIGHT}, true},
                       .names = ROUND("half_height"),
                       .extent = round_extent},
    [CR_SHAPE_ELLIPSOID] = {.info = {"ellipsoid", 3, {"radii"}, {"its semi-axes, m"}, false},
                            .names = {"a", "b", "c"},
                            .extent = ellipsoid_extent},
    [CR_SHAPE_HALFSPACE] = {.info = {.name = "half-space"}},
    [CR_SHAPE_HULL] = {.info = {.name = "hull"}},
    [CR_SHAPE_MESH] = {.info = {.name = "mesh"}},
    [CR_SHAPE_HEIGHTFIELD] = {.info = {.name = "height field"}},
    [CR_SHAPE_COMPOUND] = {.info = {.name = "compound"}},
};

const crShapeInfo* cr_shape_info(crShapeKind kind) {
    return (unsigned)kind < CR_SHAPE_KINDS ? &cr__shapes[kind].info : NULL;
}

static crShape shape(crShapeKind kind, double x, double y, double z) {
    return (crShape){.kind = kind, .pose = cr_pose_identity(), .size = cr_vec3(x, y, z)};
}

crShape cr_shape(crShapeKind kind, const double* sizes) {
    const crShapeInfo* info = cr_shape_info(kind);
    if (info == NULL || sizes == NULL || info->sizes == 0) return (crShape){0};
    if (info->sizes == 3) return shape(kind, sizes[0], sizes[1], sizes[2]);
    return shape(kind, sizes[0], sizes[0], sizes[info->sizes - 1]);
}

crShape cr_shape_sphere(double radius) { return shape(CR_SHAPE_SPHERE, radius, radius, radius); }
crShape cr_shape_capsule(double radius, double half_length) {
    return shape(CR_SHAPE_CAPSULE, radius, radius, half_length);
}
crShape cr_shape_box(double half_x, double half_y, double half_z) {
    return shape(CR_SHAPE_BOX, half_x, half_y, half_z);
}
crShape cr_shape_cylinder(double radius, double half_height) {
    return shape(CR_SHAPE_CYLINDER, radius, radius, half_height);
}
crShape cr_shape_cone(double radius, double half_height) {
    return shape(CR_SHAPE_CONE, radius, radius, half_height);
}
crShape cr_shape_ellipsoid(double a, double b, double c) { return shape(CR_SHAPE_ELLIPSOID, a, b, c); }
crShape cr_shape_halfspace(crVec3 normal, double offset) {
    crShape s = shape(CR_SHAPE_HALFSPACE, normal.x, normal.y, normal.z);
    s.offset = offset;
    return s;
}
crShape cr_shape_hull(const crHull* hull) {
    crShape s = shape(CR_SHAPE_HULL, 0, 0, 0);
    s.data.hull = hull;
    return s;
}
crShape cr_shape_mesh(const crMesh* mesh) {
    crShape s = shape(CR_SHAPE_MESH, 0, 0, 0);
    s.data.mesh = mesh;
    return s;
}
crShape cr_shape_heightfield(const crHeightField* field) {
    crShape s = shape(CR_SHAPE_HEIGHTFIELD, 0, 0, 0);
    s.data.field = field;
    return s;
}
crShape cr_shape_compound(const crCompound* compound) {
    crShape s = shape(CR_SHAPE_COMPOUND, 0, 0, 0);
    s.data.compound = compound;
    return s;
}

static crStatus positive(const char* shape_name, const char* field, double value, crError* error) {
    if (!isfinite(value))
        return cr_error_set(error, CR_ERR_FINITE, field, "%s: %s is %g; it must be finite", shape_name, field,
                            value);
    // squares and their inverses must stay representable
    if (!(value >= 1e-100 && value <= 1e100))
        return cr_error_set(error, CR_ERR_RANGE, field, "%s: %s is %g; it must be > 0 (1e-100 to 1e100 m)",
                            shape_name, field, value);
    return CR_OK;
}

static crStatus check_size(const crShape* s, crError* error) {
    const cr__ShapeKind* kind = &cr__shapes[s->kind];
    int count = kind->info.sizes == 1 ? 1 : 3;
    for (int k = 0; k < count; k++) {
        crStatus status = positive(kind->info.name, kind->names[k], cr__axis(s->size, k), error);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}

static crStatus check_halfspace(const crShape* s, crError* error) {
    if (!cr_vec3_finite(s->size))
        return cr_error_set(error, CR_ERR_FINITE, "normal", "half-space: normal must be finite");
    if (!(fabs(cr_norm(s->size) - 1.0) <= 1e-9))
        return cr_error_set(error, CR_ERR_UNIT, "normal", "half-space: |normal| is %g; it must be 1",
                            cr_norm(s->size));
    if (!isfinite(s->offset))
        return cr_error_set(error, CR_ERR_FINITE, "offset", "half-space: offset is %g; it must be finite",
                            s->offset);
    return CR_OK;
}

static crStatus check_pose(const crShape* s, crError* error) {
    crQuat q = s->pose.q;
    double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!cr_vec3_finite(s->pose.p) || !isfinite(square))
        return cr_error_set(error, CR_ERR_FINITE, "pose", "%s: pose must be finite",
                            cr__shapes[s->kind].info.name);
    if (!(fabs(square - 1.0) <= 1e-9))
        return cr_error_set(error, CR_ERR_UNIT, "pose", "%s: |pose.q| is %g; it must be 1",
                            cr__shapes[s->kind].info.name, sqrt(square));
    return CR_OK;
}

static crStatus check_moving(const crShape* s, crError* error) {
    const char* name = cr__shapes[s->kind].info.name;
    if (s->kind == CR_SHAPE_HALFSPACE || s->kind == CR_SHAPE_HEIGHTFIELD)
        return cr_error_set(error, CR_ERR_RANGE, "shape", "%s: only on a body that does not move", name);
    if (s->kind == CR_SHAPE_MESH && !s->data.mesh->closed)
        return cr_error_set(error, CR_ERR_RANGE, "shape",
                            "mesh: it is open; on a moving body every edge must have two triangles");
    return CR_OK;
}

crStatus cr_shape_check(const crShape* s, bool moving, crError* error) {
    if (s == NULL) return cr_error_set(error, CR_ERR_ARGUMENT, "shape", "shape is NULL");
    if ((unsigned)s->kind >= CR_SHAPE_KINDS)
        return cr_error_set(error, CR_ERR_RANGE, "kind", "shape kind is %d; it must be 0 to %d", (int)s->kind,
                            CR_SHAPE_KINDS - 1);
    crStatus status = check_pose(s, error);
    if (status != CR_OK) return status;
    if (s->kind < CR_SHAPE_HALFSPACE) status = check_size(s, error);
    if (s->kind == CR_SHAPE_HALFSPACE) status = check_halfspace(s, error);
    if (s->kind > CR_SHAPE_HALFSPACE && s->data.hull == NULL)
        status = cr_error_set(error, CR_ERR_ARGUMENT, "data", "%s: its data is NULL",
                              cr__shapes[s->kind].info.name);
    if (status != CR_OK || !moving) return status;
    return check_moving(s, error);
}

// how far half edges reach along each axis
static crVec3 box_reaches(crVec3 half, crQuat q) {
    crMat3 R = cr__rotation(q);
    double r[3];
    for (int k = 0; k < 3; k++)
        r[k] = fabs(R.m[k][0]) * half.x + fabs(R.m[k][1]) * half.y + fabs(R.m[k][2]) * half.z;
    return cr_vec3(r[0], r[1], r[2]);
}

// ball, box and capsule reach as far one way as the other
static crBounds symmetric_bounds(const crShape* s, crPose pose) {
    crVec3 reach = cr_vec3(s->size.x, s->size.x, s->size.x);
    if (s->kind == CR_SHAPE_BOX) reach = box_reaches(s->size, pose.q);
    if (s->kind == CR_SHAPE_CAPSULE) {
        crVec3 axis = cr_quat_rotate(pose.q, cr_vec3(0, 0, s->size.z));
        reach = cr_add(reach, cr_vec3(fabs(axis.x), fabs(axis.y), fabs(axis.z)));
    }
    return (crBounds){cr_sub(pose.p, reach), cr_add(pose.p, reach)};
}

// Least and largest height of a shape along l, a unit vector in its own axes, over its origin, m.
static void reach_along(const crShape* s, crVec3 l, double* lo, double* hi) {
    crVec3 size = s->size;
    double across = size.x * sqrt(l.x * l.x + l.y * l.y), up = size.z * l.z;
    switch (s->kind) {
    case CR_SHAPE_CYLINDER:
        *hi = across + fabs(up);
        *lo = -*hi;
        return;
    case CR_SHAPE_CONE:
        *hi = up > across - up ? up : across - up;
        *lo = up < -across - up ? up : -across - up;
        return;
    case CR_SHAPE_ELLIPSOID:
        *hi = cr_norm(cr_vec3(size.x * l.x, size.y * l.y, up));
        *lo = -*hi;
        return;
    case CR_SHAPE_HULL:
        cr__points_range(s->data.hull->vertices, s->data.hull->vertex_count, l, lo, hi);
        return;
    default:
        *hi = cr_dot(cr__shapes[s->kind].support(size, l), l);
        *lo = cr_dot(cr__shapes[s->kind].support(size, cr_neg(l)), l);
        return;
    }
}

static crBounds convex_bounds(const crShape* s, crPose pose) {
    if (s->kind == CR_SHAPE_SPHERE || s->kind == CR_SHAPE_BOX || s->kind == CR_SHAPE_CAPSULE)
        return symmetric_bounds(s, pose);
    crMat3 R = cr__rotation(pose.q);
    double lo[3], hi[3];
    for (int k = 0; k < 3; k++) {
        reach_along(s, cr_vec3(R.m[k][0], R.m[k][1], R.m[k][2]), &lo[k], &hi[k]);
    }
    return (crBounds){cr_add(pose.p, cr_vec3(lo[0], lo[1], lo[2])),
                      cr_add(pose.p, cr_vec3(hi[0], hi[1], hi[2]))};
}

// the box around a box that is turned
static crBounds turned_box(crBounds box, crPose pose) {
    crVec3 middle = cr_pose_point(pose, cr_scale(0.5, cr_add(box.lo, box.hi)));
    crVec3 reach = box_reaches(cr_scale(0.5, cr_sub(box.hi, box.lo)), pose.q);
    return (crBounds){cr_sub(middle, reach), cr_add(middle, reach)};
}

// bounded on one side where the normal is along an axis, else by nothing
static crBounds halfspace_bounds(const crShape* s, crPose pose) {
    crConvex c;
    cr__convex_set(&c, s, &pose, cr_vec3(0, 0, 0));
    const double inf = (double)INFINITY;
    crVec3 n = c.size;
    crBounds box = {cr_vec3(-inf, -inf, -inf), cr_vec3(inf, inf, inf)};
    if (n.y == 0.0 && n.z == 0.0) *(n.x > 0.0 ? &box.hi.x : &box.lo.x) = n.x * c.offset;
    if (n.z == 0.0 && n.x == 0.0) *(n.y > 0.0 ? &box.hi.y : &box.lo.y) = n.y * c.offset;
    if (n.x == 0.0 && n.y == 0.0) *(n.z > 0.0 ? &box.hi.z : &box.lo.z) = n.z * c.offset;
    return box;
}

crBounds cr_shape_bounds(const crShape* s, crPose body) {
    if (!cr__shape_given(s)) return (crBounds){0};
    crPose pose = cr__shape_pose(s, &body);
    if (s->kind == CR_SHAPE_HALFSPACE) return halfspace_bounds(s, pose);
    if (s->kind == CR_SHAPE_COMPOUND) {
        const crCompound* all = s->data.compound;
        crBounds box = cr_shape_bounds(&all->children[0], pose);
        for (int i = 1; i < all->count; i++)
            box = cr__box_union(box, cr_shape_bounds(&all->children[i], pose));
        return box;
    }
    if (s->kind == CR_SHAPE_MESH) return turned_box(s->data.mesh->nodes[0].box, pose);
    if (s->kind == CR_SHAPE_HEIGHTFIELD) return turned_box(s->data.field->box, pose);
    return convex_bounds(s, pose);
}

// farthest corner of a box from a point
static double box_reach(crBounds box, crVec3 point) {
    crVec3 d = cr_vec3(fmax(fabs(box.lo.x - point.x), fabs(box.hi.x - point.x)),
                       fmax(fabs(box.lo.y - point.y), fabs(box.hi.y - point.y)),
                       fmax(fabs(box.lo.z - point.z), fabs(box.hi.z - point.z)));
    return cr_norm(d);
}

double cr_shape_reach(const crShape* s, crVec3 point) {
    if (!cr__shape_given(s)) return (double)NAN;
    if (s->kind == CR_SHAPE_HALFSPACE) return (double)INFINITY;
    crVec3 local = cr_pose_point_inverse(s->pose, point);
    if (s->kind == CR_SHAPE_MESH) return box_reach(s->data.mesh->nodes[0].box, local);
    if (s->kind == CR_SHAPE_HEIGHTFIELD) return box_reach(s->data.field->box, local);
    if (s->kind == CR_SHAPE_COMPOUND) {
        double reach = 0.0;
        for (int i = 0; i < s->data.compound->count; i++)
            reach = fmax(reach, cr_shape_reach(&s->data.compound->children[i], local));
        return reach;
    }
    crConvex c;
    cr__convex_set(&c, s, &s->pose, s->pose.p);
    if (c.core == CR__BOX) return box_reach((crBounds){cr_neg(s->size), s->size}, local);
    return c.extent + c.radius + cr_norm(local);
}
