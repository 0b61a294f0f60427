// units_newton.c - Newton's method on all units of a small island at once.
//
// Alart and Curnier's map F of every unit (resolve/map.c), zero exactly at solutions, with dF = A dx + B dw
// and w = E (e + H z), dw = E H H^T E dx. Rows without B are open, or at the end of their range: dx = -A^-1 F;
// the others are (A + B W) dx = -F - B W dx_open, full and unsymmetric, by elimination. W gets SHIFT of its
// diagonal, so that contacts that share a load do no harm. It starts where sweeps have found most
// regimes.
// Fails: returns false, impulses and z as they were; sweeps go on.
#include "linalg/lu.h"
#include "resolve/local.h"
#include "step/units.h"

#include <string.h>

#define STEPS 8
#define RISE  1e4  // of the sum of squares, where regimes change
#define SHIFT 1e-8

// numbers of an island's rows in the order of its units
typedef struct Newton {
    crUnits* units;
    int first, end;  // units
    int rows;
    int active;     // rows with B
    double* W;      // E H H^T E (rows*rows)
    double* M;      // (active*active)
    double *A, *B;  // CR_UNIT_ROWS of each row (rows*CR_UNIT_ROWS)
    double *x, *w, *F, *dx, *rhs;
    double* T;   // (E H)^T, place by place (places*rows)
    int* list;   // the active rows (active)
    int* order;  // of elimination
} Newton;

// rows of an island, 0 where there are too many; and the velocities they reach
static int count_rows(const crUnits* units, int island, int* where, int* places) {
    int rows = 0;
    *places = 0;
    for (int k = units->first[island]; k < units->first[island + 1]; k++) {
        rows += units->unit[k].local.count;
    }
    if (rows > CR_NEWTON_ROWS) return 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = units->first[island]; k < units->first[island + 1]; k++) {
            const crRowUnit* unit = &units->unit[k];
            for (int m = 0; m < unit->width; m++) {
                if (pass == 0 && where[unit->col[m]] < 0) where[unit->col[m]] = (*places)++;
                if (pass == 1) where[unit->col[m]] = -1;
            }
        }
    }
    return rows;
}

crStatus cr__units_newton_create(crStep* step, int* where, crUnits* units) {
    int most = 0;
    size_t spread = 0;
    for (int i = 0; i < units->islands; i++) {
        int places, rows = count_rows(units, i, where, &places);
        if (rows > most) most = rows;
        if ((size_t)rows * (size_t)places > spread) spread = (size_t)rows * (size_t)places;
    }
    size_t n = (size_t)most;
    size_t numbers = spread + 2 * n * n + (5 + 2 * CR_UNIT_ROWS) * n + 1;
    units->room = cr_arena_alloc(&step->scratch, numbers * sizeof(double));
    units->index = cr_arena_alloc(&step->scratch, (2 * n + 1) * sizeof(int));
    return units->room != NULL && units->index != NULL ? CR_OK : CR_ERR_MEMORY;
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
    s->T = s->rhs + n;
    s->list = s->units->index;
    s->order = s->units->index + n;
}

// (E H)^T over the places that the island's rows reach; how many those are
static int fill_T(Newton* s) {
    const crUnits* units = s->units;
    int n = s->rows, places = 0;
    for (int k = s->first, at = 0; k < s->end; k++) {
        const crRowUnit* unit = &units->unit[k];
        int count = unit->local.count;
        const double* E = units->E + unit->local.row;
        for (int m = 0; m < unit->width; m++) {
            int* place = &units->where[unit->col[m]];
            if (*place < 0) {
                *place = places++;
                memset(s->T + (size_t)*place * (size_t)n, 0, (size_t)n * sizeof(double));
            }
            for (int r = 0; r < count; r++) {
                s->T[*place * n + at + r] = E[r] * unit->H[r * unit->width + m];
            }
        }
        at += count;
    }
    for (int k = s->first; k < s->end; k++) {
        for (int m = 0; m < units->unit[k].width; m++) {
            units->where[units->unit[k].col[m]] = -1;
        }
    }
    return places;
}

static void fill_W(Newton* s) {
    int n = s->rows, places = fill_T(s);
    memset(s->W, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int k = 0; k < places; k++) {
        const double* row = s->T + (size_t)k * (size_t)n;
        for (int i = 0; i < n; i++) {
            if (row[i] == 0.0) continue;
            double* W = s->W + (size_t)i * (size_t)n;
            for (int j = 0; j <= i; j++) {
                W[j] += row[i] * row[j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            s->W[j * n + i] = s->W[i * n + j];
        }
    }
}

// x and w of the impulses that a unit has
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

// F, A and B; squared, the largest entry of F and in *size its sum; who is active
static double map(Newton* s, double* size) {
    double largest = 0.0;
    *size = 0.0;
    s->active = 0;
    for (int k = s->first, at = 0; k < s->end; k++) {
        const crUnit* unit = &s->units->unit[k].local;
        int n = unit->count;
        double* B = s->B + CR_UNIT_ROWS * at;
        cr__unit_map(unit, 1.0, s->x + at, s->w + at, s->F + at, s->A + CR_UNIT_ROWS * at, B);
        bool active = false;
        for (int i = 0; i < n * n; i++) {
            active = active || B[i] != 0.0;
        }
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

// dx of units that are not active, zero elsewhere; false where A is singular (it never is: rho > 0)
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

// the equations of the active rows
static void make_equations(Newton* s) {
    int m = s->active, rows = s->rows;
    for (int k = s->first, at = 0, next = 0; k < s->end; k++) {
        int n = s->units->unit[k].local.count;
        bool active = next < m && s->list[next] == at;
        for (int r = 0; active && r < n; r++) {
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
                row[next + i] += B[i] * SHIFT * W[at + i];
                for (int j = 0; j < rows; j++) {
                    rhs -= B[i] * W[j] * s->dx[j];
                }
            }
            for (int i = 0; i < n; i++) {
                row[next + i] += A[i];
            }
            s->rhs[next + r] = rhs;
        }
        next += active ? n : 0;
        at += n;
    }
}

// x + dx in its limits, and what of dx is left
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

// a step to x + dx, and its w
static bool step_on(Newton* s) {
    int m = s->active, rows = s->rows;
    move_open(s);
    make_equations(s);
    // the solution of the active rows goes where their right hand side was
    double* y = s->F;
    if (m > 0) {
        if (!cr__lu(s->M, m, 0.0, s->order)) return false;
        cr__lu_solve(s->M, m, s->order, s->rhs, y);
    }
    for (int i = 0; i < m; i++) {
        s->dx[s->list[i]] = y[i];
    }
    move_inside(s);
    for (int j = 0; j < rows; j++) {
        if (s->dx[j] == 0.0) continue;
        // W is symmetric
        const double* W = s->W + (size_t)j * (size_t)rows;
        for (int i = 0; i < rows; i++) {
            s->w[i] += W[i] * s->dx[j];
        }
    }
    return true;
}

// impulses, and z with them
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
    for (int k = s.first; k < s.end; k++) {
        s.rows += units->unit[k].local.count;
    }
    if (s.rows == 0 || s.rows > CR_NEWTON_ROWS || units->mixed[island]) return false;
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
        double x[CR_UNIT_ROWS] = {0}, w[CR_UNIT_ROWS] = {0}, F[CR_UNIT_ROWS] = {0};
        read_unit(units, unit, z, x, w);
        cr__unit_map(&unit->local, 1.0, x, w, F, A, B);
        for (int r = 0; r < unit->local.count; r++) {
            if (!(fabs(F[r]) <= tol)) return false;
        }
    }
    return true;
}
