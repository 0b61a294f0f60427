// grid.c - which of many boxes meet a given one: a hashed grid, one level per power of two of box size.
//
// A box is an entry of one cell, that of its lower corner, in the level whose cell edge c is the power of two
// at least its largest side. A query looks, level by level, at the cells from (lo - reach) / c to hi / c,
// reach the largest sides in that level. Cell (ix, iy, iz) is slot (ix + h(iy, iz)) mod 2^k: a row of cells
// is one stretch of memory, and only rows are hashed (multiplicative, after Knuth). Strangers that share a
// slot are told apart by (iy, iz), so no entry is met twice. A level with fewer entries than cells to look at
// is scanned whole: few large boxes among many small ones, or infinite ones, cost no more than that. All is
// rebuilt by one counting sort, linear in the number of boxes. Fails: out of memory in cr__grid_reserve.
#include "collide/grid.h"

#define FAR 1073741824.0  // 2^30: cells beyond are one, which keeps the order that queries need

static int cell_of(double x, double inverse) {
    double q = fmin(fmax(x * inverse, -FAR), FAR);
    int i = (int)q;
    return i - (q < i);
}

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

static int level_of(crBounds box) {
    crVec3 side = cr_sub(box.hi, box.lo);
    int exponent;
    (void)frexp(fmax(side.x, fmax(side.y, side.z)), &exponent);
    int half = CR__GRID_LEVELS / 2;
    return exponent < -half ? 0 : exponent >= half ? CR__GRID_LEVELS - 1 : exponent + half;
}

// levels in use get their cells and slots; rank[] says which they are
static void lay_out(crGrid* grid, const crBounds* boxes, const bool* present, int count, int* rank) {
    int counts[CR__GRID_LEVELS] = {0};
    crVec3 reach[CR__GRID_LEVELS];
    for (int key = 0; key < count; key++) {
        if (!present[key]) continue;
        int l = level_of(boxes[key]);
        crVec3 side = cr_sub(boxes[key].hi, boxes[key].lo), r = counts[l] > 0 ? reach[l] : side;
        reach[l] = cr_vec3(fmax(r.x, side.x), fmax(r.y, side.y), fmax(r.z, side.z));
        counts[l]++;
    }
    int slots = 0, entries = 0;
    grid->level_count = 0;
    for (int l = 0; l < CR__GRID_LEVELS; l++) {
        if (counts[l] == 0) continue;
        int size = 1;
        while (size < counts[l])
            size *= 2;
        rank[l] = grid->level_count++;
        double cell = ldexp(1.0, l - CR__GRID_LEVELS / 2);
        grid->levels[rank[l]] = (crGridLevel){cell, reach[l], slots, size - 1, entries, entries + counts[l]};
        slots += size;
        entries += counts[l];
    }
    grid->entry_count = entries;
    for (int s = 0; s <= slots; s++)
        grid->starts[s] = 0;
}

void cr__grid_build(crGrid* grid, const crBounds* boxes, const bool* present, int count) {
    int rank[CR__GRID_LEVELS];
    lay_out(grid, boxes, present, count, rank);
    for (int key = 0; key < count; key++) {
        grid->slots[key] = -1;
        if (!present[key]) continue;
        const crGridLevel* level = &grid->levels[rank[level_of(boxes[key])]];
        crVec3 lo = boxes[key].lo;
        double inverse = 1.0 / level->cell;
        int s = slot_of(level, cell_of(lo.x, inverse), cell_of(lo.y, inverse), cell_of(lo.z, inverse));
        grid->slots[key] = s;
        grid->starts[s + 1]++;
    }
    const crGridLevel* last = &grid->levels[grid->level_count - 1];
    int slots = grid->level_count > 0 ? last->first + last->mask + 1 : 0;
    for (int s = 0; s < slots; s++)
        grid->starts[s + 1] += grid->starts[s];
    // starts[s] moves through slot s while it is filled, and is the start of the next one at the end
    for (int key = 0; key < count; key++) {
        int s = grid->slots[key];
        if (s < 0) continue;
        double inverse = 1.0 / grid->levels[rank[level_of(boxes[key])]].cell;
        crVec3 lo = boxes[key].lo;
        grid->entries[grid->starts[s]++] =
            (crGridEntry){boxes[key], key, cell_of(lo.y, inverse), cell_of(lo.z, inverse)};
    }
    for (int s = slots; s > 0; s--)
        grid->starts[s] = grid->starts[s - 1];
    grid->starts[0] = 0;
}

static int scan(const crGrid* grid, int from, int to, const crBounds* box, int* found, int count) {
    for (int i = from; i < to; i++) {
        found[count] = i;
        count += cr__boxes_meet(grid->entries[i].box, *box);
    }
    return count;
}

// the entries of row (iy, iz) among those from `from` to before `to`
static int scan_row(const crGrid* grid, int from, int to, int iy, int iz, const crBounds* box, int* found,
                    int count) {
    for (int i = from; i < to; i++) {
        const crGridEntry* e = &grid->entries[i];
        found[count] = i;
        count += (e->iy == iy) & (e->iz == iz) & cr__boxes_meet(e->box, *box);
    }
    return count;
}

// the cell of the lowest corner that a box which meets x may have; reach and difference are rounded
static int first_cell(double x, double reach, double inverse) {
    return cell_of(x - reach - 0x1p-50 * (fabs(x) + reach), inverse);
}

static int find_in_level(const crGrid* grid, const crGridLevel* level, const crBounds* box, int* found,
                         int count) {
    double inverse = 1.0 / level->cell;
    int x0 = first_cell(box->lo.x, level->reach.x, inverse),
        y0 = first_cell(box->lo.y, level->reach.y, inverse);
    int z0 = first_cell(box->lo.z, level->reach.z, inverse);
    int x1 = cell_of(box->hi.x, inverse), y1 = cell_of(box->hi.y, inverse), z1 = cell_of(box->hi.z, inverse);
    double rows = ((double)y1 - y0 + 1.0) * ((double)z1 - z0 + 1.0), width = (double)x1 - x0 + 1.0;
    int entries = level->high - level->low, size = level->mask + 1;
    if (rows * width >= entries || width >= size)
        return scan(grid, level->low, level->high, box, found, count);
    for (int z = z0; z <= z1; z++)
        for (int y = y0; y <= y1; y++) {
            int s0 = slot_of(level, x0, y, z), s1 = s0 + (x1 - x0) + 1, end = level->first + size;
            int stop = s1 < end ? s1 : end;
            count = scan_row(grid, grid->starts[s0], grid->starts[stop], y, z, box, found, count);
            // the row goes on at the first slot
            if (s1 > end)
                count = scan_row(grid, level->low, grid->starts[s1 - size], y, z, box, found, count);
        }
    return count;
}

int cr__grid_find(const crGrid* grid, crBounds box, int* found) {
    int count = 0;
    for (int l = 0; l < grid->level_count; l++)
        count = find_in_level(grid, &grid->levels[l], &box, found, count);
    return count;
}
