// damped.h - a damped step of least squares within the unit cube; see damped.c.
#ifndef CAROM_FIT_DAMPED_H
#define CAROM_FIT_DAMPED_H

#include <stdbool.h>

#include "fit/search.h"

// x = A^-1 b; false where A is singular.
bool cr_damped_solve(int n, double A[CR_SEARCH_DIM][CR_SEARCH_DIM], const double* b, double* x);
// A step from x against the gradient g, to a point of the cube; its largest part, 0 where nothing moves.
double cr_damped_step(int n, double A[CR_SEARCH_DIM][CR_SEARCH_DIM], const double* g, double lambda,
                      const double* x, double* to);

#endif
