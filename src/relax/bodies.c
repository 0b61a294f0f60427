// bodies.c - sorts a problem's velocities into groups and its blocks into islands.
//
// Velocities that Minv couples form a component. Consecutive components of at most six velocities in all form
// one group if the blocks that act on one are among those of the other: a free body is one group of six.
// Groups that a block acts on together belong to one island. Minv = L L^T per group; a pivot that is zero to
// working precision gives a zero column, so impulses do not move an infinite mass.
// Fails: CR_ERR_MEMORY.
#include "base/forest.h"
#include "base/room.h"
#include "space.h"

#include <string.h>

#define JOINED_SIZE 6      // most velocities of a group of joined components
#define ZERO_PIVOT  1e-15  // pivot that counts as zero, share of the diagonal entry

// Iterator over the nonzero entries of a row.
typedef struct crRow {
    const crMatrix* A;
    int row, next, end;
} crRow;

static crRow row_of(const crMatrix* A, int row) {
    if (A->start == NULL) return (crRow){A, row, 0, A->cols};
    return (crRow){A, row, A->start[row], A->start[row + 1]};
}

// Sets col and value to the next nonzero entry; returns false if the row has no more.
static bool row_next(crRow* r, int* col, double* value) {
    const crMatrix* A = r->A;
    while (r->next < r->end) {
        int k = r->next++;
        *col = A->start == NULL ? k : A->col[k];
        *value = A->start == NULL ? A->value[(size_t)r->row * (size_t)A->cols + (size_t)k] : A->value[k];
        if (*value != 0.0) return true;
    }
    return false;
}

// Copies J by rows without its zeros.
static crStatus copy_rows(crBodies* b, crArena* arena) {
    const crProblem* problem = b->problem;
    int n = problem->rows, entries = 0, col;
    double value;
    if (!CR_ROOMS(arena, CR_ROOM(b->row_start, n + 1))) return CR_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        b->row_start[i] = entries;
        for (crRow r = row_of(&problem->J, i); row_next(&r, &col, &value);) {
            entries++;
        }
    }
    b->row_start[n] = entries;
    if (!CR_ROOMS(arena, CR_ROOM(b->row_col, entries), CR_ROOM(b->row_value, entries))) return CR_ERR_MEMORY;
    for (int i = 0; i < n; i++) {
        int at = b->row_start[i];
        for (crRow r = row_of(&problem->J, i); row_next(&r, &col, &value); at++) {
            b->row_col[at] = col;
            b->row_value[at] = value;
        }
    }
    return CR_OK;
}

// Lists the blocks that act on each component, ascending: list[first[v]] to list[first[v + 1] - 1] for the
// component whose leader in link is v.
static crStatus list_blocks(const crBodies* b, int* link, int** first, int** list, crArena* arena) {
    const crProblem* problem = b->problem;
    int nv = problem->nv;
    int *last, *next;
    if (!CR_ROOMS(arena, CR_ZERO(*first, nv + 1), CR_ROOM(*list, b->row_start[problem->rows]),
                  CR_ROOM(last, nv), CR_ROOM(next, nv)))
        return CR_ERR_MEMORY;
    for (int pass = 0; pass < 2; pass++) {
        for (int v = 0; v < nv; v++) {
            last[v] = -1;
        }
        for (int k = 0; k < problem->block_count; k++) {
            const crBlock* block = &problem->blocks[k];
            for (int e = b->row_start[block->row]; e < b->row_start[block->row + block->count]; e++) {
                int v = cr__forest_find(link, b->row_col[e]);
                if (last[v] == k) continue;
                last[v] = k;
                if (pass == 0) {
                    (*first)[v + 1]++;
                } else {
                    (*list)[next[v]++] = k;
                }
            }
        }
        for (int v = 0; pass == 0 && v < nv; v++) {
            (*first)[v + 1] += (*first)[v];
            next[v] = (*first)[v];
        }
    }
    return CR_OK;
}

