// scene_restitution.h - restitution by a named form, out of JSON.
#ifndef CAROM_IO_SCENE_RESTITUTION_H
#define CAROM_IO_SCENE_RESTITUTION_H

#include "carom/impulse.h"
#include "io/json.h"

// {"form": "power", ...} as a table of at most CR_FORM_ROWS rows. Fails: a field is refused by name, line and column.
crStatus cr__read_form(const crJson* object, double* speed, double* e, int* count, crError* error);

#endif
