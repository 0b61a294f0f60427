// exact.c - solves islands one by one: small ones and mechanisms by the user's solver, others in body space.
//
// One problem holds the contacts that are not packed, loops, joints, and the packed contacts of islands that
// sweeps did not solve. Each island's blocks are copied to a problem of their own, whose columns are the
// island's velocities, and solved from the impulses of the sweeps. The result of an island does not depend on
// other islands. Afterwards packed contacts have no rows in the problem.
// Fails: CR_ERR_MEMORY; as the solver.
#include "step/exact.h"

#include <string.h>

#include "relax/relax.h"

// A general island has a body of a tree, a loop, or a contact that cannot be packed; a plain one does not.
// The user's solver gets general islands up to DENSE_ROWS or FAST_ROWS, and plain ones that body space did
// not solve up to AGAIN_ROWS or, with quality fast, SPARSE_ROWS.
#define DENSE_ROWS \
    3000  // rows of a general island up to which the user's solver solves it, except with quality fast
#define FAST_ROWS   150  // DENSE_ROWS of quality fast
#define SPARSE_ROWS 60   // AGAIN_ROWS of quality fast; rows up to which body space solves to EXACT_TOL
#define TINY_ROWS   24   // rows of a plain island up to which body space is not tried
#define AGAIN_ROWS \
    300  // rows of a plain island up to which the user's solver follows body space, except with quality fast
#define CHEAP_ROWS 600   // rows up to which the tolerance is at most SMALL_TOL
#define SMALL_TOL  1e-9  // tolerance up to CHEAP_ROWS, share of the demand: the next step starts solved
#define AIM        0.1   // tolerance of the solvers, share of the step's tolerance
#define SOLVED     0.5   // error up to which an island needs no other solver, share of the step's tolerance
#define NEAR       0.7   // share of the near error that large islands aim at: many would end just above it
#define LEVEL      4     // factorizations of the level stage
#define ROOM       120   // factorizations of the room stage; steps after a failed one mostly fail too
#define ROOM_NEAR  0.85  // share of the near error that the room stage may leave
#define WORK       3e9   // multiplications and additions of Newton's method with quality certified: about 1 s
#define REACH      3e-4  // share of the demand up to which Newton's method helps in heaps of balls
#define EXACT_TOL  1e-10  // largest tolerance of small islands: the next step starts solved
#define FAST_TOL   1e-8   // the same in quality fast
#define TIGHTER    0.01   // factor on the tolerance for an answer outside its cones
#define LEAST_TOL  1e-13  // tolerance that is not reduced further
#define MECHANISM  20000  // most iterations for a general island
#define LEAST      60     // least limit of iterations for a plain island, whatever its size

// Returns the largest tolerance of small islands, share of the demand.
static double exact_tol(const crStepSettings* settings) {
    return settings->quality == CR_QUALITY_FAST ? FAST_TOL : EXACT_TOL;
}

// Returns the solver's parameters for an island of `blocks` blocks, used if the user gives none. The limit of
// iterations of a plain island is inverse to `blocks`, because the cost of an iteration grows with it.
static crSolverParams limits(const crStepSettings* settings, bool general, int blocks) {
    static const int work[] = {2000, 40000, 200000};  // iterations times blocks
    int most = work[settings->quality] / blocks;
    crSolverParams params = cr_solver_params();
    params.tol = fmin(exact_tol(settings), AIM * cr_step_tol(settings));
    params.max_iterations = general ? MECHANISM : most > LEAST ? most : LEAST;
    return params;
}

// Returns the smallest deadband of the problem's contacts, m; 0 without contacts.
static double least_delta(const crStepContact* contacts, const crProblem* problem) {
    double least = (double)INFINITY;
    for (int i = 0; i < problem->block_count; i++) {
        int source = problem->blocks[i].source;
        if (source >= 0) least = fmin(least, contacts[source].delta);
    }
    return isfinite(least) ? least : 0.0;
}

