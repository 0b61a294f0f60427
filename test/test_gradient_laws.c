// test_gradient_laws.c - derivatives against laws written independently, and against the equations that define a law.
#include "gradient_case.h"

// Vectors in long double, in any coordinates: no contact frame here.
typedef struct Vec {
    long double x[3];
} Vec;

typedef struct Input {
    long double W[3][3];
    Vec V, n;
    long double mu, e, et;
} Input;

static Vec combine(long double p, Vec a, long double q, Vec b) {
    Vec r;
    for (int i = 0; i < 3; i++)
        r.x[i] = p * a.x[i] + q * b.x[i];
    return r;
}
static long double dot(Vec a, Vec b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static Vec multiply(const long double W[3][3], Vec a) {
    Vec r;
    for (int i = 0; i < 3; i++)
        r.x[i] = W[i][0] * a.x[0] + W[i][1] * a.x[1] + W[i][2] * a.x[2];
    return r;
}
static Vec tangential(Vec a, Vec n) { return combine(1.0L, a, -dot(a, n), n); }
static Vec vec_of(crVec3 a) { return (Vec){{a.x, a.y, a.z}}; }

static Input input_of(const crCollision* c) {
    Input in = {.V = vec_of(c->V), .n = vec_of(c->n), .mu = c->mu, .e = c->e, .et = c->et};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            in.W[i][j] = c->W.m[i][j];
    }
    in.n = combine(1.0L / sqrtl(dot(in.n, in.n)), in.n, 0.0L, in.n);
    return in;
}

// Moves all inputs along d by t.
static Input moved(const Input* in, const double* d, long double t) {
    static const int rows[] = {0, 0, 0, 1, 1, 2}, columns[] = {0, 1, 2, 1, 2, 2};
    Input r = *in;
    for (int k = 0; k < 6; k++) {
        r.W[rows[k]][columns[k]] += t * d[k];
        if (rows[k] != columns[k]) r.W[columns[k]][rows[k]] += t * d[k];
    }
    for (int i = 0; i < 3; i++) {
        r.V.x[i] += t * d[CR_BY_VX + i];
        r.n.x[i] += t * d[CR_BY_NX + i];
    }
    r.n = combine(1.0L / sqrtl(dot(r.n, r.n)), r.n, 0.0L, r.n);
    r.mu += t * d[CR_BY_MU];
    r.e += t * d[CR_BY_E];
    r.et += t * d[CR_BY_ET];
    return r;
}

// P_II by Cramer's rule
static Vec stopping_impulse(const Input* in) {
    const long double(*W)[3] = in->W;
    long double det = 0.0L;
    Vec P = {{0}};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        det += W[0][i] * (W[1][j] * W[2][k] - W[1][k] * W[2][j]);
        for (int m = 0; m < 3; m++) {
            int p = (m + 1) % 3, q = (m + 2) % 3;
            P.x[i] -= in->V.x[m] * (W[p][j] * W[q][k] - W[p][k] * W[q][j]);
        }
    }
    return combine(1.0L / det, P, 0.0L, P);
}

static Vec newton_law(const Input* in) {
    Vec Wn = multiply(in->W, in->n);
    return combine(-(1.0L + in->e) * dot(in->n, in->V) / dot(in->n, Wn), in->n, 0.0L, in->n);
}

static Vec chatterjee_ruina_law(const Input* in) {
    Vec PI = combine(1.0L / (1.0L + in->e), newton_law(in), 0.0L, in->n);
    Vec D = combine(1.0L, stopping_impulse(in), -1.0L, PI);
    Vec P = combine(1.0L + in->e, PI, 1.0L + in->et, D);
    Vec t = tangential(P, in->n);
    if (dot(t, t) <= in->mu * dot(P, in->n) * in->mu * dot(P, in->n) && dot(P, in->n) >= 0.0L) return P;
    Vec Dt = tangential(D, in->n);
    long double kappa =
        in->mu * (1.0L + in->e) * dot(PI, in->n) / (sqrtl(dot(Dt, Dt)) - in->mu * dot(D, in->n));
    return combine(1.0L + in->e, PI, kappa, D);
}

static Vec bilinear_law(const Input* in) {
    Vec Pn = newton_law(in);
    Vec t = tangential(in->V, in->n);
    long double speed = sqrtl(dot(t, t));
    long double along = dot(t, multiply(in->W, t)) / dot(t, t);
    long double limit = in->mu * dot(Pn, in->n), wish = (1.0L + in->et) * speed / along;
    return combine(1.0L, Pn, -(wish < limit ? wish : limit) / speed, t);
}

