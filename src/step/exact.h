// exact.h - islands as problems of their own, for the problem's solver.
#ifndef CAROM_STEP_EXACT_H
#define CAROM_STEP_EXACT_H

#include "step/islands.h"

// Builds the problem of the contacts for which takes[i] is set, loops and joints, and solves it island by
// island into step->p. The certificate gets the worst.
crStatus cr__step_solve_exact(crStep* step, double h, const bool* takes, const crIslands* islands,
                              crError* error);

#endif
