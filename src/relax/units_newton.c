// units_newton.c - Newton's method on all units of a small island at once.
//
// Alart and Curnier's map F of every unit (cr__unit_map) is zero exactly at solutions, with dF = A dx + B dw,
// w = E (e + H z) and dw = W dx, W = E H H^T E. Units with B = 0 are open or at the end of their range:
// dx = -A^-1 F. The active rows are the rest: (A + B W) dx = -F - B W dx_open, a full unsymmetric matrix
// solved by elimination; if all of them stick, W dx = -F - W dx_open is solved by Cholesky. SHIFT of its
// diagonal is added to W, so that contacts that share a load do not make it singular. A row that no velocity
// moves, as that of a planar chain's loop across the plane, gets 1. Newton's method starts from the result of
// some sweeps, which have found most contact states.
// Fails: returns false and leaves impulses and z as they were; sweeps go on. CR_ERR_MEMORY.
#include "base/room.h"
#include "linalg/dense.h"
#include "linalg/lu.h"
#include "relax/local.h"
#include "relax/units.h"

#include <string.h>

#define STEPS 8     // most Newton steps
#define RISE  1e4   // largest growth of |F|^2 in a step: it grows when contacts change their state
#define SHIFT 1e-8  // share of its diagonal that is added to W

// numbers of an island, by row in the order of its units
typedef struct Newton {
    crUnits* units;
    int first, end;  // first unit of the island, and one past the last
    int rows;
    int active;     // number of rows of units with B != 0
    bool sticking;  // true if F = w in all active rows: A = 0, B = 1
    int factored;   // number of rows of the Cholesky factor in M, listed in `order`; 0: no factor
    double* W;      // E H H^T E (rows*rows)
    double* M;      // (active*active)
    double *A, *B;  // CR_UNIT_ROWS numbers per row (rows*CR_UNIT_ROWS)
    double *x, *w, *F, *dx, *rhs;
    int* list;   // the active rows (active)
    int* order;  // pivots of the elimination, or rows of the Cholesky factor (active)
} Newton;

// Returns the number of rows of an island, 0 if they are more than CR_NEWTON_ROWS.
static int count_rows(const crUnits* units, int island) {
    int rows = 0;
    for (int k = units->first[island]; k < units->first[island + 1]; k++) {
        rows += units->unit[k].local.count;
    }
    return rows <= CR_NEWTON_ROWS ? rows : 0;
}

crStatus cr__units_newton_create(crArena* arena, crUnits* units) {
    size_t n = 0;
    for (int i = 0; i < units->islands; i++) {
        size_t rows = (size_t)count_rows(units, i);
        if (rows > n) n = rows;
    }
    size_t numbers = 2 * n * n + (5 + 2 * CR_UNIT_ROWS) * n;
    return CR_ROOMS(arena, CR_ROOM(units->room, numbers), CR_ROOM(units->index, 2 * n)) ? CR_OK
                                                                                        : CR_ERR_MEMORY;
}

static void divide_room(Newton* s) {
    size_t n = (size_t)s->rows;
    double* at = s->units->room;
    s->W = at;
    s->M = at + n * n;
    s->A = at + 2 * n * n;
    s->B = s->A + CR_UNIT_ROWS * n;
    s->x = s->B + CR_UNIT_ROWS * n;
    s->w = s->x + n;
    s->F = s->w + n;
    s->dx = s->F + n;
    s->rhs = s->dx + n;
    s->list = s->units->index;
    s->order = s->units->index + n;
}

