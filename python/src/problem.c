// problem.c - contact problems u = u_free + W p from arrays or files, solved, resolved and audited.
//
// Arrays of doubles in row order are used as they are and kept; others are copied once. Solves release the
// interpreter's lock. Fails: what the library refuses, by field; a solve that does not converge is no
// failure, its outcome says so.
#include <stddef.h>
#include <stdlib.h>

#include "binding.h"
#include "carom/modes.h"
#include "io/problem.h"

typedef struct PyProblem {
    PyObject ob_base;
    crProblem problem;
    crProblemFile file;  // where it was read from one
    crBlock* blocks;
    PyNumbers *u_free, *W, *b;
    bool ready;
} PyProblem;

typedef struct BlockField {
    const char* name;
    size_t offset;
} BlockField;
static const BlockField block_fields[] = {
    {"mu", offsetof(crBlock, mu)},
    {"mu2", offsetof(crBlock, mu2)},
    {"lo", offsetof(crBlock, lo)},
    {"hi", offsetof(crBlock, hi)},
    {"e", offsetof(crBlock, e)},
    {"et", offsetof(crBlock, et)},
    {"mu_spin", offsetof(crBlock, mu_spin)},
    {"mu_roll", offsetof(crBlock, mu_roll)},
};

// a block: (kind, count, {field: number})
static bool read_block(PyObject* item, int row, crBlock* block) {
    static const char* const kinds[] = {"equality", "unilateral", "box", "cone", NULL};
    PyObject *kind, *fields;
    int count, index = 0;
    if (!PyArg_ParseTuple(item, "OiO!", &kind, &count, &PyDict_Type, &fields) ||
        !py_choice(kind, "kind", kinds, &index))
        return false;
    *block = cr_block((crBlockKind)index, row, count);
    Py_ssize_t known = 0;
    bool elliptic = PyDict_GetItemString(fields, "mu2") != NULL;
    for (size_t i = 0; i < sizeof block_fields / sizeof block_fields[0]; i++) {
        PyObject* value = PyDict_GetItemString(fields, block_fields[i].name);
        if (value == NULL) continue;
        known++;
        double number = PyFloat_AsDouble(value);
        if (PyErr_Occurred() != NULL) return false;
        memcpy((char*)block + block_fields[i].offset, &number, sizeof number);
    }
    if (!elliptic) block->mu2 = block->mu;
    PyObject* spin = PyDict_GetItemString(fields, "spin");
    PyObject* roll = PyDict_GetItemString(fields, "roll");
    block->spin = spin != NULL && PyObject_IsTrue(spin) == 1;
    block->roll = roll != NULL && PyObject_IsTrue(roll) == 1;
    known += (spin != NULL) + (roll != NULL);
    if (known == PyDict_Size(fields)) return true;
    return py_refuse(CR_ERR_FIELD, "blocks",
                     "blocks: unknown field; known are mu, mu2, mu_spin, mu_roll, spin, roll, lo, hi, e, et");
}

static bool read_blocks(PyProblem* self, PyObject* list) {
    PyObject* items = PySequence_Tuple(list);
    if (items == NULL) return false;
    int count = (int)PyTuple_Size(items), row = 0;
    self->blocks = PyMem_Calloc((size_t)count + 1, sizeof *self->blocks);
    bool good = self->blocks != NULL;
    for (int i = 0; good && i < count; i++) {
        good = read_block(PyTuple_GetItem(items, i), row, &self->blocks[i]);
        row += good ? self->blocks[i].count : 0;
    }
    Py_DECREF(items);
    self->problem.blocks = self->blocks;
    self->problem.block_count = count;
    return good;
}

// Problem(u_free, W, blocks, b, raw), or Problem(path, format)
static bool read_arrays(PyProblem* self, PyObject* args) {
    PyObject *u_free, *W, *blocks, *b;
    int raw;
    crProblem* p = &self->problem;
    if (!PyArg_ParseTuple(args, "OOOOp:Problem", &u_free, &W, &blocks, &b, &raw)) return false;
    self->u_free = py_array(u_free, "u_free", 1, (Py_ssize_t[1]){-1});
    if (self->u_free == NULL) return false;
    Py_ssize_t rows = self->u_free->shape[0];
    self->W = py_array(W, "W", 2, (Py_ssize_t[2]){rows, rows});
    if (self->W == NULL || !read_blocks(self, blocks)) return false;
    if (b != Py_None && (self->b = py_array(b, "b", 1, &rows)) == NULL) return false;
    p->rows = (int)rows;
    p->raw = raw != 0;
    p->u_free = self->u_free->data;
    p->W = (crMatrix){.rows = (int)rows, .cols = (int)rows, .value = self->W->data};
    p->b = self->b != NULL ? self->b->data : NULL;
    crError error = {0};
    if (cr_problem_check(p, &error) == CR_OK) return true;
    py_raise(&error);
    return false;
}

