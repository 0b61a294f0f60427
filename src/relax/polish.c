// polish.c - solves the convex problem to full accuracy by an augmented Lagrangian and Newton's method.
//
// With the shift s added to the normal velocities, impulses x minimize |H^T x|^2/2 + (c + s).x over the
// cones. The inner problem for multipliers x0 and penalty R,
//
//     minimize over z:  |z|^2/2 + |nearest(x0 - R (H z + c + s))|^2/(2 R),
//
// is smooth and convex. Newton's matrix A(nearest' R) is definite, so every step descends.
// Source: Rockafellar 1976; Sun, Sun and Qi 2004.
// Fails: the polish ends if its steps no longer reduce the residual; the answer is the point with the least
// one. CR_ERR_MEMORY.
#include "stage.h"

#include <string.h>

#define START_PENALTY  1e4   // first penalty, in units of 1 / weight
#define MOST_PENALTY   1e8   // largest penalty, in units of 1 / weight
#define INNER_STEPS    20    // most Newton steps of an inner problem
#define SEARCHES       40    // most trial steps of a line search
#define INNER_ACCURACY 0.03  // accuracy of an inner problem, over the current residual

typedef struct crPolish {
    crIsland* island;
    const double* s;  // shifts of the normal velocities, zero on other rows (rows)
    double* x0;       // multipliers (rows)
    double* x;        // nearest(q) (rows)
    double* q;        // x0 - R (u + s) (rows)
    double* u;        // H z + c + s (rows)
    double* du;       // H d (rows)
    double* z;        // variable of the inner problem (nz)
    double* g;        // gradient z - H^T x (nz)
    double* d;        // Newton's step (nz)
    double k;         // penalty: R = k / weight
} crPolish;

// Sets q and x at z + step d.
static void polish_nearest(const crPolish* p, double step) {
    const crSpace* s = &p->island->space;
    for (int i = 0; i < s->rows; i++) {
        p->q[i] = p->x0[i] - p->k / s->weight[i] * (p->u[i] + step * p->du[i]);
    }
    for (int i = 0; i < s->units; i++) {
        cr__relax_nearest(&s->unit[i], p->q + s->unit[i].row, p->x + s->unit[i].row, NULL);
    }
}

// Sets G = nearest' R at q.
static void polish_slopes(const crPolish* p) {
    crSpace* s = &p->island->space;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        double *G = s->G + unit->square, x[CR_UNIT_ROWS];
        cr__relax_nearest(unit, p->q + unit->row, x, G);
        for (int k = 0; k < unit->count * unit->count; k++) {
            G[k] *= p->k / s->weight[unit->row];
        }
    }
}

static double product(const double* a, const double* b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Returns the derivative of the inner objective along d at z + step d, and sets q and x there.
static double slope_at(const crPolish* p, double step) {
    const crSpace* s = &p->island->space;
    polish_nearest(p, step);
    return product(p->z, p->d, s->nz) + step * product(p->d, p->d, s->nz) - product(p->x, p->du, s->rows);
}

// Returns a step along d with a derivative of at most a tenth of `first`, the one at zero, or the last of
// SEARCHES trial steps.
static double search(const crPolish* p, double first) {
    double lo = 0.0, hi = -1.0, step = 1.0;
    for (int k = 0; k < SEARCHES; k++) {
        double slope = slope_at(p, step);
        if (fabs(slope) <= 0.1 * fabs(first)) break;
        if (slope < 0.0) {
            lo = step;
        } else {
            hi = step;
        }
        step = hi < 0.0 ? 2.0 * step : 0.5 * (lo + hi);
    }
    return step;
}

// Makes Newton steps until |g| <= tol, at most INNER_STEPS. Returns the number of steps, or -1 if the matrix
// could not be factored.
static int polish_inner(crPolish* p, double tol) {
    crSpace* s = &p->island->space;
    cr__space_velocity(s, p->z, p->u);
    for (int i = 0; i < s->rows; i++) {
        p->u[i] += p->s[i];
    }
    for (int steps = 0;; steps++) {
        polish_nearest(p, 0.0);
        cr__space_gather(s, p->x, p->g);
        for (int j = 0; j < s->nz; j++) {
            p->g[j] = p->z[j] - p->g[j];
        }
        if (steps == INNER_STEPS || sqrt(cr__square(p->g, s->nz)) <= tol) return steps;
        polish_slopes(p);
        if (!cr__space_factor(s, CR_SPARSE_DEFINITE)) return -1;
        for (int j = 0; j < s->nz; j++) {
            p->d[j] = -p->g[j];
        }
        cr__sparse_solve(&s->sparse, p->d);
        cr__space_product(s, p->d, p->du);
        double first = product(p->g, p->d, s->nz);
        if (!(first < 0.0)) return steps;
        double step = search(p, first);
        for (int j = 0; j < s->nz; j++) {
            p->z[j] += step * p->d[j];
        }
        for (int i = 0; i < s->rows; i++) {
            p->u[i] += step * p->du[i];
        }
        memset(p->du, 0, (size_t)s->rows * sizeof *p->du);
    }
}

double cr__island_convex_residual(const crSpace* s, const double* x, const double* u, const double* shift) {
    double sum = 0.0;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        double q[CR_UNIT_ROWS], y[CR_UNIT_ROWS];
        for (int a = 0; a < unit->count; a++) {
            int row = unit->row + a;
            q[a] = x[row] - (u[row] + shift[row]) / s->weight[row];
        }
        cr__relax_nearest(unit, q, y, NULL);
        for (int a = 0; a < unit->count; a++) {
            double r = s->weight[unit->row + a] * (x[unit->row + a] - y[a]) + 0.0 * q[a];
            sum += r * r;
        }
    }
    double r = s->scale > 0.0 ? sqrt(sum) / s->scale : sqrt(sum);
    return isfinite(r) ? r : (double)INFINITY;
}

