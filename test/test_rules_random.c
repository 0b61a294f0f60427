// Properties of the rules over seeded random impacts, re-derived from their definitions.
#include "impact_case.h"
#include "resolve/kinds.h"

// k random frictionless contacts on a random system; `approaching` turns every row that opens round
static Case* random_impact(crRandom* random, int contacts, bool approaching) {
    int nv = 2 + (int)sample_uniform(random, 0, 6);
    double v[8], row[8], A[64];
    Case* c = case_make(nv, NULL);
    for (int i = 0; i < nv * nv; i++) {
        A[i] = sample_uniform(random, -1, 1);
    }
    // M = A A^T + a little, so that it is full and well away from singular
    for (int i = 0; i < nv; i++) {
        v[i] = sample_uniform(random, -1, 1);
        for (int j = 0; j < nv; j++) {
            double sum = i == j ? 0.3 : 0.0;
            for (int k = 0; k < nv; k++) {
                sum += A[i * nv + k] * A[j * nv + k];
            }
            c->M[i * nv + j] = sum;
        }
    }
    for (int k = 0; k < contacts; k++) {
        double u = 0.0;
        for (int i = 0; i < nv; i++) {
            row[i] = sample_uniform(random, -1, 1);
            u += row[i] * v[i];
        }
        for (int i = 0; i < nv && approaching && u > 0.0; i++) {
            row[i] = -row[i];
        }
        case_contact(c, row, sample_uniform(random, 0, 1));
    }
    case_velocity(c, v);
    return c;
}

static double size_of(const double* x, int n) {
    double size = 0.0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(x[i]));
    }
    return size;
}

static double away(const double* a, const double* b, int n) {
    double size = 0.0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(a[i] - b[i]));
    }
    return size;
}

// worst breach of 0 <= y _|_ x >= 0
static double breach(double x, double y) { return fabs(fmin(x, y)); }

// Sizes of what velocities and energy are the difference of: |u| + |W| |p|, and p times that. In a narrow
// corner impulses are far larger than what they change, and rounding goes with them.
typedef struct Terms {
    double velocity, energy, ratio;
} Terms;

static Terms terms_of(Case* c) {
    double* W = NULL;
    CHECK_STATUS(cr_problem_dense(&c->problem, &c->arena, &W), CR_OK);
    Terms t = {0.0, case_energy(c, c->v), 1.0};
    for (int i = 0; i < c->rows; i++) {
        double sum = fabs(c->u[i]);
        for (int j = 0; j < c->rows; j++) {
            sum += fabs(W[i * c->rows + j] * c->p[j]);
        }
        t.velocity = fmax(t.velocity, sum);
        t.energy += fabs(c->p[i]) * sum;
    }
    t.ratio = t.velocity / size_of(c->u, c->rows);
    return t;
}

static double change(const Case* c) { return case_energy(c, c->v_plus) - case_energy(c, c->v); }

TEST(newton_conditions_and_energy) {
    crRandom random = sample_seed(10);
    crRule rule = cr__rule(&cr__rule_newton, NULL);
    double worst = 0.0, identity = 0.0, created = 0.0;
    int made = 0, reported = 0, unsolvable = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        bool approaching = i % 2 == 0;
        Case* c = random_impact(&random, 1 + i % 6, approaching);
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        CHECK(c->report.unique == CR_UNIQUE_YES);
        Terms t = terms_of(c);
        if (c->report.outcome != CR_OUTCOME_SOLVED) {
            // more contacts than dimensions may leave no velocity that opens all of them as fast as asked
            CHECK(c->rows > c->nv || t.ratio > 1e4);
            unsolvable++;
            case_free(c);
            continue;
        }
        double E = case_energy(c, c->v), sum = 0.0;
        for (int k = 0; k < c->rows; k++) {
            worst = fmax(worst, breach(c->p[k], c->u_plus[k] + c->block[k].e * c->u[k]) / t.velocity);
            // Glocker's identity: dT = sum (1 - e) u- p / 2
            sum += 0.5 * (1.0 - c->block[k].e) * c->u[k] * c->p[k];
        }
        double dT = change(c);
        identity = fmax(identity, fabs(dT - sum) / t.energy);
        CHECK_NEAR(c->report.energy_change, dT, 1e-13 * t.energy);
        if (approaching) created = fmax(created, dT / E);
        if (dT > 1e-6 * E) {
            made++;
            reported += c->report.creates_energy && !c->report.permissible;
        }
        case_free(c);
    }
    CHECK(worst < 1e-12 && identity < 1e-12 && created < 1e-12);
    CHECK(made > 0 && reported == made);
    printf("newton: conditions off by %.1e, energy identity by %.1e, created while all approach %.1e; "
           "created with an "
           "opening contact %d times, all reported; %d without a solution\n",
           worst, identity, created, made, unsolvable);
}

