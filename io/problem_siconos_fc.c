// problem_siconos_fc.c - friction problems as Siconos' numerics and ContactBench keep them in files.
//
//     siconos-fc      d (2 or 3), contacts, W (see scan_siconos.c), q, mu        u = W p + q
//     siconos-gfc     d, contacts, M, H, q, b, mu        M v = H p + q, u = H^T v + b, so J = H^T and
//                                                        u_free = H^T inverse(M) q + b
//     siconos-rfc     d (3 or 5), contacts, W, q, mu, mu_roll; 5: rows n, t1, t2, roll1, roll2; 3, planar: rows
//                     n, t, roll, where the one rolling row takes the place of a spin row
//     siconos-grfc    d, contacts, M, H, q, b, mu, mu_roll
//     contactbench    a remark; "n" rows, the matrix by rows, "g" q, "mu" one per contact; rows t1, t2, n
//
// Rows are normal first, as in crProblem; ContactBench's are turned round. W and M are made symmetric
// (symmetrise.c). What follows is not read. Fails: sizes that do not fit the text or each other, words that are no
// numbers, coefficients < 0, an M that is not positive definite: refused with line and column.
#include "io/entries.h"
#include "io/problem_parts.h"
#include "io/scan.h"

#include <stdio.h>
#include <string.h>

static crStatus no_memory_siconos_fc(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
}

static crStatus read_vector_siconos_fc(crScan* scan, const char* field, int count, crArena* arena,
                                       double** out, crError* error) {
    crStatus status = cr__scan_room(scan, field, (size_t)count, error);
    if (status != CR_OK) return status;
    *out = cr_arena_alloc(arena, (size_t)count * sizeof(double));
    if (*out == NULL) return no_memory_siconos_fc(error);
    return cr__scan_numbers(scan, field, (size_t)count, *out, error);
}

static crStatus read_matrix_siconos_fc(crScan* scan, const char* field, int rows, int cols, crArena* arena,
                                       crMatrix* matrix, crError* error) {
    crStatus status = cr__scan_siconos_matrix(scan, arena, matrix, error);
    if (status != CR_OK) return status;
    if (matrix->rows != rows || matrix->cols != cols) {
        char message[96];
        snprintf(message, sizeof message, "is %d x %d, must be %d x %d", matrix->rows, matrix->cols, rows,
                 cols);
        return cr__scan_error(scan, error, CR_ERR_SIZE, field, message);
    }
    return CR_OK;
}

// what the matrix just read needs to be symmetric, refused where it stands
static crStatus symmetrise(const crScan* scan, const char* name, crProblemFile* out, crError* error) {
    crError inner = {0};
    crStatus status = cr__symmetrise(out, name, &inner);
    if (status == CR_OK && scan->half) cr__mirrored(out, name, "lower");
    // the message begins with the name, which cr__scan_error puts before it
    return status == CR_OK ? CR_OK
                           : cr__scan_error(scan, error, status, name, inner.message + strlen(name) + 2);
}

static crStatus read_coefficient(crScan* scan, const char* field, double* number, crError* error) {
    crStatus status = cr__scan_number(scan, field, number, error);
    if (status == CR_OK && !(*number >= 0.0)) {
        status = cr__scan_error(scan, error, CR_ERR_RANGE, field, "must be >= 0");
    }
    return status;
}

// one cone of d rows per contact; the next numbers are their coefficients, then those of rolling
static crStatus read_cones(crScan* scan, int d, int contacts, bool rolls, crProblemFile* out,
                           crError* error) {
    crBlock* blocks = cr_arena_alloc(&out->arena, (size_t)contacts * sizeof *blocks);
    if (blocks == NULL) return no_memory_siconos_fc(error);
    for (int i = 0; i < contacts; i++) {
        blocks[i] = cr_block(CR_BLOCK_CONE, i * d, d);
        blocks[i].source = i;
        crStatus status = read_coefficient(scan, "mu", &blocks[i].mu, error);
        if (status != CR_OK) return status;
        blocks[i].mu2 = blocks[i].mu;
    }
    for (int i = 0; rolls && i < contacts; i++) {
        blocks[i].roll = d == 5;
        blocks[i].spin = d == 3;
        double* limit = d == 5 ? &blocks[i].mu_roll : &blocks[i].mu_spin;
        crStatus status = read_coefficient(scan, "mu_roll", limit, error);
        if (status != CR_OK) return status;
    }
    out->problem.rows = d * contacts;
    out->problem.block_count = contacts;
    out->problem.blocks = blocks;
    return CR_OK;
}

// d (2 or 3; with rolling 3 or 5) and the number of contacts, which the text must have room for
static crStatus read_sizes(crScan* scan, bool rolls, int* d, int* contacts, crError* error) {
    crStatus status = cr__scan_int(scan, "d", rolls ? 3 : 2, rolls ? 5 : 3, d, error);
    if (status == CR_OK && *d == 4) status = cr__scan_error(scan, error, CR_ERR_RANGE, "d", "must be 3 or 5");
    if (status == CR_OK) status = cr__scan_int(scan, "contacts", 0, 1000000, contacts, error);
    if (status == CR_OK) status = cr__scan_room(scan, "contacts", (size_t)*contacts, error);
    return status;
}

