// audit_figures.c - the worst figures of contacts: eta, its floor, and both over the scale of the island.
//
// Rounding floors are as in problem/audit.c, 16 eps (|u_free| + |b| + s_a A_a + s_b A_b), A the sum of s |P|
// over the contacts of a body. Quotients are compared as products; only a new worst figure takes a division.
#include "step/audit_contacts.h"

void cr__audit_count(double eta2, double floor, double scale, double size, crAuditWorst* worst) {
    if (eta2 > worst->eta2) worst->eta2 = eta2;
    if (eta2 > worst->share2 * (scale * scale)) worst->share2 = eta2 / (scale * scale);
    if (eta2 > worst->far * (size * size) && size > 0.0) worst->far = eta2 / (size * size);
    if (floor > worst->floor) worst->floor = floor;
    if (floor > worst->noise * scale) worst->noise = floor / scale;
    worst->seen += 0.0 * (eta2 + floor);
}

double cr__audit_floor(const crContactAudit* a, int i) {
    const crStepContact* c = &a->step->contacts.list[i];
    const crAuditBody *body_a = &a->body[c->body_a], *body_b = &a->body[c->body_b];
    double pulled = body_a->pliant * body_a->pull + body_b->pliant * body_b->pull;
    return pulled > 0.0 ? 16.0 * CR_AUDIT_EPS * (a->seen[i].given + pulled) : 0.0;
}

double cr__audit_scale(const crContactAudit* a, int i) {
    double scale = a->island[a->seen[i].island + 1].scale;
    return scale > 0.0 ? scale : a->step->contacts.list[i].delta / a->h;
}

// Counts the worst contact of an island at the velocities of the state. The floor is made of the largest of
// each term: no contact of the island has a larger one.
static void judge_island(const crContactAudit* a, const crAuditIsland* island, crAuditWorst* worst) {
    double near = a->step->settings.deadband * a->h, given = island->given + 2.0 * island->pulled;
    double floor = island->pulled > 0.0 ? 16.0 * CR_AUDIT_EPS * given : 0.0;
    if (island->scale > 0.0) {
        cr__audit_count(island->eta2, floor, island->scale, 0.0, worst);
    } else {
        // if nothing has to change, the deadband over h is the scale of each contact
        double share2 = island->far * (a->h * a->h);
        if (share2 > worst->share2) worst->share2 = share2;
        cr__audit_count(island->eta2, floor, (double)INFINITY, 0.0, worst);
    }
    double far = island->far * (near * near);
    if (far > worst->far) worst->far = far;
}

// Counts a single contact: its bodies' velocities differ from the witness by `off`, or it joins two islands.
static void judge_contact(const crContactAudit* a, int i, double off, crAuditWorst* worst) {
    const crAuditSeen* c = &a->seen[i];
    double floor = cr__audit_floor(a, i), eta2 = c->eta2;
    if (off > 0.0) {
        // at v^ an open contact closes by no more than this
        bool open = c->hold == CR_AUDIT_OPEN;
        double eta = open ? cr__audit_larger(0.0, off - c->speed) : sqrt(eta2) + off;
        eta2 = eta * eta;
    }
    // an open contact whose opening speed is more than rounding has no error
    if (c->hold == CR_AUDIT_OPEN && eta2 == 0.0 && c->speed > floor) return;
    // size of a contact's bodies over h: gaps may change by a share of it
    double size = a->step->contacts.list[i].delta / (a->step->settings.deadband * a->h);
    cr__audit_count(eta2, floor, cr__audit_scale(a, i), size, worst);
}

void cr__audit_judge(crContactAudit* a, crAuditWorst* worst) {
    for (int i = 0; i <= a->island_count; i++) {
        judge_island(a, &a->island[i], worst);
    }
    for (int k = 0; k < a->across_count; k++) {
        judge_contact(a, a->across[k], 0.0, worst);
    }
    for (int i = 0; a->again && i < a->step->contacts.count; i++) {
        const crStepContact* contact = &a->step->contacts.list[i];
        crAuditHold hold = a->seen[i].hold;
        double off = a->body[contact->body_a].off + a->body[contact->body_b].off;
        if (off > 0.0 && hold != CR_AUDIT_OUT && hold != CR_AUDIT_GENERAL) judge_contact(a, i, off, worst);
    }
}

void cr__audit_worse(const crAuditWorst* from, crAuditWorst* to) {
    to->eta2 = cr__audit_larger(from->eta2, to->eta2);
    to->share2 = cr__audit_larger(from->share2, to->share2);
    to->floor = cr__audit_larger(from->floor, to->floor);
    to->noise = cr__audit_larger(from->noise, to->noise);
    to->far = cr__audit_larger(from->far, to->far);
    to->permits = cr__audit_larger(from->permits, to->permits);
    to->approach = cr__audit_larger(from->approach, to->approach);
    to->cone = cr__audit_larger(from->cone, to->cone);
    to->complementarity = cr__audit_larger(from->complementarity, to->complementarity);
    to->dissipation2 = cr__audit_larger(from->dissipation2, to->dissipation2);
    to->momentum = cr__audit_larger(from->momentum, to->momentum);
    to->seen += from->seen;
}

double cr__audit_mobility(const crContactAudit* a, int b, crVec3 point) {
    const crStep* step = a->step;
    const crAuditBody* body = &a->body[b];
    if (!(body->linear > 0.0)) return 0.0;
    crVec3 r = cr_sub(point, body->com);
    double least = step->model->bodies[b].principal[0];
    if (body->tree) return body->linear + cr_dot(r, r) * (least > 0.0 ? 2.0 / least : 0.0);
    crSym3 inverse = step->dynamics.inverse[b];
    return body->linear + cr_dot(r, r) * (inverse.xx + inverse.yy + inverse.zz) - cr_sym3_quad(inverse, r);
}
