// gradient_stage.c - derivatives of the laws that are equations: whittaker, smith, anitescu-potra,
// pfeiffer-glocker.
//
// The law finds the impulse x; its own equations F(x, input) = 0 in the piece asked for give dx = -(dF/dx)^-1 dF
// (implicit function theorem). Friction f under the normal impulse N against the final slip u:
//     stick   u = 0                        surface: |f| = mu N
//     slip    |f| = mu N,  u x f = 0       surface: u = 0          (where u is small)
//             f |u| + mu N u = 0           the same                (where f is small)
// Pieces are bit masks of the flags below. Fails: false where dF/dx is singular: two solutions meet there.
#include "gradient.h"
#include "two_stage.h"

enum {
    SLIPS_1 = 1,
    SLIPS_2 = 2,
    CLOSES = 4
};  // CLOSES: the second stage ends at Vn+ = 0, not at Pn2 = e Pn1

#define SINGULAR 1e-12  // of the largest entry of a row: a pivot up to this is zero
#define ON_CONE  1e-13  // of mu N: a margin up to this is slip

// X = -(dF/dx)^-1 dF/dinput by elimination with pivots.
bool cr__solve_unknowns(int n, const cr__Dual* F, cr__Unknowns* X) {
    double A[CR__UNKNOWNS][CR__COLUMNS];
    for (int i = 0; i < n; i++) {
        double largest = 0.0;
        for (int j = 0; j < n; j++) {
            largest = fmax(largest, fabs(F[i].d[CR__CLOSED_INPUTS + j]));
        }
        if (!(largest > 0.0 && isfinite(largest))) return false;
        for (int j = 0; j < CR__COLUMNS; j++) {
            A[i][j] = F[i].d[j] / largest;
        }
    }
    for (int p = 0; p < n; p++) {
        int best = p;
        for (int i = p + 1; i < n; i++) {
            if (fabs(A[i][CR__CLOSED_INPUTS + p]) > fabs(A[best][CR__CLOSED_INPUTS + p])) best = i;
        }
        double pivot = A[best][CR__CLOSED_INPUTS + p];
        if (!(fabs(pivot) > SINGULAR)) return false;
        for (int j = 0; j < CR__COLUMNS; j++) {
            double entry = A[best][j];
            A[best][j] = A[p][j];
            A[p][j] = entry / pivot;
        }
        for (int i = 0; i < n; i++) {
            double factor = A[i][CR__CLOSED_INPUTS + p];
            for (int j = 0; j < CR__COLUMNS && i != p && factor != 0.0; j++) {
                A[i][j] -= factor * A[p][j];
            }
        }
    }
    for (int i = 0; i < CR__UNKNOWNS; i++) {
        for (int k = 0; k < CR__CLOSED_INPUTS; k++) {
            X->by[i][k] = i < n ? -A[i][k] : 0.0;
        }
    }
    return true;
}

// V + W P
void cr__velocity_after(const cr__DualContact* d, const cr__Dual P[3], cr__Dual u[3]) {
    const cr__Dual* W[3][3] = {{&d->xx, &d->xy, &d->xz}, {&d->xy, &d->yy, &d->yz}, {&d->xz, &d->yz, &d->zz}};
    for (int i = 0; i < 3; i++) {
        u[i] = d->V[i];
        for (int j = 0; j < 3; j++) {
            u[i] = cr__plus(u[i], cr__times(*W[i][j], P[j]));
        }
    }
}

// mu N - |f|, or N - |f|/mu for large mu, which may be infinite
static cr__Dual cone_margin(const cr__DualContact* d, cr__Dual N, const cr__Dual f[2]) {
    cr__Dual size = cr__length(f[0], f[1]);
    if (isinf(d->c.mu)) return N;
    return d->c.mu > 1.0 ? cr__minus(N, cr__over(size, d->mu)) : cr__minus(cr__times(d->mu, N), size);
}

static bool slips(const crContact* c, double N, double fy, double fz) {
    double size = sqrt(fy * fy + fz * fz);
    return !(isinf(c->mu) ? N > ON_CONE * size : c->mu * N - size > ON_CONE * size);
}

