// law.c - collision laws: built-in by name, or a Python function from a contact to an impulse.
//
// A function gets a Contact (W, V, mu, e, et in the contact frame) and returns P, three numbers in that
// frame; the library audits it as it does every law. The function may be called while other threads run, and
// from them: it takes the interpreter's lock. What it raises is kept until the call that led there returns.
#include "binding.h"

PyObject* py_contact(const crContact* contact) {
    return PyObject_CallFunction((PyObject*)py_classes.contact, "NNddd", py_matrix(cr_sym3_full(contact->W)),
                                 py_vector(contact->V), contact->mu, contact->e, contact->et);
}

bool py_contact_from(PyObject* value, crContact* contact) {
    crMat3 W;
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 5)
        return py_refuse(CR_ERR_TYPE, "contact", "contact: must be a carom.Contact");
    if (!py_mat3(PyTuple_GetItem(value, 0), "W", &W)) return false;
    contact->W = cr_mat3_symmetric(W);
    if (!py_vec3(PyTuple_GetItem(value, 1), "V", &contact->V)) return false;
    double* numbers[3] = {&contact->mu, &contact->e, &contact->et};
    for (int i = 0; i < 3; i++) {
        *numbers[i] = PyFloat_AsDouble(PyTuple_GetItem(value, 2 + i));
        if (*numbers[i] == -1.0 && PyErr_Occurred() != NULL) return false;
    }
    // the same checks as every collision: in its own frame, a contact is one
    crCollision collision = cr_collision();
    collision.W = cr_sym3_full(contact->W);
    collision.V = contact->V;
    collision.mu = contact->mu;
    collision.e = contact->e;
    collision.et = contact->et;
    crContact checked;
    crMat3 frame;
    crError error = {0};
    if (cr_collision_contact(&collision, &checked, &frame, &error) != CR_OK) {
        py_raise(&error);
        return false;
    }
    return true;
}

// keep what the function raised; the first one wins
static void keep_raised(PyLaw* self) {
    if (self->raised != NULL) {
        PyErr_Clear();
        return;
    }
    PyErr_Fetch(&self->raised, &self->raised_value, &self->trace);
}

static crStatus apply_function(const void* params, const crContact* contact, crHit* hit, crError* error) {
    PyLaw* self = (PyLaw*)(uintptr_t)params;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject* argument = py_contact(contact);
    PyObject* P = argument != NULL ? PyObject_CallFunctionObjArgs(self->function, argument, NULL) : NULL;
    bool good = P != NULL && P != Py_None;
    if (P == Py_None) py_refuse(CR_ERR_TYPE, "law", "law: the function returned None, must be three numbers");
    good = good && py_vec3(P, "P", &hit->P);
    if (!good) keep_raised(self);
    Py_XDECREF(P);
    Py_XDECREF(argument);
    PyGILState_Release(lock);
    if (!good) return cr_error_set(error, CR_ERR_ARGUMENT, "law", "law: the function raised an exception");
    if (!cr_vec3_finite(hit->P))
        return cr_error_set(error, CR_ERR_FINITE, "law",
                            "law: the function returned a number that is not finite");
    return CR_OK;
}

bool py_law_raised(PyLaw* law) {
    if (law == NULL) return false;
    if (law->raised != NULL) {
        PyErr_Restore(law->raised, law->raised_value, law->trace);
        law->raised = law->raised_value = law->trace = NULL;
        return true;
    }
    for (Py_ssize_t i = 0; law->parts != NULL && i < PyTuple_Size(law->parts); i++) {
        if (py_law_raised((PyLaw*)PyTuple_GetItem(law->parts, i))) return true;
    }
    return false;
}

PyObject* py_raise_law(PyLaw* law, const crError* error) {
    return py_law_raised(law) ? NULL : py_raise(error);
}

// the laws of a composite and their weights
static bool take_parts(PyLaw* self, PyObject* laws, PyObject* weights) {
    if (laws == NULL || laws == Py_None) return true;
    PyObject* list = PySequence_Tuple(laws);
    if (list == NULL) return false;
    Py_ssize_t count = PyTuple_Size(list);
    self->parts = PyTuple_New(count);
    self->laws = PyMem_Calloc((size_t)count + 1, sizeof *self->laws);
    self->weights = PyMem_Calloc((size_t)count + 1, sizeof *self->weights);
    bool good = self->parts != NULL && self->laws != NULL && self->weights != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        PyLaw* part = py_law(PyTuple_GetItem(list, i));
        good = part != NULL;
        if (good) self->laws[i] = part->law;
        PyTuple_SetItem(self->parts, i, (PyObject*)part);
    }
    Py_DECREF(list);
    if (!good) return false;
    self->params.law_count = (int)count;
    self->params.laws = self->laws;
    self->params.weights = self->weights;
    return py_doubles(weights, "weights", (int)count, self->weights);
}

