// planar.c - contacts of planar work: outlines in a plane, at most two points, normals in the plane.
//
// An outline is a convex polygon (one corner: disc, two: rod) with a radius, or a half-plane. Gap and normal
// follow from the definition in the plane: overlapping cores take the edge normal of least separation
// (separating axes), others the nearest corner and edge. Near-parallel edges are clipped to the two ends of
// what they share, as in space. Fails: shapes whose outline is not one of these (a tilted box, a cone) are
// refused by name.
#include "base/argument.h"
#include "collide/convex.h"
#include "collide/manifold.h"

#define CORNERS 64
#define FACING  0.99

typedef struct Outline {
    int count;                      // 0: half-plane
    double x[CORNERS], y[CORNERS];  // counterclockwise, m
    double radius;
    double nx, ny, offset;  // half-plane
    int id[CORNERS];        // of the corner, for feature ids
    double extent;
} Outline;

typedef struct Plane {
    crVec3 origin, u, v, axis;
} Plane;

static void add(Outline* o, const Plane* plane, crVec3 world, int id) {
    crVec3 r = cr_sub(world, plane->origin);
    o->x[o->count] = cr_dot(plane->u, r);
    o->y[o->count] = cr_dot(plane->v, r);
    o->id[o->count++] = id;
}

static double turn(const Outline* o, int i, int j, int k) {
    return (o->x[j] - o->x[i]) * (o->y[k] - o->y[i]) - (o->y[j] - o->y[i]) * (o->x[k] - o->x[i]);
}

// gift wrapping of the projected corners; those on an edge are left out
static bool wrap(const Outline* all, Outline* o) {
    int start = 0, at, rounds = 0;
    double size = 0.0;
    for (int i = 1; i < all->count; i++) {
        if (all->x[i] < all->x[start] || (all->x[i] == all->x[start] && all->y[i] < all->y[start])) start = i;
        size = fmax(size, fabs(all->x[i] - all->x[0]) + fabs(all->y[i] - all->y[0]));
    }
    o->count = 0;
    at = start;
    do {
        if (o->count == CORNERS || rounds++ > all->count) return false;
        o->x[o->count] = all->x[at];
        o->y[o->count] = all->y[at];
        o->id[o->count++] = all->id[at];
        int next = -1;
        for (int i = 0; i < all->count; i++) {
            double dx = all->x[i] - all->x[at], dy = all->y[i] - all->y[at];
            if (fabs(dx) + fabs(dy) <= 1e-9 * size) continue;
            if (next < 0) next = i;
            double side = turn(all, at, next, i), ex = all->x[next] - all->x[at],
                   ey = all->y[next] - all->y[at];
            double tol = 1e-9 * size * size;
            if (side < -tol || (side <= tol && dx * dx + dy * dy > ex * ex + ey * ey)) next = i;
        }
        if (next < 0) return false;
        at = next;
    } while (fabs(all->x[at] - o->x[0]) + fabs(all->y[at] - o->y[0]) > 1e-9 * size);
    return o->count >= 3;
}

static crStatus refuse(const crShape* s, const char* which, crError* error) {
    return cr_error_set(error, CR_ERR_PLANAR, which,
                        "%s: its outline in the plane is not a disc, rod or polygon",
                        cr_shape_info(s->kind)->name);
}

static crStatus polygon(const crShape* s, crPose pose, const Plane* plane, Outline* o, const char* which,
                        crError* error) {
    Outline all = {.count = 0};
    if (s->kind == CR_SHAPE_BOX) {
        for (int i = 0; i < 8; i++)
            add(&all, plane,
                cr_pose_point(pose, cr_vec3(i & 1 ? s->size.x : -s->size.x, i & 2 ? s->size.y : -s->size.y,
                                            i & 4 ? s->size.z : -s->size.z)),
                i);
    } else {
        if (s->data.hull->vertex_count > CORNERS)
            return cr_error_set(error, CR_ERR_LIMIT, which, "hull: %d vertices; planar work takes up to %d",
                                s->data.hull->vertex_count, CORNERS);
        for (int i = 0; i < s->data.hull->vertex_count; i++)
            add(&all, plane, cr_pose_point(pose, s->data.hull->vertices[i]), i);
    }
    return wrap(&all, o) ? CR_OK : refuse(s, which, error);
}

