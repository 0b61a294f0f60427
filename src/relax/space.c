// space.c - an island's units, H and the pattern of A(G); products, factorizations, and how far x is from
// exact.
//
// Weights: a row's weight is the mean diagonal of H H^T over its part (normal and tangential rows are one),
// its lambda the sum, which the audit of problems uses too. Rows that act on nothing have weight 1 and lambda
// 0. Fails: out of memory, or a singular A(G), which the caller learns.
#include "space.h"

#include <string.h>

static int units_of(const crBlock* block) { return block->kind == CR_BLOCK_CONE ? 1 : block->count; }

// The island's groups, numbered in the order they are met, and their sizes. A group belongs to one island, so
// numbers of other islands are in nobody's way.
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
        if (pass == 0) s->size = cr_arena_alloc(arena, (size_t)s->groups * sizeof(int));
        if (s->size == NULL) return CR_ERR_MEMORY;
    }
    return CR_OK;
}

// Touches of one unit, ascending by group; returns how many. list may be NULL: count only.
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

// A unit's part of H with one group: rows of J times L, scaled.
static void fill_touch(const crSpace* s, const crBodies* b, const crRelaxUnit* unit, int group, double* H) {
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

// Mean and summed velocity per impulse over rows [at, at + count) of a unit.
static void weigh_rows(crSpace* s, const crRelaxUnit* unit, int at, int count) {
    double trace = 0.0;
    for (int a = at; a < at + count; a++) {
        trace += s->W[unit->square + (size_t)(a * (unit->count + 1))];
    }
    for (int a = at; a < at + count; a++) {
        s->weight[unit->row + a] = trace > 0.0 ? trace / count : 1.0;
        s->lambda[unit->row + a] = trace;
    }
}

static void weigh_unit(crSpace* s, const crRelaxUnit* unit) {
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

// Units of the island, their rows and touches counted.
static crStatus make_units(crSpace* s, const crBodies* b, const int* blocks, int count, crArena* arena) {
    for (int k = 0; k < count; k++) {
        s->units += units_of(&b->problem->blocks[blocks[k]]);
        s->rows += b->problem->blocks[blocks[k]].count;
    }
    size_t rows = (size_t)s->rows;
    s->unit = cr_arena_alloc(arena, (size_t)s->units * sizeof *s->unit);
    s->E = cr_arena_alloc(arena, rows * sizeof(double));
    s->c = cr_arena_alloc(arena, rows * sizeof(double));
    s->weight = cr_arena_alloc(arena, rows * sizeof(double));
    s->lambda = cr_arena_alloc(arena, rows * sizeof(double));
    if (s->unit == NULL || s->E == NULL || s->c == NULL || s->weight == NULL || s->lambda == NULL) {
        return CR_ERR_MEMORY;
    }
    int made = 0, row = 0;
    s->plain = true;
    for (int k = 0; k < count; k++) {
        const crBlock* block = &b->problem->blocks[blocks[k]];
        int step = block->kind == CR_BLOCK_CONE ? block->count : 1;
        for (int at = 0; at < block->count; at += step) {
            crRelaxUnit* unit = &s->unit[made++];
            cr__relax_cut(b->problem, block, step, unit, s->E + row);
            unit->block = blocks[k];
            unit->row = row;
            unit->source = block->row + at;
            unit->square = s->squares;
            s->squares += (size_t)step * (size_t)step;
            s->plain = s->plain && unit->plain;
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

static crStatus make_touches(crSpace* s, const crBodies* b, crArena* arena) {
    size_t numbers = 0;
    int most = 0;
    for (int i = 0; i < s->units; i++) {
        crRelaxUnit* unit = &s->unit[i];
        unit->touch = s->touches;
        unit->touch_count = touches_of(b, unit->source, unit->count, i, NULL);
        s->touches += unit->touch_count;
        if (unit->touch_count > most) most = unit->touch_count;
    }
    s->touch = cr_arena_alloc(arena, (size_t)s->touches * sizeof *s->touch);
    int* from = cr_arena_alloc(arena, (size_t)s->groups * sizeof(int));
    int* list = cr_arena_alloc(arena, (size_t)most * sizeof(int));
    if (s->touch == NULL || from == NULL || list == NULL) return CR_ERR_MEMORY;
    for (int g = 0; g < s->groups; g++) {
        from[g] = s->nz;
        s->nz += s->size[g];
    }
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        touches_of(b, unit->source, unit->count, s->units + i, list);
        for (int t = 0; t < unit->touch_count; t++) {
            int g = b->number[list[t]];
            s->touch[unit->touch + t] = (crTouch){g, from[g], s->size[g], numbers};
            numbers += (size_t)unit->count * (size_t)s->size[g];
        }
    }
    s->H = cr_arena_alloc(arena, numbers * sizeof(double));
    s->W = cr_arena_alloc(arena, s->squares * sizeof(double));
    s->G = cr_arena_alloc(arena, s->squares * sizeof(double));
    if (s->H == NULL || s->W == NULL || s->G == NULL) return CR_ERR_MEMORY;
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        touches_of(b, unit->source, unit->count, 2 * s->units + i, list);
        for (int t = 0; t < unit->touch_count; t++) {
            fill_touch(s, b, unit, list[t], s->H + s->touch[unit->touch + t].H);
        }
        weigh_unit(s, unit);
    }
    return CR_OK;
}

// Pattern of A(G), and where each pair of touches goes: (a, b) with a >= b for both blocks of a pair.
static crStatus make_pattern(crSpace* s, crArena* arena) {
    size_t pairs = 0;
    for (int i = 0; i < s->units; i++) {
        size_t t = (size_t)s->unit[i].touch_count;
        pairs += t * t;
    }
    int* start = cr_arena_alloc(arena, ((size_t)s->groups + 1) * sizeof(int));
    int* next = cr_arena_alloc(arena, (size_t)s->groups * sizeof(int));
    int* col = cr_arena_alloc(arena, pairs * sizeof(int));
    s->pair = cr_arena_alloc(arena, pairs * sizeof *s->pair);
    s->pair_first = cr_arena_alloc(arena, (size_t)s->units * sizeof(int));
    if (start == NULL || next == NULL || col == NULL || s->pair == NULL || s->pair_first == NULL) {
        return CR_ERR_MEMORY;
    }
    memset(start, 0, ((size_t)s->groups + 1) * sizeof(int));
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

// Sizes that residuals and errors are compared with.
static void measure_scales(crSpace* s) {
    double square = 0.0;
    for (int i = 0; i < s->rows; i++) {
        square += s->c[i] * s->c[i];
        s->mean += s->weight[i] / s->rows;
    }
    s->scale = sqrt(square);
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        double q[CR_RELAX_ROWS], x[CR_RELAX_ROWS];
        for (int a = 0; a < unit->count; a++) {
            q[a] = -s->c[unit->row + a] / s->weight[unit->row + a];
        }
        cr__relax_law(unit, q, x, NULL);
        // the normal speed, and that of friction: no more than mu times it
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

void cr__space_to(const crSpace* s, const double* p, double* x) {
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            double E = s->E[unit->row + a], value = E > 0.0 ? p[unit->source + a] / E : 0.0;
            x[unit->row + a] = isfinite(value) ? value : 0.0;
        }
    }
}

void cr__space_from(const crSpace* s, const double* x, double* p) {
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            p[unit->source + a] = s->E[unit->row + a] * x[unit->row + a];
        }
    }
}

void cr__space_gather(const crSpace* s, const double* x, double* z) {
    memset(z, 0, (size_t)s->nz * sizeof *z);
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
            const double* H = s->H + s->touch[t].H;
            double* to = z + s->touch[t].from;
            int n = s->touch[t].size;
            for (int a = 0; a < unit->count; a++) {
                double xa = x[unit->row + a];
                for (int j = 0; j < n; j++) {
                    to[j] += H[a * n + j] * xa;
                }
            }
        }
    }
}

