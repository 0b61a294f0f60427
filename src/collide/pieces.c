// pieces.c - triangle meshes, height fields and compounds: checked, and walked over piece by piece within a
// box.
//
// A mesh carries a tree of boxes split at the median of the longest axis; a height field is its own index:
// only cells under the box are visited. A mesh is closed where every edge has two triangles running along it
// in opposite directions; the signed volume sum a.(b x c)/6 of a closed one must be positive. Fails: bad
// counts, indices, numbers, triangles without area and inverted closed meshes are refused by name.
#include "collide/pieces.h"

#include <string.h>

#include "base/argument.h"

static crAllocator chosen(const crAllocator* allocator) {
    return allocator != NULL ? *allocator : cr_allocator_libc();
}

void cr__mesh_corners(const crMesh* mesh, int triangle, crVec3 corners[3]) {
    for (int k = 0; k < 3; k++)
        corners[k] = mesh->vertices[mesh->triangles[triangle][k]];
}

static crBounds triangle_box(const crVec3 p[3]) {
    crBounds box = {p[0], p[0]};
    for (int k = 1; k < 3; k++)
        box = cr__box_union(box, (crBounds){p[k], p[k]});
    return box;
}

static crStatus check_mesh(const crMeshDef* def, crError* error) {
    for (int v = 0; v < def->vertex_count; v++)
        if (!cr_vec3_finite(def->vertices[v]))
            return cr_error_set(error, CR_ERR_FINITE, "vertices", "mesh: vertex %d is not finite", v);
    for (int t = 0; t < def->triangle_count; t++) {
        crVec3 p[3];
        for (int k = 0; k < 3; k++) {
            int v = def->triangles[t][k];
            if (v < 0 || v >= def->vertex_count)
                return cr_error_set(error, CR_ERR_RANGE, "triangles",
                                    "mesh: triangle %d names vertex %d; allowed 0 to %d", t, v,
                                    def->vertex_count - 1);
            p[k] = def->vertices[v];
        }
        crVec3 u = cr_sub(p[1], p[0]), w = cr_sub(p[2], p[0]);
        if (!(cr_norm(cr_cross(u, w)) > 1e-12 * cr_norm(u) * cr_norm(w)))
            return cr_error_set(error, CR_ERR_RANGE, "triangles", "mesh: triangle %d has no area", t);
    }
    return CR_OK;
}

// directed edges as sortable keys; heap sort needs no memory and no recursion
static void sift_pieces(uint64_t* keys, size_t root, size_t count) {
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && keys[child + 1] > keys[child]) child++;
        if (keys[root] >= keys[child]) return;
        uint64_t t = keys[root];
        keys[root] = keys[child];
        keys[child] = t;
    }
}

static void sort_keys_pieces(uint64_t* keys, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sift_pieces(keys, i, count);
    for (size_t end = count; end > 1; end--) {
        uint64_t t = keys[0];
        keys[0] = keys[end - 1];
        keys[end - 1] = t;
        sift_pieces(keys, 0, end - 1);
    }
}

// every edge once in each direction: key = smaller, larger, direction
static bool is_closed(const crMesh* m, uint64_t* keys) {
    size_t count = 0;
    for (int t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            uint64_t a = (uint64_t)m->triangles[t][k], b = (uint64_t)m->triangles[t][(k + 1) % 3];
            keys[count++] = a < b ? a << 32 | b << 1 : b << 32 | a << 1 | 1;
        }
    sort_keys_pieces(keys, count);
    for (size_t i = 0; i < count; i += 2)
        if (i + 1 >= count || (keys[i] & 1) != 0 || keys[i + 1] != keys[i] + 1 ||
            (i + 2 < count && keys[i + 2] == keys[i + 1]))
            return false;
    return true;
}

static double volume(const crMesh* m) {
    double sum = 0.0;
    for (int t = 0; t < m->triangle_count; t++) {
        crVec3 p[3];
        cr__mesh_corners(m, t, p);
        for (int k = 0; k < 3; k++)
            p[k] = cr_sub(p[k], m->vertices[0]);
        sum += cr_dot(p[0], cr_cross(p[1], p[2]));
    }
    return sum / 6.0;
}

typedef struct Builder {
    crMesh* mesh;
    int* order;      // triangles (triangle_count)
    double* middle;  // of each triangle along the axis of the split (triangle_count)
    int used;
} Builder;

// nth element by middle value, ties by index, so that the tree does not depend on the sort
static bool before_pieces(const Builder* b, int i, int j) {
    return b->middle[i] < b->middle[j] || (b->middle[i] == b->middle[j] && i < j);
}

