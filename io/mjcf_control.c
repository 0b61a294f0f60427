// mjcf_control.c - actuators and keyframes of MJCF.
//
// An actuator's force is (g0 + g1 l + g2 dl/dt) ctrl + b0 + b1 l + b2 dl/dt along l (mjcf_transmission.c); MJCF counts coordinates from ref, carom from the reference position, so
// constants move by that. motor, position, velocity, damper and cylinder are such forces. Activations are integrators
// and filters; those of muscles and users are left out. Keyframes become whole states of the scene; the one that is asked for by name is its start.
// Fails: names of nothing are refused; what cannot be said is noted by kind.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"
#include "io/scene.h"

#define MOST 20000

static bool is(const crXml* node, const char* name) { return strcmp(node->name, name) == 0; }

// gain and bias of <general>; false where it is of another kind
static bool read_general(crMjcf* mj, crXml* node, int class, crMjcfActuator* a, const char** dynamics) {
    double gain[10] = {1.0}, bias[10] = {0.0};
    const char* gaintype = cr__mjcf_text(mj, node, class, "gaintype");
    const char* biastype = cr__mjcf_text(mj, node, class, "biastype");
    const char* dyntype = cr__mjcf_text(mj, node, class, "dyntype");
    if (dyntype != NULL) *dynamics = dyntype;
    cr__mjcf_numbers(mj, node, class, "gainprm", 1, 10, gain);
    cr__mjcf_numbers(mj, node, class, "biasprm", 1, 10, bias);
    bool affine_gain = gaintype != NULL && strcmp(gaintype, "affine") == 0;
    bool affine_bias = biastype != NULL && strcmp(biastype, "affine") == 0;
    bool known = (gaintype == NULL || affine_gain || strcmp(gaintype, "fixed") == 0) &&
                 (biastype == NULL || affine_bias || strcmp(biastype, "none") == 0);
    memcpy(a->gain, (const double[]){gain[0], affine_gain ? gain[1] : 0.0, affine_gain ? gain[2] : 0.0},
           sizeof a->gain);
    if (affine_bias) memcpy(a->bias, bias, sizeof a->bias);
    // MuJoCo takes a positive number here for a damping ratio where the force is that of a servo
    if (affine_bias && bias[2] > 0.0 && bias[1] == -gain[0]) {
        a->damp_ratio = bias[2];
        a->bias[2] = 0.0;
    }
    return known;
}

// the force of one of the kinds; false where it cannot be said
static bool read_force(crMjcf* mj, crXml* node, int class, crMjcfActuator* a, const char** dynamics) {
    double kv = 0.0;
    if (is(node, "general")) return read_general(mj, node, class, a, dynamics);
    if (is(node, "muscle") || is(node, "adhesion") || is(node, "plugin")) return false;
    a->gain[0] = 1.0;
    if (is(node, "position") || is(node, "intvelocity")) {
        a->gain[0] = cr__mjcf_number(mj, node, class, "kp", 1.0);
        a->bias[1] = -a->gain[0];
        a->bias[2] = -cr__mjcf_number(mj, node, class, "kv", 0.0);
        if (is(node, "intvelocity")) *dynamics = "integrator";
        if (is(node, "position") && cr__mjcf_number(mj, node, class, "timeconst", 0.0) > 0.0)
            *dynamics = "filterexact";
        a->damp_ratio = cr__mjcf_number(mj, node, class, "dampratio", 0.0);
        if (a->damp_ratio < 0.0)
            cr__import_refuse(mj->im, node, cr_xml_attr(node, "dampratio"), CR_ERR_RANGE,
                              "is %g, must not be negative", a->damp_ratio);
    } else if (is(node, "velocity") || is(node, "damper")) {
        kv = cr__mjcf_number(mj, node, class, "kv", 1.0);
        if (is(node, "damper")) memcpy(a->gain, (const double[]){0.0, 0.0, -kv}, sizeof a->gain);
        if (is(node, "velocity")) a->gain[0] = kv, a->bias[2] = -kv;
    } else if (is(node, "cylinder")) {
        double diameter = cr__mjcf_number(mj, node, class, "diameter", 0.0);
        a->gain[0] = cr__mjcf_number(mj, node, class, "area", 1.0);
        if (diameter > 0.0) a->gain[0] = 0.25 * CR_PI * diameter * diameter;
        cr__mjcf_numbers(mj, node, class, "bias", 1, 3, a->bias);
        *dynamics = "filter";
    }
    return true;
}

