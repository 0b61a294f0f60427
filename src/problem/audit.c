// audit.c - by how much a problem must be changed for given impulses to be its exact solution.
//
// The witness p^ of the impulses p obeys every law of the blocks together with some velocities u^ (witness.c).
// p^ is then an exact solution of the problem with b + db, db = u^ - (u_free + W p^ + b): no property of W is
// used. eta is the largest |db| of a block in m/s. It is compared with the scale of its island: the largest
// velocity that the laws want changed where there are no impulses, at least problem->rest. A change of the
// units of mass, length or time changes no ratio.
// Rounding floors of u_free + b + W p^: 16 eps (|u_free| + |b| + s_i sum_j s_j |p_j|), s_i = sqrt(W_ii), over
// the entries of row i where W is a matrix; where it is an operator k eps (|u_free| + |b| + |J| |Minv| |J|^T |p|)
// with k the lengths of the sums. Source: Higham, Accuracy and Stability, ch. 3 and 7.
// Fails: CR_ERR_MEMORY; anything not finite makes every figure infinite, so a NaN cannot pass for a small one.
#include "problem/audit.h"
#include "base/forest.h"
#include "problem/product.h"
#include "problem/symmetry.h"

#include <string.h>

#define EPS 0x1p-52

// sums of rows

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

// J_row Minv J_row^T
static double row_weight(const crProblem* problem, int row) {
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

// entries of one row of a matrix, dense or compressed
typedef struct Row {
    const double* value;
    const int* col;  // NULL: all columns
    int count;
} Row;

static Row row_of(const crMatrix* A, int i) {
    if (A->start == NULL) return (Row){A->value + (size_t)i * (size_t)A->cols, NULL, A->cols};
    return (Row){A->value + A->start[i], A->col + A->start[i], A->start[i + 1] - A->start[i]};
}

static int col_of(const Row* row, int k) { return row->col == NULL ? k : row->col[k]; }

// y = |A| x, and y += |A|^T x

static void abs_mul(const crMatrix* A, const double* x, double* y) {
    for (int i = 0; i < A->rows; i++) {
        Row row = row_of(A, i);
        double sum = 0.0;
        for (int k = 0; k < row.count; k++) {
            sum += fabs(row.value[k]) * x[col_of(&row, k)];
        }
        y[i] = sum;
    }
}

static void abs_mul_t(const crMatrix* A, const double* x, double* y) {
    memset(y, 0, (size_t)A->cols * sizeof *y);
    for (int i = 0; i < A->rows; i++) {
        Row row = row_of(A, i);
        for (int k = 0; k < row.count; k++) {
            y[col_of(&row, k)] += fabs(row.value[k]) * fabs(x[i]);
        }
    }
}

// islands: trees of union by the lower index

// Returns how many sets have become one with another. full: whether no entry of the row is zero.
static int join_row(int* parent, int node, const crMatrix* A, int i, const int* node_of, int first,
                    bool* full) {
    Row row = row_of(A, i);
    int joined = 0, last = node, root = cr__forest_find(parent, node);
    bool zero = false;
    for (int k = 0; k < row.count; k++) {
        int j = col_of(&row, k), other = node_of != NULL ? node_of[j] : first + j;
        zero |= row.value[k] == 0.0;
        // columns of one block follow each other, and most are joined already
        if (other == last || row.value[k] == 0.0) continue;
        last = other;
        if (parent[other] == root) continue;
        joined += cr__forest_join(parent, root, other);
        root = parent[root];
    }
    *full = !zero;
    return joined;
}

// whether row i of a compressed matrix has the columns of the row before
static bool repeats_columns(const crMatrix* A, int i) {
    int before = A->start[i - 1], begin = A->start[i], count = A->start[i + 1] - begin;
    return begin - before == count &&
           memcmp(A->col + before, A->col + begin, (size_t)count * sizeof *A->col) == 0;
}

static void fill_block_of(const crProblem* problem, int* block_of) {
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        for (int r = block->row; r < block->row + block->count; r++) {
            block_of[r] = i;
        }
    }
}

