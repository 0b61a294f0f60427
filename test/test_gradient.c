// test_gradient.c - derivatives of impacts: against independent laws, linearised equations and differences.
#include "sample.h"
#include "test.h"

// Change input k of a collision by h, straight from the definition in resolve.h.
static void shift(crCollision* c, crLawParams* params, int k, double h) {
    static const int rows[] = {0, 0, 0, 1, 1, 2}, columns[] = {0, 1, 2, 1, 2, 2};
    double* const v[] = {&c->V.x, &c->V.y, &c->V.z, &c->n.x, &c->n.y, &c->n.z, &c->mu, &c->e, &c->et,
                         &params->nu, &params->mu2, &params->mu3, &params->psi1, &params->psi2, &params->rho,
                         &params->wish.x, &params->wish.y, &params->wish.z, &params->eta2};
    if (k <= CR_BY_WZZ) {
        c->W.m[rows[k]][columns[k]] += h;
        if (rows[k] != columns[k]) c->W.m[columns[k]][rows[k]] += h;
    } else {
        *v[k - CR_BY_VX] += h;
    }
    c->normalize = true;
}

static double scale_of(const crCollision* c, const crLawParams* params, int k) {
    double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
    if (k <= CR_BY_WZZ) return trace / 3.0;
    if (k <= CR_BY_VZ) return cr_norm(c->V);
    if (k >= CR_BY_WISH_X && k <= CR_BY_WISH_Z) return fmax(cr_norm(params->wish), cr_norm(c->V) / trace);
    return 1.0;
}

// side -1, +1: one-sided differences; 0: central. Extrapolated from steps h, h/2 and h/4.
static bool difference(const char* name, const crCollision* c, const crLawParams* params, int k, int side,
                       double h, crVec3* P, crVec3* V) {
    crVec3 D[2][4];
    for (int i = 0; i < 4; i++) {
        double step = h / (double)(1 << i);
        crHit hit[2];
        for (int j = 0; j < 2; j++) {
            crLawParams moved = *params;
            crCollision there = *c;
            crLaw law;
            // ends of the difference: -1 0, -1 1 or 0 1
            double at = j == 0 ? (side > 0 ? 0.0 : -step) : (side < 0 ? 0.0 : step);
            shift(&there, &moved, k, at);
            if (cr_law_find(name, &moved, &law, NULL) != CR_OK) return false;
            if (cr_law_apply(&law, &there, &hit[j], NULL) != CR_OK) return false;
        }
        double width = side == 0 ? 2.0 * step : step;
        D[0][i] = cr_scale(1.0 / width, cr_sub(hit[1].P, hit[0].P));
        D[1][i] = cr_scale(1.0 / width, cr_sub(hit[1].V_plus, hit[0].V_plus));
    }
    for (int q = 0; q < 2; q++) {
        double power = 1.0;
        for (int j = 1; j < 4; j++) {
            power *= side == 0 ? 4.0 : 2.0;
            for (int i = 3; i >= j; i--) {
                D[q][i] = cr_madd(D[q][i], 1.0 / (power - 1.0), cr_sub(D[q][i], D[q][i - 1]));
            }
        }
    }
    *P = D[0][3];
    *V = D[1][3];
    return true;
}

static crLawParams sample_params(crRandom* random) {
    crLawParams params = cr_law_params();
    params.nu = sample_uniform(random, 0.1, 0.9);
    params.mu2 = sample_uniform(random, -0.05, 0.05);
    params.mu3 = sample_uniform(random, -0.05, 0.05);
    params.psi1 = sample_uniform(random, 0.3, 2.8);
    params.psi2 = sample_uniform(random, 0.3, 6.0);
    params.rho = sample_uniform(random, 0.1, 0.9);
    params.wish = cr_scale(0.1, sample_direction(random));
    params.eta2 = sample_uniform(random, 0.8, 2.0);
    params.ending = (crEnding)(sample_bits(random) % 3);
    return params;
}

// A collision inside the laws' ranges, with W well conditioned.
static crCollision sample_regular(crRandom* random, crSampleKind kind) {
    for (;;) {
        crCollision c = sample_collision(random, kind);
        double values[3];
        crMat3 axes;
        cr_sym3_eigen(cr_mat3_symmetric(c.W), values, &axes);
        c.e = sample_uniform(random, 0.1, 0.9);
        c.et = sample_uniform(random, 0.05, 0.9);
        c.mu = sample_uniform(random, 0.1, 1.5);
        if (values[0] > 0.02 * values[2]) return c;
    }
}

