// problem_json_matrix.c - matrices of carom's own problem files, in four forms.
//
//     [[1, 2], [3, 4]]                                                  dense, a list of rows
//     {"rows": 2, "cols": 2, "entries": [[0, 0, 1], [1, 0, 3]]}         triplets, in any order, none twice
//     {"rows": 2, "cols": 2, "start": [0, 1, 2], "col": [0, 0], "value": [1, 3]}      compressed rows
//     {"diagonal": [[[1, 2], [2, 5]], 7]}                               blocks along the diagonal; a number is 1 x 1
//
// The last three become compressed rows; nothing dense is formed of them. Fails: unknown and missing fields, wrong
// types and sizes, indices out of range: refused by the matrix's name, with line and column.
#include "io/entries.h"
#include "io/problem_json.h"

#include <stdlib.h>
#include <string.h>

static crStatus no_memory_json_matrix(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
}

crStatus cr__json_whole(const crJson* value, const char* field, int least, int most, int* number,
                        crError* error) {
    double x = 0.0;
    crStatus status = cr_field_number(value, field, &x, error);
    if (status != CR_OK) return status;
    if (!(x >= least && x <= most && floor(x) == x)) {
        return cr_field_refuse(value, CR_ERR_RANGE, field, error,
                               "%s: is %.17g, must be a whole number from %d to %d", field, x, least, most);
    }
    *number = (int)x;
    return CR_OK;
}

static crStatus read_entry(const crJson* item, const char* field, int rows, int cols, crEntry* entry,
                           crError* error) {
    double x[3] = {0};
    int count = 0;
    crStatus status = cr_field_numbers(item, field, 3, 3, x, &count, error);
    if (status == CR_OK) status = cr__json_whole(item->child, field, 0, rows - 1, &entry->row, error);
    if (status == CR_OK) status = cr__json_whole(item->child->next, field, 0, cols - 1, &entry->col, error);
    entry->value = x[2];
    entry->where = item;
    return status;
}

// entry is work for all of them
static crStatus compress(const crJson* list, const char* field, crEntry* entry, crArena* arena,
                         crMatrix* matrix, crError* error) {
    size_t count = 0;
    for (const crJson* item = list->child; item != NULL; item = item->next) {
        crStatus status = read_entry(item, field, matrix->rows, matrix->cols, &entry[count++], error);
        if (status != CR_OK) return status;
    }
    const crEntry* twice = NULL;
    crStatus status = cr__entries_compress(entry, count, matrix->rows, matrix->cols, arena, matrix, &twice);
    if (status != CR_OK) return no_memory_json_matrix(error);
    if (twice == NULL) return CR_OK;
    return cr_field_refuse(twice->where, CR_ERR_SYNTAX, field, error, "%s: entry (%d, %d) is given twice",
                           field, twice->row, twice->col);
}

static crStatus read_triplets(const crJson* entries, const char* field, crArena* arena, crMatrix* matrix,
                              crError* error) {
    if (entries->packed != NULL) {
        return cr_field_refuse(entries, CR_ERR_TYPE, field, error, "%s: entries is a list of [i, j, value]",
                               field);
    }
    crEntry* entry = malloc(((size_t)entries->count + 1) * sizeof *entry);
    if (entry == NULL) return no_memory_json_matrix(error);
    crStatus status = compress(entries, field, entry, arena, matrix, error);
    free(entry);
    return status;
}

// a list of `count` whole numbers from 0 to most
static crStatus read_indices(const crJson* list, const char* field, const char* part, int count, int most,
                             crArena* arena, const int** out, crError* error) {
    if (list->type != CR_JSON_ARRAY || list->count != count) {
        return cr_field_refuse(list, CR_ERR_SIZE, field, error, "%s: %s must be a list of %d whole numbers",
                               field, part, count);
    }
    int* index = cr_arena_alloc(arena, (size_t)count * sizeof *index);
    if (index == NULL) return no_memory_json_matrix(error);
    *out = index;
    const crJson* item = list->child;
    for (int k = 0; k < count; k++, item = item != NULL ? item->next : NULL) {
        double x = list->packed != NULL ? list->packed[k] : item->number;
        bool number = list->packed != NULL || item->type == CR_JSON_NUMBER;
        if (number && x >= 0.0 && x <= most && floor(x) == x) {
            index[k] = (int)x;
            continue;
        }
        return cr_field_refuse(item != NULL ? item : list, number ? CR_ERR_RANGE : CR_ERR_TYPE, field, error,
                               "%s: number %d of %s must be a whole number from 0 to %d", field, k, part,
                               most);
    }
    return CR_OK;
}

