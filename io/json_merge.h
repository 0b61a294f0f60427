// json_merge.h - one JSON tree laid over another.
#ifndef CAROM_IO_JSON_MERGE_H
#define CAROM_IO_JSON_MERGE_H

#include "io/json.h"

// Objects are merged key by key; any other value of `over` replaces what was there. The values are copied,
// line and column with them. CR_ERR_MEMORY; CR_ERR_TYPE where a root is no object.
crStatus cr_json_merge(crJsonDoc* doc, const crJson* over, crError* error);

#endif
