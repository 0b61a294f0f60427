// scan_csparse.c - sparse matrices as Siconos' numerics prints them through CSparse.
//
//     1, 2, 3 or 4                           kept as triplets, compressed columns, compressed rows, or triplets of
//                                            one triangle of a symmetric matrix
//     CSparse Version ...                    a line of any text
//     triplet: M-by-N, nzmax: z nnz: k       then k times   i j : value
//     M-by-N, nzmax: z nnz: k, 1-norm: x     then for every column   col j : locations a to b   and lines i : value
//     csr: M-by-N, nzmax: z nnz: k, ...      then for every row      row i : locations a to b   and lines j : value
//
// Entries in one place are summed; a triangle is mirrored. Sources: the files themselves, and CSparse's cs_print.
// Fails: words and counts that do not fit, indices outside the matrix: refused with line and column.
#include "io/entries.h"
#include "io/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD "M"

typedef enum Kept { TRIPLET = 1, COLUMNS, ROWS, TRIANGLE } Kept;

typedef struct Header {
    Kept kept;
    int entries;
} Header;

static crStatus refuse(const crScan* scan, const char* message, crError* error) {
    return cr__scan_error(scan, error, CR_ERR_SYNTAX, FIELD, message);
}

static crStatus expect_scan_csparse(crScan* scan, const char* word, crError* error) {
    if (cr__scan_word(scan) && strcmp(scan->word, word) == 0) return CR_OK;
    char message[96];
    snprintf(message, sizeof message, "\"%s\" must come here, not \"%.40s\"", word, scan->word);
    return refuse(scan, message, error);
}

// "M-by-N," as the last word
static bool is_size(const crScan* scan, int rows, int cols) {
    char wanted[CR_SCAN_WORD];
    snprintf(wanted, sizeof wanted, "%d-by-%d,", rows, cols);
    return strcmp(scan->word, wanted) == 0;
}

static void skip_line_scan_csparse(crScan* scan) {
    int line = scan->line;
    while (scan->at < scan->size && scan->line == line) {
        cr__scan_step(scan);
    }
}

static crStatus read_header_scan_csparse(crScan* scan, const crMatrix* matrix, Header* header,
                                         crError* error) {
    int kept, room = 0;
    crStatus status = cr__scan_int(scan, "sparse form", TRIPLET, TRIANGLE, &kept, error);
    if (status == CR_OK) status = expect_scan_csparse(scan, "CSparse", error);
    if (status != CR_OK) return status;
    header->kept = (Kept)kept;
    skip_line_scan_csparse(scan);
    cr__scan_word(scan);
    bool triplets = kept == TRIPLET || kept == TRIANGLE;
    const char* word = triplets ? "triplet:" : "csr:";
    if (kept != COLUMNS && strcmp(scan->word, word) != 0) return refuse(scan, "another sparse form", error);
    if (kept != COLUMNS) cr__scan_word(scan);
    if (!is_size(scan, matrix->rows, matrix->cols)) {
        return cr__scan_error(scan, error, CR_ERR_SIZE, FIELD, "sizes of the sparse matrix differ");
    }
    status = expect_scan_csparse(scan, "nzmax:", error);
    if (status == CR_OK) status = cr__scan_int(scan, "nzmax", 0, INT32_MAX, &room, error);
    if (status == CR_OK) status = expect_scan_csparse(scan, "nnz:", error);
    if (status != CR_OK) return status;
    cr__scan_word(scan);
    // the count ends in a comma where the norm follows
    size_t length = strlen(scan->word);
    if (length > 0 && scan->word[length - 1] == ',') scan->word[length - 1] = '\0';
    double count = -1.0;
    if (!cr__scan_as_number(scan, &count) || !(count >= 0.0 && count <= room) || count != floor(count)) {
        return refuse(scan, "nnz must be a whole number from 0 to nzmax", error);
    }
    header->entries = (int)count;
    skip_line_scan_csparse(scan);
    return cr__scan_room(scan, FIELD, 2 * (size_t)header->entries, error);
}

