// mjcf_tendons.c - tendons of MJCF that carom can say: fixed ones along hinges and slides, and spatial ones straight from
// site to site, with pulleys.
//
// A fixed tendon is l = sum of coef q. Along one joint its limits, spring, damper and dry friction are the
// joint's: with coef c, range / c, c^2 k, c^2 b and |c| f. Along two, or straight between two sites, its
// limits are a range of a loop. Other springs and dampers, and those that actuators or sensors need, are tendons of the
// scene. Without a springlength the spring is slack in the reference position. Sites of replicas pair off in their order.
// Fails: names of nothing are refused; what cannot be said (wrapping, limits over more sites or joints, dry friction) is
// noted by kind, with its place.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"

#define MOST_TENDONS 20000

static void cannot(crMjcf* mj, const crMjcfTendon* t, const char* what) {
    cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, t->node, NULL, "<%s> %s is not supported", t->node->name,
                    what);
}

static void read_forces(crMjcf* mj, crMjcfTendon* t) {
    static const char* const words[] = {"false", "true", "auto", NULL};
    int class = cr__mjcf_class(mj, t->node, 0);
    double range[2] = {0.0, 0.0}, rest[2] = {-1.0, -1.0};
    bool given = cr__mjcf_numbers(mj, t->node, class, "range", 2, 2, range);
    int limited = cr__mjcf_word(mj, t->node, class, "limited", words, 2);
    t->limited = (limited == 1 || (limited == 2 && mj->compiler.autolimits && given)) && mj->option.limit;
    t->lower = range[0];
    t->upper = range[1];
    t->stiffness = cr__mjcf_number(mj, t->node, class, "stiffness", 0.0);
    t->damping = cr__mjcf_number(mj, t->node, class, "damping", 0.0);
    t->frictionloss = cr__mjcf_number(mj, t->node, class, "frictionloss", 0.0);
    t->rests = cr__mjcf_numbers(mj, t->node, class, "springlength", 1, 2, rest) && rest[0] >= 0.0;
    t->rest[0] = rest[0];
    t->rest[1] = fmax(rest[0], rest[1]);
    if (!mj->option.frictionloss) t->frictionloss = 0.0;
    if (!mj->option.passive) t->stiffness = t->damping = 0.0;
    static const char* const soft[] = {"solreflimit", "solimplimit", "solreffriction", "solimpfriction",
                                       NULL};
    cr__mjcf_soft(mj, t->node, class, soft);
    if (t->limited && !(t->lower < t->upper))
        cr__import_refuse(mj->im, t->node, cr_xml_attr(t->node, "range"), CR_ERR_RANGE,
                          "is %g to %g, must be from less to more", t->lower, t->upper);
}

// limits act at the margin
static void move_limits(crMjcf* mj, crMjcfTendon* t) {
    if (t->limited) cr__mjcf_margin(mj, t->node, cr__mjcf_class(mj, t->node, 0), &t->lower, &t->upper);
}

static void read_joints(crMjcf* mj, crMjcfTendon* t) {
    for (crXml* node = t->node->child; node != NULL && cr__import_ok(mj->im); node = node->next) {
        if (strcmp(node->name, "joint") != 0) continue;
        node->used = true;
        double coef = 1.0;
        int joint = cr__mjcf_joint_of(mj, node, "joint");
        cr__mjcf_numbers(mj, node, -1, "coef", 1, 1, &coef);
        if (joint < 0) return;
        bool slender =
            mj->joints.at[joint].kind == CR_MJCF_HINGE || mj->joints.at[joint].kind == CR_MJCF_SLIDE;
        if (!slender)
            cr__import_refuse(mj->im, node, cr_xml_attr(node, "joint"), CR_ERR_NAME,
                              "must be a hinge or a slide");
        // what counts nothing is not there
        if (coef == 0.0) continue;
        if (t->count < CR_ACTUATOR_JOINTS) {
            t->joints[t->count] = joint;
            t->coef[t->count] = coef;
        }
        t->count++;
    }
}

// the joint has what the tendon has
static void along_joint(crMjcf* mj, const crMjcfTendon* t) {
    crMjcfJoint* j = &mj->joints.at[t->joints[0]];
    double c = t->coef[0];
    if (t->limited) {
        double a = t->lower / c, b = t->upper / c;
        j->lower = j->limited ? fmax(j->lower, fmin(a, b)) : fmin(a, b);
        j->upper = j->limited ? fmin(j->upper, fmax(a, b)) : fmax(a, b);
        j->limited = true;
    }
    double rest = t->rests ? t->rest[0] / c : j->qpos_spring;
    cr__mjcf_add_spring(j, c * c * t->stiffness, rest, c * c * t->damping);
    j->frictionloss += fabs(c) * t->frictionloss;
}