static void split(Builder* b, int lo, int hi, int nth) {
    while (hi - lo > 1) {
        int pivot = b->order[lo + (hi - lo) / 2], i = lo, j = hi - 1;
        while (i <= j) {
            while (before_pieces(b, b->order[i], pivot))
                i++;
            while (before_pieces(b, pivot, b->order[j]))
                j--;
            if (i > j) break;
            int t = b->order[i];
            b->order[i++] = b->order[j];
            b->order[j--] = t;
        }
        if (nth <= j)
            hi = j + 1;
        else if (nth >= i)
            lo = i;
        else
            return;
    }
}

static int build(Builder* b, int lo, int hi) {
    int index = b->used++;
    crMeshNode* node = &b->mesh->nodes[index];
    crVec3 p[3];
    cr__mesh_corners(b->mesh, b->order[lo], p);
    node->box = triangle_box(p);
    node->triangle = b->order[lo];
    node->right = 0;
    if (hi - lo == 1) return index;
    for (int i = lo + 1; i < hi; i++) {
        cr__mesh_corners(b->mesh, b->order[i], p);
        node->box = cr__box_union(node->box, triangle_box(p));
    }
    crVec3 size = cr_sub(node->box.hi, node->box.lo);
    int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    for (int i = lo; i < hi; i++) {
        cr__mesh_corners(b->mesh, b->order[i], p);
        b->middle[b->order[i]] = cr__axis(p[0], axis) + cr__axis(p[1], axis) + cr__axis(p[2], axis);
    }
    int half = lo + (hi - lo) / 2;
    split(b, lo, hi, half);
    build(b, lo, half);
    int right = build(b, half, hi);
    b->mesh->nodes[index].right = right;
    return index;
}

// work: room for 3 keys per triangle, used by one step after the other
static crStatus finish_mesh(crMesh* m, void* work, crError* error) {
    m->closed = is_closed(m, work);
    if (m->closed && !(volume(m) > 0.0))
        return cr_error_set(
            error, CR_ERR_RANGE, "triangles",
            "mesh: closed but inside out (volume %.6g); triangles run counterclockwise from outside",
            volume(m));
    Builder b = {.mesh = m, .middle = work, .order = (int*)((double*)work + m->triangle_count)};
    for (int t = 0; t < m->triangle_count; t++)
        b.order[t] = t;
    build(&b, 0, m->triangle_count);
    return CR_OK;
}

crStatus cr_mesh_create(const crMeshDef* def, const crAllocator* allocator, crMesh** mesh, crError* error) {
    if (mesh == NULL) return cr__missing(error, "mesh");
    *mesh = NULL;
    if (def == NULL) return cr__missing(error, "def");
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    if (def->vertices == NULL || def->triangles == NULL)
        return cr_error_set(error, CR_ERR_ARGUMENT, "mesh", "mesh: a pointer is NULL");
    if (def->vertex_count < 3 || def->triangle_count < 1 || def->triangle_count > INT32_MAX / 8)
        return cr_error_set(error, CR_ERR_SIZE, "mesh",
                            "mesh: %d vertices and %d triangles; at least 3 and 1", def->vertex_count,
                            def->triangle_count);
    crStatus status = check_mesh(def, error);
    if (status != CR_OK) return status;
    crAllocator a = chosen(allocator);
    size_t v = (size_t)def->vertex_count * sizeof(crVec3), t = (size_t)def->triangle_count;
    size_t bytes = sizeof(crMesh) + 64 + v + t * 3 * sizeof(int) + 2 * t * sizeof(crMeshNode);
    unsigned char* memory = a.alloc(a.ctx, bytes);
    void* work = memory != NULL ? a.alloc(a.ctx, 3 * t * sizeof(uint64_t)) : NULL;
    if (work == NULL) {
        if (memory != NULL) a.free(a.ctx, memory, bytes);
        return cr_error_set(error, CR_ERR_MEMORY, "mesh", "mesh: out of memory");
    }
    crMesh* m = cr__take(&memory, sizeof(crMesh));
    *m = (crMesh){.allocator = a,
                  .bytes = bytes,
                  .vertex_count = def->vertex_count,
                  .triangle_count = def->triangle_count};
    m->vertices = cr__take(&memory, v);
    m->nodes = cr__take(&memory, 2 * t * sizeof(crMeshNode));
    m->triangles = cr__take(&memory, t * 3 * sizeof(int));
    memcpy(m->vertices, def->vertices, v);
    memcpy(m->triangles, def->triangles, t * 3 * sizeof(int));
    status = finish_mesh(m, work, error);
    a.free(a.ctx, work, 3 * t * sizeof(uint64_t));
    if (status == CR_OK)
        *mesh = m;
    else
        cr_mesh_destroy(m);
    return status;
}

