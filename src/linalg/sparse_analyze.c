// sparse_analyze.c - order, pattern and fronts of a sparse factorization; everything that values do not
// change.
//
// Order: minimum degree, then a postorder of the elimination tree (parent of a column: its first row below
// the diagonal in the factor; Liu 1990), so that the columns of a subtree follow each other. Columns with the
// same rows below them make one front. A front also takes in its last child where few zeros are stored for
// it: larger fronts do more work per number that is moved. Fails: out of memory only.
#include "order.h"
#include "sparse.h"

#include <string.h>

#define NARROW_PIVOTS 12    // fronts up to this many columns join their parents
#define NARROW_ZEROS  0.25  // while the zeros are at most this part of the factor
#define WIDE_ZEROS    0.05  // others: this part

// The pattern of A and of its factor by columns, in elimination order.
typedef struct crTree {
    int count;
    int* start;    // first neighbour of a row that is eliminated before it (count + 1)
    int* col;      // those neighbours
    int* parent;   // in the elimination tree, count for roots (count)
    int* blocks;   // block rows below the diagonal (count)
    int* scalars;  // scalar rows below the diagonal (count)
    int* mark;     // (count + 1)
    int* work;     // (count + 1)
} crTree;

static void invert(const int* order, int count, int* place) {
    for (int k = 0; k < count; k++) {
        place[order[k]] = k;
    }
}

// Earlier neighbours of each row, each once.
static void tree_rows(crTree* t, const int* place, const int* start, const int* col) {
    int n = t->count;
    memset(t->start, 0, ((size_t)n + 1) * sizeof *t->start);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            for (int k = start[i]; k < start[i + 1]; k++) {
                int a = place[i], b = place[col[k]];
                if (a == b) continue;
                int late = a > b ? a : b;
                if (pass == 0) {
                    t->start[late + 1]++;
                } else {
                    t->col[t->work[late]++] = a > b ? b : a;
                }
            }
        }
        for (int i = 0; pass == 0 && i < n; i++) {
            t->start[i + 1] += t->start[i];
            t->work[i] = t->start[i];
        }
    }
    for (int i = 0; i < n; i++) {
        t->mark[i] = -1;
    }
    int to = 0;
    for (int i = 0; i < n; i++) {
        int begin = t->start[i], end = t->start[i + 1];
        t->start[i] = to;
        for (int k = begin; k < end; k++) {
            if (t->mark[t->col[k]] == i) continue;
            t->mark[t->col[k]] = i;
            t->col[to++] = t->col[k];
        }
    }
    t->start[n] = to;
}

// Parents, by paths to the root that are shortened as they are walked.
static void tree_parents(crTree* t) {
    int* ancestor = t->work;
    for (int i = 0; i < t->count; i++) {
        t->parent[i] = ancestor[i] = t->count;
        for (int k = t->start[i]; k < t->start[i + 1]; k++) {
            for (int j = t->col[k]; j < i;) {
                int next = ancestor[j];
                ancestor[j] = i;
                if (next == t->count) t->parent[j] = i;
                j = next;
            }
        }
    }
}

// Children before parents, each subtree without gaps; post (count) receives the columns.
static void tree_postorder(crTree* t, int* post, int* first_child, int* sibling) {
    int n = t->count, made = 0;
    for (int i = 0; i <= n; i++) {
        first_child[i] = -1;
    }
    for (int i = n - 1; i >= 0; i--) {
        sibling[i] = first_child[t->parent[i]];
        first_child[t->parent[i]] = i;
    }
    for (int at = first_child[n]; at >= 0 && at < n;) {
        while (first_child[at] >= 0) {
            at = first_child[at];
        }
        while (at < n) {
            post[made++] = at;
            if (sibling[at] >= 0) {
                at = sibling[at];
                break;
            }
            at = t->parent[at];
        }
    }
}

// Visits the rows of the factor: row i has an entry in column j for every j on the tree's paths from A's
// entries up to i. Counts them, or (rows given) lists row i for those columns j that have a list.
static void tree_walk(crTree* t, const int* size, int* next, int* rows) {
    for (int j = 0; j < t->count; j++) {
        t->mark[j] = j;
        if (rows == NULL) t->blocks[j] = t->scalars[j] = 0;
    }
    for (int i = 0; i < t->count; i++) {
        t->mark[i] = i;
        for (int k = t->start[i]; k < t->start[i + 1]; k++) {
            for (int j = t->col[k]; t->mark[j] != i; j = t->parent[j]) {
                t->mark[j] = i;
                if (rows == NULL) {
                    t->blocks[j]++;
                    t->scalars[j] += size[i];
                } else if (next[j] >= 0) {
                    rows[next[j]++] = i;
                }
            }
        }
    }
}

