// numbers.c - arrays without NumPy: memory of the library behind Python's buffer protocol, and numbers from Python.
//
// A Numbers object exports its memory (PEP 3118). What the user gets is made of it by a function that the package
// registers: numpy.asarray where NumPy is installed, memoryview where not. Numbers come in from anything that exports
// a buffer of numbers, has __array__, or is a sequence of numbers, nested as deep as the field needs. Fails:
// carom.Error with the field, TypeError with the field where something is no number, MemoryError.
#include "binding.h"

#define PY_FEW 8  // numbers that are copied without an array in between

PyTypeObject* PyNumbers_Type;

static size_t item_size(char kind) {
    if (kind == PY_DOUBLE) return sizeof(double);
    return kind == PY_INT ? sizeof(int) : sizeof(crEvent);
}

// An object without memory; strides are those of rows in C order.
static PyNumbers* make(int dimensions, const Py_ssize_t* shape, char kind) {
    PyNumbers* self = (PyNumbers*)PyType_GenericAlloc(PyNumbers_Type, 0);
    if (self == NULL) return NULL;
    self->dimensions = dimensions;
    self->kind = kind;
    Py_ssize_t stride = (Py_ssize_t)item_size(kind);
    for (int i = dimensions - 1; i >= 0; i--) {
        self->shape[i] = shape[i];
        self->strides[i] = stride;
        stride *= shape[i];
    }
    return self;
}

static Py_ssize_t count_of(const PyNumbers* self) {
    Py_ssize_t count = 1;
    for (int i = 0; i < self->dimensions; i++) {
        count *= self->shape[i];
    }
    return count;
}

PyNumbers* py_new(int dimensions, const Py_ssize_t* shape, char kind) {
    PyNumbers* self = make(dimensions, shape, kind);
    if (self == NULL) return NULL;
    self->writable = true;
    self->own = PyMem_Calloc((size_t)count_of(self) + 1, item_size(kind));
    self->data = self->own;
    if (self->data != NULL) return self;
    Py_DECREF(self);
    PyErr_NoMemory();
    return NULL;
}

static void numbers_dealloc(PyObject* object) {
    PyNumbers* self = (PyNumbers*)object;
    PyBuffer_Release(&self->source);
    PyMem_Free(self->own);
    Py_XDECREF(self->owner);
    py_free(object);
}

static int get_buffer(PyObject* object, Py_buffer* view, int flags) {
    PyNumbers* self = (PyNumbers*)object;
    view->obj = NULL;
    if ((flags & PyBUF_WRITABLE) != 0 && !self->writable) {
        PyErr_SetString(PyExc_BufferError, "the array is read-only");
        return -1;
    }
    if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && self->spread) {
        PyErr_SetString(PyExc_BufferError, "the array is not contiguous");
        return -1;
    }
    static char formats[3][2] = {"d", "i", "B"};
    static Py_ssize_t one = 1;
    bool bytes = self->kind == PY_EVENT;  // events go out as bytes, which the package knows the layout of
    *view = (Py_buffer){.buf = self->data,
                        .len = count_of(self) * (Py_ssize_t)item_size(self->kind),
                        .itemsize = bytes ? 1 : (Py_ssize_t)item_size(self->kind),
                        .readonly = !self->writable,
                        .ndim = self->dimensions};
    self->bytes = view->len;
    if ((flags & PyBUF_FORMAT) != 0)
        view->format = formats[self->kind == PY_DOUBLE ? 0 : self->kind == PY_INT ? 1 : 2];
    if ((flags & PyBUF_ND) != 0) view->shape = bytes ? &self->bytes : self->shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) view->strides = bytes ? &one : self->strides;
    view->obj = object;
    Py_INCREF(object);
    return 0;
}

static PyType_Slot slots[] = {
    PY_SLOT(Py_tp_dealloc, numbers_dealloc), PY_SLOT(Py_bf_getbuffer, get_buffer), {0, NULL}};
