// spread.c - scenes with jitter, as `carom spread` does it: the same functions of fit/, so the same numbers.
//
// Runs without the interpreter's lock and looks for Ctrl-C between samples. Fails: what the scene, the jitter or the
// options say, by field.
#include "fit/spread.h"

#include <stdlib.h>

#include "fitting.h"

typedef struct Job {
    crJsonDoc doc;
    crScene scene;
    crSpreadOptions options;
    crSpread spread;
    crSpreadSummary summary;
    char* text;  // of the tree with the values set
    int length;
    PyWatch watch;
} Job;

static void job_destroy(Job* job) {
    cr_spread_summary_destroy(&job->summary);
    cr_spread_destroy(&job->spread);
    cr_scene_free(&job->scene);
    cr_json_free(&job->doc);
    free(job->text);
    PyMem_Free(job);
}

static bool watch(void* ctx, int done, int count) { return py_watch(ctx, done, count); }

static bool take_jitters(Job* job, PyObject* list) {
    crSpreadOptions* o = &job->options;
    for (Py_ssize_t i = 0; i < PyList_Size(list); i++) {
        const char* text = py_text(PyList_GetItem(list, i));
        crError error = {0};
        if (text == NULL) return false;
        if (i == CR_SPREAD_JITTERS)
            return py_refuse(CR_ERR_LIMIT, "jitter", "jitter: at most %d", CR_SPREAD_JITTERS);
        if (cr_jitter_parse(text, &o->jitters[o->jitter_count++], &error) != CR_OK)
            return py_raise(&error) != NULL;
    }
    return true;
}

// the tree of a text with values set in it, and as a text again
static bool take_scene(Job* job, const char* text, PyObject* values) {
    if (!py_tree(text, values, &job->doc)) return false;
    size_t size = 0;
    FILE* memory = open_memstream(&job->text, &size);
    if (memory != NULL) cr_json_write_tree(memory, job->doc.root);
    return (memory != NULL && fclose(memory) == 0) || PyErr_NoMemory() != NULL;
}

static crStatus run(Job* job, crError* error) {
    crStatus status = cr_scene_read(job->doc.root, &job->scene, error);
    if (status != CR_OK) return status;
    job->options.key = cr_hash(CR_HASH_SEED, job->text, strlen(job->text));
    status = cr_spread_run(job->doc.root, job->text, &job->scene, &job->options, &job->spread, error);
    if (status != CR_OK) return status;
    return cr_spread_summarize(&job->spread, job->options.of, job->length, &job->summary, error);
}

// out

static PyObject* outcomes(const Job* job) {
    const crSpread* s = &job->spread;
    PyNumbers* array = py_new(3, ((Py_ssize_t[3]){s->samples + 1, s->nb - 1, 6}), PY_DOUBLE);
    for (int i = 0; i <= s->samples && array != NULL; i++) {
        double* row = (double*)array->data + (ptrdiff_t)6 * (s->nb - 1) * i;
        crSample sample = cr_spread_sample(s, i);
        for (int k = 0; k < 6 * (s->nb - 1); k++) {
            row[k] = sample.status == CR_OK ? sample.bodies[6 + k] : (double)NAN;
        }
    }
    return py_give(array);
}

// a number of each sample, -1 for those that failed
static PyObject* labels(const Job* job, const int* label) {
    PyNumbers* array = py_new(1, ((Py_ssize_t[1]){job->spread.samples}), PY_INT);
    int* out = array != NULL ? array->data : NULL;
    for (int i = 0, at = 0; i < job->spread.samples && out != NULL; i++) {
        bool used = at < job->summary.used && job->summary.sample[at] == i + 1;
        out[i] = used ? label[at++] : -1;
    }
    return py_give(array);
}

// [(a, b, together), ...] of each order
static PyObject* orders(const Job* job) {
    PyObject* all = PyList_New(0);
    for (int i = 0; i < job->summary.order_count && all != NULL; i++) {
        crSample sample = cr_spread_sample(&job->spread, job->summary.orders[i].example);
        PyObject* pairs = PyList_New(0);
        bool good = pairs != NULL;
        for (int k = 0; k < job->summary.length && sample.order[k] >= 0.0 && good; k++) {
            crSpreadPair pair = cr_spread_pair(&job->spread, sample.order[k]);
            good =
                py_append(pairs, Py_BuildValue("(iiO)", pair.a, pair.b, pair.together ? Py_True : Py_False));
        }
        if (!good || PyList_Append(all, pairs) != 0) Py_CLEAR(all);
        Py_XDECREF(pairs);
    }
    return all;
}

static PyObject* names(const Job* job) {
    PyObject* list = PyList_New(0);
    for (int i = 1; i < job->spread.nb && list != NULL; i++) {
        const char* name = job->scene.model->bodies[i].name;
        if (!py_append(list, PyUnicode_FromString(name != NULL ? name : ""))) Py_CLEAR(list);
    }
    return list;
}

static PyObject* shares(const Job* job) {
    PyObject* list = PyList_New(0);
    for (int k = 1; k <= job->summary.prefix_count && list != NULL; k++) {
        if (!py_append(list, PyFloat_FromDouble(job->summary.prefix[k].explained))) Py_CLEAR(list);
    }
    return list;
}

static PyObject* representatives(const Job* job) {
    PyObject* list = PyList_New(0);
    for (int k = 0; k < job->summary.cluster_count && list != NULL; k++) {
        if (!py_append(list, PyLong_FromLong(job->summary.clusters[k].representative - 1))) Py_CLEAR(list);
    }
    return list;
}

// _spread(text, values, jitters, samples, seed, threads, velocity, order, checkpoint)
PyObject* py_spread(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *values, *jitters, *answer = NULL;
    const char* text;
    int velocity;
    unsigned long long seed;
    Job* job = PyMem_Calloc(1, sizeof *job);
    if (job == NULL) return PyErr_NoMemory();
    crSpreadOptions* o = &job->options;
    if (PyArg_ParseTuple(args, "sO!O!iKipiz", &text, &PyList_Type, &values, &PyList_Type, &jitters,
                         &o->samples, &seed, &o->threads, &velocity, &job->length, &o->checkpoint) &&
        take_scene(job, text, values) && take_jitters(job, jitters)) {
        crError error = {0};
        crStatus status;
        o->seed = seed;
        o->quality = -1;
        o->of = velocity ? CR_SPREAD_VELOCITY : CR_SPREAD_POSITION;
        o->watch = watch;
        o->ctx = &job->watch;
        Py_BEGIN_ALLOW_THREADS;
        status = run(job, &error);
        Py_END_ALLOW_THREADS;
        if (status == CR_OK)
            answer =
                Py_BuildValue("NNNNNNNdis", names(job), outcomes(job), labels(job, job->summary.cluster),
                              labels(job, job->summary.order), representatives(job), orders(job), shares(job),
                              job->summary.clusters_explained, job->spread.failed, job->spread.error.message);
        if (status != CR_OK) py_watch_raise(&job->watch, &error);
    }
    job_destroy(job);
    return answer;
}
