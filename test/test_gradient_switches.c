// test_gradient_switches.c - verdicts of gradients at constructed switches, where W is singular, and for other laws.
#include "gradient_case.h"
#include "resolve/kinds.h"

static crGradient gradient_of(const char* name, const crCollision* c, const crLawParams* params) {
    crLaw law;
    crGradient g = {0};
    CHECK_STATUS(cr_law_find(name, params, &law, NULL), CR_OK);
    CHECK_STATUS(cr_law_gradient(&law, c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
    return g;
}

// Both sides of every input against one-sided differences; returns how many inputs have a kink.
static int check_sides(const char* name, const crCollision* c, const crLawParams* params,
                       const crGradient* g) {
    int kinks = 0;
    double size = 0.0;
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        double both = cr_norm(g->P_plus[k]) + cr_norm(g->P_minus[k]);
        size = fmax(size, both * scale_of(c, params, k));
    }
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        if (!g->reads[k] || !may_change(name, c, k)) continue;
        double s = scale_of(c, params, k);
        for (int side = -1; side <= 1; side += 2) {
            crVec3 P, V;
            if (!difference(name, c, params, k, side, 1e-6 * s, &P, &V)) continue;
            crVec3 dP = side < 0 ? g->P_minus[k] : g->P_plus[k];
            crVec3 dV = side < 0 ? g->V_minus[k] : g->V_plus[k];
            double off = cr_norm(cr_sub(dP, P)) * s;
            test_check(off <= 1e-7 * size, __FILE__, __LINE__, "%s: dP/d%s, side %d, is off by %g of %g",
                       name, cr_law_input_name((crLawInput)k), side, off, size);
            double trace = c->W.m[0][0] + c->W.m[1][1] + c->W.m[2][2];
            CHECK(cr_norm(cr_sub(dV, V)) * s <= 1e-7 * (trace * size + cr_norm(c->V)));
        }
        kinks += cr_norm(cr_sub(g->P_plus[k], g->P_minus[k])) * s > 1e-4 * size;
    }
    return kinks;
}

// Friction that just holds: the law's own impulse under large friction gives the ratio.
static double limit_of(const char* name, crCollision c, const crLawParams* params, bool first_stage) {
    crLaw law;
    crHit hit = {0};
    c.mu = 1e6;
    if (first_stage) c.e = 0.0;
    CHECK_STATUS(cr_law_find(name, params, &law, NULL), CR_OK);
    CHECK_STATUS(cr_law_apply(&law, &c, &hit, NULL), CR_OK);
    double Pn = cr_dot(hit.P, c.n);
    return cr_norm(cr_madd(hit.P, -Pn, c.n)) / Pn;
}

static void check_limit(const char* name, int kind, bool first_stage, crSwitch which) {
    crRandom random = sample_seed(5);
    int used = 0, none = 0;
    for (int i = 0; i < 300; i++) {
        crCollision c =
            kind == SAMPLE_KINDS ? sample_flat(&random) : sample_regular(&random, (crSampleKind)kind);
        crLawParams params = sample_params(&random);
        double mu = limit_of(name, c, &params, first_stage);
        if (!(mu > 0.05 && mu < 1.5)) continue;
        c.mu = mu;
        crGradient g = gradient_of(name, &c, &params);
        CHECK(g.hit.regime != CR_REGIME_NO_SOLUTION);
        CHECK(g.verdict != CR_SMOOTH);
        CHECK(g.distance <= CR_GRADIENT_TOL);
        CHECK(g.nearest == which);
        if (g.verdict == CR_NO_DERIVATIVE) {
            // several solutions: the law really jumps there
            crLaw law;
            crHit above, below;
            CHECK_STATUS(cr_law_find(name, &params, &law, NULL), CR_OK);
            c.mu = mu * (1.0 + 1e-7);
            CHECK_STATUS(cr_law_apply(&law, &c, &above, NULL), CR_OK);
            c.mu = mu * (1.0 - 1e-7);
            CHECK_STATUS(cr_law_apply(&law, &c, &below, NULL), CR_OK);
            double step = cr_norm(cr_sub(above.P, below.P));
            CHECK(step > 1e-4 * cr_norm(g.hit.P));
            CHECK_NEAR(cr_norm(g.jump), step, 1e-3 * step);
            none++;
            continue;
        }
        CHECK(g.switches == 1);
        // another switch nearby, or another solution, spoils the differences, not the gradient
        bool alone = true;
        const double shares[] = {-0.02, -2e-4, 2e-4, 0.02};
        for (int j = 0; j < 4; j++) {
            crCollision beside = c;
            beside.mu = mu * (1.0 + shares[j]);
            crGradient there = gradient_of(name, &beside, &params);
            bool far = there.distance > 2e-3 || fabs(shares[j]) < 0.01;
            alone = alone && far && there.hit.solutions == 1;
        }
        if (!alone) continue;
        CHECK(check_sides(name, &c, &params, &g) > 0);
        CHECK(g.normal[CR_BY_MU] != 0.0);
        used++;
    }
    test_check(used > 20, __FILE__, __LINE__, "%s: %d limits tried, %d jumps", name, used, none);
}

