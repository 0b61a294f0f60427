// solver_admm.c - alternating directions with adaptive penalty (admm.c), from the guess in p.
// Fails: slow to the last digits; limit or stalled with the best point seen.
#include "admm.h"

static crStatus solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                      crReport* report, crError* error) {
    return cr__system_solve("admm", cr__admm_run, 5000, params, problem, arena, p, report, error);
}

crSolver cr_solver_admm(const crSolverParams* params) { return (crSolver){"admm", solve, params}; }
