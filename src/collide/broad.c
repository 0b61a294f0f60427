// broad.c - which boxes overlap: a dynamic tree of enlarged boxes (as in Box2D's, after Presson and Coumans).
//
// Leaves hold boxes enlarged by slack; a box that moves within its enlarged one costs nothing, others are
// taken out and put back where the tree's surface grows least, with rotations that shrink it. For the list of
// pairs the tree is laid out depth first with the boxes as given, and every leaf looks at what comes after it:
// neighbours in space are neighbours in memory, and the boxes are no larger than they must be. Pairs come out
// sorted: the answer does not depend on the shape of the tree. Memory grows by doubling and is kept. Fails: out of memory, or a box
// that is not finite.
#include <string.h>

#include "collide/pieces.h"

typedef struct Node {
    crBounds box;
    int parent;    // -1 at the root; next free node in the free list
    int child[2];  // child[0] = -1 for a leaf
    int key;       // of a leaf
} Node;

typedef struct Item {
    crBounds box;  // as given
    int node;      // -1: absent
    int group;
    int run;  // end of the item's pairs while they are sorted
} Item;

// the tree depth first: the left child follows its parent, skip is the first entry past the subtree
typedef struct Entry {
    crBounds box;  // as given; of an inner node, around those below
    int skip;
    int key;  // -1: an inner node
    int group;
} Entry;

struct crBroad {
    crAllocator allocator;
    double slack;
    Node* nodes;
    int node_capacity, root, free;
    Item* items;
    int item_capacity;
    Entry* entries;
    int entry_capacity;
    crPair* pairs;   // as found (pair_capacity)
    crPair* sorted;  // as returned (pair_capacity)
    int pair_capacity;
};

static void* grow(const crAllocator* a, void* old, size_t size, int from, int to) {
    void* memory = a->alloc(a->ctx, (size_t)to * size);
    if (memory == NULL) return NULL;
    if (old != NULL) {
        memcpy(memory, old, (size_t)from * size);
        a->free(a->ctx, old, (size_t)from * size);
    }
    return memory;
}

crStatus cr_broad_create(double slack, const crAllocator* allocator, crBroad** broad, crError* error) {
    *broad = NULL;
    if (!(slack >= 0.0) || !isfinite(slack))
        return cr_error_set(error, CR_ERR_RANGE, "slack", "slack is %g; it must be >= 0", slack);
    crAllocator a = allocator != NULL ? *allocator : cr_allocator_libc();
    crBroad* b = a.alloc(a.ctx, sizeof *b);
    if (b == NULL) return cr_error_set(error, CR_ERR_MEMORY, "broad", "broad phase: out of memory");
    *b = (crBroad){.allocator = a, .slack = slack, .root = -1, .free = -1};
    *broad = b;
    return CR_OK;
}

void cr_broad_destroy(crBroad* b) {
    if (b == NULL) return;
    crAllocator a = b->allocator;
    if (b->nodes != NULL) a.free(a.ctx, b->nodes, (size_t)b->node_capacity * sizeof(Node));
    if (b->items != NULL) a.free(a.ctx, b->items, (size_t)b->item_capacity * sizeof(Item));
    if (b->entries != NULL) a.free(a.ctx, b->entries, (size_t)b->entry_capacity * sizeof(Entry));
    if (b->pairs != NULL) a.free(a.ctx, b->pairs, (size_t)b->pair_capacity * sizeof(crPair));
    if (b->sorted != NULL) a.free(a.ctx, b->sorted, (size_t)b->pair_capacity * sizeof(crPair));
    a.free(a.ctx, b, sizeof *b);
}

static double surface(crBounds box) {
    crVec3 d = cr_sub(box.hi, box.lo);
    return d.x * d.y + d.y * d.z + d.z * d.x;
}

static bool contains(crBounds outer, crBounds inner) {
    return outer.lo.x <= inner.lo.x && outer.lo.y <= inner.lo.y && outer.lo.z <= inner.lo.z &&
           inner.hi.x <= outer.hi.x && inner.hi.y <= outer.hi.y && inner.hi.z <= outer.hi.z;
}

static int take_node(crBroad* b) {
    int i = b->free;
    b->free = b->nodes[i].parent;
    b->nodes[i] = (Node){.parent = -1, .child = {-1, -1}, .key = -1};
    return i;
}