void cr__space_product(const crSpace* s, const double* z, double* u) {
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        for (int a = 0; a < unit->count; a++) {
            double sum = 0.0;
            for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
                int n = s->touch[t].size;
                const double *H = s->H + s->touch[t].H + a * n, *from = z + s->touch[t].from;
                for (int j = 0; j < n; j++) {
                    sum += H[j] * from[j];
                }
            }
            u[unit->row + a] = sum;
        }
    }
}

void cr__space_velocity(const crSpace* s, const double* z, double* u) {
    cr__space_product(s, z, u);
    for (int i = 0; i < s->rows; i++) {
        u[i] += s->c[i];
    }
}

// block += X^T T with X: rows x m, T: rows x n
static void add_product(double* block, const double* X, int m, const double* T, int n, int rows) {
    for (int i = 0; i < m; i++) {
        for (int a = 0; a < rows; a++) {
            double f = X[a * m + i];
            const double* from = T + a * n;
            double* to = block + i * n;
            for (int j = 0; j < n; j++) {
                to[j] += f * from[j];
            }
        }
    }
}

// The same for contacts between free bodies, sizes known to the compiler.
static void add_product_3_6(double* restrict block, const double* restrict X, const double* restrict T) {
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 6; j++) {
            block[6 * i + j] += (X[i] * T[j] + X[6 + i] * T[6 + j]) + X[12 + i] * T[12 + j];
        }
    }
}

// T = G H of one touch
static void times_matrix(const double* G, const double* H, int rows, int n, double* T) {
    for (int a = 0; a < rows; a++) {
        for (int j = 0; j < n; j++) {
            T[a * n + j] = 0.0;
        }
        for (int b = 0; b < rows; b++) {
            for (int j = 0; j < n; j++) {
                T[a * n + j] += G[a * rows + b] * H[b * n + j];
            }
        }
    }
}

