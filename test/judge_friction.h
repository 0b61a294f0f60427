// judge_friction.h - friction sets for the judge: a point of the set, and the velocities that may go with it.
#ifndef CAROM_TEST_JUDGE_FRICTION_H
#define CAROM_TEST_JUDGE_FRICTION_H

#include "judge.h"

#include <math.h>

static inline Quad larger(Quad a, Quad b) { return a > b ? a : b; }
static inline Quad smaller(Quad a, Quad b) { return a < b ? a : b; }
static inline Quad quad_norm(const Quad* x, int n) {
    Quad sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return quad_sqrt(sum);
}

// A seat is what obeys one law: a row, or a friction part of a cone. Its modes are the ways to obey it.
typedef struct Seat {
    int block, at, count;  // rows at .. at + count
    int normal;            // of a friction part: row of the normal, otherwise -1
    double a, b;           // of a friction part: half-axes
    bool polygon;
    Quad length;  // metres per radian where rows are in rad/s, else 1
    int modes;
} Seat;

// Allowed velocities beside an impulse: all, none but 0, one sign, or -(alpha n0 + beta n1) with alpha, beta >= 0.
typedef enum Allow { ALLOW_ALL, ALLOW_ZERO, ALLOW_UP, ALLOW_DOWN, ALLOW_CONE } Allow;
typedef struct Choice {
    Allow allow;
    Quad n0[2], n1[2];  // unit
} Choice;

// Friction of a part in a mode at normal impulse pn > 0: the point out, and what goes with it. mode 0: held; 1: at
// the limit nearest to p; 2: at the limit nearest to z; polygons: edges nearest to p, corners, edges nearest to z.
Choice judge_friction(const crProblem* problem, const Seat* s, int mode, Quad pn, const Quad* p,
                      const Quad* z, Quad* out);
// The same where the contact barely presses: only infinite friction holds.
Choice judge_barely_pressed(const Seat* s, const Quad* p, Quad* out);
// Whether a part has no limit in some direction.
bool judge_endless(const Seat* s);
// Distance of velocities w (count) from those allowed.
Quad judge_miss(const Choice* c, int count, const Quad* w);

#endif
