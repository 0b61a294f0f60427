// published.c - measures of contact solutions as others publish them, unscaled, for comparison.
//
// Natural map of a block, zero exactly at solutions: min(p, u+b) for unilateral rows, u+b for equalities,
// p - clamp(p - u - b) for boxes, and for a cone p - P_K(p - u - mu |u_t| n) (de Saxce) where it is a plain
// circular one; otherwise min(p_n, u_n) and p_t - P_D(p_t - u_t) with D = p_n times the friction set
// (Alart and Curnier), which has the same zeros. They add N s to m/s: their size depends on the units, and no
// verdict rests on them. Fails: never; the caller checks that p and u are finite.
#include "linalg/project.h"
#include "problem/audit.h"

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
    return cr__larger(sqrt(square_sum(t, n)), -p[0]);
}

static void audit_block(const crProblem* problem, const crBlock* block, const double* p, const double* u,
                        double weight, crLawErrors* laws) {
    double closing = 0.0;
    if (block->kind == CR_BLOCK_EQUALITY) {
        closing = sqrt(square_sum(u, block->count));
    } else if (block->kind == CR_BLOCK_UNILATERAL || block->kind == CR_BLOCK_CONE) {
        int normals = block->kind == CR_BLOCK_CONE ? 1 : block->count;
        for (int i = 0; i < normals; i++) {
            closing = cr__larger(closing, -u[i]);
            laws->complementarity = cr__larger(laws->complementarity, fabs(u[i] * p[i]));
            laws->cone = cr__larger(laws->cone, -p[i]);
        }
    } else {
        for (int i = 0; i < block->count; i++) {
            laws->cone = cr__larger(laws->cone, cr__larger(block->lo - p[i], p[i] - block->hi));
        }
    }
    laws->approach = cr__larger(laws->approach, closing);
    if (block->kind != CR_BLOCK_CONE) return;
    laws->cone = cr__larger(laws->cone, cone_violation(problem, block, p));
    laws->dissipation = cr__larger(laws->dissipation, sqrt(friction_map(problem, block, weight, p, u)));
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

void cr__problem_published(const crAuditor* a, const double* p, crAudit* audit) {
    const crProblem* problem = a->problem;
    double total = 0.0;
    for (int k = 0; k < a->busy_count; k++) {
        const crBlock* block = &problem->blocks[a->busy[k]];
        int row = block->row;
        double r = block_map(problem, block, p + row, a->w + row);
        total = problem->raw ? fmax(total, r) : total + r;
        audit_block(problem, block, p + row, a->w + row, a->weight[row], &audit->laws);
    }
    audit->natural = total > 0.0 ? sqrt(total) / residual_scale(problem) : total;
}
