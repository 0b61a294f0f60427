// broad.c - which boxes overlap, step after step: a list of near pairs that is mended where something moved.
//
// Every box is held with an enlarged one around it, which stays while the box keeps inside. `near` lists all
// pairs of enlarged boxes that meet, by (a, b); what is asked for, the pairs of boxes as given, is a filter
// of it: the answer depends on neither order nor history. A box that left its enlarged one gets a new one,
// grown ahead of its motion; its old near pairs are dropped, its new ones found in a grid (grid.c), put behind the
// others, sorted by two passes of counting and merged in from the back. Boxes changed since the grid was sorted are loose and compared with
// one by one; the grid is sorted anew when that has cost as much as sorting it. So a step costs a pass over
// boxes and near pairs, and a search for each box that left. Memory grows by an eighth and is kept.
// Fails: out of memory, a key out of range, a box that is not one, CR_ERR_LIMIT where boxes are piled into
// each other: their pairs grow with the square of their number.
#include <limits.h>
#include <string.h>

#include "base/argument.h"
#include "base/room.h"
#include "collide/broad.h"
#include "collide/grid.h"

#define WIDE  CR_BROAD_WIDE
#define SHARE 0.125      // least enlargement, relative to the smallest side
#define AHEAD 4.0        // and ahead, in moves like the present one
#define SORT  25         // comparisons that cost as much as sorting one box into the grid
#define CROWD 256        // near pairs per box, and
#define LEAST (1 << 22)  // so many in any case: more are refused

typedef struct Item {
    int group;
    int entry;     // in the grid, -1: loose or absent
    bool loose;    // on the list of those
    bool changed;  // its near pairs are to be found anew
} Item;

// everything by key, in one block
typedef struct Keys {
    int capacity;
    bool held;  // boxes are held as they are given
    void* block;
    Item* items;      // (capacity)
    crBounds* boxes;  // as given (capacity); NULL where they are held
    crBounds* large;  // enlarged (capacity)
    bool* present;    // (capacity)
    int* changed;     // keys (capacity)
    int* loose;       // keys that are not in the grid as they are now (capacity)
    int* order;       // changed keys as they are looked around (capacity)
    int* found;       // results of a search, ends of runs (capacity + 1)
} Keys;

typedef struct Pairs {
    int capacity;
    void* block;
    crPair*
        near;  // of enlarged boxes, ascending; behind them those of changed boxes while they are found (capacity)
    crPair* other;  // work while near pairs change, else what is returned (capacity)
} Pairs;

struct crBroad {
    crAllocator allocator;
    double slack;
    Keys keys;
    int present_count, changed_count, loose_count;
    crGrid grid;
    int64_t compared;  // with loose boxes since the grid was sorted
    Pairs pairs;
    int near_count;
};

