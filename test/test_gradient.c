// test_gradient.c - derivatives of every law against differences of its answers in long double, over random collisions.
#include "gradient_case.h"

#define NEAR  2e-6  // steps of differences, of the inputs' sizes
#define CLOSE 1e-7  // of the largest column

typedef struct Tally {
    int smooth, differenced, columns;
    int regimes[6];
    int verdicts[3];
    int kept;    // projected: a permissible wish, which stays as it is
    int unsure;  // columns for which the test has no difference, or two that disagree
    double worst;
} Tally;

static void compare(const char* name, const crCollision* c, const crLawParams* params, Tally* tally) {
    crLaw law;
    crGradient g;
    CHECK_STATUS(cr_law_find(name, params, &law, NULL), CR_OK);
    if (cr_law_gradient(&law, c, CR_GRADIENT_TOL, &g, NULL) != CR_OK) return;
    tally->verdicts[g.verdict]++;
    // closer to a switch than the steps reach, differences know nothing
    if (g.verdict != CR_SMOOTH || (!g.differenced && g.distance < 5.0 * NEAR)) return;
    tally->smooth++;
    tally->differenced += g.differenced;
    tally->regimes[g.hit.regime]++;
    // a wish is written in the contact's frame, an impulse in the world's
    bool kept = fabs(cr_norm(g.hit.P) - cr_norm(params->wish)) <= 1e-12 * cr_norm(params->wish);
    tally->kept += strcmp(name, "projected") == 0 && kept;
    double size = 0.0, size_V = 0.0;
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        size = fmax(size, cr_norm(g.P_plus[k]) * scale_of(c, params, k));
        size_V = fmax(size_V, cr_norm(g.V_plus[k]) * scale_of(c, params, k));
    }
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        crVec3 P, V;
        double s = scale_of(c, params, k);
        crVec3 spread;
        CHECK(memcmp(&g.P_minus[k], &g.P_plus[k], sizeof P) == 0);
        if (!g.reads[k]) CHECK(cr_norm(g.P_plus[k]) == 0.0);
        if (!g.reads[k] || !may_change(name, c, k)) continue;
        bool found = difference_spread(name, c, params, k, 0, NEAR * s, &P, &V, &spread);
        bool agree = found && (!g.differenced || cr_norm(spread) * s < 1e-6 * size);
        tally->unsure += !agree;
        if (!agree) continue;
        tally->columns++;
        double tol = CLOSE * size + 10.0 * g.error[k] * s;
        double off = cr_norm(cr_sub(g.P_plus[k], P)) * s;
        tally->worst = fmax(tally->worst, off / size);
        test_check(off <= tol, __FILE__, __LINE__,
                   "%s, %s: dP/d%s is off by %g of %g (distance %g to %s, error %g)", name,
                   cr_regime_name(g.hit.regime), cr_law_input_name((crLawInput)k), off, size, g.distance,
                   cr_switch_name(g.nearest), g.error[k] * s);
        off = cr_norm(cr_sub(g.V_plus[k], V)) * s;
        double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
        test_check(off <= CLOSE * size_V + trace * tol, __FILE__, __LINE__, "%s: dV+/d%s is off by %g of %g",
                   name, cr_law_input_name((crLawInput)k), off, size_V);
    }
}

// crSampleKind, or FLAT
enum { FLAT = SAMPLE_KINDS };

static void compare_law(const char* name, int kind, int count) {
    crRandom random = sample_seed(7);
    Tally tally = {0};
    for (int i = 0; i < count; i++) {
        crCollision c = kind == FLAT ? sample_flat(&random) : sample_regular(&random, (crSampleKind)kind);
        crLawParams params = sample_params(&random);
        if (kind == FLAT) params.mu3 = params.wish.z = params.psi2 = 0.0;
        compare(name, &c, &params, &tally);
    }
    if (count == 10000) {
        printf("  %s (%d): %d of %d smooth, %d columns, worst %.1e; %d one-sided, %d none\n", name, kind,
               tally.smooth, count, tally.columns, tally.worst, tally.verdicts[CR_ONE_SIDED],
               tally.verdicts[CR_NO_DERIVATIVE]);
        fflush(stdout);
    }
    bool jumps = kind == SAMPLE_PLANAR && strcmp(name, "spherical") == 0;
    jumps = jumps || (kind == SAMPLE_PLANAR && strcmp(name, "projected") == 0);
    // the centroid of a planar contact is that of an area, beside it that of a volume; a wish that is permissible does not ask for it
    if (jumps) {
        CHECK(tally.smooth == tally.kept && tally.verdicts[CR_NO_DERIVATIVE] + tally.kept == count);
        return;
    }
    test_check(tally.smooth > count / 2 && tally.unsure < tally.columns / 20, __FILE__, __LINE__,
               "%s (%d): only %d of %d cases are smooth, %d columns, %d unsure", name, kind, tally.smooth,
               count, tally.columns, tally.unsure);
    CHECK(strcmp(name, "newton") == 0 || tally.regimes[CR_REGIME_SLIP] > 0);
}

static void compare_kinds(const char* name, int count) {
    bool spheres = strcmp(name, "bilinear") == 0, planar = strcmp(name, "pfeiffer-glocker") == 0;
    if (!planar && !spheres) compare_law(name, SAMPLE_BODIES, count);
    if (spheres) compare_law(name, SAMPLE_SPHERES, count);
    if (!spheres) compare_law(name, SAMPLE_PLANAR, count);
    if (!spheres && strcmp(name, "spherical") != 0) compare_law(name, FLAT, count);
}

// those that follow a path: test_gradient_path.c
TEST(laws_with_equations) {
    const char* const names[] = {"newton", "bilinear",       "chatterjee-ruina", "whittaker",
                                 "smith",  "anitescu-potra", "pfeiffer-glocker", "brach"};
    int all = test_samples(10000);
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
        compare_kinds(names[i], all == 10000 ? all : all / 2);
}

TEST(spherical) { compare_kinds("spherical", test_samples(10000) == 10000 ? 10000 : 5); }
TEST(projected) { compare_kinds("projected", test_samples(10000) == 10000 ? 10000 : 5); }
