// tile.h - C -= A B on tiles of four by four or four by eight numbers; the kernel of the sparse factorization.
//
// A and B are given by rows of the summation index p: A[p * lda + i], B[p * ldb + j]. Vector types handle two
// or four columns at once; every number of C sees the same operations in the same order without them, so all builds
// give the same bits.
#ifndef CAROM_LINALG_TILE_H
#define CAROM_LINALG_TILE_H

#include <stddef.h>

#if defined(__GNUC__) && !defined(CAROM_NO_VECTOR)

#define CR_TILE static inline __attribute__((always_inline))
typedef double crFour __attribute__((vector_size(32), aligned(8), may_alias));

// eight columns, for processors with registers of four numbers
CR_TILE void tile_update_wide(double* C, size_t ldc, const double* A, size_t lda, const double* B, size_t ldb,
                              int depth) {
    crFour c00 = *(crFour*)C, c01 = *(crFour*)(C + 4);
    crFour c10 = *(crFour*)(C + ldc), c11 = *(crFour*)(C + ldc + 4);
    crFour c20 = *(crFour*)(C + 2 * ldc), c21 = *(crFour*)(C + 2 * ldc + 4);
    crFour c30 = *(crFour*)(C + 3 * ldc), c31 = *(crFour*)(C + 3 * ldc + 4);
    for (int p = 0; p < depth; p++) {
        crFour b0 = *(const crFour*)B, b1 = *(const crFour*)(B + 4);
        crFour a0 = {A[0], A[0], A[0], A[0]}, a1 = {A[1], A[1], A[1], A[1]};
        crFour a2 = {A[2], A[2], A[2], A[2]}, a3 = {A[3], A[3], A[3], A[3]};
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
    *(crFour*)C = c00;
    *(crFour*)(C + 4) = c01;
    *(crFour*)(C + ldc) = c10;
    *(crFour*)(C + ldc + 4) = c11;
    *(crFour*)(C + 2 * ldc) = c20;
    *(crFour*)(C + 2 * ldc + 4) = c21;
    *(crFour*)(C + 3 * ldc) = c30;
    *(crFour*)(C + 3 * ldc + 4) = c31;
}

typedef double crPair __attribute__((vector_size(16), aligned(8), may_alias));

CR_TILE void tile_update(double* C, size_t ldc, const double* A, size_t lda, const double* B, size_t ldb,
                         int depth) {
    crPair c00 = *(crPair*)C, c01 = *(crPair*)(C + 2);
    crPair c10 = *(crPair*)(C + ldc), c11 = *(crPair*)(C + ldc + 2);
    crPair c20 = *(crPair*)(C + 2 * ldc), c21 = *(crPair*)(C + 2 * ldc + 2);
    crPair c30 = *(crPair*)(C + 3 * ldc), c31 = *(crPair*)(C + 3 * ldc + 2);
    for (int p = 0; p < depth; p++) {
        crPair b0 = *(const crPair*)B, b1 = *(const crPair*)(B + 2);
        crPair a0 = {A[0], A[0]}, a1 = {A[1], A[1]}, a2 = {A[2], A[2]}, a3 = {A[3], A[3]};
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
    *(crPair*)C = c00;
    *(crPair*)(C + 2) = c01;
    *(crPair*)(C + ldc) = c10;
    *(crPair*)(C + ldc + 2) = c11;
    *(crPair*)(C + 2 * ldc) = c20;
    *(crPair*)(C + 2 * ldc + 2) = c21;
    *(crPair*)(C + 3 * ldc) = c30;
    *(crPair*)(C + 3 * ldc + 2) = c31;
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
