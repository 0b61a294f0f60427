// world.c - worlds: state as arrays over the library's memory, steps, events, certificates, snapshots.
//
// Runs release the interpreter's lock. A world runs in one thread at a time; a second one that touches it is
// refused, except by the arrays it already has. A step that fails leaves the world as it was.
#include <math.h>
#include <stddef.h>

#include "binding.h"
#include "carom/stages.h"

#define SIGNAL_STEPS 64  // steps between two looks for Ctrl-C

bool py_world_idle(PyWorld* self) {
    if (self->world == NULL) return py_refuse(CR_ERR_ARGUMENT, "world", "world: was not initialised");
    if (self->busy)
        return py_refuse(CR_ERR_ARGUMENT, "world", "world: is running, in a callback or another thread");
    return true;
}

PyObject* py_world_raise(PyWorld* self, const crError* error) {
    if (py_callbacks_raise(self->model)) return NULL;
    if (self->raised != NULL) {
        PyErr_Restore(self->raised, self->raised_value, self->trace);
        self->raised = self->raised_value = self->trace = NULL;
        return NULL;
    }
    PyLaw* law = self->rule != NULL && self->rule->law != NULL ? self->rule->law : self->law;
    return py_raise_law(law, error);
}

// the user's force: f(time, q, v) -> numbers along each velocity; q and v are read-only views
static crStatus add_force(void* ctx, const crModel* model, const crState* state, const crDynamics* d,
                          double* k) {
    (void)d;
    PyWorld* self = ctx;
    // kinematics came before: a drive that raised ends the step
    if (self->model->raised != NULL) return CR_ERR_ARGUMENT;
    if (self->force == NULL) return CR_OK;
    PyGILState_STATE lock = PyGILState_Ensure();
    Py_ssize_t nq = model->nq, nv = model->nv;
    PyObject* q = py_view((PyObject*)self, state->q, 1, &nq, PY_DOUBLE, false);
    PyObject* v = q != NULL ? py_view((PyObject*)self, state->v, 1, &nv, PY_DOUBLE, false) : NULL;
    PyObject* result = v != NULL ? PyObject_CallFunction(self->force, "dOO", state->time, q, v) : NULL;
    PyNumbers* array = result != NULL ? py_array(result, "force", 1, &nv) : NULL;
    for (Py_ssize_t i = 0; array != NULL && i < nv; i++) {
        k[i] += ((const double*)array->data)[i];
    }
    if (array == NULL && self->raised == NULL) PyErr_Fetch(&self->raised, &self->raised_value, &self->trace);
    if (array == NULL) PyErr_Clear();
    crStatus status = array != NULL ? CR_OK : CR_ERR_ARGUMENT;
    Py_XDECREF(array);
    Py_XDECREF(result);
    Py_XDECREF(v);
    Py_XDECREF(q);
    PyGILState_Release(lock);
    return status;
}

static bool create(PyWorld* self, PyModel* model, const crStepSettings* step) {
    crWorldDef def = cr_world_def();
    def.model = model->model;
    def.step = *step;
    self->model = model;
    def.force = self->force != NULL || model->callbacks != NULL ? add_force : NULL;
    def.force_ctx = self;
    crError error = {0};
    if (cr_world_create(&def, &self->world, &error) != CR_OK) {
        self->world = NULL;
        py_raise(&error);
        return false;
    }
    self->hold = py_hold(model);
    return self->hold != NULL && !py_callbacks_raise(model);
}

static int world_init(PyObject* object, PyObject* args, PyObject* keywords) {
    PyWorld* self = (PyWorld*)object;
    PyObject* model;
    if (self->hold != NULL) {
        PyErr_SetString(PyExc_TypeError, "a World is made once");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "O:World", &model)) return -1;
    if (PyObject_TypeCheck(model, PyModel_Type) == 0) {
        py_refuse_type("model", model, "a carom.Model");
        return -1;
    }
    PyObject* settings = keywords != NULL ? PyDict_Copy(keywords) : PyDict_New();
    if (settings == NULL) return -1;
    PyObject* force = PyDict_GetItemString(settings, "force");
    if (force != NULL && force != Py_None) {
        Py_INCREF(force);
        self->force = force;
    }
    if (force != NULL) PyDict_DelItemString(settings, "force");
    crStepSettings step;
    bool good = py_settings(self, settings, &step);
    Py_DECREF(settings);
    return good && create(self, (PyModel*)model, &step) ? 0 : -1;
}

