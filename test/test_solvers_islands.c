// test_solvers_islands.c - a large problem that falls apart is solved as its parts are.
//
// Piles that do not touch each other are posed as one problem, their blocks shuffled into each other. The answer must be, to
// the bit, the one that each pile has by itself.
#include "test.h"

#include "pile.h"
#include "sample.h"

#include <stdlib.h>
#include <string.h>

#define PILES 5
#define ROWS  1200

typedef struct Heap {
    crProblem problem;  // given by W
    int next;           // block that comes next
    int rows[ROWS];     // its rows in the whole problem
} Heap;

typedef struct Whole {
    crProblem problem;
    crBlock blocks[ROWS];
    double u_free[ROWS], p[ROWS];
    int start[ROWS + 1];
} Whole;

// a pile by W; velocities of pile k are `speed` times as large
static void build_heap(Heap* heap, int k, double speed, crArena* arena) {
    crRandom random = sample_seed(300 + (uint64_t)k);
    crPileDef def = {(crPileKind)(k % 3), PILE_DISC, 16, 1.0, 0.2, false};
    crProblem pile = pile_build(&def, &random, arena);
    double* u = cr_arena_alloc(arena, (size_t)pile.rows * sizeof *u);
    CHECK(u != NULL && pile.rows <= 400);
    for (int i = 0; i < pile.rows; i++) {
        u[i] = speed * (pile.u_free[i] + (pile.b != NULL ? pile.b[i] : 0.0));
    }
    heap->next = 0;
    heap->problem =
        (crProblem){.rows = pile.rows, .block_count = pile.block_count, .blocks = pile.blocks, .u_free = u};
    CHECK_STATUS(cr_problem_sparse(&pile, arena, &heap->problem.W), CR_OK);
}

// blocks are dealt to the whole from a pile drawn at random, those of a pile in their order
static void shuffle(Heap* heaps, Whole* whole) {
    crRandom random = sample_seed(7);
    int rows = 0, blocks = 0, left = 0;
    for (int k = 0; k < PILES; k++) {
        left += heaps[k].problem.block_count;
        rows += heaps[k].problem.rows;
    }
    CHECK(rows > 400 && rows <= ROWS);
    rows = 0;
    while (left > 0) {
        Heap* heap = &heaps[(int)sample_uniform(&random, 0.0, PILES - 1e-9)];
        if (heap->next == heap->problem.block_count) continue;
        const crBlock* block = &heap->problem.blocks[heap->next++];
        whole->blocks[blocks] = *block;
        whole->blocks[blocks++].row = rows;
        for (int i = 0; i < block->count; i++) {
            heap->rows[block->row + i] = rows;
            whole->u_free[rows++] = heap->problem.u_free[block->row + i];
        }
        left--;
    }
    whole->problem =
        (crProblem){.rows = rows, .block_count = blocks, .blocks = whole->blocks, .u_free = whole->u_free};
}

// W of the whole, full, or by rows with a zero between two piles now and then
static void join(const Heap* heaps, bool full, crArena* arena, Whole* whole) {
    size_t n = (size_t)whole->problem.rows;
    double* W = cr_arena_alloc(arena, n * n * sizeof *W);
    memset(W, 0, n * n * sizeof *W);
    for (int k = 0; k < PILES; k++) {
        const crMatrix* A = &heaps[k].problem.W;
        for (int i = 0; i < A->rows; i++) {
            for (int e = A->start[i]; e < A->start[i + 1]; e++) {
                W[(size_t)heaps[k].rows[i] * n + (size_t)heaps[k].rows[A->col[e]]] = A->value[e];
            }
        }
    }
    whole->problem.W = (crMatrix){(int)n, (int)n, NULL, NULL, W};
    if (full) return;
    int* col = cr_arena_alloc(arena, n * n * sizeof *col);
    double* value = cr_arena_alloc(arena, n * n * sizeof *value);
    int at = 0;
    for (size_t i = 0; i < n; i++) {
        whole->start[i] = at;
        for (size_t j = 0; j < n; j++) {
            if (W[i * n + j] == 0.0 && (i + j) % 97 != 0) continue;
            col[at] = (int)j;
            value[at++] = W[i * n + j];
        }
    }
    whole->start[n] = at;
    whole->problem.W = (crMatrix){(int)n, (int)n, whole->start, col, value};
}

static void check_solver(const char* name, const Heap* heaps, Whole* whole) {
    crArena arena;
    crSolver solver;
    crReport report, own;
    crSolverParams params = {.tol = 1e-8, .max_iterations = 300};
    double residual = 0.0, p[ROWS];
    int iterations = 0;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 20), CR_OK);
    CHECK_STATUS(cr_solver_find(name, &params, &solver, NULL), CR_OK);
    memset(whole->p, 0, sizeof whole->p);
    CHECK_STATUS(solver.solve(solver.params, &whole->problem, &arena, whole->p, &report, NULL), CR_OK);
    for (int k = 0; k < PILES; k++) {
        const crProblem* problem = &heaps[k].problem;
        memset(p, 0, sizeof p);
        CHECK_STATUS(solver.solve(solver.params, problem, &arena, p, &own, NULL), CR_OK);
        iterations = own.iterations > iterations ? own.iterations : iterations;
        residual = fmax(residual, own.residual);
        for (int i = 0; i < problem->rows; i++) {
            CHECK(p[i] == whole->p[heaps[k].rows[i]]);
        }
    }
    CHECK(report.iterations == iterations && report.residual == residual);
    // the audit knows nothing of islands that the solver saw
    memset(whole->p, 0, sizeof whole->p);
    CHECK_STATUS(cr_solver_run(&solver, &whole->problem, 1e-8, &arena, whole->p, &report, NULL), CR_OK);
    CHECK(strcmp(name, "auto") != 0 || report.outcome == CR_OUTCOME_SOLVED);
    printf("  %s: %s, residual %.1e; worst of the piles by themselves %.1e\n", name,
           cr_outcome_name(report.outcome), report.audit.residual, residual);
    cr_arena_destroy(&arena);
}

TEST(islands_are_solved_as_if_alone) {
    static const char* const names[] = {"auto", "newton", "interior", "gauss-seidel"};
    static const double speed[PILES] = {1.0, 1e-6, 1e3, 1.0, 1e-3};
    static Heap heaps[PILES];
    static Whole whole;
    crArena arena;
    CHECK_STATUS(cr_arena_create(&arena, NULL, 1 << 24), CR_OK);
    for (int k = 0; k < PILES; k++) {
        build_heap(&heaps[k], k, speed[k], &arena);
    }
    shuffle(heaps, &whole);
    for (int full = 0; full < 2; full++) {
        join(heaps, full == 1, &arena, &whole);
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            check_solver(names[k], heaps, &whole);
        }
    }
    cr_arena_destroy(&arena);
}
