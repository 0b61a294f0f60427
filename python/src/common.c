// common.c - errors in Python's words, arguments by name, and structs of the library as dicts.
//
// carom.Error is a ValueError; where Python has a better word (TypeError, IndexError, FileNotFoundError, OSError) what is
// raised is that as well. Every text has the field, its value and what is allowed.
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

#include "binding.h"
#include "io/names.h"

PyObject* py_error;
static PyObject *type_error, *index_error, *missing_error,
    *file_error;  // carom.Error and a class of Python's

bool py_errors_add(PyObject* module) {
    static const char text[] = "What the library refused: status names the kind, field the offending field "
                               "('' where there is none);\n"
                               "line and column are those of text input, 0 without. It is a ValueError, and "
                               "a TypeError, IndexError,\n"
                               "FileNotFoundError or OSError where that says more.\n\n"
                               ">>> import carom\n"
                               ">>> try:\n"
                               "...     carom.impact('newton', V=(-1, 0, 0), e=-0.5)\n"
                               "... except carom.Error as error:\n"
                               "...     print(error.field, error.status)\n"
                               "e out-of-range";
    PyObject* none = Py_BuildValue("{s:s,s:s,s:i,s:i}", "status", "", "field", "", "line", 0, "column", 0);
    py_error = none != NULL ? PyErr_NewExceptionWithDoc("carom.Error", text, PyExc_ValueError, none) : NULL;
    Py_XDECREF(none);
    if (py_error == NULL || PyModule_AddObjectRef(module, "Error", py_error) != 0) return false;
    struct {
        PyObject** made;
        const char* name;
        PyObject* base;
    } kinds[] = {{&type_error, "carom.TypeError", PyExc_TypeError},
                 {&index_error, "carom.IndexError", PyExc_IndexError},
                 {&missing_error, "carom.FileNotFoundError", PyExc_FileNotFoundError},
                 {&file_error, "carom.OSError", PyExc_OSError}};
    for (int i = 0; i < 4; i++) {
        PyObject* bases = Py_BuildValue("(OO)", kinds[i].base, py_error);
        *kinds[i].made = bases != NULL ? PyErr_NewException(kinds[i].name, bases, NULL) : NULL;
        Py_XDECREF(bases);
        if (*kinds[i].made == NULL ||
            PyModule_AddObjectRef(module, kinds[i].name + strlen("carom."), *kinds[i].made) != 0)
            return false;
    }
    return true;
}

static PyObject* class_of(const crError* error) {
    if (error->status == CR_ERR_TYPE) return type_error;
    if (error->status != CR_ERR_FILE) return py_error;
    return strstr(error->message, strerror(ENOENT)) != NULL ? missing_error : file_error;
}

static bool set_item(PyObject* object, const char* name, PyObject* value) {
    bool set = value != NULL && PyObject_SetAttrString(object, name, value) == 0;
    Py_XDECREF(value);
    return set;
}

static PyObject* raise_as(PyObject* kind, const crError* error) {
    const char* text = error->message[0] != '\0' ? error->message : cr_status_text(error->status);
    PyObject* message = error->line > 0
                            ? PyUnicode_FromFormat("line %d, column %d: %s", error->line, error->column, text)
                            : PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject* object = message != NULL ? PyObject_CallFunctionObjArgs(kind, message, NULL) : NULL;
    Py_XDECREF(message);
    if (object == NULL) return NULL;
    if (set_item(object, "status", PyUnicode_FromString(cr_status_name(error->status))) &&
        set_item(object, "field", PyUnicode_FromString(error->field)) &&
        set_item(object, "line", PyLong_FromLong(error->line)) &&
        set_item(object, "column", PyLong_FromLong(error->column))) {
        PyErr_SetObject(kind, object);
    }
    Py_DECREF(object);
    return NULL;
}

PyObject* py_raise(const crError* error) {
    if (error->status == CR_ERR_MEMORY) return PyErr_NoMemory();
    return raise_as(class_of(error), error);
}

bool py_refuse(crStatus status, const char* field, const char* format, ...) {
    char text[sizeof((crError*)0)->message];
    va_list arguments;
    va_start(arguments, format);
    cr_error_format(text, sizeof text, format, arguments);
    va_end(arguments);
    crError error = {0};
    cr_error_set(&error, status, field, "%s", text);
    py_raise(&error);
    return false;
}

bool py_refuse_type(const char* field, PyObject* value, const char* allowed) {
    PyObject* text = PyObject_Repr(value);
    const char* is = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    if (is == NULL) PyErr_Clear();
    py_refuse(CR_ERR_TYPE, field, "%s: is %.80s, must be %s", field, is != NULL ? is : "something", allowed);
    Py_XDECREF(text);
    return false;
}

bool py_refuse_index(const char* field, long index, long count) {
    crError error = {0};
    cr_error_set(&error, CR_ERR_RANGE, field, "%s: is %ld, must be 0 to %ld", field, index, count - 1);
    raise_as(index_error, &error);
    return false;
}

