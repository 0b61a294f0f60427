// table.c - reading comma-separated numbers.
//
// A cell that is not a number becomes NaN and is refused, with its text and its place, only by who needs the
// column: files carry notes and flags that nobody reads. Fails: see table.h.
#include "io/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static crStatus out_of_memory_table(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "file", "file: out of memory");
}

static crStatus load_table(const char* path, crTable* table, crError* error) {
    FILE* file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL)
        return cr_error_set(error, CR_ERR_FILE, "file", "file: cannot open %.120s: %s", path,
                            strerror(errno));
    crStatus status = CR_OK;
    size_t room = 1 << 16;
    table->text = malloc(room);
    while (table->text != NULL) {
        table->size += fread(table->text + table->size, 1, room - 1 - table->size, file);
        if (table->size < room - 1) break;
        char* larger = room < CR_TABLE_MAX_SIZE ? realloc(table->text, 2 * room) : NULL;
        if (larger == NULL) {
            status = room < CR_TABLE_MAX_SIZE
                         ? out_of_memory_table(error)
                         : cr_error_set(error, CR_ERR_LIMIT, "file", "file: %.120s is longer than %zu bytes",
                                        path, CR_TABLE_MAX_SIZE);
            break;
        }
        table->text = larger;
        room *= 2;
    }
    if (table->text == NULL) status = out_of_memory_table(error);
    if (status == CR_OK && ferror(file))
        status = cr_error_set(error, CR_ERR_FILE, "file", "file: cannot read %.120s", path);
    if (status == CR_OK) table->text[table->size] = '\0';
    if (file != stdin) fclose(file);
    return status;
}

// the line that begins at `at` holds a row
static bool is_row(const crTable* t, size_t at) {
    if (t->text[at] == '#') return false;
    at += strspn(t->text + at, " \t\r");
    return t->text[at] != '\n' && t->text[at] != '\0';
}

// the start of the next line that holds a row, or size
static size_t next_row(const crTable* t, size_t at) {
    while (at < t->size && !is_row(t, at)) {
        at += strcspn(t->text + at, "\n");
        at += at < t->size;
    }
    return at;
}

static int count_cells(const crTable* t, size_t at) {
    int count = 1;
    for (; at < t->size && t->text[at] != '\n'; at++) {
        count += t->text[at] == ',';
    }
    return count;
}

static int count_lines(const crTable* t, size_t from, size_t to) {
    int count = 0;
    for (size_t i = from; i < to; i++) {
        count += t->text[i] == '\n';
    }
    return count;
}

static crStatus refuse(const crTable* t, size_t at, crStatus status, crError* error) {
    if (error == NULL) return status;
    error->line = 1;
    error->column = 1;
    for (size_t i = 0; i < at; i++) {
        error->column = t->text[i] == '\n' ? 1 : error->column + 1;
        error->line += t->text[i] == '\n';
    }
    return status;
}

