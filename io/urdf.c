// urdf.c - a robot in URDF into a scene: links, joints, mimic joints, inertias, collision shapes,
// transmissions.
//
// A link's frame is that of the joint above it; origin is xyz and rpy. The root link is free, or fixed to the
// world where it is called "world" or fixed_base asks for it. A planar joint moves in the plane across its
// axis. Visual elements are ignored: they do not act. Meshes collide as their hulls. Fails: by element and
// attribute; a link that no joint reaches, two parents, and loops are refused by name.
#include <math.h>
#include <string.h>

#include "io/import_parts.h"
#include "io/scene.h"

typedef struct Link {
    crXml* node;
    const char* name;
    const char* out;
    int joint;         // above it, -1 for the root
    double mu[2];      // of <gazebo>: along and across, negative: none
    bool weightless;   // of <gazebo>: turnGravityOff
    char surface[80];  // its material, "" where there is none
} Link;

typedef struct Joint {
    crXml* node;
    const char* name;
    const char* type;
    int parent, child;
    const char* out;  // its name in the scene, NULL where it has none
    double effort;    // largest, 0: not given
} Joint;

typedef struct Robot {
    crImporting* im;
    crXml* root;
    int link_count, link_capacity;
    Link* links;
    int joint_count, joint_capacity;
    Joint* joints;
    crNames names, joint_names, actuator_names;
    crJson* bodies;
} Robot;

static const char* const ignored_elements[] = {
    "visual", "material", "safety_controller", "calibration", "ros2_control", "sensor", "verbose", NULL};
// every element of URDF, understood or not
static const char* const schema[] = {
    "axis", "box", "calibration", "capsule", "child", "collision", "color", "contact",
    "contact_coefficients", "cylinder", "dynamics", "gazebo", "geometry", "inertia", "inertial", "joint",
    "limit", "link", "mass", "material", "mesh", "mimic", "origin", "parent", "robot", "ros2_control",
    "safety_controller", "self_collision_checking", "sensor", "sphere", "texture", "transmission",
    "verbose", "visual", NULL};
static const char* const ignored_attrs[] = {"version", "xmlns", "effort", "velocity", "name", NULL};

static int find_link(const Robot* r, const char* name) {
    for (int i = 0; i < r->link_count; i++) {
        if (strcmp(r->links[i].name, name) == 0) return i;
    }
    return -1;
}

static crPose origin_of(crImporting* im, crXml* element) {
    crPose pose = cr_pose_identity();
    crXml* origin = cr__used_child(element, "origin");
    if (origin == NULL) return pose;
    crVec3 rpy = cr_vec3(0, 0, 0);
    cr__attr_vector(im, origin, "xyz", &pose.p);
    if (cr__attr_vector(im, origin, "rpy", &rpy)) pose.q = cr__quat_rpy(rpy);
    return pose;
}

static void collect(Robot* r) {
    crImporting* im = r->im;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(im); node = node->next) {
        if (strcmp(node->name, "link") != 0) continue;
        node->used = true;
        Link* all = cr__import_grow(im, r->links, r->link_count, &r->link_capacity, sizeof *all,
                                    CR_SCENE_MAX_BODIES, node);
        const char* name = cr__need_text(im, node, "name");
        if (all == NULL) return;
        r->links = all;
        if (find_link(r, name) >= 0)
            cr__import_refuse(im, node, cr_xml_attr(node, "name"), CR_ERR_NAME,
                              "a link is called \"%.60s\" already", name);
        all[r->link_count++] = (Link){.node = node, .name = name, .joint = -1, .mu = {-1.0, -1.0}};
    }
}

static int end_of(Robot* r, crXml* joint, const char* which) {
    crXml* end = cr__used_child(joint, which);
    if (end == NULL) {
        cr__import_refuse(r->im, joint, NULL, CR_ERR_MISSING, "needs <%s link=\"...\">", which);
        return -1;
    }
    const char* name = cr__need_text(r->im, end, "link");
    int link = find_link(r, name);
    if (link < 0)
        cr__import_refuse(r->im, end, cr_xml_attr(end, "link"), CR_ERR_NAME, "no link is called \"%.60s\"",
                          name);
    return link;
}

