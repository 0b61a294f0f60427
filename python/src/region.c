// region.c - impulse space of one contact: points, verdicts and the permissible region (impulse.h), the
// collision of two rigid bodies, and what the catalogues say.
//
// Everything works in the contact frame; points and meshes are new arrays. Fails: what the library refuses;
// a region without such a point, section or mesh gives None.
#include "carom/region.h"
#include "binding.h"

#define SECTION_MAX 100000

static PyObject* point_or_none(bool found, crVec3 P) {
    if (found) return py_vector(P);
    Py_RETURN_NONE;
}

static PyObject* section(const crContact* c, PyObject* args) {
    PyObject *unused, *what;
    double azimuth;
    int count;
    if (!PyArg_ParseTuple(args, "OOdi", &unused, &what, &azimuth, &count)) return NULL;
    if (count < 4 || count > SECTION_MAX) {
        py_refuse(CR_ERR_RANGE, "count", "count: is %d, must be 4 to %d", count, SECTION_MAX);
        return NULL;
    }
    Py_ssize_t shape[2] = {count, 3};
    PyNumbers* points = py_new(2, shape, PY_DOUBLE);
    if (points == NULL) return NULL;
    if (cr_region_section(c, azimuth, count, points->data)) return py_give(points);
    Py_DECREF(points);
    Py_RETURN_NONE;
}

static PyObject* mesh(const crContact* c, PyObject* args) {
    PyObject *unused, *what;
    int level;
    if (!PyArg_ParseTuple(args, "OOi", &unused, &what, &level)) return NULL;
    if (level < 0 || level > CR_REGION_MAX_LEVEL) {
        py_refuse(CR_ERR_RANGE, "level", "level: is %d, must be 0 to %d", level, CR_REGION_MAX_LEVEL);
        return NULL;
    }
    Py_ssize_t vertex_shape[2] = {cr_region_mesh_vertices(level), 3};
    Py_ssize_t triangle_shape[2] = {cr_region_mesh_triangles(level), 3};
    PyNumbers* vertices = py_new(2, vertex_shape, PY_DOUBLE);
    PyNumbers* triangles = vertices != NULL ? py_new(2, triangle_shape, PY_INT) : NULL;
    if (triangles != NULL && cr_region_mesh(c, level, vertices->data, triangles->data))
        return Py_BuildValue("NN", py_give(vertices), py_give(triangles));
    bool failed = triangles == NULL;
    Py_XDECREF(vertices);
    Py_XDECREF(triangles);
    if (failed) return NULL;
    Py_RETURN_NONE;
}

static PyObject* routh_path(const crContact* c) {
    Py_ssize_t shape[2] = {256, 3};
    PyNumbers* points = py_new(2, shape, PY_DOUBLE);
    if (points == NULL) return NULL;
    int count = cr_routh_path(c, NULL, (int)shape[0], points->data);
    crError error = {0};
    if (count < 0) cr_error_set(&error, (crStatus)count, "contact", "%s", cr_status_text((crStatus)count));
    if (count > 0) {
        points->shape[0] = count;
        return py_give(points);
    }
    Py_DECREF(points);
    if (count < 0) return py_raise(&error);
    Py_RETURN_NONE;
}

static PyObject* ellipsoid(const crContact* c, PyObject* args) {
    PyObject *unused, *what;
    double Ec;
    crEllipsoid e;
    if (!PyArg_ParseTuple(args, "OOd", &unused, &what, &Ec)) return NULL;
    if (!cr_impulse_ellipsoid(c, Ec, &e)) Py_RETURN_NONE;
    return Py_BuildValue("NNN", py_vector(e.center),
                         py_vector(cr_vec3(e.radius[0], e.radius[1], e.radius[2])), py_matrix(e.axes));
}

static PyObject* extent(const crContact* c, PyObject* args) {
    PyObject *unused, *what, *from, *along;
    crVec3 P0 = {0}, d = {0};
    if (!PyArg_ParseTuple(args, "OOOO", &unused, &what, &from, &along) || !py_vec3(from, "P0", &P0) ||
        !py_vec3(along, "d", &d))
        return NULL;
    return PyFloat_FromDouble(cr_region_extent(c, P0, d));
}

static PyObject* project(const crContact* c, PyObject* args) {
    PyObject *unused, *what, *value;
    crVec3 wish = {0}, P = {0};
    crError error = {0};
    if (!PyArg_ParseTuple(args, "OOO", &unused, &what, &value) || !py_vec3(value, "wish", &wish)) return NULL;
    return cr_region_project(c, wish, &P, &error) == CR_OK ? py_vector(P) : py_raise(&error);
}

static PyObject* spherical(const crContact* c, PyObject* args) {
    PyObject *unused, *what;
    double psi1, psi2, rho;
    crVec3 P = {0};
    crError error = {0};
    if (!PyArg_ParseTuple(args, "OOddd", &unused, &what, &psi1, &psi2, &rho)) return NULL;
    return cr_region_from_spherical(c, psi1, psi2, rho, &P, &error) == CR_OK ? py_vector(P)
                                                                             : py_raise(&error);
}

static PyObject* to_spherical(const crContact* c, PyObject* args) {
    PyObject *unused, *what, *value;
    crVec3 P = {0};
    double psi1, psi2, rho;
    crError error = {0};
    if (!PyArg_ParseTuple(args, "OOO", &unused, &what, &value) || !py_vec3(value, "P", &P)) return NULL;
    if (cr_region_to_spherical(c, P, &psi1, &psi2, &rho, &error) != CR_OK) return py_raise(&error);
    return Py_BuildValue("ddd", psi1, psi2, rho);
}

