// read.c - friction problems in the HDF5 layout of FCLIB, the library of problems of Acary and others.
//
//     /fclib_local    spacedim, W, [V, R], vectors/{q, mu, [s]}     u = W r + V l + q,  0 = V^T r + R l + s
//     /fclib_global   spacedim, M, H, [G], vectors/{f, w, mu, [b]}  M v = H r + G l + f,  u = H^T v + w,
//                                                                   0 = G^T v + b
//     /fclib_local_rolling, /fclib_global_rolling     also vectors/mu_r; contacts of 5 rows n, t1, t2, roll1,
//                                                     roll2, or in the plane of 3 rows n, t, roll
//     /solution       r, [l]: kept as the reference
//
// A matrix is m, n, nz, p, i, x: nz = -1 compressed columns, -2 compressed rows, >= 0 that many triplets.
// For triplets FCLIB's header calls p the rows, but Siconos writes CSparse's, whose i are the rows: the one
// that fits is taken, i where both do. Entries in one place are summed. Contacts come first, normal row
// first; equalities after them. The format says that W and M are symmetric, so one triangle alone is mirrored.
// Fails: datasets missing, of the wrong type or size, indices out of range,
// numbers that are not finite: refused by their path in the file.
#include "dataset.h"
#include "io/entries.h"
#include "io/problem_parts.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 1000000  // of a matrix

typedef struct Reader {
    hid_t file;
    const char* root;  // group of the problem
    bool rolls;        // true if its contacts have rolling friction
    size_t most;       // numbers a dataset of a file of this size can have
    crProblemFile* out;
    crError* error;
} Reader;

// entries collected from the matrices of a file
typedef struct Entries {
    crEntry* entry;
    size_t count;
    size_t capacity;
} Entries;

typedef struct Stored {
    int m, n, nz;
    int *p, *i;
    double* x;
    size_t p_count, i_count, x_count;
} Stored;

static void path_of(const Reader* reader, const char* name, const char* part, char path[64]) {
    snprintf(path, 64, "%s/%s%s%s", reader->root, name, part[0] != '\0' ? "/" : "", part);
}

static crStatus read_int(Reader* reader, const char* name, const char* part, int* number) {
    char path[64];
    path_of(reader, name, part, path);
    int* numbers = NULL;
    size_t count = 0;
    crStatus status = cr__hdf5_ints(reader->file, path, reader->most, &numbers, &count, reader->error);
    if (status == CR_OK && count != 1) {
        status =
            cr_error_set(reader->error, CR_ERR_SIZE, path, "%s: must be one number, has %zu", path, count);
    }
    if (status == CR_OK) *number = numbers[0];
    free(numbers);
    return status;
}

static void free_stored(Stored* s) {
    free(s->p);
    free(s->i);
    free(s->x);
}

static crStatus read_stored(Reader* reader, const char* name, Stored* s) {
    char path[64];
    crStatus status = read_int(reader, name, "m", &s->m);
    if (status == CR_OK) status = read_int(reader, name, "n", &s->n);
    if (status == CR_OK) status = read_int(reader, name, "nz", &s->nz);
    path_of(reader, name, "p", path);
    if (status == CR_OK) {
        status = cr__hdf5_ints(reader->file, path, reader->most, &s->p, &s->p_count, reader->error);
    }
    path_of(reader, name, "i", path);
    if (status == CR_OK) {
        status = cr__hdf5_ints(reader->file, path, reader->most, &s->i, &s->i_count, reader->error);
    }
    path_of(reader, name, "x", path);
    if (status == CR_OK) {
        status = cr__hdf5_doubles(reader->file, path, reader->most, &s->x, &s->x_count, reader->error);
    }
    path_of(reader, name, "", path);
    if (status != CR_OK) return status;
    int most = reader->most < MOST_ROWS ? (int)reader->most : MOST_ROWS;
    if (s->m > most || s->n > most) {
        return cr_error_set(reader->error, CR_ERR_LIMIT, path, "%s: is %d x %d, allowed are %d", path, s->m,
                            s->n, most);
    }
    bool compressed = s->nz == -1 || s->nz == -2;
    size_t pointers = (size_t)(s->nz == -1 ? s->n : s->m) + 1;
    if (s->m < 0 || s->n < 0 || s->nz < -2 || (compressed && s->p_count != pointers) ||
        (!compressed &&
         (s->p_count < (size_t)s->nz || s->i_count < (size_t)s->nz || s->x_count < (size_t)s->nz))) {
        return cr_error_set(reader->error, CR_ERR_SIZE, path,
                            "%s: %d x %d with nz = %d does not fit %zu p, %zu i and %zu x", path, s->m, s->n,
                            s->nz, s->p_count, s->i_count, s->x_count);
    }
    return CR_OK;
}

