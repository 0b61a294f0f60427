// inverse_along.h - forces of inverse dynamics, energy and momentum of trees along a change of q and v.
#ifndef CAROM_WRT_INVERSE_ALONG_H
#define CAROM_WRT_INVERSE_ALONG_H

#include "model/spatial.h"

// A change of q at a state. Fields are about the tree's reference point, which is held.
typedef struct crAlong {
    const crModel* model;
    const crDynamics* d;  // kinematics of the state
    crPart part;          // trees as a whole, on nothing that is driven, none of them single
    const double* dq;     // along the velocities (nv)
    crTwist* X;           // motion of each body by dq (nb)
    crTwist* dS;          // change of each axis by dq (nv)
    crTwist* work;        // (CR_ALONG_WORK * nb)
} crAlong;

enum { CR_ALONG_WORK = 6 };  // twists a body

typedef struct crAlongSums {
    double T;           // of T = v.M v/2
    crTwist momentum;   // about the reference point, which is held
    crVec3 centre;      // of the centre of mass, times the mass
    crTwist locked[2];  // of the momentum of the tree moved as one rigid body by the twists given
} crAlongSums;

// X and dS from dq.
void cr__along_look(const crAlong* in);
// out += s d(M a + c(v) - weight), a fixed; v NULL: no velocity terms; dv (nv).
void cr__along_forces(const crAlong* in, const double* v, const double* dv, const double* a, bool weight,
                      double s, double* out);
// Changes of energy and momentum of one tree with velocities v, dv (NULL: fixed); locked: two twists of it as one rigid body,
// or NULL.
crAlongSums cr__along_sums(const crAlong* in, const double* v, const double* dv, const crTwist* locked);

#endif