static bool read_path(PyProblem* self, PyObject* args) {
    const char *path, *format;
    crError error = {0};
    if (!PyArg_ParseTuple(args, "sz:Problem", &path, &format)) return false;
    if (cr_problem_read(path, format, &self->file, &error) != CR_OK) {
        self->file = (crProblemFile){0};
        py_raise(&error);
        return false;
    }
    self->problem = self->file.problem;
    return true;
}

static int problem_init(PyObject* object, PyObject* args, PyObject* keywords) {
    (void)keywords;
    PyProblem* self = (PyProblem*)object;
    if (self->u_free != NULL || self->ready) {
        PyErr_SetString(PyExc_TypeError, "a Problem is made once");
        return -1;
    }
    self->ready = PyTuple_Size(args) == 2 ? read_path(self, args) : read_arrays(self, args);
    return self->ready ? 0 : -1;
}

static void problem_dealloc(PyObject* object) {
    PyProblem* self = (PyProblem*)object;
    cr_problem_file_free(&self->file);
    PyMem_Free(self->blocks);
    Py_XDECREF(self->u_free);
    Py_XDECREF(self->W);
    Py_XDECREF(self->b);
    py_free(object);
}

static bool ready(const PyProblem* self) {
    return self->ready || py_refuse(CR_ERR_ARGUMENT, "problem", "problem: was not initialised");
}

// impulses, zero or a copy of the guess given
static PyNumbers* start_from(const PyProblem* self, PyObject* guess) {
    Py_ssize_t rows = self->problem.rows;
    PyNumbers* p = py_new(1, &rows, PY_DOUBLE);
    if (p != NULL && !py_doubles(guess, "p", (int)rows, p->data)) Py_CLEAR(p);
    return p;
}

// velocities with these impulses, as an array
static PyObject* velocity(const PyProblem* self, crArena* arena, PyNumbers* p) {
    Py_ssize_t rows = self->problem.rows;
    PyNumbers* u = py_new(1, &rows, PY_DOUBLE);
    if (u == NULL) return NULL;
    if (cr_problem_velocity(&self->problem, arena, p->data, u->data) == CR_OK) return py_give(u);
    Py_DECREF(u);
    return PyErr_NoMemory();
}

static PyObject* solve(PyObject* object, PyObject* args) {
    PyProblem* self = (PyProblem*)object;
    const char* name;
    crSolverParams params = cr_solver_params();
    PyObject* guess;
    if (!ready(self) ||
        !PyArg_ParseTuple(args, "sdiO:solve", &name, &params.tol, &params.max_iterations, &guess))
        return NULL;
    crError error = {0};
    crSolver solver;
    if (cr_solver_find(name, &params, &solver, &error) != CR_OK) return py_raise(&error);
    PyNumbers* p = start_from(self, guess);
    if (p == NULL) return NULL;
    crArena arena = {0};
    crReport report = {0};
    crStatus status = cr_arena_create(&arena, NULL, 1 << 16);
    if (status != CR_OK) {
        Py_DECREF(p);
        return PyErr_NoMemory();
    }
    Py_BEGIN_ALLOW_THREADS;
    status = cr_solver_run(&solver, &self->problem, params.tol, &arena, p->data, &report, &error);
    Py_END_ALLOW_THREADS;
    PyObject* u = status == CR_OK ? velocity(self, &arena, p) : py_raise(&error);
    cr_arena_destroy(&arena);
    if (u == NULL) {
        Py_DECREF(p);
        return NULL;
    }
    return Py_BuildValue("{s:N,s:N,s:s,s:s,s:i,s:d,s:N}", "p", py_give(p), "u", u, "outcome",
                         cr_outcome_name(report.outcome), "method", report.method, "iterations",
                         report.iterations, "residual", report.audit.residual, "audit",
                         py_struct(&py_record_audit, &report.audit));
}

