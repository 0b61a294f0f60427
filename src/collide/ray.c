// ray.c - where a ray first meets a shape.
//
// Closed forms in the shape's frame: quadratics for sphere, capsule, cylinder, cone and ellipsoid (scaled to
// a unit sphere), slabs for box, planes for half-space and hull (Cyrus and Beck), Moller and Trumbore's test
// per triangle. An origin inside a solid is a hit at t = 0. Triangles are met from either side. Height fields
// are walked cell by cell within the ray's box. Fails: none; a ray along a surface may count as a miss.
#include "collide/kinds.h"
#include "collide/pieces.h"

typedef struct Ray {
    crVec3 o, d;
    double length;
} Ray;

// t of o + t d entering a convex solid, and the outward normal there
typedef struct Entry {
    double t;
    crVec3 n;
} Entry;

// interval of t where a q t^2 + 2 b t + c <= 0; false: empty
static bool quadratic(double a, double b, double c, double* t0, double* t1) {
    const double inf = (double)INFINITY;
    if (!(a > 0.0)) {
        *t0 = -inf;
        *t1 = inf;
        return c <= 0.0;
    }
    double root = b * b - a * c;
    if (root < 0.0) return false;
    // the root that does not cancel first
    double q = b > 0.0 ? -b - sqrt(root) : -b + sqrt(root);
    double x = q / a, y = q != 0.0 ? c / q : x;
    *t0 = fmin(x, y);
    *t1 = fmax(x, y);
    return true;
}

static bool enter(double t0, double t1, crVec3 n, Entry* e, double* leave) {
    *leave = fmin(*leave, t1);
    if (t0 > e->t) *e = (Entry){t0, n};
    return e->t <= *leave;
}

// slab or half-space n.x <= h
static bool plane(const Ray* r, crVec3 n, double h, Entry* e, double* leave) {
    double speed = cr_dot(n, r->d), over = cr_dot(n, r->o) - h;
    if (speed == 0.0) return over <= 0.0;
    double t = -over / speed;
    if (speed < 0.0) return enter(t, (double)INFINITY, n, e, leave);
    *leave = fmin(*leave, t);
    return e->t <= *leave;
}

static bool ball(const Ray* r, crVec3 centre, double radius, Entry* e) {
    crVec3 o = cr_sub(r->o, centre);
    double t0, t1;
    if (!quadratic(cr_dot(r->d, r->d), cr_dot(o, r->d), cr_dot(o, o) - radius * radius, &t0, &t1))
        return false;
    if (t1 < 0.0) return false;
    double t = fmax(t0, 0.0);
    if (t >= e->t) return false;
    *e = (Entry){t, cr__unit(cr_madd(o, t, r->d), cr_vec3(0, 0, 1))};
    return true;
}

// the tube x^2 + y^2 <= radius^2 between two heights, without asking for normals of its ends
static bool tube(const Ray* r, double radius, double h, Entry* e) {
    Entry in = {-(double)INFINITY, {0, 0, 1}};
    double leave = (double)INFINITY, t0, t1;
    if (!quadratic(r->d.x * r->d.x + r->d.y * r->d.y, r->o.x * r->d.x + r->o.y * r->d.y,
                   r->o.x * r->o.x + r->o.y * r->o.y - radius * radius, &t0, &t1))
        return false;
    crVec3 side = isfinite(t0)
                      ? cr__unit(cr_vec3(r->o.x + t0 * r->d.x, r->o.y + t0 * r->d.y, 0), cr_vec3(1, 0, 0))
                      : cr_vec3(1, 0, 0);
    if (!enter(t0, t1, side, &in, &leave)) return false;
    if (!plane(r, cr_vec3(0, 0, 1), h, &in, &leave) || !plane(r, cr_vec3(0, 0, -1), h, &in, &leave))
        return false;
    *e = in;
    return leave >= 0.0;
}

static bool capsule(const Ray* r, crVec3 s, Entry* e) {
    Entry best = {(double)INFINITY, {0, 0, 1}}, in;
    bool hit = false;
    if (tube(r, s.x, s.z, &in)) {
        best = in;
        best.t = fmax(in.t, 0.0);
        hit = true;
    }
    hit |= ball(r, cr_vec3(0, 0, s.z), s.x, &best);
    hit |= ball(r, cr_vec3(0, 0, -s.z), s.x, &best);
    *e = best;
    return hit;
}

// The constant and linear terms of the quadratic at o + t d tell what rounding left over: one step of
// Newton's method, where the surface is crossed and not only grazed.
static double refined(double t, double b, double c) {
    double step = b != 0.0 ? -0.5 * c / b : 0.0;
    return fabs(step) <= 1e-6 * fabs(t) ? t + step : t;
}

