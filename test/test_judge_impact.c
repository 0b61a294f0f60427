// test_judge_impact.c - "permissible" of laws and rules against a judge in quadruple precision.
//
// Collisions of all ranks, W formed in floating point, impulses up to 1e18 times what they should be, friction
// from none to infinite, units over 24 decades. "yes" must be true, "no" must be true, and other units change
// neither. See judge.h.
#include "judge_count.h"
#include "judge_sample.h"
#include "test.h"

#include "resolve/kinds.h"
#include <stdlib.h>

#define TOL CR_PERMISSIBLE_TOL
#define SLOW \
    8  // laws and rules that integrate take part in one of so many collisions: they cost as much as all others

// W = B B^T of a rank, in floating point; columns over some decades
static crSym3 random_W(crRandom* r, int rank) {
    double B[3][3] = {{0}}, W[3][3];
    for (int k = 0; k < rank; k++) {
        double size = made_chance(r, 0.3) ? sample_log(r, 1e-6, 1.0) : 1.0;
        for (int i = 0; i < 3; i++) {
            B[i][k] = size * sample_uniform(r, -1.0, 1.0);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            W[i][j] = B[i][0] * B[j][0] + B[i][1] * B[j][1] + B[i][2] * B[j][2];
        }
    }
    return (crSym3){W[0][0], W[1][0], W[2][0], W[1][1], W[2][1], W[2][2]};
}

static crMat3 full(crSym3 W) {
    return (crMat3){{{W.xx, W.xy, W.xz}, {W.xy, W.yy, W.yz}, {W.xz, W.yz, W.zz}}};
}

static crContact random_contact(crRandom* r) {
    crContact c = {.W = random_W(r, 1 + made_below(r, 3)), .mu = made_mu(r)};
    c.e = made_chance(r, 0.3) ? 0.0 : made_chance(r, 0.3) ? 1.0 : sample_uniform(r, 0.0, 1.0);
    c.et = made_chance(r, 0.5) ? 0.0 : sample_uniform(r, -1.0, 1.0);
    c.V = cr_vec3(-sample_log(r, 1e-6, 3.0), sample_uniform(r, -3.0, 3.0), sample_uniform(r, -3.0, 3.0));
    // in the range of W, as that of a mechanism is
    if (made_chance(r, 0.5)) c.V = cr_sym3_mul(c.W, c.V);
    if (c.V.x > 0.0) c.V = cr_scale(-1.0, c.V);
    return c;
}

// impulses near the borders of the region, inside, outside and huge
static crVec3 random_impulse(crRandom* r, const crContact* c) {
    double size = sample_log(r, 1e-3, 10.0) / fmax(c->W.xx, 1e-12) * cr_norm(c->V);
    if (made_chance(r, 0.3)) size *= sample_log(r, 1.0, 1e18);
    double mu = isinf(c->mu) ? 3.0 : c->mu, angle = sample_uniform(r, 0.0, 6.283);
    double share = made_chance(r, 0.3) ? 1.0 : sample_uniform(r, 0.0, 1.2);
    crVec3 P = cr_vec3(size, share * mu * size * cos(angle), share * mu * size * sin(angle));
    if (made_chance(r, 0.1)) P.x = -P.x;
    // along what W blocks, where impulses do next to nothing
    crVec3 blocked = cr_cross(cr_vec3(c->W.xx, c->W.xy, c->W.xz), cr_vec3(c->W.xy, c->W.yy, c->W.yz));
    if (made_chance(r, 0.1) && cr_norm(blocked) > 0.0) {
        P = cr_madd(P, sample_log(r, 1.0, 1e18) * size / cr_norm(blocked), blocked);
    }
    // the energy's border: P.V + P.WP/2 = 0
    double work = cr_dot(P, c->V), stiff = cr_sym3_quad(c->W, P);
    if (made_chance(r, 0.4) && work < 0.0 && stiff > 0.0) {
        P = cr_scale(
            -2.0 * work / stiff * (1.0 + sample_log(r, 1e-17, 1e-6) * (made_chance(r, 0.5) ? 1 : -1)), P);
    }
    return P;
}

