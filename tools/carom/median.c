// median.c - figures counted by size: by octave, and in each octave by 64 equal parts.
//
// The median is the middle of the bucket that holds the figure in the middle, so it is off by less than 1 %.
#include "median.h"

#include <math.h>

#define PARTS 64
#define LEAST (-64)  // exponent of the smallest octave

void median_add(Median* median, double x) {
    int exponent = 0;
    double part = frexp(x, &exponent);  // 0.5 <= part < 1
    int at = 0;
    if (!(x < 0x1p64)) {
        at = MEDIAN_BUCKETS - 1;
    } else if (x >= 0x1p-64) {
        at = 1 + (exponent - 1 - LEAST) * PARTS + (int)((part - 0.5) * 2.0 * PARTS);
    }
    median->bucket[at]++;
    median->count++;
}

double median_of(const Median* median) {
    long long before = 0;
    for (int i = 0; i < MEDIAN_BUCKETS && median->count > 0; i++) {
        before += median->bucket[i];
        if (2 * before < median->count) continue;
        int octave = (i - 1) / PARTS + LEAST, part = (i - 1) % PARTS;
        return i == 0 ? 0.0 : ldexp(1.0 + (part + 0.5) / PARTS, octave);
    }
    return 0.0;
}