// Joins block i with those that its rows reach. Returns how many sets have become one with another.
static int join_block(const crAuditor* a, int i, const int* block_of) {
    const crBlock* block = &a->problem->blocks[i];
    bool covered = false;  // true if the row before reaches all blocks of its columns
    int joined = 0;
    for (int r = block->row; r < block->row + block->count; r++) {
        if (covered && (a->W->start == NULL || repeats_columns(a->W, r))) continue;
        joined += join_row(a->island, i, a->W, r, block_of, 0, &covered);
    }
    return joined;
}

// entry (r, r) among the entries of compressed row r from begin to end; guess: where it may be
static inline double diagonal(const crMatrix* A, int r, int begin, int end, int guess) {
    if (guess < end && A->col[guess] == r) return A->value[guess];
    while (end - begin > 1) {
        int middle = begin + (end - begin) / 2;
        if (A->col[middle] <= r) {
            begin = middle;
        } else {
            end = middle;
        }
    }
    return begin < end && A->col[begin] == r ? A->value[begin] : 0.0;
}

static inline double positive(double x) { return x > 0.0 ? x : 0.0; }

// the diagonal of W
static void copy_diagonal(crAuditor* a) {
    const crProblem* problem = a->problem;
    const crMatrix* W = a->W;
    size_t rows = (size_t)problem->rows;
    for (size_t r = 0; W->start == NULL && r < rows; r++) {
        a->weight[r] = positive(W->value[r * (rows + 1)]);
    }
    for (int i = 0; W->start != NULL && i < problem->block_count; i++) {
        int first = problem->blocks[i].row, beyond = first + problem->blocks[i].count;
        for (int r = first; r < beyond; r++) {
            int begin = W->start[r];
            a->weight[r] = positive(diagonal(W, r, begin, W->start[r + 1], begin + r - first));
        }
    }
}

// True if compressed rows of a block have no entry beside its own columns.
static bool is_alone(const crMatrix* W, const crBlock* block) {
    int first = block->row, beyond = first + block->count, begin = W->start[first];
    for (int r = first; r < beyond; r++) {
        int end = W->start[r + 1];
        if (begin < end && (W->col[begin] < first || W->col[end - 1] >= beyond)) return false;
        begin = end;
    }
    return true;
}

// Joins blocks that act on each other through W.
static void join_blocks(crAuditor* a) {
    const crProblem* problem = a->problem;
    int sets = problem->block_count;
    bool filled = false;
    for (int i = 0; i < problem->block_count && sets > 1; i++) {
        if (a->W->start != NULL && is_alone(a->W, &problem->blocks[i])) continue;
        if (!filled) fill_block_of(problem, a->block_of);
        filled = true;
        sets -= join_block(a, i, a->block_of);
    }
}

// The same through the velocities that J and Minv couple.
static void join_operator(crAuditor* a) {
    const crProblem* problem = a->problem;
    int blocks = problem->block_count;
    bool full;
    fill_block_of(problem, a->block_of);
    for (int r = 0; r < problem->rows; r++) {
        join_row(a->island, a->block_of[r], &problem->J, r, NULL, blocks, &full);
    }
    for (int i = 0; i < problem->nv; i++) {
        join_row(a->island, blocks + i, &problem->Minv, i, NULL, blocks, &full);
    }
}

void cr__auditor_islands(crAuditor* a) {
    const crProblem* problem = a->problem;
    if (a->joined) return;
    a->joined = true;
    cr__forest_begin(a->island, problem->block_count + (a->W == NULL ? problem->nv : 0));
    if (a->W != NULL) {
        join_blocks(a);
    } else {
        join_operator(a);
    }
    for (int i = 0; i < problem->block_count; i++) {
        int leader = a->island[i] = cr__forest_find(a->island, i);
        a->scale[leader] = cr__larger(leader == i ? 0.0 : a->scale[leader], a->own[i]);
    }
}