static void connect(Robot* r) {
    crImporting* im = r->im;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(im); node = node->next) {
        if (strcmp(node->name, "joint") != 0) continue;
        node->used = true;
        Joint* all = cr__import_grow(im, r->joints, r->joint_count, &r->joint_capacity, sizeof *all,
                                     CR_SCENE_MAX_BODIES, node);
        if (all == NULL) return;
        r->joints = all;
        Joint j = {
            .node = node, .name = cr__need_text(im, node, "name"), .type = cr__need_text(im, node, "type")};
        j.parent = end_of(r, node, "parent");
        j.child = cr__import_ok(im) ? end_of(r, node, "child") : -1;
        if (!cr__import_ok(im)) return;
        if (r->links[j.child].joint >= 0 || j.child == j.parent) {
            cr__import_refuse(im, node, NULL, CR_ERR_NAME, "the link \"%.60s\" has a parent already",
                              r->links[j.child].name);
        }
        r->links[j.child].joint = r->joint_count;
        all[r->joint_count++] = j;
    }
}

static void put_inertial(Robot* r, crXml* link, crJson* to) {
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

static double positive(Robot* r, crXml* node, const char* name) {
    double x = 0.0;
    if (!cr__attr_numbers(r->im, node, name, 1, 1, &x)) cr__need_text(r->im, node, name);
    if (cr__import_ok(r->im) && !(x > 0.0))
        cr__import_refuse(r->im, node, cr_xml_attr(node, name), CR_ERR_RANGE, "is %g, must be above 0", x);
    return x;
}

static void mark_inside(crXml* node) {
    node->used = true;
    for (crXmlAttr* attr = node->attrs; attr != NULL; attr = attr->next) {
        attr->used = true;
    }
    for (crXml* child = node->child; child != NULL; child = child->next) {
        mark_inside(child);
    }
}

// the number of an element: its text, or its attribute value
static double value_of(Robot* r, crXml* element, double otherwise) {
    crXmlAttr* attr = cr_xml_attr(element, "value");
    double x = otherwise;
    if (attr != NULL) attr->used = true;
    cr__import_numbers(r->im, element, attr, attr != NULL ? attr->value : element->text, 1, 1, &x);
    return x;
}

// friction and gravity of a link as Gazebo has them; what else it says is for Gazebo
static void read_gazebo(Robot* r, crXml* node) {
    static const char* const acts[] = {"kp", "kd", "fdir1", "dampingFactor", "selfCollide", "maxContacts", NULL};
    crImporting* im = r->im;
    node->used = true;
    const char* reference = cr__attr_text(node, "reference");
    int index = reference != NULL ? find_link(r, reference) : -1;
    Link* link = index >= 0 ? &r->links[index] : NULL;
    for (crXml* child = node->child; child != NULL && cr__import_ok(im); child = child->next) {
        bool along = strcmp(child->name, "mu1") == 0, across = strcmp(child->name, "mu2") == 0;
        mark_inside(child);
        bool matters = false;
        for (int i = 0; acts[i] != NULL; i++) {
            matters = matters || strcmp(child->name, acts[i]) == 0;
        }
        if (link != NULL && (along || across)) {
            double mu = value_of(r, child, 0.0);
            link->mu[across] = mu;
            if (mu < 0.0) cr__import_refuse(im, child, NULL, CR_ERR_RANGE, "is %g, must not be negative", mu);
        } else if (link != NULL && strcmp(child->name, "turnGravityOff") == 0) {
            link->weightless = cr__import_bool(im, child, NULL, child->text);
        } else {
            cr__import_note(im, link != NULL && matters ? CR_NOTE_UNSUPPORTED : CR_NOTE_IGNORED, child, NULL,
                            "<%.60s> in <gazebo> %s", child->name,
                            link != NULL && matters ? "is not supported" : "steers Gazebo");
        }
    }
}

static void read_surfaces(Robot* r) {
    crJson* materials = NULL;
    crTree* tree = &r->im->tree;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(r->im); node = node->next) {
        if (strcmp(node->name, "gazebo") == 0) read_gazebo(r, node);
    }
    for (int i = 0; i < r->link_count && cr__import_ok(r->im); i++) {
        Link* link = &r->links[i];
        if (link->mu[0] < 0.0 && link->mu[1] < 0.0) continue;
        double mu = link->mu[0] >= 0.0 ? link->mu[0] : link->mu[1];
        snprintf(link->surface, sizeof link->surface, "surface%d", i);
        if (materials == NULL) materials = cr_tree_object(tree, tree->doc->root, "materials");
        cr__tree_at(r->im, link->node);
        crJson* to = cr_tree_object(tree, materials, link->surface);
        cr_tree_number(tree, to, "mu", mu);
        if (link->mu[1] >= 0.0 && link->mu[1] != mu) {
            cr_tree_number(tree, to, "mu2", link->mu[1]);
            cr_tree_vector(tree, to, "axis", cr_vec3(1, 0, 0));
        }
    }
}

