// lu.h - LU factorizations of full matrices, in place, by rows. The caller owns all memory.
#ifndef CAROM_LINALG_LU_H
#define CAROM_LINALG_LU_H

#include <stdbool.h>

// A (n*n) becomes L and U of the rows taken in the order of `order` (n). false where a pivot falls below
// `tol` times the largest entry of A: A and order are then not usable.
bool cr__lu(double* A, int n, double tol, int* order);
// x = inverse(A) b; b (n) is kept.
void cr__lu_solve(const double* LU, int n, const int* order, const double* b, double* x);

// The same with row and column exchanges, largest pivot first, down to tol times the first; returns the rank
// found.
int cr__lu_complete(double* A, int n, double tol, int* rows, int* cols);
// x with A x = b on the first `rank` rows, zero in the columns that were not used. work (n).
void cr__lu_complete_solve(const double* LU, int n, int rank, const int* rows, const int* cols,
                           const double* b, double* work, double* x);

#endif