static void check_verdict(const crContact* c, crVec3 P, crTruth verdict, bool creates, const char* what) {
    crMat3 W = full(c->W);
    JudgeImpact truth = judge_impact(&W, c->V, cr_vec3(1, 0, 0), c->mu, P, TOL);
    bool fine = test_check(verdict != CR_TRUTH_YES || truth.may, __FILE__, __LINE__,
                           "%s: false permissible: energy %g approach %g tension %g cone %g", what,
                           truth.energy, truth.approach, truth.tension, truth.cone);
    fine = test_check(verdict != CR_TRUTH_NO || !truth.must, __FILE__, __LINE__, "%s: false not permissible",
                      what) &&
           fine;
    fine = test_check(!creates || truth.energy > 0.0, __FILE__, __LINE__, "%s: energy %g is not created",
                      what, truth.energy) &&
           fine;
    if (!fine) {
        printf("  W %.17g %.17g %.17g %.17g %.17g %.17g V %.17g %.17g %.17g mu %.17g P %.17g %.17g %.17g\n",
               c->W.xx, c->W.xy, c->W.xz, c->W.yy, c->W.yz, c->W.zz, c->V.x, c->V.y, c->V.z, c->mu, P.x, P.y,
               P.z);
    }
}

TEST(verdicts_of_any_impulse) {
    crRandom r = sample_seed(judge_seed(7201));
    int yes = 0, no = 0, unsure = 0, plain = 0, plain_unsure = 0;
    for (int i = 0; i < judge_count(8000, 3000000); i++) {
        crContact c = random_contact(&r);
        crVec3 P = random_impulse(&r, &c);
        crVerdict verdict = cr_impulse_verdict(&c, P, TOL);
        check_verdict(&c, P, verdict.verdict, verdict.creates_energy, "impulse");
        yes += verdict.verdict == CR_TRUTH_YES;
        no += verdict.verdict == CR_TRUTH_NO;
        unsure += verdict.verdict == CR_TRUTH_UNSURE;
        // a power of two of another unit changes nothing, any other unit at most into cannot tell
        double mass = made_below(&r, 2) == 0 ? 0x1p40 : 0x1p-40,
               speed = made_below(&r, 2) == 0 ? 0x1p40 : 0x1p-40;
        crContact d = c;
        d.W = (crSym3){c.W.xx / mass, c.W.xy / mass, c.W.xz / mass,
                       c.W.yy / mass, c.W.yz / mass, c.W.zz / mass};
        d.V = cr_scale(speed, c.V);
        crVerdict same = cr_impulse_verdict(&d, cr_scale(mass * speed, P), TOL);
        CHECK(same.verdict == verdict.verdict);
        CHECK(same.energy_change == verdict.energy_change * mass * speed * speed);
        mass = made_below(&r, 2) == 0 ? 1e12 : 1e-12;
        speed = made_below(&r, 2) == 0 ? 1e12 : 1e-12;
        d.W = (crSym3){c.W.xx / mass, c.W.xy / mass, c.W.xz / mass,
                       c.W.yy / mass, c.W.yz / mass, c.W.zz / mass};
        d.V = cr_scale(speed, c.V);
        same = cr_impulse_verdict(&d, cr_scale(mass * speed, P), TOL);
        // unless the energy lies between the brackets of what is available
        crMat3 W = full(c.W);
        JudgeImpact truth = judge_impact(&W, c.V, cr_vec3(1, 0, 0), c.mu, P, TOL);
        CHECK(same.verdict == verdict.verdict || same.verdict == CR_TRUTH_UNSURE ||
              verdict.verdict == CR_TRUTH_UNSURE || (truth.may && !truth.must));
        // an ordinary impulse has a plain answer
        bool ordinary = cr_norm(P) * c.W.xx < 1e3 * cr_norm(c.V) && c.W.xx > 1e-3 * (c.W.yy + c.W.zz);
        plain += ordinary;
        plain_unsure += ordinary && verdict.verdict == CR_TRUTH_UNSURE;
    }
    printf("  %d yes, %d no, %d cannot tell; of %d ordinary ones %d\n", yes, no, unsure, plain, plain_unsure);
    CHECK(yes > 100 && no > 100);
    CHECK(plain_unsure * 1000 <= plain);
}