static bool within_fclib_read(const int* index, int count, int limit) {
    for (int k = 0; k < count; k++) {
        if (index[k] < 0 || index[k] >= limit) return false;
    }
    return true;
}

// p ascends from 0 and stays within the entries
static bool pointers_good(const Stored* s) {
    size_t last = s->p_count - 1;
    for (size_t k = 0; k < last; k++) {
        if (s->p[k + 1] < s->p[k]) return false;
    }
    return s->p[0] == 0 && (size_t)s->p[last] <= s->i_count && (size_t)s->p[last] <= s->x_count;
}

static crStatus push(Entries* entries, int row, int col, double value) {
    if (entries->count == entries->capacity) {
        size_t capacity = 2 * entries->capacity + 64;
        crEntry* larger = realloc(entries->entry, capacity * sizeof *larger);
        if (larger == NULL) return CR_ERR_MEMORY;
        entries->entry = larger;
        entries->capacity = capacity;
    }
    entries->entry[entries->count++] = (crEntry){row, col, value, NULL};
    return CR_OK;
}

// where a matrix goes in a larger one: shifted, and also or only transposed
typedef struct Place {
    int row, col;
    bool itself, transposed;
} Place;

static crStatus push_placed(Entries* entries, Place place, int row, int col, double value) {
    crStatus status = CR_OK;
    if (place.itself) status = push(entries, place.row + row, place.col + col, value);
    if (status == CR_OK && place.transposed) {
        status = push(entries, place.itself ? place.col + col : place.row + col,
                      place.itself ? place.row + row : place.col + row, value);
    }
    return status;
}

static crStatus push_stored(Reader* reader, const char* path, const Stored* s, Place place,
                            Entries* entries) {
    crStatus status = CR_OK;
    if (s->nz >= 0) {
        bool i_rows = within_fclib_read(s->i, s->nz, s->m) && within_fclib_read(s->p, s->nz, s->n);
        bool p_rows = within_fclib_read(s->p, s->nz, s->m) && within_fclib_read(s->i, s->nz, s->n);
        if (!i_rows && !p_rows) {
            return cr_error_set(reader->error, CR_ERR_RANGE, path, "%s: indices outside %d x %d", path, s->m,
                                s->n);
        }
        const int* row = i_rows ? s->i : s->p;
        const int* col = i_rows ? s->p : s->i;
        for (int k = 0; k < s->nz && status == CR_OK; k++) {
            status = push_placed(entries, place, row[k], col[k], s->x[k]);
        }
        return status;
    }
    bool columns = s->nz == -1;
    if (!pointers_good(s) || !within_fclib_read(s->i, s->p[s->p_count - 1], columns ? s->m : s->n)) {
        return cr_error_set(reader->error, CR_ERR_RANGE, path,
                            "%s: p must ascend from 0 within the entries, i within %d x %d", path, s->m,
                            s->n);
    }
    int lines = columns ? s->n : s->m;
    for (int line = 0; line < lines; line++) {
        for (int k = s->p[line]; k < s->p[line + 1] && status == CR_OK; k++) {
            status = push_placed(entries, place, columns ? s->i[k] : line, columns ? line : s->i[k], s->x[k]);
        }
    }
    return status;
}

// a matrix of the file appended to entries; its size must be the one given, -1 for any
static crStatus read_matrix(Reader* reader, const char* name, int rows, int cols, Place place,
                            Entries* entries, Stored* size) {
    Stored s = {0};
    char path[64];
    path_of(reader, name, "", path);
    crStatus status = read_stored(reader, name, &s);
    if (status == CR_OK && ((rows >= 0 && s.m != rows) || (cols >= 0 && s.n != cols))) {
        status = cr_error_set(reader->error, CR_ERR_SIZE, path, "%s: is %d x %d, must be %d x %d", path, s.m,
                              s.n, rows >= 0 ? rows : s.m, cols >= 0 ? cols : s.n);
    }
    if (status == CR_OK) status = push_stored(reader, path, &s, place, entries);
    if (status == CR_ERR_MEMORY) cr_error_set(reader->error, status, path, "%s: out of memory", path);
    free_stored(&s);
    if (size != NULL) *size = (Stored){.m = s.m, .n = s.n};
    return status;
}

