// fit.c - laws fitted to measured collisions, as `carom fit impacts` does it, and fitted laws applied, as
// `carom predict` does: the same functions of fit/, so the same numbers.
//
// Everything runs without the interpreter's lock and looks for Ctrl-C between resamples. Fails: what the
// table, its columns or the options say, by field, with line and column of the table.
#include <math.h>
#include <stdlib.h>

#include "fit/fit.h"
#include "fitting.h"

#define LAWS 32

typedef struct Job {
    crTable table;
    crImpactOptions columns;
    crImpacts impacts;
    crImpactsSummary summary;
    crFitOptions options;
    crFitLaw laws[LAWS];
    int law_count;
    bool all;  // laws that do not apply are told, not refused
    crFit fits[LAWS];
    int fit_count;
    PyWatch watch;
} Job;

static void job_destroy(Job* job) {
    for (int i = 0; i < job->fit_count; i++) {
        cr_fit_destroy(&job->fits[i]);
    }
    cr_impacts_destroy(&job->impacts);
    cr_table_free(&job->table);
    PyMem_Free(job);
}

static bool take_law(void* ctx, const char* name) {
    Job* job = ctx;
    crFitLaw law = cr_fit_law_find(name);
    const char* omitted = cr_fit_law_omitted(name);
    if (law.law == NULL && omitted != NULL)
        return py_refuse(CR_ERR_NAME, "laws", "laws: %s cannot be fitted: %s", name, omitted);
    if (law.law == NULL) return py_refuse(CR_ERR_NAME, "laws", "laws: no law is called '%.40s'", name);
    for (int i = 0; i < job->law_count; i++) {
        if (strcmp(job->laws[i].name, law.name) == 0)
            return py_refuse(CR_ERR_NAME, "laws", "laws: '%s' is listed twice", name);
    }
    job->laws[job->law_count++] = law;
    return true;
}

static int find_param(const char* field, const char* name) {
    for (int i = 0; i < CR_FIT_PARAMS; i++) {
        if (strcmp(name, cr_fit_param_name((crFitParam)i)) == 0) return i;
    }
    py_refuse(CR_ERR_NAME, field,
              "%s: '%.40s' is no parameter; mu, e, et, eta2, mu2, mu3, psi1, psi2 and rho are", field, name);
    return -1;
}

static bool take_param(void* ctx, const char* name) {
    Job* job = ctx;
    int i = find_param("params", name);
    if (i >= 0) job->options.params |= 1u << i;
    return i >= 0;
}

static bool take_fix(Job* job, PyObject* fix) {
    if (fix == NULL || fix == Py_None) return true;
    if (!PyDict_Check(fix)) return py_refuse(CR_ERR_TYPE, "fix", "fix: must be a dict");
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(fix, &at, &key, &value)) {
        const char* name = py_text(key);
        int i = name != NULL ? find_param("fix", name) : -1;
        double x = PyFloat_AsDouble(value), lo, hi;
        if (i < 0 || PyErr_Occurred() != NULL) return false;
        cr_fit_param_range((crFitParam)i, &lo, &hi);
        if (!(x >= lo && x <= hi))
            return py_refuse(CR_ERR_RANGE, "fix", "fix: %s is %g, must be %g to %g", name, x, lo, hi);
        job->options.fixed.value[i] = x;
        job->options.params &= ~(1u << i);
    }
    return true;
}

static bool watch(void* ctx, const char* law, int done, int count) {
    (void)law;
    return py_watch(ctx, done, count);
}

static crStatus load(Job* job, const char* path, crError* error) {
    crStatus status = cr_table_read(path, &job->table, error);
    if (status == CR_OK) status = cr_impacts_create(&job->table, &job->columns, &job->impacts, error);
    return status;
}

static crStatus run(Job* job, const char* path, crError* error) {
    crStatus status = load(job, path, error);
    if (status == CR_OK) status = cr_impacts_summary(&job->impacts, &job->summary, error);
    for (int i = 0; i < job->law_count && status == CR_OK; i++) {
        crFit* fit = &job->fits[job->fit_count++];
        status = cr_fit_run(&job->impacts, job->laws[i], &job->options, fit, error);
        if (status == CR_OK && fit->status != CR_OK && !job->all) {
            *error = fit->error;
            status = fit->status;
        }
    }
    return status;
}

// out

