// audit.c - what is true of an impulse vector p, from the problem's own data.
//
// Natural map of a block, zero exactly at solutions: min(p, u+b) for unilateral rows, u+b for equalities,
// p - clamp(p - u - b) for boxes, and for a cone p - P_K(p - u - mu |u_t| n) (de Saxce) where it is a plain
// circular one; otherwise min(p_n, u_n) and p_t - P_D(p_t - u_t) with D = p_n times the friction set
// (Alart and Curnier), which has the same zeros. Momentum and energy come from M, v and p alone.
// Fails: never; anything not finite makes every figure infinite, so a NaN cannot pass for a small number.
#include "linalg/project.h"
#include "residual.h"

#include <string.h>

// friction part of a cone block: projects p_t, spin and roll onto their limits at normal impulse pn >= 0
static void project_friction(const crProblem* problem, const crBlock* block, double pn, double* t) {
    int tangents = block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0);
    double a = pn > 0.0 ? block->mu * pn : 0.0;
    double b = pn > 0.0 ? block->mu2 * pn : 0.0;
    if (block->vertex_count > 0) {
        cr__project_polygon(problem->vertices + block->vertex, block->vertex_count, fmax(pn, 0.0), t);
    } else if (tangents == 1) {
        cr__project_disc(a, 1, t);
    } else {
        cr__project_ellipse(a, b, t);
    }
    double* rest = t + tangents;
    if (block->spin) {
        cr__project_disc(pn > 0.0 ? block->mu_spin * pn : 0.0, 1, rest);
        rest++;
    }
    if (block->roll) cr__project_disc(pn > 0.0 ? block->mu_roll * pn : 0.0, 2, rest);
}

static bool plain_circular(const crBlock* block) {
    return block->count <= 3 && !block->spin && !block->roll && block->vertex_count == 0 &&
           (block->count == 2 || block->mu == block->mu2) && isfinite(block->mu);
}

static double square_sum(const double* x, int n) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

// Alart and Curnier's tangential map with impulses scaled by w: w p_t - P(w p_t - u_t); its squared size
static double friction_map(const crProblem* problem, const crBlock* block, double w, const double* p,
                           const double* u) {
    double t[5], moved[5];
    int n = block->count - 1;
    for (int i = 0; i < n; i++) {
        t[i] = w * p[1 + i];
        moved[i] = t[i] - u[1 + i];
    }
    project_friction(problem, block, w * p[0], moved);
    for (int i = 0; i < n; i++) {
        t[i] -= moved[i];
    }
    return square_sum(t, n);
}

// squared natural map of a cone block; u already holds the bias
static double cone_map(const crProblem* problem, const crBlock* block, const double* p, const double* u) {
    if (!plain_circular(block)) {
        double normal = fmin(p[0], u[0]);
        return normal * normal + friction_map(problem, block, 1.0, p, u);
    }
    double mu = block->mu;
    double p3[3] = {p[0], p[1], block->count == 3 ? p[2] : 0.0};
    double u3[3] = {u[0], u[1], block->count == 3 ? u[2] : 0.0};
    double q[3] = {p3[0] - u3[0] - mu * sqrt(u3[1] * u3[1] + u3[2] * u3[2]), p3[1] - u3[1], p3[2] - u3[2]};
    cr__project_cone(mu, q);
    double d[3] = {p3[0] - q[0], p3[1] - q[1], p3[2] - q[2]};
    return square_sum(d, 3);
}

static double block_map(const crProblem* problem, const crBlock* block, const double* p, const double* u) {
    if (block->kind == CR_BLOCK_CONE) return cone_map(problem, block, p, u);
    double sum = 0.0;
    for (int i = 0; i < block->count; i++) {
        double r = u[i];
        if (block->kind == CR_BLOCK_UNILATERAL) r = fmin(p[i], u[i]);
        if (block->kind == CR_BLOCK_BOX) r = p[i] - fmin(block->hi, fmax(block->lo, p[i] - u[i]));
        // raw problems are judged by the largest entry, others by the euclidean size
        sum = problem->raw ? fmax(sum, r * r) : sum + r * r;
    }
    return sum;
}

// how far friction is beyond its limit, or p_n below zero
static double cone_violation(const crProblem* problem, const crBlock* block, const double* p) {
    double t[5];
    int n = block->count - 1;
    memcpy(t, p + 1, (size_t)n * sizeof *t);
    project_friction(problem, block, p[0], t);
    for (int i = 0; i < n; i++) {
        t[i] -= p[1 + i];
    }
    return fmax(sqrt(square_sum(t, n)), -p[0]);
}

