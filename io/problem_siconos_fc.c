// problem_siconos_fc.c - friction problems as Siconos' numerics and ContactBench keep them in files.
//
//     siconos-fc      d (2 or 3), contacts, W (see scan_siconos.c), q, mu        u = W p + q
//     siconos-gfc     d, contacts, M, H, q, b, mu        M v = H p + q, u = H^T v + b, so J = H^T and
//                                                        u_free = H^T inverse(M) q + b
//     siconos-rfc     5, contacts, W, q, mu, mu_roll     rows n, t1, t2, roll1, roll2
//     contactbench    a remark; "n" rows, the matrix by rows, "g" q, "mu" one per contact; rows t1, t2, n
//
// Rows are normal first, as in crProblem; ContactBench's are turned round. What follows is not read.
// Fails: sizes that do not fit the text or each other, words that are no numbers, mu < 0, an M that is not
// positive definite: refused with line and column.
#include "io/problem.h"
#include "io/scan.h"

#include <stdio.h>
#include <string.h>

static crStatus no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
}

static crStatus read_vector(crScan* scan, const char* field, int count, crArena* arena, double** out,
                            crError* error) {
    crStatus status = cr__scan_room(scan, field, (size_t)count, error);
    if (status != CR_OK) return status;
    *out = cr_arena_alloc(arena, (size_t)count * sizeof(double));
    if (*out == NULL) return no_memory(error);
    return cr__scan_numbers(scan, field, (size_t)count, *out, error);
}

static crStatus read_matrix(crScan* scan, const char* field, int rows, int cols, crArena* arena,
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

// one cone per contact; the next numbers are their coefficients
static crStatus read_cones(crScan* scan, int d, int contacts, crProblemFile* out, crError* error) {
    crBlock* blocks = cr_arena_alloc(&out->arena, (size_t)contacts * sizeof *blocks);
    if (blocks == NULL) return no_memory(error);
    for (int i = 0; i < contacts; i++) {
        blocks[i] = cr_block(CR_BLOCK_CONE, i * d, d);
        blocks[i].source = i;
        crStatus status = cr__scan_number(scan, "mu", &blocks[i].mu, error);
        if (status == CR_OK && !(blocks[i].mu >= 0.0)) {
            status = cr__scan_error(scan, error, CR_ERR_RANGE, "mu", "must be >= 0");
        }
        if (status != CR_OK) return status;
        blocks[i].mu2 = blocks[i].mu;
    }
    for (int i = 0; d == 5 && i < contacts; i++) {
        blocks[i].roll = true;
        crStatus status = cr__scan_number(scan, "mu_roll", &blocks[i].mu_roll, error);
        if (status == CR_OK && !(blocks[i].mu_roll >= 0.0)) {
            status = cr__scan_error(scan, error, CR_ERR_RANGE, "mu_roll", "must be >= 0");
        }
        if (status != CR_OK) return status;
    }
    out->problem.rows = d * contacts;
    out->problem.block_count = contacts;
    out->problem.blocks = blocks;
    return CR_OK;
}

// d within lo..hi (never 4) and the number of contacts, which the text must have room for
static crStatus read_sizes(crScan* scan, int lo, int hi, int* d, int* contacts, crError* error) {
    crStatus status = cr__scan_int(scan, "d", lo, hi, d, error);
    if (status == CR_OK) status = cr__scan_int(scan, "contacts", 0, 1000000, contacts, error);
    if (status == CR_OK) status = cr__scan_room(scan, "contacts", (size_t)*contacts, error);
    return status;
}

static crStatus read_local(const char* text, size_t size, int lo, int hi, crProblemFile* out,
                           crError* error) {
    crScan scan = cr__scan(text, size);
    int d, contacts;
    double* q = NULL;
    crStatus status = read_sizes(&scan, lo, hi, &d, &contacts, error);
    if (status != CR_OK) return status;
    int n = d * contacts;
    status = read_matrix(&scan, "W", n, n, &out->arena, &out->problem.W, error);
    if (status == CR_OK) status = read_vector(&scan, "q", n, &out->arena, &q, error);
    if (status == CR_OK) status = read_cones(&scan, d, contacts, out, error);
    out->problem.u_free = q;
    return status;
}

crStatus cr__read_siconos_fc(const char* text, size_t size, crProblemFile* out, crError* error) {
    return read_local(text, size, 2, 3, out, error);
}

crStatus cr__read_siconos_rfc(const char* text, size_t size, crProblemFile* out, crError* error) {
    return read_local(text, size, 5, 5, out, error);
}

// H^T by rows
static crStatus transpose(const crMatrix* H, crArena* arena, crMatrix* J, crError* error) {
    size_t rows = (size_t)H->cols, cols = (size_t)H->rows;
    double* value = cr_arena_alloc(arena, rows * cols * sizeof(double));
    if (value == NULL) return no_memory(error);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < cols; j++) {
            value[i * cols + j] = cr_matrix_at(H, (int)j, (int)i);
        }
    }
    *J = (crMatrix){H->cols, H->rows, NULL, NULL, value};
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
    if (v == NULL || u_free == NULL) return no_memory(error);
    cr_matrix_mul(&problem->Minv, q, v);
    cr_matrix_mul(&problem->J, v, u_free);
    for (int i = 0; i < n; i++) {
        u_free[i] += b[i];
    }
    problem->v = v;
    problem->u_free = u_free;
    return CR_OK;
}

