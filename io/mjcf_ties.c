// mjcf_ties.c - what MJCF says beside the tree: contact pairs and exclusions, equalities.
//
// An explicit pair of geoms gets a bit of its own in one's group and the other's mask, so that both meet
// whatever their contype. connect and weld are loops through points of the reference position. Fails: names of nothing are
// refused; names that replicas changed are noted.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"
#include "io/scene.h"

#define FIRST_BIT 32  // contype and conaffinity have the bits below
#define LAST_BIT  52
#define MOST_TIES 20000

bool cr__mjcf_named(const crXml* node, const char* name) {
    const crXmlAttr* attr = node != NULL ? cr_xml_attr(node, "name") : NULL;
    return attr != NULL && strcmp(attr->value, name) == 0;
}

// a name that nothing has: replicas are noted, anything else is refused
static int missing(crMjcf* mj, crXml* node, const char* attr, const char* kind, const char* name) {
    bool replica = false;
    for (int i = 0; i < mj->bodies.count && !replica; i++) {
        replica = cr__mjcf_named(mj->bodies.at[i].node, name);
    }
    for (int i = 0; i < mj->joints.count && !replica; i++) {
        replica = cr__mjcf_named(mj->joints.at[i].node, name);
    }
    for (int i = 0; i < mj->geoms.count && !replica; i++) {
        replica = cr__mjcf_named(mj->geoms.at[i].node, name);
    }
    if (replica) {
        cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, cr_xml_attr(node, attr),
                        "<%s> %s: names inside <replicate> are not supported", node->name, attr);
    } else {
        cr__import_refuse(mj->im, node, cr_xml_attr(node, attr), CR_ERR_NAME, "no %s is called \"%.60s\"",
                          kind, name);
    }
    return -1;
}

static int body_of(crMjcf* mj, crXml* node, const char* attr) {
    const char* name = cr__need_text(mj->im, node, attr);
    int body = cr__mjcf_find_body(mj, name);
    return body >= 0 ? body : missing(mj, node, attr, "body", name);
}

int cr__mjcf_joint_of(crMjcf* mj, crXml* node, const char* attr) {
    const char* name = cr__need_text(mj->im, node, attr);
    int joint = cr__mjcf_find_joint(mj, name);
    return joint >= 0 ? joint : missing(mj, node, attr, "joint", name);
}

static int geom_of(crMjcf* mj, crXml* node, const char* attr) {
    const char* name = cr__need_text(mj->im, node, attr);
    int geom = cr__mjcf_find_geom(mj, name);
    return geom >= 0 ? geom : missing(mj, node, attr, "geom", name);
}

static void add_exclude(crMjcf* mj, crXml* node) {
    node->used = true;
    int a = body_of(mj, node, "body1");
    int b = cr__import_ok(mj->im) ? body_of(mj, node, "body2") : -1;
    if (a < 0 || b < 0) return;
    int(*all)[2] = cr__import_grow(mj->im, mj->excludes.at, mj->excludes.count, &mj->excludes.capacity,
                                   sizeof(int[2]), MOST_TIES, node);
    if (all == NULL) return;
    mj->excludes.at = all;
    all[mj->excludes.count][0] = a;
    all[mj->excludes.count++][1] = b;
}

static bool filtered(const crMjcf* mj, const crMjcfGeom* a, const crMjcfGeom* b) {
    int wa = mj->bodies.at[a->body].weld, wb = mj->bodies.at[b->body].weld;
    if (wa == wb) return true;
    int pa = mj->bodies.at[mj->bodies.at[wa].parent].weld, pb = mj->bodies.at[mj->bodies.at[wb].parent].weld;
    return wa != 0 && wb != 0 && (pa == wb || pb == wa);
}

// the pair's own friction, else what the geoms make of it
static void pair_surface(crMjcf* mj, crXml* node, crMjcfGeom* a, crMjcfGeom* b, crMjcfPair* pair) {
    int class = cr__mjcf_class(mj, node, 0);
    double f[5];
    for (int k = 0; k < 3; k++) {
        f[k == 0 ? 0 : k + 1] = fmax(a->friction[k], b->friction[k]);
    }
    bool given = cr__mjcf_numbers(mj, node, class, "friction", 1, 5, f);
    double condim = cr__mjcf_number(mj, node, class, "condim", a->condim > b->condim ? a->condim : b->condim);
    if (given && f[0] < 0.0)
        cr__import_refuse(mj->im, node, cr_xml_attr(node, "friction"), CR_ERR_RANGE, "must not be negative");
    static const char* const soft[] = {"solimp", "solreffriction", NULL};
    double solref[2] = {0.02, 1.0};
    bool bounces = cr__mjcf_numbers(mj, node, class, "solref", 2, 2, solref);
    cr__mjcf_soft(mj, node, class, soft);
    *pair = (crMjcfPair){.e = bounces ? cr__mjcf_restitution(solref) : -1.0,
                         .mu = condim >= 3.0 ? f[0] : 0.0,
                         .spin = condim >= 4.0 ? fmax(0.0, f[2]) : 0.0,
                         .roll = condim >= 6.0 ? fmax(0.0, f[3]) : 0.0};
}

