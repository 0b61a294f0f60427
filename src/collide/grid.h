// grid.h - boxes sorted into the cells of a hashed grid with one level per power of two of their size.
#ifndef CAROM_COLLIDE_GRID_H
#define CAROM_COLLIDE_GRID_H

#include "base/tasks.h"
#include "collide/pieces.h"

#define CR__GRID_LEVELS 128

// A box in a cell. Its corners are rounded down to parts of a cell's edge, three numbers in one (grid.c).
typedef struct crGridEntry {
    uint64_t lo, hi;
    int key;
    int iy, iz;  // cell of the lower corner
} crGridEntry;

typedef struct crGridLevel {
    double inverse;  // 1 / edge of a cell, which is at least the largest side of every box of the level, 1/m
    crVec3 reach;    // largest sides of its boxes, m
    int first;       // of its slots
    int mask;        // its slots are a power of two in number, this is one less
    int low, high;   // its entries are those from low to before high
} crGridLevel;

// Slot s of all levels together holds the entries from starts[s] to before starts[s + 1].
typedef struct crGrid {
    int level_count, entry_count, capacity;
    crGridLevel* levels;   // those in use, small boxes first (level_count, at most one a key)
    int* starts;           // (2 capacity + 1)
    int* slots;            // entry of each key, -1 where it is absent (capacity)
    crGridEntry* entries;  // (capacity)
} crGrid;

// Room for keys below capacity; what it held is lost. false: out of memory, nothing has changed.
bool cr__grid_reserve(crGrid* grid, const crAllocator* allocator, int capacity);
void cr__grid_free(crGrid* grid, const crAllocator* allocator);
// Sorts in the boxes of all keys below count that are present, by several threads.
void cr__grid_build(crGrid* grid, crTasks* tasks, const crBounds* boxes, const bool* present, int count);
// Indices of the entries whose boxes may meet box, each once, among them all that do; returns how many. found has room for
// so many and one more, and -1 is returned where they may not suffice. With INT_MAX it has room for all entries and one more.
int cr__grid_find(const crGrid* grid, crBounds box, int room, int* found);

#endif