// the activation, as scenes call it
static void read_activation(crMjcf* mj, crXml* node, int class, const char* dynamics, crMjcfActuator* a) {
    static const char* const theirs[] = {"integrator", "filter", "filterexact", NULL};
    static const char* const ours[] = {"integrator", "filter", "filter_exact"};
    double parameters[10] = {1.0};
    cr__mjcf_numbers(mj, node, class, "dynprm", 1, 10, parameters);
    a->time_constant = parameters[0];
    if (is(node, "cylinder")) a->time_constant = cr__mjcf_number(mj, node, class, "timeconst", 1.0);
    if (is(node, "position")) a->time_constant = cr__mjcf_number(mj, node, class, "timeconst", 0.0);
    for (int i = 0; theirs[i] != NULL; i++) {
        if (strcmp(dynamics, theirs[i]) == 0) a->activation = ours[i];
    }
    bool filter = a->activation != NULL && strcmp(a->activation, "integrator") != 0;
    // a filter without a time constant follows at once
    if (filter && !(a->time_constant > 0.0)) a->activation = NULL;
}

// a range that counts where it is given, or asked for
static bool read_range(crMjcf* mj, crXml* node, int class, const char* name, const char* limited,
                       double range[2]) {
    static const char* const words[] = {"false", "true", "auto", NULL};
    bool given = cr__mjcf_numbers(mj, node, class, name, 2, 2, range);
    int word = cr__mjcf_word(mj, node, class, limited, words, 2);
    bool counts = word == 1 || (word == 2 && mj->compiler.autolimits && given);
    if (counts && !(range[0] < range[1]))
        cr__import_refuse(mj->im, node, cr_xml_attr(node, name), CR_ERR_RANGE,
                          "is %g to %g, must be from less to more", range[0], range[1]);
    return counts;
}

static void read_ranges(crMjcf* mj, crXml* node, int class, crMjcfActuator* a) {
    static const char* const others[] = {"actdim", "lengthrange", NULL};
    static const char* const truths[] = {"false", "true", NULL};
    for (int i = 0; others[i] != NULL; i++) {
        cr__mjcf_attr(mj, node, class, others[i]);
    }
    a->early = cr__mjcf_word(mj, node, class, "actearly", truths, 0) == 1;
    a->act_limited = read_range(mj, node, class, "actrange", "actlimited", a->act_range);
    if (a->act_limited) a->act = fmin(a->act_range[1], fmax(a->act_range[0], 0.0));
    a->ctrl_limited = read_range(mj, node, class, "ctrlrange", "ctrllimited", a->ctrl_range);
    a->force_limited = read_range(mj, node, class, "forcerange", "forcelimited", a->force_range);
    double inherit = cr__mjcf_number(mj, node, class, "inheritrange", 0.0);
    const crMjcfJoint* j = &mj->joints.at[a->joints[0]];
    if (inherit > 0.0 && !a->ctrl_limited && a->count == 1 && j->limited && is(node, "position")) {
        double middle = 0.5 * (j->lower + j->upper), half = 0.5 * inherit * (j->upper - j->lower);
        a->ctrl_limited = true;
        a->ctrl_range[0] = middle - half;
        a->ctrl_range[1] = middle + half;
    }
    if (a->ctrl_limited) a->ctrl = fmin(a->ctrl_range[1], fmax(a->ctrl_range[0], 0.0));
}