PyObject* py_world_of_scene(PyObject* scene, PyModel* model, const crStepSettings* step, const double* q,
                            const double* v) {
    PyWorld* self = (PyWorld*)PyType_GenericAlloc(py_classes.world, 0);
    if (self == NULL) return NULL;
    Py_INCREF(scene);
    self->source = scene;
    if (!create(self, model, step)) {
        Py_DECREF(self);
        return NULL;
    }
    crState* state = cr_world_state(self->world);
    memcpy(state->q, q, (size_t)model->model->nq * sizeof(double));
    memcpy(state->v, v, (size_t)model->model->nv * sizeof(double));
    return (PyObject*)self;
}

static int world_traverse(PyObject* object, visitproc visit, void* arg) {
    PyWorld* self = (PyWorld*)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->law);
    Py_VISIT(self->rule);
    Py_VISIT(self->force);
    Py_VISIT(self->hold);
    Py_VISIT(self->source);
    Py_VISIT(self->raised_value);
    Py_VISIT(self->trace);
    return 0;
}

static int world_clear(PyObject* object) {
    PyWorld* self = (PyWorld*)object;
    // without its law and force it must not step again; its memory stays while arrays may look at it
    self->busy = true;
    Py_CLEAR(self->law);
    Py_CLEAR(self->rule);
    Py_CLEAR(self->force);
    Py_CLEAR(self->raised);
    Py_CLEAR(self->raised_value);
    Py_CLEAR(self->trace);
    return 0;
}

static void world_dealloc(PyObject* object) {
    PyWorld* self = (PyWorld*)object;
    PyObject_GC_UnTrack(object);
    world_clear(object);
    cr_world_destroy(self->world);
    Py_XDECREF(self->hold);
    Py_XDECREF(self->source);
    py_free(object);
}

// stepping

static PyObject* world_step(PyObject* object, PyObject* args) {
    PyWorld* self = (PyWorld*)object;
    int steps = 1;
    if (!PyArg_ParseTuple(args, "|i:step", &steps) || !py_world_idle(self)) return NULL;
    if (steps < 0) {
        py_refuse(CR_ERR_RANGE, "count", "count: is %d, must be at least 0", steps);
        return NULL;
    }
    crError error = {0};
    crStatus status = CR_OK;
    self->busy = true;
    Py_BEGIN_ALLOW_THREADS;
    for (int i = 0; i < steps && status == CR_OK; i++) {
        status = cr_world_step(self->world, &error);
    }
    Py_END_ALLOW_THREADS;
    self->busy = false;
    if (status != CR_OK || self->model->raised != NULL) return py_world_raise(self, &error);
    Py_RETURN_NONE;
}

// whether time is a number and not before the present; refused otherwise
static bool may_run_to(const PyWorld* self, double time) {
    double now = cr_world_state(self->world)->time;
    if (!isfinite(time)) return py_refuse(CR_ERR_FINITE, "time", "time: is %g, must be finite", time);
    if (time < now) {
        return py_refuse(CR_ERR_RANGE, "time", "time: is %g, must not be before the present, %g", time, now);
    }
    return true;
}

// steps of dt until time as cr_world_run makes them, a few at a time so that Ctrl-C is heard
static PyObject* world_run(PyObject* object, PyObject* args) {
    PyWorld* self = (PyWorld*)object;
    double time;
    if (!PyArg_ParseTuple(args, "d:run", &time) || !py_world_idle(self)) return NULL;
    if (!may_run_to(self, time)) return NULL;
    crState* state = cr_world_state(self->world);
    double start = state->time, dt = cr_world_stages(self->world)->settings.dt, n = 1.0;
    crTally all = {0};
    crError error = {0};
    crStatus status = CR_OK;
    bool stopped = false;
    self->busy = true;
    while (status == CR_OK && !stopped && state->time < time) {
        Py_BEGIN_ALLOW_THREADS;
        for (int i = 0; i < SIGNAL_STEPS && status == CR_OK && state->time < time; i++, n += 1.0) {
            double next = start + n * dt;
            status = cr_world_run(self->world, next > time - 1e-9 * dt ? time : next, &error);
            if (status == CR_OK) cr_tally_add(&all, cr_world_certificate(self->world));
        }
        Py_END_ALLOW_THREADS;
        stopped = PyErr_CheckSignals() != 0;
    }
    self->busy = false;
    if (status != CR_OK || self->model->raised != NULL) return py_world_raise(self, &error);
    return stopped ? NULL : py_struct(&py_record_tally, &all);
}

