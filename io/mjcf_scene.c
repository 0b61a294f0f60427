// mjcf_scene.c - the tree of a scene from what was read of an MJCF model.
//
// Geoms with the same friction, condim and priority share a material; two materials make what MuJoCo makes of
// them (the higher priority's values, else the larger friction and condim), written down as pairs. A body
// whose parent never moves hangs on the world, so that it meets its parent's geoms, as in MuJoCo. Bodies
// that move together, and a body and the one it hangs on, are excluded where the chain of joints hides it.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"

#define NAME 64

static bool same_surface(const crMjcfGeom* a, const crMjcfGeom* b) {
    return a->own == b->own && a->condim == b->condim && a->priority == b->priority &&
           memcmp(a->friction, b->friction, sizeof a->friction) == 0 &&
           cr__mjcf_restitution(a->solref) == cr__mjcf_restitution(b->solref);
}

// mu, mu_spin, mu_roll and e of a contact of these geoms
static void combine(const crMjcfGeom* a, const crMjcfGeom* b, double out[4]) {
    const crMjcfGeom* first = a->priority > b->priority ? a : b;
    bool ranked = a->priority != b->priority;
    int condim = ranked ? first->condim : a->condim > b->condim ? a->condim : b->condim;
    static const int least[] = {3, 4, 6};
    for (int k = 0; k < 3; k++) {
        double mu = ranked ? first->friction[k] : fmax(a->friction[k], b->friction[k]);
        out[k] = condim >= least[k] ? mu : 0.0;
    }
    double solref[2];
    cr__mjcf_mix(a->solref, b->solref, solref);
    out[3] = cr__mjcf_restitution(ranked ? first->solref : solref);
}

static void put_surface(crTree* tree, crJson* to, const double mu[4]) {
    cr_tree_number(tree, to, "mu", mu[0]);
    if (mu[1] > 0.0) cr_tree_number(tree, to, "mu_spin", mu[1]);
    if (mu[2] > 0.0) cr_tree_number(tree, to, "mu_roll", mu[2]);
    if (mu[3] > 0.0) cr_tree_number(tree, to, "e", mu[3]);
}

static void material_name(int material, char name[NAME]) { snprintf(name, NAME, "surface%d", material); }

// numbers the materials; *first holds the first geom of each
static int number_materials(crMjcf* mj, int* first) {
    int count = 0;
    for (int i = 0; i < mj->geoms.count; i++) {
        crMjcfGeom* g = &mj->geoms.at[i];
        g->material = -1;
        for (int m = 0; m < count && g->material < 0; m++) {
            if (same_surface(g, &mj->geoms.at[first[m]])) g->material = m;
        }
        if (g->material >= 0) continue;
        if (count == CR_IMPORT_MAX_MATERIALS) {
            cr__import_refuse(mj->im, g->node, NULL, CR_ERR_LIMIT, "more than %d different surfaces", count);
            return 0;
        }
        g->material = count;
        first[count++] = i;
    }
    return count;
}

static void put_pair(crMjcf* mj, crJson** list, const crXml* node, int a, int b, const double mu[4]) {
    crTree* tree = &mj->im->tree;
    char names[2][NAME];
    if (*list == NULL) *list = cr_tree_list(tree, tree->doc->root, "pairs");
    cr__tree_at(mj->im, node);
    crJson* to = cr_tree_object(tree, *list, NULL);
    material_name(a, names[0]);
    material_name(b, names[1]);
    crJson* both = cr_tree_list(tree, to, "materials");
    cr_tree_text(tree, both, NULL, names[0]);
    cr_tree_text(tree, both, NULL, names[1]);
    put_surface(tree, to, mu);
}

static const crMjcfPair* explicit_pair(const crMjcf* mj, const crMjcfGeom* a, const crMjcfGeom* b) {
    for (int i = 0; i < mj->pairs.count; i++) {
        const crMjcfGeom* x = &mj->geoms.at[mj->pairs.at[i].a];
        const crMjcfGeom* y = &mj->geoms.at[mj->pairs.at[i].b];
        if ((x == a && y == b) || (x == b && y == a)) return &mj->pairs.at[i];
    }
    return NULL;
}

