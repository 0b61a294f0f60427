// local.h - exact solution of one unit, and the map whose zeros are its solutions.
#ifndef CAROM_RELAX_LOCAL_H
#define CAROM_RELAX_LOCAL_H

#include "system.h"

// Sets x to a solution: x and w = D x + q satisfy the unit's conditions. x holds a guess before. If there is
// no solution (D is zero and the contact approaches), a contact gets zero and a row an end of its range or
// its guess.
void cr__local_solve(const crUnit* unit, const double* q, double* x);

// Computes Alart and Curnier's map F in units of velocity; it is zero exactly at solutions. Impulses are
// scaled by 1/rho, rho = s / diagonal of D. dF = A dx + B dw (A, B: count*count, row by row).
void cr__unit_map(const crUnit* unit, double s, const double* x, const double* w, double* F, double* A,
                  double* B);

#endif
