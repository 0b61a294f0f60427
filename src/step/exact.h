// exact.h - islands as problems of their own, for the problem's solver.
#ifndef CAROM_STEP_EXACT_H
#define CAROM_STEP_EXACT_H

#include "step/contact_islands.h"

// step->posed.problem of contacts that are not packed, loops and joints, blocks sorted by islands; again: from the
// impulses of the round before.
crStatus cr__step_pose_rows(crStep* step, double h, const bool* takes, bool again, crIslandSolve* solve,
                            crError* error);
// Biases and impulses of packed contacts that have rows there.
void cr__step_start_packed(crStep* step, const crIslandSolve* solve);
// Solves the islands with solve->exact by themselves: into step->posed.p, and into solve->contact where a contact
// is packed. solve->exact is left where sweeps may help further; again: whether there is any. last: this is the last try.
crStatus cr__step_solve_exact(crStep* step, double h, const bool* takes, bool last, crIslandSolve* solve,
                              bool* again, crError* error);
// Blocks of a problem in the order of islands: those of island i are order[start[i]] to order[start[i + 1] - 1], in
// the arena. CR_ERR_MEMORY.
crStatus cr__step_sort_blocks(const crModel* model, crArena* arena, const crProblem* problem,
                              const crIslands* islands, int** order, int** start);

#endif
