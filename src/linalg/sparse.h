// sparse.h - sparse factors of a matrix made of blocks of any sizes whose pattern is symmetric.
//
// Use: analyze once for a pattern, then for each set of values: clear, add to blocks, factor, solve. The
// caller gives all memory through the arena at analyze; factor and solve allocate nothing.
//
//     A = L U, L unit lower triangular, in an order that keeps the factors small
//     definite: A symmetric positive definite, U = D L^T; only the blocks on and below the diagonal are read
//     general:  values not symmetric; rows are exchanged within the diagonal part of a front only
#ifndef CAROM_LINALG_SPARSE_H
#define CAROM_LINALG_SPARSE_H

#include "carom/base.h"

#define CR_SPARSE_PANEL 12  // columns that are eliminated before the rest of a front is updated

typedef enum crSparseKind { CR_SPARSE_DEFINITE, CR_SPARSE_GENERAL } crSparseKind;

// Columns that share one front: consecutive in elimination order, with the same rows below them.
typedef struct crFront {
    int first, end;  // block columns, in elimination order
    int pivots;      // scalar columns
    int rows;        // scalar rows: the pivots, then the rows below them
    int row_first;   // its block rows below the pivots begin here in crSparse.row (first + 1 of next: end)
    int row_count;   // block rows below the pivots
    int children;    // fronts whose updates this front takes, the last ones on the stack
    size_t at;       // where its factors begin (pivots * rows numbers, each of U and L^T)
} crFront;

// Blocks of A, in elimination order.
typedef struct crSparseEntries {
    int* start;        // first entry below the diagonal of each column (count + 1)
    int* below;        // row of each entry, ascending in each column (start[count])
    int* local;        // its first scalar row within its front (start[count])
    size_t* lower;     // where the block (row, column) begins in value (start[count])
    size_t* upper;     // where the block (column, row) begins in value (start[count])
    size_t* diagonal;  // where each diagonal block begins in value (count)
} crSparseEntries;

typedef struct crSparseWork {
    double* dense;   // one front
    double* panel;   // L^T of one panel
    double* stack;   // updates that wait for their parents
    int* waiting;    // fronts on the stack (front_count)
    int* map;        // scalar places of a child's rows in its parent (largest front)
    double* vector;  // of solve (rows, and the largest front)
} crSparseWork;

typedef struct crSparse {
    int count;        // blocks
    int rows;         // scalar rows
    const int* size;  // rows of each block, the caller's numbering (count)
    int* order;       // block eliminated k-th (count)
    int* place;       // when each block is eliminated, the inverse of order (count)
    int* offset;      // first scalar row of the block eliminated k-th (count + 1)
    int* from;        // first scalar row of each block in the caller's vectors (count)
    crSparseEntries entries;
    double* value;  // the blocks of A, row by row
    size_t value_count;
    int front_count;
    crFront* front;  // (front_count)
    int* row;        // block rows below the pivots of each front, in elimination order
    int* into;       // where that block row begins in the parent's front
    double* U;       // factors by fronts: pivots x rows each
    double* Lt;      // L transposed, likewise; general only
    size_t factor_count;
    double* reciprocal;  // of each pivot (rows)
    int* exchange;       // row exchanged with each pivot, within its front (rows)
    double* largest;     // largest entry of A in each scalar column (rows)
    crSparseWork work;
    crSparseKind kind;  // of the last factorization
    double flops;       // multiplications and additions of a definite factorization; general: twice as many
} crSparse;

// Order and pattern. (start, col) lists each block's neighbours; a pair may be listed once or twice. size
// must outlive the factors. general: whether cr__sparse_factor may be asked for CR_SPARSE_GENERAL.
crStatus cr__sparse_analyze(crSparse* sparse, int count, const int* size, const int* start, const int* col,
                            bool general, crArena* arena);
void cr__sparse_clear(crSparse* sparse);
// The block (i, j) of A, size[i] x size[j] numbers row by row; NULL if the pattern does not have it. Definite
// matrices need it only for place[i] >= place[j].
double* cr__sparse_block(crSparse* sparse, int i, int j);
// The block whose pivot is zero to working precision (definite: or negative), or -1: factored.
int cr__sparse_factor(crSparse* sparse, crSparseKind kind);
// x = inverse(A) x
void cr__sparse_solve(crSparse* sparse, double* x);

#endif
