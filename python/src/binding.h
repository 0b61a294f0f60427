// binding.h - what the files of the Python extension share: errors, numbers in, views out, and the objects.
//
// Only the limited API of CPython 3.11 is used, so that one binary serves every later version, and no header of NumPy:
// arrays go in and out by the buffer protocol (numbers.c). Arrays handed out are views of the library's memory: they
// hold the object that owns it, so that memory lives as long as anything looks at it. What a step throws away (events,
// contacts) is copied. Refusals are carom.Error with status, field, line and column; a Python exception raised inside a
// law or a force comes out of the call that led there.
#ifndef CAROM_PYTHON_BINDING_H
#define CAROM_PYTHON_BINDING_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <string.h>

#include "carom/carom.h"
#include "io/recording.h"
#include "io/scene_coefficient.h"

// The limited API takes no pointer but PyObject*; every object begins with one.
#define Py_INCREF(object)  Py_INCREF((PyObject*)(object))
#define Py_XDECREF(object) Py_XDECREF((PyObject*)(object))

// errors

extern PyObject* py_error;             // carom.Error
bool py_errors_add(PyObject* module);  // makes carom.Error and its kinds
// Raise; each returns NULL (or false).
PyObject* py_raise(const crError* error);
bool py_refuse(crStatus status, const char* field, const char* format, ...) CR_PRINTF(3, 4);
bool py_refuse_type(const char* field, PyObject* value, const char* allowed);
bool py_refuse_index(const char* field, long index, long count);  // IndexError: must be 0 to count - 1

// arguments

// PyArg_ParseTupleAndKeywords whose refusals name the argument, its value and what is allowed.
bool py_parse(PyObject* args, PyObject* keywords, const char* format, char** names, ...);
// Text of a str that lives as long as it; NULL with TypeError.
const char* py_text(PyObject* value);

// arrays

#define PY_DIMENSIONS 3
#define PY_DOUBLE     'd'
#define PY_INT        'i'
#define PY_EVENT      'E'

// Memory behind the buffer protocol.
typedef struct PyNumbers {
    PyObject ob_base;
    void* data;
    void* own;         // memory that is freed with the object, or NULL
    PyObject* owner;   // whose memory data is, or NULL
    Py_buffer source;  // of the object that numbers came from, or zeroed
    char kind;         // PY_DOUBLE, PY_INT or PY_EVENT
    bool writable;
    bool spread;  // true if items of the first axis are not next to each other
    int dimensions;
    Py_ssize_t shape[PY_DIMENSIONS], strides[PY_DIMENSIONS];
    Py_ssize_t bytes;  // of events, which are exported as bytes
} PyNumbers;

// numbers in: a NULL or None leaves out as it is; false with an exception set

bool py_doubles(PyObject* value, const char* field, int count, double* out);
bool py_vec3(PyObject* value, const char* field, crVec3* out);
bool py_mat3(PyObject* value, const char* field, crMat3* out);
bool py_quat(PyObject* value, const char* field, crQuat* out);
bool py_is_number(PyObject* value);  // float, int, or a number of NumPy
// one of a list of names that ends with NULL
bool py_choice(PyObject* value, const char* field, const char* const* names, int* out);
// Doubles in row order with this shape (-1: any), new reference; NULL with an exception.
PyNumbers* py_array(PyObject* value, const char* field, int dimensions, const Py_ssize_t* shape);
PyNumbers* py_int_array(PyObject* value, const char* field, int dimensions, const Py_ssize_t* shape);

// arrays out

PyNumbers* py_new(int dimensions, const Py_ssize_t* shape, char kind);  // zeroed memory of its own
PyObject* py_give(PyNumbers* numbers);  // what the user sees of it; takes it over, NULL for NULL
// A view of memory that lives while owner does.
PyObject* py_view(PyObject* owner, const void* data, int dimensions, const Py_ssize_t* shape, char kind,
                  bool writable);
// the same, items `stride` bytes apart along the first axis
PyObject* py_view_strided(PyObject* owner, const void* data, int dimensions, const Py_ssize_t* shape,
                          Py_ssize_t stride);
PyObject* py_vector(crVec3 value);                 // new array (3)
PyObject* py_matrix(crMat3 value);                 // new array (3, 3)
PyObject* py_numbers(const double* x, int count);  // new array (count)
PyObject* py_events(PyObject* owner, const crEvent* events,
                    size_t count);  // view, or copy where owner is NULL

// structs out: tables that records.py makes from the headers

typedef struct PyField {
    const char* name;
    char kind;  // d, i, b (bool), z (size_t), u (uint64_t), s (text), v (crVec3), o (crOutcome), t (crTruth)
    size_t offset;
} PyField;
typedef struct PyRecord {
    const char* name;
    const PyField* fields;  // ends with a name that is NULL
} PyRecord;
extern const PyRecord py_record_tally, py_record_audit, py_record_margins, py_record_rule_margins,
    py_record_law, py_record_rule, py_record_event;
PyObject* py_struct(const PyRecord* record, const void* data);  // dict of its fields

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
    PyNumbers *eps, *stiffness;
    bool own_law, own_solver;  // given to the rule itself
} PyRule;

extern PyTypeObject *PyLaw_Type, *PyRule_Type, *PyModel_Type, *PyWorld_Type, *PyScene_Type,
    *PyTrajectory_Type, *PyProblem_Type, *PyHold_Type, *PyNumbers_Type;
// A function of a type's slot: the address of a function goes into a pointer to data.
#define PY_SLOT(slot, value) {slot, (void*)(uintptr_t)(value)}
void py_free(PyObject* object);  // the last call of a type's dealloc

