// motion_descend.c - from the best points of a search to where its misfit is least nearby: a simplex by narrower and narrower
// scales with looks across whole ranges, or Gauss and Newton by derivatives of the motion (motion_gauss.c).
// Fails: what jobs fail with; memory.
#include <stdlib.h>
#include <string.h>

#include "fit/motion_gauss.h"
#include "fit/motion_search.h"

#define STARTS 2
#define APART  0.1  // that these are from each other along some axis
#define SCAN   16   // points across a range
#define SCANS  2
#define DEEPER 4     // passes that say whether a rough misfit has a deeper place
#define ROUGH  0.05  // of the samples without a derivative
#define SURE   0.02  // standard error in the cube up to which derivatives describe the minimum

typedef struct Descent {
    crMotionSearch* search;
    crStatus status;
    crError* error;
} Descent;

// mean misfit at the search's scale; every point that is asked for stays in the pool
static double misfit_at(void* ctx, const double* x) {
    Descent* d = ctx;
    crMotionSearch* s = d->search;
    if (d->status != CR_OK || s->pool.count >= s->pool.room - s->fit->points * CR_MOTION_ROUNDS - 1)
        return INFINITY;
    memcpy(&s->pool.x[s->pool.count * s->fit->dim], x, (size_t)s->fit->dim * sizeof *x);
    d->status = cr__motion_add(s, 1, d->error);
    return d->status == CR_OK ? cr__motion_mean_at(s, s->pool.count - 1, NULL) : INFINITY;
}

static bool is_near(const double* x, const double* y, int dim) {
    for (int i = 0; i < dim; i++) {
        if (fabs(x[i] - y[i]) > APART) return false;
    }
    return true;
}

// the best points of the pool that are apart from each other, best first; how many
static int best_starts(const crMotionSearch* s, double x[STARTS][CR_SEARCH_DIM]) {
    int dim = s->fit->dim, count = 0;
    for (int k = 0; k < STARTS; k++) {
        double least = INFINITY;
        for (int p = 0; p < s->pool.count; p++) {
            const double* at = &s->pool.x[p * dim];
            bool taken = false;
            for (int m = 0; m < count && !taken; m++) {
                taken = is_near(at, x[m], dim);
            }
            double f = taken ? INFINITY : cr__motion_mean_at(s, p, NULL);
            if (!(f < least)) continue;
            least = f;
            memcpy(x[k], at, (size_t)dim * sizeof *at);
        }
        if (isinf(least)) break;
        count++;
    }
    return count;
}

// Looks along every parameter's whole range from where the search is: where nothing changes over most of a
// range (everything sticks) no descent leads out. Moves to what is better.
static crStatus scan(crMotionSearch* s, double least, bool* better, crError* error) {
    int dim = s->fit->dim, first = s->pool.count;
    for (int i = 0; i < dim; i++) {
        for (int k = 0; k < SCAN; k++) {
            double* at = &s->pool.x[(first + i * SCAN + k) * dim];
            memcpy(at, s->x, (size_t)dim * sizeof *at);
            at[i] = (k + 0.5) / SCAN;
        }
    }
    *better = false;
    crStatus status = cr__motion_add(s, SCAN * dim, error);
    for (int p = first; p < s->pool.count && status == CR_OK; p++) {
        double f = cr__motion_mean_at(s, p, NULL);
        if (!(f < least)) continue;
        least = f;
        *better = true;
        memcpy(s->x, &s->pool.x[p * dim], (size_t)dim * sizeof *s->x);
    }
    return status;
}

// one pass with derivatives at the best point
static crStatus probe(crMotionSearch* s, const double* x, crError* error) {
    crMotionGauss g = {.model = s->fit->model, .count = s->count, .in = s->in, .budget = 1};
    int samples = 0;
    memcpy(g.x, x, sizeof g.x);
    crStatus status = cr_motion_gauss(&g, error);
    for (int i = 0; i < s->count; i++) {
        samples += s->fit->model->tosses->tosses[s->in[i]].count;
    }
    s->fit->out->simulated += g.passes * s->count;
    s->fit->probed = true;
    s->fit->rough = g.blind > ROUGH * samples;
    return status;
}

