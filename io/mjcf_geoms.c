// mjcf_geoms.c - geoms of MJCF, meshes and height fields they use, and the masses they make.
//
// Moments of a geom are those of its solid at its density, or scaled to its mass. A mesh collides as its convex
// hull and weighs what its triangles enclose; without faces they are those of the hull. A body's mass is the
// sum of its geoms in inertiagrouprange unless it has an <inertial>; then come boundmass, boundinertia,
// balanceinertia and settotalmass, as MuJoCo's compiler has them. Fails: by element.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"
#include "io/scene.h"
#include "io/scene_parts.h"

#define MOST_ASSETS 10000
#define MOST_GRID   1000

const char* cr__mjcf_base_name(crImporting* im, const char* path) {
    const char* slash = strrchr(path, '/');
    const char* file = slash != NULL ? slash + 1 : path;
    const char* dot = strrchr(file, '.');
    return cr__import_format(im, "%.*s", (int)(dot != NULL ? (size_t)(dot - file) : strlen(file)), file);
}

// the file of an asset, in the folder of the model it comes from
static const char* asset_path(crMjcf* mj, crXml* node, const char* file) {
    const char* from = cr__attr_text(node, "from");
    const char* folder = from != NULL ? from : mj->compiler.meshdir;
    if (*file == '/' || *folder == '\0') return cr__import_beside(mj->im, file);
    const char* slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    const char* path = cr__import_format(mj->im, "%s%s%s", folder, slash, file);
    return path != NULL ? cr__import_beside(mj->im, path) : "";
}

// numbers of an attribute, as many as there are, in threes
static double* triples(crMjcf* mj, crXml* node, const char* name, int* count) {
    crXmlAttr* attr = cr_xml_attr(node, name);
    if (attr == NULL) return NULL;
    attr->used = true;
    int most = (int)(strlen(attr->value) / 2 + 1);
    double* x = cr__import_alloc(mj->im, (size_t)most * sizeof *x);
    if (x == NULL) return NULL;
    *count = cr__import_numbers(mj->im, node, attr, attr->value, 3, most, x);
    if (*count % 3 != 0) cr__import_refuse(mj->im, node, attr, CR_ERR_SIZE, "must come in threes");
    *count /= 3;
    return cr__import_ok(mj->im) ? x : NULL;
}

static void inline_mesh(crMjcf* mj, crXml* node, crVec3 scale, crTriangles* mesh) {
    crImporting* im = mj->im;
    double* v = triples(mj, node, "vertex", &mesh->vertex_count);
    if (v == NULL) {
        cr__import_refuse(im, node, NULL, CR_ERR_MISSING, "needs file or vertex");
        return;
    }
    mesh->vertices = cr__import_alloc(im, (size_t)mesh->vertex_count * sizeof(crVec3));
    if (mesh->vertices == NULL) return;
    for (int i = 0; i < mesh->vertex_count; i++) {
        mesh->vertices[i] = cr_vec3(scale.x * v[3 * i], scale.y * v[3 * i + 1], scale.z * v[3 * i + 2]);
    }
    double* f = triples(mj, node, "face", &mesh->triangle_count);
    if (f == NULL) return;
    mesh->triangles = cr__import_alloc(im, (size_t)mesh->triangle_count * sizeof(int[3]));
    if (mesh->triangles == NULL) return;
    for (int i = 0; i < 3 * mesh->triangle_count; i++) {
        if (!(f[i] >= 0.0 && f[i] < mesh->vertex_count && floor(f[i]) == f[i])) {
            cr__import_refuse(im, node, cr_xml_attr(node, "face"), CR_ERR_RANGE, "%g is no vertex", f[i]);
            return;
        }
        mesh->triangles[i / 3][i % 3] = (int)f[i];
    }
}

// of the hull, where there are no faces
static crMass hull_mass(crMjcf* mj, const crXml* node, const crTriangles* mesh) {
    crHull* hull = NULL;
    crError error = {0};
    crStatus status = cr__hull_of_points(mesh->vertices, mesh->vertex_count, &hull, &error);
    if (status != CR_OK) {
        cr__import_refuse(mj->im, node, NULL, status, "%s", error.message);
        return (crMass){0};
    }
    crShape shape = cr_shape_hull(hull);
    crMass mass = cr_mass_of_shape(&shape, 1.0);
    cr_hull_destroy(hull);
    return mass;
}

