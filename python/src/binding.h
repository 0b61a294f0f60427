// binding.h - what the files of the Python extension share: errors, numbers in, views out, and the objects.
//
// Arrays handed out are views of the library's memory: their base is the object that owns it, so that memory
// lives as long as anything looks at it. What a step throws away (events, contacts) is copied. Refusals are
// carom.Error with status, field, line and column; a Python exception raised inside a law or a force comes
// out of the call that led there.
#ifndef CAROM_PYTHON_BINDING_H
#define CAROM_PYTHON_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API  NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL carom_array_api
#ifndef CAROM_PYTHON_MODULE
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#include "carom/carom.h"
#include "io/recording.h"

// errors

extern PyObject* py_error;  // carom.Error
// Raise; each returns NULL (or false).
PyObject* py_raise(const crError* error);
bool py_refuse(crStatus status, const char* field, const char* format, ...) CR_PRINTF(3, 4);

// numbers in: a NULL or None leaves out as it is; false with an exception set

bool py_doubles(PyObject* value, const char* field, int count, double* out);
bool py_vec3(PyObject* value, const char* field, crVec3* out);
bool py_mat3(PyObject* value, const char* field, crMat3* out);
bool py_quat(PyObject* value, const char* field, crQuat* out);
// one of a list of names that ends with NULL
bool py_choice(PyObject* value, const char* field, const char* const* names, int* out);
// A C-contiguous array of doubles with this shape (-1: any), new reference; NULL with an exception.
PyArrayObject* py_array(PyObject* value, const char* field, int dimensions, const npy_intp* shape);

// arrays out

// A view of memory that lives while owner does.
PyObject* py_view(PyObject* owner, const void* data, int dimensions, const npy_intp* shape, int type,
                  bool writable);
// the same, items `stride` bytes apart along the first axis
PyObject* py_view_strided(PyObject* owner, const void* data, int dimensions, const npy_intp* shape,
                          npy_intp stride);
PyObject* py_vector(crVec3 value);  // new array (3)
PyObject* py_matrix(crMat3 value);  // new array (3, 3)
PyObject* py_events(PyObject* owner, const crEvent* events,
                    size_t count);  // view, or copy where owner is NULL

// laws, rules, solvers

typedef struct PyLaw {
    PyObject ob_base;
    crLaw law;
    crLawParams params;
    PyObject* function;                       // of a law written in Python
    PyObject* name;                           // what law.name points into
    PyObject* parts;                          // tuple of the laws of a composite, or NULL
    crLaw* laws;                              // (parts)
    double* weights;                          // (parts)
    PyObject *raised, *raised_value, *trace;  // by the function, not yet told
} PyLaw;

typedef struct PyRule {
    PyObject ob_base;
    crRule rule;
    crRuleParams params;
    crSolverParams solver_params;
    PyLaw* law;  // or NULL
    PyArrayObject *eps, *stiffness;
    bool own_law, own_solver;  // given to the rule itself
} PyRule;

extern PyTypeObject PyLaw_Type, PyRule_Type, PyModel_Type, PyWorld_Type, PyScene_Type, PyTrajectory_Type,
    PyProblem_Type, PyHold_Type;

// The classes of the package that build on the types, which new objects are of.
extern struct PyClasses {
    PyTypeObject *model, *world, *trajectory, *contact;
} py_classes;
PyObject* py_register(PyObject* module, PyObject* args);

// A law from a Law, a name, or a function; new reference.
PyLaw* py_law(PyObject* value);
PyRule* py_rule(PyObject* value);
// The exception a law raised, if any; else that of error. Returns NULL.
PyObject* py_raise_law(PyLaw* law, const crError* error);
PyObject* py_contact(const crContact* contact);  // a carom.Contact
bool py_contact_from(PyObject* value, crContact* contact);
PyObject* py_margins(crMargins margins);
PyObject* py_audit(const crAudit* audit);

// models and worlds

typedef struct PyModel {
    PyObject ob_base;
    crModel* model;
    PyObject* owner;                          // the scene it belongs to, or NULL
    Py_ssize_t holds;                         // worlds and views that need it as it is
    struct ModelPiece* pieces;                // hulls, meshes and fields of its shapes
    struct PyCallback* callbacks;             // functions of driven bodies and materials
    PyObject *raised, *raised_value, *trace;  // by one of them, not yet told
} PyModel;

