// contact_islands.h - one contact solve by islands: sweeps over packed contacts and rows, then what they left
// unsolved.
#ifndef CAROM_STEP_CONTACT_ISLANDS_H
#define CAROM_STEP_CONTACT_ISLANDS_H

#include "relax/units.h"
#include "step/islands.h"

typedef struct crIslandSolve {
    crIslands islands;
    crPackedIsland* of;        // what the sweeps did (islands.count)
    bool* dirty;               // to be solved in this round (islands.count)
    bool* open;                // bodies whose island sweeps left unsolved, from round to round (nb)
    bool* exact;               // solved by the problem's solver instead (islands.count)
    crPacked packed;           // contacts as they are swept
    int count;                 // packed contacts
    int* index;                // in step->contacts (count)
    crPackedContact* contact;  // (count)
    double* b;                 // bias (count)
    int* rests;     // bodies of each that may be about to rest; negative: it is not (islands.count)
    double* dv;     // M^-1 J^T P (nv)
    bool posed;     // step->posed.problem holds what is not packed
    crUnits units;  // its blocks
    int* order;     // blocks by islands (problem.block_count)
    int* first;     // of each island (islands.count + 1)
} crIslandSolve;

// state.v, impulses and warm start from the contacts that take part; u_free is their velocity without
// impulses (contacts.count). fresh: contacts that a round before did not have (NULL in the first); islands
// without any keep their impulses. solve->open is the caller's, all else is made.
crStatus cr__step_solve_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                                const crVec3* u_free, crIslandSolve* solve, crError* error);
// The islands that sweeps left unsolved, swept on and then as exact.c solves them, but for those that contacts were
// added to since (added NULL: all of them); takes: the contacts of that solve. changed: whether there were any.
crStatus cr__step_finish_islands(crStep* step, double h, const bool* takes, const bool* added,
                                 crIslandSolve* solve, bool* changed, crError* error);

// No body's island counts as left unsolved.
void cr__step_close_all(const crStep* step, crIslandSolve* solve);

// Islands whose bodies were slow before the solve and are at rest after it get v = 0; false: v is as it was.
bool cr__step_settle(crStep* step, const crIslandSolve* solve);

#endif
