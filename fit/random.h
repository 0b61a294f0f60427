// random.h - random numbers that are the same everywhere: splitmix64, uniform and normal.
#ifndef CAROM_FIT_RANDOM_H
#define CAROM_FIT_RANDOM_H

#include <stdint.h>

uint64_t cr__random_next(uint64_t* state);
// The state of stream `index` of a seed: streams of one seed have nothing to do with each other.
uint64_t cr__random_stream(uint64_t seed, uint64_t index);
double cr__random_uniform(uint64_t* state);  // 0 <= x < 1
double cr__random_normal(uint64_t* state);   // mean 0, standard deviation 1

#endif
