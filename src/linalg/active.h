// active.h - Cholesky factor of a changing principal part of a symmetric matrix. The caller owns all memory.
#ifndef CAROM_LINALG_ACTIVE_H
#define CAROM_LINALG_ACTIVE_H

#include <stdbool.h>

// L L^T = A over index[0..count) plus shift times the identity.
typedef struct crActive {
    const double* A;  // symmetric, by rows (n*n)
    int n;
    double shift;  // added to the diagonal, >= 0; change only while count is 0
    int count;
    double* L;      // by rows, stride n (n*n)
    int* index;     // which rows of A, in the order of L (n)
    double* turns;  // work of remove (2n)
} crActive;

// Adds row i of A at the end; false (nothing changed) where the new pivot is below tol times its diagonal
// entry.
bool cr__active_add(crActive* active, int i, double tol, double* pivot);
// Takes out what stands at this position of index.
void cr__active_remove(crActive* active, int position);
// x = inverse(L L^T) x, x in the order of index (count)
void cr__active_solve(const crActive* active, double* x);

// a.b in eight running sums, so that it vectorizes with the same bits everywhere
double cr__dot(const double* a, const double* b, int n);

#endif
