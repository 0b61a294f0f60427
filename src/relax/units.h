// units.h - rows that join the packed sweeps: contacts of trees or with other friction, loops, limits, motors.
//
// A tree's velocities stand in z as D^1/2 L v (M = L^T D L), so that rows of H = J L^-1 D^-1/2 give u = e + H z
// and an impulse p moves z by H^T p; a row reaches the velocities above its two bodies and no others. Units of
// one island go one after another, islands side by side.
#ifndef CAROM_RELAX_UNITS_H
#define CAROM_RELAX_UNITS_H

#include "relax/packed_solve.h"
#include "relax/system.h"

#define CR_NEWTON_ROWS 150  // of an island that Newton's method is tried on

// A block of the problem.
typedef struct crRowUnit {
    crUnit local;     // its rows and limits; D scaled by E
    int width;        // places of z it reaches
    int* col;         // (width)
    const double* H;  // row by row (count*width)
    double* D;        // H H^T as it is (count*count)
    double* G;        // its inverse where limits are discs, NULL: by local.c alone (count*count)
    bool sure;        // the last sweep solved it by a formula
    double change;    // of the last sweep: |diag(D) dp|^2, m^2/s^2
    double along;     // dp diag(D) d likewise, d the direction
} crRowUnit;

typedef struct crUnits {
    int islands;
    const int* first;        // units of island i: first[i] to first[i + 1] - 1 (islands + 1)
    crPackedIsland* island;  // what the sweeps do with each (islands)
    crRowUnit* unit;         // (count)
    int count;
    int rows;
    double* E;          // scale of each row's impulse, see system.h (rows)
    double* e;          // velocity that is given, and the bias (rows)
    double* p;          // impulses (rows)
    double* dp;         // change of the last sweep (rows)
    double* direction;  // of the last sweeps together (rows)
    bool* mixed;        // islands that packed contacts are in too (islands)
    int* where;         // work: -1 between uses (places of z)
    double* room;       // work of Newton's method
    int* index;         // likewise
    int places;         // strides of z that trees take
    int base;           // the first of these in z
    int* column;        // place of each velocity of a tree, from the first that trees take (nv)
} crUnits;

// A unit for each block of a problem posed with W = H H^T and given velocities w_hat, its impulses p: those of island i are order[first[i]] to order[first[i + 1] - 1].
crStatus cr__units_create(const crInertias* of, const crProblem* problem, const double* w_hat, double* p,
                          const int* island_of_body, int islands, const int* order, const int* first,
                          crUnits* units);
// Places of trees in z and z_free after those of the bodies there are, and of every unit.
crStatus cr__units_place(const crInertias* of, const int* island_of_body, const double* v, crUnits* units,
                         crPacked* packed);
// Velocities v (nv) of trees in the coordinates of z, from their first place on.
void cr__units_coordinates(const crInertias* of, const double* v, const crUnits* units, double* z);

// These do nothing where units is NULL.
void cr__units_begin(crUnits* units);                             // no direction yet, weights of islands
void cr__units_sweep(crUnits* units, double* z, crTasks* tasks);  // islands that are live
void cr__units_apply(const crUnits* units, double* z);            // z += H^T p
void cr__units_add_work(const crUnits* units, double* work);      // += p.e of each island (islands)
void cr__units_scale(crUnits* units, const double* scale);        // p of each island (islands)
// Changes of the last sweep into the islands; some that are left go on by Newton's method.
void cr__units_judge(crUnits* units, double* z);
void cr__units_accelerate(crUnits* units, const double* beta, const double* keep);

// Room for Newton's method on the largest island that it may take.
crStatus cr__units_newton_create(crArena* arena, crUnits* units);
// Newton's method on a whole island until its map is within tol (m/s), which it then is in *change, squared.
// false: nothing has changed.
bool cr__units_newton(crUnits* units, int island, double tol, double* z, double* change);
// Whether the maps of an island's units that are not sure are within tol, m/s.
bool cr__units_hold(const crUnits* units, int island, double tol, const double* z);

#endif
