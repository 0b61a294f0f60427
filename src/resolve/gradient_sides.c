// gradient_sides.c - the gradient of a closed law on both sides of the switch that is nearest.
//
// dP = F (T P' + dP') with dP' the sum over the contact's inputs (gradient_frame.c). Side A is the piece of the law
// that the contact is in, side B the one beyond the nearest surface g = 0 if that is within the tolerance; g > 0 on A.
// An input that rises moves into A if dg > 0, into B if dg < 0. Beyond n.V = 0 there is no impulse. Whether P jumps
// is asked of the law itself: at n.V = 0, or with mu moved across the surface.
#include "gradient.h"

#define PROBE 1e-6  // share of mu by which the law is tried beyond a switch
#define JUMP  1e-3  // of P: a larger change over that share, beyond what the derivatives say, is a jump
#define GRAZE 1e-6  // of |V|/Wnn: a larger impulse at n.V = 0 is a jump

enum { OPEN = -2, FIXED = -3 };  // beyond the switch: nothing, or the same piece

typedef struct Sides {
    cr__Piece a, b;
    double slope_a, slope_b;  // of e over the approach speed
    bool split;               // a and b differ
} Sides;

static void drop_plane(cr__Piece* piece) {
    static const int across[] = {CR_BY_WXZ, CR_BY_WYZ, CR_BY_WZZ, CR_BY_VZ};
    for (int i = 0; i < 4; i++) {
        piece->by[across[i]] = cr_vec3(0, 0, 0);
        for (int g = 0; g < piece->gauges; g++) {
            piece->gauge[g].by[across[i]] = 0.0;
        }
    }
}

static void add_gauge_sides(cr__Piece* piece, crSwitch which, int other, double value, int k, double by) {
    cr__Gauge* gauge = &piece->gauge[piece->gauges++];
    *gauge = (cr__Gauge){.which = which, .other = other, .value = value};
    gauge->by[k] = by;
}

// Slope of the table of e at this approach speed, below and above its nearest row.
static double slope_of(const crRestitution* r, double speed, double side) {
    for (int i = 1; i < r->count; i++) {
        bool within = side > 0.0 ? speed >= r->speed[i - 1] && speed < r->speed[i]
                                 : speed > r->speed[i - 1] && speed <= r->speed[i];
        if (within) return (r->e[i] - r->e[i - 1]) / (r->speed[i] - r->speed[i - 1]);
    }
    return 0.0;
}

static void restitution_slope(const cr__Point* p, Sides* s, crGradient* out) {
    const crRestitution* r = p->collision->e_of_speed;
    double speed = fmax(0.0, -p->contact.V.x);
    if (r == NULL) return;
    if (r->function != NULL) {
        // a function is only known by its values
        double h = 0x1p-12 * fmax(speed, 0x1p-20 * cr_norm(p->contact.V));
        double wide = (r->function(r->ctx, speed + h) - r->function(r->ctx, fmax(0.0, speed - h))) /
                      (h + fmin(h, speed));
        double half = 0.5 * h;
        double narrow = (r->function(r->ctx, speed + half) - r->function(r->ctx, fmax(0.0, speed - half))) /
                        (half + fmin(half, speed));
        s->slope_a = s->slope_b = narrow + (narrow - wide) / 3.0;
        out->differenced = true;
        double error = fabs(narrow - wide) * cr_norm(s->a.by[CR_BY_E]);
        for (int k = CR_BY_VX; k <= CR_BY_NZ; k++) {
            out->error[k] = error * (k < CR_BY_NX ? 1.0 : cr_norm(p->contact.V));
        }
        return;
    }
    s->slope_a = s->slope_b = slope_of(r, speed, 1.0);
    double nearest = INFINITY;
    for (int i = 0; i < r->count; i++) {
        if (fabs(speed - r->speed[i]) < fabs(nearest)) nearest = speed - r->speed[i];
    }
    double row = speed - nearest;
    // A lies above the row
    if (fabs(nearest) <= p->tol * cr_norm(p->contact.V)) {
        s->slope_a = slope_of(r, row, 1.0);
        s->slope_b = slope_of(r, row, -1.0);
    }
    add_gauge_sides(&s->a, CR_SWITCH_TABLE, FIXED, nearest, CR_BY_VX, -1.0);
}

static double distance_to(const cr__Point* p, const crGradient* out, const cr__Gauge* g) {
    double reach = 0.0;
    for (int k = 0; k < CR__CLOSED_INPUTS; k++) {
        bool counts = out->reads[k] || k == CR_BY_MU;
        if (counts) reach += fabs(g->by[k]) * cr__point_scale(p, k);
    }
    return reach > 0.0 ? fabs(g->value) / reach : (double)INFINITY;
}

static const cr__Gauge* nearest_gauge(const cr__Point* p, const cr__Piece* piece, crGradient* out) {
    const cr__Gauge* nearest = NULL;
    unsigned seen = 0;
    out->distance = INFINITY;
    for (int i = 0; i < piece->gauges; i++) {
        const cr__Gauge* g = &piece->gauge[i];
        // a contact that separates knows one switch
        if (p->contact.V.x > 0.0 && g->other != OPEN) continue;
        double distance = distance_to(p, out, g);
        // a slip that ends at the end of both stages is one switch
        if (distance <= p->tol && !(seen & 1U << g->which)) out->switches++;
        if (distance <= p->tol) seen |= 1U << g->which;
        if (!(distance < out->distance)) continue;
        out->distance = distance;
        out->nearest = g->which;
        nearest = g;
    }
    return nearest;
}