const char* py_text(PyObject* value) {
    if (PyUnicode_Check(value)) return PyUnicode_AsUTF8AndSize(value, NULL);
    PyErr_Format(PyExc_TypeError, "%R is no text", value);
    return NULL;
}

// arguments by name

// What a letter of a format allows, where the value is not allowed; else NULL.
static const char* not_allowed(char letter, PyObject* value) {
    const char* allowed = NULL;
    if (letter == 'd') {
        PyFloat_AsDouble(value);
        allowed = "a number";
    } else if (letter == 'K') {
        return PyLong_Check(value) ? NULL : "an integer";
    } else if (letter == 'i') {
        long number = PyLong_AsLong(value);
        allowed = "an integer of 32 bits";
        if (PyErr_Occurred() == NULL && (number < INT_MIN || number > INT_MAX)) return allowed;
    } else if (letter == 's' || letter == 'z') {
        if (PyUnicode_Check(value) || (letter == 'z' && value == Py_None)) return NULL;
        return letter == 's' ? "a text" : "a text or None";
    }
    bool failed = PyErr_Occurred() != NULL;
    PyErr_Clear();
    return failed ? allowed : NULL;
}

// A better text for a refusal of PyArg_ParseTupleAndKeywords, with the argument that it is about.
static void name_argument(PyObject* args, PyObject* keywords, const char* format, char** names) {
    const char* letter = format;
    for (int i = 0; names[i] != NULL; i++, letter++) {
        while (*letter == '|' || *letter == '$') {
            letter++;
        }
        PyObject* value = i < PyTuple_Size(args) ? PyTuple_GetItem(args, i) : NULL;
        if (value == NULL && keywords != NULL) value = PyDict_GetItemString(keywords, names[i]);
        const char* allowed = value != NULL ? not_allowed(*letter, value) : NULL;
        if (allowed == NULL) continue;
        py_refuse_type(names[i], value, allowed);
        return;
    }
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (keywords != NULL && PyDict_Next(keywords, &at, &key, &value)) {
        const char* text = PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
        bool known = false;
        for (int i = 0; names[i] != NULL; i++) {
            known = known || (text != NULL && strcmp(text, names[i]) == 0);
        }
        if (known || text == NULL) continue;
        const char* near = cr_name_nearest_of(text, (const char* const*)names);
        const char* function = strchr(format, ':');
        PyErr_Format(PyExc_TypeError,
                     near != NULL ? "%s() has no argument '%s'; did you mean '%s'?"
                                  : "%s() has no argument '%s'",
                     function != NULL ? function + 1 : "it", text, near);
        return;
    }
}

bool py_parse(PyObject* args, PyObject* keywords, const char* format, char** names, ...) {
    va_list places;
    va_start(places, names);
    bool good = PyArg_VaParseTupleAndKeywords(args, keywords, format, names, places) != 0;
    va_end(places);
    if (good) return true;
    PyObject *kind, *value, *trace;
    PyErr_Fetch(&kind, &value, &trace);
    name_argument(args, keywords, format, names);
    if (PyErr_Occurred() == NULL) {
        PyErr_Restore(kind, value, trace);
        return false;
    }
    Py_XDECREF(kind);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return false;
}

bool py_choice(PyObject* value, const char* field, const char* const* names, int* out) {
    if (value == NULL || value == Py_None) return true;
    const char* text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, NULL) : NULL;
    char all[160] = "";
    for (int i = 0; names[i] != NULL; i++) {
        if (text != NULL && strcmp(names[i], text) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(all);
        PyOS_snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    if (text == NULL) return py_refuse_type(field, value, all);
    const char* near = cr_name_nearest_of(text, names);
    return py_refuse(CR_ERR_NAME, field, "%s: is '%.40s', must be one of %s%s%s%s", field, text, all,
                     near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                     near != NULL ? "'?" : "");
}

// structs

static PyObject* field_of(const PyField* field, const void* data) {
    const void* at = (const char*)data + field->offset;
    switch (field->kind) {
    case 'd':
        return PyFloat_FromDouble(*(const double*)at);
    case 'i':
        return PyLong_FromLong(*(const int*)at);
    case 'b':
        return PyBool_FromLong(*(const bool*)at);
    case 'z':
        return PyLong_FromSize_t(*(const size_t*)at);
    case 'u':
        return PyLong_FromUnsignedLongLong(*(const uint64_t*)at);
    case 't':
        return PyUnicode_FromString(cr_truth_name(*(const crTruth*)at));
    case 'v':
        return py_vector(*(const crVec3*)at);
    case 'o':
        return PyUnicode_FromString(cr_outcome_name(*(const crOutcome*)at));
    default:
        return PyUnicode_FromString(*(const char* const*)at);
    }
}

PyObject* py_struct(const PyRecord* record, const void* data) {
    PyObject* dict = PyDict_New();
    for (const PyField* field = record->fields; dict != NULL && field->name != NULL; field++) {
        PyObject* value = field_of(field, data);
        if (value == NULL || PyDict_SetItemString(dict, field->name, value) != 0) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

void py_free(PyObject* object) {
    PyTypeObject* type = Py_TYPE(object);
    freefunc release = (freefunc)(uintptr_t)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}
