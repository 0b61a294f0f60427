// unit.h - one row or one contact by itself: the maps whose fixed points are its laws.
//
// A unit is a cone block, or one row of another block. Friction acts in parts (tangential, spin, rolling),
// each a disc whose radius is `limit` times the normal impulse, or a polygon. Impulses and velocities of an
// ellipse are scaled so that it is a disc. With a diagonal R > 0 that is the same on all rows of a part:
//
//     p = law(p - R u)      exactly at solutions of the unit (Alart and Curnier 1991)
#ifndef CAROM_RELAX_UNIT_H
#define CAROM_RELAX_UNIT_H

#include "carom/problem.h"

#define CR_RELAX_ROWS  6  // rows of a unit at most
#define CR_RELAX_PARTS 4  // friction parts of a unit at most

typedef struct crRelaxPart {
    int at;        // first row within the unit
    int count;     // 1 or 2
    double limit;  // radius of the disc over the normal impulse; INFINITY: no limit while pressed
    bool polygon;  // true if the unit's polygon takes the place of the disc
} crRelaxPart;

typedef struct crRelaxUnit {
    crBlockKind kind;
    int block;   // the problem's block
    int row;     // first row among the island's rows
    int count;   // rows
    int source;  // first row in the problem
    int plane;   // cone: normal and tangential rows; other kinds: 1
    int part_count;
    crRelaxPart part[CR_RELAX_PARTS];
    int vertex_count;             // of the polygon, 0 without
    const double (*vertices)[2];  // (vertex_count)
    double lo, hi;                // box
    int touch, touch_count;       // its touches in the island
    size_t square;                // where its count*count numbers begin in arrays of matrices
    bool plain;                   // true if the unit is no cone, or a cone with one disc of finite limit
} crRelaxUnit;

// The unit of `count` rows of a block; E (count) receives the scaling p = E x, u_x = E u of its rows.
void cr__relax_cut(const crProblem* problem, const crBlock* block, int count, crRelaxUnit* unit, double* E);

// x = law(q). D, if not NULL, receives the derivative (count*count, row by row).
void cr__relax_law(const crRelaxUnit* unit, const double* q, double* x, double* D);

// Nearest point of the unit's convex set of impulses: the cone |x_t| <= limit x_n in place of Coulomb's law.
// Plain units only. D as above.
void cr__relax_nearest(const crRelaxUnit* unit, const double* q, double* x, double* D);

// The largest slip the friction set feeds back into the normal direction: limit |u_t| of a plain cone, else
// 0.
double cr__relax_shift(const crRelaxUnit* unit, const double* u);

// A pair (x, y) that obeys the unit's laws exactly, near impulses x and velocities u; weight (count): the
// velocity per impulse of each row.
void cr__relax_witness(const crRelaxUnit* unit, const double* weight, const double* p, const double* u,
                       double* x, double* y);

#endif