static void add_pair(crMjcf* mj, crXml* node, int* bit) {
    node->used = true;
    int a = geom_of(mj, node, "geom1");
    int b = cr__import_ok(mj->im) ? geom_of(mj, node, "geom2") : -1;
    if (a < 0 || b < 0) return;
    crMjcfPair* all = cr__import_grow(mj->im, mj->pairs.at, mj->pairs.count, &mj->pairs.capacity, sizeof *all,
                                      LAST_BIT * LAST_BIT, node);
    if (all == NULL) return;
    mj->pairs.at = all;
    crMjcfGeom* x = &mj->geoms.at[a];
    crMjcfGeom* y = &mj->geoms.at[b];
    pair_surface(mj, node, x, y, &all[mj->pairs.count]);
    all[mj->pairs.count].a = a;
    all[mj->pairs.count].b = b;
    if (mj->bodies.at[x->body].weld == 0 && mj->bodies.at[y->body].weld == 0) {
        cr__import_note(mj->im, CR_NOTE_IGNORED, node, NULL, "<pair> of two geoms that never move");
        return;
    }
    if (filtered(mj, x, y)) {
        cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, NULL,
                        "<pair> of a body with itself or its parent");
        return;
    }
    if ((x->group & y->mask) == 0 && (y->group & x->mask) == 0) {
        if (*bit > LAST_BIT) {
            cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, NULL,
                            "<pair>: more than %d that contype forbids", LAST_BIT - FIRST_BIT + 1);
            return;
        }
        x->group |= UINT64_C(1) << *bit;
        y->mask |= UINT64_C(1) << *bit;
        ++*bit;
    }
    mj->pairs.count++;
    x->own = a + 1;
    y->own = b + 1;
}

void cr__mjcf_contacts(crMjcf* mj) {
    int bit = FIRST_BIT;
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "contact") != 0) continue;
        node->used = true;
        for (crXml* child = node->child; child != NULL && cr__import_ok(mj->im); child = child->next) {
            if (strcmp(child->name, "exclude") == 0) add_exclude(mj, child);
            if (strcmp(child->name, "pair") == 0) add_pair(mj, child, &bit);
        }
    }
}

// a second spring and damper along a joint
void cr__mjcf_add_spring(crMjcfJoint* j, double stiffness, double rest, double damping) {
    double k = j->stiffness + stiffness;
    if (stiffness > 0.0) j->springref = (j->stiffness * j->springref + stiffness * rest) / k;
    j->stiffness = k;
    j->damping += damping;
}

void cr__mjcf_mark_all(crXml* node) {
    for (crXmlAttr* attr = node->attrs; attr != NULL; attr = attr->next) {
        attr->used = true;
    }
}

// a point and frame of a body
typedef struct End {
    int body;
    crPose pose;
} End;

static bool find_ends(crMjcf* mj, crXml* node, bool weld, End* a, End* b) {
    crImporting* im = mj->im;
    double x[7];
    if (cr_xml_attr(node, "site1") != NULL) {
        End* ends[2] = {a, b};
        for (int i = 0; i < 2; i++) {
            const char* name = cr__need_text(im, node, i == 0 ? "site1" : "site2");
            int site = cr__mjcf_find_site(mj, name);
            if (site < 0) {
                if (cr__import_ok(im)) missing(mj, node, i == 0 ? "site1" : "site2", "site", name);
                return false;
            }
            *ends[i] = (End){mj->sites.at[site].body, mj->sites.at[site].pose};
        }
        return true;
    }
    a->body = body_of(mj, node, "body1");
    b->body = cr_xml_attr(node, "body2") != NULL && cr__import_ok(im) ? body_of(mj, node, "body2") : 0;
    if (a->body < 0 || b->body < 0 || !cr__import_ok(im)) return false;
    crPose relative =
        cr_pose_mul(cr_pose_inverse(mj->bodies.at[a->body].world), mj->bodies.at[b->body].world);
    crVec3 anchor = cr_vec3(0, 0, 0);
    if (cr__mjcf_numbers(mj, node, -1, "anchor", 3, 3, x)) anchor = cr_vec3(x[0], x[1], x[2]);
    if (!weld) {
        *a = (End){a->body, {anchor, cr_quat_identity()}};
        *b = (End){b->body, {cr_pose_point_inverse(relative, anchor), cr_quat_identity()}};
        return cr__import_ok(im);
    }
    // a quaternion of zeros means: as they are in the reference position
    if (cr__mjcf_numbers(mj, node, -1, "relpose", 7, 7, x) &&
        x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6] > 0.0)
        relative = (crPose){cr_vec3(x[0], x[1], x[2]), cr_quat_normalize((crQuat){x[3], x[4], x[5], x[6]})};
    *a = (End){a->body, {cr_pose_point(relative, anchor), relative.q}};
    *b = (End){b->body, {anchor, cr_quat_identity()}};
    return cr__import_ok(im);
}

