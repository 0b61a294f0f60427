// interior.h - following the central path of smoothed friction.
#ifndef CAROM_RESOLVE_INTERIOR_H
#define CAROM_RESOLVE_INTERIOR_H

#include "method.h"

// From a point made inside all limits, whatever x is, until the audit's residual is within tol or max_steps;
// pressures begin at `scale` times what would stop each unit alone, or at those of x where they are larger. x
// receives the best point seen.
crStatus cr__interior_run(const crSystem* system, double tol, int max_steps, double scale, crArena* arena,
                          double* x, crMethodRun* run);

#endif