// J_row Minv J_row^T, both by rows
static double sparse_weight(const crMatrix* J, const crMatrix* Minv, int row) {
    double sum = 0.0;
    for (int k = J->start[row]; k < J->start[row + 1]; k++) {
        int i = J->col[k];
        for (int l = Minv->start[i]; l < Minv->start[i + 1]; l++) {
            int j = Minv->col[l];
            sum += J->value[k] * Minv->value[l] * (j == i ? J->value[k] : cr_matrix_at(J, row, j));
        }
    }
    return sum;
}

// J_row Minv J_row^T, or the diagonal entry of W
static double row_weight(const crProblem* problem, int row) {
    if (problem->W.value != NULL) return cr_matrix_at(&problem->W, row, row);
    const crMatrix* J = &problem->J;
    if (J->start != NULL && problem->Minv.start != NULL) return sparse_weight(J, &problem->Minv, row);
    int first = J->start == NULL ? 0 : J->start[row];
    int end = J->start == NULL ? J->cols : J->start[row + 1];
    const double* value = J->start == NULL ? J->value + (size_t)row * (size_t)J->cols : J->value;
    double sum = 0.0;
    for (int k = first; k < end; k++) {
        if (value[k] == 0.0) continue;
        for (int l = first; l < end; l++) {
            if (value[l] == 0.0) continue;
            int i = J->start == NULL ? k : J->col[k];
            int j = J->start == NULL ? l : J->col[l];
            sum += value[k] * cr_matrix_at(&problem->Minv, i, j) * value[l];
        }
    }
    return sum;
}

static void audit_block(const crProblem* problem, const crBlock* block, const double* p, const double* u,
                        double weight, crAudit* audit) {
    double closing = 0.0;
    if (block->kind == CR_BLOCK_EQUALITY) {
        closing = sqrt(square_sum(u, block->count));
    } else if (block->kind == CR_BLOCK_UNILATERAL || block->kind == CR_BLOCK_CONE) {
        int normals = block->kind == CR_BLOCK_CONE ? 1 : block->count;
        for (int i = 0; i < normals; i++) {
            closing = fmax(closing, -u[i]);
            audit->complementarity = fmax(audit->complementarity, fabs(u[i] * p[i]));
            audit->cone = fmax(audit->cone, -p[i]);
        }
    } else {
        for (int i = 0; i < block->count; i++) {
            audit->cone = fmax(audit->cone, fmax(block->lo - p[i], p[i] - block->hi));
        }
    }
    audit->approach = fmax(audit->approach, closing);
    if (block->kind != CR_BLOCK_CONE) return;
    audit->cone = fmax(audit->cone, cone_violation(problem, block, p));
    audit->dissipation = fmax(audit->dissipation, sqrt(friction_map(problem, block, weight, p, u)));
}

static crStatus audit_momentum(const crProblem* problem, crArena* arena, const double* p, crAudit* audit) {
    if (problem->M.value == NULL || problem->v == NULL || problem->J.value == NULL ||
        problem->Minv.value == NULL) {
        return CR_OK;
    }
    size_t bytes = (size_t)problem->nv * sizeof(double);
    double* impulse = cr_arena_alloc(arena, bytes);
    double* dv = cr_arena_alloc(arena, bytes);
    double* gained = cr_arena_alloc(arena, bytes);
    double* before = cr_arena_alloc(arena, bytes);
    if (impulse == NULL || dv == NULL || gained == NULL || before == NULL) return CR_ERR_MEMORY;
    crStatus status = cr_problem_apply(problem, arena, p, dv);
    if (status != CR_OK) return status;
    for (int i = 0; i < problem->nv; i++) {
        dv[i] -= problem->v[i];
    }
    cr_matrix_mul_t(&problem->J, p, impulse);
    cr_matrix_mul(&problem->M, dv, gained);
    cr_matrix_mul(&problem->M, problem->v, before);
    double size = sqrt(square_sum(impulse, problem->nv)) + sqrt(square_sum(before, problem->nv));
    for (int i = 0; i < problem->nv; i++) {
        gained[i] -= impulse[i];
    }
    if (size > 0.0) audit->momentum = sqrt(square_sum(gained, problem->nv)) / size;
    return CR_OK;
}

static bool audit_finite(const crAudit* a) {
    return isfinite(a->residual) && isfinite(a->approach) && isfinite(a->cone) && isfinite(a->dissipation) &&
           isfinite(a->complementarity) && isfinite(a->momentum) && isfinite(a->energy_change);
}

// size that residuals are compared with: of u_free + b
static double residual_scale(const crProblem* problem) {
    double scale = 0.0;
    for (int i = 0; i < problem->rows; i++) {
        double q = problem->u_free[i] + (problem->b != NULL ? problem->b[i] : 0.0);
        scale = problem->raw ? fmax(scale, fabs(q)) : scale + q * q;
    }
    if (problem->raw) return fmax(1.0, scale);
    return scale > 0.0 ? sqrt(scale) : 1.0;
}

