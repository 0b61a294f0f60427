// impulse.h - impulse space of one contact (Chatterjee and Ruina 1998, sections 2 and 3).
//
// Two bodies A and B touch at a point. n is the unit normal out of A towards B, V = v_B - v_A the velocity of
// B's contact point relative to A's, Vn = n.V; approach means Vn < 0. The impulse P acts on B, -P on A, and
//
//     V+ = V + W P,        W = J inverse(M) J^T   (3x3, symmetric, positive semidefinite, 1/kg)
//
// W is the inverse of Chatterjee and Ruina's local mass matrix m. It stays finite where a mechanism blocks a
// direction, so nothing here ever inverts it without need. Each P is one possible outcome; the permissible
// ones satisfy four inequalities (crMargins) and form a closed convex set, the permissible region.
//
// crCollision is in the user's coordinates. crContact is the same in the contact frame, whose axes are
// x = n, y = t1, z = t2; everything but the first group of functions works there.
// Units: W 1/kg, V m/s, P N s, energies J, angles rad.
#ifndef CAROM_IMPULSE_H
#define CAROM_IMPULSE_H

#include "carom/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// Restitution as a function of approach speed: a table (piecewise linear, constant beyond its ends) or, where
// function is given, that function.
typedef struct crRestitution {
    int count;            // rows of the table, >= 1 unless function is given
    const double* speed;  // strictly ascending, >= 0, m/s (count)
    const double* e;      // >= 0 (count)
    double (*function)(void* ctx, double speed);
    void* ctx;
} crRestitution;

// One collision in the user's coordinates. Start from cr_collision().
typedef struct crCollision {
    crMat3 W;                         // symmetric positive semidefinite, 1/kg
    crVec3 V;                         // relative velocity of the contact points before, m/s
    crVec3 n;                         // unit normal from A to B
    double mu;                        // friction coefficient, >= 0, may be INFINITY
    double e;                         // normal restitution, >= 0; guarantees are stated for <= 1
    double et;                        // tangential restitution, -1 to 1
    const crRestitution* e_of_speed;  // NULL, or e by approach speed (overrides e)
    bool normalize;                   // accept an n of any length but zero
    bool has_frame;                   // use frame instead of the default one
    crMat3 frame;                     // columns n, t1, t2; orthonormal, right- or left-handed
} crCollision;

// The same in the contact frame: x is along n, y along t1, z along t2.
typedef struct crContact {
    crSym3 W;
    crVec3 V;
    double mu;
    double e;
    double et;
} crContact;

// A rigid body at the instant of impact.
typedef struct crRigid {
    double mass;         // kg, > 0 unless fixed
    crSym3 inertia;      // about the centre of mass in body axes, kg m^2
    crVec3 position;     // centre of mass, m
    crQuat orientation;  // body to world
    crVec3 velocity;     // of the centre of mass, m/s
    crVec3 omega;        // angular velocity in world axes, rad/s
    bool fixed;          // takes no impulse; its velocity and omega are prescribed (a driven body)
} crRigid;

// Velocity change of B's contact point relative to A's when impulse acts on B and -impulse on A.
typedef crStatus (*crUnitImpulse)(void* ctx, crVec3 impulse, crVec3* velocity);

// mu = 0, e = 0, et = 0, W = identity, V = 0, n = +x.
CR_API crCollision cr_collision(void);
CR_API crRigid cr_rigid(void);  // 1 kg, unit inertia, at rest at the origin
CR_API crRigid cr_rigid_sphere(double mass, double radius);

// Fill W and V from two bodies touching at point (world coordinates). Fixed bodies contribute nothing to W.
CR_API crStatus cr_collision_bodies(crCollision* collision, const crRigid* a, const crRigid* b, crVec3 point,
                                    crError* error);

// The body after impulse P has acted on it at point.
CR_API crRigid cr_rigid_after(const crRigid* body, crVec3 point, crVec3 P);

// W of any mechanism, column by column from unit impulses; the response to no impulse is subtracted first
// (Chatterjee and Ruina, appendix A.1).
CR_API crStatus cr_mechanism_W(crUnitImpulse respond, void* ctx, crMat3* W, crError* error);

// Restitution by a named form, as a table for crRestitution: never above 1, so that a law that is good for e <= 1 is.
typedef enum crFormKind {
    CR_FORM_POWER,         // e0 (v/v0)^-exponent
    CR_FORM_VISCOELASTIC,  // spheres with Hertz's force and viscous damping (Kuwabara and Kono), e0 at v0
    CR_FORM_PLASTIC,  // elastic spheres that yield from the speed v0 on (Johnson, Thornton); e0 is not read
    CR_FORM_SPLINE,   // a smooth curve through the rows given, without overshoot
} crFormKind;