static void add_mesh(crMjcf* mj, crXml* node) {
    crImporting* im = mj->im;
    node->used = true;
    crMjcfMesh* all = cr__import_grow(im, mj->meshes.at, mj->meshes.count, &mj->meshes.capacity, sizeof *all,
                                      MOST_ASSETS, node);
    if (all == NULL) return;
    mj->meshes.at = all;
    crMjcfMesh mesh = {.node = node};
    int class = cr__mjcf_class(mj, node, 0);
    const char* file = cr__attr_text(node, "file");
    double s[3] = {1.0, 1.0, 1.0};
    cr__mjcf_numbers(mj, node, class, "scale", 3, 3, s);
    crVec3 scale = cr_vec3(s[0], s[1], s[2]);
    mesh.name = cr__attr_text(node, "name");
    if (mesh.name == NULL && file != NULL) mesh.name = cr__mjcf_base_name(im, file);
    if (file != NULL) {
        cr__mesh_read(im, node, asset_path(mj, node, file), scale, &mesh.triangles);
    } else {
        inline_mesh(mj, node, scale, &mesh.triangles);
    }
    double ref[4] = {0.0, 0.0, 0.0, 0.0};
    if (cr__mjcf_numbers(mj, node, class, "refpos", 3, 3, ref) || cr_xml_attr(node, "refquat") != NULL) {
        double q[4] = {1.0, 0.0, 0.0, 0.0};
        cr__mjcf_numbers(mj, node, class, "refquat", 4, 4, q);
        crPose back = cr_pose_inverse(
            (crPose){cr_vec3(ref[0], ref[1], ref[2]), cr_quat_normalize((crQuat){q[0], q[1], q[2], q[3]})});
        for (int i = 0; i < mesh.triangles.vertex_count; i++) {
            mesh.triangles.vertices[i] = cr_pose_point(back, mesh.triangles.vertices[i]);
        }
    }
    if (!cr__import_ok(im)) return;
    mesh.mass = mesh.triangles.triangle_count > 0 ? cr__mesh_mass(&mesh.triangles)
                                                  : hull_mass(mj, node, &mesh.triangles);
    if (cr__import_ok(im) && !(mesh.mass.mass > 0.0))
        cr__import_refuse(im, node, NULL, CR_ERR_RANGE, "encloses a volume of %g: faces must look outward",
                          mesh.mass.mass);
    mj->meshes.at[mj->meshes.count++] = mesh;
}

static bool field_file(crMjcf* mj, crXml* node, const char* file, crMjcfField* field) {
    crImporting* im = mj->im;
    char* bytes = NULL;
    size_t size = 0;
    size_t length = strlen(file);
    if (length > 4 && strcmp(file + length - 4, ".png") == 0) {
        cr__import_refuse(im, node, NULL, CR_ERR_NAME, "height fields from PNG are not supported");
        return false;
    }
    if (!cr__import_read(im, node, asset_path(mj, node, file), (size_t)8 << 20, &bytes, &size)) return false;
    int32_t head[2] = {0, 0};
    if (size >= sizeof head) memcpy(head, bytes, sizeof head);
    bool fits = head[0] >= 2 && head[1] >= 2 && head[0] <= MOST_GRID && head[1] <= MOST_GRID;
    if (!fits || size != sizeof head + 4 * (size_t)head[0] * (size_t)head[1]) {
        cr__import_refuse(im, node, NULL, CR_ERR_SYNTAX,
                          "%.60s must be two counts (2 to %d) and as many floats", file, MOST_GRID);
        return false;
    }
    field->nrow = head[0];
    field->ncol = head[1];
    int count = head[0] * head[1];
    field->z = cr__import_alloc(im, (size_t)count * sizeof(double));
    if (field->z == NULL) return false;
    for (int i = 0; i < count; i++) {
        float z;
        memcpy(&z, bytes + sizeof head + 4 * (size_t)i, sizeof z);
        field->z[i] = z;
        if (!isfinite(z)) cr__import_refuse(im, node, NULL, CR_ERR_FINITE, "height %d is not finite", i);
    }
    return cr__import_ok(im);
}