// a vector of exactly `count` numbers copied to `to`
static crStatus read_vector(Reader* reader, const char* name, int count, double* to) {
    char path[64];
    path_of(reader, "vectors", name, path);
    double* numbers = NULL;
    size_t found = 0;
    crStatus status = cr__hdf5_doubles(reader->file, path, reader->most, &numbers, &found, reader->error);
    if (status == CR_OK && found != (size_t)count) {
        status = cr_error_set(reader->error, CR_ERR_SIZE, path, "%s: must have %d numbers, has %zu", path,
                              count, found);
    }
    if (status == CR_OK && count > 0) memcpy(to, numbers, (size_t)count * sizeof *to);
    free(numbers);
    return status;
}

static crStatus no_memory(Reader* reader) {
    return cr_error_set(reader->error, CR_ERR_MEMORY, reader->root, "%s: out of memory", reader->root);
}

// rows of a contact: spacedim, or with rolling what the rows and coefficients say (FCLIB's header has 2 or 3
// there, Siconos writes 5)
static crStatus read_dimension(Reader* reader, int contact_rows, int* d) {
    char path[64];
    path_of(reader, "spacedim", "", path);
    crStatus status = read_int(reader, "spacedim", "", d);
    if (status != CR_OK) return status;
    bool known = reader->rolls ? *d == 3 || *d == 5 : *d == 2 || *d == 3;
    if (known && reader->rolls && *d == 3) {
        char mu[64];
        double* numbers = NULL;
        size_t count = 0;
        path_of(reader, "vectors", "mu", mu);
        status = cr__hdf5_doubles(reader->file, mu, reader->most, &numbers, &count, reader->error);
        free(numbers);
        if (status != CR_OK) return status;
        if ((size_t)contact_rows == 5 * count) *d = 5;
    }
    if (known && contact_rows % *d == 0) return CR_OK;
    return cr_error_set(reader->error, CR_ERR_RANGE, path, "%s: is %d, must be %s and divide %d rows", path,
                        *d, reader->rolls ? "3 or 5" : "2 or 3", contact_rows);
}

// one coefficient >= 0 per contact
static crStatus read_coefficients(Reader* reader, const char* name, int contacts, double* mu) {
    crStatus status = read_vector(reader, name, contacts, mu);
    for (int i = 0; i < contacts && status == CR_OK; i++) {
        if (mu[i] >= 0.0) continue;
        char path[64];
        path_of(reader, "vectors", name, path);
        status = cr_error_set(reader->error, CR_ERR_RANGE, path, "%s: number %d is %g, must be >= 0", path, i,
                              mu[i]);
    }
    return status;
}

// cones of d rows and one block of equalities; coefficients from the file
static crStatus set_blocks(Reader* reader, int contact_rows, int equalities) {
    int d = 0;
    crStatus status = read_dimension(reader, contact_rows, &d);
    if (status != CR_OK) return status;
    int contacts = contact_rows / d;
    crProblem* problem = &reader->out->problem;
    crBlock* blocks = cr_arena_alloc(&reader->out->arena, ((size_t)contacts + 1) * sizeof *blocks);
    double* mu = cr_arena_alloc(&reader->out->arena, 2 * (size_t)contacts * sizeof(double));
    if (blocks == NULL || mu == NULL) return no_memory(reader);
    status = read_coefficients(reader, "mu", contacts, mu);
    if (status == CR_OK && reader->rolls) status = read_coefficients(reader, "mu_r", contacts, mu + contacts);
    for (int i = 0; i < contacts && status == CR_OK; i++) {
        blocks[i] = cr_block(CR_BLOCK_CONE, i * d, d);
        blocks[i].mu = blocks[i].mu2 = mu[i];
        blocks[i].source = i;
        blocks[i].roll = d == 5;
        blocks[i].spin = reader->rolls && d == 3;
        if (d == 5) blocks[i].mu_roll = mu[contacts + i];
        if (blocks[i].spin) blocks[i].mu_spin = mu[contacts + i];
    }
    if (equalities > 0) blocks[contacts] = cr_block(CR_BLOCK_EQUALITY, contact_rows, equalities);
    problem->blocks = blocks;
    problem->block_count = contacts + (equalities > 0 ? 1 : 0);
    problem->rows = contact_rows + equalities;
    return status;
}

