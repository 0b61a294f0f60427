// rest.h - tests for bodies and contact forces that a step left unchanged up to rounding; see rest.c.
#ifndef CAROM_STEP_REST_H
#define CAROM_STEP_REST_H

#include <string.h>

#include "step/step.h"

#define CR_REST_EPS 0x1p-52  // rounding unit of a double
#define CR_REST_PLACES \
    8.0  // largest move of a body at rest in a step, in eps of its coordinate (of 1 for a quaternion)
#define CR_REST_SPEEDS 64.0     // largest speed of a body at rest, in eps h g
#define CR_REST_FORCES 0x1p-28  // largest change of a contact force at rest, share of the largest force

#define CR_REST_NEARS 0x1p-20  // largest speed at the beginning of a step that ends at rest, in h g
#define CR_REST_ABOUT 0x1p-5   // speed below which sweeps aim at rest, in h g
#define CR_REST_AIM   0x1p-44  // change of a velocity at which the sweeps of such islands end, in h g

// true if a body began the step slowly enough to be at rest after it; fall: h g
static inline bool cr__rest_nears(const double* v0, int nv, double fall) {
    for (int j = 0; j < nv; j++) {
        if (!(fabs(v0[j]) <= CR_REST_NEARS * fall)) return false;
    }
    return true;
}

// true if the speed of a body is rounding; fall: h g
static inline bool cr__rest_slow(const crBody* body, double fall, double speed) {
    return speed <= CR_REST_SPEEDS * CR_REST_EPS * fall * fabs(body->gravity_scale);
}

// true if a body moved from q0 to q by no more than rounding
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

// true if contacts and forces are those of the beginning of the step, up to CR_REST_FORCES
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

// Figures of an island at the end of a solve or a step, stored at its root.
typedef struct crRest {
    bool moved;        // true if a body is not at rest or the set of contacts changed
    bool began;        // true if some v was not 0 at the beginning
    bool bound;        // true if the island has trees, loops or applied forces
    int forces;        // contacts that carry load
    double most, off;  // largest contact force at the beginning, largest change of one, N
} crRest;

static inline bool cr__rests(const crRest* rest) {
    return !rest->moved && rest->forces > 0 && rest->off <= CR_REST_FORCES * rest->most;
}

// Adds a force to the figures of its island, compared with that of the beginning; calls come in the order of
// contacts. *next: place of the first force of the beginning that no call has reached, 0 at first. Forces that
// a call passes over are gone: their islands moved. now NULL: the end, all others are gone. Returns the place
// of the force at the beginning, -1 if there was none.
int cr__rest_compare(const crStep* step, const int* islands, const crWarm* now, int* next, crRest* rest);

#endif
