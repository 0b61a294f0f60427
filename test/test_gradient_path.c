// test_gradient_path.c - derivatives of laws that follow a path (routh, compliant) and of the polygonal cone, against
// differences of the law in long double, and of Routh's law in the plane against its closed form in extended precision.
#include "gradient_case.h"

// a less what it has along t2, where that is not compared
static crVec3 within(crVec3 a, crVec3 t2) { return cr_madd(a, -cr_dot(a, t2), t2); }

// The normal of the plane of a routh contact in space out of which slip turns away: differences across it converge as a small
// power of their step, and only changes within the plane are compared. Zero where there is none.
static crVec3 slow_direction(const char* name, const crCollision* c) {
    crVec3 n = cr_scale(1.0 / cr_norm(c->n), c->n), slip = cr_madd(c->V, -cr_dot(c->V, n), n);
    crVec3 none = cr_vec3(0, 0, 0);
    if (strcmp(name, "routh") != 0 || !(cr_norm(slip) > 0.0)) return none;
    crVec3 t1 = cr_scale(1.0 / cr_norm(slip), slip), t2 = cr_cross(n, t1);
    crVec3 W1 = cr_mat3_mul(c->W, t1), W2 = cr_mat3_mul(c->W, t2);
    double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
    // of two-dimensional input nothing leaves the plane
    bool planar = cr_dot(t2, W2) > 0.0 && fabs(cr_dot(W2, n)) + fabs(cr_dot(W2, t1)) < 1e-12 * trace;
    return planar && c->mu * cr_dot(t2, W2) < c->mu * cr_dot(t1, W1) - cr_dot(n, W1) ? t2 : none;
}

// A difference whose extrapolations agree and whose steps stay short of the nearest switch; false where there is none. size: of dP.
static bool reference(const char* name, const crCollision* c, const crLawParams* params, const double* d,
                      double size, double distance, crVec3 slow, crVec3* P, crVec3* V) {
    double step = fmin(1e-3, 0.1 * distance);
    for (int i = 0; i < 2 && step > 1e-7; i++, step *= 0.1) {
        crVec3 spread;
        bool found = difference_along(name, c, params, d, 0, step, P, V, &spread);
        if (found && cr_norm(within(spread, slow)) <= 1e-7 * size) return true;
    }
    return false;
}

typedef struct Tally {
    int cases, smooth, differenced, columns, unsure, slow;
    int regimes[6];
    double worst;
} Tally;

typedef struct Sizes {
    double P, V;  // of dP and dV+ by the input that changes them most over its scale
    crVec3 slow;
} Sizes;

static Sizes sizes_of(const char* name, const crCollision* c, const crLawParams* params,
                      const crGradient* g) {
    Sizes size = {.slow = slow_direction(name, c)};
    double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        size.P = fmax(size.P, cr_norm(g->P_plus[k]) * scale_of(c, params, k));
        size.V = fmax(size.V, cr_norm(g->V_plus[k]) * scale_of(c, params, k));
    }
    size.V += trace * size.P;
    return size;
}

// The derivative along a change d of all inputs, of their scales, against a difference.
static void compare_along(const char* name, const crCollision* c, const crLawParams* params,
                          const crGradient* g, const Sizes* size, const double* d, double tol, Tally* tally) {
    crVec3 P, V, dP = cr_vec3(0, 0, 0), dV = dP;
    bool sure = reference(name, c, params, d, size->P, g->distance, size->slow, &P, &V);
    tally->unsure += !sure;
    if (!sure) return;
    tally->columns++;
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        dP = cr_madd(dP, d[k], g->P_plus[k]);
        dV = cr_madd(dV, d[k], g->V_plus[k]);
    }
    double off = cr_norm(within(cr_sub(dP, P), size->slow)) / size->P;
    tally->worst = fmax(tally->worst, off);
    test_check(off <= tol, __FILE__, __LINE__, "%s, %s: dP is off by %g (%s at %g)", name,
               cr_regime_name(g->hit.regime), off, cr_switch_name(g->nearest), g->distance);
    off = cr_norm(within(cr_sub(dV, V), size->slow)) / size->V;
    test_check(off <= tol, __FILE__, __LINE__, "%s: dV+ is off by %g", name, off);
}

