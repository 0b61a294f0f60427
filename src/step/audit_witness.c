// audit_witness.c - the witness of contacts whose friction is a disc: open, sticking or slipping.
//
// The witness is that of problem/witness.c, with vectors instead of rows and without divisions: z = lambda p
// - w. An opening contact without impulse needs two comparisons. lambda, the trace of W_ii, is that of the
// bodies as if they were free, which is an upper bound; it only decides which witness is made.
#include "step/audit_hold.h"
#include "step/step.h"

// Bias of a contact: 0 up to its seat (the deadband if it has no seat), else the gap beyond it over h.
// Airborne bodies move by the mean of v before and after gravity.
static double bias(const crContactAudit* a, const crStepContact* c, bool takes, double rate) {
    const crStep* step = a->step;
    double gap = c->point.gap, seat = c->row < 0 && takes ? c->seat : c->delta;
    if (gap <= seat) return 0.0;
    double b = (gap - seat) * rate;
    for (int side = 0; side < 2; side++) {
        int body = side == 0 ? c->body_a : c->body_b;
        if (!step->airborne[body]) continue;
        double fall = cr_dot(cr__step_fall(step, body), c->point.normal);
        b += (side == 0 ? 0.5 : -0.5) * a->h * fall;
    }
    return b;
}

static bool plain(const crSurface* s) {
    return s->vertex_count == 0 && !(s->mu_spin > 0.0) && !(s->mu_roll > 0.0) &&
           (isnan(s->mu2) || s->mu2 == s->mu);
}

// Makes the witness of a contact with an impulse.
static void make_pushed(const crContactAudit* a, int i, double un, crAuditParts* x, crAuditContact* out,
                        crAuditWorst* worst) {
    const crStepContact* c = &a->step->contacts.list[i];
    const crAuditBody *body_a = &a->body[c->body_a], *body_b = &a->body[c->body_b];
    double mu = c->surface->surface.mu, least = body_a->linear + body_b->linear;
    crVec3 n = c->point.normal, P = c->impulse, both = cr_add(a->u_free[i], a->u[i]);
    x->pt = cr_madd(P, -x->pn, n);
    x->wt = cr_madd(a->u[i], -un, n);
    worst->complementarity = cr__audit_larger(worst->complementarity, fabs(x->wn * x->pn));
    double friction2 = cr_dot(x->pt, x->pt);
    if (!isinf(mu)) worst->cone = cr__audit_larger(worst->cone, cr__audit_beyond(mu, x->pn, friction2));
    if (!cr__audit_hold_plainly(mu, least, friction2, n, P, x, out)) {
        double lambda = cr__audit_mobility(a, c->body_a, c->point.point) +
                        cr__audit_mobility(a, c->body_b, c->point.point);
        if (!(x->pn > 0.0) || !(lambda * x->pn > x->wn)) return;
        cr__audit_hold(mu, lambda, n, x, out);
    }
    out->seen.hold = CR_AUDIT_HELD;
    worst->dissipation2 = cr__audit_larger(worst->dissipation2, out->seen.eta2 - x->wn * x->wn);
    out->work = 0.5 * cr_dot(P, both);
    out->terms = fabs(P.x * both.x) + fabs(P.y * both.y) + fabs(P.z * both.z);
}

static void make(const crContactAudit* a, int i, double rate, crAuditWorst* worst) {
    const crStepContact* c = &a->step->contacts.list[i];
    const crAuditBody* body_b = &a->body[c->body_b];
    const crSurface* surface = &c->surface->surface;
    crAuditContact* out = &a->contact[i - a->first];
    bool takes = a->takes[i];
    crVec3 n = c->point.normal, P = c->impulse;
    double un = cr_dot(n, a->u[i]), free = cr_dot(n, a->u_free[i]), least = c->delta * rate;
    bool still = P.x == 0.0 && P.y == 0.0 && P.z == 0.0;
    // the bias of a gap makes no difference for an opening contact without impulse
    bool leaves = still && un > 0.0 && -free <= least && -free * surface->mu <= least;
    double b = leaves ? 0.0 : bias(a, c, takes, rate);
    crAuditParts x = {.pn = cr_dot(n, P), .wn = un + b};
    out->seen.hold = CR_AUDIT_OPEN;
    out->seen.speed = x.wn;
    out->want = takes ? cr__audit_wanted(c->delta, n, rate, surface->mu, a->u_free[i], free, b) : -1.0;
    out->seen.island = body_b->linear > 0.0 ? body_b->island : a->body[c->body_a].island;
    out->seen.given = cr__audit_size1(a->u_free[i]) + fabs(b);
    out->seen.eta2 = x.wn < 0.0 ? x.wn * x.wn : 0.0;
    // a component of u, u_free or P that is not finite makes the product with n not finite
    worst->seen += 0.0 * (x.wn + free + x.pn);
    worst->permits = cr__audit_larger(worst->permits, -x.wn);
    if (!takes) return;
    worst->approach = cr__audit_larger(worst->approach, -x.wn);
    if (!plain(surface)) {
        crVec3 both = cr_add(a->u_free[i], a->u[i]);
        out->seen.hold = CR_AUDIT_GENERAL;
        out->work = 0.5 * cr_dot(P, both);
        out->terms = fabs(P.x * both.x) + fabs(P.y * both.y) + fabs(P.z * both.z);
        worst->complementarity = cr__audit_larger(worst->complementarity, fabs(x.wn * x.pn));
    } else if (!still) {
        make_pushed(a, i, un, &x, out, worst);
    }
}

void cr__audit_witness(void* ctx, int begin, int end) {
    const crContactAudit* a = ctx;
    crAuditWorst worst = {0};
    double rate = 1.0 / a->h;
    for (int i = begin; i < end; i++) {
        if (!a->takes[i] && a->passes != NULL && a->passes[i]) {
            a->contact[i - a->first].seen.hold = CR_AUDIT_OUT;
            continue;
        }
        make(a, i, rate, &worst);
    }
    a->worst[begin / CR_AUDIT_CHUNK] = worst;
}
