// fit.c - one law, many measured collisions: global start, refinement, cross-validation, bootstrap, profiles.
//
// The errors of all rows at the points of a Halton sequence are kept, so that every resample and every fold
// finds its own start without asking the law again; from there a simplex goes on (search.c). Folds and
// resamples come from seed and index alone, are the same for every law, and are jobs of their own (jobs.c).
// Fails: see fit.h.
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

#include "fit/gauss.h"
#include "fit/jobs.h"
#include "fit/random.h"
#include "fit/search.h"

#define STARTS         4    // refined from the global start
#define APART          0.2  // that these are from each other along some axis
#define PROFILE        16   // steps across a parameter's range
#define ROWS_PER_PARAM 5
#define CORRELATED     0.95

typedef struct Job {
    const crImpacts* impacts;
    crFitLaw law;
    const crFitOptions* options;
    crFit* fit;
    int dim;
    crFitParam param[CR_SEARCH_DIM];
    int points, stride, start_rows;
    double* start;     // errors (points*start_rows)
    int* fold;         // of each row (rows)
    double* replicas;  // places (bootstrap*dim)
    double* reach;     // of profiles, places (dim*2)
    double* best;      // errors with theta (rows)
    double* later;     // what the later jobs bring (later_count*later_size)
    int later_count, later_size;
    double x[CR_SEARCH_DIM];
    int before, all;  // jobs, for the watcher
} Job;

// A loss over every `stride`-th row, each as often as its weight says.
typedef struct Weighted {
    const Job* job;
    const unsigned short* weight;  // NULL: all once (rows)
    int stride;
    int held;        // index of the parameter that is held, -1 for none
    double held_at;  // its place
} Weighted;

crFitOptions cr_fit_options(void) {
    return (crFitOptions){
        .params = ~0u, .fixed = cr_fit_theta(), .folds = 10, .bootstrap = 200, .seed = 1, .threads = 1};
}

static int random_below(uint64_t* state, int count) { return (int)(cr__random_uniform(state) * count); }

static crFitTheta theta_at(const Job* job, const double* x) {
    crFitTheta theta = job->options->fixed;
    for (int i = 0; i < job->dim; i++) {
        theta.value[job->param[i]] = cr_fit_param_value(job->param[i], x[i]);
    }
    return theta;
}

static double row_error(const Job* job, const crFitTheta* theta, int row) {
    const crImpactRow* r = &job->impacts->rows[row];
    crHit hit;
    bool answered = true;
    cr_fit_answer(job->law, theta, &r->contact, &hit, &answered, NULL);
    return cr_impact_error(r, hit.P);
}

static double weighted_loss(void* ctx, const double* x) {
    const Weighted* w = ctx;
    const Job* job = w->job;
    double full[CR_SEARCH_DIM];
    for (int i = 0, k = 0; i < job->dim; i++) {
        full[i] = i == w->held ? w->held_at : x[k++];
    }
    crFitTheta theta = theta_at(job, full);
    double sum = 0.0, total = 0.0;
    for (int i = 0; i < job->impacts->count; i += w->stride) {
        int weight = w->weight != NULL ? w->weight[i] : 1;
        if (weight > 0) sum += weight * row_error(job, &theta, i);
        total += weight;
    }
    return sum / fmax(total, 1.0);
}

static crStatus start_job(void* ctx, int index, double* result, crError* error) {
    const Job* job = ctx;
    (void)error;
    double x[CR_SEARCH_DIM];
    cr__search_point(index, job->dim, x);
    crFitTheta theta = theta_at(job, x);
    for (int i = 0; i < job->start_rows; i++) {
        result[i] = row_error(job, &theta, i * job->stride);
    }
    return CR_OK;
}

static bool is_near(const double* x, const double* y, int dim) {
    for (int i = 0; i < dim; i++) {
        if (fabs(x[i] - y[i]) > APART) return false;
    }
    return true;
}

// the points with the least weighted sum of errors that are apart from each other, best first; how many
static int best_starts(const Job* job, const unsigned short* weight, double x[STARTS][CR_SEARCH_DIM]) {
    double least[STARTS];
    int count = 0;
    for (int k = 0; k < STARTS; k++) {
        least[k] = INFINITY;
        for (int p = 0; p < job->points; p++) {
            double at[CR_SEARCH_DIM], sum = 0.0;
            cr__search_point(p, job->dim, at);
            bool taken = false;
            for (int m = 0; m < count && !taken; m++) {
                taken = is_near(at, x[m], job->dim);
            }
            for (int i = 0; i < job->start_rows && !taken; i++) {
                int w = weight != NULL ? weight[i * job->stride] : 1;
                sum += w * job->start[(size_t)p * (size_t)job->start_rows + (size_t)i];
            }
            if (taken || !(sum < least[k])) continue;
            least[k] = sum;
            memcpy(x[k], at, sizeof at);
        }
        if (isinf(least[k])) break;
        count++;
    }
    return count;
}

