// solver_admm.c - alternating directions with adaptive penalty (admm.c), from the guess in p.
// Fails: slow to the last digits; limit or stalled with the best point seen.
#include "admm.h"
#include "resolve/kinds.h"

static crStatus solve_admm(const void* params, const crProblem* problem, crArena* arena, double* p,
                           crReport* report, crError* error) {
    return cr__system_solve("admm", cr__admm_run, 5000, params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_admm = {"admm", 6, solve_admm};