// sites that an element names: one, or all its replicas
static int sites_of(crMjcf* mj, crXml* node, int* first) {
    const char* name = cr__need_text(mj->im, node, "site");
    int count = 0;
    *first = cr__mjcf_find_site(mj, name);
    if (*first >= 0) return 1;
    for (int i = 0; i < mj->sites.count; i++) {
        if (!cr__mjcf_named(mj->sites.at[i].node, name)) continue;
        if (count++ == 0) *first = i;
    }
    if (count == 0 && cr__import_ok(mj->im))
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "site"), CR_ERR_NAME, "no site is called \"%.60s\"",
                          name);
    return count;
}

static int next_replica(const crMjcf* mj, int site) {
    for (int i = site + 1; i < mj->sites.count; i++) {
        if (mj->sites.at[i].node == mj->sites.at[site].node) return i;
    }
    return site;
}

// Sites without replicas from end to end, branches parted by pulleys; false, and no points, where it is anything else.
static bool read_branches(crMjcf* mj, crMjcfTendon* t) {
    double share = 1.0;
    int count = 0;
    for (crXml* node = t->node->child; node != NULL; node = node->next) {
        const char* name = strcmp(node->name, "site") == 0 ? cr__attr_text(node, "site") : NULL;
        if (strcmp(node->name, "pulley") == 0) {
            double divisor = 0.0;
            node->used = true;
            cr__mjcf_numbers(mj, node, -1, "divisor", 1, 1, &divisor);
            if (!(divisor > 0.0))
                cr__import_refuse(mj->im, node, cr_xml_attr(node, "divisor"), CR_ERR_RANGE,
                                  "divisor is %g, must be > 0", divisor);
            if (!cr__import_ok(mj->im)) return false;
            share = 1.0 / divisor;
            if (count > 0) t->shares[count - 1] = 0.0;
            continue;
        }
        int site = name != NULL ? cr__mjcf_find_site(mj, name) : -1;
        if (site < 0 || count == CR_TENDON_POINTS) return false;
        node->used = true;
        cr__mjcf_mark_all(node);
        t->points[count] = site;
        t->shares[count++] = share;
    }
    if (count < 2) return false;
    t->point_count = count;
    t->joints[0] = t->points[0];
    t->joints[1] = t->points[count - 1];
    t->count = 1;
    return true;
}

// two sites, or one and all replicas of the other, or replicas in pairs; false where it is anything else
static bool read_sites(crMjcf* mj, crMjcfTendon* t) {
    int count[2] = {0, 0}, sites = 0, first[2] = {0, 0};
    bool straight = true;
    if (read_branches(mj, t)) return t->point_count == 2;
    for (crXml* node = t->node->child; node != NULL && cr__import_ok(mj->im); node = node->next) {
        straight = straight && strcmp(node->name, "site") == 0 && sites < 2;
        node->used = true;
        for (crXmlAttr* attr = node->attrs; attr != NULL; attr = attr->next) {
            attr->used = true;
        }
        if (straight) count[sites] = sites_of(mj, node, &first[sites]);
        sites++;
    }
    t->count = count[0] > count[1] ? count[0] : count[1];
    t->joints[0] = first[0];
    t->joints[1] = first[1];
    return straight && sites == 2 && (count[0] == count[1] || count[0] == 1 || count[1] == 1);
}

// true if every two sites belong to bodies that do not move to each other
static bool lifeless(const crMjcf* mj, const crMjcfTendon* t) {
    int a = t->joints[0], b = t->joints[1];
    for (int i = 0; i < t->count; i++, a = next_replica(mj, a), b = next_replica(mj, b)) {
        if (mj->bodies.at[mj->sites.at[a].body].weld != mj->bodies.at[mj->sites.at[b].body].weld)
            return false;
    }
    return true;
}

static void read_spatial(crMjcf* mj, crMjcfTendon* t) {
    bool acts = t->limited || t->stiffness != 0.0 || t->damping != 0.0 || t->frictionloss != 0.0;
    bool straight = read_sites(mj, t);
    if (!cr__import_ok(mj->im)) return;
    if (straight && lifeless(mj, t)) {
        cr__mjcf_attr(mj, t->node, cr__mjcf_class(mj, t->node, 0), "margin");
        cr__import_note(mj->im, CR_NOTE_IGNORED, t->node, NULL,
                        "<spatial> of bodies that do not move to each other");
        t->count = 0;
        return;
    }
    if (t->point_count == 0 && !straight) {
        if (acts) cannot(mj, t, "that wraps around geoms");
        t->count = 0;
        return;
    }
    bool sprung = t->stiffness != 0.0 || t->damping != 0.0;
    if (sprung && t->point_count == 0) cannot(mj, t, "of replicas with a spring or a damper");
    t->needed = sprung && t->point_count > 0;
    if (t->frictionloss != 0.0) cannot(mj, t, "with dry friction");
    move_limits(mj, t);
    if (!straight && t->limited) {
        cannot(mj, t, "with limits over more than two sites");
        t->limited = false;
    }
    if (t->limited && t->lower < 0.0) t->lower = 0.0;
    if (!t->limited) t->count = 0;
}

