// posed.c - shows a problem with J and M of its bodies, instead of the factor H that solvers get.
//
// Columns are the velocities of trees that a row acts on. M is block-diagonal by trees: one product with a
// vector that is 1 at each tree's k-th velocity gives the k-th columns of all trees. With springs, dampers or
// actuators, which are part of the matrix that impulses act on, the factor of the step gives the columns of
// the inverse instead. Packed contacts have no rows: they are posed here as by cr_step_problem_build, with
// the bias of the sweeps, and the step's own problem is restored.
// Fails: CR_ERR_MEMORY, and with the status of step->calls.posed.
#include "step/posed.h"

#include <string.h>

#include "model/actuate.h"
#include "step/exact.h"
#include "step/step.h"

// velocities of the trees that rows act on
typedef struct Columns {
    int count;   // columns
    int widest;  // velocities of the largest tree
    int* place;  // column of each velocity, -1: none (nv)
    int* v;      // velocity of each column (count)
    int* first;  // first velocity of the tree of each column (count)
    int* end;    // one past the last velocity of that tree (count)
} Columns;

// one past the last velocity of the tree whose first velocity is v; trees are contiguous
static int tree_end(const crModel* model, int v) {
    int root = model->bodies[model->velocity.body[v]].root;
    while (v < model->nv && model->bodies[model->velocity.body[v]].root == root) {
        v++;
    }
    return v;
}

static bool find_columns(const crModel* model, const crRows* rows, crArena* arena, Columns* c) {
    size_t nv = (size_t)model->nv + 1;
    *c = (Columns){0};
    if (!CR_ROOMS(arena, CR_ROOM(c->place, nv), CR_ROOM(c->v, nv), CR_ROOM(c->first, nv),
                  CR_ROOM(c->end, nv)))
        return false;
    memset(c->place, -1, nv * sizeof *c->place);
    for (int k = 0; k < rows->entries; k++) {
        c->place[rows->col[k]] = 0;
    }
    for (int v = 0; v < model->nv;) {
        int end = tree_end(model, v);
        bool reached = false;
        for (int j = v; j < end; j++) {
            reached = reached || c->place[j] == 0;
        }
        for (int j = v; j < end && reached; j++) {
            c->first[c->count] = v;
            c->end[c->count] = end;
            c->v[c->count] = j;
            c->place[j] = c->count++;
        }
        if (reached && end - v > c->widest) c->widest = end - v;
        v = end;
    }
    return true;
}

static bool pose_J(const crRows* rows, const Columns* c, crArena* arena, crMatrix* J) {
    int* col;
    double* value;
    if (!CR_ROOMS(arena, CR_ROOM(col, rows->entries), CR_ROOM(value, rows->entries))) return false;
    *J = (crMatrix){rows->count, c->count, rows->start, col, value};
    for (int i = 0; i < rows->count; i++) {
        // columns ascend: insertion sort, since rows are short
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            int place = c->place[rows->col[k]], at = k;
            for (; at > rows->start[i] && col[at - 1] > place; at--) {
                col[at] = col[at - 1];
                value[at] = value[at - 1];
            }
            col[at] = place;
            value[at] = rows->value[k];
        }
    }
    return true;
}

// Writes M, or M^-1 by the factor if `inverse` is true. Returns false if memory fails.
static bool pose_M(const crStep* step, const Columns* c, bool inverse, crArena* arena, crMatrix* M) {
    const crModel* model = step->model;
    size_t entries = 0;
    for (int j = 0; j < c->count; j++) {
        entries += (size_t)(c->end[j] - c->first[j]);
    }
    int *start, *col;
    double *value, *x, *y;
    if (!CR_ROOMS(arena, CR_ROOM(start, c->count + 1), CR_ROOM(col, entries), CR_ROOM(value, entries),
                  CR_ROOM(x, model->nv + 1), CR_ROOM(y, model->nv + 1)))
        return false;
    *M = (crMatrix){c->count, c->count, start, col, value};
    start[0] = 0;
    for (int j = 0; j < c->count; j++) {
        start[j + 1] = start[j] + c->end[j] - c->first[j];
    }
    for (int k = 0; k < c->widest; k++) {
        memset(x, 0, (size_t)model->nv * sizeof *x);
        for (int j = 0; j < c->count; j++) {
            if (c->v[j] == c->first[j] + k) x[c->v[j]] = 1.0;
        }
        if (inverse) {
            memcpy(y, x, (size_t)model->nv * sizeof *y);
            cr_model_mass_solve(model, &step->dynamics, y);
        } else {
            cr_model_mass_mul(model, &step->dynamics, x, y);
        }
        for (int j = 0; j < c->count; j++) {
            if (c->first[j] + k >= c->end[j]) continue;
            col[start[j] + k] = c->place[c->first[j] + k];
            value[start[j] + k] = y[c->v[j]];
        }
    }
    return true;
}

