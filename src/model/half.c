// half.c - H with H H^T = W = J M^-1 J^T, row by row along the tree.
//
// M = L^T D L gives H = J L^-1 D^-1/2: the row of a point solves x L = J_row, which runs from each velocity down to its
// ancestors and touches nothing else. A single free body has M = (m, A I A^T), so its columns are J/sqrt(m) and
// A^T J/sqrt(I), A its principal axes. Nothing here depends on how many other bodies there are.
// Fails: CR_ERR_MEMORY.
#include "model/spatial.h"

// every velocity above the columns of a row, descending, into col; their number
static int ancestors(const crModel* model, const int* col, int count, int* out) {
    int found = 0;
    // walk the chains of the row's columns together, always from the largest that is left
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
        next[slot] = up;
    }
}

static void copy_row(const crRows* rows, int r, double* x) {
    for (int i = rows->start[r]; i < rows->start[r + 1]; i++) {
        x[rows->col[i]] = rows->value[i];
    }
}

// columns v to v + 5 of a single body
static void single_half(const crBody* body, const crDynamics* d, int b, double* x) {
    for (int j = 0; j < 3; j++) {
        x[j] /= sqrt(body->mass);
    }
    crQuat A = cr_quat_mul(d->pose[b].q, body->axes);
    crVec3 a = cr_quat_rotate(cr_quat_conj(A), cr__load_vec(x + 3));
    const double* I = body->principal;
    cr__store_vec(cr_vec3(a.x / sqrt(I[0]), a.y / sqrt(I[1]), a.z / sqrt(I[2])), x + 3);
}

// x L = row, scaled by D^-1/2, for the velocities listed in descending order
static void half_solve(const crModel* model, const crDynamics* d, const int* chain, int count, double* x) {
    for (int k = 0; k < count; k++) {
        int i = chain[k];
        int b = model->dof_body[i];
        const crBody* body = &model->bodies[b];
        if (body->single) {
            if (i == body->v) single_half(body, d, b, x + body->v);
            continue;
        }
        const double* row = d->L + model->row[i];
        for (int j = model->dof_parent[i]; j >= 0; j = model->dof_parent[j]) {
            x[j] -= row[model->dof_depth[j]] * x[i];
        }
        x[i] /= sqrt(row[model->dof_depth[i]]);
    }
}

crStatus cr_rows_half(const crModel* model, const crDynamics* d, const crRows* rows, crArena* arena,
                      crRows* H) {
    if (model == NULL || d == NULL || rows == NULL || arena == NULL || H == NULL) return CR_ERR_ARGUMENT;
    int entries = 0;
    for (int r = 0; r < rows->count; r++) {
        int start = rows->start[r];
        entries += ancestors(model, rows->col + start, rows->start[r + 1] - start, NULL);
    }
    crStatus status = cr_rows_create(arena, rows->count, entries, H);
    if (status != CR_OK) return status;
    double* x = d->work;
    for (int r = 0; r < rows->count; r++) {
        int start = rows->start[r], first = H->entries;
        int* chain = H->col + first;
        int count = ancestors(model, rows->col + start, rows->start[r + 1] - start, chain);
        for (int k = 0; k < count; k++) {
            x[chain[k]] = 0.0;
        }
        copy_row(rows, r, x);
        half_solve(model, d, chain, count, x);
        // ascending order
        for (int k = 0; k < count / 2; k++) {
            int swap = chain[k];
            chain[k] = chain[count - 1 - k];
            chain[count - 1 - k] = swap;
        }
        for (int k = 0; k < count; k++) {
            H->value[first + k] = x[chain[k]];
        }
        H->entries += count;
        H->start[r + 1] = H->entries;
        H->w_hat[r] = rows->w_hat[r];
        H->gap[r] = rows->gap[r];
    }
    H->count = rows->count;
    return CR_OK;
}