// The classes of the package that build on the types, which new objects are of.
extern struct PyClasses {
    PyTypeObject *model, *world, *trajectory, *contact;
    PyObject *view, *fresh,
        *events;  // functions from Numbers to what the user sees: of a view, of new memory, of events
} py_classes;
PyObject* py_register(PyObject* module, PyObject* args);

// A law from a Law, a name, or a function; new reference.
PyLaw* py_law(PyObject* value);
PyRule* py_rule(PyObject* value);
// True with the exception set that a law raised and nobody has told of yet.
bool py_law_raised(PyLaw* law);
// The exception a law raised, if any; else that of error. Returns NULL.
PyObject* py_raise_law(PyLaw* law, const crError* error);
PyObject* py_contact(const crContact* contact);  // a carom.Contact
bool py_contact_from(PyObject* value, crContact* contact);

// models and worlds

typedef struct PyModel {
    PyObject ob_base;
    crModel* model;
    PyObject* owner;                          // the scene it belongs to, or NULL
    Py_ssize_t holds;                         // worlds and views that need it as it is
    struct ModelPiece* pieces;                // hulls, meshes and fields of its shapes
    struct PyCallback* callbacks;             // functions of driven bodies and materials
    PyObject* laws;                           // list of laws of pairs, or NULL
    PyObject *raised, *raised_value, *trace;  // by one of them, not yet told
} PyModel;

// True if the model may grow now; false with carom.Error.
bool py_model_may_change(const PyModel* self);
// The index that was added, or the refusal; a refused addition leaves a model that can go on.
PyObject* py_model_added(PyModel* self, int index);
PyObject* py_add_shape(PyObject* object, PyObject* args);
void py_pieces_free(PyModel* self);  // once the model is gone

// Functions of the model's own. A callback's exception waits in the model: py_callbacks_raise is true with it set.
bool py_callbacks_raise(PyModel* model);
int py_callbacks_visit(PyModel* model, visitproc visit, void* arg);
void py_callbacks_clear(PyModel* model);
void py_callbacks_free(PyModel* model);
bool py_drive(PyModel* model, PyObject* function, crBodyDef* def);
// e as a number, a table of (speed, e), or a function of speed; *memory is for PyMem_Free once the model has it.
// A number, or a coefficient that depends on the impact: a dict as in scenes, or a function of speed, slip, angle and spin.
// *room is to be freed once the model has its copy.
bool py_coefficient(PyModel* model, PyObject* value, const char* name, double* number, const crCurve** to,
                    crCurveRoom** room);
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
PyLaw* py_world_law(const PyWorld* self);  // of impacts, borrowed; NULL: the default
// A world of a scene: its settings and its start.
PyObject* py_world_of_scene(PyObject* scene, PyModel* model, const crStepSettings* step, const double* q,
                            const double* v);
// Keywords of World into settings and what they point to.
bool py_settings(PyWorld* self, PyObject* keywords, crStepSettings* step);
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
PyObject* py_cue_strike(PyObject* module, PyObject* args);
PyObject* py_verdict(PyObject* module, PyObject* args);
PyObject* py_laws(PyObject* module, PyObject* unused);
PyObject* py_rules(PyObject* module, PyObject* unused);
PyObject* py_solvers(PyObject* module, PyObject* unused);
PyObject* py_batch_new(PyObject* module, PyObject* args);
PyObject* py_batch_step(PyObject* module, PyObject* args);
PyObject* py_batch_read(PyObject* module, PyObject* args);
PyObject* py_batch_write(PyObject* module, PyObject* args);
PyObject* py_batch_view(PyObject* module, PyObject* args);
PyObject* py_batch_dlpack(PyObject* module, PyObject* args);
PyObject* py_batch_vary(PyObject* module, PyObject* args);
PyObject* py_batch_move(PyObject* module, PyObject* args);
PyObject* py_batch_hash(PyObject* module, PyObject* args);
PyObject* py_batch_summary(PyObject* module, PyObject* args);
PyObject* py_wrt_new(PyObject* module, PyObject* args);
PyObject* py_wrt_params(PyObject* module, PyObject* args);
PyObject* py_wrt_set(PyObject* module, PyObject* args);
PyObject* py_wrt_apply(PyObject* module, PyObject* args);
PyObject* py_wrt_jacobian(PyObject* module, PyObject* args);
PyObject* py_wrt_back(PyObject* module, PyObject* args);
PyObject* py_wrt_run(PyObject* module, PyObject* args);
PyObject* py_wrt_adjoint(PyObject* module, PyObject* args);
PyObject* py_wrt_rates(PyObject* module, PyObject* args);
PyObject* py_fit_impacts(PyObject* module, PyObject* args);
PyObject* py_fit_laws(PyObject* module, PyObject* unused);
PyObject* py_fit_predict(PyObject* module, PyObject* args);
PyObject* py_fit_motion(PyObject* module, PyObject* args);
PyObject* py_fit_predict_motion(PyObject* module, PyObject* args);
PyObject* py_spread(PyObject* module, PyObject* args);
PyObject* py_audit_motion(PyObject* module, PyObject* args);
PyObject* py_draw(PyObject* module, PyObject* args);

// control.c
struct crScene;
const struct crScene* py_scene_of(PyObject* scene);
PyObject* py_control_names(PyObject* module, PyObject* args);
PyObject* py_control_get(PyObject* module, PyObject* args);
PyObject* py_control_act(PyObject* module, PyObject* args);
PyObject* py_control_set(PyObject* module, PyObject* args);
PyObject* py_control_sense(PyObject* module, PyObject* args);
PyObject* py_control_reset(PyObject* module, PyObject* args);
PyObject* py_control_set_state(PyObject* module, PyObject* args);
PyObject* py_control_dynamics(PyObject* module, PyObject* args);

#endif
