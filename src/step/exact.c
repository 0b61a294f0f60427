// exact.c - islands as problems of their own, for the problem's solver.
//
// One problem is built of everything that takes part; each island's blocks are copied out with columns
// numbered by its own velocities, solved, and the impulses put back. Nothing an island gets depends on the
// others.
// Fails: CR_ERR_MEMORY; as the solver does.
#include "step/exact.h"

#include <string.h>

typedef struct Part {
    crProblem problem;
    crBlock* blocks;
    int* start;
    int* col;
    double* value;
    double* u_free;
    double* b;
    double* p;
    int* column;  // local number of each velocity, -1 where it has none (nv)
} Part;

static int block_island(const crStep* step, const crIslands* islands, const crBlock* block) {
    const crMatrix* H = &step->problem.J;
    // a row that reaches no velocity belongs nowhere
    int first = H->start[block->row], end = H->start[block->row + block->count];
    return first < end ? islands->of_body[step->model->dof_body[H->col[first]]] : -1;
}

static crStatus part_create(crStep* step, Part* part) {
    const crProblem* whole = &step->problem;
    crArena* arena = &step->scratch;
    size_t rows = (size_t)whole->rows, entries = (size_t)whole->J.start[whole->rows];
    part->blocks = cr_arena_alloc(arena, (size_t)whole->block_count * sizeof *part->blocks);
    part->start = cr_arena_alloc(arena, (rows + 1) * sizeof(int));
    part->col = cr_arena_alloc(arena, (entries + 1) * sizeof(int));
    part->value = cr_arena_alloc(arena, (entries + 1) * sizeof(double));
    part->u_free = cr_arena_alloc(arena, 3 * (rows + 1) * sizeof(double));
    part->column = cr_arena_alloc(arena, (size_t)whole->nv * sizeof(int));
    if (part->blocks == NULL || part->start == NULL || part->col == NULL || part->value == NULL ||
        part->u_free == NULL || part->column == NULL) {
        return CR_ERR_MEMORY;
    }
    part->b = part->u_free + rows + 1;
    part->p = part->b + rows + 1;
    return CR_OK;
}

// the blocks listed, with columns numbered in their order
static void part_fill(const crStep* step, const int* list, int count, Part* part) {
    const crProblem* whole = &step->problem;
    const crMatrix* H = &whole->J;
    int rows = 0, entries = 0, nv = 0, least = whole->nv, most = -1;
    for (int i = 0; i < count; i++) {
        const crBlock* block = &whole->blocks[list[i]];
        for (int k = H->start[block->row]; k < H->start[block->row + block->count]; k++) {
            part->column[H->col[k]] = 0;
            least = H->col[k] < least ? H->col[k] : least;
            most = H->col[k] > most ? H->col[k] : most;
        }
    }
    for (int j = least; j <= most; j++) {
        if (part->column[j] == 0) part->column[j] = nv++;
    }
    part->start[0] = 0;
    for (int i = 0; i < count; i++) {
        crBlock block = whole->blocks[list[i]];
        for (int r = block.row; r < block.row + block.count; r++, rows++) {
            for (int k = H->start[r]; k < H->start[r + 1]; k++) {
                part->col[entries] = part->column[H->col[k]];
                part->value[entries++] = H->value[k];
            }
            part->start[rows + 1] = entries;
            part->u_free[rows] = whole->u_free[r];
            part->b[rows] = whole->b[r];
            part->p[rows] = step->p[r];
        }
        block.row = rows - block.count;
        part->blocks[i] = block;
    }
    for (int j = least; j <= most; j++) {
        part->column[j] = -1;
    }
    part->problem = (crProblem){.rows = rows, .block_count = count, .blocks = part->blocks, .nv = nv};
    part->problem.vertices = whole->vertices;
    part->problem.u_free = part->u_free;
    part->problem.b = part->b;
    part->problem.J = (crMatrix){rows, nv, part->start, part->col, part->value};
    part->problem.Minv = (crMatrix){nv, nv, step->identity.start, step->identity.col, step->identity.value};
}

static crStatus solve_part(crStep* step, const int* list, int count, Part* part, crError* error) {
    crSolver solver = step->settings.solver;
    crSolverParams params = cr_solver_params();
    double tol = cr_step_tol(&step->settings);
    params.tol = tol;
    if (solver.params == NULL) solver.params = &params;
    size_t mark = cr_arena_mark(&step->scratch);
    part_fill(step, list, count, part);
    crStatus status =
        cr_solver_run(&solver, &part->problem, tol, &step->scratch, part->p, &step->report, error);
    cr_arena_release(&step->scratch, mark);
    if (status != CR_OK) return status;
    for (int i = 0, at = 0; i < count; i++) {
        const crBlock* block = &step->problem.blocks[list[i]];
        memcpy(step->p + block->row, part->p + at, (size_t)block->count * sizeof(double));
        at += block->count;
    }
    const crAudit* audit = &step->report.audit;
    cr__step_certify(step, step->report.outcome, audit, fmax(audit->approach, audit->dissipation));
    return CR_OK;
}

crStatus cr__step_solve_exact(crStep* step, double h, const bool* takes, const crIslands* islands,
                              crError* error) {
    crStatus status = cr_step_problem_build(step, h, takes, error);
    if (status != CR_OK || step->problem.rows == 0) return status;
    const crProblem* whole = &step->problem;
    size_t blocks = (size_t)whole->block_count;
    int* of = cr_arena_alloc(&step->scratch, blocks * sizeof *of);
    int* order = cr_arena_alloc(&step->scratch, blocks * sizeof *order);
    int* start = cr_arena_alloc(&step->scratch, (size_t)(islands->count + 2) * sizeof *start);
    if (of == NULL || order == NULL || start == NULL) return cr__step_memory(error);
    memset(start, 0, (size_t)(islands->count + 2) * sizeof *start);
    for (int i = 0; i < whole->block_count; i++) {
        int island = block_island(step, islands, &whole->blocks[i]);
        // rows that nothing moves go with any island
        of[i] = island >= 0 ? island : 0;
        start[of[i] + 2]++;
    }
    for (int i = 0; i < islands->count; i++) {
        start[i + 2] += start[i + 1];
    }
    for (int i = 0; i < whole->block_count; i++) {
        order[start[of[i] + 1]++] = i;
    }
    Part part;
    status = part_create(step, &part);
    if (status != CR_OK) return cr__step_memory(error);
    memset(part.column, -1, (size_t)whole->nv * sizeof(int));
    for (int i = 0; i < islands->count && status == CR_OK; i++) {
        int first = start[i], count = start[i + 1] - first;
        if (count > 0) status = solve_part(step, order + first, count, &part, error);
    }
    return status;
}
