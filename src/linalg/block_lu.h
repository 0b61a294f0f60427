// block_lu.h - sparse A = L U of a matrix made of small blocks whose pattern is symmetric.
//
// Use: analyze once for a pattern (memory comes from the arena and stays with it), then for each set of
// values clear, add blocks through cr__block_lu_at, factor, solve. Small matrices are kept full and factored
// with pivoting over all rows, which also copes with what has no dominant diagonal.
#ifndef CAROM_LINALG_BLOCK_LU_H
#define CAROM_LINALG_BLOCK_LU_H

#include "carom/base.h"

#define CR_BLOCK_LU_MAX_SIZE 8  // rows of one block at most

typedef struct crBlockLu {
    int count;           // block rows
    int rows;            // rows
    bool full;           // kept as a full matrix; then order has rows entries and the pattern is not used
    const int* size;     // rows of each block, the caller's numbering (count)
    const int* row;      // first row of each block in vectors (count)
    int* order;          // block eliminated k-th (count), full: rows after exchanges (rows)
    int* place;          // when each block is eliminated, the inverse of order (count)
    int* start;          // first entry of each eliminated row (count + 1)
    int* pivot;          // entry of each row's diagonal (count)
    int* col;            // columns in elimination order, ascending in each row (start[count])
    size_t* at;          // where each entry's block begins in value (start[count])
    double* value;       // blocks row by row; after factor: L, inverse of the diagonal, U
    size_t value_count;  // numbers in value
    int* seat;           // work: entry of each column in the current row (count)
    double* work;        // work: one block's rows, full: one vector (rows)
} crBlockLu;

// Fill-reducing order and pattern of the factors. (start, col) lists each block's neighbours; a pair may be
// given once or twice, and the diagonal need not be given. size and row must outlive lu.
// Matrices of up to full_rows rows are kept full.
crStatus cr__block_lu_analyze(crBlockLu* lu, int count, const int* size, const int* row, const int* start,
                              const int* col, int full_rows, crArena* arena);
void cr__block_lu_clear(crBlockLu* lu);
// The block (i, j) of A to add to, its rows `stride` numbers apart; NULL where the pattern has none.
double* cr__block_lu_at(crBlockLu* lu, int i, int j, int* stride);
// false where a diagonal block became singular to working precision.
bool cr__block_lu_factor(crBlockLu* lu);
// x = inverse(A) x
void cr__block_lu_solve(const crBlockLu* lu, double* x);

#endif
