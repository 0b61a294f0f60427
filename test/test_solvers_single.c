// test_solvers_single.c - the friction solvers on one contact, on edge cases, and what they take from memory.
//
// One contact is compared with a search over all slip directions; other cases are closed forms worked out in
// the comments.
#include "test.h"

#include "pile.h"
#include "sample.h"

#include <stdlib.h>

static const char* const names[] = {"auto", "gauss-seidel", "newton", "interior"};
#define NAMES 4

static crOutcome run(const char* name, const crProblem* problem, double tol, double* x, crReport* report) {
    crSolverParams params = cr_solver_params();
    crSolver solver;
    crArena arena;
    params.tol = tol;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 16), CR_OK);
    CHECK_STATUS(cr_solver_find(name, &params, &solver, NULL), CR_OK);
    CHECK_STATUS(cr_solver_run(&solver, problem, tol, &arena, x, report, NULL), CR_OK);
    cr_arena_destroy(&arena);
    return report->outcome;
}

typedef struct Single {
    double W[9], q[3];
    crBlock block;
    crProblem problem;
} Single;

static void single_make(Single* s, const crCollision* c, int rows) {
    crContact contact;
    crMat3 frame;
    CHECK_STATUS(cr_collision_contact(c, &contact, &frame, NULL), CR_OK);
    const crSym3* W = &contact.W;
    double full[9] = {W->xx, W->xy, W->xz, W->xy, W->yy, W->yz, W->xz, W->yz, W->zz};
    double q[3] = {contact.V.x, contact.V.y, contact.V.z};
    for (int i = 0; i < rows; i++) {
        s->q[i] = q[i];
        for (int j = 0; j < rows; j++) {
            s->W[i * rows + j] = full[i * 3 + j];
        }
    }
    s->block = cr_block(CR_BLOCK_CONE, 0, rows);
    s->block.mu = s->block.mu2 = contact.mu;
    s->problem = (crProblem){.rows = rows, .block_count = 1, .blocks = &s->block, .u_free = s->q};
    s->problem.W = (crMatrix){rows, rows, NULL, NULL, s->W};
}

// slip in direction d: x_n from u_n = 0, and u_t across and along d
static bool slip_at(const Single* s, double mu, const double d[2], double x[3], double* across,
                    double* along) {
    double slope = s->W[0] + mu * (s->W[1] * d[0] + s->W[2] * d[1]);
    if (!(slope > 0.0)) return false;
    x[0] = -s->q[0] / slope;
    x[1] = mu * x[0] * d[0];
    x[2] = mu * x[0] * d[1];
    double u[2];
    for (int k = 0; k < 2; k++) {
        u[k] = s->q[1 + k] + s->W[3 * (1 + k)] * x[0] + s->W[3 * (1 + k) + 1] * x[1] +
               s->W[3 * (1 + k) + 2] * x[2];
    }
    *across = u[0] * d[1] - u[1] * d[0];
    *along = u[0] * d[0] + u[1] * d[1];
    return true;
}

// distance of p from the nearest slipping solution, by bisecting every sign change over the circle; count of
// them
static double nearest_slip(const Single* s, double mu, const double* p, int* count) {
    double best = (double)INFINITY, last = 0.0, last_angle = 0.0;
    bool known = false;
    *count = 0;
    for (int k = 0; k <= 720; k++) {
        double angle = 0.123 + 2 * CR_PI * k / 720, d[2], x[3], across, along;
        cr_sincos(angle, &d[1], &d[0]);
        if (!slip_at(s, mu, d, x, &across, &along)) {
            known = false;
            continue;
        }
        if (known && (across > 0.0) != (last > 0.0)) {
            double lo = last_angle, hi = angle;
            for (int i = 0; i < 60; i++) {
                double mid = 0.5 * (lo + hi), value;
                cr_sincos(mid, &d[1], &d[0]);
                if (!slip_at(s, mu, d, x, &value, &along)) break;
                if ((value > 0.0) == (last > 0.0)) {
                    lo = mid;
                } else {
                    hi = mid;
                }
            }
            if (along <= 0.0) {
                double e[3] = {x[0] - p[0], x[1] - p[1], x[2] - p[2]};
                best = fmin(best, sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]));
                (*count)++;
            }
        }
        last = across;
        last_angle = angle;
        known = true;
    }
    return best;
}