// Returns the parameters of the solve in body space.
static crRelaxParams sparse_limits(const crStep* step, bool general, bool last, const crProblem* problem) {
    static const int directions[] = {25, 50, 100};
    static const int newton[] = {6, 0, 12}, newton_few[] = {6, 60, 60};  // large islands; others
    crQuality quality = step->settings.quality;
    crRelaxParams params = cr__relax_params();
    params.tol = AIM * cr_step_tol(&step->settings);
    if (problem->rows <= CHEAP_ROWS) {
        double tol = problem->rows <= SPARSE_ROWS ? exact_tol(&step->settings) : SMALL_TOL;
        params.tol = fmin(tol, params.tol);
    } else {
        params.tol = params.accept = SOLVED * cr_step_tol(&step->settings);
    }
    bool large = !general && problem->rows > CHEAP_ROWS, small = problem->rows <= SPARSE_ROWS;
    double delta = least_delta(step->contacts.list, problem), h = step->posed.problem.h;
    // lower speeds count as rest
    params.floor = delta / h;
    if (large && quality != CR_QUALITY_FAST) {
        double near = step->settings.shift * delta / (step->settings.deadband * h);
        params.near = NEAR * near;
        params.level = LEVEL;
        params.shift = ROOM_NEAR * near;
        if (last) params.room = ROOM;
        if (quality == CR_QUALITY_ACCURATE) params.enough = params.near;
        if (quality == CR_QUALITY_CERTIFIED) params.work = WORK;
    }
    params.sweeps = 0;
    // the user's limit of iterations holds for each stage
    const crSolverParams* given = step->settings.solver.params;
    int most = given != NULL && given->max_iterations > 0 ? given->max_iterations : INT32_MAX;
    params.directions = small ? 0 : directions[quality] < most ? directions[quality] : most;
    int steps = large ? newton[quality] : newton_few[quality];
    params.newton = steps < most ? steps : most;
    if (params.level > most) params.level = most;
    if (params.room > most) params.room = most;
    params.reach = REACH;
    // sweeps precede this solve; alternating directions would not improve on them
    if (large && quality != CR_QUALITY_FAST) params.directions = 0;
    return params;
}

// One island's problem, its arrays, and the numbering of its columns.
typedef struct Part {
    crStepPosed* posed;  // problem that the part is of
    crArena* arena;
    crProblem problem;
    crBlock* blocks;
    int* start;
    int* col;
    double* value;
    double* u_free;
    double* b;
    double* p;
    int* column;  // column of each velocity of the model, -1 if it is not in the part (nv)
    int* used;    // velocities of the part, ascending
} Part;

// Returns the island of a block, or -1 if its rows act on no velocity.
static int block_island(const crModel* model, const crMatrix* H, const crIslands* islands,
                        const crBlock* block) {
    int first = H->start[block->row], end = H->start[block->row + block->count];
    return first < end ? islands->of_body[model->velocity.body[H->col[first]]] : -1;
}

// Allocates a part that has room for every block of the posed problem. Fails: CR_ERR_MEMORY.
static crStatus part_create(crStepPosed* posed, crArena* arena, Part* part) {
    const crProblem* whole = &posed->problem;
    *part = (Part){.posed = posed, .arena = arena};
    size_t rows = (size_t)whole->rows, entries = (size_t)whole->J.start[whole->rows];
    if (!CR_ROOMS(arena, CR_ROOM(part->blocks, whole->block_count), CR_ROOM(part->start, rows + 1),
                  CR_ROOM(part->col, entries + 1), CR_ROOM(part->value, entries + 1),
                  CR_ROOM(part->u_free, 3 * (rows + 1)), CR_ROOM(part->column, whole->nv),
                  CR_ROOM(part->used, entries + 1)))
        return CR_ERR_MEMORY;
    part->b = part->u_free + rows + 1;
    part->p = part->b + rows + 1;
    return CR_OK;
}

