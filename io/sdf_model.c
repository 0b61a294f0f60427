// sdf_model.c - one SDF model: its links as bodies, its joints, and what its links exclude.
//
// A link's body hangs on the link above it by its joint: pos and quat are the link's pose there, anchor the
// joint's place in the link, axis turned from expressed_in (else the joint) into the link. universal and
// revolute2 are two hinges with a body without mass between them. A joint whose child hangs already becomes a
// loop: ball as connect, fixed as weld. A model inside the model adds its links and joints under its name and
// "::", a merged one under their own. Fails: by element; names of nothing are refused.
#include <math.h>
#include <string.h>

#include "io/scene.h"
#include "io/sdf.h"

static int find_link(const crSdfModel* m, const char* name) {
    for (int i = 0; i < m->link_count; i++) {
        if (strcmp(m->links[i].name, name) == 0) return i;
    }
    return -1;
}

static void add_link(crSdfWorld* w, crSdfModel* m, crSdfScope scope, crXml* node) {
    node->used = true;
    int frame = cr__sdf_add_frame(w->im, m, node, scope, scope.self);
    crSdfLink* all = cr__import_grow(w->im, m->links, m->link_count, &m->link_capacity, sizeof *all,
                                     CR_SCENE_MAX_BODIES, node);
    if (all == NULL || frame < 0) return;
    m->links = all;
    all[m->link_count++] =
        (crSdfLink){.node = node, .name = m->frames[frame].name, .frame = frame, .joint = -1};
}

// the link of that name, or the first link of the nested model of that name; -1: none
static int link_or_model(const crSdfModel* m, const char* name) {
    int link = find_link(m, name);
    size_t length = strlen(name);
    for (int i = 0; i < m->link_count && link < 0; i++) {
        if (strncmp(m->links[i].name, name, length) == 0 && strncmp(m->links[i].name + length, "::", 2) == 0)
            link = i;
    }
    return link;
}

// where a joint's end is attached: a link, a nested model, or a frame through what it is attached to
static int attached(crSdfWorld* w, const crSdfModel* m, const char* name) {
    for (int steps = 0; steps <= m->frame_count; steps++) {
        int link = link_or_model(m, name);
        if (link >= 0) return link;
        int frame = cr__sdf_find_frame(m, name);
        crXml* node = frame >= 0 ? m->frames[frame].node : NULL;
        const char* to =
            node != NULL && strcmp(node->name, "frame") == 0 ? cr__attr_text(node, "attached_to") : NULL;
        if (to == NULL || *to == '\0') return -1;
        // names in the frame's own scope
        const char* last = strrchr(name, ':');
        name = last != NULL ? cr__import_format(w->im, "%.*s%s", (int)(last + 1 - name), name, to) : to;
        if (name == NULL) return -1;
    }
    return -1;
}

static int end_of(crSdfWorld* w, const crSdfModel* m, crSdfScope scope, crXml* joint, const char* which) {
    crXml* end = cr_xml_child(joint, which);
    const char* name = cr__sdf_text(w->im, joint, which);
    if (end == NULL || name == NULL) {
        cr__import_refuse(w->im, joint, NULL, CR_ERR_MISSING, "needs <%s>", which);
        return -2;
    }
    if (strcmp(name, "world") == 0 && strcmp(which, "parent") == 0) return -1;
    const char* full = cr__sdf_scoped(w->im, scope, name);
    int link = full != NULL ? attached(w, m, full) : -1;
    if (link < 0)
        cr__import_refuse(w->im, end, NULL, CR_ERR_NAME, "no link of this model is called \"%.60s\"", name);
    return link;
}

static void add_joint_model(crSdfWorld* w, crSdfModel* m, crSdfScope scope, crXml* node) {
    node->used = true;
    crSdfJoint j = {.node = node, .scope = scope};
    j.parent = end_of(w, m, scope, node, "parent");
    j.child = cr__import_ok(w->im) ? end_of(w, m, scope, node, "child") : -2;
    if (!cr__import_ok(w->im)) return;
    // the frame or link that is named: the joint's pose is relative to that
    j.frame = cr__sdf_add_frame(w->im, m, node, scope,
                                cr__sdf_scoped(w->im, scope, cr__sdf_text(w->im, node, "child")));
    crSdfJoint* all = cr__import_grow(w->im, m->joints, m->joint_count, &m->joint_capacity, sizeof *all,
                                      CR_SCENE_MAX_BODIES, node);
    if (all == NULL || j.frame < 0) return;
    m->joints = all;
    // walking up from the parent must not come to the child
    bool ring = false;
    int up = j.parent;
    for (int i = 0; up >= 0 && i <= m->link_count && !ring; i++) {
        ring = up == j.child;
        up = m->links[up].joint >= 0 ? all[m->links[up].joint].parent : -1;
    }
    j.loop = m->links[j.child].joint >= 0 || ring;
    if (!j.loop) m->links[j.child].joint = m->joint_count;
    all[m->joint_count++] = j;
}