TEST(one_contact_against_search) {
    crRandom random = sample_seed(31);
    int sticks = 0, slips = 0, opens = 0, several = 0;
    double worst = 0.0;
    for (int i = 0; i < test_samples(21000); i++) {
        crCollision c = sample_collision(&random, (crSampleKind)(i % SAMPLE_KINDS));
        // the search's grid resolves solutions of well-shaped contacts only
        if (i % SAMPLE_KINDS == SAMPLE_NEEDLE || i % SAMPLE_KINDS == SAMPLE_MATRIX) continue;
        Single s;
        single_make(&s, &c, 3);
        double x[3] = {0};
        crReport report;
        CHECK(run(names[i % 2], &s.problem, 1e-11, x, &report) == CR_OUTCOME_SOLVED);
        double u[3], size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        for (int k = 0; k < 3; k++) {
            u[k] = s.q[k] + s.W[3 * k] * x[0] + s.W[3 * k + 1] * x[1] + s.W[3 * k + 2] * x[2];
        }
        double speed = fabs(s.q[0]) + fabs(s.q[1]) + fabs(s.q[2]);
        CHECK(x[0] >= 0.0 && u[0] >= -1e-9 * speed);
        CHECK(hypot(x[1], x[2]) <= s.block.mu * x[0] * (1.0 + 1e-9));
        if (x[0] == 0.0) {
            opens++;
        } else if (hypot(u[1], u[2]) < 1e-9 * speed) {
            sticks++;
        } else {
            int count;
            double distance = nearest_slip(&s, s.block.mu, x, &count);
            slips++;
            several += count > 1 ? 1 : 0;
            worst = fmax(worst, distance / size);
        }
    }
    printf("  %d stick, %d slip (%d with several solutions), %d open; off the search by %.1e\n", sticks,
           slips, several, opens, worst);
    CHECK(worst < 1e-7);
    CHECK(sticks > 10 && slips > 10);
}

// what rounding of W p and of its cancellation with q leaves of the residual
static double rounding(const Single* s, const double* x) {
    double size = 0.0, q = 0.0;
    int n = s->problem.rows;
    for (int i = 0; i < n; i++) {
        q += s->q[i] * s->q[i];
        for (int j = 0; j < n; j++) {
            size += fabs(s->W[i * n + j] * x[j]);
        }
    }
    return 64.0 * 2.2e-16 * size / sqrt(q);
}

TEST(one_contact_of_every_kind) {
    crRandom random = sample_seed(32);
    double worst[NAMES] = {0};
    int solved[NAMES] = {0}, tried = 0;
    double v[4][2] = {{0.5, 0}, {0, 0.5}, {-0.5, 0}, {0, -0.5}};
    for (int i = 0; i < test_samples(21000); i++) {
        crCollision c = sample_collision(&random, (crSampleKind)(i % SAMPLE_KINDS));
        Single s;
        int shape = i / SAMPLE_KINDS % 5;
        single_make(&s, &c, shape == 4 ? 2 : 3);
        if (shape == 1) s.block.mu2 = 0.5 * s.block.mu;
        if (shape == 2) s.block.vertex_count = 4;
        if (shape == 3) s.block.mu = s.block.mu2 = 0.0;
        s.problem.vertices = (const double(*)[2])v;
        double floor = 0.0;
        tried++;
        for (int k = 0; k < NAMES; k++) {
            double x[3] = {0};
            crReport report;
            bool ok = run(names[k], &s.problem, 1e-10, x, &report) == CR_OUTCOME_SOLVED;
            solved[k] += ok ? 1 : 0;
            // nearly singular W: p is so large that its last digit moves u
            if (k == 0) floor = rounding(&s, x);
            if (k < 2) CHECK(ok || report.audit.least <= fmax(floor, 1e-10));
            if (ok) worst[k] = fmax(worst[k], report.audit.residual);
        }
    }
    for (int k = 0; k < NAMES; k++) {
        printf("  %s: %d of %d, residual to %.1e\n", names[k], solved[k], tried, worst[k]);
    }
}

TEST(infinite_friction_sticks) {
    // W = I: p = -q, whatever the slip
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-1, 30, -40};
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 3);
    block.mu = block.mu2 = (double)INFINITY;
    crProblem p = {.rows = 3, .block_count = 1, .blocks = &block, .u_free = q, .W = {3, 3, NULL, NULL, W}};
    for (int k = 0; k < NAMES - 1; k++) {
        double x[3] = {0};
        crReport report;
        CHECK(run(names[k], &p, 1e-10, x, &report) == CR_OUTCOME_SOLVED);
        CHECK_VEC(cr_vec3(x[0], x[1], x[2]), cr_vec3(1, -30, 40), 1e-9);
    }
    // one direction without limit, the other with .5: it slips there
    block.mu2 = 0.5;
    double x[3] = {0};
    crReport report;
    CHECK(run("auto", &p, 1e-10, x, &report) == CR_OUTCOME_SOLVED);
    CHECK_VEC(cr_vec3(x[0], x[1], x[2]), cr_vec3(1, -30, 0.5), 1e-9);
}

