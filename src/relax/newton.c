// newton.c - augmented Lagrangian on Coulomb's law with Newton's method inside.
//
// With multipliers x and R = k / weight the inner problem is F(z) = z - H^T law(x - R (H z + c)) = 0;
// Newton's matrix is A(law' R), not symmetric where contacts slip. Steps are shortened until |F| is below the
// largest of the last four. A solved inner problem gives new multipliers; k grows while that is easy and
// falls where it is not. Source: Alart and Curnier 1991, Rockafellar 1976 for the outer loop. Fails: where
// the active set is locally singular no step helps; the best point counts.
#include "stage.h"

#include <string.h>

#define START_PENALTY  30.0
#define CHEAP_PENALTY  300.0  // of islands that are cheap to factor: what fails costs little
#define LEAST_PENALTY  1.0
#define MOST_PENALTY   1e9
#define INNER_STEPS    12
#define HOPELESS       1e3  // |F| over its tolerance
#define SHORTENINGS    8
#define MEMORY         4
#define FAILURES       1  // searches in a row that find no descent
#define INNER_ACCURACY 0.1
#define MOST_PARTS     4
#define LITTLE         1e3  // error over the target from which on it counts as little
#define CHEAP_TIMES    4    // what islands that are cheap to factor get of the budget
#define IDLE           5    // outer steps without effect that end the stage

typedef struct crInner {
    crIsland* island;
    double* mem;     // all vectors below
    double* x0;      // multipliers (rows)
    double* x;       // law(q) (rows)
    double* q;       // x0 - R u (rows)
    double* u;       // H z + c (rows)
    double* du;      // H d (rows)
    double* xt;      // law at a trial point (rows)
    double* qt;      // (rows)
    double* best;    // x of the smallest |F| (rows)
    double* z;       // (nz)
    double* F;       // (nz)
    double* d;       // Newton's step (nz)
    double* Ft;      // F at a trial point (nz)
    double* best_z;  // (nz)
    double k;        // penalty times weight
} crInner;

static crStatus inner_create(crInner* in, crIsland* island) {
    size_t rows = (size_t)island->space.rows, nz = (size_t)island->space.nz;
    *in = (crInner){.island = island};
    in->mem = cr_arena_alloc(island->arena, (8 * rows + 5 * nz) * sizeof(double));
    if (in->mem == NULL) return CR_ERR_MEMORY;
    double** by_rows[] = {&in->x0, &in->x, &in->q, &in->u, &in->du, &in->xt, &in->qt, &in->best};
    double** by_nz[] = {&in->z, &in->F, &in->d, &in->Ft, &in->best_z};
    double* at = in->mem;
    for (size_t k = 0; k < 8; k++) {
        *by_rows[k] = at;
        at += rows;
    }
    for (size_t k = 0; k < 5; k++) {
        *by_nz[k] = at;
        at += nz;
    }
    return CR_OK;
}

// x, q and F at z + step d; returns |F|
static double evaluate(const crInner* in, double step, double* q, double* x, double* F) {
    const crSpace* s = &in->island->space;
    for (int i = 0; i < s->rows; i++) {
        q[i] = in->x0[i] - in->k / s->weight[i] * (in->u[i] + step * in->du[i]);
    }
    for (int i = 0; i < s->units; i++) {
        cr__relax_law(&s->unit[i], q + s->unit[i].row, x + s->unit[i].row, NULL);
    }
    cr__space_gather(s, x, F);
    for (int j = 0; j < s->nz; j++) {
        F[j] = in->z[j] + step * in->d[j] - F[j];
    }
    return sqrt(cr__square(F, s->nz));
}

// G = law'(q) R
static void fill_slopes(const crInner* in) {
    crSpace* s = &in->island->space;
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        double *G = s->G + unit->square, x[CR_RELAX_ROWS];
        cr__relax_law(unit, in->q + unit->row, x, G);
        for (int a = 0; a < unit->count; a++) {
            for (int b = 0; b < unit->count; b++) {
                G[a * unit->count + b] *= in->k / s->weight[unit->row + b];
            }
        }
    }
}

static void swap(double** a, double** b) {
    double* t = *a;
    *a = *b;
    *b = t;
}