// A full W of which most is zero is kept by rows: solvers read it several times.
static crStatus drop_zeros(crProblemFile* out, crError* error) {
    crProblem* problem = &out->problem;
    size_t n = (size_t)problem->rows, entries = 0;
    if (problem->W.start != NULL) return CR_OK;
    for (size_t i = 0; i < n * n; i++) {
        entries += problem->W.value[i] != 0.0 ? 1 : 0;
    }
    if (2 * entries > n * n) return CR_OK;
    return cr_problem_sparse(problem, &out->arena, &problem->W) == CR_OK ? CR_OK
                                                                         : no_memory_siconos_fc(error);
}

static crStatus read_local_siconos_fc(crScan* scan, bool rolls, crProblemFile* out, crError* error) {
    int d, contacts;
    double* q = NULL;
    crStatus status = read_sizes(scan, rolls, &d, &contacts, error);
    if (status != CR_OK) return status;
    int n = d * contacts;
    status = read_matrix_siconos_fc(scan, "W", n, n, &out->arena, &out->problem.W, error);
    if (status == CR_OK) status = symmetrise(scan, "W", out, error);
    if (status == CR_OK) status = read_vector_siconos_fc(scan, "q", n, &out->arena, &q, error);
    if (status == CR_OK) status = read_cones(scan, d, contacts, rolls, out, error);
    out->problem.u_free = q;
    return status == CR_OK ? drop_zeros(out, error) : status;
}

crStatus cr__read_siconos_fc(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    return read_local_siconos_fc(&scan, false, out, error);
}

crStatus cr__read_siconos_rfc(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    return read_local_siconos_fc(&scan, true, out, error);
}

bool cr__siconos_rolls_planar(const char* text, size_t size) {
    crScan scan = cr__scan(text, size);
    crProblemFile probe = {0};
    bool rolls = cr_arena_create(&probe.arena, NULL, 0) == CR_OK &&
                 read_local_siconos_fc(&scan, false, &probe, NULL) == CR_OK && probe.problem.block_count > 1;
    double number;
    for (int i = 0; rolls && i < probe.problem.block_count; i++) {
        rolls = cr__scan_word(&scan) && cr__scan_as_number(&scan, &number);
    }
    cr_problem_file_free(&probe);
    return rolls && !cr__scan_word(&scan);
}

// H^T by rows; compressed unless H is dense
static crStatus transpose(const crMatrix* H, crArena* arena, crMatrix* J, crError* error) {
    size_t rows = (size_t)H->cols, cols = (size_t)H->rows;
    size_t entries = H->start != NULL ? (size_t)H->start[H->rows] : rows * cols;
    double* value = cr_arena_alloc(arena, entries * sizeof *value);
    int* start = H->start != NULL ? cr_arena_alloc(arena, (rows + 2) * sizeof *start) : NULL;
    int* col = H->start != NULL ? cr_arena_alloc(arena, entries * sizeof *col) : NULL;
    if (value == NULL || (H->start != NULL && (start == NULL || col == NULL)))
        return no_memory_siconos_fc(error);
    *J = (crMatrix){H->cols, H->rows, start, col, value};
    for (size_t i = 0; start == NULL && i < rows * cols; i++) {
        value[i] = H->value[i % cols * rows + i / cols];
    }
    if (start == NULL) return CR_OK;
    memset(start, 0, (rows + 2) * sizeof *start);
    for (size_t k = 0; k < entries; k++) {
        start[H->col[k] + 2]++;
    }
    for (size_t i = 0; i < rows; i++) {
        start[i + 2] += start[i + 1];
    }
    for (int i = 0; i < H->rows; i++) {
        for (int k = H->start[i]; k < H->start[i + 1]; k++) {
            int at = start[H->col[k] + 1]++;
            col[at] = i;
            value[at] = H->value[k];
        }
    }
    return CR_OK;
}

// J, Minv, v = inverse(M) q and u_free = J v + b
static crStatus set_operator(const crMatrix* H, const double* q, const double* b, crProblemFile* out,
                             crError* error) {
    crProblem* problem = &out->problem;
    crArena* arena = &out->arena;
    crStatus status = transpose(H, arena, &problem->J, error);
    if (status == CR_OK) status = cr_matrix_inverse(&problem->M, arena, &problem->Minv, error);
    if (status != CR_OK) return status;
    int n = H->cols;
    double* v = cr_arena_alloc(arena, (size_t)problem->nv * sizeof(double));
    double* u_free = cr_arena_alloc(arena, (size_t)n * sizeof(double));
    if (v == NULL || u_free == NULL) return no_memory_siconos_fc(error);
    cr_matrix_mul(&problem->Minv, q, v);
    cr_matrix_mul(&problem->J, v, u_free);
    for (int i = 0; i < n; i++) {
        u_free[i] += b[i];
    }
    problem->v = v;
    problem->u_free = u_free;
    return CR_OK;
}