crJson* cr__mjcf_constraint(crMjcf* mj, crXml* node, const char* type, const char* a, const char* b) {
    crTree* tree = &mj->im->tree;
    if (mj->constraints == NULL) mj->constraints = cr_tree_list(tree, tree->doc->root, "constraints");
    cr__tree_at(mj->im, node);
    crJson* to = cr_tree_object(tree, mj->constraints, NULL);
    cr_tree_text(tree, to, "type", type);
    crJson* names = cr_tree_list(tree, to, "bodies");
    cr_tree_text(tree, names, NULL, a);
    cr_tree_text(tree, names, NULL, b);
    return to;
}

static void add_tie(crMjcf* mj, crXml* node, bool weld) {
    crTree* tree = &mj->im->tree;
    End a = {0}, b = {0};
    if (!find_ends(mj, node, weld, &a, &b)) return;
    if (mj->bodies.at[a.body].weld == mj->bodies.at[b.body].weld) {
        cr__import_note(mj->im, CR_NOTE_IGNORED, node, NULL, "<%s> of bodies that do not move to each other",
                        node->name);
        return;
    }
    crJson* to =
        cr__mjcf_constraint(mj, node, node->name, mj->bodies.at[a.body].out, mj->bodies.at[b.body].out);
    crJson* points = cr_tree_list(tree, to, "points");
    cr_tree_vector(tree, points, NULL, a.pose.p);
    cr_tree_vector(tree, points, NULL, b.pose.p);
    if (!weld) return;
    crJson* quats = cr_tree_list(tree, to, "quats");
    cr_tree_quat(tree, quats, NULL, cr_quat_normalize(a.pose.q));
    cr_tree_quat(tree, quats, NULL, cr_quat_normalize(b.pose.q));
}

static void add_coupling(crMjcf* mj, crXml* node) {
    double coef[5] = {0.0, 1.0, 0.0, 0.0, 0.0};
    int a = cr__mjcf_joint_of(mj, node, "joint1");
    bool two = cr_xml_attr(node, "joint2") != NULL;
    int b = two && cr__import_ok(mj->im) ? cr__mjcf_joint_of(mj, node, "joint2") : -1;
    cr__mjcf_numbers(mj, node, -1, "polycoef", 1, 5, coef);
    if (a < 0 || (two && b < 0) || !cr__import_ok(mj->im)) return;
    const char* other = two ? mj->joints.at[b].out : "world";
    crJson* to = cr__mjcf_constraint(mj, node, "joint", mj->joints.at[a].out, other);
    cr_tree_numbers(&mj->im->tree, to, "coef", coef, 5);
}

void cr__mjcf_equalities(crMjcf* mj) {
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (strcmp(node->name, "equality") != 0) continue;
        node->used = true;
        for (crXml* tie = node->child; tie != NULL && cr__import_ok(mj->im); tie = tie->next) {
            bool connect = strcmp(tie->name, "connect") == 0, weld = strcmp(tie->name, "weld") == 0;
            bool joint = strcmp(tie->name, "joint") == 0;
            if (!connect && !weld && !joint) continue;
            tie->used = true;
            bool active = cr__mjcf_flag(mj, tie, -1, "active", true);
            if (!active || !mj->option.equality) {
                cr__import_note(mj->im, CR_NOTE_IGNORED, tie, NULL, "<%s> is switched off", tie->name);
                cr__mjcf_mark_all(tie);
                continue;
            }
            if (joint) {
                add_coupling(mj, tie);
            } else {
                add_tie(mj, tie, weld);
            }
        }
    }
}