// Newton steps from in->z to |F| <= tol; the point with the smallest |F| is left in best and best_z. Returns
// the steps made and that |F|.
static int inner_solve(crInner* in, double tol, int most, double* reached) {
    crSpace* s = &in->island->space;
    double past[MEMORY];
    int steps = 0, failures = 0;
    memset(in->d, 0, (size_t)s->nz * sizeof *in->d);
    memset(in->du, 0, (size_t)s->rows * sizeof *in->du);
    cr__space_velocity(s, in->z, in->u);
    double size = evaluate(in, 0.0, in->q, in->x, in->F), best = (double)INFINITY;
    for (;;) {
        past[steps % MEMORY] = size;
        if (size < best) {
            best = size;
            memcpy(in->best, in->x, (size_t)s->rows * sizeof *in->x);
            memcpy(in->best_z, in->z, (size_t)s->nz * sizeof *in->z);
        }
        if (steps == most || !(size > tol)) break;
        // far from the end at halfway: the penalty is too large
        if (2 * steps >= most && best > HOPELESS * tol) break;
        fill_slopes(in);
        if (!cr__space_factor(s, CR_SPARSE_GENERAL)) break;
        for (int j = 0; j < s->nz; j++) {
            in->d[j] = -in->F[j];
        }
        cr__sparse_solve(&s->sparse, in->d);
        cr__space_product(s, in->d, in->du);
        double level = 0.0, step = 1.0, least = (double)INFINITY, chosen = 1.0;
        bool descends = false;
        for (int k = 0; k <= steps && k < MEMORY; k++) {
            level = fmax(level, past[(steps - k) % MEMORY]);
        }
        for (int k = 0; k < SHORTENINGS; k++, step *= 0.5) {
            double trial = evaluate(in, step, in->qt, in->xt, in->Ft);
            if (trial < least) {
                least = trial;
                chosen = step;
            }
            descends = trial <= (1.0 - 0.05 * step) * level;
            if (descends) break;
        }
        failures = descends ? 0 : failures + 1;
        if (!(least < (double)INFINITY) || failures > FAILURES) break;
        size = evaluate(in, chosen, in->qt, in->xt, in->Ft);
        swap(&in->q, &in->qt);
        swap(&in->x, &in->xt);
        swap(&in->F, &in->Ft);
        for (int j = 0; j < s->nz; j++) {
            in->z[j] += chosen * in->d[j];
        }
        for (int i = 0; i < s->rows; i++) {
            in->u[i] += chosen * in->du[i];
        }
        steps++;
    }
    *reached = best;
    return steps;
}

// Whether the budget allows another inner problem. It grows while each part of it makes the error a tenth, or half of it
// where little is left to do.
static bool may_go_on(const crIsland* island, int used, int budget, int* parts, double* level) {
    if (used < *parts * budget) return true;
    double share = island->error <= LITTLE * island->target ? 0.5 : 0.1;
    if (*parts == MOST_PARTS || island->error > share * *level) return false;
    *level = island->error;
    (*parts)++;
    return true;
}

// By how much the penalty changes after an inner problem of so many steps; failed: one failed before. A penalty that is
// too large costs factorizations: it grows fast only where these are cheap.
static double growth(int steps, bool failed, bool cheap) {
    if (steps <= 1 && !failed && cheap) return 30.0;
    if (steps <= 3) return failed ? 2.5 : 5.0;
    return steps <= 6 ? 2.0 : steps > 9 ? 0.5 : 1.0;
}

// Outer loop from the multipliers in in->x0, whose residual is r and whose H^T x0 is z.
static void outer(crInner* in, double r, double* z) {
    crIsland* island = in->island;
    crSpace* s = &island->space;
    int begin = s->factorizations, parts = 1, idle = 0, row = 0;
    int budget = island->params.newton * (island->cheap ? CHEAP_TIMES : 1);
    double rounding = 1e-15 * sqrt(cr__square(z, s->nz)), level = island->error, cap = MOST_PENALTY;
    in->k = island->cheap ? CHEAP_PENALTY : START_PENALTY;
    while (!cr__island_solved(island) &&
           may_go_on(island, s->factorizations - begin, budget, &parts, &level)) {
        double tol = fmax(INNER_ACCURACY * r * s->scale / sqrt(s->mean), rounding), reached;
        memcpy(in->z, z, (size_t)s->nz * sizeof *z);
        int steps = inner_solve(in, tol, INNER_STEPS, &reached);
        double after = cr__island_offer(island, in->best, CR_RELAX_NEWTON);
        if (reached <= tol && after <= 2.0 * r) {
            memcpy(in->x0, in->best, (size_t)s->rows * sizeof *in->x0);
            memcpy(z, in->best_z, (size_t)s->nz * sizeof *z);
            r = after;
            // a penalty that failed is not tried again soon
            if (++row % 4 == 0) cap = fmin(2.0 * cap, MOST_PENALTY);
            in->k = fmin(in->k * growth(steps, cap < MOST_PENALTY, island->cheap), cap);
            // multipliers that stand still gain nothing
            if (steps == 0 && ++idle > IDLE) break;
        } else {
            cap = fmax(0.5 * in->k, LEAST_PENALTY);
            row = 0;
            if (in->k <= LEAST_PENALTY && ++idle > IDLE) break;
            in->k = fmax(in->k / 6.0, LEAST_PENALTY);
        }
    }
}

crStatus cr__island_newton(crIsland* island, const double* start) {
    crSpace* s = &island->space;
    size_t mark = cr_arena_mark(island->arena);
    crInner in;
    crStatus status = inner_create(&in, island);
    double* z0 = cr_arena_alloc(island->arena, (size_t)s->nz * sizeof(double));
    if (status == CR_OK && z0 == NULL) status = CR_ERR_MEMORY;
    if (status == CR_OK) {
        memcpy(in.x0, start, (size_t)s->rows * sizeof *start);
        double r = cr__island_offer(island, start, island->stage);
        memcpy(z0, island->z, (size_t)s->nz * sizeof *z0);
        outer(&in, r, z0);
    }
    cr_arena_release(island->arena, mark);
    return status;
}
