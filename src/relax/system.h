// system.h - a problem made ready for the friction solvers: rows of W, and every friction limit scaled to
// one.
//
// A unit is what a solver treats at once: a cone block, an equality block of at most six rows, or one row of
// any other block. With E = diag(1, mu, mu2, mu_spin, mu_roll, mu_roll) on a cone, x = inverse(E) p obeys
// |x_part| <= x_n for each part (tangential, spin, rolling), and w = E (W p + q) is the velocity to match:
// w_part points against x_part where it is at its limit. Infinite limits keep E = 1 and are marked free;
// polygons keep E = 1 and their vertices.
#ifndef CAROM_RELAX_SYSTEM_H
#define CAROM_RELAX_SYSTEM_H

#include "carom/problem.h"
#include "problem/audit.h"

#define CR_UNIT_ROWS  6  // rows of a unit at most
#define CR_UNIT_PARTS 4  // friction parts of a unit at most

typedef struct crUnitPart {
    int at;        // first row within the unit
    int count;     // 1 or 2
    bool free;     // no limit while pressed
    bool polygon;  // the unit's polygon instead of the unit disc
} crUnitPart;

typedef struct crUnit {
    crBlockKind kind;
    int row;    // first row
    int count;  // rows
    int part_count;
    crUnitPart part[CR_UNIT_PARTS];
    int vertex_count;             // of the polygon, 0 without
    const double (*vertices)[2];  // (vertex_count)
    double lo, hi;                // box
    const double* D;              // diagonal block of E W E (count*count)
    double rho;                   // 1 / its largest diagonal entry, 1 where that is zero
} crUnit;

typedef struct crSystem {
    const crProblem* problem;
    int n;               // rows
    int units;           // units
    crUnit* unit;        // (units)
    int* unit_of;        // unit of each row (n)
    crMatrix W;          // by rows, as given
    double* scaled;      // entries of E W E on the same pattern
    double* E;           // (n)
    double* q;           // u_free + b (n)
    double* p;           // work: E x (n)
    crAuditor* auditor;  // of the problem with these rows of W
} crSystem;

// The unit of `count` rows from `row` on of a block, all but D and rho, and the scaling of its rows.
void cr__unit_cut(const crProblem* problem, const crBlock* block, int row, int count, crUnit* unit,
                  double* E);

crStatus cr__system_create(crSystem* system, const crProblem* problem, crArena* arena);

// x = inverse(E) p, zero where E is.
void cr__system_from_p(const crSystem* system, const double* p, double* x);
void cr__system_to_p(const crSystem* system, const double* x, double* p);

// w = E (W E x + q) on all rows, and on those of one unit.
void cr__system_velocity(const crSystem* system, const double* x, double* w);
void cr__system_unit_velocity(const crSystem* system, const crUnit* unit, const double* x, double* w);

// Adds the rows of E W E of one unit times x to w (unit->count).
void cr__system_add_product(const crSystem* system, const crUnit* unit, const double* x, double* w);

// The audit's residual of p = E x.
double cr__system_residual(const crSystem* system, const double* x);

// Nearest point of the limits at normal impulse max(x_n, 0): clamps boxes, unilateral rows and friction.
void cr__unit_clamp(const crUnit* unit, double* x);

// What a method did from a start.
typedef struct crMethodRun {
    int steps;        // taken
    double residual;  // the audit's, of x, the best seen
    bool stalled;     // ended before the limit because no step helped any more
} crMethodRun;

#endif
