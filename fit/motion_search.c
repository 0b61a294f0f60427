// motion_search.c - where the misfit of tosses is least: rounds of simulated points and quadratics through them.
//
// A round simulates tosses at points of a box and lays a quadratic (bowl.c) through the better half of all
// points in it; the box then closes around the quadratic's minimum, along each parameter as far as minima over
// resampled tosses and the three best points allow, until it closes no more. So the resolution of a search is
// that of the data. Rounds are batches of independent jobs (jobs.c); what is decided between them comes from
// their results in order. Fails: what jobs fail with; memory.
#include "fit/motion_search.h"

#include <stdlib.h>
#include <string.h>

#include "fit/jobs.h"
#include "fit/random.h"

#define ROUNDS 12
#define CLOSE  0.5   // most that a box closes in a round
#define MARGIN 1.5   // of the box around the resampled minima
#define STANDS 0.85  // closing less than this along every parameter is the end
#define NARROW 2e-4  // boxes need not be narrower
#define BEST   3     // points that stay in the box

typedef struct Batch {
    const crMotionWork* fit;
    const double* x;  // (points*dim)
    const int* in;    // tosses (count)
    int count;
} Batch;

crStatus cr__motion_no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
}

void cr__motion_values(const crMotionWork* f, const double* x, double* values) {
    for (int i = 0; i < f->dim; i++) {
        values[i] = cr_motion_param_value(&f->model->params[i], x[i]);
    }
}

static crStatus run_job(void* ctx, int job, double* result, crError* error) {
    const Batch* b = ctx;
    double values[CR_MOTION_PARAMS];
    crMotionRun run;
    cr__motion_values(b->fit, &b->x[job / b->count * b->fit->dim], values);
    crStatus status = cr_motion_simulate(b->fit->model, values, b->in[job % b->count], &run, NULL, error);
    const double all[CR_RUN_SIZE] = {run.position,       run.rotation,    run.misfit, run.penetration,
                                     run.energy_created, run.energy_gain, run.steps,  run.unsolved,
                                     run.impermissible,  run.broken};
    memcpy(result, all, sizeof all);
    return status;
}

static bool watch(void* ctx, int done, int count) {
    (void)count;
    const crMotionWork* f = ((const Batch*)ctx)->fit;
    const crMotionOptions* o = f->options;
    int now = f->done + done;
    return o->watch == NULL || o->watch(o->ctx, now, now > f->expected ? now : f->expected);
}

// results of the tosses `in` at points x (points*count*CR_RUN_SIZE), to free
crStatus cr__motion_batch(crMotionWork* f, const double* x, int points, const int* in, int count,
                          double** results, crError* error) {
    const crMotionOptions* o = f->options;
    Batch batch = {f, x, in, count};
    crJobs jobs = {.count = points * count,
                   .size = CR_RUN_SIZE,
                   .run = run_job,
                   .ctx = &batch,
                   .threads = o->threads,
                   .watch = watch,
                   .checkpoint = o->checkpoint,
                   .key = o->key,
                   .stage = (uint64_t)(o->stage + f->stage++),
                   .ranks = o->ranks};
    *results = malloc((size_t)jobs.count * CR_RUN_SIZE * sizeof **results + 1);
    if (*results == NULL) return cr__motion_no_memory(error);
    crStatus status = cr_jobs_run(&jobs, *results, error);
    f->done += jobs.count;
    f->out->simulated += jobs.count;
    if (status == CR_OK) return CR_OK;
    free(*results);
    *results = NULL;
    return status;
}

int cr__motion_random(uint64_t* state, int count) { return (int)(cr__random_uniform(state) * count); }