void cr_mesh_destroy(crMesh* mesh) {
    if (mesh != NULL) mesh->allocator.free(mesh->allocator.ctx, mesh, mesh->bytes);
}

bool cr_mesh_closed(const crMesh* mesh) {
    if (mesh == NULL) return false;
    return mesh->closed;
}

crMeshDef cr_mesh_def(const crMesh* mesh) {
    if (mesh == NULL) return (crMeshDef){0};
    return (crMeshDef){mesh->vertex_count, mesh->vertices, mesh->triangle_count,
                       (const int(*)[3])mesh->triangles};
}

crHeightFieldDef cr_heightfield_def(const crHeightField* field) {
    if (field == NULL) return (crHeightFieldDef){0};
    return (crHeightFieldDef){field->nx, field->ny, field->dx, field->dy, field->z};
}

const crShape* cr_compound_children(const crCompound* compound, int* count) {
    if (compound == NULL || count == NULL) return NULL;
    *count = compound->count;
    return compound->children;
}

crStatus cr_heightfield_create(const crHeightFieldDef* def, const crAllocator* allocator,
                               crHeightField** field, crError* error) {
    if (field == NULL) return cr__missing(error, "field");
    *field = NULL;
    if (def == NULL) return cr__missing(error, "def");
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    if (def->z == NULL) return cr__missing(error, "z");
    if (def->nx < 2 || def->ny < 2 || (int64_t)def->nx * def->ny > INT32_MAX / 16)
        return cr_error_set(error, CR_ERR_SIZE, "nx", "height field: %d by %d points; at least 2 by 2",
                            def->nx, def->ny);
    if (!(def->dx > 0.0 && def->dy > 0.0) || !isfinite(def->dx) || !isfinite(def->dy))
        return cr_error_set(error, CR_ERR_RANGE, "dx", "height field: spacing %g, %g; both must be > 0",
                            def->dx, def->dy);
    size_t count = (size_t)def->nx * (size_t)def->ny;
    crBounds box = {cr_vec3(0, 0, def->z[0]),
                    cr_vec3((def->nx - 1) * def->dx, (def->ny - 1) * def->dy, def->z[0])};
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(def->z[i]))
            return cr_error_set(error, CR_ERR_FINITE, "z", "height field: z[%zu] is not finite", i);
        box.lo.z = fmin(box.lo.z, def->z[i]);
        box.hi.z = fmax(box.hi.z, def->z[i]);
    }
    crAllocator a = chosen(allocator);
    size_t bytes = sizeof(crHeightField) + 32 + count * sizeof(double);
    unsigned char* memory = a.alloc(a.ctx, bytes);
    if (memory == NULL) return cr_error_set(error, CR_ERR_MEMORY, "field", "height field: out of memory");
    crHeightField* f = cr__take(&memory, sizeof(crHeightField));
    *f = (crHeightField){a, bytes, def->nx, def->ny, def->dx, def->dy, NULL, box};
    f->z = cr__take(&memory, count * sizeof(double));
    memcpy(f->z, def->z, count * sizeof(double));
    *field = f;
    return CR_OK;
}

void cr_heightfield_destroy(crHeightField* field) {
    if (field != NULL) field->allocator.free(field->allocator.ctx, field, field->bytes);
}

void cr__field_corners(const crHeightField* f, int triangle, crVec3 corners[3]) {
    int cell = triangle / 2, i = cell % (f->nx - 1), j = cell / (f->nx - 1);
    const int lower[3][2] = {{0, 0}, {1, 0}, {1, 1}}, upper[3][2] = {{0, 0}, {1, 1}, {0, 1}};
    for (int k = 0; k < 3; k++) {
        int x = i + (triangle & 1 ? upper[k][0] : lower[k][0]),
            y = j + (triangle & 1 ? upper[k][1] : lower[k][1]);
        corners[k] = cr_vec3(x * f->dx, y * f->dy, f->z[y * f->nx + x]);
    }
}

