// short_group.h - contacts of short steps, eight pairs of bodies side by side, in single precision.
//
// As packed.h, but K stands as three rows a body: k = R (r x a) with the sign of the body, a = n, t1, t2. A contact has
// u_a = a.(s_b v_b + s_a v_a) + k_b.w_b + k_a.w_a, and an impulse p along a moves v by s p a and w by p k. A ball's k are
// rho n x a, of which only rho is kept. Masses are in units of a power of two near the largest, so that their unit does
// not matter.
#ifndef CAROM_RELAX_SHORT_GROUP_H
#define CAROM_RELAX_SHORT_GROUP_H

#include "relax/packed.h"
#include "relax/packed_substeps.h"

// Places of a slot (one contact of each lane), each CR_WIDE numbers. Impulses are along n, t1, t2; those of balls in world axes.
enum {
    CR_SHORT_N = 0,
    CR_SHORT_P = 3,
    CR_SHORT_SUM = 6,  // of the short steps
    CR_SHORT_MU = 9,
    CR_SHORT_G = 10,       // 1/w, w = n^T D n
    CR_SHORT_GAP0 = 11,    // at the start
    CR_SHORT_GAP = 12,     // at the end of the short step before
    CR_SHORT_TARGET = 13,  // gap0 less the gap that position presses ask for
    CR_SHORT_Q = 14,       // impulse of the position presses
    CR_SHORT_BOUNCE = 15,
    CR_SHORT_E = 16,  // velocity that is given, along n, t1, t2; of balls along n alone
    // of balls
    CR_SHORT_GT = 17,   // 1/w_t
    CR_SHORT_RHO = 18,  // rho_b, then rho_a where both bodies move
    // of others
    CR_SHORT_T = 19,     // t1, whose last coordinate is 0
    CR_SHORT_S = 21,     // inverse of T^T D T, T = t1, t2: 11 12 22
    CR_SHORT_STEP = 24,  // 1/(its larger eigenvalue)
    CR_SHORT_K = 25,     // k_n, k_t1, k_t2 of b, then of a where both bodies move
};

typedef struct crShortGroup {
    int a[8], b[8];  // places of the bodies in z; 0 is nobody
    int contact[8];  // first of the unit
    int lanes;       // in use
    int slots;       // contacts of each
    int places;      // of a slot
    bool ball;
    bool two;   // both bodies move
    size_t at;  // in crShorts.hot: s_b, s_a, then the slots
} crShortGroup;

typedef struct crShorts {
    int group_count, colours;
    crShortGroup* group;               // (group_count)
    int colour_start[CR_COLOURS + 2];  // first group of each colour (colours + 1)
    float* hot;
} crShorts;

// From the groups of run->packed, with the impulses to start from. CR_ERR_MEMORY.
crStatus cr__shorts_create(const crInertias* of, const crSubsteps* run, crShorts* shorts);
// packed->z in double precision: z_free, what the impulses of contacts move it by, and dz unless it is NULL.
void cr__shorts_apply(const crInertias* of, const crPacked* packed, const double* dz);
// Impulses of the whole step into the contacts.
void cr__shorts_read(const crInertias* of, const crSubsteps* run, const crShorts* shorts);

#endif
