// block_lu.c - sparse LU of a matrix of small blocks with symmetric pattern, without pivoting between blocks.
//
// Order: minimum degree on the graph of blocks, the elimination graph kept explicitly as a bit matrix (each
// eliminated block turns its neighbours into a clique; George and Liu 1989); ties go to the lowest number.
// Numbers: row by row, L_ik = A_ik inverse(U_kk), then A_ij -= L_ik U_kj; diagonal blocks are inverted with
// partial pivoting. The matrices it is made for (W + diagonal, or rows of W that slip) have dominant enough
// diagonal blocks unless heavy meets light; callers refine, and fall back to the full matrix.
// Fails: a singular diagonal block makes factor return false.
#include "block_lu.h"
#include "dense.h"
#include "lu.h"

#include <math.h>
#include <string.h>

static int bit_count(uint64_t x) {
    x -= (x >> 1) & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + ((x >> 2) & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)((x * UINT64_C(0x0101010101010101)) >> 56);
}

static int lowest_bit(uint64_t x) { return bit_count((x & (~x + 1u)) - 1u); }

// row of a bit matrix
typedef struct crBits {
    uint64_t* word;
    size_t words;  // per row
} crBits;

static uint64_t* bits_row(const crBits* bits, int i) { return bits->word + (size_t)i * bits->words; }
static void bits_set(uint64_t* row, int j) { row[j / 64] |= UINT64_C(1) << (j % 64); }
static void bits_drop(uint64_t* row, int j) { row[j / 64] &= ~(UINT64_C(1) << (j % 64)); }

// next set bit at or after j, or -1
static int bits_next(const uint64_t* row, size_t words, int j) {
    size_t w = (size_t)j / 64;
    if (w >= words) return -1;
    uint64_t x = row[w] & (~UINT64_C(0) << (j % 64));
    while (x == 0) {
        if (++w == words) return -1;
        x = row[w];
    }
    return (int)(w * 64) + lowest_bit(x);
}

// Eliminates every block in order of least degree. Afterwards row v of bits holds the neighbours that v had
// when it was eliminated: the pattern of its row of U.
static void minimum_degree(const crBits* bits, int count, int* degree, int* order, int* place) {
    for (int i = 0; i < count; i++) {
        const uint64_t* row = bits_row(bits, i);
        degree[i] = 0;
        place[i] = -1;
        for (size_t w = 0; w < bits->words; w++) {
            degree[i] += bit_count(row[w]);
        }
    }
    for (int k = 0; k < count; k++) {
        int v = -1;
        for (int i = 0; i < count; i++) {
            if (place[i] < 0 && (v < 0 || degree[i] < degree[v])) v = i;
        }
        order[k] = v;
        place[v] = k;
        const uint64_t* clique = bits_row(bits, v);
        for (int u = bits_next(clique, bits->words, 0); u >= 0; u = bits_next(clique, bits->words, u + 1)) {
            uint64_t* row = bits_row(bits, u);
            degree[u] = 0;
            for (size_t w = 0; w < bits->words; w++) {
                row[w] |= clique[w];
            }
            bits_drop(row, u);
            bits_drop(row, v);
            for (size_t w = 0; w < bits->words; w++) {
                degree[u] += bit_count(row[w]);
            }
        }
    }
}

