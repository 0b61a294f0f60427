// gradient_compliant.c - derivatives of the compliant law: variational equations along its motion.
//
// The law is followed once; each of its steps (compliant_step.c) is solved again in duals, of the same length and by
// the same formula, so that the derivative part is the variational equation of the springs. An event g = 0 moves by
// dt = -dg/g', which is added at the end of its step. Forces are continuous at events, so P has one derivative there:
// the order of stick, slip, loading and unloading is no switch. Derivatives across a plane in which the motion stays turn faster
// than the motion itself: a step that is too long for them is halved. Where the force is smallest and not zero, the bodies
// nearly part: that is one.
// Fails: false where a step cannot be solved. At e = 0 the derivative by e is left to differences.
#include "compliant.h"
#include "gradient.h"

#define STAGES      CR_COMPLIANT_STAGES
#define SWEEPS      120
#define CONVERGED   1e-15  // of the largest force or derivative in its column
#define INFINITE_MU 0x1p60
#define GRAZING     1e-12
#define AGREES      1e-8
#define ROUGH       1e-10  // share of a column that may be beyond the polynomial of a step
#define HALVES      8      // times that a step is halved at most
#define LAST_STEPS  5      // steps towards f = 0 beyond those of the law, each to about 0.15 of the force

typedef struct Springs {
    cr__Dual f, gy, gz, dy, dz, P[3], V[3];
} Springs;

typedef struct Motion {
    const cr__DualContact* d;
    cr__Piece* out;
    Springs now;
    cr__Dual kappa, f_max;
    bool failed, ended;
} Motion;

typedef struct Nodes {
    cr__Dual F[3][STAGES];  // f, gy, gz
    cr__Dual dy[STAGES], dz[STAGES], psi_rate[STAGES];
    cr__Dual P[3][STAGES], V[3][STAGES];
} Nodes;

static cr__Dual integrate_compliant(const cr__Dual* rates, int row) {
    cr__Dual sum = cr__scaled(cr__compliant_weight[row][0], rates[0]);
    for (int k = 1; k < STAGES; k++) {
        sum = cr__more(sum, cr__compliant_weight[row][k], rates[k]);
    }
    return sum;
}

static const cr__Dual* entry(const cr__DualContact* d, int i, int j) {
    const cr__Dual* W[3][3] = {{&d->xx, &d->xy, &d->xz}, {&d->xy, &d->yy, &d->yz}, {&d->xz, &d->yz, &d->zz}};
    return W[i][j];
}

static void velocities_compliant(const Motion* m, double h, Nodes* n) {
    for (int i = 0; i < STAGES; i++) {
        cr__Dual dP[3];
        for (int k = 0; k < 3; k++) {
            dP[k] = cr__scaled(h, integrate_compliant(n->F[k], i));
            n->P[k][i] = cr__plus(m->now.P[k], dP[k]);
        }
        for (int k = 0; k < 3; k++) {
            n->V[k][i] = m->now.V[k];
            for (int j = 0; j < 3; j++) {
                n->V[k][i] = cr__plus(n->V[k][i], cr__times(*entry(m->d, k, j), dP[j]));
            }
        }
    }
}

// x = J^-1 b for a matrix of plain numbers, b in place
static bool solve_compliant(double J[STAGES][STAGES], cr__Dual b[STAGES]) {
    for (int i = 0; i < STAGES; i++) {
        int pivot = i;
        for (int k = i + 1; k < STAGES; k++) {
            if (fabs(J[k][i]) > fabs(J[pivot][i])) pivot = k;
        }
        if (!(fabs(J[pivot][i]) > 0.0)) return false;
        for (int j = i; j < STAGES && pivot != i; j++) {
            double swap = J[i][j];
            J[i][j] = J[pivot][j];
            J[pivot][j] = swap;
        }
        cr__Dual swap = b[i];
        b[i] = b[pivot];
        b[pivot] = swap;
        for (int k = i + 1; k < STAGES; k++) {
            double share = J[k][i] / J[i][i];
            for (int j = i + 1; j < STAGES; j++) {
                J[k][j] -= share * J[i][j];
            }
            b[k] = cr__more(b[k], -share, b[i]);
        }
    }
    for (int i = STAGES - 1; i >= 0; i--) {
        for (int j = i + 1; j < STAGES; j++) {
            b[i] = cr__more(b[i], -J[i][j], b[j]);
        }
        b[i] = cr__scaled(1.0 / J[i][i], b[i]);
    }
    return true;
}

