// module.c - the extension module carom._carom: types, functions, and the exception.
//
// The package carom is written over it and has the documentation; nothing here is meant to be used alone.
#define CAROM_PYTHON_MODULE
#include "binding.h"

struct PyClasses py_classes = {&PyModel_Type, &PyWorld_Type, &PyTrajectory_Type, &PyTuple_Type};

// _register(Model, World, Trajectory, Contact)
PyObject* py_register(PyObject* module, PyObject* args) {
    (void)module;
    PyTypeObject *model, *world, *trajectory, *contact;
    if (!PyArg_ParseTuple(args, "O!O!O!O!", &PyType_Type, &model, &PyType_Type, &world, &PyType_Type,
                          &trajectory, &PyType_Type, &contact))
        return NULL;
    if (PyType_IsSubtype(model, &PyModel_Type) == 0 || PyType_IsSubtype(world, &PyWorld_Type) == 0 ||
        PyType_IsSubtype(trajectory, &PyTrajectory_Type) == 0) {
        PyErr_SetString(PyExc_TypeError, "classes must build on Model, World and Trajectory");
        return NULL;
    }
    Py_INCREF(model);
    Py_INCREF(world);
    Py_INCREF(trajectory);
    Py_INCREF(contact);
    py_classes = (struct PyClasses){model, world, trajectory, contact};
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"_collision", (PyCFunction)(void (*)(void))py_collision, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_bodies", py_bodies, METH_VARARGS, NULL},
    {"_region", py_region, METH_VARARGS, NULL},
    {"_verdict", py_verdict, METH_VARARGS, NULL},
    {"_laws", py_laws, METH_NOARGS, NULL},
    {"_rules", py_rules, METH_NOARGS, NULL},
    {"_solvers", py_solvers, METH_NOARGS, NULL},
    {"_batch", py_batch, METH_VARARGS, NULL},
    {"_fit_impacts", py_fit_impacts, METH_VARARGS, NULL},
    {"_fit_laws", py_fit_laws, METH_NOARGS, NULL},
    {"_fit_predict", py_fit_predict, METH_VARARGS, NULL},
    {"_fit_motion", py_fit_motion, METH_VARARGS, NULL},
    {"_fit_predict_motion", py_fit_predict_motion, METH_VARARGS, NULL},
    {"_spread", py_spread, METH_VARARGS, NULL},
    {"_audit_motion", py_audit_motion, METH_VARARGS, NULL},
    {"_control_names", py_control_names, METH_VARARGS, NULL},
    {"_control_get", py_control_get, METH_VARARGS, NULL},
    {"_control_set", py_control_set, METH_VARARGS, NULL},
    {"_control_sense", py_control_sense, METH_VARARGS, NULL},
    {"_control_reset", py_control_reset, METH_VARARGS, NULL},
    {"_control_set_state", py_control_set_state, METH_VARARGS, NULL},
    {"_control_dynamics", py_control_dynamics, METH_VARARGS, NULL},
    {"_register", py_register, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "carom._carom", NULL, -1, functions, NULL, NULL, NULL, NULL};

static bool add_types(PyObject* module) {
    PyTypeObject* const types[] = {&PyLaw_Type,   &PyRule_Type,       &PyModel_Type,   &PyWorld_Type,
                                   &PyScene_Type, &PyTrajectory_Type, &PyProblem_Type, &PyHold_Type};
    static const char* const names[] = {"Law",   "Rule",       "Model",   "World",
                                        "Scene", "Trajectory", "Problem", "Hold"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (PyType_Ready(types[i]) != 0) return false;
        Py_INCREF(types[i]);
        if (PyModule_AddObject(module, names[i], (PyObject*)types[i]) != 0) return false;
    }
    return true;
}

PyMODINIT_FUNC PyInit__carom(void);

PyMODINIT_FUNC PyInit__carom(void) {
    import_array();
    PyObject* module = PyModule_Create(&definition);
    if (module == NULL) return NULL;
    py_error = PyErr_NewExceptionWithDoc("carom.Error",
                                         "What the library refused: status names the kind, field the "
                                         "offending field ('' where there is none);\n"
                                         "line and column are those of text input, 0 without.\n\n"
                                         ">>> import carom\n"
                                         ">>> try:\n"
                                         "...     carom.impact('newton', V=(-1, 0, 0), e=-0.5)\n"
                                         "... except carom.Error as error:\n"
                                         "...     print(error.field, error.status)\n"
                                         "e out-of-range",
                                         PyExc_ValueError, NULL);
    Py_XINCREF(py_error);
    bool good = py_error != NULL && PyModule_AddObject(module, "Error", py_error) == 0 && add_types(module) &&
                PyModule_AddStringConstant(module, "version", CAROM_VERSION) == 0 &&
                PyModule_AddIntConstant(module, "numerics_revision", CR_NUMERICS_REVISION) == 0;
    if (good) return module;
    Py_DECREF(module);
    return NULL;
}
