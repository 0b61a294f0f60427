// units.c - makes units of the packed sweeps from the blocks of the step's problem.
//
//     H_u = rows of J L^-1 D^-1/2 (half.c) for the places of z that any of them reaches,   D_u = H_u H_u^T
//
// z of a tree is D^1/2 L v_free. Contacts that stick are solved by the inverse of D_u; local.c solves them if
// D_u is nearly singular (e.g. a chain that moves in a plane).
// Fails: CR_ERR_MEMORY.
#include "relax/units.h"

#include <string.h>

#include "base/room.h"
#include "linalg/dense.h"
#include "model/spatial.h"

#define SINGULAR 1e-10  // least pivot of an invertible D, share of its largest diagonal entry

// numbers needed by all units
typedef struct Sizes {
    size_t col, H, D;
} Sizes;

// True if all rows of a block have the same columns, as those of a contact do. Its part of H is used in
// place.
static bool alike(const crMatrix* H, const crBlock* block) {
    int start = H->start[block->row], width = H->start[block->row + 1] - start;
    for (int r = block->row + 1; r < block->row + block->count; r++) {
        if (H->start[r + 1] - H->start[r] != width) return false;
        if (memcmp(H->col + H->start[r], H->col + start, (size_t)width * sizeof *H->col) != 0) return false;
    }
    return true;
}

// Returns the number of velocities that a block's rows reach and lists them in col, unless it is NULL, in the
// order met. `where` is -1 before; afterwards it is -1 if col is NULL, else the place of each velocity in
// col.
static int reach(const crMatrix* H, const crBlock* block, int* where, int* col) {
    int width = 0, first = H->start[block->row], end = H->start[block->row + block->count];
    for (int k = first; k < end; k++) {
        if (where[H->col[k]] >= 0) continue;
        if (col != NULL) col[width] = H->col[k];
        where[H->col[k]] = width++;
    }
    for (int k = first; k < end && col == NULL; k++) {
        where[H->col[k]] = -1;
    }
    return width;
}

static Sizes sizes(const crProblem* problem, int* where) {
    Sizes sum = {0};
    const crMatrix* H = &problem->J;
    for (int i = 0; i < problem->block_count; i++) {
        const crBlock* block = &problem->blocks[i];
        size_t count = (size_t)block->count;
        bool as_it_is = alike(H, block);
        int own = H->start[block->row + 1] - H->start[block->row];
        size_t width = (size_t)(as_it_is ? own : reach(H, block, where, NULL));
        sum.col += width;
        sum.H += as_it_is ? 0 : width * count;
        sum.D += 3 * count * count;
    }
    return sum;
}

// True if the unit is a cone and all its limits are discs or ellipses.
static bool of_discs(const crUnit* unit, const double* E) {
    bool discs = unit->kind == CR_BLOCK_CONE;
    for (int k = 0; k < unit->part_count; k++) {
        discs = discs && !unit->part[k].polygon && !unit->part[k].free;
    }
    for (int r = 0; r < unit->count; r++) {
        discs = discs && E[r] > 0.0;
    }
    return discs;
}

// Sets G = D^-1 of a contact by its cofactors. Returns false if D is nearly singular.
static bool invert3(const double* D, double* G) {
    double xx = D[4] * D[8] - D[5] * D[5], xy = D[2] * D[5] - D[1] * D[8], xz = D[1] * D[5] - D[2] * D[4];
    double yy = D[0] * D[8] - D[2] * D[2], yz = D[1] * D[2] - D[0] * D[5];
    double zz = D[0] * D[4] - D[1] * D[1], det = D[0] * xx + D[1] * xy + D[2] * xz;
    double largest = D[0] > D[4] ? D[0] : D[4];
    if (D[8] > largest) largest = D[8];
    // the pivots are quotients of the leading minors
    double least = SINGULAR * largest;
    if (!(D[0] > least && zz > least * D[0] && det > least * zz)) return false;
    double s = 1.0 / det;
    const double all[9] = {s * xx, s * xy, s * xz, s * xy, s * yy, s * yz, s * xz, s * yz, s * zz};
    memcpy(G, all, sizeof all);
    return true;
}