// Two equations of friction in F, and the gauge of stick or slip.
static cr__Dual friction_stage(const cr__DualContact* d, bool slip, cr__Dual N, const cr__Dual f[2],
                               const cr__Dual u[2], cr__Dual F[2]) {
    if (!slip) {
        F[0] = u[0];
        F[1] = u[1];
        return cone_margin(d, N, f);
    }
    cr__Dual size = cr__length(f[0], f[1]);
    cr__Dual speed = cr__length(u[0], u[1]);
    if (speed.v >= (d->c.W.yy + d->c.W.zz) * size.v && !isinf(d->c.mu)) {
        cr__Dual limit = cr__times(d->mu, N);
        F[0] = cr__plus(cr__times(f[0], speed), cr__times(limit, u[0]));
        F[1] = cr__plus(cr__times(f[1], speed), cr__times(limit, u[1]));
        return speed;
    }
    F[0] = cone_margin(d, N, f);
    F[1] = cr__minus(cr__times(u[0], f[1]), cr__times(u[1], f[0]));
    cr__Dual against = cr__plus(cr__times(u[0], f[0]), cr__times(u[1], f[1]));
    return cr__scaled(-1.0, cr__over(against, size));
}

static void unknowns_of_stage(crVec3 P, int first, cr__Dual x[3]) {
    x[0] = cr__variable(P.x, CR__CLOSED_INPUTS + first);
    x[1] = cr__variable(P.y, CR__CLOSED_INPUTS + first + 1);
    x[2] = cr__variable(P.z, CR__CLOSED_INPUTS + first + 2);
}

// Sticking is taken wherever it is in the cone, also where slip has another solution with u != 0: a second surface
// between slip and stick, and P jumps there. For a stage that slips and changes n.V by -Un.
static void add_sticking_gauge(const cr__DualContact* d, cr__Dual Un, int other, cr__Piece* out) {
    cr__Dual r[3];
    cr__stopping_slip(d, Un, r);
    cr__Dual Pn = cr__minus(r[0], cr__over(Un, d->xx));
    cr__Dual outside = cr__scaled(-1.0, cone_margin(d, Pn, r + 1));
    cr__piece_gauge(out, CR_SWITCH_STICK, other, &outside, NULL);
}

bool cr__piece_whittaker(const cr__DualContact* d, int piece, cr__Piece* out) {
    crHit hit;
    crLaw law = cr__law(&cr__law_whittaker, NULL);
    if (law.apply(NULL, &d->c, &hit, NULL) != CR_OK) return false;
    if (piece == CR__OWN_PIECE) piece = slips(&d->c, hit.P.x, hit.P.y, hit.P.z) ? SLIPS_1 : 0;
    cr__Dual P[3], u[3], F[3];
    cr__Unknowns X;
    unknowns_of_stage(hit.P, 0, P);
    cr__velocity_after(d, P, u);
    F[0] = cr__plus(u[0], cr__times(d->e, d->V[0]));
    cr__Dual gauge = friction_stage(d, piece == SLIPS_1, P[0], P + 1, u + 1, F + 1);
    if (!cr__solve_unknowns(3, F, &X)) return false;
    cr__piece_impulse(out, P, &X);
    cr__piece_gauge(out, CR_SWITCH_STICK, piece ^ SLIPS_1, &gauge, &X);
    cr__Dual Un = cr__times(cr__plus(cr__dual(1.0), d->e), d->V[0]);
    if (piece == SLIPS_1) add_sticking_gauge(d, Un, 0, out);
    return true;
}

bool cr__piece_smith(const cr__DualContact* d, int piece, cr__Piece* out) {
    (void)piece;
    crHit hit;
    crLaw law = cr__law(&cr__law_smith, NULL);
    if (law.apply(NULL, &d->c, &hit, NULL) != CR_OK) return false;
    cr__Dual P[3], u[3], F[3];
    cr__Unknowns X;
    unknowns_of_stage(hit.P, 0, P);
    cr__velocity_after(d, P, u);
    F[0] = cr__plus(u[0], cr__times(d->e, d->V[0]));
    cr__Dual before = cr__length(d->V[1], d->V[2]);
    cr__Dual after = cr__length(u[1], u[2]);
    cr__Dual squares = cr__plus(cr__times(before, before), cr__times(after, after));
    bool free = isinf(d->c.mu);
    cr__Dual limit = free ? P[0] : cr__times(d->mu, P[0]);
    for (int i = 1; i < 3; i++) {
        cr__Dual mean = cr__plus(cr__times(d->V[i], before), cr__times(u[i], after));
        F[i] = cr__times(limit, mean);
        if (!free) F[i] = cr__plus(F[i], cr__times(P[i], squares));
    }
    if (!cr__solve_unknowns(3, F, &X)) return false;
    cr__piece_impulse(out, P, &X);
    return true;
}

