// model.c - models: bodies, materials and loops, built from Python; shapes are in shape.c.
//
// A model may grow until a world or an array looks at it; while one does, adding to it is refused, so that
// views never point to memory that moved. Fails: what the library refuses, at once and by field.
#include <math.h>
#include <stddef.h>

#include "binding.h"
#include "io/names.h"

// holds

PyObject* py_hold(PyModel* model) {
    PyHold* hold = (PyHold*)PyType_GenericAlloc(PyHold_Type, 0);
    if (hold == NULL) return NULL;
    Py_INCREF(model);
    hold->model = model;
    model->holds++;
    return (PyObject*)hold;
}

static int hold_traverse(PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(((PyHold*)object)->model);
    return 0;
}

static void hold_dealloc(PyObject* object) {
    PyHold* self = (PyHold*)object;
    PyObject_GC_UnTrack(object);
    self->model->holds--;
    Py_DECREF(self->model);
    py_free(object);
}

static PyType_Slot hold_slots[] = {
    PY_SLOT(Py_tp_dealloc, hold_dealloc), PY_SLOT(Py_tp_traverse, hold_traverse), {0, NULL}};
PyType_Spec py_hold_spec = {"carom._carom.Hold", sizeof(PyHold), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                            hold_slots};
PyTypeObject* PyHold_Type;

// the model

static PyObject* model_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
    (void)args;
    (void)keywords;
    PyModel* self = (PyModel*)PyType_GenericAlloc(type, 0);
    if (self == NULL) return NULL;
    self->model = cr_model_create(NULL);
    if (self->model != NULL) return (PyObject*)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

PyObject* py_model_of(crModel* model, PyObject* owner) {
    PyModel* self = (PyModel*)PyType_GenericAlloc(py_classes.model, 0);
    if (self == NULL) return NULL;
    Py_INCREF(owner);
    self->owner = owner;
    self->model = model;
    self->holds = 1;
    return (PyObject*)self;
}

static int model_traverse(PyObject* object, visitproc visit, void* arg) {
    PyModel* self = (PyModel*)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->owner);
    Py_VISIT(self->laws);
    return py_callbacks_visit(self, visit, arg);
}

static int model_clear(PyObject* object) {
    py_callbacks_clear((PyModel*)object);
    return 0;
}

static void model_dealloc(PyObject* object) {
    PyModel* self = (PyModel*)object;
    PyObject_GC_UnTrack(object);
    if (self->owner == NULL) cr_model_destroy(self->model);
    py_callbacks_free(self);
    py_pieces_free(self);
    Py_XDECREF(self->laws);
    Py_XDECREF(self->owner);
    py_free(object);
}

bool py_model_may_change(const PyModel* self) {
    if (self->owner != NULL)
        return py_refuse(CR_ERR_ARGUMENT, "model", "model: belongs to a scene and cannot change");
    if (self->holds > 0)
        return py_refuse(CR_ERR_ARGUMENT, "model",
                         "model: %ld worlds or arrays look at it, and it cannot change while they do",
                         (long)self->holds);
    return true;
}

PyObject* py_model_added(PyModel* self, int index) {
    if (index >= 0) return PyLong_FromLong(index);
    crError error = self->model->error;
    if (error.status == CR_OK)
        cr_error_set(&error, (crStatus)index, "", "%s", cr_status_text((crStatus)index));
    self->model->error = (crError){0};
    return py_raise(&error);
}

// None, or the refusal
static PyObject* done(PyModel* self, crStatus status) {
    if (status != CR_OK) return py_model_added(self, (int)status);
    Py_RETURN_NONE;
}

#define SURFACE_NAMES                                                                          \
    "mu", "e", "et", "mu2", "axis", "polygon", "mu_spin", "mu_roll", "viscous", "mu_stribeck", \
        "speed_stribeck"
#define SURFACE_FORMAT "OOOdOOddddd"
#define SURFACE_PLACES(x)                                                                             \
    &(x).mu, &(x).e, &(x).et, &(x).s->mu2, &(x).axis, &(x).polygon, &(x).s->mu_spin, &(x).s->mu_roll, \
        &(x).s->viscous, &(x).s->mu_stribeck, &(x).s->speed_stribeck

// what a surface is given by, until the model has its own copy
typedef struct SurfaceInput {
    crSurface* s;
    PyObject *mu, *e, *et, *axis, *polygon;
    PyNumbers* vertices;
    crRestitution restitution;
    double* table;
    crByImpact by_impact;
    crCurveRoom* rooms[3];
} SurfaceInput;

