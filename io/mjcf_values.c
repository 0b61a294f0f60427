// mjcf_values.c - attributes of MJCF elements: their own, else those of their class of defaults, else of the
// class above it; orientations in MJCF's five ways of writing them.
//
// euler: three turns about the axes of eulerseq, moving axes in small letters, fixed ones in capitals.
// zaxis: the shortest turn of z onto it. xyaxes: y made orthogonal to x. Fails: by element and attribute.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"

int cr__mjcf_class(crMjcf* mj, const crXml* element, int inherited) {
    crXmlAttr* attr = cr_xml_attr(element, "class");
    if (attr == NULL) return inherited;
    attr->used = true;
    for (int i = 0; i < mj->classes.count; i++) {
        if (strcmp(mj->classes.at[i].name, attr->value) == 0) return i;
    }
    cr__import_refuse(mj->im, element, attr, CR_ERR_NAME, "no class is called \"%.60s\"", attr->value);
    return inherited;
}

// in the element's tag of one class, wherever it was opened
static crXmlAttr* in_class(crMjcf* mj, int class, const char* tag, const char* name) {
    crXmlAttr* found = NULL;
    for (int i = class; i < mj->classes.count; i++) {
        if (strcmp(mj->classes.at[i].name, mj->classes.at[class].name) != 0) continue;
        crXml* node = cr_xml_child(mj->classes.at[i].node, tag);
        crXmlAttr* attr = node != NULL ? cr_xml_attr(node, name) : NULL;
        if (attr != NULL) found = attr;
    }
    return found;
}

crXmlAttr* cr__mjcf_attr(crMjcf* mj, crXml* element, int class, const char* name) {
    crXmlAttr* attr = cr_xml_attr(element, name);
    bool tendon = strcmp(element->name, "fixed") == 0 || strcmp(element->name, "spatial") == 0;
    const char* tag = tendon ? "tendon" : element->name;
    for (int c = class; attr == NULL && c >= 0; c = mj->classes.at[c].parent) {
        attr = in_class(mj, c, tag, name);
    }
    if (attr != NULL) attr->used = true;
    return attr;
}

bool cr__mjcf_numbers(crMjcf* mj, crXml* element, int class, const char* name, int least, int most,
                      double* to) {
    crXmlAttr* attr = cr__mjcf_attr(mj, element, class, name);
    if (attr == NULL) return false;
    return cr__import_numbers(mj->im, element, attr, attr->value, least, most, to) >= least &&
           cr__import_ok(mj->im);
}

double cr__mjcf_number(crMjcf* mj, crXml* element, int class, const char* name, double otherwise) {
    double x = otherwise;
    return cr__mjcf_numbers(mj, element, class, name, 1, 1, &x) ? x : otherwise;
}

bool cr__mjcf_flag(crMjcf* mj, crXml* element, int class, const char* name, bool otherwise) {
    crXmlAttr* attr = cr__mjcf_attr(mj, element, class, name);
    return attr != NULL ? cr__import_bool(mj->im, element, attr, attr->value) : otherwise;
}

int cr__mjcf_word(crMjcf* mj, crXml* element, int class, const char* name, const char* const* words,
                  int otherwise) {
    crXmlAttr* attr = cr__mjcf_attr(mj, element, class, name);
    if (attr == NULL) return otherwise;
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], attr->value) == 0) return i;
    }
    cr__import_refuse(mj->im, element, attr, CR_ERR_NAME, "\"%.40s\" is not known here", attr->value);
    return otherwise;
}

const char* cr__mjcf_text(crMjcf* mj, crXml* element, int class, const char* name) {
    crXmlAttr* attr = cr__mjcf_attr(mj, element, class, name);
    return attr != NULL ? attr->value : NULL;
}

double cr__mjcf_angle(const crMjcf* mj, double angle) {
    return mj->compiler.radian ? angle : angle * (CR_PI / 180.0);
}

crQuat cr__mjcf_quat_z(crVec3 axis) {
    double length = cr_norm(axis);
    if (!(length > 1e-10)) return cr_quat_identity();
    crVec3 n = cr_scale(1.0 / length, axis);
    crVec3 turn = cr_cross(cr_vec3(0, 0, 1), n);
    double s = cr_norm(turn);
    if (s < 1e-10) return n.z > 0.0 ? cr_quat_identity() : (crQuat){0.0, 1.0, 0.0, 0.0};
    return cr_quat_axis_angle(turn, cr_atan2(s, n.z));
}

