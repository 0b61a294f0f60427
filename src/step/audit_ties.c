// audit_ties.c - loops and joints in the audit of a contact solve: rows of the posed problem without a
// contact.
//
// Fails: CR_ERR_MEMORY.
#include "model/spatial.h"
#include "step/audit_contacts.h"
#include "step/step.h"

static bool is_tie(const crBlock* block) { return block->source < 0; }

// island of the first body that a tie acts on, -1: none
static int tie_island(const crContactAudit* a, const crBlock* block) {
    const crRows* rows = &a->step->posed.rows;
    int first = rows->start[block->row], end = rows->start[block->row + block->count];
    return first < end ? a->body[a->step->model->velocity.body[rows->col[first]]].island : -1;
}

// Extent of a body from its joint, m; from its inertia if it has no shapes.
static double length_of(const crPlan* plan, const crDynamics* d, int b) {
    const crBody* body = &plan->model->bodies[b];
    double size = plan->size[b];
    if (!(size > 0.0) && body->mass > 0.0)
        size = sqrt((body->inertia.xx + body->inertia.yy + body->inertia.zz) / body->mass);
    return size + cr_norm(cr_sub(d->com[b], d->origin[b]));
}

static double tie_size(const crStep* step, const crBlock* block) {
    return length_of(step->plan, &step->dynamics,
                     step->model->velocity.body[step->posed.rows.col[step->posed.rows.start[block->row]]]);
}

// true if velocity j is an angular one
static bool turns(const crModel* model, int j) {
    const crBody* body = &model->bodies[model->velocity.body[j]];
    switch (body->joint) {
    case CR_JOINT_SLIDER:
        return false;
    case CR_JOINT_FREE:
        return j - body->v >= 3;
    case CR_JOINT_PLANAR:
        return j - body->v >= 2;
    default:
        return true;
    }
}

// metres per unit of a row's motion: the length of the body for angular rows, else 1
static double arm_of(const crStep* step, const crBlock* block, int row) {
    const crModel* model = step->model;
    int loop = -1 - block->source, first = step->posed.rows.start[row];
    bool turning = false;
    if (loop < model->loop_count) {
        crLoopKind kind = model->loops[loop].kind;
        turning = (kind == CR_LOOP_WELD && row - block->row >= 3) ||
                  (kind == CR_LOOP_JOINT && turns(model, model->bodies[model->loops[loop].a].v));
    } else if (first < step->posed.rows.start[row + 1]) {
        turning = turns(model, step->posed.rows.col[first]);
    }
    double length = turning && first < step->posed.rows.start[row + 1] ? tie_size(step, block) : 1.0;
    return length > 0.0 ? length : 1.0;
}

// one row of a tie as a block
static crBlock row_of(const crStep* step, const crBlock* block, int row) {
    crBlock one = *block;
    one.row = row;
    one.count = 1;
    one.arm = arm_of(step, block, row);
    return one;
}

// velocity of a row at v, bias included
static double row_velocity(const crStepPosed* posed, int r, const double* v) {
    const crRows* rows = &posed->rows;
    double sum = 0.0;
    for (int k = rows->start[r]; k < rows->start[r + 1]; k++) {
        sum += rows->value[k] * v[rows->col[k]];
    }
    return sum + rows->w_hat[r] + posed->b[r];
}

// sum of the absolute terms of that velocity and of the one before the solve
static double row_terms(const crContactAudit* a, int r) {
    const crStep* step = a->step;
    const crRows* rows = &step->posed.rows;
    double sum = fabs(step->posed.problem.u_free[r]) + fabs(step->posed.b[r]);
    for (int k = rows->start[r]; k < rows->start[r + 1]; k++) {
        int j = rows->col[k];
        sum += fabs(rows->value[k]) * (fabs(a->v[j]) + fabs(step->free.v[j]));
    }
    return sum;
}

crStatus cr__audit_ties(crContactAudit* a) {
    const crStep* step = a->step;
    const crProblem* problem = &step->posed.problem;
    int rows = step->posed.rows.count;
    if (rows == 0) return CR_OK;
    double* w;
    if (!CR_ROOMS(&a->step->scratch, CR_ROOM(a->tie_p, rows), CR_ROOM(a->tie_held, rows),
                  CR_ROOM(a->tie_weight, rows), CR_ROOM(w, rows)))
        return CR_ERR_MEMORY;
    double* weight = a->tie_weight;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int r = block->row;
        if (!is_tie(block)) continue;
        for (int k = r; k < r + block->count; k++) {
            w[k] = row_velocity(&step->posed, k, step->state.v);
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

// Raises the scale of islands by their ties: gravity, the deadband, and the natural map at zero impulses.
void cr__audit_tie_scales(crContactAudit* a) {
    const crStep* step = a->step;
    for (int i = 0; a->tie_p != NULL && i < step->posed.problem.block_count; i++) {
        const crBlock* block = &step->posed.problem.blocks[i];
        int island = is_tie(block) ? tie_island(a, block) : -1;
        if (island < 0) continue;
        double* scale = &a->island[island + 1].scale;
        raise(scale, step->free.h * cr_norm(step->model->gravity));
        raise(scale, step->settings.deadband * tie_size(step, block) / a->h);
        for (int r = block->row; r < block->row + block->count; r++) {
            crBlock row = row_of(step, block, r);
            double q = step->posed.problem.u_free[r] + step->posed.b[r];
            raise(scale, cr__witness_scale(&row, a->tie_weight + r, &q));
        }
    }
}

void cr__audit_judge_ties(const crContactAudit* a, crAuditWorst* worst) {
    const crStep* step = a->step;
    for (int i = 0; a->tie_p != NULL && i < step->posed.problem.block_count; i++) {
        const crBlock* block = &step->posed.problem.blocks[i];
        int island = is_tie(block) ? tie_island(a, block) : -1;
        if (island < 0) continue;
        double scale = a->island[island + 1].scale, square = 0.0, noise = 0.0, size = 0.0;
        for (int r = block->row; r < block->row + block->count; r++) {
            crBlock row = row_of(step, block, r);
            double terms = row_terms(a, r), floor = 64.0 * CR_AUDIT_EPS * terms;
            double w = row_velocity(&step->posed, r, a->v);
            crDefect defect = cr__witness_defect(&row, a->tie_weight + r, a->tie_held + r, &w, &floor);
            square += defect.square;
            noise += defect.floor;
            raise(&size, row.arm * terms);
        }
        // without a velocity to change, the defect is compared with the speeds of the row
        cr__audit_count(square, sqrt(noise), scale > 0.0 ? scale : size, tie_size(step, block) / a->h, worst);
    }
}
