// test_judge_problem.c - what the audit of a problem says, against a judge in quadruple precision.
//
// Every claim is checked on problems of all kinds of blocks, ranks, redundancies and units: the residual is at
// most `most`; what is "solved" is; what has a solution at the tolerance is never "infeasible"; other units
// change no verdict. The judge shares no code with the library (judge.h).
#include "judge_count.h"
#include "judge_sample.h"
#include "test.h"

#include <stdlib.h>

#define TOL   1e-10
#define ULPS  (1.0 + 0x1p-49)  // rounding of a quotient
#define CLOSE 1e-9             // how far the judge may move impulses that were returned, relative

typedef struct Tally {
    int problems, answers, solved, unsure, infeasible, refused, missed;
    int solvable, found;  // by the judge, and by auto
} Tally;

static void print_problem(const crProblem* problem, const double* p) {
    printf("  {\"blocks\":[");
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        printf("%s{kind %d rows %d mu %.17g %.17g vertices %d spin %d roll %d lo %.17g hi %.17g}",
               i > 0 ? "," : "", (int)b->kind, b->count, b->mu, b->mu2, b->vertex_count, b->spin, b->roll,
               b->lo, b->hi);
    }
    printf("]\n   q p:");
    for (int i = 0; i < problem->rows; i++) {
        printf(" (%.17g %.17g)", problem->u_free[i] + (problem->b != NULL ? problem->b[i] : 0.0), p[i]);
    }
    printf("}\n");
}

// the normal of a slender ellipse at a point in doubles is known to some eps times its aspect squared
static double slender(const crProblem* problem) {
    double worst = 1.0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* b = &problem->blocks[i];
        bool ellipse = b->kind == CR_BLOCK_CONE && b->vertex_count == 0 && b->mu != b->mu2 && b->count > 2;
        if (!ellipse || !(b->mu > 0.0) || !(b->mu2 > 0.0) || isinf(b->mu) || isinf(b->mu2)) continue;
        double aspect = fmax(b->mu / b->mu2, b->mu2 / b->mu);
        worst = fmax(worst, 1.0 + 4e-16 * aspect * aspect);
    }
    return worst;
}

// the claim about any impulses: their witness is exact for a problem whose b differs by at most `most`
static crTruth check_audit(const crProblem* problem, crArena* arena, const double* p, const char* what) {
    double hat[JUDGE_ROWS];
    crAudit audit, same;
    memcpy(hat, p, (size_t)problem->rows * sizeof *hat);
    CHECK_STATUS(cr_problem_witness(problem, arena, hat, &audit), CR_OK);
    CHECK_STATUS(cr_problem_audit(problem, arena, p, &same), CR_OK);
    CHECK(same.residual == audit.residual && same.most == audit.most && same.least == audit.least);
    JudgeProblem truth = judge_problem(problem, hat, CLOSE, fmin(audit.most, TOL));
    crTruth verdict = cr_audit_solved(&audit, TOL);
    bool fine = test_check(truth.residual <= audit.most * ULPS * slender(problem), __FILE__, __LINE__,
                           "%s: true residual %.17g above most %.17g", what, truth.residual, audit.most);
    fine = test_check(verdict != CR_TRUTH_YES || truth.residual <= TOL * ULPS, __FILE__, __LINE__,
                      "%s: false solved, true residual %.3g", what, truth.residual) &&
           fine;
    fine = test_check(audit.least <= audit.residual && audit.residual <= audit.most, __FILE__, __LINE__,
                      "%s: residual %.17g outside [%.17g, %.17g]", what, audit.residual, audit.least,
                      audit.most) &&
           fine;
    if (!fine) print_problem(problem, hat);
    return verdict;
}

static void perturb(crRandom* r, const double* from, int n, double size, double* p) {
    for (int i = 0; i < n; i++) {
        p[i] = from[i] * (1.0 + size * sample_uniform(r, -1.0, 1.0));
    }
}

