// newton.h - semismooth Newton steps on all units at once.
#ifndef CAROM_RESOLVE_NEWTON_H
#define CAROM_RESOLVE_NEWTON_H

#include "direct.h"
#include "relax/local.h"

// From x until the audit's residual is within tol or max_steps. Where steps fail, a few sweeps are made in
// between if sweeps is true. known: the residual of x, negative where it is not known. x receives the best point seen.
crStatus cr__newton_run(const crSystem* system, double tol, int max_steps, bool sweeps, double known,
                        crArena* arena, double* x, crMethodRun* run);

#endif