// One Newton step for the direction of slip: eta2 mu f psi' = d x V_t. The matrix needs no derivatives: at the
// solution they are multiplied by zero.
static bool turn_compliant(const Motion* m, double h, Nodes* n) {
    double J[STAGES][STAGES];
    cr__Dual b[STAGES];
    cr__Dual slowness = cr__scaled(1.0 / h, cr__times(m->d->eta2, m->d->mu));
    for (int i = 0; i < STAGES; i++) {
        cr__Dual cross = cr__minus(cr__times(n->dy[i], n->V[2][i]), cr__times(n->dz[i], n->V[1][i]));
        cr__Dual slow = cr__times(slowness, n->F[0][i]);
        double along = n->dy[i].v * n->V[1][i].v + n->dz[i].v * n->V[2][i].v;
        b[i] = cr__minus(cross, cr__times(slow, n->psi_rate[i]));
        for (int k = 0; k < STAGES; k++) {
            J[i][k] = along * cr__compliant_weight[i][k];
        }
        J[i][i] += slow.v;
    }
    if (!solve_compliant(J, b)) return false;
    for (int i = 0; i < STAGES; i++) {
        n->psi_rate[i] = cr__plus(n->psi_rate[i], b[i]);
    }
    for (int i = 0; i < STAGES; i++) {
        cr__Dual psi = integrate_compliant(n->psi_rate, i);
        double s, c;
        cr_sincos(psi.v, &s, &c);
        cr__Dual sine = cr__scaled(c, psi), cosine = cr__scaled(-s, psi);
        sine.v = s;
        cosine.v = c;
        n->dy[i] = cr__minus(cr__times(cosine, m->now.dy), cr__times(sine, m->now.dz));
        n->dz[i] = cr__plus(cr__times(sine, m->now.dy), cr__times(cosine, m->now.dz));
    }
    return true;
}

// Largest change of forces, of each column over its size.
static double forces_compliant(const Motion* m, bool slips, double h, Nodes* n) {
    cr__Dual rate[3][STAGES];
    double change[CR__COLUMNS + 1] = {0}, size[CR__COLUMNS + 1] = {0};
    for (int i = 0; i < STAGES; i++) {
        rate[0][i] = cr__scaled(-1.0, cr__times(m->kappa, n->V[0][i]));
        rate[1][i] = cr__scaled(-1.0, cr__over(n->V[1][i], m->d->eta2));
        rate[2][i] = cr__scaled(-1.0, cr__over(n->V[2][i], m->d->eta2));
    }
    const cr__Dual* start[3] = {&m->now.f, &m->now.gy, &m->now.gz};
    for (int i = 0; i < STAGES; i++) {
        for (int k = 0; k < 3; k++) {
            cr__Dual F = cr__more(*start[k], h, integrate_compliant(rate[k], i));
            if (k > 0 && slips) {
                cr__Dual limit = cr__times(m->d->mu, n->F[0][i]);
                F = cr__scaled(-1.0, cr__times(limit, k == 1 ? n->dy[i] : n->dz[i]));
            }
            for (int j = 0; j <= CR__COLUMNS; j++) {
                double now = j < CR__COLUMNS ? F.d[j] : F.v;
                double before = j < CR__COLUMNS ? n->F[k][i].d[j] : n->F[k][i].v;
                change[j] = fmax(change[j], fabs(now - before));
                size[j] = fmax(size[j], fabs(now));
            }
            n->F[k][i] = F;
        }
    }
    double worst = 0.0;
    for (int j = 0; j <= CR__COLUMNS; j++) {
        if (size[j] > 0.0) worst = fmax(worst, change[j] / size[j]);
    }
    return worst;
}

