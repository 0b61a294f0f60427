// impact_laws.h - the part of impact.c that reads the laws asked for and their parameters.
#ifndef CAROM_IO_IMPACT_LAWS_H
#define CAROM_IO_IMPACT_LAWS_H

#include "io/impact.h"

// Reads law, ending, cone, nu, ratios, psi1, psi2, rho, wish, eta2, laws and sigma. Needs impact->frame.
crStatus cr__read_laws(const crJson* object, crImpact* impact, crError* error);

#endif
