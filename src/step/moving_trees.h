// moving_trees.h - trees in islands that short steps move.
#ifndef CAROM_STEP_MOVING_TREES_H
#define CAROM_STEP_MOVING_TREES_H

#include "relax/packed_substeps.h"
#include "relax/units.h"
#include "step/islands.h"
#include "step/step.h"

// Trees that move, and their rows, in scratch.
typedef struct crMovingTrees {
    crStep* step;
    crIslands islands;  // of_body and count alone: islands that move
    bool posed;         // there are rows: step->posed has them
    bool bounces;       // a contact among them may bounce
    crUnits units;
    double *gap, *target, *bounce;  // as in crSubsteps, by row
    int count;
    int* root;            // trees that move (count)
    double* energy;       // T + U at the start (count)
    double* share;        // of v+ that the state has (count)
    double *v, *way, *q;  // v+, displacement and q+ of the last gain (nv, nv, nq)
    double* still;        // zeros (nv)
} crMovingTrees;

// What a tree adds to the balance of its set; see Energy in moving.c.
typedef struct crTreeGain {
    double gain, lift, square;
} crTreeGain;

// Whether short steps may move a body of a tree; the contact of one.
bool cr__moving_takes(const crStep* step, int body);
bool cr__moving_takes_contact(const crStep* step, const crStepContact* contact);
// Rows of the part's trees, with the impulses of one short step; root: first body of each island (nb). Nothing where
// no tree moves.
crStatus cr__moving_pose(crStep* step, double h, const int* root, const bool* moving, crMovingTrees* trees,
                         crError* error);
// After the short steps: impulses and forces of rows; energies at the start, for which poses are those of the start.
void cr__moving_keep_ties(const crMovingTrees* trees, const crSubsteps* ask);
void cr__moving_impulses(crStep* step);
void cr__moving_start(crMovingTrees* trees);
// What tree k gains with these shares of corrections and impulses, its v scaled by no less than `least`; poses become
// those that it gets.
crTreeGain cr__moving_gain(crMovingTrees* trees, const crSubsteps* ask, int k, double correct, double scale,
                           double least);
// Poses are those of the state again.
void cr__moving_stand(crMovingTrees* trees);
// q and v of tree k become those of the last gain.
void cr__moving_put(const crMovingTrees* trees, int k);
// Another solve takes it.
void cr__moving_leave(const crMovingTrees* trees, int k, bool* moving);

#endif
