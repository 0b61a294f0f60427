// lcp.c - a crProblem as a mixed linear complementarity problem.
//
// p = p0 + sum g_j z_j and w_j = g_j.(u + b): the impulse part of M is G^T W G. Equality rows give free
// variables. A box lo <= p <= hi starts at its finite bound, p = lo + z or p = hi - z; where both are finite
// a multiplier guards hi - lo - z >= 0. A polygon cone is Stewart and Trinkle's: p_t = sum d_k beta_k over
// the vertices, multiplier lambda of mu p_n - sum beta >= 0; planar cones and spin have two directions.
// Impulses are counted in a unit, a power of two, that brings the largest diagonal entry of M near one, those of
// spin in a unit of their own: no threshold of the solvers depends on units, and no digit changes.
// Source: Stewart and Trinkle 2000, eqs. 5 to 9. Fails: circular and elliptic friction in two directions,
// rolling limits and infinite friction are no LCP: supported = false.
#include "lcp.h"

#include <string.h>

static int tangents_of(const crBlock* block) {
    return block->count - 1 - (block->spin ? 1 : 0) - (block->roll ? 2 : 0);
}

static bool cone_supported(const crBlock* block) {
    if (block->roll && block->mu_roll > 0.0) return false;
    if (block->spin && isinf(block->mu_spin)) return false;
    if (block->vertex_count > 0) return true;
    if (tangents_of(block) == 1) return isfinite(block->mu);
    return block->mu == 0.0 && block->mu2 == 0.0;
}

static bool supported_blocks(const crProblem* problem) {
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind == CR_BLOCK_CONE && !cone_supported(block)) return false;
    }
    return true;
}

static crLcpColumn impulse(int row, double g) {
    return (crLcpColumn){.kind = CR_LCP_IMPULSE, .row = {row, -1}, .g = {g, 0.0}, .scale = 1.0, .owner = -1};
}

static crLcpColumn limit(int owner, int first, int count, double factor) {
    return (crLcpColumn){.kind = CR_LCP_LIMIT,
                         .row = {-1, -1},
                         .owner = owner,
                         .first = first,
                         .count = count,
                         .scale = 1.0,
                         .limit = factor};
}

static bool box_is_free(const crBlock* block) {
    return block->kind == CR_BLOCK_EQUALITY ||
           (block->kind == CR_BLOCK_BOX && isinf(block->lo) && isinf(block->hi) && block->lo < block->hi);
}

// two opposite directions along one row, limited by mu times the owner's impulse
static int add_interval(crLcpColumn* columns, int n, int row, int owner, double mu) {
    if (mu == 0.0) return n;
    columns[n] = impulse(row, 1.0);
    columns[n + 1] = impulse(row, -1.0);
    columns[n + 2] = limit(owner, n, 2, mu);
    return n + 3;
}

// directions along the vertices, scaled so that the longest is a unit vector
static int add_polygon_lcp(const crProblem* problem, const crBlock* block, crLcpColumn* columns, int n,
                           int owner) {
    const double(*vertices)[2] = problem->vertices + block->vertex;
    double mu = 0.0;
    for (int k = 0; k < block->vertex_count; k++) {
        mu = fmax(mu, sqrt(vertices[k][0] * vertices[k][0] + vertices[k][1] * vertices[k][1]));
    }
    if (mu == 0.0) return n;
    for (int k = 0; k < block->vertex_count; k++) {
        crLcpColumn column = impulse(block->row + 1, vertices[k][0] / mu);
        column.row[1] = block->row + 2;
        column.g[1] = vertices[k][1] / mu;
        columns[n + k] = column;
    }
    columns[n + block->vertex_count] = limit(owner, n, block->vertex_count, mu);
    return n + block->vertex_count + 1;
}

static int add_cone(const crProblem* problem, const crBlock* block, crLcpColumn* columns, int n) {
    int owner = n;
    int tangents = tangents_of(block);
    columns[n++] = impulse(block->row, 1.0);
    if (block->vertex_count > 0) {
        n = add_polygon_lcp(problem, block, columns, n, owner);
    } else if (tangents == 1) {
        n = add_interval(columns, n, block->row + 1, owner, block->mu);
    }
    if (block->spin) n = add_interval(columns, n, block->row + 1 + tangents, owner, block->mu_spin);
    return n;
}

