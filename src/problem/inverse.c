// inverse.c - the inverse of a mass matrix, one block of coupled indices at a time.
//
// Indices i and j belong to one block where a chain of entries m_ij != 0 joins them. Each block is gathered,
// factored by Cholesky and inverted in full; what lies between blocks is zero. Blocks are numbered by their first
// index and keep the order of their indices, so the result does not depend on how M is stored. Fails: unsymmetric,
// not-positive (by a row of the block), limit, memory.
#include "base/argument.h"
#include "base/forest.h"
#include <string.h>

#include "carom/problem.h"
#include "linalg/dense.h"
#include "symmetry.h"

#define MOST_ENTRIES ((size_t)1 << 26)  // of a compressed inverse

// indices by the block they are in
typedef struct Blocks {
    int count;
    int largest;   // indices in the largest block
    int* of;       // block of each index (n)
    int* place;    // of each index within its block (n)
    int* start;    // first member of each block (count + 1)
    int* members;  // indices block by block, ascending within (n)
} Blocks;

static void join_row_inverse(const crMatrix* M, int i, int* parent) {
    if (M->start == NULL) {
        const double* row = M->value + (size_t)i * (size_t)M->cols;
        for (int j = 0; j < M->cols; j++) {
            if (row[j] != 0.0) cr__forest_join(parent, i, j);
        }
        return;
    }
    for (int k = M->start[i]; k < M->start[i + 1]; k++) {
        if (M->value[k] != 0.0) cr__forest_join(parent, i, M->col[k]);
    }
}

static bool find_blocks(const crMatrix* M, crArena* arena, Blocks* blocks) {
    size_t n = (size_t)M->rows;
    int* memory = cr_arena_alloc(arena, (5 * n + 2) * sizeof *memory);
    if (memory == NULL) return false;
    int* parent = memory;
    *blocks = (Blocks){
        .of = memory + n, .place = memory + 2 * n, .members = memory + 3 * n, .start = memory + 4 * n};
    for (int i = 0; i < M->rows; i++) {
        parent[i] = i;
    }
    for (int i = 0; i < M->rows; i++) {
        join_row_inverse(M, i, parent);
    }
    memset(blocks->start, 0, (n + 2) * sizeof *blocks->start);
    for (int i = 0; i < M->rows; i++) {
        int root = cr__forest_find(parent, i);
        blocks->of[i] = root == i ? blocks->count++ : blocks->of[root];
        blocks->place[i] = blocks->start[blocks->of[i] + 1]++;
        if (blocks->place[i] >= blocks->largest) blocks->largest = blocks->place[i] + 1;
    }
    for (int b = 0; b < blocks->count; b++) {
        blocks->start[b + 1] += blocks->start[b];
    }
    for (int i = 0; i < M->rows; i++) {
        blocks->members[blocks->start[blocks->of[i]] + blocks->place[i]] = i;
    }
    return true;
}

static void gather(const crMatrix* M, const int* members, int n, const int* place, double* A) {
    memset(A, 0, (size_t)n * (size_t)n * sizeof *A);
    for (int r = 0; r < n; r++) {
        int i = members[r];
        if (M->start == NULL) {
            for (int c = 0; c < n; c++) {
                A[r * n + c] = cr_matrix_at(M, i, members[c]);
            }
            continue;
        }
        for (int k = M->start[i]; k < M->start[i + 1]; k++) {
            if (M->value[k] != 0.0) A[r * n + place[M->col[k]]] = M->value[k];
        }
    }
}

// rows of the inverse of one block into out: from the first place of each of its rows on, or at its columns
static bool invert_block(const crMatrix* M, const Blocks* blocks, int b, double* A, double* x,
                         const int* start, double* out) {
    const int* members = blocks->members + blocks->start[b];
    int n = blocks->start[b + 1] - blocks->start[b];
    gather(M, members, n, blocks->place, A);
    if (!cr__cholesky(A, n)) return false;
    // the inverse is symmetric, so solved columns serve as rows
    for (int r = 0; r < n; r++) {
        memset(x, 0, (size_t)n * sizeof *x);
        x[r] = 1.0;
        cr__cholesky_solve(A, n, x);
        for (int c = 0; c < n; c++) {
            size_t at = start != NULL ? (size_t)start[members[r]] + (size_t)c
                                      : (size_t)members[r] * (size_t)M->cols + (size_t)members[c];
            out[at] = x[c];
        }
    }
    return true;
}

