// sdf_shapes.c - collision shapes of SDF links, the surfaces they have, and visuals.
//
// mu, mu2 and fdir1 of <ode> are an ellipse of friction, restitution_coefficient is e. Two surfaces make the
// smaller mu and mu2, as Gazebo's ODE has it, written down as pairs; of two ellipses the first gives the axis. A torsional
// coefficient c over a patch of radius r is the moment 3 pi/16 c r N against spin. Numbers that soften contacts are noted.
// A plane is a half-space; a visual one is a square of its size, unless the link has a plane to collide with. Fails: by
// element.
#include <math.h>
#include <string.h>

#include "io/scene.h"
#include "io/sdf.h"

#define NAME 64

static double positive(crImporting* im, crXml* element, const char* name, double otherwise) {
    double x = otherwise;
    cr__sdf_numbers(im, element, name, 1, 1, &x);
    if (cr__import_ok(im) && !(x > 0.0))
        cr__import_refuse(im, element, NULL, CR_ERR_RANGE, "%s is %g, must be above 0", name, x);
    return x;
}

static crVec3 three(crImporting* im, crXml* element, const char* name, crVec3 otherwise) {
    double x[3];
    return cr__sdf_numbers(im, element, name, 3, 3, x) ? cr_vec3(x[0], x[1], x[2]) : otherwise;
}

static bool same(const crSdfSurface* a, const crSdfSurface* b) {
    bool round = a->mu == a->mu2;
    return a->mu == b->mu && a->mu2 == b->mu2 && a->e == b->e && a->spin == b->spin &&
           (round || cr_norm(cr_sub(a->axis, b->axis)) == 0.0);
}

// what acts and is not zero is left unmarked, and so noted
static void mark_zero(crImporting* im, crXml* element, const char* name) {
    crXml* child = cr_xml_child(element, name);
    double x = 1.0;
    if (child == NULL || !cr__sdf_numbers(im, element, name, 1, 1, &x)) return;
    child->used = x == 0.0;
}

// elements that steer other solvers, or say how soft a contact is
static void pass_over(crImporting* im, crXml* element, const char* const* names) {
    for (int i = 0; element != NULL && names[i] != NULL; i++) {
        crXml* child = cr_xml_child(element, names[i]);
        if (child == NULL) continue;
        cr__import_note(im, CR_NOTE_IGNORED, child, NULL,
                        "<%s> in <%s> steers another solver: contacts are hard", child->name, element->name);
        child->used = true;
        child->child = NULL;
    }
}

static void read_torsion(crImporting* im, crXml* friction, crSdfSurface* s) {
    static const char* const others[] = {"ode", "surface_radius", NULL};
    crXml* torsional = cr__used_child(friction, "torsional");
    if (torsional == NULL) return;
    double coefficient = 1.0, radius = 0.0;
    cr__sdf_numbers(im, torsional, "coefficient", 1, 1, &coefficient);
    cr__sdf_numbers(im, torsional, "patch_radius", 1, 1, &radius);
    bool patch = cr__sdf_flag(im, torsional, "use_patch_radius", true);
    pass_over(im, torsional, others);
    if (cr__import_ok(im) && (coefficient < 0.0 || radius < 0.0))
        cr__import_refuse(im, torsional, NULL, CR_ERR_RANGE,
                          "coefficient and patch_radius must not be negative");
    s->spin = patch ? 3.0 * CR_PI / 16.0 * coefficient * radius : 0.0;
    if (!patch && coefficient > 0.0)
        cr__import_note(im, CR_NOTE_UNSUPPORTED, torsional, NULL,
                        "<torsional> by depth is not supported: contacts spin freely");
}

static void read_friction(crImporting* im, crXml* surface, crPose pose, crSdfSurface* s) {
    static const char* const others[] = {"bullet", "dart", "simbody", NULL};
    crXml* friction = cr__used_child(surface, "friction");
    if (friction != NULL) read_torsion(im, friction, s);
    pass_over(im, friction, others);
    crXml* ode = friction != NULL ? cr__used_child(friction, "ode") : NULL;
    if (ode == NULL) return;
    cr__sdf_numbers(im, ode, "mu", 1, 1, &s->mu);
    s->mu2 = s->mu;
    cr__sdf_numbers(im, ode, "mu2", 1, 1, &s->mu2);
    bool directed = cr_xml_child(ode, "fdir1") != NULL;
    crVec3 axis = three(im, ode, "fdir1", s->axis);
    if (!(cr_norm(axis) > 0.0)) axis = s->axis;
    s->axis = cr_quat_rotate(pose.q, axis);
    if (s->mu != s->mu2 && !directed)
        cr__import_note(im, CR_NOTE_IGNORED, ode, NULL, "<mu2> without <fdir1>: mu is taken along x");
    mark_zero(im, ode, "slip1");
    mark_zero(im, ode, "slip2");
    if (cr__import_ok(im) && (s->mu < 0.0 || s->mu2 < 0.0))
        cr__import_refuse(im, ode, NULL, CR_ERR_RANGE, "mu and mu2 must not be negative");
}

