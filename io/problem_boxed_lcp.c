// problem_boxed_lcp.c - boxed LCPs with friction indices, the form ODE and its descendants pass to their
// solvers.
//
//     problem NAME n 3
//     A 1 0 0            (n rows)
//     b 1 0 0
//     lo 0 -1 -1
//     hi inf 1 1
//     fIndex -1 0 0
//
// Meaning: u = A x - b, lo <= x <= hi with u >= 0 at lo, <= 0 at hi, 0 between; a row with fIndex = k has its
// bounds multiplied by x_k. Rows that follow their normal become a cone block: one tangent a planar cone, two
// a rectangle, which is the same problem. Lines starting with # are remarks. All are raw problems. Fails:
// friction rows that do not follow their normal, or whose bounds are not opposite, are refused by name.
#include "io/problem_parts.h"
#include "io/scan.h"

#include <stdio.h>
#include <string.h>

typedef struct Boxed {
    int n;
    double* A;   // (n*n)
    double* b;   // (n)
    double* lo;  // (n)
    double* hi;  // (n)
    int* index;  // friction index, -1 for none (n)
} Boxed;

// the next word that is not part of a remark
static bool next_word(crScan* scan) {
    while (cr__scan_word(scan)) {
        if (scan->word[0] != '#') return true;
        while (scan->at < scan->size && scan->text[scan->at] != '\n') {
            scan->at++;
            scan->column++;
        }
    }
    return false;
}

static crStatus expect_boxed_lcp(crScan* scan, const char* keyword, crError* error) {
    if (next_word(scan) && strcmp(scan->word, keyword) == 0) return CR_OK;
    char message[160];
    snprintf(message, sizeof message, "\"%s\" found where \"%s\" must be", scan->word, keyword);
    return cr__scan_error(scan, error, CR_ERR_SYNTAX, keyword, message);
}

// bounds may be infinite
static crStatus read_bounds(crScan* scan, const char* field, int n, double* bounds, crError* error) {
    crStatus status = expect_boxed_lcp(scan, field, error);
    for (int i = 0; status == CR_OK && i < n; i++) {
        cr__scan_word(scan);
        if (!cr__scan_as_number(scan, &bounds[i]) || isnan(bounds[i])) {
            status = cr__scan_error(scan, error, CR_ERR_SYNTAX, field, "must be a number, inf or -inf");
        }
    }
    return status;
}

static crStatus allocate(crArena* arena, Boxed* boxed, crError* error) {
    size_t n = (size_t)boxed->n;
    boxed->A = cr_arena_alloc(arena, n * n * sizeof(double));
    boxed->b = cr_arena_alloc(arena, n * sizeof(double));
    boxed->lo = cr_arena_alloc(arena, n * sizeof(double));
    boxed->hi = cr_arena_alloc(arena, n * sizeof(double));
    boxed->index = cr_arena_alloc(arena, n * sizeof(int));
    bool ok = boxed->A != NULL && boxed->b != NULL && boxed->lo != NULL && boxed->hi != NULL &&
              boxed->index != NULL;
    return ok ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
}

static crStatus read_arrays(crScan* scan, Boxed* boxed, crError* error) {
    size_t n = (size_t)boxed->n;
    crStatus status = CR_OK;
    for (size_t i = 0; status == CR_OK && i < n; i++) {
        status = expect_boxed_lcp(scan, "A", error);
        if (status == CR_OK) status = cr__scan_numbers(scan, "A", n, boxed->A + i * n, error);
    }
    if (status == CR_OK) status = expect_boxed_lcp(scan, "b", error);
    if (status == CR_OK) status = cr__scan_numbers(scan, "b", n, boxed->b, error);
    if (status == CR_OK) status = read_bounds(scan, "lo", boxed->n, boxed->lo, error);
    if (status == CR_OK) status = read_bounds(scan, "hi", boxed->n, boxed->hi, error);
    if (status == CR_OK) status = expect_boxed_lcp(scan, "fIndex", error);
    for (int i = 0; status == CR_OK && i < boxed->n; i++) {
        status = cr__scan_int(scan, "fIndex", -1, boxed->n - 1, &boxed->index[i], error);
    }
    for (size_t i = 0; i < n; i++) {
        boxed->b[i] = -boxed->b[i];
    }
    return status;
}

