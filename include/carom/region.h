// region.h - experimental: the permissible region of a contact as a body in impulse space, and what bounds it.
//
// Contacts are those of impulse.h, in the contact frame. These functions work and are tested; their form may change with
// any version.
#ifndef CAROM_REGION_H
#define CAROM_REGION_H

#include "carom/impulse.h"

#ifdef __cplusplus
extern "C" {
#endif

// Velocity change of B's contact point relative to A's when impulse acts on B and -impulse on A.
typedef crStatus (*crUnitImpulse)(void* ctx, crVec3 impulse, crVec3* velocity);
// W of any mechanism, column by column from unit impulses; the response to no impulse is subtracted first
// (Chatterjee and Ruina, appendix A.1).
CR_API crStatus cr_mechanism_W(crUnitImpulse respond, void* ctx, crMat3* W, crError* error);

// Restitution at an approach speed >= 0.
CR_API double cr_restitution_at(const crRestitution* restitution, double speed);

// Surface of constant contact energy: semi-axes sqrt(2 Ec / eigenvalues of W), INFINITY where W is singular.
typedef struct crEllipsoid {
    crVec3 center;     // P_II
    double radius[3];  // ascending eigenvalues of W: longest first
    crMat3 axes;       // unit columns, one per radius
} crEllipsoid;
CR_API bool cr_impulse_ellipsoid(const crContact* c, double Ec, crEllipsoid* ellipsoid);

typedef struct crPlane {
    crVec3 normal;  // not unit; points to larger n.V+
    double offset;  // the plane is normal.P = offset
} crPlane;
typedef struct crLine {
    crVec3 point;
    crVec3 direction;  // unit, direction.x >= 0
} crLine;

CR_API crPlane cr_impulse_compression_plane(const crContact* c);            // n.V+ = 0
CR_API crPlane cr_impulse_restitution_plane(const crContact* c, double e);  // n.V+ = -e n.V
// Impulses after which nothing slips (V+ along n); false where it is not a line or does not exist.
CR_API bool cr_impulse_sticking_line(const crContact* c, crLine* line);

// the permissible region

// A point of the region's interior wherever it has one, else a point of it: the volume centroid (in the plane
// z = 0 the area centroid, for planar contacts). false: nothing but the origin is permissible, Wnn = 0, or V
// separates (a contact that separates gets no impulse, so its region counts as the origin alone).
CR_API bool cr_region_centroid(const crContact* c, crVec3* P0);
// Where W is singular the region may have no end. All functions here then cut it off by a tighter bound on
// the energy: directions x that W blocks count with x.W x = 1e-4 |x|^2 trace W, so that it reaches about 100
// times as far there as elsewhere. No impulse of the region is longer than reach (0 where W blocks n).
CR_API double cr_region_reach(const crContact* c);

// Largest s >= 0 with P0 + s d in the region, for P0 in the region; INFINITY for d = 0.
CR_API double cr_region_extent(const crContact* c, crVec3 P0, crVec3 d);

// Section through the n axis and the tangential direction (cos azimuth) t1 + (sin azimuth) t2, as a closed
// polyline of `count` points (at least 4), corners included, first point not repeated. false: empty.
CR_API bool cr_region_section(const crContact* c, double azimuth, int count, crVec3* points);
// Azimuth of the section that holds P_I and P_II (0 where they lie on the n axis or P_II does not exist).
CR_API double cr_region_azimuth(const crContact* c);

// Boundary as a closed triangle mesh of 10*4^level + 2 vertices and 20*4^level triangles, outward
// orientation; false: no interior, or a level that is not 0 to CR_REGION_MAX_LEVEL (then both counts are 0).
#define CR_REGION_MAX_LEVEL 6
CR_API int cr_region_mesh_vertices(int level);
CR_API int cr_region_mesh_triangles(int level);
CR_API bool cr_region_mesh(const crContact* c, int level, crVec3* vertices, int (*triangles)[3]);

// Three parametrizations of the whole region; each pair of functions is inverse to the other inside it. Where
// the region is only the origin every parameter leads there; where it is empty (Wnn = 0 with V approaching)
// they return CR_ERR_REGION, as they do for a P outside.
// Spherical about the centroid: psi1 in [0, pi] from n, psi2 in [0, 2 pi) about n from t1, rho in [0, 1].
CR_API crStatus cr_region_from_spherical(const crContact* c, double psi1, double psi2, double rho, crVec3* P,
                                         crError* error);
CR_API crStatus cr_region_to_spherical(const crContact* c, crVec3 P, double* psi1, double* psi2, double* rho,
                                       crError* error);
// A wished impulse, drawn towards the centroid until it is in the region.
CR_API crStatus cr_region_project(const crContact* c, crVec3 wish, crVec3* P, crError* error);
// Brach: n.V+ = -e n.V and P = Pn (n + mu2 t1 + mu3 t2). Bounds: mu2^2 + mu3^2 <= mu^2, 0 <= e <= e_max.
CR_API crStatus cr_region_from_brach(const crContact* c, double e, double mu2, double mu3, crVec3* P,
                                     crError* error);
CR_API crStatus cr_region_to_brach(const crContact* c, crVec3 P, double* e, double* mu2, double* mu3,
                                   crError* error);
// At Vn = 0 every e and every pair of ratios gives P = 0: Brach's form does not reach the rest of the region.
// Largest e for these ratios; negative where no impulse in this direction is permissible, INFINITY where V
// does not approach.
CR_API double cr_region_brach_e_max(const crContact* c, double mu2, double mu3);

#ifdef __cplusplus
}
#endif

#endif
