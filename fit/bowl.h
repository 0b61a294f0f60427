// bowl.h - a quadratic laid through rough values in a box, and where it is least.
#ifndef CAROM_FIT_BOWL_H
#define CAROM_FIT_BOWL_H

#include "fit/search.h"

#define CR_BOWL_TERMS ((CR_SEARCH_DIM + 1) * (CR_SEARCH_DIM + 2) / 2)

typedef struct crBowl {
    int dim;
    double lo[CR_SEARCH_DIM], hi[CR_SEARCH_DIM];  // the box
    double c[CR_BOWL_TERMS];  // of 1, y_i and y_i y_j (i <= j), y from -1 to 1 across the box
} crBowl;

int cr__bowl_terms(int dim);
// Least squares through f at points x (count*dim); dim, lo and hi are given. A ridge of 1e-9 keeps directions
// that the points do not span at zero.
void cr__bowl_fit(const double* x, const double* f, int count, crBowl* bowl);
// The least value within the box, from a start in it: coordinate by coordinate, each step exact.
void cr__bowl_least(const crBowl* bowl, double* x);

#endif
