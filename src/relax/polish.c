// polish.c - the convex problem to full accuracy: augmented Lagrangian, Newton's method with exact line
// search.
//
// With the slip shift s added to the normal velocities, impulses minimize |H^T x|^2/2 + (c + s).x over the
// cones. With multipliers x the inner problem, |z|^2/2 + |nearest(x - R (H z + c + s))|^2/(2 R) least over z, is
// smooth and convex and Newton's matrix A(nearest' R) definite, so every step descends. Source: Rockafellar
// 1976, Sun, Sun and Qi 2004.
// Fails: stops where steps no longer help; the residual says how far it came.
#include "stage.h"

#include <string.h>

#define START_PENALTY  1e4
#define MOST_PENALTY   1e8
#define INNER_STEPS    20
#define SEARCHES       40
#define INNER_ACCURACY 0.03

typedef struct crPolish {
    crIsland* island;
    const double* s;
    double* x0;  // multipliers (rows)
    double* x;   // nearest(q) (rows)
    double* q;   // x0 - R (u + s) (rows)
    double* u;   // H z + c + s (rows)
    double* du;  // H d (rows)
    double* z;   // (nz)
    double* g;   // gradient z - H^T x (nz)
    double* d;   // step (nz)
    double k;    // penalty times weight
} crPolish;

static void polish_nearest(const crPolish* p, double step) {
    const crSpace* s = &p->island->space;
    for (int i = 0; i < s->rows; i++) {
        p->q[i] = p->x0[i] - p->k / s->weight[i] * (p->u[i] + step * p->du[i]);
    }
    for (int i = 0; i < s->units; i++) {
        cr__relax_nearest(&s->unit[i], p->q + s->unit[i].row, p->x + s->unit[i].row, NULL);
    }
}

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

// Derivative of the inner objective along d at z + step d.
static double slope_at(const crPolish* p, double step) {
    const crSpace* s = &p->island->space;
    polish_nearest(p, step);
    return product(p->z, p->d, s->nz) + step * product(p->d, p->d, s->nz) - product(p->x, p->du, s->rows);
}

// A step along d where the derivative is a tenth of that at zero.
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

// Newton steps to |g| <= tol; returns how many, -1 if the matrix could not be factored.
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

static double polish_residual(const crPolish* p, const double* x) {
    crIsland* island = p->island;
    cr__space_gather(&island->space, x, island->z);
    cr__space_velocity(&island->space, island->z, island->u);
    return cr__island_convex_residual(&island->space, x, island->u, p->s);
}

// Largest change of bias for which x is exact but for its residual: |s - mu |u_t||; u belongs to x.
static double largest_shift(const crPolish* p) {
    const crSpace* s = &p->island->space;
    double worst = 0.0;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        worst = fmax(worst, fabs(p->s[unit->row] - cr__relax_shift(unit, p->island->u + unit->row)));
    }
    return worst;
}

// Residual that is small beside the target, or beside the change of bias that the answer needs anyway.
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
