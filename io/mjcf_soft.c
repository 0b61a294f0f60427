// mjcf_soft.c - numbers of MJCF that soften constraints, as hard contacts and limits have them.
//
// A contact of MuJoCo is a spring with a damper that cannot pull. Its damping ratio z decides how much of the closing speed
// comes back: with s = sqrt(1 - z^2),
//
//     e = exp(-(z/s) (pi - atan2(2 z s, 1 - 2 z^2)))      (Schwager and Poeschel, Granular Matter 9 (2007) 465)
//
// z of 1 and more, MuJoCo's default among them, is e = 0 here: such a contact is meant not to bounce. A limit of MuJoCo
// acts at its margin inside the range. Fails: a range whose margins meet keeps its ends, with a warning.
#include <math.h>
#include <string.h>

#include "io/mjcf.h"

void cr__mjcf_soft(crMjcf* mj, crXml* node, int class, const char* const* attrs) {
    for (int i = 0; attrs[i] != NULL; i++) {
        crXmlAttr* attr = cr__mjcf_attr(mj, node, class, attrs[i]);
        if (attr != NULL)
            cr__import_note(mj->im, CR_NOTE_IGNORED, node, attr,
                            "<%s> %s says how soft it is: contacts and limits are hard", node->name,
                            attrs[i]);
    }
}

// e^-x for 0 <= x <= 20, by its series, so that every machine has the same bits
static double decay(double x) {
    double part = x / 32.0, term = 1.0, sum = 1.0;
    for (int k = 1; k < 24; k++) {
        term *= part / k;
        sum += term;
    }
    for (int k = 0; k < 5; k++) {
        sum *= sum;
    }
    return 1.0 / sum;
}

double cr__mjcf_restitution(const double solref[2]) {
    bool ratio = solref[0] > 0.0;
    double z = ratio ? solref[1] : solref[0] < 0.0 ? -0.5 * solref[1] / sqrt(-solref[0]) : 1.0;
    if (!(z < 1.0)) return 0.0;
    if (!(z > 0.0)) return 1.0;
    double s = sqrt(1.0 - z * z);
    return decay(fmin(20.0, z / s * (CR_PI - cr_atan2(2.0 * z * s, 1.0 - 2.0 * z * z))));
}

void cr__mjcf_mix(const double a[2], const double b[2], double out[2]) {
    bool ratios = a[0] > 0.0 && b[0] > 0.0;
    for (int k = 0; k < 2; k++) {
        out[k] = ratios ? 0.5 * (a[k] + b[k]) : fmin(a[k], b[k]);
    }
}

void cr__mjcf_margin(crMjcf* mj, crXml* node, int class, double* lower, double* upper) {
    crXmlAttr* attr = cr__mjcf_attr(mj, node, class, "margin");
    double margin = cr__mjcf_number(mj, node, class, "margin", 0.0);
    if (attr == NULL || !cr__import_ok(mj->im)) return;
    if (*lower + margin < *upper - margin) {
        *lower += margin;
        *upper -= margin;
        return;
    }
    cr__import_note(mj->im, CR_NOTE_UNSUPPORTED, node, attr,
                    "<%s> margin is half the range or more: the limits act at the ends of the range",
                    node->name);
}

// whether a body is `top` or hangs on it
static bool below(const crMjcf* mj, int body, int top) {
    while (body > top) {
        body = mj->bodies.at[body].parent;
    }
    return body == top;
}

// inertia that a hinge turns or a slide moves, about its axis in the reference position
static double carried(const crMjcf* mj, const crMjcfJoint* j) {
    crPose home = mj->bodies.at[j->body].world;
    crVec3 axis = cr_quat_rotate(home.q, cr_scale(1.0 / cr_norm(j->axis), j->axis));
    crVec3 at = cr_pose_point(home, j->pos);
    double sum = j->armature;
    for (int i = j->body; i < mj->bodies.count; i++) {
        if (!below(mj, i, j->body)) continue;
        crMass m = cr_mass_moved(mj->bodies.at[i].mass, mj->bodies.at[i].world);
        crVec3 arm = cr_cross(axis, cr_sub(m.com, at)), turned = cr_sym3_mul(m.inertia, axis);
        sum += j->kind == CR_MJCF_SLIDE ? m.mass : cr_dot(axis, turned) + m.mass * cr_dot(arm, arm);
    }
    return sum;
}

double cr__mjcf_reflected(const crMjcf* mj, const crMjcfActuator* a) {
    double sum = 0.0;
    for (int k = 0; k < a->count; k++) {
        double square = a->gear[k] * a->gear[k];
        if (square > 1e-15) sum += carried(mj, &mj->joints.at[a->joints[k]]) / square;
    }
    return sum;
}