// Share of the columns of forces that lies beyond the polynomials through the nodes.
static double roughness_of_columns(const Motion* m, const Nodes* n) {
    const cr__Dual* start[3] = {&m->now.f, &m->now.gy, &m->now.gz};
    double worst = 0.0;
    for (int j = 0; j < CR__COLUMNS; j++) {
        double beyond = 0.0, size = 0.0;
        for (int k = 0; k < 3; k++) {
            double sum = cr__compliant_highest[0] * start[k]->d[j];
            size = fmax(size, fabs(start[k]->d[j]));
            for (int i = 0; i < STAGES; i++) {
                sum += cr__compliant_highest[i + 1] * n->F[k][i].d[j];
                size = fmax(size, fabs(n->F[k][i].d[j]));
            }
            beyond = fmax(beyond, fabs(sum));
        }
        if (size > 0.0) worst = fmax(worst, beyond / size);
    }
    return worst;
}

// Forces and velocities at the nodes of a step; false where the sweeps do not settle.
static bool find_nodes(const Motion* m, bool slips, double h, Nodes* nodes) {
    Nodes n;
    const Springs* now = &m->now;
    for (int i = 0; i < STAGES; i++) {
        n.F[0][i] = now->f;
        n.F[1][i] = now->gy;
        n.F[2][i] = now->gz;
        n.dy[i] = now->dy;
        n.dz[i] = now->dz;
        n.psi_rate[i] = cr__dual(0.0);
    }
    double change = INFINITY, last = INFINITY;
    // rounding ends the sweeps: changes that are small and no longer fall
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        velocities_compliant(m, h, &n);
        if (slips && !turn_compliant(m, h, &n)) return false;
        change = forces_compliant(m, slips, h, &n);
        if (!isfinite(change)) return false;
        if (change <= CONVERGED || (change <= 1e-11 && change >= last)) break;
        last = change;
    }
    *nodes = n;
    return change <= 1e-10;
}

// The motion over a time h, halved so many times at most; false where the sweeps do not settle.
static bool move(Motion* m, bool slips, double h, int halves) {
    Nodes n;
    if (!find_nodes(m, slips, h, &n)) return false;
    if (halves > 0 && roughness_of_columns(m, &n) > ROUGH) {
        Springs before = m->now;
        if (move(m, slips, 0.5 * h, halves - 1) && move(m, slips, 0.5 * h, halves - 1)) return true;
        m->now = before;
    }
    const int end = STAGES - 1;
    m->now.f = n.F[0][end];
    m->now.gy = n.F[1][end];
    m->now.gz = n.F[2][end];
    if (slips) {
        m->now.dy = n.dy[end];
        m->now.dz = n.dz[end];
    }
    for (int k = 0; k < 3; k++) {
        m->now.P[k] = n.P[k][end];
        m->now.V[k] = n.V[k][end];
    }
    return true;
}

// How fast everything moves now; plain numbers are enough for the shift of an event.
typedef struct Speeds {
    double f, gy, gz, dy, dz, V[3];
} Speeds;

static Speeds speeds_of(const Motion* m, bool slips) {
    const Springs* s = &m->now;
    const double F[3] = {s->f.v, s->gy.v, s->gz.v};
    Speeds r = {.f = -m->kappa.v * s->V[0].v};
    double eta2 = m->d->eta2.v, mu = m->d->mu.v;
    for (int i = 0; i < 3; i++) {
        r.V[i] = entry(m->d, i, 0)->v * F[0] + entry(m->d, i, 1)->v * F[1] + entry(m->d, i, 2)->v * F[2];
    }
    r.gy = -s->V[1].v / eta2;
    r.gz = -s->V[2].v / eta2;
    if (!slips) return r;
    double cross = s->dy.v * s->V[2].v - s->dz.v * s->V[1].v;
    double psi = cross != 0.0 ? cross / (eta2 * mu * s->f.v) : 0.0;
    r.dy = -psi * s->dz.v;
    r.dz = psi * s->dy.v;
    r.gy = -mu * (r.f * s->dy.v + s->f.v * r.dy);
    r.gz = -mu * (r.f * s->dz.v + s->f.v * r.dz);
    return r;
}

