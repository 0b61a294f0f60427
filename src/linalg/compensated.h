// compensated.h - sums of products as if computed with twice the digits and rounded once at the end.
#ifndef CAROM_LINALG_COMPENSATED_H
#define CAROM_LINALG_COMPENSATED_H

// c + a.x over n entries
double cr__dot_compensated(double c, const double* a, const double* x, int n);

#endif
