// clusters.c - clusters by density: HDBSCAN (Campello, Moulavi and Sander 2013) with the whole as a
// candidate.
//
// With m a fiftieth of the points, at least 5, the distance of two points is at least each one's distance to
// its m-th neighbour; the minimum spanning tree in it, cut from its longest edge on, is a tree of clusters. A
// part smaller than m is not a cluster but points that left one. With lambda = 1 / distance, a cluster's
// weight is the sum over its points of lambda where the point left less lambda where the cluster began; of a
// cluster and all below it the heavier stay. The whole begins at 0, so that it falls apart only where gaps
// are about twice as wide as the distances inside. Points outside the clusters that stay join that of their
// nearest neighbour. Time goes with the square of the first CR_CLUSTER_POINTS points, and no random number is
// drawn.
// Fails: memory.
#include "fit/clusters.h"

#include <math.h>
#include <stdlib.h>

#define SHARE 50
#define LEAST 5

typedef struct Edge {
    double length;
    int a, b;
} Edge;

// Two parts that became one; leaves are the points, inner nodes follow.
typedef struct Node {
    int left, right, size;
    double length;
} Node;

typedef struct Branch {
    int parent;  // -1: the whole
    double birth, weight;
    bool stays;
} Branch;

typedef struct Work {
    const double* points;
    int count, dim;
    int least;       // m: points of a cluster
    double* apart;   // distances (count*count)
    double* core;    // to the m-th neighbour (count)
    Edge* edges;     // (count - 1)
    Node* nodes;     // (2*count - 1)
    int* root;       // of the union of parts (2*count - 1)
    int* branch_of;  // of each point, the last it was in (count)
    Branch* branches;
    int branch_count;
    int* stack;  // (2*count), node and branch
    double* sorted;
} Work;

