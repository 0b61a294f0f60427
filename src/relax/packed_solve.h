// packed_solve.h - what each island of a packed solve is asked for and gets.
#ifndef CAROM_RELAX_PACKED_SOLVE_H
#define CAROM_RELAX_PACKED_SOLVE_H

#include "relax/packed.h"

typedef struct crPackedIsland {
    bool live;        // in: has contacts to be solved
    double tol;       // in: largest change of a velocity by a sweep that counts as solved, m/s
    double aim;       // in: and the one that its sweeps go on to, m/s; 0: tol
    int early;        // in: sweeps after which tol becomes
    double late;      // this, m/s: errors are many changes then; 0: it stays
    int limit;        // in: sweeps
    int fade;         // in: the last ones, over which momentum fades; 0: it does not
    bool solved;      // out
    int sweeps;       // out
    double change;    // of the last sweep, squared, m^2/s^2
    double least;     // of these since they grew
    double weight;    // largest inverse mass, or w of a row
    int64_t along;    // sum of w dP.d of the last sweep, d the direction it started with, times scale
    double scale;     // 2^30 weight over the largest change of the sweep before
    double momentum;  // Nesterov's t
} crPackedIsland;

// What a contact adds to along: whole numbers, at most 2^43, have one sum in any order. What is not a number
// goes against the direction.
static inline int64_t cr__packed_along(double along, double scale) {
    const double most = 0x1p43;
    double units = along * scale, above = units > -most ? units : -most;
    return (int64_t)(above < most ? above : most);
}

crStatus cr__packed_solve(crPacked* packed, crPackedIsland* island, int count, crArena* arena);
// w of the contacts, and P of those whose island was swept; others keep theirs, bit by bit.
void cr__packed_results(crPacked* packed, const crPackedIsland* island);

#endif