// the number of the surface, and bits of what it meets (-1: all)
static int read_surface_shapes(crSdfWorld* w, crXml* collision, crPose pose, double* bits) {
    crImporting* im = w->im;
    crSdfSurface s = {.node = collision, .mu = 1.0, .mu2 = 1.0, .axis = {1.0, 0.0, 0.0}};
    crXml* surface = cr__used_child(collision, "surface");
    *bits = -1.0;
    if (surface != NULL) {
        crXml* bounce = cr__used_child(surface, "bounce");
        crXml* contact = cr__used_child(surface, "contact");
        static const char* const soft[] = {
            "ode", "bullet", "dart", "simbody", "poissons_ratio", "elastic_modulus", NULL};
        read_friction(im, surface, pose, &s);
        pass_over(im, contact, soft);
        if (contact != NULL && cr__sdf_flag(im, contact, "collide_without_contact", false))
            cr__import_note(im, CR_NOTE_UNSUPPORTED, contact, NULL,
                            "<collide_without_contact> is not supported: the shape is solid");
        if (bounce != NULL) cr__sdf_numbers(im, bounce, "restitution_coefficient", 1, 1, &s.e);
        crXml* threshold = bounce != NULL && s.e > 0.0 ? cr_xml_child(bounce, "threshold") : NULL;
        if (threshold != NULL)
            cr__import_note(im, CR_NOTE_IGNORED, threshold, NULL,
                            "<threshold>: contacts bounce at every speed");
        if (bounce != NULL) cr__used_child(bounce, "threshold");
        if (contact != NULL) cr__sdf_numbers(im, contact, "collide_bitmask", 1, 1, bits);
    }
    if (cr__import_ok(im) && (*bits < -1.0 || *bits > 4294967295.0 || floor(*bits) != *bits))
        cr__import_refuse(im, surface, NULL, CR_ERR_RANGE,
                          "collide_bitmask must be a whole number of 32 bits");
    for (int i = 0; i < w->surface_count; i++) {
        if (same(&s, &w->surfaces[i])) return i;
    }
    crSdfSurface* all = cr__import_grow(im, w->surfaces, w->surface_count, &w->surface_capacity, sizeof *all,
                                        CR_IMPORT_MAX_MATERIALS, collision);
    if (all == NULL) return 0;
    w->surfaces = all;
    all[w->surface_count] = s;
    return w->surface_count++;
}

static void put_plane(crImporting* im, crXml* node, crPose pose, crJson* to) {
    crVec3 n = cr_quat_rotate(pose.q, three(im, node, "normal", cr_vec3(0, 0, 1)));
    double length = cr_norm(n);
    crXml* size = cr_xml_child(node, "size");
    if (size != NULL) size->used = true;
    if (!(length > 0.0)) cr__import_refuse(im, node, NULL, CR_ERR_UNIT, "normal must not be zero");
    cr_tree_text(&im->tree, to, "type", "halfspace");
    cr_tree_vector(&im->tree, to, "n", n);
    cr_tree_number(&im->tree, to, "offset", length > 0.0 ? cr_dot(n, pose.p) / length : 0.0);
}

// the square of a visual plane
static void put_square(crImporting* im, crXml* node, crPose pose, crJson* to) {
    crVec3 n = three(im, node, "normal", cr_vec3(0, 0, 1));
    double size[2] = {1.0, 1.0}, length = cr_norm(n);
    cr__sdf_numbers(im, node, "size", 2, 2, size);
    if (!(length > 0.0)) cr__import_refuse(im, node, NULL, CR_ERR_UNIT, "normal must not be zero");
    crMat3 F = cr_frame(length > 0.0 ? cr_scale(1.0 / length, n) : cr_vec3(0, 0, 1));
    crVec3 corners[4];
    for (int i = 0; i < 4; i++) {
        double a = i == 0 || i == 3 ? -0.5 : 0.5, b = i < 2 ? -0.5 : 0.5;
        corners[i] =
            cr_add(cr_scale(a * size[0], cr_mat3_column(F, 1)), cr_scale(b * size[1], cr_mat3_column(F, 2)));
    }
    int triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};
    cr__mesh_visual(im, node, to, &(crTriangles){4, 2, corners, triangles});
    cr__tree_pose(im, to, pose);
}

