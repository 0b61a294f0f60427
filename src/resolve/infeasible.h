// infeasible.h - proof that no impulse at all gives an admissible velocity.
#ifndef CAROM_RESOLVE_INFEASIBLE_H
#define CAROM_RESOLVE_INFEASIBLE_H

#include "method.h"

// found: there is y, zero on friction and box rows, >= 0 on pressed ones, with W^T y = 0 up to rounding and y.q
// so far below zero that no p can be called solved to tol: y.(u + b) = y.q < 0 for every p, so the rows cannot
// all be >= 0 (or = 0).
crStatus cr__infeasible(const crSystem* system, double tol, crArena* arena, bool* found);

// A solver that says INFEASIBLE without this proof is STALLED. Raw problems have proofs of their own.
crStatus cr__infeasible_confirm(const crProblem* problem, const crSolverParams* params, crArena* arena,
                                crReport* report);

#endif
