// interior.c - the convex stage: an interior point method for the convex problem, then its polish.
//
// The shift s = mu |u_t| is fixed at its value in the starting point. With z = H^T x and
// y = H z + c + s, the conditions x in the cone K, y in its dual, x.y = 0 are then a convex problem.
// Source: Mehrotra's predictor and corrector in Nesterov and Todd's scaling.
//
// Impulses and velocities of a cone are scaled by diag(mu, 1, 1) and diag(1, mu, mu) to the same symmetric
// cone. A step factors A(G), G from the scaling. Equalities are rows of large fixed G whose impulses are
// multipliers; boxes have one multiplier for each bound. The polished answer satisfies Coulomb's law exactly
// for the bias b + s - mu |u_t|.
// Fails: the stage does nothing if a unit is not plain (polygon, spin, rolling, unlimited friction); the
// method ends if its steps become too short. CR_ERR_MEMORY.
#include "stage.h"

#include <string.h>

#define START_SHIFT  1e-2   // distance of the start from the boundary of the cones, over the mean speed
#define ACCURACY     1e-6   // residual that ends the method
#define EQUALITY     1e6    // G of an equality row, in units of 1 / weight
#define TO_BOUNDARY  0.995  // share of the largest step inside the cones that is taken
#define LEAST_STEP   1e-3   // share of a full step below which the method ends
#define LEAST_CENTRE 1e-5   // least target of the products x.y in the corrector, over their mean

typedef enum crBarrierKind {
    BARRIER_FREE,   // equality: y = 0
    BARRIER_FIXED,  // box of width zero: impulses do not change
    BARRIER_HALF,   // x >= 0, y >= 0 on the first row; other rows fixed
    BARRIER_BOX,    // lo <= x <= hi
    BARRIER_CONE,   // Coulomb's cone of a limit above zero
} crBarrierKind;

typedef struct crBarrier {
    crIsland* island;
    const double* s;  // shifts of the normal velocities, zero on other rows (rows)
    double speed;     // mean speed
    double *x, *y,
        *y2;  // impulses, velocities (both scaled on cones), multipliers of upper bounds of boxes (rows)
    double *dx, *dy, *dy2;  // steps of x, y, y2 (rows)
    double* r;              // residual of y = H z + c + s (rows)
    double* k;              // constant part of dx (rows)
    double* rc;             // wanted change of x o y (rows)
    double* rc2;            // wanted change of the products of upper bounds (rows)
    double* lambda;         // point of a cone in Nesterov and Todd's scaling, V x = inverse(V) y (rows)
    double *V, *Vi;         // scaling of each cone and its inverse (squares)
    double *z, *dz, *rd;    // z, its step, and the residual z - H^T x (nz)
    double* t;              // work (rows)
    double mean;            // mean of x.y over pairs, in units of speed^2 / weight
    int pairs;              // complementary pairs x.y: one per cone, half line and bound
} crBarrier;

static crBarrierKind barrier_kind(const crUnit* unit) {
    if (unit->kind == CR_BLOCK_EQUALITY) return BARRIER_FREE;
    if (unit->kind == CR_BLOCK_UNILATERAL) return BARRIER_HALF;
    if (unit->kind == CR_BLOCK_CONE) return unit->part[0].limit > 0.0 ? BARRIER_CONE : BARRIER_HALF;
    if (isinf(unit->lo) && isinf(unit->hi)) return BARRIER_FREE;
    return unit->lo < unit->hi ? BARRIER_BOX : BARRIER_FIXED;
}

// |a_1|, n: 2 or 3
static double tail(const double* a, int n) { return n == 2 ? fabs(a[1]) : sqrt(a[1] * a[1] + a[2] * a[2]); }

// Returns a_0^2 - |a_1|^2, at least 1e-300.
static double determinant(const double* a, int n) {
    double t = tail(a, n), d = (a[0] - t) * (a[0] + t);
    return d > 1e-300 ? d : 1e-300;
}