// Numbers the columns of the listed blocks in ascending order and returns their count. The cost does not
// depend on the model's size: bodies of an island may be far apart in the model.
static int number_used(const crProblem* whole, const int* list, int count, Part* part) {
    const crMatrix* H = &whole->J;
    int nv = 0;
    for (int i = 0; i < count; i++) {
        const crBlock* block = &whole->blocks[list[i]];
        for (int k = H->start[block->row]; k < H->start[block->row + block->count]; k++) {
            if (part->column[H->col[k]] < 0) part->used[nv++] = H->col[k];
            part->column[H->col[k]] = 0;
        }
    }
    cr__sort(part->used, nv);
    for (int j = 0; j < nv; j++) {
        part->column[part->used[j]] = j;
    }
    return nv;
}

// Sets part->problem to the listed blocks, with columns for their velocities only.
static void part_fill(const int* list, int count, Part* part) {
    const crProblem* whole = &part->posed->problem;
    const crMatrix* H = &whole->J;
    int rows = 0, entries = 0, nv = number_used(whole, list, count, part);
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
            part->p[rows] = part->posed->p[r];
        }
        block.row = rows - block.count;
        part->blocks[i] = block;
    }
    for (int j = 0; j < nv; j++) {
        part->column[part->used[j]] = -1;
    }
    part->problem = (crProblem){.rows = rows, .block_count = count, .blocks = part->blocks, .nv = nv};
    part->problem.vertices = whole->vertices;
    part->problem.u_free = part->u_free;
    part->problem.b = part->b;
    part->problem.J = (crMatrix){rows, nv, part->start, part->col, part->value};
    part->problem.Minv = (crMatrix){nv, nv, whole->Minv.start, whole->Minv.col, whole->Minv.value};
}

// Moves impulses outside their cones and ranges, by rounding or by a solver's failure, to the nearest points
// inside. Returns true if any impulse changed.
static bool clamp_part(const crProblem* problem, double* p) {
    bool moved = false;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        double E[CR_UNIT_ROWS], x[CR_UNIT_ROWS], was[CR_UNIT_ROWS];
        crUnit unit;
        cr__unit_cut(problem, block, block->row, block->count, &unit, E);
        for (int r = 0; r < block->count; r++) {
            x[r] = was[r] = E[r] > 0.0 ? p[block->row + r] / E[r] : 0.0;
        }
        cr__unit_clamp(&unit, x);
        for (int r = 0; r < block->count; r++) {
            if (x[r] == was[r]) continue;
            p[block->row + r] = E[r] * x[r];
            moved = true;
        }
    }
    return moved;
}

// Solves part->problem by the user's solver and moves the impulses into their cones. This move may raise the
// residual above the tolerance: then the solver runs again with a tighter tolerance, unless its parameters
// are the user's. The report's outcome is that of the impulses after the move. Fails: CR_ERR_MEMORY; as the
// solver.
static crStatus run_clamped(const crStepSettings* settings, bool general, Part* part, crError* error) {
    crReport* report = &part->posed->report;
    crSolver solver = settings->solver;
    crSolverParams params = limits(settings, general, part->problem.block_count);
    double tol = fmin(10.0 * exact_tol(settings), cr_step_tol(settings));
    bool ours = solver.params == NULL;
    if (ours) solver.params = &params;
    for (;; params.tol *= TIGHTER) {
        crStatus status = cr_solver_run(&solver, &part->problem, tol, part->arena, part->p, report, error);
        if (status != CR_OK || !clamp_part(&part->problem, part->p)) return status;
        status = cr_problem_audit(&part->problem, part->arena, part->p, &report->audit);
        bool within = cr_audit_solved(&report->audit, tol) == CR_TRUTH_YES;
        if (within) report->outcome = CR_OUTCOME_SOLVED;
        if (status != CR_OK || report->outcome != CR_OUTCOME_SOLVED || within) return status;
        report->outcome = CR_OUTCOME_STALLED;
        if (!ours || params.tol <= LEAST_TOL) return CR_OK;
    }
}

