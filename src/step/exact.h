// exact.h - islands as problems of their own, for the problem's solver.
#ifndef CAROM_STEP_EXACT_H
#define CAROM_STEP_EXACT_H

#include "step/contact_islands.h"

// Builds the problem of the contacts that take part in islands with solve->exact, of loops and joints, and
// solves it island by island: into step->p, and into solve->contact where a contact is packed. rows grows by
// those that stay in the problem. The certificate gets the worst.
crStatus cr__step_solve_exact(crStep* step, double h, const bool* takes, crIslandSolve* solve, int* rows,
                              crError* error);

#endif
