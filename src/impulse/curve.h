// curve.h - checks of coefficients that depend on the impact.
#ifndef CAROM_IMPULSE_CURVE_H
#define CAROM_IMPULSE_CURVE_H

#include "carom/forms.h"

// Refuses a table that is not in order, and values outside what e, et and mu may be. Functions are taken as they are.
crStatus cr__by_impact_check(const crByImpact* by, crError* error);

// Coefficients at an impact, each where it depends on it. Fails: CR_ERR_RANGE with the name of a coefficient whose function
// gave what it may not be.
crStatus cr__by_impact_at(const crByImpact* by, const crApproach* approach, double* e, double* et, double* mu,
                          crError* error);

#endif
