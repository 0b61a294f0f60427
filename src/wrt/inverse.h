// inverse.h - gradient of z . f, f the forces that inverse dynamics gives.
#ifndef CAROM_WRT_INVERSE_H
#define CAROM_WRT_INVERSE_H

#include "model/spatial.h"

// z . (M a + c(v) - weight) + sum of Z_i . outer_i + Y_i . on_y_i over bodies, where Z_i and Y_i are the velocity fields
// that z and y give to body i.
typedef struct crInverse {
    const crModel* model;
    const crDynamics* d;  // kinematics of the state
    crPart part;          // trees as a whole, on nothing that is driven
    const double* v;      // NULL: no velocity terms; single bodies have none
    const double *a, *z;
    bool weight;
    const crTwist*
        outer;        // wrenches about the trees' reference points by body, fixed in the world; NULL: none
    const double* y;  // NULL: none
    const crTwist* on_y;
} crInverse;

enum { CR_INVERSE_WORK = 8 };  // twists a body

// by_q (along the velocities) and by_v add up; either may be the other. work (CR_INVERSE_WORK * nb).
void cr__inverse_gradient(const crInverse* in, crTwist* work, double* by_q, double* by_v);

#endif
