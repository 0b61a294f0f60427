// law_smith.c - Smith's law: friction along a weighted mean of the slip before and after.
//
//     Vn+ = -e Vn,   P_t = -mu Pn (V_t |V_t| + V_t+ |V_t+|) / (|V_t|^2 + |V_t+|^2),   Pn >= 0
//
// Source: Smith 1991; Chatterjee and Ruina 1998, eq. 8. With a = V_t, b = V_t+, S, q, omega, c0 of the
// closing stage (coulomb.h), P_t = -(kappa a + eta b), kappa |b| = eta |a|:
// b = (1 + eta S)^-1 (q - kappa S a), one eta fits each kappa >= 0, and one equation is left,
// G(kappa) = mu (c0 - omega.P_t) - kappa (|a|^2 + |b|^2)/|a| = 0. Its roots are the solutions with Pn >= 0;
// G(0) = mu c0 >= 0, G < 0 in the end, where b -> -a. Rarely there are three; the first has the smallest Pn.
// Vn = 0, V_t = 0 (then it is Coulomb's problem) and infinite mu are limits: Vn -> 0-, small V_t, growing mu.
// Holds: never creates energy for e <= 1. Fails: blocked directions (singular W) can leave no solution.
#include "coulomb.h"
#include "resolve/kinds.h"

#define SLIP_TOL 1e-20  // |V_t| below this share of |q| has no direction
#define ENDLESS  1e60   // where the search for a root is given up
#define LARGEST \
    1e16  // impulse in units of the speed over trace S: a larger one could only come from rounding

// Everything along the axes of S; speeds in units of max(|a|, |q|), S in units of its trace.
typedef struct Smith {
    double mu;
    double c0;
    double s[2], a[2], q[2], omega[2];
    double alpha;  // |a|
} Smith;

typedef struct Point {
    double P_t[2];
    double limit;  // |a|^2 + |b|^2 times kappa/|a|: mu Pn at a root
    double G, dG;  // and dG/dkappa
} Point;

// Turn the tangent plane so that S is diagonal; axis is the first one.
static void principal_axes(const cr__Stage* stage, double s[2], double axis[2]) {
    double half = 0.5 * (stage->Syy - stage->Szz);
    double mean = 0.5 * (stage->Syy + stage->Szz);
    double radius = sqrt(half * half + stage->Syz * stage->Syz);
    axis[0] = 1.0;
    axis[1] = 0.0;
    if (radius > 0.0) {
        double y = half >= 0.0 ? radius + half : fabs(stage->Syz);
        double z = half >= 0.0 ? stage->Syz : copysign(radius - half, stage->Syz);
        double length = sqrt(y * y + z * z);
        axis[0] = y / length;
        axis[1] = z / length;
    }
    s[0] = mean + radius;
    s[1] = s[0] > 0.0 ? fmax(0.0, (stage->Syy * stage->Szz - stage->Syz * stage->Syz) / s[0]) : 0.0;
}

static void turn_smith(const double axis[2], double y, double z, double out[2]) {
    // two sums: a sum beside a difference is fused by gcc 12 where the machine can, whatever it is told
    double across = -axis[1];
    out[0] = axis[0] * y + axis[1] * z;
    out[1] = axis[0] * z + across * y;
}

static Smith smith_of(const cr__Stage* stage, const crContact* c, double speed, double axis[2],
                      double* unit) {
    Smith p = {.mu = stage->mu};
    principal_axes(stage, p.s, axis);
    double trace = p.s[0] + p.s[1];
    bool blocked = !(trace > stage->Stol);
    *unit = blocked ? c->W.xx : trace;
    p.c0 = stage->c0 * *unit / speed;
    turn_smith(axis, c->V.y / speed, c->V.z / speed, p.a);
    turn_smith(axis, stage->qy / speed, stage->qz / speed, p.q);
    for (int i = 0; i < 2; i++) {
        // a blocked axis: S is zero there, and so is q if V is in the range of W
        bool none = !(p.s[i] > stage->Stol);
        if (none && fabs(p.q[i]) * speed <= stage->qtol) p.q[i] = 0.0;
        p.s[i] = none ? 0.0 : p.s[i] / trace;
    }
    turn_smith(axis, stage->omega_y, stage->omega_z, p.omega);
    p.alpha = sqrt(p.a[0] * p.a[0] + p.a[1] * p.a[1]);
    return p;
}

// Root of eta (1 + eta s) = pull.
static double eta_alone(double s, double pull) { return 2.0 * pull / (1.0 + sqrt(1.0 + 4.0 * s * pull)); }

