// motion.c - scenes fitted to measured motions, as `carom fit motion` does it, and what was fitted applied,
// as `carom predict` does: the same functions of fit/, so the same numbers.
//
// Everything runs without the interpreter's lock and looks for Ctrl-C after every toss. Fails: what the
// table, the scene or the options say, by field, with line and column.
#include <stdlib.h>

#include "fit/motion_predict.h"
#include "fitting.h"

#define LAWS 48

typedef struct Job {
    crTable table;
    crImpactOptions columns;
    crTosses tosses;
    crJsonDoc scene;
    const char* body;
    double length;
    int substeps;
    int param_count, law_name_count, rule_count;
    crMotionParam params[CR_MOTION_PARAMS];
    crFitLaw law_names[LAWS];
    const char* rules[LAWS];
    unsigned methods;
    int law_count, fit_count;
    crMotionLaw laws[LAWS];
    crMotionModel models[LAWS];
    crMotionFit fits[LAWS];
    crMotionOptions options;
    PyWatch watch;
    int law, before;  // being fitted, and simulated for those before
} Job;

static void job_destroy(Job* job) {
    for (int i = 0; i < job->law_count; i++) {
        cr_motion_fit_destroy(&job->fits[i]);
        cr_motion_model_destroy(&job->models[i]);
    }
    cr_json_free(&job->scene);
    cr_tosses_destroy(&job->tosses);
    cr_table_free(&job->table);
    PyMem_Free(job);
}

// in

static bool take_param(void* ctx, const char* text) {
    Job* job = ctx;
    crError error = {0};
    if (job->param_count == CR_MOTION_PARAMS)
        return py_refuse(CR_ERR_LIMIT, "params", "params: at most %d at a time", CR_MOTION_PARAMS);
    crMotionParam* p = &job->params[job->param_count];
    if (cr_motion_param(text, p, &error) != CR_OK) return py_raise(&error) != NULL;
    for (int i = 0; i < job->param_count; i++) {
        if (strcmp(job->params[i].name, p->name) == 0)
            return py_refuse(CR_ERR_NAME, "params", "params: '%s' is listed twice", p->name);
    }
    job->param_count++;
    return true;
}

static bool take_law(void* ctx, const char* name) {
    Job* job = ctx;
    crFitLaw law = cr_fit_law_find(name);
    if (law.law == NULL) return py_refuse(CR_ERR_NAME, "laws", "laws: no law is called '%.40s'", name);
    if (job->law_name_count == LAWS) return py_refuse(CR_ERR_LIMIT, "laws", "laws: at most %d", LAWS);
    job->law_names[job->law_name_count++] = law;
    return true;
}

static bool take_rule(void* ctx, const char* name) {
    Job* job = ctx;
    for (int i = 0; i < cr_rule_count() && job->rule_count < LAWS; i++) {
        if (strcmp(name, cr_rule_info(i)->name) != 0) continue;
        job->rules[job->rule_count++] = cr_rule_info(i)->name;
        return true;
    }
    return py_refuse(CR_ERR_NAME, "rules", "rules: no rule is called '%.40s'", name);
}

static bool take_method(void* ctx, const char* name) {
    Job* job = ctx;
    for (int i = 0; cr_method_name((crMethod)i) != NULL; i++) {
        if (strcmp(name, cr_method_name((crMethod)i)) != 0) continue;
        job->methods |= 1u << i;
        return true;
    }
    return py_refuse(CR_ERR_NAME, "methods", "methods: no method is called '%.40s'", name);
}

static bool take_options(Job* job, PyObject* params, PyObject* laws, PyObject* rules, PyObject* methods) {
    crMotionOptions* o = &job->options;
    if (!py_each(params, "params", take_param, job) || !py_each(laws, "laws", take_law, job) ||
        !py_each(rules, "rules", take_rule, job) || !py_each(methods, "methods", take_method, job))
        return false;
    job->law_count = cr_motion_laws(job->methods, job->rules, job->rule_count, job->law_names,
                                    job->law_name_count, job->laws, LAWS);
    if (job->law_count > LAWS) {
        job->law_count = 0;
        return py_refuse(CR_ERR_LIMIT, "laws", "laws: more than %d laws, rules and methods", LAWS);
    }
    if (!(job->length >= 0.0)) return py_refuse(CR_ERR_RANGE, "length", "length: must be > 0 m");
    return py_count("points", o->points, 0, 10000) && py_count("folds", o->folds, 2, 100) &&
           py_count("bootstrap", o->bootstrap, 0, 10000) && py_count("threads", o->threads, 1, 256) &&
           py_count("substeps", job->substeps, 0, 10000);
}

