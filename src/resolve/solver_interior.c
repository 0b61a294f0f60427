// solver_interior.c - the central path of interior.c, finished by Newton steps from where it leads.
//
// The path tells which contacts open, stick and slip; Newton's method then gives the last digits. The guess
// in p only sets sizes. Fails: where the path breaks off before the regimes are clear; limit or stalled with
// the best point seen.
#include "interior.h"
#include "resolve/islands.h"
#include "resolve/kinds.h"

static crStatus path(const crSystem* system, double tol, int max_steps, crArena* arena, double* x,
                     crMethodRun* run) {
    return cr__interior_run(system, tol, max_steps, 1.0, arena, x, run);
}

static crStatus solve_interior_island(const void* params, const crProblem* problem, crArena* arena, double* p,
                                      crReport* report, crError* error) {
    return cr__system_solve("interior", path, 200, params, problem, arena, p, report, error);
}

static crStatus solve_interior(const void* params, const crProblem* problem, crArena* arena, double* p,
                               crReport* report, crError* error) {
    return cr__solve_islands(solve_interior_island, params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_interior = {"interior", 4, solve_interior};
