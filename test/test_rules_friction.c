// Rules with friction: bodies in space, planar closed forms, and what each rule promises.
#include "impact_case.h"
#include "resolve/kinds.h"

// bodies with six coordinates each, touching at random points with random normals; body 0 of a pair may be
// ground
static Case* random_bodies(crRandom* random, int bodies, int contacts, double e, double et, double mu) {
    Case* c = case_make(6 * bodies, NULL);
    double v[CASE_NV];
    for (int i = 0; i < bodies; i++) {
        double mass = sample_log(random, 0.3, 3);
        for (int k = 0; k < 6; k++) {
            int at = 6 * i + k;
            c->M[at * c->nv + at] = k < 3 ? mass : mass * sample_uniform(random, 0.1, 0.5);
            v[at] = sample_uniform(random, -1, 1);
        }
    }
    for (int i = 0; i < contacts; i++) {
        int b = i % bodies;
        int a = (int)sample_uniform(random, -1, bodies);
        double rows[3 * CASE_NV] = {0};
        crMat3 frame = cr_frame(sample_direction(random));
        for (int side = 0; side < 2; side++) {
            int body = side == 0 ? b : a;
            if (body < 0 || (side == 1 && a == b)) continue;
            double reach = sample_uniform(random, 0.2, 1);
            crVec3 r = cr_scale(reach, sample_direction(random));
            for (int k = 0; k < 3; k++) {
                crVec3 d = cr_scale(side == 0 ? 1.0 : -1.0, cr_mat3_column(frame, k));
                crVec3 turn = cr_cross(r, d);
                double row[6] = {d.x, d.y, d.z, turn.x, turn.y, turn.z};
                memcpy(rows + k * c->nv + 6 * body, row, sizeof row);
            }
        }
        double own_mu = mu >= 0.0 ? mu : sample_uniform(random, 0, 1);
        double own_e = e >= 0.0 ? e : sample_uniform(random, 0, 1);
        double own_et = et >= -1.0 ? et : sample_uniform(random, -1, 1);
        case_cone(c, 3, rows, own_mu, own_e, own_et);
    }
    case_velocity(c, v);
    return c;
}

// Mirtich's trial: ten bodies and thirty contacts, one impact at a time by Chatterjee and Ruina's law
TEST(ten_bodies_thirty_contacts) {
    crRandom random = sample_seed(20);
    crRule rule = cr__rule(&cr__rule_sequence, NULL);
    int most = 0, jumped = 0, truncated = 0, limits = 0;
    double approach = 0.0;
    int n = test_samples(6000);
    for (int i = 0; i < n; i++) {
        Case* c = random_bodies(&random, 10, 30, -1.0, -2.0, -1.0);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(c->report.permissible && c->report.energy_change < 0.0 && c->report.unique == CR_UNIQUE_YES);
        CHECK(c->report.audit.momentum < 1e-13);
        CHECK_NEAR(c->report.energy_change, case_energy(c, c->v_plus) - case_energy(c, c->v),
                   1e-12 * case_energy(c, c->v));
        most = c->report.steps > most ? c->report.steps : most;
        jumped += (c->report.flags & CR_RULE_EXTRAPOLATED) != 0;
        truncated += (c->report.flags & CR_RULE_TRUNCATED) != 0;
        limits += c->report.outcome != CR_OUTCOME_SOLVED;
        approach = fmax(approach, -c->report.margins.penetration);
        case_free(c);
    }
    CHECK(limits == 0 && approach < 1e-10);
    printf("ten bodies, thirty contacts: %d impacts resolved in at most %d steps, %d summed, %d cut off, "
           "approach left "
           "%.1e m/s\n",
           n, most, jumped, truncated, approach);
}