TEST(verdicts_of_laws) {
    crRandom r = sample_seed(judge_seed(7202));
    int yes = 0, no = 0, unsure = 0, ordinary_no = 0;
    for (int i = 0; i < judge_count(200, 100000); i++) {
        crContact c = random_contact(&r);
        for (int k = 0; k < cr_law_count(); k++) {
            const char* name = cr_law_info(k)->name;
            if (i % SLOW > 0 && strcmp(name, "compliant") == 0) continue;
            crLawParams params = cr_law_params();
            crLaw parts[2] = {cr__law(&cr__law_newton, NULL), cr__law(&cr__law_chatterjee_ruina, NULL)};
            double weights[2] = {0.5, 0.5};
            params.law_count = 2;
            params.laws = parts;
            params.weights = weights;
            crLaw law;
            crHit hit;
            CHECK_STATUS(cr_law_find(name, &params, &law, NULL), CR_OK);
            if (cr_law_apply_contact(&law, &c, &hit, NULL) != CR_OK) continue;
            check_verdict(&c, hit.P, hit.verdict, hit.creates_energy, name);
            CHECK(hit.permissible == (hit.verdict == CR_TRUTH_YES));
            yes += hit.verdict == CR_TRUTH_YES;
            no += hit.verdict == CR_TRUTH_NO;
            unsure += hit.verdict == CR_TRUTH_UNSURE;
        }
        // ordinary collisions in the user's coordinates
        crCollision collision = sample_collision(&r, (crSampleKind)(i % SAMPLE_KINDS));
        for (int k = 0; k < cr_law_count(); k++) {
            const crLawInfo* info = cr_law_info(k);
            crLaw law;
            crHit hit;
            if (strcmp(info->name, "composite") == 0) continue;
            if (i % SLOW > 0 && strcmp(info->name, "compliant") == 0) continue;
            CHECK_STATUS(cr_law_find(info->name, NULL, &law, NULL), CR_OK);
            if (cr_law_apply(&law, &collision, &hit, NULL) != CR_OK) continue;
            JudgeImpact truth =
                judge_impact(&collision.W, collision.V, collision.n, collision.mu, hit.P, 1.01 * TOL);
            test_check(hit.verdict != CR_TRUTH_YES || truth.may, __FILE__, __LINE__,
                       "%s: false permissible: energy %g approach %g tension %g cone %g", info->name,
                       truth.energy, truth.approach, truth.tension, truth.cone);
            ordinary_no += hit.verdict == CR_TRUTH_NO && !info->may_create_energy;
        }
    }
    printf("  %d yes, %d no, %d cannot tell; ordinary collisions by laws that keep the region: %d no\n", yes,
           no, unsure, ordinary_no);
    CHECK(yes > 0);
}

// W of rank 2 in floating point: Smith's law has an impulse of 1e18 N s that gains 5e16 J
TEST(huge_impulse_is_not_permissible) {
    crCollision c = cr_collision();
    double W[3][3] = {{0.0012993703689067168, 0.009986494272803357, 0.0017087668667437744},
                      {0.009986494272803357, 0.07676435002262019, 0.01303044940491214},
                      {0.0017087668667437744, 0.01303044940491214, 0.003142441389663851}};
    memcpy(c.W.m, W, sizeof W);
    c.V = cr_vec3(-0.16615168315226014, 0.11792610468154816, -0.14204143932246843);
    c.n = cr_vec3(1, 0, 0);
    c.mu = 0.5;
    c.e = 1.0;
    crLaw law = cr__law(&cr__law_smith, NULL);
    crHit hit;
    CHECK_STATUS(cr_law_apply(&law, &c, &hit, NULL), CR_OK);
    JudgeImpact truth = judge_impact(&c.W, c.V, c.n, c.mu, hit.P, TOL);
    CHECK(truth.may || hit.verdict != CR_TRUTH_YES);
    CHECK(!truth.must || hit.verdict != CR_TRUTH_NO);
    // the impulse that once passed
    crContact contact = {
        .W = {W[0][0], W[0][1], W[0][2], W[1][1], W[1][2], W[2][2]}, .V = c.V, .mu = 0.5, .e = 1.0};
    crVerdict verdict = cr_impulse_verdict(&contact, cr_vec3(1.392e18, -0.178e18, -0.020e18), TOL);
    CHECK(verdict.verdict != CR_TRUTH_YES);
}

