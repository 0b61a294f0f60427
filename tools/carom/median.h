// median.h - the median of many figures, to within 1 %, in constant memory.
#ifndef CAROM_MEDIAN_H
#define CAROM_MEDIAN_H

// 64 buckets for each of 128 octaves, and one for zero and all that is smaller.
#define MEDIAN_BUCKETS (128 * 64 + 1)

typedef struct Median {
    long long count;                   // of all figures
    long long bucket[MEDIAN_BUCKETS];  // figures by size
} Median;

// Adds a figure >= 0; below 2^-64 it counts as zero, from 2^64 on, or if it is no number, as 2^64.
void median_add(Median* median, double x);
// The lower median; 0 without figures.
double median_of(const Median* median);

#endif
