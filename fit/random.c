// random.c - splitmix64 (Steele, Lea and Flood 2014), and normal numbers by Box and Muller's transform.
//
// The logarithm is made of + - * / alone, as the sine and cosine are, so that a seed gives the same bits on
// every machine: log m = 2 artanh((m - 1) / (m + 1)) as a series, which at |s| <= 0.172 needs twelve terms.
// Fails: not at all.
#include "fit/random.h"

#include <math.h>

#include "carom/base.h"

uint64_t cr__random_next(uint64_t* state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t cr__random_stream(uint64_t seed, uint64_t index) {
    uint64_t state = seed;
    uint64_t mixed = cr__random_next(&state) ^ index;
    return cr__random_next(&mixed);
}

double cr__random_uniform(uint64_t* state) { return (double)(cr__random_next(state) >> 11) * 0x1p-53; }

// of 0 < x <= 1
static double logarithm(double x) {
    const double ln2 = 0.69314718055994530942;
    int power;
    double m = frexp(x, &power);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        power--;
    }
    double s = (m - 1.0) / (m + 1.0);
    double sum = 0.0;
    for (int k = 23; k >= 1; k -= 2) {
        sum = sum * s * s + 1.0 / k;
    }
    return power * ln2 + 2.0 * s * sum;
}

double cr__random_normal(uint64_t* state) {
    double u = 1.0 - cr__random_uniform(state);
    double angle = 2.0 * CR_PI * cr__random_uniform(state);
    return sqrt(-2.0 * logarithm(u)) * cr_cos(angle);
}
