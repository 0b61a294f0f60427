// audit_figures.c - the worst figures of contacts: eta, its floor, and both over the scale of the contact's island.
//
// Rounding floors as in problem/audit.c, 16 eps (|u_free| + |b| + s_a A_a + s_b A_b), A the sum of s |P| over the
// contacts of a body. Quotients are compared as products: a division is made only for a new worst.
#include "step/audit_contacts.h"

void cr__audit_count(double eta2, double floor, double scale, double size, crAuditWorst* worst) {
    if (eta2 > worst->eta2) worst->eta2 = eta2;
    if (eta2 > worst->share2 * (scale * scale)) worst->share2 = eta2 / (scale * scale);
    if (eta2 > worst->far * (size * size) && size > 0.0) worst->far = eta2 / (size * size);
    if (floor > worst->floor) worst->floor = floor;
    if (floor > worst->noise * scale) worst->noise = floor / scale;
    worst->seen += 0.0 * (eta2 + floor);
}

double cr__audit_floor(const crContactAudit* a, const crAuditContact* c) {
    const crAuditBody *body_a = &a->body[c->body_a], *body_b = &a->body[c->body_b];
    double pulled = body_a->pliant * body_a->pull + body_b->pliant * body_b->pull;
    return pulled > 0.0 ? 16.0 * CR_AUDIT_EPS * (c->given + pulled) : 0.0;
}

double cr__audit_scale(const crContactAudit* a, const crAuditContact* c) {
    double scale = c->island >= 0 ? a->scale[c->island + 1] : 0.0;
    return scale > 0.0 ? scale : c->delta / a->h;
}

void cr__audit_judge(void* ctx, int begin, int end) {
    const crContactAudit* a = ctx;
    crAuditWorst* worst = &a->worst[begin / CR_AUDIT_CHUNK];
    // size of a contact's bodies over h: gaps may change by a share of it
    double size = 1.0 / (a->step->settings.deadband * a->h);
    for (int i = begin; i < end; i++) {
        const crAuditContact* c = &a->contact[i];
        if (c->hold == CR_AUDIT_OUT || c->hold == CR_AUDIT_GENERAL) continue;
        double floor = cr__audit_floor(a, c), off = a->body[c->body_a].off + a->body[c->body_b].off;
        double eta2 = c->eta2;
        if (off > 0.0) {
            // at v^ an open contact closes by no more than this
            bool open = c->hold == CR_AUDIT_OPEN;
            double eta = open ? cr__audit_larger(0.0, off - c->speed) : sqrt(eta2) + off;
            eta2 = eta * eta;
        }
        // an open contact that is farther from closing than rounding is exact
        if (c->hold == CR_AUDIT_OPEN && eta2 == 0.0 && c->speed > floor) continue;
        cr__audit_count(eta2, floor, cr__audit_scale(a, c), c->delta * size, worst);
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