static void field_inline(crMjcf* mj, crXml* node, crMjcfField* field) {
    crImporting* im = mj->im;
    double rows = cr__mjcf_number(mj, node, -1, "nrow", 0.0),
           cols = cr__mjcf_number(mj, node, -1, "ncol", 0.0);
    bool fits = rows >= 2.0 && cols >= 2.0 && rows <= MOST_GRID && cols <= MOST_GRID;
    if (!fits || floor(rows) != rows || floor(cols) != cols) {
        cr__import_refuse(im, node, NULL, CR_ERR_RANGE, "nrow and ncol must be 2 to %d, are %g and %g",
                          MOST_GRID, rows, cols);
        return;
    }
    field->nrow = (int)rows;
    field->ncol = (int)cols;
    int count = field->nrow * field->ncol;
    field->z = cr__import_alloc(im, (size_t)count * sizeof(double));
    double* text = cr__import_alloc(im, (size_t)count * sizeof(double));
    if (field->z == NULL || text == NULL) return;
    // the first row of the text is the one with the largest y
    if (!cr__mjcf_numbers(mj, node, -1, "elevation", count, count, text)) return;
    for (int r = 0; r < field->nrow; r++) {
        memcpy(field->z + r * field->ncol, text + (field->nrow - 1 - r) * field->ncol,
               (size_t)field->ncol * sizeof(double));
    }
}

static void add_field(crMjcf* mj, crXml* node) {
    crImporting* im = mj->im;
    node->used = true;
    crMjcfField* all = cr__import_grow(im, mj->fields.at, mj->fields.count, &mj->fields.capacity, sizeof *all,
                                       MOST_ASSETS, node);
    if (all == NULL) return;
    mj->fields.at = all;
    crMjcfField field = {.node = node};
    const char* file = cr__attr_text(node, "file");
    field.name = cr__attr_text(node, "name");
    if (field.name == NULL && file != NULL) field.name = cr__mjcf_base_name(im, file);
    if (!cr__mjcf_numbers(mj, node, -1, "size", 4, 4, field.size)) cr__need_text(im, node, "size");
    if (cr__import_ok(im) && !(field.size[0] > 0.0 && field.size[1] > 0.0 && field.size[2] > 0.0))
        cr__import_refuse(im, node, cr_xml_attr(node, "size"), CR_ERR_RANGE, "must be above 0");
    if (file != NULL) {
        field_file(mj, node, file, &field);
    } else {
        field_inline(mj, node, &field);
    }
    if (!cr__import_ok(im)) return;
    // MuJoCo scales the heights to 0..1
    double low = INFINITY, high = -INFINITY;
    int count = field.nrow * field.ncol;
    for (int i = 0; i < count; i++) {
        low = fmin(low, field.z[i]);
        high = fmax(high, field.z[i]);
    }
    for (int i = 0; i < count; i++) {
        field.z[i] = high > low ? (field.z[i] - low) / (high - low) : 0.0;
    }
    mj->fields.at[mj->fields.count++] = field;
}

void cr__mjcf_assets(crMjcf* mj) {
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "asset") != 0) continue;
        node->used = true;
        for (crXml* asset = node->child; asset != NULL && cr__import_ok(mj->im); asset = asset->next) {
            if (strcmp(asset->name, "mesh") == 0) add_mesh(mj, asset);
            if (strcmp(asset->name, "hfield") == 0) add_field(mj, asset);
        }
    }
}

static int find_mesh(crMjcf* mj, crXml* node, const char* name) {
    for (int i = 0; name != NULL && i < mj->meshes.count; i++) {
        if (mj->meshes.at[i].name != NULL && strcmp(mj->meshes.at[i].name, name) == 0) return i;
    }
    cr__import_refuse(mj->im, node, cr_xml_attr(node, "mesh"), CR_ERR_NAME, "no mesh is called \"%.60s\"",
                      name != NULL ? name : "");
    return 0;
}

