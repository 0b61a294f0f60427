// audit.h - the audit of a motion that came from anywhere: positions, and velocities where they are known, judged
// against the model alone.
//
//     overlap     deepest at each record, by full geometry of all shapes
//     crossings   pairs that passed through each other on the straight way from one record to the next
//     energy      T + U of islands (bodies that may have touched, or are tied): what they gained without work
//     momentum    of islands that nothing fixed or driven can have touched: they must fly, dP/dt = M g, dL/dt = 0
//
// Two bodies may have touched if their shapes cannot be shown to stay apart between two records. Merging islands
// that did not touch can hide a gain and never makes one up. A figure is known to within its floor: rounding of
// double precision, and the digits that the numbers were kept with. A figure that cannot be known is NaN.
// Units: SI, rad. Quaternions w first.
#ifndef CAROM_AUDIT_H
#define CAROM_AUDIT_H

#include "carom/step.h"

#ifdef __cplusplus
extern "C" {
#endif

// Half of the last digit kept, in the unit of each number; 0: doubles.
typedef struct crMotionDigits {
    double time;
    double position;  // m, or rad of joints
    double rotation;  // of a quaternion's components
    double velocity;  // m/s
    double omega;     // rad/s
} crMotionDigits;

// Records of all bodies: coordinates q and v of the model, or a pose and a velocity of each body. The caller owns
// the arrays.
typedef struct crMotionData {
    size_t count;        // records
    const double* time;  // ascending, s (count)
    const double* q;     // (count*nq); NULL: poses are given
    const double* v;     // (count*nv); NULL: not known
    const crPose* pose;  // of body frames, read where q is NULL; of bodies whose joint moves them (count*nb)
    const crVec3* velocity;  // of centres of mass, read where q is NULL; NULL: not known (count*nb)
    const crVec3* omega;     // world axes; NULL with velocity (count*nb)
    crMotionDigits digits;
} crMotionData;

// What counts as kept. Start from cr_motion_limits().
typedef struct crMotionLimits {
    double overlap;  // m; 0: 1e-3 of the smallest body that moves; 0
    double energy;   // gain, share of crMotionReport.energy_scale; 1e-6
    double speed;    // change of an island's speed that nothing explains, m/s; 0.01
    double touch;    // bodies nearer than this share of their size may touch; 1e-3
    double bound;    // bodies farther from the origin have escaped, m; 1e6
} crMotionLimits;
CR_API crMotionLimits cr_motion_limits(void);

// The worst of a figure: value known to within +-floor, when, and of which bodies (-1: none).
typedef struct crMotionWorst {
    double value, floor;
    double time;  // end of the interval, s
    int body_a, body_b;
} crMotionWorst;

// One record, and the interval that ends there.
typedef struct crMotionStep {
    double time;               // s
    double overlap;            // m
    int overlap_a, overlap_b;  // its bodies, -1 where nothing overlaps
    int crossings, crossings_unsure;
    double energy;  // T + U, J; NaN where not known
    double gain;    // energy that islands gained without work, beyond the floors, J; NaN where none is known
    double momentum;  // largest speed that islands in flight gained beside gravity, m/s; NaN where none flies
    double spin;      // likewise angular momentum over moment of inertia, rad/s
} crMotionStep;

typedef struct crMotionReport {
    size_t records;
    double start, end;      // s
    bool velocities;        // false: energy and momentum are found from differences of positions
    crMotionLimits limits;  // with the overlap that was used
    crMotionWorst overlap;  // m
    size_t overlaps;        // records with more than the limit
    size_t crossings, crossings_unsure;
    crMotionWorst crossing;              // the first: time and bodies
    double energy_start, energy_end;     // T + U of the first and last record that it is known of, J
    double energy_scale;                 // largest T, change of T + U, and weights times sizes, summed, J
    double gain, gain_least, gain_most;  // sum of gains, and its bounds by the floors, J; NaN: cannot tell
    crMotionWorst gained;                // the largest in one interval, J
    size_t energy_known,
        energy_unknown;      // intervals; unknown: driven bodies, motors, or differences across contacts
    crMotionWorst momentum;  // m/s; NaN where nothing flew
    crMotionWorst spin;      // rad/s; NaN likewise
    crMotionWorst path;      // distance of positions from what the velocities make of them, in flight, m
    size_t flights;          // islands in flight, over all intervals
    size_t flights_unknown;  // with drag: not judged
    size_t jumps;            // flights with a change of speed beyond the limit
    crMotionWorst escaped;   // farthest from the origin beyond the bound, m; value 0 where none is
} crMotionReport;

// Judges a motion. steps may be NULL, else it has room for all records. Without velocities a gain is the difference
// of energies between intervals in which every body flew or stood still. Fails: CR_ERR_RANGE (time does not
// ascend), CR_ERR_FINITE, CR_ERR_UNIT (a quaternion whose length is off by more than its digits and 1e-6) with record
// and body, CR_ERR_MEMORY.
CR_API crStatus cr_audit_motion(const crModel* model, const crMotionData* data, const crMotionLimits* limits,
                                const crAllocator* allocator, crMotionStep* steps, crMotionReport* report,
                                crError* error);

// Whether the limits are kept; cannot tell where a floor, or a figure that is not known, leaves it open.
CR_API crTruth cr_motion_no_overlap(const crMotionReport* report);
CR_API crTruth cr_motion_no_crossing(const crMotionReport* report);
CR_API crTruth cr_motion_no_gain(const crMotionReport* report);
CR_API crTruth cr_motion_flies(const crMotionReport* report);  // momentum in flight; yes where nothing flew
CR_API crTruth cr_motion_holds(const crMotionReport* report);  // all of them, and nothing escaped

#ifdef __cplusplus
}
#endif

#endif
