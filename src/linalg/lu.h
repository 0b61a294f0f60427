// lu.h - LU factorization of a full matrix with row exchanges, in place, by rows. The caller owns all memory.
#ifndef CAROM_LINALG_LU_H
#define CAROM_LINALG_LU_H

#include <stdbool.h>

// A (n*n) becomes L and U of the rows taken in the order of `order` (n). false where a pivot falls below
// `tol` times the largest entry of A: A and order are then not usable.
bool cr__lu(double* A, int n, double tol, int* order);
// x = inverse(A) b; b (n) is kept.
void cr__lu_solve(const double* LU, int n, const int* order, const double* b, double* x);

#endif
