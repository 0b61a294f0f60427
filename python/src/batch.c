// batch.c - carom.Batch over cr_batch: a capsule, and functions on it.
//
// Arrays are copied in and out: records of a batch move when worlds need more room. What lies on a device is told by its
// address, for those who take it there (__cuda_array_interface__). Calls that step release the interpreter's lock.
#include "carom/batch.h"
#include "binding.h"
#include "carom/stages.h"

#define NAME "carom.batch"

static crBatch* batch_of(PyObject* capsule) { return PyCapsule_GetPointer(capsule, NAME); }

static void destroy(PyObject* capsule) {
    cr_batch_destroy(batch_of(capsule));
    PyObject* world = PyCapsule_GetContext(capsule);
    Py_XDECREF(world);
}

// every world begins as the one given
static crStatus begin(crBatch* batch, const crWorld* world, int count, crError* error) {
    crStatus status = CR_OK;
    for (int i = 0; i < count && status == CR_OK; i++) {
        status = cr_batch_put(batch, i, world, error);
    }
    return status;
}

static bool of_python(const PyLaw* law) {
    return law != NULL && (law->function != NULL || law->parts != NULL);
}

// _batch_new(world, count, backend, threads, program or None, room)
PyObject* py_batch_new(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *object, *program;
    const char* backend;
    Py_ssize_t room;
    crBatchDef def = cr_batch_def();
    crError error = {0};
    if (!PyArg_ParseTuple(args, "O!isiOn", PyWorld_Type, &object, &def.count, &backend, &def.threads,
                          &program, &room))
        return NULL;
    PyWorld* world = (PyWorld*)object;
    if (!py_world_idle(world)) return NULL;
    if (world->force != NULL || world->model->callbacks != NULL || of_python(world->law) ||
        (world->rule != NULL && of_python(world->rule->law))) {
        py_refuse(CR_ERR_TYPE, "model",
                  "model: a batch takes no functions of Python: force, law, drives, restitution");
        return NULL;
    }
    if (cr_backend_find(backend, &def.backend, &error) != CR_OK) return py_raise(&error);
    def.model = cr_world_model(world->world);
    def.step = cr_world_stages(world->world)->settings;
    def.step.threads = 1;
    def.program = program != Py_None ? PyBytes_AsString(program) : NULL;
    def.room = (size_t)room;
    if (program != Py_None && def.program == NULL) return NULL;
    crBatch* batch = NULL;
    crStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = cr_batch_create(&def, &batch, &error);
    if (status == CR_OK) status = begin(batch, world->world, def.count, &error);
    Py_END_ALLOW_THREADS;
    PyObject* capsule = status == CR_OK ? PyCapsule_New(batch, NAME, destroy) : py_raise(&error);
    if (capsule == NULL) {
        cr_batch_destroy(batch);
        return NULL;
    }
    // it has the parameters of rule and solver, and keeps the model from changing
    Py_INCREF(object);
    PyCapsule_SetContext(capsule, object);
    return capsule;
}