// Scale of block i's island. Islands are found only where the block's own scale is not the largest of all.
static double island_scale(crAuditor* a, int i) {
    if (a->own[i] == a->largest) return a->largest;
    cr__auditor_islands(a);
    return a->scale[a->island[i]];
}

static double q_of(const crProblem* problem, int row) {
    return problem->u_free[row] + (problem->b != NULL ? problem->b[row] : 0.0);
}

// largest velocity that the laws of a block want changed
static double scale_of_block(const crAuditor* a, const crBlock* block) {
    const crProblem* problem = a->problem;
    double q[6], worst = 0.0;
    if (block->kind == CR_BLOCK_CONE) {
        for (int k = 0; k < block->count; k++) {
            q[k] = q_of(problem, block->row + k);
        }
        return cr__witness_scale(block, a->weight + block->row, q);
    }
    // other blocks may have any number of rows
    crBlock part = *block;
    part.count = 1;
    for (int r = block->row; r < block->row + block->count; r++) {
        q[0] = q_of(problem, r);
        worst = cr__larger(worst, cr__witness_scale(&part, a->weight + r, q));
    }
    return worst;
}

static void find_scales(crAuditor* a) {
    const crProblem* problem = a->problem;
    a->largest = problem->rest;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        a->own[i] = problem->rest;
        // a contact that does not close need not change
        if (block->kind == CR_BLOCK_CONE && !(q_of(problem, block->row) < 0.0)) continue;
        a->own[i] = cr__larger(a->own[i], scale_of_block(a, block));
        a->largest = cr__larger(a->largest, a->own[i]);
    }
}

crStatus cr__auditor_create(const crProblem* problem, const crMatrix* W, crArena* arena, crAuditor* a) {
    size_t rows = (size_t)problem->rows + 1, blocks = (size_t)problem->block_count + 1,
           nv = (size_t)problem->nv;
    size_t numbers = 5 * rows + 2 * nv + 2 * blocks;
    *a = (crAuditor){.problem = problem, .W = W};
    if (W == NULL && problem->W.value != NULL) a->W = &problem->W;
    char* memory = cr_arena_alloc(arena, numbers * sizeof(double) + rows * sizeof *a->held +
                                             (2 * blocks + nv + rows) * sizeof(int));
    if (memory == NULL) return CR_ERR_MEMORY;
    a->weight = (double*)(void*)memory;
    a->p_hat = a->weight + rows;
    a->w = a->p_hat + rows;
    a->floor = a->w + rows;
    a->own = a->floor + rows;
    a->scale = a->own + blocks;
    a->work = a->scale + blocks;
    a->held = (crHeld*)(void*)(a->weight + numbers);
    a->busy = (int*)(void*)(a->held + rows);
    a->block_of = a->busy + blocks;
    a->island = a->block_of + rows;
    if (!problem->raw && a->W != NULL) {
        copy_diagonal(a);
    } else {
        for (int r = 0; r < problem->rows; r++) {
            a->weight[r] = problem->raw ? 1.0 : positive(row_weight(problem, r));
        }
    }
    if (!problem->raw) find_scales(a);
    return CR_OK;
}

static void add_multiple(const double* restrict x, double factor, int count, double* restrict y) {
    for (int k = 0; k < count; k++) {
        y[k] += x[k] * factor;
    }
}

// W p where W equals its transpose: row j is column j. The terms of each sum come in the order of cr_matrix_mul; terms
// with an impulse of zero are left out.
static void mul_symmetric(const crMatrix* W, const double* p, double* w) {
    memset(w, 0, (size_t)W->rows * sizeof *w);
    for (int j = 0; j < W->rows; j++) {
        if (p[j] == 0.0) continue;
        Row row = row_of(W, j);
        if (row.col == NULL) {
            add_multiple(row.value, p[j], row.count, w);
            continue;
        }
        for (int k = 0; k < row.count; k++) {
            w[row.col[k]] += row.value[k] * p[j];
        }
    }
}

