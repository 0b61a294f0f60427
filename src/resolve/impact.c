// impact.c - an impact in contact space: contacts alone, joints eliminated, W in full.
//
// Joints (equality rows j) answer every contact impulse so that they stay shut: with Wjj+ the pseudo-inverse,
//
//     p_j = -Wjj+ (u_j + Wjc p),   W <- Wcc - Wcj Wjj+ Wjc,   u <- u_c - Wcj Wjj+ u_j
//
// so every rule sees contacts only and an intact mechanism costs it nothing. A prescribed impulse f adds
// J Minv f to the velocities first. Directions that joints block are cleared from W exactly. Without joints W
// may stay sparse, for rules that only multiply with it: what a large impact costs then goes with its contacts.
// Fails: box blocks, a bias, and a prescribed impulse without J and Minv are refused by name.
#include "resolve/impact.h"
#include "resolve/kinds.h"

#include <string.h>

#include "linalg/semidefinite.h"

#define BLOCKED_TOL      1e-12    // of the diagonal of W that joints leave
#define ROUNDING         0x1p-48  // of size_i size_j: what an entry of W may be off by
#define LOST             1e-3     // of the speed before: rounding of W p beyond which p means nothing
#define RUN_AWAY         1e-11    // likewise, where no solution was found: p is some point of a ray
#define SOLVED_TOL       1e-10    // residual of a complementarity solve that counts as solved
#define EXACT_TOL        1e-13    // what is tried first
#define EXACT_ITERATIONS 150
#define MORE_ITERATIONS  3000

static crStatus out_of_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
}

static double* doubles(crArena* arena, int n, int m) {
    size_t bytes = (size_t)n * (size_t)m * sizeof(double);
    return cr_arena_alloc(arena, bytes > 0 ? bytes : sizeof(double));
}

static int* ints(crArena* arena, int n) {
    return cr_arena_alloc(arena, (size_t)(n > 0 ? n : 1) * sizeof(int));
}

static crStatus check(const crRuleParams* params, const crProblem* problem, crError* error) {
    for (int i = 0; i < problem->block_count; i++) {
        if (problem->blocks[i].kind == CR_BLOCK_BOX) {
            return cr_error_set(error, CR_ERR_ARGUMENT, "blocks",
                                "blocks: block %d is a box; an impact has contacts and joints only", i);
        }
    }
    if (problem->b != NULL || problem->raw) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "b", "b: an impact has no bias and no raw matrix");
    }
    if (params->impulse != NULL && (problem->J.value == NULL || problem->Minv.value == NULL)) {
        return cr_error_set(error, CR_ERR_MISSING, "impulse", "impulse: needs J and Minv");
    }
    if (params->directions < 0 || params->directions == 1 || params->directions == 2) {
        return cr_error_set(error, CR_ERR_RANGE, "directions", "directions: is %d, must be 0 or >= 3",
                            params->directions);
    }
    if (!(params->tolerance > 0.0 && params->tolerance < 1.0) || params->budget < 0) {
        return cr_error_set(error, CR_ERR_RANGE, "tolerance",
                            "tolerance: is %g, budget %d; must be in (0, 1) and >= 0", params->tolerance,
                            params->budget);
    }
    return CR_OK;
}

// disc and ellipse limits as polygons of `directions` vertices, the first along t1
static crStatus make_polygons(const crProblem* problem, crImpact* impact, crError* error) {
    int directions = impact->params.directions;
    impact->vertices = problem->vertices;
    if (directions == 0) return CR_OK;
    int used = 0;
    int extra = 0;
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* block = &impact->blocks[i];
        if (block->vertex_count > 0) {
            int end = block->vertex + block->vertex_count;
            used = end > used ? end : used;
        }
        extra += directions;
    }
    double(*vertices)[2] = cr_arena_alloc(impact->arena, (size_t)(used + extra) * sizeof *vertices);
    if (vertices == NULL) return out_of_memory(error);
    if (used > 0) memcpy(vertices, problem->vertices, (size_t)used * sizeof *vertices);
    impact->vertices = (const double(*)[2])vertices;
    for (int i = 0; i < impact->block_count; i++) {
        crBlock* block = &impact->blocks[i];
        int tangents = block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0);
        bool round = block->kind == CR_BLOCK_CONE && tangents == 2 && block->vertex_count == 0;
        if (!round || !isfinite(block->mu) || !(block->mu > 0.0) || !(block->mu2 > 0.0)) continue;
        block->vertex = used;
        block->vertex_count = directions;
        for (int k = 0; k < directions; k++) {
            double s, c;
            cr_sincos(2.0 * CR_PI * k / directions, &s, &c);
            vertices[used][0] = block->mu * c;
            vertices[used][1] = block->mu2 * s;
            used++;
        }
    }
    return CR_OK;
}