static PyObject* parameters(const crFit* fit) {
    PyObject* all = PyDict_New();
    for (int i = 0; i < fit->count && all != NULL; i++) {
        const crFitted* p = &fit->fitted[i];
        const char* partner = p->partner >= 0 ? cr_fit_param_name(fit->fitted[p->partner].param) : NULL;
        PyObject* one = py_fitted(fit->theta.value[p->param], p->lo, p->hi, p->determined, p->flat_lo,
                                  p->flat_hi, partner, p->correlation);
        if (one == NULL || PyDict_SetItemString(all, cr_fit_param_name(p->param), one) != 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyObject* vectors(const crVec3* x, int count) {
    Py_ssize_t shape[2] = {count, 3};
    PyNumbers* array = py_new(2, shape, PY_DOUBLE);
    if (array != NULL) memcpy(array->data, x, (size_t)count * sizeof *x);
    return py_give(array);
}

static PyObject* fitted(const Job* job, const crFit* fit, const crFit* best) {
    int rows = job->impacts.count;
    double behind = 0.0, se = 0.0;
    if (fit != best) cr_fit_compare(fit, best, rows, &behind, &se);
    return Py_BuildValue("{s:s,s:d,s:d,s:d,s:d,s:d,s:i,s:i,s:i,s:N,s:N,s:N}", "law", fit->law.name, "error",
                         fit->cv, "error_se", fit->cv_se, "behind", behind, "behind_se", se, "fit_error",
                         fit->loss, "unanswered", fit->unanswered, "impermissible", fit->impermissible,
                         "creates_energy", fit->creates_energy, "parameters", parameters(fit), "errors",
                         py_numbers(fit->errors, rows), "P", vectors(fit->P, rows));
}

static PyObject* summary(const Job* job) {
    const crImpactsSummary* s = &job->summary;
    return Py_BuildValue("{s:i,s:i,s:i,s:O,s:d,s:d,s:d,s:i,s:i,s:i,s:i,s:(ddd),s:(ddd),s:(ddd)}", "rows",
                         job->impacts.count, "left_out", job->impacts.left_out, "skipped",
                         job->impacts.skipped, "planar", job->impacts.planar ? Py_True : Py_False,
                         "velocity_change", s->speed_change, "floor", s->floor, "permissible_floor",
                         s->permissible_floor, "impossible", s->impossible, "gain_energy", s->creates_energy,
                         "penetrate", s->penetrates, "pull", s->pulls, "e", s->e[0], s->e[1], s->e[2], "et",
                         s->et[0], s->et[1], s->et[2], "mu", s->mu[0], s->mu[1], s->mu[2]);
}

static PyObject* results(const Job* job) {
    int order[LAWS], count = cr_fit_rank(job->fits, job->fit_count, order);
    PyObject* laws = PyList_New(0);
    PyObject* refused = PyList_New(0);
    bool good = laws != NULL && refused != NULL;
    for (int i = 0; i < count && good; i++) {
        good = py_append(laws, fitted(job, &job->fits[order[i]], &job->fits[order[0]]));
    }
    for (int i = 0; i < job->fit_count && good; i++) {
        const crFit* fit = &job->fits[i];
        if (fit->status != CR_OK)
            good = py_append(refused, Py_BuildValue("(ss)", fit->law.name, fit->error.message));
    }
    if (good) return Py_BuildValue("NNN", summary(job), laws, refused);
    Py_XDECREF(laws);
    Py_XDECREF(refused);
    return NULL;
}

// the laws as a file, as --out writes them
static crStatus write_out(const Job* job, const char* out, crError* error) {
    const crFit* fits[LAWS];
    int order[LAWS], count = cr_fit_rank(job->fits, job->fit_count, order);
    for (int i = 0; i < count; i++) {
        fits[i] = &job->fits[order[i]];
    }
    return cr_fit_write(out, fits, count, &job->impacts, error);
}

static bool take_options(Job* job, PyObject* laws, PyObject* params, PyObject* fix, PyObject* column,
                         PyObject* where) {
    if (params != NULL && params != Py_None) job->options.params = 0;
    if (!py_each(laws, "laws", take_law, job) || !py_each(params, "params", take_param, job) ||
        !take_fix(job, fix) || !py_columns(column, where, &job->columns))
        return false;
    job->all = job->law_count == 0;
    for (int i = 0; job->all && i < cr_fit_law_count(); i++) {
        job->laws[job->law_count = i] = cr_fit_law(i);
    }
    job->law_count += job->all;
    return py_count("folds", job->options.folds, 2, 100) &&
           py_count("bootstrap", job->options.bootstrap, 0, 10000) &&
           py_count("threads", job->options.threads, 1, 256);
}

// _fit_impacts(path, laws, params, fix, column, where, skip, folds, bootstrap, seed, threads, out)
PyObject* py_fit_impacts(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *path, *laws, *params, *fix, *column, *where, *answer = NULL;
    int skip;
    unsigned long long seed;
    const char* out;
    Job* job = PyMem_Calloc(1, sizeof *job);
    if (job == NULL) return PyErr_NoMemory();
    job->options = cr_fit_options();
    if (!PyArg_ParseTuple(args, "O&OOOOOpiiKiz", PyUnicode_FSConverter, &path, &laws, &params, &fix, &column,
                          &where, &skip, &job->options.folds, &job->options.bootstrap, &seed,
                          &job->options.threads, &out)) {
        job_destroy(job);
        return NULL;
    }
    job->columns.skip = skip != 0;
    job->options.seed = seed;
    job->options.watch = watch;
    job->options.ctx = &job->watch;
    if (take_options(job, laws, params, fix, column, where)) {
        crError error = {0};
        crStatus status;
        const char* file = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS;
        status = run(job, file, &error);
        if (status == CR_OK && out != NULL) status = write_out(job, out, &error);
        Py_END_ALLOW_THREADS;
        if (status == CR_OK) answer = results(job);
        if (status != CR_OK) py_watch_raise(&job->watch, &error);
    }
    Py_DECREF(path);
    job_destroy(job);
    return answer;
}

// _fit_laws() -> [(name, parameters)]
PyObject* py_fit_laws(PyObject* module, PyObject* unused) {
    (void)module;
    (void)unused;
    PyObject* list = PyList_New(0);
    for (int i = 0; i < cr_fit_law_count() && list != NULL; i++) {
        crFitLaw law = cr_fit_law(i);
        PyObject* names = PyList_New(0);
        bool good = names != NULL;
        for (int k = 0; k < CR_FIT_PARAMS && good; k++) {
            if (law.spatial >> k & 1u)
                good = py_append(names, PyUnicode_FromString(cr_fit_param_name((crFitParam)k)));
        }
        if (!good || !py_append(list, Py_BuildValue("(sO)", law.name, names))) Py_CLEAR(list);
        Py_XDECREF(names);
    }
    return list;
}

// velocities after impulse P: 3 numbers in the plane, 6 in space
static void put_velocities(const Job* job, const crImpactRow* row, crVec3 P, double* out) {
    crRigid after = cr_rigid_after(&row->body, row->point, cr_mat3_mul(row->frame, P));
    crVec3 v = after.velocity, w = after.omega;
    if (job->impacts.form == CR_FORM_PLANAR) {
        memcpy(out, (const double[]){v.x, v.y, w.z}, 3 * sizeof *out);
    } else {
        memcpy(out, (const double[]){v.x, v.y, v.z, w.x, w.y, w.z}, 6 * sizeof *out);
    }
}

// answers of one law to every row: P, energy change, permissible, error (6), and velocities after (wide)
static crStatus answer_rows(Job* job, double* rows, double* after, int wide, crError* error) {
    for (int i = 0; i < job->impacts.count; i++) {
        const crImpactRow* row = &job->impacts.rows[i];
        crHit hit;
        bool answered = true;
        crStatus status =
            cr_fit_answer(job->laws[0], &job->options.fixed, &row->contact, &hit, &answered, error);
        if (status != CR_OK) {
            error->line = row->line;
            return status;
        }
        double* at = rows + 6 * i;
        memcpy(at, &hit.P, sizeof hit.P);
        at[3] = hit.energy_change;
        at[4] = answered && hit.permissible;
        at[5] = job->impacts.measured ? cr_impact_error(row, hit.P) : NAN;
        if (after != NULL) put_velocities(job, row, hit.P, after + wide * i);
    }
    return CR_OK;
}

static PyObject* predict(Job* job, const char* path) {
    crError error = {0};
    if (load(job, path, &error) != CR_OK) return py_raise(&error);
    int wide = job->impacts.form == CR_FORM_PLANAR ? 3 : 6;
    bool bodies = job->impacts.form != CR_FORM_IMPULSE;
    PyNumbers* rows = py_new(2, ((Py_ssize_t[2]){job->impacts.count, 6}), PY_DOUBLE);
    PyNumbers* after = py_new(2, ((Py_ssize_t[2]){bodies ? job->impacts.count : 0, wide}), PY_DOUBLE);
    crStatus status = CR_ERR_MEMORY;
    if (rows != NULL && after != NULL) {
        status = answer_rows(job, rows->data, bodies ? after->data : NULL, wide, &error);
        if (status != CR_OK) py_raise(&error);
    }
    if (status == CR_OK && bodies) return Py_BuildValue("NN", py_give(rows), py_give(after));
    if (status == CR_OK) {
        Py_DECREF(after);
        return Py_BuildValue("NO", py_give(rows), Py_None);
    }
    Py_XDECREF(rows);
    Py_XDECREF(after);
    return NULL;
}

// _fit_predict(path, law, theta, column, where, skip) -> (n, 6), velocities after or None
PyObject* py_fit_predict(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *path, *theta, *column, *where, *answer = NULL;
    const char* name;
    int skip;
    Job* job = PyMem_Calloc(1, sizeof *job);
    if (job == NULL) return PyErr_NoMemory();
    job->options = cr_fit_options();
    if (!PyArg_ParseTuple(args, "O&sOOOp", PyUnicode_FSConverter, &path, &name, &theta, &column, &where,
                          &skip)) {
        job_destroy(job);
        return NULL;
    }
    job->columns.skip = skip != 0;
    job->columns.unmeasured = true;
    if (take_law(job, name) && take_fix(job, theta) && py_columns(column, where, &job->columns))
        answer = predict(job, PyBytes_AsString(path));
    Py_DECREF(path);
    job_destroy(job);
    return answer;
}