// _batch_step(batch, h, steps)
PyObject* py_batch_step(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* capsule;
    double h;
    int steps;
    if (!PyArg_ParseTuple(args, "Odi", &capsule, &h, &steps)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    crError error = {0};
    crStatus status;
    Py_BEGIN_ALLOW_THREADS;
    status = cr_batch_step(batch, h, steps, &error);
    Py_END_ALLOW_THREADS;
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// _batch_read(batch, array): a new array (count, width)
PyObject* py_batch_read(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* capsule;
    int array;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &array)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    crError error = {0};
    Py_ssize_t shape[2] = {cr_batch_count(batch), cr_batch_width(batch, (crBatchArray)array)};
    PyNumbers* out = py_new(2, shape, PY_DOUBLE);
    if (out == NULL) return NULL;
    if (cr_batch_read(batch, (crBatchArray)array, out->data, &error) == CR_OK) return py_give(out);
    Py_XDECREF(out);
    return py_raise(&error);
}

// bools of a sequence, one for each world, to free; NULL with an exception set
static bool* take_where(PyObject* where, Py_ssize_t count) {
    bool* takes = PyMem_Calloc((size_t)count, sizeof *takes);
    if (takes == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (PySequence_Check(where) == 0 || PySequence_Size(where) != count) {
        PyErr_Clear();
        py_refuse(CR_ERR_SIZE, "where", "where: must be %ld bools", (long)count);
        PyMem_Free(takes);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject* item = PySequence_GetItem(where, i);
        int truth = item != NULL ? PyObject_IsTrue(item) : -1;
        Py_XDECREF(item);
        if (truth < 0) {
            PyMem_Free(takes);
            return NULL;
        }
        takes[i] = truth != 0;
    }
    return takes;
}

// _batch_write(batch, array, rows, where or None)
PyObject* py_batch_write(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *rows, *where;
    int array;
    if (!PyArg_ParseTuple(args, "OiOO", &capsule, &array, &rows, &where)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    Py_ssize_t shape[2] = {cr_batch_count(batch), cr_batch_width(batch, (crBatchArray)array)};
    bool* takes = where != Py_None ? take_where(where, shape[0]) : NULL;
    if (where != Py_None && takes == NULL) return NULL;
    PyNumbers* in = py_array(rows, "rows", 2, shape);
    crError error = {0};
    crStatus status = CR_OK;
    if (in != NULL) status = cr_batch_write(batch, (crBatchArray)array, in->data, takes, &error);
    PyMem_Free(takes);
    if (in == NULL) return NULL;
    Py_XDECREF(in);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// _batch_view(batch, array): (address, rows, width, bytes to the next world, bytes to the next number, on a device)
PyObject* py_batch_view(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* capsule;
    int array;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &array)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    crBatchView view = cr_batch_view(batch, (crBatchArray)array);
    if (view.data == NULL) {
        py_refuse(CR_ERR_FILE, "batch", "batch: the device does not answer");
        return NULL;
    }
    return Py_BuildValue("(KiinnO)", (unsigned long long)(uintptr_t)view.data, view.rows, view.width,
                         (Py_ssize_t)view.next_world, (Py_ssize_t)view.next_number,
                         view.device ? Py_True : Py_False);
}

// What others read of a tensor, as DLPack lays it down (version 0: fields in this order, strides in items).
typedef struct DlTensor {
    void* data;
    struct {
        int32_t kind, number;  // 1 host, 2 CUDA
    } device;
    int32_t dimensions;
    struct {
        uint8_t code, bits;  // 2 is floating point
        uint16_t lanes;
    } type;
    int64_t *shape, *strides;
    uint64_t offset;
} DlTensor;

typedef struct DlManaged {
    DlTensor tensor;
    void* owner;  // the batch
    void (*destroy)(struct DlManaged* self);
    int64_t shape[2], strides[2];
} DlManaged;

#define DL_NAME "dltensor"

// by whoever took the tensor, from any thread
static void dl_destroy(DlManaged* self) {
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject* owner = self->owner;
    Py_DECREF(owner);
    PyMem_Free(self);
    PyGILState_Release(lock);
}

// a capsule that nobody took
static void dl_unused(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, DL_NAME) == 0) return;
    DlManaged* managed = PyCapsule_GetPointer(capsule, DL_NAME);
    managed->destroy(managed);
}

// _batch_dlpack(batch, array): a capsule of DLPack's
PyObject* py_batch_dlpack(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* capsule;
    int array;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &array)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    crBatchView view = cr_batch_view(batch, (crBatchArray)array);
    if (view.data == NULL) {
        py_refuse(CR_ERR_FILE, "batch", "batch: the device does not answer");
        return NULL;
    }
    DlManaged* managed = PyMem_Calloc(1, sizeof *managed);
    if (managed == NULL) return PyErr_NoMemory();
    managed->shape[0] = view.rows;
    managed->shape[1] = view.width;
    managed->strides[0] = (int64_t)(view.next_world / sizeof(double));
    managed->strides[1] = (int64_t)(view.next_number / sizeof(double));
    managed->tensor = (DlTensor){.data = view.data,
                                 .device = {view.device ? 2 : 1, 0},
                                 .dimensions = 2,
                                 .type = {2, 64, 1},
                                 .shape = managed->shape,
                                 .strides = managed->strides};
    managed->owner = capsule;
    managed->destroy = dl_destroy;
    PyObject* made = PyCapsule_New(managed, DL_NAME, dl_unused);
    if (made == NULL) {
        PyMem_Free(managed);
        return NULL;
    }
    Py_INCREF(capsule);
    return made;
}

