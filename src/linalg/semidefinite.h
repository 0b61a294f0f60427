// semidefinite.h - symmetric positive semidefinite matrices of any rank, full, row by row. The caller owns
// memory.
#ifndef CAROM_LINALG_SEMIDEFINITE_H
#define CAROM_LINALG_SEMIDEFINITE_H

#include <stdbool.h>

// Eigenvalues of the symmetric A (n*n) onto its diagonal, unit eigenvectors as the columns of vectors (n*n).
void cr__sym_eigen(double* A, int n, double* vectors);

// A becomes its pseudo-inverse: A x is the least-norm solution. Eigenvalues below 1e-13 of the largest are
// zero. work has 2*n*n entries.
void cr__pseudo_inverse(double* A, int n, double* work);

// x becomes the least-norm solution of A x = b, for large n: conjugate gradients to |b - A x| <= tol |b|. work has 3*n
// entries. false where that is not reached, as where there is none.
bool cr__least_norm(const double* A, int n, const double* b, double tol, double* x, double* work);

#endif
