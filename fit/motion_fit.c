// motion_fit.c - search, cross-validation, bootstrap and profiles over simulated tosses.
//
// A round simulates tosses at points of a box and lays a quadratic (bowl.c) through the better half of all
// points in it; the box then closes around the quadratic's minimum, along each parameter as far as minima over
// resampled tosses and the three best points allow, until it closes no more. So the resolution of a search is
// that of the data. Each fold has a search of its own that sees no toss of the fold. Rounds are batches of
// independent jobs (jobs.c); all that is decided between them is computed from their results in order.
// Fails: see motion_fit.h.
#include "fit/motion_fit.h"

#include <stdlib.h>
#include <string.h>

#include "fit/bowl.h"
#include "fit/jobs.h"

#define ROUNDS           12
#define EXPECTED_ROUNDS  6
#define BOX_RESAMPLES    60
#define CLOSE            0.5   // most that a box closes in a round
#define MARGIN           1.5   // of the box around the resampled minima
#define STANDS           0.85  // closing less than this along every parameter is the end
#define NARROW           2e-4  // boxes need not be narrower
#define BEST             3     // points that stay in the box
#define PROFILE          16
#define CORRELATED       0.95
#define TOSSES_PER_PARAM 3

enum {
    R_POSITION,
    R_ROTATION,
    R_MISFIT,
    R_PENETRATION,
    R_CREATED,
    R_GAIN,
    R_STEPS,
    R_UNSOLVED,
    R_IMPERMISSIBLE,
    R_BROKEN,
    R_SIZE
};

typedef struct Fit {
    const crMotionModel* model;
    const crMotionOptions* options;
    crMotionFit* out;
    int dim, tosses;
    int points;  // of a round
    int stage;
    int done;      // simulated in earlier stages
    int expected;  // in all
} Fit;

// Points at which the loss is known, for some tosses.
typedef struct Pool {
    int count, room;
    double* x;       // (room*dim)
    double* misfit;  // of each toss; only those that a search uses (room*tosses)
} Pool;

// A search over some tosses.
typedef struct Search {
    Fit* fit;
    Pool pool;
    int count;
    const int* in;  // tosses (count)
    double lo[CR_SEARCH_DIM], hi[CR_SEARCH_DIM];
    double x[CR_SEARCH_DIM];  // where the loss is least
    int used;                 // points of the last quadratic
    double* used_x;           // (room*dim)
    int* used_at;             // in the pool (room)
    double* f;                // (room)
    int rounds;
} Search;

typedef struct Batch {
    const Fit* fit;
    const double* x;  // (points*dim)
    const int* in;    // tosses (count)
    int count;
} Batch;

crMotionOptions cr_motion_options(void) {
    return (crMotionOptions){.folds = 2, .bootstrap = 200, .seed = 1, .threads = 1};
}

static crStatus no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
}

static void values_at(const Fit* f, const double* x, double* values) {
    for (int i = 0; i < f->dim; i++) {
        values[i] = cr_motion_param_value(&f->model->params[i], x[i]);
    }
}

static crStatus run_job(void* ctx, int job, double* result, crError* error) {
    const Batch* b = ctx;
    double values[CR_MOTION_PARAMS];
    crMotionRun run;
    values_at(b->fit, &b->x[job / b->count * b->fit->dim], values);
    crStatus status = cr_motion_simulate(b->fit->model, values, b->in[job % b->count], &run, NULL, error);
    const double all[R_SIZE] = {run.position,       run.rotation,    run.misfit, run.penetration,
                                run.energy_created, run.energy_gain, run.steps,  run.unsolved,
                                run.impermissible,  run.broken};
    memcpy(result, all, sizeof all);
    return status;
}

static bool watch(void* ctx, int done, int count) {
    (void)count;
    const Fit* f = ((const Batch*)ctx)->fit;
    const crMotionOptions* o = f->options;
    int now = f->done + done;
    return o->watch == NULL || o->watch(o->ctx, now, now > f->expected ? now : f->expected);
}

