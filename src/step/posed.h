// posed.h - problems shown to step->calls.posed as they were posed, with their impulses.
//
// Each does nothing where step->calls.posed is NULL, and changes nothing of the step that its future depends on.
#ifndef CAROM_STEP_POSED_H
#define CAROM_STEP_POSED_H

#include "step/contact_islands.h"

// What is shown: a problem over `rows`, whose half is not wanted.
typedef struct crShown {
    const crRows* rows;
    const crProblem* problem;  // blocks, vertices, u_free and b
    const double* p;           // (rows)
    const double* v;           // velocities that u_free is of (nv)
    double time;               // at which the step or impact begins, s
    double h;                  // 0: an impact
    bool trial;                // the next one at the same time takes its place
} crShown;
crStatus cr__step_show(crStep* step, const crShown* shown, crError* error);

// Where blocks are: contacts at their points, loops and joints at the origin; NULL: no memory.
crVec3* cr__step_block_points(const crStepContact* contacts, const crBlock* blocks, int count,
                              crArena* arena);

// step->posed.problem and step->posed.p.
crStatus cr__step_show_problem(crStep* step, double h, bool trial, crError* error);

// Packed contacts and rows of a solve by islands, as one problem of the contacts that were taken before the last
// choice (takes and not fresh).
crStatus cr__step_show_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                               const crIslandSolve* solve, crError* error);

#endif
