// sparse_factor.c - the numbers of a sparse factorization, front by front (Duff and Reid 1983), and its
// solves.
//
// A front is a full matrix: the columns it eliminates and the rows they touch. It receives A's blocks in
// those columns and the updates of its children, eliminates its pivots in panels, and leaves what remains
// (its Schur complement) on a stack for its parent. Every sum has one order, given by the pattern alone. In a
// general matrix a pivot below a tenth of the largest in its column is exchanged for that one, within the
// pivots of the front. Fails: a pivot below 1e-14 of the largest entry of A in its column, or not finite,
// ends the factorization; the caller learns which block it was.
#include "sparse.h"
#include "tile.h"

#include <math.h>
#include <string.h>

#define PANEL     CR_SPARSE_PANEL
#define SINGULAR  1e-14
#define THRESHOLD 0.1

#if defined(__x86_64__) && defined(__GNUC__) && !defined(CAROM_NO_VECTOR)
#define SPARSE_WIDE   __attribute__((target("avx2")))
#define SPARSE_WIDEST __attribute__((target("avx512f,avx512dq,avx512vl")))
#endif

// Numbers that a register holds, for which a copy of the factorization is made.
typedef enum crWidth { WIDTH_TWO, WIDTH_FOUR, WIDTH_EIGHT } crWidth;

// One front while it is factored.
typedef struct crWork {
    crSparse* s;
    const crFront* front;
    int n, pivots;  // rows, and how many of them are eliminated
    size_t ld;      // numbers from row to row of F
    double* F;      // the front
    double* U;      // its rows of U, n numbers each
    double* Lt;     // its columns of L, n numbers each; definite: those of the current panel only
    double* reciprocal;
    int* exchange;
    const double* largest;
} crWork;

CR_TILE void add_block(double* F, size_t ld, int row, int col, const double* block, int rows, int cols) {
    double* to = F + (size_t)row * ld + (size_t)col;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            to[(size_t)i * ld + (size_t)j] += block[i * cols + j];
        }
    }
}

// A's blocks in the front's columns.
CR_TILE void assemble_blocks(const crWork* w, bool general) {
    const crSparse* s = w->s;
    int base = s->offset[w->front->first];
    for (int j = w->front->first; j < w->front->end; j++) {
        int at = s->offset[j] - base, cols = s->offset[j + 1] - s->offset[j];
        add_block(w->F, w->ld, at, at, s->value + s->entries.diagonal[j], cols, cols);
        for (int e = s->entries.start[j]; e < s->entries.start[j + 1]; e++) {
            int rows = s->offset[s->entries.below[e] + 1] - s->offset[s->entries.below[e]];
            add_block(w->F, w->ld, s->entries.local[e], at, s->value + s->entries.lower[e], rows, cols);
            if (general)
                add_block(w->F, w->ld, at, s->entries.local[e], s->value + s->entries.upper[e], cols, rows);
        }
    }
}

// Adds a child's update, m x m numbers; definite: its lower triangle.
CR_TILE void assemble_child(const crWork* w, const crFront* child, const double* update, bool general) {
    const crSparse* s = w->s;
    int m = child->rows - child->pivots, k = 0;
    for (int r = 0; r < child->row_count; r++) {
        int block = s->row[child->row_first + r], at = s->into[child->row_first + r];
        int rows = s->offset[block + 1] - s->offset[block];
        for (int i = 0; i < rows; i++) {
            s->work.map[k++] = at + i;
        }
    }
    for (int i = 0; i < m; i++) {
        double* to = w->F + (size_t)s->work.map[i] * w->ld;
        const double* from = update + (size_t)i * (size_t)m;
        int end = general ? m : i + 1;
        for (int j = 0; j < end; j++) {
            to[s->work.map[j]] += from[j];
        }
    }
}

CR_TILE void swap_rows_sparse_factor(const crWork* w, int a, int b, int from) {
    double *x = w->F + (size_t)a * w->ld, *y = w->F + (size_t)b * w->ld;
    for (int j = from; j < w->n; j++) {
        double t = x[j];
        x[j] = y[j];
        y[j] = t;
    }
}

