// mjcf_bodies.c - the tree of bodies: joints, sites, inertias, frames and replicas.
//
// Bodies are numbered as MuJoCo numbers them, depth first in the order of the file, all joints of a body before
// its children. A frame moves what is inside it; a replica i lies at the i-th power of (offset, euler) and
// its names end with sep and i. An <inertial> gives mass, centre and moments about it. Fails: by element.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"
#include "io/scene.h"

#define MOST_SITES   200000
#define MOST_VISITED 2000000
#define MOST_COUNT   100000

// where in the tree the walk is
typedef struct Spot {
    int body;
    crPose frame;        // in the body's frame
    int class;           // that elements without a class have
    const char* suffix;  // of names
} Spot;

static const char* full_name(crMjcf* mj, crXml* node, const Spot* at) {
    const char* name = cr__attr_text(node, "name");
    if (name == NULL || *at->suffix == '\0') return name;
    return cr__import_format(mj->im, "%s%s", name, at->suffix);
}

static int child_class(crMjcf* mj, const crXml* node, int inherited) {
    crXmlAttr* attr = cr_xml_attr(node, "childclass");
    if (attr == NULL) return inherited;
    attr->used = true;
    for (int i = 0; i < mj->classes.count; i++) {
        if (strcmp(mj->classes.at[i].name, attr->value) == 0) return i;
    }
    cr__import_refuse(mj->im, node, attr, CR_ERR_NAME, "no class is called \"%.60s\"", attr->value);
    return inherited;
}

// the range of what all actuators give along a hinge or slide
static void actuator_range(crMjcf* mj, crXml* node, int class, crMjcfJoint* j) {
    static const char* const words[] = {"false", "true", "auto", NULL};
    double* range = j->actuator_range;
    bool given = cr__mjcf_numbers(mj, node, class, "actuatorfrcrange", 2, 2, range);
    int word = cr__mjcf_word(mj, node, class, "actuatorfrclimited", words, 2);
    bool counts = word == 1 || (word == 2 && mj->compiler.autolimits && given);
    bool along = j->kind == CR_MJCF_HINGE || j->kind == CR_MJCF_SLIDE;
    if (!counts || !along) {
        range[0] = range[1] = 0.0;
    } else if (!(range[0] <= 0.0 && range[1] >= 0.0 && range[0] < range[1])) {
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "actuatorfrcrange"), CR_ERR_RANGE,
                          "is %g to %g, must be from at most 0 to at least 0", range[0], range[1]);
    }
}

// springs, dampers, limits; what a free joint cannot have here is noted
static void joint_forces(crMjcf* mj, crXml* node, int class, crMjcfJoint* j) {
    double range[2] = {0.0, 0.0};
    bool angular = j->kind == CR_MJCF_HINGE || j->kind == CR_MJCF_BALL;
    bool given = cr__mjcf_numbers(mj, node, class, "range", 2, 2, range);
    static const char* const words[] = {"false", "true", "auto", NULL};
    int limited = cr__mjcf_word(mj, node, class, "limited", words, 2);
    j->limited = limited == 1 || (limited == 2 && mj->compiler.autolimits && given);
    j->lower = angular ? cr__mjcf_angle(mj, range[0]) : range[0];
    j->upper = angular ? cr__mjcf_angle(mj, range[1]) : range[1];
    double ref = cr__mjcf_number(mj, node, class, "ref", 0.0);
    double springref = cr__mjcf_number(mj, node, class, "springref", 0.0);
    j->ref = angular ? cr__mjcf_angle(mj, ref) : ref;
    j->springref = j->qpos_spring = angular ? cr__mjcf_angle(mj, springref) : springref;
    j->stiffness = cr__mjcf_number(mj, node, class, "stiffness", 0.0);
    j->damping = cr__mjcf_number(mj, node, class, "damping", 0.0);
    j->frictionloss = cr__mjcf_number(mj, node, class, "frictionloss", 0.0);
    j->armature = cr__mjcf_number(mj, node, class, "armature", 0.0);
    actuator_range(mj, node, class, j);
    static const char* const soft[] = {"solreflimit", "solimplimit", "solreffriction", "solimpfriction",
                                       NULL};
    cr__mjcf_soft(mj, node, class, soft);
    // the angle of a ball has an upper limit only
    double none = -(double)INFINITY;
    bool ball = j->kind == CR_MJCF_BALL;
    if (j->limited && j->kind != CR_MJCF_FREE)
        cr__mjcf_margin(mj, node, class, ball ? &none : &j->lower, &j->upper);
    if (j->kind == CR_MJCF_FREE || j->kind == CR_MJCF_BALL) j->ref = j->springref = 0.0;
    bool acts = j->limited || j->stiffness != 0.0 || j->damping != 0.0 || j->frictionloss != 0.0;
    if (j->kind == CR_MJCF_FREE && (acts || j->armature != 0.0)) {
        cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, NULL,
                        "<joint> of type free: range, stiffness, damping, frictionloss and armature are not "
                        "supported");
    }
    if (!mj->option.limit) j->limited = false;
    if (!mj->option.frictionloss) j->frictionloss = 0.0;
    if (!mj->option.passive) j->stiffness = j->damping = 0.0;
}