static bool take_coefficients(PyModel* self, SurfaceInput* in) {
    crByImpact* by = &in->by_impact;
    bool curve = in->e != NULL && PyDict_Check(in->e) != 0;
    bool ok = curve ? py_coefficient(self, in->e, "e", &in->s->e, &by->e, &in->rooms[0])
                    : py_restitution(self, in->e, in->s, &in->restitution, &in->table);
    ok = ok && py_coefficient(self, in->et, "et", &in->s->et, &by->et, &in->rooms[1]) &&
         py_coefficient(self, in->mu, "mu", &in->s->mu, &by->mu, &in->rooms[2]);
    if (by->e != NULL || by->et != NULL || by->mu != NULL) in->s->by_impact = by;
    return ok;
}

static bool take_surface(PyModel* self, SurfaceInput* in) {
    if (!py_vec3(in->axis, "axis", &in->s->axis) || !take_coefficients(self, in)) return false;
    if (in->polygon == NULL || in->polygon == Py_None) return true;
    in->vertices = py_array(in->polygon, "polygon", 2, (Py_ssize_t[2]){-1, 2});
    if (in->vertices == NULL) return false;
    in->s->vertex_count = (int)in->vertices->shape[0];
    in->s->vertices = in->vertices->data;
    return true;
}

static void drop_surface(SurfaceInput* in) {
    Py_XDECREF(in->vertices);
    PyMem_Free(in->table);
    for (int i = 0; i < 3; i++) {
        PyMem_Free(in->rooms[i]);
    }
}

static PyObject* add_material(PyObject* object, PyObject* args, PyObject* keywords) {
    static char* names[] = {"name", "density", SURFACE_NAMES, NULL};
    PyModel* self = (PyModel*)object;
    crMaterial m = cr_material();
    SurfaceInput in = {.s = &m.surface};
    m.surface.mu2 = NAN;
    if (!py_parse(args, keywords, "|z$d" SURFACE_FORMAT ":add_material", names, &m.name, &m.density,
                  SURFACE_PLACES(in)) ||
        !py_model_may_change(self))
        return NULL;
    PyObject* index =
        take_surface(self, &in) ? py_model_added(self, cr_model_add_material(self->model, &m)) : NULL;
    drop_surface(&in);
    return index;
}

// the law of a pair, which the model keeps
static bool take_law(PyModel* self, PyObject* value, crSurface* surface) {
    if (value == NULL || value == Py_None) return true;
    PyLaw* law = py_law(value);
    if (law == NULL) return false;
    // a model runs on many threads, and nobody would ask it what a function raised
    bool ok = law->function == NULL ||
              py_refuse(CR_ERR_ARGUMENT, "law", "law: a pair takes a law of the catalogue, not a function");
    if (ok && self->laws == NULL) self->laws = PyList_New(0);
    ok = ok && self->laws != NULL && PyList_Append(self->laws, (PyObject*)law) == 0;
    surface->law = &law->law;
    Py_DECREF(law);
    return ok;
}

static PyObject* add_pair(PyObject* object, PyObject* args, PyObject* keywords) {
    static char* names[] = {"material_a", "material_b", SURFACE_NAMES, "law", NULL};
    PyModel* self = (PyModel*)object;
    crSurface surface = cr_material().surface;
    SurfaceInput in = {.s = &surface};
    PyObject* law = NULL;
    int a, b;
    surface.mu2 = NAN;
    if (!py_parse(args, keywords, "ii|$" SURFACE_FORMAT "O:add_pair", names, &a, &b, SURFACE_PLACES(in),
                  &law) ||
        !py_model_may_change(self))
        return NULL;
    bool ok = take_surface(self, &in) && take_law(self, law, &surface);
    PyObject* none = ok ? done(self, cr_model_add_pair(self->model, a, b, &surface)) : NULL;
    drop_surface(&in);
    return none;
}

static PyObject* exclude(PyObject* object, PyObject* args) {
    PyModel* self = (PyModel*)object;
    int a, b;
    static char* names[] = {"a", "b", NULL};
    if (!py_parse(args, NULL, "ii:exclude", names, &a, &b) || !py_model_may_change(self)) return NULL;
    return done(self, cr_model_exclude(self->model, a, b));
}

