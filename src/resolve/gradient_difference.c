// gradient_difference.c - derivatives of a law by differences of its answers.
//
// For laws that follow a path (routh, compliant), that need the region's centroid (spherical, projected) or a
// polygon (anitescu-potra with directions), and for laws of the user. Steps h = scale/64, halved LEVELS - 1 times:
//     central     (f(h) - f(-h))/2h   errors in h^2, h^4, ...: extrapolated by 4, 16, ...
//     one-sided   (f(h) - f(0))/h     errors in h, h^2, ...:   extrapolated by 2, 4, ...
// Of all entries of the tableau the one that differs least from its neighbours is taken; that difference is its
// error. A switch within the smallest step shows as a second difference that falls with h, not with h^2; a jump
// as a difference that does not fall. Kinks below KINK of P are not seen.
// Fails: an input that the law accepts no change of gets NaN and an infinite error.
#include "gradient.h"

#define LEVELS   14
#define LARGEST  0x1p-6  // first step as a share of the input's scale
#define ORDER    5       // columns of the tableau
#define KINK     1e-3
#define JUMP     1e-6   // of P and of |V|/trace W
#define ROUNDING 1e-15  // of P: least error of a law's answer

// The law's answers beside an input, [0] for a smaller and [1] for a larger one.
typedef struct Samples {
    double scale;
    crVec3 at;  // P itself
    crVec3 P[2][LEVELS];
    bool good[2][LEVELS];
    crRegime regime[2];  // at the smallest step
} Samples;

typedef struct Estimate {
    crVec3 value;  // per unit of the input's scale
    double error;  // INFINITY: there is none
    double step;   // largest step that went into it
} Estimate;

static double step_at(int level) { return LARGEST / (double)(1 << level); }

static double* parameter(crLawParams* params, int k) {
    double* const fields[] = {&params->nu,  &params->mu2,    &params->mu3,    &params->psi1,   &params->psi2,
                              &params->rho, &params->wish.x, &params->wish.y, &params->wish.z, &params->eta2};
    return k >= CR_BY_NU && k <= CR_BY_ETA2 ? fields[k - CR_BY_NU] : NULL;
}

static bool sample(const cr__Point* p, int k, double h, crHit* hit) {
    crCollision collision = *p->collision;
    crLawParams params;
    crLaw law = *p->law;
    if (k >= CR_BY_NU) {
        params = *cr__point_params(p, &params);
        *parameter(&params, k) += h;
        law.params = &params;
    } else {
        cr__point_shift(p, k, h, &collision);
    }
    return cr_law_apply(&law, &collision, hit, NULL) == CR_OK && hit->regime != CR_REGIME_NO_SOLUTION;
}

static void sample_all(const cr__Point* p, int k, const crHit* hit, Samples* s) {
    *s = (Samples){.scale = cr__point_scale(p, k), .at = hit->P};
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < LEVELS; i++) {
            crHit there = {0};
            double h = (side == 0 ? -1.0 : 1.0) * step_at(i) * s->scale;
            s->good[side][i] = sample(p, k, h, &there);
            s->P[side][i] = there.P;
            s->regime[side] = there.regime;
        }
    }
}

// Best entry of the tableau of D from level first on; errors of D go with powers of `factor`. size is that of f.
static Estimate extrapolate(const crVec3* D, int first, double factor, double size) {
    crVec3 row[2][ORDER];
    Estimate best = {.error = INFINITY};
    for (int i = first; i < LEVELS; i++) {
        crVec3* now = row[i & 1];
        const crVec3* before = row[1 - (i & 1)];
        double power = 1.0;
        now[0] = D[i];
        for (int j = 1; j <= i - first && j < ORDER; j++) {
            power *= factor;
            now[j] = cr_madd(now[j - 1], 1.0 / (power - 1.0), cr_sub(now[j - 1], before[j - 1]));
            double error = fmax(cr_norm(cr_sub(now[j], now[j - 1])), cr_norm(cr_sub(now[j], before[j - 1])));
            error = fmax(error, ROUNDING * size / step_at(i));
            if (error < best.error) best = (Estimate){now[j], error, step_at(i - j)};
        }
    }
    return best;
}

// First level from which on the law accepts the steps to this side.
static int first_good(const bool* good) {
    int first = LEVELS;
    while (first > 0 && good[first - 1])
        first--;
    return first;
}

static Estimate one_sided(const Samples* s, int side) {
    crVec3 D[LEVELS];
    double sign = side == 0 ? -1.0 : 1.0;
    int first = first_good(s->good[side]);
    for (int i = first; i < LEVELS; i++) {
        D[i] = cr_scale(sign / step_at(i), cr_sub(s->P[side][i], s->at));
    }
    return extrapolate(D, first, 2.0, cr_norm(s->at));
}

static Estimate central(const Samples* s) {
    crVec3 D[LEVELS];
    int minus = first_good(s->good[0]);
    int plus = first_good(s->good[1]);
    int first = minus > plus ? minus : plus;
    for (int i = first; i < LEVELS; i++) {
        D[i] = cr_scale(0.5 / step_at(i), cr_sub(s->P[1][i], s->P[0][i]));
    }
    return extrapolate(D, first, 4.0, cr_norm(s->at));
}

