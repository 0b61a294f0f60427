// method.c - what solvers made of one method share: the system, the run, impulses and the report.
//
// Fails: CR_ERR_MEMORY.
#include "method.h"

crStatus cr__system_solve(const char* name, crSystemMethod method, int max_steps,
                          const crSolverParams* params, const crProblem* problem, crArena* arena, double* p,
                          crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *params : cr_solver_params();
    int limit = given.max_iterations > 0 ? given.max_iterations : max_steps;
    crSystem system;
    crStatus status = cr__system_create(&system, problem, arena);
    double* x = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *x);
    if (status == CR_OK && x == NULL) status = CR_ERR_MEMORY;
    crMethodRun run = {0};
    if (status == CR_OK) {
        cr__system_from_p(&system, p, x);
        status = method(&system, given.tol, limit, arena, x, &run);
    }
    if (status != CR_OK) return cr_error_set(error, status, "", "%s: out of memory", name);
    cr__system_to_p(&system, x, p);
    report->iterations = run.steps;
    report->residual = run.residual;
    report->outcome = run.residual <= given.tol ? CR_OUTCOME_SOLVED
                      : run.stalled             ? CR_OUTCOME_STALLED
                                                : CR_OUTCOME_LIMIT;
    return CR_OK;
}