// Sets the entries of W of two units from the places that both reach; where[] holds the columns of a. Callers
// pass na and nb as constants, so that the compiler unrolls the loops.
static inline void shared_W(Newton* s, const crRowUnit* a, int na, int at, const crRowUnit* b, int nb,
                            int to) {
    const int* where = s->units->where;
    const double *Ea = s->units->E + a->local.row, *Eb = s->units->E + b->local.row;
    double sum[CR_UNIT_ROWS * CR_UNIT_ROWS];
    for (int i = 0; i < na * nb; i++) {
        sum[i] = 0.0;
    }
    for (int m = 0; m < b->width; m++) {
        int k = where[b->col[m]];
        if (k < 0) continue;
        for (int i = 0; i < na; i++) {
            for (int j = 0; j < nb; j++) {
                sum[i * nb + j] += a->H[i * a->width + k] * b->H[j * b->width + m];
            }
        }
    }
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb; j++) {
            double entry = Ea[i] * sum[i * nb + j] * Eb[j];
            s->W[(at + i) * s->rows + to + j] = s->W[(to + j) * s->rows + at + i] = entry;
        }
    }
}

static void multiply(Newton* s, const crRowUnit* a, int at, const crRowUnit* b, int to) {
    int na = a->local.count, nb = b->local.count;
    if (na == 3 && nb == 3) {
        shared_W(s, a, 3, at, b, 3, to);
    } else if (na == 1 && nb == 3) {
        shared_W(s, a, 1, at, b, 3, to);
    } else if (na == 3 && nb == 1) {
        shared_W(s, a, 3, at, b, 1, to);
    } else if (na == 1 && nb == 1) {
        shared_W(s, a, 1, at, b, 1, to);
    } else {
        shared_W(s, a, na, at, b, nb, to);
    }
}

static void fill_W(Newton* s) {
    const crUnits* units = s->units;
    int rows = s->rows;
    for (int k = s->first, at = 0; k < s->end; k++) {
        const crRowUnit* a = &units->unit[k];
        for (int m = 0; m < a->width; m++) {
            units->where[a->col[m]] = m;
        }
        for (int l = s->first, to = 0; l < k; l++) {
            multiply(s, a, at, &units->unit[l], to);
            to += units->unit[l].local.count;
        }
        for (int i = 0; i < a->local.count * a->local.count; i++) {
            s->W[(at + i / a->local.count) * rows + at + i % a->local.count] = a->local.D[i];
        }
        for (int m = 0; m < a->width; m++) {
            units->where[a->col[m]] = -1;
        }
        at += a->local.count;
    }
}

// Reads x and w of a unit from its impulses and z.
static void read_unit(const crUnits* units, const crRowUnit* unit, const double* z, double* x, double* w) {
    int n = unit->local.count;
    for (int r = 0; r < n; r++) {
        double E = units->E[unit->local.row + r], u = units->e[unit->local.row + r];
        for (int m = 0; m < unit->width; m++) {
            u += unit->H[r * unit->width + m] * z[unit->col[m]];
        }
        x[r] = E > 0.0 ? units->p[unit->local.row + r] / E : 0.0;
        w[r] = E * u;
    }
}

static void read_start(Newton* s, const double* z) {
    for (int k = s->first, at = 0; k < s->end; k++) {
        read_unit(s->units, &s->units->unit[k], z, s->x + at, s->w + at);
        at += s->units->unit[k].local.count;
    }
}

// Computes F, A and B and lists the active rows. Returns the largest squared entry of F; *size is |F|^2.
static double map(Newton* s, double* size) {
    double largest = 0.0;
    *size = 0.0;
    s->active = 0;
    s->sticking = true;
    for (int k = s->first, at = 0; k < s->end; k++) {
        const crUnit* unit = &s->units->unit[k].local;
        int n = unit->count;
        const double* A = s->A + CR_UNIT_ROWS * at;
        const double* B = s->B + CR_UNIT_ROWS * at;
        cr__unit_map(unit, 1.0, s->x + at, s->w + at, s->F + at, s->A + CR_UNIT_ROWS * at,
                     s->B + CR_UNIT_ROWS * at);
        bool active = false, sticking = true;
        for (int i = 0; i < n * n; i++) {
            active = active || B[i] != 0.0;
            sticking = sticking && A[i] == 0.0;
        }
        s->sticking = s->sticking && (sticking || !active);
        for (int r = 0; r < n; r++) {
            double square = s->F[at + r] * s->F[at + r];
            if (active) s->list[s->active++] = at + r;
            if (!(square <= largest)) largest = square;
            *size += square;
        }
        at += n;
    }
    return largest;
}

