// dense.h - factorizations of full matrices, row by row, in place. The caller owns all memory.
#ifndef CAROM_LINALG_DENSE_H
#define CAROM_LINALG_DENSE_H

#include <stdbool.h>

// Lower Cholesky factor of the symmetric positive definite A (n*n), in its lower triangle; false where a
// pivot falls below 1e-14 of its diagonal entry.
bool cr__cholesky(double* A, int n);
// x = inverse(L L^T) x
void cr__cholesky_solve(const double* L, int n, double* x);

// A = inverse(A) for n <= 8, with partial pivoting; false where a pivot is zero or not finite.
bool cr__invert_small(double* A, int n);

#endif
