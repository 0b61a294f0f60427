// solver_lemke.c - Lemke's method as a solver: build the LCP, solve free variables out, pivot, polish.
//
// Takes any problem of unilateral, equality and box rows and of polygon or planar cones, symmetric or not.
// report->iterations counts pivots. SOLVED is a solution, polished to rounding; RAY is no verdict, unless a
// Farkas certificate is found: then INFEASIBLE. p changes only with a solution. Fails: circular friction in
// two directions, rolling and infinite friction are no LCP: STALLED at once.
#include "infeasible.h"
#include "lcp.h"

#include "resolve/kinds.h"
#include <string.h>

// certificates are looked for by a second run of twice the size; beyond this it costs too much
#define CERTIFICATE_MAX 250

static int pivot_limit(const void* params, int n) {
    const crSolverParams* given = params;
    if (given != NULL && given->max_iterations > 0) return given->max_iterations;
    return 100000 / (n + 1) + 50 * n + 1000;
}

typedef struct Work {
    double* d;              // of Lemke's method or of polishing, whichever is larger
    int* i;                 //
    double* x;              // of the standard form (reduced n)
    double* ray;            // (reduced n)
    unsigned char* basic;   // of x (reduced n)
    unsigned char* active;  // of z (n)
    double* z;              // of the mixed form (n)
    double* kept;           // (n)
} Work;

static bool allocate_lemke(const crLcp* lcp, const crLcpReduced* reduced, crArena* arena, Work* work) {
    size_t n = (size_t)lcp->n, m = (size_t)reduced->n;
    size_t doubles = cr__lemke_work(reduced->n) + n * n + 5 * n + 3 * m;
    work->d = cr_arena_alloc(arena, doubles * sizeof(double));
    work->i = cr_arena_alloc(arena, (cr__lemke_iwork(reduced->n) + 3 * n) * sizeof(int));
    work->x = cr_arena_alloc(arena, m * sizeof(double));
    work->ray = cr_arena_alloc(arena, m * sizeof(double));
    work->basic = cr_arena_alloc(arena, m);
    work->active = cr_arena_alloc(arena, n);
    work->z = cr_arena_alloc(arena, n * sizeof(double));
    work->kept = cr_arena_alloc(arena, n * sizeof(double));
    return work->d != NULL && work->i != NULL && work->x != NULL && work->ray != NULL && work->z != NULL &&
           work->kept != NULL && work->basic != NULL && work->active != NULL;
}

// INFEASIBLE where the ray, as it is or refined, or the linear program's own ray is a certificate
static crStatus ray_verdict(const crLcpReduced* reduced, crArena* arena, const Work* work,
                            crOutcome* outcome) {
    int n = reduced->n;
    crStatus status = CR_OK;
    bool found = cr__lcp_certificate(reduced->M, reduced->q, n, work->ray);
    if (!found) {
        cr__lcp_refine_ray(reduced->M, n, work->d, work->i, work->ray);
        found = cr__lcp_certificate(reduced->M, reduced->q, n, work->ray);
    }
    if (!found && n <= CERTIFICATE_MAX) {
        status = cr__lcp_infeasible(reduced->M, reduced->q, n, arena, &found);
    }
    if (found) *outcome = CR_OUTCOME_INFEASIBLE;
    return status;
}

// x to z, polished; the residual
static double polish(const crLcp* lcp, const crLcpReduced* reduced, const Work* work, double* z) {
    cr__lcp_expand(lcp, reduced, work->x, z);
    memset(work->active, 0, (size_t)lcp->n);
    for (int k = 0; k < reduced->n; k++) {
        if (work->basic[k]) work->active[reduced->variable[k]] = 1;
    }
    return cr__lcp_polish(lcp->M, lcp->q, lcp->n, lcp->free_count, work->active, work->d, work->i, z);
}

// a solution in the last digits too: where polishing does not reach them the basis is a neighbour of the
// right one
static void finish_lemke(const crLcp* lcp, const crLcpReduced* reduced, const Work* work, int limit,
                         crReport* report) {
    report->residual = polish(lcp, reduced, work, work->z);
    if (report->residual <= 4e-16 * cr__lcp_magnitude(lcp->M, lcp->q, lcp->n, work->z)) return;
    crOutcome outcome = cr__lemke_correct(reduced->M, reduced->q, reduced->n, limit, work->d, work->i,
                                          work->x, work->basic, &report->iterations);
    if (outcome != CR_OUTCOME_SOLVED) return;
    double corrected = polish(lcp, reduced, work, work->kept);
    if (!(corrected < report->residual)) return;
    report->residual = corrected;
    memcpy(work->z, work->kept, (size_t)lcp->n * sizeof(double));
}

static crStatus pivot_lemke(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crReport* report) {
    crLcp lcp;
    crLcpReduced reduced;
    Work work;
    bool supported;
    crStatus status = cr__lcp_build(problem, arena, &lcp, &supported);
    report->outcome = CR_OUTCOME_STALLED;
    report->residual = (double)INFINITY;
    if (status != CR_OK || !supported) return status;
    status = cr__lcp_reduce(&lcp, arena, &reduced);
    if (status != CR_OK) return status;
    if (reduced.inconsistent) {
        report->outcome = problem->raw && reduced.doubtful ? CR_OUTCOME_STALLED : CR_OUTCOME_INFEASIBLE;
        return CR_OK;
    }
    if (!allocate_lemke(&lcp, &reduced, arena, &work)) return CR_ERR_MEMORY;
    int limit = pivot_limit(params, reduced.n);
    report->outcome = cr__lemke(reduced.M, reduced.q, reduced.n, limit, work.d, work.i, work.x, work.basic,
                                work.ray, &report->iterations);
    if (report->outcome == CR_OUTCOME_RAY) {
        status = ray_verdict(&reduced, arena, &work, &report->outcome);
        bool doubtful = problem->raw && reduced.doubtful && report->outcome == CR_OUTCOME_INFEASIBLE;
        if (doubtful) report->outcome = CR_OUTCOME_RAY;
        return status;
    }
    if (report->outcome == CR_OUTCOME_LIMIT) return CR_OK;
    finish_lemke(&lcp, &reduced, &work, limit, report);
    cr__lcp_impulses(&lcp, problem->rows, work.z, p);
    return CR_OK;
}

static crStatus solve_lemke(const void* params, const crProblem* problem, crArena* arena, double* p,
                            crReport* report, crError* error) {
    (void)error;
    crStatus status = pivot_lemke(params, problem, arena, p, report);
    if (status == CR_OK) status = cr__infeasible_confirm(problem, params, arena, report);
    return status;
}

const cr__SolverKind cr__solver_lemke = {"lemke", 7, solve_lemke};