static void add_joint(crMjcf* mj, crXml* node, const Spot* at) {
    static const char* const kinds[] = {"free", "ball", "slide", "hinge", NULL};
    crImporting* im = mj->im;
    bool free = strcmp(node->name, "freejoint") == 0;
    node->used = true;
    if (at->body == 0) {
        cr__import_refuse(im, node, NULL, CR_ERR_RANGE, "the world has no joints");
        return;
    }
    crMjcfJoint* all = cr__import_grow(im, mj->joints.at, mj->joints.count, &mj->joints.capacity, sizeof *all,
                                       2 * CR_SCENE_MAX_BODIES, node);
    if (all == NULL) return;
    mj->joints.at = all;
    int class = cr__mjcf_class(mj, node, at->class);
    crMjcfJoint j = {.node = node, .body = at->body, .axis = {0.0, 0.0, 1.0}};
    j.name = full_name(mj, node, at);
    j.kind =
        free ? CR_MJCF_FREE : (crMjcfJointKind)cr__mjcf_word(mj, node, class, "type", kinds, CR_MJCF_HINGE);
    double x[3];
    if (!free && cr__mjcf_numbers(mj, node, class, "pos", 3, 3, x)) j.pos = cr_vec3(x[0], x[1], x[2]);
    if (!free && cr__mjcf_numbers(mj, node, class, "axis", 3, 3, x)) j.axis = cr_vec3(x[0], x[1], x[2]);
    if (!free) joint_forces(mj, node, class, &j);
    if ((j.kind == CR_MJCF_HINGE || j.kind == CR_MJCF_SLIDE) && !(cr_norm(j.axis) > 1e-10)) {
        cr__import_refuse(im, node, cr_xml_attr(node, "axis"), CR_ERR_UNIT, "must not be zero");
    }
    if (j.kind == CR_MJCF_FREE && mj->bodies.at[at->body].parent != 0) {
        cr__import_refuse(im, node, NULL, CR_ERR_RANGE, "a free joint's body must be a child of the world");
    }
    j.pos = j.kind == CR_MJCF_FREE ? cr_vec3(0, 0, 0) : cr_pose_point(at->frame, j.pos);
    j.axis = cr_quat_rotate(at->frame.q, j.axis);
    mj->joints.at[mj->joints.count++] = j;
    mj->bodies.at[at->body].joint_count++;
}

