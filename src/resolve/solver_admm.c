// solver_admm.c - alternating directions with adaptive penalty (admm.c), from the guess in p.
// Fails: slow to the last digits; limit or stalled with the best point seen.
#include "admm.h"

static crStatus solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                      crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *(const crSolverParams*)params : cr_solver_params();
    int limit = given.max_iterations > 0 ? given.max_iterations : 5000;
    crSystem system;
    crStatus status = cr__system_create(&system, problem, arena);
    double* x = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *x);
    if (status == CR_OK && x == NULL) status = CR_ERR_MEMORY;
    crAdmmRun run = {0};
    if (status == CR_OK) {
        cr__system_from_p(&system, p, x);
        status = cr__admm_run(&system, given.tol, limit, arena, x, &run);
    }
    if (status != CR_OK) return cr_error_set(error, status, "", "admm: out of memory");
    cr__system_to_p(&system, x, p);
    report->iterations = run.steps;
    report->residual = run.residual;
    report->outcome = run.residual <= given.tol ? CR_OUTCOME_SOLVED
                      : run.stalled             ? CR_OUTCOME_STALLED
                                                : CR_OUTCOME_LIMIT;
    return CR_OK;
}

crSolver cr_solver_admm(const crSolverParams* params) { return (crSolver){"admm", solve, params}; }
