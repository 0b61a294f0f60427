// hull.c - convex polyhedra from vertices and faces: checked, with planes, edges and edge directions.
//
// A face's normal is Newell's sum of cross products over its loop. Accepted are closed surfaces (every edge
// in exactly two faces, once in each direction) whose every vertex lies on the inside of every face plane
// within 1e-9 of the hull's size. Fails: anything else is refused with the face or vertex named.
#include <stdint.h>
#include <string.h>

#include "base/argument.h"
#include "collide/pieces.h"

#define FLAT 1e-9  // how far a vertex may lie off or outside a face plane, relative to the hull's size

static crStatus check_vertices(const crHullDef* def, crError* error) {
    for (int i = 0; i < def->vertex_count; i++)
        if (!cr_vec3_finite(def->vertices[i]))
            return cr_error_set(error, CR_ERR_FINITE, "vertices", "hull: vertex %d is not finite", i);
    return CR_OK;
}

static crStatus check_loops(const crHullDef* def, int* corners, crError* error) {
    *corners = 0;
    for (int f = 0; f < def->face_count; f++) {
        int size = def->face_sizes[f];
        if (size < 3 || size > def->vertex_count)
            return cr_error_set(error, CR_ERR_SIZE, "face_sizes",
                                "hull: face %d has %d vertices; allowed 3 to %d", f, size, def->vertex_count);
        for (int k = 0; k < size; k++) {
            int v = def->face_loops[*corners + k];
            if (v < 0 || v >= def->vertex_count)
                return cr_error_set(error, CR_ERR_RANGE, "face_loops",
                                    "hull: face %d names vertex %d; allowed 0 to %d", f, v,
                                    def->vertex_count - 1);
        }
        if (*corners > INT32_MAX / 4 - size)
            return cr_error_set(error, CR_ERR_LIMIT, "face_sizes", "hull: too many face corners");
        *corners += size;
    }
    return CR_OK;
}

static crStatus set_planes(crHull* h, crError* error) {
    for (int f = 0; f < h->face_count; f++) {
        const int* loop = h->face_loop + h->face_first[f];
        int size = h->face_first[f + 1] - h->face_first[f];
        crVec3 sum = {0, 0, 0}, middle = {0, 0, 0};
        crVec3 base = h->vertices[loop[0]];
        for (int k = 0; k < size; k++) {
            crVec3 a = cr_sub(h->vertices[loop[k]], base),
                   b = cr_sub(h->vertices[loop[(k + 1) % size]], base);
            sum = cr_add(sum, cr_cross(a, b));
            middle = cr_add(middle, a);
        }
        double area = cr_norm(sum);
        if (!(area > 1e-200) || !isfinite(area))
            return cr_error_set(error, CR_ERR_RANGE, "faces", "hull: face %d has no area", f);
        h->normals[f] = cr_scale(1.0 / area, sum);
        h->offsets[f] = cr_dot(h->normals[f], cr_madd(base, 1.0 / size, middle));
    }
    return CR_OK;
}

// every vertex inside every plane, every corner on its own
static crStatus check_convex(const crHull* h, double size, crError* error) {
    for (int f = 0; f < h->face_count; f++) {
        double lowest = 0.0;
        for (int v = 0; v < h->vertex_count; v++) {
            double over = cr_dot(h->normals[f], h->vertices[v]) - h->offsets[f];
            lowest = fmin(lowest, over);
            if (over > FLAT * size)
                return cr_error_set(error, CR_ERR_RANGE, "faces",
                                    "hull: vertex %d is %.6g m outside face %d: not convex, or inside out", v,
                                    over, f);
        }
        if (!(lowest < -FLAT * size))
            return cr_error_set(
                error, CR_ERR_RANGE, "vertices",
                "hull: flat, all vertices lie in the plane of face %d; it must enclose a volume", f);
        for (int k = h->face_first[f]; k < h->face_first[f + 1]; k++) {
            double off = h->offsets[f] - cr_dot(h->normals[f], h->vertices[h->face_loop[k]]);
            if (off > FLAT * size)
                return cr_error_set(error, CR_ERR_RANGE, "faces",
                                    "hull: face %d is not flat: vertex %d is %.6g m off", f, h->face_loop[k],
                                    off);
        }
    }
    return CR_OK;
}