static crStatus tree_create(crTree* t, int count, const int* start, crArena* arena) {
    size_t n = (size_t)count + 1;
    *t = (crTree){.count = count};
    int** arrays[] = {&t->start, &t->parent, &t->blocks, &t->scalars, &t->mark, &t->work};
    bool ok = true;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        *arrays[k] = cr_arena_alloc(arena, n * sizeof(int));
        ok = ok && *arrays[k] != NULL;
    }
    t->col = cr_arena_alloc(arena, (size_t)start[count] * sizeof(int));
    return ok && t->col != NULL ? CR_OK : CR_ERR_MEMORY;
}

// Minimum degree, then postorder: order, place and the tree in that order.
static crStatus make_order(crSparse* s, crTree* t, const int* start, const int* col, crArena* arena) {
    size_t bytes = ((size_t)s->count + 1) * sizeof(int);
    int* post = cr_arena_alloc(arena, bytes);
    int* child = cr_arena_alloc(arena, bytes);
    int* sibling = cr_arena_alloc(arena, bytes);
    if (post == NULL || child == NULL || sibling == NULL) return CR_ERR_MEMORY;
    crStatus status = cr__minimum_degree(s->count, s->size, start, col, arena, s->order);
    if (status != CR_OK) return status;
    invert(s->order, s->count, s->place);
    tree_rows(t, s->place, start, col);
    tree_parents(t);
    tree_postorder(t, post, child, sibling);
    for (int k = 0; k < s->count; k++) {
        child[k] = s->order[post[k]];
    }
    memcpy(s->order, child, (size_t)s->count * sizeof *child);
    invert(s->order, s->count, s->place);
    tree_rows(t, s->place, start, col);
    tree_parents(t);
    return CR_OK;
}

// Whether front a joins front b, its parent and next one. zeros: those stored in a so far; receives the sum.
static bool joins(const crFront* a, const crFront* b, double zeros_b, double* zeros) {
    double wide = (double)a->pivots + (double)b->pivots, high = wide + (double)(b->rows - b->pivots);
    double more = *zeros + zeros_b + (double)a->pivots * (double)(b->rows - (a->rows - a->pivots));
    double all = wide * high - 0.5 * wide * (wide - 1.0);
    bool narrow = a->pivots <= NARROW_PIVOTS;
    if (more > (narrow ? NARROW_ZEROS : WIDE_ZEROS) * all) return false;
    *zeros = more;
    return true;
}

// Fronts of columns with the same rows, then joined to their parents where that costs few zeros.
static void make_fronts(crSparse* s, const crTree* t, const int* size) {
    int made = 0;
    double zeros = 0.0;
    for (int j = 0; j < s->count;) {
        crFront f = {.first = j, .pivots = size[j]};
        while (j + 1 < s->count && t->parent[j] == j + 1 && t->blocks[j] == t->blocks[j + 1] + 1) {
            j++;
            f.pivots += size[j];
        }
        j++;
        f.end = j;
        f.row_count = t->blocks[j - 1];
        f.rows = f.pivots + t->scalars[j - 1];
        crFront* last = made > 0 ? &s->front[made - 1] : NULL;
        if (last != NULL && t->parent[f.first - 1] < f.end && joins(last, &f, 0.0, &zeros)) {
            f.first = last->first;
            f.pivots += last->pivots;
            f.rows += last->pivots;
            made--;
        } else {
            zeros = 0.0;
        }
        s->front[made++] = f;
    }
    s->front_count = made;
}