static PyObject* rule_dict(PyNumbers* p, PyObject* u, const crRuleReport* r) {
    return Py_BuildValue(
        "{s:N,s:N,s:s,s:s,s:i,s:s,s:i,s:d,s:d,s:O,s:O,s:N,s:N}", "p", py_give(p), "u", u, "outcome",
        cr_outcome_name(r->outcome), "method", r->method, "steps", r->steps, "unique",
        cr_unique_name(r->unique), "flags", r->flags, "energy_change", r->energy_change, "work", r->work,
        "permissible", r->permissible ? Py_True : Py_False, "creates_energy",
        r->creates_energy ? Py_True : Py_False, "margins", py_struct(&py_record_rule_margins, &r->margins),
        "audit", py_struct(&py_record_audit, &r->audit));
}

static PyObject* resolve(PyObject* object, PyObject* args) {
    PyProblem* self = (PyProblem*)object;
    PyObject *rule_given, *law_given;
    if (!ready(self) || !PyArg_ParseTuple(args, "OO:resolve", &rule_given, &law_given)) return NULL;
    PyRule* rule = py_rule(rule_given);
    PyLaw* law = rule != NULL && law_given != Py_None ? py_law(law_given) : NULL;
    PyNumbers* p = rule != NULL && (law != NULL || law_given == Py_None) ? start_from(self, NULL) : NULL;
    crArena arena = {0};
    if (p != NULL && cr_arena_create(&arena, NULL, 1 << 16) != CR_OK) {
        Py_CLEAR(p);
        PyErr_NoMemory();
    }
    PyObject* result = NULL;
    if (p != NULL) {
        crRuleParams params = rule->params;
        if (law != NULL) params.law = law->law;
        crRule with = rule->rule;
        with.params = &params;
        crRuleReport report = {0};
        crError error = {0};
        crStatus status;
        Py_BEGIN_ALLOW_THREADS;
        status = cr_rule_run(&with, &self->problem, &arena, p->data, &report, &error);
        Py_END_ALLOW_THREADS;
        PyObject* u =
            status == CR_OK ? velocity(self, &arena, p) : py_raise_law(law != NULL ? law : rule->law, &error);
        result = u != NULL ? rule_dict(p, u, &report) : NULL;
        if (u == NULL) Py_DECREF(p);
        cr_arena_destroy(&arena);
    }
    Py_XDECREF(law);
    Py_XDECREF(rule);
    return result;
}

// changes of an impact's data: u_free, W, mu, e, et, each an array or NULL
enum { CHANGES = 5 };

static bool read_changes(const PyProblem* self, PyObject* const given[CHANGES], PyNumbers* read[CHANGES]) {
    static const char* const names[CHANGES] = {"u_free", "W", "mu", "e", "et"};
    Py_ssize_t rows = self->problem.rows, blocks = self->problem.block_count;
    for (int i = 0; i < CHANGES; i++) {
        const Py_ssize_t shape[2] = {i < 2 ? rows : blocks, rows};
        if (given[i] == Py_None) continue;
        read[i] = py_array(given[i], names[i], i == 1 ? 2 : 1, shape);
        if (read[i] == NULL) return false;
    }
    return true;
}

static const double* data_of(const PyNumbers* array) { return array != NULL ? array->data : NULL; }

// du = du_free + dW p + W dp, as an array
static PyObject* velocity_change(const PyProblem* self, crArena* arena, const crRuleChange* change,
                                 const double* p, const double* dp) {
    Py_ssize_t rows = self->problem.rows;
    PyNumbers* du = py_new(1, &rows, PY_DOUBLE);
    if (du == NULL) return NULL;
    double* out = du->data;
    if (cr_problem_velocity(&self->problem, arena, dp, out) != CR_OK) {
        Py_DECREF(du);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < rows; i++) {
        out[i] += (change->u_free != NULL ? change->u_free[i] : 0.0) - self->problem.u_free[i];
        for (Py_ssize_t j = 0; j < rows && change->W != NULL; j++)
            out[i] += change->W[i * rows + j] * p[j];
    }
    return py_give(du);
}

