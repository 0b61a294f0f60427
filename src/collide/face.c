// face.c - the support face of a convex piece: what it offers to a flat contact with normal d.
//
// Boxes, hulls and triangles give the face nearest to facing d, or the edge; cylinders a regular octagon in
// the cap or a line of the side; cones an octagon in the base or a line of the slope; capsules the line.
// Otherwise the support point alone. Corners of octagons are fixed in the shape, so that they persist as it
// turns slightly.
#include "collide/manifold.h"

static int reversed(crVec3* points, int count) {
    for (int i = 0; i < count / 2; i++) {
        crVec3 t = points[i];
        points[i] = points[count - 1 - i];
        points[count - 1 - i] = t;
    }
    return count;
}

// regular octagon at height z, counterclockwise about +z
static int octagon(double r, double z, crVec3* points) {
    const double h = 0.70710678118654752440;
    const double c[8] = {1, h, 0, -h, -1, -h, 0, h}, s[8] = {0, h, 1, h, 0, -h, -1, -h};
    for (int k = 0; k < 8; k++)
        points[k] = cr_vec3(r * c[k], r * s[k], z);
    return 8;
}

// straight in the working frame: centre of the face or edge, plus and minus half edges
static int box_face(const crConvex* c, crVec3 d, crVec3* points) {
    crVec3 l = cr_mat3_mul_t(c->R, d);
    double f[3] = {fabs(l.x), fabs(l.y), fabs(l.z)};
    int high = f[0] >= f[1] && f[0] >= f[2] ? 0 : f[1] >= f[2] ? 1 : 2;
    int low = f[0] <= f[1] && f[0] <= f[2] ? 0 : f[1] <= f[2] ? 1 : 2;
    bool face = f[high] >= CR__FACING;
    if (!face && f[low] > CR__ALONG) {
        points[0] = cr__support(c, d);
        return 1;
    }
    const crVec3 h[3] = {cr_scale(copysign(c->size.x, l.x), cr_mat3_column(c->R, 0)),
                         cr_scale(copysign(c->size.y, l.y), cr_mat3_column(c->R, 1)),
                         cr_scale(copysign(c->size.z, l.z), cr_mat3_column(c->R, 2))};
    if (!face) {
        crVec3 middle = cr_add(c->p, cr_add(h[(low + 1) % 3], h[(low + 2) % 3]));
        points[0] = cr_sub(middle, h[low]);
        points[1] = cr_add(middle, h[low]);
        return 2;
    }
    crVec3 middle = cr_add(c->p, h[high]), u = h[(high + 1) % 3], v = h[(high + 2) % 3];
    crVec3 lo = cr_sub(middle, v), hi = cr_add(middle, v);
    points[0] = cr_sub(lo, u);
    points[1] = cr_add(lo, u);
    points[2] = cr_add(hi, u);
    points[3] = cr_sub(hi, u);
    // counterclockwise about d unless an odd number of half edges was mirrored
    double hand = copysign(1.0, l.x) * copysign(1.0, l.y) * copysign(1.0, l.z);
    return hand < 0.0 ? reversed(points, 4) : 4;
}

// the edge at vertex v that is nearest to lying across d, if near enough
static int hull_edge(const crHull* h, int v, crVec3 d, crVec3* points) {
    int best = -1;
    double least = CR__ALONG;
    for (int e = 0; e < h->edge_count; e++) {
        if (h->edges[e].a != v && h->edges[e].b != v) continue;
        crVec3 u = cr_sub(h->vertices[h->edges[e].b], h->vertices[h->edges[e].a]);
        double sine = fabs(cr_dot(u, d)) / cr_norm(u);
        if (sine <= least) {
            least = sine;
            best = e;
        }
    }
    points[0] = h->vertices[v];
    if (best < 0) return 1;
    points[0] = h->vertices[h->edges[best].a];
    points[1] = h->vertices[h->edges[best].b];
    return 2;
}

static int hull_face(const crHull* h, crVec3 d, crVec3* points) {
    int best = 0, v = 0;
    for (int f = 1; f < h->face_count; f++)
        if (cr_dot(h->normals[f], d) > cr_dot(h->normals[best], d)) best = f;
    if (cr_dot(h->normals[best], d) >= CR__FACING) {
        const int* loop = h->face_loop + h->face_first[best];
        int size = h->face_first[best + 1] - h->face_first[best];
        int count = size < CR__FACE_MAX ? size : CR__FACE_MAX;
        for (int i = 0; i < count; i++)
            points[i] = h->vertices[loop[(int)((int64_t)i * size / count)]];
        return count;
    }
    for (int i = 1; i < h->vertex_count; i++)
        if (cr_dot(h->vertices[i], d) > cr_dot(h->vertices[v], d)) v = i;
    return hull_edge(h, v, d, points);
}

