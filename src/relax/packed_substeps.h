// packed_substeps.h - a step of bodies that move: short steps over one packing, positions in the same loop.
#ifndef CAROM_RELAX_PACKED_SUBSTEPS_H
#define CAROM_RELAX_PACKED_SUBSTEPS_H

#include "relax/packed.h"

// What a visit of the contacts is for: a short step; sweeps of the bounce, and the last of them.
typedef enum crVisit { VISIT_SHORT, VISIT_BOUNCE, VISIT_LAST_BOUNCE } crVisit;

// Numbers of a body stand as in crPacked.z (8*(bodies + 1)), those of a contact as in crPacked.contact (count).
typedef struct crSubsteps {
    crPacked* packed;
    double h;              // length of the step, s
    const double* gap;     // of each contact at the start, m
    const double* target;  // least gap that the position presses ask for, m
    const double*
        bounce;  // e times the normal velocity at the start where a contact may bounce, else 0, m/s; NULL:
                 // none does
    const double* dz;  // what forces add to z in h
    double* D;         // out: displacement in h, in the coordinates of z
    double* C;         // out: the part of D that corrects positions, which no velocity accounts for
    // work, see packed_substeps.c
    size_t* first;    // numbers of each group in `beside` (group_count)
    double* beside;   // numbers of each slot beside those of crPacked.hot
    double* z_begin;  // z of the short step before its impulses
    double* v_way;    // displacement by the velocities that short steps end with
    double rate;      // 1/hs
    double time;      // at the end of the short step, s
    crVisit visit;
    int first_group;  // of the colour
} crSubsteps;

// How many short steps a step has: warm impulses are those of one of them.
#define CR_SUBSTEPS 8

// From packed->z_free, the velocities at the start, and the impulses to start from: z and P of the contacts become
// those of the whole step. CR_ERR_MEMORY.
crStatus cr__substeps_run(crSubsteps* substeps, crArena* arena);

#endif