static int by_name(const void* a, const void* b) {
    const char *x = *(const char* const*)a, *y = *(const char* const*)b;
    int order = strcmp(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

// two neighbours of the sorted names that are equal
static crStatus check_twice(const crTable* t, crError* error) {
    size_t count = (size_t)t->columns;
    const char** sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL) return out_of_memory_table(error);
    memcpy(sorted, t->names, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_name);
    crStatus status = CR_OK;
    for (size_t i = 1; i < count && status == CR_OK; i++) {
        if (strcmp(sorted[i], sorted[i - 1]) != 0) continue;
        status =
            cr_error_set(error, CR_ERR_SYNTAX, "header", "header: two columns are called '%.40s'", sorted[i]);
        refuse(t, (size_t)(sorted[i] - t->text), status, error);
    }
    free(sorted);
    return status;
}

static crStatus check_names(const crTable* t, crError* error) {
    for (int i = 0; i < t->columns; i++) {
        if (t->names[i][0] != '\0') continue;
        cr_error_set(error, CR_ERR_SYNTAX, "header", "header: column %d has no name", i + 1);
        return refuse(t, (size_t)(t->names[i] - t->text), CR_ERR_SYNTAX, error);
    }
    return check_twice(t, error);
}

// names in the text get their NULs after everything is counted, so that places can be found in it
static crStatus read_header_table(crTable* t, size_t at, crError* error) {
    char* name = t->text + at;
    for (int i = 0; i < t->columns; i++) {
        size_t length = strcspn(name, ",\n");
        char* next = name + length + 1;
        while (length > 0 && strchr(" \t\r\"", name[length - 1]) != NULL) {
            length--;
        }
        name[length] = '\0';
        t->names[i] = name + strspn(name, " \t\"");
        name = next;
    }
    return check_names(t, error);
}

static crStatus read_row_table(crTable* t, int row, size_t at, crError* error) {
    int cells = count_cells(t, at);
    if (cells != t->columns) {
        cr_error_set(error, CR_ERR_SIZE, "row", "row: has %d cells, the header has %d", cells, t->columns);
        return refuse(t, at, CR_ERR_SIZE, error);
    }
    for (int i = 0; i < t->columns; i++) {
        size_t index = (size_t)row * (size_t)t->columns + (size_t)i;
        size_t length = strcspn(t->text + at, ",\n");
        char* end = NULL;
        double value = strtod(t->text + at, &end);
        bool number = end > t->text + at && end <= t->text + at + length;
        if (number) end += strspn(end, " \t\r");
        t->at[index] = at;
        t->values[index] = number && end == t->text + at + length ? value : (double)NAN;
        at += length + 1;
    }
    return CR_OK;
}

static crStatus parse_table(crTable* t, crError* error) {
    size_t header = next_row(t, 0);
    if (header >= t->size) return cr_error_set(error, CR_ERR_SYNTAX, "header", "header: the file is empty");
    t->columns = count_cells(t, header);
    if (t->columns > CR_TABLE_MAX_COLUMNS)
        return cr_error_set(error, CR_ERR_LIMIT, "header", "header: %d columns, at most %d", t->columns,
                            CR_TABLE_MAX_COLUMNS);
    size_t first = header + strcspn(t->text + header, "\n");
    size_t rows = 0;
    for (size_t at = next_row(t, first); at < t->size; at = next_row(t, at + strcspn(t->text + at, "\n"))) {
        rows++;
    }
    size_t cells = rows * (size_t)t->columns;
    t->names = calloc((size_t)t->columns, sizeof *t->names);
    t->values = calloc(cells + 1, sizeof *t->values);
    t->at = calloc(cells + 1, sizeof *t->at);
    t->lines = calloc(rows + 1, sizeof *t->lines);
    if (t->names == NULL || t->values == NULL || t->at == NULL || t->lines == NULL)
        return out_of_memory_table(error);
    size_t at = first;
    int line = 1 + count_lines(t, 0, at);
    for (; t->rows < (int)rows; t->rows++) {
        size_t row = next_row(t, at);
        line += count_lines(t, at, row);
        t->lines[t->rows] = line;
        at = row;
        crStatus status = read_row_table(t, t->rows, at, error);
        if (status != CR_OK) return status;
        at += strcspn(t->text + at, "\n");
    }
    return read_header_table(t, header, error);
}

crStatus cr_table_read(const char* path, crTable* table, crError* error) {
    *table = (crTable){0};
    crStatus status = load_table(path, table, error);
    if (status == CR_OK && memchr(table->text, '\0', table->size) != NULL)
        status = cr_error_set(error, CR_ERR_SYNTAX, "file", "file: is not text");
    if (status == CR_OK) status = parse_table(table, error);
    if (status != CR_OK) cr_table_free(table);
    return status;
}

void cr_table_free(crTable* table) {
    free(table->text);
    free(table->names);
    free(table->values);
    free(table->at);
    free(table->lines);
    *table = (crTable){0};
}

int cr_table_column(const crTable* table, const char* name) {
    for (int i = 0; i < table->columns; i++) {
        if (strcmp(table->names[i], name) == 0) return i;
    }
    return -1;
}

static size_t index_of(const crTable* t, int row, int column) {
    return (size_t)row * (size_t)t->columns + (size_t)column;
}

double cr_table_value(const crTable* table, int row, int column) {
    return table->values[index_of(table, row, column)];
}

void cr_table_place(const crTable* table, int row, int column, crError* error) {
    if (error == NULL) return;
    error->line = table->lines[row];
    error->column = 1 + (int)(table->at[index_of(table, row, column)] - table->at[index_of(table, row, 0)]);
}

void cr_table_cell(const crTable* table, int row, int column, char* text, size_t size) {
    const char* from = table->text + table->at[index_of(table, row, column)];
    snprintf(text, size, "%.*s", (int)strcspn(from, ",\r\n"), from);
}