CR_TILE bool pivot_ok(const crWork* w, int c, double d, bool general) {
    double size = general ? fabs(d) : d;
    return size > SINGULAR * w->largest[c] && size < (double)INFINITY;
}

// Panel [c0, c1) of a general front: the pivot rows from c0 on. Returns the pivot that failed, or -1.
CR_TILE int panel_general(const crWork* w, int c0, int c1) {
    size_t ld = w->ld, n = (size_t)w->n;
    for (int c = c0; c < c1; c++) {
        int best = c;
        for (int r = c + 1; r < w->pivots; r++) {
            if (fabs(w->F[(size_t)r * ld + (size_t)c]) > fabs(w->F[(size_t)best * ld + (size_t)c])) best = r;
        }
        double top = fabs(w->F[(size_t)best * ld + (size_t)c]);
        if (fabs(w->F[(size_t)c * ld + (size_t)c]) >= THRESHOLD * top) best = c;
        w->exchange[c] = best;
        if (best != c) {
            swap_rows_sparse_factor(w, c, best, c0);
            for (size_t p = 0; p < (size_t)c0; p++) {
                double t = w->Lt[p * n + (size_t)c];
                w->Lt[p * n + (size_t)c] = w->Lt[p * n + (size_t)best];
                w->Lt[p * n + (size_t)best] = t;
            }
        }
        const double* row = w->F + (size_t)c * ld;
        if (!pivot_ok(w, c, row[c], true)) return c;
        w->reciprocal[c] = 1.0 / row[c];
        for (int r = c + 1; r < w->pivots; r++) {
            double* to = w->F + (size_t)r * ld;
            double l = to[c] * w->reciprocal[c];
            to[c] = l;
            for (int j = c + 1; j < c1; j++) {
                to[j] -= l * row[j];
            }
        }
    }
    for (int c = c0; c < c1; c++) {
        memcpy(w->U + (size_t)c * n + c, w->F + (size_t)c * ld + c, (size_t)(c1 - c) * sizeof(double));
        for (int r = c + 1; r < w->pivots; r++) {
            w->Lt[(size_t)c * n + (size_t)r] = w->F[(size_t)r * ld + (size_t)c];
        }
    }
    return -1;
}

// The same of a definite front: the rows of the panel only, lower triangle.
CR_TILE int panel_definite(const crWork* w, int c0, int c1) {
    size_t ld = w->ld, n = (size_t)w->n;
    for (int c = c0; c < c1; c++) {
        double d = w->F[(size_t)c * ld + (size_t)c];
        if (!pivot_ok(w, c, d, false)) return c;
        double* u = w->U + (size_t)c * n;
        w->exchange[c] = c;
        w->reciprocal[c] = 1.0 / d;
        u[c] = d;
        for (int r = c + 1; r < c1; r++) {
            u[r] = w->F[(size_t)r * ld + (size_t)c];
            double l = u[r] * w->reciprocal[c];
            for (int j = c + 1; j <= r; j++) {
                w->F[(size_t)r * ld + (size_t)j] -= l * u[j];
            }
        }
    }
    return -1;
}

// Four rows from r on below the panel: T = their columns times inverse(U) but for the pivots' reciprocals.
CR_TILE void solve_four(const crWork* w, int c0, int c1, int r, double T[PANEL][4]) {
    int depth = c1 - c0;
    for (size_t i = 0; i < 4; i++) {
        const double* row = w->F + ((size_t)r + i) * w->ld + (size_t)c0;
        for (int c = 0; c < depth; c++) {
            T[c][i] = row[c];
        }
    }
    for (int q = 0; q < depth; q++) {
        const double* u = w->U + (size_t)(c0 + q) * (size_t)w->n + (size_t)c0;
        double d = w->reciprocal[c0 + q];
        double l[4] = {T[q][0] * d, T[q][1] * d, T[q][2] * d, T[q][3] * d};
        for (int c = q + 1; c < depth; c++) {
            for (size_t i = 0; i < 4; i++) {
                T[c][i] -= l[i] * u[c];
            }
        }
    }
}