// rules

typedef struct Impact {
    crBlock block[5];
    double J[JUDGE_ROWS * 8], Minv[64], M[64], v[8], u[JUDGE_ROWS];
    crProblem problem;
} Impact;

// bodies of nv velocities, diagonal masses over decades, contacts and joints of random rows, some repeated
static void make_impact(crRandom* r, Impact* m) {
    memset(m, 0, sizeof *m);
    int nv = 2 + made_below(r, 5), blocks = 1 + made_below(r, 4), rows = 0;
    for (int i = 0; i < nv; i++) {
        m->M[i * nv + i] = sample_log(r, 1e-2, 1e2);
        m->Minv[i * nv + i] = 1.0 / m->M[i * nv + i];
        m->v[i] = sample_uniform(r, -1.0, 1.0);
    }
    for (int i = 0; i < blocks; i++) {
        int kind = made_below(r, 4);
        crBlock b = kind == 0   ? cr_block(CR_BLOCK_EQUALITY, rows, 1)
                    : kind == 1 ? cr_block(CR_BLOCK_UNILATERAL, rows, 1)
                                : cr_block(CR_BLOCK_CONE, rows, kind);
        b.mu = b.mu2 = made_mu(r);
        b.e = made_chance(r, 0.3) ? 1.0 : sample_uniform(r, 0.0, 1.0);
        bool twin = i > 0 && made_chance(r, 0.2) && m->block[i - 1].count == b.count;
        for (int k = 0; k < b.count; k++) {
            for (int j = 0; j < nv; j++) {
                m->J[(rows + k) * nv + j] =
                    twin ? m->J[(m->block[i - 1].row + k) * nv + j] : sample_uniform(r, -1.0, 1.0);
            }
        }
        m->block[i] = b;
        rows += b.count;
    }
    // joints hold before the impact: v is projected off their rows one after another, several times
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < blocks; i++) {
            if (m->block[i].kind != CR_BLOCK_EQUALITY) continue;
            const double* row = m->J + m->block[i].row * nv;
            double dot = 0.0, size = 0.0;
            for (int j = 0; j < nv; j++) {
                dot += row[j] * m->v[j];
                size += row[j] * row[j];
            }
            for (int j = 0; j < nv; j++) {
                m->v[j] -= dot / size * row[j];
            }
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < nv; j++) {
            m->u[i] += m->J[i * nv + j] * m->v[j];
        }
    }
    m->problem =
        (crProblem){.rows = rows, .block_count = blocks, .blocks = m->block, .u_free = m->u, .nv = nv};
    m->problem.J = (crMatrix){rows, nv, NULL, NULL, m->J};
    m->problem.M = (crMatrix){nv, nv, NULL, NULL, m->M};
    m->problem.Minv = (crMatrix){nv, nv, NULL, NULL, m->Minv};
    m->problem.v = m->v;
}

// Newton's rule is Coulomb's problem with b = e u on normals: "solved" claims that
static double newton_residual(const Impact* m, const double* p) {
    crProblem posed = m->problem;
    double b[JUDGE_ROWS] = {0};
    for (int i = 0; i < posed.block_count; i++) {
        const crBlock* block = &posed.blocks[i];
        int normals = block->kind == CR_BLOCK_CONE         ? 1
                      : block->kind == CR_BLOCK_UNILATERAL ? block->count
                                                           : 0;
        for (int k = 0; k < normals; k++) {
            b[block->row + k] = block->e * m->u[block->row + k];
        }
    }
    posed.b = b;
    return judge_problem(&posed, p, 1e-6, 1e-8).residual;
}