// eta with |a| eta = kappa |b(eta)|: the difference is concave and rises, and the first guess, from one
// component of b alone or from both with the larger s, is below, so Newton's method never passes the root.
static double eta_at(const Smith* p, double kappa, const double z[2]) {
    double scale = kappa / p->alpha;
    double eta = eta_alone(p->s[0], scale * sqrt(z[0] * z[0] + z[1] * z[1]));
    eta = fmax(eta, eta_alone(p->s[1], scale * fabs(z[1])));
    for (int i = 0; i < 60; i++) {
        double g0 = 1.0 / (1.0 + eta * p->s[0]);
        double g1 = 1.0 / (1.0 + eta * p->s[1]);
        double b0 = z[0] * g0;
        double b1 = z[1] * g1;
        double b = sqrt(b0 * b0 + b1 * b1);
        if (!(b > 0.0)) break;
        double fall = (b0 * b0 * p->s[0] * g0 + b1 * b1 * p->s[1] * g1) / b;
        double step = (scale * b - eta) / (1.0 + scale * fall);
        eta += step;
        // quadratic: the next step would be below rounding
        if (!(step > 0x1p-26 * eta)) break;
    }
    return eta;
}

static Point point_at(const Smith* p, double kappa) {
    Point at;
    double z[2] = {p->q[0] - kappa * p->s[0] * p->a[0], p->q[1] - kappa * p->s[1] * p->a[1]};
    double eta = eta_at(p, kappa, z);
    double f[2] = {1.0 + eta * p->s[0], 1.0 + eta * p->s[1]};
    double b[2] = {z[0] / f[0], z[1] / f[1]};
    double beta = sqrt(b[0] * b[0] + b[1] * b[1]);
    // how |b| and eta change with kappa
    double by_eta = 0.0;
    double by_kappa = 0.0;
    for (int i = 0; i < 2 && beta > 0.0; i++) {
        by_eta -= b[i] * b[i] * p->s[i] / (f[i] * beta);
        by_kappa -= b[i] * p->s[i] * p->a[i] / (f[i] * beta);
    }
    double rise = (beta + kappa * by_kappa) / (p->alpha - kappa * by_eta);
    double normal = p->c0;
    double slope = 0.0;
    for (int i = 0; i < 2; i++) {
        at.P_t[i] = -(kappa * p->a[i] + eta * p->q[i]) / f[i];
        normal -= p->omega[i] * at.P_t[i];
        slope += p->omega[i] * (p->a[i] + rise * b[i]) / f[i];
    }
    double weight = (p->alpha * p->alpha + beta * beta) / p->alpha;
    at.limit = kappa * weight;
    at.G = p->mu * normal - at.limit;
    at.dG = p->mu * slope - weight - 2.0 * kappa * beta * (by_kappa + by_eta * rise) / p->alpha;
    return at;
}

// The root between low, where G has the sign given, and high, where it has the other (or unknown: INFINITY),
// by Newton's method from kappa inside the bracket. false: no change of sign up to infinity.
static bool root_between(const Smith* p, double low, double high, double sign, double kappa, Point* at) {
    double growth = 2.0;
    for (int i = 0; i < 200; i++) {
        *at = point_at(p, kappa);
        if (at->G == 0.0) return true;
        if (sign * at->G > 0.0)
            low = kappa;
        else
            high = kappa;
        double next = kappa - at->G / at->dG;
        if (isinf(high)) {
            // no change of sign so far: go on in growing steps, but not past a root nearby
            double far = growth * kappa;
            if (!(next > kappa && next < far)) next = far;
            growth = fmin(growth * growth, 1e6);
            if (!(next < ENDLESS)) return false;
        } else if (!(next > low && next < high)) {
            next = low > 0.0 ? sqrt(low) * sqrt(high) : 0.125 * high;
        }
        if (fabs(next - kappa) <= 0x1p-52 * kappa) return true;
        kappa = next;
    }
    return true;
}

// Where G turns back between low and high without having changed its sign at either: a point between at which
// it has, if there is one. dG has the sign of -G at low and of G at high.
static bool turning_point(const Smith* p, double low, double high, double sign, double* kappa) {
    for (int i = 0; i < 50; i++) {
        *kappa = 0.5 * (low + high);
        Point at = point_at(p, *kappa);
        if (sign * at.G < 0.0) return true;
        if (sign * at.dG < 0.0)
            low = *kappa;
        else
            high = *kappa;
    }
    return false;
}

// No root lies beyond: there kappa |a| <= mu Pn, and |P_t| <= (|b| + |q|)/s with |b| <= 1.62 bounds Pn.
static double last_root(const Smith* p) {
    double Pn = p->c0;
    for (int i = 0; i < 2; i++) {
        Pn += fabs(p->omega[i]) * (1.62 + fabs(p->q[i])) / fmax(p->s[i], 1.0 / LARGEST);
    }
    return p->mu * Pn / p->alpha;
}

