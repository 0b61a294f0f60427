// solver_lemke.c - Lemke's method as a solver: build the LCP, solve free variables out, pivot, polish.
//
// Takes any problem of unilateral, equality and box rows and of polygon or planar cones, symmetric or not.
// report->iterations counts pivots. SOLVED is a solution, polished to rounding; RAY is no verdict, unless a Farkas
// certificate is found: then INFEASIBLE. p changes only with a solution. Fails: circular friction in two directions,
// rolling and infinite friction are no LCP: STALLED at once.
#include "lcp.h"

// certificates are looked for by a second run of twice the size; beyond this it costs too much
#define CERTIFICATE_MAX 250

static int pivot_limit(const void* params, int n) {
    const crSolverParams* given = params;
    if (given != NULL && given->max_iterations > 0) return given->max_iterations;
    return 100000 / (n + 1) + 50 * n + 1000;
}

static crStatus ray_verdict(const crLcpReduced* reduced, crArena* arena, double* ray, crOutcome* outcome) {
    bool found = cr__lcp_certificate(reduced->M, reduced->q, reduced->n, ray);
    crStatus status = CR_OK;
    if (!found && reduced->n <= CERTIFICATE_MAX) {
        status = cr__lcp_infeasible(reduced->M, reduced->q, reduced->n, arena, &found);
    }
    if (found) *outcome = CR_OUTCOME_INFEASIBLE;
    return status;
}

// x of the standard form to p, through the polished mixed form
static crStatus finish(const crProblem* problem, const crLcp* lcp, const crLcpReduced* reduced,
                       crArena* arena, const double* x, double* p, crReport* report) {
    size_t n = (size_t)lcp->n;
    double* z = cr_arena_alloc(arena, n * sizeof(double));
    double* work = cr_arena_alloc(arena, (n * n + 5 * n) * sizeof(double));
    int* iwork = cr_arena_alloc(arena, 2 * n * sizeof(int));
    if (z == NULL || work == NULL || iwork == NULL) return CR_ERR_MEMORY;
    cr__lcp_expand(lcp, reduced, x, z);
    report->residual = cr__lcp_polish(lcp->M, lcp->q, lcp->n, lcp->free_count, work, iwork, z);
    cr__lcp_impulses(lcp, problem->rows, z, p);
    return CR_OK;
}

static crStatus solve(const void* params, const crProblem* problem, crArena* arena, double* p,
                      crReport* report, crError* error) {
    (void)error;
    crLcp lcp;
    crLcpReduced reduced;
    bool supported;
    crStatus status = cr__lcp_build(problem, arena, &lcp, &supported);
    report->outcome = CR_OUTCOME_STALLED;
    report->residual = (double)INFINITY;
    if (status != CR_OK || !supported) return status;
    status = cr__lcp_reduce(&lcp, arena, &reduced);
    if (status != CR_OK) return status;
    size_t n = (size_t)reduced.n;
    double* x = cr_arena_alloc(arena, n * sizeof(double));
    double* ray = cr_arena_alloc(arena, n * sizeof(double));
    double* work = cr_arena_alloc(arena, cr__lemke_work(reduced.n) * sizeof(double));
    int* iwork = cr_arena_alloc(arena, cr__lemke_iwork(reduced.n) * sizeof(int));
    if (x == NULL || ray == NULL || work == NULL || iwork == NULL) return CR_ERR_MEMORY;
    if (reduced.inconsistent) {
        report->outcome = CR_OUTCOME_INFEASIBLE;
        return CR_OK;
    }
    report->outcome = cr__lemke(reduced.M, reduced.q, reduced.n, pivot_limit(params, reduced.n), work, iwork,
                                x, ray, &report->iterations);
    if (report->outcome == CR_OUTCOME_RAY) return ray_verdict(&reduced, arena, ray, &report->outcome);
    if (report->outcome == CR_OUTCOME_LIMIT) return CR_OK;
    return finish(problem, &lcp, &reduced, arena, x, p, report);
}

crSolver cr_solver_lemke(const crSolverParams* params) { return (crSolver){"lemke", solve, params}; }