static crStatus outline(const crShape* s, crPose body, const Plane* plane, Outline* o, const char* which,
                        crError* error) {
    crPose pose = cr_pose_mul(body, s->pose);
    crStatus status = CR_OK;
    crVec3 z = cr_quat_rotate(pose.q, cr_vec3(0, 0, 1));
    *o = (Outline){.count = 0};
    if (s->kind == CR_SHAPE_SPHERE ||
        (s->kind == CR_SHAPE_CYLINDER && fabs(cr_dot(z, plane->axis)) > 1.0 - 1e-9)) {
        add(o, plane, pose.p, 0);
        o->radius = s->size.x;
    } else if (s->kind == CR_SHAPE_CAPSULE && fabs(cr_dot(z, plane->axis)) < 1e-9) {
        add(o, plane, cr_madd(pose.p, -s->size.z, z), 0);
        add(o, plane, cr_madd(pose.p, s->size.z, z), 1);
        o->radius = s->size.x;
    } else if (s->kind == CR_SHAPE_BOX || s->kind == CR_SHAPE_HULL) {
        status = polygon(s, pose, plane, o, which, error);
    } else if (s->kind == CR_SHAPE_HALFSPACE) {
        crVec3 n = cr_quat_rotate(pose.q, s->size);
        if (fabs(cr_dot(n, plane->axis)) > 1e-9) return refuse(s, which, error);
        o->nx = cr_dot(n, plane->u);
        o->ny = cr_dot(n, plane->v);
        o->offset = s->offset + cr_dot(n, cr_sub(pose.p, plane->origin));
    } else {
        return refuse(s, which, error);
    }
    for (int i = 0; i < o->count; i++)
        o->extent = fmax(o->extent, fabs(o->x[i] - o->x[0]) + fabs(o->y[i] - o->y[0]) + o->radius);
    return status;
}

typedef struct Meeting {
    double gap, nx, ny;  // cores, from A to B
    double ax, ay, bx, by;
    bool choice;
} Meeting;

static int support(const Outline* o, double dx, double dy) {
    int best = 0;
    for (int i = 1; i < o->count; i++)
        if (o->x[i] * dx + o->y[i] * dy > o->x[best] * dx + o->y[best] * dy) best = i;
    return best;
}

// edge normals of A: the largest separation of B's corners
static void try_edges_planar(const Outline* a, const Outline* b, double sign, Meeting* m) {
    for (int i = 0; i < a->count; i++) {
        int j = (i + 1) % a->count;
        double ex = a->x[j] - a->x[i], ey = a->y[j] - a->y[i], length = sqrt(ex * ex + ey * ey);
        double nx = ey / length, ny = -ex / length;
        int k = support(b, -nx, -ny);
        double gap = nx * (b->x[k] - a->x[i]) + ny * (b->y[k] - a->y[i]);
        if (!(gap > m->gap + 1e-13 * (a->extent + b->extent))) continue;
        double fx = b->x[k] - gap * nx, fy = b->y[k] - gap * ny;
        *m = sign > 0.0 ? (Meeting){gap, nx, ny, fx, fy, b->x[k], b->y[k], false}
                        : (Meeting){gap, -nx, -ny, b->x[k], b->y[k], fx, fy, false};
    }
}