static void add_site(crMjcf* mj, crXml* node, const Spot* at) {
    static const char* const kinds[] = {"sphere", "capsule", "ellipsoid", "cylinder", "box", NULL};
    node->used = true;
    crMjcfSite* all = cr__import_grow(mj->im, mj->sites.at, mj->sites.count, &mj->sites.capacity, sizeof *all,
                                      MOST_SITES, node);
    if (all == NULL) return;
    mj->sites.at = all;
    int class = cr__mjcf_class(mj, node, at->class);
    crMjcfSite site = {
        .node = node, .name = full_name(mj, node, at), .body = at->body, .size = {0.005, 0.005, 0.005}};
    site.pose = cr_pose_mul(at->frame, cr__mjcf_pose(mj, node, class));
    site.kind = (crMjcfGeomKind)(CR_MJCF_SPHERE + cr__mjcf_word(mj, node, class, "type", kinds, 0));
    cr__mjcf_numbers(mj, node, class, "size", 1, 3, site.size);
    double ends[6];
    if (cr__mjcf_numbers(mj, node, class, "fromto", 6, 6, ends)) {
        crVec3 a = cr_vec3(ends[0], ends[1], ends[2]), b = cr_vec3(ends[3], ends[4], ends[5]);
        crVec3 along = cr_sub(b, a);
        int half = site.kind == CR_MJCF_BOX || site.kind == CR_MJCF_ELLIPSOID ? 2 : 1;
        if (half == 2) site.size[1] = site.size[0];
        site.size[half] = 0.5 * cr_norm(along);
        if (cr_norm(along) > 0.0)
            site.pose =
                cr_pose_mul(at->frame, (crPose){cr_scale(0.5, cr_add(a, b)), cr__mjcf_quat_z(cr_neg(along))});
    }
    mj->sites.at[mj->sites.count++] = site;
}

static void read_inertial(crMjcf* mj, crXml* node, int body) {
    crImporting* im = mj->im;
    node->used = true;
    double d[6];
    crMass m = {0};
    crPose pose = cr__mjcf_pose(mj, node, -1);
    if (!cr__mjcf_numbers(mj, node, -1, "mass", 1, 1, &m.mass)) cr__need_text(im, node, "mass");
    if (cr__mjcf_numbers(mj, node, -1, "fullinertia", 6, 6, d)) {
        m.inertia = (crSym3){.xx = d[0], .yy = d[1], .zz = d[2], .xy = d[3], .xz = d[4], .yz = d[5]};
    } else if (cr__mjcf_numbers(mj, node, -1, "diaginertia", 3, 3, d)) {
        m.inertia = (crSym3){.xx = d[0], .yy = d[1], .zz = d[2]};
    } else if (cr__import_ok(im) && mj->compiler.inertiafromgeom != 1) {
        cr__import_refuse(im, node, NULL, CR_ERR_MISSING, "needs diaginertia or fullinertia");
    }
    if (mj->compiler.inertiafromgeom == 1) return;
    mj->bodies.at[body].inertial = true;
    mj->bodies.at[body].mass = cr_mass_moved(m, pose);
}

static bool visit(crMjcf* mj, const crXml* node) {
    if (++mj->visited > MOST_VISITED)
        cr__import_refuse(mj->im, node, NULL, CR_ERR_LIMIT, "replicas make too many elements");
    return cr__import_ok(mj->im);
}

static void walk(crMjcf* mj, crXml* node, const Spot* at, bool bodies);

static void walk_replicas(crMjcf* mj, crXml* node, const Spot* at, bool bodies) {
    crImporting* im = mj->im;
    double count = cr__mjcf_number(mj, node, -1, "count", 0.0);
    crPose step = cr_pose_identity();
    double x[3];
    if (cr__mjcf_numbers(mj, node, -1, "offset", 3, 3, x)) step.p = cr_vec3(x[0], x[1], x[2]);
    cr__mjcf_quat(mj, node, -1, &step.q);
    const char* sep = cr__attr_text(node, "sep");
    const char* prefix = cr__attr_text(node, "prefix");
    if (!(count >= 1.0 && count <= MOST_COUNT && floor(count) == count)) {
        cr__import_refuse(im, node, cr_xml_attr(node, "count"), CR_ERR_RANGE,
                          "must be a whole number 1 to %d, is %g", MOST_COUNT, count);
        return;
    }
    int digits = 1;
    for (double most = 10.0; most < count; most *= 10.0) {
        digits++;
    }
    Spot inside = *at;
    inside.class = child_class(mj, node, at->class);
    crPose place = cr_pose_identity();
    for (int i = 0; i < (int)count && visit(mj, node); i++) {
        inside.frame = cr_pose_mul(at->frame, place);
        inside.suffix = cr__import_format(im, "%s%s%s%0*d", at->suffix, prefix != NULL ? prefix : "",
                                          sep != NULL ? sep : "", digits, i);
        if (inside.suffix != NULL) walk(mj, node, &inside, bodies);
        place = cr_pose_mul(place, step);
    }
}

