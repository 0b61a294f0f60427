// apart.h - lower bound of the distance of two shapes along a direction; boxes inline.
#ifndef CAROM_PAIRS_APART_H
#define CAROM_PAIRS_APART_H

#include <string.h>

#include "pairs/pairs.h"

#define CR_PAIRS_ROUNDED 1e-14  // bound of the rounding of a separation, share of the lengths it is made of

// A direction between two bodies.
typedef struct crPairsLine {
    crVec3 n;  // unit vector from a to b
    crVec3 l;  // n in the axes of a
    crVec3 m;  // -n in the axes of b
    crVec3 d;  // from the origin of a to that of b, m
} crPairsLine;

static inline double cr__pairs_sum(crVec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

// Extent of a box along a unit vector l in its own axes, m.
static inline double cr__box_reach(crVec3 half, crVec3 l) {
    return fabs(l.x) * half.x + fabs(l.y) * half.y + fabs(l.z) * half.z;
}

// True if a shape's axes and origin are those of its body; whole words are compared
static inline bool cr__shape_plain(const crShape* s) {
    static const crPose plain = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    uint64_t own[7], its[7], differ = 0;
    memcpy(own, &plain, sizeof own);
    memcpy(its, &s->pose, sizeof its);
    for (int k = 0; k < 7; k++) {
        differ |= own[k] ^ its[k];
    }
    return differ == 0;
}

// Lower bound of the distance of two shapes, balls included, along a direction, m. Rounding is subtracted.
// -INFINITY if a shape is a plane or not convex (apart.c).
double cr__pairs_between_any(const crShape* a, const crShape* b, const crPairsLine* line);
// The same. Boxes in the middle of their bodies, by far the most frequent shapes, need no calls.
static inline double cr__pairs_between(const crShape* a, const crShape* b, const crPairsLine* line) {
    if (a->kind != CR_SHAPE_BOX || b->kind != CR_SHAPE_BOX || !cr__shape_plain(a) || !cr__shape_plain(b))
        return cr__pairs_between_any(a, b, line);
    double sizes = cr__pairs_sum(line->d) + cr__pairs_sum(a->size) + cr__pairs_sum(b->size);
    return cr_dot(line->n, line->d) - cr__box_reach(a->size, line->l) - cr__box_reach(b->size, line->m) -
           CR_PAIRS_ROUNDED * sizes;
}

#endif