// A random change of all inputs that keeps the contact in its plane, whose normal is t2.
static void change_within(const crCollision* c, const crLawParams* params, const crGradient* g, crVec3 t2,
                          crRandom* random, double* d) {
    crVec3 n = cr_scale(1.0 / cr_norm(c->n), c->n), t1 = cr_cross(t2, n), V, a, b;
    double all[8];
    for (int i = 0; i < 8; i++)
        all[i] = sample_uniform(random, -1.0, 1.0);
    // dW = n a^T + t1 b^T + transposed
    a = cr_scale(scale_of(c, params, CR_BY_WXX), cr_madd(cr_scale(all[0], n), all[1], t1));
    b = cr_scale(scale_of(c, params, CR_BY_WXX) * all[2], t1);
    V = cr_scale(scale_of(c, params, CR_BY_VX), cr_madd(cr_scale(all[3], n), all[4], t1));
    const double changes[12] = {2.0 * (n.x * a.x + t1.x * b.x),
                                n.x * a.y + n.y * a.x + t1.x * b.y + t1.y * b.x,
                                n.x * a.z + n.z * a.x + t1.x * b.z + t1.z * b.x,
                                2.0 * (n.y * a.y + t1.y * b.y),
                                n.y * a.z + n.z * a.y + t1.y * b.z + t1.z * b.y,
                                2.0 * (n.z * a.z + t1.z * b.z),
                                V.x,
                                V.y,
                                V.z,
                                all[5] * t1.x,
                                all[5] * t1.y,
                                all[5] * t1.z};
    memcpy(d, changes, sizeof changes);
    d[CR_BY_MU] = g->reads[CR_BY_MU] ? all[6] : 0.0;
    d[CR_BY_E] = g->reads[CR_BY_E] ? all[7] : 0.0;
}

// Every input by itself, or (ways > 0) as many random changes of all of them.
static void compare(const char* name, const crCollision* c, const crLawParams* params, double tol, int ways,
                    crRandom* random, Tally* tally) {
    crLaw law;
    crGradient g;
    CHECK_STATUS(cr_law_find(name, params, &law, NULL), CR_OK);
    if (cr_law_gradient(&law, c, CR_GRADIENT_TOL, &g, NULL) != CR_OK) return;
    tally->cases++;
    tally->differenced += g.differenced;
    if (g.differenced || g.verdict != CR_SMOOTH) return;
    tally->smooth++;
    tally->regimes[g.hit.regime]++;
    Sizes size = sizes_of(name, c, params, &g);
    bool slow = cr_norm(size.slow) > 0.0;
    tally->slow += slow;
    for (int i = 0; i < 6 && slow; i++) {
        double d[WIDE_INPUTS] = {0};
        change_within(c, params, &g, size.slow, random, d);
        compare_along(name, c, params, &g, &size, d, tol, tally);
    }
    for (int i = 0; i < (ways > 0 ? ways : CR_BY_WEIGHT) && !slow; i++) {
        double d[WIDE_INPUTS] = {0};
        bool any = false;
        for (int k = 0; k < CR_BY_WEIGHT; k++) {
            CHECK(g.reads[k] || cr_norm(g.P_plus[k]) == 0.0);
            if (!g.reads[k] || !may_change(name, c, k) || (ways == 0 && k != i)) continue;
            d[k] = scale_of(c, params, k) * (ways > 0 ? sample_uniform(random, -1.0, 1.0) : 1.0);
            any = true;
        }
        if (any) compare_along(name, c, params, &g, &size, d, tol, tally);
    }
}