// Block rows below each front's pivots, and where each of them begins in the parent's front.
static crStatus make_rows(crSparse* s, crTree* t, const int* size, crArena* arena) {
    int* next = cr_arena_alloc(arena, (size_t)s->count * sizeof(int));
    int* owner = cr_arena_alloc(arena, (size_t)s->count * sizeof(int));
    size_t total = 0;
    if (next == NULL || owner == NULL) return CR_ERR_MEMORY;
    for (int f = 0; f < s->front_count; f++) {
        crFront* front = &s->front[f];
        front->row_first = (int)total;
        total += (size_t)front->row_count;
        for (int j = front->first; j < front->end; j++) {
            next[j] = j == front->end - 1 ? front->row_first : -1;
            owner[j] = f;
        }
    }
    s->row = cr_arena_alloc(arena, total * sizeof *s->row);
    s->into = cr_arena_alloc(arena, total * sizeof *s->into);
    if (s->row == NULL || s->into == NULL) return CR_ERR_MEMORY;
    tree_walk(t, size, next, s->row);
    for (int f = 0; f < s->front_count; f++) {
        const crFront* front = &s->front[f];
        if (front->row_count == 0) continue;
        const int* rows = s->row + front->row_first;
        crFront* parent = &s->front[owner[rows[0]]];
        const int* above = s->row + parent->row_first;
        int at = parent->pivots, k = 0;
        parent->children++;
        for (int r = 0; r < front->row_count; r++) {
            if (rows[r] < parent->end) {
                s->into[front->row_first + r] = s->offset[rows[r]] - s->offset[parent->first];
                continue;
            }
            while (above[k] != rows[r]) {
                at += size[above[k++]];
            }
            s->into[front->row_first + r] = at;
        }
    }
    return CR_OK;
}