TEST(rows_of_all_kinds_in_closed_form) {
    // W = I splits into rows: equality -> p = -q; unilateral -> max(0, -q); box [-1, 2] -> clamp(-q)
    double W[64] = {0}, q[8] = {3, -4, 5, 5, -5, 0.5, -2, -1}, b[8] = {1, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < 8; i++) {
        W[9 * i] = 1.0;
    }
    crBlock blocks[5] = {cr_block(CR_BLOCK_EQUALITY, 0, 1),
                         cr_block(CR_BLOCK_UNILATERAL, 1, 2),
                         cr_block(CR_BLOCK_BOX, 3, 3),
                         cr_block(CR_BLOCK_CONE, 6, 2),
                         {0}};
    blocks[2].lo = -1;
    blocks[2].hi = 2;
    blocks[3].mu = 0.25;
    crProblem p = {
        .rows = 8, .block_count = 4, .blocks = blocks, .u_free = q, .b = b, .W = {8, 8, NULL, NULL, W}};
    double expected[8] = {-4, 4, 0, -1, 2, -0.5, 2, 0.5};
    for (int k = 0; k < NAMES; k++) {
        double x[8] = {0};
        crReport report;
        CHECK(run(names[k], &p, 1e-12, x, &report) == CR_OUTCOME_SOLVED);
        for (int i = 0; i < 8; i++) {
            CHECK_NEAR(x[i], expected[i], 1e-10);
        }
    }
}

TEST(nothing_to_do) {
    crProblem none = {0};
    double W[9] = {0}, q[3] = {1, 2, 3}, x[3] = {5, 5, 5};
    crBlock block = cr_block(CR_BLOCK_CONE, 0, 3);
    block.mu = block.mu2 = 0.5;
    crProblem open = {.rows = 3, .block_count = 1, .blocks = &block, .u_free = q, .W = {3, 3, NULL, NULL, W}};
    for (int k = 0; k < NAMES; k++) {
        crReport report;
        CHECK(run(names[k], &none, 1e-10, NULL, &report) == CR_OUTCOME_SOLVED);
        // nothing moves, and nothing has to: any guess must come back to no impulse
        x[0] = x[1] = x[2] = 5.0;
        CHECK(run(names[k], &open, 1e-10, x, &report) == CR_OUTCOME_SOLVED);
        CHECK(fabs(x[0]) + fabs(x[1]) + fabs(x[2]) < 1e-9);
    }
}

TEST(contradictions_are_certified) {
    crReport report;
    // no impulse moves anything, and the contact approaches
    double W0[9] = {0}, q0[3] = {-1, 2, 3}, x[6] = {0};
    crBlock cone = cr_block(CR_BLOCK_CONE, 0, 3);
    cone.mu = cone.mu2 = 0.5;
    crProblem stuck = {
        .rows = 3, .block_count = 1, .blocks = &cone, .u_free = q0, .W = {3, 3, NULL, NULL, W0}};
    CHECK(run("auto", &stuck, 1e-10, x, &report) == CR_OUTCOME_INFEASIBLE);
    // a point between two walls that close in: u_1 + u_2 = -2 whatever p is
    double W[36] = {0}, q[6] = {-1, 0.1, 0.2, -1, -0.1, 0.2};
    for (int i = 0; i < 6; i++) {
        int j = (i + 3) % 6;
        W[7 * i] = 1.0;
        W[6 * i + j] = i % 3 == 2 ? 1.0 : -1.0;
    }
    crBlock walls[2] = {cone, cone};
    walls[1].row = 3;
    crProblem pinch = {.rows = 6, .block_count = 2, .blocks = walls, .u_free = q, .W = {6, 6, NULL, NULL, W}};
    memset(x, 0, sizeof x);
    CHECK(run("auto", &pinch, 1e-10, x, &report) == CR_OUTCOME_INFEASIBLE);
    CHECK(report.audit.residual > 1e-3);
    for (int k = 1; k < NAMES; k++) {
        memset(x, 0, sizeof x);
        CHECK(run(names[k], &pinch, 1e-10, x, &report) != CR_OUTCOME_SOLVED);
    }
    // walls that open instead: solved
    q[0] = q[3] = 1.0;
    CHECK(run("auto", &pinch, 1e-10, x, &report) == CR_OUTCOME_SOLVED);
    // two equalities on one velocity that differ
    double We[4] = {1, 1, 1, 1}, qe[2] = {1, 2};
    crBlock rows = cr_block(CR_BLOCK_EQUALITY, 0, 2);
    crProblem twice = {
        .rows = 2, .block_count = 1, .blocks = &rows, .u_free = qe, .W = {2, 2, NULL, NULL, We}};
    memset(x, 0, sizeof x);
    CHECK(run("auto", &twice, 1e-10, x, &report) == CR_OUTCOME_INFEASIBLE);
    qe[1] = 1.0;
    CHECK(run("auto", &twice, 1e-10, x, &report) == CR_OUTCOME_SOLVED);
    CHECK_NEAR(x[0] + x[1], -1.0, 1e-10);
}

