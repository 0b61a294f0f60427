// solver_newton.c - semismooth Newton on Alart and Curnier's map, from the guess in p.
//
// A few sweeps to come near, then the steps of newton.c: sparse direct, line search, proximal shift, rho from
// each unit's own stiffness. Fails: may cycle between regimes; ends as limit or stalled with the best point
// seen.
#include "newton.h"
#include "sweep.h"

static crStatus solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                      crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *(const crSolverParams*)params : cr_solver_params();
    int limit = given.max_iterations > 0 ? given.max_iterations : 200;
    crSystem system;
    crStatus status = cr__system_create(&system, problem, arena);
    double* x = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *x);
    if (status == CR_OK && x == NULL) status = CR_ERR_MEMORY;
    crSweepRun near = {0};
    crNewtonRun run = {0};
    if (status == CR_OK) {
        cr__system_from_p(&system, p, x);
        status = cr__sweep_run(&system, CR_SWEEP_PLAIN, given.tol, 10, 0, arena, x, &near);
    }
    if (status == CR_OK) status = cr__newton_run(&system, given.tol, limit, true, arena, x, &run);
    if (status != CR_OK) return cr_error_set(error, status, "", "newton: out of memory");
    cr__system_to_p(&system, x, p);
    report->iterations = run.steps;
    report->residual = run.residual;
    report->outcome = run.residual <= given.tol ? CR_OUTCOME_SOLVED
                      : run.stalled             ? CR_OUTCOME_STALLED
                                                : CR_OUTCOME_LIMIT;
    return CR_OK;
}

crSolver cr_solver_newton(const crSolverParams* params) { return (crSolver){"newton", solve, params}; }