// L in the rows from `from` on; definite: also U, its mirror image.
CR_TILE void panel_below(const crWork* w, int c0, int c1, int from, bool general) {
    size_t n = (size_t)w->n;
    double T[PANEL][4];
    for (int r = from; r < w->n; r += 4) {
        int valid = w->n - r < 4 ? w->n - r : 4;
        solve_four(w, c0, c1, r, T);
        for (int c = c0; c < c1; c++) {
            double* lt = w->Lt + (size_t)(general ? c : c - c0) * n + (size_t)r;
            double* u = w->U + (size_t)c * n + (size_t)r;
            double d = w->reciprocal[c];
            for (int i = 0; i < valid; i++) {
                if (!general) u[i] = T[c - c0][i];
                lt[i] = T[c - c0][i] * d;
            }
        }
    }
}

// U right of the panel.
CR_TILE void panel_right(const crWork* w, int c0, int c1) {
    size_t n = (size_t)w->n;
    for (int c = c0; c < c1; c++) {
        double* u = w->U + (size_t)c * n;
        memcpy(u + c1, w->F + (size_t)c * w->ld + c1, (size_t)(w->n - c1) * sizeof(double));
        for (int q = c0; q < c; q++) {
            double l = w->Lt[(size_t)q * n + (size_t)c];
            const double* other = w->U + (size_t)q * n;
            for (int j = c1; j < w->n; j++) {
                u[j] -= l * other[j];
            }
        }
    }
}

// What is left of the front, less L U of the panel; definite: tiles on and below the diagonal.
CR_TILE void update_rest(const crWork* w, int c0, int c1, bool general, crWidth width) {
    size_t n = (size_t)w->n;
    const double* Lt = w->Lt + (general ? (size_t)c0 * n : 0);
    const double* U = w->U + (size_t)c0 * n;
    for (int i = c1; i < w->n; i += 4) {
        int end = general ? w->n : i + 1;
        int j = c1;
#ifdef SPARSE_WIDE
        // rows of F and U have four numbers to spare
        for (; width == WIDTH_EIGHT && j + 12 <= end; j += 16) {
            tile_update_widest(w->F + (size_t)i * w->ld + (size_t)j, w->ld, Lt + i, n, U + j, n, c1 - c0);
        }
        for (; width >= WIDTH_FOUR && j + 4 < end; j += 8) {
            tile_update_wide(w->F + (size_t)i * w->ld + (size_t)j, w->ld, Lt + i, n, U + j, n, c1 - c0);
        }
#else
        (void)width;
#endif
        for (; j < end; j += 4) {
            tile_update(w->F + (size_t)i * w->ld + (size_t)j, w->ld, Lt + i, n, U + j, n, c1 - c0);
        }
    }
}

CR_TILE int factor_front(const crWork* w, bool general, crWidth width) {
    for (int c0 = 0; c0 < w->pivots; c0 += PANEL) {
        int c1 = c0 + PANEL < w->pivots ? c0 + PANEL : w->pivots;
        int failed = general ? panel_general(w, c0, c1) : panel_definite(w, c0, c1);
        if (failed >= 0) return failed;
        panel_below(w, c0, c1, general ? w->pivots : c1, general);
        if (general) panel_right(w, c0, c1);
        update_rest(w, c0, c1, general, width);
    }
    return -1;
}

// to[j] becomes the largest entry of column j of a block, if that is larger
CR_TILE void raise(double* to, const double* block, int rows, int cols) {
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            double size = fabs(block[i * cols + j]);
            to[j] = size > to[j] ? size : to[j];
        }
    }
}

// Largest entry of A in each scalar column. In a definite matrix no entry counts but the diagonal: it bounds its
// column's pivot from above.
CR_TILE void find_largest(crSparse* s, bool general) {
    memset(s->largest, 0, (size_t)s->rows * sizeof *s->largest);
    for (int j = 0; j < s->count; j++) {
        int cols = s->offset[j + 1] - s->offset[j];
        const double* block = s->value + s->entries.diagonal[j];
        double* to = s->largest + s->offset[j];
        for (int k = 0; k < cols && !general; k++) {
            to[k] = fabs(block[k * (cols + 1)]);
        }
        if (!general) continue;
        raise(to, block, cols, cols);
        for (int e = s->entries.start[j]; e < s->entries.start[j + 1]; e++) {
            int i = s->entries.below[e], rows = s->offset[i + 1] - s->offset[i];
            raise(to, s->value + s->entries.lower[e], rows, cols);
            raise(s->largest + s->offset[i], s->value + s->entries.upper[e], cols, rows);
        }
    }
}

