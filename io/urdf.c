// urdf.c - a robot in URDF into a scene: links, joints, mimic joints, inertias, collision shapes,
// transmissions.
//
// A link's frame is that of the joint above it; origin is xyz and rpy. The root link is free, or fixed to the
// world where it is called "world" or fixed_base asks for it. A planar joint moves in the plane across its
// axis. Visual elements are kept for pictures: they do not act. Meshes collide as their hulls. Fails: by element and
// attribute; a link that no joint reaches, two parents, and loops are refused by name.
#include <math.h>
#include <string.h>

#include "io/scene.h"
#include "io/urdf.h"

static const char* const ignored_elements[] = {"material", "safety_controller", "calibration", "ros2_control",
                                               "sensor",   "verbose",           NULL};
// every element of URDF, understood or not
static const char* const schema[] = {"axis",
                                     "box",
                                     "calibration",
                                     "capsule",
                                     "child",
                                     "collision",
                                     "color",
                                     "contact",
                                     "contact_coefficients",
                                     "cylinder",
                                     "dynamics",
                                     "gazebo",
                                     "geometry",
                                     "inertia",
                                     "inertial",
                                     "joint",
                                     "limit",
                                     "link",
                                     "mass",
                                     "material",
                                     "mesh",
                                     "mimic",
                                     "origin",
                                     "parent",
                                     "robot",
                                     "ros2_control",
                                     "safety_controller",
                                     "self_collision_checking",
                                     "sensor",
                                     "sphere",
                                     "texture",
                                     "transmission",
                                     "verbose",
                                     "visual",
                                     NULL};
static const char* const ignored_attrs[] = {"version", "xmlns", "effort", "velocity", "name", NULL};

static crPose origin_of(crImporting* im, crXml* element) {
    crPose pose = cr_pose_identity();
    crXml* origin = cr__used_child(element, "origin");
    if (origin == NULL) return pose;
    crVec3 rpy = cr_vec3(0, 0, 0);
    cr__attr_vector(im, origin, "xyz", &pose.p);
    if (cr__attr_vector(im, origin, "rpy", &rpy)) pose.q = cr__quat_rpy(rpy);
    return pose;
}

static void collect_urdf(crUrdf* r) {
    crImporting* im = r->im;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(im); node = node->next) {
        if (strcmp(node->name, "link") != 0) continue;
        node->used = true;
        crUrdfLink* all = cr__import_grow(im, r->links, r->link_count, &r->link_capacity, sizeof *all,
                                          CR_SCENE_MAX_BODIES, node);
        const char* name = cr__need_text(im, node, "name");
        if (all == NULL) return;
        r->links = all;
        if (cr__urdf_find_link(r, name) >= 0)
            cr__import_refuse(im, node, cr_xml_attr(node, "name"), CR_ERR_NAME,
                              "a link is called \"%.60s\" already", name);
        all[r->link_count++] = (crUrdfLink){
            .node = node, .name = name, .joint = -1, .mu = {-1.0, -1.0}, .axis = {1.0, 0.0, 0.0}};
    }
}

static int end_of_urdf(crUrdf* r, crXml* joint, const char* which) {
    crXml* end = cr__used_child(joint, which);
    if (end == NULL) {
        cr__import_refuse(r->im, joint, NULL, CR_ERR_MISSING, "needs <%s link=\"...\">", which);
        return -1;
    }
    const char* name = cr__need_text(r->im, end, "link");
    int link = cr__urdf_find_link(r, name);
    if (link < 0)
        cr__import_refuse(r->im, end, cr_xml_attr(end, "link"), CR_ERR_NAME, "no link is called \"%.60s\"",
                          name);
    return link;
}

