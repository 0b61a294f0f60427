// method.h - solvers that are one method on a system.
#ifndef CAROM_RESOLVE_METHOD_H
#define CAROM_RESOLVE_METHOD_H

#include "carom/resolve.h"
#include "relax/system.h"

// A method from x until the residual is within tol or max_steps; x receives the best point seen.
typedef crStatus (*crSystemMethod)(const crSystem* system, double tol, int max_steps, crArena* arena,
                                   double* x, crMethodRun* run);

// What solvers made of one method share: the system of the problem, x from p, the run, p and the report.
crStatus cr__system_solve(const char* name, crSystemMethod method, int max_steps,
                          const crSolverParams* params, const crProblem* problem, crArena* arena, double* p,
                          crReport* report, crError* error);

#endif