// which rows and blocks are the impact's own, and which are joints to eliminate
static crStatus sort_rows(const crProblem* problem, bool apart, crImpact* impact, crError* error) {
    crArena* arena = impact->arena;
    int n = problem->rows;
    impact->blocks = cr_arena_alloc(arena, (size_t)(problem->block_count + 1) * sizeof *impact->blocks);
    impact->source = ints(arena, problem->block_count);
    impact->row = ints(arena, n);
    impact->joint_row = ints(arena, n);
    impact->normal = ints(arena, n);
    impact->block = ints(arena, n);
    if (impact->blocks == NULL || impact->source == NULL || impact->row == NULL ||
        impact->joint_row == NULL || impact->normal == NULL || impact->block == NULL) {
        return out_of_memory(error);
    }
    for (int i = 0; i < problem->block_count; i++) {
        crBlock block = problem->blocks[i];
        if (block.kind == CR_BLOCK_EQUALITY && !apart) {
            for (int k = 0; k < block.count; k++) {
                impact->joint_row[impact->joint_rows++] = block.row + k;
            }
            continue;
        }
        int normals = block.kind == CR_BLOCK_CONE ? 1 : block.count;
        for (int k = 0; k < normals && block.kind != CR_BLOCK_EQUALITY; k++) {
            impact->normal[impact->contacts] = impact->rows + k;
            impact->block[impact->contacts++] = impact->block_count;
        }
        for (int k = 0; k < block.count; k++) {
            impact->row[impact->rows + k] = block.row + k;
        }
        block.row = impact->rows;
        impact->rows += block.count;
        impact->source[impact->block_count] = i;
        impact->blocks[impact->block_count++] = block;
    }
    return CR_OK;
}

// u_free and, in `after`, with the response to the prescribed impulse
static crStatus velocities_impact(const crProblem* problem, crImpact* impact, double* after, crError* error) {
    if (problem->rows > 0) memcpy(after, problem->u_free, (size_t)problem->rows * sizeof *after);
    if (impact->params.impulse == NULL) return CR_OK;
    double* dv = doubles(impact->arena, problem->nv, 1);
    double* du = doubles(impact->arena, problem->rows, 1);
    if (dv == NULL || du == NULL) return out_of_memory(error);
    cr_matrix_mul(&problem->Minv, impact->params.impulse, dv);
    cr_matrix_mul(&problem->J, dv, du);
    for (int i = 0; i < problem->rows; i++) {
        after[i] += du[i];
    }
    impact->response = du;
    return CR_OK;
}

// X = Wjj+ Wjc, y = Wjj+ u_j
static crStatus joint_response(const double* W, const double* u, int n, crImpact* impact, crError* error) {
    int m = impact->joint_rows;
    impact->X = doubles(impact->arena, m, impact->rows);
    impact->y = doubles(impact->arena, m, 1);
    double* A = doubles(impact->arena, m, m);
    double* work = doubles(impact->arena, 2 * m, m);
    if (impact->X == NULL || impact->y == NULL || A == NULL || work == NULL) return out_of_memory(error);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) {
            A[i * m + j] = W[(size_t)impact->joint_row[i] * (size_t)n + (size_t)impact->joint_row[j]];
        }
    }
    cr__pseudo_inverse(A, m, work);
    for (int i = 0; i < m; i++) {
        impact->y[i] = 0.0;
        for (int k = 0; k < m; k++) {
            impact->y[i] += A[i * m + k] * u[impact->joint_row[k]];
        }
        for (int c = 0; c < impact->rows; c++) {
            double sum = 0.0;
            for (int k = 0; k < m; k++) {
                size_t row = (size_t)impact->joint_row[k];
                sum += A[i * m + k] * W[row * (size_t)n + (size_t)impact->row[c]];
            }
            impact->X[i * impact->rows + c] = sum;
        }
    }
    return CR_OK;
}

