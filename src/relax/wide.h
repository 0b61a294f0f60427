// wide.h - eight floats side by side for short steps, as lanes.h for doubles.
//
// Data are always laid out in groups of CR_WIDE. Code written for crWide computes CR_WIDE_STEP of them at
// once, eight or one. Every operation is the same IEEE one, so both builds give the same bits.
#ifndef CAROM_RELAX_WIDE_H
#define CAROM_RELAX_WIDE_H

#include "relax/lanes.h"

#define CR_WIDE 8  // lanes of a group

#if CR_WIDTH > 1

#define CR_WIDE_STEP 8  // floats per crWide
typedef float crWide __attribute__((vector_size(32), may_alias));
typedef int32_t crWideMask __attribute__((vector_size(32), may_alias));

CR_LANE crWide wide_load(const float* x) { return *(const crWide*)x; }
CR_LANE void wide_store(float* x, crWide a) { *(crWide*)x = a; }
CR_LANE crWide wide_all(float x) { return (crWide){x, x, x, x, x, x, x, x}; }
CR_LANE crWideMask wide_less(crWide a, crWide b) { return (crWideMask)(a < b); }
CR_LANE crWide wide_select(crWideMask m, crWide a, crWide b) {
    return (crWide)(((crWideMask)a & m) | ((crWideMask)b & ~m));
}
CR_LANE crWide wide_sqrt(crWide a) {
    crWide r;
    for (int i = 0; i < CR_WIDE; i++) {
        r[i] = sqrtf(a[i]);
    }
    return r;
}
CR_LANE bool wide_any(crWideMask m) {
    crMask all = (crMask)m;
    crMask half = all | CR_SHUFFLE(all, all, 2, 3, 0, 1);
    return (half[0] | half[1]) != 0;
}

// Returns the floats at four offsets as doubles.
CR_LANE crLane lane_gather_floats(const float* z, const int* at) {
    return (crLane){z[at[0]], z[at[1]], z[at[2]], z[at[3]]};
}

