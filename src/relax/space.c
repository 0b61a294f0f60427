// space.c - an island's units, H and the pattern of A(G).
//
// The weight of a row is the mean diagonal entry of H H^T over the row's part; normal and tangential rows are
// one part. Its lambda is the sum of these entries, as in the audit of problems. A row that acts on no
// velocity has weight 1 and lambda 0.
// Fails: CR_ERR_MEMORY.
#include "space.h"
#include "base/room.h"

#include <string.h>

static int units_of(const crBlock* block) { return block->kind == CR_BLOCK_CONE ? 1 : block->count; }

// Numbers the island's groups in the order of their first entry and sets s->groups and s->size. A group
// belongs to one island, so b->number holds the numbers of all islands at once. Fails: CR_ERR_MEMORY.
static crStatus list_groups(crSpace* s, const crBodies* b, const int* blocks, int count, crArena* arena) {
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < count; k++) {
            const crBlock* block = &b->problem->blocks[blocks[k]];
            for (int e = b->row_start[block->row]; e < b->row_start[block->row + block->count]; e++) {
                int g = b->group_of[b->row_col[e]];
                if (pass == 0 && b->number[g] < 0) b->number[g] = s->groups++;
                if (pass == 1) s->size[b->number[g]] = b->size[g];
            }
        }
        if (pass == 0 && !CR_ROOMS(arena, CR_ROOM(s->size, s->groups))) return CR_ERR_MEMORY;
    }
    return CR_OK;
}

// Lists the groups that rows row .. row + count - 1 act on, ascending by number in the island, unless list is
// NULL. Returns the number of groups. `stamp` differs in every call for an island.
static int touches_of(const crBodies* b, int row, int count, int stamp, int* list) {
    int made = 0;
    for (int e = b->row_start[row]; e < b->row_start[row + count]; e++) {
        int g = b->group_of[b->row_col[e]];
        if (b->last[g] == stamp) continue;
        b->last[g] = stamp;
        int at = made++;
        if (list == NULL) continue;
        for (; at > 0 && b->number[list[at - 1]] > b->number[g]; at--) {
            list[at] = list[at - 1];
        }
        list[at] = g;
    }
    return made;
}

// Sets a unit's part of H in the columns of one group: E J L.
static void fill_touch(const crSpace* s, const crBodies* b, const crUnit* unit, int group, double* H) {
    int n = b->size[group];
    const double* L = b->L + b->factor[group];
    memset(H, 0, (size_t)(unit->count * n) * sizeof *H);
    for (int a = 0; a < unit->count; a++) {
        int row = unit->source + a;
        for (int e = b->row_start[row]; e < b->row_start[row + 1]; e++) {
            int v = b->row_col[e];
            if (b->group_of[v] != group) continue;
            for (int j = 0; j <= b->seat[v]; j++) {
                H[a * n + j] += b->row_value[e] * L[b->seat[v] * n + j];
            }
        }
        for (int j = 0; j < n; j++) {
            H[a * n + j] *= s->E[unit->row + a];
        }
    }
}

// Sets weight and lambda of the unit's rows at .. at + count - 1.
static void weigh_rows(crSpace* s, const crUnit* unit, int at, int count) {
    double trace = 0.0;
    for (int a = at; a < at + count; a++) {
        trace += s->W[unit->square + (size_t)(a * (unit->count + 1))];
    }
    for (int a = at; a < at + count; a++) {
        s->weight[unit->row + a] = trace > 0.0 ? trace / count : 1.0;
        s->lambda[unit->row + a] = trace;
    }
}

// Sets a unit's W, weight and lambda.
static void weigh_unit(crSpace* s, const crUnit* unit) {
    int n = unit->count;
    double* W = s->W + unit->square;
    memset(W, 0, (size_t)(n * n) * sizeof *W);
    for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
        const double* H = s->H + s->touch[t].H;
        int m = s->touch[t].size;
        for (int a = 0; a < n; a++) {
            for (int b = 0; b < n; b++) {
                for (int j = 0; j < m; j++) {
                    W[a * n + b] += H[a * m + j] * H[b * m + j];
                }
            }
        }
    }
    weigh_rows(s, unit, 0, unit->plane);
    for (int k = 0; k < unit->part_count; k++) {
        if (unit->part[k].at >= unit->plane) weigh_rows(s, unit, unit->part[k].at, unit->part[k].count);
    }
}

// Sets the island's units with E and c. Fails: CR_ERR_MEMORY.
static crStatus make_units(crSpace* s, const crBodies* b, const int* blocks, int count, crArena* arena) {
    for (int k = 0; k < count; k++) {
        s->units += units_of(&b->problem->blocks[blocks[k]]);
        s->rows += b->problem->blocks[blocks[k]].count;
    }
    if (!CR_ROOMS(arena, CR_ROOM(s->unit, s->units), CR_ROOM(s->E, s->rows), CR_ROOM(s->c, s->rows),
                  CR_ROOM(s->weight, s->rows), CR_ROOM(s->lambda, s->rows)))
        return CR_ERR_MEMORY;
    int made = 0, row = 0;
    for (int k = 0; k < count; k++) {
        const crBlock* block = &b->problem->blocks[blocks[k]];
        int step = block->kind == CR_BLOCK_CONE ? block->count : 1;
        for (int at = 0; at < block->count; at += step) {
            crUnit* unit = &s->unit[made++];
            cr__relax_cut(b->problem, block, step, unit, s->E + row);
            unit->block = blocks[k];
            unit->row = row;
            unit->source = block->row + at;
            unit->square = s->squares;
            s->squares += (size_t)step * (size_t)step;
            for (int a = 0; a < step; a++) {
                int from = unit->source + a;
                double q = b->problem->u_free[from] + (b->problem->b != NULL ? b->problem->b[from] : 0.0);
                s->c[row + a] = s->E[row + a] * q;
            }
            row += step;
        }
    }
    return CR_OK;
}

