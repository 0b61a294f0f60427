// wide_laws.h - the laws once more, in long double: what derivatives are compared with.
#ifndef CAROM_TEST_WIDE_LAWS_H
#define CAROM_TEST_WIDE_LAWS_H

#include <stdbool.h>

// Inputs by crLawInput: W (6), V, n, mu, e, et and the parameters of laws.
enum { WIDE_INPUTS = 25 };

typedef struct WideCase {
    const char* law;
    long double input[WIDE_INPUTS];
    int ending, directions;
} WideCase;

// P and V+ (3 each); false where the law refuses the case.
bool wide_law(const WideCase* c, long double* P, long double* V);

#endif
