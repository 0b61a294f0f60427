// direct.h - linear systems (A + B (W + shift R)) dx = -F with A and B block diagonal, R = diag(1 / rho).
//
// All direct solvers come down to these. A and B hold one block per unit (count*count, row by row, from
// at[i]). Memory comes from the arena and is the caller's to release; nothing else may be allocated from it
// while a crDirect is in use, because the factors grow at its end.
#ifndef CAROM_RESOLVE_DIRECT_H
#define CAROM_RESOLVE_DIRECT_H

#include "linalg/sparse.h"
#include "method.h"

typedef struct crDirect {
    const crSystem* system;
    double shift;
    size_t* at;     // where each unit's A and B begin (units)
    double* A;      // written by the caller
    double* B;      // written by the caller; a unit whose B is zero must have a diagonal A
    int* active;    // number in the reduced system, -1 for those with B = 0 (units)
    int* last;      // active as it was when the pattern was analyzed (units)
    int* size;      // rows of the active units (units)
    int* row;       // their first rows in the reduced system (units)
    int* place;     // column of each row of W in the reduced system, -1 without (n)
    double* rhs;    // (n)
    int count;      // active units
    int full_rows;  // systems up to this size are factored in full
    bool analyzed;
    bool full;        // the system is kept as a full matrix
    int rows;         // of the system
    double* matrix;   // full: the matrix, then its factors (rows*rows)
    int* order;       // full: rows after exchanges (rows)
    double* work;     // full: one vector (rows)
    crSparse sparse;  // otherwise
    size_t mark;      // of the arena before the factors
    crArena* arena;
} crDirect;

crStatus cr__direct_create(crDirect* d, const crSystem* system, crArena* arena);

// Factors and solves. solved is false where the system is singular even with the shift; dx is then not set.
crStatus cr__direct_solve(crDirect* d, const double* F, double* dx, bool* solved);
// Another right side with the factors of the last solve.
void cr__direct_again(crDirect* d, const double* F, double* dx);

#endif
