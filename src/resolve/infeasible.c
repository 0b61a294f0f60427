// infeasible.c - a certificate that the rows contradict each other (Farkas).
//
// The frictionless problem 0 <= q + (W + eps R) y _|_ y >= 0 (equalities: = 0), R = diag(1 / rho), always has
// a solution. If the rows contradict each other it grows like 1 / eps along a ray with W y = 0 and y.q < 0.
// The ray is taken at a small eps and its two conditions are checked on the unscaled rows of W as given; only
// that check counts.
// W y = 0 is checked to 1e-12 of its terms, so strictly no impulses below some 1e5 times the usual size help.
// Fails: a contradiction smaller than about 1e-7 of the velocities is not found.
#include "infeasible.h"
#include "direct.h"

#include <string.h>

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

// the two conditions on W as given; y is made to satisfy the signs first
static bool certifies(const crSystem* system, double* y, double* Wy) {
    double largest = 0.0;
    double work = 0.0;  // sum of |y_i W_ij| bounds
    double drive = 0.0;
    double terms = 0.0;
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        for (int k = 0; k < unit->count; k++) {
            double* yi = &y[unit->row + k];
            if (!is_normal(unit, k)) *yi = 0.0;
            if (unit->kind != CR_BLOCK_EQUALITY) *yi = fmax(0.0, *yi);
            drive += *yi * system->q[unit->row + k];
            terms += fabs(*yi * system->q[unit->row + k]);
        }
    }
    cr_matrix_mul_t(&system->W, y, Wy);
    for (int i = 0; i < system->n; i++) {
        largest = fmax(largest, fabs(Wy[i]));
        for (int k = system->W.start[i]; k < system->W.start[i + 1]; k++) {
            work = fmax(work, fabs(system->W.value[k] * y[i]));
        }
    }
    return work > 0.0 ? largest <= 1e-12 * work && drive < -1e-7 * terms : drive < 0.0;
}

crStatus cr__infeasible(const crSystem* system, crArena* arena, bool* found) {
    size_t mark = cr_arena_mark(arena);
    size_t bytes = (size_t)system->n * sizeof(double);
    crDirect d;
    *found = false;
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
    if (status == CR_OK) *found = certifies(system, y, w);
    cr_arena_release(arena, mark);
    return status;
}