static void put_materials(crMjcf* mj) {
    crTree* tree = &mj->im->tree;
    int* first = cr__import_alloc(mj->im, ((size_t)mj->geoms.count + 1) * sizeof *first);
    if (first == NULL || mj->geoms.count == 0) return;
    int count = number_materials(mj, first);
    crJson* materials = cr_tree_object(tree, tree->doc->root, "materials");
    for (int m = 0; m < count; m++) {
        const crMjcfGeom* g = &mj->geoms.at[first[m]];
        char name[NAME];
        double mu[4];
        material_name(m, name);
        combine(g, g, mu);
        cr__tree_at(mj->im, g->node);
        put_surface(tree, cr_tree_object(tree, materials, name), mu);
    }
    crJson* pairs = NULL;
    for (int m = 0; m < count * count && !tree->full; m++) {
        int i = m / count, j = m % count;
        if (j <= i) continue;
        const crMjcfGeom* a = &mj->geoms.at[first[i]];
        const crMjcfGeom* b = &mj->geoms.at[first[j]];
        double mu[4];
        combine(a, b, mu);
        const crMjcfPair* own = explicit_pair(mj, a, b);
        if (own != NULL) {
            double e = own->e >= 0.0 ? own->e : mu[3];
            memcpy(mu, (const double[]){own->mu, own->spin, own->roll, e}, sizeof mu);
        }
        put_pair(mj, &pairs, b->node, i, j, mu);
    }
}

static void put_field(crTree* tree, crJson* to, const crMjcfField* field, crPose* pose) {
    const double* s = field->size;
    cr_tree_text(tree, to, "type", "heightfield");
    cr_tree_number(tree, to, "nx", field->ncol);
    cr_tree_number(tree, to, "ny", field->nrow);
    cr_tree_number(tree, to, "dx", 2.0 * s[0] / (field->ncol - 1));
    cr_tree_number(tree, to, "dy", 2.0 * s[1] / (field->nrow - 1));
    crJson* z = cr_tree_list(tree, to, "z");
    for (int i = 0; i < field->nrow * field->ncol; i++) {
        cr_tree_number(tree, z, NULL, s[2] * field->z[i]);
    }
    pose->p = cr_pose_point(*pose, cr_vec3(-s[0], -s[1], 0.0));
}

// a visual has no material, and a mesh keeps its triangles
static crJson* put_solid(crMjcf* mj, crJson* shapes, const crMjcfGeom* g, crPose pose, bool visual) {
    static const char* const names[] = {"halfspace", "", "sphere", "capsule", "ellipsoid", "cylinder", "box"};
    crImporting* im = mj->im;
    crTree* tree = &im->tree;
    cr__tree_at(im, g->node);
    crJson* to = cr_tree_object(tree, shapes, NULL);
    if (g->kind == CR_MJCF_MESH) {
        const crTriangles* mesh = &mj->meshes.at[g->mesh].triangles;
        if (visual && mesh->triangle_count > 0 && !cr__visuals_full(im))
            cr__mesh_visual(im, g->node, to, mesh);
        else
            cr__mesh_hull(im, to, mesh);
    } else if (g->kind == CR_MJCF_HFIELD) {
        put_field(tree, to, &mj->fields.at[g->hfield], &pose);
    } else {
        cr_tree_text(tree, to, "type", names[g->kind]);
    }
    if (g->kind == CR_MJCF_SPHERE || g->kind == CR_MJCF_CAPSULE || g->kind == CR_MJCF_CYLINDER)
        cr_tree_number(tree, to, "r", g->size[0]);
    if (g->kind == CR_MJCF_CAPSULE || g->kind == CR_MJCF_CYLINDER)
        cr_tree_number(tree, to, "half", g->size[1]);
    if (g->kind == CR_MJCF_BOX) cr_tree_numbers(tree, to, "half", g->size, 3);
    if (g->kind == CR_MJCF_ELLIPSOID) cr_tree_numbers(tree, to, "radii", g->size, 3);
    if (g->kind == CR_MJCF_PLANE) {
        crVec3 n = cr_quat_rotate(pose.q, cr_vec3(0, 0, 1));
        cr_tree_vector(tree, to, "n", n);
        cr_tree_number(tree, to, "offset", cr_dot(n, pose.p));
    } else {
        cr__tree_pose(im, to, pose);
    }
    cr__tree_color(im, to, g->rgba);
    return to;
}