TEST(poisson_conditions_and_energy) {
    crRandom random = sample_seed(11);
    crRule poisson = cr__rule(&cr__rule_poisson, NULL), soft = cr__rule(&cr__rule_coupled, NULL);
    double worst = 0.0, created = -1.0;
    for (int i = 0; i < test_samples(100000); i++) {
        Case* c = random_impact(&random, 1 + i % 6, false);
        double p[8];
        CHECK_STATUS(case_run(c, &poisson), CR_OK);
        Terms t = terms_of(c);
        CHECK(c->report.permissible && !c->report.creates_energy);
        CHECK(c->report.outcome == CR_OUTCOME_SOLVED || t.ratio > 1e4);
        created = fmax(created, change(c) / t.energy);
        memcpy(p, c->p, sizeof p);
        double u[8];
        memcpy(u, c->u_plus, sizeof u);
        // compression alone is the soft impact
        CHECK_STATUS(case_run(c, &soft), CR_OK);
        for (int k = 0; k < c->rows; k++) {
            worst = fmax(worst, breach(c->p[k], c->u_plus[k]) / t.velocity);
            // with more contacts than dimensions p is not unique, and the stages need not share theirs
            double left = p[k] - (1.0 + c->block[k].e) * c->p[k];
            if (c->rows <= c->nv) worst = fmax(worst, breach(left, u[k]) / t.velocity);
        }
        case_free(c);
    }
    CHECK(worst < 1e-12 && created < 1e-13);
    printf("poisson: conditions off by %.1e, most energy created %.1e\n", worst, created);
}

// Newton = Poisson for one e everywhere and every contact approaching; where one opens they may differ
TEST(newton_is_poisson_when_all_approach) {
    crRandom random = sample_seed(12);
    crRule newton = cr__rule(&cr__rule_newton, NULL), poisson = cr__rule(&cr__rule_poisson, NULL);
    double worst = 0.0;
    int differ = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        bool approaching = i % 4 != 0;
        Case* c = random_impact(&random, 1 + i % 6, approaching);
        double e = sample_uniform(&random, 0, 1), v[8];
        for (int k = 0; k < c->blocks; k++) {
            c->block[k].e = e;
        }
        CHECK_STATUS(case_run(c, &newton), CR_OK);
        memcpy(v, c->v_plus, sizeof v);
        CHECK_STATUS(case_run(c, &poisson), CR_OK);
        CHECK(c->report.unique == CR_UNIQUE_YES);
        double off = away(v, c->v_plus, c->nv) / size_of(c->v_plus, c->nv);
        if (approaching) {
            worst = fmax(worst, off);
        } else {
            differ += off > 1e-6;
        }
        case_free(c);
    }
    CHECK(worst < 1e-10 && differ > 0);
    printf("newton and poisson, all approaching: apart by %.1e; with an opening contact %d differ\n", worst,
           differ);
}

TEST(reflect_properties) {
    crRandom random = sample_seed(13);
    crRule rule = cr__rule(&cr__rule_reflect, NULL);
    double kept = 0.0, created = 0.0, approach = 0.0;
    int cycles = 0, steps = 0;
    for (int i = 0; i < test_samples(100000); i++) {
        Case* c = random_impact(&random, 1 + i % 5, false);
        double e = i % 2 == 0 ? 1.0 : sample_uniform(&random, 0, 1);
        for (int k = 0; k < c->blocks; k++) {
            c->block[k].e = e;
        }
        CHECK_STATUS(case_run(c, &rule), CR_OK);
        Terms t = terms_of(c);
        double dT = change(c) / t.energy;
        if (c->report.outcome != CR_OUTCOME_SOLVED) {
            // only where the contacts leave no room at all
            CHECK(c->rows > c->nv || t.ratio > 1e4);
            cycles++;
        } else {
            if (e == 1.0) kept = fmax(kept, fabs(dT));
            created = fmax(created, dT);
            approach = fmax(approach, -c->report.margins.penetration / t.velocity);
            CHECK(c->report.permissible);
            steps = c->report.steps > steps ? c->report.steps : steps;
        }
        case_free(c);
    }
    CHECK(kept < 1e-12 && created < 1e-12 && approach < 1e-12);
    printf("reflect: e = 1 keeps energy to %.1e, approach left %.1e, at most %d steps, %d without end\n",
           kept, approach, steps, cycles);
}

