// exact.h - solves islands one by one, each as a problem of its own.
#ifndef CAROM_STEP_EXACT_H
#define CAROM_STEP_EXACT_H

#include "step/contact_islands.h"

// Sets step->posed.problem to the contacts that are not packed, the packed contacts of islands in
// solve->exact, loops and joints, and sorts its blocks by islands. again: true to start from the impulses of
// an earlier solve of this step.
// Fails: CR_ERR_MEMORY; as cr__step_pose.
crStatus cr__step_pose_rows(crStep* step, double h, const bool* takes, bool again, crIslandSolve* solve,
                            crError* error);
// Copies bias and impulses of an earlier problem to the same blocks of `posed`, the step's problem, except
// packed contacts. Blocks have the same order in both. ties: those of the earlier rows.
void cr__step_keep_rows(const crStep* step, const crIslandSolve* solve, const crStepPosed* before,
                        const int* ties, crStepPosed* posed);
// Copies bias and impulse of packed contacts that have rows in `posed`, the step's problem, to these rows.
void cr__step_start_packed(const crStep* step, const crIslandSolve* solve, crStepPosed* posed);
// Solves each island in solve->exact and writes its impulses to step->posed.p, those of packed contacts to
// solve->contact. solve->exact remains true for islands that more sweeps may improve; `again` is set to true
// if there are any. last: true if no further sweeps follow. Fails: CR_ERR_MEMORY; as the solver.
crStatus cr__step_solve_exact(crStep* step, double h, const bool* takes, bool last, crIslandSolve* solve,
                              bool* again, crError* error);
// Sorts the blocks of a problem by islands: order[start[i]] to order[start[i + 1] - 1] are the blocks of
// island i. Both arrays are in the arena. Fails: CR_ERR_MEMORY.
crStatus cr__step_sort_blocks(const crModel* model, crArena* arena, const crProblem* problem,
                              const crIslands* islands, int** order, int** start);

#endif
