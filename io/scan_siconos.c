// scan_siconos.c - matrices as Siconos' numerics writes them.
//
//     0                  dense: rows, cols, then both again, then all entries by columns
//     1                  blocks: rows, cols, number of blocks, of block rows and columns; where each block row
//                        and block column ends; a row-compressed pattern of blocks; then each block's number
//                        and its entries by columns
//     2                  sparse: rows, cols, then what CSparse prints (scan_csparse.c)
//
// Source: the files themselves. Fails: inconsistent sizes are refused by name.
#include "io/scan.h"

#include <string.h>

#define FIELD "M"

typedef struct Blocks {
    int count, block_rows, block_cols;
    int* row_end;  // (block_rows)
    int* col_end;  // (block_cols)
    int* start;    // first block of each block row (block_rows + 1)
    int* col;      // block column of each block (count)
} Blocks;

static crStatus no_memory_scan_siconos(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, FIELD, "M: out of memory");
}

static crStatus read_dense(crScan* scan, crArena* arena, crMatrix* matrix, crError* error) {
    int rows, cols;
    crStatus status = cr__scan_int(scan, "rows", matrix->rows, matrix->rows, &rows, error);
    if (status == CR_OK) status = cr__scan_int(scan, "cols", matrix->cols, matrix->cols, &cols, error);
    if (status != CR_OK) return status;
    size_t entries = (size_t)rows * (size_t)cols;
    status = cr__scan_room(scan, FIELD, entries, error);
    if (status != CR_OK) return status;
    double* value = cr_arena_alloc(arena, entries * sizeof(double));
    if (value == NULL) return no_memory_scan_siconos(error);
    for (size_t j = 0; j < (size_t)cols; j++) {
        for (size_t i = 0; i < (size_t)rows; i++) {
            status = cr__scan_number(scan, FIELD, &value[i * (size_t)cols + j], error);
            if (status != CR_OK) return status;
        }
    }
    matrix->value = value;
    return CR_OK;
}

// `count` whole numbers, each from the one before (or above it, where strict) to hi
static crStatus read_ascending(crScan* scan, const char* field, int count, int first, int hi, bool strict,
                               int* numbers, crError* error) {
    int lo = first;
    for (int i = 0; i < count; i++) {
        crStatus status = cr__scan_int(scan, field, lo, hi, &numbers[i], error);
        if (status != CR_OK) return status;
        lo = numbers[i] + (strict ? 1 : 0);
    }
    return CR_OK;
}

static crStatus read_pattern(crScan* scan, crArena* arena, const crMatrix* matrix, Blocks* blocks,
                             crError* error) {
    int most = (int)((scan->size - scan->at) / 2) + 1;
    crStatus status = cr__scan_int(scan, "block count", 0, most, &blocks->count, error);
    if (status == CR_OK) status = cr__scan_int(scan, "block rows", 0, most, &blocks->block_rows, error);
    if (status == CR_OK) status = cr__scan_int(scan, "block columns", 0, most, &blocks->block_cols, error);
    if (status != CR_OK) return status;
    size_t integers = 2 * (size_t)blocks->block_rows + (size_t)blocks->block_cols + (size_t)blocks->count + 1;
    status = cr__scan_room(scan, "blocks", integers, error);
    if (status != CR_OK) return status;
    int* memory = cr_arena_alloc(arena, integers * sizeof(int));
    if (memory == NULL) return no_memory_scan_siconos(error);
    blocks->row_end = memory;
    blocks->col_end = blocks->row_end + blocks->block_rows;
    blocks->start = blocks->col_end + blocks->block_cols;
    blocks->col = blocks->start + blocks->block_rows + 1;
    status = read_ascending(scan, "block row ends", blocks->block_rows, 1, matrix->rows, true,
                            blocks->row_end, error);
    if (status == CR_OK) {
        status = read_ascending(scan, "block column ends", blocks->block_cols, 1, matrix->cols, true,
                                blocks->col_end, error);
    }
    int filled;
    if (status == CR_OK) {
        status =
            cr__scan_int(scan, "filled rows", blocks->block_rows + 1, blocks->block_rows + 1, &filled, error);
    }
    if (status == CR_OK) {
        status = cr__scan_int(scan, "filled blocks", blocks->count, blocks->count, &filled, error);
    }
    if (status == CR_OK) {
        status = read_ascending(scan, "block row starts", blocks->block_rows + 1, 0, blocks->count, false,
                                blocks->start, error);
    }
    for (int i = 0; status == CR_OK && i < blocks->block_rows; i++) {
        status = read_ascending(scan, "block columns", blocks->start[i + 1] - blocks->start[i], 0,
                                blocks->block_cols - 1, true, blocks->col + blocks->start[i], error);
    }
    return status;
}