static void add_actuator(crMjcf* mj, crXml* node) {
    static const char* const kinds[] = {"motor",       "general", "position", "velocity",
                                        "intvelocity", "damper",  "cylinder", "adhesion",
                                        "muscle",      "plugin",  NULL};
    crImporting* im = mj->im;
    bool known = false;
    for (int i = 0; kinds[i] != NULL; i++) {
        known = known || is(node, kinds[i]);
    }
    if (!known) return;
    crMjcfActuator* all = cr__import_grow(im, mj->actuators.at, mj->actuators.count, &mj->actuators.capacity,
                                          sizeof *all, MOST, node);
    if (all == NULL) return;
    mj->actuators.at = all;
    node->used = true;
    int class = cr__mjcf_class(mj, node, 0);
    crMjcfActuator a = {.node = node, .name = cr__attr_text(node, "name")};
    const char* dynamics = "none";
    bool simple = read_force(mj, node, class, &a, &dynamics);
    bool known_state = strcmp(dynamics, "muscle") != 0 && strcmp(dynamics, "user") != 0;
    if (!simple || !known_state) {
        cr__mjcf_left_out(mj, node, "of this kind (muscle, adhesion, user)");
    } else if (cr__mjcf_transmission(mj, node, class, &a)) {
        read_activation(mj, node, class, dynamics, &a);
        read_ranges(mj, node, class, &a);
        if (a.damp_ratio > 0.0 && a.along != CR_MJCF_ALONG_JOINTS)
            cr__import_note(im, CR_NOTE_UNSUPPORTED, node, NULL,
                            "<%s> dampratio along a tendon or site is not supported: no damping", node->name);
        if (a.damp_ratio > 0.0)
            a.bias[2] = -2.0 * a.damp_ratio * sqrt(fmax(0.0, a.gain[0] * cr__mjcf_reflected(mj, &a)));
        const char* name = a.name != NULL && *a.name != '\0'
                               ? a.name
                               : cr__import_format(im, "actuator%d", mj->actuators.count);
        if (mj->option.actuation) a.out = cr__import_name(im, &mj->actuator_names, node, name);
    }
    all[mj->actuators.count++] = a;
}

void cr__mjcf_actuators(crMjcf* mj) {
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (!is(node, "actuator")) continue;
        node->used = true;
        for (crXml* child = node->child; child != NULL && cr__import_ok(mj->im); child = child->next) {
            add_actuator(mj, child);
        }
    }
}

static bool zero(const double x[3]) { return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0; }

static void put_force(crMjcf* mj, crJson* to, const crMjcfActuator* a) {
    crTree* tree = &mj->im->tree;
    double gain[3], bias[3], from_ref = 0.0;
    memcpy(gain, a->gain, sizeof gain);
    memcpy(bias, a->bias, sizeof bias);
    for (int k = 0; k < a->count; k++) {
        from_ref += a->gear[k] * mj->joints.at[a->joints[k]].ref;
    }
    gain[0] += gain[1] * from_ref;
    bias[0] += bias[1] * from_ref;
    bool plain = gain[1] == 0.0 && gain[2] == 0.0 && bias[0] == 0.0;
    if (plain && gain[0] == 1.0 && zero(bias)) {
        cr_tree_text(tree, to, "type", "motor");
    } else if (plain && gain[0] > 0.0 && bias[1] == -gain[0] && bias[2] <= 0.0) {
        cr_tree_text(tree, to, "type", "position");
        cr_tree_number(tree, to, "kp", gain[0]);
        cr_tree_number(tree, to, "kv", -bias[2]);
    } else if (plain && gain[0] > 0.0 && bias[1] == 0.0 && bias[2] == -gain[0]) {
        cr_tree_text(tree, to, "type", "velocity");
        cr_tree_number(tree, to, "kv", gain[0]);
    } else {
        cr_tree_text(tree, to, "type", "general");
        cr_tree_numbers(tree, to, "gain", gain, 3);
        cr_tree_numbers(tree, to, "bias", bias, 3);
    }
}

