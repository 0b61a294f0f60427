// rest.h - whether a step left a body and its contacts as they were but for rounding; see rest.c.
#ifndef CAROM_STEP_REST_H
#define CAROM_STEP_REST_H

#include <string.h>

#include "step/step.h"

#define CR_REST_EPS 0x1p-52
#define CR_REST_PLACES \
    8.0  // eps of a coordinate, or of 1 for a quaternion, by which a body at rest may have moved
#define CR_REST_SPEEDS 64.0     // eps of h g, that a body at rest has at most
#define CR_REST_FORCES 0x1p-28  // of the largest force, by which forces may differ

#define CR_REST_NEARS 0x1p-20  // of h g: the speed that a body at rest began a step with at most
#define CR_REST_ABOUT 0x1p-5   // of h g: the speed below which bodies may be about to rest
#define CR_REST_AIM   0x1p-44  // likewise: the change at which sweeps of such bodies end

// true if a body began a step so slowly that it may be at rest after it; fall: h g
static inline bool cr__rest_nears(const double* v0, int nv, double fall) {
    for (int j = 0; j < nv; j++) {
        if (!(fabs(v0[j]) <= CR_REST_NEARS * fall)) return false;
    }
    return true;
}

// true if a body is slower than rounding; fall: h g
static inline bool cr__rest_slow(const crBody* body, double fall, double speed) {
    return speed <= CR_REST_SPEEDS * CR_REST_EPS * fall * fabs(body->gravity_scale);
}

// true if it has not moved by more than rounding
static inline bool cr__rest_there(const double* q, const double* q0, int nq) {
    double far = 0.0;
    for (int i = 0; i < nq && i < 3; i++) {
        far += fabs(q0[i]);
    }
    for (int i = 0; i < nq; i++) {
        if (!(fabs(q[i] - q0[i]) <= CR_REST_PLACES * CR_REST_EPS * (i < 3 ? far : 1.0))) return false;
    }
    return true;
}

static inline double cr__rest_size(crVec3 x) { return fabs(x.x) + fabs(x.y) + fabs(x.z); }

// true if forces are those of the step's beginning, but for what a solve changes in them at rest
static inline bool cr__rest_same(const crWarm* force, int count, const crWarm* start, int start_count) {
    if (count != start_count || count == 0) return false;
    double most = 0.0, off = 0.0;
    for (int i = 0; i < count; i++) {
        const crWarm *x = &force[i], *y = &start[i];
        if (x->shape_a != y->shape_a || x->shape_b != y->shape_b || x->child_a != y->child_a ||
            x->child_b != y->child_b || x->feature_a != y->feature_a || x->feature_b != y->feature_b)
            return false;
        most = fmax(most, cr__rest_size(y->force));
        off = fmax(off, cr__rest_size(cr_sub(x->force, y->force)));
    }
    return off <= CR_REST_FORCES * most;
}

#endif