static void read_fixed(crMjcf* mj, crMjcfTendon* t) {
    bool acts = t->limited || t->stiffness != 0.0 || t->damping != 0.0 || t->frictionloss != 0.0;
    read_joints(mj, t);
    if (!cr__import_ok(mj->im) || t->count == 0) return;
    move_limits(mj, t);
    if (t->count == 1) {
        along_joint(mj, t);
        t->stiffness = t->damping = 0.0;
    } else if (t->count > CR_ACTUATOR_JOINTS) {
        if (acts) cannot(mj, t, "along more than 8 joints");
    } else {
        t->needed = t->stiffness != 0.0 || t->damping != 0.0;
        if (t->frictionloss != 0.0) cannot(mj, t, "with dry friction along several joints");
        if (t->limited && t->count > 2) cannot(mj, t, "with limits along more than two joints");
    }
}

void cr__mjcf_tendons(crMjcf* mj) {
    for (crXml* section = mj->root->child; section != NULL; section = section->next) {
        if (strcmp(section->name, "tendon") != 0) continue;
        section->used = true;
        for (crXml* node = section->child; node != NULL && cr__import_ok(mj->im); node = node->next) {
            bool fixed = strcmp(node->name, "fixed") == 0;
            if (!fixed && strcmp(node->name, "spatial") != 0) continue;
            node->used = true;
            crMjcfTendon* all = cr__import_grow(mj->im, mj->tendons.at, mj->tendons.count,
                                                &mj->tendons.capacity, sizeof *all, MOST_TENDONS, node);
            if (all == NULL) return;
            mj->tendons.at = all;
            crMjcfTendon t = {.node = node, .name = cr__attr_text(node, "name"), .fixed = fixed};
            read_forces(mj, &t);
            if (fixed && cr__import_ok(mj->im)) read_fixed(mj, &t);
            if (!fixed && cr__import_ok(mj->im)) read_spatial(mj, &t);
            all[mj->tendons.count++] = t;
        }
    }
}

// lo <= l0 + c0 q0 + c1 q1 <= hi with coordinates from the reference: a range of q0 + (c1 / c0) q1
static void put_fixed(crMjcf* mj, const crMjcfTendon* t) {
    const crMjcfJoint* a = &mj->joints.at[t->joints[0]];
    const crMjcfJoint* b = &mj->joints.at[t->joints[1]];
    double c = t->coef[0], l0 = c * a->ref + t->coef[1] * b->ref;
    double low = (t->lower - l0) / c, high = (t->upper - l0) / c;
    double coef[2] = {0.0, -t->coef[1] / c}, range[2] = {fmin(low, high), fmax(low, high)};
    crJson* to = cr__mjcf_constraint(mj, t->node, "joint", a->out, b->out);
    cr_tree_numbers(&mj->im->tree, to, "coef", coef, 2);
    cr_tree_numbers(&mj->im->tree, to, "range", range, 2);
}

static void put_spatial(crMjcf* mj, const crMjcfTendon* t) {
    crTree* tree = &mj->im->tree;
    int a = t->joints[0], b = t->joints[1];
    for (int i = 0; i < t->count; i++, a = next_replica(mj, a), b = next_replica(mj, b)) {
        const crMjcfSite* from = &mj->sites.at[a];
        const crMjcfSite* to = &mj->sites.at[b];
        if (mj->bodies.at[from->body].weld == mj->bodies.at[to->body].weld) {
            cr__import_note(mj->im, CR_NOTE_IGNORED, t->node, NULL,
                            "<spatial> of bodies that do not move to each other");
            continue;
        }
        double range[2] = {t->lower, t->upper};
        crJson* tie = cr__mjcf_constraint(mj, t->node, "distance", mj->bodies.at[from->body].out,
                                          mj->bodies.at[to->body].out);
        crJson* points = cr_tree_list(tree, tie, "points");
        cr_tree_vector(tree, points, NULL, from->pose.p);
        cr_tree_vector(tree, points, NULL, to->pose.p);
        cr_tree_numbers(tree, tie, "range", range, 2);
    }
}

// tendons of the scene