static double distance(const double* a, const double* b, int dim) {
    double sum = 0.0;
    for (int i = 0; i < dim; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sqrt(sum);
}

static int ascending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static int by_length(const void* a, const void* b) {
    const Edge *x = a, *y = b;
    if (x->length != y->length) return x->length > y->length ? 1 : -1;
    return x->a != y->a ? x->a - y->a : x->b - y->b;
}

static void measure(Work* w) {
    size_t n = (size_t)w->count;
    for (size_t i = 0; i < n; i++) {
        w->apart[i * n + i] = 0.0;
        for (size_t k = 0; k < i; k++) {
            double d = distance(w->points + i * (size_t)w->dim, w->points + k * (size_t)w->dim, w->dim);
            w->apart[i * n + k] = w->apart[k * n + i] = d;
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            w->sorted[k] = w->apart[i * n + k];
        }
        qsort(w->sorted, n, sizeof *w->sorted, ascending);
        w->core[i] = w->sorted[w->least];
    }
}

static double reach(const Work* w, int a, int b) {
    return fmax(w->apart[(size_t)a * (size_t)w->count + (size_t)b], fmax(w->core[a], w->core[b]));
}

// Prim's tree
static void span(Work* w) {
    int n = w->count;
    double* best = w->sorted;
    int* from = w->root;
    int* done = w->branch_of;
    for (int i = 0; i < n; i++) {
        best[i] = INFINITY;
        from[i] = 0;
        done[i] = 0;
    }
    int at = 0;
    done[0] = 1;
    for (int e = 0; e < n - 1; e++) {
        int next = -1;
        for (int i = 0; i < n; i++) {
            if (done[i]) continue;
            double d = reach(w, at, i);
            if (d < best[i]) {
                best[i] = d;
                from[i] = at;
            }
            if (next < 0 || best[i] < best[next]) next = i;
        }
        w->edges[e] = (Edge){best[next], from[next], next};
        done[next] = 1;
        at = next;
    }
    qsort(w->edges, (size_t)(n - 1), sizeof *w->edges, by_length);
}

static int top_of(Work* w, int node) {
    while (w->root[node] != node) {
        w->root[node] = w->root[w->root[node]];
        node = w->root[node];
    }
    return node;
}

static void join(Work* w) {
    int n = w->count;
    for (int i = 0; i < n; i++) {
        w->nodes[i] = (Node){-1, -1, 1, 0.0};
        w->root[i] = i;
    }
    for (int e = 0; e < n - 1; e++) {
        int a = top_of(w, w->edges[e].a), b = top_of(w, w->edges[e].b), node = n + e;
        w->nodes[node] = (Node){a, b, w->nodes[a].size + w->nodes[b].size, w->edges[e].length};
        w->root[a] = w->root[b] = w->root[node] = node;
    }
}

// every point below node leaves branch at lambda
static void leave(Work* w, int node, int branch, double lambda, int base) {
    int top = base;
    w->stack[top++] = node;
    while (top > base) {
        int at = w->stack[--top];
        if (at < w->count) {
            w->branch_of[at] = branch;
            w->branches[branch].weight += lambda - w->branches[branch].birth;
            continue;
        }
        w->stack[top++] = w->nodes[at].left;
        w->stack[top++] = w->nodes[at].right;
    }
}

static int begin_branch(Work* w, int parent, double birth) {
    w->branches[w->branch_count] = (Branch){.parent = parent, .birth = birth};
    return w->branch_count++;
}

static void condense(Work* w) {
    double shortest = 1e-12 * w->edges[w->count - 2].length;
    int top = 0;
    w->stack[top++] = 2 * w->count - 2;
    w->stack[top++] = begin_branch(w, -1, 0.0);
    while (top > 0) {
        int branch = w->stack[--top], node = w->stack[--top];
        const Node* n = &w->nodes[node];
        double lambda = 1.0 / fmax(n->length, shortest);
        bool left = w->nodes[n->left].size >= w->least, right = w->nodes[n->right].size >= w->least;
        if (left && right) w->branches[branch].weight += n->size * (lambda - w->branches[branch].birth);
        for (int side = 0; side < 2; side++) {
            int child = side == 0 ? n->left : n->right;
            if (side == 0 ? left : right) {
                w->stack[top++] = child;
                w->stack[top++] = left && right ? begin_branch(w, branch, lambda) : branch;
            } else {
                leave(w, child, branch, lambda, top);
            }
        }
    }
}

// parents come before their children
static void choose(Work* w, double* below) {
    for (int i = 0; i < w->branch_count; i++) {
        below[i] = 0.0;
    }
    for (int i = w->branch_count - 1; i >= 0; i--) {
        Branch* b = &w->branches[i];
        b->stays = b->weight >= below[i];
        if (b->parent >= 0) below[b->parent] += fmax(b->weight, below[i]);
    }
    for (int i = 0; i < w->branch_count; i++) {
        // of a branch that stays nothing below does
        for (int p = w->branches[i].parent; p >= 0 && w->branches[i].stays; p = w->branches[p].parent) {
            if (w->branches[p].stays) w->branches[i].stays = false;
        }
    }
}

// the branch that stays on the way up, or -1
static int home(const Work* w, int point) {
    int branch = w->branch_of[point];
    while (branch >= 0 && !w->branches[branch].stays) {
        branch = w->branches[branch].parent;
    }
    return branch;
}

// labels by size, then by the first point
static int rename_labels(int* label, int count, int* size, int* order, int branches) {
    int clusters = 0;
    for (int i = 0; i < branches; i++) {
        size[i] = 0;
    }
    for (int i = 0; i < count; i++) {
        if (size[label[i]]++ == 0) order[clusters++] = label[i];
    }
    for (int i = 1; i < clusters; i++) {
        int at = order[i], k = i;
        for (; k > 0 && size[order[k - 1]] < size[at]; k--) {
            order[k] = order[k - 1];
        }
        order[k] = at;
    }
    for (int i = 0; i < clusters; i++) {
        size[order[i]] = i;
    }
    for (int i = 0; i < count; i++) {
        label[i] = size[label[i]];
    }
    return clusters;
}

// those that have no home, and those that were not looked at, follow their nearest
static void follow(const Work* w, int count, int* label) {
    for (int i = 0; i < count; i++) {
        label[i] = i < w->count ? home(w, i) : -1;
    }
    for (int i = 0; i < count; i++) {
        if (label[i] >= 0) continue;
        double least = INFINITY;
        int nearest = 0;
        for (int k = 0; k < w->count; k++) {
            if (home(w, k) < 0) continue;
            double d = distance(w->points + (size_t)i * (size_t)w->dim,
                                w->points + (size_t)k * (size_t)w->dim, w->dim);
            if (d < least) {
                least = d;
                nearest = k;
            }
        }
        label[i] = home(w, nearest);
    }
}

static void free_work(Work* w) {
    free(w->apart);
    free(w->core);
    free(w->edges);
    free(w->nodes);
    free(w->root);
    free(w->branch_of);
    free(w->branches);
    free(w->stack);
    free(w->sorted);
}

static bool make_work(Work* w) {
    size_t n = (size_t)w->count;
    w->apart = malloc(n * n * sizeof *w->apart);
    w->core = malloc(n * sizeof *w->core);
    w->edges = malloc(n * sizeof *w->edges);
    w->nodes = malloc(2 * n * sizeof *w->nodes);
    w->root = malloc(2 * n * sizeof *w->root);
    w->branch_of = malloc(n * sizeof *w->branch_of);
    w->branches = malloc(2 * n * sizeof *w->branches);
    w->stack = malloc(6 * n * sizeof *w->stack);
    w->sorted = malloc(2 * n * sizeof *w->sorted);
    return w->apart != NULL && w->core != NULL && w->edges != NULL && w->nodes != NULL && w->root != NULL &&
           w->branch_of != NULL && w->branches != NULL && w->stack != NULL && w->sorted != NULL;
}

crStatus cr_clusters(const double* points, int count, int dim, int* label, int* clusters, crError* error) {
    *clusters = count > 0;
    for (int i = 0; i < count; i++) {
        label[i] = 0;
    }
    if (count < 2 * LEAST || dim == 0) return CR_OK;
    Work w = {.points = points, .count = count < CR_CLUSTER_POINTS ? count : CR_CLUSTER_POINTS, .dim = dim};
    w.least = w.count / SHARE > LEAST ? w.count / SHARE : LEAST;
    bool got = make_work(&w);
    if (got) {
        measure(&w);
        span(&w);
    }
    if (got && w.edges[w.count - 2].length > 0.0) {
        join(&w);
        condense(&w);
        choose(&w, w.sorted);
        follow(&w, count, label);
        *clusters = rename_labels(label, count, w.root, w.stack, w.branch_count);
    }
    free_work(&w);
    return got ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "clusters", "clusters: out of memory");
}