// The block, in the caller's numbering, that holds a scalar column of a front.
CR_TILE int block_of(const crSparse* s, const crFront* front, int column) {
    int j = front->first;
    while (s->offset[j + 1] - s->offset[front->first] <= column) {
        j++;
    }
    return s->order[j];
}

CR_TILE int factor_all(crSparse* s, bool general, crWidth width) {
    double* top = s->work.stack;
    int waiting = 0;
    find_largest(s, general);
    for (int f = 0; f < s->front_count; f++) {
        const crFront* front = &s->front[f];
        int base = s->offset[front->first];
        crWork w = {.s = s, .front = front, .n = front->rows, .pivots = front->pivots, .F = s->work.dense};
        w.ld = ((size_t)front->rows + 7) & ~(size_t)3;
        w.U = s->U + front->at;
        w.Lt = general ? s->Lt + front->at : s->work.panel;
        w.reciprocal = s->reciprocal + base;
        w.exchange = s->exchange + base;
        w.largest = s->largest + base;
        memset(w.F, 0, (size_t)w.n * w.ld * sizeof *w.F);
        assemble_blocks(&w, general);
        for (int c = 0; c < front->children; c++) {
            const crFront* child = &s->front[s->work.waiting[--waiting]];
            size_t m = (size_t)(child->rows - child->pivots);
            top -= m * m;
            assemble_child(&w, child, top, general);
        }
        int failed = factor_front(&w, general, width);
        if (failed >= 0) return block_of(s, front, failed);
        size_t m = (size_t)(front->rows - front->pivots);
        for (size_t i = 0; i < m; i++) {
            const double* row = w.F + ((size_t)w.pivots + i) * w.ld + (size_t)w.pivots;
            memcpy(top + i * m, row, (general ? m : i + 1) * sizeof *top);
        }
        if (m == 0) continue;
        top += m * m;
        s->work.waiting[waiting++] = f;
    }
    return -1;
}

// t -= sum of y[p] times row p of X, over count rows, four at a time
CR_TILE void subtract_rows(double* t, int m, const double* X, size_t ld, const double* y, int count) {
    int p = 0;
    for (; p + 4 <= count; p += 4) {
        const double *a = X + (size_t)p * ld, *b = a + ld, *c = b + ld, *d = c + ld;
        double ya = y[p], yb = y[p + 1], yc = y[p + 2], yd = y[p + 3];
        for (int j = 0; j < m; j++) {
            t[j] -= (ya * a[j] + yb * b[j]) + (yc * c[j] + yd * d[j]);
        }
    }
    for (; p < count; p++) {
        const double* a = X + (size_t)p * ld;
        for (int j = 0; j < m; j++) {
            t[j] -= y[p] * a[j];
        }
    }
}

