// system.h - a problem made ready for the friction solvers: rows of W, and every friction limit scaled to
// one.
//
// With E = diag(1, mu, mu2, mu_spin, mu_roll, mu_roll) on a cone, a unit's x = inverse(E) p obeys
// |x_part| <= x_n for each part (tangential, spin, rolling), and w = E (W p + q) is the velocity to match:
// w_part points against x_part where it is at its limit. Infinite limits keep E = 1 and are marked free;
// polygons keep E = 1 and their vertices.
#ifndef CAROM_RELAX_SYSTEM_H
#define CAROM_RELAX_SYSTEM_H

#include "carom/problem.h"
#include "problem/audit.h"
#include "relax/unit.h"

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
