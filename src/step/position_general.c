// position_general.c - the position pass with loops, limits and trees: one problem of everything near.
//
// 0 <= W p + gap + delta/2 _|_ p >= 0 at contacts near, limits likewise, loops shut; dq = M^-1 J^T p, the
// shortest move in the metric of M; repeated at the new poses.
// Fails: CR_ERR_MEMORY. What it cannot remove in ROUNDS is left and stands in the certificate.
#include <string.h>

#include "model/spatial.h"
#include "step/cache.h"
#include "step/position.h"

#define ROUNDS    20
#define LOOP_TOL  1e-10  // m, rad
#define LIMIT_TOL 1e-10  // m, rad

typedef struct Pass {
    crRows rows;
    crBlock* blocks;
    int block_count;
    double* b;
    double* p;
    crJointRow* info;
    double contact;  // deepest overlap beyond the deadband, m
    double overlap;  // deepest overlap, m
    double loop;     // largest error of a loop
    double limit;    // deepest beyond a joint's limit
} Pass;

static crStatus add_contacts(crStep* step, Pass* pass) {
    for (int i = 0; i < step->contact_count; i++) {
        const crStepContact* c = &step->contacts[i];
        crMat3 F = cr__step_frame(step, c);
        int row = cr_rows_add_point(step->model, &step->dynamics, c->body_a, c->body_b, c->point.point, &F, 1,
                                    &pass->rows);
        if (row < 0) return (crStatus)row;
        pass->blocks[pass->block_count++] = cr_block(CR_BLOCK_UNILATERAL, row, 1);
        pass->b[row] = c->point.gap + 0.5 * c->delta;
    }
    return CR_OK;
}

static crStatus add_others(crStep* step, Pass* pass, crJointRow* info, int capacity) {
    for (int i = 0; i < step->model->loop_count; i++) {
        int before = pass->rows.count;
        int first = cr_rows_add_loop(step->model, &step->dynamics, i, &pass->rows);
        if (first < 0) return (crStatus)first;
        bool range = cr_loop_ranges(&step->model->loops[i]);
        pass->blocks[pass->block_count++] =
            cr_block(range ? CR_BLOCK_UNILATERAL : CR_BLOCK_EQUALITY, before, pass->rows.count - before);
        for (int r = before; r < pass->rows.count; r++) {
            pass->b[r] = pass->rows.gap[r];
            pass->loop = fmax(pass->loop, range ? -pass->rows.gap[r] : fabs(pass->rows.gap[r]));
        }
    }
    int joints = cr_rows_add_joints(step->model, &step->state, LIMIT_TOL, capacity, info, &pass->rows);
    if (joints < 0) return (crStatus)joints;
    for (int i = 0; i < joints; i++) {
        int row = info[i].row;
        bool limit = info[i].kind == CR_ROW_LIMIT;
        crBlock block = cr_block(limit ? CR_BLOCK_UNILATERAL : CR_BLOCK_BOX, row, 1);
        // motors and dry friction do not act on positions
        block.lo = block.hi = 0.0;
        pass->blocks[pass->block_count++] = block;
        pass->b[row] = limit ? pass->rows.gap[row] : 0.0;
        if (limit) pass->limit = fmax(pass->limit, -pass->rows.gap[row]);
    }
    return CR_OK;
}