// whether W is known to equal its transpose
static bool is_symmetric_audit(const crAuditor* a) {
    return a->W != NULL && a->compared && a->asymmetry == 0.0;
}

// w = u_free + b + W p
static void velocity(const crAuditor* a, const double* p, double* w) {
    const crProblem* problem = a->problem;
    if (is_symmetric_audit(a)) {
        mul_symmetric(a->W, p, w);
    } else if (a->W != NULL) {
        cr_matrix_mul(a->W, p, w);
    } else {
        double *force = a->work, *dv = a->work + problem->nv;
        cr__matrix_mul_t(&problem->J, p, force);
        cr_matrix_mul(&problem->Minv, force, dv);
        cr_matrix_mul(&problem->J, dv, w);
    }
    for (int i = 0; i < problem->rows; i++) {
        w[i] += problem->u_free[i];
    }
    for (int i = 0; i < problem->rows && problem->b != NULL; i++) {
        w[i] += problem->b[i];
    }
}

// True if a contact without impulse does not close: its witness is no impulse, and it adds nothing to any figure.
static inline bool opens(const crBlock* block, const double* p, const double* w) {
    bool rests = w[0] == 0.0 && !isinf(block->mu);  // infinite friction may hold it
    if (block->kind != CR_BLOCK_CONE || !(w[0] > 0.0 || rests) || p[0] != 0.0 || p[1] != 0.0) return false;
    bool none = true;
    for (int k = 2; k < block->count; k++) {
        none = none && p[k] == 0.0;
    }
    return none;
}

// Lists the blocks that do not open, from a->w = u_free + b + W p.
static void find_busy(crAuditor* a, const double* p) {
    const crProblem* problem = a->problem;
    int count = 0;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        a->busy[count] = i;
        count += opens(block, p + block->row, a->w + block->row) ? 0 : 1;
    }
    a->busy_count = count;
}

// the witness of p and its velocities, from a->w = u_free + b + W p and its busy blocks
static void make_witness(crAuditor* a, const double* p) {
    const crProblem* problem = a->problem;
    size_t bytes = (size_t)problem->rows * sizeof *p;
    memset(a->p_hat, 0, bytes);
    for (int k = 0; k < a->busy_count; k++) {
        const crBlock* block = &problem->blocks[a->busy[k]];
        int r = block->row;
        cr__witness_make(problem, block, a->weight + r, p + r, a->w + r, a->p_hat + r, a->held + r);
    }
    if (memcmp(a->p_hat, p, bytes) != 0) velocity(a, a->p_hat, a->w);
}

// Defect of block i. at: how many busy blocks come before it; moves on if it is one of them. Returns false if it is open
// and does not close by more than rounding: then it is exact.
static bool defect_of(crAuditor* a, int i, int* at, crDefect* defect) {
    const crBlock* block = &a->problem->blocks[i];
    int r = block->row;
    if (*at < a->busy_count && a->busy[*at] == i) {
        (*at)++;
    } else if (a->w[r] >= a->floor[r]) {
        return false;
    } else {
        cr__witness_open(block, a->p_hat + r, a->held + r);
    }
    *defect = cr__witness_defect(block, a->weight + r, a->held + r, a->w + r, a->floor + r);
    return true;
}

// 0 / 0 is 0: nothing had to change and nothing did
static double relative(double x, double scale) { return x > 0.0 ? x / scale : x == 0.0 ? 0.0 : x; }

static bool all_finite(const double* x, const double* y, int n) {
    // two sums, so that none waits for another
    double of_x = 0.0, of_y = 0.0;
    for (int i = 0; i < n; i++) {
        of_x += 0.0 * x[i];
        of_y += 0.0 * y[i];
    }
    return of_x + of_y == 0.0;
}

