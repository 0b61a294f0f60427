// law_compliant.c - a normal and a tangential spring at the contact, with Coulomb slip of the patch.
//
// The bodies touch through a massless patch. Normal force f: stiffness k up to its largest value, k/e^2 below
// it, so that e^2 of the normal work stored comes back. Tangential force g = -(k/eta2) u, u the stretch of a
// spring between B and the patch; |g| <= mu f, and where the patch slips, with velocity V_t - u', g is on the
// cone and against it. The impulse does not depend on k. Stick, slip, loading and unloading follow each other
// at events; between them compliant_step.c integrates. The contact ends where f is back at zero.
// Source: the elastic sphere of Maw, Barber and Fawcett 1981 with linear springs, as in Stronge 2000,
// chapter 5; answers the last questions of Chatterjee and Ruina 1998 about tangential compliance.
// Holds: energy never created for e <= 1, Vn+ >= 0, the cone at every moment and so for P.
// e = 0 ends at the largest compression. Vn = 0 is the limit of Vn -> 0-: nothing, or a finite rebound where
// friction presses the bodies together.
// Fails: a blocked normal direction, or a contact not open after MAX_STEPS: no-solution. That many are needed
// where the slowest motion takes 1e4 times as long as the fastest: W with eigenvalues 1e8 apart, or e < 1e-4
// where the tangential spring goes on pulling the bodies together.
#include "resolve/compliant.h"
#include "resolve/kinds.h"
#include "resolve/law.h"

#define ROUGHNESS   1e-9
#define MAX_STEPS   50000
#define INFINITE_MU 0x1p60
#define CLOSING     1e-6   // time left, in units of the fastest motion, that is done in one go
#define NOISE       1e-14  // share of the terms of a difference that is rounding
#define GRAZING     1e-12  // approach speed that stands for 0-, as a share of the slip

static double length(double y, double z) { return sqrt(y * y + z * z); }

void cr__compliant_start(crCompliant* s, const crContact* c, double eta2) {
    *s = (crCompliant){.c = *c, .eta2 = eta2, .roughness = ROUGHNESS, .kappa = 1.0};
    s->c.mu = fmin(c->mu, INFINITE_MU);
    if (cr_contact_is_planar(c)) s->c.W.xz = s->c.W.yz = s->c.V.z = 0.0;
    crVec3 V = s->c.V;
    double speed = length(V.y, V.z);
    if (speed > 0.0) {
        s->now.dy = V.y / speed;
        s->now.dz = V.z / speed;
    }
    if (V.x == 0.0) {
        double pressed = s->c.W.xx - s->c.mu * (s->c.W.xy * s->now.dy + s->c.W.xz * s->now.dz);
        s->ended = !(pressed < 0.0);
        V.x = -GRAZING * speed;
    }
    s->now.V = V;
    // forces start in proportion to -Vn and V_t / eta2
    s->slips = speed > s->c.mu * eta2 * -V.x;
}

// How far past the event, less rounding, and how fast it goes there; far from it where it cannot happen now.
typedef struct Gauge {
    double value, rate;
} Gauge;

static Gauge slide_gauge(const crCompliant* s, const crSprings* at) {
    double mu = s->c.mu;
    double g = length(at->gy, at->gz);
    double stretch = -(at->gy * at->V.y + at->gz * at->V.z) / g;
    return (Gauge){g - mu * at->f - NOISE * (g + mu * fabs(at->f)),
                   stretch / s->eta2 + mu * s->kappa * at->V.x};
}

// the patch stops: its speed is V_t.d - mu eta2 f'
static Gauge hold_gauge(const crCompliant* s, const crSprings* at) {
    const crSym3* W = &s->c.W;
    double slack = s->c.mu * s->eta2;
    crVec3 rate = cr_sym3_mul(*W, cr_vec3(at->f, at->gy, at->gz));
    double along = at->dy * at->V.y + at->dz * at->V.z;
    double across = at->dy * at->V.z - at->dz * at->V.y;
    double spring = slack * s->kappa * at->V.x;
    double turning = across != 0.0 ? across * across / (slack * at->f) : 0.0;
    return (Gauge){-(along + spring) - NOISE * (fabs(along) + fabs(spring)),
                   -(at->dy * rate.y + at->dz * rate.z + turning + slack * s->kappa * rate.x)};
}

static Gauge gauge_of_compliant(const crCompliant* s, crCompliantEvent event, const crSprings* at) {
    const Gauge never = {-1.0, 0.0};
    if (event == CR_COMPLIANT_SLIDE) return s->slips ? never : slide_gauge(s, at);
    if (event == CR_COMPLIANT_HOLD) return s->slips ? hold_gauge(s, at) : never;
    if (event == CR_COMPLIANT_TURN && !s->unloading) {
        return (Gauge){at->V.x, s->c.W.xx * at->f + s->c.W.xy * at->gy + s->c.W.xz * at->gz};
    }
    if (event == CR_COMPLIANT_RELOAD && s->unloading)
        return (Gauge){at->f - s->f_max * (1.0 + NOISE), -s->kappa * at->V.x};
    if (event == CR_COMPLIANT_CLOSE && s->unloading) return (Gauge){-at->f, s->kappa * at->V.x};
    return never;
}