static bool gather_columns(const double* x, const Columns* c, crArena* arena, const double** out) {
    double* gathered = cr_arena_alloc(arena, ((size_t)c->count + 1) * sizeof *gathered);
    for (int j = 0; j < c->count && gathered != NULL; j++) {
        gathered[j] = x[c->v[j]];
    }
    *out = gathered;
    return gathered != NULL;
}

crVec3* cr__step_block_points(const crStepContact* contacts, const crBlock* blocks, int count,
                              crArena* arena) {
    crVec3* points = cr_arena_alloc(arena, ((size_t)count + 1) * sizeof *points);
    for (int i = 0; i < count && points != NULL; i++) {
        int source = blocks[i].source;
        points[i] = source >= 0 ? contacts[source].point.point : cr_vec3(0, 0, 0);
    }
    return points;
}

// true if springs, dampers or actuators act on a column
static bool has_slopes(const crStep* step, const Columns* c, double h) {
    for (int j = 0; j < c->count; j++) {
        if (cr__dof_slope(step->model, &step->dynamics, h, c->v[j]) != 0.0) return true;
    }
    return false;
}

static crStatus show(const crStep* step, const crShown* shown, crArena* arena, crError* error) {
    crProblem problem = *shown->problem;
    Columns columns = {0};
    problem.W = problem.Minv = (crMatrix){0};
    bool room = find_columns(step->model, shown->rows, arena, &columns);
    bool slopes = room && has_slopes(step, &columns, shown->h);
    crMatrix *made = slopes ? &problem.Minv : &problem.M, *other = slopes ? &problem.M : &problem.Minv;
    room = room && pose_J(shown->rows, &columns, arena, &problem.J) &&
           pose_M(step, &columns, slopes, arena, made) &&
           gather_columns(shown->v, &columns, arena, &problem.v);
    crVec3* points = cr__step_block_points(step->contacts.list, problem.blocks, problem.block_count, arena);
    if (!room || points == NULL) return cr__step_memory(error);
    problem.nv = columns.count;
    crStatus status = cr_matrix_inverse(made, arena, other, error);
    if (status != CR_OK) return status;
    crPosed posed = {&problem, shown->p, points, shown->time, shown->h, shown->h == 0.0, shown->trial};
    return step->calls.posed(step->calls.posed_ctx, &posed, error);
}

crStatus cr__step_show(const crStep* step, const crShown* shown, crError* error) {
    if (step->calls.posed == NULL || shown->problem->rows == 0) return CR_OK;
    crArena arena;
    crStatus status = cr_arena_create(&arena, &step->own.allocator, 0);
    if (status != CR_OK) return cr__step_memory(error);
    status = show(step, shown, &arena, error);
    cr_arena_destroy(&arena);
    return status;
}

crStatus cr__step_show_problem(const crStep* step, double h, bool trial, crError* error) {
    crShown shown = {
        &step->posed.rows, &step->posed.problem, step->posed.p, step->free.v, step->state.time, h, trial};
    return cr__step_show(step, &shown, error);
}

// Poses the taken contacts as one problem and shows it. Overwrites step->posed.
static crStatus pose_and_show(crStep* step, double h, const bool* taken, const crStepPosed* before,
                              const int* ties, const crIslandSolve* s, crError* error) {
    crStatus status = cr_step_problem_build(step, h, taken, error);
    if (status != CR_OK) return status;
    memset(step->posed.p, 0, (size_t)step->posed.rows.count * sizeof *step->posed.p);
    cr__step_keep_rows(step, s, before, ties, &step->posed);
    cr__step_start_packed(step, s, &step->posed);
    return cr__step_show_problem(step, h, false, error);
}

crStatus cr__step_show_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                               const crIslandSolve* s, crError* error) {
    if (step->calls.posed == NULL) return CR_OK;
    size_t mark = cr_arena_mark(&step->scratch), count = (size_t)step->contacts.count + 1;
    bool* taken;
    int* row;
    if (!CR_ROOMS(&step->scratch, CR_ROOM(taken, count), CR_ROOM(row, count))) return cr__step_memory(error);
    for (int i = 0; i < step->contacts.count; i++) {
        taken[i] = takes[i] && !fresh[i];
        row[i] = step->contacts.list[i].row;
    }
    crStepPosed saved = step->posed;
    int* tie_of_row = step->ties.of_row;
    int most = step->certificate.rows;
    crStatus status = pose_and_show(step, h, taken, &saved, tie_of_row, s, error);
    step->posed = saved;
    step->ties.of_row = tie_of_row;
    step->certificate.rows = most;
    for (int i = 0; i < step->contacts.count; i++) {
        step->contacts.list[i].row = row[i];
    }
    cr_arena_release(&step->scratch, mark);
    return status;
}
