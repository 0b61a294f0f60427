// block_lu.c - sparse LU of a matrix of small blocks with symmetric pattern, without pivoting between blocks.
//
// Order: minimum degree on the graph of blocks, the elimination graph kept explicitly as lists (each
// eliminated block turns its neighbours into a clique; George and Liu 1989); ties go to the lowest number.
// The lists grow with the factors, so that blocks without neighbours cost no more than their number. Once all
// that are left are neighbours of each other, their order is known. Numbers: row by row, L_ik = A_ik
// inverse(U_kk), then A_ij -= L_ik U_kj; diagonal blocks are inverted with partial pivoting. The matrices it
// is made for (W + diagonal, or rows of W that slip) have dominant enough diagonal blocks unless heavy meets
// light; callers refine, and fall back to the full matrix. Fails: a singular diagonal block makes factor
// return false.
#include "block_lu.h"
#include "dense.h"
#include "lu.h"

#include <math.h>
#include <string.h>

// Neighbours of every block that are not eliminated yet; of an eliminated one those that it had then.
typedef struct crGraph {
    int count;
    int** list;   // ascending (count)
    int* degree;  // length of each list (count)
    int* room;    // what each list can hold (count)
    int* heap;    // blocks that are left, the next to eliminate first (count)
    int* seat;    // of each block in the heap, -1 where it is eliminated (count)
    int* merged;  // work (count)
    int left;     // blocks in the heap
} crGraph;

// Least degree first; ties go to the lowest number.
static bool comes_before(const crGraph* g, int a, int b) {
    return g->degree[a] < g->degree[b] || (g->degree[a] == g->degree[b] && a < b);
}

static void heap_put(crGraph* g, int at, int block) {
    g->heap[at] = block;
    g->seat[block] = at;
}