static PyObject* set_filter(PyObject* object, PyObject* args) {
    PyModel* self = (PyModel*)object;
    int shape;
    unsigned long long group, mask;
    static char* names[] = {"shape", "group", "mask", NULL};
    if (!py_parse(args, NULL, "iKK:filter", names, &shape, &group, &mask) || !py_model_may_change(self))
        return NULL;
    return done(self, cr_model_set_filter(self->model, shape, group, mask));
}

static bool take_inertia(PyObject* value, crSym3* out) {
    if (value == NULL || value == Py_None) return true;
    double d[3] = {0};
    crMat3 full = {0};
    if (PySequence_Check(value) && PySequence_Size(value) == 3) {
        PyObject* first = PySequence_GetItem(value, 0);
        bool diagonal = first != NULL && PyNumber_Check(first) != 0 && PySequence_Check(first) == 0;
        Py_XDECREF(first);
        if (diagonal) {
            if (!py_doubles(value, "inertia", 3, d)) return false;
            *out = (crSym3){d[0], 0.0, 0.0, d[1], 0.0, d[2]};
            return true;
        }
    }
    if (!py_mat3(value, "inertia", &full)) return false;
    *out = cr_mat3_symmetric(full);
    return true;
}

// one number for every velocity of the joint, or one each
static bool take_dof(PyObject* dict, const char* field, int count, crDof* dof, size_t offset) {
    PyObject* value = PyDict_GetItemString(dict, field);
    if (value == NULL || value == Py_None) return true;
    double numbers[6];
    if (py_is_number(value)) {
        for (int i = 0; i < count; i++) {
            numbers[i] = PyFloat_AsDouble(value);
        }
    } else if (!py_doubles(value, field, count, numbers)) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        memcpy((char*)&dof[i] + offset, &numbers[i], sizeof(double));
    }
    return PyErr_Occurred() == NULL;
}

static bool take_dofs(PyObject* dict, crBodyDef* def) {
    static const struct {
        const char* name;
        size_t offset;
    } fields[] = {{"lower", offsetof(crDof, lower)},
                  {"upper", offsetof(crDof, upper)},
                  {"stiffness", offsetof(crDof, stiffness)},
                  {"rest", offsetof(crDof, rest)},
                  {"damping", offsetof(crDof, damping)},
                  {"friction", offsetof(crDof, friction)},
                  {"motor_force", offsetof(crDof, motor_force)},
                  {"motor_speed", offsetof(crDof, motor_speed)},
                  {"armature", offsetof(crDof, armature)}};
    static const int velocities[] = {0, 1, 1, 3, 3, 6, 0};
    if (dict == NULL || dict == Py_None) return true;
    if (!PyDict_Check(dict)) return py_refuse(CR_ERR_TYPE, "dof", "dof: must be a dict");
    size_t known = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        known += PyDict_GetItemString(dict, fields[i].name) != NULL;
        if (!take_dof(dict, fields[i].name, velocities[def->joint], def->dof, fields[i].offset)) return false;
    }
    if (known == (size_t)PyDict_Size(dict)) return true;
    return py_refuse(CR_ERR_FIELD, "dof",
                     "dof: has an unknown key; known are lower, upper, stiffness, rest, damping, friction, "
                     "motor_force, motor_speed, armature");
}

static PyObject* add_body(PyObject* object, PyObject* args, PyObject* keywords) {
    static char* names[] = {"name",          "joint",       "pos",          "quat",    "parent",
                            "axis",          "mass",        "com",          "inertia", "dof",
                            "gravity_scale", "linear_drag", "angular_drag", "drive",   NULL};
    PyModel* self = (PyModel*)object;
    crBodyDef def = cr_body_def();
    PyObject *joint = NULL, *pos = NULL, *quat = NULL, *axis = NULL, *com = NULL, *inertia = NULL,
             *dof = NULL, *drive = NULL;
    int kind = CR_JOINT_FREE;
    const char* joints[CR_JOINT_KINDS + 1];
    cr_joint_names(joints);
    if (!py_parse(args, keywords, "|zOOO$iOdOOOdddO:add_body", names, &def.name, &joint, &pos, &quat,
                  &def.parent, &axis, &def.mass, &com, &inertia, &dof, &def.gravity_scale, &def.linear_drag,
                  &def.angular_drag, &drive) ||
        !py_choice(joint, "joint", joints, &kind) || !py_vec3(pos, "pos", &def.pose.p) ||
        !py_quat(quat, "quat", &def.pose.q) || !py_vec3(axis, "axis", &def.axis) ||
        !py_vec3(com, "com", &def.com) || !take_inertia(inertia, &def.inertia))
        return NULL;
    def.joint = (crJoint)kind;
    if (!take_dofs(dof, &def) || !py_model_may_change(self) || !py_drive(self, drive, &def)) return NULL;
    return py_model_added(self, cr_model_add_body(self->model, &def));
}