static void pass_compliant(crCompliant* s, crCompliantEvent event) {
    double g = length(s->now.gy, s->now.gz);
    switch (event) {
    case CR_COMPLIANT_SLIDE:
        s->slips = true;
        s->now.dy = -s->now.gy / g;
        s->now.dz = -s->now.gz / g;
        // on the cone exactly: under large friction what the event's time leaves open is mu times as much in g
        if (s->c.mu > 1.0) s->now.f = g / s->c.mu;
        break;
    case CR_COMPLIANT_HOLD:
        s->slips = false;
        break;
    case CR_COMPLIANT_TURN:
        s->unloading = true;
        s->f_max = s->now.f;
        s->kappa = 1.0 / (s->c.e * s->c.e);
        s->now.V.x = 0.0;
        s->ended = s->c.e == 0.0;
        break;
    case CR_COMPLIANT_RELOAD:
        s->unloading = false;
        s->kappa = 1.0;
        break;
    case CR_COMPLIANT_CLOSE:
        s->ended = true;
        break;
    default:
        break;
    }
}

// Length of the step after which the gauge of an event stands at zero, between lo and hi (where it is past
// it and `there` is the motion), by Newton's method kept inside. NAN where a step cannot be solved for.
static double locate(const crCompliant* s, crCompliantEvent event, double lo, double hi, crSprings* there) {
    crCompliantStep step;
    double h = hi;
    // forces do not jump at events, so P hardly knows when they are
    double enough = 1e-12 * hi;
    for (int i = 0; i < 60; i++) {
        Gauge gauge = gauge_of_compliant(s, event, there);
        if (gauge.value > 0.0) {
            hi = h;
        } else {
            lo = h;
        }
        double next = h - gauge.value / gauge.rate;
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - h) <= enough) break;
        if (!cr__compliant_step(s, next, &step)) return NAN;
        h = next;
        *there = step.node[CR_COMPLIANT_STAGES - 1];
    }
    return h;
}

// The same where the gauge is largest. Halving to a millionth gives its value to rounding.
static double locate_peak(const crCompliant* s, crCompliantEvent event, double lo, double hi,
                          crSprings* there) {
    crCompliantStep step;
    while (hi - lo > 1e-6 * hi) {
        double h = 0.5 * (lo + hi);
        if (!cr__compliant_step(s, h, &step)) return NAN;
        *there = step.node[CR_COMPLIANT_STAGES - 1];
        Gauge gauge = gauge_of_compliant(s, event, there);
        if (gauge.value > 0.0) return h;
        if (gauge.rate > 0.0) {
            lo = h;
        } else {
            hi = h;
        }
    }
    return hi;
}

// true where the event happens between two moments; then `at` and `there` are when and what.
static bool find(const crCompliant* s, crCompliantEvent event, double from, const crSprings* before,
                 double* at, crSprings* there) {
    Gauge first = gauge_of_compliant(s, event, before);
    Gauge last = gauge_of_compliant(s, event, there);
    if (!(last.value > 0.0)) {
        // it may be past the event for a while and come back
        bool peaks = first.rate > 0.0 && last.rate < 0.0 && first.value + first.rate * (*at - from) > 0.0;
        if (!peaks) return false;
        *at = locate_peak(s, event, from, *at, there);
        if (isnan(*at)) return true;
        if (!(gauge_of_compliant(s, event, there).value > 0.0)) return false;
    }
    *at = locate(s, event, from, *at, there);
    return true;
}

// Take the step up to its first event; false where that needs a shorter one.
static bool advance_compliant(crCompliant* s, double h, const crCompliantStep* step) {
    crSprings before = s->now;
    crSprings first = step->node[CR_COMPLIANT_STAGES - 1];
    crCompliantEvent event = CR_COMPLIANT_NONE;
    double from = 0.0;
    double at = INFINITY;
    for (int i = 0; i < CR_COMPLIANT_STAGES && event == CR_COMPLIANT_NONE; i++) {
        double to = cr__compliant_time[i] * h;
        for (crCompliantEvent k = CR_COMPLIANT_SLIDE; k < CR_COMPLIANT_EVENTS; k++) {
            double found = to;
            crSprings there = step->node[i];
            if (!find(s, k, from, &before, &found, &there)) continue;
            if (isnan(found)) return false;
            if (found < at) {
                at = found;
                event = k;
                first = there;
            }
        }
        before = step->node[i];
        from = to;
    }
    if (s->watch != NULL) s->watch(s->watch_ctx, s, event == CR_COMPLIANT_NONE ? h : at, event);
    s->now = first;
    s->peak = fmax(s->peak, fmax(first.f, length(first.gy, first.gz)));
    pass_compliant(s, event);
    s->steps++;
    return true;
}