// a sequence of frictionless impacts with e = 1 is one of the branches of the feasible rule
TEST(sequence_is_a_feasible_outcome) {
    crRandom random = sample_seed(14);
    crRule sequence = cr__rule(&cr__rule_sequence, NULL), feasible = cr__rule(&cr__rule_feasible, NULL);
    double worst = 0.0;
    int compared = 0;
    for (int i = 0; i < test_samples(20000); i++) {
        Case* c = random_impact(&random, 1 + i % 3, false);
        for (int k = 0; k < c->blocks; k++) {
            c->block[k].e = 1.0;
        }
        double v[8];
        CHECK_STATUS(case_run(c, &sequence), CR_OK);
        bool ended = c->report.outcome == CR_OUTCOME_SOLVED;
        CHECK(ended || c->rows > c->nv || c->report.steps == 100000);
        memcpy(v, c->v_plus, sizeof v);
        CHECK_STATUS(case_run(c, &feasible), CR_OK);
        bool complete = c->report.outcome == CR_OUTCOME_SOLVED && (c->report.flags & CR_RULE_INCOMPLETE) == 0;
        if (ended && complete && c->report.outcome_count <= 64) {
            double nearest = (double)INFINITY;
            for (int k = 0; k < c->report.outcome_count; k++) {
                nearest = fmin(nearest, away(v, c->outcome_v[k], c->nv));
            }
            worst = fmax(worst, nearest / size_of(v, c->nv));
            compared++;
        }
        case_free(c);
    }
    CHECK(worst < 1e-9 && compared > 0);
    printf("sequence among the feasible outcomes: %d compared, off by %.1e\n", compared, worst);
}

// without friction every rule is Newton's law; the greatest relative difference (chain has its own test)
static double off_newton(const crContact* contact, crArena* arena) {
    const double wnn = contact->W.xx, expected = -(1.0 + contact->e) * contact->V.x / wnn;
    crBlock normal = cr_block(CR_BLOCK_UNILATERAL, 0, 1);
    normal.e = contact->e;
    crProblem problem = {.rows = 1, .block_count = 1, .blocks = &normal, .u_free = &contact->V.x};
    problem.W = (crMatrix){1, 1, NULL, NULL, &wnn};
    double worst = 0.0;
    for (int r = 0; r < cr_rule_count(); r++) {
        crRuleParams params = cr_rule_params();
        params.eps = &contact->e;
        crRule rule;
        crRuleReport report;
        double p;
        if (strcmp(cr_rule_info(r)->name, "chain") == 0) continue;
        CHECK_STATUS(cr_rule_find(cr_rule_info(r)->name, &params, &rule, NULL), CR_OK);
        CHECK_STATUS(cr_rule_run(&rule, &problem, arena, &p, &report, NULL), CR_OK);
        worst = fmax(worst, fabs(p / expected - 1.0));
    }
    return worst;
}

// one contact with friction: the rules that use a law, or are built like one, give it
TEST(one_contact_gives_the_law) {
    crRandom random = sample_seed(15);
    crAllocator libc = cr_allocator_libc();
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, &libc, (size_t)1 << 18), CR_OK);
    const crLaw laws[] = {cr__law(&cr__law_newton, NULL), cr__law(&cr__law_chatterjee_ruina, NULL)};
    double weighted = 0.0, frictionless = 0.0;
    for (int i = 0; i < test_samples(100000); i++) {
        crCollision collision = sample_collision(&random, (crSampleKind)(i % SAMPLE_KINDS));
        crContact contact;
        crMat3 frame;
        CHECK_STATUS(cr_collision_contact(&collision, &contact, &frame, NULL), CR_OK);
        crMat3 W = cr_sym3_full(contact.W);
        double u[3] = {contact.V.x, contact.V.y, contact.V.z}, p[3];
        crBlock block = cr_block(CR_BLOCK_CONE, 0, 3);
        block.mu = block.mu2 = contact.mu;
        block.e = contact.e;
        block.et = contact.et;
        crProblem problem = {.rows = 3, .block_count = 1, .blocks = &block, .u_free = u};
        problem.W = (crMatrix){3, 3, NULL, NULL, &W.m[0][0]};
        crRuleParams params = cr_rule_params();
        crRuleReport report;
        crHit hit;
        for (int l = 0; l < 2; l++) {
            params.law = laws[l];
            crRule rule = cr__rule(&cr__rule_sequence, &params);
            CHECK_STATUS(cr_law_apply_contact(&laws[l], &contact, &hit, NULL), CR_OK);
            CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, p, &report, NULL), CR_OK);
            CHECK(p[0] == hit.P.x && p[1] == hit.P.y && p[2] == hit.P.z);
            CHECK(report.permissible == hit.permissible && report.creates_energy == hit.creates_energy);
            CHECK_NEAR(report.margins.cone, hit.margins.cone, 1e-12 * (cr_norm(hit.P) * (1 + contact.mu)));
        }
        // hit holds Chatterjee and Ruina's: compare what the impulses do, in the energy metric
        crRule rule = cr__rule(&cr__rule_weighted, NULL);
        CHECK_STATUS(cr_rule_run(&rule, &problem, &arena, p, &report, NULL), CR_OK);
        crVec3 d = cr_sub(cr_vec3(p[0], p[1], p[2]), hit.P);
        double off = sqrt(fabs(cr_sym3_quad(contact.W, d) / cr_sym3_quad(contact.W, hit.P)));
        // the sticking impulse is as uncertain as W is near to singular; below 1e-10 its rank is a matter of
        // taste
        double values[3];
        crMat3 axes;
        cr_sym3_eigen(contact.W, values, &axes);
        if (values[0] > 1e-10 * values[2]) weighted = fmax(weighted, off * values[0] / values[2]);
        frictionless = fmax(frictionless, off_newton(&contact, &arena));
        CHECK_STATUS(cr_arena_reset(&arena), CR_OK);
    }
    CHECK(weighted < 1e-14 && frictionless < 1e-13);
    printf("one contact: weighted off Chatterjee and Ruina's law by %.1e of the condition of W, frictionless "
           "rules off Newton's by "
           "%.1e\n",
           weighted, frictionless);
    cr_arena_destroy(&arena);
}

