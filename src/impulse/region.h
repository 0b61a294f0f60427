// region.h - the permissible region as a bundle of rays from the origin; shared by the region_*.c files.
//
// In a basis b0, b1, b2 that is orthonormal in W, with b0 along n, every impulse is P = s d with
// d = x0 b0 + x1 b1 + x2 b2 and |x| = 1. On such a ray no penetration is s >= s0 = nu/x0, no energy gain is
// s <= s1 = -2 d.V, and the friction cone does not depend on s. So the region is the set of rays with
// s0 <= s1 inside the cone, each from s0 to s1, and n.V+ = -e Vn with 1 + e = s/s0.
// Source: Chatterjee and Ruina 1998, section 3.2; the ray form is derived here from its four inequalities.
#ifndef CAROM_IMPULSE_REGION_H
#define CAROM_IMPULSE_REGION_H

#include "carom/region.h"

// The contact whose region is computed: the given one, or where W is singular and its region may have no end,
// one whose blocked directions x have x.W x = 1e-4 |x|^2 trace W (1e-11 where the friction cone ends it anyway). That only makes the energy bound tighter: n.W P stays as it is.
crContact cr__region_contact(const crContact* c);

typedef struct crRays {
    crVec3 b[3];      // basis
    double nu;        // -Vn/sqrt(Wnn) = -V.b0
    double gamma[3];  // V.b
    double k[3];      // cone: |(k1 x1, k2 x2)| <= x0 - Omega1 x1 - Omega2 x2; k is 0 at mu = infinity
    double Omega[3];
} crRays;

// false where the normal direction is blocked (Wnn = 0), the bodies separate, or only the origin is left. For
// planar contacts b1 is in the plane z = 0. c is what cr__region_contact gave.
bool cr__rays(const crContact* c, bool planar, crRays* rays);

// Empty where lo > hi.
typedef struct crInterval {
    double lo, hi;
} crInterval;

// b with A b^2 + 2 B b + C <= 0, for A >= 0
crInterval cr__energy_interval(double A, double B, double C);

// x1/x0 of the rays in the plane of b0 and b1
crInterval cr__planar_range(const crRays* rays);

// P = P0 + s d is on the boundary but for the rounding of P0, which may be much larger than P: pull it back
// along d by what its own margins say.
crVec3 cr__region_settle(const crContact* c, crVec3 P, crVec3 d);

// Volume, centroid and a matrix whose columns span the ellipsoid of equal second moments. For planar contacts
// the area and its centroid, in the plane z = 0, and no spread.
typedef struct crMoments {
    double volume;
    crVec3 centroid;
    crMat3 spread;
} crMoments;

// false where the region has no interior
bool cr__region_moments(const crContact* c, bool planar, crMoments* moments);

#endif
