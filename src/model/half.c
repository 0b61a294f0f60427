// half.c - H with H H^T = W = J M^-1 J^T, row by row along the tree.
//
// M = L^T D L gives H = J L^-1 D^-1/2: the row of a point solves x L = J_row, which runs from each velocity
// down to its ancestors and touches nothing else. A single free body has M = (m, A I A^T), so its columns are
// J/sqrt(m) and A^T J/sqrt(I), A its principal axes. Nothing here depends on how many other bodies there are.
// Fails: CR_ERR_MEMORY.
#include <string.h>

#include "model/deep.h"

#define RUN 3  // rows that are solved side by side

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
        int up = model->velocity.parent[best];
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

// rows r to the end of a run that share their columns, as those of one contact do; at most RUN
static int run_end(const crRows* rows, int r) {
    int start = rows->start[r], count = rows->start[r + 1] - start, end = r + 1;
    while (end < rows->count && end < r + RUN) {
        int at = rows->start[end];
        if (rows->start[end + 1] - at != count) break;
        if (memcmp(rows->col + at, rows->col + start, (size_t)count * sizeof(int)) != 0) break;
        end++;
    }
    return end;
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
        int b = model->velocity.body[i];
        const crBody* body = &model->bodies[b];
        if (body->single) {
            if (i == body->v) single_half(body, &d->root[b], x + body->v);
            continue;
        }
        if (cr__is_deep(model, b)) {
            cr__deep_half(model, d, i, x);
            continue;
        }
        const double* row = d->mass.L + model->velocity.row[i];
        const int* path = d->mass.path + model->velocity.row[i];
        double share = x[i];
        for (int m = 0; m < model->velocity.depth[i]; m++) {
            x[path[m]] -= row[m] * share;
        }
        x[i] = share / d->mass.pivot[i];
    }
}

// whether these velocities, ascending and with all above them, are one way to a root of a tree
static bool is_path(const crModel* model, const int* chain, int count) {
    if (count == 0) return false;
    int last = chain[count - 1];
    return model->velocity.depth[last] == count - 1 && !model->bodies[model->velocity.body[last]].single;
}

// whether these velocities are all there are from a root down to the last of them
static bool is_whole_path(const crModel* model, const crDynamics* d, const int* chain, int count) {
    if (!is_path(model, chain, count) || model->velocity.row[chain[count - 1]] < 0) return false;
    const int* above = d->mass.path + model->velocity.row[chain[count - 1]];
    for (int k = 0; k < count; k++) {
        if (above[k] != chain[k]) return false;
    }
    return !cr__is_deep(model, model->velocity.body[chain[0]]);
}

// Velocities of two bodies in two trees are two paths, ascending: how many of them are the first, 0 where it is otherwise.
static int first_of_two(const crModel* model, const crDynamics* d, const int* col, int count) {
    int first = count > 0 ? count - 1 - model->velocity.depth[col[count - 1]] : 0;
    if (first <= 0) return 0;
    return is_whole_path(model, d, col, first) && is_whole_path(model, d, col + first, count - first) ? first
                                                                                                      : 0;
}

static inline void subtract(double share, const double* restrict row, int count, double* restrict x) {
    for (int j = 0; j < count; j++) {
        x[j] -= row[j] * share;
    }
}

// the same where the velocities are one path, for one row: a row of L lies beside x, ordered by depth
static void path_solve(const crModel* model, const crDynamics* d, const int* chain, int count, double* x) {
    if (cr__is_deep(model, model->velocity.body[chain[0]])) {
        cr__deep_path_half(d, chain, count, x);
        return;
    }
    for (int k = count - 1; k >= 0; k--) {
        double share = x[k];
        subtract(share, d->mass.L + model->velocity.row[chain[k]], k, x);
        x[k] = share / d->mass.pivot[chain[k]];
    }
}

// and for three rows at once, `stride` apart
static void path_solve3(const crModel* model, const crDynamics* d, const int* chain, int count, int stride,
                        double* restrict x) {
    double* restrict y = x + stride;
    double* restrict z = y + stride;
    for (int k = count - 1; k >= 0; k--) {
        const double* restrict row = d->mass.L + model->velocity.row[chain[k]];
        double pivot = d->mass.pivot[chain[k]], sx = x[k], sy = y[k], sz = z[k];
        for (int j = 0; j < k; j++) {
            x[j] -= row[j] * sx;
            y[j] -= row[j] * sy;
            z[j] -= row[j] * sz;
        }
        x[k] = sx / pivot;
        y[k] = sy / pivot;
        z[k] = sz / pivot;
    }
}

// three rows of two paths, of which neither knows the other; the first has `first` velocities
static void add_two_paths(const crModel* model, const crDynamics* d, const crRows* rows, int r, int first,
                          int width, double* value) {
    int start = rows->start[r];
    const int* chain = rows->col + start;
    memcpy(value, rows->value + start, (size_t)(3 * width) * sizeof *value);
    path_solve3(model, d, chain, first, width, value);
    path_solve3(model, d, chain + first, width - first, width, value + first);
}

