// routh_slip.c - slip whose direction turns, by Taylor series.
//
// With dPn = |V_t| dtau slip is  V_t' = r w - mu A V_t,  r = |V_t|,  where w = W_tn and A = W_tt: linear but
// for r, regular down to V_t = 0 (reached as tau -> infinity) and homogeneous, so V_t keeps its digits on the
// way there. Pn' = r, P_t' = -mu V_t, Vn' = r Wnn - mu w.V_t, work' = Vn r. The coefficients follow from each
// other, those of r from r^2 = V_t.V_t. The direction s = V_t / r obeys an equation of its own, so it turns
// one way only; Vn' / r = Wnn - mu w.s is monotone but where s passes w, and splitting a step there and where
// Vn' = 0 leaves pieces on which Vn is monotone: no event is overlooked.
// Once s no longer turns, or can no longer turn by anything that matters, the rest is one straight piece.
// Fails: after MAX_STEPS the process is left not ended; the tests have never seen more than a few hundred.
#include "resolve/routh.h"

#include "impulse/rank.h"

#define ORDER     20
#define MAX_STEPS 100000
#define MAX_STEP  8.0    // in units of the fastest rate
#define STRAIGHT  1e-15  // change of direction that is rounding, in the same units
#define AT_REST   1e-13  // share of the initial slip that is rounding
#define BLOCKED   1e-14  // change of speed that is rounding, in the same units

// W in units of the fastest rate Q = |w| + mu trace(A), which keeps the series in range for any mu.
typedef struct Rates {
    double Q;
    double wy, wz;         // w / Q
    double ayy, ayz, azz;  // mu A / Q
    double a;              // Wnn / Q
    double mu;             // mu / Q
    double r_start;        // |V_t| where slip began
} Rates;

typedef struct Series {
    double vy[ORDER + 1], vz[ORDER + 1];  // V_t
    double r[ORDER + 1];                  // |V_t|
    double Pn[ORDER + 1];
    double Vn[ORDER + 1];
    double work[ORDER + 1];
} Series;

static Rates rates_of(const crRouth* r) {
    const crSym3* W = &r->c.W;
    double mu = r->c.mu;
    double Q = sqrt(W->xy * W->xy + W->xz * W->xz) + mu * (W->yy + W->zz);
    double u = mu / Q;
    double speed = sqrt(r->V.y * r->V.y + r->V.z * r->V.z);
    return (Rates){Q, W->xy / Q, W->xz / Q, u * W->yy, u * W->yz, u * W->zz, W->xx / Q, u, speed};
}

static void expand_routh_slip(const crRouth* r, const Rates* k, Series* s) {
    s->vy[0] = r->V.y;
    s->vz[0] = r->V.z;
    s->r[0] = sqrt(r->V.y * r->V.y + r->V.z * r->V.z);
    s->Pn[0] = r->P.x;
    s->Vn[0] = r->V.x;
    s->work[0] = r->work;
    double half = 0.5 / s->r[0];
    double wy = k->wy * k->Q;
    double wz = k->wz * k->Q;
    for (int i = 0; i < ORDER; i++) {
        double by = 1.0 / (i + 1);
        double vy = s->vy[i], vz = s->vz[i], speed = s->r[i];
        s->vy[i + 1] = (k->wy * speed - k->ayy * vy - k->ayz * vz) * by;
        s->vz[i + 1] = (k->wz * speed - k->ayz * vy - k->azz * vz) * by;
        s->Pn[i + 1] = speed / k->Q * by;
        s->Vn[i + 1] = (k->a * speed - k->mu * (wy * vy + wz * vz)) * by;
        double product = 0.0;
        for (int j = 0; j <= i; j++)
            product += s->Vn[j] * s->r[i - j];
        s->work[i + 1] = product / k->Q * by;
        // 2 r0 r_{i+1} = sum of v_j.v_l over j + l = i + 1, less the inner part of the same sum for r
        double inner = 2.0 * (s->vy[0] * s->vy[i + 1] + s->vz[0] * s->vz[i + 1]);
        for (int j = 1; j <= i; j++) {
            int l = i + 1 - j;
            inner += s->vy[j] * s->vy[l] + s->vz[j] * s->vz[l] - s->r[j] * s->r[l];
        }
        s->r[i + 1] = inner * half;
    }
}

