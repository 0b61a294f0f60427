// packed_substeps.h - a step of bodies that move: short steps over one packing, positions in the same loop.
#ifndef CAROM_RELAX_PACKED_SUBSTEPS_H
#define CAROM_RELAX_PACKED_SUBSTEPS_H

#include "relax/packed.h"

// What a visit of the contacts is for: a short step; sweeps of the bounce, and the last of them.
typedef enum crVisit { VISIT_SHORT, VISIT_BOUNCE, VISIT_LAST_BOUNCE } crVisit;
// Of rows (units_substeps.c): a press, a full sweep, a press on displacements.
typedef enum crShortVisit { SHORT_PRESS, SHORT_FULL, SHORT_PLACE } crShortVisit;

// Numbers of a body stand as in crPacked.z (8*(bodies + 1)), those of a contact as in crPacked.contact (count).
typedef struct crSubsteps {
    crPacked* packed;      // of cr__packed_group
    double h;              // length of the step, s
    double scale;          // root of the unit of mass: crPlan.mass_root
    const double* gap;     // of each contact at the start, m
    const double* target;  // least gap that the position presses ask for, m
    const double*
        bounce;  // e times the normal velocity at the start where a contact may bounce, else 0, m/s; NULL:
                 // none does
    // the same of the rows of packed->units, by their first row; NULL where there are none
    const double *row_gap, *row_target, *row_bounce;
    const double* dz;  // what forces add to z in h
    double* D;         // out, in the arena: displacement in h, in the coordinates of z
    double* C;         // out, likewise: the part of D that corrects positions, which no velocity accounts for
    // work, see packed_substeps.c; in single precision, where z is in units of `scale`
    struct crShorts* shorts;
    float* z;
    float* z_begin;  // z of the short step before its impulses
    float* z_press;  // z of the short step after its press
    float* force;    // change of z by forces in a short step
    float* way;      // displacement
    float* correct;  // the part of it that corrects positions
    double rate;     // 1/hs
    double time;     // at the end of the short step, s
    crVisit visit;
    int first_group;           // of the colour
    struct crShortRows* rows;  // NULL: none
} crSubsteps;

// How many short steps a step has: warm impulses are those of one of them.
#define CR_SUBSTEPS 8

// From packed->z_free, the velocities at the start, and the impulses to start from: z and P of the contacts become
// those of the whole step. CR_ERR_MEMORY.
crStatus cr__substeps_run(const crInertias* of, crSubsteps* substeps);

// units_substeps.c: these do nothing where there are no rows.

crStatus cr__short_rows_create(crSubsteps* run, crArena* arena);
void cr__short_rows_visit(crSubsteps* run, crShortVisit visit);
void cr__short_rows_clear(const crSubsteps* run);             // impulses of a short step become zero
void cr__short_rows_sums(const crSubsteps* run, double* p);   // impulses of the whole step, by row
void cr__short_rows_apply(const crSubsteps* run, double* z);  // z += H^T of these

#endif
