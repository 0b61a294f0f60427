// local.h - one unit by itself: its exact solution, and the map whose zeros are its solutions.
#ifndef CAROM_RELAX_LOCAL_H
#define CAROM_RELAX_LOCAL_H

#include "system.h"

// x with w = D x + q satisfying the unit's conditions; x holds a guess and receives the answer. The least
// that can be done is done where there is none (D is zero where the unit approaches).
void cr__local_solve(const crUnit* unit, const double* q, double* x);

// Alart and Curnier's map in velocity units, rows scaled by 1/rho with rho = s / (diagonal of D): zero
// exactly at solutions. dF = A dx + B dw (count*count each, row by row).
void cr__unit_map(const crUnit* unit, double s, const double* x, const double* w, double* F, double* A,
                  double* B);

#endif
