// solver_gauss_seidel.c - block sweeps with the exact solution of one contact, from the guess in p.
//
// Each unit (contact, joint, row) is solved exactly with the others held, until the audit's residual is
// within tol. Source: Jourdan, Alart and Jean 1998; the local solution is in local.c.
// Fails: slow where heavy rests on light (two cubes, ratio 1000: more than 1e5 sweeps), and need not converge
// where friction is large; it ends as limit or stalled with the best point seen.
#include "relax/local.h"
#include "resolve/islands.h"
#include "resolve/kinds.h"
#include "sweep.h"

static crStatus sweeps_gauss_seidel(const crSystem* system, double tol, int max_steps, crArena* arena,
                                    double* x, crMethodRun* run) {
    crSweepRun made = {0};
    crStatus status = cr__sweep_run(system, CR_SWEEP_PLAIN, tol, max_steps, max_steps / 4, arena, x, &made);
    *run = (crMethodRun){made.sweeps, made.residual, made.stalled};
    return status;
}

static crStatus solve_gauss_seidel_island(const void* params, const crProblem* problem, crArena* arena,
                                          double* p, crReport* report, crError* error) {
    return cr__system_solve("gauss-seidel", sweeps_gauss_seidel, 20000, params, problem, arena, p, report,
                            error);
}

static crStatus solve_gauss_seidel(const void* params, const crProblem* problem, crArena* arena, double* p,
                                   crReport* report, crError* error) {
    return cr__solve_islands(solve_gauss_seidel_island, params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_gauss_seidel = {"gauss-seidel", 2, solve_gauss_seidel};
