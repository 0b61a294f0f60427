// wrt.c - carom.derivatives over cr_wrt: a capsule, and functions on it.
//
// States come and go as arrays: q (nq), v (nv), applied forces (nv, or None for zero), time. Calls release the interpreter's lock.
#include "carom/wrt.h"
#include "binding.h"
#include "carom/dynamics.h"
#include "carom/stages.h"

#define NAME "carom.wrt"

// a crWrt and a state to work with
typedef struct Wrt {
    crWrt* wrt;
    PyWorld* world;  // whose settings it has; the capsule keeps it
    const crModel* model;
    crArena arena;
    crState state;
    double* ctrl;  // at the start (nu)
    int params;
} Wrt;

static Wrt* wrt_of(PyObject* capsule) { return PyCapsule_GetPointer(capsule, NAME); }

static void destroy(PyObject* capsule) {
    Wrt* w = wrt_of(capsule);
    cr_wrt_destroy(w->wrt);
    cr_arena_destroy(&w->arena);
    PyMem_Free(w);
    PyObject* world = PyCapsule_GetContext(capsule);
    Py_XDECREF(world);
}

// _wrt_new(world)
PyObject* py_wrt_new(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* object;
    if (!PyArg_ParseTuple(args, "O!", PyWorld_Type, &object)) return NULL;
    PyWorld* world = (PyWorld*)object;
    if (!py_world_idle(world)) return NULL;
    if (world->force != NULL || world->model->callbacks != NULL) {
        py_refuse(CR_ERR_TYPE, "model",
                  "model: derivatives take no functions of Python but laws: no force, drives, restitution");
        return NULL;
    }
    Wrt* w = PyMem_Calloc(1, sizeof *w);
    if (w == NULL) return PyErr_NoMemory();
    w->world = world;
    crError error = {0};
    crWorldDef def = cr_world_def();
    def.model = w->model = cr_world_model(world->world);
    def.step = cr_world_stages(world->world)->settings;
    def.step.threads = 1;
    crStatus status = cr_arena_create(&w->arena, NULL, 0);
    if (status == CR_OK) status = cr_wrt_create(&def, &w->wrt, &error);
    if (status == CR_OK) status = cr_state_create(w->model, &w->arena, &w->state);
    w->ctrl = status == CR_OK ? cr_arena_alloc(&w->arena, ((size_t)w->model->nu + 1) * sizeof(double)) : NULL;
    if (status == CR_OK && w->ctrl == NULL) status = CR_ERR_MEMORY;
    PyObject* capsule = NULL;
    if (status == CR_OK) {
        if (w->model->nu > 0) memcpy(w->ctrl, w->state.ctrl, (size_t)w->model->nu * sizeof(double));
        capsule = PyCapsule_New(w, NAME, destroy);
    } else {
        if (error.status == CR_OK) cr_error_set(&error, status, "wrt", "wrt: %s", cr_status_text(status));
        py_raise(&error);
    }
    if (capsule == NULL) {
        cr_wrt_destroy(w->wrt);
        cr_arena_destroy(&w->arena);
        PyMem_Free(w);
        return NULL;
    }
    Py_INCREF(object);
    PyCapsule_SetContext(capsule, object);
    return capsule;
}

// _wrt_params(wrt, rows): rows (n, 3) of kind, a, b
PyObject* py_wrt_params(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *rows;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &rows)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL) return NULL;
    PyNumbers* table = py_int_array(rows, "params", 2, (Py_ssize_t[2]){-1, 3});
    if (table == NULL) return NULL;
    int count = (int)table->shape[0];
    const int* in = table->data;
    crWrtParam* params = PyMem_Calloc((size_t)count + 1, sizeof *params);
    crError error = {0};
    crStatus status = params != NULL ? CR_OK : CR_ERR_MEMORY;
    for (int i = 0; i < count && status == CR_OK; i++) {
        params[i] = (crWrtParam){(crWrtParamKind)in[3 * i], in[3 * i + 1], in[3 * i + 2]};
    }
    if (status == CR_OK) status = cr_wrt_params(w->wrt, count, params, &error);
    if (status == CR_OK) w->params = count;
    PyMem_Free(params);
    Py_XDECREF(table);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// _wrt_set(wrt, values)
PyObject* py_wrt_set(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *values;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &values)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL) return NULL;
    PyNumbers* in = py_array(values, "values", 1, (Py_ssize_t[1]){w->params});
    if (in == NULL) return NULL;
    crError error = {0};
    crStatus status = cr_wrt_set(w->wrt, in->data, &error);
    Py_XDECREF(in);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// false with an exception: that of a law written in Python, or that of the library
static bool went_well(Wrt* w, crStatus status, const crError* error) {
    if (status != CR_OK) py_world_raise(w->world, error);
    return status == CR_OK && !py_law_raised(py_world_law(w->world));
}