PyType_Spec py_numbers_spec = {"carom._carom.Numbers", sizeof(PyNumbers), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

// out

static PyObject* hand(PyObject* maker, PyNumbers* numbers) {
    if (numbers == NULL) return NULL;
    PyObject* array = PyObject_CallFunctionObjArgs(maker, numbers, NULL);
    Py_DECREF(numbers);
    return array;
}

PyObject* py_give(PyNumbers* numbers) { return hand(py_classes.fresh, numbers); }

static PyNumbers* over(PyObject* owner, const void* data, int dimensions, const Py_ssize_t* shape,
                       char kind) {
    static double nothing[1];  // an array over nothing still needs an address
    PyNumbers* self = make(dimensions, shape, kind);
    if (self == NULL) return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->data = data != NULL ? (void*)(uintptr_t)data : nothing;
    return self;
}

PyObject* py_view(PyObject* owner, const void* data, int dimensions, const Py_ssize_t* shape, char kind,
                  bool writable) {
    PyNumbers* self = over(owner, data, dimensions, shape, kind);
    if (self != NULL) self->writable = writable;
    return hand(py_classes.view, self);
}

PyObject* py_view_strided(PyObject* owner, const void* data, int dimensions, const Py_ssize_t* shape,
                          Py_ssize_t stride) {
    PyNumbers* self = over(owner, data, dimensions, shape, PY_DOUBLE);
    if (self != NULL) {
        self->strides[0] = stride;
        self->spread = true;
    }
    return hand(py_classes.view, self);
}

PyObject* py_events(PyObject* owner, const crEvent* events, size_t count) {
    Py_ssize_t shape[1] = {(Py_ssize_t)count};
    if (owner != NULL) return hand(py_classes.events, over(owner, events, 1, shape, PY_EVENT));
    PyNumbers* copy = py_new(1, shape, PY_EVENT);
    if (copy != NULL && count > 0) memcpy(copy->data, events, count * sizeof *events);
    return hand(py_classes.events, copy);
}

static PyObject* copy_of(const void* data, int dimensions, const Py_ssize_t* shape) {
    PyNumbers* self = py_new(dimensions, shape, PY_DOUBLE);
    if (self != NULL) memcpy(self->data, data, (size_t)count_of(self) * sizeof(double));
    return py_give(self);
}

PyObject* py_vector(crVec3 value) { return copy_of(&value, 1, (Py_ssize_t[1]){3}); }
PyObject* py_matrix(crMat3 value) { return copy_of(value.m, 2, (Py_ssize_t[2]){3, 3}); }
PyObject* py_numbers(const double* x, int count) { return copy_of(x, 1, (Py_ssize_t[1]){count}); }

// in

static bool refuse_shape(const char* field, int dimensions, const Py_ssize_t* wanted, int found,
                         Py_ssize_t count) {
    char text[64] = "";
    for (int i = 0; i < dimensions; i++) {
        size_t used = strlen(text);
        const char* cross = i > 0 ? " x " : "";
        if (wanted[i] < 0) PyOS_snprintf(text + used, sizeof text - used, "%sany", cross);
        if (wanted[i] >= 0) PyOS_snprintf(text + used, sizeof text - used, "%s%ld", cross, (long)wanted[i]);
    }
    return py_refuse(CR_ERR_SIZE, field, "%s: has %d dimensions and %ld numbers, must be %s", field, found,
                     (long)count, text);
}

static bool fits(const char* field, int dimensions, const Py_ssize_t* wanted, int found,
                 const Py_ssize_t* shape) {
    Py_ssize_t count = 1;
    bool same = found == dimensions;
    for (int i = 0; i < found; i++) {
        count *= shape[i];
        same = same && (wanted[i] < 0 || wanted[i] == shape[i]);
    }
    return same || refuse_shape(field, dimensions, wanted, found, count);
}

// One number of a format of the struct module; false where the format is not a number's.
static bool read_item(char format, const void* at, double* out) {
#define CASE(letter, type)        \
    case letter: {                \
        type x;                   \
        memcpy(&x, at, sizeof x); \
        *out = (double)x;         \
        return true;              \
    }
    switch (format) {
        CASE('d', double)
        CASE('f', float)
        CASE('?', unsigned char)
        CASE('b', signed char)
        CASE('B', unsigned char)
        CASE('h', short)
        CASE('H', unsigned short)
        CASE('i', int)
        CASE('I', unsigned)
        CASE('l', long)
        CASE('L', unsigned long)
        CASE('q', long long)
        CASE('Q', unsigned long long)
        CASE('n', Py_ssize_t)
        CASE('N', size_t)
    default:
        return false;
    }
#undef CASE
}

// The letter of a native format of one number, 0 for others.
static char letter_of(const Py_buffer* view) {
    static const char letters[] = "df?bBhHiIlLqQnN";
    const char* format = view->format != NULL ? view->format : "B";
    if (format[0] == '@') format++;
    return format[0] != '\0' && format[1] == '\0' && strchr(letters, format[0]) != NULL ? format[0] : '\0';
}

// The memory itself where it holds doubles in row order, else a copy; takes over the view.
static PyNumbers* take_view(Py_buffer* view, char letter) {
    PyNumbers* self = NULL;
    bool as_it_is = letter == 'd' && PyBuffer_IsContiguous(view, 'C') != 0 && (uintptr_t)view->buf % 8 == 0;
    if (as_it_is) {
        self = make(view->ndim, view->shape, PY_DOUBLE);
        if (self == NULL) {
            PyBuffer_Release(view);
            return NULL;
        }
        self->source = *view;
        self->data = view->buf;
        return self;
    }
    self = py_new(view->ndim, view->shape, PY_DOUBLE);
    double* out = self != NULL ? self->data : NULL;
    Py_ssize_t at[PY_DIMENSIONS] = {0}, count = self != NULL ? count_of(self) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        const char* from = view->buf;
        for (int k = 0; k < view->ndim; k++) {
            from += at[k] * view->strides[k];
        }
        read_item(letter, from, &out[i]);
        for (int k = view->ndim - 1; k >= 0 && ++at[k] == view->shape[k]; k--) {
            at[k] = 0;
        }
    }
    PyBuffer_Release(view);
    return self;
}