// the same bits from every compiler, for the rules that ask no solver
TEST(golden_bits) {
    const struct {
        const char* name;
        uint64_t hash;
    } golden[] = {{"sequence", UINT64_C(0xf8f1c9d30dfeeb9f)},
                  {"feasible", UINT64_C(0x4278e22fb63b1244)},
                  {"chain", UINT64_C(0xc9ad591f7c35a064)}};
    for (int r = 0; r < 3; r++) {
        crRandom random = sample_seed(16);
        crRule rule;
        CHECK_STATUS(cr_rule_find(golden[r].name, NULL, &rule, NULL), CR_OK);
        uint64_t hash = CR_HASH_SEED;
        for (int i = 0; i < 60; i++) {
            Case* c = random_impact(&random, 1 + i % 3, true);
            if (c->rows <= c->nv) {
                CHECK_STATUS(case_run(c, &rule), CR_OK);
                hash = cr_hash(hash, c->p, (size_t)c->rows * sizeof(double));
            }
            case_free(c);
        }
        if (!CHECK(hash == golden[r].hash)) printf("%s: %016llx\n", golden[r].name, (unsigned long long)hash);
    }
}

typedef struct Meter {
    int calls, fail_at, live;
} Meter;

static void* meter_alloc(void* ctx, size_t size) {
    Meter* meter = ctx;
    if (++meter->calls == meter->fail_at) return NULL;
    meter->live++;
    return malloc(size);
}

static void meter_free(void* ctx, void* memory, size_t size) {
    Meter* meter = ctx;
    (void)size;
    meter->live -= memory != NULL;
    free(memory);
}

// every allocation of every rule may fail: a status, no leak, no crash
TEST(memory_runs_out_anywhere) {
    const double W[4] = {2, -1, -1, 2}, u[2] = {-1, 0.2};
    crBlock blocks[2] = {cr_block(CR_BLOCK_UNILATERAL, 0, 1), cr_block(CR_BLOCK_UNILATERAL, 1, 1)};
    blocks[0].e = blocks[1].e = 0.5;
    crProblem problem = {.rows = 2, .block_count = 2, .blocks = blocks, .u_free = u};
    problem.W = (crMatrix){2, 2, NULL, NULL, W};
    for (int r = 0; r < cr_rule_count(); r++) {
        crStatus status = CR_ERR_MEMORY;
        int k = 1;
        for (; status == CR_ERR_MEMORY && k < 1000; k++) {
            Meter meter = {.fail_at = k};
            crAllocator allocator = {meter_alloc, meter_free, &meter};
            crArena arena = {0};
            crRule rule;
            crRuleReport report;
            double p[2];
            CHECK_STATUS(cr_rule_find(cr_rule_info(r)->name, NULL, &rule, NULL), CR_OK);
            // so small that everything overflows into blocks of its own
            status = cr_arena_create(&arena, &allocator, 64);
            if (status == CR_OK) status = cr_rule_run(&rule, &problem, &arena, p, &report, NULL);
            cr_arena_destroy(&arena);
            CHECK(meter.live == 0);
        }
        CHECK(status == CR_OK && k > 10);
    }
}
