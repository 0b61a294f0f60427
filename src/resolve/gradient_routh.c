// gradient_routh.c - derivatives of Routh's law: variational equations along its path.
//
// The law is followed once; each step along curved slip is repeated in duals (gradient_routh_slip.c). From V_t = 0 on
// the path is straight and everything is a closed form. At the end of slip, V_t -> 0 along s, p across it: the normal
// impulse that is left is l(V_t) with  dl = (s.dV_t - (s.A p)/(p.A p) p.dV_t)/k,  k = mu s.A s - s.w  (from
// l' = -1 along the path and l homogeneous), and P_t gets -A^-1 (V_t + w l).
// Pieces: when slip stops (before the end of compression, after it, never) and whether it starts again then. A piece
// other than the law's own is the same path with two events exchanged that are next to each other.
// Surfaces: the order of these events; mu = |A^-1 w|; an extremum of Vn at zero (jam).
// Fails: false where slip starts again from V_t = 0 at the very start, where the path has no end, and beyond a jam.
#include "gradient_routh.h"

#define AGREES 1e-8  // of P: the path in duals ends where the law does

// e = 0: P grows by D per unit of e along the direction u, in which Vn grows at rate.
static void without_rebound(cr__RouthPath* p, const double u[3], double rate) {
    double x = p->d->ending == CR_ENDING_POISSON  ? p->P[0].v
               : p->d->ending == CR_ENDING_NEWTON ? -p->d->V[0].v / rate
                                                  : sqrt(fmax(0.0, -2.0 * p->work_c.v / rate));
    for (int i = 0; i < 3; i++) {
        p->P[i].d[CR_BY_E] += x * u[i];
    }
    p->ended = true;
}

static void restitute(cr__RouthPath* p) {
    const cr__Dual* e = &p->d->e;
    p->restituting = true;
    p->work_c = p->work;
    p->work = cr__dual(0.0);
    switch (p->d->ending) {
    case CR_ENDING_POISSON:
        p->goal = cr__times(cr__plus(cr__dual(1.0), *e), p->P[0]);
        break;
    case CR_ENDING_NEWTON:
        p->goal = cr__scaled(-1.0, cr__times(*e, p->d->V[0]));
        break;
    case CR_ENDING_ENERGETIC:
        p->goal = cr__scaled(-1.0, cr__times(cr__times(*e, *e), p->work_c));
        break;
    case CR_ENDINGS:
        break;
    }
}

static void turn_routh(cr__RouthPath* p) {
    if (!p->restituting) {
        restitute(p);
        return;
    }
    p->restituting = false;
    p->jam = true;
    p->work = cr__plus(p->work, p->work_c);
}

// Direction of the path in slip along s = V_t/|V_t|; dP = u dPn, dVn = rate dPn.
static double slip_direction(const cr__RouthPath* p, double sy, double sz, double u[3]) {
    const crContact* c = &p->d->c;
    u[0] = 1.0;
    u[1] = -p->d->mu.v * sy;
    u[2] = -p->d->mu.v * sz;
    return c->W.xx + c->W.xy * u[1] + c->W.xz * u[2];
}

static void watch_routh(void* ctx, double Q, double t, crRouthEvent event) {
    cr__RouthPath* p = ctx;
    if (p->halted || p->ended) return;
    cr__routh_slip_step(p, Q, t, event);
    int asked = p->piece & ~LEAVES;
    bool first = !p->restituting && event == CR_ROUTH_TURN;
    bool early = p->piece != CR__OWN_PIECE &&
                 ((first && asked == FIRST) || (event == CR_ROUTH_END && asked == MIDDLE));
    if (early) {
        p->halted = true;
    } else if (event == CR_ROUTH_TURN) {
        p->V[0].v = 0.0;
        double u[3];
        double rate = slip_direction(p, p->V[1].v / p->speed.v, p->V[2].v / p->speed.v, u);
        turn_routh(p);
        if (p->restituting && p->d->c.e == 0.0) without_rebound(p, u, rate);
    } else if (event == CR_ROUTH_END) {
        p->ended = true;
    }
}

