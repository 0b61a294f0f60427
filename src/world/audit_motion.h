// audit_motion.h - what the files of the audit of motions share: where bodies are at a record.
#ifndef CAROM_WORLD_AUDIT_MOTION_H
#define CAROM_WORLD_AUDIT_MOTION_H

#include "carom/audit.h"

// A body at one instant, or its means over an interval.
typedef struct crMoving {
    crVec3 com;
    crVec3 u, omega;  // velocity of the centre of mass, and world axes; zero where not known
    crSym3 inertia;   // about the centre of mass, world axes
    double extra;     // energy of its joint's springs and rotors, J; NaN: not known
} crMoving;

// Bodies that may have touched each other, or are tied; kept at the first of them.
typedef struct crMotionIsland {
    double mass;        // kg
    crVec3 com0, com1;  // of all, m
    crVec3 push;        // change of momentum beside gravity, N s
    crVec3 L0, L1;      // angular momentum about com0, com1, N m s
    double inertia;     // bound of its moment of inertia, kg m^2
    double gain;        // change of energy, J
    double push_floor, L_floor, gain_floor;
    int bodies;
    bool grounded;  // true if something fixed or driven may touch or hold it
    bool powered;   // true if something driven may touch or hold it, or a motor acts
    bool dragged;   // true if drag acts on one of its bodies
} crMotionIsland;

// A record, and the interval that ends there.
typedef struct crMotionRecord {
    crPose* pose;    // (nb)
    crMoving* at;    // (nb)
    crMoving* mean;  // means over the interval (nb)
    int* root;       // leaders of islands (nb)
    bool* touched;   // true if another body may touch it (nb)
    bool* grounded;  // true if a fixed or driven body may touch it (nb)
    bool* powered;   // true if a driven body may touch it (nb)
} crMotionRecord;

typedef struct crMotionWork {
    const crModel* model;
    const crMotionData* data;
    crMotionLimits limits;
    crStep step;  // sizes, planes and memory of the model for geometry
    bool velocities;
    size_t record;
    double h, h_before;           // lengths of this interval and the one before, s
    crMotionRecord here, before;  // this record and the one before, with the intervals that end there
    double* near;                 // distance within which a body may touch, m (nb)
    crMotionIsland* islands;      // (nb)
    double least, least_floor;    // least energy so far, without velocities, J; NaN: none
    double energy_least, energy_most, kinetic_most;  // over records, J
    crMotionReport* report;
    crMotionStep* now;
} crMotionWork;

// Energy T + U of a body and its floor, J; T is added to *kinetic.
double cr__motion_energy(const crMotionWork* w, int body, const crMoving* at, double* floor, double* kinetic);
// The interval that ends at this record: islands, their energy and momentum, into the report and the step of the
// record. CR_ERR_MEMORY.
crStatus cr__motion_interval(crMotionWork* w);
// The larger of the two by value, where `value` is not NaN.
static inline void cr__motion_worst(crMotionWorst* worst, double value, double floor, double time, int a,
                                    int b) {
    if (isnan(value) || value <= worst->value) return;
    *worst = (crMotionWorst){value, floor, time, a, b};
}

#endif
