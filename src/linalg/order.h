// order.h - an elimination order that keeps the factors of a sparse symmetric pattern small.
#ifndef CAROM_LINALG_ORDER_H
#define CAROM_LINALG_ORDER_H

#include "carom/base.h"

// Minimum degree order of a graph with `count` nodes. (start, col) lists each node's neighbours; a pair may
// be listed once or twice, and a node may list itself. weight (count): rows of each node. order (count)
// receives the nodes in elimination order. Ties go to the lowest number. Work comes from the arena and is
// given back.
crStatus cr__minimum_degree(int count, const int* weight, const int* start, const int* col, crArena* arena,
                            int* order);

#endif