static PyObject* world_record(PyObject* object, PyObject* args) {
    PyWorld* self = (PyWorld*)object;
    double time;
    int every = 1;
    if (!PyArg_ParseTuple(args, "d|i:record", &time, &every) || !py_world_idle(self)) return NULL;
    if (!may_run_to(self, time)) return NULL;
    if (every < 1) {
        py_refuse(CR_ERR_RANGE, "every", "every: is %d, must be at least 1", every);
        return NULL;
    }
    return py_world_record(self, time, every);
}

PyObject* py_certificate(const crCertificate* c) {
    crTally one = {0};
    cr_tally_add(&one, c);
    return py_struct(&py_record_tally, &one);
}

// attributes

// An array of the state by its offset in crState, and its length.
static double* state_array(const PyWorld* self, size_t offset, int* count) {
    const crModel* model = cr_world_model(self->world);
    const char* base = (const char*)cr_world_state(self->world);
    *count = offset == offsetof(crState, q) ? model->nq : model->nv;
    return *(double* const*)(const void*)(base + offset);
}

static PyObject* get_state(PyObject* object, void* closure) {
    PyWorld* self = (PyWorld*)object;
    if (self->world == NULL) {
        py_world_idle(self);
        return NULL;
    }
    int length = 0;
    double* data = state_array(self, (size_t)(uintptr_t)closure, &length);
    Py_ssize_t count = length;
    return py_view(object, data, 1, &count, PY_DOUBLE, true);
}

static int set_state(PyObject* object, PyObject* value, void* closure) {
    PyWorld* self = (PyWorld*)object;
    if (value == NULL) PyErr_SetString(PyExc_TypeError, "the state cannot be deleted");
    if (value == NULL || !py_world_idle(self)) return -1;
    int count = 0;
    double* data = state_array(self, (size_t)(uintptr_t)closure, &count);
    const char* field = (size_t)(uintptr_t)closure == offsetof(crState, q) ? "q" : "v";
    if (!py_is_number(value)) return py_doubles(value, field, count, data) ? 0 : -1;
    double number = PyFloat_AsDouble(value);
    if (number == -1.0 && PyErr_Occurred() != NULL) return -1;
    for (int i = 0; i < count; i++) {
        data[i] = number;
    }
    return 0;
}

static PyObject* get_time(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    return py_world_idle(self) ? PyFloat_FromDouble(cr_world_state(self->world)->time) : NULL;
}

static int set_time(PyObject* object, PyObject* value, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    double time = value != NULL ? PyFloat_AsDouble(value) : NAN;
    if (PyErr_Occurred() != NULL || !py_world_idle(self)) return -1;
    if (!isfinite(time)) {
        py_refuse(CR_ERR_FINITE, "time", "time: is %g, must be finite", time);
        return -1;
    }
    cr_world_state(self->world)->time = time;
    return 0;
}

static PyObject* get_poses(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    if (!py_world_idle(self)) return NULL;
    cr_world_pose(self->world, 0);
    Py_ssize_t shape[2] = {cr_world_model(self->world)->nb, 7};
    return py_view(object, cr_world_stages(self->world)->dynamics.pose, 2, shape, PY_DOUBLE, false);
}

static PyObject* get_events(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    if (!py_world_idle(self)) return NULL;
    crEvents events = cr_world_events(self->world);
    return py_events(NULL, events.events, (size_t)events.count);
}