static void give_node(crBroad* b, int i) {
    b->nodes[i].parent = b->free;
    b->free = i;
}

// room for one more leaf: two nodes
static bool reserve_nodes(crBroad* b) {
    if (b->free >= 0 && b->nodes[b->free].parent >= 0) return true;
    int to = b->node_capacity > 0 ? 2 * b->node_capacity : 64;
    Node* nodes = grow(&b->allocator, b->nodes, sizeof(Node), b->node_capacity, to);
    if (nodes == NULL) return false;
    b->nodes = nodes;
    for (int i = to - 1; i >= b->node_capacity; i--)
        give_node(b, i);
    b->node_capacity = to;
    return true;
}

static void refit(crBroad* b, int i) {
    Node* n = &b->nodes[i];
    const Node *x = &b->nodes[n->child[0]], *y = &b->nodes[n->child[1]];
    n->box = cr__box_union(x->box, y->box);
}

static void replace_child(crBroad* b, int parent, int old, int new) {
    b->nodes[new].parent = parent;
    if (parent < 0)
        b->root = new;
    else
        b->nodes[parent].child[b->nodes[parent].child[1] == old] = new;
}

// exchange a child of i with a grandchild on the other side where that shrinks the box between them
static void rotate(crBroad* b, int i) {
    const Node* n = &b->nodes[i];
    double gain = 0.0;
    int side = -1, which = 0;
    for (int k = 0; k < 2; k++) {
        const Node* c = &b->nodes[n->child[k]];
        if (c->child[0] < 0) continue;
        crBounds moved = b->nodes[n->child[1 - k]].box;
        for (int g = 0; g < 2; g++) {
            double shrinks = surface(c->box) - surface(cr__box_union(b->nodes[c->child[1 - g]].box, moved));
            if (shrinks > gain) {
                gain = shrinks;
                side = k;
                which = g;
            }
        }
    }
    if (side < 0) return;
    int c = n->child[side], down = n->child[1 - side], up = b->nodes[c].child[which];
    b->nodes[i].child[1 - side] = up;
    b->nodes[up].parent = i;
    b->nodes[c].child[which] = down;
    b->nodes[down].parent = c;
    refit(b, c);
}

static void repair(crBroad* b, int i) {
    for (; i >= 0; i = b->nodes[i].parent) {
        refit(b, i);
        rotate(b, i);
    }
}

// best sibling for a new leaf: descend while that costs less surface than pairing here
static int sibling_for(const crBroad* b, crBounds box) {
    int i = b->root;
    while (b->nodes[i].child[0] >= 0) {
        const Node* n = &b->nodes[i];
        double here = surface(n->box), joined = surface(cr__box_union(n->box, box));
        double cost = 2.0 * joined, inherit = 2.0 * (joined - here), best = cost;
        int next = -1;
        for (int k = 0; k < 2; k++) {
            const Node* c = &b->nodes[n->child[k]];
            double grown = surface(cr__box_union(c->box, box));
            double price = inherit + (c->child[0] < 0 ? grown : grown - surface(c->box));
            if (price < best) {
                best = price;
                next = n->child[k];
            }
        }
        if (next < 0) break;
        i = next;
    }
    return i;
}

static void insert(crBroad* b, int leaf) {
    if (b->root < 0) {
        b->root = leaf;
        return;
    }
    int sibling = sibling_for(b, b->nodes[leaf].box), parent = take_node(b), old = b->nodes[sibling].parent;
    replace_child(b, old, sibling, parent);
    b->nodes[parent].child[0] = sibling;
    b->nodes[parent].child[1] = leaf;
    b->nodes[sibling].parent = b->nodes[leaf].parent = parent;
    repair(b, parent);
}

static void take_out(crBroad* b, int leaf) {
    int parent = b->nodes[leaf].parent;
    if (parent < 0) {
        b->root = -1;
        return;
    }
    int sibling = b->nodes[parent].child[b->nodes[parent].child[0] == leaf], above = b->nodes[parent].parent;
    replace_child(b, above, parent, sibling);
    give_node(b, parent);
    b->nodes[leaf].parent = -1;
    repair(b, above);
}