// Solves part->problem in body space; the step's audit measures the accuracy. Sets `solved` to true if no
// other solver is needed, and `again` to true if more sweeps may reduce the error. Fails: CR_ERR_MEMORY.
static crStatus run_sparse(const crStep* step, bool general, bool last, Part* part, bool* solved,
                           bool* again) {
    crRelaxParams params = sparse_limits(step, general, last, &part->problem);
    crRelaxRun run;
    crStatus status = cr__relax_solve(&part->problem, &params, part->arena, part->p, &run);
    if (status != CR_OK) return status;
    clamp_part(&part->problem, part->p);
    double enough = part->problem.rows > SPARSE_ROWS ? SOLVED * cr_step_tol(&step->settings) : 0.0;
    *solved = run.solved == run.islands || run.relative <= enough;
    *again = params.level > 0 && run.error > params.near;
    return CR_OK;
}

// Returns the number of rows up to which the user's solver may solve an island.
static int dense_rows(const crStepSettings* settings, bool general) {
    bool fast = settings->quality == CR_QUALITY_FAST;
    if (!general) return fast ? SPARSE_ROWS : AGAIN_ROWS;
    return fast ? FAST_ROWS : DENSE_ROWS;
}

// Solves the blocks of one island and writes their impulses to step->posed.p. s->exact of the island remains
// true if more sweeps may reduce the error. Fails: CR_ERR_MEMORY; as the solver.
static crStatus solve_part(const crStep* step, const crIslandSolve* s, int island, bool last, Part* part,
                           crError* error) {
    const int* list = s->order + s->first[island];
    int count = s->first[island + 1] - s->first[island];
    bool general = s->islands.general[island], *again = &s->exact[island];
    size_t mark = cr_arena_mark(part->arena);
    part_fill(list, count, part);
    int rows = part->problem.rows;
    bool small = rows <= dense_rows(&step->settings, general), solved = false;
    crStatus status = CR_OK;
    *again = false;
    if (!small || (!general && rows > TINY_ROWS)) {
        status = run_sparse(step, general, last, part, &solved, again);
    }
    if (status == CR_OK && small && !solved) status = run_clamped(&step->settings, general, part, error);
    cr_arena_release(part->arena, mark);
    if (status != CR_OK) return status;
    for (int i = 0, at = 0; i < count; i++) {
        const crBlock* block = &part->posed->problem.blocks[list[i]];
        memcpy(part->posed->p + block->row, part->p + at, (size_t)block->count * sizeof(double));
        at += block->count;
    }
    return CR_OK;
}

void cr__step_start_packed(const crStep* step, const crIslandSolve* s, crStepPosed* posed) {
    for (int i = 0; i < s->count; i++) {
        const crStepContact* c = &step->contacts.list[s->index[i]];
        if (c->row < 0) continue;
        posed->b[c->row] = s->b[i];
        cr__step_set_row_impulse(step, c, s->contact[i].P, 1.0, posed->p);
    }
}

// Copies the impulses of packed contacts back to s->contact and removes their rows from the problem.
static void return_packed(const crStep* step, const crIslandSolve* s, const crStepContacts* contacts,
                          double* p) {
    for (int i = 0; i < s->count; i++) {
        crStepContact* c = &contacts->list[s->index[i]];
        if (c->row < 0) continue;
        s->contact[i].P = cr__in_cone(&s->contact[i], cr__step_row_impulse(step, c, p));
        memset(p + c->row, 0, (size_t)cr__step_point_rows(c) * sizeof(double));
        c->row = -1;
    }
}

crStatus cr__step_sort_blocks(const crModel* model, crArena* arena, const crProblem* whole,
                              const crIslands* islands, int** order, int** start) {
    size_t blocks = (size_t)whole->block_count, room = (size_t)islands->count + 2;
    int *of, *list, *first;
    if (!CR_ROOMS(arena, CR_ROOM(of, blocks), CR_ROOM(list, blocks), CR_ZERO(first, room)))
        return CR_ERR_MEMORY;
    for (int i = 0; i < whole->block_count; i++) {
        int island = block_island(model, &whole->J, islands, &whole->blocks[i]);
        // blocks without velocities are put in the first island
        of[i] = island >= 0 ? island : 0;
        first[of[i] + 2]++;
    }
    for (int i = 0; i < islands->count; i++) {
        first[i + 2] += first[i + 1];
    }
    for (int i = 0; i < whole->block_count; i++) {
        list[first[of[i] + 1]++] = i;
    }
    *order = list;
    *start = first;
    return CR_OK;
}

