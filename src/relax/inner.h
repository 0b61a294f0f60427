// inner.h - the inner problem of an augmented Lagrangian on Coulomb's law, by Newton's method.
//
// With multipliers x0 and penalties R the inner problem is F(z) = z - H^T law(x0 - R (H z + c)) = 0; Newton's matrix is
// A(law' R), not symmetric where contacts slip. Steps are shortened until |F| is below the largest of the last four.
#ifndef CAROM_RELAX_INNER_H
#define CAROM_RELAX_INNER_H

#include "stage.h"

typedef struct crInner {
    crIsland* island;
    double* mem;     // all vectors below
    double* x0;      // multipliers (rows)
    double* x;       // law(q) (rows)
    double* q;       // x0 - R u (rows)
    double* u;       // H z + c (rows)
    double* du;      // H d (rows)
    double* xt;      // law at a trial point (rows)
    double* qt;      // (rows)
    double* best;    // x of the smallest |F| (rows)
    double* z;       // (nz)
    double* F;       // (nz)
    double* d;       // Newton's step (nz)
    double* Ft;      // F at a trial point (nz)
    double* best_z;  // (nz)
    double* R;       // penalties (rows)
} crInner;

// Memory for all of it, from the island's arena.
crStatus cr__inner_create(crInner* in, crIsland* island);
// R = k / weight
void cr__inner_penalty(const crInner* in, double k);
// Newton steps from in->z to |F| <= tol; the last point is left in x and z, that with the smallest |F| in best and best_z.
// Returns the steps made and that |F|.
int cr__inner_solve(crInner* in, double tol, int most, double* reached);

#endif