static PyObject* add_loop(PyObject* object, PyObject* args, PyObject* keywords) {
    static const char* const kinds[] = {"connect", "weld", "distance", "joint", NULL};
    static char* names[] = {"kind",   "a",      "b",    "pos_a", "pos_b", "quat_a",
                            "quat_b", "length", "coef", "range", NULL};
    PyModel* self = (PyModel*)object;
    PyObject *kind, *pos_a = NULL, *pos_b = NULL, *quat_a = NULL, *quat_b = NULL, *coef = NULL, *range = NULL;
    int a, b, index = 0;
    double length = NAN, ends[2] = {0.0, 0.0};
    if (!py_parse(args, keywords, "Oii|OOOOdOO:add_loop", names, &kind, &a, &b, &pos_a, &pos_b, &quat_a,
                  &quat_b, &length, &coef, &range) ||
        !py_choice(kind, "kind", kinds, &index))
        return NULL;
    crLoop loop = cr_loop((crLoopKind)index, a, b);
    if (!isnan(length)) loop.length = length;
    if (!py_vec3(pos_a, "pos_a", &loop.pose_a.p) || !py_vec3(pos_b, "pos_b", &loop.pose_b.p) ||
        !py_quat(quat_a, "quat_a", &loop.pose_a.q) || !py_quat(quat_b, "quat_b", &loop.pose_b.q) ||
        !py_doubles(coef, "coef", 5, loop.coef) || !py_doubles(range, "range", 2, ends) ||
        !py_model_may_change(self))
        return NULL;
    loop.lower = ends[0];
    loop.upper = ends[1];
    return py_model_added(self, cr_model_add_loop(self->model, &loop));
}

static const char* body_at(const void* ctx, int index) {
    const crModel* model = ctx;
    if (index >= model->nb) return NULL;
    return model->bodies[index].name != NULL ? model->bodies[index].name : "";
}

static PyObject* find_body(PyObject* object, PyObject* name) {
    PyModel* self = (PyModel*)object;
    const char* text = py_text(name);
    if (text == NULL) return NULL;
    int body = cr_model_find_body(self->model, text);
    if (body >= 0) return PyLong_FromLong(body);
    const char* near = cr_name_nearest(text, body_at, self->model);
    py_refuse(CR_ERR_NAME, "name", "name: there is no body '%.80s'%s%s%s", text,
              near != NULL ? "; did you mean '" : "", near != NULL ? near : "", near != NULL ? "'?" : "");
    return NULL;
}

static PyObject* body_dofs(PyObject* object, PyObject* index) {
    PyModel* self = (PyModel*)object;
    long body = PyLong_AsLong(index);
    if (body == -1 && PyErr_Occurred() != NULL) return NULL;
    if (body < 0 || body >= self->model->nb) {
        py_refuse_index("body", body, self->model->nb);
        return NULL;
    }
    const crBody* b = &self->model->bodies[body];
    return Py_BuildValue("iiii", b->q, b->nq, b->v, b->nv);
}

// attributes

static PyObject* view(PyModel* self, const void* data, int dimensions, const Py_ssize_t* shape,
                      Py_ssize_t stride) {
    PyObject* hold = py_hold(self);
    if (hold == NULL) return NULL;
    PyObject* array = py_view_strided(hold, data, dimensions, shape, stride);
    Py_DECREF(hold);
    return array;
}

static PyObject* get_mass(PyObject* object, void* closure) {
    (void)closure;
    PyModel* self = (PyModel*)object;
    Py_ssize_t shape[1] = {self->model->nb};
    return view(self, &self->model->bodies[0].mass, 1, shape, sizeof(crBody));
}

static PyObject* get_com(PyObject* object, void* closure) {
    (void)closure;
    PyModel* self = (PyModel*)object;
    Py_ssize_t shape[2] = {self->model->nb, 3};
    return view(self, &self->model->bodies[0].com, 2, shape, sizeof(crBody));
}

static PyObject* get_q0(PyObject* object, void* closure) {
    (void)closure;
    PyModel* self = (PyModel*)object;
    Py_ssize_t shape[1] = {self->model->nq};
    return view(self, self->model->q0, 1, shape, sizeof(double));
}