crStatus cr__motion_search_create(crMotionSearch* s, crMotionWork* fit, const int* in, int count,
                                  crError* error) {
    *s = (crMotionSearch){.fit = fit, .in = in, .count = count};
    s->pool.room = (ROUNDS + 1) * fit->points;
    size_t room = (size_t)s->pool.room, dim = (size_t)fit->dim;
    s->pool.x = calloc(room * dim + 1, sizeof(double));
    s->pool.misfit = calloc(room * (size_t)fit->tosses, sizeof(double));
    s->used_x = calloc(room * dim + 1, sizeof(double));
    s->used_at = calloc(room, sizeof(int));
    s->f = calloc(room, sizeof(double));
    for (int i = 0; i < fit->dim; i++) {
        s->hi[i] = 1.0;
    }
    bool got = s->pool.x != NULL && s->pool.misfit != NULL && s->used_x != NULL && s->used_at != NULL &&
               s->f != NULL;
    return got ? CR_OK : cr__motion_no_memory(error);
}

void cr__motion_search_destroy(crMotionSearch* s) {
    free(s->pool.x);
    free(s->pool.misfit);
    free(s->used_x);
    free(s->used_at);
    free(s->f);
}

// `points` more of Halton's sequence, within the box
static crStatus add_points(crMotionSearch* s, int points, crError* error) {
    crMotionWork* f = s->fit;
    crMotionPool* p = &s->pool;
    double* x = &p->x[p->count * f->dim];
    for (int k = 0; k < points; k++) {
        double* at = &x[k * f->dim];
        cr__search_point(p->count + k, f->dim, at);
        for (int i = 0; i < f->dim; i++) {
            at[i] = s->lo[i] + at[i] * (s->hi[i] - s->lo[i]);
        }
    }
    double* results = NULL;
    crStatus status = cr__motion_batch(f, x, points, s->in, s->count, &results, error);
    for (int k = 0; status == CR_OK && k < points; k++) {
        for (int i = 0; i < s->count; i++) {
            p->misfit[(size_t)(p->count + k) * (size_t)f->tosses + (size_t)s->in[i]] =
                results[(k * s->count + i) * CR_RUN_SIZE + CR_RUN_MISFIT];
        }
    }
    if (status == CR_OK) p->count += points;
    free(results);
    return status;
}

// mean loss at a point; weight NULL: every toss of the search once, else as often as it says (count)
static double mean_at(const crMotionSearch* s, int point, const unsigned short* weight) {
    const double* misfit = &s->pool.misfit[(size_t)point * (size_t)s->fit->tosses];
    double sum = 0.0;
    for (int i = 0; i < s->count; i++) {
        sum += (weight != NULL ? weight[i] : 1) * misfit[s->in[i]];
    }
    return sum / s->count;
}

static bool in_box(const crMotionSearch* s, const double* x) {
    for (int i = 0; i < s->fit->dim; i++) {
        if (x[i] < s->lo[i] || x[i] > s->hi[i]) return false;
    }
    return true;
}

// the better half of the points in the box, best first, but at least three for each coefficient
static void choose_points(crMotionSearch* s) {
    int dim = s->fit->dim, inside = 0;
    for (int p = 0; p < s->pool.count; p++) {
        if (!in_box(s, &s->pool.x[p * dim])) continue;
        double f = mean_at(s, p, NULL);
        int k = inside++;
        for (; k > 0 && s->f[k - 1] > f; k--) {
            s->f[k] = s->f[k - 1];
            s->used_at[k] = s->used_at[k - 1];
        }
        s->f[k] = f;
        s->used_at[k] = p;
    }
    int least = 3 * cr__bowl_terms(dim);
    s->used = inside / 2 > least ? inside / 2 : least < inside ? least : inside;
    for (int k = 0; k < s->used; k++) {
        memcpy(&s->used_x[k * dim], &s->pool.x[s->used_at[k] * dim], (size_t)dim * sizeof(double));
    }
}

// where the quadratic through the chosen points is least
static void least_of(const crMotionSearch* s, const unsigned short* weight, double* f, double* x) {
    crBowl bowl = {.dim = s->fit->dim};
    memcpy(bowl.lo, s->lo, sizeof bowl.lo);
    memcpy(bowl.hi, s->hi, sizeof bowl.hi);
    for (int k = 0; k < s->used; k++) {
        f[k] = mean_at(s, s->used_at[k], weight);
    }
    cr__bowl_fit(s->used_x, f, s->used, &bowl);
    memcpy(x, s->used_x, (size_t)s->fit->dim * sizeof *x);
    cr__bowl_least(&bowl, x);
}