static int add_box(const crBlock* block, crLcpColumn* columns, int n, double* p0) {
    for (int row = block->row; row < block->row + block->count; row++) {
        bool from_lo = isfinite(block->lo);
        p0[row] = from_lo ? block->lo : block->hi;
        if (block->lo == block->hi) continue;
        columns[n++] = impulse(row, from_lo ? 1.0 : -1.0);
        if (from_lo && isfinite(block->hi)) {
            columns[n] = limit(-1, n - 1, 1, block->hi - block->lo);
            columns[n++].g[0] = block->hi;
        }
    }
    return n;
}

// variables in order: all free ones, then block by block
static int list_columns(const crProblem* problem, crLcp* lcp) {
    int n = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        for (int k = 0; box_is_free(block) && k < block->count; k++) {
            lcp->columns[n++] = impulse(block->row + k, 1.0);
        }
    }
    lcp->free_count = n;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (box_is_free(block)) continue;
        if (block->kind == CR_BLOCK_CONE) {
            n = add_cone(problem, block, lcp->columns, n);
        } else if (block->kind == CR_BLOCK_BOX) {
            n = add_box(block, lcp->columns, n, lcp->p0);
        } else {
            for (int k = 0; k < block->count; k++) {
                lcp->columns[n++] = impulse(block->row + k, 1.0);
            }
        }
    }
    return n;
}

static size_t most_columns(const crProblem* problem) {
    size_t n = 0;
    for (int i = 0; i < problem->block_count; i++) {
        n += 3 * (size_t)problem->blocks[i].count + (size_t)problem->blocks[i].vertex_count + 1;
    }
    return n;
}

// g_i.W g_j
static double couple(const double* W, size_t rows, const crLcpColumn* a, const crLcpColumn* b) {
    double sum = 0.0;
    for (int k = 0; k < 2 && a->row[k] >= 0; k++) {
        for (int l = 0; l < 2 && b->row[l] >= 0; l++) {
            sum += a->g[k] * W[(size_t)a->row[k] * rows + (size_t)b->row[l]] * b->g[l];
        }
    }
    return sum;
}

static double scale_for(double size) {
    return size > 0.0 && isfinite(1.0 / size) ? cr__power_of_two(1.0 / size) : 1.0;
}

static bool is_spin(const crProblem* problem, int row) {
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (row < block->row || row >= block->row + block->count) continue;
        return block->kind == CR_BLOCK_CONE && row > block->row + tangents_of(block);
    }
    return false;
}

// z = scale * (scaled z): about 1/sqrt(largest g.W g) for impulses in N s, likewise for those in N m s, and
// 1/(largest scaled coupling) for multipliers
static void scale_columns(const crProblem* problem, const double* W, crLcp* lcp) {
    double most[2] = {0.0, 0.0};
    for (int i = 0; i < lcp->n; i++) {
        crLcpColumn* a = &lcp->columns[i];
        a->scale = 1.0;
        if (a->kind != CR_LCP_IMPULSE) continue;
        double* largest = &most[is_spin(problem, a->row[0]) ? 1 : 0];
        *largest = fmax(*largest, couple(W, (size_t)problem->rows, a, a));
    }
    for (int i = 0; i < lcp->n; i++) {
        crLcpColumn* a = &lcp->columns[i];
        if (a->kind != CR_LCP_IMPULSE) continue;
        a->scale = scale_for(sqrt(most[is_spin(problem, a->row[0]) ? 1 : 0]));
        a->g[0] *= a->scale;
        a->g[1] *= a->scale;
    }
    for (int i = 0; i < lcp->n; i++) {
        crLcpColumn* a = &lcp->columns[i];
        if (a->kind == CR_LCP_LIMIT) a->scale = scale_for(lcp->columns[a->first].scale);
    }
}