static PyObject* get_gravity(PyObject* object, void* closure) {
    (void)closure;
    return py_vector(((PyModel*)object)->model->gravity);
}

static int set_gravity(PyObject* object, PyObject* value, void* closure) {
    (void)closure;
    PyModel* self = (PyModel*)object;
    crVec3 gravity = self->model->gravity;
    if (value == NULL) PyErr_SetString(PyExc_TypeError, "gravity cannot be deleted");
    if (value == NULL || !py_vec3(value, "gravity", &gravity) || !py_model_may_change(self)) return -1;
    if (!cr_vec3_finite(gravity)) {
        py_refuse(CR_ERR_FINITE, "gravity", "gravity: must be three finite numbers");
        return -1;
    }
    self->model->gravity = gravity;
    return 0;
}

static PyObject* get_names(PyObject* object, void* closure) {
    (void)closure;
    PyModel* self = (PyModel*)object;
    PyObject* list = PyList_New(self->model->nb);
    for (int i = 0; list != NULL && i < self->model->nb; i++) {
        const char* name = self->model->bodies[i].name;
        PyObject* item = PyUnicode_FromString(name != NULL ? name : "");
        if (item == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SetItem(list, i, item);
    }
    return list;
}

// which count of the model
static PyObject* get_count(PyObject* object, void* closure) {
    const char* base = (const char*)((PyModel*)object)->model;
    return PyLong_FromLong(*(const int*)(const void*)(base + (size_t)(uintptr_t)closure));
}

static PyObject* get_shapes(PyObject* object, void* closure) {
    (void)closure;
    const crModel* model = ((PyModel*)object)->model;
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < model->shape_count; i++) {
        const crBodyShape* s = &model->shapes[i];
        const crPose* p = &s->shape.pose;
        PyObject* item = Py_BuildValue(
            "{s:s,s:i,s:i,s:(ddd),s:d,s:(ddd),s:(dddd)}", "kind", cr_shape_info(s->shape.kind)->name, "body",
            s->body, "material", s->material, "size", s->shape.size.x, s->shape.size.y, s->shape.size.z,
            "offset", s->shape.offset, "pos", p->p.x, p->p.y, p->p.z, "quat", p->q.w, p->q.x, p->q.y, p->q.z);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef methods[] = {
    {"_add_material", (PyCFunction)(void (*)(void))add_material, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_add_pair", (PyCFunction)(void (*)(void))add_pair, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_exclude", exclude, METH_VARARGS, NULL},
    {"_filter", set_filter, METH_VARARGS, NULL},
    {"_add_body", (PyCFunction)(void (*)(void))add_body, METH_VARARGS | METH_KEYWORDS, NULL},
    {"_add_shape", py_add_shape, METH_VARARGS, NULL},
    {"_add_loop", (PyCFunction)(void (*)(void))add_loop, METH_VARARGS | METH_KEYWORDS, NULL},
    {"find", find_body, METH_O, "Index of the body of this name."},
    {"_dofs", body_dofs, METH_O, NULL},
    {NULL, NULL, 0, NULL}};

#define COUNT(name, text) {#name, get_count, NULL, text, (void*)offsetof(crModel, name)}
static PyGetSetDef getset[] = {
    {"mass", get_mass, NULL, "masses of the bodies, kg (nb); a view", NULL},
    {"com", get_com, NULL, "centres of mass in the bodies' frames, m (nb, 3); a view", NULL},
    {"q0", get_q0, NULL, "reference position (nq); a view", NULL},
    {"gravity", get_gravity, set_gravity, "m/s^2", NULL},
    {"names", get_names, NULL, "names of the bodies; '' where there is none", NULL},
    {"_shapes", get_shapes, NULL, NULL, NULL},
    COUNT(nb, "bodies, the world included"),
    COUNT(nq, "coordinates"),
    COUNT(nv, "velocities"),
    {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, model_new),
                              PY_SLOT(Py_tp_dealloc, model_dealloc),
                              PY_SLOT(Py_tp_traverse, model_traverse),
                              PY_SLOT(Py_tp_clear, model_clear),
                              PY_SLOT(Py_tp_methods, methods),
                              PY_SLOT(Py_tp_getset, getset),
                              {0, NULL}};
PyType_Spec py_model_spec = {"carom._carom.Model", sizeof(PyModel), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
PyTypeObject* PyModel_Type;
