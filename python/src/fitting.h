// fitting.h - what the bindings of fit/ share: texts, columns of tables, trees of scenes, watching.
#ifndef CAROM_PYTHON_FITTING_H
#define CAROM_PYTHON_FITTING_H

#include "binding.h"
#include "fit/fit.h"
#include "fit/impacts.h"
#include "io/json.h"

// Each text of a sequence (or None) by `take`; false with an exception.
bool py_each(PyObject* list, const char* field, bool (*take)(void* ctx, const char* text), void* ctx);
// "NAME=SOURCE" and "COLUMN=VALUE" of two sequences.
bool py_columns(PyObject* column, PyObject* where, crImpactOptions* options);
bool py_count(const char* field, int value, int least, int most);
// The tree of a text with values set in it, [(path, value), ...].
bool py_tree(const char* text, PyObject* values, crJsonDoc* doc);

bool py_append(PyObject* list, PyObject* item);  // takes over item, which may be NULL
// One fitted parameter; partner may be NULL.
PyObject* py_fitted(double value, double lo, double hi, crDetermined determined, double flat_lo,
                    double flat_hi, const char* partner, double correlation);

// Work that runs without the interpreter's lock and may be stopped: by a signal, or by an exception of the
// function that is told of progress, which waits here until py_watch_raise.
typedef struct PyWatch {
    PyObject* progress;  // called with done and count; NULL or None for none
    bool stopped;
    PyObject *raised, *value, *trace;
} PyWatch;
bool py_watch(PyWatch* watch, int done, int count);              // false stops; called by any thread
PyObject* py_watch_raise(PyWatch* watch, const crError* error);  // what stopped it, else error; NULL

#endif
