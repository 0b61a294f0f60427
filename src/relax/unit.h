// unit.h - one row or one contact by itself: the maps whose fixed points are its laws.
//
// A unit is what a solver treats at once: a cone block, an equality block of at most six rows, or one row of another
// block. Friction acts in parts (tangential, spin, rolling), each a disc whose radius is `limit` times the normal impulse,
// or a polygon. Impulses and velocities are scaled so that ellipses are discs. With a diagonal R > 0 that is the same on
// all rows of a part:
//
//     p = law(p - R u)      exactly at solutions of the unit (Alart and Curnier 1991)
#ifndef CAROM_RELAX_UNIT_H
#define CAROM_RELAX_UNIT_H

#include "carom/problem.h"

#define CR_UNIT_ROWS  6  // rows of a unit at most
#define CR_UNIT_PARTS 4  // friction parts of a unit at most

typedef struct crUnitPart {
    int at;        // first row within the unit
    int count;     // 1 or 2
    double limit;  // radius of the disc over the normal impulse; INFINITY: no limit while pressed
    bool free;     // true if the limit is infinite
    bool polygon;  // true if the unit's polygon takes the place of the disc
} crUnitPart;

typedef struct crUnit {
    crBlockKind kind;
    int row;    // first row: of the system's or the island's
    int count;  // rows
    int plane;  // cone: normal and tangential rows; other kinds: 1
    int part_count;
    crUnitPart part[CR_UNIT_PARTS];
    int vertex_count;             // of the polygon, 0 without
    const double (*vertices)[2];  // (vertex_count)
    double lo, hi;                // box
    bool plain;                   // true if the unit is no cone, or a cone with one disc of finite limit

    // of a system or of packed rows: every limit is scaled to one
    const double* D;  // diagonal block of E W E (count*count)
    double rho;       // 1 / its largest diagonal entry, 1 where that is zero

    // of an island in body space: discs keep their limits
    int block;               // the problem's block
    int source;              // first row in the problem
    int touch, touch_count;  // its touches in the island
    size_t square;           // where its count*count numbers begin in arrays of matrices
} crUnit;

// The unit of `count` rows from `row` on of a block, and E (count), with which its limits are one: x = inverse(E) p obeys
// |x_part| <= x_n for each part. Infinite limits and polygons keep E = 1.
void cr__unit_cut(const crProblem* problem, const crBlock* block, int row, int count, crUnit* unit,
                  double* E);
// The same with discs of radius `limit`, row 0: p = E x and u_x = E u make ellipses discs.
void cr__relax_cut(const crProblem* problem, const crBlock* block, int count, crUnit* unit, double* E);

// x = law(q). D, if not NULL, receives the derivative (count*count, row by row).
void cr__relax_law(const crUnit* unit, const double* q, double* x, double* D);

// Nearest point of the unit's convex set of impulses: the cone |x_t| <= limit x_n in place of Coulomb's law.
// Plain units only. D as above.
void cr__relax_nearest(const crUnit* unit, const double* q, double* x, double* D);

// The largest slip the friction set feeds back into the normal direction: limit |u_t| of a plain cone, else
// 0.
double cr__relax_shift(const crUnit* unit, const double* u);

// A pair (x, y) that obeys the unit's laws exactly, near impulses x and velocities u; weight (count): the
// velocity per impulse of each row.
void cr__relax_witness(const crUnit* unit, const double* weight, const double* p, const double* u, double* x,
                       double* y);

#endif
