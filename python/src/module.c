// module.c - the extension module carom._carom: types, functions, and the exception.
//
// The package carom is written over it and has the documentation; nothing here is meant to be used alone.
#include <stdlib.h>

#include "binding.h"
#include "parts.h"

struct PyClasses py_classes;

// The folder of the package, in which the parts are.
static bool keep_folder(PyObject* path) {
    const char* text = PyBytes_AsString(path);
    char* copy = text != NULL ? malloc(strlen(text) + 1) : NULL;
    if (copy != NULL) strcpy(copy, text);
    free(py_parts_folder);
    py_parts_folder = copy;
    Py_DECREF(path);
    return copy != NULL;
}

// _register(Model, World, Trajectory, Contact, view, fresh, events, folder)
PyObject* py_register(PyObject* module, PyObject* args) {
    (void)module;
    struct PyClasses c;
    PyObject* folder;
    if (!PyArg_ParseTuple(args, "O!O!O!O!OOOO&", &PyType_Type, &c.model, &PyType_Type, &c.world, &PyType_Type,
                          &c.trajectory, &PyType_Type, &c.contact, &c.view, &c.fresh, &c.events,
                          PyUnicode_FSConverter, &folder))
        return NULL;
    if (!keep_folder(folder)) return PyErr_NoMemory();
    if (PyType_IsSubtype(c.model, PyModel_Type) == 0 || PyType_IsSubtype(c.world, PyWorld_Type) == 0 ||
        PyType_IsSubtype(c.trajectory, PyTrajectory_Type) == 0) {
        PyErr_SetString(PyExc_TypeError, "classes must build on Model, World and Trajectory");
        return NULL;
    }
    // held for as long as the module
    Py_INCREF(c.model);
    Py_INCREF(c.world);
    Py_INCREF(c.trajectory);
    Py_INCREF(c.contact);
    Py_INCREF(c.view);
    Py_INCREF(c.fresh);
    Py_INCREF(c.events);
    py_classes = c;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_collision", (PyCFunction)(void (*)(void))py_collision, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_bodies", py_bodies, METH_VARARGS, NULL},
    {"_cue_strike", py_cue_strike, METH_VARARGS, NULL},
    {"_region", py_region, METH_VARARGS, NULL},
    {"_verdict", py_verdict, METH_VARARGS, NULL},
    {"_laws", py_laws, METH_NOARGS, NULL},
    {"_rules", py_rules, METH_NOARGS, NULL},
    {"_solvers", py_solvers, METH_NOARGS, NULL},
    {"_batch_new", py_batch_new, METH_VARARGS, NULL},
    {"_batch_step", py_batch_step, METH_VARARGS, NULL},
    {"_batch_read", py_batch_read, METH_VARARGS, NULL},
    {"_batch_write", py_batch_write, METH_VARARGS, NULL},
    {"_batch_view", py_batch_view, METH_VARARGS, NULL},
    {"_batch_dlpack", py_batch_dlpack, METH_VARARGS, NULL},
    {"_batch_vary", py_batch_vary, METH_VARARGS, NULL},
    {"_batch_move", py_batch_move, METH_VARARGS, NULL},
    {"_wrt_new", py_wrt_new, METH_VARARGS, NULL},
    {"_wrt_params", py_wrt_params, METH_VARARGS, NULL},
    {"_wrt_set", py_wrt_set, METH_VARARGS, NULL},
    {"_wrt_apply", py_wrt_apply, METH_VARARGS, NULL},
    {"_wrt_jacobian", py_wrt_jacobian, METH_VARARGS, NULL},
    {"_wrt_back", py_wrt_back, METH_VARARGS, NULL},
    {"_wrt_run", py_wrt_run, METH_VARARGS, NULL},
    {"_wrt_adjoint", py_wrt_adjoint, METH_VARARGS, NULL},
    {"_wrt_rates", py_wrt_rates, METH_VARARGS, NULL},
    {"_batch_hash", py_batch_hash, METH_VARARGS, NULL},
    {"_batch_summary", py_batch_summary, METH_VARARGS, NULL},
    {"_fit_impacts", py_fit_impacts, METH_VARARGS, NULL},
    {"_fit_laws", py_fit_laws, METH_NOARGS, NULL},
    {"_fit_predict", py_fit_predict, METH_VARARGS, NULL},
    {"_fit_motion", py_fit_motion, METH_VARARGS, NULL},
    {"_fit_predict_motion", py_fit_predict_motion, METH_VARARGS, NULL},
    {"_spread", py_spread, METH_VARARGS, NULL},
    {"_audit_motion", py_audit_motion, METH_VARARGS, NULL},
    {"_draw", py_draw, METH_VARARGS, NULL},
    {"_control_names", py_control_names, METH_VARARGS, NULL},
    {"_control_get", py_control_get, METH_VARARGS, NULL},
    {"_control_act", py_control_act, METH_VARARGS, NULL},
    {"_control_set", py_control_set, METH_VARARGS, NULL},
    {"_control_sense", py_control_sense, METH_VARARGS, NULL},
    {"_control_reset", py_control_reset, METH_VARARGS, NULL},
    {"_control_set_state", py_control_set_state, METH_VARARGS, NULL},
    {"_control_dynamics", py_control_dynamics, METH_VARARGS, NULL},
    {"_register", py_register, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "carom._carom", NULL, -1, functions, NULL, NULL, NULL, NULL};

extern PyType_Spec py_law_spec, py_rule_spec, py_model_spec, py_world_spec, py_scene_spec, py_trajectory_spec,
    py_problem_spec, py_hold_spec, py_numbers_spec;

static bool add_types(PyObject* module) {
    static const struct {
        PyType_Spec* spec;
        PyTypeObject** type;
    } types[] = {{&py_law_spec, &PyLaw_Type},         {&py_rule_spec, &PyRule_Type},
                 {&py_model_spec, &PyModel_Type},     {&py_world_spec, &PyWorld_Type},
                 {&py_scene_spec, &PyScene_Type},     {&py_trajectory_spec, &PyTrajectory_Type},
                 {&py_problem_spec, &PyProblem_Type}, {&py_hold_spec, &PyHold_Type},
                 {&py_numbers_spec, &PyNumbers_Type}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        *types[i].type = (PyTypeObject*)PyType_FromSpec(types[i].spec);
        if (*types[i].type == NULL || PyModule_AddType(module, *types[i].type) != 0) return false;
    }
    return true;
}

// ((name, kind, offset), ...) of an event, and its size: what the package makes arrays of events with
static bool add_layout(PyObject* module) {
    PyObject* list = PyList_New(0);
    bool good = list != NULL;
    for (const PyField* f = py_record_event.fields; good && f->name != NULL; f++) {
        PyObject* item = Py_BuildValue("(sCn)", f->name, f->kind, (Py_ssize_t)f->offset);
        good = item != NULL && PyList_Append(list, item) == 0;
        Py_XDECREF(item);
    }
    good = good && PyModule_AddObjectRef(module, "_event_fields", list) == 0 &&
           PyModule_AddIntConstant(module, "_event_size", (long)sizeof(crEvent)) == 0;
    Py_XDECREF(list);
    return good;
}

PyMODINIT_FUNC PyInit__carom(void);

PyMODINIT_FUNC PyInit__carom(void) {
    PyObject* module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    bool good = py_errors_add(module) && add_types(module) && add_layout(module) &&
                PyModule_AddStringConstant(module, "version", CAROM_VERSION) == 0 &&
                PyModule_AddIntConstant(module, "numerics_revision", CR_NUMERICS_REVISION) == 0;
    if (good) return module;
    Py_DECREF(module);
    return NULL;
}
