// write.c - a friction problem in FCLIB's HDF5 layout (see read.c), with its solution where there is one.
//
// Blocks must be circular cones of one size and equalities; contacts are written first. Cones have 2 or 3 rows, or
// with rolling friction 5, or n, t and a spin row in the plane. With J, M and v it is the global form: H = J^T, f = M v, w and b what u_free has beyond J v. Otherwise the
// local one, with W formed where it is an operator. The bias is added to q. Matrices are written as
// compressed columns, which every reader of the format agrees on. Fails: what the format cannot hold is
// refused by the block; file where it cannot be written.
#include "dataset.h"
#include "io/entries.h"
#include "io/problem_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct Writer {
    const crProblem* problem;
    crArena arena;
    int d;           // rows of a contact
    bool rolls;      // true if contacts have rolling friction
    int contacts;    // rows of contacts
    int equalities;  // rows of equalities
    int* place;      // of each row among contacts, or after all of them among equalities (rows)
    crError* error;
} Writer;

// of rolling; the one rolling row of a planar contact is its spin row
static double limit_of(const crBlock* block) { return block->roll ? block->mu_roll : block->mu_spin; }

static crStatus check_blocks(Writer* w) {
    const crProblem* problem = w->problem;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        if (block->kind == CR_BLOCK_EQUALITY) {
            w->equalities += block->count;
            continue;
        }
        bool planar = block->spin && !block->roll && block->count == 3;
        bool rolls = planar || (block->roll && block->count == 5);
        bool round = block->kind == CR_BLOCK_CONE && block->vertex_count == 0 && isfinite(block->mu) &&
                     (block->count == 2 || planar || block->mu2 == block->mu) &&
                     (rolls ? isfinite(limit_of(block)) : !block->spin && !block->roll);
        if (!round || (w->d != 0 && (block->count != w->d || rolls != w->rolls))) {
            return cr_error_set(
                w->error, CR_ERR_ARGUMENT, "dump",
                "dump: fclib holds circular cones of one size and equalities; block %d is another", i);
        }
        w->d = block->count;
        w->rolls = rolls;
        w->contacts += block->count;
    }
    if (w->contacts == 0 || problem->raw) {
        return cr_error_set(w->error, CR_ERR_ARGUMENT, "dump",
                            "dump: fclib holds contacts with friction; this has none");
    }
    return CR_OK;
}

static crStatus place_rows(Writer* w) {
    w->place = cr_arena_alloc(&w->arena, (size_t)w->problem->rows * sizeof(int));
    if (w->place == NULL) return CR_ERR_MEMORY;
    int contact = 0;
    int equality = w->contacts;
    for (int i = 0; i < w->problem->block_count; i++) {
        const crBlock* block = &w->problem->blocks[i];
        for (int k = 0; k < block->count; k++) {
            w->place[block->row + k] = block->kind == CR_BLOCK_EQUALITY ? equality++ : contact++;
        }
    }
    return CR_OK;
}

// columns of a part of A: rows and columns from `row` and `col` on, after the rows have taken their places
typedef struct Part {
    const char* name;
    const crMatrix* A;
    int row, rows, col, cols;
    bool place_rows, place_cols;
    bool transposed;
} Part;

