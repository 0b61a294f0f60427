// admm.c - proximal alternating direction method of multipliers on the friction problem.
//
//     x = inverse(W + (r + eta) R) (-q - z + r R y + eta R x),   y = P(x + z / (r R)),   z += r R (x - y)
//
// with R = diag(1 / rho) per unit, eta a proximal term, and P the clamp to the limits: pressure first, then
// friction to the disc of that pressure. Its fixed points are Coulomb's law without de Saxce's term on the
// normal row; in trials this took fewer iterations than projecting on the cone with that term, and it serves
// polygons and rolling alike. r is balanced between the residuals |x - y| and |dy|, which asks for new
// factors; in between they are reused.
// Source: Carpentier, Le Lidec and Montaut 2024; Tasora, Mangoni, Benatti and Garziera 2021 for proximal
// term and balancing.
// Fails: slow to the last digits, no proof of convergence with friction; limit or stalled, x the best point
// seen.
#include "admm.h"
#include "direct.h"

#include <string.h>

#define CHECK_EVERY   5
#define BALANCE_EVERY 20

typedef struct crAdmm {
    const crSystem* system;
    double r, eta;
    double* y;     // (n)
    double* z;     // (n)
    double* F;     // (n)
    double* last;  // y before (n)
    double* next;  // (n)
    double* best;  // (n)
    crDirect direct;
} crAdmm;

static crStatus admm_create(crAdmm* a, const crSystem* system, crArena* arena) {
    *a = (crAdmm){.system = system, .r = 0.1, .eta = 1e-7};
    size_t n = (size_t)system->n * sizeof(double);
    a->y = cr_arena_alloc(arena, n);
    a->z = cr_arena_alloc(arena, n);
    a->F = cr_arena_alloc(arena, n);
    a->last = cr_arena_alloc(arena, n);
    a->next = cr_arena_alloc(arena, n);
    a->best = cr_arena_alloc(arena, n);
    bool got =
        a->y != NULL && a->z != NULL && a->F != NULL && a->last != NULL && a->next != NULL && a->best != NULL;
    return got ? cr__direct_create(&a->direct, system, arena) : CR_ERR_MEMORY;
}

static crStatus factor(crAdmm* a) {
    crDirect* d = &a->direct;
    bool solved = false;
    for (int i = 0; i < a->system->units; i++) {
        int c = a->system->unit[i].count;
        memset(d->A + d->at[i], 0, (size_t)(c * c) * sizeof(double));
        memset(d->B + d->at[i], 0, (size_t)(c * c) * sizeof(double));
        for (int k = 0; k < c; k++) {
            d->B[d->at[i] + (size_t)(k * (c + 1))] = 1.0;
        }
    }
    d->shift = a->r + a->eta;
    memset(a->F, 0, (size_t)a->system->n * sizeof(double));
    return cr__direct_solve(d, a->F, a->next, &solved);
}

static void iterate(crAdmm* a, double* x, double* primal, double* dual) {
    const crSystem* system = a->system;
    memcpy(a->last, a->y, (size_t)system->n * sizeof(double));
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        double stiff = 1.0 / unit->rho;
        for (int k = 0; k < unit->count; k++) {
            int row = unit->row + k;
            a->F[row] =
                system->E[row] * system->q[row] + a->z[row] - stiff * (a->r * a->y[row] + a->eta * x[row]);
        }
    }
    cr__direct_again(&a->direct, a->F, x);
    *primal = 0.0;
    *dual = 0.0;
    for (int i = 0; i < system->units; i++) {
        const crUnit* unit = &system->unit[i];
        double stiff = a->r / unit->rho;
        for (int k = 0; k < unit->count; k++) {
            int row = unit->row + k;
            a->y[row] = x[row] + a->z[row] / stiff;
        }
        cr__unit_clamp(unit, a->y + unit->row);
        for (int k = 0; k < unit->count; k++) {
            int row = unit->row + k;
            double gap = x[row] - a->y[row];
            a->z[row] += stiff * gap;
            *primal = fmax(*primal, fabs(gap) / unit->rho);
            *dual = fmax(*dual, stiff * fabs(a->y[row] - a->last[row]));
        }
    }
}

static crStatus admm_loop(crAdmm* a, double tol, int max_steps, double* x, crMethodRun* run) {
    int n = a->system->n;
    double level = run->residual;
    int renewed = 0;
    crStatus status = factor(a);
    while (status == CR_OK && run->steps < max_steps && run->residual > tol && !run->stalled) {
        double primal, dual;
        iterate(a, x, &primal, &dual);
        run->steps++;
        if (run->steps % CHECK_EVERY == 0) {
            double residual = cr__system_residual(a->system, a->y);
            if (residual < run->residual) {
                run->residual = residual;
                memcpy(a->best, a->y, (size_t)n * sizeof(double));
            }
            if (run->residual < 0.5 * level) {
                level = run->residual;
                renewed = run->steps;
            }
            run->stalled = run->steps - renewed > max_steps / 4 || !isfinite(primal + dual);
        }
        // velocities on both sides: primal is a velocity error per unit stiffness, dual one of the balance
        double ratio = a->r * primal > 0.0 && dual > 0.0 ? a->r * primal / dual : 1.0;
        if (run->steps % BALANCE_EVERY == 0 && (ratio > 5.0 || ratio < 0.2)) {
            double change = fmin(10.0, fmax(0.1, sqrt(ratio)));
            a->r = fmin(1e3, fmax(1e-9, a->r * change));
            status = factor(a);
        }
    }
    return status;
}

crStatus cr__admm_run(const crSystem* system, double tol, int max_steps, crArena* arena, double* x,
                      crMethodRun* run) {
    size_t mark = cr_arena_mark(arena);
    size_t n = (size_t)system->n * sizeof *x;
    crAdmm a;
    *run = (crMethodRun){.residual = cr__system_residual(system, x)};
    crStatus status = admm_create(&a, system, arena);
    if (status == CR_OK) {
        memcpy(a.best, x, n);
        memcpy(a.y, x, n);
        // the velocity at the start is the first multiplier
        cr__system_velocity(system, x, a.z);
        for (int i = 0; i < system->n; i++) {
            a.z[i] = -a.z[i];
        }
        status = admm_loop(&a, tol, max_steps, x, run);
        memcpy(x, a.best, n);
    }
    cr_arena_release(arena, mark);
    return status;
}