enum { SPACE, PLANE, FLAT };

static void compare_law(const char* name, int kind, int directions, double tol, int ways, int count) {
    crRandom random = sample_seed(31 + (uint64_t)kind);
    Tally tally = {0};
    for (int i = 0; i < count; i++) {
        crCollision c = kind == FLAT ? sample_flat(&random)
                                     : sample_regular(&random, kind == SPACE ? SAMPLE_BODIES : SAMPLE_PLANAR);
        crLawParams params = sample_params(&random);
        if (directions > 0) params.directions = 3 + (int)(sample_bits(&random) % (uint64_t)directions);
        compare(name, &c, &params, tol, ways, &random, &tally);
    }
    if (count == 10000) {
        printf("  %s (%d): %d of %d smooth, %d differenced, %d changes, worst %.1e; %d without reference, %d "
               "cases along "
               "the plane alone\n",
               name, kind, tally.smooth, tally.cases, tally.differenced, tally.columns, tally.worst,
               tally.unsure, tally.slow);
        fflush(stdout);
    }
    // nearly all by formula, and nearly every column has a reference
    test_check(tally.smooth > tally.cases * 98 / 100 && tally.differenced <= tally.cases / 100 + 1, __FILE__,
               __LINE__, "%s (%d): %d of %d smooth, %d differenced", name, kind, tally.smooth, tally.cases,
               tally.differenced);
    test_check(tally.unsure < tally.columns / 20, __FILE__, __LINE__,
               "%s (%d): %d changes, %d without reference", name, kind, tally.columns, tally.unsure);
    CHECK(tally.regimes[CR_REGIME_SLIP] > 0 && tally.regimes[CR_REGIME_REVERSAL] > 0);
}

// 10,000 in soaks, fewer of slow laws otherwise
static int some(int share) {
    int count = test_samples(10000);
    return count == 10000 ? count : count / share;
}

// one test for each kind of contact: ten thousand take minutes
TEST(routh_in_space) { compare_law("routh", SPACE, 0, 1e-7, 0, some(12)); }
TEST(routh_in_a_plane_of_space) { compare_law("routh", PLANE, 0, 1e-7, 0, some(12)); }
TEST(routh_in_two_dimensions) { compare_law("routh", FLAT, 0, 1e-7, 0, some(12)); }

// all inputs changed at once, since the law is slow
TEST(compliant_in_space) { compare_law("compliant", SPACE, 0, 1e-7, 3, some(8)); }
TEST(compliant_in_a_plane_of_space) { compare_law("compliant", PLANE, 0, 1e-7, 3, some(8)); }
TEST(compliant_in_two_dimensions) { compare_law("compliant", FLAT, 0, 1e-7, 3, some(8)); }

// A contact whose slip turns in a small power of the time left until the force is zero.
TEST(compliant_turns_up_to_its_end) {
    crRandom random = sample_seed(1);
    Tally tally = {0};
    crLawParams params = cr_law_params();
    params.eta2 = 0.9345;
    crCollision c = cr_collision();
    c.W = (crMat3){{{1.8865, 0.2815, -0.5419}, {0.2815, 3.262, 0.1905}, {-0.5419, 0.1905, 2.9264}}};
    c.V = cr_vec3(0.1895, 2.1246, 0.5233);
    c.n = cr_vec3(-0.096, -0.8275, 0.0);
    c.n.z = sqrt(1.0 - cr_dot(c.n, c.n));
    c.mu = 1.3896;
    c.e = 0.6809;
    compare("compliant", &c, &params, 1e-9, 0, &random, &tally);
    CHECK(tally.smooth == 1 && tally.columns >= 14);
}

TEST(polygonal_cone_by_its_equations) {
    compare_law("anitescu-potra", SPACE, 10, 1e-7, 0, some(8));
    compare_law("anitescu-potra", PLANE, 10, 1e-7, 0, some(8));
}