static crStatus read_triplets_scan_csparse(crScan* scan, const crMatrix* matrix, int count, crEntry* entry,
                                           crError* error) {
    crStatus status = CR_OK;
    for (int k = 0; k < count && status == CR_OK; k++) {
        status = cr__scan_int(scan, FIELD, 0, matrix->rows - 1, &entry[k].row, error);
        if (status == CR_OK) status = cr__scan_int(scan, FIELD, 0, matrix->cols - 1, &entry[k].col, error);
        if (status == CR_OK) status = expect_scan_csparse(scan, ":", error);
        if (status == CR_OK) status = cr__scan_number(scan, FIELD, &entry[k].value, error);
    }
    return status;
}

// "col 3 : locations 10 to 14": entries up to *end
static crStatus read_line_header(crScan* scan, const char* word, int line, int first, int count, int* end,
                                 crError* error) {
    int number;
    crStatus status = expect_scan_csparse(scan, word, error);
    if (status == CR_OK) status = cr__scan_int(scan, word, line, line, &number, error);
    if (status == CR_OK) status = expect_scan_csparse(scan, ":", error);
    if (status == CR_OK) status = expect_scan_csparse(scan, "locations", error);
    if (status == CR_OK) status = cr__scan_int(scan, "locations", first, first, &number, error);
    if (status == CR_OK) status = expect_scan_csparse(scan, "to", error);
    if (status == CR_OK) status = cr__scan_int(scan, "locations", first - 1, count - 1, &number, error);
    *end = number + 1;
    return status;
}

static crStatus read_compressed(crScan* scan, const crMatrix* matrix, Header header, crEntry* entry,
                                crError* error) {
    bool columns = header.kept == COLUMNS;
    int lines = columns ? matrix->cols : matrix->rows;
    int most = (columns ? matrix->rows : matrix->cols) - 1;
    int k = 0;
    crStatus status = CR_OK;
    for (int line = 0; line < lines && status == CR_OK; line++) {
        int end = k;
        status = read_line_header(scan, columns ? "col" : "row", line, k, header.entries, &end, error);
        for (; k < end && status == CR_OK; k++) {
            int index = 0;
            status = cr__scan_int(scan, FIELD, 0, most, &index, error);
            if (status == CR_OK) status = expect_scan_csparse(scan, ":", error);
            if (status == CR_OK) status = cr__scan_number(scan, FIELD, &entry[k].value, error);
            entry[k].row = columns ? index : line;
            entry[k].col = columns ? line : index;
        }
    }
    if (status == CR_OK && k != header.entries) status = refuse(scan, "locations end before nnz", error);
    return status;
}

// appends the mirror images of `count` entries; returns how many there are then
static size_t mirror(crEntry* entry, size_t count) {
    size_t all = count;
    for (size_t k = 0; k < count; k++) {
        if (entry[k].row != entry[k].col) {
            entry[all++] = (crEntry){entry[k].col, entry[k].row, entry[k].value, NULL};
        }
    }
    return all;
}

crStatus cr__scan_csparse(crScan* scan, crArena* arena, crMatrix* matrix, crError* error) {
    Header header = {0};
    crStatus status = read_header_scan_csparse(scan, matrix, &header, error);
    if (status != CR_OK) return status;
    scan->half = header.kept == TRIANGLE;
    if (scan->half && matrix->rows != matrix->cols) return refuse(scan, "a triangle must be square", error);
    crEntry* entry = calloc(2 * (size_t)header.entries + 1, sizeof *entry);
    if (entry == NULL) return cr_error_set(error, CR_ERR_MEMORY, FIELD, "M: out of memory");
    bool compressed = header.kept == COLUMNS || header.kept == ROWS;
    status = compressed ? read_compressed(scan, matrix, header, entry, error)
                        : read_triplets_scan_csparse(scan, matrix, header.entries, entry, error);
    size_t count = (size_t)header.entries;
    if (status == CR_OK && scan->half) count = mirror(entry, count);
    if (status == CR_OK) {
        status = cr__entries_compress(entry, count, matrix->rows, matrix->cols, arena, matrix, NULL);
        if (status != CR_OK) cr_error_set(error, status, FIELD, "M: out of memory");
    }
    free(entry);
    return status;
}
