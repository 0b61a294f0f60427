// mjcf_transmission.c - what actuators of MJCF act along: joints, tendons, sites, slider-cranks.
//
// A fixed tendon is the sum over its joints. A site takes six gears, in its axes or in those of a reference site; a
// slider-crank a rod from the slider's axis to the crank. Fails: names of nothing are refused; what cannot be said is noted
// by kind, and the actuator left out.
#include <string.h>

#include "io/mjcf.h"

void cr__mjcf_left_out(crMjcf* mj, crXml* node, const char* what) {
    cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, NULL, "<%s> %s is not supported: it is left out",
                    node->name, what);
    cr__mjcf_mark_all(node);
}

// the site that an attribute names; -1 where it is refused, or is one of several replicas
static int site_of(crMjcf* mj, crXml* node, const char* attr) {
    const char* name = cr__need_text(mj->im, node, attr);
    if (!cr__import_ok(mj->im)) return -1;
    int site = cr__mjcf_find_site(mj, name);
    if (site < 0)
        cr__import_refuse(mj->im, node, cr_xml_attr(node, attr), CR_ERR_NAME, "no site is called \"%.60s\"",
                          name);
    return site;
}

static bool along_tendon(crMjcf* mj, crXml* node, double gear, crMjcfActuator* a) {
    const char* name = cr__need_text(mj->im, node, "tendon");
    int index = cr__mjcf_find_tendon(mj, name);
    if (index < 0) {
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "tendon"), CR_ERR_NAME,
                          "no tendon is called \"%.60s\"", name);
        return false;
    }
    crMjcfTendon* t = &mj->tendons.at[index];
    if (!t->fixed && t->point_count > 0) {
        a->along = CR_MJCF_ALONG_TENDON;
        a->tendon = index;
        a->gear[0] = gear;
        t->needed = true;
        return true;
    }
    if (!t->fixed || t->count > CR_ACTUATOR_JOINTS || t->count == 0) {
        cr__mjcf_left_out(mj, node,
                          t->fixed ? "along a tendon of more than 8 joints" : "along a tendon that wraps");
        return false;
    }
    a->count = t->count;
    for (int k = 0; k < t->count; k++) {
        a->joints[k] = t->joints[k];
        a->gear[k] = gear * t->coef[k];
    }
    return true;
}

static bool along_crank(crMjcf* mj, crXml* node, int class, double gear, crMjcfActuator* a) {
    a->along = CR_MJCF_ALONG_CRANK;
    a->site = site_of(mj, node, "cranksite");
    a->reference = site_of(mj, node, "slidersite");
    a->gear[0] = gear;
    a->rod = cr__mjcf_number(mj, node, class, "cranklength", 0.0);
    if (cr__import_ok(mj->im) && !(a->rod > 0.0))
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "cranklength"), CR_ERR_RANGE,
                          "cranklength is %g, must be > 0", a->rod);
    return cr__import_ok(mj->im);
}

static bool along_site(crMjcf* mj, crXml* node, const double gear[6], crMjcfActuator* a) {
    a->along = CR_MJCF_ALONG_SITE;
    a->site = site_of(mj, node, "site");
    a->reference = cr_xml_attr(node, "refsite") != NULL ? site_of(mj, node, "refsite") : -1;
    memcpy(a->wrench, gear, sizeof a->wrench);
    return cr__import_ok(mj->im);
}

bool cr__mjcf_transmission(crMjcf* mj, crXml* node, int class, crMjcfActuator* a) {
    double gear[6] = {1.0};
    cr__mjcf_numbers(mj, node, class, "gear", 1, 6, gear);
    const char* attr = cr_xml_attr(node, "joint") != NULL ? "joint" : "jointinparent";
    if (cr_xml_attr(node, "tendon") != NULL) {
        if (!along_tendon(mj, node, gear[0], a)) return false;
    } else if (cr_xml_attr(node, "cranksite") != NULL) {
        return along_crank(mj, node, class, gear[0], a);
    } else if (cr_xml_attr(node, "site") != NULL) {
        return along_site(mj, node, gear, a);
    } else if (cr_xml_attr(node, attr) != NULL) {
        a->count = 1;
        a->gear[0] = gear[0];
        a->joints[0] = cr__mjcf_joint_of(mj, node, attr);
        if (a->joints[0] < 0) return false;
    } else {
        cr__mjcf_left_out(mj, node, "on a body");
        return false;
    }
    for (int k = 0; k < a->count; k++) {
        crMjcfJointKind kind = mj->joints.at[a->joints[k]].kind;
        if (kind == CR_MJCF_HINGE || kind == CR_MJCF_SLIDE) continue;
        cr__mjcf_left_out(mj, node, "along a ball or free joint");
        return false;
    }
    return true;
}

// the name a joint has in the scene
static const char* joint_name(const crMjcf* mj, int joint) {
    return mj->joints.at[joint].out_name != NULL ? mj->joints.at[joint].out_name : mj->joints.at[joint].out;
}

static void put_joints(crMjcf* mj, crJson* to, const crMjcfActuator* a) {
    crTree* tree = &mj->im->tree;
    if (a->count == 1) {
        cr_tree_text(tree, to, "joint", joint_name(mj, a->joints[0]));
        if (a->gear[0] != 1.0) cr_tree_number(tree, to, "gear", a->gear[0]);
        return;
    }
    crJson* joints = cr_tree_list(tree, to, "joints");
    for (int k = 0; k < a->count; k++) {
        crJson* term = cr_tree_object(tree, joints, NULL);
        cr_tree_text(tree, term, "joint", joint_name(mj, a->joints[k]));
        cr_tree_number(tree, term, "gear", a->gear[k]);
    }
}

void cr__mjcf_put_transmission(crMjcf* mj, crJson* to, const crMjcfActuator* a) {
    crTree* tree = &mj->im->tree;
    bool crank = a->along == CR_MJCF_ALONG_CRANK;
    if (a->along == CR_MJCF_ALONG_JOINTS) {
        put_joints(mj, to, a);
        return;
    }
    if (a->along != CR_MJCF_ALONG_SITE && a->gear[0] != 1.0) cr_tree_number(tree, to, "gear", a->gear[0]);
    if (a->along == CR_MJCF_ALONG_TENDON) {
        cr_tree_text(tree, to, "tendon", cr__mjcf_tendon_name(mj, a->tendon));
        return;
    }
    cr_tree_text(tree, to, "site", cr__mjcf_site_name(mj, a->site));
    if (a->reference >= 0)
        cr_tree_text(tree, to, crank ? "slider" : "reference", cr__mjcf_site_name(mj, a->reference));
    if (crank) cr_tree_number(tree, to, "rod", a->rod);
    if (!crank) cr_tree_numbers(tree, to, "wrench", a->wrench, 6);
}
