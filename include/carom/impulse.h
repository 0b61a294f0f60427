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

typedef struct crByImpact crByImpact;  // coefficients that depend on the impact: carom/forms.h

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
    const crByImpact* by_impact;      // NULL, or coefficients that depend on the impact (override e, et, mu)
    crVec3 omega;                     // angular velocity of B against A, rad/s; only by_impact reads it
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

// mu = 0, e = 0, et = 0, W = identity, V = 0, n = +x.
CR_API crCollision cr_collision(void);
CR_API crRigid cr_rigid(void);  // 1 kg, unit inertia, at rest at the origin
CR_API crRigid cr_rigid_sphere(double mass, double radius);

// Fill W, V and omega from two bodies touching at point (world coordinates). Fixed bodies contribute nothing to W.
CR_API crStatus cr_collision_bodies(crCollision* collision, const crRigid* a, const crRigid* b, crVec3 point,
                                    crError* error);

// The body after impulse P has acted on it at point.
CR_API crRigid cr_rigid_after(const crRigid* body, crVec3 point, crVec3 P);

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
static inline bool cr_impulse_permissible(const crContact* c, crVec3 P, double tol) {
    return cr_impulse_verdict(c, P, tol).permissible;
}

#ifdef __cplusplus
}
#endif

#endif