// how a geometry is taken
typedef enum Use { COLLIDES, SEEN, SEEN_ON_PLANE } Use;

// false where the geometry is nothing, or nothing that carom has: then it is noted
static bool put_geometry(crSdfWorld* w, crXml* node, crPose pose, crJson* shapes, Use use, crJson** made) {
    crImporting* im = w->im;
    crTree* tree = &im->tree;
    static const char* const round[] = {"sphere", "cylinder", "capsule", "cone"};
    static const char* const known[] = {"sphere",    "cylinder", "capsule", "cone", "box",
                                        "ellipsoid", "plane",    "mesh",    NULL};
    bool is = false;
    for (int i = 0; known[i] != NULL; i++) {
        is = is || strcmp(node->name, known[i]) == 0;
    }
    if (!is) return false;
    node->used = true;
    cr__tree_at(im, node);
    crJson* to = *made = cr_tree_object(tree, shapes, NULL);
    for (int i = 0; i < 4; i++) {
        if (strcmp(node->name, round[i]) != 0) continue;
        cr_tree_text(tree, to, "type", round[i]);
        cr_tree_number(tree, to, "r", positive(im, node, "radius", i == 0 ? 1.0 : 0.5));
        if (i > 0) cr_tree_number(tree, to, "half", 0.5 * positive(im, node, "length", 1.0));
    }
    if (strcmp(node->name, "box") == 0) {
        cr_tree_text(tree, to, "type", "box");
        cr_tree_vector(tree, to, "half", cr_scale(0.5, three(im, node, "size", cr_vec3(1, 1, 1))));
    } else if (strcmp(node->name, "ellipsoid") == 0) {
        cr_tree_text(tree, to, "type", "ellipsoid");
        cr_tree_vector(tree, to, "radii", three(im, node, "radii", cr_vec3(1, 1, 1)));
    } else if (strcmp(node->name, "plane") == 0) {
        (use == SEEN ? put_square : put_plane)(im, node, pose, to);
        return true;
    } else if (strcmp(node->name, "mesh") == 0) {
        crTriangles mesh;
        const char* uri = cr__sdf_text(im, node, "uri");
        crVec3 scale = three(im, node, "scale", cr_vec3(1, 1, 1));
        if (uri == NULL) cr__import_refuse(im, node, NULL, CR_ERR_MISSING, "needs <uri>");
        bool good = cr__import_ok(im) && cr__mesh_read(im, node, cr__import_uri(im, node, uri), scale, &mesh);
        if (good && use == COLLIDES) cr__mesh_hull(im, to, &mesh);
        if (good && use != COLLIDES) cr__mesh_visual(im, node, to, &mesh);
    }
    cr__tree_pose(im, to, pose);
    return true;
}

static void surface_name(int index, char name[NAME]) { snprintf(name, NAME, "surface%d", index); }

// diffuse colour of a visual, NULL where it has none or visual is NULL
static const char* color_of_sdf(const crXml* visual) {
    const crXml* material = visual != NULL ? cr_xml_child(visual, "material") : NULL;
    const crXml* diffuse = material != NULL ? cr_xml_child(material, "diffuse") : NULL;
    return diffuse != NULL ? diffuse->text : NULL;
}

static bool has_plane(const crXml* link) {
    for (const crXml* node = link->child; node != NULL; node = node->next) {
        const crXml* geometry = strcmp(node->name, "collision") == 0 ? cr_xml_child(node, "geometry") : NULL;
        if (geometry != NULL && cr_xml_child(geometry, "plane") != NULL) return true;
    }
    return false;
}

