// law_routh.c - Routh's law: the contact followed through the impact.
//
// As the normal impulse Pn grows, V = V(0) + W P and Coulomb's friction acts at every moment:
//     slip, V_t != 0:  dP_t = -mu V_t/|V_t| dPn
//     stick, V_t = 0:  dP_t = -A^-1 w dPn  where |A^-1 w| <= mu   (w = W_tn, A = W_tt)
//     otherwise slip starts again along the s with (kappa 1 + mu A) s = w, |s| = 1, kappa > 0,
// and it stays on that s, so after V_t = 0 the path is one straight piece. Before it, it is straight in
// planar contacts and wherever dV_t is along V_t, else curved (routh_slip.c). Endings: routh_piece.c.
// mu = infinity is computed as mu = 2^60, the same to rounding: V_t dies while Pn is still next to nothing.
// Source: Routh 1897; Chatterjee and Ruina 1998, section 4.2.1, eq. 7; Stronge 1990 for the energetic ending.
// Holds: permissible with the poisson and energetic endings for e <= 1; the newton ending may create energy.
// Fails: Vn never reaches what the ending asks for (a blocked direction): no-solution.
#include "resolve/kinds.h"
#include "resolve/law.h"
#include "resolve/routh.h"

#define TOL 1e-15

void cr__routh_start(crRouth* r, const crContact* c, crEnding ending) {
    *r = (crRouth){.c = *c, .ending = ending, .tol = TOL, .V = c->V, .per_step = 1, .stride = 1};
    r->c.mu = fmin(c->mu, CR_ROUTH_INFINITE_MU);
    if (cr_contact_is_planar(c)) r->c.W.xz = r->c.W.yz = r->c.V.z = r->V.z = 0.0;
}

// A and w in the eigenvectors of A: A = a1 e1 e1^T + a2 e2 e2^T, a1 >= a2, with e1 = (cy, cz).
typedef struct Tangent {
    double a1, a2, w1, w2, cy, cz;
} Tangent;

static Tangent tangent_of(const crSym3* W) {
    double half = 0.5 * (W->yy - W->zz);
    double radius = sqrt(half * half + W->yz * W->yz);
    Tangent t = {.cy = 1.0};
    if (radius > 0.0) {
        // the larger of the two forms of the eigenvector, so that nothing cancels
        double y = half >= 0.0 ? half + radius : W->yz;
        double z = half >= 0.0 ? W->yz : radius - half;
        double length = sqrt(y * y + z * z);
        t.cy = y / length;
        t.cz = z / length;
    }
    t.a1 = 0.5 * (W->yy + W->zz) + radius;
    t.a2 = t.a1 > 0.0 ? fmax(0.0, (W->yy * W->zz - W->yz * W->yz) / t.a1) : 0.0;
    t.w1 = t.cy * W->xy + t.cz * W->xz;
    t.w2 = t.cy * W->xz - t.cz * W->xy;
    // where W blocks a direction it does not couple it to n either
    double rounding = cr__W_rounding(W);
    if (!(t.a1 > rounding)) t.a1 = t.w1 = 0.0;
    if (!(t.a2 > rounding)) t.a2 = t.w2 = 0.0;
    return t;
}

// kappa > 0 with |(kappa 1 + mu A)^-1 w| = 1, by Newton's method on 1/|s|, which rises to it from the left.
static double slip_rate(const Tangent* t, double mu) {
    double kappa = 0.0;
    if (!(t->a2 > 0.0)) return fmax(0.0, fabs(t->w1) - mu * t->a1);
    for (int i = 0; i < 100; i++) {
        double d1 = kappa + mu * t->a1;
        double d2 = kappa + mu * t->a2;
        double s1 = t->w1 / d1;
        double s2 = t->w2 / d2;
        double square = s1 * s1 + s2 * s2;
        double next = kappa + (sqrt(square) - 1.0) * square / (s1 * s1 / d1 + s2 * s2 / d2);
        if (!(next > kappa * (1.0 + 1e-16))) break;
        kappa = next;
    }
    return kappa;
}

// The direction of the path from V_t = 0 on, in the axes of t; true where it sticks.
static bool direction_from_rest(const Tangent* t, double mu, double* u1, double* u2) {
    *u1 = t->a1 > 0.0 ? -t->w1 / t->a1 : 0.0;
    *u2 = t->a2 > 0.0 ? -t->w2 / t->a2 : 0.0;
    if (!(*u1 * *u1 + *u2 * *u2 > mu * mu)) return true;
    double kappa = slip_rate(t, mu);
    double s1 = t->w1 / (kappa + mu * t->a1);
    double s2 = t->a2 > 0.0 ? t->w2 / (kappa + mu * t->a2) : 0.0;
    double length = sqrt(s1 * s1 + s2 * s2);
    *u1 = -mu * s1 / length;
    *u2 = -mu * s2 / length;
    return false;
}

