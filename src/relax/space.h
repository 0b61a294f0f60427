// space.h - one island of a problem in body space, ready for factorizations.
//
// Minv = L L^T per group of generalized velocities (a free body, a tree), H = E J L, c = E (u_free + b),
// where E scales ellipses to discs. Impulses x (p = E x) give z = H^T x and velocities u = H z + c. Newton
// steps and alternating directions all solve with
//
//     A(G) = 1 + H^T G H,     G one small matrix per unit
//
// whose pattern is that of the contacts between groups, whatever the number of contacts.
#ifndef CAROM_RELAX_SPACE_H
#define CAROM_RELAX_SPACE_H

#include "linalg/sparse.h"
#include "unit.h"

// The problem's velocities in groups, and its blocks in islands: no row couples two islands.
typedef struct crBodies {
    const crProblem* problem;
    int groups;
    int* group_of;   // group of each generalized velocity, -1 if no block acts on it (nv)
    int* seat;       // its place in the group (nv)
    int* size;       // velocities of each group (groups)
    int* first;      // first velocity of each group in `velocity` (groups + 1)
    int* velocity;   // velocities by groups (nv)
    size_t* factor;  // where a group's L begins, size*size numbers row by row (groups)
    double* L;       // lower triangles
    int* number;     // group's number in its island, -1 before that is made (groups)
    int* last;       // last unit met that acts on the group, counted anew in each pass (groups)
    int islands;
    int* island_first;  // first block of each island in `block` (islands + 1)
    int* block;         // blocks by islands, ascending in each (block_count)
    int* row_start;     // J by rows: first entry (rows + 1)
    int* row_col;       // columns of its entries
    double* row_value;  // entries
} crBodies;

crStatus cr__bodies_create(crBodies* bodies, const crProblem* problem, crArena* arena);

// What a unit has to do with one group.
typedef struct crTouch {
    int group;  // of the island
    int from;   // first entry of the group in z
    int size;   // its velocities
    size_t H;   // where its part of H begins: unit count x size numbers
} crTouch;

typedef struct crSpace {
    int units, rows;
    crUnit* unit;  // (units)
    int touches;
    crTouch* touch;  // (touches)
    int groups;
    int* size;       // velocities of each group (groups)
    int nz;          // of all groups
    double* H;       // by touches
    double* c;       // velocities without impulses (rows)
    double* E;       // p = E x (rows)
    double* W;       // H H^T within each unit, by crUnit.square
    double* weight;  // mean velocity per impulse of a row's part, > 0 (rows)
    double* lambda;  // trace of W over a row's part, >= 0 (rows)
    size_t squares;  // numbers in arrays of one matrix per unit
    double scale;    // |c|
    double mean;     // mean weight
    double demand;   // largest speed that the laws ask to change at zero impulse, m/s
    bool plain;      // true if all units are plain
    crSparse sparse;
    size_t* pair;  // where unit blocks go in sparse.value, per unit: (touch, touch) in the order of assembly
    int* pair_first;  // (units)
    double* G;        // one matrix per unit, for cr__space_factor (squares)
    int factorizations;
} crSpace;

crStatus cr__space_create(crSpace* space, const crBodies* bodies, int island, crArena* arena);

void cr__space_to(const crSpace* space, const double* p, double* x);    // the island's x from the problem's p
void cr__space_from(const crSpace* space, const double* x, double* p);  // and back
void cr__space_gather(const crSpace* space, const double* x, double* z);    // z = H^T x
void cr__space_product(const crSpace* space, const double* z, double* u);   // u = H z
void cr__space_velocity(const crSpace* space, const double* z, double* u);  // u = H z + c

// Factors A(G) of space->G; false if it is singular.
bool cr__space_factor(crSpace* space, crSparseKind kind);

// |w (x - law(x - u / w))| over all rows, relative to |c|; u belongs to x. INFINITY if not finite.
double cr__space_residual(const crSpace* space, const double* x, const double* u);

// The backward error of x in m/s: the largest change of bias in any unit that makes a neighbour of x exact.
// each (units), unless NULL: that of every unit. work holds 2 rows + nz numbers. INFINITY if not finite.
double cr__space_error(const crSpace* space, const double* x, const double* u, double* work, double* each);

#endif
