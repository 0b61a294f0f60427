// solver_enumerate.c - complete enumeration as a solver: the least norm solution, or the proof that there is
// none.
//
// Takes what Lemke's method takes, as long as at most CR_LCP_ENUMERATE_MAX complementary variables are left
// when free ones are solved out. report->iterations counts the supports tried (2^n). No solution is
// INFEASIBLE, by exhaustion where every support misses clearly, or by the proof of infeasible.c. Fails: larger
// problems end at once with LIMIT, circular friction and what is left open with STALLED.
#include "infeasible.h"
#include "lcp.h"
#include "resolve/kinds.h"

#define KEPT 64

static crStatus write_solution(const crProblem* problem, const crLcp* lcp, const crLcpReduced* reduced,
                               crArena* arena, const double* x, double* p, crReport* report) {
    size_t n = (size_t)lcp->n;
    double* z = cr_arena_alloc(arena, n * sizeof(double));
    double* work = cr_arena_alloc(arena, (n * n + 5 * n) * sizeof(double));
    int* iwork = cr_arena_alloc(arena, 3 * n * sizeof(int));
    if (z == NULL || work == NULL || iwork == NULL) return CR_ERR_MEMORY;
    cr__lcp_expand(lcp, reduced, x, z);
    report->residual = cr__lcp_polish(lcp->M, lcp->q, lcp->n, lcp->free_count, NULL, work, iwork, z);
    cr__lcp_impulses(lcp, problem->rows, z, p);
    return CR_OK;
}

static crStatus solve_enumerate(const void* params, const crProblem* problem, crArena* arena, double* p,
                                crReport* report, crError* error) {
    (void)error;
    crLcp lcp;
    crLcpReduced reduced;
    bool supported;
    report->outcome = CR_OUTCOME_STALLED;
    report->residual = (double)INFINITY;
    crStatus status = cr__lcp_build(problem, arena, &lcp, &supported);
    if (status != CR_OK || !supported) return status;
    status = cr__lcp_reduce(&lcp, arena, &reduced);
    if (status != CR_OK) return status;
    if (reduced.n > CR_LCP_ENUMERATE_MAX) {
        report->outcome = CR_OUTCOME_LIMIT;
        return CR_OK;
    }
    size_t n = (size_t)reduced.n;
    double* x = cr_arena_alloc(arena, KEPT * n * sizeof(double));
    if (x == NULL) return CR_ERR_MEMORY;
    crLcpSolutions solutions = {0};
    if (!reduced.inconsistent) {
        status =
            cr__lcp_enumerate(reduced.M, reduced.q, reduced.n, reduced.pairs, arena, KEPT, x, &solutions);
        report->iterations = 1 << reduced.n;
    }
    if (status != CR_OK) return status;
    report->outcome = solutions.count > 0 ? CR_OUTCOME_SOLVED : CR_OUTCOME_INFEASIBLE;
    if (solutions.count == 0 && (reduced.doubtful || solutions.close)) {
        if (problem->raw) report->outcome = CR_OUTCOME_STALLED;
        return cr__infeasible_confirm(problem, params, arena, report);
    }
    if (solutions.count == 0) return CR_OK;
    return write_solution(problem, &lcp, &reduced, arena, x, p, report);
}

const cr__SolverKind cr__solver_enumerate = {"enumerate", 8, solve_enumerate};