// Returns true if the shorter of two ascending lists is not empty and all of it is in the longer.
static bool nested(const int* a, int na, const int* b, int nb) {
    if (na > nb) return nested(b, nb, a, na);
    int j = 0;
    for (int i = 0; i < na; i++) {
        while (j < nb && b[j] < a[i]) {
            j++;
        }
        if (j == nb || b[j] != a[i]) return false;
    }
    return na > 0;
}

// Joins small consecutive components of which one has all blocks of the other. Afterwards the leaders in link
// are those of groups.
static crStatus join_components(const crBodies* b, int* link, crArena* arena) {
    int nv = b->problem->nv, current = -1, filled = 0;
    int *first, *list, *count;
    if (!CR_ROOMS(arena, CR_ZERO(count, nv)) || list_blocks(b, link, &first, &list, arena) != CR_OK)
        return CR_ERR_MEMORY;
    for (int v = 0; v < nv; v++) {
        count[cr__forest_find(link, v)]++;
    }
    // component of the group with the most blocks; its list is compared
    int widest = -1;
    for (int v = 0; v < nv; v++) {
        // components without blocks are skipped
        if (link[v] != v || first[v] == first[v + 1]) continue;
        bool fits = current >= 0 && filled + count[v] <= JOINED_SIZE &&
                    nested(list + first[v], first[v + 1] - first[v], list + first[widest],
                           first[widest + 1] - first[widest]);
        if (!fits) {
            current = widest = v;
            filled = count[v];
            continue;
        }
        filled += count[v];
        if (first[v + 1] - first[v] > first[widest + 1] - first[widest]) widest = v;
        link[v] = current;
    }
    return CR_OK;
}

// Numbers the groups that a block acts on and lists their velocities.
static void number_groups(crBodies* b, int* link, int* number) {
    int nv = b->problem->nv, entries = b->row_start[b->problem->rows];
    for (int v = 0; v < nv; v++) {
        number[v] = -1;
        b->group_of[v] = -1;
    }
    for (int e = 0; e < entries; e++) {
        number[cr__forest_find(link, b->row_col[e])] = 0;
    }
    for (int v = 0; v < nv; v++) {
        int leader = cr__forest_find(link, v);
        if (number[leader] < 0) continue;
        if (leader == v) {
            number[v] = b->groups;
            b->size[b->groups++] = 0;
        }
        b->group_of[v] = number[leader];
        b->seat[v] = b->size[number[leader]]++;
    }
    b->first[0] = 0;
    for (int g = 0; g < b->groups; g++) {
        b->first[g + 1] = b->first[g] + b->size[g];
    }
    for (int v = 0; v < nv; v++) {
        if (b->group_of[v] >= 0) b->velocity[b->first[b->group_of[v]] + b->seat[v]] = v;
    }
}

// Replaces A by its lower Cholesky factor; columns of zero pivots become zero.
static void factor_group(double* A, int n) {
    for (int k = 0; k < n; k++) {
        double d = A[k * n + k], own = d;
        for (int m = 0; m < k; m++) {
            d -= A[k * n + m] * A[k * n + m];
        }
        double root = d > ZERO_PIVOT * own ? sqrt(d) : 0.0;
        A[k * n + k] = root;
        for (int i = k + 1; i < n; i++) {
            double sum = A[i * n + k];
            for (int m = 0; m < k; m++) {
                sum -= A[i * n + m] * A[k * n + m];
            }
            A[i * n + k] = root > 0.0 ? sum / root : 0.0;
            A[k * n + i] = 0.0;
        }
    }
}

// Fills L with the factors of all groups.
static crStatus factor_masses(crBodies* b, crArena* arena) {
    size_t total = 0;
    for (int g = 0; g < b->groups; g++) {
        b->factor[g] = total;
        total += (size_t)b->size[g] * (size_t)b->size[g];
    }
    if (!CR_ROOMS(arena, CR_ZERO(b->L, total))) return CR_ERR_MEMORY;
    for (int g = 0; g < b->groups; g++) {
        int n = b->size[g], col;
        double value;
        for (int i = 0; i < n; i++) {
            for (crRow r = row_of(&b->problem->Minv, b->velocity[b->first[g] + i]);
                 row_next(&r, &col, &value);) {
                b->L[b->factor[g] + (size_t)(i * n + b->seat[col])] = value;
            }
        }
        factor_group(b->L + b->factor[g], n);
    }
    return CR_OK;
}