// weighted, one e and et for all: no energy, all cones, the pressed contacts leave at -e u
TEST(weighted_never_creates_energy) {
    crRandom random = sample_seed(21);
    crRule rule = cr__rule(&cr__rule_weighted, NULL);
    double created = -1.0, cone = 0.0;
    int n = test_samples(30000), driven_into = 0;
    for (int i = 0; i < n; i++) {
        double e = sample_uniform(&random, 0, 1), et = sample_uniform(&random, -1, 1);
        Case* c = random_bodies(&random, 1 + i % 3, 1 + i % 5, e, et, -1.0);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(c->report.outcome == CR_OUTCOME_SOLVED);
        double E = case_energy(c, c->v);
        created = fmax(created, (case_energy(c, c->v_plus) - E) / E);
        CHECK(!c->report.creates_energy);
        double size = 0.0;
        for (int k = 0; k < c->blocks; k++) {
            const double* p = c->p + 3 * k;
            size = fmax(size, fabs(p[0]));
            cone = fmax(cone, (sqrt(p[1] * p[1] + p[2] * p[2]) - c->block[k].mu * p[0]) / fmax(size, 1e-3));
            CHECK(p[0] >= 0.0);
        }
        driven_into += !c->report.permissible;
        CHECK(c->report.permissible || c->report.margins.penetration < 0.0);
        case_free(c);
    }
    CHECK(created < 1e-12 && cone < 1e-13);
    printf("weighted: most energy created %.1e, cones off by %.1e; %d of %d leave a contact driven into, "
           "reported\n",
           created, cone, driven_into, n);
}

// the two stages of Anitescu and Potra, from p and from the compression alone
TEST(poisson_with_friction_has_its_two_stages) {
    crRandom random = sample_seed(22);
    crRule poisson = cr__rule(&cr__rule_poisson, NULL), soft = cr__rule(&cr__rule_coupled, NULL);
    double normal = 0.0, friction = 0.0;
    int slips = 0, unsolved = 0, created = 0, n = test_samples(3000);
    for (int i = 0; i < n; i++) {
        Case* c = random_bodies(&random, 1 + i % 2, 1 + i % 3, -1.0, 0.0, 0.4);
        double p[9], u[9];
        CHECK_STATUS(case_run(c, &poisson), CR_OK);
        bool solved = c->report.outcome == CR_OUTCOME_SOLVED;
        created += c->report.creates_energy;
        CHECK(c->report.permissible || c->report.creates_energy || !solved);
        memcpy(p, c->p, sizeof p);
        memcpy(u, c->u_plus, sizeof u);
        CHECK_STATUS(case_run(c, &soft), CR_OK);
        solved = solved && c->report.outcome == CR_OUTCOME_SOLVED;
        unsolved += !solved;
        for (int k = 0; k < c->blocks && solved; k++) {
            const double *p1 = c->p + 3 * k, *after = u + 3 * k;
            double p2[3] = {p[3 * k] - p1[0], p[3 * k + 1] - p1[1], p[3 * k + 2] - p1[2]};
            normal = fmax(normal, fabs(fmin(after[0], p2[0] - c->block[k].e * p1[0])));
            double slip = sqrt(after[1] * after[1] + after[2] * after[2]), limit = 0.4 * p2[0];
            friction = fmax(friction, sqrt(p2[1] * p2[1] + p2[2] * p2[2]) - limit);
            if (slip < 1e-6) continue;
            slips++;
            friction = fmax(friction, fabs(p2[1] + limit * after[1] / slip));
            friction = fmax(friction, fabs(p2[2] + limit * after[2] / slip));
        }
        case_free(c);
    }
    CHECK(normal < 1e-8 && friction < 1e-7 && unsolved < n / 20 && slips > n / 4);
    printf("poisson with friction: normal conditions off by %.1e, friction by %.1e, %d of %d unsolved, %d "
           "create "
           "energy, reported\n",
           normal, friction, unsolved, n, created);
}

// errata of Chatterjee and Ruina's table: at grazing the two-stage law does rebound
TEST(poisson_rebounds_at_grazing) {
    const double W[4] = {1, -0.8, -0.8, 1}, u[2] = {-1e-10, -1};
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 2);
    block.mu = block.mu2 = 1.6;
    block.e = 0.5;
    crProblem problem = {.rows = 2, .block_count = 1, .blocks = &block, .u_free = u};
    problem.W = (crMatrix){2, 2, NULL, NULL, W};
    crAllocator libc = cr_allocator_libc();
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &libc, 1 << 16), CR_OK);
    crRule rule = cr__rule(&cr__rule_poisson, NULL);
    crRuleReport report;
    double p[2], after[2];
    CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, p, &report, NULL), CR_OK);
    CHECK_STATUS(cr_problem_velocity(&problem, &arena, p, after), CR_OK);
    CHECK_NEAR(p[0], 10.0 / 3, 1e-8);
    CHECK_NEAR(p[1], 11.0 / 3, 1e-8);
    CHECK_NEAR(after[0], 0.4, 1e-8);
    CHECK_NEAR(after[1], 0.0, 1e-8);
    CHECK(report.permissible);
    cr_arena_destroy(&arena);
}