static void put_inertial(crSdfWorld* w, crXml* link, crJson* to) {
    static const char* const names[] = {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"};
    crImporting* im = w->im;
    double I[6] = {1.0, 0.0, 0.0, 1.0, 0.0, 1.0};
    crMass m = {.mass = 1.0};
    crPose pose = cr_pose_identity();
    crXml* inertial = cr__used_child(link, "inertial");
    if (inertial != NULL) {
        const char* relative = NULL;
        crXml* inertia = cr__used_child(inertial, "inertia");
        pose = cr__sdf_pose(im, inertial, &relative);
        if (relative != NULL)
            cr__import_refuse(im, inertial, NULL, CR_ERR_FIELD,
                              "a pose with relative_to is not allowed here");
        cr__sdf_numbers(im, inertial, "mass", 1, 1, &m.mass);
        for (int k = 0; k < 6 && inertia != NULL; k++) {
            cr__sdf_numbers(im, inertia, names[k], 1, 1, &I[k]);
        }
        cr__tree_at(im, inertial);
    }
    m.inertia = (crSym3){I[0], I[1], I[2], I[3], I[4], I[5]};
    m = cr_mass_moved(m, pose);
    cr__tree_mass(im, to, &m);
    cr__tree_at(im, link);
}

// limits, springs and dampers of an axis
static void put_axis(crSdfWorld* w, const crSdfModel* m, const crSdfJoint* j, const char* name, bool limits,
                     crJson* to) {
    crImporting* im = w->im;
    crTree* tree = &im->tree;
    crXml* axis = cr__used_child(j->node, name);
    crVec3 dir = cr_vec3(0, 0, 1);
    const crPose* child = &m->frames[m->links[j->child].frame].pose;
    crQuat from = m->frames[j->frame].pose.q;
    if (axis != NULL) {
        double x[3], range[2] = {-1e16, 1e16}, value = 0.0, rest = 0.0;
        crXml* xyz = cr_xml_child(axis, "xyz");
        if (cr__sdf_numbers(im, axis, "xyz", 3, 3, x)) dir = cr_vec3(x[0], x[1], x[2]);
        const char* in = xyz != NULL ? cr__attr_text(xyz, "expressed_in") : NULL;
        if (in != NULL && *in != '\0') {
            const char* full = cr__sdf_scoped(im, j->scope, in);
            int frame = full != NULL ? cr__sdf_find_frame(m, full) : -1;
            if (frame < 0 && full != NULL)
                cr__import_refuse(im, xyz, cr_xml_attr(xyz, "expressed_in"), CR_ERR_NAME,
                                  "no frame is called \"%.60s\"", in);
            from = frame >= 0 ? m->frames[frame].pose.q : cr_quat_identity();
        }
        crXml* limit = cr__used_child(axis, "limit");
        if (limit != NULL) {
            // infinity is a number here
            cr__sdf_numbers(im, limit, "lower", 1, 1, &range[0]);
            cr__sdf_numbers(im, limit, "upper", 1, 1, &range[1]);
            if (limits && (range[0] > -1e16 || range[1] < 1e16))
                cr_tree_numbers(tree, to, "limits", range, 2);
        }
        crXml* dynamics = cr__used_child(axis, "dynamics");
        if (dynamics != NULL) {
            if (cr__sdf_numbers(im, dynamics, "damping", 1, 1, &value))
                cr_tree_number(tree, to, "damping", value);
            if (cr__sdf_numbers(im, dynamics, "friction", 1, 1, &value))
                cr_tree_number(tree, to, "friction", value);
            bool rests = cr__sdf_numbers(im, dynamics, "spring_reference", 1, 1, &rest);
            if (cr__sdf_numbers(im, dynamics, "spring_stiffness", 1, 1, &value))
                cr_tree_number(tree, to, "stiffness", value);
            if (rests) cr_tree_number(tree, to, "rest", rest);
        }
    }
    dir = cr_quat_rotate(cr_quat_mul(cr_quat_conj(child->q), from), dir);
    if (cr__import_ok(im) && !(cr_norm(dir) > 0.0))
        cr__import_refuse(im, axis != NULL ? axis : j->node, NULL, CR_ERR_UNIT, "xyz must not be zero");
    cr_tree_vector(tree, to, "axis", dir);
}

static crJson* begin(crSdfWorld* w, const crXml* node, const char* name, const char* parent,
                     const char* joint) {
    crTree* tree = &w->im->tree;
    cr__tree_at(w->im, node);
    crJson* to = cr_tree_object(tree, w->bodies, NULL);
    cr_tree_text(tree, to, "name", name);
    if (parent != NULL) cr_tree_text(tree, to, "parent", parent);
    cr_tree_text(tree, to, "joint", joint);
    return to;
}

static crJson* begin_jointed(crSdfWorld* w, const crSdfModel* m, const crSdfLink* link) {
    static const char* const types[] = {"fixed", "revolute",  "continuous", "prismatic",
                                        "ball",  "universal", "revolute2",  NULL};
    static const char* const joints[] = {"fixed", "hinge", "hinge", "slider", "ball", "hinge", "hinge"};
    crImporting* im = w->im;
    const crSdfJoint* j = &m->joints[link->joint];
    const char* type = cr__need_text(im, j->node, "type");
    crPose child = m->frames[link->frame].pose;
    crPose above = j->parent >= 0 ? m->frames[m->links[j->parent].frame].pose : cr_pose_inverse(m->pose);
    crPose pose = cr_pose_mul(cr_pose_inverse(above), child);
    crVec3 anchor = cr_pose_point_inverse(child, m->frames[j->frame].pose.p);
    const char* parent = j->parent >= 0 ? m->links[j->parent].out : NULL;
    int t = 0;
    while (types[t] != NULL && strcmp(type, types[t]) != 0) {
        t++;
    }
    if (types[t] == NULL) {
        cr__import_refuse(
            im, j->node, cr_xml_attr(j->node, "type"), CR_ERR_NAME,
            "\"%.40s\" is not supported: fixed, revolute, continuous, prismatic, ball, universal", type);
        return NULL;
    }
    if (t >= 5) {
        const char* between =
            cr__import_name(im, &w->names, j->node, cr__import_format(im, "%s_axis", link->out));
        crJson* to = begin(w, j->node, between, parent, "hinge");
        cr__tree_pose(im, to, pose);
        cr_tree_vector(&im->tree, to, "anchor", anchor);
        put_axis(w, m, j, "axis", true, to);
        cr_tree_number(&im->tree, to, "mass", 0.0);
        cr_tree_number(&im->tree, to, "inertia", 0.0);
        pose = cr_pose_identity();
        parent = between;
    }
    crJson* to = begin(w, link->node, link->out, parent, joints[t]);
    const char* name = cr__attr_text(j->node, "name");
    if (t > 0 && name != NULL && *name != '\0') {
        const char* label = cr__import_format(im, "%s::%s", m->name, name);
        cr_tree_text(&im->tree, to, "joint_name", cr__import_name(im, &w->joint_names, j->node, label));
    }
    pose.q = cr_quat_normalize(pose.q);
    cr__tree_pose(im, to, pose);
    if (t > 0 && cr_norm(anchor) > 0.0) cr_tree_vector(&im->tree, to, "anchor", anchor);
    if (t > 0 && t != 4) put_axis(w, m, j, t >= 5 ? "axis2" : "axis", t != 2, to);
    return to;
}

static void put_link(crSdfWorld* w, crSdfModel* m, int index) {
    crImporting* im = w->im;
    crSdfLink* link = &m->links[index];
    const char* label = cr__import_format(im, "%s::%s", m->name, link->name);
    link->out = cr__import_name(im, &w->names, link->node, label);
    if (!cr__import_ok(im)) return;
    crJson* to;
    if (link->joint >= 0 && !m->still) {
        to = begin_jointed(w, m, link);
    } else {
        crPose pose = cr_pose_mul(m->pose, m->frames[link->frame].pose);
        to = begin(w, link->node, link->out, NULL, m->still ? "fixed" : "free");
        pose.q = cr_quat_normalize(pose.q);
        cr__tree_pose(im, to, pose);
    }
    if (!cr__import_ok(im)) return;
    if (!cr__sdf_flag(im, link->node, "gravity", true)) cr_tree_number(&im->tree, to, "gravity_scale", 0.0);
    put_inertial(w, link->node, to);
    link->shapes = cr__sdf_shapes(w, link->node, to);
}

// parents before children
static void put_links(crSdfWorld* w, crSdfModel* m) {
    int* order = cr__import_alloc(w->im, ((size_t)m->link_count + 1) * sizeof *order);
    if (order == NULL) return;
    int count = 0;
    for (int i = 0; i < m->link_count; i++) {
        int joint = m->links[i].joint;
        if (m->still || joint < 0 || m->joints[joint].parent < 0) order[count++] = i;
    }
    for (int head = 0; head < count && cr__import_ok(w->im); head++) {
        put_link(w, m, order[head]);
        for (int j = 0; j < m->joint_count && !m->still; j++) {
            if (!m->joints[j].loop && m->joints[j].parent == order[head]) order[count++] = m->joints[j].child;
        }
    }
}

// joints that close a loop
static void put_loops(crSdfWorld* w, const crSdfModel* m) {
    crImporting* im = w->im;
    crTree* tree = &im->tree;
    for (int i = 0; i < m->joint_count && cr__import_ok(im) && !m->still; i++) {
        const crSdfJoint* j = &m->joints[i];
        if (!j->loop) continue;
        const char* type = cr__need_text(im, j->node, "type");
        bool ball = strcmp(type, "ball") == 0, weld = strcmp(type, "fixed") == 0;
        if (!ball && !weld) {
            cr__import_note(im, CR_NOTE_UNSUPPORTED, j->node, NULL,
                            "<joint> of type %.40s that closes a loop is not supported", type);
            continue;
        }
        crPose place = m->frames[j->frame].pose;
        crPose a = j->parent >= 0
                       ? cr_pose_mul(cr_pose_inverse(m->frames[m->links[j->parent].frame].pose), place)
                       : cr_pose_mul(m->pose, place);
        crPose b = cr_pose_mul(cr_pose_inverse(m->frames[m->links[j->child].frame].pose), place);
        if (w->constraints == NULL) w->constraints = cr_tree_list(tree, tree->doc->root, "constraints");
        cr__tree_at(im, j->node);
        crJson* to = cr_tree_object(tree, w->constraints, NULL);
        cr_tree_text(tree, to, "type", ball ? "connect" : "weld");
        crJson* names = cr_tree_list(tree, to, "bodies");
        cr_tree_text(tree, names, NULL, j->parent >= 0 ? m->links[j->parent].out : "world");
        cr_tree_text(tree, names, NULL, m->links[j->child].out);
        crJson* points = cr_tree_list(tree, to, "points");
        cr_tree_vector(tree, points, NULL, a.p);
        cr_tree_vector(tree, points, NULL, b.p);
        if (ball) continue;
        crJson* quats = cr_tree_list(tree, to, "quats");
        cr_tree_quat(tree, quats, NULL, a.q);
        cr_tree_quat(tree, quats, NULL, b.q);
    }
}

static void put_excludes_model(crSdfWorld* w, const crSdfModel* m) {
    crTree* tree = &w->im->tree;
    if (m->still) return;
    for (int i = 0; i < m->link_count; i++) {
        for (int j = 0; j < i; j++) {
            if (m->links[i].shapes == 0 || m->links[j].shapes == 0) continue;
            if (++w->exclude_count > CR_IMPORT_MAX_EXCLUDES) {
                cr__import_refuse(w->im, m->node, NULL, CR_ERR_LIMIT,
                                  "too many links: more than %d pairs do not meet", CR_IMPORT_MAX_EXCLUDES);
                return;
            }
            if (w->exclude == NULL) w->exclude = cr_tree_list(tree, tree->doc->root, "exclude");
            crJson* pair = cr_tree_list(tree, w->exclude, NULL);
            cr_tree_text(tree, pair, NULL, m->links[j].out);
            cr_tree_text(tree, pair, NULL, m->links[i].out);
        }
    }
}

// <placement_frame>: which of its frames the model's pose places
static void place_by_frame(crImporting* im, crSdfModel* m) {
    const char* name = cr__attr_text(m->node, "placement_frame");
    if (name == NULL || *name == '\0') return;
    int frame = cr__sdf_find_frame(m, name);
    if (frame < 0) {
        cr__import_refuse(im, m->node, cr_xml_attr(m->node, "placement_frame"), CR_ERR_NAME,
                          "no frame is called \"%.60s\"", name);
        return;
    }
    m->pose = cr_pose_mul(m->pose, cr_pose_inverse(m->frames[frame].pose));
}

static void add_links(crSdfWorld* w, crSdfModel* m, crSdfScope scope, crXml* node);
static void add_joints(crSdfWorld* w, crSdfModel* m, crSdfScope scope, crXml* node);

// the scope inside a nested model; its frame is there since add_links
static crSdfScope inside(crSdfWorld* w, crSdfScope outer, crXml* node) {
    crXmlAttr* merge = cr_xml_attr(node, "merge");
    const char* self = cr__sdf_scoped(w->im, outer, cr__need_text(w->im, node, "name"));
    if (merge != NULL && cr__import_bool(w->im, node, merge, merge->value))
        return (crSdfScope){outer.prefix, self};
    return (crSdfScope){cr__import_format(w->im, "%s::", self != NULL ? self : ""), self};
}

static void add_nested(crSdfWorld* w, crSdfModel* m, crSdfScope outer, crXml* node) {
    crImporting* im = w->im;
    node->used = true;
    if (cr_xml_attr(node, "merge") != NULL) cr_xml_attr(node, "merge")->used = true;
    if (cr_xml_attr(node, "placement_frame") != NULL)
        cr__import_refuse(im, node, cr_xml_attr(node, "placement_frame"), CR_ERR_FIELD,
                          "is not supported in a model inside a model");
    if (cr__sdf_flag(im, node, "static", false) && !m->still)
        cr__import_refuse(im, node, NULL, CR_ERR_FIELD, "a model inside a model cannot be static on its own");
    // links meet as the outermost model says
    cr__sdf_flag(im, node, "self_collide", false);
    cr__sdf_add_frame(im, m, node, outer, outer.self);
    if (cr__import_ok(im)) add_links(w, m, inside(w, outer, node), node);
}

static void add_links(crSdfWorld* w, crSdfModel* m, crSdfScope scope, crXml* node) {
    for (crXml* child = node->child; child != NULL && cr__import_ok(w->im); child = child->next) {
        if (strcmp(child->name, "link") == 0) add_link(w, m, scope, child);
        if (strcmp(child->name, "model") == 0) add_nested(w, m, scope, child);
        if (strcmp(child->name, "frame") != 0) continue;
        child->used = true;
        const char* to = cr__attr_text(child, "attached_to");
        bool given = to != NULL && *to != '\0';
        cr__sdf_add_frame(w->im, m, child, scope, given ? cr__sdf_scoped(w->im, scope, to) : scope.self);
    }
}

// after all links and frames are known
static void add_joints(crSdfWorld* w, crSdfModel* m, crSdfScope scope, crXml* node) {
    for (crXml* child = node->child; child != NULL && cr__import_ok(w->im); child = child->next) {
        if (strcmp(child->name, "joint") == 0) add_joint_model(w, m, scope, child);
        if (strcmp(child->name, "model") == 0) add_joints(w, m, inside(w, scope, child), child);
    }
}

void cr__sdf_model(crSdfWorld* w, crXml* node, crPose pose) {
    crImporting* im = w->im;
    crSdfModel m = {.node = node, .pose = pose};
    const crSdfScope top = {"", NULL};
    node->used = true;
    m.name = cr__need_text(im, node, "name");
    m.still = cr__sdf_flag(im, node, "static", false);
    bool meet = cr__sdf_flag(im, node, "self_collide", false);
    add_links(w, &m, top, node);
    if (cr__import_ok(im)) add_joints(w, &m, top, node);
    cr__sdf_resolve(im, &m);
    if (cr__import_ok(im)) place_by_frame(im, &m);
    if (!cr__import_ok(im)) return;
    put_links(w, &m);
    if (!cr__import_ok(im)) return;
    put_loops(w, &m);
    if (!meet) put_excludes_model(w, &m);
}