crStatus cr__read_siconos_gfc(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    int d, contacts;
    crMatrix H;
    double *q = NULL, *b = NULL;
    crMatrix* M = &out->problem.M;
    crStatus status = read_sizes(&scan, 2, 3, &d, &contacts, error);
    if (status == CR_OK) status = cr__scan_siconos_matrix(&scan, &out->arena, M, error);
    if (status != CR_OK) return status;
    if (M->rows != M->cols) return cr__scan_error(&scan, error, CR_ERR_SIZE, "M", "must be square");
    // inverse(M) is full: its size must be in keeping with the text's
    if ((size_t)M->rows * (size_t)M->rows > 64 * size + 4096) {
        return cr__scan_error(&scan, error, CR_ERR_LIMIT, "M", "too large for its inverse to be formed");
    }
    int n = d * contacts;
    out->problem.nv = M->rows;
    status = read_matrix(&scan, "H", M->rows, n, &out->arena, &H, error);
    if (status == CR_OK) status = read_vector(&scan, "q", M->rows, &out->arena, &q, error);
    if (status == CR_OK) status = read_vector(&scan, "b", n, &out->arena, &b, error);
    if (status == CR_OK) status = read_cones(&scan, d, contacts, out, error);
    if (status == CR_OK) status = set_operator(&H, q, b, out, error);
    return status;
}

static crStatus expect_word(crScan* scan, const char* word, crError* error) {
    if (cr__scan_word(scan) && strcmp(scan->word, word) == 0) return CR_OK;
    char message[96];
    snprintf(message, sizeof message, "must come here, not \"%.40s\"", scan->word);
    return cr__scan_error(scan, error, CR_ERR_MISSING, word, message);
}

// row of the file (t1, t2, n) that row i of the problem (n, t1, t2) is
static size_t turned(size_t i) { return i % 3 == 0 ? i + 2 : i - 1; }

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
    if (file_row == NULL || W == NULL || u_free == NULL) return no_memory(error);
    // each row of the file is read as it stands, then put where it belongs
    for (size_t i = 0; i < n; i++) {
        status = cr__scan_numbers(&scan, "G", n, file_row, error);
        if (status != CR_OK) return status;
        size_t row = i % 3 == 2 ? i - 2 : i + 1;
        for (size_t j = 0; j < n; j++) {
            W[row * n + j] = file_row[turned(j)];
        }
    }
    status = expect_word(&scan, "g", error);
    if (status == CR_OK) status = cr__scan_numbers(&scan, "g", n, file_row, error);
    if (status == CR_OK) status = expect_word(&scan, "mu", error);
    if (status == CR_OK) status = read_cones(&scan, 3, rows / 3, out, error);
    if (status != CR_OK) return status;
    for (size_t i = 0; i < n; i++) {
        u_free[i] = file_row[turned(i)];
    }
    out->problem.u_free = u_free;
    out->problem.W = (crMatrix){rows, rows, NULL, NULL, W};
    return CR_OK;
}
