// sweep.c - changes an island's impulses by Gauss-Seidel sweeps over its units in body space.
//
// Each unit in turn takes a few projected steps while the impulses of the other units are fixed: the normal
// impulse is scaled by its diagonal entry, each friction part by the largest eigenvalue of its block. Every
// change updates z = H^T x. Fails: never; convergence is slow if heavy bodies rest on light ones.
#include "stage.h"

#define STEPS 4  // projected steps of a unit per sweep

// Returns the largest eigenvalue of W over the rows of a part.
static double part_stiffness(const crUnitPart* part, const double* W, int n) {
    double a = W[part->at * (n + 1)];
    if (part->count == 1) return a;
    double b = W[(part->at + 1) * (n + 1)], c = W[part->at * n + part->at + 1];
    return 0.5 * (a + b) + sqrt(0.25 * (a - b) * (a - b) + c * c);
}

// Fills d with the change of the unit's impulses x; u are its velocities at x.
static void solve_unit(const crUnit* unit, const double* W, const double* x, const double* u, double* d) {
    int n = unit->count;
    double stiff[CR_UNIT_ROWS] = {W[0]};
    for (int k = 0; k < unit->part_count; k++) {
        const crUnitPart* part = &unit->part[k];
        stiff[part->at] = part_stiffness(part, W, n);
        if (part->count == 2) stiff[part->at + 1] = stiff[part->at];
    }
    for (int a = 0; a < n; a++) {
        d[a] = 0.0;
    }
    int steps = n == 1 ? 1 : STEPS;
    for (int step = 0; step < steps; step++) {
        double q[CR_UNIT_ROWS], y[CR_UNIT_ROWS];
        // the normal first, then friction at the new normal impulse
        for (int half = 0; half < (n == 1 ? 1 : 2); half++) {
            for (int a = 0; a < n; a++) {
                double v = u[a], w = stiff[a];
                for (int b = 0; b < n; b++) {
                    v += W[a * n + b] * d[b];
                }
                q[a] = x[a] + d[a] - (w > 0.0 && (half == 1) == (a > 0) ? v / w : 0.0);
            }
            cr__relax_law(unit, q, y, NULL);
            for (int a = 0; a < n; a++) {
                d[a] = y[a] - x[a];
            }
        }
    }
}

// Solves one unit and updates its x and z = H^T x.
static void sweep_unit(const crSpace* s, const crUnit* unit, double* x, double* z) {
    double u[CR_UNIT_ROWS], d[CR_UNIT_ROWS];
    for (int a = 0; a < unit->count; a++) {
        u[a] = s->c[unit->row + a];
        for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
            int n = s->touch[t].size;
            const double *H = s->H + s->touch[t].H + a * n, *from = z + s->touch[t].from;
            for (int j = 0; j < n; j++) {
                u[a] += H[j] * from[j];
            }
        }
    }
    solve_unit(unit, s->W + unit->square, x + unit->row, u, d);
    for (int t = unit->touch; t < unit->touch + unit->touch_count; t++) {
        int n = s->touch[t].size;
        double* to = z + s->touch[t].from;
        for (int a = 0; a < unit->count; a++) {
            const double* H = s->H + s->touch[t].H + a * n;
            for (int j = 0; j < n; j++) {
                to[j] += H[j] * d[a];
            }
        }
    }
    for (int a = 0; a < unit->count; a++) {
        x[unit->row + a] += d[a];
    }
}

void cr__island_sweep(crIsland* island, int count, double* x) {
    const crSpace* s = &island->space;
    cr__space_gather(s, x, island->z);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < s->units; i++) {
            sweep_unit(s, &s->unit[i], x, island->z);
        }
    }
}
