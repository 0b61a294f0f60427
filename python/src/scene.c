// scene.c - scenes from JSON text: the model, the start, and worlds of them.
//
// Values may be set by path before the scene is read, as `carom run --set` does. The scene owns its model and
// everything its settings point to; worlds and arrays keep it alive. Fails: what the reader refuses, with
// field, line and column.
#include "io/scene.h"
#include "binding.h"
#include "io/json.h"
#include "io/json_set.h"

typedef struct PyScene {
    PyObject_HEAD crScene scene;
} PyScene;

static crStatus set_values(crJsonDoc* doc, PyObject* values, crError* error, bool* raised) {
    crStatus status = CR_OK;
    Py_ssize_t count = PyList_GET_SIZE(values);
    for (Py_ssize_t i = 0; i < count && status == CR_OK && !*raised; i++) {
        const char *path, *value;
        *raised = !PyArg_ParseTuple(PyList_GET_ITEM(values, i), "ss", &path, &value);
        if (!*raised) status = cr_json_set(doc, path, value, error);
    }
    return status;
}

// Scene(text, [(path, value), ...])
static int scene_init(PyObject* object, PyObject* args, PyObject* keywords) {
    (void)keywords;
    PyScene* self = (PyScene*)object;
    const char* text;
    Py_ssize_t size;
    PyObject* values;
    if (self->scene.model != NULL) {
        PyErr_SetString(PyExc_TypeError, "a Scene is made once");
        return -1;
    }
    if (!PyArg_ParseTuple(args, "s#O!:Scene", &text, &size, &PyList_Type, &values)) return -1;
    crJsonDoc doc = {0};
    crError error = {0};
    bool raised = false;
    crStatus status = cr_json_parse(text, (size_t)size, 1, &doc, &error);
    if (status == CR_OK && doc.root->type == CR_JSON_OBJECT)
        status = set_values(&doc, values, &error, &raised);
    if (status == CR_OK && !raised) status = cr_scene_read(doc.root, &self->scene, &error);
    if (status != CR_OK || raised) self->scene = (crScene){0};
    cr_json_free(&doc);
    if (status != CR_OK) py_raise(&error);
    return status == CR_OK && !raised ? 0 : -1;
}

static void scene_dealloc(PyObject* object) {
    PyScene* self = (PyScene*)object;
    cr_scene_free(&self->scene);
    Py_TYPE(object)->tp_free(object);
}

static bool ready(const PyScene* self) {
    return self->scene.model != NULL || py_refuse(CR_ERR_ARGUMENT, "scene", "scene: was not initialised");
}

static PyObject* get_model(PyObject* object, void* closure) {
    (void)closure;
    PyScene* self = (PyScene*)object;
    return ready(self) ? py_model_of(self->scene.model, object) : NULL;
}

static PyObject* get_start(PyObject* object, void* closure) {
    PyScene* self = (PyScene*)object;
    if (!ready(self)) return NULL;
    bool velocity = closure != NULL;
    npy_intp count = velocity ? self->scene.model->nv : self->scene.model->nq;
    return py_view(object, velocity ? self->scene.v : self->scene.q, 1, &count, NPY_DOUBLE, true);
}

static PyObject* get_info(PyObject* object, void* closure) {
    (void)closure;
    PyScene* self = (PyScene*)object;
    if (!ready(self)) return NULL;
    return Py_BuildValue("{s:z,s:d,s:i,s:i,s:N}", "comment", self->scene.comment, "duration",
                         self->scene.duration, "every", self->scene.every, "overlaps",
                         self->scene.overlap_count, "settings", py_settings_dict(&self->scene.step));
}

static PyObject* make_world(PyObject* object, PyObject* args) {
    PyScene* self = (PyScene*)object;
    int threads = 0;
    if (!ready(self) || !PyArg_ParseTuple(args, "|i:world", &threads)) return NULL;
    PyObject* model = py_model_of(self->scene.model, object);
    if (model == NULL) return NULL;
    crStepSettings step = self->scene.step;
    if (threads > 0) step.threads = threads;
    PyObject* world = py_world_of_scene(object, (PyModel*)model, &step, self->scene.q, self->scene.v);
    Py_DECREF(model);
    return world;
}

static PyMethodDef methods[] = {{"_world", make_world, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef getset[] = {
    {"model", get_model, NULL, "bodies, shapes and materials; cannot change", NULL},
    {"q", get_start, NULL, "coordinates at the start (nq); a view that worlds made later start from", NULL},
    {"v", get_start, NULL, "velocities at the start (nv); likewise", (void*)1},
    {"_info", get_info, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

PyTypeObject PyScene_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "carom._carom.Scene",
    .tp_basicsize = sizeof(PyScene),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = PyType_GenericNew,
    .tp_init = scene_init,
    .tp_dealloc = scene_dealloc,
    .tp_methods = methods,
    .tp_getset = getset,
};
