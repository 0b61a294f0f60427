// wrt.h - motion with respect to its start, its forces and its time step.
//
// A crWrt is a world of its own that makes the same steps, solved as far as they can be, from any state it is given. A
// change of a state is written along the velocities: nv changes of position (as a velocity times a time), nv of v, and nv
// of the applied forces. Steps are differenced from both sides: the time of an impact, the position pass and every method
// and rule are in it. Contact problems by themselves have exact derivatives: cr_modes_find in resolve.h.
#ifndef CAROM_WRT_H
#define CAROM_WRT_H

#include "carom/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct crWrt crWrt;

// Whether a step's derivative may be trusted.
typedef struct crWrtVerdict {
    crSmoothness verdict;  // none: the state after the step jumps
    crSwitch
        nearest;  // open/close: the sides have other contacts or impacts; stick/slip: contacts in another mode
    double jump;      // size of the jump, in the units of changes; 0 where there is none
    double residual;  // of the step's contact solves: they must be solved, or the derivative is refused
} crWrtVerdict;

// Steps of def->step.dt, in certified quality with the least tolerance, without sleep. def as for cr_world_create.
CR_API crStatus cr_wrt_create(const crWorldDef* def, crWrt** wrt, crError* error);
CR_API void cr_wrt_destroy(crWrt* wrt);  // accepts NULL

// One step: `to` (may be NULL, or from) is the state after it.
CR_API crStatus cr_wrt_step(crWrt* wrt, const crState* from, crState* to, crError* error);
// J v: the change (2 nv) after a step from a change before it (3 nv). minus and plus are the two sides, for d times a
// falling and a rising number; either may be NULL. CR_ERR_RANGE with the residual where a step is not solved.
CR_API crStatus cr_wrt_apply(crWrt* wrt, const crState* from, const double* d, double* minus, double* plus,
                             crWrtVerdict* verdict, crError* error);
// J by rows (2 nv * 3 nv), and the worst verdict of its columns.
CR_API crStatus cr_wrt_jacobian(crWrt* wrt, const crState* from, double* J, crWrtVerdict* verdict,
                                crError* error);
// v^T J over many steps: from the derivatives of a figure by the last state (2 nv) those by the first (2 nv), and by the
// applied force of each step (steps*nv, or NULL). forces (steps*nv, or NULL for those of the state) act during each step.
// States are kept at about sqrt(steps) of them and made again in between. state is left at the end.
CR_API crStatus cr_wrt_adjoint(crWrt* wrt, crState* state, int steps, const double* forces,
                               const double* by_end, double* by_start, double* by_force,
                               crWrtVerdict* verdict, crError* error);

// The error that the length of the step leaves, of one body at one time: from runs with dt, dt/2 and dt/4, whose
// differences shrink by a factor r: e(dt) = |x(dt) - x(dt/2)| r/(r - 1).
typedef struct crTimeError {
    double position;  // of the centre of mass, m
    double angle;     // rad
    double velocity;  // of the centre of mass, m/s
    double spin;      // rad/s
    double order;     // of the position, log2 of r; NaN where rounding hides it
} crTimeError;
// `start` is the state at the beginning, NULL for the reference position at rest. times ascend. errors: of body b at time i
// in errors[i*nb + b].
CR_API crStatus cr_time_error(const crWorldDef* def, const crState* start, int count, const double* times,
                              crTimeError* errors, crError* error);

#ifdef __cplusplus
}
#endif

#endif