// First stage: Vn' = 0 and friction.
static cr__Dual compression(const cr__DualContact* d, bool slip, const cr__Dual P1[3], cr__Dual F[3]) {
    cr__Dual u[3];
    cr__velocity_after(d, P1, u);
    F[0] = u[0];
    return friction_stage(d, slip, P1[0], P1 + 1, u + 1, F + 1);
}

// e = 0: the second stage is empty and grows with e from there, by D per unit of e: P = P1 + e D. Where slip is
// left D is against it; where it has ended D is the impulse at e = 1, because the stage is then homogeneous.
static bool without_rebound_stage(const cr__DualContact* d, const cr__Solution* first, crVec3 D, int piece,
                                  cr__Piece* out) {
    cr__Dual P[3], F[3];
    cr__Unknowns X;
    unknowns_of_stage(first->P, 0, P);
    cr__Dual gauge = compression(d, (piece & SLIPS_1) != 0, P, F);
    // the bodies would meet again at once
    if (cr_sym3_mul(d->c.W, D).x < 0.0 || !cr__solve_unknowns(3, F, &X)) return false;
    cr__piece_impulse(out, P, &X);
    out->by[CR_BY_E] = cr_add(out->by[CR_BY_E], D);
    if (!(first->P.x > 0.0)) return true;
    cr__piece_gauge(out, CR_SWITCH_STICK, piece ^ SLIPS_1, &gauge, &X);
    if (piece & SLIPS_1) add_sticking_gauge(d, d->V[0], piece ^ SLIPS_1, out);
    return true;
}

// Pn (1, -mu u/|u|)
static crVec3 sliding_impulse(const crContact* c, const cr__Solution* first, double Pn) {
    double speed = sqrt(first->uy * first->uy + first->uz * first->uz);
    double f = Pn > 0.0 ? -c->mu * Pn / speed : 0.0;
    return cr_vec3(Pn, f * first->uy, f * first->uz);
}

// The first stage as the law takes it. NULL: it has no solution.
static const cr__Solution* first_stage(const crContact* c, cr__Solution all[CR__MAX_SOLUTIONS]) {
    int count = cr__compress(c, 0, all);
    return count > 0 ? cr__choose(all, count) : NULL;
}

bool cr__piece_anitescu_potra(const cr__DualContact* d, int piece, cr__Piece* out) {
    cr__Solution all[CR__MAX_SOLUTIONS];
    crVec3 second;
    const cr__Solution* first = first_stage(&d->c, all);
    crContact c = d->c;
    bool empty = c.e == 0.0;
    if (empty) c.e = 1.0;
    if (first == NULL || (!empty && cr__expand(&c, 0, first, &second) == 0)) return false;
    if (empty) {
        if (piece == CR__OWN_PIECE) piece = first->sticks ? 0 : SLIPS_1;
        second = sliding_impulse(&c, first, first->P.x);
        if (first->sticks && cr__expand(&c, 0, first, &second) == 0) return false;
        return without_rebound_stage(d, first, second, piece, out);
    }
    if (piece == CR__OWN_PIECE) {
        piece = first->sticks ? 0 : SLIPS_1;
        if (slips(&c, second.x, second.y, second.z)) piece |= SLIPS_2;
        if (second.x > (1.0 + ON_CONE) * c.e * first->P.x) piece |= CLOSES;
    }
    cr__Dual P1[3], P2[3], P[3], u[3], F[6];
    cr__Unknowns X;
    unknowns_of_stage(first->P, 0, P1);
    unknowns_of_stage(second, 3, P2);
    for (int i = 0; i < 3; i++) {
        P[i] = cr__plus(P1[i], P2[i]);
    }
    cr__velocity_after(d, P, u);
    cr__Dual gauge = compression(d, (piece & SLIPS_1) != 0, P1, F);
    cr__Dual more = cr__minus(P2[0], cr__times(d->e, P1[0]));
    bool closes = (piece & CLOSES) != 0;
    F[3] = closes ? u[0] : more;
    cr__Dual last = friction_stage(d, (piece & SLIPS_2) != 0, P2[0], P2 + 1, u + 1, F + 4);
    if (!cr__solve_unknowns(6, F, &X)) return false;
    cr__piece_impulse(out, P, &X);
    if (!(first->P.x > 0.0)) return true;
    cr__piece_gauge(out, CR_SWITCH_STICK, piece ^ SLIPS_1, &gauge, &X);
    if (piece & SLIPS_1) add_sticking_gauge(d, d->V[0], piece ^ SLIPS_1, out);
    cr__piece_gauge(out, CR_SWITCH_STICK, piece ^ SLIPS_2, &last, &X);
    cr__piece_gauge(out, CR_SWITCH_CLOSE, piece ^ CLOSES, closes ? &more : &u[0], &X);
    return true;
}