// rows of L and U in elimination order from the cliques; at is filled with offsets
static crStatus build_pattern(crBlockLu* lu, const crBits* bits, crArena* arena) {
    int count = lu->count;
    memset(lu->start, 0, ((size_t)count + 1) * sizeof *lu->start);
    for (int pass = 0; pass < 2; pass++) {
        // pass 0 counts, pass 1 writes; rows fill up in ascending column order because k ascends
        for (int k = 0; k < count; k++) {
            const uint64_t* row = bits_row(bits, lu->order[k]);
            if (pass == 1) {
                lu->pivot[k] = lu->seat[k];
                lu->col[lu->seat[k]++] = k;
            } else {
                lu->start[k + 1]++;
            }
            for (int u = bits_next(row, bits->words, 0); u >= 0; u = bits_next(row, bits->words, u + 1)) {
                int i = lu->place[u];
                if (pass == 1) {
                    lu->col[lu->seat[i]++] = k;
                } else {
                    lu->start[i + 1]++;
                    lu->start[k + 1]++;
                }
            }
        }
        if (pass == 1) break;
        for (int k = 0; k < count; k++) {
            lu->start[k + 1] += lu->start[k];
            lu->seat[k] = lu->start[k];
        }
        lu->col = cr_arena_alloc(arena, (size_t)lu->start[count] * sizeof *lu->col);
        lu->at = cr_arena_alloc(arena, (size_t)lu->start[count] * sizeof *lu->at);
        if (lu->col == NULL || lu->at == NULL) return CR_ERR_MEMORY;
    }
    // the upper part: column k's lower entries, taken by rows, are row k's upper ones
    for (int i = 0; i < count; i++) {
        for (int e = lu->start[i]; e < lu->pivot[i]; e++) {
            int k = lu->col[e];
            lu->col[lu->seat[k]++] = i;
        }
    }
    size_t offset = 0;
    for (int i = 0; i < count; i++) {
        for (int e = lu->start[i]; e < lu->start[i + 1]; e++) {
            lu->at[e] = offset;
            offset += (size_t)lu->size[lu->order[i]] * (size_t)lu->size[lu->order[lu->col[e]]];
        }
    }
    lu->value_count = offset;
    return CR_OK;
}

static crStatus keep_full(crBlockLu* lu, crArena* arena) {
    size_t n = (size_t)lu->rows;
    lu->full = true;
    lu->value_count = n * n;
    lu->order = cr_arena_alloc(arena, n * sizeof *lu->order);
    lu->work = cr_arena_alloc(arena, n * sizeof *lu->work);
    lu->value = cr_arena_alloc(arena, lu->value_count * sizeof *lu->value);
    return lu->order != NULL && lu->work != NULL && lu->value != NULL ? CR_OK : CR_ERR_MEMORY;
}

