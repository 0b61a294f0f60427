// verdict.c - whether an impulse is permissible: energy, penetration, tension and friction, each yes, no or cannot tell.
//
// Each margin is compared with a tolerance that the impulse itself cannot enlarge: energies with a share of what is
// available (E_av), velocities with a share of |V|, impulses with a share of |V| / lambda, lambda the trace of W. E_av is the
// largest of (Q.V)^2 / 2 Q.WQ over the directions Q = n, V, P and P_II, with the rounding of Q.WQ added below, so
// that it is never more than the energy that a contact impulse can take out. Rounding floors are of first order in W:
// 16 eps (|P|.|V| + (sum s_i |P_i|)^2 / 2) for the energy, 16 eps (|V_n| + s_n sum s_i |P_i|) for the velocity, s_i =
// sqrt(W_ii). The impulse enters floors only.
// Fails: never; an impulse that is not finite is not permissible.
#include "carom/region.h"

#define EPS       0x1p-52
#define UNDERFLOW 0x1p-1018  // what products may lose below the smallest normal number

// infinite friction: the cone is the half-space n.P >= 0
static double cone_limit(double mu, double Pn) {
    if (!isinf(mu)) return mu * Pn;
    return Pn >= 0.0 ? mu : 0.0;
}

// s_x |x| + s_y |y| + s_z |z|
static double pull(const crContact* c, crVec3 P) {
    return sqrt(c->W.xx) * fabs(P.x) + sqrt(c->W.yy) * fabs(P.y) + sqrt(c->W.zz) * fabs(P.z);
}

// energy that impulses along Q can take out
static double along(const crContact* c, crVec3 Q) {
    double work = cr_dot(Q, c->V), s = pull(c, Q), stiff = cr_sym3_quad(c->W, Q) + 16.0 * EPS * s * s;
    if (!(stiff > 0.0) || !isfinite(stiff)) return 0.0;
    return 0.5 * work * (work / stiff);
}

static double available(const crContact* c, crVec3 P) {
    double best = fmax(along(c, cr_vec3(1, 0, 0)), fmax(along(c, c->V), along(c, P)));
    crVec3 stop;
    if (cr_impulse_P_II(c, &stop)) best = fmax(best, along(c, stop));
    return best;
}

// a margin is at least minus its tolerance
static crTruth holds(double margin, double floor, double tolerance) {
    return cr_truth_at_most(-margin, floor, tolerance);
}

crVerdict cr_impulse_verdict(const crContact* c, crVec3 P, double tol) {
    if (c == NULL) return (crVerdict){0};
    crVerdict o;
    crVec3 WP = cr_sym3_mul(c->W, P);
    double tangential = sqrt(P.y * P.y + P.z * P.z), size = cr_norm(P), speed = cr_norm(c->V);
    double lambda = c->W.xx + c->W.yy + c->W.zz, s = pull(c, P);
    double friction = isinf(c->mu) ? 1.0 : 1.0 + c->mu;
    o.V_plus = cr_add(c->V, WP);
    o.energy_change = cr_dot(P, c->V) + 0.5 * cr_dot(P, WP);
    o.margins.energy = -o.energy_change;
    o.margins.penetration = o.V_plus.x;
    o.margins.tension = P.x;
    o.margins.cone = cone_limit(c->mu, P.x) - tangential;
    o.floor.energy =
        16.0 * EPS * (fabs(P.x * c->V.x) + fabs(P.y * c->V.y) + fabs(P.z * c->V.z) + 0.5 * s * s) + UNDERFLOW;
    o.floor.penetration = 16.0 * EPS * (fabs(c->V.x) + sqrt(c->W.xx) * s);
    o.floor.tension = 4.0 * EPS * size;
    o.floor.cone = isinf(c->mu) ? 0.0 : 16.0 * EPS * friction * size;
    o.energy_available = available(c, P);
    o.allowed.energy = tol * o.energy_available;
    o.allowed.penetration = tol * speed;
    o.allowed.tension = lambda > 0.0 ? tol * speed / lambda : 0.0;
    o.allowed.cone = friction * o.allowed.tension;
    // rounding moves margins at zero impulse by nothing
    if (P.x == 0.0 && P.y == 0.0 && P.z == 0.0) o.floor = (crMargins){0.0, 0.0, 0.0, 0.0};
    crTruth energy = holds(o.margins.energy, o.floor.energy, o.allowed.energy);
    // at infinite friction the cone asks no more than no tension
    crTruth cone = isinf(c->mu) ? CR_TRUTH_YES : holds(o.margins.cone, o.floor.cone, o.allowed.cone);
    crTruth shut = holds(o.margins.penetration, o.floor.penetration, o.allowed.penetration);
    crTruth pushes = holds(o.margins.tension, o.floor.tension, o.allowed.tension);
    o.verdict = cr_truth_and(cr_truth_and(energy, shut), cr_truth_and(pushes, cone));
    if (!isfinite(o.energy_change + size)) o.verdict = CR_TRUTH_NO;
    o.creates_energy = energy == CR_TRUTH_NO;
    o.permissible = o.verdict == CR_TRUTH_YES;
    return o;
}

crMargins cr_impulse_margins(const crContact* c, crVec3 P) {
    if (c == NULL) return (crMargins){0};
    return cr_impulse_verdict(c, P, CR_PERMISSIBLE_TOL).margins;
}
