// wrt.h - motion with respect to its start, its forces, its parameters and its time step.
//
// A crWrt is a world of its own that makes the same steps, solved as far as they can be, from any state it is given. A
// change of a state is written along the velocities: nv changes of position (as a velocity times a time), nv of v, nv of the
// applied forces, and one for each parameter. A step is recorded as a list of moves and impacts, and these are differentiated
// one by one: contact solves and rules by their modes (implicit function theorem), instants of impacts by the gap that
// defines them (saltation), the position pass by its contacts. What the list does not describe (loops, loads, drag of
// contacts, methods other than cone) and steps at a switch, which have two sides, are differenced as a whole. Impacts by a
// rule or law without a formula, such as a law of the user's, are differenced by themselves. The verdict says so. Contact
// problems and rules alone: modes.h.
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
    double
        distance;  // change of a contact's velocity that reaches the nearest switch, to first order, m/s; NaN: not known
    bool differenced;  // the step as a whole, or the answer of an impact's rule, was differenced
    const char* why;   // then the reason, else NULL
} crWrtVerdict;

// Parameters that a step may be differentiated by.
typedef enum crWrtParamKind {
    CR_WRT_MASS,     // of body a, its inertia in proportion, kg
    CR_WRT_MU,       // friction between materials a and b
    CR_WRT_E,        // restitution between them
    CR_WRT_ET,       // tangential restitution
    CR_WRT_CTRL,     // control of actuator a
    CR_WRT_MU_SPIN,  // friction of spin between materials a and b, m
    CR_WRT_MU_ROLL,  // rolling friction between them, m
} crWrtParamKind;
typedef struct crWrtParam {
    crWrtParamKind kind;
    int a, b;
} crWrtParam;

// Steps of def->step.dt, in certified quality with the least tolerance, without sleep. def as for cr_world_create.
CR_API crStatus cr_wrt_create(const crWorldDef* def, crWrt** wrt, crError* error);
CR_API void cr_wrt_destroy(crWrt* wrt);  // accepts NULL

// Parameters: changes have 3 nv + count entries from now on. CR_ERR_RANGE: no such body or material.
CR_API crStatus cr_wrt_params(crWrt* wrt, int count, const crWrtParam* params, crError* error);
// Values of the parameters from now on, as long as it lives; those of controls are ignored, since a state brings its own.
// CR_ERR_RANGE: mass <= 0, a friction or e < 0, et outside -1 to 1; nothing is changed then.
CR_API crStatus cr_wrt_set(crWrt* wrt, const double* values, crError* error);
// Length of the steps from now on, > 0, s.
CR_API crStatus cr_wrt_set_dt(crWrt* wrt, double dt, crError* error);

// One step: `to` (may be NULL, or from) is the state after it.
CR_API crStatus cr_wrt_step(crWrt* wrt, const crState* from, crState* to, crError* error);
// J v: the change (2 nv) after a step from a change before it (3 nv + params). minus and plus are the two sides, for d times a
// falling and a rising number; either may be NULL. CR_ERR_RANGE with the residual where a step is not solved.
CR_API crStatus cr_wrt_apply(crWrt* wrt, const crState* from, const double* d, double* minus, double* plus,
                             crWrtVerdict* verdict, crError* error);
// J by rows (2 nv * (3 nv + params)), and the worst verdict of its columns.
CR_API crStatus cr_wrt_jacobian(crWrt* wrt, const crState* from, double* J, crWrtVerdict* verdict,
                                crError* error);
// v^T J of one step: from the derivatives of a figure by the state after it (2 nv) those by a change before it (3 nv +
// params).
CR_API crStatus cr_wrt_back(crWrt* wrt, const crState* from, const double* by, double* out,
                            crWrtVerdict* verdict, crError* error);
// v^T J over many steps: from the derivatives of a figure by the last state (2 nv) those by the first (2 nv), by the
// applied force of each step (steps*nv, or NULL) and by the parameters (params, or NULL). forces (steps*nv, or NULL for those of the state) act during each step.
// States are kept at about sqrt(steps) of them and made again in between. state is left at the end.
CR_API crStatus cr_wrt_adjoint(crWrt* wrt, crState* state, int steps, const double* forces,
                               const double* by_end, double* by_start, double* by_force, double* by_param,
                               crWrtVerdict* verdict, crError* error);

// The error that the length of the step leaves, of one body at one time: from runs with dt, dt/2 and dt/4, whose
// differences shrink by a factor r: e(dt) = |x(dt) - x(dt/2)| r/(r - 1), and at least the sum of both where they do not.
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
