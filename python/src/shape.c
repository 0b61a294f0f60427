// shape.c - shapes of a model from Python: hulls, meshes and fields are made here and live as long as the model.
//
// Fails: what the library refuses, by field; an unknown kind of shape.
#include "binding.h"
#include "io/scene_parts.h"

// what a shape points to, and how it is freed
typedef struct ModelPiece {
    void* data;
    void (*destroy)(void* data);
    struct ModelPiece* next;
} ModelPiece;

void py_pieces_free(PyModel* self) {
    while (self->pieces != NULL) {
        ModelPiece* next = self->pieces->next;
        self->pieces->destroy(self->pieces->data);
        PyMem_Free(self->pieces);
        self->pieces = next;
    }
}

static bool own(PyModel* self, void* data, void (*destroy)(void*)) {
    ModelPiece* piece = PyMem_Malloc(sizeof *piece);
    if (piece == NULL) {
        destroy(data);
        PyErr_NoMemory();
        return false;
    }
    *piece = (ModelPiece){data, destroy, self->pieces};
    self->pieces = piece;
    return true;
}

static void destroy_hull(void* data) { cr_hull_destroy(data); }
static void destroy_mesh(void* data) { cr_mesh_destroy(data); }
static void destroy_field(void* data) { cr_heightfield_destroy(data); }

static bool make_hull(PyModel* self, PyObject* data, crShape* shape) {
    PyNumbers* points = py_array(data, "vertices", 2, (Py_ssize_t[2]){-1, 3});
    if (points == NULL) return false;
    crHull* hull = NULL;
    crError error = {0};
    crStatus status = cr__hull_of_points(points->data, (int)points->shape[0], &hull, &error);
    Py_DECREF(points);
    if (status != CR_OK) py_raise(&error);
    if (status != CR_OK || !own(self, hull, destroy_hull)) return false;
    *shape = cr_shape_hull(hull);
    return true;
}

static bool make_mesh(PyModel* self, PyObject* data, crShape* shape) {
    PyObject *vertices, *triangles;
    if (!PyArg_ParseTuple(data, "OO", &vertices, &triangles)) return false;
    PyNumbers* points = py_array(vertices, "vertices", 2, (Py_ssize_t[2]){-1, 3});
    PyNumbers* loops =
        points != NULL ? py_int_array(triangles, "triangles", 2, (Py_ssize_t[2]){-1, 3}) : NULL;
    bool good = loops != NULL;
    crMesh* mesh = NULL;
    if (good) {
        crMeshDef def = {(int)points->shape[0], points->data, (int)loops->shape[0], loops->data};
        crError error = {0};
        good = cr_mesh_create(&def, NULL, &mesh, &error) == CR_OK;
        if (!good) py_raise(&error);
    }
    Py_XDECREF(points);
    Py_XDECREF(loops);
    if (!good || !own(self, mesh, destroy_mesh)) return false;
    *shape = cr_shape_mesh(mesh);
    return true;
}

static bool make_field(PyModel* self, PyObject* data, crShape* shape) {
    PyObject* heights;
    crHeightFieldDef def = {0};
    if (!PyArg_ParseTuple(data, "Odd", &heights, &def.dx, &def.dy)) return false;
    PyNumbers* z = py_array(heights, "heights", 2, (Py_ssize_t[2]){-1, -1});
    if (z == NULL) return false;
    def.nx = (int)z->shape[1];
    def.ny = (int)z->shape[0];
    def.z = z->data;
    crHeightField* field = NULL;
    crError error = {0};
    crStatus status = cr_heightfield_create(&def, NULL, &field, &error);
    Py_DECREF(z);
    if (status != CR_OK) py_raise(&error);
    if (status != CR_OK || !own(self, field, destroy_field)) return false;
    *shape = cr_shape_heightfield(field);
    return true;
}

static bool make_shape(PyModel* self, const char* kind, PyObject* data, crShape* shape) {
    double s[4] = {0};
    crVec3 n = {0};
    if (strcmp(kind, "hull") == 0) return make_hull(self, data, shape);
    if (strcmp(kind, "mesh") == 0) return make_mesh(self, data, shape);
    if (strcmp(kind, "heightfield") == 0) return make_field(self, data, shape);
    if (strcmp(kind, "halfspace") == 0) {
        if (!py_doubles(data, "halfspace", 4, s)) return false;
        n = cr_vec3(s[0], s[1], s[2]);
        *shape = cr_shape_halfspace(n, s[3]);
        return true;
    }
    for (int i = 0; i < CR_SHAPE_KINDS; i++) {
        const crShapeInfo* info = cr_shape_info((crShapeKind)i);
        if (info->sizes == 0 || strcmp(info->name, kind) != 0) continue;
        if (!py_doubles(data, "size", info->sizes, s)) return false;
        *shape = cr_shape((crShapeKind)i, s);
        return true;
    }
    return py_refuse(CR_ERR_NAME, "shape", "shape: there is no shape '%.40s'", kind);
}

// _add_shape(body, kind, data, material, pos, quat)
PyObject* py_add_shape(PyObject* object, PyObject* args) {
    PyModel* self = (PyModel*)object;
    int body, material;
    const char* kind;
    PyObject *data, *pos, *quat;
    crShape shape;
    static char* names[] = {"body", "kind", "size", "material", "pos", "quat", NULL};
    if (!py_parse(args, NULL, "isOiOO:shape", names, &body, &kind, &data, &material, &pos, &quat) ||
        !py_model_may_change(self) || !make_shape(self, kind, data, &shape) ||
        !py_vec3(pos, "pos", &shape.pose.p) || !py_quat(quat, "quat", &shape.pose.q))
        return NULL;
    return py_model_added(self, cr_model_add_shape(self->model, body, &shape, material));
}