// Functions of the model's own. A callback's exception waits in the model: py_callbacks_raise is true with it set.
bool py_callbacks_raise(PyModel* model);
int py_callbacks_visit(PyModel* model, visitproc visit, void* arg);
void py_callbacks_clear(PyModel* model);
void py_callbacks_free(PyModel* model);
bool py_drive(PyModel* model, PyObject* function, crBodyDef* def);
// e as a number, a table of (speed, e), or a function of speed; *memory is for PyMem_Free once the model has it.
bool py_restitution(PyModel* model, PyObject* value, crSurface* surface, crRestitution* out, double** memory);

// Keeps a model from changing for as long as it lives.
typedef struct PyHold {
    PyObject ob_base;
    PyModel* model;
} PyHold;

PyObject* py_hold(PyModel* model);                       // new reference
PyObject* py_model_of(crModel* model, PyObject* owner);  // borrowed model of a scene, never to change

typedef struct PyWorld {
    PyObject ob_base;
    crWorld* world;
    PyModel* model;  // that hold keeps
    PyObject* hold;
    PyObject* source;  // the scene whose settings it uses, or NULL
    PyLaw* law;
    PyRule* rule;
    crRuleParams rule_params;  // the rule's, with law and solver of the world where it names none
    crSolverParams solver_params;
    PyObject* force;
    PyObject *raised, *raised_value, *trace;  // by the force, not yet told
    bool busy;                                // a step is being made, perhaps by another thread
} PyWorld;

// A world that is not running; false with an exception.
bool py_world_idle(PyWorld* self);
PyObject* py_world_raise(PyWorld* self, const crError* error);
// A world of a scene: its settings and its start.
PyObject* py_world_of_scene(PyObject* scene, PyModel* model, const crStepSettings* step, const double* q,
                            const double* v);
// Keywords of World into settings and what they point to.
bool py_settings(PyWorld* self, PyObject* keywords, crStepSettings* step);
PyObject* py_tally(const crTally* tally);
PyObject* py_certificate(const crCertificate* certificate);
PyObject* py_settings_dict(const crStepSettings* step);

// A trajectory object that takes over the recording.
PyObject* py_trajectory(crRecording* recording);
const crRecording* py_recording(PyObject* trajectory);  // borrowed
crStatus py_recording_write(const crRecording* recording, const char* path, crError* error);
PyObject* py_world_record(PyWorld* self, double time, int every);

// functions of the module
PyObject* py_region(PyObject* module, PyObject* args);
PyObject* py_collision(PyObject* module, PyObject* args, PyObject* keywords);
PyObject* py_bodies(PyObject* module, PyObject* args);
PyObject* py_verdict(PyObject* module, PyObject* args);
PyObject* py_laws(PyObject* module, PyObject* unused);
PyObject* py_rules(PyObject* module, PyObject* unused);
PyObject* py_solvers(PyObject* module, PyObject* unused);
PyObject* py_batch(PyObject* module, PyObject* args);
PyObject* py_fit_impacts(PyObject* module, PyObject* args);
PyObject* py_fit_laws(PyObject* module, PyObject* unused);
PyObject* py_fit_predict(PyObject* module, PyObject* args);
PyObject* py_fit_motion(PyObject* module, PyObject* args);
PyObject* py_fit_predict_motion(PyObject* module, PyObject* args);
PyObject* py_spread(PyObject* module, PyObject* args);
PyObject* py_audit_motion(PyObject* module, PyObject* args);

// control.c
struct crScene;
const struct crScene* py_scene_of(PyObject* scene);
PyObject* py_control_names(PyObject* module, PyObject* args);
PyObject* py_control_get(PyObject* module, PyObject* args);
PyObject* py_control_set(PyObject* module, PyObject* args);
PyObject* py_control_sense(PyObject* module, PyObject* args);
PyObject* py_control_reset(PyObject* module, PyObject* args);
PyObject* py_control_set_state(PyObject* module, PyObject* args);
PyObject* py_control_dynamics(PyObject* module, PyObject* args);

#endif