static void connect(crUrdf* r) {
    crImporting* im = r->im;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(im); node = node->next) {
        if (strcmp(node->name, "joint") != 0) continue;
        node->used = true;
        crUrdfJoint* all = cr__import_grow(im, r->joints, r->joint_count, &r->joint_capacity, sizeof *all,
                                           CR_SCENE_MAX_BODIES, node);
        if (all == NULL) return;
        r->joints = all;
        crUrdfJoint j = {
            .node = node, .name = cr__need_text(im, node, "name"), .type = cr__need_text(im, node, "type")};
        j.parent = end_of_urdf(r, node, "parent");
        j.child = cr__import_ok(im) ? end_of_urdf(r, node, "child") : -1;
        if (!cr__import_ok(im)) return;
        if (r->links[j.child].joint >= 0 || j.child == j.parent) {
            cr__import_refuse(im, node, NULL, CR_ERR_NAME, "the link \"%.60s\" has a parent already",
                              r->links[j.child].name);
        }
        r->links[j.child].joint = r->joint_count;
        all[r->joint_count++] = j;
    }
}

static void put_inertial_urdf(crUrdf* r, crXml* link, crJson* to) {
    static const char* const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    crImporting* im = r->im;
    crXml* inertial = cr__used_child(link, "inertial");
    crMass m = {0};
    if (inertial != NULL) {
        crPose pose = origin_of(im, inertial);
        crXml* mass = cr__used_child(inertial, "mass");
        crXml* inertia = cr__used_child(inertial, "inertia");
        if (mass == NULL || inertia == NULL) {
            cr__import_refuse(im, inertial, NULL, CR_ERR_MISSING, "needs <mass> and <inertia>");
            return;
        }
        double I[6] = {0.0};
        if (!cr__attr_numbers(im, mass, "value", 1, 1, &m.mass)) cr__need_text(im, mass, "value");
        for (int k = 0; k < 6; k++) {
            cr__attr_numbers(im, inertia, names[k], 1, 1, &I[k]);
        }
        m.inertia = (crSym3){I[0], I[1], I[2], I[3], I[4], I[5]};
        m = cr_mass_moved(m, pose);
        cr__tree_at(im, inertial);
    }
    cr__tree_mass(im, to, &m);
    cr__tree_at(im, link);
}

static double positive_urdf(crUrdf* r, crXml* node, const char* name) {
    double x = 0.0;
    if (!cr__attr_numbers(r->im, node, name, 1, 1, &x)) cr__need_text(r->im, node, name);
    if (cr__import_ok(r->im) && !(x > 0.0))
        cr__import_refuse(r->im, node, cr_xml_attr(node, name), CR_ERR_RANGE, "is %g, must be above 0", x);
    return x;
}

// the geometry of a <collision>, or of a <visual>, whose meshes keep their triangles; NULL where refused
static crJson* put_geometry_urdf(crUrdf* r, crXml* collision, crJson* shapes, bool visual) {
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crXml* geometry = cr__used_child(collision, "geometry");
    crXml* node = geometry != NULL ? geometry->child : NULL;
    crPose pose = origin_of(im, collision);
    if (node == NULL) {
        cr__import_refuse(im, collision, NULL, CR_ERR_MISSING, "needs <geometry> with a shape in it");
        return NULL;
    }
    node->used = true;
    cr__tree_at(im, node);
    crJson* to = cr_tree_object(tree, shapes, NULL);
    if (strcmp(node->name, "box") == 0) {
        crVec3 size = cr_vec3(0, 0, 0);
        if (!cr__attr_vector(im, node, "size", &size)) cr__need_text(im, node, "size");
        cr_tree_text(tree, to, "type", "box");
        cr_tree_vector(tree, to, "half", cr_scale(0.5, size));
    } else if (strcmp(node->name, "sphere") == 0) {
        cr_tree_text(tree, to, "type", "sphere");
        cr_tree_number(tree, to, "r", positive_urdf(r, node, "radius"));
    } else if (strcmp(node->name, "cylinder") == 0 || strcmp(node->name, "capsule") == 0) {
        cr_tree_text(tree, to, "type", node->name);
        cr_tree_number(tree, to, "r", positive_urdf(r, node, "radius"));
        cr_tree_number(tree, to, "half", 0.5 * positive_urdf(r, node, "length"));
    } else if (strcmp(node->name, "mesh") == 0) {
        crVec3 scale = cr_vec3(1, 1, 1);
        crTriangles mesh;
        cr__attr_vector(im, node, "scale", &scale);
        const char* uri = cr__need_text(im, node, "filename");
        bool good = cr__import_ok(im) && cr__mesh_read(im, node, cr__import_uri(im, node, uri), scale, &mesh);
        if (good && visual) cr__mesh_visual(im, node, to, &mesh);
        if (good && !visual) cr__mesh_hull(im, to, &mesh);
    } else {
        cr__import_refuse(im, node, NULL, CR_ERR_NAME, "is no shape: box, sphere, cylinder, capsule or mesh");
    }
    cr__tree_pose(im, to, pose);
    return to;
}