// Entries of A by columns, where they go in their fronts, and their blocks in value.
static crStatus make_entries(crSparse* s, const crTree* t, const int* size, bool general, crArena* arena) {
    int n = s->count, entries = t->start[n];
    s->entries.start = cr_arena_alloc(arena, ((size_t)n + 1) * sizeof *s->entries.start);
    s->entries.below = cr_arena_alloc(arena, (size_t)entries * sizeof *s->entries.below);
    s->entries.local = cr_arena_alloc(arena, (size_t)entries * sizeof *s->entries.local);
    s->entries.lower = cr_arena_alloc(arena, (size_t)entries * sizeof *s->entries.lower);
    s->entries.upper = cr_arena_alloc(arena, (size_t)entries * sizeof *s->entries.upper);
    s->entries.diagonal = cr_arena_alloc(arena, (size_t)n * sizeof *s->entries.diagonal);
    if (s->entries.start == NULL || s->entries.below == NULL || s->entries.local == NULL ||
        s->entries.lower == NULL || s->entries.upper == NULL || s->entries.diagonal == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(s->entries.start, 0, ((size_t)n + 1) * sizeof *s->entries.start);
    for (int k = 0; k < entries; k++) {
        s->entries.start[t->col[k] + 1]++;
    }
    for (int j = 0; j < n; j++) {
        s->entries.start[j + 1] += s->entries.start[j];
        t->work[j] = s->entries.start[j];
    }
    for (int i = 0; i < n; i++) {
        for (int k = t->start[i]; k < t->start[i + 1]; k++) {
            s->entries.below[t->work[t->col[k]]++] = i;
        }
    }
    size_t at = 0;
    for (int f = 0; f < s->front_count; f++) {
        const crFront* front = &s->front[f];
        const int* rows = s->row + front->row_first;
        for (int j = front->first; j < front->end; j++) {
            s->entries.diagonal[j] = at;
            at += (size_t)size[j] * (size_t)size[j];
            int k = 0, local = front->pivots;
            for (int e = s->entries.start[j]; e < s->entries.start[j + 1]; e++) {
                int i = s->entries.below[e];
                while (i >= front->end && rows[k] != i) {
                    local += size[rows[k++]];
                }
                s->entries.local[e] = i < front->end ? s->offset[i] - s->offset[front->first] : local;
                s->entries.lower[e] = s->entries.upper[e] = at;
                at += (size_t)size[j] * (size_t)size[i];
                if (general) s->entries.upper[e] = at;
                if (general) at += (size_t)size[j] * (size_t)size[i];
            }
        }
    }
    s->value_count = at;
    return CR_OK;
}

// Room for values, factors and work.
static crStatus make_room(crSparse* s, bool general, crArena* arena) {
    size_t dense = 0, high = 0, wide = 0, used = 0, most = 0;
    size_t* held = cr_arena_alloc(arena, (size_t)s->front_count * sizeof *held);
    int waiting = 0;
    if (held == NULL) return CR_ERR_MEMORY;
    for (int f = 0; f < s->front_count; f++) {
        crFront* front = &s->front[f];
        size_t rows = (size_t)front->rows, left = (size_t)(front->rows - front->pivots);
        front->at = s->factor_count;
        s->factor_count += (size_t)front->pivots * rows;
        if (rows > high) high = rows;
        if ((rows + 4) * (rows + 8) > dense) dense = (rows + 4) * (rows + 8);
        for (int c = 0; c < front->children; c++) {
            used -= held[--waiting];
        }
        double p = front->pivots, r = (double)left;
        s->flops += p * p * p / 3.0 + p * p * r + p * r * r;
        if (left == 0) continue;
        held[waiting++] = left * left;
        used += left * left;
        if (used > most) most = used;
    }
    wide = CR_SPARSE_PANEL * (high + 4);
    size_t n = (size_t)s->rows;
    s->value = cr_arena_alloc(arena, s->value_count * sizeof(double));
    s->U = cr_arena_alloc(arena, (s->factor_count + 4) * sizeof(double));
    s->Lt = general ? cr_arena_alloc(arena, (s->factor_count + 4) * sizeof(double)) : NULL;
    s->reciprocal = cr_arena_alloc(arena, n * sizeof(double));
    s->exchange = cr_arena_alloc(arena, n * sizeof(int));
    s->largest = cr_arena_alloc(arena, n * sizeof(double));
    s->work.dense = cr_arena_alloc(arena, dense * sizeof(double));
    s->work.panel = cr_arena_alloc(arena, wide * sizeof(double));
    s->work.stack = cr_arena_alloc(arena, most * sizeof(double));
    s->work.waiting = cr_arena_alloc(arena, (size_t)s->front_count * sizeof(int));
    s->work.map = cr_arena_alloc(arena, high * sizeof(int));
    s->work.vector = cr_arena_alloc(arena, (n + high + 4) * sizeof(double));
    bool ok = s->value != NULL && s->U != NULL && (s->Lt != NULL || !general) && s->reciprocal != NULL &&
              s->exchange != NULL && s->largest != NULL && s->work.dense != NULL && s->work.panel != NULL &&
              s->work.stack != NULL && s->work.waiting != NULL && s->work.map != NULL &&
              s->work.vector != NULL;
    if (!ok) return CR_ERR_MEMORY;
    memset(s->U, 0, (s->factor_count + 4) * sizeof(double));
    if (general) memset(s->Lt, 0, (s->factor_count + 4) * sizeof(double));
    memset(s->work.dense, 0, dense * sizeof(double));
    memset(s->work.panel, 0, wide * sizeof(double));
    return CR_OK;
}

crStatus cr__sparse_analyze(crSparse* s, int count, const int* size, const int* start, const int* col,
                            bool general, crArena* arena) {
    size_t n = (size_t)count + 1;
    *s = (crSparse){.count = count, .size = size};
    s->order = cr_arena_alloc(arena, n * sizeof(int));
    s->place = cr_arena_alloc(arena, n * sizeof(int));
    s->offset = cr_arena_alloc(arena, n * sizeof(int));
    s->from = cr_arena_alloc(arena, n * sizeof(int));
    s->front = cr_arena_alloc(arena, n * sizeof *s->front);
    int* sorted = cr_arena_alloc(arena, n * sizeof(int));  // sizes in elimination order
    crTree t;
    crStatus status = tree_create(&t, count, start, arena);
    if (s->order == NULL || s->place == NULL || s->offset == NULL || s->from == NULL || s->front == NULL ||
        sorted == NULL) {
        status = CR_ERR_MEMORY;
    }
    if (status == CR_OK) status = make_order(s, &t, start, col, arena);
    if (status != CR_OK) return status;
    s->offset[0] = 0;
    for (int k = 0; k < count; k++) {
        s->from[k] = s->rows;
        s->rows += size[k];
        sorted[k] = size[s->order[k]];
        s->offset[k + 1] = s->offset[k] + sorted[k];
    }
    tree_walk(&t, sorted, NULL, NULL);
    make_fronts(s, &t, sorted);
    status = make_rows(s, &t, sorted, arena);
    if (status == CR_OK) status = make_entries(s, &t, sorted, general, arena);
    return status == CR_OK ? make_room(s, general, arena) : status;
}

void cr__sparse_clear(crSparse* s) { memset(s->value, 0, s->value_count * sizeof *s->value); }

double* cr__sparse_block(crSparse* s, int i, int j) {
    int a = s->place[i], b = s->place[j];
    if (a == b) return s->value + s->entries.diagonal[a];
    int column = a < b ? a : b, row = a < b ? b : a;
    int lo = s->entries.start[column], hi = s->entries.start[column + 1];
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (s->entries.below[mid] < row) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    if (lo == s->entries.start[column + 1] || s->entries.below[lo] != row) return NULL;
    return s->value + (a > b ? s->entries.lower[lo] : s->entries.upper[lo]);
}
