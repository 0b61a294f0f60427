// mesh_dae.c - triangles from COLLADA files (.dae).
//
// The nodes of the visual scene place geometries by matrix, translate, rotate and scale, in the order they are written; without a scene
// every geometry stands where it is. Of <triangles>, <polylist> and <polygons> the positions count; faces of more than three
// corners are fans. Lengths are in units of <unit meter>. <up_axis> is not applied: models of robots are written in the
// axes of their links. Colours and textures are left out. Fails: a file without COLLADA's parts, with
// references to nothing or numbers that are not finite is refused by the element that names the mesh.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/import_parts.h"

#define MOST_DAE_TRIANGLES 200000
#define MOST_DAE_VERTICES  100000
#define MOST_INSTANCES     1000

typedef struct Place {
    double m[3][4];
} Place;

typedef struct Dae {
    crImporting* im;
    const crXml* element;  // names the file
    const crXml* root;
    crTriangles* mesh;
    int vertex_capacity, triangle_capacity;
    int instances;
} Dae;

static void refuse_dae(Dae* d, crStatus status, const char* what) {
    cr__import_refuse(d->im, d->element, NULL, status, "COLLADA: %s", what);
}

static Place times(const Place* a, const Place* b) {
    Place c;
    for (int i = 0; i < 12; i++) {
        int r = i / 4, k = i % 4;
        c.m[r][k] = a->m[r][0] * b->m[0][k] + a->m[r][1] * b->m[1][k] + a->m[r][2] * b->m[2][k] +
                    (k == 3 ? a->m[r][3] : 0.0);
    }
    return c;
}

static crVec3 placed(const Place* p, const double x[3]) {
    double y[3];
    for (int r = 0; r < 3; r++) {
        y[r] = p->m[r][0] * x[0] + p->m[r][1] * x[1] + p->m[r][2] * x[2] + p->m[r][3];
    }
    return cr_vec3(y[0], y[1], y[2]);
}

// Reads at most `most` numbers of a text and moves on behind them; returns how many.
static int read_numbers_dae(const char** at, int most, double* x) {
    int count = 0;
    for (; count < most; count++) {
        char* end = NULL;
        x[count] = strtod(*at, &end);
        if (end == *at) break;
        *at = end;
    }
    return count;
}

// an element of this name and id anywhere below
static const crXml* find_by_id(const crXml* from, const char* name, const char* url) {
    const char* id = url != NULL && *url == '#' ? url + 1 : url;
    if (id == NULL) return NULL;
    for (const crXml* e = from->child; e != NULL; e = e->next) {
        const crXmlAttr* own = strcmp(e->name, name) == 0 ? cr_xml_attr(e, "id") : NULL;
        if (own != NULL && strcmp(own->value, id) == 0) return e;
        const crXml* found = find_by_id(e, name, url);
        if (found != NULL) return found;
    }
    return NULL;
}

static const char* attr_dae(const crXml* element, const char* attr) {
    const crXmlAttr* found = element != NULL ? cr_xml_attr(element, attr) : NULL;
    return found != NULL ? found->value : NULL;
}

static const crXml* input_of(const crXml* element, const char* semantic) {
    for (const crXml* e = element != NULL ? element->child : NULL; e != NULL; e = e->next) {
        const char* own = strcmp(e->name, "input") == 0 ? attr_dae(e, "semantic") : NULL;
        if (own != NULL && strcmp(own, semantic) == 0) return e;
    }
    return NULL;
}

static int whole(const char* text, int otherwise) {
    return text != NULL ? (int)strtol(text, NULL, 10) : otherwise;
}

