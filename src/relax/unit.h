// unit.h - one row or one contact: maps whose fixed points satisfy the unit's laws.
//
// A unit is a cone block, an equality block of at most six rows, or one row of another block; a solver
// updates its rows together. Friction acts in parts (tangential, spin, rolling). A part is a disc whose
// radius is `limit` times the normal impulse, or a polygon. Impulses and velocities are scaled so that
// friction ellipses become discs. With a diagonal R > 0 that is equal on all rows of a part:
//
//     p = law(p - R u)      exactly at solutions of the unit (Alart and Curnier 1991)
#ifndef CAROM_RELAX_UNIT_H
#define CAROM_RELAX_UNIT_H

#include "carom/problem.h"

#define CR_UNIT_ROWS  6  // most rows of a unit
#define CR_UNIT_PARTS 4  // most friction parts of a unit

typedef struct crUnitPart {
    int at;        // first row within the unit
    int count;     // rows, 1 or 2
    double limit;  // radius of the disc per normal impulse; INFINITY: friction is unlimited
    bool free;     // true if the limit is infinite
    bool polygon;  // true if the set is the unit's polygon, not a disc
} crUnitPart;

typedef struct crUnit {
    crBlockKind kind;
    int row;    // first row in the system or in the island
    int count;  // rows
    int plane;  // normal and tangential rows of a cone; 1 for other kinds
    int part_count;
    crUnitPart part[CR_UNIT_PARTS];
    int vertex_count;             // corners of the polygon, 0 if the unit has none
    const double (*vertices)[2];  // corners at normal impulse 1 (vertex_count)
    double lo, hi;                // range of the impulse of a box row

    // set for units of a system and of packed rows, whose limits are scaled to 1
    const double* D;  // diagonal block of E W E (count*count)
    double rho;       // 1 / the largest diagonal entry of D, 1 if that entry is zero

    // set for units of an island in body space, whose discs keep their limits
    int block;               // block in the problem
    int source;              // first row in the problem
    int touch, touch_count;  // first touch in the island, number of touches
    size_t square;           // where the unit's count*count numbers begin in arrays of matrices
} crUnit;

// Sets `unit` to `count` rows of a block from `row` on, and E (count) so that all limits are 1:
// x = inverse(E) p obeys |x_part| <= x_n for each part. E is 1 for infinite limits and polygons.
void cr__unit_cut(const crProblem* problem, const crBlock* block, int row, int count, crUnit* unit,
                  double* E);
// Sets `unit` with row = 0, and E (count) so that discs keep their `limit`: p = E x and u_x = E u turn
// ellipses into discs.
void cr__relax_cut(const crProblem* problem, const crBlock* block, int count, crUnit* unit, double* E);

// Sets x = law(q). D, if not NULL, receives the derivative (count*count, by rows).
void cr__relax_law(const crUnit* unit, const double* q, double* x, double* D);

// Sets impulses x and velocities y that satisfy the unit's laws exactly, close to impulses p and velocities
// u. `weight` is the velocity per impulse of each row (count).
void cr__relax_witness(const crUnit* unit, const double* weight, const double* p, const double* u, double* x,
                       double* y);

#endif