// ends, first entries and widths in the row-compressed matrix
static crStatus check_pattern(const crScan* scan, const crMatrix* matrix, const Blocks* blocks,
                              crError* error) {
    bool whole = blocks->block_rows > 0 && blocks->block_cols > 0 &&
                 blocks->row_end[blocks->block_rows - 1] == matrix->rows &&
                 blocks->col_end[blocks->block_cols - 1] == matrix->cols && blocks->start[0] == 0 &&
                 blocks->start[blocks->block_rows] == blocks->count;
    if (!whole && (matrix->rows > 0 || blocks->count > 0)) {
        return cr__scan_error(scan, error, CR_ERR_SIZE, "blocks", "do not cover the matrix");
    }
    return CR_OK;
}

static int begin_of(const int* ends, int i) { return i == 0 ? 0 : ends[i - 1]; }

static size_t count_entries(const Blocks* blocks, int* start) {
    size_t entries = 0;
    for (int i = 0; i < blocks->block_rows; i++) {
        for (int row = begin_of(blocks->row_end, i); row < blocks->row_end[i]; row++) {
            if (start != NULL) start[row] = (int)entries;
            for (int k = blocks->start[i]; k < blocks->start[i + 1]; k++) {
                entries +=
                    (size_t)(blocks->col_end[blocks->col[k]] - begin_of(blocks->col_end, blocks->col[k]));
            }
            if (start != NULL) start[row + 1] = (int)entries;
        }
    }
    return entries;
}

// entries of block k (in block row i, `before` columns into it) into the compressed rows
static crStatus read_block_scan_siconos(crScan* scan, const Blocks* blocks, int i, int k, int before,
                                        const int* start, int* col, double* value, crError* error) {
    int number;
    crStatus status = cr__scan_int(scan, "block number", k, k, &number, error);
    int first = begin_of(blocks->col_end, blocks->col[k]);
    int end = blocks->col_end[blocks->col[k]];
    for (int j = first; status == CR_OK && j < end; j++) {
        for (int row = begin_of(blocks->row_end, i); status == CR_OK && row < blocks->row_end[i]; row++) {
            size_t at = (size_t)start[row] + (size_t)before + (size_t)(j - first);
            col[at] = j;
            status = cr__scan_number(scan, FIELD, &value[at], error);
        }
    }
    return status;
}

static crStatus read_blocks_scan_siconos(crScan* scan, crArena* arena, crMatrix* matrix, crError* error) {
    Blocks blocks;
    crStatus status = cr__scan_room(scan, FIELD, (size_t)matrix->rows, error);
    if (status == CR_OK) status = read_pattern(scan, arena, matrix, &blocks, error);
    if (status == CR_OK) status = check_pattern(scan, matrix, &blocks, error);
    if (status != CR_OK) return status;
    size_t entries = count_entries(&blocks, NULL);
    status = cr__scan_room(scan, FIELD, entries, error);
    if (status != CR_OK) return status;
    int* start = cr_arena_alloc(arena, ((size_t)matrix->rows + 1) * sizeof(int));
    int* col = cr_arena_alloc(arena, entries * sizeof(int));
    double* value = cr_arena_alloc(arena, entries * sizeof(double));
    if (start == NULL || col == NULL || value == NULL) return no_memory_scan_siconos(error);
    start[0] = 0;
    count_entries(&blocks, start);
    for (int i = 0; status == CR_OK && i < blocks.block_rows; i++) {
        int before = 0;
        for (int k = blocks.start[i]; status == CR_OK && k < blocks.start[i + 1]; k++) {
            status = read_block_scan_siconos(scan, &blocks, i, k, before, start, col, value, error);
            before += blocks.col_end[blocks.col[k]] - begin_of(blocks.col_end, blocks.col[k]);
        }
    }
    matrix->start = start;
    matrix->col = col;
    matrix->value = value;
    return status;
}

crStatus cr__scan_siconos_matrix(crScan* scan, crArena* arena, crMatrix* matrix, crError* error) {
    int storage;
    *matrix = (crMatrix){0};
    scan->half = false;
    crStatus status = cr__scan_int(scan, "storage", 0, 2, &storage, error);
    if (status == CR_OK) status = cr__scan_int(scan, "rows", 0, 10000000, &matrix->rows, error);
    if (status == CR_OK) status = cr__scan_int(scan, "cols", 0, 10000000, &matrix->cols, error);
    if (status != CR_OK) return status;
    if (storage == 0) return read_dense(scan, arena, matrix, error);
    return storage == 1 ? read_blocks_scan_siconos(scan, arena, matrix, error)
                        : cr__scan_csparse(scan, arena, matrix, error);
}
