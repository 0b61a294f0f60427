// solver.c - running a solver: check the problem, solve, audit. Only the audit can say "solved".
#include <string.h>

#include "base/argument.h"
#include "carom/resolve.h"
#include "problem/audit.h"
#include "problem/symmetry.h"

const char* cr_outcome_name(crOutcome outcome) {
    static const char* const names[] = {"solved", "ray",  "infeasible", "stalled",
                                        "limit",  "near", "bounded",    "cannot-tell"};
    return (unsigned)outcome < sizeof names / sizeof names[0] ? names[outcome] : "unknown";
}

crOutcome cr_audit_outcome(const crAudit* audit, double tol, double h, double shift) {
    crTruth solved = cr_audit_solved(audit, tol), near = cr_audit_near(audit, h, shift);
    if (solved == CR_TRUTH_YES) return CR_OUTCOME_SOLVED;
    if (near == CR_TRUTH_YES) return CR_OUTCOME_NEAR;
    return solved == CR_TRUTH_UNSURE ? CR_OUTCOME_UNSURE : CR_OUTCOME_LIMIT;
}

#define SETTLES 20  // sweeps over rows of a raw problem that are small against the others

// Rows of a raw problem whose terms are all small are zero to a solver that looks at the largest. They are solved one by
// one, with the others as they are, as long as the audit's residual falls.
static crStatus settle_solver(const crProblem* problem, double tol, crArena* arena, double* p) {
    crAuditor auditor;
    crStatus status = cr__auditor_create(problem, NULL, arena, &auditor);
    double* trial = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *trial);
    double* w = cr_arena_alloc(arena, (size_t)problem->rows * sizeof *w);
    if (status != CR_OK || trial == NULL || w == NULL) return CR_ERR_MEMORY;
    double best = cr__auditor_residual(&auditor, p);
    double least = best > tol ? 0x1p-50 : tol;
    for (int sweep = 0; sweep < SETTLES && best > least && isfinite(best); sweep++) {
        memcpy(trial, p, (size_t)problem->rows * sizeof *trial);
        cr_matrix_mul(&problem->W, trial, w);
        for (int i = 0; i < problem->block_count; i++) {
            const crBlock* block = &problem->blocks[i];
            for (int r = block->row; r < block->row + block->count && block->kind == CR_BLOCK_UNILATERAL;
                 r++) {
                double u = w[r] + problem->u_free[r] + (problem->b != NULL ? problem->b[r] : 0.0);
                double diagonal = cr_matrix_at(&problem->W, r, r),
                       off = trial[r] > 0.0 ? fabs(u) : fmax(0.0, -u);
                // the audit has left the sizes of the rows in its floors
                if (diagonal > 0.0 && off > least * auditor.floor[r]) {
                    trial[r] = fmax(0.0, trial[r] - u / diagonal);
                }
            }
        }
        double after = cr__auditor_residual(&auditor, trial);
        if (!(after < best)) break;
        best = after;
        memcpy(p, trial, (size_t)problem->rows * sizeof *trial);
    }
    return CR_OK;
}

// whether impulses of a block differ by rounding alone, their own or that of the largest impulse
static bool same_impulses(const double* p, const double* q, int count, double largest) {
    double off = 0.0, size = 0.0;
    for (int k = 0; k < count; k++) {
        off = fmax(off, fabs(p[k] - q[k]));
        size = fmax(size, fabs(p[k]));
    }
    return off <= 0x1p-40 * size || off <= 0x1p-52 * largest;
}

// p becomes the witness's in blocks where they differ by more than rounding; whether any does
static bool take_witness(const crProblem* problem, const double* p_hat, double* p) {
    double largest = 0.0;
    bool changed = false;
    if (problem->rows == 0 || memcmp(p, p_hat, (size_t)problem->rows * sizeof *p) == 0) return false;
    for (int i = 0; i < problem->rows; i++) {
        largest = fmax(largest, fabs(p[i]));
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (same_impulses(p + block->row, p_hat + block->row, block->count, largest)) continue;
        changed = true;
        memcpy(p + block->row, p_hat + block->row, (size_t)block->count * sizeof *p);
    }
    return changed;
}

