// residual.h - the audit's residual for solvers that already know the velocity.
#ifndef CAROM_PROBLEM_RESIDUAL_H
#define CAROM_PROBLEM_RESIDUAL_H

#include "carom/problem.h"

// Natural map of p over all rows, relative as in crAudit.residual; u is u_free + b + W p. INFINITY where
// anything is not finite.
double cr__problem_residual(const crProblem* problem, const double* p, const double* u);

#endif