static double residual_of(const crProblem* problem, const double* p, const double* u, int* worst_block) {
    double seen = 0.0;  // catches NaN, which fmax would drop
    for (int i = 0; i < problem->rows; i++) {
        seen += (u[i] - p[i]) * 0.0;
    }
    double worst = -1.0;
    double total = 0.0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        double r = block_map(problem, block, p + block->row, u + block->row);
        if (r > worst) {
            worst = r;
            *worst_block = i;
        }
        total = problem->raw ? fmax(total, r) : total + r;
    }
    return sqrt(total) / residual_scale(problem) + seen;
}

double cr__problem_residual(const crProblem* problem, const double* p, const double* u) {
    int worst = -1;
    double residual = residual_of(problem, p, u, &worst);
    return isfinite(residual) ? residual : (double)INFINITY;
}

static crStatus audit_with(const crProblem* problem, crArena* arena, const double* p, crAudit* audit) {
    int n = problem->rows;
    double* u = cr_arena_alloc(arena, (size_t)n * sizeof(double));
    if (u == NULL) return CR_ERR_MEMORY;
    crStatus status = cr_problem_velocity(problem, arena, p, u);
    if (status != CR_OK) return status;
    for (int i = 0; i < n; i++) {
        audit->energy_change += 0.5 * p[i] * (problem->u_free[i] + u[i]);
        if (problem->b != NULL) u[i] += problem->b[i];
    }
    audit->residual = residual_of(problem, p, u, &audit->worst_block);
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        double weight = block->kind == CR_BLOCK_CONE ? row_weight(problem, block->row) : 1.0;
        audit_block(problem, block, p + block->row, u + block->row, weight, audit);
    }
    return audit_momentum(problem, arena, p, audit);
}

// natural map of a block's rows but for friction, impulses times the diagonal w of W
static double row_speed(const crProblem* problem, const crBlock* block, double weight, const double* p,
                        const double* u) {
    double worst = 0.0;
    int rows = block->kind == CR_BLOCK_CONE ? 1 : block->count;
    for (int i = 0; i < rows; i++) {
        double w = weight, r = u[i];
        if (i > 0 && block->kind != CR_BLOCK_EQUALITY) w = row_weight(problem, block->row + i);
        if (block->kind == CR_BLOCK_BOX && w > 0.0) {
            r = w * (p[i] - fmin(block->hi, fmax(block->lo, p[i] - u[i] / w)));
        } else if (block->kind != CR_BLOCK_EQUALITY) {
            r = fmin(u[i], w * p[i]);
        }
        worst = fmax(worst, fabs(r));
    }
    return worst;
}

void cr__problem_audit_blocks(const crProblem* problem, const int* blocks, int count, double noise,
                              const double* p, const double* u, crAudit* audit, double* speed) {
    double total = 0.0, scale = 0.0, seen = 0.0;
    *audit = (crAudit){.worst_block = -1};
    *speed = 0.0;
    for (int i = 0; i < count; i++) {
        const crBlock* block = &problem->blocks[blocks[i]];
        const double *pb = p + block->row, *ub = u + block->row;
        for (int r = 0; r < block->count; r++) {
            double q =
                problem->u_free[block->row + r] + (problem->b != NULL ? problem->b[block->row + r] : 0.0);
            scale += q * q;
            seen += 0.0 * (pb[r] - ub[r]);
        }
        total += block_map(problem, block, pb, ub);
        double weight = block->kind == CR_BLOCK_EQUALITY ? 0.0 : row_weight(problem, block->row);
        audit_block(problem, block, pb, ub, weight, audit);
        *speed = fmax(*speed, row_speed(problem, block, weight, pb, ub));
    }
    scale = fmax(scale, noise);
    audit->residual = sqrt(total) / (scale > 0.0 ? sqrt(scale) : 1.0);
    *speed = fmax(*speed, audit->dissipation);
    if (!(seen == 0.0) || !audit_finite(audit)) {
        double bad = (double)INFINITY;
        *audit = (crAudit){bad, bad, bad, bad, bad, bad, bad, -1};
        *speed = bad;
    }
}

crStatus cr_problem_audit(const crProblem* problem, crArena* arena, const double* p, crAudit* audit) {
    *audit = (crAudit){.worst_block = -1};
    if (problem->rows == 0) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    crStatus status = audit_with(problem, arena, p, audit);
    cr_arena_release(arena, mark);
    if (status != CR_OK) return status;
    if (!audit_finite(audit)) {
        double bad = (double)INFINITY;
        *audit = (crAudit){bad, bad, bad, bad, bad, bad, bad, audit->worst_block};
    }
    return CR_OK;
}
