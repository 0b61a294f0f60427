// islands.c - a problem that falls apart is solved part by part.
//
// An island is a set of blocks that act on each other through W. Impulses of one change no velocity of another, so each is
// a problem of its own: small islands take the ways of small problems, no step is shortened by another island, and an island
// that barely moves is solved to its own scale. Rows keep their order within an island.
// Fails: out of memory, or as the solver does.
#include "islands.h"
#include "problem/audit.h"

#include <string.h>

#define ISLANDS_ROWS 400  // smaller problems are solved as they are

// One island, with room for the largest.
typedef struct crIsland {
    crProblem problem;
    crBlock* blocks;
    double* u_free;
    double* b;
    double* p;
    int* start;
    int* col;
    double* value;
    int* rows;   // row of the whole problem (rows)
    int* place;  // the inverse, of rows of this island (rows of the whole problem)
} crIsland;

static bool island_create(crIsland* part, const crProblem* whole, crArena* arena) {
    size_t n = (size_t)whole->rows, entries = n * n;
    if (whole->W.start != NULL) entries = (size_t)whole->W.start[n];
    part->blocks = cr_arena_alloc(arena, (size_t)whole->block_count * sizeof *part->blocks);
    part->u_free = cr_arena_alloc(arena, 3 * n * sizeof(double));
    part->start = cr_arena_alloc(arena, (3 * n + 1) * sizeof(int));
    part->col = cr_arena_alloc(arena, entries * sizeof(int));
    part->value = cr_arena_alloc(arena, entries * sizeof(double));
    if (part->blocks == NULL || part->u_free == NULL || part->start == NULL || part->col == NULL ||
        part->value == NULL) {
        return false;
    }
    part->b = part->u_free + n;
    part->p = part->b + n;
    part->rows = part->start + n + 1;
    part->place = part->rows + n;
    return true;
}

// rows and blocks of the island that this block leads
static void take_blocks(crIsland* part, const crProblem* whole, const int* leader, int leads) {
    int n = 0, count = 0;
    for (int i = leads; i < whole->block_count; i++) {
        if (leader[i] != leads) continue;
        part->blocks[count] = whole->blocks[i];
        part->blocks[count++].row = n;
        for (int k = 0; k < whole->blocks[i].count; k++) {
            part->rows[n] = whole->blocks[i].row + k;
            part->place[whole->blocks[i].row + k] = n++;
        }
    }
    part->problem = *whole;
    part->problem.rows = n;
    part->problem.blocks = part->blocks;
    part->problem.block_count = count;
    part->problem.u_free = part->u_free;
    part->problem.b = whole->b != NULL ? part->b : NULL;
}

// entries of W that are not zero: all of them are between rows of the island
static void take_rows(crIsland* part, const crProblem* whole, const double* p) {
    const crMatrix* W = &whole->W;
    int at = 0, n = part->problem.rows;
    for (int i = 0; i < n; i++) {
        int row = part->rows[i];
        int count = W->start != NULL ? W->start[row + 1] - W->start[row] : W->cols;
        const double* value =
            W->value + (W->start != NULL ? (size_t)W->start[row] : (size_t)row * (size_t)W->cols);
        part->start[i] = at;
        for (int k = 0; k < count; k++) {
            if (value[k] == 0.0) continue;
            part->col[at] = part->place[W->start != NULL ? W->col[W->start[row] + k] : k];
            part->value[at++] = value[k];
        }
        part->u_free[i] = whole->u_free[row];
        if (whole->b != NULL) part->b[i] = whole->b[row];
        part->p[i] = p[row];
    }
    part->start[n] = at;
    part->problem.W = (crMatrix){n, n, part->start, part->col, part->value};
}

// the island's impulses, and its report where it is the worst so far
static void give_island(const crIsland* part, const crReport* own, double* p, crReport* report) {
    int iterations = own->iterations > report->iterations ? own->iterations : report->iterations;
    for (int i = 0; i < part->problem.rows; i++) {
        p[part->rows[i]] = part->p[i];
    }
    if (!(own->residual < report->residual)) *report = *own;
    report->iterations = iterations;
}

static crStatus solve_parts(crSolverFn solve, const void* params, const crProblem* whole, const int* leader,
                            crArena* arena, double* p, crReport* report, crError* error) {
    crIsland part = {0};
    crReport worst = {.residual = -1.0};
    if (!island_create(&part, whole, arena)) return CR_ERR_MEMORY;
    size_t mark = cr_arena_mark(arena);
    for (int i = 0; i < whole->block_count; i++) {
        if (leader[i] != i) continue;
        crReport own = {.method = report->method};
        take_blocks(&part, whole, leader, i);
        take_rows(&part, whole, p);
        crStatus status = solve(params, &part.problem, arena, part.p, &own, error);
        cr_arena_release(arena, mark);
        if (status != CR_OK) return status;
        give_island(&part, &own, p, &worst);
    }
    *report = worst;
    return CR_OK;
}

crStatus cr__solve_islands(crSolverFn solve, const void* params, const crProblem* problem, crArena* arena,
                           double* p, crReport* report, crError* error) {
    bool large = problem->rows > ISLANDS_ROWS && problem->W.value != NULL && !problem->raw;
    if (!large) return solve(params, problem, arena, p, report, error);
    crAuditor auditor;
    crStatus status = cr__auditor_create(problem, NULL, arena, &auditor);
    if (status != CR_OK) return cr_error_set(error, status, "", "islands: out of memory");
    cr__auditor_islands(&auditor);
    int islands = 0;
    for (int i = 0; i < problem->block_count; i++) {
        islands += auditor.island[i] == i ? 1 : 0;
    }
    if (islands < 2) return solve(params, problem, arena, p, report, error);
    status = solve_parts(solve, params, problem, auditor.island, arena, p, report, error);
    return status == CR_ERR_MEMORY ? cr_error_set(error, status, "", "islands: out of memory") : status;
}