static crStatus read_rows(const crJson* start, const crJson* col, const crJson* value, const char* field,
                          crArena* arena, crMatrix* matrix, crError* error) {
    if (col == NULL || value == NULL || value->type != CR_JSON_ARRAY) {
        return cr_field_refuse(start, CR_ERR_MISSING, field, error,
                               "%s: compressed rows have start, col and value", field);
    }
    int entries = value->count;
    crStatus status =
        read_indices(start, field, "start", matrix->rows + 1, entries, arena, &matrix->start, error);
    if (status == CR_OK)
        status = read_indices(col, field, "col", entries, matrix->cols - 1, arena, &matrix->col, error);
    if (status != CR_OK) return status;
    double* numbers = cr_arena_alloc(arena, (size_t)entries * sizeof *numbers);
    if (numbers == NULL) return no_memory_json_matrix(error);
    matrix->value = numbers;
    status = cr_field_numbers(value, field, entries, entries, numbers, &entries, error);
    if (status != CR_OK) return status;
    for (int i = 0; i < matrix->rows; i++) {
        bool good = matrix->start[i] <= matrix->start[i + 1];
        for (int k = matrix->start[i] + 1; good && k < matrix->start[i + 1]; k++) {
            good = matrix->col[k] > matrix->col[k - 1];
        }
        if (good) continue;
        return cr_field_refuse(start, CR_ERR_SIZE, field, error, "%s: columns of row %d must ascend", field,
                               i);
    }
    if (matrix->start[0] == 0 && matrix->start[matrix->rows] == entries) return CR_OK;
    return cr_field_refuse(start, CR_ERR_SIZE, field, error,
                           "%s: start must begin with 0 and end with %d, the number of values", field,
                           entries);
}

// Rows of a block, 1 for a number; -1 where it is no square list of rows.
static int block_size(const crJson* block) {
    if (block->type == CR_JSON_NUMBER) return 1;
    if (block->type != CR_JSON_ARRAY || block->packed != NULL || block->count == 0) return -1;
    for (const crJson* row = block->child; row != NULL; row = row->next) {
        if (row->type != CR_JSON_ARRAY || row->count != block->count) return -1;
    }
    return block->count;
}

static crStatus measure_blocks(const crJson* list, const char* field, int* rows, size_t* entries,
                               crError* error) {
    size_t total = 0;
    *entries = (size_t)(list->packed != NULL ? list->count : 0);
    for (const crJson* block = list->child; block != NULL; block = block->next) {
        int size = block_size(block);
        if (size < 0) {
            return cr_field_refuse(block, CR_ERR_SIZE, field, error,
                                   "%s: a block must be a number or a square list of rows", field);
        }
        total += (size_t)size;
        *entries += (size_t)size * (size_t)size;
    }
    if (list->packed != NULL) total = (size_t)list->count;
    if (total > CR_PROBLEM_MAX_ROWS || *entries > INT32_MAX) {
        return cr_field_refuse(list, CR_ERR_LIMIT, field, error, "%s: has %zu rows, allowed are %d", field,
                               total, CR_PROBLEM_MAX_ROWS);
    }
    *rows = (int)total;
    return CR_OK;
}

// the rows of one block, from `first` on
static crStatus read_block_json_matrix(const crJson* block, const char* field, int first, int* start,
                                       int* col, double* value, crError* error) {
    int size = block_size(block);
    int at = start[first];
    const crJson* row = block->child;
    for (int i = 0; i < size; i++, row = row->next) {
        int count = 0;
        crStatus status = CR_OK;
        if (block->type == CR_JSON_NUMBER) {
            value[at] = block->number;
        } else {
            status = cr_field_numbers(row, field, size, size, value + at, &count, error);
        }
        if (status != CR_OK) return status;
        for (int j = 0; j < size; j++) {
            col[at++] = first + j;
        }
        start[first + i + 1] = at;
        if (block->type == CR_JSON_NUMBER) break;
    }
    return CR_OK;
}