static bool put_columns(hid_t parent, const char* name, const crMatrix* columns) {
    hid_t group = H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int count = columns->start[columns->rows];
    int nz = -1;
    bool good = group >= 0 && cr__hdf5_put_ints(group, "nzmax", &count, 1) &&
                cr__hdf5_put_ints(group, "m", &columns->cols, 1) &&
                cr__hdf5_put_ints(group, "n", &columns->rows, 1) && cr__hdf5_put_ints(group, "nz", &nz, 1) &&
                cr__hdf5_put_ints(group, "p", columns->start, (size_t)columns->rows + 1) &&
                cr__hdf5_put_ints(group, "i", columns->col, (size_t)count) &&
                cr__hdf5_put_doubles(group, "x", columns->value, (size_t)count);
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool put_part(Writer* w, hid_t parent, Part part) {
    const crMatrix* A = part.A;
    size_t stored = A->start != NULL ? (size_t)A->start[A->rows] : (size_t)A->rows * (size_t)A->cols;
    crEntry* entries = malloc((stored + 1) * sizeof *entries);
    if (entries == NULL) return false;
    size_t count = 0;
    for (int i = 0; i < A->rows; i++) {
        int first = A->start == NULL ? 0 : A->start[i];
        int end = A->start == NULL ? A->cols : A->start[i + 1];
        for (int k = first; k < end; k++) {
            int j = A->start == NULL ? k : A->col[k];
            double value = A->start == NULL ? cr_matrix_at(A, i, j) : A->value[k];
            int row = (part.place_rows ? w->place[i] : i) - part.row;
            int col = (part.place_cols ? w->place[j] : j) - part.col;
            if (value == 0.0 || row < 0 || row >= part.rows || col < 0 || col >= part.cols) continue;
            // rows of the transpose are the columns
            entries[count++] =
                part.transposed ? (crEntry){row, col, value, NULL} : (crEntry){col, row, value, NULL};
        }
    }
    crMatrix columns;
    int m = part.transposed ? part.cols : part.rows, n = part.transposed ? part.rows : part.cols;
    bool good = cr__entries_compress(entries, count, n, m, &w->arena, &columns, NULL) == CR_OK &&
                put_columns(parent, part.name, &columns);
    free(entries);
    return good;
}

// the rows of x in their places, contacts or equalities
static bool put_rows(const Writer* w, hid_t group, const char* name, const double* x, bool equalities) {
    int count = equalities ? w->equalities : w->contacts;
    int first = equalities ? w->contacts : 0;
    if (count == 0) return true;
    double* part = malloc((size_t)count * sizeof *part);
    if (part == NULL) return false;
    for (int i = 0; i < w->problem->rows; i++) {
        int at = w->place[i] - first;
        if (at >= 0 && at < count) part[at] = x[i];
    }
    bool good = cr__hdf5_put_doubles(group, name, part, (size_t)count);
    free(part);
    return good;
}

static bool put_coefficients(const Writer* w, hid_t group) {
    double* mu = malloc(2 * (size_t)w->contacts * sizeof *mu);
    double* limit = mu != NULL ? mu + w->contacts : NULL;
    size_t count = 0;
    for (int i = 0; mu != NULL && i < w->problem->block_count; i++) {
        if (w->problem->blocks[i].kind != CR_BLOCK_CONE) continue;
        mu[count] = w->problem->blocks[i].mu;
        limit[count++] = limit_of(&w->problem->blocks[i]);
    }
    bool good = mu != NULL && cr__hdf5_put_doubles(group, "mu", mu, count) &&
                (!w->rolls || cr__hdf5_put_doubles(group, "mu_r", limit, count));
    free(mu);
    return good;
}

static bool put_local(Writer* w, hid_t root, hid_t vectors, const double* q) {
    crMatrix W;
    if (cr_problem_sparse(w->problem, &w->arena, &W) != CR_OK) return false;
    int c = w->contacts, e = w->equalities;
    bool good = put_part(w, root, (Part){"W", &W, 0, c, 0, c, true, true, false});
    if (e > 0) {
        good = good && put_part(w, root, (Part){"V", &W, 0, c, c, e, true, true, false}) &&
               put_part(w, root, (Part){"R", &W, c, e, c, e, true, true, false});
    }
    return good && put_rows(w, vectors, "q", q, false) && put_rows(w, vectors, "s", q, true);
}

// q becomes what is left of it beyond J v
static bool put_global(Writer* w, hid_t root, hid_t vectors, double* q) {
    const crProblem* problem = w->problem;
    int nv = problem->nv, c = w->contacts, e = w->equalities;
    double* f = cr_arena_alloc(&w->arena, (size_t)nv * sizeof(double));
    double* Jv = cr_arena_alloc(&w->arena, (size_t)problem->rows * sizeof(double));
    if (f == NULL || Jv == NULL) return false;
    cr_matrix_mul(&problem->M, problem->v, f);
    cr_matrix_mul(&problem->J, problem->v, Jv);
    for (int i = 0; i < problem->rows; i++) {
        q[i] -= Jv[i];
    }
    bool good = put_part(w, root, (Part){"M", &problem->M, 0, nv, 0, nv, false, false, false}) &&
                put_part(w, root, (Part){"H", &problem->J, 0, c, 0, nv, true, false, true});
    if (e > 0) good = good && put_part(w, root, (Part){"G", &problem->J, c, e, 0, nv, true, false, true});
    return good && cr__hdf5_put_doubles(vectors, "f", f, (size_t)nv) && put_rows(w, vectors, "w", q, false) &&
           put_rows(w, vectors, "b", q, true);
}

// u, r, l, and v in the global form
static bool put_solution(Writer* w, hid_t file, bool global, const double* p) {
    const crProblem* problem = w->problem;
    double* u = cr_arena_alloc(&w->arena, (size_t)problem->rows * sizeof(double));
    double* v = cr_arena_alloc(&w->arena, (size_t)(problem->nv + 1) * sizeof(double));
    if (u == NULL || v == NULL || cr_problem_velocity(problem, &w->arena, p, u) != CR_OK) return false;
    for (int i = 0; problem->b != NULL && i < problem->rows; i++) {
        u[i] += problem->b[i];
    }
    hid_t group = H5Gcreate2(file, "solution", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = group >= 0 && put_rows(w, group, "u", u, false) && put_rows(w, group, "r", p, false) &&
                put_rows(w, group, "l", p, true);
    if (good && global) {
        good = cr_problem_apply(problem, &w->arena, p, v) == CR_OK &&
               cr__hdf5_put_doubles(group, "v", v, (size_t)problem->nv);
    }
    if (group >= 0) H5Gclose(group);
    return good;
}

static bool put_problem(Writer* w, hid_t file, const char* name, const double* p) {
    const crProblem* problem = w->problem;
    bool global = problem->J.value != NULL && problem->M.value != NULL && problem->Minv.value != NULL &&
                  problem->v != NULL;
    double* q = cr_arena_alloc(&w->arena, (size_t)problem->rows * sizeof(double));
    if (q == NULL) return false;
    for (int i = 0; i < problem->rows; i++) {
        q[i] = problem->u_free[i] + (problem->b != NULL ? problem->b[i] : 0.0);
    }
    const char* kind = w->rolls ? (global ? "fclib_global_rolling" : "fclib_local_rolling")
                                : (global ? "fclib_global" : "fclib_local");
    hid_t root = H5Gcreate2(file, kind, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vectors = H5Gcreate2(root, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t info = H5Gcreate2(root, "info", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool good = vectors >= 0 && info >= 0 && cr__hdf5_put_ints(root, "spacedim", &w->d, 1) &&
                put_coefficients(w, vectors) &&
                (global ? put_global(w, root, vectors, q) : put_local(w, root, vectors, q)) &&
                cr__hdf5_put_text(info, "title", name) &&
                cr__hdf5_put_text(info, "description", "written by carom") &&
                cr__hdf5_put_text(info, "math_info", "");
    if (info >= 0) H5Gclose(info);
    if (vectors >= 0) H5Gclose(vectors);
    if (root >= 0) H5Gclose(root);
    return good && (p == NULL || put_solution(w, file, global, p));
}

crStatus cr__write_fclib(const char* path, const crProblemFile* from, crError* error) {
    Writer w = {.problem = &from->problem, .error = error};
    crStatus status = cr_arena_create(&w.arena, NULL, 0);
    if (status == CR_OK) status = check_blocks(&w);
    if (status == CR_OK) status = place_rows(&w);
    if (status == CR_ERR_MEMORY) cr_error_set(error, status, "dump", "dump: out of memory");
    if (status == CR_OK) {
        crQuiet quiet = cr__hdf5_begin();
        hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
        bool good = file >= 0 && put_problem(&w, file, from->name, from->p);
        if (file >= 0) good = H5Fclose(file) >= 0 && good;
        cr__hdf5_end(quiet);
        if (!good) status = cr_error_set(error, CR_ERR_FILE, "dump", "dump: cannot write \"%.150s\"", path);
    }
    cr_arena_destroy(&w.arena);
    return status;
}
