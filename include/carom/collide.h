// collide.h - geometry: how far apart two shapes are, where they touch, and when they will.
//
// Usable without a model. A contact is between A and B: the unit normal n points from A to B, gap > 0 apart
// and < 0 overlapping, and the contact point lies midway between the witness points on_a and on_b,
//
//     on_b - on_a = gap n,        gap = max over unit n of  min over B of n.b  -  max over A of n.a
//
// for convex shapes, overlapping or not: the distance where apart, minus the least shift that separates where
// not. That definition is also the certificate: the normal found makes the gap a lower bound, and
// crDistance.error says how much larger it may be (1e-10 of the size for most curved shapes that overlap,
// rounding elsewhere). Shapes made of pieces (mesh, height field, compound) take the least gap over pairs of
// pieces; what is wholly inside a closed mesh has minus the way out of it, the shortest for a ball and one
// along the normal of a triangle for others.
//
// Normals: face against anything is the face's; vertex against edge is perpendicular to the edge through the
// vertex; edge against edge the cross product; vertex against vertex the line between them. Where that line
// has no length the normal is the one of least separation, else it runs from A's centre to B's, else +z of A;
// the feature kind CR_FEATURE_CENTRE says that it is such a choice. Units: m, s, rad. Quaternions w first.
// Nothing here allocates but the create functions and the broad phase.
#ifndef CAROM_COLLIDE_H
#define CAROM_COLLIDE_H

#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// shapes

typedef enum crShapeKind {
    CR_SHAPE_SPHERE,       // size.x radius
    CR_SHAPE_CAPSULE,      // size.x radius, size.z half length of the axis (local z), round ends beyond it
    CR_SHAPE_BOX,          // size half edges
    CR_SHAPE_CYLINDER,     // size.x radius, size.z half height; axis local z
    CR_SHAPE_CONE,         // size.x radius of the base at z = -size.z, apex at z = +size.z
    CR_SHAPE_ELLIPSOID,    // size semi-axes
    CR_SHAPE_HALFSPACE,    // solid where normal.x <= offset; size is the unit normal
    CR_SHAPE_HULL,         // convex polyhedron
    CR_SHAPE_MESH,         // triangles, outside is where they are seen counterclockwise
    CR_SHAPE_HEIGHTFIELD,  // z over a grid of x and y, solid below
    CR_SHAPE_COMPOUND,     // convex children
    CR_SHAPE_KINDS
} crShapeKind;

typedef struct crHull crHull;
typedef struct crMesh crMesh;
typedef struct crHeightField crHeightField;
typedef struct crCompound crCompound;

// A shape in the frame of its body. Make it with a constructor; change pose afterwards where it sits
// elsewhere.
typedef struct crShape {
    crShapeKind kind;
    crPose pose;    // of the shape in its body
    crVec3 size;    // see crShapeKind, m
    double offset;  // half-space only, m
    union {
        const crHull* hull;
        const crMesh* mesh;
        const crHeightField* field;
        const crCompound* compound;
    } data;  // borrowed; must outlive the shape
} crShape;

// One kind of shape, as the table of kinds has it.
typedef struct crShapeInfo {
    const char* name;  // e.g. "half-space"
    int sizes;  // how many numbers it is given by, 0 where it is not given by sizes alone: see cr_shape
    const char* fields[2];  // what scenes call them: one field for one or three numbers, two for two
    const char* what[2];    // and what they are
    bool turned;            // about local z: scenes may lay that axis along x or y
} crShapeInfo;
CR_API const crShapeInfo* cr_shape_info(crShapeKind kind);  // NULL for no such kind

// A shape given by sizes: 1 number is its radius, 2 are radius and half height along local z, 3 are along x, y and z.
CR_API crShape cr_shape(crShapeKind kind, const double* sizes);

CR_API crShape cr_shape_sphere(double radius);
CR_API crShape cr_shape_capsule(double radius, double half_length);
CR_API crShape cr_shape_box(double half_x, double half_y, double half_z);
CR_API crShape cr_shape_cylinder(double radius, double half_height);
CR_API crShape cr_shape_cone(double radius, double half_height);
CR_API crShape cr_shape_ellipsoid(double a, double b, double c);
CR_API crShape cr_shape_halfspace(crVec3 normal, double offset);
CR_API crShape cr_shape_hull(const crHull* hull);
CR_API crShape cr_shape_mesh(const crMesh* mesh);
CR_API crShape cr_shape_heightfield(const crHeightField* field);
CR_API crShape cr_shape_compound(const crCompound* compound);

// Refuses zero, negative, NaN, a normal that is not unit, and for moving bodies shapes that enclose no
// volume: an open mesh, a height field, a half-space. Every other function here expects shapes that passed.
CR_API crStatus cr_shape_check(const crShape* shape, bool moving, crError* error);

// A finished hull: vertices and faces, each face a loop of vertex indices counterclockwise from outside.
typedef struct crHullDef {
    int vertex_count;        // >= 4
    const crVec3* vertices;  // m (vertex_count)
    int face_count;          // >= 4
    const int* face_sizes;   // vertices of each face, >= 3 (face_count)
    const int* face_loops;   // vertex indices, face after face (sum of face_sizes)
} crHullDef;

// Copies, and checks that the faces are flat and convex, close the surface, and see all vertices on their
// inside.
CR_API crStatus cr_hull_create(const crHullDef* def, const crAllocator* allocator, crHull** hull,
                               crError* error);
// A prism over a convex polygon in the local xy plane (points x, y; counterclockwise), z from -half to +half.
CR_API crStatus cr_hull_create_prism(const crVec3* points, int count, double half,
                                     const crAllocator* allocator, crHull** hull, crError* error);