// find the edge a-b or start it; each must be seen once in either direction
static crStatus set_edges(crHull* h, crError* error) {
    for (int f = 0; f < h->face_count; f++) {
        int first = h->face_first[f], size = h->face_first[f + 1] - first;
        for (int k = 0; k < size; k++) {
            int a = h->face_loop[first + k], b = h->face_loop[first + (k + 1) % size], e = 0;
            while (e < h->edge_count && !(h->edges[e].a == b && h->edges[e].b == a) &&
                   !(h->edges[e].a == a && h->edges[e].b == b))
                e++;
            if (e == h->edge_count) {
                h->edges[h->edge_count++] = (crHullEdge){a, b, f, -1};
            } else if (h->edges[e].right < 0 && h->edges[e].a == b && a != b) {
                h->edges[e].right = f;
            } else {
                return cr_error_set(error, CR_ERR_RANGE, "faces",
                                    "hull: the edge of vertices %d and %d is seen twice in one direction", a,
                                    b);
            }
        }
    }
    for (int e = 0; e < h->edge_count; e++)
        if (h->edges[e].right < 0)
            return cr_error_set(error, CR_ERR_RANGE, "faces", "hull: open at the edge of vertices %d and %d",
                                h->edges[e].a, h->edges[e].b);
    return CR_OK;
}

static void set_directions(crHull* h) {
    for (int e = 0; e < h->edge_count; e++) {
        crVec3 d = cr_sub(h->vertices[h->edges[e].b], h->vertices[h->edges[e].a]);
        d = cr__unit(d, cr_vec3(0, 0, 1));
        int k = 0;
        while (k < h->direction_count && cr_norm(cr_cross(d, h->directions[k])) > 1e-12)
            k++;
        if (k == h->direction_count) h->directions[h->direction_count++] = d;
    }
    crVec3 sum = {0, 0, 0};
    for (int v = 0; v < h->vertex_count; v++) {
        sum = cr_add(sum, h->vertices[v]);
        h->extent = fmax(h->extent, cr_norm(h->vertices[v]));
    }
    h->centre = cr_scale(1.0 / h->vertex_count, sum);
}

static crHull* allocate(const crHullDef* def, int corners, crAllocator a) {
    size_t v = (size_t)def->vertex_count, f = (size_t)def->face_count, c = (size_t)corners;
    size_t bytes = sizeof(crHull) + 16 * 16 + v * sizeof(crVec3) + (f + 1) * sizeof(int) + c * sizeof(int) +
                   f * (sizeof(crVec3) + sizeof(double)) + c * (sizeof(crHullEdge) + sizeof(crVec3));
    unsigned char* memory = a.alloc(a.ctx, bytes);
    if (memory == NULL) return NULL;
    memset(memory, 0, bytes);
    crHull* h = cr__take(&memory, sizeof(crHull));
    h->allocator = a;
    h->bytes = bytes;
    h->vertex_count = def->vertex_count;
    h->face_count = def->face_count;
    h->vertices = cr__take(&memory, v * sizeof(crVec3));
    h->normals = cr__take(&memory, f * sizeof(crVec3));
    h->directions = cr__take(&memory, c * sizeof(crVec3));
    h->offsets = cr__take(&memory, f * sizeof(double));
    h->edges = cr__take(&memory, c * sizeof(crHullEdge));
    h->face_first = cr__take(&memory, (f + 1) * sizeof(int));
    h->face_loop = cr__take(&memory, c * sizeof(int));
    return h;
}

