// apart.c - contacts that do not act on each other, solved one by one.
//
// The first sweep of Gauss-Seidel from zero solves such a problem, and many small ones are of this kind. Nothing is set up
// for them: each contact that closes is cut, solved and judged in one visit, then the others are looked at, whether
// they stay open. The scale of a contact is at most that of its island, so that the residual is a bound.
// Fails: a contact that closes acts on another one, or a block is not a cone: the problem is left to other ways.
#include "apart.h"
#include "relax/local.h"

#include <string.h>

// row of W, compressed or full
typedef struct crApartRow {
    const double* value;
    const int* col;  // NULL: all columns
    int count;
} crApartRow;

static inline crApartRow apart_row(const crMatrix* W, int r) {
    if (W->start == NULL) return (crApartRow){W->value + (size_t)r * (size_t)W->cols, NULL, W->cols};
    return (crApartRow){W->value + W->start[r], W->col + W->start[r], W->start[r + 1] - W->start[r]};
}

static inline double bias_of(const crProblem* problem, int r) {
    return problem->u_free[r] + (problem->b != NULL ? problem->b[r] : 0.0);
}

// Marks p of contacts that close. Returns false if a block is not a cone.
static bool mark_closing(const crProblem* problem, double* p) {
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind != CR_BLOCK_CONE) return false;
        if (bias_of(problem, block->row) >= 0.0) continue;
        for (int k = 0; k < block->count; k++) {
            p[block->row + k] = 1.0;
        }
    }
    return true;
}

// Reads the block's own entries into D (count*count). Returns false if it acts on another contact that closes: p is its
// impulse, or its mark.
static bool read_own(const crProblem* problem, const crBlock* block, const double* p, double* D) {
    int first = block->row, c = block->count;
    memset(D, 0, (size_t)(c * c) * sizeof *D);
    for (int a = 0; a < c; a++) {
        crApartRow row = apart_row(&problem->W, first + a);
        for (int k = 0; k < row.count; k++) {
            int j = row.col == NULL ? k : row.col[k];
            if (j >= first && j < first + c) {
                D[a * c + j - first] = row.value[k];
            } else if (p[j] != 0.0 && row.value[k] != 0.0) {
                return false;
            }
        }
    }
    return true;
}

// w = D p + q
static void own_velocity(const double* D, int c, const double* q, const double* p, double* w) {
    for (int a = 0; a < c; a++) {
        double sum = 0.0;
        for (int b = 0; b < c; b++) {
            sum += D[a * c + b] * p[b];
        }
        w[a] = sum + q[a];
    }
}

// Returns the contact's residual by its own scale.
static double own_residual(const crProblem* problem, const crBlock* block, const double* D, const double* q,
                           const double* p) {
    static const double none[CR_UNIT_ROWS];
    double weight[CR_UNIT_ROWS], w[CR_UNIT_ROWS], p_hat[CR_UNIT_ROWS];
    crHeld held[CR_UNIT_ROWS];
    int c = block->count;
    for (int a = 0; a < c; a++) {
        weight[a] = D[a * (c + 1)] > 0.0 ? D[a * (c + 1)] : 0.0;
    }
    own_velocity(D, c, q, p, w);
    cr__witness_make(problem, block, weight, p, w, p_hat, held);
    if (memcmp(p, p_hat, (size_t)c * sizeof *p) != 0) own_velocity(D, c, q, p_hat, w);
    double scale = cr__witness_scale(block, weight, q);
    if (problem->rest > scale) scale = problem->rest;
    return sqrt(cr__witness_defect(block, weight, held, w, none).square) / scale;
}

// Solves a contact that closes with velocity q. Returns its residual.
static double solve_own(const crProblem* problem, const crBlock* block, const double* D, const double* q,
                        double* p) {
    double E[CR_UNIT_ROWS], scaled[CR_UNIT_ROWS * CR_UNIT_ROWS], q_scaled[CR_UNIT_ROWS];
    crUnit unit;
    int c = block->count;
    cr__unit_cut(problem, block, block->row, c, &unit, E);
    double largest = 0.0, x[CR_UNIT_ROWS] = {0};
    for (int a = 0; a < c; a++) {
        for (int b = 0; b < c; b++) {
            scaled[a * c + b] = E[a] * D[a * c + b] * E[b];
        }
        if (scaled[a * (c + 1)] > largest) largest = scaled[a * (c + 1)];
        q_scaled[a] = E[a] * q[a] + 0.0;  // no -0, as in a sweep, which adds terms that are zero
    }
    unit.D = scaled;
    unit.rho = largest > 0.0 ? 1.0 / largest : 1.0;
    cr__local_solve(&unit, q_scaled, x);
    for (int a = 0; a < c; a++) {
        p[a] = E[a] * x[a];
    }
    return own_residual(problem, block, D, q, p);
}

// Returns the largest residual of contacts that close, INFINITY if one acts on another or is not solved to tol.
static double solve_each(const crProblem* problem, double tol, double* p) {
    double worst = 0.0, D[CR_UNIT_ROWS * CR_UNIT_ROWS], q[CR_UNIT_ROWS];
    if (!mark_closing(problem, p)) return (double)INFINITY;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        int r = block->row;
        if (p[r] == 0.0) continue;
        if (!read_own(problem, block, p, D)) return (double)INFINITY;
        for (int k = 0; k < block->count; k++) {
            q[k] = bias_of(problem, r + k);
        }
        double residual = solve_own(problem, block, D, q, p + r);
        if (!(residual <= tol)) return (double)INFINITY;
        if (residual > worst) worst = residual;
    }
    return worst;
}

// True if the contacts that did not close still do not.
static bool stay_open(const crProblem* problem, const double* p) {
    for (int i = 0; i < problem->block_count; i++) {
        int r = problem->blocks[i].row;
        double q = bias_of(problem, r), sum = 0.0;
        if (q < 0.0) continue;
        crApartRow row = apart_row(&problem->W, r);
        for (int k = 0; k < row.count; k++) {
            sum += row.value[k] * p[row.col == NULL ? k : row.col[k]];
        }
        if (sum + q < 0.0) return false;
    }
    return true;
}

bool cr__solve_apart(const crProblem* problem, double tol, double* p, double* residual) {
    if (problem->W.value == NULL || problem->raw) return false;
    *residual = solve_each(problem, tol, p);
    if (*residual <= tol && stay_open(problem, p)) return true;
    memset(p, 0, (size_t)problem->rows * sizeof *p);
    return false;
}