static bool set_state(Wrt* w, double time, PyObject* q, PyObject* v, PyObject* force, PyObject* ctrl) {
    size_t nv = (size_t)w->model->nv;
    w->state.time = time;
    memset(w->state.force, 0, nv * sizeof(double));
    if (w->model->nu > 0) memcpy(w->state.ctrl, w->ctrl, (size_t)w->model->nu * sizeof(double));
    return py_doubles(q, "q", w->model->nq, w->state.q) && py_doubles(v, "v", w->model->nv, w->state.v) &&
           py_doubles(force, "force", w->model->nv, w->state.force) &&
           py_doubles(ctrl, "ctrl", w->model->nu, w->state.ctrl);
}

static PyObject* verdict_of(const crWrtVerdict* v) {
    return Py_BuildValue("{s:s,s:s,s:d,s:d,s:d,s:O,s:z}", "verdict", cr_smoothness_name(v->verdict), "switch",
                         cr_switch_name(v->nearest), "distance", v->distance, "jump", v->jump, "residual",
                         v->residual, "differenced", v->differenced ? Py_True : Py_False, "why", v->why);
}

static PyObject* state_of(const Wrt* w) {
    return Py_BuildValue("NN", py_numbers(w->state.q, w->model->nq), py_numbers(w->state.v, w->model->nv));
}

// _wrt_apply(wrt, (time, q, v, force, ctrl), d): minus, plus, verdict
PyObject* py_wrt_apply(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *q, *v, *force, *ctrl, *change;
    double time;
    if (!PyArg_ParseTuple(args, "O(dOOOO)O", &capsule, &time, &q, &v, &force, &ctrl, &change)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL || !set_state(w, time, q, v, force, ctrl)) return NULL;
    PyNumbers* d = py_array(change, "d", 1, (Py_ssize_t[1]){3 * w->model->nv + w->params});
    PyNumbers* minus = d != NULL ? py_new(1, (Py_ssize_t[1]){2 * w->model->nv}, PY_DOUBLE) : NULL;
    PyNumbers* plus = minus != NULL ? py_new(1, (Py_ssize_t[1]){2 * w->model->nv}, PY_DOUBLE) : NULL;
    PyObject* result = NULL;
    if (plus != NULL) {
        crWrtVerdict verdict = {0};
        crError error = {0};
        crStatus status;
        Py_BEGIN_ALLOW_THREADS;
        status = cr_wrt_apply(w->wrt, &w->state, d->data, minus->data, plus->data, &verdict, &error);
        Py_END_ALLOW_THREADS;
        if (went_well(w, status, &error)) {
            result = Py_BuildValue("NNN", py_give(minus), py_give(plus), verdict_of(&verdict));
            minus = plus = NULL;
        }
    }
    Py_XDECREF(d);
    Py_XDECREF(minus);
    Py_XDECREF(plus);
    return result;
}

// _wrt_jacobian(wrt, state): J, verdict
PyObject* py_wrt_jacobian(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *q, *v, *force, *ctrl;
    double time;
    if (!PyArg_ParseTuple(args, "O(dOOOO)", &capsule, &time, &q, &v, &force, &ctrl)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL || !set_state(w, time, q, v, force, ctrl)) return NULL;
    PyNumbers* J = py_new(2, (Py_ssize_t[2]){2 * w->model->nv, 3 * w->model->nv + w->params}, PY_DOUBLE);
    if (J == NULL) return NULL;
    crWrtVerdict verdict = {0};
    crError error = {0};
    crStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = cr_wrt_jacobian(w->wrt, &w->state, J->data, &verdict, &error);
    Py_END_ALLOW_THREADS;
    if (went_well(w, status, &error)) return Py_BuildValue("NN", py_give(J), verdict_of(&verdict));
    Py_XDECREF(J);
    return NULL;
}

// _wrt_back(wrt, state, by): out, verdict
PyObject* py_wrt_back(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *q, *v, *force, *ctrl, *given;
    double time;
    if (!PyArg_ParseTuple(args, "O(dOOOO)O", &capsule, &time, &q, &v, &force, &ctrl, &given)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL || !set_state(w, time, q, v, force, ctrl)) return NULL;
    PyNumbers* by = py_array(given, "by", 1, (Py_ssize_t[1]){2 * w->model->nv});
    PyNumbers* out = by != NULL ? py_new(1, (Py_ssize_t[1]){3 * w->model->nv + w->params}, PY_DOUBLE) : NULL;
    PyObject* result = NULL;
    if (out != NULL) {
        crWrtVerdict verdict = {0};
        crError error = {0};
        crStatus status;
        Py_BEGIN_ALLOW_THREADS;
        status = cr_wrt_back(w->wrt, &w->state, by->data, out->data, &verdict, &error);
        Py_END_ALLOW_THREADS;
        if (went_well(w, status, &error)) {
            result = Py_BuildValue("NN", py_give(out), verdict_of(&verdict));
            out = NULL;
        }
    }
    Py_XDECREF(by);
    Py_XDECREF(out);
    return result;
}