static void put_geometry(Robot* r, const Link* link, crXml* collision, crJson* shapes) {
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crXml* geometry = cr__used_child(collision, "geometry");
    crXml* node = geometry != NULL ? geometry->child : NULL;
    crPose pose = origin_of(im, collision);
    if (node == NULL) {
        cr__import_refuse(im, collision, NULL, CR_ERR_MISSING, "needs <geometry> with a shape in it");
        return;
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
        cr_tree_number(tree, to, "r", positive(r, node, "radius"));
    } else if (strcmp(node->name, "cylinder") == 0 || strcmp(node->name, "capsule") == 0) {
        cr_tree_text(tree, to, "type", node->name);
        cr_tree_number(tree, to, "r", positive(r, node, "radius"));
        cr_tree_number(tree, to, "half", 0.5 * positive(r, node, "length"));
    } else if (strcmp(node->name, "mesh") == 0) {
        crVec3 scale = cr_vec3(1, 1, 1);
        crTriangles mesh;
        cr__attr_vector(im, node, "scale", &scale);
        const char* uri = cr__need_text(im, node, "filename");
        if (cr__import_ok(im) && cr__mesh_read(im, node, cr__import_uri(im, node, uri), scale, &mesh))
            cr__mesh_hull(im, to, &mesh);
    } else {
        cr__import_refuse(im, node, NULL, CR_ERR_NAME, "is no shape: box, sphere, cylinder, capsule or mesh");
    }
    cr__tree_pose(im, to, pose);
    if (link->surface[0] != '\0') cr_tree_text(tree, to, "material", link->surface);
}

static void put_shapes(Robot* r, const Link* link, crJson* to) {
    crJson* shapes = NULL;
    for (crXml* node = link->node->child; node != NULL && cr__import_ok(r->im); node = node->next) {
        if (strcmp(node->name, "collision") != 0) continue;
        node->used = true;
        if (shapes == NULL) shapes = cr_tree_list(&r->im->tree, to, "shapes");
        put_geometry(r, link, node, shapes);
    }
}