static double value_routh_slip(const double* series, double t) {
    double sum = series[ORDER];
    for (int i = ORDER - 1; i >= 0; i--)
        sum = sum * t + series[i];
    return sum;
}

static double slope_routh_slip(const double* series, double t) {
    double sum = ORDER * series[ORDER];
    for (int i = ORDER - 1; i >= 1; i--)
        sum = sum * t + i * series[i];
    return sum;
}

static double integral_routh_slip(const double* series, double t) {
    double sum = series[ORDER] / (ORDER + 1);
    for (int i = ORDER - 1; i >= 0; i--)
        sum = sum * t + series[i] / (i + 1);
    return sum * t;
}

// Where series = target between a and b, on which it is monotone and at whose ends it is on either side.
static double root_routh_slip(const double* series, double target, double a, double b) {
    double fb = value_routh_slip(series, b) - target;
    double side = fb >= 0.0 ? 1.0 : -1.0;
    if (side * (value_routh_slip(series, a) - target) >= 0.0) return a;
    double x = 0.5 * (a + b);
    for (int i = 0; i < 80 && b - a > 1e-16 * b; i++) {
        double f = value_routh_slip(series, x) - target;
        if (f == 0.0) return x;
        if (side * f > 0.0) {
            b = x;
        } else {
            a = x;
        }
        double next = x - f / slope_routh_slip(series, x);
        if (!(next > a && next < b)) next = 0.5 * (a + b);
        if (fabs(next - x) <= 1e-16 * fabs(x)) return next;
        x = next;
    }
    return x;
}

// x^(1/n) within 10 %, for step sizes
static double rough_root(double x, int n) {
    int exponent;
    double mantissa = frexp(x, &exponent);
    double power = (exponent + 2.0 * mantissa - 2.0) / n;
    double whole = floor(power);
    return ldexp(1.0 + (power - whole), (int)whole);
}

static double step_size(const Series* s, double tol) {
    double h = MAX_STEP;
    for (int i = ORDER - 1; i <= ORDER; i++) {
        double last = fabs(s->vy[i]) + fabs(s->vz[i]) + fabs(s->r[i]);
        if (last > 0.0) h = fmin(h, 0.8 * rough_root(tol * s->r[0] / last, i));
    }
    return h;
}

static crVec3 impulse_at(const crRouth* r, const Rates* k, const Series* s, double t) {
    return cr_vec3(value_routh_slip(s->Pn, t), r->P.y - k->mu * integral_routh_slip(s->vy, t),
                   r->P.z - k->mu * integral_routh_slip(s->vz, t));
}

static void move_to(crRouth* r, const Rates* k, const Series* s, double t) {
    r->P = impulse_at(r, k, s, t);
    r->V = cr_vec3(value_routh_slip(s->Vn, t), value_routh_slip(s->vy, t), value_routh_slip(s->vz, t));
    r->work = value_routh_slip(s->work, t);
}

// The first event between a and b, on which Vn is monotone: where it is, or b where there is none.
static double first_event(crRouth* r, const Series* s, double a, double b, crRouthEvent* event) {
    double Vn_b = value_routh_slip(s->Vn, b);
    bool falling = Vn_b < value_routh_slip(s->Vn, a);
    if (falling) r->jam = true;
    if (!r->restituting) {
        if (falling || Vn_b < 0.0) return b;
        *event = CR_ROUTH_TURN;
        return root_routh_slip(s->Vn, 0.0, a, b);
    }
    // restitution lasts to b, or to where Vn is zero again; where slip and approach die together (singular W)
    // Vn falls to zero and what is below is rounding
    double stop = b;
    if (Vn_b < -cr__routh_rest(r)) {
        *event = CR_ROUTH_TURN;
        stop = root_routh_slip(s->Vn, 0.0, a, b);
    }
    const double* waited = r->ending == CR_ENDING_POISSON  ? s->Pn
                           : r->ending == CR_ENDING_NEWTON ? s->Vn
                                                           : s->work;
    if (value_routh_slip(waited, stop) < r->goal) return stop;
    *event = CR_ROUTH_END;
    return root_routh_slip(waited, r->goal, a, stop);
}