// Sets dx of units that are not active, zero elsewhere. Their A is diagonal; it is regular since rho > 0.
static void move_open(Newton* s) {
    for (int k = s->first, at = 0, next = 0; k < s->end; k++) {
        int n = s->units->unit[k].local.count;
        bool active = next < s->active && s->list[next] == at;
        for (int r = 0; r < n; r++) {
            double diagonal = s->A[CR_UNIT_ROWS * at + r * (n + 1)];
            s->dx[at + r] = active ? 0.0 : -s->F[at + r] / diagonal;
        }
        next += active ? n : 0;
        at += n;
    }
}

// Computes y = W dx.
static void effect(const Newton* s, double* y) {
    int rows = s->rows;
    memset(y, 0, (size_t)rows * sizeof *y);
    for (int j = 0; j < rows; j++) {
        double dx = s->dx[j];
        if (dx == 0.0) continue;
        // W is symmetric
        const double* W = s->W + (size_t)j * (size_t)rows;
        for (int i = 0; i < rows; i++) {
            y[i] += W[i] * dx;
        }
    }
}

// Returns the shift of a diagonal entry of W; 1 for a row that no velocity moves.
static double shift_of(double W) { return W > 0.0 ? SHIFT * W : 1.0; }

// Factors W over the active rows, all of which stick; keeps the last factor if the rows are the same. Returns
// false if W is not positive definite.
static bool factor_W(Newton* s) {
    int m = s->active;
    size_t bytes = (size_t)m * sizeof *s->list;
    if (s->factored == m && memcmp(s->list, s->order, bytes) == 0) return true;
    for (int i = 0; i < m; i++) {
        int at = s->list[i];
        const double* W = s->W + (size_t)at * (size_t)s->rows;
        double* row = s->M + (size_t)i * (size_t)m;
        row[i] = W[at] + shift_of(W[at]);
        for (int j = i + 1; j < m; j++) {
            row[j] = W[s->list[j]];
        }
    }
    memcpy(s->order, s->list, bytes);
    s->factored = cr__cholesky(s->M, m) ? m : 0;
    return s->factored > 0;
}

// Sets the equations of the rows of an active unit; y = W dx_open.
static void active_equations(Newton* s, int at, int n, int next, const double* y) {
    int m = s->active, rows = s->rows;
    for (int r = 0; r < n; r++) {
        double* row = s->M + (size_t)(next + r) * (size_t)m;
        const double* A = s->A + CR_UNIT_ROWS * at + r * n;
        const double* B = s->B + CR_UNIT_ROWS * at + r * n;
        double rhs = -s->F[at + r];
        memset(row, 0, (size_t)m * sizeof(double));
        for (int i = 0; i < n; i++) {
            if (B[i] == 0.0) continue;
            const double* W = s->W + (size_t)(at + i) * (size_t)rows;
            for (int j = 0; j < m; j++) {
                row[j] += B[i] * W[s->list[j]];
            }
            row[next + i] += B[i] * shift_of(W[at + i]);
            rhs -= B[i] * y[at + i];
        }
        for (int i = 0; i < n; i++) {
            row[next + i] += A[i];
        }
        s->rhs[next + r] = rhs;
    }
}

// Sets the equations of all active rows.
static void make_equations(Newton* s) {
    double y[CR_NEWTON_ROWS];
    effect(s, y);
    for (int k = s->first, at = 0, next = 0; k < s->end; k++) {
        int n = s->units->unit[k].local.count;
        bool active = next < s->active && s->list[next] == at;
        if (active) active_equations(s, at, n, next, y);
        next += active ? n : 0;
        at += n;
    }
}

