// packed_solve.h - what each island of a packed solve is asked for and gets.
#ifndef CAROM_STEP_PACKED_SOLVE_H
#define CAROM_STEP_PACKED_SOLVE_H

#include "step/packed.h"

typedef struct crPackedIsland {
    bool live;        // in: has contacts to be solved
    double tol;       // in: largest change of a velocity by a sweep that counts as solved, m/s
    int limit;        // in: sweeps
    bool solved;      // out
    int sweeps;       // out
    double change;    // of the last sweep, squared, m^2/s^2
    int64_t along;    // sum of cr__packed_along of the last sweep
    double momentum;  // Nesterov's t
} crPackedIsland;

// w^2 dP.d of a contact, d the direction its sweep started with, in 2^-10 tol^2 and cut at 2^40 of them: whole
// numbers have one sum in any order. What is not a number goes against d.
static inline double cr__packed_unit(double tol) { return 0x1p10 / fmax(tol * tol, 0x1p-1000); }
static inline int64_t cr__packed_along(double along, double unit) {
    const double most = 0x1p40;
    double units = along * unit, above = units > -most ? units : -most;
    return (int64_t)(above < most ? above : most);
}

crStatus cr__packed_solve(crPacked* packed, crPackedIsland* island, int count, crArena* arena);

#endif