static int triangle_face(const crConvex* c, crVec3 d, crVec3* points) {
    double facing = cr_dot(c->normal, d), least = CR__ALONG;
    for (int i = 0; i < 3; i++)
        points[i] = c->triangle[i];
    if (fabs(facing) >= CR__FACING) return facing < 0.0 ? reversed(points, 3) : 3;
    int far = 0, best = -1;
    for (int i = 1; i < 3; i++)
        if (cr_dot(c->triangle[i], d) > cr_dot(c->triangle[far], d)) far = i;
    for (int i = 0; i < 3; i++) {
        double sine = fabs(cr_dot(cr__edge_direction(c, i), d));
        if ((i == far || (i + 1) % 3 == far) && sine <= least) {
            least = sine;
            best = i;
        }
    }
    points[0] = c->triangle[best < 0 ? far : best];
    if (best < 0) return 1;
    points[1] = c->triangle[(best + 1) % 3];
    return 2;
}

// rim point of a cylinder or cone towards d
static crVec3 rim_face(double r, double z, crVec3 d) {
    double t = sqrt(d.x * d.x + d.y * d.y);
    return t > 0.0 ? cr_vec3(r * (d.x / t), r * (d.y / t), z) : cr_vec3(r, 0, z);
}

static int cylinder_face(crVec3 s, crVec3 d, crVec3* points) {
    double z = copysign(s.z, d.z);
    if (fabs(d.z) >= CR__FACING) {
        octagon(s.x, z, points);
        return z < 0.0 ? reversed(points, 8) : 8;
    }
    points[0] = rim_face(s.x, fabs(d.z) <= CR__ALONG ? -s.z : z, d);
    points[1] = rim_face(s.x, s.z, d);
    return fabs(d.z) <= CR__ALONG ? 2 : 1;
}

static int cone_face(crVec3 s, crVec3 d, crVec3* points) {
    double length = sqrt(s.x * s.x + 4.0 * s.z * s.z), t = sqrt(d.x * d.x + d.y * d.y);
    if (-d.z >= CR__FACING) {
        octagon(s.x, -s.z, points);
        return reversed(points, 8);
    }
    bool apex = 2.0 * s.z * d.z > s.x * t;
    // cosine between d and the slope's normal in d's own half-plane
    bool slope = (2.0 * s.z * t + s.x * d.z) / length >= CR__FACING;
    points[0] = apex && !slope ? cr_vec3(0, 0, s.z) : rim_face(s.x, -s.z, d);
    points[1] = cr_vec3(0, 0, s.z);
    return slope ? 2 : 1;
}

static int local_face(const crConvex* c, crVec3 d, crVec3* points) {
    switch (c->core) {
    case CR__HULL:
        return hull_face(c->hull, d, points);
    case CR__CYLINDER:
        return cylinder_face(c->size, d, points);
    case CR__CONE:
        return cone_face(c->size, d, points);
    default:
        points[0] = cr_vec3(0, 0, fabs(d.z) <= CR__ALONG ? -c->size.z : copysign(c->size.z, d.z));
        points[1] = cr_vec3(0, 0, c->size.z);
        return fabs(d.z) <= CR__ALONG ? 2 : 1;
    }
}

int cr__support_face(const crConvex* c, crVec3 d, crVec3 points[CR__FACE_MAX]) {
    int count = 1;
    if (c->core == CR__BOX) return box_face(c, d, points);
    if (c->core == CR__TRIANGLE) {
        count = triangle_face(c, d, points);
        for (int i = 0; i < count; i++)
            points[i] = cr_add(c->p, points[i]);
    } else if (c->core == CR__POINT || c->core == CR__ELLIPSOID || c->core == CR__SUPPORT) {
        points[0] = cr__support(c, d);
    } else {
        count = local_face(c, cr_mat3_mul_t(c->R, d), points);
        for (int i = 0; i < count; i++)
            points[i] = cr_add(c->p, cr_mat3_mul(c->R, points[i]));
    }
    for (int i = 0; i < count; i++)
        points[i] = cr_madd(points[i], c->radius, d);
    return count;
}