// Solves for dx of the active rows, in the order of `list`; y may be F. Returns false if the matrix is
// singular.
static bool solve_active(Newton* s, double* y) {
    int m = s->active;
    if (s->sticking) {
        if (!factor_W(s)) return false;
        effect(s, s->rhs);
        // the rows of the list ascend, so no entry is overwritten before it is read
        for (int i = 0; i < m; i++) {
            y[i] = -s->F[s->list[i]] - s->rhs[s->list[i]];
        }
        cr__cholesky_solve(s->M, m, y);
        return true;
    }
    s->factored = 0;
    make_equations(s);
    if (!cr__lu(s->M, m, 0.0, s->order)) return false;
    cr__lu_solve(s->M, m, s->order, s->rhs, y);
    return true;
}

// Clamps x + dx to its limits and sets dx to the change made.
static void move_inside(Newton* s) {
    double before[CR_UNIT_ROWS];
    for (int k = s->first, at = 0; k < s->end; k++) {
        const crUnit* unit = &s->units->unit[k].local;
        for (int r = 0; r < unit->count; r++) {
            before[r] = s->x[at + r];
            s->x[at + r] += s->dx[at + r];
        }
        cr__unit_clamp(unit, s->x + at);
        for (int r = 0; r < unit->count; r++) {
            s->dx[at + r] = s->x[at + r] - before[r];
        }
        at += unit->count;
    }
}

// Makes a Newton step: updates x, dx and w. Returns false if the matrix is singular.
static bool step_on(Newton* s) {
    move_open(s);
    // the solution of the active rows overwrites F
    if (s->active > 0 && !solve_active(s, s->F)) return false;
    for (int i = 0; i < s->active; i++) {
        s->dx[s->list[i]] = s->F[i];
    }
    move_inside(s);
    effect(s, s->rhs);
    for (int i = 0; i < s->rows; i++) {
        s->w[i] += s->rhs[i];
    }
    return true;
}

// Writes the impulses of x and adds their change to z.
static void keep(Newton* s, double* z) {
    crUnits* units = s->units;
    for (int k = s->first, at = 0; k < s->end; k++) {
        const crRowUnit* unit = &units->unit[k];
        int n = unit->local.count, row = unit->local.row;
        for (int r = 0; r < n; r++) {
            double p = units->E[row + r] * s->x[at + r], dp = p - units->p[row + r];
            units->p[row + r] = p;
            for (int m = 0; m < unit->width; m++) {
                z[unit->col[m]] += unit->H[r * unit->width + m] * dp;
            }
        }
        at += n;
    }
}

bool cr__units_newton(crUnits* units, int island, double tol, double* z, double* change) {
    Newton s = {.units = units, .first = units->first[island], .end = units->first[island + 1]};
    s.rows = count_rows(units, island);
    if (s.rows == 0 || units->mixed[island]) return false;
    divide_room(&s);
    read_start(&s, z);
    double last = (double)INFINITY, size;
    for (int step = 0; step < STEPS; step++) {
        double largest = map(&s, &size);
        if (largest <= tol * tol) {
            keep(&s, z);
            *change = largest;
            return true;
        }
        if (step == 0) fill_W(&s);
        if (!(size < RISE * last) || !step_on(&s)) return false;
        last = size;
    }
    return false;
}

bool cr__units_hold(const crUnits* units, int island, double tol, const double* z) {
    double A[CR_UNIT_ROWS * CR_UNIT_ROWS], B[CR_UNIT_ROWS * CR_UNIT_ROWS];
    for (int k = units->first[island]; k < units->first[island + 1]; k++) {
        const crRowUnit* unit = &units->unit[k];
        if (unit->sure) continue;
        double x[CR_UNIT_ROWS] = {0}, w[CR_UNIT_ROWS] = {0}, F[CR_UNIT_ROWS] = {0};
        read_unit(units, unit, z, x, w);
        cr__unit_map(&unit->local, 1.0, x, w, F, A, B);
        for (int r = 0; r < unit->local.count; r++) {
            if (!(fabs(F[r]) <= tol)) return false;
        }
    }
    return true;
}