static crGauss gauss_at(const Job* job, const unsigned short* weight, const double* x) {
    crGauss g = {.impacts = job->impacts, .law = job->law, .dim = job->dim, .weight = weight};
    memcpy(g.param, job->param, sizeof g.param);
    g.theta = theta_at(job, x);
    return g;
}

static double gauss_from(const Job* job, const unsigned short* weight, double* x, int* used) {
    crGauss g = gauss_at(job, weight, x);
    cr_gauss_refine(&g);
    *used += g.passes;
    for (int i = 0; i < job->dim; i++) {
        x[i] = cr_fit_param_place(job->param[i], g.theta.value[job->param[i]]);
    }
    return g.loss;
}

// the same by derivatives, from each of the best starts
static double fit_by_gauss(const Job* job, const unsigned short* weight, double* x, int* used) {
    double start[STARTS][CR_SEARCH_DIM];
    int starts = best_starts(job, weight, start);
    double least = INFINITY;
    for (int k = 0; k < starts; k++) {
        double f = gauss_from(job, weight, start[k], used);
        if (!(f < least)) continue;
        least = f;
        memcpy(x, start[k], sizeof start[k]);
    }
    return least;
}

// the least weighted loss: from the best starts over the sample, then from the best of these over all rows
static double fit_weighted(const Job* job, const unsigned short* weight, double tol, double* x, int* used) {
    if (job->options->gauss) return fit_by_gauss(job, weight, x, used);
    double start[STARTS][CR_SEARCH_DIM];
    int starts = best_starts(job, weight, start);
    Weighted w = {job, weight, job->stride, -1, 0.0};
    double least = INFINITY;
    for (int k = 0; k < starts; k++) {
        crSearch search = {weighted_loss, &w, job->dim, 0.06, 1e-3, 150 * job->dim, 0};
        double f = cr__search(&search, start[k]);
        *used += search.used;
        if (!(f < least)) continue;
        least = f;
        memcpy(x, start[k], sizeof start[k]);
    }
    w.stride = 1;
    crSearch search = {weighted_loss, &w, job->dim, 0.01, tol, 100 * job->dim, 0};
    least = cr__search(&search, x);
    *used += search.used;
    return least;
}

// errors of the rows of a fold, in their order
static void cross_validate(const Job* job, int fold, unsigned short* weight, double* errors, int* used) {
    int rows = job->impacts->count;
    for (int i = 0; i < rows; i++) {
        weight[i] = job->fold[i] != fold;
    }
    double x[CR_SEARCH_DIM] = {0};
    fit_weighted(job, weight, 1e-4, x, used);
    crFitTheta theta = theta_at(job, x);
    for (int i = 0, k = 0; i < rows; i++) {
        if (job->fold[i] == fold) errors[k++] = row_error(job, &theta, i);
    }
}

// As many rows as there are, or as a slow law allows: the spread of estimates goes with the root of that
// number and is scaled to all rows.
static void resample(const Job* job, int index, unsigned short* weight, double* x, int* used) {
    int rows = job->impacts->count;
    int drawn = rows < job->law.sample ? rows : job->law.sample;
    uint64_t random = job->options->seed ^ ((uint64_t)(index + 1) << 32);
    memset(weight, 0, (size_t)rows * sizeof *weight);
    for (int i = 0; i < drawn; i++) {
        weight[random_below(&random, rows)]++;
    }
    memcpy(x, job->x, (size_t)job->dim * sizeof *x);
    if (job->options->gauss) {
        gauss_from(job, weight, x, used);
    } else {
        Weighted w = {job, weight, 1, -1, 0.0};
        crSearch search = {weighted_loss, &w, job->dim, 0.02, 2e-4, 40 * job->dim, 0};
        cr__search(&search, x);
        *used += search.used;
    }
    double scale = sqrt((double)drawn / rows);
    for (int i = 0; i < job->dim; i++) {
        x[i] = job->x[i] + scale * (x[i] - job->x[i]);
    }
}