TEST(friction_that_just_holds) {
    check_limit("chatterjee-ruina", SAMPLE_BODIES, false, CR_SWITCH_CONE);
    check_limit("chatterjee-ruina", SAMPLE_KINDS, false, CR_SWITCH_CONE);
    check_limit("bilinear", SAMPLE_SPHERES, false, CR_SWITCH_CONE);
    check_limit("whittaker", SAMPLE_BODIES, false, CR_SWITCH_STICK);
    check_limit("whittaker", SAMPLE_KINDS, false, CR_SWITCH_STICK);
    check_limit("anitescu-potra", SAMPLE_BODIES, true, CR_SWITCH_STICK);
    check_limit("anitescu-potra", SAMPLE_KINDS, true, CR_SWITCH_STICK);
    check_limit("pfeiffer-glocker", SAMPLE_KINDS, true, CR_SWITCH_STICK);
}

// A contact that grazes along t1 = y, with coupling w between n and the slip.
static crCollision grazing(double w, double mu) {
    crCollision c = cr_collision();
    c.W = (crMat3){{{1, w, 0.1}, {w, 2, 0.2}, {0.1, 0.2, 1.5}}};
    c.V = cr_vec3(0.0, 0.8, 0.3);
    c.mu = mu;
    c.e = 0.5;
    c.et = 0.3;
    return c;
}

TEST(grazing_is_one_sided_or_a_jump) {
    const char* const names[] = {"newton", "chatterjee-ruina", "whittaker",
                                 "smith",  "anitescu-potra",   "brach"};
    crLawParams params = cr_law_params();
    params.mu2 = 0.1;
    for (int i = 0; i < 6; i++) {
        crCollision c = grazing(0.2, 0.4);
        crGradient g = gradient_of(names[i], &c, &params);
        CHECK(g.verdict == CR_ONE_SIDED);
        CHECK(g.nearest == CR_SWITCH_OPEN);
        CHECK(g.distance == 0.0);
        CHECK(g.beyond == CR_REGIME_SEPARATE);
        CHECK(cr_norm(g.P_plus[CR_BY_VX]) == 0.0);
        CHECK(cr_norm(g.P_minus[CR_BY_VX]) > 0.1);
        CHECK(check_sides(names[i], &c, &params, &g) > 0);
        // a hair on the other side
        c.V.x = 1e-12;
        crGradient open = gradient_of(names[i], &c, &params);
        CHECK(open.verdict == CR_ONE_SIDED);
        CHECK(open.hit.regime == CR_REGIME_SEPARATE);
        CHECK(cr_norm(cr_sub(open.P_minus[CR_BY_VX], g.P_minus[CR_BY_VX])) < 1e-9);
        CHECK(cr_norm(open.P_plus[CR_BY_VX]) == 0.0);
        // and well beyond
        c.V.x = 0.5;
        open = gradient_of(names[i], &c, &params);
        CHECK(open.verdict == CR_SMOOTH);
        CHECK_NEAR(open.distance, 0.5 / cr_norm(c.V), 1e-15);
        for (int k = 0; k < CR_LAW_INPUTS; k++)
            CHECK(cr_norm(open.P_plus[k]) == 0.0);
        CHECK_VEC(open.V_plus[CR_BY_VX], cr_vec3(1, 0, 0), 0.0);
    }
    // friction presses the bodies together: a finite impulse at n.V = 0
    const char* const jumping[] = {"routh", "anitescu-potra", "compliant"};
    for (int i = 0; i < 3; i++) {
        crCollision c = grazing(1.2, 1.4);
        crGradient g = gradient_of(jumping[i], &c, &params);
        CHECK(cr_norm(g.hit.P) > 0.1);
        CHECK(g.verdict == CR_NO_DERIVATIVE);
        CHECK(g.nearest == CR_SWITCH_OPEN);
        CHECK_NEAR(cr_norm(g.jump), cr_norm(g.hit.P), 1e-3 * cr_norm(g.hit.P));
    }
    // without a rebound differences find the same kink
    const char* const differenced[] = {"routh", "compliant"};
    for (int i = 0; i < 2; i++) {
        crCollision c = grazing(0.2, 0.4);
        crGradient g = gradient_of(differenced[i], &c, &params);
        CHECK(g.differenced);
        CHECK(g.verdict == CR_ONE_SIDED);
        CHECK(g.nearest == CR_SWITCH_OPEN);
        CHECK(cr_norm(g.P_plus[CR_BY_VX]) == 0.0);
        CHECK(cr_norm(g.P_minus[CR_BY_VX]) > 0.1);
    }
}