// velocities after the impulses
static void velocities(const crProblem* p, crArena* arena, const double* x, double* u) {
    CHECK_STATUS(cr_problem_velocity(p, arena, x, u), CR_OK);
}

TEST(order_of_blocks_does_not_matter) {
    double worst = 0.0;
    for (int i = 0; i < test_samples(600) / 5; i++) {
        crRandom random = sample_seed(40 + (uint64_t)i);
        crArena arena;
        CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 22), CR_OK);
        // heaps: few contacts per body, so velocities are determined
        crPileDef def = {PILE_HEAP, i % 2 ? PILE_DISC : PILE_NONE, 6, 1.0, 0.2, false};
        crProblem p = pile_build(&def, &random, &arena), r = p;
        int n = p.rows, count = p.block_count;
        size_t rows = (size_t)n;
        double* W = NULL;
        CHECK_STATUS(cr_problem_dense(&p, &arena, &W), CR_OK);
        crBlock* blocks = cr_arena_alloc(&arena, (size_t)count * sizeof *blocks);
        int* from = cr_arena_alloc(&arena, rows * sizeof *from);
        double* R = cr_arena_alloc(&arena, rows * rows * sizeof *R);
        double* q = cr_arena_alloc(&arena, rows * sizeof *q);
        double* u[2] = {cr_arena_alloc(&arena, rows * sizeof(double)),
                        cr_arena_alloc(&arena, rows * sizeof(double))};
        // blocks in reverse
        for (int k = 0, row = 0; k < count; k++) {
            blocks[k] = p.blocks[count - 1 - k];
            for (int a = 0; a < blocks[k].count; a++) {
                from[row + a] = blocks[k].row + a;
            }
            blocks[k].row = row;
            row += blocks[k].count;
        }
        for (size_t a = 0; a < rows; a++) {
            q[a] = p.u_free[from[a]];
            for (size_t b = 0; b < rows; b++) {
                R[a * rows + b] = W[(size_t)from[a] * rows + (size_t)from[b]];
            }
        }
        r.blocks = blocks;
        r.u_free = q;
        r.W = (crMatrix){n, n, NULL, NULL, R};
        double* x = calloc(rows, sizeof *x);
        crReport report;
        CHECK(run("auto", &p, 1e-12, x, &report) == CR_OUTCOME_SOLVED);
        velocities(&p, &arena, x, u[0]);
        memset(x, 0, rows * sizeof *x);
        CHECK(run("auto", &r, 1e-12, x, &report) == CR_OUTCOME_SOLVED);
        velocities(&r, &arena, x, u[1]);
        for (size_t a = 0; a < rows; a++) {
            worst = fmax(worst, fabs(u[1][a] - u[0][from[a]]));
        }
        free(x);
        cr_arena_destroy(&arena);
    }
    printf("  velocities after reversing the blocks differ by at most %.1e\n", worst);
    CHECK(worst < 1e-9);
}

typedef struct Counter {
    int calls;
    int fail_at;  // 0: never
} Counter;

static void* count_alloc(void* ctx, size_t size) {
    Counter* counter = ctx;
    counter->calls++;
    return counter->calls == counter->fail_at ? NULL : malloc(size);
}

static void count_free(void* ctx, void* memory, size_t size) {
    (void)ctx;
    (void)size;
    free(memory);
}

