// short_group.h - contacts of short steps, eight pairs of bodies side by side, in single precision.
//
// As packed.h, but K is stored as three rows per body: k = R (r x a) with the sign of the body, a = n, t1,
// t2. The velocity at a contact along a is u_a = a.(s_b v_b + s_a v_a) + k_b.w_b + k_a.w_a; an impulse p
// along a changes v by s p a and w by p k. A ball has k = rho n x a and stores only rho. The unit of mass is
// a power of two near the largest mass, so that results do not depend on the user's unit.
#ifndef CAROM_RELAX_SHORT_GROUP_H
#define CAROM_RELAX_SHORT_GROUP_H

#include "relax/packed.h"
#include "relax/packed_substeps.h"

// Places of a slot (one contact of each lane). A place holds CR_WIDE numbers. Impulses are along n, t1, t2,
// for balls in world axes.
enum {
    CR_SHORT_N = 0,        // normal
    CR_SHORT_P = 3,        // impulse of a short step
    CR_SHORT_SUM = 6,      // sum of the impulses of the short steps
    CR_SHORT_MU = 9,       // coefficient of friction
    CR_SHORT_G = 10,       // 1/w, w = n^T D n
    CR_SHORT_GAP0 = 11,    // gap at the start
    CR_SHORT_GAP = 12,     // gap after the last press
    CR_SHORT_TARGET = 13,  // gap0 minus the target gap of position presses, plus given velocity times h
    CR_SHORT_Q = 14,       // impulse of the position presses
    CR_SHORT_BOUNCE = 15,  // as in crSubsteps
    CR_SHORT_E = 16,       // E along n, t1, t2; for balls along n only
    // balls
    CR_SHORT_GT = 17,   // 1/w_t
    CR_SHORT_RHO = 18,  // rho_b, then rho_a if both bodies move
    // other kinds
    CR_SHORT_T = 19,     // x and y of t1, whose z is 0
    CR_SHORT_S = 21,     // inverse of T^T D T, T = t1, t2: 11 12 22
    CR_SHORT_STEP = 24,  // 1 / larger eigenvalue of T^T D T
    CR_SHORT_K = 25,     // k_n, k_t1, k_t2 of b, then of a if both bodies move
};

// Fills run->hot for the groups of run->packed, with the warm start impulses. CR_ERR_MEMORY.
crStatus cr__shorts_create(const crInertias* of, crSubsteps* run);
// Sets packed->z in double precision: z_free, plus the effect of the contacts' impulses, plus dz unless NULL.
void cr__shorts_apply(const crInertias* of, const crPacked* packed, const double* dz);
// Sets P of the contacts to their impulses of the whole step.
void cr__shorts_read(const crInertias* of, const crSubsteps* run);

#endif
