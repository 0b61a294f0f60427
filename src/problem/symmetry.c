// symmetry.c - the largest difference across the diagonal of a matrix.
//
// The difference is measured against the largest entry, or against sqrt(|a_ii a_jj|), which bounds |a_ij| in a
// semidefinite matrix and does not depend on units. Dense matrices are read by tiles; compressed ones below the
// diagonal, and above it only where an entry there has no partner below. Fails: never.
#include "symmetry.h"

#include <string.h>

#define TILE  16
#define SMALL 1024  // rows up to which places in all of them are kept at hand

// running worst pair
typedef struct Worst {
    const crMatrix* A;
    bool by_diagonal;
    double largest;     // |entry|
    double difference;  // of the worst pair, divided by its scale if by_diagonal
    crSkew skew;
} Worst;

static double diagonal_of(const crMatrix* A, int i) {
    return fabs(A->start == NULL ? A->value[(size_t)i * (size_t)(A->cols + 1)] : cr_matrix_at(A, i, i));
}

static double scale_of(const Worst* w, int i, int j) {
    return sqrt(diagonal_of(w->A, i) * diagonal_of(w->A, j));
}

static void compare(Worst* w, int i, int j, double at, double across) {
    if (fabs(at) > w->largest) w->largest = fabs(at);
    if (fabs(across) > w->largest) w->largest = fabs(across);
    double difference = fabs(at - across);
    if (difference == 0.0) return;
    if (w->by_diagonal) difference /= scale_of(w, i, j);
    if (!(difference > w->difference)) return;
    w->difference = difference;
    bool below = i > j;
    w->skew = (crSkew){0.0, below ? i : j, below ? j : i, below ? at : across, below ? across : at};
}

// whether a tile and its image across the diagonal are equal to the last bit
static bool equals_image(const double* value, size_t n, size_t ti, size_t tj, size_t rows) {
    bool same = true;
    for (size_t i = ti; i < ti + rows; i++) {
        size_t end = ti == tj ? i : tj + TILE;
        for (size_t j = tj; j < end; j++) {
            same &= value[i * n + j] == value[j * n + i];
        }
    }
    return same;
}

// most matrices are symmetric to the last bit: then no pair has to be looked at
static bool is_symmetric(const crMatrix* A) {
    size_t n = (size_t)A->rows;
    for (size_t ti = 0; ti < n; ti += TILE) {
        size_t rows = n - ti < TILE ? n - ti : TILE;
        for (size_t tj = 0; tj <= ti; tj += TILE) {
            if (!equals_image(A->value, n, ti, tj, rows)) return false;
        }
    }
    return true;
}

static void compare_dense(Worst* w) {
    size_t n = (size_t)w->A->rows;
    const double* value = w->A->value;
    for (size_t ti = 0; ti < n; ti += TILE) {
        for (size_t tj = 0; tj <= ti; tj += TILE) {
            for (size_t i = ti; i < ti + TILE && i < n; i++) {
                for (size_t j = tj; j < tj + TILE && j <= i; j++) {
                    compare(w, (int)i, (int)j, value[i * n + j], value[j * n + i]);
                }
            }
        }
    }
}

// entry (j, i) for i that ascends from call to call; next: where row j goes on, NULL: not kept
static double entry_across(const crMatrix* A, int j, int i, int* next) {
    if (next == NULL) return cr_matrix_at(A, j, i);
    while (next[j] < A->start[j + 1] && A->col[next[j]] < i) {
        next[j]++;
    }
    return next[j] < A->start[j + 1] && A->col[next[j]] == i ? A->value[next[j]] : 0.0;
}

// whether every entry below the diagonal meets its equal above it; next (rows) is work
static bool is_symmetric_sparse(const crMatrix* A, int* next) {
    for (int i = 0; i < A->rows; i++) {
        int k = A->start[i], end = A->start[i + 1];
        for (; k < end && A->col[k] < i; k++) {
            int at = next[A->col[k]]++;
            if (at >= A->start[A->col[k] + 1] || A->col[at] != i || !(A->value[at] == A->value[k]))
                return false;
        }
        next[i] = k < end && A->col[k] == i ? k + 1 : k;
    }
    for (int i = 0; i < A->rows; i++) {
        if (next[i] != A->start[i + 1]) return false;
    }
    return true;
}

static void compare_sparse(Worst* w) {
    const crMatrix* A = w->A;
    int above = 0, partners = 0, place[SMALL], *next = A->rows <= SMALL ? place : NULL;
    if (next != NULL && is_symmetric_sparse(A, next)) return;
    if (next != NULL) memcpy(next, A->start, (size_t)A->rows * sizeof *next);
    for (int i = 0; i < A->rows; i++) {
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            int j = A->col[k];
            if (j > i) {
                above++;
                continue;
            }
            double across = j == i ? A->value[k] : entry_across(A, j, i, next);
            if (j < i && across != 0.0) partners++;
            compare(w, i, j, A->value[k], across);
        }
    }
    for (int i = 0; i < A->rows && partners != above; i++) {
        for (int k = A->start[i]; k < A->start[i + 1]; k++) {
            if (A->col[k] > i) compare(w, i, A->col[k], A->value[k], cr_matrix_at(A, A->col[k], i));
        }
    }
}

crSkew cr_matrix_skew(const crMatrix* A, bool by_diagonal) {
    if (A == NULL || A->value == NULL) return (crSkew){0};
    // compressed rows without a gap are those of a dense matrix
    crMatrix full = *A;
    if (A->start != NULL && (size_t)A->start[A->rows] == (size_t)A->rows * (size_t)A->cols) {
        full.start = full.col = NULL;
    }
    Worst w = {.A = &full, .by_diagonal = by_diagonal, .skew = {.row = -1, .col = -1}};
    if (full.start == NULL) {
        if (!is_symmetric(&full)) compare_dense(&w);
    } else {
        compare_sparse(&w);
    }
    if (w.skew.row >= 0) w.skew.relative = by_diagonal ? w.difference : w.difference / w.largest;
    return w.skew;
}

crStatus cr__check_symmetry(const crMatrix* A, const char* name, double most, bool by_diagonal, bool* exact,
                            crError* error) {
    crSkew skew = cr_matrix_skew(A, by_diagonal);
    if (exact != NULL) *exact = skew.row < 0;
    if (!(skew.relative > most)) return CR_OK;
    return cr_error_set(error, CR_ERR_SYMMETRY, name,
                        "%s: must be symmetric; entry (%d, %d) is %.17g, (%d, %d) is %.17g", name, skew.row,
                        skew.col, skew.at, skew.col, skew.row, skew.across);
}