static crStatus not_square(Reader* reader, const char* name, Stored size) {
    char path[64];
    path_of(reader, name, "", path);
    return cr_error_set(reader->error, CR_ERR_SIZE, path, "%s: is %d x %d, must be square", path, size.m,
                        size.n);
}

// The entries from `from` on belong to a symmetric matrix. Where none of them is on one side of its diagonal and
// some are on the other, they are one triangle: their mirror images are appended.
static crStatus mirror_triangle(Reader* reader, const char* name, size_t from, Entries* entries) {
    bool below = false, above = false;
    size_t count = entries->count;
    for (size_t k = from; k < count; k++) {
        const crEntry* e = &entries->entry[k];
        below = below || (e->value != 0.0 && e->row > e->col);
        above = above || (e->value != 0.0 && e->row < e->col);
    }
    if (below == above) return CR_OK;
    for (size_t k = from; k < count; k++) {
        crEntry e = entries->entry[k];
        if (e.row != e.col && push(entries, e.col, e.row, e.value) != CR_OK) return no_memory(reader);
    }
    cr__mirrored(reader->out, name, below ? "lower" : "upper");
    return CR_OK;
}

static bool has(const Reader* reader, const char* name) {
    char path[64];
    path_of(reader, name, "", path);
    return cr__hdf5_has(reader->file, path);
}

static crStatus read_local(Reader* reader, Entries* entries) {
    crProblemFile* out = reader->out;
    const Place itself = {.itself = true};
    Stored W = {0};
    Stored R = {0};
    crStatus status = read_matrix(reader, "W", -1, -1, itself, entries, &W);
    if (status == CR_OK && W.m != W.n) status = not_square(reader, "W", W);
    if (status == CR_OK) status = mirror_triangle(reader, "W", 0, entries);
    if (status == CR_OK && has(reader, "R")) {
        size_t before = entries->count;
        status = read_matrix(reader, "R", -1, -1, (Place){W.m, W.m, true, false}, entries, &R);
        if (status == CR_OK && R.m != R.n) status = not_square(reader, "R", R);
        if (status == CR_OK) status = mirror_triangle(reader, "W", before, entries);
        if (status == CR_OK)
            status = read_matrix(reader, "V", W.m, R.m, (Place){0, W.m, true, true}, entries, NULL);
    }
    if (status == CR_OK) status = set_blocks(reader, W.m, R.m);
    if (status != CR_OK) return status;
    int rows = out->problem.rows;
    double* u_free = cr_arena_alloc(&out->arena, (size_t)rows * sizeof(double));
    if (u_free == NULL) return no_memory(reader);
    out->problem.u_free = u_free;
    status = read_vector(reader, "q", W.m, u_free);
    if (status == CR_OK && R.m > 0) status = read_vector(reader, "s", R.m, u_free + W.m);
    if (status != CR_OK) return status;
    status =
        cr__entries_compress(entries->entry, entries->count, rows, rows, &out->arena, &out->problem.W, NULL);
    return status == CR_OK ? cr__symmetrise(out, "W", reader->error) : no_memory(reader);
}

// v = inverse(M) f and u_free = J v + (w, b), where vectors holds f, then w and b
static crStatus set_velocities(Reader* reader, const double* vectors) {
    crProblem* problem = &reader->out->problem;
    double* v = cr_arena_alloc(&reader->out->arena, (size_t)problem->nv * sizeof(double));
    double* u_free = cr_arena_alloc(&reader->out->arena, (size_t)problem->rows * sizeof(double));
    if (v == NULL || u_free == NULL) return no_memory(reader);
    cr_matrix_mul(&problem->Minv, vectors, v);
    cr_matrix_mul(&problem->J, v, u_free);
    for (int i = 0; i < problem->rows; i++) {
        u_free[i] += vectors[problem->nv + i];
    }
    problem->v = v;
    problem->u_free = u_free;
    return CR_OK;
}

