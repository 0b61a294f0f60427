// posed.h - problems shown to step->calls.posed with their impulses.
//
// Functions do nothing if step->calls.posed is NULL, and do not change the result of the step.
// Fails: CR_ERR_MEMORY, and with the status of step->calls.posed.
#ifndef CAROM_STEP_POSED_H
#define CAROM_STEP_POSED_H

#include "step/contact_islands.h"

// Problem to show, over `rows`.
typedef struct crShown {
    const crRows* rows;
    const crProblem* problem;  // blocks, vertices, u_free and b
    const double* p;           // (rows)
    const double* v;           // velocities that give u_free (nv)
    double time;               // time at which the step or impact begins, s
    double h;                  // length of the step, 0: an impact, s
    bool trial;                // true if the next problem at the same time replaces this one
} crShown;
crStatus cr__step_show(const crStep* step, const crShown* shown, crError* error);

// Points of blocks in the arena: contacts at their points, loops and joints at the origin. NULL: out of
// memory.
crVec3* cr__step_block_points(const crStepContact* contacts, const crBlock* blocks, int count,
                              crArena* arena);

// Shows step->posed.problem with step->posed.p.
crStatus cr__step_show_problem(const crStep* step, double h, bool trial, crError* error);

// Shows packed contacts and rows of a solve by islands as one problem, of the contacts taken before the last
// choice (takes and not fresh).
crStatus cr__step_show_islands(crStep* step, double h, const bool* takes, const bool* fresh,
                               const crIslandSolve* solve, crError* error);

#endif
