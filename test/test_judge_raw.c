// test_judge_raw.c - raw complementarity problems and inputs that once had a false verdict.
//
// A raw problem is judged by the smallest relative change of the entries of its matrix and vector that makes a
// point exact. The judge goes through all choices of zero entries in quadruple precision.
#include "judge_count.h"
#include "judge_sample.h"
#include "test.h"

#include <stdlib.h>

#define TOL  1e-10
#define ULPS (1.0 + 0x1p-49)
#define MOST 8

typedef struct Raw {
    crBlock block[2];
    double M[MOST * MOST], q[MOST], z[MOST];
    bool known;
    crProblem problem;
} Raw;

static void bind_raw(Raw* m, int free_rows, int n) {
    m->block[0] = cr_block(CR_BLOCK_EQUALITY, 0, free_rows);
    m->block[1] = cr_block(CR_BLOCK_UNILATERAL, free_rows, n - free_rows);
    m->problem = (crProblem){.rows = n, .raw = true, .u_free = m->q};
    m->problem.blocks = free_rows > 0 ? m->block : m->block + 1;
    m->problem.block_count = free_rows > 0 ? 2 : 1;
    m->problem.W = (crMatrix){n, n, NULL, NULL, m->M};
}

// any matrix, with entries over many decades now and then; half of the problems have a known solution
static void make_raw(crRandom* r, Raw* m) {
    int n = 1 + made_below(r, MOST - 1), free_rows = made_chance(r, 0.3) && n > 1 ? 1 : 0;
    bool wild = made_chance(r, 0.3);
    *m = (Raw){.known = made_chance(r, 0.5)};
    for (int i = 0; i < n * n; i++) {
        m->M[i] = sample_uniform(r, -1.0, 1.0) * (wild ? sample_log(r, 1e-9, 1e9) : 1.0);
        if (made_chance(r, 0.2)) m->M[i] = 0.0;
    }
    for (int i = 0; i < n; i++) {
        bool presses = i < free_rows || made_chance(r, 0.5);
        m->z[i] = presses ? sample_log(r, 1e-2, 10.0) : 0.0;
        m->q[i] = sample_uniform(r, -1.0, 1.0);
    }
    for (int i = 0; m->known && i < n; i++) {
        Quad sum = m->z[i] > 0.0 ? 0 : (Quad)sample_log(r, 1e-3, 1.0);
        for (int j = 0; j < n; j++) {
            sum -= (Quad)m->M[i * n + j] * (Quad)m->z[j];
        }
        m->q[i] = (double)sum;
    }
    bind_raw(m, free_rows, n);
}

static void check_point(const Raw* m, crArena* arena, const double* z, const char* what) {
    double hat[MOST];
    crAudit audit;
    memcpy(hat, z, (size_t)m->problem.rows * sizeof *hat);
    CHECK_STATUS(cr_problem_witness(&m->problem, arena, hat, &audit), CR_OK);
    double truth = judge_raw(&m->problem, hat);
    test_check(truth <= audit.most * ULPS, __FILE__, __LINE__, "%s: true error %.17g above most %.17g", what,
               truth, audit.most);
    test_check(cr_audit_solved(&audit, TOL) != CR_TRUTH_YES || truth <= TOL * ULPS, __FILE__, __LINE__,
               "%s: false solved, true error %.3g", what, truth);
    for (int i = m->problem.blocks[0].kind == CR_BLOCK_EQUALITY ? m->block[0].count : 0; i < m->problem.rows;
         i++) {
        CHECK(hat[i] >= 0.0);
    }
}

TEST(raw_points) {
    crRandom r = sample_seed(judge_seed(7101));
    crArena arena;
    Raw m;
    double z[MOST];
    int known = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    for (int i = 0; i < judge_count(3000, 1000000); i++) {
        make_raw(&r, &m);
        for (int k = 0; k < m.problem.rows; k++) {
            z[k] = sample_uniform(&r, -1.0, 1.0) * (made_chance(&r, 0.1) ? 1e12 : 1.0);
        }
        check_point(&m, &arena, z, "random");
        if (!m.known) continue;
        double size = sample_log(&r, 1e-16, 1.0);
        for (int k = 0; k < m.problem.rows; k++) {
            z[k] = m.z[k] * (1.0 + size * sample_uniform(&r, -1.0, 1.0));
        }
        check_point(&m, &arena, z, "near a solution");
        crAudit audit;
        CHECK_STATUS(cr_problem_audit(&m.problem, &arena, m.z, &audit), CR_OK);
        CHECK(cr_audit_solved(&audit, TOL) == CR_TRUTH_YES);
        known++;
    }
    CHECK(known > 0);
    cr_arena_destroy(&arena);
}