static void check_rule(const Impact* m, crArena* arena, int k, int* tally) {
    crRule rule;
    crRuleReport report;
    double p[JUDGE_ROWS] = {0};
    const char* name = cr_rule_info(k)->name;
    size_t mark = cr_arena_mark(arena);
    CHECK_STATUS(cr_rule_find(name, NULL, &rule, NULL), CR_OK);
    if (cr_rule_run(&rule, &m->problem, arena, p, &report, NULL) != CR_OK) {
        cr_arena_release(arena, mark);
        return;
    }
    bool convex = (report.flags & CR_RULE_CONVEX) != 0;
    JudgeRule truth = judge_rule(&m->problem, p, convex, TOL);
    tally[report.verdict]++;
    test_check(report.verdict != CR_TRUTH_YES || truth.may, __FILE__, __LINE__,
               "%s: false permissible: energy %g approach %g tension %g cone %g joint %g", name, truth.energy,
               truth.approach, truth.tension, truth.cone, truth.joint);
    test_check(!report.creates_energy || truth.energy > 0.0, __FILE__, __LINE__,
               "%s: energy %g is not created", name, truth.energy);
    if (strcmp(name, "newton") == 0 && report.outcome == CR_OUTCOME_SOLVED) {
        double residual = newton_residual(m, p);
        tally[3]++;
        test_check(residual <= 1e-8, __FILE__, __LINE__, "newton: false solved, true residual %g", residual);
    }
    cr_arena_release(arena, mark);
}

TEST(verdicts_of_rules) {
    crRandom r = sample_seed(judge_seed(7203));
    crArena arena;
    Impact m;
    int tally[4] = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    for (int i = 0; i < judge_count(150, 125000); i++) {
        make_impact(&r, &m);
        for (int k = 0; k < cr_rule_count(); k++) {
            if (i % SLOW > 0 && strcmp(cr_rule_info(k)->name, "chain") == 0) continue;
            check_rule(&m, &arena, k, tally);
        }
    }
    printf("  %d yes, %d no, %d cannot tell; newton solved %d\n", tally[CR_TRUTH_YES], tally[CR_TRUTH_NO],
           tally[CR_TRUTH_UNSURE], tally[3]);
    CHECK(tally[CR_TRUTH_YES] > 0 && tally[3] > 0);
    cr_arena_destroy(&arena);
}

// an impact of two or three velocities with rows of given kinds (0: joint, 1: normal, 2: planar cone), diagonal masses
static void pose_impact(Impact* m, int nv, int rows, const double* J, const double* mass, const double* v,
                        const int* kind, double mu, double e) {
    memset(m, 0, sizeof *m);
    int blocks = 0;
    for (int r = 0; r < rows; r += m->block[blocks++].count) {
        m->block[blocks] = kind[r] == 0   ? cr_block(CR_BLOCK_EQUALITY, r, 1)
                           : kind[r] == 1 ? cr_block(CR_BLOCK_UNILATERAL, r, 1)
                                          : cr_block(CR_BLOCK_CONE, r, 2);
        m->block[blocks].mu = m->block[blocks].mu2 = mu;
        m->block[blocks].e = e;
    }
    memcpy(m->J, J, (size_t)(rows * nv) * sizeof *J);
    memcpy(m->v, v, (size_t)nv * sizeof *v);
    for (int i = 0; i < nv; i++) {
        m->M[i * nv + i] = mass[i];
        m->Minv[i * nv + i] = 1.0 / mass[i];
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < nv; j++) {
            m->u[i] += J[i * nv + j] * v[j];
        }
    }
    m->problem =
        (crProblem){.rows = rows, .block_count = blocks, .blocks = m->block, .u_free = m->u, .nv = nv};
    m->problem.J = (crMatrix){rows, nv, NULL, NULL, m->J};
    m->problem.M = (crMatrix){nv, nv, NULL, NULL, m->M};
    m->problem.Minv = (crMatrix){nv, nv, NULL, NULL, m->Minv};
    m->problem.v = m->v;
}