// double cone x^2 + y^2 <= k^2 (h - z)^2, cut to the half below its apex
static bool cone_ray(const Ray* r, crVec3 s, Entry* e) {
    double k = s.x / (2.0 * s.z), k2 = k * k, z = s.z - r->o.z, best = (double)INFINITY;
    double a = r->d.x * r->d.x + r->d.y * r->d.y - k2 * r->d.z * r->d.z;
    double b = r->o.x * r->d.x + r->o.y * r->d.y + k2 * z * r->d.z;
    double c = r->o.x * r->o.x + r->o.y * r->o.y - k2 * z * z;
    bool inside = c <= 0.0 && fabs(r->o.z) <= s.z;
    if (inside) {
        *e = (Entry){-1.0, {0, 0, 1}};
        return true;
    }
    double root = b * b - a * c;
    if (root >= 0.0) {
        double q = b > 0.0 ? -b - sqrt(root) : -b + sqrt(root);
        double roots[2] = {a != 0.0 ? q / a : (double)INFINITY, q != 0.0 ? c / q : (double)INFINITY};
        for (int i = 0; i < 2; i++) {
            if (!isfinite(roots[i])) continue;
            crVec3 near = cr_madd(r->o, roots[i], r->d);
            double left = s.z - near.z;
            roots[i] = refined(roots[i], near.x * r->d.x + near.y * r->d.y + k2 * left * r->d.z,
                               near.x * near.x + near.y * near.y - k2 * left * left);
            double at = r->o.z + roots[i] * r->d.z;
            if (roots[i] >= 0.0 && roots[i] < best && fabs(at) <= s.z) {
                best = roots[i];
                crVec3 p = cr_madd(r->o, best, r->d);
                *e = (Entry){best, cr__unit(cr_vec3(p.x, p.y, k2 * (s.z - p.z)), cr_vec3(0, 0, 1))};
            }
        }
    }
    double t = (-s.z - r->o.z) / r->d.z, x = r->o.x + t * r->d.x, y = r->o.y + t * r->d.y;
    if (r->d.z > 0.0 && t >= 0.0 && t < best && x * x + y * y <= s.x * s.x) {
        best = t;
        *e = (Entry){t, {0, 0, -1}};
    }
    return isfinite(best);
}

static bool ellipsoid_ray(const Ray* r, crVec3 s, Entry* e) {
    crVec3 o = cr_vec3(r->o.x / s.x, r->o.y / s.y, r->o.z / s.z),
           d = cr_vec3(r->d.x / s.x, r->d.y / s.y, r->d.z / s.z);
    double t0, t1;
    if (!quadratic(cr_dot(d, d), cr_dot(o, d), cr_dot(o, o) - 1.0, &t0, &t1) || t1 < 0.0) return false;
    crVec3 p = cr_madd(o, t0, d);
    t0 = refined(t0, cr_dot(p, d), cr_dot(p, p) - 1.0);
    *e = (Entry){t0, cr__unit(cr_vec3(p.x / s.x, p.y / s.y, p.z / s.z), cr_vec3(0, 0, 1))};
    return true;
}

static bool planes(const Ray* r, const crShape* s, Entry* e) {
    Entry in = {-(double)INFINITY, {0, 0, 1}};
    double leave = (double)INFINITY;
    if (s->kind == CR_SHAPE_HALFSPACE) {
        if (!plane(r, s->size, s->offset, &in, &leave)) return false;
    } else if (s->kind == CR_SHAPE_HULL) {
        const crHull* h = s->data.hull;
        for (int f = 0; f < h->face_count; f++)
            if (!plane(r, h->normals[f], h->offsets[f], &in, &leave)) return false;
    } else {
        for (int k = 0; k < 6; k++) {
            double sign = k & 1 ? -1.0 : 1.0;
            crVec3 n = cr_vec3(k < 2 ? sign : 0.0, k == 2 || k == 3 ? sign : 0.0, k > 3 ? sign : 0.0);
            if (!plane(r, n, cr__axis(s->size, k >> 1), &in, &leave)) return false;
        }
    }
    *e = in;
    return leave >= 0.0;
}

#define MARCHES 200

