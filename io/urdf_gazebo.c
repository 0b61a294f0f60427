// urdf_gazebo.c - what URDF says for Gazebo and controllers: friction and gravity of links, transmissions.
//
// Of <gazebo reference="LINK">: mu1, mu2 (an ellipse of friction along fdir1, else x, and across) and turnGravityOff. kp and kd
// soften contacts, which are hard here. A transmission is a motor. Fails: by element; joints that are not there are refused by name.
#include <math.h>
#include <string.h>

#include "io/urdf.h"

int cr__urdf_find_link(const crUrdf* r, const char* name) {
    for (int i = 0; i < r->link_count; i++) {
        if (strcmp(r->links[i].name, name) == 0) return i;
    }
    return -1;
}

int cr__urdf_find_joint(const crUrdf* r, const char* name) {
    for (int i = 0; i < r->joint_count; i++) {
        if (strcmp(r->joints[i].name, name) == 0) return i;
    }
    return -1;
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
static double value_of(crUrdf* r, crXml* element, double otherwise) {
    crXmlAttr* attr = cr_xml_attr(element, "value");
    double x = otherwise;
    if (attr != NULL) attr->used = true;
    cr__import_numbers(r->im, element, attr, attr != NULL ? attr->value : element->text, 1, 1, &x);
    return x;
}

static void read_direction(crUrdf* r, crXml* element, crVec3* axis) {
    double x[3] = {0.0, 0.0, 0.0};
    if (cr__import_numbers(r->im, element, NULL, element->text, 3, 3, x) != 3) return;
    crVec3 given = cr_vec3(x[0], x[1], x[2]);
    // Gazebo takes zero for none
    if (cr_norm(given) > 0.0) *axis = given;
}

// friction and gravity of a link as Gazebo has them; what else it says is for Gazebo
static void read_gazebo(crUrdf* r, crXml* node) {
    static const char* const acts[] = {"dampingFactor", "selfCollide", NULL};
    crImporting* im = r->im;
    node->used = true;
    const char* reference = cr__attr_text(node, "reference");
    int index = reference != NULL ? cr__urdf_find_link(r, reference) : -1;
    crUrdfLink* link = index >= 0 ? &r->links[index] : NULL;
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
        } else if (link != NULL && strcmp(child->name, "fdir1") == 0) {
            read_direction(r, child, &link->axis);
        } else if (link != NULL && strcmp(child->name, "selfCollide") == 0 &&
                   cr__import_bool(im, child, NULL, child->text)) {
            // links of one robot meet here
        } else if (link != NULL && strcmp(child->name, "dampingFactor") == 0 &&
                   value_of(r, child, 0.0) == 0.0) {
            // nothing is damped
        } else {
            cr__import_note(im, link != NULL && matters ? CR_NOTE_UNSUPPORTED : CR_NOTE_IGNORED, child, NULL,
                            "<%.60s> in <gazebo> %s", child->name,
                            link != NULL && matters ? "is not supported" : "steers Gazebo");
        }
    }
}

void cr__urdf_surfaces(crUrdf* r) {
    crJson* materials = NULL;
    crTree* tree = &r->im->tree;
    for (crXml* node = r->root->child; node != NULL && cr__import_ok(r->im); node = node->next) {
        if (strcmp(node->name, "gazebo") == 0) read_gazebo(r, node);
    }
    for (int i = 0; i < r->link_count && cr__import_ok(r->im); i++) {
        crUrdfLink* link = &r->links[i];
        if (link->mu[0] < 0.0 && link->mu[1] < 0.0) continue;
        double mu = link->mu[0] >= 0.0 ? link->mu[0] : link->mu[1];
        snprintf(link->surface, sizeof link->surface, "surface%d", i);
        if (materials == NULL) materials = cr_tree_object(tree, tree->doc->root, "materials");
        cr__tree_at(r->im, link->node);
        crJson* to = cr_tree_object(tree, materials, link->surface);
        cr_tree_number(tree, to, "mu", mu);
        if (link->mu[1] >= 0.0 && link->mu[1] != mu) {
            cr_tree_number(tree, to, "mu2", link->mu[1]);
            cr_tree_vector(tree, to, "axis", link->axis);
        }
    }
}

// a motor whose force is `reduction` times as large at the joint, within the joint's effort
static void put_motor(crUrdf* r, crJson** list, crXml* node, const crUrdfJoint* j, double reduction) {
    crImporting* im = r->im;
    crTree* tree = &im->tree;
    crXml* actuator = cr_xml_child(node, "actuator");
    const char* name = actuator != NULL ? cr__attr_text(actuator, "name") : NULL;
    if (*list == NULL) *list = cr_tree_list(tree, tree->doc->root, "actuators");
    cr__tree_at(im, node);
    crJson* to = cr_tree_object(tree, *list, NULL);
    cr_tree_text(tree, to, "name",
                 cr__import_name(im, &r->actuator_names, node, name != NULL ? name : j->name));
    cr_tree_text(tree, to, "type", "motor");
    cr_tree_text(tree, to, "joint", j->out);
    if (reduction != 1.0) cr_tree_number(tree, to, "gear", reduction);
    double most = j->effort / fabs(reduction);
    if (j->effort > 0.0) cr_tree_numbers(tree, to, "force_range", (const double[]){-most, most}, 2);
}

// the number inside an element
static double number_in(crUrdf* r, const crXml* element, double otherwise) {
    double x = otherwise;
    if (element != NULL) cr__import_numbers(r->im, element, NULL, element->text, 1, 1, &x);
    return x;
}

void cr__urdf_transmissions(crUrdf* r) {
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
        int index = joint != NULL ? cr__urdf_find_joint(r, name) : -1;
        double gear = number_in(r, reduction, 1.0);
        if (joint == NULL) {
            cr__import_note(im, CR_NOTE_UNSUPPORTED, node, NULL,
                            "<transmission> without <joint> is left out");
        } else if (index < 0) {
            cr__import_refuse(im, joint, cr_xml_attr(joint, "name"), CR_ERR_NAME,
                              "no joint is called \"%.60s\"", name);
        } else if (gear == 0.0) {
            cr__import_refuse(im, reduction, NULL, CR_ERR_RANGE, "must not be 0");
        } else if (r->joints[index].out == NULL) {
            cr__import_note(im, CR_NOTE_IGNORED, node, NULL,
                            "<transmission> of a joint that is no hinge or slider");
        } else {
            put_motor(r, &list, node, &r->joints[index], gear);
        }
    }
}