static void put_shape(crMjcf* mj, crJson* shapes, const crMjcfGeom* g, crPose pose, bool filters) {
    crTree* tree = &mj->im->tree;
    crJson* to = put_solid(mj, shapes, g, pose, false);
    char name[NAME];
    material_name(g->material, name);
    cr_tree_text(tree, to, "material", name);
    if (!filters) return;
    cr_tree_number(tree, to, "group", mj->option.contact ? (double)g->group : 0.0);
    cr_tree_number(tree, to, "mask", mj->option.contact ? (double)g->mask : 0.0);
}

// Geoms whose surface moves become bodies of their own, driven at their surface. Those of moving bodies, planes and fields
// stand still.
static bool is_belt(const crMjcf* mj, const crMjcfGeom* g) {
    bool flat = g->kind == CR_MJCF_PLANE || g->kind == CR_MJCF_HFIELD;
    return g->belt && !flat && mj->bodies.at[g->body].weld == 0;
}

static bool touches(const crMjcfGeom* g) { return g->group != 0 || g->mask != 0; }

// The visuals of a body that has a mesh which touches nothing: all of its geoms that a viewer shows. Returns false and
// adds nothing for other bodies.
static bool put_visuals(crMjcf* mj, crJson* to, int body) {
    crJson* visuals = NULL;
    bool mesh = false;
    for (int i = mj->bodies.at[body].geom_first; i >= 0 && !mesh; i = mj->geoms.at[i].next) {
        mesh = mj->geoms.at[i].kind == CR_MJCF_MESH && !touches(&mj->geoms.at[i]) && !mj->geoms.at[i].hidden;
    }
    for (int i = mj->bodies.at[body].geom_first; i >= 0 && mesh; i = mj->geoms.at[i].next) {
        if (mj->geoms.at[i].hidden) continue;
        if (visuals == NULL) visuals = cr_tree_list(&mj->im->tree, to, "visuals");
        put_solid(mj, visuals, &mj->geoms.at[i], mj->geoms.at[i].pose, true);
    }
    return mesh;
}

static void put_shapes(crMjcf* mj, crJson* to, const char* key, int body, bool filters) {
    crJson* shapes = NULL;
    bool visuals = body != 0 && put_visuals(mj, to, body);
    for (int i = mj->bodies.at[body].geom_first; i >= 0; i = mj->geoms.at[i].next) {
        if (is_belt(mj, &mj->geoms.at[i]) || (visuals && !touches(&mj->geoms.at[i]))) continue;
        if (shapes == NULL) shapes = cr_tree_list(&mj->im->tree, to, key);
        put_shape(mj, shapes, &mj->geoms.at[i], mj->geoms.at[i].pose, filters);
    }
}

static void put_if(crTree* tree, crJson* to, const char* key, double value) {
    if (value != 0.0) cr_tree_number(tree, to, key, value);
}

// springs, limits and the rest along a joint, from its reference
static void put_along(crTree* tree, crJson* to, const crMjcfJoint* j) {
    bool ball = j->kind == CR_MJCF_BALL;
    if (j->limited) {
        double limits[2] = {ball ? 0.0 : j->lower - j->ref, ball ? fmin(j->upper, CR_PI) : j->upper - j->ref};
        cr_tree_numbers(tree, to, "limits", limits, 2);
    }
    put_if(tree, to, "stiffness", j->stiffness);
    if (!ball && j->stiffness != 0.0) put_if(tree, to, "rest", j->springref - j->ref);
    put_if(tree, to, "damping", j->damping);
    put_if(tree, to, "friction", j->frictionloss);
    put_if(tree, to, "armature", j->armature);
    if (j->actuator_range[0] < j->actuator_range[1])
        cr_tree_numbers(tree, to, "actuator_range", j->actuator_range, 2);
}