static void check_newton(const Impact* m, const char* what) {
    crArena arena;
    crRule rule;
    CHECK_STATUS(cr_rule_find("newton", NULL, &rule, NULL), CR_OK);
    crRuleReport report;
    double p[JUDGE_ROWS] = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_rule_run(&rule, &m->problem, &arena, p, &report, NULL), CR_OK);
    double residual = newton_residual(m, p);
    test_check(report.outcome != CR_OUTCOME_SOLVED || residual <= 1e-8, __FILE__, __LINE__,
               "%s: false solved, true residual %g", what, residual);
    JudgeRule truth = judge_rule(&m->problem, p, false, TOL);
    test_check(report.verdict != CR_TRUTH_YES || truth.may, __FILE__, __LINE__, "%s: false permissible",
               what);
    cr_arena_destroy(&arena);
}

// joints that nearly or wholly block a contact: what is left once they are eliminated has few digits
TEST(newton_with_joints_that_block) {
    Impact m;
    double J[4][3] = {{0.67171606177740917, 0.94222858700414425, -0.36807971455287269},
                      {0.49066312657211353, 0.60577047849114307, 0.14428772526087075},
                      {-0.72284685774706037, 0.72556404942107378, 0.26426274728313714},
                      {-0.36562791095095548, -0.47611090907441733, -0.093174440677549875}};
    double mass[3] = {7.2367190165875881, 0.013676883986276419, 0.05530170258442433};
    double v[3] = {-0.74373513160195615, 0.557485155664312, 0.069821274614809942};
    pose_impact(&m, 3, 4, J[0], mass, v, (int[]){0, 2, 2, 0}, 0.0171213, 0.929627);
    check_newton(&m, "nearly blocked");
    double rows[3][2] = {{0.58440413137039826, -0.90583815640787058},
                         {0.47562231746796657, 0.73347806470793842},
                         {0.40018032227616485, 0.57959528107742075}};
    double two[2] = {65.094754133991543, 1.3119203684751317},
           w[2] = {-0.29549824219706478, 0.2040261293615773};
    pose_impact(&m, 2, 3, rows[0], two, w, (int[]){1, 0, 0}, 0.0, 1.0);
    check_newton(&m, "blocked");
}

// squares of these speeds underflow
TEST(newton_at_speeds_that_underflow) {
    double J[3][2] = {{0.90469843074158862, -0.61197877266427314},
                      {-0.58594660052502112, 0.26409686637213903},
                      {0.16069864373486631, 0.40276471016156146}};
    double mass[2] = {2.8122261829301651, 25.967981880713339};
    for (double size = 1.0; size > 1e-300; size *= 0x1p-40) {
        Impact m;
        double v[2] = {-3.1354715414797319e-1 * size, 1.2510183029266561e-1 * size};
        pose_impact(&m, 2, 3, J[0], mass, v, (int[]){1, 0, 0}, 0.0, 0.3);
        check_newton(&m, "joints");
        pose_impact(&m, 2, 2, J[0], mass, v, (int[]){1, 1, 0}, 0.0, 0.3);
        check_newton(&m, "contacts");
    }
}

// any impulses at all, as a user's own rule could give them
static crStatus give(const void* params, const crProblem* problem, crArena* arena, double* p,
                     crRuleReport* report, crError* error) {
    (void)arena;
    (void)error;
    memcpy(p, params, (size_t)problem->rows * sizeof *p);
    report->outcome = CR_OUTCOME_SOLVED;
    return CR_OK;
}

