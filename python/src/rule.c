// rule.c - rules for many contacts by name with their parameters, and the settings of worlds.
//
// A rule that names no law or solver takes those of the world or call that uses it. Parameters are kept in
// the object, so that they live as long as the rule. Fails: unknown names and values out of range, by field.
#include "binding.h"

// arrays the rule keeps; stiffness may have any length, eps is square
static bool keep_array(PyObject* value, const char* field, int dimensions, PyNumbers** kept) {
    if (value == NULL || value == Py_None) return true;
    *kept = py_array(value, field, dimensions, (Py_ssize_t[2]){-1, -1});
    if (*kept == NULL) return false;
    if (dimensions == 2 && (*kept)->shape[0] != (*kept)->shape[1])
        return py_refuse(CR_ERR_SIZE, field, "%s: must be square", field);
    return true;
}

static bool take_solver(PyObject* value, const crSolverParams* params, crSolver* solver) {
    if (value == NULL || value == Py_None) return true;
    const char* name = py_text(value);
    crError error = {0};
    if (name == NULL) return false;
    if (cr_solver_find(name, params, solver, &error) == CR_OK) return true;
    py_raise(&error);
    return false;
}

typedef struct RuleChoices {
    PyObject *ties, *mechanism, *pick, *corner;
} RuleChoices;

static bool take_choices(const RuleChoices* given, crRuleParams* p) {
    static const char* const ties[] = {"direction", "perturb", "random", NULL};
    static const char* const mechanisms[] = {"intact", "apart", NULL};
    static const char* const picks[] = {"nearest", "hull", "arc", NULL};
    static const char* const corners[] = {"concave", "convex", NULL};
    int choice[4] = {(int)p->ties, (int)p->mechanism, (int)p->pick, (int)p->corner};
    if (!py_choice(given->ties, "ties", ties, &choice[0]) ||
        !py_choice(given->mechanism, "mechanism", mechanisms, &choice[1]) ||
        !py_choice(given->pick, "pick", picks, &choice[2]) ||
        !py_choice(given->corner, "corner", corners, &choice[3]))
        return false;
    p->ties = (crTies)choice[0];
    p->mechanism = (crMechanism)choice[1];
    p->pick = (crPick)choice[2];
    p->corner = (crCorner)choice[3];
    return true;
}

static int rule_init(PyObject* object, PyObject* args, PyObject* keywords) {
    static char* names[] = {"name", "law",    "solver",    "tolerance", "budget",      "directions",
                            "eps",  "ties",   "direction", "seed",      "extrapolate", "mechanism",
                            "pick", "corner", "threshold", "stiffness", "hertz",       NULL};
    PyRule* self = (PyRule*)object;
    if (self->rule.resolve != NULL) {
        PyErr_SetString(PyExc_TypeError, "a Rule is made once");
        return -1;
    }
    crRuleParams* p = &self->params;
    *p = cr_rule_params();
    self->solver_params = cr_solver_params();
    const char* name;
    PyObject *law = NULL, *solver = NULL, *eps = NULL, *direction = NULL, *stiffness = NULL;
    RuleChoices choices = {0};
    unsigned long long seed = p->seed;
    int extrapolate = p->extrapolate, hertz = p->hertz;
    if (!py_parse(args, keywords, "s|$OOdiiOOOKpOOOdOp:Rule", names, &name, &law, &solver, &p->tolerance,
                  &p->budget, &p->directions, &eps, &choices.ties, &direction, &seed, &extrapolate,
                  &choices.mechanism, &choices.pick, &choices.corner, &p->threshold, &stiffness, &hertz) ||
        !take_choices(&choices, p) || !py_vec3(direction, "direction", &p->direction) ||
        !take_solver(solver, &self->solver_params, &p->solver) || !keep_array(eps, "eps", 2, &self->eps) ||
        !keep_array(stiffness, "stiffness", 1, &self->stiffness))
        return -1;
    p->seed = seed;
    p->extrapolate = extrapolate != 0;
    p->hertz = hertz != 0;
    p->eps = self->eps != NULL ? self->eps->data : NULL;
    p->stiffness = self->stiffness != NULL ? self->stiffness->data : NULL;
    self->own_solver = solver != NULL && solver != Py_None;
    self->own_law = law != NULL && law != Py_None;
    if (self->own_law && (self->law = py_law(law)) == NULL) return -1;
    if (self->own_law) p->law = self->law->law;
    crError error = {0};
    if (cr_rule_find(name, p, &self->rule, &error) == CR_OK) return 0;
    py_raise(&error);
    return -1;
}

static void rule_dealloc(PyObject* object) {
    PyRule* self = (PyRule*)object;
    Py_XDECREF(self->law);
    Py_XDECREF(self->eps);
    Py_XDECREF(self->stiffness);
    py_free(object);
}

static PyObject* rule_name(PyObject* object, void* closure) {
    (void)closure;
    const char* name = ((PyRule*)object)->rule.name;
    return PyUnicode_FromString(name != NULL ? name : "");
}