// results of the tosses `in` at points x (points*count*R_SIZE), to free
static crStatus simulate(Fit* f, const double* x, int points, const int* in, int count, double** results,
                         crError* error) {
    const crMotionOptions* o = f->options;
    Batch batch = {f, x, in, count};
    crJobs jobs = {.count = points * count,
                   .size = R_SIZE,
                   .run = run_job,
                   .ctx = &batch,
                   .threads = o->threads,
                   .watch = watch,
                   .checkpoint = o->checkpoint,
                   .key = o->key,
                   .stage = (uint64_t)(o->stage + f->stage++)};
    *results = malloc((size_t)jobs.count * R_SIZE * sizeof **results + 1);
    if (*results == NULL) return no_memory(error);
    crStatus status = cr_jobs_run(&jobs, *results, error);
    f->done += jobs.count;
    f->out->simulated += jobs.count;
    if (status == CR_OK) return CR_OK;
    free(*results);
    *results = NULL;
    return status;
}

// searches

// splitmix64
static uint64_t next_random(uint64_t* state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static int random_below(uint64_t* state, int count) {
    return (int)((double)(next_random(state) >> 11) * 0x1p-53 * count);
}

static crStatus search_create(Search* s, Fit* fit, const int* in, int count, crError* error) {
    *s = (Search){.fit = fit, .in = in, .count = count};
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
    return got ? CR_OK : no_memory(error);
}

static void search_destroy(Search* s) {
    free(s->pool.x);
    free(s->pool.misfit);
    free(s->used_x);
    free(s->used_at);
    free(s->f);
}

// `points` more of Halton's sequence, within the box
static crStatus add_points(Search* s, int points, crError* error) {
    Fit* f = s->fit;
    Pool* p = &s->pool;
    double* x = &p->x[p->count * f->dim];
    for (int k = 0; k < points; k++) {
        double* at = &x[k * f->dim];
        cr__search_point(p->count + k, f->dim, at);
        for (int i = 0; i < f->dim; i++) {
            at[i] = s->lo[i] + at[i] * (s->hi[i] - s->lo[i]);
        }
    }
    double* results = NULL;
    crStatus status = simulate(f, x, points, s->in, s->count, &results, error);
    for (int k = 0; status == CR_OK && k < points; k++) {
        for (int i = 0; i < s->count; i++) {
            p->misfit[(size_t)(p->count + k) * (size_t)f->tosses + (size_t)s->in[i]] =
                results[(k * s->count + i) * R_SIZE + R_MISFIT];
        }
    }
    if (status == CR_OK) p->count += points;
    free(results);
    return status;
}

// mean loss at a point; weight NULL: every toss of the search once, else as often as it says (count)
static double mean_at(const Search* s, int point, const unsigned short* weight) {
    const double* misfit = &s->pool.misfit[(size_t)point * (size_t)s->fit->tosses];
    double sum = 0.0;
    for (int i = 0; i < s->count; i++) {
        sum += (weight != NULL ? weight[i] : 1) * misfit[s->in[i]];
    }
    return sum / s->count;
}

static bool in_box(const Search* s, const double* x) {
    for (int i = 0; i < s->fit->dim; i++) {
        if (x[i] < s->lo[i] || x[i] > s->hi[i]) return false;
    }
    return true;
}

// the better half of the points in the box, best first, but at least three for each coefficient
static void choose_points(Search* s) {
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
static void least_of(const Search* s, const unsigned short* weight, double* f, double* x) {
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
static crStatus resample(const Search* s, int resamples, double* minima, crError* error) {
    unsigned short* weight = malloc((size_t)s->count * sizeof *weight);
    double* f = malloc((size_t)s->used * sizeof *f);
    bool got = weight != NULL && f != NULL;
    for (int b = 0; got && b < resamples; b++) {
        uint64_t random = s->fit->options->seed ^ ((uint64_t)(b + 1) << 32);
        memset(weight, 0, (size_t)s->count * sizeof *weight);
        for (int i = 0; i < s->count; i++) {
            weight[random_below(&random, s->count)]++;
        }
        least_of(s, weight, f, &minima[b * s->fit->dim]);
    }
    free(weight);
    free(f);
    return got ? CR_OK : no_memory(error);
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

// the middle 95 % of one parameter's resampled minima
static void middle_of(const double* minima, int resamples, int dim, int i, double* sorted, double* lo,
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
static bool close_box(Search* s, const double* minima) {
    int dim = s->fit->dim;
    double sorted[BOX_RESAMPLES];
    bool closes = false;
    for (int i = 0; i < dim; i++) {
        double width = s->hi[i] - s->lo[i], from, to;
        middle_of(minima, BOX_RESAMPLES, dim, i, sorted, &from, &to);
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

static crStatus next_round(Search* s, int points, bool* closes, crError* error) {
    double* minima = malloc((size_t)(BOX_RESAMPLES * s->fit->dim) * sizeof *minima + 1);
    if (minima == NULL) return no_memory(error);
    crStatus status = points > 0 ? add_points(s, points, error) : CR_OK;
    if (status == CR_OK) {
        choose_points(s);
        double lo[CR_SEARCH_DIM], hi[CR_SEARCH_DIM];
        least_of(s, NULL, s->f, s->x);
        memcpy(lo, s->lo, sizeof lo);
        memcpy(hi, s->hi, sizeof hi);
        status = resample(s, BOX_RESAMPLES, minima, error);
        *closes = status == CR_OK && s->rounds < ROUNDS && close_box(s, minima);
        // the last quadratic keeps its box
        if (!*closes) memcpy(s->lo, lo, sizeof lo);
        if (!*closes) memcpy(s->hi, hi, sizeof hi);
    }
    free(minima);
    return status;
}

// from points that are there already, or from none
static crStatus search_run(Search* s, crError* error) {
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

// what is known of the parameters

static double correlation(const double* minima, int n, int dim, int a, int b) {
    double ma = 0.0, mb = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (int i = 0; i < n; i++) {
        ma += minima[i * dim + a] / n;
        mb += minima[i * dim + b] / n;
    }
    for (int i = 0; i < n; i++) {
        double x = minima[i * dim + a] - ma, y = minima[i * dim + b] - mb;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

// how much parameter b moves with a over the resamples
static double follows(const double* minima, int n, int dim, int a, int b) {
    double sa = 0.0, sb = 0.0, ma = 0.0, mb = 0.0;
    for (int i = 0; i < n; i++) {
        ma += minima[i * dim + a] / n;
        mb += minima[i * dim + b] / n;
    }
    for (int i = 0; i < n; i++) {
        double x = minima[i * dim + a] - ma, y = minima[i * dim + b] - mb;
        sa += x * x;
        sb += x * y;
    }
    return sa > 0.0 ? sb / sa : 0.0;
}

static void intervals(const Search* s, const double* minima, double* sorted) {
    const Fit* f = s->fit;
    int n = f->options->bootstrap;
    for (int i = 0; i < f->dim; i++) {
        crMotionFitted* p = &f->out->fitted[i];
        p->lo = p->hi = (double)NAN;
        p->partner = -1;
        if (n == 0) continue;
        double lo, hi;
        middle_of(minima, n, f->dim, i, sorted, &lo, &hi);
        p->lo = fmin(p->value, cr_motion_param_value(&f->model->params[i], lo));
        p->hi = fmax(p->value, cr_motion_param_value(&f->model->params[i], hi));
        for (int k = 0; k < f->dim; k++) {
            double c = k != i ? correlation(minima, n, f->dim, i, k) : 0.0;
            if (fabs(c) < CORRELATED || fabs(c) < fabs(p->correlation)) continue;
            p->partner = k;
            p->correlation = c;
        }
    }
}

// true where the losses grow by more than twice the standard error of the growth
static bool is_worse(const double* results, const double* best, int count) {
    double mean = 0.0, square = 0.0, size = 0.0;
    for (int i = 0; i < count; i++) {
        double d = results[i * R_SIZE + R_MISFIT] - best[i * R_SIZE + R_MISFIT];
        mean += d / count;
        square += d * d / count;
        size += best[i * R_SIZE + R_MISFIT] / count;
    }
    double se = sqrt(fmax(0.0, square - mean * mean) / count);
    return mean > 2.0 * se && mean > 1e-9 * (size + 1e-9);
}

// one parameter across its range in steps of a sixteenth, the others following as they do over resamples
static crStatus profile(const Search* s, int held, const double* minima, int resamples, const double* best,
                        crError* error) {
    Fit* f = s->fit;
    double x[(2 * PROFILE + 2) * CR_SEARCH_DIM];
    double place[2 * PROFILE + 2];
    int count = 0, below = 0;
    // downwards, then upwards, nearest first; the end of the range is the last
    for (int way = -1; way <= 1; way += 2) {
        double end = way > 0 ? 1.0 : 0.0, at = s->x[held];
        for (int step = 1; at != end; step++) {
            at = fmin(1.0, fmax(0.0, s->x[held] + way * step / (double)PROFILE));
            for (int i = 0; i < f->dim; i++) {
                double slope = i == held ? 1.0 : follows(minima, resamples, f->dim, held, i);
                double to = s->x[i] + slope * (at - s->x[held]);
                x[count * f->dim + i] = fmin(1.0, fmax(0.0, to));
            }
            place[count++] = at;
        }
        if (way < 0) below = count;
    }
    double* results = NULL;
    crStatus status = simulate(f, x, count, s->in, s->count, &results, error);
    double reach[2] = {s->x[held], s->x[held]};
    for (int k = 0, worse = 0; status == CR_OK && k < count; k++) {
        if (k == below) worse = 0;
        worse |= is_worse(&results[k * s->count * R_SIZE], best, s->count);
        if (!worse) reach[k >= below] = place[k];
    }
    free(results);
    crMotionFitted* p = &f->out->fitted[held];
    bool wide = reach[1] - reach[0] > 0.4;
    p->flat_lo = cr_motion_param_value(&f->model->params[held], reach[0]);
    p->flat_hi = cr_motion_param_value(&f->model->params[held], reach[1]);
    p->determined = reach[0] <= 0.0 && reach[1] >= 1.0 ? CR_UNDETERMINED
                    : wide && reach[1] >= 1.0          ? CR_BOUNDED_BELOW
                    : wide && reach[0] <= 0.0          ? CR_BOUNDED_ABOVE
                                                       : CR_DETERMINED;
    if (p->determined != CR_DETERMINED && !isnan(p->lo)) {
        p->lo = fmin(p->lo, p->flat_lo);
        p->hi = fmax(p->hi, p->flat_hi);
    }
    return status;
}

static void mean_and_se(const double* values, int count, double* mean, double* se) {
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < count; i++) {
        sum += values[i];
    }
    *mean = sum / count;
    for (int i = 0; i < count; i++) {
        square += (values[i] - *mean) * (values[i] - *mean);
    }
    *se = count > 1 ? sqrt(square / ((double)count * (count - 1))) : 0.0;
}

// the fitted values, their runs, intervals and profiles
static crStatus judge(const Search* s, const double* best, crError* error) {
    Fit* f = s->fit;
    int n = f->options->bootstrap > BOX_RESAMPLES ? f->options->bootstrap : BOX_RESAMPLES;
    double* minima = calloc((size_t)n * (size_t)(f->dim + 1) + (size_t)f->tosses, sizeof *minima);
    if (minima == NULL) return no_memory(error);
    double* sorted = minima + (size_t)n * (size_t)f->dim;
    double values[CR_MOTION_PARAMS];
    values_at(f, s->x, values);
    for (int i = 0; i < f->dim; i++) {
        f->out->fitted[i].value = values[i];
    }
    crStatus status = f->dim > 0 ? resample(s, n, minima, error) : CR_OK;
    if (status == CR_OK) intervals(s, minima, sorted);
    for (int i = 0; i < f->dim && status == CR_OK; i++) {
        status = profile(s, i, minima, n, best, error);
    }
    for (int i = 0; i < f->tosses; i++) {
        const double* r = &best[i * R_SIZE];
        f->out->runs[i] = (crMotionRun){.position = r[R_POSITION],
                                        .rotation = r[R_ROTATION],
                                        .misfit = r[R_MISFIT],
                                        .penetration = r[R_PENETRATION],
                                        .energy_created = r[R_CREATED],
                                        .energy_gain = r[R_GAIN],
                                        .steps = (int)r[R_STEPS],
                                        .unsolved = (int)r[R_UNSOLVED],
                                        .impermissible = (int)r[R_IMPERMISSIBLE],
                                        .broken = r[R_BROKEN] != 0.0};
        sorted[i] = r[R_POSITION] + r[R_ROTATION];
        f->out->misfit += r[R_MISFIT] / f->tosses;
    }
    mean_and_se(sorted, f->tosses, &f->out->loss, &(double){0.0});
    free(minima);
    return status;
}

// cross-validation

static void deal_folds(const Fit* f) {
    uint64_t random = f->options->seed;
    int* fold = f->out->fold;
    for (int i = 0; i < f->tosses; i++) {
        fold[i] = i % f->options->folds;
    }
    for (int i = f->tosses - 1; i > 0; i--) {
        int k = random_below(&random, i + 1);
        int swap = fold[i];
        fold[i] = fold[k];
        fold[k] = swap;
    }
}

static crStatus predict_fold(Search* s, int fold, const int* out, int count, crError* error) {
    Fit* f = s->fit;
    double* results = NULL;
    crStatus status = search_run(s, error);
    if (status == CR_OK) status = simulate(f, s->x, 1, out, count, &results, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        const double* r = &results[i * R_SIZE];
        f->out->misfits[out[i]] = r[R_MISFIT];
        f->out->losses[out[i]] = r[R_POSITION] + r[R_ROTATION];
    }
    values_at(f, s->x, &f->out->fold_values[fold * f->dim]);
    free(results);
    return status;
}

// a search without the tosses of a fold; `first` are points at which all tosses were simulated
static crStatus cross_validate(Fit* f, int fold, const Pool* first, crError* error) {
    int* in = calloc((size_t)f->tosses, sizeof *in);
    int* out = calloc((size_t)f->tosses, sizeof *out);
    int ins = 0, outs = 0;
    for (int i = 0; in != NULL && out != NULL && i < f->tosses; i++) {
        if (f->out->fold[i] == fold) out[outs++] = i;
        if (f->out->fold[i] != fold) in[ins++] = i;
    }
    Search s = {0};
    crStatus status = in != NULL && out != NULL ? search_create(&s, f, in, ins, error) : no_memory(error);
    if (status == CR_OK) {
        s.pool.count = first->count;
        memcpy(s.pool.x, first->x, (size_t)(first->count * f->dim) * sizeof(double));
        memcpy(s.pool.misfit, first->misfit, (size_t)first->count * (size_t)f->tosses * sizeof(double));
        status = predict_fold(&s, fold, out, outs, error);
    }
    search_destroy(&s);
    free(in);
    free(out);
    return status;
}

// as many tosses as will be simulated if every search that is still to come has the usual rounds
static void expect(Fit* f, int folds_to_come) {
    int rounds = f->dim > 0 ? (EXPECTED_ROUNDS - 1) * f->points : 0;
    int train = f->tosses - f->tosses / f->options->folds;
    f->expected = f->done + folds_to_come * (rounds * train + f->tosses / f->options->folds);
}

static crStatus run_fit(Fit* f, Search* s, crError* error) {
    expect(f, f->options->folds);
    f->expected += ((EXPECTED_ROUNDS + 1) * f->points + (PROFILE + 1) * f->dim + 1) * f->tosses;
    double* best = NULL;
    crStatus status = search_run(s, error);
    if (status == CR_OK) status = simulate(f, s->x, 1, s->in, s->count, &best, error);
    expect(f, f->options->folds);
    f->expected += (PROFILE + 1) * f->dim * f->tosses;
    if (status == CR_OK) status = judge(s, best, error);
    free(best);
    f->out->rounds = s->rounds;
    Pool first = s->pool;
    first.count = f->dim > 0 ? 2 * f->points : 0;
    deal_folds(f);
    for (int k = 0; k < f->options->folds && status == CR_OK; k++) {
        expect(f, f->options->folds - k);
        status = cross_validate(f, k, &first, error);
    }
    mean_and_se(f->out->misfits, f->tosses, &f->out->cv, &f->out->cv_se);
    mean_and_se(f->out->losses, f->tosses, &f->out->cv_loss, &f->out->cv_loss_se);
    return status;
}

static crStatus with_memory(Fit* f, crError* error) {
    size_t tosses = (size_t)f->tosses;
    crMotionFit* out = f->out;
    int* in = malloc(tosses * sizeof *in);
    out->misfits = calloc(tosses, sizeof *out->misfits);
    out->losses = calloc(tosses, sizeof *out->losses);
    out->fold = calloc(tosses, sizeof *out->fold);
    out->fold_values = calloc((size_t)(f->options->folds * f->dim) + 1, sizeof *out->fold_values);
    out->runs = calloc(tosses, sizeof *out->runs);
    bool got = in != NULL && out->misfits != NULL && out->losses != NULL && out->fold != NULL &&
               out->fold_values != NULL && out->runs != NULL;
    for (int i = 0; got && i < f->tosses; i++) {
        in[i] = i;
    }
    Search s = {0};
    crStatus status = got ? search_create(&s, f, in, f->tosses, error) : no_memory(error);
    if (status == CR_OK) status = run_fit(f, &s, error);
    search_destroy(&s);
    free(in);
    return status;
}

// a law that refuses a contact of one toss does not apply
static bool is_refusal(crStatus status) {
    return status == CR_ERR_DIAGONAL || status == CR_ERR_PLANAR || status == CR_ERR_REGION;
}

crStatus cr_motion_fit(const crMotionModel* model, const crMotionOptions* options, crMotionFit* fit,
                       crError* error) {
    *fit = (crMotionFit){.count = model->param_count};
    Fit f = {.model = model, .options = options, .out = fit, .dim = model->param_count};
    f.tosses = model->tosses->count;
    f.points = options->points > 0 ? options->points : 6 * cr__bowl_terms(f.dim);
    int half = f.tosses - (f.tosses + options->folds - 1) / options->folds;
    int least = f.dim * TOSSES_PER_PARAM > 1 ? f.dim * TOSSES_PER_PARAM : 1;
    if (f.tosses < options->folds || half < least)
        return cr_error_set(error, CR_ERR_SIZE, "toss",
                            "toss: %d are too few for %d parameters and %d folds; without the largest fold "
                            "there must be at least %d",
                            f.tosses, f.dim, options->folds, least);
    crError trouble = {0};
    crStatus status = with_memory(&f, &trouble);
    if (status == CR_OK) return CR_OK;
    cr_motion_fit_destroy(fit);
    if (is_refusal(status)) {
        fit->status = status;
        fit->error = trouble;
        return CR_OK;
    }
    if (error != NULL) *error = trouble;
    return status;
}

void cr_motion_fit_destroy(crMotionFit* fit) {
    free(fit->misfits);
    free(fit->losses);
    free(fit->fold);
    free(fit->fold_values);
    free(fit->runs);
    fit->misfits = NULL;
    fit->losses = NULL;
    fit->fold = NULL;
    fit->fold_values = NULL;
    fit->runs = NULL;
}

static uint64_t hash_number(uint64_t hash, double value) { return cr_hash(hash, &value, sizeof value); }

uint64_t cr_motion_key(const crMotionModel* m, const crMotionOptions* o) {
    const int revision = CR_NUMERICS_REVISION;
    uint64_t hash = cr_hash(CR_HASH_SEED, m->text, strlen(m->text));
    hash = cr_hash(hash, &revision, sizeof revision);
    hash = hash_number(hash_number(hash, m->length), m->scale);
    for (int i = 0; i < m->param_count; i++) {
        const crMotionParam* p = &m->params[i];
        hash = cr_hash(hash, p->name, strlen(p->name));
        hash = cr_hash(hash, p->path, strlen(p->path));
        hash = hash_number(hash_number(hash_number(hash, p->lo), p->hi), p->ratio);
    }
    const int numbers[] = {m->body, m->substeps, o->points, o->folds, o->bootstrap, m->tosses->count};
    hash = cr_hash(hash, numbers, sizeof numbers);
    hash = cr_hash(hash, &o->seed, sizeof o->seed);
    for (int i = 0; i < m->tosses->sample_count; i++) {
        const crTossSample* s = &m->tosses->samples[i];
        const double all[] = {s->time,     s->angle,    s->pose.p.x, s->pose.p.y, s->pose.p.z,
                              s->pose.q.w, s->pose.q.x, s->pose.q.y, s->pose.q.z, s->v.x,
                              s->v.y,      s->v.z,      s->w.x,      s->w.y,      s->w.z};
        hash = cr_hash(hash, all, sizeof all);
    }
    return hash;
}

void cr_motion_compare(const crMotionFit* a, const crMotionFit* b, int tosses, double* difference,
                       double* se) {
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < tosses; i++) {
        sum += a->misfits[i] - b->misfits[i];
    }
    *difference = sum / tosses;
    for (int i = 0; i < tosses; i++) {
        double d = a->misfits[i] - b->misfits[i] - *difference;
        square += d * d;
    }
    *se = tosses > 1 ? sqrt(square / ((double)tosses * (tosses - 1))) : 0.0;
}
