// scene.c - scenes from JSON text or from models of others (MJCF, URDF, SDF): the model, the start, worlds.
//
// Values may be set by path before the scene is read, as `carom run --set` does. The scene owns its model and
// everything its settings point to; worlds and arrays keep it alive. Fails: what the reader refuses, with
// field, line and column.
#include "io/scene.h"
#include "binding.h"
#include "io/import.h"
#include "io/json.h"
#include "io/json_set.h"

typedef struct PyScene {
    PyObject ob_base;
    crScene scene;
    PyObject*
        notes;  // what an importer left out: a list of (level, text, file, line, column, count), or NULL
} PyScene;

const crScene* py_scene_of(PyObject* scene) { return &((PyScene*)scene)->scene; }

static crStatus set_values(crJsonDoc* doc, PyObject* values, crError* error, bool* raised) {
    crStatus status = CR_OK;
    Py_ssize_t count = PyList_Size(values);
    for (Py_ssize_t i = 0; i < count && status == CR_OK && !*raised; i++) {
        const char *path, *value;
        *raised = !PyArg_ParseTuple(PyList_GetItem(values, i), "ss", &path, &value);
        if (!*raised) status = cr_json_set(doc, path, value, error);
    }
    return status;
}

static crStatus read_tree(PyScene* self, crJsonDoc* doc, PyObject* values, crError* error, bool* raised) {
    crStatus status = CR_OK;
    if (doc->root->type == CR_JSON_OBJECT) status = set_values(doc, values, error, raised);
    if (status == CR_OK && !*raised) status = cr_scene_read(doc->root, &self->scene, error);
    if (status != CR_OK || *raised) self->scene = (crScene){0};
    return status;
}

static PyObject* notes_of(const crImport* import) {
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < import->note_count; i++) {
        const crNote* note = &import->notes[i];
        PyObject* item = Py_BuildValue("(sssiii)", note->level == CR_NOTE_UNSUPPORTED ? "warning" : "note",
                                       note->text, note->file, note->line, note->column, note->count);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

// folders for package:// as C strings; the tuple owns them
static const char** package_list(PyObject* packages) {
    Py_ssize_t count = PyTuple_Size(packages);
    const char** list = PyMem_Calloc((size_t)count + 1, sizeof *list);
    if (list == NULL) PyErr_NoMemory();
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        list[i] = py_text(PyTuple_GetItem(packages, i));
        if (list[i] == NULL) {
            PyMem_Free(list);
            return NULL;
        }
    }
    return list;
}

// Scene(None, values, path, key, packages, fixed_base)
static crStatus read_model(PyScene* self, PyObject* args, PyObject* values, crError* error, bool* raised) {
    PyObject *none, *unused, *path, *packages;
    crImportOptions options = {0};
    int fixed_base;
    *raised = true;
    if (!PyArg_ParseTuple(args, "OOO&zO!p:Scene", &none, &unused, PyUnicode_FSConverter, &path, &options.key,
                          &PyTuple_Type, &packages, &fixed_base))
        return CR_OK;
    options.fixed_base = fixed_base != 0;
    options.package_count = (int)PyTuple_Size(packages);
    const char** folders = package_list(packages);
    options.packages = folders;
    crStatus status = CR_OK;
    if (folders != NULL) {
        crImport import = {0};
        *raised = false;
        status = cr_import_file(PyBytes_AsString(path), &options, &import, error);
        if (status == CR_OK) {
            self->notes = notes_of(&import);
            *raised = self->notes == NULL;
            if (!*raised) status = read_tree(self, &import.scene, values, error, raised);
            cr_import_free(&import);
        }
    }
    PyMem_Free(folders);
    Py_DECREF(path);
    return status;
}

// Scene(text, [(path, value), ...])
static crStatus read_text(PyScene* self, PyObject* args, PyObject* values, crError* error, bool* raised) {
    const char* text;
    Py_ssize_t size;
    PyObject* unused;
    *raised = !PyArg_ParseTuple(args, "s#O:Scene", &text, &size, &unused);
    if (*raised) return CR_OK;
    crJsonDoc doc = {0};
    crStatus status = cr_json_parse(text, (size_t)size, 1, &doc, error);
    if (status != CR_OK) return status;
    status = read_tree(self, &doc, values, error, raised);
    cr_json_free(&doc);
    return status;
}

static int scene_init(PyObject* object, PyObject* args, PyObject* keywords) {
    (void)keywords;
    PyScene* self = (PyScene*)object;
    if (self->scene.model != NULL || self->notes != NULL) {
        PyErr_SetString(PyExc_TypeError, "a Scene is made once");
        return -1;
    }
    Py_ssize_t given = PyTuple_Size(args);
    PyObject* values = given >= 2 ? PyTuple_GetItem(args, 1) : NULL;
    if (values == NULL || !PyList_Check(values)) {
        PyErr_SetString(PyExc_TypeError, "Scene needs a text and a list of values");
        return -1;
    }
    crError error = {0};
    bool raised = false;
    crStatus status = given == 6 ? read_model(self, args, values, &error, &raised)
                                 : read_text(self, args, values, &error, &raised);
    if (status != CR_OK) py_raise(&error);
    return status == CR_OK && !raised ? 0 : -1;
}

static void scene_dealloc(PyObject* object) {
    PyScene* self = (PyScene*)object;
    cr_scene_free(&self->scene);
    Py_XDECREF(self->notes);
    py_free(object);
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
    Py_ssize_t count = velocity ? self->scene.model->nv : self->scene.model->nq;
    return py_view(object, velocity ? self->scene.v : self->scene.q, 1, &count, PY_DOUBLE, true);
}

static PyObject* get_info(PyObject* object, void* closure) {
    (void)closure;
    PyScene* self = (PyScene*)object;
    if (!ready(self)) return NULL;
    return Py_BuildValue("{s:z,s:d,s:i,s:i,s:N}", "comment", self->scene.comment, "duration",
                         self->scene.duration, "every", self->scene.every, "overlaps",
                         self->scene.overlap_count, "settings", py_settings_dict(&self->scene.step));
}

static PyObject* get_notes(PyObject* object, void* closure) {
    (void)closure;
    PyObject* notes = ((PyScene*)object)->notes;
    return notes != NULL ? PyList_GetSlice(notes, 0, PyList_Size(notes)) : PyList_New(0);
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
    {"_notes", get_notes, NULL, NULL, NULL},
    {"_info", get_info, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, PyType_GenericNew), PY_SLOT(Py_tp_init, scene_init),
                              PY_SLOT(Py_tp_dealloc, scene_dealloc), PY_SLOT(Py_tp_methods, methods),
                              PY_SLOT(Py_tp_getset, getset),         {0, NULL}};
PyType_Spec py_scene_spec = {"carom._carom.Scene", sizeof(PyScene), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
PyTypeObject* PyScene_Type;
