// near.h - experimental: contacts that are kept, outlines in a plane, times of impact, the broad phase.
//
// What a step makes of geometry. These functions work and are tested; their form may change with any version.
#ifndef CAROM_NEAR_H
#define CAROM_NEAR_H

#include "carom/collide.h"

#ifdef __cplusplus
extern "C" {
#endif

// Contacts that are kept while the bodies hardly move. A patch is plain data: copy it, save it.
typedef struct crPatch {
    crPose body_a, body_b;  // when it was computed
    double margin;          // and with which margin, m
    double gap;             // of the shapes then, m
    int count;
    int turns_with;     // whose flat face gives the normal: 0 A, 1 B, -1 neither: good where nothing moved
    crVec3 centre;      // of the smaller shape, m
    double reach;       // of the smaller shape about its centre, margin included, m
    double slope;       // sine between the faces that meet
    double sharpness;   // 1 / sine of half the sharpest corner of the region of contact, see patch.c
    double bend;        // largest radius of curvature opposite the face, m
    double inside;      // depth below which the face stays the nearest way out, m
    bool corners, far;  // corners were left out: more than 8, gaps beyond the margin
    crContactPoint contacts[CR_MANIFOLD_MAX];
} crPatch;

// Contacts of two convex shapes (half-spaces too), those that cr_collide gives, with what
// cr_collide_refresh needs. false: a shape is made of pieces, the patch is empty.
CR_API bool cr_collide_keep(const crShape* a, crPose body_a, const crShape* b, crPose body_b, double margin,
                            crPatch* patch);
// The contacts of a patch at the poses now: points move with their shapes, the normal turns with its face,
//
//     gap = n.(x_B - x_A),   |gap - that of cr_collide| <= error = (slope + theta) sharpness m + bend theta^2
//
// to first order in m, with theta the angle the shapes have turned against each other and m = |motion of the
// smaller one's centre| + theta reach; 2 (slope + theta) reach more where corners were left out. Contacts
// with gap > margin are not listed. false: compute anew, since the error exceeds tolerance (m), or a contact
// that was beyond the patch's margin may have come in, or another face may be nearer. tolerance 0: only where
// nothing moved, and with the patch's margin the bits are those of cr_collide.
CR_API bool cr_collide_refresh(const crPatch* patch, crPose body_a, crPose body_b, double margin,
                               double tolerance, crContactPoint contacts[CR_MANIFOLD_MAX], int* count,
                               double* error);

// The same for planar work: both shapes are cut by the plane through body_a's origin with unit normal `axis`
// and meet as their outlines: disc (sphere), rod with round ends (capsule in the plane), polygon (box or hull
// with an axis along `axis`), half-plane. At most 2 contacts, normals in the plane, points in the plane.
CR_API crStatus cr_collide_planar(const crShape* a, crPose body_a, const crShape* b, crPose body_b,
                                  crVec3 axis, double margin, crContactPoint contacts[2], int* count,
                                  crError* error);

// Whether every edge of a mesh is shared by two triangles.
CR_API bool cr_mesh_closed(const crMesh* mesh);

// time of impact

// A body that keeps its velocities: p(t) = p + v t, q(t) = exp(omega t) q.
typedef struct crMotion {
    crPose pose;   // at t = 0, origin at the centre of rotation
    crVec3 v;      // m/s
    crVec3 omega;  // world axes, rad/s
} crMotion;
CR_API crPose cr_motion_at(const crMotion* motion, double t);

typedef enum crImpactOutcome {
    CR_IMPACT_NONE,   // apart by more than tolerance throughout [0, duration]
    CR_IMPACT_HIT,    // t is the first time with gap <= tolerance, and gap >= 0 unless t = 0
    CR_IMPACT_LIMIT,  // no impact before t, but iterations ran out there
} crImpactOutcome;

typedef struct crImpactTime {
    crImpactOutcome outcome;
    double t;             // s
    crDistance distance;  // at t
    int iterations;
} crImpactTime;

// Conservative advancement: t grows by gap / (bound of closing speed), so nothing is passed through.
// tolerance is relative to the sizes of the shapes, 1e-10 where 0 is given.
CR_API crImpactTime cr_time_of_impact(const crShape* a, const crMotion* motion_a, const crShape* b,
                                      const crMotion* motion_b, double duration, double tolerance);

// broad phase

// Which boxes overlap, for many. Boxes are held enlarged by `slack` (m; by an eighth of their smallest side
// where that is more, and ahead of their motion): one that keeps inside costs next to nothing. The pairs are
// those of the boxes as given, not enlarged: they depend on neither order nor history. One call at a time.
typedef struct crBroad crBroad;
typedef struct crPair {
    int a, b;  // keys, a < b
} crPair;

CR_API crStatus cr_broad_create(double slack, const crAllocator* allocator, crBroad** broad, crError* error);
CR_API void cr_broad_destroy(crBroad* broad);  // accepts NULL
// Adds key (>= 0, small: it indexes an array) or moves it. group < 0: pairs with all; members of one group >=
// 0 do not pair with each other (the shapes of one body, or of all static ones).
CR_API crStatus cr_broad_set(crBroad* broad, int key, crBounds box, int group, crError* error);
CR_API void cr_broad_remove(crBroad* broad, int key);
// All overlapping pairs, ascending by (a, b). The array lives until the next call. CR_ERR_LIMIT where there
// are more than 4194304 and 256 for each box: the boxes are piled into each other.
CR_API crStatus cr_broad_pairs(crBroad* broad, const crPair** pairs, int* count);
// Keys whose boxes meet box, ascending; returns how many there are, writes at most capacity (the smallest).
// Boxes set since the last cr_broad_pairs are looked at one by one.
CR_API int cr_broad_query(crBroad* broad, crBounds box, int* keys, int capacity);

#ifdef __cplusplus
}
#endif

#endif