static void sample_change(crRandom* random, const crCollision* c, double d[CR_LAW_INPUTS]) {
    crLawParams params = cr_law_params();
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        d[k] = k <= CR_BY_ET ? sample_uniform(random, -1.0, 1.0) * scale_of(c, &params, k) : 0.0;
    }
}

static Vec along(const crVec3* by, const double* d) {
    crVec3 sum = {0, 0, 0};
    for (int k = 0; k <= CR_BY_ET; k++)
        sum = cr_madd(sum, d[k], by[k]);
    return vec_of(sum);
}

static double against_closed_form(const char* name, Vec (*law)(const Input*), crSampleKind kind) {
    crRandom random = sample_seed(11);
    double worst = 0.0;
    for (int i = 0; i < test_samples(6000); i++) {
        crCollision c = sample_regular(&random, kind);
        crLaw known;
        crGradient g;
        double d[CR_LAW_INPUTS];
        CHECK_STATUS(cr_law_find(name, NULL, &known, NULL), CR_OK);
        CHECK_STATUS(cr_law_gradient(&known, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
        CHECK(!g.differenced);
        sample_change(&random, &c, d);
        // bilinear: no change of W or n keeps W diagonal
        for (int k = 0; kind == SAMPLE_SPHERES && k < CR_BY_MU; k++) {
            if (k < CR_BY_VX || k > CR_BY_VZ) d[k] = 0.0;
        }
        if (g.distance < 1e-3) continue;
        Input in = input_of(&c);
        const long double h = 1e-5L;
        Vec D[2];
        for (int j = 0; j < 2; j++) {
            long double t = h / (long double)(1 + j);
            Input more = moved(&in, d, t), less = moved(&in, d, -t);
            D[j] = combine(0.5L / t, law(&more), -0.5L / t, law(&less));
        }
        Vec expected = combine(4.0L / 3.0L, D[1], -1.0L / 3.0L, D[0]);
        Vec off = combine(1.0L, along(g.P_plus, d), -1.0L, expected);
        double size = 0.0;
        for (int k = 0; k <= CR_BY_ET; k++)
            size = fmax(size, cr_norm(g.P_plus[k]) * fabs(d[k]));
        double error = (double)sqrtl(dot(off, off)) / size;
        worst = fmax(worst, error);
        CHECK(error < 1e-9);
    }
    return worst;
}

TEST(closed_forms_in_long_double) {
    CHECK(against_closed_form("newton", newton_law, SAMPLE_BODIES) > 0.0);
    CHECK(against_closed_form("chatterjee-ruina", chatterjee_ruina_law, SAMPLE_BODIES) > 0.0);
    CHECK(against_closed_form("bilinear", bilinear_law, SAMPLE_SPHERES) > 0.0);
}

// Coulomb friction f under N against slip u, as one vector that is zero.
static Vec friction_residual(bool sticks, long double mu, long double N, Vec f, Vec u) {
    return sticks ? u : combine(sqrtl(dot(u, u)), f, mu * N, u);
}

// What a law says must be zero: at most four vectors, of which the first component of some is used.
typedef int (*Residual)(const Input* in, const Vec P[2], bool sticks, bool sticks_2, Vec out[4]);

static int whittaker_residual(const Input* in, const Vec P[2], bool sticks, bool sticks_2, Vec out[4]) {
    (void)sticks_2;
    Vec u = combine(1.0L, in->V, 1.0L, multiply(in->W, P[0]));
    out[0] = (Vec){{dot(u, in->n) + in->e * dot(in->V, in->n), 0, 0}};
    out[1] =
        friction_residual(sticks, in->mu, dot(P[0], in->n), tangential(P[0], in->n), tangential(u, in->n));
    return 2;
}

static int smith_residual(const Input* in, const Vec P[2], bool sticks, bool sticks_2, Vec out[4]) {
    (void)sticks_2;
    (void)sticks;
    Vec u = combine(1.0L, in->V, 1.0L, multiply(in->W, P[0]));
    Vec a = tangential(in->V, in->n), b = tangential(u, in->n);
    Vec mean = combine(sqrtl(dot(a, a)), a, sqrtl(dot(b, b)), b);
    out[0] = (Vec){{dot(u, in->n) + in->e * dot(in->V, in->n), 0, 0}};
    out[1] = combine(dot(a, a) + dot(b, b), tangential(P[0], in->n), in->mu * dot(P[0], in->n), mean);
    return 2;
}

// P[0] the first stage, P[1] both
static int anitescu_potra_residual(const Input* in, const Vec P[2], bool sticks, bool sticks_2, Vec out[4]) {
    Vec second = combine(1.0L, P[1], -1.0L, P[0]);
    Vec u = combine(1.0L, in->V, 1.0L, multiply(in->W, P[0]));
    Vec v = combine(1.0L, in->V, 1.0L, multiply(in->W, P[1]));
    out[0] = (Vec){{dot(u, in->n), 0, 0}};
    out[1] =
        friction_residual(sticks, in->mu, dot(P[0], in->n), tangential(P[0], in->n), tangential(u, in->n));
    out[2] = (Vec){{dot(second, in->n) - in->e * dot(P[0], in->n), 0, 0}};
    out[3] = friction_residual(sticks_2, in->mu, dot(second, in->n), tangential(second, in->n),
                               tangential(v, in->n));
    return 4;
}

// Linearised equations: the residual along (d, dP) has slope zero. stages: 2 if P at e = 0 is the first one.
static void against_equations(const char* name, Residual residual, int stages) {
    crRandom random = sample_seed(13);
    int used = 0, stuck = 0;
    for (int i = 0; i < test_samples(6000); i++) {
        crCollision c = sample_regular(&random, SAMPLE_BODIES);
        crCollision first = c;
        crLaw law;
        crGradient g[2];
        double d[CR_LAW_INPUTS];
        if (stages == 2) first.e = 0.0;
        CHECK_STATUS(cr_law_find(name, NULL, &law, NULL), CR_OK);
        CHECK_STATUS(cr_law_gradient(&law, &first, CR_GRADIENT_TOL, &g[0], NULL), CR_OK);
        CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g[1], NULL), CR_OK);
        if (g[0].verdict != CR_SMOOTH || g[1].verdict != CR_SMOOTH) continue;
        sample_change(&random, &c, d);
        Input in = input_of(&c);
        // e has no part in the first stage
        double e = d[CR_BY_E];
        if (stages == 2) d[CR_BY_E] = 0.0;
        Vec dP[2] = {along(g[0].P_plus, d), {{0}}};
        d[CR_BY_E] = e;
        dP[1] = along(g[1].P_plus, d);
        const Vec P[2] = {vec_of(g[0].hit.P), vec_of(g[1].hit.P)};
        bool sticks[2];
        for (int k = 0; k < 2; k++) {
            Vec f = k == 0 ? P[0] : combine(1.0L, P[1], -1.0L, P[0]);
            Vec t = tangential(f, in.n);
            sticks[k] = sqrtl(dot(t, t)) < (1.0L - 1e-9L) * in.mu * dot(f, in.n);
        }
        const long double h = 1e-6L;
        Vec more[4], less[4];
        Vec up[2], down[2];
        for (int k = 0; k < 2; k++) {
            up[k] = combine(1.0L, P[k], h, dP[k]);
            down[k] = combine(1.0L, P[k], -h, dP[k]);
        }
        Input above = moved(&in, d, h), below = moved(&in, d, -h);
        // a law may close again in the second stage: then its equations are others
        int count = residual(&in, P, sticks[0], sticks[1], more);
        bool closes = count == 4 && fabsl(more[2].x[0]) > 1e-9L * dot(P[1], in.n);
        if (closes) continue;
        residual(&above, up, sticks[0], sticks[1], more);
        residual(&below, down, sticks[0], sticks[1], less);
        for (int k = 0; k < count; k++) {
            Vec slope = combine(0.5L / h, more[k], -0.5L / h, less[k]);
            // of the terms that cancel
            double speed = cr_norm(c.V), impulse = cr_norm(g[1].hit.P) + sqrt((double)dot(dP[1], dP[1]));
            double trace = c.W.m[0][0] + c.W.m[1][1] + c.W.m[2][2];
            double size =
                (speed + trace * impulse) * (1.0 + impulse * (1.0 + speed) + trace * impulse * impulse);
            test_check((double)sqrtl(dot(slope, slope)) < 1e-8 * size, __FILE__, __LINE__,
                       "%s: equation %d has slope %g of %g, sticks %d", name, k,
                       (double)sqrtl(dot(slope, slope)), size, sticks[0]);
        }
        used++;
        stuck += sticks[0];
    }
    CHECK(used > 100);
    CHECK(strcmp(name, "smith") == 0 || (stuck > used / 20 && stuck < used));
}

TEST(derivatives_satisfy_the_linearised_equations) {
    against_equations("whittaker", whittaker_residual, 1);
    against_equations("smith", smith_residual, 1);
    against_equations("anitescu-potra", anitescu_potra_residual, 2);
}
