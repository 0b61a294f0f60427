// json_set.h - changing one value of a JSON tree by its path.
#ifndef CAROM_IO_JSON_SET_H
#define CAROM_IO_JSON_SET_H

#include "carom/io/json.h"

#ifdef __cplusplus
extern "C" {
#endif

// path: keys joined by dots, items of a list as [2] or by their "name": step.dt, bodies[0].pos[2],
// bodies.rod.mass. Objects on the way are made where they are missing. value is JSON, or else a string as
// it stands. What is set has line 0. Fails: syntax (the path), missing-field (no such item of a list),
// wrong-type, memory.
CR_API crStatus cr_json_set(crJsonDoc* doc, const char* path, const char* value, crError* error);

// The value at such a path, which must be there. Fails: syntax, unknown-field (and what there is instead),
// missing-field (no such item of a list), wrong-type.
CR_API crStatus cr_json_at(const crJson* root, const char* path, const crJson** value, crError* error);

#ifdef __cplusplus
}
#endif

#endif
