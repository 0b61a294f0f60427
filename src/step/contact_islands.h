// contact_islands.h - one contact solve by islands: sweeps over packed contacts and rows, then exact.c.
#ifndef CAROM_STEP_CONTACT_ISLANDS_H
#define CAROM_STEP_CONTACT_ISLANDS_H

#include "relax/units.h"
#include "step/islands.h"

typedef struct crIslandSolve {
    crIslands islands;
    crPackedIsland* of;        // goals and results of the sweeps (islands.count)
    bool* dirty;               // true if the island is solved in this round (islands.count)
    bool* open;                // true for bodies of islands that sweeps left unsolved, kept over rounds (nb)
    bool* exact;               // true if exact.c solves the island (islands.count)
    crPacked packed;           // packed contacts as they are swept
    int count;                 // packed contacts
    int* index;                // their place in step->contacts (count)
    crPackedContact* contact;  // (count)
    double* b;                 // bias (count)
    int* rests;     // bodies of an island that may be about to rest, negative: it is not (islands.count)
    double* dv;     // M^-1 J^T P (nv)
    bool posed;     // true if step->posed.problem holds the blocks that are not packed
    crUnits units;  // the blocks of that problem
    size_t mark;    // of the arena after the arrays by island and dv: what follows is for the sweeps
    int* order;     // blocks sorted by island (problem.block_count)
    int* first;     // first of each island in `order` (islands.count + 1)
} crIslandSolve;

// Solves the contacts of `takes` and sets state.v, impulses and warm start. u_free: velocity of contacts
// without impulses (contact_count). fresh: contacts added in this round, NULL in the first; islands without a
// fresh contact keep their impulses. The caller makes solve->open, this function everything else in `solve`.
crStatus cr__step_solve_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                                const crVec3* u_free, crIslandSolve* solve, crError* error);
// Continues the islands that sweeps left unsolved, by more sweeps and exact.c. Islands with contacts in
// `added` are left out (NULL: none). takes: contacts of the solve. *changed: true if one was continued.
crStatus cr__step_finish_islands(crStep* step, double h, const bool* takes, const bool* added,
                                 crIslandSolve* solve, bool* changed, crError* error);

// Clears solve->open.
void cr__step_close_all(const crStep* step, crIslandSolve* solve);

// Sets the state's v to 0 in islands that were slow before the solve and are at rest after it. False: v is unchanged.
bool cr__step_settle(const crStep* step, const crIslandSolve* solve, double* v);

#endif