// A^-1 (y, z)
static void solve_tangent(const cr__DualContact* d, cr__Dual y, cr__Dual z, cr__Dual r[2]) {
    cr__Dual det = cr__minus(cr__times(d->yy, d->zz), cr__times(d->yz, d->yz));
    r[0] = cr__over(cr__minus(cr__times(d->zz, y), cr__times(d->yz, z)), det);
    r[1] = cr__over(cr__minus(cr__times(d->yy, z), cr__times(d->yz, y)), det);
}

// Ends what is left of slip: next to nothing, but its derivatives count.
static void stop_slip(cr__RouthPath* p, double sy, double sz) {
    const cr__DualContact* d = p->d;
    const crSym3* W = &d->c.W;
    double mu = d->mu.v;
    double As_y = W->yy * sy + W->yz * sz, As_z = W->yz * sy + W->zz * sz;
    double k = mu * (sy * As_y + sz * As_z) - (W->xy * sy + W->xz * sz);
    double App = W->yy * sz * sz - 2.0 * W->yz * sy * sz + W->zz * sy * sy;
    double Asp = -sz * As_y + sy * As_z;
    cr__Dual left = cr__dual(0.0);
    bool slips = sy != 0.0 || sz != 0.0;
    if (slips && !(k > 0.0)) p->failed = true;
    if (slips) {
        double skew = Asp / App;
        left = cr__blend(p->V[1], (sy + skew * sz) / k, p->V[2], (sz - skew * sy) / k);
    }
    cr__Dual r[2];
    solve_tangent(d, cr__plus(p->V[1], cr__times(d->xy, left)), cr__plus(p->V[2], cr__times(d->xz, left)), r);
    p->work = cr__more(p->work, p->V[0].v, left);
    p->P[0] = cr__plus(p->P[0], left);
    p->P[1] = cr__minus(p->P[1], r[0]);
    p->P[2] = cr__minus(p->P[2], r[1]);
    cr__Dual gain =
        cr__minus(cr__times(d->xx, left), cr__plus(cr__times(d->xy, r[0]), cr__times(d->xz, r[1])));
    p->V[0] = cr__plus(p->V[0], gain);
    p->V[1] = p->V[2] = cr__dual(0.0);
}

// u = -A^-1 w, or -mu s with (kappa + mu A) s = w, |s| = 1
static bool from_rest(const cr__DualContact* d, bool leaves, cr__Dual u[3]) {
    u[0] = cr__dual(1.0);
    solve_tangent(d, cr__scaled(-1.0, d->xy), cr__scaled(-1.0, d->xz), u + 1);
    if (!leaves) return true;
    double uy, uz;
    double mu = d->mu.v;
    // asked for the other piece right beside the surface: the two directions agree there
    if (cr__routh_from_rest(&d->c.W, mu, &uy, &uz)) {
        double size = sqrt(uy * uy + uz * uz);
        uy *= mu / size;
        uz *= mu / size;
    }
    cr__Dual s[2] = {cr__variable(-uy / mu, CR__CLOSED_INPUTS),
                     cr__variable(-uz / mu, CR__CLOSED_INPUTS + 1)};
    cr__Dual As[2] = {cr__plus(cr__times(d->yy, s[0]), cr__times(d->yz, s[1])),
                      cr__plus(cr__times(d->yz, s[0]), cr__times(d->zz, s[1]))};
    double along = s[0].v * (d->xy.v - mu * As[0].v) + s[1].v * (d->xz.v - mu * As[1].v);
    cr__Dual kappa = cr__variable(along, CR__CLOSED_INPUTS + 2);
    cr__Dual F[3];
    cr__Unknowns X;
    for (int i = 0; i < 2; i++) {
        cr__Dual sum = cr__plus(cr__times(kappa, s[i]), cr__times(d->mu, As[i]));
        F[i] = cr__minus(sum, i == 0 ? d->xy : d->xz);
    }
    F[2] = cr__plus(cr__times(s[0], s[0]), cr__times(s[1], s[1]));
    if (!cr__solve_unknowns(3, F, &X)) return false;
    for (int i = 0; i < 2; i++) {
        cr__Dual direction = cr__dual(s[i].v);
        for (int j = 0; j < CR__CLOSED_INPUTS; j++) {
            direction.d[j] = X.by[i][j];
        }
        u[i + 1] = cr__scaled(-1.0, cr__times(d->mu, direction));
    }
    return true;
}

