// problem.c - checking a problem, and W in the form asked for: product, full matrix or rows.
//
// u = u_free + W p with W a matrix, or u = u_free + J (Minv (J^T p)) where it is an operator.
// Fails: each field that is missing, out of range, of the wrong size or not finite is refused by name.
#include <string.h>

#include "base/argument.h"
#include "product.h"
#include "symmetry.h"

crBlock cr_block(crBlockKind kind, int row, int count) {
    crBlock block = {0};
    block.kind = kind;
    block.row = row;
    block.count = count;
    block.lo = -(double)INFINITY;
    block.hi = (double)INFINITY;
    return block;
}

static bool all_finite_problem(const double* x, size_t n) {
    // NaN and infinity leave NaN behind; four sums, so that none waits for another
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            sum[k] += x[i + k] * 0.0;
        }
    }
    for (; i < n; i++) {
        sum[0] += x[i] * 0.0;
    }
    return sum[0] + sum[1] + sum[2] + sum[3] == 0.0;
}

// whether the columns of a compressed row ascend within the matrix
static inline bool has_row(const crMatrix* A, int i) {
    int begin = A->start[i], end = A->start[i + 1], last = -1;
    // as many as there are columns at most, so that nothing is read beyond what the start says
    bool ok = end >= begin && end - begin <= A->cols;
    for (int k = begin; ok && k < end; k++) {
        ok = A->col[k] > last;
        last = A->col[k];
    }
    return ok && last < A->cols;
}

// the same of all rows
static bool has_rows(const crMatrix* A) {
    int falls =
        0;  // entries whose column does not lie beyond that of the entry before, first ones of rows apart
    for (int i = 0; i < A->rows; i++) {
        int count = A->start[i + 1] - A->start[i];
        if (count < 0 || count > A->cols) return false;
    }
    for (int k = 1; k < A->start[A->rows]; k++) {
        falls += A->col[k] <= A->col[k - 1] ? 1 : 0;
    }
    for (int i = 0; i < A->rows; i++) {
        int begin = A->start[i], end = A->start[i + 1];
        if (begin == end) continue;
        if (A->col[begin] < 0 || A->col[end - 1] >= A->cols) return false;
        if (begin > 0 && A->col[begin] <= A->col[begin - 1]) falls--;
    }
    return falls == 0;
}

static crStatus check_matrix(const crMatrix* A, int rows, int cols, const char* name, crError* error) {
    if (A->rows != rows || A->cols != cols || A->value == NULL) {
        return cr_error_set(error, CR_ERR_SIZE, name, "%s: is %d x %d, must be %d x %d", name, A->rows,
                            A->cols, rows, cols);
    }
    size_t entries = (size_t)rows * (size_t)cols;
    if (A->start != NULL) {
        if (A->start[0] != 0) return cr_error_set(error, CR_ERR_SIZE, name, "%s: rows must start at 0", name);
        bool fine = has_rows(A);
        for (int i = 0; !fine && i < rows; i++) {
            if (has_row(A, i)) continue;
            return cr_error_set(error, CR_ERR_SIZE, name, "%s: columns of row %d must ascend within 0 to %d",
                                name, i, cols - 1);
        }
        entries = (size_t)A->start[rows];
    }
    if (!all_finite_problem(A->value, entries)) {
        return cr_error_set(error, CR_ERR_FINITE, name, "%s: every entry must be finite", name);
    }
    return CR_OK;
}

// convex, counter-clockwise, around the origin
static crStatus check_polygon(const double (*v)[2], int count, int index, crError* error) {
    if (!all_finite_problem(v[0], 2 * (size_t)count)) {
        return cr_error_set(error, CR_ERR_FINITE, "vertices", "vertices: those of block %d must be finite",
                            index);
    }
    double largest = 0.0;
    for (int i = 0; i < 2 * count; i++) {
        largest = fmax(largest, fabs(v[i / 2][i % 2]));
    }
    double slack = 1e-12 * largest * largest;
    for (int i = 0; i < count; i++) {
        const double* a = v[i];
        const double* b = v[(i + 1) % count];
        const double* c = v[(i + 2) % count];
        double turn = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
        if (!(turn >= -slack) || !(a[0] * b[1] - a[1] * b[0] >= -slack)) {
            return cr_error_set(error, CR_ERR_RANGE, "vertices",
                                "vertices: those of block %d must go counter-clockwise around the origin",
                                index);
        }
    }
    return CR_OK;
}