static void heap_rise(crGraph* g, int at) {
    int block = g->heap[at];
    while (at > 0 && comes_before(g, block, g->heap[(at - 1) / 2])) {
        heap_put(g, at, g->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(g, at, block);
}

static void heap_sink(crGraph* g, int at) {
    int block = g->heap[at];
    for (int child = 2 * at + 1; child < g->left; child = 2 * at + 1) {
        if (child + 1 < g->left && comes_before(g, g->heap[child + 1], g->heap[child])) child++;
        if (!comes_before(g, g->heap[child], block)) break;
        heap_put(g, at, g->heap[child]);
        at = child;
    }
    heap_put(g, at, block);
}

static int heap_pop(crGraph* g) {
    int block = g->heap[0];
    g->seat[block] = -1;
    if (--g->left > 0) {
        heap_put(g, 0, g->heap[g->left]);
        heap_sink(g, 0);
    }
    return block;
}

static crStatus graph_create(crGraph* g, int count, crArena* arena) {
    size_t n = (size_t)count;
    *g = (crGraph){.count = count, .left = count};
    g->list = cr_arena_alloc(arena, n * sizeof *g->list);
    g->degree = cr_arena_alloc(arena, n * sizeof *g->degree);
    g->room = cr_arena_alloc(arena, n * sizeof *g->room);
    g->heap = cr_arena_alloc(arena, n * sizeof *g->heap);
    g->seat = cr_arena_alloc(arena, n * sizeof *g->seat);
    g->merged = cr_arena_alloc(arena, n * sizeof *g->merged);
    bool ok = g->list != NULL && g->degree != NULL && g->room != NULL && g->heap != NULL && g->seat != NULL &&
              g->merged != NULL;
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// Lists from a pattern that may have a pair once or twice. Visiting blocks in order makes the lists ascend.
static crStatus graph_fill(crGraph* g, const int* start, const int* col, crArena* arena) {
    int n = g->count;
    int* given = g->room;  // entries that each block appears in
    memset(given, 0, (size_t)n * sizeof *given);
    for (int i = 0; i < n; i++) {
        for (int e = start[i]; e < start[i + 1]; e++) {
            if (col[e] == i) continue;
            given[i]++;
            given[col[e]]++;
        }
    }
    size_t entries = 0;
    for (int i = 0; i < n; i++) {
        entries += (size_t)given[i];
    }
    int* raw = cr_arena_alloc(arena, (entries + 1) * sizeof *raw);  // neighbours as they are given
    int* sorted = cr_arena_alloc(arena, (entries + 1) * sizeof *raw);
    int** ends = cr_arena_alloc(arena, (size_t)n * sizeof *ends);
    if (raw == NULL || sorted == NULL || ends == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        ends[i] = raw;
        g->list[i] = sorted;
        raw += given[i];
        sorted += given[i];
        g->degree[i] = 0;
    }
    for (int i = 0; i < n; i++) {
        for (int e = start[i]; e < start[i + 1]; e++) {
            if (col[e] == i) continue;
            *ends[i]++ = col[e];
            *ends[col[e]]++ = i;
        }
    }
    for (int i = 0; i < n; i++) {
        for (const int* other = ends[i] - given[i]; other < ends[i]; other++) {
            int last = g->degree[*other];
            if (last == 0 || g->list[*other][last - 1] != i) g->list[*other][g->degree[*other]++] = i;
        }
    }
    for (int i = 0; i < n; i++) {
        heap_put(g, i, i);
    }
    for (int at = n / 2 - 1; at >= 0; at--) {
        heap_sink(g, at);
    }
    return CR_OK;
}

// The neighbours of u and of the eliminated v, without both, become those of u.
static crStatus join(crGraph* g, int u, int v, crArena* arena) {
    const int *a = g->list[u], *a_end = a + g->degree[u], *b = g->list[v], *b_end = b + g->degree[v];
    int count = 0;
    while (a < a_end || b < b_end) {
        int next = b == b_end || (a < a_end && *a < *b) ? *a : *b;
        if (a < a_end && *a == next) a++;
        if (b < b_end && *b == next) b++;
        if (next != u && next != v) g->merged[count++] = next;
    }
    if (count > g->room[u]) {
        int room = 2 * count < g->left ? 2 * count : g->left;
        g->list[u] = cr_arena_alloc(arena, (size_t)room * sizeof(int));
        if (g->list[u] == NULL) return CR_ERR_MEMORY;
        g->room[u] = room;
    }
    memcpy(g->list[u], g->merged, (size_t)count * sizeof(int));
    g->degree[u] = count;
    return CR_OK;
}

// All that are left are neighbours of each other: they follow in the order of their numbers.
static void eliminate_clique(crGraph* g, int k, int* order, int* place) {
    int* rest = g->merged;
    int first = g->heap[0], count = g->left;
    bool put = false;
    for (int i = 0, at = 0; i < count; i++) {
        bool own = !put && (at == g->degree[first] || first < g->list[first][at]);
        rest[i] = own ? first : g->list[first][at++];
        put = put || own;
    }
    for (int i = 0; i < count; i++) {
        order[k + i] = rest[i];
        place[rest[i]] = k + i;
        g->list[rest[i]] = rest + i + 1;
        g->degree[rest[i]] = count - i - 1;
    }
    g->left = 0;
}

// Eliminates every block in order of least degree. Afterwards the list of v holds the neighbours that v had
// when it was eliminated: the pattern of its row of U.
static crStatus minimum_degree(crGraph* g, int* order, int* place, crArena* arena) {
    for (int k = 0; k < g->count; k++) {
        if (g->degree[g->heap[0]] == g->left - 1) {
            eliminate_clique(g, k, order, place);
            return CR_OK;
        }
        int v = heap_pop(g);
        order[k] = v;
        place[v] = k;
        for (int e = 0; e < g->degree[v]; e++) {
            int u = g->list[v][e];
            crStatus status = join(g, u, v, arena);
            if (status != CR_OK) return status;
            heap_rise(g, g->seat[u]);
            heap_sink(g, g->seat[u]);
        }
    }
    return CR_OK;
}

// rows of L and U in elimination order from the cliques; at is filled with offsets
static crStatus build_pattern(crBlockLu* lu, const crGraph* graph, crArena* arena) {
    int count = lu->count;
    memset(lu->start, 0, ((size_t)count + 1) * sizeof *lu->start);
    for (int pass = 0; pass < 2; pass++) {
        // pass 0 counts, pass 1 writes; rows fill up in ascending column order because k ascends
        for (int k = 0; k < count; k++) {
            int v = lu->order[k];
            if (pass == 1) {
                lu->pivot[k] = lu->seat[k];
                lu->col[lu->seat[k]++] = k;
            } else {
                lu->start[k + 1]++;
            }
            for (int e = 0; e < graph->degree[v]; e++) {
                int i = lu->place[graph->list[v][e]];
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
    if (lu->order == NULL || lu->place == NULL || lu->start == NULL || lu->pivot == NULL ||
        lu->seat == NULL || lu->work == NULL) {
        return CR_ERR_MEMORY;
    }
    crGraph graph;
    crStatus status = graph_create(&graph, count, arena);
    if (status == CR_OK) status = graph_fill(&graph, start, col, arena);
    if (status == CR_OK) status = minimum_degree(&graph, lu->order, lu->place, arena);
    if (status == CR_OK) status = build_pattern(lu, &graph, arena);
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
