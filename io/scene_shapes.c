// scene_shapes.c - one shape of a scene.
//
// Each type has its own fields, all of them required; pos, quat and axis place it in its body. A hull is
// given by its points alone (its faces are found) or finished, with its faces; a prism by a convex polygon in its xy plane, a mesh by
// vertices and triangles, a height field by a grid. Fails: a field is refused by path; geometry that the
// library refuses by its own words.
#include <stdlib.h>
#include <string.h>

#include "io/fields.h"
#include "io/scene_parts.h"

#define MOST_POINTS 100000
#define MOST_BITS   9007199254740991.0  // whole numbers that a double holds

// what every shape may have, and then its own
#define COMMON "type", "pos", "quat", "material", "comment", "group", "mask", "color"
static const char* const halfspace_fields[] = {"type",  "material", "comment", "n", "offset",
                                               "group", "mask",     "color",   NULL};
static const char* const hull_fields[] = {COMMON, "points", "faces", NULL};
static const char* const prism_fields[] = {COMMON, "axis", "points", "half", NULL};
static const char* const mesh_fields[] = {COMMON, "vertices", "triangles", NULL};
static const char* const field_fields[] = {COMMON, "nx", "ny", "dx", "dy", "z", NULL};

static double size_of_shapes(const crPlace* place, const char* name, const char* what) {
    double size = 1.0;
    cr_place_need(place, name, what);
    cr_place_number(place, name, CR_POSITIVE, &size);
    return size;
}

static crVec3 sizes_of(const crPlace* place, const char* name, const char* what) {
    crVec3 size = {1.0, 1.0, 1.0};
    cr_place_need(place, name, what);
    cr_place_vector(place, name, &size);
    if (cr_place_ok(place) && !(size.x > 0.0 && size.y > 0.0 && size.z > 0.0)) {
        cr_place_refuse(place, cr_place_get(place, name), CR_ERR_RANGE, name,
                        "must be three numbers above 0");
    }
    return size;
}

// a list of points into malloc'd memory; in two dimensions z is 0
static crVec3* points_of(const crPlace* place, const char* name, int dimension, int least, int* count) {
    cr_place_need(place, name, dimension == 2 ? "a list of points [x, y]" : "a list of points [x, y, z]");
    const crJson* list = cr_place_list(place, name, MOST_POINTS);
    if (list == NULL) return NULL;
    if (list->count < least) {
        cr_place_refuse(place, list, CR_ERR_SIZE, name, "must have at least %d points, has %d", least,
                        list->count);
        return NULL;
    }
    crVec3* points = malloc((size_t)list->count * sizeof *points);
    if (points == NULL) cr__place_memory(place);
    *count = 0;
    for (const crJson* item = list->child; item != NULL && cr_place_ok(place); item = item->next) {
        crError error = {0};
        if (cr_field_vector(item, name, dimension, &points[(*count)++], &error) != CR_OK) {
            cr_place_refuse(place, item, error.status, name, "each point must be %d numbers", dimension);
        }
    }
    return points;
}

static void free_hull(void* data) { cr_hull_destroy(data); }
static void free_mesh(void* data) { cr_mesh_destroy(data); }
static void free_field(void* data) { cr_heightfield_destroy(data); }

static void keep(const crPlace* place, crScene* scene, crStatus status, const char* name,
                 const crError* error, void* data, void (*destroy)(void*)) {
    if (status != CR_OK) {
        cr_place_blame(place, name, error);
    } else if (!cr__scene_own(scene, data, destroy)) {
        cr__place_memory(place);
    }
}

// a finished hull: each face a loop of points, counterclockwise from outside
static crStatus hull_of_faces(const crPlace* place, const crVec3* points, int count, crHull** hull,
                              crError* error) {
    const crJson* list = cr_place_list(place, "faces", MOST_POINTS);
    size_t corners = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL; item = item->next) {
        corners += (size_t)item->count;
    }
    int* sizes = malloc((list != NULL ? (size_t)list->count : 0) * sizeof *sizes + 1);
    int* loops = malloc(corners * sizeof *loops + 1);
    if (sizes == NULL || loops == NULL) cr__place_memory(place);
    crHullDef def = {count, points, 0, sizes, loops};
    size_t used = 0;
    for (const crJson* item = list != NULL ? list->child : NULL; item != NULL && cr_place_ok(place);
         item = item->next) {
        sizes[def.face_count++] = item->count;
        bool good = item->type == CR_JSON_ARRAY && item->count >= 3;
        for (const crJson* corner = good ? item->child : NULL; corner != NULL; corner = corner->next) {
            double n = corner->number;
            good = good && corner->type == CR_JSON_NUMBER && n >= 0.0 && n < count && floor(n) == n;
            loops[used++] = good ? (int)n : 0;
        }
        if (!good)
            cr_place_refuse(place, item, CR_ERR_RANGE, "faces",
                            "each must be three or more numbers of points, 0 to %d", count - 1);
    }
    crStatus status = cr_place_ok(place) ? cr_hull_create(&def, NULL, hull, error) : CR_OK;
    free(sizes);
    free(loops);
    return status;
}