double cr__auditor_residual(crAuditor* a, const double* p) {
    const crProblem* problem = a->problem;
    if (problem->raw) {
        crAudit audit = {.worst_block = -1};
        cr__raw_judge(a, p, &audit);
        return audit.residual;
    }
    double worst = 0.0;
    velocity(a, p, a->w);
    find_busy(a, p);
    make_witness(a, p);
    if (!all_finite(p, a->w, problem->rows)) return (double)INFINITY;
    memset(a->floor, 0, (size_t)problem->rows * sizeof *a->floor);
    for (int i = 0, at = 0; i < problem->block_count; i++) {
        crDefect defect;
        if (!defect_of(a, i, &at, &defect)) continue;
        double eta = sqrt(defect.square);
        if (eta != 0.0) worst = cr__larger(worst, relative(eta, island_scale(a, i)));
    }
    return worst;
}

// longest row of a matrix, and of its transpose
static double longest(const crMatrix* A, int* work) {
    int most = A->start == NULL ? A->cols : 0, most_t = A->start == NULL ? A->rows : 0;
    if (A->start == NULL) return (double)most + (double)most_t;
    memset(work, 0, (size_t)A->cols * sizeof *work);
    for (int i = 0; i < A->rows; i++) {
        int count = A->start[i + 1] - A->start[i];
        most = count > most ? count : most;
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            int seen = ++work[A->col[k]];
            most_t = seen > most_t ? seen : most_t;
        }
    }
    return (double)most + (double)most_t;
}

static void operator_floors(crAuditor* a) {
    const crProblem* problem = a->problem;
    double *force = a->work, *dv = a->work + problem->nv;
    double k = longest(&problem->J, (int*)a->work) + longest(&problem->Minv, (int*)a->work) + 3.0;
    abs_mul_t(&problem->J, a->p_hat, force);
    abs_mul(&problem->Minv, force, dv);
    abs_mul(&problem->J, dv, a->floor);
    for (int i = 0; i < problem->rows; i++) {
        a->floor[i] *= k * EPS;
    }
}

// the same where W equals its transpose: row j is column j
static void symmetric_floors(crAuditor* a) {
    const crProblem* problem = a->problem;
    memset(a->floor, 0, (size_t)problem->rows * sizeof *a->floor);
    for (int j = 0; j < problem->rows; j++) {
        if (a->p_hat[j] == 0.0) continue;
        Row row = row_of(a->W, j);
        double pull = sqrt(a->weight[j]) * fabs(a->p_hat[j]);
        for (int k = 0; k < row.count; k++) {
            a->floor[col_of(&row, k)] += row.value[k] != 0.0 ? pull : 0.0;
        }
    }
    for (int i = 0; i < problem->rows; i++) {
        if (a->floor[i] != 0.0) a->floor[i] *= 16.0 * EPS * sqrt(a->weight[i]);
    }
}

static void matrix_floors(crAuditor* a) {
    const crProblem* problem = a->problem;
    double* pull = a->work;  // s_j |p_j|
    for (int j = 0; j < problem->rows; j++) {
        pull[j] = sqrt(a->weight[j]) * fabs(a->p_hat[j]);
    }
    for (int i = 0; i < problem->rows; i++) {
        Row row = row_of(a->W, i);
        double sum = 0.0;
        // an entry of a full row may be zero: it reaches nothing
        for (int k = 0; k < row.count && row.col != NULL; k++) {
            if (row.value[k] != 0.0) sum += pull[row.col[k]];
        }
        for (int k = 0; k < row.count && row.col == NULL; k++) {
            sum += row.value[k] != 0.0 ? pull[k] : 0.0;
        }
        a->floor[i] = 16.0 * EPS * sqrt(a->weight[i]) * sum;
    }
}