// Adds H^T G H of one unit. Columns of wide groups are taken 64 at a time.
static void add_unit(crSpace* s, int i, bool definite) {
    enum { WIDE = 64 };
    const crRelaxUnit* unit = &s->unit[i];
    const double* G = s->G + unit->square;
    int rows = unit->count, count = unit->touch_count;
    double T[CR_RELAX_ROWS * WIDE], part[CR_RELAX_ROWS * WIDE];
    for (int b = 0; b < count; b++) {
        const crTouch* tb = &s->touch[unit->touch + b];
        int place_b = s->sparse.place[tb->group], nb = tb->size;
        for (int from = 0; from < nb; from += WIDE) {
            int n = nb - from < WIDE ? nb - from : WIDE;
            for (int a = 0; a < rows; a++) {
                memcpy(part + a * n, s->H + tb->H + a * nb + from, (size_t)n * sizeof *part);
            }
            times_matrix(G, part, rows, n, T);
            for (int a = 0; a < count; a++) {
                const crTouch* ta = &s->touch[unit->touch + a];
                if (definite && s->sparse.place[ta->group] < place_b) continue;
                double* block = s->sparse.value + s->pair[s->pair_first[i] + a * count + b];
                const double* X = s->H + ta->H;
                if (rows == 3 && ta->size == 6 && nb == 6) {
                    add_product_3_6(block, X, T);
                } else if (n == nb) {
                    add_product(block, X, ta->size, T, n, rows);
                } else {
                    for (int k = 0; k < ta->size; k++) {
                        for (int r = 0; r < rows; r++) {
                            for (int j = 0; j < n; j++) {
                                block[k * nb + from + j] += X[r * ta->size + k] * T[r * n + j];
                            }
                        }
                    }
                }
            }
        }
    }
}

bool cr__space_factor(crSpace* s, crSparseKind kind) {
    cr__sparse_clear(&s->sparse);
    s->factorizations++;
    for (int g = 0; g < s->groups; g++) {
        double* block = cr__sparse_block(&s->sparse, g, g);
        for (int k = 0; k < s->size[g]; k++) {
            block[k * (s->size[g] + 1)] = 1.0;
        }
    }
    for (int i = 0; i < s->units; i++) {
        const double* G = s->G + s->unit[i].square;
        bool zero = true;
        for (int k = 0; k < s->unit[i].count * s->unit[i].count; k++) {
            zero = zero && G[k] == 0.0;
        }
        if (!zero) add_unit(s, i, kind == CR_SPARSE_DEFINITE);
    }
    return cr__sparse_factor(&s->sparse, kind) < 0;
}

double cr__space_residual(const crSpace* s, const double* x, const double* u) {
    double sum = 0.0;
    for (int i = 0; i < s->units; i++) {
        const crRelaxUnit* unit = &s->unit[i];
        const double *w = s->weight + unit->row, *xi = x + unit->row, *ui = u + unit->row;
        double q[CR_RELAX_ROWS], y[CR_RELAX_ROWS];
        for (int a = 0; a < unit->count; a++) {
            q[a] = xi[a] - ui[a] / w[a];
        }
        cr__relax_law(unit, q, y, NULL);
        for (int a = 0; a < unit->count; a++) {
            double r = w[a] * (xi[a] - y[a]) + 0.0 * q[a];
            sum += r * r;
        }
    }
    double r = s->scale > 0.0 ? sqrt(sum) / s->scale : sqrt(sum);
    return isfinite(r) ? r : (double)INFINITY;
}

double cr__space_error(const crSpace* s, const double* x, const double* u, double* work) {
    double *near = work, *y = work + s->rows, *z = work + 2 * s->rows, worst = 0.0;
    for (int i = 0; i < s->units; i++) {
        int row = s->unit[i].row;
        cr__relax_witness(&s->unit[i], s->lambda + row, x + row, u + row, near + row, y + row);
    }
    cr__space_gather(s, near, z);
    cr__space_velocity(s, z, near);
    double seen = 0.0;  // catches NaN, which fmax drops
    for (int i = 0; i < s->units; i++) {
        double sum = 0.0, normal = s->lambda[s->unit[i].row];
        for (int a = 0; a < s->unit[i].count; a++) {
            int row = s->unit[i].row + a;
            double d = y[row] - near[row];
            // an ellipse's rows are measured before they were scaled, spin and rolling at the contact's
            // radius
            if (s->E[row] > 0.0) d /= s->E[row];
            if (a >= s->unit[i].plane && s->lambda[row] > 0.0) d *= sqrt(normal / s->lambda[row]);
            sum += d * d;
        }
        worst = fmax(worst, sqrt(sum));
        seen += 0.0 * sum;
    }
    return seen == 0.0 && isfinite(worst) ? worst : (double)INFINITY;
}
