// witness.h - the audit of one block: impulses that obey its laws exactly, and what that costs in velocity.
//
// A witness is made in two steps. cr__witness_make takes impulses p and the velocities w = u_free + W p + b,
// decides for every row whether it is free, held or at a limit, and returns impulses p^ that obey the laws of
// that decision. cr__witness_defect takes the velocities w at p^ and returns how far they are from the nearest
// velocities that the laws allow beside p^.
#ifndef CAROM_PROBLEM_WITNESS_H
#define CAROM_PROBLEM_WITNESS_H

#include "carom/problem.h"

#define CR_BLOCK_PARTS 4  // parts of a cone at most: normal, tangents (two of an infinite strip), spin, roll

typedef enum crHold {
    CR_HOLD_NONE,     // the velocity is free (p = 0 in an open cone, lo = hi)
    CR_HOLD_ZERO,     // the velocity must be zero
    CR_HOLD_ABOVE,    // the velocity must be >= 0 (p at its lower limit)
    CR_HOLD_BELOW,    // the velocity must be <= 0 (p at its upper limit)
    CR_HOLD_AGAINST,  // friction at its limit: the velocity must be -t d, t >= 0, d the limit's outward normal
} crHold;

// What was decided about rows that move together: one row, or two tangents.
typedef struct crHeld {
    crHold hold;
    double d[2];  // against
} crHeld;

// Defects of a block, m/s.
typedef struct crDefect {
    double square;   // of the distance to allowed velocities
    double floor;    // square of its rounding floor
    double permits;  // largest approach speed among the rows that must not close
} crDefect;

// The larger one, a where b is NaN. Not fmax: which zero that takes of 0 and -0 depends on the compiler.
static inline double cr__larger(double a, double b) { return b > a ? b : a; }

// Impulses p_hat (block->count) from p and w; weight: W_jj of the block's rows. held: one per row, or one per
// friction part at the part's first row (block->count).
void cr__witness_make(const crProblem* problem, const crBlock* block, const double* weight, const double* p,
                      const double* w, double* p_hat, crHeld* held);
// The same for a cone that is open.
void cr__witness_open(const crBlock* block, double* p_hat, crHeld* held);
// Defect of the velocities w that go with p_hat; floor: rounding floors of w (block->count).
crDefect cr__witness_defect(const crBlock* block, const double* weight, const crHeld* held, const double* w,
                            const double* floor);
// Largest velocity that the block's laws want changed where there are no impulses; q = u_free + b, m/s.
double cr__witness_scale(const crBlock* block, const double* weight, const double* q);

#endif