static PyObject* get_contacts(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    if (!py_world_idle(self)) return NULL;
    const crStep* step = cr_world_stages(self->world);
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        PyObject* item =
            Py_BuildValue("{s:i,s:i,s:i,s:i,s:d,s:d,s:N,s:N,s:N}", "body_a", c->body_a, "body_b", c->body_b,
                          "shape_a", c->shape_a, "shape_b", c->shape_b, "gap", c->point.gap, "mu",
                          c->surface->surface.mu, "point", py_vector(c->point.point), "normal",
                          py_vector(c->point.normal), "impulse", py_vector(c->impulse));
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject* get_certificate(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    return py_world_idle(self) ? py_certificate(cr_world_certificate(self->world)) : NULL;
}

static PyObject* get_energy(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    if (!py_world_idle(self)) return NULL;
    crEnergy energy = cr_world_energy(self->world);
    return Py_BuildValue("dd", energy.kinetic, energy.potential);
}

static PyObject* get_model(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    if (self->hold == NULL) Py_RETURN_NONE;
    PyObject* model = (PyObject*)((PyHold*)self->hold)->model;
    Py_INCREF(model);
    return model;
}

static PyObject* get_settings(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    return py_world_idle(self) ? py_settings_dict(&cr_world_stages(self->world)->settings) : NULL;
}

static PyObject* get_hash(PyObject* object, void* closure) {
    (void)closure;
    PyWorld* self = (PyWorld*)object;
    return py_world_idle(self) ? PyLong_FromUnsignedLongLong(cr_world_hash(self->world)) : NULL;
}

// methods

static PyObject* world_momentum(PyObject* object, PyObject* args) {
    PyWorld* self = (PyWorld*)object;
    PyObject* about = NULL;
    crVec3 point = {0}, linear, angular;
    if (!PyArg_ParseTuple(args, "|O:momentum", &about) || !py_vec3(about, "about", &point) ||
        !py_world_idle(self))
        return NULL;
    cr_world_momentum(self->world, point, &linear, &angular);
    return Py_BuildValue("NN", py_vector(linear), py_vector(angular));
}

static PyObject* world_save(PyObject* object, PyObject* unused) {
    (void)unused;
    PyWorld* self = (PyWorld*)object;
    if (!py_world_idle(self)) return NULL;
    size_t size = cr_world_save_size(self->world);
    PyObject* bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (bytes != NULL) cr_world_save(self->world, PyBytes_AsString(bytes), size);
    return bytes;
}

static PyObject* world_load(PyObject* object, PyObject* args) {
    PyWorld* self = (PyWorld*)object;
    Py_buffer bytes;
    if (!PyArg_ParseTuple(args, "y*:load", &bytes)) return NULL;
    crError error = {0};
    bool good = py_world_idle(self);
    crStatus status = good ? cr_world_load(self->world, bytes.buf, (size_t)bytes.len, &error) : CR_OK;
    PyBuffer_Release(&bytes);
    if (status != CR_OK) return py_raise(&error);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"_step", world_step, METH_VARARGS, NULL},
    {"_run", world_run, METH_VARARGS, NULL},
    {"_record", world_record, METH_VARARGS, NULL},
    {"_momentum", world_momentum, METH_VARARGS, NULL},
    {"save", world_save, METH_NOARGS, "Everything the future depends on, as bytes."},
    {"load", world_load, METH_VARARGS, "Go on from what save returned, to the same bits."},
    {NULL, NULL, 0, NULL}};

#define STATE(name, text) {#name, get_state, set_state, text, (void*)offsetof(crState, name)}
static PyGetSetDef getset[] = {
    STATE(q, "coordinates (nq); a view to read and write"),
    STATE(v, "velocities (nv); a view to read and write"),
    STATE(force, "applied along each velocity, N or N m (nv); a view"),
    STATE(motor_speed, "aims of the motors (nv); a view"),
    {"time", get_time, set_time, "s", NULL},
    {"poses", get_poses, NULL, "x y z and quaternion w x y z of every body; a view", NULL},
    {"events", get_events, NULL, "impacts of the last step; a copy", NULL},
    {"_contacts", get_contacts, NULL, NULL, NULL},
    {"_certificate", get_certificate, NULL, NULL, NULL},
    {"_energy", get_energy, NULL, NULL, NULL},
    {"model", get_model, NULL, "the model it is of", NULL},
    {"settings", get_settings, NULL, "method, dt, rule, law, solver ...", NULL},
    {"hash", get_hash, NULL, "over the bits of the state and the warm start", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, PyType_GenericNew), PY_SLOT(Py_tp_init, world_init),
                              PY_SLOT(Py_tp_dealloc, world_dealloc), PY_SLOT(Py_tp_traverse, world_traverse),
                              PY_SLOT(Py_tp_clear, world_clear),     PY_SLOT(Py_tp_methods, methods),
                              PY_SLOT(Py_tp_getset, getset),         {0, NULL}};
PyType_Spec py_world_spec = {"carom._carom.World", sizeof(PyWorld), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
PyTypeObject* PyWorld_Type;
