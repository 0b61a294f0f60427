// colouring.h - units that share no body get one colour, so that they can be solved side by side.
#ifndef CAROM_PROBLEM_COLOURING_H
#define CAROM_PROBLEM_COLOURING_H

#include <stdint.h>

#define CR_COLOURS 63  // that share no body; units of colour CR_COLOURS must go one after another

// Place of the lowest bit that is 0; there must be one.
static inline int cr__lowest_zero(uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_ctzll(~bits);
#else
    int place = 0;
    while ((bits >> place & 1u) != 0) {
        place++;
    }
    return place;
#endif
}

// The least colour that neither body has had, which both then have; a negative body is no vertex of the
// graph. used holds a bit per colour for each body, zero at first. Called in the order of units, so colours
// depend on nothing but that order among units that share bodies.
static inline int cr__colour(uint64_t* used, int a, int b) {
    uint64_t taken = (a >= 0 ? used[a] : 0) | (b >= 0 ? used[b] : 0);
    // colour CR_COLOURS is never taken
    int colour = cr__lowest_zero(taken);
    if (colour == CR_COLOURS) return colour;
    if (a >= 0) used[a] |= UINT64_C(1) << colour;
    if (b >= 0) used[b] |= UINT64_C(1) << colour;
    return colour;
}

#endif