static bool watch(void* ctx, int done, int count) {
    Job* job = ctx;
    return py_watch(&job->watch, job->before + done, job->before + count * (job->law_count - job->law));
}

static crStatus load(Job* job, const char* path, crError* error) {
    crStatus status = cr_table_read(path, &job->table, error);
    if (status == CR_OK) status = cr_tosses_create(&job->table, &job->columns, &job->tosses, error);
    return status;
}

static crStatus run(Job* job, const char* path, crError* error) {
    crStatus status = load(job, path, error);
    const crMotionDef def = {.scene = job->scene.root,
                             .tosses = &job->tosses,
                             .body = job->body,
                             .length = job->length,
                             .substeps = job->substeps,
                             .params = job->params,
                             .param_count = job->param_count};
    if (status == CR_OK && job->columns.skip)
        status = cr_motion_skip(job->scene.root, job->body, &job->tosses, error);
    if (status == CR_OK)
        status = cr_motion_models(&def, job->laws, job->law_count, &job->options, job->models, error);
    for (int i = 0; i < job->law_count && status == CR_OK; i++) {
        job->law = i;
        job->options.stage = i * CR_MOTION_STAGES;
        status = cr_motion_fit(&job->models[i], &job->options, &job->fits[i], error);
        job->before += job->fits[i].simulated;
        job->fit_count++;
    }
    return status;
}

// out

static crStatus write_out(const Job* job, const char* out, crError* error) {
    const crMotionFit* fits[LAWS];
    const crMotionLaw* laws[LAWS];
    int order[LAWS], count = cr_motion_rank(job->fits, job->fit_count, order);
    for (int i = 0; i < count; i++) {
        fits[i] = &job->fits[order[i]];
        laws[i] = &job->laws[order[i]];
    }
    return cr_motion_write(out, &job->models[0], laws, fits, count, error);
}