// Routh's law in the plane, written by its pieces: W = (a, b; b, c) in the frame of n.

typedef struct Plane {
    long double W[3], V[2], angle, mu, e;  // angle of n
} Plane;

typedef struct Process {
    long double Pn, Pt, Vn, Vt, work;
    long double goal, work_c;
    bool restituting, ended;
} Process;

static long double to_goal(const Process* s, crEnding ending, long double rate) {
    if (ending == CR_ENDING_POISSON) return s->goal - s->Pn;
    if (ending == CR_ENDING_NEWTON) return (s->goal - s->Vn) / rate;
    long double missing = s->goal - s->work;
    return 2.0L * missing / (s->Vn + sqrtl(s->Vn * s->Vn + 2.0L * rate * missing));
}

static void follow(Process* s, crEnding ending, long double V0, long double e, long double f, long double a,
                   long double b, long double c, long double most) {
    long double rate = a + b * f, slip = b + c * f;
    while (!s->ended) {
        long double x = s->restituting ? to_goal(s, ending, rate) : -s->Vn / rate;
        bool event = x <= most;
        if (!event) x = most;
        s->work += x * (s->Vn + 0.5L * rate * x);
        s->Pn += x;
        s->Pt += f * x;
        s->Vn += rate * x;
        s->Vt += slip * x;
        most -= x;
        if (!event) return;
        if (s->restituting) {
            s->ended = true;
            return;
        }
        s->restituting = true;
        s->work_c = s->work;
        s->work = 0.0L;
        s->goal = ending == CR_ENDING_POISSON  ? (1.0L + e) * s->Pn
                  : ending == CR_ENDING_NEWTON ? -e * V0
                                               : -e * e * s->work_c;
    }
}

// P in the axes of the plane. Regular pieces only: Vn never falls.
static void routh_plane(const Plane* in, crEnding ending, long double P[2]) {
    long double n[2] = {cosl(in->angle), sinl(in->angle)}, t[2] = {-n[1], n[0]};
    const long double* W = in->W;
    long double a = W[0] * n[0] * n[0] + 2.0L * W[1] * n[0] * n[1] + W[2] * n[1] * n[1];
    long double b = W[0] * n[0] * t[0] + W[1] * (n[0] * t[1] + n[1] * t[0]) + W[2] * n[1] * t[1];
    long double c = W[0] * t[0] * t[0] + 2.0L * W[1] * t[0] * t[1] + W[2] * t[1] * t[1];
    Process s = {.Vn = in->V[0] * n[0] + in->V[1] * n[1], .Vt = in->V[0] * t[0] + in->V[1] * t[1]};
    long double V0 = s.Vn, side = s.Vt > 0.0L ? 1.0L : -1.0L;
    long double change = b - side * in->mu * c;
    long double stop = side * change < 0.0L ? -s.Vt / change : (long double)INFINITY;
    follow(&s, ending, V0, in->e, -side * in->mu, a, b, c, stop);
    if (!s.ended) {
        long double f = -b / c;
        if (fabsl(f) > in->mu) f = f > 0.0L ? in->mu : -in->mu;
        s.Vt = 0.0L;
        follow(&s, ending, V0, in->e, f, a, b, c, (long double)INFINITY);
    }
    for (int i = 0; i < 2; i++)
        P[i] = s.Pn * n[i] + s.Pt * t[i];
}

static const int plane_inputs[] = {CR_BY_WXX, CR_BY_WXY, CR_BY_WYY, CR_BY_VX, CR_BY_VY, CR_BY_MU, CR_BY_E};
enum { PLANE_INPUTS = sizeof plane_inputs / sizeof plane_inputs[0] };

static long double* input_of(Plane* in, int i) {
    long double* all[] = {&in->W[0], &in->W[1], &in->W[2], &in->V[0], &in->V[1], &in->mu, &in->e};
    return all[i];
}

