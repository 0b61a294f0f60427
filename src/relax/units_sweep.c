// units_sweep.c - sweeps over units of rows, each solved exactly with the other units held.
//
// With u = e + H z, a single row becomes p+ = clamp(p - u/D) and a contact that sticks p+ = p - G u; local.c
// solves all other units from q = u - D p. Then z += H^T (p+ - p). Momentum is that of packed.c, island by
// island. The order of sums is fixed, so results do not depend on threads or other islands.
// Fails: never; a unit that is not solved shows in the sweep's change.
#include <string.h>

#include "relax/local.h"
#include "relax/units.h"

#define SLACK 100.0  // largest residual with which an island may end its sweeps, in units of tol

// Computes u of n rows. Callers pass n as a constant, so that the compiler unrolls the loops.
static inline void velocity(const crRowUnit* unit, int n, const double* e, const double* z, double* u) {
    for (int r = 0; r < n; r++) {
        u[r] = e[r];
    }
    for (int k = 0; k < unit->width; k++) {
        double zk = z[unit->col[k]];
        for (int r = 0; r < n; r++) {
            u[r] += unit->H[r * unit->width + k] * zk;
        }
    }
}

static inline void push(const crRowUnit* unit, int n, const double* dp, double* z) {
    for (int k = 0; k < unit->width; k++) {
        double sum = unit->H[k] * dp[0];
        for (int r = 1; r < n; r++) {
            sum += unit->H[r * unit->width + k] * dp[r];
        }
        z[unit->col[k]] += sum;
    }
}

// Solves a unit by local.c, whose impulses and velocities are scaled by E.
static void solve_local(const crRowUnit* unit, const double* E, const double* u, const double* p,
                        double* next) {
    int n = unit->local.count;
    double q[CR_UNIT_ROWS] = {0}, x[CR_UNIT_ROWS] = {0};
    for (int a = 0; a < n; a++) {
        double sum = u[a];
        for (int b = 0; b < n; b++) {
            sum -= unit->D[a * n + b] * p[b];
        }
        q[a] = E[a] * sum;
        x[a] = E[a] > 0.0 ? p[a] / E[a] : 0.0;
    }
    cr__local_solve(&unit->local, q, x);
    for (int a = 0; a < n; a++) {
        next[a] = E[a] * x[a];
    }
}

// True if the contact sticks or opens; sets its impulse then.
static inline bool sticks(const crRowUnit* unit, int n, const double* E, const double* u, const double* p,
                          double* next) {
    double free = u[0];
    for (int b = 0; b < n; b++) {
        free -= unit->D[b] * p[b];
    }
    for (int a = 0; a < n; a++) {
        double sum = p[a];
        for (int b = 0; b < n; b++) {
            sum -= unit->G[a * n + b] * u[b];
        }
        next[a] = free >= 0.0 ? 0.0 : sum;
    }
    bool inside = next[0] > 0.0;
    for (int k = 0; k < unit->local.part_count; k++) {
        const crUnitPart* part = &unit->local.part[k];
        double size = 0.0;
        for (int a = part->at; a < part->at + part->count; a++) {
            size += next[a] / E[a] * (next[a] / E[a]);
        }
        inside = inside && size <= next[0] * next[0];
    }
    return free >= 0.0 || inside;
}

// Solves one unit of n rows.
static inline void sweep_rows(crUnits* units, crRowUnit* unit, int n, double* z) {
    int row = unit->local.row;
    double u[CR_UNIT_ROWS] = {0}, next[CR_UNIT_ROWS] = {0};
    double* p = units->p + row;
    double* dp = units->dp + row;
    velocity(unit, n, units->e + row, z, u);
    unit->sure = unit->G != NULL && sticks(unit, n, units->E + row, u, p, next);
    if (!unit->sure) solve_local(unit, units->E + row, u, p, next);
    unit->along = unit->change = 0.0;
    for (int r = 0; r < n; r++) {
        double w = unit->D[r * (n + 1)];
        dp[r] = next[r] - p[r];
        p[r] = next[r];
        unit->along += w * dp[r] * units->direction[row + r];
        unit->change += w * dp[r] * (w * dp[r]);
    }
    push(unit, n, dp, z);
}