TEST(figures_of_any_impulses) {
    crRandom r = sample_seed(judge_seed(7001));
    crArena arena;
    Made m;
    double p[JUDGE_ROWS];
    int denied = 0, known = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    for (int i = 0; i < judge_count(1500, 1000000); i++) {
        made_problem(&r, MADE_ANY, &m);
        int n = m.problem.rows;
        double size = sample_log(&r, 1e-16, 10.0), big = made_chance(&r, 0.1) ? 1e12 : 1.0;
        for (int k = 0; k < n; k++) {
            p[k] = big * sample_uniform(&r, -1.0, 1.0);
        }
        check_audit(&m.problem, &arena, p, "random");
        memset(p, 0, sizeof p);
        check_audit(&m.problem, &arena, p, "zero");
        if (!m.known) continue;
        perturb(&r, m.p, n, size, p);
        check_audit(&m.problem, &arena, p, "near a solution");
        crTruth verdict = check_audit(&m.problem, &arena, m.p, "a solution");
        JudgeProblem truth = judge_problem(&m.problem, m.p, CLOSE, 0.1 * TOL);
        if (truth.residual > 0.1 * TOL || truth.floor > 0.1 * TOL) continue;
        known++;
        denied += verdict == CR_TRUTH_NO;
        // rounding far below the tolerance leaves no doubt
        if (truth.residual < 1e-3 * TOL && truth.floor < 1e-2 * TOL) CHECK(verdict == CR_TRUTH_YES);
        if (!test_check(verdict != CR_TRUTH_NO, __FILE__, __LINE__,
                        "a solution is denied: true residual %.3g", truth.residual)) {
            print_problem(&m.problem, m.p);
        }
    }
    printf("  %d known solutions, %d denied\n", known, denied);
    cr_arena_destroy(&arena);
}

// solvers

// a solution at the tolerance that doubles can confirm
static bool refutes(const crProblem* problem, const double* p) {
    JudgeProblem truth = judge_problem(problem, p, (double)INFINITY, TOL);
    return truth.residual <= TOL && truth.floor <= TOL;
}

// What the judge finds at returned impulses: by its own search from there, or at the witness that the verdict speaks of,
// where that lies as near as the search may go, entry by entry.
static double true_residual(const crProblem* problem, crArena* arena, const double* p, double own,
                            double tol) {
    double hat[JUDGE_ROWS];
    crAudit audit;
    memcpy(hat, p, (size_t)problem->rows * sizeof *hat);
    if (own <= tol || cr_problem_witness(problem, arena, hat, &audit) != CR_OK) return own;
    for (int i = 0; i < problem->rows; i++) {
        if (!(fabs(hat[i] - p[i]) <= CLOSE * fabs(p[i]))) return own;
    }
    return fmin(own, judge_problem(problem, hat, CLOSE, tol).residual);
}

static void run_all(const Made* m, crArena* arena, double tol, Tally* tally, crOutcome* outcomes) {
    double p[16][JUDGE_ROWS] = {{0}}, reference[JUDGE_ROWS] = {0};
    int n = m->problem.rows, count = cr_solver_count();
    bool refuted = (m->known && refutes(&m->problem, m->p)) ||
                   (judge_reference(&m->problem, reference) && refutes(&m->problem, reference));
    tally->problems++;
    for (int s = 0; s < count; s++) {
        crSolverParams params = {.tol = tol};
        crSolver solver;
        crReport report;
        CHECK_STATUS(cr_solver_find(cr_solver_name(s), &params, &solver, NULL), CR_OK);
        crStatus status = cr_solver_run(&solver, &m->problem, tol, arena, p[s], &report, NULL);
        outcomes[s] = status == CR_OK ? report.outcome : CR_OUTCOME_STALLED;
        if (status != CR_OK) {
            tally->refused++;
            continue;
        }
        tally->answers++;
        JudgeProblem truth = judge_problem(&m->problem, p[s], CLOSE, tol);
        if (report.outcome == CR_OUTCOME_SOLVED) {
            double residual = true_residual(&m->problem, arena, p[s], truth.residual, tol);
            tally->solved++;
            test_check(report.audit.most <= tol, __FILE__, __LINE__, "%s: solved, but at most %.17g",
                       solver.name, report.audit.most);
            if (!test_check(residual <= tol * ULPS, __FILE__, __LINE__,
                            "%s: false solved, true residual %.3g", solver.name, residual)) {
                print_problem(&m->problem, p[s]);
            }
        }
        tally->unsure += report.outcome == CR_OUTCOME_UNSURE;
        tally->infeasible += report.outcome == CR_OUTCOME_INFEASIBLE;
        refuted = refuted || (truth.residual <= tol && truth.floor <= tol);
    }
    bool any = false;
    tally->solvable += refuted;
    tally->found += refuted && outcomes[0] == CR_OUTCOME_SOLVED;
    for (int s = 0; s < count; s++) {
        any = any || outcomes[s] == CR_OUTCOME_SOLVED;
        if (!test_check(!(outcomes[s] == CR_OUTCOME_INFEASIBLE && refuted), __FILE__, __LINE__,
                        "%s: false infeasible", cr_solver_name(s))) {
            print_problem(&m->problem, n > 0 && m->known ? m->p : reference);
        }
    }
    tally->missed += refuted && !any;
}

