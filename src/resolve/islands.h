// islands.h - a problem that falls apart is solved part by part.
#ifndef CAROM_RESOLVE_ISLANDS_H
#define CAROM_RESOLVE_ISLANDS_H

#include "carom/resolve.h"

// Solves each island of a large problem given by W as a problem of its own, any other problem as it is. p holds the guess and
// receives the impulses. The report has the outcome, residual and method of the island with the largest residual, and the
// most iterations of any. Fails as `solve` does, or with CR_ERR_MEMORY.
crStatus cr__solve_islands(crSolverFn solve, const void* params, const crProblem* problem, crArena* arena,
                           double* p, crReport* report, crError* error);

#endif
