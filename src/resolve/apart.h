// apart.h - contacts that do not act on each other.
#ifndef CAROM_RESOLVE_APART_H
#define CAROM_RESOLVE_APART_H

#include "carom/problem.h"

// Solves a problem of cones, given by W, whose contacts that close do not act on each other: each by itself, as the
// first sweep of Gauss-Seidel from zero does. p is zero before. `residual` receives a bound of the audit's. Returns
// false, with p zero, if the problem is of another kind, an impulse makes an open contact close, or the bound is above tol.
bool cr__solve_apart(const crProblem* problem, double tol, double* p, double* residual);

#endif
