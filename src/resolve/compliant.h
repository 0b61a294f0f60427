// compliant.h - the contact springs of law_compliant.c and one step of their motion.
#ifndef CAROM_RESOLVE_COMPLIANT_H
#define CAROM_RESOLVE_COMPLIANT_H

#include "carom/resolve.h"

#define CR_COMPLIANT_STAGES 7

// One moment. Forces are in units in which the loading stiffness is 1; time is then sqrt(mass).
typedef struct crSprings {
    double f;       // normal force on B
    double gy, gz;  // tangential force on B
    double dy, dz;  // unit direction in which the contact patch slips
    crVec3 P;       // impulse so far
    crVec3 V;       // velocity
} crSprings;

// What is given, and which of the linear laws of the springs hold now.
// Events of the process, in the order in which they are looked for.
typedef enum crCompliantEvent {
    CR_COMPLIANT_NONE,
    CR_COMPLIANT_SLIDE,   // friction gives way
    CR_COMPLIANT_HOLD,    // the patch stops
    CR_COMPLIANT_TURN,    // Vn comes up to zero: unloading begins
    CR_COMPLIANT_RELOAD,  // the force is back at its largest value
    CR_COMPLIANT_CLOSE,   // the force is zero: the end
    CR_COMPLIANT_EVENTS
} crCompliantEvent;

typedef struct crCompliant {
    crContact c;       // mu finite
    double eta2;       // normal over tangential stiffness
    double roughness;  // share of the forces that may be beyond the polynomial of a step
    crSprings now;
    bool slips;
    bool unloading;  // below the largest normal force so far
    double kappa;    // normal stiffness: 1 in loading, 1/e^2 below the largest force
    double f_max;    // largest normal force so far
    double peak;     // largest force so far
    int steps;
    bool ended;
    // NULL, or called before the state changes: by a step of length h with an event at its end, or (h = 0) by what is
    // left when the force is about to be zero
    void (*watch)(void* ctx, const struct crCompliant* s, double h, crCompliantEvent event);
    void* watch_ctx;
} crCompliant;

void cr__compliant_start(crCompliant* s, const crContact* c, double eta2);
void cr__compliant_follow(crCompliant* s);

// The motion over a time h under the present laws: nodes in time order, the last at h itself.
typedef struct crCompliantStep {
    crSprings node[CR_COMPLIANT_STAGES];
    double roughness;
} crCompliantStep;

extern const double cr__compliant_time[CR_COMPLIANT_STAGES];  // of the nodes, in units of h
// integral from 0 to time[row] of the polynomial that is 1 at time[column] and 0 at the other nodes
extern const double cr__compliant_weight[CR_COMPLIANT_STAGES][CR_COMPLIANT_STAGES];
// coefficient of the highest Chebyshev polynomial through the beginning and the nodes
extern const double cr__compliant_highest[CR_COMPLIANT_STAGES + 1];
// false: the step is too long to be solved for.
bool cr__compliant_step(const crCompliant* s, double h, crCompliantStep* step);

#endif