// Sets G = D^-1 of any block. Returns false if D is nearly singular.
static bool invert(const double* D, int n, double* G) {
    if (n == 3) return invert3(D, G);
    double C[CR_UNIT_ROWS * CR_UNIT_ROWS], largest = 0.0;
    for (int i = 0; i < n; i++) {
        largest = fmax(largest, D[i * (n + 1)]);
    }
    memcpy(C, D, (size_t)(n * n) * sizeof *C);
    if (!cr__cholesky(C, n)) return false;
    for (int i = 0; i < n; i++) {
        if (!(C[i * (n + 1)] * C[i * (n + 1)] > SINGULAR * largest)) return false;
    }
    for (int j = 0; j < n; j++) {
        double column[CR_UNIT_ROWS] = {0};
        column[j] = 1.0;
        cr__cholesky_solve(C, n, column);
        for (int i = 0; i < n; i++) {
            G[i * n + j] = column[i];
        }
    }
    return true;
}

// Sets D = H H^T. Callers pass n as a constant, so that the compiler unrolls the loops.
static inline void square(const double* H, int width, int n, double* D) {
    for (int a = 0; a < n; a++) {
        for (int b = 0; b <= a; b++) {
            double sum = 0.0;
            for (int k = 0; k < width; k++) {
                sum += H[a * width + k] * H[b * width + k];
            }
            D[a * n + b] = D[b * n + a] = sum;
        }
    }
}

// Sets D, D scaled by E for local.c, and the inverse if it exists; `room` has 3 n^2 numbers.
static void make_D(const double* E, crRowUnit* unit, double* room) {
    int n = unit->local.count;
    double largest = 0.0;
    unit->D = room;
    double* scaled = room + n * n;
    if (n == 3) {
        square(unit->H, unit->width, 3, unit->D);
    } else {
        square(unit->H, unit->width, n, unit->D);
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            scaled[a * n + b] = E[a] * unit->D[a * n + b] * E[b];
        }
        if (scaled[a * (n + 1)] > largest) largest = scaled[a * (n + 1)];
    }
    unit->local.D = scaled;
    unit->local.rho = largest > 0.0 ? 1.0 / largest : 1.0;
    double* G = room + 2 * n * n;
    unit->G = n > 1 && of_discs(&unit->local, E) && invert(unit->D, n, G) ? G : NULL;
}

// Sets the rows, columns and H of a unit. Returns how many numbers of `room` it takes.
static size_t make_unit(const crProblem* problem, const crBlock* block, int* where, crUnits* units,
                        double* room, crRowUnit* unit) {
    const crMatrix* H = &problem->J;
    int n = block->count, start = H->start[block->row];
    cr__unit_cut(problem, block, block->row, n, &unit->local, units->E + block->row);
    if (alike(H, block)) {
        unit->width = H->start[block->row + 1] - start;
        unit->H = H->value + start;
        memcpy(unit->col, H->col + start, (size_t)unit->width * sizeof *unit->col);
        return 0;
    }
    unit->width = reach(H, block, where, unit->col);
    unit->H = room;
    size_t size = (size_t)(unit->width * n);
    memset(room, 0, size * sizeof *room);
    for (int r = 0; r < n; r++) {
        for (int k = H->start[block->row + r]; k < H->start[block->row + r + 1]; k++) {
            room[r * unit->width + where[H->col[k]]] = H->value[k];
        }
    }
    for (int k = 0; k < unit->width; k++) {
        where[unit->col[k]] = -1;
    }
    return size;
}

// Gives the velocities of trees places in z, those of one island side by side. CR_ERR_MEMORY.
static crStatus number_trees(const crInertias* of, const int* island_of_body, crUnits* units) {
    const crModel* model = of->model;
    int* next = cr_arena_alloc(of->arena, (size_t)(units->islands + 1) * sizeof *next);
    if (next == NULL) return CR_ERR_MEMORY;
    memset(next, 0, (size_t)(units->islands + 1) * sizeof *next);
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < model->nv; j++) {
            int body = model->velocity.body[j], island = island_of_body[body];
            units->column[j] = -1;
            if (island < 0 || model->bodies[body].single) continue;
            if (units->first[island] == units->first[island + 1]) continue;
            units->column[j] = next[island]++;
        }
        for (int i = 0; i < units->islands && pass == 0; i++) {
            int strides = (next[i] + CR_BODY_STRIDE - 1) / CR_BODY_STRIDE;
            next[i] = CR_BODY_STRIDE * units->places;
            units->places += strides;
        }
    }
    return CR_OK;
}

