// visuals.c - visuals of imported bodies: what <visual> elements say, and meshes made fit for drawing.
//
// A mesh with too many triangles is thinned: vertices in one cell of a grid become their mean, triangles that lose their
// area go. The finest grid of a list that leaves few enough is taken. Meshes share MOST_TRIANGLES_ALL triangles. Fails: softly, a
// visual that cannot be read leaves a note; memory.
#include <stdlib.h>
#include <string.h>

#include "io/import_parts.h"

#define MOST_TRIANGLES_ALL   100000  // triangles of all meshes: a scene stays below the limits of its file
#define MOST_TRIANGLES_EACH  4000    // of one mesh
#define LEAST_TRIANGLES_EACH 500     // of one mesh that is thinned, however many there are
#define NO_AREA              1e-10   // of the product of two edges: a triangle below it is dropped

typedef struct Cell {
    uint64_t key;
    int vertex;
} Cell;

static int by_cell(const void* a, const void* b) {
    const Cell* x = a;
    const Cell* y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->vertex - y->vertex;
}

static double six_figures(double x) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return strtod(text, NULL);
}

static bool has_area(const crTriangles* mesh, const int corner[3]) {
    crVec3 u = cr_sub(mesh->vertices[corner[1]], mesh->vertices[corner[0]]);
    crVec3 w = cr_sub(mesh->vertices[corner[2]], mesh->vertices[corner[0]]);
    return cr_norm(cr_cross(u, w)) > NO_AREA * cr_norm(u) * cr_norm(w);
}

// the triangles of `from` with corners renumbered by `now`, without those that lost their area
static void keep_triangles(const crTriangles* from, const int* now, crTriangles* to) {
    to->triangle_count = 0;
    for (int i = 0; i < from->triangle_count; i++) {
        int corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = now[from->triangles[i][k]];
        }
        if (has_area(to, corner)) memcpy(to->triangles[to->triangle_count++], corner, sizeof corner);
    }
}

// cells of a grid that the vertices are in; `cells` along the longest side of their box
static void find_cells(const crTriangles* mesh, int cells, Cell* cell) {
    crVec3 lo = mesh->vertices[0], hi = lo;
    for (int i = 1; i < mesh->vertex_count; i++) {
        crVec3 v = mesh->vertices[i];
        lo = cr_vec3(v.x < lo.x ? v.x : lo.x, v.y < lo.y ? v.y : lo.y, v.z < lo.z ? v.z : lo.z);
        hi = cr_vec3(v.x > hi.x ? v.x : hi.x, v.y > hi.y ? v.y : hi.y, v.z > hi.z ? v.z : hi.z);
    }
    crVec3 size = cr_sub(hi, lo);
    double longest = size.x > size.y ? size.x : size.y;
    if (size.z > longest) longest = size.z;
    double scale = longest > 0.0 ? cells / longest : 0.0;
    for (int i = 0; i < mesh->vertex_count; i++) {
        crVec3 at = cr_scale(scale, cr_sub(mesh->vertices[i], lo));
        cell[i] = (Cell){(uint64_t)at.x << 40 | (uint64_t)at.y << 20 | (uint64_t)at.z, i};
    }
}

// vertices of one cell as one, at their mean; cells 0: each vertex on its own
static bool merge_vertices(crImporting* im, const crTriangles* from, int cells, crTriangles* to) {
    size_t count = (size_t)from->vertex_count;
    *to =
        (crTriangles){.vertices = cr__import_alloc(im, count * sizeof(crVec3)),
                      .triangles = cr__import_alloc(im, ((size_t)from->triangle_count + 1) * sizeof(int[3]))};
    Cell* cell = cr__import_alloc(im, count * sizeof *cell);
    int* now = cr__import_alloc(im, count * sizeof *now);
    if (to->vertices == NULL || to->triangles == NULL || cell == NULL || now == NULL) return false;
    if (cells > 0) find_cells(from, cells, cell);
    for (int i = 0; i < from->vertex_count && cells == 0; i++) {
        cell[i] = (Cell){(uint64_t)i, i};
    }
    qsort(cell, count, sizeof *cell, by_cell);
    for (size_t i = 0, next = 0; i < count; i = next) {
        crVec3 sum = cr_vec3(0, 0, 0);
        for (next = i; next < count && cell[next].key == cell[i].key; next++) {
            sum = cr_add(sum, from->vertices[cell[next].vertex]);
            now[cell[next].vertex] = to->vertex_count;
        }
        crVec3 mean = cr_scale(1.0 / (double)(next - i), sum);
        to->vertices[to->vertex_count++] =
            cr_vec3(six_figures(mean.x), six_figures(mean.y), six_figures(mean.z));
    }
    keep_triangles(from, now, to);
    return true;
}