// the impact's own W and u out of the problem's, joints eliminated
static void reduce(const double* full, const double* u, int n, crImpact* impact) {
    int rows = impact->rows;
    for (int i = 0; i < rows; i++) {
        const double* line = full + (size_t)impact->row[i] * (size_t)n;
        impact->u[i] = u[impact->row[i]];
        for (int k = 0; k < impact->joint_rows; k++) {
            impact->u[i] -= line[impact->joint_row[k]] * impact->y[k];
        }
        for (int j = 0; j < rows; j++) {
            double value = line[impact->row[j]];
            for (int k = 0; k < impact->joint_rows; k++) {
                value -= line[impact->joint_row[k]] * impact->X[k * rows + j];
            }
            impact->W[i * rows + j] = value;
        }
    }
    for (int i = 0; i < rows; i++) {
        size_t r = (size_t)impact->row[i];
        bool blocked = impact->W[i * rows + i] <= BLOCKED_TOL * full[r * (size_t)n + r];
        for (int j = 0; j < rows; j++) {
            double mean = 0.5 * (impact->W[i * rows + j] + impact->W[j * rows + i]);
            if (blocked) mean = 0.0;
            impact->W[i * rows + j] = mean;
            impact->W[j * rows + i] = mean;
        }
    }
}

// which rows, blocks and friction limits; u of all rows of the problem
static crStatus begin(const crRuleParams* params, const crProblem* problem, bool apart, crArena* arena,
                      crImpact* impact, double** u, crError* error) {
    *impact = (crImpact){.params = params != NULL ? *params : cr_rule_params(), .arena = arena};
    crStatus status = check(&impact->params, problem, error);
    if (status == CR_OK) status = sort_rows(problem, apart, impact, error);
    if (status == CR_OK) status = make_polygons(problem, impact, error);
    if (status != CR_OK) return status;
    *u = doubles(arena, problem->rows, 1);
    impact->u = doubles(arena, impact->rows, 1);
    impact->first = doubles(arena, impact->rows, 1);
    impact->size = doubles(arena, impact->rows, 1);
    if (*u == NULL || impact->u == NULL || impact->first == NULL || impact->size == NULL) {
        return out_of_memory(error);
    }
    return velocities_impact(problem, impact, *u, error);
}

static void find_speed(const crProblem* problem, crImpact* impact) {
    for (int i = 0; i < impact->rows; i++) {
        impact->first[i] = problem->u_free[impact->row[i]];
        impact->speed = fmax(impact->speed, fmax(fabs(impact->u[i]), fabs(impact->first[i])));
    }
}

static crStatus begin_dense(const crProblem* problem, const double* u, crImpact* impact, crError* error) {
    int rows = impact->rows;
    double* full = NULL;
    impact->W = doubles(impact->arena, rows, rows);
    if (impact->W == NULL) return out_of_memory(error);
    crStatus status = cr_problem_dense(problem, impact->arena, &full);
    if (status == CR_OK && impact->joint_rows > 0) {
        status = joint_response(full, u, problem->rows, impact, error);
    }
    if (status != CR_OK) return status;
    reduce(full, u, problem->rows, impact);
    for (int i = 0; i < rows; i++) {
        impact->size[i] = sqrt(full[(size_t)impact->row[i] * (size_t)(problem->rows + 1)]);
    }
    find_speed(problem, impact);
    return CR_OK;
}

crStatus cr__impact_begin(const crRuleParams* params, const crProblem* problem, bool apart, crArena* arena,
                          crImpact* impact, crError* error) {
    double* u = NULL;
    crStatus status = begin(params, problem, apart, arena, impact, &u, error);
    return status == CR_OK ? begin_dense(problem, u, impact, error) : status;
}

// W by rows with the means of its two halves; false where they do not have the same entries
static bool make_symmetric(const crMatrix* W, double* value, int* cursor) {
    memcpy(value, W->value, (size_t)W->start[W->rows] * sizeof *value);
    memcpy(cursor, W->start, (size_t)W->rows * sizeof *cursor);
    for (int i = 0; i < W->rows; i++) {
        // what is left of row i are its entries from the diagonal on: those before it were met in their rows
        for (int k = cursor[i]; k < W->start[i + 1]; k++) {
            int j = W->col[k], across = cursor[j];
            if (j < i) return false;
            if (j == i) continue;
            if (across == W->start[j + 1] || W->col[across] != i) return false;
            value[k] = value[across] = 0.5 * (value[k] + value[across]);
            cursor[j]++;
        }
    }
    return true;
}

crStatus cr__impact_begin_sparse(const crRuleParams* params, const crProblem* problem, crArena* arena,
                                 crImpact* impact, crError* error) {
    double* u = NULL;
    crMatrix W;
    crStatus status = begin(params, problem, false, arena, impact, &u, error);
    if (status != CR_OK || impact->joint_rows > 0 || problem->rows == 0) {
        return status == CR_OK ? begin_dense(problem, u, impact, error) : status;
    }
    status = cr_problem_sparse(problem, arena, &W);
    if (status != CR_OK) return status;
    double* value = doubles(arena, W.start[W.rows] + 1, 1);
    int* cursor = ints(arena, W.rows);
    if (value == NULL || cursor == NULL) return out_of_memory(error);
    if (!make_symmetric(&W, value, cursor)) return begin_dense(problem, u, impact, error);
    impact->S = (crMatrix){W.rows, W.cols, W.start, W.col, value};
    // without joints the rows are the problem's own
    memcpy(impact->u, u, (size_t)impact->rows * sizeof *u);
    for (int i = 0; i < impact->rows; i++) {
        impact->size[i] = sqrt(fmax(0.0, cr_matrix_at(&impact->S, i, i)));
    }
    find_speed(problem, impact);
    return CR_OK;
}