static crStatus check_cone(const crProblem* problem, const crBlock* block, int index, crError* error) {
    int tangents = block->count - 1 - block->spin - 2 * block->roll;
    if (tangents < 1 || tangents > 2) {
        return cr_error_set(error, CR_ERR_SIZE, "count",
                            "count: cone block %d has %d tangents, must be 1 or 2", index, tangents);
    }
    bool limits =
        (block->mu >= 0.0) & (block->mu2 >= 0.0) & (block->mu_spin >= 0.0) & (block->mu_roll >= 0.0);
    if (!limits) {
        return cr_error_set(error, CR_ERR_RANGE, "mu",
                            "mu: cone block %d has mu = %g, all limits must be >= 0", index, block->mu);
    }
    if (block->vertex_count == 0) return CR_OK;
    if (block->vertex_count < 3 || tangents != 2 || problem->vertices == NULL || block->vertex < 0) {
        return cr_error_set(error, CR_ERR_SIZE, "vertices",
                            "vertices: cone block %d has %d, must be 0 or >= 3", index, block->vertex_count);
    }
    return check_polygon(problem->vertices + block->vertex, block->vertex_count, index, error);
}

static bool is_range(double lo, double hi) {
    return lo <= hi && lo < (double)INFINITY && hi > -(double)INFINITY;
}

static crStatus check_block(const crProblem* problem, int index, int row, crError* error) {
    const crBlock* block = &problem->blocks[index];
    if (block->row != row || block->count < 1 || block->count > problem->rows - row) {
        return cr_error_set(error, CR_ERR_SIZE, "blocks",
                            "blocks: block %d covers %d rows from %d, must start at %d", index, block->count,
                            block->row, row);
    }
    if (block->kind == CR_BLOCK_BOX && !is_range(block->lo, block->hi)) {
        return cr_error_set(error, CR_ERR_RANGE, "lo", "lo: block %d has lo = %g and hi = %g, an empty range",
                            index, block->lo, block->hi);
    }
    bool restitution = (block->e >= 0.0) & (block->et >= -1.0) & (block->et <= 1.0);
    if (!restitution) {
        return cr_error_set(error, CR_ERR_RANGE, "e",
                            "e: block %d has e = %g, et = %g; must be >= 0 and in [-1, 1]", index, block->e,
                            block->et);
    }
    if (block->kind == CR_BLOCK_CONE) return check_cone(problem, block, index, error);
    return CR_OK;
}

crStatus cr_problem_check(const crProblem* problem, crError* error) {
    bool symmetric;
    return cr__problem_check(problem, &symmetric, error);
}