const char* cr__mjcf_tendon_name(crMjcf* mj, int tendon) {
    crMjcfTendon* t = &mj->tendons.at[tendon];
    if (t->fixed ? t->count < 1 || t->count > CR_ACTUATOR_JOINTS : t->point_count == 0) return NULL;
    t->needed = true;
    if (t->out != NULL) return t->out;
    const char* name =
        t->name != NULL && *t->name != '\0' ? t->name : cr__import_format(mj->im, "tendon%d", tendon);
    t->out = cr__import_name(mj->im, &mj->tendon_names, t->node, name);
    return t->out;
}

// the length at which springs are slack, in MJCF's coordinates
static double slack_length(crMjcf* mj, const crMjcfTendon* t) {
    double sum = 0.0;
    for (int k = 0; k < t->count && t->fixed; k++) {
        sum += t->coef[k] * mj->joints.at[t->joints[k]].qpos_spring;
    }
    if (t->fixed) return sum;
    for (int k = 0; k + 1 < t->point_count; k++) {
        const crMjcfSite *a = &mj->sites.at[t->points[k]], *b = &mj->sites.at[t->points[k + 1]];
        crVec3 from = cr_pose_point(mj->bodies.at[a->body].world, a->pose.p);
        crVec3 to = cr_pose_point(mj->bodies.at[b->body].world, b->pose.p);
        sum += t->shares[k] * cr_norm(cr_sub(to, from));
    }
    for (int i = 0; i < mj->joints.count; i++) {
        const crMjcfJoint* j = &mj->joints.at[i];
        bool slender = j->kind == CR_MJCF_HINGE || j->kind == CR_MJCF_SLIDE;
        if (!slender || j->qpos_spring == j->ref) continue;
        cannot(mj, t, "whose springlength is that of joints at springref");
        break;
    }
    return sum;
}

static void put_springs(crMjcf* mj, crJson* to, const crMjcfTendon* t) {
    crTree* tree = &mj->im->tree;
    if (t->damping != 0.0) cr_tree_number(tree, to, "damping", t->damping);
    if (t->stiffness == 0.0) return;
    double from_ref = 0.0, rest[2] = {t->rest[0], t->rest[1]};
    if (!t->rests) rest[0] = rest[1] = slack_length(mj, t);
    for (int k = 0; k < t->count && t->fixed; k++) {
        from_ref += t->coef[k] * mj->joints.at[t->joints[k]].ref;
    }
    rest[0] -= from_ref;
    rest[1] -= from_ref;
    cr_tree_number(tree, to, "stiffness", t->stiffness);
    if (rest[0] < rest[1]) cr_tree_numbers(tree, to, "rest_range", rest, 2);
    if (!(rest[0] < rest[1])) cr_tree_number(tree, to, "rest", rest[0]);
}

static void put_tendon(crMjcf* mj, crJson* list, int index) {
    crTree* tree = &mj->im->tree;
    const crMjcfTendon* t = &mj->tendons.at[index];
    cr__tree_at(mj->im, t->node);
    crJson* to = cr_tree_object(tree, list, NULL);
    cr_tree_text(tree, to, "name", cr__mjcf_tendon_name(mj, index));
    crJson* items = cr_tree_list(tree, to, t->fixed ? "joints" : "sites");
    for (int k = 0; k < t->count && t->fixed; k++) {
        const crMjcfJoint* j = &mj->joints.at[t->joints[k]];
        crJson* term = cr_tree_object(tree, items, NULL);
        cr_tree_text(tree, term, "joint", j->out_name != NULL ? j->out_name : j->out);
        cr_tree_number(tree, term, "coef", t->coef[k]);
    }
    bool plain = true;
    for (int k = 0; k < t->point_count; k++) {
        cr_tree_text(tree, items, NULL, cr__mjcf_site_name(mj, t->points[k]));
        plain = plain && (t->shares[k] == 1.0 || k + 1 == t->point_count);
    }
    if (!plain) cr_tree_numbers(tree, to, "coef", t->shares, t->point_count - 1);
    put_springs(mj, to, t);
}

void cr__mjcf_put_tendons(crMjcf* mj) {
    crJson* list = NULL;
    for (int i = 0; i < mj->tendons.count && cr__import_ok(mj->im); i++) {
        if (!mj->tendons.at[i].needed) continue;
        if (list == NULL) list = cr_tree_list(&mj->im->tree, mj->im->tree.doc->root, "tendons");
        put_tendon(mj, list, i);
    }
}

void cr__mjcf_tendon_ties(crMjcf* mj) {
    for (int i = 0; i < mj->tendons.count && cr__import_ok(mj->im); i++) {
        const crMjcfTendon* t = &mj->tendons.at[i];
        if (!t->limited) continue;
        if (t->fixed && t->count == 2) put_fixed(mj, t);
        if (!t->fixed) put_spatial(mj, t);
    }
}