// true where the errors of the sample grow by more than twice the standard error of the growth
static bool is_worse(const Job* job, const crFitTheta* theta) {
    int rows = job->start_rows;
    double mean = 0.0, square = 0.0, size = 0.0;
    for (int i = 0; i < rows; i++) {
        double d = row_error(job, theta, i * job->stride) - job->best[i * job->stride];
        mean += d;
        square += d * d;
        size += job->best[i * job->stride];
    }
    mean /= rows;
    double se = sqrt(fmax(0.0, square / rows - mean * mean) / rows);
    return mean > 2.0 * se && mean > 1e-9 * (size / rows + 1e-9);
}

// how far parameter `held` can go one way, the others following, before the fit is worse
static double profile(const Job* job, int held, int way, int* used) {
    double x[CR_SEARCH_DIM];
    memcpy(x, job->x, sizeof x);
    double reach = job->x[held];
    double end = way > 0 ? 1.0 : 0.0;
    for (int step = 1; step <= PROFILE && reach != end; step++) {
        double at = fmin(1.0, fmax(0.0, job->x[held] + way * step / (double)PROFILE));
        Weighted w = {job, NULL, job->stride, held, at};
        double others[CR_SEARCH_DIM];
        for (int i = 0, k = 0; i < job->dim; i++) {
            if (i != held) others[k++] = x[i];
        }
        crSearch search = {weighted_loss, &w, job->dim - 1, 0.03, 1e-3, 30 * job->dim, 0};
        if (job->dim > 1) cr__search(&search, others);
        *used += search.used + 1;
        for (int i = 0, k = 0; i < job->dim; i++) {
            x[i] = i == held ? at : others[k++];
        }
        crFitTheta theta = theta_at(job, x);
        if (is_worse(job, &theta)) break;
        reach = at;
    }
    return reach;
}

// profiles, folds, then resamples, the longest first; how many evaluations it took comes first in the result
static crStatus later_job(void* ctx, int index, double* result, crError* error) {
    const Job* job = ctx;
    unsigned short* weight = calloc((size_t)job->impacts->count, sizeof *weight);
    if (weight == NULL) return cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
    int at = index, used = 0;
    if (at < 2 * job->dim) {
        result[1] = profile(job, at / 2, at % 2 == 0 ? -1 : 1, &used);
    } else if ((at -= 2 * job->dim) < job->options->folds) {
        cross_validate(job, at, weight, &result[1], &used);
    } else {
        resample(job, at - job->options->folds, weight, &result[1], &used);
    }
    result[0] = used;
    free(weight);
    return CR_OK;
}

// what the later jobs brought, each to its place
static void take_apart(Job* job) {
    int folds = job->options->folds;
    for (int i = 0; i < job->later_count; i++) {
        const double* result = &job->later[(size_t)i * (size_t)job->later_size];
        int at = i - 2 * job->dim;
        job->fit->evaluations += (int)result[0];
        if (at < 0) job->reach[i] = result[1];
        for (int row = 0, k = 1; at >= 0 && at < folds && row < job->impacts->count; row++) {
            if (job->fold[row] == at) job->fit->errors[row] = result[k++];
        }
        if (at >= folds)
            memcpy(&job->replicas[(size_t)(at - folds) * (size_t)job->dim], &result[1],
                   (size_t)job->dim * sizeof *result);
    }
}

static bool watch(void* ctx, int done, int count) {
    const Job* job = ctx;
    const crFitOptions* o = job->options;
    (void)count;
    return o->watch == NULL || o->watch(o->ctx, job->law.name, job->before + done, job->all);
}

static void deal_folds(Job* job) {
    int rows = job->impacts->count;
    uint64_t random = job->options->seed;
    for (int i = 0; i < rows; i++) {
        job->fold[i] = i % job->options->folds;
    }
    for (int i = rows - 1; i > 0; i--) {
        int k = random_below(&random, i + 1);
        int swap = job->fold[i];
        job->fold[i] = job->fold[k];
        job->fold[k] = swap;
    }
}