static void fill(const crProblem* problem, const double* W, const double* u0, crLcp* lcp) {
    size_t n = (size_t)lcp->n;
    for (size_t i = 0; i < n; i++) {
        const crLcpColumn* a = &lcp->columns[i];
        lcp->q[i] = 0.0;
        for (int k = 0; k < 2 && a->row[k] >= 0; k++) {
            double bias = problem->b != NULL ? problem->b[a->row[k]] : 0.0;
            lcp->q[i] += a->g[k] * (u0[a->row[k]] + bias);
        }
        for (size_t j = 0; j < n; j++) {
            lcp->M[i * n + j] = couple(W, (size_t)problem->rows, a, &lcp->columns[j]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const crLcpColumn* a = &lcp->columns[i];
        if (a->kind != CR_LCP_LIMIT) continue;
        if (a->owner < 0) {
            lcp->q[i] = a->scale * a->limit;
        } else {
            lcp->M[i * n + (size_t)a->owner] = a->scale * a->limit * lcp->columns[a->owner].scale;
        }
        for (size_t k = (size_t)a->first; k < (size_t)(a->first + a->count); k++) {
            double coupling = a->scale * lcp->columns[k].scale;
            lcp->M[i * n + k] = -coupling;
            lcp->M[k * n + i] = coupling;
        }
    }
}

crStatus cr__lcp_build(const crProblem* problem, crArena* arena, crLcp* lcp, bool* supported) {
    *lcp = (crLcp){0};
    *supported = supported_blocks(problem);
    if (!*supported) return CR_OK;
    size_t rows = (size_t)problem->rows;
    lcp->columns = cr_arena_alloc(arena, most_columns(problem) * sizeof *lcp->columns);
    lcp->p0 = cr_arena_alloc(arena, rows * sizeof(double));
    double* u0 = cr_arena_alloc(arena, rows * sizeof(double));
    if (lcp->columns == NULL || lcp->p0 == NULL || u0 == NULL) return CR_ERR_MEMORY;
    memset(lcp->p0, 0, rows * sizeof(double));
    lcp->n = list_columns(problem, lcp);
    size_t n = (size_t)lcp->n;
    lcp->M = cr_arena_alloc(arena, n * n * sizeof(double));
    lcp->q = cr_arena_alloc(arena, n * sizeof(double));
    double* W = NULL;
    crStatus status = cr_problem_dense(problem, arena, &W);
    if (status == CR_OK) status = cr_problem_velocity(problem, arena, lcp->p0, u0);
    if (status != CR_OK || lcp->M == NULL || lcp->q == NULL) return CR_ERR_MEMORY;
    if (!problem->raw) scale_columns(problem, W, lcp);
    fill(problem, W, u0, lcp);
    return CR_OK;
}

void cr__lcp_impulses(const crLcp* lcp, int rows, const double* z, double* p) {
    memcpy(p, lcp->p0, (size_t)rows * sizeof(double));
    for (int j = 0; j < lcp->n; j++) {
        const crLcpColumn* column = &lcp->columns[j];
        for (int k = 0; k < 2 && column->row[k] >= 0; k++) {
            p[column->row[k]] += column->g[k] * z[j];
        }
    }
    // a row held at its upper bound is there exactly, not at lo + (hi - lo)
    for (int j = 0; j < lcp->n; j++) {
        const crLcpColumn* column = &lcp->columns[j];
        if (column->kind != CR_LCP_LIMIT || column->owner >= 0) continue;
        double* target = &p[lcp->columns[column->first].row[0]];
        *target = z[j] > 0.0 ? column->g[0] : fmin(column->g[0], *target);
    }
}

double cr__lcp_residual(const double* M, const double* q, int n, int free_count, const double* z) {
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        const double* row = M + (size_t)i * (size_t)n;
        double w = q[i];
        for (int j = 0; j < n; j++) {
            w += row[j] * z[j];
        }
        double r = fabs(i < free_count ? w : fmin(z[i], w));
        worst = r > worst || !(r == r) ? r : worst;
        if (!(r == r)) return (double)INFINITY;
    }
    return worst;
}
