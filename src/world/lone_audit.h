// lone_audit.h - the audit of a lone body's contact solve, as audit_contacts.c and its files have it for one island.
#ifndef CAROM_WORLD_LONE_AUDIT_H
#define CAROM_WORLD_LONE_AUDIT_H

#include "step/audit_hold.h"
#include "world/lone_solve.h"

typedef struct crLoneAudit {
    double rate, linear, pliant;
    crVec3 P, T;  // of the witness
    double pull, off;
    crAuditIsland island;
    crAuditWorst worst;
} crLoneAudit;

CR_FEW double cr__lone_bias(const crLoneStep* x, const crLoneSpot* c, double rate) {
    double gap = c->at.gap;
    if (gap <= x->lone->delta) return 0.0;
    if (c->takes && gap <= cr__lone_band(x, c)) return 0.0;
    double b = (gap - x->lone->delta) * rate;
    if (x->airborne) b += -0.5 * x->h * cr_dot(cr__lone_fall(x), c->at.normal);
    return b;
}

// trace of the body's share of W at a point
CR_FEW double cr__lone_mobility(const crLoneStep* x, double linear, crVec3 point) {
    crVec3 r = cr_sub(point, x->start.body.origin);
    crSym3 inverse = x->start.body.inverse;
    return linear + cr_dot(r, r) * (inverse.xx + inverse.yy + inverse.zz) - cr_sym3_quad(inverse, r);
}

CR_FEW void cr__lone_pushed(const crLoneStep* x, crLoneAudit* a, const crLoneSpot* c, double un,
                            crAuditParts* parts, crAuditContact* out) {
    double mu = x->lone->mu, least = 0.0 + a->linear;
    crVec3 n = c->at.normal, both = cr_add(c->u_free, c->u);
    crAuditWorst* worst = &a->worst;
    parts->pt = cr_madd(c->P, -parts->pn, n);
    parts->wt = cr_madd(c->u, -un, n);
    worst->complementarity = cr__audit_larger(worst->complementarity, fabs(parts->wn * parts->pn));
    double friction2 = cr_dot(parts->pt, parts->pt);
    worst->cone = cr__audit_larger(worst->cone, cr__audit_beyond(mu, parts->pn, friction2));
    if (!cr__audit_hold_plainly(mu, least, friction2, n, c->P, parts, out)) {
        double lambda = 0.0 + cr__lone_mobility(x, a->linear, c->at.point);
        if (!(parts->pn > 0.0) || !(lambda * parts->pn > parts->wn)) return;
        cr__audit_hold(mu, lambda, n, parts, out);
    }
    out->seen.hold = CR_AUDIT_HELD;
    worst->dissipation2 = cr__audit_larger(worst->dissipation2, out->seen.eta2 - parts->wn * parts->wn);
    out->work = 0.5 * cr_dot(c->P, both);
    out->terms = fabs(c->P.x * both.x) + fabs(c->P.y * both.y) + fabs(c->P.z * both.z);
}

// the witness of one contact, and what it adds to sums
CR_FEW void cr__lone_witness(const crLoneStep* x, crLoneAudit* a, const crLoneSpot* c) {
    crVec3 n = c->at.normal, P = c->P;
    double mu = x->lone->mu, delta = x->lone->delta, rate = a->rate;
    double un = cr_dot(n, c->u), free = cr_dot(n, c->u_free), least = delta * rate;
    bool still = P.x == 0.0 && P.y == 0.0 && P.z == 0.0;
    bool leaves = still && un > 0.0 && -free <= least && -free * mu <= least;
    double b = leaves ? 0.0 : cr__lone_bias(x, c, rate);
    crAuditParts parts = {.pn = cr_dot(n, P), .wn = un + b};
    crAuditContact out = {.seen = {.hold = CR_AUDIT_OPEN, .speed = parts.wn}};
    double want = c->takes ? cr__audit_wanted(delta, n, rate, mu, c->u_free, free, b) : -1.0;
    out.seen.given = cr__audit_size1(c->u_free) + fabs(b);
    out.seen.eta2 = parts.wn < 0.0 ? parts.wn * parts.wn : 0.0;
    a->worst.seen += 0.0 * (parts.wn + free + parts.pn);
    a->worst.permits = cr__audit_larger(a->worst.permits, -parts.wn);
    if (c->takes) a->worst.approach = cr__audit_larger(a->worst.approach, -parts.wn);
    if (c->takes && !still) cr__lone_pushed(x, a, c, un, &parts, &out);
    crAuditIsland* island = &a->island;
    const crAuditSeen* seen = &out.seen;
    if (x->taken > 0 && want > island->scale) island->scale = want;
    if (seen->hold == CR_AUDIT_HELD) {
        island->energy += out.work;
        island->terms += out.terms;
    }
    if (seen->eta2 > island->eta2) island->eta2 = seen->eta2;
    if (seen->eta2 > island->far * (delta * delta) && delta > 0.0) island->far = seen->eta2 / (delta * delta);
    bool opens = seen->hold == CR_AUDIT_OPEN && seen->speed > 1e-3 * seen->given;
    if (!opens && seen->given > island->given) island->given = seen->given;
    if (seen->hold != CR_AUDIT_HELD) return;
    a->pull += cr__audit_size1(out.P);
    a->P = cr_add(a->P, out.P);
    a->T = cr_add(a->T, cr_cross(cr_sub(c->at.point, x->start.body.origin), out.P));
}

