// motion_search.c - where the misfit of tosses is least: rounds of simulated points and quadratics through
// them.
//
// Points of Halton's sequence everywhere, Nelder and Mead's simplex from the best of them, by the misfit with
// a wide scale first and then by narrower ones (a narrow one is flat far off). Around the end a box is filled
// with points, and what counts is the minimum of a quadratic (bowl.c) through the better half of them: a toss
// that comes to another face makes the misfit jump, so that its own minimum says little. The box is widened
// until it holds the minima over resampled tosses: the resolution of a search is that of the data. Fails:
// what jobs fail with; memory.
#include "fit/motion_search.h"

#include <stdlib.h>
#include <string.h>

#include "fit/damped.h"
#include "fit/jobs.h"
#include "fit/random.h"

#define DESCENT  120   // points of all descents and scans, for each parameter
#define WIDTH    0.02  // of the first box
#define WIDER    3.0
#define NARROWER 0.2
#define FILLED   4.0   // widths of the resampled minima that a narrowed box has
#define LEAST    2e-4  // width

typedef struct Batch {
    const crMotionWork* fit;
    const double* x;  // (points*dim)
    const int* in;    // tosses (count)
    int count;
    crWorlds* worlds;
} Batch;

crStatus cr__motion_no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
}

void cr__motion_values(const crMotionWork* f, const double* x, double* values) {
    for (int i = 0; i < f->dim; i++) {
        values[i] = cr_motion_param_value(&f->model->params[i], x[i]);
    }
}

static void put_run(const crMotionRun* run, double* result) {
    const double all[CR_RUN_SIZE] = {run->position, run->rotation,    run->coarse[0],      run->coarse[1],
                                     run->misfit,   run->penetration, run->energy_created, run->energy_gain,
                                     run->steps,    run->unsolved,    run->impermissible,  run->broken};
    memcpy(result, all, sizeof all);
}

