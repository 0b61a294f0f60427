// product.h - the operator J Minv J^T as rows.
#ifndef CAROM_PROBLEM_PRODUCT_H
#define CAROM_PROBLEM_PRODUCT_H

#include "carom/problem.h"

// W by rows, allocated from the arena; needs J by rows (compressed), Minv in any form.
crStatus cr__problem_product(const crProblem* problem, crArena* arena, crMatrix* W);

void cr__matrix_mul_t(const crMatrix* A, const double* x, double* y);  // y = A^T x

#endif