crStatus cr_compound_create(const crShape* children, int count, const crAllocator* allocator,
                            crCompound** compound, crError* error) {
    if (compound == NULL) return cr__missing(error, "compound");
    *compound = NULL;
    if (children == NULL) return cr__missing(error, "children");
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    if (count < 1 || count > INT32_MAX / 1024)
        return cr_error_set(error, CR_ERR_SIZE, "count", "compound: %d children; at least 1", count);
    for (int i = 0; i < count; i++) {
        crStatus status = cr_shape_check(&children[i], true, error);
        if (status != CR_OK) return status;
        if (!cr__is_convex(&children[i]))
            return cr_error_set(error, CR_ERR_TYPE, "children",
                                "compound: child %d is a %s; children must be convex", i,
                                cr_shape_info(children[i].kind)->name);
    }
    crAllocator a = chosen(allocator);
    size_t bytes = sizeof(crCompound) + 32 + (size_t)count * sizeof(crShape);
    unsigned char* memory = a.alloc(a.ctx, bytes);
    if (memory == NULL) return cr_error_set(error, CR_ERR_MEMORY, "children", "compound: out of memory");
    crCompound* c = cr__take(&memory, sizeof(crCompound));
    *c = (crCompound){a, bytes, count, NULL};
    c->children = cr__take(&memory, (size_t)count * sizeof(crShape));
    memcpy(c->children, children, (size_t)count * sizeof(crShape));
    *compound = c;
    return CR_OK;
}

void cr_compound_destroy(crCompound* compound) {
    if (compound != NULL) compound->allocator.free(compound->allocator.ctx, compound, compound->bytes);
}

typedef struct Walk {
    crPose pose;
    crVec3 origin;
    crVisit visit;
    void* ctx;
    bool deep;
} Walk;

static bool visit_triangle(const Walk* walk, const crVec3 corners[3], int index) {
    crVec3 placed[3];
    for (int k = 0; k < 3; k++)
        placed[k] = cr_add(cr_quat_rotate(walk->pose.q, corners[k]), cr_sub(walk->pose.p, walk->origin));
    crConvex piece;
    cr__convex_triangle(&piece, placed, index);
    piece.deep = walk->deep;
    return walk->visit(walk->ctx, &piece);
}

static void walk_mesh(const crMesh* m, const crBounds* box, const Walk* walk) {
    int stack[64], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int index = stack[--depth];
        const crMeshNode* node = &m->nodes[index];
        if (!cr__boxes_meet(node->box, *box)) continue;
        if (node->right == 0) {
            crVec3 p[3];
            cr__mesh_corners(m, node->triangle, p);
            if (!visit_triangle(walk, p, node->triangle)) return;
        } else {
            stack[depth++] = node->right;
            stack[depth++] = index + 1;
        }
    }
}

// cell range under [lo, hi], clamped; false: beside the field
static bool cells(double lo, double hi, double d, int points, int* first, int* last) {
    if (!(hi >= 0.0) || !(lo <= (points - 1) * d)) return false;
    *first = lo > 0.0 ? (int)floor(lo / d) : 0;
    *last = hi < (points - 1) * d ? (int)floor(hi / d) : points - 2;
    if (*first > points - 2) *first = points - 2;
    if (*last > points - 2) *last = points - 2;
    return true;
}

static void walk_field(const crHeightField* f, crBounds box, const Walk* walk) {
    int i0, i1, j0, j1;
    if (!cells(box.lo.x, box.hi.x, f->dx, f->nx, &i0, &i1)) return;
    if (!cells(box.lo.y, box.hi.y, f->dy, f->ny, &j0, &j1)) return;
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++)
            for (int k = 0; k < 2; k++) {
                int triangle = 2 * (j * (f->nx - 1) + i) + k;
                crVec3 p[3];
                cr__field_corners(f, triangle, p);
                // solid below: whatever is under the surface meets it
                if (triangle_box(p).hi.z < box.lo.z) continue;
                if (!visit_triangle(walk, p, triangle)) return;
            }
}

void cr__pieces_in(const crShape* shape, crPose pose, crVec3 origin, const crBounds* box, crVisit visit,
                   void* ctx) {
    Walk walk = {pose, origin, visit, ctx, shape->kind == CR_SHAPE_HEIGHTFIELD};
    if (shape->kind == CR_SHAPE_MESH) {
        walk_mesh(shape->data.mesh, box, &walk);
    } else if (shape->kind == CR_SHAPE_HEIGHTFIELD) {
        walk_field(shape->data.field, *box, &walk);
    } else if (shape->kind == CR_SHAPE_COMPOUND) {
        const crCompound* all = shape->data.compound;
        for (int i = 0; i < all->count; i++) {
            crPose at = cr_pose_mul(pose, all->children[i].pose);
            if (!cr__boxes_meet(cr_shape_bounds(&all->children[i], cr_pose_identity()), *box)) continue;
            crConvex piece;
            cr__convex_set(&piece, &all->children[i], &at, origin);
            piece.child = i;
            if (!visit(ctx, &piece)) return;
        }
    }
}