static int find_field(crMjcf* mj, crXml* node, const char* name) {
    for (int i = 0; name != NULL && i < mj->fields.count; i++) {
        if (mj->fields.at[i].name != NULL && strcmp(mj->fields.at[i].name, name) == 0) return i;
    }
    cr__import_refuse(mj->im, node, cr_xml_attr(node, "hfield"), CR_ERR_NAME, "no hfield is called \"%.60s\"",
                      name != NULL ? name : "");
    return 0;
}

// size and pose, also where they are given by the two ends
static void geom_size(crMjcf* mj, crXml* node, int class, crMjcfGeom* g) {
    static const int sizes[] = {0, 0, 1, 2, 3, 2, 3, 0};
    crImporting* im = mj->im;
    double s[3] = {0.0, 0.0, 0.0}, ends[6];
    int need = sizes[g->kind], count = 0;
    bool line = g->kind >= CR_MJCF_CAPSULE && g->kind <= CR_MJCF_BOX;
    crXmlAttr* size = cr__mjcf_attr(mj, node, class, "size");
    if (size != NULL) count = cr__import_numbers(im, node, size, size->value, 1, 3, s);
    g->pose = cr__mjcf_pose(mj, node, class);
    if (line && cr__mjcf_numbers(mj, node, class, "fromto", 6, 6, ends)) {
        crVec3 from = cr_vec3(ends[0], ends[1], ends[2]), to = cr_vec3(ends[3], ends[4], ends[5]);
        crVec3 axis = cr_sub(from, to);
        g->pose = (crPose){cr_scale(0.5, cr_add(from, to)), cr__mjcf_quat_z(axis)};
        bool flat = need == 3;
        if (flat) s[1] = s[0];
        s[flat ? 2 : 1] = 0.5 * cr_norm(axis);
        if (count >= 1) count = need;
    }
    for (int k = 0; k < need && cr__import_ok(im); k++) {
        if (count < need || !(s[k] > 0.0))
            cr__import_refuse(im, node, size, CR_ERR_RANGE, "must be %d number%s above 0", need,
                              need == 1 ? "" : "s");
    }
    memcpy(g->size, s, sizeof s);
}

static crMass geom_mass(const crMjcf* mj, const crMjcfGeom* g) {
    const double* s = g->size;
    crShape shape;
    switch (g->kind) {
    case CR_MJCF_SPHERE:
        shape = cr_shape_sphere(s[0]);
        break;
    case CR_MJCF_CAPSULE:
        shape = cr_shape_capsule(s[0], s[1]);
        break;
    case CR_MJCF_CYLINDER:
        shape = cr_shape_cylinder(s[0], s[1]);
        break;
    case CR_MJCF_ELLIPSOID:
        shape = cr_shape_ellipsoid(s[0], s[1], s[2]);
        break;
    case CR_MJCF_BOX:
        shape = cr_shape_box(s[0], s[1], s[2]);
        break;
    case CR_MJCF_MESH:
        return cr_mass_moved(mj->meshes.at[g->mesh].mass, g->pose);
    default:
        return (crMass){0};
    }
    shape.pose = g->pose;
    return cr_mass_of_shape(&shape, 1.0);
}

static void weigh(crMjcf* mj, crXml* node, int class, const crMjcfGeom* g) {
    crMjcfBody* body = &mj->bodies.at[g->body];
    double density = cr__mjcf_number(mj, node, class, "density", 1000.0);
    double given = cr__mjcf_number(mj, node, class, "mass", NAN);
    double group = cr__mjcf_number(mj, node, class, "group", 0.0);
    crXmlAttr* shell = cr__mjcf_attr(mj, node, class, "shellinertia");
    if (shell != NULL && cr__import_bool(mj->im, node, shell, shell->value))
        cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, shell, "<geom> shellinertia is not supported");
    if (density < 0.0 || given < 0.0)
        cr__import_refuse(mj->im, node, cr_xml_attr(node, given < 0.0 ? "mass" : "density"), CR_ERR_RANGE,
                          "must not be negative");
    if (body->inertial || mj->compiler.inertiafromgeom == 0) return;
    if (group < mj->compiler.group_low || group > mj->compiler.group_high) return;
    crMass m = geom_mass(mj, g);
    double s = isnan(given) ? density : m.mass > 0.0 ? given / m.mass : 0.0;
    crSym3 I = m.inertia;
    m = (crMass){s * m.mass, m.com, {s * I.xx, s * I.xy, s * I.xz, s * I.yy, s * I.yz, s * I.zz}};
    body->mass = cr_mass_add(body->mass, m);
}

