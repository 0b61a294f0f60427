// grid.c - which of many boxes meet a given one: a hashed grid, one level per power of two of box size.
//
// A box is an entry of one cell, that of its lower corner, in the level whose cell edge c is the power of two
// at least its largest side. A query looks, level by level, at the cells from (lo - reach) / c to hi / c,
// reach the largest sides in that level. Cell (ix, iy, iz) is slot (ix + h(iy, iz)) mod 2^k: a row of cells
// is one stretch of memory, and only rows are hashed (multiplicative, after Knuth). Strangers that share a
// slot are told apart by (iy, iz), so no entry is met twice. A level with fewer entries than cells to look at
// is scanned whole: few large boxes among many small ones, or infinite ones, cost no more than that. All is
// rebuilt by one counting sort, linear in the number of boxes; what it knows of each box alone is found by several threads.
// A query compares corners that are rounded down to parts of a cell, all six numbers at once: what meets passes, and what
// passes may be a part of a cell away.
// Fails: out of memory in cr__grid_reserve.
#include "collide/grid.h"

#define FAR   1073741824.0  // 2^30: cells beyond are one, which keeps the order that queries need
#define PARTS 64.0          // of a cell's edge, to which corners are rounded
#define END   524288.0      // 2^19: parts beyond are one
#define FIELD 21            // bits of a rounded number and of one more, 0 in it
#define OVER  (UINT64_C(1) << 20 | UINT64_C(1) << 41 | UINT64_C(1) << 62)  // that bit of all three

// the largest integer not above x, where that is from -end to end
static int floor_within(double x, double end) {
    double q = x > -end ? x : -end;
    q = q < end ? q : end;
    int i = (int)q;
    return i - (q < i);
}

static int cell_of(double x, double inverse) { return floor_within(x * inverse, FAR); }

static uint64_t part_of(double x, double parts) {
    return (uint64_t)(floor_within(x * parts, END - 1.0) + (int)END);
}

// a corner in parts of a cell
static uint64_t rounded(crVec3 x, double inverse) {
    double parts = PARTS * inverse;
    return part_of(x.x, parts) | part_of(x.y, parts) << FIELD | part_of(x.z, parts) << 2 * FIELD;
}

// OVER if no number of `lo` is above that of `hi`: one that is takes away the bit above its place.
static uint64_t below(uint64_t lo, uint64_t hi) { return ((hi | OVER) - lo) & OVER; }

static int slot_of(const crGridLevel* level, int ix, int iy, int iz) {
    uint32_t row = (uint32_t)iy * UINT32_C(2654435761) ^ (uint32_t)iz * UINT32_C(2246822519);
    row ^= row >> 15;
    return level->first + (int)(((uint32_t)ix + row) & (uint32_t)level->mask);
}

static size_t level_bytes(int capacity) {
    return (size_t)(capacity < CR__GRID_LEVELS ? capacity : CR__GRID_LEVELS) * sizeof(crGridLevel);
}

void cr__grid_free(crGrid* grid, const crAllocator* a) {
    size_t n = (size_t)grid->capacity;
    if (grid->levels != NULL) a->free(a->ctx, grid->levels, level_bytes(grid->capacity));
    if (grid->starts != NULL) a->free(a->ctx, grid->starts, (2 * n + 1) * sizeof(int));
    if (grid->slots != NULL) a->free(a->ctx, grid->slots, n * sizeof(int));
    if (grid->entries != NULL) a->free(a->ctx, grid->entries, n * sizeof(crGridEntry));
    *grid = (crGrid){.capacity = 0};
}

bool cr__grid_reserve(crGrid* grid, const crAllocator* a, int capacity) {
    if (capacity <= grid->capacity) return true;
    size_t n = (size_t)capacity;
    crGrid new = {.capacity = capacity};
    new.levels = a->alloc(a->ctx, level_bytes(capacity));
    if (new.levels != NULL) new.starts = a->alloc(a->ctx, (2 * n + 1) * sizeof(int));
    if (new.starts != NULL) new.slots = a->alloc(a->ctx, n * sizeof(int));
    if (new.slots != NULL) new.entries = a->alloc(a->ctx, n * sizeof(crGridEntry));
    if (new.entries == NULL) {
        cr__grid_free(&new, a);
        return false;
    }
    cr__grid_free(grid, a);
    *grid = new;
    return true;
}

