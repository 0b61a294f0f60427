// packed_slot.h - computes a slot from the numbers of one contact per lane; equations in packed_build.c.
#ifndef CAROM_RELAX_PACKED_SLOT_H
#define CAROM_RELAX_PACKED_SLOT_H

#include "relax/lanes.h"

// Places of the input of one contact per lane: normal, arms, E, warm start impulse, friction.
enum { IN_N = 0, IN_RB = 3, IN_RA = 6, IN_E = 9, IN_P = 12, IN_MU = 15, IN_COUNT = 16 };

#define CR_ALONG 1e-12  // sine of the angle to the normal up to which a vector is along it: covers rounding

CR_LANE bool is_along(crVec3 n, crVec3 a) {
    crVec3 off = cr_cross(a, n);
    return cr_dot(off, off) <= CR_ALONG * CR_ALONG * cr_dot(a, a);
}

// Sets the first six numbers of z to M^(1/2) v of a single body; R^T R is its inverse inertia.
CR_LANE void single_coordinates(double mass, const crMat3* R, const crSym3* inertia, const double* v,
                                double* z) {
    double root = sqrt(mass);
    for (int k = 0; k < 3; k++) {
        z[k] = root * v[k];
    }
    cr__store_vec(cr_mat3_mul(*R, cr_sym3_mul(*inertia, cr__load_vec(v + 3))), z + 3);
}

CR_LANE void put3(double* in, int at, crVec3 a) {
    in[at * CR_LANES] = a.x;
    in[(at + 1) * CR_LANES] = a.y;
    in[(at + 2) * CR_LANES] = a.z;
}

// Puts the numbers of a contact into one lane. b, a: origins of the bodies; a is NULL if it does not move.
CR_LANE void read_contact(const crPackedContact* c, crVec3 b, const crVec3* a, double* in) {
    put3(in, IN_N, c->normal);
    put3(in, IN_RB, cr_sub(c->point, b));
    put3(in, IN_RA, a != NULL ? cr_sub(c->point, *a) : cr_vec3(0, 0, 0));
    put3(in, IN_E, c->E);
    put3(in, IN_P, c->P);
    in[IN_MU * CR_LANES] = c->mu;
}

// Stores K = -[r] R^T, times the sign of the body, by rows and adds K K^T to D (xx xy xz yy yz zz).
CR_LANE void add_K(crLane sign, const double* R, crLane3 r, double* K, crLane* D) {
    for (int k = 0; k < 3; k++) {
        crLane3 axis = lane3_scale(sign, lane3_load(R + 3 * k * CR_LANES));
        crLane3 column = lane3_cross(axis, r);
        lane_store(K + k * CR_LANES, column.x);
        lane_store(K + (3 + k) * CR_LANES, column.y);
        lane_store(K + (6 + k) * CR_LANES, column.z);
    }
    crLane3 x = lane3_load(K), y = lane3_load(K + 3 * CR_LANES), z = lane3_load(K + 6 * CR_LANES);
    D[0] += lane3_dot(x, x);
    D[1] += lane3_dot(x, y);
    D[2] += lane3_dot(x, z);
    D[3] += lane3_dot(y, y);
    D[4] += lane3_dot(y, z);
    D[5] += lane3_dot(z, z);
}

// Stores k of a round body and adds K K^T to D.
CR_LANE void add_k(crLane sign, const double* R, crLane3 r, double* K, crLane* D) {
    crLane3 k = lane3_scale(sign * lane_load(R), r);
    lane3_store(K, k);
    D[0] += k.z * k.z + k.y * k.y;
    D[1] -= k.y * k.x;
    D[2] -= k.z * k.x;
    D[3] += k.z * k.z + k.x * k.x;
    D[4] -= k.z * k.y;
    D[5] += k.y * k.y + k.x * k.x;
}

// Returns a unit vector across n and the z axis, exact to rounding for every n.
CR_LANE crLane3 tangent(crLane3 n) {
    crLane r = lane_sqrt(n.x * n.x + n.y * n.y), one = lane_all(1.0), zero = lane_all(0.0);
    crMask steep = lane_less(lane_all(1e-100), r);
    crLane by = lane_select(steep, r, one);
    return lane3(lane_select(steep, -n.y / by, one), lane_select(steep, n.x / by, zero), zero);
}

CR_LANE crLane3 mul_D(const crLane* D, crLane3 a) {
    return lane3(D[0] * a.x + D[1] * a.y + D[2] * a.z, D[1] * a.x + D[3] * a.y + D[4] * a.z,
                 D[2] * a.x + D[4] * a.y + D[5] * a.z);
}

CR_LANE crLane3 along_frame(crLane3 n, crLane3 t1, crLane3 t2, crLane3 a) {
    return lane3(lane3_dot(n, a), lane3_dot(t1, a), lane3_dot(t2, a));
}

