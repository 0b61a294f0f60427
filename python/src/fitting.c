// fitting.c - what the bindings of fit/ share.
//
// Fails: with Python's exceptions.
#include "fitting.h"

#include "io/json_set.h"

bool py_each(PyObject* list, const char* field, bool (*take)(void* ctx, const char* text), void* ctx) {
    if (list == NULL || list == Py_None) return true;
    PyObject* items = PyUnicode_Check(list) ? NULL : PySequence_Tuple(list);
    if (items == NULL) {
        PyErr_Clear();
        return py_refuse_type(field, list, "a list of texts");
    }
    bool good = true;
    for (Py_ssize_t i = 0; i < PyTuple_Size(items) && good; i++) {
        const char* text = py_text(PyTuple_GetItem(items, i));
        good = text != NULL && take(ctx, text);
    }
    Py_DECREF(items);
    return good;
}

static bool take_column(void* ctx, const char* text) {
    crError error = {0};
    return cr_impact_source(ctx, text, &error) == CR_OK || py_raise(&error) != NULL;
}

static bool take_where(void* ctx, const char* text) {
    crError error = {0};
    return cr_impact_where(ctx, text, &error) == CR_OK || py_raise(&error) != NULL;
}

bool py_columns(PyObject* column, PyObject* where, crImpactOptions* options) {
    return py_each(column, "column", take_column, options) && py_each(where, "where", take_where, options);
}

bool py_count(const char* field, int value, int least, int most) {
    if (value >= least && value <= most) return true;
    return py_refuse(CR_ERR_RANGE, field, "%s: is %d, must be %d to %d", field, value, least, most);
}

bool py_tree(const char* text, PyObject* values, crJsonDoc* doc) {
    crError error = {0};
    if (cr_json_parse(text, strlen(text), 1, doc, &error) != CR_OK) return py_raise(&error) != NULL;
    bool object = doc->root->type == CR_JSON_OBJECT;
    for (Py_ssize_t i = 0; i < PyList_Size(values) && object; i++) {
        const char *path, *value;
        if (!PyArg_ParseTuple(PyList_GetItem(values, i), "ss", &path, &value)) return false;
        if (cr_json_set(doc, path, value, &error) != CR_OK) return py_raise(&error) != NULL;
    }
    return true;
}

bool py_append(PyObject* list, PyObject* item) {
    bool good = item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return good;
}

PyObject* py_fitted(double value, double lo, double hi, crDetermined determined, double flat_lo,
                    double flat_hi, const char* partner, double correlation) {
    return Py_BuildValue("{s:d,s:d,s:d,s:s,s:d,s:d,s:z,s:d}", "value", value, "lo", lo, "hi", hi,
                         "determined", cr_determined_name(determined), "flat_lo", flat_lo, "flat_hi", flat_hi,
                         "partner", partner, "correlation", correlation);
}

bool py_watch(PyWatch* watch, int done, int count) {
    PyGILState_STATE lock = PyGILState_Ensure();
    bool good = PyErr_CheckSignals() == 0;
    if (good && watch->progress != NULL && watch->progress != Py_None) {
        PyObject* answer = PyObject_CallFunction(watch->progress, "ii", done, count);
        good = answer != NULL;
        Py_XDECREF(answer);
    }
    // a thread of its own keeps its exceptions to itself
    if (!good) PyErr_Fetch(&watch->raised, &watch->value, &watch->trace);
    watch->stopped = !good;
    PyGILState_Release(lock);
    return good;
}

PyObject* py_watch_raise(PyWatch* watch, const crError* error) {
    if (!watch->stopped) return py_raise(error);
    PyErr_Restore(watch->raised, watch->value, watch->trace);
    watch->raised = watch->value = watch->trace = NULL;
    return NULL;
}