// the pose of a free body and its velocity: MJCF has that of the origin, and omega in the body's axes
static void put_free(crTree* tree, crJson* to, const crMjcfJoint* j, const crMjcfBody* body) {
    crQuat q = cr_quat_normalize((crQuat){j->q[3], j->q[4], j->q[5], j->q[6]});
    crVec3 omega = cr_quat_rotate(q, cr_vec3(j->v[3], j->v[4], j->v[5]));
    crVec3 arm = cr_quat_rotate(q, body->mass.com);
    crVec3 v = cr_add(cr_vec3(j->v[0], j->v[1], j->v[2]), cr_cross(omega, arm));
    cr_tree_vector(tree, to, "pos", cr_vec3(j->q[0], j->q[1], j->q[2]));
    cr_tree_quat(tree, to, "quat", q);
    if (cr_norm(v) > 0.0) cr_tree_vector(tree, to, "vel", v);
    if (cr_norm(omega) > 0.0) cr_tree_vector(tree, to, "omega", omega);
}

static void put_joint(crMjcf* mj, crJson* to, crMjcfJoint* j, crPose pose) {
    static const char* const names[] = {"free", "ball", "slider", "hinge"};
    crTree* tree = &mj->im->tree;
    cr_tree_text(tree, to, "joint", names[j->kind]);
    if (j->name != NULL && *j->name != '\0') {
        j->out_name = cr__import_name(mj->im, &mj->joint_names, j->node, j->name);
        cr_tree_text(tree, to, "joint_name", j->out_name);
    }
    if (j->kind == CR_MJCF_FREE) {
        put_free(tree, to, j, &mj->bodies.at[j->body]);
        return;
    }
    if (j->kind == CR_MJCF_BALL) {
        crQuat q = cr_quat_normalize((crQuat){j->q[0], j->q[1], j->q[2], j->q[3]});
        crVec3 omega = cr_quat_rotate(q, cr_vec3(j->v[0], j->v[1], j->v[2]));
        pose.q = q;
        if (cr_norm(omega) > 0.0) cr_tree_vector(tree, to, "omega", omega);
    }
    cr__tree_pose(mj->im, to, pose);
    if (cr_norm(j->pos) > 0.0) cr_tree_vector(tree, to, "anchor", j->pos);
    if (j->kind != CR_MJCF_BALL) {
        cr_tree_vector(tree, to, "axis", j->axis);
        put_if(tree, to, j->kind == CR_MJCF_HINGE ? "angle" : "shift", j->q[0] - j->ref);
        put_if(tree, to, j->kind == CR_MJCF_HINGE ? "omega" : "vel", j->v[0]);
    }
    put_along(tree, to, j);
}

static crJson* begin_body(crMjcf* mj, crJson* list, const crXml* node, const char* name, const char* parent) {
    crTree* tree = &mj->im->tree;
    cr__tree_at(mj->im, node);
    crJson* to = cr_tree_object(tree, list, NULL);
    cr_tree_text(tree, to, "name", name);
    if (strcmp(parent, "world") != 0) cr_tree_text(tree, to, "parent", parent);
    return to;
}

static bool turned(crQuat q) { return q.x != 0.0 || q.y != 0.0 || q.z != 0.0; }

static void put_massless(crTree* tree, crJson* to) {
    cr_tree_number(tree, to, "mass", 0.0);
    cr_tree_number(tree, to, "inertia", 0.0);
}