// corners of B against edges of A: the least distance
static void try_corners(const Outline* a, const Outline* b, double sign, double* best, Meeting* m) {
    int edges = a->count > 2 ? a->count : 1;
    for (int i = 0; i < edges; i++) {
        int j = (i + 1) % a->count;
        double ex = a->x[j] - a->x[i], ey = a->y[j] - a->y[i], ee = ex * ex + ey * ey;
        for (int k = 0; k < b->count; k++) {
            double rx = b->x[k] - a->x[i], ry = b->y[k] - a->y[i];
            double s = ee > 0.0 ? fmin(fmax((rx * ex + ry * ey) / ee, 0.0), 1.0) : 0.0;
            double px = a->x[i] + s * ex, py = a->y[i] + s * ey;
            double dx = b->x[k] - px, dy = b->y[k] - py, distance = sqrt(dx * dx + dy * dy);
            if (!(distance < *best)) continue;
            *best = distance;
            double nx = dx / distance, ny = dy / distance;
            *m = sign > 0.0 ? (Meeting){distance, nx, ny, px, py, b->x[k], b->y[k], false}
                            : (Meeting){distance, -nx, -ny, b->x[k], b->y[k], px, py, false};
        }
    }
}

// rods and discs whose cores touch: across the rod, else from centre to centre, else along u
static void choose(const Outline* a, const Outline* b, Meeting* m) {
    const Outline* rod = a->count == 2 ? a : b;
    double dx = b->x[0] + b->x[b->count - 1] - a->x[0] - a->x[a->count - 1];
    double dy = b->y[0] + b->y[b->count - 1] - a->y[0] - a->y[a->count - 1];
    double nx = dx, ny = dy;
    if (rod->count == 2) {
        nx = rod->y[1] - rod->y[0];
        ny = rod->x[0] - rod->x[1];
        if (nx * dx + ny * dy < 0.0) {
            nx = -nx;
            ny = -ny;
        }
    }
    double length = sqrt(nx * nx + ny * ny);
    m->nx = length > 0.0 ? nx / length : 1.0;
    m->ny = length > 0.0 ? ny / length : 0.0;
    int i = support(a, m->nx, m->ny), k = support(b, -m->nx, -m->ny);
    m->gap = m->nx * (b->x[k] - a->x[i]) + m->ny * (b->y[k] - a->y[i]);
    m->choice = true;
}

// the difference of the cores has an area, so that edge normals are all the axes there are
static bool is_solid(const Outline* a, const Outline* b) {
    if (a->count > 2 || b->count > 2) return true;
    if (a->count < 2 || b->count < 2) return false;
    double ux = a->x[1] - a->x[0], uy = a->y[1] - a->y[0], vx = b->x[1] - b->x[0], vy = b->y[1] - b->y[0];
    double cross = ux * vy - uy * vx;
    return cross * cross > 1e-18 * (ux * ux + uy * uy) * (vx * vx + vy * vy);
}

static void meet(const Outline* a, const Outline* b, Meeting* m) {
    if (a->count == 0 || b->count == 0) {
        const Outline *plane = a->count == 0 ? a : b, *other = a->count == 0 ? b : a;
        int k = support(other, -plane->nx, -plane->ny);
        double x = other->x[k], y = other->y[k], gap = plane->nx * x + plane->ny * y - plane->offset;
        double fx = x - gap * plane->nx, fy = y - gap * plane->ny;
        *m = a->count == 0 ? (Meeting){gap, plane->nx, plane->ny, fx, fy, x, y, false}
                           : (Meeting){gap, -plane->nx, -plane->ny, x, y, fx, fy, false};
        return;
    }
    *m = (Meeting){.gap = -(double)INFINITY};
    bool solid = is_solid(a, b);
    if (a->count > 1) try_edges_planar(a, b, 1.0, m);
    if (b->count > 1) try_edges_planar(b, a, -1.0, m);
    if (solid && m->gap <= 0.0) return;
    double best = (double)INFINITY;
    Meeting near = *m;
    try_corners(a, b, 1.0, &best, &near);
    try_corners(b, a, -1.0, &best, &near);
    // nearest points give the normal up to rounding / distance: an edge normal within that is the accurate
    // one
    double noise = 0x1p-46 * (a->extent + b->extent) / best,
           turn = fabs(near.nx - m->nx) + fabs(near.ny - m->ny);
    if (!(turn <= noise)) *m = near;
    if (!solid && !(best > 1e-14 * (a->extent + b->extent))) choose(a, b, m);
}