// Returns the residual of the convex problem at x, and sets the island's z and u to those of x.
static double polish_residual(const crPolish* p, const double* x) {
    crIsland* island = p->island;
    cr__space_gather(&island->space, x, island->z);
    cr__space_velocity(&island->space, island->z, island->u);
    return cr__island_convex_residual(&island->space, x, island->u, p->s);
}

// Returns the largest |s - mu |u_t||, the change of bias for which x is exact up to its residual. The
// island's u is the velocity of x.
static double largest_shift(const crPolish* p) {
    const crSpace* s = &p->island->space;
    double worst = 0.0;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        worst = fmax(worst, fabs(p->s[unit->row] - cr__relax_shift(unit, p->island->u + unit->row)));
    }
    return worst;
}

// Returns the residual to reach: half the target, or a hundredth of the change of bias that the answer needs
// if that is larger; over the island's scale.
static double enough(const crPolish* p) {
    const crIsland* island = p->island;
    double speed = fmax(0.5 * island->target, 0.01 * largest_shift(p));
    return island->space.scale > 0.0 ? speed / island->space.scale : 0.0;
}

crStatus cr__island_polish(crIsland* island, const double* shift, double* x) {
    crSpace* s = &island->space;
    size_t rows = (size_t)s->rows, nz = (size_t)s->nz, mark = cr_arena_mark(island->arena);
    double* mem = cr_arena_alloc(island->arena, (5 * rows + 4 * nz) * sizeof(double));
    if (mem == NULL) return CR_ERR_MEMORY;
    crPolish p = {.island = island, .s = shift, .x0 = mem, .x = mem + rows, .q = mem + 2 * rows};
    p.u = mem + 3 * rows;
    p.du = mem + 4 * rows;
    p.z = mem + 5 * rows;
    p.g = p.z + nz;
    p.d = p.g + nz;
    double* z0 = p.d + nz;
    double r = polish_residual(&p, x), least = r, target = enough(&p);
    int begin = s->factorizations;
    memcpy(p.x0, x, rows * sizeof *x);
    memcpy(z0, island->z, nz * sizeof *z0);
    p.k = START_PENALTY;
    while (r > target && s->factorizations - begin < island->params.polish && p.k >= 1.0) {
        double tol = fmax(INNER_ACCURACY * r * s->scale / sqrt(s->mean), 1e-15 * sqrt(cr__square(z0, s->nz)));
        memcpy(p.z, z0, nz * sizeof *z0);
        memset(p.du, 0, rows * sizeof *p.du);
        int steps = polish_inner(&p, tol);
        double after = steps < 0 ? (double)INFINITY : polish_residual(&p, p.x);
        if (after < least) {
            least = after;
            target = enough(&p);
            memcpy(x, p.x, rows * sizeof *x);
        }
        if (steps >= 0 && steps < INNER_STEPS && after < 1.5 * r) {
            if (steps == 0 && after >= r) break;
            memcpy(p.x0, p.x, rows * sizeof *x);
            memcpy(z0, p.z, nz * sizeof *z0);
            r = after;
            p.k = fmin(MOST_PENALTY, p.k * (steps <= 4 ? 4.0 : steps < 9 ? 1.5 : 0.5));
        } else {
            p.k /= 8.0;
        }
    }
    polish_residual(&p, x);
    island->shift = largest_shift(&p);
    cr_arena_release(island->arena, mark);
    return CR_OK;
}
