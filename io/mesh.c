// mesh.c - triangles from STL, OBJ and MSH files (COLLADA: mesh_dae.c), and the mass of what they enclose.
//
// STL binary: 80 bytes, a count, then 50 bytes a triangle, little-endian floats; text: words, of which the
// three numbers after each `vertex` count. OBJ: `v` and `f` lines, indices from 1 or backwards from -1, faces
// of more than three corners as fans; every other line is skipped. MSH (MuJoCo's own): counts of vertices, normals,
// texture coordinates and faces (i32 each), then these, floats and i32, little-endian. Corners of an STL that lie in one place
// become one vertex, by sorting. Mass by signed tetrahedra to the origin (Eberly 2002): exact for a closed
// surface. Fails: a file that is neither, too long, cut short, with numbers that are not finite or corners
// that are not there is refused by the element that names it.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/import_parts.h"

#define MOST_BYTES     ((size_t)64 << 20)
#define MOST_TRIANGLES 200000
#define MOST_VERTICES  100000
#define STL_HEAD       84
#define STL_RECORD     50

static bool ends_with(const char* path, const char* ending) {
    size_t length = strlen(path), own = strlen(ending);
    return length > own && strcasecmp(path + length - own, ending) == 0;
}

static bool known_mesh(const char* path) {
    return ends_with(path, ".stl") || ends_with(path, ".obj") || ends_with(path, ".dae") ||
           ends_with(path, ".msh");
}

static void refuse(crImporting* im, const crXml* element, crStatus status, const char* path,
                   const char* what) {
    const char* slash = strrchr(path, '/');
    cr__import_refuse(im, element, NULL, status, "%.60s: %s", slash != NULL ? slash + 1 : path, what);
}