// ends of the edge of an outline that faces d, nearly; or the corner
static int facing(const Outline* o, double dx, double dy, int ends[2]) {
    int best = support(o, dx, dy);
    ends[0] = ends[1] = best;
    if (o->count < 2) return 1;
    double most = FACING;
    int count = 1;
    for (int k = 0; k < 2; k++) {
        int i = k == 0 ? best : (best + o->count - 1) % o->count, j = (i + 1) % o->count;
        double ex = o->x[j] - o->x[i], ey = o->y[j] - o->y[i], length = sqrt(ex * ex + ey * ey);
        double cosine = (ey * dx - ex * dy) / length;
        if (o->count == 2) cosine = fabs(cosine);
        if (cosine >= most) {
            most = cosine;
            ends[0] = i;
            ends[1] = j;
            count = 2;
        }
    }
    return count;
}

typedef struct Point2 {
    double ax, ay, bx, by, gap;
    uint32_t fa, fb;
} Point2;

static uint32_t corner(const Outline* o, int i) {
    return (uint32_t)CR_FEATURE_VERTEX << 28 | (uint32_t)o->id[i];
}
static uint32_t edge(const Outline* o, int i) { return (uint32_t)CR_FEATURE_EDGE << 28 | (uint32_t)o->id[i]; }

// half-plane: both ends of the facing edge
static int on_plane(const Outline* a, const Outline* b, const Meeting* m, Point2 out[2]) {
    const Outline* other = a->count == 0 ? b : a;
    double sign = a->count == 0 ? -1.0 : 1.0, nx = sign * m->nx, ny = sign * m->ny;
    int ends[2], count = facing(other, nx, ny, ends);
    const uint32_t face = (uint32_t)CR_FEATURE_FACE << 28;
    const Outline* plane = a->count == 0 ? a : b;
    for (int i = 0; i < count; i++) {
        double x = other->x[ends[i]], y = other->y[ends[i]];
        double gap = plane->nx * x + plane->ny * y - plane->offset;
        double fx = x - gap * plane->nx, fy = y - gap * plane->ny;
        out[i] = a->count == 0 ? (Point2){fx, fy, x, y, gap, face, corner(b, ends[i])}
                               : (Point2){x, y, fx, fy, gap, corner(a, ends[i]), face};
    }
    return count;
}

// two facing edges: the ends of what they share, seen along the normal
static int shared(const Outline* a, const Outline* b, const Meeting* m, Point2 out[2]) {
    int ea[2], eb[2];
    if (facing(a, m->nx, m->ny, ea) < 2 || facing(b, -m->nx, -m->ny, eb) < 2) return 0;
    double tx = -m->ny, ty = m->nx;
    double a0 = a->x[ea[0]] * tx + a->y[ea[0]] * ty, a1 = a->x[ea[1]] * tx + a->y[ea[1]] * ty;
    double b0 = b->x[eb[0]] * tx + b->y[eb[0]] * ty, b1 = b->x[eb[1]] * tx + b->y[eb[1]] * ty;
    double lo = fmax(fmin(a0, a1), fmin(b0, b1)), hi = fmin(fmax(a0, a1), fmax(b0, b1));
    if (!(hi > lo)) return 0;
    for (int i = 0; i < 2; i++) {
        double at = i == 0 ? lo : hi, s = (at - a0) / (a1 - a0), t = (at - b0) / (b1 - b0);
        double ax = a->x[ea[0]] + s * (a->x[ea[1]] - a->x[ea[0]]),
               ay = a->y[ea[0]] + s * (a->y[ea[1]] - a->y[ea[0]]);
        double bx = b->x[eb[0]] + t * (b->x[eb[1]] - b->x[eb[0]]),
               by = b->y[eb[0]] + t * (b->y[eb[1]] - b->y[eb[0]]);
        // the end of which edge limits what is shared
        bool by_a = at == a0 || at == a1;
        uint32_t fa = by_a ? corner(a, at == a0 ? ea[0] : ea[1]) : edge(a, ea[0]);
        uint32_t fb = by_a ? edge(b, eb[0]) : corner(b, at == b0 ? eb[0] : eb[1]);
        out[i] = (Point2){ax, ay, bx, by, m->nx * (bx - ax) + m->ny * (by - ay), fa, fb};
    }
    return 2;
}