static bool take_function(PyLaw* self, PyObject* function, PyObject* name) {
    Py_INCREF(function);
    self->function = function;
    if (name == NULL || name == Py_None) {
        name = PyObject_GetAttrString(function, "__name__");
        if (name == NULL) {
            PyErr_Clear();
            name = PyUnicode_FromString("function");
        }
    } else {
        Py_INCREF(name);
    }
    self->name = name;
    const char* text = name != NULL ? py_text(name) : NULL;
    if (text == NULL) return false;
    self->law = (crLaw){text, apply_function, self};
    return true;
}

static bool take_name(PyLaw* self, PyObject* name) {
    crError error = {0};
    const char* text = py_text(name);
    if (text == NULL) return false;
    if (cr_law_find(text, &self->params, &self->law, &error) == CR_OK) return true;
    py_raise(&error);
    return false;
}

static int law_init(PyObject* object, PyObject* args, PyObject* keywords) {
    static char* names[] = {"law",  "name", "ending", "directions", "nu",   "mu2",     "mu3", "psi1",
                            "psi2", "rho",  "wish",   "eta2",       "laws", "weights", NULL};
    static const char* const endings[] = {"poisson", "newton", "energetic", NULL};
    PyLaw* self = (PyLaw*)object;
    if (self->law.apply != NULL) {
        PyErr_SetString(PyExc_TypeError, "a Law is made once");
        return -1;
    }
    crLawParams* p = &self->params;
    *p = cr_law_params();
    PyObject *law, *name = NULL, *ending = NULL, *wish = NULL, *laws = NULL, *weights = NULL;
    if (!py_parse(args, keywords, "O|O$OiddddddOdOO:Law", names, &law, &name, &ending, &p->directions, &p->nu,
                  &p->mu2, &p->mu3, &p->psi1, &p->psi2, &p->rho, &wish, &p->eta2, &laws, &weights))
        return -1;
    int choice = (int)p->ending;
    if (!py_choice(ending, "ending", endings, &choice) || !py_vec3(wish, "wish", &p->wish) ||
        !take_parts(self, laws, weights))
        return -1;
    p->ending = (crEnding)choice;
    if (PyUnicode_Check(law) && name != NULL && name != Py_None) {
        py_refuse(CR_ERR_ARGUMENT, "name", "name: a law of the catalogue has its own");
        return -1;
    }
    if (PyUnicode_Check(law)) return take_name(self, law) ? 0 : -1;
    if (PyCallable_Check(law)) return take_function(self, law, name) ? 0 : -1;
    py_refuse_type("law", law, "the name of a law or a function");
    return -1;
}

static int law_traverse(PyObject* object, visitproc visit, void* arg) {
    PyLaw* self = (PyLaw*)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->function);
    Py_VISIT(self->parts);
    Py_VISIT(self->raised_value);
    Py_VISIT(self->trace);
    return 0;
}

static int law_clear(PyObject* object) {
    PyLaw* self = (PyLaw*)object;
    Py_CLEAR(self->function);
    Py_CLEAR(self->raised);
    Py_CLEAR(self->raised_value);
    Py_CLEAR(self->trace);
    return 0;
}

static void law_dealloc(PyObject* object) {
    PyLaw* self = (PyLaw*)object;
    PyObject_GC_UnTrack(object);
    law_clear(object);
    Py_XDECREF(self->parts);
    Py_XDECREF(self->name);
    PyMem_Free(self->laws);
    PyMem_Free(self->weights);
    py_free(object);
}

// a subclass may have left out the constructor
static bool ready(const PyLaw* self) {
    return self->law.apply != NULL || py_refuse(CR_ERR_ARGUMENT, "law", "law: was not initialised");
}

PyLaw* py_law(PyObject* value) {
    if (PyObject_TypeCheck(value, PyLaw_Type) != 0) {
        if (!ready((PyLaw*)value)) return NULL;
        Py_INCREF(value);
        return (PyLaw*)value;
    }
    return (PyLaw*)PyObject_CallFunctionObjArgs((PyObject*)PyLaw_Type, value, NULL);
}

