// solver_interior.c - the central path of interior.c, finished by Newton steps from where it leads.
//
// The path tells which contacts open, stick and slip; Newton's method then gives the last digits. The guess
// in p only sets sizes. Fails: where the path breaks off before the regimes are clear; limit or stalled with
// the best point seen.
#include "interior.h"

static crStatus solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                      crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *(const crSolverParams*)params : cr_solver_params();
    int limit = given.max_iterations > 0 ? given.max_iterations : 200;
    crSystem system;
    crStatus status = cr__system_create(&system, problem, arena);
    double* x = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *x);
    if (status == CR_OK && x == NULL) status = CR_ERR_MEMORY;
    crInteriorRun run = {0};
    if (status == CR_OK) {
        cr__system_from_p(&system, p, x);
        status = cr__interior_run(&system, given.tol, limit, 1.0, arena, x, &run);
    }
    if (status != CR_OK) return cr_error_set(error, status, "", "interior: out of memory");
    cr__system_to_p(&system, x, p);
    report->iterations = run.steps;
    report->residual = run.residual;
    report->outcome = run.residual <= given.tol ? CR_OUTCOME_SOLVED
                      : run.stalled             ? CR_OUTCOME_STALLED
                                                : CR_OUTCOME_LIMIT;
    return CR_OK;
}

crSolver cr_solver_interior(const crSolverParams* params) { return (crSolver){"interior", solve, params}; }
