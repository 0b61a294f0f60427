// entries.h - a sparse matrix from entries in any order, and symmetric matrices of others' files.
#ifndef CAROM_IO_ENTRIES_H
#define CAROM_IO_ENTRIES_H

#include "io/problem.h"

typedef struct crEntry {
    int row, col;
    double value;
    const void* where;  // the caller's own
} crEntry;

// Sorts the entries and sums those in the same place. *twice (may be NULL) is one that shares its place, or
// NULL.
crStatus cr__entries_compress(crEntry* entries, size_t count, int rows, int cols, crArena* arena,
                              crMatrix* matrix, const crEntry** twice);

// Takes the symmetric part of the problem's W or M (name "W" or "M") and says in file->mended how unsymmetric it
// was. Refuses, by entry, differences above 1e-2 of the largest entry (W) or of sqrt(m_ii m_jj) (M).
crStatus cr__symmetrise(crProblemFile* file, const char* name, crError* error);

// Says in file->mended that only one triangle, "lower" or "upper", was stored and has been mirrored.
void cr__mirrored(crProblemFile* file, const char* name, const char* triangle);

#endif
