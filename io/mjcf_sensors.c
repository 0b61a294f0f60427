// mjcf_sensors.c - sensors of MJCF.
//
// A frame sensor of a site, body (xbody) or geom is one of a site there; an unnamed one is made where needed. Sensors
// that carom does not have change nothing in the motion: they are noted as left out. MuJoCo's noise is a remark for
// the user that it does not apply, and so it is here. Fails: names of nothing are refused.
#include <string.h>

#include "io/mjcf.h"

typedef struct Kind {
    const char* element;
    const char* type;
    const char* attr;  // that names its object
} Kind;
static const Kind kinds[] = {{"jointpos", "joint_position", "joint"},
                             {"jointvel", "joint_velocity", "joint"},
                             {"jointactuatorfrc", "joint_force", "joint"},
                             {"ballquat", "joint_position", "joint"},
                             {"actuatorpos", "actuator_position", "actuator"},
                             {"actuatorvel", "actuator_velocity", "actuator"},
                             {"actuatorfrc", "actuator_force", "actuator"},
                             {"tendonpos", "tendon_position", "tendon"},
                             {"tendonvel", "tendon_velocity", "tendon"},
                             {"framepos", "position", "objname"},
                             {"framequat", "orientation", "objname"},
                             {"framelinvel", "velocity", "objname"},
                             {"frameangvel", "angular_velocity", "objname"},
                             {"velocimeter", "velocimeter", "site"},
                             {"gyro", "gyro", "site"},
                             {"accelerometer", "accelerometer", "site"},
                             {"force", "force", "site"},
                             {"torque", "torque", "site"},
                             {"touch", "touch", "site"},
                             {"rangefinder", "range", "site"}};

static void left_out(crMjcf* mj, crXml* node, const char* why) {
    cr__mjcf_mark_all(node);
    cr__import_note(mj->im, CR_NOTE_IGNORED, node, NULL, "<%s> in <sensor>%s is not measured", node->name,
                    why);
}

static void refuse_name_sensors(crMjcf* mj, crXml* node, const char* attr, const char* kind,
                                const char* name) {
    cr__import_refuse(mj->im, node, cr_xml_attr(node, attr), CR_ERR_NAME, "no %s is called \"%.60s\"", kind,
                      name);
}

// a site where a body or geom is; NULL where that cannot be said
static const char* frame_site(crMjcf* mj, crXml* node, const char* type, const char* name) {
    crMjcfSite made = {.node = node, .kind = CR_MJCF_SPHERE, .size = {0.005}, .pose = cr_pose_identity()};
    bool body = strcmp(type, "xbody") == 0 || strcmp(type, "body") == 0, geom = strcmp(type, "geom") == 0;
    int found = body ? cr__mjcf_find_body(mj, name) : geom ? cr__mjcf_find_geom(mj, name) : -1;
    if (!body && !geom) return NULL;
    if (found < 0) {
        refuse_name_sensors(mj, node, "objname", geom ? "geom" : "body", name);
        return NULL;
    }
    made.body = geom ? mj->geoms.at[found].body : found;
    if (geom) made.pose = mj->geoms.at[found].pose;
    // the frame of a body is at its centre of mass, along the axes of its inertia
    if (strcmp(type, "body") == 0) made.pose.p = mj->bodies.at[found].mass.com;
    return cr__mjcf_use_site(mj, &made, cr__import_format(mj->im, "%s_%s", name, geom ? "geom" : "frame"));
}

// the object of a sensor by its name in the scene; NULL where there is none here
static const char* object_of(crMjcf* mj, crXml* node, const Kind* kind) {
    const char* name = cr__need_text(mj->im, node, kind->attr);
    if (!cr__import_ok(mj->im)) return NULL;
    if (strcmp(kind->attr, "joint") == 0) {
        int joint = cr__mjcf_joint_of(mj, node, "joint");
        if (joint < 0) return NULL;
        return mj->joints.at[joint].out_name != NULL ? mj->joints.at[joint].out_name
                                                     : mj->joints.at[joint].out;
    }
    if (strcmp(kind->attr, "actuator") == 0) {
        for (int i = 0; i < mj->actuators.count; i++) {
            const crMjcfActuator* a = &mj->actuators.at[i];
            if (a->name != NULL && strcmp(a->name, name) == 0) return a->out;
        }
        refuse_name_sensors(mj, node, "actuator", "actuator", name);
        return NULL;
    }
    if (strcmp(kind->attr, "tendon") == 0) {
        int tendon = cr__mjcf_find_tendon(mj, name);
        if (tendon >= 0) return cr__mjcf_tendon_name(mj, tendon);
        refuse_name_sensors(mj, node, "tendon", "tendon", name);
        return NULL;
    }
    const char* type = strcmp(kind->attr, "site") == 0 ? "site" : cr__attr_text(node, "objtype");
    if (type == NULL) type = "";
    if (strcmp(type, "site") != 0) return frame_site(mj, node, type, name);
    int site = cr__mjcf_find_site(mj, name);
    if (site < 0) {
        refuse_name_sensors(mj, node, kind->attr, "site", name);
        return NULL;
    }
    return cr__mjcf_site_name(mj, site);
}

static void add_sensor(crMjcf* mj, crXml* node, crJson** list) {
    crTree* tree = &mj->im->tree;
    const Kind* kind = NULL;
    node->used = true;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(node->name, kinds[i].element) == 0) kind = &kinds[i];
    }
    bool turned = kind != NULL && strcmp(node->name, "framequat") == 0 &&
                  cr_xml_attr(node, "objtype") != NULL &&
                  strcmp(cr_xml_attr(node, "objtype")->value, "body") == 0;
    if (kind == NULL || cr_xml_attr(node, "reftype") != NULL || turned) {
        left_out(mj, node, kind == NULL ? "" : turned ? " of inertial axes" : " relative to another frame");
        return;
    }
    const char* object = object_of(mj, node, kind);
    if (!cr__import_ok(mj->im)) return;
    if (object == NULL) {
        left_out(mj, node, " of this object");
        return;
    }
    const char* name = cr__attr_text(node, "name");
    if (name == NULL || *name == '\0') name = cr__import_format(mj->im, "%s_%s", object, kind->type);
    if (*list == NULL) *list = cr_tree_list(tree, tree->doc->root, "sensors");
    cr__tree_at(mj->im, node);
    crJson* to = cr_tree_object(tree, *list, NULL);
    cr_tree_text(tree, to, "name", cr__import_name(mj->im, &mj->sensor_names, node, name));
    cr_tree_text(tree, to, "type", kind->type);
    cr_tree_text(tree, to, strcmp(kind->attr, "objname") == 0 ? "site" : kind->attr, object);
    double cutoff = cr__mjcf_number(mj, node, -1, "cutoff", 0.0);
    if (strcmp(kind->type, "range") == 0 && cutoff > 0.0) cr_tree_number(tree, to, "cutoff", cutoff);
    cr__mjcf_mark_all(node);
}

void cr__mjcf_sensors(crMjcf* mj) {
    crJson* list = NULL;
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "sensor") != 0) continue;
        node->used = true;
        for (crXml* child = node->child; child != NULL && cr__import_ok(mj->im); child = child->next) {
            add_sensor(mj, child, &list);
        }
    }
}