// a shape that only its support function is known of: from outside, by the distance that is left
static bool march(const Ray* r, const crShape* shape, Entry* e) {
    crShape s = *shape;
    s.pose = cr_pose_identity();
    double t = 0.0, extent = cr__shape_extent(&s), distance = 0.0;
    for (int i = 0; i < MARCHES && t <= r->length; i++) {
        crVec3 x = cr_madd(r->o, t, r->d), n;
        if (!cr_point_distance(&s, cr_pose_identity(), x, &distance, NULL, &n)) return false;
        if (distance <= 1e-12 * extent) {
            *e = (Entry){i == 0 && distance < 0.0 ? -1.0 : t, n};
            return true;
        }
        t += distance;
        if (cr_dot(x, r->d) > extent) return false;
    }
    return false;
}

static bool convex(const Ray* r, const crShape* s, Entry* e) {
    *e = (Entry){(double)INFINITY, {0, 0, 1}};
    if (cr__shapes[s->kind].support != NULL) return march(r, s, e);
    switch (s->kind) {
    case CR_SHAPE_SPHERE:
        return ball(r, cr_vec3(0, 0, 0), s->size.x, e);
    case CR_SHAPE_CAPSULE:
        return capsule(r, s->size, e);
    case CR_SHAPE_CYLINDER:
        return tube(r, s->size.x, s->size.z, e);
    case CR_SHAPE_CONE:
        return cone_ray(r, s->size, e);
    case CR_SHAPE_ELLIPSOID:
        return ellipsoid_ray(r, s->size, e);
    default:
        return planes(r, s, e);
    }
}

static bool triangle(const Ray* r, const crConvex* c, Entry* e) {
    crVec3 a = cr_add(c->p, c->triangle[0]);
    crVec3 u = cr_sub(c->triangle[1], c->triangle[0]), v = cr_sub(c->triangle[2], c->triangle[0]);
    crVec3 p = cr_cross(r->d, v), from = cr_sub(r->o, a), q = cr_cross(from, u);
    double det = cr_dot(u, p);
    if (det == 0.0) return false;
    double s = cr_dot(from, p) / det, t = cr_dot(r->d, q) / det;
    if (!(s >= 0.0 && t >= 0.0 && s + t <= 1.0)) return false;
    e->t = cr_dot(v, q) / det;
    e->n = det > 0.0 ? c->normal : cr_neg(c->normal);
    return e->t >= 0.0;
}

typedef struct Search {
    Ray ray;
    Entry best;
    int child;
} Search;

static bool meet_ray(void* ctx, const crConvex* piece) {
    Search* s = ctx;
    Entry e;
    if (triangle(&s->ray, piece, &e) && e.t < s->best.t) {
        s->best = e;
        s->child = piece->child;
    }
    return true;
}

// pieces in the box of the ray, in the shape's frame
static void pieces(const crShape* shape, Search* s) {
    if (shape->kind == CR_SHAPE_COMPOUND) {
        for (int i = 0; i < shape->data.compound->count; i++) {
            const crShape* child = &shape->data.compound->children[i];
            Ray r = {cr_pose_point_inverse(child->pose, s->ray.o),
                     cr_quat_rotate(cr_quat_conj(child->pose.q), s->ray.d), s->ray.length};
            Entry e;
            if (!convex(&r, child, &e) || !(fmax(e.t, 0.0) < s->best.t)) continue;
            s->best =
                (Entry){fmax(e.t, 0.0), e.t < 0.0 ? cr_neg(s->ray.d) : cr_quat_rotate(child->pose.q, e.n)};
            s->child = i;
        }
        return;
    }
    double far = fmin(s->ray.length, 1e300);
    crVec3 end = cr_madd(s->ray.o, far, s->ray.d);
    crBounds box = cr__box_union((crBounds){s->ray.o, s->ray.o}, (crBounds){end, end});
    cr__pieces_in(shape, cr_pose_identity(), cr_vec3(0, 0, 0), &box, meet_ray, s);
}

bool cr_ray(const crShape* shape, crPose body, crVec3 origin, crVec3 direction, double length,
            crRayHit* hit) {
    if (!cr__shape_given(shape) || hit == NULL) return false;
    crPose pose = cr_pose_mul(body, shape->pose);
    Search s = {.best = {(double)INFINITY, {0, 0, 1}}};
    s.ray =
        (Ray){cr_pose_point_inverse(pose, origin), cr_quat_rotate(cr_quat_conj(pose.q), direction), length};
    if (!cr__is_convex(shape))
        pieces(shape, &s);
    else if (!convex(&s.ray, shape, &s.best))
        return false;
    if (!(s.best.t <= length)) return false;
    bool inside = s.best.t < 0.0;
    hit->t = fmax(s.best.t, 0.0);
    hit->point = cr_madd(origin, hit->t, direction);
    hit->normal = inside ? cr_neg(direction) : cr_quat_rotate(pose.q, s.best.n);
    hit->child = s.child;
    return true;
}