static crShape read_hull(const crPlace* place, crScene* scene, bool prism) {
    int count = 0;
    double half = prism ? size_of_shapes(place, "half", "half its thickness, m") : 0.0;
    crVec3* points = points_of(place, "points", prism ? 2 : 3, prism ? 3 : 4, &count);
    crHull* hull = NULL;
    if (cr_place_ok(place)) {
        crError error = {0};
        bool finished = !prism && cr_place_get(place, "faces") != NULL;
        crStatus status = prism      ? cr_hull_create_prism(points, count, half, NULL, &hull, &error)
                          : finished ? hull_of_faces(place, points, count, &hull, &error)
                                     : cr__hull_of_points(points, count, &hull, &error);
        if (cr_place_ok(place))
            keep(place, scene, status, finished ? "faces" : "points", &error, hull, free_hull);
    }
    free(points);
    return cr_place_ok(place) ? cr_shape_hull(hull) : cr_shape_sphere(1.0);
}

static void read_triangles(const crPlace* place, int (*triangles)[3], const crJson* list) {
    int i = 0;
    for (const crJson* item = list->child; item != NULL && cr_place_ok(place); item = item->next, i++) {
        double corner[3] = {0};
        int count = 0;
        crError error = {0};
        crStatus status = cr_field_numbers(item, "triangles", 3, 3, corner, &count, &error);
        for (int k = 0; k < 3; k++) {
            bool whole = corner[k] >= 0.0 && corner[k] <= MOST_POINTS && floor(corner[k]) == corner[k];
            if (!whole) status = CR_ERR_RANGE;
            triangles[i][k] = whole ? (int)corner[k] : 0;
        }
        if (status != CR_OK)
            cr_place_refuse(place, item, status, "triangles", "each must be three numbers of vertices");
    }
}

static crShape read_mesh(const crPlace* place, crScene* scene) {
    int count = 0;
    crVec3* vertices = points_of(place, "vertices", 3, 3, &count);
    cr_place_need(place, "triangles", "a list of [i, j, k], counterclockwise from outside");
    const crJson* list = cr_place_list(place, "triangles", 2 * MOST_POINTS);
    int(*triangles)[3] = list != NULL ? malloc(((size_t)list->count + 1) * sizeof *triangles) : NULL;
    crMesh* mesh = NULL;
    if (list != NULL && triangles == NULL) cr__place_memory(place);
    if (cr_place_ok(place)) read_triangles(place, triangles, list);
    if (cr_place_ok(place)) {
        crError error = {0};
        crMeshDef def = {count, vertices, list->count, (const int(*)[3])triangles};
        crStatus status = cr_mesh_create(&def, NULL, &mesh, &error);
        keep(place, scene, status, "triangles", &error, mesh, free_mesh);
    }
    free(vertices);
    free(triangles);
    return cr_place_ok(place) ? cr_shape_mesh(mesh) : cr_shape_sphere(1.0);
}

static crShape read_field(const crPlace* place, crScene* scene) {
    int nx = 2;
    int ny = 2;
    cr_place_need(place, "nx", "points along x");
    cr_place_need(place, "ny", "points along y");
    cr_place_whole(place, "nx", 2, 1000, &nx);
    cr_place_whole(place, "ny", 2, 1000, &ny);
    double dx = size_of_shapes(place, "dx", "spacing along x, m");
    double dy = size_of_shapes(place, "dy", "spacing along y, m");
    cr_place_need(place, "z", "nx ny heights, x fastest");
    const crJson* list = cr_place_get(place, "z");
    double* z = malloc((size_t)nx * (size_t)ny * sizeof *z);
    if (z == NULL) cr__place_memory(place);
    crError error = {0};
    int count = 0;
    if (cr_place_ok(place) && cr_field_numbers(list, "z", nx * ny, nx * ny, z, &count, &error) != CR_OK) {
        cr_place_blame(place, "z", &error);
    }
    crHeightField* field = NULL;
    if (cr_place_ok(place)) {
        crHeightFieldDef def = {nx, ny, dx, dy, z};
        crStatus status = cr_heightfield_create(&def, NULL, &field, &error);
        keep(place, scene, status, "z", &error, field, free_field);
    }
    free(z);
    return cr_place_ok(place) ? cr_shape_heightfield(field) : cr_shape_sphere(1.0);
}

static crShape read_halfspace(const crPlace* place, crScene* scene) {
    (void)scene;
    crVec3 n = {0.0, 0.0, 1.0};
    double offset = 0.0;
    cr_place_direction(place, "n", &n);
    cr_place_number(place, "offset", CR_ANY, &offset);
    return cr_shape_halfspace(n, offset);
}

