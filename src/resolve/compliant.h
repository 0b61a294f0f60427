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
} crCompliant;

void cr__compliant_start(crCompliant* s, const crContact* c, double eta2);
void cr__compliant_follow(crCompliant* s);

// The motion over a time h under the present laws: nodes in time order, the last at h itself.
typedef struct crCompliantStep {
    crSprings node[CR_COMPLIANT_STAGES];
    double roughness;
} crCompliantStep;

extern const double cr__compliant_time[CR_COMPLIANT_STAGES];  // of the nodes, in units of h
// false: the step is too long to be solved for.
bool cr__compliant_step(const crCompliant* s, double h, crCompliantStep* step);

#endif