// The function whose zero is the event, and how fast it changes.
static cr__Dual gauge_of(const Motion* m, crCompliantEvent event, const Speeds* r, double* rate) {
    const Springs* s = &m->now;
    const cr__DualContact* d = m->d;
    if (event == CR_COMPLIANT_SLIDE) {
        cr__Dual g = cr__length(s->gy, s->gz);
        *rate = (s->gy.v * r->gy + s->gz.v * r->gz) / g.v - d->mu.v * r->f;
        return cr__minus(g, cr__times(d->mu, s->f));
    }
    if (event == CR_COMPLIANT_HOLD) {
        cr__Dual slack = cr__times(cr__times(d->mu, d->eta2), m->kappa);
        *rate =
            r->dy * s->V[1].v + s->dy.v * r->V[1] + r->dz * s->V[2].v + s->dz.v * r->V[2] + slack.v * r->V[0];
        cr__Dual along = cr__plus(cr__times(s->dy, s->V[1]), cr__times(s->dz, s->V[2]));
        return cr__plus(along, cr__times(slack, s->V[0]));
    }
    if (event == CR_COMPLIANT_TURN) {
        *rate = r->V[0];
        return s->V[0];
    }
    *rate = r->f;
    return event == CR_COMPLIANT_RELOAD ? cr__minus(s->f, m->f_max) : s->f;
}

static void shift_event(Motion* m, bool slips, crCompliantEvent event) {
    Springs* s = &m->now;
    Speeds r = speeds_of(m, slips);
    double rate;
    cr__Dual dt = gauge_of(m, event, &r, &rate);
    if (!(fabs(rate) > 0.0)) {
        m->failed = true;
        return;
    }
    dt = cr__scaled(-1.0 / rate, dt);
    dt.v = 0.0;
    const double P[3] = {s->f.v, s->gy.v, s->gz.v};
    for (int i = 0; i < 3; i++) {
        s->P[i] = cr__more(s->P[i], P[i], dt);
        s->V[i] = cr__more(s->V[i], r.V[i], dt);
    }
    s->f = cr__more(s->f, r.f, dt);
    s->gy = cr__more(s->gy, r.gy, dt);
    s->gz = cr__more(s->gz, r.gz, dt);
    s->dy = cr__more(s->dy, r.dy, dt);
    s->dz = cr__more(s->dz, r.dz, dt);
}

static void pass(Motion* m, crCompliantEvent event) {
    Springs* s = &m->now;
    const cr__DualContact* d = m->d;
    if (event == CR_COMPLIANT_SLIDE) {
        cr__Dual g = cr__length(s->gy, s->gz);
        s->dy = cr__scaled(-1.0, cr__over(s->gy, g));
        s->dz = cr__scaled(-1.0, cr__over(s->gz, g));
        if (d->mu.v > 1.0) s->f = cr__over(g, d->mu);
    } else if (event == CR_COMPLIANT_TURN) {
        m->f_max = s->f;
        m->ended = d->c.e == 0.0;
        if (!m->ended) m->kappa = cr__over(cr__dual(1.0), cr__times(d->e, d->e));
        s->V[0] = cr__dual(0.0);
    } else if (event == CR_COMPLIANT_RELOAD) {
        m->kappa = cr__dual(1.0);
    } else if (event == CR_COMPLIANT_CLOSE) {
        m->ended = true;
    }
}

