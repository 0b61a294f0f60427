// impact_bodies.h - the part of impact.c that reads two bodies.
#ifndef CAROM_IO_IMPACT_BODIES_H
#define CAROM_IO_IMPACT_BODIES_H

#include "io/impact.h"

// true where object gives bodies in either way: "bodies", or "a" and "b"
bool cr__has_bodies(const crJson* object);

// Body a (0) or b (1), NULL where it is not there.
const crJson* cr__body_of(const crJson* object, int index);

// Reads both bodies and point, and fills W and V of impact->collision.
crStatus cr__read_bodies(const crJson* object, crImpact* impact, crError* error);

#endif
