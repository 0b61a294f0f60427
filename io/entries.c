// entries.c - sorting entries (row, col, value) into compressed rows.
//
// Fails: memory.
#include "io/entries.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const void* a, const void* b) {
    const crEntry* x = a;
    const crEntry* y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->col > y->col) - (x->col < y->col);
}

crStatus cr__entries_compress(crEntry* entries, size_t count, int rows, int cols, crArena* arena,
                              crMatrix* matrix, const crEntry** twice) {
    if (count > 0) qsort(entries, count, sizeof *entries, by_place);
    int* start = cr_arena_alloc(arena, ((size_t)rows + 1) * sizeof(int));
    int* col = cr_arena_alloc(arena, count * sizeof(int));
    double* value = cr_arena_alloc(arena, count * sizeof(double));
    if (start == NULL || col == NULL || value == NULL) return CR_ERR_MEMORY;
    if (twice != NULL) *twice = NULL;
    size_t k = 0;
    int used = 0;
    for (int i = 0; i < rows; i++) {
        start[i] = used;
        for (; k < count && entries[k].row == i; k++) {
            if (used > start[i] && col[used - 1] == entries[k].col) {
                value[used - 1] += entries[k].value;
                if (twice != NULL) *twice = &entries[k];
                continue;
            }
            col[used] = entries[k].col;
            value[used++] = entries[k].value;
        }
    }
    start[rows] = used;
    *matrix = (crMatrix){rows, cols, start, col, value};
    return CR_OK;
}