static PyGetSetDef getset[] = {{"name", rule_name, NULL, "name of the rule", NULL},
                               {NULL, NULL, NULL, NULL, NULL}};

static PyType_Slot slots[] = {PY_SLOT(Py_tp_new, PyType_GenericNew),
                              PY_SLOT(Py_tp_init, rule_init),
                              PY_SLOT(Py_tp_dealloc, rule_dealloc),
                              PY_SLOT(Py_tp_getset, getset),
                              {0, NULL}};
PyType_Spec py_rule_spec = {"carom._carom.Rule", sizeof(PyRule), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                            slots};
PyTypeObject* PyRule_Type;

PyRule* py_rule(PyObject* value) {
    if (PyObject_TypeCheck(value, PyRule_Type) == 0)
        return (PyRule*)PyObject_CallFunctionObjArgs((PyObject*)PyRule_Type, value, NULL);
    if (((PyRule*)value)->rule.resolve == NULL) {
        py_refuse(CR_ERR_ARGUMENT, "rule", "rule: was not initialised");
        return NULL;
    }
    Py_INCREF(value);
    return (PyRule*)value;
}

// settings of a world

typedef struct Given {
    PyObject *method, *rule, *law, *solver, *quality, *level, *toi, *restitution;
} Given;

static bool take_names(const Given* given, crStepSettings* s) {
    static const char* const methods[] = {"cone", "lcp", "moreau", "event", NULL};
    static const char* const qualities[] = {"fast", "accurate", "certified", NULL};
    static const char* const levels[] = {"position", "velocity", NULL};
    static const char* const tois[] = {"bisect", "advance", NULL};
    static const char* const restitutions[] = {"newton", "poisson", NULL};
    int choice[5] = {(int)s->method, (int)s->quality, (int)s->level, (int)s->toi, (int)s->restitution};
    if (!py_choice(given->method, "method", methods, &choice[0]) ||
        !py_choice(given->quality, "quality", qualities, &choice[1]) ||
        !py_choice(given->level, "level", levels, &choice[2]) ||
        !py_choice(given->toi, "toi", tois, &choice[3]) ||
        !py_choice(given->restitution, "restitution", restitutions, &choice[4]))
        return false;
    s->method = (crMethod)choice[0];
    s->quality = (crQuality)choice[1];
    s->level = (crLevel)choice[2];
    s->toi = (crToi)choice[3];
    s->restitution = (crLcpRestitution)choice[4];
    return true;
}

// law, solver and rule, kept by the world
static bool take_parts(PyWorld* self, const Given* given, crStepSettings* s) {
    self->solver_params = cr_solver_params();
    if (!take_solver(given->solver, &self->solver_params, &s->solver)) return false;
    if (given->law != NULL && given->law != Py_None) {
        self->law = py_law(given->law);
        if (self->law == NULL) return false;
        s->law = self->law->law;
    }
    if (given->rule == NULL || given->rule == Py_None) return true;
    self->rule = py_rule(given->rule);
    if (self->rule == NULL) return false;
    self->rule_params = self->rule->params;
    if (!self->rule->own_law) self->rule_params.law = s->law;
    if (!self->rule->own_solver) self->rule_params.solver = s->solver;
    s->rule = self->rule->rule;
    s->rule.params = &self->rule_params;
    return true;
}

bool py_settings(PyWorld* self, PyObject* keywords, crStepSettings* s) {
    static char* names[] = {
        "method",       "dt",      "rule",        "law",        "solver",      "tol",
        "quality",      "threads", "threshold",   "cluster",    "deadband",    "position_tol",
        "impact_limit", "level",   "fixed_point", "directions", "restitution", "theta",
        "activation",   "toi",     "error",       NULL};
    *s = cr_step_settings();
    Given given = {0};
    int fixed_point = s->fixed_point;
    PyObject* none = PyTuple_New(0);
    bool good =
        none != NULL &&
        py_parse(none, keywords, "|$OdOOOdOiddddiOpiOddOd:World", names, &given.method, &s->dt, &given.rule,
                 &given.law, &given.solver, &s->tol, &given.quality, &s->threads, &s->threshold, &s->cluster,
                 &s->deadband, &s->position_tol, &s->impact_limit, &given.level, &fixed_point, &s->directions,
                 &given.restitution, &s->theta, &s->activation, &given.toi, &s->error) != 0;
    Py_XDECREF(none);
    s->fixed_point = fixed_point != 0;
    return good && take_names(&given, s) && take_parts(self, &given, s);
}

PyObject* py_settings_dict(const crStepSettings* s) {
    return Py_BuildValue("{s:s,s:d,s:s,s:s,s:s,s:d,s:s,s:i,s:d,s:d}", "method", cr_method_name(s->method),
                         "dt", s->dt, "rule", s->rule.name, "law", s->law.name, "solver", s->solver.name,
                         "tol", s->tol, "quality", cr_quality_name(s->quality), "threads", s->threads,
                         "threshold", s->threshold, "error", s->error);
}