static void put_body(crMjcf* mj, crJson* list, int index, bool filters) {
    crImporting* im = mj->im;
    crTree* tree = &im->tree;
    crMjcfBody* b = &mj->bodies.at[index];
    const crMjcfBody* above = &mj->bodies.at[b->parent];
    const char* parent = above->weld == 0 ? "world" : above->out;
    crPose pose = above->weld == 0 ? b->world : b->pose;
    const char* label =
        b->name != NULL && *b->name != '\0' ? b->name : cr__import_format(im, "body%d", index);
    if (label == NULL) return;
    b->out = cr__import_name(im, &mj->names, b->node, label);
    for (int k = 0; k < b->joint_count && cr__import_ok(im); k++) {
        crMjcfJoint* j = &mj->joints.at[b->joint + k];
        bool last = k == b->joint_count - 1;
        // the spring and the limit of a ball are about its frame as it stands in the parent
        if (j->kind == CR_MJCF_BALL && turned(pose.q)) {
            const char* frame =
                cr__import_name(im, &mj->names, j->node, cr__import_format(im, "%s_frame", b->out));
            crJson* to = begin_body(mj, list, j->node, frame, parent);
            cr_tree_text(tree, to, "joint", "fixed");
            cr__tree_pose(im, to, pose);
            put_massless(tree, to);
            pose = cr_pose_identity();
            parent = frame;
        }
        j->out = last ? b->out
                      : cr__import_name(im, &mj->names, j->node,
                                        j->name != NULL ? cr__import_format(im, "%s_%s", b->out, j->name)
                                                        : cr__import_format(im, "%s_joint%d", b->out, k));
        if (!cr__import_ok(im)) return;
        crJson* to = begin_body(mj, list, last ? b->node : j->node, j->out, parent);
        put_joint(mj, to, j, pose);
        if (last) {
            cr__tree_mass(im, to, &b->mass);
            if (b->gravcomp != 0.0) cr_tree_number(tree, to, "gravity_scale", 1.0 - b->gravcomp);
            put_shapes(mj, to, "shapes", index, filters);
        } else {
            put_massless(tree, to);
        }
        pose = cr_pose_identity();
        parent = j->out;
    }
    if (b->joint_count > 0) return;
    crJson* to = begin_body(mj, list, b->node, b->out, parent);
    cr_tree_text(tree, to, "joint", "fixed");
    cr__tree_pose(im, to, pose);
    cr__tree_mass(im, to, &b->mass);
    put_shapes(mj, to, "shapes", index, filters);
}

static void put_belt(crMjcf* mj, const crMjcfGeom* g, int index, bool filters, crJson* bodies,
                     crJson* drives) {
    crImporting* im = mj->im;
    crTree* tree = &im->tree;
    crPose pose = cr_pose_mul(mj->bodies.at[g->body].world, g->pose);
    const double* u = g->surface_velocity;
    const char* label =
        g->name != NULL && *g->name != '\0' ? g->name : cr__import_format(im, "belt%d", index);
    const char* name = label != NULL ? cr__import_name(im, &mj->names, g->node, label) : NULL;
    if (name == NULL) return;
    crJson* to = begin_body(mj, bodies, g->node, name, "world");
    cr_tree_text(tree, to, "joint", "fixed");
    cr__tree_pose(im, to, pose);
    put_shape(mj, cr_tree_list(tree, to, "shapes"), g, cr_pose_identity(), filters);
    crJson* drive = cr_tree_object(tree, drives, NULL);
    cr_tree_text(tree, drive, "body", name);
    cr_tree_vector(tree, drive, "velocity", cr_quat_rotate(pose.q, cr_vec3(u[0], u[1], u[2])));
    cr_tree_vector(tree, drive, "omega", cr_quat_rotate(pose.q, cr_vec3(u[3], u[4], u[5])));
    cr_tree_bool(tree, drive, "surface", true);
}