static crStatus make_rows(const crInertias* of, const crProblem* problem, const double* w_hat, double* p,
                          crUnits* units) {
    crArena* arena = of->arena;
    size_t rows = (size_t)units->rows + 1;
    if (!CR_ROOMS(arena, CR_ROOM(units->E, 4 * rows), CR_ROOM(units->column, of->model->nv + 1),
                  CR_ZERO(units->mixed, units->islands + 1)))
        return CR_ERR_MEMORY;
    units->e = units->E + rows;
    units->dp = units->e + rows;
    units->direction = units->dp + rows;
    units->p = p;
    for (int r = 0; r < units->rows; r++) {
        units->e[r] = w_hat[r] + problem->b[r];
    }
    return CR_OK;
}

crStatus cr__units_create(const crInertias* of, const crProblem* problem, const double* w_hat, double* p,
                          const int* island_of_body, int islands, const int* order, const int* first,
                          crUnits* units) {
    crArena* arena = of->arena;
    *units = (crUnits){.islands = islands, .first = first, .count = problem->block_count};
    units->rows = problem->rows;
    crStatus status = make_rows(of, problem, w_hat, p, units);
    int *where, *col;
    double *H, *D;
    if (status != CR_OK ||
        !CR_ROOMS(arena, CR_ROOM(units->unit, units->count), CR_ROOM(where, of->model->nv)))
        return CR_ERR_MEMORY;
    memset(where, -1, (size_t)of->model->nv * sizeof *where);
    Sizes need = sizes(problem, where);
    if (!CR_ROOMS(arena, CR_ROOM(col, need.col), CR_ROOM(H, need.H), CR_ROOM(D, need.D)))
        return CR_ERR_MEMORY;
    for (int i = 0; i < units->count; i++) {
        const crBlock* block = &problem->blocks[order[i]];
        crRowUnit* unit = &units->unit[i];
        *unit = (crRowUnit){.col = col};
        H += make_unit(problem, block, where, units, H, unit);
        make_D(units->E + block->row, unit, D);
        col += unit->width;
        D += 3 * block->count * block->count;
    }
    status = cr__units_newton_create(of->arena, units);
    return status == CR_OK ? number_trees(of, island_of_body, units) : status;
}

void cr__units_coordinates(const crInertias* of, const double* v, const crUnits* units, double* z) {
    memset(z, 0, CR_BODY_STRIDE * (size_t)units->places * sizeof *z);
    for (int b = 1; b < of->model->nb; b++) {
        const crBody* body = &of->model->bodies[b];
        double own[6];
        if (body->single || body->last < 0 || units->column[body->last] < 0) continue;
        cr__half_velocities(of->model, of->d, b, v, own);
        for (int j = 0; j < body->nv; j++) {
            z[units->column[body->v + j]] = own[j];
        }
    }
}

crStatus cr__units_place(const crInertias* of, const int* island_of_body, const double* v, crUnits* units,
                         crPacked* p) {
    const crModel* model = of->model;
    int base = CR_BODY_STRIDE * (p->bodies + 1);
    units->base = base;
    cr__units_coordinates(of, v, units, p->z_free + base);
    for (int j = 0; j < model->nv; j++) {
        if (units->column[j] < 0) continue;
        int at = base + units->column[j], body = model->velocity.body[j];
        p->body[at / CR_BODY_STRIDE - 1] = body;
        p->body_island[at / CR_BODY_STRIDE - 1] = island_of_body[body];
    }
    p->bodies += units->places;
    for (int i = 0; i < p->count; i++) {
        const crPackedContact* c = &p->contact[i];
        units->mixed[island_of_body[cr__moves(model, c->body_b) ? c->body_b : c->body_a]] = true;
    }
    for (int i = 0; i < units->count; i++) {
        const crRowUnit* unit = &units->unit[i];
        for (int k = 0; k < unit->width; k++) {
            int j = unit->col[k], body = model->velocity.body[j];
            bool single = model->bodies[body].single;
            unit->col[k] = single ? p->place[body] + j - model->bodies[body].v : base + units->column[j];
        }
    }
    size_t bytes = CR_BODY_STRIDE * (size_t)(p->bodies + 1) * sizeof(int);
    units->where = cr_arena_alloc(of->arena, bytes);
    if (units->where == NULL) return CR_ERR_MEMORY;
    memset(units->where, -1, bytes);
    return CR_OK;
}