static double inner_product(const double* a, const double* b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// c = a o b
static void jordan(const double* a, const double* b, int n, double* c) {
    double first = inner_product(a, b, n);
    for (int i = 1; i < n; i++) {
        c[i] = a[0] * b[i] + b[0] * a[i];
    }
    c[0] = first;
}

// Solves a o x = b.
static void jordan_solve(const double* a, const double* b, int n, double* x) {
    double rest = inner_product(a + 1, b + 1, n - 1);
    double first = (a[0] * b[0] - rest) / determinant(a, n);
    for (int i = 1; i < n; i++) {
        x[i] = (b[i] - a[i] * first) / a[0];
    }
    x[0] = first;
}

// y = A x
static void times(const double* A, const double* x, int n, double* y) {
    for (int i = 0; i < n; i++) {
        y[i] = inner_product(A + i * n, x, n);
    }
}

// Sets V and Vi to Nesterov and Todd's scaling and its inverse: V x = inverse(V) y.
static void scaling(const double* y, const double* x, int n, double* V, double* Vi) {
    double dy = determinant(y, n), dx = determinant(x, n), ry = 1.0 / sqrt(dy), rx = 1.0 / sqrt(dx), w[3];
    double g = sqrt(0.5 * (1.0 + inner_product(x, y, n) * rx * ry)), root = sqrt(sqrt(dy / dx));
    w[0] = (y[0] * ry + x[0] * rx) / (2.0 * g);
    for (int i = 1; i < n; i++) {
        w[i] = (y[i] * ry - x[i] * rx) / (2.0 * g);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double v = i == 0 ? w[j] : j == 0 ? w[i] : w[i] * w[j] / (1.0 + w[0]) + (i == j ? 1.0 : 0.0);
            double sign = (i == 0) != (j == 0) ? -1.0 : 1.0;
            V[i * n + j] = root * v;
            Vi[i * n + j] = sign * v / root;
        }
    }
}

// Returns the largest step that keeps x + step d in the symmetric cone.
static double cone_step(const double* x, const double* d, int n) {
    double a = d[0] * d[0] - inner_product(d + 1, d + 1, n - 1);
    double b = x[0] * d[0] - inner_product(x + 1, d + 1, n - 1), c = determinant(x, n);
    double disc = b * b - a * c, best = (double)INFINITY;
    if (disc < 0.0) return best;
    double q = b >= 0.0 ? -(b + sqrt(disc)) : -b + sqrt(disc);
    double roots[2] = {a != 0.0 ? q / a : 0.0, q != 0.0 ? c / q : 0.0};
    for (int i = 0; i < 2; i++) {
        if (roots[i] > 0.0 && roots[i] < best) best = roots[i];
    }
    return best;
}

// Returns the largest step that keeps x + step d >= 0.
static double row_step(double x, double d) { return d < 0.0 ? -x / d : (double)INFINITY; }

// Returns the largest step that keeps all units in their cones and ranges.
static double largest_step(const crBarrier* b) {
    const crSpace* s = &b->island->space;
    double step = (double)INFINITY;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        int row = unit->row, n = unit->count;
        crBarrierKind kind = barrier_kind(unit);
        if (kind == BARRIER_CONE) {
            step = fmin(step, cone_step(b->x + row, b->dx + row, n));
            step = fmin(step, cone_step(b->y + row, b->dy + row, n));
        } else if (kind == BARRIER_HALF) {
            step = fmin(step, fmin(row_step(b->x[row], b->dx[row]), row_step(b->y[row], b->dy[row])));
        } else if (kind == BARRIER_BOX) {
            if (isfinite(unit->lo)) {
                step = fmin(step, row_step(b->x[row] - unit->lo, b->dx[row]));
                step = fmin(step, row_step(b->y[row], b->dy[row]));
            }
            if (isfinite(unit->hi)) {
                step = fmin(step, row_step(unit->hi - b->x[row], -b->dx[row]));
                step = fmin(step, row_step(b->y2[row], b->dy2[row]));
            }
        }
    }
    return step;
}

// Factors on row a of a cone: diag(mu, 1, 1) on impulses, diag(1, mu, mu) on velocities.
static double scale_x(const crUnit* unit, int a) { return a == 0 ? unit->part[0].limit : 1.0; }
static double scale_y(const crUnit* unit, int a) { return a == 0 ? 1.0 : unit->part[0].limit; }