// Fills the places that slots of all kinds have.
CR_LANE void pack_common(const double* in, crLane3 P, double* slot) {
    crLane zero = lane_all(0.0);
    lane3_store(slot + CR_AT_N * CR_LANES, lane3_load(in + IN_N * CR_LANES));
    lane3_store(slot + CR_AT_P * CR_LANES, P);
    lane3_store(slot + CR_AT_STEP * CR_LANES, lane3(zero, zero, zero));
    lane_store(slot + CR_AT_MU * CR_LANES, lane_load(in + IN_MU * CR_LANES));
}

// Fills a slot of kinds other than ball.
CR_LANE void pack_any(const crGroup* g, crLane sb, crLane sa, const double* sign, const double* Rb,
                      const double* Ra, const double* in, double* slot) {
    bool round = g->kind == CR_KIND_ROUND;
    crLane3 n = lane3_load(in + IN_N * CR_LANES), t1 = tangent(n), t2 = lane3_cross(n, t1);
    crLane shares = sb * sb + sa * sa, none = lane_all(0.0);
    crLane D[6] = {shares, none, none, shares, none, shares};
    double *Kb = slot + CR_AT_K * CR_LANES, *Ka = Kb + (round ? CR_K_ROUND : CR_K) * CR_LANES;
    crLane3 rb = lane3_load(in + IN_RB * CR_LANES), ra = lane3_load(in + IN_RA * CR_LANES);
    if (round) {
        add_k(lane_load(sign), Rb, rb, Kb, D);
        if (g->two) add_k(lane_all(-1.0), Ra, ra, Ka, D);
    } else {
        add_K(lane_load(sign), Rb, rb, Kb, D);
        if (g->two) add_K(lane_all(-1.0), Ra, ra, Ka, D);
    }
    pack_common(in, along_frame(n, t1, t2, lane3_load(in + IN_P * CR_LANES)), slot);
    lane_store(slot + CR_AT_T * CR_LANES, t1.x);
    lane_store(slot + (CR_AT_T + 1) * CR_LANES, t1.y);
    lane3_store(slot + CR_AT_E * CR_LANES, along_frame(n, t1, t2, lane3_load(in + IN_E * CR_LANES)));
    crLane3 Dn = mul_D(D, n), Dt = mul_D(D, t1);
    crLane w = lane3_dot(n, Dn);
    crLane c1 = lane3_dot(t1, Dn) / w, c2 = lane3_dot(t2, Dn) / w;
    lane_store(slot + CR_AT_W * CR_LANES, w);
    lane_store(slot + CR_AT_C * CR_LANES, c1);
    lane_store(slot + (CR_AT_C + 1) * CR_LANES, c2);
    lane_store(slot + CR_AT_S * CR_LANES, lane3_dot(t1, Dt) - w * c1 * c1);
    lane_store(slot + (CR_AT_S + 1) * CR_LANES, lane3_dot(t2, Dt) - w * c1 * c2);
    lane_store(slot + (CR_AT_S + 2) * CR_LANES, lane3_dot(t2, mul_D(D, t2)) - w * c2 * c2);
}

// Fills a slot of kind ball.
CR_LANE void pack_ball(const crGroup* g, crLane sb, crLane sa, const double* sign, const double* Rb,
                       const double* Ra, const double* in, double* slot) {
    crLane3 n = lane3_load(in + IN_N * CR_LANES);
    crLane b = lane_load(sign) * lane_load(Rb) * lane3_dot(n, lane3_load(in + IN_RB * CR_LANES));
    crLane a = -lane_load(Ra) * lane3_dot(n, lane3_load(in + IN_RA * CR_LANES));
    pack_common(in, lane3_load(in + IN_P * CR_LANES), slot);
    lane_store(slot + CR_AT_BIAS * CR_LANES, lane3_dot(n, lane3_load(in + IN_E * CR_LANES)));
    lane_store(slot + CR_AT_GT * CR_LANES, lane_all(1.0) / (sb * sb + sa * sa + (b * b + a * a)));
    lane_store(slot + CR_AT_RHO * CR_LANES, b);
    if (g->two) lane_store(slot + (CR_AT_RHO + 1) * CR_LANES, a);
}

// Fills a slot of any kind.
CR_LANE void pack_slot(const crGroup* g, crLane sb, crLane sa, const double* sign, const double* Rb,
                       const double* Ra, const double* in, double* slot) {
    if (g->kind == CR_KIND_BALL) {
        pack_ball(g, sb, sa, sign, Rb, Ra, in, slot);
    } else {
        pack_any(g, sb, sa, sign, Rb, Ra, in, slot);
    }
}

#endif