static crQuat quat_of_columns(crVec3 x, crVec3 y, crVec3 z) {
    double w = 1.0 + x.x + y.y + z.z;
    crQuat q = {w, y.z - z.y, z.x - x.z, x.y - y.x};
    if (w < 1.0) {
        if (x.x >= y.y && x.x >= z.z) {
            q = (crQuat){y.z - z.y, 1.0 + x.x - y.y - z.z, x.y + y.x, z.x + x.z};
        } else if (y.y >= z.z) {
            q = (crQuat){z.x - x.z, x.y + y.x, 1.0 + y.y - x.x - z.z, y.z + z.y};
        } else {
            q = (crQuat){x.y - y.x, z.x + x.z, y.z + z.y, 1.0 + z.z - x.x - y.y};
        }
    }
    return cr_quat_normalize(q);
}

static crQuat quat_euler(const crMjcf* mj, const double angles[3]) {
    crQuat q = cr_quat_identity();
    for (int i = 0; i < 3; i++) {
        char c = mj->compiler.eulerseq[i];
        bool fixed = c >= 'X' && c <= 'Z';
        int axis = c - (fixed ? 'X' : 'x');
        crQuat turn =
            cr_quat_axis_angle(cr_vec3(axis == 0, axis == 1, axis == 2), cr__mjcf_angle(mj, angles[i]));
        q = fixed ? cr_quat_mul(turn, q) : cr_quat_mul(q, turn);
    }
    return q;
}

static bool quat_axes(crMjcf* mj, crXml* element, const double x[6], crQuat* q) {
    crVec3 a = cr_vec3(x[0], x[1], x[2]), b = cr_vec3(x[3], x[4], x[5]);
    double la = cr_norm(a);
    if (la > 1e-10) {
        a = cr_scale(1.0 / la, a);
        b = cr_madd(b, -cr_dot(a, b), a);
        double lb = cr_norm(b);
        if (lb > 1e-10) {
            b = cr_scale(1.0 / lb, b);
            *q = quat_of_columns(a, b, cr_cross(a, b));
            return true;
        }
    }
    cr__import_refuse(mj->im, element, cr_xml_attr(element, "xyaxes"), CR_ERR_UNIT,
                      "must be two directions that are not parallel");
    return false;
}

bool cr__mjcf_quat(crMjcf* mj, crXml* element, int class, crQuat* q) {
    double x[6];
    if (cr__mjcf_numbers(mj, element, class, "quat", 4, 4, x)) {
        double length = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
        if (!(length > 1e-100 && length < 1e100)) {
            cr__import_refuse(mj->im, element, cr_xml_attr(element, "quat"), CR_ERR_UNIT,
                              "must not be zero: w, x, y, z");
            return false;
        }
        *q = cr_quat_normalize((crQuat){x[0], x[1], x[2], x[3]});
        return true;
    }
    if (cr__mjcf_numbers(mj, element, class, "axisangle", 4, 4, x)) {
        *q = cr_quat_axis_angle(cr_vec3(x[0], x[1], x[2]), cr__mjcf_angle(mj, x[3]));
        return true;
    }
    if (cr__mjcf_numbers(mj, element, class, "xyaxes", 6, 6, x)) return quat_axes(mj, element, x, q);
    if (cr__mjcf_numbers(mj, element, class, "zaxis", 3, 3, x)) {
        *q = cr__mjcf_quat_z(cr_vec3(x[0], x[1], x[2]));
        return true;
    }
    if (!cr__mjcf_numbers(mj, element, class, "euler", 3, 3, x)) return false;
    *q = quat_euler(mj, x);
    return true;
}

crPose cr__mjcf_pose(crMjcf* mj, crXml* element, int class) {
    crPose pose = cr_pose_identity();
    double p[3];
    if (cr__mjcf_numbers(mj, element, class, "pos", 3, 3, p)) pose.p = cr_vec3(p[0], p[1], p[2]);
    cr__mjcf_quat(mj, element, class, &pose.q);
    return pose;
}