// The shape of nested sequences by their first items; -1 with an exception.
static int shape_of(PyObject* value, const char* field, Py_ssize_t* shape) {
    int dimensions = 0;
    PyObject* item = value;
    Py_INCREF(item);
    while (item != NULL && PySequence_Check(item) != 0 && !PyUnicode_Check(item) && !PyBytes_Check(item)) {
        Py_ssize_t length = PySequence_Size(item);
        if (length < 0)
            PyErr_Clear();  // a number that answers like a sequence, such as an array without axes
        if (length < 0) break;
        if (dimensions == PY_DIMENSIONS) {
            Py_DECREF(item);
            py_refuse(CR_ERR_SIZE, field, "%s: has more than %d dimensions", field, PY_DIMENSIONS);
            return -1;
        }
        shape[dimensions++] = length;
        if (length == 0) break;
        PyObject* first = PySequence_GetItem(item, 0);
        Py_DECREF(item);
        item = first;
    }
    if (item == NULL) return -1;
    Py_DECREF(item);
    return dimensions;
}

static bool refuse_item(const char* field, PyObject* item) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0 && PyErr_ExceptionMatches(PyExc_ValueError) == 0)
        return false;
    PyErr_Clear();
    return py_refuse_type(field, item, "a number");
}

// Numbers of a sequence of this shape; every row must be as long as the first.
static bool fill(PyObject* value, const char* field, int dimensions, const Py_ssize_t* shape, double** out) {
    if (dimensions == 0) {
        double number = PyUnicode_Check(value) ? -1.0 : PyFloat_AsDouble(value);
        if (PyUnicode_Check(value)) PyErr_SetString(PyExc_TypeError, "text");
        if (number == -1.0 && PyErr_Occurred() != NULL) return refuse_item(field, value);
        *(*out)++ = number;
        return true;
    }
    Py_ssize_t length = PySequence_Check(value) != 0 && !PyUnicode_Check(value) ? PySequence_Size(value) : -1;
    if (length < 0) PyErr_Clear();
    if (length != shape[0]) return py_refuse(CR_ERR_SIZE, field, "%s: has rows of different lengths", field);
    bool good = true;
    for (Py_ssize_t i = 0; good && i < length; i++) {
        PyObject* item = PySequence_GetItem(value, i);
        good = item != NULL && fill(item, field, dimensions - 1, shape + 1, out);
        Py_XDECREF(item);
    }
    return good;
}

static PyNumbers* take_sequence(PyObject* value, const char* field, int dimensions,
                                const Py_ssize_t* wanted) {
    Py_ssize_t shape[PY_DIMENSIONS];
    int found = shape_of(value, field, shape);
    if (found < 0) return NULL;
    if (found == 0) {
        py_refuse_type(field, value, "an array or a list of numbers");
        return NULL;
    }
    if (!fits(field, dimensions, wanted, found, shape)) return NULL;
    PyNumbers* self = py_new(found, shape, PY_DOUBLE);
    double* out = self != NULL ? self->data : NULL;
    if (self == NULL || fill(value, field, found, shape, &out)) return self;
    Py_DECREF(self);
    return NULL;
}

// What value.__array__() gives, new reference; NULL without an exception where there is no such method.
static PyObject* as_array(PyObject* value) {
    PyObject* method = PyObject_GetAttrString(value, "__array__");
    if (method == NULL) {
        PyErr_Clear();
        return NULL;
    }
    PyObject* array = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return array;
}