static void contact_values(crMjcf* mj, crXml* node, int class, crMjcfGeom* g) {
    double type = cr__mjcf_number(mj, node, class, "contype", 1.0);
    double affinity = cr__mjcf_number(mj, node, class, "conaffinity", 1.0);
    double condim = cr__mjcf_number(mj, node, class, "condim", 3.0);
    if (!(fabs(type) < 4294967296.0 && fabs(affinity) < 4294967296.0) || floor(type) != type ||
        floor(affinity) != affinity) {
        cr__import_refuse(mj->im, node, NULL, CR_ERR_RANGE,
                          "contype and conaffinity must be whole, of 32 bits");
        return;
    }
    if (condim != 1.0 && condim != 3.0 && condim != 4.0 && condim != 6.0) {
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "condim"), CR_ERR_RANGE,
                          "must be 1, 3, 4 or 6, is %g", condim);
        return;
    }
    g->group = (uint32_t)(int64_t)type;
    g->mask = (uint32_t)(int64_t)affinity;
    g->condim = (int)condim;
    g->priority = (int)fmax(-1e6, fmin(1e6, cr__mjcf_number(mj, node, class, "priority", 0.0)));
    memcpy(g->friction, (const double[]){1.0, 0.005, 0.0001}, sizeof g->friction);
    double mu[3] = {1.0, 0.005, 0.0001};
    if (cr__mjcf_numbers(mj, node, class, "friction", 1, 3, mu)) memcpy(g->friction, mu, sizeof mu);
    static const char* const soft[] = {"solimp", "solmix", NULL};
    g->solref[0] = 0.02;
    g->solref[1] = 1.0;
    cr__mjcf_numbers(mj, node, class, "solref", 2, 2, g->solref);
    cr__mjcf_soft(mj, node, class, soft);
    // contacts begin at margin - gap
    crXmlAttr* margin = cr__mjcf_attr(mj, node, class, "margin");
    double beyond =
        cr__mjcf_number(mj, node, class, "margin", 0.0) - cr__mjcf_number(mj, node, class, "gap", 0.0);
    if (margin != NULL) margin->used = !(beyond > 0.0);
    cr__mjcf_numbers(mj, node, class, "surfacevel", 3, 6, g->surface_velocity);
    for (int k = 0; k < 6; k++) {
        g->belt = g->belt || g->surface_velocity[k] != 0.0;
    }
    for (int k = 0; k < 3; k++) {
        if (g->friction[k] < 0.0)
            cr__import_refuse(mj->im, node, cr_xml_attr(node, "friction"), CR_ERR_RANGE,
                              "must not be negative");
    }
}

// rgba of the geom, or of the material it names
static const char* color_of(crMjcf* mj, crXml* node, int class) {
    const char* own = cr__mjcf_text(mj, node, class, "rgba");
    const char* name = cr__mjcf_text(mj, node, class, "material");
    if (own != NULL || name == NULL) return own;
    for (const crXml* asset = mj->root->child; asset != NULL; asset = asset->next) {
        if (strcmp(asset->name, "asset") != 0) continue;
        for (const crXml* m = asset->child; m != NULL; m = m->next) {
            const crXmlAttr* called = cr_xml_attr(m, "name");
            const crXmlAttr* rgba = cr_xml_attr(m, "rgba");
            bool same =
                strcmp(m->name, "material") == 0 && called != NULL && strcmp(called->value, name) == 0;
            if (same) return rgba != NULL ? rgba->value : NULL;
        }
    }
    return NULL;
}