// a.b in four running sums
CR_TILE double dot(const double* a, const double* b, int n) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += a[i + k] * b[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += a[i] * b[i];
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// Rows below a front's pivots, to and from one piece.
CR_TILE void gather(const crSparse* s, const crFront* front, const double* y, double* t) {
    for (int r = 0; r < front->row_count; r++) {
        int b = s->row[front->row_first + r];
        for (int i = s->offset[b]; i < s->offset[b + 1]; i++) {
            *t++ = y[i];
        }
    }
}

CR_TILE void scatter(const crSparse* s, const crFront* front, const double* t, double* y) {
    for (int r = 0; r < front->row_count; r++) {
        int b = s->row[front->row_first + r];
        for (int i = s->offset[b]; i < s->offset[b + 1]; i++) {
            y[i] = *t++;
        }
    }
}

// y = inverse(L) y
CR_TILE void forward(const crSparse* s, const crFront* front, double* y, double* t) {
    int k = front->pivots, m = front->rows - k, base = s->offset[front->first];
    size_t n = (size_t)front->rows;
    bool general = s->kind == CR_SPARSE_GENERAL;
    const double* X = (general ? s->Lt : s->U) + front->at;
    double* v = y + base;
    for (int c = 0; general && c < k; c++) {
        double swap = v[c];
        v[c] = v[s->exchange[base + c]];
        v[s->exchange[base + c]] = swap;
    }
    double scaled[PANEL];
    gather(s, front, y, t);
    for (int c0 = 0; c0 < k; c0 += PANEL) {
        int c1 = c0 + PANEL < k ? c0 + PANEL : k;
        for (int c = c0; c < c1; c++) {
            scaled[c - c0] = general ? v[c] : v[c] * s->reciprocal[base + c];
            const double* x = X + (size_t)c * n;
            for (int r = c + 1; r < c1; r++) {
                v[r] -= scaled[c - c0] * x[r];
            }
        }
        subtract_rows(v + c1, k - c1, X + (size_t)c0 * n + c1, n, scaled, c1 - c0);
        subtract_rows(t, m, X + (size_t)c0 * n + k, n, scaled, c1 - c0);
    }
    scatter(s, front, t, y);
}

// y = inverse(U) y
CR_TILE void backward(const crSparse* s, const crFront* front, double* y, double* t) {
    int k = front->pivots, m = front->rows - k, base = s->offset[front->first];
    double* v = y + base;
    gather(s, front, y, t);
    for (int c = k - 1; c >= 0; c--) {
        const double* u = s->U + front->at + (size_t)c * (size_t)front->rows;
        double sum = v[c] - dot(u + k, t, m);
        v[c] = (sum - dot(u + c + 1, v + c + 1, k - c - 1)) * s->reciprocal[base + c];
    }
}

CR_TILE void solve_all(crSparse* s, double* x) {
    double *y = s->work.vector, *t = s->work.vector + s->rows;
    for (int k = 0; k < s->count; k++) {
        int at = s->from[s->order[k]];
        memcpy(y + s->offset[k], x + at, (size_t)(s->offset[k + 1] - s->offset[k]) * sizeof *y);
    }
    for (int f = 0; f < s->front_count; f++) {
        forward(s, &s->front[f], y, t);
    }
    for (int f = s->front_count - 1; f >= 0; f--) {
        backward(s, &s->front[f], y, t);
    }
    for (int k = 0; k < s->count; k++) {
        int at = s->from[s->order[k]];
        memcpy(x + at, y + s->offset[k], (size_t)(s->offset[k + 1] - s->offset[k]) * sizeof *y);
    }
}

static int factor_definite(crSparse* s) { return factor_all(s, false, WIDTH_TWO); }
static int factor_general(crSparse* s) { return factor_all(s, true, WIDTH_TWO); }

#ifdef SPARSE_WIDE
SPARSE_WIDE static int factor_definite_wide(crSparse* s) { return factor_all(s, false, WIDTH_FOUR); }
SPARSE_WIDE static int factor_general_wide(crSparse* s) { return factor_all(s, true, WIDTH_FOUR); }
SPARSE_WIDE static void solve_wide(crSparse* s, double* x) { solve_all(s, x); }
SPARSE_WIDEST static int factor_definite_widest(crSparse* s) { return factor_all(s, false, WIDTH_EIGHT); }
SPARSE_WIDEST static int factor_general_widest(crSparse* s) { return factor_all(s, true, WIDTH_EIGHT); }

// Registers of this processor.
static crWidth register_width(void) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        return WIDTH_EIGHT;
    }
    if (__builtin_cpu_supports("avx2")) return WIDTH_FOUR;
    return WIDTH_TWO;
}
#endif

int cr__sparse_factor(crSparse* s, crSparseKind kind) {
    bool general = kind == CR_SPARSE_GENERAL;
    s->kind = kind;
#ifdef SPARSE_WIDE
    crWidth width = register_width();
    if (width == WIDTH_EIGHT) return general ? factor_general_widest(s) : factor_definite_widest(s);
    if (width == WIDTH_FOUR) return general ? factor_general_wide(s) : factor_definite_wide(s);
#endif
    return general ? factor_general(s) : factor_definite(s);
}

void cr__sparse_solve(crSparse* s, double* x) {
#ifdef SPARSE_WIDE
    if (register_width() != WIDTH_TWO) {
        solve_wide(s, x);
        return;
    }
#endif
    solve_all(s, x);
}