// Along u by the normal impulse x.
static void advance(cr__RouthPath* p, const cr__Dual u[3], cr__Dual rate, cr__Dual x) {
    cr__Dual mean = cr__more(p->V[0], 0.5, cr__times(rate, x));
    p->work = cr__plus(p->work, cr__times(x, mean));
    p->V[0] = cr__plus(p->V[0], cr__times(rate, x));
    for (int i = 0; i < 3; i++) {
        p->P[i] = cr__plus(p->P[i], cr__times(u[i], x));
    }
}

// Normal impulse to the end along a straight piece.
static cr__Dual to_goal(const cr__RouthPath* p, cr__Dual rate) {
    if (p->d->ending == CR_ENDING_POISSON) return cr__minus(p->goal, p->P[0]);
    if (p->d->ending == CR_ENDING_NEWTON) return cr__over(cr__minus(p->goal, p->V[0]), rate);
    cr__Dual missing = cr__minus(p->goal, p->work);
    if (p->V[0].v == 0.0 && missing.v == 0.0) return cr__dual(0.0);
    cr__Dual square = cr__plus(cr__times(p->V[0], p->V[0]), cr__scaled(2.0, cr__times(rate, missing)));
    if (!(square.v > 0.0)) return cr__dual((double)INFINITY);
    return cr__over(cr__scaled(2.0, missing), cr__plus(p->V[0], cr__root(square)));
}

static void straight(cr__RouthPath* p, const cr__Dual u[3], cr__Dual rate, bool forced) {
    const double plain[3] = {u[0].v, u[1].v, u[2].v};
    const double least = -1e-12 * p->P[0].v;  // two events at once, to rounding
    for (int i = 0; i < 4 && !p->ended && !p->failed; i++) {
        cr__Dual x = cr__scaled(-1.0, cr__over(p->V[0], rate));
        if (!p->restituting) {
            p->failed = !(rate.v > 0.0) || !(x.v >= least || forced);
            advance(p, u, rate, x);
            p->V[0] = cr__dual(0.0);
            turn_routh(p);
            if (p->d->c.e == 0.0) without_rebound(p, plain, rate.v);
            continue;
        }
        cr__Dual goal = to_goal(p, rate);
        bool falls = rate.v < 0.0 && x.v < goal.v;
        p->failed = falls || !isfinite(goal.v) || !(goal.v >= least || forced);
        advance(p, u, rate, goal);
        p->ended = true;
    }
}

// The event that comes next in slip, on the straight line that slip ends on; then back to where slip stops.
static void event_in_slip(cr__RouthPath* p, double sy, double sz, bool end) {
    double u[3];
    cr__Dual plain[3];
    cr__RouthPath slip = *p;
    double rate = slip_direction(p, sy, sz, u);
    for (int i = 0; i < 3; i++) {
        plain[i] = cr__dual(u[i]);
    }
    if (!p->restituting) {
        advance(&slip, plain, cr__dual(rate), cr__scaled(-1.0 / rate, slip.V[0]));
        slip.V[0] = cr__dual(0.0);
        turn_routh(&slip);
        p->restituting = true;
        p->goal = slip.goal;
        p->work_c = slip.work_c;
        p->work = cr__dual(0.0);
        if (p->d->c.e == 0.0) {
            without_rebound(&slip, u, rate);
            *p = slip;
        }
    }
    if (end && !p->ended) {
        advance(&slip, plain, cr__dual(rate), to_goal(&slip, cr__dual(rate)));
        slip.ended = true;
        *p = slip;
    }
}

