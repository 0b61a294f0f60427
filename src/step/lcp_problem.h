// lcp_problem.h - what a step by Stewart and Trinkle's method puts before Lemke's: polygons, arms, bias,
// expansion.
#ifndef CAROM_STEP_LCP_PROBLEM_H
#define CAROM_STEP_LCP_PROBLEM_H

#include "step/step.h"

// Everything as it is at q^ = q (+) h v_hat, where the step's dynamics and contacts are. v_free is already
// there.
crStatus cr__step_lcp_problem(crStep* step, double h, const bool* takes, const double* v_hat, crError* error);

// Slip rows of step->posed.rows become those of the two witness points instead of the point midway.
void cr__step_set_arms(crStep* step);

// Poisson's second LCP: p, the impulses of compression, becomes the sum of both stages.
crStatus cr__step_lcp_expand(crStep* step, crError* error);

#endif