// Sets x, y, y2 and z to a start inside all cones, close to impulses x.
static void barrier_start(crBarrier* b, const double* x) {
    const crSpace* s = &b->island->space;
    cr__space_gather(s, x, b->z);
    cr__space_velocity(s, b->z, b->t);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        int row = unit->row, n = unit->count;
        double push = START_SHIFT * b->speed / s->weight[row], speed = START_SHIFT * b->speed;
        crBarrierKind kind = barrier_kind(unit);
        for (int a = 0; a < n; a++) {
            b->x[row + a] = x[row + a];
            b->y[row + a] = b->y2[row + a] = 0.0;
            if (kind == BARRIER_CONE) {
                b->x[row + a] *= scale_x(unit, a);
                b->y[row + a] = scale_y(unit, a) * (b->t[row + a] + b->s[row + a]);
            }
        }
        if (kind == BARRIER_CONE) {
            b->x[row] = fmax(b->x[row], tail(b->x + row, n)) + push * unit->part[0].limit;
            b->y[row] = fmax(b->y[row], tail(b->y + row, n)) + speed;
            b->pairs++;
        } else if (kind == BARRIER_HALF) {
            for (int a = 1; a < n; a++) {
                b->x[row + a] = 0.0;
            }
            b->x[row] = fmax(b->x[row], 0.0) + push;
            b->y[row] = fmax(b->t[row] + b->s[row], 0.0) + speed;
            b->pairs++;
        } else if (kind == BARRIER_BOX) {
            double margin = fmin(push, 0.1 * (unit->hi - unit->lo));
            b->x[row] = fmin(unit->hi - margin, fmax(unit->lo + margin, b->x[row]));
            b->pairs += isfinite(unit->lo) + isfinite(unit->hi);
            if (isfinite(unit->lo)) b->y[row] = fmax(b->t[row], 0.0) + speed;
            if (isfinite(unit->hi)) b->y2[row] = fmax(-b->t[row], 0.0) + speed;
        }
    }
}

// Sets x to the unscaled impulses of the current point, moved to the nearest points of their cones.
static void plain_impulses(const crBarrier* b, double* x) {
    const crSpace* s = &b->island->space;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        double q[CR_UNIT_ROWS];
        for (int a = 0; a < unit->count; a++) {
            q[a] = b->x[unit->row + a];
            if (barrier_kind(unit) == BARRIER_CONE) q[a] /= scale_x(unit, a);
        }
        cr__relax_nearest(unit, q, x + unit->row, NULL);
    }
}

// Sets mean, r, rd, V, Vi, lambda and G from the current point.
static void barrier_point(crBarrier* b) {
    crSpace* s = &b->island->space;
    double total = 0.0, unit_energy = b->speed * b->speed;
    for (int i = 0; i < s->rows; i++) {
        b->t[i] = b->x[i];
    }
    memset(s->G, 0, s->squares * sizeof *s->G);
    cr__space_velocity(s, b->z, b->r);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        int row = unit->row, n = unit->count;
        crBarrierKind kind = barrier_kind(unit);
        double *G = s->G + unit->square, w = s->weight[row], *x = b->x + row, *y = b->y + row;
        for (int a = 0; a < n; a++) {
            b->r[row + a] += b->s[row + a];
        }
        if (kind == BARRIER_CONE) {
            double mu = unit->part[0].limit, *V = b->V + unit->square, *Vi = b->Vi + unit->square;
            total += inner_product(x, y, n) * w / mu;
            scaling(y, x, n, V, Vi);
            times(Vi, y, n, b->lambda + row);
            for (int a = 0; a < n; a++) {
                b->t[row + a] = x[a] / scale_x(unit, a);
                b->r[row + a] -= y[a] / scale_y(unit, a);
                for (int c = 0; c < n; c++) {
                    // row c of Vi is also its column c
                    G[a * n + c] =
                        inner_product(Vi + a * n, Vi + c * n, n) * scale_y(unit, c) / scale_x(unit, a);
                }
            }
        } else if (kind == BARRIER_HALF) {
            total += x[0] * y[0] * w;
            G[0] = x[0] / y[0];
            b->r[row] -= y[0];
            for (int a = 1; a < n; a++) {
                b->r[row + a] = 0.0;
            }
        } else if (kind == BARRIER_BOX) {
            double stiff = 0.0;
            if (isfinite(unit->lo)) stiff += y[0] / (x[0] - unit->lo);
            if (isfinite(unit->hi)) stiff += b->y2[row] / (unit->hi - x[0]);
            if (isfinite(unit->lo)) total += y[0] * (x[0] - unit->lo) * w;
            if (isfinite(unit->hi)) total += b->y2[row] * (unit->hi - x[0]) * w;
            G[0] = 1.0 / stiff;
            b->r[row] -= y[0] - b->y2[row];
        } else if (kind == BARRIER_FREE) {
            G[0] = EQUALITY / w;
        } else {
            b->r[row] = 0.0;
        }
    }
    b->mean = b->pairs > 0 ? total / (b->pairs * unit_energy) : 0.0;
    cr__space_gather(s, b->t, b->rd);
    for (int j = 0; j < s->nz; j++) {
        b->rd[j] = b->z[j] - b->rd[j];
    }
}