// From V_t = 0 to the end. s is the direction that slip ended in.
static int finish_routh(cr__RouthPath* p, double sy, double sz) {
    const cr__DualContact* d = p->d;
    double uy, uz;
    bool sticks = cr__routh_from_rest(&d->c.W, d->mu.v, &uy, &uz);
    bool forced = p->piece != CR__OWN_PIECE;
    bool leaves = forced ? (p->piece & LEAVES) != 0 : !sticks;
    int when = p->restituting ? MIDDLE : FIRST;
    int asked = forced ? p->piece & ~LEAVES : when;
    cr__Dual u[3], hold[3];
    stop_slip(p, sy, sz);
    if ((sy == 0.0 && sz == 0.0 && leaves) || !from_rest(d, leaves, u) || !from_rest(d, false, hold)) {
        p->failed = true;
        return 0;
    }
    cr__Dual rate = cr__plus(d->xx, cr__plus(cr__times(d->xy, u[1]), cr__times(d->xz, u[2])));
    int own = when | (leaves ? LEAVES : 0);
    cr__Dual grip = cr__minus(d->mu, cr__length(hold[1], hold[2]));
    if (d->mu.v < CR_ROUTH_INFINITE_MU) {
        cr__routh_gauge(p, CR_SWITCH_STICK, own ^ LEAVES, cr__scaled(leaves ? -1.0 : 1.0, grip));
    }
    if (sy != 0.0 || sz != 0.0) {
        double plain[3];
        double before = slip_direction(p, sy, sz, plain);
        bool early = when == FIRST;
        cr__routh_gauge(p, CR_SWITCH_STICK, early ? own + MIDDLE : own - MIDDLE,
                        cr__scaled(early ? -1.0 : 1.0, p->V[0]));
        if (when == MIDDLE)
            cr__routh_gauge(p, CR_SWITCH_STICK, NEVER, cr__minus(p->goal, cr__routh_waited(p)));
        if (before * rate.v < 0.0) cr__routh_jam_gauge(p, p->V[0]);
    }
    if (asked > when) event_in_slip(p, sy, sz, asked == NEVER);
    if (!p->ended) straight(p, u, rate, forced);
    return own;
}

static bool agrees(const cr__RouthPath* p, const crRouth* r) {
    crVec3 off = cr_sub(r->P, cr_vec3(p->P[0].v, p->P[1].v, p->P[2].v));
    return r->ended && cr_norm(off) <= AGREES * (cr_norm(r->P) + cr_norm(r->c.V) / r->c.W.xx);
}

bool cr__piece_routh(const cr__DualContact* given, int piece, cr__Piece* out) {
    if (piece != CR__OWN_PIECE && (piece & JAMS)) return false;
    crRouth r;
    cr__routh_start(&r, &given->c, given->ending);
    cr__routh_follow(&r);
    crVec3 P = r.P;
    bool ended = r.ended;
    cr__routh_start(&r, &given->c, given->ending);
    cr__DualContact d = *given;
    d.mu.v = r.c.mu;
    if (isinf(given->c.mu)) d.mu = cr__dual(r.c.mu);
    // what rounding left of a plane grows where slip across it is unstable
    if (cr_contact_is_planar(&given->c)) d.xz.v = d.yz.v = d.V[2].v = 0.0;
    cr__RouthPath p = {.d = &d, .out = out, .piece = piece};
    for (int i = 0; i < 3; i++) {
        p.P[i] = cr__dual(0.0);
        p.V[i] = d.V[i];
    }
    r.curved = true;
    r.watch = watch_routh;
    r.watch_ctx = &p;
    double speed = sqrt(r.V.y * r.V.y + r.V.z * r.V.z);
    bool stopped = speed == 0.0 || cr__routh_slip(&r) || p.halted || (r.V.y == 0.0 && r.V.z == 0.0);
    if (!p.ended && !stopped) return false;
    if (!p.ended) {
        double left = sqrt(p.V[1].v * p.V[1].v + p.V[2].v * p.V[2].v);
        finish_routh(&p, speed > 0.0 ? p.V[1].v / left : 0.0, speed > 0.0 ? p.V[2].v / left : 0.0);
    } else {
        double uy, uz;
        bool sticks = cr__routh_from_rest(&r.c.W, r.c.mu, &uy, &uz);
        cr__routh_gauge(&p, CR_SWITCH_STICK, MIDDLE | (sticks ? 0 : LEAVES), p.speed);
    }
    r.P = P;
    r.ended = ended;
    if (p.failed || !p.ended || !agrees(&p, &r)) return false;
    // across a jam nothing is known of the other side
    for (int i = 0; p.jam && i < out->gauges; i++) {
        out->gauge[i].other = JAMS;
    }
    cr__piece_impulse(out, p.P, NULL);
    return true;
}