// the same by derivatives of the motion, from each of the best points; one that comes near to where another was is left
static crStatus descend_by_gauss(crMotionSearch* s, crError* error) {
    double start[STARTS][CR_SEARCH_DIM], seen[STARTS][CR_SEARCH_DIM], least = INFINITY;
    crStatus status = CR_OK;
    int dim = s->fit->dim;
    size_t room = 2 * (size_t)s->count * (size_t)(dim * (dim + 1));
    double* own = calloc(room + 1, sizeof *own);
    if (own == NULL) return cr__motion_no_memory(error);
    s->level = 0;
    int starts = best_starts(s, start);
    if (!s->fit->probed && starts > 0) status = probe(s, start[0], error);
    for (int k = 0; k < starts && status == CR_OK && !s->fit->rough; k++) {
        crMotionGauss g = {.model = s->fit->model, .count = s->count, .in = s->in, .own = own};
        bool again = false;
        memcpy(g.x, start[k], sizeof g.x);
        status = cr_motion_gauss_wide(&g, error);
        memcpy(seen[k], g.x, sizeof g.x);
        for (int m = 0; m < k; m++) {
            again = again || is_near(g.x, seen[m], dim);
        }
        if (status == CR_OK && !again) status = cr_motion_gauss_narrow(&g, error);
        s->fit->out->simulated += g.passes * s->count;
        if (status != CR_OK || again || !(g.misfit < least)) continue;
        least = g.misfit;
        memcpy(s->x, g.x, sizeof s->x);
        memcpy(s->own, own, room * sizeof *own);
        memcpy(s->se, g.se, sizeof s->se);
        memcpy(s->place, g.place, sizeof s->place);
        s->smooth = g.blind == 0 && g.converged;
    }
    for (int i = 0; i < dim; i++) {
        s->smooth = s->smooth && s->place[i] < SURE;
    }
    if (starts > 0 && s->fit->rough) memcpy(s->x, start[0], sizeof s->x);
    free(own);
    s->level = CR_MOTION_LEVELS - 1;
    return status;
}

crStatus cr__motion_deepen(crMotionSearch* s, bool* deeper, crError* error) {
    size_t size = (size_t)s->fit->dim * sizeof *s->x;
    crMotionGauss g = {.model = s->fit->model, .count = s->count, .in = s->in, .budget = DEEPER, .wide = 1.0};
    int here = s->pool.count;
    memcpy(g.x, s->x, sizeof g.x);
    crStatus status = cr_motion_gauss(&g, error);
    s->fit->out->simulated += g.passes * s->count;
    memcpy(&s->pool.x[here * s->fit->dim], s->x, size);
    memcpy(&s->pool.x[(here + 1) * s->fit->dim], g.x, size);
    if (status == CR_OK) status = cr__motion_add(s, 2, error);
    *deeper = status == CR_OK && cr__motion_is_less(s, here + 1, here);
    if (*deeper) memcpy(s->x, g.x, sizeof s->x);
    return status;
}

// from the best points by the wider scales, then from the best of these by the one that counts
crStatus cr__motion_descend(crMotionSearch* s, crError* error) {
    int dim = s->fit->dim;
    if (s->fit->options->gauss) return descend_by_gauss(s, error);
    double start[STARTS][CR_SEARCH_DIM];
    Descent d = {s, CR_OK, error};
    s->level = 0;
    int starts = best_starts(s, start);
    double least = INFINITY;
    for (int k = 0; k < starts && d.status == CR_OK; k++) {
        crSearch search = {misfit_at, &d, dim, 0.08, 0.01, 12 * dim, 0};
        double f = cr__search(&search, start[k]);
        if (!(f < least)) continue;
        least = f;
        memcpy(s->x, start[k], (size_t)dim * sizeof *s->x);
    }
    for (s->level = 1; s->level < CR_MOTION_LEVELS && d.status == CR_OK; s->level++) {
        crSearch search = {misfit_at, &d, dim, 0.03, 0.004, 8 * dim, 0};
        least = cr__search(&search, s->x);
    }
    s->level = CR_MOTION_LEVELS - 1;
    bool better = true;
    for (int k = 0; k < SCANS && better && d.status == CR_OK; k++) {
        d.status = scan(s, least, &better, error);
        if (d.status != CR_OK || !better) continue;
        crSearch search = {misfit_at, &d, dim, 0.03, 0.004, 12 * dim, 0};
        least = cr__search(&search, s->x);
    }
    return d.status;
}