static PyObject* hit_dict(const crHit* hit) {
    return Py_BuildValue(
        "{s:N,s:N,s:s,s:i,s:d,s:N,s:O,s:O}", "P", py_vector(hit->P), "V_plus", py_vector(hit->V_plus),
        "regime", cr_regime_name(hit->regime), "solutions", hit->solutions, "energy_change",
        hit->energy_change, "margins", py_struct(&py_record_margins, &hit->margins), "permissible",
        hit->permissible ? Py_True : Py_False, "creates_energy", hit->creates_energy ? Py_True : Py_False);
}

static PyObject* law_contact(PyObject* object, PyObject* argument) {
    PyLaw* self = (PyLaw*)object;
    crContact contact;
    if (!ready(self) || !py_contact_from(argument, &contact)) return NULL;
    crHit hit;
    crError error = {0};
    crStatus status = cr_law_apply_contact(&self->law, &contact, &hit, &error);
    return status == CR_OK ? hit_dict(&hit) : py_raise_law(self, &error);
}

static bool collision_from(PyObject* args, PyObject* keywords, crCollision* c) {
    static char* names[] = {"W", "V", "n", "mu", "e", "et", "frame", NULL};
    *c = cr_collision();
    PyObject *W = NULL, *V, *n = NULL, *frame = NULL;
    if (!py_parse(args, keywords, "OO|OdddO", names, &W, &V, &n, &c->mu, &c->e, &c->et, &frame)) return false;
    c->has_frame = frame != NULL && frame != Py_None;
    return py_mat3(W, "W", &c->W) && py_vec3(V, "V", &c->V) && py_vec3(n, "n", &c->n) &&
           py_mat3(frame, "frame", &c->frame);
}

static PyObject* law_apply(PyObject* object, PyObject* args, PyObject* keywords) {
    PyLaw* self = (PyLaw*)object;
    crCollision collision;
    if (!ready(self) || !collision_from(args, keywords, &collision)) return NULL;
    crHit hit;
    crError error = {0};
    crStatus status = cr_law_apply(&self->law, &collision, &hit, &error);
    return status == CR_OK ? hit_dict(&hit) : py_raise_law(self, &error);
}

// {input: (P_minus, P_plus, V_minus, V_plus, normal, error)} of the inputs that the law depends on
static PyObject* derivatives(const crGradient* g) {
    PyObject* by = PyDict_New();
    for (int k = 0; by != NULL && k < CR_LAW_INPUTS; k++) {
        if (!g->reads[k]) continue;
        PyObject* item =
            Py_BuildValue("(NNNNdd)", py_vector(g->P_minus[k]), py_vector(g->P_plus[k]),
                          py_vector(g->V_minus[k]), py_vector(g->V_plus[k]), g->normal[k], g->error[k]);
        if (item == NULL || PyDict_SetItemString(by, cr_law_input_name((crLawInput)k), item) != 0)
            Py_CLEAR(by);
        Py_XDECREF(item);
    }
    return by;
}

// _gradient(tolerance, W, V, n, mu, e, et, frame)
static PyObject* law_gradient(PyObject* object, PyObject* args) {
    PyLaw* self = (PyLaw*)object;
    crCollision collision;
    Py_ssize_t count = PyTuple_Size(args);
    PyObject* rest = count > 0 ? PyTuple_GetSlice(args, 1, count) : NULL;
    double tolerance = rest != NULL ? PyFloat_AsDouble(PyTuple_GetItem(args, 0)) : 0.0;
    bool good =
        ready(self) && rest != NULL && PyErr_Occurred() == NULL && collision_from(rest, NULL, &collision);
    Py_XDECREF(rest);
    if (!good) return NULL;
    crGradient g;
    crError error = {0};
    if (cr_law_gradient(&self->law, &collision, tolerance, &g, &error) != CR_OK)
        return py_raise_law(self, &error);
    // a law that fails beside the collision is no failure of the library's
    if (py_law_raised(self)) return NULL;
    return Py_BuildValue("{s:N,s:s,s:N,s:s,s:d,s:i,s:s,s:N,s:N}", "hit", hit_dict(&g.hit), "verdict",
                         cr_smoothness_name(g.verdict), "differenced", PyBool_FromLong(g.differenced),
                         "switch", cr_switch_name(g.nearest), "distance", g.distance, "switches", g.switches,
                         "beyond", cr_regime_name(g.beyond), "jump", py_vector(g.jump), "by",
                         derivatives(&g));
}