// Shuffle by index into a, then b.
#ifdef __clang__
#define CR_SHUFFLE_WIDE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define CR_SHUFFLE_WIDE(a, b, ...) __builtin_shuffle(a, b, (crWideMask){__VA_ARGS__})
#endif
// steps of a transposition: interleaved elements or pairs of two vectors, from the lower or upper part of
// each half; lower or upper halves of two vectors
CR_LANE crWide wide_firsts(crWide a, crWide b) { return CR_SHUFFLE_WIDE(a, b, 0, 8, 1, 9, 4, 12, 5, 13); }
CR_LANE crWide wide_lasts(crWide a, crWide b) { return CR_SHUFFLE_WIDE(a, b, 2, 10, 3, 11, 6, 14, 7, 15); }
CR_LANE crWide wide_low_pairs(crWide a, crWide b) { return CR_SHUFFLE_WIDE(a, b, 0, 1, 8, 9, 4, 5, 12, 13); }
CR_LANE crWide wide_high_pairs(crWide a, crWide b) {
    return CR_SHUFFLE_WIDE(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
}
CR_LANE crWide wide_low_halves(crWide a, crWide b) { return CR_SHUFFLE_WIDE(a, b, 0, 1, 2, 3, 8, 9, 10, 11); }
CR_LANE crWide wide_high_halves(crWide a, crWide b) {
    return CR_SHUFFLE_WIDE(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

#else

#define CR_WIDE_STEP 1  // floats per crWide
typedef float crWide;
typedef int32_t crWideMask;

CR_LANE crWide wide_load(const float* x) { return *x; }
CR_LANE void wide_store(float* x, crWide a) { *x = a; }
CR_LANE crWide wide_all(float x) { return x; }
CR_LANE crWideMask wide_less(crWide a, crWide b) { return -(crWideMask)(a < b); }
CR_LANE crWide wide_select(crWideMask m, crWide a, crWide b) { return m != 0 ? a : b; }
CR_LANE crWide wide_sqrt(crWide a) { return sqrtf(a); }
CR_LANE bool wide_any(crWideMask m) { return m != 0; }
CR_LANE crLane lane_gather_floats(const float* z, const int* at) { return z[*at]; }

#endif

CR_LANE crWide wide_positive(crWide x) {
    return wide_select(wide_less(wide_all(0.0f), x), x, wide_all(0.0f));
}

typedef struct crWide3 {
    crWide x, y, z;
} crWide3;

CR_LANE crWide3 wide3(crWide x, crWide y, crWide z) { return (crWide3){x, y, z}; }
CR_LANE crWide3 wide3_load(const float* x) {
    return wide3(wide_load(x), wide_load(x + CR_WIDE), wide_load(x + 2 * CR_WIDE));
}
CR_LANE void wide3_store(float* x, crWide3 a) {
    wide_store(x, a.x);
    wide_store(x + CR_WIDE, a.y);
    wide_store(x + 2 * CR_WIDE, a.z);
}
CR_LANE crWide3 wide3_add(crWide3 a, crWide3 b) { return wide3(a.x + b.x, a.y + b.y, a.z + b.z); }
CR_LANE crWide3 wide3_sub(crWide3 a, crWide3 b) { return wide3(a.x - b.x, a.y - b.y, a.z - b.z); }
CR_LANE crWide3 wide3_scale(crWide s, crWide3 a) { return wide3(s * a.x, s * a.y, s * a.z); }
CR_LANE crWide3 wide3_madd(crWide3 a, crWide s, crWide3 b) {
    return wide3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
CR_LANE crWide wide3_dot(crWide3 a, crWide3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
CR_LANE crWide3 wide3_cross(crWide3 a, crWide3 b) {
    return wide3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
// Returns R a; R is 3x3 by rows.
CR_LANE crWide3 wide3_mul(const float* R, crWide3 a) {
    return wide3(wide3_dot(wide3_load(R), a), wide3_dot(wide3_load(R + 3 * CR_WIDE), a),
                 wide3_dot(wide3_load(R + 6 * CR_WIDE), a));
}

// Reads or writes the six numbers v, w of one body per lane, as row_gather and row_scatter of lanes.h.
#if CR_WIDTH > 1
CR_LANE void wide_gather(const float* z, const int* at, crWide3* v, crWide3* w) {
    crWide a[4], b[4];
    for (int i = 0; i < 2; i++) {
        const int* four = at + 4 * i;
        crWide r0 = wide_load(z + four[0]), r1 = wide_load(z + four[1]);
        crWide r2 = wide_load(z + four[2]), r3 = wide_load(z + four[3]);
        crWide low0 = wide_firsts(r0, r1), low1 = wide_firsts(r2, r3);
        crWide high0 = wide_lasts(r0, r1), high1 = wide_lasts(r2, r3);
        crWide* to = i == 0 ? a : b;
        to[0] = wide_low_pairs(low0, low1);
        to[1] = wide_high_pairs(low0, low1);
        to[2] = wide_low_pairs(high0, high1);
        to[3] = wide_high_pairs(high0, high1);
    }
    *v = wide3(wide_low_halves(a[0], b[0]), wide_low_halves(a[1], b[1]), wide_low_halves(a[2], b[2]));
    *w = wide3(wide_low_halves(a[3], b[3]), wide_high_halves(a[0], b[0]), wide_high_halves(a[1], b[1]));
}
CR_LANE void wide_scatter(float* z, const int* at, int lanes, crWide3 v, crWide3 w) {
    crWide row[CR_WIDE], zero = wide_all(0.0f);
    crWide xy[2] = {wide_firsts(v.x, v.y), wide_lasts(v.x, v.y)};
    crWide zx[2] = {wide_firsts(v.z, w.x), wide_lasts(v.z, w.x)};
    crWide yz[2] = {wide_firsts(w.y, w.z), wide_lasts(w.y, w.z)};
    for (int i = 0; i < 2; i++) {
        crWide a = wide_low_pairs(xy[i], zx[i]), b = wide_high_pairs(xy[i], zx[i]);
        crWide c = wide_low_pairs(yz[i], zero), d = wide_high_pairs(yz[i], zero);
        row[2 * i] = wide_low_halves(a, c);
        row[2 * i + 1] = wide_low_halves(b, d);
        row[2 * i + 4] = wide_high_halves(a, c);
        row[2 * i + 5] = wide_high_halves(b, d);
    }
    if (lanes >= CR_WIDE) {
        for (int l = 0; l < CR_WIDE; l++) {
            wide_store(z + at[l], row[l]);
        }
        return;
    }
    for (int l = 0; l < lanes; l++) {
        wide_store(z + at[l], row[l]);
    }
}
#else
CR_LANE void wide_gather(const float* z, const int* at, crWide3* v, crWide3* w) {
    *v = wide3(z[*at], z[*at + 1], z[*at + 2]);
    *w = wide3(z[*at + 3], z[*at + 4], z[*at + 5]);
}
CR_LANE void wide_scatter(float* z, const int* at, int lanes, crWide3 v, crWide3 w) {
    const float a[6] = {v.x, v.y, v.z, w.x, w.y, w.z};
    for (int k = 0; lanes > 0 && k < 6; k++) {
        z[*at + k] = a[k];
    }
}
#endif

#endif
