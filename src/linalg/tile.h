// tile.h - C -= A B on tiles of four by four, eight or sixteen numbers; the kernel of the sparse factorization.
//
// A and B are given by rows of the summation index p: A[p * lda + i], B[p * ldb + j]. Vector types handle two,
// four or eight columns at once; every number of C sees the same operations in the same order without them, so all builds
// give the same bits.
#ifndef CAROM_LINALG_TILE_H
#define CAROM_LINALG_TILE_H

#include <stddef.h>

#if defined(__GNUC__) && !defined(CAROM_NO_VECTOR)

#define CR_TILE static inline __attribute__((always_inline))
typedef double crTileFour __attribute__((vector_size(32), aligned(8), may_alias));

// eight columns, for processors with registers of four numbers
CR_TILE void tile_update_wide(double* C, size_t ldc, const double* A, size_t lda, const double* B, size_t ldb,
                              int depth) {
    crTileFour c00 = *(crTileFour*)C, c01 = *(crTileFour*)(C + 4);
    crTileFour c10 = *(crTileFour*)(C + ldc), c11 = *(crTileFour*)(C + ldc + 4);
    crTileFour c20 = *(crTileFour*)(C + 2 * ldc), c21 = *(crTileFour*)(C + 2 * ldc + 4);
    crTileFour c30 = *(crTileFour*)(C + 3 * ldc), c31 = *(crTileFour*)(C + 3 * ldc + 4);
    for (int p = 0; p < depth; p++) {
        crTileFour b0 = *(const crTileFour*)B, b1 = *(const crTileFour*)(B + 4);
        crTileFour a0 = {A[0], A[0], A[0], A[0]}, a1 = {A[1], A[1], A[1], A[1]};
        crTileFour a2 = {A[2], A[2], A[2], A[2]}, a3 = {A[3], A[3], A[3], A[3]};
        c00 -= a0 * b0;
        c01 -= a0 * b1;
        c10 -= a1 * b0;
        c11 -= a1 * b1;
        c20 -= a2 * b0;
        c21 -= a2 * b1;
        c30 -= a3 * b0;
        c31 -= a3 * b1;
        A += lda;
        B += ldb;
    }
    *(crTileFour*)C = c00;
    *(crTileFour*)(C + 4) = c01;
    *(crTileFour*)(C + ldc) = c10;
    *(crTileFour*)(C + ldc + 4) = c11;
    *(crTileFour*)(C + 2 * ldc) = c20;
    *(crTileFour*)(C + 2 * ldc + 4) = c21;
    *(crTileFour*)(C + 3 * ldc) = c30;
    *(crTileFour*)(C + 3 * ldc + 4) = c31;
}

typedef double crTileEight __attribute__((vector_size(64), aligned(8), may_alias));

// sixteen columns, for processors with registers of eight numbers
CR_TILE void tile_update_widest(double* C, size_t ldc, const double* A, size_t lda, const double* B,
                                size_t ldb, int depth) {
    crTileEight c00 = *(crTileEight*)C, c01 = *(crTileEight*)(C + 8);
    crTileEight c10 = *(crTileEight*)(C + ldc), c11 = *(crTileEight*)(C + ldc + 8);
    crTileEight c20 = *(crTileEight*)(C + 2 * ldc), c21 = *(crTileEight*)(C + 2 * ldc + 8);
    crTileEight c30 = *(crTileEight*)(C + 3 * ldc), c31 = *(crTileEight*)(C + 3 * ldc + 8);
    for (int p = 0; p < depth; p++) {
        crTileEight b0 = *(const crTileEight*)B, b1 = *(const crTileEight*)(B + 8);
        c00 -= A[0] * b0;
        c01 -= A[0] * b1;
        c10 -= A[1] * b0;
        c11 -= A[1] * b1;
        c20 -= A[2] * b0;
        c21 -= A[2] * b1;
        c30 -= A[3] * b0;
        c31 -= A[3] * b1;
        A += lda;
        B += ldb;
    }
    *(crTileEight*)C = c00;
    *(crTileEight*)(C + 8) = c01;
    *(crTileEight*)(C + ldc) = c10;
    *(crTileEight*)(C + ldc + 8) = c11;
    *(crTileEight*)(C + 2 * ldc) = c20;
    *(crTileEight*)(C + 2 * ldc + 8) = c21;
    *(crTileEight*)(C + 3 * ldc) = c30;
    *(crTileEight*)(C + 3 * ldc + 8) = c31;
}

typedef double crTilePair __attribute__((vector_size(16), aligned(8), may_alias));

CR_TILE void tile_update(double* C, size_t ldc, const double* A, size_t lda, const double* B, size_t ldb,
                         int depth) {
    crTilePair c00 = *(crTilePair*)C, c01 = *(crTilePair*)(C + 2);
    crTilePair c10 = *(crTilePair*)(C + ldc), c11 = *(crTilePair*)(C + ldc + 2);
    crTilePair c20 = *(crTilePair*)(C + 2 * ldc), c21 = *(crTilePair*)(C + 2 * ldc + 2);
    crTilePair c30 = *(crTilePair*)(C + 3 * ldc), c31 = *(crTilePair*)(C + 3 * ldc + 2);
    for (int p = 0; p < depth; p++) {
        crTilePair b0 = *(const crTilePair*)B, b1 = *(const crTilePair*)(B + 2);
        crTilePair a0 = {A[0], A[0]}, a1 = {A[1], A[1]}, a2 = {A[2], A[2]}, a3 = {A[3], A[3]};
        c00 -= a0 * b0;
        c01 -= a0 * b1;
        c10 -= a1 * b0;
        c11 -= a1 * b1;
        c20 -= a2 * b0;
        c21 -= a2 * b1;
        c30 -= a3 * b0;
        c31 -= a3 * b1;
        A += lda;
        B += ldb;
    }
    *(crTilePair*)C = c00;
    *(crTilePair*)(C + 2) = c01;
    *(crTilePair*)(C + ldc) = c10;
    *(crTilePair*)(C + ldc + 2) = c11;
    *(crTilePair*)(C + 2 * ldc) = c20;
    *(crTilePair*)(C + 2 * ldc + 2) = c21;
    *(crTilePair*)(C + 3 * ldc) = c30;
    *(crTilePair*)(C + 3 * ldc + 2) = c31;
}

#else

#define CR_TILE static inline

CR_TILE void tile_update(double* C, size_t ldc, const double* A, size_t lda, const double* B, size_t ldb,
                         int depth) {
    for (int p = 0; p < depth; p++) {
        for (size_t i = 0; i < 4; i++) {
            for (size_t j = 0; j < 4; j++) {
                C[i * ldc + j] -= A[i] * B[j];
            }
        }
        A += lda;
        B += ldb;
    }
}

#endif

#endif
