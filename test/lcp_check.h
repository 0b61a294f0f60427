// lcp_check.h - what an answer to a contact problem must satisfy, computed in the tests from its definition.
#ifndef CAROM_TEST_LCP_CHECK_H
#define CAROM_TEST_LCP_CHECK_H

#include "test.h"

// u + b of row i in long double
static inline double lcp_row(const crProblem* problem, const double* p, int i) {
    long double sum = problem->u_free[i];
    if (problem->b != NULL) sum += problem->b[i];
    for (int j = 0; j < problem->rows; j++) {
        sum += (long double)cr_matrix_at(&problem->W, i, j) * (long double)p[j];
    }
    return (double)sum;
}

// how far (p, u) is from min(p, u) = 0, u = 0, or the three cases of a box
static inline double lcp_row_violation(const crBlock* block, double p, double u) {
    if (block->kind == CR_BLOCK_EQUALITY) return fabs(u);
    double lo = block->kind == CR_BLOCK_UNILATERAL ? 0.0 : block->lo;
    double hi = block->kind == CR_BLOCK_UNILATERAL ? (double)INFINITY : block->hi;
    double worst = fmax(0.0, fmax(lo - p, p - hi));
    // what may be positive needs p at lo, what may be negative needs p at hi
    if (u > 0.0) worst = fmax(worst, fmin(u, p - lo));
    if (u < 0.0) worst = fmax(worst, fmin(-u, hi - p));
    return worst;
}

// polygon friction by its definition: inside all edges, and no vertex dissipates more
static inline double lcp_polygon_violation(const crProblem* problem, const crBlock* block, const double* p,
                                           const double* u) {
    const double(*v)[2] = problem->vertices + block->vertex;
    double worst = 0.0;
    double least = 0.0;
    for (int k = 0; k < block->vertex_count; k++) {
        const double* a = v[k];
        const double* b = v[(k + 1) % block->vertex_count];
        double ex = b[0] - a[0], ey = b[1] - a[1];
        double length = sqrt(ex * ex + ey * ey);
        if (length > 0.0) {
            double outside = (ey * (p[1] - p[0] * a[0]) - ex * (p[2] - p[0] * a[1])) / length;
            worst = fmax(worst, outside);
        }
        least = fmin(least, a[0] * u[1] + a[1] * u[2]);
    }
    // a product of impulse and velocity: over the larger of both it is the size of the smaller
    double size = fmax(fmax(fabs(p[0]), fabs(u[1])), fabs(u[2]));
    double excess = p[1] * u[1] + p[2] * u[2] - p[0] * least;
    return excess > 0.0 ? fmax(worst, excess / size) : worst;
}

static inline double lcp_interval_violation(double limit, double p, double u) {
    crBlock box = cr_block(CR_BLOCK_BOX, 0, 1);
    box.lo = -limit;
    box.hi = limit;
    return lcp_row_violation(&box, p, u);
}

static inline double lcp_cone_violation(const crProblem* problem, const crBlock* block, const double* p,
                                        const double* u) {
    crBlock normal = cr_block(CR_BLOCK_UNILATERAL, 0, 1);
    double worst = lcp_row_violation(&normal, p[0], u[0]);
    int next = 1;
    if (block->vertex_count > 0) {
        worst = fmax(worst, lcp_polygon_violation(problem, block, p, u));
        next = 3;
    } else {
        worst = fmax(worst, lcp_interval_violation(block->mu * fmax(0.0, p[0]), p[1], u[1]));
        next = 2;
    }
    if (block->spin) {
        worst = fmax(worst, lcp_interval_violation(block->mu_spin * fmax(0.0, p[0]), p[next], u[next]));
    }
    return worst;
}

// worst violation over all blocks; NaN becomes infinite
static inline double lcp_violation(const crProblem* problem, const double* p) {
    double worst = 0.0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        double u[8];
        if (block->kind == CR_BLOCK_CONE) {
            for (int k = 0; k < block->count; k++) {
                u[k] = lcp_row(problem, p, block->row + k);
            }
            double r = lcp_cone_violation(problem, block, p + block->row, u);
            if (!(r <= worst)) worst = r;
            continue;
        }
        for (int k = block->row; k < block->row + block->count; k++) {
            double r = lcp_row_violation(block, p[k], lcp_row(problem, p, k));
            if (!(r <= worst)) worst = r;
        }
    }
    return isfinite(worst) ? worst : (double)INFINITY;
}

static inline double lcp_size(const crProblem* problem) {
    double size = 0.0;
    for (int i = 0; i < problem->rows; i++) {
        double b = problem->b != NULL ? problem->b[i] : 0.0;
        size = fmax(size, fabs(problem->u_free[i] + b));
    }
    return size;
}

// largest sum of |W_ij p_j| + |q_i|: rounding in evaluating one row is a few 1e-16 of it. Box rows are
// measured from their bounds, so those count like p. With cones also the largest |p|, whose own rounding
// decides how well friction keeps its limit.
static inline double lcp_rounding_scale(const crProblem* problem, const double* p) {
    double largest = lcp_size(problem);
    for (int i = 0; i < problem->rows; i++) {
        double sum = fabs(problem->u_free[i]);
        for (int b = 0; b < problem->block_count; b++) {
            const crBlock* block = &problem->blocks[b];
            double from = block->kind != CR_BLOCK_BOX ? 0.0
                          : isfinite(block->lo)       ? fabs(block->lo)
                                                      : fabs(block->hi);
            for (int j = block->row; j < block->row + block->count; j++) {
                double size = isfinite(from) ? fmax(from, fabs(p[j])) : fabs(p[j]);
                sum += fabs(cr_matrix_at(&problem->W, i, j)) * size;
            }
        }
        largest = fmax(largest, sum);
    }
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        for (int k = 0; block->kind == CR_BLOCK_CONE && k < block->count; k++) {
            largest = fmax(largest, fabs(p[block->row + k]));
        }
    }
    return largest;
}

#endif
