// lanes.h - four doubles side by side: vector types if the compiler has them, else one double at a time.
//
// Data are always laid out in groups of CR_LANES. Code written for crLane computes CR_WIDTH of them at once
// and runs CR_LANES / CR_WIDTH times per group. Lanes do not depend on each other and every operation is the
// same IEEE one, so both builds give the same bits. Masks are all ones or all zeros.
#ifndef CAROM_RELAX_LANES_H
#define CAROM_RELAX_LANES_H

#include "relax/packed.h"

#if defined(__GNUC__) && !defined(CAROM_NO_VECTOR)

#define CR_WIDTH 4  // doubles per crLane
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
// Shuffle by index into a, then b. Compilers split vectors if the elements are written out instead.
#ifdef __clang__
#define CR_SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define CR_SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (crMask){i, j, k, l})
#endif
// steps of a transposition: even or odd elements of two vectors, lower or upper halves of two vectors
CR_LANE crLane lane_evens(crLane a, crLane b) { return CR_SHUFFLE(a, b, 0, 4, 2, 6); }
CR_LANE crLane lane_odds(crLane a, crLane b) { return CR_SHUFFLE(a, b, 1, 5, 3, 7); }
CR_LANE crLane lane_firsts(crLane a, crLane b) { return CR_SHUFFLE(a, b, 0, 1, 4, 5); }
CR_LANE crLane lane_lasts(crLane a, crLane b) { return CR_SHUFFLE(a, b, 2, 3, 6, 7); }
CR_LANE crMask lane_less(crLane a, crLane b) { return (crMask)(a < b); }
CR_LANE crMask lane_at_most(crLane a, crLane b) { return (crMask)(a <= b); }
CR_LANE crLane lane_select(crMask m, crLane a, crLane b) {
    return (crLane)(((crMask)a & m) | ((crMask)b & ~m));
}
CR_LANE crLane lane_sqrt(crLane a) { return (crLane){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])}; }
CR_LANE double lane_first(crLane a) { return a[0]; }
CR_LANE bool mask_any(crMask m) {
    crMask half = m | CR_SHUFFLE(m, m, 2, 3, 0, 1);
    return (half[0] | half[1]) != 0;
}

#else

#define CR_WIDTH 1  // doubles per crLane
#define CR_LANE  static inline
typedef double crLane;
typedef int64_t crMask;

CR_LANE crLane lane_load(const double* x) { return *x; }
CR_LANE void lane_store(double* x, crLane a) { *x = a; }
CR_LANE crMask mask_load(const int64_t* x) { return *x; }
CR_LANE crLane lane_all(double x) { return x; }
CR_LANE crLane lane_gather(const double* z, const int* at) { return z[*at]; }
CR_LANE crMask lane_less(crLane a, crLane b) { return -(crMask)(a < b); }
CR_LANE crMask lane_at_most(crLane a, crLane b) { return -(crMask)(a <= b); }
CR_LANE crLane lane_select(crMask m, crLane a, crLane b) { return m != 0 ? a : b; }
CR_LANE crLane lane_sqrt(crLane a) { return sqrt(a); }
CR_LANE double lane_first(crLane a) { return a; }
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
// lane3_mul returns K a, lane3_mul_t returns K^T a; K is 3x3 by rows.
CR_LANE crLane3 lane3_mul(const double* K, crLane3 a) {
    return lane3(lane3_dot(lane3_load(K), a), lane3_dot(lane3_load(K + 3 * CR_LANES), a),
                 lane3_dot(lane3_load(K + 6 * CR_LANES), a));
}
CR_LANE crLane3 lane3_mul_t(const double* K, crLane3 a) {
    return lane3_madd(lane3_madd(lane3_scale(a.x, lane3_load(K)), a.y, lane3_load(K + 3 * CR_LANES)), a.z,
                      lane3_load(K + 6 * CR_LANES));
}
// Reads or writes the six numbers v, w of one body per lane at offsets `at` in z; the last two of a body's
// eight numbers are zero. row_scatter writes the first `lanes` lanes only.
#if CR_WIDTH > 1
CR_LANE void row_gather(const double* z, const int* at, crLane3* v, crLane3* w) {
    const double *z0 = z + at[0], *z1 = z + at[1], *z2 = z + at[2], *z3 = z + at[3];
    crLane a = lane_load(z0), b = lane_load(z1), c = lane_load(z2), d = lane_load(z3);
    crLane xz = lane_evens(a, b), yw = lane_odds(a, b), xz2 = lane_evens(c, d), yw2 = lane_odds(c, d);
    *v = lane3(lane_firsts(xz, xz2), lane_firsts(yw, yw2), lane_lasts(xz, xz2));
    w->x = lane_lasts(yw, yw2);
    a = lane_firsts(lane_load(z0 + 4), lane_load(z2 + 4));
    b = lane_firsts(lane_load(z1 + 4), lane_load(z3 + 4));
    w->y = lane_evens(a, b);
    w->z = lane_odds(a, b);
}
CR_LANE void row_scatter(double* z, const int* at, int lanes, crLane3 v, crLane3 w) {
    crLane a = lane_evens(v.x, v.y), b = lane_odds(v.x, v.y), zero = lane_all(0.0);
    crLane c = lane_evens(v.z, w.x), d = lane_odds(v.z, w.x);
    crLane e = lane_evens(w.y, w.z), f = lane_odds(w.y, w.z);
    lane_store(z + at[0], lane_firsts(a, c));
    lane_store(z + at[0] + 4, lane_firsts(e, zero));
    if (lanes > 1) {
        lane_store(z + at[1], lane_firsts(b, d));
        lane_store(z + at[1] + 4, lane_firsts(f, zero));
    }
    if (lanes > 2) {
        lane_store(z + at[2], lane_lasts(a, c));
        lane_store(z + at[2] + 4, lane_lasts(e, zero));
    }
    if (lanes > 3) {
        lane_store(z + at[3], lane_lasts(b, d));
        lane_store(z + at[3] + 4, lane_lasts(f, zero));
    }
}
#else
CR_LANE void row_gather(const double* z, const int* at, crLane3* v, crLane3* w) {
    *v = lane3(z[*at], z[*at + 1], z[*at + 2]);
    *w = lane3(z[*at + 3], z[*at + 4], z[*at + 5]);
}
CR_LANE void row_scatter(double* z, const int* at, int lanes, crLane3 v, crLane3 w) {
    const double a[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int k = 0; lanes > 0 && k < 6; k++) {
        z[*at + k] = a[k];
    }
}
#endif

// CR_TASKS defines a loop over groups as a task twice: name_plain, and name_wide compiled for AVX2. CR_BEST
// chooses the one for this processor. Both give the same bits.
#define CR_TASK(name, attribute, type, call)                    \
    attribute static void name(void* ctx, int begin, int end) { \
        const type* work = ctx;                                 \
        call;                                                   \
    }
#if defined(__x86_64__) && CR_WIDTH > 1
#define CR_TASKS(name, type, call)      \
    CR_TASK(name##_plain, , type, call) \
    CR_TASK(name##_wide, __attribute__((target("avx2"))), type, call)
#define CR_BEST(name) (__builtin_cpu_supports("avx2") ? name##_wide : name##_plain)
#else
#define CR_TASKS(name, type, call) CR_TASK(name##_plain, , type, call)
#define CR_BEST(name)              name##_plain
#endif

#endif
