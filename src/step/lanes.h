// lanes.h - four doubles side by side: vector types where the compiler has them, else one after another.
//
// Data are always laid out in groups of CR_LANES. Code written for crLane handles CR_WIDTH of them at once
// and is run CR_LANES / CR_WIDTH times per group; since lanes never meet and every operation is the same
// IEEE one, both builds give the same bits. Masks are all ones or all zeros.
#ifndef CAROM_STEP_LANES_H
#define CAROM_STEP_LANES_H

#include "step/packed.h"

#if defined(__GNUC__) && !defined(CAROM_NO_VECTOR)

#define CR_WIDTH 4
#define CR_LANE  static inline __attribute__((always_inline))
typedef double crLane __attribute__((vector_size(32), may_alias));
typedef int64_t crMask __attribute__((vector_size(32), may_alias));

CR_LANE crLane lane_load(const double* x) { return *(const crLane*)x; }
CR_LANE void lane_store(double* x, crLane a) { *(crLane*)x = a; }
CR_LANE crMask mask_load(const int64_t* x) { return *(const crMask*)x; }
CR_LANE crLane lane_all(double x) { return (crLane){x, x, x, x}; }
CR_LANE crLane lane_gather(const double* z, const int* at) {
    return (crLane){z[at[0]], z[at[1]], z[at[2]], z[at[3]]};
}
CR_LANE void lane_scatter(double* z, const int* at, int lanes, crLane a) {
    z[at[0]] = a[0];
    if (lanes > 1) z[at[1]] = a[1];
    if (lanes > 2) z[at[2]] = a[2];
    if (lanes > 3) z[at[3]] = a[3];
}
CR_LANE crMask lane_less(crLane a, crLane b) { return (crMask)(a < b); }
CR_LANE crMask lane_at_most(crLane a, crLane b) { return (crMask)(a <= b); }
CR_LANE crLane lane_select(crMask m, crLane a, crLane b) {
    return (crLane)(((crMask)a & m) | ((crMask)b & ~m));
}
CR_LANE crLane lane_sqrt(crLane a) { return (crLane){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])}; }
CR_LANE bool mask_any(crMask m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }

#else

#define CR_WIDTH 1
#define CR_LANE  static inline
typedef double crLane;
typedef int64_t crMask;

CR_LANE crLane lane_load(const double* x) { return *x; }
CR_LANE void lane_store(double* x, crLane a) { *x = a; }
CR_LANE crMask mask_load(const int64_t* x) { return *x; }
CR_LANE crLane lane_all(double x) { return x; }
CR_LANE crLane lane_gather(const double* z, const int* at) { return z[*at]; }
CR_LANE void lane_scatter(double* z, const int* at, int lanes, crLane a) {
    if (lanes > 0) z[*at] = a;
}
CR_LANE crMask lane_less(crLane a, crLane b) { return -(crMask)(a < b); }
CR_LANE crMask lane_at_most(crLane a, crLane b) { return -(crMask)(a <= b); }
CR_LANE crLane lane_select(crMask m, crLane a, crLane b) { return m != 0 ? a : b; }
CR_LANE crLane lane_sqrt(crLane a) { return sqrt(a); }
CR_LANE bool mask_any(crMask m) { return m != 0; }

#endif

CR_LANE crLane lane_max(crLane a, crLane b) { return lane_select(lane_less(a, b), b, a); }

typedef struct crLane3 {
    crLane x, y, z;
} crLane3;

CR_LANE crLane3 lane3(crLane x, crLane y, crLane z) { return (crLane3){x, y, z}; }
CR_LANE crLane3 lane3_load(const double* x) {
    return lane3(lane_load(x), lane_load(x + CR_LANES), lane_load(x + 2 * CR_LANES));
}
CR_LANE void lane3_store(double* x, crLane3 a) {
    lane_store(x, a.x);
    lane_store(x + CR_LANES, a.y);
    lane_store(x + 2 * CR_LANES, a.z);
}
CR_LANE crLane3 lane3_gather(const double* z, const int* at) {
    return lane3(lane_gather(z, at), lane_gather(z + 1, at), lane_gather(z + 2, at));
}
CR_LANE void lane3_scatter(double* z, const int* at, int lanes, crLane3 a) {
    lane_scatter(z, at, lanes, a.x);
    lane_scatter(z + 1, at, lanes, a.y);
    lane_scatter(z + 2, at, lanes, a.z);
}
CR_LANE crLane3 lane3_add(crLane3 a, crLane3 b) { return lane3(a.x + b.x, a.y + b.y, a.z + b.z); }
CR_LANE crLane3 lane3_sub(crLane3 a, crLane3 b) { return lane3(a.x - b.x, a.y - b.y, a.z - b.z); }
CR_LANE crLane3 lane3_scale(crLane s, crLane3 a) { return lane3(s * a.x, s * a.y, s * a.z); }
CR_LANE crLane3 lane3_madd(crLane3 a, crLane s, crLane3 b) {
    return lane3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
CR_LANE crLane lane3_dot(crLane3 a, crLane3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
CR_LANE crLane3 lane3_cross(crLane3 a, crLane3 b) {
    return lane3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
CR_LANE crLane3 lane3_select(crMask m, crLane3 a, crLane3 b) {
    return lane3(lane_select(m, a.x, b.x), lane_select(m, a.y, b.y), lane_select(m, a.z, b.z));
}
// 3x3 by rows, and its transpose
CR_LANE crLane3 lane3_mul(const double* K, crLane3 a) {
    return lane3(lane3_dot(lane3_load(K), a), lane3_dot(lane3_load(K + 3 * CR_LANES), a),
                 lane3_dot(lane3_load(K + 6 * CR_LANES), a));
}
CR_LANE crLane3 lane3_mul_t(const double* K, crLane3 a) {
    return lane3_madd(lane3_madd(lane3_scale(a.x, lane3_load(K)), a.y, lane3_load(K + 3 * CR_LANES)), a.z,
                      lane3_load(K + 6 * CR_LANES));
}
// symmetric: xx xy xz yy yz zz
CR_LANE crLane3 lane3_sym_mul(const double* S, crLane3 a) {
    crLane3 r = lane3_load(S);
    crLane yy = lane_load(S + 3 * CR_LANES), yz = lane_load(S + 4 * CR_LANES);
    crLane zz = lane_load(S + 5 * CR_LANES);
    return lane3(lane3_dot(r, a), r.y * a.x + yy * a.y + yz * a.z, r.z * a.x + yz * a.y + zz * a.z);
}

#endif