crStatus cr__impact_circular(const crImpact* impact, crError* error) {
    for (int i = 0; i < impact->block_count; i++) {
        const crBlock* b = &impact->blocks[i];
        bool cone = b->kind == CR_BLOCK_CONE;
        if (cone && (b->vertex_count > 0 || b->spin || b->roll || (b->count == 3 && b->mu != b->mu2))) {
            return cr_error_set(error, CR_ERR_ARGUMENT, "blocks",
                                "blocks: block %d: this rule takes circular friction alone",
                                impact->source[i]);
        }
    }
    return CR_OK;
}

// true where rounding of W alone makes a row of W p uncertain by a share `tol` of the speed
static bool lost(const crImpact* impact, const double* own, double tol) {
    const crMatrix W = cr__impact_problem(impact, impact->u).W;
    for (int i = 0; i < impact->rows; i++) {
        double sum = 0.0;
        int begin = W.start != NULL ? W.start[i] : i * W.cols;
        int end = W.start != NULL ? W.start[i + 1] : begin + W.cols;
        for (int k = begin; k < end; k++) {
            int j = W.col != NULL ? W.col[k] : k - begin;
            if (W.value[k] != 0.0) sum += impact->size[j] * fabs(own[j]);
        }
        if (ROUNDING * impact->size[i] * sum > tol * impact->speed) return true;
    }
    return false;
}

void cr__impact_spread(const crImpact* impact, const double* own, double* p) {
    for (int i = 0; i < impact->rows; i++) {
        p[impact->row[i]] = own[i];
    }
    for (int k = 0; k < impact->joint_rows; k++) {
        double sum = impact->y[k];
        for (int i = 0; i < impact->rows; i++) {
            sum += impact->X[k * impact->rows + i] * own[i];
        }
        p[impact->joint_row[k]] = -sum;
    }
}

void cr__impact_finish(const crImpact* impact, double* own, double* p, crRuleReport* report) {
    bool unsure = report != NULL && report->outcome == CR_OUTCOME_UNSURE;
    bool solved = report == NULL || unsure || report->outcome == CR_OUTCOME_SOLVED;
    if (report != NULL && lost(impact, own, solved ? LOST : RUN_AWAY)) {
        if (solved) report->outcome = CR_OUTCOME_RAY;
        memset(own, 0, (size_t)impact->rows * sizeof *own);
    }
    cr__impact_spread(impact, own, p);
}

void cr__impact_push(const crImpact* impact, int row, double dp, double* u) {
    if (impact->W == NULL) {
        for (int k = impact->S.start[row]; k < impact->S.start[row + 1]; k++) {
            u[impact->S.col[k]] += impact->S.value[k] * dp;
        }
        return;
    }
    const double* line = impact->W + (size_t)row * (size_t)impact->rows;
    for (int i = 0; i < impact->rows; i++) {
        u[i] += line[i] * dp;
    }
}

void cr__impact_velocity(const crImpact* impact, const double* p, double* u) {
    memcpy(u, impact->u, (size_t)impact->rows * sizeof *u);
    for (int i = 0; i < impact->rows; i++) {
        if (p[i] != 0.0) cr__impact_push(impact, i, p[i], u);
    }
}

crProblem cr__impact_problem(const crImpact* impact, const double* u) {
    crProblem problem = {0};
    problem.rows = impact->rows;
    problem.block_count = impact->block_count;
    problem.blocks = impact->blocks;
    problem.vertices = impact->vertices;
    problem.u_free = u;
    problem.W = impact->S;
    if (impact->W != NULL) problem.W = (crMatrix){impact->rows, impact->rows, NULL, NULL, impact->W};
    return problem;
}

