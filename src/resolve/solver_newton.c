// solver_newton.c - semismooth Newton on Alart and Curnier's map, from the guess in p.
//
// A few sweeps to come near, then the steps of newton.c: sparse direct, line search, proximal shift, rho from
// each unit's own stiffness. Fails: may cycle between regimes; ends as limit or stalled with the best point
// seen.
#include "newton.h"
#include "resolve/islands.h"
#include "resolve/kinds.h"
#include "sweep.h"

static crStatus near_then_newton(const crSystem* system, double tol, int max_steps, crArena* arena, double* x,
                                 crMethodRun* run) {
    crSweepRun near = {0};
    crStatus status = cr__sweep_run(system, CR_SWEEP_PLAIN, tol, 10, 0, arena, x, &near);
    return status == CR_OK ? cr__newton_run(system, tol, max_steps, true, -1.0, arena, x, run) : status;
}

static crStatus solve_newton_island(const void* params, const crProblem* problem, crArena* arena, double* p,
                                    crReport* report, crError* error) {
    return cr__system_solve("newton", near_then_newton, 200, params, problem, arena, p, report, error);
}

static crStatus solve_newton(const void* params, const crProblem* problem, crArena* arena, double* p,
                             crReport* report, crError* error) {
    return cr__solve_islands(solve_newton_island, params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_newton = {"newton", 3, solve_newton};