// _wrt_run(wrt, state, forces): (q, v) after each step of forces (steps, nv)
PyObject* py_wrt_run(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *q, *v, *force, *ctrl, *given;
    double time;
    if (!PyArg_ParseTuple(args, "O(dOOOO)O", &capsule, &time, &q, &v, &force, &ctrl, &given)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL || !set_state(w, time, q, v, force, ctrl)) return NULL;
    PyNumbers* forces = py_array(given, "forces", 2, (Py_ssize_t[2]){-1, w->model->nv});
    if (forces == NULL) return NULL;
    size_t nv = (size_t)w->model->nv;
    Py_ssize_t steps = forces->shape[0];
    crError error = {0};
    crStatus status = CR_OK;
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t i = 0; i < steps && status == CR_OK; i++) {
        memcpy(w->state.force, (const double*)forces->data + (size_t)i * nv, nv * sizeof(double));
        status = cr_wrt_step(w->wrt, &w->state, &w->state, &error);
    }
    Py_END_ALLOW_THREADS;
    Py_XDECREF(forces);
    return went_well(w, status, &error) ? state_of(w) : NULL;
}

// _wrt_adjoint(wrt, state, forces, by_end): by_start, by_force, by_param, verdict
PyObject* py_wrt_adjoint(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *q, *v, *force, *ctrl, *given, *end;
    double time;
    if (!PyArg_ParseTuple(args, "O(dOOOO)OO", &capsule, &time, &q, &v, &force, &ctrl, &given, &end))
        return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL || !set_state(w, time, q, v, force, ctrl)) return NULL;
    PyNumbers* forces = py_array(given, "forces", 2, (Py_ssize_t[2]){-1, w->model->nv});
    PyNumbers* by_end = forces != NULL ? py_array(end, "by_end", 1, (Py_ssize_t[1]){2 * w->model->nv}) : NULL;
    PyNumbers* start = by_end != NULL ? py_new(1, (Py_ssize_t[1]){2 * w->model->nv}, PY_DOUBLE) : NULL;
    PyNumbers* by_force = start != NULL ? py_new(2, forces->shape, PY_DOUBLE) : NULL;
    PyNumbers* by_param = by_force != NULL ? py_new(1, (Py_ssize_t[1]){w->params}, PY_DOUBLE) : NULL;
    PyObject* result = NULL;
    if (by_param != NULL) {
        crWrtVerdict verdict = {0};
        crError error = {0};
        crStatus status;
        Py_BEGIN_ALLOW_THREADS;
        status = cr_wrt_adjoint(w->wrt, &w->state, (int)forces->shape[0], forces->data, by_end->data,
                                start->data, by_force->data, by_param->data, &verdict, &error);
        Py_END_ALLOW_THREADS;
        if (went_well(w, status, &error)) {
            result = Py_BuildValue("NNNN", py_give(start), py_give(by_force), py_give(by_param),
                                   verdict_of(&verdict));
            start = by_force = by_param = NULL;
        }
    }
    Py_XDECREF(forces);
    Py_XDECREF(by_end);
    Py_XDECREF(start);
    Py_XDECREF(by_force);
    Py_XDECREF(by_param);
    return result;
}

// _wrt_rates(wrt, q): R (nq, nv) with q' = R v
PyObject* py_wrt_rates(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *q;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &q)) return NULL;
    Wrt* w = wrt_of(capsule);
    if (w == NULL || !py_doubles(q, "q", w->model->nq, w->state.q)) return NULL;
    int nq = w->model->nq, nv = w->model->nv;
    PyNumbers* R = py_new(2, (Py_ssize_t[2]){nq, nv}, PY_DOUBLE);
    PyNumbers* column = R != NULL ? py_new(1, (Py_ssize_t[1]){nq}, PY_DOUBLE) : NULL;
    for (int j = 0; column != NULL && j < nv; j++) {
        memset(w->state.v, 0, (size_t)nv * sizeof(double));
        w->state.v[j] = 1.0;
        cr_state_rate(w->model, w->state.q, w->state.v, column->data);
        for (int i = 0; i < nq; i++) {
            ((double*)R->data)[i * nv + j] = ((const double*)column->data)[i];
        }
    }
    Py_XDECREF(column);
    if (column == NULL) {
        Py_XDECREF(R);
        return NULL;
    }
    return py_give(R);
}