// rgba of the material of a visual: its own, or that of the robot's material of its name; visual may be NULL
static const char* color_of_urdf(const crUrdf* r, const crXml* visual) {
    const crXml* material = visual != NULL ? cr_xml_child(visual, "material") : NULL;
    const crXmlAttr* name = material != NULL ? cr_xml_attr(material, "name") : NULL;
    for (const crXml* m = r->root->child;
         m != NULL && name != NULL && cr_xml_child(material, "color") == NULL; m = m->next) {
        const crXmlAttr* called = cr_xml_attr(m, "name");
        bool same =
            strcmp(m->name, "material") == 0 && called != NULL && strcmp(called->value, name->value) == 0;
        if (same && m != material) material = m;
    }
    const crXml* color = material != NULL ? cr_xml_child(material, "color") : NULL;
    const crXmlAttr* rgba = color != NULL ? cr_xml_attr(color, "rgba") : NULL;
    return rgba != NULL ? rgba->value : NULL;
}

static void put_visual_urdf(void* ctx, crXml* visual, crJson* visuals) {
    crUrdf* r = ctx;
    crJson* to = put_geometry_urdf(r, visual, visuals, true);
    cr__tree_color(r->im, to, color_of_urdf(r, visual));
}

static void put_shapes_urdf(crUrdf* r, crUrdfLink* link, crJson* to) {
    crJson* shapes = NULL;
    link->rgba = color_of_urdf(r, cr_xml_child(link->node, "visual"));
    for (crXml* node = link->node->child; node != NULL && cr__import_ok(r->im); node = node->next) {
        if (strcmp(node->name, "collision") != 0) continue;
        node->used = true;
        if (shapes == NULL) shapes = cr_tree_list(&r->im->tree, to, "shapes");
        crJson* shape = put_geometry_urdf(r, node, shapes, false);
        if (link->surface[0] != '\0') cr_tree_text(&r->im->tree, shape, "material", link->surface);
        cr__tree_color(r->im, shape, link->rgba);
    }
    cr__import_visuals(r->im, link->node, to, put_visual_urdf, r);
}

static void put_dynamics(crUrdf* r, crUrdfJoint* j, crJson* to, bool limits) {
    crImporting* im = r->im;
    crXml* joint = j->node;
    crXml* limit = cr__used_child(joint, "limit");
    crXml* dynamics = cr__used_child(joint, "dynamics");
    double range[2] = {0.0, 0.0}, x = 0.0;
    if (limit != NULL) {
        bool lower = cr__attr_numbers(im, limit, "lower", 1, 1, &range[0]);
        bool upper = cr__attr_numbers(im, limit, "upper", 1, 1, &range[1]);
        cr__attr_numbers(im, limit, "effort", 1, 1, &j->effort);
        if (limits && (lower || upper)) cr_tree_numbers(&im->tree, to, "limits", range, 2);
    }
    if (limits && limit == NULL)
        cr__import_refuse(im, joint, NULL, CR_ERR_MISSING, "a revolute or prismatic joint needs <limit>");
    if (dynamics == NULL) return;
    if (cr__attr_numbers(im, dynamics, "damping", 1, 1, &x) && x != 0.0)
        cr_tree_number(&im->tree, to, "damping", x);
    if (cr__attr_numbers(im, dynamics, "friction", 1, 1, &x) && x != 0.0)
        cr_tree_number(&im->tree, to, "friction", x);
}