static int count_visuals(const crXml* element) {
    int count = strcmp(element->name, "visual") == 0 || strcmp(element->name, "geom") == 0;
    for (const crXml* child = element->child; child != NULL; child = child->next) {
        count += count_visuals(child);
    }
    return count;
}

// how many triangles a mesh may have: an equal share
static int share_of(crImporting* im, const crXml* element) {
    if (im->visual_share > 0) return im->visual_share;
    while (element->parent != NULL) {
        element = element->parent;
    }
    int visuals = count_visuals(element);
    int share = visuals > 0 ? MOST_TRIANGLES_ALL / visuals : MOST_TRIANGLES_EACH;
    im->visual_share = share > MOST_TRIANGLES_EACH    ? MOST_TRIANGLES_EACH
                       : share < LEAST_TRIANGLES_EACH ? LEAST_TRIANGLES_EACH
                                                      : share;
    return im->visual_share;
}

static bool fit_for_drawing(crImporting* im, const crTriangles* from, int most, crTriangles* to) {
    static const int grids[] = {0, 96, 80, 64, 56, 48, 40, 36, 32, 28, 24, 20, 16, 12, 8};
    int g = from->triangle_count > most ? 1 : 0;
    if (!merge_vertices(im, from, grids[g], to)) return false;
    while (to->triangle_count > most && ++g < (int)(sizeof grids / sizeof grids[0])) {
        if (!merge_vertices(im, from, grids[g], to)) return false;
    }
    // a mirrored mesh is inside out
    bool turn = cr__mesh_mass(to).mass < 0.0;
    for (int i = 0; i < to->triangle_count && turn; i++) {
        int second = to->triangles[i][1];
        to->triangles[i][1] = to->triangles[i][2];
        to->triangles[i][2] = second;
    }
    return true;
}

bool cr__visuals_full(const crImporting* im) {
    return im->visual_triangles > MOST_TRIANGLES_ALL - MOST_TRIANGLES_EACH;
}

void cr__mesh_visual(crImporting* im, const crXml* element, crJson* shape, const crTriangles* mesh) {
    crTriangles fit = {0};
    if (cr__visuals_full(im))
        cr__import_refuse(im, element, NULL, CR_ERR_LIMIT, "the meshes have more than %d triangles",
                          MOST_TRIANGLES_ALL);
    if (!cr__import_ok(im) || !fit_for_drawing(im, mesh, share_of(im, element), &fit)) return;
    if (fit.triangle_count == 0) {
        cr__import_refuse(im, element, NULL, CR_ERR_SIZE, "the mesh has no faces");
        return;
    }
    im->visual_triangles += fit.triangle_count;
    crTree* tree = &im->tree;
    cr_tree_text(tree, shape, "type", "mesh");
    crJson* vertices = cr_tree_list(tree, shape, "vertices");
    for (int i = 0; i < fit.vertex_count; i++) {
        cr_tree_vector(tree, vertices, NULL, fit.vertices[i]);
    }
    crJson* triangles = cr_tree_list(tree, shape, "triangles");
    for (int i = 0; i < fit.triangle_count; i++) {
        const int* t = fit.triangles[i];
        cr_tree_numbers(tree, triangles, NULL, (const double[]){t[0], t[1], t[2]}, 3);
    }
}

static void mark_whole(crXml* element) {
    element->used = true;
    for (crXmlAttr* attr = element->attrs; attr != NULL; attr = attr->next) {
        attr->used = true;
    }
    for (crXml* child = element->child; child != NULL; child = child->next) {
        mark_whole(child);
    }
}

void cr__import_visuals(crImporting* im, crXml* link, crJson* body, crReadVisual* read, void* ctx) {
    if (!cr__import_ok(im) || cr_xml_child(link, "visual") == NULL) return;
    crError* const error = im->error;
    crError why = {0};
    crXml* bad = NULL;
    crJson* visuals = cr_tree_list(&im->tree, body, "visuals");
    im->error = &why;
    for (crXml* visual = link->child; visual != NULL; visual = visual->next) {
        if (strcmp(visual->name, "visual") != 0) continue;
        if (bad == NULL) read(ctx, visual, visuals);
        if (bad == NULL && !cr__import_ok(im)) bad = visual;
        mark_whole(visual);
    }
    im->error = error;
    if (visuals != NULL && (bad != NULL || visuals->count == 0)) cr_tree_drop(body);
    if (bad == NULL) return;
    if (im->status == CR_ERR_MEMORY) {
        if (error != NULL) *error = why;
        return;
    }
    im->status = CR_OK;
    cr__import_note(im, CR_NOTE_IGNORED, bad, NULL, "<visual> is not drawn: %.150s", why.message);
}
