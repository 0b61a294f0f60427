// order.c - minimum degree on a quotient graph with approximate degrees (Amestoy, Davis and Duff 1996).
//
// An eliminated node becomes an element: the clique of its neighbours, stored as one list. A node keeps the
// elements it belongs to, followed by the neighbours that no element covers. The new element absorbs the old
// elements of its node, so all lists together never grow beyond the input. A node's degree is bounded by the
// sizes of its elements without those rows that the new element also holds. A node whose neighbours all lie
// in the new element is eliminated with it. Nodes with very many neighbours come last. Equal degrees are
// decided by the lower number, so the order is the same everywhere. Fails: out of memory only.
#include "order.h"

#include <math.h>
#include <string.h>

typedef enum crNodeKind { NODE_LIVE, NODE_ELEMENT, NODE_GONE } crNodeKind;

typedef struct crQuotient {
    int count;
    const int* weight;   // rows of each node (count)
    crNodeKind* kind;    // (count)
    int* list;           // all lists (capacity)
    int* at;             // first entry of a node's or element's list (count)
    int* length;         // its entries (count)
    int* elements;       // a live node's leading entries that are elements (count)
    int* size;           // an element's rows (count)
    int* degree;         // a live node's approximate degree in rows (count)
    int* outside;        // an element's rows outside the new element, valid if seen is this round (count)
    int* seen;           // round of outside (count)
    int* member;         // last round whose element holds this node (count)
    int used, capacity;  // of list
    int left;            // rows not yet eliminated
    int* heap;           // live nodes by degree, then number (heap_count)
    int* seat;           // place of each node in heap (count)
    int heap_count;
} crQuotient;

static bool before(const crQuotient* g, int a, int b) {
    return g->degree[a] < g->degree[b] || (g->degree[a] == g->degree[b] && a < b);
}

static void heap_put_order(crQuotient* g, int place, int node) {
    g->heap[place] = node;
    g->seat[node] = place;
}