crStatus cr__step_pose_rows(crStep* step, double h, const bool* takes, bool again, crIslandSolve* s,
                            crError* error) {
    bool* rows = cr_arena_alloc(&step->scratch, (size_t)step->contacts.count + 1);
    if (rows == NULL) return cr__step_memory(error);
    for (int i = 0; i < step->contacts.count; i++) {
        const crStepContact* c = &step->contacts.list[i];
        rows[i] = takes[i] && (!cr__step_packed(step, &s->islands, c) ||
                               s->exact[cr__island_of_contact(step, &s->islands, c)]);
    }
    crStatus status = cr__step_pose(step, h, rows, again, error);
    if (status != CR_OK) return status;
    s->posed = true;
    status = cr__step_sort_blocks(step->model, &step->scratch, &step->posed.problem, &s->islands, &s->order,
                                  &s->first);
    return status == CR_OK ? CR_OK : cr__step_memory(error);
}

// True if two blocks of two problems belong to the same contact, loop or joint. Loops and joints are compared
// by ties_a and ties_b, the ties of each problem's rows: block numbers differ, because the joints that have
// rows depend on velocities.
static bool same_block(const crBlock* a, const int* ties_a, const crBlock* b, const int* ties_b) {
    if (a->source >= 0 || b->source >= 0) return a->source == b->source;
    return ties_a[a->row] == ties_b[b->row];
}

void cr__step_keep_rows(const crStep* step, const crIslandSolve* s, const crStepPosed* before,
                        const int* ties, crStepPosed* posed) {
    const crProblem* now = &posed->problem;
    for (int i = 0, next = 0; i < before->problem.block_count && before->rows.count > 0; i++) {
        const crBlock* old = &before->problem.blocks[i];
        if (old->source >= 0 && cr__step_packed(step, &s->islands, &step->contacts.list[old->source]))
            continue;
        int j = next;
        while (j < now->block_count && !same_block(&now->blocks[j], step->ties.of_row, old, ties)) {
            j++;
        }
        if (j == now->block_count) continue;
        size_t bytes = (size_t)old->count * sizeof(double);
        memcpy(posed->p + now->blocks[j].row, before->p + old->row, bytes);
        memcpy(posed->b + now->blocks[j].row, before->b + old->row, bytes);
        next = j + 1;
    }
}

// True if an island in s->exact has a packed contact.
static bool any_packed(const crStep* step, const crIslandSolve* s) {
    for (int i = 0; i < s->count; i++) {
        if (s->exact[cr__island_of_contact(step, &s->islands, &step->contacts.list[s->index[i]])])
            return true;
    }
    return false;
}

crStatus cr__step_solve_exact(crStep* step, double h, const bool* takes, bool last, crIslandSolve* s,
                              bool* again, crError* error) {
    crStatus status = CR_OK;
    *again = false;
    if (any_packed(step, s)) {
        const crStepPosed before = step->posed;
        const int* ties = step->ties.of_row;
        status = cr__step_pose_rows(step, h, takes, true, s, error);
        if (status != CR_OK) return status;
        cr__step_keep_rows(step, s, &before, ties, &step->posed);
        cr__step_start_packed(step, s, &step->posed);
    }
    Part part;
    if (part_create(&step->posed, &step->scratch, &part) != CR_OK) return cr__step_memory(error);
    memset(part.column, -1, (size_t)step->posed.problem.nv * sizeof(int));
    for (int i = 0; i < s->islands.count && status == CR_OK; i++) {
        if (!s->exact[i] || s->first[i] == s->first[i + 1]) continue;
        status = solve_part(step, s, i, last, &part, error);
        *again = *again || s->exact[i];
    }
    return_packed(step, s, &step->contacts, step->posed.p);
    return status;
}