static void add_body(crMjcf* mj, crXml* node, const Spot* at) {
    crImporting* im = mj->im;
    crMjcfBody* all = cr__import_grow(im, mj->bodies.at, mj->bodies.count, &mj->bodies.capacity, sizeof *all,
                                      CR_SCENE_MAX_BODIES, node);
    if (all == NULL) return;
    mj->bodies.at = all;
    int own = mj->bodies.count++;
    crMjcfBody b = {.node = node,
                    .parent = at->body,
                    .joint = mj->joints.count,
                    .weld_next = -1,
                    .weld_first = -1,
                    .geom_first = -1};
    b.name = full_name(mj, node, at);
    b.pose = cr_pose_mul(at->frame, cr__mjcf_pose(mj, node, -1));
    b.pose.q = cr_quat_normalize(b.pose.q);
    b.world = cr_pose_mul(all[at->body].world, b.pose);
    b.mocap = cr__mjcf_flag(mj, node, -1, "mocap", false);
    b.gravcomp = cr__mjcf_number(mj, node, -1, "gravcomp", 0.0);
    all[own] = b;
    Spot inside = {own, cr_pose_identity(), child_class(mj, node, at->class), at->suffix};
    walk(mj, node, &inside, false);
    crMjcfBody* made = &mj->bodies.at[own];
    made->weld = made->joint_count > 0 ? own : mj->bodies.at[made->parent].weld;
    made->weld_next = mj->bodies.at[made->weld].weld_first;
    mj->bodies.at[made->weld].weld_first = own;
    walk(mj, node, &inside, true);
}

// the elements of a body: everything but bodies first, then the bodies
static void walk(crMjcf* mj, crXml* node, const Spot* at, bool bodies) {
    for (crXml* child = node->child; child != NULL && visit(mj, child); child = child->next) {
        const char* name = child->name;
        if (strcmp(name, "frame") == 0) {
            child->used = true;
            Spot inside = *at;
            inside.class = child_class(mj, child, at->class);
            inside.frame = cr_pose_mul(at->frame, cr__mjcf_pose(mj, child, -1));
            walk(mj, child, &inside, bodies);
        } else if (strcmp(name, "replicate") == 0) {
            child->used = true;
            walk_replicas(mj, child, at, bodies);
        } else if (bodies) {
            if (strcmp(name, "body") != 0) continue;
            child->used = true;
            add_body(mj, child, at);
        } else if (strcmp(name, "joint") == 0 || strcmp(name, "freejoint") == 0) {
            add_joint(mj, child, at);
        } else if (strcmp(name, "geom") == 0) {
            cr__mjcf_geom(mj, child, cr__mjcf_class(mj, child, at->class), at->body, at->frame,
                          full_name(mj, child, at));
        } else if (strcmp(name, "site") == 0) {
            add_site(mj, child, at);
        } else if (strcmp(name, "inertial") == 0 && at->body > 0) {
            read_inertial(mj, child, at->body);
        }
    }
}

void cr__mjcf_world(crMjcf* mj, crXml* worldbody) {
    if (mj->bodies.count == 0) {
        mj->bodies.at =
            cr__import_grow(mj->im, NULL, 0, &mj->bodies.capacity, sizeof *mj->bodies.at, 1, mj->root);
        if (mj->bodies.at == NULL) return;
        mj->bodies.at[mj->bodies.count++] = (crMjcfBody){.node = mj->root,
                                                         .name = "world",
                                                         .out = "world",
                                                         .pose = cr_pose_identity(),
                                                         .world = cr_pose_identity(),
                                                         .weld_next = -1,
                                                         .weld_first = 0,
                                                         .geom_first = -1};
    }
    if (worldbody == NULL) return;
    worldbody->used = true;
    Spot at = {0, cr_pose_identity(), child_class(mj, worldbody, 0), ""};
    walk(mj, worldbody, &at, false);
    walk(mj, worldbody, &at, true);
}