// _batch_vary(batch, what, index, values)
PyObject* py_batch_vary(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *what, *values;
    static const char* const names[] = {"mass", "mu", "e", "size", NULL};
    int index, kind = 0;
    if (!PyArg_ParseTuple(args, "OOiO", &capsule, &what, &index, &values)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL || !py_choice(what, "what", names, &kind)) return NULL;
    Py_ssize_t count = cr_batch_count(batch);
    PyNumbers* in = py_array(values, "values", 1, &count);
    if (in == NULL) return NULL;
    crError error = {0};
    crStatus status = cr_batch_vary(batch, (crVary)kind, index, in->data, &error);
    Py_XDECREF(in);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// _batch_move(batch, index, world, put): the world into the batch, or the other way round
PyObject* py_batch_move(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *capsule, *object;
    int index, put;
    if (!PyArg_ParseTuple(args, "OiO!p", &capsule, &index, PyWorld_Type, &object, &put)) return NULL;
    crBatch* batch = batch_of(capsule);
    PyWorld* world = (PyWorld*)object;
    if (batch == NULL || !py_world_idle(world)) return NULL;
    crError error = {0};
    crStatus status = put != 0 ? cr_batch_put(batch, index, world->world, &error)
                               : cr_batch_take(batch, index, world->world, &error);
    if (status != CR_OK) return py_raise(&error);
    Py_RETURN_NONE;
}

// _batch_hash(batch, index): of one world; of all where it is negative
PyObject* py_batch_hash(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* capsule;
    int index;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &index)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    crError error = {0};
    uint64_t hash = 0;
    crStatus status =
        index < 0 ? cr_batch_hash_all(batch, &hash, &error) : cr_batch_hash(batch, index, &hash, &error);
    return status == CR_OK ? PyLong_FromUnsignedLongLong(hash) : py_raise(&error);
}

// _batch_summary(batch): (dict of the tally, failed, unsound, handed, [name of each world's status])
PyObject* py_batch_summary(PyObject* module, PyObject* args) {
    (void)module;
    PyObject* capsule;
    if (!PyArg_ParseTuple(args, "O", &capsule)) return NULL;
    crBatch* batch = batch_of(capsule);
    if (batch == NULL) return NULL;
    crError error = {0};
    crBatchSummary summary;
    if (cr_batch_summary(batch, &summary, &error) != CR_OK) return py_raise(&error);
    PyObject* names = PyList_New(summary.worlds);
    for (int i = 0; names != NULL && i < summary.worlds; i++) {
        crBatchResult result = {0};
        cr_batch_result(batch, i, &result, NULL);
        PyObject* name = PyUnicode_FromString(cr_status_name(result.status));
        if (name == NULL || PyList_SetItem(names, i, name) != 0) {
            Py_XDECREF(names);
            return NULL;
        }
    }
    PyObject* tally = names != NULL ? py_struct(&py_record_tally, &summary.tally) : NULL;
    if (tally == NULL) {
        Py_XDECREF(names);
        return NULL;
    }
    return Py_BuildValue("(NiiiN)", tally, summary.failed, summary.unsound, summary.handed, names);
}