static float load_float(const unsigned char* b) {
    uint32_t bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct Corner {
    crVec3 p;
    int index;
} Corner;

static int by_position(const void* a, const void* b) {
    const Corner* x = a;
    const Corner* y = b;
    const double u[] = {x->p.x, x->p.y, x->p.z}, v[] = {y->p.x, y->p.y, y->p.z};
    for (int k = 0; k < 3; k++) {
        if (u[k] != v[k]) return u[k] < v[k] ? -1 : 1;
    }
    return x->index - y->index;
}

// corners, three to a triangle, into vertices and indices; triangles without area in their indices go
static bool join(crImporting* im, Corner* corners, int count, crTriangles* mesh) {
    mesh->vertices = cr__import_alloc(im, (size_t)(count + 1) * sizeof(crVec3));
    mesh->triangles = cr__import_alloc(im, (size_t)(count / 3 + 1) * sizeof(int[3]));
    if (mesh->vertices == NULL || mesh->triangles == NULL) return false;
    qsort(corners, (size_t)count, sizeof *corners, by_position);
    mesh->vertex_count = 0;
    for (int i = 0; i < count; i++) {
        crVec3 p = corners[i].p;
        crVec3 last = mesh->vertex_count > 0 ? mesh->vertices[mesh->vertex_count - 1] : p;
        bool same = mesh->vertex_count > 0 && last.x == p.x && last.y == p.y && last.z == p.z;
        if (!same) mesh->vertices[mesh->vertex_count++] = p;
        mesh->triangles[corners[i].index / 3][corners[i].index % 3] = mesh->vertex_count - 1;
    }
    int kept = 0;
    for (int i = 0; i < count / 3; i++) {
        int a = mesh->triangles[i][0], b = mesh->triangles[i][1], c = mesh->triangles[i][2];
        if (a == b || b == c || c == a) continue;
        memmove(mesh->triangles[kept++], mesh->triangles[i], sizeof(int[3]));
    }
    mesh->triangle_count = kept;
    return true;
}

static bool stl_binary(crImporting* im, const unsigned char* bytes, uint32_t count, crTriangles* mesh) {
    Corner* corners = cr__import_alloc(im, (3 * (size_t)count + 1) * sizeof *corners);
    if (corners == NULL) return false;
    for (int i = 0; i < 3 * (int)count; i++) {
        const unsigned char* at = bytes + STL_HEAD + (size_t)(i / 3) * STL_RECORD + 12 + 12 * (size_t)(i % 3);
        corners[i] = (Corner){cr_vec3(load_float(at), load_float(at + 4), load_float(at + 8)), i};
    }
    return join(im, corners, 3 * (int)count, mesh);
}

static int count_words(const char* text, const char* word) {
    int count = 0;
    for (const char* at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static bool stl_text(crImporting* im, const crXml* element, const char* path, const char* text,
                     crTriangles* mesh) {
    int most = count_words(text, "vertex");
    if (most > 3 * MOST_TRIANGLES || most % 3 != 0 || most == 0) {
        refuse(im, element, CR_ERR_SYNTAX, path, "is no STL: its vertices do not come in threes");
        return false;
    }
    Corner* corners = cr__import_alloc(im, ((size_t)most + 1) * sizeof *corners);
    if (corners == NULL) return false;
    int count = 0;
    for (const char* at = strstr(text, "vertex"); at != NULL; at = strstr(at, "vertex")) {
        at += strlen("vertex");
        double x[3];
        for (int k = 0; k < 3; k++) {
            char* end = NULL;
            x[k] = strtod(at, &end);
            if (end == at) {
                refuse(im, element, CR_ERR_SYNTAX, path, "is no STL: three numbers must follow vertex");
                return false;
            }
            at = end;
        }
        corners[count] = (Corner){cr_vec3(x[0], x[1], x[2]), count};
        count++;
    }
    return join(im, corners, count, mesh);
}

static bool read_stl(crImporting* im, const crXml* element, const char* path, const char* bytes, size_t size,
                     crTriangles* mesh) {
    const unsigned char* raw = (const unsigned char*)bytes;
    uint32_t count = 0;
    if (size >= STL_HEAD)
        count =
            (uint32_t)raw[80] | (uint32_t)raw[81] << 8 | (uint32_t)raw[82] << 16 | (uint32_t)raw[83] << 24;
    bool binary =
        size >= STL_HEAD && (size - STL_HEAD) / STL_RECORD == count && (size - STL_HEAD) % STL_RECORD == 0;
    if (binary && count >= 1 && count <= MOST_TRIANGLES) return stl_binary(im, raw, count, mesh);
    if (binary || size < 5 || strncmp(bytes, "solid", 5) != 0) {
        refuse(im, element, binary ? CR_ERR_LIMIT : CR_ERR_SYNTAX, path,
               binary ? "must have 1 to 200000 triangles"
                      : "is no STL: neither `solid` nor as long as its count says");
        return false;
    }
    return stl_text(im, element, path, bytes, mesh);
}

// the next corner of a face: its vertex from 0, or -1
static int obj_corner(const char** at, int vertices) {
    char* end = NULL;
    long index = strtol(*at, &end, 10);
    if (end == *at) return -1;
    *at = end + strcspn(end, " \t\r\n");
    index = index > 0 ? index - 1 : index + vertices;
    return index >= 0 && index < vertices ? (int)index : -1;
}

static bool obj_face(crImporting* im, const crXml* element, const char* path, const char* at,
                     crTriangles* mesh, int* capacity) {
    int corner[3];
    int count = 0;
    at += strspn(at, " \t");
    while (*at != '\0' && *at != '\n' && *at != '\r') {
        int index = obj_corner(&at, mesh->vertex_count);
        if (index < 0) {
            refuse(im, element, CR_ERR_RANGE, path, "a face names a vertex that is not there");
            return false;
        }
        corner[count < 2 ? count : 2] = index;
        if (++count >= 3) {
            int(*all)[3] = cr__import_grow(im, mesh->triangles, mesh->triangle_count, capacity,
                                           sizeof(int[3]), MOST_TRIANGLES, element);
            if (all == NULL) return false;
            mesh->triangles = all;
            memcpy(all[mesh->triangle_count++], corner, sizeof corner);
            corner[1] = corner[2];
        }
        at += strspn(at, " \t");
    }
    if (count < 3) refuse(im, element, CR_ERR_SIZE, path, "a face has fewer than three corners");
    return count >= 3;
}

static bool read_obj(crImporting* im, const crXml* element, const char* path, const char* text,
                     crTriangles* mesh) {
    int vertex_capacity = 0, triangle_capacity = 0;
    while (*text != '\0' && cr__import_ok(im)) {
        bool word = text[0] != '\0' && (text[1] == ' ' || text[1] == '\t');
        if (word && text[0] == 'v') {
            double x[3];
            const char* at = text + 1;
            char* end = NULL;
            for (int k = 0; k < 3; k++, at = end) {
                x[k] = strtod(at, &end);
                if (end == at) {
                    refuse(im, element, CR_ERR_SYNTAX, path, "a vertex needs three numbers");
                    return false;
                }
            }
            crVec3* all = cr__import_grow(im, mesh->vertices, mesh->vertex_count, &vertex_capacity,
                                          sizeof(crVec3), MOST_VERTICES, element);
            if (all == NULL) return false;
            mesh->vertices = all;
            all[mesh->vertex_count++] = cr_vec3(x[0], x[1], x[2]);
        } else if (word && text[0] == 'f') {
            if (!obj_face(im, element, path, text + 1, mesh, &triangle_capacity)) return false;
        }
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (cr__import_ok(im) && mesh->vertex_count < 4)
        refuse(im, element, CR_ERR_SIZE, path, "has fewer than four vertices");
    return cr__import_ok(im);
}

static uint32_t load_u32(const unsigned char* b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static bool read_msh(crImporting* im, const crXml* element, const char* path, const char* bytes, size_t size,
                     crTriangles* mesh) {
    const unsigned char* at = (const unsigned char*)bytes;
    uint32_t count[4] = {0};  // vertices, normals, texture coordinates, faces
    bool fits = size >= 16;
    for (int k = 0; k < 4 && fits; k++) {
        count[k] = load_u32(at + 4 * k);
        fits = count[k] <= MOST_TRIANGLES;
    }
    size_t floats = 3 * ((size_t)count[0] + count[1]) + 2 * (size_t)count[2];
    if (!fits || count[0] < 4 || size != 16 + 4 * (floats + 3 * (size_t)count[3])) {
        refuse(im, element, CR_ERR_SYNTAX, path, "is no MSH: its length is not what its counts say");
        return false;
    }
    mesh->vertices = cr__import_alloc(im, (size_t)count[0] * sizeof(crVec3));
    mesh->triangles = cr__import_alloc(im, ((size_t)count[3] + 1) * sizeof(int[3]));
    if (mesh->vertices == NULL || mesh->triangles == NULL) return false;
    mesh->vertex_count = (int)count[0];
    mesh->triangle_count = (int)count[3];
    for (uint32_t i = 0; i < count[0]; i++) {
        const unsigned char* x = at + 16 + 12 * (size_t)i;
        mesh->vertices[i] = cr_vec3(load_float(x), load_float(x + 4), load_float(x + 8));
    }
    for (uint32_t i = 0; i < 3 * count[3]; i++) {
        uint32_t corner = load_u32(at + 16 + 4 * (floats + i));
        if (corner >= count[0]) {
            refuse(im, element, CR_ERR_RANGE, path, "a face names a vertex that is not there");
            return false;
        }
        mesh->triangles[i / 3][i % 3] = (int)corner;
    }
    return true;
}

bool cr__mesh_parse(crImporting* im, const crXml* element, const char* path, const char* bytes, size_t size,
                    crVec3 scale, crTriangles* mesh) {
    *mesh = (crTriangles){0};
    bool stl = ends_with(path, ".stl"), msh = ends_with(path, ".msh"), dae = ends_with(path, ".dae");
    if (!known_mesh(path)) {
        refuse(im, element, CR_ERR_NAME, path, "meshes must be .stl, .obj, .dae or .msh");
        return false;
    }
    bool ok = dae   ? cr__mesh_dae(im, element, bytes, size, mesh)
              : stl ? read_stl(im, element, path, bytes, size, mesh)
              : msh ? read_msh(im, element, path, bytes, size, mesh)
                    : read_obj(im, element, path, bytes, mesh);
    if (ok && mesh->vertex_count > MOST_VERTICES)
        refuse(im, element, CR_ERR_LIMIT, path, "has too many vertices");
    for (int i = 0; ok && i < mesh->vertex_count; i++) {
        crVec3* p = &mesh->vertices[i];
        *p = cr_vec3(scale.x * p->x, scale.y * p->y, scale.z * p->z);
        if (!cr_vec3_finite(*p)) {
            refuse(im, element, CR_ERR_FINITE, path, "a vertex is not finite");
            break;
        }
    }
    return cr__import_ok(im);
}

bool cr__mesh_read(crImporting* im, const crXml* element, const char* path, crVec3 scale, crTriangles* mesh) {
    char* bytes = NULL;
    size_t size = 0;
    if (!known_mesh(path)) return cr__mesh_parse(im, element, path, "", 0, scale, mesh);
    if (!cr__import_read(im, element, path, MOST_BYTES, &bytes, &size)) return false;
    return cr__mesh_parse(im, element, path, bytes, size, scale, mesh);
}

crMass cr__mesh_mass(const crTriangles* mesh) {
    // integrals of 1, x, and x x^T
    double volume = 0.0;
    crVec3 first = cr_vec3(0, 0, 0);
    double second[3][3] = {{0}};
    for (int i = 0; i < mesh->triangle_count; i++) {
        const int* t = mesh->triangles[i];
        crVec3 a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
        double six = cr_dot(a, cr_cross(b, c));
        crVec3 s = cr_add(a, cr_add(b, c));
        volume += six / 6.0;
        first = cr_madd(first, six / 24.0, s);
        const double u[4][3] = {{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}, {s.x, s.y, s.z}};
        for (int j = 0; j < 9; j++) {
            double sum = 0.0;
            for (int k = 0; k < 4; k++) {
                sum += u[k][j / 3] * u[k][j % 3];
            }
            second[j / 3][j % 3] += six / 120.0 * sum;
        }
    }
    if (volume == 0.0) return (crMass){0};
    crVec3 com = cr_scale(1.0 / volume, first);
    const double m[3] = {com.x, com.y, com.z};
    for (int j = 0; j < 9; j++) {
        second[j / 3][j % 3] -= volume * m[j / 3] * m[j % 3];
    }
    double trace = second[0][0] + second[1][1] + second[2][2];
    crSym3 I = {trace - second[0][0], -second[0][1], -second[0][2],
                trace - second[1][1], -second[1][2], trace - second[2][2]};
    return (crMass){volume, com, I};
}

void cr__mesh_hull(crImporting* im, crJson* shape, const crTriangles* mesh) {
    cr_tree_text(&im->tree, shape, "type", "hull");
    crJson* points = cr_tree_list(&im->tree, shape, "points");
    for (int i = 0; i < mesh->vertex_count; i++) {
        cr_tree_vector(&im->tree, points, NULL, mesh->vertices[i]);
    }
}