// P of pfeiffer-glocker with another e.
static crVec3 planar_impulse(const cr__DualContact* d, double e) {
    crLawParams params = cr_law_params();
    params.nu = d->nu.v;
    crContact c = d->c;
    crHit hit = {0};
    c.e = e;
    crLaw law = cr__law(&cr__law_pfeiffer_glocker, &params);
    bool good = law.apply(law.params, &c, &hit, NULL) == CR_OK;
    return good ? hit.P : cr_vec3((double)NAN, 0, 0);
}

// Friction of the second stage: P2 = theta P1 + (e - theta) Pn1 n + y, theta = nu et e.
bool cr__piece_pfeiffer_glocker(const cr__DualContact* d, int piece, cr__Piece* out) {
    cr__Solution all[CR__MAX_SOLUTIONS];
    const cr__Solution* first = first_stage(&d->c, all);
    if (first == NULL) return false;
    double share = d->nu.v * d->c.et;
    if (d->c.e == 0.0) {
        if (piece == CR__OWN_PIECE) piece = first->sticks ? 0 : SLIPS_1;
        crVec3 D = first->sticks
                       ? cr_sub(planar_impulse(d, 1.0), first->P)
                       : cr_madd(sliding_impulse(&d->c, first, (1.0 - share) * first->P.x), share, first->P);
        return without_rebound_stage(d, first, D, piece, out);
    }
    cr__Dual P1[3], y[3], P[3], u[3], F[5];
    cr__Unknowns X;
    cr__Dual theta = cr__times(d->nu, cr__times(d->et, d->e));
    crVec3 rest = cr_madd(planar_impulse(d, d->c.e), -(1.0 + theta.v), first->P);
    double N = (d->c.e - theta.v) * first->P.x;
    if (piece == CR__OWN_PIECE) {
        piece = first->sticks ? 0 : SLIPS_1;
        if (slips(&d->c, N, rest.y, rest.z)) piece |= SLIPS_2;
    }
    unknowns_of_stage(first->P, 0, P1);
    // the last two of y are unknown
    unknowns_of_stage(cr_vec3(0.0, rest.y, rest.z), 2, y);
    y[0] = cr__times(cr__minus(d->e, theta), P1[0]);
    cr__Dual back = cr__plus(cr__dual(1.0), theta);
    for (int i = 0; i < 3; i++) {
        P[i] = cr__plus(cr__times(back, P1[i]), y[i]);
    }
    cr__velocity_after(d, P, u);
    cr__Dual gauge = compression(d, (piece & SLIPS_1) != 0, P1, F);
    cr__Dual last = friction_stage(d, (piece & SLIPS_2) != 0, y[0], y + 1, u + 1, F + 3);
    if (!cr__solve_unknowns(5, F, &X)) return false;
    cr__piece_impulse(out, P, &X);
    if (!(first->P.x > 0.0)) return true;
    cr__piece_gauge(out, CR_SWITCH_STICK, piece ^ SLIPS_1, &gauge, &X);
    if (piece & SLIPS_1) add_sticking_gauge(d, d->V[0], piece ^ SLIPS_1, out);
    if (N > 0.0) cr__piece_gauge(out, CR_SWITCH_STICK, piece ^ SLIPS_2, &last, &X);
    return true;
}
