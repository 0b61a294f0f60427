// audit_hold.h - the witness of a contact with a disc of friction, from its impulse and velocity.
#ifndef CAROM_STEP_AUDIT_HOLD_H
#define CAROM_STEP_AUDIT_HOLD_H

#include "step/audit_contacts.h"

// normal and tangential parts of an impulse p and of the velocity w with its bias
typedef struct crAuditParts {
    double pn, wn;
    crVec3 pt, wt;
} crAuditParts;

// Witness of a slipping contact: friction of size `most` along d.
static inline void cr__audit_hold_slip(double most, crVec3 d, crVec3 n, const crAuditParts* x,
                                       crAuditContact* out) {
    double along = cr_dot(x->wt, d);
    crVec3 across = along < 0.0 ? cr_madd(x->wt, -along, d) : x->wt;
    out->P = cr_madd(cr_scale(x->pn, n), most, d);
    out->seen.eta2 = x->wn * x->wn + cr_dot(across, across);
}

// Makes the witness and the squared defect of a contact that pushes and does not open.
static inline void cr__audit_hold(double mu, double lambda, crVec3 n, const crAuditParts* x,
                                  crAuditContact* out) {
    out->P = cr_scale(x->pn, n);
    out->seen.eta2 = x->wn * x->wn;
    if (mu == 0.0) return;
    crVec3 z = cr_sub(cr_scale(lambda, x->pt), x->wt);
    double size2 = cr_dot(z, z), limit = mu * (lambda * x->pn - x->wn);
    if (isinf(mu) || size2 <= limit * limit) {
        double friction2 = cr_dot(x->pt, x->pt), most = mu * x->pn;
        bool over = friction2 > most * most;
        out->P = over ? cr_madd(out->P, most / sqrt(friction2), x->pt) : cr_add(out->P, x->pt);
        out->seen.eta2 += cr_dot(x->wt, x->wt);
    } else {
        cr__audit_hold_slip(mu * x->pn, cr_scale(1.0 / sqrt(size2), z), n, x, out);
    }
}

// friction beyond its limit or tension, whichever is larger, N s
static inline double cr__audit_beyond(double mu, double pn, double friction2) {
    double limit = mu * cr__audit_larger(pn, 0.0);
    if (!(friction2 > limit * limit)) return -pn;
    return cr__audit_larger(-pn, sqrt(friction2) - limit);
}

// velocity that the laws want changed if there are no impulses, m/s
static inline double cr__audit_wanted(double delta, crVec3 n, double rate, double mu, crVec3 u_free,
                                      double free, double b) {
    double want = delta * rate, closing = -(free + b);
    if (!(closing > 0.0)) return want;
    want = cr__audit_larger(want, closing);
    // with mu <= 1, friction has less to change than the normal impulse
    if (mu <= 1.0) return want;
    double speed = cr_norm(cr_madd(u_free, -free, n));
    return cr__audit_larger(want, speed < mu * closing ? speed : mu * closing);
}

// Makes the witness of a contact if it is the same for every lambda >= least, the lambda of the masses alone.
// Returns false if lambda must be known. A contact sticks if |lambda pt - wt| <= mu (lambda pn - wn), which
// holds if least (mu pn - |pt|) > |wt| + mu |wn|. Friction at its limit is its own witness: no sticking one
// is nearer.
static inline bool cr__audit_hold_plainly(double mu, double least, double friction2, crVec3 n, crVec3 P,
                                          const crAuditParts* x, crAuditContact* out) {
    double most = mu * x->pn, spare = least * most - (cr__audit_size1(x->wt) + mu * fabs(x->wn));
    if (spare > 0.0 && least * least * friction2 <= spare * spare) {
        out->P = P;
        out->seen.eta2 = x->wn * x->wn + cr_dot(x->wt, x->wt);
        return true;
    }
    // squares of impulses below 1e-154 N s are zero
    bool full = friction2 > 0.0 && friction2 >= (1.0 - 0x1p-40) * (most * most) && most > 0.0 &&
                most < (double)INFINITY;
    if (!full || !(least * x->pn > x->wn)) return false;
    cr__audit_hold_slip(most, cr_scale(1.0 / sqrt(friction2), x->pt), n, x, out);
    return true;
}

#endif