static void put_belts(crMjcf* mj, bool filters, crJson* bodies) {
    crTree* tree = &mj->im->tree;
    crJson* drives = NULL;
    for (int i = 0; i < mj->geoms.count && cr__import_ok(mj->im); i++) {
        const crMjcfGeom* g = &mj->geoms.at[i];
        if (g->belt && !is_belt(mj, g)) {
            cr__import_note(
                mj->im, CR_NOTE_UNSUPPORTED, g->node, cr_xml_attr(g->node, "surfacevel"),
                "<geom> surfacevel of a plane, a field or a body that moves is not supported: the "
                "surface stands still");
        }
        if (!is_belt(mj, g)) continue;
        if (bodies == NULL) bodies = cr_tree_list(tree, tree->doc->root, "bodies");
        if (drives == NULL) drives = cr_tree_list(tree, tree->doc->root, "drive");
        put_belt(mj, g, i, filters, bodies, drives);
    }
}

static void put_exclude(crMjcf* mj, crJson** list, const crXml* node, int a, int b) {
    crTree* tree = &mj->im->tree;
    if (++mj->excluded > CR_IMPORT_MAX_EXCLUDES) {
        cr__import_refuse(mj->im, node, NULL, CR_ERR_LIMIT, "more than %d pairs of bodies do not meet",
                          CR_IMPORT_MAX_EXCLUDES);
        return;
    }
    if (*list == NULL) *list = cr_tree_list(tree, tree->doc->root, "exclude");
    cr__tree_at(mj->im, node);
    crJson* pair = cr_tree_list(tree, *list, NULL);
    cr_tree_text(tree, pair, NULL, mj->bodies.at[a].out);
    cr_tree_text(tree, pair, NULL, mj->bodies.at[b].out);
}

// all bodies of a weld that come before `body`, or of any place
static void exclude_weld(crMjcf* mj, crJson** list, int body, int weld, bool before) {
    for (int i = mj->bodies.at[weld].weld_first; i >= 0 && cr__import_ok(mj->im);
         i = mj->bodies.at[i].weld_next) {
        if (i == body || (before && i > body) || mj->bodies.at[i].geom_first < 0) continue;
        // a parent that the scene knows as such needs no word
        const crMjcfBody* b = &mj->bodies.at[body];
        bool chain =
            b->joint_count > 1 || (b->joint_count == 1 && mj->joints.at[b->joint].kind == CR_MJCF_BALL);
        bool known = b->parent == i && !chain;
        if (!known) put_exclude(mj, list, b->node, i, body);
    }
}

static void put_excludes(crMjcf* mj) {
    crJson* list = NULL;
    for (int i = 1; i < mj->bodies.count; i++) {
        const crMjcfBody* b = &mj->bodies.at[i];
        if (b->geom_first < 0 || b->weld == 0) continue;
        exclude_weld(mj, &list, i, b->weld, true);
        int above = mj->bodies.at[mj->bodies.at[b->weld].parent].weld;
        if (above != 0 && mj->option.filterparent) exclude_weld(mj, &list, i, above, false);
    }
    for (int i = 0; i < mj->excludes.count; i++) {
        if (mj->excludes.at[i][0] != mj->excludes.at[i][1])
            put_exclude(mj, &list, mj->root, mj->excludes.at[i][0], mj->excludes.at[i][1]);
    }
}

void cr__mjcf_scene(crMjcf* mj) {
    crTree* tree = &mj->im->tree;
    crJson* root = tree->doc->root;
    cr__tree_head(mj->im);
    cr_tree_vector(tree, root, "gravity", mj->option.gravity);
    cr_tree_number(tree, cr_tree_object(tree, root, "step"), "dt", mj->option.timestep);
    put_materials(mj);
    bool filters = !mj->option.contact;
    for (int i = 0; i < mj->geoms.count && !filters; i++) {
        filters = mj->geoms.at[i].group != 1 || mj->geoms.at[i].mask != 1;
    }
    put_shapes(mj, root, "static", 0, filters);
    crJson* bodies = mj->bodies.count > 1 ? cr_tree_list(tree, root, "bodies") : NULL;
    for (int i = 1; i < mj->bodies.count && cr__import_ok(mj->im); i++) {
        put_body(mj, bodies, i, filters);
    }
    put_belts(mj, filters, bodies);
    put_excludes(mj);
}
