// inside.h - what a crWrt is made of.
#ifndef CAROM_WRT_INSIDE_H
#define CAROM_WRT_INSIDE_H

#include "wrt/change.h"
#include "wrt/tape.h"

struct crWrt {
    crArena arena;
    crWorld* world;
    crModel model;  // the given one, with bodies of its own
    crTape tape;
    bool recorded;  // the tape is of the state that it began with
    int param_count;
    crWrtParam* params;
    crBody* bodies;    // of parameters, while they are changed (param_count)
    double* values;    // likewise, of surfaces
    bool* bounced;     // whether those bounced
    bool bouncing;     // whether any did
    double* base;      // y(0): q (nq) and v (nv)
    double* end;       // the same of the step that was recorded
    double* moved[4];  // y at t, t/2, -t, -t/2
    double* side[2];   // minus and plus (2 nv)
    double* rough[2];  // the same from steps twice as long
    double* d;         // a unit change (3 nv + param_count)
    double* work;
    int contacts, events;  // of the last step
    double residual;
};

// params.c: parameters more by t d (d: param_count), until they are restored; coefficients end at zero. CR_ERR_MEMORY.
crStatus cr__wrt_params_change(crWrt* wrt, double t, const double* d);
void cr__wrt_params_restore(crWrt* wrt, const double* d);
// The friction of a contact of the tape, or the restitution of one that closes fast, that is a parameter and zero, in words: its rows
// or its rebound begin there. NULL: none.
const char* cr__wrt_params_begin(crWrt* wrt);

// difference.c

// y is q and v of the world (nq + nv); CR_ERR_RANGE where its last step is not solved.
crStatus cr__wrt_solved(crWrt* wrt, double* y, crError* error);
// A step from x + t d; y as above.
crStatus cr__wrt_step_from(crWrt* wrt, const crState* from, double t, const double* d, double* y,
                           crError* error);
// J d by differences from both sides.
crStatus cr__wrt_difference(crWrt* wrt, const crState* from, const double* d, double* minus, double* plus,
                            crWrtVerdict* verdict, crError* error);

// back.c: v^T J of the tape: by (2 nv) in, out (3 nv + param_count).
crStatus cr__tape_back(crTape* tape, const double* by, int param_count, const crWrtParam* params, double* out,
                       crError* error);

#endif