static void print_tally(const char* name, const Tally* t) {
    printf("  %s: %d problems, %d answers, %d solved, %d cannot tell, %d infeasible, %d refused, %d missed "
           "by all\n",
           name, t->problems, t->answers, t->solved, t->unsure, t->infeasible, t->refused, t->missed);
}

// a factor of units: 1, or so many powers of the base up or down
static double unit_of(crRandom* r, double up) {
    int k = made_below(r, 3);
    return k == 0 ? 1.0 : k == 1 ? up : 1.0 / up;
}

TEST(verdicts_of_solvers) {
    crRandom r = sample_seed(judge_seed(7002));
    crArena arena;
    Made m, scaled;
    Tally any = {0}, small = {0}, units = {0};
    crOutcome before[16], after[16];
    int changed = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    for (int i = 0; i < judge_count(150, 130000); i++) {
        made_problem(&r, i % 2 == 0 ? MADE_ANY : MADE_SMALL, &m);
        run_all(&m, &arena, TOL, i % 2 == 0 ? &any : &small, before);
        double mass = unit_of(&r, 1e12), length = unit_of(&r, 1e12), time = unit_of(&r, 1e12);
        made_scale(&m, mass, length, time, &scaled);
        run_all(&scaled, &arena, TOL, &units, after);
        for (int s = 0; s < cr_solver_count(); s++) {
            // iterations end elsewhere by rounding now and then, but solved never becomes infeasible
            bool solved = before[s] == CR_OUTCOME_SOLVED, still = after[s] == CR_OUTCOME_SOLVED;
            bool opposite = (solved && after[s] == CR_OUTCOME_INFEASIBLE) ||
                            (still && before[s] == CR_OUTCOME_INFEASIBLE);
            bool unsure = before[s] == CR_OUTCOME_UNSURE || after[s] == CR_OUTCOME_UNSURE;
            changed += solved != still && !unsure;
            if (!test_check(!opposite, __FILE__, __LINE__, "%s: %s becomes %s in units %g kg %g m %g s",
                            cr_solver_name(s), cr_outcome_name(before[s]), cr_outcome_name(after[s]), mass,
                            length, time)) {
                print_problem(&m.problem, m.p);
            }
        }
    }
    print_tally("any", &any);
    print_tally("small", &small);
    print_tally("units", &units);
    printf("  %d of %d answers are solved in one unit and not in the other\n", changed, units.answers);
    // one in a thousand, and a few more in a small piece
    CHECK(changed <= units.answers / 1000 + 4);
    // auto is the default: what can be solved it solves, but for rare ones
    CHECK(100 * (any.found + small.found) >= 97 * (any.solvable + small.solvable));
    cr_arena_destroy(&arena);
}