crStatus cr__impact_solve(const crImpact* impact, const crProblem* problem, double* p, crRuleReport* report,
                          crError* error) {
    crSolverParams params = {.tol = EXACT_TOL, .max_iterations = EXACT_ITERATIONS};
    crSolver solver = impact->params.solver;
    bool own = solver.solve == NULL;
    if (own) solver = cr__solver(&cr__solver_auto, &params);
    // later stages start nearly at rest: they are judged by the speeds of the impact, not by their own
    double size = 0.0;
    for (int i = 0; i < problem->rows; i++) {
        size += problem->u_free[i] * problem->u_free[i];
    }
    double tol = size > 0.0 ? SOLVED_TOL * fmax(1.0, impact->speed / sqrt(size)) : SOLVED_TOL;
    crStatus status = cr_solver_run(&solver, problem, tol, impact->arena, p, &report->solve, error);
    bool over = report->solve.outcome == CR_OUTCOME_SOLVED || report->solve.outcome == CR_OUTCOME_INFEASIBLE;
    if (status == CR_OK && own && !over) {
        // what resists gets more time, for what counts as solved
        params = (crSolverParams){.tol = 0.1 * tol, .max_iterations = MORE_ITERATIONS};
        status = cr_solver_run(&solver, problem, tol, impact->arena, p, &report->solve, error);
    }
    if (status == CR_OK && report->solve.outcome != CR_OUTCOME_SOLVED) {
        report->outcome = report->solve.outcome;
    }
    return status;
}

crStatus cr__impact_plastic(const crImpact* impact, const double* u, const bool* takes_part, double* lambda,
                            crRuleReport* report, crError* error) {
    size_t mark = cr_arena_mark(impact->arena);
    int n = impact->contacts;
    int* at = ints(impact->arena, n);
    double* W = doubles(impact->arena, n, n);
    double* before = doubles(impact->arena, n, 1);
    double* p = doubles(impact->arena, n, 1);
    if (at == NULL || W == NULL || before == NULL || p == NULL) return out_of_memory(error);
    int m = 0;
    for (int i = 0; i < n; i++) {
        lambda[i] = 0.0;
        if (takes_part == NULL || takes_part[i]) at[m++] = i;
    }
    for (int i = 0; i < m; i++) {
        int row = impact->normal[at[i]];
        before[i] = u[row];
        p[i] = 0.0;
        for (int j = 0; j < m; j++) {
            W[i * m + j] = impact->W[(size_t)row * (size_t)impact->rows + (size_t)impact->normal[at[j]]];
        }
    }
    crBlock block = cr_block(CR_BLOCK_UNILATERAL, 0, m);
    crProblem problem = {.rows = m, .block_count = m > 0, .blocks = &block, .u_free = before};
    problem.W = (crMatrix){m, m, NULL, NULL, W};
    crStatus status = cr__impact_solve(impact, &problem, p, report, error);
    for (int i = 0; i < m && status == CR_OK; i++) {
        lambda[at[i]] = p[i];
    }
    cr_arena_release(impact->arena, mark);
    return status;
}

crStatus cr__recurrence_begin(const crImpact* impact, crRecurrence* recurrence) {
    recurrence->u = doubles(impact->arena, impact->rows, 1);
    recurrence->step = 0;
    if (recurrence->u == NULL) return CR_ERR_MEMORY;
    memcpy(recurrence->u, impact->u, (size_t)impact->rows * sizeof(double));
    return CR_OK;
}

bool cr__recurrence_seen(crRecurrence* recurrence, const double* u, int rows, int step, double approach) {
    double away = 0.0;
    for (int i = 0; i < rows; i++) {
        away = fmax(away, fabs(u[i] - recurrence->u[i]));
    }
    if (away <= 1e-9 * approach) return true;
    if (step >= 2 * recurrence->step) {
        memcpy(recurrence->u, u, (size_t)rows * sizeof *u);
        recurrence->step = step;
    }
    return false;
}

bool cr__geometric(int n, const double* a, const double* b, const double* c, double tolerance, double* r) {
    double dot = 0.0, square = 0.0, off = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        dot += (c[i] - b[i]) * (b[i] - a[i]);
        square += (b[i] - a[i]) * (b[i] - a[i]);
        size = fmax(size, fabs(c[i]));
    }
    *r = square > 0.0 ? dot / square : 0.0;
    if (!(*r > 0.0 && *r < 1.0 - 1e-9)) return false;
    for (int i = 0; i < n; i++) {
        off = fmax(off, fabs((c[i] - b[i]) - *r * (b[i] - a[i])));
    }
    return off / (1.0 - *r) <= tolerance * size;
}

double cr__impact_approach(const crImpact* impact, const double* u, int* contact) {
    double fastest = 0.0;
    *contact = -1;
    for (int i = 0; i < impact->contacts; i++) {
        double speed = -u[impact->normal[i]];
        if (speed > fastest) {
            fastest = speed;
            *contact = i;
        }
    }
    return fastest;
}
