// control.c - names, controls, sensors and the dynamics of a world, for carom/_control.py.
//
// Numbers go out as lists: these are small, and who needs speed writes world.q and world.v. Fails: carom.Error.
#include <math.h>
#include <stdlib.h>

#include "binding.h"
#include "carom/dynamics.h"
#include "carom/robot.h"
#include "io/scene.h"

#ifdef Py_LIMITED_API
#define WORLD_TYPE PyWorld_Type
#define MODEL_TYPE PyModel_Type
#else
#define WORLD_TYPE &PyWorld_Type
#define MODEL_TYPE &PyModel_Type
#endif

static PyObject* list_of(const double* x, int count) {
    PyObject* list = PyList_New(count);
    for (int i = 0; list != NULL && i < count; i++) {
        PyObject* number = PyFloat_FromDouble(x[i]);
        if (number == NULL || PyList_SetItem(list, i, number) != 0) {
            Py_DECREF(list);
            return NULL;
        }
    }
    return list;
}

static bool append(PyObject* list, PyObject* item) {
    bool good = list != NULL && item != NULL && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return good;
}

// _control_names(model): joints, actuators, sites, sensors
PyObject* py_control_names(PyObject* module, PyObject* args) {
    (void)module;
    PyModel* self;
    if (!PyArg_ParseTuple(args, "O!", MODEL_TYPE, &self)) return NULL;
    const crModel* model = self->model;
    PyObject *joints = PyList_New(0), *actuators = PyList_New(0), *sites = PyList_New(0),
             *sensors = PyList_New(0);
    bool good = joints != NULL && actuators != NULL && sites != NULL && sensors != NULL;
    for (int i = 1; good && i < model->nb; i++) {
        const crBody* b = &model->bodies[i];
        if (b->nv == 0) continue;
        const char* name = b->joint_name != NULL ? b->joint_name : b->name;
        good = append(joints, Py_BuildValue("(ziiiii)", name, i, b->q, b->nq, b->v, b->nv));
    }
    for (int i = 0; good && i < model->nu; i++) {
        const crActuator* a = &model->actuators[i];
        good = append(actuators, Py_BuildValue("(zddddi)", a->name, a->ctrl_lower, a->ctrl_upper,
                                               a->force_lower, a->force_upper, a->act_place));
    }
    for (int i = 0; good && i < model->site_count; i++) {
        good = append(sites, Py_BuildValue("(zi)", model->sites[i].name, model->sites[i].body));
    }
    for (int i = 0; good && i < model->sensor_count; i++) {
        const crSensor* s = &model->sensors[i];
        good = append(sensors,
                      Py_BuildValue("(zsii)", s->name, cr_sensor_kind_name(s->kind), s->first, s->count));
    }
    PyObject* all = good ? Py_BuildValue("(OOOO)", joints, actuators, sites, sensors) : NULL;
    Py_XDECREF(joints);
    Py_XDECREF(actuators);
    Py_XDECREF(sites);
    Py_XDECREF(sensors);
    return all;
}

// the world of a call, if it is not running
static PyWorld* world_of(PyObject* object) {
    PyWorld* self = (PyWorld*)object;
    return py_world_idle(self) ? self : NULL;
}

// _control_get(world): controls
PyObject* py_control_get(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* object;
    if (!PyArg_ParseTuple(args, "O!", WORLD_TYPE, &object)) return NULL;
    PyWorld* self = world_of(object);
    return self != NULL ? list_of(cr_world_state(self->world)->ctrl, cr_world_model(self->world)->nu) : NULL;
}