static PyNumbers* from_buffer(PyObject* value, const char* field, int dimensions, const Py_ssize_t* shape) {
    Py_buffer view;
    if (PyObject_GetBuffer(value, &view, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return take_sequence(value, field, dimensions, shape);
    }
    char letter = letter_of(&view);
    if (letter == '\0' || view.ndim > PY_DIMENSIONS) {
        PyBuffer_Release(&view);
        return take_sequence(value, field, dimensions, shape);
    }
    if (fits(field, dimensions, shape, view.ndim, view.shape)) return take_view(&view, letter);
    PyBuffer_Release(&view);
    return NULL;
}

PyNumbers* py_array(PyObject* value, const char* field, int dimensions, const Py_ssize_t* shape) {
    if (PyObject_CheckBuffer(value) != 0 && !PyBytes_Check(value))
        return from_buffer(value, field, dimensions, shape);
    if (PyTuple_Check(value) || PyList_Check(value)) return take_sequence(value, field, dimensions, shape);
    PyObject* array = as_array(value);
    if (array == NULL && PyErr_Occurred() != NULL) return NULL;
    PyNumbers* numbers = array != NULL && PyObject_CheckBuffer(array) != 0
                             ? from_buffer(array, field, dimensions, shape)
                             : take_sequence(value, field, dimensions, shape);
    Py_XDECREF(array);
    return numbers;
}

PyNumbers* py_int_array(PyObject* value, const char* field, int dimensions, const Py_ssize_t* shape) {
    PyNumbers* numbers = py_array(value, field, dimensions, shape);
    PyNumbers* out = numbers != NULL ? py_new(dimensions, numbers->shape, PY_INT) : NULL;
    Py_ssize_t count = out != NULL ? count_of(out) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        double x = ((const double*)numbers->data)[i];
        if (x >= INT_MIN && x <= INT_MAX && x == (double)(int)x) {
            ((int*)out->data)[i] = (int)x;
            continue;
        }
        py_refuse(CR_ERR_TYPE, field, "%s: has %g, must be integers of 32 bits", field, x);
        Py_CLEAR(out);
        break;
    }
    Py_XDECREF(numbers);
    return out;
}

// Numbers of a tuple or list that holds as many floats or integers; false, without an exception, for anything else.
static bool copy_items(PyObject* value, int count, double* out) {
    bool tuple = PyTuple_Check(value);
    if (!tuple && !PyList_Check(value)) return false;
    if ((tuple ? PyTuple_Size(value) : PyList_Size(value)) != count) return false;
    for (int i = 0; i < count; i++) {
        PyObject* item = tuple ? PyTuple_GetItem(value, i) : PyList_GetItem(value, i);
        if (!PyFloat_Check(item) && !PyLong_Check(item)) return false;
        out[i] = PyFloat_AsDouble(item);
        if (out[i] == -1.0 && PyErr_Occurred() != NULL) {
            PyErr_Clear();
            return false;
        }
    }
    return true;
}

// Doubles of an array that has this shape, in row order; false, without an exception, for anything else.
static bool copy_buffer(PyObject* value, int dimensions, const Py_ssize_t* shape, double* out) {
    Py_buffer view;
    if (PyObject_CheckBuffer(value) == 0) return false;
    if (PyObject_GetBuffer(value, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();
        return false;
    }
    bool same = view.ndim == dimensions && letter_of(&view) == 'd';
    for (int i = 0; same && i < dimensions; i++) {
        same = view.shape[i] == shape[i];
    }
    if (same) memcpy(out, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return same;
}

bool py_doubles(PyObject* value, const char* field, int count, double* out) {
    if (value == NULL || value == Py_None) return true;
    Py_ssize_t shape[1] = {count};
    if (count <= PY_FEW) {
        // what is not taken must not be written either
        double few[PY_FEW];
        if (copy_items(value, count, few) || copy_buffer(value, 1, shape, few)) {
            memcpy(out, few, (size_t)count * sizeof(double));
            return true;
        }
    }
    PyNumbers* array = py_array(value, field, 1, shape);
    if (array == NULL) return false;
    memcpy(out, array->data, (size_t)count * sizeof(double));
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
    Py_ssize_t shape[2] = {3, 3};
    if (copy_buffer(value, 2, shape, &out->m[0][0])) return true;
    PyNumbers* array = py_array(value, field, 2, shape);
    if (array == NULL) return false;
    memcpy(out->m, array->data, sizeof out->m);
    Py_DECREF(array);
    return true;
}

bool py_is_number(PyObject* value) {
    return PyFloat_Check(value) || PyLong_Check(value) ||
           (PyIndex_Check(value) && PySequence_Check(value) == 0);
}
