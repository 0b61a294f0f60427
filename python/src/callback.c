// callback.c - Python functions inside a model: where a driven body is, and e by approach speed.
//
// They run wherever the library asks, perhaps in a thread of its own, under the interpreter's lock. What one
// raises is kept in the model; the step that led there fails and the exception comes out of it. Fails: a
// function that returns something else raises by field.
#include <math.h>

#include "binding.h"

typedef struct PyCallback {
    PyModel* model;  // that owns this
    PyObject* function;
    struct PyCallback* next;
} PyCallback;

static void* add(PyModel* model, PyObject* function) {
    PyCallback* made = PyMem_Calloc(1, sizeof *made);
    if (made == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Py_INCREF(function);
    *made = (PyCallback){model, function, model->callbacks};
    model->callbacks = made;
    return made;
}

int py_callbacks_visit(PyModel* model, visitproc visit, void* arg) {
    for (PyCallback* c = model->callbacks; c != NULL; c = c->next) {
        Py_VISIT(c->function);
    }
    Py_VISIT(model->raised_value);
    Py_VISIT(model->trace);
    return 0;
}

void py_callbacks_clear(PyModel* model) {
    for (PyCallback* c = model->callbacks; c != NULL; c = c->next) {
        Py_CLEAR(c->function);
    }
    Py_CLEAR(model->raised);
    Py_CLEAR(model->raised_value);
    Py_CLEAR(model->trace);
}

void py_callbacks_free(PyModel* model) {
    py_callbacks_clear(model);
    while (model->callbacks != NULL) {
        PyCallback* next = model->callbacks->next;
        PyMem_Free(model->callbacks);
        model->callbacks = next;
    }
}

bool py_callbacks_raise(PyModel* model) {
    if (model->raised == NULL) return false;
    PyErr_Restore(model->raised, model->raised_value, model->trace);
    model->raised = model->raised_value = model->trace = NULL;
    return true;
}

// the first exception wins
static void keep(PyModel* model) {
    if (model->raised == NULL) {
        PyErr_Fetch(&model->raised, &model->raised_value, &model->trace);
    } else {
        PyErr_Clear();
    }
}

static bool finite(const crDriven* d) {
    double q = d->pose.q.w + d->pose.q.x + d->pose.q.y + d->pose.q.z;
    return cr_vec3_finite(d->pose.p) && isfinite(q) && cr_vec3_finite(d->velocity) &&
           cr_vec3_finite(d->omega) && cr_vec3_finite(d->acceleration) && cr_vec3_finite(d->alpha);
}

static bool read_drive(PyObject* result, crDriven* out) {
    static const char* const names[] = {"pos", "velocity", "omega", "acceleration", "alpha"};
    crVec3* const places[] = {&out->pose.p, &out->velocity, &out->omega, &out->acceleration, &out->alpha};
    if (!PyDict_Check(result))
        return py_refuse(CR_ERR_TYPE, "drive", "drive: the function must return a dict");
    Py_ssize_t known = 0;
    for (int i = 0; i < 5; i++) {
        PyObject* value = PyDict_GetItemString(result, names[i]);
        known += value != NULL;
        if (!py_vec3(value, names[i], places[i])) return false;
    }
    PyObject* quat = PyDict_GetItemString(result, "quat");
    if (!py_quat(quat, "quat", &out->pose.q)) return false;
    if (known + (quat != NULL) != PyDict_Size(result))
        return py_refuse(
            CR_ERR_FIELD, "drive",
            "drive: has an unknown key; known are pos, quat, velocity, omega, acceleration, alpha");
    return finite(out) || py_refuse(CR_ERR_FINITE, "drive", "drive: every number must be finite");
}

// at rest where the body stands if the function fails
static void call_drive(void* ctx, double time, crDriven* out) {
    PyCallback* c = ctx;
    crDriven rest = *out;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject* result = c->function != NULL ? PyObject_CallFunction(c->function, "d", time) : NULL;
    if (result == NULL || !read_drive(result, out)) {
        *out = rest;
        if (PyErr_Occurred() != NULL) keep(c->model);
    }
    Py_XDECREF(result);
    PyGILState_Release(lock);
}

bool py_drive(PyModel* model, PyObject* function, crBodyDef* def) {
    if (function == NULL || function == Py_None) return true;
    if (!PyCallable_Check(function))
        return py_refuse(CR_ERR_TYPE, "drive", "drive: must be a function of time");
    def->drive_ctx = add(model, function);
    def->drive = call_drive;
    return def->drive_ctx != NULL;
}

static double call_e(void* ctx, double speed) {
    PyCallback* c = ctx;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject* result = c->function != NULL ? PyObject_CallFunction(c->function, "d", speed) : NULL;
    double e = result != NULL ? PyFloat_AsDouble(result) : 0.0;
    if (PyErr_Occurred() == NULL && !(isfinite(e) && e >= 0.0))
        py_refuse(CR_ERR_RANGE, "e", "e: the function gave %g at %g m/s, must be a finite number >= 0", e,
                  speed);
    if (PyErr_Occurred() != NULL) {
        keep(c->model);
        e = 0.0;
    }
    Py_XDECREF(result);
    PyGILState_Release(lock);
    return e;
}

// rows of (speed, e) into two arrays of one allocation
static bool read_table(PyObject* value, crRestitution* out, double** memory) {
    PyNumbers* table = py_array(value, "e", 2, (Py_ssize_t[2]){-1, 2});
    if (table == NULL) return false;
    Py_ssize_t count = table->shape[0];
    double* both = PyMem_Calloc(2 * (size_t)count + 1, sizeof *both);
    if (both != NULL) {
        for (Py_ssize_t i = 0; i < count; i++) {
            both[i] = ((const double*)table->data)[2 * i];
            both[count + i] = ((const double*)table->data)[2 * i + 1];
        }
        *out = (crRestitution){.count = (int)count, .speed = both, .e = both + count};
    } else {
        PyErr_NoMemory();
    }
    Py_DECREF(table);
    *memory = both;
    return both != NULL;
}

// a coefficient at an impact; 0 where the function fails
static double call_curve(void* ctx, const crApproach* at) {
    PyCallback* c = ctx;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject* result = c->function != NULL ? PyObject_CallFunction(c->function, "dddd", at->speed, at->slip,
                                                                   at->angle, at->spin)
                                           : NULL;
    double value = result != NULL ? PyFloat_AsDouble(result) : 0.0;
    if (PyErr_Occurred() != NULL) {
        keep(c->model);
        value = 0.0;
    }
    Py_XDECREF(result);
    PyGILState_Release(lock);
    return value;
}

// a form or a table as scenes have it: by way of its JSON text
static bool read_form(PyObject* dict, const char* name, crCurveRoom* room) {
    PyObject* json = PyImport_ImportModule("json");
    PyObject* text = json != NULL ? PyObject_CallMethod(json, "dumps", "O", dict) : NULL;
    Py_ssize_t size = 0;
    const char* bytes = text != NULL ? PyUnicode_AsUTF8AndSize(text, &size) : NULL;
    crError error = {0};
    crJsonDoc doc = {0};
    bool ok = bytes != NULL && cr_json_parse(bytes, (size_t)size, 1, &doc, &error) == CR_OK &&
              cr__read_coefficient(doc.root, name, room, &error) == CR_OK;
    error.line = error.column = 0;
    if (!ok && PyErr_Occurred() == NULL) py_raise(&error);
    cr_json_free(&doc);
    Py_XDECREF(text);
    Py_XDECREF(json);
    return ok;
}

bool py_coefficient(PyModel* model, PyObject* value, const char* name, double* number, const crCurve** to,
                    crCurveRoom** room) {
    if (value == NULL || value == Py_None) return true;
    if (py_is_number(value)) {
        *number = PyFloat_AsDouble(value);
        return PyErr_Occurred() == NULL;
    }
    bool function = PyCallable_Check(value) != 0;
    if (!function && !PyDict_Check(value))
        return py_refuse_type(name, value, "a number, a dict with a form or a table, or a function");
    *room = PyMem_Calloc(1, sizeof **room);
    if (*room == NULL) return PyErr_NoMemory() != NULL;
    *to = &(*room)->curve;
    if (!function) return read_form(value, name, *room);
    (*room)->curve = (crCurve){.function = call_curve, .ctx = add(model, value)};
    return (*room)->curve.ctx != NULL;
}

bool py_restitution(PyModel* model, PyObject* value, crSurface* surface, crRestitution* out,
                    double** memory) {
    *memory = NULL;
    if (value == NULL || value == Py_None) return true;
    if (py_is_number(value)) {
        surface->e = PyFloat_AsDouble(value);
        return PyErr_Occurred() == NULL;
    }
    surface->e_of_speed = out;
    if (!PyCallable_Check(value)) return read_table(value, out, memory);
    *out = (crRestitution){.function = call_e, .ctx = add(model, value)};
    return out->ctx != NULL;
}
