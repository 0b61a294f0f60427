// lone.h - steps of a world with one free body, in the air or on a plane, without the arrays of a world.
//
// Such a world's future depends on some fifty numbers. Their step is made of the operations that the stages come to for it, in the
// same order: the same bits. What a step does not know (see lone.c) it leaves to the stages, and nothing is done.
#ifndef CAROM_WORLD_LONE_H
#define CAROM_WORLD_LONE_H

#include "world/world.h"

#define CR_LONE_SHAPES   4  // that stand
#define CR_LONE_CONTACTS 4  // corners of a face

// What does not change from step to step.
typedef struct crLone {
    bool flies;    // one free body, and few shapes that stand
    bool touches;  // one plane and one ball or box, without restitution: contacts too, in fast
    bool ball;
    bool lies;  // at rest it is audited as it lies (lie_down.c)
    int count;
    // a half-space n.x <= offset, or a box around any other, n zero
    struct {
        crVec3 n;
        double offset;
        crBounds box;
    } still[CR_LONE_SHAPES];
    double size, thin, fall[6];  // as in crPlan
    double deadband;             // and of the settings
    double cluster, bound, threshold, position_tol, shift, tol, measure;
    int shape_a, shape_b;  // plane and shape of the body
    double mu, delta;
} crLone;

// What changes. q and v are those of the body.
typedef struct crLoneState {
    double time, q[7], v[6], force[6];
    double dt;  // settings.dt, s
    int warm_count;
    crWarm warm[CR_LONE_CONTACTS];
    bool still;      // the last step left all as it was:
    double still_h;  // the next does so too, if it is as long, s
    double overlap;  // and its contacts tell this one, m
} crLoneState;

void cr__lone_prepare(const crWorld* world, crLone* lone);
// One step of length h with its certificate; false, and nothing done.
bool cr__lone_step(const crLone* lone, const crModel* model, double h, crLoneState* s, crCertificate* c);

// From a world and back, where cr__lone_fits.
bool cr__lone_fits(const crLone* lone, const crWorld* world);
void cr__lone_take(const crWorld* world, crLoneState* s);
crStatus cr__lone_give(const crLoneState* s, crWorld* world);

#endif