// The law with mu moved by 2 |g| and a little more towards the surface (side 1) or away from it (-1); false where mu
// does not lead there.
static bool probe(const cr__Point* p, const cr__Gauge* g, double side, crHit* hit, double* step) {
    crContact c = p->contact;
    double slope = g->by[CR_BY_MU];
    if (slope == 0.0 || isinf(c.mu)) return false;
    *step = -side * (2.0 * fabs(g->value / slope) + PROBE * fmax(c.mu, PROBE));
    if (slope < 0.0) *step = -*step;
    c.mu += *step;
    return c.mu >= 0.0 && cr_law_apply_contact(p->law, &c, hit, NULL) == CR_OK;
}

// Side B and the verdict; false where there is no derivative.
static bool look_beyond(const cr__Point* p, const cr__DualContact* d, cr__PieceFn fn, const cr__Gauge* g,
                        Sides* s, crGradient* out) {
    crHit there = {.P = s->a.P, .regime = out->hit.regime};
    out->verdict = CR_ONE_SIDED;
    out->beyond = out->hit.regime;
    s->split = true;
    s->b = (cr__Piece){0};
    if (g->other == OPEN) {
        bool open = p->contact.V.x > 0.0;
        crContact c = p->contact;
        c.V.x = 0.0;
        out->beyond = open ? CR_REGIME_SLIP : CR_REGIME_SEPARATE;
        if (cr_law_apply_contact(p->law, &c, &there, NULL) != CR_OK) return true;
        if (open) out->beyond = there.regime;
        if (cr_norm(there.P) > GRAZE * cr_norm(c.V) / c.W.xx) {
            out->verdict = CR_NO_DERIVATIVE;
            out->jump = cr_mat3_mul(p->frame, open ? there.P : cr_neg(there.P));
        }
        return true;
    }
    if (g->other == FIXED) {
        s->b = s->a;
        return g->which != CR_SWITCH_FRAME;
    }
    double step;
    if (!fn(d, g->other, &s->b)) return false;
    crHit away;
    double back;
    if (!probe(p, g, 1.0, &there, &step)) return true;
    out->beyond = there.regime;
    // on the surface itself the hit may count as either regime
    if (there.regime == out->hit.regime && probe(p, g, -1.0, &away, &back)) out->beyond = away.regime;
    double slope = cr_norm(s->a.by[CR_BY_MU]) + cr_norm(s->b.by[CR_BY_MU]);
    crVec3 change = cr_sub(there.P, s->a.P);
    if (cr_norm(change) > JUMP * cr_norm(s->a.P) + 2.0 * fabs(step) * slope) {
        out->verdict = CR_NO_DERIVATIVE;
        out->jump = cr_mat3_mul(p->frame, change);
    }
    return true;
}

static crVec3 derivative(const cr__Point* p, const cr__Piece* piece, const cr__Change* t) {
    crVec3 dP = cr__turned(t, piece->P);
    for (int i = 0; i < CR__CLOSED_INPUTS; i++) {
        if (t->by[i] != 0.0) dP = cr_madd(dP, t->by[i], piece->by[i]);
    }
    return cr_mat3_mul(p->frame, dP);
}

bool cr__gradient_closed(const cr__Point* p, cr__PieceFn fn, crGradient* out) {
    Sides s = {0};
    const crGradient before = *out;
    cr__DualContact d = cr__point_contact(p);
    if (!fn(&d, CR__OWN_PIECE, &s.a)) return false;
    const crContact* c = &p->contact;
    add_gauge_sides(&s.a, CR_SWITCH_OPEN, OPEN, -c->V.x, CR_BY_VX, -1.0);
    restitution_slope(p, &s, out);
    bool ratios = fn == cr__piece_brach && (d.mu2.v != 0.0 || d.mu3.v != 0.0) && !p->collision->has_frame;
    // |V_t|, which is -V_y where the frame follows the slip
    if (ratios) add_gauge_sides(&s.a, CR_SWITCH_FRAME, FIXED, -c->V.y, CR_BY_VY, -1.0);
    const cr__Gauge* g = nearest_gauge(p, &s.a, out);
    bool near = out->distance <= p->tol;
    if (near && !look_beyond(p, &d, fn, g, &s, out)) {
        *out = before;
        return false;
    }
    if (p->flat) drop_plane(&s.a);
    if (p->flat) drop_plane(&s.b);
    bool separate = c->V.x > 0.0;
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        if (!out->reads[k]) continue;
        cr__Change ta = cr__point_change(p, k, s.slope_a);
        cr__Change tb = cr__point_change(p, k, s.slope_b);
        crVec3 a = derivative(p, &s.a, &ta);
        crVec3 b = s.split ? derivative(p, &s.b, &tb) : a;
        double rise = 0.0;
        for (int i = 0; g != NULL && i < CR__CLOSED_INPUTS; i++) {
            rise += g->by[i] * ta.by[i];
        }
        out->normal[k] = rise;
        crVec3 own = separate ? b : a;
        out->P_plus[k] = rise > 0.0 ? a : rise < 0.0 ? b : own;
        out->P_minus[k] = rise > 0.0 ? b : rise < 0.0 ? a : own;
    }
    for (int k = 0; k < CR__CLOSED_INPUTS; k++) {
        if (s.a.differenced[k] && out->reads[k]) cr__gradient_difference_by(p, k, out);
    }
    return true;
}
