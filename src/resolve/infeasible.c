// infeasible.c - a certificate that the rows contradict each other (Farkas).
//
// The frictionless problem 0 <= q + (W + eps R) y _|_ y >= 0 (equalities: = 0), R = diag(1 / rho), always has
// a solution. If the rows contradict each other it grows like 1 / eps along a ray with W y = 0 and y.q < 0.
// The ray is taken at a small eps and checked on the rows of W as given; only that check counts.
//
// What it proves: no impulses p exist that the audit can call solved to tol. For all p and all changes db of b,
//     y.(q + W p + db) = y.q + (W^T y).p + y.db >= 0 on admissible velocities,
// with |db_i| <= tol S, S the scale of the audit. Let |W^T y|_j <= theta s_j sum_i s_i |y_i|, s_i = sqrt(W_ii).
// The audit calls p solved only if its rounding floor 16 eps s_i sum_j s_j |p_j| is below tol S, so that
//     |(W^T y).p| <= theta / (16 eps) tol S sum |y_i|.
// -y.q > (1 + theta / (16 eps)) tol S sum |y_i| is therefore a contradiction. Twice that is asked for.
// Fails: a smaller contradiction is not found.
#include "infeasible.h"
#include "direct.h"
#include "problem/product.h"

#include <string.h>

#define EPS    0x1p-52
#define ROUNDS 60

// rows that must not approach or must not move
static bool is_normal(const crUnit* unit, int k) {
    if (unit->kind == CR_BLOCK_EQUALITY) return true;
    return unit->kind != CR_BLOCK_BOX && k == 0;
}

// true where the row is part of the current guess of pressed rows
static bool pressed(const crUnit* unit, int k, double y, double w, double shift) {
    if (!is_normal(unit, k)) return false;
    return unit->kind == CR_BLOCK_EQUALITY || y - w * unit->rho / (1.0 + shift) > 0.0;
}

// w = q + (W + shift R) y on normal rows
static void velocity(const crDirect* d, const double* y, double* w) {
    const crSystem* system = d->system;
    cr__system_velocity(system, y, w);
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        for (int k = 0; k < unit->count; k++) {
            w[unit->row + k] += d->shift / unit->rho * y[unit->row + k];
        }
    }
}

// y of the frictionless problem by exchanging all wrong rows at once
static crStatus frictionless(crDirect* d, double* w, double* F, double* dy, double* y) {
    const crSystem* system = d->system;
    memset(y, 0, (size_t)system->n * sizeof *y);
    for (int round = 0; round < ROUNDS; round++) {
        velocity(d, y, w);
        double worst = 0.0;
        for (int i = 0; i < system->units; i++) {
            const crUnit* unit = &system->unit[i];
            int c = unit->count;
            double* A = d->A + d->at[i];
            double* B = d->B + d->at[i];
            memset(A, 0, (size_t)(c * c) * sizeof *A);
            memset(B, 0, (size_t)(c * c) * sizeof *B);
            for (int k = 0; k < c; k++) {
                int row = unit->row + k;
                bool on = pressed(unit, k, y[row], w[row], d->shift);
                A[k * (c + 1)] = on ? 0.0 : 1.0;
                B[k * (c + 1)] = on ? 1.0 : 0.0;
                F[row] = on ? w[row] : y[row];
                worst = fmax(worst, fabs(F[row]) / (on ? 1.0 : unit->rho));
            }
        }
        if (worst == 0.0) break;
        bool solved = false;
        crStatus status = cr__direct_solve(d, F, dy, &solved);
        if (status != CR_OK || !solved) return status;
        for (int i = 0; i < system->n; i++) {
            y[i] += dy[i];
        }
    }
    return CR_OK;
}

// the condition above on W as given; y is made to satisfy the signs first
static bool certifies(const crSystem* system, double tol, double* y, double* Wy) {
    const double* weight = system->auditor->weight;
    double drive = 0.0, terms = 0.0, sum = 0.0, pull = 0.0, scale = system->auditor->largest, theta = 0.0;
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        for (int k = 0; k < unit->count; k++) {
            int row = unit->row + k;
            double* yi = &y[row];
            if (!is_normal(unit, k)) *yi = 0.0;
            if (unit->kind != CR_BLOCK_EQUALITY) *yi = fmax(0.0, *yi);
            drive += *yi * system->q[row];
            terms += fabs(*yi * system->q[row]);
            sum += fabs(*yi);
            pull += sqrt(weight[row]) * fabs(*yi);
        }
    }
    cr__matrix_mul_t(&system->W, y, Wy);
    for (int i = 0; i < system->n; i++) {
        double most = sqrt(weight[i]) * pull;
        if (Wy[i] == 0.0) continue;
        theta = fmax(theta, most > 0.0 ? fabs(Wy[i]) / most : (double)INFINITY);
    }
    double needed = 2.0 * (1.0 + theta / (16.0 * EPS)) * tol * scale * sum + 4.0 * system->n * EPS * terms;
    return drive < -needed;
}

crStatus cr__infeasible(const crSystem* system, double tol, crArena* arena, bool* found) {
    size_t mark = cr_arena_mark(arena);
    size_t bytes = (size_t)system->n * sizeof(double);
    crDirect d;
    *found = false;
    // any matrix, no scales: Lemke's method has its own proof
    if (system->problem->raw) return CR_OK;
    double* y = cr_arena_alloc(arena, bytes);
    double* w = cr_arena_alloc(arena, bytes);
    double* F = cr_arena_alloc(arena, bytes);
    double* dy = cr_arena_alloc(arena, bytes);
    crStatus status = y != NULL && w != NULL && F != NULL && dy != NULL ? CR_OK : CR_ERR_MEMORY;
    if (status == CR_OK) status = cr__direct_create(&d, system, arena);
    if (status == CR_OK) {
        d.shift = 1e-13;
        status = frictionless(&d, w, F, dy, y);
    }
    if (status == CR_OK) *found = certifies(system, tol, y, w);
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr__infeasible_confirm(const crProblem* problem, const crSolverParams* params, crArena* arena,
                                crReport* report) {
    if (report->outcome != CR_OUTCOME_INFEASIBLE || problem->raw) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    crSystem system;
    bool found = false;
    crStatus status = cr__system_create(&system, problem, arena);
    if (status == CR_OK) {
        status =
            cr__infeasible(&system, params != NULL ? params->tol : cr_solver_params().tol, arena, &found);
    }
    cr_arena_release(arena, mark);
    if (!found) report->outcome = CR_OUTCOME_STALLED;
    return status;
}