TEST(raw_solvers) {
    crRandom r = sample_seed(judge_seed(7102));
    crArena arena;
    Raw m;
    int solved = 0, infeasible = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    for (int i = 0; i < judge_count(300, 200000); i++) {
        make_raw(&r, &m);
        for (int s = 0; s < cr_solver_count(); s++) {
            double z[MOST] = {0};
            crSolver solver;
            crReport report;
            CHECK_STATUS(cr_solver_find(cr_solver_name(s), NULL, &solver, NULL), CR_OK);
            if (cr_solver_run(&solver, &m.problem, TOL, &arena, z, &report, NULL) != CR_OK) continue;
            double truth = judge_raw(&m.problem, z);
            solved += report.outcome == CR_OUTCOME_SOLVED;
            infeasible += report.outcome == CR_OUTCOME_INFEASIBLE;
            test_check(report.outcome != CR_OUTCOME_SOLVED || truth <= TOL * ULPS, __FILE__, __LINE__,
                       "%s: false solved, true error %.3g", solver.name, truth);
            test_check(report.outcome != CR_OUTCOME_INFEASIBLE || !m.known, __FILE__, __LINE__,
                       "%s: false infeasible", solver.name);
        }
    }
    printf("  %d solved, %d infeasible\n", solved, infeasible);
    CHECK(solved > 0);
    cr_arena_destroy(&arena);
}

// inputs that were once called solved, or infeasible, and are not

static void run_cases(const crProblem* problem, double answer, const char* what) {
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    for (int s = 0; s < cr_solver_count(); s++) {
        double p[16] = {0};
        crSolver solver;
        crReport report;
        CHECK_STATUS(cr_solver_find(cr_solver_name(s), NULL, &solver, NULL), CR_OK);
        if (cr_solver_run(&solver, problem, TOL, &arena, p, &report, NULL) != CR_OK) continue;
        if (report.outcome != CR_OUTCOME_SOLVED) continue;
        test_check(fabs(p[0] - answer) <= 1e-9 * fabs(answer), __FILE__, __LINE__, "%s, %s: %.17g, not %.17g",
                   what, solver.name, p[0], answer);
    }
    cr_arena_destroy(&arena);
}

// one contact on 1e-12 kg: 1e12 p = 1
TEST(light_body) {
    double W = 1e12, q = -1.0;
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, 1);
    crProblem problem = {
        .rows = 1, .block_count = 1, .blocks = &block, .u_free = &q, .W = {1, 1, NULL, NULL, &W}};
    run_cases(&problem, 1e-12, "1e-12 kg");
}

// z = 1e-11, not 0
TEST(small_raw_vector) {
    double W = 1.0, q = -1e-11, zero = 0.0;
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, 1);
    crProblem problem = {
        .rows = 1, .block_count = 1, .blocks = &block, .u_free = &q, .W = {1, 1, NULL, NULL, &W}};
    problem.raw = true;
    crArena arena;
    crAudit audit;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_problem_audit(&problem, &arena, &zero, &audit), CR_OK);
    CHECK(cr_audit_solved(&audit, 1e-3) == CR_TRUTH_NO);
    run_cases(&problem, 1e-11, "q = -1e-11");
    cr_arena_destroy(&arena);
}

// a residual of eps / 2 though there is no solution within reach: W = [1 -1; -1 1], q = (-1, 1 - eps)
TEST(no_solution_near_a_small_residual) {
    double eps = 1e-6, W[4] = {1, -1, -1, 1}, q[2] = {-1.0, 1.0 - eps}, p[2] = {1.0 - eps / 2, 0.0};
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, 2);
    crProblem problem = {
        .rows = 2, .block_count = 1, .blocks = &block, .u_free = q, .W = {2, 2, NULL, NULL, W}};
    crArena arena;
    crAudit audit;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_problem_audit(&problem, &arena, p, &audit), CR_OK);
    // p^ = p: w = (-eps/2, -eps/2), so that b must grow by eps/2 in both rows
    CHECK_NEAR(audit.eta, eps / sqrt(2.0), 1e-9 * eps);
    CHECK(cr_audit_solved(&audit, 0.1 * eps) == CR_TRUTH_NO);
    cr_arena_destroy(&arena);
}

// nearly rank one, of 1e-12 kg: impulses exist that solve it to 1e-6, so no solver may say that there are none
static void check_not_infeasible(const crProblem* problem, double tol, const char* what) {
    crArena arena;
    bool refuted = false;
    crOutcome outcomes[16];
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    for (int s = 0; s < cr_solver_count(); s++) {
        double p[16] = {0};
        crSolver solver;
        crReport report;
        crSolverParams params = {.tol = tol};
        CHECK_STATUS(cr_solver_find(cr_solver_name(s), &params, &solver, NULL), CR_OK);
        CHECK_STATUS(cr_solver_run(&solver, problem, tol, &arena, p, &report, NULL), CR_OK);
        outcomes[s] = report.outcome;
        JudgeProblem truth = judge_problem(problem, p, 1e-9, tol);
        refuted = refuted || (truth.residual <= tol && truth.floor <= tol);
        if (report.outcome == CR_OUTCOME_SOLVED) CHECK(truth.residual <= tol);
    }
    CHECK(refuted || tol < 1e-6);
    for (int s = 0; s < cr_solver_count(); s++) {
        test_check(outcomes[s] != CR_OUTCOME_INFEASIBLE || !refuted, __FILE__, __LINE__,
                   "%s, %s: false infeasible", what, cr_solver_name(s));
    }
    cr_arena_destroy(&arena);
}

