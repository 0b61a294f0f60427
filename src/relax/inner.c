// inner.c - solves F(z) = 0 of inner.h by Newton's method with a nonmonotone line search.
//
// Source: Alart and Curnier 1991; Grippo, Lampariello and Lucidi 1986 for the search.
// Fails: CR_ERR_MEMORY. If the active set is locally singular, no step reduces |F|; the smallest |F| is
// returned.
#include "inner.h"

#include <string.h>

#define HOPELESS    1e3  // limit of |F| after half of the steps, times the tolerance
#define SHORTENINGS 8    // most step lengths tried per search
#define MEMORY      4    // latest values of |F|; a step must stay below their largest
#define FAILURES    1    // searches in a row without descent that are allowed

crStatus cr__inner_create(crInner* in, crIsland* island) {
    size_t rows = (size_t)island->space.rows, nz = (size_t)island->space.nz;
    *in = (crInner){.island = island};
    if (!CR_ROOMS(island->arena, CR_ROOM(in->x0, rows), CR_ROOM(in->x, rows), CR_ROOM(in->q, rows),
                  CR_ROOM(in->u, rows), CR_ROOM(in->du, rows), CR_ROOM(in->xt, rows), CR_ROOM(in->qt, rows),
                  CR_ROOM(in->best, rows), CR_ROOM(in->R, rows), CR_ROOM(in->z, nz), CR_ROOM(in->F, nz),
                  CR_ROOM(in->d, nz), CR_ROOM(in->Ft, nz), CR_ROOM(in->best_z, nz)))
        return CR_ERR_MEMORY;
    memcpy(in->x0, island->best, rows * sizeof *in->x0);
    return CR_OK;
}

void cr__inner_penalty(const crInner* in, double k) {
    const crSpace* s = &in->island->space;
    for (int i = 0; i < s->rows; i++) {
        in->R[i] = k / s->weight[i];
    }
}

// Computes x, q and F at z + step d; returns |F|.
static double evaluate(const crInner* in, double step, double* q, double* x, double* F) {
    const crSpace* s = &in->island->space;
    for (int i = 0; i < s->rows; i++) {
        q[i] = in->x0[i] - in->R[i] * (in->u[i] + step * in->du[i]);
    }
    for (int i = 0; i < s->units; i++) {
        int row = s->unit[i].row;
        cr__space_law(s, &in->soft, &s->unit[i], in->R + row, q + row, x + row, NULL);
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
        const crUnit* unit = &s->unit[i];
        double *G = s->G + unit->square, x[CR_UNIT_ROWS];
        cr__space_law(s, &in->soft, unit, in->R + unit->row, in->q + unit->row, x, G);
        for (int a = 0; a < unit->count; a++) {
            for (int b = 0; b < unit->count; b++) {
                G[a * unit->count + b] *= in->R[unit->row + b];
            }
        }
    }
}

static void swap(double** a, double** b) {
    double* t = *a;
    *a = *b;
    *b = t;
}

// Halves the step along d until |F| is below the largest of its latest values; sets *descends if it is.
// Returns the step with the smallest |F| of those tried, 0 if none is finite.
static double search(const crInner* in, const double* past, int steps, bool* descends) {
    double level = 0.0, least = (double)INFINITY, chosen = 0.0, step = 1.0;
    for (int k = 0; k <= steps && k < MEMORY; k++) {
        level = fmax(level, past[(steps - k) % MEMORY]);
    }
    *descends = false;
    for (int k = 0; k < SHORTENINGS && !*descends; k++) {
        double trial = evaluate(in, step, in->qt, in->xt, in->Ft);
        if (trial < least) {
            least = trial;
            chosen = step;
        }
        *descends = trial <= (1.0 - 0.05 * step) * level;
        step *= 0.5;
    }
    return chosen;
}

// Moves by a step along d; returns |F| there.
static double advance(crInner* in, double step) {
    double size = evaluate(in, step, in->qt, in->xt, in->Ft);
    swap(&in->q, &in->qt);
    swap(&in->x, &in->xt);
    swap(&in->F, &in->Ft);
    for (int j = 0; j < in->island->space.nz; j++) {
        in->z[j] += step * in->d[j];
    }
    for (int i = 0; i < in->island->space.rows; i++) {
        in->u[i] += step * in->du[i];
    }
    return size;
}

int cr__inner_solve(crInner* in, double tol, int most, double* reached) {
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
        // a large |F| after half of the steps: the penalty is too large
        if (2 * steps >= most && best > HOPELESS * tol) break;
        fill_slopes(in);
        if (!cr__space_factor(s, CR_SPARSE_GENERAL)) break;
        for (int j = 0; j < s->nz; j++) {
            in->d[j] = -in->F[j];
        }
        cr__sparse_solve(&s->sparse, in->d);
        cr__space_product(s, in->d, in->du);
        bool descends;
        double step = search(in, past, steps, &descends);
        failures = descends ? 0 : failures + 1;
        if (step == 0.0 || failures > FAILURES) break;
        size = advance(in, step);
        steps++;
    }
    *reached = best;
    return steps;
}
