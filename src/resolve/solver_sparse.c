// solver_sparse.c - large problems island by island in body space (relax/relax.h).
//
// Sweeps from the guess, alternating directions, and Newton's method with sparse factors. max_iterations
// bounds each of these stages. A problem given by W alone is posed with
// J = L of W = L L^T (Cholesky with diagonal pivoting down to rounding) and unit masses; that is meant for
// small ones. What L L^T p lacks of W p, as where W is not quite symmetric, joins the bias, and the solve is
// repeated until that stays. report->residual is the largest backward error relative to its island's demand.
// Fails: a W that is indefinite beyond rounding need not converge; raw problems, and W without J
// of more than WHOLE_ROWS rows or with spin or rolling, are left STALLED at once; what the budget does not solve ends as limit with the
// point of the smallest backward error.
#include "carom/resolve.h"
#include "linalg/active.h"
#include "relax/relax.h"

#include "resolve/islands.h"
#include "resolve/kinds.h"
#include <string.h>

#define WHOLE_ROWS 1500
#define RANK_TOL   1e-15
#define ROUNDS     6
#define AIM        0.5  // of the tolerance: the audit measures islands by scales of its own

// whether more of W_ii is left at row i than at row j: shares, so that units of rows do not matter
static bool more_left(const double* W, size_t n, const double* left, size_t i, size_t j) {
    return left[i] * W[j * n + j] > left[j] * W[i * n + i];
}

// J J^T = W to rounding: one column of J per pivot, the row with the largest share of its W_ii left first. left,
// used: work (n).
static void cholesky_pivoted(const double* W, size_t n, double* left, bool* used, double* J) {
    for (size_t i = 0; i < n; i++) {
        left[i] = W[i * n + i];
        used[i] = !(left[i] > 0.0);
    }
    for (size_t k = 0; k < n; k++) {
        size_t p = n;
        for (size_t i = 0; i < n; i++) {
            if (!used[i] && (p == n || more_left(W, n, left, i, p))) p = i;
        }
        if (p == n || !(left[p] > RANK_TOL * W[p * n + p])) return;
        double root = sqrt(left[p]);
        used[p] = true;
        J[p * n + k] = root;
        for (size_t i = 0; i < n; i++) {
            if (used[i]) continue;
            double w = 0.5 * (W[i * n + p] + W[p * n + i]);
            double l = (w - cr__dot(J + i * n, J + p * n, (int)k)) / root;
            J[i * n + k] = l;
            left[i] -= l * l;
        }
    }
}

// The same problem with J and unit masses in place of W.
static crStatus pose(const crProblem* problem, crArena* arena, crProblem* posed) {
    size_t n = (size_t)problem->rows;
    double* W;
    crStatus status = cr_problem_dense(problem, arena, &W);
    if (status != CR_OK) return status;
    bool* used = cr_arena_alloc(arena, n * sizeof *used);
    double* left = cr_arena_alloc(arena, n * sizeof *left);
    double* J = cr_arena_alloc(arena, n * n * sizeof *J);
    int* unit = cr_arena_alloc(arena, (n + 1) * sizeof *unit);
    double* ones = cr_arena_alloc(arena, n * sizeof *ones);
    if (used == NULL || left == NULL || J == NULL || unit == NULL || ones == NULL) return CR_ERR_MEMORY;
    memset(J, 0, n * n * sizeof *J);
    cholesky_pivoted(W, n, left, used, J);
    for (size_t i = 0; i < n; i++) {
        unit[i] = (int)i;
        ones[i] = 1.0;
    }
    unit[n] = (int)n;
    *posed = *problem;
    posed->W = (crMatrix){0};
    posed->nv = (int)n;
    posed->J = (crMatrix){(int)n, (int)n, NULL, NULL, J};
    posed->Minv = (crMatrix){(int)n, (int)n, unit, unit, ones};
    return CR_OK;
}