CR_API void cr_hull_destroy(crHull* hull);  // accepts NULL
CR_API const crVec3* cr_hull_vertices(const crHull* hull, int* count);
// Vertex indices of a face, counterclockwise from outside; NULL where there is no such face.
CR_API const int* cr_hull_face(const crHull* hull, int face, int* count);

typedef struct crMeshDef {
    int vertex_count;
    const crVec3* vertices;  // m (vertex_count)
    int triangle_count;
    const int (*triangles)[3];  // counterclockwise from outside (triangle_count)
} crMeshDef;

// Copies and builds a bounding tree. Closed means every edge is shared by two triangles that run along it in
// opposite directions; a closed mesh turned inside out is refused.
CR_API crStatus cr_mesh_create(const crMeshDef* def, const crAllocator* allocator, crMesh** mesh,
                               crError* error);
CR_API void cr_mesh_destroy(crMesh* mesh);         // accepts NULL
CR_API crMeshDef cr_mesh_def(const crMesh* mesh);  // what it was made of; borrowed

// Heights at (i dx, j dy), i < nx, j < ny, as z[j nx + i]; each cell is cut from (i, j) to (i+1, j+1).
typedef struct crHeightFieldDef {
    int nx, ny;       // >= 2
    double dx, dy;    // > 0, m
    const double* z;  // m (nx ny)
} crHeightFieldDef;

CR_API crStatus cr_heightfield_create(const crHeightFieldDef* def, const crAllocator* allocator,
                                      crHeightField** field, crError* error);
CR_API void cr_heightfield_destroy(crHeightField* field);                // accepts NULL
CR_API crHeightFieldDef cr_heightfield_def(const crHeightField* field);  // what it was made of; borrowed

// Children are convex (no half-space), each with its own pose in the compound; copied, their data borrowed.
CR_API crStatus cr_compound_create(const crShape* children, int count, const crAllocator* allocator,
                                   crCompound** compound, crError* error);
CR_API void cr_compound_destroy(crCompound* compound);  // accepts NULL
CR_API const crShape* cr_compound_children(const crCompound* compound, int* count);

// bounds

typedef struct crBounds {
    crVec3 lo, hi;  // infinite for a half-space, but for the face that its normal is along, if any
} crBounds;

CR_API crBounds cr_shape_bounds(const crShape* shape,
                                crPose body);  // tight for all shapes but compounds, meshes
CR_API double cr_shape_reach(const crShape* shape,
                             crVec3 point);  // bound of the distance of the shape's points
                                             // from point, both in the body's frame

// distance and contacts

// A feature is its kind in the top four bits and an index below; the same feature keeps its id while it
// lasts.
typedef enum crFeatureKind {
    CR_FEATURE_FACE = 1,
    CR_FEATURE_EDGE = 2,
    CR_FEATURE_VERTEX = 3,
    CR_FEATURE_SMOOTH = 4,  // a point of a curved surface or rim; the index says which part of it
    CR_FEATURE_CENTRE = 5,  // the normal is a choice, see above
} crFeatureKind;
#define CR_FEATURE_KIND(feature) ((crFeatureKind)((feature) >> 28))

typedef struct crContactPoint {
    double gap;     // m
    crVec3 normal;  // unit, from A to B
    crVec3 point;   // midway between on_a and on_b
    crVec3 on_a;
    crVec3 on_b;
    int child_a;  // triangle of a mesh, cell triangle of a height field, child of a compound; else 0
    int child_b;
    uint32_t feature_a;
    uint32_t feature_b;
} crContactPoint;

typedef struct crDistance {
    crContactPoint contact;  // the closest or deepest pair of points
    double error;            // the true gap is in [gap, gap + error], m; 0 for closed forms
    int iterations;          // of GJK, EPA or Newton's method (0 for closed forms)
} crDistance;

// Signed distance between two shapes at the poses of their bodies. false: there is none to speak of (two
// half-spaces, or nothing of a mesh within reach). Pieces farther apart than reach may be left out; INFINITY
// asks for all.
CR_API bool cr_distance(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double reach,
                        crDistance* distance);

// Contacts with gap <= margin, at most 8 per pair of convex pieces: every corner of the region where two
// faces meet; of more the deepest, and those that span most. Returns their number, at most capacity (then the
// deepest ones);
// *needed, if given, is how many there are. Sorted by children, then features. margin >= 0, m.
#define CR_MANIFOLD_MAX 8
CR_API int cr_collide(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double margin,
                      crContactPoint* contacts, int capacity, int* needed);

// Whether they overlap or touch: gap <= 0.
static inline bool cr_overlap(const crShape* a, crPose body_a, const crShape* b, crPose body_b) {
    crDistance d;
    return cr_distance(a, body_a, b, body_b, 0.0, &d) && d.contact.gap <= 0.0;
}

// Signed distance of a point (negative inside); nearest is the nearest point of the surface. Each of the three
// may be NULL.
CR_API bool cr_point_distance(const crShape* shape, crPose body, crVec3 point, double* distance,
                              crVec3* nearest, crVec3* normal);

// First t in [0, length] where origin + t direction (unit) meets the surface from outside; an origin inside a
// solid meets it at t = 0 with normal -direction.
typedef struct crRayHit {
    double t;  // m
    crVec3 point;
    crVec3 normal;  // outward
    int child;
} crRayHit;
CR_API bool cr_ray(const crShape* shape, crPose body, crVec3 origin, crVec3 direction, double length,
                   crRayHit* hit);

#ifdef __cplusplus
}
#endif

#endif