// Follows a patch that slips closer to f = 0 than the law does. Slip turns in a power of the time left: P hardly notices, but the
// derivatives of a small power are large.
static void approach_zero(Motion* m) {
    const Springs* s = &m->now;
    for (int i = 0; i < LAST_STEPS && s->f.v > 0.0 && s->V[0].v > 0.0; i++) {
        if (!move(m, true, 0.85 * s->f.v / (m->kappa.v * s->V[0].v), HALVES)) return;
    }
}

// The last of the motion when f is about to be zero, as in law_compliant.c.
static void close_up(Motion* m) {
    Springs* s = &m->now;
    cr__Dual left = cr__over(s->f, cr__times(m->kappa, s->V[0]));
    cr__Dual g = cr__length(s->gy, s->gz);
    s->P[0] = cr__more(s->P[0], 0.5, cr__times(left, s->f));
    m->ended = true;
    if (!(g.v > 0.0)) return;
    cr__Dual ratio = cr__over(g, cr__times(m->d->mu, s->f));
    if (!(ratio.v < 1.0)) ratio = cr__dual(1.0);
    cr__Dual share = cr__more(left, -0.5, cr__times(left, ratio));
    s->P[1] = cr__plus(s->P[1], cr__times(share, s->gy));
    s->P[2] = cr__plus(s->P[2], cr__times(share, s->gz));
}

static void watch(void* ctx, const crCompliant* s, double h, crCompliantEvent event) {
    Motion* m = ctx;
    if (m->failed) return;
    if (h == 0.0 && event == CR_COMPLIANT_CLOSE) {
        if (s->slips) approach_zero(m);
        close_up(m);
        return;
    }
    bool parting = s->unloading && m->now.V[0].v > 0.0;
    m->failed = !move(m, s->slips, h, HALVES);
    if (m->failed || event == CR_COMPLIANT_NONE) {
        bool nearly = parting && m->now.V[0].v < 0.0 && m->out->gauges < CR__MAX_GAUGES - 3;
        if (nearly) cr__piece_gauge(m->out, CR_SWITCH_OPEN, 1, &m->now.f, NULL);
        return;
    }
    shift_event(m, s->slips, event);
    pass(m, event);
}

static void start(const cr__DualContact* d, Motion* m) {
    Springs* s = &m->now;
    cr__Dual speed = cr__length(d->V[1], d->V[2]);
    s->f = s->gy = s->gz = s->dy = s->dz = cr__dual(0.0);
    for (int i = 0; i < 3; i++) {
        s->P[i] = cr__dual(0.0);
        s->V[i] = d->V[i];
    }
    if (speed.v > 0.0) {
        s->dy = cr__over(d->V[1], speed);
        s->dz = cr__over(d->V[2], speed);
    }
    if (d->V[0].v == 0.0) s->V[0].v = -GRAZING * speed.v;
    m->kappa = cr__dual(1.0);
}

bool cr__piece_compliant(const cr__DualContact* given, int piece, cr__Piece* out) {
    if (piece != CR__OWN_PIECE) return false;
    cr__DualContact d = *given;
    d.mu.v = fmin(d.mu.v, INFINITE_MU);
    if (isinf(given->c.mu)) d.mu = cr__dual(INFINITE_MU);
    if (cr_contact_is_planar(&given->c)) d.xz.v = d.yz.v = d.V[2].v = 0.0;
    Motion m = {.d = &d, .out = out};
    start(&d, &m);
    crCompliant s;
    cr__compliant_start(&s, &given->c, d.eta2.v);
    // grazing: the bodies part at once, or friction throws them
    if (s.ended || given->c.V.x == 0.0) return false;
    s.watch = watch;
    s.watch_ctx = &m;
    cr__compliant_follow(&s);
    crVec3 off = cr_sub(s.now.P, cr_vec3(m.now.P[0].v, m.now.P[1].v, m.now.P[2].v));
    bool same = cr_norm(off) <= AGREES * cr_norm(s.now.P);
    if (m.failed || !m.ended || !s.ended || !same) return false;
    cr__piece_impulse(out, m.now.P, NULL);
    out->differenced[CR_BY_E] = given->c.e == 0.0;
    return true;
}