// by how much the velocity differs from the witness's
CR_FEW void cr__lone_momentum(const crLoneStep* x, crLoneAudit* a) {
    crTwist was = cr__single_twist(x->v);
    crTwist is = {cr_add(cr__load_vec(x->v_free + 3), cr_sym3_mul(x->start.body.inverse, a->T)),
                  cr_madd(cr__load_vec(x->v_free), a->linear / 3.0, a->P)};
    crVec3 off = cr_sub(was.v, is.v), turn = cr_sub(was.omega, is.omega);
    double size = x->lone->size, pulled = a->pliant * a->pull;
    double most = cr__audit_size1(off) + size * cr__audit_size1(turn);
    a->worst.seen += 0.0 * most;
    if (pulled > a->island.pulled) a->island.pulled = pulled;
    if (most <= 64.0 * CR_AUDIT_EPS * pulled && most <= a->worst.momentum) return;
    double eta = cr_norm(off) + size * cr_norm(turn);
    double speed = cr_norm(was.v) + cr_norm(is.v) + size * (cr_norm(was.omega) + cr_norm(is.omega));
    double floor = 64.0 * CR_AUDIT_EPS * (speed + pulled), scale = a->island.scale;
    a->worst.momentum = cr__audit_larger(a->worst.momentum, eta);
    if (!(eta > floor)) return;
    a->off = eta;
    cr__audit_count(eta * eta, floor, scale > 0.0 ? scale : speed, 0.0, &a->worst);
}

// worst contact of the island
CR_FEW void cr__lone_judge(const crLoneStep* x, crLoneAudit* a) {
    const crAuditIsland* island = &a->island;
    double near = x->lone->deadband * x->h, given = island->given + 2.0 * island->pulled;
    double floor = island->pulled > 0.0 ? 16.0 * CR_AUDIT_EPS * given : 0.0;
    if (island->scale > 0.0) {
        cr__audit_count(island->eta2, floor, island->scale, 0.0, &a->worst);
    } else {
        double share2 = island->far * (x->h * x->h);
        if (share2 > a->worst.share2) a->worst.share2 = share2;
        cr__audit_count(island->eta2, floor, (double)INFINITY, 0.0, &a->worst);
    }
    double far = island->far * (near * near);
    if (far > a->worst.far) a->worst.far = far;
}

CR_FEW crOutcome cr__lone_outcome(const crLoneStep* x, double most, double least, double eta, double far) {
    if (most <= x->lone->tol) return CR_OUTCOME_SOLVED;
    if (isfinite(eta) && sqrt(far) <= x->lone->shift) return CR_OUTCOME_NEAR;
    return least <= x->lone->tol ? CR_OUTCOME_UNSURE : CR_OUTCOME_LIMIT;
}

// The contact solve into the certificate; false where its velocity is not the witness's, or no number: the stages look closer.
CR_FEW bool cr__lone_audit(const crLoneStep* x, bool ball, crCertificate* c) {
    const crBody* body = &x->model->bodies[1];
    double size = x->lone->size, inertia = body->principal[0];
    crLoneAudit a = {.rate = 1.0 / x->h, .linear = 3.0 / body->mass};
    a.pliant = a.linear + size * size * (inertia > 0.0 ? 2.0 / inertia : 0.0);
    CR_LONE_EACH(i, x->count, ball) { cr__lone_witness(x, &a, &x->spot[i]); }
    cr__lone_momentum(x, &a);
    if (a.off > 0.0) return false;
    cr__lone_judge(x, &a);
    const crAuditWorst* w = &a.worst;
    if (!(w->seen == 0.0)) return false;
    double residual = sqrt(w->share2), eta = sqrt(w->eta2);
    crOutcome outcome =
        cr__lone_outcome(x, residual + w->noise, cr__audit_larger(0.0, residual - w->noise), eta, w->far);
    if (a.island.energy > 16.0 * CR_AUDIT_EPS * a.island.terms) c->energy.created += a.island.energy;
    c->solves++;
    c->outcome = outcome;
    c->residual = fmax(0.0, residual);
    c->eta = fmax(0.0, eta);
    c->distance = fmax(0.0, x->h * eta);
    c->floor = fmax(0.0, w->floor);
    c->momentum = fmax(0.0, w->momentum);
    c->laws.approach = fmax(0.0, w->approach);
    c->laws.cone = fmax(0.0, w->cone);
    c->laws.dissipation = fmax(0.0, sqrt(w->dissipation2));
    c->laws.complementarity = fmax(0.0, w->complementarity);
    return true;
}

#endif
