// solver.c - running a solver: check the problem, solve, audit. Only the audit can say "solved".
#include "carom/resolve.h"

#include <string.h>

const char* cr_outcome_name(crOutcome outcome) {
    static const char* const names[] = {"solved", "ray", "infeasible", "stalled", "limit"};
    return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}

crSolverParams cr_solver_params(void) { return (crSolverParams){.tol = 1e-10}; }

crStatus cr_solver_run(const crSolver* solver, const crProblem* problem, double tol, crArena* arena,
                       double* p, crReport* report, crError* error) {
    crStatus status = cr_problem_check(problem, error);
    if (status != CR_OK) return status;
    *report = (crReport){.method = solver->name};
    size_t mark = cr_arena_mark(arena);
    if (problem->rows > 0) status = solver->solve(solver->params, problem, arena, p, report, error);
    cr_arena_release(arena, mark);
    if (status == CR_OK) status = cr_problem_audit(problem, arena, p, &report->audit);
    if (status != CR_OK) return status;
    bool within = report->audit.residual <= tol;
    if (within) {
        report->outcome = CR_OUTCOME_SOLVED;
    } else if (report->outcome == CR_OUTCOME_SOLVED) {
        report->outcome = CR_OUTCOME_STALLED;
    }
    return CR_OK;
}

typedef crSolver (*crSolverMake)(const crSolverParams* params);

static const crSolverMake solvers[] = {
    cr_solver_auto, cr_solver_gauss_seidel, cr_solver_newton, cr_solver_interior,  cr_solver_sparse,
    cr_solver_admm, cr_solver_pivot,        cr_solver_lemke,  cr_solver_enumerate,
};

int cr_solver_count(void) { return (int)(sizeof solvers / sizeof solvers[0]); }

const char* cr_solver_name(int index) {
    return index >= 0 && index < cr_solver_count() ? solvers[index](NULL).name : NULL;
}

crStatus cr_solver_find(const char* name, const crSolverParams* params, crSolver* solver, crError* error) {
    for (int i = 0; i < cr_solver_count(); i++) {
        *solver = solvers[i](params);
        if (strcmp(solver->name, name) == 0) return CR_OK;
    }
    return cr_error_set(error, CR_ERR_NAME, "solver", "solver: there is none called \"%.60s\"", name);
}