// _region(contact, what, ...): one function of the region by name
PyObject* py_region(PyObject* module, PyObject* args) {
    (void)module;
    crContact c;
    crVec3 P = {0};
    Py_ssize_t given = PyTuple_Size(args);
    const char* what = given >= 2 ? py_text(PyTuple_GetItem(args, 1)) : NULL;
    if (what == NULL || !py_contact_from(PyTuple_GetItem(args, 0), &c)) return NULL;
    if (strcmp(what, "P_I") == 0) return point_or_none(cr_impulse_P_I(&c, &P), P);
    if (strcmp(what, "P_II") == 0) return point_or_none(cr_impulse_P_II(&c, &P), P);
    if (strcmp(what, "centroid") == 0) return point_or_none(cr_region_centroid(&c, &P), P);
    if (strcmp(what, "reach") == 0) return PyFloat_FromDouble(cr_region_reach(&c));
    if (strcmp(what, "azimuth") == 0) return PyFloat_FromDouble(cr_region_azimuth(&c));
    if (strcmp(what, "section") == 0) return section(&c, args);
    if (strcmp(what, "mesh") == 0) return mesh(&c, args);
    if (strcmp(what, "routh") == 0) return routh_path(&c);
    if (strcmp(what, "ellipsoid") == 0) return ellipsoid(&c, args);
    if (strcmp(what, "extent") == 0) return extent(&c, args);
    if (strcmp(what, "project") == 0) return project(&c, args);
    if (strcmp(what, "spherical") == 0) return spherical(&c, args);
    if (strcmp(what, "to_spherical") == 0) return to_spherical(&c, args);
    py_refuse(CR_ERR_NAME, "what", "what: there is no '%.40s' of a region", what);
    return NULL;
}

PyObject* py_verdict(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *contact, *value;
    crContact c;
    crVec3 P = {0};
    if (!PyArg_ParseTuple(args, "OO", &contact, &value) || !py_contact_from(contact, &c) ||
        !py_vec3(value, "P", &P))
        return NULL;
    crVerdict v = cr_impulse_verdict(&c, P, CR_PERMISSIBLE_TOL);
    return Py_BuildValue("{s:N,s:d,s:N,s:O,s:O}", "V_plus", py_vector(v.V_plus), "energy_change",
                         v.energy_change, "margins", py_struct(&py_record_margins, &v.margins), "permissible",
                         v.permissible ? Py_True : Py_False, "creates_energy",
                         v.creates_energy ? Py_True : Py_False);
}

// (mass, inertia, position, orientation, velocity, omega, fixed)
static bool rigid_from(PyObject* value, crRigid* body) {
    PyObject *inertia, *position, *orientation, *velocity, *omega;
    int fixed;
    crMat3 full;
    *body = cr_rigid();
    if (!PyArg_ParseTuple(value, "dOOOOOp", &body->mass, &inertia, &position, &orientation, &velocity, &omega,
                          &fixed))
        return false;
    body->fixed = fixed != 0;
    if (!py_mat3(inertia, "inertia", &full) || !py_vec3(position, "position", &body->position) ||
        !py_quat(orientation, "orientation", &body->orientation) ||
        !py_vec3(velocity, "velocity", &body->velocity) || !py_vec3(omega, "omega", &body->omega))
        return false;
    body->inertia = cr_mat3_symmetric(full);
    return true;
}

// _bodies(a, b, point, P=None): W and V of two bodies at a point; with P also their velocities after it
PyObject* py_bodies(PyObject* module, PyObject* args) {
    (void)module;
    PyObject *one, *other, *where, *impulse = Py_None;
    crRigid a, b;
    crVec3 point = {0}, P = {0};
    if (!PyArg_ParseTuple(args, "O!O!O|O", &PyTuple_Type, &one, &PyTuple_Type, &other, &where, &impulse) ||
        !rigid_from(one, &a) || !rigid_from(other, &b) || !py_vec3(where, "point", &point) ||
        !py_vec3(impulse, "P", &P))
        return NULL;
    crCollision collision = cr_collision();
    crError error = {0};
    if (cr_collision_bodies(&collision, &a, &b, point, &error) != CR_OK) return py_raise(&error);
    if (impulse == Py_None) return Py_BuildValue("NN", py_matrix(collision.W), py_vector(collision.V));
    a = cr_rigid_after(&a, point, cr_neg(P));
    b = cr_rigid_after(&b, point, P);
    return Py_BuildValue("NNNN", py_vector(a.velocity), py_vector(a.omega), py_vector(b.velocity),
                         py_vector(b.omega));
}

PyObject* py_laws(PyObject* module, PyObject* unused) {
    (void)module;
    (void)unused;
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < cr_law_count(); i++) {
        const crLawInfo* law = cr_law_info(i);
        PyObject* item = py_struct(&py_record_law, law);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

PyObject* py_rules(PyObject* module, PyObject* unused) {
    (void)module;
    (void)unused;
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < cr_rule_count(); i++) {
        const crRuleInfo* rule = cr_rule_info(i);
        PyObject* item = py_struct(&py_record_rule, rule);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

PyObject* py_solvers(PyObject* module, PyObject* unused) {
    (void)module;
    (void)unused;
    PyObject* list = PyList_New(0);
    for (int i = 0; list != NULL && i < cr_solver_count(); i++) {
        PyObject* item = PyUnicode_FromString(cr_solver_name(i));
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}