static void put_actuator(crMjcf* mj, crJson* list, const crMjcfActuator* a) {
    crTree* tree = &mj->im->tree;
    cr__tree_at(mj->im, a->node);
    crJson* to = cr_tree_object(tree, list, NULL);
    cr_tree_text(tree, to, "name", a->out);
    put_force(mj, to, a);
    cr__mjcf_put_transmission(mj, to, a);
    if (a->ctrl != 0.0) cr_tree_number(tree, to, "ctrl", a->ctrl);
    if (a->ctrl_limited) cr_tree_numbers(tree, to, "ctrl_range", a->ctrl_range, 2);
    if (a->force_limited) cr_tree_numbers(tree, to, "force_range", a->force_range, 2);
    if (a->activation == NULL) return;
    cr_tree_text(tree, to, "activation", a->activation);
    if (strcmp(a->activation, "integrator") != 0) cr_tree_number(tree, to, "time_constant", a->time_constant);
    if (a->act != 0.0) cr_tree_number(tree, to, "act", a->act);
    if (a->act_limited) cr_tree_numbers(tree, to, "act_range", a->act_range, 2);
    if (a->early) cr_tree_bool(tree, to, "early", true);
}

// keyframes

static int joint_nq(const crMjcfJoint* j) {
    return j->kind == CR_MJCF_FREE ? 7 : j->kind == CR_MJCF_BALL ? 4 : 1;
}
static int joint_nv(const crMjcfJoint* j) {
    return j->kind == CR_MJCF_FREE ? 6 : j->kind == CR_MJCF_BALL ? 3 : 1;
}

static void reference(crMjcf* mj) {
    for (int i = 0; i < mj->joints.count; i++) {
        crMjcfJoint* j = &mj->joints.at[i];
        crPose w = mj->bodies.at[j->body].world;
        if (j->kind == CR_MJCF_FREE) {
            memcpy(j->q, (const double[]){w.p.x, w.p.y, w.p.z, w.q.w, w.q.x, w.q.y, w.q.z}, sizeof j->q);
        } else {
            j->q[0] = j->kind == CR_MJCF_BALL ? 1.0 : j->ref;
        }
        memcpy(j->q0, j->q, sizeof j->q0);
    }
}

// n numbers of a keyframe, NULL where it has none. MuJoCo fills up a keyframe that is too short: with the reference
// position, and with zeros.
static double* key_numbers(crMjcf* mj, crXml* key, const char* name, int n) {
    crXmlAttr* attr = cr_xml_attr(key, name);
    if (attr == NULL) return NULL;
    double* x = cr__import_alloc(mj->im, ((size_t)n + 1) * sizeof *x);
    if (x == NULL || n == 0) return x;
    int given = cr__import_numbers(mj->im, key, attr, attr->value, 1, n, x), at = 0;
    bool places = strcmp(name, "qpos") == 0;
    for (int i = 0; i < mj->joints.count && places; i++) {
        for (int k = 0; k < joint_nq(&mj->joints.at[i]); k++, at++) {
            if (at >= given) x[at] = mj->joints.at[i].q0[k];
        }
    }
    if (given > 0 && given < n)
        cr__import_note(mj->im, CR_NOTE_IGNORED, key, attr,
                        "<key> %s has %d of %d numbers: the others are %s", name, given, n,
                        places ? "those of the reference position" : "0");
    return given > 0 ? x : NULL;
}

static void count(const crMjcf* mj, int* nq, int* nv) {
    *nq = *nv = 0;
    for (int i = 0; i < mj->joints.count; i++) {
        *nq += joint_nq(&mj->joints.at[i]);
        *nv += joint_nv(&mj->joints.at[i]);
    }
}

