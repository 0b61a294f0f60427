// moving_trees.h - trees of moving islands in short steps.
#ifndef CAROM_STEP_MOVING_TREES_H
#define CAROM_STEP_MOVING_TREES_H

#include "relax/packed_substeps.h"
#include "relax/units.h"
#include "step/islands.h"
#include "step/step.h"

// Moving trees and their rows, in scratch.
typedef struct crMovingTrees {
    crStep* step;
    crIslands islands;  // of_body and count of the moving islands, nothing else
    bool posed;         // true if there are rows, in step->posed
    bool bounces;       // true if a contact of the rows may bounce
    crUnits units;
    double *gap, *target, *bounce;  // as in crSubsteps, by row
    int count;
    int* root;            // root of each moving tree (count)
    double* energy;       // T + U at the start (count)
    double* share;        // factor s of v+ in the state (count)
    double *v, *way, *q;  // v+, displacement and q+ of the last cr__moving_gain (nv, nv, nq)
    double* still;        // zeros (nv)
} crMovingTrees;

// Contribution of a tree to the energy balance of its set; fields as in Energy (moving_run.c).
typedef struct crTreeGain {
    double gain, lift, square;
} crTreeGain;

// z and D of the coordinate at `at` with these shares of corrections and impulses. Fewer impulses take both
// towards free flight.
static inline void cr__moving_share(const crSubsteps* ask, int at, double correct, double scale, double* z,
                                    double* D) {
    double from = ask->packed->z_free[at], dz = ask->dz[at];
    double free = from + dz, fly = ask->h * (from + 0.5 * dz);
    *z = ask->packed->z[at];
    *D = ask->D[at] - (1.0 - correct) * ask->C[at];
    if (!(scale < 1.0)) return;
    *z = free + scale * (*z - free);
    *D = fly + scale * (*D - fly);
}
// True if a tree is among the moving bodies.
bool cr__moving_any_tree(const crPlan* plan, const bool* moving);
// True if short steps may move a body of a tree.
bool cr__moving_takes(const crStep* step, int body);
// True if short steps may take a contact.
bool cr__moving_takes_contact(const crStep* step, const crStepContact* contact);
// Poses the rows of the part's trees, with the warm start of one short step; root: first body of each island
// (nb). Poses nothing if no tree moves.
crStatus cr__moving_pose(crStep* step, double h, const int* root, const bool* moving, crMovingTrees* trees,
                         crError* error);
// After the short steps: sets step->posed.p to the impulses of the step and keeps forces of loops and joints.
void cr__moving_keep_ties(const crMovingTrees* trees, const crSubsteps* ask);
// After that: sets the impulses of contacts with rows, inside their cones.
void cr__moving_impulses(const crStep* step, const crStepContacts* contacts);
// Sets `energy` from the state at the start; dynamics must have the poses of the start.
void cr__moving_start(crMovingTrees* trees);
// Gain of tree k with these shares of corrections and impulses, and with its v scaled by `least` or more. The
// poses of the tree become those at its q+.
crTreeGain cr__moving_gain(crMovingTrees* trees, const crSubsteps* ask, int k, double correct, double scale,
                           double least);
// Sets the poses of all trees back to the state.
void cr__moving_stand(crMovingTrees* trees);
// Sets q and v of tree k to the results of its last gain.
void cr__moving_put(const crMovingTrees* trees, int k);
// Releases tree k to the calm solve: clears `moving` of its bodies.
void cr__moving_leave(const crMovingTrees* trees, int k, bool* moving);

#endif