// Units that are powers of two change no bit of a residual. sqrt of W needs powers of four in mass.
TEST(exact_units) {
    crRandom r = sample_seed(judge_seed(7003));
    crArena arena;
    Made m, scaled;
    double p[JUDGE_ROWS], q[JUDGE_ROWS];
    int mixed = 0, changed = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    for (int i = 0; i < judge_count(400, 1000000); i++) {
        made_problem(&r, MADE_ANY, &m);
        double mass = unit_of(&r, 0x1p40), length = unit_of(&r, 0x1p40), time = unit_of(&r, 0x1p40);
        int n = m.problem.rows;
        for (int k = 0; k < n; k++) {
            m.p[k] = m.known ? m.p[k] * (1.0 + 1e-9 * sample_uniform(&r, -1.0, 1.0))
                             : sample_uniform(&r, -1.0, 1.0);
        }
        made_scale(&m, mass, length, time, &scaled);
        crAudit a, b;
        CHECK_STATUS(cr_problem_audit(&m.problem, &arena, m.p, &a), CR_OK);
        CHECK_STATUS(cr_problem_audit(&scaled.problem, &arena, scaled.p, &b), CR_OK);
        CHECK(a.residual == b.residual && a.least == b.least && a.most == b.most);
        CHECK(a.eta * length / time == b.eta && a.scale * length / time == b.scale);
        // What a solver answers, too. Rows in rad/s stand beside rows in m/s in the sums by which solvers choose pivots and
        // the lengths of steps: there an iteration may end on the other side of the tolerance now and then.
        crSolver solver;
        crReport first = {0}, second = {0};
        int s = i % cr_solver_count();
        memset(p, 0, sizeof p);
        memset(q, 0, sizeof q);
        CHECK_STATUS(cr_solver_find(cr_solver_name(s), NULL, &solver, NULL), CR_OK);
        crStatus done = cr_solver_run(&solver, &m.problem, TOL, &arena, p, &first, NULL);
        CHECK_STATUS(cr_solver_run(&solver, &scaled.problem, TOL, &arena, q, &second, NULL), done);
        bool mixes = false;
        for (int k = 0; k < n; k++) {
            mixes = mixes || m.angular[k];
        }
        bool same = first.outcome == second.outcome && first.audit.residual == second.audit.residual;
        bool opposite = (first.outcome == CR_OUTCOME_SOLVED && second.outcome == CR_OUTCOME_INFEASIBLE) ||
                        (second.outcome == CR_OUTCOME_SOLVED && first.outcome == CR_OUTCOME_INFEASIBLE);
        mixed += mixes;
        changed += mixes && first.outcome != second.outcome;
        if (!test_check(mixes ? !opposite : same, __FILE__, __LINE__,
                        "%s: %s %.17g becomes %s %.17g in units 2^%g kg 2^%g m 2^%g s", solver.name,
                        cr_outcome_name(first.outcome), first.audit.residual, cr_outcome_name(second.outcome),
                        second.audit.residual, log2(mass), log2(length), log2(time))) {
            print_problem(&m.problem, p);
        }
    }
    printf("  %d of %d answers with rows in rad/s end otherwise in another unit\n", changed, mixed);
    CHECK(changed <= mixed / 1000 + 2);
    cr_arena_destroy(&arena);
}

static crStatus give(const void* params, const crProblem* problem, crArena* arena, double* p,
                     crReport* report, crError* error) {
    (void)arena;
    (void)error;
    memcpy(p, params, (size_t)problem->rows * sizeof *p);
    report->outcome = CR_OUTCOME_SOLVED;
    return CR_OK;
}

// A tolerance just above what impulses reach: those that are returned, theirs or a witness's, must reach it too.
TEST(outcome_is_of_what_is_returned) {
    crRandom r = sample_seed(judge_seed(7004));
    crArena arena;
    Made m;
    int solved = 0, changed = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    for (int i = 0; i < judge_count(3000, 100000); i++) {
        double given[JUDGE_ROWS], p[JUDGE_ROWS];
        crAudit audit, again;
        crReport report = {0};
        made_problem(&r, MADE_ANY, &m);
        if (!m.known) continue;
        perturb(&r, m.p, m.problem.rows, sample_log(&r, 1e-9, 1e-3), given);
        CHECK_STATUS(cr_problem_audit(&m.problem, &arena, given, &audit), CR_OK);
        double tol = audit.most * (1.0 + 1e-9);
        if (!(tol > 0.0 && tol < 0.1)) continue;
        crSolver own = {.name = "given", .solve = give, .params = given};
        memset(p, 0, sizeof p);
        CHECK_STATUS(cr_solver_run(&own, &m.problem, tol, &arena, p, &report, NULL), CR_OK);
        CHECK_STATUS(cr_problem_audit(&m.problem, &arena, p, &again), CR_OK);
        CHECK(report.audit.residual == again.residual && report.audit.most == again.most);
        CHECK(report.outcome != CR_OUTCOME_SOLVED || again.most <= tol);
        solved += report.outcome == CR_OUTCOME_SOLVED;
        changed += memcmp(p, given, (size_t)m.problem.rows * sizeof *p) != 0;
    }
    printf("  %d solved, %d changed\n", solved, changed);
    CHECK(solved > 0 && changed > 0);
    cr_arena_destroy(&arena);
}
