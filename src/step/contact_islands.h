// contact_islands.h - one contact solve by islands: packed sweeps where bodies are free, exact where small.
#ifndef CAROM_STEP_CONTACT_ISLANDS_H
#define CAROM_STEP_CONTACT_ISLANDS_H

#include "step/islands.h"
#include "step/packed_solve.h"

typedef struct crIslandSolve {
    crIslands islands;
    crPackedIsland* of;        // what the sweeps did (islands.count)
    bool* dirty;               // to be solved in this round (islands.count)
    bool* exact;               // solved by the problem's solver instead (islands.count)
    int count;                 // packed contacts
    int* index;                // in step->contacts (count)
    crPackedContact* contact;  // (count)
    double* b;                 // bias (count)
    double* dv;                // M^-1 J^T P (nv)
} crIslandSolve;

// state.v, impulses and warm start from the contacts that take part; u_free is their velocity without
// impulses (contact_count). fresh: contacts that a round before did not have (NULL in the first); islands
// without any keep their impulses.
crStatus cr__step_solve_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                                const crVec3* u_free, crIslandSolve* solve, crError* error);
// What is true of the packed impulses and the contacts' velocities u after them, into the certificate.
// CR_ERR_MEMORY.
crStatus cr__step_audit_islands(crStep* step, const crIslandSolve* solve, const crVec3* u_free,
                                const crVec3* u);

#endif