// exponent of the power of two above x, as frexp gives it
static int exponent_of(double x) {
    int exponent;
    (void)frexp(x, &exponent);
    return exponent;
}

static double larger(double a, double b) { return a > b ? a : b; }

static int level_of(crVec3 side) {
    int exponent = exponent_of(larger(side.x, larger(side.y, side.z))), half = CR__GRID_LEVELS / 2;
    return exponent < -half ? 0 : exponent >= half ? CR__GRID_LEVELS - 1 : exponent + half;
}

#define CHUNKS 8     // of the keys
#define FEW    1024  // keys that one thread takes at least

typedef struct Build {
    crGrid* grid;
    const crBounds* boxes;
    const bool* present;
    int rank[CR__GRID_LEVELS];  // of each level among those in use
} Build;

static crVec3 sides_of(const crBounds* box) { return cr_sub(box->hi, box->lo); }

// the level of each key in place of its slot, -1 where it is absent
static void find_levels(void* ctx, int begin, int end) {
    const Build* build = ctx;
    for (int key = begin; key < end; key++)
        build->grid->slots[key] = build->present[key] ? level_of(sides_of(&build->boxes[key])) : -1;
}

// levels in use get their cells and slots
static void lay_out(Build* build, int keys) {
    crGrid* grid = build->grid;
    int counts[CR__GRID_LEVELS] = {0}, slots = 0, entries = 0;
    crVec3 reach[CR__GRID_LEVELS];
    for (int key = 0; key < keys; key++) {
        int l = grid->slots[key];
        if (l < 0) continue;
        crVec3 side = sides_of(&build->boxes[key]), r = counts[l]++ > 0 ? reach[l] : side;
        reach[l] = cr_vec3(larger(r.x, side.x), larger(r.y, side.y), larger(r.z, side.z));
    }
    grid->level_count = 0;
    for (int l = 0; l < CR__GRID_LEVELS; l++) {
        if (counts[l] == 0) continue;
        int size = 1;
        while (size < counts[l])
            size *= 2;
        build->rank[l] = grid->level_count++;
        double inverse = ldexp(1.0, CR__GRID_LEVELS / 2 - l);
        grid->levels[build->rank[l]] =
            (crGridLevel){inverse, reach[l], slots, size - 1, entries, entries + counts[l]};
        slots += size;
        entries += counts[l];
    }
    grid->entry_count = entries;
    for (int s = 0; s <= slots; s++)
        grid->starts[s] = 0;
}

// slots in place of levels
static void find_slots(void* ctx, int begin, int end) {
    const Build* build = ctx;
    for (int key = begin; key < end; key++) {
        int l = build->grid->slots[key];
        if (l < 0) continue;
        const crGridLevel* level = &build->grid->levels[build->rank[l]];
        crVec3 lo = build->boxes[key].lo;
        double inverse = level->inverse;
        build->grid->slots[key] =
            slot_of(level, cell_of(lo.x, inverse), cell_of(lo.y, inverse), cell_of(lo.z, inverse));
    }
}

// places of entries in place of slots, those of a slot in the order of keys
static void find_places(crGrid* grid, int count) {
    const crGridLevel* last = &grid->levels[grid->level_count - 1];
    int slots = grid->level_count > 0 ? last->first + last->mask + 1 : 0;
    for (int key = 0; key < count; key++)
        if (grid->slots[key] >= 0) grid->starts[grid->slots[key] + 1]++;
    for (int s = 0; s < slots; s++)
        grid->starts[s + 1] += grid->starts[s];
    // starts[s] moves through slot s while it is filled, and is the start of the next one at the end
    for (int key = 0; key < count; key++)
        if (grid->slots[key] >= 0) grid->slots[key] = grid->starts[grid->slots[key]]++;
    for (int s = slots; s > 0; s--)
        grid->starts[s] = grid->starts[s - 1];
    grid->starts[0] = 0;
}

static int level_at(const crGrid* grid, int place) {
    int l = 0;
    while (place >= grid->levels[l].high)
        l++;
    return l;
}