static PyObject* parameters(const Job* job, const crMotionFit* fit) {
    PyObject* all = PyDict_New();
    for (int i = 0; i < fit->count && all != NULL; i++) {
        const crMotionFitted* p = &fit->fitted[i];
        const char* partner = p->partner >= 0 ? job->params[p->partner].name : NULL;
        PyObject* one =
            py_fitted(p->value, p->lo, p->hi, p->determined, p->flat_lo, p->flat_hi, partner, p->correlation);
        if (one == NULL || PyDict_SetItemString(all, job->params[i].name, one) != 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all;
}

static PyObject* certificate(const crMotionRun* w) {
    return Py_BuildValue("{s:d,s:d,s:d,s:i,s:i,s:i,s:O}", "penetration", w->penetration, "energy_created",
                         w->energy_created, "energy_gain", w->energy_gain, "impermissible", w->impermissible,
                         "unsolved", w->unsolved, "steps", w->steps, "broken",
                         w->broken ? Py_True : Py_False);
}

// members of the file of a fit as a text: {"length": ...}, or {"set": ...} of one
static PyObject* settings(const Job* job, int law) {
    char* text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    if (memory == NULL) return PyErr_NoMemory();
    putc('{', memory);
    if (law < 0) cr_motion_put_settings(memory, &job->models[0]);
    if (law >= 0) cr_motion_put_set(memory, &job->models[law], &job->laws[law], &job->fits[law]);
    putc('}', memory);
    fclose(memory);
    PyObject* answer = PyUnicode_FromString(text);
    free(text);
    return answer;
}

static PyObject* folds_of(const crMotionFit* fit, int tosses) {
    PyNumbers* array = py_new(1, ((Py_ssize_t[1]){tosses}), PY_INT);
    if (array != NULL) memcpy(array->data, fit->fold, (size_t)tosses * sizeof(int));
    return py_give(array);
}

static PyObject* fitted(const Job* job, int law, int best) {
    const crMotionFit* fit = &job->fits[law];
    int n = job->tosses.count;
    double behind = 0.0, se = 0.0;
    if (law != best) cr_motion_compare(fit, &job->fits[best], n, &behind, &se);
    crMotionRun worst = cr_motion_worst(fit->runs, n);
    return Py_BuildValue("{s:s,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:N,s:N,s:N,s:N,s:N,s:N}", "law",
                         job->laws[law].name, "misfit", fit->cv, "misfit_se", fit->cv_se, "behind", behind,
                         "behind_se", se, "loss", fit->cv_loss, "loss_se", fit->cv_loss_se, "fit_misfit",
                         fit->misfit, "fit_loss", fit->loss, "parameters", parameters(job, fit), "misfits",
                         py_numbers(fit->misfits, n), "losses", py_numbers(fit->losses, n), "fold",
                         folds_of(fit, n), "certificate", certificate(&worst), "set", settings(job, law));
}

static PyObject* summary(const crTosses* t) {
    return Py_BuildValue("{s:i,s:i,s:i,s:i,s:O,s:d,s:d,s:d,s:d,s:d}", "tosses", t->count, "samples",
                         t->sample_count, "left_out", t->left_out, "skipped", t->skipped, "planar",
                         t->planar ? Py_True : Py_False, "interval", t->interval, "speed_ratio",
                         t->speed_ratio, "spin_ratio", t->spin_ratio, "spin_error", t->spin_error,
                         "other_frame", t->other_frame);
}

static PyObject* results(const Job* job) {
    int order[LAWS], count = cr_motion_rank(job->fits, job->fit_count, order);
    PyObject* laws = PyList_New(0);
    PyObject* refused = PyList_New(0);
    bool good = laws != NULL && refused != NULL;
    for (int i = 0; i < count && good; i++) {
        good = py_append(laws, fitted(job, order[i], order[0]));
    }
    for (int i = 0; i < job->fit_count && good; i++) {
        const crMotionFit* fit = &job->fits[i];
        if (fit->status != CR_OK)
            good = py_append(refused, Py_BuildValue("(ss)", job->laws[i].name, fit->error.message));
    }
    if (good) return Py_BuildValue("NNNN", summary(&job->tosses), laws, refused, settings(job, -1));
    Py_XDECREF(laws);
    Py_XDECREF(refused);
    return NULL;
}

// _fit_motion(path, scene, values, body, length, substeps, params, laws, rules, methods, column, where, skip,
//             points, folds, bootstrap, seed, threads, checkpoint, out, progress)
PyObject* py_fit_motion(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *path = NULL, *values, *params, *laws, *rules, *methods, *column, *where, *answer = NULL;
    const char *text, *out;
    int skip;
    unsigned long long seed;
    Job* job = PyMem_Calloc(1, sizeof *job);
    if (job == NULL) return PyErr_NoMemory();
    crMotionOptions* o = &job->options;
    *o = cr_motion_options();
    if (PyArg_ParseTuple(args, "O&sO!zdiOOOOOOpiiiKizzO", PyUnicode_FSConverter, &path, &text, &PyList_Type,
                         &values, &job->body, &job->length, &job->substeps, &params, &laws, &rules, &methods,
                         &column, &where, &skip, &o->points, &o->folds, &o->bootstrap, &seed, &o->threads,
                         &o->checkpoint, &out, &job->watch.progress)) {
        job->columns.skip = skip != 0;
        o->seed = seed;
        o->watch = watch;
        o->ctx = job;
        if (take_options(job, params, laws, rules, methods) && py_columns(column, where, &job->columns) &&
            py_tree(text, values, &job->scene)) {
            crError error = {0};
            crStatus status;
            const char* file = PyBytes_AsString(path);
            Py_BEGIN_ALLOW_THREADS;
            status = run(job, file, &error);
            if (status == CR_OK && out != NULL) status = write_out(job, out, &error);
            Py_END_ALLOW_THREADS;
            answer = status == CR_OK ? results(job) : py_watch_raise(&job->watch, &error);
        }
    }
    Py_XDECREF(path);
    job_destroy(job);
    return answer;
}

// predicting

typedef struct Prediction {
    crJsonDoc params;
    crMotionChoice choice;
    crMotionPrediction made;
} Prediction;

static crStatus predict(Job* job, Prediction* p, const char* path, bool other, crError* error) {
    if (job->substeps > 0) p->choice.substeps = job->substeps;
    crStatus status = load(job, path, error);
    if (status == CR_OK)
        status = cr_motion_choice_model(&p->choice, other ? job->scene.root : NULL, &job->tosses,
                                        &job->models[0], error);
    if (status == CR_OK) status = cr_motion_predict(&job->models[0], NULL, &job->options, &p->made, error);
    return status;
}

// one row per toss: id, misfit, position, rotation, penetration, energy created, energy gain
static PyObject* rows_of(const Job* job, const crMotionPrediction* made) {
    PyNumbers* array = py_new(2, ((Py_ssize_t[2]){job->tosses.count, 7}), PY_DOUBLE);
    for (int i = 0; i < job->tosses.count && array != NULL; i++) {
        const crMotionRun* r = &made->runs[i];
        const double row[7] = {job->tosses.tosses[i].id, r->misfit,         r->position,   r->rotation,
                               r->penetration,           r->energy_created, r->energy_gain};
        memcpy((double*)array->data + 7 * i, row, sizeof row);
    }
    return py_give(array);
}

// one row per sample: toss by its place, time, p, q
static PyObject* poses_of(const Job* job, const crMotionPrediction* made) {
    PyNumbers* array = py_new(2, ((Py_ssize_t[2]){job->tosses.sample_count, 9}), PY_DOUBLE);
    for (int i = 0; i < job->tosses.count && array != NULL; i++) {
        const crToss* t = &job->tosses.tosses[i];
        for (int k = t->first; k < t->first + t->count; k++) {
            crPose at = made->poses[k];
            const double row[9] = {
                i, job->tosses.samples[k].time, at.p.x, at.p.y, at.p.z, at.q.w, at.q.x, at.q.y, at.q.z};
            memcpy((double*)array->data + 9 * k, row, sizeof row);
        }
    }
    return py_give(array);
}

static PyObject* predicted(Job* job, Prediction* p, const char* path, const char* text, const char* law,
                           bool other) {
    crError error = {0};
    if (cr_json_parse(text, strlen(text), 1, &p->params, &error) != CR_OK ||
        cr_motion_choose(p->params.root, law, &p->choice, &error) != CR_OK)
        return py_raise(&error);
    crStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = predict(job, p, path, other, &error);
    Py_END_ALLOW_THREADS;
    if (status != CR_OK) return py_watch_raise(&job->watch, &error);
    return Py_BuildValue("sNNN", p->choice.law, rows_of(job, &p->made), poses_of(job, &p->made),
                         certificate(&p->made.worst));
}

// _fit_predict_motion(path, params, law, scene or None, substeps, threads, column, where, skip, progress)
// -> law, (tosses, 7), (samples, 9), certificate
PyObject* py_fit_predict_motion(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *path = NULL, *column, *where, *answer = NULL, *none = PyList_New(0);
    const char *text, *law, *scene;
    int skip;
    Prediction p = {0};
    Job* job = PyMem_Calloc(1, sizeof *job);
    if (job == NULL || none == NULL) return PyErr_NoMemory();
    job->law_count = 1;
    job->options.watch = watch;
    job->options.ctx = job;
    if (PyArg_ParseTuple(args, "O&szziiOOpO", PyUnicode_FSConverter, &path, &text, &law, &scene,
                         &job->substeps, &job->options.threads, &column, &where, &skip,
                         &job->watch.progress)) {
        job->columns.skip = skip != 0;
        if (py_columns(column, where, &job->columns) && py_count("substeps", job->substeps, 0, 10000) &&
            py_count("threads", job->options.threads, 1, 256) &&
            (scene == NULL || py_tree(scene, none, &job->scene)))
            answer = predicted(job, &p, PyBytes_AsString(path), text, law, scene != NULL);
    }
    cr_motion_prediction_destroy(&p.made);
    cr_json_free(&p.params);
    Py_XDECREF(path);
    Py_DECREF(none);
    job_destroy(job);
    return answer;
}
