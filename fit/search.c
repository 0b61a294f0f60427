// search.c - Nelder and Mead's simplex in the unit cube, begun again from its result until that no longer
// helps; points outside are moved to the nearest face. Starts are Halton's sequence.
//
// Losses here are means of norms over collisions that switch between stick and slip: continuous, with kinks.
// Source: Nelder and Mead 1965. Fails: may end in a local minimum, hence several starts.
#include "fit/search.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct Vertex {
    double x[CR_SEARCH_DIM];
    double f;
} Vertex;

static void evaluate(crSearch* s, Vertex* v) {
    for (int i = 0; i < s->dim; i++) {
        v->x[i] = fmin(1.0, fmax(0.0, v->x[i]));
    }
    v->f = s->loss(s->ctx, v->x);
    s->used++;
}

// centre + t (worst - centre)
static Vertex along(crSearch* s, const double* centre, const Vertex* worst, double t) {
    Vertex v;
    for (int i = 0; i < s->dim; i++) {
        v.x[i] = centre[i] + t * (worst->x[i] - centre[i]);
    }
    evaluate(s, &v);
    return v;
}

static void sort(Vertex* v, int count) {
    for (int i = 1; i < count; i++) {
        Vertex key = v[i];
        int k = i;
        for (; k > 0 && v[k - 1].f > key.f; k--) {
            v[k] = v[k - 1];
        }
        v[k] = key;
    }
}

static double edge(const Vertex* v, int dim) {
    double longest = 0.0;
    for (int k = 1; k <= dim; k++) {
        for (int i = 0; i < dim; i++) {
            longest = fmax(longest, fabs(v[k].x[i] - v[0].x[i]));
        }
    }
    return longest;
}

static void shrink(crSearch* s, Vertex* v) {
    for (int k = 1; k <= s->dim; k++) {
        for (int i = 0; i < s->dim; i++) {
            v[k].x[i] = 0.5 * (v[k].x[i] + v[0].x[i]);
        }
        evaluate(s, &v[k]);
    }
}

static void move(crSearch* s, Vertex* v) {
    int n = s->dim;
    double centre[CR_SEARCH_DIM] = {0};
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < n; i++) {
            centre[i] += v[k].x[i] / n;
        }
    }
    Vertex* worst = &v[n];
    Vertex reflected = along(s, centre, worst, -1.0);
    if (reflected.f < v[0].f) {
        Vertex expanded = along(s, centre, worst, -2.0);
        *worst = expanded.f < reflected.f ? expanded : reflected;
    } else if (n > 1 && reflected.f < v[n - 1].f) {
        *worst = reflected;
    } else {
        bool outside = reflected.f < worst->f;
        Vertex contracted = along(s, centre, worst, outside ? -0.5 : 0.5);
        if (contracted.f < fmin(reflected.f, worst->f)) {
            *worst = contracted;
        } else {
            shrink(s, v);
        }
    }
}

static void descend(crSearch* s, double step, Vertex* best) {
    Vertex v[CR_SEARCH_DIM + 1];
    v[0] = *best;
    for (int k = 1; k <= s->dim; k++) {
        v[k] = *best;
        v[k].x[k - 1] += v[k].x[k - 1] + step <= 1.0 ? step : -step;
        evaluate(s, &v[k]);
    }
    sort(v, s->dim + 1);
    while (edge(v, s->dim) > s->tol && s->used < s->budget) {
        move(s, v);
        sort(v, s->dim + 1);
    }
    *best = v[0];
}

double cr__search(crSearch* s, double* x) {
    Vertex best = {.f = 0.0};
    memcpy(best.x, x, (size_t)s->dim * sizeof *x);
    s->used = 0;
    evaluate(s, &best);
    double step = s->step;
    for (bool better = s->dim > 0; better && s->used < s->budget;) {
        double before = best.f;
        descend(s, step, &best);
        step = fmax(0.25 * step, 10.0 * s->tol);
        better = best.f < before - 1e-7 * fabs(before);
    }
    memcpy(x, best.x, (size_t)s->dim * sizeof *x);
    return best.f;
}

void cr__search_point(int index, int dim, double* x) {
    static const int primes[CR_SEARCH_DIM] = {2, 3, 5, 7, 11, 13, 17, 19};
    for (int i = 0; i < dim; i++) {
        double share = 1.0;
        x[i] = 0.0;
        for (int n = index + 1; n > 0; n /= primes[i]) {
            share /= primes[i];
            x[i] += share * (n % primes[i]);
        }
    }
}