static PyObject* change_dict(const PyProblem* self, crArena* arena, const crRuleModes* modes,
                             const crRuleChange* change, const double* minus, const double* plus) {
    int rows = self->problem.rows;
    return Py_BuildValue(
        "{s:N,s:N,s:N,s:N,s:s,s:s,s:d,s:d,s:O}", "p_minus", py_numbers(minus, rows), "p_plus",
        py_numbers(plus, rows), "u_minus", velocity_change(self, arena, change, modes->p, minus), "u_plus",
        velocity_change(self, arena, change, modes->p, plus), "verdict", cr_smoothness_name(modes->verdict),
        "switch", cr_switch_name(modes->nearest), "distance", modes->distance, "jump", modes->jump,
        "differenced", modes->differenced ? Py_True : Py_False);
}

// the rule's answer, its modes there, and what a change of the data becomes; NULL with an exception
static PyObject* change_by(const PyProblem* self, const crRule* rule, PyLaw* law, double near,
                           const crRuleChange* change) {
    crArena arena = {0};
    size_t rows = (size_t)self->problem.rows;
    crStatus status = cr_arena_create(&arena, NULL, 1 << 16);
    double* p = status == CR_OK ? cr_arena_alloc(&arena, 3 * (rows + 1) * sizeof *p) : NULL;
    if (p == NULL) {
        cr_arena_destroy(&arena);
        return PyErr_NoMemory();
    }
    memset(p, 0, 3 * (rows + 1) * sizeof *p);
    double *minus = p + rows + 1, *plus = minus + rows + 1;
    crRuleReport report = {0};
    crRuleModes modes;
    crError error = {0};
    Py_BEGIN_ALLOW_THREADS;
    status = cr_rule_run(rule, &self->problem, &arena, p, &report, &error);
    bool unsolved = status == CR_OK && report.outcome != CR_OUTCOME_SOLVED;
    if (unsolved) {
        status =
            cr_error_set(&error, CR_ERR_RANGE, "residual", "residual: is %g, the impact is not solved (%s)",
                         report.audit.residual, cr_outcome_name(report.outcome));
    }
    if (status == CR_OK) status = cr_rule_modes_find(rule, &self->problem, &arena, p, near, &modes, &error);
    if (status == CR_OK) status = cr_rule_modes_apply(&modes, change, minus, plus, &error);
    Py_END_ALLOW_THREADS;
    PyObject* result = NULL;
    if (status != CR_OK) {
        py_raise_law(law, &error);
    } else if (!py_law_raised(law)) {
        result = change_dict(self, &arena, &modes, change, minus, plus);
    }
    cr_arena_destroy(&arena);
    return result;
}

// _derivative(rule, law, near, u_free, W, mu, e, et)
static PyObject* derivative(PyObject* object, PyObject* args) {
    PyProblem* self = (PyProblem*)object;
    PyObject *rule_given, *law_given, *given[CHANGES];
    double near;
    if (!ready(self) || !PyArg_ParseTuple(args, "OOdOOOOO:derivative", &rule_given, &law_given, &near,
                                          &given[0], &given[1], &given[2], &given[3], &given[4]))
        return NULL;
    PyNumbers* read[CHANGES] = {NULL};
    PyRule* rule = py_rule(rule_given);
    PyLaw* law = rule != NULL && law_given != Py_None ? py_law(law_given) : NULL;
    PyObject* result = NULL;
    if (rule != NULL && (law != NULL || law_given == Py_None) && read_changes(self, given, read)) {
        crRuleParams params = rule->params;
        if (law != NULL) params.law = law->law;
        crRule with = rule->rule;
        with.params = &params;
        crRuleChange change = {.u_free = data_of(read[0]),
                               .W = data_of(read[1]),
                               .mu = data_of(read[2]),
                               .e = data_of(read[3]),
                               .et = data_of(read[4])};
        result = change_by(self, &with, law != NULL ? law : rule->law, near, &change);
    }
    for (int i = 0; i < CHANGES; i++)
        Py_XDECREF(read[i]);
    Py_XDECREF(law);
    Py_XDECREF(rule);
    return result;
}

