// entries.h - a sparse matrix from entries in any order, and the inverse of a problem's M.
#ifndef CAROM_IO_ENTRIES_H
#define CAROM_IO_ENTRIES_H

#include "io/problem.h"

#define CR_ENTRIES_MAX_NV 3000  // rows of an M whose full inverse is formed

typedef struct crEntry {
    int row, col;
    double value;
    const void* where;  // the caller's own
} crEntry;

// Sorts the entries and sums those in the same place. *twice (may be NULL) is one that shares its place, or
// NULL.
crStatus cr__entries_compress(crEntry* entries, size_t count, int rows, int cols, crArena* arena,
                              crMatrix* matrix, const crEntry** twice);

// Minv from M: full, or diagonal where M is large and diagonal. Refuses an M that is too large or not
// positive definite.
crStatus cr__entries_invert(crProblemFile* file, crError* error);

#endif
