// symmetry.h - how far W, Minv and M may be from symmetric.
#ifndef CAROM_PROBLEM_SYMMETRY_H
#define CAROM_PROBLEM_SYMMETRY_H

#include "carom/problem.h"

// Problems in the wild have a W that is unsymmetric in the fourth digit; solvers cope with that, not with more.
#define CR_W_ASYMMETRY    1e-2  // of the largest entry
#define CR_MINV_ASYMMETRY 1e-6  // of the largest entry: what inverting M in floating point leaves
#define CR_M_ASYMMETRY    1e-9  // of sqrt(m_ii m_jj): rounding

// Refuses A, by its worst pair of entries, where cr_matrix_skew finds more than `most`.
// exact, unless NULL, receives whether it is symmetric to the last bit.
crStatus cr__check_symmetry(const crMatrix* A, const char* name, double most, bool by_diagonal, bool* exact,
                            crError* error);

// As cr_problem_check; symmetric becomes true if W, or Minv where there is no W, is symmetric to the last bit.
crStatus cr__problem_check(const crProblem* problem, bool* symmetric, crError* error);

#endif