static void heap_up(crQuotient* g, int place) {
    int node = g->heap[place];
    while (place > 0 && before(g, node, g->heap[(place - 1) / 2])) {
        heap_put_order(g, place, g->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    heap_put_order(g, place, node);
}

static void heap_down(crQuotient* g, int place) {
    int node = g->heap[place];
    for (;;) {
        int child = 2 * place + 1;
        if (child >= g->heap_count) break;
        if (child + 1 < g->heap_count && before(g, g->heap[child + 1], g->heap[child])) child++;
        if (!before(g, g->heap[child], node)) break;
        heap_put_order(g, place, g->heap[child]);
        place = child;
    }
    heap_put_order(g, place, node);
}

static void heap_change(crQuotient* g, int node) {
    heap_up(g, g->seat[node]);
    heap_down(g, g->seat[node]);
}

static void heap_remove(crQuotient* g, int node) {
    int place = g->seat[node];
    int last = g->heap[--g->heap_count];
    if (last == node) return;
    heap_put_order(g, place, last);
    heap_change(g, last);
}

// Moves all lists that are still needed to the front. The first entry of each list is kept in `at` meanwhile
// and replaced by a mark that names the owner.
static void compact(crQuotient* g) {
    for (int i = 0; i < g->count; i++) {
        if (g->kind[i] == NODE_GONE || g->length[i] == 0) continue;
        int first = g->list[g->at[i]];
        g->list[g->at[i]] = -1 - i;
        g->at[i] = first;
    }
    int to = 0;
    for (int from = 0; from < g->used;) {
        if (g->list[from] >= 0) {
            from++;
            continue;
        }
        int owner = -1 - g->list[from];
        int first = g->at[owner];
        g->at[owner] = to;
        g->list[to] = first;
        memmove(g->list + to + 1, g->list + from + 1, (size_t)(g->length[owner] - 1) * sizeof *g->list);
        to += g->length[owner];
        from += g->length[owner];
    }
    g->used = to;
}

static void take_member(crQuotient* g, int node, int round) {
    if (g->kind[node] != NODE_LIVE || g->member[node] == round) return;
    g->member[node] = round;
    g->list[g->used++] = node;
}

// Node p becomes the element of all its neighbours, which absorbs p's elements.
static void make_element(crQuotient* g, int p, int round) {
    if (g->capacity - g->used < g->count) compact(g);
    int begin = g->used;
    g->kind[p] = NODE_ELEMENT;
    g->member[p] = round;
    for (int k = 0; k < g->length[p]; k++) {
        int e = g->list[g->at[p] + k];
        if (k >= g->elements[p]) {
            take_member(g, e, round);
        } else if (g->kind[e] == NODE_ELEMENT) {
            for (int l = 0; l < g->length[e]; l++) {
                take_member(g, g->list[g->at[e] + l], round);
            }
            g->kind[e] = NODE_GONE;
        }
    }
    g->at[p] = begin;
    g->length[p] = g->used - begin;
    g->size[p] = 0;
    for (int k = begin; k < g->used; k++) {
        g->size[p] += g->weight[g->list[k]];
    }
}

// For every element that meets element p: its rows outside p.
static void measure_outside(crQuotient* g, int p, int round) {
    for (int k = 0; k < g->length[p]; k++) {
        int i = g->list[g->at[p] + k];
        for (int l = 0; l < g->elements[i]; l++) {
            int e = g->list[g->at[i] + l];
            if (g->kind[e] != NODE_ELEMENT) continue;
            if (g->seen[e] != round) {
                g->seen[e] = round;
                g->outside[e] = g->size[e];
            }
            g->outside[e] -= g->weight[i];
        }
    }
}

// Node i of element p: drops what p covers, adds p to its elements. Returns i's rows outside p, at most.
static int renew_node(crQuotient* g, int i, int p, int round) {
    int* list = g->list + g->at[i];
    int rows = 0, kept = 0;
    for (int k = 0; k < g->elements[i]; k++) {
        int e = list[k];
        if (g->kind[e] != NODE_ELEMENT) continue;
        if (g->outside[e] == 0) {
            g->kind[e] = NODE_GONE;
            continue;
        }
        rows += g->outside[e];
        list[kept++] = e;
    }
    int all = kept;
    for (int k = g->elements[i]; k < g->length[i]; k++) {
        int j = list[k];
        if (g->kind[j] != NODE_LIVE || g->member[j] == round) continue;
        rows += g->weight[j];
        list[all++] = j;
    }
    // at least one entry was dropped: p itself or an element of p
    list[all] = list[kept];
    list[kept] = p;
    g->elements[i] = kept + 1;
    g->length[i] = all + 1;
    return rows;
}

// Eliminates p and the nodes that have no neighbours outside p's element; returns how many.
static int eliminate(crQuotient* g, int p, int round, int* order) {
    int made = 0;
    heap_remove(g, p);
    order[made++] = p;
    g->left -= g->weight[p];
    make_element(g, p, round);
    measure_outside(g, p, round);
    for (int k = 0; k < g->length[p]; k++) {
        int i = g->list[g->at[p] + k];
        int rows = renew_node(g, i, p, round);
        if (rows == 0) {
            g->kind[i] = NODE_GONE;
            heap_remove(g, i);
            order[made++] = i;
            g->left -= g->weight[i];
            g->size[p] -= g->weight[i];
            continue;
        }
        int others = g->size[p] - g->weight[i];
        int degree = g->degree[i] + others;
        if (rows + others < degree) degree = rows + others;
        if (g->left - g->weight[i] < degree) degree = g->left - g->weight[i];
        g->degree[i] = degree;
        heap_change(g, i);
    }
    if (g->size[p] == 0) g->kind[p] = NODE_GONE;
    return made;
}

static crStatus quotient_alloc(crQuotient* g, int entries, crArena* arena) {
    size_t n = (size_t)g->count * sizeof(int);
    g->capacity = entries + 2 * g->count;
    g->list = cr_arena_alloc(arena, (size_t)g->capacity * sizeof(int));
    g->kind = cr_arena_alloc(arena, (size_t)g->count * sizeof *g->kind);
    int** arrays[] = {&g->at,      &g->length, &g->elements, &g->size, &g->degree,
                      &g->outside, &g->seen,   &g->member,   &g->heap, &g->seat};
    bool ok = g->list != NULL && g->kind != NULL;
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        *arrays[k] = cr_arena_alloc(arena, n);
        ok = ok && *arrays[k] != NULL;
        if (ok) memset(*arrays[k], 0, n);
    }
    return ok ? CR_OK : CR_ERR_MEMORY;
}

// Both directions of every listed pair, each neighbour once, without the nodes set aside.
static void fill_lists(crQuotient* g, const int* start, const int* col) {
    for (int i = 0; i < g->count; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) {
            g->list[g->at[i] + g->length[i]++] = col[k];
            g->list[g->at[col[k]] + g->length[col[k]]++] = i;
        }
    }
    for (int i = 0; i < g->count; i++) {
        int* list = g->list + g->at[i];
        int kept = 0;
        for (int k = 0; k < g->length[i]; k++) {
            int j = list[k];
            if (j == i || g->kind[j] != NODE_LIVE || g->member[j] == i) continue;
            g->member[j] = i;
            g->degree[i] += g->weight[j];
            list[kept++] = j;
        }
        g->length[i] = kept;
    }
}

// Lists and heap; nodes with very many neighbours are set aside and eliminated last (their numbers: aside).
static int quotient_fill(crQuotient* g, const int* start, const int* col, int* aside) {
    int many = (int)(10.0 * sqrt((double)g->count)) + 16, set_aside = 0;
    for (int i = 0; i < g->count; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) {
            g->seat[i]++;
            g->seat[col[k]]++;
        }
    }
    for (int i = 0; i < g->count; i++) {
        g->at[i] = g->used;
        g->used += g->seat[i];
        g->seen[i] = g->member[i] = -1;
        g->kind[i] = g->seat[i] > 2 * many ? NODE_GONE : NODE_LIVE;
        if (g->kind[i] == NODE_GONE) {
            aside[set_aside++] = i;
            continue;
        }
        g->left += g->weight[i];
        heap_put_order(g, g->heap_count++, i);
    }
    fill_lists(g, start, col);
    for (int i = 0; i < g->count; i++) {
        g->member[i] = -1;
    }
    for (int i = g->heap_count / 2 - 1; i >= 0; i--) {
        heap_down(g, i);
    }
    return set_aside;
}

crStatus cr__minimum_degree(int count, const int* weight, const int* start, const int* col, crArena* arena,
                            int* order) {
    crQuotient g = {.count = count, .weight = weight};
    size_t mark = cr_arena_mark(arena);
    crStatus status = quotient_alloc(&g, 2 * start[count], arena);
    if (status == CR_OK) {
        int* aside = g.outside;  // not used before the first elimination
        int last = quotient_fill(&g, start, col, aside);
        memcpy(order + count - last, aside, (size_t)last * sizeof *order);
        for (int done = 0, round = 0; done < count - last; round++) {
            done += eliminate(&g, g.heap[0], round, order + done);
        }
    }
    cr_arena_release(arena, mark);
    return status;
}