bool cr__routh_from_rest(const crSym3* W, double mu, double* uy, double* uz) {
    Tangent t = tangent_of(W);
    double u1, u2;
    bool sticks = direction_from_rest(&t, mu, &u1, &u2);
    *uy = t.cy * u1 - t.cz * u2;
    *uz = t.cz * u1 + t.cy * u2;
    return sticks;
}

// From V_t = 0 to the end.
static void stick_or_leave(crRouth* r) {
    Tangent t = tangent_of(&r->c.W);
    double u1, u2;
    direction_from_rest(&t, r->c.mu, &u1, &u2);
    double rate = r->c.W.xx + t.w1 * u1 + t.w2 * u2;
    // what rounding of W is worth in it
    double reach = 1.0 + fabs(u1) + fabs(u2);
    if (!(rate > cr__W_rounding(&r->c.W) * (reach * reach))) {
        // nothing moves any more: Vn is zero, or stays what it is for ever
        rate = 0.0;
        if (fabs(r->V.x) <= cr__routh_rest(r)) r->V.x = 0.0;
    }
    cr__routh_straight(r, INFINITY, rate, t.cy * u1 - t.cz * u2, t.cz * u1 + t.cy * u2);
}

void cr__routh_follow(crRouth* r) {
    const crSym3* W = &r->c.W;
    double mu = r->c.mu;
    cr__routh_record(r, r->P);
    double speed = sqrt(r->V.y * r->V.y + r->V.z * r->V.z);
    if (mu == 0.0 || (speed > 0.0 && W->yy + W->zz == 0.0)) {
        // friction is absent, or cannot change the slip
        double f = speed > 0.0 ? -mu / speed : 0.0;
        cr__routh_straight(r, INFINITY, W->xx, f * r->V.y, f * r->V.z);
    } else if (speed == 0.0 || cr__routh_slip(r)) {
        stick_or_leave(r);
    }
}

static crStatus ending_of(const crLawParams* params, crEnding* ending, crError* error) {
    *ending = params != NULL ? params->ending : cr_law_params().ending;
    if ((unsigned)*ending <= CR_ENDING_ENERGETIC) return CR_OK;
    return cr_error_set(error, CR_ERR_RANGE, "ending", "ending: is %d, must be poisson, newton or energetic",
                        (int)*ending);
}

static crStatus apply_routh(const void* params, const crContact* c, crHit* hit, crError* error) {
    crEnding ending;
    crStatus status = ending_of(params, &ending, error);
    if (status != CR_OK) return status;
    crRouth r;
    cr__routh_start(&r, c, ending);
    cr__routh_follow(&r);
    if (!r.ended) return cr__no_solution(hit);
    hit->P = r.P;
    if (r.jam) hit->regime = CR_REGIME_JAM;
    return CR_OK;
}

static const char* const names[CR_ENDINGS] = {"routh", "routh-newton", "routh-energetic"};

const cr__LawKind cr__law_routh = {
    .order = 4,
    .apply = apply_routh,
    .info = {.name = "routh",
             .title = "Routh's incremental law",
             .parameters = "e in [0, 1], mu >= 0, ending poisson | newton | energetic",
             .guarantee = "permissible for endings poisson and energetic unless jammed",
             .source = "Routh 1897; Stronge 1990; Bhatt and Koechling 1995",
             .dimension = 1,
             .may_create_energy = true,
             .spin_non_reversal = true,
             .grazing_normal = true,
             .reads = CR_READS_MU_E,
             .endings = names},
};

int cr_routh_path(const crContact* c, const crLawParams* params, int capacity, crVec3* P) {
    crEnding ending;
    if (c == NULL || P == NULL || capacity < 2) return CR_ERR_ARGUMENT;
    crStatus status = ending_of(params, &ending, NULL);
    if (status != CR_OK) return (int)status;
    P[0] = cr_vec3(0, 0, 0);
    if (c->V.x > 0.0) return 1;
    // once to count the steps, once more to write them
    crRouth r;
    cr__routh_start(&r, c, ending);
    cr__routh_follow(&r);
    if (!r.ended) return 0;
    const int events = 8;
    int room = capacity > 2 * events ? capacity - events : capacity / 2;
    int steps = r.steps;
    cr__routh_start(&r, c, ending);
    r.points = P;
    r.capacity = capacity;
    if (steps > room) {
        r.stride = (steps + room - 1) / room;
    } else if (steps > 0) {
        r.per_step = room / steps < 16 ? room / steps : 16;
    }
    cr__routh_follow(&r);
    return r.count;
}