// true where a law's own domain lets the input change: bilinear needs W diagonal, pfeiffer-glocker a plane
static bool may_change(const char* name, int k) {
    bool bound = strcmp(name, "bilinear") == 0 || strcmp(name, "pfeiffer-glocker") == 0;
    return !bound || k >= CR_BY_MU;
}

typedef struct Tally {
    int smooth, differenced, columns;
    int regimes[6];
} Tally;

static void compare(const char* name, const crCollision* c, const crLawParams* params, Tally* tally) {
    crLaw law;
    crGradient g;
    CHECK_STATUS(cr_law_find(name, params, &law, NULL), CR_OK);
    if (cr_law_gradient(&law, c, CR_GRADIENT_TOL, &g, NULL) != CR_OK) return;
    // closer to a switch than the steps reach, differences know nothing
    if (g.verdict != CR_SMOOTH || g.distance < 5e-3) return;
    tally->smooth++;
    tally->differenced += g.differenced;
    tally->regimes[g.hit.regime]++;
    double size = 0.0, size_V = 0.0;
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        size = fmax(size, cr_norm(g.P_plus[k]) * scale_of(c, params, k));
        size_V = fmax(size_V, cr_norm(g.V_plus[k]) * scale_of(c, params, k));
    }
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        crVec3 P, V;
        CHECK(memcmp(&g.P_minus[k], &g.P_plus[k], sizeof P) == 0);
        if (!g.reads[k]) CHECK(cr_norm(g.P_plus[k]) == 0.0);
        double s = scale_of(c, params, k);
        if (!may_change(name, k) || !difference(name, c, params, k, 0, 1e-3 * s, &P, &V)) continue;
        tally->columns++;
        double tol = (g.differenced ? 1e-5 : 1e-6) * size + 10.0 * g.error[k] * s;
        double off = cr_norm(cr_sub(g.P_plus[k], P)) * s;
        test_check(off <= tol, __FILE__, __LINE__,
                   "%s, %s: dP/d%s is off by %g of %g (distance %g to %s, error %g)", name,
                   cr_regime_name(g.hit.regime), cr_law_input_name((crLawInput)k), off, size, g.distance,
                   cr_switch_name(g.nearest), g.error[k] * s);
        off = cr_norm(cr_sub(g.V_plus[k], V)) * s;
        double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
        test_check(off <= 1e-6 * size_V + trace * tol, __FILE__, __LINE__, "%s: dV+/d%s is off by %g of %g", name,
                   cr_law_input_name((crLawInput)k), off, size_V);
    }
}

static void compare_law(const char* name, crSampleKind kind, int count) {
    crRandom random = sample_seed(7);
    Tally tally = {0};
    for (int i = 0; i < count; i++) {
        crCollision c = sample_regular(&random, kind);
        crLawParams params = sample_params(&random);
        compare(name, &c, &params, &tally);
    }
    printf("  %s (%d): %d smooth (%d differenced), %d columns;", name, (int)kind, tally.smooth, tally.differenced,
           tally.columns);
    for (int i = 0; i < 6; i++) printf(" %s %d", cr_regime_name((crRegime)i), tally.regimes[i]);
    printf("\n");
    CHECK(tally.smooth > count / 8);
    CHECK(tally.columns > 0);
}

TEST(gradients_of_all_laws_against_differences) {
    for (int i = 0; i < cr_law_count(); i++) {
        const char* name = cr_law_info(i)->name;
        if (strcmp(name, "composite") == 0) continue;
        bool planar = cr_law_info(i)->planar;
        bool spheres = strcmp(name, "bilinear") == 0;
        bool slow = strcmp(name, "compliant") == 0 || strcmp(name, "spherical") == 0 ||
                    strcmp(name, "projected") == 0 || strcmp(name, "routh") == 0;
        int count = slow ? test_samples(300) / 10 : test_samples(6000);
        if (!planar && !spheres) compare_law(name, SAMPLE_BODIES, count);
        if (spheres) compare_law(name, SAMPLE_SPHERES, count);
        if (!spheres) compare_law(name, SAMPLE_PLANAR, count);
    }
}
