// problem_siconos_lcp.c - LCPs and mixed LCPs as Siconos' numerics keeps them in files.
//
//     siconos-lcp        n, matrix (see scan_siconos.c), q                      0 <= M z + q _|_ z >= 0
//     siconos-lcp-rows   n, matrix by rows, q
//     siconos-mlcp       1, whether A, B, C, D follow too; n, m; where the blocks of rows begin and end, up
//                        to n + m; for each block 0 (equality) or 1 (complementarity); matrix, q
//
// What follows (solutions, remarks, the matrix once more in parts) is not read. All are raw problems. Fails:
// sizes that do not fit the text or each other, words that are no numbers: refused with line and column.
#include "io/problem_parts.h"
#include "io/scan.h"

#include <stdio.h>

static crStatus no_memory_siconos_lcp(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
}

static crStatus read_q(crScan* scan, int n, crProblemFile* out, crError* error) {
    crStatus status = cr__scan_room(scan, "q", (size_t)n, error);
    if (status != CR_OK) return status;
    double* q = cr_arena_alloc(&out->arena, (size_t)n * sizeof(double));
    if (q == NULL) return no_memory_siconos_lcp(error);
    out->problem.u_free = q;
    return cr__scan_numbers(scan, "q", (size_t)n, q, error);
}

static crStatus set_unilateral(int n, crProblemFile* out, crError* error) {
    crBlock* block = cr_arena_alloc(&out->arena, sizeof *block);
    if (block == NULL) return no_memory_siconos_lcp(error);
    *block = cr_block(CR_BLOCK_UNILATERAL, 0, n);
    out->problem.rows = n;
    out->problem.blocks = block;
    out->problem.block_count = n > 0 ? 1 : 0;
    out->problem.raw = true;
    return CR_OK;
}

// the next numbers as a square matrix of n rows
static crStatus read_square(crScan* scan, int n, crProblemFile* out, crError* error) {
    crMatrix* W = &out->problem.W;
    crStatus status = cr__scan_siconos_matrix(scan, &out->arena, W, error);
    if (status != CR_OK) return status;
    if (W->rows != n || W->cols != n) {
        char message[96];
        snprintf(message, sizeof message, "is %d x %d, must be %d x %d", W->rows, W->cols, n, n);
        return cr__scan_error(scan, error, CR_ERR_SIZE, "M", message);
    }
    return CR_OK;
}

crStatus cr__read_siconos_lcp(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    int n;
    crStatus status = cr__scan_int(&scan, "n", 0, 1000000, &n, error);
    if (status == CR_OK) status = read_square(&scan, n, out, error);
    if (status == CR_OK) status = read_q(&scan, n, out, error);
    if (status == CR_OK) status = set_unilateral(n, out, error);
    return status;
}

crStatus cr__read_siconos_lcp_rows(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    int n;
    crStatus status = cr__scan_int(&scan, "n", 0, 1000000, &n, error);
    if (status != CR_OK) return status;
    size_t entries = (size_t)n * (size_t)n;
    status = cr__scan_room(&scan, "M", entries, error);
    if (status != CR_OK) return status;
    double* value = cr_arena_alloc(&out->arena, entries * sizeof(double));
    if (value == NULL) return no_memory_siconos_lcp(error);
    out->problem.W = (crMatrix){n, n, NULL, NULL, value};
    status = cr__scan_numbers(&scan, "M", entries, value, error);
    if (status == CR_OK) status = read_q(&scan, n, out, error);
    if (status == CR_OK) status = set_unilateral(n, out, error);
    return status;
}

// blocks of rows: their ends up to `rows`, then the kind of each
static crStatus read_blocks_siconos_lcp(crScan* scan, int rows, crProblemFile* out, crError* error) {
    int zero, end = 0, count = 0;
    crStatus status = cr__scan_room(scan, "blocks", (size_t)rows, error);
    if (status == CR_OK) status = cr__scan_int(scan, "blocks", 0, 0, &zero, error);
    if (status != CR_OK) return status;
    crBlock* blocks = cr_arena_alloc(&out->arena, (size_t)rows * sizeof *blocks);
    if (blocks == NULL) return no_memory_siconos_lcp(error);
    while (end < rows) {
        int begin = end;
        status = cr__scan_int(scan, "blocks", begin + 1, rows, &end, error);
        if (status != CR_OK) return status;
        blocks[count++] = cr_block(CR_BLOCK_EQUALITY, begin, end - begin);
    }
    for (int i = 0; i < count; i++) {
        int complementary;
        status = cr__scan_int(scan, "block kind", 0, 1, &complementary, error);
        if (status != CR_OK) return status;
        if (complementary) blocks[i].kind = CR_BLOCK_UNILATERAL;
    }
    out->problem.blocks = blocks;
    out->problem.block_count = count;
    out->problem.rows = rows;
    out->problem.raw = true;
    return CR_OK;
}

crStatus cr__read_siconos_mlcp(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    int whole, parts, n, m;
    crStatus status = cr__scan_int(&scan, "storage of M", 1, 1, &whole, error);
    if (status == CR_OK) status = cr__scan_int(&scan, "storage of A, B, C, D", 0, 1, &parts, error);
    if (status == CR_OK) status = cr__scan_int(&scan, "n", 0, 500000, &n, error);
    if (status == CR_OK) status = cr__scan_int(&scan, "m", 0, 500000, &m, error);
    if (status == CR_OK) status = read_blocks_siconos_lcp(&scan, n + m, out, error);
    if (status == CR_OK) status = read_square(&scan, n + m, out, error);
    if (status == CR_OK) status = read_q(&scan, n + m, out, error);
    return status;
}