// The places between 0 and h where Vn stops being monotone, in order, and h itself. Returns how many.
static int monotone_pieces(const Rates* k, const Series* s, double h, double cuts[4]) {
    double turning[ORDER + 1], rate[ORDER + 1];
    double first = slope_routh_slip(s->Vn, 0.0), last = slope_routh_slip(s->Vn, h);
    int count = 0;
    double at = 0.0;
    double cross_0 = k->wy * s->vz[0] - k->wz * s->vy[0];
    double cross_h = k->wy * value_routh_slip(s->vz, h) - k->wz * value_routh_slip(s->vy, h);
    bool passes = cross_0 * cross_h < 0.0 && k->wy * s->vy[0] + k->wz * s->vz[0] > 0.0;
    if (passes || first * last < 0.0) {
        for (int i = 0; i <= ORDER; i++) {
            turning[i] = k->wy * s->vz[i] - k->wz * s->vy[i];
            rate[i] = i < ORDER ? (i + 1) * s->Vn[i + 1] : 0.0;
        }
    }
    if (passes) {
        // s passes w here, and Vn' / r has its least value
        double middle = root_routh_slip(turning, 0.0, 0.0, h);
        double least = value_routh_slip(rate, middle);
        if (first * least < 0.0) cuts[count++] = root_routh_slip(rate, 0.0, 0.0, middle);
        first = least;
        at = middle;
    }
    if (first * last < 0.0) cuts[count++] = root_routh_slip(rate, 0.0, at, h);
    cuts[count++] = h;
    return count;
}

static void record_step(crRouth* r, const Rates* k, const Series* s, double h) {
    if (r->points == NULL || r->steps % r->stride != 0) return;
    for (int i = 1; i <= r->per_step; i++) {
        cr__routh_record(r, impulse_at(r, k, s, h * i / r->per_step));
    }
}

// One step, cut off at the first event.
static void step(crRouth* r, const Rates* k) {
    Series s;
    double cuts[4];
    expand_routh_slip(r, k, &s);
    int count = monotone_pieces(k, &s, step_size(&s, r->tol), cuts);
    crRouthEvent event = CR_ROUTH_NONE;
    double at = 0.0;
    for (int i = 0; i < count && event == CR_ROUTH_NONE; i++)
        at = first_event(r, &s, at, cuts[i], &event);
    record_step(r, k, &s, at);
    if (r->watch != NULL) r->watch(r->watch_ctx, k->Q, at, event);
    move_to(r, k, &s, at);
    r->steps++;
    cr__routh_pass(r, event);
}

// true where what is left of slip is straight; then it is followed to V_t = 0 or to the end.
static bool finish_routh_slip(crRouth* r, const Rates* k) {
    double speed = sqrt(r->V.y * r->V.y + r->V.z * r->V.z);
    double sy = r->V.y / speed;
    double sz = r->V.z / speed;
    double qy = k->wy - k->ayy * sy - k->ayz * sz;
    double qz = k->wz - k->ayz * sy - k->azz * sz;
    double along = qy * sy + qz * sz;
    double rounding = cr__W_rounding(&r->c.W) * (1.0 + r->c.mu);
    if (fabs(along) <= BLOCKED + rounding / k->Q) along = 0.0;
    double across = fabs(sy * qz - sz * qy);
    if (along >= 0.0 && speed <= AT_REST * k->r_start) {
        r->V.y = r->V.z = 0.0;
        return true;
    }
    bool straight = across <= STRAIGHT && !r->curved;
    // V_t shrinks, and what it can still turn changes P by less than the tolerance
    double bend = r->curved ? 1.0 : across;
    double limit = 0.1 * r->tol * k->r_start * -(along * along * along);
    if (!straight && !(speed * bend <= limit)) return false;
    double mu = r->c.mu;
    double rate = r->c.W.xx - mu * (r->c.W.xy * sy + r->c.W.xz * sz);
    if (along < 0.0) {
        cr__routh_straight(r, speed / (-along * k->Q), rate, -mu * sy, -mu * sz);
        r->V.y = r->V.z = 0.0;
    } else if (mu < CR_ROUTH_INFINITE_MU) {
        // slip for ever; under infinite friction that would take an infinite impulse
        if (fabs(rate) <= BLOCKED * k->Q + rounding) rate = 0.0;
        cr__routh_straight(r, INFINITY, rate, -mu * sy, -mu * sz);
    }
    return true;
}

bool cr__routh_slip(crRouth* r) {
    Rates k = rates_of(r);
    while (!r->ended && r->steps < MAX_STEPS && !finish_routh_slip(r, &k))
        step(r, &k);
    return !r->ended && r->V.y == 0.0 && r->V.z == 0.0;
}
