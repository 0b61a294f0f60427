// units.h - rows in the packed sweeps: contacts of trees or with special friction, loops, limits, motors.
//
// Special friction is anisotropic, infinite, polygonal, of spin or of rolling. A tree's velocities are stored
// in z as D^1/2 L v (M = L^T D L), so that u = e + H z with H = J L^-1 D^-1/2, and an impulse p changes z by
// H^T p. A row reaches only the velocities of its two bodies and of their ancestors. Units of one island are
// swept one after another, islands in parallel.
#ifndef CAROM_RELAX_UNITS_H
#define CAROM_RELAX_UNITS_H

#include "relax/packed_solve.h"
#include "relax/system.h"

#define CR_NEWTON_ROWS 150  // most rows of an island that is solved by Newton's method

// A block of the problem.
typedef struct crRowUnit {
    crUnit local;     // rows and limits; D scaled by E
    int width;        // number of places of z that its rows reach
    int* col;         // these places (width)
    const double* H;  // row by row (count*width)
    double* D;        // H H^T (count*count)
    double* G;        // inverse of D if limits are discs; NULL: solved by local.c only (count*count)
    bool sure;        // true if the last sweep solved the unit by a formula
    double change;    // |diag(D) dp|^2 of the last sweep, m^2/s^2
    double along;     // dp.diag(D) d of the last sweep, d: momentum direction
} crRowUnit;

typedef struct crUnits {
    int islands;
    const int* first;        // units of island i: first[i] to first[i + 1] - 1 (islands + 1)
    crPackedIsland* island;  // state of each island in the sweeps (islands)
    crRowUnit* unit;         // (count)
    int count;
    int rows;
    double* E;          // scale of each row's impulse, see system.h (rows)
    double* e;          // given velocity, plus the bias (rows)
    double* p;          // impulses (rows)
    double* dp;         // change of p in the last sweep (rows)
    double* direction;  // momentum direction d of packed.c (rows)
    bool* mixed;        // true for each island that also has packed contacts (islands)
    int* where;         // work: -1 between uses (places of z)
    double* room;       // work of Newton's method
    int* index;         // work of Newton's method
    int places;         // number of strides of z that trees take
    int base;           // offset in z of the first of these strides
    int* column;        // offset of each velocity of a tree from `base`; -1: none (nv)
} crUnits;

// Makes a unit for each block of a problem posed with W = H H^T (H in problem->J), given velocities w_hat and
// impulses p. The blocks of island i are order[first[i]] to order[first[i + 1] - 1]. CR_ERR_MEMORY.
crStatus cr__units_create(const crInertias* of, const crProblem* problem, const double* w_hat, double* p,
                          const int* island_of_body, int islands, const int* order, const int* first,
                          crUnits* units);
// Adds places of trees to z_free behind those of the packed bodies, and sets the places that each unit
// reaches. CR_ERR_MEMORY.
crStatus cr__units_place(const crInertias* of, const int* island_of_body, const double* v, crUnits* units,
                         crPacked* packed);
// Converts velocities v (nv) of trees to the coordinates of z; z starts at their first place.
void cr__units_coordinates(const crInertias* of, const double* v, const crUnits* units, double* z);

// The following functions do nothing if units is NULL.
void cr__units_begin(crUnits* units);  // clears momentum, updates weights of islands
void cr__units_sweep(crUnits* units, double* z, crTasks* tasks);  // one sweep over live islands
void cr__units_apply(const crUnits* units, double* z);            // z += H^T p
void cr__units_add_work(const crUnits* units, double* work);      // adds p.e of each island (islands)
void cr__units_scale(crUnits* units, const double* scale);        // scales p of each island (islands)
// Adds the changes of the last sweep to the islands, and tries Newton's method on unsolved ones at times.
void cr__units_judge(crUnits* units, double* z);
// Extrapolates p of live islands by momentum: d = keep d + dp, p += beta d.
void cr__units_accelerate(crUnits* units, const double* beta, const double* keep);

// Allocates working data for Newton's method on the largest island that it may take. CR_ERR_MEMORY.
crStatus cr__units_newton_create(crArena* arena, crUnits* units);
// Solves a whole island by Newton's method until the largest entry of its map is within tol, m/s, and sets
// *change to that entry squared. Returns false and changes nothing if it does not converge or is not tried.
bool cr__units_newton(crUnits* units, int island, double tol, double* z, double* change);
// True if the maps of all units of an island that are not `sure` are within tol, m/s.
bool cr__units_hold(const crUnits* units, int island, double tol, const double* z);

#endif