// a number for all rows, or one for each
static PyNumbers* column(PyObject* value, const char* field, Py_ssize_t count, double otherwise) {
    if (value != NULL && value != Py_None && !py_is_number(value)) return py_array(value, field, 1, &count);
    double number = value != NULL && value != Py_None ? PyFloat_AsDouble(value) : otherwise;
    PyNumbers* array = py_new(1, &count, PY_DOUBLE);
    double* data = array != NULL ? array->data : NULL;
    for (Py_ssize_t i = 0; data != NULL && i < count; i++) {
        data[i] = number;
    }
    return array;
}

static PyObject* law_many(PyObject* object, PyObject* args, PyObject* keywords) {
    static char* names[] = {"W", "V", "n", "mu", "e", "et", NULL};
    PyLaw* self = (PyLaw*)object;
    PyObject *W, *V, *n = NULL, *mu = NULL, *e = NULL, *et = NULL;
    if (!ready(self) || !py_parse(args, keywords, "OO|OOOO:many", names, &W, &V, &n, &mu, &e, &et))
        return NULL;
    PyNumbers* in[6] = {py_array(V, "V", 2, (Py_ssize_t[2]){-1, 3})};
    Py_ssize_t count = in[0] != NULL ? in[0]->shape[0] : 0;
    if (in[0] != NULL) in[1] = py_array(W, "W", 3, (Py_ssize_t[3]){count, 3, 3});
    if (in[1] != NULL) in[2] = column(mu, "mu", count, 0.0);
    if (in[2] != NULL) in[3] = column(e, "e", count, 0.0);
    if (in[3] != NULL) in[4] = column(et, "et", count, 0.0);
    bool framed = n == NULL || n == Py_None;
    if (in[4] != NULL && !framed) in[5] = py_array(n, "n", 2, (Py_ssize_t[2]){count, 3});
    bool good = in[4] != NULL && (framed || in[5] != NULL) && count <= INT_MAX;
    PyNumbers* P = good ? py_new(2, ((Py_ssize_t[2]){count, 3}), PY_DOUBLE) : NULL;
    PyNumbers* status = P != NULL ? py_new(1, &count, PY_INT) : NULL;
    if (status != NULL) {
        Py_BEGIN_ALLOW_THREADS;
        cr_law_many(&self->law, (int)count, in[1]->data, in[0]->data, framed ? NULL : in[5]->data,
                    in[2]->data, in[3]->data, in[4]->data, P->data, status->data);
        Py_END_ALLOW_THREADS;
    }
    for (int i = 0; i < 6; i++) {
        Py_XDECREF(in[i]);
    }
    if (status != NULL && !py_law_raised(self)) return Py_BuildValue("NN", py_give(P), py_give(status));
    Py_XDECREF(P);
    Py_XDECREF(status);
    return NULL;
}

static PyObject* law_name(PyObject* object, void* closure) {
    (void)closure;
    const char* name = ((PyLaw*)object)->law.name;
    return PyUnicode_FromString(name != NULL ? name : "");
}

static PyMethodDef methods[] = {
    {"_apply", (PyCFunction)(void (*)(void))law_apply, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_contact", law_contact, METH_O, NULL},
    {"_gradient", law_gradient, METH_VARARGS, NULL},
    {"_many", (PyCFunction)(void (*)(void))law_many, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef getset[] = {{"name", law_name, NULL, "name of the law", NULL},
                               {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, PyType_GenericNew), PY_SLOT(Py_tp_init, law_init),
                              PY_SLOT(Py_tp_dealloc, law_dealloc),   PY_SLOT(Py_tp_traverse, law_traverse),
                              PY_SLOT(Py_tp_clear, law_clear),       PY_SLOT(Py_tp_methods, methods),
                              PY_SLOT(Py_tp_getset, getset),         {0, NULL}};
PyType_Spec py_law_spec = {"carom._carom.Law", sizeof(PyLaw), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
PyTypeObject* PyLaw_Type;

PyObject* py_collision(PyObject* module, PyObject* args, PyObject* keywords) {
    (void)module;
    crCollision collision;
    if (!collision_from(args, keywords, &collision)) return NULL;
    crContact contact;
    crMat3 frame;
    crError error = {0};
    if (cr_collision_contact(&collision, &contact, &frame, &error) != CR_OK) return py_raise(&error);
    return Py_BuildValue("NN", py_contact(&contact), py_matrix(frame));
}