// theta, the errors with it, and what it answers
static void fit_all_rows(Job* job) {
    crFit* fit = job->fit;
    int rows = job->impacts->count;
    fit->loss = fit_weighted(job, NULL, 1e-7, job->x, &fit->evaluations);
    fit->theta = theta_at(job, job->x);
    for (int i = 0; i < rows; i++) {
        const crImpactRow* r = &job->impacts->rows[i];
        crHit hit;
        bool answered = true;
        cr_fit_answer(job->law, &fit->theta, &r->contact, &hit, &answered, NULL);
        fit->P[i] = hit.P;
        job->best[i] = cr_impact_error(r, hit.P);
        fit->unanswered += !answered;
        fit->impermissible += answered && !hit.permissible;
        fit->creates_energy += answered && hit.creates_energy;
    }
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double correlation(const Job* job, int a, int b) {
    int n = job->options->bootstrap;
    double ma = 0.0, mb = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (int i = 0; i < n; i++) {
        ma += job->replicas[i * job->dim + a] / n;
        mb += job->replicas[i * job->dim + b] / n;
    }
    for (int i = 0; i < n; i++) {
        double x = job->replicas[i * job->dim + a] - ma, y = job->replicas[i * job->dim + b] - mb;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    return aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : 0.0;
}

static void intervals(const Job* job, int i, double* sorted) {
    crFitted* f = &job->fit->fitted[i];
    int n = job->options->bootstrap;
    f->lo = f->hi = (double)NAN;
    f->partner = -1;
    if (n == 0) return;
    for (int k = 0; k < n; k++) {
        sorted[k] = cr_fit_param_value(f->param, job->replicas[k * job->dim + i]);
    }
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    int tail = (int)(0.025 * n);
    f->lo = fmin(sorted[tail], job->fit->theta.value[f->param]);
    f->hi = fmax(sorted[n - 1 - tail], job->fit->theta.value[f->param]);
    for (int k = 0; k < job->dim; k++) {
        double c = k != i ? correlation(job, i, k) : 0.0;
        if (fabs(c) < CORRELATED || fabs(c) < fabs(f->correlation)) continue;
        f->partner = k;
        f->correlation = c;
    }
}

static void determine(const Job* job, int i) {
    crFitted* f = &job->fit->fitted[i];
    double lo = job->reach[2 * i], hi = job->reach[2 * i + 1];
    f->flat_lo = cr_fit_param_value(f->param, lo);
    f->flat_hi = cr_fit_param_value(f->param, hi);
    bool wide = hi - lo > 0.4;
    f->determined = lo <= 0.0 && hi >= 1.0 ? CR_UNDETERMINED
                    : wide && hi >= 1.0    ? CR_BOUNDED_BELOW
                    : wide && lo <= 0.0    ? CR_BOUNDED_ABOVE
                                           : CR_DETERMINED;
    // a search on a flat loss stands still: what is as good belongs to the interval
    if (f->determined == CR_DETERMINED || isnan(f->lo)) return;
    f->lo = fmin(f->lo, f->flat_lo);
    f->hi = fmax(f->hi, f->flat_hi);
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

static crStatus run_job(Job* job, crError* error) {
    const crFitOptions* o = job->options;
    crJobs jobs = {.count = job->points, .size = job->start_rows, .run = start_job, .ctx = job};
    jobs.threads = o->threads;
    jobs.ranks = o->ranks;
    jobs.watch = watch;
    job->all = job->points + job->later_count;
    crStatus status = cr_jobs_run(&jobs, job->start, error);
    if (status != CR_OK) return status;
    fit_all_rows(job);
    deal_folds(job);
    job->before = job->points;
    jobs.count = job->later_count;
    jobs.size = job->later_size;
    jobs.run = later_job;
    status = cr_jobs_run(&jobs, job->later, error);
    if (status != CR_OK) return status;
    job->fit->evaluations += job->points;
    take_apart(job);
    double* sorted = malloc((size_t)(o->bootstrap + 1) * sizeof *sorted);
    if (sorted == NULL) return cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
    crGauss g = gauss_at(job, NULL, job->x);
    cr_gauss_errors(&g);
    for (int i = 0; i < job->dim; i++) {
        job->fit->fitted[i].se = g.se[i];
        intervals(job, i, sorted);
        determine(job, i);
    }
    free(sorted);
    mean_and_se(job->fit->errors, job->impacts->count, &job->fit->cv, &job->fit->cv_se);
    return CR_OK;
}

static crStatus with_memory(Job* job, crError* error) {
    size_t rows = (size_t)job->impacts->count;
    int folds = job->options->folds;
    int fold_rows = (job->impacts->count + folds - 1) / folds;
    job->later_count = 2 * job->dim + folds + job->options->bootstrap;
    job->later_size = 1 + (fold_rows > job->dim ? fold_rows : job->dim);
    job->stride = (job->impacts->count + job->law.sample - 1) / job->law.sample;
    job->start_rows = (job->impacts->count + job->stride - 1) / job->stride;
    job->points = job->dim == 0 ? 1 : 32 * job->dim * job->dim;
    job->start = malloc((size_t)job->points * (size_t)job->start_rows * sizeof *job->start);
    job->fold = malloc(rows * sizeof *job->fold);
    job->replicas = calloc((size_t)job->options->bootstrap * (size_t)job->dim + 1, sizeof *job->replicas);
    job->reach = calloc(2 * CR_SEARCH_DIM, sizeof *job->reach);
    job->best = malloc(rows * sizeof *job->best);
    job->later = malloc((size_t)job->later_count * (size_t)job->later_size * sizeof *job->later);
    job->fit->errors = calloc(rows, sizeof *job->fit->errors);
    job->fit->P = calloc(rows, sizeof *job->fit->P);
    bool got = job->start != NULL && job->fold != NULL && job->replicas != NULL && job->reach != NULL &&
               job->best != NULL && job->later != NULL && job->fit->errors != NULL && job->fit->P != NULL;
    crStatus status =
        got ? run_job(job, error) : cr_error_set(error, CR_ERR_MEMORY, "fit", "fit: out of memory");
    free(job->start);
    free(job->fold);
    free(job->replicas);
    free(job->reach);
    free(job->best);
    free(job->later);
    return status;
}

// a law that refuses one row does not apply to the data
static void check_applies(const crImpacts* impacts, crFitLaw law, crFit* fit) {
    crFitTheta theta = cr_fit_theta();
    for (int i = 0; i < impacts->count && fit->status == CR_OK; i++) {
        crHit hit;
        bool answered = true;
        fit->status = cr_fit_answer(law, &theta, &impacts->rows[i].contact, &hit, &answered, &fit->error);
        fit->error.line = impacts->rows[i].line;
    }
}

crStatus cr_fit_run(const crImpacts* impacts, crFitLaw law, const crFitOptions* options, crFit* fit,
                    crError* error) {
    *fit = (crFit){.law = law};
    Job job = {.impacts = impacts, .law = law, .options = options, .fit = fit};
    unsigned params = (impacts->planar ? law.params : law.spatial) & options->params;
    for (int i = 0; i < CR_FIT_PARAMS && job.dim < CR_SEARCH_DIM; i++) {
        if ((params & (1u << i)) == 0) continue;
        fit->fitted[job.dim].param = (crFitParam)i;
        job.param[job.dim++] = (crFitParam)i;
    }
    fit->count = job.dim;
    int least = job.dim * ROWS_PER_PARAM > options->folds ? job.dim * ROWS_PER_PARAM : options->folds;
    if (impacts->count < least)
        return cr_error_set(error, CR_ERR_SIZE, "rows",
                            "rows: %d are too few for %d parameters of %s and %d folds; at least %d",
                            impacts->count, job.dim, law.name, options->folds, least);
    check_applies(impacts, law, fit);
    if (fit->status != CR_OK) return CR_OK;
    crStatus status = with_memory(&job, error);
    if (status != CR_OK) cr_fit_destroy(fit);
    return status;
}

void cr_fit_destroy(crFit* fit) {
    free(fit->errors);
    free(fit->P);
    fit->errors = NULL;
    fit->P = NULL;
}

void cr_fit_compare_errors(const double* a, const double* b, int count, double* difference, double* se) {
    double sum = 0.0, square = 0.0;
    for (int i = 0; i < count; i++) {
        sum += a[i] - b[i];
    }
    *difference = sum / count;
    for (int i = 0; i < count; i++) {
        double d = a[i] - b[i] - *difference;
        square += d * d;
    }
    *se = count > 1 ? sqrt(square / ((double)count * (count - 1))) : 0.0;
}

const char* cr_determined_name(crDetermined determined) {
    static const char* const names[] = {"yes", "bounded-below", "bounded-above", "no"};
    return names[determined];
}

void cr_fit_compare(const crFit* a, const crFit* b, int rows, double* difference, double* se) {
    cr_fit_compare_errors(a->errors, b->errors, rows, difference, se);
}

int cr_fit_rank_by(const double* (*score)(const void* fits, int i), const void* fits, int count, int* order) {
    int ranked = 0;
    for (int i = 0; i < count; i++) {
        const double* own = score(fits, i);
        if (own == NULL) continue;
        int k = ranked++;
        for (; k > 0 && *score(fits, order[k - 1]) > *own; k--) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
    return ranked;
}

static const double* score(const void* fits, int i) {
    const crFit* fit = (const crFit*)fits + i;
    return fit->status == CR_OK ? &fit->cv : NULL;
}

int cr_fit_rank(const crFit* fits, int count, int* order) {
    return cr_fit_rank_by(score, fits, count, order);
}
