// sweep.h - block sweeps over all units, plain or accelerated.
#ifndef CAROM_RESOLVE_SWEEP_H
#define CAROM_RESOLVE_SWEEP_H

#include "method.h"

typedef enum crSweepKind {
    CR_SWEEP_PLAIN,     // Gauss-Seidel, over-relaxed where that pays
    CR_SWEEP_GRADIENT,  // nonsmooth nonlinear conjugate gradients on sweeps
    CR_SWEEP_ANDERSON,  // extrapolation over the last sweeps, safeguarded
} crSweepKind;

typedef struct crSweepRun {
    int sweeps;       // done
    double residual;  // of x, the best seen
    bool stalled;     // ended before the limit because the residual no longer fell
} crSweepRun;

// One sweep in place: every unit solved exactly with the others as they are, then moved omega times as far.
void cr__sweep(const crSystem* system, double omega, double* x);

// Sweeps until the audit's residual is within tol, max_sweeps, or patience sweeps (0: no limit) in which it
// did not halve. x receives the best point seen.
crStatus cr__sweep_run(const crSystem* system, crSweepKind kind, double tol, int max_sweeps, int patience,
                       crArena* arena, double* x, crSweepRun* run);

#endif
