// system.h - a problem by rows of W, scaled so that every friction limit is one, for the friction solvers.
//
// With E = diag(1, mu, mu2, mu_spin, mu_roll, mu_roll) on a cone, a unit's x = inverse(E) p obeys
// |x_part| <= x_n for each part (tangential, spin, rolling), and w = E (W p + q) is the scaled velocity:
// w_part points against x_part if x_part is at its limit. Infinite limits keep E = 1 and are marked free;
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
    crAuditor* auditor;  // audit of the problem, reads W
} crSystem;

// Fills system, with memory from the arena. Fails: CR_ERR_MEMORY.
crStatus cr__system_create(crSystem* system, const crProblem* problem, crArena* arena);

// x = inverse(E) p; rows with E = 0 and numbers that are not finite give 0.
void cr__system_from_p(const crSystem* system, const double* p, double* x);
// p = E x
void cr__system_to_p(const crSystem* system, const double* x, double* p);

// w = E (W E x + q): all rows (n), or the rows of one unit (unit->count).
void cr__system_velocity(const crSystem* system, const double* x, double* w);
void cr__system_unit_velocity(const crSystem* system, const crUnit* unit, const double* x, double* w);

// Adds E W E x in the rows of one unit to w (unit->count).
void cr__system_add_product(const crSystem* system, const crUnit* unit, const double* x, double* w);

// Returns the audit's residual of p = E x. Overwrites system->p.
double cr__system_residual(const crSystem* system, const double* x);

// Projects x onto the unit's limits: boxes and normal impulses are clamped, then each friction part goes to
// the nearest point of its limit at that normal impulse. Equality rows stay unchanged.
void cr__unit_clamp(const crUnit* unit, double* x);

// Result of one run of a method.
typedef struct crMethodRun {
    int steps;        // steps taken
    double residual;  // the audit's residual of the best point
    bool stalled;     // true if the run ended before its limit because steps no longer reduced the residual
} crMethodRun;

#endif