void cr__mjcf_geom(crMjcf* mj, crXml* node, int class, int body, crPose frame, const char* name) {
    static const char* const kinds[] = {"plane",    "hfield", "sphere", "capsule", "ellipsoid",
                                        "cylinder", "box",    "mesh",   NULL};
    crImporting* im = mj->im;
    node->used = true;
    crMjcfGeom* all = cr__import_grow(im, mj->geoms.at, mj->geoms.count, &mj->geoms.capacity, sizeof *all,
                                      CR_SCENE_MAX_SHAPES, node);
    if (all == NULL) return;
    mj->geoms.at = all;
    const char* type = cr__mjcf_text(mj, node, class, "type");
    if (type != NULL && strcmp(type, "sdf") == 0) {
        cr__import_note(im, CR_NOTE_UNSUPPORTED, node, NULL, "<geom> of type sdf is not supported");
        for (crXmlAttr* attr = node->attrs; attr != NULL; attr = attr->next) {
            attr->used = true;
        }
        return;
    }
    crMjcfGeom g = {.node = node, .name = name, .body = body};
    g.kind = (crMjcfGeomKind)cr__mjcf_word(mj, node, class, "type", kinds, CR_MJCF_SPHERE);
    const char* mesh = cr__mjcf_text(mj, node, class, "mesh");
    const char* field = cr__mjcf_text(mj, node, class, "hfield");
    if (g.kind == CR_MJCF_MESH) g.mesh = find_mesh(mj, node, mesh);
    if (g.kind == CR_MJCF_HFIELD) g.hfield = find_field(mj, node, field);
    if (g.kind != CR_MJCF_MESH && mesh != NULL)
        cr__import_refuse(im, node, NULL, CR_ERR_FIELD, "a primitive fitted to a mesh is not supported");
    if (!cr__import_ok(im)) return;
    g.rgba = color_of(mj, node, class);
    g.hidden = cr__mjcf_number(mj, node, class, "group", 0.0) > 2.0;
    geom_size(mj, node, class, &g);
    g.pose = cr_pose_mul(frame, g.pose);
    contact_values(mj, node, class, &g);
    if (!cr__import_ok(im)) return;
    crMjcfBody* owner = &mj->bodies.at[body];
    g.next = -1;
    *(owner->geom_first < 0 ? &owner->geom_first : &mj->geoms.at[owner->geom_last].next) = mj->geoms.count;
    owner->geom_last = mj->geoms.count;
    mj->geoms.at[mj->geoms.count++] = g;
    weigh(mj, node, class, &g);
}

// moments at least `least`, and equal where no body has them
static void bound(const crMjcf* mj, crMass* m) {
    const crMjcfCompiler* c = &mj->compiler;
    double moment[3];
    crMat3 axes;
    m->mass = fmax(m->mass, c->boundmass);
    if (c->boundinertia <= 0.0 && !c->balanceinertia) return;
    cr_sym3_eigen(m->inertia, moment, &axes);
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        moment[k] = fmax(moment[k], c->boundinertia);
        sum += moment[k];
    }
    bool bad = moment[0] + moment[1] < moment[2] || moment[0] + moment[2] < moment[1] ||
               moment[1] + moment[2] < moment[0];
    crSym3 I = {0};
    for (int k = 0; k < 3; k++) {
        double d = c->balanceinertia && bad ? sum / 3.0 : moment[k];
        crVec3 a = cr_mat3_column(axes, k);
        I = cr_sym3_add(I, (crSym3){d * a.x * a.x, d * a.x * a.y, d * a.x * a.z, d * a.y * a.y, d * a.y * a.z,
                                    d * a.z * a.z});
    }
    m->inertia = I;
}

void cr__mjcf_masses(crMjcf* mj) {
    double total = 0.0;
    for (int i = 1; i < mj->bodies.count; i++) {
        bound(mj, &mj->bodies.at[i].mass);
        total += mj->bodies.at[i].mass.mass;
    }
    if (!(mj->compiler.settotalmass > 0.0) || !(total > 0.0)) return;
    double s = mj->compiler.settotalmass / total;
    for (int i = 1; i < mj->bodies.count; i++) {
        crMass* m = &mj->bodies.at[i].mass;
        crSym3 I = m->inertia;
        *m = (crMass){s * m->mass, m->com, {s * I.xx, s * I.xy, s * I.xz, s * I.yy, s * I.yz, s * I.zz}};
    }
}