TEST(second_solve_calls_no_heap) {
    for (int k = 0; k < NAMES; k++) {
        crRandom random = sample_seed(50);
        crArena data, work;
        Counter counter = {0, 0};
        crAllocator allocator = {count_alloc, count_free, &counter};
        CHECK_STATUS(cr_arena_create(&data, NULL, 1 << 20), CR_OK);
        CHECK_STATUS(cr_arena_create(&work, &allocator, 0), CR_OK);
        crPileDef def = {PILE_WALL, PILE_DISC, 4, 10.0, 0.1, true};
        crProblem p = pile_build(&def, &random, &data);
        double* x = calloc((size_t)p.rows, sizeof *x);
        crSolverParams params = cr_solver_params();
        params.max_iterations = 50;
        crSolver solver;
        crReport report;
        CHECK_STATUS(cr_solver_find(names[k], &params, &solver, NULL), CR_OK);
        CHECK_STATUS(cr_solver_run(&solver, &p, 1e-10, &work, x, &report, NULL), CR_OK);
        CHECK(work.used == 0);
        CHECK_STATUS(cr_arena_reset(&work), CR_OK);
        int before = counter.calls;
        CHECK(before > 0);
        memset(x, 0, (size_t)p.rows * sizeof *x);
        CHECK_STATUS(cr_solver_run(&solver, &p, 1e-10, &work, x, &report, NULL), CR_OK);
        CHECK(counter.calls == before);
        free(x);
        cr_arena_destroy(&work);
        cr_arena_destroy(&data);
    }
}

TEST(out_of_memory_is_reported) {
    crRandom random = sample_seed(51);
    crArena data;
    CHECK_STATUS(cr_arena_create(&data, NULL, 1 << 20), CR_OK);
    crPileDef def = {PILE_TOWER, PILE_DISC, 3, 10.0, 0.1, true};
    crProblem p = pile_build(&def, &random, &data);
    for (int k = 0; k < NAMES; k++) {
        bool done = false;
        for (int fail = 1; !done; fail++) {
            crArena work;
            Counter counter = {0, fail};
            crAllocator allocator = {count_alloc, count_free, &counter};
            CHECK_STATUS(cr_arena_create(&work, &allocator, 0), CR_OK);
            double* x = calloc((size_t)p.rows, sizeof *x);
            crSolverParams params = cr_solver_params();
            params.max_iterations = 40;
            crSolver solver;
            crReport report;
            CHECK_STATUS(cr_solver_find(names[k], &params, &solver, NULL), CR_OK);
            crStatus status = cr_solver_run(&solver, &p, 1e-10, &work, x, &report, NULL);
            done = counter.calls < fail;
            CHECK_STATUS(status, done ? CR_OK : CR_ERR_MEMORY);
            CHECK(work.used == 0);
            free(x);
            cr_arena_destroy(&work);
        }
    }
    cr_arena_destroy(&data);
}

TEST(solvers_by_name) {
    crSolver solver;
    crError error;
    CHECK(cr_solver_count() >= NAMES);
    CHECK_TEXT(cr_solver_name(0), "auto");
    CHECK(cr_solver_name(-1) == NULL && cr_solver_name(cr_solver_count()) == NULL);
    for (int k = 0; k < NAMES; k++) {
        CHECK_STATUS(cr_solver_find(names[k], NULL, &solver, NULL), CR_OK);
        CHECK_TEXT(solver.name, names[k]);
    }
    CHECK_STATUS(cr_solver_find("magic", NULL, &solver, &error), CR_ERR_NAME);
    CHECK_TEXT(error.field, "solver");
}

// the same bits by every compiler and optimization level; masses are equal, so no libm is in the data
TEST(golden_bits) {
    static const uint64_t golden[NAMES] = {UINT64_C(0xeeb2622792b449d9), UINT64_C(0x62e0a9b9ea20e41e),
                                           UINT64_C(0x76de628daffa60aa), UINT64_C(0x6e8abc184cef644b)};
    for (int k = 0; k < NAMES; k++) {
        uint64_t hash = CR_HASH_SEED;
        for (int i = 0; i < 24; i++) {
            crRandom random = sample_seed(60 + (uint64_t)i);
            crArena arena;
            crPileDef def = {(crPileKind)(i % PILE_KINDS),
                             (crPileFriction)(i / PILE_KINDS % PILE_FRICTIONS),
                             4,
                             1.0,
                             0.2,
                             i % 3 == 0};
            CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
            crProblem p = pile_build(&def, &random, &arena);
            crSolverParams params = cr_solver_params();
            params.max_iterations = 100;
            crSolver solver;
            crReport report;
            double* x = calloc((size_t)p.rows, sizeof *x);
            CHECK_STATUS(cr_solver_find(names[k], &params, &solver, NULL), CR_OK);
            CHECK_STATUS(cr_solver_run(&solver, &p, 1e-10, &arena, x, &report, NULL), CR_OK);
            hash = cr_hash(hash, x, (size_t)p.rows * sizeof *x);
            free(x);
            cr_arena_destroy(&arena);
        }
        if (!CHECK(hash == golden[k])) printf("%s: %016llx\n", names[k], (unsigned long long)hash);
    }
}