// bias = b + W p - J J^T p; its largest change in m/s. u: work (2 rows).
static crStatus correct_sparse(const crProblem* problem, const crProblem* posed, crArena* arena,
                               const double* p, double* u, double* bias, double* change) {
    size_t n = (size_t)problem->rows;
    crStatus status = cr_problem_velocity(problem, arena, p, u);
    if (status == CR_OK) status = cr_problem_velocity(posed, arena, p, u + n);
    *change = 0.0;
    for (int i = 0; status == CR_OK && i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        for (int k = 0; k < block->count; k++) {
            size_t r = (size_t)(block->row + k);
            double value = (problem->b != NULL ? problem->b[r] : 0.0) + (u[r] - u[n + r]);
            *change = fmax(*change, fabs(value - bias[r]));
            bias[r] = value;
        }
    }
    return status;
}

// A problem given by W: posed with J, then again with what that leaves of W p.
static crStatus solve_whole(const crProblem* problem, const crRelaxParams* relax, crArena* arena, double* p,
                            crRelaxRun* run) {
    crProblem posed;
    size_t n = (size_t)problem->rows;
    crStatus status = pose(problem, arena, &posed);
    double* work = cr_arena_alloc(arena, 3 * n * sizeof *work);
    if (status == CR_OK && work == NULL) status = CR_ERR_MEMORY;
    if (status != CR_OK) return status;
    double *bias = work + 2 * n, change = 0.0;
    memset(bias, 0, n * sizeof *bias);
    status = correct_sparse(problem, &posed, arena, p, work, bias, &change);
    posed.b = bias;
    for (int round = 0; status == CR_OK && round < ROUNDS; round++) {
        int before = run->factorizations;
        status = cr__relax_solve(&posed, relax, arena, p, run);
        run->factorizations += before;
        if (status == CR_OK) status = correct_sparse(problem, &posed, arena, p, work, bias, &change);
        double demand = run->relative > 0.0 ? run->error / run->relative : 0.0;
        if (!(change > 0.1 * relax->tol * demand)) break;
    }
    return status;
}

// rows of spin and rolling have another unit than the others: without J nothing says which
static bool turns(const crProblem* problem) {
    for (int i = 0; i < problem->block_count; i++) {
        if (problem->blocks[i].spin || problem->blocks[i].roll) return true;
    }
    return false;
}

static void bound_sparse(int* budget, int most) {
    if (most > 0 && *budget > most) *budget = most;
}

static crStatus solve_sparse_island(const void* params, const crProblem* problem, crArena* arena, double* p,
                                    crReport* report, crError* error) {
    crSolverParams given = params != NULL ? *(const crSolverParams*)params : cr_solver_params();
    crRelaxParams relax = cr__relax_params();
    relax.tol = AIM * given.tol;
    relax.floor = problem->rest;
    bound_sparse(&relax.sweeps, given.max_iterations);
    bound_sparse(&relax.directions, given.max_iterations);
    bound_sparse(&relax.newton, given.max_iterations);
    report->outcome = CR_OUTCOME_STALLED;
    report->residual = (double)INFINITY;
    bool whole = !cr__relax_takes(problem);
    // of the two rules this one solves more of the problems in files (docs/solvers.md: RockPile)
    relax.steady = whole;
    if (problem->raw || (whole && (problem->rows > WHOLE_ROWS || turns(problem)))) return CR_OK;
    crRelaxRun run = {0};
    crStatus status = whole ? solve_whole(problem, &relax, arena, p, &run)
                            : cr__relax_solve(problem, &relax, arena, p, &run);
    if (status != CR_OK) return cr_error_set(error, status, "", "sparse: out of memory");
    report->iterations = run.factorizations;
    report->residual = run.relative;
    report->outcome = run.solved == run.islands ? CR_OUTCOME_SOLVED : CR_OUTCOME_LIMIT;
    return CR_OK;
}

static crStatus solve_sparse(const void* params, const crProblem* problem, crArena* arena, double* p,
                             crReport* report, crError* error) {
    return cr__solve_islands(solve_sparse_island, params, problem, arena, p, report, error);
}

const cr__SolverKind cr__solver_sparse = {"sparse", 5, solve_sparse};