// room for the result in the form of M, with its pattern
static crStatus make_room(const crMatrix* M, const Blocks* blocks, crArena* arena, crMatrix* Minv,
                          double** out) {
    size_t n = (size_t)M->rows;
    *Minv = (crMatrix){M->rows, M->rows, NULL, NULL, NULL};
    if (M->start == NULL) {
        *out = cr_arena_alloc(arena, n * n * sizeof **out);
        if (*out != NULL) memset(*out, 0, n * n * sizeof **out);
        Minv->value = *out;
        return *out != NULL ? CR_OK : CR_ERR_MEMORY;
    }
    size_t entries = 0;
    for (int b = 0; b < blocks->count; b++) {
        size_t size = (size_t)(blocks->start[b + 1] - blocks->start[b]);
        entries += size * size;
    }
    if (entries > MOST_ENTRIES) return CR_ERR_LIMIT;
    int* start = cr_arena_alloc(arena, (n + 1) * sizeof *start);
    int* col = cr_arena_alloc(arena, entries * sizeof *col);
    *out = cr_arena_alloc(arena, entries * sizeof **out);
    if (start == NULL || col == NULL || *out == NULL) return CR_ERR_MEMORY;
    int at = 0;
    for (int i = 0; i < M->rows; i++) {
        int b = blocks->of[i];
        start[i] = at;
        for (int k = blocks->start[b]; k < blocks->start[b + 1]; k++) {
            col[at++] = blocks->members[k];
        }
    }
    start[n] = at;
    *Minv = (crMatrix){M->rows, M->rows, start, col, *out};
    return CR_OK;
}

static crStatus no_memory(crError* error) {
    return cr_error_set(error, CR_ERR_MEMORY, "M", "M: out of memory");
}

crStatus cr_matrix_inverse(const crMatrix* M, crArena* arena, crMatrix* Minv, crError* error) {
    if (M == NULL || M->value == NULL) return cr__missing(error, "M");
    if (arena == NULL) return cr__missing(error, "arena");
    if (Minv == NULL) return cr__missing(error, "Minv");
    crStatus status = cr__check_symmetry(M, "M", CR_M_ASYMMETRY, true, NULL, error);
    if (status != CR_OK) return status;
    Blocks blocks;
    if (!find_blocks(M, arena, &blocks)) return no_memory(error);
    double* out = NULL;
    status = blocks.largest > CR_INVERSE_MAX ? CR_ERR_LIMIT : make_room(M, &blocks, arena, Minv, &out);
    if (status == CR_ERR_LIMIT) {
        return cr_error_set(error, CR_ERR_LIMIT, "M",
                            "M: couples %d rows, its inverse has too many entries (blocks up to %d rows, %zu "
                            "entries)",
                            blocks.largest, CR_INVERSE_MAX, MOST_ENTRIES);
    }
    size_t most = (size_t)blocks.largest;
    double* A = cr_arena_alloc(arena, most * most * sizeof *A);
    double* x = cr_arena_alloc(arena, most * sizeof *x);
    if (status != CR_OK || A == NULL || x == NULL) return no_memory(error);
    for (int b = 0; b < blocks.count; b++) {
        if (invert_block(M, &blocks, b, A, x, Minv->start, out)) continue;
        return cr_error_set(error, CR_ERR_DEFINITE, "M",
                            "M: must be symmetric positive definite; its block of %d rows with row %d is not",
                            blocks.start[b + 1] - blocks.start[b], blocks.members[blocks.start[b]]);
    }
    return CR_OK;
}