static void put_visual_sdf(void* ctx, crXml* visual, crJson* visuals) {
    crSdfWorld* w = ctx;
    const char* relative = NULL;
    crPose pose = cr__sdf_pose(w->im, visual, &relative);
    const crXml* geometry = cr_xml_child(visual, "geometry");
    if (relative != NULL)
        cr__import_refuse(w->im, visual, NULL, CR_ERR_FIELD, "a pose with relative_to is not supported here");
    for (crXml* g = geometry != NULL ? geometry->child : NULL; g != NULL && cr__import_ok(w->im);
         g = g->next) {
        crJson* made = NULL;
        if (strcmp(g->name, "empty") == 0) continue;
        if (put_geometry(w, g, pose, visuals, has_plane(visual->parent) ? SEEN_ON_PLANE : SEEN, &made))
            cr__tree_color(w->im, made, color_of_sdf(visual));
        else
            cr__import_refuse(w->im, g, NULL, CR_ERR_NAME, "is no shape that carom draws");
    }
}

int cr__sdf_shapes(crSdfWorld* w, crXml* link, crJson* to) {
    crImporting* im = w->im;
    crJson* shapes = NULL;
    int count = 0;
    for (crXml* node = link->child; node != NULL && cr__import_ok(im); node = node->next) {
        if (strcmp(node->name, "collision") != 0) continue;
        const char* relative = NULL;
        double bits = -1.0;
        node->used = true;
        crPose pose = cr__sdf_pose(im, node, &relative);
        if (relative != NULL)
            cr__import_refuse(im, node, NULL, CR_ERR_FIELD,
                              "a collision's pose with relative_to is not supported");
        crXml* geometry = cr__used_child(node, "geometry");
        int surface = read_surface_shapes(w, node, pose, &bits);
        if (shapes == NULL) shapes = cr_tree_list(&im->tree, to, "shapes");
        for (crXml* g = geometry != NULL ? geometry->child : NULL; g != NULL && cr__import_ok(im);
             g = g->next) {
            crJson* made = NULL;
            if (!put_geometry(w, g, pose, shapes, COLLIDES, &made)) continue;
            char name[NAME];
            surface_name(surface, name);
            cr_tree_text(&im->tree, made, "material", name);
            cr__tree_color(im, made, color_of_sdf(cr_xml_child(link, "visual")));
            if (bits >= 0.0) cr_tree_number(&im->tree, made, "group", bits);
            if (bits >= 0.0) cr_tree_number(&im->tree, made, "mask", bits);
            count++;
        }
    }
    cr__import_visuals(im, link, to, put_visual_sdf, w);
    return count;
}

static void put_friction(crTree* tree, crJson* to, double mu, double mu2, double spin, crVec3 axis) {
    cr_tree_number(tree, to, "mu", mu);
    if (spin > 0.0) cr_tree_number(tree, to, "mu_spin", spin);
    if (mu == mu2) return;
    cr_tree_number(tree, to, "mu2", mu2);
    cr_tree_vector(tree, to, "axis", axis);
}

void cr__sdf_materials(crSdfWorld* w) {
    crTree* tree = &w->im->tree;
    char names[2][NAME];
    if (w->surface_count == 0) return;
    crJson* materials = cr_tree_object(tree, tree->doc->root, "materials");
    for (int i = 0; i < w->surface_count; i++) {
        const crSdfSurface* s = &w->surfaces[i];
        surface_name(i, names[0]);
        cr__tree_at(w->im, s->node);
        crJson* to = cr_tree_object(tree, materials, names[0]);
        put_friction(tree, to, s->mu, s->mu2, s->spin, s->axis);
        cr_tree_number(tree, to, "e", s->e);
    }
    crJson* pairs = w->surface_count > 1 ? cr_tree_list(tree, tree->doc->root, "pairs") : NULL;
    for (int k = 0; k < w->surface_count * w->surface_count; k++) {
        int i = k / w->surface_count, j = k % w->surface_count;
        if (j <= i) continue;
        // the first has the axis
        bool swap = w->surfaces[i].mu == w->surfaces[i].mu2;
        const crSdfSurface* a = &w->surfaces[swap ? j : i];
        const crSdfSurface* b = &w->surfaces[swap ? i : j];
        surface_name(swap ? j : i, names[0]);
        surface_name(swap ? i : j, names[1]);
        cr__tree_at(w->im, a->node);
        crJson* to = cr_tree_object(tree, pairs, NULL);
        crJson* both = cr_tree_list(tree, to, "materials");
        cr_tree_text(tree, both, NULL, names[0]);
        cr_tree_text(tree, both, NULL, names[1]);
        put_friction(tree, to, fmin(a->mu, b->mu), fmin(a->mu2, b->mu2), fmin(a->spin, b->spin), a->axis);
    }
}