// minima over resampled tosses (resamples*dim)
crStatus cr__motion_resample(const crMotionSearch* s, int resamples, double* minima, crError* error) {
    unsigned short* weight = malloc((size_t)s->count * sizeof *weight);
    double* f = malloc((size_t)s->used * sizeof *f);
    bool got = weight != NULL && f != NULL;
    for (int b = 0; got && b < resamples; b++) {
        uint64_t random = s->fit->options->seed ^ ((uint64_t)(b + 1) << 32);
        memset(weight, 0, (size_t)s->count * sizeof *weight);
        for (int i = 0; i < s->count; i++) {
            weight[cr__motion_random(&random, s->count)]++;
        }
        least_of(s, weight, f, &minima[b * s->fit->dim]);
    }
    free(weight);
    free(f);
    return got ? CR_OK : cr__motion_no_memory(error);
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// the middle 95 % of one parameter's resampled minima
void cr__motion_middle(const double* minima, int resamples, int dim, int i, double* sorted, double* lo,
                       double* hi) {
    for (int b = 0; b < resamples; b++) {
        sorted[b] = minima[b * dim + i];
    }
    qsort(sorted, (size_t)resamples, sizeof *sorted, ascending);
    int tail = (int)(0.025 * resamples);
    *lo = sorted[tail];
    *hi = sorted[resamples - 1 - tail];
}

// the box of the next round; false where this one stands
static bool close_box(crMotionSearch* s, const double* minima) {
    int dim = s->fit->dim;
    double sorted[CR_MOTION_RESAMPLES];
    bool closes = false;
    for (int i = 0; i < dim; i++) {
        double width = s->hi[i] - s->lo[i], from, to;
        cr__motion_middle(minima, CR_MOTION_RESAMPLES, dim, i, sorted, &from, &to);
        double half = fmax(0.5 * CLOSE * width, 0.5 * MARGIN * (to - from));
        double lo = fmin(s->x[i] - half, from), hi = fmax(s->x[i] + half, to);
        for (int k = 0; k < BEST && k < s->used; k++) {
            lo = fmin(lo, s->used_x[k * dim + i]);
            hi = fmax(hi, s->used_x[k * dim + i]);
        }
        lo = fmax(s->lo[i], lo);
        hi = fmin(s->hi[i], hi);
        bool narrow = hi - lo < NARROW || hi - lo > STANDS * width;
        if (hi - lo < NARROW) continue;
        closes |= !narrow;
        s->lo[i] = lo;
        s->hi[i] = hi;
    }
    return closes;
}

static crStatus next_round(crMotionSearch* s, int points, bool* closes, crError* error) {
    double* minima = malloc((size_t)(CR_MOTION_RESAMPLES * s->fit->dim) * sizeof *minima + 1);
    if (minima == NULL) return cr__motion_no_memory(error);
    crStatus status = points > 0 ? add_points(s, points, error) : CR_OK;
    if (status == CR_OK) {
        choose_points(s);
        double lo[CR_SEARCH_DIM], hi[CR_SEARCH_DIM];
        least_of(s, NULL, s->f, s->x);
        memcpy(lo, s->lo, sizeof lo);
        memcpy(hi, s->hi, sizeof hi);
        status = cr__motion_resample(s, CR_MOTION_RESAMPLES, minima, error);
        *closes = status == CR_OK && s->rounds < ROUNDS && close_box(s, minima);
        // the last quadratic keeps its box
        if (!*closes) memcpy(s->lo, lo, sizeof lo);
        if (!*closes) memcpy(s->hi, hi, sizeof hi);
    }
    free(minima);
    return status;
}

// from points that are there already, or from none
crStatus cr__motion_search(crMotionSearch* s, crError* error) {
    if (s->fit->dim == 0) return CR_OK;
    int points = s->pool.count > 0 ? 0 : 2 * s->fit->points;
    bool closes = true;
    crStatus status = CR_OK;
    while (status == CR_OK && closes) {
        s->rounds++;
        status = next_round(s, points, &closes, error);
        points = s->fit->points;
    }
    return status;
}