// All roots from start on, the number returned; first gets the first. G and its slope are followed in steps
// that are small where the slope changes.
static int all_roots(const Smith* p, double start, Point* first) {
    double end = last_root(p);
    double low = start;
    double ratio = 1.5;
    Point before = point_at(p, low);
    Point root;
    int count = 0;
    while (low < end) {
        // while kappa S and eta S are small there is nothing to miss
        double high = low * (low < 0x1p-6 * p->alpha ? 8.0 : ratio);
        Point after = point_at(p, high);
        double sign = before.G > 0.0 ? 1.0 : -1.0;
        double middle;
        if (sign * after.G <= 0.0) {
            root_between(p, low, high, sign, 0.5 * (low + high), count == 0 ? first : &root);
            count++;
        } else if (sign * before.dG < 0.0 && sign * after.dG > 0.0 &&
                   turning_point(p, low, high, sign, &middle)) {
            root_between(p, low, middle, sign, 0.5 * (low + middle), count == 0 ? first : &root);
            count += 2;
        }
        bool straight = fabs(after.dG - before.dG) < 0.1 * fabs(before.dG);
        ratio = straight ? fmin(1.5 * ratio, 4.0) : 1.5;
        low = high;
        before = after;
    }
    return count;
}

// (Pn, P_t) of the first solution along n and the axes, in units of the speed over the unit of S; returns how
// many there are.
static int solve_smith(const Smith* p, double P[3]) {
    double q2 = p->q[0] * p->q[0] + p->q[1] * p->q[1];
    double kappa = p->mu * p->c0 * p->alpha / (p->alpha * p->alpha + q2);
    double coupling = p->mu * sqrt(p->omega[0] * p->omega[0] + p->omega[1] * p->omega[1]);
    double along = p->mu * (p->omega[0] * p->a[0] + p->omega[1] * p->a[1]);
    // grazing: no impulse is the first solution unless friction grows faster than what resists it
    bool nothing = !(p->mu > 0.0) || (!(p->c0 > 0.0) && along <= p->alpha);
    P[0] = p->c0;
    P[1] = P[2] = 0.0;
    if (nothing && coupling <= 1.0) return 1;
    Point at;
    int count = 1;
    if (coupling <= 1.0) {
        // weak coupling: G has never been seen to rise and fall again
        if (!root_between(p, 0.0, (double)INFINITY, 1.0, kappa, &at)) return 0;
    } else {
        // G > 0 below this, from |P_t| <= mu Pn and |b| <= 1
        double start = p->c0 > 0.0 ? 0.5 * p->mu * p->c0 * p->alpha / (1.0 + coupling) : 0x1p-20 * p->alpha;
        count = all_roots(p, start, &at);
    }
    if (nothing) return 1 + count;
    if (count == 0) return 0;
    P[0] = at.limit / p->mu;
    P[1] = at.P_t[0];
    P[2] = at.P_t[1];
    // along a blocked direction only the cone bounds the impulse, and infinite friction is no bound
    double size = fabs(P[0]) + fabs(P[1]) + fabs(P[2]);
    return size < LARGEST ? count : 0;
}

static crStatus apply_smith(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)error;
    if (cr__normal_blocked(c)) return cr__blocked_normal(c, hit);
    cr__Stage stage = cr__stage_closing(c, (1.0 + c->e) * c->V.x, c->V.y, c->V.z);
    double alpha = sqrt(c->V.y * c->V.y + c->V.z * c->V.z);
    double q = sqrt(stage.qy * stage.qy + stage.qz * stage.qz);
    double speed = fmax(alpha, q);
    if (!(alpha > SLIP_TOL * speed)) {
        cr__Solution all[CR__MAX_SOLUTIONS];
        hit->solutions = cr__coulomb_circle(&stage, all);
        if (hit->solutions == 0) return cr__no_solution(hit);
        hit->P = all[0].P;
        return CR_OK;
    }
    double axis[2];
    double unit;
    Smith p = smith_of(&stage, c, speed, axis, &unit);
    double P[3];
    hit->solutions = solve_smith(&p, P);
    if (hit->solutions == 0) return cr__no_solution(hit);
    double impulse = speed / unit;
    hit->P = cr_vec3(impulse * P[0], impulse * (axis[0] * P[1] - axis[1] * P[2]),
                     impulse * (axis[1] * P[1] + axis[0] * P[2]));
    return CR_OK;
}

const cr__LawKind cr__law_smith = {
    .order = 6,
    .apply = apply_smith,
    .info = {.name = "smith",
             .title = "Smith's law of averaged slip",
             .parameters = "e >= 0, mu >= 0",
             .guarantee = "permissible for e <= 1",
             .source = "Smith 1991",
             .dimension = 1,
             .spin_reversal = true,
             .grazing_tangential = true,
             .reads = CR_READS_MU_E},
};