void cr__scene_filter(const crPlace* place, uint64_t* group, uint64_t* mask) {
    static const char* const names[] = {"group", "mask"};
    uint64_t* const to[] = {group, mask};
    for (int i = 0; i < 2; i++) {
        double bits = -1.0;
        if (cr_place_get(place, names[i]) == NULL) continue;
        cr_place_number(place, names[i], CR_NOT_NEGATIVE, &bits);
        if (!cr_place_ok(place)) return;
        if (bits > MOST_BITS || floor(bits) != bits) {
            cr_place_refuse(place, cr_place_get(place, names[i]), CR_ERR_RANGE, names[i],
                            "is %.17g, must be a whole number 0 to 2^53 - 1: one bit for each group", bits);
            return;
        }
        *to[i] = (uint64_t)bits;
    }
}

// A shape given by sizes, as its row says.
static crShape read_sized(const crPlace* place, crShapeKind kind) {
    const crShapeInfo* info = cr_shape_info(kind);
    double sizes[3];
    if (info->sizes == 3) {
        crVec3 size = sizes_of(place, info->fields[0], info->what[0]);
        sizes[0] = size.x;
        sizes[1] = size.y;
        sizes[2] = size.z;
    }
    for (int i = 0; i < info->sizes && info->sizes < 3; i++) {
        sizes[i] = size_of_shapes(place, info->fields[i], info->what[i]);
    }
    return cr_shape(kind, sizes);
}

static void known_sized(const crPlace* place, const crShapeInfo* info) {
    const char* fields[] = {COMMON, info->fields[0], NULL, NULL, NULL};
    int count = (int)(sizeof fields / sizeof fields[0]) - 3;
    if (info->fields[1] != NULL) fields[count++] = info->fields[1];
    if (info->turned) fields[count++] = "axis";
    cr_place_known(place, fields);
}

static crShape read_solid_hull(const crPlace* place, crScene* scene) {
    return read_hull(place, scene, false);
}
static crShape read_prism(const crPlace* place, crScene* scene) { return read_hull(place, scene, true); }

// shapes that are given by more than sizes
static const struct {
    const char* name;
    const char* const* fields;
    crShape (*read)(const crPlace* place, crScene* scene);
} others[] = {
    {"halfspace", halfspace_fields, read_halfspace},
    {"hull", hull_fields, read_solid_hull},
    {"prism", prism_fields, read_prism},
    {"mesh", mesh_fields, read_mesh},
    {"heightfield", field_fields, read_field},
};
enum { OTHERS = sizeof others / sizeof others[0] };

// turns local z onto the axis named
static crQuat axis_turn(const crPlace* place) {
    static const char* const names[] = {"x", "y", "z", NULL};
    int axis = 2;
    cr_place_choice(place, "axis", names, &axis);
    double s = sqrt(0.5);
    return axis == 0 ? (crQuat){s, 0.0, s, 0.0} : axis == 1 ? (crQuat){s, -s, 0.0, 0.0} : cr_quat_identity();
}

// names and kinds of the shapes that are given by sizes; how many
static int list_sized(const char** names, int* kinds) {
    int count = 0;
    for (int i = 0; i < CR_SHAPE_KINDS; i++) {
        if (cr_shape_info((crShapeKind)i)->sizes == 0) continue;
        kinds[count] = i;
        names[count++] = cr_shape_info((crShapeKind)i)->name;
    }
    return count;
}

void cr__scene_volume(const crPlace* place, crScene* scene, crShape* shape) {
    const char* names[CR_SHAPE_KINDS + 1];
    int kinds[CR_SHAPE_KINDS], type = 0;
    (void)scene;
    names[list_sized(names, kinds)] = NULL;
    cr_place_choice(place, "type", names, &type);
    if (cr_place_ok(place)) *shape = read_sized(place, (crShapeKind)kinds[type]);
}

void cr__scene_shape(const crPlace* place, crScene* scene, crShape* shape) {
    const char* names[CR_SHAPE_KINDS + OTHERS + 1];
    int kinds[CR_SHAPE_KINDS + OTHERS], type = 0;
    int sized = list_sized(names, kinds), count = sized;
    for (int i = 0; i < OTHERS; i++) {
        names[count++] = others[i].name;
    }
    names[count] = NULL;
    cr_place_need(place, "type", "e.g. \"sphere\", \"box\" or \"capsule\"");
    cr_place_choice(place, "type", names, &type);
    if (type < sized) {
        known_sized(place, cr_shape_info((crShapeKind)kinds[type]));
    } else {
        cr_place_known(place, others[type - sized].fields);
    }
    if (!cr_place_ok(place)) return;
    *shape =
        type < sized ? read_sized(place, (crShapeKind)kinds[type]) : others[type - sized].read(place, scene);
    cr_place_vector(place, "pos", &shape->pose.p);
    cr_place_quat(place, "quat", &shape->pose.q);
    shape->pose.q = cr_quat_mul(shape->pose.q, axis_turn(place));
}