// tosses of one point stand side by side and share its values
static crStatus run_jobs(void* ctx, const int* jobs, int count, double* results, int* failed,
                         crError* error) {
    const Batch* b = ctx;
    size_t n = (size_t)count;
    double* values = malloc(n * CR_MOTION_PARAMS * sizeof *values);
    crMotionRun* runs = calloc(n, sizeof *runs);
    crMotionJob* tosses = calloc(n, sizeof *tosses);
    bool got = values != NULL && runs != NULL && tosses != NULL;
    for (int i = 0; got && i < count; i++) {
        int point = jobs[i] / b->count;
        bool same = i > 0 && jobs[i - 1] / b->count == point;
        double* own = &values[(size_t)i * CR_MOTION_PARAMS];
        if (!same) cr__motion_values(b->fit, &b->x[point * b->fit->dim], own);
        tosses[i] =
            (crMotionJob){same ? tosses[i - 1].values : own, b->in[jobs[i] % b->count], &runs[i], NULL};
    }
    int at = 0;
    crStatus status = got ? cr__motion_simulate(b->fit->model, b->worlds, tosses, count, &at, error)
                          : cr__motion_no_memory(error);
    *failed = jobs[at];
    for (int i = 0; i < count && got && (status == CR_OK || i < at); i++) {
        put_run(&runs[i], &results[(size_t)jobs[i] * CR_RUN_SIZE]);
    }
    free(values);
    free(runs);
    free(tosses);
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
    Batch batch = {f, x, in, count, &f->worlds.worlds};
    crJobs jobs = {.count = points * count,
                   .size = CR_RUN_SIZE,
                   .run_many = run_jobs,
                   .together = f->worlds.worlds.room,
                   .ctx = &batch,
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
    s->pool.room = (CR_MOTION_ROUNDS + 2) * fit->points + DESCENT * fit->dim + 3;
    size_t room = (size_t)s->pool.room, dim = (size_t)fit->dim;
    s->pool.x = calloc(room * dim + 1, sizeof(double));
    s->pool.misfit = calloc(room * (size_t)fit->tosses * CR_MOTION_LEVELS, sizeof(double));
    s->used_x = calloc(room * dim + 1, sizeof(double));
    s->used_at = calloc(room, sizeof(int));
    s->f = calloc(room, sizeof(double));
    s->own = calloc(2 * (size_t)count * dim * (dim + 1) + 1, sizeof(double));
    for (int i = 0; i < fit->dim; i++) {
        s->hi[i] = 1.0;
    }
    bool got = s->pool.x != NULL && s->pool.misfit != NULL && s->used_x != NULL && s->used_at != NULL &&
               s->f != NULL && s->own != NULL;
    return got ? CR_OK : cr__motion_no_memory(error);
}

void cr__motion_search_destroy(crMotionSearch* s) {
    free(s->pool.x);
    free(s->pool.misfit);
    free(s->used_x);
    free(s->used_at);
    free(s->f);
    free(s->own);
}

static double* misfits_of(const crMotionSearch* s, int point, int toss) {
    return &s->pool.misfit[((size_t)point * (size_t)s->fit->tosses + (size_t)toss) * CR_MOTION_LEVELS];
}

// simulates the next `points` points of the pool, whose places are there already
crStatus cr__motion_add(crMotionSearch* s, int points, crError* error) {
    crMotionWork* f = s->fit;
    crMotionPool* p = &s->pool;
    double* results = NULL;
    crStatus status = cr__motion_batch(f, &p->x[p->count * f->dim], points, s->in, s->count, &results, error);
    for (int k = 0; status == CR_OK && k < points; k++) {
        for (int i = 0; i < s->count; i++) {
            memcpy(misfits_of(s, p->count + k, s->in[i]),
                   &results[(k * s->count + i) * CR_RUN_SIZE + CR_RUN_COARSE],
                   CR_MOTION_LEVELS * sizeof(double));
        }
    }
    if (status == CR_OK) p->count += points;
    free(results);
    return status;
}

// `points` more of Halton's sequence, within the box
static crStatus add_points(crMotionSearch* s, int points, crError* error) {
    int dim = s->fit->dim;
    for (int k = 0; k < points; k++) {
        double* at = &s->pool.x[(s->pool.count + k) * dim];
        cr__search_point(s->pool.count + k, dim, at);
        for (int i = 0; i < dim; i++) {
            at[i] = s->lo[i] + at[i] * (s->hi[i] - s->lo[i]);
        }
    }
    return cr__motion_add(s, points, error);
}

// mean misfit at a point; weight NULL: every toss of the search once, else as often as it says (count)
double cr__motion_mean_at(const crMotionSearch* s, int point, const unsigned short* weight) {
    double sum = 0.0;
    for (int i = 0; i < s->count; i++) {
        sum += (weight != NULL ? weight[i] : 1) * misfits_of(s, point, s->in[i])[s->level];
    }
    return sum / s->count;
}

static bool in_box(const crMotionSearch* s, const double* x) {
    for (int i = 0; i < s->fit->dim; i++) {
        if (x[i] < s->lo[i] || x[i] > s->hi[i]) return false;
    }
    return true;
}

// the points in the box, best first; of these the better half is used, but at least three for each
// coefficient
static void choose_points(crMotionSearch* s) {
    int dim = s->fit->dim, inside = 0;
    for (int p = 0; p < s->pool.count; p++) {
        if (!in_box(s, &s->pool.x[p * dim])) continue;
        double f = cr__motion_mean_at(s, p, NULL);
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
        f[k] = cr__motion_mean_at(s, s->used_at[k], weight);
    }
    cr__bowl_fit(s->used_x, f, s->used, &bowl);
    memcpy(x, s->used_x, (size_t)s->fit->dim * sizeof *x);
    cr__bowl_least(&bowl, x);
}

// one step of Newton from the end of a search by derivatives, tosses as often as `weight` says
static void newton_of(const crMotionSearch* s, const unsigned short* weight, double* x) {
    int dim = s->fit->dim;
    double A[CR_SEARCH_DIM][CR_SEARCH_DIM] = {{0}}, g[CR_SEARCH_DIM] = {0}, dx[CR_SEARCH_DIM];
    for (int i = 0; i < s->count; i++) {
        const double* own = s->own + i * dim * (dim + 1);
        for (int a = 0; a < dim; a++) {
            g[a] -= weight[i] * own[a];
            for (int b = 0; b < dim; b++) {
                A[a][b] += weight[i] * own[dim + a * dim + b];
            }
        }
    }
    bool known = cr_damped_solve(dim, A, g, dx);
    for (int i = 0; i < dim; i++) {
        x[i] = fmin(1.0, fmax(0.0, s->x[i] + (known ? dx[i] : 0.0)));
    }
}

// minima over resampled tosses (resamples*dim)
crStatus cr__motion_resample(const crMotionSearch* s, int resamples, double* minima, crError* error) {
    unsigned short* weight = malloc((size_t)s->count * sizeof *weight);
    double* f = malloc((size_t)(s->used + 1) * sizeof *f);
    bool got = weight != NULL && f != NULL;
    for (int b = 0; got && b < resamples; b++) {
        uint64_t random = s->fit->options->seed ^ ((uint64_t)(b + 1) << 32);
        memset(weight, 0, (size_t)s->count * sizeof *weight);
        for (int i = 0; i < s->count; i++) {
            weight[cr__motion_random(&random, s->count)]++;
        }
        if (s->smooth) {
            newton_of(s, weight, &minima[b * s->fit->dim]);
        } else {
            least_of(s, weight, f, &minima[b * s->fit->dim]);
        }
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

// the box of a quadratic

static void set_box(crMotionSearch* s, const double* centre, const double* width) {
    for (int i = 0; i < s->fit->dim; i++) {
        bool all = width[i] >= 1.0;
        s->lo[i] = all ? 0.0 : fmax(0.0, centre[i] - 0.5 * width[i]);
        s->hi[i] = all ? 1.0 : fmin(1.0, centre[i] + 0.5 * width[i]);
    }
}

// whether many of the resampled minima end at faces across parameter i that are not the ends of its range
static bool is_cut(const crMotionSearch* s, const double* minima, int i) {
    double width = s->hi[i] - s->lo[i];
    int count = 0;
    for (int b = 0; b < CR_MOTION_RESAMPLES; b++) {
        double x = minima[b * s->fit->dim + i];
        count += (x <= s->lo[i] + 1e-6 * width && s->lo[i] > 0.0) ||
                 (x >= s->hi[i] - 1e-6 * width && s->hi[i] < 1.0);
    }
    return count > CR_MOTION_RESAMPLES / 20;
}

// Widens the box along parameters whose resampled minima it cuts off, and narrows it along those whose minima
// fill little of it, until it was widened. True where something changed.
static bool fit_box(const crMotionSearch* s, const double* minima, double* width, bool* widened) {
    double sorted[CR_MOTION_RESAMPLES];
    bool changed = false;
    for (int i = 0; i < s->fit->dim; i++) {
        double from, to;
        cr__motion_middle(minima, CR_MOTION_RESAMPLES, s->fit->dim, i, sorted, &from, &to);
        double narrow = fmax(fmax(NARROWER * width[i], FILLED * (to - from)), LEAST);
        if (is_cut(s, minima, i)) {
            width[i] *= WIDER;
            changed = widened[i] = true;
        } else if (!widened[i] && narrow < 0.5 * width[i]) {
            width[i] = narrow;
            changed = true;
        }
    }
    return changed;
}

// A box around x that is fitted to the resampled minima; a narrowed one is around the last minimum. all: begins with the whole
// cube and the points there are, and is narrowed once: less does not average out what is rough.
static crStatus fill_boxes(crMotionSearch* s, bool all, double* minima, crError* error) {
    double width[CR_SEARCH_DIM], centre[CR_SEARCH_DIM];
    bool widened[CR_SEARCH_DIM] = {false}, first = true;
    crStatus status = CR_OK;
    for (int i = 0; i < s->fit->dim; i++) {
        width[i] = all ? 1.0 : WIDTH;
        centre[i] = all ? 0.5 : s->x[i];
    }
    for (bool changed = true; status == CR_OK && changed && s->rounds < CR_MOTION_ROUNDS; s->rounds++) {
        set_box(s, centre, width);
        if (!all || !first) status = add_points(s, s->fit->points, error);
        first = false;
        if (status != CR_OK) return status;
        choose_points(s);
        least_of(s, NULL, s->f, s->x);
        status = cr__motion_resample(s, CR_MOTION_RESAMPLES, minima, error);
        changed = status == CR_OK && fit_box(s, minima, width, widened);
        for (int i = 0; i < s->fit->dim; i++) {
            if (!widened[i]) centre[i] = s->x[i];
            if (all) widened[i] = true;
        }
    }
    return status;
}

static crStatus run_rounds(crMotionSearch* s, double* minima, crError* error) {
    crStatus status = s->pool.count > 0 ? CR_OK : add_points(s, 2 * s->fit->points, error);
    if (status == CR_OK) status = cr__motion_descend(s, error);
    bool deeper = !s->fit->rough;
    if (s->smooth) return status;
    if (status == CR_OK && s->fit->rough) {
        status = fill_boxes(s, true, minima, error);
        if (status == CR_OK) status = cr__motion_deepen(s, &deeper, error);
    }
    return status == CR_OK && deeper ? fill_boxes(s, false, minima, error) : status;
}

// Of the points p and q of the pool: whether the misfit at p is less by more than twice the standard error of the difference.
bool cr__motion_is_less(const crMotionSearch* s, int p, int q) {
    double mean = 0.0, square = 0.0;
    for (int i = 0; i < s->count; i++) {
        double d = misfits_of(s, q, s->in[i])[s->level] - misfits_of(s, p, s->in[i])[s->level];
        mean += d / s->count;
        square += d * d / s->count;
    }
    return mean > 2.0 * sqrt(fmax(0.0, square - mean * mean) / s->count);
}

// Where a quadratic was laid across a cliff its minimum may lie beyond: if the misfit there is worse than at
// the best point that was simulated, by more than twice the standard error of the difference, that point
// counts.
static crStatus check_least(crMotionSearch* s, crError* error) {
    int dim = s->fit->dim, best = 0, here = 0;
    size_t size = (size_t)dim * sizeof *s->x;
    while (here < s->pool.count && memcmp(&s->pool.x[here * dim], s->x, size) != 0) {
        here++;
    }
    crStatus status = CR_OK;
    if (here == s->pool.count) {
        memcpy(&s->pool.x[here * dim], s->x, size);
        status = cr__motion_add(s, 1, error);
    }
    if (status != CR_OK) return status;
    for (int p = 1; p < s->pool.count; p++) {
        if (cr__motion_mean_at(s, p, NULL) < cr__motion_mean_at(s, best, NULL)) best = p;
    }
    if (cr__motion_is_less(s, best, here)) memcpy(s->x, &s->pool.x[best * dim], size);
    return CR_OK;
}

crStatus cr__motion_search(crMotionSearch* s, crError* error) {
    if (s->fit->dim == 0) return CR_OK;
    double* minima = malloc((size_t)(CR_MOTION_RESAMPLES * s->fit->dim) * sizeof *minima);
    crStatus status = minima != NULL ? run_rounds(s, minima, error) : cr__motion_no_memory(error);
    if (status == CR_OK && !s->smooth) status = check_least(s, error);
    free(minima);
    return status;
}