TEST(verdicts_of_any_rule) {
    crRandom r = sample_seed(judge_seed(7204));
    crArena arena;
    Impact m;
    int tally[3] = {0};
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    for (int i = 0; i < judge_count(2000, 1000000); i++) {
        make_impact(&r, &m);
        double p[JUDGE_ROWS], given[JUDGE_ROWS];
        crRuleReport report;
        crRule rule = cr__rule(&cr__rule_newton, NULL), own = {"own", give, given};
        size_t mark = cr_arena_mark(&arena);
        if (cr_rule_run(&rule, &m.problem, &arena, p, &report, NULL) != CR_OK) continue;
        // an answer of Newton's rule, with one impulse a little off, or none at all
        memcpy(given, p, sizeof p);
        int off = made_below(&r, m.problem.rows);
        given[off] = made_chance(&r, 0.2)
                         ? 0.0
                         : given[off] * (1.0 + sample_log(&r, 1e-12, 1.0) * (i % 2 == 0 ? 1 : -1));
        CHECK_STATUS(cr_rule_run(&own, &m.problem, &arena, p, &report, NULL), CR_OK);
        JudgeRule truth = judge_rule(&m.problem, p, false, TOL);
        tally[report.verdict]++;
        test_check(report.verdict != CR_TRUTH_YES || truth.may, __FILE__, __LINE__,
                   "false permissible: energy %g approach %g tension %g cone %g joint %g", truth.energy,
                   truth.approach, truth.tension, truth.cone, truth.joint);
        cr_arena_release(&arena, mark);
    }
    printf("  %d yes, %d no, %d cannot tell\n", tally[CR_TRUTH_YES], tally[CR_TRUTH_NO],
           tally[CR_TRUTH_UNSURE]);
    CHECK(tally[CR_TRUTH_YES] > 0 && tally[CR_TRUTH_NO] > 0);
    cr_arena_destroy(&arena);
}

// Impacts of 150,000 whose impulses solve what is left without the joints, but not the impact.
TEST(solved_without_joints) {
    static const uint64_t seeds[] = {73988, 127947};
    crArena arena;
    int tally[4] = {0}, newton = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    while (strcmp(cr_rule_info(newton)->name, "newton") != 0) {
        newton++;
    }
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        crRandom r = sample_seed(seeds[i]);
        Impact m;
        make_impact(&r, &m);
        check_rule(&m, &arena, newton, tally);
    }
    cr_arena_destroy(&arena);
}

// a pendulum that jams: Newton's rule with friction has no solution here
TEST(pendulum_without_solution) {
    Impact m = {0};
    double c = 0.46984631039295416, s = 0.17101007166283438;
    double J[4][3] = {{0, 1, s}, {1, 0, c}, {1, 0, -c}, {0, 1, -s}}, v[3] = {-c, -s, -1};
    double mass[3] = {1, 1, 0.08333333333333333};
    m.block[0] = cr_block(CR_BLOCK_CONE, 0, 2);
    m.block[0].mu = m.block[0].mu2 = 0.5;
    m.block[0].e = 1.0;
    m.block[1] = cr_block(CR_BLOCK_EQUALITY, 2, 2);
    for (int i = 0; i < 3; i++) {
        m.M[i * 3 + i] = mass[i];
        m.Minv[i * 3 + i] = 1.0 / mass[i];
        m.v[i] = v[i];
    }
    memcpy(m.J, J, sizeof J);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 3; j++) {
            m.u[i] += J[i][j] * v[j];
        }
    }
    m.problem = (crProblem){.rows = 4, .block_count = 2, .blocks = m.block, .u_free = m.u, .nv = 3};
    m.problem.J = (crMatrix){4, 3, NULL, NULL, m.J};
    m.problem.M = (crMatrix){3, 3, NULL, NULL, m.M};
    m.problem.Minv = (crMatrix){3, 3, NULL, NULL, m.Minv};
    m.problem.v = m.v;
    crArena arena;
    crRule rule = cr__rule(&cr__rule_newton, NULL);
    crRuleReport report;
    double p[4];
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_rule_run(&rule, &m.problem, &arena, p, &report, NULL), CR_OK);
    CHECK(report.outcome != CR_OUTCOME_SOLVED && report.outcome != CR_OUTCOME_NEAR);
    CHECK(report.verdict != CR_TRUTH_YES || judge_rule(&m.problem, p, false, TOL).may);
    cr_arena_destroy(&arena);
}