// two sliders and a hinge, each on the one before; the last is the link itself
static crJson* begin_planar(crUrdf* r, crUrdfLink* link, const char* parent, crPose pose, crVec3 axis) {
    static const char* const joints[] = {"slider", "slider", "hinge"};
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crMat3 F = cr_frame(axis);
    crJson* to = NULL;
    for (int k = 0; k < 3; k++) {
        to = cr_tree_object(tree, r->bodies, NULL);
        const char* name = link->out;
        if (k < 2)
            name =
                cr__import_name(im, &r->names, link->node, cr__import_format(im, "%s_plane%d", link->out, k));
        cr_tree_text(tree, to, "name", name);
        if (parent != NULL) cr_tree_text(tree, to, "parent", parent);
        cr_tree_text(tree, to, "joint", joints[k]);
        if (k == 0) cr__tree_pose(im, to, pose);
        cr_tree_vector(tree, to, "axis", cr_mat3_column(F, k == 2 ? 0 : k + 1));
        if (k == 2) break;
        cr_tree_number(tree, to, "mass", 0.0);
        cr_tree_number(tree, to, "inertia", 0.0);
        parent = name;
    }
    return to;
}

static void put_joint_name(crUrdf* r, crUrdfJoint* j, crJson* to) {
    j->out = cr__import_name(r->im, &r->joint_names, j->node, j->name);
    cr_tree_text(&r->im->tree, to, "joint_name", j->out);
}

static crJson* begin_jointed_urdf(crUrdf* r, crUrdfLink* link) {
    static const char* const types[] = {"fixed", "revolute", "continuous", "prismatic", "floating", "planar"};
    static const char* const joints[] = {"fixed", "hinge", "hinge", "slider", "free", ""};
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crUrdfJoint* j = &r->joints[link->joint];
    const crUrdfLink* above = &r->links[j->parent];
    bool world = strcmp(above->name, "world") == 0 && above->joint < 0;
    int type = 0;
    while (type < 6 && strcmp(j->type, types[type]) != 0) {
        type++;
    }
    crVec3 axis = cr_vec3(1, 0, 0);
    crXml* given = cr__used_child(j->node, "axis");
    if (given != NULL) cr__attr_vector(im, given, "xyz", &axis);
    crPose pose = origin_of(im, j->node);
    if (type == 6) cr__import_refuse(im, j->node, cr_xml_attr(j->node, "type"), CR_ERR_NAME, "no such joint");
    if (type == 4 && !world)
        cr__import_refuse(im, j->node, NULL, CR_ERR_RANGE,
                          "a floating joint must hang on the link \"world\"");
    if (!cr__import_ok(im)) return NULL;
    cr__tree_at(im, j->node);
    if (type == 5) return begin_planar(r, link, world ? NULL : above->out, pose, axis);
    crJson* to = cr_tree_object(tree, r->bodies, NULL);
    cr_tree_text(tree, to, "name", link->out);
    if (!world) cr_tree_text(tree, to, "parent", above->out);
    cr_tree_text(tree, to, "joint", joints[type]);
    cr__tree_pose(im, to, pose);
    if (type >= 1 && type <= 3) {
        put_joint_name(r, j, to);
        cr_tree_vector(tree, to, "axis", axis);
        put_dynamics(r, j, to, type != 2);
    }
    return to;
}