// rows that no impulse reaches have exact velocities
static void find_floors(crAuditor* a) {
    const crProblem* problem = a->problem;
    if (is_symmetric_audit(a)) {
        symmetric_floors(a);
    } else if (a->W != NULL) {
        matrix_floors(a);
    } else {
        operator_floors(a);
    }
    for (int i = 0; i < problem->rows; i++) {
        if (!(a->floor[i] > 0.0)) continue;
        a->floor[i] +=
            16.0 * EPS * (fabs(problem->u_free[i]) + (problem->b != NULL ? fabs(problem->b[i]) : 0.0));
    }
}

static void judge_block(crAuditor* a, int i, crDefect defect, crAudit* audit) {
    double eta = sqrt(defect.square), floor = sqrt(defect.floor), scale = island_scale(a, i);
    double residual = relative(eta, scale);
    if (residual > audit->residual) {
        audit->worst_block = i;
        audit->residual = residual;
    }
    audit->most = cr__larger(audit->most, relative(eta + floor, scale));
    if (eta > floor) audit->least = cr__larger(audit->least, relative(eta - floor, scale));
    audit->eta = cr__larger(audit->eta, eta);
    audit->floor = cr__larger(audit->floor, floor);
    audit->permits = cr__larger(audit->permits, defect.permits);
}

// a->w = u_free + b + W p
static void judge_all(crAuditor* a, const double* p, crAudit* audit) {
    const crProblem* problem = a->problem;
    if (problem->raw) {
        cr__raw_judge(a, p, audit);
        return;
    }
    make_witness(a, p);
    find_floors(a);
    audit->worst_block = 0;
    for (int i = 0, at = 0; i < problem->block_count; i++) {
        crDefect defect;
        if (defect_of(a, i, &at, &defect)) judge_block(a, i, defect, audit);
    }
    audit->scale = island_scale(a, audit->worst_block);
    audit->distance = problem->h * audit->eta;
    if (!all_finite(a->w, a->floor, problem->rows)) {
        audit->eta = (double)INFINITY;
    }
}

static double size_of(const double* x, int n) {
    double largest = 0.0, sum = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    if (!(largest > 0.0) || !isfinite(largest)) return largest;
    for (int i = 0; i < n; i++) {
        sum += (x[i] / largest) * (x[i] / largest);
    }
    return largest * sqrt(sum);
}

// |M (v+ - v) - J^T p| / (|J^T p| + |M v|), and its floor from absolute values
static crStatus audit_momentum(const crProblem* problem, crArena* arena, const double* p, crAudit* audit) {
    if (problem->M.value == NULL || problem->v == NULL || problem->J.value == NULL ||
        problem->Minv.value == NULL) {
        return CR_OK;
    }
    int nv = problem->nv;
    double* x = cr_arena_alloc(arena, (size_t)(6 * nv + 1) * sizeof *x);
    int* counts = cr_arena_alloc(arena, (size_t)(nv + 1) * sizeof *counts);
    if (x == NULL || counts == NULL) return CR_ERR_MEMORY;
    double *impulse = x, *dv = x + nv, *gained = x + 2 * nv, *before = x + 3 * nv, *most = x + 4 * nv;
    cr__matrix_mul_t(&problem->J, p, impulse);
    cr_matrix_mul(&problem->Minv, impulse, dv);
    cr_matrix_mul(&problem->M, dv, gained);
    cr_matrix_mul(&problem->M, problem->v, before);
    double size = size_of(impulse, nv) + size_of(before, nv);
    for (int i = 0; i < nv; i++) {
        gained[i] -= impulse[i];
    }
    abs_mul_t(&problem->J, p, most);
    abs_mul(&problem->Minv, most, most + nv);
    abs_mul(&problem->M, most + nv, most);
    double k = longest(&problem->J, counts) + longest(&problem->Minv, counts) + longest(&problem->M, counts);
    if (!(size > 0.0)) return CR_OK;
    audit->momentum = size_of(gained, nv) / size;
    audit->momentum_floor = k * EPS * size_of(most, nv) / size;
    return CR_OK;
}

