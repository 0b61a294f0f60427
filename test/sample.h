// sample.h - seeded random inputs for the property tests.
#ifndef CAROM_SAMPLE_H
#define CAROM_SAMPLE_H

#include "carom/carom.h"

// xoshiro256**; the same sequence everywhere.
typedef struct crRandom {
    uint64_t s[4];
} crRandom;

crRandom sample_seed(uint64_t seed);
uint64_t sample_bits(crRandom* random);
double sample_uniform(crRandom* random, double lo, double hi);
double sample_log(crRandom* random, double lo, double hi);  // log-uniform, 0 < lo < hi
crVec3 sample_direction(crRandom* random);                  // uniform on the unit sphere
crQuat sample_rotation(crRandom* random);                   // uniform

// Kinds of collision the properties are tried on.
typedef enum crSampleKind {
    SAMPLE_BODIES,   // two random bodies, mass ratio up to 1e3
    SAMPLE_FIXED,    // one of them fixed
    SAMPLE_HEAVY,    // mass ratio up to 1e6
    SAMPLE_NEEDLE,   // needle-like inertia, W nearly singular or badly scaled
    SAMPLE_PLANAR,   // nothing happens along one tangent
    SAMPLE_SPHERES,  // W diagonal in every frame that holds n
    SAMPLE_MATRIX,   // W = A A^T of random entries, also nearly singular
    SAMPLE_KINDS
} crSampleKind;

// A random approaching collision of the kind, in random coordinates; mu in [0, 2], e in [0, 1], et in [-1,
// 1].
crCollision sample_collision(crRandom* random, crSampleKind kind);

#endif