static int count_activations(const crMjcf* mj) {
    int sum = 0;
    for (int i = 0; i < mj->actuators.count; i++) {
        sum += mj->actuators.at[i].activation != NULL;
    }
    return sum;
}

static void apply_key(crMjcf* mj, crXml* key) {
    int nq, nv;
    count(mj, &nq, &nv);
    const double* q = key_numbers(mj, key, "qpos", nq);
    const double* v = key_numbers(mj, key, "qvel", nv);
    const double* ctrl = key_numbers(mj, key, "ctrl", mj->actuators.count);
    for (int i = 0; i < mj->joints.count && cr__import_ok(mj->im); i++) {
        crMjcfJoint* j = &mj->joints.at[i];
        if (q != NULL) memcpy(j->q, q, (size_t)joint_nq(j) * sizeof(double));
        if (v != NULL) memcpy(j->v, v, (size_t)joint_nv(j) * sizeof(double));
        if (q != NULL) q += joint_nq(j);
        if (v != NULL) v += joint_nv(j);
    }
    for (int i = 0; i < mj->actuators.count && ctrl != NULL; i++) {
        mj->actuators.at[i].ctrl = ctrl[i];
    }
    const double* act = key_numbers(mj, key, "act", count_activations(mj));
    for (int i = 0; i < mj->actuators.count && act != NULL; i++) {
        if (mj->actuators.at[i].activation != NULL) mj->actuators.at[i].act = *act++;
    }
}

void cr__mjcf_keyframe(crMjcf* mj) {
    const char* wanted = mj->im->options->key;
    bool found = false;
    reference(mj);
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (!is(node, "keyframe")) continue;
        node->used = true;
        for (crXml* key = node->child; key != NULL && cr__import_ok(mj->im); key = key->next) {
            if (!is(key, "key")) continue;
            const char* name = cr__attr_text(key, "name");
            cr__mjcf_mark_all(key);
            key->used = true;
            if (wanted == NULL || found || name == NULL || strcmp(name, wanted) != 0) continue;
            found = true;
            apply_key(mj, key);
        }
    }
    if (wanted != NULL && !found)
        cr__import_refuse(mj->im, mj->root, NULL, CR_ERR_NAME, "no keyframe is called \"%.60s\"", wanted);
}

static crQuat load_quat(const double* q) { return cr_quat_normalize((crQuat){q[0], q[1], q[2], q[3]}); }
static crVec3 load_vec(const double* x) { return cr_vec3(x[0], x[1], x[2]); }

static void put_q(crTree* tree, crJson* list, const crMjcfJoint* j, const double* q) {
    if (j->kind == CR_MJCF_HINGE || j->kind == CR_MJCF_SLIDE) {
        cr_tree_number(tree, list, NULL, q[0] - j->ref);
        return;
    }
    int at = j->kind == CR_MJCF_FREE ? 3 : 0;
    for (int k = 0; k < at; k++) {
        cr_tree_number(tree, list, NULL, q[k]);
    }
    crQuat turn = load_quat(q + at);
    const double x[4] = {turn.w, turn.x, turn.y, turn.z};
    for (int k = 0; k < 4; k++) {
        cr_tree_number(tree, list, NULL, x[k]);
    }
}

static void put_vector(crTree* tree, crJson* list, crVec3 x) {
    cr_tree_number(tree, list, NULL, x.x);
    cr_tree_number(tree, list, NULL, x.y);
    cr_tree_number(tree, list, NULL, x.z);
}