static void put_dynamics(Robot* r, Joint* j, crJson* to, bool limits) {
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
static crJson* begin_planar(Robot* r, Link* link, const char* parent, crPose pose, crVec3 axis) {
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

static void put_joint_name(Robot* r, Joint* j, crJson* to) {
    j->out = cr__import_name(r->im, &r->joint_names, j->node, j->name);
    cr_tree_text(&r->im->tree, to, "joint_name", j->out);
}

static crJson* begin_jointed(Robot* r, Link* link) {
    static const char* const types[] = {"fixed", "revolute", "continuous", "prismatic", "floating", "planar"};
    static const char* const joints[] = {"fixed", "hinge", "hinge", "slider", "free", ""};
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    Joint* j = &r->joints[link->joint];
    const Link* above = &r->links[j->parent];
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

static void put_link(Robot* r, int index) {
    crImporting* im = r->im;
    Link* link = &r->links[index];
    bool world = link->joint < 0 && strcmp(link->name, "world") == 0;
    if (world && cr_xml_child(link->node, "collision") == NULL) return;
    link->out = cr__import_name(im, &r->names, link->node, link->name);
    crJson* to = NULL;
    cr__tree_at(im, link->node);
    if (link->joint >= 0) {
        to = begin_jointed(r, link);
    } else {
        to = cr_tree_object(&im->tree, r->bodies, NULL);
        cr_tree_text(&im->tree, to, "name", link->out);
        cr_tree_text(&im->tree, to, "joint", world || im->options->fixed_base ? "fixed" : "free");
    }
    if (!cr__import_ok(im)) return;
    put_inertial(r, link->node, to);
    put_shapes(r, link, to);
    if (link->weightless) cr_tree_number(&im->tree, to, "gravity_scale", 0.0);
}

// parents before children
static void put_links(Robot* r) {
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
        put_link(r, order[head]);
        for (int j = 0; j < r->joint_count; j++) {
            if (r->joints[j].parent == order[head]) order[count++] = r->joints[j].child;
        }
    }
    if (cr__import_ok(im) && count < r->link_count)
        cr__import_refuse(im, r->root, NULL, CR_ERR_NAME, "%d links form a ring that no root reaches",
                          r->link_count - count);
}

static int find_joint(const Robot* r, const char* name) {
    for (int i = 0; i < r->joint_count; i++) {
        if (strcmp(r->joints[i].name, name) == 0) return i;
    }
    return -1;
}

// q = multiplier q_other + offset
static void put_mimics(Robot* r) {
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crJson* list = NULL;
    for (int i = 0; i < r->joint_count && cr__import_ok(im); i++) {
        crXml* mimic = cr__used_child(r->joints[i].node, "mimic");
        if (mimic == NULL) continue;
        const char* name = cr__need_text(im, mimic, "joint");
        int other = find_joint(r, name);
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

// a motor whose force is `reduction` times as large at the joint, within the joint's effort
static void put_motor(Robot* r, crJson** list, crXml* node, const Joint* j, double reduction) {
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crXml* actuator = cr_xml_child(node, "actuator");
    const char* name = actuator != NULL ? cr__attr_text(actuator, "name") : NULL;
    if (*list == NULL) *list = cr_tree_list(tree, tree->doc->root, "actuators");
    cr__tree_at(im, node);
    crJson* to = cr_tree_object(tree, *list, NULL);
    cr_tree_text(tree, to, "name", cr__import_name(im, &r->actuator_names, node, name != NULL ? name : j->name));
    cr_tree_text(tree, to, "type", "motor");
    cr_tree_text(tree, to, "joint", j->out);
    if (reduction != 1.0) cr_tree_number(tree, to, "gear", reduction);
    double most = j->effort / fabs(reduction);
    if (j->effort > 0.0) cr_tree_numbers(tree, to, "force_range", (const double[]){-most, most}, 2);
}

// the number inside an element
static double number_in(Robot* r, const crXml* element, double otherwise) {
    double x = otherwise;
    if (element != NULL) cr__import_numbers(r->im, element, NULL, element->text, 1, 1, &x);
    return x;
}

static void put_transmissions(Robot* r) {
    crImporting* im = r->im;
    crJson* list = NULL;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(im); node = node->next) {
        if (strcmp(node->name, "transmission") != 0) continue;
        mark_inside(node);
        const crXml* actuator = cr_xml_child(node, "actuator");
        const crXml* reduction = actuator != NULL ? cr_xml_child(actuator, "mechanicalReduction") : NULL;
        if (reduction == NULL) reduction = cr_xml_child(node, "mechanicalReduction");
        crXml* joint = cr_xml_child(node, "joint");
        const char* name = joint != NULL ? cr__need_text(im, joint, "name") : "";
        int index = joint != NULL ? find_joint(r, name) : -1;
        double gear = number_in(r, reduction, 1.0);
        if (joint == NULL) {
            cr__import_note(im, CR_NOTE_UNSUPPORTED, node, NULL, "<transmission> without <joint> is left out");
        } else if (index < 0) {
            cr__import_refuse(im, joint, cr_xml_attr(joint, "name"), CR_ERR_NAME, "no joint is called \"%.60s\"", name);
        } else if (gear == 0.0) {
            cr__import_refuse(im, reduction, NULL, CR_ERR_RANGE, "must not be 0");
        } else if (r->joints[index].out == NULL) {
            cr__import_note(im, CR_NOTE_IGNORED, node, NULL, "<transmission> of a joint that is no hinge or slider");
        } else {
            put_motor(r, &list, node, &r->joints[index], gear);
        }
    }
}

void cr__import_urdf(crImporting* im, crXml* root) {
    Robot r = {.im = im, .root = root};
    cr__attr_text(root, "name");
    collect(&r);
    connect(&r);
    if (cr__import_ok(im) && r.link_count == 0)
        cr__import_refuse(im, root, NULL, CR_ERR_MISSING, "needs at least one <link>");
    if (!cr__import_ok(im)) return;
    cr__tree_head(im);
    read_surfaces(&r);
    r.bodies = cr_tree_list(&im->tree, im->tree.doc->root, "bodies");
    put_links(&r);
    put_mimics(&r);
    put_transmissions(&r);
    im->schema = schema;
    cr__import_leftovers(im, root, ignored_elements, ignored_attrs);
}