crStatus cr__problem_check(const crProblem* problem, bool* symmetric, crError* error) {
    *symmetric = false;
    if (problem == NULL) return cr__missing(error, "problem");
    int n = problem->rows;
    if (n < 0 || problem->block_count < 0 || problem->nv < 0 ||
        (n > 0 && (problem->blocks == NULL || problem->u_free == NULL))) {
        return cr_error_set(error, CR_ERR_ARGUMENT, "rows", "rows: is %d, blocks and u_free must be given",
                            n);
    }
    int row = 0;
    for (int i = 0; i < problem->block_count; i++) {
        crStatus status = check_block(problem, i, row, error);
        if (status != CR_OK) return status;
        row += problem->blocks[i].count;
    }
    if (row != n) return cr_error_set(error, CR_ERR_SIZE, "blocks", "blocks: cover %d of %d rows", row, n);
    if (!all_finite_problem(problem->u_free, (size_t)n)) {
        return cr_error_set(error, CR_ERR_FINITE, "u_free", "u_free: every entry must be finite");
    }
    if (problem->b != NULL && !all_finite_problem(problem->b, (size_t)n)) {
        return cr_error_set(error, CR_ERR_FINITE, "b", "b: every entry must be finite");
    }
    if (n == 0) return CR_OK;
    crStatus status = CR_OK;
    if (problem->W.value != NULL) {
        status = check_matrix(&problem->W, n, n, "W", error);
        if (status == CR_OK && !problem->raw) {
            status = cr__check_symmetry(&problem->W, "W", CR_W_ASYMMETRY, false, symmetric, error);
        }
    } else {
        status = check_matrix(&problem->J, n, problem->nv, "J", error);
        if (status == CR_OK) status = check_matrix(&problem->Minv, problem->nv, problem->nv, "Minv", error);
        if (status == CR_OK) {
            status = cr__check_symmetry(&problem->Minv, "Minv", CR_MINV_ASYMMETRY, false, symmetric, error);
        }
    }
    if (status == CR_OK && problem->M.value != NULL) {
        status = check_matrix(&problem->M, problem->nv, problem->nv, "M", error);
        if (status == CR_OK) status = cr__check_symmetry(&problem->M, "M", CR_M_ASYMMETRY, true, NULL, error);
    }
    if (status == CR_OK && problem->v != NULL && !all_finite_problem(problem->v, (size_t)problem->nv)) {
        status = cr_error_set(error, CR_ERR_FINITE, "v", "v: every entry must be finite");
    }
    return status;
}

crStatus cr_problem_velocity(const crProblem* problem, crArena* arena, const double* p, double* u) {
    if (problem == NULL || arena == NULL || (problem->rows > 0 && (p == NULL || u == NULL)))
        return CR_ERR_ARGUMENT;
    if (problem->rows == 0) return CR_OK;
    if (problem->W.value != NULL) {
        cr_matrix_mul(&problem->W, p, u);
    } else {
        size_t mark = cr_arena_mark(arena);
        double* force = cr_arena_alloc(arena, (size_t)problem->nv * sizeof(double));
        double* dv = cr_arena_alloc(arena, (size_t)problem->nv * sizeof(double));
        if (force == NULL || dv == NULL) {
            cr_arena_release(arena, mark);
            return CR_ERR_MEMORY;
        }
        cr__matrix_mul_t(&problem->J, p, force);
        cr_matrix_mul(&problem->Minv, force, dv);
        cr_matrix_mul(&problem->J, dv, u);
        cr_arena_release(arena, mark);
    }
    for (int i = 0; i < problem->rows; i++) {
        u[i] += problem->u_free[i];
    }
    return CR_OK;
}

crStatus cr_problem_apply(const crProblem* problem, crArena* arena, const double* p, double* v_plus) {
    if (problem == NULL || arena == NULL || v_plus == NULL || (problem->rows > 0 && p == NULL))
        return CR_ERR_ARGUMENT;
    if (problem->v == NULL || problem->J.value == NULL || problem->Minv.value == NULL) return CR_ERR_ARGUMENT;
    size_t mark = cr_arena_mark(arena);
    double* force = cr_arena_alloc(arena, (size_t)problem->nv * sizeof(double));
    if (force == NULL) return CR_ERR_MEMORY;
    cr__matrix_mul_t(&problem->J, p, force);
    cr_matrix_mul(&problem->Minv, force, v_plus);
    for (int i = 0; i < problem->nv; i++) {
        v_plus[i] += problem->v[i];
    }
    cr_arena_release(arena, mark);
    return CR_OK;
}

// one column of W = J Minv J^T
static void operator_column(const crProblem* problem, int j, double* row, double* dv, double* column) {
    const crMatrix* J = &problem->J;
    memset(row, 0, (size_t)problem->nv * sizeof *row);
    if (J->start == NULL) {
        memcpy(row, J->value + (size_t)j * (size_t)J->cols, (size_t)J->cols * sizeof *row);
    } else {
        for (int k = J->start[j]; k < J->start[j + 1]; k++) {
            row[J->col[k]] = J->value[k];
        }
    }
    cr_matrix_mul(&problem->Minv, row, dv);
    cr_matrix_mul(J, dv, column);
}