// |f(h) + f(-h) - 2 f(0)|/h
static double bend(const Samples* s, int level) {
    crVec3 sum = cr_add(s->P[0][level], s->P[1][level]);
    return cr_norm(cr_madd(sum, -2.0, s->at)) / step_at(level);
}

static bool has_kink(const Samples* s, const Estimate side[2], double unit) {
    double last = bend(s, LEVELS - 1);
    double size = unit + cr_norm(side[0].value) + cr_norm(side[1].value);
    return last > KINK * size && last > 0.5 * bend(s, LEVELS - 3);
}

static bool has_jump(const Samples* s, int side, double unit) {
    if (!s->good[side][LEVELS - 1] || !s->good[side][LEVELS - 3]) return false;
    double last = cr_norm(cr_sub(s->P[side][LEVELS - 1], s->at));
    double before = cr_norm(cr_sub(s->P[side][LEVELS - 3], s->at));
    return last > JUMP * unit && last > 0.7 * before;
}

static crSwitch switch_between(crRegime here, crRegime there) {
    if (here == there) return CR_SWITCH_UNKNOWN;
    if (here == CR_REGIME_SEPARATE || there == CR_REGIME_SEPARATE) return CR_SWITCH_OPEN;
    if (here == CR_REGIME_JAM || there == CR_REGIME_JAM) return CR_SWITCH_JAM;
    if (here == CR_REGIME_STICK || there == CR_REGIME_STICK) return CR_SWITCH_STICK;
    return CR_SWITCH_UNKNOWN;
}

static void found_switch(const Samples* s, crSmoothness verdict, int side, crGradient* out) {
    crRegime there = s->regime[side];
    if (there == out->hit.regime) there = s->regime[1 - side];
    crSwitch which = switch_between(out->hit.regime, there);
    bool first = out->switches == 0;
    if (first || out->nearest == CR_SWITCH_UNKNOWN) {
        out->nearest = which;
        out->beyond = there;
    }
    if (verdict == CR_NO_DERIVATIVE && out->verdict != verdict) {
        out->jump = cr_sub(s->P[side][LEVELS - 1], s->at);
    }
    if (verdict > out->verdict) out->verdict = verdict;
    out->switches = 1;
    out->distance = step_at(LEVELS - 1);
}

static void set_column(const Samples* s, int k, Estimate minus, Estimate plus, crGradient* out) {
    out->P_minus[k] = cr_scale(1.0 / s->scale, minus.value);
    out->P_plus[k] = cr_scale(1.0 / s->scale, plus.value);
    out->error[k] = fmax(minus.error, plus.error) / s->scale;
    out->distance = fmin(out->distance, fmin(minus.step, plus.step));
}

static void column(const cr__Point* p, int k, double unit, crGradient* out) {
    Samples s;
    sample_all(p, k, &out->hit, &s);
    Estimate side[2] = {one_sided(&s, 0), one_sided(&s, 1)};
    Estimate both = central(&s);
    bool left = isfinite(side[0].error), right = isfinite(side[1].error);
    if (!left && !right) {
        out->P_minus[k] = out->P_plus[k] = cr_vec3((double)NAN, (double)NAN, (double)NAN);
        out->error[k] = INFINITY;
        return;
    }
    for (int i = 0; i < 2; i++) {
        if (has_jump(&s, i, unit)) found_switch(&s, CR_NO_DERIVATIVE, i, out);
    }
    if (!left || !right) {
        // the end of the input's range: from inside
        Estimate inside = left ? side[0] : side[1];
        set_column(&s, k, inside, inside, out);
    } else if (has_kink(&s, side, unit)) {
        found_switch(&s, CR_ONE_SIDED, 1, out);
        set_column(&s, k, side[0], side[1], out);
    } else {
        set_column(&s, k, both, both, out);
    }
}

void cr__gradient_difference_by(const cr__Point* p, int k, crGradient* out) {
    crGradient own = {.hit = out->hit, .verdict = CR_SMOOTH, .distance = INFINITY};
    double trace = p->contact.W.xx + p->contact.W.yy + p->contact.W.zz;
    column(p, k, fmax(cr_norm(out->hit.P), cr_norm(p->contact.V) / trace), &own);
    out->differenced = true;
    out->P_minus[k] = own.P_minus[k];
    out->P_plus[k] = own.P_plus[k];
    out->error[k] = own.error[k];
}

void cr__gradient_difference(const cr__Point* p, crGradient* out) {
    double trace = p->contact.W.xx + p->contact.W.yy + p->contact.W.zz;
    double unit = fmax(cr_norm(out->hit.P), cr_norm(p->contact.V) / trace);
    out->differenced = true;
    out->nearest = CR_SWITCH_UNKNOWN;
    out->distance = INFINITY;
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        bool constant = k == CR_BY_MU && isinf(p->contact.mu);
        if (out->reads[k] && !constant) column(p, k, unit, out);
    }
    double open = fabs(p->contact.V.x) / fmax(cr_norm(p->contact.V), 1e-300);
    if (out->switches == 0 && open < out->distance) {
        out->nearest = CR_SWITCH_OPEN;
        out->distance = open;
    }
}
