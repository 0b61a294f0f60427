// test_lcp.c - pivoting solvers on closed forms, textbook problems and the files of others.
#include "test.h"

#include <stdlib.h>

#include "data.h"
#include "io/problem.h"
#include "lcp_check.h"
#include "resolve/kinds.h"
#include "resolve/lcp.h"

#define MOST 128

typedef struct Run {
    crArena arena;
    crReport report;
    double p[MOST];
} Run;

static crStatus run(Run* r, crSolver solver, const crProblem* problem) {
    memset(r->p, 0, sizeof r->p);
    cr_arena_create(&r->arena, NULL, 0);
    crStatus status = cr_solver_run(&solver, problem, 1e-9, &r->arena, r->p, &r->report, NULL);
    cr_arena_destroy(&r->arena);
    return status;
}

static crProblem lcp(int n, const double* M, const double* q, crBlock* block) {
    *block = cr_block(CR_BLOCK_UNILATERAL, 0, n > 0 ? n : 1);
    return (crProblem){.rows = n,
                       .block_count = n > 0 ? 1 : 0,
                       .blocks = block,
                       .u_free = q,
                       .W = {n, n, NULL, NULL, M},
                       .raw = true};
}

static crSolver solvers[3];

static void make_solvers(void) {
    solvers[0] = cr__solver(&cr__solver_lemke, NULL);
    solvers[1] = cr__solver(&cr__solver_pivot, NULL);
    solvers[2] = cr__solver(&cr__solver_enumerate, NULL);
}

TEST(one_row_is_max_of_zero_and_minus_q_over_w) {
    make_solvers();
    for (int k = 0; k < 3; k++) {
        for (double q = -2.0; q <= 2.0; q += 0.5) {
            double W = 4.0;
            crBlock block;
            crProblem problem = lcp(1, &W, &q, &block);
            Run r;
            CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
            CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
            CHECK_NEAR(r.p[0], fmax(0.0, -q / W), 0.0);
        }
    }
}

TEST(one_box_row_is_clamped) {
    make_solvers();
    double W = 2.0;
    for (int k = 0; k < 3; k++) {
        for (double q = -9.0; q <= 9.0; q += 0.75) {
            double bounds[6][2] = {{-1, 3}, {1, 2}, {-4, -3}, {-(double)INFINITY, 1}, {-2, (double)INFINITY},
                                   {1, 1}};
            for (int b = 0; b < 6; b++) {
                crBlock block = cr_block(CR_BLOCK_BOX, 0, 1);
                block.lo = bounds[b][0];
                block.hi = bounds[b][1];
                crProblem problem = {1, 1, &block, NULL, &q, NULL, {1, 1, NULL, NULL, &W}, .raw = true};
                Run r;
                CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
                CHECK_NEAR(r.p[0], fmin(block.hi, fmax(block.lo, -q / W)), 1e-15);
            }
        }
    }
}

TEST(no_rows_and_zero_matrices) {
    make_solvers();
    double zero = 0.0, one = 1.0, minus = -1.0;
    for (int k = 0; k < 3; k++) {
        crBlock block;
        Run r;
        crProblem empty = lcp(0, NULL, NULL, &block);
        CHECK_STATUS(run(&r, solvers[k], &empty), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
        // W = 0: solved if q >= 0, else there is a proof that it is not
        crProblem problem = lcp(1, &zero, &one, &block);
        CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_SOLVED && r.p[0] == 0.0);
        problem.u_free = &minus;
        CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_INFEASIBLE && r.p[0] == 0.0);
        // so does w = -z - 1
        problem = lcp(1, &minus, &minus, &block);
        CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_INFEASIBLE && r.p[0] == 0.0);
        // a free row of zeros
        block = cr_block(CR_BLOCK_EQUALITY, 0, 1);
        problem = (crProblem){1, 1, &block, NULL, &zero, NULL, {1, 1, NULL, NULL, &zero}, .raw = true};
        CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
        problem.u_free = &one;
        CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_INFEASIBLE);
    }
}

