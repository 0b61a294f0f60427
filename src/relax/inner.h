// inner.h - solves the inner problem of an augmented Lagrangian on Coulomb's law by Newton's method.
//
// With multipliers x0 and penalties R the inner problem is F(z) = z - H^T law(x0 - R (H z + c)) = 0. Newton's
// matrix is A(law' R), unsymmetric if contacts slip. Gaps may have a room (crSoft). Steps are halved until |F| is below the largest of the
// last four.
// Fails: CR_ERR_MEMORY; a singular matrix, or two searches in a row without descent, end the steps.
#ifndef CAROM_RELAX_INNER_H
#define CAROM_RELAX_INNER_H

#include "stage.h"

typedef struct crInner {
    crIsland* island;
    double* x0;      // multipliers (rows)
    double* x;       // law(q) (rows)
    double* q;       // x0 - R u (rows)
    double* u;       // H z + c (rows)
    double* du;      // H d (rows)
    double* xt;      // x at a trial point (rows)
    double* qt;      // q at a trial point (rows)
    double* best;    // x of the smallest |F| (rows)
    double* z;       // unknowns of the inner problem (nz)
    double* F;       // F(z) (nz)
    double* d;       // Newton's step (nz)
    double* Ft;      // F at a trial point (nz)
    double* best_z;  // z of the smallest |F| (nz)
    double* R;       // penalties (rows)
    crSoft soft;     // room of the gaps; none unless set
} crInner;

// Takes memory for all vectors from the island's arena; x0 is the island's best point. Fails: CR_ERR_MEMORY.
crStatus cr__inner_create(crInner* in, crIsland* island);
// R = k / weight
void cr__inner_penalty(const crInner* in, double k);
// Makes at most `most` Newton steps from in->z, until |F| <= tol. x and z receive the last point, best and
// best_z the point with the smallest |F|, reached that |F|. Returns the number of steps.
int cr__inner_solve(crInner* in, double tol, int most, double* reached);

#endif