// Solves a unit of one row: limits, motors, dry friction, contacts without friction.
static void sweep_row(crUnits* units, crRowUnit* unit, double* z) {
    if (!(unit->D[0] > 0.0)) {
        sweep_rows(units, unit, 1, z);
        return;
    }
    int row = unit->local.row;
    double u, w = unit->D[0], p = units->p[row];
    velocity(unit, 1, units->e + row, z, &u);
    double next = p - u / w;
    if (unit->local.kind == CR_BLOCK_BOX) {
        next = fmin(unit->local.hi, fmax(unit->local.lo, next));
    } else if (unit->local.kind != CR_BLOCK_EQUALITY) {
        next = fmax(0.0, next);
    }
    double dp = next - p;
    unit->sure = true;
    units->p[row] = next;
    units->dp[row] = dp;
    unit->along = w * dp * units->direction[row];
    unit->change = w * dp * (w * dp);
    if (dp != 0.0) push(unit, 1, &dp, z);
}

typedef struct Sweep {
    crUnits* units;
    double* z;
} Sweep;

static void sweep_islands(void* ctx, int begin, int end) {
    const Sweep* sweep = ctx;
    crUnits* units = sweep->units;
    for (int i = begin; i < end; i++) {
        if (!units->island[i].live) continue;
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            crRowUnit* unit = &units->unit[k];
            if (unit->local.count == 1) {
                sweep_row(units, unit, sweep->z);
            } else if (unit->local.count == 3) {
                sweep_rows(units, unit, 3, sweep->z);
            } else {
                sweep_rows(units, unit, unit->local.count, sweep->z);
            }
        }
    }
}

void cr__units_sweep(crUnits* units, double* z, crTasks* tasks) {
    if (units == NULL) return;
    Sweep sweep = {units, z};
    cr__tasks_for(tasks, units->islands, 4, sweep_islands, &sweep);
}

void cr__units_begin(crUnits* units) {
    if (units == NULL) return;
    memset(units->direction, 0, (size_t)units->rows * sizeof(double));
    for (int i = 0; i < units->islands; i++) {
        double* weight = &units->island[i].weight;
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crRowUnit* unit = &units->unit[k];
            for (int r = 0; r < unit->local.count; r++) {
                *weight = fmax(*weight, unit->D[r * (unit->local.count + 1)]);
            }
        }
    }
}

void cr__units_apply(const crUnits* units, double* z) {
    for (int i = 0; units != NULL && i < units->count; i++) {
        const crRowUnit* unit = &units->unit[i];
        push(unit, unit->local.count, units->p + unit->local.row, z);
    }
}

void cr__units_add_work(const crUnits* units, double* work) {
    for (int i = 0; units != NULL && i < units->islands; i++) {
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crUnit* unit = &units->unit[k].local;
            for (int r = unit->row; r < unit->row + unit->count; r++) {
                work[i] += units->p[r] * units->e[r];
            }
        }
    }
}

void cr__units_scale(crUnits* units, const double* scale) {
    for (int i = 0; units != NULL && i < units->islands; i++) {
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crUnit* unit = &units->unit[k].local;
            for (int r = unit->row; r < unit->row + unit->count; r++) {
                units->p[r] *= scale[i];
            }
        }
    }
}

// True if Newton's method is tried after this number of sweeps.
static bool newton_is_due(int sweeps) { return sweeps == 1 || sweeps == 5 || sweeps == 12 || sweeps == 25; }

void cr__units_judge(crUnits* units, double* z) {
    for (int i = 0; units != NULL && i < units->islands; i++) {
        crPackedIsland* island = &units->island[i];
        if (!island->live) continue;
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crRowUnit* unit = &units->unit[k];
            // a NaN counts as large
            if (!(unit->change <= island->change)) island->change = unit->change;
            island->along += cr__packed_along(unit->along, island->scale);
        }
        bool open = !(island->change <= island->tol * island->tol);
        // a contact that slips, or whose local problem is singular, may keep its impulse without being solved
        if (!open && !cr__units_hold(units, i, SLACK * island->tol, z)) island->change = (double)INFINITY;
        if (open && newton_is_due(island->sweeps + 1)) {
            cr__units_newton(units, i, island->tol, z, &island->change);
        }
    }
}

void cr__units_accelerate(crUnits* units, const double* beta, const double* keep) {
    for (int i = 0; units != NULL && i < units->islands; i++) {
        if (!units->island[i].live) continue;
        for (int k = units->first[i]; k < units->first[i + 1]; k++) {
            const crUnit* unit = &units->unit[k].local;
            for (int r = unit->row; r < unit->row + unit->count; r++) {
                units->direction[r] = keep[i] * units->direction[r] + units->dp[r];
                units->p[r] += beta[i] * units->direction[r];
            }
        }
    }
}
