// dense.h - factorizations of full matrices, row by row, in place. The caller owns all memory.
#ifndef CAROM_LINALG_DENSE_H
#define CAROM_LINALG_DENSE_H

#include <stdbool.h>

// Cholesky factor U of the symmetric positive definite A = U^T U (n*n), in its upper triangle, which is all
// that is read; what is below is lost. false where a pivot falls below 1e-14 of its diagonal entry.
bool cr__cholesky(double* A, int n);
// x = inverse(U^T U) x
void cr__cholesky_solve(const double* U, int n, double* x);

// A = inverse(A) for n <= 8, with partial pivoting; false where a pivot is zero or not finite.
bool cr__invert_small(double* A, int n);

#endif