static bool reserve_items(crBroad* b, int key) {
    if (key < b->item_capacity) return true;
    int to = b->item_capacity > 0 ? b->item_capacity : 64;
    while (to <= key)
        to *= 2;
    Item* items = grow(&b->allocator, b->items, sizeof(Item), b->item_capacity, to);
    if (items == NULL) return false;
    for (int i = b->item_capacity; i < to; i++)
        items[i] = (Item){.node = -1};
    b->items = items;
    b->item_capacity = to;
    return true;
}

crStatus cr_broad_set(crBroad* b, int key, crBounds box, int group, crError* error) {
    if (key < 0 || key >= INT32_MAX / 4)
        return cr_error_set(error, CR_ERR_RANGE, "key", "key is %d; allowed 0 to %d", key, INT32_MAX / 4 - 1);
    if (!(box.lo.x <= box.hi.x && box.lo.y <= box.hi.y && box.lo.z <= box.hi.z))
        return cr_error_set(error, CR_ERR_RANGE, "box", "box %d has lo > hi or is not a number", key);
    if (!reserve_items(b, key) || !reserve_nodes(b))
        return cr_error_set(error, CR_ERR_MEMORY, "broad", "broad phase: out of memory");
    // infinite boxes would make every surface infinite
    const double far = 1e100;
    crBounds held = {cr_vec3(fmax(box.lo.x, -far), fmax(box.lo.y, -far), fmax(box.lo.z, -far)),
                     cr_vec3(fmin(box.hi.x, far), fmin(box.hi.y, far), fmin(box.hi.z, far))};
    Item* item = &b->items[key];
    item->box = held;
    item->group = group;
    if (item->node >= 0 && contains(b->nodes[item->node].box, held)) return CR_OK;
    if (item->node >= 0)
        take_out(b, item->node);
    else
        item->node = take_node(b);
    b->nodes[item->node].box = cr__box_grow(held, b->slack);
    b->nodes[item->node].key = key;
    insert(b, item->node);
    return CR_OK;
}

void cr_broad_remove(crBroad* b, int key) {
    if (key < 0 || key >= b->item_capacity || b->items[key].node < 0) return;
    take_out(b, b->items[key].node);
    give_node(b, b->items[key].node);
    b->items[key].node = -1;
}

static bool grow_pairs(crBroad* b) {
    int to = b->pair_capacity > 0 ? 2 * b->pair_capacity : 256;
    size_t bytes = (size_t)to * sizeof(crPair), old = (size_t)b->pair_capacity * sizeof(crPair);
    crPair* sorted = b->allocator.alloc(b->allocator.ctx, bytes);
    crPair* pairs =
        sorted != NULL ? grow(&b->allocator, b->pairs, sizeof(crPair), b->pair_capacity, to) : NULL;
    if (pairs == NULL) {
        if (sorted != NULL) b->allocator.free(b->allocator.ctx, sorted, bytes);
        return false;
    }
    if (b->sorted != NULL) b->allocator.free(b->allocator.ctx, b->sorted, old);
    b->pairs = pairs;
    b->sorted = sorted;
    b->pair_capacity = to;
    return true;
}

static bool push_pair(crBroad* b, int* count, crPair pair) {
    if (*count == b->pair_capacity && !grow_pairs(b)) return false;
    b->pairs[(*count)++] = pair;
    return true;
}

// the next node in depth-first order, below `at` or past it; no stack, so any depth will do
static int next_node(const crBroad* b, int at, bool below) {
    if (below && b->nodes[at].child[0] >= 0) return b->nodes[at].child[0];
    int parent = b->nodes[at].parent;
    while (parent >= 0 && b->nodes[parent].child[1] == at) {
        at = parent;
        parent = b->nodes[at].parent;
    }
    return parent < 0 ? -1 : b->nodes[parent].child[1];
}

static bool reserve_entries(crBroad* b) {
    if (b->entry_capacity >= b->node_capacity) return true;
    Entry* entries = b->allocator.alloc(b->allocator.ctx, (size_t)b->node_capacity * sizeof(Entry));
    if (entries == NULL) return false;
    if (b->entries != NULL)
        b->allocator.free(b->allocator.ctx, b->entries, (size_t)b->entry_capacity * sizeof(Entry));
    b->entries = entries;
    b->entry_capacity = b->node_capacity;
    return true;
}