// one planar contact by cases: stick if the cone holds it, else slide against the slip after
static bool planar_stage(double W[2][2], const double* u, double mu, double given, double* p) {
    // p_n >= given, friction within mu p_n; returns the first consistent case
    for (int way = 0; way < 6; way++) {
        // ways 0 to 2: p_n = given (open), 3 to 5: u_n = 0 (pressed); stick, slip +, slip -
        double s = way % 3 == 0 ? 0.0 : (way % 3 == 1 ? 1.0 : -1.0);
        if (way < 3) {
            p[0] = given;
            p[1] = s == 0.0 ? -(u[1] + W[1][0] * given) / W[1][1] : -s * mu * given;
        } else if (s == 0.0) {
            double det = W[0][0] * W[1][1] - W[0][1] * W[1][0];
            p[0] = (-W[1][1] * u[0] + W[0][1] * u[1]) / det;
            p[1] = (-W[0][0] * u[1] + W[1][0] * u[0]) / det;
        } else {
            p[0] = -u[0] / (W[0][0] - s * mu * W[0][1]);
            p[1] = -s * mu * p[0];
        }
        double un = u[0] + W[0][0] * p[0] + W[0][1] * p[1], ut = u[1] + W[1][0] * p[0] + W[1][1] * p[1];
        bool normal = way < 3 ? un >= -1e-12 : p[0] >= given - 1e-12;
        bool tangent = s == 0.0 ? fabs(p[1]) <= mu * p[0] + 1e-12 : s * ut >= -1e-12;
        if (normal && tangent) return true;
    }
    return false;
}

TEST(planar_poisson_by_cases) {
    crRandom random = sample_seed(23);
    crAllocator libc = cr_allocator_libc();
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &libc, 1 << 16), CR_OK);
    crRule rule = cr__rule(&cr__rule_poisson, NULL);
    double worst = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        // a rod struck at its end: W is definite, and with mu < 1 each stage has one solution in nearly all
        // draws
        double a = sample_uniform(&random, 0.1, 3.0), c = cos(a), s = sin(a);
        double W[2][2] = {{1 + 3 * c * c, -3 * s * c}, {-3 * s * c, 1 + 3 * s * s}};
        double un = -sample_uniform(&random, 0.1, 1), ut = sample_uniform(&random, -1, 1), u[2] = {un, ut};
        double mu = sample_uniform(&random, 0, 0.7), e = sample_uniform(&random, 0, 1), p1[2], p2[2], half[2];
        CHECK(planar_stage(W, u, mu, 0.0, p1));
        for (int k = 0; k < 2; k++) {
            half[k] = u[k] + W[k][0] * p1[0] + W[k][1] * p1[1];
        }
        CHECK(planar_stage(W, half, mu, e * p1[0], p2));
        crBlock block = cr_block(CR_BLOCK_CONE, 0, 2);
        block.mu = block.mu2 = mu;
        block.e = e;
        crProblem problem = {.rows = 2, .block_count = 1, .blocks = &block, .u_free = u};
        problem.W = (crMatrix){2, 2, NULL, NULL, &W[0][0]};
        crRuleReport report;
        double p[2];
        CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, p, &report, NULL), CR_OK);
        CHECK(report.permissible);
        worst = fmax(worst, fmax(fabs(p[0] - p1[0] - p2[0]), fabs(p[1] - p1[1] - p2[1])));
        CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    }
    CHECK(worst < 1e-11);
    printf("planar two-stage impacts: off the cases by %.1e\n", worst);
    cr_arena_destroy(&arena);
}