static crStatus read_diagonal(const crJson* list, const char* field, crArena* arena, crMatrix* matrix,
                              crError* error) {
    if (list->type != CR_JSON_ARRAY) {
        return cr_field_refuse(list, CR_ERR_TYPE, field, error, "%s: diagonal must be a list of blocks",
                               field);
    }
    int rows = 0;
    size_t entries = 0;
    crStatus status = measure_blocks(list, field, &rows, &entries, error);
    if (status != CR_OK) return status;
    int* start = cr_arena_alloc(arena, ((size_t)rows + 1) * sizeof *start);
    int* col = cr_arena_alloc(arena, entries * sizeof *col);
    double* value = cr_arena_alloc(arena, entries * sizeof *value);
    if (start == NULL || col == NULL || value == NULL) return no_memory_json_matrix(error);
    *matrix = (crMatrix){rows, rows, start, col, value};
    start[0] = 0;
    for (int i = 0; i < rows && list->packed != NULL; i++) {
        start[i + 1] = i + 1;
        col[i] = i;
        value[i] = list->packed[i];
    }
    int first = 0;
    for (const crJson* block = list->child; block != NULL && status == CR_OK; block = block->next) {
        status = read_block_json_matrix(block, field, first, start, col, value, error);
        first += block_size(block);
    }
    return status;
}

static crStatus read_sparse(const crJson* value, const char* field, crArena* arena, crMatrix* matrix,
                            crError* error) {
    static const char* const known[] = {"rows", "cols", "entries", "start", "col", "value", "diagonal", NULL};
    char prefix[16];
    snprintf(prefix, sizeof prefix, "%s.", field);
    crStatus status = cr_field_known(value, prefix, known, error);
    if (status != CR_OK) return status;
    const crJson* rows = cr_json_get(value, "rows");
    const crJson* cols = cr_json_get(value, "cols");
    const crJson* entries = cr_json_get(value, "entries");
    const crJson* start = cr_json_get(value, "start");
    const crJson* diagonal = cr_json_get(value, "diagonal");
    bool triplets = entries != NULL && entries->type == CR_JSON_ARRAY;
    if (diagonal != NULL && value->count == 1) return read_diagonal(diagonal, field, arena, matrix, error);
    if (rows == NULL || cols == NULL || triplets == (start != NULL) || diagonal != NULL ||
        (triplets && value->count != 3)) {
        return cr_field_refuse(
            value, CR_ERR_MISSING, field, error,
            "%s: a sparse matrix has rows, cols and either entries, a list of [i, j, value], "
            "or start, col and value; a block-diagonal one has diagonal",
            field);
    }
    status = cr__json_whole(rows, field, 0, CR_PROBLEM_MAX_ROWS, &matrix->rows, error);
    if (status == CR_OK) status = cr__json_whole(cols, field, 0, CR_PROBLEM_MAX_ROWS, &matrix->cols, error);
    if (status != CR_OK) return status;
    if (triplets) return read_triplets(entries, field, arena, matrix, error);
    return read_rows(start, cr_json_get(value, "col"), cr_json_get(value, "value"), field, arena, matrix,
                     error);
}

crStatus cr__json_matrix(const crJson* value, const char* field, crArena* arena, crMatrix* matrix,
                         crError* error) {
    if (value->type == CR_JSON_OBJECT) return read_sparse(value, field, arena, matrix, error);
    if (value->type != CR_JSON_ARRAY) {
        return cr_field_refuse(value, CR_ERR_TYPE, field, error,
                               "%s: must be a list of rows or a sparse matrix {...}, is %s", field,
                               cr_json_type_name(value->type));
    }
    if (value->packed != NULL) {
        return cr_field_refuse(value, CR_ERR_TYPE, field, error,
                               "%s: must be a list of rows, is one of numbers", field);
    }
    int rows = value->count;
    int cols = rows > 0 && value->child->type == CR_JSON_ARRAY ? value->child->count : 0;
    // every row must be there before memory is taken for all of them
    for (const crJson* row = value->child; row != NULL; row = row->next) {
        if (row->type == CR_JSON_ARRAY && row->count == cols) continue;
        return cr_field_refuse(row, row->type == CR_JSON_ARRAY ? CR_ERR_SIZE : CR_ERR_TYPE, field, error,
                               "%s: every row must be a list of %d numbers, as the first is", field, cols);
    }
    double* values = cr_arena_alloc(arena, (size_t)rows * (size_t)cols * sizeof *values);
    if (values == NULL) return no_memory_json_matrix(error);
    *matrix = (crMatrix){rows, cols, NULL, NULL, values};
    int i = 0;
    for (const crJson* row = value->child; row != NULL; row = row->next, i++) {
        int count = 0;
        crStatus status =
            cr_field_numbers(row, field, cols, cols, values + (size_t)i * (size_t)cols, &count, error);
        if (status != CR_OK) return status;
    }
    return CR_OK;
}