// Adds the positions that a list of faces uses; returns how many, and the first one's number in the mesh.
static int add_positions(Dae* d, const crXml* geometry, const crXml* faces, const Place* place, int* first) {
    const crXml* vertices = find_by_id(geometry, "vertices", attr_dae(input_of(faces, "VERTEX"), "source"));
    const crXml* source = find_by_id(geometry, "source", attr_dae(input_of(vertices, "POSITION"), "source"));
    const crXml* array = source != NULL ? cr_xml_child(source, "float_array") : NULL;
    const crXml* common = source != NULL ? cr_xml_child(source, "technique_common") : NULL;
    int stride = whole(attr_dae(common != NULL ? cr_xml_child(common, "accessor") : NULL, "stride"), 3);
    *first = d->mesh->vertex_count;
    if (array == NULL || stride < 3 || stride > 16) {
        refuse_dae(d, CR_ERR_MISSING, "faces without positions of three numbers");
        return 0;
    }
    double x[16];
    const char* at = array->text;
    while (cr__import_ok(d->im) && read_numbers_dae(&at, stride, x) == stride) {
        crVec3* all = cr__import_grow(d->im, d->mesh->vertices, d->mesh->vertex_count, &d->vertex_capacity,
                                      sizeof *all, MOST_DAE_VERTICES, d->element);
        if (all == NULL) return 0;
        d->mesh->vertices = all;
        all[d->mesh->vertex_count++] = placed(place, x);
    }
    return d->mesh->vertex_count - *first;
}

static void add_triangle(Dae* d, const int corner[3]) {
    int(*all)[3] = cr__import_grow(d->im, d->mesh->triangles, d->mesh->triangle_count, &d->triangle_capacity,
                                   sizeof(int[3]), MOST_DAE_TRIANGLES, d->element);
    if (all == NULL) return;
    d->mesh->triangles = all;
    memcpy(all[d->mesh->triangle_count++], corner, sizeof(int[3]));
}

// Reads one face of `corners` corners from the numbers of a <p>; false where they end or are refused.
static bool add_face_dae(Dae* d, const char** at, int corners, int stride, int offset, int first, int count) {
    int corner[3] = {0, 0, 0};
    for (int i = 0; i < corners; i++) {
        for (int k = 0; k < stride; k++) {
            char* end = NULL;
            long index = strtol(*at, &end, 10);
            if (end == *at) return false;
            *at = end;
            if (k != offset) continue;
            if (index < 0 || index >= count) {
                refuse_dae(d, CR_ERR_RANGE, "a face names a vertex that is not there");
                return false;
            }
            corner[i < 2 ? i : 2] = first + (int)index;
        }
        if (i < 2) continue;
        add_triangle(d, corner);
        corner[1] = corner[2];
    }
    return cr__import_ok(d->im);
}

static void add_faces(Dae* d, const crXml* geometry, const crXml* faces, const Place* place) {
    bool triangles = strcmp(faces->name, "triangles") == 0, listed = strcmp(faces->name, "polylist") == 0;
    int stride = 0, first = 0;
    for (const crXml* e = faces->child; e != NULL; e = e->next) {
        int offset = strcmp(e->name, "input") == 0 ? whole(attr_dae(e, "offset"), 0) : -1;
        if (offset >= stride && offset < 64) stride = offset + 1;
    }
    int offset = whole(attr_dae(input_of(faces, "VERTEX"), "offset"), 0);
    int count = add_positions(d, geometry, faces, place, &first);
    const crXml* sizes = cr_xml_child(faces, "vcount");
    const char* next = sizes != NULL ? sizes->text : "";
    for (const crXml* p = faces->child; p != NULL && cr__import_ok(d->im); p = p->next) {
        if (strcmp(p->name, "p") != 0) continue;
        const char* at = p->text;
        double many = (double)strlen(at);  // corners of a polygon: as many as there are numbers for
        bool more = true;
        while (more && cr__import_ok(d->im)) {
            char* end = NULL;
            long corners = triangles ? 3 : listed ? strtol(next, &end, 10) : (long)many;
            if (listed && end == next) break;
            if (listed) next = end;
            more = corners >= 0 && corners <= 1000000 &&
                   add_face_dae(d, &at, (int)corners, stride, offset, first, count);
        }
    }
}

static void add_geometry(Dae* d, const crXml* geometry, const Place* place) {
    const crXml* mesh = geometry != NULL ? cr_xml_child(geometry, "mesh") : NULL;
    if (++d->instances > MOST_INSTANCES) refuse_dae(d, CR_ERR_LIMIT, "too many geometries");
    if (geometry == NULL) refuse_dae(d, CR_ERR_NAME, "a node names a geometry that is not there");
    for (const crXml* e = mesh != NULL ? mesh->child : NULL; e != NULL && cr__import_ok(d->im); e = e->next) {
        bool faces = strcmp(e->name, "triangles") == 0 || strcmp(e->name, "polylist") == 0 ||
                     strcmp(e->name, "polygons") == 0;
        if (faces) add_faces(d, geometry, e, place);
    }
}

