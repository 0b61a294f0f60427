// backward.h - the backward error of impulses, written down from its definition on the problem's own arrays.
//
// A witness (p', u') near p obeys every law exactly; u' - (u_free + W p' + b) is the change of bias that
// makes p' an exact solution. Used by the tests as a second opinion.
#ifndef CAROM_TEST_BACKWARD_H
#define CAROM_TEST_BACKWARD_H

#include "carom/carom.h"

typedef struct crBackward {
    double error;   // largest change of bias of any block, m/s
    double demand;  // largest change of velocity that a block asks for at p = 0, m/s
    double cone;    // largest impulse outside its law's set, relative to the largest impulse
    int block;      // of error, -1 without
} crBackward;

// The problem must have J and Minv by rows.
crBackward backward_error(const crProblem* problem, const double* p);

#endif