static void put_entries(void* ctx, int begin, int end) {
    const Build* build = ctx;
    crGrid* grid = build->grid;
    for (int key = begin; key < end; key++) {
        int at = grid->slots[key];
        if (at < 0) continue;
        double inverse = grid->levels[level_at(grid, at)].inverse;
        crBounds box = build->boxes[key];
        grid->entries[at] = (crGridEntry){rounded(box.lo, inverse), rounded(box.hi, inverse), key,
                                          cell_of(box.lo.y, inverse), cell_of(box.lo.z, inverse)};
    }
}

void cr__grid_build(crGrid* grid, crTasks* tasks, const crBounds* boxes, const bool* present, int count) {
    Build build = {.grid = grid, .boxes = boxes, .present = present};
    int chunk = count / CHUNKS + 1 > FEW ? count / CHUNKS + 1 : FEW;
    cr__tasks_for(tasks, count, chunk, find_levels, &build);
    lay_out(&build, count);
    cr__tasks_for(tasks, count, chunk, find_slots, &build);
    find_places(grid, count);
    cr__tasks_for(tasks, count, chunk, put_entries, &build);
}

// a box as a level's entries are compared with it
typedef struct Rounded {
    uint64_t lo, hi;
} Rounded;

static bool may_meet(const crGridEntry* e, Rounded box) {
    return (below(e->lo, box.hi) & below(box.lo, e->hi)) == OVER;
}

static int scan(const crGrid* grid, int from, int to, Rounded box, int* found, int count) {
    for (int i = from; i < to; i++) {
        found[count] = i;
        count += may_meet(&grid->entries[i], box);
    }
    return count;
}

// the entries of row (iy, iz) among those from `from` to before `to`
static int scan_row(const crGrid* grid, int from, int to, int iy, int iz, Rounded box, int* found,
                    int count) {
    for (int i = from; i < to; i++) {
        const crGridEntry* e = &grid->entries[i];
        found[count] = i;
        count += (e->iy == iy) & (e->iz == iz) & may_meet(e, box);
    }
    return count;
}

// the cell of the lowest corner that a box which meets x may have; reach and difference are rounded
static int first_cell(double x, double reach, double inverse) {
    return cell_of(x - reach - 0x1p-50 * (fabs(x) + reach), inverse);
}

// Entries of the level that meet box, behind those found; -1 where there may be no room for them.
static int find_in_level(const crGrid* grid, const crGridLevel* level, const crBounds* box, int room,
                         int* found, int count) {
    double inverse = level->inverse;
    int x0 = first_cell(box->lo.x, level->reach.x, inverse),
        y0 = first_cell(box->lo.y, level->reach.y, inverse);
    int z0 = first_cell(box->lo.z, level->reach.z, inverse);
    int x1 = cell_of(box->hi.x, inverse), y1 = cell_of(box->hi.y, inverse), z1 = cell_of(box->hi.z, inverse);
    double rows = ((double)y1 - y0 + 1.0) * ((double)z1 - z0 + 1.0), width = (double)x1 - x0 + 1.0;
    int entries = level->high - level->low, size = level->mask + 1;
    Rounded parts = {rounded(box->lo, inverse), rounded(box->hi, inverse)};
    if (rows * width >= entries || width >= size) {
        if (entries > room - count) return -1;
        return scan(grid, level->low, level->high, parts, found, count);
    }
    for (int z = z0; z <= z1; z++)
        for (int y = y0; y <= y1; y++) {
            int s0 = slot_of(level, x0, y, z), s1 = s0 + (x1 - x0) + 1, end = level->first + size;
            int stop = s1 < end ? s1 : end, from = grid->starts[s0], to = grid->starts[stop];
            // the row goes on at the first slot
            int again = s1 > end ? grid->starts[s1 - size] : level->low;
            if (to - from + again - level->low > room - count) return -1;
            count = scan_row(grid, from, to, y, z, parts, found, count);
            count = scan_row(grid, level->low, again, y, z, parts, found, count);
        }
    return count;
}

int cr__grid_find(const crGrid* grid, crBounds box, int room, int* found) {
    int count = 0;
    for (int l = 0; l < grid->level_count && count >= 0; l++)
        count = find_in_level(grid, &grid->levels[l], &box, room, found, count);
    return count;
}
