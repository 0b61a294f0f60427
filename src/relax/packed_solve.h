// packed_solve.h - tolerance, limits and results of each island in a packed solve.
#ifndef CAROM_RELAX_PACKED_SOLVE_H
#define CAROM_RELAX_PACKED_SOLVE_H

#include "relax/packed.h"

typedef struct crPackedIsland {
    bool live;        // in: true if the island is to be solved; then true while it is swept
    double tol;       // in: largest velocity change by a sweep of a solved island, m/s
    double aim;       // in: velocity change at which its sweeps end, m/s; 0: tol
    int early;        // in: sweeps after which tol becomes `late`
    double late;      // in: tol of slow islands, whose error is many changes, m/s; 0: tol is kept
    int limit;        // in: most sweeps
    int fade;         // in: number of last sweeps over which momentum fades; 0: it does not fade
    bool solved;      // out: true if the last sweep changed velocities by at most tol
    int sweeps;       // out: sweeps made
    double change;    // largest squared velocity change of the last sweep, m^2/s^2
    double least;     // least `change` since momentum last restarted for growth
    double weight;    // largest inverse mass of a contact, or w of a row, 1/kg
    int64_t along;    // scale times the sum of w dP.d in the last sweep, d: momentum direction at its start
    double scale;     // 2^30 weight over the squared change of the previous sweep
    double momentum;  // Nesterov's t
} crPackedIsland;

// Returns the contribution of a contact to crPackedIsland.along. Whole numbers of at most 2^43 have the same
// sum in any order. A NaN counts as against the direction.
static inline int64_t cr__packed_along(double along, double scale) {
    const double most = 0x1p43;
    double units = along * scale, above = units > -most ? units : -most;
    return (int64_t)(above < most ? above : most);
}

// Returns crPackedIsland.scale for the next sweep.
static inline double cr__packed_scale(double weight, double change, double tol) {
    return 0x1p30 * weight / fmax(change, fmax(tol * tol, 0x1p-900));
}

#define CR_PACKED_GROWTH 16.0  // squared change over the least one beyond which momentum restarts

// Returns the momentum share of the next sweep, after Nesterov, at most `most`, and updates `least` and `momentum`
// of crPackedIsland. The share is zero if the last sweep went against the direction or its change grew: contacts have
// changed their state, and momentum would stir the whole island.
static inline double cr__packed_share(double change, int64_t along, double most, double* least,
                                      double* momentum) {
    bool grows = change > CR_PACKED_GROWTH * *least;
    *least = grows ? change : fmin(*least, change);
    if (grows || along < 0) *momentum = 1.0;
    double next = 0.5 * (1.0 + sqrt(1.0 + 4.0 * *momentum * *momentum));
    double share = fmin((*momentum - 1.0) / next, most);
    *momentum = next;
    return share;
}

// Sweeps until no island (count) is live; sets z, the impulses in `hot` and the results of islands.
// CR_ERR_MEMORY.
crStatus cr__packed_solve(crPacked* packed, crPackedIsland* island, int count, crArena* arena);
// Sets w of all contacts, and P of the contacts whose island was swept. Other contacts keep the bits of P.
void cr__packed_results(crPacked* packed, const crPackedIsland* island);

#endif