TEST(rank_one_of_light_bodies) {
    const double W0[49] = {
        2014797600082.1807, 1499217342115.949,   1396366419863.5615,  1426824242849.3828, 952817395342.0944,
        1168584818970.3418, -1088987854237.9874, 1499217342115.949,   1115572422168.7036, 1039040721772.592,
        1061704485327.297,  708994473146.1573,   869547703583.6118,   -810319347393.5918, 1396366419863.5615,
        1039040721772.592,  967759331492.1707,   988868291132.4845,   660355270954.05,    809894055819.3755,
        -754728947087.1025, 1426824242849.3828,  1061704485327.297,   988868291132.4845,  1010437683617.9388,
        674759071892.3285,  827559626569.374,    -771191245479.8324,  952817395342.0944,  708994473146.1573,
        660355270954.05,    674759071892.3285,   450596620149.659,    552635134869.1678,  -514992955519.9897,
        1168584818970.3418, 869547703583.6118,   809894055819.3755,   827559626569.374,   552635134869.1678,
        677780477345.2043,  -631614150453.4431,  -1088987854237.9874, -810319347393.5918, -754728947087.1025,
        -771191245479.8324, -514992955519.9897,  -631614150453.4431,  588592395897.9695};
    const double q0[7] = {-1260816.6425316457, -938176.7998473834, -873812.7503580585, -892874.556817985,
                          -596252.286739949,   -731273.4594704639, 681464.229343262};
    crBlock blocks0[] = {cr_block(CR_BLOCK_UNILATERAL, 0, 1), cr_block(CR_BLOCK_CONE, 1, 2),
                         cr_block(CR_BLOCK_CONE, 3, 2), cr_block(CR_BLOCK_UNILATERAL, 5, 2)};
    blocks0[1].mu = blocks0[1].mu2 = 0.0;
    blocks0[2].mu = blocks0[2].mu2 = 5.0;
    crProblem problem0 = {.rows = 7, .block_count = 4, .blocks = blocks0, .u_free = q0};
    problem0.W = (crMatrix){7, 7, NULL, NULL, W0};
    check_not_infeasible(&problem0, 1e-6, "rank one 0");
    check_not_infeasible(&problem0, 1e-9, "rank one 0");
    const double W1[64] = {17356124201.54787,   -42238132713.009094, 81754665788.62457,   1490351306.1111991,
                           -92687199425.41905,  -174436229429.82684, -3088641462.775353,  -145006183703.85486,
                           -42238132713.009094, 102791374064.53294,  -198959421091.55344, -3626942023.913135,
                           225565004307.55432,  424510710069.0635,   7516565710.319917,   352889294901.7788,
                           81754665788.62457,   -198959421091.55344, 385098959921.1533,   7020183279.233752,
                           -436595804694.107,   -821668217697.043,   -14548804078.773151, -683040288757.0054,
                           1490351306.1111991,  -3626942023.913135,  7020183279.233752,   127974828.95631137,
                           -7958947921.042221,  -14978647260.663597, -265218246.14509672, -12451521586.111862,
                           -92687199425.41905,  225565004307.55432,  -436595804694.107,   -7958947921.042221,
                           494978996369.3545,   931544704200.0586,   16494323504.768682,  774378940364.733,
                           -174436229429.82684, 424510710069.0635,   -821668217697.043,   -14978647260.663597,
                           931544704200.0586,   1753156279947.2258,  31042124658.76106,   1457372143532.1887,
                           -3088641462.775353,  7516565710.319917,   -14548804078.773151, -265218246.14509672,
                           16494323504.768682,  31042124658.76106,   549644955.5422924,   25804845964.770657,
                           -145006183703.85486, 352889294901.7788,   -683040288757.0054,  -12451521586.111862,
                           774378940364.733,    1457372143532.1887,  25804845964.770657,  1211491290902.089};
    const double q1[8] = {-387.5453354784072, 942.8475287481818,  -1825.065062244618, -33.44812878482497,
                          2068.1088150285527, 3892.7597477176723, 68.67977214315628,  3235.716362591636};
    crBlock blocks1[] = {cr_block(CR_BLOCK_CONE, 0, 2), cr_block(CR_BLOCK_EQUALITY, 2, 2),
                         cr_block(CR_BLOCK_EQUALITY, 4, 1), cr_block(CR_BLOCK_UNILATERAL, 5, 2),
                         cr_block(CR_BLOCK_UNILATERAL, 7, 1)};
    blocks1[0].mu = blocks1[0].mu2 = 0.0;
    crProblem problem1 = {.rows = 8, .block_count = 5, .blocks = blocks1, .u_free = q1};
    problem1.W = (crMatrix){8, 8, NULL, NULL, W1};
    check_not_infeasible(&problem1, 1e-6, "rank one 1");
    check_not_infeasible(&problem1, 1e-9, "rank one 1");
}