// What is left when f is about to be zero: f falls steadily, g stays until the cone takes it along. Done where
// the time left is short beside the fastest motion and what g does to Vn meanwhile is small. Under large
// friction g stays until f is next to nothing, so that the slip at the end takes no time at all.
static bool close_up_compliant(crCompliant* s) {
    const crSprings* now = &s->now;
    const crSym3* W = &s->c.W;
    double rate = s->kappa * now->V.x;
    double omega = sqrt(s->kappa * W->xx + (W->yy + W->zz) / s->eta2);
    if (!s->unloading || !(now->f * omega <= CLOSING * rate)) return false;
    double left = now->f / rate;
    double g = length(now->gy, now->gz);
    if (!(left * length(W->xy, W->xz) * g <= CLOSING * now->V.x)) return false;
    if (s->watch != NULL) s->watch(s->watch_ctx, s, 0.0, CR_COMPLIANT_CLOSE);
    double share = g > 0.0 ? left * (1.0 - 0.5 * fmin(1.0, g / (s->c.mu * now->f))) : 0.0;
    s->now.P = cr_add(now->P, cr_vec3(0.5 * left * now->f, share * now->gy, share * now->gz));
    s->ended = true;
    return true;
}

// A step that stays short of f = 0, where the direction of slip is singular; INFINITY where that is far.
static double step_before_zero(const crCompliant* s) {
    const crSprings* now = &s->now;
    bool turns = s->slips && now->dy * now->V.z != now->dz * now->V.y;
    if (!turns || !s->unloading) return INFINITY;
    // f - kappa (Vn t + Vn' t^2 / 2) = 0
    double acceleration = s->c.W.xx * now->f + s->c.W.xy * now->gy + s->c.W.xz * now->gz;
    double rate = s->kappa * now->V.x;
    double square = rate * rate + 2.0 * s->kappa * acceleration * now->f;
    double t = 2.0 * now->f / (rate + sqrt(fmax(0.0, square)));
    return t > 0.0 ? 0.85 * t : (double)INFINITY;
}

void cr__compliant_follow(crCompliant* s) {
    const crSym3* W = &s->c.W;
    double h = INFINITY;
    for (int tries = 0; !s->ended && tries < MAX_STEPS; tries++) {
        double coupling = s->slips ? s->c.mu * length(W->xy, W->xz) : 0.0;
        double omega = sqrt(s->kappa * (W->xx + coupling) + (W->yy + W->zz) / s->eta2);
        if (close_up_compliant(s)) return;
        h = fmin(fmin(h, 1.0 / omega), step_before_zero(s));
        crCompliantStep step;
        if (!cr__compliant_step(s, h, &step)) {
            h *= 0.4;
            continue;
        }
        // roughness goes with the seventh power of h
        double fit = s->roughness / fmax(step.roughness, 1e-300);
        double factor = fmin(2.0, fmax(0.3, 0.9 * sqrt(sqrt(sqrt(fit)))));
        if (fit >= 1.0 && !advance_compliant(s, h, &step)) factor = 0.4;
        h *= factor;
    }
}

static crStatus apply_compliant(const void* params, const crContact* c, crHit* hit, crError* error) {
    const crLawParams* given = params;
    double eta2 = given != NULL ? given->eta2 : cr_law_params().eta2;
    if (!(eta2 > 0.0 && isfinite(eta2))) {
        return cr_error_set(error, isfinite(eta2) ? CR_ERR_RANGE : CR_ERR_FINITE, "eta2",
                            "eta2: is %g, must be a finite number > 0", eta2);
    }
    crVec3 P_I;
    bool exists = cr_impulse_P_I(c, &P_I);
    crCompliant s;
    if (exists && c->mu == 0.0) {
        hit->P = cr_scale(1.0 + c->e, P_I);
        return CR_OK;
    }
    if (exists) {
        cr__compliant_start(&s, c, eta2);
        cr__compliant_follow(&s);
        exists = s.ended;
    }
    if (!exists) return cr__no_solution(hit);
    hit->P = s.now.P;
    return CR_OK;
}

const cr__LawKind cr__law_compliant = {
    .order = 11,
    .apply = apply_compliant,
    .info = {.name = "compliant",
             .title = "Springs with Coulomb slip, followed through the contact",
             .parameters = "e in [0, 1], mu >= 0, eta2 > 0 (normal over tangential stiffness)",
             .guarantee = "never creates energy; inside the cone",
             .source = "after Maw, Barber and Fawcett 1976; Stronge 2000",
             .dimension = 2,
             .spin_reversal = true,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .grazing_tangential = true,
             .reads = CR_READS_MU_E | CR_READS(CR_BY_ETA2),
             .cost = 10.0},
};