static crAudit not_finite(void) {
    double bad = (double)INFINITY;
    crAudit audit = {.residual = bad, .least = bad, .most = bad, .eta = bad, .floor = bad, .worst_block = -1};
    audit.distance = audit.permits = audit.scale = audit.asymmetry = audit.momentum = bad;
    audit.momentum_floor = audit.natural = audit.laws.approach = audit.laws.cone = audit.laws.dissipation =
        bad;
    audit.laws.complementarity = audit.energy_change = bad;
    return audit;
}

static bool finite_audit(const crAudit* a) {
    // the residual alone may be infinite: where nothing had to change and something did
    return !isnan(a->residual) &&
           isfinite(a->eta + a->floor + a->permits + a->asymmetry + a->momentum + a->natural) &&
           isfinite(a->laws.approach + a->laws.cone + a->laws.dissipation + a->laws.complementarity +
                    a->energy_change);
}

static crStatus audit_with(crAuditor* a, crArena* arena, double* p, bool keep, crAudit* audit) {
    const crProblem* problem = a->problem;
    velocity(a, p, a->w);
    if (!all_finite(p, a->w, problem->rows)) {
        audit->eta = (double)INFINITY;
        return CR_OK;
    }
    for (int i = 0; i < problem->rows; i++) {
        if (p[i] == 0.0) continue;
        double b = problem->b != NULL ? problem->b[i] : 0.0;
        audit->energy_change += 0.5 * p[i] * (problem->u_free[i] + (a->w[i] - b));
    }
    find_busy(a, p);
    cr__problem_published(a, p, audit);
    judge_all(a, p, audit);
    if (!problem->raw && !a->compared) {
        a->asymmetry = cr_matrix_skew(problem->W.value != NULL ? &problem->W : &problem->Minv, true).relative;
        a->compared = true;
    }
    audit->asymmetry = a->asymmetry;
    if (keep) memcpy(p, a->p_hat, (size_t)problem->rows * sizeof *p);
    return audit_momentum(problem, arena, p, audit);
}

crStatus cr__auditor_audit(crAuditor* a, crArena* arena, double* p, bool keep, crAudit* out) {
    *out = (crAudit){.worst_block = -1};
    if (a->problem->rows == 0) return CR_OK;
    size_t mark = cr_arena_mark(arena);
    crStatus status = audit_with(a, arena, p, keep, out);
    cr_arena_release(arena, mark);
    if (status == CR_OK && !finite_audit(out)) *out = not_finite();
    return status;
}

static crStatus audit(const crProblem* problem, crArena* arena, double* p, bool keep, crAudit* out) {
    if (problem == NULL || arena == NULL || out == NULL || (p == NULL && problem->rows > 0))
        return CR_ERR_ARGUMENT;
    size_t mark = cr_arena_mark(arena);
    crAuditor a;
    crStatus status = cr__auditor_create(problem, NULL, arena, &a);
    if (status == CR_OK) status = cr__auditor_audit(&a, arena, p, keep, out);
    cr_arena_release(arena, mark);
    return status;
}

crStatus cr_problem_witness(const crProblem* problem, crArena* arena, double* p, crAudit* out) {
    return audit(problem, arena, p, true, out);
}

crStatus cr_problem_audit(const crProblem* problem, crArena* arena, const double* p, crAudit* out) {
    return audit(problem, arena, (double*)(uintptr_t)p, false, out);  // p is only written where keep is set
}

crTruth cr_audit_solved(const crAudit* a, double tol) {
    if (a == NULL) return CR_TRUTH_NO;
    crTruth residual = a->most <= tol ? CR_TRUTH_YES : a->least <= tol ? CR_TRUTH_UNSURE : CR_TRUTH_NO;
    crTruth momentum = cr_truth_at_most(a->momentum, a->momentum_floor, tol);
    crTruth symmetry = cr_truth_at_most(a->asymmetry, 0.0, fmax(tol, 1e-12));
    return cr_truth_and(residual, cr_truth_and(momentum, symmetry));
}