static crStatus make_pass(crStep* step, int rows, int entries, Pass* pass) {
    crArena* arena = &step->scratch;
    pass->blocks = cr_arena_alloc(arena, (size_t)(rows + 1) * sizeof *pass->blocks);
    pass->b = cr_arena_alloc(arena, (size_t)(rows + 1) * sizeof(double));
    pass->p = cr_arena_alloc(arena, (size_t)(rows + 1) * sizeof(double));
    pass->info = cr_arena_alloc(arena, (size_t)(rows + 1) * sizeof *pass->info);
    crStatus status = cr_rows_create(arena, rows, entries, &pass->rows);
    if (status != CR_OK || pass->blocks == NULL || pass->b == NULL || pass->p == NULL || pass->info == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(pass->p, 0, (size_t)(rows + 1) * sizeof(double));
    return CR_OK;
}

static crStatus build(crStep* step, Pass* pass) {
    int rows, entries, vertices;
    cr__step_row_sizes(step, NULL, &rows, &entries, &vertices);
    crStatus status = make_pass(step, rows, entries, pass);
    if (status == CR_OK) status = add_contacts(step, pass);
    return status == CR_OK ? add_others(step, pass, pass->info, rows) : status;
}

static crStatus move(crStep* step, Pass* pass, crError* error) {
    const crModel* model = step->model;
    crRows H;
    crProblem problem;
    double* dq = step->dynamics.work;
    crStatus status = cr_model_mass_factor(model, 0.0, &step->dynamics);
    if (status == CR_OK) {
        // displacements, not velocities: what drives prescribe has no part in them
        memset(pass->rows.w_hat, 0, (size_t)pass->rows.count * sizeof(double));
        memset(dq, 0, (size_t)model->nv * sizeof *dq);
        double* rest = cr_arena_alloc(&step->scratch, (size_t)model->nv * sizeof *rest);
        if (rest == NULL) return cr__step_memory(error);
        memset(rest, 0, (size_t)model->nv * sizeof *rest);
        status = cr__step_pose_problem(step, &pass->rows, pass->blocks, pass->block_count, NULL, rest, &H,
                                       &problem);
    }
    if (status != CR_OK) return cr_error_set(error, status, "position", "%s", cr_status_text(status));
    problem.b = pass->b;
    crReport report;
    crSolver solver = cr_solver_auto(NULL);
    status = cr_solver_run(&solver, &problem, cr_step_tol(&step->settings), &step->scratch, pass->p, &report,
                           error);
    if (status != CR_OK) return status;
    memset(dq, 0, (size_t)model->nv * sizeof *dq);
    cr_rows_add_impulse(&pass->rows, pass->p, dq);
    cr_model_mass_solve(model, &step->dynamics, dq);
    cr__advance(model, 1.0, dq, step->state.q);
    return CR_OK;
}

crStatus cr__step_position_general(crStep* step, double near, crError* error) {
    crStatus status = CR_OK;
    for (int round = 0; round <= ROUNDS && status == CR_OK; round++) {
        size_t mark = cr_arena_mark(&step->scratch);
        Pass pass = {0};
        cr_model_kinematics(step->model, &step->state, &step->dynamics);
        status = cr_step_collide(step, near, error);
        for (int i = 0; i < step->contact_count && status == CR_OK; i++) {
            const crStepContact* c = &step->contacts[i];
            double slack = (1.0 + step->settings.position_tol) * c->delta;
            pass.contact = fmax(pass.contact, -c->point.gap - slack);
            pass.overlap = fmax(pass.overlap, -c->point.gap);
        }
        if (status == CR_OK) status = build(step, &pass);
        if (status == CR_ERR_MEMORY) status = cr__step_memory(error);
        step->certificate.penetration = pass.overlap;
        step->certificate.loop_error = pass.loop;
        if (status != CR_OK) return status;
        // what is pushed out of one overlap turns into others that are as near
        near = fmax(near, 2.0 * pass.contact);
        if (!(pass.contact > 0.0) && pass.loop <= LOOP_TOL && pass.limit <= LIMIT_TOL) return CR_OK;
        if (round < ROUNDS) status = move(step, &pass, error);
        if (round < ROUNDS) {
            step->contact_count = 0;
            cr_arena_release(&step->scratch, mark);
        }
    }
    return status;
}

crStatus cr__step_position_others(crStep* step, bool* holds, crError* error) {
    size_t mark = cr_arena_mark(&step->scratch);
    int rows = step->cache->tie_rows;
    Pass pass = {0};
    *holds = true;
    if (rows == 0) return CR_OK;
    crStatus status = make_pass(step, rows, step->cache->tie_entries, &pass);
    if (status == CR_OK) status = add_others(step, &pass, pass.info, rows);
    cr_arena_release(&step->scratch, mark);
    if (status != CR_OK) return cr__step_memory(error);
    step->certificate.loop_error = pass.loop;
    *holds = pass.loop <= LOOP_TOL && pass.limit <= LIMIT_TOL;
    return CR_OK;
}
