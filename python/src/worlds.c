// worlds.c - many World objects, each advanced by the same number of steps, shared out to threads.
//
// Worlds do not know of each other, so the result does not depend on the threads. Positions and velocities
// are gathered into two arrays of the caller. A world that fails stays where it was before the failing step
// and its status is told; the others go on. Fails: worlds of different sizes, or one that runs elsewhere.
#include "binding.h"
#include "src/base/tasks.h"

#define MAX_THREADS 256

typedef struct Batch {
    int count, steps;
    PyWorld** worlds;
    const double* input;  // forces or motor speeds (count*nv), or NULL
    bool motor;
    double *q, *v;  // (count*nq), (count*nv)
    int* status;    // (count)
} Batch;

static void advance(Batch* batch, int i) {
    crWorld* world = batch->worlds[i]->world;
    const crModel* model = cr_world_model(world);
    crState* state = cr_world_state(world);
    size_t nq = (size_t)model->nq, nv = (size_t)model->nv;
    if (batch->input != NULL)
        memcpy(batch->motor ? state->motor_speed : state->force, batch->input + (size_t)i * nv,
               nv * sizeof(double));
    crStatus status = CR_OK;
    for (int k = 0; k < batch->steps && status == CR_OK; k++) {
        status = cr_world_step(world, NULL);
    }
    batch->status[i] = (int)status;
    memcpy(batch->q + (size_t)i * nq, state->q, nq * sizeof(double));
    memcpy(batch->v + (size_t)i * nv, state->v, nv * sizeof(double));
}

static void advance_range(void* ctx, int begin, int end) {
    for (int i = begin; i < end; i++) {
        advance(ctx, i);
    }
}

static crStatus run(Batch* batch, int threads) {
    crAllocator libc = cr_allocator_libc();
    crTasks* tasks = NULL;
    crStatus status = cr__tasks_create(&libc, threads, &tasks);
    if (status == CR_OK) cr__tasks_for(tasks, batch->count, 1, advance_range, batch);
    cr__tasks_destroy(tasks);
    return status;
}

// the worlds of a list, all idle and of one size; marks them busy
static bool claim(PyObject* list, Batch* batch) {
    const crModel* first = NULL;
    for (int i = 0; i < batch->count; i++) {
        PyWorld* world = (PyWorld*)PyTuple_GetItem(list, i);
        bool good = PyObject_TypeCheck((PyObject*)world, PyWorld_Type) != 0;
        if (!good) py_refuse(CR_ERR_TYPE, "worlds", "worlds: item %d is not a World", i);
        good = good && py_world_idle(world);
        const crModel* model = good ? cr_world_model(world->world) : NULL;
        if (first == NULL) first = model;
        if (good && (model->nq != first->nq || model->nv != first->nv))
            good = py_refuse(CR_ERR_SIZE, "worlds", "worlds: item %d has %d velocities, the first %d", i,
                             model->nv, first->nv);
        if (!good) {
            while (--i >= 0) {
                batch->worlds[i]->busy = false;
            }
            return false;
        }
        batch->worlds[i] = world;
        world->busy = true;
    }
    return true;
}

// One of the arrays to be written, of this size and kind; the view is to be released.
static void* out_array(PyObject* value, const char* field, Py_ssize_t count, char kind, Py_buffer* view) {
    size_t item = kind == PY_DOUBLE ? sizeof(double) : sizeof(int);
    bool exported = PyObject_GetBuffer(value, view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT) == 0;
    if (exported && view->format != NULL && view->format[0] == kind && view->format[1] == '\0' &&
        view->len == count * (Py_ssize_t)item)
        return view->buf;
    if (!exported) *view = (Py_buffer){0};
    PyErr_Clear();
    py_refuse(CR_ERR_SIZE, field, "%s: must be a writable array of %ld numbers in row order", field,
              (long)count);
    return NULL;
}

// the arrays, for worlds of this model
static bool take_arrays(Batch* batch, PyObject* const out[3], Py_buffer views[3], PyObject* input,
                        PyNumbers** kept) {
    const crModel* model = cr_world_model(batch->worlds[0]->world);
    Py_ssize_t n = batch->count;
    batch->q = out_array(out[0], "q", n * model->nq, PY_DOUBLE, &views[0]);
    batch->v = batch->q != NULL ? out_array(out[1], "v", n * model->nv, PY_DOUBLE, &views[1]) : NULL;
    batch->status = batch->v != NULL ? out_array(out[2], "status", n, PY_INT, &views[2]) : NULL;
    if (batch->status == NULL) return false;
    if (input == Py_None) return true;
    *kept = py_array(input, "input", 2, (Py_ssize_t[2]){n, model->nv});
    if (*kept == NULL) return false;
    batch->input = (*kept)->data;
    return true;
}

// _batch(worlds, steps, threads, input or None, motor, q, v, status)
PyObject* py_batch(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *list, *input, *out[3];
    Batch batch = {0};
    int threads, motor;
    if (!PyArg_ParseTuple(args, "O!iiOpOOO", &PyTuple_Type, &list, &batch.steps, &threads, &input, &motor,
                          &out[0], &out[1], &out[2]))
        return NULL;
    batch.count = (int)PyTuple_Size(list);
    batch.motor = motor != 0;
    if (threads < 1 || threads > MAX_THREADS) {
        py_refuse(CR_ERR_RANGE, "threads", "threads: is %d, must be 1 to %d", threads, MAX_THREADS);
        return NULL;
    }
    if (batch.count == 0) Py_RETURN_NONE;
    batch.worlds = PyMem_Calloc((size_t)batch.count, sizeof *batch.worlds);
    if (batch.worlds == NULL) return PyErr_NoMemory();
    PyNumbers* kept = NULL;
    Py_buffer views[3] = {{0}};
    bool good = claim(list, &batch);
    if (good) {
        good = take_arrays(&batch, out, views, input, &kept);
        if (good) {
            crStatus status;
            Py_BEGIN_ALLOW_THREADS;
            status = run(&batch, threads < batch.count ? threads : batch.count);
            Py_END_ALLOW_THREADS;
            if (status != CR_OK)
                good = py_refuse(status, "threads", "threads: %d cannot be started", threads);
        }
        for (int i = 0; i < batch.count; i++) {
            batch.worlds[i]->busy = false;
        }
    }
    crError error = {0};
    bool raised = false;
    // an exception of a law or force, if one was raised, is told; what the library refused is in status
    for (int i = 0; good && i < batch.count && !raised; i++) {
        if (batch.status[i] != CR_ERR_ARGUMENT) continue;
        cr_error_set(&error, CR_ERR_ARGUMENT, "worlds", "worlds: item %d was refused a step", i);
        py_world_raise(batch.worlds[i], &error);
        raised = true;
    }
    for (int i = 0; i < 3; i++) {
        PyBuffer_Release(&views[i]);
    }
    Py_XDECREF(kept);
    PyMem_Free(batch.worlds);
    if (!good || raised) return NULL;
    Py_RETURN_NONE;
}