static crStatus read_global_siconos_fc(const char* text, size_t size, bool rolls, crProblemFile* out,
                                       crError* error) {
    crScan scan = cr__scan(text, size);
    int d, contacts;
    crMatrix H;
    double *q = NULL, *b = NULL;
    crMatrix* M = &out->problem.M;
    crStatus status = read_sizes(&scan, rolls, &d, &contacts, error);
    if (status == CR_OK) status = cr__scan_siconos_matrix(&scan, &out->arena, M, error);
    if (status != CR_OK) return status;
    if (M->rows != M->cols) return cr__scan_error(&scan, error, CR_ERR_SIZE, "M", "must be square");
    int n = d * contacts;
    out->problem.nv = M->rows;
    status = symmetrise(&scan, "M", out, error);
    if (status == CR_OK) status = read_matrix_siconos_fc(&scan, "H", M->rows, n, &out->arena, &H, error);
    if (status == CR_OK) status = read_vector_siconos_fc(&scan, "q", M->rows, &out->arena, &q, error);
    if (status == CR_OK) status = read_vector_siconos_fc(&scan, "b", n, &out->arena, &b, error);
    if (status == CR_OK) status = read_cones(&scan, d, contacts, rolls, out, error);
    if (status == CR_OK) status = set_operator(&H, q, b, out, error);
    return status;
}

crStatus cr__read_siconos_gfc(const char* text, size_t size, crProblemFile* out, crError* error) {
    return read_global_siconos_fc(text, size, false, out, error);
}

crStatus cr__read_siconos_grfc(const char* text, size_t size, crProblemFile* out, crError* error) {
    return read_global_siconos_fc(text, size, true, out, error);
}

static crStatus expect_word(crScan* scan, const char* word, crError* error) {
    if (cr__scan_word(scan) && strcmp(scan->word, word) == 0) return CR_OK;
    char message[96];
    snprintf(message, sizeof message, "must come here, not \"%.40s\"", scan->word);
    return cr__scan_error(scan, error, CR_ERR_MISSING, word, message);
}

// row of the file (t1, t2, n) that row i of the problem (n, t1, t2) is
static size_t turned_siconos_fc(size_t i) { return i % 3 == 0 ? i + 2 : i - 1; }

// lines that begin with '#'
static void skip_remarks(crScan* scan) {
    while (scan->at < scan->size && scan->text[scan->at] == '#') {
        while (scan->at < scan->size && scan->text[scan->at] != '\n') {
            scan->at++;
        }
        scan->at += scan->at < scan->size ? 1 : 0;
        scan->line++;
    }
}

crStatus cr__read_contactbench(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    int rows = 0;
    skip_remarks(&scan);
    crStatus status = expect_word(&scan, "n", error);
    if (status == CR_OK) status = cr__scan_int(&scan, "n", 0, 1000000, &rows, error);
    if (status == CR_OK && rows % 3 != 0) {
        status = cr__scan_error(&scan, error, CR_ERR_SIZE, "n", "must be three rows per contact");
    }
    size_t n = (size_t)rows;
    if (status == CR_OK) status = cr__scan_room(&scan, "G", n * n, error);
    if (status != CR_OK) return status;
    double* file_row = cr_arena_alloc(&out->arena, n * sizeof(double));
    double* W = cr_arena_alloc(&out->arena, n * n * sizeof(double));
    double* u_free = cr_arena_alloc(&out->arena, n * sizeof(double));
    if (file_row == NULL || W == NULL || u_free == NULL) return no_memory_siconos_fc(error);
    // each row of the file is read as it stands, then put where it belongs
    for (size_t i = 0; i < n; i++) {
        status = cr__scan_numbers(&scan, "G", n, file_row, error);
        if (status != CR_OK) return status;
        size_t row = i % 3 == 2 ? i - 2 : i + 1;
        for (size_t j = 0; j < n; j++) {
            W[row * n + j] = file_row[turned_siconos_fc(j)];
        }
    }
    status = expect_word(&scan, "g", error);
    if (status == CR_OK) status = cr__scan_numbers(&scan, "g", n, file_row, error);
    if (status == CR_OK) status = expect_word(&scan, "mu", error);
    if (status == CR_OK) status = read_cones(&scan, 3, rows / 3, false, out, error);
    if (status != CR_OK) return status;
    for (size_t i = 0; i < n; i++) {
        u_free[i] = file_row[turned_siconos_fc(i)];
    }
    out->problem.u_free = u_free;
    out->problem.W = (crMatrix){rows, rows, NULL, NULL, W};
    return symmetrise(&scan, "W", out, error);
}