// Murty: M = I + 2 (strict upper), q_i = 2^i - 2^(n+1) needs 2^n pivots
TEST(lemke_takes_two_to_the_n_pivots_on_murtys_example) {
    for (int n = 1; n <= 10; n++) {
        double M[100] = {0}, q[10];
        for (int i = 0; i < n; i++) {
            q[i] = ldexp(1.0, i + 1) - ldexp(1.0, n + 1);
            for (int j = i; j < n; j++) {
                M[i * n + j] = i == j ? 1.0 : 2.0;
            }
        }
        crBlock block;
        crProblem problem = lcp(n, M, q, &block);
        Run r;
        CHECK_STATUS(run(&r, cr__solver(&cr__solver_lemke, NULL), &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
        CHECK(r.report.iterations == 1 << n);
        CHECK_NEAR(r.p[n - 1], ldexp(1.0, n), 0.0);
        // and says so when it may not
        crSolverParams params = cr_solver_params();
        params.max_iterations = (1 << n) - 1;
        CHECK_STATUS(run(&r, cr__solver(&cr__solver_lemke, &params), &problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_LIMIT && r.p[n - 1] == 0.0);
    }
}

// Kostreva: least-index pivoting without care cycles here for every n
TEST(cyclic_matrices_end) {
    make_solvers();
    for (int n = 3; n <= 15; n += 2) {
        double M[225] = {0}, q[15];
        for (int i = 0; i < n; i++) {
            q[i] = -1.0;
            M[i * n + i] = 1.0;
            M[i * n + (i + 1) % n] = 2.0;
        }
        crBlock block;
        crProblem problem = lcp(n, M, q, &block);
        for (int k = 0; k < (n <= 11 ? 3 : 2); k++) {
            Run r;
            CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
            CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
            CHECK(lcp_violation(&problem, r.p) <= 1e-15);
        }
    }
}

// Floudas et al., Handbook of Test Problems, 10.2.1 and 10.2.9
TEST(handbook_problems) {
    make_solvers();
    double M16[256] = {0}, q16[16];
    for (int i = 0; i < 16; i++) {
        q16[i] = -1.0;
        for (int j = i; j < 16; j++) {
            M16[i * 16 + j] = i == j ? 1.0 : 2.0;
        }
    }
    crBlock block;
    crProblem problem = lcp(16, M16, q16, &block);
    for (int k = 0; k < 3; k++) {
        Run r;
        CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
        for (int i = 0; i < 16; i++) {
            CHECK_NEAR(r.p[i], i == 15 ? 1.0 : 0.0, 1e-14);
        }
    }
    double M[16] = {11, 0, 10, -1, 0, 11, 10, -1, 10, 10, 21, -1, 1, 1, 1, 0};
    for (double l = 0.0; l <= 30.0; l += 2.5) {
        double q[4] = {50, 50, l, -6};
        double a = l <= 23.0 ? (l + 16.0) / 13.0 : 3.0;
        double expected[4] = {a, a, l <= 23.0 ? 2.0 * (23.0 - l) / 13.0 : 0.0,
                              l <= 23.0 ? (1286.0 - 9.0 * l) / 13.0 : 83.0};
        problem = lcp(4, M, q, &block);
        for (int k = 0; k < 3; k++) {
            Run r;
            CHECK_STATUS(run(&r, solvers[k], &problem), CR_OK);
            for (int i = 0; i < 4; i++) {
                CHECK_NEAR(r.p[i], expected[i], 1e-13);
            }
        }
    }
}

static crLcpSolutions enumerate(const crProblem* problem) {
    crArena arena;
    crLcp built;
    crLcpReduced reduced;
    bool supported;
    crLcpSolutions solutions = {.count = -1};
    double z[64 * CR_LCP_ENUMERATE_MAX];
    cr_arena_create(&arena, NULL, 0);
    CHECK_STATUS(cr__lcp_build(problem, &arena, &built, &supported), CR_OK);
    CHECK(supported);
    CHECK_STATUS(cr__lcp_reduce(&built, &arena, &reduced), CR_OK);
    CHECK_STATUS(cr__lcp_enumerate(reduced.M, reduced.q, reduced.n, reduced.pairs, &arena, 64, z, &solutions),
                 CR_OK);
    cr_arena_destroy(&arena);
    return solutions;
}

TEST(enumeration_counts_and_sees_faces) {
    crBlock block;
    // w = 1 - z in each of n rows: 2^n isolated solutions
    double M[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1}, q[3] = {1, 1, 1};
    for (int n = 1; n <= 3; n++) {
        double diagonal[9] = {0};
        for (int i = 0; i < n; i++) {
            diagonal[i * n + i] = M[0];
        }
        crProblem problem = lcp(n, diagonal, q, &block);
        crLcpSolutions s = enumerate(&problem);
        CHECK(s.count == 1 << n && !s.face);
    }
    // z1 + z2 = 1: a segment
    double ones[4] = {1, 1, 1, 1}, minus[2] = {-1, -1};
    crProblem segment = lcp(2, ones, minus, &block);
    crLcpSolutions s = enumerate(&segment);
    CHECK(s.count == 3 && s.face);
    // w2 = z1 - 1 = 0 with z2 free to grow: a half-line
    double line[4] = {1, 0, 1, 0}, end[2] = {-1, -1};
    crProblem half = lcp(2, line, end, &block);
    s = enumerate(&half);
    CHECK(s.count >= 1 && s.face);
    // z2 - z1 = 1: another
    double tied[4] = {1, -1, -1, 1}, apart[2] = {1, -1};
    crProblem diagonal = lcp(2, tied, apart, &block);
    s = enumerate(&diagonal);
    CHECK(s.count == 1 && s.face);
    // z1 = z2 is a line of candidates of which w3 = -z1 - z3 leaves the origin alone
    double point[9] = {1, -1, 0, -1, 1, 0, -1, 0, -1}, zero[3] = {0, 0, 0};
    crProblem origin = lcp(3, point, zero, &block);
    s = enumerate(&origin);
    CHECK(s.count == 1 && !s.face);
}

// a line of SOLUTIONS.csv: file, n, order, solutions, lemke's outcome, pivots, solutions z separated by |
typedef struct Line {
    char* field[7];
    int count;  // solutions, -1 where not counted
    bool ray;   // lemke ends on one
} Line;

static Line split(char* text) {
    Line line;
    for (int k = 0; k < 7; k++) {
        line.field[k] = text;
        char* comma = k < 6 ? strchr(text, ',') : NULL;
        if (comma == NULL) continue;
        *comma = '\0';
        text = comma + 1;
    }
    line.count = atoi(line.field[3]);
    line.ray = atoi(line.field[4]) == 1;
    return line;
}

// each solver ends as it must, with a solution good to rounding where there is one
static void check_outcomes(const Line* line, const crProblem* problem) {
    Run r;
    for (int k = 0; k < 3; k++) {
        if (k == 2 && line->count < 0) continue;
        CHECK_STATUS(run(&r, solvers[k], problem), CR_OK);
        bool expected = k < 2 ? !line->ray : line->count != 0;
        test_check((r.report.outcome == CR_OUTCOME_SOLVED) == expected, __FILE__, __LINE__, "%s by %s: %s",
                   line->field[0], solvers[k].name, cr_outcome_name(r.report.outcome));
        if (k == 2 && line->count == 0) CHECK(r.report.outcome == CR_OUTCOME_INFEASIBLE);
        if (!expected) continue;
        double violation = lcp_violation(problem, r.p);
        double tol = 4e-16 * lcp_rounding_scale(problem, r.p);
        test_check(violation <= tol, __FILE__, __LINE__, "%s by %s: violation %g > %g", line->field[0],
                   solvers[k].name, violation, tol);
    }
}

// the unique or least norm solution is among those listed, which are printed to 12 digits
static void check_solution(const Line* line, const crProblem* problem) {
    Run r;
    double nearest = (double)INFINITY;
    run(&r, solvers[line->count < 0 ? 0 : 2], problem);
    for (char* z = line->field[6]; z != NULL; z = strchr(z, '|')) {
        if (*z == '|') z++;
        double distance = 0.0, size = 0.0;
        for (int i = 0; i < problem->rows; i++) {
            double value = strtod(z, &z);
            distance = fmax(distance, fabs(value - r.p[i]));
            size = fmax(size, fabs(value));
        }
        nearest = fmin(nearest, size > 0.0 ? distance / size : distance);
    }
    test_check(nearest <= 2e-11, __FILE__, __LINE__, "%s: %g away from every listed solution", line->field[0],
               nearest);
}

static void check_line(char* text) {
    Line line = split(text);
    char relative[256], path[512];
    snprintf(relative, sizeof relative, "siconos-lcp/%.200s", line.field[0]);
    if (!CHECK(test_data(relative, path, sizeof path) != NULL)) return;
    crProblemFile file;
    crError error;
    if (!CHECK_STATUS(cr_problem_read(path, NULL, &file, &error), CR_OK)) return;
    bool by_columns = strcmp(line.field[2], "colmajor") == 0;
    CHECK_TEXT(file.format, by_columns ? "siconos-lcp" : "siconos-lcp-rows");
    CHECK(file.problem.rows == atoi(line.field[1]));
    check_outcomes(&line, &file.problem);
    if (line.count != 0) check_solution(&line, &file.problem);
    if (line.count >= 0) {
        int found = enumerate(&file.problem).count;
        test_check(found == line.count, __FILE__, __LINE__, "%s: %d solutions, expected %d", line.field[0],
                   found, line.count);
    }
    cr_problem_file_free(&file);
}

TEST(siconos_lcps_end_as_listed) {
    char path[512], line[8192];
    if (test_data("siconos-lcp/SOLUTIONS.csv", path, sizeof path) == NULL) {
        test_skip("no data");
        return;
    }
    make_solvers();
    FILE* file = fopen(path, "r");
    int count = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') continue;
        check_line(line);
        count++;
    }
    fclose(file);
    CHECK(count == 33);
}

TEST(siconos_mlcps_are_solved) {
    const char* names[] = {"Buck2",         "BuckConverter", "BuckFirstStep", "PDSym",       "PD",
                           "RCD",           "RLCD",          "deudeu",        "diodeBridge", "diodeBridge20",
                           "diodeBridge40", "m2n1",          "m3n2",          "relay2",      "relay3"};
    char relative[256], path[512];
    crProblemFile file;
    crError error;
    if (test_data("siconos-mlcp/PD_mlcp.dat", path, sizeof path) == NULL) {
        test_skip("no data");
        return;
    }
    double worst = 0.0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(relative, sizeof relative, "siconos-mlcp/%s_mlcp.dat", names[i]);
        test_data(relative, path, sizeof path);
        if (!CHECK_STATUS(cr_problem_read(path, NULL, &file, &error), CR_OK)) continue;
        CHECK_TEXT(file.format, "siconos-mlcp");
        Run r;
        CHECK_STATUS(run(&r, cr__solver(&cr__solver_lemke, NULL), &file.problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
        double violation = lcp_violation(&file.problem, r.p) / fmax(1.0, lcp_size(&file.problem));
        test_check(violation <= 1e-15, __FILE__, __LINE__, "%s: violation %g", names[i], violation);
        worst = fmax(worst, violation);
        cr_problem_file_free(&file);
    }
    printf("  15 mixed LCPs: worst violation %.1e\n", worst);
    // more equations than unknowns: not a problem of this kind
    test_data("siconos-mlcp/Rectangular_mlcp.dat", path, sizeof path);
    CHECK_STATUS(cr_problem_read(path, NULL, &file, &error), CR_ERR_SIZE);
    CHECK_TEXT(error.field, "M");
    CHECK(error.line == 13);
}

TEST(engine_failures_are_solved) {
    const char* names[] = {"LCP_FAILURE_2",       "LCP_FAILURE",         "REAL_LIFE_FAILURE_1",
                           "REAL_LIFE_FAILURE_2", "REAL_LIFE_FAILURE_3", "REAL_LIFE_FAILURE_4",
                           "REAL_LIFE_FAILURE_5", "BLOCK_SYMMETRIC_CASE"};
    char path[512], picked[600];
    if (test_data("lcp-engine-failures/nimble_boxed_lcp.txt", path, sizeof path) == NULL) {
        test_skip("no data");
        return;
    }
    double worst = 0.0;
    for (size_t i = 0; i < 8; i++) {
        crProblemFile file;
        snprintf(picked, sizeof picked, "%s#%s", path, names[i]);
        if (!CHECK_STATUS(cr_problem_read(picked, NULL, &file, NULL), CR_OK)) continue;
        CHECK(file.count == 8);
        CHECK_TEXT(file.name, names[i]);
        Run r;
        CHECK_STATUS(run(&r, cr__solver(&cr__solver_lemke, NULL), &file.problem), CR_OK);
        CHECK(r.report.outcome == CR_OUTCOME_SOLVED);
        // the form it came in: each friction row within its bound times the normal impulse
        for (int b = 0; b < file.problem.block_count; b++) {
            const crBlock* block = &file.problem.blocks[b];
            CHECK(block->kind == CR_BLOCK_CONE && block->count == 3);
            const double* p = r.p + block->row;
            crBlock normal = cr_block(CR_BLOCK_UNILATERAL, 0, 1);
            double limit[2] = {block->mu * p[0], block->mu2 * p[0]};
            worst = fmax(worst, lcp_row_violation(&normal, p[0], lcp_row(&file.problem, r.p, block->row)));
            for (int k = 1; k <= 2; k++) {
                double u = lcp_row(&file.problem, r.p, block->row + k);
                worst = fmax(worst, lcp_interval_violation(limit[k - 1], p[k], u));
            }
        }
        cr_problem_file_free(&file);
    }
    printf("  8 boxed LCPs: worst violation %.1e\n", worst);
    CHECK(worst <= 1e-14);
    crProblemFile file;
    snprintf(picked, sizeof picked, "%s#nothing", path);
    CHECK_STATUS(cr_problem_read(picked, NULL, &file, NULL), CR_ERR_NAME);
}

// an allocator whose k-th call fails
static void* failing_alloc(void* ctx, size_t size) {
    int* left = ctx;
    return (*left)-- > 0 ? malloc(size) : NULL;
}

static void plain_free(void* ctx, void* memory, size_t size) {
    (void)ctx;
    (void)size;
    free(memory);
}

TEST(every_failed_allocation_is_reported) {
    make_solvers();
    double M[9] = {2, 1, 0, 1, 2, 1, 0, 1, 0}, q[3] = {-1, -2, 1};
    crBlock blocks[2] = {cr_block(CR_BLOCK_EQUALITY, 0, 1), cr_block(CR_BLOCK_UNILATERAL, 1, 2)};
    crProblem problem = {3, 2, blocks, NULL, q, NULL, {3, 3, NULL, NULL, M}, .raw = true};
    for (int k = 0; k < 3; k++) {
        int calls = 0;
        for (crStatus status = CR_ERR_MEMORY; status != CR_OK && calls < 100; calls++) {
            int left = calls;
            double p[3] = {0};
            crAllocator allocator = {failing_alloc, plain_free, &left};
            crReport report;
            crArena arena;
            cr_arena_create(&arena, &allocator, 0);
            status = cr_solver_run(&solvers[k], &problem, 1e-9, &arena, p, &report, NULL);
            cr_arena_destroy(&arena);
            CHECK(status == CR_OK || status == CR_ERR_MEMORY);
        }
        CHECK(calls > 3 && calls < 100);
    }
}
