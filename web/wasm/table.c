// table.c - rows over time that a scene reads back as the same values, to the bit.
//
// A scene's table is straight between its rows (io/scene_value.c): a step that finds its middle in the table gets
// that row. Values that held for several steps get a row where they end, between the middles of two steps.
// Fails: memory, and more rows than a scene may have; the rows are then as they were.
#include <stdlib.h>
#include <string.h>

#include "hand.h"

#define MOST 99990  // a scene takes 100000

static bool add(PageTable* table, double time, const double* values) {
    if (table->count == table->room) {
        int room = 2 * table->room + 64;
        double* rows = realloc(table->rows, (size_t)room * (size_t)table->width * sizeof(double));
        if (rows == NULL || table->count >= MOST) {
            if (rows != NULL) table->rows = rows;
            return false;
        }
        table->rows = rows;
        table->room = room;
    }
    double* row = table->rows + table->count++ * table->width;
    row[0] = time;
    memcpy(row + 1, values, (size_t)(table->width - 1) * sizeof(double));
    return true;
}

bool table_follow(PageTable* table, double begin, double middle, const double* values) {
    size_t size = (size_t)(table->width - 1) * sizeof(double);
    const double* last = table->count > 0 ? table->rows + (table->count - 1) * table->width : NULL;
    if (last != NULL && memcmp(last + 1, values, size) == 0) return true;
    int before = table->count;
    double held[4];
    if (last != NULL) memcpy(held, last + 1, size);
    // the row of the step before needs none after it
    bool near = last == NULL || last[0] > begin - 2.0 * (middle - begin);
    bool ok = near || add(table, begin, held);
    if (ok && add(table, middle, values)) return true;
    table->count = before;
    return false;
}

void table_cut(PageTable* table, double time) {
    while (table->count > 0 && table->rows[(table->count - 1) * table->width] >= time) {
        table->count--;
    }
}

void table_write(FILE* file, const PageTable* table) {
    putc('[', file);
    for (int i = 0; i < table->count; i++) {
        fputs(i > 0 ? ",[" : "[", file);
        for (int k = 0; k < table->width; k++) {
            fprintf(file, "%s%.17g", k > 0 ? "," : "", table->rows[i * table->width + k]);
        }
        putc(']', file);
    }
    putc(']', file);
}