static PyObject* audit(PyObject* object, PyObject* value) {
    PyProblem* self = (PyProblem*)object;
    if (!ready(self)) return NULL;
    PyNumbers* p = start_from(self, value);
    if (p == NULL) return NULL;
    crArena arena = {0};
    crAudit found;
    crStatus status = cr_arena_create(&arena, NULL, 1 << 14);
    if (status == CR_OK) status = cr_problem_audit(&self->problem, &arena, p->data, &found);
    cr_arena_destroy(&arena);
    Py_DECREF(p);
    return status == CR_OK ? py_struct(&py_record_audit, &found) : PyErr_NoMemory();
}

static PyObject* get_u_free(PyObject* object, void* closure) {
    (void)closure;
    PyProblem* self = (PyProblem*)object;
    Py_ssize_t rows = self->problem.rows;
    return ready(self) ? py_view(object, self->problem.u_free, 1, &rows, PY_DOUBLE, false) : NULL;
}

static PyObject* get_W(PyObject* object, void* closure) {
    (void)closure;
    PyProblem* self = (PyProblem*)object;
    if (!ready(self)) return NULL;
    Py_ssize_t shape[2] = {self->problem.rows, self->problem.rows};
    const crMatrix* W = &self->problem.W;
    if (W->value != NULL && W->start == NULL) return py_view(object, W->value, 2, shape, PY_DOUBLE, false);
    // kept otherwise: made full for the caller
    crArena arena = {0};
    double* full = NULL;
    PyNumbers* array = py_new(2, shape, PY_DOUBLE);
    crStatus status = array != NULL ? cr_arena_create(&arena, NULL, 1 << 16) : CR_ERR_MEMORY;
    if (status == CR_OK) status = cr_problem_dense(&self->problem, &arena, &full);
    if (status == CR_OK) memcpy(array->data, full, (size_t)(shape[0] * shape[1]) * sizeof(double));
    cr_arena_destroy(&arena);
    if (status == CR_OK) return py_give(array);
    Py_XDECREF(array);
    return PyErr_NoMemory();
}

static PyObject* get_reference(PyObject* object, void* closure) {
    (void)closure;
    PyProblem* self = (PyProblem*)object;
    Py_ssize_t rows = self->problem.rows;
    if (!ready(self)) return NULL;
    if (self->file.p == NULL) Py_RETURN_NONE;
    return py_view(object, self->file.p, 1, &rows, PY_DOUBLE, false);
}

static PyMethodDef methods[] = {{"_solve", solve, METH_VARARGS, NULL},
                                {"_resolve", resolve, METH_VARARGS, NULL},
                                {"_derivative", derivative, METH_VARARGS, NULL},
                                {"_audit", audit, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};
static PyObject* get_h(PyObject* object, void* closure) {
    (void)closure;
    PyProblem* self = (PyProblem*)object;
    return ready(self) ? PyFloat_FromDouble(self->file.h) : NULL;
}

static PyObject* get_mended(PyObject* object, void* closure) {
    (void)closure;
    PyProblem* self = (PyProblem*)object;
    if (!ready(self)) return NULL;
    if (self->file.mended.matrix[0] == '\0') Py_RETURN_NONE;
    return Py_BuildValue("{ss,sz,sd}", "matrix", self->file.mended.matrix, "triangle",
                         self->file.mended.triangle, "asymmetry", self->file.mended.skew.relative);
}

static PyGetSetDef getset[] = {
    {"u_free", get_u_free, NULL, "velocities without impulses (rows); a view", NULL},
    {"W", get_W, NULL, "(rows, rows): a view where it is kept in full, else a new array", NULL},
    {"p", get_reference, NULL, "the impulses that came with the file, or None; a view", NULL},
    {"h", get_h, NULL, "length of the step that posed the file's problem, s; 0 where it does not say", NULL},
    {"mended", get_mended, NULL,
     "what was done to a symmetric matrix of the file: matrix, triangle, asymmetry; or None", NULL},
    {"reference", get_reference, NULL, "the solution that came with the file, or None; a view", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, PyType_GenericNew),   PY_SLOT(Py_tp_init, problem_init),
                              PY_SLOT(Py_tp_dealloc, problem_dealloc), PY_SLOT(Py_tp_methods, methods),
                              PY_SLOT(Py_tp_getset, getset),           {0, NULL}};
PyType_Spec py_problem_spec = {"carom._carom.Problem", sizeof(PyProblem), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
PyTypeObject* PyProblem_Type;