// rows that are one path
static void add_paths(const crModel* model, const crDynamics* d, const crRows* rows, int r, int end,
                      const int* chain, int width, double* value) {
    size_t bytes = (size_t)((end - r) * width) * sizeof *value;
    int start = rows->start[r], count = rows->start[r + 1] - start;
    if (count == width) {
        memcpy(value, rows->value + start, bytes);
    } else {
        memset(value, 0, bytes);
    }
    for (int k = r; k < end && count < width; k++) {
        for (int i = rows->start[k]; i < rows->start[k + 1]; i++) {
            value[(k - r) * width + model->velocity.depth[rows->col[i]]] = rows->value[i];
        }
    }
    if (end - r == 3 && !cr__is_deep(model, model->velocity.body[chain[0]])) {
        path_solve3(model, d, chain, width, width, value);
        return;
    }
    for (int k = r; k < end; k++) {
        path_solve(model, d, chain, width, value + (k - r) * width);
    }
}

static void add_branched(const crModel* model, const crDynamics* d, const crRows* rows, int r,
                         const int* chain, int width, double* value) {
    double* x = d->scratch.v;
    for (int k = 0; k < width; k++) {
        x[chain[k]] = 0.0;
        cr__deep_clear(model, model->velocity.body[chain[k]], d);
    }
    for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
        x[rows->col[i]] = rows->value[i];
    }
    half_solve(model, d, chain, width, x);
    for (int k = 0; k < width; k++) {
        value[k] = x[chain[k]];
    }
}

// rows r to end - 1 over the `width` columns that stand, ascending, at the end of H
static void add_rows(const crModel* model, const crDynamics* d, const crRows* rows, int r, int end, int width,
                     crRows* H) {
    const int* chain = H->col + H->entries;
    double* value = H->value + H->entries;
    bool path = is_path(model, chain, width);
    bool whole = !path && end - r == 3 && rows->start[r + 1] - rows->start[r] == width;
    int first = whole ? first_of_two(model, d, chain, width) : 0;
    if (path) add_paths(model, d, rows, r, end, chain, width, value);
    if (first > 0) add_two_paths(model, d, rows, r, first, width, value);
    path = path || first > 0;
    for (int k = r; k < end; k++) {
        if (!path) add_branched(model, d, rows, k, chain, width, H->value + H->entries);
        if (k > r) memcpy(H->col + H->entries, chain, (size_t)width * sizeof *chain);
        H->entries += width;
        H->start[k + 1] = H->entries;
        H->w_hat[k] = rows->w_hat[k];
        H->gap[k] = rows->gap[k];
    }
    H->count = end;
}

// columns of H of a row with these columns, ascending, into out (or NULL); their number
static int columns(const crModel* model, const crDynamics* d, const int* col, int count, int* out) {
    // what is above one body of a tree is its path
    int tip = count > 0 ? col[count - 1] : -1;
    bool path = tip >= 0 && !model->bodies[model->velocity.body[tip]].single && model->velocity.row[tip] >= 0;
    const int* above = path ? d->mass.path + model->velocity.row[tip] : NULL;
    for (int k = 0; k < count && path; k++) {
        int depth = model->velocity.depth[col[k]];
        path = depth <= model->velocity.depth[tip] && above[depth] == col[k];
    }
    if (path) {
        int length = model->velocity.depth[tip] + 1;
        if (out != NULL) memcpy(out, above, (size_t)length * sizeof *out);
        return length;
    }
    if (first_of_two(model, d, col, count) > 0) {
        if (out != NULL) memcpy(out, col, (size_t)count * sizeof *out);
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
    if (!cr__dynamics_fits(model, d) || rows == NULL || arena == NULL || H == NULL) return CR_ERR_ARGUMENT;
    int64_t entries = 0;
    for (int r = 0, end; r < rows->count; r = end) {
        int start = rows->start[r];
        end = run_end(rows, r);
        entries +=
            (int64_t)(end - r) * columns(model, d, rows->col + start, rows->start[r + 1] - start, NULL);
    }
    if (entries > INT32_MAX) return CR_ERR_LIMIT;
    crStatus status = cr_rows_create(arena, rows->count, (int)entries, H);
    if (status != CR_OK) return status;
    for (int r = 0, end; r < rows->count; r = end) {
        int start = rows->start[r];
        end = run_end(rows, r);
        int width = columns(model, d, rows->col + start, rows->start[r + 1] - start, H->col + H->entries);
        add_rows(model, d, rows, r, end, width, H);
    }
    return CR_OK;
}

void cr__half_velocities(const crModel* model, const crDynamics* d, int b, const double* v, double* z) {
    const crBody* body = &model->bodies[b];
    if (cr__is_deep(model, b)) {
        cr__deep_velocities(model, d, b, v, z);
        return;
    }
    for (int i = body->v; i < body->v + body->nv; i++) {
        const double* row = d->mass.L + model->velocity.row[i];
        const int* path = d->mass.path + model->velocity.row[i];
        double sum = v[i];
        for (int k = 0; k < model->velocity.depth[i]; k++) {
            sum += row[k] * v[path[k]];
        }
        z[i - body->v] = d->mass.pivot[i] * sum;
    }
}