static crStatus read_global(Reader* reader, Entries* entries) {
    crProblemFile* out = reader->out;
    crProblem* problem = &out->problem;
    crArena* arena = &out->arena;
    Stored M = {0};
    Stored H = {0};
    Stored G = {0};
    crStatus status = read_matrix(reader, "M", -1, -1, (Place){.itself = true}, entries, &M);
    if (status == CR_OK && M.m != M.n) status = not_square(reader, "M", M);
    if (status == CR_OK) status = mirror_triangle(reader, "M", 0, entries);
    if (status == CR_OK) {
        status = cr__entries_compress(entries->entry, entries->count, M.m, M.m, arena, &problem->M, NULL);
        status = status == CR_OK ? cr__symmetrise(out, "M", reader->error) : no_memory(reader);
    }
    problem->nv = M.m;
    entries->count = 0;
    if (status == CR_OK) status = read_matrix(reader, "H", M.m, -1, (Place){.transposed = true}, entries, &H);
    if (status == CR_OK && has(reader, "G")) {
        status = read_matrix(reader, "G", M.m, -1, (Place){H.n, 0, false, true}, entries, &G);
    }
    if (status == CR_OK) status = set_blocks(reader, H.n, G.n);
    if (status != CR_OK) return status;
    double* vectors = cr_arena_alloc(arena, ((size_t)M.m + (size_t)problem->rows) * sizeof(double));
    status = vectors == NULL ? no_memory(reader) : read_vector(reader, "f", M.m, vectors);
    if (status == CR_OK) status = read_vector(reader, "w", H.n, vectors + M.m);
    if (status == CR_OK && G.n > 0) status = read_vector(reader, "b", G.n, vectors + M.m + H.n);
    if (status == CR_OK) {
        status = cr__entries_compress(entries->entry, entries->count, problem->rows, M.m, arena, &problem->J,
                                      NULL);
    }
    if (status == CR_OK) status = cr_matrix_inverse(&problem->M, arena, &problem->Minv, reader->error);
    if (status == CR_OK) status = set_velocities(reader, vectors);
    return status;
}

// r and l of /solution as the reference, where they are there and fit
static void read_solution(Reader* reader) {
    crProblem* problem = &reader->out->problem;
    double* p = cr_arena_alloc(&reader->out->arena, (size_t)problem->rows * sizeof(double));
    int last = problem->block_count - 1;
    bool joints = last >= 0 && problem->blocks[last].kind == CR_BLOCK_EQUALITY;
    size_t equalities = joints ? (size_t)problem->blocks[last].count : 0;
    size_t rows = (size_t)problem->rows - equalities;
    double *r = NULL, *l = NULL;
    size_t r_count = 0, l_count = 0;
    bool good = p != NULL &&
                cr__hdf5_doubles(reader->file, "solution/r", rows, &r, &r_count, NULL) == CR_OK &&
                r_count == rows;
    if (good && equalities > 0) {
        good = cr__hdf5_doubles(reader->file, "solution/l", equalities, &l, &l_count, NULL) == CR_OK &&
               l_count == equalities;
    }
    if (good && rows > 0) memcpy(p, r, rows * sizeof *p);
    if (good && equalities > 0) memcpy(p + rows, l, equalities * sizeof *p);
    if (good) reader->out->p = p;
    free(r);
    free(l);
}

static crStatus read_file(Reader* reader) {
    static const char* const roots[] = {"fclib_local", "fclib_global", "fclib_local_rolling",
                                        "fclib_global_rolling"};
    int found = 0;
    while (found < 4 && !cr__hdf5_has(reader->file, roots[found])) {
        found++;
    }
    if (found == 4) {
        return cr_error_set(reader->error, CR_ERR_MISSING, "fclib_local",
                            "fclib_local: is missing, and fclib_global too: not a problem of FCLIB");
    }
    reader->root = roots[found];
    reader->rolls = found >= 2;
    Entries entries = {0};
    crStatus status = found % 2 == 0 ? read_local(reader, &entries) : read_global(reader, &entries);
    free(entries.entry);
    if (status != CR_OK) return status;
    read_solution(reader);
    char path[64];
    path_of(reader, "info", "title", path);
    cr__hdf5_text(reader->file, path, reader->out->name, sizeof reader->out->name);
    return CR_OK;
}

crStatus cr__read_fclib(const char* text, size_t size, crProblemFile* out, crError* error) {
    crQuiet quiet = cr__hdf5_begin();
    // deflate packs no more than some thousand bytes into one
    Reader reader = {.most = size * 128, .out = out, .error = error};
    reader.file = cr__hdf5_open(text, size);
    crStatus status = CR_OK;
    if (reader.file < 0) {
        status = cr_error_set(error, CR_ERR_SYNTAX, "", "not an HDF5 file, or cut off");
    } else {
        status = read_file(&reader);
        H5Fclose(reader.file);
    }
    cr__hdf5_end(quiet);
    return status;
}
