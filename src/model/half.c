// half.c - H with H H^T = W = J M^-1 J^T, row by row along the tree.
//
// M = L^T D L gives H = J L^-1 D^-1/2: the row of a point solves x L = J_row, which runs from each velocity
// down to its ancestors and touches nothing else. A single free body has M = (m, A I A^T), so its columns are
// J/sqrt(m) and A^T J/sqrt(I), A its principal axes. Nothing here depends on how many other bodies there are.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "model/spatial.h"

// every velocity above the columns of a row, descending, into out (or NULL); their number
static int ancestors(const crModel* model, const int* col, int count, int* out) {
    int found = 0;
    // walk the chains of the row's two bodies together, always from the largest that is left
    int i = count - 1;
    int next[2] = {-1, -1};
    while (true) {
        int best = i >= 0 ? col[i] : -1;
        best = next[0] > best ? next[0] : best;
        best = next[1] > best ? next[1] : best;
        if (best < 0) return found;
        int up = model->dof_parent[best];
        if (out != NULL) out[found] = best;
        found++;
        bool was[2] = {next[0] == best, next[1] == best};
        if (i >= 0 && col[i] == best) i--;
        // the chain of `best` goes on in the slot it came from, or in a free one
        int slot = was[0] ? 0 : (was[1] ? 1 : (next[0] < 0 ? 0 : 1));
        if (was[0] && was[1]) next[1] = -1;
        CR_ASSERT(was[slot] || next[slot] < 0);
        next[slot] = up;
    }
}

// the rows of one contact share their columns
static bool like_the_last(const crRows* rows, int r) {
    if (r == 0) return false;
    int start = rows->start[r], count = rows->start[r + 1] - start;
    if (start - rows->start[r - 1] != count) return false;
    return memcmp(rows->col + start, rows->col + start - count, (size_t)count * sizeof(int)) == 0;
}

static void copy_row(const crRows* rows, int r, double* x) {
    for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
        x[rows->col[i]] = rows->value[i];
    }
}

// columns v to v + 5 of a single body
static void single_half(const crBody* body, const crMat3* root, double* x) {
    double share = 1.0 / sqrt(body->mass);
    for (int j = 0; j < 3; j++) {
        x[j] *= share;
    }
    cr__store_vec(cr_mat3_mul(*root, cr__load_vec(x + 3)), x + 3);
}

// x L = row, scaled by D^-1/2, for the velocities listed in ascending order
static void half_solve(const crModel* model, const crDynamics* d, const int* chain, int count, double* x) {
    for (int k = count - 1; k >= 0; k--) {
        int i = chain[k];
        int b = model->dof_body[i];
        const crBody* body = &model->bodies[b];
        if (body->single) {
            if (i == body->v) single_half(body, &d->root[b], x + body->v);
            continue;
        }
        const double* row = d->L + model->row[i];
        for (int j = model->dof_parent[i]; j >= 0; j = model->dof_parent[j]) {
            x[j] -= row[model->dof_depth[j]] * x[i];
        }
        x[i] /= d->pivot[i];
    }
}

// whether these velocities, ascending and with all above them, are one way to a root of a tree
static bool is_path(const crModel* model, const int* chain, int count) {
    if (count == 0) return false;
    int last = chain[count - 1];
    return model->dof_depth[last] == count - 1 && !model->bodies[model->dof_body[last]].single;
}

// the same where the velocities are one path: a row of L lies beside x, ordered by depth
static void path_solve(const crModel* model, const crDynamics* d, const int* chain, int count, double* x) {
    for (int k = count - 1; k >= 0; k--) {
        const double* row = d->L + model->row[chain[k]];
        double share = x[k];
        for (int j = 0; j < k; j++) {
            x[j] -= row[j] * share;
        }
        x[k] = share / d->pivot[chain[k]];
    }
}

// row r over the `width` columns that stand, ascending, at the end of H
static void add_row(const crModel* model, const crDynamics* d, const crRows* rows, int r, int width,
                    crRows* H) {
    const int* chain = H->col + H->entries;
    double* value = H->value + H->entries;
    if (is_path(model, chain, width)) {
        memset(value, 0, (size_t)width * sizeof *value);
        for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
            value[model->dof_depth[rows->col[i]]] = rows->value[i];
        }
        path_solve(model, d, chain, width, value);
    } else {
        double* x = d->work;
        for (int k = 0; k < width; k++) {
            x[chain[k]] = 0.0;
        }
        copy_row(rows, r, x);
        half_solve(model, d, chain, width, x);
        for (int k = 0; k < width; k++) {
            value[k] = x[chain[k]];
        }
    }
    H->entries += width;
    H->start[r + 1] = H->entries;
    H->w_hat[r] = rows->w_hat[r];
    H->gap[r] = rows->gap[r];
    H->count = r + 1;
}

// columns of H of a row with these columns, ascending, into out (or NULL); their number
static int columns(const crModel* model, const int* col, int count, int* out) {
    // a contact with the world has its whole path already
    bool whole = is_path(model, col, count);
    for (int k = 1; k < count && whole; k++) {
        whole = model->dof_parent[col[k]] == col[k - 1];
    }
    if (whole) {
        if (out != NULL) memcpy(out, col, (size_t)count * sizeof *col);
        return count;
    }
    int width = ancestors(model, col, count, out);
    for (int i = 0, j = width - 1; i < j && out != NULL; i++, j--) {
        int swap = out[i];
        out[i] = out[j];
        out[j] = swap;
    }
    return width;
}

crStatus cr_rows_half(const crModel* model, const crDynamics* d, const crRows* rows, crArena* arena,
                      crRows* H) {
    if (model == NULL || d == NULL || rows == NULL || arena == NULL || H == NULL) return CR_ERR_ARGUMENT;
    int entries = 0, width = 0;
    for (int r = 0; r < rows->count; r++) {
        int start = rows->start[r];
        if (!like_the_last(rows, r))
            width = columns(model, rows->col + start, rows->start[r + 1] - start, NULL);
        entries += width;
    }
    crStatus status = cr_rows_create(arena, rows->count, entries, H);
    if (status != CR_OK) return status;
    for (int r = 0; r < rows->count; r++) {
        int start = rows->start[r], count = rows->start[r + 1] - start;
        int* chain = H->col + H->entries;
        if (like_the_last(rows, r)) {
            memcpy(chain, chain - width, (size_t)width * sizeof(int));
        } else {
            width = columns(model, rows->col + start, count, chain);
        }
        add_row(model, d, rows, r, width, H);
    }
    return CR_OK;
}

double cr__half_velocity(const crModel* model, const crDynamics* d, const double* v, int i) {
    const double* row = d->L + model->row[i];
    double sum = v[i];
    for (int j = model->dof_parent[i]; j >= 0; j = model->dof_parent[j]) {
        sum += row[model->dof_depth[j]] * v[j];
    }
    return sqrt(row[model->dof_depth[i]]) * sum;
}
