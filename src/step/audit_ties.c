// audit_ties.c - loops and joints in the audit of a contact solve: rows of the posed problem without a contact.
//
// Fails: CR_ERR_MEMORY.
#include "model/spatial.h"
#include "step/audit_contacts.h"
#include "step/step.h"

static bool is_tie(const crBlock* block) { return block->source < 0; }

// island of the body that a tie acts on first, -1 where it acts on none
static int tie_island(const crContactAudit* a, const crBlock* block) {
    const crRows* rows = &a->step->posed.rows;
    int first = rows->start[block->row], end = rows->start[block->row + block->count];
    return first < end ? a->body[a->step->model->dof_body[rows->col[first]]].island : -1;
}

static double tie_size(const crStep* step, const crBlock* block) {
    return step->plan->size[step->model->dof_body[step->posed.rows.col[step->posed.rows.start[block->row]]]];
}

crStatus cr__audit_ties(crContactAudit* a) {
    const crStep* step = a->step;
    const crProblem* problem = &step->posed.problem;
    int rows = step->posed.rows.count;
    if (rows == 0) return CR_OK;
    a->tie_p = cr_arena_alloc(&a->step->scratch, (size_t)rows * sizeof *a->tie_p);
    a->tie_held = cr_arena_alloc(&a->step->scratch, (size_t)rows * sizeof *a->tie_held);
    double* w = cr_arena_alloc(&a->step->scratch, 2 * (size_t)rows * sizeof *w);
    if (a->tie_p == NULL || a->tie_held == NULL || w == NULL) return CR_ERR_MEMORY;
    double* weight = w + rows;
    cr_rows_velocity(&step->posed.rows, step->state.v, w);
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int r = block->row;
        if (!is_tie(block)) continue;
        for (int k = r; k < r + block->count; k++) {
            w[k] += step->posed.b[k];
            weight[k] = 0.0;
            for (int e = step->posed.H.start[k]; e < step->posed.H.start[k + 1]; e++) {
                weight[k] += step->posed.H.value[e] * step->posed.H.value[e];
            }
        }
        cr__witness_make(problem, block, weight + r, step->posed.p + r, w + r, a->tie_p + r, a->tie_held + r);
    }
    return CR_OK;
}

void cr__audit_tie_impulses(const crContactAudit* a, double* g) {
    const crStep* step = a->step;
    for (int i = 0; a->tie_p != NULL && i < step->posed.problem.block_count; i++) {
        const crBlock* block = &step->posed.problem.blocks[i];
        if (!is_tie(block)) continue;
        for (int r = block->row; r < block->row + block->count; r++) {
            for (int k = step->posed.rows.start[r]; k < step->posed.rows.start[r + 1]; k++) {
                g[step->posed.rows.col[k]] += step->posed.rows.value[k] * a->tie_p[r];
            }
        }
    }
}

static void raise(double* scale, double value) {
    if (value > *scale) *scale = value;
}

void cr__audit_tie_scales(crContactAudit* a) {
    const crStep* step = a->step;
    for (int i = 0; a->tie_p != NULL && i < step->posed.problem.block_count; i++) {
        const crBlock* block = &step->posed.problem.blocks[i];
        int island = is_tie(block) ? tie_island(a, block) : -1;
        if (island < 0) continue;
        double* scale = &a->scale[island + 1];
        raise(scale, step->h * cr_norm(step->model->gravity));
        raise(scale, step->settings.deadband * tie_size(step, block) / a->h);
        for (int r = block->row; block->kind == CR_BLOCK_EQUALITY && r < block->row + block->count; r++) {
            raise(scale, fabs(step->posed.problem.u_free[r]));
        }
    }
}

crStatus cr__audit_judge_ties(crContactAudit* a, crAuditWorst* worst) {
    crStep* step = a->step;
    int rows = step->posed.rows.count;
    if (a->tie_p == NULL) return CR_OK;
    double* w = cr_arena_alloc(&step->scratch, (size_t)rows * sizeof *w);
    double* floor = cr_arena_alloc(&step->scratch, (size_t)rows * sizeof *floor);
    if (w == NULL || floor == NULL) return CR_ERR_MEMORY;
    cr_rows_velocity(&step->posed.rows, a->v, w);
    for (int r = 0; r < rows; r++) {
        double sum = fabs(step->posed.problem.u_free[r]) + fabs(step->posed.b[r]);
        for (int k = step->posed.rows.start[r]; k < step->posed.rows.start[r + 1]; k++) {
            int j = step->posed.rows.col[k];
            sum += fabs(step->posed.rows.value[k]) * (fabs(a->v[j]) + fabs(step->free.v[j]));
        }
        w[r] += step->posed.b[r];
        floor[r] = 64.0 * CR_AUDIT_EPS * sum;
    }
    for (int i = 0; i < step->posed.problem.block_count; i++) {
        const crBlock* block = &step->posed.problem.blocks[i];
        int r = block->row, island = is_tie(block) ? tie_island(a, block) : -1;
        if (island < 0) continue;
        crDefect defect = cr__witness_defect(block, w + r, a->tie_held + r, w + r, floor + r);
        cr__audit_count(defect.square, sqrt(defect.floor), a->scale[island + 1], tie_size(step, block) / a->h,
                        worst);
    }
    return CR_OK;
}