static crStatus fill(crHull* h, const crHullDef* def, crError* error) {
    double size = 0.0;
    for (int v = 0; v < def->vertex_count; v++) {
        h->vertices[v] = def->vertices[v];
        size = fmax(size, cr_norm(cr_sub(def->vertices[v], def->vertices[0])));
    }
    for (int f = 0; f < def->face_count; f++)
        h->face_first[f + 1] = h->face_first[f] + def->face_sizes[f];
    memcpy(h->face_loop, def->face_loops, (size_t)h->face_first[h->face_count] * sizeof(int));
    crStatus status = set_planes(h, error);
    if (status == CR_OK) status = check_convex(h, size, error);
    if (status == CR_OK) status = set_edges(h, error);
    if (status != CR_OK) return status;
    set_directions(h);
    return CR_OK;
}

crStatus cr_hull_create(const crHullDef* def, const crAllocator* allocator, crHull** hull, crError* error) {
    if (hull == NULL) return cr__missing(error, "hull");
    *hull = NULL;
    if (def == NULL) return cr__missing(error, "def");
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    if (def->vertices == NULL || def->face_sizes == NULL || def->face_loops == NULL)
        return cr_error_set(error, CR_ERR_ARGUMENT, "hull", "hull: a pointer is NULL");
    if (def->vertex_count < 4 || def->face_count < 4)
        return cr_error_set(error, CR_ERR_SIZE, "hull", "hull: %d vertices and %d faces; at least 4 of each",
                            def->vertex_count, def->face_count);
    int corners;
    crStatus status = check_vertices(def, error);
    if (status == CR_OK) status = check_loops(def, &corners, error);
    if (status != CR_OK) return status;
    crHull* h = allocate(def, corners, allocator != NULL ? *allocator : cr_allocator_libc());
    if (h == NULL) return cr_error_set(error, CR_ERR_MEMORY, "hull", "hull: out of memory");
    status = fill(h, def, error);
    if (status != CR_OK) {
        cr_hull_destroy(h);
        return status;
    }
    *hull = h;
    return CR_OK;
}

// bottom vertices first, then the top ones; bottom, top, sides
crStatus cr_hull_create_prism(const crVec3* points, int count, double half, const crAllocator* allocator,
                              crHull** hull, crError* error) {
    enum { MOST = 256 };
    crVec3 vertices[2 * MOST];
    int sizes[MOST + 2], loops[6 * MOST];
    if (hull != NULL) *hull = NULL;
    if (points == NULL) return cr__missing(error, "points");
    if (count < 3 || count > MOST)
        return cr_error_set(error, CR_ERR_SIZE, "count", "prism: %d points; allowed 3 to %d", count, MOST);
    if (!(half > 0.0) || !isfinite(half))
        return cr_error_set(error, CR_ERR_RANGE, "half", "prism: half is %g; it must be > 0", half);
    sizes[0] = sizes[1] = count;
    for (int i = 0; i < count; i++) {
        vertices[i] = cr_vec3(points[i].x, points[i].y, -half);
        vertices[count + i] = cr_vec3(points[i].x, points[i].y, half);
        loops[i] = count - 1 - i;
        loops[count + i] = count + i;
        int next = (i + 1) % count;
        int side[4] = {i, next, count + next, count + i};
        memcpy(loops + 2 * count + 4 * i, side, sizeof side);
        sizes[2 + i] = 4;
    }
    crHullDef def = {2 * count, vertices, count + 2, sizes, loops};
    return cr_hull_create(&def, allocator, hull, error);
}

void cr_hull_destroy(crHull* hull) {
    if (hull != NULL) hull->allocator.free(hull->allocator.ctx, hull, hull->bytes);
}

const crVec3* cr_hull_vertices(const crHull* hull, int* count) {
    if (hull == NULL || count == NULL) return NULL;
    *count = hull->vertex_count;
    return hull->vertices;
}

const int* cr_hull_face(const crHull* hull, int face, int* count) {
    if (hull == NULL || count == NULL) return NULL;
    *count = 0;
    if (face < 0 || face >= hull->face_count) return NULL;
    *count = hull->face_first[face + 1] - hull->face_first[face];
    return hull->face_loop + hull->face_first[face];
}