// Sets rc and rc2, the wanted changes of the products: centre * mean - x o y, and for centre > 0 minus dx o
// dy, the second order term of the predictor step in dx and dy.
static void barrier_wanted(crBarrier* b, double centre) {
    const crSpace* s = &b->island->space;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        int row = unit->row, n = unit->count;
        double aim = centre * b->mean * b->speed * b->speed / s->weight[row];
        crBarrierKind kind = barrier_kind(unit);
        if (kind == BARRIER_CONE) {
            double ll[3], sx[3], sy[3], corrector[3] = {0.0, 0.0, 0.0};
            jordan(b->lambda + row, b->lambda + row, n, ll);
            if (centre > 0.0) {
                times(b->Vi + unit->square, b->dy + row, n, sy);
                times(b->V + unit->square, b->dx + row, n, sx);
                jordan(sy, sx, n, corrector);
            }
            for (int a = 0; a < n; a++) {
                b->rc[row + a] = (a == 0 ? aim * unit->part[0].limit : 0.0) - ll[a] - corrector[a];
            }
        } else if (kind == BARRIER_HALF) {
            b->rc[row] = aim - b->x[row] * b->y[row] - (centre > 0.0 ? b->dx[row] * b->dy[row] : 0.0);
        } else if (kind == BARRIER_BOX) {
            double lo = b->x[row] - unit->lo, hi = unit->hi - b->x[row];
            b->rc[row] = aim - b->y[row] * lo - (centre > 0.0 ? b->dx[row] * b->dy[row] : 0.0);
            b->rc2[row] = aim - b->y2[row] * hi + (centre > 0.0 ? b->dx[row] * b->dy2[row] : 0.0);
        }
    }
}

// Sets k, the part of dx that does not depend on dy.
static void constant_part(crBarrier* b) {
    const crSpace* s = &b->island->space;
    memset(b->k, 0, (size_t)s->rows * sizeof *b->k);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        int row = unit->row, n = unit->count;
        crBarrierKind kind = barrier_kind(unit);
        if (kind == BARRIER_CONE) {
            double quotient[3];
            jordan_solve(b->lambda + row, b->rc + row, n, quotient);
            times(b->Vi + unit->square, quotient, n, b->k + row);
            for (int a = 0; a < n; a++) {
                b->k[row + a] /= scale_x(unit, a);
            }
        } else if (kind == BARRIER_HALF) {
            b->k[row] = b->rc[row] / b->y[row];
        } else if (kind == BARRIER_BOX) {
            double sum = 0.0;
            if (isfinite(unit->lo)) sum += b->rc[row] / (b->x[row] - unit->lo);
            if (isfinite(unit->hi)) sum -= b->rc2[row] / (unit->hi - b->x[row]);
            b->k[row] = s->G[unit->square] * sum;
        }
    }
}

// Sets dz, dx, dy and dy2 by the factors of A(G).
static void barrier_direction(crBarrier* b) {
    crSpace* s = &b->island->space;
    constant_part(b);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        double product[CR_UNIT_ROWS];
        times(s->G + unit->square, b->r + unit->row, unit->count, product);
        for (int a = 0; a < unit->count; a++) {
            b->t[unit->row + a] = b->k[unit->row + a] - product[a];
        }
    }
    cr__space_gather(s, b->t, b->dz);
    for (int j = 0; j < s->nz; j++) {
        b->dz[j] -= b->rd[j];
    }
    cr__sparse_solve(&s->sparse, b->dz);
    cr__space_product(s, b->dz, b->t);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        int row = unit->row, n = unit->count;
        crBarrierKind kind = barrier_kind(unit);
        double dv[CR_UNIT_ROWS], product[CR_UNIT_ROWS];
        for (int a = 0; a < n; a++) {
            dv[a] = b->t[row + a] + b->r[row + a];
        }
        times(s->G + unit->square, dv, n, product);
        for (int a = 0; a < n; a++) {
            double change = b->k[row + a] - product[a];
            bool cone = kind == BARRIER_CONE;
            b->dx[row + a] = cone ? change * scale_x(unit, a) : change;
            b->dy[row + a] = cone ? dv[a] * scale_y(unit, a) : dv[a];
        }
        if (kind == BARRIER_BOX) {
            double dx = b->dx[row], lo = b->x[row] - unit->lo, hi = unit->hi - b->x[row];
            b->dy[row] = isfinite(lo) ? (b->rc[row] - b->y[row] * dx) / lo : 0.0;
            b->dy2[row] = isfinite(hi) ? (b->rc2[row] + b->y2[row] * dx) / hi : 0.0;
        } else if (kind == BARRIER_FREE || kind == BARRIER_FIXED) {
            b->dy[row] = 0.0;
        } else if (kind == BARRIER_HALF) {
            for (int a = 1; a < n; a++) {
                b->dx[row + a] = b->dy[row + a] = 0.0;
            }
        }
    }
}

