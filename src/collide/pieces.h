// pieces.h - shapes made of convex pieces: triangle mesh, height field, compound; and walking over those in a
// box.
#ifndef CAROM_COLLIDE_PIECES_H
#define CAROM_COLLIDE_PIECES_H

#include "collide/convex.h"

// Bounding tree in depth-first order: the left child follows its parent.
typedef struct crMeshNode {
    crBounds box;
    int right;     // index of the right child, 0 for a leaf
    int triangle;  // of a leaf
} crMeshNode;

struct crMesh {
    crAllocator allocator;
    size_t bytes;
    int vertex_count, triangle_count;
    bool closed;
    crVec3* vertices;     // (vertex_count)
    int (*triangles)[3];  // (triangle_count)
    crMeshNode* nodes;    // (2 triangle_count - 1)
};

struct crHeightField {
    crAllocator allocator;
    size_t bytes;
    int nx, ny;
    double dx, dy;
    double* z;  // (nx ny)
    crBounds box;
};

struct crCompound {
    crAllocator allocator;
    size_t bytes;
    int count;
    crShape* children;  // (count)
};

static inline bool cr__is_convex(const crShape* s) { return s->kind <= CR_SHAPE_HULL; }
static inline bool cr__boxes_meet(crBounds a, crBounds b) {
    // & and not &&: no branches to guess
    return (a.lo.x <= b.hi.x) & (b.lo.x <= a.hi.x) & (a.lo.y <= b.hi.y) & (b.lo.y <= a.hi.y) &
           (a.lo.z <= b.hi.z) & (b.lo.z <= a.hi.z);
}
static inline crBounds cr__box_union(crBounds a, crBounds b) {
    return (crBounds){cr_vec3(fmin(a.lo.x, b.lo.x), fmin(a.lo.y, b.lo.y), fmin(a.lo.z, b.lo.z)),
                      cr_vec3(fmax(a.hi.x, b.hi.x), fmax(a.hi.y, b.hi.y), fmax(a.hi.z, b.hi.z))};
}
static inline crBounds cr__box_grow(crBounds a, double by) {
    crVec3 d = cr_vec3(by, by, by);
    return (crBounds){cr_sub(a.lo, d), cr_add(a.hi, d)};
}

// Calls visit for every piece whose box meets `*box` (in the shape's own frame; visit may shrink it), by
// ascending child for compounds and height fields, in the tree's order for meshes. Stops when visit returns
// false. The piece is placed at pose.
typedef bool (*crVisit)(void* ctx, const crConvex* piece);
void cr__pieces_in(const crShape* shape, crPose pose, crVec3 origin, const crBounds* box, crVisit visit,
                   void* ctx);

void cr__mesh_corners(const crMesh* mesh, int triangle, crVec3 corners[3]);
// Triangle 2 (j (nx-1) + i) is the lower right of cell (i, j), the next one its upper left.
void cr__field_corners(const crHeightField* field, int triangle, crVec3 corners[3]);

// x, in the mesh's own frame, is inside a closed mesh.
bool cr__mesh_holds(const crMesh* mesh, crVec3 x);

// One block of `bytes`, cut into arrays by cr__take; *memory is NULL when memory is out.
static inline void* cr__take(unsigned char** memory, size_t bytes) {
    void* taken = *memory;
    *memory += (bytes + 15) & ~(size_t)15;
    return taken;
}

#endif
