// trajectory.c - what a world did over time, recorded in memory or read from a file; arrays are views of it.
//
// Recorded as `carom run` does: the start, every so many steps, and the end; residual, penetration and
// contacts are the worst since the record before. Fails: what a step or the reader of files refuses.
#include <math.h>
#include <stdlib.h>

#include "binding.h"
#include "carom/stages.h"
#include "io/names.h"

typedef struct PyTrajectory {
    PyObject ob_base;
    crRecording recording;
} PyTrajectory;

PyObject* py_trajectory(crRecording* recording) {
    PyTrajectory* self = (PyTrajectory*)PyType_GenericAlloc(py_classes.trajectory, 0);
    if (self == NULL) {
        cr_recording_free(recording);
        return NULL;
    }
    self->recording = *recording;
    return (PyObject*)self;
}

const crRecording* py_recording(PyObject* trajectory) { return &((PyTrajectory*)trajectory)->recording; }

static PyObject* trajectory_read(PyObject* type, PyObject* args) {
    (void)type;
    PyObject* path;
    if (!PyArg_ParseTuple(args, "O&:read", PyUnicode_FSConverter, &path)) return NULL;
    crRecording recording = {0};
    crError error = {0};
    crStatus status;
    const char* file = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = cr_recording_read(file, &recording, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return status == CR_OK ? py_trajectory(&recording) : py_raise(&error);
}

static PyObject* trajectory_write(PyObject* object, PyObject* args) {
    PyObject* path;
    if (!PyArg_ParseTuple(args, "O&:write", PyUnicode_FSConverter, &path)) return NULL;
    crError error = {0};
    crStatus status;
    const char* file = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = py_recording_write(&((PyTrajectory*)object)->recording, file, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

static void trajectory_dealloc(PyObject* object) {
    cr_recording_free(&((PyTrajectory*)object)->recording);
    py_free(object);
}

// recording

static bool grow(double** array, size_t count, size_t width) {
    void* more = realloc(*array, (count * width + 1) * sizeof(double));
    if (more != NULL) *array = more;
    return more != NULL;
}

static crStatus reserve(crRecording* r, size_t capacity) {
    bool good = grow(&r->time, capacity, 1) && grow(&r->q, capacity, (size_t)r->nq) &&
                grow(&r->v, capacity, (size_t)r->nv) && grow(&r->energy, capacity, 2) &&
                grow(&r->certificate, capacity, 3);
    return good ? CR_OK : CR_ERR_MEMORY;
}

// residual, penetration and contacts since the last record
typedef struct Since {
    double worst[3];
} Since;

static crStatus add_record(crRecording* r, size_t* capacity, crWorld* world, Since* since) {
    if (r->count == *capacity) {
        *capacity = *capacity > 0 ? 2 * *capacity : 64;
        if (reserve(r, *capacity) != CR_OK) return CR_ERR_MEMORY;
    }
    const crState* state = cr_world_state(world);
    crEnergy energy = cr_world_energy(world);
    size_t i = r->count++;
    r->time[i] = state->time;
    memcpy(r->q + i * (size_t)r->nq, state->q, (size_t)r->nq * sizeof(double));
    memcpy(r->v + i * (size_t)r->nv, state->v, (size_t)r->nv * sizeof(double));
    r->energy[2 * i] = energy.kinetic;
    r->energy[2 * i + 1] = energy.potential;
    memcpy(r->certificate + 3 * i, since->worst, sizeof since->worst);
    *since = (Since){0};
    return CR_OK;
}

static crStatus add_events(crRecording* r, size_t* capacity, const crWorld* world) {
    crEvents events = cr_world_events(world);
    size_t needed = r->event_count + (size_t)events.count;
    if (needed > *capacity) {
        *capacity = 2 * needed;
        void* more = realloc(r->events, *capacity * sizeof *r->events);
        if (more == NULL) return CR_ERR_MEMORY;
        r->events = more;
    }
    if (events.count > 0)
        memcpy(r->events + r->event_count, events.events, (size_t)events.count * sizeof *r->events);
    r->event_count = needed;
    return CR_OK;
}

static crStatus name_bodies(const crModel* model, crRecording* r) {
    r->nq = model->nq;
    r->nv = model->nv;
    r->has_events = true;
    r->bodies = calloc((size_t)model->nb, sizeof *r->bodies);
    if (r->bodies == NULL) return CR_ERR_MEMORY;
    for (int i = 1; i < model->nb; i++) {
        const crBody* body = &model->bodies[i];
        crRecordedBody* out = &r->bodies[r->body_count++];
        *out = (crRecordedBody){
            .joint = body->joint, .q = body->q, .nq = body->nq, .v = body->v, .nv = body->nv};
        PyOS_snprintf(out->name, sizeof out->name, "%s", body->name != NULL ? body->name : "");
    }
    return CR_OK;
}

typedef struct Recorder {
    crRecording recording;
    size_t records, events;  // capacities
    Since since;
} Recorder;

static crStatus record_step(Recorder* r, crWorld* world, double target, crError* error) {
    crStatus status = cr_world_run(world, target, error);
    if (status != CR_OK) return status;
    const crCertificate* c = cr_world_certificate(world);
    r->since.worst[0] = fmax(r->since.worst[0], c->residual);
    r->since.worst[1] = fmax(r->since.worst[1], c->penetration);
    r->since.worst[2] = fmax(r->since.worst[2], c->contacts);
    return add_events(&r->recording, &r->events, world);
}

PyObject* py_world_record(PyWorld* self, double time, int every) {
    Recorder r = {0};
    crError error = {0};
    crWorld* world = self->world;
    crState* state = cr_world_state(world);
    double start = state->time, dt = cr_world_stages(world)->settings.dt, n = 1.0;
    crStatus status = name_bodies(cr_world_model(world), &r.recording);
    if (status == CR_OK) status = add_record(&r.recording, &r.records, world, &r.since);
    bool stopped = false;
    self->busy = true;
    while (status == CR_OK && !stopped && state->time < time) {
        Py_BEGIN_ALLOW_THREADS;
        for (int i = 0; i < every && status == CR_OK && state->time < time; i++, n += 1.0) {
            double next = start + n * dt;
            status = record_step(&r, world, next > time - 1e-9 * dt ? time : next, &error);
        }
        if (status == CR_OK) status = add_record(&r.recording, &r.records, world, &r.since);
        Py_END_ALLOW_THREADS;
        stopped = PyErr_CheckSignals() != 0;
    }
    self->busy = false;
    if (status == CR_OK && !stopped && self->model->raised == NULL) return py_trajectory(&r.recording);
    cr_recording_free(&r.recording);
    if (stopped) return NULL;
    if (error.status == CR_OK) error.status = status;
    return py_world_raise(self, &error);
}

// attributes

enum { TIME, Q, V, ENERGY, CERTIFICATE };

static PyObject* get_array(PyObject* object, void* closure) {
    const crRecording* r = &((PyTrajectory*)object)->recording;
    const double* const arrays[] = {r->time, r->q, r->v, r->energy, r->certificate};
    const int widths[] = {1, r->nq, r->nv, 2, 3};
    size_t which = (size_t)(uintptr_t)closure;
    if (which >= ENERGY && arrays[which] == NULL) Py_RETURN_NONE;
    Py_ssize_t shape[2] = {(Py_ssize_t)r->count, widths[which]};
    return py_view(object, arrays[which], which == TIME ? 1 : 2, shape, PY_DOUBLE, false);
}

// _columns(velocity, first, count): some columns of q or v; a view
static PyObject* trajectory_columns(PyObject* object, PyObject* args) {
    const crRecording* r = &((PyTrajectory*)object)->recording;
    int velocity, first, count;
    if (!PyArg_ParseTuple(args, "pii:columns", &velocity, &first, &count)) return NULL;
    int width = velocity != 0 ? r->nv : r->nq;
    if (first < 0 || count < 0 || first > width - count) {
        py_refuse_index("column", (long)first + count, (long)width + 1);
        return NULL;
    }
    const double* data = velocity != 0 ? r->v : r->q;
    Py_ssize_t shape[2] = {(Py_ssize_t)r->count, count};
    return py_view_strided(object, data != NULL ? data + first : NULL, 2, shape,
                           (Py_ssize_t)sizeof(double) * width);
}

static PyObject* get_events(PyObject* object, void* closure) {
    (void)closure;
    const crRecording* r = &((PyTrajectory*)object)->recording;
    if (!r->has_events) Py_RETURN_NONE;
    return py_events(object, r->events, r->event_count);
}

static PyObject* get_bodies(PyObject* object, void* closure) {
    (void)closure;
    const crRecording* r = &((PyTrajectory*)object)->recording;
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < r->body_count; i++) {
        const crRecordedBody* b = &r->bodies[i];
        PyObject* item =
            Py_BuildValue("(ssiiii)", b->name, cr_joint_info(b->joint)->name, b->q, b->nq, b->v, b->nv);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject* get_scene(PyObject* object, void* closure) {
    (void)closure;
    return Py_BuildValue("z", ((PyTrajectory*)object)->recording.scene);
}

static PyMethodDef methods[] = {{"_read", trajectory_read, METH_VARARGS | METH_STATIC, NULL},
                                {"_write", trajectory_write, METH_VARARGS, NULL},
                                {"_columns", trajectory_columns, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static PyGetSetDef getset[] = {
    {"time", get_array, NULL, "s (n); a view", (void*)TIME},
    {"q", get_array, NULL, "coordinates (n, nq); a view", (void*)Q},
    {"v", get_array, NULL, "velocities (n, nv); a view", (void*)V},
    {"energy", get_array, NULL, "kinetic and potential, J (n, 2); a view, or None", (void*)ENERGY},
    {"certificate", get_array, NULL, "residual, penetration (m), contacts (n, 3); a view, or None",
     (void*)CERTIFICATE},
    {"events", get_events, NULL, "impacts; a view with named fields, or None", NULL},
    {"_bodies", get_bodies, NULL, NULL, NULL},
    {"scene", get_scene, NULL, "JSON text, or None", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_dealloc, trajectory_dealloc),
                              PY_SLOT(Py_tp_methods, methods),
                              PY_SLOT(Py_tp_getset, getset),
                              {0, NULL}};
PyType_Spec py_trajectory_spec = {
    "carom._carom.Trajectory", sizeof(PyTrajectory), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
PyTypeObject* PyTrajectory_Type;