// _control_set(world, values): all controls; each is checked before any is written
PyObject* py_control_set(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *object, *values;
    if (!PyArg_ParseTuple(args, "O!O", WORLD_TYPE, &object, &values)) return NULL;
    PyWorld* self = world_of(object);
    if (self == NULL) return NULL;
    const crModel* model = cr_world_model(self->world);
    double* x = malloc(((size_t)model->nu + 1) * sizeof *x);
    if (x == NULL) return PyErr_NoMemory();
    bool good = py_doubles(values, "ctrl", model->nu, x);
    crState* state = cr_world_state(self->world);
    double* own = state->ctrl;
    crError error = {0};
    state->ctrl = x;
    crStatus status = good ? cr_state_check(model, state, &error) : CR_OK;
    state->ctrl = own;
    if (good && status == CR_OK && model->nu > 0) memcpy(own, x, (size_t)model->nu * sizeof *x);
    free(x);
    if (status != CR_OK) return py_raise(&error);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

// _control_act(world): activations; _control_act(world, values): writes them
PyObject* py_control_act(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *object, *values = NULL;
    if (!PyArg_ParseTuple(args, "O!|O", WORLD_TYPE, &object, &values)) return NULL;
    PyWorld* self = world_of(object);
    if (self == NULL) return NULL;
    const crModel* model = cr_world_model(self->world);
    crState* state = cr_world_state(self->world);
    if (values == NULL) return list_of(state->act, model->na);
    double* x = malloc(((size_t)model->na + 1) * sizeof *x);
    if (x == NULL) return PyErr_NoMemory();
    bool good = py_doubles(values, "act", model->na, x);
    for (int i = 0; i < model->na && good; i++) {
        good = isfinite(x[i]) || py_refuse(CR_ERR_FINITE, "act", "act[%d]: must be finite, got %g", i, x[i]);
    }
    if (good && model->na > 0) memcpy(state->act, x, (size_t)model->na * sizeof *x);
    free(x);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

// _control_sense(world): all numbers
PyObject* py_control_sense(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* object;
    if (!PyArg_ParseTuple(args, "O!", WORLD_TYPE, &object)) return NULL;
    PyWorld* self = world_of(object);
    if (self == NULL) return NULL;
    int count = cr_world_model(self->world)->nsensor;
    double* x = malloc(((size_t)count + 1) * sizeof *x);
    if (x == NULL) return PyErr_NoMemory();
    crError error = {0};
    crStatus status = cr_world_sense(self->world, x, &error);
    PyObject* list = status == CR_OK ? list_of(x, count) : py_raise(&error);
    free(x);
    return list;
}

// _control_reset(world, key): the start of its scene or model, or a keyframe
PyObject* py_control_reset(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* object;
    const char* key;
    if (!PyArg_ParseTuple(args, "O!z", WORLD_TYPE, &object, &key)) return NULL;
    PyWorld* self = world_of(object);
    if (self == NULL) return NULL;
    const crScene* scene = self->source != NULL ? py_scene_of(self->source) : NULL;
    crError error = {0};
    if (scene == NULL && key != NULL) {
        py_refuse(CR_ERR_NAME, "key", "key: a world without a scene has no keyframes");
        return NULL;
    }
    crStatus status =
        scene != NULL ? cr_scene_reset(scene, self->world, key, &error) : cr_world_reset(self->world, &error);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// _control_set_state(world, time, q, v, ctrl): None is the start of the model
PyObject* py_control_set_state(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *object, *given[3];
    double time;
    if (!PyArg_ParseTuple(args, "O!dOOO", WORLD_TYPE, &object, &time, &given[0], &given[1], &given[2]))
        return NULL;
    PyWorld* self = world_of(object);
    if (self == NULL) return NULL;
    const crModel* model = cr_world_model(self->world);
    const int counts[3] = {model->nq, model->nv, model->nu};
    static const char* const names[3] = {"q", "v", "ctrl"};
    double* x[3] = {NULL, NULL, NULL};
    bool good = true;
    for (int k = 0; k < 3 && good; k++) {
        if (given[k] == Py_None) continue;
        x[k] = malloc(((size_t)counts[k] + 1) * sizeof(double));
        if (x[k] == NULL) PyErr_NoMemory();
        good = x[k] != NULL && py_doubles(given[k], names[k], counts[k], x[k]);
    }
    crError error = {0};
    crState state = {.time = time, .q = x[0], .v = x[1], .ctrl = x[2]};
    crStatus status = good ? cr_world_set_state(self->world, &state, &error) : CR_OK;
    for (int k = 0; k < 3; k++) {
        free(x[k]);
    }
    if (status != CR_OK) return py_raise(&error);
    if (!good) return NULL;
    Py_RETURN_NONE;
}

// _control_dynamics(world, what, numbers): mass matrix, bias, acceleration, inverse (of numbers), jacobian (body, point)
PyObject* py_control_dynamics(PyObject* module, PyObject* args) {
    (void)module;
    static const char* const names[] = {"mass", "bias", "acceleration", "inverse", "jacobian", NULL};
    PyObject *object, *what, *given;
    int kind = 0;
    if (!PyArg_ParseTuple(args, "O!OO", WORLD_TYPE, &object, &what, &given)) return NULL;
    PyWorld* self = world_of(object);
    if (self == NULL || !py_choice(what, "what", names, &kind)) return NULL;
    const crModel* model = cr_world_model(self->world);
    const crState* state = cr_world_state(self->world);
    size_t nv = (size_t)model->nv;
    double body[4] = {0};
    crArena arena;
    crDynamics d;
    cr_arena_create(&arena, NULL, 0);
    double* out = cr_arena_alloc(&arena, (nv * (nv + 6) + 1) * sizeof *out);
    double* in = cr_arena_alloc(&arena, (nv + 1) * sizeof *in);
    crStatus status = out != NULL && in != NULL ? cr_dynamics_create(model, &arena, &d) : CR_ERR_MEMORY;
    bool good = true;
    int count = (int)nv;
    if (status == CR_OK && kind == 3) good = py_doubles(given, "acceleration", (int)nv, in);
    if (status == CR_OK && kind == 4) good = py_doubles(given, "point", 4, body);
    if (status == CR_OK && good) {
        cr_model_kinematics(model, state, &d);
        if (kind == 0) status = cr_model_mass_factor(model, 0.0, &d);
        if (kind == 0 && status == CR_OK) cr_model_mass_dense(model, &d, out);
        if (kind == 1) status = cr_model_bias(model, state, &d, out);
        if (kind == 2) status = cr_model_acceleration(model, state, &d, out);
        if (kind == 3) status = cr_model_inverse_dynamics(model, state, in, &d, out);
        if (kind == 4)
            status = cr_model_jacobian(model, &d, (int)body[0], cr_vec3(body[1], body[2], body[3]), out,
                                       out + 3 * nv);
        count = (int)(kind == 0 ? nv * nv : kind == 4 ? 6 * nv : nv);
    }
    crError error = {0};
    PyObject* list = NULL;
    if (status != CR_OK) {
        cr_error_set(&error, status, names[kind], "%s: %s", names[kind], cr_status_text(status));
        py_raise(&error);
    } else if (good) {
        list = list_of(out, count);
    }
    cr_arena_destroy(&arena);
    return list;
}