// the block that starts at row i
static crStatus make_block(const Boxed* boxed, int i, double (*vertices)[2], int* vertex_count,
                           crBlock* block, crError* error) {
    int tangents = 0;
    while (i + 1 + tangents < boxed->n && boxed->index[i + 1 + tangents] == i) {
        tangents++;
    }
    double lo = boxed->lo[i], hi = boxed->hi[i];
    if (boxed->index[i] >= 0 || tangents > 2) {
        return cr_error_set(error, CR_ERR_SIZE, "fIndex",
                            "fIndex: row %d must follow its normal, at most two", i);
    }
    if (!(lo <= hi)) return cr_error_set(error, CR_ERR_RANGE, "lo", "lo: row %d has lo above hi", i);
    bool unilateral = lo == 0.0 && isinf(hi);
    if (tangents == 0) {
        crBlockKind kind = unilateral ? CR_BLOCK_UNILATERAL : CR_BLOCK_BOX;
        *block = cr_block(isinf(lo) && isinf(hi) ? CR_BLOCK_EQUALITY : kind, i, 1);
        block->lo = lo;
        block->hi = hi;
        return CR_OK;
    }
    *block = cr_block(CR_BLOCK_CONE, i, 1 + tangents);
    for (int k = 1; k <= tangents; k++) {
        double bound = boxed->hi[i + k];
        if (!unilateral || !(bound >= 0.0) || isinf(bound) || boxed->lo[i + k] != -bound) {
            return cr_error_set(error, CR_ERR_RANGE, "hi",
                                "hi: friction row %d must have lo = -hi, finite, on a normal >= 0", i + k);
        }
    }
    block->mu = boxed->hi[i + 1];
    block->mu2 = boxed->hi[i + tangents];
    if (tangents == 2) {
        const double corner[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
        block->vertex = *vertex_count;
        block->vertex_count = 4;
        for (int k = 0; k < 4; k++) {
            vertices[*vertex_count][0] = corner[k][0] * block->mu;
            vertices[(*vertex_count)++][1] = corner[k][1] * block->mu2;
        }
    }
    return CR_OK;
}

static crStatus make_problem(const Boxed* boxed, crProblemFile* out, crError* error) {
    size_t n = (size_t)boxed->n;
    crBlock* blocks = cr_arena_alloc(&out->arena, n * sizeof *blocks);
    double(*vertices)[2] = cr_arena_alloc(&out->arena, 4 * n * sizeof *vertices);
    if (blocks == NULL || vertices == NULL) {
        return cr_error_set(error, CR_ERR_MEMORY, "problem", "problem: out of memory");
    }
    int vertex_count = 0;
    int count = 0;
    for (int i = 0; i < boxed->n; i += blocks[count++].count) {
        crStatus status = make_block(boxed, i, vertices, &vertex_count, &blocks[count], error);
        if (status != CR_OK) return status;
    }
    out->problem.rows = boxed->n;
    out->problem.blocks = blocks;
    out->problem.block_count = count;
    out->problem.vertices = (const double(*)[2])vertices;
    out->problem.u_free = boxed->b;
    out->problem.W = (crMatrix){boxed->n, boxed->n, NULL, NULL, boxed->A};
    out->problem.raw = true;
    return CR_OK;
}

crStatus cr__read_boxed_lcp(const char* text, size_t size, crProblemFile* out, crError* error) {
    crScan scan = cr__scan(text, size);
    bool found = false;
    crStatus status = CR_OK;
    while (status == CR_OK && next_word(&scan)) {
        Boxed boxed;
        char name[sizeof out->name];
        if (strcmp(scan.word, "problem") != 0) {
            return cr__scan_error(&scan, error, CR_ERR_SYNTAX, "problem",
                                  "must begin with \"problem NAME n N\"");
        }
        next_word(&scan);
        snprintf(name, sizeof name, "%.47s", scan.word);
        status = expect_boxed_lcp(&scan, "n", error);
        if (status == CR_OK) status = cr__scan_int(&scan, "n", 1, 1000000, &boxed.n, error);
        if (status == CR_OK) status = cr__scan_room(&scan, "A", (size_t)boxed.n * (size_t)boxed.n, error);
        if (status != CR_OK) return status;
        size_t mark = cr_arena_mark(&out->arena);
        status = allocate(&out->arena, &boxed, error);
        if (status == CR_OK) status = read_arrays(&scan, &boxed, error);
        if (status != CR_OK) return status;
        out->count++;
        bool wanted = !found && (out->name[0] == '\0' || strcmp(out->name, name) == 0);
        if (wanted) {
            found = true;
            memcpy(out->name, name, sizeof name);
            status = make_problem(&boxed, out, error);
        } else {
            cr_arena_release(&out->arena, mark);
        }
    }
    if (status == CR_OK && !found) {
        return cr_error_set(error, CR_ERR_NAME, "problem", "problem: no \"%.47s\" among the %d in the text",
                            out->name, out->count);
    }
    return status;
}