// side -1, 1: one-sided, extrapolated; 0 central
static void plane_difference(const Plane* in, crEnding ending, int i, int side, long double D[2]) {
    const long double h = 1e-5L;
    long double all[2][2];
    for (int level = 0; level < 2; level++) {
        long double step = h / (long double)(1 << level), P[2][2];
        Plane low = *in, high = *in;
        *input_of(&low, i) -= side > 0 ? 0.0L : step;
        *input_of(&high, i) += side < 0 ? 0.0L : step;
        routh_plane(&low, ending, P[0]);
        routh_plane(&high, ending, P[1]);
        for (int j = 0; j < 2; j++)
            all[level][j] = (P[1][j] - P[0][j]) / (side == 0 ? 2.0L * step : step);
    }
    long double power = side == 0 ? 4.0L : 2.0L;
    for (int j = 0; j < 2; j++)
        D[j] = all[1][j] + (all[1][j] - all[0][j]) / (power - 1.0L);
}

static crCollision collision_of(const Plane* in) {
    crCollision c = cr_collision();
    c.W = (crMat3){
        {{(double)in->W[0], (double)in->W[1], 0}, {(double)in->W[1], (double)in->W[2], 0}, {0, 0, 0}}};
    c.V = cr_vec3((double)in->V[0], (double)in->V[1], 0.0);
    c.n = cr_vec3((double)cosl(in->angle), (double)sinl(in->angle), 0.0);
    c.normalize = true;
    c.mu = (double)in->mu;
    c.e = (double)in->e;
    return c;
}

static Plane sample_plane(crRandom* random) {
    Plane in = {.angle = sample_uniform(random, -3.0, 3.0)};
    double a = sample_uniform(random, 0.5, 2.0), c = sample_uniform(random, 0.5, 2.0);
    in.W[0] = a;
    in.W[1] = sample_uniform(random, -0.4, 0.4) * sqrt(a * c);
    in.W[2] = c;
    long double vn = sample_uniform(random, -2.0, -0.3), vt = sample_uniform(random, -1.5, 1.5);
    in.V[0] = vn * cosl(in.angle) - vt * sinl(in.angle);
    in.V[1] = vn * sinl(in.angle) + vt * cosl(in.angle);
    in.mu = sample_uniform(random, 0.05, 0.6);
    in.e = sample_uniform(random, 0.1, 0.9);
    return in;
}

static double off_plane(const crGradient* g, const Plane* in, crEnding ending, int i, int side) {
    long double D[2];
    plane_difference(in, ending, i, side, D);
    int k = plane_inputs[i];
    crVec3 own = side < 0 ? g->P_minus[k] : g->P_plus[k];
    double size = cr_norm(g->hit.P) + cr_norm(own);
    return hypot(own.x - (double)D[0], own.y - (double)D[1]) / size;
}

TEST(routh_in_the_plane_against_its_closed_form) {
    crRandom random = sample_seed(5);
    int smooth = 0;
    for (int i = 0; i < test_samples(10000); i++) {
        Plane in = sample_plane(&random);
        crLawParams params = cr_law_params();
        params.ending = (crEnding)(i % 3);
        crLaw law;
        CHECK_STATUS(cr_law_find("routh", &params, &law, NULL), CR_OK);
        crCollision c = collision_of(&in);
        crGradient g;
        CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
        if (g.verdict != CR_SMOOTH || g.distance < 1e-3) continue;
        CHECK(!g.differenced);
        smooth++;
        for (int k = 0; k < PLANE_INPUTS; k++)
            CHECK(off_plane(&g, &in, params.ending, k, 0) < 1e-8);
    }
    CHECK(smooth > test_samples(10000) * 9 / 10);
}

