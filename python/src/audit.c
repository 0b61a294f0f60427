// audit.c - motions of anyone, judged: from a file, a trajectory, or arrays.
//
// The lock of the interpreter is kept: driven bodies may be functions of Python. Fails: what the reader of files or the
// audit refuses, by field, with line and column.
#include "binding.h"
#include "io/motion_read.h"

// (value, floor, time, a, b), bodies by name, None for none
static PyObject* worst(const crModel* model, const crMotionWorst* w) {
    const char* names[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        int body = k == 0 ? w->body_a : w->body_b;
        if (body >= 0) names[k] = body == CR_WORLD ? "world" : model->bodies[body].name;
    }
    return Py_BuildValue("(dddzz)", w->value, w->floor, w->time, names[0], names[1]);
}

static PyObject* steps_array(const crMotionStep* steps, size_t count) {
    Py_ssize_t shape[2] = {(Py_ssize_t)count, 8};
    PyNumbers* array = py_new(2, shape, PY_DOUBLE);
    if (array == NULL) return NULL;
    double* x = array->data;
    for (size_t i = 0; i < count; i++, x += 8) {
        const crMotionStep* s = &steps[i];
        const double row[8] = {s->time,   s->overlap, s->crossings, s->crossings_unsure,
                               s->energy, s->gain,    s->momentum,  s->spin};
        memcpy(x, row, sizeof row);
    }
    return py_give(array);
}

static PyObject* report_dict(const crModel* model, const crMotionReport* r, const crMotionStep* steps) {
    return Py_BuildValue(
        "{s:s,s:s,s:s,s:s,s:s,s:n,s:d,s:d,s:N,s:N,s:n,s:n,s:n,s:N,s:d,s:d,s:d,s:d,s:d,s:d,s:N,s:n,s:n,s:N,s:"
        "N,s:N,s:n,s:n,s:n,"
        "s:N,s:N}",
        "holds", cr_truth_name(cr_motion_holds(r)), "no_overlap", cr_truth_name(cr_motion_no_overlap(r)),
        "no_crossing", cr_truth_name(cr_motion_no_crossing(r)), "no_gain",
        cr_truth_name(cr_motion_no_gain(r)), "flies", cr_truth_name(cr_motion_flies(r)), "records",
        (Py_ssize_t)r->records, "start", r->start, "end", r->end, "velocities",
        PyBool_FromLong(r->velocities), "overlap", worst(model, &r->overlap), "overlaps",
        (Py_ssize_t)r->overlaps, "crossings", (Py_ssize_t)r->crossings, "crossings_unsure",
        (Py_ssize_t)r->crossings_unsure, "crossing", worst(model, &r->crossing), "energy_start",
        r->energy_start, "energy_end", r->energy_end, "energy_scale", r->energy_scale, "gain", r->gain,
        "gain_least", r->gain_least, "gain_most", r->gain_most, "gained", worst(model, &r->gained),
        "energy_known", (Py_ssize_t)r->energy_known, "energy_unknown", (Py_ssize_t)r->energy_unknown,
        "momentum", worst(model, &r->momentum), "spin", worst(model, &r->spin), "path",
        worst(model, &r->path), "flights", (Py_ssize_t)r->flights, "flights_unknown",
        (Py_ssize_t)r->flights_unknown, "jumps", (Py_ssize_t)r->jumps, "escaped", worst(model, &r->escaped),
        "steps", steps_array(steps, r->records));
}

static PyObject* judge(PyModel* owner, const crMotionData* data, const crMotionLimits* limits) {
    crMotionReport report;
    crError error = {0};
    crMotionStep* steps = PyMem_Calloc(data->count + 1, sizeof *steps);
    if (steps == NULL) return PyErr_NoMemory();
    crStatus status = cr_audit_motion(owner->model, data, limits, NULL, steps, &report, &error);
    PyObject* result = NULL;
    if (!py_callbacks_raise(owner))
        result = status == CR_OK ? report_dict(owner->model, &report, steps) : py_raise(&error);
    PyMem_Free(steps);
    return result;
}

// (time, q, v or None)
static PyObject* judge_arrays(PyModel* owner, PyObject* arrays, const crMotionLimits* limits) {
    PyObject *time, *q, *v;
    if (!PyArg_ParseTuple(arrays, "OOO", &time, &q, &v)) return NULL;
    Py_ssize_t shape[2] = {-1, -1};
    PyNumbers *t = py_array(time, "time", 1, shape), *x = NULL, *u = NULL;
    PyObject* result = NULL;
    if (t != NULL) {
        shape[0] = t->shape[0];
        shape[1] = owner->model->nq;
        x = py_array(q, "q", 2, shape);
    }
    shape[1] = owner->model->nv;
    if (x != NULL && v != Py_None) u = py_array(v, "v", 2, shape);
    if (x != NULL && (v == Py_None || u != NULL)) {
        crMotionData data = {.count = (size_t)shape[0], .time = t->data, .q = x->data};
        if (u != NULL) data.v = u->data;
        result = judge(owner, &data, limits);
    }
    Py_XDECREF(t);
    Py_XDECREF(x);
    Py_XDECREF(u);
    return result;
}

// _audit(model, source, exact, overlap, energy, speed); source: a path, a Trajectory, or arrays
PyObject* py_audit_motion(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *model, *source;
    crMotionLimits limits = cr_motion_limits();
    int exact;
    if (!PyArg_ParseTuple(args, "O!Opddd", PyModel_Type, &model, &source, &exact, &limits.overlap,
                          &limits.energy, &limits.speed))
        return NULL;
    PyModel* owner = (PyModel*)model;
    crError error = {0};
    if (cr_model_check(owner->model, &error) != CR_OK) return py_raise(&error);
    if (PyTuple_Check(source)) return judge_arrays(owner, source, &limits);
    crMotionFile file;
    crStatus status;
    if (PyObject_TypeCheck(source, PyTrajectory_Type) != 0) {
        status = cr_motion_of_recording(py_recording(source), owner->model, &file, &error);
    } else {
        PyObject* path;
        if (!PyUnicode_FSConverter(source, &path)) return NULL;
        status = cr_motion_read(PyBytes_AsString(path), owner->model, exact != 0, &file, &error);
        Py_DECREF(path);
    }
    if (status != CR_OK) return py_raise(&error);
    PyObject* result = judge(owner, &file.data, &limits);
    cr_motion_file_free(&file);
    return result;
}
