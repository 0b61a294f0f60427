// pull_step.c - forces along tendons and sites that hold for a step, by backward Euler.
//
// With v0 = v + h M^-1 k of all other forces, rows g_i (G together) and f_i = e_i - K_i l_i - B_i dl_i/dt, the force that
// fits the end of the step is
//
//     f = c - S h G M^-1 G^T f,   c_i = e_i - K_i (l_i + h g_i v0) - B_i g_i v0,   S_i = B_i + h K_i.
//
// f = c - D z with D = (h S)^1/2 makes that (1 + D G M^-1 G^T D) z = D G M^-1 G^T c, symmetric and definite: conjugate
// gradients, which take a product with M^-1 in each of their steps and no matrix. f acts on both ends of a line alike, so
// that momentum is kept whatever is left of the residual. Slopes that push on (K, B < 0) count by the state at the
// beginning. Fails: CR_ERR_MEMORY; CR_ERR_DEFINITE from M.
#include <string.h>

#include "model/pull.h"

#define ENOUGH 1e-14  // residual, of the right side

typedef struct Lines {
    const crModel* model;
    crDynamics* d;
    int count, entries;
    int* start;                     // of the entries of a line (count + 1)
    int* dof;                       // (entries)
    double* value;                  // (entries)
    double *f, *D, *z, *r, *p, *y;  // (count)
    double* x;                      // (nv)
} Lines;

static void count_entry(void* ctx, int dof, double value) {
    (void)dof;
    (void)value;
    ++*(int*)ctx;
}

static crStatus make_lines(const crModel* model, crDynamics* d, crArena* arena, Lines* s) {
    *s = (Lines){.model = model, .d = d};
    for (int i = 0; i < cr__line_count(model); i++) {
        if (!cr__line_pulls(model, i)) continue;
        s->count++;
        cr__line_walk(model, d, i, count_entry, &s->entries);
    }
    size_t n = (size_t)s->count;
    s->start = cr_arena_alloc(arena, (n + 1) * sizeof(int));
    s->dof = cr_arena_alloc(arena, ((size_t)s->entries + 1) * sizeof(int));
    s->value = cr_arena_alloc(arena, ((size_t)s->entries + 1) * sizeof(double));
    double* room = cr_arena_alloc(arena, (6 * n + (size_t)model->nv + 1) * sizeof(double));
    if (s->start == NULL || s->dof == NULL || s->value == NULL || room == NULL) return CR_ERR_MEMORY;
    double** const arrays[] = {&s->f, &s->D, &s->z, &s->r, &s->p, &s->y};
    for (int k = 0; k < 6; k++, room += n) {
        *arrays[k] = room;
    }
    s->x = room;
    return CR_OK;
}

static void store_entry(void* ctx, int dof, double value) {
    Lines* s = ctx;
    s->dof[s->entries] = dof;
    s->value[s->entries++] = value;
}

static double times(const Lines* s, int i, const double* v) {
    double sum = 0.0;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        sum += s->value[k] * v[s->dof[k]];
    }
    return sum;
}

static void add_row(const Lines* s, int i, double f, double* k) {
    for (int j = s->start[i]; j < s->start[i + 1]; j++) {
        k[s->dof[j]] += f * s->value[j];
    }
}

// rows, c in f, and D
static void set_lines(Lines* s, const crState* state, double h, const double* v0) {
    int n = 0;
    s->entries = 0;
    for (int i = 0; i < cr__line_count(s->model); i++) {
        if (!cr__line_pulls(s->model, i)) continue;
        s->start[n] = s->entries;
        double given = cr__line_walk(s->model, s->d, i, store_entry, s),
               l = cr__line_length(s->model, s->d, i);
        s->start[n + 1] = s->entries;
        double now = times(s, n, state->v) + given, then = times(s, n, v0) + given;
        crActuation x = cr__line_actuation(s->model, state, i, l, now);
        double K = fmax(0.0, x.stiffness), B = fmax(0.0, x.damping);
        s->f[n] = x.force - x.stiffness * l - K * h * then - B * then - fmin(0.0, x.damping) * now;
        s->D[n++] = sqrt(h * (B + h * K));
    }
}

// y = D G M^-1 G^T p
static void multiply(Lines* s, const double* p, double* y) {
    memset(s->x, 0, (size_t)s->model->nv * sizeof *s->x);
    for (int i = 0; i < s->count; i++) {
        add_row(s, i, p[i], s->x);
    }
    cr__part_mass_solve(s->model, cr__all(s->model), s->d, s->x);
    for (int i = 0; i < s->count; i++) {
        y[i] = s->D[i] * times(s, i, s->x);
    }
}

static double dot_lines(const double* a, const double* b, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// y = (1 + D W D) p; p is scaled on the way
static void apply(Lines* s) {
    int n = s->count;
    for (int i = 0; i < n; i++) {
        s->y[i] = s->D[i] * s->p[i];
    }
    multiply(s, s->y, s->y);
    for (int i = 0; i < n; i++) {
        s->y[i] += s->p[i];
    }
}

// f = c - D z
static void solve_lines(Lines* s) {
    int n = s->count;
    multiply(s, s->f, s->r);
    memset(s->z, 0, (size_t)n * sizeof *s->z);
    memcpy(s->p, s->r, (size_t)n * sizeof *s->p);
    double rr = dot_lines(s->r, s->r, n), enough = ENOUGH * ENOUGH * rr;
    for (int step = 0; step < 4 * n + 20 && rr > enough; step++) {
        apply(s);
        double a = rr / dot_lines(s->p, s->y, n);
        for (int i = 0; i < n; i++) {
            s->z[i] += a * s->p[i];
            s->r[i] -= a * s->y[i];
        }
        double before = rr;
        rr = dot_lines(s->r, s->r, n);
        for (int i = 0; i < n; i++) {
            s->p[i] = s->r[i] + rr / before * s->p[i];
        }
    }
    for (int i = 0; i < n; i++) {
        s->f[i] -= s->D[i] * s->z[i];
    }
}

static crStatus hold(const crModel* model, const crState* state, double h, crDynamics* d, crArena* arena,
                     double* force) {
    Lines s;
    double* v0 = cr_arena_alloc(arena, ((size_t)model->nv + 1) * sizeof *v0);
    double* k = cr_arena_alloc(arena, ((size_t)model->nv + 1) * sizeof *k);
    crStatus status = make_lines(model, d, arena, &s);
    if (status != CR_OK || v0 == NULL || k == NULL) return CR_ERR_MEMORY;
    crPart all = cr__all(model);
    cr_model_actuate(model, state, d);
    status = cr__part_mass_factor(model, all, h, d);
    if (status != CR_OK) return status;
    cr__part_forces(model, all, state, d, k, NULL);
    cr__part_smooth_velocity(model, all, state, k, h, d, v0);
    set_lines(&s, state, h, v0);
    solve_lines(&s);
    for (int i = 0; i < s.count; i++) {
        add_row(&s, i, s.f[i], force);
    }
    return CR_OK;
}

crStatus cr__lines_hold(const crModel* model, const crState* state, double h, crDynamics* d, crArena* arena,
                        double* force) {
    size_t mark = cr_arena_mark(arena);
    crStatus status = hold(model, state, h, d, arena, force);
    cr_arena_release(arena, mark);
    return status;
}
