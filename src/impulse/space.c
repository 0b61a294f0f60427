// space.c - points, surfaces and energies of impulse space, in the contact frame (x = n).
//
// P_I = -(Vn/Wnn) n;  P_II = -W^-1 V (least norm where W is singular);  V+ = V + W P;
// energy change P.V + P.W P/2, which equals the change of the system's kinetic energy and needs no inverse;
// Ec(P) = (P-P_II).W (P-P_II)/2, whose level surfaces are ellipsoids with semi-axes sqrt(2 Ec / eigenvalues
// of W). Source: Chatterjee and Ruina 1998, section 3.1, eqs. 3 to 6; their "inverse proportion" is direct in
// m = W^-1. Directions whose eigenvalue is rounding of W are blocked (rank.h); in them W is zero.
// Fails: P_I needs a normal direction that is not blocked, or no approach along it; P_II needs V in the range
// of W. Both say so by returning false.
#include "impulse/rank.h"

bool cr_impulse_P_I(const crContact* c, crVec3* P) {
    if (c == NULL || P == NULL) return false;
    *P = cr_vec3(0, 0, 0);
    if (c->V.x == 0.0) return true;
    if (cr__normal_blocked(c)) return !cr__approach_blocked(c);
    P->x = -c->V.x / c->W.xx;
    return isfinite(P->x);
}

// true where no eigenvalue of W is rounding
static bool regular(const crSym3* W) {
    if (!(W->xx > cr__W_rounding(W))) return false;
    cr__Schur s = cr__schur(W);
    double det = s.yy * s.zz - s.yz * s.yz;
    return s.yy > 0.0 && s.zz > 0.0 && det > s.rounding * (s.yy + s.zz);
}

// x of least norm with W x = b; false where b has a part along a blocked direction
static bool solve(const crSym3* W, crVec3 b, crVec3* x) {
    if (regular(W)) return cr_sym3_solve(*W, b, x);
    double values[3];
    crMat3 axes;
    cr_sym3_eigen(*W, values, &axes);
    double rounding = cr__W_rounding(W);
    double least = values[2];  // eigenvalue that is not rounding
    double outside = 0.0;
    *x = cr_vec3(0, 0, 0);
    for (int k = 2; k >= 0; k--) {
        crVec3 axis = cr_mat3_column(axes, k);
        double component = cr_dot(axis, b);
        if (values[k] > rounding) {
            least = values[k];
            *x = cr_madd(*x, component / values[k], axis);
        } else {
            outside += component * component;
        }
    }
    // the blocked axes themselves are known to rounding/least
    double tol = CR__RANGE_TOL + (least > rounding ? 4.0 * rounding / least : 0.0);
    return sqrt(outside) <= tol * cr_norm(b) && cr_vec3_finite(*x);
}

bool cr_impulse_P_II(const crContact* c, crVec3* P) {
    if (c == NULL || P == NULL) return false;
    return solve(&c->W, cr_neg(c->V), P);
}

crVec3 cr_impulse_V_plus(const crContact* c, crVec3 P) {
    if (c == NULL) return (crVec3){0};
    return cr_add(c->V, cr_sym3_mul(c->W, P));
}

double cr_impulse_energy_change(const crContact* c, crVec3 P) {
    if (c == NULL) return (double)NAN;
    return cr_dot(P, c->V) + 0.5 * cr_sym3_quad(c->W, P);
}

bool cr_impulse_contact_energy(const crContact* c, crVec3 P, double* Ec) {
    if (c == NULL || Ec == NULL) return false;
    crVec3 center;
    if (!cr_impulse_P_II(c, &center)) return false;
    *Ec = 0.5 * cr_sym3_quad(c->W, cr_sub(P, center));
    return true;
}

bool cr_impulse_ellipsoid(const crContact* c, double Ec, crEllipsoid* ellipsoid) {
    if (c == NULL || ellipsoid == NULL) return false;
    if (!(Ec >= 0.0) || !cr_impulse_P_II(c, &ellipsoid->center)) return false;
    double values[3];
    cr_sym3_eigen(c->W, values, &ellipsoid->axes);
    for (int k = 0; k < 3; k++) {
        bool blocked = !(values[k] > cr__W_rounding(&c->W));
        ellipsoid->radius[k] = blocked ? (double)INFINITY : sqrt(2.0 * Ec / values[k]);
    }
    return true;
}

crPlane cr_impulse_restitution_plane(const crContact* c, double e) {
    if (c == NULL) return (crPlane){0};
    return (crPlane){cr_vec3(c->W.xx, c->W.xy, c->W.xz), -(1.0 + e) * c->V.x};
}

crPlane cr_impulse_compression_plane(const crContact* c) {
    if (c == NULL) return (crPlane){0};
    return cr_impulse_restitution_plane(c, 0.0);
}

bool cr_impulse_sticking_line(const crContact* c, crLine* line) {
    if (c == NULL || line == NULL) return false;
    // P with V + W P along n: P_II plus multiples of W^-1 n
    crVec3 direction;
    if (!cr_impulse_P_II(c, &line->point)) return false;
    if (!solve(&c->W, cr_vec3(1, 0, 0), &direction)) return false;
    double length = cr_norm(direction);
    if (!(length > 0.0) || !isfinite(length)) return false;
    line->direction = cr_scale(1.0 / length, direction);
    return true;
}