// MJCF has the velocity of a free body's origin, and omega in the body's axes
static void put_v(crMjcf* mj, crJson* list, const crMjcfJoint* j, const double* q, const double* v) {
    crTree* tree = &mj->im->tree;
    if (j->kind == CR_MJCF_HINGE || j->kind == CR_MJCF_SLIDE) {
        cr_tree_number(tree, list, NULL, v[0]);
        return;
    }
    bool free = j->kind == CR_MJCF_FREE;
    crQuat turn = load_quat(free ? q + 3 : q);
    crVec3 omega = cr_quat_rotate(turn, load_vec(free ? v + 3 : v));
    crVec3 arm = cr_quat_rotate(turn, mj->bodies.at[j->body].mass.com);
    if (free) put_vector(tree, list, cr_add(load_vec(v), cr_cross(omega, arm)));
    put_vector(tree, list, omega);
}

// q and v of a keyframe; what it does not give is that of the reference position at rest
static void put_key_state(crMjcf* mj, crXml* key, crJson* to) {
    crTree* tree = &mj->im->tree;
    static const double rest[6] = {0};
    int nq, nv;
    count(mj, &nq, &nv);
    const double* q = key_numbers(mj, key, "qpos", nq);
    const double* v = key_numbers(mj, key, "qvel", nv);
    crJson* qs = cr_tree_list(tree, to, "q");
    crJson* vs = cr_tree_list(tree, to, "v");
    for (int i = 0; i < mj->joints.count && cr__import_ok(mj->im); i++) {
        const crMjcfJoint* j = &mj->joints.at[i];
        const double* own = q != NULL ? q : j->q0;
        put_q(tree, qs, j, own);
        put_v(mj, vs, j, own, v != NULL ? v : rest);
        if (q != NULL) q += joint_nq(j);
        if (v != NULL) v += joint_nv(j);
    }
}

static void put_key(crMjcf* mj, crJson* list, crXml* key, crNames* names, int index) {
    crTree* tree = &mj->im->tree;
    const char* name = cr__attr_text(key, "name");
    if (name == NULL || *name == '\0') name = cr__import_format(mj->im, "key%d", index);
    cr__tree_at(mj->im, key);
    crJson* to = cr_tree_object(tree, list, NULL);
    cr_tree_text(tree, to, "name", cr__import_name(mj->im, names, key, name));
    cr_tree_number(tree, to, "time", cr__mjcf_number(mj, key, -1, "time", 0.0));
    put_key_state(mj, key, to);
    const double* act = key_numbers(mj, key, "act", count_activations(mj));
    crJson* acts = act != NULL ? cr_tree_list(tree, to, "act") : NULL;
    for (int i = 0; i < mj->actuators.count && act != NULL; i++) {
        if (mj->actuators.at[i].activation == NULL) continue;
        if (mj->actuators.at[i].out != NULL) cr_tree_number(tree, acts, NULL, *act);
        act++;
    }
    const double* ctrl = key_numbers(mj, key, "ctrl", mj->actuators.count);
    if (ctrl == NULL) return;
    crJson* cs = cr_tree_list(tree, to, "ctrl");
    for (int i = 0; i < mj->actuators.count; i++) {
        if (mj->actuators.at[i].out != NULL) cr_tree_number(tree, cs, NULL, ctrl[i]);
    }
}

void cr__mjcf_control(crMjcf* mj) {
    crTree* tree = &mj->im->tree;
    crJson *actuators = NULL, *keys = NULL;
    for (int i = 0; i < mj->actuators.count && cr__import_ok(mj->im); i++) {
        if (mj->actuators.at[i].out == NULL) continue;
        if (actuators == NULL) actuators = cr_tree_list(tree, tree->doc->root, "actuators");
        put_actuator(mj, actuators, &mj->actuators.at[i]);
    }
    crNames names = {0};
    int index = 0;
    for (crXml* node = mj->root->child; node != NULL; node = node->next) {
        if (!is(node, "keyframe")) continue;
        for (crXml* key = node->child; key != NULL && cr__import_ok(mj->im); key = key->next) {
            if (!is(key, "key")) continue;
            if (keys == NULL) keys = cr_tree_list(tree, tree->doc->root, "keyframes");
            put_key(mj, keys, key, &names, index++);
        }
    }
}