TEST(a_singular_W_has_no_derivative) {
    const char* const names[] = {"chatterjee-ruina", "whittaker", "smith", "anitescu-potra", "routh",
                                 "compliant",        "projected"};
    crLawParams params = cr_law_params();
    crCollision c = cr_collision();
    // rank 2: the direction (0.6, 0.8, 0) is blocked, and V is in the range of W
    c.W = (crMat3){{{0.64, -0.48, 0}, {-0.48, 0.36, 0}, {0, 0, 1}}};
    c.V = cr_vec3(-0.64, 0.48, 0.3);
    c.mu = 0.4;
    for (int i = 0; i < 7; i++) {
        crGradient g = gradient_of(names[i], &c, &params);
        CHECK(g.verdict == CR_NO_DERIVATIVE);
        CHECK(g.distance == 0.0);
        CHECK(isnan(g.P_plus[CR_BY_VX].x) && isnan(g.V_minus[CR_BY_WXX].x) && isnan(g.P_minus[CR_BY_MU].y));
    }
    // without friction only n counts
    crGradient g = gradient_of("newton", &c, NULL);
    CHECK(g.verdict == CR_SMOOTH);
    CHECK_NEAR(g.P_plus[CR_BY_VX].x, -1.0 / 0.64, 1e-15);
    c.W = (crMat3){{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    g = gradient_of("newton", &c, NULL);
    CHECK(g.hit.regime == CR_REGIME_NO_SOLUTION);
    CHECK(g.verdict == CR_NO_DERIVATIVE && isnan(g.P_plus[CR_BY_E].x));
    // head on without any friction: every law is newton's, and friction has no slip to act against
    c = cr_collision();
    c.V = cr_vec3(-1, 0, 0);
    g = gradient_of("whittaker", &c, NULL);
    CHECK(g.verdict == CR_SMOOTH && g.P_plus[CR_BY_VX].x == -(1.0 + c.e) &&
          cr_norm(g.P_plus[CR_BY_VY]) == 0.0);
    CHECK_NEAR(cr_norm(g.P_plus[CR_BY_MU]), 0.0, 1e-12);
}

// Laws of the user.
static crStatus own_newton(const void* params, const crContact* c, crHit* hit, crError* error) {
    (void)params;
    (void)error;
    hit->P = cr_vec3(-(1.0 + c->e) * c->V.x / c->W.xx, 0, 0);
    return CR_OK;
}
// a kink or a jump where mu passes 1/2
static crStatus own_kink(const void* params, const crContact* c, crHit* hit, crError* error) {
    own_newton(params, c, hit, error);
    hit->P.x *= 1.0 + 0.5 * fmax(0.0, c->mu - 0.5);
    return CR_OK;
}
static crStatus own_jump(const void* params, const crContact* c, crHit* hit, crError* error) {
    own_newton(params, c, hit, error);
    if (c->mu > 0.5) hit->P.x *= 1.25;
    return CR_OK;
}

TEST(a_law_of_the_user_is_differenced) {
    crRandom random = sample_seed(3);
    crCollision c = sample_regular(&random, SAMPLE_BODIES);
    crLaw law = {"newton", own_newton, NULL};  // its name does not matter
    crGradient g, exact = gradient_of("newton", &c, NULL);
    CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
    CHECK(g.differenced && g.verdict == CR_SMOOTH && !exact.differenced);
    for (int k = 0; k < CR_LAW_INPUTS; k++) {
        double off = cr_norm(cr_sub(g.P_plus[k], exact.P_plus[k]));
        CHECK(off <= 10.0 * g.error[k] + 1e-10 * cr_norm(exact.P_plus[k]));
        CHECK(g.error[k] <= 1e-8 * fmax(1.0, cr_norm(exact.P_plus[k])));
        CHECK(exact.error[k] == 0.0);
    }
    c.mu = 0.5;
    double Pn = cr_norm(gradient_of("newton", &c, NULL).hit.P);
    law.apply = own_kink;
    CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
    CHECK(g.verdict == CR_ONE_SIDED && g.nearest == CR_SWITCH_UNKNOWN);
    CHECK_NEAR(cr_norm(g.P_minus[CR_BY_MU]), 0.0, 1e-9 * Pn);
    CHECK_NEAR(cr_norm(g.P_plus[CR_BY_MU]), 0.5 * Pn, 1e-8 * Pn);
    law.apply = own_jump;
    CHECK_STATUS(cr_law_gradient(&law, &c, CR_GRADIENT_TOL, &g, NULL), CR_OK);
    CHECK(g.verdict == CR_NO_DERIVATIVE);
    CHECK_NEAR(cr_norm(g.jump), 0.25 * Pn, 1e-4 * Pn);
}

TEST(a_composite_is_the_sum_of_its_laws) {
    crRandom random = sample_seed(4);
    crCollision c = sample_regular(&random, SAMPLE_BODIES);
    crLawParams brach = cr_law_params(), params = cr_law_params();
    brach.mu2 = 0.05;
    const crLaw laws[] = {cr__law(&cr__law_chatterjee_ruina, NULL), cr__law(&cr__law_brach, &brach),
                          cr__law(&cr__law_smith, NULL)};
    const double weights[] = {0.5, 0.3, 0.2};
    params.laws = laws;
    params.weights = weights;
    params.law_count = 3;
    crGradient sum = gradient_of("composite", &c, &params);
    crGradient part[3] = {gradient_of("chatterjee-ruina", &c, NULL), gradient_of("brach", &c, &brach),
                          gradient_of("smith", &c, NULL)};
    CHECK(sum.verdict == CR_SMOOTH && !sum.differenced && sum.reads[CR_BY_MU2] && !sum.reads[CR_BY_NU]);
    for (int k = 0; k < CR_BY_WEIGHT; k++) {
        crVec3 expected = {0, 0, 0};
        for (int i = 0; i < 3; i++)
            expected = cr_madd(expected, weights[i], part[i].P_plus[k]);
        CHECK_VEC(sum.P_plus[k], expected, 0.0);
    }
    for (int i = 0; i < 3; i++)
        CHECK_VEC(sum.P_plus[CR_BY_WEIGHT + i], part[i].hit.P, 0.0);
    CHECK_NEAR(sum.distance, fmin(part[0].distance, fmin(part[1].distance, part[2].distance)), 0.0);
}

TEST(a_table_of_e_is_followed) {
    const double speed[] = {0.5, 1.0, 2.0}, e[] = {0.9, 0.7, 0.6};
    crRestitution table = {.count = 3, .speed = speed, .e = e};
    crCollision c = cr_collision();
    c.W.m[0][0] = 2.0;
    c.e_of_speed = &table;
    // P = (1 + e(s)) s / 2 with s = -Vx, so dP/dVx = -(1 + e + s e')/2
    const double at[] = {0.8, 1.5, 3.0}, slope[] = {-0.4, -0.1, 0.0};
    for (int i = 0; i < 3; i++) {
        c.V = cr_vec3(-at[i], 0.2, 0.0);
        crGradient g = gradient_of("newton", &c, NULL);
        CHECK(g.verdict == CR_SMOOTH && !g.reads[CR_BY_E]);
        CHECK_NEAR(g.P_plus[CR_BY_VX].x, -(1.0 + cr_restitution_at(&table, at[i]) + at[i] * slope[i]) / 2,
                   1e-14);
    }
    c.V = cr_vec3(-1.0, 0.2, 0.0);
    crGradient g = gradient_of("newton", &c, NULL);
    CHECK(g.verdict == CR_ONE_SIDED && g.nearest == CR_SWITCH_TABLE);
    CHECK_NEAR(g.P_minus[CR_BY_VX].x, -(1.7 - 0.1) / 2, 1e-14);  // faster
    CHECK_NEAR(g.P_plus[CR_BY_VX].x, -(1.7 - 0.4) / 2, 1e-14);
}

TEST(names_and_refusals) {
    crCollision c = cr_collision();
    crLaw law = cr__law(&cr__law_newton, NULL);
    crGradient g;
    crError error;
    c.V.x = -1.0;
    CHECK_STATUS(cr_law_gradient(&law, &c, (double)NAN, &g, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "tolerance");
    CHECK_STATUS(cr_law_gradient(&law, &c, -1.0, &g, &error), CR_ERR_RANGE);
    c.mu = -1.0;
    CHECK_STATUS(cr_law_gradient(&law, &c, 0.0, &g, &error), CR_ERR_RANGE);
    CHECK_TEXT(error.field, "mu");
    CHECK_TEXT(cr_law_input_name(CR_BY_WXY), "Wxy");
    CHECK_TEXT(cr_law_input_name((crLawInput)(CR_BY_WEIGHT + 15)), "sigma15");
    CHECK_TEXT(cr_law_input_name((crLawInput)99), "unknown");
    CHECK_TEXT(cr_switch_name(CR_SWITCH_FRAME), "frame");
    CHECK_TEXT(cr_switch_name((crSwitch)99), "unknown");
    CHECK_TEXT(cr_smoothness_name(CR_ONE_SIDED), "one-sided");
    CHECK_TEXT(cr_smoothness_name((crSmoothness)99), "unknown");
}