// Impulses become those of the witness where it is a solution and differs by more than rounding. Figures and outcome are
// of the impulses that are returned: where a part of the witness is not as good as the whole, it is the whole. symmetric: W
// or Minv equals its transpose. What the
// solver says of itself counts only where the audit does not call it solved or near.
static crStatus judge_solver(const crProblem* problem, bool symmetric, double tol, crArena* arena, double* p,
                             crReport* report) {
    size_t mark = cr_arena_mark(arena), bytes = (size_t)problem->rows * sizeof *p;
    double* p_hat = cr_arena_alloc(arena, bytes + 1);
    crAuditor auditor;
    crStatus status = cr__auditor_create(problem, NULL, arena, &auditor);
    if (status != CR_OK || p_hat == NULL) {
        cr_arena_release(arena, mark);
        return CR_ERR_MEMORY;
    }
    if (bytes > 0) memcpy(p_hat, p, bytes);
    auditor.compared = symmetric;
    status = cr__auditor_audit(&auditor, arena, p_hat, true, &report->audit);
    crOutcome outcome = cr_audit_outcome(&report->audit, tol, problem->h, problem->shift);
    if (status == CR_OK && outcome == CR_OUTCOME_LIMIT && report->audit.scale == 0.0) {
        // nothing had to change: no impulses at all may be the answer
        crAudit none;
        memset(p_hat, 0, bytes);
        status = cr__auditor_audit(&auditor, arena, p_hat, true, &none);
        if (status == CR_OK && cr_audit_solved(&none, tol) == CR_TRUTH_YES) {
            report->audit = none;
            outcome = CR_OUTCOME_SOLVED;
        }
    }
    if (status == CR_OK && outcome != CR_OUTCOME_LIMIT && take_witness(problem, p_hat, p)) {
        status = cr__auditor_audit(&auditor, arena, p, false, &report->audit);
        crOutcome now = cr_audit_outcome(&report->audit, tol, problem->h, problem->shift);
        if (status == CR_OK && now != outcome && now != CR_OUTCOME_SOLVED) {
            memcpy(p, p_hat, bytes);
            status = cr__auditor_audit(&auditor, arena, p, false, &report->audit);
            now = cr_audit_outcome(&report->audit, tol, problem->h, problem->shift);
        }
        outcome = now;
    }
    if (status == CR_OK && outcome != CR_OUTCOME_LIMIT) {
        report->outcome = outcome;
    } else if (report->outcome == CR_OUTCOME_SOLVED) {
        report->outcome = CR_OUTCOME_STALLED;
    }
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr_solver_run(const crSolver* solver, const crProblem* problem, double tol, crArena* arena,
                       double* p, crReport* report, crError* error) {
    if (solver == NULL || solver->solve == NULL) return cr__missing(error, "solver");
    if (problem == NULL) return cr__missing(error, "problem");
    if (arena == NULL) return cr__missing(error, "arena");
    if (p == NULL && problem->rows > 0) return cr__missing(error, "p");
    if (report == NULL) return cr__missing(error, "report");
    bool symmetric = false;
    crStatus status = cr__problem_check(problem, &symmetric, error);
    if (status != CR_OK) return status;
    *report = (crReport){.method = solver->name};
    size_t mark = cr_arena_mark(arena);
    if (problem->rows > 0) status = solver->solve(solver->params, problem, arena, p, report, error);
    if (status == CR_OK && problem->raw && report->outcome == CR_OUTCOME_SOLVED) {
        status = settle_solver(problem, tol, arena, p);
    }
    cr_arena_release(arena, mark);
    if (status == CR_OK) status = judge_solver(problem, symmetric, tol, arena, p, report);
    return status;
}
