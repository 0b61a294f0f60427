// tosses.h - measured motions of one body: poses over time, and the velocity each begins with.
//
//     spatial   toss t px py pz qw qx qy qz vx vy vz, and wx wy wz (world axes) or wbx wby wbz (body axes)
//     planar    toss t px py angle vx vy w
//
// Rows of one toss follow each other in the order of time. p is the origin of the body's frame, v the
// velocity of its centre of mass, as in scenes. SI units, rad, w counter-clockwise.
#ifndef CAROM_FIT_TOSSES_H
#define CAROM_FIT_TOSSES_H

#include "fit/impacts.h"

#define CR_TOSS_UNIT_TOL 1e-3  // of a quaternion's length; nearer ones are normalized

typedef struct crTossSample {
    double time;   // since the first of the toss, s
    crPose pose;   // a planar one turns about z
    double angle;  // planar, rad
    crVec3 v, w;   // world axes
} crTossSample;

typedef struct crToss {
    double id;  // as in the file
    int line;   // of its first row
    int first;  // of its samples
    int count;  // of them, >= 2
} crToss;

typedef struct crTosses {
    bool planar;
    int count;
    crToss* tosses;  // (count)
    int sample_count;
    crTossSample* samples;  // (sample_count)
    int left_out;           // rows, by where
    int skipped;            // bad tosses
    crError skip_first;     // why the first of them was
    double interval;        // mean time between samples, s
    double speed_ratio;     // way by the velocities over way by the positions
    double spin_ratio;      // the same for rotations
    double spin_error;      // mean |w - rotation between samples / time|, rad/s
    double other_frame;     // the same with w taken in the other axes (body for world); planar: turned round
} crTosses;

// With the columns, conditions and skip (bad tosses are left out whole) of `options`. Fails: missing-field,
// unknown-field, not-finite, not-unit (a quaternion), out-of-range (time that does not ascend; velocities
// more than threefold or less than a third of what the poses say), wrong-size (a toss that comes again or has
// one sample, no toss at all), memory.
crStatus cr_tosses_create(const crTable* table, const crImpactOptions* options, crTosses* tosses,
                          crError* error);
void cr_tosses_destroy(crTosses* tosses);  // accepts a zeroed struct

#endif
