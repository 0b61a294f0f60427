// feasible_tree.c - velocities that orders of single impacts lead to, each once.
//
// Nodes are found again by a hash of their velocities; a mirror image of a node (feasible_mirror.c) is the same node. An order
// whose impulses form a geometric series goes to its limit at once. Fails: CR_ERR_MEMORY; a tree without room for a node returns -1.
#include "resolve/feasible.h"

#include <string.h>

#define BUDGET     4096
#define ROOM       2097152  // doubles that velocities of nodes may take where no budget is given
#define MERGE_TOL  1e-10    // of the speed before: velocities closer than this are one
#define MAX_PERIOD 8        // of an order that repeats itself

static crStatus make_nodes(crTree* t, crError* error) {
    crArena* arena = t->impact.arena;
    size_t k = (size_t)(t->k > 0 ? t->k : 1);
    size_t nodes = (size_t)t->node.room;
    int** numbers[] = {&t->node.first, &t->node.depth, &t->node.parent, &t->node.surface,
                       &t->node.since, &t->hash.next,  &t->outcome};
    bool good = true;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] = cr_arena_alloc(arena, nodes * sizeof(int));
        good = good && *numbers[i] != NULL;
    }
    t->hash.cells = 1;
    while (t->hash.cells < t->node.room) {
        t->hash.cells *= 2;
    }
    t->node.p = cr_arena_alloc(arena, nodes * k * sizeof(double));
    t->node.u = cr_arena_alloc(arena, nodes * k * sizeof(double));
    t->hash.head = cr_arena_alloc(arena, (size_t)t->hash.cells * sizeof(int));
    t->node.ended = cr_arena_alloc(arena, nodes * sizeof(bool));
    t->node.done = cr_arena_alloc(arena, nodes * sizeof(bool));
    t->away = cr_arena_alloc(arena, nodes * sizeof(double));
    t->result = cr_arena_alloc(arena, k * sizeof(double));
    good = good && t->node.p != NULL && t->node.u != NULL && t->hash.head != NULL && t->node.ended != NULL &&
           t->node.done != NULL && t->away != NULL && t->result != NULL;
    return good ? CR_OK : cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
}

// Cell of a velocity on a line through velocity space: velocities that are one are in the same cell or the next, and
// mirror images lie together.
static double cell_of(const crTree* t, const double* u) {
    double sum = 0.0, weights = 0.0;
    for (int i = 0; i < t->k; i++) {
        sum += t->hash.weight[i] * u[i];
        weights += t->hash.weight[i];
    }
    double width = 4.0 * MERGE_TOL * t->impact.speed * weights;
    return width > 0.0 ? floor(sum / width) : 0.0;
}

static int slot_of(const crTree* t, double cell) {
    double within = cell - floor(cell / t->hash.cells) * t->hash.cells;
    return (int)within;
}

// the node after the last one, filled already, becomes a node
static void add_node(crTree* t) {
    int node = t->node.count++;
    int slot = slot_of(t, cell_of(t, node_u(t, node)));
    t->node.ended[node] = t->node.done[node] = false;
    t->hash.next[node] = t->hash.head[slot];
    t->hash.head[slot] = node;
}

static bool is_image(const crTree* t, const double* u, const int* mirror, const double* other) {
    double tol = MERGE_TOL * t->impact.speed;
    for (int i = 0; i < t->k; i++) {
        if (!(fabs(other[mirror[i]] - u[i]) <= tol)) return false;
    }
    return true;
}

// a node with the same velocities under the first `mirrors` permutations, or -1
static int same_feasible(const crTree* t, const double* u, int mirrors) {
    double cell = cell_of(t, u);
    int found = -1;
    for (int step = -1; step <= 1; step++) {
        for (int node = t->hash.head[slot_of(t, cell + step)]; node >= 0; node = t->hash.next[node]) {
            for (int m = 0; m < mirrors && (found < 0 || node < found); m++) {
                if (is_image(t, u, t->mirror + (size_t)m * (size_t)t->k, node_u(t, node))) found = node;
            }
        }
    }
    return found;
}

