// inside.c - whether a point is inside a closed triangle mesh: signed crossings of a ray along +x.
//
// A triangle is crossed where the point's shadow in the yz plane lies in the triangle's; it counts by the
// side it shows, and inside the sum is 1. The point is moved by (0, e, e^2), e vanishing (Edelsbrunner and
// Muecke 1990), so that shadows never lie on an edge or vertex, and an edge is measured from its smaller
// vertex in both of its triangles: none is crossed twice or missed. Always succeeds.
#include "collide/pieces.h"

// on which side of the shadow of edge a-b the moved point is: +1 left, -1 right
static int side_of(const crMesh* m, int a, int b, crVec3 x) {
    if (a > b) return -side_of(m, b, a, x);
    crVec3 p = m->vertices[a], e = cr_sub(m->vertices[b], p);
    double f = e.y * (x.z - p.z) - e.z * (x.y - p.y);
    if (f == 0.0) f = e.z != 0.0 ? -e.z : e.y;
    return f > 0.0 ? 1 : f < 0.0 ? -1 : 0;
}

static int crossing(const crMesh* m, int triangle, crVec3 x) {
    const int* v = m->triangles[triangle];
    int side = side_of(m, v[0], v[1], x);
    if (side == 0 || side_of(m, v[1], v[2], x) != side || side_of(m, v[2], v[0], x) != side) return 0;
    crVec3 p = m->vertices[v[0]];
    crVec3 n = cr_cross(cr_sub(m->vertices[v[1]], p), cr_sub(m->vertices[v[2]], p));
    // ahead of the point: it is behind the plane of a triangle seen from behind, or before one seen in front
    return cr_dot(n, cr_sub(x, p)) * side < 0.0 ? side : 0;
}

bool cr__mesh_holds(const crMesh* m, crVec3 x) {
    crBounds ray = {x, cr_vec3((double)INFINITY, x.y, x.z)};
    int stack[64], depth = 0, sum = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int index = stack[--depth];
        const crMeshNode* node = &m->nodes[index];
        if (!cr__boxes_meet(node->box, ray)) continue;
        if (node->right == 0) {
            sum += crossing(m, node->triangle, x);
        } else {
            stack[depth++] = node->right;
            stack[depth++] = index + 1;
        }
    }
    return sum > 0;
}