// Sets touches, H, W, weight and lambda of all units. Fails: CR_ERR_MEMORY.
static crStatus make_touches(crSpace* s, const crBodies* b, crArena* arena) {
    size_t numbers = 0;
    int most = 0;
    for (int i = 0; i < s->units; i++) {
        crUnit* unit = &s->unit[i];
        unit->touch = s->touches;
        unit->touch_count = touches_of(b, unit->source, unit->count, i, NULL);
        s->touches += unit->touch_count;
        if (unit->touch_count > most) most = unit->touch_count;
    }
    int *from, *list;
    if (!CR_ROOMS(arena, CR_ROOM(s->touch, s->touches), CR_ROOM(from, s->groups), CR_ROOM(list, most)))
        return CR_ERR_MEMORY;
    for (int g = 0; g < s->groups; g++) {
        from[g] = s->nz;
        s->nz += s->size[g];
    }
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        touches_of(b, unit->source, unit->count, s->units + i, list);
        for (int t = 0; t < unit->touch_count; t++) {
            int g = b->number[list[t]];
            s->touch[unit->touch + t] = (crTouch){g, from[g], s->size[g], numbers};
            numbers += (size_t)unit->count * (size_t)s->size[g];
        }
    }
    if (!CR_ROOMS(arena, CR_ROOM(s->H, numbers), CR_ROOM(s->W, s->squares), CR_ROOM(s->G, s->squares)))
        return CR_ERR_MEMORY;
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        touches_of(b, unit->source, unit->count, 2 * s->units + i, list);
        for (int t = 0; t < unit->touch_count; t++) {
            fill_touch(s, b, unit, list[t], s->H + s->touch[unit->touch + t].H);
        }
        weigh_unit(s, unit);
    }
    return CR_OK;
}

// Analyzes the pattern of A(G) and sets s->pair, the place of the block of every ordered pair of a unit's
// touches. Fails: CR_ERR_MEMORY.
static crStatus make_pattern(crSpace* s, crArena* arena) {
    size_t pairs = 0;
    for (int i = 0; i < s->units; i++) {
        size_t t = (size_t)s->unit[i].touch_count;
        pairs += t * t;
    }
    int *start, *next, *col;
    if (!CR_ROOMS(arena, CR_ZERO(start, s->groups + 1), CR_ROOM(next, s->groups), CR_ROOM(col, pairs),
                  CR_ROOM(s->pair, pairs), CR_ROOM(s->pair_first, s->units)))
        return CR_ERR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->units; i++) {
            const crTouch* t = s->touch + s->unit[i].touch;
            for (int a = 0; a < s->unit[i].touch_count; a++) {
                for (int b = 0; b < a; b++) {
                    if (pass == 0) {
                        start[t[a].group + 1]++;
                    } else {
                        col[next[t[a].group]++] = t[b].group;
                    }
                }
            }
        }
        for (int g = 0; pass == 0 && g < s->groups; g++) {
            start[g + 1] += start[g];
            next[g] = start[g];
        }
    }
    crStatus status = cr__sparse_analyze(&s->sparse, s->groups, s->size, start, col, true, arena);
    if (status != CR_OK) return status;
    size_t at = 0;
    for (int i = 0; i < s->units; i++) {
        const crTouch* t = s->touch + s->unit[i].touch;
        s->pair_first[i] = (int)at;
        for (int a = 0; a < s->unit[i].touch_count; a++) {
            for (int b = 0; b < s->unit[i].touch_count; b++) {
                double* block = cr__sparse_block(&s->sparse, t[a].group, t[b].group);
                s->pair[at++] = (size_t)(block - s->sparse.value);
            }
        }
    }
    return CR_OK;
}

// Sets scale, mean and demand, the sizes that residuals and errors are compared with.
static void measure_scales(crSpace* s) {
    double square = 0.0;
    for (int i = 0; i < s->rows; i++) {
        square += s->c[i] * s->c[i];
        s->mean += s->weight[i] / s->rows;
    }
    s->scale = sqrt(square);
    for (int i = 0; i < s->units; i++) {
        const crUnit* unit = &s->unit[i];
        double q[CR_UNIT_ROWS], x[CR_UNIT_ROWS];
        for (int a = 0; a < unit->count; a++) {
            q[a] = -s->c[unit->row + a] / s->weight[unit->row + a];
        }
        cr__relax_law(unit, q, x, NULL);
        // the tangential change is at most mu times the normal one
        double normal = fabs(s->weight[unit->row] * x[0]), sum = 0.0;
        for (int a = 1; a < unit->plane; a++) {
            double r = s->weight[unit->row + a] * x[a];
            sum += r * r;
        }
        s->demand = fmax(s->demand, fmax(normal, sqrt(sum)));
    }
}

crStatus cr__space_create(crSpace* s, const crBodies* b, int island, crArena* arena) {
    *s = (crSpace){0};
    const int* blocks = b->block + b->island_first[island];
    int count = b->island_first[island + 1] - b->island_first[island];
    crStatus status = list_groups(s, b, blocks, count, arena);
    if (status == CR_OK) status = make_units(s, b, blocks, count, arena);
    if (status == CR_OK) status = make_touches(s, b, arena);
    if (status == CR_OK) status = make_pattern(s, arena);
    if (status == CR_OK) measure_scales(s);
    return status;
}
