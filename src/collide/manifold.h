// manifold.h - from one closest pair of points to the contacts of two convex pieces.
#ifndef CAROM_COLLIDE_MANIFOLD_H
#define CAROM_COLLIDE_MANIFOLD_H

#include "collide/narrow.h"

#define CR__FACE_MAX 32    // corners of a support face; larger faces of hulls are thinned out
#define CR__FACING   0.99  // cosine between the direction asked for and the normal of a face that meets it
#define CR__ALONG    0.1   // sine between that direction and the plane across such an edge

// The face, edge or point of the piece farthest along unit d, radius included: 1 point, 2, or a polygon that
// runs counterclockwise about d. Faces and edges count if within about 8 and 6 degrees of facing d.
int cr__support_face(const crConvex* c, crVec3 d, crVec3 points[CR__FACE_MAX]);

// Feature id of the surface point x of the piece, d the outward normal there.
uint32_t cr__feature(const crConvex* c, crVec3 x, crVec3 d, bool choice);

#define CR__ON 1e-6  // relative distance within which a point is on a feature

// The same of a box with half edges s and |s| = extent, x in its own frame.
uint32_t cr__box_feature(crVec3 s, crVec3 x, double extent);
// Its parts. Along an axis of half edge h points from the rim on are on a face: the upper (2), the lower (1),
// or none (0). The id is of 9 i + 3 j + k, these along x, y and z, and of how many are not 0: as many as its
// kind says.
static inline double cr__box_rim(double h, double extent) {
    double tol = CR__ON * extent;
    return h - (tol < 0.5 * h ? tol : 0.5 * h);
}
static inline int cr__box_side(double rim, double v) { return 2 * (v >= rim) + (v <= -rim); }
static inline uint32_t cr__box_id(int code, int faces) {
    return (uint32_t)(faces > 1 ? faces : CR_FEATURE_FACE) << 28 | (uint32_t)code;
}

// What the contacts of a manifold leave out.
typedef struct crLeftOut {
    bool corners;  // corners or parts of a rim of the common region, within the margin
    bool far;      // corners beyond the margin
} crLeftOut;

// Up to 8 contacts with gap <= margin. -1: no corner is as near as closest->gap says,
// and it has no witness points.
int cr__manifold(const crConvex* a, const crConvex* b, const crClosest* closest, double margin,
                 crContactPoint contacts[CR_MANIFOLD_MAX], crLeftOut* left_out);

// Sine between the support faces or edges of two pieces and the plane across n, the larger one.
double cr__faces_slope(const crConvex* a, const crConvex* b, crVec3 n);

// Two points of one pair of features get different ids, by a number; returns count.
int cr__tell_apart(crContactPoint* contacts, int count);

// Contacts of two boxes without GJK, out->gap > margin where there are none; -1: not this way.
int cr__box_contacts(const crConvex* a, const crConvex* b, double margin,
                     crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* out, crLeftOut* left_out);

// The contact of a ball with a ball, a box or a half-space: 1 or none, in the world, its gap in either case
// (or a bound from below that is beyond margin); -1: not such a pair.
int cr__ball_contact(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                     double margin, crContactPoint* contact);
// Contacts of a box with a half-space, likewise, sorted, at most four; -1: not such a pair.
int cr__box_on_plane(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                     double margin, crContactPoint* contacts);
// A convex shape is farther than margin from a half-space by its bounding sphere.
bool cr__off_plane(const crShape* plane, const crPose* body, const crShape* other, const crPose* at,
                   double margin);

// Both shapes in a working frame; returns its origin.
crVec3 cr__convex_pair(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b,
                       crConvex* ca, crConvex* cb);
// Their contacts the fastest way; closest has at least gap and n.
int cr__convex_contacts(const crConvex* a, const crConvex* b, double margin,
                        crContactPoint contacts[CR_MANIFOLD_MAX], crClosest* closest, crLeftOut* left_out);

// cr_collide; any margin from this one to less than *until gives the same contacts, and without contacts the
// shapes are at least that far apart. -INFINITY: not known.
int cr__collide(const crShape* a, const crPose* body_a, const crShape* b, const crPose* body_b, double margin,
                crContactPoint* contacts, int capacity, int* needed, double* until);

// Keeps the `capacity` contacts with the least gaps, in their order; returns how many are left.
int cr__deepest(crContactPoint* contacts, int count, int capacity);

// Sorts two contacts, or one, by children, then features.
void cr__sort_two(crContactPoint* contacts, int count);
// From the working frame to the world, and sorted likewise.
void cr__place(crContactPoint* contacts, int count, crVec3 origin);

#endif
