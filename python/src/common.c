// common.c - errors, numbers from Python objects, and arrays over the library's memory.
//
// Numbers come from anything NumPy can make doubles of; sizes that do not fit are wrong-size with the field's
// name. Fails: carom.Error, or what NumPy raises (TypeError, ValueError, MemoryError).
#include <stdarg.h>
#include <stddef.h>

#include "binding.h"

PyObject* py_error;

static bool set_item(PyObject* object, const char* name, PyObject* value) {
    bool set = value != NULL && PyObject_SetAttrString(object, name, value) == 0;
    Py_XDECREF(value);
    return set;
}

PyObject* py_raise(const crError* error) {
    if (error->status == CR_ERR_MEMORY) return PyErr_NoMemory();
    const char* text = error->message[0] != '\0' ? error->message : cr_status_text(error->status);
    PyObject* message = error->line > 0
                            ? PyUnicode_FromFormat("line %d, column %d: %s", error->line, error->column, text)
                            : PyUnicode_FromString(text);
    PyObject* object = message != NULL ? PyObject_CallOneArg(py_error, message) : NULL;
    Py_XDECREF(message);
    if (object == NULL) return NULL;
    if (set_item(object, "status", PyUnicode_FromString(cr_status_name(error->status))) &&
        set_item(object, "field", PyUnicode_FromString(error->field)) &&
        set_item(object, "line", PyLong_FromLong(error->line)) &&
        set_item(object, "column", PyLong_FromLong(error->column))) {
        PyErr_SetObject(py_error, object);
    }
    Py_DECREF(object);
    return NULL;
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

PyArrayObject* py_array(PyObject* value, const char* field, int dimensions, const npy_intp* shape) {
    PyArrayObject* array = (PyArrayObject*)PyArray_FROM_OTF(value, NPY_DOUBLE, NPY_ARRAY_IN_ARRAY);
    if (array == NULL) return NULL;
    bool fits = PyArray_NDIM(array) == dimensions;
    for (int i = 0; fits && i < dimensions; i++) {
        fits = shape[i] < 0 || PyArray_DIM(array, i) == shape[i];
    }
    if (fits) return array;
    char wanted[64] = "";
    for (int i = 0; i < dimensions; i++) {
        size_t used = strlen(wanted);
        if (shape[i] < 0) {
            PyOS_snprintf(wanted + used, sizeof wanted - used, "%sany", i > 0 ? " x " : "");
        } else {
            PyOS_snprintf(wanted + used, sizeof wanted - used, "%s%ld", i > 0 ? " x " : "", (long)shape[i]);
        }
    }
    py_refuse(CR_ERR_SIZE, field, "%s: has %d dimensions and %ld numbers, must be %s", field,
              PyArray_NDIM(array), (long)PyArray_SIZE(array), wanted);
    Py_DECREF(array);
    return NULL;
}

bool py_doubles(PyObject* value, const char* field, int count, double* out) {
    if (value == NULL || value == Py_None) return true;
    npy_intp shape[1] = {count};
    PyArrayObject* array = py_array(value, field, 1, shape);
    if (array == NULL) return false;
    memcpy(out, PyArray_DATA(array), (size_t)count * sizeof(double));
    Py_DECREF(array);
    return true;
}

bool py_vec3(PyObject* value, const char* field, crVec3* out) {
    double x[3] = {out->x, out->y, out->z};
    bool good = py_doubles(value, field, 3, x);
    *out = cr_vec3(x[0], x[1], x[2]);
    return good;
}

bool py_quat(PyObject* value, const char* field, crQuat* out) {
    double x[4] = {out->w, out->x, out->y, out->z};
    bool good = py_doubles(value, field, 4, x);
    *out = (crQuat){x[0], x[1], x[2], x[3]};
    return good;
}

bool py_mat3(PyObject* value, const char* field, crMat3* out) {
    if (value == NULL || value == Py_None) return true;
    npy_intp shape[2] = {3, 3};
    PyArrayObject* array = py_array(value, field, 2, shape);
    if (array == NULL) return false;
    memcpy(out->m, PyArray_DATA(array), sizeof out->m);
    Py_DECREF(array);
    return true;
}

bool py_choice(PyObject* value, const char* field, const char* const* names, int* out) {
    if (value == NULL || value == Py_None) return true;
    const char* text = PyUnicode_AsUTF8(value);
    if (text == NULL) return false;
    char all[160] = "";
    for (int i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return true;
        }
        size_t used = strlen(all);
        PyOS_snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    return py_refuse(CR_ERR_NAME, field, "%s: is '%.40s', must be one of %s", field, text, all);
}

static PyObject* view_of(PyObject* owner, const void* data, int dimensions, const npy_intp* shape,
                         npy_intp* strides, PyArray_Descr* type, bool writable) {
    // an array over nothing still needs an address
    static double nothing[1];
    void* memory = data != NULL ? (void*)(uintptr_t)data : nothing;
    PyObject* array =
        PyArray_NewFromDescr(&PyArray_Type, type, dimensions, shape, strides, memory,
                             writable ? NPY_ARRAY_WRITEABLE | NPY_ARRAY_ALIGNED : NPY_ARRAY_ALIGNED, NULL);
    if (array == NULL) return NULL;
    Py_INCREF(owner);
    if (PyArray_SetBaseObject((PyArrayObject*)array, owner) == 0) return array;
    Py_DECREF(array);
    return NULL;
}

PyObject* py_view(PyObject* owner, const void* data, int dimensions, const npy_intp* shape, int type,
                  bool writable) {
    return view_of(owner, data, dimensions, shape, NULL, PyArray_DescrFromType(type), writable);
}

PyObject* py_view_strided(PyObject* owner, const void* data, int dimensions, const npy_intp* shape,
                          npy_intp stride) {
    npy_intp strides[2] = {stride, (npy_intp)sizeof(double)};
    return view_of(owner, data, dimensions, shape, strides, PyArray_DescrFromType(NPY_DOUBLE), false);
}

PyObject* py_vector(crVec3 value) {
    npy_intp shape[1] = {3};
    PyObject* array = PyArray_SimpleNew(1, shape, NPY_DOUBLE);
    if (array != NULL) memcpy(PyArray_DATA((PyArrayObject*)array), &value, sizeof value);
    return array;
}

PyObject* py_matrix(crMat3 value) {
    npy_intp shape[2] = {3, 3};
    PyObject* array = PyArray_SimpleNew(2, shape, NPY_DOUBLE);
    if (array != NULL) memcpy(PyArray_DATA((PyArrayObject*)array), value.m, sizeof value.m);
    return array;
}

// the layout of crEvent as NumPy writes it
static PyArray_Descr* event_type(void) {
    PyObject* names = Py_BuildValue(
        "{s:[ssssssssss],s:[ssssssssss],s:[nnnnnnnnnn],s:n}", "names", "time", "shape_a", "shape_b", "body_a",
        "body_b", "point", "normal", "approach", "impulse", "energy_change", "formats", "f8", "i4", "i4",
        "i4", "i4", "3f8", "3f8", "f8", "3f8", "f8", "offsets", (Py_ssize_t)offsetof(crEvent, time),
        (Py_ssize_t)offsetof(crEvent, shape_a), (Py_ssize_t)offsetof(crEvent, shape_b),
        (Py_ssize_t)offsetof(crEvent, body_a), (Py_ssize_t)offsetof(crEvent, body_b),
        (Py_ssize_t)offsetof(crEvent, point), (Py_ssize_t)offsetof(crEvent, normal),
        (Py_ssize_t)offsetof(crEvent, approach), (Py_ssize_t)offsetof(crEvent, impulse),
        (Py_ssize_t)offsetof(crEvent, energy_change), "itemsize", (Py_ssize_t)sizeof(crEvent));
    PyArray_Descr* type = NULL;
    if (names != NULL && PyArray_DescrConverter(names, &type) != NPY_SUCCEED) type = NULL;
    Py_XDECREF(names);
    return type;
}

PyObject* py_events(PyObject* owner, const crEvent* events, size_t count) {
    PyArray_Descr* type = event_type();
    if (type == NULL) return NULL;
    npy_intp shape[1] = {(npy_intp)count};
    if (owner != NULL) return view_of(owner, events, 1, shape, NULL, type, false);
    PyObject* array = PyArray_NewFromDescr(&PyArray_Type, type, 1, shape, NULL, NULL, 0, NULL);
    if (array != NULL && count > 0)
        memcpy(PyArray_DATA((PyArrayObject*)array), events, count * sizeof *events);
    return array;
}

PyObject* py_margins(crMargins m) {
    return Py_BuildValue("{s:d,s:d,s:d,s:d}", "energy", m.energy, "penetration", m.penetration, "tension",
                         m.tension, "cone", m.cone);
}

PyObject* py_audit(const crAudit* a) {
    return Py_BuildValue("{s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:d,s:i}",
                         "residual", a->residual, "least", a->least, "most", a->most, "eta", a->eta, "floor",
                         a->floor, "distance", a->distance, "permits", a->permits, "scale", a->scale,
                         "asymmetry", a->asymmetry, "momentum", a->momentum, "momentum_floor",
                         a->momentum_floor, "natural", a->natural, "approach", a->approach, "cone", a->cone,
                         "dissipation", a->dissipation, "complementarity", a->complementarity,
                         "energy_change", a->energy_change, "worst_block", a->worst_block);
}
