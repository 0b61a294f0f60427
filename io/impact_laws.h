// impact_laws.h - the part of impact.c that reads the laws asked for and their parameters.
#ifndef CAROM_IO_IMPACT_LAWS_H
#define CAROM_IO_IMPACT_LAWS_H

#include "io/impact.h"

// Reads ending, cone, nu, ratios, psi1, psi2, rho, wish, eta2, laws and sigma into impact->params, parts and
// weights. Needs impact->frame and impact->dimension.
crStatus cr__read_law_params(const crJson* object, crImpact* impact, crError* error);
// The same, and law.
crStatus cr__read_laws(const crJson* object, crImpact* impact, crError* error);

#endif