static void put_link_urdf(crUrdf* r, int index) {
    crImporting* im = r->im;
    crUrdfLink* link = &r->links[index];
    bool world = link->joint < 0 && strcmp(link->name, "world") == 0;
    bool bare = cr_xml_child(link->node, "collision") == NULL && cr_xml_child(link->node, "visual") == NULL;
    if (world && bare) return;
    link->out = cr__import_name(im, &r->names, link->node, link->name);
    crJson* to = NULL;
    cr__tree_at(im, link->node);
    if (link->joint >= 0) {
        to = begin_jointed_urdf(r, link);
    } else {
        to = cr_tree_object(&im->tree, r->bodies, NULL);
        cr_tree_text(&im->tree, to, "name", link->out);
        cr_tree_text(&im->tree, to, "joint", world || im->options->fixed_base ? "fixed" : "free");
    }
    if (!cr__import_ok(im)) return;
    put_inertial_urdf(r, link->node, to);
    put_shapes_urdf(r, link, to);
    if (link->weightless) cr_tree_number(&im->tree, to, "gravity_scale", 0.0);
}

// parents before children
static void put_links_urdf(crUrdf* r) {
    crImporting* im = r->im;
    int* order = cr__import_alloc(im, ((size_t)r->link_count + 1) * sizeof *order);
    bool* done = cr__import_alloc(im, ((size_t)r->link_count + 1) * sizeof *done);
    if (order == NULL || done == NULL) return;
    int count = 0;
    for (int i = 0; i < r->link_count; i++) {
        if (r->links[i].joint >= 0) continue;
        order[count++] = i;
        done[i] = true;
    }
    if (count > 1) {
        cr__import_refuse(im, r->links[order[1]].node, NULL, CR_ERR_NAME,
                          "no joint reaches this second root link");
        return;
    }
    for (int head = 0; head < count && cr__import_ok(im); head++) {
        put_link_urdf(r, order[head]);
        for (int j = 0; j < r->joint_count; j++) {
            if (r->joints[j].parent == order[head]) order[count++] = r->joints[j].child;
        }
    }
    if (cr__import_ok(im) && count < r->link_count)
        cr__import_refuse(im, r->root, NULL, CR_ERR_NAME, "%d links form a ring that no root reaches",
                          r->link_count - count);
}

// q = multiplier q_other + offset
static void put_mimics(crUrdf* r) {
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crJson* list = NULL;
    for (int i = 0; i < r->joint_count && cr__import_ok(im); i++) {
        crXml* mimic = cr__used_child(r->joints[i].node, "mimic");
        if (mimic == NULL) continue;
        const char* name = cr__need_text(im, mimic, "joint");
        int other = cr__urdf_find_joint(r, name);
        double coef[2] = {0.0, 1.0};
        cr__attr_numbers(im, mimic, "multiplier", 1, 1, &coef[1]);
        cr__attr_numbers(im, mimic, "offset", 1, 1, &coef[0]);
        if (other < 0)
            cr__import_refuse(im, mimic, cr_xml_attr(mimic, "joint"), CR_ERR_NAME,
                              "no joint is called \"%.60s\"", name);
        if (!cr__import_ok(im)) return;
        if (list == NULL) list = cr_tree_list(tree, tree->doc->root, "constraints");
        cr__tree_at(im, mimic);
        crJson* to = cr_tree_object(tree, list, NULL);
        cr_tree_text(tree, to, "type", "joint");
        crJson* names = cr_tree_list(tree, to, "bodies");
        cr_tree_text(tree, names, NULL, r->links[r->joints[i].child].out);
        cr_tree_text(tree, names, NULL, r->links[r->joints[other].child].out);
        cr_tree_numbers(tree, to, "coef", coef, 2);
    }
}

void cr__import_urdf(crImporting* im, crXml* root) {
    crUrdf r = {.im = im, .root = root};
    cr__attr_text(root, "name");
    collect_urdf(&r);
    connect(&r);
    if (cr__import_ok(im) && r.link_count == 0)
        cr__import_refuse(im, root, NULL, CR_ERR_MISSING, "needs at least one <link>");
    if (!cr__import_ok(im)) return;
    cr__tree_head(im);
    cr__urdf_surfaces(&r);
    r.bodies = cr_tree_list(&im->tree, im->tree.doc->root, "bodies");
    put_links_urdf(&r);
    put_mimics(&r);
    cr__urdf_transmissions(&r);
    im->schema = schema;
    cr__import_leftovers(im, root, ignored_elements, ignored_attrs);
}
