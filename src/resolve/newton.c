// newton.c - semismooth Newton steps on the map of all units, damped by a line search.
//
//     (A + B (W + eps R)) dx = -F,   dF = A dx + B W dx,   R = diag(1 / rho)
//
// with the rows of map.c, solved by direct.c. eps is a proximal shift: it makes singular systems (redundant
// contacts, parts without friction) solvable, shrinks where it is what limits a step and grows where the map
// is far from linear. The line search may let |F| rise above its last value but not above the largest of the
// last few.
// Source: Alart and Curnier 1991; Acary, Bremond and Huber 2018 on line searches.
// Fails: cycles between regimes are cut by sweeps, another rho, and in the end by the limit; x is the best
// point seen.
#include "newton.h"
#include "sweep.h"

#include <float.h>
#include <string.h>

#define MEMORY 4     // last values of |F|^2 that the line search compares with
#define FAST   1e-2  // ratio of |F|^2 in a step that falls fast
#define FAR    1e3   // of tol

typedef struct crNewton {
    const crSystem* system;
    double s;       // scale of rho
    double* w;      // (n)
    double* F;      // (n)
    double* dx;     // (n)
    double* trial;  // (n)
    double* best;   // (n)
    crDirect direct;
} crNewton;

static crStatus newton_create(crNewton* z, const crSystem* system, crArena* arena) {
    *z = (crNewton){.system = system, .s = 1.0};
    size_t n = (size_t)system->n * sizeof(double);
    z->w = cr_arena_alloc(arena, n);
    z->F = cr_arena_alloc(arena, n);
    z->dx = cr_arena_alloc(arena, n);
    z->trial = cr_arena_alloc(arena, n);
    z->best = cr_arena_alloc(arena, n);
    bool got = z->w != NULL && z->F != NULL && z->dx != NULL && z->trial != NULL && z->best != NULL;
    crStatus status = got ? cr__direct_create(&z->direct, system, arena) : CR_ERR_MEMORY;
    z->direct.shift = 1e-10;
    return status;
}

// F and its derivative at x; |F|^2
static double evaluate(crNewton* z, const double* x) {
    double sum = 0.0;
    cr__system_velocity(z->system, x, z->w);
    for (int i = 0; i < z->system->units; i++) {
        const crUnit* unit = &z->system->unit[i];
        int row = unit->row;
        cr__unit_map(unit, z->s, x + row, z->w + row, z->F + row, z->direct.A + z->direct.at[i],
                     z->direct.B + z->direct.at[i]);
        for (int a = 0; a < unit->count; a++) {
            sum += z->F[row + a] * z->F[row + a];
        }
    }
    return isfinite(sum) ? sum : (double)INFINITY;
}

// moves x along dx as far as |F|^2 stays below bound; false where it does nowhere
static bool line_search(crNewton* z, double bound, double* x, double* after) {
    int n = z->system->n;
    for (double t = 1.0; t > 1e-3; t *= 0.5) {
        for (int i = 0; i < n; i++) {
            z->trial[i] = x[i] + t * z->dx[i];
        }
        *after = evaluate(z, z->trial);
        if (*after < (1.0 - 1e-3 * t) * bound) {
            memcpy(x, z->trial, (size_t)n * sizeof *x);
            return true;
        }
    }
    return false;
}

static void keep_best_newton(crNewton* z, const double* x, crMethodRun* run) {
    double residual = cr__system_residual(z->system, x);
    if (!(residual < run->residual)) return;
    run->residual = residual;
    memcpy(z->best, x, (size_t)z->system->n * sizeof *x);
}

// |F|^2 that the shift alone would leave behind after a full step
static double left_by_shift(const crNewton* z) {
    const crDirect* d = &z->direct;
    double sum = 0.0;
    for (int i = 0; i < z->system->units; i++) {
        const crUnit* unit = &z->system->unit[i];
        int c = unit->count;
        for (int r = 0; r < c; r++) {
            double left = 0.0;
            for (int a = 0; a < c; a++) {
                left += d->B[d->at[i] + (size_t)(r * c + a)] * z->dx[unit->row + a];
            }
            left *= d->shift / unit->rho;
            sum += left * left;
        }
    }
    return sum;
}

// after a failed step: a larger shift, then another rho and a few sweeps
static void recover(crNewton* z, int failures, bool sweeps, double* x) {
    static const double scales[] = {0.1, 10.0, 0.01, 100.0, 1.0};
    z->direct.shift = fmin(1e-2, z->direct.shift * 100.0);
    if (failures % 2 == 1) return;
    z->s = scales[(failures / 2 - 1) % 5];
    for (int k = 0; sweeps && k < 10; k++) {
        cr__sweep(z->system, 1.0, x);
    }
}

static crStatus newton_loop(crNewton* z, double tol, int max_steps, bool sweeps, double* x,
                            crMethodRun* run) {
    double merit[MEMORY];
    int failures = 0;
    int since = 0;  // steps since the last improvement of the residual
    double now = evaluate(z, x);
    double asked = now;  // |F|^2 where the residual was last measured
    for (int k = 0; k < MEMORY; k++) {
        merit[k] = 0.0;
    }
    while (run->steps < max_steps && run->residual > tol) {
        merit[run->steps % MEMORY] = now;
        double bound = now;
        for (int k = 0; k < MEMORY; k++) {
            bound = fmax(bound, merit[k]);
        }
        bool solved = false;
        crStatus status = cr__direct_solve(&z->direct, z->F, z->dx, &solved);
        if (status != CR_OK) return status;
        double expected = solved ? left_by_shift(z) : 0.0;
        run->steps++;
        double before = run->residual;
        double after = now;
        if (solved && line_search(z, bound, x, &after)) {
            // shrink the shift where it is what limits progress, grow it where the map is far from linear
            bool limited = after < 10.0 * expected;
            double shift = z->direct.shift;
            shift *= limited || after < 0.01 * now ? 0.1 : after < 0.3 * now ? 1.0 : 10.0;
            z->direct.shift = fmin(1e-4, fmax(1e-15, shift));
        } else {
            recover(z, ++failures, sweeps, x);
            after = evaluate(z, x);
            for (int k = 0; k < MEMORY; k++) {
                merit[k] = 0.0;
            }
        }
        // the residual falls as |F| does: it is not asked for while that falls fast and is far from tol
        double guess = run->residual * sqrt(after / fmax(asked, DBL_MIN));
        bool far = after < FAST * now && guess > FAR * tol && run->steps < max_steps;
        now = after;
        if (!far) {
            keep_best_newton(z, x, run);
            asked = now;
        }
        since = far || run->residual < 0.9 * before ? 0 : since + 1;
        run->stalled = failures > 20 || since > (run->residual < 1e-9 ? 8 : 40);
        if (run->stalled) break;
    }
    return CR_OK;
}

crStatus cr__newton_run(const crSystem* system, double tol, int max_steps, bool sweeps, double known,
                        crArena* arena, double* x, crMethodRun* run) {
    size_t mark = cr_arena_mark(arena);
    crNewton z;
    *run = (crMethodRun){.residual = known >= 0.0 ? known : cr__system_residual(system, x)};
    crStatus status = newton_create(&z, system, arena);
    if (status == CR_OK) {
        memcpy(z.best, x, (size_t)system->n * sizeof *x);
        status = newton_loop(&z, tol, max_steps, sweeps, x, run);
        memcpy(x, z.best, (size_t)system->n * sizeof *x);
    }
    cr_arena_release(arena, mark);
    return status;
}