// Newton with friction: -e u at a pressed contact, cone and slip as stated; et acts on the tangent likewise
TEST(newton_with_friction) {
    crRandom random = sample_seed(24);
    crRule rule = cr__rule(&cr__rule_newton, NULL);
    double normal = 0.0, friction = 0.0;
    int unsolved = 0, created = 0, reported = 0, n = test_samples(3000);
    for (int i = 0; i < n; i++) {
        Case* c = random_bodies(&random, 1 + i % 2, 1 + i % 3, -1.0, -2.0, 0.3);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        if (c->report.outcome != CR_OUTCOME_SOLVED) {
            unsolved++;
            case_free(c);
            continue;
        }
        for (int k = 0; k < c->blocks; k++) {
            const double *p = c->p + 3 * k, *u = c->u + 3 * k, *after = c->u_plus + 3 * k;
            normal = fmax(normal, fabs(fmin(p[0], after[0] + c->block[k].e * u[0])));
            double t[2] = {after[1] + c->block[k].et * u[1], after[2] + c->block[k].et * u[2]};
            double slip = sqrt(t[0] * t[0] + t[1] * t[1]), limit = 0.3 * p[0];
            friction = fmax(friction, sqrt(p[1] * p[1] + p[2] * p[2]) - limit);
            if (slip < 1e-6) continue;
            friction = fmax(friction, fabs(p[1] + limit * t[0] / slip));
            friction = fmax(friction, fabs(p[2] + limit * t[1] / slip));
        }
        double made = case_energy(c, c->v_plus) - case_energy(c, c->v);
        created += made > 1e-6;
        reported += made > 1e-6 && c->report.creates_energy;
        case_free(c);
    }
    CHECK(normal < 1e-8 && friction < 1e-7 && unsolved < n / 20 && created == reported);
    printf("newton with friction: normal off by %.1e, friction by %.1e, %d of %d unsolved, %d create energy, "
           "all "
           "reported\n",
           normal, friction, unsolved, n, created);
}

// a solver that keeps what it was asked and answers nothing
typedef struct Listener {
    int calls, rows, vertex_count;
    double vertices[16][2];
} Listener;

static crStatus listen(const void* params, const crProblem* problem, crArena* arena, double* p,
                       crReport* report, crError* error) {
    Listener* heard = *(Listener* const*)params;
    (void)arena;
    (void)error;
    heard->calls++;
    heard->rows = problem->rows;
    heard->vertex_count = problem->blocks[0].vertex_count;
    for (int k = 0; k < heard->vertex_count; k++) {
        memcpy(heard->vertices[k], problem->vertices[problem->blocks[0].vertex + k],
               sizeof heard->vertices[k]);
    }
    memset(p, 0, (size_t)problem->rows * sizeof *p);
    report->outcome = CR_OUTCOME_STALLED;
    return CR_OK;
}

// the rule asks the solver it was given, with the polygon it was told, and believes only the audit
TEST(solver_and_directions_are_passed_on) {
    crRandom random = sample_seed(25);
    Listener heard = {0};
    Listener* const ear = &heard;
    crRuleParams params = cr_rule_params();
    params.solver = (crSolver){"listener", listen, &ear};
    params.directions = 8;
    Case* c = random_bodies(&random, 1, 1, 0.5, 0.0, 0.4);
    for (int i = 0; c->u[0] >= 0.0 && i < 100; i++) {
        case_free(c);
        c = random_bodies(&random, 1, 1, 0.5, 0.0, 0.4);
        case_mul(c->J, c->rows, c->nv, c->v, c->u);
    }
    crRule rule = cr__rule(&cr__rule_newton, &params);
    CHECK_STATUS(case_run(c, &rule), CR_OK);
    CHECK(heard.calls == 1 && heard.rows == 3 && heard.vertex_count == 8);
    CHECK(c->report.outcome == CR_OUTCOME_STALLED && !c->report.permissible);
    CHECK_TEXT(c->report.solve.method, "listener");
    CHECK_NEAR(heard.vertices[0][0], 0.4, 1e-16);
    for (int k = 0; k < 8; k++) {
        double angle = 2 * CR_PI * k / 8;
        CHECK_NEAR(heard.vertices[k][0], 0.4 * cos(angle), 1e-15);
        CHECK_NEAR(heard.vertices[k][1], 0.4 * sin(angle), 1e-15);
    }
    case_free(c);
}