static size_t round_up(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

static size_t key_bytes(int capacity, bool held) {
    size_t n = (size_t)capacity;
    return round_up(n * sizeof(Item)) + (held ? 1 : 2) * round_up(n * sizeof(crBounds)) +
           round_up(n * sizeof(bool)) + 3 * round_up(n * sizeof(int)) + round_up((n + 1) * sizeof(int));
}

static size_t pair_bytes(int capacity) { return 2 * round_up((size_t)capacity * sizeof(crPair)); }

static Keys cut_keys(void* block, int capacity, bool held) {
    size_t n = (size_t)capacity;
    unsigned char* memory = block;
    Keys k = {.capacity = capacity, .held = held, .block = block};
    k.items = cr__take(&memory, n * sizeof(Item));
    if (!held) k.boxes = cr__take(&memory, n * sizeof(crBounds));
    k.large = cr__take(&memory, n * sizeof(crBounds));
    k.present = cr__take(&memory, n * sizeof(bool));
    k.changed = cr__take(&memory, n * sizeof(int));
    k.loose = cr__take(&memory, n * sizeof(int));
    k.order = cr__take(&memory, n * sizeof(int));
    k.found = cr__take(&memory, (n + 1) * sizeof(int));
    return k;
}

static Pairs cut_pairs(void* block, int capacity) {
    size_t bytes = (size_t)capacity * sizeof(crPair);
    unsigned char* memory = block;
    Pairs p = {.capacity = capacity, .block = block};
    p.near = cr__take(&memory, bytes);
    p.other = cr__take(&memory, bytes);
    return p;
}

crStatus cr_broad_create(double slack, const crAllocator* allocator, crBroad** broad, crError* error) {
    if (broad == NULL) return cr__missing(error, "broad");
    *broad = NULL;
    if (cr__check_allocator(allocator, error) != CR_OK) return CR_ERR_ARGUMENT;
    if (!(slack >= 0.0) || !isfinite(slack))
        return cr_error_set(error, CR_ERR_RANGE, "slack", "slack is %g; it must be >= 0", slack);
    crAllocator a = allocator != NULL ? *allocator : cr_allocator_libc();
    crBroad* b = a.alloc(a.ctx, sizeof *b);
    if (b == NULL) return cr_error_set(error, CR_ERR_MEMORY, "broad", "broad phase: out of memory");
    *b = (crBroad){.allocator = a, .slack = slack};
    *broad = b;
    return CR_OK;
}

static void release_keys(crBroad* b) {
    if (b->keys.block != NULL)
        b->allocator.free(b->allocator.ctx, b->keys.block, key_bytes(b->keys.capacity, b->keys.held));
}

static void release_pairs(crBroad* b) {
    if (b->pairs.block != NULL)
        b->allocator.free(b->allocator.ctx, b->pairs.block, pair_bytes(b->pairs.capacity));
}

void cr_broad_destroy(crBroad* b) {
    if (b == NULL) return;
    crAllocator a = b->allocator;
    release_keys(b);
    release_pairs(b);
    cr__grid_free(&b->grid, &a);
    a.free(a.ctx, b, sizeof *b);
}

// room for a key; whether boxes are held is known with the first
static bool reserve_keys(crBroad* b, int key, bool held) {
    if (key < b->keys.capacity) return true;
    int old = b->keys.capacity, to = key + key / 8 + 8;
    void* block = b->allocator.alloc(b->allocator.ctx, key_bytes(to, held));
    if (block == NULL) return false;
    Keys k = cut_keys(block, to, held);
    if (old > 0) {
        size_t n = (size_t)old;
        memcpy(k.items, b->keys.items, n * sizeof(Item));
        if (!held) memcpy(k.boxes, b->keys.boxes, n * sizeof(crBounds));
        memcpy(k.large, b->keys.large, n * sizeof(crBounds));
        memcpy(k.present, b->keys.present, n * sizeof(bool));
        memcpy(k.changed, b->keys.changed, n * sizeof(int));
        memcpy(k.loose, b->keys.loose, n * sizeof(int));
    }
    for (int i = old; i < to; i++) {
        k.items[i] = (Item){.entry = -1};
        k.present[i] = false;
    }
    release_keys(b);
    b->keys = k;
    return true;
}

// room for `more` pairs behind the near ones and the fresh ones
static crStatus reserve_pairs(crBroad* b, int fresh, int more) {
    int used = b->near_count + fresh, count = used + more;
    if (count <= b->pairs.capacity) return CR_OK;
    if (count > INT32_MAX / 4) return CR_ERR_LIMIT;
    int to = count + count / 8 + 16;
    void* block = b->allocator.alloc(b->allocator.ctx, pair_bytes(to));
    if (block == NULL) return CR_ERR_MEMORY;
    Pairs p = cut_pairs(block, to);
    if (used > 0) memcpy(p.near, b->pairs.near, (size_t)used * sizeof(crPair));
    release_pairs(b);
    b->pairs = p;
    return CR_OK;
}

static bool contains(const crBounds* outer, const crBounds* inner) {
    return outer->lo.x <= inner->lo.x && outer->lo.y <= inner->lo.y && outer->lo.z <= inner->lo.z &&
           inner->hi.x <= outer->hi.x && inner->hi.y <= outer->hi.y && inner->hi.z <= outer->hi.z;
}

// what a box is enlarged by along one axis, below and above: slack, and the way it is going
static void enlarge(double* lo, double* hi, double slack, double move) {
    double side = *hi - *lo, ahead = fmin(fmax(AHEAD * move, -side), side);
    *lo += fmin(ahead, 0.0) - slack;
    *hi += fmax(ahead, 0.0) + slack;
}

static crBounds enlarged(const crBroad* b, crBounds box, crVec3 move) {
    crVec3 side = cr_sub(box.hi, box.lo);
    double least = fmin(side.x, fmin(side.y, side.z)), slack = b->slack;
    if (least < WIDE) slack = fmax(slack, SHARE * least);
    enlarge(&box.lo.x, &box.hi.x, slack, move.x);
    enlarge(&box.lo.y, &box.hi.y, slack, move.y);
    enlarge(&box.lo.z, &box.hi.z, slack, move.z);
    return box;
}

static void mark_broad(crBroad* b, int key) {
    Item* item = &b->keys.items[key];
    if (!item->changed) b->keys.changed[b->changed_count++] = key;
    item->changed = true;
}

static void hold_box(crBroad* b, int key, crBounds large, int group) {
    Item* item = &b->keys.items[key];
    b->keys.large[key] = large;
    item->group = group;
    if (!b->keys.present[key]) b->present_count++;
    b->keys.present[key] = true;
    if (!item->loose) b->keys.loose[b->loose_count++] = key;
    item->loose = true;
    item->entry = -1;
    mark_broad(b, key);
}

crStatus cr_broad_set(crBroad* b, int key, crBounds box, int group, crError* error) {
    if (b == NULL) return cr__missing(error, "broad");
    if (key < 0 || key >= INT32_MAX / 4)
        return cr_error_set(error, CR_ERR_RANGE, "key", "key is %d; allowed 0 to %d", key, INT32_MAX / 4 - 1);
    if (!(box.lo.x <= box.hi.x && box.lo.y <= box.hi.y && box.lo.z <= box.hi.z))
        return cr_error_set(error, CR_ERR_RANGE, "box", "box %d has lo > hi or is not a number", key);
    if (!reserve_keys(b, key, false))
        return cr_error_set(error, CR_ERR_MEMORY, "broad", "broad phase: out of memory");
    // sides stay finite
    box.lo = cr_vec3(fmax(box.lo.x, -WIDE), fmax(box.lo.y, -WIDE), fmax(box.lo.z, -WIDE));
    box.hi = cr_vec3(fmin(box.hi.x, WIDE), fmin(box.hi.y, WIDE), fmin(box.hi.z, WIDE));
    Item* item = &b->keys.items[key];
    bool was = b->keys.present[key], same = was && item->group == group;
    crVec3 move = was ? cr_sub(box.lo, b->keys.boxes[key].lo) : cr_vec3(0, 0, 0);
    b->keys.boxes[key] = box;
    if (same && contains(&b->keys.large[key], &box)) return CR_OK;
    hold_box(b, key, enlarged(b, box, move), group);
    return CR_OK;
}

crStatus cr__broad_hold(crBroad* b, int key, crBounds box, int group) {
    if (!reserve_keys(b, key, true)) return CR_ERR_MEMORY;
    hold_box(b, key, box, group);
    return CR_OK;
}

void cr_broad_remove(crBroad* b, int key) {
    if (b == NULL) return;
    if (key < 0 || key >= b->keys.capacity || !b->keys.present[key]) return;
    b->keys.items[key].entry = -1;
    b->keys.present[key] = false;
    b->present_count--;
    mark_broad(b, key);
}

// the grid holds every box as it is now
static bool sort_grid(crBroad* b, crTasks* tasks) {
    Keys* k = &b->keys;
    if (!cr__grid_reserve(&b->grid, &b->allocator, k->capacity)) return false;
    cr__grid_build(&b->grid, tasks, k->large, k->present, k->capacity);
    for (int key = 0; key < k->capacity; key++)
        if (k->present[key]) k->items[key].entry = b->grid.slots[key];
    for (int i = 0; i < b->loose_count; i++)
        k->items[k->loose[i]].loose = false;
    b->loose_count = 0;
    b->compared = 0;
    return true;
}

// keys whose enlarged boxes meet box, each once; returns how many, -1 where there may be no room for them (cr__grid_find)
static int neighbours(const crBroad* b, crBounds box, int room, int* found) {
    const Keys* k = &b->keys;
    int met = cr__grid_find(&b->grid, box, room, found), count = 0;
    if (met < 0 || b->loose_count > room - met) return -1;
    for (int i = 0; i < met; i++) {
        // entries of boxes that have changed since are stale
        int entry = found[i], key = b->grid.entries[entry].key;
        found[count] = key;
        count += (k->items[key].entry == entry) & cr__boxes_meet(k->large[key], box);
    }
    for (int i = 0; i < b->loose_count; i++) {
        int key = k->loose[i];
        found[count] = key;
        count += k->present[key] && cr__boxes_meet(k->large[key], box);
    }
    return count;
}

// whether the search around `key`, a changed box, counts its pair with another: between two changed ones that of the
// smaller key does
static bool counts(const crBroad* b, int key, int other) {
    const Item *own = &b->keys.items[key], *item = &b->keys.items[other];
    if (other == key || (item->changed && other < key)) return false;
    return own->group < 0 || own->group != item->group;
}

static crPair pair_of(int key, int other) {
    return key < other ? (crPair){key, other} : (crPair){other, key};
}

// so many pairs of boxes that changed are a crowd
static bool is_crowd(const crBroad* b, int64_t fresh) {
    return fresh > LEAST && (fresh - LEAST) / CROWD > b->present_count;
}

// near pairs of one changed box
static crStatus search(crBroad* b, int key, int* fresh) {
    const Keys* k = &b->keys;
    if (is_crowd(b, *fresh)) return CR_ERR_LIMIT;
    int count = neighbours(b, k->large[key], INT_MAX, k->found);
    crStatus status = reserve_pairs(b, *fresh, count);
    for (int i = 0; i < count && status == CR_OK; i++) {
        if (!counts(b, key, k->found[i])) continue;
        b->pairs.near[b->near_count + (*fresh)++] = pair_of(key, k->found[i]);
    }
    return status;
}

// The changed boxes that are present, in the order in which they are looked around. The grid is sorted where that pays.
// CR_ERR_MEMORY.
static crStatus list_changed(crBroad* b, crTasks* tasks, int* keys, int* count) {
    *count = 0;
    b->compared += (int64_t)b->changed_count * b->loose_count;
    if (b->grid.entry_count > 0 && b->compared <= (int64_t)SORT * b->present_count) {
        for (int i = 0; i < b->changed_count; i++)
            if (b->keys.present[b->keys.changed[i]]) keys[(*count)++] = b->keys.changed[i];
        return CR_OK;
    }
    if (!sort_grid(b, tasks)) return CR_ERR_MEMORY;
    // in the grid's order: neighbours in space are neighbours in memory
    for (int i = 0; i < b->grid.entry_count; i++) {
        int key = b->grid.entries[i].key;
        if (b->keys.items[key].changed) keys[(*count)++] = key;
    }
    return CR_OK;
}

static crStatus search_all(crBroad* b, int* fresh) {
    int count;
    crStatus status = list_changed(b, NULL, b->keys.order, &count);
    for (int i = 0; i < count && status == CR_OK; i++)
        status = search(b, b->keys.order[i], fresh);
    return status;
}

// stable, by a or by b: count, end of each run from the back
static void count_sort(const crBroad* b, const crPair* from, int count, bool by_a, crPair* to) {
    int* end = b->keys.found;
    for (int i = 0; i < b->keys.capacity; i++)
        end[i] = 0;
    for (int i = 0; i < count; i++)
        end[by_a ? from[i].a : from[i].b]++;
    for (int i = 1; i < b->keys.capacity; i++)
        end[i] += end[i - 1];
    for (int i = count - 1; i >= 0; i--)
        to[--end[by_a ? from[i].a : from[i].b]] = from[i];
}

static bool before(crPair x, crPair y) { return x.a < y.a || (x.a == y.a && x.b < y.b); }

static bool stayed(const crBroad* b, crPair pair) {
    return !b->keys.items[pair.a].changed && !b->keys.items[pair.b].changed;
}

static bool meets(const crBroad* b, crPair pair) {
    return cr__boxes_meet(b->keys.boxes[pair.a], b->keys.boxes[pair.b]);
}

// Near pairs that are kept, in their order; returns how many.
static int filter(const crBroad* b, bool (*keeps)(const crBroad*, crPair), crPair* to) {
    int count = 0;
    for (int i = 0; i < b->near_count; i++) {
        crPair pair = b->pairs.near[i];
        to[count] = pair;
        count += keeps(b, pair);
    }
    return count;
}

// the fresh pairs behind the near ones take their places among them
static void merge(crBroad* b, int fresh) {
    crPair *near = b->pairs.near, *other = b->pairs.other, *tail = near + b->near_count;
    if (fresh == 0) return;
    count_sort(b, tail, fresh, false, other);
    count_sort(b, other, fresh, true, tail);
    memcpy(other, tail, (size_t)fresh * sizeof(crPair));
    int i = b->near_count - 1, k = fresh - 1;
    b->near_count += fresh;
    for (int to = b->near_count - 1; k >= 0; to--)
        near[to] = i >= 0 && before(other[k], near[i]) ? near[i--] : other[k--];
}

static void forget_changed(crBroad* b) {
    for (int i = 0; i < b->changed_count; i++)
        b->keys.items[b->keys.changed[i]].changed = false;
    b->changed_count = 0;
}

// After a failure pairs of changed boxes are missing; these are still marked, and are looked for the next time.
static crStatus update_near(crBroad* b) {
    int fresh = 0;
    b->near_count = filter(b, stayed, b->pairs.near);
    crStatus status = search_all(b, &fresh);
    if (status != CR_OK) return status;
    merge(b, fresh);
    forget_changed(b);
    return CR_OK;
}

crStatus cr_broad_pairs(crBroad* b, const crPair** pairs, int* count) {
    if (b == NULL || pairs == NULL || count == NULL) return CR_ERR_ARGUMENT;
    *count = 0;
    crStatus status = b->changed_count > 0 ? update_near(b) : CR_OK;
    if (status != CR_OK) return status;
    *count = filter(b, meets, b->pairs.other);
    *pairs = b->pairs.other;
    return CR_OK;
}

const crBounds* cr__broad_held(const crBroad* b) { return b->keys.large; }

void cr__broad_touch(crBroad* b) {
    for (int key = 0; key < b->keys.capacity; key++) {
        if (b->keys.present[key]) mark_broad(b, key);
    }
}

// Boxes that one thread looks around at a time, the pairs it has room for, and what one of them may meet.
#define KEYS 64
#define ROOM (16 * KEYS)
#define MET  512

// pairs of some changed boxes
typedef struct Chunk {
    crPair* pairs;  // that are wanted (count)
    int count, room;
    int64_t fresh;  // all of them
    bool full;      // there was no room
} Chunk;

typedef struct Search {
    const crBroad* broad;
    const int* keys;
    const crBroadWant* want;
    Chunk* chunk;
} Search;

// pairs of changed boxes begin to end - 1 of the list; found has room for `met` keys and one more
static void search_chunk(const Search* search, int begin, int end, int met, int* found, Chunk* chunk) {
    const crBroad* b = search->broad;
    chunk->count = 0;
    chunk->fresh = 0;
    chunk->full = false;
    for (int i = begin; i < end && !chunk->full; i++) {
        int key = search->keys[i], count = neighbours(b, b->keys.large[key], met, found);
        chunk->full = count < 0;
        for (int k = 0; k < count && !chunk->full; k++) {
            if (!counts(b, key, found[k])) continue;
            crPair pair = pair_of(key, found[k]);
            chunk->fresh++;
            if (!search->want->wants(search->want->ctx, pair)) continue;
            chunk->full = chunk->count == chunk->room;
            if (!chunk->full) chunk->pairs[chunk->count++] = pair;
        }
    }
}

static void search_keys(void* ctx, int begin, int end) {
    const Search* search = ctx;
    int found[MET + 1];
    search_chunk(search, begin, end, MET, found, &search->chunk[begin / KEYS]);
}

// a chunk for which there was no room, with twice as much until there is enough; in a crowd CR_ERR_LIMIT
static crStatus search_again(const Search* search, int begin, int end, crArena* scratch, Chunk* chunk) {
    const crBroad* b = search->broad;
    while (chunk->full) {
        if (is_crowd(b, chunk->room)) return CR_ERR_LIMIT;
        chunk->room *= 2;
        chunk->pairs = cr_arena_alloc(scratch, (size_t)chunk->room * sizeof *chunk->pairs);
        if (chunk->pairs == NULL) return CR_ERR_MEMORY;
        search_chunk(search, begin, end, INT_MAX, b->keys.found, chunk);
    }
    return CR_OK;
}

// pairs of all chunks one after another
static crStatus gather(const Search* search, int keys, crArena* scratch, const crPair** pairs, int* count) {
    int64_t fresh = 0, all = 0;
    for (int begin = 0; begin < keys; begin += KEYS) {
        Chunk* chunk = &search->chunk[begin / KEYS];
        int end = begin + KEYS < keys ? begin + KEYS : keys;
        crStatus status = search_again(search, begin, end, scratch, chunk);
        if (status != CR_OK) return status;
        fresh += chunk->fresh;
        all += chunk->count;
        if (is_crowd(search->broad, fresh) || all > INT32_MAX / 4) return CR_ERR_LIMIT;
    }
    crPair* list = cr_arena_alloc(scratch, ((size_t)all + 1) * sizeof *list);
    if (list == NULL) return CR_ERR_MEMORY;
    for (int begin = 0; begin < keys; begin += KEYS) {
        const Chunk* chunk = &search->chunk[begin / KEYS];
        if (chunk->count > 0) memcpy(list + *count, chunk->pairs, (size_t)chunk->count * sizeof *list);
        *count += chunk->count;
    }
    *pairs = list;
    return CR_OK;
}

crStatus cr__broad_fresh(crBroad* b, crTasks* tasks, crArena* scratch, const crBroadWant* want,
                         const crPair** pairs, int* count) {
    int keys = 0;
    *pairs = NULL;
    *count = 0;
    if (b->changed_count == 0) return CR_OK;
    int* order = cr_arena_alloc(scratch, (size_t)b->changed_count * sizeof *order);
    if (order == NULL || list_changed(b, tasks, order, &keys) != CR_OK) return CR_ERR_MEMORY;
    size_t chunks = (size_t)(keys + KEYS - 1) / KEYS;
    crPair* room = cr_arena_alloc(scratch, chunks * ROOM * sizeof *room);
    Search search = {b, order, want, cr_arena_alloc(scratch, chunks * sizeof *search.chunk)};
    if (room == NULL || search.chunk == NULL) return CR_ERR_MEMORY;
    for (size_t i = 0; i < chunks; i++)
        search.chunk[i] = (Chunk){.pairs = room + i * ROOM, .room = ROOM};
    cr__tasks_for(tasks, keys, KEYS, search_keys, &search);
    return gather(&search, keys, scratch, pairs, count);
}

void cr__broad_listed(crBroad* b) { forget_changed(b); }

int cr_broad_query(crBroad* b, crBounds box, int* keys, int capacity) {
    if (b == NULL || keys == NULL || capacity < 0) return 0;
    if (b->keys.capacity == 0) return 0;
    int* found = b->keys.found;
    int met = neighbours(b, box, INT_MAX, found), count = 0;
    for (int i = 0; i < met; i++)
        if (cr__boxes_meet(b->keys.boxes[found[i]], box)) found[count++] = found[i];
    cr__sort(found, count);
    for (int i = 0; i < count && i < capacity; i++)
        keys[i] = found[i];
    return count;
}
