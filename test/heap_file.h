// heap_file.h - contact problems of heaps that were written by a running simulation; not part of this tree.
//
// Layout, little-endian: int32 contacts, int32 bodies; per contact 16 doubles: body a, body b (-1: fixed),
// mu, point (3), normal from a to b (3), velocity added to that of the bodies (3), impulse on b to start from
// (3), a number that is not used here; per body 16 doubles: mass, centre (3), inverse inertia xx yy zz xy xz
// yz, velocity without impulses (6). The folder is CAROM_HEAPS; files may be compressed (gzip -dc).
#ifndef CAROM_TEST_HEAP_FILE_H
#define CAROM_TEST_HEAP_FILE_H

#include "carom/carom.h"

typedef struct crHeap {
    crProblem problem;
    double* p;     // impulses to start from (rows)
    int contacts;  // three rows each
    int bodies;
} crHeap;

// Arrays come from the arena. false if the file is not there or ends early.
bool heap_read(const char* path, crArena* arena, crHeap* heap);

#endif