// how many entries; boxes and ends of subtrees from the last entry to the first, children before parents
static int lay_out(crBroad* b) {
    int count = 0;
    for (int at = b->root; at >= 0; at = next_node(b, at, true)) {
        const Node* n = &b->nodes[at];
        Entry* e = &b->entries[count++];
        e->key = n->child[0] < 0 ? n->key : -1;
        if (e->key < 0) continue;
        e->box = b->items[n->key].box;
        e->group = b->items[n->key].group;
    }
    for (int i = count - 1; i >= 0; i--) {
        Entry* e = &b->entries[i];
        e->skip = i + 1;
        if (e->key >= 0) continue;
        int right = b->entries[i + 1].skip;
        e->box = cr__box_union(b->entries[i + 1].box, b->entries[right].box);
        e->skip = b->entries[right].skip;
    }
    return count;
}

// all partners of leaf i among the entries after it
static bool partners(crBroad* b, int i, int entries, int* count) {
    const Entry x = b->entries[i];
    for (int at = i + 1; at < entries;) {
        const Entry* e = &b->entries[at];
        bool meets = cr__boxes_meet(e->box, x.box);
        at = meets ? at + 1 : e->skip;
        if (!meets || e->key < 0 || (x.group >= 0 && x.group == e->group)) continue;
        crPair pair = x.key < e->key ? (crPair){x.key, e->key} : (crPair){e->key, x.key};
        if (!push_pair(b, count, pair)) return false;
    }
    return true;
}

// heap sort by b: no memory, and fine for a floor that meets everything
static void sift(crPair* p, int root, int count) {
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && p[child + 1].b > p[child].b) child++;
        if (p[root].b >= p[child].b) return;
        crPair t = p[root];
        p[root] = p[child];
        p[child] = t;
    }
}

static void sort_run(crPair* p, int count) {
    for (int i = count / 2; i-- > 0;)
        sift(p, i, count);
    for (int end = count; end > 1; end--) {
        crPair t = p[0];
        p[0] = p[end - 1];
        p[end - 1] = t;
        sift(p, 0, end - 1);
    }
}

// by a through counting, then each run by b
static void sort_pairs(crBroad* b, int count) {
    int end = 0;
    for (int i = 0; i < b->item_capacity; i++)
        b->items[i].run = 0;
    for (int k = 0; k < count; k++)
        b->items[b->pairs[k].a].run++;
    for (int i = 0; i < b->item_capacity; i++) {
        end += b->items[i].run;
        b->items[i].run = end - b->items[i].run;
    }
    for (int k = 0; k < count; k++)
        b->sorted[b->items[b->pairs[k].a].run++] = b->pairs[k];
    for (int i = 0, first = 0; i < b->item_capacity; first = b->items[i++].run)
        sort_run(b->sorted + first, b->items[i].run - first);
}

crStatus cr_broad_pairs(crBroad* b, const crPair** pairs, int* count) {
    *count = 0;
    if (!reserve_entries(b)) return CR_ERR_MEMORY;
    int entries = lay_out(b);
    for (int i = 0; i < entries; i++)
        if (b->entries[i].key >= 0 && !partners(b, i, entries, count)) return CR_ERR_MEMORY;
    if (*count > 0) sort_pairs(b, *count);
    *pairs = b->sorted;
    return CR_OK;
}

int cr_broad_query(const crBroad* b, crBounds box, int* keys, int capacity) {
    int count = 0;
    bool inside;
    for (int at = b->root; at >= 0; at = next_node(b, at, inside)) {
        const Node* n = &b->nodes[at];
        inside = cr__boxes_meet(n->box, box);
        if (inside && n->child[0] < 0 && cr__boxes_meet(b->items[n->key].box, box)) {
            // the smallest keys, ascending
            int k = count < capacity ? count : capacity;
            count++;
            if (k == capacity && (capacity == 0 || n->key > keys[capacity - 1])) continue;
            if (k == capacity) k--;
            for (; k > 0 && keys[k - 1] > n->key; k--)
                keys[k] = keys[k - 1];
            keys[k] = n->key;
        }
    }
    return count;
}