static crStatus copy_impact(crTree* t, double* u, crError* error) {
    const crImpact* impact = &t->impact;
    size_t k = (size_t)(t->k > 0 ? t->k : 1);
    t->W = cr_arena_alloc(impact->arena, k * k * sizeof(double));
    if (t->W == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    for (int i = 0; i < t->k; i++) {
        size_t row = (size_t)impact->normal[i];
        for (int j = 0; j < t->k; j++) {
            t->W[i * t->k + j] = impact->W[row * (size_t)impact->rows + (size_t)impact->normal[j]];
        }
        u[i] = impact->u[row];
    }
    return CR_OK;
}

crStatus cr__tree_plant(crTree* t, crError* error) {
    t->k = t->impact.contacts;
    t->budget = t->impact.params.budget;
    int affordable = t->k > ROOM / BUDGET ? ROOM / t->k + 1 : BUDGET;
    if (t->budget == 0) t->budget = affordable;
    t->reserve = affordable;
    double* u = cr_arena_alloc(t->impact.arena, (size_t)(t->k + 1) * sizeof *u);
    if (u == NULL) return cr_error_set(error, CR_ERR_MEMORY, "arena", "arena: out of memory");
    crStatus status = copy_impact(t, u, error);
    t->node.u = u;
    if (status == CR_OK) status = cr__mirrors_find(t, error);
    // and as many nodes again for images
    int search = t->budget + 2 * t->reserve;
    t->node.room = t->mirrors > 1 ? 2 * search : search;
    if (status == CR_OK) status = make_nodes(t, error);
    if (status != CR_OK) return status;
    memset(t->hash.head, -1, (size_t)t->hash.cells * sizeof(int));
    for (int i = 0; i < t->k; i++) {
        t->node.p[i] = t->result[i] = 0.0;
        t->node.u[i] = u[i];
    }
    t->node.first[0] = t->node.parent[0] = t->node.surface[0] = -1;
    t->node.depth[0] = t->node.since[0] = 0;
    add_node(t);
    return CR_OK;
}

// the last 3 L reflections on the way to `node` repeat an order of length L; a and b are the nodes 2 L and L before
static bool repeats_order(const crTree* t, int node, int L, int* a, int* b) {
    int way[3 * MAX_PERIOD];
    if (t->node.depth[node] - 3 * L <= t->node.since[node]) return false;
    for (int i = 0, at = node; i < 3 * L; i++, at = t->node.parent[at]) {
        way[i] = t->node.surface[at];
        if (i >= L && way[i] != way[i - L]) return false;
        if (i == L) *b = at;
        if (i == 2 * L) *a = at;
    }
    return true;
}

// The impulses of the last periods on the way to `node` form a geometric series: on to its limit.
static bool jump(crTree* t, int node) {
    double* p = node_p(t, node);
    for (int L = 2; L <= MAX_PERIOD; L++) {
        int to_a = 0, to_b = 0;
        if (!repeats_order(t, node, L, &to_a, &to_b)) continue;
        const double* a = node_p(t, to_a);
        const double* b = node_p(t, to_b);
        double r;
        if (!cr__geometric(t->k, a, b, p, t->impact.params.tolerance, &r)) continue;
        for (int i = 0; i < t->k; i++) {
            p[i] += r / (1.0 - r) * (p[i] - b[i]);
        }
        for (int j = 0; j < t->k; j++) {
            double sum = t->node.u[j];
            for (int i = 0; i < t->k; i++) {
                sum += t->W[i * t->k + j] * p[i];
            }
            node_u(t, node)[j] = sum;
        }
        t->node.since[node] = t->node.depth[node];
        return true;
    }
    return false;
}

int cr__tree_branch(crTree* t, int node, int i, double e, int most, crRuleReport* report) {
    if (t->node.count >= most || t->node.count >= t->node.room) return -1;
    int last = t->node.count;
    double* p = node_p(t, last);
    double* u = node_u(t, last);
    memcpy(p, node_p(t, node), (size_t)t->k * sizeof *p);
    memcpy(u, node_u(t, node), (size_t)t->k * sizeof *u);
    double dp = -(1.0 + e) * u[i] / t->W[i * t->k + i];
    p[i] += dp;
    for (int j = 0; j < t->k; j++) {
        u[j] += t->W[i * t->k + j] * dp;
    }
    t->node.first[last] = node == 0 ? i : t->node.first[node];
    t->node.depth[last] = t->node.depth[node] + 1;
    t->node.parent[last] = node;
    t->node.surface[last] = i;
    t->node.since[last] = t->node.since[node];
    if (t->impact.params.extrapolate && jump(t, last)) report->flags |= CR_RULE_EXTRAPOLATED;
    int old = same_feasible(t, u, t->mirrors);
    if (old >= 0) return old;
    add_node(t);
    return last;
}

double cr__tree_product(const crTree* t, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < t->k; i++) {
        for (int j = 0; j < t->k; j++) {
            sum += a[i] * t->W[i * t->k + j] * b[j];
        }
    }
    return sum;
}

// the image of an outcome becomes a node, unless it is one of the outcomes; false where there is no room
static bool add_image(crTree* t, int node, const int* mirror) {
    if (t->node.count == t->node.room) return false;
    int last = t->node.count;
    for (int i = 0; i < t->k; i++) {
        node_p(t, last)[mirror[i]] = node_p(t, node)[i];
        node_u(t, last)[mirror[i]] = node_u(t, node)[i];
    }
    int old = same_feasible(t, node_u(t, last), 1);
    if (old >= 0 && t->node.ended[old]) return true;
    t->node.first[last] = t->node.first[node] < 0 ? -1 : mirror[t->node.first[node]];
    t->node.depth[last] = t->node.depth[node];
    t->node.parent[last] = node;
    t->node.surface[last] = -1;
    t->node.since[last] = t->node.depth[node];
    add_node(t);
    t->node.ended[last] = t->node.done[last] = true;
    t->outcome[t->outcomes++] = last;
    return true;
}

bool cr__tree_mirror(crTree* t) {
    int found = t->outcomes;
    bool all = true;
    for (int i = 0; i < found; i++) {
        for (int m = 1; m < t->mirrors; m++) {
            all = add_image(t, t->outcome[i], t->mirror + (size_t)m * (size_t)t->k) && all;
        }
    }
    return all;
}