static void barrier_move(crBarrier* b, double step) {
    const crSpace* s = &b->island->space;
    for (int i = 0; i < s->rows; i++) {
        b->x[i] += step * b->dx[i];
        b->y[i] += step * b->dy[i];
        b->y2[i] += step * b->dy2[i];
    }
    for (int j = 0; j < s->nz; j++) {
        b->z[j] += step * b->dz[j];
    }
}

static crStatus barrier_create(crBarrier* b, crIsland* island) {
    const crSpace* s = &island->space;
    size_t rows = (size_t)s->rows, nz = (size_t)s->nz;
    double** by_rows[] = {&b->x, &b->y, &b->y2, &b->dx,  &b->dy,     &b->dy2,
                          &b->r, &b->k, &b->rc, &b->rc2, &b->lambda, &b->t};
    double* at = cr_arena_alloc(island->arena, (12 * rows + 3 * nz + 2 * s->squares) * sizeof(double));
    if (at == NULL) return CR_ERR_MEMORY;
    memset(at, 0, (12 * rows + 3 * nz + 2 * s->squares) * sizeof(double));
    for (size_t k = 0; k < 12; k++) {
        *by_rows[k] = at;
        at += rows;
    }
    b->z = at;
    b->dz = b->z + nz;
    b->rd = b->dz + nz;
    b->V = b->rd + nz;
    b->Vi = b->V + s->squares;
    return CR_OK;
}

// Runs the interior point method from the impulses in `best`, and sets `best` to the point with the smallest
// residual.
static void barrier_run(crBarrier* b, double* best) {
    crIsland* island = b->island;
    crSpace* s = &island->space;
    double least = (double)INFINITY;
    barrier_start(b, best);
    for (int k = 0; k < island->params.interior; k++) {
        plain_impulses(b, b->t);
        cr__space_gather(s, b->t, island->z);
        cr__space_velocity(s, island->z, island->u);
        double r = cr__island_convex_residual(s, b->t, island->u, b->s);
        if (r < least) {
            least = r;
            memcpy(best, b->t, (size_t)s->rows * sizeof *best);
        }
        if (!(r > ACCURACY) || !isfinite(r)) break;
        barrier_point(b);
        if (!cr__space_factor(s, CR_SPARSE_DEFINITE)) break;
        barrier_wanted(b, 0.0);
        barrier_direction(b);
        double rest = 1.0 - fmin(1.0, largest_step(b));
        barrier_wanted(b, fmax(rest * rest * rest, LEAST_CENTRE));
        barrier_direction(b);
        double step = fmin(1.0, TO_BOUNDARY * largest_step(b));
        if (!(step > LEAST_STEP)) break;
        barrier_move(b, step);
    }
}

crStatus cr__island_convex(crIsland* island, const double* start) {
    crSpace* s = &island->space;
    if (!s->plain) return CR_OK;
    size_t rows = (size_t)s->rows, mark = cr_arena_mark(island->arena);
    crBarrier b = {.island = island, .speed = s->scale / sqrt((double)s->units)};
    double* shift = cr_arena_alloc(island->arena, rows * sizeof(double));
    double* x = cr_arena_alloc(island->arena, rows * sizeof(double));
    crStatus status = shift != NULL && x != NULL ? barrier_create(&b, island) : CR_ERR_MEMORY;
    if (status == CR_OK) {
        memcpy(x, start, rows * sizeof *x);
        memset(shift, 0, rows * sizeof *shift);
        cr__space_gather(s, x, island->z);
        cr__space_velocity(s, island->z, island->u);
        for (int i = 0; i < s->units; i++) {
            shift[s->unit[i].row] = cr__relax_shift(&s->unit[i], island->u + s->unit[i].row);
        }
        b.s = shift;
        barrier_run(&b, x);
        status = cr__island_polish(island, shift, x);
    }
    if (status == CR_OK) cr__island_offer(island, x, CR_RELAX_CONVEX);
    cr_arena_release(island->arena, mark);
    return status;
}