// the transformation that an element of a node stands for; false where it is none
static bool read_place(const crXml* e, Place* to) {
    double x[16] = {0};
    const char* at = e->text;
    int count = read_numbers_dae(&at, 16, x);
    *to = (Place){{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    if (strcmp(e->name, "matrix") == 0 && count == 16) {
        memcpy(to->m, x, sizeof to->m);
    } else if (strcmp(e->name, "translate") == 0 && count == 3) {
        for (int r = 0; r < 3; r++)
            to->m[r][3] = x[r];
    } else if (strcmp(e->name, "scale") == 0 && count == 3) {
        for (int r = 0; r < 3; r++)
            to->m[r][r] = x[r];
    } else if (strcmp(e->name, "rotate") == 0 && count == 4) {
        double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), half = x[3] * CR_PI / 360.0;
        if (!(length > 0.0)) return false;
        double s = cr_sin(half) / length;
        crMat3 R = cr_quat_matrix(cr_quat_normalize((crQuat){cr_cos(half), s * x[0], s * x[1], s * x[2]}));
        for (int i = 0; i < 9; i++)
            to->m[i / 3][i % 3] = R.m[i / 3][i % 3];
    } else {
        return false;
    }
    return true;
}

static void add_node(Dae* d, const crXml* node, Place place) {
    for (const crXml* e = node->child; e != NULL; e = e->next) {
        Place own;
        if (read_place(e, &own)) place = times(&place, &own);
    }
    for (const crXml* e = node->child; e != NULL && cr__import_ok(d->im); e = e->next) {
        if (strcmp(e->name, "node") == 0) add_node(d, e, place);
        if (strcmp(e->name, "instance_geometry") == 0)
            add_geometry(d, find_by_id(d->root, "geometry", attr_dae(e, "url")), &place);
    }
}

bool cr__mesh_dae(crImporting* im, const crXml* element, const char* bytes, size_t size, crTriangles* mesh) {
    Dae d = {.im = im, .element = element, .mesh = mesh};
    crXml* root = NULL;
    crError error = {0};
    if (cr_xml_parse(bytes, size, "", &im->arena, &root, &error) != CR_OK) {
        cr__import_refuse(im, element, NULL, error.status, "COLLADA: line %d: %.100s", error.line,
                          error.message);
        return false;
    }
    d.root = root;
    if (strcmp(root->name, "COLLADA") != 0) refuse_dae(&d, CR_ERR_SYNTAX, "the file is none");
    const crXml* asset = cr_xml_child(root, "asset");
    const crXml* unit = asset != NULL ? cr_xml_child(asset, "unit") : NULL;
    const char* meter = attr_dae(unit, "meter");
    double s = meter != NULL ? strtod(meter, NULL) : 1.0;
    if (!(s > 0.0 && s < 1e9)) refuse_dae(&d, CR_ERR_RANGE, "<unit> meter must be above 0");
    Place place = {{{s, 0, 0, 0}, {0, s, 0, 0}, {0, 0, s, 0}}};
    const crXml* scene = cr_xml_child(root, "scene");
    const crXml* named = scene != NULL ? cr_xml_child(scene, "instance_visual_scene") : NULL;
    const crXml* shown = find_by_id(root, "visual_scene", attr_dae(named, "url"));
    const crXml* library = cr_xml_child(root, "library_geometries");
    if (shown != NULL && cr__import_ok(im)) add_node(&d, shown, place);
    for (const crXml* e = shown == NULL && library != NULL ? library->child : NULL;
         e != NULL && cr__import_ok(im); e = e->next) {
        if (strcmp(e->name, "geometry") == 0) add_geometry(&d, e, &place);
    }
    if (cr__import_ok(im) && mesh->triangle_count == 0) refuse_dae(&d, CR_ERR_SIZE, "no faces");
    return cr__import_ok(im);
}
