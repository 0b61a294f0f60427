// space.h - one island of a problem in body space, prepared for factorizations.
//
// Generalized velocities form groups (a free body, a tree) with Minv = L L^T. H = E J L, c = E (u_free + b),
// where E scales friction ellipses to discs. Impulses x (p = E x) give z = H^T x and velocities u = H z + c.
// Newton's method and alternating directions factor
//
//     A(G) = 1 + H^T G H,     G one small matrix per unit
//
// whose size and pattern depend on the groups and on the pairs of them that touch, not on the number of contacts.
#ifndef CAROM_RELAX_SPACE_H
#define CAROM_RELAX_SPACE_H

#include "linalg/sparse.h"
#include "unit.h"

// A problem's velocities by groups and its blocks by islands. No row couples two islands.
typedef struct crBodies {
    const crProblem* problem;
    int groups;
    int* group_of;   // group of each generalized velocity, -1 if no block acts on it (nv)
    int* seat;       // place of each generalized velocity in its group (nv)
    int* size;       // velocities of each group (groups)
    int* first;      // first velocity of each group in `velocity` (groups + 1)
    int* velocity;   // velocities by groups (nv)
    size_t* factor;  // where each group's L begins in `L`, size*size numbers by rows (groups)
    double* L;       // lower triangular factors of all groups
    int* number;     // number of each group in its island, -1 until the island's space is created (groups)
    int* last;       // stamp of the last pass and unit that acts on each group (groups)
    int islands;
    int* island_first;  // first block of each island in `block` (islands + 1)
    int* block;         // blocks by islands, ascending within an island (block_count)
    int* row_start;     // first entry of each row of J (rows + 1)
    int* row_col;       // columns of J's entries
    double* row_value;  // values of J's entries
} crBodies;

crStatus cr__bodies_create(crBodies* bodies, const crProblem* problem, crArena* arena);

// One unit's part of H, in the columns of one group.
typedef struct crTouch {
    int group;  // the group's number in the island
    int from;   // the group's first entry in z
    int size;   // velocities of the group
    size_t H;   // where this part begins in crSpace.H, unit count x size numbers by rows
} crTouch;

typedef struct crSpace {
    int units, rows;
    crUnit* unit;  // (units)
    int touches;
    crTouch* touch;  // (touches)
    int groups;
    int* size;       // velocities of each group (groups)
    int nz;          // velocities of all groups
    double* H;       // parts of H by touches
    double* c;       // velocities without impulses (rows)
    double* E;       // p = E x (rows)
    double* W;       // diagonal blocks of H H^T, one per unit, at crUnit.square
    double* weight;  // mean velocity per impulse over the row's part, > 0 (rows)
    double* lambda;  // trace of W over the row's part, >= 0 (rows)
    size_t squares;  // length of an array that holds one matrix per unit
    double scale;    // |c|
    double mean;     // mean of `weight`
    double demand;   // largest change of velocity that the laws ask for at zero impulse, m/s
    crSparse sparse;
    size_t* pair;        // where the block of each pair of a unit's touches begins in sparse.value, by units
    int* pair_first;     // first entry of each unit in `pair` (units)
    double* G;           // matrices G of all units, set before cr__space_factor (squares)
    int factorizations;  // calls of cr__space_factor so far
} crSpace;

// Fills the space of one island, with memory from the arena. Fails: CR_ERR_MEMORY.
crStatus cr__space_create(crSpace* space, const crBodies* bodies, int island, crArena* arena);

void cr__space_to(const crSpace* space, const double* p, double* x);    // sets x = p / E from the problem's p
void cr__space_from(const crSpace* space, const double* x, double* p);  // sets p = E x in the island's rows
void cr__space_gather(const crSpace* space, const double* x, double* z);    // z = H^T x
void cr__space_product(const crSpace* space, const double* z, double* u);   // u = H z
void cr__space_velocity(const crSpace* space, const double* z, double* u);  // u = H z + c

// Factors A(G) for the matrices in space->G. Returns false if A(G) is singular.
bool cr__space_factor(crSpace* space, crSparseKind kind);

// Room of gaps: the normal velocity of a contact may differ from zero by at most `room` while it presses. Its
// impulse is then soft, x_n = max(0, anchor - SOFT u_n / weight) within the room (space_use.c).
typedef struct crSoft {
    double room;           // m/s; 0: the laws are exact
    const double* anchor;  // impulses at which gaps are as posed (rows)
} crSoft;

// Sets x = law(q) of a unit, q = x - R u, and D to its derivative by q unless NULL (count*count). R, q, x: of
// the unit's rows. The fixed points x = law(x - R u) satisfy the unit's laws with its room for any R.
void cr__space_law(const crSpace* space, const crSoft* soft, const crUnit* unit, const double* R,
                   const double* q, double* x, double* D);

// Returns the residual |w (x - law(x - u / w))| over all rows, relative to |c| unless c = 0. u is the
// velocity of x. Returns INFINITY if the residual is not finite.
double cr__space_residual(const crSpace* space, const crSoft* soft, const double* x, const double* u);

// Returns the backward error of x in m/s: the largest change of a unit's bias with which impulses near x are
// exact. `each` receives the error of every unit, unless NULL (units). `work` holds 2 rows + nz numbers.
// Returns INFINITY if the error is not finite.
double cr__space_error(const crSpace* space, const double* x, const double* u, double* work, double* each);

#endif
