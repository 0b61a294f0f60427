// packed_substeps.h - a step of moving islands: short steps over one packing, positions in the same loop.
#ifndef CAROM_RELAX_PACKED_SUBSTEPS_H
#define CAROM_RELAX_PACKED_SUBSTEPS_H

#include "relax/packed.h"

// Purpose of a full sweep: a short step, a sweep of the bounce, or the last sweep of the bounce.
typedef enum crVisit { VISIT_SHORT, VISIT_BOUNCE, VISIT_LAST_BOUNCE } crVisit;
// Visits of rows (units_substeps.c): a press, a full sweep, a position press.
typedef enum crShortVisit { SHORT_PRESS, SHORT_FULL, SHORT_PLACE } crShortVisit;

// Arrays by body are laid out as crPacked.z (8*(bodies + 1)), arrays by contact as crPacked.contact (count).
typedef struct crSubsteps {
    crPacked* packed;      // of cr__packed_group
    double h;              // length of the step, s
    double scale;          // square root of the unit of mass: crPlan.mass_root
    const double* gap;     // of each contact at the start, m
    const double* target;  // gap below which the position presses push, m
    const double* bounce;  // e times the normal velocity at the start if the contact may bounce, else 0, m/s;
                           // NULL: no contact bounces
    // gap, target and bounce of the units of packed->units, by their first row; NULL if there are no units
    const double *row_gap, *row_target, *row_bounce;
    const double* dz;  // change of z by forces in h
    double* D;         // out, in the arena: displacement in h, in the coordinates of z
    double* C;         // out, in the arena: the part of D that corrects positions and is in no velocity
    // working data in single precision, where z is in units of `scale`
    float* hot;  // numbers of all groups (short_group.h)
    float* z;
    float* z_begin;  // z of the short step before its impulses
    float* z_press;  // z of the short step after its press
    float* force;    // change of z by forces in a short step
    float* way;      // displacement
    float* correct;  // the part of `way` that corrects positions
    double rate;     // 1/hs, hs: length of a short step, 1/s
    double time;     // time at the end of the short step since the start of the step, s
    crVisit visit;
    int first_group;           // first group of the colour
    struct crShortRows* rows;  // NULL: no rows
} crSubsteps;

// Number of short steps per step. Warm start impulses are those of one short step.
#define CR_SUBSTEPS 8

// Starts from packed->z_free, the velocities at the start, and the warm start impulses. Sets packed->z, P of
// the contacts and the sums of rows to those of the whole step, and D and C. CR_ERR_MEMORY.
crStatus cr__substeps_run(const crInertias* of, crSubsteps* substeps);

// Functions of units_substeps.c. They do nothing if there are no rows.

// Sets run->rows from run->packed->units. CR_ERR_MEMORY.
crStatus cr__short_rows_create(crSubsteps* run, crArena* arena);
void cr__short_rows_visit(crSubsteps* run, crShortVisit visit);
void cr__short_rows_clear(const crSubsteps* run);             // sets the impulses of a short step to zero
void cr__short_rows_sums(const crSubsteps* run, double* p);   // p: impulses of the whole step, by row
void cr__short_rows_apply(const crSubsteps* run, double* z);  // adds H^T p of the whole step to z

#endif