// Numbers the islands in the order of their first blocks. A block without entries in J is an island
// of its own.
static crStatus make_islands(crBodies* b, crArena* arena) {
    const crProblem* problem = b->problem;
    int *link, *island, *number;
    if (!CR_ROOMS(arena, CR_ROOM(link, b->groups), CR_ROOM(island, problem->block_count),
                  CR_ROOM(number, b->groups), CR_ZERO(b->island_first, problem->block_count + 1)))
        return CR_ERR_MEMORY;
    cr__forest_begin(link, b->groups);
    for (int g = 0; g < b->groups; g++) {
        number[g] = -1;
    }
    for (int k = 0; k < problem->block_count; k++) {
        int begin = b->row_start[problem->blocks[k].row];
        int end = b->row_start[problem->blocks[k].row + problem->blocks[k].count];
        for (int e = begin; e < end; e++) {
            cr__forest_join(link, b->group_of[b->row_col[begin]], b->group_of[b->row_col[e]]);
        }
    }
    for (int k = 0; k < problem->block_count; k++) {
        int begin = b->row_start[problem->blocks[k].row];
        int end = b->row_start[problem->blocks[k].row + problem->blocks[k].count];
        int leader = begin < end ? cr__forest_find(link, b->group_of[b->row_col[begin]]) : -1;
        if (leader < 0 || number[leader] < 0) {
            if (leader >= 0) number[leader] = b->islands;
            island[k] = b->islands++;
        } else {
            island[k] = number[leader];
        }
        b->island_first[island[k] + 1]++;
    }
    for (int i = 0; i < b->islands; i++) {
        b->island_first[i + 1] += b->island_first[i];
    }
    // filled from the end: island_first[i + 1] falls from the end of island i to its first block
    for (int k = problem->block_count - 1; k >= 0; k--) {
        b->block[--b->island_first[island[k] + 1]] = k;
    }
    memmove(b->island_first, b->island_first + 1, (size_t)b->islands * sizeof(int));
    b->island_first[b->islands] = problem->block_count;
    return CR_OK;
}

crStatus cr__bodies_create(crBodies* b, const crProblem* problem, crArena* arena) {
    *b = (crBodies){.problem = problem};
    size_t nv = (size_t)problem->nv, blocks = (size_t)problem->block_count;
    int *link, *number;
    bool ok = CR_ROOMS(arena, CR_ROOM(b->group_of, nv), CR_ROOM(b->seat, nv), CR_ROOM(b->size, nv),
                       CR_ROOM(b->velocity, nv), CR_ROOM(b->number, nv), CR_ROOM(b->last, nv),
                       CR_ROOM(b->first, nv + 1), CR_ROOM(b->factor, nv), CR_ROOM(b->block, blocks),
                       CR_ROOM(link, nv), CR_ROOM(number, nv));
    crStatus status = ok ? copy_rows(b, arena) : CR_ERR_MEMORY;
    if (status != CR_OK) return status;
    cr__forest_begin(link, problem->nv);
    int col;
    double value;
    for (int v = 0; v < problem->nv; v++) {
        for (crRow r = row_of(&problem->Minv, v); row_next(&r, &col, &value);) {
            cr__forest_join(link, v, col);
        }
    }
    status = join_components(b, link, arena);
    if (status != CR_OK) return status;
    number_groups(b, link, number);
    for (int g = 0; g < b->groups; g++) {
        b->number[g] = b->last[g] = -1;
    }
    status = factor_masses(b, arena);
    return status == CR_OK ? make_islands(b, arena) : status;
}
