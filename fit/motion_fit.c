// motion_fit.c - a scene fitted to tosses: the search, its intervals and profiles, cross-validation.
//
// Each fold has a search of its own that sees no toss of the fold but begins with the same first points.
// Profiles move one parameter across its range, the others following as they do over resamples. Fails: see
// motion_fit.h.
#include "fit/motion_fit.h"

#include <stdlib.h>
#include <string.h>

#include "fit/motion_gauss.h"
#include "fit/motion_parts.h"
#include "fit/motion_search.h"

#define PROFILE          16
#define CLEAR            8.0  // standard errors
#define CORRELATED       0.95
#define TOSSES_PER_PARAM 3

crMotionOptions cr_motion_options(void) {
    return (crMotionOptions){.folds = 2, .bootstrap = 200, .seed = 1, .threads = 1};
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

static void intervals(const crMotionSearch* s, const double* minima, double* sorted) {
    const crMotionWork* f = s->fit;
    int n = f->options->bootstrap;
    for (int i = 0; i < f->dim; i++) {
        crMotionFitted* p = &f->out->fitted[i];
        p->lo = p->hi = (double)NAN;
        p->partner = -1;
        if (n == 0) continue;
        double lo, hi;
        cr__motion_middle(minima, n, f->dim, i, sorted, &lo, &hi);
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
        double d = results[i * CR_RUN_SIZE + CR_RUN_MISFIT] - best[i * CR_RUN_SIZE + CR_RUN_MISFIT];
        mean += d / count;
        square += d * d / count;
        size += best[i * CR_RUN_SIZE + CR_RUN_MISFIT] / count;
    }
    double se = sqrt(fmax(0.0, square - mean * mean) / count);
    return mean > 2.0 * se && mean > 1e-9 * (size + 1e-9);
}

// A point a parameter's place away, the others held, or following as they do over resamples.
static void profile_point(const crMotionSearch* s, int held, double at, bool follow, const double* minima,
                          int resamples, double* x) {
    int dim = s->fit->dim;
    for (int i = 0; i < dim; i++) {
        double slope = follow && i != held ? follows(minima, resamples, dim, held, i) : 0.0;
        x[i] = i == held ? at : fmin(1.0, fmax(0.0, s->x[i] + slope * (at - s->x[held])));
    }
}

static void determine(const crMotionSearch* s, int held, const double reach[2]) {
    const crMotionParam* param = &s->fit->model->params[held];
    crMotionFitted* f = &s->fit->out->fitted[held];
    bool wide = reach[1] - reach[0] > 0.4;
    f->flat_lo = cr_motion_param_value(param, reach[0]);
    f->flat_hi = cr_motion_param_value(param, reach[1]);
    f->determined = reach[0] <= 0.0 && reach[1] >= 1.0 ? CR_UNDETERMINED
                    : wide && reach[1] >= 1.0          ? CR_BOUNDED_BELOW
                    : wide && reach[0] <= 0.0          ? CR_BOUNDED_ABOVE
                                                       : CR_DETERMINED;
    if (f->determined == CR_DETERMINED || isnan(f->lo)) return;
    f->lo = fmin(f->lo, f->flat_lo);
    f->hi = fmax(f->hi, f->flat_hi);
}

// How far a parameter can go before the misfit grows, whether the others stay or follow: from the value outwards in steps of a
// sixteenth of its range, both ways at once, until it has grown.
static crStatus profile(const crMotionSearch* s, int held, const double* minima, int resamples,
                        const double* best, crError* error) {
    double reach[2] = {s->x[held], s->x[held]};
    bool open[2] = {s->x[held] > 0.0, s->x[held] < 1.0};
    crStatus status = CR_OK;
    // a sixteenth away is far beyond doubt
    if (s->smooth && CLEAR * s->place[held] < 1.0 / PROFILE) open[0] = open[1] = false;
    for (int step = 1; (open[0] || open[1]) && status == CR_OK; step++) {
        bool grown[2] = {open[0], open[1]};
        double at[2];
        for (int way = 0; way < 2; way++) {
            at[way] = fmin(1.0, fmax(0.0, s->x[held] + (way == 0 ? -step : step) / (double)PROFILE));
        }
        // where the others held are not worse, they need not follow
        for (int follow = 0; follow < 2 && (grown[0] || grown[1]) && status == CR_OK; follow++) {
            double x[2 * CR_SEARCH_DIM], *results = NULL;
            int points = 0;
            for (int way = 0; way < 2; way++) {
                if (!grown[way]) continue;
                profile_point(s, held, at[way], follow > 0, minima, resamples, x + points++ * s->fit->dim);
            }
            status = cr__motion_batch(s->fit, x, points, s->in, s->count, &results, error);
            for (int way = 0, k = 0; way < 2 && status == CR_OK; way++) {
                if (grown[way]) grown[way] = is_worse(results + k++ * s->count * CR_RUN_SIZE, best, s->count);
            }
            free(results);
        }
        for (int way = 0; way < 2 && status == CR_OK; way++) {
            if (!open[way]) continue;
            if (!grown[way]) reach[way] = at[way];
            open[way] = !grown[way] && at[way] > 0.0 && at[way] < 1.0;
        }
    }
    if (status == CR_OK) determine(s, held, reach);
    return status;
}

void cr__motion_mean(const double* values, int count, double* mean, double* se) {
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

// from the Fisher information, where derivatives are at hand
static crStatus standard_errors(const crMotionSearch* s, crError* error) {
    crMotionWork* f = s->fit;
    crMotionGauss g = {.model = f->model, .count = s->count, .in = s->in, .budget = 1};
    for (int i = 0; i < f->dim; i++) {
        f->out->fitted[i].se = (double)NAN;
    }
    for (int i = 0; i < f->dim && s->smooth; i++) {
        f->out->fitted[i].se = s->se[i];
    }
    if (!f->options->gauss || f->dim == 0 || s->smooth) return CR_OK;
    memcpy(g.x, s->x, sizeof g.x);
    crStatus status = cr_motion_gauss(&g, error);
    f->out->simulated += g.passes * s->count;
    for (int i = 0; i < f->dim; i++) {
        f->out->fitted[i].se = g.se[i];
    }
    return status;
}

// the fitted values, their runs, intervals and profiles
static crStatus judge(const crMotionSearch* s, const double* best, crError* error) {
    crMotionWork* f = s->fit;
    int n = f->options->bootstrap > CR_MOTION_RESAMPLES ? f->options->bootstrap : CR_MOTION_RESAMPLES;
    double* minima = calloc((size_t)n * (size_t)(f->dim + 1) + (size_t)f->tosses, sizeof *minima);
    if (minima == NULL) return cr__motion_no_memory(error);
    double* sorted = minima + (size_t)n * (size_t)f->dim;
    double values[CR_MOTION_PARAMS];
    cr__motion_values(f, s->x, values);
    for (int i = 0; i < f->dim; i++) {
        f->out->fitted[i].value = values[i];
    }
    crStatus status = f->dim > 0 ? cr__motion_resample(s, n, minima, error) : CR_OK;
    if (status == CR_OK) status = standard_errors(s, error);
    if (status == CR_OK) intervals(s, minima, sorted);
    for (int i = 0; i < f->dim && status == CR_OK; i++) {
        status = profile(s, i, minima, n, best, error);
    }
    for (int i = 0; i < f->tosses; i++) {
        const double* r = &best[i * CR_RUN_SIZE];
        f->out->runs[i] = (crMotionRun){.position = r[CR_RUN_POSITION],
                                        .rotation = r[CR_RUN_ROTATION],
                                        .misfit = r[CR_RUN_MISFIT],
                                        .penetration = r[CR_RUN_PENETRATION],
                                        .energy_created = r[CR_RUN_CREATED],
                                        .energy_gain = r[CR_RUN_GAIN],
                                        .steps = (int)r[CR_RUN_STEPS],
                                        .unsolved = (int)r[CR_RUN_UNSOLVED],
                                        .impermissible = (int)r[CR_RUN_IMPERMISSIBLE],
                                        .broken = r[CR_RUN_BROKEN] != 0.0};
        sorted[i] = r[CR_RUN_POSITION] + r[CR_RUN_ROTATION];
        f->out->misfit += r[CR_RUN_MISFIT] / f->tosses;
    }
    cr__motion_mean(sorted, f->tosses, &f->out->loss, &(double){0.0});
    free(minima);
    return status;
}

// cross-validation

static void deal_folds(const crMotionWork* f) {
    uint64_t random = f->options->seed;
    int* fold = f->out->fold;
    for (int i = 0; i < f->tosses; i++) {
        fold[i] = i % f->options->folds;
    }
    for (int i = f->tosses - 1; i > 0; i--) {
        int k = cr__motion_random(&random, i + 1);
        int swap = fold[i];
        fold[i] = fold[k];
        fold[k] = swap;
    }
}

static crStatus predict_fold(crMotionSearch* s, int fold, const int* out, int count, crError* error) {
    crMotionWork* f = s->fit;
    double* results = NULL;
    crStatus status = cr__motion_search(s, error);
    if (status == CR_OK) status = cr__motion_batch(f, s->x, 1, out, count, &results, error);
    for (int i = 0; i < count && status == CR_OK; i++) {
        const double* r = &results[i * CR_RUN_SIZE];
        f->out->misfits[out[i]] = r[CR_RUN_MISFIT];
        f->out->losses[out[i]] = r[CR_RUN_POSITION] + r[CR_RUN_ROTATION];
    }
    cr__motion_values(f, s->x, &f->out->fold_values[fold * f->dim]);
    free(results);
    return status;
}

// a search without the tosses of a fold; `first` are points at which all tosses were simulated
static crStatus cross_validate(crMotionWork* f, int fold, const crMotionPool* first, crError* error) {
    int* in = calloc((size_t)f->tosses, sizeof *in);
    int* out = calloc((size_t)f->tosses, sizeof *out);
    int ins = 0, outs = 0;
    for (int i = 0; in != NULL && out != NULL && i < f->tosses; i++) {
        if (f->out->fold[i] == fold) out[outs++] = i;
        if (f->out->fold[i] != fold) in[ins++] = i;
    }
    crMotionSearch s = {0};
    crStatus status = in != NULL && out != NULL ? cr__motion_search_create(&s, f, in, ins, error)
                                                : cr__motion_no_memory(error);
    if (status == CR_OK) {
        s.pool.count = first->count;
        memcpy(s.pool.x, first->x, (size_t)(first->count * f->dim) * sizeof(double));
        memcpy(s.pool.misfit, first->misfit,
               (size_t)first->count * (size_t)f->tosses * CR_MOTION_LEVELS * sizeof(double));
        status = predict_fold(&s, fold, out, outs, error);
    }
    cr__motion_search_destroy(&s);
    free(in);
    free(out);
    return status;
}

// as many tosses as will be simulated if every search that is still to come has the usual rounds
static void expect(crMotionWork* f, int folds_to_come) {
    int rounds = f->dim > 0 ? (CR_MOTION_EXPECTED - 1) * f->points : 0;
    int train = f->tosses - f->tosses / f->options->folds;
    f->expected = f->done + folds_to_come * (rounds * train + f->tosses / f->options->folds);
}

static crStatus run_fit(crMotionWork* f, crMotionSearch* s, crError* error) {
    expect(f, f->options->folds);
    f->expected += ((CR_MOTION_EXPECTED + 1) * f->points + 2 * (PROFILE + 1) * f->dim + 1) * f->tosses;
    double* best = NULL;
    crStatus status = cr__motion_search(s, error);
    if (status == CR_OK) status = cr__motion_batch(f, s->x, 1, s->in, s->count, &best, error);
    expect(f, f->options->folds);
    f->expected += 2 * (PROFILE + 1) * f->dim * f->tosses;
    if (status == CR_OK) status = judge(s, best, error);
    free(best);
    f->out->rounds = s->rounds;
    crMotionPool first = s->pool;
    first.count = f->dim > 0 ? 2 * f->points : 0;
    deal_folds(f);
    for (int k = 0; k < f->options->folds && status == CR_OK; k++) {
        expect(f, f->options->folds - k);
        status = cross_validate(f, k, &first, error);
    }
    cr__motion_mean(f->out->misfits, f->tosses, &f->out->cv, &f->out->cv_se);
    cr__motion_mean(f->out->losses, f->tosses, &f->out->cv_loss, &f->out->cv_loss_se);
    return status;
}

static crStatus with_memory(crMotionWork* f, crError* error) {
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
    crMotionSearch s = {0};
    crStatus status =
        got ? cr__motion_search_create(&s, f, in, f->tosses, error) : cr__motion_no_memory(error);
    if (status == CR_OK) status = run_fit(f, &s, error);
    cr__motion_search_destroy(&s);
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
    crMotionWork f = {.model = model, .options = options, .out = fit, .dim = model->param_count};
    f.tosses = model->tosses->count;
    f.points = options->points > 0 ? options->points : 6 * cr__bowl_terms(f.dim);
    int half = f.tosses - (f.tosses + options->folds - 1) / options->folds;
    int least = f.dim * TOSSES_PER_PARAM > 1 ? f.dim * TOSSES_PER_PARAM : 1;
    if (f.tosses < options->folds || half < least)
        return cr_error_set(error, CR_ERR_SIZE, "toss",
                            "toss: %d are too few for %d parameters and %d folds; without the largest fold "
                            "there must be at least %d",
                            f.tosses, f.dim, options->folds, least);
    if (options->gauss && !cr_motion_gauss_can(model))
        return cr_error_set(
            error, CR_ERR_ARGUMENT, "search",
            "search: gauss needs one free body and parameters among mu, e and et of all materials");
    crError trouble = {0};
    crStatus status = cr__motion_worlds(&f.worlds, model, &options->device, options->threads,
                                        2 * f.points * f.tosses, &trouble);
    if (status == CR_OK) status = with_memory(&f, &trouble);
    cr__motion_worlds_destroy(&f.worlds);
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
    if (o->gauss) hash = cr_hash(hash, "gauss", 5);
    for (int i = 0; i < m->tosses->sample_count; i++) {
        const crTossSample* s = &m->tosses->samples[i];
        const double all[] = {s->time,     s->angle,    s->pose.p.x, s->pose.p.y, s->pose.p.z,
                              s->pose.q.w, s->pose.q.x, s->pose.q.y, s->pose.q.z, s->v.x,
                              s->v.y,      s->v.z,      s->w.x,      s->w.y,      s->w.z};
        hash = cr_hash(hash, all, sizeof all);
    }
    return hash;
}

crStatus cr_motion_models(const crMotionDef* def, const crMotionLaw* laws, int count,
                          crMotionOptions* options, crMotionModel* models, crError* error) {
    options->key = CR_HASH_SEED;
    for (int i = 0; i < count; i++) {
        crStatus status = cr_motion_model_create(def, &laws[i], &models[i], error);
        if (status != CR_OK) return status;
        uint64_t key = cr_motion_key(&models[i], options);
        options->key = cr_hash(options->key, &key, sizeof key);
    }
    return CR_OK;
}

void cr_motion_compare(const crMotionFit* a, const crMotionFit* b, int tosses, double* difference,
                       double* se) {
    cr_fit_compare_errors(a->misfits, b->misfits, tosses, difference, se);
}

static const double* score(const void* fits, int i) {
    const crMotionFit* fit = (const crMotionFit*)fits + i;
    return fit->status == CR_OK ? &fit->cv : NULL;
}

int cr_motion_rank(const crMotionFit* fits, int count, int* order) {
    return cr_fit_rank_by(score, fits, count, order);
}