CR_API const char* cr_form_name(crFormKind kind);  // "power", ...; NULL for no such

typedef struct crRestitutionForm {
    crFormKind kind;
    double speed;          // v0, > 0, m/s
    double e;              // e0, > 0 to 1; viscoelastic: below 1
    double exponent;       // power: 0 to 2
    double most;           // power: largest e, > 0 to 1; it is met at low speed
    int count;             // spline: rows, 2 to 16
    const double* speeds;  // spline: strictly ascending, >= 0 (count)
    const double* values;  // spline: 0 to 1 (count)
} crRestitutionForm;

#define CR_FORM_ROWS 129
// The form at eight speeds per octave from v0/256 to 256 v0 (splines: 8 per row), straight between them and constant
// beyond: at most 2e-3 of e away from it. speed and e have room for CR_FORM_ROWS; returns the rows written, or a negative
// crStatus.
CR_API int cr_restitution_form(const crRestitutionForm* form, double* speed, double* e, crError* error);

// A ball at rest struck by a level cue. x is along the cue, z up; the tip meets the ball `side` to the left (y) and
// `height` above its centre.
typedef struct crCue {
    double mass;      // of the cue, > 0, kg
    double end_mass;  // of its end, which the ball pushes aside: squirt; > 0, kg
    double e;         // restitution of the tip, 0 to 1
    double mu;        // friction of the tip: more offset than it holds is a miscue
} crCue;
typedef struct crStrike {
    crVec3 velocity;  // of the ball, m/s
    crVec3 omega;     // rad/s
    double squirt;    // angle of its path from x, against the side struck, rad
    double impulse;   // along x, N s
    bool miscue;      // the tip slips off: nothing else is filled
} crStrike;
CR_API crStatus cr_cue_strike(const crCue* cue, double ball_mass, double ball_radius, double speed,
                              double side, double height, crStrike* strike, crError* error);

// Restitution at an approach speed >= 0.
CR_API double cr_restitution_at(const crRestitution* restitution, double speed);

// Check every field and change to the contact frame. The default frame has t1 against the tangential velocity
// (t1 = z x n, or +x where n is along z, if there is none) and t2 = n x t1.
CR_API crStatus cr_collision_contact(const crCollision* collision, crContact* contact, crMat3* frame,
                                     crError* error);

// true where nothing happens along t2: W does not couple it to n and t1, and V has no such component.
CR_API bool cr_contact_is_planar(const crContact* contact);

// points, surfaces and energies

// W counts as singular along directions whose eigenvalue is rounding, up to 2^-48 trace W: they are blocked.
// Plastic and frictionless; false where V approaches and n is blocked.
CR_API bool cr_impulse_P_I(const crContact* c, crVec3* P);
// Plastic and sticking, of least norm where W is singular; false where V has a part along a blocked direction.
CR_API bool cr_impulse_P_II(const crContact* c, crVec3* P);

CR_API crVec3 cr_impulse_V_plus(const crContact* c, crVec3 P);         // V + W P
CR_API double cr_impulse_energy_change(const crContact* c, crVec3 P);  // P.V + P.W P / 2
// Contact energy (P - P_II).W (P - P_II) / 2; false where P_II does not exist.
CR_API bool cr_impulse_contact_energy(const crContact* c, crVec3 P, double* Ec);

// How far inside each condition P is; negative is outside.
typedef struct crMargins {
    double energy;       // -(energy change), J
    double penetration;  // n.V+, m/s
    double tension;      // n.P, N s
    double cone;         // mu n.P - |P_t|, N s; INFINITY where mu is infinite and n.P >= 0
} crMargins;

CR_API crMargins cr_impulse_margins(const crContact* c, crVec3 P);

// Relative tolerance of the permissibility verdict on results: each margin may be this far below zero, compared
// with what the collision brings: the energy available, |V|, or |V| / trace(W).
#define CR_PERMISSIBLE_TOL 1e-9
CR_API bool cr_impulse_permissible(const crContact* c, crVec3 P, double tol);  // the verdict is yes

// All that W, V and P alone say about an outcome.
typedef struct crVerdict {
    crVec3 V_plus;         // V + W P, m/s
    double energy_change;  // J
    crMargins margins;
    crMargins floor;          // rounding floors of the margins
    crMargins allowed;        // how far below zero each may be
    double energy_available;  // least that is known to be available to impulses, J
    crTruth verdict;          // all margins >= 0 within tol: yes, no, or cannot tell for rounding
    bool permissible;         // the verdict is yes
    bool creates_energy;      // energy change > 0 beyond tol and rounding
} crVerdict;
CR_API crVerdict cr_impulse_verdict(const crContact* c, crVec3 P, double tol);

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
