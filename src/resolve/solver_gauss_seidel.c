// solver_gauss_seidel.c - block sweeps with the exact solution of one contact, from the guess in p.
//
// Each unit (contact, joint, row) is solved exactly with the others held, until the audit's residual is
// within tol. Source: Jourdan, Alart and Jean 1998; the local solution is in local.c.
// Fails: slow where heavy rests on light (two cubes, ratio 1000: more than 1e5 sweeps), and need not converge
// where friction is large; it ends as limit or stalled with the best point seen.
#include "local.h"
#include "sweep.h"

static crStatus solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                      crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *(const crSolverParams*)params : cr_solver_params();
    int limit = given.max_iterations > 0 ? given.max_iterations : 20000;
    crSystem system;
    crStatus status = cr__system_create(&system, problem, arena);
    double* x = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *x);
    if (status == CR_OK && x == NULL) status = CR_ERR_MEMORY;
    crSweepRun run = {0};
    if (status == CR_OK) {
        cr__system_from_p(&system, p, x);
        status = cr__sweep_run(&system, CR_SWEEP_PLAIN, given.tol, limit, limit / 4, arena, x, &run);
    }
    if (status != CR_OK) return cr_error_set(error, status, "", "gauss-seidel: out of memory");
    cr__system_to_p(&system, x, p);
    report->iterations = run.sweeps;
    report->residual = run.residual;
    report->outcome = run.residual <= given.tol ? CR_OUTCOME_SOLVED
                      : run.stalled             ? CR_OUTCOME_STALLED
                                                : CR_OUTCOME_LIMIT;
    return CR_OK;
}

crSolver cr_solver_gauss_seidel(const crSolverParams* params) {
    return (crSolver){"gauss-seidel", solve, params};
}