crStatus cr__block_lu_analyze(crBlockLu* lu, int count, const int* size, const int* row, const int* start,
                              const int* col, int full_rows, crArena* arena) {
    size_t n = (size_t)count;
    *lu = (crBlockLu){.count = count, .size = size, .row = row};
    for (int i = 0; i < count; i++) {
        lu->rows += size[i];
    }
    if (lu->rows <= full_rows) return keep_full(lu, arena);
    lu->order = cr_arena_alloc(arena, n * sizeof *lu->order);
    lu->place = cr_arena_alloc(arena, n * sizeof *lu->place);
    lu->start = cr_arena_alloc(arena, (n + 1) * sizeof *lu->start);
    lu->pivot = cr_arena_alloc(arena, n * sizeof *lu->pivot);
    lu->seat = cr_arena_alloc(arena, n * sizeof *lu->seat);
    lu->work = cr_arena_alloc(arena, CR_BLOCK_LU_MAX_SIZE * sizeof *lu->work);
    crBits bits = {NULL, (n + 63) / 64};
    bits.word = cr_arena_alloc(arena, n * bits.words * sizeof *bits.word);
    if (lu->order == NULL || lu->place == NULL || lu->start == NULL || lu->pivot == NULL ||
        lu->seat == NULL || lu->work == NULL || bits.word == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(bits.word, 0, n * bits.words * sizeof *bits.word);
    for (int i = 0; i < count; i++) {
        for (int e = start[i]; e < start[i + 1]; e++) {
            if (col[e] == i) continue;
            bits_set(bits_row(&bits, i), col[e]);
            bits_set(bits_row(&bits, col[e]), i);
        }
    }
    minimum_degree(&bits, count, lu->seat, lu->order, lu->place);
    crStatus status = build_pattern(lu, &bits, arena);
    if (status != CR_OK) return status;
    lu->value = cr_arena_alloc(arena, lu->value_count * sizeof *lu->value);
    return lu->value != NULL ? CR_OK : CR_ERR_MEMORY;
}

void cr__block_lu_clear(crBlockLu* lu) { memset(lu->value, 0, lu->value_count * sizeof *lu->value); }

double* cr__block_lu_at(crBlockLu* lu, int i, int j, int* stride) {
    if (lu->full) {
        *stride = lu->rows;
        return lu->value + (size_t)lu->row[i] * (size_t)lu->rows + (size_t)lu->row[j];
    }
    *stride = lu->size[j];
    int k = lu->place[j];
    int lo = lu->start[lu->place[i]];
    int hi = lu->start[lu->place[i] + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (lu->col[mid] < k) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo < lu->start[lu->place[i] + 1] && lu->col[lo] == k ? lu->value + lu->at[lo] : NULL;
}

// C -= A B with A a x b, B b x c
static void multiply_subtract(const double* A, const double* B, double* C, int a, int b, int c) {
    if (a == 3 && b == 3 && c == 3) {
        for (int i = 0; i < 3; i++) {
            double x = A[3 * i], y = A[3 * i + 1], z = A[3 * i + 2];
            C[3 * i] -= x * B[0] + y * B[3] + z * B[6];
            C[3 * i + 1] -= x * B[1] + y * B[4] + z * B[7];
            C[3 * i + 2] -= x * B[2] + y * B[5] + z * B[8];
        }
        return;
    }
    for (int i = 0; i < a; i++) {
        for (int k = 0; k < b; k++) {
            double x = A[i * b + k];
            for (int j = 0; j < c; j++) {
                C[i * c + j] -= x * B[k * c + j];
            }
        }
    }
}

// A = A B with A a x b, B b x b
static void multiply_right(double* A, const double* B, int a, int b) {
    double row[CR_BLOCK_LU_MAX_SIZE];
    for (int i = 0; i < a; i++) {
        memcpy(row, A + i * b, (size_t)b * sizeof *row);
        for (int j = 0; j < b; j++) {
            double sum = 0.0;
            for (int k = 0; k < b; k++) {
                sum += row[k] * B[k * b + j];
            }
            A[i * b + j] = sum;
        }
    }
}

bool cr__block_lu_factor(crBlockLu* lu) {
    if (lu->full) return cr__lu(lu->value, lu->rows, 0.0, lu->order);
    for (int i = 0; i < lu->count; i++) {
        int rows = lu->size[lu->order[i]];
        for (int e = lu->start[i]; e < lu->start[i + 1]; e++) {
            lu->seat[lu->col[e]] = e;
        }
        for (int e = lu->start[i]; e < lu->pivot[i]; e++) {
            int k = lu->col[e];
            int inner = lu->size[lu->order[k]];
            double* L = lu->value + lu->at[e];
            multiply_right(L, lu->value + lu->at[lu->pivot[k]], rows, inner);
            for (int f = lu->pivot[k] + 1; f < lu->start[k + 1]; f++) {
                int j = lu->col[f];
                multiply_subtract(L, lu->value + lu->at[f], lu->value + lu->at[lu->seat[j]], rows, inner,
                                  lu->size[lu->order[j]]);
            }
        }
        if (!cr__invert_small(lu->value + lu->at[lu->pivot[i]], rows)) return false;
    }
    return true;
}

// y -= A x
static void apply_subtract(const double* A, const double* x, double* y, int rows, int cols) {
    for (int i = 0; i < rows; i++) {
        double sum = 0.0;
        for (int j = 0; j < cols; j++) {
            sum += A[i * cols + j] * x[j];
        }
        y[i] -= sum;
    }
}

void cr__block_lu_solve(const crBlockLu* lu, double* x) {
    double* y = lu->work;
    if (lu->full) {
        cr__lu_solve(lu->value, lu->rows, lu->order, x, y);
        memcpy(x, y, (size_t)lu->rows * sizeof *x);
        return;
    }
    for (int i = 0; i < lu->count; i++) {
        int v = lu->order[i];
        for (int e = lu->start[i]; e < lu->pivot[i]; e++) {
            int u = lu->order[lu->col[e]];
            apply_subtract(lu->value + lu->at[e], x + lu->row[u], x + lu->row[v], lu->size[v], lu->size[u]);
        }
    }
    for (int i = lu->count - 1; i >= 0; i--) {
        int v = lu->order[i];
        for (int e = lu->pivot[i] + 1; e < lu->start[i + 1]; e++) {
            int u = lu->order[lu->col[e]];
            apply_subtract(lu->value + lu->at[e], x + lu->row[u], x + lu->row[v], lu->size[v], lu->size[u]);
        }
        for (int k = 0; k < lu->size[v]; k++) {
            y[k] = 0.0;
        }
        apply_subtract(lu->value + lu->at[lu->pivot[i]], x + lu->row[v], y, lu->size[v], lu->size[v]);
        for (int k = 0; k < lu->size[v]; k++) {
            x[lu->row[v] + k] = -y[k];
        }
    }
}