// A contact with n along x right on a surface: slip stops at the end of compression, at the end, or friction just holds.
static Plane on_surface(crRandom* random, int which, crEnding ending) {
    for (;;) {
        Plane in = sample_plane(random);
        in.angle = 0.0L;
        in.V[0] = sample_uniform(random, -2.0, -0.3);
        in.V[1] = sample_uniform(random, 0.1, 1.0);
        long double a = in.W[0], b = in.W[1], c = in.W[2];
        long double rate = a - in.mu * b, slip = in.mu * c - b;
        if (slip < 0.1L || rate < 0.2L) continue;
        if (which < 2 && fabsl(b / c) > 0.8L * in.mu) continue;
        long double Pc = -in.V[0] / rate;
        // along one straight piece all three endings are one
        if (which == 0) in.V[1] = slip * Pc;
        if (which == 1) in.V[1] = slip * Pc * (1.0L + in.e);
        (void)ending;
        if (which == 2) in.mu = fabsl(b / c);
        if (which == 2 && !(in.mu > 0.05L && in.V[1] < 0.8L * (in.mu * c - b) * -in.V[0] / (a - in.mu * b)))
            continue;
        return in;
    }
}

TEST(routh_has_two_derivatives_at_its_switches) {
    crRandom random = sample_seed(17);
    for (int which = 0; which < 3; which++) {
        int seen = 0;
        for (int i = 0; i < test_samples(3000) / 4; i++) {
            crEnding ending = (crEnding)(i % 3);
            Plane in = on_surface(&random, which, ending);
            crLawParams params = cr_law_params();
            params.ending = ending;
            crLaw law;
            CHECK_STATUS(cr_law_find("routh", &params, &law, NULL), CR_OK);
            crCollision c = collision_of(&in);
            crGradient g;
            CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
            test_check(g.verdict == CR_ONE_SIDED && g.nearest == CR_SWITCH_STICK, __FILE__, __LINE__,
                       "surface %d ending %d: %s, %s at %g", which, (int)ending,
                       cr_smoothness_name(g.verdict), cr_switch_name(g.nearest), g.distance);
            if (g.differenced) continue;
            seen++;
            for (int k = 0; k < PLANE_INPUTS; k++) {
                for (int side = -1; side <= 1; side += 2) {
                    double off = off_plane(&g, &in, ending, k, side);
                    test_check(off < 1e-7, __FILE__, __LINE__, "surface %d ending %d side %d by %s: off %g",
                               which, (int)ending, side, cr_law_input_name((crLawInput)plane_inputs[k]), off);
                }
            }
        }
        CHECK(seen > test_samples(3000) / 4 * 9 / 10);
    }
}

// Two elastic balls of mass 1 in one dimension: velocities are exchanged. The first ball's velocity after depends on
// the second's before and on nothing else: derivatives (0, 1; 1, 0) by every law that has e.
TEST(two_elastic_balls_exchange_velocities_exactly) {
    const char* const names[] = {"newton", "bilinear",       "chatterjee-ruina", "routh", "whittaker",
                                 "smith",  "anitescu-potra", "pfeiffer-glocker", "brach"};
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++) {
        crLaw law;
        crCollision c = cr_collision();
        crGradient g;
        // relative velocity -1 along x, masses 1 and 1
        c.W = (crMat3){{{2, 0, 0}, {0, 2, 0}, {0, 0, 0}}};
        c.V = cr_vec3(-1, 0, 0);
        c.n = cr_vec3(1, 0, 0);
        c.e = 1.0;
        CHECK_STATUS(cr_law_find(names[i], NULL, &law, NULL), CR_OK);
        CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
        // v1+ = v1 - P, v2+ = v2 + P with P(v2 - v1)
        double dP = g.P_plus[CR_BY_VX].x;
        const double J[4] = {1.0 + dP, -dP, -dP, 1.0 + dP};
        test_check(J[0] == 0.0 && J[1] == 1.0 && J[2] == 1.0 && J[3] == 0.0, __FILE__, __LINE__,
                   "%s: (%.17g, %.17g, %.17g, %.17g)", names[i], J[0], J[1], J[2], J[3]);
    }
}
