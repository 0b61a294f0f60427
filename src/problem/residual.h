// residual.h - the audit's residual for solvers that already know the velocity.
#ifndef CAROM_PROBLEM_RESIDUAL_H
#define CAROM_PROBLEM_RESIDUAL_H

#include "carom/problem.h"

// Natural map of p over all rows, relative as in crAudit.residual; u is u_free + b + W p. INFINITY where
// anything is not finite.
double cr__problem_residual(const crProblem* problem, const double* p, const double* u);
// The audit of some blocks at velocities u that the caller computed from raw data, as above; no momentum and
// no energy. The residual is relative to the size of u_free + b, at least sqrt(noise). speed: worst natural
// map with impulses counted as velocities, m/s.
void cr__problem_audit_blocks(const crProblem* problem, const int* blocks, int count, double noise,
                              const double* p, const double* u, crAudit* audit, double* speed);

#endif
