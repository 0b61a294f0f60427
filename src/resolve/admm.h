// admm.h - alternating directions: one linear solve with fixed factors, one clamp per unit, in turn.
#ifndef CAROM_RESOLVE_ADMM_H
#define CAROM_RESOLVE_ADMM_H

#include "method.h"

// From x until the audit's residual is within tol or max_steps; x receives the best point seen.
crStatus cr__admm_run(const crSystem* system, double tol, int max_steps, crArena* arena, double* x,
                      crMethodRun* run);

#endif