crStatus cr_problem_dense(const crProblem* problem, crArena* arena, double** out) {
    if (problem == NULL || arena == NULL || out == NULL) return CR_ERR_ARGUMENT;
    size_t n = (size_t)problem->rows;
    size_t nv = (size_t)problem->nv;
    double* W = cr_arena_alloc(arena, n * n * sizeof(double));
    if (W == NULL) return CR_ERR_MEMORY;
    *out = W;
    if (problem->W.value != NULL && problem->W.start == NULL) {
        memcpy(W, problem->W.value, n * n * sizeof(double));
        return CR_OK;
    }
    if (problem->W.value != NULL) {
        memset(W, 0, n * n * sizeof(double));
        for (size_t i = 0; i < n; i++) {
            for (int k = problem->W.start[i]; k < problem->W.start[i + 1]; k++) {
                W[i * n + (size_t)problem->W.col[k]] = problem->W.value[k];
            }
        }
        return CR_OK;
    }
    size_t mark = cr_arena_mark(arena);
    double* row = cr_arena_alloc(arena, nv * sizeof(double));
    double* dv = cr_arena_alloc(arena, nv * sizeof(double));
    double* column = cr_arena_alloc(arena, n * sizeof(double));
    if (row == NULL || dv == NULL || column == NULL) {
        cr_arena_release(arena, mark);
        return CR_ERR_MEMORY;
    }
    for (size_t j = 0; j < n; j++) {
        operator_column(problem, (int)j, row, dv, column);
        for (size_t i = 0; i < n; i++) {
            W[i * n + j] = column[i];
        }
    }
    cr_arena_release(arena, mark);
    return CR_OK;
}

static size_t count_entries(const double* W, size_t count) {
    // two counts, so that none waits for another
    size_t entries[2] = {0, 0}, i = 0;
    for (; i + 2 <= count; i += 2) {
        entries[0] += W[i] != 0.0 ? 1 : 0;
        entries[1] += W[i + 1] != 0.0 ? 1 : 0;
    }
    return entries[0] + entries[1] + (i < count && W[i] != 0.0 ? 1 : 0);
}

// entries of one row from `at` on; without branches, so it may write one place past the last entry
static size_t compress(const double* row, size_t n, double* values, int* columns, size_t at) {
    for (size_t j = 0; j < n; j++) {
        values[at] = row[j];
        columns[at] = (int)j;
        at += row[j] != 0.0 ? 1 : 0;
    }
    return at;
}

crStatus cr_problem_sparse(const crProblem* problem, crArena* arena, crMatrix* out) {
    if (problem == NULL || arena == NULL || out == NULL) return CR_ERR_ARGUMENT;
    if (problem->W.value != NULL && problem->W.start != NULL) {
        *out = problem->W;
        return CR_OK;
    }
    if (problem->W.value == NULL && problem->J.start != NULL) return cr__problem_product(problem, arena, out);
    size_t n = (size_t)problem->rows;
    size_t mark = cr_arena_mark(arena);
    const double* dense = problem->W.value;
    if (dense == NULL) {
        double* formed = NULL;
        crStatus status = cr_problem_dense(problem, arena, &formed);
        if (status != CR_OK) return status;
        dense = formed;
    }
    size_t entries = count_entries(dense, n * n);
    bool full = entries == n * n;  // then the rows stay where they are
    int* start = cr_arena_alloc(arena, (n + 1) * sizeof(int));
    int* columns = cr_arena_alloc(arena, (entries + 1) * sizeof(int));
    double* values = full ? NULL : cr_arena_alloc(arena, (entries + 1) * sizeof(double));
    if (start == NULL || columns == NULL || (values == NULL && !full)) {
        cr_arena_release(arena, mark);
        return CR_ERR_MEMORY;
    }
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        start[i] = (int)at;
        for (size_t j = 0; full && j < n; j++) {
            columns[i * n + j] = (int)j;
        }
        at = full ? at + n : compress(dense + i * n, n, values, columns, at);
    }
    start[n] = (int)at;
    *out = (crMatrix){problem->rows, problem->rows, start, columns, full ? dense : values};
    return CR_OK;
}