static crContactPoint place(const Plane* plane, const Meeting* m, const Point2* p, double ra, double rb) {
    crVec3 n = cr_add(cr_scale(m->nx, plane->u), cr_scale(m->ny, plane->v));
    double mx = 0.5 * (p->ax + ra * m->nx + p->bx - rb * m->nx),
           my = 0.5 * (p->ay + ra * m->ny + p->by - rb * m->ny);
    crVec3 middle = cr_madd(cr_madd(plane->origin, mx, plane->u), my, plane->v);
    double gap = p->gap - ra - rb;
    const uint32_t centre = (uint32_t)CR_FEATURE_CENTRE << 28;
    return (crContactPoint){.gap = gap,
                            .normal = n,
                            .point = middle,
                            .on_a = cr_madd(middle, -0.5 * gap, n),
                            .on_b = cr_madd(middle, 0.5 * gap, n),
                            .feature_a = m->choice ? centre : p->fa,
                            .feature_b = m->choice ? centre : p->fb};
}

crStatus cr_collide_planar(const crShape* a, crPose body_a, const crShape* b, crPose body_b, crVec3 axis,
                           double margin, crContactPoint contacts[2], int* count, crError* error) {
    if (!cr__shape_given(a)) return cr__missing(error, "a");
    if (!cr__shape_given(b)) return cr__missing(error, "b");
    if (contacts == NULL) return cr__missing(error, "contacts");
    if (count == NULL) return cr__missing(error, "count");
    *count = 0;
    if (!(fabs(cr_norm(axis) - 1.0) <= 1e-9))
        return cr_error_set(error, CR_ERR_UNIT, "axis", "|axis| is %g; it must be 1", cr_norm(axis));
    crMat3 frame = cr_frame(axis);
    Plane plane = {body_a.p, cr_mat3_column(frame, 1), cr_mat3_column(frame, 2), axis};
    Outline oa, ob;
    crStatus status = outline(a, body_a, &plane, &oa, "a", error);
    if (status == CR_OK) status = outline(b, body_b, &plane, &ob, "b", error);
    if (status != CR_OK || (oa.count == 0 && ob.count == 0)) return status;
    Meeting m;
    Point2 points[2];
    meet(&oa, &ob, &m);
    bool flat = oa.count == 0 || ob.count == 0;
    int found = flat ? on_plane(&oa, &ob, &m, points) : shared(&oa, &ob, &m, points);
    if (found == 0) {
        int i = oa.count > 0 ? support(&oa, m.nx, m.ny) : 0,
            k = ob.count > 0 ? support(&ob, -m.nx, -m.ny) : 0;
        points[0] = (Point2){m.ax, m.ay, m.bx, m.by, m.gap, corner(&oa, i), corner(&ob, k)};
        found = 1;
    }
    for (int i = 0; i < found; i++) {
        crContactPoint c = place(&plane, &m, &points[i], oa.radius, ob.radius);
        if (c.gap <= margin) contacts[(*count)++] = c;
    }
    cr__sort_two(contacts, *count);
    return CR_OK;
}
